"""examples/web.py: three workers of a web server enqueue, one process runs, all can look."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

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
def started(log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=log.parent,
            env=environment(HOME=str(log.parent)),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()


def test_workers_enqueue_one_process_runs_and_all_can_look(tmp_path: Path) -> None:
    for name in ("flask", "gunicorn"):
        if importlib.util.find_spec(name) is None:
            if os.environ.get("CI"):
                pytest.fail(f"{name} is missing: it is in the extra web")
            pytest.skip(f"{name} is missing: it is in the extra web")
    store, http_socket = tmp_path / "invoices.db", tmp_path / "http"
    server = (
        "-m",
        "gunicorn",
        "--workers",
        "3",
        "--timeout",
        "120",
        "--bind",
        f"unix:{http_socket}",
        "--chdir",
        str(EXAMPLE.parent),
    )
    with started(tmp_path / "web.log", *server, f"web:application({str(store)!r})") as web:
        wait_for(lambda: answers(http_socket) or web.poll() is not None, PATIENCE)
        with started(tmp_path / "work.log", str(EXAMPLE), str(store)) as work:
            wait_for(lambda: answers(tmp_path / "invoices.db-sock") or work.poll() is not None, PATIENCE)
            for number in range(12):
                status, told = ask(http_socket, "POST", f"/invoices/{number}")
                assert (status, told["disposition"]) == (202, "added"), told
            wait_for(lambda: set(ask(http_socket, "GET", "/invoices")[1].values()) == {"succeeded"}, PATIENCE)
            assert len(ask(http_socket, "GET", "/invoices")[1]) == 12
            assert "succeeded" in ask(http_socket, "GET", "/invoices/7")[1]["why"]
            assert ask(http_socket, "GET", "/invoices/99")[0] == 404
    ran = (tmp_path / "work.log").read_text().splitlines()
    assert sorted(ran) == sorted(f"invoice {number}" for number in range(12))
