"""What people look at: pages of each state, queues, nodes, counters; and what they do: again, and now."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import errors

from conftest import MS, SECOND, Fleet
from server import Server


def board(fleet: Fleet, state: str, **more: Any) -> list[dict[str, Any]]:
    """A page."""
    return table(fleet, "board", which=state, **more)


def table(fleet: Fleet, function: str, **more: Any) -> list[dict[str, Any]]:
    """Rows of a function by the names of its columns."""
    types = {"after": "::bigint[]" if function != "queues" else "", "most": "::int"}
    names = ", ".join(f"{name} => %s{types.get(name, '')}" for name in more)
    cursor = fleet.connection.execute(f"select * from {function}({names})", [*more.values()])
    assert cursor.description
    return [dict(zip([column.name for column in cursor.description], row, strict=True)) for row in cursor]


def pages(fleet: Fleet, function: str, most: int, **more: Any) -> list[str]:
    """The ids of all pages, one behind the other."""
    found: list[str] = []
    after: list[int] | None = None
    while rows := table(fleet, function, most=most, after=after, **more):
        found += [row["id"] for row in rows if row["id"] is not None]
        after = rows[-1]["place"]
        if len(rows) < most and rows[-1]["id"] is not None:
            break
    return found


def fail(fleet: Fleet, worker: int, failure: str = "no paper") -> None:
    """Every task that can be claimed fails."""
    while runs := fleet.claim(worker, 100):
        fleet.rows(
            "select complete(%s, %s, %s, %s, failures => %s)",
            [run["seq"] for run in runs],
            [run["run"] for run in runs],
            [2] * len(runs),
            [5 * MS] * len(runs),
            [failure] * len(runs),
        )


def judge(fleet: Fleet, seconds: range) -> None:
    """Somebody beats each second, and takes back what the dead ran."""
    worker = fleet.hello("judge", lease=10 * SECOND)
    for second in seconds:
        fleet.at(second * SECOND)
        fleet.rows("select beat(%s, %s)", worker, SECOND if second > seconds[0] else 0)


def test_n31_each_state_has_its_order(told: Fleet) -> None:
    fleet = told
    fleet.at(1000 * SECOND)
    node = fleet.hello("alpha")
    fleet.rows("select register('run-' || i, handler => 'r') from generate_series(1, 3) i")
    (one, two, three) = fleet.claim(node, 3)
    fleet.rows(
        "select register('late-' || i, handler => 'l', delay => i * interval '1 min') from generate_series(3, 1, -1) i"
    )
    fleet.rows("select set_queue('small', limit_refresh => 1, holds => true)")
    fleet.rows(
        "select register('small-' || i, handler => 's', queue => 'small', delay => '1 h') from generate_series(1, 3) i"
    )
    fleet.rows("select register('run-1', handler => 'r', existing => 'append')")
    fleet.at(1007 * SECOND)
    running = board(fleet, "running")
    assert [row["id"] for row in running] == ["run-1", "run-2", "run-3"]
    assert {row["node"] for row in running} == {"alpha"}
    assert [row["run"] for row in running] == [one["run"], two["run"], three["run"]]
    assert running[0]["begun"].timestamp() == 1000
    assert running[0]["reasons"][0]["reason"] == "running"
    assert [row["id"] for row in board(fleet, "waiting")] == ["late-1", "late-2", "late-3", "small-1"]
    assert board(fleet, "waiting")[0]["reasons"][0]["reason"] == "not_due"
    assert [row["id"] for row in board(fleet, "held")] == ["small-2", "small-3"]
    (blocked,) = board(fleet, "blocked")
    assert (blocked["id"], blocked["state"], blocked["reasons"][0]["reason"]) == ("run-1", "blocked", "blocked")
    assert len(board(fleet, "live")) == 10
    assert [row["id"] for row in board(fleet, "live", prefix="late")] == ["late-1", "late-2", "late-3"]
    assert [row["id"] for row in board(fleet, "live", of_queue="small")] == ["small-1", "small-2", "small-3"]
    assert board(fleet, "waiting", of_queue="none") == []
    # What a dead node ran is suspect.
    judge(fleet, range(1007, 1045))
    assert [row["id"] for row in board(fleet, "suspect")] == ["run-1", "run-2", "run-3"]
    assert all(row["suspect"] for row in board(fleet, "waiting") if row["id"].startswith("run-"))
    assert board(fleet, "running") == []


def test_n1_names_are_in_the_order_of_their_bytes_whatever_the_collation_of_the_database(server: Server) -> None:
    names = ["B", "_c", "a", "a-2", "a1", "b", "\u00e4"]
    with server.connect("postgres") as admin:
        has_icu = (
            admin.info.server_version >= 150_000
            and admin.execute(
                "select 1 from pg_collation where collprovider = 'i' and collname = 'en-US-x-icu'"
            ).fetchall()
        )
        # In the order of this one B comes after b, and "a-2" before "a".
        admin.execute(
            "create database ordered template template0"
            + (" locale_provider icu icu_locale 'en-US'" if has_icu else "")
        )
        server.install("ordered")
        with server.connect("ordered") as fleet:
            fleet.execute("set search_path = selene")
            for name in reversed(names):
                for _ in range(2):
                    fleet.execute(
                        "select register(%s, queue => %s, labels => %s, existing => 'append')",
                        (name, f"q{name}" if name.isalnum() else "q", names[::-1]),
                    )
            blocked = fleet.execute("select id from board('blocked') where id is not null").fetchall()
            assert [id for (id,) in blocked] == names
            assert fleet.execute("select distinct labels from board('live')").fetchall() == [(names,)]
            found = fleet.execute("select id from board('live', prefix => 'a', most => 3)").fetchall()
            assert [id for (id,) in found] == ["a", "a-2", "a1"]
            queues = fleet.execute("select queue from queues()").fetchall()
            assert [name for (name,) in queues] == ["q", "qB", "qa", "qa1", "qb", "q\u00e4"]
        admin.execute("drop database ordered with (force)")


def test_n31_what_is_ready_stands_in_the_order_of_claims(told: Fleet) -> None:
    fleet = told
    for number in range(60):
        fleet.at(number * SECOND)
        fleet.rows(
            "select register(%s, handler => %s, priority => %s, expected => %s * interval '1 ms')",
            f"t{number}", f"h{number % 4}", 1 + number * 7 % 5, 1 + number * 31 % 3000,
        )  # fmt: skip
    fleet.at(100 * SECOND)
    fleet.rows("select promote()")
    shown = pages(fleet, "board", 7, which="ready")
    claimed: list[str] = []
    node = fleet.hello()
    while runs := fleet.claim(node, 1):
        claimed.append(runs[0]["id"])
    assert shown == claimed
    assert len(shown) == 60


@pytest.mark.parametrize("state", ["running", "waiting", "held", "live", "ready"])
def test_n31_pages_have_everything_once(fleet: Fleet, state: str) -> None:
    fleet.rows("select set_queue('default', limit_refresh => 40, holds => true)") if state == "held" else None
    delay = "0" if state in ("running", "ready") else "1 h"
    fleet.rows(
        "select count(register('t' || i, handler => 'h' || i %% 3, delay => %s::interval)) from generate_series(1, 103) i",
        delay,
    )
    if state == "running":
        for name in ("a", "b"):
            fleet.claim(fleet.hello(name), 55)
    fleet.rows("select promote()")
    found = pages(fleet, "board", 10, which=state)
    assert len(found) == len(set(found)) == (63 if state == "held" else 103)


def test_n31_the_history_has_the_last_first(fleet: Fleet) -> None:
    fleet.rows("select partitions()")
    node = fleet.hello()
    for number in range(30):
        fleet.rows("select register(%s, queue => %s, max_attempts => 1)", f"t{number}", "odd" if number % 2 else "even")
        runs = fleet.claim(node)
        fleet.complete(runs, 2 if number % 3 == 0 else 0)
    fleet.rows("select register('never', delay => '1 h'), cancel('never')")
    wanted = ["never", *(f"t{number}" for number in reversed(range(30)))]
    assert pages(fleet, "last_ended", 7) == wanted
    failed = table(fleet, "last_ended", which="failed")
    assert [row["id"] for row in failed] == [f"t{number}" for number in reversed(range(30)) if number % 3 == 0]
    assert {row["can_retry"] for row in failed} == {True}
    assert pages(fleet, "last_ended", 4, of_queue="odd") == [
        f"t{number}" for number in reversed(range(30)) if number % 2
    ]
    assert [row["id"] for row in table(fleet, "last_ended", which="cancelled")] == ["never"]
    with pytest.raises(errors.DatabaseError, match="'x' is not known, allowed are succeeded, failed, cancelled"):
        table(fleet, "last_ended", which="x")


def copies(fleet: Fleet, id: str, count: int) -> None:
    """Registers a task so many times more, under other ids, faster than one by one."""
    task, slot = (
        [
            name
            for (name,) in fleet.rows(
                "select attname from pg_attribute where attrelid = %s::regclass and attnum > 0", of
            )
        ]
        for of in ("task", "slot")
    )
    of_task = ", ".join(
        {"seq": "nextval('task_seq_seq')", "id": "t.id || '-' || i"}.get(name, f"t.{name}") for name in task
    )
    of_slot = ", ".join({"seq": "made.seq"}.get(name, f"s.{name}") for name in slot)
    fleet.rows(
        f"with made as (insert into task overriding system value select {of_task} from task t, generate_series(1, {count}) i"
        f" where t.id = '{id}' returning seq)"
        f" insert into slot select {of_slot} from made, slot s join task t on t.seq = s.seq where t.id = '{id}'"
    )


LOOKS = (
    *(f"board('{state}')" for state in ("running", "ready", "waiting", "held", "blocked", "suspect", "live")),
    "board('waiting', 'rare')", "board('live', 'rare')", "board('live', prefix => 'zzz')", "last_ended()",
    "last_ended('failed')", "last_ended(of_queue => 'rare')", "queues()", "workers()", "status()", "counters()",
)  # fmt: skip


def test_n31_a_look_reads_as_much_of_100000_tasks_as_of_few(fleet: Fleet) -> None:
    fleet.rows("select partitions(), register('zz', queue => 'rare', delay => '1 day')")
    for name, count in (("w", 10_000), ("r", 10_000)):
        for handler in range(5):
            delay = "1 h" if name == "w" else "0"
            fleet.rows(
                "select register(%s, handler => %s, delay => %s::interval)", f"{name}{handler}", f"h{handler}", delay
            )
            copies(fleet, f"{name}{handler}", count - 1)
    fleet.rows("select promote(100000)")
    node = fleet.hello()
    fleet.rows(
        "select count(*) from generate_series(1, 10), claim(%s, array(select class from class), most => 500)", node
    )
    # A history as if they had ended.
    fleet.rows(
        "insert into history (ended, seq, id, class, state, schedule, priority, stop, attempts, generation, run, registered,"
        " last_run, due, est) select now_ns() - 10000000000 - i, i, 'e' || i, 1, 4, 1, 3, 0, 1, 0, i, 0, 0, 0, 0"
        " from generate_series(1, 50000) i"
    )
    assert fleet.one("select count(*) from slot") == 100_001
    read = "select coalesce(sum(seq_tup_read + idx_tup_fetch), 0) from pg_stat_xact_user_tables"
    with fleet.another() as connection:
        for look in LOOKS:
            # Within a transaction these counters are its own.
            with connection.transaction():
                ((before,),) = connection.execute(read).fetchall()
                connection.execute(f"select count(*) from {look}")
                ((after,),) = connection.execute(read).fetchall()
            assert after - before <= 60_000, (look, after - before)
    # Of a queue that is rare it says from where to look on.
    (row,) = board(fleet, "waiting", of_queue="rare")
    assert row["id"] is None
    assert "zz" in pages(fleet, "board", 50, which="waiting", of_queue="rare")
    assert board(fleet, "ready", of_queue="rare") == []


def test_queues_and_workers_say_how_they_stand(told: Fleet) -> None:
    fleet = told
    fleet.at(100 * SECOND)
    fleet.rows("select set_queue('mail', limit_refresh => 2), pause('mail'), pause('slow', '1 min')")
    fleet.rows("select register('a', queue => 'mail'), register('b')")
    node = fleet.hello("alpha")
    fleet.rows("select beat(%s, 0, serves => array(select class from class))", node)
    fleet.at(110 * SECOND)
    rows = {row["queue"]: row for row in table(fleet, "queues")}
    assert [*rows] == ["default", "mail", "slow"]
    assert (rows["default"]["ready"], rows["default"]["oldest"].total_seconds()) == (1, 10)
    assert rows["mail"]["paused"]
    assert rows["mail"]["paused_until"] is None
    assert (rows["mail"]["limit_refresh"], rows["mail"]["pending_refresh"]) == (2, 1)
    assert rows["slow"]["paused_until"].timestamp() == 160
    assert [row["queue"] for row in table(fleet, "queues", of_name="mail")] == ["mail"]
    assert [row["queue"] for row in table(fleet, "queues", after="default", most=1)] == ["mail"]
    fleet.claim(node)
    fleet.hello("beta", lease=SECOND)
    fleet.at(120 * SECOND)
    alpha, beta = table(fleet, "workers")
    assert (alpha["name"], alpha["alive"], alpha["runs"], alpha["handlers"]) == ("alpha", True, 1, ["a", "b"])
    assert (beta["name"], beta["alive"], beta["runs"]) == ("beta", False, 0)
    assert beta["expires"].timestamp() == 111


def test_counters_count_what_ends_once(told: Fleet) -> None:
    fleet = told
    fleet.at(1000 * SECOND)
    node = fleet.hello()
    (first,) = table(fleet, "counters")
    assert (first["registered"], first["succeeded"]) == (0, 0)
    fleet.rows("select register('a'), register('b', max_attempts => 1), register('c', delay => '1 h')")
    runs = {run["id"]: run for run in fleet.claim(node, 2)}
    fleet.at(1001 * SECOND)
    fleet.complete([runs["a"]])
    fleet.complete([runs["b"]], 2)
    fleet.rows("select cancel('c')")
    # Those of the last seconds are told later.
    fleet.at(1002 * SECOND)
    (second,) = table(fleet, "counters", ended=first["upto"])
    assert (second["registered"], second["runs"]) == (3, 2)
    assert (second["succeeded"], second["failed"], second["cancelled"]) == (0, 0, 0)
    fleet.at(1010 * SECOND)
    (third,) = table(fleet, "counters", ended=second["upto"])
    assert (third["succeeded"], third["failed"], third["cancelled"]) == (1, 1, 1)
    (fourth,) = table(fleet, "counters", ended=third["upto"])
    assert (fourth["succeeded"], fourth["failed"], fourth["cancelled"]) == (0, 0, 0)


# ---- again, and now ------------------------------------------------------------------------------------------------


def terms(fleet: Fleet, id: str) -> tuple[Any, ...]:
    (row,) = fleet.rows(
        "select class, schedule, priority, backoff, response_window, existing, max_attempts, learns, delay, backoff_delay, tags,"
        " input from task where id = %s and behind is null", id,
    )  # fmt: skip
    return row


@pytest.mark.parametrize("way", ["plain", "limited", "dead"])
def test_r7_what_failed_is_tried_again_with_the_same_terms(told: Fleet, way: str) -> None:
    fleet = told
    fleet.at(1000 * SECOND)
    if way == "limited":
        fleet.rows("select set_queue('mail', limit_refresh => 1)")
    fleet.rows(
        "select register('a', handler => 'send', queue => 'mail', priority => 4, delay => '1 min', backoff => 'linear',"
        " max_attempts => 1, tags => '{x,y}', labels => '{gpu}', input => '\\x00ff01')"
    )
    before = terms(fleet, "a")
    fleet.at(1100 * SECOND)
    node = fleet.hello("alpha", lease=SECOND)
    if way == "dead":
        assert len(fleet.claim(node)) == 1
        judge(fleet, range(1100, 1120))
    else:
        fail(fleet, node)
    assert fleet.one("select state from get('a')") == "failed"
    fleet.at(1200 * SECOND)
    assert fleet.one("select retry('a')") == "added"
    assert terms(fleet, "a") == before
    slot = fleet.slot("a")
    assert (slot["attempts"], slot["due"], slot["state"], slot["decided"]) == (0, 1200 * SECOND, 0, 0)
    assert slot["failure"] == ("the process ended" if way == "dead" else "no paper")
    assert slot["response"] == (None if way == "dead" else [5 * MS])
    (run,) = fleet.claim(fleet.hello("other"))
    assert (run["id"], run["input"], run["attempts"]) == ("a", b"\x00\xff\x01", 1)
    assert all(fleet.complete([run]).values())
    assert fleet.one("select state from get('a')") == "succeeded"
    if way == "limited":
        assert fleet.one("select pending from pending") == 0


def refused(fleet: Fleet, call: str, code: str, words: str) -> None:
    with pytest.raises(psycopg.Error, match=words) as error:
        fleet.rows(f"select {call}")
    assert error.value.sqlstate == code


def test_r7_only_what_has_failed_is_tried_again(fleet: Fleet) -> None:
    refused(fleet, "retry('a')", "SE021", "'a' is not registered")
    fleet.rows("select register('a', max_attempts => 1), register('b'), register('c')")
    refused(fleet, "retry('a')", "SE016", "'a' is live")
    fleet.rows("select cancel('b')")
    refused(fleet, "retry('b')", "SE016", "'b' has been cancelled")
    node = fleet.hello()
    runs = {run["id"]: run for run in fleet.claim(node, 2)}
    fleet.complete([runs["c"]])
    refused(fleet, "retry('c')", "SE016", "'c' has succeeded")
    fleet.complete([runs["a"]], 2)
    # Of an earlier release: nobody knows what it was.
    fleet.rows("update history set terms = null where id = 'a'")
    refused(fleet, "retry('a')", "SE016", "register it again")


def test_r7_a_retry_needs_a_place_of_its_queue(fleet: Fleet) -> None:
    fleet.rows("select set_queue('default', limit_refresh => 1)")
    fleet.rows("select register('a', max_attempts => 1)")
    fail(fleet, fleet.hello())
    fleet.rows("select register('b', delay => '1 h')")
    refused(fleet, "retry('a')", "SE002", "exceed its limit")
    assert fleet.one("select state from get('a')") == "failed"
    fleet.rows("select set_queue('default', holds => true)")
    assert fleet.one("select retry('a')") == "held"
    fleet.rows("select cancel('b')")
    assert fleet.slot("a")["state"] == 1


def test_r7_two_who_try_again_at_once_make_one_task(fleet: Fleet) -> None:
    fleet.rows("select register('a', max_attempts => 1)")
    fail(fleet, fleet.hello())
    with fleet.another() as second, fleet.another() as first, first.transaction():
        first.execute("select retry('a')")
        second.execute("set statement_timeout = '300ms'")
        with pytest.raises(errors.QueryCanceled):
            second.execute("select retry('a')")
    refused(fleet, "retry('a')", "SE016", "'a' is live")
    assert fleet.one("select count(*) from task") == 1


def test_r7_what_failed_behind_another_is_tried_again_alone(fleet: Fleet) -> None:
    fleet.rows(
        "select register('a', max_attempts => 1, input => 'one'), register('a', existing => 'append', input => 'two')"
    )
    fail(fleet, fleet.hello())
    assert fleet.one("select count(*) from history where state = 5") == 2
    assert fleet.one("select retry('a')") == "added"
    assert fleet.rows("select id, behind from task") == [("a", None)]


def test_w7_a_task_is_due_now_whatever_it_waited_for_by_time(told: Fleet) -> None:
    fleet = told
    fleet.at(1000 * SECOND)
    fleet.rows("select register('later', delay => '1 h'), register('often', every => '1 h', anchored => true)")
    node = fleet.hello()
    (run,) = fleet.claim(node)
    fleet.complete([run])
    assert fleet.slot("often")["due"] == 4600 * SECOND
    fleet.at(1500 * SECOND)
    assert fleet.one("select run_now('later')") == "ready"
    assert fleet.one("select run_now('often')") == "ready"
    assert fleet.one("select run_now('often')") == "ready"
    runs = {run["id"]: run for run in fleet.claim(node, 2)}
    assert [*runs] == ["later", "often"] or [*runs] == ["often", "later"]
    refused(fleet, "run_now('later')", "SE016", "'later' runs already")
    fleet.complete([*runs.values()])
    # Its periods are where they were.
    assert fleet.slot("often")["due"] == 4600 * SECOND
    refused(fleet, "run_now('later')", "SE021", "'later' has no live task")
    fleet.rows("select set_queue('small', limit_refresh => 0, holds => true), register('held', queue => 'small')")
    assert fleet.one("select run_now('held')") == "held"
    assert fleet.slot("held")["state"] == 2


def test_n33_a_schema_of_before_gets_what_it_lacks(fresh: Fleet) -> None:
    fleet = fresh
    fleet.rows("select register('a', max_attempts => 1), register('b')")
    fleet.rows("drop view live cascade")
    fleet.rows("alter table slot drop column begun; alter table history drop column terms")
    fleet.rows(
        "drop index slot_suspect; drop index history_state; drop function retry(text), run_now(text), queues(text, text, int)"
    )
    fleet.server.install(fleet.name)
    fail(fleet, fleet.hello())
    assert [row["id"] for row in table(fleet, "last_ended", which="failed")] == ["a"]
    assert fleet.one("select retry('a')") == "added"
    assert [row["queue"] for row in table(fleet, "queues")] == ["default"]
    assert {row[0] for row in fleet.rows("select indexname from pg_indexes where schemaname = 'selene'")} >= {
        "slot_suspect",
        "history_state",
    }


def test_n33_what_queues_and_nodes_tell_grows_with_the_release(fresh: Fleet) -> None:
    fleet = fresh
    old = "create function {}({}) returns table ({} text) language plpgsql as 'begin end'"
    fleet.rows(
        "drop function queues(text, text, int); drop function workers(int); drop view nodes; drop function drain(text)"
    )
    fleet.rows("alter table worker drop column draining")
    fleet.rows(
        "create view nodes as select w.worker, w.name, w.version, instant(w.started) as started, instant(w.beaten) as beaten,"
        " instant(w.expires) as expires, span(w.ttl) as lease, true as alive, w.jumps, w.serves from worker w"
    )
    fleet.rows(old.format("queues", "of_name text default null, after text default '', most int default 100", "queue"))
    fleet.rows(old.format("workers", "most int default 100", "name"))
    worker = fleet.hello("alpha")
    for _ in range(2):
        fleet.server.install(fleet.name)
        assert [(row["name"], row["draining"]) for row in table(fleet, "workers")] == [("alpha", False)]
        assert fleet.rows("select draining from nodes") == [(False,)]
        fleet.rows("select set_queue('q', max_input => 5)")
        assert [row["max_input"] for row in table(fleet, "queues")] == [5]
    assert fleet.one("select drain('alpha')") == 1
    assert fleet.one("select array_agg(what) from beat(%s, null)", worker) == [0, 4]
