"""What others may not do to a fleet, nor a role that has no rights there (N60 to N64)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from conftest import SECOND, Fleet

#: When a told clock begins.
BEGIN = 10**15
#: The script of the release before.
EARLIER = Path(__file__).resolve().parent / "releases/0.2.0.sql"
PATIENCE = 60


def role(fleet: Fleet, name: str, more: str = "") -> None:
    """A role that may log in, without rights of an earlier test."""
    if not fleet.rows("select 1 from pg_roles where rolname = %s", name):
        fleet.rows(f"create role {name} login")
    fleet.rows(f"alter role {name} nosuperuser {more}")


def is_super(fleet: Fleet, name: str) -> bool:
    return bool(fleet.one("select rolsuper from pg_roles where rolname = %s", name))


# ---- who installs (N60) ----------------------------------------------------------


def test_n60_a_superuser_does_not_install_into_a_schema_of_another_role(fresh: Fleet) -> None:
    fleet, server = fresh, fresh.server
    role(fleet, "squatter")
    fleet.rows(f"grant create on database {fleet.name} to squatter")
    with server.connect(fleet.name, "squatter") as theirs:
        theirs.execute("create schema squat; set search_path = squat")
        theirs.execute(
            "create function own() returns trigger language plpgsql as"
            " $$ begin execute 'alter role squatter superuser'; return new; end $$"
        )
        theirs.execute(
            "create table fleet (is_here boolean primary key default true, protocol int not null, timeline text,"
            " installed bigint not null); create trigger t before insert on fleet for each row execute function own()"
        )
        theirs.execute("grant all on all tables in schema squat to public; grant all on schema squat to public")
    with pytest.raises(RuntimeError, match="schema squat of squatter is there; fleet installs a fleet only where"):
        server.install(fleet.name, "squat")
    assert not is_super(fleet, "squatter")
    fleet.rows("drop schema squat cascade")


def test_n60_a_superuser_does_not_bring_the_fleet_of_another_role_to_its_release(fresh: Fleet) -> None:
    fleet, server = fresh, fresh.server
    role(fleet, "owns_one")
    fleet.rows(f"grant create on database {fleet.name} to owns_one")
    server.install(fleet.name, "owned", "owns_one")
    with server.connect(fleet.name, "owns_one") as theirs:
        theirs.execute(
            "create function owned.up() returns trigger language plpgsql as"
            " $$ begin execute 'alter role owns_one superuser'; return new; end $$"
        )
        theirs.execute(
            "create trigger up before insert or update on owned.fleet for each row execute function owned.up()"
        )
    with pytest.raises(RuntimeError, match="schema owned of owns_one is there"):
        server.install(fleet.name, "owned")
    assert not is_super(fleet, "owns_one")
    fleet.rows("drop schema owned cascade")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("create function selene.now() returns int language sql as 'select 1'", r"function selene.now\(\) of stranger"),
        ("create table selene.keep (a int)", "table selene.keep of stranger"),
        ("create type selene.word as enum ('a')", "type selene.word of stranger"),
    ],
)
def test_n60_what_another_role_has_made_in_the_schema_is_named(fresh: Fleet, made: str, told: str) -> None:
    fleet, server = fresh, fresh.server
    role(fleet, "stranger")
    fleet.rows("grant usage, create on schema selene to stranger")
    with server.connect(fleet.name, "stranger") as theirs:
        theirs.execute(made)
    with pytest.raises(RuntimeError, match=told):
        server.install(fleet.name)
    fleet.rows("drop owned by stranger")
    server.install(fleet.name)


def test_n60_a_trigger_of_another_role_is_named(fresh: Fleet) -> None:
    fleet, server = fresh, fresh.server
    role(fleet, "stranger")
    fleet.rows("create schema other authorization stranger; grant trigger on selene.fleet to stranger")
    fleet.rows("grant usage on schema selene to stranger")
    with server.connect(fleet.name, "stranger") as theirs:
        theirs.execute(
            "create function other.f() returns trigger language plpgsql as $$ begin return new; end $$;"
            " create trigger f before update on selene.fleet for each row execute function other.f()"
        )
    with pytest.raises(RuntimeError, match=r"trigger f on selene.fleet with function other.f\(\) of stranger"):
        server.install(fleet.name)
    fleet.rows("drop owned by stranger cascade")
    server.install(fleet.name)


def test_n60_a_role_without_rights_keeps_nobody_from_installing(fresh: Fleet) -> None:
    role(fresh, "nobody_at_all")
    with fresh.another("nobody_at_all") as theirs, theirs.transaction():
        theirs.execute("select pg_advisory_xact_lock(hashtext('selene selene'))")
        fresh.server.install(fresh.name)


@pytest.mark.parametrize("script", ["as it is", "of the release before"])
def test_n60_a_fleet_in_use_is_installed_without_a_deadlock(fresh: Fleet, script: str) -> None:
    """`server` looks for deadlocks in its log."""
    fleet, server = fresh, fresh.server
    if script != "as it is":
        fleet.rows("drop schema selene cascade")
        server.install(fleet.name, script=EARLIER)
    over = threading.Event()
    failed: list[str] = []

    def work(number: int) -> None:
        with fleet.server.connect(fleet.name) as connection:
            connection.execute("set search_path = selene")
            count = 0
            while not over.is_set():
                count += 1
                try:
                    one_round(connection, number, count)
                except psycopg.errors.LockNotAvailable:
                    pass  # a worker's call, which is made again
                except psycopg.Error as error:
                    failed.append(f"{error.sqlstate} {error}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    try:
        for _ in range(20):
            server.install(fleet.name)
            if script != "as it is":
                # As if that were missing once more.
                fleet.rows("drop index slot_suspect")
                fleet.rows("drop index task_tags")
    finally:
        over.set()
        for one in threads:
            one.join(PATIENCE)
    assert not [one for one in failed if not one.startswith(("40001", "XX000"))], failed
    assert fleet.one("select count(*) from ended where state = 'succeeded'") > 20


def one_round(connection: psycopg.Connection[Any], number: int, count: int) -> None:
    """Registers, runs, looks, and cancels."""
    id = f"t{number}-{count}"
    connection.execute("select register(%s, handler => %s, tags => '{a}')", (id, f"h{number}"))
    ((worker,),) = connection.execute("select worker from hello(%s, 1000000000)", (f"n{number}",)).fetchall()
    classes = [row[0] for row in connection.execute("select class from classes()").fetchall()]
    runs = connection.execute("select seq, run from claim(%s, %s, most => 3)", (worker, classes)).fetchall()
    connection.execute("select * from beat(%s, 0)", (worker,))
    connection.execute(
        "select * from turn(%s, %s, %s, %s, %s)",
        (worker, [row[0] for row in runs], [row[1] for row in runs], [0] * len(runs), [1] * len(runs)),
    )
    connection.execute("select bye(%s)", (worker,))
    connection.execute("select * from list(most => 5)")
    connection.execute("select * from explain(%s)", (id,))
    if count % 5 == 0:
        connection.execute("select set_queue('default', pace => '1 min')")


# ---- an installed fleet ----------------------------------------------------------


def test_n33_a_fleet_of_the_release_before_is_brought_to_this_one_with_all_that_is_in_it(fresh: Fleet) -> None:
    fleet, server = fresh, fresh.server
    fleet.rows("drop schema selene cascade")
    server.install(fleet.name, script=EARLIER)
    role(fleet, "works_there")
    fleet.rows("grant selene_work to works_there")
    fleet.rows("select set_queue('limited', limit_refresh => 2, holds => true, retention => '2 days')")
    fleet.rows("select register('l' || i, handler => 'h', queue => 'limited') from generate_series(1, 4) i")
    fleet.rows("select register('a'), register('b', every => '1 h'), register('c', delay => '1 h', tags => '{t}')")
    fleet.rows("select register('a', existing => 'append')")
    worker, other = fleet.hello("one", 3600 * SECOND), fleet.hello("other", 3600 * SECOND)
    runs = fleet.claim(worker, 2)
    fleet.complete(fleet.claim(other, 1))
    places = "select kind, pending from pending"
    before = fleet.rows("select id, state, attempts, tags from live order by id, seq"), fleet.rows(places)
    server.install(fleet.name)
    assert (fleet.rows("select id, state, attempts, tags from live order by id, seq"), fleet.rows(places)) == before
    # Who had rights has them, and runs that were in flight end as ever.
    with server.connect(fleet.name, "works_there") as theirs:
        assert [row[0] for row in theirs.execute("select what from selene.beat(%s, 0)", (worker,)).fetchall()] == [0]
    assert set(fleet.complete(runs).values()) == {True}
    done = 0
    while more := fleet.claim(worker, 10):
        done += sum(fleet.complete(more).values())
    assert done
    assert fleet.one("select count(*) from ended where state = 'succeeded'") >= 5
    server.install(fleet.name)


# ---- housekeeping (N61) ----------------------------------------------------------


def dead_and_living(told: Fleet) -> tuple[int, int]:
    """A node that has claimed a task and is dead, and one that has beaten for a lease without a gap."""
    told.at(BEGIN)
    told.rows("select register('t', handler => 'h', max_attempts => 5)")
    dead, living = told.hello("dead", SECOND), told.hello("living", SECOND)
    told.claim(dead)
    for step in range(1, 12):
        told.at(BEGIN + step * SECOND // 5)
        told.rows("select * from beat(%s, %s)", living, SECOND // 5)
    return dead, living


def test_n61_a_lock_that_anybody_can_hold_keeps_no_run_of_a_dead_node(told: Fleet) -> None:
    role(told, "nobody_at_all")
    with told.another("nobody_at_all") as theirs, theirs.transaction():
        theirs.execute("select pg_advisory_xact_lock(hashtext('selene keeping selene'))")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), theirs.transaction():
            theirs.execute("select 1 from selene.keeper for update")
        dead_and_living(told)
        assert told.one("select state from get('t')") == "enqueued"


def test_n61_housekeeping_that_does_not_happen_is_an_alarm(told: Fleet) -> None:
    alarms = "select value from status() where item = 'housekeeping' and alarm"
    with told.another() as other, other.transaction():
        other.execute("select 1 from keeper for update")
        _, living = dead_and_living(told)
        assert told.one("select state from get('t')") == "running"
        for step in range(12, 40):
            told.at(BEGIN + step * SECOND // 5)
            told.rows("select * from beat(%s, %s)", living, SECOND // 5)
        ((words,),) = told.rows(alarms)
        assert "a transaction keeps the row of keeper" in words
    told.at(BEGIN + 8 * SECOND)
    told.rows("select * from beat(%s, %s)", living, SECOND // 5)
    assert told.rows(alarms) == []
    assert told.one("select state from get('t')") == "enqueued"


# ---- roles (N62) -----------------------------------------------------------------


def test_n62_a_role_of_one_database_has_no_rights_in_another(fresh: Fleet) -> None:
    server = fresh.server
    server.install(fresh.name, "tenant")
    name = f"other_{fresh.name}"
    role(fresh, "alice_works")
    fresh.rows("grant tenant_work, tenant_enqueue to alice_works")
    fresh.rows(f"create database {name}")
    rights = ("enqueue", "work", "look", "manage")
    own = f"tenant_{name}"
    try:
        said = server.install(name, "tenant")
        assert "WARNING" not in said
        with server.connect(name) as there, server.connect(name, "alice_works") as theirs:
            there.execute("select tenant.register('secret')")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                theirs.execute("select * from tenant.hello('alice')")
            there.execute(f"grant {own}_work to alice_works")
            theirs.execute("select * from tenant.hello('alice')")
            there.execute(f"revoke {own}_work from alice_works")
            # As an earlier release left it: what was granted stays, and who installs is told.
            there.execute("update tenant.fleet set roles = 'tenant'")
            assert "are granted rights in the fleets of other databases, too: " in server.install(name, "tenant")
            theirs.execute("select * from tenant.hello('alice')")
            there.execute("update tenant.fleet set roles = %s", (own,))
            assert "WARNING" not in server.install(name, "tenant")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                theirs.execute("select * from tenant.hello('alice')")
    finally:
        with server.connect("postgres") as admin:
            admin.execute(f"drop database {name} with (force)")
            for right in rights:
                admin.execute(f"drop role if exists {own}_{right}")
        for right in rights:
            fresh.rows(f"drop owned by tenant_{right}; drop role tenant_{right}")


# ---- refusals (N64) --------------------------------------------------------------

NAMES = ("cancel", "cancel_tag", "get", "explain", "retry", "run_now", "update_task", "result", "wake", "drain")
MONTHS = ("every", "delay", "expected", "backoff_delay")


@pytest.mark.parametrize(
    "call",
    [
        *(f"{name}(null)" for name in NAMES),
        "register(null)",
        "list(most => -1)",
        "list(most => null)",
        "board('live', most => -1)",
        "last_ended(most => -1)",
        "queues(most => -1)",
        "workers(-1)",
        "hello('x', serves => null)",
        "hello('x', version => null)",
        "hello('x', relaxed => null)",
        "beat({worker}, -9223372036854775808)",
        "claim({worker}, '{{1}}', most => -1)",
        "prune('-178000000 years')",
        "prune('1 month')",
        "pause('default', '178000000 years')",
        "pause('default', '-1 s')",
        "pause('default', '1 month')",
        "set_queue('default', pace => '1 month')",
        "set_queue('default', backoff_max => '1 s')",
        *(f"register('m', {name} => '1 month')" for name in MONTHS),
        "register('m', every => '1 year')",
        "register('m', every => '1 mon 1 day')",
        "register('m', every => '2 months', flex => '1 month')",
    ],
)
def test_n64_what_is_refused_is_refused_by_its_status_and_field(fleet: Fleet, call: str) -> None:
    fleet.rows("select register('a')")
    worker = fleet.hello()
    with pytest.raises(psycopg.Error) as refused:
        fleet.rows(f"select * from {call.format(worker=worker)}")
    assert refused.value.sqlstate == "SE016", refused.value
    assert refused.value.diag.column_name


def test_n64_what_nodes_learn_is_no_longer_than_a_day(fleet: Fleet) -> None:
    day = 86_400 * SECOND
    fleet.rows("select register('a', handler => 'h', every => '1 h', anchored => true)")
    worker = fleet.hello()
    fleet.complete(fleet.claim(worker), response=8 * day)
    assert fleet.rows("select est, response from slot") == [(day, [day])]
    beat = "select what from beat(%s, 0, '{}', '{1}', '{1}', %s, %s)"
    for count, total in (([1], [9223372036854775807]), ([1], [None]), ([9223372036854775807], [1]), ([1], [-5])):
        assert fleet.rows(beat, worker, count, total) == [(0,)]
    assert fleet.one("select mean from class") <= day
    fleet.rows("select register('b', handler => 'h')")
    assert [run["id"] for run in fleet.claim(worker)] == ["b"]
    # One that an earlier release has let in.
    fleet.rows("update slot set est = %s, state = 0 where schedule = 2", 8 * day)
    assert [run["id"] for run in fleet.claim(worker)] == ["a"]
