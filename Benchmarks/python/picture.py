"""The cost of a decision against the number of tasks, both axes logarithmic: in letters, and drawn by matplotlib."""

from __future__ import annotations

import math
import string
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from results import Results
from tables import amount, grouped

COLUMNS, LINES = 64, 22
LINE_OF = {
    "Selene": ("#0072b2", "-", 3.0),
    "five binary heaps in C": ("#009e73", "-", 1.5),
    "libuv timers, ten due": ("#e69f00", "--", 1.5),
    "SQLite index, ten due": ("#cc79a7", "--", 1.5),
    "SQLite index, same question": ("#cc79a7", "-", 1.5),
    "pyselene, plan()": ("#56b4e9", "-", 2.0),
    "APScheduler, ten due": ("#000000", "--", 1.5),
    "sort and scan in C": ("#d55e00", "-", 1.5),
}
"""Colour, style and width. Solid lines answer the same question; dashed ones only what is due."""


def curves(results: Results) -> dict[str, dict[int, float]]:
    """Ns by number of tasks."""
    found = {way: {tasks: one.median for tasks, one in results.of("decide", way).items()} for way in LINE_OF}
    return {way: points for way, points in found.items() if points}


def in_letters(results: Results) -> Iterator[str]:
    """For a terminal: a letter for each way, straight between what was measured."""
    found = curves(results)
    values = [value for points in found.values() for value in points.values()]
    if not values:
        return
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    sizes = results.sizes()
    first, last = math.log10(sizes[0]), math.log10(max(sizes[-1], sizes[0] * 10))
    canvas = [[" "] * COLUMNS for _ in range(LINES)]
    for letter, points in reversed([*zip(string.ascii_uppercase, found.values(), strict=False)]):
        for column in range(COLUMNS):
            value = between(points, first + (last - first) * column / (COLUMNS - 1))
            if value is not None:
                line = round((high - value) / max(high - low, 1) * (LINES - 1))
                canvas[line][column] = letter
    yield ""
    yield "cost of a decision (up) against the number of tasks (right), both logarithmic; letters cover later ones"
    marks = {round((high - power) / max(high - low, 1) * (LINES - 1)): power for power in range(low, high + 1)}
    for number, cells in enumerate(canvas):
        mark = power_of_ten(10.0 ** marks[number]) if number in marks else ""
        yield f"{mark:>8} │{''.join(cells).rstrip()}"
    yield f"{'':8} └{'─' * COLUMNS}"
    axis = [" "] * (COLUMNS + 12)
    for tasks in sizes:
        text = grouped(tasks)
        column = round((math.log10(tasks) - first) / (last - first) * (COLUMNS - 1))
        column = max(0, column - len(text) // 2)
        axis[column : column + len(text)] = text
    yield f"{'':10}{''.join(axis).rstrip()}"
    for letter, way in zip(string.ascii_uppercase, found, strict=False):
        yield f"{'':10}{letter}  {way}"


def between(points: dict[int, float], at: float) -> float | None:
    """Both as logarithms; None outside what was measured."""
    known = sorted((math.log10(tasks), math.log10(value)) for tasks, value in points.items())
    for (left, low), (right, high) in pairwise(known):
        if left - 1e-9 <= at <= right + 1e-9:
            return low + (high - low) * (at - left) / (right - left)
    return known[0][1] if len(known) == 1 and abs(known[0][0] - at) < 0.02 else None


def draw(results: Results, folder: Path) -> list[Path]:
    """decision.svg and decision.png; raises ImportError without matplotlib."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "selene"
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullLocator

    figure, axes = pyplot.subplots(figsize=(9, 5.4), facecolor="white", layout="constrained")
    ends = []
    for way, points in curves(results).items():
        colour, style, width = LINE_OF[way]
        axes.plot([*points], [*points.values()], style, color=colour, lw=width, marker="o", markersize=width + 2)
        ends.append(([*points.values()][-1], way, colour))
    axes.set(facecolor="white", xscale="log", yscale="log", xlabel="tasks", ylabel="one decision")
    axes.set_title("Which tasks deserve a window of 30 s? What deciding costs", loc="left", fontsize=12)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: grouped(int(value))))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    axes.spines[["top", "right"]].set_visible(False)
    name_the_ends(axes, ends, results.sizes()[-1])
    key = "solid: the same question, the same picks\ndashed: only what is due"
    axes.text(0.015, 0.97, key, transform=axes.transAxes, fontsize=8, color="#555555", va="top")
    made = [folder / "decision.svg", folder / "decision.png"]
    for path in made:
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
    return made


def name_the_ends(axes: Any, ends: list[tuple[float, str, str]], last: int) -> None:
    """Each curve's name right of the picture, at the height of its end, but none above another."""
    lowest, highest = (math.log10(limit) for limit in axes.get_ylim())
    step, before = (highest - lowest) / 22, -math.inf
    for value, way, colour in sorted(ends):
        before = max(math.log10(value), before + step)
        weight = "bold" if way == "Selene" else "normal"
        axes.text(last * 1.35, 10**before, way, color=colour, fontsize=9, va="center", weight=weight)


def power_of_ten(value: float) -> str:
    """Without digits after the point."""
    return amount(value, "ns").replace(".00", "").replace(".0", "")
