"""The folder that commands write to, and their logs."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Final

from .problem import Exit, Problem

LINES_SHOWN: Final = 10
_ID_LENGTH_IN_NAMES: Final = 200


class Workspace(AbstractContextManager["Workspace"]):
    """``$SELENE_WORK``, or a temporary folder that is removed at the end."""

    def __init__(self, logs: Path | None) -> None:
        given = os.environ.get("SELENE_WORK")
        self._temporary = not given
        try:
            if given:
                self.path = Path(given)
                self.path.mkdir(parents=True, exist_ok=True)
            else:
                self.path = Path(tempfile.mkdtemp(prefix="pyselene."))
            self.path = self.path.resolve()
            self.logs = (logs or self.path / "log").resolve()
            self.logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.close()
            raise Problem(f"{error.filename}: {error.strerror}", Exit.SYSTEM) from None
        os.environ["SELENE_WORK"] = str(self.path)

    def close(self) -> None:
        """Removes a temporary folder."""
        if self._temporary and hasattr(self, "path"):
            shutil.rmtree(self.path, ignore_errors=True)
            os.environ.pop("SELENE_WORK", None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def log(self, id: str) -> int:
        """Opens the log of a task to append to it."""
        name = id.encode()[:_ID_LENGTH_IN_NAMES].decode(errors="ignore").replace("/", "_")
        return os.open(self.logs / f"{name}.log", os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)


def lines_from(log: int, begin: int) -> list[str]:
    """The first lines that were written to a log since a place in it."""
    size = os.fstat(log).st_size
    data = os.pread(log, min(size - begin, 64 * 1024), begin)
    lines = data.decode(errors="replace").splitlines()
    if len(lines) > LINES_SHOWN or begin + len(data) < size:
        lines = [*lines[:LINES_SHOWN], "… (the rest is in the log)"]
    return ["".join(c if c.isprintable() or c == "\t" else "?" for c in line[:500]) for line in lines]
