"""The page of a fleet: what runs on which node, what waits and why, queues, nodes, alarms, what has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from ... import __version__
from .board import Unanswered
from .fleet_link import FleetLink, Row, Session
from .fleet_metrics import FleetMetrics

_PAGE: Final = 50
"""Rows of a page."""

_ENDED: Final = 20
_QUEUES: Final = 100
_NODES: Final = 100

_LIVE: Final = ("running", "ready", "waiting", "held", "blocked", "suspect", "live")
_OVER: Final = ("succeeded", "failed", "cancelled")

_OVERVIEW: Final = {"running": 50, "suspect": 20, "ready": 25, "held": 10, "waiting": 25}
"""What is shown where nothing was chosen: so many of each state."""

_TASK: Final = (
    "place", "seq", "id", "queue", "kind", "handler", "labels", "schedule", "priority", "state", "attempts",
    "max_attempts", "every", "earliest_begin", "last_run", "estimate", "tags", "registered", "node", "run", "begun",
    "suspect", "failure", "reasons",
)  # fmt: skip
_ENDING: Final = (
    "place", "seq", "id", "queue", "kind", "handler", "schedule", "priority", "state", "attempts", "tags", "registered",
    "ended", "run", "stop", "failure", "can_retry",
)  # fmt: skip
_QUEUE: Final = (
    "queue", "paused", "paused_until", "ready", "oldest", "limit_refresh", "pending_refresh", "limit_processing",
    "pending_processing", "holds", "pace", "retention",
)  # fmt: skip
_NODE: Final = (
    "worker", "name", "version", "started", "beaten", "expires", "lease", "alive", "jumps", "runs", "handlers",
    "draining",
)  # fmt: skip

#: Which function a verb of the page calls.
_CALLS: Final = {"cancel": "cancel", "retry": "retry", "run": "run_now", "pause": "pause", "resume": "resume"}


class FleetBoard:
    """What a fleet has and does, by the rights of who it connects as."""

    name: Final = "fleet"

    def __init__(self, dsn: str, schema: str) -> None:
        self._link = FleetLink(dsn, schema)
        self._metrics = FleetMetrics(self._link)
        self.changes: Mapping[str, Callable[[str], str]] = {
            "cancel": self._cancel,
            "retry": self._retry,
            "run": self._run,
            "pause": self._pause,
            "resume": self._resume,
        }

    def state(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """Everything; a reader chooses `view`, `queue`, `find`, `after`, `ended` and `ended_after`."""
        choice = Choice(asked)
        with self._link.looking() as session:
            info = session.connection.info
            items = session.rows("select item, value, alarm from {}.status()")
            told = {item: value for item, value, _ in items}
            tasks, after = _tasks(session, choice)
            ended, ended_after = _ended(session, choice.ended, choice.queue, choice.ended_after, _ENDED)
            queues = _named(_QUEUE, session.rows(f"select {', '.join(_QUEUE)} from {{}}.queues(most => {_QUEUES + 1})"))
            nodes = _named(_NODE, session.rows(f"select {', '.join(_NODE)} from {{}}.workers({_NODES + 1})"))
            ((now,),) = session.rows("select {}.now_ns()")
            return {
                "fleet": self._link.schema,
                "database": info.dbname,
                "server": _server(info.host, info.port),
                "role": info.user,
                "postgresql": _release(info.server_version),
                "version": __version__,
                "now": now // 1_000_000,
                "may": _rights(session, self._link.schema),
                "counts": {name: told[name] for name in ("claimed", "ready", "waiting", "held", "suspects", "failed")},
                "alive": sum(node["alive"] for node in nodes),
                "items": _named(("item", "value", "alarm"), items),
                "tasks": tasks,
                "after": after,
                "ended": ended,
                "ended_after": ended_after,
                "queues": queues[:_QUEUES],
                "more_queues": len(queues) > _QUEUES,
                "nodes": nodes[:_NODES],
                "more_nodes": len(nodes) > _NODES,
            }

    def detail(self, id: str) -> dict[str, Any]:
        """One task's part: why it does not run, with its rank, what waits behind it, and how its id ended before."""
        with self._link.looking() as session:
            reasons = session.rows("select reason, detail, until from {}.explain(%s)", id)
            (record,) = session.rows(
                "select requires, last_run, generation, runs, appended, stop, max_attempts from {}.get(%s)"
                " left join lateral (select l.max_attempts from {}.live l where l.seq = get.seq) m on true",
                id,
            )
            before = session.rows(
                "select state, ended, attempts, stop, failure from {}.ended where id = %s order by ended desc limit 5",
                id,
            )
        requires, last_run, generation, runs, appended, stop, most = record
        return {
            "reasons": [
                {"reason": reason, "detail": detail, "until": _plain(until)} for reason, detail, until in reasons
            ],
            "requires": requires,
            "last_run": _plain(last_run),
            "generation": generation,
            "runs": runs,
            "appended": appended,
            "stop": stop,
            "max_attempts": most,
            "before": [
                {"state": state, "ended": _plain(ended), "attempts": attempts, "stop": why, "failure": failure}
                for state, ended, attempts, why, failure in before
            ],
        }

    def metrics(self) -> str:
        """What Prometheus is told."""
        return self._metrics.text()

    def close(self) -> None:
        """Lets go of the connection."""
        self._link.close()

    # ---- changes --------------------------------------------------------------

    def _cancel(self, id: str) -> str:
        with self._link.changing() as session:
            count = session.fleet.cancel(id, connection=session.connection)
        return f"cancelled {count} {'task' if count == 1 else 'tasks'}"

    def _retry(self, id: str) -> str:
        with self._link.changing() as session:
            disposition = session.fleet.retry(id, connection=session.connection)
        self._wake(id)
        return f"enqueued {id} again" + (
            "; it is held until its queue has a place" if str(disposition) == "held" else ""
        )

    def _run(self, id: str) -> str:
        with self._link.changing() as session:
            waits = session.fleet.run_now(id, connection=session.connection)
        self._wake(id)
        more = {
            "held": "; it is held until its queue has a place",
            "still_running": "; the run of the record before it has not come back",
        }
        return f"{id} is due now{more.get(waits, '')}"

    def _pause(self, queue: str) -> str:
        with self._link.changing() as session:
            _known(session, queue)
            session.rows("select {}.pause(%s)", queue)
        return f"paused queue {queue}; what runs goes on"

    def _resume(self, queue: str) -> str:
        with self._link.changing() as session:
            _known(session, queue)
            session.rows("select {}.resume(%s)", queue)
        return f"resumed queue {queue}"

    def _wake(self, id: str) -> None:
        """Nodes that listen look at once; the others do within their poll, so that it fails is nothing to tell."""
        try:
            with self._link.changing() as session:
                session.rows("select {}.wake(queue) from {}.get(%s)", id)
        except Unanswered:
            pass


