"""What a scheduler holds at a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from . import _raw
from ._event import Trouble
from ._library import layout
from ._run import Kind
from ._terms import kinds_of
from ._time import maybe_instant, maybe_seconds, never_is_none


@dataclass(frozen=True, slots=True)
class SchedulerInfo:
    """Kinds that are on, handlers that overran, tasks by state, runs since the opening, the number of this life.

    `troubles` are what keeps it from working now, `stuck_handlers` how many handlers have left too many threads behind.
    `expedited_left_ns` is what is left of the quota of expedited tasks (None: there is no limit),
    `expedited_free_at_ns` when something is again, while nothing is (else, and if never: None).
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
    expedited_left_ns: int | None
    expedited_free_at_ns: int | None

    @property
    def expedited_left(self) -> float | None:
        """What is left of the quota of expedited tasks in seconds; None: there is no limit."""
        return maybe_seconds(self.expedited_left_ns)

    @property
    def expedited_free_at(self) -> datetime | None:
        """While nothing is left of it, when something is again if no more is used; else, and if never: None."""
        return maybe_instant(self.expedited_free_at_ns)


def scheduler_info(raw: _raw.selene_scheduler_info) -> SchedulerInfo:
    """Reads the library's counts."""
    _, _, kinds, overrun, *counts, troubles, stuck, left, free_at = layout(_raw.selene_scheduler_info).unpack_from(raw)
    found = frozenset(trouble for trouble in Trouble if trouble & troubles)
    values: list[Any] = [kinds_of(kinds), overrun, *counts, found, stuck]
    values += [never_is_none(left), never_is_none(free_at) or None]
    return SchedulerInfo(*values)
