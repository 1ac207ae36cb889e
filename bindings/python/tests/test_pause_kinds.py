"""Kinds that are paused until an instant, everywhere or in one pool (W13)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import pyselene as selene
from pyselene import EventType, Kind, Pause, ReasonCode, Run, Scheduler
from pyselene.testing import ToldClock, VirtualClock
from test_cli import here
from told import WAIT, passes

HOUR = timedelta(hours=1)


def test_a_kind_waits_until_its_time_has_come(tmp_path: Path) -> None:
    ran: list[str] = []
    clock = VirtualClock(datetime(2030, 1, 1, tzinfo=UTC))
    until = datetime(2030, 1, 1, 1, tzinfo=UTC)
    events: list[selene.Event] = []

    def work(run: Run) -> None:
        ran.append(run.id)

    with Scheduler(tmp_path / "store", clock=clock) as scheduler:
        scheduler.register_handler("work", work)
        scheduler.enqueue("short", handler="work")
        scheduler.enqueue("long", handler="work", kind="processing")
        with scheduler.observe(events.append):
            assert scheduler.pause(kinds="refresh", until=until) == 0
        (told,) = [event for event in events if event.type is EventType.PAUSED]
        assert (told.kinds, told.id, told.message, told.time_at) == (frozenset({Kind.REFRESH}), "", "", until)
        (reason,) = scheduler.explain("short").reasons
        assert reason.code is ReasonCode.KIND_PAUSED
        assert reason.may_change_at == until
        assert "its kind is paused" in str(scheduler.explain("short"))
        assert scheduler.next_wakeup() == scheduler.now
        scheduler.run_cycle(kinds={"refresh", "processing"})
        assert ran == ["long"]
        assert scheduler.next_wakeup() == until
    with Scheduler(tmp_path / "store", clock=clock) as scheduler:
        scheduler.register_handler("work", work)
        assert scheduler.pauses() == [Pause(frozenset({Kind.REFRESH}), None, int(until.timestamp()) * 10**9)]
        assert scheduler.pauses()[0].until == until
        clock.advance(3600)
        assert scheduler.pauses() == []
        scheduler.run_cycle()
        assert ran == ["long", "short"]


def test_pools_and_everywhere_are_paused_apart() -> None:
    with Scheduler(clock=VirtualClock()) as scheduler:
        scheduler.pause(pool="mailer")
        scheduler.pause(kinds=[Kind.PROCESSING])
        assert [str(pause) for pause in scheduler.pauses()] == [
            "processing: paused until resumed",
            "refresh and processing of pool mailer: paused until resumed",
        ]
        assert scheduler.pauses()[1].until is None
        scheduler.resume(pool="mailer", kinds="refresh")
        scheduler.resume(kinds="processing")
        assert scheduler.pauses() == [Pause(frozenset({Kind.PROCESSING}), "mailer", None)]
        scheduler.resume(pool="mailer")
        assert scheduler.pauses() == []


def test_what_cannot_be_is_refused() -> None:
    with Scheduler(clock=VirtualClock()) as scheduler:
        with pytest.raises(ValueError, match="allowed: instants after now"):
            scheduler.pause(kinds="refresh", until=scheduler.now)
        with pytest.raises(ValueError, match="until must be an aware datetime"):
            scheduler.pause(kinds="refresh", until=datetime(2030, 1, 1))
        with pytest.raises(ValueError, match="until is 1970"):
            scheduler.pause(kinds="refresh", until=datetime(1970, 1, 1, tzinfo=UTC))
        with pytest.raises(TypeError, match="takes until= with kinds= or pool="):
            scheduler.pause("a", until=scheduler.now + HOUR)
        with pytest.raises(TypeError, match="takes kinds= and pool= without an id"):
            scheduler.pause("a", kinds="refresh")
        with pytest.raises(TypeError, match="takes kinds= and pool= without an id"):
            scheduler.resume(group="a", pool="mailer")
        with pytest.raises(ValueError, match="was given no kind"):
            scheduler.pause(kinds=[])
        with pytest.raises(ValueError, match="was given an empty pool"):
            scheduler.pause(pool="")
        with pytest.raises(ValueError, match="kinds"):
            scheduler.pause(kinds="other")  # type: ignore[arg-type]
        assert scheduler.pauses() == []


def test_a_connected_process_pauses_and_a_pool_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "store"
    ran: list[str] = []
    with Scheduler(path) as owner, owner.serve(), selene.connect(path, pool="mailer") as mailer:

        @mailer.handler
        def mail(run: Run) -> None:
            ran.append(run.id)

        owner.enqueue("letter", handler="mail")
        with selene.connect(path) as other:
            other.pause(pool="mailer", until=datetime.now(UTC) + HOUR)
            assert [pause.pool for pause in owner.pauses()] == ["mailer"]
        mailer.run_cycle()
        assert ran == []
        assert [reason.code for reason in mailer.explain("letter").reasons] == [ReasonCode.KIND_PAUSED]
        mailer.resume(pool="mailer")
        mailer.run_cycle()
        assert ran == ["letter"]


def test_a_loop_of_coroutines_goes_on_by_itself() -> None:
    async def main() -> list[str]:
        ran: list[str] = []
        clock = ToldClock()
        with Scheduler(clock=clock) as scheduler:
            done = asyncio.Event()

            @scheduler.handler
            async def work(run: Run) -> None:
                ran.append(run.id)
                done.set()

            scheduler.pause(kinds="refresh", until=clock.now + HOUR)
            scheduler.enqueue("a", handler="work")
            loop = asyncio.create_task(scheduler.run_forever_async())
            await passes(clock, 3600 - 1e-9)
            assert ran == []
            await passes(clock, 1e-9)
            await asyncio.wait_for(done.wait(), WAIT)
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
        return ran

    assert asyncio.run(main()) == ["a"]


def test_the_command_line_pauses_a_store_and_one_that_is_served(tmp_path: Path) -> None:
    path = tmp_path / "store"
    stored = ("--store", str(path))
    with Scheduler(path) as scheduler:
        scheduler.enqueue("a", handler="work")
    done = here("pause", *stored, "--kind", "refresh", "--until", "2033-05-01T10:00+00:00")
    assert done.stdout.startswith("paused refresh until 2033-05-01 ")
    with Scheduler(path) as scheduler:
        until = int(datetime(2033, 5, 1, 10, tzinfo=UTC).timestamp()) * 10**9
        assert scheduler.pauses() == [Pause(frozenset({Kind.REFRESH}), None, until)]
        with scheduler.serve():
            done = here("pause", *stored, "--pool", "mailer")
            assert done.stdout == "paused refresh and processing of pool mailer\n", done.stderr
            assert len(scheduler.pauses()) == 2
            listed = here("list", *stored)
            assert "refresh: paused until 2033-05-01 10:00:00+00:00" in listed.stdout
            assert "refresh and processing of pool mailer: paused until resumed" in listed.stdout
            assert "its kind is paused" in here("explain", "a", *stored).stdout
            done = here("resume", *stored, "--kind", "refresh")
            assert done.stdout == "resumed refresh\n", done.stderr
            assert [pause.pool for pause in scheduler.pauses()] == ["mailer"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kind", "other"], "allowed is refresh, processing or refresh,processing"),
        (["--kind", "refresh", "--until", "soon"], "allowed is a date and a time, such as 2030-01-31T18:00"),
        (["--kind", "refresh", "--until", "2001-01-01T10:00"], "allowed: instants after now, up to 10 years ahead"),
        (["a", "--until", "2033-01-01T10:00"], "--until is for --kind and --pool"),
        (["a", "--kind", "refresh"], "pause needs ids, or --tag, or --group, or --kind and --pool"),
        (["--pool", ""], "was given an empty pool"),
    ],
)
def test_the_command_line_says_what_is_allowed(tmp_path: Path, arguments: list[str], words: str) -> None:
    path = tmp_path / "store"
    with Scheduler(path) as scheduler:
        scheduler.enqueue("a")
    done = here("pause", "--store", str(path), *arguments, code=2)
    assert words in " ".join(done.stderr.replace("│", " ").split()), done.stderr
