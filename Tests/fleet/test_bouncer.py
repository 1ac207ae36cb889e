"""PgBouncer between a fleet and whoever uses it: in transaction mode everything but listening works (N28, N29)."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyselene
import pytest
from pyselene.fleet import Fleet, FleetDraft

from bouncer import Bouncer
from conftest import Fleet as Looked
from server import Server
from workers import Worker, compiled, wait


@pytest.fixture(scope="module")
def bouncer(server: Server) -> Iterator[Bouncer]:
    """One that hands connections on after each transaction."""
    with Bouncer(server) as one:
        yield one


def ended(fleet: Looked, count: int) -> Callable[[], bool]:
    """Whether so many have ended."""
    return lambda: fleet.one("select count(*) from history") == count


def processes(one: psycopg.Connection[tuple[int]], other: psycopg.Connection[tuple[int]]) -> set[int]:
    """The server's processes that two sessions have at the same time."""
    found = set()
    with one.transaction(), other.transaction():
        for connection in (one, other):
            found.add(connection.execute("select pg_backend_pid()", prepare=False).fetchall()[0][0])
    return found


def test_n29_workers_in_python_and_c_work_on_two_connections_of_a_pooler(
    bouncer: Bouncer, fleet: Looked, start: Callable[..., Worker]
) -> None:
    through = Fleet(bouncer.dsn(fleet.name))
    with (
        start("c", bouncer.dsn(fleet.name), lanes=2, ms=20, lease=30_000) as c,
        start("python", bouncer.dsn(fleet.name), python=True, lanes=2, ms=20, lease=30_000) as python,
    ):
        wait(lambda: {name for (name,) in fleet.rows("select name from nodes")} == {"c", "python"})
        for number in range(30):
            through.enqueue(f"t{number}", handler="send", input=b"%d" % number)
        through.enqueue("fails", handler="fail", max_attempts=1)
        # One for each, which lasts.
        for worker in ("c", "python"):
            through.enqueue(worker, handler=worker)
        wait(ended(fleet, 31))
        wait(lambda: c.words("begin", "c") and python.words("begin", "python"))
        # Who has it learns with its beat that it is no longer its own.
        assert [through.cancel("c"), through.cancel("python")] == [1, 1]
        wait(lambda: c.words("stop", "c", "cancelled") and python.words("stop", "python", "cancelled"))
        # Both find out that listening is in vain, and say so.
        wait(lambda: c.words("pooled") and python.words("pooled"))
        through.enqueue("late", handler="send")
        wait(ended(fleet, 34))
        connected = (
            "select count(*) from pg_stat_activity where datname = current_database() and application_name <> ''"
        )
        assert fleet.one(connected) <= 2
    began = [said[1] for worker in (c, python) for said in worker.words("begin")]
    assert sorted(began) == sorted([f"t{number}" for number in range(30)] + ["c", "fails", "late", "python"])
    assert not c.words("listens") + python.words("listens")
    assert fleet.rows("select distinct attempts from ended") == [(1,)]
    assert fleet.rows("select state, count(*) from ended group by 1 order by 1") == [
        ("cancelled", 2), ("failed", 1), ("succeeded", 31)
    ]  # fmt: skip
    assert through.result("t7") == b"sent 7"
    assert not c.words("trouble") + python.words("trouble")


def test_n16_transactions_of_an_application_that_keeps_statements_go_through_a_pooler(
    bouncer: Bouncer, fleet: Looked
) -> None:
    own = Fleet(bouncer.dsn(fleet.name))
    # The first one of a queue, and of a class, makes others wait for its commit.
    own.enqueue("first", handler="h")
    # psycopg prepares what it is asked for the sixth time, under a name of its own connection's, on whatever connection the
    # pooler has at hand.
    with psycopg.connect(bouncer.dsn(fleet.name)) as one, psycopg.connect(bouncer.dsn(fleet.name)) as other:
        for connection in (one, other):
            connection.autocommit = True
        assert len(processes(one, other)) == 2
        for number in range(24):
            first, second = (one, other) if number % 3 else (other, one)
            with first.transaction(), second.transaction():
                own.enqueue(f"t{number}", handler="h", connection=one)
                assert own.cancel(tag="none", connection=other) == 0
    assert fleet.one("select count(*) from live") == 25


def test_n16_coroutines_and_many_tasks_at_once_go_through_a_pooler(bouncer: Bouncer, fleet: Looked) -> None:
    async def main() -> None:
        dsn = bouncer.dsn(fleet.name)
        async with Fleet(dsn) as own, await psycopg.AsyncConnection.connect(dsn, autocommit=True) as mine:
            await own.enqueue_async("first", handler="h")
            for number in range(12):
                drafts = [FleetDraft(f"t{number}-{place}", handler="h") for place in range(10)]
                async with mine.transaction():
                    became = await own.enqueue_batch_async(drafts, connection=mine)
                assert became == (pyselene.Disposition.ADDED,) * 10
                assert await own.cancel_async(f"t{number}-0") == 1
            assert len([one async for one in own.list_async()]) == 1 + 12 * 9

    asyncio.run(main())


