-- The C interface of Selene for LuaJIT, read from the header itself: selene.h, without its comments and directives, is
-- what ffi.cdef takes, so nothing here is a copy that could fall behind.
--
-- A program in Lua has one thread: it pulls. Schedulers are opened with SELENE_OPTIONS_NO_THREADS, and whatever would
-- call Lua from a thread of the library is refused as UNSUPPORTED.
--
-- SELENE_HEADER and SELENE_LIBRARY say where the two are; without them where pkg-config finds them.
local ffi = require 'ffi'

local function pkg_config(option)
  local command = io.popen('pkg-config ' .. option .. ' selene 2>/dev/null')
  local told = command:read '*l'
  command:close()
  return told or error 'selene: pkg-config does not find it; SELENE_HEADER and SELENE_LIBRARY may say where it is'
end

local path = os.getenv 'SELENE_HEADER' or pkg_config '--variable=includedir' .. '/selene.h'
local file = assert(io.open(path))
local header = file:read '*a':gsub('/%*.-%*/', ' '):gsub('\\\n', ' ')
file:close()

local selene = {}

-- Numbers that are macros. Those of 64 bits are int64_t, as all instants and durations of the header.
for name, value in header:gmatch '#define SELENE_([%w_]+) (%d+)U?\n' do selene[name] = tonumber(value) end
for name, value in header:gmatch '#define SELENE_([%w_]+) INT64_C%((%d+)%)\n' do
  selene[name] = ffi.cast('int64_t', tonumber(value))
end
selene.NEVER, selene.NONE = 0x7fffffffffffffffLL, -1

ffi.cdef((header:gsub('#[^\n]*', ''):gsub('extern "C" {(.*)}', '%1'):gsub('SELENE_API', '')
  :gsub('%[SELENE_([%w_]+)%]', function(name) return '[' .. selene[name] .. ']' end)))

local library = ffi.load(os.getenv 'SELENE_LIBRARY' or pkg_config '--variable=libdir' .. '/libselene.so')

local failure = {}
failure.__index = failure
failure.__tostring = function(self) return self.status .. ': ' .. self.detail end

--- Raises what is not OK as a table with `status` ("NOT_FOUND") and `detail`.
function selene.check(status)
  if status == 0 then return end
  error(setmetatable({
    status = ffi.string(library.selene_name(library.SELENE_NAMES_STATUS, status)),
    detail = ffi.string(library.selene_error_last().message.data),
  }, failure), 3)
end

-- selene.SCHEDULE_ONCE is a number, selene.task_cancel the function of the header.
setmetatable(selene, {
  __index = function(_, name)
    local own = name:match '^%u' and library['SELENE_' .. name] or library['selene_' .. name]
    selene[name] = own
    return own
  end,
})

--- A text for a field of a struct, which does not keep it alive: hold the string as long as the call needs it.
function selene.text(s) return ffi.new('selene_text', s, #s) end

-- What the structs of `new` point to.
local kept = setmetatable({}, { __mode = 'k' })

--- What the library lends, as a string.
function selene.string(text) return ffi.string(text.data, text.length) end

--- What each list of texts is counted by.
local counts = { tags = 'tag_count', conditions = 'condition_count' }

-- Which structs have a struct_size.
local sized = {}

--- A struct with its defaults: selene.new 'task'. Fields that are given are set; strings are texts, or the input of a task,
--- tables of strings lists of texts.
function selene.new(name, fields)
  local made = ffi.new('selene_' .. name)
  if sized[name] == nil then sized[name] = pcall(function() return made.struct_size end) end
  if sized[name] then made.struct_size = ffi.sizeof(made) end
  local lists = { fields }
  kept[made] = lists
  for field, value in pairs(fields or {}) do
    if field == 'input' then
      made.input, made.input_length = value, #value
    elseif type(value) == 'table' then
      local list = ffi.new('selene_text[?]', #value + 1)
      for place, one in ipairs(value) do list[place - 1] = selene.text(one) end
      lists[#lists + 1] = list
      made[field], made[counts[field] or field .. '_count'] = list, #value
    else
      made[field] = type(value) == 'string' and selene.text(value) or value
    end
  end
  return made
end

--- Calls a function of the library, raises what is not OK, and returns what its last parameter points to, of this type:
--- selene.get('selene_cycle', 'cycle_begin', scheduler, window).
function selene.get(type, name, ...)
  local out = ffi.new(type .. '[1]')
  local given, count = { ... }, select('#', ...)
  given[count + 1] = out
  selene.check(library['selene_' .. name](unpack(given, 1, count + 1)))
  return out[0]
end

--- A scheduler without threads of its own, whose work is pulled.
function selene.open(fields)
  local options = selene.new('options', fields)
  options.flags = bit.bor(options.flags, selene.OPTIONS_NO_THREADS)
  return selene.get('selene_scheduler', 'scheduler_open', options)
end

return selene
