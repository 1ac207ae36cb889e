"""Ids, limits, chains, cancelling, where several are at it at once (C4, T5, T6, T8, N24 to N26)."""

from __future__ import annotations

import random
import threading
from collections import Counter
from typing import Any

import psycopg
import pytest

from conftest import SECOND, Fleet


def together(fleet: Fleet, count: int, work: Any) -> None:
    """Calls work(number, connection) in threads, each with a connection of its own; raises what one raised."""
    wrong: list[BaseException] = []

    def one(number: int) -> None:
        try:
            with fleet.another() as connection:
                work(number, connection)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]


def test_t5_an_id_that_many_register_at_once_is_one_task(fleet: Fleet) -> None:
    said: Counter[str] = Counter()

    def work(number: int, connection: psycopg.Connection[Any]) -> None:
        for name in range(30):
            said[connection.execute("select register(%s)", (f"t{name}",)).fetchall()[0][0]] += 1

    together(fleet, 4, work)
    assert said == {"added": 30, "kept": 90}
    assert fleet.one("select count(*) from slot") == fleet.one("select count(*) from task") == 30


def test_n24_a_limit_is_exact_when_many_register_and_finish_at_once(fleet: Fleet) -> None:
    fleet.rows("select set_queue('default', limit_refresh => 5, retention => '0')")
    most = 0

    def work(number: int, connection: psycopg.Connection[Any]) -> None:
        nonlocal most
        rnd = random.Random(number)
        worker = connection.execute("select worker from hello('w')").fetchall()[0][0]
        for turn in range(60):
            try:
                connection.execute("select register(%s, handler => 'h')", (f"t{number}.{turn}",))
            except psycopg.Error as error:
                assert error.sqlstate == "SE002", error
            most = max(most, connection.execute("select count(*) from slot").fetchall()[0][0])
            if rnd.random() < 0.5:
                runs = connection.execute("select seq, run from claim(%s, '{1}', most => 2)", (worker,)).fetchall()
                connection.execute(
                    "select * from complete(%s, %s, %s, %s)",
                    ([run[0] for run in runs], [run[1] for run in runs], [0] * len(runs), [1] * len(runs)),
                )

    together(fleet, 4, work)
    assert most == 5
    assert fleet.one("select pending from pending") == fleet.one("select count(*) from slot")


def test_t6_held_tasks_take_the_places_that_others_leave_at_once(fleet: Fleet) -> None:
    fleet.rows("select set_queue('default', limit_refresh => 3, holds => true)")

    def work(number: int, connection: psycopg.Connection[Any]) -> None:
        rnd = random.Random(number)
        worker = connection.execute("select worker from hello('w')").fetchall()[0][0]
        for turn in range(60):
            connection.execute("select register(%s, handler => 'h')", (f"t{number}.{turn}",))
            if rnd.random() < 0.2:
                connection.execute("select cancel(%s)", (f"t{number}.{turn}",))
            for seq, run in connection.execute(
                "select seq, run from claim(%s, '{1}', most => 2)", (worker,)
            ).fetchall():
                connection.execute("select * from complete(%s, %s, '{0}', '{1}')", ([seq], [run]))

    together(fleet, 4, work)
    # What was missed because somebody was at it, housekeeping finds.
    fleet.rows("select * from beat(%s, 0)", fleet.hello())
    worker = fleet.hello()
    while runs := fleet.claim(worker, 3):
        assert fleet.one("select count(*) from slot where state <> 2") <= 3
        fleet.complete(runs)
    assert fleet.rows("select * from slot") == []
    assert fleet.one("select pending from pending") == 0
    assert fleet.one("select count(*) from history") == 240


def test_t6_a_limit_that_comes_later_counts_what_is_there_and_goes_again(fleet: Fleet) -> None:
    fleet.rows("select register('a'), register('b'), register('s', schedule => 'standing')")
    fleet.rows("select set_queue('default', limit_refresh => 2)")
    with pytest.raises(psycopg.Error) as refused:
        fleet.rows("select register('c')")
    assert refused.value.sqlstate == "SE002"
    fleet.rows("select set_queue('default', limit_refresh => -1)")
    assert fleet.one("select register('c')") == "added"
    assert fleet.rows("select * from pending") == []


def test_n4_the_last_number_of_a_class_has_a_line_and_there_is_none_behind_it(fleet: Fleet) -> None:
    fleet.rows("alter sequence class_class_seq maxvalue 2147483647")
    # As one that is there already is brought to this release.
    fleet.server.install(fleet.name)
    assert fleet.one("select seqmax from pg_sequence where seqrelid = 'class_class_seq'::regclass") == 8388607
    fleet.rows("select setval('class_class_seq', 8388606)")
    fleet.rows("select register('a', handler => 'h', priority => 5)")
    assert fleet.classes() == [8388607]
    with pytest.raises(
        psycopg.Error, match="handler: 'other' would need a new class, and the fleet has had 8388607"
    ) as refused:
        fleet.rows("select register('b', handler => 'other')")
    assert refused.value.sqlstate == "SE029"
    assert fleet.one("select status from try_register('b', handler => 'other')") == 29
    fleet.rows("select register('c', handler => 'h')")
    assert [run["id"] for run in fleet.claim(fleet.hello(), 5)] == ["a", "c"]


