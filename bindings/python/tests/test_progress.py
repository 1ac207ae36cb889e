"""Runs that tell how far they have come, and those that tell nothing for too long (W6)."""

from __future__ import annotations

import asyncio
import threading

import pytest

import pyselene as selene
from pyselene.testing import VirtualClock


def test_what_a_run_tells_of_its_progress_is_shown_until_it_is_over() -> None:
    clock = VirtualClock()
    seen: list[selene.Progress | None] = []
    events: list[selene.Event] = []
    with selene.Scheduler(clock=clock) as scheduler:
        scheduler.observe(events.append)

        @scheduler.task
        def pages(run: selene.Run) -> None:
            seen.append(scheduler.get("pages").progress)
            run.progress(3, 10, "pages")
            seen.append(scheduler.get("pages").progress)
            clock.advance(0.1)
            run.progress(4)
            clock.advance(0.1)
            run.progress(5, text="☾" * 1000)
            seen.append(scheduler.get("pages").progress)

        scheduler.run_cycle()
        none, first, last = seen
        assert none is None
        assert first is not None
        assert last is not None
        assert (first.done, first.total, first.text, first.share, str(first)) == (3, 10, "pages", 0.3, "3/10 pages")
        assert (last.done, last.total, last.text, last.share) == (5, 0, "☾" * 341, None)
        assert last.at_ns - first.at_ns == 200_000_000
        assert scheduler.get("pages").progress is None
    told = [event for event in events if event.type is selene.EventType.PROGRESS]
    assert [event.progress and event.progress.done for event in told] == [3, 5]
    assert (told[0].id, told[0].message, str(told[0]).endswith("progress pages 3/10 pages")) == ("pages", "", True)
    assert events.index(told[1]) < [event.type for event in events].index(selene.EventType.COMPLETED)


def test_numbers_and_texts_are_judged() -> None:
    with selene.Scheduler(clock=VirtualClock()) as scheduler:

        @scheduler.task
        def pages(run: selene.Run) -> None:
            for bad in (-1, 1 << 63):
                with pytest.raises(ValueError, match="done is"):
                    run.progress(bad)
                with pytest.raises(ValueError, match="total is"):
                    run.progress(0, bad)
            with pytest.raises(TypeError, match="done must be an int, not float"):
                run.progress(0.5)  # type: ignore[arg-type]
            run.progress((1 << 63) - 1, 1)
            run.complete()
            run.progress(1, 1)  # it is over: nothing happens

        (run,) = scheduler.run_cycle().runs
        assert run.outcome is selene.Outcome.NEW_DATA
        with pytest.raises(selene.InvalidArgument, match="stall_limit"):
            scheduler.register(selene.Task("a", stall_limit=90_000))


def test_a_run_that_makes_no_progress_is_asked_to_stop() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock, stop_grace=5) as scheduler:

        @scheduler.task(stall_limit=10, max_attempts=1, schedule="once")
        def slow(run: selene.Run) -> None:
            for _ in range(3):
                assert not run.stopping.wait(9)
                run.progress(0)
            assert run.remaining == 10
            assert run.stopping.wait(60)
            assert run.stopping.reason is selene.StopReason.STALLED
            clock.advance(5.1)
            run.progress(1)

        (run,) = scheduler.run_cycle(budget=600).runs
        assert (run.outcome, run.stop_reason, run.response_time) == (
            selene.Outcome.EXPIRED,
            selene.StopReason.STALLED,
            42.0,
        )
        info = scheduler.get("slow")
        assert (info.state, info.stall_limit, str(info.last_failure)) == (selene.State.FAILED, 10.0, "made no progress")


def test_behind_a_handler_that_makes_no_progress_the_next_task_runs() -> None:
    """With one lane: the thread is left behind, and another takes its place long before the window ends."""
    gate, ran = threading.Event(), threading.Event()
    with selene.Scheduler(stop_grace=0.05) as scheduler:

        @scheduler.task(priority="very_high", stall_limit=0.1)
        def stuck(run: selene.Run) -> None:
            gate.wait(60)

        @scheduler.task(priority="low")
        def behind(run: selene.Run) -> None:
            ran.set()

        window = threading.Thread(target=scheduler.run_cycle, kwargs={"budget": 120})
        window.start()
        assert ran.wait(60)
        gate.set()
        window.join()


def test_a_coroutine_may_tell_its_progress() -> None:
    async def main() -> None:
        scheduler = selene.Scheduler()
        stream = scheduler.events()

        @scheduler.task
        async def pages(run: selene.Run) -> None:
            run.progress(1, 2)
            async for event in stream:
                if event.progress is not None:
                    return

        (run,) = (await scheduler.run_cycle_async(budget=120)).runs
        assert run.outcome is selene.Outcome.NEW_DATA
        await scheduler.close_async()

    asyncio.run(main())
