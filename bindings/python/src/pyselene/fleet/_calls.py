"""The statements of a fleet: each is made here once, and made by either face of a Fleet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import EllipsisType
from typing import Any, Generic, NoReturn, TypeVar

from .. import _raw
from .._errors import SeleneError, error_class
from .._fault import Fault
from .._library import status_name
from .._terms import Disposition, State
from .._time import Duration
from ._draft import MANY, ONE, FleetDraft, columns, microseconds, values
from ._record import FleetItem, FleetNode, FleetQueue, FleetReason, FleetTask

T = TypeVar("T")
Rows = Sequence[tuple[Any, ...]]

_QUEUE, _NODE = (", ".join(kind.__dataclass_fields__) for kind in (FleetQueue, FleetNode))
_COLUMNS = ", ".join(name for name in FleetTask.__dataclass_fields__ if name not in ("ended", "appended"))


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A statement, its parameters, and what its rows mean."""

    sql: str
    values: Any
    read: Callable[[Rows], T]


class Calls:
    """The calls of the functions of a schema; `schema` is its name as SQL has it in a statement with parameters."""

    def __init__(self, schema: str, queue: str) -> None:
        self.schema, self._queue = schema, queue

    def _call(self, function: str, parameters: Any, read: Callable[[Rows], T], what: str = "") -> Call[T]:
        """Of a function that answers one value, or with `what` rows of these columns."""
        start = f"select {what} from" if what else "select"
        return Call(f"{start} {self.schema}.{function}", parameters, read)

    # ---- tasks ----------------------------------------------------------------

    def register(self, draft: FleetDraft) -> Call[Disposition]:
        return self._call(ONE, {"queue": self._queue, **values(draft)}, _disposition)

    def register_batch(self, drafts: Iterable[FleetDraft]) -> Call[tuple[Disposition | SeleneError, ...]]:
        given = {"queue": self._queue, **columns(drafts)}
        return Call(MANY.format(self.schema), given, lambda rows: tuple(_judged(*row) for row in rows))

    def cancel(self, id: str | None, tag: str | None) -> Call[int]:
        if (id is None) == (tag is None):
            raise TypeError("cancel takes an id or a tag")
        function, value = ("cancel", id) if tag is None else ("cancel_tag", tag)
        return self._call(f"{function}(%s)", (value,), _count)

    def cancel_queue(self) -> Call[int]:
        return self._call("cancel_all(%s)", (self._queue,), _count)

    def retry(self, id: str) -> Call[Disposition]:
        return self._call("retry(%s)", (id,), _disposition)

    def run_now(self, id: str) -> Call[str]:
        return self._call("run_now(%s)", (id,), lambda rows: str(rows[0][0]))

    def get(self, id: str) -> Call[FleetTask]:
        def read(rows: Rows) -> FleetTask:
            if not rows:
                refuse(_raw.SELENE_ERROR_NOT_FOUND, "id", f"id: {id!r} is not registered")
            return _task(rows[0])

        return self._call("get(%s)", (id,), read, f"{_COLUMNS}, ended, appended")

    def page(self, state: str | None, tag: str | None, every_queue: bool, after: int) -> Call[list[FleetTask]]:
        """Those behind a number; an empty one is the last."""
        if state is not None:
            State.of(state, "state")
        return self._call(
            "list(%s, %s, %s, %s, 1000)",
            (None if every_queue else self._queue, state, tag, after),
            lambda rows: [_task(row) for row in rows],
            f"{_COLUMNS}, null, 0",
        )

    def explain(self, id: str) -> Call[tuple[FleetReason, ...]]:
        return self._call(
            "explain(%s)", (id,), lambda rows: tuple(FleetReason(*row) for row in rows), "reason, detail, until"
        )

    def result(self, id: str) -> Call[bytes | None]:
        return self._call("result(%s)", (id,), lambda rows: None if rows[0][0] is None else bytes(rows[0][0]))

    # ---- the queue ------------------------------------------------------------

    def pause(self, span: Duration | None) -> Call[None]:
        return self._call("pause(%s, %s)", (self._queue, _span(span, "span")), _nothing)

    def resume(self) -> Call[None]:
        return self._call("resume(%s)", (self._queue,), _nothing)

    def wake(self) -> Call[None]:
        return self._call("wake(%s)", (self._queue,), _nothing)

    def set_queue(
        self,
        *,
        pace: Duration | None,
        backoff_min: Duration | None,
        backoff_max: Duration | None,
        jitter: int | None,
        retention: Duration | None,
        max_input: int | None,
        limit_refresh: int | EllipsisType | None,
        limit_processing: int | EllipsisType | None,
        holds: bool | None,
        crash_pause: Duration | None,
    ) -> Call[None]:
        given = {
            "pace": _span(pace, "pace"),
            "backoff_min": _span(backoff_min, "backoff_min"),
            "backoff_max": _span(backoff_max, "backoff_max"),
            "jitter": jitter,
            "retention": _span(retention, "retention"),
            "max_input": max_input,
            "limit_refresh": _limit(limit_refresh, "limit_refresh"),
            "limit_processing": _limit(limit_processing, "limit_processing"),
            "holds": holds,
            "crash_pause": _span(crash_pause, "crash_pause"),
        }
        names = ", ".join(f"{name} => %({name})s" for name in given)
        return self._call(f"set_queue(%(queue)s, {names})", {"queue": self._queue, **given}, _nothing)

    # ---- the fleet ------------------------------------------------------------

    def status(self) -> Call[tuple[FleetItem, ...]]:
        return self._call("status()", (), lambda rows: tuple(FleetItem(*row) for row in rows), "item, value, alarm")

    def queues(self) -> Call[tuple[FleetQueue, ...]]:
        def read(rows: Rows) -> tuple[FleetQueue, ...]:
            return tuple(FleetQueue(**dict(zip(FleetQueue.__dataclass_fields__, row, strict=True))) for row in rows)

        return self._call("queues(most => 1000)", (), read, _QUEUE)

    def nodes(self) -> Call[tuple[FleetNode, ...]]:
        def read(rows: Rows) -> tuple[FleetNode, ...]:
            return tuple(FleetNode(**dict(zip(FleetNode.__dataclass_fields__, row, strict=True))) for row in rows)

        return self._call("workers(1000)", (), read, _NODE)

    def drain(self, node: str) -> Call[int]:
        return self._call("drain(%s)", (node,), _count)

    def partitions(self) -> Call[None]:
        return self._call("partitions()", (), _nothing)

    def prune(self, age: Duration | None) -> Call[int]:
        return self._call("prune(%s)", (_span(age, "age"),), _count)


