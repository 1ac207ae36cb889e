"""The fields of a task, once: generate.py writes src/pyselene/_fields.py from these lists.

From a line of TASK come the keywords of @task() and enqueue(), the parameter of Task(), its check, its place in the
library's structure, and the attributes of TaskInfo that tell it; from a line of RECORD what a record has besides. What
a field means to a user stands in the docstring of Task, or here as `doc`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Type:
    """How a value comes in, goes to the library and comes back: code in which {name} and {c} are the field's names."""

    #: The annotation in Task.
    given: str
    #: The annotation in TaskInfo, and what reads it from `row`.
    told: str
    read: str = "row.{c}"
    #: Judges the value of `task`, and may put another in its place.
    check: str = ""
    #: Writes the value of `task` into `raw`.
    pack: str = "raw.{c} = task.{name}"
    #: A value for which this does not hold is not written: the library's default stands for it.
    unless: str = ""
    #: TaskInfo has it in nanoseconds, as {name}_ns, and a property {name} with this annotation and value.
    shown: str = ""
    show: str = ""


def of(given: str, name: str) -> Type:
    """A number of the library that has a name."""
    check = f'put(task, "{{name}}", {name}.of(task.{{name}}, "{{name}}"))'
    return Type(given, name, f"{name}(row.{{c}})", check)


def ns(shown: str, show: str, told: str = "int", **more: str) -> Type:
    """Nanoseconds in a record."""
    check = 'duration_ns(task.{name}, "{name}")'
    return Type("Duration", told, check=check, pack=f"raw.{{c}} = {check}", shown=shown, show=show, **more)


def optional(type: Type) -> Type:
    """The same where None stands for the library's default."""
    return replace(type, given=f"{type.given} | None", unless="task.{name} is not None")


BOOL = Type("bool", "bool", check='truth(task.{name}, "{name}")', unless="task.{name}")
NUMBER = Type("int", "int", check='whole(task.{name}, "{name}", 31)', pack="raw.{c} = said(task.{name})")
LIMIT = Type("int | None", "int | None", "row.{c} or None", 'limit(task.{name}, "{name}")', unless="task.{name}")
TEXT = Type(
    "str", "str", "text(row.{c}, row.{c}_length)", 'encode(task.{name}, "{name}")', "raw.{c} = raw_text(task.{name})"
)
DURATION = ns("float", "seconds(self.{name}_ns)")
INSTANT = ns("datetime", "instant(self.{name}_ns)")
PERIOD = replace(
    ns("float | None", "maybe_seconds(self.{name}_ns)", "int | None"),
    given="Duration | None",
    read="row.{c} if row.schedule == Schedule.PERIODIC else None",
    unless="task.{name} is not None",
)


