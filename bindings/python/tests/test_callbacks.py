"""Callbacks: what is to end the process goes through them to whoever called; everything else stays inside."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import pyselene as selene
from pyselene import _callbacks

WAIT = 20
ENDS = [KeyboardInterrupt, SystemExit]


def interrupts(*_: object) -> None:
    """What Ctrl-C does while it runs on the main thread."""
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(WAIT)


def exits(*_: object) -> None:
    """The other way to end."""
    raise SystemExit(3)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Any:
    """Whatever was kept was raised."""
    yield
    assert _callbacks.kept == {}


@pytest.mark.parametrize(("callback", "error"), [(interrupts, KeyboardInterrupt), (exits, SystemExit)])
def test_what_an_observer_raises_to_end_the_process_surfaces_after_the_call(
    callback: Callable[[object], None], error: type[BaseException]
) -> None:
    seen: list[selene.Event] = []
    with selene.Scheduler() as scheduler:
        first = scheduler.observe(callback)
        scheduler.observe(seen.append)
        with pytest.raises(error):
            scheduler.register(selene.Task("a", schedule="standing"))
        assert scheduler.ids() == [event.id for event in seen] == ["a"]  # done all the same, and told to the others
        with pytest.raises(error):
            scheduler.cancel("a")
        with pytest.raises(error):
            scheduler.begin()
        first.close()
        scheduler.begin().end()  # none is open


def until_raised(window: Callable[[], object], options: dict[str, bool]) -> None:
    """Runs windows until the error surfaces: where the library has threads, they may tell the observer after one."""
    for _ in range(1000 if options.get("push") else 1):
        window()
        time.sleep(0.001)


@pytest.mark.parametrize("error", ENDS)
@pytest.mark.parametrize("options", [{}, {"inline": True}, {"push": True}, {"push": True, "inline": True}])
@pytest.mark.parametrize("moment", ["started", "completed"])
def test_what_an_observer_raises_to_end_the_process_ends_the_window(
    error: type[BaseException], options: dict[str, bool], moment: str
) -> None:
    raised: list[selene.Event] = []

    def observer(event: selene.Event) -> None:
        if str(event.type) == moment and not raised:
            raised.append(event)
            raise error

    with selene.Scheduler() as scheduler:
        subscription = scheduler.observe(observer)
        scheduler.task("a", push=True, priority=5, schedule="standing")(lambda run: None)
        scheduler.task("b", push=True, priority=4, schedule="standing")(lambda run: None)
        with pytest.raises(error):
            until_raised(lambda: scheduler.run_cycle(WAIT, **options), options)  # type: ignore[arg-type]
        subscription.close()
        assert len(scheduler.run_cycle().runs) == 2


@pytest.mark.parametrize("push", [False, True])
@pytest.mark.parametrize("error", ENDS)
def test_what_an_observer_raises_to_end_the_process_ends_the_window_on_a_loop(
    error: type[BaseException], push: bool
) -> None:
    raised: list[selene.Event] = []

    def observer(event: selene.Event) -> None:
        if event.type is selene.EventType.COMPLETED and not raised:
            raised.append(event)
            raise error

    with selene.Scheduler() as scheduler:
        scheduler.observe(observer)
        scheduler.task("a", push=True, schedule="standing")(lambda run: None)
        with pytest.raises(error):
            until_raised(lambda: asyncio.run(scheduler.run_cycle_async(WAIT, push=push)), {"push": push})


@pytest.mark.parametrize(("callback", "error"), [(interrupts, KeyboardInterrupt), (exits, SystemExit)])
def test_what_a_stop_function_raises_to_end_the_process_surfaces_after_the_call(
    callback: Callable[..., None], error: type[BaseException]
) -> None:
    with selene.Scheduler() as scheduler:
        scheduler.register_handler("a", None, on_stop=callback)
        scheduler.register(selene.Task("a", schedule="standing"))
        with scheduler.begin() as cycle:
            assert isinstance(cycle.next(), selene.Run)
            with pytest.raises(error):
                scheduler.cancel("a")
        assert scheduler.get("a").state is selene.State.CANCELLED


@pytest.mark.parametrize("push", [False, True])
@pytest.mark.parametrize("error", ENDS)
def test_what_a_stop_function_raises_at_the_end_of_a_window_surfaces(error: type[BaseException], push: bool) -> None:
    told = threading.Event()

    def on_stop(run: selene.Run, reason: selene.StopReason) -> None:
        told.set()
        raise error

    with selene.Scheduler() as scheduler:

        @scheduler.task(push=True, expected=0.1, on_stop=on_stop, schedule="standing")
        def listens(run: selene.Run) -> None:
            assert told.wait(WAIT)
            assert run.stopping.wait(WAIT)
            time.sleep(0.1)

        with pytest.raises(error):
            scheduler.run_cycle(33, reserve=30, push=push)


def test_what_a_stop_function_raises_surfaces_from_the_end_of_a_driver_and_from_close() -> None:
    running = threading.Event()

    def work(run: selene.Run) -> None:
        running.set()
        run.stopping.wait(WAIT)

    scheduler = selene.Scheduler()
    scheduler.task("a", on_stop=exits, schedule="standing")(work)
    driver = scheduler.driver()
    with pytest.raises(SystemExit), driver:
        assert running.wait(WAIT)
    running.clear()
    thread = threading.Thread(target=lambda: scheduler.run_forever(signals=False))
    thread.start()
    scheduler.enqueue("b", handler="a")
    assert running.wait(WAIT)
    with pytest.raises(SystemExit):
        scheduler.close()
    thread.join(WAIT)
    assert scheduler.closed
    assert not thread.is_alive()


def test_any_other_exception_of_a_callback_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def callback(*_: object) -> None:
        raise asyncio.CancelledError("not ours")

    with selene.Scheduler() as scheduler, caplog.at_level(logging.ERROR):
        scheduler.observe(callback)
        scheduler.register_handler("a", None, on_stop=callback)
        scheduler.register(selene.Task("a", schedule="standing"))
        with scheduler.begin() as cycle:
            assert isinstance(cycle.next(), selene.Run)
            scheduler.cancel("a")
    assert "an observer raised" in caplog.text
    assert "the stop function of handler 'a' raised" in caplog.text
