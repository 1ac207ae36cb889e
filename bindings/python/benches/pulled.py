"""What a pulled run costs: for each line that it reads, a window of 500 runs, and ns a run.

Argument: number of tasks.
"""

from __future__ import annotations

import sys
import time

import pyselene as selene


def window(scheduler: selene.Scheduler) -> int:
    """Pulls the runs of a window; how many."""
    runs = 0
    cycle = scheduler.begin()
    while runs < 500 and isinstance(run := cycle.next(), selene.Run):
        run.complete()
        runs += 1
    cycle.end()
    return runs


def main() -> None:
    """Answers each line."""
    with selene.Scheduler() as scheduler:
        scheduler.set_conditions(network=True, power=True)
        for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
            scheduler.task(f"task-{number:011}", expected=0)(lambda _: None)
        for _ in sys.stdin:
            begin = time.perf_counter_ns()
            runs = window(scheduler)
            print((time.perf_counter_ns() - begin) / runs, flush=True)


if __name__ == "__main__":
    main()
