"""Reads workload files; what is wrong in one is told with its line and column."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time
from pathlib import Path as FilePath
from typing import Any, Final

from .. import Task
from .._calendar import AT_ALLOWED, ON_ALLOWED, check_at, check_on
from . import duration
from .locate import deepest_place, error_place, find
from .problem import Exit, Problem, WorkloadProblem, printable
from .toml_table import Table, Text, shown, wrong_name
from .workload import (
    BACKOFFS,
    CONSTRAINTS,
    DAYS,
    DEFAULT_START,
    KINDS,
    PRIORITIES,
    QUOTA_POLICIES,
    SCHEDULES,
    Behaviour,
    Outage,
    TaskSpec,
    WindowSpec,
    Workload,
)

#: How the file of a store begins.
_DATABASE: Final = b"SQLite format 3\0"


def load(path: str | FilePath) -> Workload:
    """Reads a workload file; ``-`` is the standard input.

    Raises:
        Problem: the file cannot be read.
        WorkloadProblem: something in it is wrong.
    """
    name = "standard input" if str(path) == "-" else str(path)
    try:
        if str(path) != "-":
            data = FilePath(path).read_bytes()
        elif sys.stdin is not None:
            data = sys.stdin.buffer.read()
        else:
            raise Problem(f"{name}: it is closed", Exit.WORKLOAD)
    except OSError as error:
        raise Problem(f"{name}: {error.strerror or error}", Exit.WORKLOAD) from None
    if data.startswith(_DATABASE):
        raise Problem(f"{name}: found a store; allowed is a workload in TOML (--store takes a store)", Exit.WORKLOAD)
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        raise WorkloadProblem(
            name,
            data.decode(errors="replace"),
            line,
            column,
            f"found the byte 0x{data[error.start]:02x}; allowed is text in UTF-8",
        ) from None
    return parse(text, name)


def parse(text: str, path: str = "workload.toml") -> Workload:
    """Reads the text of a workload file.

    Raises:
        WorkloadProblem: something in it is wrong.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place, message = error_place(error, text)
        raise WorkloadProblem(path, text, place.line, place.column, f"this is not TOML: {message}") from None
    except RecursionError:
        place = deepest_place(text)
        raise WorkloadProblem(
            path,
            text,
            place.line,
            place.column,
            "found lists or tables nested too deeply; allowed are some hundred levels",
        ) from None
    return _Reader(Text(path, text)).workload(document)


_NOTHING_SAID: Final = WindowSpec()


def _asked(tasks: object) -> list[str]:
    """The conditions of the host that tasks ask for, before they are read."""
    specs = tasks.values() if isinstance(tasks, dict) else ()
    lists = [spec.get("conditions") for spec in specs if isinstance(spec, dict)]
    return [name for names in lists if isinstance(names, list) for name in names if isinstance(name, str)]


