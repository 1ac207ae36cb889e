"""What a run costs a Python process that takes it through a connection, beside a bare round trip, in one go.

    python Benchmarks/python/member.py [RUNS]     # 5000; PYTHONPATH is bindings/python/src

The owner is another process, its tasks in memory. `next, complete` is a cycle that is pulled; `lane` is what
run_cycle() and run_forever() do: the outcome of a run and the next one are one frame each way.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyselene as selene

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def own(path: Path, runs: int, ready: Connection) -> None:
    """The owner, until the other end of the pipe is closed."""
    with selene.Scheduler() as scheduler:
        for number in range(runs):
            scheduler.enqueue(f"t{number}", handler="work", expected=1e-6)
        with scheduler.serve(path):
            ready.send(None)
            ready.poll(None)


def tell(way: str, samples: list[int], base: float | None) -> float:
    """A line of what was found; the median, in µs."""
    samples.sort()
    median = statistics.median(samples) / 1000
    ratio = "" if base is None else f", {median / base:.2f} round trips"
    print(f"{way:<16} p50 {median:7.1f} µs, p99 {samples[len(samples) * 99 // 100] / 1000:7.1f} µs{ratio}")
    return median


def measure(way: str, path: Path, runs: int) -> list[int]:
    """How long each took, in ns."""
    samples: list[int] = []
    ready, of_owner = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=own, args=(path, runs, of_owner))
    process.start()
    of_owner.close()
    ready.recv()
    with selene.connect(path) as member:
        last = 0

        def work(_: selene.Run) -> None:
            nonlocal last
            now = time.perf_counter_ns()
            if last:
                samples.append(now - last)
            last = now

        if way == "round trip":
            for _ in range(runs):
                begun = time.perf_counter_ns()
                _ = member.now_ns
                samples.append(time.perf_counter_ns() - begun)
        elif way == "lane":
            member.register_handler("work", work)
            member.run_cycle(3600, inline=True)
        else:
            member.register_handler("work", None)
            with member.begin(3600) as cycle:
                for run in cycle:
                    run.complete()
                    now = time.perf_counter_ns()
                    if last:
                        samples.append(now - last)
                    last = now
    ready.close()
    process.join()
    return samples


def main(runs: int) -> None:
    """Measures all three."""
    with tempfile.TemporaryDirectory() as folder:
        base = tell("round trip", measure("round trip", Path(folder, "a"), runs), None)
        tell("next, complete", measure("next, complete", Path(folder, "b"), runs), base)
        tell("lane", measure("lane", Path(folder, "c"), runs), base)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
