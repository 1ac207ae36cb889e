"""The tasks of a scheduler that are due by calendars: when each is next, by the clock on the wall.

What the library keeps of a calendar is the next instant (W7): it is said as the task is registered, and at each
dispatch, so that it holds however the run ends. The calendar itself is the code's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from . import _raw
from ._calendar import Calendar
from ._callbacks import log
from ._errors import SeleneError
from ._time import SECOND

#: As Debian's cron: a clock that is set back by more was wrong before, and its calendars begin anew.
_SET_BACK = 3 * _raw.SELENE_HOUR
#: Closer than that two clocks are one.
_SAME = SECOND


class Keeper(Protocol):
    """The engine that keeps the tasks."""

    #: Whether it goes by a clock of the host's.
    @property
    def has_own_clock(self) -> bool: ...
    def now_ns(self) -> int: ...
    def set_next(self, key: bytes, at: int) -> None: ...


class Record(NamedTuple):
    """What counts of a task's record, by scheduler time."""

    earliest_begin: int
    last_run: int
    attempts: int
    runs: bool


class Entry:
    """A task that is due by a calendar."""

    __slots__ = ("apart", "calendar", "due")

    def __init__(self, calendar: Calendar, due: int, apart: int) -> None:
        self.calendar = calendar
        #: By the clock on the wall.
        self.due = due
        #: How far scheduler time was ahead of that when it was said.
        self.apart = apart


class Calendars:
    """The calendars of a scheduler's tasks."""

    def __init__(self, keeper: Keeper, look: Callable[[bytes], Record]) -> None:
        self._keeper = keeper
        #: Raises where there is no such task.
        self._look = look
        #: By the ids of their tasks.
        self.entries: dict[bytes, Entry] = {}

    def clocks(self) -> tuple[int, int]:
        """The clock on the wall, and how far scheduler time, which is never set, is ahead of it."""
        now = self._keeper.now_ns()
        if self._keeper.has_own_clock:
            return now, 0
        wall = time.time_ns()
        return (now, 0) if abs(now - wall) < _SAME else (wall, now - wall)

    def first(self, calendar: Calendar) -> int:
        """How long from now a new task waits."""
        wall, _ = self.clocks()
        # Less than a delay may be.
        return max(_raw.SELENE_MILLISECOND, calendar.check(wall).after(wall) - wall)

    def register(self, key: bytes, calendar: Calendar, is_new: bool) -> None:
        """A task was registered: what it missed is due once, else it waits for the next instant."""
        wall, apart = self.clocks()
        record = self._look(key)
        waits = not (is_new or record.attempts or record.runs)
        if waits and record.earliest_begin <= wall + apart:
            self.entries[key] = Entry(calendar, record.earliest_begin - apart, apart)
            return
        # Where the clock was set back, the instant of the last run does not come again.
        last = record.last_run - apart
        entry = Entry(calendar, calendar.after(last if not is_new and wall < last <= wall + _SET_BACK else wall), apart)
        self.entries[key] = entry
        at = entry.due + apart
        # A retry comes before, if at all.
        retries = record.attempts and not record.runs
        differs = abs(at - record.earliest_begin) >= _SAME
        if is_new or record.runs or (at < record.earliest_begin if retries else differs):
            self._keeper.set_next(key, at)

    def drop(self, key: bytes) -> None:
        """A task goes by no calendar any more."""
        self.entries.pop(key, None)

    def dispatched(self, key: bytes) -> None:
        """A run begins: after it its task waits for the next instant."""
        entry = self.entries.get(key)
        if entry is None:
            return
        try:
            wall, apart = self.clocks()
            base = wall
            # Its instant has come, which does not come again; else it is a retry, or run for its own sake.
            if entry.due + entry.apart <= wall + apart and wall < entry.due <= wall + _SET_BACK:
                base = entry.due
            entry.due, entry.apart = entry.calendar.after(base), apart
            self._keeper.set_next(key, entry.due + apart)
        except SeleneError as error:
            log.warning("task %r: its next instant could not be said: %s", key.decode(), error)

    def clock_was_set(self) -> None:
        """Says all instants anew, as the clock on the wall is another one."""
        wall, apart = self.clocks()
        for key, entry in tuple(self.entries.items()):
            moved = apart - entry.apart
            if abs(moved) < _SAME:
                continue
            if moved > _SET_BACK:
                entry.due = entry.calendar.after(wall)
            entry.apart = apart
            try:
                record = self._look(key)
                at = max(entry.due, wall) + apart
                if record.runs or not record.attempts or at < record.earliest_begin:
                    self._keeper.set_next(key, at)
            except (SeleneError, LookupError, ValueError):
                self.drop(key)  # it is gone, or over
