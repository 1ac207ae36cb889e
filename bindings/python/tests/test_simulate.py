"""Simulations: the real scheduler on a virtual clock, made-up work."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime, timedelta, timezone
from typing import cast

import pytest

from pyselene import Explanation, Outcome, ReasonCode, Scheduler
from pyselene.cli import wire
from pyselene.cli.duration import DAY, HOUR, MINUTE, SECOND
from pyselene.cli.reader import parse
from pyselene.cli.report.model import Away, Fate, History
from pyselene.cli.simulate import Actor, Simulation, Weather, aways, summary
from pyselene.cli.workload import Behaviour, Outage

MONDAY = 1_767_571_200 * SECOND
WINDOW = wire.Window(budget=30 * SECOND, every=15 * MINUTE)


def play(text: str, days: float = 1, window: wire.Window = WINDOW, seed: int = 1, places: int | None = None) -> History:
    return Simulation(parse(text), window, wire.Limits(seed=seed, max_pending_refresh=places), days).run()


MIXED = """
[simulate]
jitter = 0.4
no_data = 0.3
failure = 0.1
[[simulate.outages]]
condition = "network"
begin = "02:00"
end = "07:30"
[tasks.a]
priority = 5
expected = "9s"
[tasks.b]
every = "2h"
expected = "7s"
requires = ["network"]
max_attempts = 2
[tasks.c]
schedule = "once"
backoff_delay = "20m"
simulate = { failure = 0.8 }
[tasks.d]
kind = "processing"
expected = "25s"
[tasks.e]
expected = "11s"
backoff = "linear"
simulate = { response = "12s", hang = 0.1, failure = 0.5 }
"""


# ---- made-up work --------------------------------------------------------------------------------------------------


def test_response_times_have_the_mean_and_the_deviation_that_were_asked_for() -> None:
    actor = Actor(Behaviour(response=10 * SECOND, jitter=0.5), seed=3, id="a")
    times = [cast("int", actor.draw().takes) / SECOND for _ in range(20_000)]
    assert statistics.mean(times) == pytest.approx(10, rel=0.02)
    assert statistics.stdev(times) == pytest.approx(5, rel=0.05)
    assert min(times) > 0


def test_without_jitter_every_run_takes_the_same() -> None:
    actor = Actor(Behaviour(response=10 * SECOND), seed=3, id="a")
    assert {actor.draw().takes for _ in range(100)} == {10 * SECOND}


def test_outcomes_come_as_often_as_they_were_asked_for() -> None:
    actor = Actor(Behaviour(no_data=0.4, failure=0.2, abandon=0.1, hang=0.1), seed=5, id="a")
    draws = [actor.draw() for _ in range(20_000)]
    parts = {
        Outcome.NEW_DATA: 0.36, Outcome.NO_DATA: 0.24, Outcome.FAILED: 0.3, Outcome.ABANDONED: 0.1,
    }  # fmt: skip
    for outcome, part in parts.items():
        assert sum(draw.outcome is outcome for draw in draws) / len(draws) == pytest.approx(part, abs=0.015)
    assert sum(draw.takes is None for draw in draws) / len(draws) == pytest.approx(0.1, abs=0.01)


def test_a_task_draws_the_same_whatever_others_do_and_another_with_another_seed() -> None:
    behaviour = Behaviour(jitter=1, failure=0.5)

    def draws(seed: int, id: str) -> list[object]:
        actor = Actor(behaviour, seed, id)
        return [actor.draw() for _ in range(10)]

    assert draws(1, "a") == draws(1, "a")
    assert draws(1, "a") != draws(2, "a")
    assert draws(1, "a") != draws(1, "b")


# ---- outages -------------------------------------------------------------------------------------------------------


def spans(outages: list[Outage], days: int = 2, offset: int = 0) -> list[tuple[float, float]]:
    found = aways(outages, MONDAY, MONDAY + days * DAY, offset)
    return [((away.begin - MONDAY) / HOUR, (away.end - MONDAY) / HOUR) for away in found]


def test_an_outage_comes_every_day() -> None:
    assert spans([Outage("network", 2 * HOUR, 5 * HOUR)]) == [(2, 5), (26, 29)]


def test_an_outage_goes_over_midnight_and_is_cut_at_the_ends() -> None:
    assert spans([Outage("network", 22 * HOUR, 6 * HOUR)]) == [(0, 6), (22, 30), (46, 48)]


def test_an_outage_that_ends_when_it_begins_lasts_all_day() -> None:
    assert spans([Outage("network", 3 * HOUR, 3 * HOUR)]) == [(0, 48)]


def test_outages_that_overlap_are_one() -> None:
    assert spans([Outage("network", HOUR, 3 * HOUR), Outage("network", 2 * HOUR, 4 * HOUR)], 1) == [(1, 4)]


def test_outages_can_be_on_some_days_only() -> None:
    tuesday = Outage("power", HOUR, 2 * HOUR, frozenset({1}))
    assert spans([tuesday], 9) == [(25, 26), (193, 194)]


def test_days_are_those_of_the_start_s_time_zone() -> None:
    assert spans([Outage("network", HOUR, 2 * HOUR)], 1, offset=3 * HOUR) == [(22, 23)]
    workload = parse('[[simulate.outages]]\ncondition="network"\nbegin="01:00"\nend="02:00"\n[simulate]\n'
                     "start = 2026-01-05T00:00:00+03:00\n[tasks.a]\n")  # fmt: skip
    assert workload.start == datetime(2026, 1, 5, tzinfo=timezone(timedelta(hours=3)))
    away = Simulation(workload, WINDOW, wire.Limits(seed=1), 1).away
    assert [(part.begin - MONDAY) / HOUR for part in away] == [-2]


def test_the_weather_says_what_is_missing_and_when_that_changes() -> None:
    weather = Weather([Away("network", 10, 20), Away("power", 15, 30)])
    assert [weather.missing(at) for at in (9, 10, 15, 20, 30)] == [
        frozenset(), {"network"}, {"network", "power"}, {"power"}, frozenset(),
    ]  # fmt: skip
    assert [weather.next_edge(at) for at in (0, 10, 19)] == [10, 15, 20]
    assert weather.next_edge(30) > 1 << 62


# ---- whole simulations ---------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_history_and_another_one_another() -> None:
    assert play(MIXED) == play(MIXED)
    assert summary(play(MIXED)) == summary(play(MIXED))
    assert play(MIXED).runs != play(MIXED, seed=2).runs


def test_windows_come_as_often_as_they_were_asked_for() -> None:
    history = play(MIXED)
    assert [window.began_at - MONDAY for window in history.windows] == [n * 15 * MINUTE for n in range(96)]
    assert history.begin == MONDAY
    assert history.end == MONDAY + DAY


def test_windows_never_overlap() -> None:
    history = play(MIXED, 0.01, wire.Window(budget=MINUTE, every=SECOND))
    pairs = list(zip(history.windows, history.windows[1:], strict=False))
    assert len(pairs) == 13
    assert all(before.ended_at <= after.began_at for before, after in pairs)


def test_no_run_goes_beyond_its_window_and_lanes_are_kept() -> None:
    for lanes in (1, 3):
        history = play(MIXED, window=wire.Window(budget=30 * SECOND, every=15 * MINUTE, lanes=lanes))
        by_window: dict[int, list[tuple[int, int]]] = {}
        for run in history.runs:
            window = history.windows[run.window]
            assert window.began_at <= run.started_at
            assert run.ended_at <= window.began_at + window.budget
            by_window.setdefault(run.window, []).append((run.started_at, run.ended_at))
        at_once = max(
            sum(begin <= start < end for begin, end in times) for times in by_window.values() for start, _ in times
        )
        assert at_once == lanes


def test_what_waits_for_the_network_does_not_run_without_it() -> None:
    history = play(MIXED)
    away = history.away[0]
    assert not [run for run in history.runs if run.task == 1 and away.begin <= run.started_at < away.end]
    assert history.task_sums[1].fates[Fate.CONDITIONS] > 0


def test_a_run_that_loses_the_network_is_stopped_and_goes_on_later() -> None:
    history = play(
        """
        [tasks.a]
        requires = ["network"]
        expected = "20s"
        [[simulate.outages]]
        condition = "network"
        begin = "01:00:10"
        end = "01:20"
        """
    )
    stopped = [run for run in history.runs if run.outcome == "stopped"]
    assert [(run.started_at - MONDAY, run.took, run.stop) for run in stopped] == [
        (HOUR, 10 * SECOND, "constraint_lost")
    ]
    later = [run.started_at - MONDAY for run in history.runs if run.started_at > stopped[0].started_at]
    assert later[0] == 90 * MINUTE


def test_a_run_that_hangs_expires_at_the_deadline() -> None:
    history = play("[tasks.a]\nsimulate = { hang = 1 }")
    assert {(run.outcome, run.took) for run in history.runs} == {("expired", 30 * SECOND)}
    assert len(history.runs) == 96


def test_once_tasks_end_and_failed_ones_are_tried_again() -> None:
    history = play("[tasks.a]\nschedule = 'once'\nmax_attempts = 3\nsimulate = { failure = 1 }")
    assert [run.attempt for run in history.runs] == [1, 2, 3]
    assert history.task_sums[0].fates[Fate.OVER] == 93


def test_places_for_pending_tasks_can_be_limited() -> None:
    text = "".join(f"[tasks.t{n}]\nschedule = 'once'\n" for n in range(4))
    history = play(text, 0.1, places=1)
    assert [run.window for run in history.runs] == [0, 1, 2, 3]
    assert "".join(window.fates for window in history.windows[:4]) == "rhhhorhhoorhooor"


class _Watched(Simulation):
    """Asks the engine for its own explanation of every task after every window."""

    def _cycle(self, scheduler: Scheduler) -> object:  # type: ignore[override]
        before = {task.id: scheduler.explain(task.id) for task in self.workload.tasks}
        report = super()._cycle(scheduler)
        ran = {run.id for run in report.runs}
        left = {name for name, why in before.items() if codes(why) <= {ReasonCode.DID_NOT_FIT}} - ran
        self.expected.append("".join(fate(task.id in ran, before[task.id]) for task in self.workload.tasks))
        assert report.did_not_fit == len(left)
        return report

    expected: list[str]


def codes(why: Explanation) -> set[ReasonCode]:
    return {reason.code for reason in why.reasons}


def fate(ran: bool, why: Explanation) -> str:
    """What the engine says of a task at the begin of a window; "?" is not due, for whatever reason."""
    if ran:
        return Fate.RAN
    if ReasonCode.TERMINAL in codes(why):
        return Fate.OVER
    if ReasonCode.NOT_DUE in codes(why):
        return "?"
    return Fate.CONDITIONS if ReasonCode.CONSTRAINTS in codes(why) else Fate.DID_NOT_FIT


def test_what_the_report_says_of_a_task_is_what_the_engine_explains() -> None:
    simulation = _Watched(parse(MIXED), WINDOW, wire.Limits(seed=1), 2)
    simulation.expected = []
    history = simulation.run()
    found = [window.fates.replace(Fate.NOT_DUE, "?").replace(Fate.BACKING_OFF, "?") for window in history.windows]
    assert found == simulation.expected
    assert {fate for sums in history.task_sums for fate in sums.fates} == {
        Fate.RAN, Fate.DID_NOT_FIT, Fate.CONDITIONS, Fate.BACKING_OFF, Fate.NOT_DUE, Fate.OVER,
    }  # fmt: skip


def test_ages_are_those_of_the_engine() -> None:
    """The age before the last window, from the runs alone, is the present less the engine's last run."""
    simulation = Simulation(parse(MIXED), WINDOW, wire.Limits(seed=1), 1)
    ages: dict[str, int] = {}
    cycle = simulation._cycle

    def watched(scheduler: Scheduler) -> object:
        for task in simulation.workload.tasks:
            ages[task.id] = scheduler.now_ns - scheduler.get(task.id).last_run_ns
        return cycle(scheduler)

    simulation._cycle = watched  # type: ignore[assignment, method-assign]
    history = simulation.run()
    last = history.windows[-1].began_at
    for index, task in enumerate(history.tasks):
        mark = max(at for at in history.resets(index) if at <= last)
        assert ages[task.id] == last - mark


def test_a_start_of_one_s_own_is_kept() -> None:
    history = play("[simulate]\nstart = 2027-05-01T12:00:00Z\n[tasks.a]\n", 0.1)
    assert datetime.fromtimestamp(history.begin / SECOND, UTC) == datetime(2027, 5, 1, 12, tzinfo=UTC)
