"""Tasks: what goes in comes out, what is wrong is refused before anything changes."""

from __future__ import annotations

import dataclasses
import pickle
import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyselene as selene
from pyselene._time import duration_ns, instant, instant_ns, seconds, show
from pyselene.testing import VirtualClock
from rounds import rounds

SECONDS = 10 * 365 * 86_400
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=60)
durations = st.one_of(
    st.integers(0, SECONDS),
    st.floats(0, SECONDS, allow_nan=False),
    st.timedeltas(timedelta(0), timedelta(seconds=SECONDS)),
)
tasks = st.builds(
    selene.Task,
    texts,
    st.none() | texts,
    kind=st.sampled_from(selene.Kind),
    priority=st.sampled_from(selene.Priority),
    expected=st.none() | st.floats(0, 86_400),
    response_window=st.integers(0, 30),
    tags=st.lists(texts, max_size=16),
    requires=st.sets(st.sampled_from(selene.Constraint)),
    delay=durations,
    every=st.none() | st.floats(1e-9, SECONDS),
    anchored=st.booleans(),
    backoff=st.none() | st.sampled_from((selene.NoBackoff, selene.Linear, selene.Exponential)).map(lambda b: b(60)),
    max_attempts=st.none() | st.integers(1, (1 << 32) - 1),
    input=st.binary(max_size=2_000),
)


@settings(max_examples=rounds(60))
@given(tasks)
def test_a_task_comes_back_as_it_was_registered(task: selene.Task) -> None:
    with selene.Scheduler(clock=VirtualClock()) as scheduler:
        assert scheduler.register(task) is selene.Disposition.ADDED
        info = scheduler.get(task.id)
        assert info.id == task.id in scheduler
        assert info.handler == (task.handler or task.id)
        assert (info.kind, info.schedule, info.priority) == (task.kind, task.schedule, task.priority)
        assert info.expected_ns == (None if task.expected is None else duration_ns(task.expected, ""))
        assert info.delay_ns == duration_ns(task.delay, "")
        assert info.every_ns == (None if task.every is None else duration_ns(task.every, ""))
        assert (info.response_window, info.max_attempts) == (task.response_window, task.max_attempts)
        assert info.tags == frozenset(task.tags)
        assert info.requires == task.requires
        assert info.input == task.input
        assert info.anchored == task.anchored
        if task.backoff is not None:
            assert info.backoff == task.backoff
        assert scheduler.ids() == [task.id]
        for tag in task.tags:
            assert scheduler.ids(tag) == [task.id]
        assert pickle.loads(pickle.dumps(info)) == info
        assert pickle.loads(pickle.dumps(task)) == task


@given(st.integers(-(2**52), 2**52))
def test_seconds_of_whole_nanoseconds_are_exact_below_two_months(ns: int) -> None:
    assert duration_ns(seconds(ns), "") == ns
    assert show(ns)


