"""Where the time of a task went: for readers, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from .._waits import bar
from .duration import show
from .problem import printable

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import Console

    from .. import Waits


def show_waits(console: Console, waits: Waits) -> None:
    """Where the time of a task went, and the last changes."""
    since = waits.since.astimezone().isoformat(sep=" ", timespec="seconds")
    head = (f"{printable(waits.id)} is {waits.state}", "bold")
    console.print(Text.assemble(head, f"; of the {show(waits.total_ns)} since {since}"))
    table = Table(box=None, padding=(0, 1), show_header=False)
    for justify in ("right", "right", "left", "left"):
        table.add_column(justify=justify, no_wrap=justify == "right")
    longest = max((part.duration_ns for part in waits.parts), default=0)
    for part in sorted(waits.parts, key=lambda part: -part.duration_ns):
        times = f" ({part.times} times)" if part.times > 1 else ""
        table.add_row(
            show(part.duration_ns),
            f"{100 * part.duration_ns / max(1, waits.total_ns):.1f} %",
            Text(bar(part.duration_ns, longest, 24), "cyan"),
            Text(printable(f"{part}{times}")),
        )
    console.print(table)
    if waits.preferred:
        shown = ", ".join(printable(name) for name in waits.preferred_ids)
        runs = "run" if waits.preferred == 1 else "runs"
        console.print(Text(f"{waits.preferred} {runs} went before it" + (f", the last of {shown}" if shown else "")))
    for change in waits.changes:
        console.print(Text(f"  {printable(str(change))}", "dim"))


def waits_json(waits: Waits) -> dict[str, Any]:
    """Where the time of a task went, as JSON; durations in ns, which add up."""
    return {
        "id": waits.id,
        "state": str(waits.state),
        "since": _iso(waits.since),
        "until": _iso(waits.until),
        "total_ns": waits.total_ns,
        "parts": [
            {
                "reason": str(part.code),
                "about": None if part.about is None else str(part.about),
                "duration_ns": part.duration_ns,
                "times": part.times,
            }
            for part in waits.parts
        ],
        "changes": [
            {
                "at": _iso(change.at),
                "reason": str(change.code),
                "about": None if change.about is None else str(change.about),
            }
            for change in waits.changes
        ],
        "preferred": waits.preferred,
        "preferred_ids": list(waits.preferred_ids),
    }


def _iso(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
