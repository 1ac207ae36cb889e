"""The same simulation under each rule, side by side: for readers, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from .duration import show
from .report import Result, model
from .sheet import Sheet
from .simulate import instant_text

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

NO_CHANGES: Final = (
    'no task says how often its source changes, as in simulate = { changes = "2h" }: late news is unknown'
)


def show_comparison(console: Console, history: model.History, results: Sequence[Result], page: Path | None) -> None:
    """A line for each rule."""
    rows = Sheet(
        "rule", "mean age", "outdated", "late by", "oldest", "windows cut", "used", "runs",
        numbers=("mean age", "outdated", "late by", "oldest", "windows cut", "used", "runs"),
        spare=("runs", "used", "oldest"),
    )  # fmt: skip
    for each in results:
        fresh = each.fresh
        rows.add_row(
            Text(each.rule, "bold" if each.rule == history.rule else ""),
            show(round(fresh.age)),
            "–" if fresh.outdated is None else f"{100 * fresh.outdated:.1f} %",
            "–" if fresh.lateness is None else show(round(fresh.lateness)),
            show(fresh.oldest),
            f"{100 * each.cut:.1f} %",
            f"{100 * each.part_used:.0f} %",
            str(each.runs),
        )
    console.print(Text(history.title, "bold"))
    console.print(Text(", ".join(history.facts), "dim"))
    console.print()
    console.print(Padding(rows, (0, 0, 0, 2), expand=False))
    if all(each.fresh.lateness is None for each in results):
        console.print(Text(f"\n  {NO_CHANGES}", "dim"))
    if page is not None:
        console.print(Text(f"\n  the report is in {page}"))


def comparison(history: model.History, results: Sequence[Result]) -> dict[str, object]:
    """The same as JSON can hold it; durations are in seconds."""
    return {
        "title": history.title,
        "begin": instant_text(history.begin),
        "end": instant_text(history.end),
        "rules": [fields(each) for each in results],
    }


def fields(each: Result) -> dict[str, object]:
    """What came of one rule."""
    fresh = each.fresh
    return {
        "rule": each.rule,
        "mean_age": fresh.age / 1e9,
        "oldest": fresh.oldest / 1e9,
        "outdated": fresh.outdated,
        "late_by": None if fresh.lateness is None else fresh.lateness / 1e9,
        "windows": each.windows,
        "windows_cut": each.windows_cut,
        "budget": each.budget / 1e9,
        "used": each.used / 1e9,
        "runs": each.runs,
    }
