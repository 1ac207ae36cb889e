"""Stops: told once and early enough, to whoever listens, whoever asks and whenever it comes."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import pyselene as selene
from pyselene._run import Latch, Run
from pyselene.testing import ToldClock, VirtualClock
from test_process import in_child

WAIT = 20


async def passes(clock: ToldClock, duration: float) -> None:
    """Lets time pass while the loop goes on; what its coroutines do then is waited for by events."""
    await asyncio.to_thread(clock.advance, duration, handlers=False)


def outcomes(report: selene.Report) -> dict[str, str]:
    return {run.id: str(run.outcome) for run in report.runs}


# ---- once ----------------------------------------------------------------------------------------------------------


def test_c8_a_second_stop_does_not_cancel_a_coroutine_again() -> None:
    async def main() -> list[str]:
        seen: list[str] = []
        running = asyncio.Event()
        clock = ToldClock()
        with selene.Scheduler(clock=clock) as scheduler:

            @scheduler.task(schedule="standing")
            async def work(run: selene.Run) -> None:
                running.set()
                try:
                    await asyncio.sleep(WAIT)
                except asyncio.CancelledError:
                    seen.append("asked")
                    await asyncio.sleep(0.02)
                    seen.append("clean")
                    raise

            async with scheduler.driver() as driver:
                await asyncio.wait_for(running.wait(), WAIT)
                driver.stop()
                await passes(clock, 4.5)
            forever = asyncio.create_task(scheduler.run_forever_async(signals=False))
            running.clear()
            scheduler.enqueue("again", handler=work)
            await asyncio.wait_for(running.wait(), WAIT)
            for _ in range(2):
                scheduler.stop()
                await passes(clock, 4.5)
            await asyncio.wait_for(forever, WAIT)
            # A window that ends meanwhile does not wait for what the coroutine has to clean up.
            async with asyncio.timeout(WAIT):
                while len(seen) < 4:
                    await asyncio.sleep(0.01)
        return seen

    assert asyncio.run(main()) == ["asked", "clean"] * 2


def test_c8_the_end_of_a_window_does_not_cancel_a_coroutine_again() -> None:
    async def main() -> list[str]:
        seen: list[str] = []
        running, asked, clean, over = (asyncio.Event() for _ in range(4))
        clock = ToldClock()
        with selene.Scheduler(clock=clock) as scheduler:

            @scheduler.task(expected=0.1, schedule="standing")
            async def work(run: selene.Run) -> None:
                running.set()
                try:
                    await asyncio.sleep(WAIT)
                except asyncio.CancelledError:
                    asked.set()
                    await clean.wait()
                    seen.append("clean")
                    raise
                finally:
                    over.set()

            window = asyncio.create_task(scheduler.run_cycle_async(4, reserve=1))
            await asyncio.wait_for(running.wait(), WAIT)
            await passes(clock, 3)
            await asyncio.wait_for(asked.wait(), WAIT)
            await passes(clock, 1)
            assert not window.done()
            await passes(clock, 1e-9)
            report = await asyncio.wait_for(window, WAIT)
            assert outcomes(report) == {"work": "expired"}
            clean.set()
            await asyncio.wait_for(over.wait(), WAIT)
        return seen

    assert asyncio.run(main()) == ["clean"]


# ---- to whoever listens --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["forever", "driver"])
def test_c8_a_stop_calls_the_stop_function_once(what: str) -> None:
    told: list[tuple[str, selene.StopReason]] = []
    running, over = threading.Event(), threading.Event()

    def on_stop(run: selene.Run, reason: selene.StopReason) -> None:
        told.append((run.id, reason))
        over.set()

    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:

        @scheduler.task(on_stop=on_stop, schedule="standing")
        def work(run: selene.Run) -> None:
            running.set()
            assert over.wait(2 * WAIT)  # hears nothing else

        if what == "forever":
            thread = threading.Thread(target=lambda: scheduler.run_forever(signals=False))
            thread.start()
            assert running.wait(WAIT)
            scheduler.stop()
            scheduler.stop()
            # Of five seconds the last tenth is for what is asked to stop.
            clock.advance(4.5 - 1e-9, handlers=False)
            assert told == []
            clock.advance(1e-9, handlers=False)
            thread.join(2 * WAIT)
            assert not thread.is_alive()
        else:
            with scheduler.driver() as driver:
                assert running.wait(WAIT)
                driver.stop()
                clock.advance(4.5 - 1e-9, handlers=False)
                assert told == []
                clock.advance(1e-9, handlers=False)
        assert scheduler.get("work").last_outcome is selene.Outcome.NEW_DATA
    assert told == [("work", selene.StopReason.SHUTDOWN)]


def test_c8_a_stop_on_a_loop_calls_the_stop_function_once() -> None:
    told: list[selene.StopReason] = []

    async def main() -> None:
        running, over = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def on_stop(run: selene.Run, reason: selene.StopReason) -> None:
            told.append(reason)
            loop.call_soon_threadsafe(over.set)  # it comes on the thread that lets time pass

        clock = ToldClock()
        with selene.Scheduler(clock=clock) as scheduler:

            @scheduler.task(on_stop=on_stop, schedule="standing")
            async def work(run: selene.Run) -> None:
                running.set()
                try:
                    await over.wait()
                except asyncio.CancelledError:
                    await asyncio.wait_for(over.wait(), WAIT)

            async with scheduler.driver() as driver:
                await asyncio.wait_for(running.wait(), WAIT)
                driver.stop()
                await passes(clock, 4.5 - 1e-9)
                assert told == []
                await passes(clock, 1e-9)
            assert scheduler.get("work").last_outcome is selene.Outcome.NEW_DATA

    asyncio.run(main())
    assert told == [selene.StopReason.SHUTDOWN]


def test_c8_a_stop_function_is_called_for_runs_that_are_pulled() -> None:
    told: list[selene.StopReason] = []
    with selene.Scheduler() as scheduler:
        scheduler.register_handler("a", None, on_stop=lambda run, reason: told.append(reason))
        scheduler.register(selene.Task("a", schedule="standing"))
        with scheduler.begin() as cycle:
            run = cycle.next()
            assert isinstance(run, selene.Run)
            scheduler.cancel("a")
            assert run.stopping.reason is selene.StopReason.CANCELLED
            with pytest.raises(selene.StaleRun):
                run.complete()
    assert told == [selene.StopReason.CANCELLED]


# ---- however early -------------------------------------------------------------------------------------------------


class EarlyRuns(dict[int, Run]):
    """Does something in the moment between a run's dispatch and its worker's entering it."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__()
        self.meanwhile = meanwhile

    def __setitem__(self, token: int, run: Run) -> None:
        self.meanwhile()
        super().__setitem__(token, run)


