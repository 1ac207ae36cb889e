"""Many machines, one queue: tasks in a schema of PostgreSQL (docs/fleet.md). Needs the extra `pyselene[fleet]`.

    from pyselene.fleet import Fleet

    fleet = Fleet("dbname=app", queue="mail")
    fleet.enqueue("invoice-7", handler="send", input=b"...")
    print(*fleet.explain("invoice-7"))

Any process registers, looks and manages so, on an event loop by `enqueue_async` and its like. Those that work have a
scheduler in memory with handlers:

    with fleet.worker(scheduler):
        scheduler.run_forever(lanes=8)

A task begins in a lane of one of them, and how it ended is in the database.
"""

from __future__ import annotations

from ._draft import FleetDraft, FleetFields
from ._fleet import Fleet
from ._record import FleetItem, FleetNode, FleetQueue, FleetReason, FleetTask
from ._worker import Worker, WorkerInfo, WorkerState

__all__ = [
    "Fleet",
    "FleetDraft",
    "FleetFields",
    "FleetItem",
    "FleetNode",
    "FleetQueue",
    "FleetReason",
    "FleetTask",
    "Worker",
    "WorkerInfo",
    "WorkerState",
]
