"""What a report is made of: plain data about tasks, windows and runs, and the sums over them.

Instants are ns since the Unix epoch, durations are ns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Final

OUTCOMES: Final = ("new_data", "no_data", "failed", "abandoned", "expired", "stopped")
FAILURES: Final = frozenset({"failed", "abandoned", "expired"})
"""Outcomes after which the work was not done."""


class Fate(StrEnum):
    """What became of one task in one window."""

    RAN = "r"
    DID_NOT_FIT = "f"
    """It could have run, and what was left of the window was too short for it."""
    CONDITIONS = "c"
    BACKING_OFF = "b"
    HELD = "h"
    """It waits for a free place, or for the task before it."""
    NOT_DUE = "n"
    OTHER_KIND = "k"
    OVER = "o"
    """It has succeeded, failed or been cancelled."""

    @property
    def label(self) -> str:
        """For legends and tables."""
        return _FATE_LABELS[self]

    @property
    def key(self) -> str:
        """For style sheets."""
        return self.name.lower()

    @property
    def is_miss(self) -> bool:
        """Whether the task would have liked to run."""
        return self in (Fate.DID_NOT_FIT, Fate.CONDITIONS, Fate.BACKING_OFF, Fate.HELD)


_FATE_LABELS: Final = {
    Fate.RAN: "ran",
    Fate.DID_NOT_FIT: "did not fit",
    Fate.CONDITIONS: "conditions missing",
    Fate.BACKING_OFF: "backing off",
    Fate.HELD: "held back",
    Fate.NOT_DUE: "not due",
    Fate.OTHER_KIND: "window of another kind",
    Fate.OVER: "over",
}


@dataclass(frozen=True, slots=True)
class Spent:
    """How much of a task's time went to one reason."""

    reason: str
    """As the library calls it, such as ``no_window``."""
    about: str
    """What was missing, or what the governor refused for; empty where that says nothing."""
    duration: int
    times: int
    """How often it began; for the reasons of windows in how many of them."""

    @property
    def label(self) -> str:
        """For legends and tables."""
        name = "over" if self.reason == "terminal" else self.reason.replace("_", " ")
        return f"{name}: {self.about.replace('_', ' ')}" if self.about else name


@dataclass(frozen=True, slots=True)
class Task:
    """A task of the report."""

    id: str
    registered_at: int
    kind: str = "refresh"
    schedule: str = "standing"
    priority: int = 3
    every: int | None = None
    requires: tuple[str, ...] = ()
    changes: tuple[int, ...] | None = None
    """When its source changed, in order; None: that is not known."""
    pace: int | None = None
    """At the end, in thousandths of a normal task's; None: its rule knows none."""
    news: tuple[int, int] = (0, 0)
    """How many of its last outcomes were new data, and how many are known."""
    spent: tuple[Spent, ...] = ()
    """Where its time went, from its registration to the end of the report; empty if that is not known."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a task."""

    task: int
    """Index of the task."""
    window: int
    """Index of the window."""
    started_at: int
    took: int
    outcome: str
    attempt: int = 1
    score: float = 0.0
    estimate: int = 0
    stop: str = "none"

    @property
    def ended_at(self) -> int:
        """When it was decided."""
        return self.started_at + self.took


@dataclass(frozen=True, slots=True)
class Window:
    """One window and what was made of it."""

    began_at: int
    ended_at: int
    budget: int
    reserve: int
    eligible: int
    did_not_fit: int
    fates: str
    """The `Fate` of each task, one letter each; empty if that is not known."""
    kind: str = ""
    """Of a window that a governor granted."""

    @property
    def used(self) -> int:
        """How much of the budget was spent, from the begin to the end of the last run."""
        return min(self.ended_at - self.began_at, self.budget)


@dataclass(frozen=True, slots=True)
class Away:
    """A time in which a condition did not hold."""

    condition: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Track:
    """A signal over time."""

    name: str
    unit: str
    """``‰`` is a share, ``level`` one of 0 to 3, empty: yes or no."""
    points: Sequence[tuple[int, int]]
    """From when on it has which value."""
    texts: Sequence[str]
    """The values for reading."""

    def summary(self, end: int) -> str:
        """The mean, or for how much of the time it was yes; of a level the greatest."""
        if self.unit == "level":
            return max(zip(self.points, self.texts, strict=True), key=lambda point: point[0][1])[1]
        ends = [at for at, _ in self.points[1:]] + [end]
        total = sum(value * (until - at) for (at, value), until in zip(self.points, ends, strict=True))
        span = max(end - self.points[0][0], 1)
        return f"{total / span * (100 if not self.unit else 0.1):.0f} %"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A time in which a kind got no window, for one reason."""

    kind: str
    begin: int
    end: int
    factor: str
    """The factor whose veto stood first, or ``score``."""
    why: str


@dataclass(frozen=True, slots=True)
class Wait:
    """A time between two runs of a task."""

    task: int
    begin: int
    end: int
    open: bool
    """Whether it still lasted when the report ended."""

    @property
    def length(self) -> int:
        """The greatest age in it."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class TaskSum:
    """The sums of one task."""

    runs: int
    outcomes: Counter[str]
    fates: Counter[Fate]
    busy: int
    estimate: int | None
    """Estimate of the last run."""
    interval: int | None
    """Median time from run to run."""
    oldest: int
    """Greatest age."""

    @property
    def failures(self) -> int:
        """Runs after which the work was not done."""
        return sum(self.outcomes[outcome] for outcome in FAILURES)


@dataclass(frozen=True, slots=True)
class DaySum:
    """The sums of one day."""

    begin: int
    windows: int
    budget: int
    used: int
    outcomes: Counter[str]
    fates: Counter[Fate]


