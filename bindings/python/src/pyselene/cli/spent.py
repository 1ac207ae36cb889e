"""Where the time of each task of a simulation went: what the scheduler tells of each wait, put together.

The scheduler tells of the time since a task was last due. So it is asked each time a task is dispatched, when that wait
is known to its end; then the task runs, until its run is over, and is not due until its next wait begins.
"""

from __future__ import annotations

from contextlib import suppress

from .. import NotFound, ReasonCode, Scheduler
from .report import model


class Spending:
    """The time of one task."""

    def __init__(self, id: str, begin: int) -> None:
        self._id = id
        self._found: dict[tuple[str, str], list[int]] = {}
        self._wait: list[model.Spent] = []
        self._reason: ReasonCode | None = None
        self._since = self._until = begin
        self._run_ended_at = begin
        self._over_at: int | None = None

    def look(self, scheduler: Scheduler) -> None:
        """Takes in the wait that the task is in; a record that is gone was over before."""
        with suppress(NotFound):
            waits = scheduler.waits(self._id)
            if waits.since_ns != self._since or not self._wait:
                self._finish(waits.since_ns)
            self._since, self._until = waits.since_ns, waits.until_ns
            self._wait = [
                model.Spent(str(part.code), "" if part.about is None else str(part.about), part.duration_ns, part.times)
                for part in waits.parts
            ]
            self._reason = waits.changes[-1].code if waits.changes else None
            self._over_at = waits.until_ns if waits.state.terminal else None

    def ran(self, until: int) -> None:
        """A run is over, and was at that instant."""
        self._run_ended_at = until

    def _add(self, reason: ReasonCode, duration: int) -> None:
        if duration > 0:
            # It may be what it was when it was looked at.
            self._put(model.Spent(str(reason), "", duration, 0 if reason is self._reason else 1))

    def _put(self, part: model.Spent) -> None:
        total = self._found.setdefault((part.reason, part.about), [0, 0])
        total[0] += part.duration
        total[1] += part.times

    def _finish(self, until: int) -> None:
        """The wait was over: a run came after what was last known of it, and then the next wait began."""
        for part in self._wait:
            self._put(part)
        ended = min(max(self._run_ended_at, self._until), until)
        self._add(ReasonCode.RUNNING, ended - self._until)
        self._add(ReasonCode.NOT_DUE, until - ended)

    def tell(self, end: int) -> tuple[model.Spent, ...]:
        """All of it, to the end of the simulation; what took most first."""
        over = self._over_at
        if over is None and self._until < end:
            # It ended with its last run, and its record is gone.
            over = max(self._run_ended_at, self._until)
            self._finish(over)
        else:
            self._finish(self._until)
        if over is not None:
            self._add(ReasonCode.TERMINAL, end - over)
        self._wait = []
        parts = (model.Spent(*reason, *total) for reason, total in self._found.items() if total[0])
        return tuple(sorted(parts, key=lambda part: -part.duration))
