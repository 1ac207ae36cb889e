"""run_forever(): the driver that asks no governor, while the thread or the event loop waits that calls it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import _raw
from ._drive_async import AsyncDrive
from ._driver import REFUSED, Driver, OnReport, raw_driver
from ._errors import Closed
from ._interrupt import stopping_signals
from ._names import truth
from ._terms import Kinds, some_kinds
from ._time import Duration, duration_ns

if TYPE_CHECKING:
    import select

    from ._engine import Engine
    from ._report import Report

_FLAGS = _raw.SELENE_DRIVER_UNGOVERNED | _raw.SELENE_DRIVER_TOGETHER | _raw.SELENE_DRIVER_LANES


def raw_forever(
    budget: Duration | None, every: Duration | None, kinds: Kinds | None, lanes: int, strict_fit: bool, frozen: bool
) -> _raw.selene_driver:
    """The library's structure of such a driver."""
    raw = raw_driver(budget, budget, lanes, lanes)
    raw.kinds = some_kinds(kinds)
    if every is not None:
        raw.every = duration_ns(every, "every")
        if raw.every <= 0:
            raise ValueError(f"every is {every}; allowed: more than 0")
    raw.flags = _FLAGS
    raw.flags |= _raw.SELENE_DRIVER_STRICT_FIT if truth(strict_fit, "strict_fit") else 0
    raw.flags |= _raw.SELENE_DRIVER_FROZEN if truth(frozen, "frozen") else 0
    return raw


class Forever(Driver):
    """One run_forever() or its async twin."""

    def __init__(
        self, engine: Engine, raw: _raw.selene_driver, on_report: OnReport | None, grace: Duration = 5
    ) -> None:
        engine.refuse_in_handler("run_forever()")
        if engine.closed:
            raise engine.error(_raw.SELENE_ERROR_INVALID_HANDLE)
        if engine.clock is not None:
            raise ValueError("run_forever() waits for real time; on a clock of your own call run_cycle()")
        super().__init__(engine, raw, on_report)
        self._grace = duration_ns(grace, "grace")
        if not 0 <= self._grace <= _raw.SELENE_DAY:
            raise ValueError(f"grace is {grace} s; allowed: 0 … 24 h")
        #: Of windows that are over, in their order, until the thread that called hears of them.
        self._reports: deque[Report] = deque()

    def run(self, signals: bool) -> None:
        """Opens windows until it is stopped. Other threads work them off; this one hears of their reports."""
        with self._working(signals):
            try:
                self._open_windows()
                self._await_windows()
            except BaseException:  # something else ends it: what runs goes back
                self._grace = 0
                self._stop()
                self._await_windows()
                raise
            self._tell_reports()
        self._raise()

    def _rest(self, poll: select.poll) -> None:
        super()._rest(poll)
        self._tell_reports()

    def _tell(self, report: Report) -> None:
        if self._loop is not None:
            super()._tell(report)
            return
        self._reports.append(report)
        self._ring()

    def _tell_reports(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._bell)
        while self._reports:
            super()._tell(self._reports.popleft())

    async def run_async(self, signals: bool) -> None:
        """Opens windows on the running event loop, until it is stopped or cancelled."""
        self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        if self._engine.connected:
            await self._run_connected(signals)
            return
        with self._working(signals):
            try:
                while not self._stopping:
                    try:
                        token = self._step()
                    except REFUSED as error:
                        self._say_refused(error)
                        await asyncio.sleep(1)
                        continue
                    if token:
                        self._begin_async(token)
                    else:
                        await self._sleep_async(self._loop, self._news)
                await self._await_tasks()
            except asyncio.CancelledError:
                # Its windows end within the grace, so that handlers have cleaned up.
                self._stop()
                try:
                    await self._await_tasks()
                finally:  # cancelled once more: they end at once
                    await self._cancel_tasks()
                raise
            except BaseException:
                await self._cancel_tasks()
                raise
        self._raise()

    async def _await_tasks(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _cancel_tasks(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        await self._await_tasks()

    async def _work_async(self, drive: AsyncDrive) -> None:
        # What would end the loop belongs to who waits.
        try:
            await self._run_async(drive)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._fail(error)

    def _say_why(self, error: BaseException) -> None:
        """Who called it gets the error."""

    async def _run_connected(self, signals: bool) -> None:
        """A thread has the windows, as each call waits for the owner; coroutines run on the loop."""
        await self._enter_connected()
        try:
            with self._until_signal(signals):
                await self.wait_async()
        finally:
            try:
                await self._leave_connected()
            finally:
                self._shut()
        self._raise()

    async def _sleep_async(self, loop: asyncio.AbstractEventLoop, news: asyncio.Event) -> None:
        loop.add_reader(self._fd, news.set)
        try:
            if not self._stopping:
                await news.wait()
        finally:
            loop.remove_reader(self._fd)
            news.clear()

    def _until_signal(self, signals: bool) -> contextlib.AbstractContextManager[object]:
        return stopping_signals(self._stop) if signals else contextlib.nullcontext()

    @contextlib.contextmanager
    def _working(self, signals: bool) -> Iterator[None]:
        """From its opening to its end; a scheduler that is closed ends it."""
        self._open()
        try:
            with self._until_signal(signals):
                yield
        except Closed:
            if not self._engine.closed:
                raise
        finally:
            self._shut()
