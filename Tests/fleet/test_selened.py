"""selened as the one connection of a machine to a fleet: processes that know nothing of it run its tasks (N36)."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyselene as selene
import pytest

from conftest import Fleet
from server import ROOT, Server
from workers import BUILD, FLAGS, Program, rest, told, wait

DAEMON, RUNNER = BUILD / "selened", BUILD / "selene-run"
PATIENCE = 90
Start = Callable[..., Any]


class Process(Program):
    """A program, which a signal may end."""

    def __init__(self, *command: object, **variables: str) -> None:
        super().__init__(*command, env={**os.environ, **variables})

    def has_said(self, word: str) -> bool:
        """Anywhere."""
        return any(word in said for said in self.said)

    def end(self, how: int = 0) -> int:
        """Ends its input, or sends a signal, and waits for it."""
        if how:
            self.process.send_signal(how)
        if how in (0, signal.SIGKILL):
            self.close_input()
        return self.await_end()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.process.poll() is not None


class Manager:
    """The end of NOTIFY_SOCKET that a service manager has."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(PATIENCE)
        self.socket.bind(str(path))

    def hears(self, pattern: str) -> list[str]:
        """What it is told up to a line that matches."""
        found: list[str] = []
        while not any(re.fullmatch(pattern, line) for line in found):
            found += self.socket.recv(4096).decode().splitlines()
        return found


@pytest.fixture
def folder() -> Iterator[Path]:
    """Its name is not too long for a socket."""
    with tempfile.TemporaryDirectory(prefix="f.") as place:
        yield Path(place)


@pytest.fixture
def start(programs: dict[str, Path], folder: Path) -> Iterator[Start]:
    """Starts a selened, or one that connects to it, none of which outlives the test."""
    made: list[Process] = []

    def begin(what: str, name: str, *more: object, dsn: str = "", **variables: str) -> Process:
        path = folder / name
        if what == "selened":
            fleet = ("--fleet", dsn) if dsn else ()
            made.append(Process(DAEMON, *fleet, "--socket", path, "--name", name, *more, **variables))
            wait(lambda: made[-1].words("serving") or made[-1].is_over)
        elif what == "c":
            made.append(Process(programs["member"], path, *more))
            wait(lambda: made[-1].words("serves") or made[-1].is_over)
        else:
            made.append(Process(sys.executable, Path(__file__).with_name("member.py"), path, *more))
            wait(lambda: made[-1].words("serves") or made[-1].is_over)
        return made[-1]

    yield begin
    for one in reversed(made):
        if not one.is_over:
            one.end(signal.SIGKILL)


def dsn_of(fleet: Fleet) -> str:
    """How a machine reaches it."""
    return fleet.server.dsn(fleet.name)


