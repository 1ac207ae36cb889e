"""A workload file: tasks whose work is a shell command, and how to simulate them.

What is wrong in a file is told with its line and column (`WorkloadProblem`).
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path as FilePath
from typing import Any, Final, NoReturn, TypeVar, cast

from . import duration
from .locate import Path, error_place, find
from .problem import Exit, Problem, WorkloadProblem

KINDS: Final = ("refresh", "processing")
SCHEDULES: Final = ("standing", "once", "periodic")
PRIORITIES: Final = ("very_low", "low", "normal", "high", "very_high")
RECURRENCES: Final = ("after_completion", "anchored")
BACKOFFS: Final = ("none", "linear", "exponential")
CONSTRAINTS: Final = ("network", "power")
DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

DEFAULT_START: Final = datetime(2026, 1, 5, tzinfo=UTC)
"""When a simulation begins by default: a Monday, always the same, so that it can be repeated."""

_LONGEST: Final = 3650 * duration.DAY
_ELSEWHERE: Final = {
    "expected_response": "expected",
    "initial_delay": "delay",
    "period": "every",
    "constraints": "requires",
    "recurrence": "anchored",
}
"""Names that these keys have in the C interface."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the runs of a simulated task do.

    Response times are drawn from a log-normal distribution.
    """

    response: int = 5 * duration.SECOND
    """Mean response time in ns."""
    jitter: float = 0.0
    """Standard deviation of the response times, as a part of their mean."""
    no_data: float = 0.0
    """Probability that a run which succeeds brings no new data."""
    failure: float = 0.0
    """Probability that a run fails."""
    abandon: float = 0.0
    """Probability that a run fails for good."""
    hang: float = 0.0
    """Probability that a run never ends by itself."""


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task of a workload; durations are in ns, None means the library's default."""

    id: str
    command: str | None = None
    kind: str = "refresh"
    schedule: str = "standing"
    priority: int = 3
    expected: int = 5 * duration.SECOND
    response_window: int = 3
    delay: int = 0
    every: int | None = None
    flex: int = 0
    anchored: bool = False
    backoff: str | None = None
    backoff_delay: int = 30 * duration.SECOND
    max_attempts: int = 0
    requires: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    behaviour: Behaviour = field(default_factory=Behaviour)


@dataclass(frozen=True, slots=True)
class Outage:
    """A part of each day in which a condition does not hold."""

    condition: str
    begin: int
    """ns since midnight."""
    end: int
    """ns since midnight; not after begin: on the next day."""
    days: frozenset[int] = frozenset(range(7))
    """On which days it begins, Monday is 0."""


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """What a file says about windows; None where it says nothing. Durations are in ns."""

    budget: int | None = None
    reserve: int | None = None
    every: int | None = None
    lanes: int | None = None
    kinds: tuple[str, ...] | None = None
    strict_fit: bool | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """What a workload file says."""

    path: str
    text: str
    tasks: tuple[TaskSpec, ...]
    window: WindowSpec = WindowSpec()
    simulated_window: WindowSpec = WindowSpec()
    """What counts in simulations."""
    seed: int | None = None
    start: datetime = DEFAULT_START
    outages: tuple[Outage, ...] = ()

    def task(self, id: str) -> TaskSpec | None:
        """The task of this id."""
        return next((task for task in self.tasks if task.id == id), None)

    def problem(self, message: str, *path: str | int, value: bool = False) -> WorkloadProblem:
        """A problem with something in this file."""
        place = find(self.text, path, value=value)
        return WorkloadProblem(self.path, self.text, place.line, place.column, message)


def load(path: str | FilePath) -> Workload:
    """Reads a workload file; ``-`` is the standard input.

    Raises:
        Problem: the file cannot be read.
        WorkloadProblem: something in it is wrong.
    """
    name = "standard input" if str(path) == "-" else str(path)
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else FilePath(path).read_bytes()
    except OSError as error:
        raise Problem(f"{name}: {error.strerror or error}", Exit.WORKLOAD) from None
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
    return _Reader(path, text).workload(document)


_T = TypeVar("_T")
_D = TypeVar("_D")


