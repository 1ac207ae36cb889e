"""Workers of a fleet, in Python and in C: how much they do, how soon, and when another one has what a dead one had."""

from __future__ import annotations

import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyselene
from fleet_server import ROOT, TIME, Bench, programs
from pyselene.fleet import Fleet, FleetDraft

WORKER = "a worker, no-op tasks"
ENQUEUE = "enqueue from Python, one by one"
BATCH = "enqueue from Python, 1000 at a time"
START = "registered until started, an idle worker"
FILL = "select count(register('t' || i, handler => 'send')) from generate_series(1, {n}) i"
LEFT = "select count(*) from slot"
#: How many runs have ended, and when.
DONE = "select count(*), extract(epoch from clock_timestamp())::float8 from history"
VICTIM = "select 1 from worker where name = 'victim'"


@contextmanager
def working(scheduler: pyselene.Scheduler, dsn: str, **more: Any) -> Iterator[Any]:
    """A worker with four lanes."""
    with Fleet(dsn).worker(scheduler, **more) as worker:
        thread = threading.Thread(target=scheduler.run_forever, kwargs={"lanes": 4})
        thread.start()
        yield worker
        worker.close(10)
        scheduler.close(10)
        thread.join()


def python(bench: Bench) -> None:
    """Enqueues with pyselene from one connection; a worker in Python."""
    name = bench.database()
    dsn = bench.server.dsn(name)
    with Fleet(dsn) as fleet:
        count = bench.tasks // 10
        bench.rate(ENQUEUE, "pyselene.fleet", count, lambda: [fleet.enqueue(f"e{i}") for i in range(count)])
        fleet.cancel_queue()
        drafts = [FleetDraft(f"t{i}", handler="send", input=b"x") for i in range(bench.tasks)]

        def enqueue() -> None:
            for first in range(0, bench.tasks, 1000):
                fleet.enqueue_batch(drafts[first : first + 1000])

        bench.rate(BATCH, "pyselene.fleet", bench.tasks, enqueue)
    scheduler = pyselene.Scheduler()
    count, done = 0, threading.Event()

    @scheduler.handler("send")
    def handle(_: pyselene.Run) -> None:
        nonlocal count
        count += 1
        if count >= bench.tasks:
            done.set()

    begin = time.perf_counter()
    with working(scheduler, dsn, poll=0.05):
        done.wait(600)
        bench.note(WORKER, "pyselene.fleet, 4 lanes", count / (time.perf_counter() - begin))
    bench.drop(name)


def compiled(folder: str, name: str) -> Path:
    """A program of Tests/fleet/c."""
    program: Path = programs.compiled(ROOT / f"Tests/fleet/c/{name}.c", Path(folder) / name)
    return program


