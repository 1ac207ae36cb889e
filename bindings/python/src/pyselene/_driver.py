"""The driver: acts as the system scheduler, which opens windows when the governor grants them."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import select
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self, TypeAlias

from . import _raw
from ._callbacks import log, raise_kept, take_kept
from ._cycle import Cycle, end, granted
from ._drive import Drive
from ._drive_async import AsyncDrive
from ._errors import Closed, InvalidHandle, OwnerAway, SeleneError, StaleRun, StoreFull, StoreIO
from ._library import library
from ._names import above_zero, whole
from ._report import Report
from ._run import Kind
from ._time import SECOND, Duration, duration_ns, maybe_instant, never_is_none, seconds

if TYPE_CHECKING:
    from ._engine import Engine

#: How long what runs may take when a driver is stopped, unless it is told otherwise.
STOP_GRACE = 5 * SECOND

#: What a window of a connection ends with where the owner has gone, or another has come.
LOST = (OwnerAway, Closed, StaleRun, InvalidHandle)
#: What a store answers until its disk takes something again.
REFUSED = (StoreFull, StoreIO)

#: What is called with each report that has runs.
OnReport: TypeAlias = Callable[[Report], object]


def usual_budget(kind: Kind) -> float:
    """Seconds of a driver's window for a kind, where nobody has said any."""
    return 30 if kind is Kind.REFRESH else 600


def _budget_ns(budget: Duration | None, what: str) -> int:
    # 0 is that nobody has decided a deadline.
    return 0 if budget is None else above_zero(duration_ns(budget, what), what, "1 ms … 24 h, or None")


def raw_driver(
    refresh_budget: Duration | None, processing_budget: Duration | None, refresh_lanes: int, processing_lanes: int
) -> _raw.selene_driver:
    """The library's structure of a driver."""
    raw = _raw.selene_driver()
    raw.struct_size = ctypes.sizeof(raw)
    raw.refresh_budget = _budget_ns(refresh_budget, "refresh_budget")
    raw.processing_budget = _budget_ns(processing_budget, "processing_budget")
    raw.refresh_lanes = above_zero(whole(refresh_lanes, "refresh_lanes", 1 << 32), "refresh_lanes", "1 … 1024")
    raw.processing_lanes = above_zero(
        whole(processing_lanes, "processing_lanes", 1 << 32), "processing_lanes", "1 … 1024"
    )
    return raw


