"""Connections to the database of a fleet, and what stands between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _raw
from .._errors import Unsupported
from .._fault import Fault

if TYPE_CHECKING:
    from psycopg import Connection


def connect(psycopg: Any, dsn: str, **more: Any) -> tuple[Connection[Any], bool]:
    """A connection each of whose statements is a commit, and whether a pooler made it.

    What is no session's is enough for a fleet, so a pooler may hand the connection on after each transaction.

    Raises:
        Unsupported: it hands it on after each statement.
    """
    connection: Connection[Any] = psycopg.connect(dsn, autocommit=True, prepare_threshold=None, **more)
    try:
        # A pooler makes up the number of the process that it tells its clients.
        ((process,),) = connection.execute("select pg_backend_pid()").fetchall()
        is_pooled = process != connection.info.backend_pid
        if is_pooled:
            connection.execute("begin")
            connection.execute("commit")
    except psycopg.Error as error:
        connection.close()
        if "statement pooling" not in str(error):
            raise
        raise Unsupported(
            _raw.SELENE_ERROR_UNSUPPORTED,
            "UNSUPPORTED",
            "dsn: the pooler hands connections on after each statement, and a fleet needs transactions: "
            f"its pool_mode may be transaction or session ({' '.join(str(error).split())})",
            Fault(field="dsn"),
        ) from error
    return connection, is_pooled
