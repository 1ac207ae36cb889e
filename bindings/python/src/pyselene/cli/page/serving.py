"""Serves the page on a thread of its own."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn

from ... import Scheduler
from .app import application
from .watcher import Watcher


class Serving:
    """The page of a scheduler on a socket that listens; a context."""

    def __init__(self, scheduler: Scheduler, listener: socket.socket, token: str, hosts: frozenset[str]) -> None:
        self._listener = listener
        self._watcher = Watcher(scheduler)
        app = application(scheduler, self._watcher, token, hosts)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                server_header=False,
                lifespan="off",
                ws="none",
                proxy_headers=False,
                timeout_graceful_shutdown=2,
                limit_concurrency=200,
            )
        )
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="selene/web")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._watcher.close()