def refuse(status: int, field: str | None, detail: str, cause: BaseException | None = None) -> NoReturn:
    """Raises the exception of a status."""
    raise refusal(status, field, detail) from cause


def refusal(status: int, field: str | None, detail: str) -> SeleneError:
    """The exception of a status."""
    return error_class(status)(status, status_name(status), detail, Fault(field=field))


def raise_refused(error: Any) -> None:
    """Raises what the fleet itself has refused (SQLSTATE SE and a status); not what is the database's."""
    state = error.sqlstate or ""
    if state[:2] == "SE" and state[2:].isdigit():
        refuse(int(state[2:]), error.diag.column_name, error.diag.message_primary or "", error)


def _nothing(_: Rows) -> None:
    return None


def _count(rows: Rows) -> int:
    return int(rows[0][0])


def _disposition(rows: Rows) -> Disposition:
    return Disposition.of(rows[0][0], "disposition")


def _judged(disposition: str | None, status: int, detail: str | None) -> Disposition | SeleneError:
    """Of one of many."""
    if disposition is not None:
        return Disposition.of(disposition, "disposition")
    text = detail or ""
    return refusal(status, text.partition(": ")[0] or None, text)


def _span(value: Duration | None, what: str) -> timedelta | None:
    count = microseconds(value, what)
    return None if count is None else timedelta(microseconds=count)


def _limit(value: int | EllipsisType | None, what: str) -> int | None:
    """As the database takes it: below 0 takes the limit away, None leaves it."""
    if value is None:
        return -1
    if isinstance(value, EllipsisType):
        return None
    if value < 0:
        refuse(_raw.SELENE_ERROR_INVALID_ARGUMENT, what, f"{what}: {value} is below 0; None takes the limit away")
    return value


def _task(row: tuple[Any, ...]) -> FleetTask:
    told = dict(zip([*_COLUMNS.split(", "), "ended", "appended"], row, strict=True))
    told["state"] = State.of(told["state"], "state")
    told["tags"] = told["tags"] or []
    return FleetTask(**told)
