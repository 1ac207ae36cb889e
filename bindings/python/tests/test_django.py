"""Django's tasks in a store (pyselene.django): one process enqueues, others run, any may be killed."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import pyselene as selene
from pyselene.testing import ToldClock

PATIENCE = 120

for name in ("django", "django_tasks" if sys.version_info < (3, 12) else "django"):
    if importlib.util.find_spec(name) is None:
        if os.environ.get("SELENE_TEST_ALL"):
            raise ModuleNotFoundError(f"{name} is missing: it is in the extra django")
        pytest.skip(f"{name} is missing: it is in the extra django", allow_module_level=True)

SETTINGS = """
from pathlib import Path
SECRET_KEY = "only of this test"
USE_TZ = True
INSTALLED_APPS = ["pyselene.django"]
TASKS = {"default": {
    "BACKEND": "pyselene.django.SeleneBackend",
    "QUEUES": ["default", "slow"],
    "OPTIONS": {"store": Path(__file__).parent / "tasks.db", "wait": 60},
}}
"""
JOBS = """
import asyncio, os, signal, time
from pathlib import Path
try:
    from django.tasks import task
except ModuleNotFoundError:
    from django_tasks import task

@task
def add(first, second=0):
    return {"sum": first + second}

@task
async def later(text):
    await asyncio.sleep(0)
    return text.upper()

@task(priority=50, queue_name="slow", takes_context=True)
def which(context):
    return [context.task_result.id, context.attempt]

@task
def bad():
    raise ValueError("no paper")

@task
def unfit():
    return object()

@task
def dies_once(file):
    with open(file, "a") as out:
        print(os.getpid(), file=out)
    if len(Path(file).read_text().split()) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"

@task
def waits(file, until):
    with open(file, "a") as out:
        print(os.getpid(), file=out)
    while not Path(until).exists():
        time.sleep(0.02)
    return "done"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "settings.py").write_text(SETTINGS)
    (tmp_path / "jobs.py").write_text(JOBS)
    return tmp_path