class Driver:
    """Asks the governor whenever something can run, and opens the windows that it grants; see Scheduler.driver().

    As a context it works by itself: `with` on a thread that Python owns, `async with` on the running event loop. With
    another loop call open(), wait until fileno() is readable, call step() until it gives no window, and close() it.

    On a clock of your own `with` starts no thread: call run_due(), and let time pass until wake_at.

    >>> import pyselene as selene
    >>> from pyselene.testing import VirtualClock
    >>> clock = VirtualClock()
    >>> scheduler = selene.Scheduler(clock=clock)
    >>> @scheduler.task(every=3600, delay=60)
    ... def sync(run): ...
    >>> with scheduler.driver() as driver:
    ...     before = driver.run_due()
    ...     clock.set(driver.wake_at)
    ...     after = driver.run_due()
    >>> len(before), [run.id for report in after for run in report.runs]
    (0, ['sync'])
    """

    def __init__(
        self, engine: Engine, raw: _raw.selene_driver, on_report: OnReport | None, scheduler: object = None
    ) -> None:
        self._engine = engine
        #: So that it lives, and is not closed, as long as its driver.
        self._scheduler = scheduler
        self._raw = raw
        # The most that the library grants; a lane that a window has not is refused by its cycle.
        self._window = _raw.selene_window()
        self._window.lanes = max(raw.refresh_lanes, raw.processing_lanes)
        self._on_report = on_report
        #: How long what runs may take when it is stopped.
        self._grace = STOP_GRACE
        self._is_open = False
        self._fd = self._bell = -1
        self._wake_at: int | None = None
        self._is_orphaned = False
        self._stopping = False
        self._error: BaseException | None = None
        #: Guards what is below; notified when it changes.
        self._changed = threading.Condition()
        self._drives: set[Drive | AsyncDrive] = set()
        self._thread: threading.Thread | None = None
        #: The thread that steps it for itself, whether that waits for something to do, and its windows so far.
        self._stepper: threading.Thread | None = None
        self._rests = False
        #: What ends the windows of a driver that is stopped when its grace is over by the system's clock.
        self._late: list[threading.Timer] = []
        self._opened_windows = self._seen_windows = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news: asyncio.Event | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # ---- by hand ----------------------------------------------------------------

    def open(self) -> None:
        """Opens it; from now on windows are booked. Busy: another driver is open."""
        if not self._is_open:
            self._open()

    def _open(self) -> None:
        engine = self._engine
        fd = ctypes.c_int32()
        try:
            engine.check(library.selene_driver_open(engine.handle, ctypes.byref(self._raw), ctypes.byref(fd)))
        except OwnerAway as away:
            # What an owner may have opened went with it: the next one is asked.
            if not away.in_doubt:
                raise
            self._open()
            return
        # A copy of its own: the library may close the descriptor while a thread waits for it.
        self._fd = os.dup(fd.value)
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._is_open, self._stopping, self._error = True, False, None
        engine.driver = self

    def fileno(self) -> int:
        """A descriptor that becomes readable when step() has something to do; wait for it only, never read it.

        On a clock of your own it does not follow time.
        """
        if not self._is_open:
            raise ValueError("the driver is not open")
        return self._fd

    def step(self) -> Cycle | None:
        """Does what is due: gives a window that was granted, to be pulled and ended; None: none now. Never blocks.

        Also while a window is open: it is what notices that the system raises a veto, which stops runs.
        """
        token = self._step()
        return Cycle(self._engine, token) if token else None

    @property
    def wake_at_ns(self) -> int | None:
        """When to step again even if the descriptor stays silent, as the last step said; None: not before."""
        return self._wake_at

    @property
    def wake_at(self) -> datetime | None:
        """The same as a datetime, rounded up to a microsecond."""
        return maybe_instant(None if self._wake_at is None else self._wake_at + 999)

    def run_due(self) -> list[Report]:
        """Opens what is granted now, one window after another, runs it on this thread, and gives the reports.

        Reentrant: inside a handler.
        """
        self._engine.refuse_in_handler("run_due()")
        reports = []
        while token := self._step():
            with self._engine.waiting():
                reports.append(self._drive(token, inline=True).run())
            self._tell(reports[-1])
        return reports

    def budget(self, kind: Kind) -> float:
        """Seconds for which the windows pick that it opens for a kind."""
        said = self._raw.refresh_budget if kind is Kind.REFRESH else self._raw.processing_budget
        return seconds(said) if said else usual_budget(kind)

    @property
    def running(self) -> bool:
        """Whether it opens windows: it is open, was not told to stop, and no error has ended it."""
        return self._is_open and not self._stopping

    @property
    def error(self) -> BaseException | None:
        """What ended it before it was told to stop; None: nothing did. close() and the end of `with` raise it."""
        return self._error

    def stop(self) -> None:
        """Asks it to end, from any thread, also from a handler.

        No window is opened any more; what runs has 5 seconds, and is asked to stop in the last half second. close() and
        the end of `with` wait for that.
        """
        self._stop()
        raise_kept()

    def _stop(self) -> None:
        self._stopping = True
        with self._changed:
            drives = tuple(self._drives)
            self._changed.notify_all()
        self._end_windows(drives, self._grace)
        if self._engine.told is not None and drives:
            # A test may let its clock stand still: a grace ends by the system's clock, too.
            late = threading.Timer(self._grace / SECOND, self._end_windows, (drives, 0))
            late.daemon = True
            self._late.append(late)
            late.start()
        self._ring()

    @staticmethod
    def _end_windows(drives: Iterable[Drive | AsyncDrive], grace: int) -> None:
        for drive in drives:
            with contextlib.suppress(Closed):
                drive.stop_picking(grace)

    def close(self) -> None:
        """Ends it: stops, waits for what runs, and raises what ended it early, if anything did.

        Reentrant: inside a handler, for which it would wait.
        """
        if not self._is_open:
            return
        if self._engine.pid != os.getpid():  # a child's copy: windows and threads are the parent's
            self._shut()
            return
        self._engine.refuse_in_handler("close() of a driver, where stop() may be called,")
        self._stop()
        self._await_threads()
        self._shut()
        self._raise()

    def _await_threads(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._await_windows()

    def _await_windows(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._drives)

    def wait(self, timeout: Duration | None = None) -> bool:
        """Blocks until it is stopped or an error has ended it, at most for timeout; whether it has ended."""
        left = None if timeout is None else seconds(duration_ns(timeout, "timeout"))
        with self._changed:
            return self._changed.wait_for(lambda: self._stopping, left)

    # ---- on a thread ------------------------------------------------------------

    def __enter__(self) -> Self:
        has_thread = self._engine.clock is None
        self._loop = self._news = None
        self._raw.flags = _raw.SELENE_DRIVER_LANES if has_thread else 0
        self._open()
        if has_thread:
            self._start()
        return self

    def _start(self) -> None:
        self._thread = self._stepper = threading.Thread(target=self._follow, name="pyselene driver", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._shut()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except BaseException as error:
            if value is None:
                raise
            log.error("the driver ended early", exc_info=error)

    def _follow(self) -> None:
        try:
            self._open_windows()
        except BaseException as error:
            self._fail(error)

    def _open_windows(self) -> None:
        """Has each window worked on that is granted, and waits between them, until it is stopped."""
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._bell, select.POLLIN)
        self._stepper = threading.current_thread()
        try:
            while not self._stopping:
                try:
                    token = self._step()
                except REFUSED as error:
                    self._say_refused(error)
                    self._pause()
                    continue
                if token:
                    self._work_on(token)
                else:
                    self._rest(poll)
        finally:
            with self._changed:
                self._stepper = None
                self._changed.notify_all()

    def _say_refused(self, error: SeleneError) -> None:
        log.error("the driver waits for its store: %s", error)

    def _pause(self) -> None:
        """A second, or until it is stopped."""
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        poll.poll(1000)

    def _rest(self, poll: select.poll) -> None:
        """Until there may be something to do."""
        with self._changed:
            self._rests = True
            self._changed.notify_all()
        try:
            poll.poll()
        finally:
            self._rests = False

    def opens(self, patience: int) -> bool:
        """Waits, on a test's clock, until the thread that steps it has nothing to do; whether it has opened windows."""
        with self._changed:
            if self._stepper in (None, threading.current_thread()):
                return False
            poll = select.poll()
            for fd in (self._fd, self._bell):
                poll.register(fd, select.POLLIN)
            self._changed.wait_for(
                lambda: self._stepper is None or (self._rests and not poll.poll(0)), patience / SECOND
            )
            seen, self._seen_windows = self._seen_windows, self._opened_windows
            return seen != self._opened_windows

    def _work_on(self, token: int) -> None:
        """Has another thread work a window off."""
        drive = self._drive(token)
        self._add(drive)
        try:
            # Not on the host's executor, whose threads may be fewer than windows and lanes.
            self._engine.submit(lambda: self._work(drive), on_worker=True)
        except BaseException:
            self._remove(drive)
            end(self._engine, token, {})
            raise

    def _work(self, drive: Drive) -> None:
        try:
            self._run(drive)
        except BaseException as error:
            self._fail(error)

    def _drive(self, token: int, inline: bool = False) -> Drive:
        return Drive(self._engine, self._window, inline, token, self._loop if self._engine.connected else None)

    def _run(self, drive: Drive) -> Report | None:
        """Works a window off; its report, unless other code has ended it."""
        with self._driving(drive) as reports:
            reports.append(drive.run())
        return next(iter(reports), None)

    # ---- on an event loop -------------------------------------------------------

    async def __aenter__(self) -> Self:
        if self._engine.clock is not None:
            raise ValueError("an event loop follows real time; on a clock of your own use `with` and run_due()")
        self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        self._raw.flags = _raw.SELENE_DRIVER_LANES
        if self._engine.connected:
            await self._enter_connected()
            return self
        self._open()
        self._watch()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._engine.pid != os.getpid():
            self._shut()
            return
        try:
            if self._engine.connected:
                await self._leave_connected()
            else:
                await self._leave_loop()
        finally:
            self._shut()
        try:
            self._raise()
        except BaseException as error:
            if value is None:
                raise
            log.error("the driver ended early", exc_info=error)

    async def _leave_loop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)
        self._stop()
        try:
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            for task in tuple(self._tasks):  # cancelled meanwhile: the windows end at once
                task.cancel()

    # Each call of a connection waits for the owner: threads make them, and the loop runs coroutines only.

    async def _enter_connected(self) -> None:
        opening = asyncio.ensure_future(asyncio.to_thread(self._open))
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(self._opened_in_vain)
            raise
        self._start()

    def _opened_in_vain(self, opening: asyncio.Future[None]) -> None:
        if not opening.cancelled() and opening.exception() is None:
            self._shut()

    async def _leave_connected(self) -> None:
        is_cancelled = False
        ending = asyncio.ensure_future(asyncio.to_thread(self._end_threads))
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:  # the windows end at once
                is_cancelled = True
                self._grace = 0
                asyncio.get_running_loop().run_in_executor(None, self._stop)
        ending.result()
        if is_cancelled:
            raise asyncio.CancelledError

    def _end_threads(self) -> None:
        self._stop()
        self._await_threads()

    async def wait_async(self) -> None:
        """Waits on the running event loop until it is stopped or an error has ended it."""
        while not self._stopping:
            assert self._news is not None
            await self._news.wait()

    def _watch(self) -> None:
        """Steps whenever the loop finds something to do."""
        assert self._loop is not None
        if self._is_open and not self._stopping:
            self._loop.add_reader(self._fd, self._ready)
            self._ready()

    def _ready(self) -> None:
        assert self._loop is not None
        try:
            while not self._stopping:
                token = self._step()
                if not token:
                    return
                self._begin_async(token)
        except REFUSED as error:
            self._say_refused(error)
            self._loop.remove_reader(self._fd)
            self._loop.call_later(1, self._watch)
        except BaseException as error:
            self._loop.remove_reader(self._fd)
            self._fail(error)

    def _begin_async(self, token: int) -> None:
        assert self._loop is not None
        drive = AsyncDrive(self._engine, self._window, token)
        self._add(drive)
        task = self._loop.create_task(self._work_async(drive), name="pyselene window")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work_async(self, drive: AsyncDrive) -> None:
        try:
            await self._run_async(drive)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._fail(error)
            if not isinstance(error, Exception):
                raise

    async def _run_async(self, drive: AsyncDrive) -> None:
        with self._driving(drive) as reports:
            reports.append(await drive.run())

    # ---- for all ----------------------------------------------------------------

    def _step(self) -> int:
        """A granted cycle's token, or 0."""
        if not self._is_open:
            raise ValueError("the driver is not open")
        cycle, wake_at = ctypes.c_uint64(), ctypes.c_int64()
        engine = self._engine
        calls = library if engine.clock is None else engine.calls
        status = calls.selene_driver_step(engine.handle, ctypes.byref(cycle), ctypes.byref(wake_at))
        if engine.connected and status == _raw.SELENE_ERROR_OWNER_AWAY:
            # The descriptor is readable again when it is worth another try.
            if not self._is_orphaned:
                log.warning("the driver waits for an owner: %s", engine.error(status))
            self._is_orphaned = True
            return 0
        token = granted(engine, status, cycle.value)
        if self._is_orphaned:
            log.warning("the driver has an owner again")
            self._is_orphaned = False
        self._wake_at = never_is_none(wake_at.value)
        return token

    @contextlib.contextmanager
    def _driving(self, drive: Drive | AsyncDrive) -> Iterator[list[Report]]:
        """While a window is worked off; hands out its report, which is lost if other code has ended the window."""
        reports: list[Report] = []
        self._add(drive)
        try:
            try:
                yield reports
            except LOST as error:
                if self._engine.closed:
                    raise self._engine.error(_raw.SELENE_ERROR_INVALID_HANDLE) from None
                if self._engine.connected:
                    # The next owner goes on with what it runs (L10).
                    log.warning("the window is over, what runs in it goes on: %s", error)
                elif isinstance(error, InvalidHandle):
                    log.warning("a window was ended by other code: it has no report")
                else:
                    raise
            except REFUSED as error:
                # As the scheduler says by its trouble: nothing begins until the disk takes something again (V23).
                log.error("a window has ended early: %s", error)
            for report in reports:
                self._tell(report)
        finally:
            self._remove(drive)

    def _add(self, drive: Drive | AsyncDrive) -> None:
        with self._changed:
            self._drives.add(drive)
            self._opened_windows += 1
        if self._stopping:  # told so between the step and now
            drive.stop_picking(self._grace)

    def _remove(self, drive: Drive | AsyncDrive) -> None:
        with self._changed:
            self._drives.discard(drive)
            self._changed.notify_all()

    def _tell(self, report: Report) -> None:
        if self._on_report is None or not report.runs:
            return
        if self._thread is None or self._loop is None:
            self._on_report(report)
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody hears
            self._loop.call_soon_threadsafe(self._tell_on_loop, self._on_report, report)

    def _tell_on_loop(self, on_report: OnReport, report: Report) -> None:
        try:
            on_report(report)
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        is_over = self._engine.exiting or (isinstance(error, SeleneError) and self._engine.closed)
        if not is_over and self._error is None:
            self._error = error
            self._say_why(error)
        self._stop()

    def _say_why(self, error: BaseException) -> None:
        log.error("the driver ends", exc_info=error)

    def _raise(self) -> None:
        error = self._error or take_kept()
        if error is not None:
            raise error

    def closed(self) -> None:
        """The scheduler was closed under it."""
        self._stopping = True
        with self._changed:
            self._changed.notify_all()
        self._ring()

    def join(self, until: int) -> None:
        """Waits until its thread has ended, or until an instant of the monotonic clock in ns."""
        thread = self._thread
        if thread is not None:
            thread.join(max(0, until - time.monotonic_ns()) / SECOND)

    def _ring(self) -> None:
        with contextlib.suppress(OSError):
            if self._bell >= 0:
                os.eventfd_write(self._bell, 1)
        if self._loop is not None and self._news is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._news.set)

    def _shut(self) -> None:
        """Gives back what it holds."""
        engine = self._engine
        self._is_open = False
        while self._late:
            self._late.pop().cancel()
        if engine.driver is self:
            engine.driver = None
            if not engine.closed:
                library.selene_driver_stop(engine.handle, 0)
        for fd in (self._fd, self._bell):
            if fd >= 0:
                os.close(fd)
        self._fd = self._bell = -1
        self._thread = None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Driver cannot be pickled: it belongs to the process that opened it")

    def __repr__(self) -> str:
        state = ""
        if self._error is not None:
            state = f", ended by {self._error!r}"
        elif self._is_open:
            state = ", stopping" if self._stopping else ", open"
        return f"<Driver{state}>"
