"""The scheduler: what it is opened with, conditions, events, store; tasks and cycles are in files of their own."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NoReturn, Self, TypeAlias, cast, get_args

from . import _callbacks, _raw
from ._conditions import Conditions, Constraint, names_of
from ._engine import Clock, Engine, closed, open_engine
from ._event import Event, EventStream, Mailbox, Subscription
from ._governor import Governor
from ._info import SchedulerInfo, scheduler_info
from ._library import encode, fast, library, out_pointer
from ._names import above_zero, said, texts, truth, whole
from ._scheduler_cycles import CycleCalls
from ._server import Client, Peer, Server, clients_of
from ._signals import Signals
from ._store import Path, StoreInfo, path_bytes, store_info
from ._terms import Kinds, kind_bits, raw_texts
from ._time import Duration, duration_ns, instant, maybe_instant, never_is_none, seconds
from ._trace import Trace
from ._workers import Workers, give_way

if TYPE_CHECKING:
    from .testing import ToldClock, VirtualClock


#: How the threads that run handlers compete with others.
ThreadQuality: TypeAlias = Literal["as_host", "background"]


def _has_processes(executor: Executor) -> bool:
    # Only who has such an executor needs what this imports.
    from concurrent.futures import ProcessPoolExecutor

    return isinstance(executor, ProcessPoolExecutor)


class Scheduler(CycleCalls):
    """Runs tasks in windows of limited time: highest score first, ending on time, remembering across restarts.

    - `path`: file of the store; None keeps the tasks in memory. `relaxed`: a power loss may undo the last calls.
    - `permitted`: the ids that may be registered; one that ends in ".*" permits all that begin with what is before.
    - `max_pending_refresh`, `max_pending_processing`: once and periodic tasks that may wait or run at a time, by
      default any number; `hold`: beyond that a task is accepted as held instead of refused.
    - `minimum_backoff`, `maximum_backoff`: bounds of the delays before retries; `backoff_jitter`: shortens each by up
      to this many per mille, from a generator seeded by `seed` (0: from the clock).
    - `minimum_interval_refresh`, `minimum_interval_processing`: least time from begin to begin of cycles.
    - `release_after`: how long after its end a run that never returned keeps its id.
    - `expedited_quota`: how long expedited tasks may run in 24 h (10 min); None is no limit.
    - `wait_log_entries`: how far back waits() knows what happened to all tasks alike: so many windows and dispatches.
    - `stop_grace`: how long a run whose timeout has passed may still complete. `crash_pause`: how long a task waits at
      least after a second run of it ended its process (30 s), each further time twice as long.
    - `max_overrun_threads`: handlers that may still run after their cycle; at that number cycles are refused (Busy).
      `max_overrun_per_handler`: of one handler, whose tasks are not eligible then until one returns.
    - `observed_range`: score with the observed range. `freshness`: rank by the freshness rule, which learns from what
      runs cost and how often they find something new; not both. `max_input_size`: bytes of input that a task may have
      (10,240). `max_output_size`: bytes of output that a run may leave (1 MiB); of a longer one nothing is kept, the
      task says so (`output_lost`), and reading the output raises TooLarge.
    - `clock`: a ToldClock of pyselene.testing, which threads wait for and a test moves; a VirtualClock, which stands
      still until it is advanced (as does any object with an `advance_ns`); or a function that gives nanoseconds since
      the Unix epoch, goes on by itself at about the pace of real time (waits last real time), and leaves the scheduler
      alone.
    - `owner`: the application's name. A store keeps the first one, and opens under another with StoreForeign; without a
      name anything opens it.
    - `executor`: where workers run instead of pyselene's own threads, such as a ThreadPoolExecutor.
    - `thread_quality`: "background" lets the threads that run handlers give way to all others, by the processor and the
      disk (Linux); by default they are as the thread that starts them.

    Opening raises InvalidArgument, or a StoreError that says what is wrong with the file, which stays as it is. A
    scheduler is safe from any thread. It ends by close(), by `with`, when nothing refers to it any more, or at exit.

    >>> with Scheduler() as scheduler:
    ...     @scheduler.task(priority="high")
    ...     def feature_flags(run):
    ...         return run.attempt == 1
    ...     report = scheduler.run_cycle(budget=30)
    >>> [(run.id, str(run.outcome)) for run in report.runs]
    [('feature_flags', 'new_data')]
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        permitted: Iterable[str] | None = None,
        hold: bool = False,
        observed_range: bool = False,
        freshness: bool = False,
        relaxed: bool = False,
        max_pending_refresh: int | None = None,
        max_pending_processing: int | None = None,
        minimum_backoff: Duration = 0,
        maximum_backoff: Duration = 5 * 3600,
        minimum_interval_refresh: Duration = 0,
        minimum_interval_processing: Duration = 0,
        release_after: Duration = 600,
        stop_grace: Duration = 5,
        expedited_quota: Duration | None = 600,
        backoff_jitter: int = 0,
        max_overrun_threads: int = 64,
        max_overrun_per_handler: int = 16,
        seed: int = 0,
        wait_log_entries: int = 4_096,
        max_input_size: int = 10_240,
        max_output_size: int = 1 << 20,
        crash_pause: Duration = 30,
        owner: str | None = None,
        clock: VirtualClock | ToldClock | Callable[[], int] | None = None,
        executor: Executor | None = None,
        thread_quality: ThreadQuality = "as_host",
    ) -> None:
        if executor is not None and (not hasattr(executor, "submit") or _has_processes(executor)):
            raise TypeError("executor must run functions in this process, such as a ThreadPoolExecutor")
        told: ToldClock | None = None
        if hasattr(clock, "_own"):
            told, clock = cast("ToldClock", clock), None
        if clock is not None and not callable(clock):
            raise TypeError(f"clock must be callable, not {type(clock).__name__}")
        raw = _raw.selene_options()
        raw.struct_size = ctypes.sizeof(raw)
        for what, wanted, bit in (
            ("hold", hold, _raw.SELENE_OPTIONS_HOLD),
            ("observed_range", observed_range, _raw.SELENE_OPTIONS_OBSERVED_RANGE),
            ("freshness", freshness, _raw.SELENE_OPTIONS_FRESHNESS),
            ("relaxed", relaxed, _raw.SELENE_OPTIONS_RELAXED),
        ):
            raw.flags |= bit if truth(wanted, what) else 0
        if permitted is not None:
            if isinstance(permitted, str):
                raise TypeError("permitted must hold several ids, not be one str")
            # Even an empty list permits something else than no list.
            listed = raw_texts(texts(permitted, "permitted"), "permitted")
            raw.permitted = ctypes.cast(listed, ctypes.POINTER(_raw.selene_text)) if len(listed) else _EMPTY
            raw.permitted_count = len(listed)
        raw.max_pending_refresh = _limit(max_pending_refresh, "max_pending_refresh")
        raw.max_pending_processing = _limit(max_pending_processing, "max_pending_processing")
        raw.minimum_backoff = said(duration_ns(minimum_backoff, "minimum_backoff"))
        raw.maximum_backoff = said(duration_ns(maximum_backoff, "maximum_backoff"))
        raw.minimum_interval_refresh = duration_ns(minimum_interval_refresh, "minimum_interval_refresh")
        raw.minimum_interval_processing = duration_ns(minimum_interval_processing, "minimum_interval_processing")
        raw.release_after = said(duration_ns(release_after, "release_after"))
        raw.stop_grace = said(duration_ns(stop_grace, "stop_grace"))
        raw.crash_pause = said(duration_ns(crash_pause, "crash_pause"))
        raw.expedited_quota = (
            _raw.SELENE_NEVER if expedited_quota is None else said(duration_ns(expedited_quota, "expedited_quota"))
        )
        raw.backoff_jitter = whole(backoff_jitter, "backoff_jitter", 1 << 32)
        raw.max_overrun_threads = said(whole(max_overrun_threads, "max_overrun_threads", 1 << 31))
        raw.max_overrun_per_handler = above_zero(
            whole(max_overrun_per_handler, "max_overrun_per_handler", 1 << 32), "max_overrun_per_handler", "1 … 1024"
        )
        raw.seed = whole(seed, "seed")
        raw.wait_log_entries = above_zero(whole(wait_log_entries, "wait_log_entries"), "wait_log_entries", "16 … 65536")
        raw.max_input_size = said(whole(max_input_size, "max_input_size", 1 << 63))
        raw.max_output_size = said(whole(max_output_size, "max_output_size", 1 << 63))
        name = b"" if path is None else path_bytes(path)
        if path is not None and not name:
            raise ValueError("path is empty; None keeps the tasks in memory")
        if name == b":memory:":
            raise ValueError("path is ':memory:'; Scheduler() without a path keeps the tasks in memory")
        raw.path = (name, len(name))
        if owner is not None:
            key = encode(owner, "owner")
            if not key:
                raise ValueError("owner is empty; None is for programs that work with any store")
            raw.owner = (key, len(key))
        if thread_quality not in get_args(ThreadQuality):
            raise ValueError(f"thread_quality is {thread_quality!r}; allowed: {', '.join(get_args(ThreadQuality))}")
        if thread_quality == "background":
            if executor is not None:
                raise ValueError("thread_quality and executor are both given; its threads are the host's own")
            raw.thread_quality = _raw.SELENE_THREADS_BACKGROUND
        host = None if clock is None else Clock(clock, clock if hasattr(clock, "advance_ns") else None)
        engine = Engine(host, path is None, executor)
        if thread_quality == "background":
            engine.workers = Workers(give_way)
        if told is not None:
            told._own(engine, raw)
        open_engine(engine, raw)
        self._own(engine)

    @classmethod
    def _of(cls, engine: Engine) -> Self:
        """One whose engine is open already."""
        scheduler = cls.__new__(cls)
        scheduler._own(engine)
        return scheduler

    def _own(self, engine: Engine) -> None:
        self._engine = engine
        self._finalizer = weakref.finalize(self, self._engine.drop)
        # The engines are closed at exit in one place, and before that they are still of use.
        self._finalizer.atexit = False

    # ---- conditions -------------------------------------------------------------

    def set_conditions(
        self,
        *,
        network: bool | None = None,
        power: bool | None = None,
        unmetered: bool | None = None,
        battery_not_low: bool | None = None,
        idle: bool | None = None,
        storage_not_low: bool | None = None,
        display_off: bool | None = None,
        not_roaming: bool | None = None,
    ) -> None:
        """Says which constraints are satisfied; what the last such call set and this one does not is cleared.

        It sets the signals behind them, which the governor looks at, too: a host that knows more, or for how long it
        holds, calls `signals.set`. A run in flight that loses a constraint is stopped.
        """
        host = satisfied = 0
        for what, value, bit in (
            ("network", network, Constraint.NETWORK),
            ("power", power, Constraint.EXTERNAL_POWER),
            ("unmetered", unmetered, Constraint.UNMETERED),
            ("battery_not_low", battery_not_low, Constraint.BATTERY_NOT_LOW),
            ("idle", idle, Constraint.IDLE),
            ("storage_not_low", storage_not_low, Constraint.STORAGE_NOT_LOW),
            ("display_off", display_off, Constraint.DISPLAY_OFF),
            ("not_roaming", not_roaming, Constraint.NOT_ROAMING),
        ):
            if value is not None:
                host |= bit
                satisfied |= bit if truth(value, what) else 0
        self._engine.check(self._engine.calls.selene_conditions_set(self._engine.handle, host, satisfied))

    def conditions(self) -> Conditions:
        """The constraints that are satisfied, as a cycle would find them now, and the host's conditions."""
        satisfied, host = ctypes.c_uint32(), ctypes.c_uint32()
        engine = self._engine
        engine.check(library.selene_conditions_get(engine.handle, ctypes.byref(satisfied), ctypes.byref(host)))
        named: dict[str, bool | None] = {}
        for name in names_of(engine, library.selene_condition_list):
            key, state = encode(name, "name"), ctypes.c_int32()
            status = library.selene_condition_get(engine.handle, key, len(key), ctypes.byref(state))
            if status == _raw.SELENE_ERROR_NOT_FOUND:  # gone meanwhile
                continue
            engine.check(status)
            defined = state.value != _raw.SELENE_CONDITION_UNDEFINED
            named[name] = state.value == _raw.SELENE_CONDITION_SATISFIED if defined else None
        return Conditions(Constraint(satisfied.value), Constraint(host.value), named)

    def define_condition(self, name: str, satisfied: bool | None = None) -> None:
        """Defines a condition of the host's own, for `conditions` of tasks; with `satisfied` it is set, too.

        At most 32, counting those that tasks ask for. The store keeps names, not what is satisfied: after a restart
        none is until it is set.

        >>> import pyselene as selene
        >>> scheduler = selene.Scheduler()
        >>> scheduler.define_condition("signed-in")
        >>> scheduler.set_condition("signed-in", True)
        >>> scheduler.conditions().named
        {'signed-in': True}
        """
        key = encode(name, "name")
        self._engine.check(self._engine.calls.selene_condition_define(self._engine.handle, key, len(key)))
        if satisfied is not None:
            self.set_condition(name, satisfied)

    def set_condition(self, name: str, satisfied: bool) -> None:
        """Says whether a condition that was defined is satisfied; a run in flight that loses one is stopped.

        NotFound where it is not defined.
        """
        key, value = encode(name, "name"), truth(satisfied, "satisfied")
        self._engine.check(self._engine.calls.selene_condition_set(self._engine.handle, key, len(key), value))

    def undefine_condition(self, name: str) -> None:
        """Takes the definition of a condition back, which is then not satisfied."""
        key = encode(name, "name")
        self._engine.check(self._engine.calls.selene_condition_undefine(self._engine.handle, key, len(key)))

    # ---- governor ---------------------------------------------------------------

    @property
    def signals(self) -> Signals:
        """What the governor looks at: `scheduler.signals["battery_level"]`, `.set(…)`, `.clear(…)`."""
        return Signals(self._engine)

    @property
    def governor(self) -> Governor:
        """What grants windows or refuses them, and says why."""
        return Governor(self._engine)

    def record_trace(self, path: Path) -> Trace:
        """Records signals, decisions, windows and runs into a new file, until the result's stop() or as a context.

        AlreadyExists: the file does, or another recording is under way. See replay_trace().
        """
        return Trace(self._engine, path)

    # ---- events -----------------------------------------------------------------

    def observe(self, observer: Callable[[Event], object]) -> Subscription:
        """Calls a function with every change, one at a time, in order, until the result's close().

        The thread that made a change delivers it, or, where the library has threads of its own, one of those, maybe
        after the call has returned. Of a connection it hears what happens in the owner, on a thread of its own, until
        the owner goes away, which is logged; events that come faster than it takes them are missing, the oldest first,
        as the numbers tell.
        """
        if not callable(observer):
            raise TypeError(f"an observer must be callable, not {type(observer).__name__}")
        return Subscription(self._subscribe(observer))

    def events(self, size: int = 10_000) -> EventStream:
        """A stream of the events from now on: `for event in …` blocks, `async for event in …` awaits."""
        box = Mailbox(whole(size, "size", 1 << 63))
        boxes = self._engine.mailboxes
        boxes.add(box)
        try:
            end = self._subscribe(box.put)
        except BaseException:
            boxes.discard(box)
            raise

        def close() -> None:
            end()
            boxes.discard(box)
            box.close()

        return EventStream(box, close)

    def _subscribe(self, observer: Callable[[Event], object]) -> Callable[[], None]:
        engine = self._engine
        observers = engine.observers
        subscription = object()

        def end() -> None:
            observers.functions.pop(subscription, None)

        if engine.connected:
            engine.listening.begin(engine, subscription, observer)
            return end
        with engine.changed:
            observers.functions[subscription] = observer
            engine.observing = True
        self._hear()
        return end

    def _hear(self) -> None:
        """The library hands its events to the observers from now on."""
        engine = self._engine
        with engine.changed:
            first, engine.hears = not engine.hears, True
        if first:
            number = _callbacks.hold(engine.observers)
            status = library.selene_scheduler_observe(engine.handle, _callbacks.event, number, _callbacks.destroy)
            engine.check(status)

    def _watch_clock(self) -> None:
        engine = self._engine
        if not engine.has_own_clock and engine.observers.clock_was_set is None:
            engine.observers.clock_was_set = engine.calendars.clock_was_set
            self._hear()

    # ---- other processes --------------------------------------------------------

    def serve(
        self,
        path: Path | None = None,
        *,
        allow: Iterable[Peer] = (),
        mode: int = 0o600,
        max_clients: int = 1024,
        descriptor: int | None = None,
        adopt: Duration = 10,
        thread: bool = True,
    ) -> Server:
        """Serves this scheduler to other processes of the machine, which connect(), on a thread of the library.

        `path`: the socket, by default the store's name and "-sock". The user of this process and root may do
        everything; `allow` says what others may, and `mode`, the socket's, who of them comes so far. `descriptor`: a
        Unix stream socket that listens, as systemd hands one over, in place of path and mode; the server has a
        duplicate, and its file stays. `adopt`: how long it waits for processes that had runs when the owner before
        ended without closing, at most a day; who connects again in that time keeps its runs, the others' were
        interrupted. `thread=False`: no thread serves, but the running event loop, by `async with scheduler.serve(
        thread=False):`, or another one of the host's, by fileno() and step(). Ends by the result's close(), as a
        context, or with the scheduler. AlreadyExists: another server answers there, or a file is there that is no
        socket.
        """
        return Server(self._engine, path, allow, mode, max_clients, descriptor, adopt, thread)

    def clients(self) -> list[Client]:
        """Which processes are connected to the servers of the scheduler, the last one first."""
        return clients_of(self._engine)

    @property
    def connected(self) -> bool:
        """Whether it is a connection to the process that has the scheduler: see connect()."""
        return self._engine.connected

    # ---- the rest ---------------------------------------------------------------

    @property
    def now_ns(self) -> int:
        """Scheduler time in nanoseconds since the Unix epoch; it never goes back."""
        return self._engine.now_ns()

    @property
    def now(self) -> datetime:
        """Scheduler time; it never goes back."""
        return instant(self._engine.now_ns())

    def next_wakeup(self) -> datetime | None:
        """When it is worth opening the next window; None: only an event can change that."""
        return maybe_instant(never_is_none(self._engine.next_wakeup()[0]))

    def next_wakeup_in(self) -> float | None:
        """The same as seconds from now."""
        delay = never_is_none(self._engine.next_wakeup()[1])
        return None if delay is None else seconds(delay)

    def prune(self) -> int:
        """Removes all tasks that succeeded, failed or were cancelled, now instead of after 24 h; says how many."""
        count = ctypes.c_uint64()
        self._engine.check(library.selene_scheduler_prune(self._engine.handle, ctypes.byref(count)))
        return count.value

    def reset(self) -> None:
        """Removes all tasks and all history; keeps handlers, options and conditions.

        Busy while a cycle is open; Reentrant inside a handler.
        """
        self._engine.refuse_in_handler("reset()")
        self._engine.check(library.selene_scheduler_reset(self._engine.handle))

    def info(self) -> SchedulerInfo:
        """Counts what the scheduler holds."""
        raw = _raw.selene_scheduler_info(ctypes.sizeof(_raw.selene_scheduler_info))
        self._engine.check(library.selene_scheduler_get(self._engine.handle, ctypes.byref(raw)))
        return scheduler_info(raw)

    def enable(self, kinds: Kinds) -> None:
        """Switches these kinds on and all others off; while a kind is off, its tasks and cycles are refused."""
        self._engine.check(library.selene_scheduler_enable(self._engine.handle, kind_bits(kinds)))

    def store(self) -> StoreInfo:
        """Where and how the tasks are stored."""
        address, target = out_pointer(_raw.selene_store_info)
        self._engine.check(library.selene_store_get(self._engine.handle, ctypes.byref(target)))
        try:
            return store_info(address.value or 0)
        finally:
            fast.selene_free(target)

    @property
    def path(self) -> str | None:
        """The file of the store; None in memory."""
        return self.store().path

    def backup(self, path: Path) -> None:
        """Copies the store, as it is now, into a new file while it is in use. A StoreError if that fails."""
        name = path_bytes(path)
        self._engine.check(library.selene_store_backup(self._engine.handle, name, len(name)))

    def drain(self, grace: Duration = 0.0) -> bool:
        """Dispatches nothing more, and waits up to `grace` seconds until nothing runs; whether that is so.

        Registering and everything else goes on, and what runs completes as always, until resume() or close(). Inside a
        handler only without a grace, else Reentrant.
        """
        return self._engine.drain(duration_ns(grace, "grace"))

    async def drain_async(self, grace: Duration = 0.0) -> bool:
        """The same without blocking the running event loop."""
        return await self._engine.drain_async(duration_ns(grace, "grace"))

    def close(self, grace: Duration = 1.0) -> None:
        """Ends it: drains for up to `grace` seconds, stops what is left, and waits for handlers for the rest of them.

        What completes meanwhile counts. In the last tenth of `grace`, at most 10 s, what is left is asked to stop; at
        the end it is over, and its tasks are enqueued as before. Runs that this thread pulls, or that its event loop
        awaits, are not waited for: see close_async(). Again: does nothing, but with less grace it comes before a call
        that waits. Inside a handler: Reentrant.
        """
        self._engine.close(duration_ns(grace, "grace"))

    async def close_async(self, grace: Duration = 1.0) -> None:
        """The same without blocking the running event loop, on which runs may complete meanwhile."""
        await self._engine.close_async(duration_ns(grace, "grace"))

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._engine.closed

    def __enter__(self) -> Self:
        if self.closed:
            raise closed()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Scheduler cannot be pickled; open one in each process, with a store of its own")

    def __repr__(self) -> str:
        return f"<Scheduler{', connected' if self.connected else ''}{', closed' if self.closed else ''}>"


def _limit(value: int | None, what: str) -> int:
    return _raw.SELENE_UNLIMITED if value is None else said(whole(value, what, _raw.SELENE_UNLIMITED))


_EMPTY = ctypes.pointer(_raw.selene_text())
