"""The words in which tasks are declared, and how a value of each comes in, goes to the library and comes back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from . import _raw
from ._library import encode, read_array, text
from ._names import Named, whole
from ._run import Kind, KindName, Outcome, StopReason
from ._time import Duration, duration_ns, seconds, show

#: What `kinds=` takes: one kind, or several, as members or names.
Kinds: TypeAlias = Kind | KindName | Iterable[Kind | KindName]


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


ScheduleName: TypeAlias = Literal["standing", "once", "periodic"]


class Existing(Named):
    """What registering does when a live task has the id."""

    KEEP = _raw.SELENE_EXISTING_KEEP
    REPLACE = _raw.SELENE_EXISTING_REPLACE
    UPDATE = _raw.SELENE_EXISTING_UPDATE
    APPEND = _raw.SELENE_EXISTING_APPEND
    APPEND_OR_REPLACE = _raw.SELENE_EXISTING_APPEND_OR_REPLACE
    SKIP = _raw.SELENE_EXISTING_SKIP


ExistingName: TypeAlias = Literal["keep", "replace", "update", "append", "append_or_replace", "skip"]


class QuotaPolicy(Named):
    """What an expedited task is while its quota is used up."""

    ORDINARY = 0
    REFUSE = _raw.SELENE_TASK_REFUSE_OUT_OF_QUOTA


QuotaPolicyName: TypeAlias = Literal["ordinary", "refuse"]


class Disposition(Named):
    """What registering did."""

    ADDED = _raw.SELENE_DISPOSITION_ADDED
    REPLACED = _raw.SELENE_DISPOSITION_REPLACED
    UPDATED = _raw.SELENE_DISPOSITION_UPDATED
    KEPT = _raw.SELENE_DISPOSITION_KEPT
    APPENDED = _raw.SELENE_DISPOSITION_APPENDED
    HELD = _raw.SELENE_DISPOSITION_HELD


StateName: TypeAlias = Literal["enqueued", "held", "blocked", "running", "succeeded", "failed", "cancelled"]


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

    policy: ClassVar[int] = _raw.SELENE_BACKOFF_DEFAULT
    #: What it is called in a fleet and in workloads.
    word: ClassVar[str] = ""

    @property
    def delay_ns(self) -> int:
        """The first delay in nanoseconds."""
        return duration_ns(self.delay, "backoff.delay")

    @staticmethod
    def check(value: Backoff, what: str) -> None:
        """Refuses anything but a NoBackoff, a Linear or an Exponential."""
        if not isinstance(value, _BACKOFFS):
            raise TypeError(f"{what} must be NoBackoff, Linear or Exponential, not {value!r}")
        duration_ns(value.delay, f"{what}.delay")


class NoBackoff(Backoff):
    """A retry may come at once."""

    __slots__ = ()
    policy = _raw.SELENE_BACKOFF_NONE
    word = "none"


class Linear(Backoff):
    """The delay grows by itself with each attempt: 30 s, 60 s, 90 s, …"""

    __slots__ = ()
    policy = _raw.SELENE_BACKOFF_LINEAR
    word = "linear"


class Exponential(Backoff):
    """The delay doubles with each attempt: 30 s, 60 s, 120 s, …"""

    __slots__ = ()
    policy = _raw.SELENE_BACKOFF_EXPONENTIAL
    word = "exponential"


_BACKOFFS = (NoBackoff, Linear, Exponential)
BackoffName: TypeAlias = Literal["none", "linear", "exponential"]


def limit(value: int | None, what: str) -> None:
    """Refuses anything but None and a number of at least 1: the library takes 0 for no limit."""
    if value is not None and whole(value, what, 1 << 32) == 0:
        raise ValueError(f"{what} is 0; allowed: 1 and more, or None for no limit")


def per_mille(value: float, what: str) -> int:
    """A part of one, 0 … 1, as the library has it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{what} must be a number from 0 to 1, not {type(value).__name__}")
    if not 0 <= value <= 1:
        raise ValueError(f"{what} is {value}; allowed: 0 … 1")
    return round(value * 1000)


