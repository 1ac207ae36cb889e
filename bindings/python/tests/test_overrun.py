"""R4, C7: a handler that does not end with its window, on threads and on a loop, in windows of both kinds.

The driver lives, the report comes, what waits says why; once the handler is back all is as before.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest

import pyselene as selene

WAIT = 60
Kind = Literal["refresh", "processing"]
Handler = Callable[[selene.Run], Any]

gate = threading.Event()


@pytest.fixture(autouse=True)
def opened_in_the_end() -> Iterator[None]:
    gate.clear()
    yield
    gate.set()


def listens(run: selene.Run) -> None:
    run.stopping.wait(WAIT)


def ignores(run: selene.Run) -> None:
    gate.wait(WAIT)


async def is_cancelled(run: selene.Run) -> None:
    await asyncio.sleep(WAIT)


async def swallows(run: selene.Run) -> None:
    until = time.monotonic() + WAIT
    while not gate.is_set() and time.monotonic() < until:
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            pass


def until(condition: Callable[[], bool]) -> Iterator[None]:
    """Steps of a loop that waits for a condition."""
    limit = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < limit
        yield


def play(scheduler: selene.Scheduler, kind: Kind, handler: Handler, reports: list[selene.Report]) -> Iterator[None]:
    """What happens while the driver lives; each step is a moment of waiting."""
    begins = time.monotonic()
    scheduler.enqueue("work", handler=handler, kind=kind, backoff=selene.Exponential(3600))
    yield from until(lambda: bool(reports))
    # Far from what the handler would take.
    assert time.monotonic() - begins < WAIT / 2
    (run,) = reports[0].runs
    if handler in (ignores, swallows):
        assert str(run.outcome) == "expired"
        reasons = {reason.code for reason in scheduler.explain("work").reasons}
        assert selene.ReasonCode.STILL_RUNNING in reasons
        gate.set()
        yield from until(lambda: not still_running(scheduler))
    else:
        assert str(run.outcome) in ("new_data", "stopped", "expired", "failed")
    # All is as before: another task has its window.
    ran = threading.Event()
    scheduler.enqueue("after", handler=lambda run: ran.set(), kind=kind)
    yield from until(ran.is_set)
    yield from until(lambda: scheduler.info().overrun_threads == 0)
    assert not scheduler.info().troubles


def still_running(scheduler: selene.Scheduler) -> bool:
    return any(reason.code == selene.ReasonCode.STILL_RUNNING for reason in scheduler.explain("work").reasons)


@pytest.mark.parametrize("kind", ["refresh", "processing"])
@pytest.mark.parametrize("handler", [listens, ignores])
def test_r9_on_threads_the_driver_outlives(kind: Kind, handler: Handler) -> None:
    reports: list[selene.Report] = []
    with (
        selene.Scheduler(max_pending_refresh=None) as scheduler,
        scheduler.driver(refresh_budget=1, processing_budget=1, on_report=reports.append) as driver,
    ):
        for _ in play(scheduler, kind, handler, reports):
            assert (driver.running, driver.error) == (True, None)
            time.sleep(0.01)
        assert driver.running


@pytest.mark.parametrize("kind", ["refresh", "processing"])
@pytest.mark.parametrize("handler", [listens, ignores, is_cancelled, swallows])
def test_r9_on_a_loop_the_driver_outlives(kind: Kind, handler: Handler) -> None:
    reports: list[selene.Report] = []

    async def main() -> None:
        with selene.Scheduler(max_pending_refresh=None) as scheduler:
            async with scheduler.driver(refresh_budget=1, processing_budget=1, on_report=reports.append) as driver:
                for _ in play(scheduler, kind, handler, reports):
                    assert (driver.running, driver.error) == (True, None)
                    await asyncio.sleep(0.01)
                assert driver.running

    asyncio.run(main())
