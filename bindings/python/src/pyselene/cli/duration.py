"""Durations as people write and read them: ``250ms``, ``2.5s``, ``1h30m``, or plain seconds."""

from __future__ import annotations

import re
from typing import Final

from .._time import show

__all__ = [
    "ALLOWED",
    "DAY",
    "HOUR",
    "MILLISECOND",
    "MINUTE",
    "NANOSECONDS",
    "SECOND",
    "read",
    "show",
    "write",
]

NANOSECONDS: Final = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
    "w": 604_800_000_000_000,
}
MILLISECOND: Final = NANOSECONDS["ms"]
SECOND: Final = NANOSECONDS["s"]
MINUTE: Final = NANOSECONDS["m"]
HOUR: Final = NANOSECONDS["h"]
DAY: Final = NANOSECONDS["d"]

ALLOWED: Final = "seconds, or a number with ns, us, ms, s, m, h, d or w, such as 250ms, 2.5s or 1h30m"
"""What `read` accepts, for messages."""

_SECONDS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_PART: Final = re.compile(r"([0-9]+)(?:\.([0-9]+))?(ns|us|ms|s|m|h|d|w)")
_GREATEST: Final = 2**63 - 1


def read(text: str) -> int:
    """Reads a duration into nanoseconds.

    >>> read("1h30m") == 5400 * SECOND
    True
    >>> read("0.25s") == read("0.25")
    True

    Raises:
        ValueError: the text is not a duration, or too long a one.
    """
    total, at = 0, 0
    if _SECONDS.fullmatch(text):
        text += "s"
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            break
        whole, fraction, unit = part.groups()
        # Without floating point: what a person writes is what the scheduler gets.
        total += int(whole) * NANOSECONDS[unit]
        if fraction:
            total += int(fraction) * NANOSECONDS[unit] // 10 ** len(fraction)
        at = part.end()
    if not text or at < len(text) or total > _GREATEST:
        raise ValueError(f'found "{text}"; allowed is {ALLOWED}')
    return total


def write(nanoseconds: int) -> str:
    """Writes a duration exactly, as `read` reads it.

    >>> write(5400 * SECOND), write(250_000_000), write(0)
    ('1h30m', '250ms', '0s')
    """
    parts = []
    for unit in ("d", "h", "m", "s", "ms", "us", "ns"):
        count, nanoseconds = divmod(nanoseconds, NANOSECONDS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
