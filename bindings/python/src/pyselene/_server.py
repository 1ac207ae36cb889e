"""One process has a store open and serves it; others connect (_connect.py)."""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntFlag
from types import TracebackType
from typing import Literal, NoReturn, Self, TypeAlias

from . import _raw
from ._engine import Engine
from ._errors import Busy, Forked, InvalidHandle
from ._library import layout, library
from ._names import above_zero, said, whole
from ._store import Path, path_bytes
from ._time import Duration, duration_ns


class Right(IntFlag):
    """What a process that connects may do."""

    #: Get, list, explain, plan, counts, conditions, signals, decisions, events; the input of a task comes out empty.
    LOOK = _raw.SELENE_RIGHT_LOOK
    #: See the input of tasks, too.
    READ = _raw.SELENE_RIGHT_READ
    #: Register, cancel, retry, pause and resume tasks.
    ENQUEUE = _raw.SELENE_RIGHT_ENQUEUE
    #: Offer handlers, take runs and say how they ended.
    WORK = _raw.SELENE_RIGHT_WORK
    #: Cancel all, prune, enable, resume, launch, expire, set conditions and signals.
    MANAGE = _raw.SELENE_RIGHT_MANAGE


RightName: TypeAlias = Literal["look", "read", "enqueue", "work", "manage"]
#: What `Peer` takes.
Rights: TypeAlias = Right | RightName | Iterable[Right | RightName]


