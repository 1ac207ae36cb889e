"""Lanes: a thread that lends itself to a cycle, in a loop that is as short as it can be."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from typing import TYPE_CHECKING, Protocol

from . import _raw
from ._callbacks import kept, take_kept
from ._handler import GONE, fail, finish
from ._library import bare_next, error_of, flattened, library
from ._run import Run, is_over

if TYPE_CHECKING:
    from ._engine import Engine

#: selene_run_info, whose texts are read at once; the input may have a NUL inside.
RunInfo = flattened(_raw.selene_run_info, but="input")


class Owner(Protocol):
    """What a lane needs of the cycle whose lane it is."""

    @property
    def engine(self) -> Engine: ...

    cycle: int
    inline: bool
    over: bool
    spare: int
    loop: asyncio.AbstractEventLoop | None
    exceptions: dict[int, BaseException]

    def start(self) -> None: ...
    def tell(self) -> None: ...
    def wait(self, wake_at: int) -> bool: ...
    def interrupt(self, error: BaseException) -> None: ...
    def replace(self, lane: Lane) -> None: ...
    def delay(self, run: Run) -> None: ...
    def leave(self, lane: Lane) -> None: ...


class Lane:
    """One thread of a cycle: takes a run, calls the handler, comes back with the outcome, until there is no more."""

    __slots__ = ("drive", "inside", "loop", "opened", "thread")

    def __init__(self, drive: Owner) -> None:
        self.drive = drive
        #: Where coroutines of handlers run; None: on this thread.
        self.loop = drive.loop
        #: Whether it is in a handler now.
        self.inside = False
        self.thread = 0
        #: On a test's clock: set once the library knows of it, or it has ended.
        self.opened = threading.Event() if drive.engine.told is not None else None

    def abandon(self) -> None:
        """The run is over while the handler works on: another thread may take the place of this one."""
        self.drive.replace(self)

    def delay(self, run: Run) -> None:
        """The run has reached a limit of its task: when its grace is over another thread may take its place."""
        self.drive.delay(run)

    def work(self) -> None:
        """The thread's job."""
        drive = self.drive
        self.thread = threading.get_ident()
        lane = ctypes.c_uint64()
        calls = drive.engine.calls
        try:
            status = calls.selene_lane_open(drive.cycle, ctypes.byref(lane))
            if self.opened is not None:
                self.opened.set()
            # The cycle is over; or the thread whose place it was to take is back.
            if status and status not in (_raw.SELENE_ERROR_INVALID_HANDLE, _raw.SELENE_ERROR_BUSY):
                raise error_of(status)
            if not status:
                self._work(lane.value)
        except BaseException as error:
            drive.interrupt(error)
        finally:
            if self.opened is not None:
                self.opened.set()
            if lane.value:
                calls.selene_lane_close(lane)
            drive.leave(self)

    def _work(self, lane: int) -> None:
        drive = self.drive
        engine = drive.engine
        exceptions = drive.exceptions
        runs = engine.runs
        handlers = engine.handlers
        early = engine.early_stops
        by_calendar = engine.calendars.entries
        string_at = ctypes.string_at
        step = ctypes.c_int32()
        info = RunInfo(ctypes.sizeof(RunInfo))
        wake_at = ctypes.c_int64()
        copy = memoryview(info).cast("B").tobytes
        # A call that keeps the interpreter's lock must not wait; where it does not, one call does all.
        take = take_now = bare_next(engine.calls)
        take_later = bare_next(library)
        now = 0 if drive.inline or take is not take_later else _raw.SELENE_NEVER

        # What is the same in every call: tuples, or a call makes one; from_param(), or it converts.
        def arguments_of(outcome: int, timeout: int) -> tuple[object, ...]:
            return (
                ctypes.c_uint64.from_param(lane),
                ctypes.c_int32.from_param(outcome),
                ctypes.c_int64.from_param(timeout),
                ctypes.byref(step),
                ctypes.byref(info),
                ctypes.byref(wake_at),
            )

        nothing = arguments_of(_raw.SELENE_OUTCOME_NONE, now)
        patiently = arguments_of(_raw.SELENE_OUTCOME_NONE, _raw.SELENE_NEVER)
        new_data = arguments_of(_raw.SELENE_OUTCOME_NEW_DATA, now)
        arguments = nothing
        while True:
            status = take(*arguments)
            if status:
                if drive.over or engine.closed:
                    return
                raise error_of(status)
            if found := step.value:
                if kept and (told := take_kept()):
                    raise told
                if found == 2:  # SELENE_STEP_DONE
                    return
                arguments = nothing
                if not drive.inline:
                    take, arguments = take_later, patiently
                elif not drive.wait(wake_at.value):
                    return
                continue
            token = info.run
            name = info.handler
            length = info.input_length
            run = Run(engine, token, copy(), info.id, name, string_at(info.input, length) if length else b"")
            run._lane = self
            handler = handlers.get(name, GONE)
            if handler.on_stop is not None:
                run._on_stop = handler.on_stop
            take, arguments = take_now, nothing
            try:
                # First, so that a run which is stopped from here on frees its lane.
                self.inside = True
                runs[token] = run
                if early:
                    engine.tell_early(run)
                    if is_over(run._stop):
                        engine.complete_quietly(run, _raw.SELENE_OUTCOME_FAILED)
                        continue
                if by_calendar:
                    engine.calendars.dispatched(run._key)
                if drive.spare:
                    drive.start()
                result = handler.call(run)
                if result is None and not run._completed and not engine.observing:
                    # Its outcome goes with the next call. Not where an observer hears of it, who may raise to end the
                    # process: then no next run is to begin.
                    run._completed = True
                    runs.pop(token, None)
                    arguments = new_data
                else:
                    finish(run, result)
                    if not run._completed:
                        run._came_back = drive.tell
            except BaseException as error:
                if fail(run, error, exceptions):
                    raise
            finally:
                self.inside = False
            if kept and (told := take_kept()):
                if arguments is new_data:
                    engine.calls.selene_run_complete(token, _raw.SELENE_OUTCOME_NEW_DATA)
                raise told
