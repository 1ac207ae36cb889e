"""What a Scheduler owns: the library's handle, runs in flight, workers. Apart from it, so that it can be collected."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, Protocol

from . import _callbacks, _log, _raw
from ._calendars import Calendars, Record
from ._callbacks import caught, kept, log, raise_kept, take_kept
from ._errors import Closed, Reentrant, SeleneError
from ._event import Event, Mailbox, read_event
from ._handler import Handler
from ._library import error_of, fast, library, out_pointer, read
from ._listen import Listening
from ._output import Output
from ._profile import Profile
from ._roles import Opening, Pulling
from ._run import Latch, Run
from ._time import MILLISECOND, SECOND
from ._workers import Job, Workers

#: What a completion answers whose run was over before.
_OVER = (_raw.SELENE_ERROR_STALE_RUN, _raw.SELENE_ERROR_ALREADY_COMPLETED, _raw.SELENE_ERROR_INVALID_HANDLE)
_NOW = time.monotonic_ns
_FOR_EVER = 100 * 365 * 86_400 * SECOND
#: Runs that may be on their way to their workers, and more.
_EARLY = 1_000


class Clock:
    """A clock of the host's own, as the library calls it: never back, and without exceptions."""

    def __init__(self, function: Callable[[], int], virtual: Any) -> None:
        self.function = function
        #: The VirtualClock, which stands still until a wait advances it; None for a clock that goes on by itself.
        self.virtual = virtual
        self.last = 0
        self.error: BaseException | None = None

    def read(self) -> int:
        """The present in nanoseconds."""
        now = self.function()
        if isinstance(now, bool) or not isinstance(now, int):
            raise TypeError(f"the clock must give nanoseconds as an int, not {type(now).__name__}")
        if not -(1 << 63) <= now < 1 << 63:
            raise ValueError(f"the clock gave {now}; allowed: nanoseconds in 64 bits")
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
        #: By subscription.
        self.functions: dict[object, Callable[[Event], object]] = {}
        #: Called when the clock of the system was set.
        self.clock_was_set: Callable[[], None] | None = None

    def event(self, address: int) -> None:
        """The library tells of a change."""
        if self.clock_was_set is not None:
            raw = _raw.selene_event.from_address(address)
            if raw.type == _raw.SELENE_EVENT_TROUBLE and raw.detail == _raw.SELENE_TROUBLE_CLOCK:
                self.clock_was_set()
            if not self.functions:
                return
        found = read_event(address)
        for function in tuple(self.functions.values()):
            try:
                function(found)
            except BaseException as error:
                caught(error, "an observer raised")


class Stepped(Protocol):
    """What an event loop steps for a scheduler."""

    def scheduler_is_over(self) -> None:
        """There is nothing more to step; from any thread."""


