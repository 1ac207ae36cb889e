"""Cycles: on time whatever the handlers do, exceptions where the user waits, lanes, pulled cycles."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import gc
import logging
import os
import pickle
import signal
import sys
import threading
import weakref
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

import pyselene as selene
from pyselene import _callbacks, _engine
from pyselene._library import library
from pyselene.testing import ToldClock, VirtualClock
from rounds import rounds
from told import WAIT, elsewhere, until


def outcomes(report: selene.Report) -> dict[str, str]:
    return {run.id: str(run.outcome) for run in report.runs}


def test_results_and_exceptions_decide_the_outcome(caplog: pytest.LogCaptureFixture) -> None:
    def raising(error: BaseException) -> Any:
        def handler(_: selene.Run) -> None:
            raise error

        return handler

    answers: dict[str, Any] = {
        "none": lambda run: None,
        "true": lambda run: True,
        "false": lambda run: False,
        "outcome": lambda run: selene.Outcome.ABANDONED,
        "text": lambda run: "yes",
        "expired": lambda run: selene.Outcome.EXPIRED,
        "completes": lambda run: run.complete("no_data"),
        "twice": lambda run: (run.complete("no_data"), run.complete())[0],
        "retry": raising(selene.Retry(after=7)),
        "backoff": raising(selene.Retry()),
        "abandon": raising(selene.Abandon("never")),
        "error": raising(KeyError("x")),
        "coroutine": None,
    }

    async def coroutine(run: selene.Run) -> bool:
        return False

    answers["coroutine"] = coroutine
    with selene.Scheduler(clock=ToldClock()) as scheduler, caplog.at_level(logging.DEBUG, "pyselene"):
        for name, handler in answers.items():
            scheduler.register_handler(name, handler)
            scheduler.register(selene.Task(name, expected=0.001, schedule="standing"))
        report = scheduler.run_cycle(20)
        assert outcomes(report) == {
            "none": "new_data",
            "true": "new_data",
            "false": "no_data",
            "outcome": "abandoned",
            "text": "new_data",
            "expired": "failed",
            "completes": "no_data",
            "twice": "no_data",
            "retry": "failed",
            "backoff": "failed",
            "abandon": "abandoned",
            "error": "failed",
            "coroutine": "no_data",
        }
        assert {type(error) for error in report.errors} == {TypeError, KeyError, selene.AlreadyCompleted}
        assert any(error.__traceback__ is not None and isinstance(error, KeyError) for error in report.errors)
        assert "KeyError: 'x'" in str(report)
        with pytest.raises(ExceptionGroup, match="3 of 13 runs raised"):
            report.check()
        info = scheduler.get("retry")
        assert round((info.earliest_begin - info.last_run).total_seconds(), 6) == 7
        assert "Traceback" in caplog.text
        assert pickle.loads(pickle.dumps(report)).runs[0] == report.runs[0]


def test_a_report_that_nobody_has_looked_at_is_one_like_any_other() -> None:
    with selene.Scheduler(clock=ToldClock()) as scheduler:
        scheduler.task("work", expected=1, schedule="standing")(lambda run: None)
        fresh = [scheduler.run_cycle() for _ in range(5)]
    copies = [pickle.loads(pickle.dumps(fresh[0])), copy.copy(fresh[1]), dataclasses.replace(fresh[2]), *fresh[3:]]
    assert all([run.id for run in report.runs] == ["work"] for report in copies)
    assert copies[:3] == fresh[:3]
    assert len({hash(report) for report in (*copies, *fresh)}) == 5
    assert repr(copies[0]) == repr(fresh[0])
    assert fresh[4].runs is fresh[4].runs
    with pytest.raises(AttributeError, match="'Report' object has no attribute 'run'"):
        getattr(fresh[4], "run")  # noqa: B009
    with pytest.raises(dataclasses.FrozenInstanceError):
        fresh[4].runs = ()  # type: ignore[misc]


def test_what_a_handler_raises_after_the_report_is_not_in_it() -> None:
    begun, release = threading.Event(), threading.Event()
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:

        @scheduler.task(expected=1, schedule="standing")
        def late(run: selene.Run) -> None:
            begun.set()
            release.wait(WAIT)
            raise KeyError("late")

        window = elsewhere(scheduler.run_cycle, 3)
        assert begun.wait(WAIT)
        clock.advance(3 + 1e-9, handlers=False)
        report = window.result(WAIT)
        release.set()
        until(lambda: scheduler.info().overrun_threads == 0)
        assert (outcomes(report), report.errors) == ({"late": "expired"}, ())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("inline", [False, True])
def test_what_ends_a_program_ends_the_window_and_surfaces(error: type[BaseException], inline: bool) -> None:
    with selene.Scheduler(clock=ToldClock()) as scheduler:

        @scheduler.task(priority=5, schedule="standing")
        def bad(run: selene.Run) -> None:
            raise error(3)

        @scheduler.task(priority=1, schedule="standing")
        def good(run: selene.Run) -> None: ...

        with pytest.raises(error) as caught:
            scheduler.run_cycle(20, inline=inline)
        assert caught.value.__traceback__ is not None
        assert scheduler.get("bad").last_outcome is selene.Outcome.FAILED
        assert scheduler.get("good").attempts == 0
        assert outcomes(scheduler.run_cycle(20, task="good")) == {"good": "new_data"}


def test_c5_the_report_comes_by_the_deadline_and_the_cap_holds() -> None:
    begun, release = threading.Event(), threading.Event()
    clock = ToldClock()
    scheduler = selene.Scheduler(clock=clock, max_overrun_threads=1)

    @scheduler.task(expected=0.1, schedule="standing")
    def stubborn(run: selene.Run) -> None:
        begun.set()
        release.wait(WAIT)

    window = elsewhere(scheduler.run_cycle, 3)
    assert begun.wait(WAIT)
    clock.advance(3, handlers=False)
    assert scheduler.get("stubborn").state is selene.State.RUNNING
    clock.advance(1e-9, handlers=False)
    report = window.result(WAIT)
    assert 3 <= report.took <= 3 + 1e-6
    assert outcomes(report) == {"stubborn": "expired"}
    assert scheduler.info().overrun_threads == 1
    with pytest.raises(selene.Busy, match="overran"):
        scheduler.run_cycle()
    assert "still_running" in [str(reason.code) for reason in scheduler.explain("stubborn").reasons]
    release.set()
    until(lambda: scheduler.info().overrun_threads == 0)
    assert outcomes(scheduler.run_cycle()) == {"stubborn": "new_data"}
    scheduler.close()


def test_c7_a_run_is_asked_to_stop_and_may_still_complete() -> None:
    told: list[tuple[str, str]] = []
    running, asked = threading.Event(), threading.Event()
    clock = ToldClock()
    scheduler = selene.Scheduler(clock=clock)

    def on_stop(run: selene.Run, reason: selene.StopReason) -> None:
        told.append((run.id, str(reason)))
        asked.set()

    @scheduler.task(expected=0.1, on_stop=on_stop, schedule="standing")
    def polite(run: selene.Run) -> bool:
        assert run.remaining == 3
        assert not run.stopping
        running.set()
        assert run.stopping.wait(60)
        assert run.stopping.reason is selene.StopReason.EXPIRING
        assert run.remaining == 0
        assert asked.wait(WAIT)
        return False

    window = elsewhere(scheduler.run_cycle, 33, reserve=30)  # three seconds to begin in, thirty to end in
    assert running.wait(WAIT)
    clock.advance(3 - 1e-9)
    assert told == []
    clock.advance(1e-9)
    report = window.result(WAIT)
    assert outcomes(report) == {"polite": "no_data"}
    assert report.runs[0].stop_reason is selene.StopReason.EXPIRING
    assert told == [("polite", "expiring")]
    scheduler.close()


def test_c8_a_cancelled_run_frees_its_lane_while_its_handler_works_on() -> None:
    release, running = threading.Event(), threading.Event()
    scheduler = selene.Scheduler(clock=ToldClock())

    @scheduler.task(priority=5, expected=0.1, schedule="standing")
    def first(run: selene.Run) -> None:
        running.set()
        release.wait(60)
        seen.append(run.stopping.reason)

    @scheduler.task(priority=1, expected=0.1, schedule="standing")
    def second(run: selene.Run) -> None: ...

    seen: list[selene.StopReason] = []
    canceller = threading.Thread(target=lambda: (running.wait(60), scheduler.cancel("first")))
    canceller.start()
    report = scheduler.run_cycle(20)
    assert outcomes(report) == {"first": "stopped", "second": "new_data"}
    canceller.join()
    release.set()
    scheduler.close(10)
    assert seen == [selene.StopReason.CANCELLED]


def test_lanes_run_side_by_side() -> None:
    barrier = threading.Barrier(4)
    with selene.Scheduler(clock=ToldClock()) as scheduler:
        for name in "abcd":
            scheduler.task(name, expected=1, schedule="standing")(lambda run: bool(barrier.wait(30)) or True)
        report = scheduler.run_cycle(30, lanes=4)
        assert list(outcomes(report).values()) == ["new_data"] * 4
        assert len({thread.name for thread in threading.enumerate() if thread.name.startswith("pyselene")}) >= 4


def test_work_that_ends_elsewhere() -> None:
    with selene.Scheduler(clock=ToldClock()) as scheduler:

        @scheduler.task(priority=5, schedule="standing")
        def elsewhere(run: selene.Run) -> object:
            threading.Thread(target=run.complete, args=["no_data"]).start()
            return selene.PENDING

        @scheduler.task(priority=1, schedule="standing")
        def after(run: selene.Run) -> None: ...

        assert outcomes(scheduler.run_cycle(20)) == {"elsewhere": "no_data", "after": "new_data"}
        assert outcomes(scheduler.run_cycle(20, inline=True)) == {"elsewhere": "no_data", "after": "new_data"}


def test_a_run_knows_itself() -> None:
    runs = []
    with selene.Scheduler(clock=ToldClock()) as scheduler:
        scheduler.enqueue("a", input=b"\0x\0", handler=lambda run: runs.append(run), priority="high", expected=2)
        scheduler.run_cycle()
    run = runs[0]
    assert (run.id, run.handler, run.input, run.attempt, run.generation) == ("a", "a", b"\0x\0", 1, 0)
    assert (run.kind, run.priority, run.estimate) == (selene.Kind.REFRESH, selene.Priority.HIGH, 2.0)
    assert run.started_at < run.expires_at < run.deadline
    assert run.completed
    assert run.remaining == 0
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(run)


def test_an_executor_runs_the_handlers() -> None:
    names = []
    with ThreadPoolExecutor(2, "mine") as pool, selene.Scheduler(executor=pool) as scheduler:
        for name in "abc":
            scheduler.task(name, schedule="standing")(lambda run: names.append(threading.current_thread().name))
        scheduler.run_cycle(20, lanes=2)
    assert len(names) == 3
    assert all(name.startswith("mine") for name in names)
    with ProcessPoolExecutor(1) as processes, pytest.raises(TypeError, match="ThreadPoolExecutor"):
        selene.Scheduler(executor=processes)


def test_a_pulled_cycle() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock) as scheduler:
        for name in ("a", "b"):
            scheduler.register_handler(name, None)
            scheduler.register(selene.Task(name, expected=1, schedule="standing"))
        with scheduler.begin(10, lanes=2) as cycle:
            a, b = cycle.next(), cycle.next()
            assert isinstance(a, selene.Run)
            assert isinstance(b, selene.Run)
            wait = cycle.next()
            assert isinstance(wait, selene.Wait)
            assert wait.wake_at == a.expires_at
            clock.advance(2)
            a.complete()
            with pytest.raises(selene.AlreadyCompleted):
                a.complete()
            b.retry(after=60)
            assert cycle.next() is None
            with pytest.raises(RuntimeError):
                cycle.report  # noqa: B018
        assert outcomes(cycle.report) == {"a": "new_data", "b": "failed"}
        assert cycle.end() is cycle.report
        with pytest.raises(selene.Closed):
            cycle.next()
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(cycle)
        with pytest.raises(ExceptionGroup) as caught:
            scheduler.run_cycle(check=True)
        assert "cycles that you pull" in str(caught.value.exceptions[0])


def test_runs_that_were_never_completed_are_let_go_with_their_cycle() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        scheduler.task("a", expected=0.01, schedule="standing")(lambda run: selene.PENDING)
        with scheduler.begin() as cycle:
            run = cycle.next()
            assert isinstance(run, selene.Run)
        assert run.stopping
        with pytest.raises(selene.StaleRun):
            run.complete()
        with clock.flowing():
            assert outcomes(scheduler.run_cycle(3)) == {"a": "expired"}
        assert not scheduler._engine.runs


def test_a_dropped_cycle_ends() -> None:
    with selene.Scheduler(clock=ToldClock()) as scheduler:
        cycle = scheduler.begin()
        with pytest.raises(selene.Busy):
            scheduler.begin()
        del cycle
        gc.collect()
        scheduler.begin().end()


def test_on_a_virtual_clock_a_wait_advances_it() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock) as scheduler:

        @scheduler.task(expected=1, schedule="standing")
        def patient(run: selene.Run) -> None:
            assert not run.stopping.wait(5)
            assert run.stopping.wait(500)

        report = scheduler.run_cycle(30, reserve=10)
        assert report.runs[0].response_time == 20
        assert outcomes(report) == {"patient": "new_data"}


def test_a_clock_that_raises_surfaces() -> None:
    broken = False

    def clock() -> int:
        if broken:
            raise OSError("no clock")
        return 5_000_000_000

    with selene.Scheduler(clock=clock) as scheduler:
        assert scheduler.now_ns == 5_000_000_000
        broken = True
        with pytest.raises(OSError, match="no clock"):
            scheduler.now  # noqa: B018
        broken = False
        assert scheduler.now_ns == 5_000_000_000


@pytest.mark.parametrize("inline", [False, True])
def test_pushed_handlers(inline: bool) -> None:
    threads = []
    with selene.Scheduler(clock=ToldClock()) as scheduler:

        @scheduler.task(push=True, schedule="standing")
        def pushed(run: selene.Run) -> None:
            threads.append(threading.get_ident())

        @scheduler.task(push=True, schedule="standing")
        def bad(run: selene.Run) -> None:
            raise KeyError(run.id)

        report = scheduler.run_cycle(20, push=True, inline=inline)
        assert outcomes(report) == {"pushed": "new_data", "bad": "failed"}
        assert [type(error) for error in report.errors] == [KeyError]
        assert (threads == [threading.get_ident()]) == inline
        with pytest.raises(TypeError, match="async"):

            @scheduler.handler(push=True)
            async def loop(run: selene.Run) -> None: ...


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("inline", [False, True])
def test_what_ends_a_program_surfaces_from_pushed_handlers(error: type[BaseException], inline: bool) -> None:
    with selene.Scheduler(clock=ToldClock()) as scheduler:

        @scheduler.task(push=True, schedule="standing")
        def bad(run: selene.Run) -> None:
            raise error(3)

        with pytest.raises(error) as caught:
            scheduler.run_cycle(20, push=True, inline=inline)
        assert caught.value.args == (3,)
        assert scheduler.get("bad").last_outcome is selene.Outcome.FAILED
        assert not scheduler._engine.pushed


def test_what_a_pushed_handler_raises_after_the_report_is_not_kept() -> None:
    begun, release = threading.Event(), threading.Event()
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:

        @scheduler.task(push=True, expected=1, schedule="standing")
        def late(run: selene.Run) -> None:
            begun.set()
            release.wait(WAIT)
            raise KeyError("late")

        window = elsewhere(scheduler.run_cycle, 3, push=True)
        assert begun.wait(WAIT)
        clock.advance(3 + 1e-9, handlers=False)
        report = window.result(WAIT)
        assert (outcomes(report), report.errors) == ({"late": "expired"}, ())
        release.set()
        until(lambda: scheduler.info().overrun_threads == 0)
        assert not scheduler._engine.pushed
        assert not scheduler._engine.runs


def test_the_engine_lets_go_of_handlers_and_schedulers() -> None:
    gc.collect()
    # Those of other tests may still go.
    others = set(_callbacks._objects)

    class Thing:
        def work(self, run: selene.Run) -> None: ...

    thing = Thing()
    gone = weakref.ref(thing)
    scheduler = selene.Scheduler()
    scheduler.register_handler("work", thing.work)
    scheduler.register_handler("work", thing.work)
    with pytest.raises(selene.AlreadyExists):
        scheduler.register_handler("work", print)
    scheduler.register(selene.Task("work", schedule="standing"))
    scheduler.observe(lambda event: None)
    del thing
    gc.collect()
    assert outcomes(scheduler.run_cycle(20)) == {"work": "new_data"}
    scheduler.unregister_handler("work")
    gc.collect()
    assert gone() is None
    engine = weakref.ref(scheduler._engine)
    del scheduler
    until(lambda: gc.collect() >= 0 and engine() is None and not _callbacks._objects.keys() - others)


def test_use_after_close() -> None:
    scheduler = selene.Scheduler()
    runs = []
    scheduler.task("a", schedule="standing")(lambda run: runs.append(run))
    scheduler.run_cycle()
    cycle = scheduler.begin()
    scheduler.close()
    scheduler.close()
    assert scheduler.closed
    for call in (
        scheduler.ids,
        scheduler.run_cycle,
        scheduler.info,
        scheduler.begin,
        cycle.next,
        lambda: scheduler.register(selene.Task("b", schedule="standing")),
        lambda: scheduler.task("c", schedule="standing")(lambda run: None),
        lambda: scheduler.now,
    ):
        with pytest.raises(selene.Closed):
            call()
    with pytest.raises(selene.SeleneError):
        runs[0].complete()
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(scheduler)


@pytest.mark.parametrize("options", [{}, {"inline": True}, {"push": True}, {"push": True, "inline": True}])
def test_p3_in_a_handler_all_is_legal_but_close_reset_and_cycles_to_wait_for(options: dict[str, bool]) -> None:
    with selene.Scheduler(clock=ToldClock()) as scheduler:
        scheduler.task("other", kind="processing", push=True, schedule="standing")(lambda run: None)
        refused = (
            scheduler.close,
            scheduler.reset,
            lambda: scheduler.run_cycle(kinds="processing"),
            lambda: scheduler.run_cycle(kinds="processing", push=True),
            lambda: scheduler.run_cycle(task="other"),
            scheduler.run_forever,
            scheduler.driver().run_due,
            lambda: asyncio.run(scheduler.run_cycle_async(kinds="processing")),
            lambda: asyncio.run(scheduler.run_forever_async()),
        )

        @scheduler.task(push=True, schedule="standing")
        def work(run: selene.Run) -> None:
            for call in refused:
                with pytest.raises(selene.Reentrant):
                    call()
            with scheduler.begin(kinds="processing") as cycle:
                for other in cycle:
                    other.complete()
            scheduler.enqueue("late", delay=60)
            assert scheduler.cancel("late") == 1
            assert not scheduler.closed

        assert outcomes(scheduler.run_cycle(60, kinds="refresh", check=True, **options)) == {"work": "new_data"}  # type: ignore[arg-type]
        assert scheduler.get("other").last_outcome is selene.Outcome.NEW_DATA
        scheduler.run_cycle(kinds="processing")


@pytest.mark.parametrize("where", ["close", "before", "after", "wait"])
def test_p3_a_close_that_is_interrupted_ends_all_the_same(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, release = threading.Event(), threading.Event()
    clock = ToldClock()
    scheduler = selene.Scheduler(clock=clock)
    stream = scheduler.events()

    def interrupt() -> None:
        until(lambda: scheduler.closed)
        os.kill(os.getpid(), signal.SIGINT)

    @scheduler.task(expected=0.1, schedule="standing")
    def deaf(run: selene.Run) -> None:
        begun.set()
        release.wait(WAIT)

    if where == "close":  # in a callback of the library's own close
        cycle = scheduler.begin()  # noqa: F841
        scheduler.observe(lambda event: signal.raise_signal(signal.SIGINT))
    elif where == "wait":
        window = elsewhere(scheduler.run_cycle, 5)
        assert begun.wait(WAIT)
        clock.advance(5 + 1e-9, handlers=False)
        assert outcomes(window.result(WAIT)) == {"deaf": "expired"}
        elsewhere(interrupt)
    else:
        once = [True]

        class Interrupting:
            def __getattr__(self, name: str) -> Any:
                return getattr(library, name)

            def selene_scheduler_close(self, *arguments: int) -> int:
                if where == "before" and once and once.pop():
                    raise KeyboardInterrupt
                status: int = library.selene_scheduler_close(*arguments)
                if where == "after" and once and once.pop():
                    raise KeyboardInterrupt
                return status

        monkeypatch.setattr(_engine, "library", Interrupting())
    with pytest.raises(KeyboardInterrupt):
        scheduler.close(86_400)
    assert scheduler.closed
    release.set()
    assert stream._mailbox.closed
    with pytest.raises(selene.Closed):
        scheduler.ids()
    scheduler.close()


def test_p3_close_without_grace_stops_runs_and_raises_where_the_user_waits() -> None:
    running, ended = threading.Event(), threading.Event()
    seen = []
    scheduler = selene.Scheduler()

    @scheduler.task(schedule="standing")
    def work(run: selene.Run) -> None:
        running.set()
        run.stopping.wait(60)
        seen.append(run.stopping.reason)
        ended.set()

    def close() -> None:
        running.wait(60)
        scheduler.close(0)

    closer = threading.Thread(target=close)
    closer.start()
    with pytest.raises(selene.Closed):
        scheduler.run_cycle(60)
    closer.join()
    assert ended.wait(60)
    assert seen == [selene.StopReason.SHUTDOWN]


def test_a_run_that_was_taken_just_before_the_close_does_not_begin() -> None:
    scheduler = selene.Scheduler()
    ran = threading.Event()

    class Runs(dict[int, selene.Run]):
        def __setitem__(self, token: int, run: selene.Run) -> None:
            closer = threading.Thread(target=scheduler.close, args=[0])
            closer.start()
            closer.join()
            super().__setitem__(token, run)

    scheduler.task("work", schedule="standing")(lambda run: ran.set())
    scheduler._engine.runs = Runs()
    others = set(threading.enumerate())
    with pytest.raises(selene.Closed):
        scheduler.run_cycle(60)
    until(lambda: set(threading.enumerate()) <= others)
    assert not ran.is_set()


def test_many_threads_register_cancel_and_run_while_garbage_is_collected() -> None:
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    tasks = rounds(20)
    failures: list[BaseException] = []
    done = threading.Event()
    ran = []
    with selene.Scheduler(clock=ToldClock(), max_pending_refresh=None) as scheduler:
        scheduler.register_handler("h", lambda run: ran.append(run.id))

        def churn(number: int) -> None:
            try:
                for i in range(tasks):
                    scheduler.enqueue(f"{number}-{i}", handler="h", expected=0)
                    if i % 3 == 0:
                        scheduler.cancel(f"{number}-{i}")
                    scheduler.explain(f"{number}-{i}")
            except BaseException as error:
                failures.append(error)

        def collect() -> None:
            while not done.is_set():
                gc.collect()

        threads = [threading.Thread(target=churn, args=(n,)) for n in range(4)]
        collector = threading.Thread(target=collect)
        for thread in (*threads, collector):
            thread.start()
        while any(thread.is_alive() for thread in threads):
            scheduler.run_cycle(30, lanes=3)
        for thread in threads:
            thread.join()
        scheduler.run_cycle(60, lanes=3)
        done.set()
        collector.join()
        sys.setswitchinterval(switch)
        assert failures == []
        info = scheduler.info()
        assert info.succeeded + info.cancelled == 4 * tasks
        assert info.succeeded <= len(ran)
        assert info.enqueued == info.running == 0


def test_a_retry_that_is_impossible_fails_its_run_and_not_the_window() -> None:
    scheduler = selene.Scheduler()

    @scheduler.task(expected=0.1, schedule="standing")
    def wrong(run: selene.Run) -> None:
        raise selene.Retry(after=-1)

    @scheduler.task(expected=0.1, schedule="standing")
    def right(run: selene.Run) -> None: ...

    report = scheduler.run_cycle(budget=30)
    assert outcomes(report) == {"wrong": "failed", "right": "new_data"}
    assert [str(error) for error in report.errors] == ["after is -1 s; allowed: 0 … 10 years"]


def test_w12_what_a_host_keeps_with_a_run_is_found_by_its_stop_function() -> None:
    found: list[object] = []
    with selene.Scheduler(clock=VirtualClock()) as scheduler:
        scheduler.register_handler("h", None, on_stop=lambda run, _reason: found.append(run.user))
        for key in ("a", "b"):
            scheduler.enqueue(key, handler="h")
        cycle = scheduler.begin(budget=30, lanes=2)
        for kept in ("a session", None):
            run = cycle.next()
            assert isinstance(run, selene.Run)
            assert run.user is None
            if kept is not None:
                run.user = kept
        assert scheduler.cancel_all() == 2
        cycle.end()
    assert found == ["a session", None]


@pytest.mark.skipif(sys.platform != "linux", reason="it is Linux that has such a class")
def test_w12_threads_that_run_handlers_give_way_where_the_host_wants_that() -> None:
    def seen(quality: Any) -> set[int]:
        found: set[int] = set()
        with selene.Scheduler(thread_quality=quality) as scheduler:
            scheduler.register_handler("h", lambda _run: found.add(os.sched_getscheduler(0)))
            for key in ("a", "b", "c"):
                scheduler.enqueue(key, handler="h")
            assert len(scheduler.run_cycle(budget=30, lanes=2).runs) == 3
        return found

    own = os.sched_getscheduler(0)
    assert seen("as_host") == {own}
    assert seen("background") == {os.SCHED_BATCH}
    assert os.sched_getscheduler(0) == own
    with pytest.raises(ValueError, match="thread_quality is 'idle'; allowed: as_host, background"):
        seen("idle")
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="thread_quality and executor"):
        selene.Scheduler(executor=pool, thread_quality="background")
