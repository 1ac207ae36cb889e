"""The freshness rule: what a scheduler of it learns, and tells (F1 to F11)."""

from __future__ import annotations

import pytest

from pyselene import InvalidArgument, Outcome, Scheduler, Task
from pyselene.testing import VirtualClock


def test_is_chosen_at_open() -> None:
    with pytest.raises(InvalidArgument, match="flags"):
        Scheduler(freshness=True, observed_range=True)
    with Scheduler() as scheduler:
        scheduler.register(Task("a"))
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
            scheduler.register(Task(name, expected=1))
        scheduler.register(Task("steady", handler="quiet", expected=1, steady=True))
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
        assert "0 of 8 runs found something new" in str(scheduler.explain("quiet"))
        assert scheduler.get("steady").steady
        assert not scheduler.get("quiet").steady
