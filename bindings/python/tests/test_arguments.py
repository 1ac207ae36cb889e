"""What a handler is called with besides its run: JSON that its task keeps."""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import Any

import pytest

import pyselene as selene
from pyselene import Run, Scheduler, Task

seen: list[Any] = []


def mail(run: Run, number: int, *, to: str = "nobody") -> None:
    seen.append((run.id, number, to))


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    seen.clear()


def test_a_function_is_called_with_them_and_the_store_keeps_them(tmp_path: Path) -> None:
    with Scheduler(tmp_path / "store") as scheduler:
        scheduler.enqueue("later", handler=mail, args=[7], kwargs={"to": "grün"})
    with Scheduler(tmp_path / "store") as scheduler:
        scheduler.register_handler("mail", mail)
        assert scheduler.get("later").input.decode() == '{"args": [7], "kwargs": {"to": "grün"}}'
        scheduler.enqueue("now", handler="mail", args=(8,))
        scheduler.run_cycle(budget=30)
    assert seen == [("later", 7, "grün"), ("now", 8, "nobody")]


@pytest.mark.parametrize(
    "input",
    [
        b'{"args":[7],"kwargs":{"to":"Ada"}}',
        b'{"kwargs": {"to": "Ada"}, "args": [7]}',
        b'{"args": [7], "kwargs": {"to": "gr\\u00fcn"}}',
        b'{"args": [NaN], "kwargs": {}}',
        b'{"args": [7], "kwargs": {"to": "Ada", "to": "Eve"}}',
        b'{"args": [7], "kwargs": {}}\n',
        b'{"args": 7, "kwargs": {}}',
        b'{"args": [], "kwargs": []}',
    ],
)
def test_what_somebody_else_wrote_is_an_input_and_no_call(input: bytes) -> None:
    with Scheduler() as scheduler:

        def anything(run: Run, *args: Any, **kwargs: Any) -> None:
            seen.append((run.input, args, kwargs))

        scheduler.enqueue("foreign", handler=anything, input=input)
        scheduler.run_cycle(budget=30)
    assert seen == [(input, (), {})]


def test_so_are_coroutines_tasks_of_the_decorator_and_what_takes_any_arguments() -> None:
    async def main() -> None:
        with Scheduler() as scheduler:

            @scheduler.task(args=[1], kwargs={"b": 2}, schedule="standing")
            async def coroutine(run: Run, a: int, b: int) -> None:
                await asyncio.sleep(0)
                seen.append((a, b))

            @scheduler.task(kwargs={"x": [None, {"y": 0.5}]}, schedule="standing")
            def anything(run: Run, *args: Any, **kwargs: Any) -> None:
                seen.append((args, kwargs))

            @scheduler.task(args=["a"], schedule="standing")
            def alone(run: Run) -> None:
                seen.append(run.input)

            scheduler.register_handler("part", functools.partial(mail, to="Ada"))
            scheduler.register(Task("part", args=[3], schedule="standing"))
            report = await scheduler.run_cycle_async(budget=30)
            assert {run.outcome for run in report.runs} == {selene.Outcome.NEW_DATA}, report

    asyncio.run(main())
    assert sorted(map(repr, seen)) == sorted(
        map(repr, [(1, 2), ((), {"x": [None, {"y": 0.5}]}), b'{"args": ["a"], "kwargs": {}}', ("part", 3, "Ada")])
    )


def test_without_them_or_with_others_than_it_takes_a_run_fails_and_says_so() -> None:
    with Scheduler() as scheduler:
        scheduler.enqueue("none", handler=mail, max_attempts=1)
        scheduler.enqueue("bytes", handler="mail", input=b"7", max_attempts=1)
        scheduler.enqueue("others", handler="mail", args=[7], kwargs={"cc": "Ada"}, max_attempts=1)
        scheduler.run_cycle(budget=30)
        failed = scheduler.failed()
        why = {task.id: task.last_failure.message for task in failed if task.last_failure}
        assert list(why) == ["none", "bytes", "others"]
        assert "missing 1 required positional argument: 'number'" in why["none"], why
        assert "missing 1 required positional argument: 'number'" in why["bytes"], why
        assert "unexpected keyword argument 'cc'" in why["others"], why
        scheduler.retry("none")
        assert [task.id for task in scheduler.failed()] == ["bytes", "others"]
    assert seen == []


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"args": "ab"}, TypeError, "^args must be a list or a tuple, not str$"),
        ({"args": {"a": 1}}, TypeError, "^args must be a list or a tuple, not dict$"),
        ({"args": 5}, TypeError, "^args must be a list or a tuple, not int$"),
        ({"kwargs": [1]}, TypeError, r"^kwargs must be a dict with str as keys, not \[1\]$"),
        ({"kwargs": {1: 2}}, TypeError, r"^kwargs must be a dict with str as keys, not \{1: 2\}$"),
        ({"args": [object()]}, TypeError, "^args and kwargs are kept as JSON: Object of type object"),
        ({"args": [float("nan")]}, ValueError, "^args and kwargs are kept as JSON: Out of range"),
        ({"args": [1], "input": b"2"}, ValueError, "^input is given, and args or kwargs, too; allowed: one of them$"),
        ({"args": ["x" * 2_000_000]}, selene.TooLarge, "input"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_nothing_is_registered(
    fields: dict[str, Any], error: type[Exception], message: str
) -> None:
    with Scheduler() as scheduler:
        with pytest.raises(error, match=message):
            scheduler.enqueue("work", handler="mail", **fields)
        assert scheduler.ids() == []
