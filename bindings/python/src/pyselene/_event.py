"""Events: every change, numbered, to observers and streams."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any, NoReturn, Self

from . import _raw
from ._errors import SeleneError
from ._library import error_told, read, text
from ._names import Named
from ._pace import Pace, pace_of
from ._profile import Factor
from ._progress import Progress
from ._run import Kind, Outcome, StopReason
from ._terms import Disposition, State, kinds_of
from ._time import instant, maybe_instant, never_is_none


class EventType(Named):
    """What happened."""

    REGISTERED = _raw.SELENE_EVENT_REGISTERED
    STARTED = _raw.SELENE_EVENT_STARTED
    STOPPED = _raw.SELENE_EVENT_STOPPED
    COMPLETED = _raw.SELENE_EVENT_COMPLETED
    RETRY = _raw.SELENE_EVENT_RETRY
    HELD = _raw.SELENE_EVENT_HELD
    PROMOTED = _raw.SELENE_EVENT_PROMOTED
    CANCELLED = _raw.SELENE_EVENT_CANCELLED
    CYCLE_BEGUN = _raw.SELENE_EVENT_CYCLE_BEGUN
    CYCLE_ENDED = _raw.SELENE_EVENT_CYCLE_ENDED
    UNBLOCKED = _raw.SELENE_EVENT_UNBLOCKED
    RELEASED = _raw.SELENE_EVENT_RELEASED
    INTERRUPTED = _raw.SELENE_EVENT_INTERRUPTED
    CLOCK_MOVED = _raw.SELENE_EVENT_CLOCK_MOVED
    REFUSED = _raw.SELENE_EVENT_REFUSED
    GRANTED = _raw.SELENE_EVENT_GRANTED
    TRACE_ENDED = _raw.SELENE_EVENT_TRACE_ENDED
    TROUBLE = _raw.SELENE_EVENT_TROUBLE
    PAUSED = _raw.SELENE_EVENT_PAUSED
    RESUMED = _raw.SELENE_EVENT_RESUMED
    PROGRESS = _raw.SELENE_EVENT_PROGRESS
    CONDITION_MET = _raw.SELENE_EVENT_CONDITION_MET
    CONDITION_LOST = _raw.SELENE_EVENT_CONDITION_LOST
    QUOTA_USED_UP = _raw.SELENE_EVENT_QUOTA_USED_UP
    QUOTA_LEFT = _raw.SELENE_EVENT_QUOTA_LEFT
    OUTPUT_LOST = _raw.SELENE_EVENT_OUTPUT_LOST


class Trouble(Named):
    """What can keep a scheduler from working.

    A store that refuses, a thread that cannot be had, too many handlers that overran, an observer that does not keep
    up, a handler that has left too many threads behind, a clock that has jumped, a fleet's database that does not
    answer or refuses.
    """

    STORE = _raw.SELENE_TROUBLE_STORE
    THREAD = _raw.SELENE_TROUBLE_THREAD
    OVERRUN = _raw.SELENE_TROUBLE_OVERRUN
    OBSERVER = _raw.SELENE_TROUBLE_OBSERVER
    HANDLER = _raw.SELENE_TROUBLE_HANDLER
    CLOCK = _raw.SELENE_TROUBLE_CLOCK
    FLEET = _raw.SELENE_TROUBLE_FLEET
    FLEET_CLOCK = _raw.SELENE_TROUBLE_FLEET_CLOCK


_DETAILS: dict[int, Callable[[int], Named | None]] = {
    EventType.REGISTERED: Disposition,
    EventType.COMPLETED: Outcome,
    EventType.STOPPED: StopReason,
    EventType.CYCLE_ENDED: Outcome,
    EventType.REFUSED: lambda factor: Factor(factor) if factor else None,
    EventType.TROUBLE: Trouble,
}


@dataclass(frozen=True, slots=True)
class Event:
    """One change.

    `detail` is a Disposition (registered), an Outcome (completed; cycle_ended: the result), a StopReason (stopped), the
    Factor whose veto refused (refused; None: the score was too low) or a Trouble. `error` is what calls raise because
    of a trouble; None: it is over. `message` is why a run failed (completed, interrupted). `pace` is what the turn of
    the task follows from now under the freshness rule (started: as it was picked). `time_at` is when it is due
    again (retry), the deadline (started, cycle_begun), or when asking again may be worth it (refused; None: when a
    signal changes). `progress` is what a run told of itself (progress), or how many bytes its output had of how many
    that are kept (output_lost). Where a group is paused or resumed, or a condition met or lost, `id` is empty and
    `message` its name. Where kinds are paused or resumed, `message` is the pool, if it is one, and `time_at` when it
    ends. `kinds` are those of the task, the cycle, the decision or the pause.
    """

    number: int
    type: EventType
    state: State | None
    time_ns: int
    id: str
    run: int
    cycle: int
    detail: Disposition | Outcome | StopReason | Factor | Trouble | None
    attempts: int
    time_at_ns: int | None
    kinds: frozenset[Kind] = frozenset()
    error: SeleneError | None = field(default=None, compare=False)
    message: str = ""
    pace: Pace | None = None
    progress: Progress | None = None

    @property
    def time(self) -> datetime:
        """When it happened."""
        return instant(self.time_ns)

    @property
    def time_at(self) -> datetime | None:
        """The instant that it tells of, if it does."""
        return maybe_instant(self.time_at_ns)

    def __str__(self) -> str:
        words = [f"{self.time.isoformat(sep=' ', timespec='milliseconds')} #{self.number} {self.type}"]
        words += [self.id] if self.id else []
        words += [str(kind) for kind in sorted(self.kinds) if not self.id]
        words += [f"({self.detail})"] if self.detail is not None else []
        if self.type is EventType.TROUBLE:
            words += ["is over" if self.error is None else str(self.error)]
        words += [self.message] if self.message else []
        words += [str(self.progress)] if self.progress is not None else []
        return " ".join(words)


def read_event(address: int) -> Event:
    """Reads an event of the library."""
    # fmt: off
    (_, _, number, kind, state, time, data, length, run, cycle, detail, attempts, time_at, kinds, status,
     data_of_message, length_of_message, *pace, done, total) = read(_raw.selene_event, address)
    # fmt: on
    meaning: Any = _DETAILS.get(kind)
    message = text(data_of_message, length_of_message)
    is_progress = kind in (EventType.PROGRESS, EventType.OUTPUT_LOST)
    return Event(
        number=number,
        type=EventType(kind),
        state=None if state < 0 else State(state),
        time_ns=time,
        id=text(data, length),
        run=run,
        cycle=cycle,
        detail=meaning(detail) if meaning else None,
        attempts=attempts,
        time_at_ns=never_is_none(time_at) or None,
        kinds=kinds_of(kinds),
        error=error_told(status, message) if status else None,
        message="" if status or is_progress else message,
        pace=pace_of(pace),
        progress=Progress(time, done, total, message) if is_progress else None,
    )


class Subscription:
    """An observer that was added by Scheduler.observe(); ends by close(), or as a context."""

    __slots__ = ("__weakref__", "_end")

    def __init__(self, end: Callable[[], None]) -> None:
        self._end = end

    def close(self) -> None:
        """Ends it; the observer may be called once more if it is about to be."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Subscription cannot be pickled: it belongs to the process that made it")


