"""The scheduler: tasks, handlers, cycles, conditions, events, store."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar, overload

from . import _callbacks, _raw
from ._conditions import Conditions, Constraint
from ._cycle import AsyncDrive, Cycle, begin, raw_window
from ._drive import Drive
from ._driver import Driver, OnReport
from ._engine import Clock, Engine, open_engine
from ._errors import AlreadyExists, SeleneError, Unsupported
from ._event import Event, EventStream, Mailbox, Subscription
from ._explanation import Explanation, explanation
from ._handler import Function, Handler, OnStop
from ._info import SchedulerInfo, scheduler_info
from ._library import encode, error_of, fast, library, read, read_array, text
from ._push import Pushed
from ._report import Plan, Report, take_plan, take_report
from ._run import Kind
from ._store import Path, StoreInfo, path_bytes, store_info
from ._task import (
    Disposition,
    Existing,
    Kinds,
    Schedule,
    Task,
    TaskInfo,
    kind_bits,
    raw_task,
    raw_texts,
    task_info,
    whole,
)
from ._time import Duration, duration_ns, instant, instant_ns, maybe_instant, never_is_none, seconds

if TYPE_CHECKING:
    from .testing import VirtualClock

F = TypeVar("F", bound=Callable[..., Any])
_BOTH = (Kind.REFRESH, Kind.PROCESSING)


class Scheduler:
    """Runs tasks in windows of limited time: the worthiest first, ending on time, remembering across restarts.

    - `path`: file of the store; None keeps the tasks in memory. `relaxed`: a power loss may undo the last calls.
    - `permitted`: the ids that may be registered; one that ends in ".*" permits all that begin with what is before.
    - `max_pending_refresh`, `max_pending_processing`: once and periodic tasks that may wait or run at a time (None: any
      number); `hold`: beyond that a task is accepted as held instead of refused.
    - `minimum_backoff`, `maximum_backoff`: bounds of the delays before retries; `backoff_jitter`: shortens each by up
      to so many per mille, from a generator seeded by `seed` (0: from the clock).
    - `minimum_interval_refresh`, `minimum_interval_processing`: least time from begin to begin of cycles.
    - `release_after`: what has not come back so long after its end is let go.
    - `max_overrun_threads`: handlers that may still run after their cycle; at that number cycles are refused (Busy).
    - `observed_range`: score with the observed range. `max_input_size`: bytes of input that a task may have.
    - `clock`: a VirtualClock, or a function that gives nanoseconds since the Unix epoch and leaves the scheduler alone.
    - `executor`: where workers run instead of pyselene's own threads, such as a ThreadPoolExecutor.

    It is safe from any thread. It ends by close(), by `with`, when nobody refers to it any more, or at exit.

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
        relaxed: bool = False,
        max_pending_refresh: int | None = 1,
        max_pending_processing: int | None = 10,
        minimum_backoff: Duration = 10,
        maximum_backoff: Duration = 5 * 3600,
        minimum_interval_refresh: Duration = 0,
        minimum_interval_processing: Duration = 0,
        release_after: Duration = 600,
        backoff_jitter: int = 0,
        max_overrun_threads: int = 16,
        seed: int = 0,
        max_input_size: int = 10_240,
        clock: VirtualClock | Callable[[], int] | None = None,
        executor: Executor | None = None,
    ) -> None:
        if isinstance(executor, ProcessPoolExecutor) or (executor is not None and not hasattr(executor, "submit")):
            raise TypeError("executor must run functions in this process, such as a ThreadPoolExecutor")
        if clock is not None and not callable(clock):
            raise TypeError(f"clock must be callable, not {type(clock).__name__}")
        raw = _raw.selene_options()
        fast.selene_options_init(ctypes.byref(raw), ctypes.sizeof(raw))
        for wanted, bit in (
            (hold, _raw.SELENE_OPTIONS_HOLD),
            (observed_range, _raw.SELENE_OPTIONS_OBSERVED_RANGE),
            (relaxed, _raw.SELENE_OPTIONS_RELAXED),
        ):
            raw.flags |= bit if wanted else 0
        if permitted is not None:
            if isinstance(permitted, str):
                raise TypeError("permitted must hold several ids, not be one str")
            # Even an empty list permits something else than no list.
            listed = raw_texts(list(permitted), "permitted")
            raw.permitted = ctypes.cast(listed, ctypes.POINTER(_raw.selene_text)) if len(listed) else _EMPTY
            raw.permitted_count = len(listed)
        raw.max_pending_refresh = _limit(max_pending_refresh, "max_pending_refresh")
        raw.max_pending_processing = _limit(max_pending_processing, "max_pending_processing")
        raw.minimum_backoff = duration_ns(minimum_backoff, "minimum_backoff")
        raw.maximum_backoff = duration_ns(maximum_backoff, "maximum_backoff")
        raw.minimum_interval_refresh = duration_ns(minimum_interval_refresh, "minimum_interval_refresh")
        raw.minimum_interval_processing = duration_ns(minimum_interval_processing, "minimum_interval_processing")
        raw.release_after = duration_ns(release_after, "release_after")
        raw.backoff_jitter = whole(backoff_jitter, "backoff_jitter", 1 << 32)
        raw.max_overrun_threads = whole(max_overrun_threads, "max_overrun_threads", 1 << 32)
        raw.seed = whole(seed, "seed")
        raw.max_input_size = whole(max_input_size, "max_input_size")
        name = b"" if path is None else path_bytes(path)
        if path is not None and not name:
            raise ValueError("path is empty; None keeps the tasks in memory")
        raw.path = (name, len(name))
        host = None if clock is None else Clock(clock, clock if hasattr(clock, "advance_ns") else None)
        self._engine = Engine(host, path is None, executor, max_overrun_threads)
        open_engine(self._engine, raw)
        self._finalizer = weakref.finalize(self, self._engine.drop)
        # The engines are closed at exit in one place, and before that they are still of use.
        self._finalizer.atexit = False
        self._driver: Driver | None = None

    # ---- handlers ---------------------------------------------------------------

    def register_handler(
        self, name: str, function: Function | None, *, on_stop: OnStop | None = None, push: bool = False
    ) -> None:
        """Registers the function that runs the tasks which name it.

        `function(run)` works on a thread of pyselene, or, if it is `async def`, on the event loop. What it returns:
        None or True (new data), False (no data), an Outcome, or PENDING (the work ends elsewhere, by run.complete()).
        What it raises: Retry, Abandon; anything else means failed. `on_stop(run, reason)` is called when a run is asked
        to stop, on whatever thread noticed. `push`: threads of the library can call it too (run_cycle(push=True)).
        None as function is for tasks that only pulled cycles (begin) run. The same function again changes nothing;
        another one under a live name raises AlreadyExists.
        """
        key = encode(name, "name")
        if function is None:
            function = _not_callable
        elif not callable(function):
            raise TypeError(f"a handler must be callable, not {type(function).__name__}")
        engine = self._engine
        handler = Handler(engine, name, function, on_stop, push)
        if push and handler.is_async:
            raise TypeError("an async handler runs on an event loop; it cannot be pushed")
        with engine.changed:
            old = engine.handlers.get(key)
            if old is not None and (old.function, old.on_stop, old.push) == (function, on_stop, push):
                return
            if old is not None:
                text = f'a handler "{name}" is registered'
                raise AlreadyExists(_raw.SELENE_ERROR_ALREADY_EXISTS, "ALREADY_EXISTS", text)
            status = fast.selene_handler_register(
                engine.handle,
                key,
                len(key),
                _callbacks.run if push else _NO_RUN,
                _callbacks.stop,
                _callbacks.hold(handler),
                _callbacks.destroy,
            )
            engine.check(status)
            engine.handlers[key] = handler
        engine.poke()

    def unregister_handler(self, name: str) -> None:
        """Unregisters a handler; its tasks stay and wait for another. Runs in flight go on."""
        key = encode(name, "name")
        engine = self._engine
        with engine.changed:
            engine.check(engine.calls.selene_handler_unregister(engine.handle, key, len(key)))
            engine.handlers.pop(key, None)

    @property
    def handlers(self) -> tuple[str, ...]:
        """The names of the registered handlers."""
        return tuple(sorted(key.decode() for key in tuple(self._engine.handlers)))

    @overload
    def handler(self, name: F, /) -> F: ...
    @overload
    def handler(
        self, name: str | None = None, *, on_stop: OnStop | None = None, push: bool = False
    ) -> Callable[[F], F]: ...
    def handler(self, name: Any = None, *, on_stop: OnStop | None = None, push: bool = False) -> Any:
        """Decorates a function as a handler, under its own name or another; see register_handler."""
        if callable(name):
            self.register_handler(name_of(name), name)
            return name

        def decorate(function: F) -> F:
            self.register_handler(name or name_of(function), function, on_stop=on_stop, push=push)
            return function

        return decorate

    # ---- tasks ------------------------------------------------------------------

    @overload
    def task(self, id: F, /) -> F: ...
    @overload
    def task(
        self, id: str | None = None, *, on_stop: OnStop | None = None, push: bool = False, **fields: Any
    ) -> Callable[[F], F]: ...
    def task(self, id: Any = None, *, on_stop: OnStop | None = None, push: bool = False, **fields: Any) -> Any:
        """Decorates a function: registers it as a handler and as a task, by default under its own name.

        The fields are those of Task: `every` makes it periodic, without it the task is a candidate in every window.

        >>> scheduler = Scheduler()
        >>> @scheduler.task(every=3600, requires={"network"}, tags={"upload"})
        ... def upload_calendar(run): ...
        >>> scheduler.get("upload_calendar").every
        3600.0
        """
        if callable(id):
            return self.task()(id)

        def decorate(function: F) -> F:
            name = id if id is not None else name_of(function)
            definition = Task(name, **fields)
            key = definition.handler or name
            fresh = key.encode() not in self._engine.handlers
            self.register_handler(key, function, on_stop=on_stop, push=push)
            try:
                self.register(definition)
            except BaseException:
                if fresh:
                    self.unregister_handler(key)
                raise
            return function

        return decorate

    def register(self, task: Task) -> Disposition:
        """Registers a task; says what that did."""
        raw, _keep = raw_task(task)
        disposition = ctypes.c_int32()
        engine = self._engine
        status = engine.calls.selene_task_register(engine.handle, ctypes.byref(raw), ctypes.byref(disposition))
        engine.check(status)
        engine.poke()
        return Disposition(disposition.value)

    def register_all(self, tasks: Iterable[Task]) -> list[Disposition | SeleneError]:
        """Registers many tasks in one commit; a refused one does not stop the others and is answered by its error."""
        found = [raw_task(task) for task in tasks]
        count = len(found)
        pointers = (ctypes.POINTER(_raw.selene_task) * count)(*(ctypes.pointer(raw) for raw, _ in found))
        statuses = (ctypes.c_int32 * count)()
        dispositions = (ctypes.c_int32 * count)()
        engine = self._engine
        status = library.selene_task_register_batch(engine.handle, pointers, count, statuses, dispositions)
        engine.check(status)
        engine.poke()
        return [
            error_of(status) if status else Disposition(disposition)
            for status, disposition in zip(statuses, dispositions, strict=True)
        ]

    def enqueue(
        self,
        id: str,
        *,
        input: bytes = b"",
        delay: Duration = 0,
        at: datetime | None = None,
        existing: Existing | str | None = None,
        handler: str | Function | None = None,
        **fields: Any,
    ) -> Disposition:
        """Registers work to be done once: not before `delay` seconds, or before the instant `at`.

        `handler` is a handler's name (by default the id), or a function, which is then registered under its own name.
        The other fields are those of Task.
        """
        name: str | None
        if handler is None or isinstance(handler, str):
            name = handler
        else:
            name = getattr(handler, "__name__", "")
            name = name if name.isidentifier() else id
        if at is not None:
            if delay:
                raise ValueError("delay and at are both given")
            # In whole microseconds, as datetimes count, and never before the instant.
            delay = timedelta(microseconds=max(0, -((self.now_ns - instant_ns(at, "at")) // 1_000)))
        task = Task(id, name, schedule=Schedule.ONCE, existing=existing, input=input, delay=delay, **fields)
        if name is not None and callable(handler):
            self.register_handler(name, handler)
        return self.register(task)

    def get(self, id: str, position: int = 0) -> TaskInfo:
        """A task's record: the live one, else the last; at position 1 … those that wait behind it. NotFound."""
        key = encode(id, "id")
        engine = self._engine
        address, target = _pointer(_raw.selene_task_info)
        status = library.selene_task_get(
            engine.handle, key, len(key), whole(position, "position"), ctypes.byref(target)
        )
        engine.check(status)
        try:
            return task_info(address.value or 0)
        finally:
            fast.selene_task_info_destroy(target)

    def ids(self, tag: str | None = None) -> list[str]:
        """The ids of all tasks, or of those that carry a tag, in order of registration."""
        key = None if tag is None else encode(tag, "tag")
        engine = self._engine
        address, target = _pointer(_raw.selene_task_ids)
        status = library.selene_task_list(engine.handle, key, 0 if key is None else len(key), ctypes.byref(target))
        engine.check(status)
        try:
            _, _, count, ids = read(_raw.selene_task_ids, address.value or 0)
            return [text(*item) for item in read_array(_raw.selene_text, ids, count)]
        finally:
            fast.selene_task_ids_destroy(target)

    def tasks(self, tag: str | None = None) -> list[TaskInfo]:
        """The records of all tasks, or of those that carry a tag, in order of registration."""
        found = []
        for key in self.ids(tag):
            try:
                found.append(self.get(key))
            except LookupError:
                pass  # pruned meanwhile
        return found

    def __contains__(self, id: object) -> bool:
        if not isinstance(id, str):
            return False
        try:
            self.get(id)
        except (LookupError, ValueError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids())

    def __len__(self) -> int:
        return len(self.ids())

    def __bool__(self) -> bool:
        return True

    def cancel(self, id: str) -> int:
        """Cancels a task and all that wait behind it, a run in flight is stopped; says how many. NotFound."""
        key = encode(id, "id")
        return self._count(self._engine.calls.selene_task_cancel, key, len(key))

    def cancel_tag(self, tag: str) -> int:
        """Cancels every live task that carries the tag, and what waits behind them; says how many."""
        key = encode(tag, "tag")
        return self._count(self._engine.calls.selene_task_cancel_tag, key, len(key))

    def cancel_all(self) -> int:
        """Cancels every live task; says how many."""
        return self._count(library.selene_task_cancel_all)

    def prune(self) -> int:
        """Removes all tasks that succeeded, failed or were cancelled, now instead of after 24 h; says how many."""
        return self._count(library.selene_scheduler_prune)

    def reset(self) -> None:
        """Removes all tasks and all history; keeps handlers, options and conditions. Busy while a cycle is open."""
        self._engine.check(library.selene_scheduler_reset(self._engine.handle))

    def explain(self, id: str) -> Explanation:
        """Every reason why a task does not run now, and when it may; `print` it."""
        key = encode(id, "id")
        raw = _raw.selene_explanation(ctypes.sizeof(_raw.selene_explanation))
        self._engine.check(library.selene_task_explain(self._engine.handle, key, len(key), ctypes.byref(raw)))
        return explanation(id, raw)

    # ---- cycles -----------------------------------------------------------------

    def run_cycle(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds = Kind.REFRESH,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        task: str | None = None,
        inline: bool | None = None,
        push: bool = False,
        check: bool = False,
    ) -> Report:
        """Opens a window, runs what fits into it, and reports by the deadline, whatever the handlers do.

        - `budget`: seconds from begin to deadline. `reserve`: seconds before it at which runs are asked to stop; by
          default a twentieth of the budget. `lanes`: runs at a time, up to 64.
        - `strict_fit`: nothing is started whose estimate does not fit, not even first.
        - `task`: only this one, whatever its rank and delay; ImmediateRunIneligible if it cannot run.
        - `inline`: handlers run on this thread; only those that look at run.stopping end on time then. With a clock of
          your own it is always so. `push`: threads of the library call the handlers (those registered with push).
        - `check`: raises an ExceptionGroup if handlers raised; without it `report.errors` has what they raised.

        KeyboardInterrupt and SystemExit end the window and are raised here, also when a handler raised them.
        """
        engine = self._engine
        if inline is None:
            inline = engine.clock is not None
        elif not inline and engine.clock is not None:
            raise _unsupported("with a clock of its own a scheduler runs handlers inline only")
        if push:
            report = self._run_pushed(raw_window(budget, kinds, reserve, lanes, strict_fit, task), inline)
        else:
            if inline and lanes != 1:
                raise ValueError(f"lanes is {lanes}; allowed for inline cycles: 1")
            window = raw_window(budget, kinds, reserve, lanes, strict_fit, task)
            began = engine.now_ns()
            report = Drive(engine, begin(engine, window), lanes, began + window.budget, inline).run()
        if engine.clock is not None:
            engine.clock.check()
        if check:
            report.check()
        return report

    async def run_cycle_async(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds = Kind.REFRESH,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        task: str | None = None,
        push: bool = False,
        check: bool = False,
    ) -> Report:
        """The same on the running event loop: `async def` handlers run on it and are cancelled when asked to stop.

        Other handlers run on pyselene's threads. If it is cancelled itself, the window ends.
        """
        engine = self._engine
        window = raw_window(budget, kinds, reserve, lanes, strict_fit, task)
        if push:
            report = await Pushed(engine).run(window)
        else:
            began = engine.now_ns()
            report = await AsyncDrive(engine, begin(engine, window), began + window.budget).run()
        if check:
            report.check()
        return report

    def begin(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds = Kind.REFRESH,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        task: str | None = None,
    ) -> Cycle:
        """Begins a cycle that you pull yourself; see Cycle."""
        return Cycle(self._engine, raw_window(budget, kinds, reserve, lanes, strict_fit, task))

    def plan(
        self,
        budget: Duration = 30,
        *,
        kinds: Kinds = Kind.REFRESH,
        reserve: Duration | None = None,
        lanes: int = 1,
        strict_fit: bool = False,
        task: str | None = None,
    ) -> Plan:
        """What such a window would pick now if every run took its estimate; runs nothing, changes nothing."""
        window = raw_window(budget, kinds, reserve, lanes, strict_fit, task)
        address, target = _pointer(_raw.selene_plan)
        self._engine.check(library.selene_cycle_plan(self._engine.handle, ctypes.byref(window), ctypes.byref(target)))
        return take_plan(address.value or 0)

    def _run_pushed(self, window: _raw.selene_window, inline: bool) -> Report:
        engine = self._engine
        if inline:
            window.flags |= _raw.SELENE_WINDOW_INLINE
        address, target = _pointer(_raw.selene_report)
        status = library.selene_cycle_run(engine.handle, ctypes.byref(window), ctypes.byref(target))
        engine.check(status)
        report = take_report(address.value or 0, engine.pushed_exceptions)
        engine.forget_pushed(report)
        return report

    # ---- driver -----------------------------------------------------------------

    def run_forever(
        self,
        budget: Duration = 30,
        *,
        every: Duration | None = None,
        kinds: Kinds = _BOTH,
        lanes: int = 1,
        strict_fit: bool = False,
        on_report: OnReport | None = None,
        signals: bool = True,
    ) -> None:
        """Opens windows until stop(), SIGINT or SIGTERM: whenever something may run, or once in `every` seconds.

        In between it sleeps until next_wakeup(), a new task, or new conditions. When it is to end, nothing more is
        started, what runs is asked to stop and has a few seconds. `on_report` gets each report that has runs.
        """
        window = {"budget": budget, "lanes": lanes, "strict_fit": strict_fit}
        driver = self._driver = Driver(self, kinds, every, on_report, window)
        with driver.signals(signals):
            driver.run()

    async def run_forever_async(
        self,
        budget: Duration = 30,
        *,
        every: Duration | None = None,
        kinds: Kinds = _BOTH,
        lanes: int = 1,
        strict_fit: bool = False,
        on_report: OnReport | None = None,
        signals: bool = True,
    ) -> None:
        """The same on the running event loop; also ends when it is cancelled."""
        window = {"budget": budget, "lanes": lanes, "strict_fit": strict_fit}
        driver = self._driver = Driver(self, kinds, every, on_report, window)
        with driver.signals(signals):
            await driver.run_async()

    def stop(self) -> None:
        """Ends run_forever(), from any thread, also from a handler."""
        driver = self._driver
        if driver is not None:
            driver.stop()

    # ---- conditions -------------------------------------------------------------

    def set_conditions(self, *, network: bool | None = None, power: bool | None = None) -> None:
        """Says whether conditions are satisfied; None gives one back to the system, which is read at each begin.

        A run in flight that loses a condition is stopped.
        """
        host = satisfied = 0
        for value, bit in ((network, _raw.SELENE_CONSTRAINT_NETWORK), (power, _raw.SELENE_CONSTRAINT_EXTERNAL_POWER)):
            if value is not None:
                host |= bit
                satisfied |= bit if value else 0
        self._engine.check(self._engine.calls.selene_conditions_set(self._engine.handle, host, satisfied))
        self._engine.poke()

    def conditions(self) -> Conditions:
        """The conditions as a cycle would find them now."""
        satisfied, host = ctypes.c_uint32(), ctypes.c_uint32()
        engine = self._engine
        engine.check(library.selene_conditions_get(engine.handle, ctypes.byref(satisfied), ctypes.byref(host)))
        return Conditions(Constraint(satisfied.value), Constraint(host.value))

    # ---- events -----------------------------------------------------------------

    def observe(self, observer: Callable[[Event], object]) -> Subscription:
        """Calls a function with every change, one at a time, on whatever thread made it, until the result's close()."""
        if not callable(observer):
            raise TypeError(f"an observer must be callable, not {type(observer).__name__}")
        return Subscription(self._subscribe(observer))

    def events(self, size: int = 10_000) -> EventStream:
        """A stream of the events from now on: `for event in …` blocks, `async for event in …` awaits."""
        box = Mailbox(size)
        end = self._subscribe(box.put)
        boxes = self._engine.mailboxes
        boxes.add(box)

        def close() -> None:
            end()
            boxes.discard(box)
            box.close()

        return EventStream(box, close)

    def _subscribe(self, observer: Callable[[Event], object]) -> Callable[[], None]:
        engine = self._engine
        observers = engine.observers
        with engine.changed:
            observers.functions += (observer,)
            first, engine.observing = not engine.observing, True
        if first:
            number = _callbacks.hold(observers)
            status = library.selene_scheduler_observe(engine.handle, _callbacks.event, number, _callbacks.destroy)
            engine.check(status)
        changed = engine.changed

        def end() -> None:
            with changed:
                observers.functions = tuple(item for item in observers.functions if item is not observer)

        return end

    # ---- the rest ---------------------------------------------------------------

    @property
    def now_ns(self) -> int:
        """Scheduler time in nanoseconds since the Unix epoch; it never goes back."""
        return self._engine.now_ns()

    @property
    def now(self) -> datetime:
        """Scheduler time; it never goes back."""
        return instant(self._engine.now_ns())

    def _next_wakeup(self) -> tuple[int, int]:
        at, delay = ctypes.c_int64(), ctypes.c_int64()
        engine = self._engine
        status = engine.calls.selene_scheduler_next_wakeup(engine.handle, ctypes.byref(at), ctypes.byref(delay))
        engine.check(status)
        return at.value, delay.value

    def next_wakeup(self) -> datetime | None:
        """When it is worth opening the next window; None: only an event can change that."""
        return maybe_instant(never_is_none(self._next_wakeup()[0]))

    def next_wakeup_in(self) -> float | None:
        """The same as seconds from now."""
        delay = never_is_none(self._next_wakeup()[1])
        return None if delay is None else seconds(delay)

    def info(self) -> SchedulerInfo:
        """Counts what the scheduler holds."""
        raw = _raw.selene_scheduler_info(ctypes.sizeof(_raw.selene_scheduler_info))
        self._engine.check(library.selene_scheduler_get(self._engine.handle, ctypes.byref(raw)))
        return scheduler_info(raw, self._engine.left)

    def enable(self, kinds: Kinds) -> None:
        """Switches these kinds on and all others off; while a kind is off, its tasks and cycles are refused."""
        self._engine.check(library.selene_scheduler_enable(self._engine.handle, kind_bits(kinds)))
        self._engine.poke()

    def store(self) -> StoreInfo:
        """Where and how the tasks are stored."""
        address, target = _pointer(_raw.selene_store_info)
        self._engine.check(library.selene_store_get(self._engine.handle, ctypes.byref(target)))
        try:
            return store_info(address.value or 0)
        finally:
            fast.selene_store_info_destroy(target)

    @property
    def path(self) -> str | None:
        """The file of the store; None in memory."""
        return self.store().path

    def backup(self, path: Path) -> None:
        """Copies the store, as it is now, into a new file while it is in use."""
        name = path_bytes(path)
        self._engine.check(library.selene_store_backup(self._engine.handle, name, len(name)))

    def close(self, grace: Duration = 1.0) -> None:
        """Stops runs (their tasks are enqueued as before), waits up to `grace` seconds for handlers, and ends.

        Again: does nothing. Inside a handler: Reentrant.
        """
        driver = self._driver
        self._engine.close(duration_ns(grace, "grace"))
        if driver is not None:
            driver.stopping = True
            driver.wake()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._engine.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Scheduler cannot be pickled; open one in each process, with a store of its own")

    def __repr__(self) -> str:
        return f"<Scheduler{', closed' if self.closed else ''}>"

    def _count(self, function: Any, *arguments: Any) -> int:
        count = ctypes.c_uint64()
        self._engine.check(function(self._engine.handle, *arguments, ctypes.byref(count)))
        return count.value


def _limit(value: int | None, what: str) -> int:
    return _raw.SELENE_UNLIMITED if value is None else whole(value, what, _raw.SELENE_UNLIMITED)


def _pointer(structure: Any) -> tuple[ctypes.c_void_p, Any]:
    """A pointer for the library to fill, as an address and as its type."""
    address = ctypes.c_void_p()
    return address, ctypes.POINTER(structure).from_buffer(address)


def _unsupported(detail: str) -> Unsupported:
    return Unsupported(_raw.SELENE_ERROR_UNSUPPORTED, "UNSUPPORTED", detail)


def _not_callable(_run: object) -> NoReturn:
    raise RuntimeError("this handler has no function: its tasks are for cycles that you pull by begin()")


def name_of(function: Any) -> str:
    """The name that a function gives a handler or a task."""
    name = getattr(function, "__name__", None)
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{function!r} has no name of its own; give one")
    return name


_NO_RUN = _raw.selene_run_fn()
_EMPTY = ctypes.pointer(_raw.selene_text())
