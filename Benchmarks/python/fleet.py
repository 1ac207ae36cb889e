"""What a fleet costs beside raw SKIP LOCKED and other queues on PostgreSQL, in one run.

    make bench FORM=fleet

Starts a server of its own (fsync and synchronous_commit on) and prints tasks a second, best and median of the rounds,
and how that compares with the first of each table. Ends with 1 if a program failed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyselene
from pyselene.fleet import Fleet

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/fleet"))
import server as servers  # type: ignore[import-not-found]  # noqa: E402

RAW = """
set client_min_messages = error;
drop table if exists q;
create table q (id bigint generated always as identity primary key, prio int not null,
  state smallint not null default 0, run_at timestamptz not null default now(), payload bytea) with (fillfactor = 70);
create index q_ready on q (prio, run_at, id) where state = 0;
"""
CLAIM = """
with c as (
    select id from q where state = 0 and run_at <= now() order by prio, run_at, id limit {n} for update skip locked),
  u as (update q set state = 1 from c where q.id = c.id returning q.id)
  select coalesce(array_agg(id), '{{}}') as ids from u \\gset
delete from q where id = any(:ids::bigint[]);
"""
TURN = """
select coalesce(array_agg(seq), '{{}}') as seqs, coalesce(array_agg(run), '{{}}') as runs from
  selene.claim(:worker::bigint, array[:class::int], most => {n}) \\gset
select count(*) from selene.complete(:seqs::bigint[], :runs::bigint[],
  array_fill(0, array[cardinality(:runs::bigint[])]), array_fill(1000::bigint, array[cardinality(:runs::bigint[])]));
"""
INSERT = "insert into q (prio, payload) values (3, 'x');"
REGISTER = """
select selene.register(
  'b' || :client_id || '-' || nextval('bench_id'), handler => 'h', input => 'x', expected => '1 ms');
