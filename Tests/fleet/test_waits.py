"""What an open transaction that has registered keeps others from: nothing (N24, N55)."""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg
import pytest

from conftest import Fleet


def quick(fleet: Fleet) -> None:
    """Whoever waits for another transaction fails."""
    fleet.rows("set statement_timeout = '20s'; set lock_timeout = '10s'")


def turn(fleet: Fleet, worker: int, runs: list[dict[str, Any]]) -> dict[int, bool]:
    """Which runs counted."""
    rows = fleet.rows(
        "select run, state is not null from turn(%s, %s, %s, %s, %s) where what = 0",
        worker, [run["seq"] for run in runs], [run["run"] for run in runs], [0] * len(runs), [1] * len(runs),
    )  # fmt: skip
    return dict(rows)


def test_n64_concurrent_registrations_give_each_class_its_own_number(fleet: Fleet) -> None:
    failures: list[BaseException] = []

    def register(place: int) -> None:
        try:
            with fleet.another() as connection:
                for number in range(60):
                    connection.execute("select register(%s, handler => %s)", [f"{place} {number}"] * 2)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=register, args=(place,)) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert fleet.rows("select count(*), count(distinct class) from class where handler ~ ' '") == [(360, 360)]


def test_n55_a_handler_and_a_queue_that_an_open_transaction_has_made_keep_nobody(fleet: Fleet) -> None:
    quick(fleet)
    with fleet.another() as other, other.transaction():
        other.execute("select register('open', handler => 'new', queue => 'new')")
        for id, terms in (("a", "'new', queue => 'new'"), ("b", "'more', queue => 'new'"), ("c", "'new'")):
            assert fleet.one(f"select register(%s, handler => {terms})", id) == "added"
        worker = fleet.hello()
        runs = fleet.claim(worker, 5)
        assert sorted(run["id"] for run in runs) == ["a", "b", "c"]
        assert set(fleet.complete(runs).values()) == {True}
    # Both have made the queue, which is one again with a beat of a node.
    assert fleet.one("select count(*) from queue where name = 'new'") == 2
    fleet.rows("select pause('new')")
    assert fleet.claim(worker) == []
    fleet.rows("select resume('new')")
    assert fleet.one("select register('open', handler => 'new', queue => 'new', existing => 'update')") == "updated"
    fleet.rows("select * from beat(%s, 0)", worker)
    assert fleet.one("select count(*) from queue where name = 'new'") == 1
    assert [row["id"] for row in fleet.claim(worker, 5)] == ["open"]
    assert fleet.rows("select id, queue from live") == [("open", "new")]
    assert fleet.rows("select id, queue from ended order by id") == [("a", "new"), ("b", "new"), ("c", "default")]


def test_n55_a_queue_that_an_open_transaction_uses_is_left_to_it(fleet: Fleet) -> None:
    quick(fleet)
    worker = fleet.hello()
    with fleet.another() as one, fleet.another() as two:
        with two.transaction():
            with one.transaction():
                one.execute("select register('a', handler => 'h', queue => 'q')")
                two.execute("select register('b', handler => 'h', queue => 'q')")
            fleet.rows("select * from beat(%s, 0)", worker)
            two.execute("select register('c', handler => 'k', queue => 'q')")
        with two.transaction():
            two.execute("select register('d', handler => 'l', queue => 'q')")
            fleet.rows("select * from beat(%s, 0)", worker)
    fleet.rows("select * from beat(%s, 0)", worker)
    assert fleet.rows("select name, is_new from queue order by name") == [("q", False)] or fleet.rows(
        "select name, is_new from queue where name = 'q'"
    ) == [("q", False)]
    assert sorted(run["id"] for run in fleet.claim(worker, 9)) == ["a", "b", "c", "d"]


def test_n55_two_transactions_that_register_handlers_in_another_order_do_not_deadlock(fleet: Fleet) -> None:
    quick(fleet)
    with fleet.another() as one, fleet.another() as two, one.transaction(), two.transaction():
        for connection in (one, two):
            connection.execute("set local lock_timeout = '10s'")
        one.execute("select register('a', handler => 'h1')")
        two.execute("select register('b', handler => 'h2')")
        one.execute("select register('c', handler => 'h2')")
        two.execute("select register('d', handler => 'h1')")
    assert fleet.one("select count(*) from live") == 4


