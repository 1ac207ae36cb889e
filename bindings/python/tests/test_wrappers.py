"""Any value given to the wrappers is taken exactly or refused with a reason, and random work goes as a model says."""

from __future__ import annotations

import asyncio
import math
import pickle
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

import pyselene as selene
from pyselene import _callbacks
from pyselene._time import duration_ns, instant_ns
from pyselene.testing import VirtualClock
from rounds import rounds

#: What somebody may pass by mistake.
junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 70),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.timedeltas(),
    st.datetimes(),
    st.decimals(),
    st.sampled_from([*selene.Kind, *selene.Priority, *selene.Existing, *selene.Constraint, selene.Linear(40)]),
    st.lists(st.sampled_from(["refresh", "processing", "network", "x", 3, None]), max_size=3),
    st.builds(object),
)


def refused(call: Any) -> bool:
    """Whether it was refused, which is always told by a TypeError or ValueError that says why."""
    try:
        call()
    except TypeError as error:
        assert "must" in str(error)
        return True
    except selene.InvalidArgument as error:
        assert error.detail
        assert "allowed" in error.detail or " is " in error.detail, error.detail
        return True
    except ValueError as error:
        assert str(error)
        return True
    except selene.Unsupported as error:
        assert error.detail
        return True
    return False


FIELDS = [
    "handler", "kind", "schedule", "priority", "expected", "response_window", "tags", "requires", "existing", "delay",
    "every", "flex", "anchored", "backoff", "max_attempts", "input",
]  # fmt: skip


@settings(max_examples=rounds(50))
@given(st.dictionaries(st.sampled_from(["id", *FIELDS]), junk, max_size=3))
def test_a_task_of_anything_is_registered_or_refused_and_nothing_changes(fields: dict[str, Any]) -> None:
    with selene.Scheduler(clock=VirtualClock()) as scheduler:
        scheduler.task("there", schedule="standing")(lambda run: None)
        before = scheduler.get("there")
        if refused(lambda: scheduler.register(selene.Task(**{"id": "a", **fields}))):
            assert scheduler.ids() == ["there"]
            assert scheduler.get("there") == before
            assert scheduler.handlers == ("there",)


@settings(max_examples=rounds(30))
@given(st.dictionaries(st.sampled_from([*FIELDS, "at", "push", "on_stop"]), junk, max_size=2))
def test_a_decorator_that_is_refused_registers_no_handler(fields: dict[str, Any]) -> None:
    others = set(_callbacks._objects)  # which may still go
    with selene.Scheduler(clock=VirtualClock()) as scheduler:
        fields.pop("at", None)
        try:
            scheduler.task("a", **fields)(lambda run: None)
        except (TypeError, ValueError):
            assert scheduler.handlers == ()
            assert scheduler.ids() == []
    assert not _callbacks._objects.keys() - others


@settings(max_examples=rounds(50))
@given(
    st.dictionaries(
        st.sampled_from(["budget", "kinds", "reserve", "lanes", "strict_fit", "task"]), junk, min_size=1, max_size=3
    )
)
def test_a_window_of_anything_is_opened_or_refused_and_nothing_runs(fields: dict[str, Any]) -> None:
    ran: list[selene.Run] = []
    with selene.Scheduler(clock=VirtualClock()) as scheduler:
        scheduler.task("a", expected=0, schedule="standing")(ran.append)
        for call in (scheduler.plan, scheduler.begin, scheduler.run_cycle):
            ran.clear()
            try:
                if refused(lambda call=call: call(**fields)):
                    assert ran == []
                    assert scheduler.info().dispatched == 0
                    scheduler.begin().end()  # none was left open
            except selene.ImmediateRunIneligible:
                assert fields["task"] != "a"
            except selene.NotFound:
                assert fields["task"] != "a"
            except selene.Busy:
                pass  # begin() above left its cycle open


