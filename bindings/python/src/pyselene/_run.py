"""Runs: one dispatch of one task, as its handler sees it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeAlias, final

from . import _raw
from ._callbacks import caught, kept, raise_kept
from ._failure import encode_message
from ._library import encode, error_told, layout
from ._names import Named, whole
from ._output import Output, output_of
from ._roles import Host, Place
from ._time import Duration, duration_ns, instant, instant_ns, seconds

if TYPE_CHECKING:
    import psycopg


class Kind(Named):
    """How long work takes: refresh is short (seconds), processing long (minutes)."""

    REFRESH = _raw.SELENE_KIND_REFRESH
    PROCESSING = _raw.SELENE_KIND_PROCESSING


KindName: TypeAlias = Literal["refresh", "processing"]


class Priority(Named):
    """How much a task matters.

    >>> Priority.of("high", "priority") is Priority.HIGH, str(Priority.VERY_LOW)
    (True, 'very_low')
    """

    VERY_LOW = _raw.SELENE_PRIORITY_VERY_LOW
    LOW = _raw.SELENE_PRIORITY_LOW
    NORMAL = _raw.SELENE_PRIORITY_NORMAL
    HIGH = _raw.SELENE_PRIORITY_HIGH
    VERY_HIGH = _raw.SELENE_PRIORITY_VERY_HIGH


PriorityName: TypeAlias = Literal["very_low", "low", "normal", "high", "very_high"]


class Outcome(Named):
    """How a run ended.

    Handlers give the first four, and stopped once the run is asked to stop; expired stands in reports only.
    """

    NEW_DATA = _raw.SELENE_OUTCOME_NEW_DATA
    NO_DATA = _raw.SELENE_OUTCOME_NO_DATA
    FAILED = _raw.SELENE_OUTCOME_FAILED
    ABANDONED = _raw.SELENE_OUTCOME_ABANDONED
    EXPIRED = _raw.SELENE_OUTCOME_EXPIRED
    STOPPED = _raw.SELENE_OUTCOME_STOPPED


#: Of those that a handler gives.
OutcomeName: TypeAlias = Literal["new_data", "no_data", "failed", "abandoned", "stopped"]


class StopReason(Named):
    """Why a run is asked to stop; after `expiring`, `timed_out`, `stalled` and `lease_lost` it may still complete.

    After `shutdown` it may complete within the grace of the end that the program asked for; if it fails, its task is
    enqueued as before.
    `interrupted` and `too_late` are those of records only: of tasks that were not asked.
    """

    NONE = _raw.SELENE_STOP_NONE
    EXPIRING = _raw.SELENE_STOP_EXPIRING
    PREEMPTED = _raw.SELENE_STOP_PREEMPTED
    CONSTRAINT_LOST = _raw.SELENE_STOP_CONSTRAINT_LOST
    REPLACED = _raw.SELENE_STOP_REPLACED
    CANCELLED = _raw.SELENE_STOP_CANCELLED
    SHUTDOWN = _raw.SELENE_STOP_SHUTDOWN
    INTERRUPTED = _raw.SELENE_STOP_INTERRUPTED
    TIMED_OUT = _raw.SELENE_STOP_TIMED_OUT
    STALLED = _raw.SELENE_STOP_STALLED
    TOO_LATE = _raw.SELENE_STOP_TOO_LATE
    LEASE_LOST = _raw.SELENE_STOP_LEASE_LOST


#: Limits of the task.
_LIMITS = (_raw.SELENE_STOP_TIMED_OUT, _raw.SELENE_STOP_STALLED)
#: What a run may still complete after.
_REQUESTS = (_raw.SELENE_STOP_NONE, _raw.SELENE_STOP_EXPIRING, *_LIMITS, _raw.SELENE_STOP_LEASE_LOST)


def is_over(reason: int) -> bool:
    """Whether a run that is asked to stop for a reason cannot complete any more."""
    return reason not in _REQUESTS


#: The 10 years that a retry may be away.
_LONGEST_DELAY = 3653 * _raw.SELENE_DAY


class Retry(Exception):
    """Raise it in a handler: the run failed and is tried again, after `after` instead of by the task's backoff.

    >>> raise Retry(after=60)
    Traceback (most recent call last):
    pyselene._run.Retry: again after 60 s
    """

    def __init__(self, after: Duration | None = None) -> None:
        super().__init__(after)
        self.after_ns = None if after is None else duration_ns(after, "after")
        # Here already, so that it fails the run and not its window.
        if self.after_ns is not None and not 0 <= self.after_ns <= _LONGEST_DELAY:
            raise ValueError(f"after is {seconds(self.after_ns):.12g} s; allowed: 0 … 10 years")

    def __str__(self) -> str:
        return "again" if self.after_ns is None else f"again after {seconds(self.after_ns):g} s"


class Stopped(Exception):
    """Raise it in a handler whose run is asked to stop: no attempt counts, and the task waits as before.

    >>> def thumbnails(run):
    ...     for picture in ("a.jpg", "b.jpg"):
    ...         if run.stopping:
    ...             raise Stopped

    After `timed_out` and `stalled`, and where nothing asked it to stop, the run has failed.
    """


class Abandon(Exception):
    """Raise it in a handler: the run failed for good, nothing is tried again; a periodic task waits for its period."""


@final
class Pending:
    """The type of PENDING."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "PENDING"


