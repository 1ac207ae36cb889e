-- Plays commands of Tests/conformance through selene.lua.
package.path = arg[0]:match '(.*)/' .. '/../?.lua;' .. package.path
local selene = require 'selene'
local ffi = require 'ffi'

local function decode(s)
  return (s:gsub('%%(%x%x)', function(x) return string.char(tonumber(x, 16)) end))
end

local function encode(s)
  return (s:gsub('[^%w._-]', function(c) return ('%%%02x'):format(c:byte()) end))
end

local function int64(text) return loadstring('return ' .. text .. 'LL')() end
local function digits(value) return (tostring(value):gsub('U?LL', '')) end
local function instant(ns) return ns == selene.NEVER and 'never' or digits(ns) end

local function lent(text) return encode(selene.string(text)) end

-- What structs point to until the next command.
local kept
local function keep(value)
  kept[#kept + 1] = value
  return value
end

local function texts(list)
  local names = {}
  for name in list:gmatch '[^,]+' do names[#names + 1] = keep(decode(name)) end
  local made = keep(ffi.new('selene_text[?]', #names + 1))
  for i, name in ipairs(names) do made[i - 1] = selene.text(name) end
  return made, #names
end

local flags = {
  hold = selene.OPTIONS_HOLD,
  observed_range = selene.OPTIONS_OBSERVED_RANGE,
  strict = selene.WINDOW_STRICT_FIT,
  frozen = selene.WINDOW_FROZEN,
}

-- Fields whose 0 is a default that is not 0.
local has_none = {
  response_window = true, expected_response = true, backoff_delay = true, reserve = true, expedited_quota = true,
  max_pending_refresh = true, max_pending_processing = true,
}

--- A struct with what a command's words say.
local function struct(name, words)
  local made = selene.new(name)
  for key, text in words:gmatch '(%S-)=(%S*)' do
    if key == 'tags' then
      made.tags, made.tag_count = texts(text)
    elseif key == 'conditions' then
      made.conditions, made.condition_count = texts(text)
    elseif key == 'after' then
      made.after, made.after_count = texts(text)
    elseif key == 'permitted' then
      made.permitted, made.permitted_count = texts(text)
    elseif key == 'input_size' then
      made.input, made.input_length = keep(ffi.new('char[?]', tonumber(text) + 1)), tonumber(text)
    elseif flags[key] then
      if text == '1' then made.flags = bit.bor(made.flags, flags[key]) end
    elseif key == 'id' or key == 'handler' or key == 'group' or key == 'path' then
      made[key] = selene.text(keep(decode(text)))
    else
      made[key] = text == '0' and has_none[key] and selene.NONE or int64(text)
    end
  end
  return made
end

local now, scheduler, cycle, run = 0LL, nil, nil, 0
local verbs = {}

function verbs.clock(ns)
  now = int64(ns)
  if scheduler then selene.check(selene.clock_set(scheduler, now)) end
end

function verbs.close()
  local closing = scheduler
  scheduler = nil
  selene.check(selene.scheduler_close(closing, 0))
end

function verbs.open(_, words)
  if scheduler then verbs.close() end
  local options = struct('options', words)
  options.flags = bit.bor(options.flags, selene.OPTIONS_NO_THREADS, selene.OPTIONS_SET_CLOCK)
  options.clock_start = now
  scheduler = selene.get('selene_scheduler', 'scheduler_open', options)
  selene.check(selene.conditions_set(scheduler, 255, 255))
  selene.check(selene.events_open(scheduler, selene.EVENTS, nil))
end

function verbs.handler(name) selene.check(selene.handler_register(scheduler, name, #name, nil, nil, nil, nil)) end
function verbs.conditions(bits) selene.check(selene.conditions_set(scheduler, 255, tonumber(bits))) end
function verbs.enable(bits) selene.check(selene.scheduler_enable(scheduler, tonumber(bits))) end
function verbs.register(_, words) return selene.get('int32_t', 'task_register', scheduler, struct('task', words)) end
function verbs.cancel_all() return digits(selene.get('uint64_t', 'task_cancel_all', scheduler)) end
function verbs.retry(id) selene.check(selene.task_retry(scheduler, id, #id)) end

-- Those that take a text and say how many.
for _, name in ipairs { 'cancel', 'cancel_tag', 'pause', 'pause_tag', 'resume', 'resume_tag' } do
  verbs[name] = function(text) return digits(selene.get('uint64_t', 'task_' .. name, scheduler, text, #text)) end
end

function verbs.define(name) selene.check(selene.condition_define(scheduler, name, #name)) end
function verbs.undefine(name) selene.check(selene.condition_undefine(scheduler, name, #name)) end
function verbs.meet(name) selene.check(selene.condition_set(scheduler, name, #name, 1)) end
function verbs.lose(name) selene.check(selene.condition_set(scheduler, name, #name, 0)) end
function verbs.pause_group(name) selene.check(selene.group_pause(scheduler, name, #name)) end
function verbs.resume_group(name) selene.check(selene.group_resume(scheduler, name, #name)) end
function verbs.limit_group(name, words)
  selene.check(selene.group_set_limit(scheduler, name, #name, tonumber(words:match 'limit=(%d+)')))
end

function verbs.info(id)
  local info = ffi.gc(selene.get('selene_task_info *', 'task_get', scheduler, id, #id, 0), selene.free)
  local failure = selene.string(info.failure)
  return ('%d %d %s %s %s %d %s %s %s'):format(info.state, info.attempts, instant(info.earliest_begin),
    instant(info.last_run), digits(info.estimate), info.generation, digits(info.appended),
    digits(info.response_time_count), failure == '' and '-' or encode(failure))
end

function verbs.waits(id)
  local waits = ffi.gc(selene.get('selene_waits *', 'task_waits', scheduler, id, #id), selene.free)
  local told = {}
  for i = 1, tonumber(waits.part_count) do
    local part = waits.parts[i - 1]
    told[i] = ('%s %s %s %s'):format(ffi.string(selene.name(selene.NAMES_REASON, part.reason)), digits(part.detail),
      digits(part.duration), digits(part.times))
  end
  told[#told + 1] = 'preferred'
  for i = 1, tonumber(waits.preferred_id_count) do told[#told + 1] = lent(waits.preferred_ids[i - 1]) end
  return table.concat(told, ' ')
end

function verbs.left(id)
  local info = ffi.gc(selene.get('selene_task_info *', 'task_get', scheduler, id, #id, 0), selene.free)
  local kept = ffi.gc(selene.get('selene_task_output *', 'task_get_output', scheduler, id, #id),
    selene.free)
  return ('%d =%s'):format(info.stop_reason, lent(kept.output))
end

function verbs.set_next(id, words) selene.check(selene.task_set_next(scheduler, id, #id, int64(words:match 'at=(%-?%d+)'))) end
function verbs.output(text) selene.check(selene.run_set_output(run, text, #text)) end
function verbs.progress(done, words)
  selene.check(selene.run_progress(run, tonumber(done), tonumber(words:match 'total=(%d+)'), nil, 0))
end

function verbs.wakeup()
  local at = ffi.new 'int64_t[1]'
  selene.check(selene.scheduler_next_wakeup(scheduler, at, nil))
  return instant(at[0])
end

function verbs.plan(_, words)
  local plan = ffi.gc(selene.get('selene_plan *', 'cycle_plan', scheduler, struct('window', words)), selene.free)
  local ids = {}
  for i = 1, tonumber(plan.run_count) do ids[i] = lent(plan.runs[i - 1].id) end
  return table.concat(ids, ' ')
end

function verbs.begin(_, words) cycle = selene.get('selene_cycle', 'cycle_begin', scheduler, struct('window', words)) end

function verbs.next()
  local step, info = ffi.new 'int32_t[1]', selene.new 'run_info'
  selene.check(selene.cycle_next(cycle, step, info, nil))
  if step[0] ~= selene.STEP_RUN then return step[0] == selene.STEP_WAIT and 'wait' or 'done' end
  run = info.run
  return ('run %s %.17g %s %d'):format(lent(info.id), info.score, digits(info.estimate), info.attempt)
end

function verbs.complete(outcome) selene.check(selene.run_complete(run, tonumber(outcome))) end
function verbs.fail(message) selene.check(selene.run_fail(run, selene.OUTCOME_FAILED, -1, message, #message)) end
function verbs.stopping() return selene.get('int32_t', 'run_stopping', run) end

verbs['end'] = function()
  local report = ffi.gc(selene.get('selene_report *', 'cycle_end', cycle), selene.free)
  local told = { report.result, digits(report.ended_at), digits(report.eligible) }
  for i = 1, tonumber(report.run_count) do told[i + 3] = report.runs[i - 1].outcome end
  return table.concat(told, ' ')
end

function verbs.events()
  local told, event, found = {}, selene.new 'event', ffi.new 'int32_t[1]'
  while true do
    selene.check(selene.events_next(scheduler, 0, event, found, nil))
    if found[0] == 0 then break end
    told[#told + 1] = event.type .. ':' .. lent(event.id)
  end
  return table.concat(told, ' ')
end

function verbs.exit() os.exit(0, true) end

io.stdout:setvbuf 'no'
for line in io.lines() do
  kept = {}
  local verb, words = line:match '(%S+) ?(.*)'
  local is_done, told = pcall(verbs[verb], decode(words:match '^([^%s=]*)' or ''), words)
  if is_done then
    print(told and told ~= '' and 'ok ' .. told or 'ok')
  elseif type(told) == 'table' and told.status then
    print(('error %s %s'):format(told.status, told.detail))
  else
    error(told, 0)
  end
end
