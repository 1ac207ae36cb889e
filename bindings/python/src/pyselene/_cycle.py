"""Windows, and cycles that the host pulls itself."""

from __future__ import annotations

import asyncio
import ctypes
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from . import _raw
from ._drive import DRAIN
from ._errors import Busy, Closed, SeleneError
from ._handler import Handler, cancellable, execute, fail, finish, interrupting, make_run
from ._library import encode, fast, layout
from ._report import Report, take_report
from ._run import Run
from ._task import Kinds, kind_bits, whole
from ._time import SECOND, Duration, duration_ns, instant

if TYPE_CHECKING:
    from ._engine import Engine
    from ._lane import Lane

_WINDOW_SIZE = ctypes.sizeof(_raw.selene_window)
_RUN_SIZE = ctypes.sizeof(_raw.selene_run_info)
_UNPACK = layout(_raw.selene_run_info).unpack_from


def raw_window(
    budget: Duration,
    kinds: Kinds,
    reserve: Duration | None,
    lanes: int,
    strict_fit: bool,
    task: str | None,
) -> _raw.selene_window:
    """The structure of a window."""
    raw = _raw.selene_window()
    fast.selene_window_init(ctypes.byref(raw), _WINDOW_SIZE)
    raw.flags = _raw.SELENE_WINDOW_STRICT_FIT if strict_fit else 0
    raw.kinds = kind_bits(kinds)
    raw.lanes = whole(lanes, "lanes", 1 << 32)
    raw.budget = duration_ns(budget, "budget")
    if reserve is not None:
        raw.reserve = duration_ns(reserve, "reserve")
        if raw.reserve < 0:
            raise ValueError(f"reserve is {reserve}; allowed: 0 … budget, or None for a twentieth of it")
    if task is not None:
        key = encode(task, "task")
        raw.task = (key, len(key))
    return raw


def begin(engine: Engine, window: _raw.selene_window) -> int:
    """Begins a cycle; gives its token."""
    with engine.changed:
        if engine.left >= engine.max_left > 0:
            text = f"{engine.left} handlers of earlier cycles still run; allowed: {engine.max_left - 1}"
            raise Busy(_raw.SELENE_ERROR_BUSY, "BUSY", text)
    token = ctypes.c_uint64()
    status = engine.calls.selene_cycle_begin(engine.handle, ctypes.byref(window), ctypes.byref(token))
    engine.check(status)
    if engine.clock is not None:
        engine.clock.check()
    return token.value


def end(engine: Engine, token: int, exceptions: dict[int, BaseException]) -> Report:
    """Ends a cycle; gives its report."""
    address = ctypes.c_void_p()
    target = ctypes.POINTER(_raw.selene_report).from_buffer(address)
    engine.check(engine.calls.selene_cycle_end(token, ctypes.byref(target)))
    assert address.value is not None
    return take_report(address.value, exceptions)


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

    def __init__(self, engine: Engine, window: _raw.selene_window) -> None:
        self._engine = engine
        self._step = ctypes.c_int32()
        self._info = _raw.selene_run_info(_RUN_SIZE)
        self._wake_at = ctypes.c_int64()
        self._arguments = (ctypes.byref(self._step), ctypes.byref(self._info), ctypes.byref(self._wake_at))
        self._report: Report | None = None
        self.token = begin(engine, window)
        self._finalizer = weakref.finalize(self, _drop, engine, self.token)

    def next(self) -> Run | Wait | None:
        """The next run; or Wait; or None: nothing more in this cycle. Never blocks."""
        if self._report is not None:
            raise Closed(_raw.SELENE_ERROR_INVALID_HANDLE, "INVALID_HANDLE", "the cycle is over")
        engine = self._engine
        status = engine.calls.selene_cycle_next(self.token, *self._arguments)
        if status:
            raise engine.error(status)
        if engine.clock is not None and engine.clock.error is not None:
            engine.clock.check()
        found = self._step.value
        if found == _raw.SELENE_STEP_RUN:
            run = make_run(engine, _UNPACK(self._info))
            engine.runs[run.token] = run
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
        """Ends the cycle and reports; runs that are open are over, counted as failed. Again: the same report."""
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


