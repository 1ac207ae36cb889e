"""What the page of a store shows, as JSON has it; times are seconds, instants milliseconds since the Unix epoch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from ... import Client, Kind, Pause, Scheduler, SchedulerInfo, State, TaskInfo, __version__
from ..._terms import why_failed
from ..show import words
from ..to_json import client_json
from .watcher import Watcher

MOST_TASKS: Final = 200
"""More are not shown, only counted."""

_RUNS: Final = 40

_ORDER: Final = (
    State.RUNNING,
    State.FAILED,
    State.ENQUEUED,
    State.HELD,
    State.BLOCKED,
    State.SUCCEEDED,
    State.CANCELLED,
)
_FIRST: Final = {State.FAILED: 50, State.SUCCEEDED: 30, State.CANCELLED: 20}
"""Of those that are over only so many, however much room there is."""


def state_json(scheduler: Scheduler, watcher: Watcher) -> dict[str, Any]:
    """Everything of the page but one task's own part."""
    info = scheduler.info()
    store = scheduler.store()
    counts = counts_of(info)
    tasks = [task_json(scheduler, watcher, task) for task in _shown(scheduler)]
    tasks.sort(key=lambda task: (task["order"], task["rank"] or 1 << 31))
    return {
        "store": store.path or "in memory",
        "owner": store.owner,
        "version": __version__,
        "now": scheduler.now_ns // 1_000_000,
        "counts": counts,
        "kinds": [str(kind) for kind in Kind],
        "pauses": [_pause_json(pause) for pause in scheduler.pauses()],
        "dispatched": info.dispatched,
        "more": sum(counts.values()) - len(tasks),
        "tasks": tasks,
        "troubles": _troubles(info, watcher),
        "windows": list(_windows(watcher)),
        "runs": list(_runs(watcher)),
        "clients": [client_json(client) for client in clients_of(scheduler)],
        "lost": watcher.lost,
    }


def counts_of(info: SchedulerInfo) -> dict[str, int]:
    """How many tasks are in each state."""
    return {str(state): getattr(info, str(state)) for state in _ORDER}


def clients_of(scheduler: Scheduler) -> list[Client]:
    """Who is connected, but for this page itself."""
    return [client for client in scheduler.clients() if client.pool or client.process != os.getpid()]


def _pause_json(pause: Pause) -> dict[str, Any]:
    return {
        "kinds": [str(kind) for kind in sorted(pause.kinds)],
        "pool": pause.pool,
        "until": None if pause.until_ns is None else pause.until_ns // 1_000_000,
    }


def _shown(scheduler: Scheduler) -> Iterator[TaskInfo]:
    """Tasks of which a person may want to know, as many as are shown, each once."""
    seen: set[str] = set()
    for state in _ORDER:
        ids = scheduler.ids(state=state)
        if state in _FIRST:
            ids = ids[-_FIRST[state] :]
        for name in ids:
            if len(seen) == MOST_TASKS:
                return
            if name not in seen:
                seen.add(name)
                with suppress(LookupError):  # gone meanwhile
                    yield scheduler.get(name)


def task_json(scheduler: Scheduler, watcher: Watcher, task: TaskInfo) -> dict[str, Any]:
    """A task in a row."""
    why: list[str] = []
    rank = 0
    may_run_at = None
    if task.state not in (State.RUNNING, State.SUCCEEDED, State.FAILED, State.CANCELLED):
        with suppress(LookupError):
            told = scheduler.explain(task.id)
            rank = told.rank
            may_run_at = told.may_run_at
            why = [_sentence(str(reason)) for reason in told.reasons] or ["nothing is missing but a window"]
    begun = watcher.began(task.id) if task.state is State.RUNNING else None
    progress = task.progress
    return {
        "order": _ORDER.index(task.state),
        "id": task.id,
        "handler": task.handler,
        "kind": str(task.kind),
        "schedule": str(task.schedule),
        "state": str(task.state),
        "paused": task.paused,
        "priority": str(task.priority),
        "group": task.group,
        "tags": sorted(task.tags),
        "every": task.every,
        "attempts": task.attempts,
        "estimate": task.estimate,
        "begun": None if begun is None else begun // 1_000_000,
        "last_run": None if task.last_run is None else round(task.last_run.timestamp() * 1000),
        "last_outcome": None if task.last_outcome is None else words(task.last_outcome),
        "failure": None if task.last_failure is None else why_failed(task),
        "progress": None
        if progress is None
        else {"done": progress.done, "total": progress.total, "text": progress.text},
        "rank": rank,
        "why": why,
        "may_run_at": None if may_run_at is None else round(may_run_at.timestamp() * 1000),
    }


def detail_json(scheduler: Scheduler, watcher: Watcher, id: str) -> dict[str, Any]:
    """A task's own part: why it does not run, in full, and where its time went."""
    told, waits = scheduler.explain(id), scheduler.waits(id)
    return {
        "task": task_json(scheduler, watcher, scheduler.get(id)),
        "explanation": str(told).splitlines(),
        "since": waits.since_ns // 1_000_000,
        "total": waits.total_ns / 1e9,
        "parts": [
            {"reason": str(part.code), "text": str(part), "seconds": part.duration, "times": part.times}
            for part in sorted(waits.parts, key=lambda part: -part.duration_ns)
        ],
        "changes": [{"at": change.at_ns // 1_000_000, "text": _after_time(str(change))} for change in waits.changes],
        "preferred": waits.preferred,
        "preferred_ids": list(waits.preferred_ids),
    }


def _sentence(reason: str) -> str:
    """Without the instant, which the page shows by the reader's clock."""
    return reason.partition(", until ")[0]


def _after_time(change: str) -> str:
    return change.partition("  ")[2]


def _troubles(info: SchedulerInfo, watcher: Watcher) -> list[dict[str, Any]]:
    seen = watcher.troubles()
    names: Iterable[str] = sorted({str(trouble) for trouble in info.troubles} | set(seen))
    return [
        {"name": words(name), "since": seen[name][0] // 1_000_000 if name in seen else None,
         "text": seen[name][1] if name in seen else ""}
        for name in names
    ]  # fmt: skip


def _windows(watcher: Watcher) -> Iterator[dict[str, Any]]:
    for window in watcher.windows():
        yield {
            "begin": window.begin_ns // 1_000_000,
            "deadline": None if window.deadline_ns is None else window.deadline_ns // 1_000_000,
            "end": None if window.end_ns is None else window.end_ns // 1_000_000,
            "kinds": list(window.kinds),
            "outcome": window.outcome,
            "runs": window.runs,
            "outcomes": window.outcomes,
        }


def _runs(watcher: Watcher) -> Iterator[dict[str, Any]]:
    for run in watcher.runs()[:_RUNS]:
        yield {
            "id": run.id,
            "begin": None if run.begin_ns is None else run.begin_ns // 1_000_000,
            "seconds": None if run.begin_ns is None else (run.end_ns - run.begin_ns) / 1e9,
            "outcome": run.outcome,
            "message": run.message,
            "attempt": run.attempt,
        }
