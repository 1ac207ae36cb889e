"""Whose the tasks of a store are: a workload runs, updates and cancels its own only (U2), as selene-run does."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from .. import Kind, NotFound, Schedule, Scheduler, SeleneError, State, Task, TaskInfo
from .problem import Exit, Problem, printable
from .workload import TaskSpec, Workload

_TASKS: Final = "workload "
_NOTES: Final = "finished "
_NOTE: Final = "="
"""With it the ids of notes begin: no id of a workload has one. A note says in its input how a once task ended, and
stays as long as the task stands in the workload; the library forgets a finished task after a day."""
_EARLIER: Final = "command"
"""The handler of the tasks that version 0.1 registered."""
_LONGEST_NAME: Final = 200


def _name_of(work: Workload) -> str:
    return Path(work.path).name.encode("utf-8", "replace")[:_LONGEST_NAME].decode(errors="ignore")


def handler_of(work: Workload) -> str:
    """The handler of a workload's tasks: its file without folders."""
    return _TASKS + _name_of(work)


def notes_of(work: Workload) -> str:
    """The handler of a workload's notes, which nobody registers."""
    return _NOTES + _name_of(work)


def without_notes(infos: Sequence[TaskInfo]) -> list[TaskInfo]:
    """What is there to be shown: no notes but of tasks that are forgotten."""
    known = {info.id for info in infos}
    return [
        info
        for info in infos
        if not info.id.startswith(_NOTE) or not (info.state.terminal or info.id.removeprefix(_NOTE) in known)
    ]


def is_note(id: str) -> bool:
    """Whether it is the id of a note."""
    return id.startswith(_NOTE)


def _find(scheduler: Scheduler, id: str) -> TaskInfo | None:
    with suppress(NotFound):
        return scheduler.get(id)
    return None


def _is_finished(info: TaskInfo) -> bool:
    return info.schedule is Schedule.ONCE and info.state in (State.SUCCEEDED, State.FAILED)


def end_of(scheduler: Scheduler, id: str) -> str | None:
    """How a once task ended, as its note says: succeeded or failed; None if there is no note."""
    note = _find(scheduler, _NOTE + id)
    if note is None or note.state.terminal:
        return None
    told = note.input.decode(errors="replace")
    return told if told in ("succeeded", "failed") else None


def forget_end(scheduler: Scheduler, id: str) -> None:
    """That a task is finished is noted no more."""
    with suppress(NotFound):
        scheduler.cancel(_NOTE + id)


def note_finished(scheduler: Scheduler, work: Workload, kinds: Iterable[Kind] = tuple(Kind)) -> None:
    """Notes which once tasks are finished; with one of the kinds that are on."""
    for spec in work.tasks:
        if spec.schedule != "once":
            continue
        info = _find(scheduler, spec.id)
        if info is None or not _is_finished(info):
            continue
        if info.handler not in (handler_of(work), _EARLIER) or end_of(scheduler, spec.id) is not None:
            continue
        note = Task(
            _NOTE + spec.id,
            handler=notes_of(work),
            schedule="standing",
            kind=min(kinds),
            input=str(info.state).encode(),
        )
        try:
            scheduler.register(note)
        except SeleneError as error:
            _tell(f"{printable(spec.id)} will run again a day after its end: {printable(str(error))}")


def left_to_do(scheduler: Scheduler, work: Workload) -> list[TaskSpec]:
    """The tasks of a workload without once tasks that are finished, which stay so.

    What comes after some of these comes after the others alone once they are forgotten; where one failed, it does not
    run.
    """
    left: list[TaskSpec] = []
    for spec in work.tasks:
        if spec.schedule == "once":
            info = _find(scheduler, spec.id)
            if (info is not None and _is_finished(info)) or end_of(scheduler, spec.id) is not None:
                continue
        gone = {one: end for one in spec.after if (end := end_of(scheduler, one)) and _find(scheduler, one) is None}
        failed = [one for one, end in gone.items() if end == "failed" and not spec.after_any_end]
        if failed:
            _tell(f"{printable(spec.id)} comes after {printable(failed[0])}, which has failed: it does not run")
            continue
        left.append(replace(spec, after=tuple(one for one in spec.after if one not in gone)) if gone else spec)
    return left


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
        spec = work.task(info.id.removeprefix(_NOTE))
        if spec is not None and (not info.id.startswith(_NOTE) or spec.schedule == "once"):
            continue
        if adopt or info.handler in (mine, notes_of(work)):
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
