"""Large fleets, and such as nobody vacuums: what a run costs, in pages of the database (N7, N31)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bouncer import Bouncer
from conftest import SECOND, Fleet
from population import populate
from server import Server
from test_claims import pages as pages_of_claim
from workers import Worker, wait

SECONDS = float(os.environ.get("FLEET_SECONDS", "8"))


def pages(fleet: Fleet) -> int:
    """How many pages this database has touched, up to now."""
    # What a session did is told a second later.
    time.sleep(1.2)
    fleet.rows("select pg_stat_force_next_flush()")
    return int(fleet.one("select blks_hit + blks_read from pg_stat_database where datname = current_database()"))


def cost(fleet: Fleet, count: int) -> float:
    """Pages for each of the next runs, of workers that are at work."""
    before, ended = pages(fleet), fleet.one("select count(*) from history")
    wait(lambda: fleet.one("select count(*) from history") >= ended + count, 600)
    after, now = pages(fleet), fleet.one("select count(*) from history")
    return float((after - before) / (now - ended))


@pytest.mark.long
@pytest.mark.parametrize("delayed", [False, True], ids=["ready", "delayed"])
def test_n7_an_old_snapshot_and_no_vacuum_cost_a_worker_nothing(
    fleet: Fleet, start: Callable[..., Worker], delayed: bool
) -> None:
    fleet.connection.execute("alter table slot set (autovacuum_enabled = off)")
    part = int(300 * SECONDS)
    delay = "'1 ms'" if delayed else "'0'"

    def register(part_number: int) -> None:
        fleet.rows(
            f"select count(register('t{part_number}.' || i, handler => 'send', delay => {delay}, expected => '1 ms'))"
            " from generate_series(1, %s) i",
            part,
        )

    def run() -> int:
        """Pages of a part of them."""
        before, ended = pages(fleet), fleet.one("select count(*) from slot")
        assert ended == part
        with start(lanes=4, polls=1):
            wait(lambda: fleet.one("select count(*) from (select 1 from slot limit 1) s") == 0, 600)
        return pages(fleet) - before

    old = fleet.another()
    old.execute("begin transaction isolation level repeatable read")
    old.execute("select count(*) from slot")
    costs = []
    for number in range(8):
        register(number)
        costs.append(run())
    old.execute("rollback")
    fleet.connection.execute("alter table slot reset (autovacuum_enabled)")
    print(costs)
    assert costs[-1] <= 2 * costs[0], costs


@pytest.mark.long
def test_n31_two_million_tasks_in_200_classes_cost_a_run_what_few_cost(fresh: Fleet, programs: dict[str, Path]) -> None:
    fleet = fresh
    costs: dict[str, list[float]] = {}
    for name, tasks in (("few", 20_000), ("many", 2_000_000)):
        fleet.rows("truncate task, slot, history restart identity")
        populate(fleet, 200, 1, tasks, queues=200, handler="'send'")
        fleet.rows("update slot set est = 1000000")
        fleet.rows("vacuum analyze")
        with Worker(programs["worker"], fleet.server.dsn(fleet.name), "c", lanes=8, polls=1):
            wait(lambda: fleet.one("select count(*) from history") > 100, 600)
            costs[name] = [cost(fleet, 5000)]
        worker = fleet.hello(lease=3600 * SECOND)
        for _ in range(6):
            touched = pages_of_claim(fleet, worker, [], [])
        costs[name].append(touched)
        fleet.rows("select bye(%s)", worker)
        begin = time.monotonic()
        status = fleet.rows("select item, value from status()")
        assert ("ready", "10000+") in status
        costs[name].append(time.monotonic() - begin)
    print(costs)
    for few, many in list(zip(costs["few"], costs["many"], strict=True))[:2]:
        assert many <= 2 * few, costs


@pytest.mark.long
def test_n28_a_thousand_idle_nodes_share_a_few_connections_and_stay_alive(programs: dict[str, Path]) -> None:
    server = Server()
    try:
        fleet = Fleet(server)
        with Bouncer(server, size=16) as bouncer:
            program = subprocess.Popen(
                [programs["idle"], bouncer.dsn(fleet.name), "1000", "30000"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert program.stdin
            assert program.stdout
            assert program.stdout.readline() == "open\n"
            wait(lambda: fleet.one("select count(*) from nodes where alive") == 1000, 600)
            before = pages(fleet)
            numbers = fleet.one("select array_agg(worker order by worker) from nodes")
            begin, end = time.monotonic(), time.monotonic() + 60
            count = 0
            while time.monotonic() < end:
                count += 1
                fleet.rows("select register(%s, handler => 'send')", f"t{count}")
                registered = time.monotonic()
                wait(lambda: fleet.one("select count(*) from history") == count)  # noqa: B023
                assert time.monotonic() - registered < 30
                time.sleep(2)
            # Nobody was taken for dead, and nobody began anew.
            assert fleet.one("select array_agg(worker order by worker) from nodes where alive") == numbers
            assert fleet.rows("select distinct attempts from history") == [(1,)]
            looks = (pages(fleet) - before) / (time.monotonic() - begin) / 1000
            print(f"{looks:.0f} pages a second for each idle node")
            assert looks < 200
            program.stdin.close()
            said = program.stdout.read()
            assert program.wait(300) == 0
            program.stdout.close()
            assert said.count("begin ") == count
            assert said.endswith("stopped\n")
            assert fleet.nodes() == []
        fleet.close()
    finally:
        server.remove()
