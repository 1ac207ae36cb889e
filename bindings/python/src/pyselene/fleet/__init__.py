"""Many machines, one queue: tasks in a schema of PostgreSQL (docs/fleet.md). Needs the extra `pyselene[fleet]`.

    from pyselene.fleet import Fleet

    with Fleet("dbname=app", queue="mail") as fleet:
        fleet.enqueue("invoice-7", handler="send", input=b"...")
        print(*fleet.explain("invoice-7"))

It registers, looks and manages. What runs the tasks is a worker on the functions of the schema.
"""

from __future__ import annotations

from ._fleet import Fleet
from ._record import FleetItem, FleetReason, FleetTask

__all__ = ["Fleet", "FleetItem", "FleetReason", "FleetTask"]
