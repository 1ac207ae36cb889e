"""examples/web.py and web_async.py: three workers of a web server enqueue, others run, one has the store."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import pyselene as selene
from rounds import ROUNDS
from test_cli import environment, wait_for

EXAMPLE = Path(__file__).resolve().parents[1] / "examples/web.py"
PATIENCE = 120


class Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket, so that no port is taken."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(str(self.path))


def answers(path: Path) -> bool:
    """Whether a process listens at a socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def ask(path: Path, method: str, target: str) -> tuple[int, Any]:
    connection = Connection(path)
    try:
        connection.request(method, target)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


@contextmanager
def started(log: Path, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=log.parent,
            env=environment(HOME=str(log.parent), **variables),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()


#: Each test plays one of the servers, `test.sh long` both.
SERVERS = ("gunicorn", "uvicorn")


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The socket of the web server, which has three workers."""
    program = request.param
    for name in {"gunicorn": ("flask", "gunicorn"), "uvicorn": ("fastapi", "uvicorn")}[program]:
        if importlib.util.find_spec(name) is None:
            if os.environ.get("SELENE_TEST_ALL"):
                pytest.fail(f"{name} is missing: it is in the extra example")
            pytest.skip(f"{name} is missing: it is in the extra example")
    http_socket, store = tmp_path / "http", str(tmp_path / "invoices.db")
    arguments = {
        "gunicorn": [
            "--timeout", "120", "--bind", f"unix:{http_socket}", "--chdir", str(EXAMPLE.parent),
            f"web:application({store!r})",
        ],
        "uvicorn": [
            "--uds", str(http_socket), "--app-dir", str(EXAMPLE.parent), "--factory", "web_async:application",
        ],
    }[program]  # fmt: skip
    with started(tmp_path / "web.log", "-m", program, "--workers", "3", *arguments, INVOICES=store) as web:
        wait_for(lambda: answers(http_socket) or web.poll() is not None, PATIENCE)
        yield http_socket


@contextmanager
def owner(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process that has the store, once it serves it."""
    with started(folder / "own.log", str(EXAMPLE), "own", str(folder / "invoices.db")) as process:
        wait_for(lambda: answers(folder / "invoices.db-sock") or process.poll() is not None, PATIENCE)
        yield process


def worker(folder: Path) -> Any:
    return started(folder / "work.log", str(EXAMPLE), "work", str(folder / "invoices.db"))


def states(http_socket: Path) -> dict[str, str]:
    status, found = ask(http_socket, "GET", "/invoices")
    return found if status == 200 else {}


@pytest.mark.parametrize("server", SERVERS if ROUNDS > 1 else SERVERS[1:], indirect=True)
def test_workers_enqueue_another_process_runs_and_all_can_look(tmp_path: Path, server: Path) -> None:
    with owner(tmp_path), worker(tmp_path):
        for number in range(12):
            status, told = ask(server, "POST", f"/invoices/{number}")
            assert (status, told["disposition"]) == (202, "added"), told
        wait_for(lambda: set(states(server).values()) == {"succeeded"}, PATIENCE)
        assert len(states(server)) == 12
        assert "succeeded" in ask(server, "GET", "/invoices/7")[1]["why"]
        assert ask(server, "GET", "/invoices/99")[0] == 404
    ran = (tmp_path / "work.log").read_text().splitlines()
    assert sorted(ran) == sorted(f"invoice {number}" for number in range(12))


def post(server: Path, number: int) -> int:
    """Enqueues until it is accepted, as a client does that is told 503, or whose worker was killed; by which worker."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            status, told = ask(server, "POST", f"/invoices/{number}")
        except (OSError, http.client.HTTPException):
            continue
        if status == 202:
            return int(told["worker"])
        assert status == 503, told
        time.sleep(0.1)
    pytest.fail("nobody accepts it any more")


@pytest.mark.parametrize("server", SERVERS if ROUNDS > 1 else SERVERS[:1], indirect=True)
def test_whoever_is_killed_nothing_that_was_accepted_is_lost(tmp_path: Path, server: Path) -> None:
    numbers = range(40)
    store = tmp_path / "invoices.db"
    with owner(tmp_path) as first_owner, worker(tmp_path) as second:
        with worker(tmp_path) as first:
            for number in numbers[:20]:
                of_web = post(server, number)
            os.kill(of_web, signal.SIGKILL)
            wait_for(lambda: "succeeded" in states(server).values(), PATIENCE)
            first.kill()
        for number in numbers[20:30]:
            post(server, number)
        first_owner.kill()
        first_owner.wait()
        with owner(tmp_path):
            for number in numbers[30:]:
                post(server, number)
            with selene.connect(store, wait=60) as queue:
                hurried: set[tuple[str, int]] = set()

                def is_done() -> bool:
                    # What was under way with one that was killed has a pause of half a minute: not here.
                    for task in queue.tasks("invoice"):
                        if str(task.state) == "enqueued" and task.attempts and (task.id, task.attempts) not in hurried:
                            hurried.add((task.id, task.attempts))
                            # It may have begun by now.
                            with suppress(selene.InvalidArgument):
                                queue.set_next(task.id, queue.now)
                    found = states(server)
                    return len(found) == len(numbers) and set(found.values()) == {"succeeded"}

                try:
                    wait_for(is_done, PATIENCE)
                except AssertionError:
                    left = [task for task in queue.tasks("invoice") if str(task.state) != "succeeded"]
                    told = [f"{task}: {queue.explain(task.id)}" for task in left]
                    pytest.fail(
                        "\n".join([*told, *((tmp_path / f"{name}.log").read_text() for name in ("own", "work", "web"))])
                    )
        assert second.poll() is None
    ran = (tmp_path / "work.log").read_text().splitlines()
    lines = [line for line in ran if line.startswith("invoice ")]
    assert set(lines) == {f"invoice {number}" for number in numbers}
    # Again only what was under way: two of the worker that was killed, and what the others were at as the owner was.
    assert len(lines) <= len(numbers) + 6
