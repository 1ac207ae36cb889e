"""R4, C7: a handler that does not end with its window, on threads and on a loop, in windows of both kinds.

The driver lives, the report comes, what waits says why; once the handler is back all is as before.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest

import pyselene as selene
from pyselene.testing import ToldClock
from told import WAIT, passes, until, until_async

Kind = Literal["refresh", "processing"]
Handler = Callable[[selene.Run], Any]

#: A window of ten seconds asks its runs to stop half a second before it ends.
BUDGET, ASKED = 10, 9.5

gate = threading.Event()
begun = threading.Event()


@pytest.fixture(autouse=True)
def opened_in_the_end() -> Iterator[None]:
    gate.clear()
    begun.clear()
    yield
    gate.set()


def listens(run: selene.Run) -> None:
    begun.set()
    run.stopping.wait(WAIT)


def ignores(run: selene.Run) -> None:
    begun.set()
    gate.wait(WAIT)


async def is_cancelled(run: selene.Run) -> None:
    begun.set()
    await asyncio.sleep(WAIT)


async def swallows(run: selene.Run) -> None:
    begun.set()
    while not gate.is_set():
        try:
            await asyncio.sleep(0.001)
        except asyncio.CancelledError:
            pass


Step = float | Callable[[], object]


def play(scheduler: selene.Scheduler, kind: Kind, handler: Handler, reports: list[selene.Report]) -> Iterator[Step]:
    """What happens while the driver lives: each step says how much time passes, or what is waited for."""
    scheduler.enqueue("work", handler=handler, kind=kind, backoff=selene.Exponential(3600))
    yield begun.is_set
    yield ASKED - 1e-9
    assert not reports
    yield 1e-9
    if handler in (ignores, swallows):
        yield BUDGET - ASKED
        assert not reports
        yield 1e-9
        yield lambda: reports
        (run,) = reports[0].runs
        assert str(run.outcome) == "expired"
        assert still_running(scheduler)
        gate.set()
        yield lambda: not still_running(scheduler)
    else:
        yield lambda: reports
        (run,) = reports[0].runs
        assert str(run.outcome) == ("failed" if handler is is_cancelled else "new_data")
        assert run.stop_reason is selene.StopReason.EXPIRING
    # All is as before: another task has its window.
    ran = threading.Event()
    scheduler.enqueue("after", handler=lambda run: ran.set(), kind=kind)
    yield ran.is_set
    yield lambda: scheduler.info().overrun_threads == 0
    assert not scheduler.info().troubles


def still_running(scheduler: selene.Scheduler) -> bool:
    return any(reason.code == selene.ReasonCode.STILL_RUNNING for reason in scheduler.explain("work").reasons)


@pytest.mark.parametrize("kind", ["refresh", "processing"])
@pytest.mark.parametrize("handler", [listens, ignores])
def test_r9_on_threads_the_driver_outlives(kind: Kind, handler: Handler) -> None:
    reports: list[selene.Report] = []
    clock = ToldClock()
    with (
        selene.Scheduler(clock=clock, max_pending_refresh=None) as scheduler,
        scheduler.driver(refresh_budget=BUDGET, processing_budget=BUDGET, on_report=reports.append) as driver,
    ):
        for step in play(scheduler, kind, handler, reports):
            if callable(step):
                until(step)
            else:
                clock.advance(step, handlers=False)
            assert (driver.running, driver.error) == (True, None)
        assert driver.running


@pytest.mark.parametrize("kind", ["refresh", "processing"])
@pytest.mark.parametrize("handler", [listens, ignores, is_cancelled, swallows])
def test_r9_on_a_loop_the_driver_outlives(kind: Kind, handler: Handler) -> None:
    reports: list[selene.Report] = []

    async def main() -> None:
        clock = ToldClock()
        with selene.Scheduler(clock=clock, max_pending_refresh=None) as scheduler:
            async with scheduler.driver(
                refresh_budget=BUDGET, processing_budget=BUDGET, on_report=reports.append
            ) as driver:
                for step in play(scheduler, kind, handler, reports):
                    if callable(step):
                        await until_async(step)
                    else:
                        await passes(clock, step)
                    assert (driver.running, driver.error) == (True, None)
                assert driver.running

    asyncio.run(main())
