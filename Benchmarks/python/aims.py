"""What Selene is to reach, beside what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from results import Results
from tables import amount

THOUSAND, MILLION = 1_000, 1_000_000


@dataclass(frozen=True)
class Aim:
    """A figure that is at most, or at least, so much."""

    what: str
    limit: float
    unit: str
    found: float | None
    """None: not measured."""
    at_least: bool = False

    @property
    def reached(self) -> bool | None:
        """None: not measured."""
        if self.found is None:
            return None
        return self.found >= self.limit if self.at_least else self.found <= self.limit


def aims(results: Results) -> Iterator[Aim]:
    """In the order of the tables."""

    def median(what: str, way: str, tasks: int = 0) -> float | None:
        found = results.find(what, way, tasks)
        return found.median if found else None

    def ratio(upper: float | None, lower: float | None) -> float | None:
        return upper / lower if upper is not None and lower else None

    def above(upper: float | None, lower: float | None) -> float | None:
        return upper - lower if upper is not None and lower is not None else None

    decision, life = median("decide", "Selene", MILLION), "FULL: register, start, complete"
    yield Aim("a decision among 1 000 000", 5_000, "ns", decision)
    for way, when in (("Selene", ""), ("Selene, caches emptied", ", caches emptied")):
        growth = ratio(median("decide", way, 10 * MILLION), median("decide", way, THOUSAND))
        yield Aim(f"a decision, 10 000 000 : 1 000 tasks{when}", 3, "times", growth)
    sorting = median("decide", "sort and scan in C", MILLION)
    yield Aim("sort and scan : decision, 1 000 000", 50_000, "times", ratio(sorting, decision), at_least=True)
    yield Aim("register, 1 000 000", 500, "ns", median("register", "Selene", MILLION))
    yield Aim(
        "memory of a task that has not run, 1 000 000", 200, "bytes", median("memory", "Selene, defaults", MILLION)
    )
    bare = median("dispatch", "bare call", THOUSAND)
    yield Aim("a run in C, inline, above the bare call", 200, "ns", above(median("dispatch", "inline", THOUSAND), bare))
    yield Aim("a run in Python", 3_000, "ns", median("dispatch in Python", "pyselene", THOUSAND))
    yield Aim("commits of a durable cycle of 10 runs", 12, "", median("commits", "a cycle of 10 runs"))
    yield Aim("commits of a batch of 10 000 tasks", 1, "", median("commits", "a batch of 10 000 tasks"))
    yield Aim(
        "life of a task, FULL : plain SQLite", 1.2, "times", ratio(median(life, "Selene"), median(life, "plain SQLite"))
    )
    for what in ("register", "batch of 10 000, each", "a cycle of 10 runs"):
        times = ratio(median(f"FULL: {what}", "Selene"), median(f"FULL: {what}", "plain SQLite"))
        yield Aim(f"FULL: {what} : plain SQLite", 1.3, "times", times)
    opening = median("open the store", "Selene", 100 * THOUSAND)
    yield Aim("open a store of 100 000 tasks", 500_000_000, "ns", opening)
    opened = median("memory", "Selene, opened from a store", 100 * THOUSAND)
    registered = median("memory", "Selene, the same registered", 100 * THOUSAND)
    yield Aim("memory of a store opened : registered, 100 000", 1, "times", ratio(opened, registered))
    yield Aim("loading, above SQLite", 1_000_000, "ns", median("load", "libselene.so above it"))
    yield Aim("libselene.so, stripped", 300_000, "bytes", median("size", "libselene.so, stripped"))


def lines(results: Results) -> Iterator[str]:
    """A table for a terminal."""
    yield ""
    yield f"{'aims':53}{'aim':>18}{'found':>14}"
    for aim in aims(results):
        limit = ("at least " if aim.at_least else "at most ") + written(aim.limit, aim.unit)
        found = "–" if aim.found is None else written(aim.found, aim.unit)
        verdict = {True: "reached", False: "NOT REACHED", None: "not measured"}[aim.reached]
        yield f"  {aim.what:51}{limit:>18}{found:>14}  {verdict}"


def written(value: float, unit: str) -> str:
    """A number with its unit."""
    if unit != "times":
        return amount(value, unit)
    return f"{value:,.0f}".replace(",", " ") + "×" if value >= 100 else f"{value:.2f}×"
