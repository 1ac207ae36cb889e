"""The workload of `run --follow` while its file is edited."""

from __future__ import annotations

from pathlib import Path

from .problem import Problem
from .program import refuse_idle
from .reader import load
from .workload import Workload

_State = tuple[int, int, int, int]


class Edits:
    """Looks at a workload's file now and then. To be made before the file is read for the first time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._taken = self._last = self._state()

    def look(self) -> Workload | None:
        """The workload, if the file was edited and has been the same for two looks, so that half of it is not taken.

        Raises a Problem once where it has mistakes.
        """
        state = self._state()
        if state is None or state != self._last:
            self._last = state
            return None
        if state == self._taken:
            return None
        self._taken = state
        try:
            work = load(self._path)
            refuse_idle(work)
        except Problem as problem:
            raise Problem(
                f"{problem}\n{self._path} was edited, and has mistakes: the tasks stay as they were"
            ) from None
        return work

    def _state(self) -> _State | None:
        try:
            found = Path(self._path).stat()
        except OSError:
            return None  # standard input, or not there while it is being written
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
