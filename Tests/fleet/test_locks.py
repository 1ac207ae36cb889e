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
        ):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                fleet.rows(statement)
        other.execute("lock table slot")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            fleet.claim(worker)
    assert fleet.one(f"select bye({worker})") == 1


def test_n8_a_turn_gives_back_what_nobody_keeps_and_says_what_it_could_not(fleet: Looked) -> None:
    worker = fleet.hello()
    fleet.rows("select register('a'), register('b')")
    runs = fleet.claim(worker, 2)
    keys = [run["seq"] for run in runs], [run["run"] for run in runs]
    turn = "select what, run from turn(%s, '{}', '{}', '{}', '{}', back_seqs => %s, back_runs => %s)"
    with fleet.another() as other, other.transaction(force_rollback=True):
        other.execute("select cancel('a')")
        assert fleet.rows(turn, worker, *keys) == [(5, next(run["run"] for run in runs if run["id"] == "a"))]
        assert fleet.rows("select id from live where state = 'running'") == [("a",)]
    assert fleet.rows(turn, worker, *keys) == []
    assert fleet.one("select count(*) from slot where state = 4") == 0


def test_n14_who_takes_nothing_more_keeps_what_it_holds_and_nothing_else(fleet: Looked) -> None:
    worker, other = fleet.hello(), fleet.hello("other")
    fleet.rows("select register('a'), register('b'), register('c'), register('d')")
    runs = {run["id"]: run["run"] for run in fleet.claim(worker, 3)}
    fleet.claim(other)
    beat = "select what, number from beat(%s, 0, %s, holds_all => %s)"
    held = [runs["a"]]
    assert [what for what, _ in fleet.rows(beat, worker, held, False)] == [0]
    assert fleet.one("select count(*) from slot where state = 4") == 4
    # What somebody is at goes back with the next beat.
    with fleet.another() as changes, changes.transaction(force_rollback=True):
        changes.execute("select cancel('b')")
        assert [what for what, _ in fleet.rows(beat, worker, held, True)] == [0]
        assert fleet.rows("select id from live where state = 'running' order by id") == [("a",), ("b",), ("d",)]
    assert [what for what, _ in fleet.rows(beat, worker, held, True)] == [0]
    assert fleet.rows("select id from live where state = 'running' order by id") == [("a",), ("d",)]
    assert fleet.rows("select attempts from slot where state = 0") == [(0,), (0,)]
    # One that holds nothing has nothing.
    fleet.rows(beat, worker, [], True)
    assert fleet.rows("select id from live where state = 'running'") == [("d",)]


@pytest.mark.parametrize(
    "call", ["cancel('a')", "cancel_tag('g')", "cancel_all()", "run_now('a')", "update_task('a', priority => 5)"]
)
def test_n24_a_limit_that_goes_meanwhile_locks_nobody_out(fleet: Looked, call: str) -> None:
    fleet.rows("select set_queue('default', limit_refresh => 0, holds => true)")
    fleet.rows("select register('a', tags => '{g}', delay => '1 h'), register('b', tags => '{g}')")
    sets = "select set_queue('default', limit_refresh => -1)"
    # Each begins when the other has what it needs first.
    with fleet.another() as other, fleet.another() as admin:
        with other.transaction(force_rollback=True):
            other.execute("select from slot where seq = (select seq from task where id = 'a') for update")
            other.execute(f"select {call}")
            waits = threading.Thread(target=admin.execute, args=(sets,))
            waits.start()
            wait(
                lambda: (
                    fleet.one("select count(*) from pg_locks where not granted and relation = 'slot'::regclass") == 1
                )
            )
        waits.join(PATIENCE)
        with admin.transaction(force_rollback=True):
            admin.execute("select set_queue('default', limit_refresh => 0)")
            waits = threading.Thread(target=other.execute, args=(f"select {call}",))
            waits.start()
            wait(
                lambda: (
                    fleet.one("select count(*) from pg_locks where not granted and relation = 'slot'::regclass") == 1
                )
            )
            assert fleet.rows("select seq from slot for update nowait")
            admin.execute(sets)
        waits.join(PATIENCE)
    assert not waits.is_alive()


