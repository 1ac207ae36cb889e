"""What a Fleet does on an event loop: the same calls as coroutines, on a connection of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from types import EllipsisType
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from .._errors import SeleneError
from .._terms import Disposition
from .._time import Duration
from ._calls import Call, Calls, raise_refused
from ._connect import TRIES, conflicts, connect_async, is_closed, pause
from ._draft import FleetDraft, FleetFields, draft_of
from ._record import FleetItem, FleetNode, FleetQueue, FleetReason, FleetTask

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")


class AsyncCalls:
    """The twins of a Fleet's methods, which say what each does. `connection` is one of psycopg's AsyncConnections.

    They go one behind the other on a connection of the event loop's, which is made when it is first needed. A call that
    is cancelled may or may not have been made.
    """

    _psycopg: Any
    _dsn: str
    _calls: Calls

    #: By their loops.
    _loops: dict[asyncio.AbstractEventLoop, OfLoop]
    _loops_lock: threading.Lock

    async def enqueue_async(
        self, id: str, *, connection: psycopg.AsyncConnection[Any] | None = None, **fields: Unpack[FleetFields]
    ) -> Disposition:
        """As `enqueue`."""
        return await self._make_async(self._calls.register(draft_of(id, fields)), connection)

    async def enqueue_batch_async(
        self, tasks: Iterable[FleetDraft], *, connection: psycopg.AsyncConnection[Any] | None = None
    ) -> tuple[Disposition | SeleneError, ...]:
        """As `enqueue_batch`."""
        drafts = tuple(tasks)
        return await self._make_async(self._calls.register_batch(drafts), connection) if drafts else ()

    async def cancel_async(
        self, id: str | None = None, *, tag: str | None = None, connection: psycopg.AsyncConnection[Any] | None = None
    ) -> int:
        """As `cancel`."""
        return await self._make_async(self._calls.cancel(id, tag), connection)

    async def cancel_queue_async(self, *, connection: psycopg.AsyncConnection[Any] | None = None) -> int:
        """As `cancel_queue`."""
        return await self._make_async(self._calls.cancel_queue(), connection)

    async def retry_async(self, id: str, *, connection: psycopg.AsyncConnection[Any] | None = None) -> Disposition:
        """As `retry`."""
        return await self._make_async(self._calls.retry(id), connection)

    async def run_now_async(self, id: str, *, connection: psycopg.AsyncConnection[Any] | None = None) -> str:
        """As `run_now`."""
        return await self._make_async(self._calls.run_now(id), connection)

    async def get_async(self, id: str) -> FleetTask:
        """As `get`."""
        return await self._make_async(self._calls.get(id))

    async def list_async(
        self, *, state: str | None = None, tag: str | None = None, every_queue: bool = False
    ) -> AsyncIterator[FleetTask]:
        """As `list`: `async for task in fleet.list_async(): …`."""
        after = 0
        while page := await self._make_async(self._calls.page(state, tag, every_queue, after)):
            for task in page:
                yield task
            after = page[-1].seq

    async def explain_async(self, id: str) -> tuple[FleetReason, ...]:
        """As `explain`."""
        return await self._make_async(self._calls.explain(id))

    async def result_async(self, id: str) -> bytes | None:
        """As `result`."""
        return await self._make_async(self._calls.result(id))

    async def wake_async(self) -> None:
        """As `wake`."""
        await self._make_async(self._calls.wake())

    async def pause_async(self, span: Duration | None = None) -> None:
        """As `pause`."""
        await self._make_async(self._calls.pause(span))

    async def resume_async(self) -> None:
        """As `resume`."""
        await self._make_async(self._calls.resume())

    async def set_queue_async(
        self,
        *,
        pace: Duration | None = None,
        backoff_min: Duration | None = None,
        backoff_max: Duration | None = None,
        jitter: int | None = None,
        retention: Duration | None = None,
        max_input: int | None = None,
        limit_refresh: int | EllipsisType | None = ...,
        limit_processing: int | EllipsisType | None = ...,
        holds: bool | None = None,
        crash_pause: Duration | None = None,
    ) -> None:
        """As `set_queue`."""
        await self._make_async(
            self._calls.set_queue(
                pace=pace,
                backoff_min=backoff_min,
                backoff_max=backoff_max,
                jitter=jitter,
                retention=retention,
                max_input=max_input,
                limit_refresh=limit_refresh,
                limit_processing=limit_processing,
                holds=holds,
                crash_pause=crash_pause,
            )
        )

    async def status_async(self) -> tuple[FleetItem, ...]:
        """As `status`."""
        return await self._make_async(self._calls.status())

    async def queues_async(self) -> tuple[FleetQueue, ...]:
        """As `queues`."""
        return await self._make_async(self._calls.queues())

    async def nodes_async(self) -> tuple[FleetNode, ...]:
        """As `nodes`."""
        return await self._make_async(self._calls.nodes())

    async def drain_async(self, node: str) -> int:
        """As `drain`."""
        return await self._make_async(self._calls.drain(node))

    async def prune_async(self, age: Duration | None = None) -> int:
        """As `prune`."""
        await self._make_async(self._calls.partitions())
        return await self._make_async(self._calls.prune(age))

    # ---- the connection -------------------------------------------------------

    async def _make_async(self, call: Call[T], connection: psycopg.AsyncConnection[Any] | None = None) -> T:
        for tries in range(1, TRIES if connection is None else 1):
            try:
                return await self._make_once_async(call)
            except conflicts(self._psycopg):
                await asyncio.sleep(pause(tries))
        return await self._make_once_async(call, connection)

    async def _make_once_async(self, call: Call[T], connection: psycopg.AsyncConnection[Any] | None = None) -> T:
        async with self._use_async(connection) as used:
            try:
                # As in the call that is not asynchronous.
                async with used.cursor(row_factory=self._psycopg.rows.tuple_row, binary=True) as cursor:
                    await cursor.execute(call.sql.encode(), call.values, prepare=False)
                    rows = await cursor.fetchall()
            except self._psycopg.Error as error:
                raise_refused(error)
                if connection is None and isinstance(error, self._psycopg.errors.ReadOnlySqlTransaction):
                    await used.close()
                raise
        return call.read(rows)

    @asynccontextmanager
    async def _use_async(
        self, connection: psycopg.AsyncConnection[Any] | None
    ) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        if connection is not None:
            yield connection
            return
        while True:
            own = self._of_loop()
            async with own.turn:
                if own.is_over:
                    continue  # closed while this call waited: the next one has a connection of its own
                if own.connection is not None and is_closed(own.connection):
                    await own.connection.close()
                    own.connection = None
                if own.connection is None:
                    own.connection = await connect_async(self._psycopg, self._dsn)
                used = own.connection
                try:
                    yield used
                finally:
                    # What was cancelled may still be under way in it.
                    if own.is_over or used.info.transaction_status != self._psycopg.pq.TransactionStatus.IDLE:
                        await used.close()
                return

    def _of_loop(self) -> OfLoop:
        """What is the running loop's; what was of one that is closed goes."""
        self._enter_process()
        loop = asyncio.get_running_loop()
        with self._loops_lock:
            for over in [one for one in self._loops if one.is_closed()]:
                self._loops.pop(over).leave()
            return self._loops.setdefault(loop, OfLoop())

    def _leave_loops(self) -> None:
        with self._loops_lock:
            loops, self._loops = self._loops, {}
        for loop, own in loops.items():
            # What a loop in another thread uses is closed there.
            if loop.is_running() and loop is not asyncio._get_running_loop():
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(own.leave)
                    continue
            own.leave()

    async def _leave_loop(self) -> None:
        """Closes what the running loop has, once nobody uses it."""
        with self._loops_lock:
            own = self._loops.pop(asyncio.get_running_loop(), None)
        if own is not None:
            async with own.turn:
                own.is_over = True
                if own.connection is not None:
                    await own.connection.close()

    def _enter_process(self) -> None:
        raise NotImplementedError


class OfLoop:
    """The connection of an event loop, and whose turn it is there."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.connection: psycopg.AsyncConnection[Any] | None = None
        #: Nobody comes for it any more: who uses it closes it.
        self.is_over = False

    def leave(self) -> None:
        """Closes it, or lets whoever uses it close it; in the thread of its loop, or after the end of that."""
        self.is_over = True
        if self.connection is not None and not self.turn.locked():
            self.connection.pgconn.finish()
