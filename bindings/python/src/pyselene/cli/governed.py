"""Plays a workload under a governor: the real driver on a virtual clock, and a usage that moves the signals."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from .. import Cycle, Decision, Driver, Kind, Scheduler, Signal, Wait
from .._driver import usual_budget
from .._time import instant
from ..testing import VirtualClock
from . import wire
from .duration import SECOND, show
from .report import model
from .simulate import NEVER, Lack, Simulation, model_run
from .usage import PAST, USAGES, Usage
from .workload import Workload

_PROCESSING_BUDGET: Final = round(usual_budget(Kind.PROCESSING) * SECOND)
_OVER, _OTHER_KIND = model.Fate.OVER.value, model.Fate.OTHER_KIND.value
#: What signals are while an outage takes a constraint away, and where nothing is known of them.
_TAKEN: Final[dict[str, tuple[tuple[Signal, int, int], ...]]] = {
    "network": ((Signal.NETWORK, 0, 1),),
    "power": ((Signal.EXTERNAL_POWER, 0, 1),),
    "unmetered": ((Signal.METERED, 1, 0),),
    "battery_not_low": ((Signal.DISCHARGING, 1, 0), (Signal.BATTERY_LEVEL, 190, 1000)),
    "idle": ((Signal.USER_ACTIVE, 1, 0),),
    "storage_not_low": ((Signal.STORAGE_FREE, 40, 1000),),
    "display_off": ((Signal.DISPLAY_ON, 1, 0),),
    "not_roaming": ((Signal.ROAMING, 1, 0),),
}


@dataclass(frozen=True, slots=True)
class Governance:
    """How the windows come in such a simulation."""

    profile: str
    usage: str
    #: Of a processing window; None: nobody has said one.
    processing_budget: int | None
    trace: Path | None = None
    """Where everything that decisions depend on is written down."""


class _Open:
    """A window that is open."""

    def __init__(self, number: int, kind: Kind, cycle: Cycle, lack: Lack) -> None:
        self.number = number
        self.kind = kind
        self.cycle = cycle
        self.lack = lack
        self.wake_at = 0


class GovernedSimulation(Simulation):
    """One such simulation."""

    def __init__(
        self, workload: Workload, window: wire.Window, limits: wire.Limits, days: float, governance: Governance
    ) -> None:
        super().__init__(workload, window, limits, days)
        self.governance = governance
        offset = workload.start.utcoffset()
        self.usage: Usage = USAGES[governance.usage](
            self.begin, self.end, round(offset.total_seconds()) * 10**9 if offset else 0, limits.seed
        )
        for condition, signals in _TAKEN.items():
            gone = [(away.begin, away.end) for away in self.away if away.condition == condition]
            for signal, value, rest in signals:
                self.usage.force(signal, gone, value, rest)
        # The clock begins in the past, whose habits count.
        self._clock = VirtualClock(workload.start - timedelta(days=PAST))
        self._changes: list[tuple[int, Signal | str, int]] = [
            (at, signal, value) for signal, points in sorted(self.usage.tracks.items()) for at, value in points
        ]
        for name in workload.conditions:
            gone = [(away.begin, away.end) for away in self.away if away.condition == name]
            lost = {max(begin, self.begin) for begin, _ in gone}
            self._changes += [(at, name, 1) for at in {self.begin, *(end for _, end in gone)} - lost]
            self._changes += [(at, name, 0) for at in lost]
        self._changes.sort(key=lambda change: change[0])
        #: What is told of: a network and power, and what tasks ask for.
        asked = [name for task in workload.tasks for name in (*task.requires, *task.conditions)]
        self._told = tuple(dict.fromkeys(["network", "power", *asked]))
        self._gone_since: dict[str, int] = {}
        self.away = []
        self._next_change = 0
        self._next_use = 0
        self._kinds = [task.kind for task in workload.tasks]
        self._open: list[_Open] = []
        self._windows: list[model.Window | None] = []
        self._runs: list[model.Run] = []
        self._refusals: list[model.Refusal] = []
        self._refused: dict[Kind, Decision] = {}
        self._since: dict[Kind, int] = {}

    def run(self) -> model.History:
        """Plays it all."""
        scheduler = wire.open_scheduler(None, self._limits, self._clock)
        with scheduler, wire.recording(scheduler, self.governance.trace):
            scheduler.governor.profile = self.governance.profile
            self._use(scheduler, self.begin)
            self._clock.advance_ns(self.begin - self._clock.now_ns)
            for name in self.workload.conditions:
                scheduler.define_condition(name)
            self._change(scheduler)
            wire.register(scheduler, self.workload, None, self.workload.start.tzinfo)
            wire.enable(scheduler, self.window.kinds)
            self.standings = [self._standing(scheduler, task) for task in self.workload.tasks]
            processing = self.governance.processing_budget
            driver = scheduler.driver(
                refresh_budget=self.window.budget / 1e9 if self.window.limited else None,
                processing_budget=None if processing is None else processing / 1e9,
                refresh_lanes=self.window.lanes,
                processing_lanes=self.window.lanes,
            )
            driver.open()
            while self._turn(scheduler, driver):
                pass
            self._look_at_the_end(scheduler)
            self._take_note(Lack(), self.end)
            self._finish(scheduler)
            for kind in tuple(self._refused):
                self._lift(kind, self.end)
            driver.close()
            self._look_at_paces(scheduler)
        return self._history()

    def _finish(self, scheduler: Scheduler) -> None:
        """What is open at the end goes on to its own; nothing is opened any more."""
        while self._open:
            self._advance(NEVER)
            self._tell_progress(self._clock.now_ns)
            self._land(scheduler)
            self._pull(scheduler)

    def _turn(self, scheduler: Scheduler, driver: Driver) -> bool:
        """All that happens at this instant, and then time passes to the next; false at the end."""
        before = driver.wake_at_ns
        changed = self._change(scheduler)
        self._use(scheduler, self._clock.now_ns)
        self._look_at_waits(scheduler)
        self._tell_progress(self._clock.now_ns)
        self._land(scheduler)
        self._pull(scheduler)
        opened = False
        while (cycle := driver.step()) is not None:
            opened = True
            self._begin(scheduler, cycle)
            self._pull(scheduler)
        if opened or changed or driver.wake_at_ns != before:
            taken = {window.kind for window in self._open}
            for kind in Kind:
                if kind not in taken:
                    self._look(scheduler, kind)
        if self._clock.now_ns >= self.end:
            return False
        self._advance(min(self.end, driver.wake_at_ns or NEVER))
        return True

    def _advance(self, latest: int) -> None:
        """Time passes to what happens first."""
        at = min(
            latest,
            self._flights[0][0] if self._flights else NEVER,
            self._tellers[0][0] if self._tellers else NEVER,
            self._changes[self._next_change][0] if self._next_change < len(self._changes) else NEVER,
            min((window.wake_at for window in self._open), default=NEVER),
        )
        self._clock.advance_ns(max(0, at - self._clock.now_ns))

    # ---- the machine ----

    def _change(self, scheduler: Scheduler) -> bool:
        """Signals and conditions become what they are now."""
        now, first = self._clock.now_ns, self._next_change
        while self._next_change < len(self._changes) and self._changes[self._next_change][0] <= now:
            _, what, value = self._changes[self._next_change]
            if isinstance(what, Signal):
                scheduler.signals.set(what, value)
            else:
                scheduler.set_condition(what, bool(value))
            self._next_change += 1
        if self._next_change == first:
            return False
        self._take_note(Lack.of(scheduler), now)
        self._land_what_was_stopped(scheduler)
        return True

    def _take_note(self, lack: Lack, now: int) -> None:
        """Of what is missing from now on."""
        self._lack = lack
        for name in self._told:
            if lack.has(name):
                self._gone_since.setdefault(name, now)
            elif (since := self._gone_since.pop(name, now)) < now:
                self.away.append(model.Away(name, since, now))

    def _use(self, scheduler: Scheduler, now: int) -> None:
        """The governor is told of the use that has ended."""
        uses = self.usage.uses
        while self._next_use < len(uses) and uses[self._next_use][1] <= now:
            begin, end = uses[self._next_use]
            self._clock.advance_ns(max(0, end - self._clock.now_ns))
            scheduler.governor.used(instant(begin), instant(end))
            self._next_use += 1

    # ---- windows ----

    def _begin(self, scheduler: Scheduler, cycle: Cycle) -> None:
        # Of two kinds refresh is asked first.
        kind = Kind.PROCESSING
        if not any(window.kind is Kind.REFRESH for window in self._open):
            last = scheduler.governor.last(Kind.REFRESH)
            if last is not None and last.granted and last.at_ns == self._clock.now_ns:
                kind = Kind.REFRESH
        if kind in self._refused:
            self._lift(kind, self._clock.now_ns)
        self._windows.append(None)
        self._look_at_standings(scheduler, self.standings)
        self._open.append(_Open(len(self._windows) - 1, kind, cycle, self._lack))

    def _pull(self, scheduler: Scheduler) -> None:
        """Starts what the open windows have room for, and ends those in which nothing is left."""
        for window in tuple(self._open):
            while (step := window.cycle.next()) is not None:
                if isinstance(step, Wait):
                    window.wake_at = step.wake_at_ns
                    break
                self._start(scheduler, step)
            if step is None:
                self._end(scheduler, window)

    def _land(self, scheduler: Scheduler) -> None:
        """What ends now comes back."""
        while self._flights and self._flights[0][0] <= self._clock.now_ns:
            _, _, run, outcome = heapq.heappop(self._flights)
            self._back(scheduler, run, outcome)

    def _end(self, scheduler: Scheduler, window: _Open) -> None:
        self._open.remove(window)
        report = window.cycle.end()
        for flight in [flight for flight in self._flights if flight[2].cycle_token == report.cycle]:
            self._flights.remove(flight)
            self._back(scheduler, flight[2], flight[3])
        heapq.heapify(self._flights)
        told = self._window(report, self.standings, window.lack)
        # Of tasks of the other kind nothing was asked.
        name = str(window.kind)
        fates = "".join(
            fate if kind == name or fate == _OVER else _OTHER_KIND
            for fate, kind in zip(told.fates, self._kinds, strict=True)
        )
        self._windows[window.number] = replace(
            told, fates=fates, did_not_fit=fates.count(model.Fate.DID_NOT_FIT), kind=name
        )
        for run in report.runs:
            index = self._index[run.id]
            self._runs.append(model_run(run, index, window.number))
            self.standings[index] = self._standing(scheduler, self.workload.tasks[index])

    # ---- decisions ----

    def _look(self, scheduler: Scheduler, kind: Kind) -> None:
        """Takes note of a refusal, or that it is over."""
        last = scheduler.governor.last(kind)
        old = self._refused.get(kind)
        if last is None or (old is not None and last.at_ns == old.at_ns):
            return
        if old is not None and (last.granted or _reason(last) != _reason(old)):
            self._lift(kind, last.at_ns)
            old = None
        if not last.granted:
            self._refused[kind] = last
            if old is None:
                self._since[kind] = last.at_ns

    def _lift(self, kind: Kind, at: int) -> None:
        decision = self._refused.pop(kind)
        begin = self._since.pop(kind)
        if at > begin:
            self._refusals.append(model.Refusal(str(kind), begin, at, _reason(decision), decision.why))

    def _history(self) -> model.History:
        self.away.sort(key=lambda away: (away.begin, away.condition))
        history = self.history([window for window in self._windows if window is not None], self._runs)
        tracks = [
            model.Track(str(signal), signal.unit, points, [signal.text(value) for _, value in points])
            for signal, points in self.usage.tracks.items()
            if len(points) > 1 and signal is not Signal.DISCHARGING  # it says what external power says
        ]
        refusals = sorted(self._refusals, key=lambda refusal: (refusal.begin, refusal.kind))
        return replace(history, tracks=tracks, refusals=refusals, profile=self.governance.profile)

    def _facts(self, windows: int) -> list[str]:
        lanes = f", {self.window.lanes} lanes" if self.window.lanes > 1 else ""
        budgets = f"{show(self.window.budget)} and {show(self.governance.processing_budget or _PROCESSING_BUDGET)}"
        return [
            f"profile {self.governance.profile}, usage {self.governance.usage}",
            f"{windows} windows of at most {budgets}{lanes}",
            f"seed {self.seed}",
            *self._rule_facts(),
        ]


def _reason(decision: Decision) -> str:
    return str(decision.vetoes[0].factor) if decision.vetoes else "score"


def summary_of(history: model.History) -> dict[str, object]:
    """What the governor did, as JSON can hold it; durations are in seconds."""
    refused: dict[str, dict[str, float]] = {str(kind): {} for kind in Kind}
    for refusal in history.refusals:
        times = refused[refusal.kind]
        times[refusal.factor] = times.get(refusal.factor, 0) + (refusal.end - refusal.begin) / 1e9
    return {
        "profile": history.profile,
        "granted": {str(kind): sum(window.kind == str(kind) for window in history.windows) for kind in Kind},
        "refused": refused,
        "preempted": sum(run.stop == "preempted" for run in history.runs),
        "signals": [track.name for track in history.tracks],
    }
