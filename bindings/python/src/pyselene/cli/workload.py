"""What a workload file says: tasks whose work is a shell command, and how to simulate them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from . import duration
from .locate import find
from .problem import WorkloadProblem

KINDS: Final = ("refresh", "processing")
SCHEDULES: Final = ("standing", "once", "periodic")
PRIORITIES: Final = ("very_low", "low", "normal", "high", "very_high")
QUOTA_POLICIES: Final = ("ordinary", "refuse")
BACKOFFS: Final = ("none", "linear", "exponential")
DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
CONSTRAINTS: Final = (
    "network", "power", "unmetered", "battery_not_low", "idle", "storage_not_low", "display_off", "not_roaming",
)  # fmt: skip

DEFAULT_START: Final = datetime(2026, 1, 5, tzinfo=UTC)
"""When a simulation begins by default: a Monday, always the same, so that it can be repeated."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the runs of a simulated task do.

    Response times are drawn from a log-normal distribution.
    """

    response: int = 5 * duration.SECOND
    """Mean response time in ns."""
    jitter: float = 0.0
    """Standard deviation of the response times, as a part of their mean."""
    no_data: float = 0.0
    """Probability that a run which succeeds brings no new data."""
    failure: float = 0.0
    """Probability that a run fails."""
    abandon: float = 0.0
    """Probability that a run fails for good."""
    hang: float = 0.0
    """Probability that a run never ends by itself."""
    changes: int | None = None
    """Mean time in ns from one change of the source to the next, which decides what is new; None: `no_data` does."""


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task of a workload; durations are in ns, None means the library's default."""

    id: str
    command: str | None = None
    kind: str = "refresh"
    schedule: str = "standing"
    priority: int = 3
    expected: int | None = None
    response_window: int = 3
    delay: int = 0
    latest_begin: int = 0
    every: int | None = None
    flex: int = 0
    anchored: bool = False
    at: tuple[str, ...] = ()
    """Times of the day, in local time."""
    on: tuple[str, ...] = ()
    """Days of the week, such as mon..fri; none: every day."""
    jitter: float = 0.0
    backoff: str | None = None
    backoff_delay: int = 30 * duration.SECOND
    max_attempts: int = 0
    timeout: int = 0
    stall_limit: int = 0
    steady: bool = False
    expedited: bool = False
    out_of_quota: str = "ordinary"
    requires: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    """Tasks of the same file."""
    after_any_end: bool = False
    cron: str | None = None
    """In local time."""
    group: str | None = None
    behaviour: Behaviour = field(default_factory=Behaviour)


@dataclass(frozen=True, slots=True)
class Outage:
    """A part of each day in which a condition does not hold."""

    condition: str
    """A constraint, or a condition of the host that tasks ask for."""
    begin: int
    """ns since midnight."""
    end: int
    """ns since midnight; not after begin: on the next day."""
    days: frozenset[int] = frozenset(range(7))
    """On which days it begins, Monday is 0."""


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """What a file says about windows; None where it says nothing. Durations are in ns."""

    budget: int | None = None
    reserve: int | None = None
    every: int | None = None
    lanes: int | None = None
    kinds: tuple[str, ...] | None = None
    strict_fit: bool | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """What a workload file says."""

    path: str
    text: str
    tasks: tuple[TaskSpec, ...]
    window: WindowSpec = WindowSpec()
    simulated_window: WindowSpec = WindowSpec()
    """What counts in simulations."""
    seed: int | None = None
    start: datetime = DEFAULT_START
    outages: tuple[Outage, ...] = ()
    groups: Mapping[str, int] = field(default_factory=dict)
    """The most runs at a time of each group; 0 is no limit."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions of the host that tasks ask for."""
        return tuple(dict.fromkeys(name for task in self.tasks for name in task.conditions))

    def task(self, id: str) -> TaskSpec | None:
        """The task of this id."""
        return next((task for task in self.tasks if task.id == id), None)

    def problem(self, message: str, *path: str | int, value: bool = False) -> WorkloadProblem:
        """A problem with something in this file."""
        place = find(self.text, path, value=value)
        return WorkloadProblem(self.path, self.text, place.line, place.column, message)
