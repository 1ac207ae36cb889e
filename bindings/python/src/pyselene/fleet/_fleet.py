"""A fleet as a program sees it that registers, looks and manages."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn

from .. import _raw
from .._errors import error_class
from .._fault import Fault
from .._library import fast
from .._terms import Disposition, State
from .._time import Duration, duration_ns
from ._connect import connect
from ._record import FleetItem, FleetNode, FleetQueue, FleetReason, FleetTask
from ._script import identifier, script
from ._worker import Worker

if TYPE_CHECKING:
    from types import TracebackType

    import psycopg

    from .._scheduler import Scheduler

_QUEUE, _NODE = (", ".join(kind.__dataclass_fields__) for kind in (FleetQueue, FleetNode))
_COLUMNS = ", ".join(name for name in FleetTask.__dataclass_fields__ if name not in ("ended", "appended"))


class Fleet:
    """Tasks in a schema of PostgreSQL.

    It connects when it is first used, and again after the connection was lost; what was under way then raises psycopg's
    `OperationalError`, and may or may not have happened: the same id again is `kept` or `added`. Any thread may use it.

    Args:
        dsn: how to reach the database, as psycopg and libpq take it.
        schema: that of the fleet.
        queue: where tasks go, and what `list`, `pause` and `resume` mean; a task's id is one in all queues.
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
        #: In statements with parameters.
        self._call = self._in.replace("%", "%%")
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None
        #: Of a parent, which is not to be closed here.
        self._left: list[psycopg.Connection[Any] | None] = []

    @property
    def schema(self) -> str:
        """The schema in which it is."""
        return self._schema

    @property
    def queue(self) -> str:
        """The queue that tasks go to."""
        return self._queue

    def close(self) -> None:
        """Closes the connection; a later call makes another."""
        self._enter_process()
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
        )

    def wake(self) -> None:
        """Notifies workers that listen: something of this queue is due. Call it after the transaction."""
        self._rows(f"select {self._call}.wake(%s)", (self._queue,))

    def script(self) -> str:
        """What `install` runs, for those who want to read it, or to have it run by somebody else."""
        return script(self._schema)

    def install(self) -> tuple[str, ...]:
        """Makes the schema, or brings it to this release; what is there stays. In one transaction.

        Returns:
            what the database warns of: that roles are not there, and it may not make them.
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

    def enqueue(
        self,
        id: str,
        *,
        handler: str | None = None,
        input: bytes = b"",
        kind: str = "refresh",
        schedule: str | None = None,
        priority: int = 3,
        expected: Duration | None = None,
        delay: Duration = 0,
        every: Duration | None = None,
        flex: Duration = 0,
        anchored: bool = False,
        backoff: str | None = None,
        backoff_delay: Duration = 30,
        max_attempts: int | None = None,
        response_window: int = 3,
        tags: Iterable[str] = (),
        labels: Iterable[str] = (),
        requires: Iterable[str] = (),
        existing: str | None = None,
        connection: psycopg.Connection[Any] | None = None,
    ) -> Disposition:
        """Registers a task, durably when it returns; in a transaction of yours with that.

        Args:
            id: a task under it that has not ended is kept, unless `existing` says otherwise.
            handler: the name by which a worker finds what to call; the id if absent.
            input: what the handler gets, at most 10 240 bytes unless the queue has another limit.
            kind: "refresh" (short) or "processing" (long).
            schedule: "once", "periodic" or "standing"; once if absent, periodic with `every`.
            priority: 1 … 5.
            expected: what a run takes; absent: what runs of its handler took.
            delay: before it may run at all.
            every: the period.
            flex: the last part of a period in which it may run first.
            anchored: whether periods are counted from the first begin, not from the end of a run.
            backoff: "none", "linear", "exponential": how the pause after a failure grows.
            backoff_delay: the first such pause.
            max_attempts: after so many it has failed; None: any number.
            response_window: of how many runs the estimate is the mean.
            tags: to cancel and to list by, at most 16.
            labels: what a worker must carry, as "gpu"; at most 16.
            requires: constraints of the worker's machine, as "network".
            existing: "keep", "replace", "update", "append", "append_or_replace".
            connection: one of psycopg's, of your own: the task is there when, and only when, your transaction commits.

        Raises:
            InvalidArgument, TooLarge, TooManyPending: it was refused, and nothing changed; a transaction of yours has
                failed, as by any error of the database.
        """
        said = {
            "id": id,
            "handler": handler,
            "queue": self._queue,
            "kind": str(kind),
            "schedule": schedule,
            "priority": priority,
            "expected": _span(expected, "expected"),
            "delay": _span(delay, "delay"),
            "every": _span(every, "every"),
            "flex": _span(flex, "flex"),
            "anchored": anchored,
            "backoff": backoff,
            "backoff_delay": _span(backoff_delay, "backoff_delay"),
            "max_attempts": max_attempts or 0,
            "response_window": response_window,
            "tags": _names(tags, "tags"),
            "labels": _names(labels, "labels"),
            "requires": [str(one) for one in _names(requires, "requires")],
            "existing": existing,
            "input": bytes(input),
        }
        names = ", ".join(f"{name} => %({name})s" for name in said)
        ((disposition,),) = self._rows(f"select {self._call}.register({names})", said, connection)
        return Disposition.of(disposition, "disposition")

    def cancel(
        self, id: str | None = None, *, tag: str | None = None, connection: psycopg.Connection[Any] | None = None
    ) -> int:
        """Cancels a task, or all that carry a tag, with what waits behind; a run in flight no longer counts.

        Returns:
            how many were cancelled; 0 if it had ended.

        Raises:
            NotFound: the id is not registered.
        """
        if (id is None) == (tag is None):
            raise TypeError("cancel takes an id or a tag")
        call, value = ("cancel", id) if tag is None else ("cancel_tag", tag)
        ((count,),) = self._rows(f"select {self._call}.{call}(%s)", (value,), connection)
        return int(count)

    def retry(self, id: str, *, connection: psycopg.Connection[Any] | None = None) -> Disposition:
        """Registers a task that has failed again: due at once, with the same terms and no attempts.

        Returns:
            added, or held where its queue has no place.

        Raises:
            NotFound: the id is not registered, or no longer known.
            InvalidArgument: it has not failed, or is live.
        """
        ((disposition,),) = self._rows(f"select {self._call}.retry(%s)", (id,), connection)
        return Disposition.of(disposition, "disposition")

    def run_now(self, id: str, *, connection: psycopg.Connection[Any] | None = None) -> str:
        """A live task is due now, whatever it waited for by time; a worker takes it by its rank.

        Returns:
            what it still waits for: "ready" for a worker, "held" for a place of its queue, "still_running" for the run
            of the record before it.

        Raises:
            NotFound: the id has no live task.
            InvalidArgument: it runs already.
        """
        ((waits,),) = self._rows(f"select {self._call}.run_now(%s)", (id,), connection)
        return str(waits)

    def get(self, id: str) -> FleetTask:
        """The record of an id: the live one, else the last.

        Raises:
            NotFound: it is not registered, or no longer known.
        """
        rows = self._rows(f"select {_COLUMNS}, ended, appended from {self._call}.get(%s)", (id,))
        if not rows:
            self._refuse(_raw.SELENE_ERROR_NOT_FOUND, "id", f"id: {id!r} is not registered")
        return _task(rows[0])

    def list(
        self, *, state: str | None = None, tag: str | None = None, every_queue: bool = False
    ) -> Iterator[FleetTask]:
        """Live tasks by number, read in pages of 1 000; `state` is enqueued, held, blocked or running."""
        if state is not None:
            State.of(state, "state")
        after = 0
        while rows := self._rows(
            f"select {_COLUMNS}, null, 0 from {self._call}.list(%s, %s, %s, %s, 1000)",
            (None if every_queue else self._queue, state, tag, after),
        ):
            for row in rows:
                yield _task(row)
            after = rows[-1][0]

    def explain(self, id: str) -> tuple[FleetReason, ...]:
        """Every reason why a task does not run now.

        Raises:
            NotFound: it is not registered.
        """
        rows = self._rows(f"select reason, detail, until from {self._call}.explain(%s)", (id,))
        return tuple(FleetReason(*row) for row in rows)

    def result(self, id: str) -> bytes | None:
        """What the last success of a task left; None: nothing, or it is no longer known."""
        ((result,),) = self._rows(f"select {self._call}.result(%s)", (id,))
        return None if result is None else bytes(result)

    def pause(self, span: Duration | None = None) -> None:
        """Workers are given nothing of this queue, for a time or until it is resumed; what runs goes on."""
        self._rows(f"select {self._call}.pause(%s, %s)", (self._queue, _span(span, "span")))

    def resume(self) -> None:
        """Workers are given tasks of this queue again."""
        self._rows(f"select {self._call}.resume(%s)", (self._queue,))

    def status(self) -> tuple[FleetItem, ...]:
        """How the fleet is, and where somebody should look."""
        rows = self._rows(f"select item, value, alarm from {self._call}.status()", ())
        return tuple(FleetItem(*row) for row in rows)

    def queues(self) -> tuple[FleetQueue, ...]:
        """Its queues, by name; at most 1 000."""
        rows = self._rows(f"select {_QUEUE} from {self._call}.queues(most => 1000)", ())
        return tuple(FleetQueue(**dict(zip(FleetQueue.__dataclass_fields__, row, strict=True))) for row in rows)

    def nodes(self) -> tuple[FleetNode, ...]:
        """Its workers, those that are alive first; at most 1 000."""
        rows = self._rows(f"select {_NODE} from {self._call}.workers(1000)", ())
        return tuple(FleetNode(**dict(zip(FleetNode.__dataclass_fields__, row, strict=True))) for row in rows)

    def prune(self, age: Duration | None = None) -> int:
        """Forgets what ended longer ago than that, by default than the retention of its queue.

        Workers do so by themselves, but for what has the longest retention, which they drop a day at a time: this is
        for who does not want to wait, or has no workers. It makes and drops partitions of the history, too.

        Returns:
            how many records were forgotten one by one; dropped partitions do not count.
        """
        self._rows(f"select {self._call}.partitions()", ())
        ((count,),) = self._rows(f"select {self._call}.prune(%s)", (_span(age, "age"),))
        return int(count)

    def _rows(
        self, statement: str, values: Any, connection: psycopg.Connection[Any] | None = None
    ) -> Sequence[tuple[Any, ...]]:
        with self._use(connection) as used:
            try:
                # Rows are tuples, whatever a connection of the application's own makes of them, and binary, since the
                # text of instants and spans is in the style of the role; no statement is kept in it, which a pooler may
                # hand on.
                with used.cursor(row_factory=self._psycopg.rows.tuple_row, binary=True) as cursor:
                    return cursor.execute(statement.encode(), values, prepare=False).fetchall()
            except self._psycopg.Error as error:
                state = error.sqlstate or ""
                if state[:2] == "SE" and state[2:].isdigit():
                    field = error.diag.column_name
                    self._refuse(int(state[2:]), field, error.diag.message_primary or "", error)
                # A server that may only be read was the right one once, or will be.
                if connection is None and isinstance(error, self._psycopg.errors.ReadOnlySqlTransaction):
                    used.close()
                raise

    @contextmanager
    def _use(self, connection: psycopg.Connection[Any] | None) -> Iterator[psycopg.Connection[Any]]:
        if connection is not None:
            yield connection
            return
        self._enter_process()
        with self._lock:
            if self._connection is None or self._connection.closed:
                self._connection, _ = connect(self._psycopg, self._dsn)
            yield self._connection

    def _enter_process(self) -> None:
        """A forked child leaves the connection to its parent, and a lock that somebody may have held then."""
        if self._pid != os.getpid():
            self._left.append(self._connection)
            self._pid, self._lock, self._connection = os.getpid(), threading.Lock(), None

    @staticmethod
    def _refuse(status: int, field: str | None, detail: str, cause: BaseException | None = None) -> NoReturn:
        name = fast.selene_status_name(status).decode()
        raise error_class(status)(status, name, detail, Fault(field=field)) from cause


def _span(value: Duration | None, what: str) -> timedelta | None:
    # In whole microseconds, rounded up.
    return None if value is None else timedelta(microseconds=-(-duration_ns(value, what) // 1000))


def _names(values: Iterable[str], what: str) -> list[str]:
    if isinstance(values, str):
        raise TypeError(f"{what} must hold str, not be one")
    return [*values]


def _task(row: tuple[Any, ...]) -> FleetTask:
    values = dict(zip([*_COLUMNS.split(", "), "ended", "appended"], row, strict=True))
    values["state"] = State.of(values["state"], "state")
    values["tags"] = values["tags"] or []
    return FleetTask(**values)
