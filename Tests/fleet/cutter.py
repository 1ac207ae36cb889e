"""A door to the server that cuts a connection at a statement: before it, within its answer, after it, or without a word."""

from __future__ import annotations

import contextlib
import socket
import struct
import tempfile
import threading
from pathlib import Path

from server import Server

HOW = ("before", "within", "after", "silence")


class Cutter:
    """A proxy in a folder of its own."""

    def __init__(self, server: Server) -> None:
        self.there = str(server.folder / ".s.PGSQL.5432")
        self.folder = tempfile.TemporaryDirectory(prefix="cutter.")
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(Path(self.folder.name) / ".s.PGSQL.5432"))
        self.listening.listen()
        self.sockets: list[socket.socket] = []
        self.lock = threading.Lock()
        #: How many statements went through.
        self.statements = 0
        #: Which one is cut, and how.
        self.cut_at, self.how = 0, ""
        #: Whether nobody is let in.
        self.closed = False
        threading.Thread(target=self.accept, daemon=True).start()

    def dsn(self, database: str) -> str:
        """How to connect through it."""
        return f"host={self.folder.name} dbname={database} user=fleet"

    def close(self) -> None:
        """Ends all connections."""
        self.listening.close()
        for one in self.sockets:
            one.close()
        self.folder.cleanup()

    def close_door(self) -> None:
        """Cuts every connection, and lets nobody in."""
        self.closed = True
        end(*self.sockets)

    def open_door(self) -> None:
        """Lets everybody in again."""
        self.closed = False

    def accept(self) -> None:
        """A pair of threads for each connection."""
        with contextlib.suppress(OSError):
            while True:
                here, _ = self.listening.accept()
                if self.closed:
                    here.close()
                    continue
                there = socket.socket(socket.AF_UNIX)
                there.connect(self.there)
                self.sockets += [here, there]
                silent, halved = threading.Event(), threading.Event()
                threading.Thread(target=self.requests, args=(here, there, silent, halved), daemon=True).start()
                threading.Thread(target=self.answers, args=(here, there, silent, halved), daemon=True).start()

    def requests(
        self, here: socket.socket, there: socket.socket, silent: threading.Event, halved: threading.Event
    ) -> None:
        """What the client sends, message by message: a statement ends with Sync."""
        with contextlib.suppress(OSError):
            (length,) = struct.unpack("!i", read(here, 4))
            there.sendall(struct.pack("!i", length) + read(here, length - 4))
            while True:
                kind = read(here, 1)
                (length,) = struct.unpack("!i", read(here, 4))
                message = kind + struct.pack("!i", length) + read(here, length - 4)
                if kind == b"S":
                    with self.lock:
                        self.statements += 1
                        how = self.how if self.statements == self.cut_at else ""
                    if how == "before":
                        break
                    if how:
                        (halved if how == "within" else silent).set()
                    if how == "after":
                        # What the server answers arrives nowhere; then the connection ends.
                        there.sendall(message)
                        threading.Event().wait(0.3)
                        break
                there.sendall(message)
        end(here, there)

    @staticmethod
    def answers(here: socket.socket, there: socket.socket, silent: threading.Event, halved: threading.Event) -> None:
        """What the server sends, until it is to be silent."""
        with contextlib.suppress(OSError):
            while data := there.recv(65536):
                if halved.is_set():
                    here.sendall(data[: len(data) // 2])
                    break
                if not silent.is_set():
                    here.sendall(data)
        end(here, there)


def read(one: socket.socket, count: int) -> bytes:
    """So many bytes."""
    data = b""
    while len(data) < count:
        more = one.recv(count - len(data))
        if not more:
            raise OSError("the end")
        data += more
    return data


def end(*sockets: socket.socket) -> None:
    """Wakes whoever reads from them."""
    for one in sockets:
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