class AsyncDrive:
    """A cycle on an event loop: the loop pulls, coroutines run on it, functions on workers."""

    def __init__(self, engine: Engine, token: int, latest: int) -> None:
        self.engine = engine
        self.token = token
        self.latest = latest
        self.loop = asyncio.get_running_loop()
        self.news = asyncio.Event()
        self.exceptions: dict[int, BaseException] = {}
        self.fatal: BaseException | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        #: Tokens of functions that are on workers now. Guarded by engine.changed, as is `over`.
        self.inside: set[int] = set()
        self.over = False
        #: What it has in common with Drive.
        self.lanes: frozenset[Lane] = frozenset()
        self.waiting = 1
        self.draining = False
        engine.drives.add(self)

    def closed(self) -> None:
        """The scheduler was closed under the cycle."""
        self.wake()

    def stop_picking(self) -> None:
        """Nothing more is started; what runs is asked to stop."""
        self.draining = True
        for run in tuple(self.engine.runs.values()):
            if run.cycle_token == self.token:
                run._asked_to_stop(_raw.SELENE_STOP_EXPIRING)
        self.wake()

    def wake(self) -> None:
        """Something came back, on any thread."""
        try:
            self.loop.call_soon_threadsafe(self.news.set)
        except RuntimeError:
            pass  # the loop is closed: nobody waits

    async def run(self) -> Report:
        """Works the cycle off and reports, by the deadline."""
        engine = self.engine
        try:
            await self._pull()
        finally:
            engine.drives.discard(self)
            with engine.changed:
                self.over = True
                engine.left += len(self.inside)
            report = self._end()
        # A worker completes its run before it tells why.
        fatal = self.fatal or interrupting(self.exceptions)
        if fatal is not None:
            raise fatal
        assert report is not None
        return report

    async def _pull(self) -> None:
        engine = self.engine
        step, info, wake_at = ctypes.c_int32(), _raw.selene_run_info(_RUN_SIZE), ctypes.c_int64()
        arguments = (ctypes.byref(step), ctypes.byref(info), ctypes.byref(wake_at))
        while self.fatal is None:
            self.news.clear()
            if self.draining:
                if not (self.tasks or self.inside):
                    return
                if self.latest > (until := engine.now_ns() + DRAIN):
                    self.latest = until
                elif engine.now_ns() >= self.latest:
                    return
                await self._news(self.latest - engine.now_ns())
                continue
            engine.check(engine.calls.selene_cycle_next(self.token, *arguments))
            if step.value == _raw.SELENE_STEP_DONE:
                return
            if step.value == _raw.SELENE_STEP_RUN:
                self._start(make_run(engine, _UNPACK(info)))
                continue
            now = engine.now_ns()
            if now >= self.latest:
                return
            await self._news(None if engine.clock is not None else min(wake_at.value, self.latest) - now)

    async def _news(self, pause: int | None) -> None:
        if pause is None:
            await self.news.wait()
            return
        # A machine that sleeps does not count in a wait: look again each second.
        timer = self.loop.call_later(min(pause, SECOND) / SECOND, self.news.set)
        try:
            await self.news.wait()
        finally:
            timer.cancel()

    def _start(self, run: Run) -> None:
        engine = self.engine
        engine.runs[run.token] = run
        handler = engine.handlers.get(run._handler)
        run._came_back = self.wake
        self.latest = run.deadline_ns
        if handler is None:
            engine.complete_quietly(run, _raw.SELENE_OUTCOME_FAILED)
        elif handler.is_async:
            task = self.loop.create_task(self._work(run, handler), name=f"pyselene {run.id}")
            self.tasks.add(task)
            task.add_done_callback(self._done)
        elif engine.clock is not None:
            self._interrupt(execute(run, handler, self.exceptions))
        else:
            with engine.changed:
                self.inside.add(run.token)
            engine.submit(lambda: self._execute(run, handler))

    async def _work(self, run: Run, handler: Handler) -> None:
        try:
            finish(run, await cancellable(run, handler.function(run)))
        except BaseException as error:
            if fail(run, error, self.exceptions):
                self._interrupt(error)

    def _done(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        self.news.set()

    def _execute(self, run: Run, handler: Handler) -> None:
        engine = self.engine
        try:
            self._interrupt(execute(run, handler, self.exceptions))
        finally:
            with engine.changed:
                self.inside.discard(run.token)
                if self.over:
                    engine.left -= 1
                    engine.changed.notify_all()
            self.wake()

    def _interrupt(self, error: BaseException | None) -> None:
        if error is not None and self.fatal is None:
            self.fatal = error
            self.wake()

    def _end(self) -> Report | None:
        try:
            report = end(self.engine, self.token, self.exceptions)
        except SeleneError as error:
            self.fatal = self.fatal or error
            report = None
        _linger.update(self.tasks)
        for task in tuple(self.tasks):
            task.add_done_callback(_linger.discard)
            task.cancel()
        return report


#: Coroutines that overran: the loop itself would forget them.
_linger: set[asyncio.Task[Any]] = set()
