"""What a claim takes, and in which order (N5 to N7, N15, N18, N22)."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from conftest import SECOND, Fleet


def populate(fleet: Fleet, seed: int, count: int = 300) -> list[tuple[int, int, int, int, int]]:
    """Ready tasks of random priorities, ages, estimates and classes: number, priority, estimate, last run, line."""
    rnd = random.Random(seed)
    fleet.rows(
        "select register('seed', labels => '{a}'), register('seed2', labels => '{b}'), register('seed3', labels => '{c}')"
    )
    fleet.connection.execute("truncate slot, task")
    tasks = []
    for number in range(1, count + 1):
        priority, est, last_run = rnd.randint(1, 5), int(10 ** rnd.uniform(6, 13)), 10**13 - rnd.randint(0, 10**13)
        line = fleet.one("select line_of(%s, %s, %s)", rnd.choice(fleet.classes()), priority, est)
        tasks.append((number, priority, est, last_run, line))
    with fleet.connection.cursor() as cursor:
        cursor.executemany(
            "insert into slot (seq, last_run, due, est, line, schedule, max_attempts, state) values (%s, %s, 0, %s, %s, 1, 0, 0)",
            [(number, last_run, est, line) for number, _, est, last_run, line in tasks],
        )
    fleet.connection.execute(
        "insert into task (seq, id, class, schedule, priority, backoff, recurrence, response_window, existing, max_attempts,"
        " expected, learns, delay, period, flex, backoff_delay, registered, anchor, input) overriding system value"
        " select seq, 't' || seq, line >> 8, 1, (line >> 4) & 15, 2, 0, 3, 0, 0, est, false, 0, 0, 0, 0, 0, 0, '' from slot"
    )
    return tasks


@pytest.mark.parametrize("seed", range(12))
def test_n5_a_claim_takes_what_sorting_and_scanning_takes(told: Fleet, seed: int) -> None:
    rnd = random.Random(1000 + seed)
    now = 10**13 + 1
    told.at(now)
    tasks = populate(told, seed)
    worker = told.hello(lease=3600 * SECOND)
    while True:
        most, room = rnd.choice([1, 5, 20, 60]), rnd.choice([10**8, 10**10, 10**13])
        total = rnd.choice([10**9, 10**12, 10**18])
        first = rnd.random() < 0.1
        want: list[int] = []
        time = 0
        for number, _, est, _, _ in sorted(tasks, key=lambda t: (-t[1] * (now - t[3]), -t[1], t[0])):
            if est > room and not first:
                continue
            time += est
            if want and (len(want) >= most or time > total or first):
                break
            want.append(number)
        got = [run["seq"] for run in told.claim(worker, most, room=room, total=total, first=first)]
        assert got == want, (seed, most, room, total, first)
        tasks = [task for task in tasks if task[0] not in got]
        if not got and room == 10**13:
            break
        now += rnd.randint(0, 10**11)
        told.at(now)
    assert not tasks


def test_n5_lines_that_are_known_give_the_same_as_looking_from_the_beginning(told: Fleet) -> None:
    told.at(10**13 + 1)
    tasks = populate(told, 99, 120)
    worker = told.hello(lease=3600 * SECOND)
    lines = sorted({task[4] for task in tasks})
    since = dict.fromkeys(lines, -(2**63))
    want = [t[0] for t in sorted(tasks, key=lambda t: (-t[1] * (10**13 + 1 - t[3]), -t[1], t[0]))]
    got: list[int] = []
    while rows := told.rows(
        "select seq, line, last_run from claim(%s, '{}', %s, %s, 7)", worker, list(since), list(since.values())
    ):
        got += [row[0] for row in rows]
        for _, line, last_run in rows:
            since[line] = max(since[line], last_run)
    assert got == want


def test_n5_two_that_claim_at_once_take_different_tasks(fleet: Fleet) -> None:
    for number in range(20):
        fleet.rows("select register(%s, handler => 'h')", f"t{number}")
    one, other = fleet.hello("one"), fleet.hello("other")
    second = fleet.another()
    with fleet.connection.transaction():
        first_got = {run["seq"] for run in fleet.claim(one, 5)}
        second_got = {
            row[0] for row in second.execute("select seq from claim(%s, %s, most => 5)", (other, fleet.classes()))
        }
    assert len(first_got) == 5
    assert first_got.isdisjoint(second_got)


def test_n18_what_is_due_joins_and_the_turn_says_when_the_next_one_is(told: Fleet) -> None:
    told.at(SECOND)
    told.rows(
        "select register('later', handler => 'h', delay => '10 s'), register('last', handler => 'h', delay => '20 s')"
    )
    worker = told.hello(lease=3600 * SECOND)
    turn = "select what, id, at from turn(%s, '{}', '{}', '{}', '{}', classes => %s, most => 9) where what <> 4 order by what"
    assert told.rows(turn, worker, told.classes()) == [(3, None, 11 * SECOND)]
    told.at(11 * SECOND)
    assert told.rows(turn, worker, told.classes()) == [(1, "later", None), (3, None, 21 * SECOND)]


def test_a_paused_queue_gives_nothing_until_it_is_over(told: Fleet) -> None:
    told.rows("select register('a', queue => 'mail'), register('b')")
    worker = told.hello(lease=3600 * SECOND)
    told.rows("select pause('mail', '5 s')")
    assert [run["id"] for run in told.claim(worker, 5)] == ["b"]
    told.at(5 * SECOND)
    assert [run["id"] for run in told.claim(worker, 5)] == ["a"]


def test_a_worker_that_is_not_known_takes_nothing(fleet: Fleet) -> None:
    fleet.rows("select register('a')")
    with pytest.raises(Exception, match="is not a worker") as refused:
        fleet.claim(99)
    assert getattr(refused.value, "sqlstate", None) == "SE017"


def interrupted(told: Fleet, *ids: str) -> int:
    """Tasks whose node died; and the node that noticed."""
    judge = told.hello("judge", SECOND)
    dead = told.hello("dead", SECOND)
    for id in ids:
        told.rows("select register(%s, handler => 'h')", id)
    assert len(told.claim(dead, len(ids))) == len(ids)
    at = told.one("select now_ns()")
    # A gap of more than half a lease begins its steadiness anew (N11).
    for step in range(1, 7):
        told.at(at + step * SECOND // 2)
        told.rows("select * from beat(%s, %s)", judge, SECOND // 2)
    assert all(told.slot(id)["worker"] == 0 for id in ids)
    return judge


def test_n15_a_suspect_is_claimed_alone_when_nothing_else_runs(told: Fleet) -> None:
    judge = interrupted(told, "bad")
    assert told.slot("bad")["stop"] == 7
    told.rows("select register('fresh', handler => 'h')")
    told.rows("update slot set last_run = 0 where seq = (select seq from task where id = 'fresh')")
    (fresh,) = told.claim(judge, 1)
    assert fresh["id"] == "fresh"
    told.at(told.slot("bad")["due"] + 3600 * SECOND)
    told.rows("select register('other', handler => 'h')")
    # It is first in rank, so nothing is taken until what runs is decided; then it runs, and nothing beside it.
    assert told.claim(judge, 5) == []
    told.complete([fresh])
    (bad,) = told.claim(judge, 5)
    assert bad["id"] == "bad"
    assert told.claim(judge, 5) == []
    # Other workers go on.
    assert [run["id"] for run in told.claim(told.hello("third", 3600 * SECOND), 5)] == ["other"]
    told.complete([bad], outcome=2)
    assert told.slot("bad")["line"] & 1 == 0
    told.at(told.slot("bad")["due"])
    assert [run["id"] for run in told.claim(judge, 5)] == ["bad"]
    assert [run["id"] for run in told.claim(judge, 5)] == []
    told.rows("select register('more', handler => 'h')")
    assert [run["id"] for run in told.claim(judge, 5)] == ["more"]


def test_n15_a_suspect_that_is_given_back_lets_its_worker_go_on(told: Fleet) -> None:
    judge = interrupted(told, "bad")
    told.at(told.slot("bad")["due"] + SECOND)
    (bad,) = told.claim(judge, 1)
    assert told.one("select release(%s, %s)", [bad["seq"]], [bad["run"]]) == 1
    assert told.slot("bad")["line"] & 1 == 1
    assert [run["id"] for run in told.claim(judge, 5)] == ["bad"]


def pages(fleet: Fleet, worker: int, lines: list[int], since: list[int]) -> int:
    """How many pages a claim of one task touches."""
    plan = fleet.rows(
        "explain (analyze, buffers, timing off, summary off) select * from claim(%s, %s, %s, %s)",
        worker, [] if lines else fleet.classes(), lines, since,
    )  # fmt: skip
    (hits,) = re.findall(r"Buffers: shared hit=(\d+)", "\n".join(row[0] for row in plan))[:1]
    return int(hits)


def test_n7_an_old_snapshot_costs_claims_nothing_that_know_where_lines_begin(fleet: Fleet) -> None:
    fleet.connection.execute("alter table slot set (autovacuum_enabled = off)")
    fleet.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, 3000) i")
    worker = fleet.hello(lease=3600 * SECOND)
    line, last_run = (fleet.claim(worker)[0][key] for key in ("line", "last_run"))
    for _ in range(6):
        # The first calls of a session plan what they do.
        pages(fleet, worker, [line], [last_run])
    before = pages(fleet, worker, [line], [last_run])
    reader = fleet.another()
    with reader.transaction():
        reader.execute("set transaction isolation level repeatable read")
        reader.execute("select count(*) from slot")
        for _ in range(12):
            runs = fleet.rows(
                "select seq, run, last_run from claim(%s, '{}', %s, %s, most => 200)", worker, [line], [last_run]
            )
            last_run = max(run[2] for run in runs)
            fleet.complete([{"seq": run[0], "run": run[1]} for run in runs])
        # What the server does by itself may make one plan its call anew.
        after = min(pages(fleet, worker, [line], [last_run]) for _ in range(3))
        from_the_beginning = pages(fleet, worker, [line], [0])
    assert after <= 1.5 * before, (before, after)
    assert from_the_beginning > 2 * before, "the dead entries cost nothing, so the test shows nothing"


def test_n7_an_old_snapshot_costs_nothing_of_what_was_due_before_the_last_look(told: Fleet) -> None:
    told.connection.execute("alter table slot set (autovacuum_enabled = off)")
    now = 10**13
    told.at(now)
    worker = told.hello(lease=3600 * SECOND)
    told.rows("select register('later', handler => 'h', delay => '1 h')")

    def touched(due_since: int) -> int:
        """How many pages a turn touches that finds nothing."""
        turn = "select * from turn(%s, '{}', '{}', '{}', '{}', classes => '{}', most => 1, due_since => %s)"
        for _ in range(3):
            # The first calls of a session plan what they do.
            plan = told.rows(f"explain (analyze, buffers, timing off, summary off) {turn}", worker, due_since)
        return int(re.findall(r"Buffers: shared hit=(\d+)", "\n".join(row[0] for row in plan))[0])

    few = touched(0)
    reader = told.another()
    with reader.transaction():
        reader.execute("set transaction isolation level repeatable read")
        reader.execute("select count(*) from slot")
        for part in range(10):
            told.rows(
                "select count(register('t' || %s || '.' || i, handler => 'h', delay => '1 s')) from generate_series(1, 300) i",
                part,
            )
            now += 2 * SECOND
            told.at(now)
            told.complete(told.claim(worker, 300))
        after, from_the_beginning = touched(now), touched(0)
    assert after <= 1.5 * few, (few, after)
    assert from_the_beginning > 3 * few, "the dead entries cost nothing, so the test shows nothing"


def test_a_claim_costs_the_same_with_many_tasks(fleet: Fleet) -> None:
    worker = fleet.hello(lease=3600 * SECOND)

    def cost() -> int:
        for _ in range(6):
            pages(fleet, worker, [], [])
        return pages(fleet, worker, [], [])

    fleet.rows("select count(register('a' || i, handler => 'h', priority => 1 + i % 5)) from generate_series(1, 100) i")
    few = cost()
    fleet.rows(
        "select count(register('b' || i, handler => 'h', priority => 1 + i % 5)) from generate_series(1, 5000) i"
    )
    assert cost() <= 1.5 * few


def answers(rows: list[dict[str, Any]]) -> list[str]:
    """Their ids."""
    return [row["id"] for row in rows]


def test_c3_the_first_of_a_window_is_taken_whatever_it_takes(fleet: Fleet) -> None:
    fleet.rows(
        "select register('long', handler => 'h', expected => '1 h', priority => 5), register('short', expected => '1 s')"
    )
    worker = fleet.hello()
    assert answers(fleet.claim(worker, 5, room=2 * SECOND)) == ["short"]
    assert answers(fleet.claim(worker, 5, room=2 * SECOND, first=True)) == ["long"]


def test_n35_who_looks_at_a_class_serves_it_before_its_next_beat(fleet: Fleet) -> None:
    worker = fleet.hello()
    fleet.rows("select register('a', handler => 'send'), register('b', handler => 'fetch')")
    assert fleet.one("select count(*) from status() where alarm and value like 'no node %%'") == 2
    fleet.claim(worker)
    assert fleet.one("select count(*) from status() where alarm and value like 'no node %%'") == 0
    assert sorted(fleet.one("select serves from worker")) == fleet.classes()
