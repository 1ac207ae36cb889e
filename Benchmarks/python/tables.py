"""The tables that `make bench` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from measure import Measurement
from results import Results

CHANGES = (
    "cycle of 30 s", "next", "complete", "register", "update", "replace", "cancel", "cancel by tag, each", "explain",
    "next wake-up", "open the store",
)  # fmt: skip


def amount(value: float, unit: str) -> str:
    """Three digits and a unit that suits them."""
    if unit == "ns":
        for factor, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
            if value >= factor:
                return f"{digits(value / factor)} {name}"
        return f"{digits(value)} ns"
    if unit == "bytes":
        return f"{value / 1000:.0f} kB" if value >= 10_000 else f"{value:.0f} B"
    return f"{value:.0f}"


def digits(value: float) -> str:
    """Three of them."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def grouped(number: int) -> str:
    """1 000 000."""
    return f"{number:,}".replace(",", " ")


def cell(found: Measurement | None) -> str:
    """The median, and half of what the middle half of the samples takes up."""
    if found is None:
        return "–"
    text = amount(found.median, found.unit)
    if found.repeats > 1 and found.unit == "ns":
        text += f" ±{(found.q3 - found.q1) / 2 / found.median:3.0%}"
    return text


def grid(title: str, rows: Iterable[tuple[str, dict[int, Measurement]]], sizes: list[int]) -> Iterator[str]:
    """A line for each way, a column for each number of tasks; nothing if nothing was measured."""
    known = [(name, found) for name, found in rows if found]
    if not known:
        return
    yield ""
    yield f"{title:34}" + "".join(f"{grouped(tasks):>15}" for tasks in sizes)
    for name, found in known:
        yield f"  {name:32}" + "".join(f"{cell(found.get(tasks)):>15}" for tasks in sizes)


def grids(results: Results) -> Iterator[str]:
    """All that grows or does not grow with the number of tasks."""
    sizes = results.sizes()
    yield from grid("decision", ((way, results.of("decide", way)) for way in results.ways("decide")), sizes)
    changes = [(what, results.of(what, "Selene")) for what in CHANGES]
    reading = "reading all rows of that store", results.of("open the store", "SELECT of all rows")
    yield from grid("Selene, each", [*changes, reading], sizes)
    for what, title in (("register", "register, each"), ("memory", "memory, bytes a task")):
        yield from grid(title, ((way, results.of(what, way)) for way in results.ways(what)), sizes)
    for what, title in (("dispatch", "a run in C"), ("dispatch in Python", "a run in Python")):
        yield from grid(title, ((way, results.of(what, way)) for way in results.ways(what)), sizes)


def hosts(results: Results) -> Iterator[str]:
    """What a host sees: how soon work begins, and what a neighbour takes from a task."""
    shares = ("p50", "p99", "greatest")
    yield ""
    yield f"{'enqueue to begin, a lane is free':34}" + "".join(f"{share:>15}" for share in shares)
    for way in results.ways("enqueue to begin, p50"):
        found = [results.find(f"enqueue to begin, {share}", way) for share in shares]
        yield f"  {way:32}" + "".join(f"{cell(one):>15}" for one in found)
    beside = [what.removeprefix("runs beside ") for what in whats(results, "runs beside ")]
    yield ""
    yield f"{'runs of a task of 1 s, longest gap':34}" + "".join(f"{name:>23}" for name in beside)
    for way in dict.fromkeys(way for name in beside for way in results.ways(f"runs beside {name}")):
        pairs = [(results.find(f"runs beside {name}", way), results.find(f"gap beside {name}", way)) for name in beside]
        yield f"  {way:32}" + "".join(f"{f'{cell(runs)}, {cell(gap)}':>23}" for runs, gap in pairs)


def whats(results: Results, prefix: str) -> list[str]:
    """What was measured whose name begins so."""
    return list(dict.fromkeys(found.what for found in results.measurements if found.what.startswith(prefix)))


def store(results: Results) -> Iterator[str]:
    """Durability beside bare statements."""
    yield ""
    yield f"{'store':34}{'plain SQLite':>15}{'Selene':>15}{'ratio':>15}"
    for what in dict.fromkeys(found.what for found in results.measurements if found.way == "plain SQLite"):
        plain, own = results.find(what, "plain SQLite"), results.find(what, "Selene")
        if plain and own:
            yield f"  {what:32}{cell(plain):>15}{cell(own):>15}{own.median / plain.median:15.2f}"


def once(results: Results) -> Iterator[str]:
    """Loading and size."""
    yield ""
    yield "library"
    for what in ("load", "size", "commits"):
        for way in results.ways(what):
            found = results.find(what, way)
            yield f"  {(what + ': ' + way):47}{cell(found):>15}"


def notes(results: Results) -> Iterator[str]:
    """What each way does and does not."""
    yield ""
    yield "who does what"
    width = max((len(way) for way in results.about), default=0)
    for way, text in results.about.items():
        first, *more = textwrap.wrap(text, 116 - width)
        yield f"  {way:{width}}  {first}"
        yield from (f"  {'':{width}}  {line}" for line in more)


def tables(results: Results) -> Iterator[str]:
    """All of them, with the machine."""
    yield from ("", *(f"{name}: {value}" for name, value in results.machine.items()))
    yield "medians ± half the width of the middle half; columns are numbers of tasks"
    yield from grids(results)
    yield from hosts(results)
    yield from store(results)
    yield from once(results)
    yield from notes(results)
