"""Processes: fork, forkserver, spawn, and exits with tasks running on every Python of the machine."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pyselene as selene
from pyselene._library import _find
from pythons import pythons

SOURCE = Path(selene.__file__).resolve().parents[1]
#: Exits on each Python, two in each way; PYSELENE_EXITS sets another number.
EXITS = int(os.environ.get("PYSELENE_EXITS", "24"))


def in_child(work: Callable[[], None]) -> None:
    """Does it in a child made by fork(); what it prints is shown."""
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # there are threads
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.forks
def test_a_child_is_told_that_the_scheduler_is_its_parents() -> None:
    scheduler = selene.Scheduler()
    scheduler.task("a", schedule="standing")(lambda run: None)
    scheduler.run_cycle()
    cycle = scheduler.begin()

    def child() -> None:
        for call in (
            scheduler.ids,
            scheduler.run_cycle,
            cycle.next,
            cycle.end,
            lambda: scheduler.register(selene.Task("b", schedule="standing")),
            lambda: scheduler.handler("h")(print),
            lambda: scheduler.observe(print),
        ):
            with pytest.raises(selene.Forked):
                call()
        scheduler.close()
        with selene.Scheduler() as own:
            own.task("a", schedule="standing")(lambda run: None)
            assert len(own.run_cycle().runs) == 1
        gc.collect()

    in_child(child)
    cycle.end()
    assert len(scheduler.run_cycle().runs) == 1
    scheduler.close()


RETURNS = """
import os, sys, time
import pyselene as selene

def ends(child):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    return "hangs"

host = os.getpid()
codes = []
with selene.Scheduler({path!r}, max_pending_refresh=None) as scheduler:

    def handler(run):
        if os.getpid() != host:
            os.write(1, b"called in the child;")
        elif run.id == "first":
            child = os.fork()
            if child == 0:
                {leaves}
            codes.append(ends(child))

    for name in ("first", "second", "third"):
        scheduler.task(name, schedule=selene.Schedule.ONCE, expected=0.001)(handler)
    try:
        report = scheduler.run_cycle(budget=60, lanes={lanes})
    except selene.Forked:
        os.write(1, b"FORKED;")
        os._exit(0)
    if os.getpid() != host:
        os.write(1, b"goes on in the child;")
        os._exit(0)
    os.write(1, f"{{codes}} {{[run.outcome.name for run in report.runs]}};".encode())
