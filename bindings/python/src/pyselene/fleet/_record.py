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


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetQueue:
    """A queue: what waits in it, and what it lets through."""

    queue: str
    #: Workers are given nothing of it, until then; None while it is paused: until it is resumed.
    paused: bool
    paused_until: datetime | None
    #: How many tasks are ready, counted to 10 000, and for how long the oldest is.
    ready: int
    oldest: timedelta | None
    #: How many requests may be pending, of each kind, and how many are; None: any number, which nobody counts.
    limit_refresh: int | None
    pending_refresh: int | None
    limit_processing: int | None
    pending_processing: int | None
    #: What finds no place waits for one.
    holds: bool
    #: How long a standing task waits after a run, and how long ended records are kept.
    pace: timedelta
    retention: timedelta
    #: The shortest and the longest pause after a failure, and by how many thousandths chance may shorten it.
    backoff_min: timedelta
    backoff_max: timedelta
    jitter: int
    #: How many bytes an input may have.
    max_input: int
    #: How long a task waits whose node has died a second time while it ran; each further time twice as long.
    crash_pause: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetNode:
    """A worker that has said hello, and not bye."""

    #: The number of its incarnation, which is never used again.
    worker: int
    name: str
    version: str
    started: datetime
    #: When it last beat, and until when its lease holds if it does not again.
    beaten: datetime
    expires: datetime
    lease: timedelta
    alive: bool
    #: How often its clock and the database's went apart.
    jumps: int
    #: How many runs it has.
    runs: int
    #: At most 20 of the handlers that it serves.
    handlers: list[str]
    #: It was asked to leave.
    draining: bool
