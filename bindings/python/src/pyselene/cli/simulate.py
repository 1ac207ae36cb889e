"""Plays a workload on a virtual clock: the real scheduler, made-up work.

Each task has a random generator of its own, so that what one task does is not changed by another.
"""

from __future__ import annotations

import heapq
import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from statistics import NormalDist
from typing import Final

from .. import (
    Constraint,
    Cycle,
    NotFound,
    Outcome,
    Pace,
    Report,
    ReportRun,
    Run,
    Scheduler,
    StaleRun,
    State,
    TaskInfo,
    Wait,
)
from .._run import is_over
from ..testing import VirtualClock
from . import wire
from .duration import DAY, show
from .report import model
from .report.axis import instant
from .spent import Spending
from .workload import CONSTRAINTS, Behaviour, Outage, TaskSpec, Workload

_NORMAL: Final = NormalDist()
NEVER: Final = 1 << 63
#: Runs tell their progress no oftener than that, ns.
_LEAST_STEP: Final = 100_000_000


@dataclass(frozen=True, slots=True)
class Draw:
    """What one made-up run does."""

    takes: int | None
    """ns; None: it never ends by itself."""
    outcome: Outcome


class Source:
    """What a task fetches: it changes at random, so often in the mean, whoever looks.

    Args:
        gap: from one change to the next, ns.
        seed: of all sources.
        id: of the task.
        begin: ns since the Unix epoch.
    """

    def __init__(self, gap: int, seed: int, id: str, begin: int) -> None:
        self._random = random.Random(f"{seed}/{id}/changes")
        self._gap = gap
        self._at = float(begin)
        self._changes: list[int] = []

    def first_change(self, after: int) -> int:
        """The first change after an instant."""
        while not self._changes or self._changes[-1] <= after:
            self._at += self._random.expovariate(1) * self._gap
            self._changes.append(round(self._at))
        return self._changes[bisect_right(self._changes, after)]

    def changes(self, end: int) -> tuple[int, ...]:
        """All changes before an instant."""
        self.first_change(end)
        return tuple(self._changes[: bisect_left(self._changes, end)])


class Actor:
    """Draws the runs of one task."""

    def __init__(self, behaviour: Behaviour, seed: int, id: str, begin: int = 0) -> None:
        self._random = random.Random(f"{seed}/{id}")
        self._behaviour = behaviour
        self.source = None if behaviour.changes is None else Source(behaviour.changes, seed, id, begin)
        self._fetched = begin
        # A log-normal distribution of this mean and this relative deviation.
        variance = math.log1p(behaviour.jitter**2)
        self._sigma = math.sqrt(variance)
        self._shift = -variance / 2

    def draw(self, at: int = 0) -> Draw:
        """The next run, which begins now.

        Always takes two numbers, so that a change of one property leaves the others alone.
        """
        luck, place = self._random.random(), self._random.random()
        behaviour = self._behaviour
        factor = 1.0
        if self._sigma:
            factor = math.exp(self._shift + self._sigma * _NORMAL.inv_cdf(min(max(place, 1e-12), 1 - 1e-12)))
        takes = max(1, round(behaviour.response * factor))
        for chance, draw in (
            (behaviour.failure, Draw(takes, Outcome.FAILED)),
            (behaviour.abandon, Draw(takes, Outcome.ABANDONED)),
            (behaviour.hang, Draw(None, Outcome.FAILED)),
        ):
            if luck < chance:
                return draw
            luck -= chance
        if self.source is not None:
            return Draw(takes, Outcome.NEW_DATA if self.source.first_change(self._fetched) <= at else Outcome.NO_DATA)
        succeeds = 1 - behaviour.failure - behaviour.abandon - behaviour.hang
        return Draw(takes, Outcome.NO_DATA if luck < behaviour.no_data * succeeds else Outcome.NEW_DATA)

    def fetched(self, at: int) -> None:
        """A run that began then has succeeded."""
        self._fetched = at


