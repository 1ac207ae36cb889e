# frozen_string_literal: true

# The C interface of Selene for Ruby's Fiddle, read from api.json, the interface for programs that is installed with the
# header: constants, layouts and functions are what that file says, so nothing here is a copy that could fall behind.
#
# Work is pulled: schedulers are opened with SELENE_OPTIONS_NO_THREADS, and what would call Ruby from a thread of the
# library is refused as UNSUPPORTED. Other threads of Ruby go on while a call waits.
#
# SELENE_API and SELENE_LIBRARY say where the two are; without them where pkg-config finds them.

require 'fiddle'
require 'json'

module Selene
  # What a call refuses: `status` is the name ("NOT_FOUND"), the message its detail.
  class Failure < StandardError
    attr_reader :status

    def initialize(status, detail)
      super(detail)
      @status = status
    end
  end

  def self.installed(variable)
    told = `pkg-config --variable=#{variable} selene 2>/dev/null`.chomp
    told.empty? ? raise('selene: pkg-config does not find it; SELENE_API and SELENE_LIBRARY may say where it is') : told
  end
  private_class_method :installed

  API = JSON.parse(File.read(ENV['SELENE_API'] || "#{installed('prefix')}/share/selene/api.json"), symbolize_names: true)
  LIBRARY = Fiddle.dlopen(ENV['SELENE_LIBRARY'] || "#{installed('libdir')}/libselene.so")

  # Selene::SECOND, Selene::SCHEDULE_ONCE
  [*API[:constants], *API[:enums].flat_map { |list| list[:constants] }].each do |constant|
    const_set(constant[:name].delete_prefix('SELENE_'), constant[:value])
  end

  TYPES = {
    'int32_t' => [Fiddle::TYPE_INT, 'l'], 'uint32_t' => [-Fiddle::TYPE_INT, 'L'],
    'int64_t' => [Fiddle::TYPE_LONG_LONG, 'q'], 'uint64_t' => [-Fiddle::TYPE_LONG_LONG, 'Q'],
    'double' => [Fiddle::TYPE_DOUBLE, 'd'], 'void' => [Fiddle::TYPE_VOID, nil]
  }
  POINTER = [Fiddle::TYPE_VOIDP, 'J'].freeze
  API[:types].each { |type| TYPES[type[:name]] = TYPES.fetch(type[:type]) }
  TYPES.default = POINTER

  FUNCTIONS = API[:functions].to_h { |function| [function[:name].delete_prefix('selene_'), function] }
  CALLS = Hash.new do |calls, name|
    function = FUNCTIONS.fetch(name)
    parameters = function[:parameters].map { |parameter| TYPES[parameter[:type]].first }
    address = LIBRARY[function[:name]]
    calls[name] = Fiddle::Function.new(address, parameters, TYPES[function[:returns]].first)
  end

  # A struct of the header. Strings are its texts, or the input of a task; they live as long as it does.
  class Struct
    LAYOUTS = API[:structs].to_h { |struct| [struct[:name].delete_prefix('selene_'), struct] }

    # One of the program's own, with its defaults and these fields.
    def self.make(name, **fields)
      size = LAYOUTS.fetch(name)[:size]
      made = new(name, Fiddle::Pointer.malloc(size, Fiddle::RUBY_FREE))
      made.pointer[0, size] = "\0" * size
      made[:struct_size] = size if LAYOUTS[name][:sized]
      fields.each { |field, value| made[field] = value }
      made
    end

    attr_reader :pointer

    # One that lies there.
    def initialize(name, address)
      @fields = LAYOUTS.fetch(name)[:fields].to_h { |field| [field[:name].to_sym, field] }
      @pointer = Fiddle::Pointer.new(address.to_i)
      @memory = address
      @kept = {}
    end

    def [](name)
      field = @fields.fetch(name)
      return text(field[:offset]) if field[:type] == 'selene_text'

      @pointer[field[:offset], field[:size]].unpack1(TYPES[field[:type]].last)
    end

    def []=(name, value)
      field = @fields.fetch(name)
      case value
      when String
        @kept[name] = bytes = Fiddle::Pointer[value]
        # The input of a task is a pointer and a length, as a text is.
        write(field[:offset], [bytes.to_i, value.bytesize], 'Jq')
      when Array
        @kept[name] = value
        @kept["#{name} in memory"] = list = Fiddle::Pointer.malloc(16 * value.size + 1, Fiddle::RUBY_FREE)
        list[0, 16 * value.size] = value.map { |one| [Fiddle::Pointer[one].to_i, one.bytesize].pack('Jq') }.join
        write(field[:offset], [list.to_i], 'J')
        self[%i[tags conditions].include?(name) ? :"#{name[..-2]}_count" : :"#{name}_count"] = value.size
      else
        write(field[:offset], [value], TYPES[field[:type]].last)
      end
    end

    # What an array of structs is that it points to: report.list(:runs, 'report_run', :run_count)
    def list(name, struct, count)
      size = LAYOUTS.fetch(struct)[:size]
      Array.new(self[count]) { |place| Struct.new(struct, self[name] + size * place) }
    end

    # What an array of texts is that it points to: waits.texts(:preferred_ids, :preferred_id_count)
    def texts(name, count)
      Array.new(self[count]) { |place| text(0, Fiddle::Pointer.new(self[name] + 16 * place)) }
    end

    private

    def text(offset, from = @pointer)
      data, length = from[offset, 16].unpack('Jq')
      length.zero? ? '' : Fiddle::Pointer.new(data)[0, length].force_encoding('UTF-8')
    end

    def write(offset, values, packing)
      bytes = values.pack(packing)
      @pointer[offset, bytes.bytesize] = bytes
    end
  end

  module_function

  # Calls a function of the header; a status that is not OK is raised: Selene.call('task_register', scheduler, task, nil)
  def call(name, *arguments)
    told = CALLS[name].call(*arguments.map { |one| one.is_a?(Struct) ? one.pointer : one })
    return told unless FUNCTIONS[name][:returns] == 'selene_status' && told != OK

    raise Failure.new(CALLS['name'].call(NAMES_STATUS, told).to_s, Struct.new('error', CALLS['error_last'].call)[:message])
  end

  # The same, and what the last parameter points to, of this type: Selene.get('int32_t', 'run_stopping', run)
  def get(type, name, *arguments)
    out = "\0" * 8
    call(name, *arguments, out)
    out.unpack1(TYPES[type].last)
  end

  # The same for a struct that the library made, and that ends with the block: Selene.lend('plan', 'cycle_plan', …) { |plan| … }
  def lend(struct, name, *arguments)
    address = get('void *', name, *arguments)
    yield Struct.new(struct, address)
  ensure
    call('free', address) if address
  end

  # A scheduler without threads of its own, whose work is pulled.
  def open(**fields)
    options = Struct.make('options', **fields)
    options[:flags] |= OPTIONS_NO_THREADS
    get('selene_scheduler', 'scheduler_open', options)
  end
end
