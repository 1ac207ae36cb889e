"""A once task of a workload that has ended stays so, however long ago that was (U1)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pyselene as selene
from forked import command, finished
from pyselene.cli import keep, wire
from pyselene.cli.reader import load
from pyselene.testing import VirtualClock
from test_cli import environment

DAY = 86_400

WORKLOAD = """
[tasks.first]
schedule = "once"
command = "echo first >>ran"

[tasks.fails]
schedule = "once"
max_attempts = 1
command = "echo fails >>ran; exit 1"

[tasks.behind]
after = ["first"]
schedule = "once"
command = "echo behind >>ran"
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return finished(command(*arguments), environment(), folder)


def test_u1_a_finished_once_task_does_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "work.toml").write_text(WORKLOAD)
    for _ in range(3):
        run(tmp_path, "run", "--store", "s", "--cycles", "2", "--every", "0s", "work.toml")
    assert sorted((tmp_path / "ran").read_text().split()) == ["behind", "fails", "first"]
    listed = json.loads(run(tmp_path, "list", "--store", "s", "--json").stdout)
    assert sorted(task["id"] for task in listed) == ["behind", "fails", "first"]
    # It can be asked for, and then it is to be done again.
    assert run(tmp_path, "retry", "fails", "--store", "s").returncode == 0
    run(tmp_path, "run", "--store", "s", "work.toml")
    assert (tmp_path / "ran").read_text().split().count("fails") == 2


def test_w4_u1_what_comes_after_a_task_that_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "work.toml").write_text(WORKLOAD)
    clock = VirtualClock()
    store = str(tmp_path / "s")
    work = load(tmp_path / "work.toml")
    with wire.open_scheduler(store, wire.Limits(), clock) as scheduler:
        wire.register(scheduler, work, lambda run: selene.Outcome.NEW_DATA)
        scheduler.cancel("behind")
        scheduler.run_cycle(budget=30, inline=True)
        keep.note_finished(scheduler, work)
    clock.advance(2 * DAY)
    with wire.open_scheduler(store, wire.Limits(), clock) as scheduler:
        assert not [one for one in scheduler.ids() if not keep.is_note(one)]
        assert keep.end_of(scheduler, "first") == "succeeded"
        # It is known that this has ended: the task comes after nothing any more.
        wire.register(scheduler, work, None)
        assert [info.id for info in keep.without_notes(scheduler.tasks()) if not keep.is_note(info.id)] == ["behind"]
        assert scheduler.get("behind").after == ()
    (tmp_path / "work.toml").write_text(WORKLOAD.replace('after = ["first"]', 'after = ["fails"]'))
    work = load(tmp_path / "work.toml")
    with wire.open_scheduler(str(tmp_path / "t"), wire.Limits(), clock) as scheduler:
        wire.register(scheduler, work, lambda run: selene.Outcome.ABANDONED)
        scheduler.cancel("behind")
        scheduler.run_cycle(budget=30, inline=True)
        keep.note_finished(scheduler, work)
        clock.advance(2 * DAY)
        scheduler.run_cycle(budget=30, inline=True)
        scheduler.unregister_handler(keep.handler_of(work))
        wire.register(scheduler, work, None)
        assert [one for one in scheduler.ids() if not keep.is_note(one)] == []
