"""The time from enqueueing a task to the first line of its handler, while a lane is free, in Python.

    PYTHONPATH=bindings/python/src PYSELENE_LIBRARY=build/libselene.so python Benchmarks/python/latency.py 2000

One task after another, a millisecond apart, in memory: p50, p99 and the slowest. APScheduler and huey are measured in
the same run; huey looks for work at intervals, so it gets a twentieth of the tasks.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable

import pyselene as selene
import queues
from measure import measured, tell, tell_about

PAUSE = 0.001
STAY = "stay"


class Probe:
    """Notes when its handler begins."""

    def __init__(self) -> None:
        self.begun = 0
        self.done = threading.Semaphore(0)

    def work(self, _: object = None) -> None:
        """The handler."""
        self.begun = time.perf_counter_ns()
        self.done.release()

    async def work_async(self, _: object = None) -> None:
        """The same as a coroutine."""
        self.work()

    def samples(self, enqueue: Callable[[int], object], count: int) -> list[float]:
        """Enqueues one task after another."""
        found = []
        for number in range(count):
            time.sleep(PAUSE)
            begin = time.perf_counter_ns()
            enqueue(number)
            self.done.acquire()
            found.append(float(self.begun - begin))
        return found


def stay(run: selene.Run) -> None:
    """A run that keeps a lane."""
    run.stopping.wait(3600)


def scheduler_of(probe: Probe, *, is_async: bool = False) -> selene.Scheduler:
    """With the handlers."""
    scheduler = selene.Scheduler(max_pending_refresh=None)
    scheduler.register_handler("work", probe.work_async if is_async else probe.work)
    scheduler.register_handler(STAY, stay)
    return scheduler


def enqueue(scheduler: selene.Scheduler) -> Callable[[int], object]:
    """What is measured from its begin on."""
    return lambda number: scheduler.enqueue(f"task-{number}", handler="work", expected=0.001)


def driver(count: int, beside: bool = False) -> list[float]:
    """On threads, with a window that is open for another run or with none."""
    probe = Probe()
    with scheduler_of(probe) as scheduler, scheduler.driver(refresh_budget=3600, refresh_lanes=queues.LANES):
        if beside:
            scheduler.enqueue(STAY)
            time.sleep(0.5)
        return probe.samples(enqueue(scheduler), count)


def driver_async(count: int) -> list[float]:
    """On an event loop; the tasks are enqueued on another thread."""
    probe = Probe()

    async def main(scheduler: selene.Scheduler) -> list[float]:
        async with scheduler.driver(refresh_lanes=queues.LANES):
            return await asyncio.to_thread(probe.samples, enqueue(scheduler), count)

    with scheduler_of(probe, is_async=True) as scheduler:
        return asyncio.run(main(scheduler))


def forever(count: int) -> list[float]:
    """run_forever() on a thread."""
    probe = Probe()
    with scheduler_of(probe) as scheduler:
        thread = threading.Thread(target=scheduler.run_forever, kwargs={"lanes": queues.LANES, "signals": False})
        thread.start()
        found = probe.samples(enqueue(scheduler), count)
        scheduler.stop()
        thread.join()
        return found


def apscheduler(count: int) -> list[float]:
    """add_job() of a job that is due at once."""
    probe = Probe()
    jobs = queues.apscheduler()
    found = probe.samples(lambda _: jobs.add_job(probe.work), count)
    jobs.shutdown()
    return found


def huey(count: int) -> list[float]:
    """A call of its task."""
    probe = Probe()
    task = queues.huey({"work": probe.work})["work"]
    return probe.samples(lambda _: task(), max(10, count // 20))


WAYS: dict[str, tuple[str, Callable[[int], list[float]]]] = {
    "pyselene, driver": ("scheduler.driver() on threads, four lanes", driver),
    "pyselene, driver, beside a run": ("the same, while a window is open for a long run", lambda n: driver(n, True)),
    "pyselene, driver, asyncio": (
        "async with scheduler.driver(), coroutines, enqueued on another thread",
        driver_async,
    ),
    "pyselene, run_forever": ("run_forever() on a thread, four lanes", forever),
    "APScheduler": ("add_job() of a BackgroundScheduler, four threads: by time alone", apscheduler),
    "huey, memory": ("its consumer, four workers, which look for work every 0.1 s or less often", huey),
}


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tasks", type=int, nargs="?", default=2_000, help="how many; 2000")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each measurement")
    asked = parser.parse_args()
    for name, (about, way) in WAYS.items():
        try:
            samples = sorted(way(asked.tasks))
        except ImportError:
            print(f"{name} is not installed and is left out", file=sys.stderr)
            continue
        tell_about(name, about, asked.json)
        count = len(samples)
        for label, place in (("p50", count // 2), ("p99", count - 1 - count // 100), ("greatest", count - 1)):
            tell(measured(f"enqueue to begin, {label}", name, 0, "ns", [samples[place]]), asked.json)
    sys.stdout.flush()
    os._exit(0)  # huey's threads go on


if __name__ == "__main__":
    main()