@pytest.mark.parametrize("call", ["register('b')", "cancel('a')"])
def test_n24_a_limit_gives_up_behind_an_open_transaction_and_meanwhile_keeps_nobody(fleet: Looked, call: str) -> None:
    fleet.rows("select register('a'), register('c', handler => 'a')")
    worker = fleet.hello()
    sets = "select set_queue('default', limit_refresh => 10)"
    told: list[psycopg.Error] = []

    def ask(admin: psycopg.Connection[Any]) -> None:
        with pytest.raises(psycopg.errors.LockNotAvailable) as refused:
            admin.execute(sets)
        told.append(refused.value)

    with fleet.another() as other, fleet.another() as admin:
        with other.transaction():
            other.execute(f"select {call}")
            begun = time.monotonic()
            waits = threading.Thread(target=ask, args=(admin,))
            waits.start()
            waiting = "select count(*) from pg_locks where not granted and relation = 'slot'::regclass"
            wait(lambda: fleet.one(waiting) == 1)
            # Another queue, and a worker, which gives up after a second.
            fleet.rows("set statement_timeout = '10s'")
            assert fleet.one("select register('d', queue => 'other')") == "added"
            assert len(fleet.complete(fleet.claim(worker))) == 1
            waits.join(PATIENCE)
            assert 1.5 < time.monotonic() - begun < 15
            assert fleet.rows(waiting) == [(0,)]
            (error,) = told
            words = "queue: 'default' cannot be set while a transaction is open that has set it, or has registered"
            assert words in str(error)
            # Who waits less than that anyway waits as long as he said; and his setting stays what it is.
            admin.execute("set lock_timeout = '50ms'")
            begun = time.monotonic()
            with pytest.raises(psycopg.errors.LockNotAvailable):
                admin.execute(sets)
            assert time.monotonic() - begun < 1.5
        with admin.transaction():
            admin.execute("set local lock_timeout = '70s'")
            admin.execute(sets)
            assert admin.execute("show lock_timeout").fetchall() == [("70s",)]
        assert admin.execute("show lock_timeout").fetchall() == [("50ms",)]
    assert fleet.rows("select pending from pending") == fleet.rows("select count(*) from live where queue = 'default'")


def test_t6_a_held_record_that_somebody_is_at_keeps_no_other_and_gets_a_place_later(fleet: Looked) -> None:
    fleet.rows("select set_queue('default', limit_refresh => 1, holds => true)")
    for id, priority in (("a", 3), ("b", 5), ("c", 4), ("d", 5)):
        fleet.rows("select register(%s, handler => 'h', priority => %s)", id, priority)
    fleet.rows("select set_queue('default', holds => false)")
    worker = fleet.hello()

    def state(id: str) -> int:
        return int(fleet.slot(id)["state"])

    with fleet.another() as other, other.transaction():
        other.execute("select update_task('b', input => 'new')")
        fleet.complete(fleet.claim(worker))
        assert [state(id) for id in "bcd"] == [2, 2, 1], "the best one that nobody is at has the place"
    with fleet.another() as other, other.transaction():
        other.execute("select update_task(id, input => 'new') from unnest('{b,c}'::text[]) id")
        fleet.complete(fleet.claim(worker))
        assert [state(id) for id in "bc"] == [2, 2]
        assert fleet.rows("select pending from pending") == [(0,)]
    fleet.rows("select * from beat(%s, 0)", worker)
    assert [state(id) for id in "bc"] == [1, 2]
    assert fleet.rows("select pending from pending") == [(1,)]


def test_t6_many_records_that_somebody_is_at_are_left_to_who_beats_later(fleet: Looked) -> None:
    fleet.rows("select set_queue('default', limit_refresh => 2, holds => true), register('a')")
    fleet.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, 300) i")
    worker = fleet.hello()
    with fleet.another() as other, other.transaction(force_rollback=True):
        other.execute("select count(cancel('t' || i)) from generate_series(2, 300) i")
        fleet.complete([run for run in fleet.claim(worker, 2) if run["id"] == "a"])
    fleet.rows("select * from beat(%s, 0)", worker)
    assert fleet.rows("select pending from pending") == [(2,)]
    assert fleet.one("select count(*) from slot where state = 2") == 298


