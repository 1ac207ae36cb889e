"""A cycle on an event loop: coroutines run on it, functions on workers, each of which has a lane of its own."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _raw
from ._callbacks import take_kept
from ._cycle import begin, end, over
from ._errors import SeleneError
from ._handler import GONE, Handler, cancellable, execute, fail, finish, interrupting, make_run
from ._library import out_pointer
from ._report import Report
from ._run import RUN_SIZE, Run, is_over
from ._time import SECOND

if TYPE_CHECKING:
    from ._engine import Engine
    from ._lane import Lane


class AsyncDrive:
    """One such cycle."""

    def __init__(self, engine: Engine, window: _raw.selene_window, cycle: int | None = None) -> None:
        """Begins a cycle, or takes over one that the library has begun."""
        self.engine = engine
        self.cycle = begin(engine, window, _raw.SELENE_WINDOW_LANES) if cycle is None else cycle
        self.loop = asyncio.get_running_loop()
        self.news = asyncio.Event()
        self.exceptions: dict[int, BaseException] = {}
        self.fatal: BaseException | None = None
        self.tasks: dict[asyncio.Task[None], Run] = {}
        #: Tokens of functions that are on workers now, and their threads.
        self.inside: dict[int, int] = {}
        #: What it has in common with Drive: threads that are in handlers.
        self.lanes: frozenset[Lane] = frozenset()
        engine.drives.add(self)

    def stop_picking(self, grace: int) -> None:
        """Nothing more is started; what runs has a grace, and is asked to stop in its last tenth."""
        self.engine.calls.selene_cycle_drain(self.cycle, grace)  # which may be over
        self.tell()

    def forked(self) -> None:
        """In a child: all that is guarded here belongs to the loop's thread."""

    def tell(self) -> None:
        """Something happened, on any thread."""
        try:
            self.loop.call_soon_threadsafe(self.news.set)
        except RuntimeError:
            pass  # the loop is closed: no task waits

    async def run(self) -> Report:
        """Works the cycle off and reports, by the deadline."""
        report = None
        try:
            with self._descriptor():
                report = await self._pull()
        finally:
            self.engine.drives.discard(self)
            report = self._end(report)
        # A worker completes its run before it tells why.
        fatal = self.fatal or interrupting(self.exceptions) or take_kept(*self.inside.values(), threading.get_ident())
        if fatal is not None:
            raise fatal
        assert report is not None
        return report

    @contextlib.contextmanager
    def _descriptor(self) -> Iterator[None]:
        """While the loop waits for what the library tells."""
        fd = ctypes.c_int32()
        self.engine.check(self.engine.calls.selene_cycle_descriptor(self.cycle, ctypes.byref(fd)))
        # A copy of its own: the library closes the descriptor with the report.
        mine = os.dup(fd.value)
        try:
            self.loop.add_reader(mine, self.news.set)
            yield
        finally:
            self.loop.remove_reader(mine)
            os.close(mine)

    async def _pull(self) -> Report | None:
        engine, calls = self.engine, self.engine.calls
        step, info, wake_at = ctypes.c_int32(), _raw.selene_run_info(RUN_SIZE), ctypes.c_int64()
        found = (ctypes.byref(step), ctypes.byref(info), ctypes.byref(wake_at))
        address, target = out_pointer(_raw.selene_report)
        lane = 0
        try:
            while self.fatal is None:
                self.news.clear()
                lane = lane or self._open_lane()
                if lane:
                    engine.check(calls.selene_lane_next(lane, _raw.SELENE_OUTCOME_NONE, 0, *found))
                    if step.value == _raw.SELENE_STEP_RUN:
                        mine, lane = lane, 0
                        if self._start(make_run(engine, bytes(info)), mine):
                            lane = mine
                        continue
                status = calls.selene_cycle_wait(self.cycle, 0, ctypes.byref(target), ctypes.byref(wake_at))
                if address.value:
                    return over(engine, self.cycle, address.value, self.exceptions)
                engine.check(status)
                await self._news(wake_at.value)
        finally:
            if lane:
                calls.selene_lane_close(lane)
        return None

    def _open_lane(self) -> int:
        """A lane, or 0 if all are taken."""
        lane = ctypes.c_uint64()
        status = self.engine.calls.selene_lane_open(self.cycle, ctypes.byref(lane))
        if status != _raw.SELENE_ERROR_BUSY:
            self.engine.check(status)
        return lane.value

    async def _news(self, wake_at: int) -> None:
        engine = self.engine
        timer = None
        # The descriptor follows the system's time; a clock that stands still is moved by those who tell.
        if engine.clock is not None and not engine.stands_still:
            timer = self.loop.call_later(max(0, min(wake_at - engine.now_ns(), SECOND)) / SECOND, self.news.set)
        try:
            await self.news.wait()
        finally:
            if timer is not None:
                timer.cancel()

    def _start(self, run: Run, lane: int) -> bool:
        """Sets a run to work; whether the loop keeps the lane."""
        engine = self.engine
        handler = engine.handlers.get(run._handler, GONE)
        run._came_back = self.tell
        engine.enter(run)
        if is_over(run._stop):
            engine.complete_quietly(run, _raw.SELENE_OUTCOME_FAILED)
        elif handler.is_async:
            task = self.loop.create_task(self._work(run, handler), name=f"pyselene {run.id}")
            self.tasks[task] = run
            task.add_done_callback(self._done)
        elif engine.stands_still:
            self._interrupt(execute(run, handler, self.exceptions))
        else:
            self.inside[run.token] = 0
            try:
                engine.submit(lambda: self._execute(run, handler, lane))
            except BaseException as error:
                self.inside.pop(run.token, None)
                # At the exit it did not fail: it never began.
                if not engine.exiting:
                    fail(run, error, self.exceptions)
                self._leave(lane)
                raise
            return False
        return True

    async def _work(self, run: Run, handler: Handler) -> None:
        try:
            finish(run, await cancellable(run, handler.call(run)))
        except BaseException as error:
            if fail(run, error, self.exceptions):
                self._interrupt(error)
        self._interrupt(take_kept())

    def _done(self, task: asyncio.Task[None]) -> None:
        self.tasks.pop(task, None)
        self.news.set()

    def _execute(self, run: Run, handler: Handler, lane: int) -> None:
        self.inside[run.token] = threading.get_ident()
        try:
            self._interrupt(execute(run, handler, self.exceptions))
        finally:
            self._leave(lane)
            self.inside.pop(run.token, None)

    def _leave(self, lane: int) -> None:
        """A function has come back, in time or not."""
        self.engine.calls.selene_lane_close(lane)
        self.tell()

    def _interrupt(self, error: BaseException | None) -> None:
        if error is not None and self.fatal is None:
            self.fatal = error
            self.tell()

    def _end(self, report: Report | None) -> Report | None:
        if report is None:
            try:
                report = end(self.engine, self.cycle, self.exceptions)
            except SeleneError as error:
                self.fatal = self.fatal or error
        _linger.update(self.tasks)
        for task, run in tuple(self.tasks.items()):
            task.add_done_callback(_linger.discard)
            run._asked_to_stop(_raw.SELENE_STOP_SHUTDOWN)  # where the end could not tell it
        return report


#: Coroutines that overran: the loop itself would forget them.
_linger: set[asyncio.Task[Any]] = set()
