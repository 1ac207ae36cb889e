"""Tests leave nothing in the tree and take their seeds from the command line (--hypothesis-seed)."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("selene", database=None, deadline=None, print_blob=True)
settings.load_profile("selene")