class Engine:
    """The inside of a scheduler. Nothing that lives in it refers to the Scheduler."""

    def __init__(self, clock: Clock | None, fast_calls: bool, executor: Executor | None) -> None:
        self.handle = 0
        self.pid = os.getpid()
        self.closed = False
        #: Whether a thread closes it and waits for what runs.
        self.closing = False
        #: Until when, at most, by the monotonic clock.
        self.closes_by = 0
        #: Whether another process has the scheduler, and this is a connection to it.
        self.connected = False
        #: Whether the exit of the interpreter closed it.
        self.exiting = False
        #: What is to be told when it is over: servers that a loop steps.
        self.stepped: weakref.WeakSet[Stepped] = weakref.WeakSet()
        #: Threads that wait for cycles here.
        self.waiters: set[int] = set()
        self.clock = clock
        #: The ToldClock, for which threads wait as for the system's.
        self.told: Any = None
        #: Whether only the host's own code lets time pass; any other clock goes on by itself.
        self.stands_still = clock is not None and clock.virtual is not None
        #: Without a file no call waits for anything: they keep the interpreter's lock, which is faster.
        self.calls = fast if fast_calls else library
        self.executor = executor
        self.workers = Workers()
        self.runs: dict[int, Run] = {}
        #: Reasons to stop runs that have not been entered yet.
        self.early_stops: dict[int, int] = {}
        #: Threads and coroutines that are in handlers, but for those of lanes.
        self.threads: set[int] = set()
        self.coroutines: set[asyncio.Task[Any]] = set()
        self.handlers: dict[bytes, Handler] = {}
        #: What is to be around each handler's function; None: nothing.
        self.wrap: Callable[[Callable[[Run], Any]], Callable[[Run], Any]] | None = None
        self.drives: set[Pulling] = set()
        #: What handlers raised in cycles of the library's own threads, by cycle and run.
        self.pushed: dict[int, dict[int, BaseException]] = {}
        self.pushing = 0
        self.observers = Observers()
        self.observing = False
        #: Whether the library hands its events to `observers`.
        self.hears = False
        #: What reads the events of a connection.
        self.listening = Listening()
        #: The driver that is open.
        self.driver: Opening | None = None
        #: Streams of events, which end with the scheduler.
        self.mailboxes: set[Mailbox] = set()
        #: The tasks that are due by calendars.
        self.calendars = Calendars(self, self._look)
        #: What the governor was told to demand; the library does not give it back.
        self.profile = Profile()
        #: That of the fleet which its tasks come from, in quotes.
        self.fleet_schema = ""
        #: Ends the worker of a fleet within a number of ns, while there is one.
        self.leave_fleet: Callable[[int], None] | None = None
        #: Guards handlers and observers; notified when a thread has come back that the end waits for.
        self.changed = threading.Condition()

    # ---- statuses -------------------------------------------------------------

    def check(self, status: int) -> None:
        """Raises the exception of a status unless it is OK; before it what a callback raised to end the process."""
        if kept:
            raise_kept()
        if status:
            raise self.error(status)

    def error(self, status: int) -> SeleneError:
        """The exception of a status; Closed where that is why."""
        if self.closed and status in (_raw.SELENE_ERROR_INVALID_HANDLE, _raw.SELENE_ERROR_UNAVAILABLE):
            return closed()
        return error_of(status)

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """While a thread or its event loop waits for cycles: the exit of the interpreter lets it get out of the way.

        A daemon thread that the exit has closed the scheduler under then waits for the end, which is near: it would
        only print a traceback, and an interpreter that goes while a thread comes back may crash.
        """
        thread = threading.get_ident()
        with self.changed:
            is_first = thread not in self.waiters
            self.waiters.add(thread)
        try:
            yield
        finally:
            parks = self.exiting and threading.current_thread().daemon
            if is_first or parks:
                with self.changed:
                    self.waiters.discard(thread)
                    self.changed.notify_all()
            if parks:
                threading.Event().wait()

    def settle(self, until: int) -> None:
        """At exit: until who waited, the driver and workers are out of the way, but for those that are in handlers."""
        with self.changed:
            while self.waiters - self._threads() and (rest := until - _NOW()) > 0:
                self.changed.wait(rest / SECOND)
        if self.driver is not None:
            self.driver.join(until)
        self.workers.join(until, self._threads())

    def now_ns(self) -> int:
        """Scheduler time."""
        out = ctypes.c_int64()
        self.check(self.calls.selene_scheduler_now(self.handle, ctypes.byref(out)))
        if self.clock is not None:
            self.clock.check()
        return out.value

    def present_ns(self) -> int:
        """The same for one who must not wait: a connection has this machine's, as its owner may be away."""
        return time.time_ns() if self.connected else self.now_ns()

    def next_wakeup(self) -> tuple[int, int]:
        """When it is worth opening the next window, as an instant and as a delay; SELENE_NEVER if that is not known."""
        at, delay = ctypes.c_int64(), ctypes.c_int64()
        status = self.calls.selene_scheduler_next_wakeup(self.handle, ctypes.byref(at), ctypes.byref(delay))
        self.check(status)
        return at.value, delay.value

    # ---- runs -----------------------------------------------------------------

    def complete(self, run: Run, outcome: int, delay: int | None = None, why: bytes = b"") -> None:
        """Gives a run's outcome, and why it failed; raises what the library answers."""
        self.check(self._complete(run, outcome, delay, why))

    def complete_quietly(self, run: Run, outcome: int, delay: int | None = None, why: bytes = b"") -> None:
        """The same where the run may have been over before; where its owner is away the next one is told (L10)."""
        if not run._completed:
            status = self._complete(run, outcome, delay, why)
            if status == _raw.SELENE_ERROR_OWNER_AWAY:
                self._forget(run)
            elif status and status not in _OVER:
                if delay is not None and status == _raw.SELENE_ERROR_INVALID_ARGUMENT:
                    self.complete_quietly(run, outcome, None, why)
                raise self.error(status)

    def _complete(self, run: Run, outcome: int, delay: int | None, why: bytes) -> int:
        token = run.token
        if delay is None and not why:
            status: int = self.calls.selene_run_complete(token, outcome)
        else:
            status = self.calls.selene_run_fail(token, outcome, -1 if delay is None else delay, why, len(why))
        if not status or status in _OVER:
            self._forget(run)
        return status

    def _forget(self, run: Run) -> None:
        run._completed = True
        self.runs.pop(run.token, None)
        if run._latch is not None:
            run._latch.open()
        if run._came_back is not None:
            run._came_back()

    def enter(self, run: Run) -> None:
        """A run was dispatched: from now on it is told when it should stop. Lane does the same in line."""
        handler = self.handlers.get(run._handler)
        if handler is not None:
            run._on_stop = handler.on_stop
        run._taker = threading.get_ident()
        self.runs[run.token] = run
        if self.calendars.entries:
            self.calendars.dispatched(run._key)
        if self.early_stops:
            self.tell_early(run)

    def leave(self, cycle: int) -> None:
        """A cycle is over, and with it its runs, which are not stopped any more."""
        for token, run in tuple(self.runs.items()):
            if run.cycle_token == cycle:
                run._window_is_over = True
                # Of a connection another thread hears of stops, which may come after the report.
                if run._stop or not self.connected:
                    self.runs.pop(token, None)

    def tell_early(self, run: Run) -> None:
        """Tells a run what was said before it was entered."""
        reason = self.early_stops.pop(run.token, None)
        if reason is not None:
            run._asked_to_stop(reason)

    def stop(self, token: int, reason: int) -> None:
        """The library asks a run to stop; it may be on its way from the dispatch to `enter`."""
        run = self.runs.get(token)
        if run is None:
            early = self.early_stops
            early[token] = reason
            run = self.runs.get(token)
            if run is not None:
                self.tell_early(run)
            elif len(early) > _EARLY:  # the oldest were over when they were stopped
                early.pop(next(iter(early)), None)
            return
        run._asked_to_stop(reason)
        if run._window_is_over:
            self.runs.pop(token, None)

    def stopping(self, run: Run) -> int:
        """The engine's reason to stop a run; 0 for none."""
        reason = ctypes.c_int32()
        # What goes over a socket does not keep the interpreter's lock: the owner may be this process.
        calls = library if self.connected else fast
        status = calls.selene_run_stopping(run.token, ctypes.byref(reason))
        return 0 if status else reason.value

    def remaining(self, run: Run) -> int:
        """Nanoseconds until a run is asked to stop."""
        if run._stop:
            return 0
        left = ctypes.c_int64()
        status = (library if self.connected else fast).selene_run_remaining(run.token, ctypes.byref(left))
        return 0 if status else left.value

    def over_at(self, run: Run) -> int:
        """When a run that was asked to stop is over at the latest; 0 where it is."""
        info = ctypes.POINTER(_raw.selene_run_info)()
        if self.calls.selene_run_get(run.token, ctypes.byref(info)):
            return 0
        deadline: int = info.contents.deadline
        self.calls.selene_free(info)
        return deadline

    def progress(self, run: Run, done: int, total: int, text: bytes) -> None:
        """Tells how far a run has come; of one that is over, nothing."""
        status = self.calls.selene_run_progress(run.token, done, total, text, len(text))
        if status and status not in _OVER:
            raise self.error(status)

    def set_output(self, run: Run, data: bytes) -> None:
        """Says what a run leaves; of one that is over, nothing."""
        status = self.calls.selene_run_set_output(run.token, data, len(data))
        if status and status not in _OVER:
            raise self.error(status)

    def output(self, key: bytes) -> Output:
        """What the last success of a task left."""
        address, target = out_pointer(_raw.selene_task_output)
        self.check(library.selene_task_get_output(self.handle, key, len(key), ctypes.byref(target)))
        try:
            _, _, data, length = read(_raw.selene_task_output, address.value or 0)
            return Output(ctypes.string_at(data, length))
        finally:
            fast.selene_free(target)

    def fleet_key(self, run: Run) -> tuple[int, int]:
        """What a run, and its task, are in their fleet."""
        fence, task = ctypes.c_int64(), ctypes.c_int64()
        self.check(self.calls.selene_run_fence(run.token, ctypes.byref(fence), ctypes.byref(task)))
        return fence.value, task.value

    def decided_by_host(self, run: Run) -> None:
        """The host tells the fleet itself how a run ends."""
        self.check(self.calls.selene_run_decided_by_host(run.token))

    def set_next(self, key: bytes, at: int) -> None:
        """Says when a task is due next."""
        self.check(self.calls.selene_task_set_next(self.handle, key, len(key), at))

    @property
    def has_own_clock(self) -> bool:
        """Whether scheduler time is the host's: asked of it, or moved by its tests."""
        return self.clock is not None or self.told is not None

    def _look(self, key: bytes) -> Record:
        """What a calendar must know of a task."""
        info = ctypes.POINTER(_raw.selene_task_info)()
        self.check(self.calls.selene_task_get(self.handle, key, len(key), 0, ctypes.byref(info)))
        try:
            raw = info.contents
            runs = raw.state == _raw.SELENE_STATE_RUNNING
            return Record(raw.earliest_begin, raw.last_run, raw.attempts, runs)
        finally:
            self.calls.selene_free(info)

    def wait_for_stop(self, run: Run, latch: Latch, left: int | None) -> bool:
        """Waits until a run is asked to stop; on a virtual clock by advancing it."""
        if self.clock is not None and self.clock.virtual is not None:
            remaining = self.remaining(run)
            self.clock.virtual.advance_ns(remaining if left is None else max(0, min(left, remaining)))
            return run._ask() != 0
        if self.told is not None:
            reason = ctypes.c_int32()
            status = library.selene_run_sleep(
                run.token, _FOR_EVER if left is None else max(left, 0), ctypes.byref(reason)
            )
            return run._ask() != 0 if status == _raw.SELENE_OK else True
        until = None if left is None else _NOW() + left
        while True:
            # No other thread may be there to notice the expiry: ask again when it has come.
            pause = self.remaining(run) or SECOND
            if until is not None:
                pause = min(pause, until - _NOW())
            if pause > 0 and latch.wait(min(pause, SECOND) / SECOND) and run._completed:
                return run._ask() != 0
            if run._ask():
                return True
            if until is not None and _NOW() >= until:
                return False

    @contextlib.contextmanager
    def push(self) -> Iterator[None]:
        """While a cycle runs on the library's threads; several may wait for one: what it leaves goes with the last."""
        with self.changed:
            self.pushing += 1
        try:
            yield
        finally:
            with self.changed:
                self.pushing -= 1
                if not self.pushing:
                    self.pushed.clear()

    def pushed_exceptions(self, report: int) -> dict[int, BaseException]:
        """What handlers raised in the cycle of the library's report at an address."""
        return self.pushed.get(_raw.selene_report.from_address(report).cycle, {})

    # ---- threads --------------------------------------------------------------

    def submit(self, job: Job, on_worker: bool = False) -> None:
        """Runs a job on the executor, if there is one, or on a worker."""
        pool = self.workers if on_worker or self.executor is None else self.executor
        try:
            pool.submit(job)
        except RuntimeError as error:
            # Both may be refused before what closes the engines is called; an executor that its owner shut down says so
            # in other words.
            self.exiting = self.exiting or "interpreter shutdown" in str(error)
            raise

    def _threads(self) -> set[int]:
        """Those that are in handlers."""
        lanes = [lane for drive in tuple(self.drives) for lane in tuple(drive.lanes)]
        return {lane.thread for lane in lanes if lane.inside} | self.threads

    def refuse_in_handler(self, what: str) -> None:
        """Reentrant where a handler of this scheduler, function or coroutine, calls what may wait for its own end."""
        inside = threading.get_ident() in self._threads()
        if not inside and self.coroutines:
            with contextlib.suppress(RuntimeError):  # this thread has no event loop
                inside = asyncio.current_task() in self.coroutines
        if inside:
            text = f"{what} inside a handler of this scheduler"
            raise Reentrant(_raw.SELENE_ERROR_REENTRANT, "REENTRANT", text)

    def came_back(self) -> None:
        """A thread has left its handler, or the end has come."""
        if self.closed:
            with self.changed:
                self.changed.notify_all()

    # ---- end ------------------------------------------------------------------

    def drain(self, grace: int) -> bool:
        """Dispatches nothing more; whether nothing runs after a number of ns, in which signals are handled."""
        if grace:
            self.refuse_in_handler("drain() with a grace")
        until = _NOW() + grace
        while True:
            left = until - _NOW()
            # What is left may be shorter than a grace may be.
            part = max(_raw.SELENE_MILLISECOND, min(left, SECOND // 10)) if left > 0 else min(grace, 0)
            status = library.selene_scheduler_drain(self.handle, part)
            if status != _raw.SELENE_ERROR_BUSY:
                self.check(status)
                return True
            if left <= 0:
                return False
            if self.clock is not None:  # with a clock of the host's it does not wait in there
                time.sleep(min(left, SECOND // 100) / SECOND)

    async def drain_async(self, grace: int) -> bool:
        """The same without blocking the event loop, whose coroutines may be what runs."""
        if grace:
            self.refuse_in_handler("drain_async() with a grace")
        until = _NOW() + grace
        while not self.drain(0):
            left = until - _NOW()
            if left <= 0:
                return False
            await asyncio.sleep(min(left, SECOND // 100) / SECOND)
        return True

    def close(self, grace: int) -> None:
        """Lets what runs complete, for a number of ns, stops what is left, waits for its handlers, ends."""
        was_closed = self.closed
        try:
            if not self._begins_to_close("close()", grace):
                return
            ended = self._close_apart(grace) if self._may_wait_apart(grace) else None
            error = self._close(grace) if ended is None else ended.result()
        except BaseException:  # a signal just before the call, which must be made, or while it waits, or just after it
            if self.closed and not was_closed and self.pid == os.getpid():
                self._close_at_once()
            raise
        self._accept(error)
        try:
            self._wake_who_waits()
            with self.changed:
                while self._threads():
                    rest = self.closes_by - _NOW()
                    if rest <= 0 or not self.changed.wait(rest / SECOND):
                        break
        finally:
            self._let_go()
        raise_kept()

    async def close_async(self, grace: int) -> None:
        """The same without blocking the event loop, whose coroutines may be what runs."""
        was_closed = self.closed
        try:
            if not self._begins_to_close("close_async()", grace):
                return
            ended = self._close_apart(grace)
            error = self._close(grace) if ended is None else await asyncio.wrap_future(ended)
        except BaseException:
            if self.closed and not was_closed and self.pid == os.getpid():
                self._close_at_once()
            raise
        self._accept(error)
        self._let_go()
        raise_kept()

    def _begins_to_close(self, what: str, grace: int) -> bool:
        """Whether this call is the one that closes; another one with less grace comes before one that waits."""
        if self.closed:
            if self.closing and self.pid == os.getpid():
                self.closes_by = min(self.closes_by, _NOW() + grace)
                self._close(grace)
            return False
        if self.pid != os.getpid():  # a child's copy: the scheduler is the parent's
            self.closed = True
            return False
        self.refuse_in_handler(what)
        self.closes_by = _NOW() + grace
        self.closing = self.closed = True
        return True

    def _may_wait_apart(self, grace: int) -> bool:
        """Whether a worker may wait instead, so that this thread handles signals: it waits for its runs, too."""
        if grace <= 0 or threading.current_thread() is not threading.main_thread():
            return False
        return not self._pulls_here()

    def _pulls_here(self) -> bool:
        """Whether this thread has runs that it took itself, which end after the call only."""
        mine = threading.get_ident()
        return any(run._taker == mine for run in tuple(self.runs.values()))

    def _close_apart(self, grace: int) -> Future[SeleneError | None] | None:
        """Closes on a worker; None where no thread can be had any more."""
        ended: Future[SeleneError | None] = Future()
        waiting = threading.get_ident()

        def close() -> None:
            try:
                error = self._close(grace)
                raised = take_kept()
                if raised is not None:
                    kept[waiting] = raised
                ended.set_result(error)
            except BaseException as failure:
                ended.set_exception(failure)

        try:
            self.workers.submit(close)
        except RuntimeError:
            return None
        return ended

    def _close(self, grace: int) -> SeleneError | None:
        if self.leave_fleet is not None and self.closing:
            begun = _NOW()
            # Else what it runs would wait for the end of its lease.
            self.leave_fleet(0 if self._pulls_here() else grace)
            # Shorter ones are refused.
            left = grace - (_NOW() - begun)
            grace = left if left >= MILLISECOND else 0
        status = library.selene_scheduler_close(self.handle, grace)
        self.closing = False
        # Another thread may have done it, with less grace.
        return error_of(status) if status and status != _raw.SELENE_ERROR_INVALID_HANDLE else None

    def _close_at_once(self) -> None:
        self._close(0)
        self._let_go()

    def _accept(self, error: SeleneError | None) -> None:
        if error is not None:
            self.closed = False
            raise error

    def _wake_who_waits(self) -> None:
        for drive in tuple(self.drives):
            drive.tell()
        if self.driver is not None:
            self.driver.closed()

    def _let_go(self) -> None:
        _engines.discard(self)
        self._wake_who_waits()
        self.workers.close()
        for server in tuple(self.stepped):
            server.scheduler_is_over()
        for box in tuple(self.mailboxes):
            box.close()
        self.came_back()

    def drop(self) -> None:
        """Closes what is not referred to any more."""
        try:
            self.close(0)
        except SeleneError:
            pass


def closed() -> Closed:
    """The exception of a use after close."""
    return Closed(_raw.SELENE_ERROR_INVALID_HANDLE, "INVALID_HANDLE", "the scheduler is closed")


#: All that are open, to be closed before the interpreter goes.
_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


def keep_engine(engine: Engine, handle: int) -> None:
    """An engine has its handle, which is closed at exit at the latest."""
    engine.handle = handle
    _engines.add(engine)


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
    keep_engine(engine, handle.value)
    if engine.clock is not None:
        try:
            engine.clock.check()
        except BaseException:
            engine.close(0)
            raise


#: How long the exit waits for handlers, and then for threads; what takes longer is left to end with the process.
_EXIT_GRACE = SECOND


def _close_all() -> None:
    for engine in list(_engines):
        try:
            engine.exiting = True
            engine.close(_EXIT_GRACE)
            engine.settle(_NOW() + _EXIT_GRACE)
        except BaseException:
            log.exception("a scheduler could not be closed at exit")


# What is done at exit goes backwards: what the library says of that close is heard, too.
_log.listen()
atexit.register(_close_all)


def _after_fork() -> None:
    # Threads of the parent may have held these; no thread holds them here.
    for engine in list(_engines):
        engine.changed = threading.Condition()
        # Where a worker forked, it is the only thread here: it ends behind its handler, and the process with it.
        engine.workers.close()
        engine.workers = Workers(engine.workers.begin)
        for drive in engine.drives:
            drive.forked()
        engine.drives.clear()
        engine.driver = None
        engine.waiters.clear()
    _engines.clear()


os.register_at_fork(after_in_child=_after_fork)
