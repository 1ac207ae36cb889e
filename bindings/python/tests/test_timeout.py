"""Runs that take longer than their task allows."""

from __future__ import annotations

import asyncio
import threading

import pytest

import pyselene as selene
from pyselene.testing import ToldClock, VirtualClock
from told import WAIT, elsewhere, passes


def test_a_timeout_is_part_of_the_task() -> None:
    with selene.Scheduler() as scheduler:
        scheduler.register(selene.Task("a", timeout=90, schedule="standing"))
        assert (scheduler.get("a").timeout, scheduler.get("a").timeout_ns) == (90.0, 90 * 10**9)
        scheduler.register(selene.Task("b", schedule="standing"))
        assert scheduler.get("b").timeout is None

        @scheduler.task("c", timeout=2.5, schedule="standing")
        def c(run: selene.Run) -> None: ...

        assert scheduler.get("c").timeout == 2.5
        with pytest.raises(selene.InvalidArgument, match="timeout"):
            scheduler.register(selene.Task("d", timeout=90_000, schedule="standing"))
        with pytest.raises(selene.InvalidArgument, match="stop_grace"):
            selene.Scheduler(stop_grace=-1)


def test_a_run_that_has_timed_out_may_complete_in_its_grace() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock, stop_grace=5) as scheduler:

        @scheduler.task(timeout=10, schedule="standing")
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
    gate, begun, ran = threading.Event(), threading.Event(), threading.Event()
    clock = ToldClock()
    with selene.Scheduler(clock=clock, stop_grace=5) as scheduler:

        @scheduler.task(priority="very_high", timeout=10, schedule="standing")
        def stuck(run: selene.Run) -> None:
            begun.set()
            gate.wait(WAIT)

        @scheduler.task(priority="low", schedule="standing")
        def other(run: selene.Run) -> None:
            ran.set()

        window = elsewhere(scheduler.run_cycle, budget=120, lanes=1)
        assert begun.wait(WAIT)
        clock.advance(15, handlers=False)
        assert not ran.is_set()
        clock.advance(1e-9, handlers=False)
        assert ran.wait(WAIT)
        window.result(WAIT)
        info = scheduler.get("stuck")
        assert (info.last_outcome, info.stop_reason) == (selene.Outcome.EXPIRED, selene.StopReason.TIMED_OUT)
        gate.set()


def test_a_coroutine_that_has_timed_out_is_cancelled() -> None:
    async def main() -> None:
        clock, begun = ToldClock(), asyncio.Event()
        with selene.Scheduler(clock=clock) as scheduler:

            @scheduler.task(timeout=10, schedule="once", max_attempts=1)
            async def slow(run: selene.Run) -> None:
                begun.set()
                await asyncio.sleep(WAIT)

            window = asyncio.create_task(scheduler.run_cycle_async(budget=120))
            await asyncio.wait_for(begun.wait(), WAIT)
            await passes(clock, 10 - 1e-9)
            assert scheduler.get("slow").state is selene.State.RUNNING
            await passes(clock, 1e-9)
            report = await asyncio.wait_for(window, WAIT)
            assert report.runs[0].outcome is selene.Outcome.FAILED
            assert report.runs[0].stop_reason is selene.StopReason.TIMED_OUT

    asyncio.run(main())
