"""What Prometheus is told of a fleet."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from ... import __version__
from .board import Unanswered
from .fleet_link import FleetLink, Row, Session
from .prometheus import Exposition

_QUEUES: Final = 1000
#: States, and what `status` calls them.
_STATES: Final = {"running": "claimed", "ready": "ready", "waiting": "waiting", "held": "held"}
_OVER: Final = ("succeeded", "failed", "cancelled")


class FleetMetrics:
    """All of it; while the database does not answer, only that. Counts what ends from when it is first asked."""

    def __init__(self, link: FleetLink) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._ended = [0, 0, 0]
        self._upto: list[int] | None = None

    def text(self) -> str:
        """In the format of Prometheus."""
        told = Exposition()
        about = "Whether the fleet's database answers."
        try:
            with self._lock, self._link.looking() as session:
                items = session.rows("select item, value, alarm from {}.status()")
                queues = session.rows(f"select * from {{}}.queues(most => {_QUEUES})")
                alive = session.rows("select alive, count(*) from {}.nodes group by alive")
                registered, runs = self._count(session)
        except Unanswered as error:
            if error.status < 500:
                raise
            told.tell_one("selene_up", "gauge", about, 0)
            return str(told)
        status = {item: value for item, value, _ in items}
        told.tell_one("selene_up", "gauge", about, 1)
        told.tell("selene_build_info", "gauge", "The version that tells this.", [("", (("version", __version__),), 1)])
        told.tell(
            "selene_tasks", "gauge", "Live tasks by where they stand, to 10000; running is what nodes have claimed.",
            [("", (("state", state),), _number(status[item])) for state, item in _STATES.items()],
        )  # fmt: skip
        told.tell_one(
            "selene_suspects", "gauge", "Tasks whose node ended while it ran them, counted to 100.",
            _number(status["suspects"]),
        )  # fmt: skip
        told.tell_one("selene_tasks_registered_total", "counter", "Tasks that were registered.", registered)
        told.tell_one("selene_runs_started_total", "counter", "Runs that nodes took.", runs)
        told.tell(
            "selene_tasks_ended_total", "counter", "Tasks that ended since this page is served, by how.",
            [("", (("state", state),), count) for state, count in zip(_OVER, self._ended, strict=True)],
        )  # fmt: skip
        counts: dict[bool, int] = dict(alive)
        told.tell(
            "selene_nodes", "gauge", "Nodes by whether their lease holds.",
            [("", (("state", "alive"),), counts.get(True, 0)), ("", (("state", "gone"),), counts.get(False, 0))],
        )  # fmt: skip
        _tell_queues(told, queues)
        told.tell_one("selene_alarms", "gauge", "What somebody should look at.", sum(alarm for *_, alarm in items))
        return str(told)

    def _count(self, session: Session) -> tuple[int, int]:
        ((registered, runs, succeeded, failed, cancelled, upto),) = session.rows(
            "select * from {}.counters(%s::bigint[])", self._upto
        )
        self._ended = [had + more for had, more in zip(self._ended, (succeeded, failed, cancelled), strict=True)]
        self._upto = upto
        return registered, runs


def _tell_queues(told: Exposition, queues: Sequence[Row]) -> None:
    told.tell(
        "selene_queue_ready", "gauge", "Tasks of a queue that are ready, counted to 10000.",
        [("", (("queue", row[0]),), row[3]) for row in queues],
    )  # fmt: skip
    told.tell(
        "selene_queue_oldest_ready_seconds", "gauge", "For how long the oldest ready task of a queue waits.",
        [("", (("queue", row[0]),), 0 if row[4] is None else row[4].total_seconds()) for row in queues],
    )  # fmt: skip
    told.tell(
        "selene_queue_paused", "gauge", "Whether a queue is paused.",
        [("", (("queue", row[0]),), row[1]) for row in queues],
    )  # fmt: skip
    limited = [
        (row[0], kind, limit, pending)
        for row in queues
        for kind, limit, pending in (("refresh", row[5], row[6]), ("processing", row[7], row[8]))
        if limit is not None
    ]
    told.tell(
        "selene_queue_limit", "gauge", "How many pending requests a queue may have, where it has a limit.",
        [("", (("kind", kind), ("queue", queue)), limit) for queue, kind, limit, _ in limited],
    )  # fmt: skip
    told.tell(
        "selene_queue_pending", "gauge", "How many it has.",
        [("", (("kind", kind), ("queue", queue)), pending or 0) for queue, kind, _, pending in limited],
    )  # fmt: skip


def _number(text: str) -> int:
    return int(text.rstrip("+"))
