"""The functions that the library calls: one for each C signature, which finds its object by a never-reused number.

A trampoline catches everything: what leaves it would be lost, and the library would get any number.
"""

from __future__ import annotations

import itertools
import logging
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


def _destroy(context: int | None) -> None:
    try:
        _objects.pop(context, None)  # type: ignore[arg-type]
    except BaseException:  # noqa: BLE001
        log.exception("a destroy function failed")


def _clock(context: int | None) -> int:
    clock = None
    try:
        clock = _objects[context]  # type: ignore[index]
        return int(clock.read())
    except BaseException as error:  # noqa: BLE001
        return 0 if clock is None else int(clock.failed(error))


def _run(run: int, info: int | None, context: int | None) -> None:
    try:
        _objects[context].pushed(run, info)  # type: ignore[index]
    except BaseException:  # noqa: BLE001
        log.exception("run %d could not be handed to its handler", run)


def _stop(run: int, reason: int, context: int | None) -> None:
    try:
        _objects[context].stopped(run, reason)  # type: ignore[index]
    except BaseException:  # noqa: BLE001
        log.exception("run %d could not be stopped", run)


def _event(event: int | None, context: int | None) -> None:
    try:
        _objects[context].event(event)  # type: ignore[index]
    except BaseException:  # noqa: BLE001
        log.exception("an event could not be delivered")


def _report(report: int | None, context: int | None) -> None:
    try:
        _objects[context].report(report)  # type: ignore[index]
    except BaseException:  # noqa: BLE001
        log.exception("a report could not be delivered")


destroy = _raw.selene_destroy_fn(_destroy)
clock = _raw.selene_clock_fn(_clock)
run = _raw.selene_run_fn(_run)
stop = _raw.selene_stop_fn(_stop)
event = _raw.selene_event_fn(_event)
report = _raw.selene_report_fn(_report)
