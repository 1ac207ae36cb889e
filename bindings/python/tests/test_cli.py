"""The command line: what it prints, how it ends, and that no child is left behind."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import pyselene
from browser import browse, colours, keep
from forked import Command, command, finished
from pyselene.cli import child
from pyselene.cli.app import run
from pyselene.cli.board import Active, Board, Done
from pyselene.cli.live import LiveTable, budget_bar, render
from pyselene.cli.runner import outcome_of
from pyselene.cli.sheet import Sheet
from pyselene.cli.wire import Window

SOURCES = Path(pyselene.__file__).parent.parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SELENE_WORK", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    paths = [str(SOURCES), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "160", "NO_COLOR": "1", **more}


def call(*arguments: str, code: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
    env = environment(**more)
    if any(name.startswith("PYTHON") for name in more):
        # What an interpreter reads when it starts.
        done = subprocess.run(command(*arguments), env=env, capture_output=True, text=True, timeout=300, check=False)
    else:
        done = finished(command(*arguments), env)
    assert done.returncode == code, done.stdout + done.stderr
    return done


#: What commands of some extras need, and `pyselene[cli]` alone has not.
EXTRAS = ("cronsim", "dbus_fast", "django", "opentelemetry", "prometheus_client", "psycopg", "starlette", "uvicorn")


@pytest.mark.parametrize("told", [["--help"], ["--version"], ["fleet", "top", "--help"], ["list"]])
def test_the_commands_need_no_package_of_another_extra(folder: Path, told: list[str]) -> None:
    without = (
        f"import sys\nsys.modules.update(dict.fromkeys({EXTRAS}))\n"
        "from pyselene.cli import main\nsys.argv[0] = 'pyselene'\nmain()"
    )
    if told == ["list"]:
        with pyselene.Scheduler(folder / "s") as scheduler:
            scheduler.enqueue("a")
        told = ["list", "--store", "s"]
    done = subprocess.run(
        [sys.executable, "-c", without, *told],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@dataclass
class Told:
    """What a command printed."""

    stdout: str
    stderr: str


def here(*arguments: str, code: int = 0) -> Told:
    """Runs a command that starts nothing in this process, which is faster."""
    out, err = io.StringIO(), io.StringIO()
    # rich and typer look for a terminal's number.
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["pyselene", *arguments])
        patch.setenv("COLUMNS", "160")
        patch.setenv("NO_COLOR", "1")
        found = run()
    assert found == code, out.getvalue() + err.getvalue()
    return Told(out.getvalue(), err.getvalue())


def write(folder: Path, text: str, name: str = "w.toml") -> str:
    (folder / name).write_text(text)
    return name


def told_in(path: Path) -> Callable[[], bool]:
    """Whether a command has written a whole line there."""
    return lambda: path.exists() and path.read_text().endswith("\n")


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


# ---- run -----------------------------------------------------------------------------------------------------------


def test_exit_codes_of_commands_are_outcomes(folder: Path) -> None:
    tasks = "".join(
        f"[tasks.{name}]\nbackoff = 'linear'\ncommand = 'exit {code}'\n"
        for name, code in (("fresh", 0), ("same", 77), ("given-up", 99), ("later", 75))
    )
    found = call("run", write(folder, tasks)).stdout
    for name, outcome in (
        ("fresh", "new data   exit 0    next window"),
        ("same", "no data    exit 77   next window"),
        ("given-up", "abandoned   exit 99   next window"),
        ("later", "failed      exit 75   in "),
    ):
        line = next(line for line in found.splitlines() if f" {name} " in line)
        assert " ".join(outcome.split()) in " ".join(line.split())
    assert "4 (1 new data, 1 no data, 1 failed, 1 abandoned) of 4 eligible ran, 0 did not fit" in found


def test_a_command_knows_its_id_its_attempt_and_its_folder_and_reads_nothing(folder: Path) -> None:
    text = "[tasks.a]\ncommand = '''\necho \"$0 $1 ${SELENE_WORK:?}\" && cat && touch \"$SELENE_WORK/mark\"\n'''"
    assert f"a │ a 1 {folder}/work\n" in call("run", write(folder, text), SELENE_WORK="work").stdout
    assert (folder / "work/mark").exists()
    assert f"\na 1 {folder}/work\n" in (folder / "work/log/a.log").read_text()
    call("run", "w.toml", "--logs", "logs", "--quiet")
    assert (folder / "logs/a.log").exists()
    assert list((folder / "tmp").iterdir()) == []


def test_a_log_says_when_each_attempt_began_and_how_it_ended(folder: Path) -> None:
    write(folder, "[tasks.a]\nbackoff = 'linear'\nbackoff_delay = '50ms'\ncommand = 'printf tried; exit 75'")
    call("run", "w.toml", "--cycles", "2", "--every", "2s", SELENE_WORK="work")
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}"
    attempts = "".join(
        rf"--- {stamp} attempt {attempt} begins\ntried\n--- {stamp} attempt {attempt}: exit 75 after [\d.]+ [mµ]?s\n"
        for attempt in (1, 2)
    )
    assert re.fullmatch(attempts, (folder / "work/log/a.log").read_text())


def test_another_id_has_another_log_fault_15(folder: Path) -> None:
    write(folder, "".join(f"[tasks.'{name}']\ncommand = 'true'\n" for name in ("a/b", "a_b", "a%2Fb")))
    call("run", "w.toml", SELENE_WORK="work")
    assert {path.name for path in (folder / "work/log").iterdir()} == {"a%252Fb.log", "a%2Fb.log", "a_b.log"}


def test_a_log_has_a_limit(folder: Path) -> None:
    # What is written in the moment of the cut may be lost: the end comes after it.
    cut = 'until [ $(wc -c <"$SELENE_WORK/log/a.log") -le 4194304 ]; do sleep 0.01; done'
    write(folder, f"[tasks.a]\ncommand = '''yes | head -c 20M; {cut}; echo the end'''")
    call("run", "w.toml", "--quiet", SELENE_WORK="work")
    older, newer = (folder / "work/log/a.log.1").read_bytes(), (folder / "work/log/a.log").read_bytes()
    assert len(older) + len(newer) <= 8 << 20
    assert b"the end\n" in newer
    assert b"attempt 1: exit 0" in older + newer


def test_only_the_first_lines_of_a_command_are_shown(folder: Path) -> None:
    found = call("run", write(folder, "[tasks.a]\ncommand = 'seq 30; printf \"\\033[31m\"'")).stdout
    assert [line for line in found.splitlines() if line.startswith("  a │")] == [
        *(f"  a │ {n}" for n in range(1, 11)),
        "  a │ … (the rest is in the log)",
    ]
    assert "a │" not in call("run", "w.toml", "--quiet").stdout


def test_what_does_not_run_is_named_with_its_reason(folder: Path) -> None:
    text = """
        [tasks.a]
        command = "true"
        priority = 5
        [tasks.long]
        command = "true"
        expected = "1h"
        [tasks.net]
        command = "true"
        requires = ["network"]
        [tasks.later]
        command = "true"
        delay = "1h"
    """
    found = call("run", write(folder, text), "--no-network", "--external-power", "--budget", "5s").stdout
    window = "window 1 of 1  5 s, reserve 250 ms · 1 lane · refresh, processing"
    assert f"{window} · no network (set by hand) · power (set by hand)" in found
    assert "long    did not fit: takes 1 h, left were " in found
    assert "net     needs network" in found
    assert re.search(r"later   not due yet; may change in 59 min", found)


def test_the_command_line_wins_over_the_file(folder: Path) -> None:
    text = "[window]\nbudget = '7s'\nreserve = '6s'\nlanes = 2\nkinds = ['refresh']\n[tasks.a]\ncommand = 'true'\n"
    assert "7 s, reserve 6 s · 2 lanes · refresh · " in call("run", write(folder, text)).stdout
    found = call("run", "w.toml", "--budget", "2s", "--lanes", "3", "--kinds", "refresh,processing").stdout
    assert "2 s, reserve 100 ms · 3 lanes · refresh, processing · " in found


def test_windows_come_one_after_another_until_nothing_is_left(folder: Path) -> None:
    # A retry at once would be the first window's, too, where that is not over yet.
    text = "[tasks.a]\nschedule='once'\nbackoff_delay='3s'\ncommand='[ $1 -ge 2 ]'\n"
    found = call("run", write(folder, text), "--cycles", "9999", "--every", "200ms").stdout
    assert "window 1 of 9999" in found
    assert "window 2 of 9999" in found
    assert "window 9999 of 9999" not in found
    # Its two runs are in windows of their own, and the last window is that of the second.
    assert found.count(": 1 (1 failed) of 1 eligible ran") == 1
    assert ": 1 (1 new data) of 1 eligible ran" in found.split("window ")[-1]
    assert found.rstrip().endswith("nothing is left to do")


def test_follow_sleeps_until_a_task_is_due(folder: Path) -> None:
    text = "[tasks.a]\nevery='4s'\ncommand='true'\n"
    found = call("run", write(folder, text), "--follow", "--cycles", "2", "--every", "100ms").stdout
    assert found.count("a    ") == 2
    assert re.search(r"sleeping \d", found)


def test_follow_without_a_pace_opens_a_window_whenever_a_task_is_due(folder: Path) -> None:
    text = "[tasks.tick]\nevery='1s'\ncommand='true'\n"
    found = call("run", write(folder, text), "--follow", "--cycles", "3").stdout
    assert len(re.findall(r"  tick .* new data  ", found)) >= 3
    slept = re.findall(r"sleeping (.*)", found)
    assert slept
    assert all(re.fullmatch(r"1 s|[0-9.]+ [mµn]s", one) for one in slept), found


def test_a_command_that_tells_its_progress_outlives_a_short_stall_limit(folder: Path) -> None:
    # On a machine that is held up for a second one attempt may stall, and not each.
    text = """
        [tasks.steady]
        schedule = "once"
        backoff_delay = "1ms"
        stall_limit = "1s"
        command = "for part in 1 2 3 4 5 6 7 8; do echo $part/8 >$SELENE_PROGRESS; sleep 0.2; done"
    """
    found = call("run", write(folder, text), "--follow", "--cycles", "5").stdout
    assert re.search(r"  steady .* new data  ", found), found


def test_a_command_that_does_not_stop_is_killed_before_the_window_ends(folder: Path) -> None:
    """Its whole group ends, and so does what it left in the background."""
    text = """
        [tasks.stuck]
        command = '''
        trap '' TERM
        sh -c 'trap "" TERM; while :; do sleep 1; done' &
        echo $$ $! >pids
        while :; do sleep 1; done
        '''
    """
    # Ten seconds to begin in, ten to be killed in.
    begun = time.monotonic()
    found = call("run", write(folder, text), "--budget", "20s", "--reserve", "10s", "--grace", "100ms").stdout
    assert time.monotonic() - begun < 60
    assert "failed, expiring   SIGKILL" in found
    pids = [int(pid) for pid in (folder / "pids").read_text().split()]
    assert len(pids) == 2
    assert not any(map(is_running, pids))


def test_a_command_may_stop_in_peace(folder: Path) -> None:
    text = "[tasks.kind]\ncommand = '''trap 'sleep 0.1; exit 0' TERM\nwhile :; do sleep 0.05; done'''\n"
    found = call("run", write(folder, text), "--budget", "30s", "--reserve", "20s", "--grace", "1m").stdout
    assert "new data, expiring   exit 0" in found


def test_what_a_command_leaves_in_the_background_ends_with_it(folder: Path) -> None:
    call("run", write(folder, "[tasks.a]\ncommand = 'sleep 60 & echo $! >pid'\n"))
    assert not is_running(int((folder / "pid").read_text()))


def test_one_task_runs_now(folder: Path) -> None:
    text = """
        [tasks.good]
        command = "true"
        delay = "1h"
        [tasks.bad]
        command = "exit 3"
        [tasks.net]
        command = "true"
        requires = ["network"]
    """
    assert "only good" in call("run", write(folder, text), "--now", "good").stdout
    call("run", "w.toml", "--now", "bad", code=1)
    refused = call("run", "w.toml", "--now", "net", "--no-network", code=4)
    assert refused.stderr == "pyselene: net cannot run now: needs network\n"
    assert 'no task "x" in w.toml; there are good, bad, net' in call("run", "w.toml", "--now", "x", code=2).stderr
    call("run", "w.toml", "--now", "good", "--follow", code=2)


def test_check_tells_of_failed_tasks(folder: Path) -> None:
    write(folder, "[tasks.a]\ncommand = 'exit 1'\n")
    call("run", "w.toml")
    call("run", "w.toml", "--check", code=1)


def test_a_store_remembers(folder: Path) -> None:
    text = "[tasks.a]\nschedule = 'once'\nbackoff_delay = '1h'\ncommand = 'echo attempt $1; [ $1 -ge 2 ]'\n"
    write(folder, text)
    assert "attempt 1" in call("run", "w.toml", "--store", "tasks.db").stdout
    assert "attempt 2" in call("run", "w.toml", "--store", "tasks.db", "--now", "a").stdout


def test_a_workload_runs_and_cancels_its_own_tasks_of_a_store_only(folder: Path) -> None:
    with pyselene.Scheduler("tasks.db") as scheduler:
        scheduler.register(pyselene.Task("feed", "feedd", schedule="standing"))
        scheduler.register(pyselene.Task("old", "command", schedule="periodic", every=3600, input=b"false"))
    both = "[tasks.a]\ncommand = 'true'\n[tasks.b]\ncommand = 'true'\n"
    write(folder, both)
    told = call("run", "w.toml", "--store", "tasks.db").stderr
    assert 'feed in tasks.db is not a task of w.toml (its handler is "feedd"): it stays' in told
    assert 'old in tasks.db is not a task of w.toml (its handler is "command"): it stays' in told
    write(folder, "[tasks.c]\ncommand = 'true'\n", "other.toml")
    ran = call("run", "other.toml", "--store", "tasks.db").stdout
    assert "1 (1 new data) of 1 eligible ran" in ran
    # What left its workload is cancelled, what others have is not.
    write(folder, "[tasks.a]\ncommand = 'true'\n[tasks.old]\ncommand = 'true'\nevery = 60\n")
    assert "pyselene: b is not in w.toml any more: cancelled" in call("run", "w.toml", "--store", "tasks.db").stderr
    with pyselene.Scheduler("tasks.db") as scheduler:
        found = {info.id: (info.handler, str(info.state)) for info in scheduler.tasks()}
        assert found == {
            "feed": ("feedd", "enqueued"),
            "old": ("workload w.toml", "enqueued"),
            "a": ("workload w.toml", "enqueued"),
            "b": ("workload w.toml", "cancelled"),
            "c": ("workload other.toml", "enqueued"),
        }
        # One of the workload before: with its new command, and run.
        assert scheduler.get("old").input == b"true"
        assert scheduler.get("old").last_outcome is pyselene.Outcome.NEW_DATA
    for task, handler in (("feed", "feedd"), ("c", "workload other.toml")):
        write(folder, f"[tasks.{task}]\ncommand = 'true'\n", "third.toml")
        refused = call("run", "third.toml", "--store", "tasks.db", code=4).stderr
        assert f'{task} in tasks.db is not a task of third.toml (its handler is "{handler}"); allowed is' in refused
    write(folder, "[tasks.feed]\ncommand = 'true'\n[tasks.c]\ncommand = 'true'\nschedule = 'once'\n", "third.toml")
    adopted = call("run", "third.toml", "--store", "tasks.db", "--adopt")
    assert "a is not in third.toml any more: cancelled" in adopted.stderr
    assert "2 (2 new data) of 2 eligible ran" in adopted.stdout
    with pyselene.Scheduler("tasks.db") as scheduler:
        assert scheduler.get("feed").handler == scheduler.get("c").handler == "workload third.toml"
        assert str(scheduler.get("c").state) == "succeeded"


# ---- signals -------------------------------------------------------------------------------------------------------


@pytest.fixture
def started(folder: Path) -> Iterator[Callable[..., Command]]:
    found: list[Command] = []

    def start(*arguments: str) -> Command:
        found.append(Command(arguments, environment()))
        return found[-1]

    yield start
    for process in found:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything(number: signal.Signals, folder: Path, started: Callable[..., Command]) -> None:
    write(folder, "[tasks.a]\ncommand = 'echo $$ >pid; sleep 60'\n")
    process = started("run", "w.toml", "--store", "tasks.db")
    wait_for(told_in(folder / "pid"))
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert errors == "pyselene: stopping what runs; once more kills it at once\n"
    assert not is_running(int((folder / "pid").read_text()))
    task = json.loads(here("list", "--store", "tasks.db", "--json").stdout)[0]
    assert (task["state"], task["attempts"], task["last_outcome"]) == ("enqueued", 0, "stopped")


def test_a_window_that_a_signal_ends_tells_what_it_did(folder: Path, started: Callable[..., Command]) -> None:
    write(
        folder, "[tasks.quick]\npriority = 5\ncommand = 'exit 75'\n[tasks.slow]\ncommand = 'echo $$ >pid; sleep 60'\n"
    )
    process = started("run", "w.toml")
    wait_for(told_in(folder / "pid"))
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[0]
    assert re.search(r"quick +\S+ [mµ]?s +failed +exit 75", told), told
    assert re.search(r"slow +\S+ [mµ]?s +shutdown +SIGTERM", told), told
    assert "stopped: 1 ran, 1 were stopped and will run again" in told


def test_follow_that_is_ended_by_a_signal_is_done(folder: Path, started: Callable[..., Command]) -> None:
    write(folder, "[tasks.a]\nevery = '1h'\ncommand = 'touch ran'\n")
    process = started("run", "w.toml", "--follow")
    assert process.stdout is not None
    while "sleeping" not in process.stdout.readline():
        assert process.poll() is None
    process.terminate()
    assert process.communicate(timeout=60)[1] == "pyselene: stopping\n"
    assert (folder / "ran").exists()
    assert process.returncode == 0


def test_u3_commands_end_with_one_that_is_killed(folder: Path, started: Callable[..., Command]) -> None:
    text = """
        [tasks.a]
        command = "echo $$ >pid; sleep 600 & echo $! >>pid; wait"
        [tasks.deaf]
        command = "trap '' TERM; echo $$ >deaf; while :; do sleep 0.1; done"
    """
    write(folder, text)
    process = started("run", "w.toml", "--store", "tasks.db", "--lanes", "2", "--budget", "1h", "--grace", "300ms")
    wait_for(lambda: (folder / "pid").exists() and len((folder / "pid").read_text().split()) == 2)
    wait_for(told_in(folder / "deaf"))
    process.kill()
    process.communicate(timeout=60)
    pids = [int(pid) for pid in ((folder / "pid").read_text() + (folder / "deaf").read_text()).split()]
    assert len(pids) == 3
    wait_for(lambda: not any(map(is_running, pids)))


def test_follow_takes_over_what_is_edited(folder: Path, started: Callable[..., Command]) -> None:
    day = r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d  "

    def task(name: str, command: str, delay: str = "1h") -> str:
        return f"[tasks.{name}]\nevery = '1h'\ndelay = '{delay}'\ncommand = '{command}'\n"

    def said(words: str) -> str:
        assert process.stdout is not None
        while words not in (line := process.stdout.readline()):
            assert line, words
        return line

    write(folder, task("first", "touch first") + task("gone", "touch gone"))
    process = started("run", "w.toml", "--follow", "--every", "0s", "--store", "tasks.db")
    assert re.match(day + "sleeping 5?", said("sleeping"))
    write(folder, task("first", "touch other", "0s") + task("second", "touch second", "0s"))
    assert re.match(day + "w.toml was edited: it has 2 tasks now$", said("edited"))
    wait_for(lambda: (folder / "other").exists() and (folder / "second").exists())
    write(folder, "[tasks.first]\nevery = 'often'\n")
    assert process.stderr is not None
    told = [process.stderr.readline() for _ in range(4)]
    assert told[0].startswith("pyselene: w.toml:2:")
    assert told[3] == "w.toml was edited, and has mistakes: the tasks stay as they were\n"
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 0
    found = {task["id"]: task["state"] for task in look("list", "--store", "tasks.db")}
    assert found == {"first": "enqueued", "second": "enqueued", "gone": "cancelled"}
    assert not (folder / "first").exists()


def test_r12_the_period_in_the_file_is_the_period(folder: Path) -> None:
    for every, seconds in (("6h", 21600), ("1h", 3600)):
        write(folder, f"[tasks.a]\nevery = '{every}'\ncommand = 'true'\n")
        call("run", "w.toml", "--store", "tasks.db")
        assert look("list", "--store", "tasks.db")[0]["every"] == seconds


def test_c19_a_store_that_refuses_is_said(folder: Path, started: Callable[..., Command]) -> None:
    write(folder, "[tasks.a]\nevery = '3s'\ncommand = 'echo $$ >>ran'\n")
    process = started("run", "w.toml", "--follow", "--every", "3s", "--store", "tasks.db")
    wait_for(lambda: (folder / "ran").exists())
    # As a full disk; Python ignores the signal that goes with it.
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    assert process.stdout is not None
    lines: list[str] = []
    while "trouble: store " not in (line := process.stdout.readline()):
        assert line
    # It goes on, as trouble may pass.
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    while "trouble is over" not in (line := process.stdout.readline()):
        assert line
        lines.append(line)
    assert not any("trouble" in line for line in lines)
    process.terminate()
    errors = process.communicate(timeout=60)[1]
    # Whether the task runs just then is chance.
    assert (process.returncode, errors.splitlines()[1:]) == (0, [])
    assert errors.startswith("pyselene: stopping")


def test_a_second_signal_does_not_wait_for_anybody(folder: Path, started: Callable[..., Command]) -> None:
    write(folder, "[tasks.a]\ncommand = '''trap '' TERM INT; echo $$ >pid; while :; do sleep 1; done'''\n")
    process = started("run", "w.toml", "--grace", "1h")
    wait_for(told_in(folder / "pid"))
    process.send_signal(signal.SIGINT)
    # Two that come before the first is heard are one.
    assert process.stderr is not None
    assert process.stderr.readline().startswith("pyselene: stopping")
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not is_running(int((folder / "pid").read_text()))


def test_a_reader_that_goes_away_is_no_reason_to_leave_children(folder: Path) -> None:
    write(folder, "[tasks.a]\ncommand = 'seq 5; sleep 60'\n")
    call("run", "w.toml", "--budget", "1s")
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m pyselene simulate w.toml --json | head -n 1"],
        env=environment(), capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout == "{\n"
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", ["--version", "--help", "list w.toml", "run w.toml", "plan w.toml --json"])
def test_a_reader_that_went_away_is_the_systems_affair_and_nothing_is_said(arguments: str, folder: Path) -> None:
    write(folder, "[tasks.a]\ncommand = 'true'\n")
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as gone:  # noqa: PTH123
        process = Command(arguments.split(), environment(), stdout=gone)
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (5, "")


def test_a_reader_that_goes_away_stops_what_runs_and_fails_nothing(folder: Path) -> None:
    text = "[tasks.a]\npriority = 5\ncommand = 'until [ -e gone ]; do sleep 0.05; done; echo told; touch told'\n"
    write(folder, text + "[tasks.b]\ncommand = 'echo $$ >pid; sleep 60'\n")
    arguments = ("run", "w.toml", "--lanes", "2", "--budget", "1h", "--store", "tasks.db")
    with Command(arguments, environment()) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("window 1 of 1")
        wait_for(told_in(folder / "pid"))
        process.stdout.close()
        (folder / "gone").touch()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 5
    assert not is_running(int((folder / "pid").read_text()))
    found = {task["id"]: task["last_outcome"] for task in look("list", "--store", "tasks.db")}
    assert found == {"a": "new_data", "b": "stopped"}


@pytest.mark.parametrize("arguments", ["--version", "run w.toml"])
@pytest.mark.parametrize(
    ("where", "told"),
    [
        (">&-", "pyselene: the standard output is closed; allowed is anything that can be written to\n"),
        (">/dev/full", "pyselene: No space left on device\n"),
        (">&- 2>&-", ""),
    ],
)
def test_an_output_that_takes_nothing_is_told_in_one_line(arguments: str, where: str, told: str, folder: Path) -> None:
    write(folder, "[tasks.a]\ncommand = 'touch ran'\n")
    done = subprocess.run(
        ["/bin/sh", "-c", f"{' '.join(command(*arguments.split()))} {where}"],
        env=environment(), stderr=subprocess.PIPE, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (5, told)
    assert where == ">/dev/full" or not (folder / "ran").exists()


def test_a_closed_input_is_a_workload_that_cannot_be_read(folder: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"{' '.join(command('list', '-'))} <&-"],
        env=environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, "standard input: it is closed\n")


# ---- what fits a terminal ------------------------------------------------------------------------------------------


def test_in_80_columns_a_run_is_one_line_with_what_matters(folder: Path) -> None:
    text = "".join(
        f"[tasks.{name}]\nbackoff = 'linear'\ncommand = '{work}'\n"
        for name, work in (("tell", "true"), ("build-the-index-of-everything-there-is", "exit 75"), ("kill", "kill $$"))
    )
    told = call("run", write(folder, text), COLUMNS="80").stdout.splitlines()
    assert max(map(len, told)) <= 80
    head = next(line for line in told if line.startswith("  task "))
    assert head.split() == ["task", "took", "outcome", "command", "again"]
    rows = told[told.index(head) + 2 : told.index(head) + 5]
    assert re.fullmatch(r"  tell +\S+ \S+ +new data +exit 0 +next window", rows[0])
    assert re.fullmatch(r"  build-the-\S*…\S*there-is +\S+ \S+ +failed +exit 75 +in \S+ s", rows[1])
    assert re.fullmatch(r"  kill +\S+ \S+ +failed +SIGTERM +in \S+ s", rows[2])


def test_in_80_columns_a_list_cuts_nothing(folder: Path) -> None:
    write(folder, LOOK)
    told = call("list", "w.toml", COLUMNS="80").stdout.splitlines()
    assert len(told) == 5
    assert max(map(len, told)) <= 80
    assert not any("…" in line for line in told)
    assert {"task", "state", "due", "last"} <= set(told[0].split())


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (80, ["task", "priority", "score", "took", "why"]),
        (44, ["task", "score", "took", "why"]),
        (36, ["task", "took", "why"]),
        (20, ["task", "why"]),
    ],
)
def test_a_table_leaves_out_its_least_important_columns(width: int, columns: list[str]) -> None:
    sheet = Sheet(
        "task",
        "priority",
        "score",
        "took",
        "why",
        numbers=("score", "took"),
        spare=("priority", "score", "task", "took"),
    )
    sheet.add_row("indexing", "very high", "1.000", "2.34 ms", "new data")
    assert [column.header for column in sheet.fitted(width).columns] == columns


def test_what_does_not_print_is_escaped_everywhere(folder: Path) -> None:
    shown = "a\\u001b[31mb\\u009b"
    write(folder, f'[tasks."{shown}"]\ncommand = "true"\n')
    for told in (
        here("list", "w.toml").stdout,
        here("plan", "w.toml").stdout,
        here("plan", "w.toml", "--budget", "1s").stdout,
        here("explain", "a\x1b[31mb\x9b", "w.toml").stdout,
        here("explain", "x", "w.toml", code=2).stderr,
        call("run", "w.toml").stdout,
        call("run", "w.toml", "--now", "a\x1b[31mb\x9b").stdout,
    ):
        assert shown in told
        assert all(c.isprintable() or c == "\n" for c in told)


def test_no_line_ends_with_blanks_where_nobody_sees_them(folder: Path) -> None:
    write(folder, LOOK)
    for told in (
        call("run", "w.toml", "--no-network").stdout,
        here("list", "w.toml").stdout,
        here("explain", "b", "w.toml").stdout,
        here("plan", "w.toml", "--no-network").stdout,
        here("simulate", "w.toml", "--days", "1").stdout,
    ):
        assert not [line for line in told.splitlines() if line != line.rstrip()]


# ---- the live table ------------------------------------------------------------------------------------------------


def test_on_a_terminal_the_table_is_live(folder: Path) -> None:
    text = """
        [tasks.slow]
        priority = 5
        command = "until [ -e shown ]; do sleep 0.05; done"
        expected = "2s"
        [tasks.net]
        command = "true"
        requires = ["network"]
    """
    write(folder, text)
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(environment(TERM="xterm-256color", COLUMNS="120", LINES="40"))
        os.execv(sys.executable, [sys.executable, "-m", "pyselene", "run", "w.toml", "--budget", "60s", "--no-network"])
    wanted = "of 1 min spent, 0 done, 1 running, 1 waiting"
    seen = b""
    while select.select([terminal], [], [], 90)[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        if wanted.encode() in seen:
            (folder / "shown").touch()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    told = seen.decode()
    assert wanted in told
    assert "needs network" in told
    assert "1 (1 new data) of 1 eligible ran" in told


def test_the_live_table_shows_what_runs_is_done_and_waits() -> None:
    from rich.console import Console
    from rich.text import Text

    board = Board()
    now = time.monotonic()
    board.start(Active(1, "index", 1, 0.6, 2.0, now - 1))
    board.start(Active(2, "stuck", 1, 0.5, 1.0, now - 3))
    board.start(Active(3, "mail", 1, 0.9, 1.0, now - 1))
    board.end(Done(3, "mail", "failed", "exit 75", 0.5))
    board.stop(2, "expiring")
    console = Console(width=100, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    waits = [(f"t{n}", "not due yet") for n in range(12)]
    with console.file:
        console.print(render(Text("window 1"), Window(budget=30 * 10**9), 15.0, board.view(), waits))
    lines = console.export_text().splitlines()
    assert "15 s of 30 s spent, 1 done, 2 running, 12 waiting" in lines[1]
    found = {" ".join(line.split()[:2]): line for line in lines[4:]}
    assert "failed, exit 75" in found["done mail"]
    assert "score 0.600" in found["runs index"]
    assert "stopping: expiring" in found["runs stuck"]
    assert "not due yet" in found["waits t9"]
    assert "waits t10" not in found
    assert "waits and" in found
    assert board.end_of(3) == "exit 75"
    assert board.end_of(1) == "being killed"


def test_the_live_table_shows_the_pace_of_what_runs() -> None:
    from rich.console import Console
    from rich.text import Text

    board = Board()
    with pyselene.Scheduler(freshness=True) as scheduler, scheduler.observe(board.tell):
        scheduler.register_handler("index", lambda run: pyselene.Outcome.NO_DATA)
        scheduler.register(pyselene.Task("index", expected=5, schedule="standing"))
        scheduler.run_cycle(30)
        run = scheduler.run_cycle(30).runs[0]
        board.start(Active(run.run, "index", 1, run.score, 2.0, time.monotonic()))
        # Events may come after the call that caused them.
        patience = time.monotonic() + 60
        while board.view().active[0].pace is None and time.monotonic() < patience:
            time.sleep(0.01)
    assert board.view().active[0].pace == run.pace is not None
    board.start(Active(7, "mail", 1, 0.5, 2.0, time.monotonic()))
    console = Console(width=120, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    with console.file:
        console.print(render(Text("window 1"), Window(budget=30 * 10**9), 1.0, board.view(), []))
    found = {line.split()[1]: line.rstrip() for line in console.export_text().splitlines() if "runs" in line}
    assert found["index"].endswith(f"score 1.000, pace {run.pace.words[0]}, news 0 of 1")
    assert found["mail"].endswith("score 0.500")


@pytest.mark.parametrize(("width", "height"), [(45, 12), (60, 14), (80, 24), (120, 40)])
def test_on_a_small_terminal_the_live_table_shows_what_runs(width: int, height: int) -> None:
    from rich.console import Console
    from rich.text import Text

    board, now = Board(), time.monotonic()
    for token in range(20):
        name = f"a-long-name-of-a-task-whose-end-is-{token:02}"
        board.start(Active(token, name, 1, 0.6, 2.0, now - 1))
        if token < 17:
            board.end(Done(token, name, "failed", "a long way of saying how it ended", 0.5))
    console = Console(width=width, height=height, record=True, file=io.StringIO())
    head = Text("window 1  30 s, reserve 1.5 s · 2 lanes · refresh, processing")
    waits = [(f"t{n}", "not due yet; may change in 5.65 s") for n in range(12)]
    console.print(LiveTable(head, Window(budget=30 * 10**9), board, lambda: waits))
    lines = console.export_text().splitlines()
    assert len(lines) <= height
    runs = [line for line in lines if line.lstrip().startswith("runs")]
    assert len(runs) == 3
    # Names are cut so that they still differ.
    assert [re.search(r"…\S*(\d\d)", line)[1] for line in runs] == ["17", "18", "19"]  # type: ignore[index]


def test_a_browser_shows_the_live_table_in_its_colours(browser: str, tmp_path: Path) -> None:
    from rich.console import Console
    from rich.text import Text

    board = Board()
    now = time.monotonic()
    for token, (name, outcome, end, took) in enumerate([
        ("machine", "new_data", "exit 0", 0.04),
        ("checksum", "no_data", "exit 77", 4.3),
        ("flaky", "failed", "exit 75", 1.2),
    ]):  # fmt: skip
        board.start(Active(token, name, 1, 1.0, 1.0, now))
        board.end(Done(token, name, outcome, end, took))
    board.start(Active(4, "index", 1, 0.6, 6.0, now - 4))
    board.start(Active(5, "stuck", 2, 0.5, 2.0, now - 9))
    board.stop(5, "expiring")
    waits = [("publish", "needs network"), ("heartbeat", "not due yet; may change in 5.65 s")]
    console = Console(width=100, record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    head = Text.assemble(("window 1 of 4", "bold"), ("  30 s, reserve 1.5 s · 2 lanes · refresh, processing", "dim"))
    console.print(render(head, Window(budget=30 * 10**9), 21.0, board.view(), waits))
    page, picture = tmp_path / "live-table.svg", tmp_path / "live-table.png"
    console.save_svg(str(page), title="pyselene run")
    browse(browser, page, f"--screenshot={picture}", "--window-size=1240,440")
    keep(picture)
    found = colours(picture)
    # The ground of the terminal, and on it what is spent, what failed, what is late.
    from rich.terminal_theme import SVG_EXPORT_THEME as THEME

    ground = "".join(f"{part:02x}" for part in THEME.background_color)
    assert found.most_common(1)[0][0] == ground
    for name, number in {"cyan": 6, "red": 1, "yellow": 3, "green": 2}.items():
        assert found["".join(f"{part:02x}" for part in THEME.ansi_colors[number])] > 20, name


@pytest.mark.parametrize(("elapsed", "full"), [(0, 0), (15, 10), (30, 20), (99, 20)])
def test_the_bar_is_as_long_as_what_was_spent(elapsed: float, full: int) -> None:
    bar = budget_bar(elapsed, 30, 3, 20)
    assert len(bar.plain) == 20
    spent = "".join(bar.plain[span.start : span.end] for span in bar.spans if str(span.style) in ("cyan", "yellow"))
    assert spent == "━" * full


# ---- looking -------------------------------------------------------------------------------------------------------

LOOK = """
[tasks.a]
command = "true"
priority = "high"
expected = "2s"
tags = ["x"]
[tasks.b]
command = "true"
every = "1h"
requires = ["network", "power"]
max_attempts = 3
backoff = "linear"
backoff_delay = "12s"
[tasks.c]
command = "true"
expected = "1h"
"""


def look(*arguments: str) -> Any:
    return json.loads(here(*arguments, "--json").stdout)


def test_a_plan_tells_what_would_run_and_what_not(folder: Path) -> None:
    write(folder, LOOK)
    found = look("plan", "w.toml", "--no-network", "--on-battery")
    assert {key: found[key] for key in ("budget", "reserve", "lanes", "kinds", "eligible")} == {
        "budget": 30.0, "reserve": 1.5, "lanes": 1, "kinds": ["refresh", "processing"], "eligible": 2,
    }  # fmt: skip
    assert found["runs"] == [{"id": "a", "score": pytest.approx(0.8), "estimate": 2.0, "start": 0.0}]
    assert {other["id"]: [reason["reason"] for reason in other["reasons"]] for other in found["others"]} == {
        "b": ["constraints"],
        "c": [],
    }
    told = here("plan", "w.toml", "--no-network").stdout
    assert "c      takes 1 h, more than a whole window; it runs when it ranks first" in told
    assert "1 of 2 eligible would run" in told


def test_a_plan_refuses_what_a_run_refuses(folder: Path) -> None:
    write(folder, "[tasks.a]\ncommand = 'true'\n[tasks.b]\n")
    for name in ("plan", "run"):
        assert here(name, "w.toml", code=3).stderr.startswith('w.toml:3:8: found no command in the task "b"')
    here("list", "w.toml")
    here("simulate", "w.toml", "--days", "1")


def test_a_task_is_explained(folder: Path) -> None:
    write(folder, LOOK)
    found = look("explain", "b", "w.toml", "--no-network", "--on-battery")
    assert found["explanation"]["reasons"] == [
        {"reason": "constraints", "constraints": ["network", "power"], "conditions": [], "may_change_at": None}
    ]
    task = found["task"]
    assert (task["every"], task["max_attempts"], task["backoff"], task["backoff_delay"]) == (3600.0, 3, "linear", 12.0)
    told = here("explain", "b", "w.toml", "--no-network", "--on-battery").stdout
    assert "refresh, every 1 h, priority normal, at most 3 attempts" in told
    assert "needs network, power" in told
    assert 'no task "x" in w.toml' in here("explain", "x", "w.toml", code=2).stderr


def test_tasks_are_listed(folder: Path) -> None:
    write(folder, LOOK)
    assert [task["id"] for task in look("list", "w.toml")] == ["a", "b", "c"]
    assert [task["id"] for task in look("list", "w.toml", "--tag", "x")] == ["a"]
    assert look("list", "w.toml", "--tag", "y") == []
    assert "no tasks" in here("list", "w.toml", "--tag", "y").stdout
    told = here("list", "w.toml").stdout
    assert "network, power" in told
    assert "every 1 h" in told


def test_a_store_of_another_host_is_looked_at_as_if_its_handlers_were_there(folder: Path) -> None:
    with pyselene.Scheduler("tasks.db") as scheduler:
        scheduler.register(pyselene.Task("mine", "some.handler", tags="x", schedule="standing"))
        scheduler.register(pyselene.Task("other", "some.handler", every=60, requires="network"))
    found = look("explain", "mine", "--store", "tasks.db")
    assert found["explanation"]["reasons"] == []
    assert [run["id"] for run in look("plan", "--store", "tasks.db", "--network")["runs"]] == ["mine", "other"]
    assert 'no task "x" in the store' in here("explain", "x", "--store", "tasks.db", code=2).stderr


def test_tasks_are_cancelled(folder: Path) -> None:
    with pyselene.Scheduler("tasks.db", max_pending_refresh=None) as scheduler:
        for name in ("a", "b", "c", "d"):
            scheduler.enqueue(name, tags="x" if name < "c" else (), handler="h")
    assert here("cancel", "--store", "tasks.db", "d").stdout == "cancelled 1 task\n"
    assert 'no task "e" in the store' in here("cancel", "--store", "tasks.db", "c", "e", code=2).stderr
    assert here("cancel", "--store", "tasks.db", "--tag", "x").stdout == "cancelled 2 tasks\n"
    assert here("cancel", "--store", "tasks.db", "--all").stdout == "cancelled 1 task\n"
    assert {task["state"] for task in look("list", "--store", "tasks.db")} == {"cancelled"}
    here("cancel", "--store", "tasks.db", code=2)
    here("cancel", "--store", "tasks.db", "--all", "a", code=2)


def test_looking_makes_no_store_and_needs_exactly_one_place(folder: Path) -> None:
    write(folder, LOOK)
    for arguments in (("plan",), ("list",), ("explain", "a")):
        assert "found neither a workload nor --store" in here(*arguments, code=2).stderr
        assert "found both a workload and --store" in here(*arguments, "w.toml", "--store", "tasks.db", code=2).stderr
        assert "tasks.db: No such file" in here(*arguments, "--store", "tasks.db", code=4).stderr
    assert not (folder / "tasks.db").exists()
    (folder / "tasks.db").write_text("this is a file of something else, long enough to be looked at closely\n" * 20)
    told = here("list", "--store", "tasks.db", code=4).stderr
    assert re.fullmatch(
        r'pyselene: store "(.*/)?tasks\.db": not a Selene store: not an SQLite database \[STORE_FOREIGN\]\n', told
    )


def test_a_store_that_another_program_has_open_has_an_exit_code_of_its_own(folder: Path) -> None:
    with pyselene.Scheduler(folder / "tasks.db"):
        assert "STORE_LOCKED" in here("list", "--store", "tasks.db", code=6).stderr
        assert "STORE_LOCKED" in here("cancel", "--store", "tasks.db", "--all", code=6).stderr
    here("list", "--store", "tasks.db")


def test_a_store_in_the_place_of_a_workload_is_told_as_one(folder: Path) -> None:
    with pyselene.Scheduler(folder / "tasks.db"):
        pass
    assert "tasks.db: found a store; allowed is a workload in TOML" in here("list", "tasks.db", code=3).stderr


# ---- simulate ------------------------------------------------------------------------------------------------------


def test_a_simulation_tells_its_sums_and_writes_a_page(folder: Path) -> None:
    write(folder, LOOK + "[simulate]\njitter = 0.5\n")
    found = here("simulate", "w.toml", "--html", "report.html").stdout
    assert "672 windows of 30 s, one every 15 min, seed 1" in found
    assert "runs in 672 windows, 7 d played in " in found
    assert "the report is in report.html" in found
    page = (folder / "report.html").read_text()
    assert "Simulation of w.toml" in page
    assert page.count("<svg") == 5
    assert here("simulate", "w.toml", "--html", "none/report.html", code=5).stderr.startswith(
        "pyselene: none/report.html"
    )


def test_a_simulation_is_json_and_the_same_each_time(folder: Path) -> None:
    write(folder, LOOK + "[simulate]\njitter = 0.5\nseed = 4\n")
    found = look("simulate", "w.toml", "--days", "1", "--every", "1h", "--budget", "10s")
    assert found["windows"] == 24
    assert found["runs"] == sum(task["runs"] for task in found["tasks"]) == sum(found["outcomes"].values())
    assert found["budget"] == 240.0
    assert look("simulate", "w.toml", "--days", "1", "--every", "1h", "--budget", "10s", "--seed", "4") == found
    assert look("simulate", "w.toml", "--days", "1", "--every", "1h", "--budget", "10s", "--seed", "5") != found


def test_the_same_is_played_under_each_rule(folder: Path) -> None:
    write(folder, LOOK + "[simulate]\njitter = 0.5\nchanges = '3h'\n")
    found = look("simulate", "w.toml", "--days", "2", "--compare")
    assert [each["rule"] for each in found["rules"]] == ["selene", "observed", "freshness"]
    for each in found["rules"]:
        alone = look("simulate", "w.toml", "--days", "2", "--rule", each["rule"])
        assert each == {key: alone[key] for key in each}
        assert 0 < each["outdated"] < 1
        assert each["late_by"] < each["mean_age"] < each["oldest"]
    told = here("simulate", "w.toml", "--days", "1", "--compare", "--rule", "freshness", "--html", "report.html").stdout
    assert "seed 1, rule freshness" in told
    assert [line.split()[0] for line in told.splitlines() if "%" in line] == ["selene", "observed", "freshness"]
    page = (folder / "report.html").read_text()
    assert "The same under each rule" in page
    assert "Pace</button>" in page
    assert "fresh" not in here("simulate", "w.toml", "--days", "1").stdout
    write(folder, LOOK)
    told = here("simulate", "w.toml", "--days", "1", "--compare").stdout
    assert "no task says how often its source changes" in told


def test_a_trace_is_of_one_rule(folder: Path) -> None:
    write(folder, LOOK)
    told = here("simulate", "w.toml", "--profile", "server", "--trace", "t.trace", "--compare", code=2).stderr
    assert told == "pyselene: --trace records one rule; allowed is --trace without --compare\n"
    assert 'found "best"; allowed is selene, observed or freshness' in " ".join(
        here("simulate", "w.toml", "--rule", "best", code=2).stderr.replace("│", " ").split()
    )


# ---- mistakes and help ---------------------------------------------------------------------------------------------


def test_a_wrong_workload_is_shown_where_it_is_wrong(folder: Path) -> None:
    write(folder, '[tasks.a]\npriority = "urgent"\n')
    for name in ("run", "plan", "list", "simulate"):
        assert here(name, "w.toml", code=3).stderr == (
            'w.toml:2:12: found the priority "urgent"; allowed is very_low, low, normal, high, very_high, or 1 to 5\n'
            '  priority = "urgent"\n'
            "             ^\n"
        )
    assert here("run", "none.toml", code=3).stderr == "none.toml: No such file or directory\n"
    write(folder, "\n[tasks.a]\n")
    assert here("run", "w.toml", code=3).stderr.startswith('w.toml:2:8: found no command in the task "a"')


def test_what_the_scheduler_refuses_is_shown_where_it_stands(folder: Path) -> None:
    write(folder, f"[tasks.a]\ncommand = '''{'x' * (1 << 20)}y'''\n")
    assert here("run", "w.toml", code=3).stderr.startswith("w.toml:1:8: the scheduler refused the task: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budget", "soon"), 'found "soon"; allowed is seconds, or a number with ns'),
        (("--budget", "2d"), 'found "2d"; allowed is from 1ms to 1d'),
        (("--budget", "0"), 'found "0"; allowed is from 1ms to 1d'),
        (("--budget", "-1s"), 'found "-1s", which is negative; allowed is from 1ms to 1d'),
        (("--lanes", "1025"), 'found "1025"; allowed is a number from 1 to 1024'),
        (("--kinds", "long"), 'found "long"; allowed is refresh, processing or'),
        (("--budget", "1s", "--reserve", "2s"), "--reserve 2s is longer than --budget 1s"),
        (("--reserve", "40s"), "--reserve 40s is longer than the budget 30s, which is the default"),
        (("--nonsense",), "No such option: --nonsense"),
    ],
)
def test_a_wrong_option_says_what_is_allowed(arguments: tuple[str, ...], message: str, folder: Path) -> None:
    write(folder, "[tasks.a]\ncommand = 'true'\n")
    assert message in " ".join(here("run", "w.toml", *arguments, code=2).stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    "name", ["", "run", "plan", "explain", "list", "cancel", "simulate", "signals", "forecast", "trace record",
             "trace replay"],
)  # fmt: skip
def test_help_tells_the_exit_codes(name: str) -> None:
    told = here(*name.split(), "--help").stdout
    codes = told[told.index("Exit codes") :]
    for code in ("0 done", "6 the store is in use", "128 + N ended by signal N"):
        assert code in " ".join(codes.split())
    assert len(codes.split("\n\n")[0].splitlines()) <= 3


def test_a_reserve_that_is_too_long_says_whose_budget_it_is_longer_than(folder: Path) -> None:
    write(folder, "[window]\nbudget = 5\n[simulate.window]\nbudget = 3\n[tasks.a]\ncommand = 'true'\n")
    for name, budget in (("run", "5s of [window]"), ("simulate", "3s of [simulate.window]")):
        told = here(name, "w.toml", "--reserve", "6", code=2).stderr
        assert told == (
            f"pyselene: --reserve 6s is longer than the budget {budget} in w.toml; allowed is at most the budget\n"
        )


def test_a_plain_number_is_seconds_as_in_the_file(folder: Path) -> None:
    write(folder, LOOK)
    assert look("plan", "w.toml", "--budget", "20")["budget"] == 20.0
    assert look("plan", "w.toml", "--budget", "2.5", "--reserve", "0")["budget"] == 2.5


def test_help_tells_what_is_not_obvious() -> None:
    assert "comes back with the next run of that workload" in here("cancel", "--help").stdout
    assert "0: only registers the tasks" in " ".join(here("run", "--help").stdout.replace("│", " ").split())


def test_the_version_is_told() -> None:
    assert here("--version").stdout == f"pyselene {pyselene.__version__}\n"


def test_without_its_libraries_the_command_says_what_it_needs(folder: Path) -> None:
    (folder / "typer.py").write_text("raise ModuleNotFoundError('no typer', name='typer')\n")
    done = call("list", code=5, PYTHONPATH=os.pathsep.join([str(folder), str(SOURCES)]))
    assert done.stderr == "pyselene: the command line needs typer; pip install 'pyselene[cli]' brings it\n"


# ---- children ------------------------------------------------------------------------------------------------------


def test_u3_a_command_begins_when_its_guard_knows_it(folder: Path) -> None:
    text = """
        import os, signal, sys
        from pyselene.cli.child import Child

        class Killed:
            def add(self, group):
                print(group, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)

        Child("touch ran", "a", 1, os.open("log", os.O_WRONLY | os.O_CREAT), Killed())
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], cwd=folder, env=environment(), stdout=subprocess.PIPE, timeout=60
    )
    assert found.returncode == -signal.SIGKILL
    wait_for(lambda: not is_running(int(found.stdout)))
    assert not (folder / "ran").exists()


def test_a_child_inherits_no_ignored_signals(folder: Path) -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with (folder / "log").open("w") as log:
            found = child.Child("kill -USR1 $$; sleep 5", "a", 1, log.fileno()).wait(lambda: None)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert child.end_text(found) == "SIGUSR1"
    assert str(outcome_of(found)) == "failed"


def test_a_stopped_group_is_woken_to_be_ended(folder: Path) -> None:
    begun = time.monotonic()
    with (folder / "log").open("w") as log:
        found = child.Child("kill -STOP $$", "a", 1, log.fileno()).wait(
            lambda: 30.0 if time.monotonic() > begun + 0.2 else None
        )
    assert child.end_text(found) == "SIGTERM"
    assert time.monotonic() - begun < 25  # less than the grace
