"""Other queues on PostgreSQL, from Python, beside a fleet (fleet.py)."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from fleet_server import Bench
from fleet_workers import BATCH, ENQUEUE, WORKER, tell_spans


def pgqueuer(bench: Bench) -> None:
    """PgQueuer on asyncpg, in batches of 100."""
    import asyncpg  # type: ignore[import-not-found]
    from pgqueuer import PgQueuer  # type: ignore[import-not-found]
    from pgqueuer.db import AsyncpgDriver  # type: ignore[import-not-found]
    from pgqueuer.queries import Queries  # type: ignore[import-not-found]
    from pgqueuer.types import QueueExecutionMode  # type: ignore[import-not-found]

    name = bench.database()

    async def main() -> None:
        connection = await asyncpg.connect(host=str(bench.server.folder), user="fleet", database=name)
        driver = AsyncpgDriver(connection)
        queries = Queries(driver)
        await queries.install()
        begin = time.perf_counter()
        for _ in range(bench.tasks // 10):
            await queries.enqueue("h", b"x")
        bench.note(ENQUEUE, "pgqueuer", bench.tasks // 10 / (time.perf_counter() - begin))
        begin = time.perf_counter()
        for _ in range(0, bench.tasks, 1000):
            await queries.enqueue(["h"] * 1000, [b"x"] * 1000, [0] * 1000)
        bench.note(BATCH, "pgqueuer", bench.tasks / (time.perf_counter() - begin))
        queue = PgQueuer(driver)

        @queue.entrypoint("h")  # type: ignore[untyped-decorator]
        async def handle(_: Any) -> None: ...

        begin = time.perf_counter()
        await queue.run(dequeue_timeout=timedelta(seconds=1), batch_size=100, mode=QueueExecutionMode.drain)
        total = bench.tasks + bench.tasks // 10
        bench.note(WORKER, "pgqueuer, batches of 100", total / (time.perf_counter() - begin))
        await connection.close()

    asyncio.run(main())
    bench.drop(name)


def pgqueuer_latency(bench: Bench) -> None:
    """The same, listening."""
    import asyncpg
    from pgqueuer import PgQueuer
    from pgqueuer.db import AsyncpgDriver
    from pgqueuer.queries import Queries

    name = bench.database()

    async def main() -> None:
        own, other = [
            await asyncpg.connect(host=str(bench.server.folder), user="fleet", database=name) for _ in range(2)
        ]
        queries = Queries(AsyncpgDriver(other))
        await queries.install()
        queue = PgQueuer(AsyncpgDriver(own))
        began: asyncio.Queue[float] = asyncio.Queue()

        @queue.entrypoint("h")  # type: ignore[untyped-decorator]
        async def handle(_: Any) -> None:
            began.put_nowait(time.perf_counter())

        worker = asyncio.create_task(queue.run(dequeue_timeout=timedelta(seconds=5), batch_size=1))
        spans = []
        await asyncio.sleep(1)
        for i in range(-5, 100):
            asked = time.perf_counter()
            await queries.enqueue("h", b"x")
            at = await asyncio.wait_for(began.get(), 60)
            if i >= 0:
                spans.append(1000 * (at - asked))
            await asyncio.sleep(0.005 + i % 10 * 0.001)
        tell_spans(bench, "pgqueuer, listening", spans)
        queue.shutdown.set()
        await worker
        await own.close()
        await other.close()

    asyncio.run(main())
    bench.drop(name)


def procrastinate(bench: Bench) -> None:
    """Procrastinate on psycopg, 20 at a time."""
    import procrastinate as library  # type: ignore[import-not-found]

    name = bench.database()
    app = library.App(connector=library.PsycopgConnector(conninfo=bench.server.dsn(name)))

    @app.task(queue="b")  # type: ignore[untyped-decorator]
    async def handle(x: int) -> None: ...

    async def main() -> None:
        async with app.open_async():
            await app.schema_manager.apply_schema_async()
            count = bench.tasks // 20
            begin = time.perf_counter()
            for i in range(count):
                await handle.defer_async(x=i)
            bench.note(ENQUEUE, "procrastinate", count / (time.perf_counter() - begin))
            begin = time.perf_counter()
            await app.run_worker_async(wait=False, concurrency=20, listen_notify=False, install_signal_handlers=False)
            bench.note(WORKER, "procrastinate, 20 at a time", count / (time.perf_counter() - begin))
            begin = time.perf_counter()
            for _ in range(5):
                await handle.batch_defer_async(*[{"x": i} for i in range(1000)])
            bench.note(BATCH, "procrastinate", 5000 / (time.perf_counter() - begin))

    asyncio.run(main())
    bench.drop(name)


def huey(bench: Bench) -> None:
    """The PostgresHuey of huey, one at a time."""
    from huey import PostgresHuey

    name = bench.database()
    queue = PostgresHuey("b", dsn=bench.server.dsn(name), results=False)

    @queue.task()  # type: ignore[untyped-decorator]
    def handle(x: str) -> None: ...

    count = bench.tasks // 10
    bench.rate(ENQUEUE, "huey", count, lambda: [handle("x") for _ in range(count)])
    bench.rate(WORKER, "huey, one at a time", count, lambda: [queue.execute(queue.dequeue()) for _ in range(count)])
    bench.drop(name)


def awa(bench: Bench) -> None:
    """awa, whose engine is in Rust: 100 at a time."""
    from awa import AsyncClient  # type: ignore[import-not-found]

    @dataclass
    class Send:
        x: str

    name = bench.database()
    count = 0

    async def main() -> None:
        nonlocal count
        client = AsyncClient(f"postgres:///{name}?host={bench.server.folder}&user=fleet")
        await client.migrate()
        ended = asyncio.Event()

        @client.task(Send, queue="b")  # type: ignore[untyped-decorator]
        async def handle(_: Any) -> None:
            nonlocal count
            count += 1
            if count >= total:
                ended.set()

        single, total = bench.tasks // 20, bench.tasks // 20 + bench.tasks
        begin = time.perf_counter()
        for _ in range(single):
            await client.insert(Send("x"), queue="b")
        bench.note(ENQUEUE, "awa", single / (time.perf_counter() - begin))
        begin = time.perf_counter()
        for _ in range(0, bench.tasks, 1000):
            await client.insert_many_copy([Send("x")] * 1000, queue="b")
        bench.note(BATCH, "awa", bench.tasks / (time.perf_counter() - begin))
        begin = time.perf_counter()
        await client.start([("b", 100)])
        await asyncio.wait_for(ended.wait(), 120)
        bench.note(WORKER, "awa, 100 at a time", count / (time.perf_counter() - begin))
        await client.shutdown()
        await client.close()

    asyncio.run(main())
    bench.drop(name)


PARTS = {
    "pgqueuer": pgqueuer,
    "pgqueuer-latency": pgqueuer_latency,
    "awa": awa,
    "procrastinate": procrastinate,
    "huey": huey,
}
