"""Handlers: functions under a name, and what their results and exceptions mean."""

from __future__ import annotations

import asyncio
import ctypes
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Concatenate, TypeAlias

from . import _raw
from ._arguments import unpacked
from ._callbacks import ends_process, log, take_kept
from ._errors import TooLarge
from ._failure import describe
from ._roles import Host
from ._run import PENDING, RUN_SIZE, UNPACK, Abandon, Outcome, Retry, Run, Stopped, StopReason

#: A function, or a coroutine function, that runs a task; what its results mean, HandlerCalls.register_handler tells.
Function: TypeAlias = Callable[[Run], object] | Callable[Concatenate[Run, ...], object]
#: A function that is told that a run should stop.
OnStop: TypeAlias = Callable[[Run, StopReason], object]


def is_async(function: object) -> bool:
    """Whether calling it gives a coroutine: async def, also as a partial, a method or an object's __call__.

    >>> async def upload(run): ...
    >>> is_async(upload), is_async(functools.partial(upload)), is_async(print)
    (True, True, False)
    """
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or (
        not inspect.isroutine(function) and inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
    )


def refuse_unfit(name: str, function: object, takes: tuple[str, ...], *, may_take_more: bool = False) -> None:
    """TypeError for a function that cannot be called with what the library hands it, or would do nothing then.

    `may_take_more`: the arguments of tasks may be what else it takes.

    >>> refuse_unfit('handler "tidy"', lambda: None, ("run",))
    Traceback (most recent call last):
    TypeError: handler "tidy" is called as <lambda>(run), but takes ()
    """
    called = getattr(function, "__name__", type(function).__name__)
    if not callable(function):
        raise TypeError(f"{name} must be callable, not {type(function).__name__}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{name} is a generator function: {called}({', '.join(takes)}) would not run its body")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # it says nothing about itself
    try:
        # What needs more, and an object first, is a method without its object.
        if may_take_more and next(iter(signature.parameters), "") not in ("self", "cls"):
            signature.bind_partial(*takes)
        else:
            signature.bind(*takes)
    except TypeError:
        raise TypeError(f"{name} is called as {called}({', '.join(takes)}), but takes {signature}") from None


def called_with_run(function: Function) -> Callable[[Run], Any]:
    """The function as it is called with a run alone: what it takes besides are the arguments of the run's task."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return function  # it says nothing about itself
    if len(parameters) == 1 and not any(
        each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters.values()
    ):
        return function

    def call(run: Run) -> Any:
        args, kwargs = (unpacked(run.input) if run.input else None) or ([], {})
        return function(run, *args, **kwargs)

    async def call_async(run: Run) -> Any:
        return await call(run)

    return call_async if is_async(function) else call


class Handler:
    """A registered handler. The library holds on to it until its last use, and calls it by `stopped` and `pushed`."""

    __slots__ = ("body", "call", "engine", "function", "is_async", "name", "on_stop", "push")

    def __init__(self, engine: Host, name: str, function: Function, on_stop: OnStop | None, push: bool) -> None:
        self.engine = engine
        self.name = name
        self.function: Function = function
        #: The function, called with a run alone.
        self.body: Callable[[Run], Any] = called_with_run(function)
        #: What is called for it: the body, or what is around it (Engine.wrap).
        self.call: Callable[[Run], Any] = self.body
        self.on_stop = on_stop
        self.push = push
        self.is_async = is_async(function)

    def stopped(self, token: int, reason: int) -> None:
        """The engine asks a run to stop."""
        self.engine.stop(token, reason)

    def pushed(self, _token: int, info: int) -> None:
        """The engine runs a task on a thread of its own."""
        run = make_run(self.engine, ctypes.string_at(info, RUN_SIZE))
        self.engine.enter(run)
        # Its own even when a handler that overran comes back after the report.
        exceptions = self.engine.pushed.setdefault(run.cycle_token, {})
        error = execute(run, self, exceptions)
        if error is not None:
            exceptions[run.token] = error


#: Of a task whose handler was unregistered between the pick and the run.
GONE = Handler(None, "", lambda _: Outcome.FAILED, None, False)  # type: ignore[arg-type]


def make_run(engine: Host, raw: bytes) -> Run:
    """A run of the bytes of the library's structure, whose texts are copied."""
    _, _, token, _, key, key_length, name, name_length, data, length, *_ = UNPACK(raw)
    string_at = ctypes.string_at
    return Run(
        engine,
        token,
        raw,
        string_at(key, key_length),
        string_at(name, name_length),
        string_at(data, length) if length else b"",
    )


def outcome_of(result: object) -> int | None:
    """The outcome that a handler's result means; None for PENDING.

    >>> [outcome_of(result) for result in (None, True, {"rows": 3}, 0, False, Outcome.FAILED, PENDING)]
    [0, 0, 0, 0, 1, <Outcome.FAILED: 2>, None]
    """
    if result is False:
        return 1
    if result is PENDING:
        return None
    if isinstance(result, Outcome):
        if result != Outcome.EXPIRED:
            return result
        raise TypeError(f"a handler returned {result!r}; allowed: new_data, no_data, failed, abandoned, stopped")
    if inspect.isawaitable(result) or inspect.isgenerator(result):
        raise TypeError(f"a handler returned {result!r}, which has not run; await it in an async def")
    return 0


