"""Tasks: what they are (Task) and what became of them (TaskInfo)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from . import _raw
from ._conditions import Constraint, Requires
from ._library import encode, fast, read, read_array, text
from ._names import Named, texts, truth
from ._run import Kind, Outcome, Priority, StopReason
from ._time import Duration, duration_ns, instant, seconds

#: What `kinds=` takes: one kind, or several, as members or names.
Kinds: TypeAlias = Kind | str | Iterable[Kind | str]


def kind_bits(value: Kinds, what: str = "kinds") -> int:
    """The bits of one or several kinds.

    >>> kind_bits("refresh"), kind_bits({"refresh", Kind.PROCESSING})
    (1, 3)
    """
    if isinstance(value, (Kind, str)):
        return int(Kind.of(value, what))
    if not isinstance(value, Iterable):
        raise TypeError(f"{what} must be a Kind, its name, or several of them, not {type(value).__name__}")
    bits = 0
    for item in value:
        bits |= Kind.of(item, what)
    return bits


def kinds_of(bits: int) -> frozenset[Kind]:
    """The kinds that bits mean."""
    return frozenset(kind for kind in Kind if bits & kind)


class Schedule(Named):
    """When a task is a candidate: in every window, until it succeeds once, or once a period."""

    STANDING = _raw.SELENE_SCHEDULE_STANDING
    ONCE = _raw.SELENE_SCHEDULE_ONCE
    PERIODIC = _raw.SELENE_SCHEDULE_PERIODIC


class Existing(Named):
    """What registering does when a live task has the id."""

    KEEP = _raw.SELENE_EXISTING_KEEP
    REPLACE = _raw.SELENE_EXISTING_REPLACE
    UPDATE = _raw.SELENE_EXISTING_UPDATE
    APPEND = _raw.SELENE_EXISTING_APPEND
    APPEND_OR_REPLACE = _raw.SELENE_EXISTING_APPEND_OR_REPLACE


class Disposition(Named):
    """What registering did."""

    ADDED = _raw.SELENE_DISPOSITION_ADDED
    REPLACED = _raw.SELENE_DISPOSITION_REPLACED
    UPDATED = _raw.SELENE_DISPOSITION_UPDATED
    KEPT = _raw.SELENE_DISPOSITION_KEPT
    APPENDED = _raw.SELENE_DISPOSITION_APPENDED
    HELD = _raw.SELENE_DISPOSITION_HELD


class State(Named):
    """Where a task stands."""

    ENQUEUED = _raw.SELENE_STATE_ENQUEUED
    HELD = _raw.SELENE_STATE_HELD
    BLOCKED = _raw.SELENE_STATE_BLOCKED
    RUNNING = _raw.SELENE_STATE_RUNNING
    SUCCEEDED = _raw.SELENE_STATE_SUCCEEDED
    FAILED = _raw.SELENE_STATE_FAILED
    CANCELLED = _raw.SELENE_STATE_CANCELLED

    @property
    def terminal(self) -> bool:
        """Whether the task will never run again."""
        return self >= State.SUCCEEDED


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a failed task waits; see NoBackoff, Linear and Exponential."""

    delay: Duration = 30

    _policy = _raw.SELENE_BACKOFF_DEFAULT


class NoBackoff(Backoff):
    """A retry may come at once."""

    __slots__ = ()
    _policy = _raw.SELENE_BACKOFF_NONE


class Linear(Backoff):
    """The delay grows by itself with each attempt: 30 s, 60 s, 90 s, …"""

    __slots__ = ()
    _policy = _raw.SELENE_BACKOFF_LINEAR


class Exponential(Backoff):
    """The delay doubles with each attempt: 30 s, 60 s, 120 s, …"""

    __slots__ = ()
    _policy = _raw.SELENE_BACKOFF_EXPONENTIAL


_BACKOFFS = (NoBackoff, Linear, Exponential)


