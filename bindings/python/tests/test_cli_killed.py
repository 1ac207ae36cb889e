"""What a run on a store does after one that was killed there, and what both command lines say of it."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forked import Command, command, finished
from forked import start as start_words
from pyselene import Scheduler
from pyselene.cli.guard import Guard
from test_cli import environment, folder, wait_for, write
from test_cli_server import RUNNER

__all__ = ["folder"]

WAITS = "tasks.db: commands of the run before have not ended yet; waiting for them\n"

DEAF = "exec 9>alive; flock -n 9 || touch two; trap '' TERM; echo $$ >>started; while [ $1 = 1 ]; do sleep 0.1; done"
"""A command that ignores SIGTERM in its first attempt, and notices whether anything of another one is there."""

Process = Command | subprocess.Popen[str]
Start = Callable[..., Process]


@pytest.fixture(params=["pyselene", "selene-run"])
def program(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def words(program: str, *arguments: str) -> list[str]:
    """A call of a program on the store of the test."""
    if program == "pyselene":
        return command("run", "w.toml", "--store", "tasks.db", *arguments)
    return [str(RUNNER), "--store", "tasks.db", *arguments, "w"]


@pytest.fixture
def start(folder: Path, program: str) -> Iterator[Start]:
    """Starts the program on a workload of one task, `a`."""
    assert RUNNER.exists(), "make build/selene-run builds it"
    found: list[Process] = []

    def run(*arguments: str, by: str = program) -> Process:
        found.append(start_words(words(by, *arguments), environment()))
        return found[-1]

    yield run
    for process in found:
        process.kill()
        process.communicate()


def write_both(folder: Path, command: str) -> None:
    """The same workload for both programs; its file has the same name for neither."""
    write(folder, f'[tasks.a]\nschedule = "once"\ncommand = "{command}"\n')
    write(folder, f"a schedule=once -- {command}\n", "w")


def guard_of(process: Process) -> int:
    """The child of a run that is a session of its own."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[1:4]
        except OSError:
            continue
        if int(parent) == process.pid and session == entry.name:
            return int(entry.name)
    raise AssertionError("it has no guard")


def lines_of(path: Path) -> int:
    return path.read_text().count("\n") if path.exists() else 0


def kill(process: Process) -> None:
    process.kill()
    process.communicate(timeout=120)


def said(process: Process) -> tuple[str, str]:
    """What it still says until it ends well."""
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, out + errors
    return out, errors


def test_u3_a_run_waits_for_what_a_killed_one_left(folder: Path, program: str, start: Start) -> None:
    write_both(folder, DEAF)
    first = start("--budget", "1h", "--grace", "300ms")
    wait_for(lambda: lines_of(folder / "started") == 1)
    guard = guard_of(first)
    os.kill(guard, signal.SIGSTOP)  # until the next one was seen to wait
    try:
        kill(first)
        second = start("--now", "a")
        assert second.stderr is not None
        assert second.stderr.readline() == f"{program}: {WAITS}"
        assert lines_of(folder / "started") == 1
    finally:
        os.kill(guard, signal.SIGCONT)
    out, errors = said(second)
    assert errors == ""
    assert "interrupted: a was running when its process ended, attempt 1; again: now\n" in out
    assert lines_of(folder / "started") == 2
    assert not (folder / "two").exists()
    assert not (folder / "tasks.db-guard").exists()


@pytest.mark.parametrize("other", ["pyselene", "selene-run"])
def test_u3_both_lock_the_same_file(folder: Path, program: str, other: str, start: Start) -> None:
    write_both(folder, "touch begun; while ! [ -e over ]; do sleep 0.1; done")
    (folder / "tasks.db-guard").touch()  # of one whose guard was killed, too
    first = start("--budget", "1h")
    wait_for((folder / "begun").exists)
    with (folder / "tasks.db-guard").open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    guard = guard_of(first)
    os.kill(guard, signal.SIGSTOP)
    try:
        kill(first)
        # Of another workload, so that the task is not its own.
        write(folder, "[tasks.b]\ncommand = 'true'\n")
        write(folder, "b -- true\n", "w")
        second = start(by=other)
        assert second.stderr is not None
        while (line := second.stderr.readline()) != f"{other}: {WAITS}":
            assert line
    finally:
        os.kill(guard, signal.SIGCONT)
    said(second)
    assert not (folder / "tasks.db-guard").exists()


