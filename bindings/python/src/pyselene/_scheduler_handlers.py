"""The scheduler's handlers: the functions that run tasks, under a name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

from . import _callbacks, _raw
from ._errors import AlreadyExists
from ._handler import Function, Handler, OnStop, refuse_unfit
from ._library import encode, fast, library

if TYPE_CHECKING:
    from ._engine import Engine

F = TypeVar("F", bound=Function)


def name_of(function: Any) -> str:
    """The name that a function gives a handler or a task."""
    name = getattr(function, "__name__", None)
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{function!r} has no name of its own; give one")
    return name


def _not_callable(_run: object) -> NoReturn:
    raise RuntimeError("this handler has no function: its tasks are for cycles that you pull by begin()")


_NO_RUN = _raw.selene_run_fn()


class HandlerCalls:
    """What a Scheduler can do with handlers."""

    _engine: Engine

    def register_handler(
        self, name: str, function: Function | None, *, on_stop: OnStop | None = None, push: bool = False
    ) -> None:
        """Registers the function that runs the tasks which name it.

        `function(run)`, or with the `args` and `kwargs` of the task behind the run, works on a thread of pyselene, or,
        if it is `async def`, on the event loop. What it returns:
        False (no data), an Outcome, PENDING (the work ends elsewhere, by run.complete()); anything else, None among it,
        means new data. What it raises: Retry, Abandon, Stopped; anything else means failed. `on_stop(run, reason)` is
        called when a run is asked to stop, on whatever thread noticed. `push`: threads of the library can call it too
        (run_cycle(push=True)). None as function is for tasks that only pulled cycles (begin) run. The same function
        again changes nothing; another one under a live name raises AlreadyExists. A function that cannot take a run is
        refused (TypeError).
        """
        self._add_handler(name, function, on_stop, push)

    def _add_handler(self, name: str, function: Function | None, on_stop: OnStop | None, push: bool) -> bool:
        """Whether it is new."""
        key = encode(name, "name")
        if function is None:
            function = _not_callable
        else:
            refuse_unfit(f'handler "{name}"', function, ("run",), may_take_more=True)
        if on_stop is not None:
            refuse_unfit(f'on_stop of handler "{name}"', on_stop, ("run", "reason"))
        engine = self._engine
        handler = Handler(engine, name, function, on_stop, push)
        if push and handler.is_async:
            raise TypeError("an async handler runs on an event loop; it cannot be pushed")
        with engine.changed:
            if engine.wrap is not None:
                handler.call = engine.wrap(handler.body)
            old = engine.handlers.get(key)
            if old is not None and (old.function, old.on_stop, old.push) == (function, on_stop, push):
                return False
            if old is not None:
                text = f'handler "{name}" is registered with another function; use another name, or unregister it'
                raise AlreadyExists(_raw.SELENE_ERROR_ALREADY_EXISTS, "ALREADY_EXISTS", text)
            status = (library if engine.connected else fast).selene_handler_register(
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
        return True

    @contextlib.contextmanager
    def _with_handler(
        self, name: str, function: Function, on_stop: OnStop | None = None, push: bool = False
    ) -> Iterator[None]:
        """Registers a handler for what is done meanwhile, and takes it back if that fails."""
        fresh = self._add_handler(name, function, on_stop, push)
        try:
            yield
        except BaseException:
            if fresh:
                self.unregister_handler(name)
            raise

    def unregister_handler(self, name: str) -> None:
        """Unregisters a handler; its tasks stay and wait for another. Runs in flight go on. NotFound."""
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
