"""The conformance vectors that a fleet can play, with one node and a clock that is told.

What cannot be played is found by the rules and options of a scenario, never by its name; `test_what_is_left_out` lists it.
"""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from conftest import MS, Fleet
from server import ROOT, Server

#: Rules that are not of a fleet, and why. A scenario that names one, or uses what it is about, is left out.
NOT_OF_A_FLEET = {
    "S3": "a fleet ranks by priority and age alone (N5)",
    "T7": "who may register is told by roles (N32)",
    "C13": "pace and switches are each node's own (N21)",
    "C16": "when a window is worth opening is each node's own (N21)",
    "W2": "conditions of a host are not of the protocol",
    "W3": "queues are paused, not tasks or groups",
    "W4": "what comes after several tasks is not of the protocol",
    "W5": "what a run leaves is the row of its run, not of its task",
    "W6": "progress is told to the node that runs the task",
    "W7": "when a task is due next is said by its queue",
    "W8": "where the time of a task went is told by the host's own store",
    "W9": "a latest begin is not of the protocol",
    "W10": "expedited tasks are not of the protocol",
    "W11": "a task's own jitter is not of the protocol; a queue has one",
    "R8": "estimates of a handler are told by nodes every 30 s (N23)",
}
#: Steps and fields of a task that belong to such a rule.
SIGNS = {
    "enable": "C13",
    "next_wakeup": "C16",
    "define": "W2",
    "needs": "W2",
    "pause": "W3",
    "pause_tag": "W3",
    "pause_group": "W3",
    "after": "W4",
    "left": "W5",
    "stall_ms": "W6",
    "set_next": "W7",
    "waits": "W8",
    "latest_begin_ms": "W9",
    "expedited": "W10",
    "jitter": "W11",
    "observed_range": "S3",
    "permitted": "T7",
}
STATUS = {"SE002": "TOO_MANY_PENDING", "SE016": "INVALID_ARGUMENT", "SE020": "TOO_LARGE", "SE021": "NOT_FOUND"}
OUTCOMES = ["new_data", "no_data", "failed", "abandoned", "expired"]
CONSTRAINTS = ["network", "external_power", "unmetered", "battery_not_low", "idle", "storage_not_low", "display_off"]
CONSTRAINTS.append("not_roaming")


def scenarios() -> list[dict[str, Any]]:
    """All of them."""
    folder = ROOT / "Tests/vectors"
    return [
        one for name in ("scenarios", "mixed") for one in json.loads((folder / f"{name}.json").read_text())["scenarios"]
    ]


