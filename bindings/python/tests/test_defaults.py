"""T2: what was not asked for is what a service expects; what can only be a mistake is refused where it is made."""

from __future__ import annotations

import pydoc
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import pyselene as selene
from pyselene import _conditions, _run, _terms
from pyselene.testing import VirtualClock


@pytest.fixture
def own() -> Iterator[selene.Scheduler]:
    with selene.Scheduler(clock=VirtualClock()) as scheduler:
        yield scheduler


def test_r12_any_number_of_tasks_may_wait(own: selene.Scheduler) -> None:
    for number in range(50):
        own.task(f"feed-{number}", every=60)(print)
    assert own.info().enqueued == 50
    with selene.Scheduler(max_pending_refresh=1) as limited:
        limited.enqueue("a", handler=print)
        with pytest.raises(selene.TooManyPending):
            limited.enqueue("b", handler=print)


def test_r12_code_wins_over_the_store(tmp_path: Path) -> None:
    def declare(**fields: Any) -> selene.TaskInfo:
        with selene.Scheduler(tmp_path / "tasks.db") as scheduler:
            scheduler.task("sync", **fields)(print)
            return scheduler.get("sync")

    first = declare(every=6 * 3600)
    second = declare(every=3600, priority="high")
    assert (second.every, second.priority) == (3600, selene.Priority.HIGH)
    assert (second.sequence, second.generation) == (first.sequence, first.generation + 1)
    assert second.earliest_begin == first.earliest_begin
    # What cannot be updated is replaced.
    assert declare(kind="processing").schedule is selene.Schedule.ONCE
    assert declare(kind="processing", schedule="standing").schedule is selene.Schedule.STANDING
    assert declare(every=60, kind="processing").every == 60
    # Unless the code says otherwise.
    assert declare(every=90, kind="processing", existing="keep").every == 60


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (None, "new_data"), (True, "new_data"), (0, "new_data"), (1, "new_data"), ({}, "new_data"), ("", "new_data"),
        (False, "no_data"), (selene.Outcome.FAILED, "failed"), (selene.Outcome.EXPIRED, "failed"),
        (iter(x for x in "ab"), "failed"),
    ],
)  # fmt: skip
def test_r12_any_result_but_false_is_success(own: selene.Scheduler, result: object, outcome: str) -> None:
    own.task("work", schedule="standing")(lambda run: result)
    assert [str(run.outcome) for run in own.run_cycle().runs] == [outcome]


def no_run() -> None: ...


def yields(run: object) -> Iterator[int]:
    yield 1


class Feed:
    def refresh(self, run: object) -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (no_run, r'^handler "work" is called as no_run\(run\), but takes \(\)'),
        (Feed.refresh, r'^handler "work" is called as refresh\(run\), but takes \(self, run: '),
        (yields, r'^handler "work" is a generator function: yields\(run\) would not run its body$'),
        (5, r'^handler "work" must be callable, not int$'),
    ],
)
def test_r12_what_cannot_take_a_run_is_no_handler(own: selene.Scheduler, function: Any, message: str) -> None:
    registrations: list[Callable[[], object]] = [
        lambda: own.register_handler("work", function),
        lambda: own.handler("work")(function),
        lambda: own.task("work", schedule="standing")(function),
    ]
    for register in registrations:
        with pytest.raises(TypeError, match=message):
            register()
    assert (own.handlers, own.ids()) == ((), [])
    with pytest.raises(TypeError, match=r'^on_stop of handler "work" is called as no_run\(run, reason\), but takes'):
        own.register_handler("work", print, on_stop=no_run)  # type: ignore[arg-type]


def test_r12_what_can_take_a_run_is_one(own: selene.Scheduler) -> None:
    def optional(run: object = None, *, more: int = 1) -> None: ...

    functions: list[Any] = [print, optional, Feed().refresh, lambda *all: None, max]
    for number, function in enumerate(functions):
        own.register_handler(str(number), function)
    assert len(own.handlers) == 5


def test_a_second_function_under_a_name_is_told_the_way_out(own: selene.Scheduler) -> None:
    own.task("refresh", schedule="standing")(Feed().refresh)
    with pytest.raises(selene.AlreadyExists, match="use another name, or unregister it"):
        own.task("refresh", schedule="standing")(Feed().refresh)


