"""Who may have connections to a page, and for how long: requests that never end keep nobody else out."""

from __future__ import annotations

import asyncio
import ipaddress
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

FEW: Final = 32
"""So many connections nobody counts."""

MOST: Final = 160
"""Connections at a time; a quarter of them is kept for the user of the page and root."""

_SETTLED: Final = 0.25
"""Seconds after which a connection that has not said what it wants gives way to another."""

_LATE: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def user_of(port: int, here: int) -> int | None:
    """The user whose process has the other end of a connection within this machine, by the ports of both."""
    for name in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/net", name).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            words = line.split()
            if words[1].endswith(f":{port:04X}") and words[2].endswith(f":{here:04X}"):
                return int(words[7])
    return None


class Doors:
    """The connections of a page."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._inside: list[Visit] = []

    def protocol(self) -> type[asyncio.Protocol]:
        """What uvicorn makes for each connection."""
        doors = self

        class OfThese(Visit):
            of = doors

        return OfThese

    def let_in(self, new: Visit) -> None:
        """A connection has come: it has a place, or the oldest that has not said what it wants gives it one."""
        self._inside.append(new)
        if len(self._inside) <= FEW:
            return
        same = [visit for visit in self._inside if visit.whose == new.whose]
        if len(same) > MOST // 2:
            self._make_place(same, new)
        elif not new.is_own:
            others = [visit for visit in self._inside if not visit.is_own]
            if len(others) > MOST - MOST // 4:
                self._make_place(others, new)
        elif len(self._inside) > MOST:
            self._make_place(self._inside, new)

    def let_out(self, visit: Visit) -> None:
        """A connection has ended."""
        if visit in self._inside:
            self._inside.remove(visit)

    def _make_place(self, among: Iterable[Visit], new: Visit) -> None:
        for visit in among:
            if visit.is_settled and not visit.has_asked:
                visit.end(_LATE)
                return
        new.end(_FULL)


class Visit(H11Protocol):
    """One connection."""

    of: Doors

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """It has come."""
        super().connection_made(transport)
        self._came = self.loop.time()
        self._unsent = 0
        self._timer: asyncio.TimerHandle | None = None
        self._whose: object = None
        self._watch()
        self.of.let_in(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        if self._timer is not None:
            self._timer.cancel()
        self.of.let_out(self)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """The next request has as much time."""
        self._came = self.loop.time()
        self._watch()
        super().on_response_complete()

    @property
    def whose(self) -> object:
        """The user of a process of this machine, or the address of another."""
        if self._whose is None:
            address, port = self.client or ("", 0)
            try:
                is_near = ipaddress.ip_address(address).is_loopback
            except ValueError:
                is_near = False
            user = user_of(port, self.server[1] or 0) if is_near and self.server else None
            self._whose = address if user is None else user
        return self._whose

    @property
    def is_own(self) -> bool:
        """Of the user of this process, or of root."""
        return self.whose in (0, os.geteuid())

    @property
    def has_asked(self) -> bool:
        """A request has come whole, and has not been answered."""
        cycle: Any = self.cycle
        is_whole = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        return cycle is not None and not cycle.response_complete and is_whole

    @property
    def is_settled(self) -> bool:
        """It has had time to say what it wants."""
        return self.loop.time() - self._came >= _SETTLED

    def end(self, why: bytes) -> None:
        """Closes it, with an answer where none has begun."""
        self.of.let_out(self)
        if self.conn.our_state is h11.IDLE or (self.conn.our_state is h11.SEND_RESPONSE and not self.has_asked):
            self.transport.write(why)
        self.transport.close()

    def _watch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(self.of.patience, self._look)

    def _look(self) -> None:
        # What is asked takes its time; what was answered has to be taken.
        unsent = self.transport.get_write_buffer_size()
        is_stuck = unsent > 0 and unsent >= self._unsent > 0
        self._unsent = unsent
        if is_stuck:
            self.transport.abort()
        elif self.has_asked:
            self._watch()
        elif not self.transport.is_closing():
            self.end(_LATE)
