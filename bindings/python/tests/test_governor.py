"""The governor: profiles, decisions with their reasons, the ledger, habits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import pyselene as selene
from pyselene import Factor, Profile, Quota, Rule, Verdict
from pyselene.testing import VirtualClock

START = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(START)


@pytest.fixture
def scheduler(clock: VirtualClock) -> Any:
    with selene.Scheduler(clock=clock) as scheduler:
        yield scheduler


def test_open_grants_everything(scheduler: selene.Scheduler) -> None:
    assert scheduler.governor.profile == Profile("open")
    decision = scheduler.governor.decide("processing")
    assert decision
    assert (decision.findings, decision.longest_window, decision.score) == ((), None, 1000)
    assert str(decision) == "processing window granted: nothing stands against it"


def test_every_raised_veto_is_named_and_printed(scheduler: selene.Scheduler) -> None:
    scheduler.governor.profile = "apple"
    scheduler.signals.set("low_power_mode", True)
    scheduler.signals.set("battery_level", 150)
    scheduler.signals.set("discharging", True)
    decision = scheduler.governor.decide("refresh")
    assert not decision
    assert {finding.factor for finding in decision.vetoes} == {Factor.BATTERY, Factor.LOW_POWER_MODE}
    assert decision.ask_again_at is None
    text = str(decision)
    assert text.splitlines()[0] == (
        "refresh window refused: battery is 15 %, at least 20 % is required; low_power_mode is yes, no is required"
    )
    assert "≥ 20 %" in text
    assert "when a signal changes" in text
    assert scheduler.governor.decide("processing")


def test_the_rate_limit_says_when_to_ask_again(scheduler: selene.Scheduler, clock: VirtualClock) -> None:
    scheduler.governor.profile = "apple"
    assert scheduler.governor.decide("refresh").longest_window == 600
    scheduler.begin(30).end()
    clock.advance(60)
    decision = scheduler.governor.decide("refresh")
    assert [finding.factor for finding in decision.vetoes] == [Factor.RATE]
    assert decision.ask_again_at == START + timedelta(minutes=15)
    assert decision.vetoes[0].clears_at == decision.ask_again_at
    assert decision.vetoes[0].observed == 60 * 10**9
    assert "asking again is worth it in 14 min" in str(decision)


def test_a_profile_of_one_s_own(scheduler: selene.Scheduler) -> None:
    governor = scheduler.governor
    governor.set_profile(
        Profile(
            "open",
            threshold=700,
            rules=[
                Rule("cpu_busy", "refresh", mode="weight", required=500, weight=300),
                Rule("external_power", "processing", preempts=True),
                Rule("recent_use", mode="ignore"),
            ],
            quotas=[Quota("processing", "windows", limit=2, period=timedelta(hours=1))],
        )
    )
    scheduler.signals.set("cpu_busy", 500)
    decision = governor.decide("refresh")
    (finding,) = decision.findings
    assert (finding.verdict, finding.score, finding.weight) == (Verdict.WEIGHED, 500, 300)
    assert (decision.granted, decision.score, decision.threshold) == (False, 500, 700)
    assert decision.why == "the score is 500, 700 is required"
    assert "500 × 300" in str(decision)
    scheduler.signals.set("external_power", False)
    (veto,) = governor.decide("processing").vetoes
    assert veto.preempts
    assert governor.profile.threshold == 700


@pytest.mark.parametrize(
    "make",
    [
        lambda: Profile("phone"),
        lambda: Profile(threshold=-1),
        lambda: Profile(rules=["cpu_busy"]),  # type: ignore[list-item]
        lambda: Rule("weather"),
        lambda: Rule("rate", required="long"),  # type: ignore[arg-type]
        lambda: Rule("cpu_busy", required=0.5),
        lambda: Quota("refresh", "windows", limit=0.5, period=60),
    ],
)
def test_a_wrong_profile_is_refused_where_it_is_made(make: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        make()


def test_ranges_are_judged_by_the_library(scheduler: selene.Scheduler) -> None:
    for profile in (
        Profile(threshold=1001),
        Profile(rules=[Rule("cpu_busy", mode="weight", weight=1001)]),
        Profile(rules=[Rule("rate", preempts=True)]),
        Profile(quotas=[Quota("refresh", "windows", limit=1, period=0.5)]),
    ):
        with pytest.raises(selene.InvalidArgument):
            scheduler.governor.profile = profile
    assert scheduler.governor.profile == Profile()


def test_the_last_decision_is_kept(scheduler: selene.Scheduler) -> None:
    assert scheduler.governor.last("refresh") is None
    decision = scheduler.governor.decide("refresh")
    assert scheduler.governor.last("refresh") == decision
    assert scheduler.governor.last("processing") is None


def test_a_refusal_is_an_event_and_a_reason(scheduler: selene.Scheduler) -> None:
    scheduler.task("a", delay=0, schedule="standing")(lambda run: None)
    scheduler.governor.profile = "apple"
    scheduler.signals.set("background_switch", False)
    with scheduler.events() as events:
        scheduler.governor.decide("refresh")
        scheduler.signals.clear("background_switch")
        scheduler.governor.decide("refresh")
        found = [(str(event.type), event.detail, event.kinds) for event in events.read()]
    refresh = frozenset({selene.Kind.REFRESH})
    assert found == [("refused", Factor.BACKGROUND_SWITCH, refresh), ("granted", None, refresh)]
    scheduler.signals.set("background_switch", False)
    scheduler.governor.decide("refresh")
    explanation = scheduler.explain("a")
    assert [reason.code for reason in explanation.reasons] == [selene.ReasonCode.GOVERNOR]
    assert "the governor refused" in str(explanation)


def test_the_ledger_counts_windows_and_what_is_reported(scheduler: selene.Scheduler, clock: VirtualClock) -> None:
    scheduler.governor.profile = Profile(
        quotas=[
            Quota("refresh", "window_time", limit=60, period=3600),
            Quota("refresh", "bytes", limit=1_000, period=3600),
        ]
    )
    with scheduler.begin(30):
        clock.advance(20)
    balance = scheduler.governor.balance("refresh")
    assert (balance.spent, balance.used, balance.free) == (False, 333, 40)
    assert balance.last_begin == START
    scheduler.governor.report("refresh", cpu_time=1.5, bytes=1_000)
    balance = scheduler.governor.balance("refresh")
    assert (balance.spent, balance.used) == (True, 1000)
    assert balance.free_at is not None
    assert scheduler.governor.balance("processing").free is None
    with pytest.raises(ValueError, match="bytes"):
        scheduler.governor.report("refresh", bytes=-1)


def test_a_task_that_never_ran_may_use_the_reserve(scheduler: selene.Scheduler, clock: VirtualClock) -> None:
    scheduler.governor.profile = Profile(
        rules=[Rule("budget", "refresh")], quotas=[Quota("refresh", "window_time", limit=60, period=3600)]
    )
    with scheduler.begin(60):
        clock.advance(60)
    assert not scheduler.governor.decide("refresh")
    assert scheduler.governor.decide("refresh", never_ran=True).longest_window == 6


def test_use_makes_the_forecast(scheduler: selene.Scheduler, clock: VirtualClock) -> None:
    scheduler.governor.profile = "apple"
    for _ in range(14):
        clock.advance(timedelta(hours=20))
        scheduler.governor.used(clock.now - timedelta(minutes=30), clock.now)
        clock.advance(timedelta(hours=4))
    windows = scheduler.governor.forecast("refresh", 3)
    assert len(windows) == 3
    likely = max(windows, key=lambda window: window.probability)
    assert likely.probability > 900
    assert likely.begins_at.hour in (19, 20)
    assert likely.ends_at > likely.begins_at
    assert scheduler.governor.forecast("refresh", 0) == ()
    assert len(scheduler.governor.forecast("processing", 1_000)) <= 64
    scheduler.signals.set("background_switch", False)
    assert scheduler.governor.forecast("refresh") == ()
    with pytest.raises(selene.InvalidArgument):
        scheduler.governor.used(clock.now, clock.now - timedelta(minutes=1))


def test_habits_and_ledger_are_kept_in_the_store(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    with selene.Scheduler(path) as scheduler:
        scheduler.governor.profile = "apple"
        scheduler.begin(30).end()
        scheduler.governor.used()
        begin = scheduler.governor.balance("refresh").last_begin
    with selene.Scheduler(path) as scheduler:
        scheduler.governor.profile = "apple"
        scheduler.signals.set("discharging", False)
        assert scheduler.governor.balance("refresh").last_begin == begin
        assert scheduler.governor.decide("refresh").vetoes[0].factor is Factor.RATE


def test_what_is_in_no_book_yet_is_shown_as_nothing(scheduler: selene.Scheduler) -> None:
    scheduler.governor.profile = "apple"
    rows = {line.split()[0]: line.split()[1] for line in str(scheduler.governor.decide("refresh")).splitlines()[2:-1]}
    assert (rows["rate"], rows["use_prediction"]) == ("–", "–")
    assert rows["battery"] == "100"
