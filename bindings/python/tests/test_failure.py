"""Why a run failed, as its task keeps it, and failed tasks enqueued again (R7)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import pyselene as selene
from pyselene import Abandon, Outcome, Retry, Run, Scheduler, State, Task, _raw
from pyselene.testing import VirtualClock


class Refused(Exception):
    """An exception of the host's own."""


def refuse(text: str) -> None:
    """Raises it from a function that a handler calls."""
    raise Refused(text)


def failure(scheduler: Scheduler, id: str) -> selene.LastFailure:
    """The failure of a task that failed."""
    found = scheduler.get(id).last_failure
    assert found is not None
    return found


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


def test_what_a_handler_raises_is_kept_until_a_success(tmp_path: Path, clock: VirtualClock) -> None:
    works = False
    path = tmp_path / "store"
    with Scheduler(path, clock=clock) as scheduler:

        @scheduler.task(schedule="standing")
        def upload(_run: Run) -> None:
            if not works:
                refuse("no such bucket: ä")

        assert scheduler.get("upload").last_failure is None
        scheduler.run_cycle()
        found = failure(scheduler, "upload")
        assert found.message.startswith(f"{__name__}.Refused: no such bucket: ä ({__file__}:")
        line = int(found.message.rpartition(":")[2].rstrip(")"))
        assert Path(__file__).read_text(encoding="utf-8").splitlines()[line - 1].strip() == "raise Refused(text)"
        assert found.attempt == 1
        assert found.at_ns == scheduler.now_ns
        assert str(found) == found.message
    with Scheduler(path, clock=clock) as scheduler:
        assert failure(scheduler, "upload") == found
        scheduler.register_handler("upload", upload)
        works = True
        scheduler.run_cycle()
        assert scheduler.get("upload").last_failure is None


