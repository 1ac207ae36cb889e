"""Why a task does not run now, and when it may."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from . import _raw
from ._conditions import Constraint
from ._library import layout
from ._names import Named
from ._pace import Pace, pace_of
from ._terms import State
from ._time import instant, maybe_instant, never_is_none, seconds, show

_NONE = Constraint(0)


class ReasonCode(Named):
    """Why a task does not run now."""

    NOT_DUE = _raw.SELENE_REASON_NOT_DUE
    CONSTRAINTS = _raw.SELENE_REASON_CONSTRAINTS
    NO_HANDLER = _raw.SELENE_REASON_NO_HANDLER
    HELD = _raw.SELENE_REASON_HELD
    BLOCKED = _raw.SELENE_REASON_BLOCKED
    RUNNING = _raw.SELENE_REASON_RUNNING
    KIND_OFF = _raw.SELENE_REASON_KIND_OFF
    DID_NOT_FIT = _raw.SELENE_REASON_DID_NOT_FIT
    STILL_RUNNING = _raw.SELENE_REASON_STILL_RUNNING
    TERMINAL = _raw.SELENE_REASON_TERMINAL
    NOT_PERMITTED = _raw.SELENE_REASON_NOT_PERMITTED
    HAD_ITS_RUN = _raw.SELENE_REASON_HAD_ITS_RUN
    TOO_SOON = _raw.SELENE_REASON_TOO_SOON
    NEXT_CYCLE = _raw.SELENE_REASON_NEXT_CYCLE
    INTERRUPTED = _raw.SELENE_REASON_INTERRUPTED
    GOVERNOR = _raw.SELENE_REASON_GOVERNOR
    STORE_REFUSES = _raw.SELENE_REASON_STORE_REFUSES
    NO_THREAD = _raw.SELENE_REASON_NO_THREAD
    HANDLER_STUCK = _raw.SELENE_REASON_HANDLER_STUCK
    DRAINED = _raw.SELENE_REASON_DRAINED
    CLOCK = _raw.SELENE_REASON_CLOCK
    PAUSED = _raw.SELENE_REASON_PAUSED
    GROUP_PAUSED = _raw.SELENE_REASON_GROUP_PAUSED
    GROUP_FULL = _raw.SELENE_REASON_GROUP_FULL
    OUT_OF_QUOTA = _raw.SELENE_REASON_OUT_OF_QUOTA
    CONDITIONS = _raw.SELENE_REASON_CONDITIONS
    FLEET_AWAY = _raw.SELENE_REASON_FLEET_AWAY
    KIND_PAUSED = _raw.SELENE_REASON_KIND_PAUSED
    QUARANTINED = _raw.SELENE_REASON_QUARANTINED
    #: These and those behind are told by `Scheduler.waits` alone.
    BACKING_OFF = _raw.SELENE_REASON_BACKING_OFF
    NO_WINDOW = _raw.SELENE_REASON_NO_WINDOW
    WINDOW_OPEN = _raw.SELENE_REASON_WINDOW_OPEN
    PREFERRED_OTHERS = _raw.SELENE_REASON_PREFERRED_OTHERS
    NO_PROCESS = _raw.SELENE_REASON_NO_PROCESS
    NOT_KNOWN = _raw.SELENE_REASON_NOT_KNOWN
    EARLIER = _raw.SELENE_REASON_EARLIER


SENTENCES = {
    ReasonCode.NOT_DUE: "its earliest begin has not come",
    ReasonCode.CONSTRAINTS: "missing",
    ReasonCode.NO_HANDLER: "no handler has its name, here or in a process that is connected",
    ReasonCode.HELD: "held until a place is free",
    ReasonCode.BLOCKED: "waits for the task before it",
    ReasonCode.RUNNING: "it is running",
    ReasonCode.KIND_OFF: "its kind is switched off",
    ReasonCode.DID_NOT_FIT: "it did not fit into the last window of its kind",
    ReasonCode.STILL_RUNNING: "an earlier run has not come back",
    ReasonCode.TERMINAL: "it has ended",
    ReasonCode.NOT_PERMITTED: "its id is not permitted",
    ReasonCode.HAD_ITS_RUN: "it had its run in the open cycle",
    ReasonCode.TOO_SOON: "the minimum interval of its kind has not passed",
    ReasonCode.NEXT_CYCLE: "the open cycle began before it could run",
    ReasonCode.INTERRUPTED: "its process ended during its last run; it waits out the backoff",
    ReasonCode.GOVERNOR: "the governor refused its kind a window",
    ReasonCode.STORE_REFUSES: "the store refused the last commit",
    ReasonCode.NO_THREAD: "no thread can be had for a window",
    ReasonCode.HANDLER_STUCK: "its handler has left too many threads behind",
    ReasonCode.DRAINED: "the scheduler is drained",
    ReasonCode.CLOCK: "it waits for a time, and the clock has jumped",
    ReasonCode.PAUSED: "it is paused",
    ReasonCode.GROUP_PAUSED: "its group is paused",
    ReasonCode.GROUP_FULL: "as many runs of its group as may are under way",
    ReasonCode.OUT_OF_QUOTA: "it is an ordinary task, because expedited ones have used their quota",
    ReasonCode.CONDITIONS: "conditions of the host are not satisfied",
    ReasonCode.FLEET_AWAY: "the database of its fleet does not answer, or refuses what is asked",
    ReasonCode.KIND_PAUSED: "its kind is paused, everywhere or in its pool",
    ReasonCode.QUARANTINED: "it, or a task that it waits for, may have ended a process",
    ReasonCode.BACKING_OFF: "it has failed, and waits before it tries again",
    ReasonCode.NO_WINDOW: "no window was open",
    ReasonCode.WINDOW_OPEN: "a window was open, and nothing was taken from it",
    ReasonCode.PREFERRED_OTHERS: "windows preferred others",
    ReasonCode.NO_PROCESS: "no process had the store open",
    ReasonCode.NOT_KNOWN: "not known, the process was away",
    ReasonCode.EARLIER: "too long ago to be kept",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason; `constraints` are those that are missing, `may_change_at` is None if only an event changes it.

    `group` is the name of the group that is paused or full, `conditions` are the host's own that are missing, `handler`
    is the name of the handler that is.
    """

    code: ReasonCode
    constraints: Constraint
    may_change_at_ns: int | None
    group: str | None = None
    conditions: tuple[str, ...] = ()
    handler: str | None = None

    @property
    def may_change_at(self) -> datetime | None:
        """When it may change by time alone."""
        return maybe_instant(self.may_change_at_ns)

    def __str__(self) -> str:
        sentence = SENTENCES[self.code]
        if self.code is ReasonCode.CONSTRAINTS:
            sentence += f": {self.constraints}"
        if self.conditions:
            sentence += f": {', '.join(self.conditions)}"
        if self.group is not None:
            sentence += f": {self.group}"
        if self.handler is not None:
            sentence += f": {self.handler}"
        at = None if self.code is ReasonCode.DID_NOT_FIT else self.may_change_at
        return sentence if at is None else f"{sentence}, until {at.isoformat(sep=' ', timespec='milliseconds')}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Every reason why a task does not run now, with its rank among the eligible of its kind (0: not eligible)."""

    id: str
    state: State
    reasons: tuple[Reason, ...]
    rank: int
    eligible: int
    score: float
    estimate_ns: int
    last_room_ns: int | None
    #: Since the last success or period: failures in a row, and the run in flight.
    attempts: int
    #: None unless the scheduler has the freshness rule.
    pace: Pace | None = None
    #: By what calendar it is due, and its next instant; empty for one without.
    calendar: str = ""
    #: The last instant at which it may begin, while it waits; None: there is none.
    latest_begin_ns: int | None = None
    #: It goes before others, because that is near.
    urgent: bool = False
    #: It goes before others, because it is expedited and something of the quota is left.
    expedited: bool = False
    #: The constraints that it asks for and of which nothing is known, so that they count as satisfied.
    unknown: Constraint = _NONE
    #: Why it failed, if it has, as far as that is known.
    failure: str = ""
    #: How many bytes its last success left, more than are kept; 0: none.
    output_lost: int = 0

    @property
    def latest_begin(self) -> datetime | None:
        """The last instant at which it may begin, while it waits and has one."""
        return maybe_instant(self.latest_begin_ns)

    @property
    def runnable(self) -> bool:
        """Whether nothing but a window is missing.

        Also true of a task that only did not fit into the last one: the next is ranked anew, may be longer, and its
        first run is taken whatever it costs.
        """
        return not self._lasting

    @property
    def may_run_at(self) -> datetime | None:
        """When the last reason that time ends is gone; None if it is runnable now or an event is needed."""
        times = [reason.may_change_at_ns for reason in self._lasting]
        known = [at for at in times if at is not None]
        return maybe_instant(max(known)) if known and len(known) == len(times) else None

    @property
    def _lasting(self) -> list[Reason]:
        """The reasons that a new window does not end: an expedited task out of quota is an ordinary one."""
        return [
            reason for reason in self.reasons if reason.code not in (ReasonCode.DID_NOT_FIT, ReasonCode.OUT_OF_QUOTA)
        ]

    @property
    def estimate(self) -> float:
        """What a run is expected to take, in seconds."""
        return seconds(self.estimate_ns)

    @property
    def last_room(self) -> float | None:
        """Seconds that were left when the last cycle of its kind ended its picking; None before the first."""
        return None if self.last_room_ns is None else seconds(self.last_room_ns)

    def turn(self, now_ns: int | None = None) -> str:
        """What its turn follows from under the freshness rule; with `now_ns` also how long ago it was fresh."""
        pace = self.pace
        if pace is None:
            return ""
        since = pace.fresh_since
        if now_ns is None:
            parts = [f"fresh since {since.isoformat(sep=' ', timespec='seconds')}"]
        else:
            form = "%H:%M" if since.date() == instant(now_ns).date() else "%Y-%m-%d %H:%M"
            parts = [f"fresh since {since.strftime(form)} ({show(max(0, now_ns - pace.fresh_since_ns))})"]
        if pace.runs:
            parts.append(f"takes {show(pace.cost_ns)}, four of five runs at most {show(self.estimate_ns)}")
            parts.append(f"{pace.news} of {pace.runs} runs found something new")
        else:
            parts.append(f"takes {show(pace.cost_ns)}")
        if self.attempts and self.state is not State.RUNNING:
            parts.append(f"{self.attempts} failed in a row")
        parts.append(f"its pace is {pace.per_mille / 1000:.2f} of a normal task's")
        if self.rank:
            parts.append(f"{self.rank}{_ordinal(self.rank)} of {self.eligible}")
        return "; ".join(parts)

    def _told(self, reason: Reason) -> str:
        has_failed = reason.code is ReasonCode.TERMINAL and self.failure
        return f"{reason}: {self.failure}" if has_failed else str(reason)

    def __str__(self) -> str:
        lines = [f"{self.id} is {self.state}, a run takes about {show(self.estimate_ns)}"]
        lines += [f"  - {self._told(reason)}" for reason in self.reasons] or [
            "  - nothing is missing but a window of its kind"
        ]
        if self.calendar:
            lines.append(f"  due by {self.calendar}")
        if any(reason.code is ReasonCode.DID_NOT_FIT for reason in self.reasons) and self.last_room_ns is not None:
            lines.append(f"  that one had {show(self.last_room_ns)} left; the next is ranked anew")
        if self.rank:
            lines.append(f"  rank {self.rank} of {self.eligible}, score {self.score:.3f}")
        if self.latest_begin is not None:
            first = ", so it goes first" if self.urgent else ""
            lines.append(f"  too late after {self.latest_begin.isoformat(sep=' ', timespec='milliseconds')}{first}")
        if self.expedited:
            lines.append("  it is expedited, so it goes first")
        if self.unknown:
            lines.append(f"  not known, so taken as satisfied: {self.unknown}")
        if self.output_lost:
            lines.append(f"  its last success left {self.output_lost} bytes, which are too many and were not kept")
        if self.pace is not None:
            lines.append(f"  {self.turn()}")
        return "\n".join(lines)


