"""Runs the command line; the order of the imports is that of the commands in the help."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from functools import cache
from typing import Any

from typer.main import get_command

from . import (  # noqa: F401
    command_run,
    command_serve,
    command_simulate,
    commands_fleet,
    commands_fleet_top,
    commands_governor,
    commands_look,
    commands_watch,
)
from .problem import Exit, Problem, printable
from .program import app


def run() -> int:
    """Runs the command line and gives the exit code."""
    if sys.stderr is None:
        # Else the next file that is opened, such as a store, would be what others write their messages to.
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        _tell("pyselene: the standard output is closed; allowed is anything that can be written to")
        return Exit.SYSTEM
    code = _run()
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is left must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A reader that went away, as of `| head`, wants to hear no more.
        if not code and error.errno != errno.EPIPE:
            _tell(f"pyselene: standard output: {error.strerror}")
        return code or Exit.SYSTEM
    return code


@cache
def program() -> Any:
    """The commands and their options, which are made once."""
    return get_command(app)


def _run() -> int:
    try:
        program()()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Problem as problem:
        _tell(f"{problem}" if _has_place(problem) else f"pyselene: {problem}")
        return problem.code
    except KeyboardInterrupt:
        return Exit.SIGNALLED + 2
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        _tell(f"pyselene: {place}{error.strerror or error}")
        return Exit.SYSTEM
    return Exit.DONE


def _tell(message: str) -> None:
    """What goes wrong while telling what went wrong is not told."""
    with suppress(OSError):
        sys.stderr.write(printable(message, keep="\n\t") + "\n")
        sys.stderr.flush()


def _has_place(problem: Problem) -> bool:
    """Messages that begin with a file need no name of a program."""
    return problem.code is Exit.WORKLOAD
