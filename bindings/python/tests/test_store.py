"""With a file: tasks are found again, and each trouble has its exception."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import pyselene as selene


def test_d1_tasks_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    with selene.Scheduler(path) as scheduler:
        scheduler.enqueue("a", input=b"x\0y", tags={"t"}, handler="h")
        scheduler.register(selene.Task("b", every=3600, kind="processing"))
        assert scheduler.path == str(path)
        info = scheduler.store()
        assert (info.relaxed, info.page_size > 0) == (False, True)
        scheduler.backup(tmp_path / "copy.db")
        with pytest.raises(selene.StoreCannotOpen):
            scheduler.backup(tmp_path / "copy.db")
    for name in ("tasks.db", "copy.db"):
        seen: list[bytes] = []
        with selene.Scheduler(os.fsencode(tmp_path / name), relaxed=True) as scheduler:
            assert scheduler.ids() == ["a", "b"]
            scheduler.register_handler("h", lambda run, seen=seen: seen.append(run.input))
            report = scheduler.run_cycle(20)
            assert [run.id for run in report.runs] == ["a"]
            assert report.stored
            assert scheduler.get("a").state is selene.State.SUCCEEDED
            assert scheduler.store().relaxed
        assert seen == [b"x\0y"]


def test_d4_each_trouble_has_its_exception_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    with selene.Scheduler(path), pytest.raises(selene.StoreLocked):
        selene.Scheduler(path)
    assert selene.check_store(path).tasks == 0
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(b"this is not a database, it is a text of some length" * 100)
    before = foreign.read_bytes()
    with pytest.raises(selene.StoreForeign):
        selene.Scheduler(foreign)
    with pytest.raises(selene.StoreForeign):
        selene.check_store(foreign)
    assert foreign.read_bytes() == before
    with pytest.raises(selene.StoreCannotOpen) as caught:
        selene.Scheduler(tmp_path)
    assert caught.value.status == 48
    assert str(caught.value).endswith("[STORE_CANNOT_OPEN]")
    assert issubclass(selene.StoreCannotOpen, OSError)
    with pytest.raises(ValueError, match="empty"):
        selene.Scheduler("")


def test_salvage_saves_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    with selene.Scheduler(path) as scheduler:
        scheduler.register_all([selene.Task(f"task{i}") for i in range(50)])
    found = selene.salvage_store(path, tmp_path / "fresh.db")
    assert (found.tasks, found.damaged) == (50, 0)
    with selene.Scheduler(tmp_path / "fresh.db") as scheduler:
        assert len(scheduler) == 50


def test_d2_a_batch_is_one_commit(tmp_path: Path) -> None:
    with selene.Scheduler(tmp_path / "tasks.db") as scheduler:
        before = scheduler.store().commits
        scheduler.register_all([selene.Task(f"task{i}") for i in range(500)])
        assert scheduler.store().commits == before + 1
