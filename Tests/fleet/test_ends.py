"""Ends that nobody plans: a disk without room under the database, a process that dies before its transaction commits (N14, N16)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from conftest import Fleet
from server import Server
from workers import Program, Worker, wait

TASKS = 300
#: What a disk without room says to all that writes.
REFUSES = """
create function has_no_room() returns trigger language plpgsql as
  $$ begin raise exception using errcode = '53100', message = 'no space left on device'; end $$;
create trigger no_room before insert or update or delete on slot execute function has_no_room();
create trigger no_room before insert on history execute function has_no_room();
create trigger no_room before update on worker execute function has_no_room();
"""


FILLS = """
insert into history (ended, seq, id, class, state, schedule, priority, stop, attempts, generation, run, registered, last_run,
  due, est)
select now_ns(), -i, 'x', 1, 4, 1, 3, 0, 1, 0, 0, 0, 0, 0, 0 from generate_series(1, %s) i
"""
ENDED = "select count(*) from history where id <> 'x'"


def what_is_decided_once_there_is_room(
    fleet: Fleet, worker: Worker, fill: Callable[[], object], free: Callable[[], object]
) -> None:
    """Nodes keep decisions, try again, and take nothing."""
    fleet.rows("select count(register('t' || i, handler => 'send')) from generate_series(1, %s) i", TASKS)
    wait(lambda: len(worker.words("end")) > 8)
    fill()
    wait(lambda: worker.words("trouble", "begins"))
    assert "53100" in " ".join(worker.words("trouble", "begins")[0])
    # What it had claimed it runs; nothing comes after that.
    wait(lambda: len(worker.words("end")) == len(worker.words("begin")))
    time.sleep(1.5)
    begun, decided = len(worker.words("begin")), fleet.one(ENDED)
    assert begun < TASKS
    assert decided < len(worker.words("end"))
    time.sleep(1)
    assert len(worker.words("begin")) == begun
    assert fleet.one(ENDED) == decided
    free()
    wait(lambda: fleet.one(ENDED) == TASKS)
    wait(lambda: worker.words("trouble", "ends"))
    assert fleet.rows("select distinct state, attempts from ended") == [("succeeded", 1)]
    assert max(Counter(said[1] for said in worker.words("begin")).values()) == 1
    assert fleet.one("select max(worker) from worker") == 1


@pytest.mark.parametrize("python", [False, True])
def test_n14_decisions_are_kept_while_the_database_can_write_nothing(
    fresh: Fleet, start: Callable[..., Worker], python: bool
) -> None:
    with start(dsn=fresh.server.dsn(fresh.name), python=python, lease=60_000, ms=40, lanes=2) as worker:
        what_is_decided_once_there_is_room(
            fresh,
            worker,
            lambda: fresh.rows(REFUSES),
            lambda: fresh.rows("drop function has_no_room() cascade"),
        )


@contextmanager
def small_disk(server: Server, megabytes: int) -> Iterator[Path]:
    """A file system of so little room that the server may use."""
    with tempfile.TemporaryDirectory(prefix="disk.") as folder:
        path = Path(folder)
        path.chmod(0o755)
        disk = path / "disk"
        disk.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(disk)], capture_output=True, text=True
        )
        if done.returncode:
            pytest.skip(f"the machine refuses mount: {done.stderr.strip()}")
        try:
            tables = disk / "tables"
            tables.mkdir()
            if server.user:
                os.chown(tables, server.user["user"], server.user["group"])
            yield tables
        finally:
            subprocess.run(["umount", "-l", str(disk)], check=True)


def test_n14_a_disk_that_is_full_loses_no_decision(programs: dict[str, Path]) -> None:
    server = Server()
    try:
        with small_disk(server, 40) as disk:
            name = server.database()
            with server.connect("postgres") as admin:
                admin.execute(f"create tablespace small location '{disk}'".encode())
                admin.execute(f"alter database {name} set tablespace small".encode())
            server.kept[False] = name
            fleet = Fleet(server)
            ballast = disk.parent / "ballast"

            def fill() -> None:
                with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
                    while True:
                        file.write(bytes(4096))
                # What pages have room for would be written all the same.
                for rows in (1000, 100, 10, 1):
                    with pytest.raises(psycopg.errors.DiskFull):
                        while True:
                            fleet.rows(FILLS, rows)

            try:
                with Worker(programs["worker"], server.dsn(fleet.name), lease=60_000, ms=40, lanes=2) as worker:
                    what_is_decided_once_there_is_room(fleet, worker, fill, ballast.unlink)
            finally:
                fleet.close()
                with server.connect("postgres") as admin:
                    admin.execute(f"drop database {name} with (force)".encode())
    finally:
        server.remove()


def test_n16_what_dies_before_the_commit_of_its_transaction_has_decided_nothing(fleet: Fleet) -> None:
    fleet.rows("drop table if exists public.effect; create table public.effect (run bigint, attempt int)")
    fleet.rows("select register('a', handler => 'once')")
    program = [sys.executable, Path(__file__).with_name("dying.py"), fleet.server.dsn(fleet.name)]
    dead = Program(*program, "dies")
    assert dead.await_end() == -signal.SIGKILL
    # Its transaction goes with its connection.
    wait(lambda: fleet.rows("select 1 from slot where state = 4 for update skip locked"))
    assert fleet.one("select state from get('a')") == "running"
    assert fleet.one("select count(*) from public.effect") == 0
    other = Program(*program, "lives")
    wait(lambda: fleet.one("select stop from slot") == 7)
    # Nobody knows that it had begun, so that no attempt counts (N58), and without a pause, the first time (V8).
    wait(lambda: fleet.one("select count(*) from history") == 1)
    other.close_input()
    assert other.await_end() == 0, other.errors
    assert fleet.rows("select attempt from public.effect") == [(1,)]
    assert fleet.rows("select state, attempts from ended") == [("succeeded", 1)]
    assert fleet.one("select result('a')") == b"done"
