"""selened owns a store and serves it: sockets that are handed over, what a service manager is told, how it ends."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pyselene as selene
from pyselene import Outcome
from test_cli import SOURCES, call, environment, folder, here, wait_for

__all__ = ["folder"]

ROOT = SOURCES.parents[2]
DAEMON = ROOT / "build/selened"
RUNNER = ROOT / "build/selene-run"
UNITS = ROOT / "bindings/c/examples/systemd"
PATIENCE = 120


class Daemon(subprocess.Popen[str]):
    """A selened that was started, whose first line was read."""

    serving = ""

    def end(self, by: int = signal.SIGTERM) -> int:
        self.send_signal(by)
        self.wait(timeout=PATIENCE)
        return self.returncode


@contextlib.contextmanager
def started(
    *arguments: str,
    before: tuple[str, ...] = (),
    descriptors: tuple[int, ...] = (),
    variables: dict[str, str] | None = None,
) -> Iterator[Daemon]:
    """A selened that serves; `before` are words before it, and `descriptors` become 3, 4 and so on."""
    assert DAEMON.exists(), "make build/selened builds it"
    handed = " ".join(f"{3 + i}<&{number}" for i, number in enumerate(descriptors))
    # Only the process itself knows the number that it will have.
    script = f'export LISTEN_PID=$$; exec "$@" {handed}' if handed else 'exec "$@"'
    process = Daemon(
        ["bash", "-c", script, "bash", *before, str(DAEMON), *arguments],
        env={**os.environ, **(variables or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=descriptors,
        text=True,
    )
    try:
        assert process.stdout is not None
        process.serving = process.stdout.readline()
        yield process
    finally:
        with contextlib.suppress(OSError):
            process.kill()
        process.communicate(timeout=PATIENCE)


def refused(
    *arguments: str, code: int, descriptors: tuple[int, ...] = (), variables: dict[str, str] | None = None
) -> str:
    with started(*arguments, descriptors=descriptors, variables=variables) as process:
        _, told = process.communicate(timeout=PATIENCE)
        assert (process.serving, process.returncode) == ("", code), told
    return told


def run_until_away(member: selene.Scheduler) -> None:
    """A member's window, whose owner may end meanwhile."""
    with contextlib.suppress(selene.OwnerAway):
        member.run_cycle(60)