def without(scenario: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """What a fleet plays of a scenario, without the questions that are a node's own; or None, and why not."""
    # A question about the next window changes nothing, so the rest of a mixed scenario stands without it.
    steps = [step for step in scenario["steps"] if "next_wakeup" not in step or "C16" in scenario["rules"]]
    used = {key for step in steps for key in step} | {key for key, value in scenario["options"].items() if value}
    for step in steps:
        used |= {key for key, value in step.get("register", {}).items() if value}
        if "register" in step and step["register"].get("expected_ms", 5000) is None:
            return None, f"R8: {NOT_OF_A_FLEET['R8']}"
    for rule in [*scenario["rules"], *(SIGNS[key] for key in sorted(used & SIGNS.keys()))]:
        if rule in NOT_OF_A_FLEET:
            return None, f"{rule}: {NOT_OF_A_FLEET[rule]}"
    return {**scenario, "steps": steps}, ""


class Over(Exception):
    """The scenario goes on with what a fleet keeps differently."""


class Player:
    """One node, one lane. Windows are the node's (N21): what it claims and may not run in this one, by C2 and C4, it gives
    back as it was when the window ends."""

    def __init__(self, server: Server, scenario: dict[str, Any]) -> None:
        self.fleet = Fleet(server, told=True)
        self.fleet.rows("select set_queue('default', pace => '0')")
        self.given = scenario.get("handlers")
        self.handlers = set(self.given or ())
        self.satisfied = set(CONSTRAINTS)
        self.steps = scenario["steps"]
        self.windows: dict[str, int] = {}
        self.decided: dict[str, int] = {}
        options = {"max_pending_refresh": 1, "max_pending_processing": 10} | scenario["options"]
        for key, value in options.items():
            match key:
                case "max_pending_refresh" | "max_pending_processing":
                    if value != "unlimited":
                        self.set_queue(f"limit_{key[12:]}", value)
                case "hold":
                    self.set_queue("holds", value)
                case "minimum_backoff_ms" | "maximum_backoff_ms":
                    self.set_queue(f"backoff_{key[:3]}", f"{value} ms")
                case "observed_range" | "seed" if not value or key == "seed":
                    pass
                case _:
                    raise AssertionError(f"option {key} is not known")
        self.worker = self.fleet.hello(lease=3_600_000_000_000)

    def set_queue(self, key: str, value: object) -> None:
        """A setting of the queue."""
        self.fleet.rows(f"select set_queue('default', {key} => %s)", value)

    def play(self) -> None:
        """Plays all steps; AssertionError where something differs."""
        try:
            for step in self.steps:
                self.step(step)
        except Over:
            print("played until an update that looks at more response times than were kept")

    def step(self, step: dict[str, Any]) -> None:
        """Plays one."""
        step = dict(step)
        self.now, expect = step.pop("at_ms") * MS, dict(step.pop("expect"))
        self.fleet.at(self.now)
        ((verb, argument),) = step.items()
        try:
            found = getattr(self, verb)(argument)
        except psycopg.Error as error:
            if error.sqlstate not in STATUS:
                raise
            found = {"status": STATUS[error.sqlstate]}
        # Score and how many were eligible are the report of a window, which a node makes (C11).
        for pick in expect.get("picked", ()):
            del pick["score"]
        for key in ("eligible", "result"):
            expect.pop(key, None)
        if "runs" in expect and verb == "info":
            # A fleet keeps as many response times as the estimate looks at.
            expect["runs"] = min(expect["runs"], self.windows[argument])
        assert {"status": "OK", **found} == expect, step

    def register(self, step: dict[str, Any]) -> dict[str, Any]:
        """A task; absent fields have their defaults."""
        values: dict[str, Any] = {"expected": "5000 ms", "schedule": step.get("schedule", "standing")}
        for key, value in step.items():
            match key:
                case "expected_ms" | "flex_ms" | "period_ms" | "initial_delay_ms" | "backoff_ms":
                    name = {"initial_delay": "delay", "backoff": "backoff_delay", "period": "every"}.get(
                        key[:-3], key[:-3]
                    )
                    values[name] = f"{value} ms"
                case "window":
                    values["response_window"] = value
                case "constraints":
                    values["requires"] = [{"power": "external_power"}.get(one, one) for one in value]
                case "recurrence":
                    values["anchored"] = value == "anchored"
                case "input_size":
                    values["input"] = bytes(value)
                case "jitter":
                    pass
                case _:
                    values[key] = value
        names = ", ".join(f"{name} => %s" for name in values)
        disposition = self.fleet.one(f"select register({names})", *values.values())
        before, after = self.windows.get(step["id"], 0), values.get("response_window", 3)
        if disposition == "updated" and after > before and self.ran(step["id"], before):
            # The estimate would be made of response times that the slot did not keep (N3): what follows is another story.
            raise Over
        if disposition != "kept":
            self.windows[step["id"]] = after
        if self.given is None:
            self.handlers.add(step.get("handler", step["id"]))
        return {"disposition": disposition}

    def ran(self, id: str, times: int) -> bool:
        """Whether a live task had more runs than that."""
        return bool(
            self.fleet.rows("select 1 from slot join task t using (seq) where t.id = %s and decided > 0", id)
        ) and (self.decided.get(id, 0) > times)

    def handler(self, name: str) -> dict[str, Any]:
        """A handler."""
        self.handlers.add(name)
        return {}

    def conditions(self, satisfied: list[str]) -> dict[str, Any]:
        """What the node's machine satisfies."""
        self.satisfied = {{"power": "external_power"}.get(one, one) for one in satisfied}
        if "network" not in self.satisfied:
            self.satisfied -= {"unmetered", "not_roaming"}
        return {}

    def cancel(self, id: str) -> dict[str, Any]:
        """One task."""
        return {"count": self.fleet.one("select cancel(%s)", id)}

    def cancel_tag(self, tag: str) -> dict[str, Any]:
        """All that carry a tag."""
        return {"count": self.fleet.one("select cancel_tag(%s)", tag)}

    def cancel_all(self, _: bool) -> dict[str, Any]:
        """All."""
        return {"count": self.fleet.one("select cancel_all()")}

    def info(self, id: str) -> dict[str, Any]:
        """A record."""
        rows = self.fleet.rows(
            "select state, attempts, earliest_begin, last_run, estimate, generation, appended, runs from get(%s)", id
        )
        if not rows:
            return {"status": "NOT_FOUND"}
        state, attempts, begin, last_run, estimate, generation, appended, runs = rows[0]
        return {
            "state": state,
            "attempts": attempts,
            "earliest_begin_ms": round(begin.timestamp() * 1000, 3),
            "last_run_ms": round(last_run.timestamp() * 1000, 3),
            "estimate_ns": self.estimate(id, estimate),
            "generation": generation,
            "appended": appended,
            "runs": runs,
        }

    def estimate(self, id: str, told: Any) -> int:
        """To the nanosecond; people are told whole microseconds."""
        ns = self.fleet.rows(
            "select s.est from slot s join task t using (seq) where t.id = %s and behind is null", id
        ) or self.fleet.rows("select est from history where id = %s order by ended desc, seq desc limit 1", id)
        assert ns[0][0] // 1000 == round(told.total_seconds() * 1e6)
        return int(ns[0][0])

    def served(self, kinds: list[str]) -> list[int]:
        """The classes that the node can serve in a window of these kinds."""
        return [
            one
            for one, kind, bits, handler in self.fleet.rows("select class, kind, constraints, handler from classes()")
            if ["refresh", "processing"][kind - 1] in kinds
            and handler in self.handlers
            and all(name in self.satisfied for place, name in enumerate(CONSTRAINTS) if bits >> place & 1)
        ]

    def pick(
        self, window: dict[str, Any], begin: int, at: int, seen: set[str], aside: list[Any], first: bool
    ) -> tuple[Any, ...] | None:
        """The next run of a window, whose ranks are those of its begin."""
        budget = window["budget_ms"] * MS
        reserve = window["reserve_ms"] * MS if "reserve_ms" in window else budget // 20
        room = begin + budget - reserve - at
        if room <= 0:
            return None
        self.fleet.at(begin)
        while rows := self.fleet.rows(
            "select run, seq, id, est from claim(%s, %s, room => %s, first => %s)",
            self.worker,
            self.served(window.get("kinds", ["refresh"])),
            room,
            first and not window.get("strict_fit"),
        ):
            (run,) = rows
            if run[2] in self.ready and run[2] not in seen:
                seen.add(run[2])
                return run
            aside.append(run)
        return None

    def begin(self) -> None:
        """What may run in a window is what could when it began (C2)."""
        self.fleet.rows("select promote(100000)")
        self.ready = {row[0] for row in self.fleet.rows("select id from slot join task using (seq) where state = 0")}

    def release(self, runs: list[Any]) -> None:
        """Back as before."""
        self.fleet.rows("select release(%s, %s)", [run[1] for run in runs], [run[0] for run in runs])

    def plan(self, step: dict[str, Any]) -> dict[str, Any]:
        """What such a window would pick: it is claimed, and given back."""
        self.begin()
        picked: list[Any] = []
        at = self.now
        while run := self.pick(step, self.now, at, set(), picked, not picked):
            picked.append(run)
            at += run[3]
        self.release(picked)
        return {"ids": [run[2] for run in picked]}

    def cycle(self, step: dict[str, Any]) -> dict[str, Any]:
        """A whole cycle."""
        self.begin()
        scripts = step.get("runs", {})
        begin = at = self.now
        deadline = begin + step["budget_ms"] * MS
        picked: list[dict[str, Any]] = []
        outcomes: list[str] = []
        aside: list[Any] = []
        seen: set[str] = set()
        while run := self.pick(step, begin, at, seen, aside, not picked):
            (script,) = scripts.get(run[2], [{}])
            takes = script["takes_ms"] * MS if "takes_ms" in script else run[3] // MS * MS
            expires = takes > deadline - at
            outcome = "expired" if expires else script.get("outcome", "new_data")
            takes = min(takes, deadline - at)
            at += takes
            self.fleet.at(at)
            answer = self.fleet.rows(
                "select counts from complete(%s, %s, %s, %s)", [run[1]], [run[0]], [OUTCOMES.index(outcome)], [takes]
            )
            assert answer == [(True,)]
            self.decided[run[2]] = self.decided.get(run[2], 0) + 1
            picked.append({"id": run[2], "estimate_ns": run[3]})
            outcomes.append(outcome)
            if expires:
                break
        self.release(aside)
        return {"picked": picked, "outcomes": outcomes, "ended_at": at / MS}


@pytest.mark.parametrize("scenario", [one for one in scenarios() if without(one)[0]], ids=lambda one: one["name"])
def test_a_vector(server: Server, scenario: dict[str, Any]) -> None:
    player = Player(server, without(scenario)[0] or {})
    try:
        player.play()
    finally:
        player.fleet.close()


def test_what_is_left_out_has_a_rule_that_is_not_of_a_fleet() -> None:
    left = {one["name"]: without(one)[1] for one in scenarios() if not without(one)[0]}
    assert all(left.values())
    assert len(scenarios()) - len(left) >= 70
