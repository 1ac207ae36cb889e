<?php
// What a pulled run costs: for each line that it reads, a window of 500 runs, and ns a run. Argument: number of tasks.
declare(strict_types=1);

require __DIR__ . '/../selene.php';

use function Selene\{call, get, number, open};

$scheduler = open();
call('conditions_set', $scheduler, 3, 3);
call('handler_register', $scheduler, 'count', 5, null, null, null, null);
for ($number = 0; $number < (int) ($argv[1] ?? 1000); $number++) {
    $fields = ['id' => sprintf('task-%011d', $number), 'handler' => 'count', 'expected_response' => 0];
    call('task_register', $scheduler, new Selene\Struct('task', $fields), null);
}
$step = FFI::new('int32_t');
$info = new Selene\Struct('run_info');
$window = new Selene\Struct('window');
[$run, $done] = [number('STEP_RUN'), number('OUTCOME_NEW_DATA')];

while (fgets(STDIN) !== false) {
    $began = hrtime(true);
    $cycle = get('selene_cycle', 'cycle_begin', $scheduler, $window);
    for ($runs = 0; $runs < 500; $runs++) {
        call('cycle_next', $cycle, FFI::addr($step), $info, null);
        if ($step->cdata !== $run) {
            break;
        }
        call('run_complete', $info->c->run, $done);
    }
    call('cycle_end', $cycle, null);
    echo (hrtime(true) - $began) / $runs, "\n";
}
