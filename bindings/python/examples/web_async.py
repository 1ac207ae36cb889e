"""The web application of web.py for asyncio servers: FastAPI, each worker of uvicorn enqueues and looks.

python examples/web.py own invoices.db
python examples/web.py work invoices.db
INVOICES=invoices.db uvicorn --workers 3 --factory --app-dir examples web_async:application

curl -X POST localhost:8000/invoices/7
curl localhost:8000/invoices/7
curl localhost:8000/invoices
"""

from __future__ import annotations

import os
import threading
from typing import Any

import pyselene as selene


def application() -> Any:
    """The ASGI application of one worker; the variable INVOICES names the store."""
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse

    web = FastAPI(title="invoices")
    connections: list[selene.Scheduler] = []
    connecting = threading.Lock()

    def queue() -> selene.Scheduler:
        # Once in each worker, by the first request, so that a worker begins while nobody has the store, too.
        with connecting:
            if not connections:
                connections.append(selene.connect(os.environ["INVOICES"], wait=10))
            return connections[0]

    # Functions, not coroutines: FastAPI calls them on threads, so the loop goes on while one waits for an owner.
    @web.post("/invoices/{number}", status_code=202)
    def enqueue(number: int) -> dict[str, object]:
        done = queue().enqueue(f"invoice-{number}", handler="invoice", input=str(number).encode(), tags={"invoice"})
        return {"id": number, "disposition": str(done), "worker": os.getpid()}

    @web.get("/invoices")
    def everything() -> dict[str, str]:
        return {task.id: str(task.state) for task in queue().tasks("invoice")}

    @web.get("/invoices/{number}")
    def one(number: int) -> dict[str, str]:
        return {"why": str(queue().explain(f"invoice-{number}"))}

    @web.exception_handler(selene.NotFound)
    def missing(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": str(error)}, 404)

    @web.exception_handler(selene.OwnerAway)
    def away(_: Request, error: Exception) -> JSONResponse:
        # Asking again is harmless: a task that is there already is kept.
        return JSONResponse({"error": str(error)}, 503)

    return web
