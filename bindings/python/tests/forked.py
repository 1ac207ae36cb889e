"""Starts pyselene commands as processes of their own without importing everything for each.

A server process imports the command line once and forks for each command. A command gets its arguments, environment,
folder and descriptors from the test, ends as an interpreter does, and receives signals as any process.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import pyselene

_LENGTH = 1 << 20


class Command:
    """A started command, with the calls of subprocess.Popen that tests use."""

    def __init__(
        self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path | str | None, *, merged: bool
    ) -> None:
        self.args = [*arguments]
        self.returncode: int | None = None
        self._out: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._err: IO[bytes] = self._out if merged else tempfile.TemporaryFile()  # noqa: SIM115
        self._status, theirs = socket.socketpair()
        request = {"arguments": self.args, "env": dict(env), "cwd": str(cwd or Path.cwd())}
        with Path(os.devnull).open("rb") as nothing:
            _server().send(
                json.dumps(request).encode(),
                [nothing.fileno(), self._out.fileno(), self._err.fileno(), theirs.fileno()],
            )
        theirs.close()
        self.pid = int(self._status.recv(20))

    def poll(self) -> int | None:
        """How it ended, None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._read()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Waits for its end; what it printed."""
        with self._out, self._err:
            return self._communicate(timeout)

    def _communicate(self, timeout: float) -> tuple[str, str]:
        if self.returncode is None and not select.select([self._status], [], [], timeout)[0]:
            os.kill(self.pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(self.args, timeout)
        if self.returncode is None:
            self._read()
        self._out.seek(0)
        self._err.seek(0)
        told = self._out.read().decode()
        return told, "" if self._err is self._out else self._err.read().decode()

    def _read(self) -> None:
        self.returncode = int(self._status.recv(20))
        self._status.close()


class _Server:
    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LENGTH)
        self._process = subprocess.Popen(
            [sys.executable, "-X", "dev", "-W", "error", __file__, str(theirs.fileno())],
            env={**os.environ, "PYTHONPATH": str(Path(pyselene.__file__).parents[1])},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        atexit.register(self._socket.close)

    def send(self, request: bytes, descriptors: list[int]) -> None:
        socket.send_fds(self._socket, [request], descriptors)


_servers: dict[int, _Server] = {}


def _server() -> _Server:
    """The server of this process."""
    if os.getpid() not in _servers:
        _servers[os.getpid()] = _Server()
    return _servers[os.getpid()]


def _serve(own: socket.socket) -> None:
    """Forks for each request; returns in the fork, which runs the command, and when the test's process has ended."""
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        waiting: list[socket.socket | int] = [own, *running]
        ready = select.select(waiting, [], [])[0]
        for pidfd in ready:
            if isinstance(pidfd, socket.socket):
                data, descriptors, _, _ = socket.recv_fds(own, _LENGTH, 4)
                if not data:
                    sys.exit()
                status = socket.socket(fileno=descriptors.pop())
                pid = os.fork()
                if pid == 0:
                    _become(
                        json.loads(data), descriptors, [own, status, *(row[1] for row in running.values())], [*running]
                    )
                    return
                for descriptor in descriptors:
                    os.close(descriptor)
                status.send(b"%-19d" % pid)
                running[os.pidfd_open(pid)] = pid, status
            else:
                pid, status = running.pop(pidfd)
                _, code = os.waitpid(pid, 0)
                os.close(pidfd)
                with status:
                    try:
                        status.send(b"%-19d" % os.waitstatus_to_exitcode(code))
                    except BrokenPipeError:
                        pass


def _become(
    request: dict[str, object], descriptors: list[int], sockets: list[socket.socket], pidfds: list[int]
) -> None:
    """Makes this process what the request says."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for one in sockets:
        one.close()
    for pidfd in pidfds:
        os.close(pidfd)
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    os.chdir(str(request["cwd"]))
    sys.argv = ["pyselene", *request["arguments"]]  # type: ignore[misc]


if __name__ == "__main__":
    import pyselene.cli.app
    from pyselene.cli import main

    _serve(socket.socket(fileno=int(sys.argv[1])))
    main()
