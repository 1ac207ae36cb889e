"""Where the time of a task went (W8)."""

from __future__ import annotations

import pyselene as selene
from pyselene import ReasonCode
from pyselene.testing import VirtualClock


def _world() -> tuple[selene.Scheduler, VirtualClock]:
    clock = VirtualClock()
    scheduler = selene.Scheduler(clock=clock)
    scheduler.set_conditions(network=True, power=True)
    scheduler.register_handler("work", None)
    return scheduler, clock


def test_w8_the_parts_add_up_and_name_what_was_missing() -> None:
    scheduler, clock = _world()
    with scheduler:
        scheduler.enqueue("a", handler="work", requires={"network"}, delay=10)
        clock.advance(10)
        scheduler.set_conditions(network=False, power=True)
        clock.advance(5)
        scheduler.set_conditions(network=True, power=True)
        clock.advance(2)
        waits = scheduler.waits("a")
        assert sum(part.duration_ns for part in waits.parts) == waits.total_ns == 17 * 10**9
        assert waits.spent(ReasonCode.NOT_DUE) == 10
        assert waits.spent(ReasonCode.CONSTRAINTS, selene.Constraint.NETWORK) == 5
        assert waits.spent(ReasonCode.CONSTRAINTS, selene.Constraint.EXTERNAL_POWER) == 0
        assert waits.spent(ReasonCode.NO_WINDOW) == 2
        assert [change.code for change in waits.changes] == [
            ReasonCode.NOT_DUE,
            ReasonCode.CONSTRAINTS,
            ReasonCode.NO_WINDOW,
        ]
        assert waits.changes[0].at == waits.since
        assert "missing: network" in str(waits)
        assert "58.8 %" in str(waits)


def test_w8_windows_that_preferred_others_are_counted_and_named() -> None:
    scheduler, clock = _world()
    with scheduler:
        scheduler.enqueue("low", handler="work", priority=1)
        scheduler.enqueue("high", handler="work", priority=5)
        clock.advance(1)
        with scheduler.begin(budget=60) as cycle:
            run = cycle.next()
            assert isinstance(run, selene.Run)
            assert run.id == "high"
            clock.advance(3)
            waits = scheduler.waits("low")
            assert waits.preferred == 1
            assert waits.preferred_ids == ("high",)
            assert waits.spent(ReasonCode.PREFERRED_OTHERS) == 3
            assert "1 runs went before it, the last of high" in str(waits)
            run.complete()


def test_w8_each_reason_has_a_sentence() -> None:
    from pyselene._explanation import SENTENCES

    assert set(SENTENCES) == set(ReasonCode)
