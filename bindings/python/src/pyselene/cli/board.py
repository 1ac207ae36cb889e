"""What a window is doing right now: written by the threads that run commands, read by the display."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace

from .. import Event, EventType, Pace, Progress


@dataclass(frozen=True, slots=True)
class Active:
    """A run whose command is a child now."""

    token: int
    id: str
    attempt: int
    score: float
    estimate: float
    begun: float
    """Monotonic seconds."""
    stopping: str = ""
    """Why it was asked to stop."""
    share: float | None = None
    """How much of the whole it says is done, from 0 to 1."""
    progress: str = ""
    """What it says of its progress."""
    pace: Pace | None = None
    """What its turn followed from under the freshness rule."""

    @property
    def elapsed(self) -> float:
        """Seconds since its begin."""
        return time.monotonic() - self.begun


@dataclass(frozen=True, slots=True)
class Done:
    """A run whose command ended."""

    token: int
    id: str
    outcome: str
    end: str
    """How the command ended."""
    took: float
    stopped: str = ""
    """Why it was asked to stop, if that ended it."""


@dataclass(frozen=True, slots=True)
class View:
    """A moment of the board."""

    active: tuple[Active, ...]
    done: tuple[Done, ...]


@dataclass
class Board:
    """The runs of one window."""

    _active: dict[int, Active] = field(default_factory=dict)
    _done: list[Done] = field(default_factory=list)
    _paces: dict[int, Pace] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, active: Active) -> None:
        """A command was started."""
        with self._lock:
            self._active[active.token] = active

    def tell(self, event: Event) -> None:
        """Something happened in the scheduler; an event may come before its command is started, or after."""
        if event.type is EventType.STARTED and event.pace is not None:
            with self._lock:
                self._paces[event.run] = event.pace

    def progress(self, token: int, done: int, total: int, text: str) -> None:
        """A run told how far it has come."""
        told = Progress(0, done, total, text)
        with self._lock:
            if token in self._active:
                self._active[token] = replace(self._active[token], share=told.share, progress=str(told))

    def stop(self, token: int, reason: str) -> None:
        """A run was asked to stop."""
        with self._lock:
            if token in self._active:
                self._active[token] = replace(self._active[token], stopping=reason)

    def end(self, done: Done) -> None:
        """A command ended."""
        with self._lock:
            active = self._active.pop(done.token, None)
            # What expires may still complete; every other reason ends a run at once.
            if active is not None and active.stopping not in ("", "expiring"):
                done = replace(done, stopped=active.stopping)
            self._done.append(done)
            self._paces.pop(done.token, None)

    def clear(self) -> None:
        """A new window begins; what is still being stopped stays."""
        with self._lock:
            self._done.clear()
            self._paces = {token: pace for token, pace in self._paces.items() if token in self._active}

    def end_of(self, token: int) -> str:
        """How the command of a run ended."""
        with self._lock:
            return next((done.end for done in self._done if done.token == token), "being killed")

    def view(self) -> View:
        """Takes a picture of this moment."""
        with self._lock:
            active = (replace(run, pace=self._paces.get(run.token)) for run in self._active.values())
            return View(tuple(active), tuple(self._done))
