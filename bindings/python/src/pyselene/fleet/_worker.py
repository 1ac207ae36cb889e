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
from .._names import Named, above_zero, said
from .._time import SECOND, Duration, duration_ns, instant
from ._connect import connect, is_closed

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

    from psycopg import Connection

    from .._engine import Engine
    from .._scheduler import Scheduler

_VALUE = layout(_raw.selene_value)
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
        relaxed: bool = False,
    ) -> None:
        self._fleet, self._engine, self._listens = fleet, scheduler._engine, listen
        if queues is not None and not isinstance(queues, str) and not (queues := tuple(queues)):
            raise ValueError("queues is empty; None stands for every queue")
        self._raw, self._kept = _options(fleet.schema, name or f"{socket.gethostname()}:{os.getpid()}", queues, labels)
        self._raw.lease = above_zero(duration_ns(lease, "lease"), "lease", "100 ms … 1 h")
        self._raw.horizon = said(duration_ns(horizon, "horizon"))
        self._raw.poll = above_zero(duration_ns(poll, "poll"), "poll", "10 ms … 1 h")
        self._raw.flags = _raw.SELENE_NODE_OPTION_RELAXED if relaxed else 0
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
        # In statements with parameters.
        engine.fleet_schema = self._fleet._in.replace("%", "%%")
        self._thread = threading.Thread(target=self._work, name="pyselene fleet", daemon=True)
        self._thread.start()
        engine.leave_fleet = self._leave
        if self._listens:
            self._listener = _Listener(self)
        return self

    def close(self, grace: Duration | None = None) -> None:
        """Takes nothing more, gives back what was not begun, waits until its runs have ended, and tells the database.

        After `grace` (30 s) it waits no longer; what it still has then others take when the lease is over. An exception
        that comes meanwhile, as KeyboardInterrupt, ends the wait, and stops the runs. A close of its scheduler does the
        same before, with the grace of that and one second for the database.

        Raises:
            InvalidArgument: the grace is out of range; the worker is open as before.
        """
        if self._thread is None:
            return
        engine = self._engine
        span = self._grace if grace is None else duration_ns(grace, "grace")
        is_here = not engine.closed and engine.pid == os.getpid()
        with contextlib.suppress(Closed, Unsupported):  # closed meanwhile
            if is_here:
                engine.check(library.selene_node_leave(engine.handle, span))
        engine.leave_fleet = None
        thread, self._thread = self._thread, None
        if self._listener is not None:
            self._listener.close()
        if thread is None or engine.pid != os.getpid():
            return
        try:
            # One whose scheduler is closed ends by itself.
            thread.join()
        finally:
            with contextlib.suppress(SeleneError):
                engine.check(library.selene_node_close(engine.handle))

    def _leave(self, grace: int) -> None:
        """The same for a close of the scheduler, which waits its grace, and a second for the database to be told."""
        thread = self._thread
        if thread is not None and library.selene_node_leave(self._engine.handle, grace) == _raw.SELENE_OK:
            thread.join(grace / SECOND + 1)

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
                if request.number and (link is None or not link.ask(request)):
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
            # Nobody would notice that its lease is over: its runs are stopped.
            library.selene_node_close(self._engine.handle)
        finally:
            if link is not None:
                link.give_up()


class _Over(Exception):
    """Nothing is left to work for."""


def _check(status: int) -> None:
    if status:
        raise _Over


_Call = tuple[int, bytes, list[Any], float]


