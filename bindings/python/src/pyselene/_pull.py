"""Windows of a connection (_connect.py): threads take runs from the process that has the store, and complete them."""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import _raw
from ._callbacks import log
from ._cycle import begin, end
from ._errors import Busy, Closed, OwnerAway, Refused, SeleneError, StaleRun, TooSoon, Unavailable
from ._event import Event
from ._handler import GONE, execute, interrupting, make_run
from ._interrupt import stopping_signals
from ._report import Report
from ._run import RUN_SIZE, Run
from ._time import SECOND

if TYPE_CHECKING:
    from ._engine import Engine

#: What a window ends with where the owner has gone, or another has come.
_LOST = (OwnerAway, Closed, StaleRun)


class Bell:
    """Something that a thread waits for, and others ring."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.rung = 0

    def ring(self, _event: object = None) -> None:
        """Wakes who waits."""
        with self._changed:
            self.rung += 1
            self._changed.notify_all()

    def wait(self, since: int, pause: float) -> None:
        """Waits for a number of seconds, at most one, unless it was rung since."""
        with self._changed:
            if self.rung == since and pause > 0:
                self._changed.wait(min(pause, 1))


class Pull:
    """One cycle of a connection and the threads that work it off."""

    #: Threads count as those of handlers while they are in one.
    lanes = ()

    def __init__(self, engine: Engine, window: _raw.selene_window, bell: Bell | None = None) -> None:
        self.engine = engine
        self.bell = bell or Bell()
        self.cycle = begin(engine, window)
        self._ends_by = time.monotonic() + window.budget / SECOND
        self._lock = threading.Lock()
        self._spare: int = window.lanes
        self._alive = 0
        self.over = False
        self.fatal: BaseException | None = None
        self.exceptions: dict[int, BaseException] = {}
        engine.drives.add(self)

    def tell(self) -> None:
        """Something happened that the one who waits looks at."""
        self.bell.ring()

    def forked(self) -> None:
        """In a child nothing of it goes on."""
        self.over = True

    def stop_picking(self, grace: int) -> None:
        """Nothing more is started; what runs has a grace."""
        self._ends_by = min(self._ends_by, time.monotonic() + grace / SECOND)
        self.engine.calls.selene_cycle_drain(self.cycle, grace)  # which may be over
        self.tell()

    def run(self, inline: bool = False) -> Report:
        """Works the cycle off and reports, by the deadline."""
        report = None
        try:
            if inline:
                self._spare, self._alive = 0, 1
                self._work()
            else:
                self._start()
                while self._alive and self.fatal is None:
                    rung = self.bell.rung
                    left = self._ends_by - time.monotonic()
                    if left <= 0:
                        break
                    if self._alive:
                        self.bell.wait(rung, left)
        finally:
            self.over = True
            self.engine.drives.discard(self)
            try:
                report = end(self.engine, self.cycle, self.exceptions)
            except SeleneError as error:
                self.fatal = self.fatal or error
            self.tell()
        fatal = self.fatal or interrupting(self.exceptions)
        if fatal is not None:
            raise fatal
        assert report is not None
        return report

    def _start(self) -> None:
        with self._lock:
            if self.over or not self._spare:
                return
            self._spare -= 1
            self._alive += 1
        try:
            self.engine.submit(self._work)
        except BaseException as error:
            self._leave(error)

    def _leave(self, error: BaseException | None) -> None:
        with self._lock:
            self._alive -= 1
            if error is not None and not self.over:
                self.fatal = self.fatal or error
        self.tell()

    def _work(self) -> None:
        error = None
        try:
            while not self.over and error is None:
                rung = self.bell.rung
                found = self._next()
                if found is None:
                    break
                if isinstance(found, int):
                    # Others of the pool may change it, which nobody says here: look again each second.
                    self.bell.wait(rung, (found - self.engine.now_ns()) / SECOND)
                    continue
                self._start()
                error = execute(found, self.engine.handlers.get(found._handler, GONE), self.exceptions)
                self.tell()
        except BaseException as caught:
            error = caught
        self._leave(error)

    def _next(self) -> Run | int | None:
        """The next run, when to come again, or None: nothing more."""
        step, wake_at = ctypes.c_int32(), ctypes.c_int64()
        info = _raw.selene_run_info(RUN_SIZE)
        status = self.engine.calls.selene_cycle_next(
            self.cycle, ctypes.byref(step), ctypes.byref(info), ctypes.byref(wake_at)
        )
        self.engine.check(status)
        if step.value == _raw.SELENE_STEP_RUN:
            run = make_run(self.engine, bytes(info))
            self.engine.enter(run)
            return run
        return wake_at.value if step.value == _raw.SELENE_STEP_WAIT else None


class PullForever:
    """run_forever() of a connection: windows whenever its pool has something to run, also with the next owner."""

    def __init__(
        self,
        engine: Engine,
        window: _raw.selene_window,
        every: int | None,
        grace: int,
        report: Callable[[Report], object],
    ) -> None:
        self._engine = engine
        self._window = window
        self._every = None if every is None else every / SECOND
        self._grace = grace
        self._report = report
        self._bell = Bell()
        self._pull: Pull | None = None
        self._hears = False
        self._stopping = False

    def stop(self) -> None:
        """Starts nothing more; run() returns when what runs has ended, or its grace."""
        self._stopping = True
        if self._pull is not None:
            self._pull.stop_picking(self._grace)
        self._bell.ring()

    def run(self, signals: bool, subscribe: Callable[[Callable[[Event], object]], Callable[[], None]]) -> None:
        """Opens windows on the calling thread, until it is stopped or the scheduler is closed."""
        end_of_events: Callable[[], None] | None = None
        pause, began, idle = 0.0, float("-inf"), 0.0
        with stopping_signals(self.stop) if signals else contextlib.nullcontext():
            while not self._stopping and not self._engine.closed:
                rung = self._bell.rung
                try:
                    if end_of_events is None or not self._engine.listening.reads:
                        with contextlib.suppress(Refused):
                            end_of_events = subscribe(self._bell.ring)
                    pause = self._engine.next_wakeup()[1] / SECOND
                    if self._every is not None:
                        pause = max(min(pause, self._every), began + self._every - time.monotonic())
                    pause = max(pause, idle)
                    if pause <= 0:
                        began = time.monotonic()
                        # Where a window had nothing to run the next one waits, so that it never spins.
                        idle = 0.0 if self._work() else 1.0
                        continue
                except _LOST as error:
                    if self._engine.closed:
                        break
                    log.warning("the window is lost: %s", error)
                    pause = 1.0
                except (Busy, TooSoon, Unavailable):
                    pause = 1.0
                if not self._stopping:
                    self._bell.wait(rung, pause)
                    idle = 0.0
        if end_of_events is not None:
            end_of_events()

    def _work(self) -> bool:
        """One window; whether something ran in it."""
        self._pull = Pull(self._engine, self._window, self._bell)
        try:
            report = self._pull.run()
        finally:
            self._pull = None
        if report.runs:
            self._report(report)
        return bool(report.runs)
