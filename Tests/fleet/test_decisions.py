"""How runs end (C6, C9, C10, N9, N14, N16, N17, N20, N27)."""

from __future__ import annotations

import random
import threading

import psycopg
import pytest

from conftest import SECOND, Fleet


def split_mix(seed: int) -> int:
    """The first number of SplitMix64, as Steele, Lea and Flood gave it."""
    mask = 2**64 - 1
    z = (seed + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def test_n17_chance_is_split_mix_64(fleet: Fleet) -> None:
    rnd = random.Random(5)
    seeds = [0, 1, 2**63 - 1, 2**32, *(rnd.randrange(2**63) for _ in range(300))]
    told = [row[0] for row in fleet.rows("select chance(s, 1000) from unnest(%s::bigint[]) s", seeds)]
    assert told == [split_mix(seed) * 1001 >> 64 for seed in seeds]


@pytest.mark.parametrize("policy", ["none", "linear", "exponential"])
def test_c10_backoff_with_jitter_follows_from_the_run_number(told: Fleet, policy: str) -> None:
    told.rows("select set_queue('default', jitter => 700, backoff_min => '1 s', backoff_max => '2 h')")
    told.rows("select register('a', backoff => %s, backoff_delay => '7 s')", policy)
    worker = told.hello(lease=3600 * SECOND)
    for attempt in range(1, 15):
        (run,) = told.claim(worker)
        assert run["attempts"] == attempt
        told.complete([run], outcome=2)
        now = told.one("select now_ns()")
        full = {"none": 0, "linear": 7 * attempt, "exponential": 7 * 2 ** (attempt - 1)}[policy] * SECOND
        full = min(full, 7200 * SECOND)
        wait = full - full * 700 * (split_mix(run["run"]) * 1001 >> 64) // 1_000_000
        assert told.slot("a")["due"] == now + wait
        told.at(now + wait)


def test_a_failure_may_bring_its_own_delay_and_say_why(told: Fleet) -> None:
    told.rows("select register('a')")
    worker = told.hello(lease=3600 * SECOND)
    (run,) = told.claim(worker)
    told.rows("select * from complete(%s, %s, '{2}', '{5}', '{123}', '{no disk}')", [run["seq"]], [run["run"]])
    assert told.slot("a")["due"] == 123
    assert told.one("select failure from get('a')") == "no disk"


def test_n9_only_the_run_that_is_the_tasks_own_counts(fleet: Fleet) -> None:
    fleet.rows("select register('a', every => '1 s')")
    worker = fleet.hello()
    (run,) = fleet.claim(worker)
    before = fleet.slot("a")
    for stale in (run["run"] - 1, run["run"] + 1, 0, 2**62):
        assert fleet.complete([{**run, "run": stale}]) == {stale: False}
        assert fleet.one("select release(%s, %s)", [run["seq"]], [stale]) == 0
    assert fleet.slot("a") == before
    assert fleet.complete([run]) == {run["run"]: True}
    after = fleet.slot("a")
    # Neither twice, nor under the number of another task, nor both in one call.
    assert fleet.complete([run]) == {run["run"]: False}
    assert fleet.slot("a") == after
    fleet.rows("select register('b')")
    (b,) = fleet.claim(worker)
    assert b["run"] > run["run"]
    assert fleet.complete([run, b, b]) == {run["run"]: False, b["run"]: True}
    assert fleet.one("select count(*) from history where id = 'b'") == 1


def test_n9_arrays_are_read_by_position_wherever_they_begin(fleet: Fleet) -> None:
    worker = fleet.hello()
    fleet.rows("select count(register('t' || i, handler => 'h', backoff => 'none')) from generate_series(0, 3) i")
    runs = fleet.claim(worker, 4)
    for begins, pair in (("[0:1]=", runs[:2]), ("[7:8]=", runs[2:])):
        told = fleet.rows(
            "select state from complete(%s, %s, %s, %s, results => %s)",
            [run["seq"] for run in pair],
            [run["run"] for run in pair],
            begins + "{0,3}",
            begins + "{5,6}",
            begins + "{first,second}",
        )
        assert sorted(told) == [(4,), (5,)]
    ended = fleet.rows("select state, result from history order by id")
    assert ended == [(4, b"first"), (5, b"second")] * 2


@pytest.mark.parametrize("words", ["{}", "{null}", "{6}", "{-1}"])
def test_n9_a_run_without_an_outcome_or_a_response_time_is_refused(fleet: Fleet, words: str) -> None:
    worker = fleet.hello()
    fleet.rows("select register('a')")
    (run,) = fleet.claim(worker)
    values = [run["seq"]], [run["run"]]
    with pytest.raises(psycopg.Error, match="outcomes"):
        fleet.rows("select * from complete(%s, %s, %s, '{5}')", *values, words)
    if words != "{6}":
        with pytest.raises(psycopg.Error, match="response times"):
            fleet.rows("select * from complete(%s, %s, '{0}', %s)", *values, words)
    assert fleet.complete([run]) == {run["run"]: True}


def test_n9_two_that_decide_the_same_run_at_once_are_told_apart(fleet: Fleet) -> None:
    worker = fleet.hello()
    counted: list[bool] = []
    for number in range(20):
        fleet.rows("select register(%s)", f"t{number}")
        (run,) = fleet.claim(worker)
        start = threading.Barrier(2)

        def decide(outcome: int, run: dict[str, int] = run, start: threading.Barrier = start) -> None:
            with fleet.another() as other:
                start.wait()
                told = other.execute(
                    "select counts from complete(%s, %s, %s, '{1}')", ([run["seq"]], [run["run"]], [outcome])
                ).fetchall()
                counted.append(told[0][0])

        both = [threading.Thread(target=decide, args=(outcome,)) for outcome in (0, 3)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
    assert sorted(counted) == [False] * 20 + [True] * 20
    assert fleet.one("select count(*) from history") == 20


def test_n14_fate_tells_what_became_of_a_decision_whose_answer_was_lost(fleet: Fleet) -> None:
    worker = fleet.hello()
    fleet.rows("select register('open'), register('once'), register('again', every => '1 h'), register('gone')")
    runs = {run["id"]: run for run in fleet.claim(worker, 4)}
    fleet.complete([runs["once"], runs["again"]])
    fleet.rows("select cancel('gone')")
    order = ["open", "once", "again", "gone"]
    told = dict(
        fleet.rows(
            "select run, fate from fate(%s, %s, %s)",
            [runs[id]["seq"] for id in order],
            [runs[id]["run"] for id in order],
            order,
        )
    )
    assert [told[runs[id]["run"]] for id in order] == [0, 1, 1, 2]


def test_n14_bye_puts_back_what_is_left_as_before_the_run(fleet: Fleet) -> None:
    fleet.rows("select register('a', handler => 'h'), register('b', handler => 'h', every => '1 h')")
    before = {id: fleet.slot(id) for id in "ab"}
    worker = fleet.hello()
    runs = fleet.claim(worker, 2)
    assert fleet.one("select bye(%s)", worker) == 2
    for id in "ab":
        after = fleet.slot(id)
        assert {**after, "stop": 0} == before[id]
    assert set(fleet.complete(runs).values()) == {False}
    assert fleet.rows("select * from worker") == []


def test_n16_a_run_that_is_completed_in_the_applications_transaction_stands_or_falls_with_it(fresh: Fleet) -> None:
    fleet = fresh
    fleet.rows("create table ledger (run bigint)")
    fleet.rows("select register('a')")
    worker = fleet.hello()
    (run,) = fleet.claim(worker)
    with pytest.raises(ZeroDivisionError), fleet.connection.transaction():
        fleet.rows("insert into ledger values (%s)", run["run"])
        assert fleet.complete([run]) == {run["run"]: True}
        raise ZeroDivisionError
    assert fleet.one("select count(*) from ledger") == 0
    assert fleet.slot("a")["state"] == 4
    with fleet.connection.transaction():
        fleet.rows("insert into ledger values (%s)", run["run"])
        assert fleet.complete([run]) == {run["run"]: True}
    assert fleet.one("select state from get('a')") == "succeeded"


def test_n16_a_task_that_is_registered_in_a_transaction_is_seen_when_that_commits(fleet: Fleet) -> None:
    other = fleet.another()
    with pytest.raises(ZeroDivisionError), fleet.connection.transaction():
        fleet.rows("select register('a')")
        raise ZeroDivisionError
    with fleet.connection.transaction():
        fleet.rows("select register('b')")
        assert other.execute("select id from list()").fetchall() == []
    assert other.execute("select id from list()").fetchall() == [("b",)]


def test_n20_a_standing_task_waits_the_pace_of_its_queue(told: Fleet) -> None:
    told.rows("select register('s', schedule => 'standing')")
    worker = told.hello(lease=3600 * SECOND)
    for outcome in (0, 1, 2, 3):
        (run,) = told.claim(worker)
        told.complete([run], outcome=outcome)
        now = told.one("select now_ns()")
        assert told.slot("s")["due"] == now + 900 * SECOND
        told.at(now + 900 * SECOND)


def test_n27_a_result_is_kept_up_to_64_kb(fleet: Fleet) -> None:
    fleet.rows("select register('a'), register('b')")
    a, b = fleet.claim(fleet.hello(), 2)
    with pytest.raises(psycopg.Error) as refused:
        fleet.rows(
            "select * from complete(%s, %s, '{0}', '{1}', results => %s)", [a["seq"]], [a["run"]], [bytes(65537)]
        )
    assert refused.value.sqlstate == "SE020"
    fleet.rows("select * from complete(%s, %s, '{0}', '{1}', results => %s)", [a["seq"]], [a["run"]], [bytes(65536)])
    fleet.complete([b])
    assert fleet.one("select result('a')") == bytes(65536)
    assert fleet.one("select result('b')") is None


def test_n27_results_of_chains_and_limited_queues_are_kept_too(fleet: Fleet) -> None:
    fleet.rows("select set_queue('default', limit_refresh => 5)")
    fleet.rows("select register('a'), register('a', existing => 'append')")
    (a,) = fleet.claim(fleet.hello())
    fleet.rows("select * from complete(%s, %s, '{0}', '{1}', results => %s)", [a["seq"]], [a["run"]], [b"first"])
    assert fleet.one("select result('a')") == b"first"


def test_n3_retention_0_keeps_nothing_and_partitions_hold_the_rest(fleet: Fleet) -> None:
    fleet.without_partitions()
    assert fleet.one("select partitions()") == 3
    assert fleet.one("select partitions()") == 0
    fleet.rows("select set_queue('brief', retention => '0')")
    fleet.rows("select register('a', queue => 'brief'), register('b')")
    fleet.complete(fleet.claim(fleet.hello(), 2))
    assert fleet.rows("select id, tableoid::regclass::text like 'history\\_2%%' from history") == [("b", True)]
    assert fleet.one("select prune()") == 0
    assert fleet.one("select prune('0')") == 1
    assert fleet.rows("select * from get('b')") == []


def test_t9_old_partitions_are_dropped_and_what_has_none_is_not_lost(told: Fleet) -> None:
    day = 86400 * SECOND
    told.without_partitions()
    told.at(100 * day)
    assert told.one("select partitions()") == 3
    worker = told.hello(lease=3600 * SECOND)
    for now in (100, 105):
        told.at(now * day)
        told.rows("select register(%s)", f"t{now}")
        told.complete(told.claim(worker))
    assert told.rows("select id, tableoid::regclass::text from history order by id") == [
        ("t100", "history_19700411"),
        ("t105", "history_rest"),
    ]
    missing = "select count(*) from status() where item = 'partitions' and alarm"
    assert told.one(missing) == 0, "where nobody works nothing is missing"
    told.rows("update worker set expires = %s", 106 * day)
    assert told.one(missing) == 2
    # Days 100 to 102 are older than the retention; what ended on day 105 moves into its own.
    assert told.one("select partitions()") == 6
    assert told.rows("select id, tableoid::regclass::text from history") == [("t105", "history_19700416")]
