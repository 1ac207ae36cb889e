"""A command as a child process with a process group of its own."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from .guard import Guard

_PR_SET_CHILD_SUBREAPER: Final = 36
_GATE: Final = (
    'read -r _ && exec </dev/null && export SELENE_PROGRESS="$1" SELENE_OUTPUT="$2" && shift 2 && exec /bin/sh -c "$@"'
)
"""A command begins when its guard knows it: one that this process is killed before ends with the pipe."""

_LOOK_EVERY: Final = 0.05
"""Seconds between two looks whether a child shall stop; its end is noticed at once."""

_adopts = False


def adopt() -> None:
    """Makes this process the parent of what its children leave behind, so that none of it is out of reach."""
    global _adopts
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        _adopts = libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def reap_strays() -> None:
    """Reaps what left its group and ended since.  Only while no child is running."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue


class Child:
    """A command that runs as ``/bin/sh -c COMMAND ID ATTEMPT``; it has nothing to read, and writes to a file."""

    def __init__(
        self,
        command: str,
        id: str,
        attempt: int,
        output: int,
        guard: Guard | None = None,
        progress: str = "",
        left: str = "",
    ) -> None:
        gate, opener = os.pipe()
        try:
            # A command does not inherit what this process blocks or ignores.
            signals = set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}
            self.pid = os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", _GATE, "sh", progress, left, command, id, str(attempt)],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, gate, 0),
                    (os.POSIX_SPAWN_DUP2, output, 1),
                    (os.POSIX_SPAWN_DUP2, output, 2),
                ],
                setpgroup=0,
                setsigmask=[],
                setsigdef=signals,
            )
            self._guard = guard
            if guard is not None:
                guard.add(self.pid)
            with suppress(BrokenPipeError):  # somebody has killed it
                os.write(opener, b"\n")
        finally:
            os.close(gate)
            os.close(opener)
        self.status: int | None = None
        """As ``os.waitpid`` tells it, once the command ended."""
        self._leader_ended = False
        self._asked = False
        self._killed = False
        self._kill_at = float("inf")
        self._end = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else -1

    def wait(self, stop: Callable[[], float | None], look: Callable[[], None] = lambda: None) -> int:
        """Waits until the whole group is gone, and gives the status of the command.

        Args:
            stop: asked again and again; None while the command may go on, else after how many seconds a group that
                was asked to stop is killed.
            look: called again and again meanwhile.
        """
        poll = select.poll()
        if self._end >= 0:
            poll.register(self._end, select.POLLIN)
        try:
            while not self._gone():
                look()
                grace = stop()
                if grace is not None:
                    self._ask(grace)
                # A leader that ended stays readable: then only time is waited for.
                if self._leader_ended or self._end < 0:
                    time.sleep(_LOOK_EVERY / 5)
                else:
                    poll.poll(_LOOK_EVERY * 1000)
        finally:
            if self._end >= 0:
                os.close(self._end)
            if self._guard is not None:
                self._guard.remove(self.pid)
        return self.status if self.status is not None else 0

    def _ask(self, grace: float) -> None:
        now = time.monotonic()
        self._kill_at = min(self._kill_at, now + grace)
        if not self._asked:
            self._asked = True
            self._signal(signal.SIGTERM)
            # A group that was stopped would not notice.
            self._signal(signal.SIGCONT)
        if now >= self._kill_at and not self._killed:
            self._killed = True
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        """Only while the leader is not reaped, or others of its group are there: else the number could be another's."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _gone(self) -> bool:
        """Whether the whole group is gone, and reaped.  Never blocks.

        A command that ends by itself takes what it left in the background with it; one that was asked to stop leaves
        the rest of its group the same grace.
        """
        if not self._leader_ended:
            # Looks without reaping: as long as the leader is not reaped its number is not given to another group.
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None:
                return False
            self._leader_ended = True
            if not self._asked or not _adopts:
                self._signal(signal.SIGKILL)
        try:
            while True:
                pid, status = os.waitpid(-self.pid, os.WNOHANG)
                if pid == 0:
                    return False
                if pid == self.pid:
                    self.status = status
        except ChildProcessError:
            return True


def end_text(status: int | None) -> str:
    """How a command ended, for a reader.

    >>> end_text(0), end_text(75 << 8), end_text(15), end_text(None)
    ('exit 0', 'exit 75', 'SIGTERM', 'not started')
    """
    if status is None:
        return "not started"
    if os.WIFEXITED(status):
        return f"exit {os.WEXITSTATUS(status)}"
    number = os.WTERMSIG(status)
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
