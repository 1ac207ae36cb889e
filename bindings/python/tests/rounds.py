"""How much the random and the long tests play: PYSELENE_ROUNDS times the usual; `test.sh long` plays more."""

from __future__ import annotations

import os

ROUNDS = float(os.environ.get("PYSELENE_ROUNDS", "1"))


def rounds(usual: int) -> int:
    """So many, of what is usually played this often; at least 1."""
    return max(1, round(usual * ROUNDS))
