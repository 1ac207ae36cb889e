"""When a task is due next, as its host says it (W7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import pyselene as selene
from pyselene import Run, Scheduler, Task
from pyselene.testing import VirtualClock

AT = datetime(2027, 3, 28, 1, 30, tzinfo=UTC)


def test_a_task_is_due_when_its_host_says(tmp_path: Path) -> None:
    ran: list[datetime] = []
    nightly = Task("nightly", schedule="periodic", every=timedelta(hours=1), existing="update")
    clock = VirtualClock(datetime(2027, 3, 27, 12, tzinfo=UTC))
    path = tmp_path / "store"

    def work(run: Run) -> None:
        ran.append(run.started_at)
        run.set_next(AT + timedelta(days=len(ran)))

    with Scheduler(path, clock=clock) as scheduler:
        scheduler.register_handler("nightly", work)
        scheduler.register(nightly)
        scheduler.set_next("nightly", AT)
        assert scheduler.get("nightly").earliest_begin == AT
        scheduler.run_cycle()
        assert ran == []
    with Scheduler(path, clock=clock) as scheduler:
        scheduler.register_handler("nightly", work)
        scheduler.register(nightly)
        assert scheduler.get("nightly").earliest_begin == AT
        for day in range(3):
            clock.advance(AT + timedelta(days=day) - scheduler.now)
            scheduler.run_cycle()
        assert ran == [AT + timedelta(days=day) for day in range(3)]
        assert scheduler.get("nightly").earliest_begin == AT + timedelta(days=3)


def test_an_instant_that_makes_no_sense_is_refused() -> None:
    with Scheduler() as scheduler:
        with pytest.raises(selene.NotFound):
            scheduler.set_next("nobody", AT)
        scheduler.register(Task("a", schedule="standing"))
        with pytest.raises(ValueError, match="aware datetime"):
            scheduler.set_next("a", AT.replace(tzinfo=None))
        with pytest.raises(TypeError, match="must be a datetime"):
            scheduler.set_next("a", 5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="next"):
            scheduler.set_next("a", datetime(1969, 1, 1, tzinfo=UTC))
        with pytest.raises(ValueError, match="next"):
            scheduler.set_next("a", scheduler.now + timedelta(days=4000))
        scheduler.enqueue("b")
        scheduler.cancel("b")
        with pytest.raises(ValueError, match="only a live task"):
            scheduler.set_next("b", AT)
