"""A scheduler that another process of the machine has open (_server.py), with the same methods."""

from __future__ import annotations

import ctypes

from . import _raw
from ._engine import Engine, keep_engine
from ._library import error_of, fast, library
from ._scheduler import Scheduler
from ._store import Path, path_bytes
from ._time import Duration, duration_ns


def connect(path: Path, *, wait: Duration = 0, timeout: Duration = 30) -> Scheduler:
    """A scheduler whose calls are made by the process that has the store open and serves it (Scheduler.serve()).

    `path` is the store, or the socket. It opens no store and starts no process. `wait`: how long a call waits while
    nobody serves the store; `timeout`: how long for an answer. What may go wrong is OwnerAway, whose text says whether
    what was asked may have been done, and Refused. When another process has taken the store over, the next call finds
    it. What only the owner can do (handlers, cycles, drivers) raises Unsupported. A forked child connects anew.

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
    fast.selene_connect_options_init(ctypes.byref(raw), ctypes.sizeof(raw))
    raw.path = (name, len(name))
    raw.wait = duration_ns(wait, "wait")
    raw.timeout = duration_ns(timeout, "timeout")
    handle = ctypes.c_uint64()
    status = library.selene_scheduler_connect(ctypes.byref(raw), ctypes.byref(handle))
    if status:
        raise error_of(status)
    # Every call goes over the socket, so none may hold the interpreter's lock meanwhile.
    engine = Engine(None, False, None)
    engine.connected = True
    keep_engine(engine, handle.value)
    return Scheduler._of(engine)
