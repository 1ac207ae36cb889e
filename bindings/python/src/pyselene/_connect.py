"""A scheduler that another process of the machine has open (_server.py), with the same methods."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Generator
from types import TracebackType
from typing import Literal

from . import _raw
from ._engine import Engine, keep_engine
from ._library import error_of, library
from ._names import above_zero, whole
from ._scheduler import Scheduler
from ._store import Path, path_bytes
from ._time import Duration, duration_ns


def connect(
    path: Path,
    *,
    pool: str | None = None,
    wait: Duration = 0,
    timeout: Duration = 30,
    server_user: int | Literal["any"] | None = None,
) -> Scheduler:
    """A scheduler whose calls are made by the process that has the store open and serves it (Scheduler.serve()).

    `path` is the store, or the socket. It opens no store and starts no process. `wait`: how long a call waits while no
    process serves the store; `timeout`: how long for an answer. What may go wrong is OwnerAway, whose `in_doubt` says
    whether the request may have been carried out, and Refused. When another process has taken the store over, the next
    call finds it. A forked child connects anew.

    Nothing is told to a process that belongs to neither this one's user nor root, which the system knows (Refused):
    whoever may write to a folder may serve a socket there. `server_user` is the number of another user that is
    believed, or "any".

    It runs tasks, too, those of the handlers that it registers: in run_forever() and its async twin, which go on with
    the next owner whatever `wait` is (a signal is heard once the call that waits returns), in run_cycle(), in cycles
    it begins, or in the windows that the owner grants to a driver(). Its process is then one of `pool` (by default
    the executable's name), whose members share handlers and windows. If it is killed, what it ran is tried again,
    after 30 s at least; after close() at once. What only the owner can do (run_cycle_async() but with push, profiles,
    backups) raises Unsupported.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> from pyselene import Scheduler, connect
    >>> owner = Scheduler(f"{folder.name}/tasks.db")  # one process
    >>> server = owner.serve()
    >>> with connect(f"{folder.name}/tasks.db") as queue:  # any other
    ...     print(queue.enqueue("report", input=b"2026"))
    added
    >>> owner.ids()
    ['report']
    >>> owner.close(); folder.cleanup()
    """
    name = path_bytes(path)
    raw = _raw.selene_connect_options()
    raw.struct_size = ctypes.sizeof(raw)
    raw.path = (name, len(name))
    raw.wait = duration_ns(wait, "wait")
    raw.timeout = above_zero(duration_ns(timeout, "timeout"), "timeout", "1 ms … 24 h")
    if server_user == "any":
        raw.server_user = _raw.SELENE_SERVER_USER_ANY
    elif server_user is not None:
        raw.server_user = whole(server_user, "server_user", 1 << 32)
    if pool is not None:
        if not pool:
            raise ValueError("pool is empty; None is the name of the executable")
        of_pool = pool.encode()
        raw.pool = (of_pool, len(of_pool))
    handle = ctypes.c_uint64()
    status = library.selene_scheduler_connect(ctypes.byref(raw), ctypes.byref(handle))
    if status:
        raise error_of(status)
    # Every call goes over the socket, so none may hold the interpreter's lock meanwhile.
    engine = Engine(None, False, None)
    engine.connected = True
    keep_engine(engine, handle.value)
    return Scheduler._of(engine)


class Connecting:
    """What connect_async() gives: to await, or for `async with`, which closes it."""

    def __init__(
        self,
        path: Path,
        pool: str | None,
        wait: Duration,
        timeout: Duration,
        server_user: int | Literal["any"] | None,
    ) -> None:
        self._arguments = (path, pool, wait, timeout, server_user)
        self._scheduler: Scheduler | None = None

    def __await__(self) -> Generator[object, None, Scheduler]:
        path, pool, wait, timeout, user = self._arguments
        return asyncio.to_thread(connect, path, pool=pool, wait=wait, timeout=timeout, server_user=user).__await__()

    async def __aenter__(self) -> Scheduler:
        self._scheduler = await self
        return self._scheduler

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._scheduler is not None:
            await self._scheduler.close_async()


def connect_async(
    path: Path,
    *,
    pool: str | None = None,
    wait: Duration = 0,
    timeout: Duration = 30,
    server_user: int | Literal["any"] | None = None,
) -> Connecting:
    """The same for event loops: to await, or for `async with`, which closes it.

    The loop goes on while it waits for an owner. Each call of the scheduler waits for its answer, which takes some 0.1
    ms; where that is too long, or the owner may be slow, make it by asyncio.to_thread().
    """
    return Connecting(path, pool, wait, timeout, server_user)
