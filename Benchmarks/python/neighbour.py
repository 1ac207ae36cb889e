"""How often a task of one second runs beside a neighbour that is long, hangs, or fails, in Python.

    PYTHONPATH=bindings/python/src PYSELENE_LIBRARY=build/libselene.so python Benchmarks/python/neighbour.py 60

What Benchmarks/neighbour.c measures in C: four lanes or threads, the task and its neighbour are periodic, 1 s; all at
the same time, each pair with a scheduler of its own. APScheduler and huey have the same tasks; those of huey enqueue
themselves again when they begin.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pyselene as selene
import queues
from measure import measured, tell, tell_about

SECOND = 1.0
NEIGHBOURS = ("no neighbour", "an honest one of 20 s", "one that hangs", "one that fails at once")
ALONE, HONEST, HANGS, FAILS = range(4)


class Counter:
    """The runs of the task, and the greatest gap between two begins."""

    def __init__(self, way: str, neighbour: int) -> None:
        self.way, self.neighbour = way, neighbour
        self.runs, self.gap, self.last = 0, 0.0, 0
        #: What would close when nothing refers to it.
        self.kept: object = None

    def task(self, _: object = None) -> None:
        """A run of the task."""
        begin = time.perf_counter_ns()
        if self.last:
            self.gap = max(self.gap, float(begin - self.last))
        self.runs, self.last = self.runs + 1, begin

    def beside(self, run: selene.Run | None = None) -> None:
        """A run of the neighbour."""
        while self.neighbour == HANGS:
            time.sleep(3600)
        if self.neighbour == FAILS:
            raise ValueError("at once")
        if run is None:
            time.sleep(20)
        else:
            run.stopping.wait(20)

    async def task_async(self, _: object = None) -> None:
        """The task as a coroutine."""
        self.task()

    async def beside_async(self, _: selene.Run) -> None:
        """The neighbour as a coroutine; what hangs does not listen to a cancellation."""
        while self.neighbour == HANGS:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)
        if self.neighbour == FAILS:
            raise ValueError("at once")
        await asyncio.sleep(20)


def scheduler_of(counter: Counter, task: Callable[..., Any], beside: Callable[..., Any]) -> selene.Scheduler:
    """With both tasks."""
    scheduler = selene.Scheduler(max_pending_refresh=None)
    scheduler.register_handler("task", task)
    scheduler.register_handler("neighbour", beside)
    for name in ("task", "neighbour")[: 1 if counter.neighbour == ALONE else 2]:
        priority = 5 if name == "task" else 1
        scheduler.register(selene.Task(name, every=SECOND, expected=SECOND, priority=priority))
    return scheduler


def on_threads(counter: Counter) -> None:
    """The driver on threads."""
    scheduler = scheduler_of(counter, counter.task, counter.beside)
    counter.kept = scheduler, scheduler.driver(refresh_lanes=queues.LANES).__enter__()


def on_a_loop(counter: Counter) -> None:
    """The driver on an event loop."""

    async def main() -> None:
        scheduler = scheduler_of(counter, counter.task_async, counter.beside_async)
        async with scheduler.driver(refresh_lanes=queues.LANES):
            await asyncio.Event().wait()

    def run(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run(work)

    threading.Thread(target=run, args=(main(),), daemon=True).start()


def on_apscheduler(counter: Counter) -> None:
    """Two jobs of an interval."""
    jobs = queues.apscheduler()
    jobs.add_job(counter.task, "interval", seconds=SECOND)
    if counter.neighbour != ALONE:
        jobs.add_job(counter.beside, "interval", seconds=SECOND)


def on_huey(counter: Counter) -> None:
    """Two tasks that enqueue themselves again."""
    tasks: dict[str, Any] = {}

    def task() -> None:
        tasks["task"].schedule(delay=SECOND)
        counter.task()

    def neighbour() -> None:
        tasks["neighbour"].schedule(delay=SECOND)
        counter.beside()

    tasks |= queues.huey({"task": task, "neighbour": neighbour})
    tasks["task"]()
    if counter.neighbour != ALONE:
        tasks["neighbour"]()


WAYS: dict[str, tuple[str, Callable[[Counter], None]]] = {
    "pyselene, threads": ("with scheduler.driver(refresh_lanes=4)", on_threads),
    "pyselene, asyncio": ("async with scheduler.driver(refresh_lanes=4), coroutines", on_a_loop),
    "APScheduler": ("two interval jobs, four threads", on_apscheduler),
    "huey, memory": (
        "two tasks that enqueue themselves again; four workers that look at intervals",
        on_huey,
    ),
}


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("seconds", type=float, nargs="?", default=60, help="how long; 60")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each measurement")
    asked = parser.parse_args()
    logging.getLogger("pyselene").setLevel(logging.CRITICAL)
    counters = []
    for name, (about, way) in WAYS.items():
        try:
            for neighbour in range(len(NEIGHBOURS)):
                counter = Counter(name, neighbour)
                way(counter)
                counters.append(counter)
            tell_about(name, about, asked.json)
        except ImportError:
            print(f"{name} is not installed and is left out", file=sys.stderr)
    time.sleep(asked.seconds)
    for counter in counters:
        beside = NEIGHBOURS[counter.neighbour]
        tell(measured(f"runs beside {beside}", counter.way, 0, "runs", [float(counter.runs)]), asked.json)
        tell(measured(f"gap beside {beside}", counter.way, 0, "ns", [counter.gap]), asked.json)
    sys.stdout.flush()
    os._exit(0)  # what hangs would hang on


if __name__ == "__main__":
    main()
