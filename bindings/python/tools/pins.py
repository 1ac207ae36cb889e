#!/usr/bin/env python3
"""Writes constraints.txt: pins.py; the version of each package that tests, tools and benchmarks install.

What the extras of pyproject.toml ask for is resolved by pip in each CPython of this machine that is new enough, and
where they come to different versions a line is for some of them. Needs a package registry.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
HEAD = """\
# What tests, tools and benchmarks are played with; pyproject.toml says what users need. Written by tools/pins.py.
"""


def wanted() -> list[str]:
    """What is asked for: all extras, and what builds a wheel."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    return sorted({line for extra in extras for line in extra} | set(project["build-system"]["requires"]))


def pythons() -> dict[str, str]:
    """The version of each CPython that is new enough, and its path."""
    found = subprocess.run([sys.executable, HERE / "tests/pythons.py"], stdout=subprocess.PIPE, text=True, check=True)
    said = "import sys; print('%d.%d' % sys.version_info[:2])"
    return {
        subprocess.run([path, "-c", said], stdout=subprocess.PIPE, text=True, check=True).stdout.strip(): path
        for path in found.stdout.split()
    }


def resolve(python: str) -> dict[str, str]:
    """What pip would install there."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        pip = [f"{folder}/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        report = f"{folder}/report"
        environment = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
        subprocess.run([*pip, "--dry-run", "--report", report, *wanted()], env=environment, check=True)
        items = json.loads(Path(report).read_text())["install"]
    return {item["metadata"]["name"].lower().replace("_", "-"): item["metadata"]["version"] for item in items}


def lines(resolved: dict[str, dict[str, str]]) -> list[str]:
    """The constraints: one line where all agree, else one for each version."""
    versions: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for python, packages in resolved.items():
        for name, version in packages.items():
            versions[name][version].append(python)
    return [
        f"{name}=={version}" + ("" if len(found) == 1 else f"; {which(found, those)}")
        for name, found in sorted(versions.items())
        for version, those in found.items()
    ]


def which(found: dict[str, list[str]], those: list[str]) -> str:
    """A marker for these Pythons; the newest stand for those that are newer still."""
    newest = max((python for each in found.values() for python in each), key=number)
    parts = [f"python_version {'>=' if python == newest else '=='} '{python}'" for python in those]
    return " or ".join(parts)


def number(python: str) -> list[int]:
    """3.9 is before 3.10."""
    return [int(part) for part in python.split(".")]


if __name__ == "__main__":
    text = "\n".join(lines({version: resolve(path) for version, path in pythons().items()}))
    (HERE / "constraints.txt").write_text(f"{HEAD}{text}\n")
