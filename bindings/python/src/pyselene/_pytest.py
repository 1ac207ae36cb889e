"""The pytest plugin: fixtures `selene_clock` and `selene_scheduler`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

# Imported late, so that a run of pytest that does not use the fixtures does not load the library.
if TYPE_CHECKING:
    from . import Scheduler
    from .testing import VirtualClock


@pytest.fixture
def selene_clock() -> VirtualClock:
    """A clock that stands still until the test advances it."""
    from .testing import VirtualClock

    return VirtualClock()


@pytest.fixture
def selene_scheduler(selene_clock: VirtualClock) -> Iterator[Scheduler]:
    """A scheduler in memory on `selene_clock`, closed after the test."""
    from . import Scheduler

    with Scheduler(clock=selene_clock) as scheduler:
        yield scheduler
