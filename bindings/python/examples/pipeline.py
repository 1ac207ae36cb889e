"""A pipeline of 50 tasks, each after those whose output it needs: python examples/pipeline.py pipeline.db

Killed at any moment and started again it goes on where it was.
"""

from __future__ import annotations

import sys
from typing import Any

from pyselene import Run, Scheduler, State

STATIONS = range(16)


def main(store: str) -> None:
    """Measures at 16 stations, cleans and sums up each on its own, compares all, and reports."""
    with Scheduler(store) as scheduler:

        def before(run: Run) -> list[Any]:
            return [run.output(each).json() for each in scheduler.get(run.id).after]

        handlers = {
            "measure": lambda run: [(int(run.input) * 7 + hour * 5) % 31 - 3 for hour in range(24)],
            "clean": lambda run: [value for value in before(run)[0] if value >= 0],
            "sum up": lambda run: {"station": int(run.id.split()[-1]), "mean": sum(before(run)[0]) / 24},
            "compare": lambda run: sorted(before(run), key=lambda one: -one["mean"]),
            "report": lambda run: "".join(f"{one['station']:2}: {one['mean']:.2f}\n" for one in before(run)[0][:3]),
        }
        for name, function in handlers.items():
            scheduler.register_handler(name, function)

        def add(id: str, handler: str, *after: str, input: bytes = b"") -> str:
            if id not in scheduler:
                scheduler.enqueue(id, handler=handler, after=after, input=input, max_attempts=3)
            return id

        sums = []
        for number in STATIONS:
            measured = add(f"measure {number}", "measure", input=b"%d" % number)
            cleaned = add(f"clean {number}", "clean", measured)
            sums.append(add(f"sum up {number}", "sum up", cleaned))
        report = add("report", "report", add("compare", "compare", *sums))

        while scheduler.get(report).state is not State.SUCCEEDED and scheduler.run_cycle(lanes=2).runs:
            pass
        print(scheduler.output(report).text, end="")


if __name__ == "__main__":
    main(sys.argv[1])