def aways(outages: Sequence[Outage], begin: int, end: int, offset: int = 0) -> list[model.Away]:
    """When conditions do not hold, in order; what overlaps is one.

    Args:
        outages: the daily ones.
        begin: ns since the Unix epoch.
        end: ns since the Unix epoch.
        offset: of the time zone in which the days are meant, ns.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    for outage in outages:
        for day in range((begin + offset) // DAY - 1, (end + offset) // DAY + 1):
            # The epoch began on a Thursday.
            if (day + 3) % 7 in outage.days:
                length = (outage.end - outage.begin - 1) % DAY + 1
                first = day * DAY + outage.begin - offset
                if first < end and first + length > begin:
                    found.setdefault(outage.condition, []).append((max(first, begin), min(first + length, end)))
    result = []
    for condition, times in found.items():
        merged: list[tuple[int, int]] = []
        for first, last in sorted(times):
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        result += [model.Away(condition, first, last) for first, last in merged]
    return sorted(result, key=lambda away: (away.begin, away.condition))


class Weather:
    """Tells which conditions hold, and when that changes."""

    def __init__(self, away: Sequence[model.Away]) -> None:
        self._away = away
        self._edges = sorted({edge for part in away for edge in (part.begin, part.end)})

    def missing(self, at: int) -> frozenset[str]:
        """The conditions that do not hold."""
        return frozenset(part.condition for part in self._away if part.begin <= at < part.end)

    def next_edge(self, at: int) -> int:
        """The next change after an instant."""
        index = bisect_right(self._edges, at)
        return self._edges[index] if index < len(self._edges) else NEVER


@dataclass(frozen=True, slots=True)
class Lack:
    """What tasks may ask for and is missing."""

    constraints: Constraint = field(default_factory=lambda: Constraint(0))
    names: frozenset[str] = frozenset()
    """Conditions of the host."""

    @classmethod
    def of(cls, scheduler: Scheduler) -> Lack:
        """What is missing now."""
        found = scheduler.conditions()
        constraints = [name for name in CONSTRAINTS if Constraint.of(name) not in found.satisfied]
        return cls(Constraint.of(constraints), frozenset(name for name, holds in found.named.items() if not holds))

    def has(self, name: str) -> bool:
        """Whether a constraint or a condition of this name is missing."""
        return Constraint.of(name) in self.constraints if name in CONSTRAINTS else name in self.names


class Simulation:
    """One simulation; `run` makes the history of it."""

    def __init__(
        self,
        workload: Workload,
        window: wire.Window,
        limits: wire.Limits,
        days: float,
    ) -> None:
        self.workload = workload
        self.window = window
        self.seed = limits.seed
        self.begin = _ns(workload.start)
        self.end = self.begin + round(days * DAY)
        offset = workload.start.utcoffset()
        self.away = aways(
            workload.outages, self.begin, self.end, round(offset.total_seconds()) * 10**9 if offset else 0
        )
        self._weather = Weather(self.away)
        self._missing: frozenset[str] = frozenset()
        self._lack = Lack()
        # A seed of 0 would make the library take one from the clock.
        self._limits = replace(limits, seed=limits.seed or 1)
        self._clock = VirtualClock(workload.start)
        self._actors = {task.id: Actor(task.behaviour, limits.seed, task.id, self.begin) for task in workload.tasks}
        self._index = {task.id: index for index, task in enumerate(workload.tasks)}
        self._flights: list[tuple[int, int, Run, Outcome]] = []
        #: When a run tells its progress next, when it ends, and in which steps it tells it.
        self._tellers: list[tuple[int, int, Run, int, int]] = []
        self._number = count()
        self._paces: list[Pace | None] = [None] * len(workload.tasks)
        self._spending = [Spending(task.id, self.begin) for task in workload.tasks]
        self._spent: list[tuple[model.Spent, ...]] = [()] * len(workload.tasks)
        self._looked_at = self.begin

    def run(self) -> model.History:
        """Plays all windows."""
        with wire.open_scheduler(None, self._limits, self._clock) as scheduler:
            for name in self.workload.conditions:
                scheduler.define_condition(name)
            self._miss(scheduler, frozenset())
            wire.register(scheduler, self.workload, None, self.workload.start.tzinfo)
            standings = [self._standing(scheduler, task) for task in self.workload.tasks]
            windows: list[model.Window] = []
            runs: list[model.Run] = []
            for begin in self._begins():
                self._set_clock(scheduler, begin)
                self._look_at_waits(scheduler)
                self._look_at_standings(scheduler, standings)
                lack = self._lack
                report = self._cycle(scheduler)
                windows.append(self._window(report, standings, lack))
                for run in report.runs:
                    index = self._index[run.id]
                    runs.append(model_run(run, index, len(windows) - 1))
                    standings[index] = self._standing(scheduler, self.workload.tasks[index])
            self._set_clock(scheduler, self.end)
            self._look_at_the_end(scheduler)
            self._look_at_paces(scheduler)
        return self.history(windows, runs)

    def _look_at_waits(self, scheduler: Scheduler) -> None:
        """Twice a day: a task that ends without a run is forgotten a day later."""
        if self._clock.now_ns - self._looked_at >= DAY // 2:
            self._looked_at = self._clock.now_ns
            for spending in self._spending:
                spending.look(scheduler)

    def _look_at_the_end(self, scheduler: Scheduler) -> None:
        """Where the time went."""
        for spending in self._spending:
            spending.look(scheduler)
        self._spent = [spending.tell(self.end) for spending in self._spending]

    def _look_at_paces(self, scheduler: Scheduler) -> None:
        """Under the freshness rule: what has been learnt of the tasks."""
        for index, task in enumerate(self.workload.tasks):
            with suppress(NotFound):  # ended, and forgotten
                self._paces[index] = scheduler.explain(task.id).pace

    def history(self, windows: Sequence[model.Window], runs: Sequence[model.Run]) -> model.History:
        """All that was played."""
        return model.History(
            f"Simulation of {Path(self.workload.path).name}",
            [
                self._task(task, pace, spent)
                for task, pace, spent in zip(self.workload.tasks, self._paces, self._spent, strict=True)
            ],
            windows,
            runs,
            self.begin,
            self.end,
            self.away,
            self._facts(len(windows)),
            rule=self._limits.rule,
        )

    def _task(self, task: TaskSpec, pace: Pace | None, spent: tuple[model.Spent, ...]) -> model.Task:
        source = self._actors[task.id].source
        return model.Task(
            task.id,
            self.begin,
            task.kind,
            task.schedule,
            task.priority,
            task.every,
            (*task.requires, *task.conditions),
            None if source is None else source.changes(self.end),
            None if pace is None else pace.per_mille,
            (0, 0) if pace is None else (pace.news, pace.runs),
            spent,
        )

    def _standing(self, scheduler: Scheduler, task: TaskSpec) -> _Standing:
        record = None
        with suppress(NotFound):
            record = scheduler.get(task.id)
        return _Standing(record, task, self.window.kinds)

    def _look_at_standings(self, scheduler: Scheduler, standings: list[_Standing]) -> None:
        """Of tasks that change without a run of their own: they get a place, start after others, are too late."""
        limits = self._limits
        has_limits = limits.max_pending_refresh is not None or limits.max_pending_processing is not None
        for index, task in enumerate(self.workload.tasks):
            if has_limits or task.after or task.latest_begin:
                standings[index] = self._standing(scheduler, task)

    def _facts(self, windows: int) -> list[str]:
        lanes = f", {self.window.lanes} lanes" if self.window.lanes > 1 else ""
        return [
            f"{windows} windows of {show(self.window.budget)}, one every {show(self.window.every)}{lanes}",
            f"seed {self.seed}",
            *self._rule_facts(),
        ]

    def _rule_facts(self) -> list[str]:
        return [] if self._limits.rule == wire.RULES[0] else [f"rule {self._limits.rule}"]

    def _begins(self) -> Iterator[int]:
        """When windows open; never before the one before is over."""
        at = self.begin
        while at + self.window.budget <= self.end:
            yield at
            at += max(self.window.every, self.window.budget)

    def _set_clock(self, scheduler: Scheduler, at: int) -> None:
        if at > self._clock.now_ns:
            self._clock.advance_ns(at - self._clock.now_ns)
        missing = self._weather.missing(at)
        if missing != self._missing:
            self._miss(scheduler, missing)
            self._land_what_was_stopped(scheduler)

    def _miss(self, scheduler: Scheduler, missing: frozenset[str]) -> None:
        """Lets these conditions be missing, and no others."""
        self._missing = missing
        scheduler.set_conditions(**{name: name not in missing for name in CONSTRAINTS})
        for name in self.workload.conditions:
            scheduler.set_condition(name, name not in missing)
        self._lack = Lack.of(scheduler)

    def _land_what_was_stopped(self, scheduler: Scheduler) -> None:
        """It comes back at once."""
        for flight in [flight for flight in self._flights if is_over(flight[2].stopping.reason)]:
            self._flights.remove(flight)
            self._back(scheduler, flight[2], flight[3])
        heapq.heapify(self._flights)

    def _cycle(self, scheduler: Scheduler) -> Report:
        window = self.window
        cycle = scheduler.begin(
            window.budget / 1e9,
            kinds=window.wanted,
            reserve=None if window.reserve is None else window.reserve / 1e9,
            lanes=window.lanes,
            strict_fit=window.strict_fit,
            # The report compares each window with the tasks that were eligible at its begin.
            frozen=True,
        )
        self._play(scheduler, cycle)
        report = cycle.end()
        while self._flights:
            _, _, run, outcome = heapq.heappop(self._flights)
            self._back(scheduler, run, outcome)
        return report

    def _back(self, scheduler: Scheduler, run: Run, outcome: Outcome) -> None:
        """A run comes back, in time or not."""
        # One that was stopped or expired has come back by this, too.
        with suppress(StaleRun):
            run.complete(outcome)
            if outcome in (Outcome.NEW_DATA, Outcome.NO_DATA):
                self._actors[run.id].fetched(run.started_at_ns)
        # It may have been over before: it took too long.
        self._spending[self._index[run.id]].ran(scheduler.get(run.id).last_run_ns)

    def _play(self, scheduler: Scheduler, cycle: Cycle) -> None:
        while (step := cycle.next()) is not None:
            if isinstance(step, Run):
                self._start(scheduler, step)
                continue
            self._wait(scheduler, step)

    def _start(self, scheduler: Scheduler, run: Run) -> None:
        """A run begins. If its task has a stall limit it tells its progress in time, unless it hangs."""
        index = self._index[run.id]
        self._spending[index].look(scheduler)
        draw = self._actors[run.id].draw(run.started_at_ns)
        ends = NEVER if draw.takes is None else run.started_at_ns + draw.takes
        heapq.heappush(self._flights, (ends, next(self._number), run, draw.outcome))
        limit = self.workload.tasks[index].stall_limit
        if draw.takes is not None and 0 < limit <= draw.takes:
            step = max(limit // 2, _LEAST_STEP)
            heapq.heappush(self._tellers, (run.started_at_ns + step, next(self._number), run, ends, step))

    def _tell_progress(self, now: int) -> None:
        while self._tellers and self._tellers[0][0] <= now:
            at, _, run, ends, step = heapq.heappop(self._tellers)
            run.progress(at - run.started_at_ns, of=ends - run.started_at_ns)
            if at + step < ends and not is_over(run.stopping.reason):
                heapq.heappush(self._tellers, (at + step, next(self._number), run, ends, step))

    def _wait(self, scheduler: Scheduler, step: Wait) -> None:
        """Lets time pass to what happens first: a run's end or progress, a change of conditions, an expiry."""
        now = self._clock.now_ns
        ends = self._flights[0][0] if self._flights else NEVER
        tells = self._tellers[0][0] if self._tellers else NEVER
        at = min(ends, tells, self._weather.next_edge(now), step.wake_at_ns)
        self._set_clock(scheduler, max(at, now))
        self._tell_progress(self._clock.now_ns)
        while self._flights and self._flights[0][0] <= at:
            _, _, run, outcome = heapq.heappop(self._flights)
            self._back(scheduler, run, outcome)

    def _window(self, report: Report, standings: Sequence[_Standing], lack: Lack) -> model.Window:
        ran = {self._index[run.id] for run in report.runs}
        begin = report.began_at_ns
        fates = [
            model.Fate.RAN if index in ran else standing.fate(begin, lack) for index, standing in enumerate(standings)
        ]
        return model.Window(
            begin,
            report.ended_at_ns,
            report.budget_ns,
            report.reserve_ns,
            report.eligible,
            fates.count(model.Fate.DID_NOT_FIT),
            "".join(fates),
        )


