"""The driver: opens what the governor grants, on a thread, on an event loop, on a virtual clock; preempts; stops."""

from __future__ import annotations

import asyncio
import gc
import os
import select
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Literal
from unittest.mock import Mock

import pytest

import pyselene as selene
from pyselene._driver import Driver
from pyselene._library import library
from pyselene.testing import ToldClock, VirtualClock
from test_process import in_child
from told import WAIT, passes, until, until_async

# ---- on a thread ---------------------------------------------------------------------------------------------------


def test_it_wakes_for_new_tasks_and_for_signals() -> None:
    ran: list[str] = []
    over = threading.Semaphore(0)
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:

        def work(run: selene.Run) -> None:
            ran.append(run.id)

        scheduler.governor.profile = selene.Profile(rules=[selene.Rule("background_switch")])
        # Told when the window is over: in one that is open "b" could run too.
        with scheduler.driver(on_report=lambda report: over.release()) as driver:
            scheduler.enqueue("a", handler=work)
            assert over.acquire(timeout=WAIT)
            scheduler.signals.set("background_switch", False)
            scheduler.enqueue("b", handler="work", existing="replace")
            clock.advance(3600)
            assert ran == ["a"]
            scheduler.signals.set("background_switch", True)
            assert over.acquire(timeout=WAIT)
            assert not driver.wait(0)
    assert ran == ["a", "b"]


def test_it_books_what_it_opens_and_tells_its_reports() -> None:
    reports: list[selene.Report] = []
    told = threading.Event()
    with selene.Scheduler() as scheduler:
        scheduler.governor.profile = "apple"
        scheduler.signals.set("discharging", False)

        def on_report(report: selene.Report) -> None:
            reports.append(report)
            told.set()

        with scheduler.driver(refresh_budget=20, on_report=on_report):
            scheduler.enqueue("a", handler=lambda run: None)
            assert told.wait(WAIT)
            assert scheduler.governor.balance("refresh").last_begin is not None
        assert (reports[0].budget, [run.id for run in reports[0].runs]) == (20, ["a"])
        decision = scheduler.governor.last("refresh")
        assert decision is not None


def test_windows_of_both_kinds_are_open_at_a_time() -> None:
    meet = threading.Barrier(2, timeout=WAIT)
    over = threading.Semaphore(0)
    with selene.Scheduler() as scheduler:
        scheduler.task("a", kind="refresh", schedule="standing")(lambda run: bool(meet.wait()) or None)
        scheduler.task("b", kind="processing", schedule="standing")(lambda run: bool(meet.wait()) or None)
        with scheduler.driver(on_report=lambda report: over.release()):
            assert over.acquire(timeout=2 * WAIT)
            assert over.acquire(timeout=2 * WAIT)
        assert not meet.broken
        assert scheduler.info().dispatched == 2


def test_a_new_veto_preempts_and_the_task_is_enqueued_as_before() -> None:
    running, seen = threading.Event(), []
    with selene.Scheduler(clock=ToldClock()) as scheduler:
        scheduler.governor.profile = "apple"
        scheduler.signals.set("user_active", False)
        scheduler.governor.used()

        def work(run: selene.Run) -> None:
            running.set()
            run.stopping.wait(WAIT)
            seen.append(run.stopping.reason)

        with scheduler.driver():
            scheduler.enqueue("a", handler=work, kind="processing")
            assert running.wait(WAIT)
            scheduler.signals.set("user_active", True)
            until(lambda: seen)
            info = scheduler.get("a")
            assert (info.state, info.attempts, info.stop_reason) == (
                selene.State.ENQUEUED, 0, selene.StopReason.PREEMPTED,
            )  # fmt: skip
    assert seen == [selene.StopReason.PREEMPTED]


def test_a_window_against_which_a_veto_was_raised_has_no_further_run() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock) as scheduler:
        scheduler.governor.profile = "apple"
        scheduler.governor.used()
        for name in "ab":
            scheduler.register_handler(name, None)
            scheduler.register(selene.Task(name, kind="processing", schedule="once"))
        with scheduler.driver() as driver:
            cycle = driver.step()
            assert cycle is not None
            run = cycle.next()
            assert isinstance(run, selene.Run)
            scheduler.signals.set("user_active", True)
            assert run.stopping.reason is selene.StopReason.PREEMPTED
            with pytest.raises(selene.StaleRun):
                run.complete()
            assert cycle.next() is None
            scheduler.signals.set("user_active", False)
            assert cycle.next() is None
            assert [(run.id, str(run.outcome)) for run in cycle.end().runs] == [("a", "stopped")]
            assert (scheduler.get("a").attempts, scheduler.get("b").attempts) == (0, 0)


