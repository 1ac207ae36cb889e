"""Leases and judges (N10 to N14), with a clock that is told."""

from __future__ import annotations

import re
import threading
import time
from typing import Any

import psycopg
import pytest
from pyselene._time import show

from conftest import SECOND, Fleet
from server import Server

LEASE = 3 * SECOND


class Nodes:
    """Workers that beat every second of the told time."""

    def __init__(self, told: Fleet, *names: str) -> None:
        self.told, self.now = told, 0
        self.workers = {name: told.hello(name, LEASE) for name in names}

    def beat(self, name: str, elapsed: int = SECOND) -> dict[int, int]:
        """What a beat tells: 0 it counts, 2 the clocks differ, 3 so many were taken back."""
        return dict(self.told.rows("select what, number from beat(%s, %s)", self.workers[name], elapsed))

    def pass_(self, seconds: int, *beating: str) -> int:
        """Time passes in which these beat; how many runs were taken back."""
        taken = 0
        for _ in range(seconds):
            self.now += SECOND
            self.told.at(self.now)
            taken += sum(self.beat(name).get(3, 0) for name in beating)
        return taken


def start(told: Fleet, count: int, worker: int) -> list[dict[str, Any]]:
    """Runs of a worker."""
    told.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, %s) i", count)
    runs = told.claim(worker, count)
    assert len(runs) == count
    return runs


def test_n10_who_does_not_beat_for_a_lease_loses_its_runs(told: Fleet) -> None:
    nodes = Nodes(told, "dead", "judge")
    runs = start(told, 3, nodes.workers["dead"])
    assert nodes.pass_(3, "judge") == 0
    assert nodes.pass_(1, "judge") == 3
    slot = told.slot("t1")
    # Which of them it was nobody knows: no attempt counts.
    assert (slot["state"], slot["attempts"], slot["stop"], slot["response"]) == (0, 0, 7, None)
    assert set(told.complete(runs).values()) == {False}
    # Its row went with its last run, so it learns that it is over.
    assert nodes.beat("dead") == {}
    told.rows("update worker set serves = '{1}'")
    assert told.one("select explain::text like '%%its node ended%%' from explain('t1') where reason = 'suspect'")


def test_n10_the_number_of_a_worker_is_never_used_again(told: Fleet) -> None:
    numbers = [told.hello() for _ in range(3)]
    told.rows("select bye(%s)", numbers[-1])
    assert told.hello() > numbers[-1]


def test_d3_what_ran_alone_is_to_blame_its_pause_doubles_and_attempts_end(told: Fleet) -> None:
    nodes = Nodes(told, "judge")
    told.rows("select register('a', max_attempts => 4, backoff => 'none')")
    for attempt in range(1, 5):
        worker = told.hello("dead", LEASE)
        (run,) = told.claim(worker)
        assert run["attempts"] == attempt
        assert nodes.pass_(4, "judge") == 1
        if attempt < 4:
            pause = 0 if attempt == 1 else 30 * SECOND * 2 ** (attempt - 2)
            assert told.slot("a")["due"] == nodes.now + pause
            nodes.now += pause
            told.at(nodes.now)
            nodes.workers["judge"] = told.hello("judge", LEASE)
    assert told.rows("select state, stop, failure from get('a')") == [("failed", "interrupted", "the process ended")]


def test_d3_what_waits_behind_an_interrupted_task_fails_with_it(told: Fleet) -> None:
    nodes = Nodes(told, "dead", "judge")
    told.rows("select register('a', max_attempts => 1), register('a', existing => 'append')")
    told.claim(nodes.workers["dead"])
    assert nodes.pass_(4, "judge") == 1
    assert told.rows("select state from ended order by seq") == [("failed",), ("failed",)]


def test_n11_who_has_not_beaten_for_a_whole_lease_judges_nobody(told: Fleet) -> None:
    nodes = Nodes(told, "dead")
    start(told, 1, nodes.workers["dead"])
    nodes.pass_(10)
    nodes.workers["late"] = told.hello("late", LEASE)
    assert nodes.pass_(2, "late") == 0
    assert nodes.pass_(1, "late") == 1


