"""Tests leave nothing in the tree and take their seeds from the command line (--hypothesis-seed)."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from browser import choose, find_browser
from rounds import rounds

# Whoever runs the tests may want colours of programs whose output is no terminal; typer reads this when it is imported.
for variable in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(variable, None)

# How fast examples come is the machine's affair.
settings.register_profile(
    "selene",
    max_examples=rounds(30),
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("selene")

# Shells start what runs in the background with SIGINT ignored, nohup with SIGHUP; what tests start would inherit that.
for number, usual in (
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Browsers are not of every run."""
    choose(config, items)


def pytest_configure(config: pytest.Config) -> None:
    """Names the marker."""
    config.addinivalue_line("markers", "browser: needs a browser")


@pytest.fixture(scope="session")
def browser() -> str:
    """The program, for browser.browse()."""
    return find_browser()
