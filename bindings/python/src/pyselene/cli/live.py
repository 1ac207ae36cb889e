"""The live table: how a window's budget is being spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
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
_NARROW = 90
_FRAME = 7
"""Lines around the rows: the budget, which may take two, a blank one, the head, the end."""

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

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        elapsed = time.monotonic() - self._begun
        if time.monotonic() - self._looked >= _LOOK_EVERY:
            self._looked = time.monotonic()
            self._found = self._waits()
        view = self._board.view()
        # What began or ended since the last look waits no more.
        busy = {run.id for run in view.active} | {run.id for run in view.done}
        waits = [wait for wait in self._found if wait[0] not in busy]
        head = len(console.render_lines(self._head, options, pad=False))
        room = options.size.height - head - _FRAME
        yield render(self._head, self._window, elapsed, view, waits, options.max_width, max(1, room))


def render(
    head: Text,
    window: Window,
    elapsed: float,
    view: View,
    waits: Sequence[tuple[str, str]],
    width: int = 100,
    room: int = 100,
) -> RenderableType:
    """One picture of the live table, with room for a number of rows: what runs comes first, then what was just done."""
    narrow = width < _NARROW
    rows = Sheet(
        "", "task", "time", "estimate", " ",
        numbers=("time", "estimate"), spare=("estimate", "task", "time"), prose=(" ",), flat=True,
    )  # fmt: skip
    active = view.active[:room]
    room -= len(active)
    done_room = min(_DONE, room if not waits else max(room - 2, room // 2))
    shown = view.done[-done_room:] if done_room > 0 else ()
    room -= len(shown)
    waiting = waits if len(waits) <= min(_WAITS, room) else waits[: max(0, min(_WAITS, room - 1))]
    for done in shown:
        style = OUTCOME_STYLES[done.outcome]
        rows.add_row(
            Text("done", style),
            Text(done.id),
            show(round(done.took * SECOND)),
            "",
            Text(f"{words(done.outcome)}, {done.end}", style),
        )
    for run in active:
        told = f"stopping: {words(run.stopping)}" if run.stopping else f"score {run.score:.3f}"
        if run.progress and not run.stopping:
            told = run.progress
        elif run.pace and not run.stopping:
            told += ", pace {}, news {}".format(*run.pace.words)
        # What it says itself goes before what is expected.
        expected = run.elapsed / run.estimate if run.estimate else 1.0
        part = expected if run.share is None else run.share
        rows.add_row(
            Text("runs", "bold cyan"),
            Text(run.id, "bold"),
            show(round(run.elapsed * SECOND)),
            show(round(run.estimate * SECOND)),
            Text.assemble(_meter(part, 4 if narrow else 10), "  ", (told, "yellow" if run.stopping else "dim")),
        )
    for name, reason in waiting:
        rows.add_row(Text("waits", "dim"), Text(name, "dim"), "", "", Text(reason, "dim"))
    if len(waits) > len(waiting) and room > len(waiting):
        rows.add_row(Text("waits", "dim"), Text(f"and {len(waits) - len(waiting)} more", "dim"), "", "", "")
    budget = window.budget / SECOND
    spent = f"{show(round(min(elapsed, budget) * SECOND))} of {show(window.budget)} spent"
    counts = f"{len(view.done)} done, {len(view.active)} running, {len(waits)} waiting"
    line = Text.assemble("  ", budget_bar(elapsed, budget, window.kept / SECOND, 10 if narrow else _BAR), f"  {spent}")
    line.append(f"\n  {counts}" if narrow else f", {counts}")
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