def test_n11_after_an_outage_everybody_has_time_to_beat_first(told: Fleet) -> None:
    nodes = Nodes(told, *"abcd")
    runs = [run for name in "abcd" for run in start_for(told, name, nodes.workers[name])]
    nodes.pass_(5, *"abcd")
    nodes.now += 10 * LEASE
    told.at(nodes.now)
    # The first two that come back are steady judges no longer, whatever they were; the others come late.
    for name in "ab":
        assert 3 not in nodes.beat(name, 10 * LEASE)
    assert nodes.pass_(2, *"ab") == 0
    for name in "cd":
        assert 3 not in nodes.beat(name, 10 * LEASE + 2 * SECOND)
    assert nodes.pass_(10, *"abcd") == 0
    assert set(told.complete(runs).values()) == {True}


def test_n11_an_outage_shorter_than_a_lease_takes_nothing_from_who_comes_back_second(told: Fleet) -> None:
    nodes = Nodes(told, "first", "second")
    (run,) = start_for(told, "second", nodes.workers["second"])
    nodes.pass_(5, "first", "second")
    assert nodes.pass_(1, "first") == 0
    # The first beat last just before the outage: for him it is no longer than a lease.
    nodes.now += LEASE - SECOND // 2
    told.at(nodes.now)
    assert 3 not in nodes.beat("first", LEASE - SECOND // 2)
    assert 3 not in nodes.beat("second", LEASE + SECOND // 2)
    assert nodes.pass_(10, "first", "second") == 0
    assert told.complete([run]) == {run["run"]: True}


def start_for(told: Fleet, name: str, worker: int) -> list[dict[str, Any]]:
    """A run of one."""
    told.rows("select register(%s)", f"of {name}")
    return told.claim(worker)


def test_n11_two_steady_judges_take_each_run_back_once(told: Fleet) -> None:
    nodes = Nodes(told, "one", "other", "dead")
    start(told, 40, nodes.workers["dead"])
    nodes.pass_(3, "one", "other")
    told.at(nodes.now + SECOND)
    taken: list[int] = []
    ready = threading.Barrier(2)

    def judge(name: str) -> None:
        with told.another() as connection:
            ready.wait()
            rows = connection.execute("select what, number from beat(%s, %s)", (nodes.workers[name], SECOND)).fetchall()
            taken.append(dict(rows).get(3, 0))

    both = [threading.Thread(target=judge, args=(name,)) for name in ("one", "other")]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert sum(taken) == 40
    assert told.rows("select distinct attempts, deaths, state from slot") == [(0, 1, 0)]


@pytest.mark.parametrize("jump", [3600 * SECOND, -3600 * SECOND, LEASE, -LEASE, LEASE // 5])
def test_n12_a_clock_that_jumps_costs_a_lease_and_no_run(told: Fleet, jump: int) -> None:
    told.at(10**13)
    nodes = Nodes(told, "one", "other")
    nodes.now = 10**13
    runs = start(told, 5, nodes.workers["other"])
    nodes.pass_(5, "one", "other")
    nodes.now += jump
    nodes.now += SECOND
    told.at(nodes.now)
    assert nodes.beat("one")[2] == jump
    assert 3 not in nodes.beat("one", 0)
    nodes.now += SECOND
    told.at(nodes.now)
    assert 3 not in nodes.beat("other", 2 * SECOND)
    assert nodes.pass_(10, "one", "other") == 0
    assert set(told.complete(runs).values()) == {True}


def test_n12_a_beat_that_does_not_say_how_long_it_is_since_the_last_judges_nobody_for_a_lease(told: Fleet) -> None:
    nodes = Nodes(told, "dead", "judge")
    start(told, 1, nodes.workers["dead"])
    assert nodes.pass_(3, "judge") == 0
    nodes.now += SECOND
    told.at(nodes.now)
    assert told.rows("select what, number, value from beat(%s, null)", nodes.workers["judge"]) == [
        (0, nodes.now + LEASE, LEASE)
    ]
    assert nodes.pass_(2, "judge") == 0
    assert nodes.pass_(1, "judge") == 1


def test_n12_who_has_a_beat_from_the_future_has_a_lease_from_when_that_is_noticed(told: Fleet) -> None:
    told.at(10**13)
    nodes = Nodes(told, "dead", "living", "judge")
    start(told, 1, nodes.workers["dead"])
    (kept,) = start_for(told, "living", nodes.workers["living"])
    nodes.now = 10**13 - 3600 * SECOND
    told.at(nodes.now)
    # A beat that was on its way for an hour says what the clock seems to say: its sender takes himself for steady.
    told.rows("update worker set steady = 0, beaten = %s, expires = %s", nodes.now, nodes.now + LEASE)
    told.rows("update worker set beaten = 1e13, expires = 1e13 + ttl where worker <> %s", nodes.workers["judge"])
    assert 3 not in nodes.beat("judge", 0)
    nodes.beat("living", 0)
    assert nodes.pass_(3, "judge", "living") == 0
    assert nodes.pass_(1, "judge", "living") == 1
    assert told.complete([kept]) == {kept["run"]: True}


def test_n35_who_opened_no_window_is_named_where_a_task_finds_no_node(told: Fleet) -> None:
    idle = "one, two: no window was opened there yet, or no handler for any task is there"
    items = "select value from status() where alarm and item = 'idle nodes'"
    workers = [told.hello(name) for name in ("two", "one")]
    told.rows("select register('a', handler => 'send')")
    assert told.rows(items) == [(idle,)]
    assert told.rows("select detail from explain('a')") == [(f"no node has handler 'send'; {idle}",)]
    told.rows("select worker from hello('three')")
    told.rows("select worker from hello('four')")
    assert told.one(items).startswith("four, one, three, …: ")
    # A task that has a node is none of theirs.
    told.rows("select what from beat(%s, 0, serves => %s)", workers[0], told.classes())
    assert told.rows(items) == []
    assert told.one("select detail from explain('a')").startswith("for ")


def test_n4_a_class_without_a_node_says_what_is_missing_and_who_was_last(told: Fleet) -> None:
    told.rows("select register('a', handler => 'export', labels => '{gpu}', requires => '{network}')")
    alarms = "select item, value from status() where alarm and value like 'no node%%'"
    assert told.rows(alarms) == [("queue default, refresh", "no node has handler 'export' with gpu and network")]
    assert told.rows("select reason, detail from explain('a')") == [
        ("no_node", "no node has handler 'export' with gpu and network")
    ]
    worker = told.one("select worker from hello('gpu-3', serves => %s)", told.classes())
    assert [row[0] for row in told.rows("select reason from explain('a')")] == ["ready"]
    told.rows("select bye(%s)", worker)
    told.at(7200 * SECOND)
    assert told.rows("select detail from explain('a') where reason = 'no_node'")[0][0].endswith("; last gpu-3, 2 h ago")
    assert len(told.rows(alarms)) == 1
    # Whatever is missing is said, and of which queue and kind.
    told.rows("select register('b', handler => 'h', requires => '{network,idle}', queue => 'q', kind => 'processing')")
    told.rows("select register('c', handler => 'h', labels => '{big,gpu}', queue => 'q', kind => 'processing')")
    assert told.rows(f"{alarms} and item like 'queue q%%' order by value") == [
        ("queue q, processing", "no node has handler 'h' with big, gpu"),
        ("queue q, processing", "no node has handler 'h' with network, idle"),
    ]


def test_lengths_of_time_are_told_as_the_command_lines_do(told: Fleet) -> None:
    for number in (1_000_000, 12_340_000, 99_960_000, 999_499_999, 999_500_000, 6_471_752_000, 35_142_002_000,
                   59_960_000_000, 60 * SECOND, 125 * SECOND, 3600 * SECOND, 7260 * SECOND, 200_000 * SECOND):  # fmt: skip
        assert told.one("select span_words(%s::bigint)", number) == show(number)
    assert told.one("select span_words(%s::bigint)", -5) == "0 ms"
    told.rows("select register('a', handler => 'export')")
    told.one("select worker from hello('gpu-3', serves => %s)", told.classes())
    told.at(6_471_752_000)
    assert told.rows("select reason, detail from explain('a')") == [("ready", "for 6.47 s, 0 before it")]


def test_n23_estimates_of_a_handler_are_what_nodes_tell(told: Fleet) -> None:
    told.rows("select register('a', handler => 'h')")
    assert told.slot("a")["est"] == 5 * SECOND
    told.rows(
        "select * from beat(%s, 0, mean_classes => '{1}', mean_counts => '{4}', mean_totals => '{8000000000}')",
        told.hello(),
    )
    told.rows("select register('b', handler => 'h')")
    assert told.slot("b")["est"] == 2 * SECOND
    assert told.slot("a")["est"] == 5 * SECOND


def test_n33_a_node_that_speaks_no_common_protocol_is_told_which_is_newer(fleet: Fleet) -> None:
    with pytest.raises(psycopg.Error, match="the fleet is older") as refused:
        fleet.rows("select * from hello('n', protocols => '{2,3}')")
    assert refused.value.sqlstate == "SE019"
    assert fleet.rows("select * from worker") == []
    assert fleet.one("select protocol from hello('n', protocols => '{1,2}')") == 1


def test_n34_a_new_timeline_moves_the_numbers_of_runs_and_workers_on() -> None:
    server = Server()
    try:
        fail_over(server)
    finally:
        server.remove()


def fail_over(server: Server) -> None:
    """A replica that was a copy of before the last claims becomes the primary."""
    primary = Fleet(server)
    primary.rows("select register('a'), register('b')")
    worker = primary.hello()
    (run,) = primary.claim(worker)
    primary.connection.execute("select pg_switch_wal()")
    replica = Server(clone_of=server)
    try:
        # These commits the replica may never see.
        server_numbers = [primary.claim(worker)[0]["run"]]
        lost = primary.hello("lost")
        primary.close()
        server.stop("immediate")
        replica.promote()
        with replica.connect(primary.name) as connection:
            connection.execute("set search_path = selene")
            before = connection.execute("select timeline from fleet").fetchall()[0][0]
            # Two notice it at the same time: the second one waits for the first, and finds it done.
            late = replica.connect(primary.name)
            second = threading.Thread(target=late.execute, args=("select * from selene.hello('late')",))
            with connection.transaction():
                other = connection.execute("select worker from hello('after')").fetchall()[0][0]
                second.start()
                waiting = "select 1 from pg_stat_activity where pid = %s and wait_event_type = 'Lock'"
                end = time.monotonic() + 30
                with replica.connect("postgres") as looks:
                    while not looks.execute(waiting, (late.info.backend_pid,)).fetchall():
                        assert time.monotonic() < end
                        time.sleep(0.02)
            second.join()
            late.close()
            assert connection.execute("select timeline from fleet").fetchall()[0][0] > before
            connection.execute("select register('c')")
            rows = connection.execute("select run from claim(%s, '{1,2,3}')", (other,)).fetchall()
            assert max(*server_numbers, run["run"]) + 2**32 <= rows[0][0] < 2**33, "it moves on once"
            # The number of a worker is in the hands of one that was told it by the server that is gone.
            assert lost + 2**32 <= other < 2**33
    finally:
        replica.remove()


def test_n9_n10_a_crash_makes_no_number_be_used_again() -> None:
    server = Server()
    try:
        fleet = Fleet(server)
        fleet.rows("select register('a'), register('b')")
        # Nothing but a commit that says so brings the log to the disk.
        for setting in ("wal_writer_delay = '10s'", "synchronous_commit = off"):
            fleet.rows(f"alter system set {setting}")
        fleet.rows("checkpoint")
        fleet.rows("select pg_reload_conf()")
        with fleet.another() as later:
            (worker,) = later.execute("select worker from hello('one')").fetchall()[0]
            (run,) = later.execute("select run from claim(%s, '{1,2}')", (worker,)).fetchall()[0]
        server.stop("immediate")
        server.start()
        with fleet.another() as after:
            (other,) = after.execute("select worker from hello('other')").fetchall()[0]
            (second,) = after.execute("select run from claim(%s, '{1,2}')", (other,)).fetchall()[0]
        assert (other > worker, second > run) == (True, True)
        fleet.close()
    finally:
        server.remove()


def test_n34_what_a_crash_lost_of_relaxed_workers_runs_again_once_all_have_said_what_they_hold() -> None:
    server = Server()
    try:
        fleet = Fleet(server)
        fleet.rows("select count(register(id, handler => 'h')) from unnest('{lost,kept,told,strict}'::text[]) id")

        def hello(at: Fleet, relaxed: bool) -> int:
            # Longer than the crash and all else takes: a beat that comes late for its lease is a jump of the clock.
            return int(at.one("select worker from hello('one', %s, relaxed => %s)", 3600 * SECOND, relaxed))

        def turn(at: Fleet, worker: int, most: int, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
            rows = at.rows(
                "select run, seq, id from turn(%s, %s, %s, %s, %s, classes => '{1,2}', most => %s) where what = 1",
                worker, [run["seq"] for run in runs], [run["run"] for run in runs], [0] * len(runs), [1] * len(runs), most,
            )  # fmt: skip
            return [dict(zip(("run", "seq", "id"), row, strict=True)) for row in rows]

        one, two, dead, strict = hello(fleet, True), hello(fleet, True), hello(fleet, True), hello(fleet, False)
        # Of each a run that is on the disk: what is committed durably takes what was committed before with it.
        (told,), (kept,) = turn(fleet, one, 1, []), turn(fleet, one, 1, [])
        (of_dead,) = turn(fleet, dead, 1, [])
        (of_strict,) = turn(fleet, strict, 1, [])
        assert {run["id"] for run in (told, kept, of_dead, of_strict)} == {"lost", "kept", "told", "strict"}
        server.hold()
        fleet.rows("select register('more', handler => 'h')")
        # These are not: an end that its worker was told of, and a run.
        assert turn(fleet, one, 0, [told]) == []
        (lost,) = turn(fleet, two, 1, [])
        assert lost["id"] == "more"
        server.crash()
        fleet.connection = fleet.another()
        assert fleet.one("select count(*) from history") == 0
        assert fleet.slot("more")["state"] == 0
        assert fleet.slot(told["id"])["worker"] == one
        # What may be running at somebody is given to nobody.
        other = hello(fleet, False)
        assert turn(fleet, other, 9, []) == []
        beat = "select what, number from beat(%s, 0, %s)"
        assert [row[0] for row in fleet.rows(beat, one, [kept["run"]])] == [0]
        assert fleet.slot(told["id"])["state"] == 0
        assert fleet.slot(kept["id"])["run"] == kept["run"]
        assert turn(fleet, other, 9, []) == []
        assert fleet.rows(beat, two, [lost["run"]])[1:] == [(1, lost["run"])]
        # Until it has said that it knows.
        assert turn(fleet, other, 9, []) == []
        assert [row[0] for row in fleet.rows(beat, two, [])] == [0]
        assert turn(fleet, other, 9, []) == []
        # Who is dead says nothing. That his lease is over is no word, either, if the clock may just have been set: he is waited
        # for until somebody takes back what he ran who has beaten for a whole lease.
        fleet.rows("update worker set expires = 0 where worker = %s", dead)
        assert turn(fleet, other, 9, []) == []
        waits = "the server crashed: nothing is claimed until these nodes have said what they run, or are taken for dead: one"
        assert fleet.rows("select value, alarm from status() where item = 'crash'") == [(waits, True)]
        assert [detail.endswith(waits) for _, detail, _ in fleet.rows("select * from explain('more')")] == [True]
        fleet.rows("update worker set steady = 0 where worker = %s", strict)
        # A strict one is asked, too: what it has is what it says.
        assert fleet.rows(beat, strict, [of_strict["run"]])[1:] == [(3, 1)]
        given = turn(fleet, other, 9, [])
        assert {run["id"] for run in given} == {told["id"], "more"}
        assert min(run["run"] for run in given) > 2**32
        assert fleet.rows("select value from status() where item = 'crash'") == []
        assert fleet.slot(of_strict["id"])["run"] == of_strict["run"]
        # A word of a run that a crash has taken changes nothing.
        assert fleet.complete([lost]) == {lost["run"]: False}
        assert fleet.one("select alarm from status() where item = 'timeline'") is False
        assert "turns of 2 relaxed nodes" in fleet.one("select value from status() where item = 'durability'")
        # A stop in order is no crash.
        server.stop()
        server.start()
        fleet.connection = fleet.another()
        before = fleet.one("select first_run from fleet")
        fleet.hello()
        assert fleet.one("select first_run from fleet") == before
        fleet.close()
    finally:
        server.remove()


def test_n34_what_registers_or_decides_is_durable_whatever_the_default_is(fleet: Fleet) -> None:
    fleet.rows("set synchronous_commit = off")
    worker = fleet.hello()
    with fleet.connection.transaction():
        assert fleet.one("show synchronous_commit") == "off"
        fleet.rows("select register('a')")
        assert fleet.one("show synchronous_commit") == "on"
    assert fleet.one("show synchronous_commit") == "off"
    runs = fleet.claim(worker)
    with fleet.connection.transaction():
        fleet.complete(runs)
        assert fleet.one("show synchronous_commit") == "on"
    assert fleet.one("select alarm from status() where item = 'durability'")


@pytest.mark.parametrize("by", ["beat", "turn"])
def test_n34_what_moves_the_numbers_of_runs_on_is_durable(fleet: Fleet, by: str) -> None:
    fleet.rows("set synchronous_commit = off")
    fleet.rows("select register('a')")
    worker = fleet.one("select worker from hello('one', relaxed => true)")
    calls = {
        "beat": ("select * from beat(%s, null, '{}')", worker),
        "turn": ("select * from turn(%s, '{}', '{}', '{}', '{}', classes => '{1}', most => 1)", worker),
    }
    with fleet.connection.transaction():
        fleet.rows("select * from turn(%s, '{}', '{}', '{}', '{}')", worker)
        assert fleet.one("show synchronous_commit") == "off"
    before = fleet.one("select first_run from fleet")
    # What a crash of the server empties.
    fleet.rows("delete from crash_mark")
    with fleet.connection.transaction():
        fleet.rows(*calls[by])
        assert fleet.one("show synchronous_commit") == "on"
    assert fleet.one("select first_run from fleet") >= before + 2**32


def test_n11_a_database_that_was_away_takes_nothing_from_the_living() -> None:
    server = Server()
    lease = 1_500_000_000
    taken: list[int] = []
    counted: list[bool] = []
    try:
        fleet = Fleet(server)
        fleet.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, 40) i")
        fleet.close()
        ready = threading.Barrier(5)

        def work(number: int) -> None:
            connection: psycopg.Connection[Any] | None = None

            def sql(statement: str, *values: Any) -> list[tuple[Any, ...]]:
                nonlocal connection
                while True:
                    try:
                        if connection is None:
                            connection = server.connect(fleet.name, connect_timeout=2)
                            connection.execute("set search_path = selene")
                        return connection.execute(statement, values).fetchall()
                    except psycopg.OperationalError:
                        connection = None
                        time.sleep(0.05 + number * 0.02)

            last = time.monotonic_ns()
            (worker,) = sql("select worker from hello(%s, %s)", f"w{number}", lease)[0]
            runs = sql("select seq, run from claim(%s, '{1}', most => 10)", worker)
            ready.wait()
            end = time.monotonic() + 9
            while time.monotonic() < end:
                time.sleep(0.3)
                sent = time.monotonic_ns()
                rows = sql("select what, number from beat(%s, %s)", worker, sent - last)
                last = sent
                taken.append(dict(rows).get(3, 0))
            rows = sql(
                "select counts from complete(%s, %s, %s, %s)",
                [r[0] for r in runs],
                [r[1] for r in runs],
                [0] * 10,
                [1] * 10,
            )
            counted.extend(row[0] for row in rows)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        ready.wait()
        server.stop("immediate")
        time.sleep(2 * lease / 1e9)
        server.start()
        for thread in threads:
            thread.join()
    finally:
        server.remove()
    assert sum(taken) == 0
    assert counted == [True] * 40


def test_n30_a_run_that_cannot_be_taken_back_hides_no_other(fleet: Fleet) -> None:
    fleet.rows("select count(register(id, max_attempts => 1)) from unnest('{a,bad,c}'::text[]) id")
    # Each alone, so that each is to blame.
    assert [len(fleet.claim(fleet.hello("dead"))) for _ in range(3)] == [1] * 3
    judge = fleet.hello("judge")
    fleet.rows(
        "create function spoil() returns trigger language plpgsql as $$ begin"
        " if new.id = 'bad' then raise 'it is spoilt'; end if; return new; end $$"
    )
    fleet.rows("create trigger spoils before insert on history for each row execute function spoil()")
    beat = f"select what, number from beat({judge}, 0)"
    try:
        for taken in ([(3, 2)], []):
            fleet.rows(
                "update worker set expires = case name when 'dead' then 0 else expires end, steady = 0, beaten = now_ns()"
            )
            assert fleet.rows(beat)[1:] == taken
            told = fleet.one("select value from status() where item = 'housekeeping' and alarm")
            assert "of 'bad': it is spoilt" in told
            assert fleet.rows("select id from task") == [("bad",)]
    finally:
        fleet.rows("drop function spoil() cascade")
    fleet.rows("update worker set steady = 0, beaten = now_ns()")
    assert fleet.rows(beat)[1:] == [(3, 1)]


def test_n30_an_open_transaction_that_has_registered_hides_no_run_of_a_dead_worker(fleet: Fleet) -> None:
    fleet.rows("select set_queue('kept', limit_refresh => 9)")
    fleet.rows(
        "select count(register('t' || i, handler => 'h', queue => case when i < 6 then 'kept' else 'free' end,"
        " max_attempts => 1)) from generate_series(1, 9) i"
    )
    assert [len(fleet.claim(fleet.hello("dead"))) for _ in range(9)] == [1] * 9
    judge = fleet.hello("judge")
    fleet.rows(
        "update worker set expires = case name when 'dead' then 0 else expires end, steady = 0, beaten = now_ns()"
    )
    with fleet.another() as other, other.transaction():
        other.execute("select register('one', queue => 'kept')")
        assert fleet.rows("select what, number from beat(%s, 0)", judge)[1:] == [(3, 9)]
    assert fleet.one("select value from status() where item = 'housekeeping'") == "as it should be"


def test_n35_an_owner_who_may_not_see_others_is_told_how_old_their_snapshots_are(fresh: Fleet) -> None:
    fresh.rows("drop role if exists blind")
    fresh.rows("create role blind login")
    fresh.rows(f"grant create on database {fresh.name} to blind")
    fresh.server.install(fresh.name, "own", "blind")
    with fresh.server.connect(fresh.name, "blind") as owner, fresh.another() as other:
        asked = "select value, alarm from own.status() where item = 'oldest snapshot'"
        with other.transaction():
            other.execute("set transaction isolation level repeatable read")
            other.execute("select 1")
            for _ in range(20):
                fresh.rows("select pg_current_xact_id()")
            ((value, alarm),) = owner.execute(asked).fetchall()
            found = re.search(r", that of others (\d+) transactions: grant pg_read_all_stats to blind", value)
            assert found, value
            assert int(found[1]) >= 20
            assert not alarm
            fresh.rows("grant pg_read_all_stats to blind")
            ((value, alarm),) = owner.execute(asked).fetchall()
            assert "others" not in value
            assert re.fullmatch(r"[\d.]+ m?s", value), value
