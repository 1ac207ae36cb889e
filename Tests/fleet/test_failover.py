"""A replica that has not seen the last commits becomes the primary (N34)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from conftest import LONG, Fleet
from server import Server
from workers import PYTHON, Worker, wait

TASKS = 150
#: Of a server whose workers are relaxed.
CRASHES = 20 if LONG else 2


class Pair:
    """A primary with a fleet, and its asynchronous replica."""

    def __init__(self) -> None:
        self.primary = Server()
        self.servers = [self.primary]
        try:
            self.fleet = Fleet(self.primary)
            self.replica = Server(clone_of=self.primary)
            self.servers.append(self.replica)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Both."""
        for server in self.servers:
            server.remove()

    def on_replica(self) -> psycopg.Connection[Any]:
        """A connection to it, which may be there before it is the primary."""
        connection = self.replica.connect(self.fleet.name)
        connection.execute("set search_path = selene")
        return connection

    def catch_up(self) -> None:
        """The replica has everything up to now."""
        here = self.fleet.one("select pg_current_wal_lsn()::text")
        with self.on_replica() as replica:
            behind = "select pg_last_wal_replay_lsn() < %s::pg_lsn"
            wait(lambda: not replica.execute(behind, (here,)).fetchall()[0][0])

    def part(self) -> None:
        """Whatever the primary commits from now on, the replica never sees."""
        with self.replica.connect("postgres") as replica:
            replica.execute("alter system set primary_conninfo = ''")
            replica.execute("select pg_reload_conf()")
        wait(lambda: self.fleet.one("select count(*) from pg_stat_replication") == 0)

    def fail_over(self, *workers: Worker) -> None:
        """The primary's machine is gone, and the replica is the primary once these workers know of it.

        One that has made no call meanwhile would find the other server without a word.
        """
        self.fleet.close()
        self.primary.stop("immediate")
        wait(lambda: all(worker.words("trouble", "begins") for worker in workers))
        self.replica.promote()


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Neither outlives the test."""
    one = Pair()
    yield one
    one.remove()


def test_n34_what_a_crash_loses_of_relaxed_workers_runs_again(programs: dict[str, Path]) -> None:
    server = Server()
    workers: list[Worker] = []
    try:
        fleet = Fleet(server)
        tasks = 400 * CRASHES
        fleet.rows("select count(register('t' || i, handler => 'send')) from generate_series(1, %s) i", tasks)
        options: dict[str, Any] = {"lanes": 2, "lease": 6000, "horizon": 0, "ms": 20, "polls": 1, "relaxed": 1}
        workers += [
            Worker(programs["worker"], server.dsn(fleet.name), "c", **options),
            Worker(PYTHON, server.dsn(fleet.name), "python", **options),
        ]
        for _ in range(CRASHES):
            told = fleet.one("select count(*) from history")
            server.hold()
            wait(lambda: fleet.one("select count(*) from history") >= told + 50)  # noqa: B023
            server.crash()
            fleet.connection = fleet.another()
        wait(lambda: fleet.one("select count(*) from history") == tasks)
        for worker in workers:
            worker.end()
        assert fleet.rows("select distinct state, failure from ended") == [("succeeded", None)]
        assert fleet.one("select count(distinct id) from ended") == tasks
        assert fleet.one("select count(*) from slot") == 0
        last = dict(fleet.rows("select id, run from ended"))
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.wait()
        server.remove()
    began = [(said[1], int(said[3])) for worker in workers for said in worker.words("begin")]
    assert max(Counter(number for _, number in began).values()) == 1, (
        "a number is one run, also of a commit that was lost"
    )
    assert len(began) > tasks, "something was lost"
    # The run that counts is the last one.
    for id, number in began:
        assert number <= last[id]


def test_n34_workers_notice_a_failover_that_lost_commits_and_no_number_is_used_again(
    pair: Pair, programs: dict[str, Path]
) -> None:
    fleet = pair.fleet
    dsn = (
        f"host={pair.primary.folder},{pair.replica.folder} dbname={fleet.name} user=fleet"
        " target_session_attrs=read-write"
    )
    options: dict[str, Any] = {"lanes": 1, "lease": 3000, "horizon": 0, "ms": 40, "polls": 1}
    workers = [
        Worker(programs["worker"], dsn, "c", **options),
        Worker(PYTHON, dsn, "python", **options),
    ]
    try:
        # Both have something to end.
        wait(lambda: fleet.one("select count(distinct name) from nodes where alive") == 2)
        fleet.rows(f"select count(register('t' || i, handler => 'send')) from generate_series(1, {TASKS}) i")
        for worker in workers:
            wait(lambda: worker.words("end"))  # noqa: B023
        # What comes after the parting is to be enough.
        fleet.rows("select pause('default')")
        pair.catch_up()
        pair.part()
        fleet.rows("select resume('default')")
        with pair.on_replica() as replica:
            seen = {row[0] for row in replica.execute("select id from history")}
        wait(lambda: fleet.one("select count(*) from history") >= len(seen) + 8)
        fleet.rows("select register('lost')")
        lost = {row[0] for row in fleet.rows("select id from history")} - seen
        last = fleet.one("select max(run) from (select run from history union all select run from slot) r")
        pair.fail_over(*workers)
        now = pair.on_replica()
        now.execute("select resume('default')")
        wait(lambda: now.execute("select count(*) from history").fetchall() == [(TASKS,)])
        # It was told that the database was away, and that it is there again.
        for worker in workers:
            wait(lambda: worker.words("trouble", "ends"))  # noqa: B023
            worker.end()
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.wait()
    began: dict[str, list[int]] = {}
    for worker in workers:
        for said in worker.words("begin"):
            began.setdefault(said[1], []).append(int(said[3]))
    numbers = Counter(number for runs in began.values() for number in runs)
    assert max(numbers.values()) == 1, "a number is one run, also of a commit that was lost"
    ended = {
        id: (state, run, attempts)
        for id, state, run, attempts in now.execute("select id, state, run, attempts from ended")
    }
    assert {state for state, _, _ in ended.values()} == {"succeeded"}
    # A decision that was lost is made again, under a number that nobody can have had.
    assert len(lost) >= 8
    for id in lost:
        assert len(began[id]) >= 2
        assert ended[id][1] > last + 2**32 - 1000
        assert ended[id][1] == max(began[id])
    assert now.execute("select * from get('lost')").fetchall() == []
    assert now.execute("select count(*) from slot").fetchall() == [(0,)]
    # People are told, too.
    (timeline,) = now.execute("select value, alarm from status() where item = 'timeline'").fetchall()
    assert "a failover since" in timeline[0]
    assert timeline[1]


@pytest.mark.parametrize("relaxed", [False, True])
def test_n34_a_session_that_was_there_before_the_promotion_claims_with_new_numbers(pair: Pair, relaxed: bool) -> None:
    fleet = pair.fleet
    fleet.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, 9) i")
    worker = fleet.one("select worker from hello('node', 3600000000000, relaxed => %s)", relaxed)
    (first,) = fleet.claim(worker)
    pair.catch_up()
    # As a pooler has it: nobody who claims through it says hello.
    kept = pair.on_replica()
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        kept.execute("select run from claim(%s, '{1}')", (worker,))
    pair.part()
    lost = fleet.claim(worker, 3)
    pair.fail_over()
    end = time.monotonic() + 60
    while kept.execute("select pg_is_in_recovery()").fetchall()[0][0]:
        assert time.monotonic() < end
    if relaxed:
        # Who has not said what he holds gets nothing.
        assert kept.execute("select run from claim(%s, '{1}', most => 3)", (worker,)).fetchall() == []
        kept.execute("select * from beat(%s, 0, %s)", (worker, [first["run"]]))
    rows = kept.execute("select run, id from claim(%s, '{1}', most => 3)", (worker,)).fetchall()
    assert {id for _, id in rows} == {run["id"] for run in lost}
    assert min(run for run, _ in rows) >= max(run["run"] for run in lost) + 2**32 - 100
    stale = kept.execute(
        "select counts from complete(%s, %s, '{0,0,0}', '{1,1,1}')",
        ([run["seq"] for run in lost], [run["run"] for run in lost]),
    ).fetchall()
    assert stale == [(False,)] * 3
    again = kept.execute("select run from claim(%s, '{1}')", (worker,)).fetchall()
    assert again[0][0] < first["run"] + 2**33, "they move on once"
