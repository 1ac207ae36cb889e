"""run_forever(): sleeps until something may run, ends on stop and on signals."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import pyselene as selene
from pyselene import _driver
from pyselene._drive import Drive
from pyselene.testing import ToldClock, VirtualClock


def test_it_wakes_for_new_tasks_and_ends_on_stop() -> None:
    ran = threading.Event()
    with selene.Scheduler(max_pending_refresh=None) as scheduler:
        thread = threading.Thread(target=scheduler.run_forever)
        thread.start()
        time.sleep(0.05)
        scheduler.enqueue("a", handler=lambda run: ran.set())
        assert ran.wait(30)
        scheduler.stop()
        thread.join(30)
        assert not thread.is_alive()


def test_it_ends_when_the_scheduler_is_closed() -> None:
    scheduler = selene.Scheduler()
    thread = threading.Thread(target=scheduler.run_forever)
    thread.start()
    time.sleep(0.05)
    scheduler.close()
    thread.join(30)
    assert not thread.is_alive()


def test_every_opens_windows_at_that_pace() -> None:
    times: list[int] = []
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        begin = clock.now_ns

        @scheduler.task(schedule="standing")
        def tick(run: selene.Run) -> None:
            times.append(clock.now_ns - begin)
            if len(times) == 3:
                scheduler.stop()

        with clock.flowing():
            scheduler.run_forever(every=300)
    assert times == [0, 300 * 10**9, 600 * 10**9]


def test_one_refused_kind_does_not_keep_the_other_from_running() -> None:
    with selene.Scheduler(minimum_interval_processing=3600) as scheduler:
        scheduler.begin(kinds="processing").end()

        @scheduler.task(schedule="standing")
        def work(run: selene.Run) -> None:
            scheduler.stop()

        scheduler.run_forever(every=0.2)
        assert scheduler.info().dispatched == 1


def test_a_stop_asks_what_runs_to_stop() -> None:
    clock = ToldClock()
    with selene.Scheduler(clock=clock) as scheduler:
        begin = clock.now_ns

        @scheduler.task(schedule="standing")
        def work(run: selene.Run) -> bool:
            scheduler.stop()
            return run.stopping.wait(60)

        with clock.flowing():
            scheduler.run_forever(60, grace=20)
        assert clock.now_ns - begin == 18 * 10**9
        assert scheduler.get("work").last_outcome is selene.Outcome.NEW_DATA


def test_a_virtual_clock_is_refused() -> None:
    with selene.Scheduler(clock=VirtualClock()) as scheduler, pytest.raises(ValueError, match="real time"):
        scheduler.run_forever()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "call", ["scheduler.run_forever(60, grace=20)", "asyncio.run(scheduler.run_forever_async(60, grace=20))"]
)
def test_signals_end_it_cleanly(number: signal.Signals, call: str, tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import asyncio, signal, threading
        import pyselene as selene
        from pyselene.testing import ToldClock
        before = signal.getsignal(signal.SIGTERM)
        clock = ToldClock()
        scheduler = selene.Scheduler(clock=clock)
        heard = threading.Event()
        @scheduler.task
        def work(run):
            print("running", flush=True)
            # Nothing passes before the signal has come.
            while not scheduler._engine.driver._stopping:
                heard.wait(0.001)
            run.stopping.wait(60)
        with clock.flowing():
            {call}
        assert signal.getsignal(signal.SIGTERM) == before
        assert scheduler.get("work").last_outcome == selene.Outcome.NEW_DATA
        scheduler.close()
        print("ended")
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        os.kill(process.pid, number)
        assert process.communicate(timeout=120)[0] == "ended\n"
        assert process.returncode == 0


def in_a_process(program: str) -> None:
    """Runs it where signals may do what they do."""
    head = "import asyncio, logging, os, random, signal, sys, threading, time\nimport pyselene as selene\n"
    # It warns of steps that take a tenth of a second.
    head += "logging.getLogger('asyncio').setLevel(logging.ERROR)\n"
    # Shells start what runs in the background with SIGINT ignored.
    head += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", head + textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


WAYS = ["scheduler.run_forever(every=3600)", "asyncio.run(scheduler.run_forever_async(every=3600))"]


@pytest.mark.parametrize("call", WAYS)
def test_no_signal_is_lost_whenever_it_comes(call: str) -> None:
    in_a_process(f"""
        scheduler = selene.Scheduler()
        for number in range(100):
            begin = time.monotonic()
            delay = random.Random(number).random() * 0.004
            def kill():
                # Only when the driver listens.
                while signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
                    time.sleep(0.0001)
                time.sleep(delay)
                os.kill(os.getpid(), signal.SIGTERM)
            killer = threading.Thread(target=kill)
            killer.start()
            {call}
            killer.join()
            assert time.monotonic() - begin < 30
        scheduler.close()
        print("ended")
    """)


def test_a_signal_between_the_last_look_and_the_wait_counts() -> None:
    in_a_process("""
        from pyselene._forever import Forever
        scheduler = selene.Scheduler()
        rest = Forever._rest
        def late(self, poll):
            os.kill(os.getpid(), signal.SIGINT)
            rest(self, poll)
        Forever._rest = late
        begin = time.monotonic()
        scheduler.run_forever(every=3600)
        assert time.monotonic() - begin < 30
        scheduler.close()
        print("ended")
    """)


def test_a_second_signal_does_what_it_did_before() -> None:
    in_a_process("""
        scheduler = selene.Scheduler()
        @scheduler.task
        def deaf(run):
            os.kill(os.getpid(), signal.SIGINT)
            while signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        try:
            scheduler.run_forever()
        except KeyboardInterrupt:
            print("ended")
        assert signal.set_wakeup_fd(-1) == -1
        scheduler.close()
    """)


def test_whoever_listened_to_signals_before_still_does() -> None:
    in_a_process("""
        async def main():
            loop, heard = asyncio.get_running_loop(), asyncio.Event()
            loop.add_signal_handler(signal.SIGUSR1, heard.set)
            scheduler = selene.Scheduler()
            @scheduler.task
            async def work(run):
                os.kill(os.getpid(), signal.SIGUSR1)
                await heard.wait()
                print("ended")
                os.kill(os.getpid(), signal.SIGTERM)
                await asyncio.sleep(60)
            await scheduler.run_forever_async()
            loop.remove_signal_handler(signal.SIGUSR1)
            scheduler.close()
        asyncio.run(main())
    """)


def test_a_signal_to_a_forked_child_is_the_childs() -> None:
    in_a_process("""
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        scheduler = selene.Scheduler()
        @scheduler.task
        def work(run):
            reading, writing = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.write(writing, b"x")
                time.sleep(60)
                os._exit(1)
            os.read(reading, 1)
            os.kill(pid, signal.SIGTERM)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGTERM
            assert not run.stopping.wait(0.1)
            print("ended")
            scheduler.stop()
        scheduler.run_forever()
        assert scheduler.get("work").last_outcome == selene.Outcome.NEW_DATA
        scheduler.close()
    """)


def test_a_signal_to_a_child_that_was_forked_just_now_is_the_childs() -> None:
    in_a_process("""
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        from pyselene._interrupt import Catcher
        forked = Catcher.forked
        def late(self):
            time.sleep(0.5)
            forked(self)
        Catcher.forked = late
        scheduler = selene.Scheduler()
        @scheduler.task
        def work(run):
            before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(1)
            os.kill(pid, signal.SIGTERM)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGTERM
            assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
            assert not run.stopping.wait(0.1)
            print("ended")
            scheduler.stop()
        scheduler.run_forever()
        assert scheduler.get("work").last_outcome == selene.Outcome.NEW_DATA
        scheduler.close()
    """)


def test_a_stop_just_before_a_window_opens_lets_nothing_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with selene.Scheduler() as scheduler:
        scheduler.task("a", schedule="standing")(lambda run: None)

        def late(*arguments: Any) -> Drive:
            scheduler.stop()
            return Drive(*arguments)

        monkeypatch.setattr(_driver, "Drive", late)
        scheduler.run_forever()
        assert scheduler.info().dispatched == 0


def test_a_stop_while_a_run_is_on_its_way_to_its_handler_waits_for_it() -> None:
    with selene.Scheduler() as scheduler:

        class Handlers(dict[bytes, Any]):
            def get(self, name: bytes, default: Any = None) -> Any:
                scheduler.stop()
                time.sleep(0.3)
                return super().get(name, default)

        scheduler.task("a", schedule="standing")(lambda run: None)
        scheduler._engine.handlers = Handlers(scheduler._engine.handlers)
        scheduler.run_forever()
        assert scheduler.get("a").last_outcome is selene.Outcome.NEW_DATA


def test_stop_ends_it_and_leaves_other_windows_alone() -> None:
    with selene.Scheduler() as scheduler:
        thread = threading.Thread(target=scheduler.run_forever, kwargs={"kinds": "refresh"})
        thread.start()
        limit = time.monotonic() + 30
        while scheduler._engine.driver is None and time.monotonic() < limit:
            time.sleep(0.01)
        with pytest.raises(selene.Busy, match="a driver is open"):
            scheduler.run_forever()
        with pytest.raises(selene.Busy, match="a driver is open"), scheduler.driver():
            pass
        with scheduler.begin(kinds="processing"):
            scheduler.stop()
        thread.join(30)
        assert not thread.is_alive()
        scheduler.task("a", schedule="standing")(lambda run: None)
        assert len(scheduler.run_cycle().runs) == 1
        with scheduler.driver() as driver:
            scheduler.stop()
            assert driver.running


def test_whatever_lets_a_task_run_wakes_it() -> None:
    ran: list[str] = []
    with selene.Scheduler() as scheduler:
        scheduler.enable("processing")
        scheduler.set_conditions(network=False, power=True)
        thread = threading.Thread(target=scheduler.run_forever)
        thread.start()

        def comes(name: str) -> bool:
            limit = time.monotonic() + 20
            while name not in ran and time.monotonic() < limit:
                time.sleep(0.005)
            return name in ran

        def handler(run: selene.Run) -> None:
            ran.append(run.id)

        scheduler.register_handler("h", handler)
        scheduler.register(selene.Task("registered", "h", kind="processing", schedule="standing"))
        assert comes("registered")
        scheduler.enqueue("network", handler="h", kind="processing", requires="network")
        scheduler.enqueue("handler", handler="later", kind="processing")
        time.sleep(0.05)
        assert ran == ["registered"]
        scheduler.set_conditions(network=True)
        assert comes("network")
        scheduler.register_handler("later", handler)
        assert comes("handler")
        scheduler.enable({"refresh", "processing"})
        scheduler.register_all([selene.Task("batch", "h", schedule="once")])
        assert comes("batch")
        scheduler.stop()
        thread.join(30)
        assert not thread.is_alive()


def test_r9_it_survives_a_window_that_other_code_ends(caplog: pytest.LogCaptureFixture) -> None:
    ran: list[str] = []
    with selene.Scheduler() as scheduler:

        def work(run: selene.Run) -> None:
            ran.append(run.id)
            if len(ran) == 1:
                scheduler._engine.calls.selene_cycle_end(run.cycle_token, None)
                scheduler.enqueue("second", handler=work)
            elif run.id == "second":
                scheduler.stop()

        scheduler.enqueue("first", handler=work)
        scheduler.run_forever()
    # The window was ended by the program, so the first waits as before its run.
    assert ran in (["first", "first", "second"], ["first", "second"])


def test_a_kind_of_the_other_sort_begins_in_the_window_that_is_open() -> None:
    both = threading.Event()
    with selene.Scheduler() as scheduler:

        def slow(run: selene.Run) -> bool:
            scheduler.enqueue("quick", handler=quick, kind="processing")
            return both.wait(20)

        def quick(run: selene.Run) -> None:
            both.set()
            scheduler.stop()

        scheduler.enqueue("slow", handler=slow)
        scheduler.run_forever(lanes=2)
        assert both.is_set()
        assert scheduler.get("slow").last_outcome is selene.Outcome.NEW_DATA


def test_r2_what_is_enqueued_begins_beside_a_handler_that_waits() -> None:
    both = threading.Event()
    outcomes: list[selene.Outcome | None] = []
    with selene.Scheduler(max_pending_refresh=None) as scheduler:

        def slow(run: selene.Run) -> bool:
            scheduler.enqueue("quick", handler="quick")
            return both.wait(20)

        scheduler.register_handler("quick", lambda run: both.set())
        scheduler.enqueue("slow", handler=slow)

        def told(report: selene.Report) -> None:
            outcomes.extend(run.outcome for run in report.runs)
            scheduler.stop()

        scheduler.run_forever(lanes=2, on_report=told)
    assert outcomes == [selene.Outcome.NEW_DATA] * 2  # in one window: it waited for the other


def test_r2_what_is_enqueued_begins_beside_a_coroutine_that_waits() -> None:
    async def main() -> None:
        both = asyncio.Event()
        outcomes: list[selene.Outcome | None] = []
        with selene.Scheduler(max_pending_refresh=None) as scheduler:

            async def slow(run: selene.Run) -> None:
                scheduler.enqueue("quick", handler="quick")
                await asyncio.wait_for(both.wait(), 20)

            async def quick(run: selene.Run) -> None:
                both.set()

            scheduler.register_handler("quick", quick)
            scheduler.enqueue("slow", handler=slow)

            def told(report: selene.Report) -> None:
                outcomes.extend(run.outcome for run in report.runs)
                scheduler.stop()

            await scheduler.run_forever_async(lanes=2, on_report=told)
        assert outcomes == [selene.Outcome.NEW_DATA] * 2

    asyncio.run(main())


def test_r1_a_window_rolls_if_it_is_told_to() -> None:
    for frozen in (False, True):
        with selene.Scheduler(max_pending_refresh=None) as scheduler:
            scheduler.register_handler("second", lambda run: None)

            def first(run: selene.Run) -> None:
                scheduler.enqueue("second", handler="second")

            scheduler.enqueue("first", handler=first)
            report = scheduler.run_cycle(frozen=frozen)
            assert [run.id for run in report.runs] == (["first"] if frozen else ["first", "second"])
