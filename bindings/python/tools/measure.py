"""Measures a run of an empty handler, the whole way, beside other ways to run a function: tools/measure.py [N].

All in one process and one run, the best of several rounds, in microseconds a run. APScheduler and huey are measured if
they are installed.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyselene as selene
from pyselene import _lane

ROUNDS = 12


def empty(_: object = None) -> None:
    """The handler."""


def best(once: Callable[[], float], count: int) -> float:
    """Microseconds of one of so many."""
    return min(once() for _ in range(ROUNDS)) / count * 1e6


def clocked(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def pulled(count: int) -> tuple[float, float]:
    """A window of so many tasks: the loop alone, and with begin, threads' hand-over and report."""
    loops: list[float] = []
    loop = _lane.Lane._work

    def work(lane: _lane.Lane) -> None:
        loops.append(clocked(lambda: loop(lane)))

    _lane.Lane._work = work  # type: ignore[method-assign, assignment]
    with selene.Scheduler() as scheduler:
        scheduler.register_handler("empty", empty)
        scheduler.register_all([selene.Task(f"task{i:08}", "empty", expected=0) for i in range(count)])
        whole = best(lambda: clocked(lambda: scheduler.run_cycle(3600)), count)
    _lane.Lane._work = loop  # type: ignore[method-assign]
    return min(loops) / count * 1e6, whole


def pool(count: int) -> float:
    """ThreadPoolExecutor.submit and its result."""
    with ThreadPoolExecutor(1) as executor:

        def work() -> None:
            for future in [executor.submit(empty, None) for _ in range(count)]:
                future.result()

        return best(lambda: clocked(work), count)


def apscheduler(count: int) -> float:
    """APScheduler: a job that is due at once."""
    from apscheduler.executors.pool import ThreadPoolExecutor as Pool
    from apscheduler.schedulers.background import BackgroundScheduler

    scheduler: Any = BackgroundScheduler(executors={"default": Pool(1)}, job_defaults={"misfire_grace_time": None})
    scheduler.start()
    done = threading.Semaphore(0)

    def work() -> None:
        for _ in range(count):
            scheduler.add_job(done.release)
        for _ in range(count):
            done.acquire()

    try:
        return best(lambda: clocked(work), count)
    finally:
        scheduler.shutdown()


def huey(count: int) -> float:
    """Huey in memory: a task enqueued, taken and executed."""
    from huey import MemoryHuey

    queue: Any = MemoryHuey(results=False)
    task = queue.task()(empty)

    def work() -> None:
        for _ in range(count):
            task()
        while (found := queue.dequeue()) is not None:
            queue.execute(found)

    return best(lambda: clocked(work), count)


def main() -> None:
    """Prints the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    loop, whole = pulled(count)
    rows = [("pyselene, a run", loop), ("pyselene, with window and report", whole)]
    rows.append(("ThreadPoolExecutor.submit", pool(count)))
    for name, measure in (("APScheduler", apscheduler), ("huey, in memory", huey)):
        with contextlib.suppress(ImportError):
            rows.append((name, measure(count)))
    for name, value in rows:
        print(f"{name:34} {value:8.2f} µs  {value / loop:6.2f}")


if __name__ == "__main__":
    main()
