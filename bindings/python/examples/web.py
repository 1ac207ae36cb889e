"""Background work of a web application with several workers: each enqueues and looks, one process runs.

python examples/web.py invoices.db                                   # runs the work; one process, under a supervisor
gunicorn -w 3 --chdir examples "web:application('../invoices.db')"   # as many workers as you like, restarted at will

curl -X POST localhost:8000/invoices/7      # accepted: on the disk when the answer comes
curl localhost:8000/invoices/7              # where it is, and why it does not run now
curl localhost:8000/invoices                # all of them
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import pyselene as selene

if TYPE_CHECKING:
    from pyselene import Run, Scheduler


def application(store: str) -> Any:
    """The WSGI application of one worker."""
    from flask import Flask

    web = Flask("invoices")

    connections: dict[int, Scheduler] = {}

    def queue() -> Scheduler:
        # Not before the worker was forked: a connection belongs to the process that made it.
        worker = os.getpid()
        if worker not in connections:
            connections[worker] = selene.connect(store, wait=10)
        return connections[worker]

    @web.post("/invoices/<int:number>")
    def enqueue(number: int) -> tuple[dict[str, object], int]:
        done = queue().enqueue(f"invoice-{number}", handler="invoice", input=str(number).encode(), tags={"invoice"})
        return {"id": number, "disposition": str(done), "worker": os.getpid()}, 202

    @web.get("/invoices")
    def everything() -> dict[str, str]:
        return {task.id: str(task.state) for task in queue().tasks("invoice")}

    @web.get("/invoices/<int:number>")
    def one(number: int) -> dict[str, str]:
        return {"why": str(queue().explain(f"invoice-{number}"))}

    @web.errorhandler(selene.NotFound)
    def missing(error: Exception) -> tuple[dict[str, str], int]:
        return {"error": str(error)}, 404

    @web.errorhandler(selene.OwnerAway)
    def away(error: Exception) -> tuple[dict[str, str], int]:
        return {"error": str(error)}, 503

    return web


def write_invoice(run: Run) -> None:
    """The work."""
    time.sleep(0.01)
    print(f"invoice {run.input.decode()}\n", end="", flush=True)  # a line stays whole beside those of another thread


def main(store: str) -> None:
    """The one process that has the store open, serves it and runs what the workers enqueue."""
    with selene.Scheduler(store) as scheduler:
        scheduler.register_handler("invoice", write_invoice)
        with scheduler.serve():
            scheduler.run_forever(lanes=2)


if __name__ == "__main__":
    main(sys.argv[1])
