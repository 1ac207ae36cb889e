"""What ends a command: an exit code and a message that says what was found and what is allowed."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

_LONGEST_LINE: Final = 120
"""Characters of a line that a message shows."""

_ESCAPES: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def printable(text: str, keep: str = "") -> str:
    r"""A text as a terminal may get it: what does not print is escaped as TOML does it.

    >>> print(printable("a\x1b[1m\n"))
    a\u001b[1m\n
    """
    return "".join(c if c.isprintable() or c in keep else _escaped(c) for c in text)


def _escaped(c: str) -> str:
    return _ESCAPES.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}")


class Exit(IntEnum):
    """Exit codes of ``pyselene``, as ``--help`` tells them."""

    DONE = 0
    TASK_FAILED = 1
    USAGE = 2
    WORKLOAD = 3
    REFUSED = 4
    SYSTEM = 5
    LOCKED = 6
    SIGNALLED = 128
    """Plus the number of the signal."""


class Problem(Exception):
    """Ends the command with a message and an exit code."""

    def __init__(self, message: str, code: Exit = Exit.REFUSED) -> None:
        super().__init__(message)
        self.code = code


class WorkloadProblem(Problem):
    """Something in a workload file is wrong, and this is where.

    As text it is ``file:line:column: message``, the line, and a caret below the place; of a long line only what is
    around it.
    """

    def __init__(self, path: str, text: str, line: int, column: int, message: str) -> None:
        lines = text.split("\n")
        found = lines[line - 1] if 0 < line <= len(lines) else ""
        shown = "".join(c if c == "\t" or c.isprintable() else "?" for c in found.rstrip("\r"))
        shown, at = _around(shown, column - 1)
        below = "".join(c if c == "\t" else " " for c in shown[:at]).ljust(at)
        super().__init__(f"{path}:{line}:{column}: {message}\n  {shown}\n  {below}^", Exit.WORKLOAD)
        self.path = path
        self.line = line
        self.column = column
        self.message = message


def _around(line: str, at: int) -> tuple[str, int]:
    """What is near a place of a line, and where the place is in that."""
    begin = 0 if len(line) <= _LONGEST_LINE else max(0, at - _LONGEST_LINE // 2)
    found = line[begin : begin + _LONGEST_LINE]
    before, after = "…" if begin else "", "…" if begin + len(found) < len(line) else ""
    return before + found + after, at - begin + len(before)
