<?php
// Plays commands of Tests/conformance through selene.php.
declare(strict_types=1);

require __DIR__ . '/../selene.php';

use Selene\Struct;
use function Selene\{call, get, number, open, text};

function encode(string $text): string
{
    return preg_replace_callback('/[^A-Za-z0-9._-]/', fn ($byte) => sprintf('%%%02x', ord($byte[0])), $text);
}

function instant(int $ns): string
{
    return $ns === PHP_INT_MAX ? 'never' : "$ns";
}

/** A struct with what a command's words say. */
function struct(string $name, array $words): Struct
{
    $flags = [
        'hold' => 'OPTIONS_HOLD',
        'observed_range' => 'OPTIONS_OBSERVED_RANGE',
        'strict' => 'WINDOW_STRICT_FIT',
        'frozen' => 'WINDOW_FROZEN',
    ];
    $fields = ['flags' => 0];
    foreach ($words as $key => $text) {
        if (isset($flags[$key])) {
            $fields['flags'] |= $text === '1' ? number($flags[$key]) : 0;
        } elseif ($key === 'input_size') {
            $fields['input'] = str_repeat("\0", (int) $text);
        } else {
            $fields[$key] = match ($key) {
                'tags', 'permitted', 'conditions', 'after' => array_map(rawurldecode(...), array_filter(explode(',', $text), strlen(...))),
                'id', 'handler', 'group', 'path' => rawurldecode($text),
                // Fields whose 0 is a default that is not 0.
                'response_window', 'expected_response', 'backoff_delay', 'reserve', 'expedited_quota', 'max_pending_refresh',
                'max_pending_processing' => (int) $text ?: number('NONE'),
                default => (int) $text,
            };
        }
    }
    return new Struct($name, $fields);
}

final class Player
{
    private int $now = 0;
    private ?int $scheduler = null;
    private int $cycle = 0;
    private int $run = 0;

