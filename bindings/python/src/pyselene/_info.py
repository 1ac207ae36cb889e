"""What a scheduler holds at a moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _raw
from ._event import Trouble
from ._library import layout
from ._run import Kind
from ._terms import kinds_of


@dataclass(frozen=True, slots=True)
class SchedulerInfo:
    """Kinds that are on, handlers that overran, tasks by state, runs since the opening, the number of this life.

    `troubles` are what keeps it from working now, `stuck_handlers` how many handlers have left too many threads behind.
    """

    kinds: frozenset[Kind]
    overrun_threads: int
    enqueued: int
    held: int
    blocked: int
    running: int
    succeeded: int
    failed: int
    cancelled: int
    dispatched: int
    life: int
    troubles: frozenset[Trouble]
    stuck_handlers: int


def scheduler_info(raw: _raw.selene_scheduler_info) -> SchedulerInfo:
    """Reads the library's counts."""
    _, _, kinds, overrun, *counts, troubles, stuck = layout(_raw.selene_scheduler_info).unpack_from(raw)
    found = frozenset(trouble for trouble in Trouble if trouble & troubles)
    values: list[Any] = [kinds_of(kinds), overrun, *counts, found, stuck]
    return SchedulerInfo(*values)