class Mailbox:
    """What a stream holds; apart from the stream, so that one which is dropped ends by itself."""

    def __init__(self, size: int) -> None:
        self.events: deque[Event] = deque(maxlen=size)
        self.condition = threading.Condition()
        self.waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = set()
        self.dropped = 0
        self.closed = False
        #: Why there will be no more, if not because it was closed.
        self.error: SeleneError | None = None

    def put(self, event: Event) -> None:
        """Takes an event in; the oldest is dropped if they are not read."""
        with self.condition:
            if len(self.events) == self.events.maxlen:
                self.dropped += 1
            self.events.append(event)
            self.wake()

    def close(self) -> None:
        """Ends it after the events that are in it."""
        with self.condition:
            self.closed = True
            self.wake()

    def lose(self, count: int) -> None:
        """Events that were lost on their way here."""
        with self.condition:
            self.dropped += count

    def fail(self, error: SeleneError) -> None:
        """Ends it after the events that are in it, with an error."""
        with self.condition:
            self.error = error
            self.closed = True
            self.wake()

    def wake(self) -> None:
        """Wakes all who wait; the caller holds the condition."""
        self.condition.notify_all()
        for loop, future in self.waiting:
            try:
                loop.call_soon_threadsafe(_resolve, future)
            except RuntimeError:  # its loop is closed, so no task waits
                pass
        self.waiting.clear()


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class EventStream:
    """The events from now on: `for event in stream` blocks, `async for event in stream` awaits; ends by close().

    It keeps the last `size` events that were not read; `dropped` counts those beyond. Of a connection whose owner has
    gone away it raises OwnerAway, once the events that came are read.
    """

    def __init__(self, mailbox: Mailbox, end: Callable[[], None]) -> None:
        self._mailbox = mailbox
        self._finalizer = weakref.finalize(self, end)

    @property
    def dropped(self) -> int:
        """Events that came while `size` unread ones were waiting, or that a connection was too slow for."""
        return self._mailbox.dropped

    def close(self) -> None:
        """Ends the stream; what was not read can still be."""
        self._finalizer()
        self._mailbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self) -> list[Event]:
        """What is there now, without waiting."""
        box = self._mailbox
        with box.condition:
            found = list(box.events)
            box.events.clear()
        return found

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        box = self._mailbox
        with box.condition:
            while not box.events:
                if box.error is not None:
                    raise box.error
                if box.closed:
                    raise StopIteration
                box.condition.wait()
            return box.events.popleft()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        box = self._mailbox
        loop = asyncio.get_running_loop()
        while True:
            with box.condition:
                if box.events:
                    return box.events.popleft()
                if box.error is not None:
                    raise box.error
                if box.closed:
                    raise StopAsyncIteration
                entry = (loop, loop.create_future())
                box.waiting.add(entry)
            try:
                await entry[1]
            finally:
                with box.condition:
                    box.waiting.discard(entry)

    def __reduce__(self) -> NoReturn:
        raise TypeError("an EventStream cannot be pickled: it belongs to the process that opened it")