class Choice:
    """What a reader chose to see."""

    def __init__(self, asked: Mapping[str, str]) -> None:
        self.view = _allowed("view", asked, ("now", *_LIVE, "failed"), "now")
        self.ended = _allowed("ended", asked, ("any", *_OVER), "any")
        self.queue = asked.get("queue") or None
        self.find = asked.get("find") or None
        self.after = _place("after", asked)
        self.ended_after = _place("ended_after", asked)


def _allowed(name: str, asked: Mapping[str, str], names: tuple[str, ...], usual: str) -> str:
    found = asked.get(name) or usual
    if found not in names:
        raise Unanswered(f"{name}: found {found!r}, allowed are {', '.join(names)}", 400)
    return found


def _place(name: str, asked: Mapping[str, str]) -> list[int] | None:
    """Where a page begins, as the one before it ended: numbers with a point between."""
    text = asked.get(name)
    if not text:
        return None
    numbers = text.split(".")
    if len(numbers) > 2 or not all(part.isascii() and part.isdecimal() and len(part) < 20 for part in numbers):
        raise Unanswered(f"{name}: found {text!r}, allowed are one or two numbers with a point between", 400)
    found = [int(part) for part in numbers]
    if max(found) >= 2**63:
        raise Unanswered(f"{name}: found {text!r}, allowed are numbers below 2^63", 400)
    return found


