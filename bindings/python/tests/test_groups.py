"""Groups: tasks that share a limit of runs at a time, and are paused together (W3)."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import pyselene as selene
from pyselene.testing import ToldClock, VirtualClock
from told import WAIT


def opened(path: Path | None = None) -> selene.Scheduler:
    return selene.Scheduler(path, clock=VirtualClock())


def test_w3_a_limit_keeps_runs_apart_and_others_pass() -> None:
    scheduler = opened()
    for name in ("a", "b", "c"):
        scheduler.enqueue(name, group="uploads" if name != "c" else None, handler="work")
    scheduler.register_handler("work", None)
    assert scheduler.group("uploads", limit=1) == selene.GroupInfo("uploads", 1, False, 0, 2)
    assert scheduler.get("a").group == "uploads"
    assert scheduler.get("c").group is None
    with scheduler.begin(budget=30, lanes=3) as cycle:
        first = cycle.next()
        second = cycle.next()
        assert isinstance(first, selene.Run)
        assert isinstance(second, selene.Run)
        assert [first.id, second.id] == ["a", "c"]
        why = scheduler.explain("b")
        assert [reason.code for reason in why.reasons] == [selene.ReasonCode.GROUP_FULL]
        assert why.reasons[0].group == "uploads"
        assert "uploads" in str(why)
        assert not isinstance(cycle.next(), selene.Run)
        first.complete()
        third = cycle.next()
        assert isinstance(third, selene.Run)
        assert third.id == "b"
        second.complete()
        third.complete()
    assert scheduler.group("uploads").running == 0
    scheduler.close()


def test_w3_threads_keep_to_the_limit() -> None:
    with selene.Scheduler(clock=ToldClock()) as scheduler:
        inside, most, lock = 0, 0, threading.Lock()
        meet = threading.Barrier(2, timeout=WAIT)

        @scheduler.handler
        def work(run: selene.Run) -> None:
            nonlocal inside, most
            with lock:
                inside += 1
                most = max(most, inside)
            meet.wait()
            with lock:
                inside -= 1

        scheduler.group("uploads", limit=2)
        for number in range(12):
            scheduler.enqueue(f"task {number}", handler="work", group="uploads", expected=0)
        report = scheduler.run_cycle(budget=30, lanes=6)
        assert [run.outcome for run in report.runs] == [selene.Outcome.NEW_DATA] * 12
        assert most == 2


def test_w3_a_group_is_paused_as_such() -> None:
    scheduler = opened()
    heard: list[selene.Event] = []
    with scheduler.observe(heard.append):
        scheduler.enqueue("a", group="uploads")
        assert scheduler.pause(group="uploads") == 1
        scheduler.enqueue("b", group="uploads")
        assert scheduler.group("uploads") == selene.GroupInfo("uploads", None, True, 0, 2)
        assert not scheduler.get("a").paused
        codes = [reason.code for reason in scheduler.explain("b").reasons]
        assert selene.ReasonCode.GROUP_PAUSED in codes
        assert scheduler.next_wakeup() is None
        assert scheduler.resume(group="uploads") == 2
    told = [(str(event.type), event.id, event.message) for event in heard if str(event.type) != "registered"]
    assert told == [("paused", "", "uploads"), ("resumed", "", "uploads")]
    with pytest.raises(TypeError, match="group="):
        scheduler.pause("a", group="uploads")
    scheduler.close()


def test_w3_a_store_keeps_limits_and_pauses(tmp_path: Path) -> None:
    with selene.Scheduler(tmp_path / "store") as scheduler:
        scheduler.group("uploads", limit=3)
        scheduler.pause(group="downloads")

        @scheduler.task(group="uploads", schedule="standing")
        def upload(run: selene.Run) -> None: ...

    with selene.Scheduler(tmp_path / "store") as scheduler:
        names = [(group.name, group.limit, group.paused, group.waiting) for group in scheduler.groups()]
        assert names == [("downloads", None, True, 0), ("uploads", 3, False, 1)]
        assert str(scheduler.group("uploads")) == "uploads: at most 3 at a time, 0 running, 1 waiting"
        scheduler.resume(group="downloads")
        assert scheduler.group("nothing", limit=None).limit is None
        with pytest.raises(selene.NotFound):
            scheduler.group("downloads")


def test_w3_through_a_connection(tmp_path: Path) -> None:
    with selene.Scheduler(tmp_path / "store") as owner, owner.serve(), selene.connect(tmp_path / "store") as other:
        other.group("uploads", limit=2)
        other.enqueue("a", group="uploads")
        other.pause(group="uploads")
        assert owner.group("uploads") == selene.GroupInfo("uploads", 2, True, 0, 1) == other.group("uploads")
        assert [group.name for group in other.groups()] == ["uploads"]
        assert other.get("a").group == "uploads"
        assert other.explain("a").reasons[-1].group in ("uploads", None)


@pytest.mark.parametrize(("limit", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_w3_a_limit_is_a_number_of_runs(limit: int, error: type[Exception]) -> None:
    with selene.Scheduler() as scheduler, pytest.raises(error):
        scheduler.group("uploads", limit=limit)


def test_w3_a_name_is_one_as_an_id_is() -> None:
    with selene.Scheduler() as scheduler:
        for name in ("", "x" * 256, "a\0b"):
            with pytest.raises(ValueError):
                scheduler.group(name, limit=1)
        with pytest.raises(ValueError):
            scheduler.enqueue("a", group="x" * 256)
