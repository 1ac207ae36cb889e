"""How far a run has come, in its own words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ._library import text
from ._time import instant


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run told by run.progress(): how much is done of how much (0: unknown), and a text; when it did.

    >>> str(Progress(0, 3, 10, "pages")), str(Progress(0, 3, 0, "")), Progress(0, 3, 10, "").share
    ('3/10 pages', '3', 0.3)
    """

    at_ns: int
    done: int
    total: int
    text: str = ""

    @property
    def at(self) -> datetime:
        """When it was told."""
        return instant(self.at_ns)

    @property
    def share(self) -> float | None:
        """How much is done of the whole, from 0 to 1; None while that is unknown."""
        return min(1.0, self.done / self.total) if self.total else None

    def __str__(self) -> str:
        count = f"{self.done}/{self.total}" if self.total else f"{self.done}" if self.done else ""
        return " ".join(filter(None, (count, self.text)))


def told_progress(at: int, done: int, total: int, address: int, length: int) -> Progress | None:
    """The progress of a record; None where none was told."""
    return Progress(at, done, total, text(address, length)) if at else None