def _tasks(session: Session, choice: Choice) -> tuple[list[dict[str, Any]], str | None]:
    """Tasks of the view that was chosen, and where the next page begins."""
    if choice.find is not None:
        tasks, _ = _live(session, "live", choice, _PAGE, prefix=choice.find)
        if not tasks:
            tasks, _ = _ended(session, "any", choice.queue, None, _PAGE, id=choice.find)
        return tasks, None
    if choice.view == "failed":
        return _ended(session, "failed", choice.queue, choice.after, _PAGE)
    if choice.view != "now":
        return _live(session, choice.view, choice, _PAGE)
    found: dict[int, dict[str, Any]] = {}
    for state, most in _OVERVIEW.items():
        found |= {task["seq"]: task for task in _live(session, state, choice, most)[0] if task["seq"] not in found}
    return list(found.values()), None


def _live(
    session: Session, state: str, choice: Choice, most: int, prefix: str | None = None
) -> tuple[list[dict[str, Any]], str | None]:
    after = choice.after if choice.view == state else None
    rows = session.rows(
        "select * from {}.board(%s, %s, %s, %s, %s::bigint[])", state, choice.queue, prefix, most, after
    )
    # `blocked` has no second page, `ready` none behind its thousands.
    has_next = state != "blocked" and not (state == "ready" and rows and rows[-1][0][0] > 9000)
    return _page(_TASK, rows, most, has_next)


def _ended(
    session: Session, state: str, queue: str | None, after: list[int] | None, most: int, id: str | None = None
) -> tuple[list[dict[str, Any]], str | None]:
    if id is not None:
        columns = ", ".join(_ENDING[1:-1])
        rows = session.rows(
            f"select array[]::bigint[], {columns}, false from {{}}.ended where id = %s order by ended desc limit 20", id
        )
        return _page(_ENDING, rows, most, False)
    rows = session.rows(
        "select * from {}.last_ended(%s, %s, %s, %s::bigint[])", None if state == "any" else state, queue, most, after
    )
    return _page(_ENDING, rows, most, True)


def _page(
    names: tuple[str, ...], rows: Sequence[Row], most: int, has_next: bool
) -> tuple[list[dict[str, Any]], str | None]:
    """Rows, and the place behind the last if there may be more."""
    found = _named(names, rows)
    after = None
    if has_next and rows and (len(rows) >= most or rows[-1][2] is None):
        after = ".".join(map(str, rows[-1][0]))
    return [task for task in found if task["id"] is not None], after


def _named(names: tuple[str, ...], rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [{name: _plain(value) for name, value in zip(names, row, strict=True) if name != "place"} for row in rows]


def _plain(value: Any) -> Any:
    """Instants are milliseconds since the Unix epoch, times seconds."""
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value


def _rights(session: Session, schema: str) -> dict[str, bool]:
    """What who is connected may do."""
    allowed = {
        name
        for (name,) in session.rows(
            "select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
            " where n.nspname = %s and p.proname = any(%s) and has_function_privilege(p.oid, 'execute')",
            schema,
            [*_CALLS.values()],
        )
    }
    return {verb: call in allowed for verb, call in _CALLS.items()}


def _known(session: Session, queue: str) -> None:
    """A queue comes with its first task, and with who pauses it; a page only has those that are there."""
    if not session.rows("select 1 from {}.queues(%s)", queue):
        raise Unanswered(f"there is no queue {queue}", 404)


def _server(host: str, port: int) -> str:
    return host if host.startswith("/") else f"{host}:{port}"


def _release(number: int) -> str:
    return f"{number // 10000}.{number % 10000}"
