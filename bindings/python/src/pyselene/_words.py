"""What the library says was wrong, in the words of this package: its names, and seconds where C has nanoseconds."""

from __future__ import annotations

import re

from . import _raw
from ._time import instant, show

#: Fields of the library that have another name here.
_NAMES = {
    "backoff_delay": "backoff.delay",
    "delay": "after",
    "ended_at": "ended",
    "expected_response": "expected",
    "initial_delay": "delay",
    "input_length": "input",
}
#: Those that are lengths of time.
_DURATIONS = frozenset({
    "backoff_delay", "budget", "cpu_time", "delay", "expected_response", "flex", "grace", "initial_delay",
    "maximum_backoff", "minimum_backoff", "minimum_interval_processing", "minimum_interval_refresh", "period",
    "processing_budget", "recent_use", "refresh_budget", "release_after", "reserve", "rate",
})  # fmt: skip
#: What is allowed, where that is said otherwise here.
_ALLOWED = {
    "-1 (budget / 20), or 0 … budget in ns": "0 … budget, or None for a twentieth of it",
    "-1 (the base's), or 0 … 1000 in per mille": "0 … 1000, or None for the base's",
    "0 … period": "0 … every",
    "0 or more ns": "0 or more",
    "began_at or later": "began or later",
}
#: Parts of other texts.
_TEXTS = {
    "; with HOLD more wait": "; with hold=True more wait",
    "flags: PREEMPTS was given for ": "preempts is True for ",
    ", it is allowed for vetoes of factors 1 … 19": "; allowed: for vetoes of signals",
}
#: When a kind may begin again.
_AGAIN = re.compile(r"(?<= again in )\d+ ns$")
_RANGE = re.compile(r"(\w+): (-?\d+) was given(?: for (\w+))?, (.*) (?:is|are) allowed")
#: The 10 years of a factor that counts in time.
_NANOSECONDS = re.compile(r"\d{10,}")


def words(detail: str) -> str:
    """A detail text of the library in the words of this package.

    >>> words("expected_response: -1000000000 was given, 0 … 24 h in ns is allowed")
    'expected is -1 s; allowed: 0 … 24 h'
    >>> words("kinds: 0 was given, bits 1 (refresh) and 2 (processing), at least one is allowed")
    'kinds is empty; allowed: refresh, processing, or both'
    >>> words("kinds: refresh may begin again in 9500000000 ns")
    'kinds: refresh may begin again in 9.5 s'
    >>> words('id: there is no task "upload"')
    'id: there is no task "upload"'
    """
    match = _RANGE.fullmatch(detail)
    if match is None:
        for theirs, ours in _TEXTS.items():
            detail = detail.replace(theirs, ours)
        return _AGAIN.sub(lambda found: show(int(found[0].removesuffix(" ns"))), detail)
    field, number, factor, allowed = match.groups()
    if field == "kinds" and number == "0":
        return "kinds is empty; allowed: refresh, processing, or both"
    # A task's period is `every`, that of a quota has its own name.
    name = "every" if field == "period" and allowed.endswith("years") else _NAMES.get(field, field)
    value = int(number)
    allowed = _ALLOWED.get(allowed, allowed.removesuffix(" in ns"))
    found = str(value)
    if (factor or field) in _DURATIONS:
        found = f"{value / _raw.SELENE_SECOND:.12g} s"
        allowed = _NANOSECONDS.sub(lambda ns: show(int(ns[0])), allowed)
    elif field == "ended_at":
        found = instant(value).isoformat()
    elif field == "input_length":
        found = f"{value} bytes"
    return f"{name} is {found}{f' for {factor}' if factor else ''}; allowed: {allowed}"
