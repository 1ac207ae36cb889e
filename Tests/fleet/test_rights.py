"""Who may call what (N32), and that plans do not follow a guess (N6)."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pyselene
import pytest
from psycopg import errors

from conftest import Fleet

#: A call of each function that anybody may have a right to, and whose it is.
CALLS = {
    "register('x')": {"enqueue"},
    "try_register('x')": {"enqueue"},
    f"register_batch('q', '{{x}}'{', null' * 18})": {"enqueue"},
    "update_task('x', priority => 1)": {"enqueue"},
    "cancel_tag('none')": {"enqueue"},
    "cancel('x')": {"enqueue"},
    "retry('x')": {"enqueue"},
    "run_now('x')": {"enqueue"},
    "result('x')": {"enqueue"},
    "wake()": {"enqueue"},
    "hello('n')": {"work"},
    "beat(0, 0)": {"work"},
    "bye(0)": {"work"},
    "turn(0, '{}', '{}', '{}', '{}')": {"work"},
    "claim((hello('n')).worker, '{}')": {"work"},
    "complete('{}', '{}', '{}', '{}')": {"work"},
    "release('{}', '{}')": {"work"},
    "promote()": {"work"},
    "fate('{}', '{}', '{}')": {"work"},
    "classes()": {"work", "look"},
    "listen()": {"work"},
    "tell()": {"work"},
    "get('x')": {"look"},
    "list()": {"look"},
    "explain('x')": {"look"},
    "status()": {"look"},
    "board('live')": {"look"},
    "last_ended()": {"look"},
    "queues()": {"look"},
    "workers()": {"look"},
    "counters()": {"look"},
    "now_ns()": {"look"},
    "pause('default')": set(),
    "resume('default')": set(),
    "set_queue('default')": set(),
    "prune()": set(),
    "partitions()": set(),
    "cancel_all('none')": set(),
    "drain('none')": set(),
}
ROLES = ("enqueue", "work", "look", "manage")


@pytest.mark.parametrize("role", [*ROLES, None])
def test_n32_a_role_may_call_what_is_its_own_and_read_no_table(fleet: Fleet, role: str | None) -> None:
    user = f"user_{role}".lower()
    fleet.rows(f"drop role if exists {user}")
    fleet.rows(f"create role {user} login")
    if role:
        fleet.rows(f"grant selene_{role} to {user}")
    with fleet.another(user) as connection:
        for call, roles in CALLS.items():
            fleet.rows("select register('x')")
            allowed = role == "manage" or role in roles
            try:
                connection.execute(
                    f"select * from selene.{call}" if not call.startswith("claim") else f"select selene.{call}"
                )
                assert allowed, (role, call)
            except (errors.InsufficientPrivilege, errors.UndefinedFunction):
                assert not allowed, (role, call)
            except psycopg.Error as error:
                # What the fleet itself refuses was called.
                assert allowed, (role, call)
                assert (error.sqlstate or "").startswith("SE"), error
        for table in ("task", "slot", "history", "worker", "queue", "class", "stray", "pending", "fleet", "run_number"):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(f"select * from selene.{table}")
        for view in ("live", "ended", "nodes"):
            if role in ("look", "manage"):
                columns = connection.execute(f"select * from selene.{view}").description or []
                assert "input" not in [column.name for column in columns]
            else:
                with pytest.raises(errors.InsufficientPrivilege):
                    connection.execute(f"select * from selene.{view}")


def test_n32_every_function_is_somebodys_or_nobodys(fleet: Fleet) -> None:
    fleet.rows("create role stranger login") if not fleet.rows(
        "select 1 from pg_roles where rolname = 'stranger'"
    ) else None
    open_to_all = fleet.rows(
        "select proname from pg_proc where pronamespace = 'selene'::regnamespace and provolatile <> 'i'"
        " and has_function_privilege('stranger', oid, 'execute')"
    )
    assert open_to_all == []
    granted = {
        row[0]
        for row in fleet.rows(
            "select proname from pg_proc where pronamespace = 'selene'::regnamespace and provolatile <> 'i'"
            " and has_function_privilege('selene_manage', oid, 'execute')"
        )
    }
    assert granted == {re.match(r"\w+", call)[0] for call in CALLS}  # type: ignore[index]
    # What is written in SQL reads no table: such a function is planned again in each transaction that calls it (N6).
    in_sql = fleet.rows(
        "select proname from pg_proc p join pg_language l on l.oid = p.prolang where l.lanname = 'sql'"
        " and p.pronamespace = 'selene'::regnamespace and p.provolatile <> 'i'"
    )
    assert in_sql == [("now_ns",)]
    # Who is granted anything else runs as the owner, with a path that the caller cannot bend.
    unsafe = fleet.rows(
        "select proname from pg_proc where pronamespace = 'selene'::regnamespace and proname = any(%s)"
        " and (not prosecdef or not 'search_path=selene, pg_temp' = any(proconfig))",
        sorted(granted - {"now_ns"}),
    )
    assert unsafe == []


def test_n32_a_table_of_the_callers_is_not_taken_for_the_fleets(fleet: Fleet) -> None:
    with fleet.another() as connection:
        connection.execute("create temporary table task (id text); create temporary table slot (seq bigint)")
        connection.execute("select selene.register('real')")
    assert fleet.one("select state from get('real')") == "enqueued"


def test_n1_an_owner_who_is_no_superuser_installs_a_fleet_under_another_name(fresh: Fleet) -> None:
    fleet, server = fresh, fresh.server
    fleet.rows("drop role if exists plain")
    fleet.rows("create role plain login")
    fleet.rows(f"grant create on database {fleet.name} to plain")
    said = server.install(fleet.name, "tasks", "plain")
    assert said.count("WARNING") == 1
    assert (
        "only plain and superusers can use the fleet tasks; nothing needs to be done, unless others are to use it"
        in said
    )
    assert all(f"tasks_{right}" in said for right in ("enqueue", "work", "look", "manage"))
    server.install(fleet.name, "tasks", "plain")
    with server.connect(fleet.name, "plain") as connection:
        assert connection.execute("select tasks.register('a')").fetchall() == [("added",)]
        (worker,) = connection.execute("select worker from tasks.hello('n')").fetchall()[0]
        assert connection.execute("select id from tasks.claim(%s, '{1}')", (worker,)).fetchall() == [("a",)]
    assert fleet.rows("select * from selene.live") == []
    # As the warning says.
    rights = ("enqueue", "work", "look", "manage")
    assert "then a superuser creates the roles" in said
    for right in rights:
        fleet.rows(f"create role tasks_{right}; grant tasks_{right} to plain with admin option")
    try:
        assert "WARNING" not in server.install(fleet.name, "tasks", "plain")
        fleet.rows("drop role if exists other")
        fleet.rows("create role other login in role tasks_enqueue")
        with server.connect(fleet.name, "other") as connection:
            assert connection.execute("select tasks.register('b')").fetchall() == [("added",)]
        with server.connect(fleet.name, "plain") as connection:
            assert connection.execute("select count(*) from tasks.live").fetchall() == [(2,)]
        assert "WARNING" not in server.install(fleet.name, "tasks", "plain")
    finally:
        for right in rights:
            fleet.rows(f"drop owned by tasks_{right}; drop role tasks_{right}")


def test_n32_a_schema_whose_roles_would_have_no_names_of_their_own_is_refused(fresh: Fleet) -> None:
    rights = ("enqueue", "work", "look", "manage")
    longest = "s" * 55
    try:
        fresh.server.install(fresh.name, longest)
        found = fresh.rows("select rolname from pg_roles where rolname like %s order by 1", longest + "%")
        assert found == sorted((f"{longest}_{right}",) for right in rights)
    finally:
        for right in rights:
            fresh.rows(f"drop owned by {longest}_{right}; drop role {longest}_{right}")
    for name, bytes in (("t" * 56, 56), ("t" * 62, 62), ("t" * 63, 63), ("t" * 80, 63), ("ä" * 28, 56)):
        with pytest.raises(RuntimeError, match=f"schema: {bytes} bytes is out of range, allowed are 1 to 55 bytes"):
            fresh.server.install(fresh.name, name)
    assert fresh.rows("select from pg_namespace where nspname ~ '^(t|ä)+$'") == []
    assert fresh.rows("select from pg_roles where rolname ~ '^(t|ä)+'") == []


def test_n33_installing_again_keeps_what_is_there(fleet: Fleet) -> None:
    fleet.rows("select register('a')")
    fleet.server.install(fleet.name)
    assert fleet.one("select state from get('a')") == "enqueued"
    assert fleet.one("select count(*) from fleet") == 1


def test_n33_a_node_and_a_fleet_use_the_newest_protocol_that_both_speak(fleet: Fleet) -> None:
    fleet.rows("update fleet set oldest = 2, protocol = 4")
    for speaks, told in (([1, 2, 3], 3), ([4, 5], 4), ([9, 2], 2)):
        assert fleet.one("select protocol from hello('n', protocols => %s)", speaks) == told
    for speaks, side in (([1], "newer"), ([5, 6], "older")):
        with pytest.raises(psycopg.Error, match=f"speaks 2 to 4, .*the fleet is {side}") as refused:
            fleet.rows("select * from hello('n', protocols => %s)", speaks)
        assert refused.value.sqlstate == "SE019"
    assert fleet.one("select count(*) from worker") == 3


def test_n33_a_node_that_does_not_say_its_protocols_speaks_the_first(fleet: Fleet) -> None:
    assert fleet.rows("select worker, protocol from hello('n', 30000000000, '0.1')") == [(1, 1)]


def test_n33_the_script_of_an_older_release_leaves_a_newer_fleet_alone(fleet: Fleet) -> None:
    fleet.rows("update fleet set protocol = 2")
    with pytest.raises(RuntimeError, match="the fleet is newer"):
        fleet.server.install(fleet.name)
    fleet.rows("update fleet set protocol = 0")
    fleet.server.install(fleet.name)
    assert fleet.rows("select oldest, protocol from fleet") == [(1, 1)]


def test_n33_functions_of_an_earlier_release_do_not_take_the_place_of_later_ones(fresh: Fleet) -> None:
    mine = pyselene.library_version
    assert fresh.one("select release_name(release) from fleet") == mine
    fresh.rows("update fleet set release = 1002003")
    said = re.escape(f"the fleet is of 1.2.3, these functions are of {mine}: the fleet is newer")
    with pytest.raises(RuntimeError, match=said):
        fresh.server.install(fresh.name)


STATISTICS = {
    "absent": "delete from pg_statistic; update pg_class set reltuples = -1, relpages = 0 where relnamespace = 'selene'::regnamespace",
    "empty": "",
    "fresh": "analyze",
}


def plans(fleet: Fleet) -> dict[str, set[str]]:
    """How every statement of the functions was carried out: by its text, the kinds of scans and joins."""
    found: dict[str, set[str]] = {}

    def hear(diagnostic: Any) -> None:
        text = diagnostic.message_primary
        if "Query Text:" not in text:
            return
        query, plan = text.split("Query Text: ", 1)[1].split("\n", 1)[0], text
        nodes = re.findall(
            r"((?:Index Only|Index|Seq|Bitmap Heap|Tid) Scan(?: Backward)?(?: using \w+)? on \w+|Hash Join|Merge Join)",
            plan,
        )
        found.setdefault(query, set()).update(re.sub(r"history_\w+", "history", node) for node in nodes)

    with fleet.another() as connection:
        connection.add_notice_handler(hear)
        connection.execute("load 'auto_explain'")
        for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_level = notice"):
            connection.execute(f"set auto_explain.{setting}")
        connection.execute("set client_min_messages = notice")
        for call in (
            "register('p1', tags => '{t}'), register('p1', existing => 'append'), register('p2', every => '1 h')",
            "register('p1', existing => 'update'), update_task('p2', priority => 4)",
        ):
            connection.execute(f"select {call}")
        (worker,) = connection.execute("select worker from hello('n', 1000000000)").fetchall()[0]
        rows = connection.execute("select seq, run, id from claim(%s, '{1,2}', most => 3)", (worker,)).fetchall()
        connection.execute("select * from claim(%s, '{}', '{310}', '{0}', most => 3)", (worker,))
        connection.execute("select * from fate(%s, %s, %s)", tuple([row[at] for row in rows] for at in (0, 1, 2)))
        connection.execute("select * from beat(%s, 0, %s)", (worker, [row[1] for row in rows]))
        connection.execute(
            "select * from complete(%s, %s, %s, %s)",
            ([row[0] for row in rows], [row[1] for row in rows], [0] * len(rows), [1] * len(rows)),
        )
        for setting in ("seqscan", "hashjoin", "mergejoin", "bitmapscan"):
            # As inside `beat`.
            connection.execute(f"set enable_{setting} = off")
        connection.execute("select reap(now_ns())")
        connection.execute("reset all")
        connection.execute("set search_path = selene")
        for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_level = notice"):
            connection.execute(f"set auto_explain.{setting}")
        connection.execute("select promote()")
        connection.execute("select * from get('p2')")
        connection.execute("select cancel('p2'), cancel_tag('t'), bye(%s)", (worker,))
    return found


@pytest.mark.parametrize("statistics", STATISTICS)
def test_n6_no_statement_of_a_function_reads_a_table_from_end_to_end(fleet: Fleet, statistics: str) -> None:
    fleet.connection.execute("alter table slot set (autovacuum_enabled = off)")
    if statistics == "empty":
        # The planner believes what it saw when nothing was there.
        fleet.rows("analyze")
    fleet.rows(
        "select count(register('a' || i, handler => 'h' || i % 3, every => '1 s')) from generate_series(1, 2000) i"
    )
    if statistics != "empty":
        fleet.connection.execute(STATISTICS[statistics])
    told = plans(fleet)
    assert len(told) > 30, "auto_explain tells nothing"
    big = re.compile(r"Seq Scan on (slot|task|history|stray)|Hash Join|Merge Join")
    wrong = {query: bad for query, nodes in told.items() if (bad := {node for node in nodes if big.match(node)})}
    assert not wrong
    heads = next(nodes for query, nodes in told.items() if "with head as" in query)
    assert any("slot_ready" in node for node in heads)


def test_n6_a_plan_would_be_found_out(fresh: Fleet) -> None:
    fleet = fresh
    fleet.rows("select register('a')")
    fleet.rows("alter function promote(int, bigint) reset all")
    fleet.rows("alter function promote(int, bigint) set search_path = selene")
    fleet.rows("set enable_indexscan = off; set enable_bitmapscan = off")
    with fleet.another() as connection:
        said: list[str] = []
        connection.add_notice_handler(lambda diagnostic: said.append(diagnostic.message_primary or ""))
        connection.execute("load 'auto_explain'")
        connection.execute("set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on")
        connection.execute(
            "set auto_explain.log_level = notice; set enable_indexscan = off; set enable_bitmapscan = off"
        )
        connection.execute("select promote()")
    assert any("Seq Scan on slot" in text for text in said)