def some_kinds(value: Kinds | None) -> int:
    """The bits of the kinds of a window or driver; an empty collection is refused, since 0 means all kinds."""
    bits = 0 if value is None else kind_bits(value)
    if value is not None and bits == 0:
        raise ValueError("kinds is empty; allowed: refresh, processing, or both")
    return bits


def schedule_of(value: Schedule | ScheduleName | None, every: Duration | None) -> Schedule:
    """The schedule: if it is not said, periodic with a period, else once (T2)."""
    if value is None:
        return Schedule.ONCE if every is None else Schedule.PERIODIC
    schedule = Schedule.of(value, "schedule")
    if every is not None and schedule is not Schedule.PERIODIC:
        raise ValueError(f"every is given, but the schedule is {schedule}")
    return schedule


def bytes_of(value: bytes, what: str) -> bytes:
    """The bytes of what holds some."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{what} must be bytes, not {type(value).__name__}")
    return bytes(value)


def raw_text(value: str) -> tuple[bytes, int]:
    """What a field of the library's that is a text is set to."""
    key = value.encode()
    return key, len(key)


def raw_texts(values: Iterable[str], what: str) -> Any:
    """An array of the library's texts."""
    encoded = [encode(value, what) for value in values]
    return (_raw.selene_text * len(encoded))(*[_raw.selene_text(value, len(value)) for value in encoded])


def told_texts(address: int, count: int) -> frozenset[str]:
    """The texts of such an array."""
    return frozenset(text(*item) for item in read_array(_raw.selene_text, address, count))


def told_ids(address: int, count: int) -> tuple[str, ...]:
    """The same, in their order."""
    return tuple(text(*item) for item in read_array(_raw.selene_text, address, count))


def told_waits(address: int, count: int, bits: int) -> tuple[str, ...]:
    """Those of them whose bit is set."""
    return tuple(one for place, one in enumerate(told_ids(address, count)) if bits >> place & 1)


def told_bytes(address: int, length: int) -> bytes:
    """The bytes that a pointer and a length mean."""
    return ctypes.string_at(address, length) if length else b""


def told_backoff(policy: int, delay: int) -> Backoff:
    """The backoff of the library's numbers."""
    return _BACKOFFS[policy - 1](seconds(delay))


def why_failed(info: Any) -> str:
    """Of a record (TaskInfo) whose last run failed: why, and where that is so, that there can be no other attempt."""
    last = info.last_failure
    said = "" if last is None else last.message
    if info.state is not State.FAILED:
        return said
    if not said and info.last_outcome is Outcome.ABANDONED:
        said = str(info.last_outcome)
    # An attempt that was never begun says so itself.
    if info.stop_reason is not StopReason.TOO_LATE or (last is not None and last.attempt > info.attempts):
        return said
    return f"{said or 'failed'}; too late to try again by its latest begin"


def told_info(info: Any) -> str:
    """A record (TaskInfo) for reading: what it is, where it stands, and what is not as it is by default."""
    every = f" every {show(info.every_ns)}" if info.every_ns is not None else ""
    if info.by_calendar:
        every = f" by {info.calendar or 'a calendar'}"
    lines = [f"{info.id}: {info.state}; {info.schedule}{every}, {info.kind}, priority {info.priority}"]
    if info.handler != info.id or not info.has_handler:
        lines.append(f"handler {info.handler}{'' if info.has_handler else ', which is not registered'}")
    if info.requires:
        lines.append(f"requires {info.requires}")
    if info.tags:
        lines.append(f"tags {', '.join(sorted(info.tags))}")
    if info.last_outcome is not None:
        lines.append(f"last run {info.last_run:%Y-%m-%d %H:%M:%S} UTC, {info.last_outcome}, attempts {info.attempts}")
    if info.last_failure is not None:
        lines.append(f"last failure: {why_failed(info) or 'failed'}")
    if info.state is State.ENQUEUED:
        begin = f"{info.earliest_begin:%Y-%m-%d %H:%M:%S} UTC"
        if info.calendar is not None:
            begin = info.calendar.show(info.earliest_begin_ns)
        lines.append(f"not before {begin}, takes {show(info.estimate_ns)}")
    return "\n  ".join(lines)
