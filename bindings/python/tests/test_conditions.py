"""What tasks wait for: constraints, by the governor's signals (W1), and conditions that a host names (W2)."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyselene as selene
from pyselene.testing import VirtualClock


def opened(path: Path | None = None) -> selene.Scheduler:
    scheduler = selene.Scheduler(path, clock=VirtualClock())
    scheduler.register_handler("work", None)
    return scheduler


def test_w2_a_task_waits_for_all_and_says_for_which() -> None:
    scheduler = opened()
    scheduler.define_condition("signed-in", True)
    scheduler.enqueue("a", handler="work", conditions=["vpn", "signed-in"])
    assert scheduler.get("a").conditions == ("signed-in", "vpn")
    assert scheduler.conditions().named == {"signed-in": True, "vpn": None}
    why = scheduler.explain("a")
    assert [(reason.code, reason.conditions) for reason in why.reasons] == [(selene.ReasonCode.CONDITIONS, ("vpn",))]
    assert "conditions of the host are not satisfied: vpn" in str(why)
    with pytest.raises(selene.NotFound):
        scheduler.set_condition("vpn", True)
    scheduler.define_condition("vpn")
    assert scheduler.conditions().named["vpn"] is False
    assert scheduler.next_wakeup() is None
    scheduler.set_condition("vpn", True)
    assert scheduler.explain("a").runnable
    with scheduler.begin(budget=30) as cycle:
        run = cycle.next()
        assert isinstance(run, selene.Run)
        scheduler.undefine_condition("vpn")
        assert run.stopping
    assert scheduler.get("a").stop_reason is selene.StopReason.CONSTRAINT_LOST
    scheduler.close()


def test_w2_events_tell_of_a_condition() -> None:
    scheduler = opened()
    heard: list[selene.Event] = []
    with scheduler.observe(heard.append):
        scheduler.define_condition("vpn", True)
        scheduler.set_condition("vpn", True)
        scheduler.set_condition("vpn", False)
    assert [(str(event.type), event.id, event.message) for event in heard] == [
        ("condition_met", "", "vpn"),
        ("condition_lost", "", "vpn"),
    ]
    scheduler.close()


def test_w2_a_store_keeps_names_and_not_values(tmp_path: Path) -> None:
    with selene.Scheduler(tmp_path / "store") as scheduler:
        scheduler.define_condition("disk-mounted", True)

        @scheduler.task(conditions="disk-mounted", schedule="standing")
        def copy(run: selene.Run) -> None: ...

    with selene.Scheduler(tmp_path / "store") as scheduler:
        assert scheduler.conditions().named == {"disk-mounted": False}
        assert scheduler.get("copy").conditions == ("disk-mounted",)


def test_w2_through_a_connection(tmp_path: Path) -> None:
    with selene.Scheduler(tmp_path / "store") as owner, owner.serve(), selene.connect(tmp_path / "store") as other:
        other.define_condition("vpn")
        other.enqueue("a", conditions=["vpn", "signed-in"])
        assert owner.get("a").conditions == other.get("a").conditions == ("signed-in", "vpn")
        other.set_condition("vpn", True)
        assert owner.conditions() == other.conditions()
        assert owner.conditions().named == {"signed-in": None, "vpn": True}
        found = [reason.conditions for reason in other.explain("a").reasons if reason.conditions]
        assert found == [("signed-in",)]
        other.undefine_condition("vpn")
        assert owner.conditions().named == {"signed-in": None, "vpn": None}


def test_w2_there_are_at_most_32() -> None:
    with selene.Scheduler() as scheduler:
        for number in range(32):
            scheduler.define_condition(f"condition {number}")
        with pytest.raises(selene.Exhausted, match="33rd"):
            scheduler.enqueue("a", conditions="one more")
        for name in ("", "x" * 256, "a\0b"):
            with pytest.raises(ValueError):
                scheduler.define_condition(name)
        with pytest.raises(TypeError):
            scheduler.set_condition("condition 1", 1)  # type: ignore[arg-type]


def test_w1_constraints_look_at_signals() -> None:
    scheduler = opened()
    scheduler.enqueue("a", handler="work", requires={"unmetered", "idle", "not_roaming"})
    why = scheduler.explain("a")
    assert why.runnable
    assert why.unknown == selene.Constraint.UNMETERED | selene.Constraint.IDLE | selene.Constraint.NOT_ROAMING
    assert "not known, so taken as satisfied: unmetered, idle, not_roaming" in str(why)
    scheduler.signals.set("user_active", 1, valid_for=60)
    scheduler.signals.set(selene.Signal.ROAMING, 0)
    why = scheduler.explain("a")
    assert [(reason.code, reason.constraints) for reason in why.reasons] == [
        (selene.ReasonCode.CONSTRAINTS, selene.Constraint.IDLE)
    ]
    assert why.unknown == selene.Constraint.UNMETERED
    assert why.may_run_at == scheduler.next_wakeup()
    with scheduler.begin(budget=600) as cycle:
        assert cycle.next() is None
    scheduler.close()


def test_w1_conditions_are_set_by_name_and_given_back() -> None:
    scheduler = opened()
    for constraint in selene.Constraint:
        name = "power" if constraint is selene.Constraint.EXTERNAL_POWER else str(constraint)
        scheduler.set_conditions(**{name: False})
        assert constraint not in scheduler.conditions().satisfied
        assert scheduler.conditions().host == constraint
        scheduler.set_conditions(**{name: True})
        assert all(one in scheduler.conditions().satisfied for one in selene.Constraint)
    scheduler.set_conditions()
    assert scheduler.conditions().host == selene.Constraint(0)
    scheduler.close()
