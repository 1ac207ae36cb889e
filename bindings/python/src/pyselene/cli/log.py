"""The log of a task: what its commands printed, run by run."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from .duration import show
from .problem import printable

LINES_SHOWN: Final = 10
LIMIT: Final = 4 << 20
"""A log that grows beyond this many bytes goes on anew; what was in it, at most as much, is in ``ID.log.1``."""

_ID_LENGTH_IN_NAMES: Final = 200
_LONGEST_LINE: Final = 900


class Log:
    """The log of one attempt; the command writes to its file.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, folder: Path, id: str, attempt: int) -> None:
        # Another id has another file: what no name may have, and the sign for it, are written as in addresses.
        name = id.replace("%", "%25").replace("/", "%2F").encode()[:_ID_LENGTH_IN_NAMES].decode(errors="ignore")
        self._path = folder / f"{name}.log"
        self.progress = folder / f"{name}.progress"
        """Where the command may tell its progress."""
        self.output = folder / f"{name}.output"
        """Where the command may leave something."""
        self._attempt = attempt
        self.file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        self.bound()
        self._write(f"--- {_now()} attempt {attempt} begins\n")
        self._begin = os.fstat(self.file).st_size

    def bound(self) -> None:
        """Keeps the log within its limit, also while a command writes to it: cut, not renamed, as the command goes on
        writing to the file that it has.
        """
        size = os.fstat(self.file).st_size
        if size <= LIMIT:
            return
        with self._path.with_name(f"{self._path.name}.1").open("wb") as older:
            at, copied = size - LIMIT // 2, 0
            # With what is written meanwhile, so that hardly anything is lost.
            while copied < LIMIT and (piece := os.pread(self.file, 1 << 16, at + copied)):
                copied += older.write(piece)
        os.ftruncate(self.file, 0)
        self._begin = 0

    def lines(self) -> list[str]:
        """The first lines of the run, with nothing in them that a terminal would obey."""
        size = os.fstat(self.file).st_size
        data = os.pread(self.file, min(size - self._begin, 64 * 1024), self._begin)
        lines = data.decode(errors="replace").splitlines()
        if len(lines) > LINES_SHOWN or self._begin + len(data) < size:
            lines = [*lines[:LINES_SHOWN], "… (the rest is in the log)"]
        return ["".join(c if c.isprintable() or c == "\t" else "?" for c in line[:500]) for line in lines]

    def last_line(self) -> str:
        """The last line of the run that says something, with nothing in it that a terminal would obey; else empty."""
        size = os.fstat(self.file).st_size
        begin = max(self._begin, size - _LONGEST_LINE)
        lines = os.pread(self.file, max(0, size - begin), begin).rstrip().splitlines()
        return printable(lines[-1].decode(errors="backslashreplace"), keep="\t") if lines else ""

    def close(self, end: str, took: float) -> None:
        """Writes when the attempt ended, how, and after how many seconds."""
        size = os.fstat(self.file).st_size
        new_line = "" if size == 0 or os.pread(self.file, 1, size - 1) == b"\n" else "\n"
        self._write(f"{new_line}--- {_now()} attempt {self._attempt}: {end} after {show(round(took * 1e9))}\n")
        self.bound()
        os.close(self.file)

    def _write(self, text: str) -> None:
        os.write(self.file, text.encode())


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
