"""A fleet as a program sees it that registers, looks and manages."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import EllipsisType
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from .._errors import SeleneError
from .._terms import Disposition
from .._time import Duration
from ._calls import Call, Calls, raise_refused
from ._connect import TRIES, conflicts, connect, is_closed, pause
from ._draft import FleetDraft, FleetFields, draft_of
from ._fleet_async import AsyncCalls
from ._record import FleetItem, FleetNode, FleetQueue, FleetReason, FleetTask
from ._script import identifier, script
from ._worker import Worker

if TYPE_CHECKING:
    from types import TracebackType

    import psycopg

    from .._scheduler import Scheduler

T = TypeVar("T")


class Fleet(AsyncCalls):
    """Tasks in a schema of PostgreSQL.

    It connects when it is first used, and again after the connection was lost; what was under way then raises psycopg's
    `OperationalError`, and may or may not have happened: the same id again is `kept` or `added`. Any thread may use it.

    Each method has a coroutine for event loops, whose name ends with `_async`, as `enqueue_async`: on a connection of
    its own, or on an `AsyncConnection` of yours.

    Args:
        dsn: how to reach the database, as psycopg and libpq take it.
        schema: that of the fleet; `install` makes none whose name has more than 55 bytes.
        queue: where tasks go, and what `list`, `pause` and `set_queue` mean; a task's id is one in all queues.
        listen_dsn: the same for the connection on which workers listen, where `dsn` leads through a pooler that hands
            connections on after each transaction; by default `dsn`.

    Raises:
        ImportError: psycopg is not installed: `pip install pyselene[fleet]`.
    """

    def __init__(
        self, dsn: str, *, schema: str = "selene", queue: str = "default", listen_dsn: str | None = None
    ) -> None:
        try:
            import psycopg
        except ModuleNotFoundError as error:
            raise ImportError("a fleet needs psycopg: pip install 'pyselene[fleet]'") from error
        except ImportError as error:
            raise ImportError(
                "psycopg finds no libpq: install that (Debian and Ubuntu: libpq5), or pip install 'psycopg[binary]'"
            ) from error
        self._psycopg = psycopg
        self._dsn, self._schema, self._queue = dsn, schema, queue
        self._listen_dsn = dsn if listen_dsn is None else listen_dsn
        self._in = identifier(schema)
        self._calls = Calls(self._in.replace("%", "%%"), queue)
        self._pid = os.getpid()
        self._lock, self._loops_lock, self._loops = threading.Lock(), threading.Lock(), {}
        self._connection: psycopg.Connection[Any] | None = None
        #: Of a parent, which are not to be closed here.
        self._left: list[Any] = []

    @property
    def schema(self) -> str:
        """The schema in which it is."""
        return self._schema

    @property
    def queue(self) -> str:
        """The queue that tasks go to."""
        return self._queue

    def close(self) -> None:
        """Closes its connections; a later call makes another.

        A call that is under way, in another thread or an event loop, is not cut off: it closes what it used.
        """
        self._enter_process()
        self._leave_loops()
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def __enter__(self) -> Fleet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Fleet:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._enter_process()
        await self._leave_loop()
        self.close()

    def worker(
        self,
        scheduler: Scheduler,
        *,
        queues: Iterable[str] | None = None,
        labels: Iterable[str] = (),
        lease: Duration = 30,
        horizon: Duration = 0.25,
        poll: Duration = 1,
        name: str | None = None,
        listen: bool = True,
        relaxed: bool = False,
    ) -> Worker:
        """Lets the tasks of a scheduler in memory come from this fleet, while the result is open as a context.

        Its handlers, windows, lanes, governor and driver are what they are; a task whose handler it has begins in the
        next free lane of a window that rolls, as those of `run_forever` and of drivers do.

        Args:
            scheduler: one without a path, since the fleet keeps the tasks; it has one worker at a time.
            queues: whose tasks it takes; None: those of every queue.
            labels: what this machine has that not all have; tasks that ask for other labels are left to others.
            lease: how long the fleet waits for a sign of life before others take what runs here.
            horizon: a claim takes what keeps the free lanes busy for so long; 0: one task a lane.
            poll: how often it looks for work when nothing notifies it.
            name: for people, in `status` and the view `nodes`; by default machine and process.
            listen: whether it hears notifications (`wake`) on a connection of its own, which no pooler may hand on:
                where one does, it says so in the log, and looks every `poll` (`listen_dsn` of the fleet leads past it).
            relaxed: the database commits what it claims and decides without waiting for its disk, for up
                to twice the rate of short runs; after a crash of its server the last of them may run again.
        """
        return Worker(
            self,
            scheduler,
            queues=queues,
            labels=labels,
            lease=lease,
            horizon=horizon,
            poll=poll,
            name=name,
            listen=listen,
            relaxed=relaxed,
        )

    def script(self) -> str:
        """What `install` runs, for those who want to read it, or to have it run by somebody else."""
        return script(self._schema)

    def install(self) -> tuple[str, ...]:
        """Makes the schema, or brings it to this release; what is there stays. In one transaction.

        Returns:
            what is to be known: that the roles for others are not there, and this one may not make them.
        """
        said: deque[str] = deque()

        def hear(diagnostic: psycopg.errors.Diagnostic) -> None:
            if diagnostic.severity_nonlocalized == "WARNING":
                said.append(diagnostic.message_primary or "")

        with self._use(None) as connection:
            connection.add_notice_handler(hear)
            try:
                # Bytes, since what is a literal text for certain is asked for.
                connection.execute(self.script().encode())
            except self._psycopg.Error:
                connection.rollback()
                raise
            finally:
                connection.remove_notice_handler(hear)
        return tuple(said)

    # ---- tasks ----------------------------------------------------------------

    def enqueue(
        self, id: str, *, connection: psycopg.Connection[Any] | None = None, **fields: Unpack[FleetFields]
    ) -> Disposition:
        """Registers a task, durably when it returns; in a transaction of yours with that.

        Args:
            id: a task under it that has not ended is kept, unless `existing` says otherwise.
            connection: one of psycopg's, of your own: the task is there when, and only when, your transaction commits.
            fields: what the task is, as FleetDraft says.

        Raises:
            InvalidArgument, TooLarge, TooManyPending: it was refused, and nothing changed; a transaction of yours has
                failed, as by any error of the database.
        """
        return self._make(self._calls.register(draft_of(id, fields)), connection)

    def enqueue_batch(
        self, tasks: Iterable[FleetDraft], *, connection: psycopg.Connection[Any] | None = None
    ) -> tuple[Disposition | SeleneError, ...]:
        """Registers many tasks in one statement, so in one commit; in a transaction of yours with that.

        Each is judged by itself, in this order: one that is refused does not stop the others, nor fail a transaction of
        yours. Who registers the same ids at the same time should do so in the same order. Their values are in memory
        several times over: thousands at a time are plenty.

        Returns:
            for each what became of it, or the exception that `enqueue` would raise.

        Raises:
            TypeError, ValueError: a field of a task is not what it is to be at all; nothing is registered.
        """
        drafts = tuple(tasks)
        return self._make(self._calls.register_batch(drafts), connection) if drafts else ()

    def cancel(
        self, id: str | None = None, *, tag: str | None = None, connection: psycopg.Connection[Any] | None = None
    ) -> int:
        """Cancels a task, or all that carry a tag, with what waits behind; a run in flight no longer counts.

        Returns:
            how many were cancelled; 0 if it had ended.

        Raises:
            NotFound: the id is not registered.
        """
        return self._make(self._calls.cancel(id, tag), connection)

    def cancel_queue(self, *, connection: psycopg.Connection[Any] | None = None) -> int:
        """Cancels every live task of this queue, with what waits behind.

        Returns:
            how many were cancelled.
        """
        return self._make(self._calls.cancel_queue(), connection)

    def retry(self, id: str, *, connection: psycopg.Connection[Any] | None = None) -> Disposition:
        """Registers a task that has failed again: due at once, with the same terms and no attempts.

        Returns:
            added, or held where its queue has no place.

        Raises:
            NotFound: the id is not registered, or no longer known.
            InvalidArgument: it has not failed, or is live.
        """
        return self._make(self._calls.retry(id), connection)

    def run_now(self, id: str, *, connection: psycopg.Connection[Any] | None = None) -> str:
        """A live task is due now, whatever it waited for by time; a worker takes it by its rank.

        Returns:
            what it still waits for: "ready" for a worker, "held" for a place of its queue, "still_running" for the run
            of the record before it.

        Raises:
            NotFound: the id has no live task.
            InvalidArgument: it runs already.
        """
        return self._make(self._calls.run_now(id), connection)

    def get(self, id: str) -> FleetTask:
        """The record of an id: the live one, else the last.

        Raises:
            NotFound: it is not registered, or no longer known.
        """
        return self._make(self._calls.get(id))

    def list(
        self, *, state: str | None = None, tag: str | None = None, every_queue: bool = False
    ) -> Iterator[FleetTask]:
        """Live tasks by number, read in pages of 1 000; `state` is enqueued, held, blocked or running."""
        after = 0
        while page := self._make(self._calls.page(state, tag, every_queue, after)):
            yield from page
            after = page[-1].seq

    def explain(self, id: str) -> tuple[FleetReason, ...]:
        """Every reason why a task does not run now.

        Raises:
            NotFound: it is not registered.
        """
        return self._make(self._calls.explain(id))

    def result(self, id: str) -> bytes | None:
        """What the last success of a task left; None: nothing, or it is no longer known."""
        return self._make(self._calls.result(id))

    # ---- the queue ------------------------------------------------------------

    def pause(self, span: Duration | None = None) -> None:
        """Workers are given nothing of this queue, for a time or until it is resumed; what runs goes on."""
        self._make(self._calls.pause(span))

    def resume(self) -> None:
        """Workers are given tasks of this queue again."""
        self._make(self._calls.resume())

    def wake(self) -> None:
        """Notifies workers that listen: something of this queue is due. Call it after the transaction."""
        self._make(self._calls.wake())

    def set_queue(
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
        """Sets this queue; what is not said stays as it is. `queues` tells how it is set.

        Args:
            pace: how long a standing task waits after a run (15 min in a new queue).
            backoff_min: the shortest pause after a failure (10 s).
            backoff_max: the longest (5 h).
            jitter: by how many thousandths chance may shorten such a pause: 0 … 1000 (0).
            retention: how long records are kept that have ended; 0 keeps none (24 h).
            max_input: how many bytes an input may have (10 240).
            limit_refresh: how many requests of that kind may be pending; None: any number (so in a new queue). With a
                limit registrations of the queue wait for one another's commit.
            limit_processing: the same of the other kind.
            holds: what finds no place waits for one; else it is refused (so in a new queue).
            crash_pause: how long a task waits whose node has died a second time while it ran (30 s); each further time
                twice as long.

        Raises:
            InvalidArgument: it was refused, and nothing changed.
            psycopg.errors.LockNotAvailable: a transaction that has registered, cancelled or completed tasks, or has set
                this queue, was open for 2 s; nothing changed. Try again when it has ended.
        """
        self._make(
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

    # ---- the fleet ------------------------------------------------------------

    def status(self) -> tuple[FleetItem, ...]:
        """How the fleet is, and where somebody should look."""
        return self._make(self._calls.status())

    def queues(self) -> tuple[FleetQueue, ...]:
        """Its queues, by name; at most 1 000."""
        return self._make(self._calls.queues())

    def nodes(self) -> tuple[FleetNode, ...]:
        """Its workers, those that are alive first; at most 1 000."""
        return self._make(self._calls.nodes())

    def drain(self, node: str) -> int:
        """Asks the workers of a name to leave.

        Each hears so with its next beat, within a third of its lease: it takes nothing more, lets end what runs, and is
        gone from `nodes`. Its process goes on, without the fleet: `worker.info().state` is CLOSED then.

        Returns:
            how many have that name.

        Raises:
            NotFound: none has.
        """
        return self._make(self._calls.drain(node))

    def prune(self, age: Duration | None = None) -> int:
        """Forgets what ended longer ago than that, by default than the retention of its queue.

        Workers do so by themselves, but for what has the longest retention, which they drop a day at a time: this is
        for who does not want to wait, or has no workers. It makes and drops partitions of the history, too.

        Returns:
            how many records were forgotten one by one; dropped partitions do not count.
        """
        self._make(self._calls.partitions())
        return self._make(self._calls.prune(age))

    # ---- the connection -------------------------------------------------------

    def _make(self, call: Call[T], connection: psycopg.Connection[Any] | None = None) -> T:
        # What is in the application's own transaction only the application can make again.
        for tries in range(1, TRIES if connection is None else 1):
            try:
                return self._make_once(call)
            except conflicts(self._psycopg):
                time.sleep(pause(tries))
        return self._make_once(call, connection)

    def _make_once(self, call: Call[T], connection: psycopg.Connection[Any] | None = None) -> T:
        with self._use(connection) as used:
            try:
                # Rows are tuples, whatever a connection of the application's own makes of them, and binary, since the
                # text of instants and spans is in the style of the role; no statement is kept in it, which a pooler may
                # hand on.
                with used.cursor(row_factory=self._psycopg.rows.tuple_row, binary=True) as cursor:
                    rows = cursor.execute(call.sql.encode(), call.values, prepare=False).fetchall()
            except self._psycopg.Error as error:
                raise_refused(error)
                # A server that may only be read was the right one once, or will be.
                if connection is None and isinstance(error, self._psycopg.errors.ReadOnlySqlTransaction):
                    used.close()
                raise
        return call.read(rows)

    @contextmanager
    def _use(self, connection: psycopg.Connection[Any] | None) -> Iterator[psycopg.Connection[Any]]:
        if connection is not None:
            yield connection
            return
        self._enter_process()
        with self._lock:
            if self._connection is not None and is_closed(self._connection):
                self._connection.close()
                self._connection = None
            if self._connection is None:
                self._connection, _ = connect(self._psycopg, self._dsn)
            yield self._connection

    def _enter_process(self) -> None:
        """A forked child leaves connections to its parent, and locks that somebody may have held then."""
        if self._pid != os.getpid():
            self._left += [self._connection, self._loops]
            self._lock, self._loops_lock, self._loops = threading.Lock(), threading.Lock(), {}
            self._pid, self._connection = os.getpid(), None