def test_u3_a_run_that_ended_by_itself_leaves_nothing_to_wait_for(folder: Path, start: Start) -> None:
    write_both(folder, "true")
    for _ in range(2):
        assert said(start())[1] == ""
        assert sorted(path.name for path in folder.glob("tasks.db*")) == ["tasks.db"]


@pytest.fixture
def held(folder: Path) -> Iterator[Path]:
    """The lock of a guard, which is the test."""
    path = folder / "tasks.db-guard"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield path


def test_u3_a_signal_ends_one_that_waits(folder: Path, held: Path, program: str, start: Start) -> None:
    write_both(folder, "touch ran")
    process = start()
    assert process.stderr is not None
    assert process.stderr.readline() == f"{program}: {WAITS}"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM
    assert not (folder / "ran").exists()
    assert held.exists()


def test_u3_what_runs_nothing_waits_for_nothing(folder: Path, held: Path, start: Start) -> None:
    write_both(folder, "touch ran")
    assert said(start("--cycles", "0"))[1] == ""
    with Scheduler(folder / "tasks.db") as scheduler:
        assert scheduler.ids() == ["a"]
    assert not (folder / "ran").exists()
    assert held.exists()


def test_u3_without_a_store_there_is_no_lock(folder: Path, program: str) -> None:
    write_both(folder, "ls >seen")
    arguments = [word for word in words(program) if word not in ("--store", "tasks.db")]
    finished(arguments, environment()).check_returncode()
    assert "-guard" not in (folder / "seen").read_text()


def test_u3_a_lock_that_cannot_be_had_is_told(folder: Path, program: str, start: Start) -> None:
    write_both(folder, "touch ran")
    (folder / "tasks.db-guard").mkdir()
    errors = said(start())[1]
    assert errors.startswith(f"{program}: tasks.db-guard: Is a directory; nothing on this store will wait ")
    assert errors.count("\n") == 1
    assert (folder / "ran").exists()


def test_u3_the_lock_has_the_permissions_of_the_store_and_follows_no_link(folder: Path, start: Start) -> None:
    write_both(folder, "stat -c %a tasks.db tasks.db-guard real.db-guard >>modes")
    said(start("--cycles", "0"))
    (folder / "tasks.db").rename(folder / "real.db")
    (folder / "real.db").chmod(0o600)
    (folder / "tasks.db").symlink_to("real.db")
    said(start())
    assert (folder / "modes").read_text().split() == ["777", "600"]
    (folder / "real.db-guard").symlink_to("elsewhere")
    assert "Too many levels of symbolic links" in said(start())[1]
    assert not (folder / "elsewhere").exists()


def test_u3_a_file_of_somebody_else_is_not_removed(folder: Path, start: Start) -> None:
    write_both(folder, "true")
    (folder / "tasks.db-guard").write_text("mine")
    assert said(start())[1] == ""
    assert (folder / "tasks.db-guard").read_text() == "mine"


def test_u3_a_guard_is_asked_again_and_again(folder: Path) -> None:
    store = folder / "tasks.db"
    store.touch()
    with Guard(0.0, store) as second:
        with Guard(0.0, store) as first:
            assert first.lock() == first.lock() == 0
            assert [second.lock() for _ in range(3)] == [errno.EWOULDBLOCK] * 3
        assert second.lock() == 0
        assert (folder / "tasks.db-guard").exists()
    assert not (folder / "tasks.db-guard").exists()