def leave(run: Run, result: object) -> None:
    """What a handler returned is its output, if it can be: what cannot has succeeded all the same."""
    try:
        run.set_output(result)
    except (TypeError, ValueError, RecursionError, TooLarge) as error:
        log.warning("task %r succeeded, but what its handler returned is not kept: %s", run.id, error)


def finish(run: Run, result: object) -> None:
    """Completes a run by what its handler returned; a coroutine is run to its end first."""
    if inspect.iscoroutine(result):
        loop = None if run._lane is None else run._lane.loop
        result = asyncio.run(cancellable(run, result)) if loop is None else _run_on(loop, run, result)
    if not run._completed:
        outcome = outcome_of(result)
        if outcome == 0 and not isinstance(result, bool | Outcome | None):
            leave(run, result)
        if outcome is not None:
            run._engine.complete_quietly(run, outcome)


def _run_on(loop: asyncio.AbstractEventLoop, run: Run, work: Coroutine[Any, Any, Any]) -> Any:
    """Has a loop of another thread run a handler's coroutine; what it gives, or raises."""
    ended: Future[tuple[Any, BaseException | None]] = Future()

    async def follow() -> None:
        # What would end the loop belongs to who waits for the window.
        try:
            ended.set_result((await cancellable(run, work), None))
        except BaseException as error:
            ended.set_result((None, error))

    def start() -> None:
        task = loop.create_task(follow(), name=f"pyselene {run.id}")
        _working.add(task)
        task.add_done_callback(leave_loop)

    def leave_loop(task: asyncio.Task[None]) -> None:
        _working.discard(task)
        if not ended.done():  # cancelled before it began
            work.close()
            ended.set_result((None, asyncio.CancelledError()))

    try:
        loop.call_soon_threadsafe(start)
    except RuntimeError:  # the loop is closed
        work.close()
        raise
    result, error = ended.result()
    if error is not None:
        raise error
    return result


#: Coroutines on the loops of drivers: a loop itself would forget them.
_working: set[asyncio.Task[None]] = set()


def fail(run: Run, error: BaseException, exceptions: dict[int, BaseException]) -> bool:
    """Completes a run by what its handler raised; whether the one who waits must be interrupted."""
    exceptions[run.token] = error
    engine = run._engine
    name = run.id
    if isinstance(error, Retry):
        log.debug("task %r: %s", name, error)
        # What was caught says more than that it is tried again.
        why = describe(error.__cause__ or error.__context__ or error)
        engine.complete_quietly(run, _raw.SELENE_OUTCOME_FAILED, error.after_ns, why)
    elif isinstance(error, Stopped):
        log.debug("task %r was given back", name)
        engine.complete_quietly(run, _raw.SELENE_OUTCOME_STOPPED)
    elif isinstance(error, Abandon):
        log.info("task %r was abandoned: %s", name, error)
        engine.complete_quietly(run, _raw.SELENE_OUTCOME_ABANDONED, why=describe(error))
    elif isinstance(error, asyncio.CancelledError) and run._stop:
        if engine.stopping(run):
            # It did what it was asked, and the engine knows why it asked.
            engine.complete_quietly(run, _raw.SELENE_OUTCOME_FAILED)
        else:
            # Cancelled by a driver that ends, not by the engine: the next window may take it up at once.
            engine.complete_quietly(run, _raw.SELENE_OUTCOME_FAILED, 0, b"the window ended")
    elif run._reason() == _raw.SELENE_STOP_SHUTDOWN:
        # That is its answer to the end of its host, and no attempt has failed (V4).
        log.warning("task %r raised when it was asked to stop, and was given back", name, exc_info=error)
        engine.complete_quietly(run, _raw.SELENE_OUTCOME_FAILED, why=describe(error))
    else:
        # First: once it is complete, the program may end.
        log.error("task %r failed in attempt %d", name, run.attempt, exc_info=error)
        engine.complete_quietly(run, _raw.SELENE_OUTCOME_FAILED, why=describe(error))
    return ends_process(error)


def interrupting(exceptions: dict[int, BaseException]) -> BaseException | None:
    """Of what handlers raised, the first that must interrupt the one who waits."""
    for error in tuple(exceptions.values()):
        if ends_process(error):
            return error
    return None


def execute(run: Run, handler: Handler, exceptions: dict[int, BaseException]) -> BaseException | None:
    """Runs a handler to its end on this thread; gives what must interrupt the one who waits."""
    engine = run._engine
    thread = threading.get_ident()
    engine.threads.add(thread)
    try:
        finish(run, handler.call(run))
    except BaseException as error:
        if fail(run, error, exceptions):
            return error
    finally:
        engine.threads.discard(thread)
        engine.came_back()
    return take_kept()


async def cancellable(run: Run, work: Awaitable[Any]) -> Any:
    """Awaits a handler's coroutine, which is cancelled when the run is asked to stop."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None

    def cancel() -> None:
        try:
            loop.call_soon_threadsafe(task.cancel)
        except RuntimeError:
            pass  # the loop is closed: the work is over

    run._cancel = cancel
    coroutines = run._engine.coroutines
    coroutines.add(task)
    try:
        if run._stop and run.__dict__.pop("_cancel", None):
            cancel()
        return await work
    finally:
        coroutines.discard(task)
        run.__dict__.pop("_cancel", None)
