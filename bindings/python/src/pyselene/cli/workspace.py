"""The folder that commands write to, and their logs."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

from .problem import Exit, Problem


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
