"""Tasks: what they are (Task) and what became of them (TaskInfo); _fields.py has their fields."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from . import _raw
from ._arguments import packed
from ._calendar import calendar_of
from ._fields import TaskInfo, TaskRow, check, pack, told
from ._library import read
from ._terms import Schedule


@dataclass(frozen=True, slots=True)
class Task(TaskRow):
    """What a task is.

    - `id`: its name; `handler`: the name of the handler that runs it, by default the id.
    - `kind`: refresh (seconds) or processing (minutes). `schedule`: by default periodic if `every` is given, else
      once; "standing" is a candidate in every window.
    - `priority`: 1 … 5 or a name. `expected`: how long a run takes while none is known; None is by what its handler's
      runs took, 5 s while there were none. Later the estimate is the mean of its own last `response_window` (0 … 30)
      response times.
    - `tags`: names to find and cancel it by, at most 16. `requires`: conditions, such as {"network", "power"}.
    - `conditions`: names of the host's own conditions, such as ["signed-in"], at most 32, which
      Scheduler.define_condition() and set_condition() know; what is not defined or not set is not satisfied.
    - `group`: the one that it shares a limit of runs at a time with, and a pause; see Scheduler.group().
    - `existing`: what happens to a live task of this id; by default keep for once tasks, else update.
    - `latest_begin`: of work that is to be done once: the same to its latest begin. Near it, it goes before all others;
      what has not begun by then, and what could be tried again only later, has failed (too_late). None is no limit.
    - `delay`: from registration to the earliest begin. `every`: the period; `flex`: a first run comes only in the last
      flex of its period; `anchored`: periods stay on the grid of the first.
    - `jitter`: 0 … 1; delay and periods become longer by a random part of at most this, so that a fleet does not wake
      at once: with 0.1 an hour is one of 60 to 66 minutes. Anchored periods keep their grid.
    - `cron`: a cron expression by which it is due, such as "0 3 * * mon-fri" (needs pyselene[cron]). `at`: times of the
      day instead, such as "03:00 15:30"; `on`: the days of the week for these, such as "mon..fri". `zone`: where, such
      as "Europe/Berlin"; by default the machine's. Of instants that were missed one is made up for. A failed run is
      tried again before the next instant, or at it. Where clocks are set forward, a time that is left out is due at
      once; where they are set back, one that comes twice is due once; `*` and `*/5` go by the time that passes.
    - `backoff`: by default none for standing tasks, else Exponential(30). `max_attempts`: None is no limit.
    - `timeout`: after that long a run is asked to stop (timed_out); it may still complete for the scheduler's
      `stop_grace`, then it is over, expired, and its lane goes to the next task. None is no limit.
    - `stall_limit`: after that long without `run.progress()` a run is asked to stop (stalled), and it goes on as with
      `timeout`. None is no limit.
    - `steady`: a scheduler with the freshness rule does not learn from its outcomes: for work whose every run counts.
    - `expedited`: of work that is to be done once, important now: while something is left of the scheduler's
      `expedited_quota`, it goes before all others but those near their `latest_begin`, and does not wait for the
      minimum interval of its kind. When the quota is used up, it is an ordinary task; with `out_of_quota="refuse"`
      registering it then raises OutOfQuota.
    - `after`: ids of registered once tasks, at most 16: a once task (which it is then by itself) waits until all of
      them have succeeded; it fails if one fails, and is cancelled if one is. `after_any_end`: it starts however they
      end.
    - `input`: bytes handed to each run. `args`, `kwargs`: instead, what its handler is called with besides the run, as
      `mail(run, 7, to="x")` with args=[7] and kwargs={"to": "x"}; they are kept as JSON in the input.

    >>> Task("upload", every=3600, requires={"network"}).schedule
    <Schedule.PERIODIC: 2>
    >>> Task("upload", priority="urgent")
    Traceback (most recent call last):
    ValueError: priority is 'urgent'; allowed: very_low, low, normal, high, very_high
    """

    def __post_init__(self) -> None:
        if self.args != () or self.kwargs is not None:
            if self.input:
                raise ValueError("input is given, and args or kwargs, too; allowed: one of them")
            object.__setattr__(self, "input", packed(self.args, self.kwargs))
            # The input says it from here on.
            object.__setattr__(self, "args", ())
            object.__setattr__(self, "kwargs", None)
        if calendar_of(self) is not None:
            if self.schedule is None:
                object.__setattr__(self, "schedule", Schedule.PERIODIC)
            elif Schedule.of(self.schedule, "schedule") is not Schedule.PERIODIC:
                raise ValueError(f"schedule is {self.schedule}, but cron or at is given; allowed: periodic")
        check(self)


_SIZE = ctypes.sizeof(_raw.selene_task)


def raw_task(task: Task) -> _raw.selene_task:
    """The library's structure of a task, which must not outlive it."""
    if not isinstance(task, Task):
        raise TypeError(f"task must be a Task, not {type(task).__name__}")
    raw = _raw.selene_task()
    raw.struct_size = _SIZE
    pack(raw, task)
    if raw.recurrence == _raw.SELENE_RECURRENCE_CALENDAR:
        # Counts only where nothing says the next instant, as in a simulation.
        raw.period = _raw.SELENE_DAY
    return raw


#: Where the response times stand, and how many there is room for.
_TIMES = _raw.selene_task_info_row._fields.index("response_time_count") + 1
_MOST = _raw.SELENE_RESPONSE_TIMES


def task_info(address: int) -> TaskInfo:
    """Reads the library's record."""
    values = read(_raw.selene_task_info, address)
    row = _raw.selene_task_info_row._make(values[:_TIMES] + values[_TIMES + _MOST :])
    return told(row, values[_TIMES : _TIMES + row.response_time_count])
