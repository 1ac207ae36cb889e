"""What tests on a ToldClock share: events are waited for, with a limit that only ends a hang."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from pyselene.testing import ToldClock

T = TypeVar("T")

#: Seconds after which a wait for an event has hung.
WAIT = 60


def until(condition: Callable[[], object]) -> None:
    """Waits for what another thread does."""
    limit = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < limit, "it never came"
        time.sleep(0.001)


def elsewhere(call: Callable[..., T], *arguments: Any, **more: Any) -> Future[T]:
    """Calls it on a thread of its own."""
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(call(*arguments, **more))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future


async def until_async(condition: Callable[[], object]) -> None:
    """The same while the loop goes on."""
    async with asyncio.timeout(WAIT):
        while not condition():
            await asyncio.sleep(0.001)


async def passes(clock: ToldClock, duration: float) -> None:
    """Lets time pass while the loop goes on; what its coroutines do then is waited for by events."""
    await asyncio.to_thread(clock.advance, duration, handlers=False)