@given(st.datetimes(datetime(1970, 1, 2), datetime(2261, 1, 1), timezones=st.just(UTC)))
def test_datetimes_are_exact_in_every_zone(value: datetime) -> None:
    zone = timezone(timedelta(hours=5, minutes=45))
    assert instant(instant_ns(value, "")) == value
    assert instant_ns(value.astimezone(zone), "") == instant_ns(value, "")


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"id": 3}, TypeError, "id must be a str"),
        ({"id": ""}, ValueError, "id"),
        ({"id": "a\0b"}, ValueError, "id"),
        ({"id": "x" * 256}, ValueError, "255"),
        ({"handler": b"h"}, TypeError, "handler"),
        ({"kind": "slow"}, ValueError, "kind is 'slow'; allowed: refresh, processing"),
        ({"kind": True}, TypeError, "kind must be"),
        ({"priority": 6}, ValueError, "priority is 6"),
        ({"priority": 2.0}, TypeError, "priority"),
        ({"priority": selene.Kind.REFRESH}, TypeError, "priority"),
        ({"expected": -1}, ValueError, "expected is -1 s; allowed: 0 … 24 h"),
        ({"expected": float("nan")}, ValueError, "finite"),
        ({"expected": Decimal(3)}, TypeError, "seconds"),
        ({"expected": True}, TypeError, "seconds"),
        ({"expected": 1e300}, ValueError, "beyond"),
        ({"expected": "5"}, TypeError, "expected"),
        ({"delay": timedelta(days=4_000)}, ValueError, "^delay is 345600000 s"),
        ({"every": 0}, ValueError, "every is 0 s; allowed: 1 ms … 10 years"),
        ({"every": 5, "flex": 6}, ValueError, "flex is 6 s; allowed: 0 … every"),
        ({"every": timedelta(microseconds=5)}, ValueError, "every is 5e-06 s; allowed: 1 ms … 10 years"),
        ({"every": 5, "flex": 5e-9}, ValueError, "flex is 5e-09 s; allowed: 0, or 1 ms … 5 s"),
        ({"delay": 6e-8}, ValueError, "delay is 6e-08 s; allowed: 0, or 1 ms … 10 years"),
        ({"every": 5, "schedule": "once"}, ValueError, "every is given"),
        ({"schedule": "periodic"}, ValueError, "every is 0 s"),
        ({"tags": ["x"] * 1 + [3]}, TypeError, "tags"),
        ({"tags": [str(i) for i in range(17)]}, ValueError, "16"),
        ({"requires": "sun"}, ValueError, "network, power"),
        ({"requires": {4.0}}, TypeError, "requires"),
        ({"response_window": 31}, ValueError, "response_window"),
        ({"max_attempts": 0}, ValueError, "max_attempts"),
        ({"max_attempts": 1.0}, TypeError, "max_attempts"),
        ({"existing": "merge"}, ValueError, "existing"),
        ({"existing": "append", "schedule": "standing"}, ValueError, "once"),
        ({"backoff": 30}, TypeError, "backoff"),
        ({"backoff": selene.Backoff(3)}, TypeError, "backoff"),
        ({"input": "text"}, TypeError, "input must be bytes"),
        ({"input": b"x" * 10_241}, ValueError, "input is 10241 bytes; allowed: 0 … 10240 bytes"),
        ({"anchored": 1}, TypeError, "anchored"),
        ({"id": "\ud800"}, ValueError, "id has"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_changes(
    fields: dict[str, Any], error: type[Exception], words: str
) -> None:
    with selene.Scheduler() as scheduler:
        with pytest.raises(error, match=words) as caught:
            scheduler.register(selene.Task(**{"id": "a", **fields}))
        assert error is not TypeError or not isinstance(caught.value, selene.SeleneError)
        assert len(scheduler) == 0


def test_what_the_library_says_comes_in_the_words_of_the_package() -> None:
    with selene.Scheduler() as scheduler:
        for call, words in (
            (lambda: scheduler.run_cycle(budget=-1), "budget is -1 s; allowed: 1 ms … 24 h"),
            (lambda: scheduler.run_cycle(budget=5, reserve=6), "reserve is 6 s; allowed: 0 … budget, or None for"),
            (lambda: scheduler.run_cycle(kinds=()), "kinds is empty; allowed: refresh, processing, or both"),
            (lambda: scheduler.close(grace=-1), "grace is -1 s; allowed: 0 … 24 h"),
            (lambda: selene.Quota("refresh", "window_time", limit=-1, period=60), "limit is -1; allowed: more than 0"),
        ):
            with pytest.raises(ValueError, match=words):
                call()
    with selene.Scheduler(max_pending_refresh=1) as scheduler:
        scheduler.enqueue("a")
        with pytest.raises(
            selene.TooManyPending, match="exceed max_pending_refresh, which is 1; with hold=True more can wait"
        ):
            scheduler.enqueue("b")


def test_of_several_refused_tasks_each_has_an_error_of_its_own() -> None:
    with selene.Scheduler() as scheduler:
        first, second = scheduler.register_all(
            [selene.Task("a", expected=-1, schedule="standing"), selene.Task("b", every=0)]
        )
        assert isinstance(first, selene.InvalidArgument)
        assert isinstance(second, selene.InvalidArgument)
        assert "every" not in first.detail
        assert second.detail == "every is 0 s; allowed: 1 ms … 10 years"


def test_a_task_is_judged_where_it_is_made() -> None:
    with pytest.raises(ValueError, match="priority"):
        selene.Task("a", priority="urgent", schedule="standing")  # type: ignore[arg-type]
    assert dataclasses.replace(selene.Task("a", every=5), priority="low").schedule is selene.Schedule.PERIODIC


def test_enqueue_at_an_instant_never_runs_before_it() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock, max_pending_refresh=None) as scheduler:
        at = clock.now + timedelta(hours=1)
        clock.advance_ns(1)  # the instant is no whole number of microseconds away
        scheduler.enqueue("a", at=at)
        assert at <= scheduler.get("a").earliest_begin < at + timedelta(microseconds=2)
        scheduler.enqueue("past", at=clock.now - timedelta(hours=1))
        assert scheduler.get("past").earliest_begin_ns == clock.now_ns
        with pytest.raises(ValueError, match="aware"):
            scheduler.enqueue("b", at=datetime(2026, 5, 1))
        with pytest.raises(ValueError, match="both"):
            scheduler.enqueue("b", at=at, delay=3)


