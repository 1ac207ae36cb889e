"""The connection to a fleet's database behind a page: one, made when it is needed, that nobody waits for for long."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg.rows import tuple_row

from ...fleet import Fleet
from ...fleet._calls import Call
from ...fleet._connect import unsaid
from ...fleet._words import Cause, told
from .board import Unanswered

_CONNECT: Final = 5
"""Seconds in which a connection is there."""

_STATEMENT: Final = 5_000
"""Milliseconds after which the database gives a statement up."""

_PATIENCE: Final = 10.0
"""Seconds after which a database that says nothing at all is let go, with its connection."""

_TERMS: Final = {
    "connect_timeout": _CONNECT,
    "tcp_user_timeout": int(_PATIENCE * 1000),
    "application_name": "pyselene fleet serve",
}
"""What does not let a connection hang."""

_STATUS: Final = {Cause.RIGHTS: 403}
"""Of HTTP, by what a database's refusal is about; else 503: it may be asked again."""

Row = tuple[Any, ...]


class FleetLink:
    """Asks a fleet's database; any thread may, one after another.

    Each use is a transaction with a time limit of its own, so that a pooler in transaction mode may stand between. A
    connection that was lost while nobody used it is made again without a word.
    """

    def __init__(self, dsn: str, schema: str) -> None:
        self.schema = schema
        self.fleet = Fleet(dsn, schema=schema)
        self._dsn = dsn
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None

    def close(self) -> None:
        """Lets go of the connection."""
        with self._lock:
            self._drop()

    @contextmanager
    def looking(self) -> Iterator[Session]:
        """For statements that change nothing; the database refuses others.

        Raises:
            Unanswered: the database is away, or refuses, in words.
        """
        with self._session(is_change=False) as session:
            yield session

    @contextmanager
    def changing(self) -> Iterator[Session]:
        """For one change, with what is asked about it.

        Raises:
            Unanswered: the database is away, or refuses, in words; of a change that may have happened it says so.
        """
        with self._session(is_change=True) as session:
            yield session

    @contextmanager
    def _session(self, is_change: bool) -> Iterator[Session]:
        with self._lock:
            # What was said before the connection broke is not known.
            was_sent = False
            try:
                connection = self._begun(is_change)
                with _watched(connection):
                    was_sent = is_change
                    yield Session(self.fleet, connection)
                    connection.commit()
            except psycopg.Error as error:
                user = self._user()
                is_lost = self._connection is None or self._connection.closed
                self._drop()
                raise self._unanswered(error, user, was_sent and is_lost) from None
            except BaseException:
                # Refused by the fleet: the transaction is over.
                with suppress(psycopg.Error):
                    if self._connection is not None:
                        self._connection.rollback()
                raise

    def _begun(self, is_change: bool) -> psycopg.Connection[Any]:
        """A transaction that has begun, on the connection of before if that still works."""
        first = (
            f"select set_config('statement_timeout', '{_STATEMENT}', true),"
            f" set_config('transaction_read_only', '{'off' if is_change else 'on'}', true)"
        ).encode()
        if self._connection is not None:
            try:
                with _watched(self._connection):
                    self._connection.execute(first)
                return self._connection
            except psycopg.Error:
                self._drop()
        terms = unsaid(psycopg, self._dsn, _TERMS)
        self._connection = psycopg.connect(self._dsn, prepare_threshold=None, row_factory=tuple_row, **terms)
        self._connection.execute(first)
        return self._connection

    def _user(self) -> str | None:
        with suppress(psycopg.Error):
            if self._connection is not None:
                return self._connection.info.user
        return None

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    def _unanswered(self, error: psycopg.Error, user: str | None, may_have_happened: bool) -> Unanswered:
        if isinstance(error, psycopg.DataError):
            return Unanswered(str(error), 400)
        found = told(error, self._dsn, self.schema, user)
        words = found.words
        if may_have_happened:
            words += "; whether it was done is not known, so look before it is tried again"
        return Unanswered(words, _STATUS.get(found.cause, 503))


class Session:
    """A transaction of a link's."""

    def __init__(self, fleet: Fleet, connection: psycopg.Connection[Any]) -> None:
        #: The fleet, whose methods take `connection`.
        self.fleet = fleet
        self.connection = connection
        self._in = fleet._in

    def rows(self, call: str, *values: Any) -> Sequence[Row]:
        """What a query gives; `{}` in it is the schema."""
        return self.fleet._make(Call(call.replace("{}", self._in), values, list), self.connection)


@contextmanager
def _watched(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """While the database is waited for, which is not for ever."""
    watch = threading.Timer(_PATIENCE, _cut, (connection,))
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def _cut(connection: psycopg.Connection[Any]) -> None:
    """Wakes who waits for an answer: the connection is over."""
    with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(connection.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)