def test_the_end_asks_what_runs_to_stop_and_waits_for_it() -> None:
    running, seen = threading.Event(), []
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:

        def work(run: selene.Run) -> None:
            running.set()
            seen.append(run.stopping.wait(2 * WAIT))

        driver = scheduler.driver()
        with driver:
            scheduler.enqueue("a", handler=work)
            assert running.wait(WAIT)
            driver.stop()
            # Of five seconds the last tenth is for what is asked to stop.
            clock.advance(4.5 - 1e-9, handlers=False)
            assert seen == []
            clock.advance(1e-9, handlers=False)
        assert seen == [True]
        assert scheduler.get("a").state is selene.State.SUCCEEDED
        assert threading.active_count() < 20


def test_a_handler_may_stop_it_and_it_can_be_opened_again() -> None:
    with selene.Scheduler() as scheduler:
        driver = scheduler.driver()
        for name in ("a", "b"):
            with driver:
                scheduler.enqueue(name, handler=lambda run: driver.stop(), existing="replace")
                assert driver.wait(WAIT)
            assert scheduler.get(name).state is selene.State.SUCCEEDED


def test_a_handler_cannot_wait_for_its_own_end() -> None:
    raised: list[BaseException] = []
    with selene.Scheduler() as scheduler, scheduler.driver() as driver:

        @scheduler.task(schedule="standing")
        def work(run: selene.Run) -> None:
            try:
                driver.close()
            except selene.Reentrant as error:
                raised.append(error)
            driver.stop()

        assert driver.wait(WAIT)
    assert raised


def test_one_driver_at_a_time() -> None:
    with selene.Scheduler() as scheduler, scheduler.driver():
        with pytest.raises(selene.Busy), scheduler.driver():
            pass
        with pytest.raises(ValueError, match="not open"):
            scheduler.driver().step()


def test_what_a_handler_raises_to_end_the_process_ends_it() -> None:
    with selene.Scheduler() as scheduler:

        @scheduler.task(schedule="standing")
        def work(run: selene.Run) -> None:
            raise SystemExit(3)

        driver = scheduler.driver()
        driver.__enter__()
        assert driver.wait(WAIT)
        with pytest.raises(SystemExit):
            driver.close()


def test_an_ordinary_exception_does_not() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler, scheduler.driver() as driver:

        @scheduler.task(schedule="standing")
        def work(run: selene.Run) -> None:
            raise LookupError

        until(lambda: scheduler.get("work").last_outcome)
        clock.advance(3600)
        assert driver.running


@pytest.mark.parametrize("kind", ["refresh", "processing"])
def test_r9_it_survives_handlers_that_overrun_their_windows(kind: Literal["refresh", "processing"]) -> None:
    gate = threading.Event()
    reports: list[selene.Report] = []
    begun, told = threading.Semaphore(0), threading.Semaphore(0)

    def on_report(report: selene.Report) -> None:
        reports.append(report)
        told.release()

    clock = ToldClock()
    with selene.Scheduler(clock=clock, max_pending_refresh=None, max_overrun_per_handler=8) as scheduler:

        def work(run: selene.Run) -> None:
            begun.release()
            gate.wait(WAIT)

        try:
            with scheduler.driver(refresh_budget=2, processing_budget=2, on_report=on_report) as driver:
                for number in range(8):
                    # Each in a window of its own, as no window's handler comes back before all have begun.
                    scheduler.enqueue(str(number), handler=work, kind=kind, backoff=selene.Exponential(7200))
                    assert begun.acquire(timeout=WAIT), driver
                    assert (driver.running, driver.error, repr(driver)) == (True, None, "<Driver, open>")
                    clock.advance(2, handlers=False)
                    assert len(reports) == number
                    clock.advance(1e-9, handlers=False)
                    assert told.acquire(timeout=WAIT)
                gate.set()
                assert driver.running
        finally:
            gate.set()
    assert [[str(run.outcome) for run in report.runs] for report in reports] == [["expired"]] * 8
    assert not driver.running
    assert repr(driver) == "<Driver>"