@dataclass(frozen=True, slots=True)
class Task:
    """What a task is.

    - `id`: its name; `handler`: the name of the handler that runs it, by default the id.
    - `kind`: refresh (seconds) or processing (minutes). `schedule`: by default periodic if `every` is given, else
      standing.
    - `priority`: 1 … 5 or a name. `expected`: how long a run takes while none is known; later the estimate is the mean
      of the last `response_window` (0 … 30) response times.
    - `tags`: names to find and cancel it by, at most 16. `requires`: conditions, such as {"network", "power"}.
    - `existing`: what happens to a live task of this id; by default update for standing tasks, else keep.
    - `delay`: from registration to the earliest begin. `every`: the period; `flex`: a first run comes only in the last
      flex of its period; `anchored`: periods stay on the grid of the first.
    - `backoff`: by default none for standing tasks, else Exponential(30). `max_attempts`: None is no limit.
    - `input`: bytes handed to each run.

    >>> Task("upload", every=3600, requires={"network"}).schedule
    <Schedule.PERIODIC: 2>
    >>> Task("upload", priority="urgent")
    Traceback (most recent call last):
    ValueError: priority is 'urgent'; allowed: very_low, low, normal, high, very_high
    """

    id: str
    handler: str | None = None
    kind: Kind | str = field(default=Kind.REFRESH, kw_only=True)
    schedule: Schedule | str | None = field(default=None, kw_only=True)
    priority: Priority | str | int = field(default=Priority.NORMAL, kw_only=True)
    expected: Duration = field(default=5.0, kw_only=True)
    response_window: int = field(default=3, kw_only=True)
    tags: str | Iterable[str] = field(default=(), kw_only=True)
    requires: Requires = field(default=(), kw_only=True)
    existing: Existing | str | None = field(default=None, kw_only=True)
    delay: Duration = field(default=0, kw_only=True)
    every: Duration | None = field(default=None, kw_only=True)
    flex: Duration = field(default=0, kw_only=True)
    anchored: bool = field(default=False, kw_only=True)
    backoff: Backoff | None = field(default=None, kw_only=True)
    max_attempts: int | None = field(default=None, kw_only=True)
    input: bytes = field(default=b"", kw_only=True)

    def __post_init__(self) -> None:
        """Judges the types, so that a mistake shows where it is made; ranges are judged by the engine."""
        put = object.__setattr__
        encode(self.id, "id")
        if self.handler is not None:
            encode(self.handler, "handler")
        put(self, "kind", Kind.of(self.kind, "kind"))
        if self.schedule is None:
            put(self, "schedule", Schedule.STANDING if self.every is None else Schedule.PERIODIC)
        else:
            put(self, "schedule", Schedule.of(self.schedule, "schedule"))
            if self.every is not None and self.schedule is not Schedule.PERIODIC:
                raise ValueError(f"every is given, but the schedule is {self.schedule}")
        put(self, "priority", Priority.of(self.priority, "priority"))
        if self.existing is not None:
            put(self, "existing", Existing.of(self.existing, "existing"))
        put(self, "tags", texts(self.tags, "tags"))
        put(self, "requires", Constraint.of(self.requires))
        for name in ("expected", "delay", "flex"):
            duration_ns(getattr(self, name), name)
        if self.every is not None:
            duration_ns(self.every, "every")
        whole(self.response_window, "response_window", 31)
        if self.max_attempts is not None and whole(self.max_attempts, "max_attempts", 1 << 32) == 0:
            raise ValueError("max_attempts is 0; allowed: 1 and more, or None for no limit")
        truth(self.anchored, "anchored")
        if self.backoff is not None and not isinstance(self.backoff, _BACKOFFS):
            raise TypeError(f"backoff must be NoBackoff, Linear or Exponential, not {self.backoff!r}")
        if self.backoff is not None:
            duration_ns(self.backoff.delay, "backoff.delay")
        if not isinstance(self.input, (bytes, bytearray, memoryview)):
            raise TypeError(f"input must be bytes, not {type(self.input).__name__}")
        put(self, "input", bytes(self.input))