@dataclass(frozen=True)
class History:
    """All that a report tells."""

    title: str
    tasks: Sequence[Task]
    windows: Sequence[Window]
    runs: Sequence[Run]
    begin: int
    end: int
    away: Sequence[Away] = ()
    facts: Sequence[str] = ()
    """What else a reader should know, such as the seed."""
    tracks: Sequence[Track] = ()
    refusals: Sequence[Refusal] = ()
    profile: str = ""
    """Of the governor; empty: there was none."""
    rule: str = "selene"
    """Which task goes first: selene, observed or freshness."""

    @cached_property
    def runs_by_task(self) -> list[list[Run]]:
        """The runs of each task in order."""
        result: list[list[Run]] = [[] for _ in self.tasks]
        for run in sorted(self.runs, key=lambda run: run.started_at):
            result[run.task].append(run)
        return result

    @cached_property
    def outcomes(self) -> Counter[str]:
        """How often each outcome came."""
        return Counter(run.outcome for run in self.runs)

    @cached_property
    def fates(self) -> list[Counter[Fate]]:
        """What became of the tasks in each window."""
        return [
            Counter({Fate(letter): count for letter, count in Counter(window.fates).items()}) for window in self.windows
        ]

    @cached_property
    def spent(self) -> list[Spent]:
        """Where the time of all tasks went, what took most of it first; without what took next to nothing."""
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for task in self.tasks:
            for part in task.spent:
                duration, times = found.get((part.reason, part.about), (0, 0))
                found[part.reason, part.about] = (duration + part.duration, times + part.times)
        sums = [Spent(reason, about, duration, times) for (reason, about), (duration, times) in found.items()]
        sums = [part for part in sums if part.duration >= 1_000_000]
        return sorted(sums, key=lambda part: (-part.duration, part.reason, part.about))

    @property
    def kinds(self) -> list[str]:
        """The kinds of which the governor granted or refused windows."""
        found = {window.kind for window in self.windows} | {refusal.kind for refusal in self.refusals}
        return sorted(found - {""}, reverse=True)

    @property
    def budget(self) -> int:
        """Of all windows."""
        return sum(window.budget for window in self.windows)

    @property
    def used(self) -> int:
        """Of all windows."""
        return sum(window.used for window in self.windows)

    def resets(self, task: int) -> Iterator[int]:
        """When a task's age became 0: its registration, and each run that was not taken from it."""
        yield max(self.tasks[task].registered_at, self.begin)
        for run in self.runs_by_task[task]:
            if run.outcome != "stopped":
                yield run.ended_at

    def over_at(self, task: int) -> int:
        """When a task stopped to age: the end of the report, or of the task."""
        for index, window in enumerate(self.windows):
            if window.fates and window.fates[task] == Fate.OVER:
                before = [run for run in self.runs_by_task[task] if run.window < index]
                return before[-1].ended_at if before else window.began_at
        return self.end

    @cached_property
    def waits(self) -> list[list[Wait]]:
        """The times between the runs of each task, in order."""
        result = []
        for task in range(len(self.tasks)):
            end = self.over_at(task)
            marks = [mark for mark in self.resets(task) if mark <= end]
            waits = [Wait(task, a, b, False) for a, b in pairwise(marks)]
            if marks and marks[-1] < end:
                waits.append(Wait(task, marks[-1], end, True))
            result.append(waits)
        return result

    @cached_property
    def task_sums(self) -> list[TaskSum]:
        """The sums of each task."""
        result = []
        for index, runs in enumerate(self.runs_by_task):
            waits = self.waits[index]
            starts = [run.started_at for run in runs]
            result.append(
                TaskSum(
                    runs=len(runs),
                    outcomes=Counter(run.outcome for run in runs),
                    fates=Counter(Fate(window.fates[index]) for window in self.windows if window.fates),
                    busy=sum(run.took for run in runs),
                    estimate=runs[-1].estimate if runs else None,
                    interval=round(median(b - a for a, b in pairwise(starts))) if len(starts) > 1 else None,
                    oldest=max((wait.length for wait in waits), default=0),
                )
            )
        return result

    def day_sums(self, day: int = 86_400_000_000_000) -> list[DaySum]:
        """The sums of each day that has a window."""
        result = []
        runs: dict[int, Counter[str]] = {}
        for run in self.runs:
            runs.setdefault(run.window, Counter())[run.outcome] += 1
        indices: dict[int, list[int]] = {}
        for index, window in enumerate(self.windows):
            indices.setdefault(window.began_at // day, []).append(index)
        for number, members in sorted(indices.items()):
            outcomes: Counter[str] = Counter()
            fates: Counter[Fate] = Counter()
            for index in members:
                outcomes.update(runs.get(index, ()))
                fates.update(self.fates[index])
            windows = [self.windows[index] for index in members]
            result.append(
                DaySum(
                    number * day,
                    len(windows),
                    sum(window.budget for window in windows),
                    sum(window.used for window in windows),
                    outcomes,
                    fates,
                )
            )
        return result

    def refused(self, wait: Wait) -> Counter[str]:
        """For how long the governor refused windows to a task's kind in a time, by factor."""
        kind = self.tasks[wait.task].kind
        found: Counter[str] = Counter()
        for refusal in self.refusals:
            length = min(refusal.end, wait.end) - max(refusal.begin, wait.begin)
            if refusal.kind == kind and length > 0:
                found[refusal.factor] += length
        return found

    def why(self, wait: Wait) -> Counter[Fate]:
        """What kept a task from running in a time, in numbers of windows."""
        return Counter(
            Fate(window.fates[wait.task])
            for window in self.windows
            if window.fates and wait.begin <= window.began_at < wait.end
        )