class _Standing:
    """Where a task stands after its last run: enough to tell why it does not run in a window."""

    __slots__ = ("_always", "_conditions", "_earliest", "_later", "_requires")

    def __init__(self, record: TaskInfo | None, task: TaskSpec, kinds: Sequence[str]) -> None:
        self._always = None
        if record is None:
            # It has ended, so long ago that it is forgotten.
            self._always = model.Fate.OVER
            return
        if record.state.terminal:
            self._always = model.Fate.OVER
        elif str(record.kind) not in kinds:
            self._always = model.Fate.OTHER_KIND
        elif record.state is not State.ENQUEUED:
            self._always = model.Fate.HELD
        self._earliest = record.earliest_begin_ns
        self._later = model.Fate.BACKING_OFF if record.attempts else model.Fate.NOT_DUE
        self._requires = Constraint.of(task.requires)
        self._conditions = frozenset(task.conditions)

    def fate(self, begin: int, lack: Lack) -> model.Fate:
        """Why it did not run in a window: what the engine's own explanation says, without asking it each time."""
        if self._always is not None:
            return self._always
        if self._earliest > begin:
            return self._later
        is_missing = self._requires & lack.constraints or self._conditions & lack.names
        return model.Fate.CONDITIONS if is_missing else model.Fate.DID_NOT_FIT


