"""Simulations under a governor: the real driver on a virtual clock, a usage that moves the signals."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from pyselene import Signal
from pyselene.cli import wire
from pyselene.cli.duration import DAY, HOUR, MINUTE, SECOND
from pyselene.cli.governed import Governance, GovernedSimulation, summary_of
from pyselene.cli.reader import parse
from pyselene.cli.report.model import Fate, History
from pyselene.cli.usage import PAST, USAGES, Usage
from pyselene.cli.workload import CONSTRAINTS

MONDAY = 1_767_571_200 * SECOND

MIXED = """
[simulate]
jitter = 0.4
failure = 0.05
[[simulate.outages]]
condition = "network"
begin = "02:00"
end = "05:30"
[tasks.feed]
expected = "4s"
[tasks.mail]
every = "1h"
expected = "9s"
requires = ["network"]
[tasks.once]
schedule = "once"
[tasks.index]
kind = "processing"
every = "2h"
expected = "4m"
[tasks.backup]
kind = "processing"
expected = "8m"
requires = ["power"]
[tasks.stuck]
kind = "processing"
every = "9h"
simulate = { hang = 0.5 }
"""


def play(profile: str, usage: str = "person", days: float = 7, seed: int = 1, text: str = MIXED) -> History:
    window = wire.Window(lanes=2)
    governance = Governance(profile, usage, 10 * MINUTE)
    return GovernedSimulation(parse(text), window, wire.Limits(seed=seed), days, governance).run()


@pytest.fixture(scope="module")
def apple() -> History:
    return play("apple")


def value(usage: Usage, signal: Signal, at: int) -> int:
    return [value for begin, value in usage.tracks[signal] if begin <= at][-1]


# ---- usage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", USAGES)
def test_a_usage_is_drawn_from_its_seed(name: str) -> None:
    def draw(seed: int) -> Usage:
        return USAGES[name](MONDAY, MONDAY + 7 * DAY, 0, seed)

    usage = draw(1)
    assert usage == draw(1)
    assert usage != draw(2)
    for points in usage.tracks.values():
        times = [at for at, _ in points]
        assert times[0] == MONDAY
        assert times == sorted(set(times))
        assert times[-1] < MONDAY + 7 * DAY
        assert all(before[1] != after[1] for before, after in pairwise(points))
    assert usage.uses[0][0] < MONDAY - (PAST - 4) * DAY
    assert all(begin <= end for begin, end in usage.uses)


def test_a_person_sleeps_at_night_and_a_battery_discharges_by_day() -> None:
    usage = USAGES["person"](MONDAY, MONDAY + 28 * DAY, 0, 3)
    for day in range(28):
        assert not value(usage, Signal.USER_ACTIVE, MONDAY + day * DAY + 4 * HOUR)
    active = [at for at, on in usage.tracks[Signal.USER_ACTIVE] if on]
    assert len(active) > 200
    assert min(level for _, level in usage.tracks[Signal.BATTERY_LEVEL]) < 300
    assert any(on for _, on in usage.tracks[Signal.LOW_POWER_MODE])
    assert {on for _, on in usage.tracks[Signal.UNLOCKED]} == {0, 1}
    for at, level in usage.tracks[Signal.EXTERNAL_POWER]:
        assert value(usage, Signal.DISCHARGING, at) == 1 - level


def test_days_are_local_ones() -> None:
    here = USAGES["person"](MONDAY, MONDAY + DAY, 0, 1)
    east = USAGES["person"](MONDAY - 3 * HOUR, MONDAY + DAY - 3 * HOUR, 3 * HOUR, 1)
    assert [(at + 3 * HOUR, on) for at, on in east.tracks[Signal.USER_ACTIVE]] == here.tracks[Signal.USER_ACTIVE]


def test_an_outage_goes_before_a_usage() -> None:
    usage = Usage(0, {Signal.NETWORK: [(0, 1), (50, 0), (60, 1)]}, [])
    usage.force(Signal.NETWORK, [(10, 20), (40, 55)], 0, 1)
    assert usage.tracks[Signal.NETWORK] == [(0, 1), (10, 0), (20, 1), (40, 0), (60, 1)]
    usage.force(Signal.EXTERNAL_POWER, [(5, 7)], 0, 1)
    assert usage.tracks[Signal.EXTERNAL_POWER] == [(0, 1), (5, 0), (7, 1)]


# ---- whole simulations ---------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_history() -> None:
    history = play("apple", days=2)
    assert play("apple", days=2) == history
    assert play("apple", days=2, seed=2).runs != history.runs


def test_windows_keep_what_the_profile_demands(apple: History) -> None:
    usage = USAGES["person"](apple.begin, apple.end, 0, 1)
    last: dict[str, int] = {}
    for window in apple.windows:
        assert window.began_at - last.get(window.kind, 0) >= 15 * MINUTE
        last[window.kind] = window.began_at
        assert value(usage, Signal.UNLOCKED, window.began_at)
        if window.kind == "processing":
            assert not value(usage, Signal.USER_ACTIVE, window.began_at)
        else:
            assert not value(usage, Signal.LOW_POWER_MODE, window.began_at)
    assert Counter(window.kind for window in apple.windows)["refresh"] > 100


def test_a_user_who_comes_back_preempts(apple: History) -> None:
    stopped = [run for run in apple.runs if run.stop == "preempted"]
    assert stopped
    usage = USAGES["person"](apple.begin, apple.end, 0, 1)
    for run in stopped:
        assert apple.tasks[run.task].kind == "processing"
        assert value(usage, Signal.USER_ACTIVE, run.ended_at) or not value(usage, Signal.UNLOCKED, run.ended_at)


def test_refusals_are_no_windows_and_do_not_overlap(apple: History) -> None:
    for kind in apple.kinds:
        refusals = [refusal for refusal in apple.refusals if refusal.kind == kind]
        assert all(before.end <= after.begin for before, after in pairwise(refusals))
        for window in apple.windows:
            if window.kind == kind:
                assert not any(refusal.begin <= window.began_at < refusal.end for refusal in refusals)
    assert {"rate", "user_active"} <= {refusal.factor for refusal in apple.refusals}


def test_windows_are_of_one_kind_and_so_are_their_runs(apple: History) -> None:
    for run in apple.runs:
        assert apple.tasks[run.task].kind == apple.windows[run.window].kind
    for window in apple.windows:
        for task, fate in zip(apple.tasks, window.fates, strict=True):
            assert (fate == Fate.OTHER_KIND) == (task.kind != window.kind and fate != Fate.OVER)


def test_conditions_follow_the_signals(apple: History) -> None:
    gone = [away for away in apple.away if away.condition == "network"]
    assert any(away.begin == MONDAY + 2 * HOUR and away.end == MONDAY + 5.5 * HOUR for away in gone)
    needs = [run for run in apple.runs if "network" in apple.tasks[run.task].requires]
    assert needs
    assert not [run for run in needs if any(away.begin <= run.started_at < away.end for away in gone)]


@pytest.mark.parametrize("usage", USAGES)
@pytest.mark.parametrize("name", [*CONSTRAINTS, "vpn"])
def test_w1_w2_an_outage_takes_any_constraint_and_any_condition_away(usage: str, name: str) -> None:
    asked = f'requires = ["{name}"]' if name in CONSTRAINTS else f'conditions = ["{name}"]'
    text = f"""
        [[simulate.outages]]
        condition = "{name}"
        begin = "10:00"
        end = "16:00"
        [tasks.a]
        {asked}
        [tasks.b]
        """
    history = play("open", usage, days=1, text=text)
    begin, end = (MONDAY + hour * HOUR for hour in (10, 16))
    assert any(away.condition == name and away.begin <= begin and away.end >= end for away in history.away)
    gone = sum(away.end - away.begin for away in history.away if away.condition == name)
    about = {"power": "external_power"}.get(name, name)
    assert sum(part.duration for part in history.tasks[0].spent if part.about == about) >= gone * 9 // 10
    for away in history.away:
        if away.condition == name:
            assert not [run for run in history.runs_by_task[0] if away.begin <= run.started_at < away.end]
    assert any(begin <= run.started_at < end for run in history.runs_by_task[1])
    assert len(history.runs_by_task[0]) > 10
    for window in history.windows:
        if begin <= window.began_at < end:
            assert window.fates[0] == Fate.CONDITIONS


def test_a_server_works_at_night_and_stops_for_a_full_disk() -> None:
    history = play("server", "server")
    begins = [window.began_at - MONDAY for window in history.windows if window.kind == "processing"]
    assert any(begin // HOUR % 24 < 6 for begin in begins)
    assert "storage_free" in {refusal.factor for refusal in history.refusals}
    assert max(window.budget for window in history.windows) == 10 * MINUTE


def test_open_refuses_nothing() -> None:
    history = play("open", days=2)
    assert history.refusals == []
    told = summary_of(history)
    assert told["refused"] == {"refresh": {}, "processing": {}}
    assert told["profile"] == "open"
