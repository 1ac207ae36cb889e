"""Reports of what cycles did, and plans of what they would do."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _raw
from ._failure import words_of
from ._library import fast, read, read_array, text
from ._pace import Pace, pace_of
from ._run import Abandon, Kind, Outcome, Priority, Retry, StopReason
from ._terms import kinds_of
from ._time import instant, seconds, show


class ReportRun(NamedTuple):
    """One run of a report.

    `exception` is what its handler raised, with its traceback; `pace` what its turn followed from under the freshness
    rule, as it was picked.
    """

    id: str
    run: int
    outcome: Outcome
    stop_reason: StopReason
    attempt: int
    priority: Priority
    score: float
    estimate_ns: int
    started_at_ns: int
    response_time_ns: int
    exception: BaseException | None
    pace: Pace | None = None

    @property
    def estimate(self) -> float:
        """What it was expected to take, in seconds."""
        return seconds(self.estimate_ns)

    @property
    def started_at(self) -> datetime:
        """When it was dispatched."""
        return instant(self.started_at_ns)

    @property
    def response_time(self) -> float:
        """Seconds from its dispatch to its end."""
        return seconds(self.response_time_ns)


class _Taken:
    """A report that was taken over from the library, until its rows are read; ended with this object."""

    __slots__ = ("_exceptions", "_raw")
    # Kept here, as a module may be empty when the interpreter goes. weakref.finalize() takes as long as reading a row.
    _free = fast.selene_free

    def __init__(self, address: int, exceptions: Mapping[int, BaseException]) -> None:
        self._raw = ctypes.cast(address, ctypes.POINTER(_raw.selene_report))
        # A copy, as a handler that overran may add to them.
        self._exceptions = dict(exceptions)

    def rows(self) -> tuple[ReportRun, ...]:
        return _read_rows(ctypes.addressof(self._raw.contents), self._exceptions)

    def __del__(self) -> None:
        self._free(self._raw)


class _ReadLater:
    """What lets a report make its rows when they are first asked for, as most are not."""

    __slots__ = ("_taken",)

    def _read_later(self, taken: _Taken) -> None:
        object.__setattr__(self, "_taken", taken)
        object.__delattr__(self, "runs")

    if not TYPE_CHECKING:  # for which any name would be an attribute

        def __getattr__(self, name):
            """Called for what is not set."""
            if name != "runs":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            taken = self._taken
            if taken is not None:  # else another thread has just read them
                object.__setattr__(self, "runs", taken.rows())
                object.__setattr__(self, "_taken", None)
            return self.runs


@dataclass(frozen=True, slots=True)
class Report(_ReadLater):
    """What a cycle did; `print(report)` shows a table. Instants and durations also exist exactly, as `…_ns`."""

    cycle: int
    result: Outcome
    kinds: frozenset[Kind]
    began_at_ns: int
    ended_at_ns: int
    deadline_ns: int
    budget_ns: int
    reserve_ns: int
    eligible: int
    did_not_fit: int
    new_data: int
    no_data: int
    failed: int
    abandoned: int
    expired: int
    stopped: int
    stored: bool
    runs: tuple[ReportRun, ...]

    @property
    def began_at(self) -> datetime:
        """When the window was opened."""
        return instant(self.began_at_ns)

    @property
    def ended_at(self) -> datetime:
        """When the cycle ended."""
        return instant(self.ended_at_ns)

    @property
    def deadline(self) -> datetime:
        """When it was to end at the latest; in the year 2262 where nobody decided that."""
        return instant(self.deadline_ns)

    @property
    def budget(self) -> float:
        """Seconds from begin to deadline; where there is none, how long it picked."""
        return seconds(self.budget_ns)

    @property
    def reserve(self) -> float:
        """Seconds kept free at the end."""
        return seconds(self.reserve_ns)

    @property
    def took(self) -> float:
        """Seconds from begin to end."""
        return seconds(self.ended_at_ns - self.began_at_ns)

    @property
    def errors(self) -> tuple[BaseException, ...]:
        """What handlers raised, in order of dispatch; Retry and Abandon are answers and not among them."""
        found = (run.exception for run in self.runs)
        return tuple(error for error in found if error is not None and not isinstance(error, (Retry, Abandon)))

    def check(self) -> None:
        """Raises an ExceptionGroup of what handlers raised, if they did."""
        if self.errors:
            raise BaseExceptionGroup(f"{len(self.errors)} of {len(self.runs)} runs raised", self.errors)

    def __str__(self) -> str:
        kinds = ", ".join(str(kind) for kind in sorted(self.kinds)) or "one task's"
        head = (
            f"{kinds} window of {show(self.budget_ns)}: {len(self.runs)} of {self.eligible} eligible ran in "
            f"{show(self.ended_at_ns - self.began_at_ns)}, {self.did_not_fit} did not fit"
        )
        rows = [
            (
                run.id,
                str(run.outcome) + (f" ({run.stop_reason})" if run.stop_reason else ""),
                show(run.started_at_ns - self.began_at_ns),
                show(run.response_time_ns),
                show(run.estimate_ns),
                f"{run.score:.3f}",
                *(run.pace.words if run.pace else ()),
                str(run.attempt),
                ""
                if run.exception is None
                else f"{type(run.exception).__name__}: {words_of(run.exception)}".splitlines()[0],
            )
            for run in self.runs
        ]
        paced = ("pace", "news") if any(run.pace for run in self.runs) else ()
        names = ("task", "outcome", "start", "took", "estimate", "score", *paced, "attempt", "")
        return "\n".join([head, *table(names, rows)])


@dataclass(frozen=True, slots=True)
class PlanRun:
    """One task of a plan; `starts_at` is when it would start if every run took its estimate."""

    id: str
    score: float
    estimate_ns: int
    starts_at_ns: int

    @property
    def estimate(self) -> float:
        """What it is expected to take, in seconds."""
        return seconds(self.estimate_ns)

    @property
    def starts_at(self) -> datetime:
        """When it would start."""
        return instant(self.starts_at_ns)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a window would pick now, in order."""

    eligible: int
    runs: tuple[PlanRun, ...]

    def __str__(self) -> str:
        head = f"{len(self.runs)} of {self.eligible} eligible would run"
        first = self.runs[0].starts_at_ns if self.runs else 0
        rows = [
            (run.id, f"{run.score:.3f}", show(run.estimate_ns), show(run.starts_at_ns - first)) for run in self.runs
        ]
        return "\n".join([head, *table(("task", "score", "estimate", "start"), rows)])


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Lines of a table, the columns as wide as they need to be."""
    if not rows:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    return [
        ("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
        for row in (head, *rows)
    ]


def take_report(address: int, exceptions: Mapping[int, BaseException]) -> Report:
    """Takes a report over from the library."""
    taken = _Taken(address, exceptions)
    report = _read_report(address, ())
    report._read_later(taken)
    return report


def read_report(address: int, exceptions: Mapping[int, BaseException]) -> Report:
    """Reads a report that stays the library's."""
    return _read_report(address, _read_rows(address, exceptions))


