"""Connections to the database of a fleet, and what stands between."""

from __future__ import annotations

import random
import select
from typing import TYPE_CHECKING, Any

from .. import _raw
from .._errors import Unsupported
from .._fault import Fault

if TYPE_CHECKING:
    from psycopg import AsyncConnection, Connection
    from psycopg.errors import Diagnostic


#: Defaults of connections. Connecting may take longer than a statement; keepalives and tcp_user_timeout let the system
#: notice that the other end is gone.
_TERMS = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}


#: How often a call is made that the database ends for the sake of another.
TRIES = 10


def conflicts(psycopg: Any) -> tuple[type[Exception], ...]:
    """What the database ends a call with for the sake of another: nothing was changed, and it may be made again."""
    return psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected


def pause(tries: int) -> float:
    """The seconds to wait after so many tries, up to half a second: at random, so that two do not meet again."""
    return random.uniform(0, 0.001 * 2**tries)


def unsaid(psycopg: Any, dsn: str, terms: dict[str, Any]) -> dict[str, Any]:
    """What of these terms a dsn does not say otherwise."""
    said = psycopg.conninfo.conninfo_to_dict(dsn)
    return {key: value for key, value in terms.items() if key not in said}


def connect(psycopg: Any, dsn: str, **terms: Any) -> tuple[Connection[Any], bool]:
    """A connection each of whose statements is a commit, whatever the dsn says of texts, and whether a pooler made it.

    What is no session's is enough for a fleet, so a pooler may hand the connection on after each transaction.

    Raises:
        Unsupported: it hands it on after each statement.
    """
    connection: Connection[Any] = psycopg.connect(dsn, **_terms(psycopg, dsn, terms))
    try:
        # A pooler makes up the number of the process that it tells its clients.
        ((process, _),) = connection.execute(_PROCESS).fetchall()
        is_pooled = process != connection.info.backend_pid
        if is_pooled:
            connection.execute("begin")
            connection.execute("commit")
    except psycopg.Error as error:
        connection.close()
        _refuse_pooler(error)
        raise
    return connection, is_pooled


def is_closed(connection: Connection[Any] | AsyncConnection[Any]) -> bool:
    """Whether the database has closed an idle connection (N59)."""
    polled = select.poll()
    says_end = False

    def hear(notice: Diagnostic) -> None:
        nonlocal says_end
        says_end = says_end or notice.severity_nonlocalized in ("FATAL", "PANIC")

    connection.add_notice_handler(hear)
    try:
        polled.register(connection.fileno(), select.POLLIN)
        while polled.poll(0):
            connection.pgconn.consume_input()
            # Parses the input: the server may announce that it closes the connection.
            connection.pgconn.is_busy()
    except Exception:
        return True
    finally:
        connection.remove_notice_handler(hear)
    return says_end or connection.closed


async def connect_async(psycopg: Any, dsn: str) -> AsyncConnection[Any]:
    """The same for the running event loop."""
    connection: AsyncConnection[Any] = await psycopg.AsyncConnection.connect(dsn, **_terms(psycopg, dsn, {}))
    try:
        ((process, _),) = await (await connection.execute(_PROCESS)).fetchall()
        if process != connection.info.backend_pid:
            await connection.execute("begin")
            await connection.execute("commit")
    except BaseException as error:
        await connection.close()
        if isinstance(error, psycopg.Error):
            _refuse_pooler(error)
        raise
    return connection


#: Also turns array_nulls on: the library sends arrays with nulls.
_PROCESS = "select pg_backend_pid(), set_config('array_nulls', 'on', false)"


def _terms(psycopg: Any, dsn: str, terms: dict[str, Any]) -> dict[str, Any]:
    own = unsaid(psycopg, dsn, {**_TERMS, **terms})
    return {**own, "autocommit": True, "prepare_threshold": None, "client_encoding": "utf8"}


def _refuse_pooler(error: Exception) -> None:
    if "statement pooling" not in str(error):
        return
    raise Unsupported(
        _raw.SELENE_ERROR_UNSUPPORTED,
        "UNSUPPORTED",
        "dsn: the pooler hands connections on after each statement, and a fleet needs transactions: "
        f"its pool_mode may be transaction or session ({' '.join(str(error).split())})",
        Fault(field="dsn"),
    ) from error