TIMEOUT = replace(PERIOD, read="row.{c} or None")
EXPECTED = replace(
    PERIOD, read="None if row.{c} < 0 else row.{c}", pack='raw.{c} = said(duration_ns(task.{name}, "{name}"))'
)
DELAY = replace(DURATION, unless="task.{name}")
FLEX = replace(DURATION, unless="task.every is not None")
SCHEDULE = Type(
    "Schedule | ScheduleName | None",
    "Schedule",
    "Schedule(row.{c})",
    'put(task, "{name}", schedule_of(task.{name}, task.every))',
)
ANCHORED = replace(
    BOOL, read="row.{c} == _raw.SELENE_RECURRENCE_ANCHORED", pack="raw.{c} = _raw.SELENE_RECURRENCE_ANCHORED"
)
AFTER_ANY_END = replace(
    BOOL,
    read="bool(row.{c} & _raw.SELENE_TASK_AFTER_ANY_END)",
    pack="raw.{c} |= _raw.SELENE_TASK_AFTER_ANY_END",
)
STEADY = replace(BOOL, read="bool(row.{c} & _raw.SELENE_TASK_STEADY)", pack="raw.{c} |= _raw.SELENE_TASK_STEADY")
EXPEDITED = replace(
    BOOL, read="bool(row.{c} & _raw.SELENE_TASK_EXPEDITED)", pack="raw.{c} |= _raw.SELENE_TASK_EXPEDITED"
)
OUT_OF_QUOTA = Type(
    "QuotaPolicy | QuotaPolicyName",
    "QuotaPolicy",
    "QuotaPolicy(row.{c} & _raw.SELENE_TASK_REFUSE_OUT_OF_QUOTA)",
    'put(task, "{name}", QuotaPolicy.of(task.{name}, "{name}"))',
    "raw.{c} |= task.{name}",
    unless="task.{name}",
)
JITTER = Type(
    "float",
    "float",
    "row.{c} / 1000",
    'per_mille(task.{name}, "{name}")',
    'raw.{c} = per_mille(task.{name}, "{name}")',
    unless="task.{name}",
)
CALENDAR = Type(
    "str | None", "", pack="raw.recurrence = _raw.SELENE_RECURRENCE_CALENDAR", unless="task.{name} is not None"
)
BACKOFF = optional(
    Type(
        "Backoff",
        "Backoff",
        "told_backoff(row.{c}, row.{c}_delay)",
        'Backoff.check(task.{name}, "{name}")',
        "raw.{c}, raw.{c}_delay = task.{name}.policy, said(task.{name}.delay_ns)",
    )
)
TAGS = Type(
    "str | Iterable[str]",
    "frozenset[str]",
    "told_texts(row.{c}, row.tag_count)",
    'put(task, "{name}", texts(task.{name}, "{name}"))',
    'raw.{c}, raw.tag_count = raw_texts(task.{name}, "{name}"), len(task.{name})',
    unless="task.{name}",
)
GROUP = Type(
    "str | None",
    "str | None",
    "text(row.{c}, row.{c}_length) or None",
    'encode(task.{name}, "{name}")',
    "raw.{c} = raw_text(task.{name})",
    unless="task.{name} is not None",
)
CONDITIONS = Type(
    "str | Iterable[str]",
    "tuple[str, ...]",
    "told_ids(row.{c}, row.condition_count)",
    'put(task, "{name}", texts(task.{name}, "{name}"))',
    'raw.{c}, raw.condition_count = raw_texts(task.{name}, "{name}"), len(task.{name})',
    unless="task.{name}",
)
AFTER = Type(
    "str | Iterable[str]",
    "tuple[str, ...]",
    "told_ids(row.{c}, row.after_count)",
    'put(task, "{name}", texts(task.{name}, "{name}"))',
    'raw.{c}, raw.after_count = raw_texts(task.{name}, "{name}"), len(task.{name})',
    unless="task.{name}",
)
INPUT = Type(
    "bytes",
    "bytes",
    "told_bytes(row.{c}, row.{c}_length)",
    'put(task, "{name}", bytes_of(task.{name}, "{name}"))',
    # The address of the bytes of the task itself.
    "raw.{c}, raw.{c}_length = ctypes.cast(task.{name}, ctypes.c_void_p), len(task.{name})",
    unless="task.{name}",
)


@dataclass(frozen=True)
class Field:
    """A field: its name here, its type, its default in Task, its name in C, what its property in TaskInfo says."""

    name: str
    type: Type
    default: str = ""
    c: str = ""
    doc: str = ""
    #: Whether work that is to be done once has it, too (enqueue).
    once: bool = True
    #: Whether a record tells it; the library knows nothing of the others.
    kept: bool = True


