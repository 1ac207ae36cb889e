"""Tasks that are paused, by id and by tag, and go on (W3)."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyselene as selene
from pyselene import EventType, ReasonCode, Run, Scheduler
from pyselene.testing import VirtualClock


def test_a_paused_task_waits_until_it_is_resumed(tmp_path: Path) -> None:
    ran: list[str] = []
    clock = VirtualClock()
    path = tmp_path / "store"

    def work(run: Run) -> None:
        ran.append(run.id)

    with Scheduler(path, clock=clock) as scheduler:
        scheduler.register_handler("work", work)
        for name in ("a", "b", "c"):
            scheduler.enqueue(name, handler="work", tags={"even"} if name == "b" else ())
        assert scheduler.pause("a") == 1
        assert scheduler.pause("a") == 0
        assert scheduler.pause(tag="even") == 1
        assert scheduler.get("a").paused
        assert not scheduler.get("c").paused
        assert [reason.code for reason in scheduler.explain("a").reasons] == [ReasonCode.PAUSED]
        assert "it is paused" in str(scheduler.explain("a"))
        scheduler.run_cycle()
        assert ran == ["c"]
    with Scheduler(path, clock=clock) as scheduler:
        scheduler.register_handler("work", work)
        events: list[tuple[EventType, str]] = []
        with scheduler.observe(lambda event: events.append((event.type, event.id))):
            assert scheduler.resume("a") == 1
            assert scheduler.resume(tag="even") == 1
        assert [event for event in events if event[0] is EventType.RESUMED] == [
            (EventType.RESUMED, "a"),
            (EventType.RESUMED, "b"),
        ]
        scheduler.run_cycle()
        assert sorted(ran) == ["a", "b", "c"]


def test_what_can_be_neither_paused_nor_resumed_is_refused() -> None:
    with Scheduler() as scheduler:
        with pytest.raises(selene.NotFound):
            scheduler.pause("nobody")
        with pytest.raises(selene.NotFound):
            scheduler.resume("nobody")
        assert scheduler.pause(tag="nobody's") == 0
        with pytest.raises(TypeError, match=r"pause\(\) takes an id, or tag="):
            scheduler.pause()
        with pytest.raises(TypeError, match=r"resume\(\) takes an id, or tag="):
            scheduler.resume("a", tag="b")
        # Without either it is the scheduler that goes on.
        scheduler.drain()
        assert scheduler.resume() == 0
