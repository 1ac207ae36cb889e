"""A cycle that workers pull: the one who waits for its report sleeps until they are done or time is up."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from . import _raw
from ._callbacks import kept, log, raise_kept, take_kept
from ._cycle import begin, end
from ._errors import SeleneError
from ._handler import interrupting
from ._lane import Lane
from ._report import Report
from ._time import SECOND

if TYPE_CHECKING:
    from ._engine import Engine
    from ._run import Run

#: How long runs that a stopped driver asks to stop may take.
DRAIN = 5 * SECOND


class Drive:
    """One cycle and its lanes."""

    def __init__(self, engine: Engine, window: _raw.selene_window, inline: bool, cycle: int | None = None) -> None:
        """Begins a cycle, or takes over one that the library has begun."""
        self.engine = engine
        #: Exactly as soon as there is a run; until then not before it.
        self.latest = engine.now_ns() + window.budget
        self.cycle = begin(engine, window) if cycle is None else cycle
        self.inline = inline
        #: Guards all below; re-entrant, as a signal handler may come at any time.
        self.condition = threading.Condition()
        #: Workers that wait for a completion.
        self.waiting = 0
        #: Lanes that no worker has yet.
        self.spare: int = window.lanes
        self.lanes: set[Lane] = set()
        self.over = False
        #: The library's cycle has ended, or could not be ended.
        self.ended = False
        self.done = False
        self.draining = False
        self.fatal: BaseException | None = None
        self.exceptions: dict[int, BaseException] = {}
        self.expires_at: int | None = None
        self.deadline: int | None = None
        engine.drives.add(self)

    # ---- called by lanes ------------------------------------------------------

    def start(self) -> None:
        """Puts one more worker to work, if a lane has none."""
        with self.condition:
            if self.spare == 0 or self.over or self.draining:
                return
            self.spare -= 1
            lane = Lane(self)
            self.lanes.add(lane)
        try:
            self.engine.submit(lane.work)
        except BaseException as error:
            self.interrupt(error)
            self.leave(lane)

    def set_times(self, expires_at: int, deadline: int) -> None:
        """The first run says when the cycle ends."""
        with self.condition:
            if self.deadline is None:
                self.expires_at, self.deadline = expires_at, deadline
                self.condition.notify_all()

    def wake(self) -> None:
        """A completion, or new conditions: waiting lanes look again."""
        with self.condition:
            self.condition.notify_all()

    def wait(self, wake_at: int) -> bool:
        """A lane waits, holding the condition; whether it should look again."""
        if self.inline:
            if self.engine.stands_still:
                return False  # nobody but the handlers moves that clock
            self.condition.wait(max(0, min(wake_at - self.engine.now_ns(), SECOND)) / SECOND)
        else:
            self.condition.wait()
        return not self.over

    def finished(self) -> None:
        """Nothing is left to run."""
        with self.condition:
            self.done = True
            self.condition.notify_all()

    def interrupt(self, error: BaseException) -> None:
        """The one who waits gets an exception."""
        with self.condition:
            if self.over:
                if not self.engine.exiting:
                    log.error("a worker failed after its cycle", exc_info=error)
            elif self.fatal is None:
                self.fatal = error
            self.condition.notify_all()

    def replace(self, lane: Lane) -> None:
        """A run is over while its handler works on: another worker takes the lane."""
        with self.condition:
            if self.over or lane.left or lane not in self.lanes or not lane.inside or self.inline:
                return
            self._leave_behind(lane)
            self.spare += 1
        self.start()

    def leave(self, lane: Lane) -> None:
        """A worker has come back."""
        engine = self.engine
        with self.condition:
            self.lanes.discard(lane)
            was_left = lane.left
            lane.left = False
            if not self.lanes:
                if self.over:
                    engine.drives.discard(self)
                elif self.draining:
                    self.finished()
        if was_left:
            with engine.changed:
                engine.left -= 1
                engine.changed.notify_all()
        elif engine.closed:
            engine.poke()

    def tell_early(self, run: Run) -> None:
        """Tells a run what was said before it was entered."""
        self.engine.tell_early(run)
        if self.draining:
            run._asked_to_stop(_raw.SELENE_STOP_EXPIRING)

    def stop_picking(self) -> None:
        """Nothing more is started; what runs is asked to stop and has a few seconds."""
        with self.condition:
            self.draining = True
            # Workers leave by themselves: one may have taken a run that has not reached its handler yet.
            if not any(lane.thread for lane in self.lanes):
                self.done = True
            self.latest = self.engine.now_ns() + DRAIN
            self.condition.notify_all()
        for run in tuple(self.engine.runs.values()):
            if run.cycle_token == self.cycle:
                run._asked_to_stop(_raw.SELENE_STOP_EXPIRING)

    def expire(self, cycle: int, expires_at: int, deadline: int) -> None:
        """Its time has run out before it should, if it is this cycle."""
        if cycle == self.cycle:
            with self.condition:
                self.expires_at, self.deadline = expires_at, deadline
                self.condition.notify_all()

    def forked(self) -> None:
        """In a child, whose only thread may be in a handler: no thread of the parent gives the lock back."""
        self.condition = threading.Condition()

    def closed(self) -> None:
        """The scheduler was closed under the cycle."""
        with self.condition:
            if not self.over:
                self.interrupt(self.engine.error(_raw.SELENE_ERROR_INVALID_HANDLE))

    # ---- called by the one who waits -------------------------------------------

    def run(self) -> Report:
        """Works the cycle off and reports, by the deadline."""
        try:
            if self.inline:
                self._run_inline()
            else:
                self.start()
                self._wait_for_workers()
        finally:
            report = self._end()
        # A lane completes its run before it tells why: another one may have ended the cycle in between.
        fatal = self.fatal or interrupting(self.exceptions) or self._kept()
        if fatal is not None:
            raise fatal
        assert report is not None
        return report

    def _kept(self) -> BaseException | None:
        threads = [lane.thread for lane in tuple(self.lanes)]
        return take_kept(*threads) if threads and kept else None

    def _run_inline(self) -> None:
        self.spare = 0
        lane = Lane(self)
        self.lanes.add(lane)
        lane.work()

    def _wait_for_workers(self) -> None:
        asked = False
        while True:
            with self.condition:
                if self.done or self.fatal is not None:
                    return
                now = self.engine.now_ns()
                end_at = self.ends_at
                if self.draining:
                    end_at = min(end_at, self.latest)
                if now >= end_at:
                    return
                next_at = end_at if asked or self.expires_at is None else min(end_at, self.expires_at)
                if now < next_at:
                    # A machine that sleeps does not count in a wait: look again each second.
                    self.condition.wait(min(next_at - now, SECOND) / SECOND)
                    continue
            asked = True
            for run in tuple(self.engine.runs.values()):
                self.engine.stopping(run)  # the engine applies what time has brought, and calls the stop functions
            raise_kept()

    def _end(self) -> Report | None:
        engine = self.engine
        with self.condition:
            self.over = True
            for lane in self.lanes:
                if lane.inside and not lane.left:
                    self._leave_behind(lane)
            if not self.lanes:
                engine.drives.discard(self)
            self.condition.notify_all()
        try:
            return end(engine, self.cycle, self.exceptions)
        except SeleneError as error:
            self.fatal = self.fatal or error
            return None
        finally:
            self.ended = True

    @property
    def ends_at(self) -> int:
        """When it ends at the latest."""
        return self.latest if self.deadline is None else self.deadline

    def _leave_behind(self, lane: Lane) -> None:
        lane.left = True
        with self.engine.changed:
            self.engine.left += 1
