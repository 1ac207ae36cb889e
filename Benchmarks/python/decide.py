"""What a decision costs in Python as the number of tasks grows: a plan of pyselene, a look of APScheduler at its jobs.

    PYTHONPATH=bindings/python/src PYSELENE_LIBRARY=build/libselene.so python Benchmarks/python/decide.py 1000 10000

APScheduler finds ten of its jobs due at each look; they run nowhere.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pyselene as selene
from measure import measured, tell, tell_about

PLAN = "pyselene, plan()"
DUE = 10
LOOKS = 21
LEAST, STEP = 2.4, 0.15
"""Seconds: the estimates are those of Benchmarks/population.h."""


def nothing() -> None:
    """What the jobs would do."""


def timed(work: Callable[[], object], before: Callable[[int], object] | None, repeats: int) -> list[float]:
    """Each call's time, without what comes before it."""
    samples = []
    for number in range(repeats):
        if before:
            before(number)
        begin = time.perf_counter_ns()
        work()
        samples.append(float(time.perf_counter_ns() - begin))
    return samples


def measure_selene(tasks: int, as_json: bool) -> None:
    """Scheduler.plan() of a window of 30 s, read into Python objects."""
    with selene.Scheduler() as scheduler:
        scheduler.set_conditions(network=True, power=True)
        scheduler.register_handler("work", None)
        begin = time.perf_counter_ns()
        scheduler.register_all(
            [
                selene.Task(
                    f"task-{i:011}",
                    "work",
                    priority=1 + i * 7 % 5,
                    expected=LEAST + i * 11 % 16 * STEP,
                    schedule="standing",
                )
                for i in range(tasks)
            ]
        )
        registered = (time.perf_counter_ns() - begin) / tasks
        tell(measured("register", PLAN, tasks, "ns", [registered]), as_json)
        tell(measured("decide", PLAN, tasks, "ns", timed(lambda: scheduler.plan(30), None, 201)), as_json)


def measure_apscheduler(tasks: int, as_json: bool) -> None:
    """One look at the jobs, as its thread takes it, with an executor that does nothing."""
    from apscheduler.executors.base import BaseExecutor
    from apscheduler.schedulers.background import BackgroundScheduler
    from apscheduler.schedulers.base import STATE_PAUSED, STATE_RUNNING
    from apscheduler.triggers.interval import IntervalTrigger

    submitted = 0

    class Nowhere(BaseExecutor):  # type: ignore[misc]
        def _do_submit_job(self, job: Any, _: list[datetime]) -> None:
            nonlocal submitted
            submitted += 1
            self._instances[job.id] -= 1

    options: Any = {"executors": {"default": Nowhere()}, "job_defaults": {"misfire_grace_time": None}, "timezone": UTC}
    jobs: Any = BackgroundScheduler(**options)
    jobs.start(paused=True)
    begin = time.perf_counter_ns()
    for i in range(tasks):
        every = timedelta(seconds=900 + i * 7919 % 86400)
        trigger = IntervalTrigger(seconds=every.seconds, timezone=UTC)
        jobs.add_job(nothing, trigger, id=f"task-{i:011}", next_run_time=datetime.now(UTC) + every)
    registered = (time.perf_counter_ns() - begin) / tasks

    def make_due(number: int) -> None:
        # Paused, it does not look; resumed in this way, it does not look by itself.
        jobs.state = STATE_PAUSED
        past = datetime.now(UTC) - timedelta(seconds=1)
        for i in range(DUE):
            jobs.modify_job(f"task-{(number * DUE + i) * 7919 % tasks:011}", next_run_time=past)
        jobs.state = STATE_RUNNING

    name = "APScheduler, ten due"
    does = "one look at its jobs in memory, which then run nowhere: time alone; no priority, estimate, budget, history"
    tell_about(name, does, as_json)
    tell(measured("register", name, tasks, "ns", [registered]), as_json)
    samples = timed(jobs._process_jobs, make_due, LOOKS)
    if submitted != LOOKS * DUE:
        raise SystemExit(f"APScheduler submitted {submitted} jobs, not {LOOKS * DUE}")
    tell(measured("decide", name, tasks, "ns", samples), as_json)
    jobs.shutdown(wait=False)


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tasks", type=int, nargs="*", default=[1_000, 10_000], help="numbers of tasks; 1000 10000")
    parser.add_argument("--only", choices=("pyselene", "apscheduler"), help="one of the two")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each measurement")
    asked = parser.parse_args()
    if asked.only != "apscheduler":
        tell_about(PLAN, "the same decision through ctypes, its picks as Python objects", asked.json)
    for tasks in asked.tasks:
        if asked.only != "apscheduler":
            measure_selene(tasks, asked.json)
        if asked.only != "pyselene":
            try:
                measure_apscheduler(tasks, asked.json)
            except ImportError:
                print("APScheduler is not installed and is left out", file=sys.stderr)


if __name__ == "__main__":
    main()
