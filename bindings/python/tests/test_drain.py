"""Draining: nothing more begins, and what runs may end."""

from __future__ import annotations

import threading

import pytest

import pyselene as selene
from pyselene.testing import ToldClock
from told import WAIT


def test_drain_waits_for_what_runs_and_begins_nothing() -> None:
    gate, began, ran = threading.Event(), threading.Event(), threading.Event()
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:

        @scheduler.handler
        def slow(run: selene.Run) -> None:
            began.set()
            assert gate.wait(WAIT)

        @scheduler.handler
        def other(run: selene.Run) -> None:
            ran.set()

        scheduler.enqueue("slow")
        with scheduler.driver(refresh_lanes=2):
            assert began.wait(WAIT)
            assert not scheduler.drain()
            scheduler.enqueue("other")
            assert not scheduler.drain(0.3)  # either clock ends its grace
            clock.advance(10, handlers=False)
            assert not ran.is_set()
            (reason,) = (reason.code for reason in scheduler.explain("other").reasons)
            assert reason is selene.ReasonCode.DRAINED
            assert scheduler.next_wakeup() is None
            gate.set()
            assert scheduler.drain(WAIT)
            assert scheduler.get("slow").state is selene.State.SUCCEEDED
            assert not ran.is_set()
            with pytest.raises(selene.Unavailable):
                scheduler.run_cycle(budget=1)
            scheduler.resume()
            assert ran.wait(WAIT)


def test_drain_inside_a_handler() -> None:
    found: list[object] = []
    with selene.Scheduler() as scheduler:

        @scheduler.task("a", schedule="standing")
        def a(run: selene.Run) -> None:
            found.append(scheduler.drain())
            try:
                scheduler.drain(1)
            except selene.Reentrant as error:
                found.append(error)

        scheduler.run_cycle(budget=60)
        assert found[0] is False
        assert isinstance(found[1], selene.Reentrant)
        assert scheduler.drain()
