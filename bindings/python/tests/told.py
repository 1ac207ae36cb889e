"""What tests on a ToldClock share: events are waited for, with a limit that only ends a hang."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from pyselene.testing import ToldClock

#: Seconds after which a wait for an event has hung.
WAIT = 60


def until(condition: Callable[[], object]) -> None:
    """Waits for what another thread does."""
    limit = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < limit, "it never came"
        time.sleep(0.001)


async def until_async(condition: Callable[[], object]) -> None:
    """The same while the loop goes on."""
    async with asyncio.timeout(WAIT):
        while not condition():
            await asyncio.sleep(0.001)


async def passes(clock: ToldClock, duration: float) -> None:
    """Lets time pass while the loop goes on; what its coroutines do then is waited for by events."""
    await asyncio.to_thread(clock.advance, duration, handlers=False)
