"""First steps of a README, for a shell, played line by line as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 240


def steps(title: str) -> str:
    """The block under a title of README.md."""
    section = (ROOT / "README.md").read_text().split(f"\n### {title}\n")[1].split("\n## ")[0].split("\n### ")[0]
    (found,) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return str(found)


def free_port() -> int:
    """One of this machine that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def play(block: str, folder: Path, replaced: Mapping[str, str], **variables: str) -> dict[str, str]:
    """What each line says, and the background with it; each has to succeed, and what it starts to be over at the end.

    The folder gets what the steps look for in that of the sources. Programs of Python are those of the tests'
    environment, in which what `pip` would install is there.
    """
    for name in ("bash", "curl", "hostname"):
        if shutil.which(name) is None:
            (pytest.fail if os.environ.get("SELENE_TEST_ALL") else pytest.skip)(f"{name} is missing")
    (folder / "bindings").symlink_to(ROOT / "bindings")
    programs = folder / "programs"
    programs.mkdir()
    for name, words in {"python": "", "pyselene": " -m pyselene", "gunicorn": " -m gunicorn"}.items():
        _program(programs / name, f'exec {sys.executable}{words} "$@"')
    _program(programs / "pip", f'echo "$@" >>{folder}/pip')
    lines = block.splitlines()
    script = ["set -eum", "trap 'kill -KILL $(jobs -p) 2>/dev/null || true' EXIT"]
    for number, line in enumerate(lines):
        for old, new in replaced.items():
            line = line.replace(old, new)
        script += [f"echo '== {number}'", line]
    with (folder / "said").open("wb") as out:
        own = subprocess.Popen(
            ["bash", "-c", "\n".join([*script, "echo '== over'", "wait"])],
            cwd=folder,
            env={**_environment(), **variables, "PATH": f"{programs}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = own.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            code = -1
        finally:
            _end(own.pid)
            own.wait()
    text = (folder / "said").read_text()
    assert code == 0, text
    _check_extras((folder / "pip").read_text())
    parts = re.split(r"^== (?:\d+|over)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip([line.split("  ")[0] for line in lines], parts, strict=False))


def _program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def _environment() -> dict[str, str]:
    paths = [str(ROOT / "bindings/python/src"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "160", "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1",
    }  # fmt: skip


def _end(session: int) -> None:
    """Kills what is left of a session, which is named by its first process."""
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdecimal() and os.getsid(int(place.name)) == session:
                os.kill(int(place.name), 9)
        except ProcessLookupError:
            pass


def _check_extras(installed: str) -> None:
    """What is installed is this binding, with extras that it has."""
    known = tomllib.loads((ROOT / "bindings/python/pyproject.toml").read_text())["project"]["optional-dependencies"]
    (extras,) = re.findall(r"^install \./bindings/python\[(.*)\]$", installed, re.MULTILINE)
    assert set(extras.split(",")) <= set(known)