def summary(history: model.History) -> dict[str, object]:
    """A history as JSON can hold it: sums, no single runs."""
    return {
        "title": history.title,
        "begin": instant_text(history.begin),
        "end": instant_text(history.end),
        "windows": len(history.windows),
        "runs": len(history.runs),
        "budget": history.budget / 1e9,
        "used": history.used / 1e9,
        "outcomes": {name: history.outcomes[name] for name in model.OUTCOMES},
        "fates": {fate.key: sum(found[fate] for found in history.fates) for fate in model.Fate},
        "tasks": [
            {
                "id": task.id,
                "runs": total.runs,
                "outcomes": {name: total.outcomes[name] for name in model.OUTCOMES},
                "fates": {fate.key: total.fates[fate] for fate in model.Fate},
                "busy": total.busy / 1e9,
                "interval": None if total.interval is None else total.interval / 1e9,
                "greatest_age": total.oldest / 1e9,
                "waits": [
                    {
                        "reason": part.reason,
                        "about": part.about or None,
                        "duration_ns": part.duration,
                        "times": part.times,
                    }
                    for part in task.spent
                ],
            }
            for task, total in zip(history.tasks, history.task_sums, strict=True)
        ],
    }


def model_run(run: ReportRun, task: int, window: int) -> model.Run:
    """A run as a report keeps it."""
    return model.Run(
        task,
        window,
        run.started_at_ns,
        run.response_time_ns,
        str(run.outcome),
        run.attempt,
        run.score,
        run.estimate_ns,
        str(run.stop_reason),
    )


def _ns(at: datetime) -> int:
    return round(at.timestamp()) * 10**9


def instant_text(at: int) -> str:
    """An instant as JSON has it."""
    return instant(at, "%Y-%m-%dT%H:%M:%SZ")
