"""With a file: tasks are found again, and each trouble has its exception."""

from __future__ import annotations

import os
import subprocess
import sys
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

            def see(run: selene.Run, seen: list[bytes] = seen) -> None:
                seen.append(run.input)

            scheduler.register_handler("h", see)
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


def test_d4_who_is_refused_is_told_which_process_has_the_store(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    code = "import sys, pyselene; s = pyselene.Scheduler(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "open\n"
        with pytest.raises(selene.StoreLocked, match=rf"open in process {owner.pid} \(\S+\)"):
            selene.Scheduler(path)
        owner.communicate()
    selene.Scheduler(path).close()


def test_d5_a_host_that_reads_its_own_store_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    code = "import sys, pyselene; pyselene.Scheduler(sys.argv[1])"
    with selene.Scheduler(path, max_pending_refresh=5) as scheduler:
        scheduler.enqueue("a")
        assert path.read_bytes()
        other = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
        assert other.returncode == 1
        assert f"open in process {os.getpid()} (" in other.stderr
        scheduler.enqueue("b")
    assert selene.check_store(path).tasks == 2


def test_d6_a_store_that_is_removed_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    scheduler = selene.Scheduler(path, max_pending_refresh=5)
    scheduler.enqueue("a")
    path.unlink()
    with pytest.raises(selene.StoreMoved, match="removed or replaced"):
        scheduler.enqueue("b")
    assert scheduler.ids() == ["a"]
    scheduler.backup(tmp_path / "saved.db")
    with pytest.raises(selene.StoreMoved):
        scheduler.close()
    assert selene.check_store(tmp_path / "saved.db").tasks == 1


def test_salvage_saves_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    with selene.Scheduler(path) as scheduler:
        scheduler.register_all([selene.Task(f"task{i}", schedule="standing") for i in range(50)])
    found = selene.salvage_store(path, tmp_path / "fresh.db")
    assert (found.tasks, found.damaged) == (50, 0)
    with selene.Scheduler(tmp_path / "fresh.db") as scheduler:
        assert len(scheduler) == 50


def test_d2_a_batch_is_one_commit(tmp_path: Path) -> None:
    with selene.Scheduler(tmp_path / "tasks.db") as scheduler:
        before = scheduler.store().commits
        scheduler.register_all([selene.Task(f"task{i}", schedule="standing") for i in range(500)])
        assert scheduler.store().commits == before + 1
