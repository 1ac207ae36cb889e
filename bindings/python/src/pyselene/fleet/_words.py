"""What PostgreSQL refuses, in words that say what to do about it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from ._script import source

if TYPE_CHECKING:
    import psycopg


class Cause(StrEnum):
    """Why a database did not do what was asked."""

    #: What says how to reach it is wrong.
    WHERE = "where"
    #: It cannot be reached, or was lost, or does not let this user in.
    AWAY = "away"
    #: It takes too long, or is locked by others.
    BUSY = "busy"
    #: The schema has no fleet.
    ABSENT = "absent"
    #: The schema is of an earlier release.
    OLDER = "older"
    #: The role may not.
    RIGHTS = "rights"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence, and why."""

    words: str
    cause: Cause


@cache
def _rights() -> dict[str, list[str]]:
    """What a role of the fleet may call, that of the schema's name with this behind it: as the schema is installed."""
    found = re.search(r"callable constant jsonb := '(\{.*?\})'", source("rights.sql"), re.DOTALL)
    assert found is not None
    rights: dict[str, list[str]] = json.loads(found[1])
    # Least first: to look is enough for some of what workers call.
    return {right: rights[right] for right in ("look", *rights)}


def right_for(function: str) -> str:
    """The right with which a function may be called.

    >>> right_for("cancel")
    'enqueue'
    >>> right_for("turn")
    'work'
    """
    return next((right for right, names in _rights().items() if function in names), "look")


def told(error: psycopg.Error, dsn: str, schema: str, user: str | None = None, *, installs: bool = False) -> Told:
    """An error of psycopg as a sentence; `user` is who was connected, and whether a fleet was being installed."""
    text = _line(error)
    state = error.sqlstate or ""
    where = _where(dsn)
    role = user or where.get("user") or "this user"
    # Of a schema that is another's, too, it is said that nothing is there.
    if installs and state in ("42501", "3F000", "42883", "42P01"):
        return Told(_not_installed(text, where, schema, role), Cause.RIGHTS)
    if state in ("3F000", "42883", "42P01", "42703"):
        return _not_there(state, text, schema)
    if state == "42501":
        return Told(_not_allowed(text, schema, role), Cause.RIGHTS)
    if state == "57014":
        return Told("the database took too long; somebody else may hold a lock on it: try again", Cause.BUSY)
    if state == "55P03":
        return Told(f"somebody else holds a lock on the schema {schema}: try again in a moment ({text})", Cause.BUSY)
    if state == "25006":
        return Told("the database is a replica, which only the primary's changes reach: name the primary", Cause.OTHER)
    if not state and _is_conninfo(text):
        return Told(
            f'how to reach the database is not understood: {text}; allowed is such as "host=db dbname=app user=me"'
            " or postgresql://me@db/app",
            Cause.WHERE,
        )
    if state[:2] in ("08", "57", "53") or (_is_operational(error) and not state):
        return Told(_away(text, where, role), Cause.AWAY)
    return Told(text, Cause.OTHER)


def _line(error: BaseException) -> str:
    """Its first line, without what says the same in other words."""
    first = (str(error).splitlines() or [type(error).__name__])[0]
    return re.sub(r"^(connection failed: |connection is bad: )+", "", first)


def _where(dsn: str) -> dict[str, Any]:
    from psycopg import Error
    from psycopg.conninfo import conninfo_to_dict

    try:
        return conninfo_to_dict(dsn)
    except Error:
        return {}


def _is_operational(error: BaseException) -> bool:
    return any(kind.__name__ == "OperationalError" for kind in type(error).__mro__)


def _is_conninfo(text: str) -> bool:
    return any(word in text for word in ("connection info string", "connection option", "URI", "invalid conninfo"))


def _not_there(state: str, text: str, schema: str) -> Told:
    if state == "3F000":
        return Told(
            f'the database has no schema "{schema}": --schema says another, pyselene fleet install makes it',
            Cause.ABSENT,
        )
    # What a fleet has had from its beginning is not there at all.
    if re.search(r"\b(status|get|list|register|result|cancel|pause|resume|explain|prune|partitions)\(", text):
        return Told(
            f'the schema "{schema}" has no fleet, or one of another release ({text}): pyselene fleet install makes it',
            Cause.ABSENT,
        )
    return Told(
        f'the fleet in the schema "{schema}" is of an earlier release ({text}): pyselene fleet install brings it to'
        " this one; what is there stays",
        Cause.OLDER,
    )


def _not_allowed(text: str, schema: str, role: str) -> str:
    if found := re.search(r"for function (?:\"?[\w ]+\"?\.)?(\w+)", text):
        right = f"{schema}_{right_for(found[1])}"
        return f'the role "{role}" may not call {found[1]}: grant "{right}" to "{role}"'
    if "for schema" in text:
        return (
            f'the role "{role}" may do nothing in the schema "{schema}": grant it one of "{schema}_look",'
            f' "{schema}_enqueue", "{schema}_work", "{schema}_manage"'
        )
    return text


def _not_installed(text: str, where: dict[str, Any], schema: str, role: str) -> str:
    if "for database" in text:
        database = where.get("dbname", role)
        return (
            f'the role "{role}" may not make a schema: grant create on database "{database}" to "{role}", or let'
            " somebody install it who may"
        )
    return (
        f'the schema "{schema}" is another role\'s ({text}): its owner, or a superuser, brings it to this release,'
        " a superuser only if everything there is a superuser's"
    )


def _away(text: str, where: dict[str, Any], role: str) -> str:
    database = where.get("dbname") or where.get("user") or "of this user's name"
    if re.search(r'database ".*" does not exist', text):
        return f"{_short(text)}: say which with dbname=, or make it: createdb {database}"
    if re.search(r'role ".*" does not exist', text):
        return f"{_short(text)}: say which with user=, or make it: createuser {role}"
    if re.search(r"authentication failed|no password supplied|pg_hba|no encryption", text):
        return f"{_short(text)}: say user= and password=, or have the password in ~/.pgpass"
    if re.search(r"not permitted to log in", text):
        return f"{_short(text)}: say user= of a role that may, which is granted what is needed"
    if re.search(
        r"[Cc]onnection refused|No such file|translate host name|resolve host|timed? ?out|timeout|unreachable|No route",
        text,
    ):
        return f"no server of PostgreSQL answers: {text}; is it running, and are host= and port= right?"
    return f"the database cannot be reached: {text}"


def _short(text: str) -> str:
    """What the server said, without where it is."""
    return re.sub(r"^.*?FATAL:\s+", "", text)
