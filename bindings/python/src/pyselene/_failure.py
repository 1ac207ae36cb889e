"""Why a task's last run failed: what a record tells of it, and what is said of an exception."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ._library import text
from ._time import instant

#: Bytes of UTF-8 that the library keeps.
_MOST = 1024


@dataclass(frozen=True, slots=True)
class LastFailure:
    """When a task's last run failed, which attempt that was, and why: of an exception its type, its text and the place
    that raised it.
    """

    at_ns: int
    attempt: int
    message: str

    @property
    def at(self) -> datetime:
        """When it failed."""
        return instant(self.at_ns)

    def __str__(self) -> str:
        return self.message or "failed"


def told_failure(at: int, attempt: int, address: int, length: int) -> LastFailure | None:
    """The failure of a record; None without one."""
    return LastFailure(at, attempt, text(address, length)) if at else None


def encode_message(message: str, place: str = "") -> bytes:
    """A message as the library takes it, so much of it that the place behind it is kept."""
    end = place.encode("utf-8", "replace")[:_MOST]
    begin = message.replace("\0", "\\0").encode("utf-8", "replace")[: _MOST - len(end)]
    return begin.decode("utf-8", "ignore").encode() + end


def words_of(error: BaseException) -> str:
    """The text of an exception, whatever its class makes of that."""
    try:
        return str(error)
    except Exception:
        return "(its text cannot be read)"


def describe(error: BaseException) -> bytes:
    """Type and text of an exception, and the place that raised it.

    >>> try:
    ...     int("12 h")
    ... except ValueError as error:
    ...     describe(error).decode().rpartition(" (")[0]
    "ValueError: invalid literal for int() with base 10: '12 h'"
    """
    kind = type(error)
    module = kind.__module__
    name = kind.__qualname__
    if module != "builtins" and not module.startswith("pyselene."):
        name = f"{module}.{name}"
    said = words_of(error)
    trace = error.__traceback__
    place = ""
    while trace is not None:
        place = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})"
        trace = trace.tb_next
    return encode_message(f"{name}: {said}" if said else name, place)
