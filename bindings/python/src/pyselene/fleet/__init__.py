"""Many machines, one queue: tasks in a schema of PostgreSQL (docs/fleet.md). Needs the extra `pyselene[fleet]`.

    from pyselene.fleet import Fleet

    with Fleet("dbname=app", queue="mail") as fleet:
        fleet.enqueue("invoice-7", handler="send", input=b"...")
        print(*fleet.explain("invoice-7"))

    scheduler = selene.Scheduler()

    @scheduler.handler("send")
    def send(run): ...

    with fleet.worker(scheduler):
        scheduler.run_forever(lanes=8)
"""

from __future__ import annotations

from ._fleet import Fleet
from ._record import FleetItem, FleetReason, FleetTask
from ._worker import Worker, WorkerInfo, WorkerState

__all__ = ["Fleet", "FleetItem", "FleetReason", "FleetTask", "Worker", "WorkerInfo", "WorkerState"]
