"""The driver: sleeps until something may run, ends on stop and on signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import pyselene as selene
from pyselene.testing import VirtualClock


def test_it_wakes_for_new_tasks_and_ends_on_stop() -> None:
    ran = threading.Event()
    with selene.Scheduler(max_pending_refresh=None) as scheduler:
        thread = threading.Thread(target=scheduler.run_forever)
        thread.start()
        time.sleep(0.05)
        scheduler.enqueue("a", handler=lambda run: ran.set())
        assert ran.wait(10)
        scheduler.stop()
        thread.join(10)
        assert not thread.is_alive()


def test_it_ends_when_the_scheduler_is_closed() -> None:
    scheduler = selene.Scheduler()
    thread = threading.Thread(target=scheduler.run_forever)
    thread.start()
    time.sleep(0.05)
    scheduler.close()
    thread.join(10)
    assert not thread.is_alive()


def test_every_opens_windows_at_that_pace() -> None:
    times: list[float] = []
    with selene.Scheduler() as scheduler:

        @scheduler.task
        def tick(run: selene.Run) -> None:
            times.append(time.monotonic())
            if len(times) == 3:
                scheduler.stop()

        scheduler.run_forever(5, every=0.3)
    assert len(times) == 3
    assert times[2] - times[0] >= 0.5


def test_one_refused_kind_does_not_keep_the_other_from_running() -> None:
    with selene.Scheduler(minimum_interval_processing=3600) as scheduler:
        scheduler.begin(kinds="processing").end()

        @scheduler.task
        def work(run: selene.Run) -> None:
            scheduler.stop()

        scheduler.run_forever(5, every=0.2)
        assert scheduler.info().dispatched == 1


def test_a_stop_asks_what_runs_to_stop() -> None:
    running = threading.Event()
    with selene.Scheduler() as scheduler:

        @scheduler.task
        def work(run: selene.Run) -> bool:
            running.set()
            return run.stopping.wait(60)

        def stop() -> None:
            running.wait(60)
            scheduler.stop()

        threading.Thread(target=stop).start()
        begin = time.monotonic()
        scheduler.run_forever(60)
        assert time.monotonic() - begin < 10
        assert scheduler.get("work").last_outcome is selene.Outcome.NEW_DATA


def test_a_virtual_clock_is_refused() -> None:
    with selene.Scheduler(clock=VirtualClock()) as scheduler, pytest.raises(ValueError, match="real time"):
        scheduler.run_forever()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("call", ["scheduler.run_forever(60)", "asyncio.run(scheduler.run_forever_async(60))"])
def test_signals_end_it_cleanly(number: signal.Signals, call: str, tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import asyncio, signal, threading
        import pyselene as selene
        before = signal.getsignal(signal.SIGTERM)
        scheduler = selene.Scheduler()
        @scheduler.task
        def work(run):
            print("running", flush=True)
            run.stopping.wait(60)
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
        assert process.communicate(timeout=30)[0] == "ended\n"
        assert process.returncode == 0
