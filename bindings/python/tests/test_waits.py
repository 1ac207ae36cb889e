"""Where the time of a task went (W8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyselene as selene
from pyselene import ReasonCode
from pyselene.testing import VirtualClock
from test_cli import here

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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


def test_w8_conditions_and_groups_are_named() -> None:
    scheduler, clock = _world()
    with scheduler:
        scheduler.define_condition("vpn")
        scheduler.enqueue("a", handler="work", conditions=["vpn"], group="web")
        clock.advance(3)
        scheduler.set_condition("vpn", True)
        scheduler.pause(group="web")
        clock.advance(4)
        waits = scheduler.waits("a")
        assert waits.spent(ReasonCode.CONDITIONS, "vpn") == 3
        assert waits.spent(ReasonCode.CONDITIONS, "disk") == 0
        assert waits.spent(ReasonCode.GROUP_PAUSED, "web") == 4
        assert [change.about for change in waits.changes] == ["vpn", "web"]
        assert "its group is paused: web" in str(waits)


def test_w8_each_reason_has_a_sentence() -> None:
    from pyselene._explanation import SENTENCES

    assert set(SENTENCES) == set(ReasonCode)


def test_w8_the_command_line_tells_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with selene.Scheduler("tasks.db") as scheduler:
        scheduler.set_conditions(network=False, power=True)
        scheduler.register_handler("work", None)
        scheduler.enqueue("upload", handler="work", requires={"network"})
    told = here("why", "upload", "--store", "tasks.db").stdout
    assert "upload is enqueued; of the" in told
    assert "missing: network" in told
    assert "no process had the store open" in told
    assert "\u2588" in told
    found = json.loads(here("why", "upload", "--store", "tasks.db", "--json").stdout)
    assert sum(part["duration_ns"] for part in found["parts"]) == found["total_ns"]
    assert [change["reason"] for change in found["changes"]][:2] == ["constraints", "no_process"]
    assert found["preferred_ids"] == []
    assert 'no task "x" in the store' in here("why", "x", "--store", "tasks.db", code=2).stderr
