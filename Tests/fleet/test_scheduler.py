"""Schedulers whose tasks come from a fleet: pyselene's workers on a real server (N8, N13, N16, N21, N22, N25, C8)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pyselene
import pytest
from pyselene._raw import SELENE_NEVER
from pyselene.fleet import Fleet, WorkerState

import workers
from conftest import Fleet as Looked
from cutter import Cutter
from server import ROOT

PATIENCE = 60
wait = partial(workers.wait, seconds=PATIENCE)


@pytest.fixture
def own(fleet: Looked) -> Fleet:
    """The same fleet, as a program has it."""
    return Fleet(fleet.server.dsn(fleet.name))


@pytest.fixture
def scheduler() -> Iterator[pyselene.Scheduler]:
    """One in memory."""
    one = pyselene.Scheduler(stop_grace=60)
    yield one
    one.close()


@contextmanager
def working(own: Fleet, scheduler: pyselene.Scheduler, lanes: int = 4, **more: Any) -> Iterator[Any]:
    """A worker, and windows for it in a thread."""
    with own.worker(scheduler, **{"poll": 0.05, "name": "node", **more}) as worker:
        thread = threading.Thread(target=scheduler.run_forever, kwargs={"lanes": lanes})
        thread.start()
        try:
            yield worker
        finally:
            worker.close()
            scheduler.close(10)
            thread.join(PATIENCE)
            assert not thread.is_alive()


def ended(fleet: Looked, count: int) -> Callable[[], bool]:
    """Whether so many have ended."""
    return lambda: fleet.one("select count(*) from history") == count


def test_w13_a_worker_claims_nothing_of_a_kind_that_it_has_paused(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler
) -> None:
    @scheduler.handler("send")
    def send(_: pyselene.Run) -> None: ...

    scheduler.pause(kinds="refresh")
    with working(own, scheduler):
        own.enqueue("paused", handler="send")
        own.enqueue("other", handler="send", kind="processing")
        wait(ended(fleet, 1))
        assert fleet.one("select id from history") == "other"
        # Others may have it meanwhile.
        assert fleet.slot("paused")["state"] == 0
        assert fleet.slot("paused")["run"] == 0
        scheduler.resume(kinds="refresh")
        wait(ended(fleet, 2))


@pytest.mark.parametrize("how", ["in its window", "after its window", "as a suspect"])
def test_n13_a_run_that_was_given_up_and_does_not_return_keeps_nothing_but_its_own_task_from_running(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler, how: str
) -> None:
    begun, over = threading.Event(), threading.Event()

    @scheduler.handler("hang")
    def hang(_: pyselene.Run) -> None:
        begun.set()
        assert over.wait(PATIENCE)

    @scheduler.handler("send")
    def send(_: pyselene.Run) -> None: ...

    ends: list[pyselene.Event] = []
    scheduler.observe(lambda event: ends.append(event) if event.type is pyselene.EventType.CYCLE_ENDED else None)
    try:
        with working(own, scheduler):
            own.enqueue("hanging", handler="hang", priority=5)
            assert begun.wait(PATIENCE)
            ((seq, run),) = fleet.rows("select seq, run from slot")
            with fleet.connection.transaction():
                fleet.rows("select release(array[%s::bigint], array[%s::bigint])", seq, run)
                if how != "in its window":
                    # Its window ends, since nothing else is there.
                    fleet.rows("update slot set state = 1, due = now_ns() + 3600000000000")
            if how != "in its window":
                wait(lambda: bool(ends))
                fleet.rows("update slot set state = 0, line = line | %s", int(how == "as a suspect"))
            for number in range(5):
                own.enqueue(f"other {number}", handler="send")
            wait(ended(fleet, 5))
            assert fleet.one("select id from live") == "hanging"
            if how == "as a suspect":
                # Another worker may have it.
                assert fleet.slot("hanging")["state"] == 0
            over.set()
            wait(ended(fleet, 6))
    finally:
        over.set()


def test_a_worker_runs_what_it_can_and_tells_how_it_ended(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler
) -> None:
    seen: dict[str, tuple[Any, ...]] = {}

    @scheduler.handler("send")
    def send(run: pyselene.Run) -> bytes:
        seen[run.id] = run.input, run.attempt, run.priority, run.kind, run.fence > 0
        return b"sent " + run.input

    @scheduler.handler("fail")
    def fail(_: pyselene.Run) -> None:
        raise ValueError("no")

    own.enqueue("a", handler="send", input=b"one", labels={"eu"}, priority=5)
    own.enqueue("b", handler="fail", max_attempts=1)
    own.enqueue("c", handler="nobody")
    own.enqueue("d", handler="send", delay=0.3, kind="processing")
    own.enqueue("e", handler="send", labels={"eu", "gpu"})
    with working(own, scheduler, labels={"eu"}) as worker:
        wait(ended(fleet, 3))
        info = worker.info()
        assert (info.state, info.number > 0, info.working) == (WorkerState.WORKING, True, 0)
        assert fleet.nodes() == ["node"]
        with pytest.raises(pyselene.NotFound):  # a task is the scheduler's only while it runs there
            scheduler.get("a")
    assert [row[:2] for row in fleet.rows("select id, state from ended order by id")] == [
        ("a", "succeeded"),
        ("b", "failed"),
        ("d", "succeeded"),
    ]
    assert fleet.one("select failure from ended where id = 'b'").startswith("ValueError: no")
    assert own.result("a") == b"sent one"
    assert seen["a"] == (b"one", 1, pyselene.Priority.VERY_HIGH, pyselene.Kind.REFRESH, True)
    assert seen["d"][3] is pyselene.Kind.PROCESSING
    assert fleet.rows("select id, attempts from live order by id") == [("c", 0), ("e", 0)]
    assert fleet.nodes() == []


def test_n22_a_backlog_of_short_tasks_is_claimed_in_batches(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler
) -> None:
    @scheduler.handler("h")
    def handle(_: pyselene.Run) -> None: ...

    fleet.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, 3000) i")
    before = fleet.one("select sum(xact_commit) from pg_stat_database where datname = current_database()")
    with working(own, scheduler):
        wait(ended(fleet, 3000))
    after = fleet.one("select sum(xact_commit) from pg_stat_database where datname = current_database()")
    assert fleet.rows("select distinct state, attempts from history") == [(4, 1)]
    # Nobody said how long they take: what runs took says it.
    assert after - before < 1500


@contextmanager
def forever(
    scheduler: pyselene.Scheduler, run: Callable[..., object] = pyselene.Scheduler.run_forever, **more: Any
) -> Iterator[object]:
    """Windows on a thread."""
    thread = threading.Thread(target=run, args=(scheduler,), kwargs=more)
    thread.start()
    try:
        yield thread
    finally:
        scheduler.stop()
        thread.join()


def forever_on_a_loop(scheduler: pyselene.Scheduler) -> AbstractContextManager[object]:
    """Windows on an event loop."""
    return forever(scheduler, lambda own: asyncio.run(own.run_forever_async(signals=False)))


@pytest.mark.parametrize("windows", [forever, forever_on_a_loop, pyselene.Scheduler.driver])
def test_v1_a_run_has_no_deadline_where_nobody_decided_one(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler, windows: Callable[..., AbstractContextManager[object]]
) -> None:
    seen: dict[pyselene.Kind, tuple[int, int, int]] = {}

    @scheduler.handler("report")
    def report(run: pyselene.Run) -> None:
        seen[run.kind] = run.expires_at_ns, run.deadline_ns, run.remaining_ns

    own.enqueue("short", handler="report", kind="refresh")
    own.enqueue("long", handler="report", kind="processing")
    with own.worker(scheduler, poll=0.05), windows(scheduler):
        wait(ended(fleet, 2))
    assert seen == dict.fromkeys(pyselene.Kind, (SELENE_NEVER,) * 3)


def test_c9_a_failed_run_is_tried_again_with_its_own_delay_and_the_next_attempt(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler
) -> None:
    attempts: list[tuple[int, int]] = []

    @scheduler.handler("h")
    def handle(run: pyselene.Run) -> None:
        attempts.append((run.attempt, run.fence))
        if run.attempt < 3:
            raise pyselene.Retry(after=0.05)

    own.enqueue("a", handler="h")
    with working(own, scheduler):
        wait(ended(fleet, 1))
    assert [attempt for attempt, _ in attempts] == [1, 2, 3]
    assert attempts == sorted(attempts, key=lambda one: one[1])
    assert fleet.rows("select state, attempts from ended") == [("succeeded", 3)]


def test_n25_a_run_whose_task_is_cancelled_is_stopped_and_the_next_one_waits_for_it(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler
) -> None:
    begun = threading.Event()
    seen: list[bytes | pyselene.StopReason] = []

    @scheduler.handler("h")
    def handle(run: pyselene.Run) -> None:
        seen.append(run.input)
        if not run.input:
            begun.set()
            assert run.stopping.wait(PATIENCE)
            seen.append(run.stopping.reason)

    own.enqueue("a", handler="h")
    with working(own, scheduler, lease=6):
        assert begun.wait(PATIENCE)
        own.cancel("a")
        own.enqueue("a", handler="h", input=b"again")
        wait(lambda: fleet.one("select count(*) from history where state = 4") == 1)
    assert seen == [b"", pyselene.StopReason.CANCELLED, b"again"]


def test_c8_a_run_that_is_stopped_here_is_as_before_it_for_the_fleet(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler
) -> None:
    begun, let_go = threading.Event(), threading.Event()

    @scheduler.handler("h")
    def handle(_: pyselene.Run) -> None:
        begun.set()
        assert let_go.wait(PATIENCE)

    own.enqueue("a", handler="h")
    with working(own, scheduler) as worker:
        assert begun.wait(PATIENCE)
        # Not the fleet's: this process lets go of it, while its handler works on.
        scheduler.cancel("a")
        time.sleep(0.3)
        assert fleet.rows("select id, state from live") == [("a", "running")], "its handler has not returned"
        worker_closes = threading.Thread(target=worker.close)
        worker_closes.start()
        let_go.set()
        worker_closes.join(PATIENCE)
    assert fleet.rows("select id, state, attempts from live") == [("a", "enqueued", 0)]


def raises(_: pyselene.Run) -> object:
    raise RuntimeError("was asked to stop")


def retries(_: pyselene.Run) -> object:
    raise pyselene.Retry(after=1)


def gives_back(_: pyselene.Run) -> object:
    raise pyselene.Stopped


def says_failed(run: pyselene.Run) -> object:
    # Its run may have gone back by then.
    with suppress(pyselene.StaleRun):
        run.complete("failed", "was asked to stop")
    return pyselene.PENDING


def says_no_data(_: pyselene.Run) -> object:
    return False


@pytest.mark.parametrize("end", ["worker", "windows", "scheduler"])
def test_v4_a_worker_that_is_stopped_fails_nothing(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler, end: str
) -> None:
    answers = (raises, retries, gives_back, says_failed, says_no_data)
    begun, answered = threading.Semaphore(0), threading.Semaphore(0)

    @scheduler.handler("upload")
    def upload(run: pyselene.Run) -> object:
        begun.release()
        assert run.stopping.wait(PATIENCE)
        try:
            return answers[int(run.id)](run)
        finally:
            answered.release()

    def count(semaphore: threading.Semaphore) -> int:
        return sum(semaphore.acquire(timeout=PATIENCE) for _ in answers)

    for number in range(len(answers)):
        own.enqueue(str(number), handler="upload", max_attempts=1)
    # The database may take its time.
    with own.worker(scheduler, poll=0.05, lease=600) as worker, forever(scheduler, lanes=len(answers), grace=0.2):
        assert count(begun) == len(answers)
        if end == "windows":
            scheduler.stop()
        elif end == "scheduler":
            scheduler.close(5)
        else:
            worker.close(0)
        assert count(answered) == len(answers)
    # They may begin elsewhere at once.
    assert fleet.rows("select id::int, state, attempts, failure, earliest_begin <= now() from live order by id") == [
        (number, "enqueued", 0, None, True) for number in range(len(answers))
    ]


def test_c8_what_the_host_cancels_goes_back_to_the_fleet(own: Fleet, fleet: Looked) -> None:
    with pyselene.Scheduler() as scheduler:

        @scheduler.handler("h")
        def handle(run: pyselene.Run) -> None:
            run.stopping.wait(PATIENCE)

        fleet.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, 4) i")
        with own.worker(scheduler, poll=0.05) as worker:
            thread = threading.Thread(target=scheduler.run_cycle, kwargs={"budget": 60, "lanes": 3})
            thread.start()
            wait(lambda: worker.info().working == 3)
            scheduler.cancel_all()
            scheduler.drain(0)
            thread.join(PATIENCE)
        assert fleet.rows("select distinct state, attempts from live") == [("enqueued", 0)]


def test_n21_what_does_not_begin_in_a_window_goes_back(own: Fleet, fleet: Looked) -> None:
    scheduler = pyselene.Scheduler()
    begun: list[str] = []

    @scheduler.handler("h")
    def handle(run: pyselene.Run) -> None:
        begun.append(run.id)
        run.stopping.wait(PATIENCE)

    fleet.rows("select count(register('t' || i, handler => 'h', expected => '1 ms')) from generate_series(1, 50) i")
    with own.worker(scheduler, poll=0.05) as worker:
        wait(lambda: worker.info().state is WorkerState.WORKING)
        report = scheduler.run_cycle(budget=25, reserve=20, lanes=2)
        assert len(report.runs) == 2
    assert len(begun) == 2
    assert fleet.rows("select state, attempts, count(*) from live group by 1, 2") == [("enqueued", 0, 48)]
    assert ended(fleet, 2)()
    scheduler.close()


def test_n21_a_window_of_the_hosts_ends_when_the_fleet_has_nothing(own: Fleet, fleet: Looked) -> None:
    scheduler = pyselene.Scheduler()

    @scheduler.handler("h")
    def handle(_: pyselene.Run) -> None: ...

    own.enqueue("a", handler="h")
    own.enqueue("b", handler="h", delay=3600)
    with own.worker(scheduler, poll=0.05) as worker:
        wait(lambda: worker.info().state is WorkerState.WORKING)
        begin = time.monotonic()
        assert len(scheduler.run_cycle(budget=300).runs) == 1
        assert len(scheduler.run_cycle(budget=300).runs) == 0
        assert time.monotonic() - begin < PATIENCE
        wait(ended(fleet, 1))
    scheduler.close()


def test_g7_what_the_governor_refuses_is_left_to_other_nodes(own: Fleet, fleet: Looked) -> None:
    def node(name: str) -> pyselene.Scheduler:
        scheduler = pyselene.Scheduler()

        @scheduler.handler("h")
        def handle(run: pyselene.Run) -> bytes:
            return name.encode()

        return scheduler

    busy, idle = node("busy"), node("idle")
    busy.governor.profile = "apple"
    busy.signals.set("background_switch", False)
    with own.worker(busy, poll=0.05), busy.driver():
        own.enqueue("a", handler="h")
        wait(lambda: busy.governor.last("refresh") is not None)
        wait(lambda: fleet.rows("select id, state, attempts from live") == [("a", "enqueued", 0)])
        with working(own, idle):
            wait(ended(fleet, 1))
    assert own.result("a") == b"idle"
    busy.close()


def test_n13_a_lease_that_cannot_be_told_anew_is_a_reason_to_stop(fleet: Looked, scheduler: pyselene.Scheduler) -> None:
    cutter = Cutter(fleet.server)
    reasons: list[object] = []
    troubles: list[pyselene.SeleneError | None] = []
    begun = threading.Event()

    @scheduler.handler("h")
    def handle(run: pyselene.Run) -> None:
        begun.set()
        run.stopping.wait(PATIENCE)
        reasons.append(run.stopping.reason)

    def hear(event: pyselene.Event) -> None:
        if event.detail is pyselene.Trouble.FLEET:
            troubles.append(event.error)

    try:
        scheduler.observe(hear)
        fleet.rows("select register('a', handler => 'h')")
        through = Fleet(cutter.dsn(fleet.name))
        with working(through, scheduler, lease=2):
            assert begun.wait(PATIENCE)
            cutter.close_door()
            wait(lambda: reasons)
            wait(lambda: troubles)
            cutter.open_door()
            # It counts: nobody has taken it meanwhile, since nobody else is there.
            wait(ended(fleet, 1))
            wait(lambda: troubles[-1] is None)
        assert reasons == [pyselene.StopReason.LEASE_LOST]
        assert "does not answer" in str(troubles[0])
        assert fleet.rows("select state, attempts from ended") == [("succeeded", 1)]
    finally:
        cutter.close()


def test_n16_a_run_that_is_completed_in_a_transaction_has_its_effect_once(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler
) -> None:
    dsn = fleet.server.dsn(fleet.name)
    fleet.rows("create table if not exists effect (run bigint)")
    fleet.rows("truncate effect")
    attempts: list[str] = []

    @scheduler.handler("once")
    def once(run: pyselene.Run) -> None:
        attempts.append(run.id)
        with psycopg.connect(dsn) as connection:
            connection.execute("insert into selene.effect values (%s)", (run.fence,))
            run.complete_in(connection, result=b"done")
        raise ValueError("it stands all the same")

    @scheduler.handler("back")
    def back(run: pyselene.Run) -> None:
        with psycopg.connect(dsn) as connection:
            connection.execute("insert into selene.effect values (%s)", (run.fence,))
            run.complete_in(connection)
            connection.rollback()

    @scheduler.handler("late")
    def late(run: pyselene.Run) -> None:
        own.cancel(run.id)
        with psycopg.connect(dsn) as connection, pytest.raises(pyselene.StaleRun):
            run.complete_in(connection)

    own.enqueue("a", handler="once")
    own.enqueue("b", handler="back", max_attempts=1)
    own.enqueue("c", handler="late")
    with working(own, scheduler):
        wait(ended(fleet, 3))
    assert attempts == ["a"]
    assert fleet.one("select count(*) from effect") == 1
    assert own.result("a") == b"done"
    assert fleet.rows("select id, state from ended order by id") == [
        ("a", "succeeded"),
        ("b", "failed"),
        ("c", "cancelled"),
    ]
    assert "did not commit" in fleet.one("select failure from ended where id = 'b'")


def test_a_worker_stands_beside_coroutines(own: Fleet, fleet: Looked) -> None:
    dsn = fleet.server.dsn(fleet.name)

    async def main() -> None:
        scheduler = pyselene.Scheduler()

        @scheduler.handler("h")
        async def handle(run: pyselene.Run) -> bytes:
            await asyncio.sleep(0.01)
            return run.input

        @scheduler.handler("in")
        async def decided(run: pyselene.Run) -> None:
            async with await psycopg.AsyncConnection.connect(dsn) as connection:
                await run.complete_in_async(connection, result=b"in")

        async with own.worker(scheduler, poll=0.05):
            forever = asyncio.create_task(scheduler.run_forever_async(lanes=8))
            end = time.monotonic() + PATIENCE
            while not ended(fleet, 21)():
                assert time.monotonic() < end
                await asyncio.sleep(0.02)
            forever.cancel()
            await asyncio.gather(forever, return_exceptions=True)
        await scheduler.close_async()

    fleet.rows("select count(register('t' || i, handler => 'h', input => '1')) from generate_series(1, 20) i")
    own.enqueue("in", handler="in")
    asyncio.run(main())
    assert fleet.rows("select distinct state, attempts from history") == [(4, 1)]
    assert (own.result("t1"), own.result("in")) == (b"1", b"in")


def test_what_cannot_be_a_task_here_has_failed_and_says_why(
    own: Fleet, fleet: Looked, scheduler: pyselene.Scheduler
) -> None:
    @scheduler.handler("h")
    def handle(_: pyselene.Run) -> None: ...

    @scheduler.handler("big")
    def big(_: pyselene.Run) -> None: ...

    scheduler.enqueue("mine", handler="h", delay=3600)
    own.enqueue("mine", handler="h", max_attempts=1)
    fleet.rows("select set_queue('default', max_input => 100000)")
    own.enqueue("large", handler="big", input=bytes(70_000), max_attempts=1)
    with working(own, scheduler):
        wait(ended(fleet, 2))
        assert scheduler.get("mine").state is pyselene.State.ENQUEUED
    failures = dict(fleet.rows("select id, failure from ended"))
    assert "is a task of this process, too" in failures["mine"]
    assert failures["large"].startswith("input_length: 70000 bytes is out of range")


def test_a_worker_needs_a_scheduler_in_memory_and_is_its_only_one(own: Fleet, tmp_path: Path) -> None:
    with pyselene.Scheduler(tmp_path / "tasks.db") as stored, pytest.raises(pyselene.Unsupported, match="has a store"):
        own.worker(stored).open()
    with pyselene.Scheduler() as scheduler, own.worker(scheduler) as worker:
        with pytest.raises(pyselene.Busy):
            own.worker(scheduler).open()
        assert repr(worker) == "<Worker of 'selene'>"
    assert repr(worker) == "<Worker of 'selene', closed>"
    with pytest.raises(pyselene.Closed):
        worker.info()
    with pyselene.Scheduler() as scheduler, pytest.raises(pyselene.InvalidArgument, match="lease"):
        own.worker(scheduler, lease=0.01).open()


def test_a_database_that_is_not_there_is_a_trouble_and_no_end(fleet: Looked, scheduler: pyselene.Scheduler) -> None:
    nowhere = Fleet("host=/nowhere dbname=x connect_timeout=2")
    told = threading.Event()
    said: list[str] = []

    def hear(event: pyselene.Event) -> None:
        if event.detail is pyselene.Trouble.FLEET:
            said.append(str(event.error))
            told.set()

    scheduler.observe(hear)
    with nowhere.worker(scheduler) as worker:
        assert told.wait(PATIENCE)
        assert "nowhere" in said[0]
        assert worker.info().state is WorkerState.JOINING
        begin = time.monotonic()
        worker.close(0.2)
        assert time.monotonic() - begin < PATIENCE


def test_the_example_is_a_worker_until_a_signal(own: Fleet, fleet: Looked) -> None:
    example = ROOT / "bindings/python/examples/fleet_worker.py"
    command = [sys.executable, str(example), fleet.server.dsn(fleet.name)]
    own.enqueue("mail-1", handler="mail", input=b"to you")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("mail-1: to you (attempt 1, fence ")
        wait(ended(fleet, 1))
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
    assert fleet.rows("select id, state, attempts from ended") == [("mail-1", "succeeded", 1)]
    assert fleet.nodes() == []


PROGRAM = """
import sys, time, pyselene
from pyselene.fleet import Fleet

