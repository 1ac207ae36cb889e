"""Times: seconds and aware datetimes outside, whole nanoseconds inside."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from . import _raw

#: A length of time: seconds as int or float, or a timedelta.
Duration: TypeAlias = float | int | timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = _raw.SELENE_SECOND
MILLISECOND = _raw.SELENE_MILLISECOND
_MICROSECOND = _raw.SELENE_MICROSECOND
_LIMIT = _raw.SELENE_NEVER


def duration_ns(value: Duration, what: str) -> int:
    """Nanoseconds of a length of time; exact for int and timedelta, to the nearest for float.

    >>> duration_ns(1.5, "delay"), duration_ns(timedelta(hours=6), "every")
    (1500000000, 21600000000000)
    """
    if isinstance(value, timedelta):
        result = (value.days * 86_400 + value.seconds) * SECOND + value.microseconds * _MICROSECOND
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what} must be seconds (int or float) or a timedelta, not {type(value).__name__}")
    elif isinstance(value, int):
        result = value * SECOND
    elif math.isfinite(value):
        # The whole seconds apart, so that the product of the rest is exact to the nanosecond.
        result = int(value) * SECOND + round((value - int(value)) * SECOND)
    else:
        raise ValueError(f"{what} must be finite, not {value}")
    if not -_LIMIT < result < _LIMIT:
        raise ValueError(f"{what} is beyond what can be counted: {value} s")
    return result


def instant_ns(value: datetime, what: str) -> int:
    """Nanoseconds since the Unix epoch of an aware datetime."""
    if not isinstance(value, datetime):
        raise TypeError(f"{what} must be a datetime, not {type(value).__name__}")
    if value.tzinfo is None or value.utcoffset() is None:
        raise ValueError(f"{what} must be an aware datetime (with a tzinfo), not {value!r}")
    return duration_ns(value - EPOCH, what)


def instant(ns: int) -> datetime:
    """The datetime (UTC, microseconds rounded down) of nanoseconds since the Unix epoch.

    >>> instant(1_500_000_000).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    return EPOCH + timedelta(microseconds=ns // _MICROSECOND)


def maybe_instant(ns: int | None) -> datetime | None:
    """The same where the instant may never come."""
    return None if ns is None else instant(ns)


def never_is_none(ns: int) -> int | None:
    """The instant, or None for the one that never comes."""
    return None if ns == _raw.SELENE_NEVER else ns


def seconds(ns: int) -> float:
    """Seconds of a length of time."""
    return ns / SECOND


def maybe_seconds(ns: int | None) -> float | None:
    """The same where there may be none."""
    return None if ns is None else seconds(ns)


def show(ns: int) -> str:
    """A length of time for reading.

    >>> [show(n) for n in (0, 850, 12_300, 4_560_000, 999_600_000, 90 * SECOND, 7_260 * SECOND, 200_000 * SECOND)]
    ['0', '850 ns', '12.3 µs', '4.56 ms', '1 s', '1 min 30 s', '2 h 1 min', '2 d 7 h']
    """
    if ns < 0:
        return "-" + show(-ns)
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000), ("s", SECOND)):
        # Three digits of what is just below 1 000 would be those of the next unit.
        if ns < size * (60 if unit == "s" else 999.5):
            return f"{ns / size:.3g} {unit}" if ns else "0"
    whole = ns // SECOND
    for big, size, small, part in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {big}" + (f" {rest} {small}" if rest else "")
    raise AssertionError(ns)
