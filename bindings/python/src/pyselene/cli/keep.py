"""Whose the tasks of a store are: a workload runs, updates and cancels its own only (U2), as selene-run does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from .. import Scheduler, TaskInfo
from .problem import Exit, Problem, printable
from .workload import Workload

_TASKS: Final = "workload "
_NOTE: Final = "="
"""With it the ids of selene-run's notes begin."""
_EARLIER: Final = "command"
"""The handler of the tasks that version 0.1 registered."""
_LONGEST_NAME: Final = 200


def handler_of(work: Workload) -> str:
    """The handler of a workload's tasks: its file without folders."""
    name = Path(work.path).name.encode("utf-8", "replace")[:_LONGEST_NAME].decode(errors="ignore")
    return _TASKS + name


def is_command(handler: str) -> bool:
    """Whether a task with this handler is of a workload, so that its input is a command."""
    return handler == _EARLIER or handler.startswith(_TASKS)


def refuse_taken(scheduler: Scheduler, store: Path | str, work: Workload) -> None:
    """Refuses a workload with an id that another program or workload has in the store."""
    for info in scheduler.tasks():
        if work.task(info.id) is not None and info.handler not in (handler_of(work), _EARLIER):
            raise Problem(
                f"{_foreign(store, work, info)}; allowed is another id, another store, or --adopt, which takes over"
                " all tasks of the store",
                Exit.REFUSED,
            )


def leave_to_others(scheduler: Scheduler, store: Path, work: Workload, adopt: bool) -> None:
    """Refuses ids that others have in the store, and cancels what left the workload; what others have stays.

    Says on stderr what is cancelled, and what of other programs stays.
    """
    if not adopt:
        refuse_taken(scheduler, store, work)
    mine = handler_of(work)
    for info in scheduler.tasks():
        if work.task(info.id) is not None:
            continue
        if adopt or info.handler == mine:
            if scheduler.cancel(info.id) and not info.id.startswith(_NOTE):
                _tell(f"{printable(info.id)} is not in {work.path} any more: cancelled")
        elif not info.handler.startswith(_TASKS) and not info.state.terminal and not info.id.startswith(_NOTE):
            _tell(
                f"{_foreign(store, work, info)}: it stays and does not run here; --adopt takes over all tasks of the"
                " store"
            )


def _foreign(store: Path | str, work: Workload, info: TaskInfo) -> str:
    return f'{printable(info.id)} in {store} is not a task of {work.path} (its handler is "{printable(info.handler)}")'


def _tell(text: str) -> None:
    sys.stderr.write(f"pyselene: {text}\n")