class _Table:
    """A table while it is read: knows where it is, and which keys were asked for."""

    def __init__(self, reader: _Reader, path: Path, values: object) -> None:
        self.reader, self.path = reader, path
        self.asked: list[str] = []
        if not isinstance(values, Mapping):
            self.refuse(None, f"found {_named(values)}; allowed is a table")
        self.values: Mapping[str, object] = values

    def refuse(self, key: str | None, message: str, *index: int, value: bool = True) -> NoReturn:
        path = self.path if key is None else (*self.path, key, *index)
        place = find(self.reader.text, path, value=value)
        raise WorkloadProblem(self.reader.path, self.reader.text, place.line, place.column, message)

    def refuse_value(self, key: str, allowed: str, *index: int) -> NoReturn:
        found = self.values[key]
        for step in index:
            found = cast("list[object]", found)[step]
        self.refuse(key, f"found the {key} {_shown(found)}; allowed is {allowed}", *index)

    def has(self, key: str) -> bool:
        self.asked.append(key)
        return key in self.values

    def optional(self, key: str, read: Callable[[str], _T], default: _D) -> _T | _D:
        return read(key) if self.has(key) else default

    def end(self) -> None:
        """Refuses what nobody asked for."""
        for key in self.values:
            if key not in self.asked:
                elsewhere = _ELSEWHERE.get(key)
                hint = f'"{elsewhere}" (as it is called here)' if elsewhere in self.asked else ""
                allowed = hint or ", ".join(self.asked)
                self.refuse(key, f'found the key "{key}"; allowed is {allowed}', value=False)

    def text(self, key: str) -> str:
        value = self.values[key]
        if not isinstance(value, str) or "\0" in value:
            self.refuse_value(key, "text")
        return value

    def truth(self, key: str) -> bool:
        value = self.values[key]
        if not isinstance(value, bool):
            self.refuse_value(key, "true or false")
        return value

    def choice(self, names: Collection[str]) -> Callable[[str], str]:
        def read(key: str) -> str:
            value = self.values[key]
            if not isinstance(value, str) or value not in names:
                self.refuse_value(key, ", ".join(names))
            return value

        return read

    def choices(self, names: Mapping[str, str]) -> Callable[[str], tuple[str, ...]]:
        def read(key: str) -> tuple[str, ...]:
            values = self.values[key]
            if isinstance(values, str) and values in names:
                return (names[values],)
            if not isinstance(values, list):
                self.refuse_value(key, "a list of " + ", ".join(names))
            for index, value in enumerate(values):
                if not isinstance(value, str) or value not in names:
                    self.refuse_value(key, ", ".join(names), index)
            return tuple(dict.fromkeys(names[value] for value in values))

        return read

    def number(self, least: int, greatest: int) -> Callable[[str], int]:
        def read(key: str) -> int:
            value = self.values[key]
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= greatest:
                self.refuse_value(key, f"a number from {least} to {greatest}")
            return value

        return read

    def part(self, greatest: float) -> Callable[[str], float]:
        def read(key: str) -> float:
            value = self.values[key]
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= greatest:
                self.refuse_value(key, f"a number from 0 to {greatest:g}")
            return float(value)

        return read

    def duration(self, least: int = 0, greatest: int = _LONGEST) -> Callable[[str], int]:
        def read(key: str) -> int:
            value = self.values[key]
            result = None
            if isinstance(value, str):
                try:
                    result = duration.read(value)
                except ValueError:
                    pass
            elif isinstance(value, int) and not isinstance(value, bool):
                result = value * duration.SECOND
            elif isinstance(value, float) and 0 <= value < 1e10:
                result = round(value * duration.SECOND)
            if result is None:
                self.refuse_value(key, f"seconds, or {duration.ALLOWED}")
            if not least <= result <= greatest:
                self.refuse_value(key, f"{duration.write(least)} to {duration.write(greatest)}")
            return result

        return read


def _named(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    return _shown(value)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value if len(value) <= 60 else value[:57] + "..."}"'
    if isinstance(value, Mapping):
        return "a table"
    return str(value)


