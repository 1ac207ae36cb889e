"""The README's examples work as printed."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import pyselene as selene
from forked import Command, finished
from forked import command as start
from steps import ROOT, free_port, play, steps
from test_cli import environment

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_examples_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    opened = []
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        exec(compile(block, README.name, "exec"), names)
        if names["scheduler"] not in opened:
            opened.append(names["scheduler"])
    for scheduler in opened:
        assert isinstance(scheduler, selene.Scheduler)
        scheduler.close()


def test_the_example_of_the_project_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(compile(block, "README.md", "exec"), names)
    names["scheduler"].close()
    said = capsys.readouterr().out
    assert said.startswith("sending mail to you@example.com\n")
    assert "1 of 1 eligible ran" in said


def test_what_the_table_names_exists() -> None:
    text = README.read_text()
    for name in re.findall(r"`selene\.(\w+)", text):
        assert hasattr(selene, name), name
    for name in re.findall(r"`(?:scheduler\.)?(run_\w+|enqueue|explain|observe|events|tasks|cancel\w*|close)\(", text):
        assert hasattr(selene.Scheduler, name), name


def test_the_commands_of_a_store_that_is_served_run_as_printed(tmp_path: Path) -> None:
    commands = re.findall(r"^pyselene (\w+.*?--store invoices\.db.*?)(?: *[#&].*)?$", README.read_text(), re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["serve", "list", "enqueue", "run", "serve"]
    own: Command | None = None
    for command in commands:
        words = shlex.split(command.replace(":8001", ":0"))
        if "serve" in words:
            if own is not None:
                own.terminate()
                own.communicate(timeout=300)
                assert own.returncode == 0
            own = Command(words, environment(), tmp_path)
            assert own.stdout is not None
            assert own.stdout.readline().startswith("serving invoices.db")
            assert "--web" not in words or own.stdout.readline().startswith("page on http://127.0.0.1:")
        else:
            done = finished(start(*words), environment(), tmp_path)
            assert (done.returncode, done.stderr) == (0, ""), command
            assert "mail-7" in done.stdout or commands.index(command) == 1
    assert own is not None
    own.terminate()
    own.communicate(timeout=300)


def test_the_first_steps_with_three_workers_of_gunicorn_go_as_printed(tmp_path: Path) -> None:
    for name in ("flask", "gunicorn"):
        if importlib.util.find_spec(name) is None:
            (pytest.fail if os.environ.get("SELENE_TEST_ALL") else pytest.skip)(
                f"{name} is missing: it is in the extra example"
            )
    port = free_port()
    said = play(
        steps("Three gunicorn workers and a live list, in five minutes"),
        tmp_path,
        {":8001": ":0", "localhost:8000": f"localhost:{port}"},
        GUNICORN_CMD_ARGS=f"--bind 127.0.0.1:{port} --timeout 120",
    )
    everything = "".join(said.values())
    assert "serving invoices.db" in everything
    assert "page on http://127.0.0.1:" in everything
    assert everything.count("Booting worker") >= 3
    (posted,) = (text for line, text in said.items() if line.startswith("for number in"))
    assert posted.count('"disposition":"added"') == 9
    listed = said["pyselene list --store invoices.db"]
    assert {f"invoice-{number}" for number in range(1, 10)} <= set(re.findall(r"invoice-\d", listed))
    assert "invoice 1" in everything


def test_the_commands_run_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = README.read_text()
    workload = re.findall(r"`(\w+\.toml)`:\n\n```toml\n(.*?)```", text, re.DOTALL)
    assert len(workload) == 1
    (tmp_path / workload[0][0]).write_text(workload[0][1])
    commands = re.findall(r"^pyselene (\w+.*?)(?: *#.*)?$", text, re.MULTILINE)
    commands = [command for command in commands if "invoices.db" not in command]
    assert {command.split()[0] for command in commands} == {"plan", "run", "explain", "why", "simulate", "signals"}
    for command in commands:
        if "--now" in command:
            command += " --network"  # whether the machine has one or not
        done = finished(start(*command.split()), environment(), tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), command
    assert "Simulation of work.toml" in (tmp_path / "report.html").read_text()