def test_n16_runs_are_completed_in_transactions_through_a_pooler(bouncer: Bouncer, fleet: Looked) -> None:
    dsn = bouncer.dsn(fleet.name)
    fleet.rows("create table if not exists effect (run bigint)")
    fleet.rows("truncate effect")
    fleet.rows("select count(register('t' || i, handler => 'in', max_attempts => 1)) from generate_series(1, 24) i")

    async def main() -> None:
        scheduler = pyselene.Scheduler()
        async with (
            await psycopg.AsyncConnection.connect(dsn, autocommit=True) as one,
            await psycopg.AsyncConnection.connect(dsn, autocommit=True) as other,
        ):
            free: asyncio.Queue[psycopg.AsyncConnection[Any]] = asyncio.Queue()
            for each in (one, other):
                free.put_nowait(each)

            @scheduler.handler("in")
            async def decided(run: pyselene.Run) -> None:
                connection = await free.get()
                async with connection.transaction():
                    await connection.execute("insert into selene.effect values (%s)", (run.fence,), prepare=False)
                    await run.complete_in_async(connection, result=b"in")
                free.put_nowait(connection)

            async with Fleet(dsn).worker(scheduler, poll=0.05):
                forever = asyncio.create_task(scheduler.run_forever_async(lanes=2))
                end = time.monotonic() + 60
                while not ended(fleet, 24)():
                    assert time.monotonic() < end
                    await asyncio.sleep(0.02)
                forever.cancel()
                await asyncio.gather(forever, return_exceptions=True)
        await scheduler.close_async()

    asyncio.run(main())
    assert fleet.rows("select distinct state, attempts, failure from ended") == [("succeeded", 1, None)]
    assert fleet.one("select count(distinct run) from effect") == 24


@pytest.mark.parametrize("python", [False, True], ids=["c", "python"])
def test_n28_a_worker_listens_past_the_pooler(
    bouncer: Bouncer, fleet: Looked, start: Callable[..., Worker], python: bool
) -> None:
    past = fleet.server.dsn(fleet.name)
    with start(dsn=bouncer.dsn(fleet.name), python=python, poll=3_600_000, listen_dsn=past) as worker:
        wait(lambda: worker.words("listens"))
        fleet.rows("select register('a', handler => 'send')")
        Fleet(bouncer.dsn(fleet.name)).wake()
        wait(ended(fleet, 1))
    assert not worker.words("pooled")


def test_n28_a_worker_listens_through_a_pooler_that_gives_it_a_session(
    fleet: Looked, start: Callable[..., Worker]
) -> None:
    with Bouncer(fleet.server, "session", 8) as session:
        dsn = session.dsn(fleet.name)
        with start("c", dsn, poll=3_600_000) as c, start("python", dsn, python=True, poll=3_600_000) as python:
            wait(lambda: c.words("listens") and python.words("listens"))
            fleet.rows("select register('a', handler => 'send'), register('b', handler => 'send')")
            fleet.rows("select wake()")
            wait(ended(fleet, 2))
        assert not c.words("pooled") + python.words("pooled")


def test_n29_a_pooler_that_hands_on_each_statement_is_refused_by_name(
    fleet: Looked, start: Callable[..., Worker], tmp_path: Path
) -> None:
    source = tmp_path / "statement.c"
    source.write_text(
        "#include <selene-fleet.h>\n#include <stdio.h>\nint main(int argc, char **argv) {\n"
        "    selene_fleet_options options = SELENE_INIT(selene_fleet_options);\n    selene_fleet fleet = 0;\n"
        "    options.dsn = (selene_text){argv[argc - 1], -1};\n    selene_fleet_open(&options, &fleet);\n"
        '    printf("%s\\n", selene_name(SELENE_NAMES_STATUS, selene_fleet_install(&options, NULL)));\n'
        '    printf("%s %s\\n", selene_name(SELENE_NAMES_STATUS, selene_fleet_wake(fleet)), selene_fleet_error()->message.data);\n'
        "    return selene_fleet_close(fleet, 0);\n}\n"
    )
    with Bouncer(fleet.server, "statement") as statement:
        dsn = statement.dsn(fleet.name)
        with pytest.raises(pyselene.Unsupported, match="pool_mode may be transaction or session") as refused:
            Fleet(dsn).enqueue("a")
        assert refused.value.field == "dsn"
        with pytest.raises(pyselene.Unsupported, match="pool_mode"):
            Fleet(dsn).install()
        with pytest.raises(pyselene.Unsupported, match="pool_mode"):
            asyncio.run(Fleet(dsn).enqueue_async("a"))
        said = subprocess.run([compiled(source, tmp_path / "statement"), dsn], capture_output=True, text=True)
        assert said.stdout.splitlines()[0] == "UNSUPPORTED"
        assert said.stdout.splitlines()[1].startswith(
            "UNSUPPORTED dsn: the pooler hands connections on after each statement"
        )
        with start("c", dsn) as c, start("python", dsn, python=True) as python:
            for worker in (c, python):
                wait(lambda: worker.words("trouble", "begins"))  # noqa: B023
                assert "pool_mode may be transaction or session" in " ".join(worker.words("trouble", "begins")[0])
    assert fleet.rows("select * from live") == []
