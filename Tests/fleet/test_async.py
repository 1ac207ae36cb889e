"""The asynchronous face of pyselene.fleet: the same calls as coroutines."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import time
from datetime import timedelta
from typing import Any

import psycopg
import pyselene
import pytest
from psycopg.rows import dict_row
from pyselene.fleet import Fleet, FleetDraft

from conftest import Fleet as Looked
from workers import wait


@pytest.fixture
def own(fleet: Looked) -> Fleet:
    """The same fleet, as a program has it."""
    return Fleet(fleet.server.dsn(fleet.name), queue="mail")


def others(fleet: Looked) -> int:
    """How many connections of others the database has."""
    return int(
        fleet.one(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
            " and backend_type = 'client backend'"
        )
    )


def test_every_call_has_its_twin() -> None:
    # These make no statement, or a script.
    alone = {"close", "install", "script", "worker"}
    names = {name for name, _ in inspect.getmembers(Fleet, inspect.isfunction) if not name.startswith("_")}
    plain = {name for name in names if not name.endswith("_async")} - alone
    assert {f"{name}_async" for name in plain} == names - plain - alone

    def told(name: str) -> list[tuple[str, Any, Any]]:
        signature = inspect.signature(getattr(Fleet, name))
        return [(one.name, one.kind, one.default) for one in signature.parameters.values()]

    for name in plain:
        assert told(name) == told(f"{name}_async"), name


def test_tasks_are_registered_looked_at_and_cancelled(own: Fleet, fleet: Looked) -> None:
    async def work() -> None:
        async with own:
            terms = {"handler": "send", "input": b"\0x", "tags": {"t"}, "max_attempts": 1}
            became = await own.enqueue_async("a", expected=2.5, delay=timedelta(hours=1), **terms)  # type: ignore[arg-type]
            assert became is pyselene.Disposition.ADDED
            task = await own.get_async("a")
            assert (task.queue, task.handler, task.tags) == ("mail", "send", ["t"])
            assert [one.reason for one in await own.explain_async("a")] == ["not_due", "no_node"]
            assert await own.run_now_async("a") == "ready"
            batch = await own.enqueue_batch_async([FleetDraft("b"), FleetDraft("wrong", priority=9)])
            assert batch[0] is pyselene.Disposition.ADDED
            assert isinstance(batch[1], pyselene.InvalidArgument)
            assert await own.enqueue_batch_async([]) == ()
            assert [one.id async for one in own.list_async()] == ["a", "b"]
            fleet.complete(fleet.claim(fleet.hello("alpha")), 2)
            assert await own.retry_async("a") is pyselene.Disposition.ADDED
            assert await own.cancel_async(tag="t") == 1
            assert await own.cancel_queue_async() == 1
            assert await own.result_async("a") is None
            with pytest.raises(pyselene.NotFound):
                await own.get_async("none")
            with pytest.raises(pyselene.InvalidArgument) as refused:
                await own.enqueue_async("a", priority=9)
            assert refused.value.field == "priority"
            await own.set_queue_async(limit_refresh=5, holds=True)
            await own.pause_async(60)
            (queue,) = await own.queues_async()
            assert (queue.limit_refresh, queue.holds, queue.paused) == (5, True, True)
            await own.resume_async()
            await own.wake_async()
            assert await own.drain_async("alpha") == 1
            assert [(node.name, node.draining) for node in await own.nodes_async()] == [("alpha", True)]
            assert any(one.item == "nodes" for one in await own.status_async())
            assert await own.prune_async(0) > 0
        wait(lambda: others(fleet) == 0)

    asyncio.run(work())


def test_n16_tasks_stand_or_fall_with_the_transaction_of_the_application(own: Fleet, fleet: Looked) -> None:
    async def work() -> None:
        dsn = fleet.server.dsn(fleet.name)
        async with own, await psycopg.AsyncConnection.connect(dsn, row_factory=dict_row) as mine:
            with pytest.raises(ZeroDivisionError):
                async with mine.transaction():
                    await own.enqueue_async("a", connection=mine)
                    raise ZeroDivisionError
            async with mine.transaction():
                await own.enqueue_async("b", connection=mine)
                await own.enqueue_batch_async([FleetDraft("c"), FleetDraft("wrong", priority=9)], connection=mine)
                with pytest.raises(pyselene.NotFound):
                    await own.get_async("b")
            assert [one.id async for one in own.list_async()] == ["b", "c"]

    asyncio.run(work())


def test_calls_at_the_same_time_go_one_behind_the_other_on_one_connection(own: Fleet, fleet: Looked) -> None:
    async def work() -> None:
        became = await asyncio.gather(*(own.enqueue_async(f"t{number}") for number in range(50)))
        assert became == [pyselene.Disposition.ADDED] * 50
        wait(lambda: others(fleet) == 1)

    # Each loop has a connection of its own, and leaves none behind.
    for _ in range(2):
        asyncio.run(work())
        fleet.rows("select cancel_all()")
    own.close()
    wait(lambda: others(fleet) == 0)


def test_loops_of_several_threads_do_not_meet(own: Fleet, fleet: Looked) -> None:
    wrong: list[BaseException] = []
    ready = threading.Barrier(3)

    async def work(name: str) -> None:
        await own.enqueue_async(f"{name}-first")
        ready.wait(60)
        for number in range(30):
            assert await own.enqueue_async(f"{name}-{number}") is pyselene.Disposition.ADDED

    def begin(name: str) -> None:
        try:
            asyncio.run(work(name))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=begin, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    ready.wait(60)
    # And beside them who has no loop.
    for number in range(30):
        own.enqueue(f"c-{number}")
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert fleet.one("select count(*) from task") == 92
    own.close()
    wait(lambda: others(fleet) == 0)


def test_a_close_cuts_off_no_call_of_another_thread_or_task(own: Fleet, fleet: Looked) -> None:
    wrong: list[BaseException] = []
    begun, ended = threading.Event(), threading.Event()

    async def enqueue(name: str) -> None:
        number = 0
        while not ended.is_set():
            assert await own.enqueue_async(f"{name}-{number}") is pyselene.Disposition.ADDED
            begun.set()
            number += 1

    async def work() -> None:
        await asyncio.gather(*(enqueue(name) for name in "abc"))

    def begin() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=begin)
    thread.start()
    assert begun.wait(60)
    for _ in range(50):
        own.close()
        time.sleep(0.01)
    ended.set()
    thread.join(60)
    assert wrong == []

    async def leave() -> None:
        async with own:
            call = asyncio.create_task(own.enqueue_async("last"))
            await asyncio.sleep(0)
        assert await call is pyselene.Disposition.ADDED
        async with own:
            call = asyncio.create_task(own.enqueue_async("other"))
            await asyncio.sleep(0)
            own.close()
            assert await call is pyselene.Disposition.ADDED

    asyncio.run(leave())
    own.close()
    wait(lambda: others(fleet) == 0)


def test_a_call_that_is_cancelled_leaves_no_connection_in_the_middle(own: Fleet, fleet: Looked) -> None:
    async def work() -> None:
        await own.enqueue_async("a")
        with fleet.another() as holder:
            holder.execute("begin")
            holder.execute("lock table selene.slot")
            call = asyncio.create_task(own.cancel_async("a"))
            await asyncio.sleep(0.3)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            holder.execute("rollback")
        assert (await own.get_async("a")).id == "a"
        assert await own.enqueue_async("b") is pyselene.Disposition.ADDED

    asyncio.run(work())
    own.close()


def test_a_forked_child_makes_a_connection_of_its_own(own: Fleet, fleet: Looked) -> None:
    async def work(id: str) -> None:
        assert await own.enqueue_async(id) is pyselene.Disposition.ADDED

    asyncio.run(work("a"))
    child = os.fork()
    if child == 0:
        asyncio.run(work("b"))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

    async def look() -> list[str]:
        return [one.id async for one in own.list_async()]

    assert asyncio.run(look()) == ["a", "b"]
    own.close()
    assert fleet.one("select count(*) from task") == 2
