"""The pytest plugin."""

from __future__ import annotations

from datetime import timedelta
from importlib.metadata import entry_points
from itertools import pairwise

import pyselene as selene
from pyselene.testing import VirtualClock

# An installed pyselene brings it by its entry point; twice would be an error.
if not any(point.name == "pyselene" for point in entry_points(group="pytest11")):
    from pyselene._pytest import selene_clock, selene_scheduler  # noqa: F401


def test_a_failure_waits(selene_scheduler: selene.Scheduler, selene_clock: VirtualClock) -> None:
    tries = []

    @selene_scheduler.task(every=timedelta(hours=1), backoff=selene.Linear(60))
    def flaky(run: selene.Run) -> None:
        tries.append(selene_clock.now)
        if run.attempt < 3:
            raise selene.Retry

    for _ in range(10):
        selene_scheduler.run_cycle()
        selene_clock.advance(60)
    assert [(b - a).total_seconds() for a, b in pairwise(tries)] == [60, 120]
