# frozen_string_literal: true

# Plays commands of Tests/conformance through selene.rb.

require_relative '../selene'

def decode(text) = text.b.gsub(/%\h\h/) { |byte| byte[1..].hex.chr }.force_encoding('UTF-8')
def encode(text) = text.b.gsub(/[^A-Za-z0-9._-]/n) { |byte| format('%%%02x', byte.ord) }
def instant(nanoseconds) = nanoseconds == Selene::NEVER ? 'never' : nanoseconds
def texts(list) = list.split(',').map { |one| decode(one) }

FLAGS = {
  hold: Selene::OPTIONS_HOLD, observed_range: Selene::OPTIONS_OBSERVED_RANGE,
  strict: Selene::WINDOW_STRICT_FIT, frozen: Selene::WINDOW_FROZEN
}.freeze

# Fields whose 0 is a default that is not 0.
NONE = %i[
  response_window expected_response backoff_delay reserve expedited_quota max_pending_refresh max_pending_processing
].freeze

# A struct with what a command's words say.
def struct(name, words)
  made = Selene::Struct.make(name)
  words.each do |key, text|
    case key
    when *FLAGS.keys then made[:flags] |= FLAGS[key] if text == '1'
    when :input_size then made[:input] = "\0" * text.to_i
    when :tags, :permitted, :conditions, :after then made[key] = texts(text)
    when :id, :handler, :group, :path then made[key] = decode(text)
    when *NONE then made[key] = text == '0' ? Selene::NONE : text.to_i
    else made[key] = text.to_i
    end
  end
  made
end

