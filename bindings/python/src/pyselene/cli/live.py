"""The live table: how a window's budget is being spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from .board import Board, View
from .duration import SECOND, show
from .sheet import Sheet
from .show import OUTCOME_STYLES, words
from .wire import Window

_BAR = 40
_WAITS = 10
_DONE = 12
_LOOK_EVERY = 0.5

Waits = Callable[[], Sequence[tuple[str, str]]]
"""Gives the tasks that wait, each with the reason."""


class LiveTable:
    """Renders the board of a window; `rich` asks for it again and again."""

    def __init__(self, head: Text, window: Window, board: Board, waits: Waits) -> None:
        self._head = head
        self._window = window
        self._board = board
        self._waits = waits
        self._begun = time.monotonic()
        self._looked = float("-inf")
        self._found: Sequence[tuple[str, str]] = ()

    def __rich__(self) -> RenderableType:
        elapsed = time.monotonic() - self._begun
        if time.monotonic() - self._looked >= _LOOK_EVERY:
            self._looked = time.monotonic()
            self._found = self._waits()
        view = self._board.view()
        # What began or ended since the last look waits no more.
        busy = {run.id for run in view.active} | {run.id for run in view.done}
        waits = [wait for wait in self._found if wait[0] not in busy]
        return render(self._head, self._window, elapsed, view, waits)


def render(head: Text, window: Window, elapsed: float, view: View, waits: Sequence[tuple[str, str]]) -> RenderableType:
    """One picture of the live table."""
    rows = Sheet("", "task", "time", "estimate", " ", numbers=("time", "estimate"), spare=("estimate",), prose=(" ",))
    for done in view.done[-_DONE:]:
        style = OUTCOME_STYLES[done.outcome]
        rows.add_row(
            Text("done", style),
            Text(done.id),
            show(round(done.took * SECOND)),
            "",
            Text(f"{words(done.outcome)}, {done.end}", style),
        )
    for active in view.active:
        told = f"stopping: {words(active.stopping)}" if active.stopping else f"score {active.score:.3f}"
        part = active.elapsed / active.estimate if active.estimate else 1.0
        rows.add_row(
            Text("runs", "bold cyan"),
            Text(active.id, "bold"),
            show(round(active.elapsed * SECOND)),
            show(round(active.estimate * SECOND)),
            Text.assemble(_meter(part, 10), "  ", (told, "yellow" if active.stopping else "dim")),
        )
    for name, reason in waits[:_WAITS]:
        rows.add_row(Text("waits", "dim"), Text(name, "dim"), "", "", Text(reason, "dim"))
    if len(waits) > _WAITS:
        rows.add_row(Text("waits", "dim"), Text(f"and {len(waits) - _WAITS} more", "dim"), "", "", "")
    budget = window.budget / SECOND
    line = Text.assemble(
        "  ",
        budget_bar(elapsed, budget, window.kept / SECOND),
        f"  {show(round(min(elapsed, budget) * SECOND))} of {show(window.budget)} spent,"
        f" {len(view.done)} done, {len(view.active)} running, {len(waits)} waiting",
    )
    return Group(head, line, Text(), Padding(rows, (0, 0, 0, 2), expand=False), Text())


def budget_bar(elapsed: float, budget: float, reserve: float, width: int = _BAR) -> Text:
    """The budget as a bar: what is spent, what is left, and the reserve at its end.

    >>> budget_bar(15, 30, 3, 20).plain
    '━━━━━━━━━━╺━━━━━━━┅┅'
    """
    spent = min(width, int(width * elapsed / budget))
    kept = round(width * reserve / budget)
    bar = Text()
    for cell in range(width):
        in_reserve = cell >= width - kept
        if cell < spent:
            bar.append("━", "yellow" if in_reserve else "cyan")
        elif in_reserve:
            bar.append("┅", "yellow dim")
        else:
            bar.append("╺" if cell == spent and spent else "━", "bright_black")
    return bar


def _meter(part: float, width: int) -> Text:
    full = min(width, round(width * part))
    return Text.assemble(("━" * full, "yellow" if part > 1 else "cyan"), ("━" * (width - full), "bright_black"))
