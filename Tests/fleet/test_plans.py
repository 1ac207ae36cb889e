"""What each function reads, whatever the planner believes of the tables (N6, N31): pages, with statistics of now, of never, of
before, and of when nothing was there."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from conftest import LONG, SECOND, Fleet
from population import populate, remember

#: How many tasks there are: plans turn where an index becomes deeper than another.
COUNTS = 30_000, 1_000_000 if LONG else 100_000
CLASSES = 40
#: Which reads all there is, whatever plans are.
COUNTS_ALL = "set_queue('q1', limit_refresh => 1000000)"
#: In a function of this session, so that its pages are counted though it fails.
REFUSED = "pg_temp.refused($$ select {} $$)"
REFUSES = """
create function pg_temp.refused(statement text) returns void language plpgsql as $$
begin
  execute statement;
exception when sqlstate 'SE016' or sqlstate 'SE021' then return;
end $$
"""
CALLS = [
    "register('new', handler => 'h1', queue => 'q2')",
    "register('t50', handler => 'h50', queue => 'q3', existing => 'replace')",
    "register('t50', handler => 'h10', queue => 'q3', existing => 'update', schedule => 'once')",
    "register('t50', handler => 'h10', queue => 'q3', existing => 'append')",
    "update_task('t51', priority => 5)",
    "cancel('t52')",
    "cancel('e7')",
    REFUSED.format("cancel('none')"),
    REFUSED.format("retry('none')"),
    REFUSED.format("retry('e7')"),
    "run_now('t55')",
    "cancel_tag('g0')",
    "cancel_all('none')",
    "result('e7')",
    "get('t53')",
    "get('e8')",
    "list()",
    "list(queue => 'q2', after => {middle})",
    "list(queue => 'rare')",
    "list(state => 'running')",
    "list(state => 'held')",
    "list(state => 'blocked')",
    "list(state => 'enqueued', queue => 'q2', after => {middle})",
    "list(tag => 'g0')",
    "explain('t54')",
    "explain('e9')",
    "status()",
    "classes()",
    "hello('n')",
    "beat({worker}, 0, {runs}, '{{1,2,3}}', '{{1}}', '{{1}}', '{{1}}')",
    "turn({worker}, {seqs}, {runs}, {outcomes}, {outcomes}, classes => {classes}, most => 20)",
    "turn({worker}, '{{}}', '{{}}', '{{}}', '{{}}', back_seqs => {seqs}, back_runs => {runs})",
    "claim({worker}, {classes}, most => 20)",
    "claim({worker}, '{{}}', {lines}, {since}, most => 20)",
    "complete({seqs}, {runs}, {outcomes}, {outcomes})",
    "release({seqs}, {runs})",
    "fate({seqs}, {runs}, {ids})",
    "promote()",
    "bye({worker})",
    "reap({later})",
    "make_partitions({later})",
    "prune_classes({later}, 1000000000)",
    "prune()",
    "pause('q1')",
    "set_queue('q1', pace => '1 s')",
    "fill_places({queue}, 1)",
]


def said(values: list[Any]) -> str:
    """An array."""
    return "'{" + ",".join(map(str, values)) + "}'"


def pages(fleet: Fleet, count: int) -> dict[str, int]:
    """How many pages each call touches, in a session of its own; nothing is changed."""
    found: dict[str, int] = {}
    with fleet.another() as connection:
        connection.execute(REFUSES)
        worker = connection.execute("select worker from hello('n', %s)", (3600 * SECOND,)).fetchall()[0][0]
        classes = said(fleet.classes())
        runs = connection.execute(
            f"select seq, run, id, line, last_run from claim({worker}, {classes}, most => 20)"
        ).fetchall()
        columns = [[row[at] for row in runs] for at in range(5)]
        values = {
            "worker": worker,
            "classes": classes,
            "seqs": said(columns[0]),
            "runs": said(columns[1]),
            "ids": said(columns[2]),
            "lines": said(sorted(set(columns[3]))),
            "since": said([min(columns[4])] * len(set(columns[3]))),
            "outcomes": said([0] * len(runs)),
            "queue": "(select queue from queue where name = 'q4')",
            "middle": count // 2,
            "later": connection.execute("select now_ns() + %s", (2 * 86_400 * SECOND,)).fetchall()[0][0],
        }
        for call in CALLS:
            statement = f"select * from {call.format(**values)}"
            if call.startswith(("reap", "make_partitions", "prune_classes", "fill_places")):
                # Called by others, whose settings they have.
                for setting in ("seqscan", "hashjoin", "mergejoin", "bitmapscan"):
                    connection.execute(f"set enable_{setting} = off")
                connection.execute("set plan_cache_mode = force_generic_plan")
            for _ in range(2):
                # The first call of a session plans what it does, which reads the catalog.
                touched = read(connection, statement)
            found[call] = touched
        connection.execute("reset all")
        connection.execute("set search_path = selene")
        connection.execute(f"select bye({worker})")
    return found


def read(connection: psycopg.Connection[Any], statement: str) -> int:
    """Pages that were found or read."""
    with connection.transaction(force_rollback=True):
        ((plan,),) = connection.execute(f"explain (analyze, buffers, timing off, format json) {statement}").fetchall()
    top = (plan if isinstance(plan, list) else json.loads(plan))[0]["Plan"]
    return int(top["Shared Hit Blocks"] + top["Shared Read Blocks"])


@pytest.fixture
def quiet(fresh: Fleet) -> Fleet:
    """Nobody looks at its tables but who is told to."""
    for table in ("slot", "task", "history_rest", *fresh.partitions(), "class", "worker", "queue", "stray"):
        fresh.connection.execute(f"alter table {table} set (autovacuum_enabled = off)")
    return fresh


def forget(fleet: Fleet, tuples: int = -1, pages: int = 0) -> None:
    """Statistics as if nobody had ever looked, or had found so many rows in so many pages."""
    fleet.rows(
        "delete from pg_statistic where starelid in (select oid from pg_class where relnamespace = 'selene'::regnamespace)"
    )
    fleet.rows(
        f"update pg_class set reltuples = {tuples}, relpages = {pages} where relnamespace = 'selene'::regnamespace"
        f" and ({tuples} < 0 or relname !~ '^(class|queue)')"
    )


def fill(fleet: Fleet, count: int) -> None:
    """Some are held by the limit of a queue, which has had one place less than it has now."""
    populate(fleet, CLASSES, 1, count, held=1)
    fleet.rows("update queue set limit_refresh = 1000, holds = true where name = 'q4'")
    fleet.rows("insert into pending select queue, 1, 999 from queue where name = 'q4' on conflict do nothing")
    remember(fleet, count // 2)


@pytest.mark.parametrize("known", [False, True])
def test_n7_a_claim_with_little_time_left_does_not_read_what_takes_longer(quiet: Fleet, known: bool) -> None:
    fleet = quiet
    populate(fleet, 1, 1, 20_000)
    fleet.rows("update slot set est = %s, state = 0, line = line_of(line >> 8, 3, %s)", 60 * SECOND, 60 * SECOND)
    fleet.rows("select register('short', handler => 'h0', queue => 'q1', expected => '900 ms')")
    fleet.rows("vacuum analyze slot")
    worker = fleet.hello(lease=3600 * SECOND)
    lines = [line for (line,) in fleet.rows("select distinct line from slot")]
    where = f"'{{}}', {said(lines)}, {said([0] * len(lines))}" if known else said(fleet.classes())

    def touched(room: int) -> int:
        """How many pages a claim touches, in a session that has planned what it does."""
        statement = f"select * from claim({worker}, {where}, most => 20, room => {room})"
        return [read(fleet.connection, statement) for _ in range(3)][-1]

    assert touched(SECOND) < 150
    assert touched(10 * SECOND) < 150
    for room, first, ids in ((SECOND, False, ["short"]), (60 * SECOND - 1, False, []), (SECOND, True, ["t1"])):
        given = f"{worker}, {where}, most => 20, room => {room}, first => {first}"
        assert [id for (id,) in fleet.rows(f"select id from claim({given})")] == ids
    assert len(fleet.rows(f"select id from claim({worker}, {where}, most => 20, room => {60 * SECOND})")) == 20


@pytest.mark.parametrize("count", COUNTS)
def test_n6_whatever_statistics_say_a_function_reads_about_the_same(quiet: Fleet, count: int) -> None:
    fleet = quiet
    found: dict[str, dict[str, int]] = {}
    fleet.rows("analyze")
    fill(fleet, count)
    found["of nothing"] = pages(fleet, count)
    forget(fleet)
    found["absent"] = pages(fleet, count)
    # Worked off, and not vacuumed: full pages, and nothing in them. What classes and queues there were is still there.
    fleet.rows("analyze")
    forget(fleet, tuples=0, pages=10)
    found["emptied"] = pages(fleet, count)
    fleet.rows("analyze")
    found["of now"] = pages(fleet, count)
    if LONG:
        # Of very little, of one kind.
        fleet.rows("truncate task, slot, history, class, queue restart identity")
        populate(fleet, 1, 1, 500)
        fleet.rows("update slot set state = 1, due = 1e18")
        fleet.rows("analyze")
        fleet.rows("truncate task, slot, class, queue restart identity")
        fill(fleet, count)
        found["of before"] = pages(fleet, count)
    wrong = {
        (call, when): (touched, found["of now"][call])
        for when, calls in found.items()
        for call, touched in calls.items()
        if touched > 2 * found["of now"][call] + 10
    }
    assert not wrong, "\n".join(f"{key}: {value}" for key, value in wrong.items())
    # And what is asked all the time is flat.
    most = {call: touched for call, touched in found["of now"].items() if touched > 5000}
    assert set(most) <= {"prune()", "status()", "cancel_tag('g0')"}  # which ends a hundred