@pytest.mark.parametrize(
    ("backoff", "delays"), [(selene.Exponential(2), [2, 4, 8]), (selene.Linear(0.5), [0.5, 1, 1.5])]
)
def test_r12_a_backoff_is_what_it_says(own: selene.Scheduler, backoff: selene.Backoff, delays: list[float]) -> None:
    clock = own._engine.clock
    assert clock is not None
    own.register_handler("fail", lambda run: selene.Outcome.FAILED)
    own.enqueue("work", handler="fail", backoff=backoff)
    for delay in delays:
        assert len(own.run_cycle().runs) == 1
        info = own.get("work")
        assert (info.earliest_begin - info.last_run).total_seconds() == delay
        clock.virtual.set(info.earliest_begin)


def test_r12_memory_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (":memory:", b":memory:", Path(":memory:")):
        with pytest.raises(
            ValueError, match=r"^path is ':memory:'; Scheduler\(\) without a path keeps the tasks in memory$"
        ):
            selene.Scheduler(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "members"),
    [
        (_run.KindName, selene.Kind), (_run.PriorityName, selene.Priority), (_terms.ScheduleName, selene.Schedule),
        (_terms.ExistingName, selene.Existing),
    ],
)  # fmt: skip
def test_the_names_that_are_typed_are_those_of_the_members(names: Any, members: Any) -> None:
    assert get_args(names) == tuple(map(str, members))


def test_the_names_of_conditions_and_outcomes_are_understood(own: selene.Scheduler) -> None:
    for name in get_args(_conditions.ConstraintName):
        assert selene.Constraint.of(name)
    assert get_args(_run.OutcomeName) == (*map(str, list(selene.Outcome)[:4]), "stopped")


MISTAKES = """
import pyselene as selene

scheduler = selene.Scheduler()


@scheduler.task(evry=3)  # E
def a(run: selene.Run) -> None: ...


@scheduler.task(priority="urgent")  # E
def b(run: selene.Run) -> None: ...


@scheduler.task  # E
def c() -> None: ...


@scheduler.task(args=[1])
def d(run: selene.Run, more: int) -> None: ...


@scheduler.task(every=60, requires={"network"}, kind="processing", backoff=selene.Linear(5))
def e(run: selene.Run) -> dict[str, int]:
    return {"rows": 1}


@scheduler.task
async def f(run: selene.Run) -> None: ...


scheduler.enqueue("g", nonsense=5)  # E
scheduler.enqueue("g", handler=e, kind="porcessing")  # E
scheduler.enqueue("g", handler=f, input=b"x", delay=5, tags="t")
scheduler.run_cycle(30, kinds={"refrsh"})  # E
scheduler.run_forever(kinds=["refresh"])
scheduler.register(selene.Task("h", requires="netwrok"))  # E
scheduler.register_handler("h", print, on_stop=lambda run, reason: None)
assert e(selene.PENDING) is None  # E
"""


def test_r12_types_catch_typing_errors(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(MISTAKES)
    source = Path(selene.__file__).parents[1]
    told = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", source.parents[2] / "build/python/mypy", program],
        cwd=tmp_path, env={"MYPYPATH": str(source)}, capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    found = {int(line.split(":")[1]) for line in told.splitlines() if ": error: " in line}
    marked = {number for number, line in enumerate(MISTAKES.splitlines(), 1) if line.endswith("# E")}
    assert found == marked, told


def test_a_record_is_told_in_lines(own: selene.Scheduler) -> None:
    own.task("mail", every=600, requires="network", tags={"b", "a"})(lambda run: selene.Outcome.FAILED)
    own.register(selene.Task("plain", "nowhere", schedule="standing"))
    own.set_conditions(network=True)
    assert str(own.get("mail")).splitlines() == [
        "mail: enqueued; periodic every 10 min, refresh, priority normal",
        "  requires network",
        "  tags a, b",
        f"  not before {own.now:%Y-%m-%d %H:%M:%S} UTC, takes 5 s",
    ]
    own.run_cycle()
    assert "  last run " in str(own.get("mail"))
    assert "failed, attempts 1\n" in str(own.get("mail"))
    assert "  handler nowhere, which is not registered\n" in str(own.get("plain"))


def test_help_tells_what_a_run_has_and_nothing_of_its_inside() -> None:
    told = pydoc.plain(pydoc.render_doc(selene.Run))
    assert "`input`: the bytes that the task was registered with" in told
    assert " stopping\n" in told
    assert not re.search(r"\n \|  _[a-z]", told)