def test_each_way_to_fail_says_why(clock: VirtualClock) -> None:
    def again(_run: Run) -> None:
        try:
            refuse("busy")
        except Refused:
            raise Retry(after=60)  # noqa: B904

    def later(_run: Run) -> None:
        raise Retry(after=60)

    def never(_run: Run) -> None:
        raise Abandon("the account is gone")

    def bare(_run: Run) -> None:
        raise ValueError

    def told(run: Run) -> object:
        run.complete("abandoned", "asked for something else")
        return selene.PENDING

    def retried(run: Run) -> object:
        run.retry(after=5, why="the queue is full")
        return selene.PENDING

    def returned(_run: Run) -> Outcome:
        return Outcome.FAILED

    async def awaited(_run: Run) -> None:
        await asyncio.sleep(0)
        refuse("in vain")

    def unreadable(_run: Run) -> None:
        class Odd(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no")

        raise Odd

    handlers = [again, later, never, bare, told, retried, returned, awaited, unreadable]
    with Scheduler(clock=clock) as scheduler:
        for handler in handlers:
            scheduler.enqueue(handler.__name__, handler=handler)
        report = scheduler.run_cycle()
        said = {name: failure(scheduler, name).message for name in scheduler}
        assert said["again"].startswith(f"{__name__}.Refused: busy (")
        assert said["later"].startswith("Retry: again after 60 s (")
        assert said["never"].startswith("Abandon: the account is gone (")
        assert said["bare"].startswith(f"ValueError ({__file__}:")
        assert said["told"] == "asked for something else"
        assert said["retried"] == "the queue is full"
        assert said["returned"] == ""
        assert str(failure(scheduler, "returned")) == "failed"
        assert said["awaited"].startswith(f"{__name__}.Refused: in vain (")
        assert "Odd: (its text cannot be read) (" in said["unreadable"]
        assert "Odd: (its text cannot be read)" in str(report)


def test_a_run_that_did_what_it_was_asked_says_why_it_was_asked(clock: VirtualClock) -> None:
    with Scheduler(clock=clock, stop_grace=5) as scheduler:

        def asked(run: Run) -> Outcome:
            assert run.stopping.wait(60)
            return Outcome.FAILED

        def raises(run: Run) -> None:
            assert run.stopping.wait(60)
            refuse("half done")

        def alone(run: Run) -> Outcome:
            return Outcome.FAILED

        scheduler.enqueue("slow", handler=asked, timeout=10, max_attempts=1)
        scheduler.enqueue("silent", handler=asked, stall_limit=10, max_attempts=1)
        scheduler.enqueue("last", handler=asked, max_attempts=1)
        scheduler.enqueue("raises", handler=raises, timeout=10, max_attempts=1)
        scheduler.enqueue("alone", handler=alone, max_attempts=1)
        for name in ("slow", "silent", "last", "raises", "alone"):
            assert scheduler.run_cycle(budget=60, reserve=30, task=name).failed == 1
        assert failure(scheduler, "slow").message == "timed out"
        assert failure(scheduler, "silent").message == "made no progress"
        assert failure(scheduler, "last").message == "the window ended"
        assert failure(scheduler, "raises").message.startswith("test_failure.Refused: half done (")
        assert failure(scheduler, "alone").message == ""


def test_a_coroutine_that_was_cancelled_says_why_it_was_asked() -> None:
    async def main() -> None:
        with Scheduler() as scheduler:

            async def sleeps(run: Run) -> None:
                await asyncio.sleep(60)

            async def raises(run: Run) -> None:
                try:
                    await asyncio.sleep(60)
                finally:
                    refuse("half done")

            async def own(run: Run) -> None:
                raise asyncio.CancelledError("not asked")

            scheduler.enqueue("slow", handler=sleeps, timeout=0.05, max_attempts=1)
            scheduler.enqueue("silent", handler=sleeps, stall_limit=0.05, max_attempts=1)
            scheduler.enqueue("raises", handler=raises, timeout=0.05, max_attempts=1)
            scheduler.enqueue("own", handler=own, max_attempts=1)
            report = await scheduler.run_cycle_async(budget=120, lanes=4)
            assert report.failed == 4
            assert failure(scheduler, "slow").message == "timed out"
            assert failure(scheduler, "silent").message == "made no progress"
            assert "Refused: half done (" in failure(scheduler, "raises").message
            assert "CancelledError: not asked" in failure(scheduler, "own").message
            scheduler.enqueue("last", handler=sleeps, max_attempts=1)
            assert (await scheduler.run_cycle_async(budget=33, reserve=30)).failed == 1
            assert failure(scheduler, "last").message == "the window ended"

    asyncio.run(main())


def test_any_text_is_taken_and_the_place_is_never_cut(clock: VirtualClock) -> None:
    texts = ["x" * 5000, "ä" * 5000, "€" * 1000, "🌙" * 1000, "a\0b", "one\ntwo"]

    def handler(run: Run) -> None:
        refuse(texts[int(run.id)])

    with Scheduler(clock=clock) as scheduler:
        for number in range(len(texts)):
            scheduler.enqueue(str(number), handler=handler)
        scheduler.run_cycle()
        for number, text in enumerate(texts):
            message = failure(scheduler, str(number)).message
            assert f" ({__file__}:" in message
            assert len(message.encode()) <= 1024
            assert message.startswith(f"{__name__}.Refused: {text[:1]}")
        assert "a\\0b" in failure(scheduler, "4").message
        assert "one\ntwo" in failure(scheduler, "5").message


def test_why_needs_a_failure(clock: VirtualClock) -> None:
    with Scheduler(clock=clock) as scheduler:
        scheduler.register_handler("a", None)
        scheduler.register(selene.Task("a", schedule="standing"))
        with scheduler.begin() as cycle:
            run = cycle.next()
            assert isinstance(run, Run)
            with pytest.raises(ValueError, match="why is given, but the outcome is no_data"):
                run.complete("no_data", "why")
            # A text of the system's that is no Unicode.
            run.complete("failed", "why \udc80")
        assert failure(scheduler, "a").message == "why ?"


def test_an_expired_run_and_events_say_why() -> None:
    told: list[str] = []
    let_go = threading.Event()
    with Scheduler() as scheduler:
        subscription = scheduler.observe(
            lambda event: told.append(event.message) if event.type is selene.EventType.COMPLETED else None
        )
        scheduler.enqueue("slow", handler=lambda _run: let_go.wait(30))
        try:
            scheduler.run_cycle(budget=3)
            assert failure(scheduler, "slow").message == "the window ended"
        finally:
            let_go.set()
        scheduler.enqueue("fails", handler=lambda _run: refuse("told"))
        while not scheduler.get("fails").last_failure:
            scheduler.run_cycle(budget=20)
        subscription.close()
    assert told[0] == "the window ended"
    assert any("Refused: told" in message for message in told)


def test_failed_tasks_are_listed_and_enqueued_again(clock: VirtualClock) -> None:
    fails = True

    def handler(_run: Run) -> None:
        if fails:
            raise Abandon("not now")

    with Scheduler(clock=clock) as scheduler:
        for name in "abc":
            scheduler.enqueue(name, handler=handler, input=name.encode())
        scheduler.enqueue("waits", delay=60)
        scheduler.enqueue("waits", existing="append", input=b"1")
        scheduler.enqueue("waits", existing="append", input=b"2")
        scheduler.run_cycle()
        assert scheduler.ids(state="failed") == ["a", "b", "c"]
        assert [info.last_failure is not None for info in scheduler.tasks(state=State.FAILED)] == [True] * 3
        assert scheduler.ids(state="enqueued") == ["waits"]
        assert [info.input for info in scheduler.tasks(state="blocked")] == [b"1", b"2"]
        with pytest.raises(ValueError, match="tag and state are both given"):
            scheduler.ids("tag", state="failed")
        with pytest.raises(ValueError, match="state is 'lost'"):
            scheduler.ids(state="lost")  # type: ignore[arg-type]
        scheduler.retry("b")
        assert scheduler.ids(state="failed") == ["a", "c"]
        with pytest.raises(ValueError, match='"b" is enqueued; only a failed task can be retried'):
            scheduler.retry("b")
        with pytest.raises(selene.NotFound):
            scheduler.retry("d")
        fails = False
        report = scheduler.run_cycle()
        assert [(run.id, run.outcome) for run in report.runs] == [("b", Outcome.NEW_DATA)]
        assert scheduler.get("b").input == b"b"
        assert scheduler.get("b").last_failure is None


ENDS = """
import os, sys
import pyselene as selene

with selene.Scheduler(sys.argv[1], crash_pause=120) as scheduler:
    scheduler.handler("ends")(lambda run: os._exit(7))
    scheduler.run_cycle()
"""


def test_v8_a_task_that_ends_its_process_again_waits_for_the_pause(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with Scheduler(file) as scheduler:
        scheduler.register(Task("ends", schedule="once", max_attempts=5))
    for life, pause in enumerate([0, 120], 1):
        assert subprocess.run([sys.executable, "-c", ENDS, str(file)], check=False, timeout=60).returncode == 7
        with Scheduler(file, crash_pause=120) as scheduler:
            info = scheduler.get("ends")
            assert (info.attempts, info.quarantined) == (life, _raw.SELENE_SUSPICION_BLAMED)
            assert info.earliest_begin_ns - info.last_run_ns == pause * 10**9
    with pytest.raises(selene.InvalidArgument, match="crash_pause"):
        Scheduler(crash_pause=-1)