def test_n24_a_transaction_that_takes_a_place_keeps_no_worker(fleet: Looked) -> None:
    fleet.rows("select set_queue('q', limit_refresh => 5, holds => true)")
    worker = fleet.hello(lease=60 * SECOND)
    fleet.rows("select register('a', queue => 'q'), register('b', queue => 'other'), register('c', queue => 'q')")
    runs = fleet.claim(worker, 2)
    dead = fleet.hello("dead", lease=SECOND // 10)
    fleet.claim(dead)
    fleet.rows("set statement_timeout = '20s'")
    with fleet.another() as other, other.transaction(force_rollback=True):
        other.execute("select register('d', queue => 'q')")
        assert turn(fleet, worker, runs) == {run["run"]: True for run in runs}
        # Nor its housekeeping.
        fleet.rows("update worker set steady = 0, beaten = now_ns() where worker = %s", worker)
        fleet.rows("update worker set expires = 0 where worker = %s", dead)
        fleet.rows("update slot set max_attempts = 1 where state = 4")
        assert fleet.rows("select what, number from beat(%s, 0)", worker)[1:] == [(3, 1)]
        assert fleet.rows("select pending from pending") == [(0,)]
    assert fleet.rows("select pending from pending") == [(0,)]


def test_n30_a_beat_passes_the_classes_that_somebody_is_at(fleet: Looked) -> None:
    fleet.rows("select register('a'), register('b')")
    worker = fleet.hello()
    beat = "select what from beat(%s, 0, '{}', '{1,2}', '{2,1}', '{1,1}', '{1,1}')"
    fleet.rows("set statement_timeout = '20s'")
    with fleet.another() as other, other.transaction():
        other.execute("select from class where class = 1 for update")
        assert fleet.rows(beat, worker) == [(0,)]
        assert fleet.rows("select samples, served is null from class order by class") == [(0, True), (1, False)]
    assert fleet.rows(beat, worker) == [(0,)]
    assert fleet.rows("select samples, served is null from class order by class") == [(1, False), (2, False)]


def test_n30_registrations_of_classes_that_were_idle_wait_for_nobody_and_nobody_for_them(fleet: Looked) -> None:
    fleet.rows("select register('a'), register('b')")
    fleet.rows("update class set idle_since = 1")
    worker = fleet.hello()
    batch = "select disposition from register_batch('default', %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
    none = [None, None]

    def register_batch(connection: psycopg.Connection[Any], ids: list[str], handlers: list[str]) -> list[Any]:
        values = (
            ids, handlers, ["refresh"] * 2, none, [3, 3], none, [0, 0], none, [0, 0], none, none, [30_000_000] * 2, [0, 0], [3, 3],
            none, none, none, none, [b"", b""],
        )  # fmt: skip
        return connection.execute(batch, values).fetchall()

    with fleet.another() as one, fleet.another() as two:
        for connection in (one, two):
            connection.execute("set statement_timeout = '20s'")
        with one.transaction(), two.transaction():
            one.execute("select register('a1', handler => 'a')")
            two.execute("select register('b1', handler => 'b')")
            one.execute("select register('b2', handler => 'b')")
            two.execute("select register('a2', handler => 'a')")
            assert register_batch(one, ["a3", "b3"], ["a", "b"]) == [("added",)] * 2
            assert register_batch(two, ["b4", "a4"], ["b", "a"]) == [("added",)] * 2
            # Nor does any node.
            fleet.rows("set statement_timeout = '20s'")
            assert fleet.rows("select what from beat(%s, 0, '{}', '{1,2}')", worker) == [(0,)]
            assert fleet.hello() == worker + 1
            # And nobody forgets them.
            assert fleet.one("select prune_classes(now_ns() + 1000 * 86400000000000, 1000000000)") == 0
    assert fleet.one("select count(*) from live where handler in ('a', 'b')") == 10
    assert fleet.rows("select idle_since from class") == [(None,), (None,)]


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
    with own.worker(scheduler, lease=30, poll=0.05):
        wait(lambda: kept.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS)
        for i in range(40):
            own.enqueue(f"t{i}", handler="h")
            time.sleep(0.05)
        wait(lambda: fleet.one("select count(*) from history where state = 4") == 40)
        # Its own, the listener's, that of this test, of the program, and the one that was kept.
        connected = "select count(*) from pg_stat_activity where datname = current_database()"
        assert fleet.one(f"{connected} and backend_type = 'client backend'") <= 6
        # Nor does it keep a beat.
        wait(lambda: fleet.one("select bool_or(beaten > started) from worker"))
        # One worker has done it all: it never lost its lease, nor any answer.
        assert fleet.one("select max(worker) from worker") == 1
        kept.commit()
        wait(lambda: fleet.one("select count(*) from history where state = 4") == 41)
    kept.close()
    assert fleet.rows("select distinct attempts from history") == [(1,)]
