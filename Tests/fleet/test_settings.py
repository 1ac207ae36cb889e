"""Whatever roles, databases and dsns have set, and whatever processes do: pyselene.fleet on a real server."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

import psycopg
import pyselene
import pytest
from pyselene.fleet import Fleet, FleetDraft, WorkerState

import workers
from conftest import Fleet as Looked
from cutter import Cutter
from server import Server

PATIENCE = 60
wait = functools.partial(workers.wait, seconds=PATIENCE)
SETTINGS = (
    "intervalstyle=iso_8601",
    "datestyle=SQL,DMY",
    "timezone=Asia/Kathmandu",
    "standard_conforming_strings=off",
    "client_encoding=LATIN1",
    "bytea_output=escape",
    "extra_float_digits=-15",
    "search_path=pg_catalog",
    "default_transaction_isolation=serializable",
)


@contextmanager
def scheduling(lanes: int = 4, budget: float = 30) -> Iterator[pyselene.Scheduler]:
    """A scheduler in memory, whose windows are open."""
    one = pyselene.Scheduler(stop_grace=60)
    thread = threading.Thread(target=one.run_forever, kwargs={"lanes": lanes, "budget": budget})
    thread.start()
    try:
        yield one
    finally:
        one.close(10)
        thread.join(PATIENCE)


def plays(own: Fleet, looked: Callable[[str], list[tuple[object, ...]]]) -> None:
    """Everything that a program does, with texts that not every encoding has."""
    ids = ["déjà vu", "数", "\U0001f600 'a\\b\"%s", "x" * 255, "tab\tline\nend"]
    for name in ids:
        assert (
            own.enqueue(name, handler="h", input=bytes(range(256)), expected=3661.5, tags={name})
            is pyselene.Disposition.ADDED
        )
    own.enqueue("later", handler="h", delay=3600)
    assert own.get(ids[0]).estimate == timedelta(seconds=3661.5)
    assert abs(own.get("later").earliest_begin - datetime.now(UTC) - timedelta(hours=1)) < timedelta(minutes=10)
    assert {task.id for task in own.list()} == {*ids, "later"}
    assert own.explain("later")[0].until
    seen: dict[str, bytes] = {}
    with scheduling() as scheduler:

        @scheduler.handler("h")
        def handle(run: pyselene.Run) -> bytes:
            seen[run.id] = run.input
            if run.id == ids[1] and run.attempt == 1:
                raise ValueError("数" * 2000)
            return run.id.encode() if run.id != ids[0] else b""

        with own.worker(scheduler, poll=0.05, name="wörker 数"):
            wait(lambda: own.get(ids[1]).failure)
            assert own.cancel(ids[1]) == 1
            wait(lambda: all(own.get(name).ended for name in ids))
    assert seen == dict.fromkeys(ids, bytes(range(256)))
    assert [own.result(name) for name in ids] == [None, None, *(name.encode() for name in ids[2:])]
    assert str(own.get(ids[1]).failure).startswith("ValueError: 数数")
    assert looked("select count(*) from selene.worker") == [(0,)]


def test_n29_settings_of_roles_and_connections_change_nothing(fleet: Looked) -> None:
    options = " ".join(f"-c {setting}" for setting in SETTINGS)
    with Fleet(fleet.server.dsn(fleet.name) + f" options='{options}'") as own:
        plays(own, fleet.rows)


def test_n29_a_database_without_an_encoding_is_one_like_any_other(server: Server) -> None:
    with server.connect("postgres") as admin:
        admin.execute("drop database if exists ascii")
        # The locales of ICU have an encoding.
        provider = " locale_provider libc" if admin.info.server_version >= 150_000 else ""
        admin.execute(f"create database ascii template template0 encoding 'SQL_ASCII' locale 'C'{provider}".encode())
        server.install("ascii")
        with server.connect("ascii") as looks, Fleet(server.dsn("ascii")) as own:
            plays(own, lambda statement: looks.execute(statement.encode()).fetchall())
        admin.execute("drop database ascii with (force)")


SHAPE = """
select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, l.collname
from pg_class c join pg_attribute a on a.attrelid = c.oid left join pg_collation l on l.oid = a.attcollation
where c.relnamespace = 'selene'::regnamespace and c.relkind in ('r', 'p', 'v') and a.attnum > 0 and not a.attisdropped
  and c.relname !~ '[0-9]'
