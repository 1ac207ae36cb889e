"""Simulations: the real scheduler on a virtual clock, made-up work."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from itertools import pairwise
from typing import cast

import pytest

from pyselene import Explanation, Outcome, ReasonCode, Scheduler
from pyselene.cli import wire
from pyselene.cli.duration import DAY, HOUR, MINUTE, SECOND
from pyselene.cli.governed import Governance, GovernedSimulation
from pyselene.cli.reader import parse
from pyselene.cli.report.fresh import STEPS, Result, fresh, result
from pyselene.cli.report.model import Away, Fate, History, Run, Task, Window
from pyselene.cli.simulate import Actor, Simulation, Source, Weather, aways, summary
from pyselene.cli.workload import CONSTRAINTS, Behaviour, Outage

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


@pytest.mark.parametrize("name", [*CONSTRAINTS, "vpn", "signed-in"])
def test_w1_w2_an_outage_takes_any_constraint_and_any_condition_away(name: str) -> None:
    asked = f'requires = ["{name}"]' if name in CONSTRAINTS else f'conditions = ["{name}"]'
    history = play(
        f"""
        [tasks.a]
        {asked}
        [tasks.b]
        requires = {[one for one in CONSTRAINTS if one != name]}
        conditions = ["other"]
        [[simulate.outages]]
        condition = "{name}"
        begin = "10:00"
        end = "16:00"
        """
    )
    away = Away(name, MONDAY + 10 * HOUR, MONDAY + 16 * HOUR)
    assert history.away == [away]
    assert not [run for run in history.runs_by_task[0] if away.begin <= run.started_at < away.end]
    assert len(history.runs_by_task[0]) == 96 - 24
    assert history.task_sums[0].fates[Fate.CONDITIONS] == 24
    about = "external_power" if name == "power" else name
    assert spent(history, 0, "constraints" if name in CONSTRAINTS else "conditions", about) == 6 * HOUR
    # What is about a network needs one.
    assert len(history.runs_by_task[1]) == (96 - 24 if name == "network" else 96)


def test_w6_a_run_that_goes_on_tells_its_progress_and_one_that_hangs_stalls() -> None:
    text = '[tasks.a]\nstall_limit = "4s"\nsimulate = { response = "20s" }\n'
    history = play(text + '[tasks.b]\nstall_limit = "4s"\nexpected = "1s"\nsimulate = { hang = 1 }\n')
    first, second = history.runs_by_task
    assert {(run.outcome, run.took) for run in first} == {("new_data", 20 * SECOND)}
    # The grace is 5 s, but ends with the window.
    assert {(run.outcome, run.stop) for run in second} == {("expired", "stalled")}
    assert {run.took for run in second} == {9 * SECOND}


def test_w7_a_calendar_goes_by_the_zone_of_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        for zone, hour in (("Z", 3), ("+05:00", -2)):
            text = f'[simulate]\nstart = 2026-01-05T00:00:00{zone}\n[tasks.a]\nat = "03:00"\non = "mon..fri"\n'
            history = play(text + '[tasks.b]\ncron = "30 3 * * *"\n', 7)
            begins = [(run.started_at - MONDAY) / HOUR for run in history.runs_by_task[0]]
            assert begins == [day * 24 + hour for day in range(5)]
            assert [(run.started_at - MONDAY) / HOUR for run in history.runs_by_task[1]] == [
                day * 24 + hour + 0.5 for day in range(7)
            ]
    finally:
        monkeypatch.undo()
        time.tzset()


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
    if codes(why) & {ReasonCode.HELD, ReasonCode.BLOCKED}:
        return Fate.HELD
    if ReasonCode.NOT_DUE in codes(why):
        return "?"
    is_missing = codes(why) & {ReasonCode.CONSTRAINTS, ReasonCode.CONDITIONS}
    return Fate.CONDITIONS if is_missing else Fate.DID_NOT_FIT


def test_what_the_report_says_of_a_task_is_what_the_engine_explains() -> None:
    simulation = _Watched(parse(MIXED), WINDOW, wire.Limits(seed=1), 2)
    simulation.expected = []
    history = simulation.run()
    found = [window.fates.replace(Fate.NOT_DUE, "?").replace(Fate.BACKING_OFF, "?") for window in history.windows]
    assert found == simulation.expected
    assert {fate for sums in history.task_sums for fate in sums.fates} == {
        Fate.RAN, Fate.DID_NOT_FIT, Fate.CONDITIONS, Fate.BACKING_OFF, Fate.NOT_DUE, Fate.OVER,
    }  # fmt: skip


#: What else tasks can say.
WORK = """
[groups]
uploads = 1
[simulate]
jitter = 0.3
failure = 0.2
[[simulate.outages]]
condition = "idle"
begin = "08:00"
end = "18:00"
[[simulate.outages]]
condition = "vpn"
begin = "00:30"
end = "05:00"
[tasks.load]
schedule = "once"
delay = "2h"
[tasks.clean]
after = ["load"]
[tasks.send]
after = ["clean"]
after_any_end = true
conditions = ["vpn"]
[tasks.report]
after = ["clean"]
requires = ["idle", "power"]
[tasks.a]
group = "uploads"
[tasks.b]
group = "uploads"
conditions = ["vpn"]
every = "1h"
[tasks.idle]
requires = ["idle"]
stall_limit = "10s"
[tasks.late]
schedule = "once"
delay = "10h"
latest_begin = "12h"
requires = ["idle"]
[tasks.behind]
after = ["late"]
[tasks.nightly]
at = "03:00"
[tasks.first]
schedule = "once"
delay = "6h"
expedited = true
"""


def test_w1_to_w11_what_the_report_says_of_a_task_is_what_the_engine_explains() -> None:
    simulation = _Watched(parse(WORK), wire.Window(budget=30 * SECOND, every=15 * MINUTE, lanes=2),
                          wire.Limits(seed=1), 1)  # fmt: skip
    simulation.expected = []
    history = simulation.run()
    found = [window.fates.replace(Fate.NOT_DUE, "?").replace(Fate.BACKING_OFF, "?") for window in history.windows]
    assert found == simulation.expected
    names = [task.id for task in history.tasks]
    outcome = {name: [run.outcome for run in runs] for name, runs in zip(names, history.runs_by_task, strict=True)}
    assert outcome["late"] == outcome["behind"] == []
    assert outcome["report"]
    assert outcome["nightly"]
    # It is too late in the window that is open then, in which nothing happens for some seconds.
    assert 12 * HOUR < spent(history, names.index("behind"), "blocked") < 12 * HOUR + 30 * SECOND
    for task in history.tasks:
        assert sum(part.duration for part in task.spent) == DAY, task.id


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


def test_a_task_that_has_ended_may_be_forgotten_while_places_are_limited() -> None:
    history = play("[tasks.a]\nschedule = 'once'\n[tasks.b]\n", 3, places=1)
    assert history.task_sums[0].fates[Fate.OVER] == 3 * 96 - 1


# ---- sources that change -------------------------------------------------------------------------------------------

CHANGING = """
[simulate]
jitter = 0.5
failure = 0.1
hang = 0.02
changes = "90m"
[tasks.a]
priority = 5
expected = "9s"
[tasks.b]
expected = "7s"
simulate = { changes = "20m" }
[tasks.c]
expected = "14s"
simulate = { changes = "12h" }
[tasks.d]
every = "1h"
requires = ["network"]
[tasks.e]
expected = "11s"
simulate = { no_data = 0.5 }
[[simulate.outages]]
condition = "network"
begin = "01:07:03"
end = "06:30"
"""


@cache
def under(rule: str, text: str = CHANGING, days: float = 2) -> History:
    limits = wire.Limits(rule == "observed", rule == "freshness", seed=1)
    return Simulation(parse(text), WINDOW, limits, days).run()


def test_a_source_changes_as_often_as_it_says_whoever_looks() -> None:
    source = Source(HOUR, seed=3, id="a", begin=MONDAY)
    changes = source.changes(MONDAY + 1000 * DAY)
    assert len(changes) == pytest.approx(24_000, rel=0.03)
    assert list(changes) == sorted(changes)
    asked = Source(HOUR, seed=3, id="a", begin=MONDAY)
    assert asked.first_change(MONDAY) == changes[0]
    assert asked.first_change(changes[7]) == changes[8]
    assert asked.first_change(changes[2] - 1) == changes[2]
    assert asked.changes(changes[5]) == changes[:5]
    assert Source(HOUR, seed=4, id="a", begin=MONDAY).first_change(MONDAY) != changes[0]
    assert Source(HOUR, seed=3, id="b", begin=MONDAY).first_change(MONDAY) != changes[0]


@cache
def governed() -> History:
    governance = Governance("apple", "person", 10 * MINUTE)
    return GovernedSimulation(parse(CHANGING), WINDOW, wire.Limits(seed=1), 2, governance).run()


@pytest.mark.parametrize("played", [lambda: under("selene"), lambda: under("freshness"), governed])
def test_a_run_finds_something_new_just_when_its_source_has_changed(played: Callable[[], History]) -> None:
    history = played()
    for task, runs in zip(history.tasks[:4], history.runs_by_task[:4], strict=True):
        assert task.changes is not None
        fetched = history.begin
        found = [run for run in runs if run.outcome in ("new_data", "no_data")]
        for run in found:
            assert (run.outcome == "new_data") == any(fetched < at <= run.started_at for at in task.changes), task.id
            fetched = run.started_at
        assert {run.outcome for run in found} == {"new_data", "no_data"}
    assert history.tasks[4].changes is None
    assert {run.outcome for run in history.runs} >= {"new_data", "no_data", "failed"}


def test_sources_change_alike_under_each_rule() -> None:
    histories = [under(rule) for rule in wire.RULES]
    assert [history.rule for history in histories] == ["selene", "observed", "freshness"]
    assert len({tuple(task.changes for task in history.tasks) for history in histories}) == 1
    assert len({len(history.runs) for history in histories}) == 3


def test_f10_what_the_freshness_rule_has_learnt_is_told_at_the_end() -> None:
    history = under("freshness")
    for index, task in enumerate(history.tasks):
        last = [run.outcome for run in history.runs_by_task[index] if run.outcome != "stopped"][-16:]
        assert task.news == (last.count("new_data"), len(last))
        assert task.pace is not None
    paces = {task.id: task.pace for task in history.tasks}
    assert cast("int", paces["c"]) < cast("int", paces["b"])
    assert all(task.pace is None for task in under("selene").tasks)


# ---- how fresh a host is kept --------------------------------------------------------------------------------------


def held(*runs: tuple[int, int, str], changes: tuple[int, ...] | None, priority: int = 3, end: int = 100) -> History:
    """A history of one task, with runs from, to, and their outcome."""
    task = Task("a", 0, priority=priority, changes=changes)
    windows = [Window(begin, end, 10, 0, 1, 0, "r") for begin, end, _ in runs]
    made = [Run(0, number, begin, end - begin, outcome) for number, (begin, end, outcome) in enumerate(runs)]
    return History("", [task], windows, made, 0, end)


def test_what_is_held_is_as_old_as_the_begin_of_the_last_run_that_succeeded() -> None:
    found = fresh(held((20, 30, "new_data"), (50, 60, "failed"), (80, 81, "no_data"), changes=None))
    # From 0 to 30 as of 0, to 81 as of 20, to 100 as of 80.
    assert found.age == pytest.approx((30**2 / 2 + (61**2 - 10**2) / 2 + (20**2 - 1) / 2) / 100)
    assert found.oldest == 61
    assert (found.outdated, found.lateness) == (None, None)


def test_news_is_late_by_the_time_since_the_first_change_that_was_not_fetched() -> None:
    found = fresh(held((20, 30, "new_data"), (80, 90, "new_data"), changes=(10, 15, 25, 60)))
    # As of 0 outdated from 10 to 30; as of 20 from 30, since 25, to 90; as of 80 never.
    assert found.outdated == pytest.approx((20 + 60) / 100)
    assert found.lateness == pytest.approx((20**2 / 2 + (65**2 - 5**2) / 2) / 100)


def test_the_course_says_how_much_of_each_part_was_outdated() -> None:
    # As of 0 outdated from 80 to 400, as of 200 from 600 to the end; a part is 10 long.
    history = held((200, 400, "new_data"), changes=(80, 600), end=840)
    assert fresh(history).course == (0,) * 8 + (1,) * 32 + (0,) * 20 + (1,) * 24
    odd = fresh(held((203, 401, "new_data"), changes=(81, 604), end=1031))
    assert sum(odd.course) / STEPS == pytest.approx(cast("float", odd.outdated), abs=0.01)
    assert fresh(held((200, 400, "new_data"), changes=None)).course == ()


def test_figures_are_those_that_a_clock_would_have_counted() -> None:
    history = under("selene", days=0.25)
    time = age = outdated = late = known = 0
    for index, task in enumerate(history.tasks):
        fetches = [run for run in history.runs_by_task[index] if run.outcome in ("new_data", "no_data")]
        for now in range(history.begin + SECOND // 2, history.end, SECOND):
            had = max((run.started_at for run in fetches if run.ended_at <= now), default=history.begin)
            time += task.priority
            age += task.priority * (now - had)
            if task.changes is not None:
                known += task.priority
                unseen = [at for at in task.changes if had < at <= now][:1]
                outdated += task.priority * len(unseen)
                late += task.priority * sum(now - at for at in unseen)
    found = fresh(history)
    assert found.age == pytest.approx(age / time, rel=1e-3)
    assert found.outdated == pytest.approx(outdated / known, rel=1e-3)
    assert found.lateness == pytest.approx(late / known, rel=1e-3)


def test_a_priority_weighs_and_once_tasks_are_no_sources() -> None:
    one = held((20, 30, "new_data"), changes=(10,))
    tasks = [Task("a", 0, priority=1, changes=(10,)), Task("b", 0, priority=4), Task("c", 0, "refresh", "once", 5)]
    both = fresh(History("", tasks, [Window(0, 30, 30, 0, 1, 0, "rff")], one.runs, 0, 100))
    alone = fresh(one)
    assert both.age == pytest.approx((alone.age + 4 * 50) / 5)
    assert (both.outdated, both.lateness, both.oldest) == (alone.outdated, alone.lateness, 100)


def test_a_window_is_cut_once_however_many_of_its_runs_are() -> None:
    history = held((0, 10, "expired"), (20, 25, "new_data"), (40, 50, "expired"), changes=None)
    found = result(history)
    assert found == Result("selene", fresh(history), 3, 3, 2, 25, 30)
    assert found.cut == pytest.approx(2 / 3)
    assert found.part_used == pytest.approx(25 / 30)


def test_a_start_of_one_s_own_is_kept() -> None:
    history = play("[simulate]\nstart = 2027-05-01T12:00:00Z\n[tasks.a]\n", 0.1)
    assert datetime.fromtimestamp(history.begin / SECOND, UTC) == datetime(2027, 5, 1, 12, tzinfo=UTC)


# ---- where the time went -------------------------------------------------------------------------------------------


def spent(history: History, task: int, reason: str, about: str = "") -> int:
    return sum(part.duration for part in history.tasks[task].spent if (part.reason, part.about) == (reason, about))


def test_w8_all_of_each_task_s_time_is_told_and_its_runs_are_its_running() -> None:
    for history in (*(play(MIXED, seed=seed) for seed in range(4)), governed()):
        length = history.end - history.begin
        for index, (task, runs) in enumerate(zip(history.tasks, history.runs_by_task, strict=True)):
            assert sum(part.duration for part in task.spent) == length, task.id
            # A run may go on beyond the end of the report.
            busy = sum(min(run.ended_at, history.end) - run.started_at for run in runs)
            assert spent(history, index, "running") == busy, task.id


def test_w8_constraints_and_windows_take_the_time_that_they_were_away() -> None:
    history = play(MIXED + '[tasks.f]\nrequires = ["network"]\n', days=3)
    # A standing task without backoff can always run again: what it waits for is the network, else a window.
    gone = sum(away.end - away.begin for away in history.away)
    last = [task.id for task in history.tasks].index("f")
    assert spent(history, last, "constraints", "network") == gone == 3 * (5 * HOUR + 30 * MINUTE)
    first = [task.id for task in history.tasks].index("a")
    windows = [(window.began_at, window.ended_at) for window in history.windows]
    between = sum(b[0] - a[1] for a, b in pairwise(windows))
    between += windows[0][0] - history.begin + history.end - windows[-1][1]
    # A run may complete exactly at the deadline: the window of one that does not is over a nanosecond later.
    assert 0 <= between - spent(history, first, "no_window") <= history.outcomes["expired"]
    # One that has ended waits no more, and its record is forgotten a day later.
    once = [task.id for task in history.tasks].index("c")
    ended = history.runs_by_task[once][-1].ended_at
    assert spent(history, once, "terminal") == history.end - ended > DAY


def test_w8_a_period_that_is_not_due_is_told_as_such() -> None:
    history = play('[simulate]\nfailure = 0\n[tasks.a]\nevery = "2h"\n', days=1)
    runs = history.runs_by_task[0]
    assert len(runs) >= 11
    # Each is due two hours after the run before; the first at once.
    due = [history.begin] + [run.ended_at + 2 * HOUR for run in runs]
    waited = sum(
        min(at, history.end) - before for before, at in zip([run.ended_at for run in runs], due[1:], strict=True)
    )
    assert spent(history, 0, "not_due") == waited
    parts = cast("list[dict[str, object]]", cast("list[dict[str, object]]", summary(history)["tasks"])[0]["waits"])
    assert {"reason": "not_due", "about": None, "duration_ns": waited, "times": len(runs)} in parts


def test_w8_a_task_that_runs_often_in_one_window_is_told_whole() -> None:
    text = '[tasks.a]\nevery = "15s"\nsimulate = { response = "3s" }\n[tasks.b]\nevery = "3m"\ntimeout = "1m"\n'
    text += 'simulate = { hang = 0.5, response = "30s" }\n'
    window = wire.Window(budget=20 * MINUTE, every=30 * MINUTE, lanes=2)
    limits = wire.Limits(seed=1)
    history = GovernedSimulation(parse(text), window, limits, 0.25, Governance("open", "server", 10 * MINUTE)).run()
    assert any(a.window == b.window for runs in history.runs_by_task for a, b in pairwise(runs))
    for index, runs in enumerate(history.runs_by_task):
        assert sum(part.duration for part in history.tasks[index].spent) == history.end - history.begin
        busy = sum(min(run.ended_at, history.end) - run.started_at for run in runs)
        assert spent(history, index, "running") == busy
