"""run_forever(): opens windows when something may run, until it is told to stop; no governor is asked."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from . import _raw
from ._cycle import raw_window
from ._drive import Drive
from ._drive_async import AsyncDrive
from ._driver import OnReport
from ._errors import Busy, Closed, TooSoon, Unavailable
from ._interrupt import stopping_signals
from ._report import Report
from ._terms import Kinds, kind_bits, kinds_of
from ._time import SECOND, Duration, duration_ns

if TYPE_CHECKING:
    from ._engine import Engine

#: A machine that sleeps does not count in a wait: look again after this many ns.
_LONGEST_WAIT = 60 * SECOND
_REFUSALS = (TooSoon, Busy, Unavailable)


class Forever:
    """One run_forever() or its async twin."""

    def __init__(
        self,
        engine: Engine,
        budget: Duration,
        every: Duration | None,
        kinds: Kinds,
        lanes: int,
        strict_fit: bool,
        rolling: bool,
        on_report: OnReport | None,
    ) -> None:
        self.engine = engine
        self.every = None if every is None else duration_ns(every, "every")
        if self.every is not None and self.every <= 0:
            raise ValueError(f"every is {every}; allowed: more than 0")
        engine.refuse_in_handler("run_forever()")
        if engine.closed:
            raise engine.error(_raw.SELENE_ERROR_INVALID_HANDLE)
        if engine.clock is not None:
            raise ValueError("run_forever() waits for real time; on a clock of your own call run_cycle()")
        wanted = sorted(kinds_of(kind_bits(kinds)))
        # All kinds together, else each alone, as one refused kind refuses a window.
        groups = [wanted] if len(wanted) == 1 else [wanted, *([kind] for kind in wanted)]
        self.windows = [raw_window(budget, group, None, lanes, strict_fit, None, rolling) for group in groups]
        self.on_report = on_report
        self.stopping = False
        #: The window that is open.
        self.drive: Drive | AsyncDrive | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.news: asyncio.Event | None = None
        self.last_begin: int | None = None
        #: Nothing ran in the last window.
        self.was_idle = True

    def stop(self) -> None:
        """Ends it after the window that is open; in it nothing is started any more. From any thread."""
        self.stopping = True
        drive = self.drive
        if drive is not None:
            with contextlib.suppress(Closed):
                drive.stop_picking()
        self.engine.poke()

    def wake(self) -> None:
        """Wakes it on its event loop."""
        if self.loop is not None and self.news is not None:
            with contextlib.suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self.news.set)

    def _pause(self) -> int:
        """Nanoseconds until the next window is worth opening."""
        if self.every is not None:
            return 0 if self.last_begin is None else max(0, self.last_begin + self.every - self.engine.now_ns())
        delay = self.engine.next_wakeup()[1]
        if self.last_begin is None or not self.was_idle:
            return max(delay, 0)
        # Tasks that could not run ask for a window at once: never spin.
        return max(delay, self.last_begin + SECOND - self.engine.now_ns(), 0)

    def run(self, signals: bool) -> None:
        """Drives on the calling thread."""
        self.engine.forevers.add(self)
        try:
            with stopping_signals(self.stop) if signals else contextlib.nullcontext():
                self._run()
        except Closed:
            if not self.engine.closed:
                raise
        finally:
            self.engine.forevers.discard(self)

    def _run(self) -> None:
        engine = self.engine
        while not self.stopping:
            changes = engine.changes
            pause = self._pause()
            if pause > 0:
                with engine.changed:
                    if not self.stopping and engine.changes == changes:
                        engine.changed.wait(min(pause, _LONGEST_WAIT) / SECOND)
                continue
            self.last_begin = engine.now_ns()
            self.was_idle = True
            for window in self.windows:
                try:
                    drive = Drive(engine, window, inline=False)
                except _REFUSALS:
                    continue
                self._open(drive)
                try:
                    self._tell(drive.run())
                finally:
                    self.drive = None
                if window is self.windows[0]:
                    break

    async def run_async(self, signals: bool) -> None:
        """Drives on the running event loop."""
        self.loop = asyncio.get_running_loop()
        self.news = asyncio.Event()
        self.engine.forevers.add(self)
        try:
            with stopping_signals(self.stop) if signals else contextlib.nullcontext():
                await self._run_async(self.loop, self.news)
        except Closed:
            if not self.engine.closed:
                raise
        finally:
            self.engine.forevers.discard(self)

    async def _run_async(self, loop: asyncio.AbstractEventLoop, news: asyncio.Event) -> None:
        engine = self.engine
        while not self.stopping:
            news.clear()
            pause = self._pause()
            if pause > 0:
                timer = loop.call_later(min(pause, _LONGEST_WAIT) / SECOND, news.set)
                try:
                    await news.wait()
                finally:
                    timer.cancel()
                continue
            self.last_begin = engine.now_ns()
            self.was_idle = True
            for window in self.windows:
                try:
                    drive = AsyncDrive(engine, window)
                except _REFUSALS:
                    continue
                self._open(drive)
                try:
                    self._tell(await drive.run())
                finally:
                    self.drive = None
                if window is self.windows[0]:
                    break

    def _open(self, drive: Drive | AsyncDrive) -> None:
        self.drive = drive
        if self.stopping:  # told so between the last look and now
            drive.stop_picking()

    def _tell(self, report: Report) -> None:
        """Hands a report out; empty ones are no news."""
        if report.runs:
            self.was_idle = False
            if self.on_report is not None:
                self.on_report(report)