union all
select tablename, indexname, indexdef, null, null from pg_indexes where schemaname = 'selene' and indexname !~ '[0-9]' order by 1, 2
"""
#: What it may have been before.
EARLIER = """
alter table fleet drop column oldest, drop column release, drop column fault, drop column fault_at, drop column kept;
alter table class drop column idle_since;
drop view live, ended, nodes cascade;
alter table history drop column terms;
alter table task alter column id type text collate "en_US";
alter table history alter column id type text collate "en_US";
alter table class alter column labels type text[] collate "en_US";
drop index task_of_class, history_state;
create index task_class on task (class, seq);
create index slot_held_seq on slot (seq) where state = 2;
"""


def test_n1_what_a_fleet_lacks_is_added_and_what_it_has_locks_nobody(fresh: Looked) -> None:
    fresh.rows(
        "select register('a'), register('b', existing => 'append'), register('b', existing => 'append'), cancel('a')"
    )
    own, shape = Fleet(fresh.server.dsn(fresh.name)), fresh.rows(SHAPE)
    fresh.connection.execute('create collation if not exists "en_US" from "und-x-icu"')
    fresh.connection.execute(EARLIER)
    own.install()
    assert fresh.rows(SHAPE) == shape
    assert [task.id for task in own.list()] == ["b", "b"]
    assert own.get("a").state == pyselene.State.CANCELLED
    # There is nothing to add: who reads, as a backup does, keeps it from nothing.
    with fresh.another() as reader, reader.transaction():
        for table in ("fleet", "worker", "class", "task", "slot", "history"):
            reader.execute(f"select from {table}")
        own.install()


def test_n1_a_schema_may_be_named_as_it_likes(fresh: Looked) -> None:
    dsn = fresh.server.dsn(fresh.name)
    with Fleet(dsn, schema="100% 'fleet'\\") as own, scheduling() as scheduler:
        own.install()
        own.enqueue("a")

        @scheduler.handler("a")
        def handle(run: pyselene.Run) -> None:
            with psycopg.connect(dsn) as connection:
                run.complete_in(connection, result=b"in")

        with own.worker(scheduler, poll=0.05):
            wait(lambda: own.get("a").ended)
        assert own.result("a") == b"in"


def test_queues_of_a_worker_are_several(fleet: Looked) -> None:
    own = Fleet(fleet.server.dsn(fleet.name))
    with pyselene.Scheduler() as scheduler:
        with pytest.raises(TypeError, match="queues must hold str"):
            own.worker(scheduler, queues="mail")
        with pytest.raises(ValueError, match="queues is empty"):
            own.worker(scheduler, queues=[])


FORKS = """
import os, signal, sys, threading, time
from pyselene.fleet import Fleet

signal.alarm(60)
fleet = Fleet(sys.argv[1])
fleet.enqueue("a")
if len(sys.argv) > 2:
    # Another thread is in a call, which takes its time.
    forked = threading.Event()

    def look():
        while not forked.is_set():
            fleet.get("a")

    looking = threading.Thread(target=look)
    looking.start()
    while fleet._lock.acquire(blocking=False):
        fleet._lock.release()
child = os.fork()
if len(sys.argv) > 2 and child:
    forked.set()
    looking.join()
for number in range(200):
    assert fleet.get("a").id == "a"
    assert fleet.enqueue(f"{child} {number}").name == "ADDED"
