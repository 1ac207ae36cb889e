"""What a run of an empty handler costs in Python, the whole way, beside other ways to run a function later.

    PYTHONPATH=bindings/python/src PYSELENE_LIBRARY=build/libselene.so python Benchmarks/python/dispatch.py

All ways are measured in turn, round after round, in one process, each once unmeasured and then measured; a round of
Selene is a window in which all tasks run.
What does not depend on the number of tasks is measured with 1000 of them. What is not installed is named and left out
(`pip install './bindings/python[bench]'`).

The way of a run in pyselene: next (ranked, picked, the task set to running), the handler, complete (the task's record
and place in the ranking), its line in the report; amortised over it begin, the hand-over to a worker, and the report.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import importlib.metadata
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyselene as selene
from measure import measured, tell, tell_about

OTHERS_UP_TO = 1_000
"""With more tasks only what may cost more with more tasks is measured."""


def empty(_: object = None) -> None:
    """The handler."""


async def empty_async(_: object = None) -> None:
    """The handler of asyncio."""


@dataclass
class Way:
    """One way to run a function, and what it took in each round."""

    name: str
    about: str
    work: Callable[[], object]
    """Runs the handler `count` times."""
    count: int
    samples: list[float] = field(default_factory=list)

    def round(self) -> None:
        """Measures once, in ns a run, what was done unmeasured just before."""
        gc.collect()
        self.work()
        begin = time.perf_counter_ns()
        self.work()
        self.samples.append((time.perf_counter_ns() - begin) / self.count)


@contextlib.contextmanager
def pyselene(
    count: int, path: Path | None = None, handler: Callable[..., Any] = empty, push: bool = False, **options: Any
) -> Iterator[selene.Scheduler]:
    """A scheduler of a number of standing tasks with one empty handler."""
    with selene.Scheduler(path, **options) as scheduler:
        scheduler.set_conditions(network=True, power=True)
        scheduler.register_handler("empty", handler, push=push)
        scheduler.register_all(
            [selene.Task(f"task-{i:011}", "empty", expected=0, schedule="standing") for i in range(count)]
        )
        yield scheduler


def called(count: int) -> None:
    """What calling a function costs here."""
    for _ in range(count):
        empty(None)


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


async def gather(count: int) -> None:
    """A task of asyncio for each."""
    await asyncio.gather(*[empty_async() for _ in range(count)])


def own_ways(stack: contextlib.ExitStack, count: int) -> Iterator[Way]:
    """Those of pyselene in memory; each scheduler is open until the end."""
    plain = stack.enter_context(pyselene(count))
    yield Way("pyselene", "run_cycle(): a worker thread of Python pulls", lambda: plain.run_cycle(3600), count)
    inline = stack.enter_context(pyselene(count))
    yield Way(
        "pyselene, inline", "run_cycle(inline=True): the caller's", lambda: inline.run_cycle(3600, inline=True), count
    )
    pulled = stack.enter_context(pyselene(count))
    yield Way("pyselene, pulled by hand", "begin(), next(), complete()", lambda: pulled_by_hand(pulled), count)
    own = stack.enter_context(pyselene(count, push=True))
    yield Way(
        "pyselene, ctypes callback",
        "run_cycle(push=True, inline=True): the library calls Python back on the caller's thread",
        lambda: own.run_cycle(3600, push=True, inline=True),
        count,
    )
    foreign = stack.enter_context(pyselene(count, push=True))
    yield Way(
        "pyselene, ctypes callback, thread",
        "run_cycle(push=True): a thread of the library calls Python back",
        lambda: foreign.run_cycle(3600, push=True),
        count,
    )
    loop = stack.enter_context(contextlib.closing(asyncio.new_event_loop()))
    awaited = stack.enter_context(pyselene(count, handler=empty_async))
    yield Way(
        "pyselene, asyncio",
        "run_cycle_async() of a handler that is a coroutine",
        lambda: loop.run_until_complete(awaited.run_cycle_async(3600)),
        count,
    )


def other_ways(stack: contextlib.ExitStack, folder: Path, count: int) -> Iterator[Way]:
    """Other libraries, small windows and stores, whose cost does not depend on how many tasks there are."""
    few = stack.enter_context(pyselene(10))
    yield Way("pyselene, 10 runs a window", "run_cycle() of 10 tasks", lambda: few.run_cycle(3600), 10)
    yield Way("call in a loop", "a Python function called by Python", lambda: called(count), count)
    executor = stack.enter_context(ThreadPoolExecutor(1))
    yield Way(
        "ThreadPoolExecutor",
        "submit() and result(): first come, first served; no tasks that stay",
        lambda: pool(executor, count),
        count,
    )
    loop = stack.enter_context(contextlib.closing(asyncio.new_event_loop()))
    yield Way("asyncio.gather", "a task of asyncio for each", lambda: loop.run_until_complete(gather(count)), count)
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
        yield Way(
            "huey, memory",
            "enqueue, dequeue, execute: by time and priority; no estimates, budget, history",
            lambda: huey(memory, task, count),
            count,
        )
        file: Any = SqliteHuey(filename=str(folder / "huey.db"), results=False)
        stack.callback(file.storage.close)
        other = file.task()(empty)
        yield Way("huey, SQLite", "the same, synchronous FULL", lambda: huey(file, other, durable), durable)
    with contextlib.suppress(ImportError):
        from apscheduler.executors.pool import ThreadPoolExecutor as Pool
        from apscheduler.schedulers.background import BackgroundScheduler

        jobs: Any = BackgroundScheduler(executors={"default": Pool(1)}, job_defaults={"misfire_grace_time": None})
        jobs.start()
        stack.callback(jobs.shutdown)
        done = threading.Semaphore(0)
        few_jobs = max(10, count // 20)
        yield Way(
            "APScheduler, memory",
            "add_job() that is due at once: by time; no priority, estimates, budget",
            lambda: apscheduler(jobs, done, few_jobs),
            few_jobs,
        )


def version_of(package: str) -> str | None:
    """None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def measure(tasks: int, rounds: int, others: bool, as_json: bool) -> None:
    """Measures, and tells what was found."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        ways = [*own_ways(stack, tasks)]
        if others:
            ways += other_ways(stack, Path(folder), tasks)
        for way in ways:
            tell_about(way.name, way.about, as_json)
        for _ in range(rounds):
            for way in ways:
                way.round()
    for way in ways:
        tell(measured("dispatch in Python", way.name, tasks, "ns", way.samples), as_json)


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tasks", type=int, nargs="*", default=[1_000], help="numbers of tasks; 1000")
    parser.add_argument(
        "--rounds", type=int, default=21, help="rounds, of which the median counts; 21; at most 5 beyond 1000 tasks"
    )
    parser.add_argument("--json", action="store_true", help="a line of JSON for each measurement")
    asked = parser.parse_args()
    for package in ("APScheduler", "huey"):
        if version_of(package) is None:
            print(f"{package} is not installed and is left out", file=sys.stderr)
    for tasks in asked.tasks:
        few = tasks <= OTHERS_UP_TO
        measure(tasks, asked.rounds if few else min(asked.rounds, 5), few, asked.json)


if __name__ == "__main__":
    main()
