"""What a Scheduler owns: the library's handle, runs in flight, workers. Apart from it, so that it can be collected."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from . import _callbacks, _raw
from ._callbacks import log
from ._errors import Closed, Reentrant, SeleneError
from ._event import Event, Mailbox, read_event
from ._handler import Handler
from ._library import error_of, fast, library
from ._run import Run
from ._time import SECOND
from ._workers import Job, Workers

if TYPE_CHECKING:
    from ._drive import Drive
    from ._drive_async import AsyncDrive
    from ._driver import Driver
    from ._report import Report

#: What a completion answers whose run was over before.
_OVER = (_raw.SELENE_ERROR_STALE_RUN, _raw.SELENE_ERROR_ALREADY_COMPLETED, _raw.SELENE_ERROR_INVALID_HANDLE)
_NOW = time.monotonic_ns


class Clock:
    """A clock of the host's own, as the library calls it: never back, and without exceptions."""

    def __init__(self, function: Callable[[], int], virtual: Any) -> None:
        self.function = function
        #: The VirtualClock, which a wait advances; None for other clocks.
        self.virtual = virtual
        self.last = 0
        self.error: BaseException | None = None

    def read(self) -> int:
        """The present in nanoseconds."""
        now = self.function()
        if isinstance(now, bool) or not isinstance(now, int):
            raise TypeError(f"the clock must give nanoseconds as an int, not {type(now).__name__}")
        self.last = now
        return now

    def failed(self, error: BaseException) -> int:
        """Keeps what the clock raised, for the next call that reads the time; the time stands still."""
        self.error = error
        return self.last

    def check(self) -> None:
        """Raises what the clock raised."""
        error, self.error = self.error, None
        if error is not None:
            raise error


class Observers:
    """The one observer that the library has; it hands events to any number of them."""

    def __init__(self) -> None:
        self.functions: tuple[Callable[[Event], object], ...] = ()

    def event(self, address: int) -> None:
        """The library tells of a change."""
        found = read_event(address)
        for function in self.functions:
            try:
                function(found)
            except Exception:
                log.exception("an observer raised")


