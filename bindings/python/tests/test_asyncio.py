"""On an event loop: handlers run on it, are cancelled on stop, and nothing is left behind."""

from __future__ import annotations

import asyncio
import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import pyselene as selene
from pyselene.testing import ToldClock, VirtualClock
from told import WAIT, passes, until_async


def outcomes(report: selene.Report) -> dict[str, str]:
    return {run.id: str(run.outcome) for run in report.runs}


def test_coroutines_run_on_the_loop_and_functions_on_workers() -> None:
    seen: dict[str, int] = {}

    async def main() -> None:
        with selene.Scheduler(clock=ToldClock()) as scheduler:

            @scheduler.task(schedule="standing")
            async def coroutine(run: selene.Run) -> bool:
                seen[run.id] = threading.get_ident()
                await asyncio.sleep(0)
                return False

            @scheduler.task(schedule="standing")
            def function(run: selene.Run) -> None:
                seen[run.id] = threading.get_ident()

            scheduler.register_handler("partial", functools.partial(coroutine))
            scheduler.register(selene.Task("partial", schedule="standing"))
            report = await scheduler.run_cycle_async(20, lanes=2, check=True)
            assert outcomes(report) == {"coroutine": "no_data", "function": "new_data", "partial": "no_data"}

    asyncio.run(main())
    assert seen["coroutine"] == seen["partial"] == threading.get_ident() != seen["function"]


def test_lanes_interleave_on_one_loop() -> None:
    async def main() -> None:
        with selene.Scheduler(clock=ToldClock()) as scheduler:
            # Nobody passes before all are there.
            meet = asyncio.Barrier(8)
            for number in range(8):

                @scheduler.task(f"t{number}", expected=1, schedule="standing")
                async def meets(run: selene.Run) -> None:
                    await asyncio.wait_for(meet.wait(), WAIT)

            report = await scheduler.run_cycle_async(30, lanes=8, check=True)
            assert list(outcomes(report).values()) == ["new_data"] * 8

    asyncio.run(main())


def test_c7_a_coroutine_is_cancelled_when_it_is_asked_to_stop_and_may_still_complete() -> None:
    async def main() -> None:
        clock = ToldClock()
        with selene.Scheduler(clock=clock) as scheduler:
            running = asyncio.Semaphore(0)

            @scheduler.task(expected=0.1, priority=5, schedule="standing")
            async def polite(run: selene.Run) -> bool:
                running.release()
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    assert run.stopping
                    return False
                return True

            @scheduler.task(expected=0.1, priority=4, schedule="standing")
            async def plain(run: selene.Run) -> None:
                running.release()
                await asyncio.sleep(60)

            # Three seconds to begin in, thirty to end in.
            cycle = asyncio.create_task(scheduler.run_cycle_async(33, reserve=30, lanes=2))
            for _ in range(2):
                await asyncio.wait_for(running.acquire(), WAIT)
            await passes(clock, 3 - 1e-9)
            assert scheduler.info().running == 2
            await passes(clock, 1e-9)
            report = await asyncio.wait_for(cycle, WAIT)
            assert outcomes(report) == {"polite": "no_data", "plain": "failed"}
            assert [type(error) for error in report.errors] == [asyncio.CancelledError]

    asyncio.run(main())


def test_c5_the_report_comes_by_the_deadline_and_the_loop_ends_clean() -> None:
    release = threading.Event()

    async def main() -> None:
        clock = ToldClock()
        loop = asyncio.get_running_loop()
        with selene.Scheduler(clock=clock) as scheduler:
            running = asyncio.Semaphore(0)

            @scheduler.task(expected=0.1, priority=5, schedule="standing")
            async def stubborn(run: selene.Run) -> None:
                running.release()
                while not release.is_set():
                    try:
                        await asyncio.sleep(60)
                    except asyncio.CancelledError:
                        pass

            @scheduler.task(expected=0.1, schedule="standing")
            def blocking(run: selene.Run) -> None:
                loop.call_soon_threadsafe(running.release)
                release.wait(60)

            cycle = asyncio.create_task(scheduler.run_cycle_async(4, lanes=2))
            for _ in range(2):
                await asyncio.wait_for(running.acquire(), WAIT)
            await passes(clock, 4)
            assert not cycle.done()
            await passes(clock, 1e-9)
            report = await asyncio.wait_for(cycle, WAIT)
            assert outcomes(report) == {"stubborn": "expired", "blocking": "expired"}
            assert scheduler.info().overrun_threads == 1
            release.set()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await until_async(lambda: scheduler.info().overrun_threads == 0)

    asyncio.run(main())


def test_cancelling_the_cycle_ends_it() -> None:
    async def main() -> None:
        started, stopped = asyncio.Event(), asyncio.Event()
        with selene.Scheduler(clock=ToldClock()) as scheduler:

            @scheduler.task(schedule="standing")
            async def work(run: selene.Run) -> None:
                started.set()
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    stopped.set()
                    raise

            cycle = asyncio.create_task(scheduler.run_cycle_async(60))
            await asyncio.wait_for(started.wait(), WAIT)
            cycle.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cycle
            await asyncio.wait_for(stopped.wait(), WAIT)
            assert scheduler.get("work").state is selene.State.ENQUEUED
            scheduler.begin().end()

    asyncio.run(main())


