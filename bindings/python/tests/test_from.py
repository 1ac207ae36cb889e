"""docs/from.md: its program runs, and every name that it mentions exists."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pyselene as selene
from pyselene import Run, Scheduler
from pyselene._fields import TaskRow

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs/from.md").read_text()


def test_the_programs_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 1
    for block in blocks:
        exec(compile(block, "from.md", "exec"), {})


def test_every_name_of_c_is_in_a_header() -> None:
    headers = "".join((ROOT / "include" / name).read_text() for name in ("selene.h", "selene-fleet.h"))
    names = set(re.findall(r"(?<![$\w])(?:(?:selene|SELENE)_[A-Za-z_]+[a-z]\b|SELENE_[A-Z_]+\b)", TEXT))
    assert len(names) > 30
    missing = {name for name in names if not re.search(rf"\b{name}\b", headers)}
    assert missing == set()


def test_every_name_of_python_exists() -> None:
    keywords = set(TaskRow.__dataclass_fields__)
    for method in ("enqueue", "task", "pause", "cancel_tag", "group", "set_next", "tasks", "serve"):
        keywords |= set(inspect.signature(getattr(Scheduler, method)).parameters)
    told = " ".join(re.findall(r"`([^`]+)`", TEXT))
    # What stands in the columns of pyselene: keywords, methods of a scheduler, of a run, and classes.
    for keyword in ("every", "flex", "existing", "tags", "backoff", "max_attempts", "requires", "delay", "timeout"):
        assert f"{keyword}=" in told
    for keyword in ("cron", "zone", "at", "on", "priority", "input", "jitter", "group", "kind", "on_stop", "limit"):
        assert f"{keyword}=" in told or f"`{keyword}" in TEXT
        assert keyword in keywords, keyword
    methods = (
        "run_forever run_forever_async driver enqueue output cancel_tag cancel pause resume get observe events tasks"
    )
    for method in (*methods.split(), "retry", "launch", "expire", "set_next", "group", "explain"):
        assert re.search(rf"\b{method}\b", told), method
        assert hasattr(Scheduler, method), method
    for method in re.findall(r"`run\.(\w+)", TEXT):
        assert hasattr(Run, method), method
    for name in ("Abandon", "Retry", "Exponential", "PENDING", "TooManyPending", "ImmediateRunIneligible"):
        assert hasattr(selene, name)


def column(table: str, number: int) -> str:
    """What stands in code in a column of the table below a heading."""
    rows = TEXT.split(f"## {table}\n", 1)[1].split("\n## ", 1)[0].splitlines()
    cells = [row[1:-1].split("|")[number] for row in rows if row.startswith("| ")]
    return "\n".join(code for cell in cells for code in re.findall(r"`([^`]+)`", cell))


def test_what_is_called_in_the_columns_of_pyselene_can_be_called() -> None:
    found = "".join(column(table, 2) + "\n" for table in ("WorkManager", "BGTaskScheduler"))
    found += column("APScheduler and huey", 2)
    called = set(re.findall(r"(?<![\w.])(?:(?:scheduler|run)\.)?([A-Za-z_]+)\(", found))
    assert len(called) > 30
    assert {name for name in called if not any(hasattr(one, name) for one in (Scheduler, Run, selene))} == set()
    keywords = set(re.findall(r"\b([a-z_]+)=", found))
    known = set(TaskRow.__dataclass_fields__) | {"on_stop"}
    for name in ("enqueue", "task", "pause", "cancel_tag", "group", "driver", "run_cycle", "tasks", "drain", "close"):
        known |= set(inspect.signature(getattr(Scheduler, name)).parameters)
    known |= set(inspect.signature(Scheduler).parameters) | set(inspect.signature(Run.progress).parameters)
    known |= set(inspect.signature(selene.Retry).parameters)
    assert keywords - known == set()


def test_what_is_said_of_command_lines_is_an_option_or_a_key() -> None:
    options_c = (ROOT / "bindings/c/examples/selene-run/options.c").read_text()
    found = column("cron and systemd timers", 2)
    options = set(re.findall(r"--[a-z-]+", found)) - {"--scope"}
    assert len(options) > 10
    assert {option for option in options if f'{{"{option[2:]}",' not in options_c} == set()
    keys = (ROOT / "bindings/c/examples/selene-run/keys.c").read_text()
    for key in re.findall(r"\b([a-z_]+) ?=", found):
        assert f'{{"{key}",' in keys or key in ("cron", "zone"), key
