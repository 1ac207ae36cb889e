"""Ends the commands of a `pyselene run` that was killed: nothing of them may go on beside what its successor starts."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import stat
import struct
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

SUFFIX: Final = "-guard"
"""The name of the file that a guard locks is the store's with this at its end. selene-run locks the same one."""
PATIENCE: Final = 30.0
"""Seconds after which no guard of a run that was killed has anything more to do."""

_LONGEST_GRACE: Final = 20.0
"""A task that was running waits at least 30 s after it is found in the store."""
_LONGEST_END: Final = 5.0
"""What was killed is gone soon, unless it waits for a device."""
_LOOK_EVERY: Final = 0.02
_MESSAGE: Final = struct.Struct("i")
_LOCK: Final = 0
"""Not the number of a group: asks for the lock."""


class Guard:
    """A process that knows the groups of the commands. It sees the end of this one by the end of a connection.

    To be opened before there are threads, as it is a fork. It may be asked to lock a file beside a store.
    """

    def __init__(self, grace: float, store: Path | None = None) -> None:
        self._grace = min(grace, _LONGEST_GRACE)
        self._store = store
        self._pid = self._end = -1

    def __enter__(self) -> Self:
        self._end, theirs = (end.detach() for end in socket.socketpair())
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._end)
                _let_go(theirs)
                _watch(theirs, self._grace, _Lock(self._store))
            finally:
                os._exit(0)
        os.close(theirs)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._end)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def lock(self) -> int:
        """Lets it lock the file beside the store, which is there, until no group is left. Not after `add`.

        Returns:
            0; EWOULDBLOCK while commands of another run may go on; else the errno that says why it cannot be locked.
        """
        self._tell(_LOCK)
        with suppress(OSError, struct.error):
            return int(_MESSAGE.unpack(os.read(self._end, _MESSAGE.size))[0])
        return 0

    def add(self, group: int) -> None:
        """A command was started, with a process group of its own."""
        self._tell(group)

    def remove(self, group: int) -> None:
        """The whole group is gone."""
        self._tell(-group)

    def _tell(self, message: int) -> None:
        with suppress(OSError):  # a guard that is gone guards nothing
            os.write(self._end, _MESSAGE.pack(message))


class _Lock:
    """A file beside the store that is locked as long as commands of a run on the store may go on."""

    def __init__(self, store: Path | None) -> None:
        self._store = store
        self._path = Path()
        self._file = -1

    def take(self) -> int:
        """Does not wait; answers as `Guard.lock` does."""
        try:
            while self._file < 0:
                file = self._open()
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    # The one before may have removed it before it let go.
                    if self._is_at_its_path(file):
                        self._file = file
                finally:
                    if self._file < 0:
                        os.close(file)
        except OSError as error:
            return error.errno or errno.EIO
        return 0

    def _open(self) -> int:
        """Whoever may open the store may wait for what runs on it."""
        store = Path(self._store or "").resolve(strict=True)
        self._path = store.with_name(store.name + SUFFIX)
        flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | flags, store.stat().st_mode & 0o666)
        except PermissionError:
            return os.open(self._path, os.O_RDONLY | flags)

    def _is_at_its_path(self, file: int) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(self._path.lstat(), os.fstat(file))
        return False

    def remove(self) -> None:
        """Removes the file, which the end of this process unlocks. What is not empty is not ours."""
        if self._file < 0:
            return
        found = os.fstat(self._file)
        if stat.S_ISREG(found.st_mode) and found.st_size == 0 and self._is_at_its_path(self._file):
            with suppress(OSError):
                self._path.unlink()


def _let_go(end: int) -> None:
    """Keeps neither a terminal nor the reader of the output nor a store beyond the end of the process guarded."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    for file in (1, 2):
        os.dup2(0, file)
    os.closerange(3, end)
    os.closerange(end + 1, os.sysconf("SC_OPEN_MAX"))


def _watch(end: int, grace: float, lock: _Lock) -> None:
    groups: set[int] = set()
    with suppress(OSError):
        while data := os.read(end, _MESSAGE.size * 512):
            for (message,) in _MESSAGE.iter_unpack(data):
                if message == _LOCK:
                    os.write(end, _MESSAGE.pack(lock.take()))
                elif message > 0:
                    groups.add(message)
                else:
                    groups.discard(-message)
    _signal(groups, signal.SIGTERM)
    # A group that was stopped would not notice.
    _signal(groups, signal.SIGCONT)
    _wait_until_gone(groups, grace)
    _signal(groups, signal.SIGKILL)
    _wait_until_gone(groups, _LONGEST_END)
    lock.remove()


def _wait_until_gone(groups: set[int], longest: float) -> None:
    end = time.monotonic() + longest
    while any(map(_is_left, groups)) and time.monotonic() < end:
        time.sleep(_LOOK_EVERY)


def _is_left(group: int) -> bool:
    """A process that ended and that nobody reaps is still in its group: where the system tells, it does not count."""
    if not _signal({group}, 0):
        return False
    if not os.access("/proc/self/stat", os.R_OK):
        return True
    return any(process.name.isdigit() and _is_member(process, group) for process in Path("/proc").iterdir())


def _is_member(process: Path, group: int) -> bool:
    try:
        state, _, found = (process / "stat").read_bytes().rpartition(b")")[2].split()[:3]
    except (OSError, ValueError):
        return False
    return int(found) == group and state not in b"ZX"


def _signal(groups: set[int], number: int) -> bool:
    """Whether any group was there."""
    found = False
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
            found = True
    return found
