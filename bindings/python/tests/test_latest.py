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


def test_what_is_near_its_latest_begin_goes_first() -> None:
    clock = VirtualClock()
    with Scheduler(clock=clock) as scheduler:
        for name in ("important", "urgent"):
            scheduler.register_handler(name, None)
        scheduler.register(Task("important", priority="very_high"))
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
        for task in (Task("a", latest_begin=5), Task("a", every=60, latest_begin=5)):
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
