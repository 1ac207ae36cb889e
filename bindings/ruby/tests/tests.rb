# frozen_string_literal: true

# What selene.rb adds to the header, and what it must not cost. Prints a line for each test. Argument: a store that another
# process serves.

require_relative '../selene'

$failures = 0

def test(name)
  yield
  puts "ok Ruby: #{name}"
rescue StandardError => e
  $failures += 1
  puts e.full_message(highlight: false), "FAILED Ruby: #{name}"
end

def equal(found, wanted)
  raise "found #{found.inspect}, wanted #{wanted.inspect}" unless found == wanted
end

def refused(status)
  yield
rescue Selene::Failure => e
  equal(e.status, status)
  e
else
  raise 'it was not refused'
end

def handler(scheduler, name)
  Selene.call('handler_register', scheduler, name, name.bytesize, nil, nil, nil, nil)
end

STEP = +"\0" * 4
INFO = Selene::Struct.make('run_info')

# Pulls a window, and gives each run to the block.
def pull(scheduler, window)
  cycle = Selene.get('selene_cycle', 'cycle_begin', scheduler, window)
  runs = 0
  loop do
    Selene.call('cycle_next', cycle, STEP, INFO, nil)
    break if STEP.unpack1('l') != Selene::STEP_RUN

    yield INFO
    runs += 1
  end
  Selene.call('cycle_end', cycle, nil)
  runs
end

test('what is refused is raised with its status and detail, also after a close') do
  scheduler = Selene.open
  task = Selene::Struct.make('task', id: 'a', response_window: 31)
  failure = refused('INVALID_ARGUMENT') { Selene.call('task_register', scheduler, task, nil) }
  equal(failure.message.match?(/response_window.*31/), true)
  refused('UNSUPPORTED') { Selene.call('driver_start', scheduler, nil) }
  Selene.call('scheduler_close', scheduler, 0)
  refused('INVALID_HANDLE') { Selene.get('int64_t', 'scheduler_now', scheduler) }
end

test('a stop is seen by who asks, and a late outcome is refused') do
  scheduler = Selene.open(clock_start: Selene::SECOND, flags: Selene::OPTIONS_SET_CLOCK)
  handler(scheduler, 'a')
  Selene.call('task_register', scheduler, Selene::Struct.make('task', id: 'a'), nil)
  pull(scheduler, Selene::Struct.make('window')) do |run|
    equal(Selene.get('int32_t', 'run_stopping', run[:run]), Selene::STOP_NONE)
    Selene.call('task_cancel', scheduler, 'a', 1, nil)
    refused('STALE_RUN') { Selene.call('run_complete', run[:run], Selene::OUTCOME_NEW_DATA) }
  end
  Selene.call('scheduler_close', scheduler, 0)
end

test('another process has the store: what is enqueued there is worked on here') do
  connect = lambda do |path|
    Selene.get('selene_scheduler', 'scheduler_connect', Selene::Struct.make('connect_options', path: path, pool: 'ruby'))
  end
  client = connect.call(ARGV[0])
  handler(client, 'ruby')
  task = Selene::Struct.make('task', id: 'ruby', schedule: Selene::SCHEDULE_ONCE, input: "in\0put")
  Selene.call('task_register', client, task, nil)
  runs = pull(client, Selene::Struct.make('window')) do |run|
    equal(run[:input], "in\0put")
    Selene.call('run_complete', run[:run], Selene::OUTCOME_NEW_DATA)
  end
  equal(runs, 1)
  state = Selene.lend('task_info', 'task_get', client, 'ruby', 4, 0) { |record| record[:state] }
  equal(state, Selene::STATE_SUCCEEDED)
  Selene.call('scheduler_close', client, 0)
  refused('OWNER_AWAY') { connect.call("#{ARGV[0]}-nobody") }
end

test('lists of texts and inputs come as they went in') do
  scheduler = Selene.open(permitted: ['a', 'b.*'])
  task = Selene::Struct.make('task', id: 'b.1', tags: %w[x ä], conditions: ['vpn'], input: "in\0put")
  Selene.call('task_register', scheduler, task, nil)
  refused('NOT_PERMITTED') { Selene.call('task_register', scheduler, Selene::Struct.make('task', id: 'c'), nil) }
  GC.start
  Selene.lend('task_info', 'task_get', scheduler, 'b.1', 3, 0) do |record|
    equal(record.texts(:tags, :tag_count) + record.texts(:conditions, :condition_count), %w[x ä vpn])
    equal(record[:input], "in\0put")
  end
  Selene.call('scheduler_close', scheduler, 0)
end

def resident
  File.read('/proc/self/statm').split[1].to_i
end

test('memory is flat over 100 000 runs and as many failures while the collector works') do
  scheduler = Selene.open(clock_start: Selene::SECOND, flags: Selene::OPTIONS_SET_CLOCK)
  handler(scheduler, 'a')
  100.times do |number|
    fields = { id: number.to_s, handler: 'a', schedule: Selene::SCHEDULE_STANDING, input: 'x' * 100, expected_response: 0 }
    task = Selene::Struct.make('task', **fields)
    Selene.call('task_register', scheduler, task, nil)
  end
  window = Selene::Struct.make('window')
  count = 0
  # As many runs again and again: what is lost with each run is lost in each stretch, allocators take some memory once.
  before = 0
  grown = Float::INFINITY
  6.times do |stretch|
    break if stretch > 1 && grown < 500

    1000.times do
      runs = pull(scheduler, window) do |run|
        text = run[:id] + run[:input]
        if (count += 1).even?
          Selene.call('run_fail', run[:run], Selene::OUTCOME_FAILED, 0, text, text.bytesize)
        else
          Selene.call('run_set_output', run[:run], text, text.bytesize)
          Selene.call('run_complete', run[:run], Selene::OUTCOME_NEW_DATA)
        end
      end
      equal(runs, 100)
      GC.start(full_mark: false)
    end
    GC.start
    grown = resident - before
    before += grown
  end
  # That is 20 bytes a run.
  equal(grown < 500 || grown, true)
  Selene.call('scheduler_close', scheduler, 0)
end

exit($failures.zero?)
