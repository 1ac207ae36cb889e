"""A cycle that threads lend themselves to: the one who waits for its report sleeps until it is over."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from typing import TYPE_CHECKING

from . import _raw
from ._callbacks import kept, log, take_kept
from ._cycle import begin, end, over
from ._errors import SeleneError
from ._handler import interrupting
from ._lane import Lane
from ._library import out_pointer
from ._report import Report
from ._time import MILLISECOND, SECOND

if TYPE_CHECKING:
    from ._engine import Engine
    from ._run import Run


class Drive:
    """One cycle and its lanes."""

    def __init__(
        self,
        engine: Engine,
        window: _raw.selene_window,
        inline: bool,
        cycle: int | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Begins a cycle, or takes over one that the library has begun; coroutines run on the loop, if there is one."""
        self.engine = engine
        self.cycle = begin(engine, window, _raw.SELENE_WINDOW_LANES) if cycle is None else cycle
        self.inline = inline
        self.loop = loop
        #: Guards all below; re-entrant, as a signal handler may come at any time.
        self.condition = threading.Condition()
        #: How often something happened that the one who waits looks at.
        self.news = 0
        #: Lanes that no thread has yet.
        self.spare: int = window.lanes
        self.lanes: set[Lane] = set()
        #: Runs that have reached a limit of their task and may still complete, and when they are over.
        self.delayed: dict[Run, int] = {}
        self.over = False
        self.fatal: BaseException | None = None
        self.exceptions: dict[int, BaseException] = {}
        engine.drives.add(self)

    # ---- called by lanes ------------------------------------------------------

    def start(self, instead: bool = False) -> None:
        """Puts one more thread to work, if a lane has none, or in place of one that is left behind."""
        with self.condition:
            if self.over or not (self.spare or instead):
                return
            if not instead:
                self.spare -= 1
            lane = Lane(self)
            self.lanes.add(lane)
        try:
            self.engine.submit(lane.work)
        except BaseException as error:
            self.interrupt(error)
            self.leave(lane)
            return
        # On a test's clock time goes on without it until the library knows of it. An executor may have no thread yet.
        if lane.opened is not None and self.engine.executor is None:
            lane.opened.wait()

    def tell(self) -> None:
        """Something happened that the one who waits looks at."""
        with self.condition:
            self.news += 1
            self.condition.notify_all()

    def wait(self, wake_at: int) -> bool:
        """The thread of an inline cycle waits for an outcome; whether it should look again."""
        if self.engine.stands_still:
            return False  # only the handlers move that clock
        self._wait(self.news, wake_at)
        return not self.over

    def interrupt(self, error: BaseException) -> None:
        """The one who waits gets an exception."""
        with self.condition:
            if self.over:
                if not self.engine.exiting:
                    log.error("a worker failed after its cycle", exc_info=error)
            elif self.fatal is None:
                self.fatal = error
        self.tell()

    def replace(self, lane: Lane) -> None:
        """A run is over while its handler works on: another thread takes the lane."""
        if lane.inside and not self.inline:
            self.start(instead=True)
        self.tell()

    def delay(self, run: Run) -> None:
        """A run has reached a limit of its task: when its grace is over another thread takes the lane."""
        over_at = self.engine.over_at(run)
        with self.condition:
            self.delayed[run] = over_at
        self.tell()

    def _replace_delayed(self) -> None:
        with self.condition:
            now = self.engine.present_ns()
            ended = [run for run, over_at in self.delayed.items() if run._completed or now > over_at]
            for run in ended:
                del self.delayed[run]
        for run in ended:
            if not run._completed and run._lane is not None:
                run._lane.abandon()

    def leave(self, lane: Lane) -> None:
        """A thread has come back."""
        with self.condition:
            self.lanes.discard(lane)
            if self.over and not self.lanes:
                self.engine.drives.discard(self)
        self.tell()
        self.engine.came_back()

    # ---- called by others ------------------------------------------------------

    def stop_picking(self, grace: int) -> None:
        """Nothing more is started; what runs has a grace, and is asked to stop in its last tenth."""
        self.engine.calls.selene_cycle_drain(self.cycle, grace)  # which may be over
        self.tell()

    def forked(self) -> None:
        """In a child, whose only thread may be in a handler: no thread of the parent gives the lock back."""
        self.condition = threading.Condition()

    # ---- called by the one who waits -------------------------------------------

    def run(self) -> Report:
        """Works the cycle off and reports, by the deadline."""
        report = None
        try:
            if self.inline:
                lane = Lane(self)
                self.lanes.add(lane)
                lane.work()
            else:
                self.start()
                report = self._await()
        finally:
            report = self._end(report)
        # A lane completes its run before it tells why: another one may have ended the cycle in between.
        fatal = self.fatal or interrupting(self.exceptions) or self._kept()
        if fatal is not None:
            raise fatal
        assert report is not None
        return report

    def _kept(self) -> BaseException | None:
        threads = [lane.thread for lane in tuple(self.lanes)]
        return take_kept(*threads) if threads and kept else None

    def _await(self) -> Report | None:
        engine = self.engine
        address, target = out_pointer(_raw.selene_report)
        wake_at = ctypes.c_int64()
        while self.fatal is None:
            news = self.news
            # Not a wait in there, where no signal would be handled. It also asks runs to stop when that is due.
            status = engine.calls.selene_cycle_wait(self.cycle, 0, ctypes.byref(target), ctypes.byref(wake_at))
            if address.value:
                return over(engine, self.cycle, address.value, self.exceptions)
            engine.check(status)
            if self.delayed:
                self._replace_delayed()
            self._wait(news, wake_at.value)
        return None

    def _wait(self, news: int, wake_at: int) -> None:
        with self.condition:
            pause = wake_at - self.engine.present_ns()
            # The owner's clock may differ a little from this one.
            pause = max(pause, MILLISECOND) if self.engine.connected else pause
            if pause > 0 and self.news == news and self.fatal is None:
                # A machine that sleeps does not count in a wait: look again each second.
                self.condition.wait(min(pause, SECOND) / SECOND)

    def _end(self, report: Report | None) -> Report | None:
        engine = self.engine
        with self.condition:
            self.over = True
            if not self.lanes:
                engine.drives.discard(self)
        if report is None:
            try:
                report = end(engine, self.cycle, self.exceptions)
            except SeleneError as error:
                self.fatal = self.fatal or error
        return report
