"""The scheduler's tasks: registered, looked at, cancelled, explained."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from types import EllipsisType
from typing import Any, Unpack, overload

from . import _raw
from ._calendar import Calendar, calendar_of
from ._conditions import names_of
from ._errors import SeleneError, Unsupported
from ._explanation import Explanation, explanation, has_failed, lacks_handler, names_conditions, names_group
from ._fields import OnceFields, TaskFields, TaskInfo
from ._group import GroupInfo, group_info
from ._handler import Function, OnStop
from ._keywords import refuse_unknown
from ._library import encode, error_of, fast, library, out_pointer, read, read_array, text
from ._names import whole
from ._output import Output
from ._pause import Pause, pauses_of
from ._scheduler_handlers import F, HandlerCalls, name_of
from ._task import Task, raw_task, task_info
from ._terms import Disposition, Existing, Kinds, Schedule, State, StateName, kind_bits, why_failed
from ._time import instant_ns
from ._waits import Waits, take_waits

_TASK_FIELDS = TaskFields.__annotations__.keys()


class TaskCalls(HandlerCalls):
    """What a Scheduler can do with tasks."""

    @overload
    def task(self, id: F, /) -> F: ...
    @overload
    def task(
        self, id: str | None = None, *, on_stop: OnStop | None = None, push: bool = False, **fields: Unpack[TaskFields]
    ) -> Callable[[F], F]: ...
    def task(
        self, id: Any = None, *, on_stop: OnStop | None = None, push: bool = False, **fields: Unpack[TaskFields]
    ) -> Any:
        """Decorates a function: registers it as a handler and as a task, by default under its own name.

        The fields are those of Task: `every` makes it periodic; without it the task runs once each time the program
        starts, and with schedule="standing" it is a candidate in every window. The code wins over the store: a task
        of this id that is there already is updated (its history stays), or replaced if its kind or schedule is another
        one; `existing` says otherwise.

        >>> import pyselene as selene
        >>> scheduler = selene.Scheduler()
        >>> @scheduler.task(every=3600, requires={"network"}, tags={"upload"})
        ... def upload_calendar(run): ...
        >>> scheduler.get("upload_calendar").every
        3600.0
        """
        if callable(id):
            return self.task()(id)

        def decorate(function: F) -> F:
            name = id if id is not None else name_of(function)
            try:
                definition = Task(name, **fields)
            except TypeError:
                refuse_unknown("task", fields, (*TaskFields.__annotations__, "id", "on_stop", "push"))
                raise
            definition = self.winning(definition)
            handler = definition.handler or name
            self._check_id(definition.id, handler)
            with self._with_handler(handler, function, on_stop, push):
                self.register(definition)
            return function

        return decorate

    def winning(self, task: Task) -> Task:
        """The same task with a policy, if it has none, by which its definition wins over one that is stored.

        That is updated, with its history kept; where its kind, schedule or what it comes after is another one, it is
        replaced.
        """
        if task.existing is not None:
            return task
        policy = Existing.UPDATE
        with contextlib.suppress(LookupError):
            old = self.get(task.id)
            if (old.kind, old.schedule) != (task.kind, task.schedule) or set(old.after) != set(task.after):
                policy = Existing.REPLACE
        return replace(task, existing=policy)

    def register(self, task: Task) -> Disposition:
        """Registers a task; says what that did.

        One by a calendar (`cron`, `at`) is registered where its handler runs, and anew by each process: the store keeps
        its next instant, not the calendar, so the code's wins, unless `existing` says otherwise.

        Raises InvalidArgument, TooLarge (input), NotPermitted (id), Unavailable (its kind is off), TooManyPending.
        """
        engine = self._engine
        raw, calendar = self._raw_task(task)
        was = calendar is not None and self._goes_by_calendar(task.id)
        disposition = ctypes.c_int32()
        status = engine.calls.selene_task_register(engine.handle, ctypes.byref(raw), ctypes.byref(disposition))
        engine.check(status)
        done = Disposition(disposition.value)
        if calendar is not None or engine.calendars.entries:
            self._went_by(task, calendar, done, was)
        return done

    def _goes_by_calendar(self, id: str) -> bool:
        with contextlib.suppress(LookupError):
            return self.get(id).by_calendar
        return False

    def _raw_task(self, task: Task) -> tuple[_raw.selene_task, Calendar | None]:
        """The library's structure of a task that is about to be registered, and the calendar that it is due by."""
        calendar = calendar_of(task) if isinstance(task, Task) else None
        if calendar is None:
            return raw_task(task), None
        engine = self._engine
        if engine.connected:
            text = "a task by cron or at is registered by the process that runs it: the owner of the store"
            raise Unsupported(_raw.SELENE_ERROR_UNSUPPORTED, "UNSUPPORTED", text)
        raw = raw_task(self.winning(task))
        raw.initial_delay = engine.calendars.first(calendar)
        self._watch_clock()
        return raw, calendar

    def _went_by(self, task: Task, calendar: Calendar | None, done: Disposition, was: bool) -> None:
        """A task was registered, and is due by a calendar from now on, as it `was` before, or by none."""
        calendars = self._engine.calendars
        key = task.id.encode()
        if calendar is not None:
            kept = done is Disposition.KEPT
            if was or not kept:
                calendars.register(key, calendar, is_new=not was or not (kept or done is Disposition.UPDATED))
        elif done is not Disposition.KEPT:
            calendars.drop(key)

    def _watch_clock(self) -> None:
        raise NotImplementedError

    def register_all(self, tasks: Iterable[Task]) -> list[Disposition | SeleneError]:
        """Registers many tasks in one commit; a refused one does not stop the others and is answered by its error.

        Only the last error says which field was wrong.
        """
        wanted = tuple(tasks)  # their inputs stay where they are
        count = len(wanted)
        raws = [self._raw_task(task) for task in wanted]
        was = [
            calendar is not None and self._goes_by_calendar(task.id)
            for task, (_, calendar) in zip(wanted, raws, strict=True)
        ]
        pointers = (ctypes.POINTER(_raw.selene_task) * count)(*(ctypes.pointer(raw) for raw, _ in raws))
        statuses = (ctypes.c_int32 * count)()
        dispositions = (ctypes.c_int32 * count)()
        engine = self._engine
        status = library.selene_task_register_batch(engine.handle, pointers, count, statuses, dispositions)
        engine.check(status)
        by_calendar = bool(engine.calendars.entries) or any(calendar is not None for _, calendar in raws)
        if by_calendar:
            for task, (_, calendar), before, refused, done in zip(
                wanted, raws, was, statuses, dispositions, strict=True
            ):
                if not refused:
                    self._went_by(task, calendar, Disposition(done), before)
        # The library keeps the detail of the last one refused; of the others it is known what kind of mistake they are.
        last = max((place for place, status in enumerate(statuses) if status), default=-1)
        return [
            error_of(status, latest=place == last) if status else Disposition(disposition)
            for place, (status, disposition) in enumerate(zip(statuses, dispositions, strict=True))
        ]

    def enqueue(
        self,
        id: str,
        *,
        at: datetime | None = None,
        handler: str | Function | None = None,
        **fields: Unpack[OnceFields],
    ) -> Disposition:
        """Registers work to be done once: not before `delay` seconds, or before the instant `at`.

        `handler` is a handler's name (by default the id), or a function, which is then registered under its own name.
        `input` are bytes that its run is handed; with `args` and `kwargs` the function is called with them behind the
        run. The other fields are those of Task, too.

        >>> import pyselene as selene
        >>> scheduler = selene.Scheduler()
        >>> def mail(run, number, *, to):
        ...     print(f"letter {number} to {to}")
        >>> _ = scheduler.enqueue("mail-7", handler=mail, args=[7], kwargs={"to": "Ada"})
        >>> _ = scheduler.run_cycle(budget=30)
        letter 7 to Ada
        """
        name: str | None
        if handler is None or isinstance(handler, str):
            name = handler
        elif not callable(handler):
            raise TypeError(f"handler must be a function or a handler's name, not {type(handler).__name__}")
        else:
            name = getattr(handler, "__name__", "")
            name = name if name.isidentifier() else id
        if at is not None:
            if fields.get("delay"):
                raise ValueError("delay and at are both given")
            # In whole microseconds, as datetimes count, and never before the instant.
            fields["delay"] = timedelta(microseconds=max(0, -((self._engine.now_ns() - instant_ns(at, "at")) // 1_000)))
        try:
            task = Task(id, name, schedule=Schedule.ONCE, **fields)
        except TypeError:
            refuse_unknown("enqueue", fields, (*OnceFields.__annotations__, "id", "at", "handler"), _TASK_FIELDS)
            raise
        if name is None or not callable(handler):
            return self.register(task)
        self._check_id(task.id, name)
        with self._with_handler(name, handler):
            return self.register(task)

    def _check_id(self, id: str, handler: str) -> None:
        """Refuses what can be no id, before a new handler gets its name."""
        if encode(handler, "handler") not in self._engine.handlers:
            with contextlib.suppress(LookupError):
                self.get(id)

    def get(self, id: str, position: int = 0) -> TaskInfo:
        """A task's record: the live one, else the last; at position 1 … those that wait behind it. NotFound."""
        key = encode(id, "id")
        engine = self._engine
        address, target = out_pointer(_raw.selene_task_info)
        status = library.selene_task_get(
            engine.handle, key, len(key), whole(position, "position"), ctypes.byref(target)
        )
        engine.check(status)
        try:
            info = task_info(address.value or 0)
        finally:
            fast.selene_free(target)
        entry = engine.calendars.entries.get(key) if info.by_calendar else None
        return info if entry is None else replace(info, calendar=entry.calendar)

    def output(self, id: str) -> Output:
        """What the last success of a task left: bytes, with `.text` and `.json()`; empty if that was nothing. NotFound.

        A task has it as long as its record is kept, and until its next success.

        >>> import pyselene as selene
        >>> scheduler = selene.Scheduler()
        >>> @scheduler.task
        ... def count_rows(run):
        ...     return {"rows": 3}
        >>> _ = scheduler.run_cycle(budget=30)
        >>> scheduler.output("count_rows").json()
        {'rows': 3}
        """
        return self._engine.output(encode(id, "id"))

    def failed(self) -> list[TaskInfo]:
        """The records of what has failed, in order of registration: `last_failure` says why, retry() tries it again."""
        return self.tasks(state=State.FAILED)

    def retry(self, id: str, *, successors: bool = False) -> int:
        """Enqueues a failed task again, at once and with all its attempts; ValueError where it has not failed.

        It waits again for those of the tasks that it comes after which have not succeeded. With `successors` all that
        failed because of it is enqueued again, too. Says how many were.
        """
        key = encode(id, "id")
        engine = self._engine
        if successors:
            return self._count(library.selene_task_retry_successors, key, len(key))
        engine.check(library.selene_task_retry(engine.handle, key, len(key)))
        return 1

    def retry_all(self, tag: str | None = None, *, successors: bool = False) -> int:
        """Enqueues all failed tasks again, or those that carry a tag; says how many.

        With `successors` also all that failed because of them. Tasks that retry() would refuse stay failed.
        """
        key = b"" if tag is None else encode(tag, "tag")
        flags = _raw.SELENE_RETRY_SUCCESSORS if successors else 0
        return self._count(library.selene_task_retry_all, None if tag is None else key, len(key), flags)

    def ids(self, tag: str | None = None, *, state: State | StateName | None = None) -> list[str]:
        """The ids of all tasks, or of those that carry a tag, or are in a state, in order of registration."""
        engine = self._engine
        address, target = out_pointer(_raw.selene_task_ids)
        if state is not None and tag is not None:
            raise ValueError("tag and state are both given")
        if state is not None:
            wanted = State.of(state, "state")
            status = library.selene_task_list_state(engine.handle, wanted, ctypes.byref(target))
        else:
            key = b"" if tag is None else encode(tag, "tag")
            status = library.selene_task_list(
                engine.handle, None if tag is None else key, len(key), ctypes.byref(target)
            )
        engine.check(status)
        try:
            _, _, count, ids = read(_raw.selene_task_ids, address.value or 0)
            return [text(*item) for item in read_array(_raw.selene_text, ids, count)]
        finally:
            fast.selene_free(target)

    def tasks(self, tag: str | None = None, *, state: State | StateName | None = None) -> list[TaskInfo]:
        """The records of all tasks, or of those that carry a tag, or are in a state, in order of registration."""
        found: list[TaskInfo] = []
        blocked = state is not None and State.of(state, "state") is State.BLOCKED
        # Of those that wait for others the first of its id is the record itself.
        heads: set[str] = set()
        ids = self.ids(tag, state=state)
        for place, key in enumerate(ids):
            try:
                # Those that wait behind one task stand in this order there.
                position = ids[: place + 1].count(key) if blocked else 0
                if position == 1 and self.get(key).state is State.BLOCKED:
                    heads.add(key)
                found.append(self.get(key, position - (key in heads)))
            except LookupError:
                pass  # pruned meanwhile
        return found

    def __contains__(self, id: object) -> bool:
        if not isinstance(id, str):
            return False
        try:
            self.get(id)
        except (LookupError, ValueError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids())

    def __len__(self) -> int:
        return len(self.ids())

    def __bool__(self) -> bool:
        return True

    def cancel(self, id: str) -> int:
        """Cancels a task and all that wait behind it, a run in flight is stopped; says how many. NotFound."""
        key = encode(id, "id")
        return self._count(self._engine.calls.selene_task_cancel, key, len(key))

    def cancel_tag(self, tag: str) -> int:
        """Cancels every live task that carries the tag, and what waits behind them; says how many."""
        key = encode(tag, "tag")
        return self._count(self._engine.calls.selene_task_cancel_tag, key, len(key))

    def cancel_all(self) -> int:
        """Cancels every live task; says how many."""
        return self._count(library.selene_task_cancel_all)

    def set_next(self, id: str, at: datetime) -> None:
        """Says when a task is due next, once, in place of the instant that was or will be computed.

        While it runs, it is due then when the run is over, however that ends. The store keeps it, and so do updates.
        NotFound; ValueError for a task that is over.
        """
        self._engine.set_next(encode(id, "id"), instant_ns(at, "at"))

    def run_now(self, id: str) -> bool:
        """Lets a task run as soon as it can: True if the process that has the scheduler has begun it, outside rank.

        Else it is due now, whatever it waited for by time, and the next window of a process that runs its handler takes
        it by its rank: so always with handlers of pyselene, and where they are another process's. NotFound; ValueError
        for a task that is over, or runs.

        >>> import pyselene as selene
        >>> scheduler = selene.Scheduler()
        >>> _ = scheduler.enqueue("report", delay=3600)
        >>> scheduler.run_now("report")
        False
        >>> print(scheduler.explain("report").reasons[0].code)
        no_handler
        """
        key = encode(id, "id")
        engine = self._engine
        if self.get(id).state is State.RUNNING:
            raise ValueError(f"{id!r} runs already")
        status = library.selene_task_launch(engine.handle, key, len(key))
        if status not in (_raw.SELENE_ERROR_NOT_FOUND, _raw.SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE):
            engine.check(status)
            return True
        self._engine.set_next(key, engine.now_ns())
        return False

    def pause(
        self,
        id: str | None = None,
        *,
        tag: str | None = None,
        group: str | None = None,
        kinds: Kinds | None = None,
        pool: str | None = None,
        until: datetime | None = None,
    ) -> int:
        """Pauses a task and all that wait behind it, or every live task that carries the tag now; says how many.

        They stay as they are, and none begins until resume(); a run in flight goes on. The store keeps it. NotFound.
        A group is paused as such, with what is registered later, too; says how many of its tasks wait.

        Kinds are paused as such, too, everywhere or in one `pool` (without kinds: both), until an instant or until
        resume(kinds=…, pool=…); answers 0. pauses() lists them.

        >>> import pyselene as selene
        >>> scheduler = selene.Scheduler()
        >>> _ = scheduler.pause(kinds="refresh")
        >>> print(*scheduler.pauses())
        refresh: paused until resumed
        """
        if kinds is None and pool is None:
            if until is not None:
                raise TypeError("pause() takes until= with kinds= or pool=")
            return self._pause("pause", id, tag, group)
        end = _raw.SELENE_NEVER if until is None else instant_ns(until, "until")
        if end == 0:
            raise ValueError("until is 1970, which is past; allowed is an instant after now")
        return self._pause_kinds("pause", (id, tag, group), kinds, pool, end)

    def resume(
        self,
        id: str | None = None,
        *,
        tag: str | None = None,
        group: str | None = None,
        kinds: Kinds | None = None,
        pool: str | None = None,
    ) -> int:
        """Lets what was paused go on: a task and all that wait behind it, what carries the tag, a group; says how many.

        Kinds and pools go on that were paused as such; answers 0. Without anything it lets a drained scheduler dispatch
        again, and answers 0.
        """
        if kinds is not None or pool is not None:
            return self._pause_kinds("resume", (id, tag, group), kinds, pool, 0)
        if id is None and tag is None and group is None:
            self._engine.check(library.selene_scheduler_resume(self._engine.handle))
            return 0
        return self._pause("resume", id, tag, group)

    def pauses(self) -> list[Pause]:
        """The kinds that are paused, everywhere first, then by pool."""
        return pauses_of(self._engine)

    def _pause_kinds(
        self, verb: str, others: tuple[str | None, ...], kinds: Kinds | None, pool: str | None, until: int
    ) -> int:
        if any(other is not None for other in others):
            raise TypeError(f"{verb}() takes kinds= and pool= without an id, tag= or group=")
        name = b"" if pool is None else encode(pool, "pool")
        bits = 0 if kinds is None else kind_bits(kinds)
        if pool == "" or (kinds is not None and bits == 0):
            raise ValueError(f"{verb}() was given {'an empty pool' if pool == '' else 'no kind'}")
        engine = self._engine
        engine.check(library.selene_scheduler_pause(engine.handle, bits, name, len(name), until))
        return 0

    def _pause(self, verb: str, id: str | None, tag: str | None, group: str | None) -> int:
        given = [(name, text) for name, text in (("id", id), ("tag", tag), ("group", group)) if text is not None]
        if len(given) != 1:
            raise TypeError(f"{verb}() takes an id, or tag=, or group=, or kinds= and pool=")
        ((name, text),) = given
        key = encode(text, name)
        if name == "group":
            self._engine.check(getattr(library, f"selene_group_{verb}")(self._engine.handle, key, len(key)))
            with contextlib.suppress(LookupError):
                return self.group(text).waiting
            return 0
        function = getattr(library, f"selene_task_{verb}" + ("" if name == "id" else f"_{name}"))
        return self._count(function, key, len(key))

    def group(self, name: str, *, limit: int | EllipsisType | None = ...) -> GroupInfo:
        """A group of tasks (their `group`), of which at most `limit` runs go on at a time; None is no limit.

        Without `limit` it only looks: NotFound where nothing of it is set, no task of it waits and none runs. Tasks of
        a group that is full or paused keep their rank; others go before them, without a lane standing idle, and they
        run as soon as there is room, in a window that is open, too. The store keeps limits and pauses.

        >>> import pyselene as selene
        >>> scheduler = selene.Scheduler()
        >>> print(scheduler.group("uploads", limit=2))
        uploads: at most 2 at a time, 0 running, 0 waiting
        """
        key = encode(name, "name")
        engine = self._engine
        if not isinstance(limit, EllipsisType):
            runs = 0 if limit is None else whole(limit, "limit", 1 << 32)
            if limit == 0:
                raise ValueError(
                    "limit is 0; allowed: 1 and more, or None for no limit; pause(group=…) lets none begin"
                )
            engine.check(library.selene_group_set_limit(engine.handle, key, len(key), runs))
        raw = _raw.selene_group_info(ctypes.sizeof(_raw.selene_group_info))
        status = library.selene_group_get(engine.handle, key, len(key), ctypes.byref(raw))
        if status == _raw.SELENE_ERROR_NOT_FOUND and limit is None:
            return GroupInfo(name, None, False, 0, 0)
        engine.check(status)
        return group_info(name, raw)

    def groups(self) -> list[GroupInfo]:
        """All groups for which something is set, or that have tasks that wait or runs, by name."""
        groups: list[GroupInfo] = []
        for name in names_of(self._engine, library.selene_group_list):
            with contextlib.suppress(LookupError):  # gone meanwhile
                groups.append(self.group(name))
        return groups

    def explain(self, id: str) -> Explanation:
        """Every reason why a task does not run now, and when it may; `print` it."""
        key = encode(id, "id")
        raw = _raw.selene_explanation(ctypes.sizeof(_raw.selene_explanation))
        engine = self._engine
        engine.check(library.selene_task_explain(engine.handle, key, len(key), ctypes.byref(raw)))
        entry = engine.calendars.entries.get(key)
        calendar = "" if entry is None else f"{entry.calendar}; next {entry.calendar.show(entry.due)}"
        group, handler, failure = None, None, ""
        failed = has_failed(raw)
        if failed or names_group(raw) or lacks_handler(raw):
            with contextlib.suppress(LookupError):  # gone meanwhile
                info = self.get(id)
                group, handler, failure = info.group, info.handler, why_failed(info) if failed else ""
        missing: tuple[str, ...] = ()
        if names_conditions(raw):
            with contextlib.suppress(LookupError):
                missing = tuple(names_of(engine, library.selene_condition_missing, key, len(key)))
        return explanation(id, raw, calendar, group, missing, handler, failure)

    def waits(self, id: str) -> Waits:
        """Where the time of a task went since it was last due, or registered; `print` it."""
        key = encode(id, "id")
        engine = self._engine
        address, target = out_pointer(_raw.selene_waits)
        engine.check(library.selene_task_waits(engine.handle, key, len(key), ctypes.byref(target)))
        return take_waits(id, address.value or 0)

    def _count(self, function: Any, *arguments: Any) -> int:
        count = ctypes.c_uint64()
        self._engine.check(function(self._engine.handle, *arguments, ctypes.byref(count)))
        return count.value
