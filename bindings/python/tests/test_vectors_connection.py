"""The conformance vectors, through a connection to a scheduler that is served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vectors import Player, Way, scenarios


@pytest.mark.parametrize("way", ["pulled", "called", "pushed"])
@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario["name"])
def test_l3_l6_vector(scenario: dict[str, Any], way: Way, tmp_path: Path) -> None:
    Player(scenario, way, tmp_path / "socket").play()