def test_r9_it_survives_that_somebody_else_ends_its_window() -> None:
    inside, back, again = threading.Event(), threading.Event(), threading.Event()
    cycles: list[int] = []
    with selene.Scheduler() as scheduler:

        @scheduler.task(schedule="standing")
        def work(run: selene.Run) -> None:
            cycles.append(run.cycle_token)
            if inside.is_set():
                again.set()
                return
            inside.set()
            back.wait(WAIT)

        with scheduler.driver() as driver:
            assert inside.wait(WAIT)
            # Its number, as any part of the program may know it.
            assert not library.selene_cycle_end(cycles[0], None)
            back.set()
            scheduler.enqueue("more", handler="work")
            assert again.wait(WAIT), driver
            assert driver.running


def test_r9_it_says_why_it_ended() -> None:
    with selene.Scheduler() as scheduler:
        scheduler.task("a", schedule="standing")(lambda run: None)

        def on_report(report: selene.Report) -> None:
            raise LookupError("no such place")

        driver = scheduler.driver(on_report=on_report)
        driver.__enter__()
        assert driver.wait(WAIT)
        assert not driver.running
        assert isinstance(driver.error, LookupError)
        assert repr(driver) == "<Driver, ended by LookupError('no such place')>"
        with pytest.raises(LookupError):
            driver.close()


@pytest.mark.parametrize("name", ["pyselene driver", "pyselene-1"])
def test_where_no_thread_can_be_had_it_ends_and_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refused(thread: threading.Thread) -> None:
        if thread.name == name:
            raise RuntimeError("can't start new thread")
        start(thread)

    with selene.Scheduler() as scheduler:
        scheduler.task("a", schedule="standing")(lambda run: None)
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refused)
            with pytest.raises(RuntimeError, match="can't start new thread"), scheduler.driver() as driver:
                assert driver.wait(WAIT)
        reports: list[selene.Report] = []
        with scheduler.driver(on_report=reports.append) as driver:
            scheduler.enqueue("b", handler=lambda run: driver.stop())
            assert driver.wait(WAIT)
        assert "b" in {run.id for report in reports for run in report.runs}


def test_it_ends_when_the_scheduler_is_closed() -> None:
    scheduler = selene.Scheduler()
    with scheduler.driver() as driver:
        scheduler.close()
        assert driver.wait(WAIT)


@pytest.mark.parametrize("options", [{"refresh_budget": 0}, {"processing_lanes": 1025}, {"processing_budget": 90_000}])
def test_a_wrong_option_is_refused(options: dict[str, int]) -> None:
    with (
        selene.Scheduler() as scheduler,
        pytest.raises(selene.InvalidArgument),
        scheduler.driver(**options),  # type: ignore[arg-type]
    ):
        pass


def test_an_idle_driver_sleeps_until_something_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[int] = []
    ran = threading.Event()
    clock = ToldClock()
    rest = Driver._rest

    def counted(driver: Driver, poll: select.poll) -> None:
        rests.append(clock.now_ns)
        watched = Mock(wraps=poll)
        rest(driver, watched)
        watched.poll.assert_called_once_with()  # without a time-out

    monkeypatch.setattr(Driver, "_rest", counted)
    with selene.Scheduler(clock=clock) as scheduler:
        scheduler.enqueue("later", delay=3600, handler=lambda run: ran.set())
        with scheduler.driver():
            until(lambda: rests)
            clock.settle()
            before = list(rests)
            clock.advance(3600 - 1e-9)
            assert rests == before
            clock.advance(1e-9)
            assert ran.wait(WAIT)


def test_a_process_that_exits_or_forks_meanwhile_does_so_cleanly() -> None:
    program = textwrap.dedent("""
        import os, time
        import pyselene as selene
        scheduler = selene.Scheduler()
        scheduler.task("a")(lambda run: run.stopping.wait(60))
        driver = scheduler.driver()
        driver.__enter__()
        while not scheduler.info().dispatched:
            time.sleep(0.01)
        if os.fork() == 0:
            os._exit(0)
        assert os.wait()[1] == 0
        print("ended")
    """)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.forks