@pytest.mark.parametrize("inline", [False, True])
def test_c8_a_run_that_is_cancelled_on_its_way_to_its_handler_is_over(inline: bool) -> None:
    with selene.Scheduler() as scheduler:
        ran: list[str] = []

        @scheduler.task(priority=5, schedule="standing")
        async def first(run: selene.Run) -> None:
            ran.append(run.id)
            await asyncio.sleep(WAIT)

        @scheduler.task(priority=1, schedule="standing")
        def second(run: selene.Run) -> None:
            ran.append(run.id)

        scheduler._engine.runs = EarlyRuns(lambda: ran or scheduler.cancel("first"))
        begin = time.monotonic()
        report = scheduler.run_cycle(2 * WAIT, inline=inline)
        assert outcomes(report) == {"first": "stopped", "second": "new_data"}
        assert time.monotonic() - begin < WAIT
        assert ran == ["second"]
        while scheduler._engine.runs and time.monotonic() - begin < WAIT:
            time.sleep(0.01)  # its worker was left behind and comes back
        assert not scheduler._engine.runs
        assert not scheduler._engine.early_stops
        assert "still_running" not in [str(reason.code) for reason in scheduler.explain("first").reasons]


def test_c8_a_run_that_is_cancelled_on_its_way_to_an_event_loop_is_over() -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:
            ran: list[str] = []

            @scheduler.task(schedule="standing")
            async def work(run: selene.Run) -> None:
                ran.append(run.id)
                await asyncio.sleep(WAIT)

            scheduler._engine.runs = EarlyRuns(lambda: scheduler.cancel("work"))
            report = await asyncio.wait_for(scheduler.run_cycle_async(2 * WAIT), WAIT)
            assert outcomes(report) == {"work": "stopped"}
            assert ran == []

    asyncio.run(main())


