"""The words, units, combinations and exit codes that pyselene and selene-run take: one file of examples for both."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forked import Command
from pyselene._explanation import SENTENCES
from test_cli import environment, here

ROOT = Path(__file__).resolve().parents[3]


def _player() -> Any:
    file = ROOT / "Tests/vectors/commands.py"
    spec = importlib.util.spec_from_file_location("commands", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COMMANDS = _player()


def start(words: Sequence[str], cwd: Path, env: dict[str, str]) -> Command:
    return Command(words, env, cwd, stderr=subprocess.STDOUT)


@pytest.mark.parametrize("example", COMMANDS.FILE["examples"], ids=lambda example: example["name"])
def test_pyselene_takes_what_selene_run_takes(
    example: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SELENE_WORK", str(tmp_path / "work"))

    def call(words: Sequence[str], signal: str | None) -> tuple[int, str]:
        # What is refused, and what only looks, starts nothing and is faster here.
        if words[0] != "run" or (example["exit"] in (2, 3) and "before" not in example):
            told = here(*words, code=example["exit"])
            return example["exit"], told.stdout + told.stderr
        found: tuple[int, str] = COMMANDS.call(words, signal, tmp_path, environment(), start)
        return found

    assert COMMANDS.play(example, tmp_path, call, COMMANDS.toml) == ""


def test_w8_both_say_reasons_in_the_same_words() -> None:
    theirs = (ROOT / "bindings/c/examples/selene-run/waits.c").read_text(encoding="utf-8")
    sentences = dict(re.findall(r'\[SELENE_REASON_([A-Z_]+)\] =\s+"([^"]+)"', theirs))
    assert sentences == {code.name: sentence for code, sentence in SENTENCES.items()}


def test_both_have_the_same_options(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = ROOT / "build/selene-run"
    assert runner.exists(), "make build/selene-run builds it"
    theirs = subprocess.run([runner, "--help"], capture_output=True, text=True, check=True).stdout
    ours = "".join(here(name, "--help").stdout for name in ("run", "plan", "explain", "list"))
    only = COMMANDS.FILE["only"]
    assert COMMANDS.options_in(theirs) - COMMANDS.options_in(ours) == {*only["selene-run"], "--version"}
    assert COMMANDS.options_in(ours) - COMMANDS.options_in(theirs) == {*only["pyselene"]}
    assert "--version" in here("--help").stdout