def whole(value: int, what: str, limit: int = 1 << 64) -> int:
    """A whole number from 0 to below a limit."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {type(value).__name__}")
    if not 0 <= value < limit:
        raise ValueError(f"{what} is {value}; allowed: 0 … {limit - 1}")
    return value


_SIZE = ctypes.sizeof(_raw.selene_task)


def raw_task(task: Task) -> tuple[_raw.selene_task, object]:
    """The structure of a task, and what must live as long as it."""
    if not isinstance(task, Task):
        raise TypeError(f"task must be a Task, not {type(task).__name__}")
    raw = _raw.selene_task()
    fast.selene_task_init(ctypes.byref(raw), _SIZE)
    key = task.id.encode()
    raw.id = (key, len(key))
    if task.handler is not None:
        name = task.handler.encode()
        raw.handler = (name, len(name))
    raw.kind = task.kind
    raw.schedule = task.schedule
    raw.priority = task.priority
    if task.existing is not None:
        raw.existing = task.existing
    if task.anchored:
        raw.recurrence = _raw.SELENE_RECURRENCE_ANCHORED
    if task.backoff is not None:
        raw.backoff = task.backoff._policy
        raw.backoff_delay = duration_ns(task.backoff.delay, "backoff.delay")
    raw.response_window = task.response_window
    raw.max_attempts = task.max_attempts or 0
    raw.constraints = task.requires
    if task.tags:
        tags = raw_texts(task.tags, "tags")
        raw.tags, raw.tag_count = tags, len(tags)
    raw.expected_response = duration_ns(task.expected, "expected")
    if task.delay:
        raw.initial_delay = duration_ns(task.delay, "delay")
    if task.every is not None:
        raw.period = duration_ns(task.every, "every")
        raw.flex = duration_ns(task.flex, "flex")
    keep = None
    if task.input:
        keep = ctypes.create_string_buffer(task.input, len(task.input))
        raw.input = ctypes.addressof(keep)
        raw.input_length = len(task.input)
    return raw, keep


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """A task's record: definition, state and history. Instants and durations also exist exactly, as `…_ns`."""

    id: str
    handler: str
    input: bytes
    tags: frozenset[str]
    requires: Constraint
    kind: Kind
    schedule: Schedule
    priority: Priority
    existing: Existing
    anchored: bool
    backoff: Backoff
    response_window: int
    max_attempts: int | None
    has_handler: bool
    state: State
    attempts: int
    last_outcome: Outcome | None
    stop_reason: StopReason
    generation: int
    sequence: int
    appended: int
    expected_ns: int
    delay_ns: int
    every_ns: int | None
    flex_ns: int
    registered_at_ns: int
    earliest_begin_ns: int
    anchor_ns: int
    last_run_ns: int
    estimate_ns: int
    run: int
    response_times_ns: tuple[int, ...]

    @property
    def expected(self) -> float:
        """The declared time of a run in seconds."""
        return seconds(self.expected_ns)

    @property
    def delay(self) -> float:
        """The initial delay in seconds."""
        return seconds(self.delay_ns)

    @property
    def every(self) -> float | None:
        """The period in seconds; None unless periodic."""
        return None if self.every_ns is None else seconds(self.every_ns)

    @property
    def flex(self) -> float:
        """The flex in seconds."""
        return seconds(self.flex_ns)

    @property
    def registered_at(self) -> datetime:
        """When it was registered."""
        return instant(self.registered_at_ns)

    @property
    def earliest_begin(self) -> datetime:
        """Before this it will not run."""
        return instant(self.earliest_begin_ns)

    @property
    def anchor(self) -> datetime:
        """Its first earliest begin, where the grid of an anchored period begins."""
        return instant(self.anchor_ns)

    @property
    def last_run(self) -> datetime:
        """The instant its age counts from: the end of its last run, or its registration."""
        return instant(self.last_run_ns)

    @property
    def estimate(self) -> float:
        """What a run is expected to take now, in seconds."""
        return seconds(self.estimate_ns)

    @property
    def response_times(self) -> tuple[float, ...]:
        """The last response times in seconds, oldest first, at most 30."""
        return tuple(seconds(ns) for ns in self.response_times_ns)


#: How many fields stand before the response times.
_ROW = len(_raw.selene_task_info_row._fields)


def task_info(address: int) -> TaskInfo:
    """Reads the library's record."""
    values = read(_raw.selene_task_info, address)
    row = _raw.selene_task_info_row._make(values[:_ROW])
    return TaskInfo(
        id=text(row.id, row.id_length),
        handler=text(row.handler, row.handler_length),
        input=ctypes.string_at(row.input, row.input_length) if row.input_length else b"",
        tags=frozenset(text(*tag) for tag in read_array(_raw.selene_text, row.tags, row.tag_count)),
        requires=Constraint(row.constraints),
        kind=Kind(row.kind),
        schedule=Schedule(row.schedule),
        priority=Priority(row.priority),
        existing=Existing(row.existing),
        anchored=row.recurrence == _raw.SELENE_RECURRENCE_ANCHORED,
        backoff=_BACKOFFS[row.backoff](seconds(row.backoff_delay)),
        response_window=row.response_window,
        max_attempts=row.max_attempts or None,
        has_handler=bool(row.has_handler),
        state=State(row.state),
        attempts=row.attempts,
        last_outcome=None if row.last_outcome < 0 else Outcome(row.last_outcome),
        stop_reason=StopReason(row.stop_reason),
        generation=row.generation,
        sequence=row.sequence,
        appended=row.appended,
        expected_ns=row.expected_response,
        delay_ns=row.initial_delay,
        every_ns=row.period if row.schedule == Schedule.PERIODIC else None,
        flex_ns=row.flex,
        registered_at_ns=row.registered_at,
        earliest_begin_ns=row.earliest_begin,
        anchor_ns=row.anchor,
        last_run_ns=row.last_run,
        estimate_ns=row.estimate,
        run=row.run,
        response_times_ns=tuple(values[_ROW : _ROW + row.response_time_count]),
    )


def raw_texts(values: Iterable[str], what: str) -> Any:
    """An array of the library's texts."""
    encoded = [encode(value, what) for value in values]
    return (_raw.selene_text * len(encoded))(*[_raw.selene_text(value, len(value)) for value in encoded])
