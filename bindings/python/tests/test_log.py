"""R5: what the library says of itself goes to the logger "pyselene.library"."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import pyselene as selene
from pyselene import _log, _raw
from test_cli import environment, here

WAIT = 60


@pytest.fixture
def library(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What the library says meanwhile, whatever other code of this process did with its logger."""
    level, propagates, disabled = _log.logger.level, _log.logger.propagate, _log.logger.disabled
    _log.logger.setLevel(logging.NOTSET)
    _log.logger.propagate, _log.logger.disabled = True, False
    with caplog.at_level(logging.DEBUG):
        yield caplog
    _log.logger.setLevel(level)
    _log.logger.propagate, _log.logger.disabled = propagates, disabled


def said(library: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    """Levels and lines; those of other stores of this process are left out."""
    return [(record.levelno, record.getMessage()) for record in library.records if record.name == "pyselene.library"]


def test_r5_the_logger_hears_of_stores(library: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    store = tmp_path / "tasks"
    with selene.Scheduler(store), pytest.raises(selene.StoreLocked) as refused:
        selene.Scheduler(store)
    assert said(library) == [
        (logging.INFO, f'store "{store}": opened, tasks: 0'),
        (logging.ERROR, f"not opened: {refused.value.detail}"),
        (logging.INFO, f'store "{store}": closed'),
    ]
    library.clear()
    selene.salvage_store(store, tmp_path / "fresh")
    assert [level for level, _ in said(library)] == [logging.WARNING]


def test_r5_the_program_decides_what_it_hears(library: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    _log.logger.setLevel(logging.ERROR)
    with selene.Scheduler(tmp_path / "tasks"):
        pass
    assert said(library) == []
    # A level that this package does not know is no reason to be silent.
    _log.logger.setLevel(logging.NOTSET)
    _raw.selene_log_fn(_log._take)(99, b"a later version", None)
    assert said(library) == [(logging.INFO, "a later version")]


def test_r5_a_handler_that_raises_harms_nothing(
    library: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise ValueError(record.getMessage())

    broken = Broken()
    _log.logger.addHandler(broken)
    try:
        with selene.Scheduler(tmp_path / "tasks") as scheduler:
            scheduler.register(selene.Task("a", schedule="standing"))
    finally:
        _log.logger.removeHandler(broken)
    assert "a line of the library could not be logged" in library.text


def test_r5_verbose_leaves_the_logger_as_it_was(
    library: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = _log.logger.level, list(_log.logger.handlers)
    with selene.Scheduler(tmp_path / "tasks"):
        pass
    told = here("list", "--store", "tasks", "-v")
    assert f'pyselene: info: store "{tmp_path}/tasks": opened, tasks: 0\n' in told.stderr
    assert (_log.logger.level, _log.logger.handlers) == before
    assert here("list", "--store", "tasks").stderr == ""


def program(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program of its own in a folder."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(text)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
    )


def test_r5_a_program_that_does_not_ask_hears_nothing(tmp_path: Path) -> None:
    ended = program(
        """
        import pyselene
        with pyselene.Scheduler("tasks"):
            try:
                pyselene.Scheduler("tasks")
            except pyselene.StoreLocked:
                pass
        """,
        tmp_path,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_r5_what_is_closed_at_the_end_of_the_program_is_told(tmp_path: Path) -> None:
    ended = program(
        """
        import logging, sys
        logging.basicConfig(level=logging.INFO, format="%(name)s %(levelname)s %(message)s", stream=sys.stdout)
        import pyselene
        scheduler = pyselene.Scheduler("tasks")
        scheduler.register(pyselene.Task("a"))
        """,
        tmp_path,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == [
        f'pyselene.library INFO store "{tmp_path}/tasks": opened, tasks: 0',
        f'pyselene.library INFO store "{tmp_path}/tasks": closed',
    ]


def test_r5_a_forked_child_has_a_logger_of_its_own(tmp_path: Path) -> None:
    ended = program(
        """
        import logging, os, sys
        logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
        import pyselene
        child = os.fork()
        with pyselene.Scheduler("parent" if child else "child"):
            pass
        if child:
            os.waitpid(child, 0)
        """,
        tmp_path,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert sorted(ended.stdout.splitlines()) == [
        f'store "{tmp_path}/{name}": {what}' for name in ("child", "parent") for what in ("closed", "opened, tasks: 0")
    ]
