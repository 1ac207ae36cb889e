"""The driver: opens windows when something may run, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ._errors import Busy, Closed, TooSoon, Unavailable
from ._report import Report
from ._run import Kind
from ._task import Kinds, kind_bits, kinds_of
from ._time import SECOND, Duration, duration_ns

if TYPE_CHECKING:
    from ._scheduler import Scheduler

OnReport = Callable[[Report], object]


class Driver:
    """One run_forever() or its async twin."""

    def __init__(
        self,
        scheduler: Scheduler,
        kinds: Kinds,
        every: Duration | None,
        on_report: OnReport | None,
        window: dict[str, Any],
    ) -> None:
        self.scheduler = scheduler
        self.engine = scheduler._engine
        self.kinds = sorted(kinds_of(kind_bits(kinds)))
        self.every = None if every is None else duration_ns(every, "every")
        if self.every is not None and self.every <= 0:
            raise ValueError(f"every is {every}; allowed: more than 0")
        if self.engine.clock is not None:
            raise ValueError("a driver waits for real time; on a clock of your own call run_cycle()")
        self.on_report = on_report
        self.window = window
        self.stopping = False
        self.loop: asyncio.AbstractEventLoop | None = None
        self.news: asyncio.Event | None = None
        self.last_begin: int | None = None

    def stop(self) -> None:
        """Ends the driver after the window that is open; in it nothing is started any more. From any thread."""
        self.stopping = True
        for drive in tuple(self.engine.drives):
            drive.stop_picking()
        self.engine.poke()

    def wake(self) -> None:
        """Wakes the event loop's driver."""
        if self.loop is not None and self.news is not None:
            with contextlib.suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self.news.set)

    def pause(self) -> int:
        """Nanoseconds until the next window is worth opening."""
        if self.every is not None:
            return 0 if self.last_begin is None else max(0, self.last_begin + self.every - self.engine.now_ns())
        delay = self.scheduler._next_wakeup()[1]
        # Standing tasks that could not run ask for a window at once: never spin.
        since = SECOND if self.last_begin is None else self.engine.now_ns() - self.last_begin
        return max(delay, SECOND - since, 0)

    def groups(self) -> list[list[Kind]]:
        """The windows to try: all kinds together, else each alone, as one refused kind refuses a window."""
        return [self.kinds] if len(self.kinds) == 1 else [self.kinds, *([kind] for kind in self.kinds)]

    def run(self) -> None:
        """Drives on the calling thread."""
        self.engine.listeners.append(self.wake)
        try:
            self._run()
        finally:
            self.engine.listeners.remove(self.wake)

    def _run(self) -> None:
        while not self.stopping:
            changes = self.engine.changes
            pause = self.pause()
            if pause > 0:
                with self.engine.changed:
                    if not self.stopping and self.engine.changes == changes:
                        # At most a minute, as a machine that sleeps does not count in a wait.
                        self.engine.changed.wait(min(pause, 60 * SECOND) / SECOND)
                if self.engine.closed:
                    return
                continue
            self.last_begin = self.engine.now_ns()
            for kinds in self.groups():
                try:
                    report = self.scheduler.run_cycle(kinds=kinds, **self.window)
                except (TooSoon, Busy, Unavailable):
                    continue
                except Closed:
                    return
                self.tell(report)
                if kinds is self.kinds:
                    break

    async def run_async(self) -> None:
        """Drives on the running event loop."""
        self.loop = asyncio.get_running_loop()
        self.news = asyncio.Event()
        self.engine.listeners.append(self.wake)
        try:
            while not self.stopping and not self.engine.closed:
                self.news.clear()
                pause = self.pause()
                if pause > 0:
                    timer = self.loop.call_later(min(pause, 60 * SECOND) / SECOND, self.news.set)
                    try:
                        await self.news.wait()
                    finally:
                        timer.cancel()
                    continue
                self.last_begin = self.engine.now_ns()
                for kinds in self.groups():
                    try:
                        report = await self.scheduler.run_cycle_async(kinds=kinds, **self.window)
                    except (TooSoon, Busy, Unavailable):
                        continue
                    except Closed:
                        return
                    self.tell(report)
                    if kinds is self.kinds:
                        break
        finally:
            self.engine.listeners.remove(self.wake)

    def tell(self, report: Report) -> None:
        """Hands a report out; empty ones are no news."""
        if self.on_report is not None and report.runs:
            self.on_report(report)

    @contextlib.contextmanager
    def signals(self, wanted: bool) -> Iterator[None]:
        """SIGINT and SIGTERM stop the driver; a second one does what it did before."""
        if not wanted or threading.current_thread() is not threading.main_thread():
            yield
            return
        before: dict[int, Any] = {}

        def caught(_number: int, _frame: object) -> None:
            restore()
            self.stop()

        def restore() -> None:
            while before:
                number, handler = before.popitem()
                signal.signal(number, handler)

        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, caught)
        try:
            yield
        finally:
            restore()
