"""What a run of an empty handler costs in Python, the whole way, beside other ways to run a function later.

    PYTHONPATH=bindings/python/src PYSELENE_LIBRARY=build/libselene.so python Benchmarks/python/dispatch.py

All ways are measured in turn, round after round, in one process. A line has the median of the rounds in µs a run, the
middle half of them, the processor time of all threads, and how many times the first line it is. What is not installed
(`pip install './bindings/python[bench]'`) is left out.

The way of a run in pyselene: next (ranked, picked, the task set to running), the handler, complete (the task's record
and place in the ranking), its line in the report; amortised over it begin, the hand-over to a worker, and the report.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.metadata
import json
import platform
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyselene as selene


def empty(_: object = None) -> None:
    """The handler."""


@dataclass
class Way:
    """One way to run a function, and what it took in each round."""

    name: str
    note: str
    work: Callable[[], object]
    """Runs the handler `count` times."""
    count: int
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def round(self) -> None:
        """Measures once, in µs a run."""
        gc.collect()
        wall, cpu = time.perf_counter(), time.process_time()
        self.work()
        self.cpu.append((time.process_time() - cpu) / self.count * 1e6)
        self.wall.append((time.perf_counter() - wall) / self.count * 1e6)

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The middle half of the rounds, and the median."""
        low, middle, high = statistics.quantiles(self.wall, n=4)
        return low, middle, high


@contextlib.contextmanager
def pyselene(count: int, path: Path | None = None, **options: Any) -> Iterator[selene.Scheduler]:
    """A scheduler of so many standing tasks with one empty handler."""
    with selene.Scheduler(path, **options) as scheduler:
        scheduler.register_handler("empty", empty)
        scheduler.register_all([selene.Task(f"task{i:08}", "empty", expected=0) for i in range(count)])
        yield scheduler


def pulled_by_hand(scheduler: selene.Scheduler) -> None:
    """The host's own loop: Cycle.next, run.complete."""
    with scheduler.begin(3600) as cycle:
        for run in cycle:
            empty(run)
            run.complete()


def pool(executor: ThreadPoolExecutor, count: int) -> None:
    """Every future is waited for, which is how exceptions surface."""
    for future in [executor.submit(empty, None) for _ in range(count)]:
        future.result()


def apscheduler(scheduler: Any, done: threading.Semaphore, count: int) -> None:
    """Jobs that are due at once."""
    for _ in range(count):
        scheduler.add_job(done.release)
    for _ in range(count):
        done.acquire()


def huey(queue: Any, task: Any, count: int) -> None:
    """Tasks enqueued, taken and executed."""
    for _ in range(count):
        task()
    while (found := queue.dequeue()) is not None:
        queue.execute(found)


def ways(stack: contextlib.ExitStack, folder: Path, count: int) -> Iterator[Way]:
    """All that can be measured here; each is open until the end."""
    plain = stack.enter_context(pyselene(count))
    yield Way("pyselene", "run_cycle(): a worker thread, the report", lambda: plain.run_cycle(3600), count)
    inline = stack.enter_context(pyselene(count))
    yield Way("pyselene, inline", "run_cycle(inline=True)", lambda: inline.run_cycle(3600, inline=True), count)
    pulled = stack.enter_context(pyselene(count))
    yield Way("pyselene, pulled", "begin(), next(), complete()", lambda: pulled_by_hand(pulled), count)
    few = stack.enter_context(pyselene(10))
    yield Way("pyselene, 10 tasks", "run_cycle() of a window of 10", lambda: few.run_cycle(3600), 10)
    executor = stack.enter_context(ThreadPoolExecutor(1))
    yield Way("ThreadPoolExecutor", "submit() and result()", lambda: pool(executor, count), count)
    durable = max(10, count // 20)
    for relaxed in (True, False):
        stored = stack.enter_context(pyselene(durable, folder / f"{relaxed}.db", relaxed=relaxed))
        yield Way(
            f"pyselene, store, {'relaxed' if relaxed else 'durable'}",
            "a commit for each run, synchronous " + ("NORMAL" if relaxed else "FULL"),
            lambda stored=stored: stored.run_cycle(3600),  # type: ignore[misc]
            durable,
        )
    with contextlib.suppress(ImportError):
        from huey import MemoryHuey, SqliteHuey

        memory: Any = MemoryHuey(results=False)
        task = memory.task()(empty)
        yield Way("huey, memory", "enqueue, dequeue, execute", lambda: huey(memory, task, count), count)
        file: Any = SqliteHuey(filename=str(folder / "huey.db"), results=False)
        stack.callback(file.storage.close)
        other = file.task()(empty)
        yield Way("huey, SQLite", "the same, synchronous NORMAL", lambda: huey(file, other, durable), durable)
    with contextlib.suppress(ImportError):
        from apscheduler.executors.pool import ThreadPoolExecutor as Pool
        from apscheduler.schedulers.background import BackgroundScheduler

        jobs: Any = BackgroundScheduler(executors={"default": Pool(1)}, job_defaults={"misfire_grace_time": None})
        jobs.start()
        stack.callback(jobs.shutdown)
        done = threading.Semaphore(0)
        few_jobs = max(10, count // 20)
        yield Way(
            "APScheduler, memory", "add_job() that is due at once", lambda: apscheduler(jobs, done, few_jobs), few_jobs
        )


def versions() -> dict[str, str]:
    """What was measured with what."""
    found = {"python": platform.python_version(), "pyselene": selene.library_version, "sqlite": sqlite3.sqlite_version}
    for name in ("APScheduler", "huey"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def table(found: list[Way]) -> Iterator[str]:
    """Lines for a terminal."""
    yield f"{'µs a run':28} {'median':>9} {'middle half':>19} {'cpu':>9} {'ratio':>8}"
    base = found[0].quartiles[1]
    for way in found:
        low, middle, high = way.quartiles
        spread = f"{low:.2f} … {high:.2f}"
        ratio = f"{middle / base:.2f}"
        yield f"{way.name:28} {middle:9.2f} {spread:>19} {statistics.median(way.cpu):9.2f} {ratio:>8}   {way.note}"


def main() -> None:
    """Measures, and prints a table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1_000, help="runs in a round; 1000")
    parser.add_argument("--rounds", type=int, default=21, help="rounds, of which the median counts; 21")
    parser.add_argument("--only", default="", help="ways whose names begin so")
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        found = [way for way in ways(stack, Path(folder), asked.count) if way.name.startswith(asked.only)]
        for way in found:
            way.work()
        for _ in range(asked.rounds):
            for way in found:
                way.round()
    if asked.json:
        names = {way.name: {"wall": way.wall, "cpu": way.cpu, "median": way.quartiles[1]} for way in found}
        print(json.dumps({"unit": "µs", "runs": asked.count, "versions": versions(), "ways": names}, indent=2))
        return
    print(*table(found), sep="\n")
    print(", ".join(f"{name} {version}" for name, version in versions().items()))


if __name__ == "__main__":
    main()
