"""What has happened lately: windows, what ran in them, and what keeps the scheduler from working."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ... import Event, EventStream, EventType, Outcome, OwnerAway, Scheduler, SeleneError

_WINDOWS: Final = 60
_RUNS: Final = 400
_AGAIN: Final = 1.0
"""Seconds between looks for an owner that is away."""

BUCKETS: Final = (0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0)
"""Seconds that runs take, for a histogram."""

Tell = Callable[[Event], None]


@dataclass(slots=True)
class WindowSeen:
    """A window that began while somebody watched."""

    begin_ns: int
    deadline_ns: int | None
    kinds: tuple[str, ...]
    end_ns: int | None = None
    outcome: str | None = None
    runs: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class RunSeen:
    """A run that ended, or was stopped, while somebody watched; None: it began before."""

    id: str
    begin_ns: int | None
    end_ns: int
    outcome: str
    message: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Totals:
    """What was counted: runs that ended by kind and outcome, how long they took by kind, refusals by kind and factor.

    How long is told by how many took at most each of BUCKETS, and longer, and by the sum in seconds.
    """

    ended: dict[tuple[str, str], int]
    taken: dict[str, tuple[list[int], float]]
    refused: dict[tuple[str, str], int]


class Watcher:
    """Listens to a scheduler on a thread of its own; of a connection also to the owner that comes next."""

    def __init__(self, scheduler: Scheduler, tell: Tell | None = None) -> None:
        self._scheduler = scheduler
        self._tell = tell
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._events: EventStream | None = None
        self._windows: dict[int, WindowSeen] = {}
        self._runs: deque[RunSeen] = deque(maxlen=_RUNS)
        self._begun: dict[str, tuple[int, int, int]] = {}
        self._troubles: dict[str, tuple[int, str]] = {}
        self.lost = 0
        self._totals = Totals({}, {}, {})
        # Before anything else is asked, so that nothing is missed.
        self._open()
        self._thread = threading.Thread(target=self._run, name="selene/page", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listens no more; before the scheduler is closed."""
        self._stopping.set()
        if self._events is not None:
            self._events.close()
        self._thread.join()

    def windows(self) -> list[WindowSeen]:
        """The last ones, the latest first."""
        with self._lock:
            return list(self._windows.values())[::-1]

    def runs(self) -> list[RunSeen]:
        """The last ones, the latest first."""
        with self._lock:
            return list(self._runs)[::-1]

    def began(self, id: str) -> int | None:
        """When the run of a task began, if that was seen."""
        with self._lock:
            found = self._begun.get(id)
        return None if found is None else found[0]

    def troubles(self) -> dict[str, tuple[int, str]]:
        """What keeps the scheduler from working: since when, and in words."""
        with self._lock:
            return dict(self._troubles)

    def totals(self) -> Totals:
        """What was counted, as it is now."""
        with self._lock:
            own = self._totals
            taken = {kind: (list(counts), total) for kind, (counts, total) in own.taken.items()}
            return Totals(dict(own.ended), taken, dict(own.refused))

    def _open(self) -> EventStream | None:
        """What happens from now on; None while the owner is away."""
        try:
            self._events = self._scheduler.events()
        except OwnerAway:
            self._events = None
        return self._events

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except OwnerAway:
                with self._lock:
                    self._begun.clear()
                    self._troubles.clear()
            except SeleneError:
                return  # it was closed
            self._stopping.wait(_AGAIN)
            if not self._stopping.is_set():
                self._open()

    def _listen(self) -> None:
        if self._events is None:
            return
        with self._events as events:
            for event in events:
                self.lost = events.dropped
                self.note(event)
                if self._tell is not None:
                    self._tell(event)

    def note(self, event: Event) -> None:
        """Keeps what an event says."""
        with self._lock:
            if event.type is EventType.CYCLE_BEGUN:
                kinds = tuple(sorted(str(kind) for kind in event.kinds))
                self._windows[event.cycle] = WindowSeen(event.time_ns, event.time_at_ns, kinds)
                while len(self._windows) > _WINDOWS:
                    self._windows.pop(next(iter(self._windows)))
            elif event.type is EventType.CYCLE_ENDED and event.cycle in self._windows:
                window = self._windows[event.cycle]
                window.end_ns, window.outcome = event.time_ns, str(event.detail)
            elif event.type is EventType.STARTED:
                self._begun[event.id] = (event.time_ns, event.attempts, event.cycle)
                if event.cycle in self._windows:
                    self._windows[event.cycle].runs += 1
            elif event.type is EventType.COMPLETED:
                self._completed(event)
            elif event.type is EventType.REFUSED:
                for kind in event.kinds:
                    key = (str(kind), "score" if event.detail is None else str(event.detail))
                    self._totals.refused[key] = self._totals.refused.get(key, 0) + 1
            elif event.type is EventType.TROUBLE:
                name = str(event.detail)
                if event.error is None:
                    self._troubles.pop(name, None)
                else:
                    self._troubles[name] = (event.time_ns, str(event.error))

    def _completed(self, event: Event) -> None:
        begin, attempt, cycle = self._begun.pop(event.id, (None, event.attempts, event.cycle))
        outcome = str(event.detail) if isinstance(event.detail, Outcome) else "failed"
        self._runs.append(RunSeen(event.id, begin, event.time_ns, outcome, event.message, attempt))
        if cycle in self._windows:
            counts = self._windows[cycle].outcomes
            counts[outcome] = counts.get(outcome, 0) + 1
        for kind in event.kinds:
            key = (str(kind), outcome)
            self._totals.ended[key] = self._totals.ended.get(key, 0) + 1
            if begin is None:
                continue
            taken = (event.time_ns - begin) / 1e9
            counts_of_kind, total = self._totals.taken.get(str(kind), ([0] * (len(BUCKETS) + 1), 0.0))
            counts_of_kind[bisect_left(BUCKETS, taken)] += 1
            self._totals.taken[str(kind)] = (counts_of_kind, total + taken)
