"""What the turn of a task follows from under the freshness rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ._time import instant, seconds


@dataclass(frozen=True, slots=True)
class Pace:
    """What the turn of a task follows from under the freshness rule: its age, times its pace.

    `runs` is how many of its last outcomes are known (at most 16), `news` how many of them found something new;
    `per_mille` its pace in thousandths of that of a task of normal priority that takes 5 s and always finds something,
    `pace_class` the class of its pace, 0 (the fastest) … 63: four of them are half the pace.
    """

    fresh_since_ns: int
    cost_ns: int
    runs: int
    news: int
    per_mille: int
    pace_class: int

    @property
    def fresh_since(self) -> datetime:
        """Its age counts from this instant."""
        return instant(self.fresh_since_ns)

    @property
    def cost(self) -> float:
        """What a run takes on average, in seconds."""
        return seconds(self.cost_ns)

    @property
    def words(self) -> tuple[str, str]:
        """Its pace and how often it found something new, for a table."""
        return f"{self.per_mille / 1000:.2f}", f"{self.news} of {self.runs}" if self.runs else "-"


def pace_of(values: Sequence[int]) -> Pace | None:
    """Reads the fields of a pace; None unless the scheduler has the freshness rule."""
    pace = Pace(*values)
    return pace if pace.per_mille else None
