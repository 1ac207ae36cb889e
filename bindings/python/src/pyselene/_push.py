"""Cycles on the library's own threads, awaited on an event loop."""

from __future__ import annotations

import asyncio
import ctypes
from typing import TYPE_CHECKING

from . import _callbacks, _raw
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

    def report(self, address: int) -> None:
        """The library reports, on a thread of its own."""
        found = read_report(address, self.engine.pushed_exceptions)
        self.engine.forget_pushed(found)
        try:
            self.loop.call_soon_threadsafe(self._resolve, found)
        except RuntimeError:
            pass  # the loop is closed: nobody waits

    def _resolve(self, report: Report) -> None:
        if not self.future.done():
            self.future.set_result(report)

    async def run(self, window: _raw.selene_window) -> Report:
        """Begins it and awaits its report; if that is cancelled, the cycle ends."""
        engine = self.engine
        cycle = ctypes.c_uint64()
        status = library.selene_cycle_run_async(
            engine.handle,
            ctypes.byref(window),
            _callbacks.report,
            _callbacks.hold(self),
            _callbacks.destroy,
            ctypes.byref(cycle),
            None,
        )
        engine.check(status)
        try:
            return await self.future
        except asyncio.CancelledError:
            library.selene_cycle_end(cycle.value, None)
            raise
