"""The freshness rule: what a scheduler of it learns, and tells (F1 to F11)."""

from __future__ import annotations

import pytest

from pyselene import EventType, InvalidArgument, Outcome, Run, Scheduler, Task
from pyselene.testing import VirtualClock


def test_is_chosen_at_open() -> None:
    with pytest.raises(InvalidArgument, match="flags"):
        Scheduler(freshness=True, observed_range=True)
    with Scheduler() as scheduler:
        scheduler.register(Task("a", schedule="standing"))
        assert scheduler.explain("a").pace is None


def test_a_source_without_news_is_asked_less_often() -> None:
    clock = VirtualClock()
    with Scheduler(clock=clock, freshness=True) as scheduler:

        def find(news: bool) -> Outcome:
            clock.advance(1)
            return Outcome.NEW_DATA if news else Outcome.NO_DATA

        scheduler.register_handler("news", lambda run: find(True))
        scheduler.register_handler("quiet", lambda run: find(False))
        for name in ("news", "quiet"):
            scheduler.register(Task(name, expected=1, schedule="standing"))
        scheduler.register(Task("steady", handler="quiet", expected=1, steady=True, schedule="standing"))
        for _ in range(8):
            scheduler.run_cycle(60)
            clock.advance(60)
        paces = {name: scheduler.explain(name).pace for name in ("news", "quiet", "steady")}
        news, quiet, steady = paces["news"], paces["quiet"], paces["steady"]
        assert news is not None
        assert quiet is not None
        assert steady is not None
        assert (news.runs, news.news) == (8, 8)
        assert (quiet.runs, quiet.news) == (8, 0)
        assert (steady.runs, steady.per_mille) == (0, news.per_mille)
        assert quiet.per_mille < news.per_mille / 2
        assert quiet.cost == 1
        why = scheduler.explain("quiet")
        assert why.turn() in str(why)
        clock.advance(7200)
        told = scheduler.explain("quiet").turn(clock.now_ns)
        assert "(2 h 1 min); takes 1 s, four of five runs at most 1 s; 0 of 8 runs found something new; " in told
        assert told.endswith("; 3rd of 3")
        assert scheduler.get("steady").steady
        assert not scheduler.get("quiet").steady


def test_an_explanation_says_how_many_failed_in_a_row() -> None:
    clock = VirtualClock()
    with Scheduler(clock=clock, freshness=True, minimum_backoff=0) as scheduler:
        scheduler.register_handler("a", lambda run: Outcome.FAILED)
        scheduler.register(Task("a", schedule="standing"))
        for failures in (1, 2):
            scheduler.run_cycle(60)
            clock.advance(60)
            assert scheduler.explain("a").attempts == failures
            assert f"; {failures} failed in a row; " in str(scheduler.explain("a"))


def test_events_and_reports_tell_the_pace() -> None:
    clock = VirtualClock()
    with Scheduler(clock=clock, freshness=True) as scheduler:

        def work(run: Run) -> Outcome:
            clock.advance(2)
            return Outcome.NO_DATA

        scheduler.register_handler("a", work)
        scheduler.register(Task("a", expected=1, schedule="standing"))
        scheduler.run_cycle(60)
        clock.advance(60)
        before = scheduler.explain("a").pace
        with scheduler.events() as stream:
            report = scheduler.run_cycle(60)
            events = {event.type: event.pace for event in stream.read()}
        after = scheduler.explain("a").pace
        assert before is not None
        assert after is not None
        assert report.runs[0].pace == before == events[EventType.STARTED]
        assert events[EventType.COMPLETED] == after
        assert events[EventType.CYCLE_ENDED] is None
        assert (after.runs, after.news, after.pace_class) == (2, 0, before.pace_class + 1)
        assert "score  pace  news    attempt" in str(report)
        assert "0 of 1" in str(report)
    with Scheduler(clock=clock) as scheduler:
        scheduler.register_handler("a", lambda run: Outcome.NEW_DATA)
        scheduler.register(Task("a", schedule="standing"))
        report = scheduler.run_cycle(60)
        assert report.runs[0].pace is None
        assert "pace" not in str(report)
