"""Plays the conformance vectors through the public interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

import pyselene as selene
from pyselene.testing import VirtualClock

FOLDER = Path(__file__).resolve().parents[3] / "Tests/vectors"
MS = 1_000_000
BOTH = {"refresh", "processing"}


def scenarios() -> list[dict[str, Any]]:
    """All of them."""
    return [
        one for name in ("scenarios", "mixed") for one in json.loads((FOLDER / f"{name}.json").read_text())["scenarios"]
    ]


def milliseconds(value: float) -> float:
    """Seconds."""
    return value / 1000


OPTIONS = {
    "minimum_interval_refresh_ms": "minimum_interval_refresh",
    "minimum_interval_processing_ms": "minimum_interval_processing",
    "minimum_backoff_ms": "minimum_backoff",
    "expedited_quota_ms": "expedited_quota",
    "maximum_backoff_ms": "maximum_backoff",
}
#: What an option is in the library where nothing is said; pyselene has defaults of its own.
AS_IN_C = {"max_pending_refresh": 1, "max_pending_processing": 10, "minimum_backoff": 10}
BACKOFFS = {"none": selene.NoBackoff, "linear": selene.Linear, "exponential": selene.Exponential}
#: How a cycle is played: pulled; by run_cycle(), where pyselene calls handlers; or pushed, where the library does.
Way: TypeAlias = Literal["pulled", "called", "pushed"]


class Player:
    """One scenario on a clock that begins at the epoch; with a socket through a connection to who serves there."""

    def __init__(self, scenario: dict[str, Any], way: Way = "pulled", socket: Path | None = None) -> None:
        self.way = way
        self.clock = VirtualClock(selene._time.EPOCH)
        options: dict[str, Any] = {}
        for key, value in scenario["options"].items():
            if key in OPTIONS:
                options[OPTIONS[key]] = milliseconds(value)
            else:
                options[key] = None if value == "unlimited" else value
        self.owner = self.scheduler = selene.Scheduler(clock=self.clock, **(AS_IN_C | options))
        if socket is not None:
            self.owner.serve(socket)
            self.scheduler = selene.connect(socket)
            # Which it cannot know, and would wait for the outcome of a run that is not over.
            self.scheduler._engine.stands_still = True
        self.scheduler.set_conditions(network=True, power=True)
        self.given = scenario.get("handlers")
        for name in self.given or ():
            self.handler(name)
        self.steps = scenario["steps"]
        self.scripts: dict[str, Any] = {}
        self.played: list[tuple[selene.Run, str]] = []

    def play(self) -> None:
        """Plays all steps; AssertionError where something differs."""
        with self.owner, self.scheduler:
            for step in self.steps:
                step = dict(step)
                at, expect = step.pop("at_ms"), step.pop("expect")
                self.clock.set(selene._time.instant(at * MS))
                ((verb, argument),) = step.items()
                try:
                    found = getattr(self, verb)(argument)
                except selene.SeleneError as error:
                    found = {"status": error.name}
                expect = dict(expect)
                if "earliest_begin_ns" in expect and "earliest_begin_ms" in found:
                    found["earliest_begin_ns"] = round(found.pop("earliest_begin_ms") * MS)
                if "picked" in expect:
                    assert "picked" in found, (step, expect, found)
                    for wanted, pick in zip(expect["picked"], found["picked"], strict=False):
                        assert abs(wanted["score"] - pick["score"]) <= 1e-9, (step, wanted, pick)
                        pick["score"] = wanted["score"]
                assert {"status": "OK", **found} == expect, step

    def register(self, step: dict[str, Any]) -> dict[str, Any]:
        """A task; absent fields have their defaults."""
        step = dict(step)
        fields: dict[str, Any] = {}
        fields["schedule"] = step.pop("schedule", "standing")
        expected = step.pop("expected_ms", 5_000)
        if expected is not None:
            fields["expected"] = milliseconds(expected)
        for key, name in (
            ("initial_delay_ms", "delay"),
            ("flex_ms", "flex"),
            ("latest_begin_ms", "latest_begin"),
            ("stall_ms", "stall_limit"),
        ):
            if key in step:
                fields[name] = milliseconds(step.pop(key))
        period = step.pop("period_ms", None)
        if period is not None and fields["schedule"] == "periodic":
            fields["every"] = milliseconds(period)
        if "backoff" in step or "backoff_ms" in step:
            policy = step.pop("backoff", "none" if fields["schedule"] == "standing" else "exponential")
            fields["backoff"] = BACKOFFS[policy](milliseconds(step.pop("backoff_ms", 30_000)))
        for key, name in (("window", "response_window"), ("constraints", "requires"), ("needs", "conditions")):
            if key in step:
                fields[name] = step.pop(key)
        if "expedited" in step:
            fields["expedited"], fields["out_of_quota"] = True, step.pop("expedited")
        if "max_attempts" in step:
            fields["max_attempts"] = step.pop("max_attempts") or None
        fields["jitter"] = step.pop("jitter", 0) / 1000
        fields["anchored"] = step.pop("recurrence", "after_completion") == "anchored"
        fields["input"] = bytes(step.pop("input_size", 0))
        try:
            task = selene.Task(**step, **fields)
        except ValueError:
            return {"status": "INVALID_ARGUMENT"}
        disposition = self.scheduler.register(task)
        if self.given is None:
            self.handler(task.handler or task.id)
        return {"disposition": str(disposition)}

    def handler(self, name: str) -> dict[str, Any]:
        """A handler."""
        function = None if self.way == "pulled" else self.called
        self.scheduler.register_handler(name, function, push=self.way == "pushed")
        return {}

    def conditions(self, satisfied: list[str]) -> dict[str, Any]:
        """What the host says."""
        names = {selene.Constraint.EXTERNAL_POWER: "power"}
        self.scheduler.set_conditions(**{names.get(one, str(one)): str(one) in satisfied for one in selene.Constraint})
        return {}

    def enable(self, kinds: list[str]) -> dict[str, Any]:
        """The kinds that are on."""
        self.scheduler.enable({selene.Kind.of(kind, "kinds") for kind in kinds})
        return {}

    def cancel(self, id: str) -> dict[str, Any]:
        """One task."""
        return {"count": self.scheduler.cancel(id)}

    def cancel_tag(self, tag: str) -> dict[str, Any]:
        """All that carry a tag."""
        return {"count": self.scheduler.cancel_tag(tag)}

    def pause(self, id: str) -> dict[str, Any]:
        """One task and what waits behind it."""
        return {"count": self.scheduler.pause(id)}

    def pause_tag(self, tag: str) -> dict[str, Any]:
        """All that carry a tag."""
        return {"count": self.scheduler.pause(tag=tag)}

    def resume(self, id: str) -> dict[str, Any]:
        """One task and what waits behind it."""
        return {"count": self.scheduler.resume(id)}

    def resume_tag(self, tag: str) -> dict[str, Any]:
        """All that carry a tag."""
        return {"count": self.scheduler.resume(tag=tag)}

    def pause_group(self, group: str) -> dict[str, Any]:
        """A group."""
        self.scheduler.pause(group=group)
        return {}

    def define(self, condition: str) -> dict[str, Any]:
        """A condition of the host."""
        self.scheduler.define_condition(condition)
        return {}

    def undefine(self, condition: str) -> dict[str, Any]:
        """A condition of the host."""
        self.scheduler.undefine_condition(condition)
        return {}

    def meet(self, condition: str) -> dict[str, Any]:
        """A condition of the host is satisfied."""
        self.scheduler.set_condition(condition, True)
        return {}

    def lose(self, condition: str) -> dict[str, Any]:
        """A condition of the host is not satisfied."""
        self.scheduler.set_condition(condition, False)
        return {}

    def resume_group(self, group: str) -> dict[str, Any]:
        """A group."""
        self.scheduler.resume(group=group)
        return {}

    def cancel_all(self, _: bool) -> dict[str, Any]:
        """All."""
        return {"count": self.scheduler.cancel_all()}

    def info(self, id: str) -> dict[str, Any]:
        """A record."""
        info = self.scheduler.get(id)
        return {
            "state": str(info.state),
            "attempts": info.attempts,
            "earliest_begin_ms": info.earliest_begin_ns / MS,
            "last_run_ms": info.last_run_ns / MS,
            "estimate_ns": info.estimate_ns,
            "generation": info.generation,
            "appended": info.appended,
            "runs": len(info.response_times_ns),
        }

    def waits(self, id: str) -> dict[str, Any]:
        """Where the time of a task went."""
        waits = self.scheduler.waits(id)
        assert sum(part.duration_ns for part in waits.parts) == waits.until_ns - waits.since_ns
        return {
            "parts": [
                [str(part.code), part.about and str(part.about), part.duration_ns / MS, part.times]
                for part in waits.parts
            ],
            "changes": [[change.at_ns / MS, str(change.code)] for change in waits.changes],
            "preferred": list(waits.preferred_ids),
        }

    def retry(self, id: str) -> dict[str, Any]:
        """A failed task is enqueued again."""
        self.scheduler.retry(id)
        return {}

    def set_next(self, step: dict[str, Any]) -> dict[str, Any]:
        """When a task is due next."""
        self.scheduler.set_next(step["id"], selene._time.instant(step["to_ms"] * MS))
        return {}

    def left(self, id: str) -> dict[str, Any]:
        """What the last runs of a task left."""
        output = self.scheduler.output(id).text
        info = self.scheduler.get(id)
        failure = info.last_failure.message if info.last_failure else ""
        return {"stop": str(info.stop_reason), "failure": failure, "output": output}

    def next_wakeup(self, _: bool) -> dict[str, Any]:
        """When the next window is worth opening."""
        at = self.scheduler.next_wakeup()
        delay = self.scheduler.next_wakeup_in()
        assert (at is None) == (delay is None)
        if at is None:
            return {"at_ms": None}
        assert (at - self.clock.now).total_seconds() == delay
        return {"at_ms": selene._time.instant_ns(at, "at") / MS}

    @staticmethod
    def window(step: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a window."""
        window: dict[str, Any] = {"budget": milliseconds(step["budget_ms"]), "kinds": "refresh"}
        if "reserve_ms" in step:
            window["reserve"] = milliseconds(step["reserve_ms"])
        for key in ("kinds", "strict_fit"):
            if key in step:
                window[key] = step[key]
        return window

    def plan(self, step: dict[str, Any]) -> dict[str, Any]:
        """What such a window would pick."""
        return {"ids": [run.id for run in self.scheduler.plan(**self.window(step)).runs]}

    def say(self, run: selene.Run, script: dict[str, Any]) -> None:
        """What a run says while it is open."""
        tells = script.get("tells_ms", [])
        if "output" in script:
            run.set_output(script["output"])
        if "next_ms" in script:
            run.set_next(selene._time.instant(script["next_ms"] * MS))
        for count, tell in enumerate(tells, 1):
            self.clock.advance_ns(run.started_at_ns + tell * MS - self.clock.now_ns)
            run.progress(count, of=len(tells))

    def run(self, run: selene.Run) -> selene.Outcome | None:
        """A run, up to its outcome; None: there is none, since it is over."""
        (script,) = self.scripts.get(run.id, [{}])
        takes = script["takes_ms"] * MS if "takes_ms" in script else run.estimate_ns // MS * MS
        if takes > run.deadline_ns - self.clock.now_ns:
            self.clock.set(run.deadline)
            self.played.append((run, "expired"))
            return None
        self.say(run, script)
        self.clock.advance_ns(run.started_at_ns + takes - self.clock.now_ns)
        assert str(run.stopping.reason) == script.get("stops", str(run.stopping.reason))
        outcome = selene.Outcome.of(script.get("outcome", "new_data"), "outcome")
        if "over_ms" in script:
            self.played.append((run, "over"))
            with pytest.raises(selene.StaleRun):
                run.complete(outcome)
            return None
        self.played.append((run, str(outcome)))
        return outcome

    def called(self, run: selene.Run) -> object:
        """A handler; what it returns comes too late for a run that is over."""
        assert not self.is_expired(), run.id
        outcome = self.run(run)
        return selene.PENDING if outcome is None else outcome

    def is_expired(self) -> bool:
        """Whether the last run did not end in time."""
        return bool(self.played) and self.played[-1][1] == "expired"

    def cycle(self, step: dict[str, Any]) -> dict[str, Any]:
        """A whole cycle."""
        self.scripts, self.played = step.get("runs", {}), []
        if self.way == "pulled":
            with self.scheduler.begin(**self.window(step), frozen=step.get("frozen", True)) as cycle:
                for run in cycle:
                    outcome = self.run(run)
                    if outcome is not None:
                        run.complete(outcome)
                    if self.is_expired():
                        break
            report = cycle.report
        else:
            report = self.scheduler.run_cycle(
                **self.window(step), frozen=step.get("frozen", True), inline=True, push=self.way == "pushed", check=True
            )
        if self.is_expired():
            with pytest.raises(selene.StaleRun):
                self.played[-1][0].complete()
        assert [run.id for run in report.runs] == [run.id for run, _ in self.played]
        assert [run.run for run in report.runs] == [run.token for run, _ in self.played]
        return {
            "picked": [{"id": run.id, "score": run.score, "estimate_ns": run.estimate_ns} for run in report.runs],
            "outcomes": [str(run.outcome) for run in report.runs],
            "result": str(report.result),
            "ended_at": report.ended_at_ns / MS,
            "eligible": report.eligible,
        }
