"""Transactions of others that keep records locked: nobody else waits for them, and nothing piles up behind them (N8, N16, N29)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import psycopg
import pyselene
import pytest
from pyselene.fleet import Fleet

import workers
from conftest import SECOND
from conftest import Fleet as Looked

PATIENCE = 60
wait = partial(workers.wait, seconds=PATIENCE)


def turn(fleet: Looked, worker: int, runs: list[dict[str, Any]]) -> dict[int, bool]:
    """Which decisions of a turn counted; of those that are missing it said nothing."""
    rows = fleet.rows(
        "select run, state is not null from turn(%s, %s, %s, %s, %s) where what = 0",
        worker,
        [one["seq"] for one in runs],
        [one["run"] for one in runs],
        [0] * len(runs),
        [1000] * len(runs),
    )
    return dict(rows)


def test_n8_a_turn_does_not_wait_for_a_transaction_that_is_at_a_record(fleet: Looked) -> None:
    worker = fleet.hello()
    fleet.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, 3) i")
    runs = fleet.claim(worker, 3)
    with fleet.another() as other, other.transaction(force_rollback=True):
        other.execute("select cancel('t2')")
        fleet.rows("set statement_timeout = '20s'")
        assert turn(fleet, worker, runs) == {runs[0]["run"]: True, runs[2]["run"]: True}
        values = [runs[1]["seq"]], [runs[1]["run"]], ["t2"]
        assert fleet.rows("select fate from fate(%s, %s, %s)", *values) == [(0,)]
        assert turn(fleet, worker, runs[1:2]) == {}
    assert turn(fleet, worker, runs[1:2]) == {runs[1]["run"]: True}
    assert turn(fleet, worker, runs[1:2]) == {runs[1]["run"]: False}
    assert fleet.rows("select distinct state from history") == [(4,)]


def test_c4_an_id_is_free_though_its_run_came_back_while_the_next_record_was_registered(fleet: Looked) -> None:
    worker = fleet.hello()
    fleet.rows("select register('a')")
    runs = fleet.claim(worker)
    fleet.rows("select cancel('a')")
    with fleet.another() as other, other.transaction():
        other.execute("select register('a')")
        assert turn(fleet, worker, runs) == {runs[0]["run"]: False}
    assert fleet.slot("a")["state"] == 5
    fleet.rows("select * from beat(%s, 0)", worker)
    assert fleet.slot("a")["state"] == 1


@pytest.mark.parametrize("call", ["complete", "turn", "register"])
def test_n24_a_limit_that_is_set_meanwhile_counts_every_place_once(fleet: Looked, call: str) -> None:
    worker = fleet.hello()
    fleet.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, 3) i")
    (run,) = fleet.claim(worker, 1)
    values = [[run["seq"]], [run["run"]]]
    with fleet.another() as other, fleet.another() as admin:
        with admin.transaction():
            admin.execute("select set_queue('default', limit_refresh => 10)")
            if call == "register":
                waits = threading.Thread(target=other.execute, args=("select register('more', handler => 'h')",))
            elif call == "turn":
                given = ("select * from turn(%s, %s, %s, '{0}', '{5}')", [worker, *values])
                waits = threading.Thread(target=other.execute, args=given)
            else:
                waits = threading.Thread(
                    target=other.execute, args=("select * from complete(%s, %s, '{0}', '{5}')", values)
                )
            waits.start()
            wait(
                lambda: (
                    fleet.one("select count(*) from pg_locks where not granted and relation = 'slot'::regclass") == 1
                )
            )
        waits.join()
    assert fleet.rows("select pending from pending") == fleet.rows("select count(*) from slot")


def test_n8_what_was_cancelled_meanwhile_is_stale(fleet: Looked) -> None:
    worker = fleet.hello()
    fleet.rows("select register('a')")
    runs = fleet.claim(worker)
    with fleet.another() as other, other.transaction():
        other.execute("select cancel('a')")
        assert turn(fleet, worker, runs) == {}
    assert turn(fleet, worker, runs) == {runs[0]["run"]: False}
    assert fleet.rows("select * from stray") == []


def test_n16_complete_itself_waits(fleet: Looked) -> None:
    worker = fleet.hello()
    fleet.rows("select register('a')")
    runs = fleet.claim(worker)
    told: list[dict[int, bool]] = []
    with fleet.another() as other:
        with other.transaction(force_rollback=True):
            other.execute("select cancel('a')")
            thread = threading.Thread(target=lambda: told.append(fleet.complete(runs)))
            thread.start()
            blocked = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
            wait(lambda: other.execute(blocked).fetchall())
            time.sleep(1.5)
            assert told == []
        thread.join(PATIENCE)
    assert told == [{runs[0]["run"]: True}]


def test_n29_who_works_gives_a_lock_up_that_somebody_keeps(fleet: Looked) -> None:
    worker = fleet.hello()
    fleet.rows("select register('a')")
    (run,) = fleet.claim(worker)
    with fleet.another() as other, other.transaction(force_rollback=True):
        other.execute("select cancel('a')")
        fleet.rows("set statement_timeout = '20s'")
        for statement in (
            f"select bye({worker})",
            f"select release(array[{run['seq']}::bigint], array[{run['run']}::bigint])",
            f"select * from turn({worker}, '{{}}', '{{}}', '{{}}', '{{}}', back_seqs => array[{run['seq']}::bigint], "
            f"back_runs => array[{run['run']}::bigint])",
        ):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                fleet.rows(statement)
        other.execute("lock table slot")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            fleet.claim(worker)
    assert fleet.one(f"select bye({worker})") == 1


def test_n24_places_that_a_transaction_keeps_keep_no_worker(fleet: Looked) -> None:
    fleet.rows("select set_queue('q', limit_refresh => 5, holds => true)")
    worker = fleet.hello(lease=60 * SECOND)
    fleet.rows("select register('a', queue => 'q'), register('b', queue => 'other'), register('c', queue => 'q')")
    runs = fleet.claim(worker, 2)
    dead = fleet.hello("dead", lease=SECOND // 10)
    fleet.claim(dead)
    fleet.rows("set statement_timeout = '20s'")
    with fleet.another() as other, other.transaction(force_rollback=True):
        other.execute("select register('d', queue => 'q')")
        assert turn(fleet, worker, runs) == {runs[1]["run"]: True}
        # Its housekeeping does not end it, and is done by who beats later.
        fleet.rows("update worker set steady = 0, beaten = now_ns() where worker = %s", worker)
        fleet.rows("update worker set expires = 0 where worker = %s", dead)
        fleet.rows("update slot set max_attempts = 1 where state = 4")
        assert [row[0] for row in fleet.rows("select what from beat(%s, 0)", worker)] == [0]
        assert fleet.one("select count(*) from slot where worker = %s", dead) == 1
    fleet.rows("update worker set steady = 0, beaten = now_ns() where worker = %s", worker)
    assert fleet.rows("select what, number from beat(%s, 0)", worker)[1:] == [(3, 1)]
    assert turn(fleet, worker, runs[:1]) == {runs[0]["run"]: True}
    assert fleet.rows("select pending from pending") == [(0,)]


def test_n30_two_workers_that_tell_the_times_of_classes_do_not_lock_each_other_out(fleet: Looked) -> None:
    fleet.rows("select count(register('t' || i, handler => 'h' || i)) from generate_series(1, 500) i")
    fleet.rows("analyze class")
    orders = [1, 2], [2, 1]
    connections = [fleet.another() for _ in orders]
    failed: list[BaseException] = []

    def beat(connection: psycopg.Connection[Any], worker: int, classes: list[int]) -> None:
        statement = "select * from beat(%s, 0, '{}', null, %s, '{1,1}', '{1,1}')"
        try:
            connection.execute(statement, (worker, classes))
        except psycopg.Error as error:
            failed.append(error)

    threads = []
    with fleet.another() as other, other.transaction():
        other.execute("select from class for update")
        for connection, classes in zip(connections, orders, strict=True):
            threads.append(threading.Thread(target=beat, args=(connection, fleet.hello(), classes)))
            threads[-1].start()
        pids = [connection.info.backend_pid for connection in connections]
        blocked = "select count(*) from pg_stat_activity where pid = any(%s) and wait_event_type = 'Lock'"
        wait(lambda: fleet.one(blocked, pids) == 2)
    for thread in threads:
        thread.join(PATIENCE)
    assert failed == []


# ---- workers ---------------------------------------------------------------------


@pytest.fixture
def own(fleet: Looked) -> Fleet:
    """The same fleet, as a program has it."""
    return Fleet(fleet.server.dsn(fleet.name))


@pytest.fixture
def scheduler() -> Iterator[pyselene.Scheduler]:
    """One in memory, whose windows are open."""
    one = pyselene.Scheduler(stop_grace=60)
    thread = threading.Thread(target=one.run_forever, kwargs={"lanes": 4})
    thread.start()
    yield one
    one.close(10)
    thread.join(PATIENCE)


def test_n16_a_transaction_that_is_not_committed_keeps_nobody_else(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler
) -> None:
    kept = fleet.server.connect(fleet.name)
    kept.autocommit = False

    @scheduler.handler("forgets")
    def forgets(run: pyselene.Run) -> None:
        run.complete_in(kept)

    @scheduler.handler("h")
    def handle(_: pyselene.Run) -> None: ...

    own.enqueue("a", handler="forgets")
    with own.worker(scheduler, lease=3, poll=0.05):
        wait(lambda: kept.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS)
        for i in range(40):
            own.enqueue(f"t{i}", handler="h")
            time.sleep(0.05)
        wait(lambda: fleet.one("select count(*) from history where state = 4") == 40)
        # Its own, the listener's, that of this test, of the program, and the one that was kept.
        assert fleet.one("select count(*) from pg_stat_activity where datname = current_database()") <= 6
        # One worker has done it all: it never lost its lease, nor any answer.
        assert fleet.one("select max(worker) from worker") == 1
        kept.commit()
        wait(lambda: fleet.one("select count(*) from history where state = 4") == 41)
    kept.close()
    assert fleet.rows("select distinct attempts from history") == [(1,)]