@settings(max_examples=rounds(30))
@given(
    st.dictionaries(
        st.sampled_from([
            "path", "permitted", "max_pending_refresh", "max_pending_processing", "minimum_backoff", "maximum_backoff",
            "minimum_interval_refresh", "minimum_interval_processing", "release_after", "backoff_jitter",
            "max_overrun_threads", "max_overrun_per_handler", "stop_grace", "crash_pause", "seed", "max_input_size",
            "clock", "executor",
        ]),
        junk,
        min_size=1,
        max_size=2,
    ),
)  # fmt: skip
def test_a_scheduler_of_anything_is_opened_or_refused(fields: dict[str, Any]) -> None:
    others = set(_callbacks._objects)  # which may still go
    if isinstance(fields.get("path"), (str, bytes)):
        del fields["path"]  # a file of any name would be made
    found: list[selene.Scheduler] = []
    if not refused(lambda: found.append(selene.Scheduler(**fields))):
        found[0].task("a")(lambda run: None) if fields.get("permitted") is None else None
        found[0].close()
    assert not _callbacks._objects.keys() - others


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-9e9, max_value=9e9))
def test_seconds_are_the_nearest_nanosecond(value: float) -> None:
    assert abs(duration_ns(value, "") - Fraction(value) * 10**9) <= Fraction(1, 2)


