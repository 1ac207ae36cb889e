"""The benchmark runs, also without what it compares with; its figures are nobody's test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyselene as selene

PROGRAM = Path(__file__).resolve().parents[3] / "Benchmarks/python/dispatch.py"


def test_the_benchmark_measures_every_way_that_is_there() -> None:
    paths = os.pathsep.join([str(Path(selene.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, PROGRAM, "--count", "20", "--rounds", "3", "--json"],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["runs"] == 20
    ways = found["ways"]
    assert {"pyselene", "pyselene, inline", "pyselene, pulled", "ThreadPoolExecutor"} <= set(ways)
    for way in ways.values():
        assert len(way["wall"]) == len(way["cpu"]) == 3
        assert way["median"] > 0
