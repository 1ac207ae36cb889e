"""Tasks that come after others (W4)."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import pyselene as selene
from pyselene import Abandon, Run, Scheduler, State, Task


def work_off(scheduler: Scheduler) -> list[str]:
    """Runs windows until one has nothing to run; the ids in their order."""
    ran: list[str] = []
    while runs := scheduler.run_cycle().runs:
        ran += [run.id for run in runs]
    return ran


def test_tasks_run_in_the_order_of_what_they_come_after() -> None:
    with Scheduler() as scheduler:

        def step(run: Run) -> dict[str, object]:
            return {key: run.output(key).json() for key in scheduler.get(run.id).after}

        scheduler.register_handler("step", step)
        scheduler.enqueue("load", handler="step")
        scheduler.enqueue("clean", handler="step", after="load")
        assert scheduler.register(Task("plot", "step", after=["clean", "load"])) is selene.Disposition.ADDED
        assert scheduler.get("plot").schedule is selene.Schedule.ONCE
        assert scheduler.get("plot").state is State.BLOCKED
        assert scheduler.get("plot").waits_for == ("clean", "load")
        assert [info.id for info in scheduler.tasks(state="blocked")] == ["clean", "plot"]
        assert selene.ReasonCode.BLOCKED in [reason.code for reason in scheduler.explain("plot").reasons]
        assert work_off(scheduler) == ["load", "clean", "plot"]
        assert scheduler.output("plot").json() == {"clean": {"load": {}}, "load": {}}
        assert scheduler.get("plot").after == ("clean", "load")
        assert scheduler.get("plot").waits_for == ()


def test_what_comes_after_a_failure_fails_unless_any_end_will_do() -> None:
    with Scheduler() as scheduler:

        def fail(_: Run) -> None:
            raise Abandon("no such table")

        scheduler.enqueue("load", handler=fail)
        scheduler.register_handler("step", lambda _: None)
        scheduler.enqueue("plot", handler="step", after="load")
        scheduler.enqueue("send", handler="step", after="plot")
        scheduler.enqueue("tidy", handler="step", after=["load", "send"], after_any_end=True)
        assert work_off(scheduler) == ["load", "tidy"]
        assert [info.id for info in scheduler.tasks(state="failed")] == ["load", "plot", "send"]
        failure = scheduler.get("send").last_failure
        assert failure is not None
        assert failure.message == 'it comes after "plot", which failed'
        for key in scheduler.ids(state="failed"):
            scheduler.retry(key)
        assert scheduler.get("send").waits_for == ("plot",)
        assert scheduler.cancel("load") == 3


def backwards(scheduler: Scheduler) -> int:
    return sum(scheduler.retry(key) for key in ("plot", "clean", "load"))


#: Ways to enqueue a chain again, its tasks of which the first carries a tag.
AGAIN: dict[str, Callable[[Scheduler], int]] = {
    "one by one, backwards": backwards,
    "with its successors": lambda scheduler: scheduler.retry("load", successors=True),
    "all": lambda scheduler: scheduler.retry_all(),
    "all of a tag, with their successors": lambda scheduler: scheduler.retry_all("etl", successors=True),
}


@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("again", AGAIN.values(), ids=AGAIN)
def test_v10_a_chain_that_is_enqueued_again_runs_in_its_order(
    again: Callable[[Scheduler], int], connected: bool, tmp_path: Path
) -> None:
    store, broken = tmp_path / "tasks.db", ["load"]

    def step(run: Run) -> str:
        if run.id in broken:
            raise Abandon("no such table")
        return "".join(run.output(key).text for key in scheduler.get(run.id).after) + run.id[0]

    with contextlib.ExitStack() as stack:
        scheduler = stack.enter_context(Scheduler(store))
        caller = scheduler
        if connected:
            stack.enter_context(scheduler.serve())
            caller = stack.enter_context(selene.connect(store))
        scheduler.register_handler("step", step)
        scheduler.enqueue("load", handler="step", tags="etl")
        scheduler.enqueue("clean", handler="step", after="load")
        scheduler.enqueue("plot", handler="step", after="clean")
        scheduler.enqueue("other", handler=lambda _: None)
        assert work_off(scheduler) == ["load", "other"]
        assert scheduler.ids(state="failed") == ["load", "clean", "plot"]
        broken.clear()
        assert again(caller) == 3
        assert scheduler.get("plot").waits_for == ("clean",)
        assert work_off(scheduler) == ["load", "clean", "plot"]
        assert scheduler.output("plot").text == "lcp"


def test_v10_what_is_not_selected_stays_failed() -> None:
    with Scheduler() as scheduler:

        def fail(_: Run) -> None:
            raise Abandon("no such table")

        scheduler.enqueue("load", handler=fail, tags="etl")
        scheduler.enqueue("plot", handler=fail, after="load")
        scheduler.enqueue("other", handler=fail)
        assert work_off(scheduler) == ["load", "other"]
        assert scheduler.retry_all("none") == 0
        assert scheduler.retry_all("etl") == 1
        assert scheduler.ids(state="failed") == ["plot", "other"]
        # It did not fail, so that nothing failed because of it.
        with pytest.raises(ValueError):
            scheduler.retry("load", successors=True)
        assert scheduler.retry("plot") == 1
        assert scheduler.get("plot").state is State.BLOCKED
        with pytest.raises(selene.NotFound):
            scheduler.retry("none", successors=True)
        assert scheduler.retry_all() == 1
        assert scheduler.ids(state="failed") == []


def test_what_cannot_be_waited_for_is_refused() -> None:
    with Scheduler() as scheduler:
        scheduler.register(Task("standing", schedule="standing"))
        with pytest.raises(selene.NotFound, match="none"):
            scheduler.enqueue("a", after=["none"])
        with pytest.raises(ValueError, match="standing task"):
            scheduler.enqueue("a", after=["standing"])
        with pytest.raises(ValueError, match="the task itself"):
            scheduler.enqueue("a", after=["a"])
        with pytest.raises(ValueError, match="once tasks only"):
            scheduler.register(Task("a", schedule="standing", after=["b"]))
        with pytest.raises(TypeError, match="after"):
            Task("a", after=5)  # type: ignore[arg-type]


def test_code_wins_over_what_is_stored_also_in_what_comes_after_what(tmp_path: Path) -> None:
    for after in (["a"], ["a"], ["a", "b"]):
        with Scheduler(tmp_path / "store") as scheduler:
            for key in ("a", "b"):
                scheduler.register(Task(key, schedule="once"))

            @scheduler.task(after=after)
            def c(_: Run) -> None: ...

            assert scheduler.get("c").waits_for == tuple(after)


EXAMPLE = Path(__file__).resolve().parents[1] / "examples/pipeline.py"


def test_a_pipeline_of_fifty_tasks_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    arguments = [sys.executable, str(EXAMPLE), str(tmp_path / "whole.db")]
    whole = subprocess.run(arguments, check=True, capture_output=True, text=True)
    assert len(whole.stdout.splitlines()) == 3
    with Scheduler(tmp_path / "whole.db") as scheduler:
        assert len(scheduler) == 50
        assert {info.state for info in scheduler.tasks()} == {State.SUCCEEDED}
        assert {info.attempts for info in scheduler.tasks()} == {1}
    # Killed as the comparison begins, and started again.
    killed = EXAMPLE.read_text().replace('"compare": lambda run:', '"compare": lambda run: os.kill(os.getpid(), 9) or')
    (tmp_path / "killed.py").write_text(killed.replace("import sys\n", "import os\nimport sys\n"))
    store = str(tmp_path / "killed.db")
    first = subprocess.run([sys.executable, str(tmp_path / "killed.py"), store], check=False, capture_output=True)
    assert first.returncode == -9
    with Scheduler(store) as scheduler:
        assert scheduler.get("compare").state is State.ENQUEUED
        assert scheduler.get("report").waits_for == ("compare",)
        assert len(scheduler.ids(state="succeeded")) == 48
        scheduler.set_next("compare", scheduler.now)
    again = subprocess.run([*arguments[:2], store], check=True, capture_output=True, text=True)
    assert again.stdout == whole.stdout
