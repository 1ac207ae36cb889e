"""Runs commands for the scheduler, and stops them in time."""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from .. import Outcome, Run, StaleRun, StopReason, TooLarge
from .board import Active, Board, Done
from .child import Child, end_text
from .guard import Guard
from .log import Log
from .problem import printable
from .progress import ProgressFile
from .workspace import Workspace

_LONGEST_OUTPUT: Final = 1 << 26
"""No limit of a store is greater."""
_OUTCOMES: Final = {0: Outcome.NEW_DATA, 77: Outcome.NO_DATA, 99: Outcome.ABANDONED}
"""As automake's: 77 is "skipped", 99 is "hard error"."""


def outcome_of(status: int | None) -> Outcome:
    """What the end of a command means.

    >>> [str(outcome_of(code << 8)) for code in (0, 77, 99, 75)]
    ['new_data', 'no_data', 'abandoned', 'failed']
    """
    if status is None or not os.WIFEXITED(status):
        return Outcome.FAILED
    return _OUTCOMES.get(os.WEXITSTATUS(status), Outcome.FAILED)


class Runner:
    """The one handler of all commands."""

    def __init__(
        self,
        workspace: Workspace,
        grace: float,
        show_output: Callable[[str, list[str]], None] | None,
        guard: Guard | None = None,
    ) -> None:
        self.workspace = workspace
        self.grace = grace
        self.board = Board()
        self.lost: OSError | SystemExit | None = None
        """Why what commands print cannot be shown."""
        self.on_lost: Callable[[], None] = lambda: None
        """Called when that happens."""
        self._show_output = show_output
        self._guard = guard
        self._lock = threading.Lock()
        self._leaving = False
        self._at_once = False
        self._running = 0
        self._idle = threading.Condition(self._lock)

    def __call__(self, run: Run) -> Outcome:
        """Runs the command of a task; the handler."""
        with self._lock:
            if self._leaving:
                return Outcome.FAILED
            self._running += 1
        try:
            return self._run(run)
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    def _run(self, run: Run) -> Outcome:
        begun = time.monotonic()
        lost = self.lost
        status = None
        problem = last = ""
        self.board.start(Active(run.token, run.id, run.attempt, run.score, run.estimate, begun))
        try:
            log = Log(self.workspace.logs, run.id, run.attempt)
            try:
                status = self._wait(run, log)
                lines, last = log.lines(), log.last_line()
            except OSError as error:
                problem = error.strerror or str(error)
                raise
            finally:
                log.close(problem or end_text(status), time.monotonic() - begun)
            self._show(run.id, lines)
        except OSError as error:
            problem = error.strerror or str(error)
        outcome = outcome_of(status)
        end = problem or end_text(status)
        self.board.end(Done(run.token, run.id, str(outcome), end, time.monotonic() - begun))
        with suppress(StaleRun):
            run.complete(outcome, "" if outcome < Outcome.FAILED else f"{end}: {last}" if last else end)
        if self.lost is not lost:
            # It is not a failure of the command, whose outcome counts before all else is stopped.
            self.on_lost()
        return outcome

    def _wait(self, run: Run, log: Log) -> int:
        progress = ProgressFile(log.progress)

        def look() -> None:
            log.bound()
            progress.look(tell)

        def tell(done: int, total: int, text: str) -> None:
            run.progress(done, total, text)
            self.board.progress(run.token, done, total, text)

        try:
            log.output.write_bytes(b"")
            left = str(log.output)
            child = Child(run.input.decode(), run.id, run.attempt, log.file, self._guard, str(progress.path), left)
            status = child.wait(self._stop_of(run), look)
            progress.look(tell)
            self._keep_output(run, log.output)
            return status
        finally:
            progress.close()
            with suppress(OSError):
                log.output.unlink()

    def _keep_output(self, run: Run, path: Path) -> None:
        with suppress(OSError):
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                found = os.fstat(file)
                if not stat.S_ISREG(found.st_mode) or not found.st_size:
                    return
                if found.st_size <= _LONGEST_OUTPUT:
                    run.set_output(os.pread(file, found.st_size, 0))
                    return
            except TooLarge:
                pass
            finally:
                os.close(file)
            print(
                f"pyselene: {printable(run.id)}: what it left is too long to be kept: {found.st_size} bytes",
                file=sys.stderr,
            )

    def _show(self, id: str, lines: list[str]) -> None:
        if self._show_output is None or not lines or self.lost:
            return
        try:
            self._show_output(id, lines)
        except (OSError, SystemExit) as error:  # the latter is how rich tells of a reader that went away
            self.lost = error

    def _stop_of(self, run: Run) -> Callable[[], float | None]:
        """Says whether a command shall stop, and how long it may take for that."""
        reserve = (run.deadline_ns - run.expires_at_ns) / 1e9
        # The group is gone before the window closes, so that its outcome still counts.
        last_call = time.monotonic() + run.remaining + reserve * 3 / 4
        told = False

        def stop() -> float | None:
            nonlocal told
            if self._at_once:
                return 0.0
            stopping = run.stopping
            if not stopping.is_set():
                return None
            reason = stopping.reason
            if not told:
                told = True
                self.board.stop(run.token, str(reason))
            if reason in (StopReason.EXPIRING, StopReason.TIMED_OUT, StopReason.STALLED):
                return max(0.0, min(self.grace, last_call - time.monotonic()))
            return self.grace

        return stop

    def lock(self) -> int:
        """Keeps the next run on the store waiting for the commands of this one; answers as `Guard.lock` does."""
        return 0 if self._guard is None else self._guard.lock()

    @property
    def busy(self) -> bool:
        """Whether a command runs; never waits, so that handlers of signals may ask."""
        return self._running > 0

    def kill(self) -> None:
        """Kills everything without grace."""
        self._at_once = True

    def leave(self) -> None:
        """Starts nothing any more, and waits until every command is gone."""
        with self._idle:
            self._leaving = True
            self._idle.wait_for(lambda: self._running == 0)
