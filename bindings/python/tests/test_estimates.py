"""What a task is expected to take that does not say it (R8)."""

from __future__ import annotations

from pathlib import Path

import pyselene as selene
from pyselene.testing import VirtualClock


def test_a_once_task_that_is_enqueued_again_is_planned_by_what_it_took(tmp_path: Path) -> None:
    clock = VirtualClock()
    took: list[float] = []

    def opened() -> selene.Scheduler:
        scheduler = selene.Scheduler(path=tmp_path / "store", clock=clock)

        @scheduler.handler("report")
        def report(run: selene.Run) -> None:
            took.append(2.0 * (len(took) + 1))
            clock.advance(took[-1])

        return scheduler

    scheduler = opened()
    for expected in (5.0, 2.0, 3.0):
        scheduler.enqueue("monthly", handler="report")
        info = scheduler.get("monthly")
        assert info.expected is None
        assert info.estimate == scheduler.explain("monthly").estimate == expected
        assert scheduler.run_cycle(budget=60).runs[0].estimate == expected
    scheduler.close()
    with opened() as scheduler:
        scheduler.enqueue("another", handler="report")
        assert scheduler.get("another").estimate == 4.0
        scheduler.register(selene.Task("said", "report", expected=1, kind="processing", schedule="standing"))
        assert scheduler.get("said").estimate == scheduler.get("said").expected == 1.0
        scheduler.register(selene.Task("none", "report", response_window=0, kind="processing", schedule="standing"))
        assert scheduler.get("none").estimate == 5.0


def test_what_is_expected_is_not_said_by_default() -> None:
    assert selene.Task("a", schedule="standing").expected is None
    assert selene.Task("a", expected=None, schedule="standing") == selene.Task("a", schedule="standing")
