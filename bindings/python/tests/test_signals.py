"""Signals: said by the host, read from the system, unknown."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import pyselene as selene
from pyselene import Signal, Source
from pyselene.testing import VirtualClock


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def scheduler(clock: VirtualClock) -> Any:
    with selene.Scheduler(clock=clock) as scheduler:
        yield scheduler


def test_what_nobody_said_is_unknown_and_stands_for_something(scheduler: selene.Scheduler) -> None:
    found = {str(signal): reading.value for signal, reading in scheduler.signals.items()}
    assert {name for name, value in found.items() if value} == {
        "battery_level", "external_power", "unlocked", "network", "background_switch", "storage_free",
    }  # fmt: skip
    reading = scheduler.signals["battery_level"]
    assert (reading.known, reading.source, reading.set_at, reading.since, reading.until, reading.age) == (
        False, Source.UNKNOWN, None, None, None, None,
    )  # fmt: skip
    assert str(reading) == "battery_level: 100 % (unknown)"


def test_what_the_host_says_has_an_age_and_a_since(scheduler: selene.Scheduler, clock: VirtualClock) -> None:
    scheduler.signals.set("cpu_busy", 300)
    begin = clock.now
    clock.advance(5)
    scheduler.signals.set(Signal.CPU_BUSY, 300)
    clock.advance(2)
    reading = scheduler.signals[Signal.CPU_BUSY]
    assert (reading.value, reading.source, reading.age) == (300, Source.HOST, 2)
    assert reading.since == begin
    assert reading.set_at is not None
    assert (reading.set_at - begin).total_seconds() == 5


def test_what_is_said_for_a_time_expires(scheduler: selene.Scheduler, clock: VirtualClock) -> None:
    scheduler.signals.set("metered", True, valid_for=60)
    assert scheduler.signals["metered"].value == 1
    assert scheduler.signals["metered"].until is not None
    clock.advance(60)
    assert not scheduler.signals["metered"].known


def test_clear_takes_it_back(scheduler: selene.Scheduler) -> None:
    scheduler.signals.set("network", False)
    scheduler.signals.clear("network")
    assert scheduler.signals["network"].value == 1
    scheduler.signals.clear("network")


def test_levels_have_names(scheduler: selene.Scheduler) -> None:
    scheduler.signals.set("thermal", "critical")
    scheduler.signals.set("host_presence", selene.Presence.QUIT)
    assert scheduler.signals["thermal"].value == selene.Thermal.CRITICAL
    assert str(scheduler.signals["host_presence"]) == "host_presence: quit (host)"


def test_it_is_a_mapping_of_every_signal(scheduler: selene.Scheduler) -> None:
    signals = scheduler.signals
    assert len(signals) == len(list(signals)) == 22
    assert "thermal" in signals
    assert "weather" not in signals
    assert signals.get("weather") is None
    with pytest.raises(KeyError, match="allowed: battery_level"):
        signals["weather"]
    assert repr(signals) == "<Signals: none known>"


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("battery_level", 1001, selene.InvalidArgument),
        ("battery_level", 0.5, TypeError),
        ("battery_level", "half", TypeError),
        ("thermal", "hot", ValueError),
        ("weather", 1, ValueError),
        ("thermal", 1 << 70, ValueError),
    ],
)
def test_what_is_wrong_is_refused(scheduler: selene.Scheduler, name: str, value: Any, wanted: type) -> None:
    with pytest.raises(wanted):
        scheduler.signals.set(name, value)
    assert not any(reading.known for reading in scheduler.signals.values())
    with pytest.raises(ValueError, match="valid_for"):
        scheduler.signals.set("metered", 1, valid_for=0)


def test_the_system_says_what_it_can() -> None:
    with selene.Scheduler() as scheduler:
        # Needs two readings with some ticks of the clock between them.
        deadline = time.monotonic() + 10
        while (before := scheduler.signals["cpu_busy"]).source is Source.UNKNOWN and time.monotonic() < deadline:
            time.sleep(0.05)
        scheduler.signals.set("cpu_busy", 10)
        assert (before.source, scheduler.signals["cpu_busy"].source) == (Source.PROBE, Source.HOST)


def test_the_switch_and_the_presence_are_kept_in_the_store(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    with selene.Scheduler(path) as scheduler:
        scheduler.signals.set("background_switch", False)
        scheduler.signals.set("host_presence", "quit")
        scheduler.signals.set("metered", True)
    with selene.Scheduler(path) as scheduler:
        assert not scheduler.signals["background_switch"].value
        assert scheduler.signals["host_presence"].value == selene.Presence.QUIT
        assert not scheduler.signals["metered"].known


def test_a_closed_scheduler_has_no_signals() -> None:
    scheduler = selene.Scheduler()
    signals = scheduler.signals
    scheduler.close()
    with pytest.raises(selene.Closed):
        signals.set("metered", 1)
    with pytest.raises(selene.Closed):
        signals["metered"]
