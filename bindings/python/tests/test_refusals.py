"""What can mean nothing raises before anything changes, in the caller's words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import pyselene as selene


@pytest.fixture
def scheduler() -> Iterator[selene.Scheduler]:
    with selene.Scheduler() as opened:
        yield opened


@pytest.mark.parametrize("wrong", [3, object()])
def test_a_handler_is_a_function_or_a_name(scheduler: selene.Scheduler, wrong: Any) -> None:
    with pytest.raises(TypeError, match="handler must be a function or a handler's name, not "):
        scheduler.enqueue("job", handler=wrong)
    assert not scheduler.ids()


def test_only_a_task_is_a_task(scheduler: selene.Scheduler) -> None:
    wrong: Any = "x"
    with pytest.raises(TypeError, match="task must be a Task, not str"):
        scheduler.register(wrong)
    with pytest.raises(TypeError, match="task must be a Task, not str"):
        scheduler.register_all([selene.Task("a", schedule="standing"), wrong])
    assert not scheduler.ids()


@pytest.mark.parametrize("wrong", ["no", 1, 0.5])
def test_a_condition_is_satisfied_or_not(scheduler: selene.Scheduler, wrong: Any) -> None:
    before = scheduler.conditions()
    with pytest.raises(TypeError, match="network must be a bool, not "):
        scheduler.set_conditions(network=wrong)
    assert scheduler.conditions() == before


@pytest.mark.parametrize(
    ("what", "fields"),
    [
        ("id", {"id": "\ud800"}),
        ("handler", {"id": "a", "handler": "b\ud800"}),
        ("tags", {"id": "a", "tags": ["x", "\ud800"]}),
    ],
)
def test_half_a_surrogate_pair_is_no_text(scheduler: selene.Scheduler, what: str, fields: Any) -> None:
    with pytest.raises(ValueError, match=rf"{what} has '\\ud800' at [01]"):
        scheduler.register(selene.Task(**fields))


@pytest.mark.parametrize(
    ("id", "text"),
    [
        ("x" * 300, "id is 300 bytes; allowed: 1 … 255 bytes"),
        ("", "id is empty; allowed: 1 … 255 bytes"),
        ("a\0b", "id: NUL at byte 1"),
    ],
)
def test_an_id_is_refused_as_the_id(scheduler: selene.Scheduler, id: str, text: str) -> None:
    with pytest.raises(selene.InvalidArgument, match=text):
        scheduler.task(id=id, schedule="standing")(lambda run: None)
    with pytest.raises(selene.InvalidArgument, match=text):
        scheduler.enqueue(id, handler=lambda run: None)
    assert not scheduler.handlers


def test_of_several_the_wrong_one_is_named(scheduler: selene.Scheduler) -> None:
    with pytest.raises(selene.InvalidArgument, match=r"tags\[1\] is empty"):
        scheduler.register(selene.Task("a", tags=["ok", "", "z"], schedule="standing"))
    with pytest.raises(selene.InvalidArgument, match=r"permitted\[1\] is empty"):
        selene.Scheduler(permitted=["ok", ""])


def test_the_outcomes_that_a_run_can_be_given(scheduler: selene.Scheduler) -> None:
    scheduler.register_handler("a", None)
    scheduler.register(selene.Task("a", schedule="standing"))
    with scheduler.begin(30) as cycle:
        run = cycle.next()
        assert isinstance(run, selene.Run)
        for wrong in ("foo", "expired", selene.Outcome.EXPIRED):
            with pytest.raises(ValueError, match=r"allowed: new_data, no_data, failed, abandoned, stopped$"):
                run.complete(wrong)  # type: ignore[arg-type]
        run.complete("no_data")


@pytest.mark.parametrize("reading", [2**80, -(2**63) - 1, 1.5, None])
def test_what_is_no_clock_is_refused_at_open(reading: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="the clock "):
        selene.Scheduler(clock=lambda: reading)


def test_nothing_begins_on_a_scheduler_that_is_closed(scheduler: selene.Scheduler) -> None:
    scheduler.close()
    with pytest.raises(selene.Closed):
        scheduler.run_forever()
    with pytest.raises(selene.Closed), scheduler:
        pass


def test_the_size_of_a_stream_is_a_number(scheduler: selene.Scheduler) -> None:
    wrong: Any = "x"
    with pytest.raises(TypeError, match="size must be an int, not str"):
        scheduler.events(wrong)


def test_a_window_of_one_task_has_no_kinds_to_name(scheduler: selene.Scheduler) -> None:
    scheduler.task(id="a", schedule="standing")(lambda run: None)
    assert str(scheduler.run_cycle(task="a", inline=True)).startswith("one task's window of 30 s: ")
