"""The one form in which every benchmark in Python tells what it found; the same as in Benchmarks/measure.h."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Measurement:
    """What one way took in its repeats; times are in ns."""

    what: str
    way: str
    tasks: int
    """0 where their number does not matter."""
    unit: str
    min: float
    q1: float
    median: float
    q3: float
    repeats: int


def measured(what: str, way: str, tasks: int, unit: str, samples: list[float]) -> Measurement:
    """The quartiles of the samples."""
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else samples * 3
    return Measurement(what, way, tasks, unit, min(samples), low, statistics.median(samples), high, len(samples))


def tell(found: Measurement, as_json: bool) -> None:
    """A line of the table, or a line of JSON."""
    if as_json:
        print(json.dumps(asdict(found)), flush=True)
        return
    name = f"{found.what:28} {found.way:34} {found.tasks:9}"
    print(f"{name} {found.median:14.1f} {found.unit:6} {found.q1:14.1f} - {found.q3:.1f}", flush=True)


def tell_about(way: str, text: str, as_json: bool) -> None:
    """What a way does and what it does not."""
    print(json.dumps({"way": way, "about": text}) if as_json else f"{way}: {text}", flush=True)
