"""What the command line shows of a scheduler, as JSON; durations are in seconds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from .. import Client, Event, Explanation, Pace, Plan, Scheduler, TaskInfo
from .duration import SECOND
from .show import constraints
from .wire import Window


def plan_json(scheduler: Scheduler, window: Window, plan: Plan, others: Iterable[str]) -> dict[str, Any]:
    """What a window would do."""
    first = plan.runs[0].starts_at_ns if plan.runs else 0
    return {
        "budget": window.budget / SECOND,
        "reserve": window.kept / SECOND,
        "lanes": window.lanes,
        "kinds": list(window.kinds),
        "eligible": plan.eligible,
        "runs": [
            {
                "id": run.id,
                "score": run.score,
                "estimate": run.estimate,
                "start": (run.starts_at_ns - first) / SECOND,
            }
            for run in plan.runs
        ],
        "others": [explanation_json(scheduler.explain(name)) for name in others],
    }


def client_json(client: Client) -> dict[str, Any]:
    """A process that is connected as JSON."""
    return {
        "process": client.process,
        "user": client.user,
        "command": client.command,
        "pool": client.pool,
        "handlers": client.handlers,
        "runs": client.runs,
        "requests": client.requests,
        "rights": [right.name.lower() for right in client.rights if right.name],
        "version": client.version,
    }


def info_json(info: TaskInfo) -> dict[str, Any]:
    """A task's record as JSON."""
    return {
        "id": info.id,
        "handler": info.handler,
        "input": info.input.decode(errors="replace"),
        "kind": str(info.kind),
        "schedule": str(info.schedule),
        "priority": str(info.priority),
        "requires": [name for name in constraints(info.requires).split(", ") if name],
        "tags": sorted(info.tags),
        "every": info.every,
        "flex": info.flex,
        "delay": info.delay,
        "latest_begin": info.latest_begin,
        "anchored": info.anchored,
        "by_calendar": info.by_calendar,
        "calendar": None if info.calendar is None else str(info.calendar),
        "jitter": info.jitter,
        "backoff": type(info.backoff).__name__.removesuffix("Backoff").lower(),
        "backoff_delay": info.backoff.delay,
        "max_attempts": info.max_attempts,
        "timeout": info.timeout,
        "stall_limit": info.stall_limit,
        "steady": info.steady,
        "expedited": info.expedited,
        "out_of_quota": str(info.out_of_quota),
        "expected": info.expected,
        "estimate": info.estimate,
        "state": str(info.state),
        "paused": info.paused,
        "group": info.group,
        "conditions": list(info.conditions),
        "progress": None
        if info.progress is None
        else {"done": info.progress.done, "total": info.progress.total, "text": info.progress.text},
        "attempts": info.attempts,
        "appended": info.appended,
        "generation": info.generation,
        "registered_at": _iso(info.registered_at),
        "earliest_begin": _iso(info.earliest_begin),
        "last_run": _iso(info.last_run),
        "last_outcome": None if info.last_outcome is None else str(info.last_outcome),
        "stop_reason": str(info.stop_reason),
        "last_failure": None
        if info.last_failure is None
        else {
            "at": _iso(info.last_failure.at),
            "attempt": info.last_failure.attempt,
            "message": info.last_failure.message,
        },
        "response_times": list(info.response_times),
        "after": list(info.after),
        "waits_for": list(info.waits_for),
        "output_length": info.output_length,
        "output_lost": info.output_lost,
    }


def explanation_json(why: Explanation) -> dict[str, Any]:
    """An explanation as JSON."""
    return {
        "id": why.id,
        "state": str(why.state),
        "runnable": why.runnable,
        "reasons": [
            {
                "reason": str(reason.code),
                "constraints": [name for name in constraints(reason.constraints).split(", ") if name],
                "conditions": list(reason.conditions),
                "may_change_at": None if reason.may_change_at is None else _iso(reason.may_change_at),
            }
            for reason in why.reasons
        ],
        "unknown_constraints": [name for name in constraints(why.unknown).split(", ") if name],
        "may_run_at": None if why.may_run_at is None else _iso(why.may_run_at),
        "rank": why.rank,
        "eligible": why.eligible,
        "score": why.score,
        "estimate": why.estimate,
        "last_room": why.last_room,
        "attempts": why.attempts,
        "pace": None if why.pace is None else _pace_json(why.pace),
        "latest_begin": None if why.latest_begin is None else _iso(why.latest_begin),
        "urgent": why.urgent,
        "expedited": why.expedited,
    }


def event_json(event: Event) -> dict[str, Any]:
    """An event as JSON."""
    return {
        "number": event.number,
        "type": str(event.type),
        "time": _iso(event.time),
        "id": event.id,
        "state": None if event.state is None else str(event.state),
        "detail": None if event.detail is None else str(event.detail),
        "attempts": event.attempts,
        "time_at": None if event.time_at is None else _iso(event.time_at),
        "kinds": sorted(str(kind) for kind in event.kinds),
        "error": None if event.error is None else str(event.error),
        "message": event.message,
    }


def _pace_json(pace: Pace) -> dict[str, Any]:
    return {
        "fresh_since": _iso(pace.fresh_since),
        "cost": pace.cost,
        "known_runs": pace.runs,
        "news_runs": pace.news,
        "pace": pace.per_mille / 1000,
        "pace_class": pace.pace_class,
    }


def _iso(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
