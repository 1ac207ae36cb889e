"""Closing: what runs may complete for a grace, and is asked to stop in its last tenth."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import pyselene as selene
from pyselene._engine import Engine
from pyselene._library import library
from pyselene.testing import ToldClock
from told import WAIT, elsewhere, until


class Held:
    """A handler that ends when it is let go."""

    def __init__(self, scheduler: selene.Scheduler, id: str = "held") -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.stops: list[selene.StopReason] = []
        self.completed = False

        @scheduler.task(id, schedule="standing")
        def held(run: selene.Run) -> None:
            self.begun.set()
            assert self.go.wait(WAIT)
            if run.stopping:
                self.stops.append(run.stopping.reason)
            self.completed = True

    def running(self, scheduler: selene.Scheduler) -> threading.Thread:
        """The scheduler is at work on a thread, and so is this."""
        runner = threading.Thread(target=scheduler.run_forever)
        runner.start()
        assert self.begun.wait(WAIT)
        return runner


def test_what_completes_within_the_grace_counts(tmp_path: Path) -> None:
    path = tmp_path / "store"
    clock = ToldClock()
    scheduler = selene.Scheduler(path, clock=clock)
    held = Held(scheduler)
    runner = held.running(scheduler)
    try:
        closing = elsewhere(scheduler.close, grace=100)
        until(lambda: scheduler.closed)
        clock.advance(20, handlers=False)
        assert not closing.done()
        held.go.set()
        closing.result(WAIT)
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
    clock = ToldClock()
    scheduler = selene.Scheduler(path, clock=clock)
    begun, ended, reasons = threading.Event(), threading.Event(), []

    @scheduler.task("works", schedule="once")
    def works(run: selene.Run) -> None:
        begun.set()
        run.stopping.wait(3600)
        reasons.append(run.stopping.reason)
        ended.set()
        raise selene.Retry

    runner = threading.Thread(target=scheduler.run_forever, args=[3600])
    runner.start()
    assert begun.wait(WAIT)
    closing = elsewhere(scheduler.close, grace=100)
    until(lambda: scheduler.closed)
    until(lambda: clock.settle(handlers=False) == clock.now + timedelta(seconds=90))
    clock.advance(90 - 1e-9, handlers=False)
    assert reasons == []
    with suppress(selene.Closed):  # it may be closed before this call is back
        clock.advance(1e-9, handlers=False)
    closing.result(WAIT)
    runner.join()
    assert ended.wait(WAIT)
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

    def interrupt(number: int, frame: FrameType | None) -> None:
        assert frame is not None
        # Python drops what is raised in the callback of a weak reference: once more, behind it.
        if frame.f_code.co_filename.endswith("_weakrefset.py"):
            os.kill(os.getpid(), number)
        else:
            raise KeyboardInterrupt

    signal.signal(signal.SIGUSR1, interrupt)

    def kill() -> None:
        until(lambda: scheduler.closed)
        os.kill(os.getpid(), signal.SIGUSR1)

    killing = elsewhere(kill)
    try:
        with pytest.raises(KeyboardInterrupt):
            scheduler.close(grace=10 * WAIT)
    finally:
        killing.result(WAIT)
        signal.signal(signal.SIGUSR1, before)
        held.go.set()
        runner.join()
    assert scheduler.closed


@pytest.mark.skipif(sys.gettrace() is not None, reason="somebody else traces")
def test_p3_a_signal_at_any_moment_leaves_nothing_half_closed() -> None:
    codes = {getattr(Engine, name).__code__ for name in ("close", "_begins_to_close")}
    lines = moment = 0

    class Interrupted(BaseException):
        pass

    def interrupt(number: int, frame: object) -> None:
        raise Interrupted

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        # Not where an older scheduler is closed because nobody has it any more.
        if frame.f_code not in codes or frame.f_locals["self"] is not engine:
            return None
        if event == "line":
            lines += 1
            if lines == moment:
                signal.raise_signal(signal.SIGUSR1)
        return trace

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        while lines >= moment:  # each line once
            lines, moment = 0, moment + 1
            scheduler = selene.Scheduler()
            engine = scheduler._engine
            sys.settrace(trace)
            try:
                scheduler.close(WAIT)
            except Interrupted:
                pass
            finally:
                sys.settrace(None)
            is_open = library.selene_scheduler_close(engine.handle, 0) == 0
            assert is_open != scheduler.closed, moment
            scheduler.close(0)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert moment > 8


def test_a_close_with_less_grace_comes_first() -> None:
    scheduler = selene.Scheduler()
    held = Held(scheduler)
    runner = held.running(scheduler)
    closer = threading.Thread(target=scheduler.close, args=(10 * WAIT,))
    closer.start()
    until(lambda: scheduler.closed)
    scheduler.close(0)
    closer.join(WAIT)
    assert not closer.is_alive()
    held.go.set()
    runner.join()


def test_it_does_not_wait_for_what_its_own_thread_pulls() -> None:
    scheduler = selene.Scheduler()
    scheduler.register_handler("own", None)
    scheduler.register(selene.Task("own", schedule="standing"))
    cycle = scheduler.begin(budget=60)
    run = cycle.next()
    assert isinstance(run, selene.Run)
    scheduler.close(grace=86_400)
    assert run.stopping.reason is selene.StopReason.SHUTDOWN


def test_close_async_lets_coroutines_complete() -> None:
    async def main() -> list[str]:
        scheduler = selene.Scheduler()
        begun, go, ended = asyncio.Event(), asyncio.Event(), []

        @scheduler.task("works", schedule="standing")
        async def works(run: selene.Run) -> None:
            begun.set()
            await go.wait()
            ended.append(run.id)

        forever = asyncio.create_task(scheduler.run_forever_async())
        await asyncio.wait_for(begun.wait(), WAIT)
        closing = asyncio.create_task(scheduler.close_async(grace=WAIT))
        await asyncio.sleep(0)
        assert scheduler.closed
        go.set()
        await closing
        await asyncio.wait_for(forever, WAIT)
        await scheduler.close_async()
        assert scheduler.closed
        return ended

    assert asyncio.run(main()) == ["works"]


def test_drain_async() -> None:
    async def main() -> None:
        clock = ToldClock()
        scheduler = selene.Scheduler(clock=clock)
        begun, go = asyncio.Event(), asyncio.Event()

        @scheduler.task("works", schedule="standing")
        async def works(run: selene.Run) -> None:
            begun.set()
            await go.wait()

        forever = asyncio.create_task(scheduler.run_forever_async())
        await asyncio.wait_for(begun.wait(), WAIT)
        assert not await scheduler.drain_async(0.05)
        go.set()
        assert await scheduler.drain_async(WAIT)
        scheduler.stop()
        await asyncio.wait_for(forever, WAIT)
        await scheduler.close_async(0)

    asyncio.run(main())


def test_run_forever_ends_with_a_grace_of_its_own() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        held = Held(scheduler)
        runner = threading.Thread(target=scheduler.run_forever, args=[3600], kwargs={"grace": 600})
        runner.start()
        assert held.begun.wait(WAIT)
        scheduler.stop()
        clock.advance(100, handlers=False)
        assert runner.is_alive()
        held.go.set()
        runner.join(WAIT)
        assert not runner.is_alive()
        assert held.completed
        assert not held.stops
        with pytest.raises(ValueError, match=r"grace is -1 s; allowed: 0 … 24 h"):
            scheduler.run_forever(grace=-1)
        with pytest.raises(selene.InvalidArgument):
            asyncio.run(scheduler.close_async(grace=-1))
        assert not scheduler.closed
