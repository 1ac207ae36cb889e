# frozen_string_literal: true

# What a pulled run costs: for each line that it reads, a window of 500 runs, and ns a run. Argument: number of tasks.

require_relative '../selene'

scheduler = Selene.open
Selene.call('conditions_set', scheduler, 3, 3)
Selene.call('handler_register', scheduler, 'count', 5, nil, nil, nil, nil)
(ARGV.first || 1000).to_i.times do |number|
  task = Selene::Struct.make('task', id: format('task-%011d', number), handler: 'count', expected_response: 0)
  Selene.call('task_register', scheduler, task, nil)
end
STEP = +"\0" * 4
INFO = Selene::Struct.make('run_info')
WINDOW = Selene::Struct.make('window')

def pull(scheduler)
  cycle = Selene.get('selene_cycle', 'cycle_begin', scheduler, WINDOW)
  runs = 0
  while runs < 500
    Selene.call('cycle_next', cycle, STEP, INFO, nil)
    break if STEP.unpack1('l') != Selene::STEP_RUN

    Selene.call('run_complete', INFO[:run], Selene::OUTCOME_NEW_DATA)
    runs += 1
  end
  Selene.call('cycle_end', cycle, nil)
  runs
end

$stdout.sync = true
$stdin.each_line do
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  runs = pull(scheduler)
  puts (Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - began) / runs
end
