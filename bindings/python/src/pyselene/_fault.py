"""What the library says was wrong, as this package says it: its names, and seconds where C has nanoseconds."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from . import _raw
from ._time import SECOND, instant, seconds, show

#: A number as the exceptions have it: seconds for a length of time, a datetime for an instant.
Number = int | float | datetime

_DAY = 86_400 * SECOND
#: What a range without an end has there.
_LEAST, _GREATEST = -(2**63), 2**63 - 1

#: Fields of the library that have another name here.
_NAMES = {
    "backoff_delay": "backoff.delay",
    "delay": "after",
    "ended_at": "ended",
    "expected_response": "expected",
    "flags": "preempts",
    "initial_delay": "delay",
    "input_length": "input",
}
#: What is allowed in fields that say it otherwise here, such as None where C has -1.
_ALLOWED = {
    "flags": "False; only vetoes of signals stop runs",
    "flex": "0 … every",
    "latest_begin": "more than delay and at most 10 years, or None",
    "reserve": "0 … budget, or None for a twentieth of it",
    "threshold": "0 … 1000, or None for the base's",
}


class Fault(NamedTuple):
    """What exactly was wrong with a call."""

    field: str | None = None
    found: Number | str | None = None
    allowed: str | None = None
    limits: tuple[Number | None, Number | None] | None = None
    timeout: float | None = None
    in_doubt: bool = False


class RawFault(NamedTuple):
    """A selene_error, its texts read."""

    status: int
    flags: int
    unit: int
    field: str
    subject: str
    found: str
    allowed: str
    value: int
    least: int
    greatest: int


def told(raw: RawFault, detail: str) -> tuple[str, Fault]:
    """The sentence and the data of a fault; `detail` is the library's own sentence.

    >>> day = 24 * 3600 * 10**9
    >>> told(RawFault(16, 0, 2, "expected_response", "", "-1", "0 … 24 h", -1, 0, day), "")[0]
    'expected is -1e-09 s; allowed: 0 … 24 h'
    >>> told(RawFault(16, 0, 5, "kinds", "", "0", "bits", 0, 1, 3), "")
    ('kinds is empty; allowed: refresh, processing, or both', Fault(field='kinds', found=0, \
allowed='refresh, processing, or both', limits=(1, 3), timeout=None, in_doubt=False))
    >>> told(RawFault(21, 0, 0, "id", "", "upload", "", 0, 0, 0), 'id: "upload" is not registered')
    ('id: "upload" is not registered', Fault(field='id', found='upload', allowed=None, limits=None, timeout=None, \
in_doubt=False))
    """
    # A task's period is `every`, that of a quota has its own name.
    field = "every" if raw.field == "period" and raw.greatest > _DAY else _NAMES.get(raw.field, raw.field)
    if raw.status == _raw.SELENE_ERROR_OWNER_AWAY:
        timeout = seconds(raw.value) if raw.unit == _raw.SELENE_UNIT_DURATION else None
        in_doubt = bool(raw.flags & _raw.SELENE_FAULT_IN_DOUBT)
        return detail, Fault(field or None, raw.found or None, timeout=timeout, in_doubt=in_doubt)
    if raw.unit == _raw.SELENE_UNIT_NONE:
        return detail, Fault(field or None, raw.found or None)
    fault = Fault(
        field,
        _number(raw, raw.value),
        _allowed(raw),
        (
            None if raw.least == _LEAST else _number(raw, raw.least),
            None if raw.greatest == _GREATEST else _number(raw, raw.greatest),
        ),
    )
    if raw.status == _raw.SELENE_ERROR_TOO_SOON:
        detail = f"kinds: {raw.subject} may begin again in {show(raw.least - raw.value)}"
    elif raw.status == _raw.SELENE_ERROR_TOO_MANY_PENDING and raw.subject:
        limit = f"max_pending_{raw.subject}, which is {raw.greatest}"
        detail = f"kind: {raw.value} pending requests exceed {limit}; with hold=True more can wait"
    elif raw.status in {_raw.SELENE_ERROR_INVALID_ARGUMENT, _raw.SELENE_ERROR_TOO_LARGE}:
        subject = f" for {raw.subject}" if raw.subject else ""
        detail = f"{field} is {_found(raw)}{subject}; allowed: {fault.allowed}"
    return detail, fault


def _number(raw: RawFault, value: int) -> Number:
    if raw.unit == _raw.SELENE_UNIT_DURATION:
        return seconds(value)
    return instant(value) if raw.unit == _raw.SELENE_UNIT_INSTANT else value


def _found(raw: RawFault) -> str:
    if raw.value == 0 and (raw.field == "kinds" or raw.unit == _raw.SELENE_UNIT_BYTES):
        return "empty"
    if raw.field == "flags":
        return "True"
    match raw.unit:
        case _raw.SELENE_UNIT_DURATION:
            return f"{seconds(raw.value):.12g} s"
        case _raw.SELENE_UNIT_INSTANT:
            return instant(raw.value).isoformat()
        case _raw.SELENE_UNIT_BYTES:
            return f"{raw.value} bytes"
    return raw.found


def _allowed(raw: RawFault) -> str:
    if raw.field == "kinds":
        return "refresh, processing, or both"
    if raw.field == "ended_at":
        return "began or later" if raw.greatest == _GREATEST else "now or earlier"
    if raw.unit == _raw.SELENE_UNIT_DURATION and 0 < raw.value < _raw.SELENE_MILLISECOND:
        return raw.allowed
    return _ALLOWED.get(raw.field, raw.allowed)
