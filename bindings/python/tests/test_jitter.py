"""Delays and periods that become longer by chance (W11)."""

from __future__ import annotations

from datetime import timedelta

import pytest

import pyselene as selene
from pyselene import Scheduler, Task
from pyselene.testing import VirtualClock

HOUR = timedelta(hours=1)


def test_a_fleet_does_not_wake_at_once() -> None:
    begins = set()
    for seed in range(1, 21):
        with Scheduler(clock=VirtualClock(), seed=seed) as scheduler:
            scheduler.register(Task("sync", every=3600, delay=3600, jitter=0.1))
            info = scheduler.get("sync")
            assert info.jitter == 0.1
            assert HOUR <= info.earliest_begin - info.registered_at <= 1.1 * HOUR
            assert info.anchor - info.registered_at == HOUR
            begins.add(info.earliest_begin)
    assert len(begins) == 20


def test_each_period_is_drawn_anew() -> None:
    clock = VirtualClock()
    with Scheduler(clock=clock, seed=1) as scheduler:
        scheduler.register(Task("sync", every=3600, jitter=0.5))
        scheduler.register_handler("sync", None)
        waits = set()
        for _ in range(10):
            with scheduler.begin(budget=30) as cycle:
                for run in cycle:
                    run.complete()
            wait = scheduler.get("sync").earliest_begin - clock.now
            assert HOUR <= wait <= 1.5 * HOUR
            waits.add(wait)
            clock.set(clock.now + wait)
        assert len(waits) == 10


def test_work_that_is_to_be_done_once_has_it_too() -> None:
    with Scheduler(clock=VirtualClock(), seed=1) as scheduler:
        scheduler.enqueue("upload", delay=60, jitter=1)
        info = scheduler.get("upload")
        assert timedelta(seconds=60) < info.earliest_begin - info.registered_at <= timedelta(seconds=120)


@pytest.mark.parametrize("jitter", [-0.1, 1.001, 100, float("nan")])
def test_what_is_no_part_of_one_is_refused(jitter: float) -> None:
    with pytest.raises(ValueError, match=r"jitter is .*; allowed: 0 … 1"):
        selene.Task("a", jitter=jitter, schedule="standing")


def test_a_text_is_refused() -> None:
    with pytest.raises(TypeError, match="jitter must be a number"):
        selene.Task("a", jitter="10%", schedule="standing")  # type: ignore[arg-type]
