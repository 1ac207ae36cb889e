"""One process has a store and serves it, others connect (L2 to L17)."""

from __future__ import annotations

import asyncio
import logging
import os
import queue as queue_module
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import pyselene as selene
from pyselene import Outcome, Peer, Right, Scheduler, Task

PATIENCE = 120

OWNER = """
import sys, pyselene
scheduler = pyselene.Scheduler(sys.argv[1])
scheduler.serve()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


@pytest.fixture
def owner(store: Path) -> Iterator[Scheduler]:
    with Scheduler(store) as scheduler, scheduler.serve():
        yield scheduler


def start_owner(store: Path) -> subprocess.Popen[str]:
    """A process that has the store and serves it until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end_owner(process: subprocess.Popen[str], by: int = signal.SIGKILL) -> None:
    process.send_signal(by)
    process.communicate(timeout=PATIENCE)


def test_l2_a_socket_that_listens_already_is_served(store: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as given, Scheduler(store) as scheduler:
        given.bind(str(tmp_path / "given"))
        given.listen()
        with scheduler.serve(descriptor=given.fileno()), selene.connect(tmp_path / "given") as queue:
            assert queue.enqueue("a") is selene.Disposition.ADDED
        assert (tmp_path / "given").exists()
        for wrong in (-1, 1 << 31):
            with pytest.raises(ValueError, match="descriptor"):
                scheduler.serve(descriptor=wrong)
        with pytest.raises(selene.InvalidArgument, match="path"):
            scheduler.serve(tmp_path / "s", descriptor=given.fileno())
        with (tmp_path / "file").open("w") as file, pytest.raises(selene.InvalidArgument, match="descriptor"):
            scheduler.serve(descriptor=file.fileno())


def test_l2_an_event_loop_serves_without_a_thread(store: Path) -> None:
    async def main() -> int:
        loop = asyncio.get_running_loop()
        with Scheduler(store) as scheduler:
            async with scheduler.serve(thread=False) as server:

                def ask() -> int:
                    with selene.connect(store) as queue:
                        queue.enqueue("a")
                        queue.enqueue("b")
                        return len(queue.tasks())

                assert await loop.run_in_executor(None, ask) == 2
                assert server.info().requests >= 4
                server.fileno()
            with pytest.raises(ValueError, match="descriptor"):
                server.fileno()
            assert not Path(f"{store}-sock").exists()
            return len(scheduler.tasks())

    assert asyncio.run(main()) == 2


def test_l2_a_loop_lets_others_step_and_is_left_when_its_scheduler_is_over(store: Path) -> None:
    async def main() -> list[object]:
        loop = asyncio.get_running_loop()
        raised: list[object] = []
        loop.set_exception_handler(lambda _, context: raised.append(context))
        scheduler = Scheduler(store)
        async with scheduler.serve(thread=False) as server:
            over = threading.Event()

            def ask() -> None:
                with selene.connect(store) as queue:
                    for number in range(100):
                        queue.enqueue(f"a{number}")

            def step() -> None:
                while not over.is_set():
                    with suppress(selene.Busy):
                        server.step()

            stepping = loop.run_in_executor(None, step)
            await loop.run_in_executor(None, ask)
            over.set()
            await stepping
            descriptor = server.fileno()
            scheduler.close()
            await asyncio.sleep(0.05)
            with pytest.raises(ValueError, match="descriptor"):
                server.fileno()
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(descriptor)
        return raised

    assert asyncio.run(main()) == []


def test_l2_another_loop_steps_a_server(store: Path) -> None:
    with Scheduler(store) as scheduler, scheduler.serve(thread=False) as server, selectors.DefaultSelector() as loop:
        loop.register(server, selectors.EVENT_READ)
        found: list[str] = []

        def ask() -> None:
            with selene.connect(store) as queue:
                queue.enqueue("a")
            found.append("done")

        asking = threading.Thread(target=ask)
        asking.start()
        begun = time.monotonic()
        while not found and time.monotonic() - begun < PATIENCE:
            if loop.select(0.1):
                server.step()
        asking.join()
        assert [task.id for task in scheduler.tasks()] == ["a"]
    with pytest.raises(selene.Closed):
        server.step()
    with Scheduler(store) as scheduler, scheduler.serve() as server:
        with pytest.raises(selene.Unsupported, match="selene_server_open"):
            server.step()
        with pytest.raises(ValueError, match="thread=False"):
            server.fileno()


def test_a_task_runs_as_soon_as_it_can(store: Path, owner: Scheduler) -> None:
    with selene.connect(store, pool="p") as member:
        ran: list[str] = []
        member.register_handler("mail", lambda run: ran.append(run.id))
        member.enqueue("later", handler="mail", delay=3600)
        assert member.run_cycle(60).runs == ()
        # Its handler is no function of the owner's.
        assert member.run_now("later") is False
        member.run_cycle(60)
        assert ran == ["later"]
        with pytest.raises(ValueError, match="later"):
            member.run_now("later")
        with pytest.raises(selene.NotFound):
            member.run_now("nothing")


def test_a_connection_has_the_same_methods(store: Path, owner: Scheduler) -> None:
    with selene.connect(store) as queue:
        assert queue.register(Task("report", every=60, tags={"daily"}, input=b"\0all")) is selene.Disposition.ADDED
        assert queue.enqueue("mail", delay=5) is selene.Disposition.ADDED
        assert queue.tasks() == owner.tasks()
        assert queue.get("report").input == b"\0all"
        assert queue.ids("daily") == ["report"]
        assert str(queue.explain("mail").reasons[0].code) == str(owner.explain("mail").reasons[0].code)
        assert queue.info() == owner.info()
        assert queue.store().path == str(store)
        assert "mail" in queue
        assert len(queue) == 2
        queue.set_conditions(network=False)
        assert owner.conditions().satisfied == queue.conditions().satisfied
        assert queue.cancel("mail") == 1
        assert queue.cancel_all() == 1
        assert queue.prune() == 2
    assert queue.closed
    assert len(owner) == 0
    with pytest.raises(selene.Closed):
        queue.ids()


def test_errors_are_those_of_the_owner(store: Path, owner: Scheduler) -> None:
    with selene.connect(store) as queue:
        with pytest.raises(selene.NotFound) as there:
            queue.get("nothing")
        with pytest.raises(selene.NotFound) as here:
            owner.get("nothing")
        assert str(there.value) == str(here.value)
        with pytest.raises(selene.InvalidArgument) as wrong:
            queue.register(Task("x", priority=3, expected=-1, schedule="standing"))
        assert wrong.value.field == "expected"
        found = queue.register_all(
            [Task("one", schedule="standing"), Task("x" * 300, schedule="standing"), Task("two", schedule="standing")]
        )
        assert found[0] is selene.Disposition.ADDED
        assert isinstance(found[1], selene.InvalidArgument)


def test_what_only_the_owner_can_do_says_so(store: Path, owner: Scheduler) -> None:
    with selene.connect(store) as queue:
        for call in (
            lambda: queue.reset(),
            lambda: queue.serve(),
        ):
            with pytest.raises(selene.Unsupported, match="connection"):
                call()
    assert len(owner) == 0


def test_windows_of_a_connection_call_handlers_on_threads_of_the_library(store: Path, owner: Scheduler) -> None:
    names: list[str] = []
    begun = threading.Event()
    with selene.connect(store, pool="mailer") as queue:

        @queue.handler("mail", push=True)
        def mail(run: selene.Run) -> None:
            names.append(threading.current_thread().name)
            if run.id == "long":
                begun.set()
                assert run.stopping.wait(30)

        owner.enqueue("short", handler="mail")
        assert [run.id for run in queue.run_cycle(push=True).runs] == ["short"]
        assert names != [threading.current_thread().name]
        owner.enqueue("long", handler="mail")
        thread = threading.Thread(target=lambda: begun.wait(30) and owner.cancel("long"))
        thread.start()
        report = asyncio.run(queue.run_cycle_async(push=True))
        thread.join()
        assert [run.stop_reason for run in report.runs] == [selene.StopReason.CANCELLED]


def test_a_driver_of_a_connection_opens_the_windows_that_the_owner_grants(store: Path, owner: Scheduler) -> None:
    done = threading.Event()
    reports: list[selene.Report] = []
    with selene.connect(store, pool="mailer") as queue:

        @queue.handler("mail")
        def mail(run: selene.Run) -> None:
            done.set()

        with queue.driver(on_report=reports.append) as driver:
            for number in range(3):
                done.clear()
                owner.enqueue(f"mail {number}", handler="mail")
                assert done.wait(30)
            assert driver.running
        assert sum(len(report.runs) for report in reports) == 3


def test_a_driver_of_a_connection_runs_coroutines_on_the_event_loop(store: Path, owner: Scheduler) -> None:
    ran: dict[str, int] = {}
    reports: list[tuple[int, selene.Report]] = []

    async def main() -> None:
        both = asyncio.Barrier(2)
        done = asyncio.Event()
        async with selene.connect_async(store, pool="mailer") as queue:

            @queue.handler("mail")
            async def mail(run: selene.Run) -> dict[str, int]:
                ran[run.id] = threading.get_ident()
                # Both are at work at once, in the lanes of one window.
                await both.wait()
                return {"length": len(run.input)}

            @queue.handler("function")
            def function(run: selene.Run) -> None:
                ran[run.id] = threading.get_ident()

            @queue.handler("bad")
            async def bad(run: selene.Run) -> None:
                raise ValueError("no such address")

            def hear(report: selene.Report) -> None:
                reports.append((threading.get_ident(), report))
                if sum(len(each.runs) for _, each in reports) == 4:
                    done.set()

            async with queue.driver(refresh_lanes=2, on_report=hear) as driver:
                for name, handler in (("a", "mail"), ("b", "mail"), ("c", "function"), ("d", "bad")):
                    owner.enqueue(name, handler=handler, input=b"dear")
                await done.wait()
                assert driver.running
            assert not driver.running

    asyncio.run(asyncio.wait_for(main(), PATIENCE))
    mine = threading.get_ident()
    assert (ran["a"], ran["b"]) == (mine, mine)
    assert ran["c"] != mine
    assert {thread for thread, _ in reports} == {mine}
    assert owner.output("a").json() == {"length": 4}
    assert "no such address" in str(owner.get("d").last_failure)
    wait_until(lambda: not owner.clients())  # it hears of the end


class Stuck:
    """A coroutine handler that waits until it is cancelled."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.cancelled = False

    async def __call__(self, run: selene.Run) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise


def no_thread_drives() -> bool:
    return not any(thread.name == "pyselene driver" for thread in threading.enumerate())


@pytest.mark.parametrize("times", [1, 2])
def test_a_driver_on_the_loop_of_a_connection_is_cancelled(
    store: Path, owner: Scheduler, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if times == 2:  # what runs has more time than this test
        monkeypatch.setattr("pyselene._driver.STOP_GRACE", 10 * PATIENCE * 10**9)

    async def main() -> None:
        stuck = Stuck()
        before = asyncio.all_tasks()
        async with selene.connect_async(store, pool="mailer") as queue:
            queue.register_handler("mail", stuck)

            async def drive() -> None:
                async with queue.driver(refresh_budget=3600) as driver:
                    await driver.wait_async()

            driving = asyncio.create_task(drive())
            owner.enqueue("letter", handler="mail")
            await stuck.begun.wait()
            for _ in range(times):
                driving.cancel()
                await asyncio.sleep(0.1)
            with pytest.raises(asyncio.CancelledError):
                await driving
            # The window is over; what it ran is told so at the same time.
            while not stuck.cancelled or asyncio.all_tasks() != before:
                await asyncio.sleep(0.01)
            assert no_thread_drives()
            assert owner.get("letter").state is selene.State.ENQUEUED
            # It may be opened again; what is due there would have its grace once more.
            owner.cancel("letter")
            async with queue.driver() as driver:
                assert driver.running

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_an_exception_where_a_driver_of_a_connection_is_open_leaves_nothing_running(
    store: Path, owner: Scheduler
) -> None:
    async def main() -> None:
        stuck = Stuck()
        before = asyncio.all_tasks()
        async with selene.connect_async(store, pool="mailer") as queue:
            queue.register_handler("mail", stuck)

            async def drive() -> None:
                async with queue.driver():
                    owner.enqueue("letter", handler="mail")
                    await stuck.begun.wait()
                    raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                await drive()
            # The window is over; what it ran is told so at the same time.
            while not stuck.cancelled or asyncio.all_tasks() != before:
                await asyncio.sleep(0.01)
            assert no_thread_drives()
            assert owner.get("letter").state is selene.State.ENQUEUED
            owner.enqueue("later", handler="mail")
            await asyncio.sleep(0.1)
            assert owner.get("later").state is selene.State.ENQUEUED

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_a_driver_on_the_loop_goes_on_with_the_next_owner(store: Path) -> None:
    async def main() -> None:
        process = start_owner(store)
        stuck = Stuck()
        done = asyncio.Event()
        async with selene.connect_async(store, pool="mailer") as queue:
            queue.register_handler("stuck", stuck)

            @queue.handler("mail")
            async def mail(run: selene.Run) -> None:
                done.set()

            async with queue.driver() as driver:
                queue.enqueue("lost", handler="stuck", max_attempts=1)
                await stuck.begun.wait()
                end_owner(process)
                assert driver.running
                process = start_owner(store)
                queue.enqueue("next", handler="mail")
                await done.wait()
                # Its run goes on, and who has the store now may stop it (L10).
                assert queue.get("lost").state is selene.State.RUNNING
                assert not stuck.cancelled
                queue.cancel("lost")
                while not stuck.cancelled:
                    await asyncio.sleep(0.01)
                # And while nobody has the store it can be left.
                end_owner(process)
            assert no_thread_drives()

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_an_event_loop_runs_forever_and_goes_on_with_the_next_owner(store: Path) -> None:
    async def main() -> None:
        process = start_owner(store)
        ran: queue_module.SimpleQueue[str] = queue_module.SimpleQueue()
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        told: list[selene.Report] = []
        async with selene.connect_async(store, pool="mailer") as queue:

            @queue.handler("mail")
            async def mail(run: selene.Run) -> None:
                assert asyncio.get_running_loop() is loop
                ran.put(run.id)
                await asyncio.sleep(0.01)
                ended.set()

            async def runs(task: str) -> None:
                ended.clear()
                await asyncio.to_thread(queue.enqueue, task, handler="mail")
                await ended.wait()
                assert ran.get_nowait() == task

            forever = asyncio.create_task(queue.run_forever_async(lanes=2, on_report=told.append))
            await runs("first")
            await asyncio.to_thread(end_owner, process)
            process = await asyncio.to_thread(start_owner, store)
            await runs("second")
            with pytest.raises(selene.Busy):
                await queue.run_forever_async()
            await asyncio.to_thread(queue.stop)
            await forever
            assert sum(report.new_data for report in told) >= 1
            forever = asyncio.create_task(queue.run_forever_async())
            await runs("third")
            forever.cancel()
            with pytest.raises(asyncio.CancelledError):
                await forever
            assert no_thread_drives()
        await asyncio.to_thread(end_owner, process)

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_a_driver_on_a_thread_goes_on_with_the_next_owner(store: Path) -> None:
    process = start_owner(store)
    begun, may_end, done = threading.Event(), threading.Event(), threading.Event()
    with selene.connect(store, pool="mailer") as queue:

        @queue.handler("long")
        def long(run: selene.Run) -> None:
            begun.set()
            may_end.wait()

        @queue.handler("mail")
        def mail(run: selene.Run) -> None:
            done.set()

        with queue.driver() as driver:
            queue.enqueue("lost", handler="long")
            assert begun.wait(PATIENCE)
            end_owner(process)
            assert driver.running
            process = start_owner(store)
            queue.enqueue("next", handler="mail")
            done.wait()
            # Its run went on, and what it returns is for the next owner.
            may_end.set()
            while (lost := queue.get("lost")).state is selene.State.RUNNING:
                time.sleep(0.01)
            assert (lost.state, lost.attempts) == (selene.State.SUCCEEDED, 1)
    end_owner(process)


@pytest.mark.parametrize("wait", [0, PATIENCE])
@pytest.mark.parametrize(
    ("answer", "state"),
    [(True, selene.State.SUCCEEDED), (None, selene.State.SUCCEEDED), (ValueError("no"), selene.State.FAILED)],
    ids=["new data", "nothing", "raise"],
)
@pytest.mark.parametrize("is_async", [False, True], ids=["function", "coroutine"])
def test_l10_what_runs_goes_on_when_its_owner_is_killed(
    store: Path, answer: object, state: selene.State, wait: float, *, is_async: bool
) -> None:
    process = start_owner(store)
    begun, returns, ended = threading.Event(), threading.Event(), threading.Event()
    calls: list[str] = []
    with selene.connect(store, pool="mailer", wait=wait) as queue:

        def work(run: selene.Run) -> object:
            calls.append(run.id)
            begun.set()
            returns.wait()
            assert not run.stopping
            ended.set()
            if isinstance(answer, Exception):
                raise answer
            return answer

        async def work_async(run: selene.Run) -> object:
            return await asyncio.to_thread(work, run)

        queue.register_handler("mail", work_async if is_async else work)
        with queue.driver():
            queue.enqueue("mail", max_attempts=1)
            begun.wait()
            end_owner(process)
            # It ends before the next owner is there, or while it has the store.
            if not wait:
                returns.set()
                ended.wait()
            process = start_owner(store)
            returns.set()
            while (task := tried(queue)).state is selene.State.RUNNING:
                time.sleep(0.01)
        assert (task.state, task.attempts, calls) == (state, 1, ["mail"])
    end_owner(process)


def tried(queue: Scheduler) -> selene.TaskInfo:
    """The task as its owner has it, as soon as there is one."""
    while True:
        with suppress(selene.OwnerAway):
            return queue.get("mail")
        time.sleep(0.01)


def test_a_driver_says_once_that_it_waits_for_an_owner(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    process = start_owner(store)
    done = threading.Event()
    with selene.connect(store, pool="mailer") as queue, caplog.at_level(logging.WARNING, "pyselene"):
        queue.register_handler("mail", lambda run: done.set())
        with queue.driver():
            end_owner(process)
            until = time.monotonic() + PATIENCE
            while not caplog.records and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(2.5)
            process = start_owner(store)
            queue.enqueue("next", handler="mail")
            assert done.wait(PATIENCE)
    end_owner(process)
    told = [record.getMessage().partition(":")[0] for record in caplog.records]
    assert told == ["the driver waits for an owner", "the driver has an owner again"]


def test_nobody_serves(store: Path) -> None:
    with pytest.raises(selene.OwnerAway, match="no process serves it") as refused:
        selene.connect(store)
    assert (refused.value.timeout, refused.value.in_doubt) == (None, False)
    assert not store.exists()
    with Scheduler(store), pytest.raises(selene.OwnerAway):
        selene.connect(store)


def test_an_owner_that_stands_still_is_told_from_one_that_is_gone(store: Path) -> None:
    owner = start_owner(store)
    with selene.connect(store, timeout=10) as queue:
        assert len(queue) == 0
        owner.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, owner.pid, os.WSTOPPED)  # A thread of it may go on until then.
        try:
            with pytest.raises(selene.OwnerAway) as refused:
                queue.enqueue("a")
            assert (refused.value.timeout, refused.value.in_doubt) == (10.0, True)
            with pytest.raises(selene.OwnerAway) as refused:
                len(queue)
            assert (refused.value.timeout, refused.value.in_doubt) == (10.0, False)
        finally:
            owner.send_signal(signal.SIGCONT)
    end_owner(owner)


def test_an_owner_is_killed_and_the_next_is_found(store: Path) -> None:
    first = start_owner(store)
    with selene.connect(store) as queue:
        for number in range(20):
            queue.enqueue(f"task {number}")
        end_owner(first)
        with pytest.raises(selene.OwnerAway):
            queue.enqueue("lost")
        second = start_owner(store)
        try:
            assert len(queue) == 20
            queue.enqueue("kept")
        finally:
            end_owner(second, signal.SIGTERM)
    with Scheduler(store) as scheduler:
        assert len(scheduler) == 21


def test_how_long_an_owner_waits_for_runs_is_said_to_its_server(store: Path) -> None:
    first = start_owner(store)
    with selene.connect(store, pool="p") as member:
        member.register_handler("mail", None)
        member.enqueue("letter", handler="mail")
        cycle = member.begin(60)
        run = cycle.next()
        assert isinstance(run, selene.Run)
        end_owner(first)
        with Scheduler(store) as second:
            assert second.get("letter").state is selene.State.RUNNING
            for wrong in (-1, 86_401):
                with pytest.raises(selene.InvalidArgument, match="adopt"):
                    second.serve(adopt=wrong)
            with second.serve(adopt=0):
                letter = second.get("letter")
                assert (letter.state, letter.attempts) == (selene.State.ENQUEUED, 1)
                with pytest.raises(selene.StaleRun):
                    run.complete(selene.Outcome.NEW_DATA)


def test_a_call_waits_for_the_next_owner(store: Path) -> None:
    first = start_owner(store)
    with selene.connect(store, wait=PATIENCE) as queue:
        end_owner(first)
        second = start_owner(store)
        try:
            assert queue.enqueue("patient") is selene.Disposition.ADDED
        finally:
            end_owner(second)


def test_the_socket_is_private_and_goes_with_its_server(store: Path) -> None:
    path = store.with_name("tasks.db-sock")
    with Scheduler(store) as scheduler:
        server = scheduler.serve()
        assert path.is_socket()
        assert path.stat().st_mode & 0o777 == 0o600
        with pytest.raises(selene.AlreadyExists, match="another server answers"):
            scheduler.serve()
        with selene.connect(path) as queue:
            assert queue.ids() == []
            assert server.info().clients == 1
        server.close()
        server.close()
        assert not path.exists()
        assert "over" in repr(server)
        scheduler.serve()
    assert not path.exists()


def test_tasks_in_memory_are_served_where_they_are_told(tmp_path: Path) -> None:
    with Scheduler() as scheduler:
        with pytest.raises(selene.InvalidArgument, match="must be given"):
            scheduler.serve()
        with scheduler.serve(tmp_path / "queue-sock"), selene.connect(tmp_path / "queue-sock") as queue:
            queue.enqueue("one")
        assert scheduler.ids() == ["one"]


def test_an_observer_of_the_owner_hears_of_what_others_do(store: Path, owner: Scheduler) -> None:
    with owner.events() as events, selene.connect(store) as queue:
        queue.enqueue("told")
        assert next(events).id == "told"


def test_a_connection_hears_what_happens_in_the_owner(store: Path, owner: Scheduler) -> None:
    heard: queue_module.SimpleQueue[selene.Event] = queue_module.SimpleQueue()
    with owner.events() as told, selene.connect(store) as queue:
        with queue.observe(heard.put), queue.events() as events:
            queue.enqueue("mail", handler="h")
            owner.register_handler("h", lambda run: Outcome.NEW_DATA)
            owner.run_cycle(kinds={"refresh"})
            types: list[selene.EventType] = []
            while not types or types[-1] is not selene.EventType.CYCLE_ENDED:
                event = next(events)
                assert event == next(told) == heard.get(timeout=PATIENCE)
                types.append(event.type)
        assert selene.EventType.COMPLETED in types
        assert events.dropped == 0


def test_events_of_a_connection_can_be_awaited(store: Path, owner: Scheduler) -> None:
    async def hear() -> list[str]:
        with selene.connect(store) as queue, queue.events() as events:
            owner.enqueue("one")
            owner.enqueue("two")
            return [(await anext(events)).id for _ in range(2)]

    assert asyncio.run(asyncio.wait_for(hear(), PATIENCE)) == ["one", "two"]


def test_events_end_with_the_owner_and_begin_anew(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = start_owner(store)
    with selene.connect(store) as queue:
        events = queue.events()
        queue.observe(lambda event: None)
        queue.enqueue("heard")
        end_owner(first)
        assert next(events).id == "heard"
        with pytest.raises(selene.OwnerAway, match="ended the connection"):
            next(events)
        with pytest.raises(selene.OwnerAway):
            asyncio.run(anext_of(events))
        assert "hear no more" in caplog.text
        with pytest.raises(selene.OwnerAway, match="no process serves it"):
            queue.events()
        second = start_owner(store)
        try:
            with queue.events() as others:
                queue.enqueue("again")
                assert next(others).id == "again"
        finally:
            end_owner(second)


async def anext_of(events: selene.EventStream) -> selene.Event:
    return await anext(events)


def test_closing_a_connection_ends_its_events(store: Path, owner: Scheduler) -> None:
    queue = selene.connect(store)
    events = queue.events()
    owner.enqueue("one")
    assert next(events).id == "one"
    queue.close()
    assert list(events) == []


def test_an_interpreter_ends_while_it_hears(store: Path, owner: Scheduler) -> None:
    script = f"import pyselene; queue = pyselene.connect({str(store)!r}); queue.observe(print); print('hears')"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "hears\n", "")


def test_what_is_wrong_with_the_options_is_said(owner: Scheduler, tmp_path: Path) -> None:
    assert Peer("look").bits is Right.LOOK
    assert Peer(Right.LOOK | Right.MANAGE).bits == 17
    with pytest.raises(ValueError, match="allowed: look, read, enqueue, work, manage"):
        Peer({"write"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not int"):
        Peer([1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="must hold Peer"):
        owner.serve(tmp_path / "s", allow=["look"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="path is empty"):
        owner.serve("")
    with pytest.raises(selene.InvalidArgument, match="mode"):
        owner.serve(tmp_path / "s", mode=0o7777)
    with pytest.raises(selene.InvalidArgument, match="timeout"):
        selene.connect(tmp_path / "s", timeout=0)
    with pytest.raises(TypeError, match="pickled"):
        owner.serve(tmp_path / "s").__reduce__()


@pytest.mark.forks
@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_another_user_may_do_what_the_rules_say(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent.stat().st_mode & 0o001 == 0 and parent.stat().st_uid == os.getuid() and "pytest" in str(parent):
            parent.chmod(parent.stat().st_mode | 0o011)
    with Scheduler() as scheduler:
        scheduler.register(Task("secret", input=b"secret", schedule="standing"))
        path = tmp_path / "shared-sock"
        with scheduler.serve(path, mode=0o666, allow=[Peer({"look"}, uid=65534)]) as server:
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    os.setuid(65534)
                    queue = selene.connect(path)
                    seen = queue.get("secret").input == b"" and queue.ids() == ["secret"]
                    try:
                        queue.enqueue("mine")
                    except selene.Refused as error:
                        code = 0 if seen and "SELENE_RIGHT_ENQUEUE" in str(error) else 2
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert server.info().refused == 1


@pytest.mark.forks
def test_a_forked_child_connects_anew(store: Path, owner: Scheduler) -> None:
    with selene.connect(store) as queue:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                try:
                    queue.ids()
                except selene.Forked:
                    with selene.connect(store) as own:
                        own.enqueue("of the child")
                        code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert queue.ids() == ["of the child"]


def test_what_is_no_client_disturbs_nobody(store: Path, owner: Scheduler) -> None:
    with socket.socket(socket.AF_UNIX) as stranger, selene.connect(store) as queue:
        stranger.connect(str(store) + "-sock")
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n" * 20)
        stranger.settimeout(PATIENCE)
        while stranger.recv(4096):
            pass
        assert queue.ids() == []


def test_the_owner_is_known_at_once_to_be_away_when_it_closes(store: Path) -> None:
    scheduler = Scheduler(store)
    scheduler.serve()
    with selene.connect(store) as queue:
        scheduler.close()
        begun = time.monotonic()
        with pytest.raises(selene.OwnerAway):
            queue.ids()
        assert time.monotonic() - begun < PATIENCE


def test_clients_says_who_is_connected(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    with Scheduler(file) as owner, owner.serve(), selene.connect(file, pool="mailer") as queue:
        (client,) = owner.clients()
        assert (client.process, client.user, client.pool) == (os.getpid(), os.getuid(), None)
        assert "py" in client.command
        assert client.rights == ~Right(0)
        assert str(client).startswith(f"{os.getpid()} (user ")
        queue.register_handler("mail", None)
        (client,) = queue.clients()
        assert (client.pool, client.handlers, client.runs) == ("mailer", 1, 0)
        assert str(client).endswith("pool mailer: 1 handlers, 0 runs")
    with pytest.raises(ValueError, match="pool is empty"):
        selene.connect(file, pool="")


def test_a_connection_takes_runs(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    with Scheduler(file) as owner, owner.serve(), selene.connect(file, pool="mailer") as member:
        owner.register(Task("letter", handler="mail", input=b"dear", schedule="once"))
        assert not owner.get("letter").has_handler
        member.register_handler("mail", None)
        assert owner.get("letter").has_handler
        with member.begin(budget=20) as cycle:
            for run in cycle:
                assert (run.id, run.input, run.handler) == ("letter", b"dear", "mail")
                run.progress(1, 2)
                assert run.stopping is None or not run.stopping
                run.set_output(b"sent")
                run.complete()
        assert cycle.report.runs[0].id == "letter"
        assert cycle.report.new_data == 1
        assert owner.get("letter").state == selene.State.SUCCEEDED
        assert owner.output("letter") == b"sent"


WORKER = """
import sys, pyselene
member = pyselene.connect(sys.argv[1], pool="mailer", wait=10)
member.register_handler("mail", None)
cycle = member.begin(budget=60)
run = cycle.next()
print(run.id, flush=True)
sys.stdin.read()
"""


def test_what_a_killed_member_ran_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    with Scheduler(file) as owner, owner.serve():
        owner.register(Task("letter", handler="mail", schedule="once"))
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout is not None
        assert worker.stdin is not None
        assert worker.stdout.readline() == "letter\n"
        assert owner.get("letter").state == selene.State.RUNNING
        worker.kill()
        worker.wait()
        until = time.monotonic() + PATIENCE
        while owner.get("letter").state == selene.State.RUNNING and time.monotonic() < until:
            time.sleep(0.001)
        info = owner.get("letter")
        assert info.state == selene.State.ENQUEUED
        assert info.attempts == 1
        assert not info.has_handler
        worker.stdin.close()
        worker.stdout.close()


def test_a_connection_runs_windows(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    with Scheduler(file) as owner, owner.serve(), selene.connect(file, pool="mailer") as member:
        threads: set[int] = set()
        lanes = threading.Barrier(3)

        @member.handler("mail")
        def mail(run: selene.Run) -> dict[str, int]:
            is_first = len(threads) < 3
            threads.add(threading.get_ident())
            if is_first:
                lanes.wait(PATIENCE)
            return {"length": len(run.input)}

        @member.handler("bad")
        def bad(run: selene.Run) -> None:
            raise ValueError("no such address")

        for number in range(6):
            owner.register(Task(f"letter {number}", handler="mail", input=b"dear", schedule="once"))
        owner.register(Task("bad", handler="bad", schedule="once"))
        report = member.run_cycle(60, lanes=3)
        assert report.new_data == 6
        assert report.failed == 1
        assert len(threads) == 3
        assert str(report.errors[0]) == "no such address"
        assert owner.output("letter 3").json() == {"length": 4}
        assert "no such address" in str(owner.get("bad").last_failure)
        owner.register(Task("more", handler="mail", schedule="once"))
        assert member.run_cycle(60, inline=True).runs[0].id == "more"
        assert threading.get_ident() in threads
        owner.register(Task("long", handler="bad", schedule="once"))
        member.unregister_handler("bad")
        assert not member.run_cycle(60).runs


FOREVER = """
import sys, time, pyselene
member = pyselene.connect(sys.argv[1], pool="mailer", wait=60)

@member.handler("mail")
def mail(run):
    time.sleep(0.01)

print("ready", flush=True)
member.run_forever(lanes=2)
print("done", flush=True)
"""


def start_member(file: Path) -> subprocess.Popen[str]:
    member = subprocess.Popen([sys.executable, "-c", FOREVER, str(file)], stdout=subprocess.PIPE, text=True)
    assert member.stdout is not None
    assert member.stdout.readline() == "ready\n"
    return member


def all_ended(scheduler: Scheduler, ids: list[str]) -> bool:
    return all(scheduler.get(task).state == selene.State.SUCCEEDED for task in ids)


def is_due(scheduler: Scheduler, task: str) -> bool:
    """Whether it runs, or waits for nothing but a window."""
    info = scheduler.get(task)
    return info.state == selene.State.RUNNING or (info.state == selene.State.ENQUEUED and info.attempts == 0)


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_members_run_forever_and_nothing_is_lost_with_one(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    with Scheduler(file) as owner, owner.serve():
        members = [start_member(file) for _ in range(2)]
        ids = [f"letter {number}" for number in range(100)]
        for task in ids[:50]:
            owner.register(Task(task, handler="mail", schedule="once"))
        members[0].kill()
        for task in ids[50:]:
            owner.register(Task(task, handler="mail", schedule="once"))
        members[0].wait()
        wait_until(
            lambda: not any(owner.get(task).state == selene.State.RUNNING or is_due(owner, task) for task in ids)
        )
        assert sum(owner.get(task).state == selene.State.SUCCEEDED for task in ids) >= 98
        # What it ran then is not lost, and waits for its second attempt.
        for task in ids:
            info = owner.get(task)
            if info.state != selene.State.SUCCEEDED:
                assert (info.state, info.attempts) == (selene.State.ENQUEUED, 1)
        members[1].send_signal(signal.SIGTERM)
        out, _ = members[1].communicate(timeout=PATIENCE)
        assert (out, members[1].returncode) == ("done\n", 0)
        wait_until(lambda: not owner.clients())
        members[0].communicate()


def test_a_member_goes_on_with_the_next_owner(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    owner = start_owner(file)
    member = start_member(file)
    with selene.connect(file) as queue:
        queue.register(Task("first", handler="mail", schedule="once"))
        wait_until(lambda: all_ended(queue, ["first"]))
    end_owner(owner)
    owner = start_owner(file)
    with selene.connect(file) as queue:
        queue.register(Task("second", handler="mail", schedule="once"))
        wait_until(lambda: all_ended(queue, ["second"]))
    member.send_signal(signal.SIGTERM)
    assert member.communicate(timeout=PATIENCE)[0] == "done\n"
    end_owner(owner)


PATIENT = """
import sys, pyselene
with pyselene.connect(sys.argv[1], pool="mailer", wait=86400) as member:

    @member.handler("mail")
    def mail(run):
        print("begun", flush=True)
        if sys.argv[2] == "True":
            run.stopping.wait()

    member.enqueue("letter", handler="mail")
    member.run_forever(lanes=2)
"""


@pytest.mark.parametrize("is_at_work", [False, True])
def test_a_signal_ends_a_member_whose_owner_is_away(store: Path, *, is_at_work: bool) -> None:
    owner = start_owner(store)
    member = subprocess.Popen(
        [sys.executable, "-c", PATIENT, str(store), str(is_at_work)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert member.stdout is not None
    assert member.stderr is not None
    assert member.stdout.readline() == "begun\n"
    end_owner(owner)
    while "the driver waits for an owner" not in (line := member.stderr.readline()):
        assert line
    member.send_signal(signal.SIGTERM)
    member.communicate(timeout=PATIENCE)
    assert member.returncode == 0


def test_connecting_from_an_event_loop(tmp_path: Path) -> None:
    file = tmp_path / "t.db"

    async def main() -> None:
        with pytest.raises(selene.OwnerAway):
            await selene.connect_async(file)
        connecting = asyncio.create_task(connected())
        await asyncio.sleep(0.05)
        with Scheduler(file) as owner, owner.serve():
            assert await connecting == ["report"]
            assert owner.ids() == ["report"]
            scheduler = await selene.connect_async(file)
            scheduler.close()

    async def connected() -> list[str]:
        async with selene.connect_async(file, wait=PATIENCE) as queue:
            queue.enqueue("report")
            return queue.ids()

    asyncio.run(main())
