<?php
// What selene.php adds to the header, and what it must not cost. Prints a line for each test. Argument: a store that another
// process serves.
declare(strict_types=1);

require __DIR__ . '/../selene.php';

use Selene\{Failure, Struct};
use function Selene\{call, get, number, open, text};

$failures = 0;

function test(string $name, Closure $body): void
{
    global $failures;
    try {
        $body();
        echo "ok PHP: $name\n";
    } catch (Throwable $thrown) {
        $failures++;
        echo "$thrown\nFAILED PHP: $name\n";
    }
}

function equal(mixed $found, mixed $wanted): void
{
    if ($found !== $wanted) {
        throw new RuntimeException('found ' . var_export($found, true) . ', wanted ' . var_export($wanted, true));
    }
}

function refused(string $status, Closure $call): Failure
{
    try {
        $call();
    } catch (Failure $failure) {
        equal($failure->status, $status);
        return $failure;
    }
    throw new RuntimeException('it was not refused');
}

function handler(int $scheduler, string $name): void
{
    call('handler_register', $scheduler, $name, strlen($name), null, null, null, null);
}

/** Pulls a window, and gives each run to a function. */
function pull(int $scheduler, Struct $window, Closure $work): int
{
    static $step = null, $info = null;
    $step ??= FFI::new('int32_t');
    $info ??= new Struct('run_info');
    $cycle = get('selene_cycle', 'cycle_begin', $scheduler, $window);
    for ($runs = 0; true; $runs++) {
        call('cycle_next', $cycle, FFI::addr($step), $info, null);
        if ($step->cdata !== number('STEP_RUN')) {
            break;
        }
        $work($info->c);
    }
    call('cycle_end', $cycle, null);
    return $runs;
}

test('what is refused is thrown with its status and detail, also after a close', function () {
    $scheduler = open();
    $task = new Struct('task', ['id' => 'a', 'response_window' => 31]);
    $failure = refused('INVALID_ARGUMENT', fn () => call('task_register', $scheduler, $task, null));
    equal(preg_match('/response_window.*31/', $failure->getMessage()), 1);
    refused('UNSUPPORTED', fn () => call('driver_start', $scheduler, null));
    call('scheduler_close', $scheduler, 0);
    refused('INVALID_HANDLE', fn () => get('int64_t', 'scheduler_now', $scheduler));
});

test('a stop is seen by who asks, and a late outcome is refused', function () {
    $scheduler = open(['clock_start' => number('SECOND'), 'flags' => number('OPTIONS_SET_CLOCK')]);
    handler($scheduler, 'a');
    call('task_register', $scheduler, new Struct('task', ['id' => 'a']), null);
    pull($scheduler, new Struct('window'), function ($run) use ($scheduler) {
        equal(get('int32_t', 'run_stopping', $run->run), number('STOP_NONE'));
        call('task_cancel', $scheduler, 'a', 1, null);
        refused('STALE_RUN', fn () => call('run_complete', $run->run, number('OUTCOME_NEW_DATA')));
    });
    call('scheduler_close', $scheduler, 0);
});

test('another process has the store: what is enqueued there is worked on here', function () use ($argv) {
    $connect = fn ($path) => get('selene_scheduler', 'scheduler_connect', new Struct('connect_options', ['path' => $path, 'pool' => 'php']));
    $client = $connect($argv[1]);
    handler($client, 'php');
    $task = new Struct('task', ['id' => 'php', 'schedule' => number('SCHEDULE_ONCE'), 'input' => "in\0put"]);
    call('task_register', $client, $task, null);
    $runs = pull($client, new Struct('window'), function ($run) {
        equal(text($run->input), "in\0put");
        call('run_complete', $run->run, number('OUTCOME_NEW_DATA'));
    });
    equal($runs, 1);
    $record = get('selene_task_info *', 'task_get', $client, 'php', 3, 0);
    equal($record->state, number('STATE_SUCCEEDED'));
    Selene\Library::load()->c->selene_free($record);
    call('scheduler_close', $client, 0);
    refused('OWNER_AWAY', fn () => $connect($argv[1] . '-nobody'));
});

test('lists of texts and inputs come as they went in', function () {
    $scheduler = open(['permitted' => ['a', 'b.*']]);
    $task = new Struct('task', ['id' => 'b.1', 'tags' => ['x', 'ä'], 'conditions' => ['vpn'], 'input' => "in\0put"]);
    call('task_register', $scheduler, $task, null);
    refused('NOT_PERMITTED', fn () => call('task_register', $scheduler, new Struct('task', ['id' => 'c']), null));
    $record = get('selene_task_info *', 'task_get', $scheduler, 'b.1', 3, 0);
    equal($record->tag_count, 2);
    equal(text($record->tags[0]) . text($record->tags[1]) . text($record->conditions[0]), 'xävpn');
    equal(text($record->input), "in\0put");
    Selene\Library::load()->c->selene_free($record);
    call('scheduler_close', $scheduler, 0);
});

function resident(): int
{
    return (int) explode(' ', file_get_contents('/proc/self/statm'))[1];
}

test('memory is flat over 100 000 runs and as many failures while the collector works', function () {
    $scheduler = open(['clock_start' => number('SECOND'), 'flags' => number('OPTIONS_SET_CLOCK')]);
    handler($scheduler, 'a');
    for ($number = 0; $number < 100; $number++) {
        $fields = ['id' => "$number", 'handler' => 'a', 'schedule' => number('SCHEDULE_STANDING'),
            'input' => str_repeat('x', 100), 'expected_response' => 0];
        call('task_register', $scheduler, new Struct('task', $fields), null);
    }
    $window = new Struct('window');
    $count = 0;
    $work = function ($run) use (&$count) {
        $text = text($run->id) . text($run->input);
        if (++$count % 2 === 0) {
            call('run_fail', $run->run, number('OUTCOME_FAILED'), 0, $text, strlen($text));
        } else {
            $output = FFI::new('char[' . strlen($text) . ']');
            FFI::memcpy($output, $text, strlen($text));
            call('run_set_output', $run->run, FFI::addr($output), strlen($text));
            call('run_complete', $run->run, number('OUTCOME_NEW_DATA'));
        }
    };
    // As many runs again and again: what is lost with each run is lost in each stretch, allocators take some memory once.
    [$before, $grown] = [0, PHP_INT_MAX];
    for ($stretch = 0; $stretch < 2 || ($stretch < 6 && $grown >= 500); $stretch++) {
        for ($window_number = 0; $window_number < 1000; $window_number++) {
            equal(pull($scheduler, $window, $work), 100);
            gc_collect_cycles();
        }
        $grown = resident() - $before;
        $before += $grown;
    }
    // That is 20 bytes a run.
    equal($grown < 500 ?: $grown, true);
    call('scheduler_close', $scheduler, 0);
});

exit($failures === 0 ? 0 : 1);
