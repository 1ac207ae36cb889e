"""For tests of code that uses pyselene: a clock that stands still until it is told to go on."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from . import _raw
from ._errors import Busy, Closed
from ._library import library
from ._time import SECOND, Duration, duration_ns, instant, instant_ns

if TYPE_CHECKING:
    from ._engine import Engine

_START = datetime(2026, 1, 1, tzinfo=UTC)


class VirtualClock:
    """A clock for Scheduler(clock=…). Cycles on it run their handlers on the calling thread, which advance it.

    >>> from datetime import timedelta
    >>> import pyselene as selene
    >>> clock = VirtualClock()
    >>> scheduler = selene.Scheduler(clock=clock)
    >>> @scheduler.task(every=timedelta(hours=6), expected=2)
    ... def tidy(run):
    ...     clock.advance(1.5)
    >>> scheduler.run_cycle(budget=30).runs[0].response_time
    1.5
    >>> clock.advance(timedelta(hours=6))
    >>> scheduler.explain("tidy").runnable
    True
    """

    def __init__(self, start: datetime = _START) -> None:
        self._now = instant_ns(start, "start")

    def __call__(self) -> int:
        """The present as nanoseconds since the Unix epoch, for the scheduler."""
        return self._now

    @property
    def now_ns(self) -> int:
        """The present as nanoseconds since the Unix epoch."""
        return self._now

    @property
    def now(self) -> datetime:
        """The present."""
        return instant(self._now)

    def advance(self, duration: Duration) -> None:
        """Advances the clock by this many seconds."""
        self.advance_ns(duration_ns(duration, "duration"))

    #: So that code which takes a sleep function can be given this one.
    sleep = advance

    def advance_ns(self, duration: int) -> None:
        """The same in nanoseconds."""
        if duration < 0:
            raise ValueError("a clock never goes back")
        self._now += duration

    def set(self, now: datetime) -> None:
        """Lets time pass until an instant."""
        self.advance_ns(instant_ns(now, "now") - self._now)


class ToldClock:
    """A clock for Scheduler(clock=…) that threads, drivers and event loops wait for, and that a test lets go on.

    advance() goes from one instant at which something is due to the next; at each it waits until every thread of the
    scheduler has done what is due and waits again. `handlers`: it waits for handlers, too, but those in
    `run.stopping.wait()`, and those whose runs are over.

    >>> import pyselene as selene
    >>> clock = ToldClock()
    >>> scheduler = selene.Scheduler(clock=clock)
    >>> times = []
    >>> @scheduler.task(every=3600, delay=60)
    ... def sync(run):
    ...     times.append(clock.now.isoformat(" ", "minutes")[:16])
    >>> with scheduler.driver():
    ...     clock.advance(3 * 3600)
    >>> times
    ['2026-01-01 00:01', '2026-01-01 01:01', '2026-01-01 02:01']
    """

    def __init__(self, start: datetime = _START, patience: Duration = 10) -> None:
        self._start = instant_ns(start, "start")
        self._patience = duration_ns(patience, "patience")
        self._engine: Engine | None = None

    def _own(self, engine: Engine, options: _raw.selene_options) -> None:
        """A scheduler is about to be opened with it."""
        if self._engine is not None:
            raise ValueError("the clock belongs to another scheduler")
        options.flags |= _raw.SELENE_OPTIONS_SET_CLOCK
        options.clock_start = self._start
        self._engine = engine
        engine.told = self

    def _opened(self) -> Engine:
        if self._engine is None:
            raise ValueError("no scheduler has the clock")
        return self._engine

    @property
    def now_ns(self) -> int:
        """The present as nanoseconds since the Unix epoch."""
        return self._start if self._engine is None else self._engine.now_ns()

    @property
    def now(self) -> datetime:
        """The present."""
        return instant(self.now_ns)

    def advance(self, duration: Duration, *, handlers: bool = True) -> None:
        """Lets this many seconds pass. Busy: threads were still at work after `patience` seconds of real time."""
        self._reach(self.now_ns + duration_ns(duration, "duration"), handlers)

    def set(self, now: datetime, *, handlers: bool = True) -> None:
        """Lets time pass until an instant."""
        self._reach(instant_ns(now, "now"), handlers)

    def settle(self, *, handlers: bool = True) -> datetime | None:
        """Waits until nothing more happens at this instant; when something is due next."""
        due = self._reach(self.now_ns, handlers)
        return None if due == _raw.SELENE_NEVER else instant(due)

    def _reach(self, to: int, handlers: bool, once: bool = False, patience: int | None = None) -> int:
        engine = self._opened()
        flags = _raw.SELENE_ADVANCE_HANDLERS if handlers else 0
        patience = self._patience if patience is None else patience
        while True:
            # From instant to instant: at each the thread of a driver opens its windows, which the library does not see.
            due = self._advance(engine, to, flags | _raw.SELENE_ADVANCE_ONCE, patience)
            while (driver := engine.driver) is not None and driver.opens(patience):
                due = self._advance(engine, self.now_ns, flags, patience)
            if once or due == to == _raw.SELENE_NEVER or self.now_ns >= to:
                return due

    def _advance(self, engine: Engine, to: int, flags: int, patience: int) -> int:
        due = ctypes.c_int64()
        status = library.selene_clock_advance(engine.handle, to, flags, patience, ctypes.byref(due))
        for drive in tuple(engine.drives):
            drive.tell()
        engine.check(status)
        return due.value

    @contextlib.contextmanager
    def flowing(self) -> Iterator[None]:
        """Lets time go on by itself while the block runs: for a call that blocks the test's own thread.

        Time moves from one instant at which something is due to the next, whenever no thread of the scheduler and no
        handler is working.
        """
        over = threading.Event()

        def flow() -> None:
            while not over.is_set():
                try:
                    due = self._reach(_raw.SELENE_NEVER, handlers=True, once=True, patience=SECOND // 50)
                    if due == _raw.SELENE_NEVER:
                        over.wait(0.001)
                except Busy:
                    continue
                except Closed:
                    return

        thread = threading.Thread(target=flow, name="told time", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
