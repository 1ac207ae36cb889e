"""For tests of code that uses pyselene: a clock that stands still until it is told to go on."""

from __future__ import annotations

from datetime import UTC, datetime

from ._time import Duration, duration_ns, instant, instant_ns

_START = datetime(2026, 1, 1, tzinfo=UTC)


class VirtualClock:
    """A clock for Scheduler(clock=…). Cycles on it run their handlers on the calling thread, which advance it.

    >>> from datetime import timedelta
    >>> import pyselene as selene
    >>> clock = VirtualClock()
    >>> scheduler = selene.Scheduler(clock=clock)
    >>> @scheduler.task(every=timedelta(hours=6), expected=2)
    ... def tidy(run):
    ...     clock.advance(1.5)
    >>> scheduler.run_cycle(budget=30).runs[0].response_time
    1.5
    >>> clock.advance(timedelta(hours=6))
    >>> scheduler.explain("tidy").runnable
    True
    """

    def __init__(self, start: datetime = _START) -> None:
        self._now = instant_ns(start, "start")

    def __call__(self) -> int:
        """The present as nanoseconds since the Unix epoch, for the scheduler."""
        return self._now

    @property
    def now_ns(self) -> int:
        """The present as nanoseconds since the Unix epoch."""
        return self._now

    @property
    def now(self) -> datetime:
        """The present."""
        return instant(self._now)

    def advance(self, duration: Duration) -> None:
        """Advances the clock by this many seconds."""
        self.advance_ns(duration_ns(duration, "duration"))

    #: So that code which takes a sleep function can be given this one.
    sleep = advance

    def advance_ns(self, duration: int) -> None:
        """The same in nanoseconds."""
        if duration < 0:
            raise ValueError("a clock never goes back")
        self._now += duration

    def set(self, now: datetime) -> None:
        """Lets time pass until an instant."""
        self.advance_ns(instant_ns(now, "now") - self._now)