#: A handler returns it to say that the work ends elsewhere, which then calls `run.complete()`.
PENDING: Final = Pending()


class Stopping:
    """Whether a run is asked to stop; behaves like a threading.Event that the engine sets, and has a truth value."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def reason(self) -> StopReason:
        """Why; StopReason.NONE while the run may go on."""
        return StopReason(self._run._ask())

    def is_set(self) -> bool:
        """Whether the run is asked to stop."""
        return self._run._ask() != 0

    __bool__ = is_set

    def wait(self, timeout: Duration | None = None) -> bool:
        """Blocks until the run is asked to stop, at most for timeout; says whether it is: a sleep that ends in time.

        On a VirtualClock it advances the clock instead.
        """
        run = self._run
        left = None if timeout is None else duration_ns(timeout, "timeout")
        return run._ask() != 0 or run._engine.wait_for_stop(run, run._wait_on(), left)

    def __repr__(self) -> str:
        return f"<Stopping: {self.reason}>"


class Latch:
    """Closed until it is opened once and for all, also by a signal handler, at any moment of the thread that waits."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        # Bare: an Event has a lock of its own, on which a signal handler would wait for the thread that it interrupts.
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self) -> None:
        """Lets all pass who wait, and who come later."""
        try:
            self._lock.release()
        except RuntimeError:
            pass  # it is open

    def wait(self, timeout: float) -> bool:
        """Waits for a number of seconds at most; whether it is open."""
        opened = self._lock.acquire(timeout=timeout)
        if opened:
            self.open()  # for the next one
        return opened


_LAYOUT = layout(_raw.selene_run_info)
#: Of what Run.__init__ takes as `raw`.
RUN_SIZE, UNPACK = _LAYOUT.size, _LAYOUT.unpack


