"""The conformance vectors, through the public interface."""

from __future__ import annotations

from typing import Any

import pytest

from vectors import Player, scenarios


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario["name"])
def test_vector(scenario: dict[str, Any]) -> None:
    Player(scenario).play()
