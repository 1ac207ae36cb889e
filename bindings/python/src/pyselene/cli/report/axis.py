"""The time axis of a report: where its marks stand and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ..duration import DAY, HOUR, MINUTE, SECOND

_STEPS: Final = (
    SECOND,
    5 * SECOND,
    15 * SECOND,
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
    28 * DAY,
    364 * DAY,
)


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark of the axis."""

    at: int
    text: str
    is_day: bool


def instant(at: int, form: str = "%a %-d %b %H:%M:%S") -> str:
    """An instant for a reader, in UTC."""
    return datetime.fromtimestamp(at // SECOND, UTC).strftime(form)


def marks(begin: int, end: int, most: int = 10) -> list[Mark]:
    """Marks at round times, at most a given number."""
    step = next((step for step in _STEPS if (end - begin) // step < most), _STEPS[-1])
    result = []
    at = -(-begin // step) * step
    while at < end:
        is_day = at % DAY == 0
        form = "%a %-d %b" if is_day else "%H:%M" if step >= MINUTE else "%H:%M:%S"
        result.append(Mark(at, instant(at, form), is_day))
        at += step
    return result