TASK = (
    Field("kind", of("Kind | KindName", "Kind"), "Kind.REFRESH"),
    Field("schedule", SCHEDULE, "None", once=False),
    Field("priority", of("Priority | PriorityName | int", "Priority"), "Priority.NORMAL"),
    Field("expected", EXPECTED, "None", "expected_response", "The declared time of a run in seconds; None: not said."),
    Field("response_window", NUMBER, "3"),
    Field("tags", TAGS, "()"),
    Field("group", GROUP, "None"),
    Field("conditions", CONDITIONS, "()"),
    Field("requires", of("Requires", "Constraint"), "()", "constraints"),
    Field("existing", optional(of("Existing | ExistingName", "Existing")), "None"),
    Field("delay", DELAY, "0", "initial_delay", "The initial delay in seconds."),
    Field(
        "latest_begin",
        TIMEOUT,
        "None",
        doc="How long after its registration it may begin at the latest, in seconds; None is no limit.",
    ),
    Field("every", PERIOD, "None", "period", "The period in seconds; None unless periodic.", once=False),
    Field("flex", FLEX, "0", doc="The flex in seconds.", once=False),
    Field("anchored", ANCHORED, "False", "recurrence", once=False),
    Field("jitter", JITTER, "0"),
    Field("cron", CALENDAR, "None", once=False, kept=False),
    Field("at", CALENDAR, "None", once=False, kept=False),
    Field("on", replace(CALENDAR, pack=""), "None", once=False, kept=False),
    Field("zone", Type("str | tzinfo | None", "", pack=""), "None", once=False, kept=False),
    Field("backoff", BACKOFF, "None"),
    Field("max_attempts", LIMIT, "None"),
    Field("timeout", TIMEOUT, "None", doc="The longest that a run may take, in seconds; None is no limit."),
    Field(
        "stall_limit",
        TIMEOUT,
        "None",
        doc="The longest that a run may tell no progress, in seconds; None is no limit.",
    ),
    Field("steady", STEADY, "False", "flags"),
    Field("expedited", EXPEDITED, "False", "flags"),
    Field("out_of_quota", OUT_OF_QUOTA, "QuotaPolicy.ORDINARY", "flags"),
    Field("after", AFTER, "()"),
    Field("after_any_end", AFTER_ANY_END, "False", "flags"),
    Field("input", INPUT, 'b""'),
    Field("args", Type("Iterable[Any]", "", pack=""), "()", kept=False),
    Field("kwargs", Type("Mapping[str, Any] | None", "", pack=""), "None", kept=False),
)

RECORD = (
    Field("has_handler", replace(BOOL, read="bool(row.{c})")),
    Field("state", of("", "State")),
    Field("attempts", NUMBER),
    Field("last_outcome", Type("", "Outcome | None", "None if row.{c} < 0 else Outcome(row.{c})")),
    Field("stop_reason", of("", "StopReason")),
    Field(
        "last_failure",
        Type(
            "",
            "LastFailure | None",
            "told_failure(row.failed_at, row.failed_attempt, row.failure, row.failure_length)",
        ),
    ),
    Field("generation", NUMBER),
    Field("sequence", NUMBER),
    Field("appended", NUMBER),
    Field("registered_at", INSTANT, doc="When it was registered."),
    Field("earliest_begin", INSTANT, doc="Before this it will not run."),
    Field("anchor", INSTANT, doc="Its first earliest begin, where the grid of an anchored period begins."),
    Field("last_run", INSTANT, doc="The instant its age counts from: the end of its last run, or its registration."),
    Field("estimate", DURATION, doc="What a run is expected to take now, in seconds."),
    Field("run", NUMBER),
    Field("by_calendar", replace(BOOL, read="row.recurrence == _raw.SELENE_RECURRENCE_CALENDAR")),
    Field("calendar", Type("", "Calendar | None", "None")),
    Field("paused", replace(BOOL, read="bool(row.{c})")),
    Field(
        "progress",
        Type(
            "",
            "Progress | None",
            "told_progress(row.progress_at, row.progress_done, row.progress_total, "
            "row.progress_text, row.progress_text_length)",
        ),
    ),
    Field("output_length", NUMBER),
    Field("output_lost", NUMBER),
    Field("quarantined", NUMBER),
    Field("waits_for", Type("", "tuple[str, ...]", "told_waits(row.after, row.after_count, row.waits_for)")),
    Field(
        "response_times",
        Type("", "tuple[int, ...]", "times", shown="tuple[float, ...]", show="tuple(map(seconds, self.{name}_ns))"),
        doc="The last response times in seconds, oldest first, at most 30.",
    ),
)

