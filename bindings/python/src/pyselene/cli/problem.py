"""What ends a command: an exit code and a message that says what was found and what is allowed."""

from __future__ import annotations

from enum import IntEnum


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

    As text it is ``file:line:column: message``, the line, and a caret below the place.
    """

    def __init__(self, path: str, text: str, line: int, column: int, message: str) -> None:
        lines = text.split("\n")
        found = lines[line - 1] if 0 < line <= len(lines) else ""
        shown = "".join(c if c == "\t" or c.isprintable() else "?" for c in found.rstrip("\r"))
        below = "".join(c if c == "\t" else " " for c in shown[: column - 1]).ljust(column - 1)
        super().__init__(f"{path}:{line}:{column}: {message}\n  {shown}\n  {below}^", Exit.WORKLOAD)
        self.path = path
        self.line = line
        self.column = column
        self.message = message
