"""What a module needs of another that is built on it: the imports of the package form no circle, not even for types."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Protocol


class Host(Protocol):
    """What runs and handlers need of the engine that they belong to; `run` is a Run, `latch` a Latch."""

    closed: bool
    threads: set[int]
    coroutines: set[asyncio.Task[Any]]
    pushed: dict[int, dict[int, BaseException]]

    def enter(self, run: Any) -> None: ...
    def complete(self, run: Any, outcome: int, delay: int | None = None, why: bytes = b"") -> None: ...
    def complete_quietly(self, run: Any, outcome: int, delay: int | None = None, why: bytes = b"") -> None: ...
    def stop(self, token: int, reason: int) -> None: ...
    def stopping(self, run: Any) -> int: ...
    def remaining(self, run: Any) -> int: ...
    def progress(self, run: Any, done: int, total: int, text: bytes) -> None: ...
    def wait_for_stop(self, run: Any, latch: Any, left: int | None) -> bool: ...
    def came_back(self) -> None: ...


class Place(Protocol):
    """What a run needs of the lane that it came through, and the engine of a thread that may be in a handler."""

    inside: bool
    thread: int

    def abandon(self) -> None: ...
    def delay(self, run: Any) -> None: ...


class Pulling(Protocol):
    """What an engine needs of a cycle that is worked off, on threads or on an event loop."""

    @property
    def lanes(self) -> Collection[Place]: ...
    def tell(self) -> None: ...
    def forked(self) -> None: ...


class Connected(Protocol):
    """What the thread that reads a connection's events needs of its engine; in `mailboxes` are Mailboxes."""

    handle: int
    closed: bool
    observers: Any
    mailboxes: set[Any]

    def check(self, status: int) -> None: ...
    def submit(self, job: Callable[[], None], on_worker: bool = False) -> None: ...


class Opening(Protocol):
    """What an engine needs of the driver that is open; `kind` is a Kind."""

    def budget(self, kind: Any) -> float: ...
    def closed(self) -> None: ...
    def join(self, until: int) -> None: ...
