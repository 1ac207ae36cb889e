"""Clocks of the host's own: one that stands still is advanced by waits, any other goes on while they last."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import pyselene as selene
from pyselene.testing import VirtualClock


def outcomes(report: selene.Report) -> dict[str, str]:
    return {run.id: str(run.outcome) for run in report.runs}


@pytest.mark.parametrize("inline", [False, True])
def test_on_a_clock_that_goes_on_a_wait_lasts(inline: bool) -> None:
    with selene.Scheduler(clock=time.time_ns) as scheduler:

        @scheduler.task(schedule="standing")
        def waits(run: selene.Run) -> None:
            assert not run.stopping.wait(0.3)

        begin = time.monotonic()
        report = scheduler.run_cycle(60, inline=inline, check=True)
        assert time.monotonic() - begin >= 0.3
        assert report.runs[0].response_time >= 0.29


@pytest.mark.parametrize("inline", [False, True])
def test_on_a_clock_that_goes_on_work_may_end_elsewhere(inline: bool) -> None:
    with selene.Scheduler(clock=time.time_ns) as scheduler:

        @scheduler.task(schedule="standing")
        def elsewhere(run: selene.Run) -> object:
            threading.Timer(0.2, run.complete, ["no_data"]).start()
            return selene.PENDING

        assert outcomes(scheduler.run_cycle(60, inline=inline)) == {"elsewhere": "no_data"}


def test_c5_on_a_clock_that_goes_on_a_window_ends_on_time() -> None:
    release = threading.Event()
    with selene.Scheduler(clock=time.time_ns) as scheduler:
        scheduler.task("deaf", expected=0.1, schedule="standing")(lambda run: release.wait(60))
        begin = time.monotonic()
        assert outcomes(scheduler.run_cycle(3)) == {"deaf": "expired"}
        assert 2.9 < time.monotonic() - begin < 30
        release.set()


def test_c5_on_a_clock_that_goes_on_a_window_on_a_loop_ends_on_time() -> None:
    async def main() -> None:
        with selene.Scheduler(clock=time.time_ns) as scheduler:

            @scheduler.task(expected=0.1, schedule="standing")
            async def work(run: selene.Run) -> None:
                await asyncio.sleep(60)

            begin = time.monotonic()
            report = await scheduler.run_cycle_async(33, reserve=30)
            assert outcomes(report) == {"work": "failed"}
            assert time.monotonic() - begin < 30

    asyncio.run(main())


def test_on_a_clock_that_goes_on_a_function_does_not_block_the_loop() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        called = threading.Event()
        with selene.Scheduler(clock=time.time_ns) as scheduler:

            @scheduler.task(schedule="standing")
            def function(run: selene.Run) -> None:
                loop.call_soon_threadsafe(called.set)
                assert called.wait(20)

            await scheduler.run_cycle_async(60, check=True)

    asyncio.run(main())


def test_only_a_clock_that_stands_still_runs_handlers_inline_only() -> None:
    with selene.Scheduler(clock=VirtualClock()) as still, pytest.raises(selene.Unsupported, match="stands still"):
        still.run_cycle(inline=False)
    threads = []
    with selene.Scheduler(clock=time.time_ns) as scheduler:
        scheduler.task("a", schedule="standing")(lambda run: threads.append(threading.get_ident()))
        scheduler.run_cycle(check=True)
        assert threads != [threading.get_ident()]
        with pytest.raises(selene.Unsupported):
            scheduler.run_cycle(push=True)