def listening(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    made.listen(64)
    return made


def test_l14_a_store_is_served_to_python_and_c(folder: Path) -> None:
    with started("--store", "tasks.db") as process:
        assert process.serving == f"serving tasks.db on {folder}/tasks.db-sock\n"
        assert (folder / "tasks.db-sock").stat().st_mode & 0o777 == 0o600
        with selene.connect("tasks.db") as queue:
            # Any number may wait, and a command may be long.
            for number in range(20):
                queue.enqueue(f"mail-{number}", handler="mail", input=bytes(100_000))
        listed = subprocess.run([RUNNER, "--store", "tasks.db", "--list"], capture_output=True, text=True, check=True)
        assert "mail-19" in listed.stdout
        assert process.end() == 0
    assert not (folder / "tasks.db-sock").exists()
    with selene.Scheduler("tasks.db") as scheduler:
        assert len(scheduler) == 20


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
@pytest.mark.parametrize("store", ["tasks.db", "elsewhere"])
def test_l14_both_command_lines_attach_to_it(folder: Path, program: str, store: str) -> None:
    verbs = {
        "cancel ID": "--cancel ID", "cancel --tag TAG": "--cancel-tag TAG", "pause ID": "--pause ID",
        "resume ID": "--resume ID", "list": "--list", "explain ID": "--explain ID", "why ID": "why ID",
        "clients": "--clients",
        "enqueue ID": "--enqueue ID", "run --now ID": "--now ID", "failed": "--failed", "retry ID": "--retry ID",
        "plan": "--plan",
    }  # fmt: skip

    def ask(verb: str, id: str = "", *more: str, code: int = 0) -> str:
        words = verb if program == "pyselene" else verbs[verb]
        given = [id if word in ("ID", "TAG") else word for word in words.split()] + list(more)
        if program == "pyselene":
            told = here(*given, "--store", store, code=code)
            return told.stdout + told.stderr
        done = subprocess.run([RUNNER, *given, "--store", store], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    arguments = ("--socket", store) if store == "elsewhere" else ()
    with started("--store", "tasks.db", *arguments), selene.connect(store, pool="mailers") as member:
        ran: list[str] = []

        def mail(run: selene.Run) -> Outcome | None:
            ran.append(f"{run.id} {run.input.decode()}")
            if run.id == "bad":
                raise selene.Abandon("no paper")
            return None

        member.register_handler("mail", mail)
        assert ask("enqueue ID", "7", "--handler", "mail", "--input", "to you", "--delay", "1h") == "added 7\n"
        assert ask("enqueue ID", "7", "--handler", "mail") == "kept 7\n"
        assert "7" in ask("list")
        assert "not due" in ask("explain ID", "7") or "earliest begin" in ask("explain ID", "7")
        assert "its earliest begin has not come" in ask("why ID", "7")
        assert "7" in ask("plan")
        # Who asks is not listed, so that is another process.
        listed = call("clients", "--store", store).stdout if program == "pyselene" else ask("clients")
        assert "mailers" in listed
        assert ask("run --now ID", "7") == "7 is due now; if it does not run, explain says why\n".replace(
            "explain", "explain" if program == "pyselene" else "--explain"
        )
        assert ask("pause ID", "7") == "paused 1 task\n"
        assert member.run_cycle(5).runs == ()
        assert ask("resume ID", "7") == "resumed 1 task\n"
        member.run_cycle(5)
        assert ran == ["7 to you"]
        member.enqueue("bad", handler="mail", max_attempts=1)
        member.run_cycle(5)
        assert "no paper" in ask("failed")
        assert ask("retry ID", "bad") == "enqueued bad again\n"
        assert ask("cancel ID", "bad") == "cancelled 1 task\n"
        member.enqueue("tagged", handler="mail", tags={"t"})
        assert ask("cancel --tag TAG", "t") == "cancelled 1 task\n"
        for verb in ("explain ID", "cancel ID", "run --now ID"):
            assert "nobody" in ask(verb, "nobody", code=2)


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
def test_l14_run_now_needs_somebody_who_serves(folder: Path, program: str) -> None:
    with selene.Scheduler("tasks.db") as scheduler:
        scheduler.enqueue("a")
    if program == "pyselene":
        told = here("run", "--now", "a", "--store", "tasks.db", code=4).stderr
        assert "needed is one, or --now ID and --store FILE together" in here("run", "--store", "t", code=2).stderr
    else:
        done = subprocess.run(
            [RUNNER, "--now", "a", "--store", "tasks.db"], capture_output=True, text=True, check=False
        )
        told = done.stderr
        assert done.returncode == 4
    assert "no process serves it" in told


def test_l2_a_socket_that_was_handed_over_is_served_and_stays(folder: Path) -> None:
    path = folder / "given"
    with listening(path) as given:
        # A client that comes before it waits in the queue of the socket.
        answers: list[list[str]] = []

        def early() -> None:
            with selene.connect(path, timeout=PATIENCE) as queue:
                queue.enqueue("early")
                answers.append(queue.ids())

        client = threading.Thread(target=early)
        client.start()
        handed = {"LISTEN_FDS": "1", "LISTEN_FDNAMES": "selened.socket"}
        with started("--store", "tasks.db", descriptors=(given.fileno(),), variables=handed) as process:
            assert process.serving == f"serving tasks.db on {path}\n"
            client.join(PATIENCE)
            assert answers == [["early"]]
            assert not (folder / "tasks.db-sock").exists()
            assert process.end() == 0
        assert path.exists()
        # kill -9, and the next one on the same socket: nothing that was answered is lost, clients see only a pause.
        with started("--store", "tasks.db", descriptors=(given.fileno(),), variables=handed) as process:
            queue = selene.connect(path, timeout=PATIENCE)
            queue.enqueue("answered")
            process.end(signal.SIGKILL)
        with started("--store", "tasks.db", descriptors=(given.fileno(),), variables=handed):
            assert queue.ids() == ["early", "answered"]
        queue.close()


def test_l2_several_sockets_are_served_and_wrong_ones_named(folder: Path) -> None:
    with listening(folder / "one") as one, listening(folder / "two") as two, socket.socket() as internet:
        with started("--store", "tasks.db", descriptors=(one.fileno(), two.fileno()), variables={"LISTEN_FDS": "2"}):
            for name in ("one", "two"):
                with selene.connect(folder / name) as queue:
                    queue.enqueue(name)
        internet.listen()
        names = {"LISTEN_FDS": "2", "LISTEN_FDNAMES": "good:web.socket"}
        told = refused("--store", "t", descriptors=(one.fileno(), internet.fileno()), code=5, variables=names)
        assert "selened: web.socket: " in told
        assert "must be a Unix stream socket that listens" in told
        for count in ("0", "x", "-1", "65", "99999999999999999999"):
            told = refused("--store", "t", descriptors=(one.fileno(),), code=5, variables={"LISTEN_FDS": count})
            assert f'LISTEN_FDS: found "{count}"' in told
        told = refused(
            "--store", "t", "--socket", "s", descriptors=(one.fileno(),), code=2, variables={"LISTEN_FDS": "1"}
        )
        assert "--socket: systemd has handed over" in told
    # What was meant for another process, such as the parent, is not looked at.
    with started("--store", "tasks.db", variables={"LISTEN_FDS": "1", "LISTEN_PID": "1"}) as process:
        assert process.serving.endswith("tasks.db-sock\n")


def test_l2_systemd_starts_it_when_a_client_comes(folder: Path) -> None:
    activate = shutil.which("systemd-socket-activate")
    assert activate is not None, "make deps-test installs it"
    path = folder / "given"
    words = [activate, "-l", str(path), "--fdname", "mail", str(DAEMON), "--store", "tasks.db"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(path.exists)
            assert not (folder / "tasks.db").exists()
            with selene.connect(path, timeout=PATIENCE, wait=PATIENCE) as queue:
                assert queue.enqueue("a") is selene.Disposition.ADDED
                assert queue.store().path == str(folder / "tasks.db")
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


class Manager:
    """The end of NOTIFY_SOCKET that a service manager has."""

    def __init__(self, name: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(PATIENCE)
        self.socket.bind(name.replace("@", "\0", 1))

    def hears(self, pattern: str) -> list[str]:
        """What it is told up to a line that matches."""
        found: list[str] = []
        while not any(re.fullmatch(pattern, line) for line in found):
            found += self.socket.recv(4096).decode().splitlines()
        return found


@pytest.mark.parametrize("kind", ["file", "abstract"])
def test_a_service_manager_is_told(folder: Path, kind: str) -> None:
    name = str(folder / "notify") if kind == "file" else f"@selened-{os.getpid()}"
    manager = Manager(name)
    with (
        started(
            "--store", "tasks.db", "--drain", "7s", variables={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "200000"}
        ) as process,
        selene.connect("tasks.db") as queue,
    ):
        # Who connects may be there before it says so.
        heard = manager.hears("STATUS=.*")
        assert heard[0] == "READY=1"
        assert heard[1] in ("STATUS=0 connected, 0 running", "STATUS=1 connected, 0 running")
        assert queue.ids() == []
        heard = manager.hears("STATUS=1 connected, 0 running")
        assert set(heard) <= {"WATCHDOG=1", "STATUS=0 connected, 0 running", "STATUS=1 connected, 0 running"}
        for _ in range(4):
            manager.hears("WATCHDOG=1")
        # A process that stands still does not say that it lives, whoever asks.
        process.send_signal(signal.SIGSTOP)
        manager.socket.settimeout(1)
        with pytest.raises(TimeoutError):
            manager.hears("what it never says")
        manager.socket.settimeout(PATIENCE)
        process.send_signal(signal.SIGCONT)
        assert process.end() == 0
        heard = manager.hears("EXTEND_TIMEOUT_USEC=.*")
        assert heard[-3:] == ["STOPPING=1", "STATUS=what runs may end for 7 s", "EXTEND_TIMEOUT_USEC=17000000"]
    manager.socket.close()


def test_a_watchdog_of_another_process_is_not_kept(folder: Path) -> None:
    manager = Manager(str(folder / "notify"))
    more = {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "20000"}
    with started("--store", "tasks.db", variables={**more, "WATCHDOG_PID": "1"}) as process:
        manager.hears("STATUS=.*")
        manager.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            manager.hears("WATCHDOG=1")
        process.end()
    with started("--store", "tasks.db", variables={"NOTIFY_SOCKET": "relative"}) as process:
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert told == 'selened: NOTIFY_SOCKET: "relative": allowed is a path or a name that begins with @\n'
    manager.socket.close()


def test_d1_the_second_for_a_store_says_which_process_has_it(folder: Path) -> None:
    with started("--store", "tasks.db") as process:
        told = refused("--store", "tasks.db", code=6)
        assert str(process.pid) in told
        assert "selened" in told
        assert process.end() == 0


def test_l10_kill_9_and_the_next_one(folder: Path) -> None:
    with started("--store", "tasks.db") as process:
        queue = selene.connect("tasks.db", wait=PATIENCE)
        queue.enqueue("answered")
        process.end(signal.SIGKILL)
    assert (folder / "tasks.db-sock").exists()
    with pytest.raises(selene.OwnerAway), selene.connect("tasks.db"):
        pass
    with started("--store", "tasks.db") as process:
        assert queue.ids() == ["answered"]
        queue.close()
        assert process.end() == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "found no --store and no --fleet; one is needed; try --help"),
        (("--fleet", ""), "found no --socket; with --fleet it is needed, unless systemd hands one over"),
        (("--fleet", "", "--store", "t"), "--fleet: found --store, too; allowed is one of both"),
        (("--store", "t", "--lease", "30s"), "--lease: found --store; it is for --fleet"),
        (("--store", "t", "--no-listen"), "--no-listen: found --store; it is for --fleet"),
        (("--fleet", "", "--listen", "", "--no-listen"), "--no-listen: found --listen, too; allowed is one of both"),
        (("--fleet", "", "--schema", "x" * 64), "; allowed are 1 to 63 bytes"),
        (("--fleet", "", "--queue", ""), '--queue: found ""; allowed are 1 to 255 bytes'),
        (("--fleet", "", *["--label", "a"] * 65), "--label: allowed are at most 64"),
        (("--fleet", "", "--name", ""), '--name: found ""'),
        (("--fleet", "", "--lease", "2h"), '--lease: found "2h"; allowed is from 100ms to 1h'),
        (("--fleet", "", "--poll", "0"), '--poll: found "0"; allowed is from 10ms to 1h'),
        (("--store", ""), '--store: found ""; allowed is the name of a file'),
        (("--store", ":memory:"), "--store: found"),
        (("--store",), "--store: found nothing; allowed is a value"),
        (("--store", "t", "more"), 'found "more"; allowed are options alone'),
        (("--store", "t", "--sockt", "s"), "--sockt: unknown option; did you mean --socket?"),
        (("--store", "t", "--allo", "any:look"), "--allo: unknown option; --allow is one"),
        (("--store", "t", "--socket", ""), '--socket: found ""'),
        (("--store", "t", "--mode", "888"), '--mode: found "888"; allowed is an octal number from 1 to 777'),
        (("--store", "t", "--mode", "1777"), '--mode: found "1777"'),
        (("--store", "t", "--max-clients", "0"), '--max-clients: found "0"; allowed is a number from 1 to 65536'),
        (("--store", "t", "--profile", "phone"), '--profile: found "phone"; allowed is open, apple, server or strict'),
        (("--store", "t", "--drain", "2h"), '--drain: found "2h"; allowed is from 0s to 1h'),
        (("--store", "t", "--adopt", "25h"), '--adopt: found "25h"; allowed is from 0s to 1d'),
        (("--store", "t", "--allow", "look"), '--allow: found "look"; allowed is uid=USER, gid=GROUP or any'),
        (("--store", "t", "--allow", "any:"), '--allow: found "any:"'),
        (("--store", "t", "--allow", "any:look,"), '--allow: found "any:look,"'),
        (("--store", "t", "--allow", "any:lok"), '--allow: found "any:lok"'),
        (("--store", "t", "--allow", "all:look"), '--allow: found "all:look"'),
        (("--store", "t", "--allow", "uid=4294967295:look"), '--allow: found "uid=4294967295:look"'),
        (("--store", "t", "--allow", "gid=no such:look"), '--allow: there is no group "no such"'),
        (("--store", "t", "--allow", "uid=no such:look"), '--allow: there is no user "no such"'),
        (("-x",), "-x: unknown option"),
    ],
)
def test_a_wrong_option_is_refused_in_our_words(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    found = refused(*arguments, code=2)
    assert found.startswith("selened: ")
    assert told in found
    assert list(folder.iterdir()) == [folder / "tmp"]


def test_what_the_system_or_the_store_refuses_is_said(folder: Path) -> None:
    assert "no/such" in refused("--store", "no/such/t", code=4)
    assert "selened: the socket: " in refused("--store", "t", "--socket", "no/such/s", code=4)
    (folder / "text").write_text("not a store" * 1000)
    assert "text" in refused("--store", "text", code=4)
    assert "selened 0" in subprocess.run([DAEMON, "--version"], capture_output=True, text=True, check=True).stdout
    shown = subprocess.run([DAEMON, "--help"], capture_output=True, text=True, check=True).stdout
    assert max(map(len, shown.splitlines())) <= 100
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([DAEMON, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (5, "selened: the output cannot be written: No space left on device\n")


def test_signals_end_it_as_documented(folder: Path) -> None:
    for number, code in ((signal.SIGINT, 0), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)):
        with started("--store", "tasks.db") as process:
            assert process.end(number) == code
        assert not (folder / "tasks.db-sock").exists()
    with started("--store", "tasks.db", before=("nohup",)) as process:
        process.send_signal(signal.SIGHUP)
        with selene.connect("tasks.db") as queue:
            assert queue.ids() == []
        assert process.end() == 0


def test_l10_what_a_member_runs_may_end_within_the_drain(folder: Path) -> None:
    begun, going = threading.Event(), threading.Event()

    def work(run: selene.Run) -> None:
        begun.set()
        assert going.wait(PATIENCE)

    with started("--store", "tasks.db", "--drain", "50s") as process:
        member = selene.connect("tasks.db", pool="p")
        member.register_handler("h", work)
        member.enqueue("a", handler="h")
        thread = threading.Thread(target=run_until_away, args=(member,))
        thread.start()
        assert begun.wait(PATIENCE)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        going.set()
        process.wait(timeout=PATIENCE)
        assert process.returncode == 0
        thread.join(PATIENCE)
        member.close()
    with selene.Scheduler("tasks.db") as scheduler:
        assert scheduler.get("a").state is selene.State.SUCCEEDED


def test_a_second_signal_ends_it_at_once(folder: Path) -> None:
    begun, going = threading.Event(), threading.Event()

    def work(run: selene.Run) -> None:
        begun.set()
        assert going.wait(PATIENCE)

    manager = Manager(str(folder / "notify"))
    with started(
        "--store", "tasks.db", "--drain", "1h", variables={"NOTIFY_SOCKET": str(folder / "notify")}
    ) as process:
        member = selene.connect("tasks.db", pool="p")
        member.register_handler("h", work)
        member.enqueue("a", handler="h")
        thread = threading.Thread(target=run_until_away, args=(member,))
        thread.start()
        assert begun.wait(PATIENCE)
        process.send_signal(signal.SIGTERM)
        manager.hears("STOPPING=1")
        time.sleep(0.2)
        assert process.end() == -signal.SIGTERM
        going.set()
        thread.join(PATIENCE)
        member.close()
    manager.socket.close()
    # Its process still lives, and may come for it.
    with selene.Scheduler("tasks.db") as scheduler:
        assert scheduler.get("a").state is selene.State.RUNNING
    with started("--store", "tasks.db", "--adopt", "0"), selene.connect("tasks.db") as queue:
        assert queue.get("a").state is selene.State.ENQUEUED


OTHER_USER = """
import os, sys, pyselene
os.setgroups([]); os.setgid(65534); os.setuid(65534)
queue = pyselene.connect(sys.argv[1])
print(len(queue.ids()))
try:
    queue.enqueue("theirs")
    print("enqueued")
except pyselene.Refused:
    print("refused")
"""


@pytest.mark.skipif(os.getuid() != 0, reason="another user is needed")
@pytest.mark.parametrize(
    ("rule", "told"),
    [("any:look", "0 refused"), ("uid=65534:look,enqueue", "0 enqueued"), ("gid=65534:all", "0 enqueued")],
)
def test_l11_others_may_what_they_are_allowed(rule: str, told: str) -> None:
    # Where other users can go.
    place = Path(
        subprocess.run(
            ["mktemp", "-d", "/tmp/selened.XXXXXX"], capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    try:
        place.chmod(0o755)
        with started("--store", str(place / "t"), "--allow", rule):
            done = subprocess.run(
                [sys.executable, "-c", OTHER_USER, str(place / "t-sock")],
                capture_output=True, text=True, env=environment(), timeout=PATIENCE, check=False,
            )  # fmt: skip
        assert done.stdout.split() == told.split(), done.stderr
    finally:
        shutil.rmtree(place)


OPENS_OR_CONNECTS = """
import os, sys
from pyselene.cli import wire
from pyselene.cli.problem import Problem
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    with wire.open_or_connect(sys.argv[1], wire.Limits()) as scheduler:
        print(*scheduler.ids())
except Problem as problem:
    print(problem)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="another user is needed")
@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
def test_l14_who_may_not_open_a_store_asks_who_may(program: str) -> None:
    # Where other users can go, and programs that they can read.
    place = Path(tempfile.mkdtemp(prefix="selened.", dir="/tmp"))
    store = str(place / "t")
    try:
        place.chmod(0o755)
        for name in (RUNNER, ROOT / "build/libselene.so.1"):
            shutil.copy(name, place)

        def ask() -> str:
            if program == "pyselene":
                how: dict[str, Any] = {"env": environment()}
                words = [sys.executable, "-c", OPENS_OR_CONNECTS, store]
            else:
                how = {"user": 65534, "group": 65534, "extra_groups": [], "env": {"LD_LIBRARY_PATH": str(place)}}
                words = [str(place / "selene-run"), "--store", store, "--list"]
            done = subprocess.run(
                words, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=place, **how
            )
            return str(done.stdout) + str(done.stderr)

        with started("--store", store, "--allow", "uid=65534:look"), selene.connect(store) as queue:
            queue.enqueue("a-letter", handler="mail")
            Path(store).chmod(0o600)
            assert "a-letter" in ask()
        with started("--store", store, "--mode", "666"):
            assert "65534 has no rights" in ask()
        assert "Permission denied" in ask()
    finally:
        shutil.rmtree(place)


def test_its_units_are_what_systemd_takes_and_leave_little_open(folder: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    assert analyze is not None, "make deps-test installs it"
    units = [f"{name}@.{kind}" for name in ("selened", "selened-fleet") for kind in ("service", "socket")]
    for name in units:
        text = (UNITS / name).read_text().replace("/usr/local/bin/selened", str(DAEMON))
        (folder / name).write_text(text)
    done = subprocess.run(
        [analyze, "verify", "--man=no", *units],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    # From 0, which lets a service do nothing, to 10.
    # That of a fleet may reach a database on another machine.
    for name, most in (("selened@.service", 15), ("selened-fleet@.service", 20)):
        done = subprocess.run(
            [analyze, "security", "--offline=yes", f"--threshold={most}", "--no-pager", name],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