class Run:
    """One dispatch of one task; given to its handler, and by Cycle.next().

    - `input`: the bytes that the task was registered with. `token`: the number of the run.
    - `user`: None, or whatever the host keeps with the run.
    - Of the task, as it was dispatched: `id`, `handler`, `kind`, `priority`, `attempt`, `generation`. The rest, such as
      its tags, is in `scheduler.get(run.id)`.
    """

    # Defaults on the class, so that making a run sets only what differs.
    _completed = False
    _stop = 0
    #: What a wait for the stop waits on.
    _latch: Latch | None = None
    #: Cancels the work, where it is a coroutine; taken out by whoever does it.
    _cancel: Callable[[], None] | None = None
    #: Its cycle has been reported, or ended.
    _window_is_over: bool = False
    #: The handler's stop function; taken out by whoever calls it.
    _on_stop: Callable[[Run, StopReason], object] | None = None
    #: What the run occupies of the cycle that it belongs to.
    _lane: Place | None = None
    #: The thread that took it without a lane; 0: none did.
    _taker = 0
    #: Called when the outcome was given, by the code that waits for it.
    _came_back: Callable[[], None] | None = None

    #: Whatever the host keeps with it: set where `Cycle.next()` gave it, found by its stop function, too.
    user: Any = None

    #: The fields of the library's structure, once one is asked for that was not read at once.
    _read: tuple[Any, ...] | None = None

    def __init__(self, engine: Host, token: int, raw: bytes, key: bytes, handler: bytes, data: bytes) -> None:
        self.token = token
        self._engine = engine
        self._raw = raw
        self._key = key
        self._handler = handler
        #: The bytes that the task was registered with.
        self.input = data

    @property
    def _row(self) -> tuple[Any, ...]:
        if self._read is None:
            self._read = UNPACK(self._raw)
        return self._read

    @property
    def id(self) -> str:
        """The task."""
        return self._key.decode()

    @property
    def handler(self) -> str:
        """The handler's name."""
        return self._handler.decode()

    @property
    def cycle_token(self) -> int:
        """The number of the cycle."""
        return int(self._row[3])

    @property
    def kind(self) -> Kind:
        """The task's kind."""
        return Kind(self._row[10])

    @property
    def priority(self) -> Priority:
        """The task's priority."""
        return Priority(self._row[11])

    @property
    def attempt(self) -> int:
        """1 for the first since the last success or period."""
        return int(self._row[12])

    @property
    def generation(self) -> int:
        """How often the definition had been updated."""
        return int(self._row[13])

    @property
    def score(self) -> float:
        """The score that it was picked with."""
        return float(self._row[14])

    @property
    def estimate_ns(self) -> int:
        """What the run was expected to take."""
        return int(self._row[15])

    @property
    def estimate(self) -> float:
        """The same in seconds."""
        return seconds(self.estimate_ns)

    @property
    def started_at_ns(self) -> int:
        """When it was dispatched."""
        return int(self._row[16])

    @property
    def started_at(self) -> datetime:
        """The same as a datetime."""
        return instant(self.started_at_ns)

    @property
    def expires_at_ns(self) -> int:
        """When it will be asked to stop; the last instant there is, in the year 2262, where nobody decided that."""
        return int(self._row[17])

    @property
    def expires_at(self) -> datetime:
        """The same as a datetime."""
        return instant(self.expires_at_ns)

    @property
    def deadline_ns(self) -> int:
        """When it is over; likewise."""
        return int(self._row[18])

    @property
    def deadline(self) -> datetime:
        """The same as a datetime."""
        return instant(self.deadline_ns)

    @property
    def remaining_ns(self) -> int:
        """Nanoseconds until the run is asked to stop; 0 when that is past or the run is over."""
        return self._engine.remaining(self)

    @property
    def remaining(self) -> float:
        """Seconds until the run is asked to stop; 0 when that is past or the run is over."""
        return seconds(self.remaining_ns)

    @property
    def stopping(self) -> Stopping:
        """Whether the run is asked to stop: `if run.stopping: …`, `run.stopping.wait(1.5)`, `run.stopping.reason`."""
        return Stopping(self)

    def progress(self, done: int, of: int = 0, text: str = "") -> None:
        """Tells how far it has come, from any thread: how much is done of how much (0: unknown), and a text.

        `scheduler.get()` has it as `progress` until the run is over, and events tell it, at most four times a second.
        With each call the task's `stall_limit` begins anew. A run that is over tells nothing.
        """
        most = 1 << 63
        self._engine.progress(self, whole(done, "done", most), whole(of, "of", most), encode_message(text))

    def set_output(self, value: object) -> None:
        """Says what it leaves if it succeeds: bytes, a str (as UTF-8), any other value as JSON; None is nothing.

        `scheduler.output(id)` reads it, and the handlers of those that come after it. What a handler returns does the
        same, unless it is None, True, False, an Outcome or PENDING. TypeError or ValueError for what is not JSON,
        TooLarge beyond the scheduler's `max_output_size`: then it leaves nothing, and its task says so (`output_lost`).
        A run that is over leaves nothing any more.
        """
        self._engine.set_output(self, output_of(value))

    @property
    def fence(self) -> int:
        """The number of the run in its fleet, greater with each: systems outside can refuse what a lower one sends.

        Unsupported: its task does not belong to a fleet.
        """
        return self._engine.fleet_key(self)[0]

    def complete_in(
        self, connection: psycopg.Connection[Any], outcome: OutcomeName = "new_data", result: bytes | None = None
    ) -> None:
        """Tells the fleet how the run ends, in a transaction of yours: it counts if, and only if, that commits.

        So the run has its effect in that database exactly once. Return as usual afterwards; if the transaction did not
        commit by then, the run has failed. StaleRun: another worker has the task, and the transaction is to be rolled
        back. The connection needs the right to work in the fleet.
        """
        from psycopg.rows import tuple_row

        with connection.cursor(row_factory=tuple_row) as cursor:
            self._counted(cursor.execute(*self._decision(outcome, result), prepare=False).fetchone())

    async def complete_in_async(
        self, connection: psycopg.AsyncConnection[Any], outcome: OutcomeName = "new_data", result: bytes | None = None
    ) -> None:
        """The same in a transaction of an asynchronous connection."""
        from psycopg.rows import tuple_row

        async with connection.cursor(row_factory=tuple_row) as cursor:
            await cursor.execute(*self._decision(outcome, result), prepare=False)
            self._counted(await cursor.fetchone())

    def _decision(self, outcome: OutcomeName, result: bytes | None) -> tuple[bytes, tuple[Any, ...]]:
        """The statement that tells the fleet."""
        found = Outcome.of(outcome, "outcome")
        if found > Outcome.ABANDONED:
            raise ValueError(f"outcome is {outcome!r}; allowed: new_data, no_data, failed, abandoned")
        fence, task = self._engine.fleet_key(self)
        took = max(0, self._engine.now_ns() - self.started_at_ns)
        self._engine.decided_by_host(self)
        return (
            f"select counts from {self._engine.fleet_schema}.complete("
            "array[%s]::bigint[], array[%s]::bigint[], array[%s]::int[], array[%s]::bigint[], "
            "results => array[%s]::bytea[])".encode(),
            (task, fence, int(found), took, result),
        )

    def _counted(self, row: tuple[Any, ...] | None) -> None:
        if row is None or not row[0]:
            raise error_told(_raw.SELENE_ERROR_STALE_RUN, f"run: another worker has task {self.id!r} by now")

    def output(self, id: str | None = None) -> Output:
        """What the last success of a task left: of another one, or of its own. NotFound."""
        return self._engine.output(self._key if id is None else encode(id, "id"))

    @property
    def completed(self) -> bool:
        """Whether its outcome was given here."""
        return self._completed

    def complete(self, outcome: Outcome | OutcomeName = Outcome.NEW_DATA, why: str = "") -> None:
        """Gives the outcome, once, from any thread; for work that ends elsewhere (return PENDING from the handler).

        `why` says why it failed or was abandoned; the task keeps it as its `last_failure`.

        Raises AlreadyCompleted, or StaleRun if the run was stopped or expired before; call it all the same, so that
        the task's id is free again.
        """
        try:
            found = Outcome.of(outcome, "outcome")
        except ValueError:
            found = None
        if found is None or found == Outcome.EXPIRED:
            raise ValueError(f"outcome is {outcome!r}; allowed: new_data, no_data, failed, abandoned, stopped")
        if why and found < Outcome.FAILED:
            raise ValueError(f"why is given, but the outcome is {found}")
        self._engine.complete(self, found, why=encode_message(why))

    def retry(self, after: Duration | None = None, why: str = "") -> None:
        """Gives the outcome failed, with a delay of its own until the next attempt; None: by the task's backoff.

        `why` says why it failed; the task keeps it as its `last_failure`.
        """
        delay = None if after is None else duration_ns(after, "after")
        self._engine.complete(self, Outcome.FAILED, delay, encode_message(why))

    def set_next(self, at: datetime) -> None:
        """Says when its task is due next, in place of the instant that is computed when this run is over."""
        self._engine.set_next(self._key, instant_ns(at, "at"))

    def _ask(self) -> int:
        """The reason to stop, 0 for none."""
        reason = self._reason()
        if kept:
            raise_kept()
        return reason

    def _reason(self) -> int:
        """As _ask; a handler may hear of a stop from the engine before the stop function has been called."""
        return self._engine.stopping(self) or self._stop

    # Without locks, as a signal handler may stop the run that its thread is asking about: each step is one operation on
    # the instance's dictionary, which is never done halfway.

    def _wait_on(self) -> Latch:
        latch: Latch = self.__dict__.setdefault("_latch", Latch())
        if self._stop or self._completed:
            latch.open()
        return latch

    def _asked_to_stop(self, reason: int) -> None:
        """Called when the run is asked to stop, on whatever thread noticed; the work hears of it once."""
        mine = self.__dict__
        if reason == _raw.SELENE_STOP_EXPIRING:
            mine.setdefault("_stop", reason)  # any other is stronger
        elif is_over(reason) or not is_over(self._stop):
            self._stop = reason
        if self._latch is not None:
            self._latch.open()
        cancel = mine.pop("_cancel", None)
        if cancel is not None:
            cancel()
        if self._lane is not None and is_over(reason) and reason != _raw.SELENE_STOP_SHUTDOWN:
            self._lane.abandon()
        elif self._lane is not None and reason in _LIMITS:
            self._lane.delay(self)
        on_stop = mine.pop("_on_stop", None)
        if on_stop is not None:
            try:
                on_stop(self, StopReason(reason))
            except BaseException as error:
                caught(error, "the stop function of handler %r raised", self.handler)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Run cannot be pickled: it belongs to the process that dispatched it")

    def __repr__(self) -> str:
        return f"<Run {self.id!r}, attempt {self.attempt}>"