def c(bench: Bench) -> None:
    """A worker in C, which says two lines for each task."""
    name = bench.database()
    bench.run(name, FILL.format(n=bench.tasks), "vacuum analyze")
    with tempfile.TemporaryDirectory() as folder, bench.server.connect(name) as connection:
        connection.execute("set search_path = selene")
        program = compiled(folder, "worker")
        begin = time.perf_counter()
        process = subprocess.Popen(
            [program, bench.server.dsn(name), "c", "lanes=4"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        while connection.execute(LEFT).fetchall() != [(0,)]:
            time.sleep(0.02)
        bench.note(WORKER, "in C, 4 lanes", bench.tasks / (time.perf_counter() - begin))
        process.communicate(timeout=30)
    bench.drop(name)


def latency(bench: Bench) -> None:
    """From before the registration, and the hint that follows it, until the handler begins."""
    for contender, options in (("listening", {}), ("polling 0.1 s", {"listen": False, "poll": 0.1})):
        name = bench.database()
        began: dict[str, float] = {}
        spans: list[float] = []
        scheduler = pyselene.Scheduler()

        @scheduler.handler("send")
        def handle(run: pyselene.Run, began: dict[str, float] = began) -> None:
            began[run.id] = time.perf_counter()

        with working(scheduler, bench.server.dsn(name), **options) as worker, Fleet(bench.server.dsn(name)) as fleet:
            while options == {} and not worker.info().listens:
                time.sleep(0.01)
            for i in range(-5, 100):
                asked = time.perf_counter()
                fleet.enqueue(f"t{i}", handler="send")
                if worker.info().listens:
                    fleet.wake()
                while f"t{i}" not in began:
                    time.sleep(0.001)
                if i >= 0:
                    spans.append(1000 * (began[f"t{i}"] - asked))
                time.sleep(0.005 + i % 10 * 0.001)
        tell_spans(bench, f"a fleet, {contender}", spans)
        bench.drop(name)


def tell_spans(bench: Bench, contender: str, spans: list[float]) -> None:
    """The middle, and what one in ten exceeds."""
    bench.note(START, f"{contender}, p50", statistics.median(spans), TIME)
    bench.note(START, f"{contender}, p90", statistics.quantiles(spans, n=10)[-1], TIME)


def restart(bench: Bench) -> None:
    """A worker is killed in the midst of four tasks; another one has them after a lease and a pause of 30 s."""
    name, lease = bench.database(), 2_000
    dsn = bench.server.dsn(name)
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, "worker")
        victim = programs.Worker(program, dsn, "victim", lease=lease, ms=600_000)
        made = [victim]
        try:
            bench.run(name, FILL.format(n=4))
            programs.wait(lambda: len(victim.words("begin")) == 4)
            heir = programs.Worker(program, dsn, "heir", lease=lease)
            made.append(heir)
            # It has beaten for a lease, so it is no newcomer.
            time.sleep(2 * lease / 1000)
            killed = time.monotonic()
            victim.process.send_signal(signal.SIGKILL)
            programs.wait(lambda: len(heir.words("begin")) == 4)
            spans = sorted(
                1000 * (at - killed) for at, said in zip(heir.times, heir.said, strict=False) if said[0] == "begin"
            )
            question = (
                f"a worker with a lease of {lease} ms is killed in the midst of four tasks: until they begin anew"
            )
            for which, span in (("the first", spans[0]), ("the last", spans[-1])):
                bench.note(question, which, span, TIME)
        finally:
            for one in made:
                one.process.kill()
                one.close_input()
                one.await_end()
    bench.drop(name)


def survivors(bench: Bench) -> None:
    """A worker is killed in the midst of 64 tasks: what the two others do in a second, before and behind that."""
    name, lease, seconds = bench.database(), 2_000, max(3, bench.seconds)
    dsn = bench.server.dsn(name)
    question = "two workers, no-op tasks, while a third is killed in the midst of 64"
    with (
        tempfile.TemporaryDirectory() as folder,
        bench.server.connect(name) as connection,
    ):
        connection.execute("set search_path = selene")
        program = compiled(folder, "worker")
        victim = programs.Worker(program, dsn, "victim", lease=lease, lanes=64, ms=600_000)
        others: list[subprocess.Popen[bytes]] = []

        def rate() -> float:
            [(count, begin)] = connection.execute(DONE).fetchall()
            time.sleep(seconds)
            [(more, end)] = connection.execute(DONE).fetchall()
            return float((more - count) / (end - begin))

        try:
            bench.run(name, FILL.format(n=64))
            programs.wait(lambda: len(victim.words("begin")) == 64)
            bench.run(name, FILL.format(n=400_000 + 20_000 * seconds), "vacuum analyze")
            for other in ("one", "two"):
                command = [str(program), dsn, other, f"lease={lease}", "lanes=4"]
                others.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL))
            time.sleep(2)
            bench.note(question, "before", rate())
            victim.process.send_signal(signal.SIGKILL)
            programs.wait(lambda: not connection.execute(VICTIM).fetchall())
            bench.note(question, "from its death on", rate())
            bench.note(question, "later", rate())
        finally:
            victim.process.kill()
            victim.close_input()
            victim.await_end()
            for process in others:
                process.kill()
                process.wait()
    bench.drop(name)


PARTS = {"python": python, "c": c, "latency": latency, "restart": restart, "survivors": survivors}