"""


@pytest.mark.forks
@pytest.mark.parametrize("leaves", ["return", "sys.exit()"])
@pytest.mark.parametrize("lanes", [1, 2])
def test_p4_a_child_that_returns_from_a_handler_ends_fault_11(tmp_path: Path, leaves: str, lanes: int) -> None:
    program = RETURNS.format(path=str(tmp_path / "store"), leaves=leaves, lanes=lanes)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=90, check=False
    )
    assert ran.stdout == "[0] ['NEW_DATA', 'NEW_DATA', 'NEW_DATA'];", ran.stdout + ran.stderr
    assert ran.returncode == 0


@pytest.mark.forks
def test_forks_while_threads_run_and_register() -> None:
    with selene.Scheduler(max_pending_refresh=None) as scheduler:
        scheduler.task("busy", expected=0, schedule="standing")(lambda run: run.stopping.wait(0.01) and None)
        with ThreadPoolExecutor(2) as pool:
            done = False

            def cycles() -> None:
                while not done:
                    scheduler.run_cycle(0.5)

            def registers() -> None:
                while not done:
                    scheduler.register(selene.Task("other", schedule="standing"))

            work = [pool.submit(cycles), pool.submit(registers)]

            def child() -> None:
                with pytest.raises(selene.Forked):
                    scheduler.register(selene.Task("x", schedule="standing"))
                with pytest.raises(selene.Forked):
                    scheduler.enqueue("y", handler=print)
                with selene.Scheduler() as own:
                    own.task("a", schedule="standing")(lambda run: None)
                    assert len(own.run_cycle().runs) == 1
                scheduler.close()

            for _ in range(10):
                in_child(child)
            done = True
            for future in work:
                future.result()


def work_of_a_process(number: int) -> list[str]:
    """What a process of a pool does."""
    with selene.Scheduler() as scheduler:
        scheduler.task(f"t{number}", schedule="standing")(lambda run: None)
        return [run.id for run in scheduler.run_cycle(20).runs]


@pytest.mark.parametrize("method", [pytest.param("fork", marks=pytest.mark.forks), "forkserver", "spawn"])
def test_processes_of_a_pool_have_schedulers_of_their_own(method: str) -> None:
    with selene.Scheduler() as scheduler, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        scheduler.task("a", schedule="standing")(lambda run: None)
        scheduler.run_cycle()
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(work_of_a_process, range(4)) == [["t0"], ["t1"], ["t2"], ["t3"]]
            with pytest.raises(TypeError, match="cannot be pickled"):
                pool.apply(print, [scheduler])


@pytest.mark.forks
def test_handlers_may_start_processes() -> None:
    """Also by fork, from a thread of pyselene, while others run."""
    with selene.Scheduler(max_pending_refresh=None) as scheduler, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)

        @scheduler.task(schedule="standing")
        def pool(run: selene.Run) -> None:
            with multiprocessing.get_context("fork").Pool(1) as workers:
                assert workers.map(work_of_a_process, [5]) == [["t5"]]

        @scheduler.task(schedule="standing")
        def program(run: selene.Run) -> None:
            subprocess.run(["true"], check=True)

        @scheduler.task(schedule="standing")
        def child(run: selene.Run) -> None:
            in_child(lambda: None)

        assert scheduler.run_cycle(120, lanes=3, check=True).new_data == 3


@pytest.mark.parametrize("way", ["sys.exit(3)", "raise SystemExit(3)", "exit(3)"])
@pytest.mark.parametrize(
    "call",
    ["s.run_cycle()", "s.run_cycle(inline=True)", "s.run_forever()", "asyncio.run(s.run_cycle_async(lanes=2))"],
)
def test_an_exit_in_a_handler_ends_the_program_that_waits(way: str, call: str) -> None:
    program = f"""
        import asyncio, logging, sys
        import pyselene as selene
        logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of steps that take a tenth of a second
        s = selene.Scheduler()
        s.task("other", schedule="standing")(lambda run: run.stopping.wait(0.05))
        @s.task(priority=5, schedule="standing")
        def ends(run):
            {way}
        {call}
        print("not reached")
    """
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    # The log tells of the failed run.
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("task 'ends' failed in attempt 1\nTraceback")
    assert done.stderr.rstrip().endswith("SystemExit: 3")


def test_what_belongs_to_a_process_cannot_be_pickled() -> None:
    with selene.Scheduler() as scheduler, scheduler.events() as events, scheduler.begin(kinds="refresh") as cycle:
        runs: list[selene.Run] = []
        scheduler.task("a", kind="processing", schedule="standing")(runs.append)
        scheduler.run_cycle(kinds="processing")
        for thing in (scheduler, events, cycle, runs[0], runs[0].stopping, scheduler.observe(print)):
            with pytest.raises(TypeError, match=r"cannot be pickled[:;]"):
                pickle.dumps(thing)
            with pytest.raises(TypeError, match="cannot be pickled"):
                copy.deepcopy(thing)


@pytest.mark.parametrize(
    "call",
    [
        "s.run_cycle()",
        "s.run_cycle(push=True)",
        "s.run_forever()",
        "asyncio.run(s.run_cycle_async())",
        "asyncio.run(s.run_cycle_async(push=True))",
        "asyncio.run(s.run_forever_async())",
    ],
)
def test_a_daemon_thread_that_opens_a_window_after_the_exit_began_says_nothing(call: str) -> None:
    program = f"""
        import asyncio, atexit, threading
        closed = threading.Event()
        def after():  # what is registered first is called last
            closed.set()
            thread.join(0.3)
        atexit.register(after)
        import pyselene as selene
        s = selene.Scheduler()
        def run():
            closed.wait()
            {call}
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
    """
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("call", ["s.run_cycle()", "asyncio.run(s.run_cycle_async())"])
def test_a_run_for_which_the_exit_leaves_no_thread_did_not_fail(call: str) -> None:
    program = f"""
        import asyncio, atexit
        from concurrent.futures import ThreadPoolExecutor
        import pyselene as selene
        s = selene.Scheduler(executor=ThreadPoolExecutor(1))
        s.task("work")(print)
        def late():
            try:
                {call}
            except RuntimeError as error:
                print(error)
            print(s.get("work").last_outcome is selene.Outcome.FAILED)
        atexit.register(late)
    """
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    told = "cannot schedule new futures after interpreter shutdown\nFalse\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, told, "")


#: Ways to be busy at the exit, in EXIT.
WAYS = 12
EXIT = textwrap.dedent("""
    import asyncio, os, random, sys, threading, time
    from concurrent.futures import ThreadPoolExecutor
    import pyselene as selene
    ways = ["thread", "push", "events", "forever", "async", "overrun", "plain", "executor", "store", "governor",
        "loop", "loop forever"]
    # Forks for each exit, which is that of the child's interpreter, so that not each imports everything.
    for exit in range(*map(int, sys.argv[2:])):
        child = os.fork()
        if child == 0:
            break
        print(exit, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    else:
        sys.exit()
    random.seed(exit)
    turn, number = divmod(exit, len(ways))
    way = ways[number]
    s = selene.Scheduler(f"{sys.argv[1]}/{exit}.db" if way == "store" else None)
    push = way == "push"
    @s.task(push=push, expected=0.01, schedule="standing")
    def spin(run):
        until = time.monotonic() + 0.08
        while time.monotonic() < until:
            sum(range(100))
    @s.task(push=push, expected=0.01, schedule="standing")
    def wait(run):
        run.stopping.wait(0.08)
    if way == "events":
        s.observe(lambda event: sum(range(100)))
        stream = s.events()
    if way == "executor":
        s2 = selene.Scheduler(executor=ThreadPoolExecutor(2))
        s2.task("spin", schedule="standing")(spin)
        s2.run_cycle(0.05, lanes=2)
    if way == "forever":
        threading.Thread(target=s.run_forever, daemon=True).start()
    elif way == "governor":
        s.governor.profile = "server"
        s.driver(refresh_lanes=2).__enter__()
    elif way in ("async", "loop", "loop forever"):
        @s.task(expected=0.01, schedule="standing")
        async def sleeper(run):
            await asyncio.sleep(5)
        async def main():
            asyncio.get_running_loop().slow_callback_duration = 60
            if way == "loop forever":
                await s.run_forever_async(lanes=3, signals=False)
            else:
                await s.run_cycle_async(0.05 if way == "async" else 10, lanes=3)
        if way == "async":
            asyncio.run(main())
        else:
            threading.Thread(target=asyncio.run, args=(main(),), daemon=True).start()
    elif way == "overrun":
        s.run_cycle(0.02, lanes=2)
    elif way != "plain":
        threading.Thread(target=s.run_cycle, args=(10,), kwargs={"lanes": 2, "push": push}, daemon=True).start()
    time.sleep(random.random() * 0.05)
    if turn % 3 == 0:  # each way meets it
        sys.exit(7)
""")


@pytest.mark.parametrize("python", pythons())
def test_exits_with_tasks_running_never_crash(python: str, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(SOURCE),
        "PYSELENE_LIBRARY": str(_find()),
    }

    def some(first: int) -> tuple[list[str], str]:
        command = [python, "-X", "dev", "-W", "error", "-c", EXIT, *map(str, (tmp_path, first, EXITS, 2))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300 + EXITS, env=environment)
        return done.stdout.splitlines(), done.stderr

    with ThreadPoolExecutor(2) as pool:
        for first, (told, errors) in enumerate(pool.map(some, range(2))):
            wanted = [f"{number} {7 if number // WAYS % 3 == 0 else 0}" for number in range(first, EXITS, 2)]
            assert (told, errors) == (wanted, "")
