"""The benchmarks in Python run, also without what they compare with; their figures are nobody's test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyselene as selene

PROGRAMS = Path(__file__).resolve().parents[3] / "Benchmarks/python"


def measured(program: str, *arguments: str) -> list[dict[str, Any]]:
    paths = os.pathsep.join([str(Path(selene.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, PROGRAMS / program, "--json", *arguments],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    about = {line["way"] for line in found if "about" in line}
    measurements = [line for line in found if "about" not in line]
    assert {one["way"] for one in measurements} == about
    for one in measurements:
        assert 0 < one["min"] <= one["q1"] <= one["median"] <= one["q3"]
    return measurements


def test_a_run_is_measured_in_every_way_that_is_there() -> None:
    found = measured("dispatch.py", "20", "--rounds", "3")
    ways = {one["way"] for one in found}
    own = {f"pyselene, {how}" for how in ("inline", "pulled by hand", "asyncio", "ctypes callback")}
    assert {"pyselene", "ThreadPoolExecutor"} | own <= ways
    assert {one["repeats"] for one in found} == {3}
    assert {one["tasks"] for one in found} == {20}


def test_a_decision_is_measured_at_each_number_of_tasks() -> None:
    found = measured("decide.py", "100", "200", "--only", "pyselene")
    assert {(one["what"], one["tasks"]) for one in found} == {
        (what, tasks) for what in ("register", "decide") for tasks in (100, 200)
    }
