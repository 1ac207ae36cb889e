"""Background work of a web application with several workers: each enqueues and looks, processes of their own run.

python examples/web.py own invoices.db                               # has the store and serves it; one process
python examples/web.py work invoices.db                              # runs the work; as many as you like
gunicorn -w 3 --chdir examples "web:application('../invoices.db')"   # likewise, restarted at will

curl -X POST localhost:8000/invoices/7      # accepted: on the disk when the answer comes
curl localhost:8000/invoices/7              # where it is, and why it does not run now
curl localhost:8000/invoices                # all of them

Each of them may be killed at any moment and is started again by its supervisor; nothing that was accepted is lost.
What a worker was at is tried again, by another one too, after half a minute; while the owner is away the web
application says 503, and workers wait for it. `own` and `work` may be one process: register the handlers there and call
run_forever().
"""

from __future__ import annotations

import contextlib
import os
import signal
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
        # Asking again is harmless: a task that is there already is kept.
        return {"error": str(error)}, 503

    return web


def write_invoice(run: Run) -> None:
    """The work."""
    time.sleep(0.05)
    print(f"invoice {run.input.decode()}\n", end="", flush=True)  # a line stays whole beside those of another thread


def own(store: str) -> None:
    """The one process that has the store open. It runs nothing itself."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with selene.Scheduler(store) as scheduler, scheduler.serve():
        while True:
            signal.pause()


def member(store: str) -> Scheduler:
    """One of those that run the work, once there is an owner."""
    while True:
        # A signal is heard once the call that waits for an owner returns, so that wait is short.
        with contextlib.suppress(selene.OwnerAway):
            return selene.connect(store, pool="invoices", wait=1)


def work(store: str) -> None:
    """A process that runs what the web application enqueues, of whichever owner there is."""
    with member(store) as scheduler:
        scheduler.register_handler("invoice", write_invoice)
        scheduler.run_forever(lanes=2)


if __name__ == "__main__":
    {"own": own, "work": work}[sys.argv[1]](sys.argv[2])
