"""The fields of a task, written by tools/generate.py from tools/fields.py; see _task.py."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, TypedDict

from . import _raw
from ._calendar import Calendar
from ._conditions import Constraint, Requires
from ._failure import LastFailure, told_failure
from ._library import encode, text
from ._names import said, texts, truth, whole
from ._progress import Progress, told_progress
from ._run import Kind, KindName, Outcome, Priority, PriorityName, StopReason
from ._terms import (
    Backoff,
    Existing,
    ExistingName,
    QuotaPolicy,
    QuotaPolicyName,
    Schedule,
    ScheduleName,
    State,
    bytes_of,
    limit,
    per_mille,
    raw_text,
    raw_texts,
    schedule_of,
    told_backoff,
    told_bytes,
    told_ids,
    told_info,
    told_texts,
    told_waits,
)
from ._time import Duration, duration_ns, instant, maybe_seconds, seconds


class OnceFields(TypedDict, total=False):
    """The keywords of work that is to be done once; Task tells what each means."""

    kind: Kind | KindName
    priority: Priority | PriorityName | int
    expected: Duration | None
    response_window: int
    tags: str | Iterable[str]
    group: str | None
    conditions: str | Iterable[str]
    requires: Requires
    existing: Existing | ExistingName | None
    delay: Duration
    latest_begin: Duration | None
    jitter: float
    backoff: Backoff | None
    max_attempts: int | None
    timeout: Duration | None
    stall_limit: Duration | None
    steady: bool
    expedited: bool
    out_of_quota: QuotaPolicy | QuotaPolicyName
    after: str | Iterable[str]
    after_any_end: bool
    input: bytes
    args: Iterable[Any]
    kwargs: Mapping[str, Any] | None


class TaskFields(OnceFields, total=False):
    """The keywords of a task; Task tells what each means."""

    handler: str | None
    schedule: Schedule | ScheduleName | None
    every: Duration | None
    flex: Duration
    anchored: bool
    cron: str | None
    at: str | None
    on: str | None
    zone: str | tzinfo | None


@dataclass(frozen=True, slots=True)
class TaskRow:
    """What a task is, as declared."""

    id: str
    handler: str | None = None
    kind: Kind | KindName = field(default=Kind.REFRESH, kw_only=True)
    schedule: Schedule | ScheduleName | None = field(default=None, kw_only=True)
    priority: Priority | PriorityName | int = field(default=Priority.NORMAL, kw_only=True)
    expected: Duration | None = field(default=None, kw_only=True)
    response_window: int = field(default=3, kw_only=True)
    tags: str | Iterable[str] = field(default=(), kw_only=True)
    group: str | None = field(default=None, kw_only=True)
    conditions: str | Iterable[str] = field(default=(), kw_only=True)
    requires: Requires = field(default=(), kw_only=True)
    existing: Existing | ExistingName | None = field(default=None, kw_only=True)
    delay: Duration = field(default=0, kw_only=True)
    latest_begin: Duration | None = field(default=None, kw_only=True)
    every: Duration | None = field(default=None, kw_only=True)
    flex: Duration = field(default=0, kw_only=True)
    anchored: bool = field(default=False, kw_only=True)
    jitter: float = field(default=0, kw_only=True)
    cron: str | None = field(default=None, kw_only=True)
    at: str | None = field(default=None, kw_only=True)
    on: str | None = field(default=None, kw_only=True)
    zone: str | tzinfo | None = field(default=None, kw_only=True)
    backoff: Backoff | None = field(default=None, kw_only=True)
    max_attempts: int | None = field(default=None, kw_only=True)
    timeout: Duration | None = field(default=None, kw_only=True)
    stall_limit: Duration | None = field(default=None, kw_only=True)
    steady: bool = field(default=False, kw_only=True)
    expedited: bool = field(default=False, kw_only=True)
    out_of_quota: QuotaPolicy | QuotaPolicyName = field(default=QuotaPolicy.ORDINARY, kw_only=True)
    after: str | Iterable[str] = field(default=(), kw_only=True)
    after_any_end: bool = field(default=False, kw_only=True)
    input: bytes = field(default=b"", kw_only=True)
    args: Iterable[Any] = field(default=(), kw_only=True)
    kwargs: Mapping[str, Any] | None = field(default=None, kw_only=True)


def check(task: TaskRow) -> None:
    """Judges the types, so that a mistake shows where it is made; ranges are judged by the engine."""
    put = object.__setattr__
    encode(task.id, "id")
    if task.handler is not None:
        encode(task.handler, "handler")
    put(task, "kind", Kind.of(task.kind, "kind"))
    put(task, "schedule", schedule_of(task.schedule, task.every))
    put(task, "priority", Priority.of(task.priority, "priority"))
    if task.expected is not None:
        duration_ns(task.expected, "expected")
    whole(task.response_window, "response_window", 31)
    put(task, "tags", texts(task.tags, "tags"))
    if task.group is not None:
        encode(task.group, "group")
    put(task, "conditions", texts(task.conditions, "conditions"))
    put(task, "requires", Constraint.of(task.requires, "requires"))
    if task.existing is not None:
        put(task, "existing", Existing.of(task.existing, "existing"))
    duration_ns(task.delay, "delay")
    if task.latest_begin is not None:
        duration_ns(task.latest_begin, "latest_begin")
    if task.every is not None:
        duration_ns(task.every, "every")
    duration_ns(task.flex, "flex")
    truth(task.anchored, "anchored")
    per_mille(task.jitter, "jitter")
    if task.backoff is not None:
        Backoff.check(task.backoff, "backoff")
    limit(task.max_attempts, "max_attempts")
    if task.timeout is not None:
        duration_ns(task.timeout, "timeout")
    if task.stall_limit is not None:
        duration_ns(task.stall_limit, "stall_limit")
    truth(task.steady, "steady")
    truth(task.expedited, "expedited")
    put(task, "out_of_quota", QuotaPolicy.of(task.out_of_quota, "out_of_quota"))
    put(task, "after", texts(task.after, "after"))
    truth(task.after_any_end, "after_any_end")
    put(task, "input", bytes_of(task.input, "input"))


def pack(raw: Any, task: Any) -> None:
    """Writes a task into the library's structure."""
    raw.id = raw_text(task.id)
    if task.handler is not None:
        raw.handler = raw_text(task.handler)
    raw.kind = task.kind
    raw.schedule = task.schedule
    raw.priority = task.priority
    if task.expected is not None:
        raw.expected_response = said(duration_ns(task.expected, "expected"))
    raw.response_window = said(task.response_window)
    if task.tags:
        raw.tags, raw.tag_count = raw_texts(task.tags, "tags"), len(task.tags)
    if task.group is not None:
        raw.group = raw_text(task.group)
    if task.conditions:
        raw.conditions, raw.condition_count = raw_texts(task.conditions, "conditions"), len(task.conditions)
    raw.constraints = task.requires
    if task.existing is not None:
        raw.existing = task.existing
    if task.delay:
        raw.initial_delay = duration_ns(task.delay, "delay")
    if task.latest_begin is not None:
        raw.latest_begin = duration_ns(task.latest_begin, "latest_begin")
    if task.every is not None:
        raw.period = duration_ns(task.every, "every")
    if task.every is not None:
        raw.flex = duration_ns(task.flex, "flex")
    if task.anchored:
        raw.recurrence = _raw.SELENE_RECURRENCE_ANCHORED
    if task.jitter:
        raw.jitter = per_mille(task.jitter, "jitter")
    if task.cron is not None:
        raw.recurrence = _raw.SELENE_RECURRENCE_CALENDAR
    if task.at is not None:
        raw.recurrence = _raw.SELENE_RECURRENCE_CALENDAR
    if task.backoff is not None:
        raw.backoff, raw.backoff_delay = task.backoff.policy, said(task.backoff.delay_ns)
    if task.max_attempts:
        raw.max_attempts = task.max_attempts
    if task.timeout is not None:
        raw.timeout = duration_ns(task.timeout, "timeout")
    if task.stall_limit is not None:
        raw.stall_limit = duration_ns(task.stall_limit, "stall_limit")
    if task.steady:
        raw.flags |= _raw.SELENE_TASK_STEADY
    if task.expedited:
        raw.flags |= _raw.SELENE_TASK_EXPEDITED
    if task.out_of_quota:
        raw.flags |= task.out_of_quota
    if task.after:
        raw.after, raw.after_count = raw_texts(task.after, "after"), len(task.after)
    if task.after_any_end:
        raw.flags |= _raw.SELENE_TASK_AFTER_ANY_END
    if task.input:
        raw.input, raw.input_length = ctypes.cast(task.input, ctypes.c_void_p), len(task.input)


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """A task's record: definition, state, history. Instants and durations also exist exactly, as `…_ns`."""

    id: str
    handler: str
    kind: Kind
    schedule: Schedule
    priority: Priority
    expected_ns: int | None
    response_window: int
    tags: frozenset[str]
    group: str | None
    conditions: tuple[str, ...]
    requires: Constraint
    existing: Existing
    delay_ns: int
    latest_begin_ns: int | None
    every_ns: int | None
    flex_ns: int
    anchored: bool
    jitter: float
    backoff: Backoff
    max_attempts: int | None
    timeout_ns: int | None
    stall_limit_ns: int | None
    steady: bool
    expedited: bool
    out_of_quota: QuotaPolicy
    after: tuple[str, ...]
    after_any_end: bool
    input: bytes
    has_handler: bool
    state: State
    attempts: int
    last_outcome: Outcome | None
    stop_reason: StopReason
    last_failure: LastFailure | None
    generation: int
    sequence: int
    appended: int
    registered_at_ns: int
    earliest_begin_ns: int
    anchor_ns: int
    last_run_ns: int
    estimate_ns: int
    run: int
    by_calendar: bool
    calendar: Calendar | None
    paused: bool
    progress: Progress | None
    output_length: int
    output_lost: int
    quarantined: int
    waits_for: tuple[str, ...]
    response_times_ns: tuple[int, ...]

    def __str__(self) -> str:
        return told_info(self)

    @property
    def expected(self) -> float | None:
        """The declared time of a run in seconds; None: not said."""
        return maybe_seconds(self.expected_ns)

    @property
    def delay(self) -> float:
        """The initial delay in seconds."""
        return seconds(self.delay_ns)

    @property
    def latest_begin(self) -> float | None:
        """How long after its registration it may begin at the latest, in seconds; None is no limit."""
        return maybe_seconds(self.latest_begin_ns)

    @property
    def every(self) -> float | None:
        """The period in seconds; None unless periodic."""
        return maybe_seconds(self.every_ns)

    @property
    def flex(self) -> float:
        """The flex in seconds."""
        return seconds(self.flex_ns)

    @property
    def timeout(self) -> float | None:
        """The longest that a run may take, in seconds; None is no limit."""
        return maybe_seconds(self.timeout_ns)

    @property
    def stall_limit(self) -> float | None:
        """The longest that a run may tell no progress, in seconds; None is no limit."""
        return maybe_seconds(self.stall_limit_ns)

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
        return tuple(map(seconds, self.response_times_ns))