def look(program: str, path: Path, *words: str, code: int = 0) -> str:
    """What a command line says of what a socket serves."""
    command = [str(RUNNER)] if program == "selene-run" else [sys.executable, "-m", "pyselene"]
    done = subprocess.run(
        [*command, *words, "--store", str(path)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_n36_two_machines_run_the_tasks_of_one_fleet_through_their_selened(fleet: Fleet, start: Start) -> None:
    one, other = (start("selened", name, dsn=dsn_of(fleet)) for name in ("one", "other"))
    assert one.words("serving", "fleet", "selene", "on")
    members = [start("c", "one", "ms=20"), start("python", "other", 20)]
    wait(lambda: fleet.rows("select distinct name from nodes where alive order by name") == [("one",), ("other",)])
    fleet.rows("select count(register('t' || i, handler => 'send', input => 'x')) from generate_series(1, 300) i")
    fleet.rows("select wake('default')")
    wait(lambda: fleet.one("select count(*) from history") == 300)
    began = [said for member in members for said in member.words("begin")]
    assert Counter(said[1] for said in began) == Counter(f"t{i}" for i in range(1, 301))
    assert all(member.words("begin") for member in members)
    # Each is told the number of its run.
    assert {(said[1], int(said[3])) for said in began} == set(fleet.rows("select id, run from history"))
    assert fleet.rows("select distinct state, attempts from ended") == [("succeeded", 1)]
    assert fleet.one("select result('t7')") == b"sent x"
    assert {said[2] for said in members[0].words("end")} == {"OK"}
    for member in members:
        assert member.end() == 0, member.errors
    for daemon in (one, other):
        assert daemon.end(signal.SIGTERM) == 0
        assert daemon.errors == ""
    assert fleet.nodes() == []


def test_n36_the_program_of_the_manual(fleet: Fleet, start: Start, folder: Path) -> None:
    text = (ROOT / "docs/fleet.md").read_text().split("## One connection a machine\n")[1].split("\n## ")[0]
    (program,) = re.findall(r"```py\n(.*?)```", text, re.DOTALL)
    (call,) = (line for line in text.splitlines() if line.startswith("selened --fleet"))
    words = call.replace("gid=www-data", "any").split()
    given = dict(zip(words[1::2], words[2::2], strict=True))
    assert given.pop("--socket") == "/run/app.sock"
    given["--fleet"] = dsn_of(fleet)
    start("selened", "one", *[word for pair in given.items() for word in pair])
    sent: list[int] = []

    def work(scheduler: selene.Scheduler, lanes: int) -> None:
        with scheduler.driver(refresh_lanes=lanes):
            wait(lambda: fleet.one("select count(*) from history") == 3)

    for old, new in (("/run/app.sock", str(folder / "one")), ("scheduler.run_forever(lanes=4)", "work(scheduler, 4)")):
        assert old in program
        program = program.replace(old, new)
    fleet.rows("select count(register('t' || i, handler => 'send', labels => '{gpu}')) from generate_series(1, 3) i")
    exec(program, {"selene": selene, "work": work, "send": lambda run: sent.append(run.fence)})
    assert sorted(sent) == [run for (run,) in fleet.rows("select run from history order by run")]


def test_n36_it_takes_queues_and_labels_that_it_was_told(fleet: Fleet, start: Start) -> None:
    fleet.rows(
        "select register('a', handler => 'send', queue => 'mail', labels => '{gpu}'),"
        " register('b', handler => 'send', queue => 'web'),"
        " register('c', handler => 'send', queue => 'mail', labels => '{eu}'),"
        " register('d', handler => 'fail', queue => 'mail', max_attempts => 1)"
    )
    host, database = fleet.server.folder, fleet.name
    # What is not said in --fleet the environment says, as with every client of libpq.
    where = {"PGHOST": str(host), "PGDATABASE": database, "PGUSER": "fleet", "SELENE_FLEET": ""}
    more = (
        "--queue",
        "mail",
        "--queue",
        "other",
        "--label",
        "gpu",
        "--poll",
        "50ms",
        "--no-listen",
        "--relaxed",
        "--lease",
        "5s",
    )
    daemon = start("selened", "one", *more, **where)
    start("c", "one")
    wait(lambda: fleet.one("select count(*) from history") == 2)
    assert fleet.rows("select id, state, failure from ended order by id") == [
        ("a", "succeeded", None),
        ("d", "failed", 'no "luck"'),
    ]
    assert fleet.rows("select distinct lease = interval '5 s' from nodes") == [(True,)]
    assert fleet.rows("select id, attempts from live order by id") == [("b", 0), ("c", 0)]
    assert daemon.end(signal.SIGTERM) == 0


def test_n36_what_this_machine_has_of_the_fleet_is_seen(fleet: Fleet, start: Start, folder: Path) -> None:
    start("selened", "one", dsn=dsn_of(fleet))
    member = start("c", "one", "lanes=1")
    path = folder / "one"
    watch = Process(sys.executable, "-m", "pyselene", "watch", "--store", path)
    other = Process(RUNNER, "--watch", "--store", path)
    try:
        time.sleep(1)
        fleet.rows("select register('a-run', handler => 'last', input => 'secret')")
        wait(lambda: member.words("begin", "a-run"))
        for program, verbs in (
            ("selene-run", (("--list",), ("--explain", "a-run"), ("--clients",), ("why", "a-run"))),
            ("pyselene", (("list",), ("explain", "a-run"), ("clients",), ("why", "a-run"))),
        ):
            listed, explained, clients, _ = (look(program, path, *verb) for verb in verbs)
            assert "a-run" in listed
            assert "running" in listed
            assert "running" in explained
            assert "does not answer" not in explained
            assert "members" in clients
            assert "1" in next(line for line in clients.splitlines() if "members" in line)
        fleet.rows("select cancel('a-run')")
        fleet.rows("select wake('default')")
        wait(lambda: member.words("stop", "a-run"))
        assert member.words("stop", "a-run") == [["stop", "a-run", "cancelled"]]
        for one in (watch, other):
            wait(partial(one.has_said, "a-run"))
        # What it does not have it cannot explain, and says where to ask.
        fleet.rows("select register('elsewhere', handler => 'nobody')")
        told_of_it = look("selene-run", path, "--explain", "elsewhere", code=2)
        assert "none of the tasks that this process has of its fleet; the fleet explains the others" in told_of_it
    finally:
        for one in (watch, other):
            one.end(signal.SIGKILL)


def test_n36_what_is_the_fleets_is_not_changed_here(fleet: Fleet, start: Start, folder: Path) -> None:
    start("selened", "one", dsn=dsn_of(fleet))
    member = start("c", "one")
    fleet.rows("select register('a', handler => 'last')")
    wait(lambda: member.words("begin", "a"))
    with selene.connect(folder / "one") as queue:
        refused: list[Callable[[], object]] = [
            lambda: queue.enqueue("b", handler="send"),
            lambda: queue.enqueue("a", handler="send"),
            lambda: queue.cancel("a"),
            lambda: queue.cancel_tag("t"),
            lambda: queue.cancel_all(),
            lambda: queue.pause("a"),
            lambda: queue.retry("a"),
        ]
        for call in refused:
            with pytest.raises(selene.Unsupported) as error:
                call()
            assert str(error.value).startswith("task: those here come from a fleet"), error.value
        assert queue.ids() == ["a"]
    for program, verb in (("selene-run", ("--enqueue", "b", "--handler", "send")), ("pyselene", ("enqueue", "b"))):
        assert "those here come from a fleet" in look(program, folder / "one", *verb, code=4)
    for program, verb in (("selene-run", ("--cancel", "a")), ("pyselene", ("cancel", "a"))):
        assert "those here come from a fleet" in look(program, folder / "one", *verb, code=4)
    assert fleet.rows("select id, state from live") == [("a", "running")]


def test_l9_a_process_that_is_killed_has_failed_an_attempt_of_the_fleet(fleet: Fleet, start: Start) -> None:
    fleet.rows("select register('a', handler => 'hang', backoff => 'none', max_attempts => 2)")
    start("selened", "one", dsn=dsn_of(fleet))
    member = start("c", "one")
    wait(lambda: member.words("begin", "a"))
    member.end(signal.SIGKILL)
    lost = (1, "the process ended", False, "interrupted")
    wait(lambda: fleet.rows("select attempts, failure, suspect, stop from live") == [lost])
    # At least 30 s, though its own backoff is none, and no sample of what it takes.
    due, runs = fleet.rows("select extract(epoch from earliest_begin - last_run)::float8, runs from live")[0]
    assert 30 <= due < 31
    assert runs == 0
    assert fleet.rows("select reason, detail from explain('a')")[0] == (
        "not_due",
        "attempt 1 failed: the process ended; it waits",
    )
    # The machine goes on, with the next process.
    other = start("c", "one")
    fleet.rows("select register('b', handler => 'send')")
    wait(lambda: fleet.one("select count(*) from history") == 1)
    assert other.words("begin", "b")
    # The last attempt.
    fleet.rows("update slot set due = 0")
    wait(lambda: other.words("begin", "a"))
    assert other.words("begin", "a")[0][2] == "2"
    other.end(signal.SIGKILL)
    wait(lambda: fleet.one("select count(*) from history") == 2)
    assert fleet.rows("select state, attempts, failure, stop from ended where id = 'a'") == [
        ("failed", 2, "the process ended", "interrupted")
    ]


def test_n36_a_selened_that_is_killed_has_its_runs_taken_over(fleet: Fleet, start: Start) -> None:
    # One that a machine which is held up for seconds keeps.
    lease = ("--lease", "9s")
    first = start("selened", "one", *lease, dsn=dsn_of(fleet))
    start("selened", "other", *lease, dsn=dsn_of(fleet))
    member = start("c", "one")
    fleet.rows("select register('a', handler => 'last')")
    wait(lambda: member.words("begin", "a"))
    other = start("python", "other", 10)
    first.end(signal.SIGKILL)
    # It is to blame, since nothing else ran there; the first time it waits for nothing.
    lost = (True, "interrupted")
    wait(lambda: fleet.rows("select suspect, stop from live") == [lost])
    wait(lambda: other.words("begin", "a"))
    assert other.words("begin", "a")[0][2] == "2"
    # The process of the first one finds the next owner by itself, and hears that its run is over.
    again = start("selened", "one", *lease, dsn=dsn_of(fleet))
    assert again.words("serving")
    wait(lambda: member.words("stop", "a"))
    assert fleet.rows("select state, attempts from live") == [("running", 2)]
    fleet.rows("select cancel('a')")
    wait(lambda: other.words("stop", "a"))
    assert other.end() == 0
    fleet.rows("select count(register('b' || i, handler => 'send')) from generate_series(1, 10) i")
    wait(lambda: fleet.one("select count(*) from history where state = 4") == 10)
    assert {said[1] for said in member.words("begin")} == {"a"} | {f"b{i}" for i in range(1, 11)}
    rest(fleet)


def test_n36_sigterm_lets_runs_end_and_gives_back_what_does_not(fleet: Fleet, start: Start) -> None:
    fleet.rows("select register('a', handler => 'send'), register('b', handler => 'last')")
    daemon = start("selened", "one", "--drain", "4s", dsn=dsn_of(fleet))
    member = start("c", "one", "ms=1500")
    wait(lambda: member.words("begin", "a") and member.words("begin", "b"))
    # More than there are lanes: what was claimed for them goes back.
    fleet.rows("select count(register('c' || i, handler => 'send')) from generate_series(1, 20) i")
    assert daemon.end(signal.SIGTERM) == 0
    assert fleet.rows("select id, state, attempts from ended") == [("a", "succeeded", 1)]
    assert fleet.one("select result('a')") == b"sent "
    assert member.words("stop", "b")
    assert fleet.rows("select id, state, attempts from live where id in ('a', 'b')") == [("b", "enqueued", 0)]
    assert fleet.one("select count(*) from slot where state = 4") == 0
    assert fleet.rows("select distinct attempts from live") == [(0,)]
    assert fleet.nodes() == []


def test_v4_a_process_of_a_selened_that_is_stopped_fails_nothing(fleet: Fleet, start: Start) -> None:
    fleet.rows("select register('a', handler => 'quit', max_attempts => 1)")
    start("selened", "one", dsn=dsn_of(fleet))
    member = start("c", "one")
    wait(lambda: member.words("begin", "a"))
    assert member.end() == 0, member.errors
    wait(lambda: fleet.rows("select state, attempts, failure from live") == [("enqueued", 0, None)])


def test_v4_a_selened_that_is_stopped_fails_nothing(fleet: Fleet, start: Start) -> None:
    fleet.rows("select register('a', handler => 'quit', max_attempts => 1)")
    daemon = start("selened", "one", "--drain", "0s", "--lease", "10m", dsn=dsn_of(fleet))
    member = start("c", "one")
    wait(lambda: member.words("begin", "a"))
    assert daemon.end(signal.SIGTERM) == 0
    assert fleet.rows("select state, attempts, failure from live") == [("enqueued", 0, None)]


def test_n37_one_that_is_drained_serves_on_and_is_none_of_the_fleet(fleet: Fleet, start: Start, folder: Path) -> None:
    manager = Manager(folder / "notify")
    try:
        fleet.rows("select register('a', handler => 'send')")
        daemon = start("selened", "one", "--lease", "4s", dsn=dsn_of(fleet), NOTIFY_SOCKET=str(manager.path))
        # Longer than the lease.
        member = start("c", "one", "ms=5000")
        wait(lambda: member.words("begin", "a"))
        fleet.rows("select drain('one')")
        manager.hears("STATUS=1 connected, 1 running; leaving the fleet")
        fleet.rows("select register('b', handler => 'send'), wake()")
        manager.hears("STATUS=1 connected, . running; has left the fleet, which asked for it")
        assert fleet.nodes() == []
        assert fleet.rows("select id, state, attempts from ended") == [("a", "succeeded", 1)]
        assert "members" in look("selene-run", folder / "one", "--clients")
        assert not daemon.is_over
        start("selened", "two", "--lease", "1s", dsn=dsn_of(fleet))
        other = start("c", "two")
        wait(lambda: other.words("end", "b"))
        assert not member.words("begin", "b")
        assert daemon.end(signal.SIGTERM) == 0
    finally:
        manager.socket.close()


def test_n11_a_database_that_is_away_at_the_start_and_later(start: Start, folder: Path) -> None:
    server, path = Server(), folder / "one"
    manager = Manager(folder / "notify")

    def says_it_is_away(program: str, verb: str) -> bool:
        return "its fleet does not answer" in look(program, path, verb, "slow")

    try:
        fleet = Fleet(server)
        fleet.rows("select count(register('t' || i, handler => 'send')) from generate_series(1, 40) i")
        fleet.rows("select register('slow', handler => 'last')")
        dsn = dsn_of(fleet)
        server.stop("immediate")
        daemon = start("selened", "one", dsn=dsn, NOTIFY_SOCKET=str(manager.path))
        # It serves, and says what is wrong.
        assert manager.hears("STATUS=.*")[0] == "READY=1"
        manager.hears("STATUS=0 connected, 0 running; the database of the fleet does not answer: .*")
        member = start("c", "one", "ms=100")
        assert "members" in look("selene-run", path, "--clients")
        for program, verb in (("selene-run", "--explain"), ("pyselene", "explain")):
            assert "whose database does not answer" in look(program, path, verb, "slow", code=2)
        wait(lambda: "trouble (fleet): the database of the fleet does not answer" in daemon.errors)
        assert "Is the server running" in daemon.errors
        assert "?Is the server" not in daemon.errors
        server.start()
        manager.hears("STATUS=1 connected, . running; worker [0-9]+ of the fleet")
        fleet.connection = fleet.another()
        wait(lambda: member.words("begin", "slow") and len(member.words("end")) > 3)
        server.stop("immediate")
        manager.hears("STATUS=1 connected, .* running; the database of the fleet does not answer: .*")
        for program, verb in (("selene-run", "--explain"), ("pyselene", "explain")):
            wait(partial(says_it_is_away, program, verb))
        # What runs goes on, and what ends is told later.
        server.start()
        manager.hears("STATUS=1 connected, .* running; worker [0-9]+ of the fleet")
        fleet.connection = fleet.another()
        wait(lambda: fleet.one("select count(*) from history") == 40)
        assert fleet.rows("select distinct state, attempts from ended") == [("succeeded", 1)]
        assert fleet.rows("select id, state, attempts from live") == [("slow", "running", 1)]
        assert not member.words("stop", "slow")
        fleet.rows("select cancel('slow')")
        fleet.rows("select wake('default')")
        assert daemon.end(signal.SIGTERM) == 0
        assert "STOPPING=1" in manager.hears("EXTEND_TIMEOUT_USEC=.*")
        assert "selened: the database of the fleet answers again" in daemon.errors
        assert fleet.nodes() == []
        fleet.close()
    finally:
        manager.socket.close()
        server.remove()


def test_n36_what_is_wrong_with_its_module_or_its_terms_is_said(start: Start, folder: Path, tmp_path: Path) -> None:
    def ends(program: Path, *more: object, code: int) -> str:
        done = subprocess.run(
            [program, "--socket", folder / "s", *map(str, more)],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert not (folder / "s").exists()
        return done.stderr

    # Beside it there is no module.
    for name in ("selened", "libselene.so.1"):
        shutil.copy(BUILD / name, tmp_path)
    said = ends(tmp_path / "selened", "--fleet", "", code=5)
    assert said.startswith("selened: --fleet: libselened-fleet.so.1: cannot open shared object file")
    assert "libselene-fleet1" in said
    assert "make install-fleet" in said
    # One of another release, and what is none.
    source = tmp_path / "module.c"
    for text, told_of in (
        ('const char *selened_fleet_module[] = {"9.9.9"};', "is of release 9.9.9, selened of "),
        ("int nothing;", "is of release another"),
    ):
        source.write_text(text)
        told("cc", *FLAGS, "-fPIC", "-shared", source, "-o", tmp_path / "libselened-fleet.so.1")
        assert told_of in ends(tmp_path / "selened", "--fleet", "", code=5)
    assert ends(DAEMON, "--fleet", "nonsense=1", code=4) == ('selened: --fleet: invalid connection option "nonsense"\n')
    assert "selened: --listen: invalid" in ends(DAEMON, "--fleet", "", "--listen", "nonsense=1", code=4)
    assert "lease: " in ends(DAEMON, "--fleet", "", "--lease", "2h", code=2)


def test_n36_what_is_installed_has_one_engine(fleet: Fleet, programs: dict[str, Path], folder: Path) -> None:
    for goal in ("install", "install-fleet"):
        told("make", "--no-print-directory", goal, f"DESTDIR={folder}", "PREFIX=/opt", cwd=ROOT)
    program = folder / "opt/bin/selened"
    needed = told("readelf", "-d", program)
    assert "libselene" not in needed
    assert "libpq" not in needed
    daemon = Process(program, "--fleet", dsn_of(fleet), "--socket", folder / "one")
    member = None
    try:
        wait(lambda: daemon.words("serving") or daemon.is_over)
        member = Process(programs["member"], folder / "one")
        fleet.rows("select register('a', handler => 'send')")
        wait(lambda: fleet.one("select count(*) from history") == 1)
        maps = Path(f"/proc/{daemon.process.pid}/maps").read_text()
        assert "/opt/lib/libselened-fleet.so." in maps
        assert "libpq.so" in maps
        assert "libselene.so" not in maps
        assert member.end() == 0
        assert daemon.end(signal.SIGTERM) == 0
    finally:
        for one in (daemon, member):
            if one and not one.is_over:
                one.end(signal.SIGKILL)
