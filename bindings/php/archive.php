<?php
// Work that fails, retries, is stopped and goes on, on a store: sums of files, and a copy that takes longer than a window.
// The loop is the program's own, so it has no thread but this one, and the library calls nothing of it.
declare(strict_types=1);

require __DIR__ . '/selene.php';

use FFI\CData;
use function Selene\{call, get, number, open, text};

/** A handler returns null, or why it failed: then it is tried again in the next window. */
function sum(CData $run, string $path): ?string
{
    if (!is_file($path)) {
        return basename($path) . ' is not there';
    }
    echo text($run->id), ': ', substr(hash_file('sha256', $path), 0, 16), ", attempt {$run->attempt}\n";
    return null;
}

/** Copies a file piece by piece. What is there is not copied again, so it may be stopped and begun as often as need be. */
function copy_file(CData $run, string $path): ?string
{
    $from = fopen($path, 'rb');
    $to = fopen("$path.copy", 'ab');
    fseek($from, fstat($to)['size']);
    while (($piece = fread($from, 4096)) !== '') {
        if (get('int32_t', 'run_stopping', $run->run) !== number('STOP_NONE')) {
            return 'not done yet';
        }
        fwrite($to, $piece);
        usleep(150_000); // a slow disk
    }
    echo text($run->id), ': ', fstat($to)['size'], " bytes\n";
    return null;
}

const HANDLERS = ['sum' => 'sum', 'copy' => 'copy_file'];

/** Pulls the runs of a window until nothing is left in it. */
function work(int $scheduler): void
{
    $window = new Selene\Struct('window', ['budget' => 10 * number('SECOND'), 'reserve' => 5 * number('SECOND')]);
    $cycle = get('selene_cycle', 'cycle_begin', $scheduler, $window);
    $step = FFI::new('int32_t');
    $run = new Selene\Struct('run_info');
    while (true) {
        call('cycle_next', $cycle, FFI::addr($step), $run, null);
        // With one run at a time there is nothing to wait for.
        if ($step->cdata !== number('STEP_RUN')) {
            break;
        }
        $why = HANDLERS[text($run->c->handler)]($run->c, text($run->c->input));
        if ($why === null) {
            call('run_complete', $run->c->run, number('OUTCOME_NEW_DATA'));
        } else {
            call('run_fail', $run->c->run, number('OUTCOME_FAILED'), 0, $why, strlen($why));
        }
    }
    call('cycle_end', $cycle, null);
}

/** A task's state and why its last run failed; null where there is none. */
function look(int $scheduler, string $id): ?array
{
    try {
        $info = get('selene_task_info *', 'task_get', $scheduler, $id, strlen($id), 0);
    } catch (Selene\Failure $failure) {
        return $failure->status === 'NOT_FOUND' ? null : throw $failure;
    }
    $seen = [$info->state, text($info->failure)];
    Selene\Library::load()->c->selene_free($info);
    return $seen;
}

/** A program that is started, works for a window, and ends; how much is left to do, and why. */
function live(string $folder): int
{
    $scheduler = open(['path' => "$folder/store"]);
    foreach (HANDLERS as $name => $_) {
        call('handler_register', $scheduler, $name, strlen($name), null, null, null, null);
    }
    $tasks = [
        'sum of a' => ['handler' => 'sum', 'input' => "$folder/a", 'expected_response' => number('SECOND')],
        'sum of b' => ['handler' => 'sum', 'input' => "$folder/b", 'expected_response' => number('SECOND')],
        'copy of big' => ['handler' => 'copy', 'input' => "$folder/big", 'expected_response' => number('SECOND') / 10,
            'priority' => number('PRIORITY_LOW')],
    ];
    foreach ($tasks as $id => $fields) {
        // Unless it is there from an earlier life.
        if (look($scheduler, $id) === null) {
            $task = new Selene\Struct('task', ['id' => $id, 'schedule' => number('SCHEDULE_ONCE'), ...$fields]);
            call('task_register', $scheduler, $task, null);
        }
    }
    work($scheduler);
    $left = 0;
    foreach ($tasks as $id => $_) {
        [$state, $failure] = look($scheduler, $id);
        if ($state === number('STATE_ENQUEUED')) {
            $left++;
            echo "$id: $failure\n";
        }
    }
    call('scheduler_close', $scheduler, 0);
    return $left;
}

$folder = sys_get_temp_dir() . '/selene-archive-' . getmypid();
mkdir($folder);
try {
    file_put_contents("$folder/a", 'first');
    file_put_contents("$folder/big", str_repeat('x', 40 * 4096));
    live($folder);
    file_put_contents("$folder/b", 'second');
    // What was copied is not copied again, so this comes to an end.
    while (live($folder) > 0);
} finally {
    array_map(unlink(...), glob("$folder/*"));
    rmdir($folder);
}