def test_a_batch_answers_for_each() -> None:
    with selene.Scheduler(permitted=["a.*", "b"]) as scheduler:
        found = scheduler.register_all(
            [
                selene.Task("a.1", schedule="standing"),
                selene.Task("c", schedule="standing"),
                selene.Task("b", schedule="standing"),
            ]
        )
        assert found[0] == found[2] == selene.Disposition.ADDED
        assert isinstance(found[1], selene.NotPermitted)
        assert list(scheduler) == ["a.1", "b"]


def test_no_permitted_id_is_not_the_same_as_no_list() -> None:
    with selene.Scheduler(permitted=[]) as scheduler, pytest.raises(selene.NotPermitted):
        scheduler.register(selene.Task("a", schedule="standing"))


def test_errors_can_be_pickled() -> None:
    error = selene.NotFound(21, "NOT_FOUND", "no task a")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "no task a [NOT_FOUND]"
    assert isinstance(again, LookupError)


def test_existing_policies_and_cancel() -> None:
    with selene.Scheduler(max_pending_refresh=2, hold=True) as scheduler:
        assert scheduler.enqueue("a", tags="x") is selene.Disposition.ADDED
        assert scheduler.enqueue("a") is selene.Disposition.KEPT
        assert scheduler.enqueue("a", existing="append") is selene.Disposition.APPENDED
        assert scheduler.get("a", 1).state is selene.State.BLOCKED
        assert scheduler.enqueue("b") is selene.Disposition.ADDED
        assert scheduler.enqueue("c") is selene.Disposition.HELD
        assert scheduler.cancel_tag("x") == 2
        assert scheduler.get("a").state.terminal
        with pytest.raises(selene.NotFound):
            scheduler.cancel("nobody")
        assert scheduler.cancel_all() == 2
        assert scheduler.prune() == 3
        assert not list(scheduler)
        assert scheduler


def test_t4_a_refused_call_leaves_no_handler_behind() -> None:
    def handler(run: selene.Run) -> None: ...

    with selene.Scheduler(max_pending_refresh=0) as scheduler:
        with pytest.raises(selene.TooManyPending):
            scheduler.enqueue("a", handler=handler)
        with pytest.raises(selene.InvalidArgument):
            scheduler.enqueue("a", handler=handler, expected=-1)
        with pytest.raises(selene.InvalidArgument):
            scheduler.task("a", expected=-1, schedule="standing")(handler)
        assert list(scheduler.handlers) == []
        scheduler.register_handler("handler", handler)
        with pytest.raises(selene.TooManyPending):
            scheduler.enqueue("a", handler=handler)
        assert list(scheduler.handlers) == ["handler"]