@pytest.mark.parametrize("holds", [False, True])
def test_n55_in_a_queue_with_a_limit_nobody_waits_for_an_open_transaction(fleet: Fleet, holds: bool) -> None:
    fleet.rows(f"select set_queue('q', limit_refresh => 4, holds => {holds})")
    fleet.rows("select register(id, handler => 'h', queue => 'q') from unnest('{a,b}'::text[]) id")
    worker = fleet.hello()
    runs = fleet.claim(worker, 2)
    quick(fleet)
    with fleet.another() as other, other.transaction():
        other.execute("select register('open', handler => 'h', queue => 'q')")
        assert fleet.one("select register('c', handler => 'h', queue => 'q')") == "added"
        assert turn(fleet, worker, runs[:1]) == {runs[0]["run"]: True}
        assert fleet.complete(runs[1:]) == {runs[1]["run"]: True}
        fleet.rows("select register('d', handler => 'h', queue => 'q')")
        assert fleet.one("select cancel('d')") == 1
        assert fleet.rows("select pending from pending") == [(1,)]
    assert fleet.rows("select pending from pending") == [(2,)]
    assert fleet.rows("select * from placed") == []


def test_n24_what_open_transactions_take_too_much_is_held_with_their_commit(fleet: Fleet) -> None:
    fleet.rows("select set_queue('q', limit_refresh => 2, holds => true)")
    quick(fleet)
    with fleet.another() as one, fleet.another() as two:
        with two.transaction(), one.transaction():
            for connection, ids in ((one, "ab"), (two, "cd")):
                for id in ids:
                    told = connection.execute("select register(%s, handler => 'h', queue => 'q')", (id,)).fetchall()
                    assert told == [("added",)]
            assert one.execute("select register('x', handler => 'h', queue => 'q')").fetchall() == [("held",)]
        assert fleet.rows("select id, state from live order by id") == [
            ("a", "enqueued"),
            ("b", "enqueued"),
            ("c", "held"),
            ("d", "held"),
            ("x", "held"),
        ]
    worker = fleet.hello()
    done: list[str] = []
    while runs := fleet.claim(worker, 9):
        assert len(runs) <= 2
        assert set(turn(fleet, worker, runs).values()) == {True}
        done += [run["id"] for run in runs]
    assert sorted(done) == list("abcdx")
    assert fleet.rows("select pending from pending") == [(0,)]


def test_n55_a_place_that_cannot_be_counted_is_counted_by_who_comes_next(fleet: Fleet) -> None:
    fleet.rows("select set_queue('q', limit_refresh => 1, holds => true)")
    fleet.rows("select register(id, handler => 'h', queue => 'q') from unnest('{a,b}'::text[]) id")
    worker = fleet.hello()
    runs = fleet.claim(worker, 2)
    quick(fleet)
    with fleet.another() as other, other.transaction():
        other.execute("select from pending for update")
        assert fleet.complete(runs) == {runs[0]["run"]: True}
        assert fleet.rows("select change from placed") == [(-1,)]
    fleet.rows("select * from beat(%s, 0)", worker)
    assert fleet.rows("select * from placed") == []
    assert [run["id"] for run in fleet.claim(worker)] == ["b"]


def test_n55_who_has_to_wait_waits_for_5_s_and_keeps_his_own_setting(fleet: Fleet) -> None:
    with fleet.another() as other, other.transaction():
        other.execute("select register('a', handler => 'h')")
        for own, least, most in (("0", 4.9, 60.0), ("100ms", 0.1, 4.0), ("1min", 4.9, 60.0)):
            fleet.rows(f"set lock_timeout = '{own}'")
            begun = time.monotonic()
            with pytest.raises(psycopg.errors.LockNotAvailable):
                fleet.rows("select register('a', handler => 'h')")
            assert least <= time.monotonic() - begun < most
            fleet.rows("select register('b' || now(), handler => 'h')")
            assert fleet.one("show lock_timeout") == own


def test_n64_a_rollback_spends_no_number_of_a_class(fleet: Fleet) -> None:
    fleet.rows("select register('a', handler => 'h')")
    for count in range(20):
        with fleet.connection.transaction(force_rollback=True):
            fleet.rows("select register('b', handler => %s)", f"h{count}")
    # Beside another that is open.
    with fleet.another() as other, other.transaction():
        other.execute("select register('c', handler => 'k')")
        fleet.rows("select register('b', handler => 'l')")
    assert fleet.rows("select class, handler from class order by class") == [(1, "h"), (2, "k"), (3, "l")]
    # Very many in one transaction, beside one that has a number.
    with fleet.another() as other, other.transaction():
        other.execute("select register('d', handler => 'm')")
        fleet.rows("select count(register('e' || i, handler => 'e' || i)) from generate_series(1, 300) i")
    assert fleet.one("select count(distinct class) from class") == 304
    # What is forgotten is not numbered again.
    fleet.rows("select cancel_all(); ")
    last = fleet.one("select max(class) from class")
    fleet.rows("update class set idle_since = 1")
    fleet.rows("truncate history")
    assert fleet.one("select prune_classes(now_ns() + 1000 * 86400000000000, 10000000000)") == 304
    fleet.rows("select register('f', handler => 'f')")
    assert fleet.one("select class from class") == last + 1
