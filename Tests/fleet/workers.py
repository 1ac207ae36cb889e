"""Programs in processes: workers above all, Tests/fleet/c/worker.c and worker.py, which say the same lines."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakSet

from server import ROOT

if TYPE_CHECKING:
    from conftest import Fleet

HERE = ROOT / "Tests/fleet/c"
BUILD = ROOT / "build"
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-pedantic", "-Werror", "-g", f"-I{ROOT / 'include'}"]
#: The worker of pyselene, as a program.
PYTHON = (sys.executable, str(HERE.parent / "worker.py"))
LIBRARIES = [f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lselene", "-lpq", "-lpthread"]


def told(*command: object, **more: Any) -> str:
    """What a program prints that succeeds."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return str(done.stdout)


def compiled(source: Path, program: Path, *more: object, compiler: str = "cc") -> Path:
    """A program that uses the library."""
    here = f"-I{told('pg_config', '--includedir').strip()}"
    told(compiler, *FLAGS, here, source, "-o", program, *(more or ("-lselene-fleet",)), *LIBRARIES)
    return program


class Program:
    """A program in a process, and the lines that it said."""

    started: ClassVar[WeakSet[Program]] = WeakSet()

    def __init__(self, *command: object, env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [*map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        self.said: list[list[str]] = []
        #: When it said each of that.
        self.times: list[float] = []
        self.errors = ""
        self.threads = [threading.Thread(target=self.read), threading.Thread(target=self.read_errors)]
        for thread in self.threads:
            thread.start()
        self.started.add(self)

    def __str__(self) -> str:
        """How it stands, for who looks for a fault."""
        said = [" ".join(words) for words in [*self.words("trouble"), ["..."], *self.said[-8:]]]
        return "\n  ".join([f"{self.process.args!r}: exit {self.process.poll()}", *said, self.errors])

    def read(self) -> None:
        """Line by line."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.times.append(time.monotonic())
            self.said.append(line.split())

    def read_errors(self) -> None:
        """As they come."""
        assert self.process.stderr
        for line in self.process.stderr:
            self.errors += line

    def words(self, *words: str) -> list[list[str]]:
        """What it said that begins so."""
        return [said for said in self.said if tuple(said[: len(words)]) == words]

    def close_input(self) -> None:
        """It ends by itself then."""
        if self.process.stdin:
            with suppress(OSError):
                self.process.stdin.close()

    def await_end(self) -> int:
        """Waits for it and for all that it said; its exit code."""
        try:
            return self.process.wait(90)
        finally:
            self.process.kill()
            for thread in self.threads:
                thread.join()
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                if pipe:
                    with suppress(OSError):
                        pipe.close()


class Worker(Program):
    """A worker in a process."""

    def __init__(
        self,
        program: Path | Sequence[str],
        dsn: str,
        name: str = "c",
        inside: Sequence[str] = (),
        env: dict[str, str] | None = None,
        **more: int | str,
    ) -> None:
        options = [f"{key}={value}" for key, value in more.items()]
        command = [program] if isinstance(program, Path) else program
        super().__init__(*inside, *command, dsn, name, *options, env=env)

    def at(self, *words: str) -> float:
        """When it first said that."""
        return next(at for at, said in zip(self.times, self.said, strict=False) if tuple(said[: len(words)]) == words)

    def end(self, how: int = 0) -> None:
        """Stops it: its input ends, or a signal."""
        if how:
            self.process.send_signal(how)
        self.close_input()
        code = self.await_end()
        assert code == -how, (code, self.said[-5:], self.errors)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None or not self.words("stopped"):
            self.end()


def wait(until: Callable[[], object], seconds: float = 90) -> None:
    """Until it is so."""
    end = time.monotonic() + seconds
    while not until():
        if time.monotonic() > end:
            # One that has crashed meanwhile is among them.
            left = [str(one) for one in Program.started if one.process.returncode is None]
            raise AssertionError("\n".join(["it did not come to pass", *left]))
        time.sleep(0.01)


def rest(fleet: Fleet) -> None:
    """Waits until nothing that was given up is under way, which would meet what empties the tables."""
    active = "select count(*) from pg_stat_activity where application_name = 'selene' and state = 'active'"
    wait(lambda: fleet.one(f"{active} and datname = current_database()") == 0)