class _Reader:
    """Makes a workload of what ``tomllib`` read."""

    def __init__(self, file: Text) -> None:
        self.file = file
        #: What an outage of a simulation can be of.
        self.outages_of: tuple[str, ...] = CONSTRAINTS

    def workload(self, document: dict[str, Any]) -> Workload:
        root = Table(self.file, (), document)
        window = self.window(Table(self.file, ("window",), document["window"])) if root.has("window") else WindowSpec()
        simulated = window
        defaults, seed, start = Behaviour(), None, DEFAULT_START
        self.outages_of = tuple(dict.fromkeys([*CONSTRAINTS, *_asked(document.get("tasks"))]))
        outages: tuple[Outage, ...] = ()
        if root.has("simulate"):
            table = Table(self.file, ("simulate",), document["simulate"])
            seed = table.optional("seed", table.number(0, 2**63 - 1), None)
            start = table.optional("start", lambda key: self.start(table, key), DEFAULT_START)
            outages = table.optional("outages", lambda key: self.outages(table, key), ())
            if table.has("window"):
                simulated = self.window(Table(self.file, ("simulate", "window"), table.values["window"]), window)
            defaults = self.behaviour(table, defaults)
        groups = self.groups(Table(self.file, ("groups",), document["groups"])) if root.has("groups") else {}
        root.asked.append("tasks")
        root.end()
        if not document.get("tasks"):
            root.refuse(None, "found no task; allowed is at least one table [tasks.ID]")
        table = Table(self.file, ("tasks",), document["tasks"])
        tasks = tuple(self.task(table, name, defaults) for name in table.values)
        self.check_groups(groups, tasks)
        return Workload(
            self.file.path,
            self.file.text,
            self.ordered(tasks),
            window,
            simulated,
            seed,
            start,
            outages,
            groups,
        )

    def ordered(self, tasks: tuple[TaskSpec, ...]) -> tuple[TaskSpec, ...]:
        """Each behind those that it comes after, else as in the file."""
        known = {task.id: task for task in tasks}
        for task in tasks:
            table = Table(self.file, ("tasks", task.id), {"after": list(task.after)})
            for other in task.after:
                if other not in known:
                    table.refuse("after", f"found the id {shown(other)} in after; allowed are tasks of this file")
                if (schedule := known[other].schedule) != "once":
                    table.refuse("after", f"{shown(other)} is {schedule}; a task can come after once tasks only")
        done: dict[str, TaskSpec] = {}
        while len(done) < len(tasks):
            ready = next((task for task in tasks if task.id not in done and done.keys() >= set(task.after)), None)
            if ready is None:
                self.refuse_circle({task.id: task for task in tasks if task.id not in done})
            else:
                done[ready.id] = ready
        return tuple(done.values())

    def refuse_circle(self, waiting: dict[str, TaskSpec]) -> None:
        """Each of them comes after another: whoever follows them comes around."""
        ids = list(waiting)[:1]
        while ids[-1] not in ids[:-1]:
            ids.append(next(other for other in waiting[ids[-1]].after if other in waiting))
        ids = ids[ids.index(ids[-1]) :]
        lines = [find(self.file.text, ("tasks", one), value=False).line for one in ids]
        told = [f"{printable(one)} (line {line})" for one, line in zip(ids[:-1], lines[:-1], strict=True)]
        table = Table(self.file, ("tasks", ids[0]), {"after": list(waiting[ids[0]].after)})
        table.refuse("after", "found a circle: " + " comes after ".join([*told, printable(ids[-1])]))

    def window(self, table: Table, defaults: WindowSpec = _NOTHING_SAID) -> WindowSpec:
        window = WindowSpec(
            table.optional("budget", table.duration(1, duration.DAY), defaults.budget),
            table.optional(
                "reserve", table.duration(0, duration.DAY), None if "budget" in table.values else defaults.reserve
            ),
            table.optional("every", table.duration(0), defaults.every),
            table.optional("lanes", table.number(1, 1024), defaults.lanes),
            table.optional("kinds", table.choices({kind: kind for kind in KINDS}), defaults.kinds),
            table.optional("strict_fit", table.truth, defaults.strict_fit),
        )
        table.end()
        if window.reserve is not None and window.budget is not None and window.reserve > window.budget:
            table.refuse_value("reserve", "at most the budget")
        return window

    def task(self, tasks: Table, id: str, defaults: Behaviour) -> TaskSpec:
        if wrong := wrong_name("id", id):
            tasks.refuse(id, wrong, value=False)
        table = Table(self.file, ("tasks", id), tasks.values[id])
        every = table.optional("every", table.duration(1), None)
        at = table.optional("at", lambda key: self.parts(table, key, AT_ALLOWED, check_at), ())
        cron = table.optional("cron", lambda key: self.cron(table, key), None)
        after = table.optional("after", lambda key: self.after(table, key), ())
        usual_schedule = "periodic" if at or cron or every is not None else "once" if after else "standing"
        schedule = table.optional("schedule", table.choice(SCHEDULES), usual_schedule)
        expected = table.optional("expected", table.duration(0, duration.DAY), None)
        usual = Behaviour().response if expected is None else expected
        spec = TaskSpec(
            id=id,
            command=table.optional("command", table.text, None),
            kind=table.optional("kind", table.choice(KINDS), "refresh"),
            schedule=schedule,
            priority=table.optional("priority", lambda key: self.priority(table, key), 3),
            expected=expected,
            response_window=table.optional("response_window", table.number(0, 30), 3),
            delay=table.optional("delay", table.duration(), 0),
            latest_begin=table.optional("latest_begin", table.duration(1), 0),
            every=every,
            flex=table.optional("flex", table.duration(), 0),
            anchored=table.optional("anchored", table.truth, False),
            at=at,
            on=table.optional("on", lambda key: self.parts(table, key, ON_ALLOWED, check_on), ()),
            jitter=table.optional("jitter", table.part(1), 0.0),
            backoff=table.optional("backoff", table.choice(BACKOFFS), None),
            backoff_delay=table.optional("backoff_delay", table.duration(), 30 * duration.SECOND),
            max_attempts=table.optional("max_attempts", table.number(0, 2**31 - 1), 0),
            timeout=table.optional("timeout", table.duration(0, duration.DAY), 0),
            stall_limit=table.optional("stall_limit", table.duration(0, duration.DAY), 0),
            steady=table.optional("steady", table.truth, False),
            expedited=table.optional("expedited", table.truth, False),
            out_of_quota=table.optional("out_of_quota", table.choice(QUOTA_POLICIES), "ordinary"),
            group=table.optional("group", lambda key: self.group(table, key), None),
            requires=table.optional("requires", table.choices({name: name for name in CONSTRAINTS}), ()),
            tags=table.optional("tags", lambda key: self.names(table, key, "tag", 16), ()),
            conditions=table.optional("conditions", lambda key: self.names(table, key, "condition", 32), ()),
            after=after,
            after_any_end=table.optional("after_any_end", table.truth, False),
            cron=cron,
            behaviour=table.optional(
                "simulate",
                lambda key: self.task_behaviour(table, key, usual, defaults),
                replace(defaults, response=usual),
            ),
        )
        table.end()
        self.check(table, spec)
        return spec

    def check(self, table: Table, spec: TaskSpec) -> None:
        """What concerns more than one key."""
        if spec.command is not None and not spec.command.strip():
            table.refuse("command", "found an empty command; allowed is any shell command")
        self.check_calendar(table, spec)
        if spec.schedule == "periodic" and spec.every is None and not spec.at and not spec.cron:
            table.refuse(
                "schedule",
                'found a periodic task without a period; allowed is every = "DURATION", or at = "TIME"',
            )
        for key in ("every", "flex", "anchored"):
            if spec.schedule != "periodic" and key in table.values:
                table.refuse(key, f"found {key} in a task that is {spec.schedule}; it is for periodic tasks only")
        if spec.latest_begin and spec.schedule != "once":
            table.refuse(
                "latest_begin", f"found latest_begin in a task that is {spec.schedule}; it is for once tasks only"
            )
        if spec.after and spec.schedule != "once":
            table.refuse("after", f"found after in a task that is {spec.schedule}; it is for once tasks only")
        if spec.expedited and spec.schedule != "once":
            table.refuse("expedited", f"found expedited in a task that is {spec.schedule}; it is for once tasks only")
        if spec.out_of_quota == "refuse" and not spec.expedited:
            table.refuse("out_of_quota", "found out_of_quota in a task that is not expedited")
        if 0 < spec.latest_begin <= spec.delay:
            table.refuse(
                "latest_begin",
                f"found a latest_begin that is not after the delay; allowed is more than {duration.write(spec.delay)}",
            )
        if spec.every is not None and spec.flex > spec.every:
            table.refuse(
                "flex",
                f"found a flex that is longer than the period; allowed is at most every, {duration.write(spec.every)}",
            )
        if "backoff_delay" in table.values and (
            spec.backoff == "none" or (spec.backoff is None and spec.schedule == "standing")
        ):
            table.refuse(
                "backoff_delay",
                'found a backoff_delay without backoff; it is for tasks with backoff = "linear" or "exponential"',
            )

    def check_calendar(self, table: Table, spec: TaskSpec) -> None:
        """A calendar says by itself when a task is due."""
        if spec.on and not spec.at:
            table.refuse("on", "found on without at; allowed is both, or at alone for every day")
        if not spec.at and not spec.cron:
            return
        name = "cron" if spec.cron else "at"
        if spec.schedule != "periodic":
            table.refuse(name, f"found {name} in a task that is {spec.schedule}; it is for periodic tasks only")
        for key in ("at", "every", "flex", "anchored", "delay", "jitter"):
            if key in table.values and key != name:
                table.refuse(
                    key, f"found {key} beside {name}, which alone says when the task is due; allowed is one of them"
                )

    def cron(self, table: Table, key: str) -> str:
        value = table.values[key]
        if not isinstance(value, str):
            table.refuse_value(key, 'a text such as "0 3 * * mon-fri"')
        try:
            Task("checked", cron=value)
        except (ValueError, ImportError) as error:
            table.refuse(key, str(error))
        return value

    def after(self, table: Table, key: str) -> tuple[str, ...]:
        values = table.values[key]
        if isinstance(values, str):
            values = [values]
        if not isinstance(values, list) or not values or not all(isinstance(one, str) for one in values):
            table.refuse_value(key, "the id of a task of this file, or a list of such")
        if len(values) > 16:
            table.refuse(key, f"found a 17th id, {shown(values[16])}; allowed are at most 16", 16)
        return tuple(dict.fromkeys(values))

    def parts(self, table: Table, key: str, allowed: str, check: Callable[[str], object]) -> tuple[str, ...]:
        """A text of several, or a list of them."""
        value = table.values[key]
        values = value.split() if isinstance(value, str) else value
        if not isinstance(values, list) or not values:
            table.refuse_value(key, allowed)
        for index, part in enumerate(values):
            place = [] if isinstance(value, str) else [index]
            try:
                if not isinstance(part, str) or len(part.split()) != 1:
                    raise ValueError(part)
                check(part)
            except ValueError:
                table.refuse(key, f"found the {key} {shown(part)}; allowed is {allowed}", *place)
        return tuple(values)

    def priority(self, table: Table, key: str) -> int:
        value = table.values[key]
        if isinstance(value, str) and value in PRIORITIES:
            return PRIORITIES.index(value) + 1
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 5:
            table.refuse_value(key, ", ".join(PRIORITIES) + ", or 1 to 5")
        return value

    def group(self, table: Table, key: str) -> str:
        value = table.values[key]
        if wrong := wrong_name("group", value):
            table.refuse(key, wrong)
        return str(value)

    def groups(self, table: Table) -> dict[str, int]:
        """The most runs at a time of each group."""
        limits = {}
        for name in table.values:
            if wrong := wrong_name("group", name):
                table.refuse(name, wrong, value=False)
            limits[name] = table.optional(name, table.number(0, 2**31 - 1), 0)
        return limits

    def check_groups(self, limits: Mapping[str, int], tasks: Iterable[TaskSpec]) -> None:
        """A limit of a group that no task is in is mistyped."""
        known = list(dict.fromkeys(task.group for task in tasks if task.group is not None))
        for name in limits:
            if name not in known:
                others = f"there are: {', '.join(map(printable, known))}" if known else "there is none"
                table = Table(self.file, ("groups",), dict(limits))
                table.refuse(name, f"no task of this file is in the group {shown(name)}; {others}", value=False)

    def names(self, table: Table, key: str, what: str, most: int) -> tuple[str, ...]:
        """A list of tags or of conditions."""
        values = table.values[key]
        if not isinstance(values, list):
            table.refuse_value(key, "a list of texts")
        for index, name in enumerate(values):
            if wrong := wrong_name(what, name):
                table.refuse(key, wrong, index)
            if index == most:
                ordinal = "17th" if most == 16 else "33rd"
                table.refuse(key, f"found a {ordinal} {what}, {shown(name)}; allowed are at most {most}", index)
        return tuple(dict.fromkeys(values))

    def task_behaviour(self, task: Table, key: str, expected: int, defaults: Behaviour) -> Behaviour:
        table = Table(self.file, (*task.path, key), task.values[key])
        response = table.optional("response", table.duration(0, duration.DAY), expected)
        return self.behaviour(table, replace(defaults, response=response))

    def behaviour(self, table: Table, defaults: Behaviour) -> Behaviour:
        changes = table.optional("changes", table.duration(duration.SECOND), defaults.changes)
        if "no_data" in table.values:
            if "changes" in table.values:
                table.refuse("no_data", "found a no_data beside changes, which say what is new; allowed is one of them")
            changes = None
        behaviour = Behaviour(
            defaults.response,
            table.optional("jitter", table.part(10), defaults.jitter),
            table.optional("no_data", table.part(1), defaults.no_data),
            table.optional("failure", table.part(1), defaults.failure),
            table.optional("abandon", table.part(1), defaults.abandon),
            table.optional("hang", table.part(1), defaults.hang),
            changes,
        )
        table.end()
        total = behaviour.failure + behaviour.abandon + behaviour.hang
        if total > 1 + 1e-9:
            table.refuse(
                None,
                f"found probabilities whose sum is {total:g}; allowed is at most 1 for failure + abandon + hang",
                value=False,
            )
        return behaviour

    def start(self, table: Table, key: str) -> datetime:
        value = table.values[key]
        if not isinstance(value, date) or not 1970 <= value.year <= 2200:
            table.refuse_value(key, "a date from 1970 to 2200, such as 2026-01-05T00:00:00Z")
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        return datetime(value.year, value.month, value.day, tzinfo=UTC)

    def outages(self, table: Table, key: str) -> tuple[Outage, ...]:
        values = table.values[key]
        if not isinstance(values, list):
            table.refuse_value(key, "tables [[simulate.outages]]")
        return tuple(
            self.outage(Table(self.file, (*table.path, key, index), value)) for index, value in enumerate(values)
        )

    def outage(self, table: Table) -> Outage:
        for key in ("condition", "begin", "end"):
            if key not in table.values:
                table.refuse(None, f'found an outage without "{key}"; allowed is one with condition, begin and end')
        outage = Outage(
            table.optional("condition", table.choice(self.outages_of), "network"),
            table.optional("begin", lambda key: self.time_of_day(table, key), 0),
            table.optional("end", lambda key: self.time_of_day(table, key), 0),
            frozenset(table.optional("days", lambda key: self.weekdays(table, key), range(7))),
        )
        table.end()
        return outage

    def weekdays(self, table: Table, key: str) -> Iterable[int]:
        return [DAYS.index(day) for day in table.choices({day: day for day in DAYS})(key)]

    def time_of_day(self, table: Table, key: str) -> int:
        value = table.values[key]
        if isinstance(value, str):
            try:
                value = time.fromisoformat(value)
            except ValueError:
                table.refuse_value(key, "a time of day, such as 22:30")
        if not isinstance(value, time) or value.tzinfo is not None:
            table.refuse_value(key, "a time of day, such as 22:30")
        return (value.hour * 3600 + value.minute * 60 + value.second) * duration.SECOND
