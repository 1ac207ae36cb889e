"""The commands that look at a store do so while another process has it open and serves it (L14)."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

import pyselene as selene
from forked import Command, command, finished, start
from pyselene import Scheduler, Task
from test_cli import SOURCES, environment, folder, here, wait_for, write

__all__ = ["folder"]

RUNNER = SOURCES.parents[2] / "build/selene-run"

WORKLOAD = """
[tasks.soon]
command = "true"

[tasks.later]
every = "1h"
delay = "1h"
command = "true"
"""


def give_up(run: selene.Run) -> None:
    raise selene.Abandon("no paper")


@pytest.fixture
def served(folder: Path) -> Iterator[Scheduler]:
    with Scheduler(folder / "tasks.db") as scheduler, scheduler.serve():
        scheduler.register_handler("h", lambda run: None)
        scheduler.register(Task("report", "h", every=3600, tags={"daily"}))
        scheduler.enqueue("mail", handler="h", delay=3600)
        yield scheduler


def test_l14_a_live_store_is_listed_explained_and_planned(served: Scheduler) -> None:
    assert "report" in here("list", "--store", "tasks.db").stdout
    assert [task["id"] for task in json.loads(here("list", "--store", "tasks.db", "--json").stdout)] == served.ids()
    assert "mail" not in here("list", "--store", "tasks.db", "--tag", "daily").stdout
    assert "not due" in here("explain", "mail", "--store", "tasks.db").stdout
    assert "report" in here("plan", "--store", "tasks.db").stdout
    assert '"nothing" is not registered' in here("explain", "nothing", "--store", "tasks.db", code=2).stderr
    assert here("signals", "--store", "tasks.db").stdout


def test_l14_a_live_store_is_changed_through_its_owner(served: Scheduler) -> None:
    assert here("cancel", "mail", "--store", "tasks.db").stdout == "cancelled 1 task\n"
    assert served.get("mail").state is selene.State.CANCELLED
    served.enqueue("broken", handler="b", max_attempts=1)
    served.register_handler("b", give_up)
    served.run_cycle(kinds={"refresh"})
    assert "no paper" in here("failed", "--store", "tasks.db").stdout
    assert here("retry", "broken", "--store", "tasks.db").stdout == "enqueued broken again\n"
    assert served.get("broken").state is selene.State.ENQUEUED
    assert here("cancel", "--all", "--store", "tasks.db").stdout == "cancelled 2 tasks\n"


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
def test_w2_a_condition_of_a_live_store_is_met_and_lost_by_both_programs(
    served: Scheduler, folder: Path, program: str
) -> None:
    def change(verb: str, name: str) -> subprocess.CompletedProcess[str]:
        words = command(verb) if program == "pyselene" else [str(RUNNER), f"--{verb}"]
        return finished([*words, name, "--store", "tasks.db"], environment(), folder)

    told = change("meet", "vpn")
    assert told.returncode == 2
    assert 'meet: no task asks for the condition "vpn"; there is none' in told.stderr
    served.enqueue("upload", handler="h", conditions=["vpn", "disk"])
    served.define_condition("disk", True)
    for verb, done, holds in (("meet", "met", True), ("lose", "lost", False), ("meet", "met", True)):
        told = change(verb, "vpn")
        assert (told.returncode, told.stdout) == (0, f"{done} condition vpn\n")
        assert served.conditions().named == {"disk": True, "vpn": holds}
        assert bool(served.explain("upload").reasons) is not holds
    told = change("lose", "vnp")
    assert told.returncode == 2
    assert 'lose: no task asks for the condition "vnp"; there are: disk' in told.stderr
    assert served.conditions().named == {"disk": True, "vpn": True}


def look(program: str, command_name: str, *arguments: str, code: int = 0) -> str:
    """What either program says when it looks at the store."""
    if program == "pyselene":
        told = here(command_name, *arguments, "--store", "tasks.db", code=code)
        return told.stdout + told.stderr
    name = command_name if command_name == "why" else f"--{command_name}"
    done = subprocess.run(
        [str(RUNNER), name, *arguments, "--store", "tasks.db"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
def test_a_handler_that_nobody_has_is_named_by_both_programs(served: Scheduler, program: str) -> None:
    served.enqueue("letter", handler="mial\x1b")
    assert 'no handler "mial\\u001b"' in look(program, "explain", "letter")
    assert 'no handler "mial\\u001b"' in look(program, "plan")
    if program == "selene-run":
        assert 'never ran                     no handler "mial\\u001b"\n' in look(program, "list")


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
@pytest.mark.parametrize("is_served", [False, True])
def test_names_of_a_store_are_escaped_by_both_programs(folder: Path, program: str, is_served: bool) -> None:
    """Others wrote them: nothing of them may colour a terminal, or look like another line."""
    wild = "[x]\x1b]0;OWNED\x07\x1b[31m\nb  succeeded"
    shown = r"[x]\u001b]0;OWNED\u0007\u001b[31m\nb  succeeded"
    with Scheduler("tasks.db") as scheduler:
        scheduler.register_handler("b", give_up)
        scheduler.enqueue(f"broken {wild}", handler="b", max_attempts=1)
        scheduler.run_cycle(kinds={"refresh"})
        scheduler.enqueue(wild, handler=wild)
        scheduler.register(
            Task("a", wild, group=wild, tags={wild}, conditions=(wild,), input=b"\x1b[31m", every=60, delay=0)
        )
        scheduler.register(Task("later", wild, schedule="once", after=(wild,)))
        scheduler.register(Task("=gone", wild, schedule="once", input=b"b\x1b[31m\nb  succeeded"))
        scheduler.pause(group=wild)
        scheduler.pause(kinds=["refresh"], pool=wild)
        if is_served:
            scheduler.serve()
        else:
            scheduler.close()
        told = [
            look(program, "list"), look(program, "explain", "a"), look(program, "explain", "later"),
            look(program, "explain", wild), look(program, "plan"), look(program, "failed"), look(program, "why", "a"),
            look(program, "why", "later"), look(program, "explain", "nothing", code=2),
        ]  # fmt: skip
        assert shown in told[0], told[0]
        for text in told:
            assert all(c.isprintable() or c == "\n" for c in text), text
            assert not [line for line in text.splitlines() if line.lstrip().startswith("b ")], text


@pytest.mark.parametrize("arguments", [("serve", "--store", "tasks.db"), ("fleet", "serve", "--dsn", "host=/nowhere")])
def test_what_a_page_needs_is_asked_for_before_anything_is_served(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    import pyselene.cli.page

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "pyselene.cli.page.serving", raising=False)
    monkeypatch.delattr(pyselene.cli.page, "serving", raising=False)
    told = here(*arguments, "--web", "127.0.0.1:0", code=5)
    assert told.stdout == ""
    assert '--web needs what "pip install pyselene[web]" installs' in told.stderr
    assert not (folder / "tasks.db").exists()


MEMBER = """
import sys, pyselene
member = pyselene.connect("tasks.db", pool="mailer")
member.register_handler("mail", None)
print("ready", flush=True)
sys.stdin.read()
"""


def test_clients_are_listed(served: Scheduler, folder: Path) -> None:
    assert here("clients", "--store", "tasks.db").stdout == "no other process is connected\n"
    with subprocess.Popen(
        [sys.executable, "-c", MEMBER],
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as member:
        assert member.stdout is not None
        assert member.stdout.readline() == "ready\n"
        shown = here("clients", "--store", "tasks.db").stdout
        assert str(member.pid) in shown
        assert "mailer" in shown
        (client,) = json.loads(here("clients", "--store", "tasks.db", "--json").stdout)
        assert (client["process"], client["pool"], client["handlers"]) == (member.pid, "mailer", 1)
        assert client["rights"] == ["look", "read", "enqueue", "work", "manage"]
        member.communicate()


def test_l14_looking_at_a_live_store_changes_nothing_there(served: Scheduler) -> None:
    served.set_conditions(network=False)
    before = served.conditions()
    here("plan", "--store", "tasks.db", "--kinds", "refresh")
    here("explain", "report", "--store", "tasks.db")
    assert served.conditions() == before
    assert len(served.info().kinds) == 2
    for option in ("--network", "--on-battery", "--freshness"):
        assert "is open in another process" in here("plan", "--store", "tasks.db", option, code=2).stderr
    assert served.conditions() == before


def test_l14_a_store_whose_owner_does_not_serve_is_locked(folder: Path) -> None:
    with Scheduler(folder / "tasks.db"):
        assert "STORE_LOCKED" in here("list", "--store", "tasks.db", code=6).stderr
    here("list", "--store", "tasks.db")


def test_l14_an_owner_that_stands_still_is_not_one_that_does_not_serve(folder: Path) -> None:
    calls = (
        command("list", "--store", "tasks.db"),
        [str(RUNNER), "--store", "tasks.db", "--list"],
    )
    with Scheduler(folder / "tasks.db"), socket.socket(socket.AF_UNIX) as silent:
        # As the socket of one that is stopped: who connects waits there for an answer.
        silent.bind("tasks.db-sock")
        silent.listen(8)
        begun = [start(each, environment()) for each in calls]
        for process in begun:
            told = process.communicate(timeout=300)[1]
            assert process.returncode == 6, told
            assert "not answered in time" in told
            assert f"process {os.getpid()}" in told
            assert "does not serve" not in told


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
def test_l14_what_is_followed_can_be_looked_at_by_both_programs(folder: Path, program: str) -> None:
    assert RUNNER.exists(), "make build/selene-run builds it"
    if program == "pyselene":
        arguments = command("run", write(folder, WORKLOAD), "--follow", "--store", "tasks.db")
    else:
        lines = "soon -- true\nlater schedule=periodic every=1h delay=1h -- true\n"
        arguments = [str(RUNNER), "--follow", "--store", "tasks.db", write(folder, lines, "w")]
    with (folder / "log").open("wb") as log:
        process = start(arguments, environment(), stdout=log, stderr=log)
    try:
        wait_for(lambda: (folder / "tasks.db-sock").exists() or process.poll() is not None)
        assert process.poll() is None, (folder / "log").read_text()
        with selene.connect(folder / "tasks.db", wait=120):
            assert (folder / "tasks.db-sock").stat().st_mode & 0o777 == 0o600
        assert "later" in here("list", "--store", "tasks.db").stdout
        assert "not due" in here("explain", "later", "--store", "tasks.db").stdout
        looked = subprocess.run(
            [RUNNER, "--store", "tasks.db", "--list", "--explain", "later", "--plan"],
            env={**os.environ, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert looked.returncode == 0, looked.stderr
        assert "later" in looked.stdout
        assert "its earliest begin has not come" in here("why", "later", "--store", "tasks.db").stdout
        looked = subprocess.run(
            [RUNNER, "why", "later", "--store", "tasks.db", "--json"],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        waits = json.loads(looked.stdout)
        assert waits["id"] == "later"
        assert sum(part["duration_ns"] for part in waits["parts"]) == waits["total_ns"]
        assert waits["parts"][-1]["reason"] == "not_due"
        refused = subprocess.run(
            [RUNNER, "--store", "tasks.db", "--list", "--profile", "strict"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert refused.returncode == 2
        assert "is open in another process" in refused.stderr
        with selene.connect(folder / "tasks.db") as queue:
            queue.enqueue("from elsewhere")
        assert here("cancel", "from elsewhere", "--store", "tasks.db").stdout == "cancelled 1 task\n"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=120)
    assert process.returncode == 0, (folder / "log").read_text()
    assert not (folder / "tasks.db-sock").exists()


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
def test_l18_a_live_store_is_watched_by_both_programs(folder: Path, program: str) -> None:
    words = command("watch") if program == "pyselene" else [str(RUNNER), "--watch"]
    with Scheduler(folder / "tasks.db") as scheduler:
        server = scheduler.serve()
        process = start([*words, "--store", "tasks.db"], environment())
        assert process.stdout is not None
        assert process.stdout.readline() == "watching tasks.db\n"
        scheduler.register_handler("b", give_up)
        scheduler.enqueue("broken\x1b", handler="b", max_attempts=1)
        scheduler.run_cycle(kinds={"refresh"})
        told = [process.stdout.readline()[len("2026-11-23 12:00:00  ") :] for _ in range(5)]
        server.close()
        rest, wrong = process.communicate(timeout=120)
    assert "no paper" in told[3]
    told[3] = told[3].partition(":")[0]
    assert told == [
        "registered   broken\\u001b  added\n",
        "cycle_begun  refresh\n",
        "started      broken\\u001b\n",
        "completed    broken\\u001b  abandoned",
        "cycle_ended  refresh  failed\n",
    ]
    assert (process.returncode, rest) == (4, "")
    assert "ended the connection" in wrong


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
def test_l18_a_member_that_dies_is_watched_by_both_programs(folder: Path, program: str) -> None:
    dying = "import os, pyselene; m = pyselene.connect('tasks.db');"
    dying += "m.register_handler('die', lambda run: os._exit(9)); m.run_cycle()"
    words = command("watch") if program == "pyselene" else [str(RUNNER), "--watch"]
    with Scheduler(folder / "tasks.db") as scheduler, scheduler.serve():
        scheduler.enqueue("invoice", handler="die")
        with start([*words, "--store", "tasks.db"], environment()) as it:
            assert it.stdout is not None
            assert it.stdout.readline() == "watching tasks.db\n"
            subprocess.run([sys.executable, "-c", dying], env=environment(), timeout=120, check=False)
            lines = iter(it.stdout.readline, "")
            told = next(line for line in lines if "  interrupted  " in line)
            it.terminate()
    assert told[len("2026-11-23 12:00:00  ") :] == "interrupted  invoice  the process ended\n"


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
def test_l18_a_signal_ends_who_watches(served: Scheduler, program: str) -> None:
    words = command("watch") if program == "pyselene" else [str(RUNNER), "--watch"]
    process = start([*words, "--store", "tasks.db"], environment())
    assert process.stdout is not None
    assert process.stdout.readline() == "watching tasks.db\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)[0] == ""
    assert process.returncode == 130


def test_l18_events_are_lines_of_json(folder: Path) -> None:
    with Scheduler(folder / "tasks.db") as scheduler, scheduler.serve():
        process = Command(["watch", "--store", "tasks.db", "--json"], environment())
        assert process.stdout is not None
        # It says nothing before something happens: until it is there, it misses some.
        with ThreadPoolExecutor(1) as reader:
            line = reader.submit(process.stdout.readline)
            for number in itertools.count():
                scheduler.enqueue(f"task {number}")
                if wait([line], timeout=0.05).done:
                    break
        found = json.loads(line.result())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    assert (found["type"], found["detail"], found["lost"]) == ("registered", "added", 0)
    assert found["id"].startswith("task ")
    assert process.returncode == 130
