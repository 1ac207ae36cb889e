"""Groups: tasks that share a limit of runs at a time, and are paused together."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from . import _raw
from ._library import layout


@dataclass(frozen=True, slots=True)
class GroupInfo:
    """A group: how many of its runs may go on at a time (None: no limit), whether it is paused, what runs and waits.

    `running` counts runs until they are over and have come back, `waiting` tasks that are enqueued, held or blocked.
    """

    name: str
    limit: int | None
    paused: bool
    running: int
    waiting: int

    def __str__(self) -> str:
        limit = "no limit" if self.limit is None else f"at most {self.limit} at a time"
        paused = ", paused" if self.paused else ""
        return f"{self.name}: {limit}{paused}, {self.running} running, {self.waiting} waiting"


def group_info(name: str, raw: ctypes.Structure) -> GroupInfo:
    """Reads the library's group."""
    _, _, limit, paused, running, waiting = layout(_raw.selene_group_info).unpack_from(raw)
    return GroupInfo(name, limit or None, bool(paused), running, waiting)
