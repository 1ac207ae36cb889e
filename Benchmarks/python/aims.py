"""What Selene is to reach, beside what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from results import Results
from tables import amount

THOUSAND, MILLION = 1_000, 1_000_000


@dataclass(frozen=True)
class Found:
    """The median of the repeats, and the least of them, which other work on the machine raises less."""

    median: float
    best: float


@dataclass(frozen=True)
class Aim:
    """A figure that is at most, or at least, so much."""

    what: str
    limit: float
    unit: str
    found: Found | None
    """None: not measured."""
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """In the last column."""
        if self.found is None:
            return "not measured"
        if self.reached(self.found.median):
            return "reached"
        return "reached at best" if self.reached(self.found.best) else "NOT REACHED"

    def reached(self, value: float) -> bool:
        """Whether a value is on the right side."""
        return value >= self.limit if self.at_least else value <= self.limit


def aims(results: Results) -> Iterator[Aim]:
    """In the order of the tables."""

    def figure(what: str, way: str, tasks: int = 0) -> Found | None:
        found = results.find(what, way, tasks)
        return Found(found.median, found.min) if found else None

    def ratio(upper: Found | None, lower: Found | None) -> Found | None:
        # Of medians alone: the least of both need not be of one time.
        return Found(upper.median / lower.median, upper.median / lower.median) if upper and lower else None

    def above(upper: Found | None, lower: Found | None) -> Found | None:
        return Found(upper.median - lower.median, upper.best - lower.best) if upper and lower else None

    decision, life = figure("decide", "Selene", MILLION), "FULL: register, start, complete"
    yield Aim("a decision among 1 000 000", 5_000, "ns", decision)
    for way, when in (("Selene", ""), ("Selene, caches emptied", ", caches emptied")):
        growth = ratio(figure("decide", way, 10 * MILLION), figure("decide", way, THOUSAND))
        yield Aim(f"a decision, 10 000 000 : 1 000 tasks{when}", 3, "times", growth)
    sorting = figure("decide", "sort and scan in C", MILLION)
    yield Aim("sort and scan : decision, 1 000 000", 50_000, "times", ratio(sorting, decision), at_least=True)
    yield Aim("register, 1 000 000", 500, "ns", figure("register", "Selene, defaults", MILLION))
    yield Aim(
        "memory of a task that has not run, 1 000 000", 200, "bytes", figure("memory", "Selene, defaults", MILLION)
    )
    bare = figure("dispatch", "bare call", THOUSAND)
    yield Aim("a run in C, inline, above the bare call", 300, "ns", above(figure("dispatch", "inline", THOUSAND), bare))
    yield Aim("a run in Python", 2_500, "ns", figure("dispatch in Python", "pyselene", THOUSAND))
    yield Aim("commits of a durable cycle of 10 runs", 12, "", figure("commits", "a cycle of 10 runs"))
    yield Aim("commits of a batch of 10 000 tasks", 1, "", figure("commits", "a batch of 10 000 tasks"))
    yield Aim(
        "life of a task, FULL : plain SQLite", 1.2, "times", ratio(figure(life, "Selene"), figure(life, "plain SQLite"))
    )
    for what in ("register", "batch of 10 000, each", "a cycle of 10 runs"):
        times = ratio(figure(f"FULL: {what}", "Selene"), figure(f"FULL: {what}", "plain SQLite"))
        yield Aim(f"FULL: {what} : plain SQLite", 1.3, "times", times)
    opening = figure("open the store", "Selene", 100 * THOUSAND)
    yield Aim("open a store of 100 000 tasks", 500_000_000, "ns", opening)
    opened = figure("memory", "Selene, opened from a store", 100 * THOUSAND)
    registered = figure("memory", "Selene, the same registered", 100 * THOUSAND)
    yield Aim("memory of a store opened : registered, 100 000", 1, "times", ratio(opened, registered))
    yield Aim("loading, above SQLite", 1_000_000, "ns", figure("load", "libselene.so above it"))
    yield Aim("libselene.so, stripped", 355_000, "bytes", figure("size", "libselene.so, stripped"))


def lines(results: Results) -> Iterator[str]:
    """A table for a terminal."""
    yield ""
    yield f"{'aims':53}{'aim':>18}{'median':>14}{'best':>12}"
    for aim in aims(results):
        limit = ("at least " if aim.at_least else "at most ") + written(aim.limit, aim.unit)
        median, best = (written(x, aim.unit) for x in (aim.found.median, aim.found.best)) if aim.found else ("–", "–")
        yield f"  {aim.what:51}{limit:>18}{median:>14}{best if best != median else '':>12}  {aim.verdict}"


def written(value: float, unit: str) -> str:
    """A number with its unit."""
    if unit != "times":
        return amount(value, unit)
    return f"{value:,.0f}".replace(",", " ") + "×" if value >= 100 else f"{value:.2f}×"
