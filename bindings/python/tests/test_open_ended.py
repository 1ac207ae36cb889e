"""Windows whose deadline nobody decided bound how long they pick, not how long runs take (V1)."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import pytest

import pyselene as selene
from pyselene._raw import SELENE_NEVER
from pyselene.testing import ToldClock

HOUR = timedelta(hours=1)

OnReport: TypeAlias = Callable[[selene.Report], object]
#: Windows that are open while it is; what it hands out stops them.
Windows: TypeAlias = Callable[[selene.Scheduler, OnReport], AbstractContextManager[object]]
AsyncWindows: TypeAlias = Callable[[selene.Scheduler, OnReport], AbstractAsyncContextManager[object]]


class Job:
    """What its runs were told, each time that it began, and the reports of their windows."""

    def __init__(self) -> None:
        self.began: list[tuple[int, int, int]] = []
        self.reports: list[selene.Report] = []

    def begin(self, run: selene.Run) -> None:
        """A run begins."""
        self.began.append((run.attempt, run.expires_at_ns, run.deadline_ns))

    def check_succeeded_at_once(self, owner: selene.Scheduler) -> None:
        """It ran once, for an hour, without a deadline."""
        assert self.began == [(1, SELENE_NEVER, SELENE_NEVER)]
        info = owner.get("report")
        assert (info.state, info.attempts) == (selene.State.SUCCEEDED, 1)
        ((run,),) = (report.runs for report in self.reports)
        assert (run.outcome, run.response_time) == (selene.Outcome.NEW_DATA, 3600)


# ---- functions -----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def forever(scheduler: selene.Scheduler, on_report: OnReport) -> Iterator[object]:
    thread = threading.Thread(target=scheduler.run_forever, kwargs={"on_report": on_report})
    thread.start()
    try:
        yield scheduler
    finally:
        scheduler.stop()
        thread.join()


@contextlib.contextmanager
def forever_on_a_loop(scheduler: selene.Scheduler, on_report: OnReport) -> Iterator[object]:
    def play() -> None:
        asyncio.run(scheduler.run_forever_async(on_report=on_report))

    thread = threading.Thread(target=play)
    thread.start()
    try:
        yield scheduler
    finally:
        scheduler.stop()
        thread.join()


def driver(scheduler: selene.Scheduler, on_report: OnReport) -> AbstractContextManager[object]:
    return scheduler.driver(on_report=on_report)


FUNCTIONS: list[Windows] = [forever, forever_on_a_loop, driver]


def check_a_long_function_succeeds(
    owner: selene.Scheduler, clock: ToldClock, runner: selene.Scheduler, windows: Windows
) -> None:
    job = Job()
    begun, may_end, reported = threading.Event(), threading.Event(), threading.Event()

    @runner.handler("report")
    def report(run: selene.Run) -> None:
        job.begin(run)
        begun.set()
        may_end.wait()

    def hear(one: selene.Report) -> None:
        job.reports.append(one)
        reported.set()

    owner.enqueue("report", handler="report")
    with windows(runner, hear):
        begun.wait()
        clock.advance(HOUR, handlers=False)
        may_end.set()
        reported.wait()
    job.check_succeeded_at_once(owner)


@pytest.mark.parametrize("windows", FUNCTIONS)
def test_v1_a_function_takes_as_long_as_it_takes(windows: Windows) -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        check_a_long_function_succeeds(scheduler, clock, scheduler, windows)


@pytest.mark.parametrize("windows", FUNCTIONS)
def test_v1_a_function_of_a_connection_takes_as_long_as_it_takes(windows: Windows, tmp_path: Path) -> None:
    clock, store = ToldClock(), tmp_path / "tasks.db"
    with selene.Scheduler(store, clock=clock) as owner, owner.serve(), selene.connect(store) as member:
        check_a_long_function_succeeds(owner, clock, member, windows)


# ---- coroutines ----------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def forever_async(scheduler: selene.Scheduler, on_report: OnReport) -> AsyncIterator[object]:
    running = asyncio.create_task(scheduler.run_forever_async(on_report=on_report, signals=False))
    try:
        yield running
    finally:
        scheduler.stop()
        await running


def driver_async(scheduler: selene.Scheduler, on_report: OnReport) -> AbstractAsyncContextManager[object]:
    return scheduler.driver(on_report=on_report)


COROUTINES: list[AsyncWindows] = [forever_async, driver_async]


async def check_a_long_coroutine_succeeds(
    owner: selene.Scheduler, clock: ToldClock, runner: selene.Scheduler, windows: AsyncWindows
) -> None:
    job = Job()
    begun, may_end, reported = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @runner.handler("report")
    async def report(run: selene.Run) -> None:
        job.begin(run)
        begun.set()
        await may_end.wait()

    def hear(one: selene.Report) -> None:
        job.reports.append(one)
        reported.set()

    owner.enqueue("report", handler="report")
    async with windows(runner, hear):
        await begun.wait()
        await asyncio.to_thread(clock.advance, HOUR, handlers=False)
        may_end.set()
        await reported.wait()
    job.check_succeeded_at_once(owner)


@pytest.mark.parametrize("windows", COROUTINES)
def test_v1_a_coroutine_takes_as_long_as_it_takes(windows: AsyncWindows) -> None:
    async def play() -> None:
        clock = ToldClock()
        with selene.Scheduler(clock=clock) as scheduler:
            await check_a_long_coroutine_succeeds(scheduler, clock, scheduler, windows)

    asyncio.run(play())


@pytest.mark.parametrize("windows", COROUTINES)
def test_v1_a_coroutine_of_a_connection_takes_as_long_as_it_takes(windows: AsyncWindows, tmp_path: Path) -> None:
    async def play() -> None:
        clock, store = ToldClock(), tmp_path / "tasks.db"
        with selene.Scheduler(store, clock=clock) as owner, owner.serve():
            async with selene.connect_async(store) as member:
                await check_a_long_coroutine_succeeds(owner, clock, member, windows)

    asyncio.run(play())


def test_v1_beside_a_run_of_hours_a_driver_begins_what_is_due_at_its_instant() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        start, begun = clock.now, []

        @scheduler.handler("job")
        def job(run: selene.Run) -> None:
            begun.append((run.id, (clock.now - start).total_seconds()))
            run.stopping.wait(float(run.input))

        scheduler.enqueue("hours", handler="job", input=b"7200")
        scheduler.enqueue("45 s", handler="job", input=b"1", delay=45)
        scheduler.enqueue("60 s", handler="job", input=b"1", delay=60)
        with scheduler.driver(refresh_lanes=2):
            clock.advance(300)
            assert begun == [("hours", 0), ("45 s", 45), ("60 s", 60)]
            clock.advance(7000)


def test_v5_a_driver_that_ends_while_the_clock_of_a_test_stands_still_waits_no_longer_than_its_grace() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        reasons: queue.SimpleQueue[object] = queue.SimpleQueue()

        @scheduler.handler("job")
        def job(run: selene.Run) -> None:
            run.stopping.wait(3600)
            reasons.put(run.stopping.reason)

        scheduler.enqueue("job", max_attempts=1)
        with scheduler.driver():
            clock.advance(1)
        assert reasons.get(timeout=60) is selene.StopReason.SHUTDOWN
        assert scheduler.get("job").attempts == 0


def test_v1_run_forever_opens_the_next_window_beside_a_run_of_hours() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        start, begun = clock.now, []

        @scheduler.handler("job")
        def job(run: selene.Run) -> None:
            begun.append((run.id, (clock.now - start).total_seconds()))
            run.stopping.wait(float(run.input))
            if run.id == "hours":
                scheduler.stop()

        scheduler.enqueue("hours", handler="job", input=b"7200")
        for delay in (45, 700, 1400):
            scheduler.enqueue(f"{delay} s", handler="job", input=b"1", delay=delay)
        with clock.flowing():
            scheduler.run_forever(lanes=2, signals=False)
        assert begun == [("hours", 0), ("45 s", 45), ("700 s", 700), ("1400 s", 1400)]