def test_p4_a_child_leaves_its_copy_of_a_driver_without_a_word() -> None:
    running, release = threading.Event(), threading.Event()
    with selene.Scheduler() as scheduler:

        @scheduler.task(schedule="standing")
        def work(run: selene.Run) -> None:
            running.set()
            release.wait(WAIT)

        driver = scheduler.driver()
        with driver:
            assert running.wait(WAIT)

            def child() -> None:
                driver.__exit__(None, None, None)
                driver.close()
                with selene.Scheduler() as own, own.driver():
                    pass

            in_child(child)
            assert not driver.wait(0)
            release.set()
        assert scheduler.get("work").last_outcome is selene.Outcome.NEW_DATA


# ---- on an event loop ----------------------------------------------------------------------------------------------


def test_on_a_loop_a_preempted_coroutine_is_cancelled_and_goes_on_later() -> None:
    async def main() -> list[str]:
        seen: list[str] = []
        running, over = asyncio.Event(), asyncio.Event()
        with selene.Scheduler(clock=ToldClock()) as scheduler:
            scheduler.governor.profile = "apple"
            scheduler.signals.set("user_active", False)
            scheduler.governor.used()

            @scheduler.task(kind="processing", schedule="once")
            async def work(run: selene.Run) -> None:
                seen.append(f"attempt {run.attempt}")
                if len(seen) > 1:
                    over.set()
                    return
                running.set()
                try:
                    await asyncio.sleep(WAIT)
                except asyncio.CancelledError:
                    seen.append(str(run.stopping.reason))
                    raise

            async with scheduler.driver() as driver:
                await asyncio.wait_for(running.wait(), WAIT)
                scheduler.signals.set("user_active", True)
                await until_async(lambda: len(seen) == 2)
                # The rate limit: 15 minutes between windows.
                scheduler.governor.profile = "open"
                scheduler.signals.set("user_active", False)
                await asyncio.wait_for(over.wait(), WAIT)
                assert not driver.wait(0)
            assert scheduler.get("work").state is selene.State.SUCCEEDED
        return seen

    assert asyncio.run(main()) == ["attempt 1", "preempted", "attempt 1"]


def test_on_a_loop_functions_run_on_threads_and_lanes_are_kept() -> None:
    async def main() -> None:
        meet = threading.Barrier(2, timeout=WAIT)
        done = asyncio.Event()
        loop = asyncio.get_running_loop()
        reports: list[selene.Report] = []

        def on_report(report: selene.Report) -> None:
            reports.append(report)
            done.set()

        with selene.Scheduler() as scheduler:
            assert threading.current_thread() is threading.main_thread()
            for name in "ab":
                scheduler.task(name, expected=0.1, schedule="standing")(lambda run: bool(meet.wait()) or None)
            async with scheduler.driver(refresh_lanes=2, on_report=on_report):
                await asyncio.wait_for(done.wait(), WAIT)
        assert not meet.broken
        assert {str(run.outcome) for report in reports for run in report.runs} == {"new_data"}
        assert loop.is_running()

    asyncio.run(main())


@pytest.mark.parametrize("is_coroutine", [True, False])
def test_r9_on_a_loop_it_survives_handlers_that_overrun_their_windows(is_coroutine: bool) -> None:
    reports: list[selene.Report] = []

    async def main() -> None:
        gate, begun, told = threading.Event(), asyncio.Semaphore(0), asyncio.Semaphore(0)
        loop = asyncio.get_running_loop()

        def on_report(report: selene.Report) -> None:
            reports.append(report)
            told.release()

        clock = ToldClock()
        with selene.Scheduler(clock=clock, max_pending_refresh=None, max_overrun_per_handler=5) as scheduler:

            async def stubborn(run: selene.Run) -> None:
                begun.release()
                while not gate.is_set():
                    try:
                        await asyncio.sleep(0.001)
                    except asyncio.CancelledError:
                        pass

            def deaf(run: selene.Run) -> None:
                loop.call_soon_threadsafe(begun.release)
                gate.wait(WAIT)

            try:
                async with scheduler.driver(refresh_budget=2, on_report=on_report) as driver:
                    for number in range(5):
                        scheduler.enqueue(
                            str(number), handler=stubborn if is_coroutine else deaf, backoff=selene.Exponential(7200)
                        )
                        await asyncio.wait_for(begun.acquire(), WAIT)
                        assert (driver.running, driver.error) == (True, None)
                        await passes(clock, 2)
                        assert len(reports) == number
                        await passes(clock, 1e-9)
                        await asyncio.wait_for(told.acquire(), WAIT)
                    gate.set()
                    assert driver.running
            finally:
                gate.set()

    asyncio.run(main())
    assert [[str(run.outcome) for run in report.runs] for report in reports] == [["expired"]] * 5