"""


class Bench:
    """One server, and what was found there: rates by question and contender."""

    def __init__(self, tasks: int, seconds: int, rounds: int) -> None:
        servers.SETTINGS["fsync"] = "on"
        self.tasks, self.seconds, self.rounds = tasks, seconds, rounds
        self.server = servers.Server()
        self.found: dict[str, dict[str, list[float]]] = {}
        self.failed = False

    def note(self, question: str, contender: str, rate: float) -> None:
        """One more round."""
        self.found.setdefault(question, {}).setdefault(contender, []).append(rate)

    def database(self) -> str:
        """A new one with a fleet in it."""
        return str(self.server.database())

    def pgbench(self, database: str, script: str, clients: int, **variables: int) -> float:
        """Transactions of a script a second."""
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
            file.write(script)
            file.flush()
            command = [
                str(self.server.bin / "pgbench"), "-n", "-M", "extended", "-h", str(self.server.folder), "-U", "fleet",
                "-f", file.name, "-c", str(clients), "-j", "2", "-T", str(self.seconds),
                *[f"-D{name}={value}" for name, value in variables.items()], database,
            ]  # fmt: skip
            told = subprocess.run(command, capture_output=True, text=True)
        if told.returncode:
            raise RuntimeError(told.stderr)
        (line,) = [line for line in told.stdout.splitlines() if line.startswith("tps")]
        return float(line.split()[2])

    # ---- the database alone ---------------------------------------------------

    def records(self, clients: int, batch: int) -> None:
        """Claiming and completing: raw, and by the functions of a fleet."""
        question = f"claim and complete, {batch} at a time, {clients} connections"
        name = self.database()
        full = 400_000 if batch > 1 else 40_000
        with self.server.connect(name) as connection:
            connection.execute(RAW.encode())
            connection.execute(
                "insert into q (prio, payload) select i %% 5, 'x' from generate_series(1, %s) i", (full,)
            )
            connection.execute(
                "select count(selene.register('t' || i, handler => 'h', priority => 1 + i %% 5, expected => '1 ms'))"
                " from generate_series(1, %s) i",
                (full,),
            )
            ((kind,),) = connection.execute("select class from selene.class").fetchall()
            ((worker,),) = connection.execute("select worker from selene.hello('bench', 3600000000000)").fetchall()
            connection.execute("vacuum analyze")
        self.note(question, "raw SKIP LOCKED", batch * self.pgbench(name, CLAIM.format(n=batch), clients))
        rate = self.pgbench(name, TURN.format(n=batch), clients, worker=worker, **{"class": kind})
        self.note(question, "a fleet, with history", batch * rate)

    def registering(self, clients: int) -> None:
        """One by one, each a commit."""
        question = f"enqueue one by one, {clients} connections"
        name = self.database()
        with self.server.connect(name) as connection:
            connection.execute(RAW.encode())
            connection.execute("create sequence bench_id")
        self.note(question, "raw insert", self.pgbench(name, INSERT, clients))
        self.note(question, "a fleet", self.pgbench(name, REGISTER, clients))

    # ---- workers in Python ----------------------------------------------------

    def fleet(self) -> None:
        """Enqueues with pyselene from one connection, then a worker with four lanes."""
        name = self.database()
        dsn = self.server.dsn(name)
        with Fleet(dsn) as fleet:
            self.rate(
                "enqueue from Python, one by one", "pyselene.fleet", self.tasks // 10, lambda i: fleet.enqueue(f"e{i}")
            )
            fleet.cancel("e0")
        with self.server.connect(name) as connection:
            connection.execute("select selene.cancel_all()")
            connection.execute(
                "select count(selene.register('t' || i, handler => 'h')) from generate_series(1, %s) i", (self.tasks,)
            )
        scheduler = pyselene.Scheduler()
        count, done = 0, threading.Event()

        @scheduler.handler("h")
        def handle(_: pyselene.Run) -> None:
            nonlocal count
            count += 1
            if count >= self.tasks:
                done.set()

        with Fleet(dsn).worker(scheduler, poll=0.05):
            begin = time.perf_counter()
            thread = threading.Thread(target=scheduler.run_forever, kwargs={"lanes": 4})
            thread.start()
            done.wait(600)
            self.note(
                "a worker in Python, no-op tasks", "pyselene.fleet, 4 lanes", count / (time.perf_counter() - begin)
            )
        scheduler.close(10)
        thread.join()

    def rate(self, question: str, contender: str, count: int, body: Callable[[int], object]) -> None:
        """How often a body runs in a second."""
        begin = time.perf_counter()
        for i in range(count):
            body(i)
        self.note(question, contender, count / (time.perf_counter() - begin))

    def pgqueuer(self) -> None:
        """PgQueuer on asyncpg, in batches of 100."""
        import asyncpg  # type: ignore[import-not-found]
        from pgqueuer import PgQueuer  # type: ignore[import-not-found]
        from pgqueuer.db import AsyncpgDriver  # type: ignore[import-not-found]
        from pgqueuer.queries import Queries  # type: ignore[import-not-found]
        from pgqueuer.types import QueueExecutionMode  # type: ignore[import-not-found]

        name = self.database()

        async def main() -> None:
            connection = await asyncpg.connect(host=str(self.server.folder), user="fleet", database=name)
            driver = AsyncpgDriver(connection)
            queries = Queries(driver)
            await queries.install()
            begin = time.perf_counter()
            for _ in range(self.tasks // 10):
                await queries.enqueue("h", b"x")
            self.note("enqueue from Python, one by one", "pgqueuer", self.tasks // 10 / (time.perf_counter() - begin))
            await queries.enqueue(["h"] * self.tasks, [b"x"] * self.tasks, [0] * self.tasks)
            queue = PgQueuer(driver)

            @queue.entrypoint("h")  # type: ignore[untyped-decorator]
            async def handle(_: Any) -> None: ...

            begin = time.perf_counter()
            await queue.run(dequeue_timeout=timedelta(seconds=1), batch_size=100, mode=QueueExecutionMode.drain)
            total = self.tasks + self.tasks // 10
            self.note(
                "a worker in Python, no-op tasks", "pgqueuer, batches of 100", total / (time.perf_counter() - begin)
            )
            await connection.close()

        asyncio.run(main())

    def procrastinate(self) -> None:
        """Procrastinate on psycopg, 20 at a time."""
        import procrastinate  # type: ignore[import-not-found]

        name = self.database()
        app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=self.server.dsn(name)))

        @app.task(queue="b")  # type: ignore[untyped-decorator]
        async def handle(x: int) -> None: ...

        async def main() -> None:
            async with app.open_async():
                await app.schema_manager.apply_schema_async()
                count = self.tasks // 20
                begin = time.perf_counter()
                for i in range(count):
                    await handle.defer_async(x=i)
                self.note("enqueue from Python, one by one", "procrastinate", count / (time.perf_counter() - begin))
                begin = time.perf_counter()
                await app.run_worker_async(
                    wait=False, concurrency=20, listen_notify=False, install_signal_handlers=False
                )
                self.note(
                    "a worker in Python, no-op tasks",
                    "procrastinate, 20 at a time",
                    count / (time.perf_counter() - begin),
                )

        asyncio.run(main())

    def huey(self) -> None:
        """The PostgresHuey of huey, one at a time."""
        from huey import PostgresHuey

        name = self.database()
        queue = PostgresHuey("b", dsn=self.server.dsn(name), results=False)

        @queue.task()  # type: ignore[untyped-decorator]
        def handle(x: str) -> None: ...

        count = self.tasks // 10
        self.rate("enqueue from Python, one by one", "huey", count, lambda _: handle("x"))
        self.rate(
            "a worker in Python, no-op tasks", "huey, one at a time", count, lambda _: queue.execute(queue.dequeue())
        )

    # ---- the whole ------------------------------------------------------------

    def contenders(self) -> Iterator[Callable[[], None]]:
        """Everything, in the order in which a round takes it."""
        for clients in (1, 8):
            for batch in (1, 100):
                yield lambda clients=clients, batch=batch: self.records(clients, batch)  # type: ignore[misc]
            yield lambda clients=clients: self.registering(clients)  # type: ignore[misc]
        yield self.fleet
        yield self.pgqueuer
        yield self.procrastinate
        yield self.huey

    def run(self) -> None:
        """All rounds."""
        try:
            for number in range(self.rounds):
                for contender in self.contenders():
                    try:
                        contender()
                    except ImportError as error:
                        if number == 0:
                            print(f"left out: {error.name} is not installed")
                    except Exception as error:
                        self.failed = True
                        print(f"failed: {type(error).__name__}: {error}")
        finally:
            self.server.remove()

    def tell(self) -> None:
        """The table."""
        for question, contenders in self.found.items():
            print(f"\n{question}: tasks a second")
            first = statistics.median(next(iter(contenders.values())))
            for contender, rates in contenders.items():
                middle = statistics.median(rates)
                print(f"  {contender:<32} best {max(rates):>9,.0f}   median {middle:>9,.0f}   {middle / first:>6.2f}")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement in the database alone")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    logging.disable()
    bench = Bench(given.tasks, given.seconds, given.rounds)
    with contextlib.suppress(KeyboardInterrupt):
        bench.run()
    bench.tell()
    return int(bench.failed)


if __name__ == "__main__":
    sys.exit(main())
