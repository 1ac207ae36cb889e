-- Work that fails, retries, is stopped and goes on, on a store: sizes of files, and a copy that takes longer than a window.
-- The loop is the program's own, so it has no thread but this one, and the library calls nothing of it.
package.path = arg[0]:match '(.*)/' .. '/?.lua;' .. package.path
local selene = require 'selene'
local ffi = require 'ffi'

local function read(path)
  local file = io.open(path, 'rb')
  if not file then return nil end
  local bytes = file:read '*a'
  file:close()
  return bytes
end

local function is_stopping(run) return selene.get('int32_t', 'run_stopping', run.run) ~= selene.STOP_NONE end

-- A handler returns nothing, or why it failed: then it is tried again in the next window.
local handlers = {}

function handlers.size(run, path)
  local bytes = read(path)
  if not bytes then return path:match '[^/]*$' .. ' is not there' end
  print(('%s: %d bytes, attempt %d'):format(selene.string(run.id), #bytes, run.attempt))
end

--- Copies a file piece by piece. What is there is not copied again, so it may be stopped and begun as often as need be.
function handlers.copy(run, path)
  local from, copy = assert(io.open(path, 'rb')), path .. '.copy'
  local to = assert(io.open(copy, 'ab'))
  local size = to:seek 'end'
  from:seek('set', size)
  local why
  repeat
    if is_stopping(run) then
      why = 'not done yet'
      break
    end
    local piece = from:read(4096)
    if piece then to:write(piece) end
    os.execute 'sleep 0.15' -- a slow disk
  until not piece
  from:close()
  to:close()
  if why then return why end
  print(('%s: %d bytes'):format(selene.string(run.id), #read(copy)))
end

--- Pulls the runs of a window until nothing is left in it.
local function work(scheduler)
  local window = selene.new('window', { budget = 10 * selene.SECOND, reserve = 5 * selene.SECOND })
  local cycle = selene.get('selene_cycle', 'cycle_begin', scheduler, window)
  local step, wake, run = ffi.new 'int32_t[1]', ffi.new 'int64_t[1]', selene.new 'run_info'
  while true do
    selene.check(selene.cycle_next(cycle, step, run, wake))
    -- With one run at a time there is nothing to wait for.
    if step[0] ~= selene.STEP_RUN then break end
    local why = handlers[selene.string(run.handler)](run, selene.string(run.input))
    if why then
      selene.check(selene.run_fail(run.run, selene.OUTCOME_FAILED, 0, why, #why))
    else
      selene.check(selene.run_complete(run.run, selene.OUTCOME_NEW_DATA))
    end
  end
  selene.check(selene.cycle_end(cycle, nil))
end

--- A task's record, freed when Lua drops it; nil where there is none.
local function get(scheduler, id)
  local is_there, info = pcall(selene.get, 'selene_task_info *', 'task_get', scheduler, id, #id, 0)
  if is_there then return ffi.gc(info, selene.free) end
  if info.status ~= 'NOT_FOUND' then error(info, 0) end
end

--- A program that is started, works for a window, and ends; whether something is left to do, and why.
local function live(folder)
  local scheduler = selene.open { path = folder .. '/store' }
  for name in pairs(handlers) do selene.check(selene.handler_register(scheduler, name, #name, nil, nil, nil, nil)) end
  local tasks = {
    { id = 'size of a', handler = 'size', input = folder .. '/a', expected_response = selene.SECOND },
    { id = 'size of b', handler = 'size', input = folder .. '/b', expected_response = selene.SECOND },
    { id = 'copy of big', handler = 'copy', input = folder .. '/big', expected_response = 100 * selene.MILLISECOND,
      priority = selene.PRIORITY_LOW },
  }
  for _, fields in ipairs(tasks) do
    -- Unless it is there from an earlier life.
    if not get(scheduler, fields.id) then
      fields.schedule = selene.SCHEDULE_ONCE
      selene.check(selene.task_register(scheduler, selene.new('task', fields), nil))
    end
  end
  work(scheduler)
  local left = 0
  for _, fields in ipairs(tasks) do
    local info = get(scheduler, fields.id)
    if info.state == selene.STATE_ENQUEUED then
      left = left + 1
      print(fields.id .. ': ' .. selene.string(info.failure))
    end
  end
  selene.check(selene.scheduler_close(scheduler, 0))
  return left
end

local function write(path, text)
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
end

local folder = io.popen('mktemp -d'):read '*l'
write(folder .. '/a', 'first')
write(folder .. '/big', ('x'):rep(40 * 4096))
live(folder)
write(folder .. '/b', 'second')
while live(folder) > 0 do end
os.execute("rm -r '" .. folder .. "'")
