"""Tables that fit a terminal: where it is too narrow for all columns the least important ones are left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich import box
from rich.cells import cell_len
from rich.console import RenderHook
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from .problem import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult

_LONGEST_TASK: Final = 36
_SHORTEST_TASK: Final = 12
_NARROWEST_PROSE: Final = 24
_GAP: Final = 3
"""Characters between two columns."""


class Sheet:
    """A table in the style of this program.

    Args:
        columns: their heads, which differ, if only in blanks.
        numbers: those that stand at the right.
        spare: those that may be left out, the least important first; "task" is cut instead, at its place or at last.
        prose: those that may go on in the next line.
        flat: nothing goes on in the next line; what is too long is cut.
    """

    def __init__(
        self,
        *columns: str,
        numbers: Collection[str] = (),
        spare: Sequence[str] = (),
        prose: Collection[str] = (),
        flat: bool = False,
    ) -> None:
        self._columns = columns
        self._numbers = numbers
        self._spare = spare
        self._prose = prose
        self._flat = flat
        self._rows: list[list[Text]] = []

    def add_row(self, *cells: str | Text) -> None:
        """Adds a row; what does not print is escaped, but for the ends of lines of prose."""
        # A name with one would look like another row.
        self._rows.append(
            [
                _escaped(cell, "\n" if name in self._prose else "")
                for name, cell in zip(self._columns, cells, strict=True)
            ]
        )

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def fitted(self, width: int) -> Table:
        """The table with as many columns as have room."""
        widths = {name: self._width(index) for index, name in enumerate(self._columns)}
        for name in self._prose:
            widths[name] = min(widths[name], _NARROWEST_PROSE)
        for name in self._spare:
            if _sum(widths) <= width:
                break
            if name == "task":
                widths[name] = min(widths[name], _SHORTEST_TASK)
            else:
                del widths[name]
        room = width - _sum(widths)
        longest = min(_LONGEST_TASK, max(_SHORTEST_TASK, widths.get("task", 0) + room))
        table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, show_edge=False)
        kept = [index for index, name in enumerate(self._columns) if name in widths]
        for index in kept:
            name = self._columns[index]
            head = name.strip()
            if name in self._numbers:
                table.add_column(head, justify="right", no_wrap=True)
            elif name == "task":
                table.add_column(head, no_wrap=True, overflow="ellipsis", max_width=longest)
            elif self._flat and name in self._prose:
                others = {other: natural for other, natural in widths.items() if other != name}
                if "task" in others:
                    others["task"] = min(longest, self._width(self._columns.index("task")))
                left = max(1, width - _sum(others) - _GAP)
                table.add_column(head, no_wrap=True, overflow="ellipsis", max_width=left)
            else:
                table.add_column(head)
        task = self._columns.index("task") if "task" in self._columns else -1
        for row in self._rows:
            table.add_row(*(_cut(row[index], longest) if index == task else row[index] for index in kept))
        return table

    def _width(self, index: int) -> int:
        name = self._columns[index]
        cells = [row[index] for row in self._rows]
        natural = max([len(name), *(line.cell_len for cell in cells for line in cell.split("\n"))])
        return min(natural, _LONGEST_TASK) if name == "task" else natural

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.fitted(options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.fitted(options.max_width))


def _sum(widths: dict[str, int]) -> int:
    return sum(widths.values()) + _GAP * (len(widths) - 1)


def _cut(cell: Text, width: int) -> Text:
    """A name that fits: what is cut is its middle, as long names are apt to differ at their end."""
    if cell.cell_len <= width:
        return cell
    begin, end = cell.plain, cell.plain
    while cell_len(begin) > width // 2:
        begin = begin[:-1]
    while cell_len(end) > width - 1 - width // 2:
        end = end[1:]
    return Text(f"{begin}…{end}", cell.style)


def _escaped(cell: str | Text, keep: str) -> Text:
    text = cell if isinstance(cell, Text) else Text(cell)
    escaped = printable(text.plain, keep)
    return text if escaped == text.plain else Text(escaped, text.style)


class Trimming(RenderHook):
    """Prints no blanks at the ends of lines, which a reader of a pipe has no use for."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """What is printed, without them."""
        return [_Trimmed(renderable) for renderable in renderables]


@dataclass(frozen=True, slots=True)
class _Trimmed:
    renderable: ConsoleRenderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in Segment.split_lines(console.render(self.renderable, options)):
            while line and not line[-1].text.rstrip(" "):
                line.pop()
            yield from line[:-1]
            if line:
                yield Segment(line[-1].text.rstrip(" "), line[-1].style)
            yield Segment.line()