def _ordinal(number: int) -> str:
    """What stands behind a number.

    >>> [f"{number}{_ordinal(number)}" for number in (1, 2, 3, 4, 11, 12, 13, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '112th']
    """
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0, "th")


def _codes(raw: ctypes.Structure) -> tuple[int, ...]:
    values: tuple[Any, ...] = layout(_raw.selene_explanation).unpack_from(raw)
    return values[4 : 4 + 3 * values[3] : 3]


def names_group(raw: ctypes.Structure) -> bool:
    """Whether a reason of the library's explanation is about the task's group."""
    return any(code in _OF_GROUP for code in _codes(raw))


def lacks_handler(raw: ctypes.Structure) -> bool:
    """Whether a reason of the library's explanation is that there is no handler."""
    return ReasonCode.NO_HANDLER in _codes(raw)


def names_conditions(raw: ctypes.Structure) -> bool:
    """Whether a reason of the library's explanation is about conditions of the host."""
    return ReasonCode.CONDITIONS in _codes(raw)


_OF_GROUP = (ReasonCode.GROUP_PAUSED, ReasonCode.GROUP_FULL)


def has_failed(raw: ctypes.Structure) -> bool:
    """Whether the library's explanation is of a task that has failed."""
    return bool(layout(_raw.selene_explanation).unpack_from(raw)[2] == State.FAILED)


