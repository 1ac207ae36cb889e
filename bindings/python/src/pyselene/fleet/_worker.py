"""A worker: the tasks of a scheduler come from a fleet. The library's node says which statements, this makes them."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import queue
import socket
import struct
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self

from .. import _raw
from .._callbacks import log
from .._errors import Closed, SeleneError, Unsupported
from .._library import encode, layout, library
from .._names import Named
from .._time import SECOND, Duration, duration_ns, instant
from ._connect import connect

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

    from psycopg import Connection

    from .._engine import Engine
    from .._scheduler import Scheduler

_VALUE = layout(_raw.selene_value)
#: Connecting may take longer than a statement, whose time begins when it is sent.
_CONNECT = 10
#: A pooler that does not let it listen is asked again after so many seconds.
_POOLED_AGAIN = 300
#: How long a notification may take that somebody else has sent, in seconds.
_HEARD = 2


class Home(Protocol):
    """What a worker needs of its Fleet."""

    _dsn: str
    #: For the connection that listens.
    _listen_dsn: str
    #: The schema in quotes.
    _in: str

    @property
    def schema(self) -> str: ...
    @property
    def _psycopg(self) -> Any: ...


class WorkerState(Named):
    """What a worker does: it asks for a lease, works, takes nothing more, or is closed."""

    JOINING = _raw.SELENE_NODE_JOINING
    WORKING = _raw.SELENE_NODE_WORKING
    LEAVING = _raw.SELENE_NODE_LEAVING
    CLOSED = _raw.SELENE_NODE_CLOSED


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """How a worker stands.

    `number` is that in the view `nodes`, 0 without a lease, which is believed in until `believes_until`. `working` runs
    are in a lane or wait here for one, `ready` ones were claimed and wait for these, and of `undecided` ones the
    database has not acknowledged the end. `listens`: it hears notifications now, and need not look every `poll`.
    """

    state: WorkerState
    number: int
    believes_until: datetime | None
    working: int
    ready: int
    undecided: int
    listens: bool


class Worker:
    """Lets the tasks of a scheduler come from a fleet, while it is open; made by `Fleet.worker`.

    Its thread talks to the database, so handlers may be functions or coroutines, and `run_forever`, a driver or windows
    of your own may run them, as those of any scheduler.
    """

    def __init__(
        self,
        fleet: Home,
        scheduler: Scheduler,
        *,
        queues: Iterable[str] | None = None,
        labels: Iterable[str] = (),
        lease: Duration = 30,
        horizon: Duration = 0.25,
        poll: Duration = 1,
        name: str | None = None,
        listen: bool = True,
    ) -> None:
        self._fleet, self._engine, self._listens = fleet, scheduler._engine, listen
        self._raw, self._kept = _options(fleet.schema, name or f"{socket.gethostname()}:{os.getpid()}", queues, labels)
        self._raw.lease = duration_ns(lease, "lease")
        self._raw.horizon = duration_ns(horizon, "horizon")
        self._raw.poll = duration_ns(poll, "poll")
        self._grace = 30 * SECOND
        self._thread: threading.Thread | None = None
        self._listener: _Listener | None = None

    # ---- while it is open -----------------------------------------------------

    def info(self) -> WorkerInfo:
        """How it stands.

        Raises:
            Closed: it is not open.
        """
        raw = _raw.selene_node_info(ctypes.sizeof(_raw.selene_node_info))
        if self._thread is None:
            raise Closed(_raw.SELENE_ERROR_INVALID_HANDLE, "INVALID_HANDLE", "the worker is not open")
        self._engine.check(library.selene_node_get(self._engine.handle, ctypes.byref(raw)))
        until = raw.believes_until
        return WorkerInfo(
            WorkerState(raw.state),
            raw.worker,
            instant(until) if until else None,
            raw.working,
            raw.ready,
            raw.undecided,
            self._listener is not None and self._listener.listens,
        )

    def hint(self) -> None:
        """Says that something may be due, so that it looks at once; a database that notifies does the same."""
        if self._thread is not None:
            self._engine.check(library.selene_node_hint(self._engine.handle))

    # ---- open and close -------------------------------------------------------

    def open(self) -> Self:
        """Takes tasks from now on.

        Raises:
            Unsupported: the scheduler has a store, or is a connection.
            Busy: it has a worker.
        """
        engine = self._engine
        engine.check(library.selene_node_open(engine.handle, ctypes.byref(self._raw), None))
        engine.fleet_schema = self._fleet._in
        self._thread = threading.Thread(target=self._work, name="pyselene fleet", daemon=True)
        self._thread.start()
        if self._listens:
            self._listener = _Listener(self)
        return self

    def close(self, grace: Duration | None = None) -> None:
        """Takes nothing more, gives back what was not begun, waits until its runs have ended, and tells the database.

        After `grace` (30 s) it waits no longer; what it still has then others take when the lease is over.
        """
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if self._listener is not None:
            self._listener.close()
        engine = self._engine
        if engine.closed or engine.pid != os.getpid():
            return
        with contextlib.suppress(SeleneError):  # closed meanwhile
            engine.check(
                library.selene_node_leave(engine.handle, self._grace if grace is None else duration_ns(grace, "grace"))
            )
            while thread.is_alive() and not engine.closed:
                thread.join(0.1)
            engine.check(library.selene_node_close(engine.handle))

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import asyncio

        # Runs that are coroutines end on this loop meanwhile.
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Worker cannot be pickled: it belongs to the process that works")

    def __repr__(self) -> str:
        return f"<Worker of {self._fleet.schema!r}{'' if self._thread else ', closed'}>"

    # ---- the thread -----------------------------------------------------------

    def _work(self) -> None:
        link: _Link | None = None
        try:
            request = _raw.selene_node_request(ctypes.sizeof(_raw.selene_node_request))
            info = _raw.selene_node_info(ctypes.sizeof(_raw.selene_node_info))
            ready = ctypes.c_int32()
            handle = self._engine.handle
            while True:
                _check(library.selene_node_step(handle, ctypes.byref(request), None))
                if request.number:
                    if link is None or link.busy:
                        # The node waits no longer for the one before, whose connection goes with it.
                        if link is not None:
                            link.give_up()
                        link = _Link(self._fleet, self._engine)
                    link.ask(request)
                _check(library.selene_node_get(handle, ctypes.byref(info)))
                if info.state == _raw.SELENE_NODE_CLOSED:
                    return
                _check(library.selene_node_wait(handle, SECOND, ctypes.byref(ready)))
        except _Over:
            pass  # its scheduler, or the node, was closed
        except BaseException:
            log.exception("the worker of fleet %r has ended", self._fleet.schema)
        finally:
            if link is not None:
                link.give_up()


class _Over(Exception):
    """Nothing is left to work for."""


def _check(status: int) -> None:
    if status:
        raise _Over


class _Link:
    """One connection, in a thread of its own: the node is stepped on time however long the database takes."""

    def __init__(self, fleet: Home, engine: Engine) -> None:
        self._fleet, self._engine = fleet, engine
        self._calls: queue.SimpleQueue[tuple[int, bytes, list[Any], float] | None] = queue.SimpleQueue()
        self.busy = False
        self._given_up = False
        threading.Thread(target=self._work, name="pyselene fleet link", daemon=True).start()

    def ask(self, request: _raw.selene_node_request) -> None:
        """Makes a call of the node's."""
        self.busy = True
        values = _given(ctypes.addressof(request.values.contents), request.value_count) if request.value_count else []
        self._calls.put((request.number, request.sql.data, values, request.timeout / SECOND))

    def give_up(self) -> None:
        """Lets go of the connection."""
        self._given_up = True
        self._calls.put(None)

    def _work(self) -> None:
        psycopg = self._fleet._psycopg
        connection: Connection[Any] | None = None
        while not self._given_up and (call := self._calls.get()) is not None:
            number, sql, values, timeout = call
            sent, state, message = False, None, ""
            try:
                if connection is None:
                    connection, _ = connect(
                        psycopg,
                        self._fleet._dsn,
                        connect_timeout=_CONNECT,
                        # What is not acknowledged for so long is given up, so that this thread comes back.
                        tcp_user_timeout=max(1_000, int(timeout * 2_000)),
                    )
                sent = True
                with psycopg.RawCursor(connection) as cursor:
                    cursor.execute(sql, values)
                    rows = cursor.fetchall()
                self.busy = False
                self._tell(number, rows)
                continue
            except psycopg.Error as error:
                state, message = error.sqlstate if sent else None, str(error)
            except Unsupported as error:
                message = error.detail
            if connection is not None and (connection.closed or state is None):
                connection.close()
                connection = None
            self.busy = False
            library.selene_node_failed(
                self._engine.handle,
                number,
                int(sent),
                state.encode() if state else None,
                " ".join(message.replace("\0", " ").split()).encode(errors="replace")[:1_000],
            )
        if connection is not None:
            connection.close()

    def _tell(self, number: int, rows: Sequence[Sequence[Any]]) -> None:
        columns = len(rows[0]) if rows else 0
        cells, kept = _cells(list(itertools.chain.from_iterable(rows)))
        library.selene_node_rows(self._engine.handle, number, cells, len(rows), columns)
        del kept


