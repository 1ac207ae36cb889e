"""Windows, and cycles that the host pulls itself."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self

from . import _raw
from ._callbacks import kept, take_kept
from ._errors import Closed
from ._handler import make_run
from ._library import encode, out_pointer
from ._names import above_zero, said, truth, whole
from ._report import Report, take_report
from ._run import RUN_SIZE, Run
from ._terms import Kinds, some_kinds
from ._time import Duration, duration_ns, instant

if TYPE_CHECKING:
    from ._engine import Engine

_WINDOW_SIZE = ctypes.sizeof(_raw.selene_window)


def raw_window(
    budget: Duration,
    kinds: Kinds | None,
    reserve: Duration | None,
    lanes: int,
    strict_fit: bool,
    task: str | None,
    frozen: bool = False,
) -> _raw.selene_window:
    """The structure of a window."""
    raw = _raw.selene_window()
    raw.struct_size = _WINDOW_SIZE
    raw.flags = _raw.SELENE_WINDOW_STRICT_FIT if truth(strict_fit, "strict_fit") else 0
    if truth(frozen, "frozen"):
        raw.flags |= _raw.SELENE_WINDOW_FROZEN
    raw.kinds = some_kinds(kinds)
    raw.lanes = above_zero(whole(lanes, "lanes", 1 << 32), "lanes", "1 … 1024")
    raw.budget = above_zero(duration_ns(budget, "budget"), "budget", "1 ms … 24 h")
    if reserve is not None:
        raw.reserve = said(duration_ns(reserve, "reserve"))
        if raw.reserve < _raw.SELENE_NONE:
            raise ValueError(f"reserve is {reserve}; allowed: 0 … budget, or None for a twentieth of it")
    if task is not None:
        key = encode(task, "task")
        raw.task = (key, len(key))
    return raw


def begin(engine: Engine, window: _raw.selene_window, flags: int = 0) -> int:
    """Begins a cycle; gives its token."""
    window.flags |= flags
    token = ctypes.c_uint64()
    status = engine.calls.selene_cycle_begin(engine.handle, ctypes.byref(window), ctypes.byref(token))
    return granted(engine, status, token.value)


def granted(engine: Engine, status: int, token: int) -> int:
    """The token of a cycle that was begun; it is ended at once if the call is to raise."""
    try:
        engine.check(status)
        if engine.clock is not None:
            engine.clock.check()
    except BaseException:
        if token:
            engine.calls.selene_cycle_end(token, None)
            take_kept()  # one is raised already
        raise
    return token


def end(engine: Engine, token: int, exceptions: dict[int, BaseException]) -> Report:
    """Ends a cycle; gives its report."""
    address, target = out_pointer(_raw.selene_report)
    status = engine.calls.selene_cycle_end(token, ctypes.byref(target))
    if address.value:
        return over(engine, token, address.value, exceptions)
    raise engine.error(status)


def over(engine: Engine, token: int, report: int, exceptions: dict[int, BaseException]) -> Report:
    """The report at an address, of a cycle that is over and whose runs are not told of any more."""
    engine.leave(token)
    taken = take_report(report, exceptions)
    engine.check(0)
    return taken


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to start now: runs are in flight. Complete one, or come again at `wake_at`."""

    wake_at_ns: int

    @property
    def wake_at(self) -> datetime:
        """The next expiry."""
        return instant(self.wake_at_ns)


class Cycle:
    """A cycle that the host pulls: `next()` gives runs, each is ended by `run.complete()`, `end()` reports.

    >>> from pyselene.testing import VirtualClock
    >>> import pyselene as selene
    >>> clock = VirtualClock()
    >>> scheduler = selene.Scheduler(clock=clock)
    >>> scheduler.register_handler("sweep", None)
    >>> scheduler.register(selene.Task("sweep", expected=2))
    <Disposition.ADDED: 0>
    >>> with scheduler.begin(budget=30) as cycle:
    ...     for run in cycle:
    ...         clock.advance(1.5)
    ...         run.complete()
    >>> cycle.report.runs[0].response_time
    1.5
    """

    def __init__(self, engine: Engine, token: int) -> None:
        self._engine = engine
        self._step = ctypes.c_int32()
        self._info = _raw.selene_run_info(RUN_SIZE)
        self._wake_at = ctypes.c_int64()
        self._arguments = (ctypes.byref(self._step), ctypes.byref(self._info), ctypes.byref(self._wake_at))
        self._report: Report | None = None
        self.token = token
        self._finalizer = weakref.finalize(self, _drop, engine, self.token)

    def next(self) -> Run | Wait | None:
        """The next run; or Wait; or None: nothing more in this cycle. Never blocks."""
        if self._report is not None:
            raise Closed(_raw.SELENE_ERROR_INVALID_HANDLE, "INVALID_HANDLE", "the cycle is over")
        engine = self._engine
        status = engine.calls.selene_cycle_next(self.token, *self._arguments)
        if status or kept:
            engine.check(status)
        if engine.clock is not None and engine.clock.error is not None:
            engine.clock.check()
        found = self._step.value
        if found == _raw.SELENE_STEP_RUN:
            run = make_run(engine, bytes(self._info))
            engine.enter(run)
            return run
        return Wait(self._wake_at.value) if found == _raw.SELENE_STEP_WAIT else None

    def __iter__(self) -> Iterator[Run]:
        """The runs one after another; each must be completed before the next is asked for."""
        while True:
            found = self.next()
            if found is None:
                return
            if isinstance(found, Wait):
                raise RuntimeError("complete the run before the next one, or use Cycle.next()")
            yield found

    def end(self) -> Report:
        """Ends the cycle and reports; open runs are stopped, and their tasks wait as before. Again: the same."""
        if self._report is None:
            self._finalizer.detach()
            self._report = end(self._engine, self.token, {})
        return self._report

    @property
    def report(self) -> Report:
        """The report; RuntimeError before the end."""
        if self._report is None:
            raise RuntimeError("the cycle has not ended")
        return self._report

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Cycle cannot be pickled: it belongs to the process that began it")

    def __repr__(self) -> str:
        return f"<Cycle {self.token}{', over' if self._report else ''}>"


def _drop(engine: Engine, token: int) -> None:
    if not engine.closed:
        engine.calls.selene_cycle_end(token, None)