    /** What a verb answers: words. */
    public function play(string $verb, string $text, array $words): array
    {
        $s = $this->scheduler;
        $length = strlen($text);
        $c = Selene\Library::load()->c;
        switch ($verb) {
            case 'clock':
                $this->now = (int) $text;
                if ($s !== null) {
                    call('clock_set', $s, $this->now);
                }
                return [];
            case 'open':
                if ($s !== null) {
                    call('scheduler_close', $s, 0);
                }
                $options = struct('options', $words);
                $options->c->flags |= number('OPTIONS_NO_THREADS') | number('OPTIONS_SET_CLOCK');
                $options->c->clock_start = $this->now;
                $this->scheduler = $s = get('selene_scheduler', 'scheduler_open', $options);
                call('conditions_set', $s, 255, 255);
                call('events_open', $s, number('EVENTS'), null);
                return [];
            case 'close':
                $this->scheduler = null;
                call('scheduler_close', $s, 0);
                return [];
            case 'handler':
                call('handler_register', $s, $text, $length, null, null, null, null);
                return [];
            case 'conditions':
                call('conditions_set', $s, 255, (int) $text);
                return [];
            case 'enable':
                call('scheduler_enable', $s, (int) $text);
                return [];
            case 'register':
                return [get('int32_t', 'task_register', $s, struct('task', $words))];
            case 'cancel':
            case 'cancel_tag':
            case 'pause':
            case 'pause_tag':
            case 'resume':
            case 'resume_tag':
                return [get('uint64_t', "task_$verb", $s, $text, $length)];
            case 'cancel_all':
                return [get('uint64_t', 'task_cancel_all', $s)];
            case 'retry':
                call('task_retry', $s, $text, $length);
                return [];
            case 'define':
            case 'undefine':
                call("condition_$verb", $s, $text, $length);
                return [];
            case 'meet':
            case 'lose':
                call('condition_set', $s, $text, $length, $verb === 'meet' ? 1 : 0);
                return [];
            case 'pause_group':
            case 'resume_group':
                call('group_' . strtok($verb, '_'), $s, $text, $length);
                return [];
            case 'limit_group':
                call('group_set_limit', $s, $text, $length, (int) $words['limit']);
                return [];
            case 'info':
                $info = get('selene_task_info *', 'task_get', $s, $text, $length, 0);
                $failure = text($info->failure);
                $told = [
                    $info->state, $info->attempts, instant($info->earliest_begin), instant($info->last_run), $info->estimate,
                    $info->generation, $info->appended, $info->response_time_count, $failure === '' ? '-' : encode($failure),
                ];
                $c->selene_free($info);
                return $told;
            case 'waits':
                $waits = get('selene_waits *', 'task_waits', $s, $text, $length);
                $told = [];
                for ($i = 0; $i < $waits->part_count; $i++) {
                    $part = $waits->parts[$i];
                    array_push($told, $c->selene_name(number('NAMES_REASON'), $part->reason), $part->detail, $part->duration, $part->times);
                }
                $told[] = 'preferred';
                for ($i = 0; $i < $waits->preferred_id_count; $i++) {
                    $told[] = encode(text($waits->preferred_ids[$i]));
                }
                $c->selene_free($waits);
                return $told;
            case 'left':
                $info = get('selene_task_info *', 'task_get', $s, $text, $length, 0);
                $output = get('selene_task_output *', 'task_get_output', $s, $text, $length);
                $told = [$info->stop_reason, '=' . encode(text($output->output))];
                $c->selene_free($output);
                $c->selene_free($info);
                return $told;
            case 'set_next':
                call('task_set_next', $s, $text, $length, (int) $words['at']);
                return [];
            case 'output':
                call('run_set_output', $this->run, $text, $length);
                return [];
            case 'progress':
                call('run_progress', $this->run, (int) $text, (int) $words['total'], null, 0);
                return [];
            case 'wakeup':
                $at = FFI::new('int64_t');
                call('scheduler_next_wakeup', $s, FFI::addr($at), null);
                return [instant($at->cdata)];
            case 'plan':
                $plan = get('selene_plan *', 'cycle_plan', $s, struct('window', $words));
                $told = [];
                for ($i = 0; $i < $plan->run_count; $i++) {
                    $told[] = encode(text($plan->runs[$i]->id));
                }
                $c->selene_free($plan);
                return $told;
            case 'begin':
                $this->cycle = get('selene_cycle', 'cycle_begin', $s, struct('window', $words));
                return [];
            case 'next':
                $step = FFI::new('int32_t');
                $info = new Struct('run_info');
                call('cycle_next', $this->cycle, FFI::addr($step), $info, null);
                if ($step->cdata !== number('STEP_RUN')) {
                    return [$step->cdata === number('STEP_WAIT') ? 'wait' : 'done'];
                }
                $this->run = $info->c->run;
                return ['run', encode(text($info->c->id)), sprintf('%.17g', $info->c->score), $info->c->estimate, $info->c->attempt];
            case 'complete':
                call('run_complete', $this->run, (int) $text);
                return [];
            case 'fail':
                call('run_fail', $this->run, number('OUTCOME_FAILED'), -1, $text, $length);
                return [];
            case 'stopping':
                return [get('int32_t', 'run_stopping', $this->run)];
            case 'end':
                $report = get('selene_report *', 'cycle_end', $this->cycle);
                $told = [$report->result, instant($report->ended_at), $report->eligible];
                for ($i = 0; $i < $report->run_count; $i++) {
                    $told[] = $report->runs[$i]->outcome;
                }
                $c->selene_free($report);
                return $told;
            case 'events':
                $told = [];
                $event = new Struct('event');
                $found = FFI::new('int32_t');
                while (true) {
                    call('events_next', $s, 0, $event, FFI::addr($found), null);
                    if ($found->cdata === 0) {
                        return $told;
                    }
                    $told[] = $event->c->type . ':' . encode(text($event->c->id));
                }
            case 'exit':
                exit(0);
        }
        throw new LogicException("no verb: $verb");
    }
}

$player = new Player();
while (($line = fgets(STDIN)) !== false) {
    $verb = strtok(trim($line), ' ');
    $text = '';
    $words = [];
    while (($word = strtok(' ')) !== false) {
        if (str_contains($word, '=')) {
            [$key, $value] = explode('=', $word, 2);
            $words[$key] = $value;
        } else {
            $text = rawurldecode($word);
        }
    }
    try {
        echo implode(' ', ['ok', ...$player->play($verb, $text, $words)]), "\n";
    } catch (Selene\Failure $failure) {
        echo "error {$failure->status} {$failure->getMessage()}\n";
    }
}