def test_on_a_loop_it_stops_from_a_handler_and_when_cancelled() -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:

            @scheduler.task(schedule="standing")
            async def work(run: selene.Run) -> None:
                driver.stop()

            async with scheduler.driver() as driver:
                await asyncio.wait_for(driver.wait_async(), WAIT)
            scheduler.unregister_handler("work")

            opened = asyncio.Event()

            async def drive() -> None:
                async with scheduler.driver():
                    opened.set()
                    await asyncio.Event().wait()

            task = asyncio.create_task(drive())
            await asyncio.wait_for(opened.wait(), WAIT)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with scheduler.driver():
                pass

    asyncio.run(main())


def test_on_a_loop_a_failing_callback_ends_it() -> None:
    def on_report(report: selene.Report) -> None:
        raise LookupError("no such report")

    async def main() -> None:
        with selene.Scheduler() as scheduler:
            scheduler.task("a", schedule="standing")(lambda run: None)
            async with scheduler.driver(on_report=on_report) as driver:
                await asyncio.wait_for(driver.wait_async(), WAIT)

    with pytest.raises(LookupError, match="no such report"):
        asyncio.run(main())


def test_on_a_loop_it_ends_when_the_scheduler_is_closed() -> None:
    async def main() -> None:
        scheduler = selene.Scheduler()
        async with scheduler.driver() as driver:
            scheduler.close()
            await asyncio.wait_for(driver.wait_async(), WAIT)

    asyncio.run(main())


# ---- by hand -------------------------------------------------------------------------------------------------------


def test_another_loop_waits_for_the_descriptor_and_steps() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        scheduler.register_handler("a", None)
        driver = scheduler.driver()
        driver.open()
        try:
            assert driver.step() is None
            scheduler.register(selene.Task("a", schedule="once", delay=60))
            assert select.select([driver], [], [], WAIT)[0]
            assert driver.step() is None
            clock.advance(60 - 1e-9, handlers=False)
            assert not select.select([driver], [], [], 0)[0]
            clock.advance(1e-9, handlers=False)
            assert select.select([driver], [], [], WAIT)[0]
            cycle = driver.step()
            assert cycle is not None
            with cycle:
                for run in cycle:
                    run.complete()
            assert cycle.report.budget == 30
            assert driver.step() is None
            assert driver.wake_at is None
        finally:
            driver.close()
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(driver._fd)


def test_on_a_virtual_clock_a_week_is_a_loop() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock) as scheduler:
        scheduler.task("sync", every=6 * 3600, anchored=True)(lambda run: clock.advance(4))
        end = clock.now_ns + 7 * 86_400 * 10**9
        runs = steps = 0
        with scheduler.driver() as driver:
            while clock.now_ns < end:
                runs += sum(len(report.runs) for report in driver.run_due())
                assert driver.wake_at is not None
                clock.set(driver.wake_at)
                steps += 1
        assert 28 <= runs <= 29
        assert steps < 70


def test_a_virtual_clock_has_no_event_loop() -> None:
    async def main() -> None:
        async with selene.Scheduler(clock=VirtualClock()).driver():
            pass

    with pytest.raises(ValueError, match="run_due"):
        asyncio.run(main())


def test_budgets_cut_windows() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock, max_pending_refresh=None) as scheduler:
        scheduler.governor.profile = selene.Profile(
            rules=[selene.Rule("budget")], quotas=[selene.Quota("refresh", "window_time", limit=100, period=7200)]
        )
        scheduler.task("a", every=60, expected=1)(lambda run: run.stopping.wait())
        with scheduler.driver(refresh_budget=60) as driver:
            budgets = []
            for _ in range(4):
                budgets += [report.budget for report in driver.run_due()]
                clock.advance(900)
        # The second is cut to what is left; the last seconds are no window of their own.
        assert budgets[0] == 60
        assert 30 <= budgets[1] < 50
        assert len(budgets) == 2


# ---- simulated launches --------------------------------------------------------------------------------------------


