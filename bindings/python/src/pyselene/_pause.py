"""Pauses: kinds of which nothing begins until an instant, everywhere or in one pool."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from . import _raw
from ._library import library
from ._run import Kind
from ._terms import kinds_of
from ._time import maybe_instant, never_is_none

if TYPE_CHECKING:
    from ._engine import Engine


@dataclass(frozen=True, slots=True)
class Pause:
    """Kinds that are paused; `pool` is None where that is everywhere, `until` None where only resume() ends it."""

    kinds: frozenset[Kind]
    pool: str | None
    until_ns: int | None

    @property
    def until(self) -> datetime | None:
        """When it ends by itself."""
        return maybe_instant(self.until_ns)

    def __str__(self) -> str:
        until = self.until
        end = "until resumed" if until is None else f"until {until.isoformat(sep=' ', timespec='seconds')}"
        return f"{kinds_words(self.kinds, self.pool)}: paused {end}"


def kinds_words(kinds: Iterable[Kind], pool: str | None) -> str:
    """Kinds, of a pool or of all, for reading."""
    return " and ".join(map(str, sorted(kinds))) + ("" if pool is None else f" of pool {pool}")


def pauses_of(engine: Engine) -> list[Pause]:
    """What is paused: everywhere first, then by pool."""
    raw = ctypes.POINTER(_raw.selene_pauses)()
    engine.check(library.selene_pause_list(engine.handle, ctypes.byref(raw)))
    try:
        return [
            Pause(kinds_of(each.kinds), each.pool.data.decode() or None, never_is_none(each.until))
            for each in raw.contents.pauses[: raw.contents.count]
        ]
    finally:
        library.selene_free(raw)
