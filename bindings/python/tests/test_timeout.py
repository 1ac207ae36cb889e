"""Runs that take longer than their task allows."""

from __future__ import annotations

import asyncio
import threading

import pytest

import pyselene as selene
from pyselene.testing import VirtualClock


def test_a_timeout_is_part_of_the_task() -> None:
    with selene.Scheduler() as scheduler:
        scheduler.register(selene.Task("a", timeout=90))
        assert (scheduler.get("a").timeout, scheduler.get("a").timeout_ns) == (90.0, 90 * 10**9)
        scheduler.register(selene.Task("b"))
        assert scheduler.get("b").timeout is None

        @scheduler.task("c", timeout=2.5)
        def c(run: selene.Run) -> None: ...

        assert scheduler.get("c").timeout == 2.5
        with pytest.raises(selene.InvalidArgument, match="timeout"):
            scheduler.register(selene.Task("d", timeout=90_000))
        with pytest.raises(selene.InvalidArgument, match="stop_grace"):
            selene.Scheduler(stop_grace=-1)


def test_a_run_that_has_timed_out_may_complete_in_its_grace() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock, stop_grace=5) as scheduler:

        @scheduler.task(timeout=10)
        def slow(run: selene.Run) -> bool:
            assert run.stopping.wait(60)
            assert run.stopping.reason is selene.StopReason.TIMED_OUT
            clock.advance(5)
            return True

        report = scheduler.run_cycle(budget=600)
        (run,) = report.runs
        assert (run.outcome, run.stop_reason, run.response_time) == (
            selene.Outcome.NEW_DATA,
            selene.StopReason.TIMED_OUT,
            15.0,
        )


def test_behind_a_handler_that_hangs_the_next_task_runs() -> None:
    """With one lane: the thread is left behind, and another takes its place long before the window ends."""
    gate, ran = threading.Event(), threading.Event()
    with selene.Scheduler(stop_grace=0.05) as scheduler:

        @scheduler.task(priority="very_high", timeout=0.1)
        def stuck(run: selene.Run) -> None:
            gate.wait(60)

        @scheduler.task(priority="low")
        def other(run: selene.Run) -> None:
            ran.set()

        waiter = threading.Thread(target=scheduler.run_cycle, kwargs={"budget": 120, "lanes": 1})
        waiter.start()
        assert ran.wait(60)
        assert not gate.is_set()
        waiter.join(60)
        assert not waiter.is_alive()
        info = scheduler.get("stuck")
        assert (info.last_outcome, info.stop_reason) == (selene.Outcome.EXPIRED, selene.StopReason.TIMED_OUT)
        gate.set()


def test_a_coroutine_that_has_timed_out_is_cancelled() -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:

            @scheduler.task(timeout=0.05, schedule="once", max_attempts=1)
            async def slow(run: selene.Run) -> None:
                await asyncio.sleep(60)

            report = await scheduler.run_cycle_async(budget=120)
            assert report.runs[0].outcome is selene.Outcome.FAILED
            assert report.runs[0].stop_reason is selene.StopReason.TIMED_OUT

    asyncio.run(main())