def test_cancel_by_id_cancels_the_coroutine() -> None:
    async def main() -> None:
        with selene.Scheduler(clock=ToldClock()) as scheduler:
            started = asyncio.Event()

            @scheduler.task(priority=5, schedule="standing")
            async def work(run: selene.Run) -> None:
                started.set()
                await asyncio.sleep(60)

            @scheduler.task(priority=1, schedule="standing")
            async def after(run: selene.Run) -> None: ...

            cycle = asyncio.create_task(scheduler.run_cycle_async(60))
            await started.wait()
            await asyncio.to_thread(scheduler.cancel, "work")
            assert outcomes(await cycle) == {"work": "stopped", "after": "new_data"}

    asyncio.run(main())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_surfaces(error: type[BaseException]) -> None:
    scheduler = selene.Scheduler()

    @scheduler.task(schedule="standing")
    def bad(run: selene.Run) -> None:
        raise error(3)

    with pytest.raises(error):
        asyncio.run(scheduler.run_cycle_async(20))
    assert scheduler.get("bad").last_outcome is selene.Outcome.FAILED
    scheduler.close()


def test_an_executor_that_is_shut_down_fails_the_run_and_surfaces() -> None:
    async def main() -> None:
        pool = ThreadPoolExecutor(1)
        with selene.Scheduler(executor=pool, max_overrun_threads=1) as scheduler:
            scheduler.task("a", schedule="standing")(lambda run: None)
            pool.shutdown()
            for _ in range(3):  # none counts as a handler that overran
                with pytest.raises(RuntimeError, match="shutdown"):
                    await scheduler.run_cycle_async()
            assert scheduler.info().overrun_threads == 0
            assert scheduler.get("a").last_outcome is selene.Outcome.FAILED
            assert not scheduler._engine.exiting
            # On a daemon thread too: nothing is mistaken for the end of the interpreter.
            raised: list[BaseException] = []

            def cycle() -> None:
                try:
                    scheduler.run_cycle()
                except RuntimeError as error:
                    raised.append(error)

            thread = threading.Thread(target=cycle, daemon=True)
            thread.start()
            await asyncio.to_thread(thread.join, WAIT)
            assert raised

    asyncio.run(main())


def test_p3_a_handler_on_a_loop_cannot_wait_for_its_own_end() -> None:
    async def main() -> None:
        clock = VirtualClock()
        for scheduler in (selene.Scheduler(), selene.Scheduler(clock=clock)):

            @scheduler.task(schedule="standing")
            async def coroutine(run: selene.Run) -> None:
                for call in (scheduler.close, scheduler.reset, scheduler.run_cycle):  # noqa: B023
                    with pytest.raises(selene.Reentrant):
                        call()
                with pytest.raises(selene.Reentrant):
                    await scheduler.run_cycle_async(kinds="processing")  # noqa: B023
                await asyncio.sleep(0)
                with pytest.raises(selene.Reentrant):
                    scheduler.close()  # noqa: B023

            @scheduler.task(schedule="standing")
            def function(run: selene.Run) -> None:
                for call in (scheduler.close, scheduler.reset, scheduler.run_cycle):  # noqa: B023
                    with pytest.raises(selene.Reentrant):
                        call()

            report = await scheduler.run_cycle_async(20, lanes=2, check=True)
            assert outcomes(report) == {"coroutine": "new_data", "function": "new_data"}
            scheduler.close()

    asyncio.run(main())


def test_async_handlers_in_a_window_without_a_loop() -> None:
    clock, running = ToldClock(), threading.Event()
    with selene.Scheduler(clock=clock) as scheduler, ThreadPoolExecutor(1) as pool:

        @scheduler.task(expected=0.1, priority=5, schedule="standing")
        async def quick(run: selene.Run) -> None:
            await asyncio.sleep(0)

        @scheduler.task(expected=0.1, priority=4, schedule="standing")
        async def stopped(run: selene.Run) -> bool:
            running.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                return False
            return True

        window = pool.submit(scheduler.run_cycle, 33, reserve=30)
        assert running.wait(WAIT)
        clock.advance(3 - 1e-9, handlers=False)
        assert scheduler.get("stopped").state is selene.State.RUNNING
        clock.advance(1e-9, handlers=False)
        assert outcomes(window.result(WAIT)) == {"quick": "new_data", "stopped": "no_data"}


def test_on_a_virtual_clock() -> None:
    async def main() -> None:
        clock = VirtualClock()
        with selene.Scheduler(clock=clock) as scheduler:

            @scheduler.task(schedule="standing")
            async def a(run: selene.Run) -> None:
                await asyncio.sleep(0)
                clock.advance(2)

            @scheduler.task(schedule="standing")
            def b(run: selene.Run) -> None:
                clock.advance(3)

            report = await scheduler.run_cycle_async(30)
            assert [run.response_time for run in report.runs] == [2, 3]

    asyncio.run(main())


