"""The backend: a task of Django is a once task, whose input says which function it is and what that is called with."""

from __future__ import annotations

import json
import os
import threading
import traceback
import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections
from django.utils import timezone
from django.utils.module_loading import import_string

from .._connect import connect
from .._errors import NotFound
from .._run import PENDING, Outcome, Priority, Retry
from .._terms import State
from .._time import instant
from ._tasks import (
    BaseTaskBackend,
    TaskContext,
    TaskError,
    TaskResult,
    TaskResultDoesNotExist,
    TaskResultStatus,
    signals,
)

if TYPE_CHECKING:
    from .._fields import TaskInfo
    from .._run import Run
    from .._scheduler import Scheduler

#: Django's priorities go from -100 to 100, each fifth of which is one of these.
_PRIORITIES: Final = tuple(Priority)
#: A process that is killed counts as an attempt, too; what kills each of its processes shall not do so for ever.
_KILLS: Final = 5


class SeleneBackend(BaseTaskBackend):  # type: ignore[misc]
    """A store that one process serves; OPTIONS of TASKS are its terms.

    - `store`: the file, or the socket. `pool`: of the workers, by default django and the backend's alias.
    - `wait`: how many seconds a call waits for a process that has the store (10), then it raises OwnerAway.
    - `attempts`: how often a task that raises is tried (1); `raise pyselene.Retry()` tries again in any case.
    """

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: dict[str, Any]) -> None:
        super().__init__(alias, params)
        options: dict[str, Any] = dict(self.options)
        self.store: str = str(options.pop("store", ""))
        if not self.store:
            raise ImproperlyConfigured(f'TASKS["{alias}"]["OPTIONS"] has no "store": the file that tasks are kept in')
        self.pool: str = options.pop("pool", f"django.{alias}")
        self.wait: float = options.pop("wait", 10)
        self.attempts: int = options.pop("attempts", 1)
        if options:
            found = ", ".join(map(repr, options))
            raise ImproperlyConfigured(f'TASKS["{alias}"]["OPTIONS"] has {found}; allowed: store, pool, wait, attempts')
        self._connections: dict[int, Scheduler] = {}
        self._connecting = threading.Lock()
        os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self._connecting = threading.Lock()

    def scheduler(self) -> Scheduler:
        """A connection of this process; a web worker makes its own, not before it is forked."""
        with self._connecting:
            process = os.getpid()
            if process not in self._connections:
                self._connections[process] = connect(self.store, wait=self.wait)
            return self._connections[process]

    def handler(self, queue: str) -> str:
        """The handler's name of a queue."""
        return f"django.{self.alias}.{queue}"

    # ---- what an application calls -----------------------------------------------

    def enqueue(self, task: Any, args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
        """The task is on the disk when it returns. Of a transaction it knows nothing: enqueue in on_commit()."""
        self.validate_task(task)
        after: datetime | None = task.run_after
        if after is not None and timezone.is_naive(after):
            after = timezone.make_aware(after)
        said = {
            "task": task.module_path,
            "args": list(args),
            "kwargs": kwargs,
            "queue": task.queue_name,
            "priority": task.priority,
            "run_after": None if after is None else after.isoformat(),
        }
        number = uuid.uuid4().hex
        self.scheduler().enqueue(
            number,
            at=after,
            handler=self.handler(task.queue_name),
            input=json.dumps(said).encode(),
            priority=_PRIORITIES[min(4, (task.priority + 100) // 40)],
            tags={"django", f"queue:{task.queue_name}"},
            max_attempts=self.attempts + _KILLS,
        )
        result = self._result(number, task, said, TaskResultStatus.READY, enqueued_at=timezone.now())
        signals.task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> Any:
        """How a task stands. What has ended is kept as long as the store keeps it."""
        try:
            info = self.scheduler().get(result_id)
        except (NotFound, ValueError):
            raise TaskResultDoesNotExist(result_id) from None
        if not info.handler.startswith(self.handler("")):
            raise TaskResultDoesNotExist(result_id)
        if not info.input:
            raise PermissionError(f"task {result_id} can be looked at, not read: this user needs the right read")
        return self._known(info)

    # ---- what a worker calls --------------------------------------------------------

    def offer(self, scheduler: Scheduler, queues: Iterable[str]) -> None:
        """The scheduler runs the tasks of these queues."""
        for queue in queues:
            scheduler.register_handler(self.handler(queue), self.run)

    def run(self, run: Run) -> object:
        """The handler of all queues."""
        said = json.loads(run.input)
        task = self._task(said)
        started = timezone.now()
        result = self._result(
            run.id, task, said, TaskResultStatus.RUNNING, started_at=started, last_attempted_at=started,
            worker_ids=[self.pool] * run.attempt,
        )  # fmt: skip
        signals.task_started.send(type(self), task_result=result)
        close_old_connections()
        try:
            context = [TaskContext(task_result=result)] if task.takes_context else []
            value = task.call(*context, *result.args, **result.kwargs)
            run.set_output(json.dumps({"value": value, "started": run.started_at_ns}))
        except Retry:
            raise
        except Exception as error:
            return self._failed(run, result, error)
        finally:
            close_old_connections()
        _set(result, status=TaskResultStatus.SUCCESSFUL, finished_at=timezone.now(), _return_value=value)
        signals.task_finished.send(type(self), task_result=result)
        return Outcome.NEW_DATA

    def _failed(self, run: Run, result: Any, error: Exception) -> object:
        told = _told(error)
        if run.attempt < self.attempts:
            run.retry(why=told)
            return PENDING
        result.errors.append(_error(told, "".join(traceback.format_exception(error))))
        _set(result, status=TaskResultStatus.FAILED, finished_at=timezone.now())
        signals.task_finished.send(type(self), task_result=result)
        run.complete(Outcome.ABANDONED, told)
        return PENDING

    # ---- results -----------------------------------------------------------------------

    def _task(self, said: dict[str, Any]) -> Any:
        after = said["run_after"]
        return import_string(said["task"]).using(
            priority=said["priority"],
            queue_name=said["queue"],
            run_after=None if after is None else datetime.fromisoformat(after),
            backend=self.alias,
        )

    def _result(self, id: str, task: Any, said: dict[str, Any], status: Any, **known: Any) -> Any:
        facts: dict[str, Any] = {
            "enqueued_at": None, "started_at": None, "finished_at": None, "last_attempted_at": None, "errors": [],
            "worker_ids": [],
        }  # fmt: skip
        return TaskResult(
            task=task, id=id, status=status, args=said["args"], kwargs=said["kwargs"], backend=self.alias,
            **{**facts, **known},
        )  # fmt: skip

    def _known(self, info: TaskInfo) -> Any:
        said = json.loads(info.input)
        left = self.scheduler().output(info.id).json() if info.state is State.SUCCEEDED else None
        failure = info.last_failure
        runs = info.attempts
        errors = []
        if failure is not None and info.state is State.FAILED:
            runs = max(runs, failure.attempt)  # what was given up does not count as an attempt
            errors = [_error(failure.message, failure.message)]
        result = self._result(
            info.id,
            self._task(said),
            said,
            TaskResultStatus.RUNNING
            if info.state is State.RUNNING
            else TaskResultStatus.SUCCESSFUL
            if info.state is State.SUCCEEDED
            else TaskResultStatus.FAILED
            if info.state.terminal
            else TaskResultStatus.READY,
            enqueued_at=_instant(info.registered_at_ns),
            started_at=_instant(left["started"]) if left else None,
            last_attempted_at=_instant(info.last_run_ns) if runs else None,
            finished_at=_instant(info.last_run_ns) if info.state.terminal and runs else None,
            errors=errors,
            worker_ids=[self.pool] * runs,
        )
        if left:
            _set(result, _return_value=left["value"])
        return result


def _set(result: Any, **fields: Any) -> None:
    """A result is frozen for those who are given it."""
    for name, value in fields.items():
        object.__setattr__(result, name, value)


def _instant(at_ns: int) -> datetime:
    """As Django counts time here."""
    at = instant(at_ns)
    return at if timezone.is_aware(timezone.now()) else timezone.make_naive(at)


def _told(error: Exception) -> str:
    """Class, text and place of an exception, as the task keeps it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__module__}.{type(error).__qualname__}: {error}{place}"


def _error(told: str, full: str) -> Any:
    path, colon, _ = told.partition(": ")
    # A process that was killed raised nothing.
    known = path if colon and "." in path and " " not in path else "builtins.RuntimeError"
    return TaskError(exception_class_path=known, traceback=full)
