"""On an event loop: handlers run on it, are cancelled on stop, and nothing is left behind."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import pyselene as selene
from pyselene.testing import VirtualClock


def outcomes(report: selene.Report) -> dict[str, str]:
    return {run.id: str(run.outcome) for run in report.runs}


def test_coroutines_run_on_the_loop_and_functions_on_workers() -> None:
    seen: dict[str, int] = {}

    async def main() -> None:
        with selene.Scheduler() as scheduler:

            @scheduler.task
            async def coroutine(run: selene.Run) -> bool:
                seen[run.id] = threading.get_ident()
                await asyncio.sleep(0.01)
                return False

            @scheduler.task
            def function(run: selene.Run) -> None:
                seen[run.id] = threading.get_ident()

            scheduler.register_handler("partial", functools.partial(coroutine))
            scheduler.register(selene.Task("partial"))
            report = await scheduler.run_cycle_async(20, lanes=2, check=True)
            assert outcomes(report) == {"coroutine": "no_data", "function": "new_data", "partial": "no_data"}

    asyncio.run(main())
    assert seen["coroutine"] == seen["partial"] == threading.get_ident() != seen["function"]


def test_lanes_interleave_on_one_loop() -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:
            # Nobody passes before all are there.
            meet = asyncio.Barrier(8)
            for number in range(8):

                @scheduler.task(f"t{number}", expected=1)
                async def meets(run: selene.Run) -> None:
                    await asyncio.wait_for(meet.wait(), 20)

            report = await scheduler.run_cycle_async(30, lanes=8, check=True)
            assert list(outcomes(report).values()) == ["new_data"] * 8

    asyncio.run(main())


def test_c7_a_coroutine_is_cancelled_when_it_is_asked_to_stop_and_may_still_complete() -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:

            @scheduler.task(expected=0.1, priority=5)
            async def polite(run: selene.Run) -> bool:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    assert run.stopping
                    return False
                return True

            @scheduler.task(expected=0.1, priority=4)
            async def plain(run: selene.Run) -> None:
                await asyncio.sleep(60)

            # Three seconds to begin in, thirty to end in.
            begin = time.monotonic()
            report = await scheduler.run_cycle_async(33, reserve=30, lanes=2)
            assert time.monotonic() - begin < 30
            assert outcomes(report) == {"polite": "no_data", "plain": "failed"}
            assert [type(error) for error in report.errors] == [asyncio.CancelledError]

    asyncio.run(main())


def test_c5_the_report_comes_by_the_deadline_and_the_loop_ends_clean() -> None:
    release = threading.Event()

    async def main() -> None:
        with selene.Scheduler() as scheduler:

            @scheduler.task(expected=0.1, priority=5)
            async def stubborn(run: selene.Run) -> None:
                while not release.is_set():
                    try:
                        await asyncio.sleep(60)
                    except asyncio.CancelledError:
                        pass

            @scheduler.task(expected=0.1)
            def blocking(run: selene.Run) -> None:
                release.wait(60)

            begin = time.monotonic()
            report = await scheduler.run_cycle_async(4, lanes=2)
            assert time.monotonic() - begin < 30
            assert outcomes(report) == {"stubborn": "expired", "blocking": "expired"}
            assert scheduler.info().overrun_threads == 1
            release.set()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            while scheduler.info().overrun_threads:
                await asyncio.sleep(0.01)

    asyncio.run(main())


def test_cancelling_the_cycle_ends_it() -> None:
    async def main() -> None:
        started, stopped = asyncio.Event(), asyncio.Event()
        with selene.Scheduler() as scheduler:

            @scheduler.task
            async def work(run: selene.Run) -> None:
                started.set()
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    stopped.set()
                    raise

            cycle = asyncio.create_task(scheduler.run_cycle_async(60))
            await asyncio.wait_for(started.wait(), 20)
            cycle.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cycle
            await asyncio.wait_for(stopped.wait(), 20)
            assert scheduler.get("work").state is selene.State.ENQUEUED
            scheduler.begin().end()

    asyncio.run(main())


def test_cancel_by_id_cancels_the_coroutine() -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:
            started = asyncio.Event()

            @scheduler.task(priority=5)
            async def work(run: selene.Run) -> None:
                started.set()
                await asyncio.sleep(60)

            @scheduler.task(priority=1)
            async def after(run: selene.Run) -> None: ...

            cycle = asyncio.create_task(scheduler.run_cycle_async(60))
            await started.wait()
            await asyncio.to_thread(scheduler.cancel, "work")
            assert outcomes(await cycle) == {"work": "stopped", "after": "new_data"}

    asyncio.run(main())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_surfaces(error: type[BaseException]) -> None:
    scheduler = selene.Scheduler()

    @scheduler.task
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
            scheduler.task("a")(lambda run: None)
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
            await asyncio.to_thread(thread.join, 20)
            assert raised

    asyncio.run(main())


def test_p3_a_handler_on_a_loop_cannot_wait_for_its_own_end() -> None:
    async def main() -> None:
        clock = VirtualClock()
        for scheduler in (selene.Scheduler(), selene.Scheduler(clock=clock)):

            @scheduler.task
            async def coroutine(run: selene.Run) -> None:
                for call in (scheduler.close, scheduler.reset, scheduler.run_cycle):  # noqa: B023
                    with pytest.raises(selene.Reentrant):
                        call()
                with pytest.raises(selene.Reentrant):
                    await scheduler.run_cycle_async(kinds="processing")  # noqa: B023
                await asyncio.sleep(0)
                with pytest.raises(selene.Reentrant):
                    scheduler.close()  # noqa: B023

            @scheduler.task
            def function(run: selene.Run) -> None:
                for call in (scheduler.close, scheduler.reset, scheduler.run_cycle):  # noqa: B023
                    with pytest.raises(selene.Reentrant):
                        call()

            report = await scheduler.run_cycle_async(20, lanes=2, check=True)
            assert outcomes(report) == {"coroutine": "new_data", "function": "new_data"}
            scheduler.close()

    asyncio.run(main())


def test_async_handlers_in_a_window_without_a_loop() -> None:
    with selene.Scheduler() as scheduler:

        @scheduler.task(expected=0.1, priority=5)
        async def quick(run: selene.Run) -> None:
            await asyncio.sleep(0)

        @scheduler.task(expected=0.1, priority=4)
        async def stopped(run: selene.Run) -> bool:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                return False
            return True

        assert outcomes(scheduler.run_cycle(33, reserve=30)) == {"quick": "new_data", "stopped": "no_data"}


def test_on_a_virtual_clock() -> None:
    async def main() -> None:
        clock = VirtualClock()
        with selene.Scheduler(clock=clock) as scheduler:

            @scheduler.task
            async def a(run: selene.Run) -> None:
                await asyncio.sleep(0)
                clock.advance(2)

            @scheduler.task
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
            await asyncio.sleep(0.01)
            waiter.cancel()
            await asyncio.to_thread(scheduler.enqueue, "a")
            with pytest.raises(asyncio.CancelledError):
                await waiter
            event = await asyncio.wait_for(anext(stream), 20)
            assert (event.type, event.id, event.detail) == (
                selene.EventType.REGISTERED,
                "a",
                selene.Disposition.ADDED,
            )
            later = asyncio.create_task(anext(stream))
            await asyncio.sleep(0.01)
            await asyncio.to_thread(scheduler.cancel, "a")
            assert (await later).type is selene.EventType.CANCELLED
            stream.close()
            assert [event async for event in stream] == []

    asyncio.run(main())


def test_pushed_cycles_are_awaited() -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:

            @scheduler.task(push=True)
            def pushed(run: selene.Run) -> None: ...

            assert outcomes(await scheduler.run_cycle_async(20, push=True)) == {"pushed": "new_data"}

            begun = threading.Event()

            @scheduler.task("slow", push=True)
            def slow(run: selene.Run) -> None:
                begun.set()
                run.stopping.wait(20)

            pushing = asyncio.create_task(scheduler.run_cycle_async(60, push=True))
            assert await asyncio.to_thread(begun.wait, 20)
            pushing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await pushing
            # Cancelled, it has ended its cycle: what ran was stopped, and comes back.
            assert scheduler.get("slow").last_outcome is selene.Outcome.STOPPED
            scheduler.begin().end()
            async with asyncio.timeout(20):
                while scheduler.info().overrun_threads:
                    await asyncio.sleep(0.01)
            assert scheduler.explain("slow").runnable

    asyncio.run(main())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_surfaces_from_pushed_cycles(error: type[BaseException]) -> None:
    with selene.Scheduler() as scheduler:

        @scheduler.task(push=True)
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
        with selene.Scheduler() as scheduler:

            @scheduler.task(push=True)
            def bad(run: selene.Run) -> None:
                started.set()
                assert joined.wait(20)
                raise KeyError("bad")

            first = asyncio.create_task(scheduler.run_cycle_async(60, push=True))
            await asyncio.to_thread(started.wait, 20)
            second = asyncio.create_task(scheduler.run_cycle_async(60, push=True))
            await asyncio.sleep(0.01)
            joined.set()
            reports = await asyncio.gather(first, second)
            assert reports[0].cycle == reports[1].cycle
            assert [[type(error) for error in report.errors] for report in reports] == [[KeyError], [KeyError]]

    asyncio.run(main())


def test_the_driver_on_a_loop() -> None:
    async def main() -> None:
        reports: list[selene.Report] = []
        with selene.Scheduler(max_pending_refresh=None) as scheduler:
            driver = asyncio.create_task(scheduler.run_forever_async(on_report=reports.append, signals=False))
            await asyncio.sleep(0.05)

            async def work(run: selene.Run) -> None: ...

            scheduler.enqueue("a", handler=work)
            scheduler.enqueue("b", handler=work, delay=0.5)
            async with asyncio.timeout(30):
                while sum(len(report.runs) for report in reports) < 2:
                    await asyncio.sleep(0.02)
            assert [run.id for report in reports for run in report.runs] == ["a", "b"]
            scheduler.stop()
            await asyncio.wait_for(driver, 30)

    asyncio.run(main())


def test_a_driver_on_a_loop_ends_when_the_scheduler_is_closed() -> None:
    async def main() -> None:
        scheduler = selene.Scheduler()

        @scheduler.task
        async def work(run: selene.Run) -> None:
            await asyncio.sleep(60)

        driver = asyncio.create_task(scheduler.run_forever_async(60, signals=False))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(scheduler.close)
        await asyncio.wait_for(driver, 30)

    asyncio.run(main())
