"""Lanes: what one worker does in a cycle, in a loop that is as short as it can be."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING

from . import _raw
from ._callbacks import kept, raise_kept
from ._handler import GONE, fail, finish
from ._library import bare, error_of
from ._run import Run

if TYPE_CHECKING:
    from ._drive import Drive


class RunInfo(ctypes.Structure):
    """selene_run_info, laid out so that its texts are read at once: they have no NUL inside and one behind."""

    __slots__ = ()
    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("run", ctypes.c_uint64),
        ("cycle", ctypes.c_uint64),
        ("id", ctypes.c_char_p),
        ("id_length", ctypes.c_int64),
        ("handler", ctypes.c_char_p),
        ("handler_length", ctypes.c_int64),
        ("input", ctypes.c_void_p),
        ("input_length", ctypes.c_int64),
        ("rest", ctypes.c_byte * (ctypes.sizeof(_raw.selene_run_info) - 72)),
    )


_SIZE = ctypes.sizeof(RunInfo)
#: What a completion answers whose run was over before; the scheduler may be closed.
_OVER = (_raw.SELENE_ERROR_STALE_RUN, _raw.SELENE_ERROR_ALREADY_COMPLETED, _raw.SELENE_ERROR_INVALID_HANDLE)


class Lane:
    """One worker of a cycle: pulls a run, calls the handler, gives the outcome, until nothing is left."""

    __slots__ = ("drive", "inside", "left", "thread")

    def __init__(self, drive: Drive) -> None:
        self.drive = drive
        #: Whether it is in a handler now.
        self.inside = False
        #: Whether it was given up: its handler works on after its run was over. Guarded by the drive's condition.
        self.left = False
        self.thread = 0

    def abandon(self) -> None:
        """The run is over while the handler works on: the lane is free for another worker."""
        self.drive.replace(self)

    def work(self) -> None:
        """The worker's job."""
        drive = self.drive
        self.thread = threading.get_ident()
        try:
            self._work()
            raise_kept()
        except BaseException as error:
            drive.interrupt(error)
        finally:
            drive.leave(self)

    def _work(self) -> None:
        drive = self.drive
        engine = drive.engine
        condition = drive.condition
        exceptions = drive.exceptions
        runs = engine.runs
        handlers = engine.handlers
        early = engine.early_stops
        next_run, complete = bare(engine.calls)
        string_at = ctypes.string_at
        step = ctypes.c_int32()
        info = RunInfo(_SIZE)
        wake_at = ctypes.c_int64()
        copy = memoryview(info).cast("B").tobytes
        # Reads the token that stands in `info`, which nobody else writes to.
        found_run = ctypes.c_uint64.from_buffer(info, RunInfo.run.offset)
        # What is the same in every call: tuples, or a call makes one; from_param(), or it converts.
        cycle = ctypes.c_uint64.from_param(drive.cycle)
        arguments = (cycle, ctypes.byref(step), ctypes.byref(info), ctypes.byref(wake_at))
        new_data = (found_run, ctypes.c_int32.from_param(_raw.SELENE_OUTCOME_NEW_DATA))
        locked = False
        try:
            while not (drive.over or self.left or drive.draining):
                status = next_run(*arguments)
                if status:
                    if drive.over or engine.closed:
                        return
                    raise error_of(status)
                found = step.value
                if found == 1:  # SELENE_STEP_WAIT: ask again under the lock, so that no completion is missed, then wait
                    if locked:
                        if not drive.wait(wake_at.value):
                            return
                    else:
                        condition.acquire()
                        drive.waiting += 1
                        locked = True
                    continue
                if locked:
                    drive.waiting -= 1
                    locked = False
                    condition.release()
                if found == 2:  # SELENE_STEP_DONE
                    drive.finished()
                    return
                token = info.run
                name = info.handler
                length = info.input_length
                run = Run(engine, token, copy(), info.id, name, string_at(info.input, length) if length else b"")
                run._lane = self
                handler = handlers.get(name, GONE)
                if handler.on_stop is not None:
                    run._on_stop = handler.on_stop
                try:
                    # First, so that a run which is stopped from here on frees its lane.
                    self.inside = True
                    runs[token] = run
                    if early or drive.draining:
                        drive.tell_early(run)
                        if run._stop > _raw.SELENE_STOP_EXPIRING:  # it is over
                            engine.complete_quietly(run, _raw.SELENE_OUTCOME_FAILED)
                            continue
                    if drive.spare:
                        drive.start()
                    if drive.deadline is None:
                        drive.set_times(run.expires_at_ns, run.deadline_ns)
                    result = handler.function(run)
                    simple = result is None and not run._completed
                    if not simple:
                        finish(run, result)
                except BaseException as error:
                    if fail(run, error, exceptions):
                        raise
                else:
                    if simple:
                        run._completed = True
                        status = complete(*new_data)
                        runs.pop(token, None)
                        if status and status not in _OVER:
                            raise error_of(status)
                    elif not run._completed:
                        run._came_back = drive.wake
                finally:
                    self.inside = False
                if drive.waiting:
                    drive.wake()
                if kept:
                    raise_kept()
        finally:
            if locked:
                drive.waiting -= 1
                condition.release()
