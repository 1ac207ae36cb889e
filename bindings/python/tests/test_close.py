"""Closing: what runs may complete for a grace, and is asked to stop in its last tenth."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import pytest

import pyselene as selene

#: After so many seconds a test has waited in vain.
SLACK = 60


class Held:
    """A handler that ends when it is let go."""

    def __init__(self, scheduler: selene.Scheduler, id: str = "held") -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.stops: list[selene.StopReason] = []
        self.completed = False

        @scheduler.task(id)
        def held(run: selene.Run) -> None:
            self.begun.set()
            assert self.go.wait(SLACK)
            if run.stopping:
                self.stops.append(run.stopping.reason)
            self.completed = True

    def running(self, scheduler: selene.Scheduler) -> threading.Thread:
        """The scheduler is at work on a thread, and so is this."""
        runner = threading.Thread(target=scheduler.run_forever)
        runner.start()
        assert self.begun.wait(SLACK)
        return runner


def test_what_completes_within_the_grace_counts(tmp_path: Path) -> None:
    path = tmp_path / "store"
    scheduler = selene.Scheduler(path)
    held = Held(scheduler)
    runner = threading.Thread(target=scheduler.run_forever)
    runner.start()
    try:
        assert held.begun.wait(SLACK)
        threading.Timer(0.2, held.go.set).start()
        scheduler.close(grace=SLACK)
    finally:
        held.go.set()
        runner.join()
    assert held.completed
    assert not held.stops
    assert scheduler.closed
    with selene.Scheduler(path) as again:
        found = again.get("held")
        assert found.last_outcome is selene.Outcome.NEW_DATA
        assert found.response_times


def test_in_the_last_tenth_it_is_asked_to_stop_and_a_failure_is_none(tmp_path: Path) -> None:
    path = tmp_path / "store"
    scheduler = selene.Scheduler(path)
    begun, ended, reasons = threading.Event(), threading.Event(), []

    @scheduler.task("works", schedule="once")
    def works(run: selene.Run) -> None:
        begun.set()
        run.stopping.wait(SLACK)
        reasons.append(run.stopping.reason)
        ended.set()
        raise selene.Retry

    runner = threading.Thread(target=scheduler.run_forever)
    runner.start()
    assert begun.wait(SLACK)
    began = time.monotonic()
    scheduler.close(grace=1)
    assert time.monotonic() - began >= 0.85
    runner.join()
    assert ended.wait(SLACK)
    assert reasons == [selene.StopReason.SHUTDOWN]
    with selene.Scheduler(path) as again:
        found = again.get("works")
        assert found.state is selene.State.ENQUEUED
        assert found.attempts == 0


def test_a_signal_is_handled_while_it_waits() -> None:
    scheduler = selene.Scheduler()
    held = Held(scheduler)
    runner = held.running(scheduler)
    before = signal.getsignal(signal.SIGUSR1)

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            scheduler.close(grace=10 * SLACK)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
        held.go.set()
        runner.join()
    assert scheduler.closed


def test_a_close_with_less_grace_comes_first() -> None:
    scheduler = selene.Scheduler()
    held = Held(scheduler)
    runner = held.running(scheduler)
    closer = threading.Thread(target=scheduler.close, args=(10 * SLACK,))
    closer.start()
    while not scheduler.closed:
        time.sleep(0.001)
    scheduler.close(0)
    closer.join(SLACK)
    assert not closer.is_alive()
    held.go.set()
    runner.join()


def test_it_does_not_wait_for_what_its_own_thread_pulls() -> None:
    scheduler = selene.Scheduler()
    scheduler.register_handler("own", None)
    scheduler.register(selene.Task("own"))
    cycle = scheduler.begin(budget=60)
    run = cycle.next()
    assert isinstance(run, selene.Run)
    began = time.monotonic()
    scheduler.close(grace=10 * SLACK)
    assert time.monotonic() - began < SLACK
    assert run.stopping.reason is selene.StopReason.SHUTDOWN


def test_close_async_lets_coroutines_complete() -> None:
    async def main() -> list[str]:
        scheduler = selene.Scheduler()
        begun, ended = asyncio.Event(), []

        @scheduler.task("works")
        async def works(run: selene.Run) -> None:
            begun.set()
            await asyncio.sleep(0.2)
            ended.append(run.id)

        forever = asyncio.create_task(scheduler.run_forever_async())
        await asyncio.wait_for(begun.wait(), SLACK)
        await scheduler.close_async(grace=SLACK)
        await asyncio.wait_for(forever, SLACK)
        await scheduler.close_async()
        assert scheduler.closed
        return ended

    assert asyncio.run(main()) == ["works"]


def test_drain_async() -> None:
    async def main() -> None:
        scheduler = selene.Scheduler()
        begun, go = asyncio.Event(), asyncio.Event()

        @scheduler.task("works")
        async def works(run: selene.Run) -> None:
            begun.set()
            await go.wait()

        forever = asyncio.create_task(scheduler.run_forever_async())
        await asyncio.wait_for(begun.wait(), SLACK)
        assert not await scheduler.drain_async(0.05)
        go.set()
        assert await scheduler.drain_async(SLACK)
        scheduler.stop()
        await asyncio.wait_for(forever, SLACK)
        await scheduler.close_async(0)

    asyncio.run(main())


def test_run_forever_ends_with_a_grace_of_its_own() -> None:
    with selene.Scheduler() as scheduler:
        held = Held(scheduler)
        runner = threading.Thread(target=scheduler.run_forever, kwargs={"grace": 10 * SLACK})
        runner.start()
        assert held.begun.wait(SLACK)
        scheduler.stop()
        runner.join(0.2)
        assert runner.is_alive()
        held.go.set()
        runner.join(SLACK)
        assert not runner.is_alive()
        assert held.completed
        assert not held.stops
        with pytest.raises(ValueError, match=r"grace is -1 s; allowed: 0 … 24 h"):
            scheduler.run_forever(grace=-1)
        with pytest.raises(selene.InvalidArgument):
            asyncio.run(scheduler.close_async(grace=-1))
        assert not scheduler.closed
