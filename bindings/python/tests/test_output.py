"""What a run leaves, and who reads it (W5)."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import pyselene as selene
from forked import command, finished
from pyselene import PENDING, Outcome, Run, Scheduler, Task
from test_cli import SOURCES, environment, folder, write

__all__ = ["folder"]

RUNNER = SOURCES.parents[2] / "build/selene-run"


def test_what_a_handler_returns_is_its_output() -> None:
    returns: dict[str, tuple[object, bytes]] = {
        "none": (None, b""),
        "yes": (True, b""),
        "no": (False, b""),
        "outcome": (Outcome.NO_DATA, b""),
        "bytes": (b"\0\xff", b"\0\xff"),
        "view": (memoryview(b"abc")[1:], b"bc"),
        "text": ("grün", "grün".encode()),
        "zero": (0, b"0"),
        "dict": ({"rows": [1, None]}, b'{"rows": [1, null]}'),
        "list": ([], b"[]"),
        "empty": ("", b""),
    }
    with Scheduler() as scheduler:
        for name, (value, _) in returns.items():

            def work(_: Run, value: object = value) -> object:
                return value

            scheduler.enqueue(name, handler=name)
            scheduler.register_handler(name, work)
        report = scheduler.run_cycle()
        assert len(report.runs) == len(returns)
        for name, (_, left) in returns.items():
            assert scheduler.output(name) == left, name
            assert scheduler.get(name).output_length == len(left)
        assert scheduler.get("no").last_outcome is Outcome.NO_DATA
        assert scheduler.output("dict").json() == {"rows": [1, None]}
        assert scheduler.output("text").text == "grün"
        assert scheduler.output("none").json() is None
        with pytest.raises(selene.NotFound):
            scheduler.output("nothing")


def test_what_cannot_be_kept_is_a_success_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    loop: list[object] = []
    loop.append(loop)
    with Scheduler(max_output_size=100) as scheduler:
        for name, value in {"object": object(), "long": "x" * 101, "loop": loop, "nan": float("nan")}.items():

            def work(_: Run, value: object = value) -> object:
                return value

            scheduler.enqueue(name, handler=name)
            scheduler.register_handler(name, work)
        with caplog.at_level(logging.WARNING, "pyselene"):
            assert scheduler.run_cycle().new_data == 4
        assert [record.levelname for record in caplog.records] == ["WARNING"] * 4
        for name in scheduler:
            lost = 101 if name == "long" else 0
            assert scheduler.get(name).output_lost == scheduler.explain(name).output_lost == lost
            if lost:
                with pytest.raises(selene.TooLarge, match="101"):
                    scheduler.output(name)
            else:
                assert scheduler.output(name) == b""


def test_a_run_says_what_it_leaves() -> None:
    runs: list[Run] = []
    with Scheduler(max_output_size=100) as scheduler:

        @scheduler.task(every=60, backoff=selene.NoBackoff())
        def count(run: Run) -> object:
            runs.append(run)
            run.set_output("before")
            run.set_output({"n": len(runs), "before": run.output().text})
            if len(runs) == 2:
                raise ValueError("half done")
            with pytest.raises(TypeError, match="JSON"):
                run.set_output({1, 2})
            with pytest.raises(selene.TooLarge, match="101"):
                run.set_output(b"x" * 101)
            run.set_output({"n": len(runs), "before": run.output().text})
            return None

        scheduler.run_cycle()
        assert scheduler.output("count").json() == {"n": 1, "before": ""}
        # It is over: nothing is left any more, and nothing is wrong.
        runs[0].set_output("late")
        assert scheduler.output("count").json() == {"n": 1, "before": ""}
        # A failure leaves what was left before; the next success replaces it.
        scheduler.launch("count")
        assert scheduler.get("count").last_outcome is Outcome.FAILED
        assert scheduler.output("count").json() == {"n": 1, "before": ""}
        scheduler.launch("count")
        assert scheduler.output("count").json() == {"n": 3, "before": '{"n": 1, "before": ""}'}


def test_work_that_ends_elsewhere_leaves_something_too() -> None:
    with Scheduler() as scheduler:
        begun: list[Run] = []

        def work(run: Run) -> object:
            begun.append(run)
            run.set_output("left")
            run.complete()
            return PENDING

        scheduler.enqueue("a", handler=work)
        scheduler.run_cycle()
        assert scheduler.output("a").text == "left"


def test_handlers_of_coroutines_leave_what_they_return() -> None:
    with Scheduler() as scheduler:

        @scheduler.task(schedule="standing")
        async def fetch(_: Run) -> dict[str, int]:
            return {"status": 200}

        scheduler.run_cycle()
        assert scheduler.output("fetch").json() == {"status": 200}


def test_a_successor_reads_what_the_one_before_it_left() -> None:
    with Scheduler() as scheduler:

        def add(run: Run) -> int:
            return int(run.output().json() or 0) + int(run.input)

        scheduler.register_handler("add", add)
        for number in (1, 2, 3):
            scheduler.enqueue("sum", handler="add", input=b"%d" % number, existing="append")
        while scheduler.get("sum").state is not selene.State.SUCCEEDED:
            scheduler.run_cycle()
        assert scheduler.output("sum").json() == 6


_LEAVE = """
import os, sys
from pyselene import Scheduler
scheduler = Scheduler(sys.argv[1])
@scheduler.task(every=3600)
def report(run):
    return {"rows": 3}