@given(st.timedeltas(timedelta(days=-100_000), timedelta(days=100_000)))
def test_a_timedelta_is_exact(value: timedelta) -> None:
    assert duration_ns(value, "") == Fraction(value // timedelta(microseconds=1)) * 1_000


@given(st.one_of(st.floats(), st.integers(), st.timedeltas(), st.decimals(), st.text(max_size=3), st.none()))
def test_any_duration_is_a_number_that_fits_or_refused(value: Any) -> None:
    try:
        found = duration_ns(value, "delay")
    except TypeError as error:
        assert not isinstance(value, (int, float, timedelta))
        assert "delay must be seconds" in str(error)
    except ValueError as error:
        assert "delay" in str(error)
        number = value.total_seconds() if isinstance(value, timedelta) else value
        assert not (math.isfinite(number) and abs(number) < 9e9)
    else:
        assert -(1 << 63) < found < 1 << 63


@given(st.datetimes(), st.sampled_from([None, UTC]))
def test_an_instant_is_aware_or_refused(value: datetime, zone: Any) -> None:
    value = value.replace(tzinfo=zone)
    try:
        found = instant_ns(value, "at")
    except ValueError as error:
        assert "at" in str(error)
        assert zone is None or not 1678 < value.year < 2262
    else:
        assert found == (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1_000


@pytest.mark.parametrize("bad", [-1, math.inf, "5", True, Decimal(3), None])
def test_every_duration_of_the_interface_is_judged(bad: Any) -> None:
    """Where None has a meaning, or nothing is too small, it is left out."""
    with selene.Scheduler() as scheduler:
        scheduler.task("a", schedule="standing")(lambda run: None)
        calls = {
            "budget": lambda: scheduler.run_cycle(bad),
            "budget of begin": lambda: scheduler.begin(bad),
            "budget of a plan": lambda: scheduler.plan(bad),
            "budget, asyncio": lambda: asyncio.run(scheduler.run_cycle_async(bad)),
            "budget of a driver": lambda: scheduler.run_forever(bad),
            "every": lambda: scheduler.run_forever(every=bad),
            "reserve": lambda: scheduler.run_cycle(reserve=bad),
            "delay": lambda: scheduler.enqueue("b", delay=bad),
            "grace": lambda: scheduler.close(bad),
            "release_after": lambda: selene.Scheduler(release_after=bad),
            "after": lambda: selene.Retry(bad),
        }
        for name, call in calls.items():
            if bad is None and name in ("budget of a driver", "every", "reserve", "after"):
                continue
            if bad == -1 and name == "after":
                continue
            with pytest.raises((TypeError, ValueError)):
                call()  # type: ignore[no-untyped-call]
        assert not scheduler.closed
        assert scheduler.ids() == ["a"]
        assert scheduler.info().dispatched == 0


class Model(RuleBasedStateMachine):
    """Once tasks on a virtual clock against a dictionary: states, attempts, dates, tags, what a window runs."""

    names = Bundle("names")

    def __init__(self) -> None:
        super().__init__()
        self.clock = VirtualClock()
        self.scheduler = selene.Scheduler(clock=self.clock, max_pending_refresh=None, minimum_backoff=0)
        self.records: dict[str, dict[str, Any]] = {}
        self.ran: list[str] = []
        self.answers: dict[str, str] = {}
        self.scheduler.register_handler("work", self.work)

    def work(self, run: selene.Run) -> Any:
        """The handler."""
        self.ran.append(run.id)
        assert run.attempt == self.records[run.id]["attempts"] + 1
        assert run.input == self.records[run.id]["input"]
        answer = self.answers.get(run.id, "ok")
        if answer == "fails":
            raise selene.Retry
        if answer == "later":
            raise selene.Retry(after=100)
        if answer == "never":
            raise selene.Abandon
        return answer == "ok"

    def live(self, name: str) -> bool:
        """Whether it may still run."""
        return name in self.records and self.records[name]["state"] == "enqueued"

    @initialize(target=names, name=st.sampled_from("abc"))
    def first(self, name: str) -> str:
        """There is something from the begin."""
        self.enqueue(name, 0, set(), selene.Existing.KEEP, b"")
        return name

    @rule(
        target=names,
        name=st.sampled_from("abcdef"),
        delay=st.sampled_from([0, 1, 50]),
        tags=st.sets(st.sampled_from("xyz")),
        existing=st.sampled_from([selene.Existing.KEEP, selene.Existing.REPLACE, selene.Existing.UPDATE]),
        data=st.binary(max_size=3),
    )
    def enqueue(self, name: str, delay: int, tags: set[str], existing: selene.Existing, data: bytes) -> str:
        """Registers it."""
        found = self.scheduler.enqueue(
            name, handler="work", delay=delay, tags=tags, existing=existing, input=data, expected=0,
            backoff=selene.Linear(10), max_attempts=3,
        )  # fmt: skip
        now = self.clock.now_ns
        fresh = {
            "state": "enqueued", "attempts": 0, "registered": now, "earliest": now + delay * 10**9, "tags": tags,
            "input": data, "outcome": None,
        }  # fmt: skip
        if not self.live(name):
            assert found is selene.Disposition.ADDED
            # A new record stands at the end of the list.
            self.records.pop(name, None)
            self.records[name] = fresh
        elif existing is selene.Existing.KEEP:
            assert found is selene.Disposition.KEPT
        elif existing is selene.Existing.REPLACE:
            assert found is selene.Disposition.REPLACED
            del self.records[name]
            self.records[name] = fresh
        else:
            assert found is selene.Disposition.UPDATED
            record = self.records[name]
            record |= {"tags": tags, "input": data}
            if record["attempts"] == 0:
                record["earliest"] = record["registered"] + delay * 10**9
        return name

    @rule(name=names, answer=st.sampled_from(["ok", "nothing", "fails", "later", "never"]))
    def answer(self, name: str, answer: str) -> None:
        """From now on it ends so."""
        self.answers[name] = answer

    @rule(seconds=st.sampled_from([1, 9, 10, 100]))
    def advance(self, seconds: int) -> None:
        """Lets time pass."""
        self.clock.advance(seconds)

    @rule(name=names)
    def cancel(self, name: str) -> None:
        """Cancels one."""
        if name not in self.records:
            with pytest.raises(selene.NotFound):
                self.scheduler.cancel(name)
            return
        assert self.scheduler.cancel(name) == self.live(name)
        self.cancelled([name])

    @rule(tag=st.sampled_from("xyz"))
    def cancel_tag(self, tag: str) -> None:
        """Cancels those that carry it."""
        names = [name for name in self.records if self.live(name) and tag in self.records[name]["tags"]]
        assert self.scheduler.cancel_tag(tag) == len(names)
        self.cancelled(names)

    def cancelled(self, names: list[str]) -> None:
        """The model's part of it."""
        for name in names:
            if self.live(name):
                self.records[name]["state"] = "cancelled"

    @rule(name=consumes(names))
    def prune(self, name: str) -> None:
        """Removes what has ended."""
        over = [name for name in self.records if not self.live(name)]
        assert self.scheduler.prune() == len(over)
        for name in over:
            del self.records[name]

    @rule(plan=st.booleans())
    def cycle(self, plan: bool) -> None:
        """Opens a window that has room for all."""
        now = self.clock.now_ns
        due = {name for name in self.records if self.live(name) and self.records[name]["earliest"] <= now}
        if plan:
            assert {run.id for run in self.scheduler.plan(60).runs} == due
        self.ran.clear()
        report = self.scheduler.run_cycle(60)
        assert set(self.ran) == due
        assert [run.id for run in report.runs] == self.ran
        assert report.eligible == len(due)
        for name in due:
            record, answer = self.records[name], self.answers.get(name, "ok")
            record["attempts"] += 1
            record["outcome"] = {"ok": "new_data", "nothing": "no_data", "never": "abandoned"}.get(answer, "failed")
            if answer in ("ok", "nothing"):
                record["state"] = "succeeded"
            elif answer == "never" or record["attempts"] == 3:
                record["state"] = "failed"
            else:
                record["earliest"] = now + (100 if answer == "later" else 10 * record["attempts"]) * 10**9

    @invariant()
    def same(self) -> None:
        """The scheduler says what the model says."""
        assert self.scheduler.ids() == list(self.records)
        wakeup = []
        for info in self.scheduler.tasks():
            record = self.records[info.id]
            assert str(info.state) == record["state"]
            assert (info.attempts, info.input, info.tags) == (record["attempts"], record["input"], record["tags"])
            assert (None if info.last_outcome is None else str(info.last_outcome)) == record["outcome"]
            why = self.scheduler.explain(info.id)
            if self.live(info.id):
                assert info.earliest_begin_ns == record["earliest"]
                wakeup.append(info.earliest_begin)
                due = record["earliest"] <= self.clock.now_ns
                assert why.runnable == due
                assert why.may_run_at == (None if due else info.earliest_begin)
            else:
                assert not why.runnable
        now = self.clock.now
        found = self.scheduler.next_wakeup()
        assert found == (max(now, min(wakeup)) if wakeup else None)

    def teardown(self) -> None:
        """The end of one example."""
        self.scheduler.close()


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=rounds(15), stateful_step_count=25)


def test_what_is_refused_is_refused_with_what_was_found_and_what_is_allowed() -> None:
    with selene.Scheduler() as scheduler:
        with pytest.raises(selene.InvalidArgument) as caught:
            scheduler.register(selene.Task("a", expected=90_000, schedule="standing"))
        assert caught.value.detail == "expected is 90000 s; allowed: 0 … 24 h"
        assert caught.value.name == "INVALID_ARGUMENT"
        assert str(caught.value) == f"{caught.value.detail} [INVALID_ARGUMENT]"


def test_what_was_refused_can_be_read_as_data() -> None:
    with selene.Scheduler(minimum_interval_refresh=10) as scheduler:
        with pytest.raises(selene.InvalidArgument) as number:
            scheduler.run_cycle(budget=1, lanes=1025)
        assert (number.value.field, number.value.found, number.value.allowed) == ("lanes", 1025, "1 … 1024")
        assert number.value.limits == (1, 1024)
        with pytest.raises(selene.InvalidArgument) as duration:
            scheduler.register(selene.Task("a", every=60, flex=90))
        assert (duration.value.field, duration.value.found, duration.value.limits) == ("flex", 90.0, (0.0, 60.0))
        with pytest.raises(selene.NotFound) as name:
            scheduler.cancel("upload")
        assert (name.value.field, name.value.found) == ("id", "upload")
        assert (name.value.allowed, name.value.limits) == (None, None)
        copied = pickle.loads(pickle.dumps(duration.value))
        assert (type(copied), str(copied), copied.limits) == (type(duration.value), str(duration.value), (0.0, 60.0))
        scheduler.run_cycle(budget=1, kinds="refresh")
        with pytest.raises(selene.TooSoon) as soon:
            scheduler.run_cycle(budget=1, kinds="refresh")
        at, wait = soon.value.found, soon.value.limits
        assert isinstance(at, datetime)
        assert wait is not None
        assert isinstance(wait[0], datetime)
        assert 0 < (wait[0] - at).total_seconds() <= 10
        assert soon.value.detail.startswith("kinds: refresh may begin again in ")
        scheduler.close()
        with pytest.raises(selene.Closed) as closed:
            scheduler.ids()
        assert (closed.value.field, closed.value.found) == (None, None)
