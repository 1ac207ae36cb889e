"""Serves the page on a thread of its own."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn

from .app import application
from .board import Board
from .doors import Doors


class Serving:
    """The page of a board on a socket that listens; a context, which closes the board.

    `patience`: seconds that a client has for a request, and to take what was answered.
    """

    def __init__(
        self, board: Board, listener: socket.socket, token: str, hosts: frozenset[str], patience: float = 10
    ) -> None:
        self._board = board
        app = application(board, token, hosts)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                http=Doors(patience).protocol(),
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
        self._board.close()