def explanation(
    key: str,
    raw: ctypes.Structure,
    calendar: str = "",
    group: str | None = None,
    conditions: tuple[str, ...] = (),
    handler: str | None = None,
    failure: str = "",
) -> Explanation:
    """Reads the library's explanation of a task; the rest is what only others know of it."""
    values: tuple[Any, ...] = layout(_raw.selene_explanation).unpack_from(raw)
    _, _, state, count = values[:4]
    flat = values[4 : 4 + 3 * count]
    rank, eligible, score, estimate, last_room = values[-17:-12]
    attempts, urgent, latest_begin, expedited, unknown, output_lost = values[-6:]
    reasons = tuple(
        Reason(
            ReasonCode(flat[i]),
            Constraint(flat[i + 1]),
            never_is_none(flat[i + 2]),
            group if flat[i] in _OF_GROUP else None,
            conditions if flat[i] == ReasonCode.CONDITIONS else (),
            handler if flat[i] == ReasonCode.NO_HANDLER else None,
        )
        for i in range(0, 3 * count, 3)
    )
    return Explanation(
        key,
        State(state),
        reasons,
        rank,
        eligible,
        score,
        estimate,
        None if last_room < 0 else last_room,
        attempts,
        pace_of(values[-12:-6]),
        calendar,
        latest_begin or None,
        bool(urgent),
        bool(expedited),
        Constraint(unknown),
        failure,
        output_lost,
    )