def test_n26_a_chain_runs_in_order_while_others_append(fleet: Fleet) -> None:
    def work(number: int, connection: psycopg.Connection[Any]) -> None:
        if number == 0:
            worker = connection.execute("select worker from hello('w')").fetchall()[0][0]
            done = 0
            while done < 90:
                for seq, run in connection.execute("select seq, run from claim(%s, '{1}')", (worker,)).fetchall():
                    connection.execute("select * from complete(%s, %s, '{0}', '{1}')", ([seq], [run]))
                    done += 1
            return
        for turn in range(30):
            connection.execute(
                "select register('chain', handler => 'h', existing => 'append', input => %s)",
                (f"{number}.{turn}".encode(),),
            )

    fleet.rows("select class_of((queue_of('default')).queue, 1, 0, '{}', 'h')")
    together(fleet, 4, work)
    ended = fleet.rows("select seq from history order by ended, seq")
    assert len(ended) == 90
    assert ended == sorted(ended)
    assert fleet.rows("select * from task") == fleet.rows("select * from slot") == []


def test_n26_at_most_1000_wait_and_a_cancel_takes_them_all(fleet: Fleet) -> None:
    fleet.rows("select register('a')")
    fleet.rows("select count(register('a', existing => 'append')) from generate_series(1, 1000)")
    with pytest.raises(psycopg.Error) as refused:
        fleet.rows("select register('a', existing => 'append')")
    assert refused.value.sqlstate == "SE002"
    assert fleet.one("select appended from get('a')") == 1000
    assert fleet.one("select cancel('a')") == 1001


def test_n25_what_is_cancelled_in_flight_is_stale_and_its_worker_learns_it(fleet: Fleet) -> None:
    worker = fleet.hello()
    fleet.rows("select register('a'), register('b'), register('c')")
    runs = {run["id"]: run for run in fleet.claim(worker, 3)}
    fleet.rows("select cancel('a'), register('b', existing => 'replace')")
    held = [run["run"] for run in runs.values()]
    told = fleet.rows("select number, value from beat(%s, 0, %s) where what = 1", worker, held)
    assert dict(told) == {runs["a"]["run"]: 5, runs["b"]["run"]: 4}
    told = fleet.rows("select run, state from turn(%s, '{}', '{}', '{}', '{}', held => %s)", worker, held)
    assert dict(told) == {runs["a"]["run"]: 5, runs["b"]["run"]: 4}
    assert fleet.complete([runs["a"]]) == {runs["a"]["run"]: False}
    assert fleet.one("select state from get('a')") == "cancelled"


@pytest.mark.parametrize("how", ["decided", "bye", "time"])
def test_c4_an_id_stays_taken_until_the_earlier_run_has_come_back(told: Fleet, how: str) -> None:
    worker, other = told.hello("one", 3600 * SECOND), told.hello("other", 3600 * SECOND)
    told.rows("select register('a')")
    (run,) = told.claim(worker)
    assert told.one("select register('a', existing => 'replace')") == "replaced"
    assert told.claim(other) == []
    assert told.rows("select reason from explain('a')")[0] == ("still_running",)
    match how:
        case "decided":
            assert told.complete([run]) == {run["run"]: False}
        case "bye":
            told.rows("select bye(%s)", worker)
        case "time":
            told.at(600 * SECOND - 1)
            told.rows("select * from beat(%s, %s)", other, 600 * SECOND)
            assert told.claim(other) == []
            told.at(600 * SECOND)
            told.rows("select * from beat(%s, 1)", other)
    (again,) = told.claim(other)
    assert again["id"] == "a"
    assert again["run"] > run["run"]
    assert told.rows("select * from stray") == []


def test_update_task_changes_what_it_names(fleet: Fleet) -> None:
    fleet.rows("select register('a', priority => 2, tags => '{x}', every => '1 h', labels => '{gpu}', input => 'in')")
    fleet.rows("select update_task('a', priority => 5, labels => '{eu,gpu}')")
    assert fleet.rows("select priority, tags, labels, generation, schedule from get('a')") == [
        (5, ["x"], ["eu", "gpu"], 1, "periodic")
    ]
    assert fleet.one("select input from task") == b"in"
    with pytest.raises(psycopg.Error) as refused:
        fleet.rows("select update_task('b')")
    assert refused.value.sqlstate == "SE021"


