"""The scheduler's cycles: windows that are run, pulled, planned, or opened by a driver."""

from __future__ import annotations

import ctypes

from . import _raw
from ._callbacks import raise_kept, take_kept
from ._cycle import Cycle, begin, raw_window
from ._drive import Drive
from ._drive_async import AsyncDrive
from ._driver import Driver, OnReport, raw_driver, usual_budget
from ._errors import NotFound, Unsupported
from ._fault import Fault
from ._forever import Forever, raw_forever
from ._handler import interrupting
from ._library import encode, library, out_pointer
from ._push import Pushed
from ._report import Plan, Report, take_plan, take_report
from ._scheduler_tasks import TaskCalls
from ._terms import Kinds, Schedule, State
from ._time import Duration


def _unsupported(detail: str) -> Unsupported:
    return Unsupported(_raw.SELENE_ERROR_UNSUPPORTED, "UNSUPPORTED", detail)


class CycleCalls(TaskCalls):
    """What a Scheduler can do with windows."""

    def run_cycle(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds | None = None,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        frozen: bool = False,
        task: str | None = None,
        inline: bool | None = None,
        push: bool = False,
        check: bool = False,
    ) -> Report:
        """Opens a window, runs what fits into it, and reports by the deadline, whatever the handlers do.

        - `budget`: seconds from begin to deadline. `reserve`: seconds before it at which runs are asked to stop; by
          default a twentieth of the budget. `lanes`: runs at a time, up to 1,024.
        - `strict_fit`: nothing is started whose estimate does not fit, not even first.
        - `kinds`: by default all of which a window may begin: those that are switched on, of which none is open and
          whose minimum interval has passed.
        - `frozen`: picks only from what was eligible at the begin; otherwise what becomes due or is registered
          meanwhile begins in the next free lane.
        - `task`: only this one, whatever its rank and delay; ImmediateRunIneligible if it cannot run.
        - `inline`: handlers run on this thread, as always on a VirtualClock; only those that look at run.stopping end
          on time then. `push`: threads of the library call the handlers (those registered with push).
        - `check`: raises an ExceptionGroup if handlers raised; without it `report.errors` has what they raised.

        KeyboardInterrupt and SystemExit end the window and are raised here, also when a handler raised them. Refusals,
        after which nothing ran: InvalidArgument, Reentrant (inside a handler), Unavailable (a kind is off), Busy (a
        cycle of the kind is open, or too many handlers overran), TooSoon (the minimum interval), Closed.
        """
        engine = self._engine
        engine.refuse_in_handler("a cycle to wait for")
        if inline is None:
            inline = engine.stands_still
        elif not inline and engine.stands_still:
            raise _unsupported("on a clock that stands still a scheduler runs handlers inline only")
        window = raw_window(budget, kinds, reserve, lanes, strict_fit, task, frozen)
        if inline and not push and lanes != 1:
            raise ValueError(f"lanes is {lanes}; allowed for inline cycles: 1")
        with engine.waiting():
            report = self._run_pushed(window, inline) if push else Drive(engine, window, inline).run()
        if engine.clock is not None:
            engine.clock.check()
        if check:
            report.check()
        return report

    async def run_cycle_async(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds | None = None,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        frozen: bool = False,
        task: str | None = None,
        push: bool = False,
        check: bool = False,
    ) -> Report:
        """The same on the running event loop: `async def` handlers run on it and are cancelled when asked to stop.

        Other handlers run on pyselene's threads. If it is cancelled itself, the window ends.
        """
        engine = self._engine
        engine.refuse_in_handler("a cycle to wait for")
        window = raw_window(budget, kinds, reserve, lanes, strict_fit, task, frozen)
        with engine.waiting():
            report = await (Pushed(engine).run(window) if push else AsyncDrive(engine, window).run())
        if check:
            report.check()
        return report

    def begin(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds | None = None,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        frozen: bool = False,
        task: str | None = None,
    ) -> Cycle:
        """Begins a cycle that you pull yourself; see Cycle. Refusals as of run_cycle(), but a handler may begin one."""
        engine = self._engine
        return Cycle(engine, begin(engine, raw_window(budget, kinds, reserve, lanes, strict_fit, task, frozen)))

    def plan(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds | None = None,
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
        with engine.push():
            status = library.selene_cycle_run(engine.handle, ctypes.byref(window), ctypes.byref(target))
            exceptions = engine.pushed_exceptions(address.value) if address.value else {}
            report = take_report(address.value, exceptions) if address.value else None
            fatal = interrupting(exceptions) or take_kept(None)
        engine.check(status)
        if fatal is not None:
            raise fatal
        assert report is not None
        return report

    def driver(
        self,
        *,
        refresh_budget: Duration | None = None,
        processing_budget: Duration | None = None,
        refresh_lanes: int = 1,
        processing_lanes: int = 1,
        on_report: OnReport | None = None,
    ) -> Driver:
        """Acts as the system scheduler: `with scheduler.driver(): …` on a thread, `async with …` on the event loop.

        It sleeps until something can run, asks the governor, and opens the windows that this grants: of one kind each,
        cut to what the budgets leave. Handlers run as in run_cycle() and run_cycle_async(). A veto that is raised
        while a window is open preempts its runs where the profile says so: coroutines are cancelled, functions see
        run.stopping. A budget that is said is a deadline for the runs of its windows. Where none is said, and the
        profile does not ration time (`apple` and `strict` do: 30 s and 10 min), windows pick runs for 30 s or 10 min,
        and runs in flight go on: they have no deadline but their task's `timeout` and `stall_limit`. At the end no
        window is opened any more; what runs is asked to stop and has 5 seconds.

        `on_report` gets each report that has runs. One driver may be open at a time (Busy). What a handler raises to
        end the process, or a failing store, ends it early: wait() returns, and the end of `with` raises it.

        Of a connection the windows are those that the owner grants; pools work in them side by side. They are
        worked off on threads, also with `async with`: the event loop runs coroutines and `on_report`, and waits for no
        answer. Where the owner ends, runs are asked to stop, and it goes on with the next one.
        """
        raw = raw_driver(refresh_budget, processing_budget, refresh_lanes, processing_lanes)
        return Driver(self._engine, raw, on_report, self)

    def launch(self, id: str) -> Report:
        """Runs a pending task now as if the driver had launched it: outside governor, pace and rank; reports.

        With the budget that the driver gives its kind (30 s and 10 min without one). NotFound: no once or periodic task
        of this id waits to run. ImmediateRunIneligible: it cannot run now.
        """
        return self.run_cycle(self._launch_budget(id), task=id)

    async def launch_async(self, id: str) -> Report:
        """The same on the running event loop."""
        return await self.run_cycle_async(self._launch_budget(id), task=id)

    def expire(self, id: str) -> None:
        """Ends the window of a running task now as if its time had run out.

        All its runs are asked to stop (expiring) and are over after its reserve. NotFound: no run of this id is in
        flight.
        """
        key = encode(id, "id")
        engine = self._engine
        engine.check(library.selene_task_expire(engine.handle, key, len(key)))
        for drive in tuple(engine.drives):
            drive.tell()

    def _launch_budget(self, id: str) -> Duration:
        info = self.get(id)
        if info.state is not State.ENQUEUED or info.schedule is Schedule.STANDING:
            text = f'id: "{id}" is not a pending request'
            raise NotFound(_raw.SELENE_ERROR_NOT_FOUND, "NOT_FOUND", text, Fault("id", id))
        if self._engine.driver is not None:
            return self._engine.driver.budget(info.kind)
        return usual_budget(info.kind)

    def run_forever(
        self,
        budget: Duration | None = None,
        *,
        every: Duration | None = None,
        kinds: Kinds | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        frozen: bool = False,
        on_report: OnReport | None = None,
        signals: bool = True,
        grace: Duration = 5,
    ) -> None:
        """Opens windows until stop(), close() or a signal: whenever something may run, at most once in `every` seconds.

        It is a driver() that asks no governor; one of them may be open at a time (Busy). A task that
        becomes due or is enqueued begins in the next free lane, whatever others do, unless its windows are `frozen`. A
        standing task asks for a window every `every` seconds, or every 15 minutes. A run takes as long as it takes, if
        nothing else ends it (its task's `timeout` and `stall_limit`); a `budget`, in seconds, is a deadline for the
        runs of each window. When it is to end, nothing more is
        started, and what runs has `grace` seconds, in the last tenth of which it is asked to stop. `on_report` gets
        each report that has runs. `signals`: on the main thread the first SIGINT or SIGTERM ends it; a second one does
        what it did before.
        """
        with self._engine.waiting():
            raw = raw_forever(budget, every, kinds, lanes, strict_fit, frozen)
            Forever(self._engine, raw, on_report, grace).run(signals)

    async def run_forever_async(
        self,
        budget: Duration | None = None,
        *,
        every: Duration | None = None,
        kinds: Kinds | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        frozen: bool = False,
        on_report: OnReport | None = None,
        signals: bool = True,
        grace: Duration = 5,
    ) -> None:
        """The same on the running event loop; a cancellation ends it, too: within `grace`, as its handlers have ended.

        A second cancellation ends it at once.
        """
        with self._engine.waiting():
            raw = raw_forever(budget, every, kinds, lanes, strict_fit, frozen)
            await Forever(self._engine, raw, on_report, grace).run_async(signals)

    def stop(self) -> None:
        """Ends run_forever(), if it is under way, from any thread, also from a handler; other windows go on."""
        driver = self._engine.driver
        if isinstance(driver, Forever):
            driver.stop()
        raise_kept()
