"""Runs are spans of OpenTelemetry (pyselene.otel)."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pyselene as selene
from pyselene import Outcome, Scheduler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

try:
    from opentelemetry import trace as api
    from opentelemetry.sdk.trace import TracerProvider as Provider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter as Exporter
    from opentelemetry.trace import SpanKind, StatusCode

    from pyselene import otel
except ModuleNotFoundError as missing:
    if os.environ.get("SELENE_TEST_ALL"):
        raise
    pytest.skip(f"{missing.name} is missing: it is in the extra test", allow_module_level=True)


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return Exporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> TracerProvider:
    made = Provider()
    made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


def told(spans: Sequence[ReadableSpan]) -> dict[str, ReadableSpan]:
    """By the id of their task."""
    return {str((span.attributes or {})["selene.task.id"]): span for span in spans}


def test_each_run_is_a_span(exporter: InMemorySpanExporter, provider: TracerProvider) -> None:
    tracer = provider.get_tracer("of the program")

    def mail(run: selene.Run) -> bool:
        with tracer.start_as_current_span("smtp"):
            return run.id != "nothing"

    def bad(run: selene.Run) -> Outcome:
        if run.id == "returns":
            return Outcome.FAILED
        if run.id == "abandons":
            raise selene.Abandon("no paper")
        if run.id == "retries":
            raise selene.Retry(after=60)
        raise OSError("no disk")

    with Scheduler() as scheduler:
        scheduler.register_handler("mail", mail)
        with otel.trace(scheduler, provider):
            # Registered before and meanwhile.
            scheduler.register_handler("bad", bad)
            for name in ("good", "nothing"):
                scheduler.enqueue(name, handler="mail", priority="high")
            for name in ("returns", "abandons", "retries", "raises"):
                scheduler.enqueue(name, handler="bad")
            scheduler.run_cycle(60, lanes=4)
        scheduler.enqueue("behind", handler="mail")
        scheduler.run_cycle(60)
    spans = exporter.get_finished_spans()
    runs = told([span for span in spans if span.name != "smtp"])
    assert set(runs) == {"good", "nothing", "returns", "abandons", "retries", "raises"}
    good = runs["good"]
    assert (good.name, good.kind) == ("mail", SpanKind.CONSUMER)
    assert dict(good.attributes or {}) == {
        "selene.task.id": "good",
        "selene.task.handler": "mail",
        "selene.task.kind": "refresh",
        "selene.task.priority": "high",
        "selene.run.attempt": 1,
        "selene.run.outcome": "new_data",
    }
    outcomes = {name: (span.attributes or {})["selene.run.outcome"] for name, span in runs.items()}
    assert outcomes == {
        "good": "new_data", "nothing": "no_data", "returns": "failed", "abandons": "abandoned", "retries": "failed",
        "raises": "failed",
    }  # fmt: skip
    wrong = {name for name, span in runs.items() if span.status.status_code is StatusCode.ERROR}
    assert wrong == {"returns", "abandons", "retries", "raises"}
    assert runs["raises"].status.description == "OSError: no disk"
    assert [event.name for event in runs["raises"].events] == ["exception"]
    assert good.end_time is not None
    assert good.start_time is not None
    assert good.end_time >= good.start_time
    # What the handler did stands below its run; the one behind has none.
    below = [span.parent.span_id if span.parent else None for span in spans if span.name == "smtp"]
    assert sorted(map(str, below)) == sorted(
        str(span_id) for span_id in (*(runs[name].context.span_id for name in ("good", "nothing")), None)
    )


def test_coroutines_are_spans_while_they_are_awaited(exporter: InMemorySpanExporter, provider: TracerProvider) -> None:
    async def fetch(run: selene.Run) -> None:
        before = api.get_current_span().get_span_context().span_id
        await asyncio.sleep(0.01)
        assert api.get_current_span().get_span_context().span_id == before != 0

    async def hangs(run: selene.Run) -> None:
        await asyncio.sleep(600)

    async def main() -> None:
        with Scheduler() as scheduler, otel.trace(scheduler, provider):
            scheduler.register_handler("fetch", fetch)
            scheduler.register_handler("hangs", hangs)
            for number in range(3):
                scheduler.enqueue(f"fetch-{number}", handler="fetch")
            scheduler.enqueue("hangs", handler="hangs", timeout=0.05)
            await scheduler.run_cycle_async(60, lanes=4)

    asyncio.run(main())
    runs = told(exporter.get_finished_spans())
    assert {name for name in runs if name != "hangs"} == {"fetch-0", "fetch-1", "fetch-2"}
    assert {(runs[f"fetch-{n}"].attributes or {})["selene.run.outcome"] for n in range(3)} == {"new_data"}
    assert (runs["hangs"].attributes or {})["selene.run.stop_reason"] == "timed_out"
    assert (runs["hangs"].attributes or {})["selene.run.outcome"] == "failed"


def test_what_a_connected_process_runs_is_its_spans(
    tmp_path: Path, exporter: InMemorySpanExporter, provider: TracerProvider
) -> None:
    with Scheduler(tmp_path / "tasks.db") as owner, owner.serve(), selene.connect(tmp_path / "tasks.db") as member:
        member.register_handler("mail", lambda run: {"rows": 3})
        with otel.trace(member, provider), pytest.raises(ValueError, match="already"), otel.trace(member):
            pass
        with otel.trace(member, provider):
            member.enqueue("a", handler="mail")
            member.run_cycle(60)
    assert (told(exporter.get_finished_spans())["a"].attributes or {})["selene.run.outcome"] == "new_data"


def test_without_a_provider_it_does_nothing() -> None:
    with Scheduler() as scheduler, otel.trace(scheduler):
        scheduler.enqueue("a", handler=lambda run: selene.PENDING)
        assert scheduler.run_cycle(3, reserve=0).runs
