"""Whose store it is (R11)."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyselene as selene
from pyselene import Scheduler


def test_a_store_opens_under_the_name_that_it_has_or_without_one(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with Scheduler(path) as scheduler:
        assert scheduler.store().owner is None
    with Scheduler(path, owner="mail") as scheduler:
        assert scheduler.store().owner == "mail"
    with Scheduler(path) as scheduler:
        assert scheduler.store().owner == "mail"
    with pytest.raises(selene.StoreForeign, match='belongs to "mail", not to "news"'):
        Scheduler(path, owner="news")
    with Scheduler(path, owner="mail"):
        pass


def test_a_name_is_a_text_that_says_something() -> None:
    with pytest.raises(ValueError, match="owner is empty"):
        Scheduler(owner="")
    with pytest.raises(TypeError, match="owner must be a str"):
        Scheduler(owner=5)  # type: ignore[arg-type]
    with pytest.raises(selene.InvalidArgument, match="owner"):
        Scheduler(owner="n" * 256)
    with Scheduler(owner="mail") as scheduler:
        assert scheduler.store().owner is None