class _Reader:
    """Makes a workload of what ``tomllib`` read."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    def workload(self, document: dict[str, Any]) -> Workload:
        root = _Table(self, (), document)
        window = self.window(_Table(self, ("window",), document["window"])) if root.has("window") else WindowSpec()
        simulated = window
        defaults, seed, start = Behaviour(), None, DEFAULT_START
        outages: tuple[Outage, ...] = ()
        if root.has("simulate"):
            table = _Table(self, ("simulate",), document["simulate"])
            seed = table.optional("seed", table.number(0, 2**63 - 1), None)
            start = table.optional("start", lambda key: self.start(table, key), DEFAULT_START)
            outages = table.optional("outages", lambda key: self.outages(table, key), ())
            if table.has("window"):
                simulated = self.window(_Table(self, ("simulate", "window"), table.values["window"]), window)
            defaults = self.behaviour(table, defaults)
        root.asked.append("tasks")
        root.end()
        if not document.get("tasks"):
            root.refuse(None, "found no task; allowed is at least one table [tasks.ID]")
        tasks = _Table(self, ("tasks",), document["tasks"])
        return Workload(
            self.path,
            self.text,
            tuple(self.task(tasks, name, defaults) for name in tasks.values),
            window,
            simulated,
            seed,
            start,
            outages,
        )

    def window(self, table: _Table, defaults: WindowSpec = WindowSpec()) -> WindowSpec:
        window = WindowSpec(
            table.optional("budget", table.duration(1, duration.DAY), defaults.budget),
            table.optional(
                "reserve", table.duration(0, duration.DAY), None if "budget" in table.values else defaults.reserve
            ),
            table.optional("every", table.duration(0), defaults.every),
            table.optional("lanes", table.number(1, 64), defaults.lanes),
            table.optional("kinds", table.choices({kind: kind for kind in KINDS}), defaults.kinds),
            table.optional("strict_fit", table.truth, defaults.strict_fit),
        )
        table.end()
        if window.reserve is not None and window.budget is not None and window.reserve > window.budget:
            table.refuse_value("reserve", "at most the budget")
        return window

    def task(self, tasks: _Table, id: str, defaults: Behaviour) -> TaskSpec:
        if not 1 <= len(id.encode()) <= 255 or "\0" in id:
            tasks.refuse(id, f"found the id {_shown(id)}; allowed are 1 to 255 bytes", value=False)
        table = _Table(self, ("tasks", id), tasks.values[id])
        every = table.optional("every", table.duration(1), None)
        schedule = table.optional("schedule", table.choice(SCHEDULES), "standing" if every is None else "periodic")
        expected = table.optional("expected", table.duration(0, duration.DAY), 5 * duration.SECOND)
        spec = TaskSpec(
            id=id,
            command=table.optional("command", table.text, None),
            kind=table.optional("kind", table.choice(KINDS), "refresh"),
            schedule=schedule,
            priority=table.optional("priority", lambda key: self.priority(table, key), 3),
            expected=expected,
            response_window=table.optional("response_window", table.number(0, 30), 3),
            delay=table.optional("delay", table.duration(), 0),
            every=every,
            flex=table.optional("flex", table.duration(), 0),
            anchored=table.optional("anchored", table.truth, False),
            backoff=table.optional("backoff", table.choice(BACKOFFS), None),
            backoff_delay=table.optional("backoff_delay", table.duration(), 30 * duration.SECOND),
            max_attempts=table.optional("max_attempts", table.number(0, 2**31 - 1), 0),
            requires=table.optional("requires", table.choices(_CONSTRAINT_NAMES), ()),
            tags=table.optional("tags", lambda key: self.tags(table, key), ()),
            behaviour=table.optional(
                "simulate",
                lambda key: self.task_behaviour(table, key, expected, defaults),
                _with_response(defaults, expected),
            ),
        )
        table.end()
        self.check(table, spec)
        return spec

    def check(self, table: _Table, spec: TaskSpec) -> None:
        """What concerns more than one key."""
        if spec.command is not None and not spec.command.strip():
            table.refuse("command", "found an empty command; allowed is any shell command")
        if spec.schedule == "periodic" and spec.every is None:
            table.refuse("schedule", 'found a periodic task without a period; allowed is every = "DURATION"')
        for key in ("every", "flex", "anchored"):
            if spec.schedule != "periodic" and key in table.values:
                table.refuse(
                    key, f"found {key} in a task that is {spec.schedule}; allowed is it in periodic tasks only"
                )
        if spec.every is not None and spec.flex > spec.every:
            table.refuse_value("flex", f"at most the period, {duration.write(spec.every)}")
        if "backoff_delay" in table.values and (
            spec.backoff == "none" or (spec.backoff is None and spec.schedule == "standing")
        ):
            table.refuse(
                "backoff_delay",
                'found a backoff_delay without backoff; allowed is it beside backoff = "linear" or "exponential"',
            )

    def priority(self, table: _Table, key: str) -> int:
        value = table.values[key]
        if isinstance(value, str) and value in PRIORITIES:
            return PRIORITIES.index(value) + 1
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 5:
            table.refuse_value(key, ", ".join(PRIORITIES) + ", or 1 to 5")
        return value

    def tags(self, table: _Table, key: str) -> tuple[str, ...]:
        values = table.values[key]
        if not isinstance(values, list):
            table.refuse_value(key, "a list of texts")
        for index, tag in enumerate(values):
            if not isinstance(tag, str) or not 1 <= len(tag.encode()) <= 255 or "\0" in tag:
                table.refuse(key, f"found the tag {_shown(tag)}; allowed are 1 to 255 bytes of text", index)
            if index == 16:
                table.refuse(key, f"found a 17th tag, {_shown(tag)}; allowed are at most 16", index)
        return tuple(dict.fromkeys(values))

    def task_behaviour(self, task: _Table, key: str, expected: int, defaults: Behaviour) -> Behaviour:
        table = _Table(self, (*task.path, key), task.values[key])
        response = table.optional("response", table.duration(0, duration.DAY), expected)
        return self.behaviour(table, _with_response(defaults, response))

    def behaviour(self, table: _Table, defaults: Behaviour) -> Behaviour:
        behaviour = Behaviour(
            defaults.response,
            table.optional("jitter", table.part(10), defaults.jitter),
            table.optional("no_data", table.part(1), defaults.no_data),
            table.optional("failure", table.part(1), defaults.failure),
            table.optional("abandon", table.part(1), defaults.abandon),
            table.optional("hang", table.part(1), defaults.hang),
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

    def start(self, table: _Table, key: str) -> datetime:
        value = table.values[key]
        if not isinstance(value, date) or not 1970 <= value.year <= 2200:
            table.refuse_value(key, "a date from 1970 to 2200, such as 2026-01-05T00:00:00Z")
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        return datetime(value.year, value.month, value.day, tzinfo=UTC)

    def outages(self, table: _Table, key: str) -> tuple[Outage, ...]:
        values = table.values[key]
        if not isinstance(values, list):
            table.refuse_value(key, "tables [[simulate.outages]]")
        return tuple(self.outage(_Table(self, (*table.path, key, index), value)) for index, value in enumerate(values))

    def outage(self, table: _Table) -> Outage:
        for key in ("condition", "begin", "end"):
            if key not in table.values:
                table.refuse(None, f'found an outage without "{key}"; allowed is one with condition, begin and end')
        outage = Outage(
            _CONSTRAINT_NAMES[table.optional("condition", table.choice(tuple(_CONSTRAINT_NAMES)), "network")],
            table.optional("begin", lambda key: self.time_of_day(table, key), 0),
            table.optional("end", lambda key: self.time_of_day(table, key), 0),
            frozenset(table.optional("days", lambda key: self.weekdays(table, key), range(7))),
        )
        table.end()
        return outage

    def weekdays(self, table: _Table, key: str) -> Iterable[int]:
        return [DAYS.index(day) for day in table.choices({day: day for day in DAYS})(key)]

    def time_of_day(self, table: _Table, key: str) -> int:
        value = table.values[key]
        if isinstance(value, str):
            try:
                value = time.fromisoformat(value)
            except ValueError:
                table.refuse_value(key, "a time of day, such as 22:30")
        if not isinstance(value, time) or value.tzinfo is not None:
            table.refuse_value(key, "a time of day, such as 22:30")
        return (value.hour * 3600 + value.minute * 60 + value.second) * duration.SECOND


_CONSTRAINT_NAMES: Final = {"network": "network", "power": "power", "external_power": "power"}


def _with_response(behaviour: Behaviour, response: int) -> Behaviour:
    return Behaviour(
        response,
        behaviour.jitter,
        behaviour.no_data,
        behaviour.failure,
        behaviour.abandon,
        behaviour.hang,
    )