# Each verb is a method; what it returns is the answer.
class Player
  def clock(text, _)
    @now = text.to_i
    Selene.call('clock_set', @scheduler, @now) if @scheduler
    nil
  end

  def close(*)
    Selene.call('scheduler_close', @scheduler, 0)
    @scheduler = nil
  end

  def open(_, words)
    close if @scheduler
    options = struct('options', words)
    options[:flags] |= Selene::OPTIONS_NO_THREADS | Selene::OPTIONS_SET_CLOCK
    options[:clock_start] = @now || 0
    @scheduler = Selene.get('selene_scheduler', 'scheduler_open', options)
    Selene.call('conditions_set', @scheduler, 255, 255)
    Selene.call('events_open', @scheduler, Selene::EVENTS, nil)
    nil
  end

  def handler(text, _) = done('handler_register', @scheduler, text, text.bytesize, nil, nil, nil, nil)
  def conditions(text, _) = done('conditions_set', @scheduler, 255, text.to_i)
  def enable(text, _) = done('scheduler_enable', @scheduler, text.to_i)
  def register(_, words) = Selene.get('int32_t', 'task_register', @scheduler, struct('task', words))
  def cancel_all(*) = Selene.get('uint64_t', 'task_cancel_all', @scheduler)
  def retry(text, _) = done('task_retry', @scheduler, text, text.bytesize)
  def define(text, _) = done('condition_define', @scheduler, text, text.bytesize)
  def undefine(text, _) = done('condition_undefine', @scheduler, text, text.bytesize)
  def meet(text, _) = done('condition_set', @scheduler, text, text.bytesize, 1)
  def lose(text, _) = done('condition_set', @scheduler, text, text.bytesize, 0)
  def pause_group(text, _) = done('group_pause', @scheduler, text, text.bytesize)
  def resume_group(text, _) = done('group_resume', @scheduler, text, text.bytesize)
  def limit_group(text, words) = done('group_set_limit', @scheduler, text, text.bytesize, words[:limit].to_i)

  %w[cancel cancel_tag pause pause_tag resume resume_tag].each do |verb|
    define_method(verb) { |text, _| Selene.get('uint64_t', "task_#{verb}", @scheduler, text, text.bytesize) }
  end

  def info(text, _)
    Selene.lend('task_info', 'task_get', @scheduler, text, text.bytesize, 0) do |info|
      [info[:state], info[:attempts], instant(info[:earliest_begin]), instant(info[:last_run]), info[:estimate],
       info[:generation], info[:appended], info[:response_time_count],
       info[:failure].empty? ? '-' : encode(info[:failure])]
    end
  end

  def waits(text, _)
    Selene.lend('waits', 'task_waits', @scheduler, text, text.bytesize) do |waits|
      parts = waits.list(:parts, 'wait', :part_count).flat_map do |part|
        [Selene.call('name', Selene::NAMES_REASON, part[:reason]).to_s, part[:detail], part[:duration], part[:times]]
      end
      [*parts, 'preferred', *waits.texts(:preferred_ids, :preferred_id_count).map { |id| encode(id) }]
    end
  end

  def left(text, _)
    stop = Selene.lend('task_info', 'task_get', @scheduler, text, text.bytesize, 0) { |info| info[:stop_reason] }
    output = Selene.lend('task_output', 'task_get_output', @scheduler, text, text.bytesize) { |kept| kept[:output].dup }
    [stop, "=#{encode(output)}"]
  end

  def set_next(text, words) = done('task_set_next', @scheduler, text, text.bytesize, words[:at].to_i)
  def output(text, _) = done('run_set_output', @run, text, text.bytesize)
  def progress(text, words) = done('run_progress', @run, text.to_i, words[:total].to_i, nil, 0)

  def wakeup(*)
    at = +"\0" * 8
    Selene.call('scheduler_next_wakeup', @scheduler, at, nil)
    instant(at.unpack1('q'))
  end

  def plan(_, words)
    Selene.lend('plan', 'cycle_plan', @scheduler, struct('window', words)) do |plan|
      plan.list(:runs, 'plan_run', :run_count).map { |run| encode(run[:id]) }
    end
  end

  def begin(_, words)
    @cycle = Selene.get('selene_cycle', 'cycle_begin', @scheduler, struct('window', words))
    nil
  end

  def next(*)
    step = +"\0" * 4
    info = Selene::Struct.make('run_info')
    Selene.call('cycle_next', @cycle, step, info, nil)
    case step.unpack1('l')
    when Selene::STEP_WAIT then 'wait'
    when Selene::STEP_DONE then 'done'
    else
      @run = info[:run]
      ['run', encode(info[:id]), info[:score], info[:estimate], info[:attempt]]
    end
  end

  def complete(text, _) = done('run_complete', @run, text.to_i)
  def fail(text, _) = done('run_fail', @run, Selene::OUTCOME_FAILED, -1, text, text.bytesize)
  def stopping(*) = Selene.get('int32_t', 'run_stopping', @run)

  def end(*)
    Selene.lend('report', 'cycle_end', @cycle) do |report|
      outcomes = report.list(:runs, 'report_run', :run_count).map { |run| run[:outcome] }
      [report[:result], instant(report[:ended_at]), report[:eligible], *outcomes]
    end
  end

  def events(*)
    told = []
    event = Selene::Struct.make('event')
    found = +"\0" * 4
    loop do
      Selene.call('events_next', @scheduler, 0, event, found, nil)
      return told if found.unpack1('l').zero?

      told << "#{event[:type]}:#{encode(event[:id])}"
    end
  end

  def exit(*) = Kernel.exit(0)

  private

  def done(...)
    Selene.call(...)
    nil
  end
end

$stdout.sync = true
player = Player.new
$stdin.each_line(chomp: true) do |line|
  verb, *words = line.split
  fields, texts = words.partition { |word| word.include?('=') }
  begin
    told = player.public_send(verb, decode(texts.first || ''), fields.to_h { |word| word.split('=', 2) }.transform_keys(&:to_sym))
    puts ['ok', *told].join(' ')
  rescue Selene::Failure => e
    puts "error #{e.status} #{e.message}"
  end
end