fleet.close()
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("in_a_call", [False, True])
def test_p4_a_forked_child_has_a_connection_of_its_own(fleet: Looked, in_a_call: bool) -> None:
    command = [sys.executable, "-c", FORKS, fleet.server.dsn(fleet.name), *["thread"] * in_a_call]
    told = subprocess.run(command, capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (0, "")
    assert fleet.one("select count(*) from task") == 401


class Slow(Cutter):
    """A door at which one waits, as far away or behind a name that is slow to be resolved."""

    def __init__(self, server: Server, seconds: float) -> None:
        self.seconds, self.came = seconds, 0
        super().__init__(server)

    def requests(
        self, here: socket.socket, there: socket.socket, silent: threading.Event, halved: threading.Event
    ) -> None:
        """Later."""
        self.came += 1
        time.sleep(self.seconds)
        super().requests(here, there, silent, halved)


def test_n22_a_run_that_takes_longer_than_expected_keeps_nothing_from_other_nodes(fleet: Looked) -> None:
    ends = threading.Event()
    own = Fleet(fleet.server.dsn(fleet.name))

    def send(run: pyselene.Run) -> None:
        if run.id == "long":
            ends.wait(PATIENCE)

    # The first have shown that such a task takes no time, so the long one is claimed with what comes after it.
    fleet.rows("select register('t' || i, handler => 'h') from generate_series(1, 20) i")
    with scheduling(1, 3600) as one, scheduling(1, 3600) as other:
        one.handler("h")(send)
        with own.worker(one, name="one", listen=False):
            wait(lambda: fleet.one("select count(*) from history") == 20)
            fleet.rows("select register(i, handler => 'h') from unnest('{long,a,b,c,d,e}'::text[]) i")
            wait(lambda: fleet.one("select count(*) from live where node = 'one'") > 1)
            other.handler("h")(send)
            with own.worker(other, name="other", listen=False):
                wait(lambda: fleet.one("select count(*) from history") == 25)
                assert fleet.rows("select id, node, attempts from live") == [("long", "one", 1)]
                ends.set()
                wait(lambda: fleet.one("select count(*) from history where state = 4 and attempts = 1") == 26)


def test_n29_connecting_may_take_longer_than_a_call(fleet: Looked) -> None:
    with closing(Slow(fleet.server, 1.5)) as slow, scheduling() as scheduler:
        scheduler.handler("h")(lambda _: None)
        own = Fleet(slow.dsn(fleet.name))
        fleet.rows("select register('a', handler => 'h')")
        # A call is waited for 1.2 s.
        with own.worker(scheduler, lease=12, poll=0.05, listen=False):
            wait(lambda: fleet.one("select count(*) from history") == 1)
            assert slow.came == 1, "one connection"


def test_n29_what_is_given_up_leaves_neither_thread_nor_connection(fleet: Looked) -> None:
    with closing(Cutter(fleet.server)) as cutter, scheduling() as scheduler:
        scheduler.handler("h")(lambda _: None)
        own = Fleet(cutter.dsn(fleet.name))
        with own.worker(scheduler, lease=2, poll=0.05, listen=False) as worker:
            wait(lambda: worker.info().state is WorkerState.WORKING)
            for _ in range(3):
                # A door that has nothing to say any more.
                cutter.how = "silence"
                cutter.cut_at = cutter.statements + 1
                wait(lambda: cutter.statements > cutter.cut_at + 3)
            wait(lambda: worker.info().state is WorkerState.WORKING)
            # The one that works, and none that was given up, once its thread has noticed that.
            wait(lambda: sum(thread.name == "pyselene fleet link" for thread in threading.enumerate()) == 1)


def test_n14_a_connection_that_was_closed_while_nothing_was_under_way_costs_nothing(fleet: Looked) -> None:
    with pyselene.Scheduler() as scheduler:
        own = Fleet(fleet.server.dsn(fleet.name))
        with own.worker(scheduler, lease=12, listen=False) as worker:
            wait(lambda: worker.info().state is WorkerState.WORKING)
            number = worker.info().number
            for _ in range(2):
                before = fleet.one("select beaten from worker")
                end = "select count(pg_terminate_backend(pid)) from pg_stat_activity where state = 'idle'"
                fleet.rows(f"{end} and datname = current_database() and pid <> pg_backend_pid()")
                wait(functools.partial(fleet.one, f"select beaten > {before} from worker"))
            assert worker.info().number == number


def test_n29_a_fleet_works_in_a_database_with_array_nulls_off(fleet: Looked) -> None:
    fleet.rows(f"alter database {fleet.name} set array_nulls to off")
    try:
        own = Fleet(fleet.server.dsn(fleet.name))
        assert own.enqueue("a", handler="h") is pyselene.Disposition.ADDED
        batch = [FleetDraft("b", handler="h"), FleetDraft("c", handler="h", tags=["t"])]
        assert own.enqueue_batch(batch) == (pyselene.Disposition.ADDED,) * 2
        with scheduling() as scheduler:
            scheduler.handler("h")(lambda _: None)
            with own.worker(scheduler, lease=3, poll=0.05):
                wait(lambda: fleet.one("select count(*) from history") == 3)
        own.close()
    finally:
        fleet.rows(f"alter database {fleet.name} reset array_nulls")


def test_n59_a_call_reopens_a_connection_that_was_closed_while_idle(fleet: Looked) -> None:
    own = Fleet(fleet.server.dsn(fleet.name))
    others = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"

    def cut() -> None:
        fleet.rows(f"select pg_terminate_backend(pid) {others}")
        wait(lambda: not fleet.rows(f"select 1 {others}"))

    async def call() -> None:
        for id in ("c", "d"):
            assert await own.enqueue_async(id, handler="h") is pyselene.Disposition.ADDED
            cut()

    for id in ("a", "b"):
        assert own.enqueue(id, handler="h") is pyselene.Disposition.ADDED
        cut()
    asyncio.run(call())
    own.close()


def test_n34_a_server_that_may_only_be_read_is_left(fleet: Looked) -> None:
    refused = threading.Event()

    def hear(event: pyselene.Event) -> None:
        if event.error and "25006" in str(event.error):
            refused.set()

    own = Fleet(fleet.server.dsn(fleet.name))
    fleet.rows("select register('a', handler => 'h')")
    fleet.rows(f"alter database {fleet.name} set default_transaction_read_only = on")
    try:
        with scheduling() as scheduler:
            scheduler.observe(hear)
            scheduler.handler("h")(lambda _: None)
            with own.worker(scheduler, lease=3, poll=0.05):
                assert refused.wait(PATIENCE)
                with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                    own.enqueue("b")
                fleet.rows(f"alter database {fleet.name} reset default_transaction_read_only")
                wait(lambda: fleet.one("select count(*) from history") == 1)
                assert own.enqueue("b") is pyselene.Disposition.ADDED
    finally:
        fleet.rows(f"alter database {fleet.name} reset default_transaction_read_only")


def test_a_grace_that_is_refused_leaves_the_worker_open(fleet: Looked) -> None:
    with scheduling() as scheduler:
        scheduler.handler("h")(lambda _: None)
        worker = Fleet(fleet.server.dsn(fleet.name)).worker(scheduler, poll=0.05).open()
        with pytest.raises(pyselene.InvalidArgument, match="grace"):
            worker.close(timedelta(days=2))
        with pytest.raises(TypeError):
            worker.close("soon")  # type: ignore[arg-type]
        fleet.rows("select register('a', handler => 'h')")
        wait(lambda: fleet.one("select count(*) from history") == 1)
        worker.close()
        worker.close()
    assert fleet.nodes() == []


def test_an_interrupt_ends_the_wait_of_close(fleet: Looked) -> None:
    reasons: list[object] = []
    begun = threading.Event()
    with scheduling() as scheduler:

        @scheduler.handler("h")
        def handle(run: pyselene.Run) -> None:
            begun.set()
            run.stopping.wait(PATIENCE)
            reasons.append(run.stopping.reason)

        own = Fleet(fleet.server.dsn(fleet.name))
        fleet.rows("select register('a', handler => 'h')")
        worker = own.worker(scheduler, poll=0.05).open()
        assert begun.wait(PATIENCE)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            worker.close(PATIENCE)
        wait(lambda: reasons)
        assert reasons == [pyselene.StopReason.SHUTDOWN]
        # The scheduler can have another worker.
        with own.worker(scheduler):
            pass


def test_a_scheduler_that_is_closed_ends_its_worker(fleet: Looked) -> None:
    others = (
        "select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'client backend'"
    )
    before = fleet.one(others)
    scheduler = pyselene.Scheduler()
    worker = Fleet(fleet.server.dsn(fleet.name)).worker(scheduler).open()
    wait(lambda: worker.info().state is WorkerState.WORKING)
    wait(lambda: fleet.one(others) == before + 2)
    scheduler.close()
    wait(lambda: fleet.one(others) == before)
    wait(lambda: not any(thread.name.startswith("pyselene fleet") for thread in threading.enumerate()))
    worker.close()


CLOSES = """
import sys, threading, pyselene
from pyselene.fleet import Fleet

sys.setswitchinterval(1e-6)
for number in range(200):
    scheduler = pyselene.Scheduler()
    worker = Fleet(sys.argv[1]).worker(scheduler, listen=False, poll=0.01, lease=0.1, name="n" * 200).open()
    for _ in range(number * 37 % 997):
        pass
    scheduler.close()
    worker.close()
"""


def test_p3_a_scheduler_may_be_closed_at_any_moment(fleet: Looked) -> None:
    told = subprocess.run(
        [sys.executable, "-c", CLOSES, fleet.server.dsn(fleet.name)],
        capture_output=True,
        text=True,
        env={**os.environ, "MALLOC_PERTURB_": "165"},
    )
    assert (told.returncode, told.stderr) == (0, "")