@pytest.mark.parametrize(
    ("field", "advice"),
    [
        ("prioritty", "; did you mean 'priority'?"),
        ("max_retries", "; it is called 'max_attempts' here"),
        ("countdown", "; it is called 'delay' here"),
        ("xyzzy", ""),
    ],
)
def test_a_keyword_that_a_method_does_not_have_is_refused_in_its_name(field: str, advice: str) -> None:
    with selene.Scheduler() as scheduler:
        told = f"() got an unexpected keyword argument '{field}'{advice}"
        fields: Any = {field: 1}
        with pytest.raises(TypeError, match=f"^enqueue{re.escape(told)}$"):
            scheduler.enqueue("a", **fields)
        with pytest.raises(TypeError, match=f"^task{re.escape(told)}$"):
            scheduler.task("a", **fields)(lambda run: None)
        assert scheduler.ids() == []


def test_a_keyword_of_other_libraries_is_told_in_our_words() -> None:
    with selene.Scheduler() as scheduler:
        fields: Any = {"interval": 60}
        with pytest.raises(TypeError, match=r"'interval'; it is called 'every' here$"):
            scheduler.task("a", **fields)(lambda run: None)
        with pytest.raises(TypeError, match=r"'interval'; it is called 'every' here, and is for task\(\)$"):
            scheduler.enqueue("a", **fields)


def test_explain_can_be_read() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock) as scheduler:
        scheduler.set_conditions(network=False)
        scheduler.enqueue("a", delay=60, requires={"network"})
        why = scheduler.explain("a")
        assert not why.runnable
        assert {str(reason.code) for reason in why.reasons} == {"not_due", "constraints", "no_handler"}
        text = str(why)
        assert "missing: network" in text
        assert "no handler has its name, here or in a process that is connected: a" in text
        assert [reason.handler for reason in why.reasons] == [None, None, "a"]
        assert "2026-01-01 00:01:00" in text
        assert why.may_run_at is None


def test_what_only_did_not_fit_is_runnable() -> None:
    clock = VirtualClock()
    with selene.Scheduler(clock=clock, minimum_interval_processing=60) as scheduler:
        scheduler.task("first", priority="high", expected=1, schedule="standing")(lambda run: clock.advance(8))
        scheduler.task("second", expected=5, schedule="standing")(lambda run: None)
        report = scheduler.run_cycle(10, kinds="refresh")
        assert ([run.id for run in report.runs], report.did_not_fit) == (["first"], 1)
        why = scheduler.explain("second")
        assert [str(reason.code) for reason in why.reasons] == ["did_not_fit"]
        assert why.runnable
        assert why.may_run_at is None
        assert "it did not fit into the last window of its kind\n  that one had 1.5 s left" in str(why)
        assert [run.id for run in scheduler.run_cycle(10, kinds="refresh").runs] == ["second", "first"]

        scheduler.task("long", kind="processing", expected=5, schedule="standing")(lambda run: None)
        scheduler.run_cycle(1, kinds="processing", strict_fit=True)
        why = scheduler.explain("long")
        assert {str(reason.code) for reason in why.reasons} == {"did_not_fit", "too_soon"}
        assert not why.runnable
        assert why.may_run_at == clock.now + timedelta(seconds=60)


def test_a_state_and_a_disposition_compare_with_their_names() -> None:
    """As parameters take them: a comparison with a text is not silently false."""
    with selene.Scheduler() as scheduler:
        answers: list[Any] = [scheduler.enqueue("a", handler="x") for _ in range(2)]
        assert answers == ["added", "kept"]
        (task,) = scheduler.tasks(state="enqueued")
        state: Any = task.state
        assert state == "enqueued"
        assert state != "running"
        assert state == selene.State.ENQUEUED == int(state)
        assert {selene.State.ENQUEUED: 1}[state] == 1
        assert state != None  # noqa: E711
