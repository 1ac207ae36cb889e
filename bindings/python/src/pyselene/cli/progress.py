"""What a command says of its progress: lines like ``3/10 text`` in the file that SELENE_PROGRESS names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from .problem import printable

_LONGEST_LINE: Final = 1200
_MOST: Final = (1 << 63) - 1
_LINE: Final = re.compile(r"([0-9]+)(?:/([0-9]+))?(?:\s+(.*))?")


def read(line: str) -> tuple[int, int, str]:
    """How much is done, of how much (0: unknown), and the text of a line.

    >>> read("3/10 pages"), read("3"), read("copying 3/10")
    ((3, 10, 'pages'), (3, 0, ''), (0, 0, 'copying 3/10'))
    """
    found = _LINE.fullmatch(line)
    if found is None:
        return 0, 0, line
    return min(int(found[1]), _MOST), min(int(found[2] or 0), _MOST), found[3] or ""


class ProgressFile:
    """The file of a run, beside its log.

    Raises:
        OSError: the file cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(b"")
        self._seen = self._state(path.stat())

    def look(self, tell: Callable[[int, int, str], None]) -> None:
        """Tells the last line of the file, if that was written to since."""
        with suppress(OSError):
            file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                found = os.fstat(file)
                if self._state(found) == self._seen:
                    return
                self._seen = self._state(found)
                data = os.pread(file, _LONGEST_LINE, max(0, found.st_size - _LONGEST_LINE))
            finally:
                os.close(file)
            # A line that has no end yet comes with the next look.
            lines = data[: data.rfind(b"\n") + 1].rstrip().splitlines()
            if lines:
                tell(*read(printable(lines[-1].decode(errors="backslashreplace")).strip()))

    def close(self) -> None:
        """Removes the file."""
        with suppress(OSError):
            self.path.unlink()

    @staticmethod
    def _state(found: os.stat_result) -> tuple[int, int, int]:
        return found.st_ino, found.st_size, found.st_mtime_ns