def _read_report(address: int, rows: tuple[ReportRun, ...]) -> Report:
    # fmt: off
    (_, flags, cycle, result, kinds, began_at, ended_at, deadline, budget, reserve, eligible, did_not_fit, new_data,
     no_data, failed, abandoned, expired, stopped, *_) = read(_raw.selene_report, address)
    # fmt: on
    return Report(
        cycle=cycle,
        result=Outcome(result),
        kinds=kinds_of(kinds),
        began_at_ns=began_at,
        ended_at_ns=ended_at,
        deadline_ns=deadline,
        budget_ns=budget,
        reserve_ns=reserve,
        eligible=eligible,
        did_not_fit=did_not_fit,
        new_data=new_data,
        no_data=no_data,
        failed=failed,
        abandoned=abandoned,
        expired=expired,
        stopped=stopped,
        stored=not flags & _raw.SELENE_REPORT_NOT_STORED,
        runs=rows,
    )


# By number; making an enumeration's member from its number is slow.
_OUTCOMES = tuple(Outcome)
_STOPS = tuple(StopReason)
_PRIORITIES = (Priority.VERY_LOW, *Priority)


def _read_rows(report: int, exceptions: Mapping[int, BaseException]) -> tuple[ReportRun, ...]:
    *_, count, address, told = read(_raw.selene_report, report)
    rows = read_array(_raw.selene_report_run, address, count)
    if not rows:
        return ()
    # Each row begins with the pointer to its id, and consists of whole words.
    words = ctypes.sizeof(_raw.selene_report_run) // ctypes.sizeof(ctypes.c_char_p)
    ids: Any = (ctypes.c_char_p * (count * words)).from_address(address)
    make = ReportRun._make
    paces = map(pace_of, read_array(_raw.selene_pace, told, count)) if told else repeat(None, count)
    return tuple([
        make((
            ids[place].decode(), run, _OUTCOMES[outcome], _STOPS[stop], attempt, _PRIORITIES[priority], score, estimate,
            started_at, response_time, exceptions.get(run) if exceptions else None, pace,
        ))
        for place, pace, (_, _, run, outcome, stop, attempt, priority, score, estimate, started_at, response_time)
        in zip(range(0, count * words, words), paces, rows, strict=True)
    ])  # fmt: skip


def take_plan(address: int) -> Plan:
    """Reads a plan of the library and ends it."""
    try:
        _, _, eligible, count, runs = read(_raw.selene_plan, address)
        return Plan(
            eligible,
            tuple(
                PlanRun(text(data, length), score, estimate, starts_at)
                for data, length, score, estimate, starts_at in read_array(_raw.selene_plan_run, runs, count)
            ),
        )
    finally:
        fast.selene_free(address)