def test_a_launch_runs_a_pending_task_whatever_the_governor_says() -> None:
    with selene.Scheduler() as scheduler:
        scheduler.governor.profile = "apple"
        scheduler.signals.set("background_switch", False)
        scheduler.enqueue("a", handler=lambda run: None, delay=3600, kind="processing")
        report = scheduler.launch("a")
        assert ([run.id for run in report.runs], report.budget) == (["a"], 600)
        with pytest.raises(selene.NotFound):
            scheduler.launch("a")
        scheduler.task("standing", schedule="standing")(lambda run: None)
        with pytest.raises(selene.NotFound, match="standing"):
            scheduler.launch("standing")
        scheduler.enqueue("b", handler="<lambda>")
        with scheduler.driver(processing_budget=7):
            scheduler.enqueue("c", handler=lambda run: None, kind="processing", delay=60)
            assert scheduler.launch("c").budget == 7


def test_an_expiry_ends_the_window_of_who_listens_and_of_who_does_not() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock, max_pending_refresh=None) as scheduler:
        go = threading.Event()
        scheduler.enqueue("listens", handler=lambda run: run.stopping.wait(2 * WAIT), kind="processing")
        scheduler.enqueue("deaf", handler=lambda run: bool(go.wait(2 * WAIT)) or None)
        for name, outcome in (("listens", "new_data"), ("deaf", "expired")):

            def expire(name: str = name) -> None:
                until(lambda: scheduler.get(name).state is selene.State.RUNNING)
                scheduler.expire(name)
                if name == "deaf":  # its window ends after its reserve, of 1.5 s
                    clock.advance(1.5, handlers=False)
                    assert scheduler.get(name).state is selene.State.RUNNING
                    clock.advance(1e-9, handlers=False)

            thread = threading.Thread(target=expire)
            thread.start()
            report = scheduler.launch(name)
            thread.join()
            assert str(report.runs[0].outcome) == outcome
        go.set()
        with pytest.raises(selene.NotFound):
            scheduler.expire("listens")


def test_an_expiry_of_a_run_that_was_taken_just_now_ends_its_window() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        go, expired = threading.Event(), threading.Event()

        def expire() -> None:
            scheduler.expire("deaf")
            expired.set()
            clock.advance(1.5 + 1e-9, handlers=False)

        expiry = threading.Thread(target=expire)

        class Runs(dict[int, selene.Run]):
            def __setitem__(self, token: int, run: selene.Run) -> None:
                expiry.start()
                assert expired.wait(WAIT)
                super().__setitem__(token, run)

        scheduler._engine.runs = Runs()
        scheduler.enqueue("deaf", handler=lambda run: bool(go.wait(2 * WAIT)) or None)
        report = scheduler.launch("deaf")
        assert str(report.runs[0].outcome) == "expired"
        expiry.join()
        go.set()


def test_a_launch_and_an_expiry_on_a_loop() -> None:
    async def main() -> None:
        with selene.Scheduler(clock=ToldClock()) as scheduler:
            running = asyncio.Event()

            @scheduler.task(kind="processing", schedule="once", delay=60)
            async def work(run: selene.Run) -> None:
                running.set()
                await asyncio.sleep(2 * WAIT)

            launched = asyncio.create_task(scheduler.launch_async("work"))
            await asyncio.wait_for(running.wait(), WAIT)
            scheduler.expire("work")
            report = await asyncio.wait_for(launched, WAIT)
            assert str(report.runs[0].outcome) == "failed"

    asyncio.run(main())


def test_a_driver_with_a_store(tmp_path: Path) -> None:
    with selene.Scheduler(tmp_path / "tasks.db") as scheduler:
        over = threading.Event()
        with scheduler.driver(on_report=lambda report: over.set()):
            scheduler.enqueue("a", handler=lambda run: None)
            assert over.wait(WAIT)
    with selene.Scheduler(tmp_path / "tasks.db") as scheduler:
        assert scheduler.get("a").state is selene.State.SUCCEEDED
        assert scheduler.governor.balance("refresh").last_begin is not None


def test_r9_a_scheduler_lives_as_long_as_its_driver_runs() -> None:
    ran = threading.Event()
    clock = ToldClock()

    def driver() -> selene.Driver:
        scheduler = selene.Scheduler(clock=clock)

        @scheduler.task(delay=60, schedule="standing")
        def work(run: selene.Run) -> None:
            ran.set()

        return scheduler.driver()

    with driver() as working:
        gc.collect()
        clock.advance(60)
        assert ran.wait(WAIT)
        assert working.running
    engine = working._engine
    assert not engine.closed
    del working
    until(lambda: gc.collect() < 0 or engine.closed)  # a worker may only be about to let go of it
