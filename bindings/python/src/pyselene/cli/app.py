"""Runs the command line; the order of the imports is that of the commands in the help."""

from __future__ import annotations

import os
import sys

from . import command_run, command_simulate, commands_governor, commands_look  # noqa: F401
from .problem import Exit, Problem
from .program import app


def run() -> int:
    """Runs the command line and gives the exit code."""
    code = _run()
    try:
        sys.stdout.flush()
    except OSError:
        # A reader that went away, as of `| head`; what is left must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or Exit.SYSTEM
    return code


def _run() -> int:
    try:
        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Problem as problem:
        sys.stderr.write(f"pyselene: {problem}\n" if not _has_place(problem) else f"{problem}\n")
        return problem.code
    except KeyboardInterrupt:
        return Exit.SIGNALLED + 2
    except OSError as error:
        sys.stderr.write(f"pyselene: {error}\n")
        return Exit.SYSTEM
    return Exit.DONE


def _has_place(problem: Problem) -> bool:
    """Messages that begin with a file need no name of a program."""
    return problem.code is Exit.WORKLOAD
