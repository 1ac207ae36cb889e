"""The database's clock is set while workers work, and theirs run otherwise (N2, N12): real processes under libfaketime."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import LONG, Fleet
from server import Server
from workers import PYTHON, Worker, wait

LEASE = 6000
LIBRARY = next(iter(sorted(Path("/usr/lib").glob("**/faketime/libfaketime.so.1"))), None)
#: An hour, and what is less than a lease.
JUMPS = ["+3600", "-3600"] + (["+1.5", "-1.5", "+40000000", "+0"] if LONG else [])


class Clock:
    """A server whose clock is set by writing into a file."""

    def __init__(self, folder: Path) -> None:
        assert LIBRARY, "libfaketime is not installed (Debian and Ubuntu: faketime)"
        self.file = folder / "clock"
        self.file.write_text("+0\n")
        self.server = Server(
            environment={
                "LD_PRELOAD": str(LIBRARY),
                "FAKETIME_TIMESTAMP_FILE": str(self.file),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
        )

    def set(self, offset: str) -> None:
        """At once."""
        other = self.file.with_suffix(".new")
        other.write_text(f"{offset}\n")
        other.rename(self.file)


def other_boot() -> list[str]:
    """What starts a program on a machine that was booted eleven days before this one; nothing, where there is no such thing."""
    inside = ["unshare", "--fork", "--kill-child", "--time", "--boottime", "1000000"]
    return inside if subprocess.run([*inside, "true"], capture_output=True).returncode == 0 else []


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the server's user can read."""
    with tempfile.TemporaryDirectory(prefix="clock.") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_n12_a_clock_that_is_set_costs_nobody_a_run(place: Path, programs: dict[str, Path]) -> None:
    clock = Clock(place)
    workers: list[Worker] = []
    try:
        fleet = Fleet(clock.server)
        begin = fleet.one("select now_ns()")
        dsn = clock.server.dsn(fleet.name)
        options: dict[str, Any] = {"lanes": 2, "lease": LEASE, "ms": 150, "horizon": 0, "polls": 1}
        workers += [
            Worker(programs["worker"], dsn, "c", **options),
            Worker(PYTHON, dsn, "python", **options),
            Worker(programs["worker"], dsn, "booted", inside=other_boot(), **options),
        ]
        count = 0

        def work(seconds: float) -> None:
            """Tasks come all the time."""
            nonlocal count
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                count += 1
                fleet.rows("select register(%s, handler => 'send')", f"t{count}")
                time.sleep(0.03)

        work(1.5 * LEASE / 1000)
        since_then = {number for (number,) in fleet.rows("select worker from nodes")}
        for jump in JUMPS:
            clock.set(jump)
            work(1.6 * LEASE / 1000)
        assert abs(fleet.one("select now_ns()") - begin - float(JUMPS[-1]) * 1e9) < 600e9, "the clock was not set"
        nodes = fleet.rows("select worker, name, jumps from nodes")
        assert {name for _, name, _ in nodes} == {"c", "python", "booted"}
        # Who had to say hello anew meanwhile, since a call took too long, has seen less; where all is slow that is everybody.
        assert all(jumps >= 1 for number, _, jumps in nodes if number in since_then), nodes
        # The last one went back: what is due in its future waits no longer than that, and nobody waits for it here.
        fleet.rows("update slot set due = 0, state = 0 where state = 1")
        wait(lambda: fleet.one("select count(*) from history") == count)
        assert fleet.rows("select distinct state, attempts from ended") == [("succeeded", 1)]
        began = [said[1] for worker in workers for said in worker.words("begin")]
        assert sorted(began) == sorted(f"t{number}" for number in range(1, count + 1))
        assert all(worker.words("begin") for worker in workers)
        for worker in workers:
            worker.end()
            assert not worker.words("stop")
        assert fleet.nodes() == []
        fleet.close()
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.wait()
        clock.server.remove()


def test_n35_a_worker_whose_clock_runs_away_is_an_alarm(fleet: Fleet, start: Callable[..., Worker]) -> None:
    assert LIBRARY, "libfaketime is not installed (Debian and Ubuntu: faketime)"
    # Its second takes two thirds of one.
    env = {**os.environ, "LD_PRELOAD": str(LIBRARY), "FAKETIME": "+0 x1.5"}
    with start("runs away", lease=LEASE, polls=1, env=env), start("keeps", lease=LEASE, polls=1):
        wait(lambda: fleet.rows("select value from status() where item = 'clock of runs away' and alarm"))
        assert not fleet.rows("select value from status() where item = 'clock of keeps'")
        fleet.rows("select register('a', handler => 'send')")
        wait(lambda: fleet.one("select count(*) from history") == 1)
