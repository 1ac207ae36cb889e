"""The command ``pyselene``; its libraries come with the extra ``cli``."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line and ends the process with an exit code."""
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("rich", "typer"):
            raise
        sys.stderr.write(f"pyselene: the command line needs {error.name}; pip install 'pyselene[cli]' brings it\n")
        sys.exit(5)
    sys.exit(run())
