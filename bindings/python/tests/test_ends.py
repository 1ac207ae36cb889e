"""An end that the program asks for fails nothing (V4), one meaning of grace (V5), giving back (V6)."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

import pytest

import pyselene as selene
from pyselene.testing import ToldClock

#: What the handler does when it is asked to stop.
Answer = Callable[[selene.Run], object]


def raises(run: selene.Run) -> object:
    raise RuntimeError(f"was asked: {run.stopping.reason}")


def retries(run: selene.Run) -> object:
    raise selene.Retry(after=1)


def gives_back(run: selene.Run) -> object:
    raise selene.Stopped


def says_no_data(run: selene.Run) -> object:
    return False


ANSWERS: list[Answer] = [raises, retries, gives_back, says_no_data]


def check_as_before(scheduler: selene.Scheduler) -> None:
    task = scheduler.get("upload")
    assert (task.state, task.attempts) == (selene.State.ENQUEUED, 0)
    assert (task.last_outcome, task.stop_reason) == (selene.Outcome.STOPPED, selene.StopReason.SHUTDOWN)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("grace", [0, 10])
def test_v4_run_forever_that_ends_fails_nothing(answer: Answer, grace: int) -> None:
    clock = ToldClock()
    answered = threading.Event()
    with selene.Scheduler(clock=clock) as scheduler:

        @scheduler.handler("upload")
        def upload(run: selene.Run) -> object:
            scheduler.stop()
            run.stopping.wait()
            try:
                return answer(run)
            finally:
                answered.set()

        scheduler.enqueue("upload", handler="upload", max_attempts=1)
        with clock.flowing():
            scheduler.run_forever(grace=grace)
        answered.wait()
        check_as_before(scheduler)


def test_v4_what_is_raised_then_is_no_failed_attempt_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler, caplog.at_level("WARNING", "pyselene"):

        @scheduler.handler("upload")
        def upload(run: selene.Run) -> object:
            scheduler.stop()
            run.stopping.wait()
            return raises(run)

        scheduler.enqueue("upload", handler="upload", max_attempts=1)
        with clock.flowing():
            scheduler.run_forever(grace=10)
        check_as_before(scheduler)
    (record,) = caplog.records
    assert record.getMessage() == "task 'upload' raised when it was asked to stop, and was given back"
    assert record.exc_info
    assert "was asked: shutdown" in str(record.exc_info[1])


def test_v5_what_completes_within_the_grace_counts() -> None:
    clock = ToldClock()
    begun, may_end = threading.Event(), threading.Event()
    with selene.Scheduler(clock=clock) as scheduler:

        @scheduler.handler("upload")
        def upload(run: selene.Run) -> None:
            begun.set()
            may_end.wait()

        scheduler.enqueue("upload", handler="upload", max_attempts=1)
        ending = threading.Thread(target=lambda: scheduler.run_forever(grace=10))
        ending.start()
        begun.wait()
        scheduler.stop()
        may_end.set()
        ending.join()
        assert scheduler.get("upload").state is selene.State.SUCCEEDED


async def passes(clock: ToldClock, duration: float) -> None:
    await asyncio.to_thread(clock.advance, duration, handlers=False)


def test_v5_a_cancelled_run_forever_returns_when_its_handlers_have_cleaned_up() -> None:
    async def play() -> list[str]:
        clock = ToldClock()
        said: list[str] = []
        begun = asyncio.Event()
        with selene.Scheduler(clock=clock) as scheduler:

            @scheduler.handler("upload")
            async def upload(run: selene.Run) -> None:
                begun.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    said.append("cleans up")
                    for _ in range(10):
                        await asyncio.sleep(0)
                    said.append("has cleaned up")

            scheduler.enqueue("upload", handler="upload", max_attempts=1)
            running = asyncio.create_task(scheduler.run_forever_async(signals=False, grace=10))
            await begun.wait()
            running.cancel()
            for _ in range(10):
                await asyncio.sleep(0)
            await passes(clock, 8.9)
            assert not said
            assert not running.done()
            await passes(clock, 0.1)
            with contextlib.suppress(asyncio.CancelledError):
                await running
            assert running.cancelled()
            said.append("has ended")
            check_as_before(scheduler)
        return said

    assert asyncio.run(play()) == ["cleans up", "has cleaned up", "has ended"]


def test_v5_a_second_cancellation_ends_at_once() -> None:
    async def play() -> None:
        begun = asyncio.Event()
        with selene.Scheduler(clock=ToldClock()) as scheduler:

            @scheduler.handler("upload")
            async def upload(run: selene.Run) -> None:
                begun.set()
                await asyncio.Event().wait()

            scheduler.enqueue("upload", handler="upload", max_attempts=1)
            running = asyncio.create_task(scheduler.run_forever_async(signals=False, grace=3600))
            await begun.wait()
            running.cancel()
            for _ in range(10):
                await asyncio.sleep(0)
            assert not running.done()
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            check_as_before(scheduler)

    asyncio.run(play())


def test_v4_a_cancelled_cycle_fails_nothing() -> None:
    async def play() -> None:
        begun = asyncio.Event()
        with selene.Scheduler(clock=ToldClock()) as scheduler:

            @scheduler.handler("upload")
            async def upload(run: selene.Run) -> None:
                begun.set()
                await asyncio.Event().wait()

            scheduler.enqueue("upload", handler="upload", max_attempts=1)
            running = asyncio.create_task(scheduler.run_cycle_async())
            await begun.wait()
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            check_as_before(scheduler)

    asyncio.run(play())


def test_v6_what_nothing_asked_to_stop_has_failed() -> None:
    with selene.Scheduler() as scheduler:

        @scheduler.handler("upload")
        def upload(run: selene.Run) -> None:
            raise selene.Stopped

        scheduler.enqueue("upload", handler="upload", max_attempts=1)
        scheduler.run_cycle()
        task = scheduler.get("upload")
        assert task.state is selene.State.FAILED
        assert task.last_failure is not None
        assert "nothing had asked it to stop" in str(task.last_failure)
