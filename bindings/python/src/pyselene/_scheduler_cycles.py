"""The scheduler's cycles: windows that are run, pulled, planned, or opened by a driver."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from . import _raw
from ._cycle import Cycle, raw_window
from ._drive import Drive
from ._drive_async import AsyncDrive
from ._driver import Driver, OnReport
from ._errors import Unsupported
from ._library import library, out_pointer
from ._push import Pushed
from ._report import Plan, Report, take_plan, take_report
from ._run import Kind
from ._task import Kinds
from ._time import Duration

if TYPE_CHECKING:
    from ._engine import Engine

_BOTH = (Kind.REFRESH, Kind.PROCESSING)


def _unsupported(detail: str) -> Unsupported:
    return Unsupported(_raw.SELENE_ERROR_UNSUPPORTED, "UNSUPPORTED", detail)


class CycleCalls:
    """What a Scheduler can do with windows."""

    _engine: Engine

    def run_cycle(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds = Kind.REFRESH,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        task: str | None = None,
        inline: bool | None = None,
        push: bool = False,
        check: bool = False,
    ) -> Report:
        """Opens a window, runs what fits into it, and reports by the deadline, whatever the handlers do.

        - `budget`: seconds from begin to deadline. `reserve`: seconds before it at which runs are asked to stop; by
          default a twentieth of the budget. `lanes`: runs at a time, up to 64.
        - `strict_fit`: nothing is started whose estimate does not fit, not even first.
        - `task`: only this one, whatever its rank and delay; ImmediateRunIneligible if it cannot run.
        - `inline`: handlers run on this thread; only those that look at run.stopping end on time then. With a clock of
          your own it is always so. `push`: threads of the library call the handlers (those registered with push).
        - `check`: raises an ExceptionGroup if handlers raised; without it `report.errors` has what they raised.

        KeyboardInterrupt and SystemExit end the window and are raised here, also when a handler raised them. Refusals,
        after which nothing ran: InvalidArgument, Reentrant (inside a handler), Unavailable (a kind is off), Busy (a
        cycle of the kind is open, or too many handlers overran), TooSoon (the minimum interval), Closed.
        """
        engine = self._engine
        if inline is None:
            inline = engine.clock is not None
        elif not inline and engine.clock is not None:
            raise _unsupported("with a clock of its own a scheduler runs handlers inline only")
        if push:
            report = self._run_pushed(raw_window(budget, kinds, reserve, lanes, strict_fit, task), inline)
        else:
            window = raw_window(budget, kinds, reserve, lanes, strict_fit, task)
            if inline and lanes != 1:
                raise ValueError(f"lanes is {lanes}; allowed for inline cycles: 1")
            report = Drive(engine, window, inline).run()
        if engine.clock is not None:
            engine.clock.check()
        if check:
            report.check()
        return report

    async def run_cycle_async(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds = Kind.REFRESH,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        task: str | None = None,
        push: bool = False,
        check: bool = False,
    ) -> Report:
        """The same on the running event loop: `async def` handlers run on it and are cancelled when asked to stop.

        Other handlers run on pyselene's threads. If it is cancelled itself, the window ends.
        """
        engine = self._engine
        window = raw_window(budget, kinds, reserve, lanes, strict_fit, task)
        if push:
            report = await Pushed(engine).run(window)
        else:
            report = await AsyncDrive(engine, window).run()
        if check:
            report.check()
        return report

    def begin(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds = Kind.REFRESH,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        task: str | None = None,
    ) -> Cycle:
        """Begins a cycle that you pull yourself; see Cycle. Refusals as of run_cycle()."""
        return Cycle(self._engine, raw_window(budget, kinds, reserve, lanes, strict_fit, task))

    def plan(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds = Kind.REFRESH,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        task: str | None = None,
    ) -> Plan:
        """What such a window would pick now if every run took its estimate; runs nothing, changes nothing."""
        window = raw_window(budget, kinds, reserve, lanes, strict_fit, task)
        address, target = out_pointer(_raw.selene_plan)
        self._engine.check(library.selene_cycle_plan(self._engine.handle, ctypes.byref(window), ctypes.byref(target)))
        return take_plan(address.value or 0)

    def _run_pushed(self, window: _raw.selene_window, inline: bool) -> Report:
        engine = self._engine
        if inline:
            window.flags |= _raw.SELENE_WINDOW_INLINE
        address, target = out_pointer(_raw.selene_report)
        status = library.selene_cycle_run(engine.handle, ctypes.byref(window), ctypes.byref(target))
        engine.check(status)
        report = take_report(address.value or 0, engine.pushed_exceptions)
        engine.forget_pushed(report)
        return report

    def run_forever(
        self,
        budget: Duration = 30,
        *,
        every: Duration | None = None,
        kinds: Kinds = _BOTH,
        lanes: int = 1,
        strict_fit: bool = False,
        on_report: OnReport | None = None,
        signals: bool = True,
    ) -> None:
        """Opens windows until stop(), close() or a signal: whenever something may run, or once in `every` seconds.

        In between it sleeps until next_wakeup(), a new task, or new conditions. When it is to end, nothing more is
        started, what runs is asked to stop and has 5 seconds. `on_report` gets each report that has runs. `signals`: on
        the main thread the first SIGINT or SIGTERM ends it; a second one does what it did before.
        """
        Driver(self._engine, budget, every, kinds, lanes, strict_fit, on_report).run(signals)

    async def run_forever_async(
        self,
        budget: Duration = 30,
        *,
        every: Duration | None = None,
        kinds: Kinds = _BOTH,
        lanes: int = 1,
        strict_fit: bool = False,
        on_report: OnReport | None = None,
        signals: bool = True,
    ) -> None:
        """The same on the running event loop; also ends when it is cancelled."""
        await Driver(self._engine, budget, every, kinds, lanes, strict_fit, on_report).run_async(signals)

    def stop(self) -> None:
        """Ends every run_forever() that is under way, from any thread, also from a handler; other windows go on."""
        for driver in tuple(self._engine.drivers):
            driver.stop()
