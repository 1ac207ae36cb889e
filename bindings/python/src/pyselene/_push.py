"""Cycles on the library's own threads, awaited on an event loop."""

from __future__ import annotations

import asyncio
import ctypes
from typing import TYPE_CHECKING

from . import _callbacks, _raw
from ._handler import interrupting
from ._library import library
from ._report import Report, read_report

if TYPE_CHECKING:
    from ._engine import Engine


class Pushed:
    """One such cycle; the library calls `report` when it is over."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Report] = self.loop.create_future()
        #: What must interrupt the one who waits; a future would not take everything.
        self.fatal: BaseException | None = None

    def report(self, address: int) -> None:
        """The library reports, on a thread of its own."""
        exceptions = self.engine.pushed_exceptions(address)
        found = read_report(address, exceptions)
        try:
            self.loop.call_soon_threadsafe(self._resolve, found, interrupting(exceptions))
        except RuntimeError:
            pass  # the loop is closed: no task waits

    def _resolve(self, report: Report, fatal: BaseException | None) -> None:
        if not self.future.done():
            self.fatal = fatal
            self.future.set_result(report)

    async def run(self, window: _raw.selene_window) -> Report:
        """Begins it and awaits its report; if that is cancelled, the cycle ends."""
        engine = self.engine
        cycle = ctypes.c_uint64()
        with engine.push():
            status = library.selene_cycle_run_async(
                engine.handle,
                ctypes.byref(window),
                _callbacks.report,
                _callbacks.hold(self),
                _callbacks.destroy,
                ctypes.byref(cycle),
                None,
            )
            try:
                engine.check(status)
                report = await self.future
            except BaseException:
                if cycle.value:
                    library.selene_cycle_end(cycle.value, None)
                raise
            fatal = self.fatal or _callbacks.take_kept(None)
        if fatal is not None:
            raise fatal
        return report
