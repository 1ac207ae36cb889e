"""What a fleet tells of its tasks and of itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from .._terms import State


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetTask:
    """A record: the live one of an id, else the last."""

    #: Its number, ever-growing.
    seq: int
    id: str
    queue: str
    kind: str
    handler: str
    #: What a worker must carry.
    labels: list[str]
    #: Constraints of its machine.
    requires: list[str]
    schedule: str
    priority: int
    state: State
    attempts: int
    earliest_begin: datetime
    last_run: datetime
    estimate: timedelta
    generation: int
    #: How many response times the estimate is made of.
    runs: int
    tags: list[str]
    registered: datetime
    #: When it ended, if it did.
    ended: datetime | None
    #: The worker that runs it, and the number of the run: the fence for systems outside.
    node: str | None
    run: int | None
    #: Why its last run was stopped, if it was, and what its last failure said.
    stop: str | None
    failure: str | None
    #: How many wait behind it.
    appended: int


@dataclass(frozen=True, slots=True)
class FleetReason:
    """Why a task does not run now."""

    reason: str
    detail: str
    #: When that may change, if it is known.
    until: datetime | None

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" + (f", until {self.until:%Y-%m-%d %H:%M:%S %Z}" if self.until else "")


@dataclass(frozen=True, slots=True)
class FleetItem:
    """A line of a fleet's status."""

    item: str
    value: str
    #: Somebody should look.
    alarm: bool