class Engine:
    """The inside of a scheduler. Nothing that lives in it refers to the Scheduler."""

    def __init__(self, clock: Clock | None, fast_calls: bool, executor: Executor | None, max_left: int) -> None:
        self.handle = 0
        self.pid = os.getpid()
        self.closed = False
        #: Whether the exit of the interpreter closed it.
        self.exiting = False
        self.clock = clock
        #: Without a file no call waits for anything: they keep the interpreter's lock, which is faster.
        self.calls = fast if fast_calls else library
        self.executor = executor
        self.workers = Workers()
        self.max_left = max_left
        #: Workers that are still in handlers whose cycle is over.
        self.left = 0
        self.runs: dict[int, Run] = {}
        self.handlers: dict[bytes, Handler] = {}
        self.drives: set[Drive | AsyncDrive] = set()
        self.drivers: set[Driver] = set()
        self.pushed_exceptions: dict[int, BaseException] = {}
        self.observers = Observers()
        self.observing = False
        #: Streams of events, which end with the scheduler.
        self.mailboxes: set[Mailbox] = set()
        #: Guards handlers, observers and `left`; notified when anything changed that a driver waits for.
        self.changed = threading.Condition()
        self.changes = 0

    # ---- statuses -------------------------------------------------------------

    def check(self, status: int) -> None:
        """Raises the exception of a status unless it is OK."""
        if status:
            raise self.error(status)

    def error(self, status: int) -> SeleneError:
        """The exception of a status; Closed where that is why."""
        if status == _raw.SELENE_ERROR_INVALID_HANDLE and self.closed:
            return closed()
        return error_of(status)

    def park_at_exit(self) -> None:
        """A daemon thread that the exit has closed the scheduler under waits for the end, which is near.

        It holds no lock, and would only print a traceback.
        """
        if self.exiting and threading.current_thread().daemon:
            threading.Event().wait()

    def now_ns(self) -> int:
        """Scheduler time."""
        out = ctypes.c_int64()
        self.check(self.calls.selene_scheduler_now(self.handle, ctypes.byref(out)))
        if self.clock is not None:
            self.clock.check()
        return out.value

    def next_wakeup(self) -> tuple[int, int]:
        """When it is worth opening the next window, as an instant and as a delay; SELENE_NEVER if nobody knows."""
        at, delay = ctypes.c_int64(), ctypes.c_int64()
        status = self.calls.selene_scheduler_next_wakeup(self.handle, ctypes.byref(at), ctypes.byref(delay))
        self.check(status)
        return at.value, delay.value

    # ---- runs -----------------------------------------------------------------

    def complete(self, run: Run, outcome: int, delay: int | None = None) -> None:
        """Gives a run's outcome; raises what the library answers."""
        status = self._complete(run, outcome, delay)
        if status:
            raise self.error(status)

    def complete_quietly(self, run: Run, outcome: int, delay: int | None = None) -> None:
        """The same where the run may have been over before."""
        if not run._completed:
            status = self._complete(run, outcome, delay)
            if status and status not in _OVER:
                if delay is not None and status == _raw.SELENE_ERROR_INVALID_ARGUMENT:
                    self.complete_quietly(run, outcome)
                raise self.error(status)

    def _complete(self, run: Run, outcome: int, delay: int | None) -> int:
        token = run.token
        if delay is None:
            status: int = self.calls.selene_run_complete(token, outcome)
        else:
            status = self.calls.selene_run_retry(token, delay)
        if not status or status in _OVER:
            run._completed = True
            self.runs.pop(token, None)
            if run._event is not None:
                run._event.set()
            if run._came_back is not None:
                run._came_back()
        return status

    def stopping(self, run: Run) -> int:
        """The engine's reason to stop a run; 0 for none."""
        reason = ctypes.c_int32()
        status = fast.selene_run_stopping(run.token, ctypes.byref(reason))
        return 0 if status else reason.value

    def remaining(self, run: Run) -> int:
        """Nanoseconds until a run is asked to stop."""
        if run._stop:
            return 0
        left = ctypes.c_int64()
        status = fast.selene_run_remaining(run.token, ctypes.byref(left))
        return 0 if status else left.value

    def wait_for_stop(self, run: Run, event: threading.Event, left: int | None) -> bool:
        """Waits until a run is asked to stop; on a virtual clock by advancing it."""
        if self.clock is not None:
            if self.clock.virtual is not None:
                remaining = self.remaining(run)
                self.clock.virtual.advance_ns(remaining if left is None else min(left, remaining))
            return run._ask() != 0
        until = None if left is None else _NOW() + left
        while True:
            # Nobody else may be there to notice the expiry: ask again when it has come.
            pause = self.remaining(run) or SECOND
            if until is not None:
                pause = min(pause, until - _NOW())
            if pause > 0 and event.wait(min(pause, SECOND) / SECOND) and run._completed:
                return run._ask() != 0
            if run._ask():
                return True
            if until is not None and _NOW() >= until:
                return False

    def forget_pushed(self, report: Report) -> None:
        """What a pushed cycle's report holds is needed no longer."""
        for run in report.runs:
            self.pushed_exceptions.pop(run.run, None)

    # ---- threads --------------------------------------------------------------

    def submit(self, job: Job) -> None:
        """Runs a job on a worker or on the executor."""
        if self.executor is None:
            self.workers.submit(job)
        else:
            self.executor.submit(job)

    def inside_handler(self) -> bool:
        """Whether this thread is in a handler of this scheduler."""
        me = threading.get_ident()
        return any(lane.thread == me and lane.inside for drive in tuple(self.drives) for lane in tuple(drive.lanes))

    def poke(self) -> None:
        """Something changed that drivers and waiting lanes want to know."""
        self.changes += 1
        for drive in tuple(self.drives):
            if drive.waiting:
                drive.wake()
        if self.drivers or self.closed:
            with self.changed:
                self.changed.notify_all()
            for driver in tuple(self.drivers):
                driver.wake()

    # ---- end ------------------------------------------------------------------

    def close(self, grace: int) -> None:
        """Stops runs, waits up to so many ns for handlers to return, ends."""
        if self.closed:
            return
        if self.pid != os.getpid():  # a child's copy: the scheduler is the parent's
            self.closed = True
            return
        if self.inside_handler():
            raise Reentrant(_raw.SELENE_ERROR_REENTRANT, "REENTRANT", "close() inside a handler of this scheduler")
        until = _NOW() + grace
        self.closed = True
        status = library.selene_scheduler_close(self.handle, grace)
        if status:
            self.closed = False
            raise error_of(status)
        _engines.discard(self)
        for drive in tuple(self.drives):
            drive.closed()
        with self.changed:
            while any(lane.inside for drive in tuple(self.drives) for lane in tuple(drive.lanes)) or self.left:
                rest = until - _NOW()
                if rest <= 0 or not self.changed.wait(rest / SECOND):
                    break
        self.workers.close()
        for box in tuple(self.mailboxes):
            box.close()
        self.poke()

    def drop(self) -> None:
        """Ends what nobody refers to any more."""
        try:
            self.close(0)
        except SeleneError:
            pass


def closed() -> Closed:
    """The exception of a use after close."""
    return Closed(_raw.SELENE_ERROR_INVALID_HANDLE, "INVALID_HANDLE", "the scheduler is closed")


#: All that are open, to be closed before the interpreter goes.
_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


def open_engine(engine: Engine, options: _raw.selene_options) -> None:
    """Opens the library's scheduler."""
    if engine.clock is not None:
        options.clock = _callbacks.clock
        options.clock_context = _callbacks.hold(engine.clock)
        options.clock_destroy = _callbacks.destroy
    handle = ctypes.c_uint64()
    status = library.selene_scheduler_open(ctypes.byref(options), ctypes.byref(handle))
    if status:
        raise error_of(status)
    engine.handle = handle.value
    _engines.add(engine)


#: How long the exit waits for handlers; what takes longer is left to end with the process.
_EXIT_GRACE = SECOND


def _close_all() -> None:
    for engine in list(_engines):
        try:
            engine.exiting = True
            engine.close(_EXIT_GRACE)
        except BaseException:
            log.exception("a scheduler could not be closed at exit")


atexit.register(_close_all)


def _after_fork() -> None:
    # Threads of the parent may have held these; nobody holds them here.
    for engine in list(_engines):
        engine.changed = threading.Condition()
        engine.workers = Workers()
        engine.drives.clear()
        engine.drivers.clear()
        engine.left = 0
    _engines.clear()


os.register_at_fork(after_in_child=_after_fork)