scheduler = pyselene.Scheduler()

@scheduler.handler("h")
def handle(run):
    print(run.id, flush=True)
    time.sleep(0.02)

@scheduler.handler("hang")
def hang(run):
    print("hangs", flush=True)
    time.sleep(3600)

with Fleet(sys.argv[1]).worker(scheduler, lease=3, poll=0.05):
    scheduler.run_forever(lanes=4)
"""


def test_n10_workers_that_are_killed_lose_nothing_and_double_nothing(own: Fleet, fleet: Looked) -> None:
    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PROGRAM, fleet.server.dsn(fleet.name)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    fleet.rows("select count(register('t' || i, handler => 'h', max_attempts => 1)) from generate_series(1, 300) i")
    own.enqueue("hang", handler="hang", kind="processing")
    nodes = [start()]
    try:
        assert nodes[0].stdout
        nodes[0].stdout.readline()
        nodes += [start(), start()]
        os.kill(nodes[0].pid, signal.SIGKILL)
        # What the first one ran has failed, since it had one attempt; everything else has succeeded.
        wait(ended(fleet, 300))
        rows = dict(fleet.rows("select state, count(*) from ended group by state"))
        assert rows["succeeded"] + rows.get("failed", 0) == 300
        assert fleet.rows("select distinct attempts from history") == [(1,)]
        assert fleet.rows("select id, count(*) from history group by id having count(*) > 1") == []
        assert {row[0] for row in fleet.rows("select failure from ended where state = 'failed'")} <= {
            "the process ended"
        }
    finally:
        for node in nodes:
            node.kill()
            node.wait(PATIENCE)
            if node.stdout:
                node.stdout.close()
