"""Spans of runs, for OpenTelemetry.

Needs the extra `otel` (pip install 'pyselene[otel]'), and an application that has set a provider of traces:

    from pyselene import otel

    with otel.trace(scheduler):
        scheduler.run_forever()

Each call of a handler is a span with the handler's name, which is the current one while it works: spans of what it
calls are below it. It says the task, its kind, the attempt, and what came of it; an exception is recorded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Final

from ._handler import is_async, outcome_of
from ._run import Abandon, Outcome

try:
    from opentelemetry import trace as api
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider
except ModuleNotFoundError as error:
    text = "pyselene.otel needs opentelemetry-api; pip install 'pyselene[otel]' brings it"
    raise ModuleNotFoundError(text, name=error.name) from error

if TYPE_CHECKING:
    from ._run import Run
    from ._scheduler import Scheduler

__all__ = ["trace"]

_FAILED: Final = (Outcome.FAILED, Outcome.ABANDONED)


@contextlib.contextmanager
def trace(scheduler: Scheduler, provider: TracerProvider | None = None) -> Iterator[None]:
    """Makes a span of each run of the scheduler's handlers meanwhile, also of those that are registered meanwhile.

    `provider`: by default that of the application. Of a connection it makes spans of what this process runs. A run that
    begins before the end has its span. What a handler leaves pending ends with its call. ValueError if spans are made
    already.

    >>> from pyselene import Scheduler, otel
    >>> with Scheduler() as scheduler, otel.trace(scheduler):
    ...     _ = scheduler.enqueue("report", handler=lambda run: True)
    ...     report = scheduler.run_cycle(budget=30)
    >>> len(report.runs)
    1
    """
    tracer = api.get_tracer("pyselene", _version(), provider)

    @contextlib.contextmanager
    def span(run: Run) -> Iterator[Span]:
        attributes: dict[str, str | int] = {
            "selene.task.id": run.id,
            "selene.task.handler": run.handler,
            "selene.task.kind": str(run.kind),
            "selene.task.priority": str(run.priority),
            "selene.run.attempt": run.attempt,
        }
        with tracer.start_as_current_span(
            run.handler, kind=SpanKind.CONSUMER, attributes=attributes, set_status_on_exception=False
        ) as made:
            try:
                yield made
            except BaseException as error:
                made.set_attribute(_OUTCOME, str(Outcome.ABANDONED if isinstance(error, Abandon) else Outcome.FAILED))
                made.set_status(Status(StatusCode.ERROR, f"{type(error).__name__}: {error}"))
                raise
            finally:
                if run.stopping:
                    made.set_attribute("selene.run.stop_reason", str(run.stopping.reason))

    async def awaited(work: Coroutine[Any, Any, Any], run: Run) -> Any:
        with span(run) as made:
            result = await work
            _tell(made, run, result)
            return result

    def wrap(function: Callable[[Run], Any]) -> Callable[[Run], Any]:
        if is_async(function):
            return lambda run: awaited(function(run), run)

        def call(run: Run) -> Any:
            with span(run) as made:
                result = function(run)
                if not isinstance(result, Coroutine):
                    _tell(made, run, result)
                return result

        return call

    engine = scheduler._engine
    with engine.changed:
        if engine.wrap is not None:
            raise ValueError("spans are made of the runs of this scheduler already")
        engine.wrap = wrap
        for handler in engine.handlers.values():
            handler.call = wrap(handler.body)
    try:
        yield
    finally:
        with engine.changed:
            engine.wrap = None
            for handler in engine.handlers.values():
                handler.call = handler.body


_OUTCOME: Final = "selene.run.outcome"


def _tell(span: Span, run: Run, result: object) -> None:
    """What a result means; of what is no result the run fails, whose words come behind the span."""
    if run._completed:
        span.set_attribute(_OUTCOME, "completed")
        return
    try:
        outcome = outcome_of(result)
    except TypeError as error:
        span.set_attribute(_OUTCOME, str(Outcome.FAILED))
        span.set_status(Status(StatusCode.ERROR, str(error)))
        return
    span.set_attribute(_OUTCOME, "pending" if outcome is None else str(Outcome(outcome)))
    if outcome in _FAILED:
        span.set_status(Status(StatusCode.ERROR, f"the handler returned {Outcome(outcome)}"))


def _version() -> str:
    from . import __version__

    return __version__