HEAD = '''\
"""The fields of a task, written by tools/generate.py from tools/fields.py; see _task.py."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, TypedDict

from . import _raw
from ._calendar import Calendar
from ._conditions import Constraint, Requires
from ._failure import LastFailure, told_failure
from ._library import encode, text
from ._names import said, texts, truth, whole
from ._progress import Progress, told_progress
from ._run import Kind, KindName, Outcome, Priority, PriorityName, StopReason
from ._terms import (
    Backoff,
    Existing,
    ExistingName,
    QuotaPolicy,
    QuotaPolicyName,
    Schedule,
    ScheduleName,
    State,
    bytes_of,
    limit,
    per_mille,
    raw_text,
    raw_texts,
    schedule_of,
    told_backoff,
    told_bytes,
    told_ids,
    told_info,
    told_texts,
    told_waits,
)
from ._time import Duration, duration_ns, instant, maybe_seconds, seconds

'''


def _code(field: Field, text: str) -> str:
    return text.format(name=field.name, c=field.c or field.name)


def _told(field: Field) -> str:
    return f"{field.name}_ns" if field.type.shown else field.name


def _keywords(name: str, base: str, doc: str, *given: str) -> list[str]:
    return ["", f"class {name}({base}, total=False):", f'    """{doc}"""', "", *(f"    {line}" for line in given), ""]


def _given(field: Field) -> str:
    return f"{field.name}: {field.type.given}"


def generate() -> str:
    """The text of the module."""
    doc = "The keywords of work that is to be done once; Task tells what each means."
    told = [f for f in (*TASK, *RECORD) if f.kept]
    lines = _keywords("OnceFields", "TypedDict", doc, *(_given(f) for f in TASK if f.once))
    doc = "The keywords of a task; Task tells what each means."
    lines += _keywords("TaskFields", "OnceFields", doc, "handler: str | None", *(_given(f) for f in TASK if not f.once))
    lines += ["", "@dataclass(frozen=True, slots=True)", "class TaskRow:", '    """What a task is, as declared."""', ""]
    lines += ["    id: str", "    handler: str | None = None"]
    lines += [f"    {_given(f)} = field(default={f.default}, kw_only=True)" for f in TASK]
    lines += ["", "", "def check(task: TaskRow) -> None:"]
    lines += ['    """Judges the types, so that a mistake shows where it is made; ranges are judged by the engine."""']
    lines += ["    put = object.__setattr__", '    encode(task.id, "id")']
    lines += ["    if task.handler is not None:", '        encode(task.handler, "handler")']
    for f in (f for f in TASK if f.type.check):
        if "None" in f.type.given and "is not None" in f.type.unless:
            lines += [_code(f, "    if task.{name} is not None:"), "        " + _code(f, f.type.check)]
        else:
            lines.append("    " + _code(f, f.type.check))
    lines += [
        "",
        "",
        "def pack(raw: Any, task: Any) -> None:",
        '    """Writes a task into the library\'s structure."""',
    ]
    lines += ["    raw.id = raw_text(task.id)", "    if task.handler is not None:"]
    lines += ["        raw.handler = raw_text(task.handler)"]
    for f in (f for f in TASK if f.type.pack):
        packed = _code(f, f.type.pack)
        lines += [_code(f, f"    if {f.type.unless}:"), "        " + packed] if f.type.unless else ["    " + packed]
    lines += ["", "", "@dataclass(frozen=True, slots=True)", "class TaskInfo:"]
    lines += [
        '    """A task\'s record: definition, state, history. Instants and durations also exist exactly, as `…_ns`."""'
    ]
    lines += ["", "    id: str", "    handler: str"]
    lines += [f"    {_told(f)}: {f.type.told}" for f in told]
    lines += ["", "    def __str__(self) -> str:", "        return told_info(self)"]
    for f in told:
        if f.type.shown:
            lines += ["", "    @property", f"    def {f.name}(self) -> {f.type.shown}:"]
            lines += [f'        """{f.doc}"""', "        return " + _code(f, f.type.show)]
    lines += ["", "", "def told(row: _raw.selene_task_info_row, times: tuple[int, ...]) -> TaskInfo:"]
    lines += ['    """The library\'s record, of its fields and response times."""', "    return TaskInfo("]
    lines += ["        text(row.id, row.id_length),", "        text(row.handler, row.handler_length),"]
    lines += [f"        {_code(f, f.type.read)}," for f in told]
    return HEAD + "\n".join([*lines, "    )", ""])
