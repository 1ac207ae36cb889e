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
import threading
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import pyselene

_LENGTH = 1 << 20


class Command:
    """A started command, with the calls of subprocess.Popen that tests use; it reads nothing.

    Its output goes to pipes, unless a file is given. stderr may be subprocess.STDOUT.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | str | None = None,
        *,
        stdout: IO[str] | IO[bytes] | None = None,
        stderr: IO[str] | IO[bytes] | int | None = None,
    ) -> None:
        self.args = [*arguments]
        self.returncode: int | None = None
        self._status, theirs = socket.socketpair()
        request = {"arguments": self.args, "env": dict(env), "cwd": str(cwd or Path.cwd())}
        with Path(os.devnull).open("rb") as nothing:
            self.stdout, out = _piped(stdout)
            self.stderr, err = (None, os.dup(out)) if isinstance(stderr, int) else _piped(stderr)
            _server().send(json.dumps(request).encode(), [nothing.fileno(), out, err, theirs.fileno()])
        for descriptor in (out, err):
            os.close(descriptor)
        theirs.close()
        self.pid = int(self._status.recv(20))

    def poll(self) -> int | None:
        """How it ended, None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._read()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end; how it ended."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._read()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Asks it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Waits for its end; what it printed and was not read yet."""
        told = ["", ""]

        def read(number: int, pipe: IO[str]) -> None:
            with pipe:
                told[number] = pipe.read()

        open_pipes = [(n, pipe) for n, pipe in enumerate((self.stdout, self.stderr)) if pipe and not pipe.closed]
        readers = [threading.Thread(target=read, args=each, daemon=True) for each in open_pipes]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        return told[0], told[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pipe in (self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()
        self.wait()

    def _read(self) -> None:
        self.returncode = int(self._status.recv(20))
        self._status.close()


_PYSELENE = [sys.executable, "-X", "dev", "-W", "error", "-m", "pyselene"]


def command(*arguments: str) -> list[str]:
    """The words of a start of pyselene."""
    return [*_PYSELENE, *arguments]


def start(
    words: Sequence[str],
    env: Mapping[str, str],
    cwd: Path | str | None = None,
    *,
    stdout: IO[str] | IO[bytes] | None = None,
    stderr: IO[str] | IO[bytes] | int | None = None,
) -> Command | subprocess.Popen[str]:
    """Starts a program that a test names by its words; pyselene is forked."""
    if list(words[: len(_PYSELENE)]) == _PYSELENE:
        return Command(words[len(_PYSELENE) :], env, cwd, stdout=stdout, stderr=stderr)
    pipe = subprocess.PIPE
    return subprocess.Popen(words, env=env, cwd=cwd, stdout=stdout or pipe, stderr=stderr or pipe, text=True)


def finished(
    words: Sequence[str], env: Mapping[str, str], cwd: Path | str | None = None
) -> subprocess.CompletedProcess[str]:
    """The same of a program that ends by itself."""
    process = start(words, env, cwd)
    stdout, stderr = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.wait(), stdout, stderr)


def _piped(file: IO[str] | IO[bytes] | None) -> tuple[IO[str] | None, int]:
    """A pipe's end to read from, unless the output goes to a file, and the descriptor for the command."""
    if file is not None:
        return None, os.dup(file.fileno())
    reading, writing = os.pipe()
    return open(reading), writing  # noqa: PTH123


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


def _prepare() -> None:
    """Imports what commands import when they are called, and leaves it to no collector of garbage."""
    import gc
    import pkgutil
    from importlib import import_module

    import pyselene.cli
    from pyselene.cli.app import run

    for module in pkgutil.walk_packages(pyselene.cli.__path__, "pyselene.cli."):
        import_module(module.name)
    # A workload without a task is refused after all words are read.
    with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):  # noqa: PTH123
        for words in (["plan", os.devnull, "--budget", "1s"], ["plan", "--wrong"], ["--help"]):
            sys.argv = ["pyselene", *words]
            run()
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    from pyselene.cli import main

    requests = socket.socket(fileno=int(sys.argv[1]))
    _prepare()
    _serve(requests)
    main()