def test_events_are_iterated_and_cancelled_readers_are_tolerated() -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:
            stream = scheduler.events()
            waiter = asyncio.create_task(anext(stream))
            await asyncio.sleep(0)
            waiter.cancel()
            await asyncio.to_thread(scheduler.enqueue, "a")
            with pytest.raises(asyncio.CancelledError):
                await waiter
            event = await asyncio.wait_for(anext(stream), WAIT)
            assert (event.type, event.id, event.detail) == (
                selene.EventType.REGISTERED,
                "a",
                selene.Disposition.ADDED,
            )
            later = asyncio.create_task(anext(stream))
            await asyncio.sleep(0)
            await asyncio.to_thread(scheduler.cancel, "a")
            assert (await later).type is selene.EventType.CANCELLED
            stream.close()
            assert [event async for event in stream] == []

    asyncio.run(main())


def test_pushed_cycles_are_awaited() -> None:
    async def main() -> None:
        with selene.Scheduler(clock=ToldClock()) as scheduler:

            @scheduler.task(push=True, schedule="standing")
            def pushed(run: selene.Run) -> None: ...

            assert outcomes(await scheduler.run_cycle_async(20, push=True)) == {"pushed": "new_data"}

            begun = threading.Event()

            @scheduler.task("slow", push=True, schedule="standing")
            def slow(run: selene.Run) -> None:
                begun.set()
                run.stopping.wait(WAIT)

            pushing = asyncio.create_task(scheduler.run_cycle_async(60, push=True))
            assert await asyncio.to_thread(begun.wait, WAIT)
            pushing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await pushing
            # Cancelled, it has ended its cycle: what ran was stopped, and comes back.
            assert scheduler.get("slow").last_outcome is selene.Outcome.STOPPED
            scheduler.begin().end()
            await until_async(lambda: scheduler.info().overrun_threads == 0)
            assert scheduler.explain("slow").runnable

    asyncio.run(main())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_surfaces_from_pushed_cycles(error: type[BaseException]) -> None:
    with selene.Scheduler() as scheduler:

        @scheduler.task(push=True, schedule="standing")
        def bad(run: selene.Run) -> None:
            raise error(3)

        with pytest.raises(error):
            asyncio.run(scheduler.run_cycle_async(20, push=True))
        assert scheduler.get("bad").last_outcome is selene.Outcome.FAILED
        assert not scheduler._engine.pushed


def test_c12_whoever_joins_a_pushed_cycle_gets_its_errors_too() -> None:
    async def main() -> None:
        started = threading.Event()
        joined = threading.Event()
        with selene.Scheduler(clock=ToldClock()) as scheduler:

            @scheduler.task(push=True, schedule="standing")
            def bad(run: selene.Run) -> None:
                started.set()
                assert joined.wait(WAIT)
                raise KeyError("bad")

            first = asyncio.create_task(scheduler.run_cycle_async(60, push=True))
            await asyncio.to_thread(started.wait, WAIT)
            second = asyncio.create_task(scheduler.run_cycle_async(60, push=True))
            await asyncio.sleep(0)
            joined.set()
            reports = await asyncio.gather(first, second)
            assert reports[0].cycle == reports[1].cycle
            assert [[type(error) for error in report.errors] for report in reports] == [[KeyError], [KeyError]]

    asyncio.run(main())


def test_the_driver_on_a_loop() -> None:
    async def main() -> None:
        reports: list[selene.Report] = []
        clock = ToldClock()
        with selene.Scheduler(clock=clock, max_pending_refresh=None) as scheduler:
            driver = asyncio.create_task(scheduler.run_forever_async(on_report=reports.append, signals=False))
            await passes(clock, 3600)

            async def work(run: selene.Run) -> None: ...

            def ran() -> list[str]:
                return [run.id for report in reports for run in report.runs]

            scheduler.enqueue("a", handler=work)
            scheduler.enqueue("b", handler=work, delay=60)
            await until_async(lambda: ran() == ["a"])
            await passes(clock, 60 - 1e-9)
            assert ran() == ["a"]
            await passes(clock, 1e-9)
            await until_async(lambda: ran() == ["a", "b"])
            scheduler.stop()
            await asyncio.wait_for(driver, WAIT)

    asyncio.run(main())


def test_a_driver_on_a_loop_ends_when_the_scheduler_is_closed() -> None:
    async def main() -> None:
        scheduler = selene.Scheduler()
        running = asyncio.Event()

        @scheduler.task(schedule="standing")
        async def work(run: selene.Run) -> None:
            running.set()
            await asyncio.sleep(60)

        driver = asyncio.create_task(scheduler.run_forever_async(60, signals=False))
        await asyncio.wait_for(running.wait(), WAIT)
        await asyncio.to_thread(scheduler.close)
        await asyncio.wait_for(driver, WAIT)

    asyncio.run(main())
