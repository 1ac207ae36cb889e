"""Other queues of Python, as a program has them: APScheduler with a pool of four threads, huey with four workers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

LANES = 4


def apscheduler() -> Any:
    """Started; jobs in memory."""
    from apscheduler.executors.pool import ThreadPoolExecutor
    from apscheduler.schedulers.background import BackgroundScheduler

    logging.getLogger("apscheduler").setLevel(logging.CRITICAL)
    jobs = BackgroundScheduler(
        executors={"default": ThreadPoolExecutor(LANES)}, job_defaults={"misfire_grace_time": None}
    )
    jobs.start()
    return jobs


def huey(functions: dict[str, Callable[..., object]]) -> dict[str, Any]:
    """Tasks by name, in memory; their consumer, as its options are by default, is started."""
    from huey import MemoryHuey
    from huey.consumer import Consumer

    class Quiet(Consumer):  # type: ignore[misc]
        def _set_signal_handlers(self) -> None:
            """Signals stay this program's."""

    logging.getLogger("huey").setLevel(logging.CRITICAL)
    queue = MemoryHuey(results=False)
    tasks = {name: queue.task(name=name)(function) for name, function in functions.items()}
    Quiet(queue, workers=LANES, periodic=False).start()
    return tasks
