"""Traces: recorded, replayed, compared."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyselene as selene
from pyselene.testing import VirtualClock


def record(path: Path) -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock) as scheduler, scheduler.record_trace(path):
        scheduler.task("a", every=600)(lambda run: clock.advance(1))
        scheduler.governor.profile = "apple"
        with scheduler.driver() as driver:
            for hour in range(24):
                scheduler.signals.set("low_power_mode", hour % 5 == 0)
                driver.run_due()
                scheduler.governor.used()
                clock.advance(3600)


def test_a_trace_decides_the_same_when_it_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "day.trace"
    record(path)
    replay = selene.replay_trace(path)
    assert replay.same
    assert replay.decisions >= 20
    record(tmp_path / "again.trace")
    assert path.read_bytes() == (tmp_path / "again.trace").read_bytes()


def test_a_difference_is_found_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "day.trace"
    record(path)
    lines = path.read_text().splitlines()
    number = next(number for number, line in enumerate(lines) if line.startswith("D "))
    words = lines[number].split(" ")
    words[4] = str(1 - int(words[4]))
    lines[number] = " ".join(words)
    path.write_text("\n".join(lines) + "\n")
    replay = selene.replay_trace(path)
    assert not replay.same
    assert replay.first_difference == number + 1


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none"
    path.write_text("hello\n")
    with pytest.raises(selene.InvalidArgument):
        selene.replay_trace(path)
    with pytest.raises(selene.StoreCannotOpen):
        selene.replay_trace(tmp_path / "missing")


def test_one_recording_at_a_time_into_a_new_file(tmp_path: Path) -> None:
    with selene.Scheduler() as scheduler:
        trace = scheduler.record_trace(tmp_path / "a")
        with pytest.raises(selene.AlreadyExists):
            scheduler.record_trace(tmp_path / "b")
        trace.stop()
        trace.stop()
        with pytest.raises(selene.AlreadyExists):
            scheduler.record_trace(tmp_path / "a")
        with scheduler.record_trace(tmp_path / "c"):
            scheduler.close()
    assert selene.replay_trace(tmp_path / "c").decisions == 0
