"""The README's examples work as printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyselene as selene

if TYPE_CHECKING:
    import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_examples_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    opened = []
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        exec(compile(block, README.name, "exec"), names)
        if names["scheduler"] not in opened:
            opened.append(names["scheduler"])
    for scheduler in opened:
        assert isinstance(scheduler, selene.Scheduler)
        scheduler.close()


def test_what_the_table_names_exists() -> None:
    text = README.read_text()
    for name in re.findall(r"`selene\.(\w+)", text):
        assert hasattr(selene, name), name
    for name in re.findall(r"`(?:scheduler\.)?(run_\w+|enqueue|explain|observe|events|tasks|cancel\w*|close)\(", text):
        assert hasattr(selene.Scheduler, name), name