def test_a_run_that_is_on_its_way_to_its_handler_hears_of_a_stop() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        seen: list[selene.StopReason] = []

        @scheduler.task(schedule="standing")
        def work(run: selene.Run) -> None:
            run.stopping.wait(2 * WAIT)
            seen.append(run.stopping.reason)

        def stop() -> None:
            scheduler.stop()

        scheduler._engine.runs = EarlyRuns(stop)
        with clock.flowing():
            scheduler.run_forever(signals=False, grace=20)
        assert clock.now_ns - scheduler.get("work").registered_at_ns == 18 * 10**9
        assert seen == [selene.StopReason.SHUTDOWN]
        assert scheduler.get("work").last_outcome is selene.Outcome.NEW_DATA


def test_a_stop_of_a_run_that_is_over_is_not_remembered_for_ever() -> None:
    with selene.Scheduler() as scheduler:
        scheduler.task("a", schedule="standing")(lambda run: None)
        handler = scheduler._engine.handlers[b"a"]
        for token in range(5_000):
            handler.stopped(token, selene.StopReason.EXPIRING)
        assert len(scheduler._engine.early_stops) <= 1_000


# ---- in every moment -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.gettrace() is not None, reason="somebody else traces")
def test_a_signal_handler_may_cancel_a_run_at_any_moment_of_its_wait() -> None:
    codes = {getattr(value, "__code__", None) for kind in (Run, Latch) for value in vars(kind).values()}
    lines = moment = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        if frame.f_code not in codes:
            return None
        if event == "line":
            lines += 1
            if lines == moment:
                signal.raise_signal(signal.SIGUSR1)
        return trace

    with selene.Scheduler() as scheduler:

        @scheduler.handler
        def work(run: selene.Run) -> None:
            sys.settrace(trace)
            try:
                run.stopping.wait(0.02)
            finally:
                sys.settrace(None)
            if lines >= moment:
                assert run.stopping.wait(WAIT)
                assert run.stopping.reason is selene.StopReason.CANCELLED

        before = signal.signal(signal.SIGUSR1, lambda *_: scheduler.cancel("work"))
        try:
            while lines >= moment:  # each line once
                lines, moment = 0, moment + 1
                scheduler.enqueue("work", existing="replace")
                scheduler.run_cycle(2 * WAIT, inline=True, check=True)
        finally:
            signal.signal(signal.SIGUSR1, before)
    assert moment > 8


@pytest.mark.forks
def test_p4_a_child_waits_whatever_the_parents_threads_were_doing() -> None:
    """Its threads may have been anywhere, also where they ask whether to stop."""
    done = threading.Event()
    with selene.Scheduler() as scheduler:

        def asks(run: selene.Run) -> None:
            while not done.is_set():
                run.__dict__.pop("_latch", None)
                run.stopping.wait(0)

        scheduler.task(schedule="standing")(asks)
        asking = threading.Thread(target=scheduler.run_cycle, args=[2 * WAIT])
        asking.start()

        def child() -> None:
            with selene.Scheduler() as own:
                own.task("a", schedule="standing")(lambda run: run.stopping.wait(0.001))
                own.run_cycle(20, check=True)

        for _ in range(20):
            in_child(child)
        done.set()
        asking.join()


def test_on_a_virtual_clock_a_wait_for_less_than_nothing_does_not_wait() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock) as scheduler:
        before = clock.now_ns
        scheduler.task("a", schedule="standing")(lambda run: run.stopping.wait(-1))
        assert outcomes(scheduler.run_cycle()) == {"a": "no_data"}
        assert clock.now_ns == before
