-- What selene.lua adds to the header, and what it must not cost. Prints a line for each test. Argument: a store that another
-- process serves.
package.path = arg[0]:match '(.*)/' .. '/../?.lua;' .. package.path
local selene = require 'selene'
local ffi = require 'ffi'

local failures = 0

local function test(name, body)
  local passed, why = pcall(body)
  if not passed then
    failures = failures + 1
    print(tostring(why))
  end
  print((passed and 'ok' or 'FAILED') .. ' LuaJIT: ' .. name)
end

local function equal(found, wanted)
  if found ~= wanted then error(('found %s, wanted %s'):format(tostring(found), tostring(wanted)), 2) end
end

local function refused(status, call)
  local passed, why = pcall(call)
  equal(passed, false)
  equal(type(why) == 'table' and why.status or why, status)
  return why
end

local function handler(scheduler, name)
  selene.check(selene.handler_register(scheduler, name, #name, nil, nil, nil, nil))
end

local step, info = ffi.new 'int32_t[1]', selene.new 'run_info'

--- Pulls a window, and gives each run to a function.
local function pull(scheduler, window, work)
  local cycle, runs = selene.get('selene_cycle', 'cycle_begin', scheduler, window), 0
  while true do
    selene.check(selene.cycle_next(cycle, step, info, nil))
    if step[0] ~= selene.STEP_RUN then break end
    work(info)
    runs = runs + 1
  end
  selene.check(selene.cycle_end(cycle, nil))
  return runs
end

test('what is refused is raised with its status and detail, also after a close', function()
  local scheduler = selene.open()
  local why = refused('INVALID_ARGUMENT', function()
    selene.check(selene.task_register(scheduler, selene.new('task', { id = 'a', response_window = 31 }), nil))
  end)
  equal(tostring(why):match 'INVALID_ARGUMENT: response_window.*31' ~= nil, true)
  refused('UNSUPPORTED', function() selene.check(selene.driver_start(scheduler, nil)) end)
  selene.check(selene.scheduler_close(scheduler, 0))
  refused('INVALID_HANDLE', function() selene.get('int64_t', 'scheduler_now', scheduler) end)
end)

test('a stop is seen by who asks, and a late outcome is refused', function()
  local scheduler = selene.open { clock_start = selene.SECOND, flags = selene.OPTIONS_SET_CLOCK }
  handler(scheduler, 'a')
  selene.check(selene.task_register(scheduler, selene.new('task', { id = 'a' }), nil))
  pull(scheduler, selene.new 'window', function(run)
    equal(selene.get('int32_t', 'run_stopping', run.run), selene.STOP_NONE)
    selene.check(selene.task_cancel(scheduler, 'a', 1, nil))
    refused('STALE_RUN', function() selene.check(selene.run_complete(run.run, selene.OUTCOME_NEW_DATA)) end)
  end)
  selene.check(selene.scheduler_close(scheduler, 0))
end)

test('another process has the store: what is enqueued there is worked on here', function()
  local client = selene.get('selene_scheduler', 'scheduler_connect', selene.new('connect_options', { path = arg[1], pool = 'luajit' }))
  handler(client, 'luajit')
  local task = selene.new('task', { id = 'luajit', schedule = selene.SCHEDULE_ONCE, input = 'in\0put' })
  selene.check(selene.task_register(client, task, nil))
  equal(pull(client, selene.new 'window', function(run)
    equal(selene.string(run.input), 'in\0put')
    selene.check(selene.run_complete(run.run, selene.OUTCOME_NEW_DATA))
  end), 1)
  local record = selene.get('selene_task_info *', 'task_get', client, 'luajit', 6, 0)
  equal(record.state, selene.STATE_SUCCEEDED)
  selene.free(record)
  selene.check(selene.scheduler_close(client, 0))
  local path = arg[1] .. '-nobody'
  refused('OWNER_AWAY', function()
    selene.get('selene_scheduler', 'scheduler_connect', selene.new('connect_options', { path = path }))
  end)
end)

test('lists of texts and inputs come as they went in', function()
  local scheduler = selene.open { permitted = { 'a', 'b.*' } }
  local task = selene.new('task', { id = 'b.1', tags = { 'x', 'ä' }, conditions = { 'vpn' }, input = 'in\0put' })
  selene.check(selene.task_register(scheduler, task, nil))
  refused('NOT_PERMITTED', function() selene.check(selene.task_register(scheduler, selene.new('task', { id = 'c' }), nil)) end)
  collectgarbage()
  local record = selene.get('selene_task_info *', 'task_get', scheduler, 'b.1', 3, 0)
  equal(record.tag_count, 2)
  equal(selene.string(record.tags[0]) .. selene.string(record.tags[1]) .. selene.string(record.conditions[0]), 'xävpn')
  equal(selene.string(record.input), 'in\0put')
  selene.free(record)
  selene.check(selene.scheduler_close(scheduler, 0))
end)

local function resident()
  local file = assert(io.open '/proc/self/statm')
  local pages = tonumber(file:read '*a':match '%d+ (%d+)')
  file:close()
  return pages
end

test('memory is flat over 100 000 runs and as many failures while the collector works', function()
  local scheduler = selene.open { clock_start = selene.SECOND, flags = selene.OPTIONS_SET_CLOCK }
  handler(scheduler, 'a')
  for number = 1, 100 do
    local task = selene.new('task', {
      id = tostring(number),
      handler = 'a',
      schedule = selene.SCHEDULE_STANDING,
      input = ('x'):rep(100),
      expected_response = 0,
    })
    selene.check(selene.task_register(scheduler, task, nil))
  end
  local window, count = selene.new 'window', 0
  local function work(run)
    count = count + 1
    local text = selene.string(run.id) .. selene.string(run.input)
    if count % 2 == 0 then
      selene.check(selene.run_fail(run.run, selene.OUTCOME_FAILED, 0, text, #text))
    else
      selene.check(selene.run_set_output(run.run, text, #text))
      selene.check(selene.run_complete(run.run, selene.OUTCOME_NEW_DATA))
    end
    collectgarbage 'step'
  end
  -- As many runs again and again: what is lost with each run is lost in each stretch, allocators take some memory once.
  local before, grown = 0, math.huge
  for stretch = 1, 6 do
    if stretch > 2 and grown < 500 then break end
    for _ = 1, 1000 do equal(pull(scheduler, window, work), 100) end
    collectgarbage()
    grown = resident() - before
    before = before + grown
  end
  -- That is 20 bytes a run.
  equal(grown < 500 or grown, true)
  selene.check(selene.scheduler_close(scheduler, 0))
end)

os.exit(failures == 0 and 0 or 1)