scheduler.run_cycle()
os._exit(0)
"""


def test_the_store_keeps_it_and_other_processes_read_it(tmp_path: Path) -> None:
    path = tmp_path / "store"
    subprocess.run([sys.executable, "-c", _LEAVE, str(path)], check=True)
    with Scheduler(path) as scheduler:
        assert scheduler.output("report").json() == {"rows": 3}
        with scheduler.serve(), selene.connect(path) as connection:
            assert connection.output("report").json() == {"rows": 3}
            assert connection.get("report").output_length == len(b'{"rows": 3}')
            with pytest.raises(selene.NotFound):
                connection.output("nothing")
        scheduler.register(Task("report", every=3600, existing="replace"))
        assert scheduler.output("report") == b""


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
def test_commands_leave_what_they_write_to_a_file(folder: Path, program: str) -> None:
    scripts = {
        "short": 'printf "rows: 3\\033[2J" >$SELENE_OUTPUT',
        "fails": "echo half >$SELENE_OUTPUT; exit 3",
        "none": "test -e $SELENE_OUTPUT && test ! -s $SELENE_OUTPUT",
        "long": "head -c 2000000 /dev/zero >$SELENE_OUTPUT",
    }
    if program == "pyselene":
        work = "".join(
            f"[tasks.{name}]\nexpected = '1s'\ncommand = '''{script}'''\n" for name, script in scripts.items()
        )
        arguments = command("run", write(folder, work), "--store", "t.db", "--budget", "1m")
        asked = command("explain", "short", "--store", "t.db")
    else:
        work = write(folder, "".join(f"{name} expected=1s -- {script}\n" for name, script in scripts.items()), "w")
        arguments = [str(RUNNER), "--store", "t.db", "--budget", "1m", work]
        asked = [str(RUNNER), "--store", "t.db", "--explain", "short", work]
    done = finished(arguments, environment(), folder)
    assert "long: what it left is too long to be kept: 2000000 bytes" in done.stderr
    told = finished(asked, environment(), folder)
    assert "11 bytes: rows: 3\\" in told.stdout
    assert "\x1b[2J" not in told.stdout
    with Scheduler(folder / "t.db") as scheduler:
        assert scheduler.output("short") == b"rows: 3\x1b[2J"
        assert scheduler.get("none").last_outcome is Outcome.NEW_DATA
        assert scheduler.get("long").last_outcome is Outcome.NEW_DATA
        assert [scheduler.output(name) for name in ("fails", "none")] == [b"", b""]
        with pytest.raises(selene.TooLarge, match="output is 2000000 bytes"):
            scheduler.output("long")
    assert not list(folder.rglob("*.output"))
