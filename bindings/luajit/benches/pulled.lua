-- What a pulled run costs: for each line that it reads, a window of 500 runs, and ns a run. Argument: number of tasks.
package.path = arg[0]:match '(.*)/' .. '/../?.lua;' .. package.path
local selene = require 'selene'
local ffi = require 'ffi'

ffi.cdef 'struct selene_bench_time { long seconds, nanoseconds; }; int clock_gettime(int, struct selene_bench_time *);'
local time = ffi.new 'struct selene_bench_time'
local function now()
  ffi.C.clock_gettime(1, time)
  return tonumber(time.seconds) * 1e9 + tonumber(time.nanoseconds)
end

local scheduler = selene.open()
selene.check(selene.conditions_set(scheduler, 3, 3))
selene.check(selene.handler_register(scheduler, 'count', 5, nil, nil, nil, nil))
for number = 0, (tonumber(arg[1]) or 1000) - 1 do
  local task = selene.new('task', { id = ('task-%011d'):format(number), handler = 'count', expected_response = 0 })
  selene.check(selene.task_register(scheduler, task, nil))
end

local step, info, window = ffi.new 'int32_t[1]', selene.new 'run_info', selene.new 'window'

local function pull()
  local cycle, runs = selene.get('selene_cycle', 'cycle_begin', scheduler, window), 0
  for _ = 1, 500 do
    selene.check(selene.cycle_next(cycle, step, info, nil))
    if step[0] ~= selene.STEP_RUN then break end
    selene.check(selene.run_complete(info.run, selene.OUTCOME_NEW_DATA))
    runs = runs + 1
  end
  selene.check(selene.cycle_end(cycle, nil))
  return runs
end

io.stdout:setvbuf 'line'
for _ in io.lines() do
  local began = now()
  local runs = pull()
  print((now() - began) / runs)
end