class _Link:
    """One connection, in a thread of its own: the node is stepped on time however long the database takes."""

    def __init__(self, fleet: Home, engine: Engine) -> None:
        self._fleet, self._engine = fleet, engine
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        #: Guards what follows.
        self._lock = threading.Lock()
        self._busy = self._connects = self._given_up = False
        #: The connection's, by which another thread can end what waits for the database.
        self._socket: socket.socket | None = None
        threading.Thread(target=self._work, name="pyselene fleet link", daemon=True).start()

    def ask(self, request: _raw.selene_node_request) -> bool:
        """Makes a call of the node's, in place of one that still waits for the connection; not while one is made."""
        values = _given(ctypes.addressof(request.values.contents), request.value_count) if request.value_count else []
        with self._lock:
            if self._busy and not self._connects:
                return False
            self._busy = True
            self._calls.put((request.number, request.sql.data, values, request.timeout / SECOND))
        return True

    def give_up(self) -> None:
        """Lets go of the connection, and of what is made on it."""
        with self._lock:
            self._given_up = True
            self._calls.put(None)
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def _work(self) -> None:
        connection: Connection[Any] | None = None
        while (call := self._calls.get()) is not None:
            sent, state, message = False, None, ""
            try:
                if connection is None or is_closed(connection):
                    self._close(connection)
                    connection = None
                    with self._lock:
                        self._connects = True
                    connection = self._connect(call[3])
                if (last := self._last(call)) is None:
                    break
                call = last
                sent = True
                with self._fleet._psycopg.RawCursor(connection) as cursor:
                    cursor.execute(call[1], call[2])
                    rows = cursor.fetchall()
                self._is_free()
                self._tell(call[0], rows)
                continue
            except Exception as error:
                state, message = getattr(error, "sqlstate", None) if sent else None, str(error)
            # A server that may only be read was the right one once, or will be: the next connection finds which is.
            if connection is not None and (connection.closed or state in (None, "25006")):
                self._close(connection)
                connection = None
            if (last := self._last(call)) is None:
                break
            self._is_free()
            library.selene_node_failed(
                self._engine.handle,
                last[0],
                int(sent),
                state.encode() if state else None,
                " ".join(message.replace("\0", " ").split()).encode(errors="replace")[:1_000],
            )
        self._close(connection)

    def _last(self, call: _Call) -> _Call | None:
        """The call to make now: the one that came last while it connected; None: it was given up."""
        with self._lock:
            self._connects = False
            while not self._calls.empty():
                if (newer := self._calls.get()) is None:
                    return None
                call = newer
        return call

    def _is_free(self) -> None:
        with self._lock:
            self._busy = False

    def _connect(self, timeout: float) -> Connection[Any]:
        # What is not acknowledged for so long is given up, so that this thread comes back.
        connection, _ = connect(
            self._fleet._psycopg, self._fleet._dsn, tcp_user_timeout=max(1_000, int(timeout * 2_000))
        )
        with self._lock:
            self._socket = socket.socket(fileno=os.dup(connection.fileno()))
        return connection

    def _close(self, connection: Connection[Any] | None) -> None:
        with self._lock:
            own, self._socket = self._socket, None
        if own is not None:
            own.close()
        if connection is not None:
            connection.close()

    def _tell(self, number: int, rows: Sequence[Sequence[Any]]) -> None:
        columns = len(rows[0]) if rows else 0
        cells, kept = _cells(list(itertools.chain.from_iterable(rows)))
        if library.selene_node_rows(self._engine.handle, number, cells, len(rows), columns):
            library.selene_node_failed(self._engine.handle, number, 1, None, b"the answer cannot be read")
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
        while self._goes_on():
            again = 5
            try:
                connection, is_pooled = connect(fleet._psycopg, fleet._listen_dsn)
                with connection:
                    tell = self._listen(connection)
                    if is_pooled and not self._hears(connection, tell):
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
            except Exception:
                pass  # polling goes on
            self.listens = False
            self._closed.wait(again)

    def _goes_on(self) -> bool:
        """A scheduler that is closed ends the worker, too."""
        thread = self._worker._thread
        return not self._closed.is_set() and thread is not None and thread.is_alive()

    def _hear(self, connection: Connection[Any]) -> None:
        self.listens = True
        # What was notified before it listened.
        self._worker.hint()
        while self._goes_on():
            for _ in connection.notifies(timeout=1, stop_after=1):
                self._worker.hint()

    def _listen(self, connection: Connection[Any]) -> bytes:
        """Starts to listen; returns the statement that notifies listeners."""
        fleet = self._worker._fleet
        try:
            connection.execute(f"select {fleet._in}.listen()".encode())
        except fleet._psycopg.errors.UndefinedFunction:
            # The channel of an older fleet is the name of its schema.
            connection.execute(f"listen {fleet._in}".encode())
            return f"notify {fleet._in}".encode()
        return f"select {fleet._in}.tell()".encode()

    def _hears(self, connection: Connection[Any], tell: bytes) -> bool:
        """Whether what another connection notifies arrives here, where a pooler is between."""
        fleet = self._worker._fleet
        other, _ = connect(fleet._psycopg, fleet._dsn)
        with other:
            other.execute(tell)
            return any(True for _ in connection.notifies(timeout=_HEARD, stop_after=1))


# ---- values ---------------------------------------------------------------------


def _options(
    schema: str, name: str, queues: Iterable[str] | None, labels: Iterable[str]
) -> tuple[_raw.selene_node_options, list[Any]]:
    raw = _raw.selene_node_options()
    raw.struct_size = ctypes.sizeof(raw)
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
            values.append(ctypes.string_at(data, length).decode(errors="replace"))
        elif kind == _raw.SELENE_VALUE_BYTES:
            values.append(ctypes.string_at(data, length) if length else b"")
        elif kind == _raw.SELENE_VALUE_BOOLEAN:
            values.append(bool(integer))
        else:
            array = _given(data, length) if length else []
            values.append(_array_of_bytes(array) if any(isinstance(one, bytes) for one in array) else array)
    return values


def _array_of_bytes(values: Sequence[bytes | None]) -> str:
    """As PostgreSQL reads it: what psycopg makes of it differs with the settings of a role."""
    return "{" + ",".join("NULL" if one is None else f'"\\\\x{one.hex()}"' for one in values) + "}"


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
