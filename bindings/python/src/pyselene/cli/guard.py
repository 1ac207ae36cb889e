"""Ends the commands of a `pyselene run` that was killed: nothing of them may go on beside what its successor starts."""

from __future__ import annotations

import os
import signal
import struct
import time
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

_LONGEST_GRACE: Final = 20.0
"""A task that was running waits at least 30 s after it is found in the store."""
_LOOK_EVERY: Final = 0.01
_MESSAGE: Final = struct.Struct("i")


class Guard:
    """A process that knows the groups of the commands. It sees the end of this one by the end of a pipe.

    To be opened before there are threads, as it is a fork.
    """

    def __init__(self, grace: float) -> None:
        self._grace = min(grace, _LONGEST_GRACE)
        self._pid = self._bell = -1

    def __enter__(self) -> Self:
        reading, self._bell = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._bell)
                _let_go(reading)
                _watch(reading, self._grace)
            finally:
                os._exit(0)
        os.close(reading)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._bell)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def add(self, group: int) -> None:
        """A command was started, with a process group of its own."""
        self._tell(group)

    def remove(self, group: int) -> None:
        """The whole group is gone."""
        self._tell(-group)

    def _tell(self, message: int) -> None:
        with suppress(OSError):  # a guard that is gone guards nothing
            os.write(self._bell, _MESSAGE.pack(message))


def _let_go(reading: int) -> None:
    """Keeps neither a terminal nor the reader of the output nor a store beyond the end of the process guarded."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    for file in (1, 2):
        os.dup2(0, file)
    os.closerange(3, reading)
    os.closerange(reading + 1, os.sysconf("SC_OPEN_MAX"))


def _watch(reading: int, grace: float) -> None:
    groups: set[int] = set()
    while data := os.read(reading, _MESSAGE.size * 512):
        for (message,) in _MESSAGE.iter_unpack(data):
            if message > 0:
                groups.add(message)
            else:
                groups.discard(-message)
    _signal(groups, signal.SIGTERM)
    # A group that was stopped would not notice.
    _signal(groups, signal.SIGCONT)
    until = time.monotonic() + grace
    while time.monotonic() < until and _signal(groups, 0):
        time.sleep(_LOOK_EVERY)
    _signal(groups, signal.SIGKILL)


def _signal(groups: set[int], number: int) -> bool:
    """Whether any group was there."""
    found = False
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
            found = True
    return found