def told(row: _raw.selene_task_info_row, times: tuple[int, ...]) -> TaskInfo:
    """The library's record, of its fields and response times."""
    return TaskInfo(
        text(row.id, row.id_length),
        text(row.handler, row.handler_length),
        Kind(row.kind),
        Schedule(row.schedule),
        Priority(row.priority),
        None if row.expected_response < 0 else row.expected_response,
        row.response_window,
        told_texts(row.tags, row.tag_count),
        text(row.group, row.group_length) or None,
        told_ids(row.conditions, row.condition_count),
        Constraint(row.constraints),
        Existing(row.existing),
        row.initial_delay,
        row.latest_begin or None,
        row.period if row.schedule == Schedule.PERIODIC else None,
        row.flex,
        row.recurrence == _raw.SELENE_RECURRENCE_ANCHORED,
        row.jitter / 1000,
        told_backoff(row.backoff, row.backoff_delay),
        row.max_attempts or None,
        row.timeout or None,
        row.stall_limit or None,
        bool(row.flags & _raw.SELENE_TASK_STEADY),
        bool(row.flags & _raw.SELENE_TASK_EXPEDITED),
        QuotaPolicy(row.flags & _raw.SELENE_TASK_REFUSE_OUT_OF_QUOTA),
        told_ids(row.after, row.after_count),
        bool(row.flags & _raw.SELENE_TASK_AFTER_ANY_END),
        told_bytes(row.input, row.input_length),
        bool(row.has_handler),
        State(row.state),
        row.attempts,
        None if row.last_outcome < 0 else Outcome(row.last_outcome),
        StopReason(row.stop_reason),
        told_failure(row.failed_at, row.failed_attempt, row.failure, row.failure_length),
        row.generation,
        row.sequence,
        row.appended,
        row.registered_at,
        row.earliest_begin,
        row.anchor,
        row.last_run,
        row.estimate,
        row.run,
        row.recurrence == _raw.SELENE_RECURRENCE_CALENDAR,
        None,
        bool(row.paused),
        told_progress(row.progress_at, row.progress_done, row.progress_total, row.progress_text, row.progress_text_length),
        row.output_length,
        row.output_lost,
        row.quarantined,
        told_waits(row.after, row.after_count, row.waits_for),
        times,
    )