class _Listener:
    """Hears notifications on a connection of its own, and asks the worker to look (N28)."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._closed = threading.Event()
        #: Whether it hears them now.
        self.listens = False
        threading.Thread(target=self._work, name="pyselene fleet listener", daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def _work(self) -> None:
        fleet, is_told = self._worker._fleet, False
        psycopg = fleet._psycopg
        while not self._closed.is_set():
            again = 5
            try:
                connection, is_pooled = connect(
                    psycopg,
                    fleet._listen_dsn,
                    connect_timeout=_CONNECT,
                    # Nothing is sent on it, so the system finds out that the other end is gone.
                    keepalives_idle=30,
                    keepalives_interval=10,
                    keepalives_count=3,
                )
                with connection:
                    connection.execute(f"listen {fleet._in}".encode())
                    if is_pooled and not self._hears(connection):
                        again = _POOLED_AGAIN
                        if not is_told:
                            log.warning(
                                "the worker of fleet %r cannot listen through a pooler that hands connections on after "
                                "each transaction: it looks every poll, unless listen_dsn of the fleet leads past it",
                                fleet.schema,
                            )
                        is_told = True
                    else:
                        self._hear(connection)
            except (psycopg.Error, SeleneError):
                pass  # polling goes on
            self.listens = False
            self._closed.wait(again)

    def _hear(self, connection: Connection[Any]) -> None:
        self.listens = True
        # What was notified before it listened.
        self._worker.hint()
        while not self._closed.is_set():
            for _ in connection.notifies(timeout=1, stop_after=1):
                self._worker.hint()

    def _hears(self, connection: Connection[Any]) -> bool:
        """Whether what another connection notifies arrives here, where a pooler is between."""
        fleet = self._worker._fleet
        other, _ = connect(fleet._psycopg, fleet._dsn, connect_timeout=_CONNECT)
        with other:
            other.execute("select pg_notify(%s, '')", (fleet.schema,))
            return any(True for _ in connection.notifies(timeout=_HEARD, stop_after=1))


# ---- values ---------------------------------------------------------------------


def _options(
    schema: str, name: str, queues: Iterable[str] | None, labels: Iterable[str]
) -> tuple[_raw.selene_node_options, list[Any]]:
    raw = _raw.selene_node_options()
    library.selene_node_options_init(ctypes.byref(raw), ctypes.sizeof(raw))
    kept: list[Any] = []

    def text(value: str, what: str) -> tuple[bytes, int]:
        data = encode(value, what)
        kept.append(data)
        return data, len(data)

    def texts(values: Iterable[str], what: str) -> tuple[Any, int]:
        if isinstance(values, str):
            raise TypeError(f"{what} must hold str, not be one")
        found = [text(value, what) for value in values]
        array = (_raw.selene_text * len(found))(*(_raw.selene_text(*one) for one in found))
        kept.append(array)
        return ctypes.cast(array, ctypes.POINTER(_raw.selene_text)), len(found)

    raw.schema, raw.name = text(schema, "schema"), text(name, "name")
    raw.queues, raw.queue_count = texts(queues or (), "queues")
    raw.labels, raw.label_count = texts(labels, "labels")
    return raw, kept


def _given(address: int, count: int) -> list[Any]:
    """The values of a statement as psycopg takes them."""
    values: list[Any] = []
    for kind, _, integer, data, length in _VALUE.iter_unpack(ctypes.string_at(address, _VALUE.size * count)):
        if kind == _raw.SELENE_VALUE_INTEGER:
            values.append(integer)
        elif kind == _raw.SELENE_VALUE_NULL:
            values.append(None)
        elif kind == _raw.SELENE_VALUE_TEXT:
            values.append(ctypes.string_at(data, length).decode())
        elif kind == _raw.SELENE_VALUE_BYTES:
            values.append(ctypes.string_at(data, length) if length else b"")
        elif kind == _raw.SELENE_VALUE_BOOLEAN:
            values.append(bool(integer))
        else:
            values.append(_given(data, length) if length else [])
    return values


def _cells(values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Values of a row as the library takes them, and what they point to."""
    kept: list[Any] = []
    parts: list[int] = []
    for value in values:
        if value is None:
            parts += (_raw.SELENE_VALUE_NULL, 0, 0, 0, 0)
        elif value is True or value is False:
            parts += (_raw.SELENE_VALUE_BOOLEAN, 0, int(value), 0, 0)
        elif isinstance(value, int):
            parts += (_raw.SELENE_VALUE_INTEGER, 0, value, 0, 0)
        elif isinstance(value, list):
            inner, more = _cells(value)
            kept += (inner, more)
            parts += (_raw.SELENE_VALUE_ARRAY, 0, 0, ctypes.addressof(inner), len(value))
        else:
            kind = _raw.SELENE_VALUE_TEXT if isinstance(value, str) else _raw.SELENE_VALUE_BYTES
            data = value.encode() if isinstance(value, str) else bytes(value)
            buffer = ctypes.c_char_p(data)
            kept.append(buffer)
            parts += (kind, 0, 0, ctypes.cast(buffer, ctypes.c_void_p).value or 0, len(data))
    form = _VALUE.format.lstrip("@")
    packed = struct.pack("@" + form * len(values), *parts)
    array = (_raw.selene_value * max(len(values), 1)).from_buffer_copy(packed or bytes(_VALUE.size))
    return array, kept