@dataclass(frozen=True, slots=True)
class Peer:
    """What processes of a user, or of one of its groups, may do; None is any. Who serves, and root, may do everything.

    >>> Peer({"look", "enqueue"}, uid=33).bits
    <Right.LOOK|ENQUEUE: 5>
    """

    rights: Rights
    uid: int | None = None
    gid: int | None = None

    def __post_init__(self) -> None:
        _ = self.bits

    @property
    def bits(self) -> Right:
        """The rights as bits."""
        if isinstance(self.rights, Right):
            return self.rights
        bits = Right(0)
        for item in (self.rights,) if isinstance(self.rights, str) else self.rights:
            name = item.name if isinstance(item, Right) else item
            if not isinstance(name, str):
                raise TypeError(f"rights must hold Right or names, not {type(item).__name__}")
            if name.upper() not in Right.__members__:
                raise ValueError(f"rights has {item!r}; allowed: look, read, enqueue, work, manage")
            bits |= Right[name.upper()]
        return bits


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Processes connected now; connections, requests, refusals since it serves; connections that broke the protocol."""

    clients: int
    accepted: int
    requests: int
    refused: int
    broken: int


@dataclass(frozen=True, slots=True)
class Client:
    """A process that is connected: its number and its user's, its command, its pool (None: it runs nothing).

    `handlers` and `runs` count what it offers and what it runs now, `requests` what it has asked.
    """

    pool: str | None
    command: str
    process: int
    user: int
    rights: Right
    version: str
    handlers: int
    runs: int
    requests: int

    def __str__(self) -> str:
        work = f", pool {self.pool}: {self.handlers} handlers, {self.runs} runs" if self.pool else ""
        return f"{self.process} (user {self.user}) {self.command or 'has ended'}{work}"


def clients_of(engine: Engine) -> list[Client]:
    """Who is connected to the servers of a scheduler, the last one first."""
    raw = ctypes.POINTER(_raw.selene_clients)()
    engine.check(library.selene_client_list(engine.handle, ctypes.byref(raw)))
    try:
        return [
            Client(
                each.pool.data.decode() or None,
                each.command.data.decode(errors="replace"),
                each.process,
                each.user,
                Right(each.rights),
                f"{each.version // 1000000}.{each.version // 1000 % 1000}.{each.version % 1000}",
                each.handlers,
                each.runs,
                each.requests,
            )
            for each in raw.contents.clients[: raw.contents.count]
        ]
    finally:
        library.selene_free(raw)


class Server:
    """A scheduler that is served; ends by close(), as a context, or with the scheduler.

    Without a thread the host serves: `async with` does so on the running event loop; with another loop wait until
    fileno() is readable, and call step().
    """

    def __init__(
        self,
        engine: Engine,
        path: Path | None,
        allow: Iterable[Peer],
        mode: int,
        max_clients: int,
        descriptor: int | None,
        adopt: Duration,
        thread: bool,
    ) -> None:
        raw = _raw.selene_server_options()
        raw.struct_size = ctypes.sizeof(raw)
        if path is not None:
            name = path_bytes(path)
            if not name:
                raise ValueError("path is empty; None is the store's name and -sock")
            raw.path = (name, len(name))
        peers = tuple(allow)
        for peer in peers:
            if not isinstance(peer, Peer):
                raise TypeError(f"allow must hold Peer, not {type(peer).__name__}")
        rules = (_raw.selene_peer_rule * len(peers))()
        for rule, peer in zip(rules, peers, strict=True):
            rule.uid, rule.gid = _who(peer.uid, "uid"), _who(peer.gid, "gid")
            rule.rights = peer.bits
        raw.rules = ctypes.cast(rules, ctypes.POINTER(_raw.selene_peer_rule))
        raw.rule_count = len(peers)
        raw.mode = above_zero(whole(mode, "mode", 1 << 32), "mode", "1 … 511")
        raw.max_clients = above_zero(whole(max_clients, "max_clients", 1 << 32), "max_clients", "1 … 65536")
        if descriptor is not None:
            raw.flags = _raw.SELENE_SERVER_DESCRIPTOR
            raw.descriptor = whole(descriptor, "descriptor", 1 << 31)
        raw.adopt = said(duration_ns(adopt, "adopt"))
        handle, fd = ctypes.c_uint64(), ctypes.c_int32(-1)
        to = (engine.handle, ctypes.byref(raw), ctypes.byref(handle))
        if thread:
            engine.check(library.selene_server_start(*to))
        else:
            engine.check(library.selene_server_open(*to, ctypes.byref(fd)))
        self._engine = engine
        self._handle = handle.value
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = False
        self._fd = -1
        if not thread:
            try:
                # A copy of its own: the library closes the descriptor while a loop may wait for it.
                self._fd = os.dup(fd.value)
            except OSError:
                self.close()
                raise
            engine.stepped.add(self)

    def fileno(self) -> int:
        """A descriptor that is readable when step() has something to do; wait for it only, never read it.

        ValueError: a thread of the library serves, or it is over.
        """
        if self._fd < 0:
            raise ValueError("a server without a thread has a descriptor, while it is open: serve(thread=False)")
        return self._fd

    def step(self) -> None:
        """Answers what clients have asked, one request of each; waits for the disk, but for no client.

        Busy: another thread steps it. Reentrant: inside a callback that a step calls. Unsupported: a thread serves.
        """
        self._engine.check(library.selene_server_step(self._handle, None))

    def info(self) -> ServerInfo:
        """What it has done so far."""
        raw = _raw.selene_server_info(ctypes.sizeof(_raw.selene_server_info))
        self._engine.check(library.selene_server_get(self._handle, ctypes.byref(raw)))
        _, _, *counts = layout(_raw.selene_server_info).unpack_from(raw)
        return ServerInfo(*counts)

    def close(self) -> None:
        """Answers what is being asked, then serves no more and removes the socket. Again: does nothing."""
        if not self._over:
            # With the scheduler it has ended by itself; that of a parent is the parent's.
            if not self._engine.closed and self._engine.pid == os.getpid():
                self._engine.check(library.selene_server_close(self._handle))
            self._over = True
            self._leave_loop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        if self._fd >= 0:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._fd, self._ready)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ready(self) -> None:
        try:
            self.step()
        except Busy:
            pass  # who steps it now, as a drain does, serves
        except (InvalidHandle, Forked):
            self._leave_loop()

    def scheduler_is_over(self) -> None:
        """There is nothing more to step; from any thread."""
        loop = self._loop
        try:
            if loop is not None:
                loop.call_soon_threadsafe(self._leave_loop)
                return
        except RuntimeError:
            pass  # the loop is closed
        self._leave_loop()

    def _leave_loop(self) -> None:
        if self._fd < 0:
            return
        # In a forked child the loop's descriptors are its parent's, too.
        if self._loop is not None and not self._loop.is_closed() and self._engine.pid == os.getpid():
            self._loop.remove_reader(self._fd)
        os.close(self._fd)
        self._fd, self._loop = -1, None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Server cannot be pickled: it belongs to the process that serves")

    def __repr__(self) -> str:
        return f"<Server{', over' if self._over or self._engine.closed else ''}>"


def _who(number: int | None, what: str) -> int:
    return _raw.SELENE_ANYBODY if number is None else whole(number, what, _raw.SELENE_ANYBODY)
