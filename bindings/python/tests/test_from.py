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


def test_every_name_of_c_is_in_the_header() -> None:
    header = (ROOT / "include/selene.h").read_text()
    names = set(re.findall(r"\b(?:selene|SELENE)_[A-Za-z_]+[a-z]\b|\bSELENE_[A-Z_]+\b", TEXT))
    assert len(names) > 30
    missing = {name for name in names if not re.search(rf"\b{name}\b", header)}
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
    for name in ("Abandon", "Retry", "Exponential", "PENDING"):
        assert hasattr(selene, name)