@pytest.mark.parametrize(
    ("field", "call", "status"),
    [
        ("id", "id => ''", 16),
        ("id", "id => repeat('é', 128)", 16),
        ("handler", "id => 'a', handler => ''", 16),
        ("kind", "id => 'a', kind => 'sync'", 16),
        ("schedule", "id => 'a', schedule => 'often'", 16),
        ("priority", "id => 'a', priority => 6", 16),
        ("priority", "id => 'a', priority => null", 16),
        ("expected", "id => 'a', expected => '25 h'", 16),
        ("delay", "id => 'a', delay => '-1 s'", 16),
        ("delay", "id => 'a', delay => '11 years'", 16),
        ("every", "id => 'a', schedule => 'periodic'", 16),
        ("every", "id => 'a', every => '0'", 16),
        ("flex", "id => 'a', every => '1 s', flex => '2 s'", 16),
        ("backoff", "id => 'a', backoff => 'steep'", 16),
        ("backoff_delay", "id => 'a', backoff_delay => '-1 s'", 16),
        ("max_attempts", "id => 'a', max_attempts => -1", 16),
        ("response_window", "id => 'a', response_window => 31", 16),
        ("tags", "id => 'a', tags => array_fill('t'::text, '{17}')", 16),
        ("tags", "id => 'a', tags => '{\"\"}'", 16),
        ("labels", "id => 'a', labels => array_fill('t'::text, '{17}')", 16),
        ("requires", "id => 'a', requires => '{sun}'", 16),
        ("existing", "id => 'a', existing => 'merge'", 16),
        ("existing", "id => 'a', existing => 'append', every => '1 s'", 16),
        ("input", "id => 'a', input => null", 16),
        ("input", "id => 'a', input => repeat('x', 10241)::bytea", 20),
        ("queue", "id => 'a', queue => ''", 16),
    ],
)
def test_t2_what_is_out_of_range_is_refused_and_the_field_is_named(
    fleet: Fleet, field: str, call: str, status: int
) -> None:
    with pytest.raises(psycopg.Error) as refused:
        fleet.rows(f"select register({call})")
    assert refused.value.sqlstate == f"SE{status:03}"
    assert refused.value.diag.column_name == field
    assert str(refused.value).startswith(f"{field}: ")
    assert fleet.rows("select * from task") == []


def test_t6_what_is_held_needs_no_place_where_the_limit_is_taken_away(fleet: Fleet) -> None:
    fleet.rows("select set_queue('default', limit_refresh => 1, holds => true)")
    fleet.rows("select count(register('t' || i)) from generate_series(1, 20) i")
    assert fleet.one("select count(*) from slot where state = 2") == 19
    fleet.rows("select set_queue('default', limit_refresh => -1)")
    assert len(fleet.claim(fleet.hello(), 20)) == 20


def test_c4_a_record_that_was_held_waits_for_the_run_that_has_its_id(fleet: Fleet) -> None:
    fleet.rows("select set_queue('narrow', limit_refresh => 1, holds => true)")
    fleet.rows("select register('other', queue => 'narrow'), register('a')")
    worker = fleet.hello()
    runs = [run for run in fleet.claim(worker, 2) if run["id"] == "a"]
    assert fleet.one("select register('a', queue => 'narrow', existing => 'replace')") == "replaced"
    assert fleet.slot("a")["state"] == 2
    fleet.rows("select cancel('other')")
    assert fleet.slot("a")["state"] == 5
    assert fleet.complete(runs) == {runs[0]["run"]: False}
    assert fleet.slot("a")["state"] == 1


def test_n20_an_interrupted_standing_task_waits_the_pace(told: Fleet) -> None:
    told.at(10**18)
    told.rows("select set_queue('default', pace => '1 hour'), register('s', schedule => 'standing')")
    worker = told.hello()
    assert told.claim(worker)
    told.rows("delete from worker")
    told.rows("select reap(now_ns())")
    assert told.slot("s")["due"] == 10**18 + 3600 * SECOND


def test_n14_the_run_of_a_record_that_ended_with_its_worker_was_not_decided(fleet: Fleet) -> None:
    fleet.rows("select register('a', max_attempts => 1), register('b', max_attempts => 1)")
    worker = fleet.hello()
    a, b = fleet.claim(worker, 2)
    fleet.complete([b], outcome=2)
    fleet.rows("delete from worker")
    fleet.rows("select reap(now_ns())")
    assert fleet.rows("select distinct state from history") == [(5,)]
    values = [[one[key] for one in (a, b)] for key in ("seq", "run", "id")]
    assert dict(fleet.rows("select run, fate from fate(%s, %s, %s)", *values)) == {a["run"]: 2, b["run"]: 1}


def test_n28_a_cancel_notifies_only_where_it_ends_a_run(fleet: Fleet) -> None:
    with fleet.another() as listens:
        listens.execute("select selene.listen()")
        # Any role may notify a channel whose name it knows (N63).
        fleet.rows("notify selene")
        fleet.rows("select register('a', tags => '{t}'), register('b'), register('c')")
        fleet.rows("select cancel('c'), cancel_tag('t'), register('b', existing => 'replace')")
        assert list(listens.notifies(timeout=0.3, stop_after=1)) == []
        worker = fleet.hello()
        (run,) = fleet.claim(worker)
        fleet.complete([run], outcome=2)
        fleet.rows("select run_now('b')")
        assert fleet.claim(worker)
        assert list(listens.notifies(timeout=0.3, stop_after=1)) == []
        with fleet.another() as other, other.transaction():
            other.execute("select cancel('b')")
            assert list(listens.notifies(timeout=0.3, stop_after=1)) == []
        assert len(list(listens.notifies(timeout=20, stop_after=1))) == 1
