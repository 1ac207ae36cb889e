"""The functions that the library calls: one for each C signature, which finds its object by a never-reused number.

A trampoline catches everything: what leaves it would be lost, and the library would get any number. What is to end the
process (KeyboardInterrupt, SystemExit) is kept, and raised when the call into the library is back.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import sys
import threading
from typing import Any

from . import _raw

log = logging.getLogger("pyselene")

_numbers = itertools.count(1)
#: What the library holds on to, until it calls destroy.
_objects: dict[int, Any] = {}


def hold(target: object) -> int:
    """A number by which the library's callbacks find the object; released by `destroy` alone."""
    number = next(_numbers)
    _objects[number] = target
    return number


def held() -> int:
    """How many objects the library holds on to."""
    return len(_objects)


#: What is to end the process, by the thread that called the library; None: a thread of the library's own.
kept: dict[int | None, BaseException] = {}


def ends_process(error: BaseException) -> bool:
    """Whether what was raised must reach whoever waits, beyond the run or the callback that raised it."""
    return not isinstance(error, (Exception, asyncio.CancelledError))


def caught(error: BaseException, text: str, *arguments: object) -> None:
    """Takes what was raised inside a callback: logs it, or keeps it until the call is back."""
    thread: int | None = threading.get_ident()
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    if frame.f_globals is globals():  # nothing of Python called the library here
        thread = None
    if thread is None or not ends_process(error):
        log.error(text, *arguments, exc_info=error)
    if ends_process(error):
        kept.setdefault(thread, error)


def take_kept(*threads: int | None) -> BaseException | None:
    """What was kept for one of these threads; without arguments for this one."""
    for thread in threads or (threading.get_ident(),):
        error = kept.pop(thread, None)
        if error is not None:
            return error
    return None


def raise_kept() -> None:
    """Raises what was kept for this thread; called where a call that may have called back has come back."""
    error = take_kept()
    if error is not None:
        raise error


def _destroy(context: int | None) -> None:
    try:
        _objects.pop(context, None)  # type: ignore[arg-type]
    except BaseException as error:
        caught(error, "a destroy function failed")


def _clock(context: int | None) -> int:
    clock = None
    try:
        clock = _objects[context]  # type: ignore[index]
        return int(clock.read())
    except BaseException as error:
        return 0 if clock is None else int(clock.failed(error))


def _run(run: int, info: int | None, context: int | None) -> None:
    try:
        _objects[context].pushed(run, info)  # type: ignore[index]
    except BaseException as error:
        caught(error, "run %d could not be handed to its handler", run)


def _stop(run: int, reason: int, context: int | None) -> None:
    try:
        _objects[context].stopped(run, reason)  # type: ignore[index]
    except BaseException as error:
        caught(error, "run %d could not be stopped", run)


def _event(event: int | None, context: int | None) -> None:
    try:
        _objects[context].event(event)  # type: ignore[index]
    except BaseException as error:
        caught(error, "an event could not be delivered")


def _report(report: int | None, context: int | None) -> None:
    try:
        _objects[context].report(report)  # type: ignore[index]
    except BaseException as error:
        caught(error, "a report could not be delivered")


destroy = _raw.selene_destroy_fn(_destroy)
clock = _raw.selene_clock_fn(_clock)
run = _raw.selene_run_fn(_run)
stop = _raw.selene_stop_fn(_stop)
event = _raw.selene_event_fn(_event)
report = _raw.selene_report_fn(_report)
