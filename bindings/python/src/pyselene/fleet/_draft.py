"""A task of a fleet to be, as it is handed to `enqueue`, and as the database takes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import index
from typing import Any, TypedDict

from .._conditions import Constraint, Requires
from .._keywords import refuse_unknown
from .._names import Named, texts
from .._run import Kind, KindName, Priority, PriorityName
from .._terms import Backoff, BackoffName, Existing, ExistingName, Schedule, ScheduleName, bytes_of
from .._time import Duration, duration_ns

#: The first pause after a failure where none is said.
_BACKOFF_DELAY = 30


class FleetFields(TypedDict, total=False):
    """The keywords of a task of a fleet; FleetDraft tells what each means."""

    handler: str | None
    input: bytes
    kind: Kind | KindName
    schedule: Schedule | ScheduleName | None
    priority: Priority | PriorityName | int
    expected: Duration | None
    delay: Duration
    every: Duration | None
    flex: Duration
    anchored: bool
    backoff: Backoff | BackoffName | None
    backoff_delay: Duration
    max_attempts: int | None
    response_window: int
    tags: str | Iterable[str]
    labels: str | Iterable[str]
    requires: Requires
    existing: Existing | ExistingName | None


@dataclass(frozen=True, slots=True)
class FleetDraft:
    """A task of a fleet to be.

    - `id`: a task under it that has not ended is kept if it is a once task, else updated, unless `existing` says
      otherwise.
    - `handler`: the name by which a worker finds what to call; the id if absent.
    - `input`: what the handler gets, at most 10 240 bytes unless the queue has another limit.
    - `kind`: "refresh" (short) or "processing" (long).
    - `schedule`: "once", "periodic" or "standing"; once if absent, periodic with `every`.
    - `priority`: 1 … 5 or a name, such as "high".
    - `expected`: what a run takes; absent: what runs of its handler took.
    - `delay`: before it may run at all. `every`: the period; `flex`: the last part of a period in which it may run
      first; `anchored`: periods are counted from the first begin, not from the end of a run.
    - `backoff`: how the pause after a failure grows: "none", "linear" or "exponential", with the first such in
      `backoff_delay`; or NoBackoff(), Linear(60), Exponential(30), which have it themselves.
    - `max_attempts`: after so many it has failed; None: any number.
    - `response_window`: of how many runs the estimate is the mean.
    - `tags`: to cancel and to list by, at most 16; of these, as of all that may be several, a single str is one.
    - `labels`: what a worker must carry, as "gpu"; at most 16. `requires`: constraints of its machine, such as
      {"network", "power"}.
    - `existing`: "keep", "replace", "update", "append", "append_or_replace".
    """

    id: str
    handler: str | None = field(default=None, kw_only=True)
    input: bytes = field(default=b"", kw_only=True)
    kind: Kind | KindName = field(default="refresh", kw_only=True)
    schedule: Schedule | ScheduleName | None = field(default=None, kw_only=True)
    priority: Priority | PriorityName | int = field(default=Priority.NORMAL, kw_only=True)
    expected: Duration | None = field(default=None, kw_only=True)
    delay: Duration = field(default=0, kw_only=True)
    every: Duration | None = field(default=None, kw_only=True)
    flex: Duration = field(default=0, kw_only=True)
    anchored: bool = field(default=False, kw_only=True)
    backoff: Backoff | BackoffName | None = field(default=None, kw_only=True)
    backoff_delay: Duration = field(default=_BACKOFF_DELAY, kw_only=True)
    max_attempts: int | None = field(default=None, kw_only=True)
    response_window: int = field(default=3, kw_only=True)
    tags: str | Iterable[str] = field(default=(), kw_only=True)
    labels: str | Iterable[str] = field(default=(), kw_only=True)
    requires: Requires = field(default=(), kw_only=True)
    existing: Existing | ExistingName | None = field(default=None, kw_only=True)


def draft_of(id: str, fields: FleetFields) -> FleetDraft:
    """What `enqueue` was handed.

    Raises:
        TypeError: there is no such keyword.
    """
    try:
        return FleetDraft(id, **fields)
    except TypeError:
        refuse_unknown("enqueue", fields, (*FleetFields.__annotations__, "id", "connection"))
        raise


#: How a value of each type is sent, and what it becomes there. Names are the text of an array, which can be in another.
_SENT = {
    "text": ("text", "{}::text"),
    "int": ("int", "{}::int"),
    "boolean": ("boolean", "{}::boolean"),
    "bytea": ("bytea", "{}::bytea"),
    "span": ("bigint", "{}::bigint * interval '1 microsecond'"),
    "names": ("text", "{}::text[]"),
}
_TYPES = {
    "id": "text", "handler": "text", "kind": "text", "schedule": "text", "priority": "int", "expected": "span",
    "delay": "span", "every": "span", "flex": "span", "anchored": "boolean", "backoff": "text", "backoff_delay": "span",
    "max_attempts": "int", "response_window": "int", "tags": "names", "labels": "names", "requires": "names",
    "existing": "text", "input": "bytea",
}  # fmt: skip


#: One task: its values are parameters.
ONE = (
    "register(queue => %(queue)s::text, "
    + ", ".join(f"{name} => {_SENT[kind][1].format(f'%({name})s')}" for name, kind in _TYPES.items())
    + ")"
)
#: Many: its values are columns, in the order in which they were given.
MANY = (
    "select * from {}.register_batch(%(queue)s::text, "
    + ", ".join(f"%({name})s::{_SENT[kind][0]}[]" for name, kind in _TYPES.items())
    + ")"
)


def values(draft: FleetDraft) -> dict[str, Any]:
    """What of a task goes to the database, by name.

    Raises:
        TypeError, ValueError: a field is not what it is to be at all; the rest the database refuses.
    """
    backoff, backoff_delay = _backoff(draft)
    return {
        "id": draft.id,
        "handler": draft.handler,
        "kind": str(draft.kind),
        "schedule": _word(draft.schedule),
        "priority": _priority(draft.priority),
        "expected": microseconds(draft.expected, "expected"),
        "delay": microseconds(draft.delay, "delay"),
        "every": microseconds(draft.every, "every"),
        "flex": microseconds(draft.flex, "flex"),
        "anchored": bool(draft.anchored),
        "backoff": backoff,
        "backoff_delay": backoff_delay,
        "max_attempts": index(draft.max_attempts or 0),
        "response_window": index(draft.response_window),
        "tags": _array(texts(draft.tags, "tags")),
        "labels": _array(texts(draft.labels, "labels")),
        "requires": _array(str(one) for one in Constraint.of(draft.requires)),
        "existing": _word(draft.existing),
        "input": bytes_of(draft.input, "input"),
    }


def columns(drafts: Iterable[FleetDraft]) -> dict[str, str]:
    """The same of many, in the column of each name: the text of an array, which psycopg sends faster than a list."""
    rows = [values(draft) for draft in drafts]
    return {name: _column([row[name] for row in rows], kind) for name, kind in _TYPES.items()}


def _column(given: list[Any], kind: str) -> str:
    # Most of a column is the same, or all of it.
    texts = {value: _element(value, kind) for value in set(given)}
    return "{" + ",".join([texts[value] for value in given]) + "}"


def _element(value: Any, kind: str) -> str:
    if value is None:
        return "NULL"
    if kind == "bytea":
        return _quoted(f"\\x{value.hex()}")
    return _quoted(value) if isinstance(value, str) else str(value)


def microseconds(value: Duration | None, what: str) -> int | None:
    """Whole ones, rounded up."""
    return None if value is None else -(-duration_ns(value, what) // 1000)


def _priority(value: Priority | PriorityName | int) -> int:
    """Its number, whose range the database judges, so that one of many is refused by itself."""
    return int(Priority.of(value, "priority")) if isinstance(value, str) else index(value)


def _backoff(draft: FleetDraft) -> tuple[str | None, int | None]:
    """Its word, and its first pause."""
    if draft.backoff is None or isinstance(draft.backoff, str):
        return draft.backoff, microseconds(draft.backoff_delay, "backoff_delay")
    Backoff.check(draft.backoff, "backoff")
    if draft.backoff_delay != _BACKOFF_DELAY:
        raise ValueError("backoff_delay is given, but backoff has a delay, too; allowed: one of them")
    return draft.backoff.word, microseconds(draft.backoff.delay, "backoff.delay")


def _word(value: str | Named | None) -> str | None:
    return None if value is None else str(value)


def _array(given: Iterable[str]) -> str:
    r"""The text of an array.

    >>> print(_array(["a", 'b "c"']))
    {"a","b \"c\""}
    """
    return "{" + ",".join(map(_quoted, given)) + "}"


def _quoted(text: str) -> str:
    """An element of an array."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
