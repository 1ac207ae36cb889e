"""Traces: what the governor was told and what it decided, in a file that decides the same when it is replayed."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self

from ._library import check, library
from ._store import Path, path_bytes

if TYPE_CHECKING:
    from ._engine import Engine


class Trace:
    """A recording under way; ends by stop(), as a context, or with the scheduler."""

    def __init__(self, engine: Engine, path: Path) -> None:
        self._engine = engine
        self.path = path
        name = path_bytes(path)
        engine.check(library.selene_trace_record(engine.handle, name, len(name)))
        self._over = False

    def stop(self) -> None:
        """Ends the recording. Again: does nothing."""
        if not self._over:
            self._over = True
            if not self._engine.closed:
                self._engine.check(library.selene_trace_record(self._engine.handle, None, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Trace cannot be pickled: it belongs to the process that records it")

    def __repr__(self) -> str:
        return f"<Trace {self.path!r}{', over' if self._over else ''}>"


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay found: how many decisions the trace holds, and the first line that is decided otherwise now."""

    decisions: int
    first_difference: int | None

    @property
    def same(self) -> bool:
        """Whether the replay is the trace, byte for byte."""
        return self.first_difference is None


def replay_trace(path: Path) -> Replay:
    """Decides again what was decided then, from what was known then; needs no scheduler.

    InvalidArgument if it is not a trace, or damaged: the text names the line.
    """
    name = path_bytes(path)
    decisions, difference = ctypes.c_uint64(), ctypes.c_uint64()
    check(library.selene_trace_replay(name, len(name), ctypes.byref(decisions), ctypes.byref(difference)))
    return Replay(decisions.value, difference.value or None)