def surroundings(project: Path) -> dict[str, str]:
    paths = [str(project), str(Path(selene.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "DJANGO_SETTINGS_MODULE": "settings"}


def wait_for(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


@contextmanager
def worker(project: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with (project / "work.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "django", "selene_worker", *arguments],
            cwd=project, env=surroundings(project), stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()


def web(project: Path, program: str, code: int = 0) -> Any:
    """A process of the application: what it leaves as `told`."""
    begin = "import django, json, time\ndjango.setup()\nimport jobs\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{begin}{program}\nprint(json.dumps(told))"],
        cwd=project, env=surroundings(project), capture_output=True, text=True, timeout=3 * PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout) if code == 0 else done.stderr


def test_tasks_are_enqueued_by_one_process_and_run_by_another(project: Path) -> None:
    with worker(project, "--serve"), worker(project, "--queue", "slow"):
        told = web(project, """
results = {
    "add": jobs.add.enqueue(1, second=2), "later": jobs.later.enqueue("text"), "which": jobs.which.enqueue(),
    "bad": jobs.bad.enqueue(), "unfit": jobs.unfit.enqueue(),
}
until = time.monotonic() + 120
while not all(result.is_finished for result in results.values()) and time.monotonic() < until:
    time.sleep(0.05)
    for result in results.values():
        result.refresh()
told = {name: [
    str(result.status), result._return_value, [error.exception_class_path for error in result.errors],
    [error.traceback for error in result.errors], result.args, result.kwargs, result.attempts, result.id,
    result.enqueued_at <= result.finished_at,
] for name, result in results.items()}
""")  # fmt: skip
    assert told["add"][:2] == ["SUCCESSFUL", {"sum": 3}]
    assert told["add"][4:6] == [[1], {"second": 2}]
    assert told["later"][:2] == ["SUCCESSFUL", "TEXT"]
    assert told["which"][:2] == ["SUCCESSFUL", [told["which"][7], 1]]
    assert told["bad"][:3] == ["FAILED", None, ["builtins.ValueError"]]
    assert "no paper" in told["bad"][3][0]
    assert told["unfit"][:3] == ["FAILED", None, ["builtins.TypeError"]]
    assert {name: (one[6], one[8]) for name, one in told.items()} == dict.fromkeys(told, (1, True))


@contextmanager
def an_owner(project: Path, first: subprocess.Popen[bytes]) -> Iterator[None]:
    """Another owner, if the first one was what was killed."""
    if first.poll() is None:
        yield
        return
    with worker(project, "--serve"):
        yield


def test_what_a_worker_that_is_killed_was_at_is_tried_again(project: Path) -> None:
    store = project / "tasks.db"
    with worker(project, "--serve") as first, worker(project) as second:
        number = web(project, "told = jobs.dies_once.enqueue('times').id")
        wait_for(lambda: first.poll() is not None or second.poll() is not None)
        with an_owner(project, first), selene.connect(store, wait=60) as queue:

            def is_done() -> bool:
                info = queue.get(number)
                if str(info.state) == "enqueued" and info.attempts:
                    # Half a minute is not waited for here. It may have begun by now.
                    with suppress(selene.InvalidArgument):
                        queue.set_next(number, queue.now)
                return info.state is selene.State.SUCCEEDED

            wait_for(is_done)
            told = web(project, f"""
result = jobs.dies_once.get_result({number!r})
told = [result.return_value, result.attempts]
""")  # fmt: skip
    assert told == ["done", 2]
    assert len((project / "times").read_text().split()) == 2


def test_v1_what_a_worker_runs_takes_as_long_as_it_takes(project: Path) -> None:
    clock, times, until = ToldClock(), project / "times", project / "until"
    with selene.Scheduler(project / "tasks.db", clock=clock) as owner, owner.serve(), worker(project):
        number = web(project, f"told = jobs.waits.enqueue({str(times)!r}, {str(until)!r}).id")
        wait_for(lambda: times.exists() and times.read_text().endswith("\n"))
        clock.advance(timedelta(hours=1), handlers=False)
        assert owner.get(number).state is selene.State.RUNNING
        until.touch()
        wait_for(lambda: owner.get(number).state is not selene.State.RUNNING)
        info = owner.get(number)
    assert (info.state, info.attempts) == (selene.State.SUCCEEDED, 1)
    assert len(times.read_text().split()) == 1


def test_what_is_wrong_is_said(project: Path) -> None:
    with selene.Scheduler(project / "tasks.db") as scheduler, scheduler.serve():
        scheduler.enqueue("of another", handler="mail")
        told = web(project, """
from jobs import task
import importlib
exceptions = importlib.import_module(jobs.task.__module__.rpartition(".")[0] + ".exceptions")
told = []
for call in (lambda: jobs.add.get_result("nobody"), lambda: jobs.add.get_result("of another"),
             lambda: jobs.add.get_result(jobs.bad.enqueue().id)):
    try:
        call()
    except exceptions.TaskException as error:
        told.append(type(error).__name__)
""")  # fmt: skip
        assert told == ["TaskResultDoesNotExist", "TaskResultDoesNotExist", "TaskResultMismatch"]
        refused = subprocess.run(
            [sys.executable, "-m", "django", "selene_worker", "--serve"],
            cwd=project, env=surroundings(project), capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert refused.returncode == 1
        assert f"process {os.getpid()}" in refused.stderr
        assert "without --serve" in refused.stderr
    for options, words in (("{}", 'has no "store"'), ('{"store": "t", "stoer": 1}', "has 'stoer'; allowed: store")):
        (project / "settings.py").write_text(
            SETTINGS.partition('    "OPTIONS"')[0] + f'    "OPTIONS": {options},\n}}}}\n'
        )
        assert words in web(project, "told = None", code=1)
