"""Work that is of no use after its latest begin (W9)."""

from __future__ import annotations

from datetime import timedelta

import pytest

import pyselene as selene
from pyselene import Scheduler, Task
from pyselene.testing import VirtualClock

HOUR = timedelta(hours=1)


def test_what_has_not_begun_in_time_has_failed() -> None:
    clock = VirtualClock()
    heard: list[selene.Event] = []
    with Scheduler(clock=clock) as scheduler:
        scheduler.observe(heard.append)
        scheduler.register_handler("report", None)
        scheduler.enqueue("report", latest_begin=HOUR)
        info = scheduler.get("report")
        assert info.latest_begin == 3600
        assert scheduler.explain("report").latest_begin == info.registered_at + HOUR
        scheduler.pause("report")
        clock.advance(3600.001)
        info = scheduler.get("report")
        assert info.state is selene.State.FAILED
        assert info.stop_reason is selene.StopReason.TOO_LATE
        assert info.last_failure is not None
        assert "too late" in info.last_failure.message
        assert scheduler.ids(state="failed") == ["report"]
        assert scheduler.explain("report").latest_begin is None
        assert [event.id for event in heard if event.type is selene.EventType.COMPLETED] == ["report"]
        scheduler.retry("report")
        assert scheduler.explain("report").latest_begin == clock.now + HOUR


def test_what_can_be_tried_again_only_too_late_says_so() -> None:
    clock = VirtualClock()
    with Scheduler(clock=clock) as scheduler:

        def fails(run: selene.Run) -> None:
            raise ValueError("no route")

        scheduler.enqueue("a", handler=fails, latest_begin=20)
        scheduler.run_cycle(budget=30)
        info = scheduler.get("a")
        assert (info.state, info.stop_reason) == (selene.State.FAILED, selene.StopReason.TOO_LATE)
        # The failure is the attempt's; why there is no other is told where one asks why it failed.
        assert info.last_failure is not None
        assert "too late" not in info.last_failure.message
        for told in (str(info), str(scheduler.explain("a"))):
            assert "ValueError: no route (" in told
            assert told.count("; too late to try again by its latest begin") == 1
        # What was not begun at all says it by itself.
        scheduler.register_handler("b", None)
        scheduler.enqueue("b", latest_begin=20)
        clock.advance(21)
        assert str(scheduler.explain("b")).count("too late") == 1
        assert "it has ended: too late: it was not begun by its latest begin" in str(scheduler.explain("b"))
        # Of a failed task without a latest begin: why, as far as it is known.
        scheduler.enqueue("c", handler=fails, max_attempts=1)
        scheduler.enqueue("d", handler=lambda run: selene.Outcome.ABANDONED)
        scheduler.enqueue("e", handler=lambda run: None)
        scheduler.run_cycle(budget=30)
        assert "it has ended: ValueError: no route (" in str(scheduler.explain("c"))
        assert "it has ended: abandoned" in str(scheduler.explain("d"))
        assert str(scheduler.explain("e")).endswith("it has ended")


def test_what_is_near_its_latest_begin_goes_first() -> None:
    clock = VirtualClock()
    with Scheduler(clock=clock) as scheduler:
        for name in ("important", "urgent"):
            scheduler.register_handler(name, None)
        scheduler.register(Task("important", priority="very_high", schedule="standing"))
        scheduler.enqueue("urgent", priority="very_low", latest_begin=600)
        clock.advance(500)
        assert [run.id for run in scheduler.plan(budget=30).runs] == ["important", "urgent"]
        why = scheduler.explain("urgent")
        assert (why.rank, why.urgent) == (2, False)
        assert "goes first" not in str(why)
        clock.advance(50)
        assert [run.id for run in scheduler.plan(budget=30).runs] == ["urgent", "important"]
        why = scheduler.explain("urgent")
        assert (why.rank, why.urgent) == (1, True)
        assert "so it goes first" in str(why)


def test_only_once_tasks_have_one() -> None:
    with Scheduler(clock=VirtualClock()) as scheduler:
        for task in (Task("a", latest_begin=5, schedule="standing"), Task("a", every=60, latest_begin=5)):
            with pytest.raises(ValueError, match="once tasks only"):
                scheduler.register(task)
        with pytest.raises(ValueError, match="latest_begin"):
            scheduler.enqueue("a", delay=60, latest_begin=60)
        with pytest.raises(ValueError, match="latest_begin"):
            scheduler.enqueue("a", latest_begin=-1)


def test_what_is_no_latest_begin_is_refused_in_the_words_of_pyselene() -> None:
    with Scheduler() as scheduler:
        for delay, latest in ((10, 5), (0, -1), (0, timedelta(days=3654))):
            with pytest.raises(
                selene.InvalidArgument, match=r"latest_begin is .*; allowed: more than delay and at most"
            ):
                scheduler.enqueue("report", delay=delay, latest_begin=latest)
        with pytest.raises(selene.InvalidArgument, match=r"latest_begin: is for once tasks only \["):
            scheduler.register(Task("report", every=60, latest_begin=5))
