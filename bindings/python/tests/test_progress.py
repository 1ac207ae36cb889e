"""Runs that tell how far they have come, and those that tell nothing for too long (W6)."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest

import pyselene as selene
from forked import command, start
from pyselene.cli.progress import ProgressFile
from pyselene.testing import ToldClock, VirtualClock
from test_cli import SOURCES, environment, folder, here, wait_for, write
from told import WAIT, elsewhere

__all__ = ["folder"]

RUNNER = SOURCES.parents[2] / "build/selene-run"


def test_what_a_run_tells_of_its_progress_is_shown_until_it_is_over() -> None:
    clock = VirtualClock()
    seen: list[selene.Progress | None] = []
    events: list[selene.Event] = []
    with selene.Scheduler(clock=clock) as scheduler:
        scheduler.observe(events.append)

        @scheduler.task(schedule="standing")
        def pages(run: selene.Run) -> None:
            seen.append(scheduler.get("pages").progress)
            run.progress(3, 10, "pages")
            seen.append(scheduler.get("pages").progress)
            clock.advance(0.1)
            run.progress(4)
            clock.advance(0.1)
            run.progress(5, text="☾" * 1000)
            seen.append(scheduler.get("pages").progress)

        scheduler.run_cycle()
        none, first, last = seen
        assert none is None
        assert first is not None
        assert last is not None
        assert (first.done, first.total, first.text, first.share, str(first)) == (3, 10, "pages", 0.3, "3/10 pages")
        assert (last.done, last.total, last.text, last.share) == (5, 0, "☾" * 341, None)
        assert last.at_ns - first.at_ns == 200_000_000
        assert scheduler.get("pages").progress is None
    told = [event for event in events if event.type is selene.EventType.PROGRESS]
    assert [event.progress and event.progress.done for event in told] == [3, 5]
    assert (told[0].id, told[0].message, str(told[0]).endswith("progress pages 3/10 pages")) == ("pages", "", True)
    assert events.index(told[1]) < [event.type for event in events].index(selene.EventType.COMPLETED)


def test_numbers_and_texts_are_judged() -> None:
    with selene.Scheduler(clock=VirtualClock()) as scheduler:

        @scheduler.task(schedule="standing")
        def pages(run: selene.Run) -> None:
            for bad in (-1, 1 << 63):
                with pytest.raises(ValueError, match="done is"):
                    run.progress(bad)
                with pytest.raises(ValueError, match="of is"):
                    run.progress(0, bad)
            with pytest.raises(TypeError, match="done must be an int, not float"):
                run.progress(0.5)  # type: ignore[arg-type]
            run.progress((1 << 63) - 1, 1)
            run.complete()
            run.progress(1, 1)  # it is over: nothing happens

        (run,) = scheduler.run_cycle().runs
        assert run.outcome is selene.Outcome.NEW_DATA
        with pytest.raises(selene.InvalidArgument, match="stall_limit"):
            scheduler.register(selene.Task("a", stall_limit=90_000, schedule="standing"))


def test_a_run_that_makes_no_progress_is_asked_to_stop() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock, stop_grace=5) as scheduler:

        @scheduler.task(stall_limit=10, max_attempts=1, schedule="once")
        def slow(run: selene.Run) -> None:
            for _ in range(3):
                assert not run.stopping.wait(9)
                run.progress(0)
            assert run.remaining == 10
            assert run.stopping.wait(60)
            assert run.stopping.reason is selene.StopReason.STALLED
            clock.advance(5.1)
            run.progress(1)

        (run,) = scheduler.run_cycle(budget=600).runs
        assert (run.outcome, run.stop_reason, run.response_time) == (
            selene.Outcome.EXPIRED,
            selene.StopReason.STALLED,
            42.0,
        )
        info = scheduler.get("slow")
        assert (info.state, info.stall_limit, str(info.last_failure)) == (selene.State.FAILED, 10.0, "made no progress")


def test_behind_a_handler_that_makes_no_progress_the_next_task_runs() -> None:
    """With one lane: the thread is left behind, and another takes its place long before the window ends."""
    gate, begun, ran = threading.Event(), threading.Event(), threading.Event()
    clock = ToldClock()
    with selene.Scheduler(clock=clock, stop_grace=5) as scheduler:

        @scheduler.task(priority="very_high", stall_limit=10, schedule="standing")
        def stuck(run: selene.Run) -> None:
            begun.set()
            gate.wait(WAIT)

        @scheduler.task(priority="low", schedule="standing")
        def behind(run: selene.Run) -> None:
            ran.set()

        window = elsewhere(scheduler.run_cycle, budget=120)
        assert begun.wait(WAIT)
        clock.advance(15, handlers=False)
        assert not ran.is_set()
        clock.advance(1e-9, handlers=False)
        assert ran.wait(WAIT)
        gate.set()
        window.result(WAIT)


def test_a_coroutine_may_tell_its_progress() -> None:
    async def main() -> None:
        scheduler = selene.Scheduler()
        stream = scheduler.events()

        @scheduler.task(schedule="standing")
        async def pages(run: selene.Run) -> None:
            run.progress(1, 2)
            async for event in stream:
                if event.progress is not None:
                    return

        (run,) = (await scheduler.run_cycle_async(budget=120)).runs
        assert run.outcome is selene.Outcome.NEW_DATA
        await scheduler.close_async()

    asyncio.run(main())


def test_the_last_whole_line_of_a_file_is_told_once(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []

    def look() -> list[tuple[int, int, str]]:
        told.clear()
        file.look(lambda *line: told.append(line))
        return told

    path = tmp_path / "a.progress"
    file = ProgressFile(path)
    assert look() == []
    path.write_text("1/10\n2/10 pages\n3/1")
    assert look() == [(2, 10, "pages")]
    assert look() == []
    path.write_text(f"{'x' * 5000}\n99999999999999999999\n")
    assert look() == [((1 << 63) - 1, 0, "")]
    for line, found in (
        ("3/", (0, 0, "3/")),
        ("-3", (0, 0, "-3")),
        ("3/10x", (0, 0, "3/10x")),
        ("  4 of 5 ", (4, 0, "of 5")),
    ):
        path.write_text(f"{line}\n")
        assert look() == [found]
    path.write_bytes(b"7 \xff\x1b[2J\n")
    assert look() == [(7, 0, "\\xff\\u001b[2J")]
    path.unlink()
    path.mkdir()
    assert look() == []
    path.rmdir()
    file.close()


@pytest.mark.parametrize("program", ["pyselene", "selene-run"])
def test_commands_tell_their_progress(folder: Path, program: str) -> None:
    assert RUNNER.exists(), "make build/selene-run builds it"
    script = "echo 3/10 pages >$SELENE_PROGRESS; until test -e go; do sleep 0.1; done"
    if program == "pyselene":
        work = f"[tasks.pages]\nstall_limit = '20h'\ncommand = '{script}'\n"
        arguments = command(
            "run", write(folder, work), "--follow", "--cycles", "1", "--budget", "1h", "--store", "t.db"
        )
    else:
        work = write(folder, f"pages stall_limit=20h -- {script}\n", "w")
        arguments = [str(RUNNER), "--follow", "--cycles", "1", "--budget", "1h", "--store", "t.db", work]
    with (folder / "log").open("wb") as log:
        process = start(arguments, environment(), stdout=log, stderr=log)
    try:
        wait_for(lambda: (folder / "t.db-sock").exists() or process.poll() is not None)
        assert process.poll() is None, (folder / "log").read_text()
        with selene.connect(folder / "t.db", wait=120) as scheduler:
            wait_for(lambda: scheduler.get("pages").progress is not None)
            told = scheduler.get("pages").progress
            assert told is not None
            assert (told.done, told.total, told.text) == (3, 10, "pages")
            assert scheduler.get("pages").stall_limit == 72_000
        (listed,) = json.loads(here("list", "--store", "t.db", "--json").stdout)
        assert (listed["stall_limit"], listed["progress"]) == (72_000, {"done": 3, "total": 10, "text": "pages"})
        (folder / "go").touch()
        assert process.wait(600) == 0, (folder / "log").read_text()
    finally:
        process.kill()
        process.wait()
    if program == "selene-run":
        assert "[######--------------] 3/10 pages" in (folder / "log").read_text()
