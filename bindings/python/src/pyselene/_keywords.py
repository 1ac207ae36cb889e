"""Keywords that no method has: which were probably meant."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

ELSEWHERE: Final = {
    "expected_response": "expected",
    "initial_delay": "delay",
    "period": "every",
    "interval": "every",
    "constraints": "requires",
    "recurrence": "anchored",
}
"""What these fields are called in the C interface, which `selene-run` before 0.2 took, or in other libraries."""

_OTHERS: Final = {
    "seconds": "every",
    "crontab": "cron",
    "countdown": "delay",
    "eta": "at",
    "run_at": "at",
    "retries": "max_attempts",
    "max_retries": "max_attempts",
    "time_limit": "timeout",
    "depends_on": "after",
    "payload": "input",
    "name": "id",
}
"""Words that other libraries take from code alone."""


def nearest(name: str, names: Collection[str]) -> str:
    """The name that was probably meant; empty where none is near."""
    # Not for programs that make no mistake: it takes a while to import.
    from difflib import get_close_matches

    meant = {one: one for one in names}
    meant |= {old: one for old, one in ELSEWHERE.items() if one in meant}
    near = get_close_matches(name, meant, 1, 0.7)
    return meant[near[0]] if near else ""


def refuse_unknown(
    method: str, fields: Collection[str], names: Collection[str], periodic: Collection[str] = ()
) -> None:
    """Raises TypeError for the first field that is none; `periodic` are those that task() has, and this method not."""
    for name in fields:
        if name in names or name in periodic:
            continue
        advice = ""
        ours = ELSEWHERE.get(name) or _OTHERS.get(name)
        if ours in names:
            advice = f"; it is called '{ours}' here"
        elif ours in periodic:
            advice = f"; it is called '{ours}' here, and is for task()"
        elif near := nearest(name, names):
            advice = f"; did you mean '{near}'?"
        raise TypeError(f"{method}() got an unexpected keyword argument '{name}'{advice}") from None
