# frozen_string_literal: true

# Work that fails, retries, is stopped and goes on, on a store: sums of files, and a copy that takes longer than a window.
# The loop is the program's own, and the library calls nothing of it.

require 'digest'
require 'tmpdir'
require_relative 'selene'

# A handler returns nothing, or why it failed: then it is tried again in the next window.
HANDLERS = {
  'sum' => lambda do |run, path|
    return "#{File.basename(path)} is not there" unless File.exist?(path)

    puts "#{run[:id]}: #{Digest::SHA256.file(path).hexdigest[0, 16]}, attempt #{run[:attempt]}"
  end,

  # What is there is not copied again, so it may be stopped and begun as often as need be.
  'copy' => lambda do |run, path|
    File.open(path, 'rb') do |from|
      File.open("#{path}.copy", 'ab') do |to|
        from.seek(to.size)
        while (piece = from.read(4096))
          return 'not done yet' if Selene.get('int32_t', 'run_stopping', run[:run]) != Selene::STOP_NONE

          to.write(piece)
          sleep 0.15 # a slow disk
        end
        to.flush
        puts "#{run[:id]}: #{to.size} bytes"
      end
    end
    nil
  end
}.freeze

# Pulls the runs of a window until nothing is left in it.
def work(scheduler)
  window = Selene::Struct.make('window', budget: 10 * Selene::SECOND, reserve: 5 * Selene::SECOND)
  cycle = Selene.get('selene_cycle', 'cycle_begin', scheduler, window)
  run = Selene::Struct.make('run_info')
  step = +"\0\0\0\0"
  loop do
    Selene.call('cycle_next', cycle, step, run, nil)
    # With one run at a time there is nothing to wait for.
    break if step.unpack1('l') != Selene::STEP_RUN

    why = HANDLERS.fetch(run[:handler]).call(run, run[:input])
    if why
      Selene.call('run_fail', run[:run], Selene::OUTCOME_FAILED, 0, why, why.bytesize)
    else
      Selene.call('run_complete', run[:run], Selene::OUTCOME_NEW_DATA)
    end
  end
  Selene.call('cycle_end', cycle, nil)
end

# A task's state and why its last run failed; nil where there is none.
def look(scheduler, id)
  Selene.lend('task_info', 'task_get', scheduler, id, id.bytesize, 0) { |info| [info[:state], info[:failure]] }
rescue Selene::Failure => e
  raise unless e.status == 'NOT_FOUND'
end

# A program that is started, works for a window, and ends; how much is left to do, and why.
def live(folder)
  scheduler = Selene.open(path: "#{folder}/store")
  HANDLERS.each_key { |name| Selene.call('handler_register', scheduler, name, name.bytesize, nil, nil, nil, nil) }
  tasks = {
    'sum of a' => { handler: 'sum', input: "#{folder}/a", expected_response: Selene::SECOND },
    'sum of b' => { handler: 'sum', input: "#{folder}/b", expected_response: Selene::SECOND },
    'copy of big' => { handler: 'copy', input: "#{folder}/big", expected_response: Selene::SECOND / 10,
                       priority: Selene::PRIORITY_LOW }
  }
  tasks.each do |id, fields|
    next if look(scheduler, id) # from an earlier life

    task = Selene::Struct.make('task', id: id, schedule: Selene::SCHEDULE_ONCE, **fields)
    Selene.call('task_register', scheduler, task, nil)
  end
  work(scheduler)
  left = tasks.keys.to_h { |id| [id, look(scheduler, id)] }.select { |_, (state)| state == Selene::STATE_ENQUEUED }
  left.each { |id, (_, failure)| puts "#{id}: #{failure}" }
  Selene.call('scheduler_close', scheduler, 0)
  left.size
end

Dir.mktmpdir('selene-archive-') do |folder|
  File.write("#{folder}/a", 'first')
  File.write("#{folder}/big", 'x' * 40 * 4096)
  live(folder)
  File.write("#{folder}/b", 'second')
  # What was copied is not copied again, so this comes to an end.
  nil while live(folder).positive?
end
