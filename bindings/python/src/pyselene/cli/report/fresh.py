"""How fresh a simulation kept its host: how old what it holds is, and how late its news.

A task holds what its source had when its last run that succeeded began.  Of a source whose changes are known, that is
outdated from the first change after it; news is late by the time since then.  Means are over time, and weigh a task by
its priority.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from .model import History

STEPS: Final = 84
"""Parts of a simulation of which it is told how much of each was outdated: two hours of a week."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """The figures; durations are ns."""

    age: float
    """Mean age of what is held."""
    oldest: int
    """Greatest age of what is held."""
    outdated: float | None
    """Share of the time in which it was outdated; None: no changes are known."""
    lateness: float | None
    """How late news is, on average over all time; None: no changes are known."""
    course: tuple[float, ...] = ()
    """Share that was outdated of each of `STEPS` equal parts of the time; empty: no changes are known."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a simulation under one rule."""

    rule: str
    fresh: Fresh
    runs: int
    windows: int
    windows_cut: int
    """Those with a run that the end of its window cut off."""
    used: int
    budget: int

    @property
    def cut(self) -> float:
        """Share of the windows that had a run cut off."""
        return self.windows_cut / max(self.windows, 1)

    @property
    def part_used(self) -> float:
        """Share of the budget that was used."""
        return self.used / max(self.budget, 1)


_Span = tuple[int, int, int]
"""A priority, from when and until when."""


def _total(spans: Iterable[_Span]) -> int:
    return sum(priority * (until - since) for priority, since, until in spans)


def _parts(spans: Iterable[_Span], begin: int, end: int) -> list[int]:
    """What falls into each of `STEPS` equal parts of a time."""
    found = [0] * STEPS
    edges = [begin + (end - begin) * step // STEPS for step in range(STEPS + 1)]
    for priority, since, until in spans:
        step = bisect_right(edges, since) - 1
        while step < STEPS and edges[step] < until:
            found[step] += priority * (min(until, edges[step + 1]) - max(since, edges[step]))
            step += 1
    return found


@dataclass(slots=True)
class _Sum:
    """Integrals over time, weighted: of all tasks, and below `oldest` of those whose changes are known."""

    time: int = 0
    age: int = 0
    oldest: int = 0
    lateness: int = 0
    known: list[_Span] = field(default_factory=list)
    outdated: list[_Span] = field(default_factory=list)

    def held(self, priority: int, fetched: int, since: int, until: int, changes: tuple[int, ...] | None) -> None:
        """A task held what its source had at an instant from a second one until a third."""
        first, last = since - fetched, until - fetched
        self.time += priority * (last - first)
        self.age += priority * (last**2 - first**2)
        self.oldest = max(self.oldest, last)
        if changes is None:
            return
        self.known.append((priority, since, until))
        index = bisect_right(changes, fetched)
        if index < len(changes) and changes[index] < until:
            first, last = max(changes[index], since) - changes[index], until - changes[index]
            self.outdated.append((priority, max(changes[index], since), until))
            self.lateness += priority * (last**2 - first**2)


def fresh(history: History) -> Fresh:
    """The figures of all standing and periodic tasks."""
    found = _Sum()
    for index, task in enumerate(history.tasks):
        if task.schedule == "once":
            continue
        end = history.over_at(index)
        fetched = since = max(task.registered_at, history.begin)
        for run in history.runs_by_task[index]:
            if run.outcome in ("new_data", "no_data"):
                found.held(task.priority, fetched, since, run.ended_at, task.changes)
                fetched, since = run.started_at, run.ended_at
        found.held(task.priority, fetched, since, max(since, end), task.changes)
    age, known = found.age / 2 / max(found.time, 1), _total(found.known)
    if not known:
        return Fresh(age, found.oldest, None, None)
    wholes = _parts(found.known, history.begin, history.end)
    parts = _parts(found.outdated, history.begin, history.end)
    return Fresh(
        age,
        found.oldest,
        _total(found.outdated) / known,
        found.lateness / 2 / known,
        tuple(part / max(whole, 1) for part, whole in zip(parts, wholes, strict=True)),
    )


def result(history: History) -> Result:
    """What came of a simulation."""
    cut = {run.window for run in history.runs if run.outcome == "expired"}
    return Result(
        history.rule,
        fresh(history),
        len(history.runs),
        len(history.windows),
        len(cut),
        history.used,
        history.budget,
    )
