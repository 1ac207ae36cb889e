"""A cycle on an event loop: coroutines run on it, functions on workers, and whoever awaits the report pulls."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from typing import TYPE_CHECKING, Any

from . import _raw
from ._callbacks import take_kept
from ._cycle import begin, end
from ._drive import DRAIN
from ._errors import SeleneError
from ._handler import GONE, Handler, cancellable, execute, fail, finish, interrupting, make_run
from ._report import Report
from ._run import RUN_SIZE, Run
from ._time import SECOND

if TYPE_CHECKING:
    from ._engine import Engine
    from ._lane import Lane


class AsyncDrive:
    """One such cycle."""

    def __init__(self, engine: Engine, window: _raw.selene_window, cycle: int | None = None) -> None:
        """Begins a cycle, or takes over one that the library has begun."""
        self.engine = engine
        self.latest: int = engine.now_ns() + window.budget
        self.token = begin(engine, window) if cycle is None else cycle
        self.loop = asyncio.get_running_loop()
        self.news = asyncio.Event()
        self.exceptions: dict[int, BaseException] = {}
        self.fatal: BaseException | None = None
        self.tasks: dict[asyncio.Task[None], Run] = {}
        #: Tokens of functions that are on workers now, and their threads. Guarded by engine.changed, as is `over`.
        self.inside: dict[int, int] = {}
        self.over = False
        #: The library's cycle has ended, or could not be ended.
        self.ended = False
        #: What it has in common with Drive.
        self.lanes: frozenset[Lane] = frozenset()
        self.waiting = 1
        self.draining = False
        engine.drives.add(self)

    def forked(self) -> None:
        """In a child: all that is guarded here belongs to the loop's thread."""

    def closed(self) -> None:
        """The scheduler was closed under the cycle."""
        self.wake()

    def expire(self, cycle: int, _expires_at: int, deadline: int) -> None:
        """Its time has run out before it should, if it is this cycle."""
        if cycle == self.token:
            self.latest = deadline
            self.wake()

    def stop_picking(self) -> None:
        """Nothing more is started; what runs is asked to stop."""
        self.draining = True
        for run in tuple(self.engine.runs.values()):
            if run.cycle_token == self.token:
                run._asked_to_stop(_raw.SELENE_STOP_EXPIRING)
        self.wake()

    @property
    def ends_at(self) -> int:
        """When it ends at the latest."""
        return self.latest

    def wake(self) -> None:
        """Something came back, on any thread."""
        try:
            self.loop.call_soon_threadsafe(self.news.set)
        except RuntimeError:
            pass  # the loop is closed: nobody waits

    async def run(self) -> Report:
        """Works the cycle off and reports, by the deadline."""
        engine = self.engine
        try:
            await self._pull()
        finally:
            engine.drives.discard(self)
            with engine.changed:
                self.over = True
                engine.left += len(self.inside)
            report = self._end()
        # A worker completes its run before it tells why.
        fatal = self.fatal or interrupting(self.exceptions) or take_kept(*self.inside.values(), threading.get_ident())
        if fatal is not None:
            raise fatal
        assert report is not None
        return report

    async def _pull(self) -> None:
        engine = self.engine
        step, info, wake_at = ctypes.c_int32(), _raw.selene_run_info(RUN_SIZE), ctypes.c_int64()
        arguments = (ctypes.byref(step), ctypes.byref(info), ctypes.byref(wake_at))
        while self.fatal is None:
            self.news.clear()
            if self.draining:
                if not (self.tasks or self.inside):
                    return
                if self.latest > (until := engine.now_ns() + DRAIN):
                    self.latest = until
                elif engine.now_ns() >= self.latest:
                    return
                await self._news(self.latest - engine.now_ns())
                continue
            engine.check(engine.calls.selene_cycle_next(self.token, *arguments))
            if step.value == _raw.SELENE_STEP_DONE:
                return
            if step.value == _raw.SELENE_STEP_RUN:
                self._start(make_run(engine, bytes(info)))
                continue
            now = engine.now_ns()
            if now >= self.latest:
                return
            await self._news(None if engine.stands_still else min(wake_at.value, self.latest) - now)

    async def _news(self, pause: int | None) -> None:
        if pause is None:
            await self.news.wait()
            return
        # A machine that sleeps does not count in a wait: look again each second.
        timer = self.loop.call_later(min(pause, SECOND) / SECOND, self.news.set)
        try:
            await self.news.wait()
        finally:
            timer.cancel()

    def _start(self, run: Run) -> None:
        engine = self.engine
        # An expiry that is simulated looks for the run, and makes it end sooner.
        self.latest = run.deadline_ns
        handler = engine.handlers.get(run._handler, GONE)
        run._came_back = self.wake
        engine.enter(run)
        if self.draining:
            run._asked_to_stop(_raw.SELENE_STOP_EXPIRING)
        if run._stop > _raw.SELENE_STOP_EXPIRING:  # it is over
            engine.complete_quietly(run, _raw.SELENE_OUTCOME_FAILED)
        elif handler.is_async:
            task = self.loop.create_task(self._work(run, handler), name=f"pyselene {run.id}")
            self.tasks[task] = run
            task.add_done_callback(self._done)
        elif engine.stands_still:
            self._interrupt(execute(run, handler, self.exceptions))
        else:
            with engine.changed:
                self.inside[run.token] = 0
            try:
                engine.submit(lambda: self._execute(run, handler))
            except BaseException as error:
                with engine.changed:
                    self.inside.pop(run.token, None)
                # At the exit it did not fail: it never began.
                if not engine.exiting:
                    fail(run, error, self.exceptions)
                raise

    async def _work(self, run: Run, handler: Handler) -> None:
        try:
            finish(run, await cancellable(run, handler.function(run)))
        except BaseException as error:
            if fail(run, error, self.exceptions):
                self._interrupt(error)
        self._interrupt(take_kept())

    def _done(self, task: asyncio.Task[None]) -> None:
        self.tasks.pop(task, None)
        self.news.set()

    def _execute(self, run: Run, handler: Handler) -> None:
        engine = self.engine
        self.inside[run.token] = threading.get_ident()
        try:
            self._interrupt(execute(run, handler, self.exceptions))
        finally:
            with engine.changed:
                self.inside.pop(run.token, None)
                if self.over:
                    engine.left -= 1
                    engine.changed.notify_all()
            self.wake()

    def _interrupt(self, error: BaseException | None) -> None:
        if error is not None and self.fatal is None:
            self.fatal = error
            self.wake()

    def _end(self) -> Report | None:
        try:
            report = end(self.engine, self.token, self.exceptions)
        except SeleneError as error:
            self.fatal = self.fatal or error
            report = None
        finally:
            self.ended = True
        _linger.update(self.tasks)
        for task, run in tuple(self.tasks.items()):
            task.add_done_callback(_linger.discard)
            run._asked_to_stop(_raw.SELENE_STOP_EXPIRING)  # where the end could not tell it
        return report


#: Coroutines that overran: the loop itself would forget them.
_linger: set[asyncio.Task[Any]] = set()
