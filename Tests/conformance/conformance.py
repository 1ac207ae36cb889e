#!/usr/bin/env python3
"""Plays the vectors and random commands through players of bindings; see README.md.

conformance.py play PLAYER… | lockstep SEED STEPS REFERENCE PLAYER | exit PLAYER… | ends PLAYER…
Prints "ok …" or "FAILED …" for each thing that it tries; ends with 1 if one failed.
"""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, unquote

ROOT = Path(__file__).resolve().parents[2]
MS, S = 10**6, 10**9
NUMBERS: dict[str, int] = {
    constant["name"].removeprefix("SELENE_"): constant["value"]
    for enum in json.loads((ROOT / "include/api.json").read_text())["enums"]
    for constant in enum["constants"]
}
#: Keys of the vectors, as the header calls them.
TASK_KEYS = {
    "window": "response_window",
    "expected_ms": "expected_response_ms",
    "backoff_ms": "backoff_delay_ms",
    "stall_ms": "stall_limit_ms",
    "needs": "conditions",
}
FLAGS: dict[str, dict[Any, int]] = {
    "expedited": {"ordinary": 4, "refuse": 12},
    "after_any_end": {True: 2, False: 0},
}
NAMED = ("kind", "schedule", "existing", "recurrence", "backoff")


class Refused(Exception):
    """The library refused a call; its status."""


def number(group: str, word: str) -> int:
    """The number that a name stands for."""
    return int(NUMBERS[f"{group}_{word}".upper()])


def name(group: str, value: str) -> str:
    """The name of a number."""
    prefix = f"{group.upper()}_"
    found = next(k for k, v in NUMBERS.items() if v == int(value) and k.startswith(prefix))
    return found.removeprefix(prefix).lower()


def bits(group: str, words: list[str]) -> int:
    """The sum of some numbers."""
    return sum(number(group, word) for word in words)


def word(value: object) -> str:
    """A value on the line."""
    return ",".join(map(word, value)) if isinstance(value, list) else quote(str(value), safe="")


class Player:
    """A player, as a process."""

    def __init__(self, command: str, errors: IO[bytes] | None = None) -> None:
        self.command = command
        self.process = subprocess.Popen(
            shlex.split(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
            bufsize=1,
        )

    def __call__(self, verb: str, *words: object, **fields: object) -> list[str]:
        """The words of its answer to a command."""
        line = " ".join([verb, *map(word, words), *(f"{key}={word(value)}" for key, value in fields.items())])
        self.write(line)
        assert self.process.stdout
        answer = self.process.stdout.readline().rstrip("\n").split(" ")
        if answer[0] == "error" and len(answer) > 2:
            raise Refused(answer[1])
        if answer[0] != "ok":
            raise AssertionError(f"{line}: the player answered {' '.join(answer)!r}")
        return [unquote(part) for part in answer[1:]]

    def write(self, line: str) -> None:
        """Gives it a command."""
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self) -> int:
        """Lets it come to the end of its commands; its exit code."""
        self.process.communicate(timeout=60)
        return self.process.returncode


# ---- the vectors ----


class Scenario:
    """A scenario that is played."""

    def __init__(self, ask: Player, scenario: dict[str, Any]) -> None:
        self.ask, self.given, self.now = ask, scenario.get("handlers"), 0
        # What a scenario does not say is a phone's.
        options: dict[str, object] = {"max_pending_refresh": 1, "max_pending_processing": 10}
        for key, value in scenario["options"].items():
            if isinstance(value, bool):
                options[key] = int(value)
            elif key.endswith("_ms"):
                options[key.removesuffix("_ms")] = value * MS
            else:
                options[key] = 0xFFFFFFFF if value == "unlimited" else value
        self.at(0)
        ask("open", **options)
        self.handlers: set[str] = set()
        for handler in self.given or ():
            self.handler(handler)
        self.steps = scenario["steps"]

    def at(self, instant: int) -> None:
        """Sets the clock."""
        self.now = instant
        self.ask("clock", instant)

    def play(self) -> None:
        """Plays all steps; AssertionError where something differs."""
        for index, step in enumerate(self.steps):
            step = dict(step)
            self.at(step.pop("at_ms") * MS)
            expected = dict(step.pop("expect"))
            if "waits" in step and "parts" in expected:
                del expected["changes"]
                expected["parts"] = [
                    [reason, about if reason == "constraints" else None, duration, times]
                    for reason, about, duration, times in expected["parts"]
                ]
            ((verb, argument),) = step.items()
            try:
                found = {"status": "OK"} | getattr(self, verb)(argument)
            except Refused as refused:
                found = {"status": str(refused)}
            if "earliest_begin_ns" in expected and "earliest_begin_ms" in found:
                found["earliest_begin_ns"] = round(found.pop("earliest_begin_ms") * MS)
            for wanted, pick in zip(expected.get("picked", ()), found.get("picked", ()), strict=False):
                assert abs(wanted["score"] - pick["score"]) <= 1e-9, f"step {index}: {wanted} is not {pick}"
                pick["score"] = wanted["score"]
            assert found == expected, f"step {index} {step}: expected {expected}, found {found}"

    def register(self, step: dict[str, Any]) -> dict[str, Any]:
        """A task; absent fields have their defaults."""
        fields: dict[str, object] = {}
        for key, value in {"expected_ms": 5_000, "schedule": "standing", **step}.items():
            name_of = TASK_KEYS.get(key, key)
            if value is None:
                continue  # not said
            if key in FLAGS:
                fields["flags"] = int(str(fields.get("flags", 0))) | FLAGS[key][value]
                continue
            if name_of.endswith("_ms"):
                fields[name_of.removesuffix("_ms")] = value * MS
            elif key == "constraints":
                fields[key] = bits("constraint", value)
            else:
                fields[name_of] = number(key, value) if key in NAMED else value
        (disposition,) = self.ask("register", **fields)
        handler = step.get("handler") or step["id"]
        if self.given is None and handler not in self.handlers:
            self.handler(handler)
        return {"disposition": name("disposition", disposition)}

    def handler(self, handler: str) -> dict[str, Any]:
        """A handler."""
        self.ask("handler", handler)
        self.handlers.add(handler)
        return {}

    def conditions(self, satisfied: list[str]) -> dict[str, Any]:
        """What the host says."""
        self.ask("conditions", bits("constraint", satisfied))
        return {}

    def enable(self, kinds: list[str]) -> dict[str, Any]:
        """The kinds that are on."""
        self.ask("enable", bits("kind", kinds))
        return {}

    def cancel(self, id: str) -> dict[str, Any]:
        """One task."""
        return {"count": int(self.ask("cancel", id)[0])}

    def cancel_tag(self, tag: str) -> dict[str, Any]:
        """All that carry a tag."""
        return {"count": int(self.ask("cancel_tag", tag)[0])}

    def pause(self, id: str) -> dict[str, Any]:
        """One task and what waits behind it."""
        return {"count": int(self.ask("pause", id)[0])}

    def pause_tag(self, tag: str) -> dict[str, Any]:
        """All that carry a tag."""
        return {"count": int(self.ask("pause_tag", tag)[0])}

    def resume(self, id: str) -> dict[str, Any]:
        """One task and what waits behind it."""
        return {"count": int(self.ask("resume", id)[0])}

    def resume_tag(self, tag: str) -> dict[str, Any]:
        """All that carry a tag."""
        return {"count": int(self.ask("resume_tag", tag)[0])}

    def define(self, name: str) -> dict[str, Any]:
        """A condition of the host."""
        self.ask("define", name)
        return {}

    def undefine(self, name: str) -> dict[str, Any]:
        """A condition of the host."""
        self.ask("undefine", name)
        return {}

    def meet(self, name: str) -> dict[str, Any]:
        """A condition of the host is satisfied."""
        self.ask("meet", name)
        return {}

    def lose(self, name: str) -> dict[str, Any]:
        """A condition of the host is not satisfied."""
        self.ask("lose", name)
        return {}

    def pause_group(self, group: str) -> dict[str, Any]:
        """A group."""
        self.ask("pause_group", group)
        return {}

    def resume_group(self, group: str) -> dict[str, Any]:
        """A group."""
        self.ask("resume_group", group)
        return {}

    def cancel_all(self, _: bool) -> dict[str, Any]:
        """All."""
        return {"count": int(self.ask("cancel_all")[0])}

    def info(self, id: str) -> dict[str, Any]:
        """A record."""
        state, attempts, begin, last_run, estimate, generation, appended, runs, _ = self.ask("info", id)
        return {
            "state": name("state", state),
            "attempts": int(attempts),
            "earliest_begin_ms": int(begin) / MS,
            "last_run_ms": int(last_run) / MS,
            "estimate_ns": int(estimate),
            "generation": int(generation),
            "appended": int(appended),
            "runs": int(runs),
        }

    def waits(self, id: str) -> dict[str, Any]:
        """Where the time of a task went; not when it changed, and of names only those of constraints."""
        words = self.ask("waits", id)
        end = words.index("preferred")
        return {
            "parts": [
                [
                    reason,
                    name("constraint", detail) if reason == "constraints" else None,
                    int(duration) / MS,
                    int(times),
                ]
                for reason, detail, duration, times in zip(*(iter(words[:end]),) * 4, strict=True)
            ],
            "preferred": words[end + 1 :],
        }

    def retry(self, id: str) -> dict[str, Any]:
        """A failed task is enqueued again."""
        self.ask("retry", id)
        return {}

    def set_next(self, step: dict[str, Any]) -> dict[str, Any]:
        """When a task is due next."""
        self.ask("set_next", step["id"], at=step["to_ms"] * MS)
        return {}

    def left(self, id: str) -> dict[str, Any]:
        """What the last runs of a task left."""
        *_, failure = self.ask("info", id)
        stop, output = self.ask("left", id)
        return {
            "stop": name("stop", stop),
            "failure": failure if failure != "-" else "",
            "output": output.removeprefix("="),
        }

    def next_wakeup(self, _: bool) -> dict[str, Any]:
        """When the next window is worth opening."""
        (at,) = self.ask("wakeup")
        return {"at_ms": None if at == "never" else int(at) / MS}

    def window(self, step: dict[str, Any]) -> dict[str, object]:
        """The fields of a window."""
        fields: dict[str, object] = {
            "budget": step["budget_ms"] * MS,
            "kinds": bits("kind", step.get("kinds", ["refresh"])),
            "frozen": int(step.get("frozen", True)),
        }
        if "reserve_ms" in step:
            fields["reserve"] = step["reserve_ms"] * MS
        if step.get("strict_fit"):
            fields["strict"] = 1
        return fields

    def say(self, id: str, script: dict[str, Any]) -> None:
        """What a run says while it is open."""
        began, tells = self.now, script.get("tells_ms", [])
        if "output" in script:
            self.ask("output", script["output"])
        if "next_ms" in script:
            self.ask("set_next", id, at=script["next_ms"] * MS)
        for count, tell in enumerate(tells, 1):
            self.at(began + tell * MS)
            self.ask("progress", count, total=len(tells))

    def complete(self, id: str, script: dict[str, Any]) -> None:
        """Gives the outcome of a run; one that is over already refuses it."""
        status = "OK"
        try:
            self.ask("complete", number("outcome", script.get("outcome", "new_data")))
        except Refused as refused:
            status = str(refused)
        assert status == ("STALE_RUN" if "over_ms" in script else "OK"), f"{id}: completing answers {status}"

    def plan(self, step: dict[str, Any]) -> dict[str, Any]:
        """What such a window would pick."""
        return {"ids": self.ask("plan", **self.window(step))}

    def cycle(self, step: dict[str, Any]) -> dict[str, Any]:
        """A whole cycle, pulled."""
        deadline = self.now + step["budget_ms"] * MS
        self.ask("begin", **self.window(step))
        picked: list[dict[str, Any]] = []
        is_late = False
        while (answer := self.ask("next"))[0] == "run" and not is_late:
            score, estimate = float(answer[2]), int(answer[3])
            picked.append({"id": answer[1], "score": score, "estimate_ns": estimate})
            (script,) = step.get("runs", {}).get(answer[1], [{}])
            takes = script["takes_ms"] * MS if "takes_ms" in script else estimate // MS * MS
            is_late = takes > deadline - self.now
            end = deadline if is_late else self.now + takes
            self.say(answer[1], script)
            self.at(end)
            if is_late:
                break
            if "stops" in script:
                (reason,) = self.ask("stopping")
                assert name("stop", reason) == script["stops"], f"{answer[1]}: asked to stop by {name('stop', reason)}"
            self.complete(answer[1], script)
        result, ended, eligible, *outcomes = self.ask("end")
        if is_late:
            late = "OK"
            try:
                self.ask("complete", 0)
            except Refused as refused:
                late = str(refused)
            assert late == "STALE_RUN", f"an expired run was completed: {late}"
        return {
            "picked": picked,
            "outcomes": [name("outcome", outcome) for outcome in outcomes],
            "result": name("outcome", result),
            "ended_at": int(ended) / MS,
            "eligible": int(eligible),
        }


def play(command: str) -> None:
    """All vectors."""
    ask = Player(command)
    count = 0
    for file in ("scenarios", "mixed"):
        for scenario in json.loads((ROOT / f"Tests/vectors/{file}.json").read_text())["scenarios"]:
            try:
                Scenario(ask, scenario).play()
            except AssertionError as error:
                raise AssertionError(f"{scenario['name']}: {error}") from None
            count += 1
    assert count >= 90, count
    ask("close")
    assert ask.end() == 0


# ---- lockstep ----


def lockstep(seed: int, steps: int, reference: str, command: str) -> None:
    """The same random commands to two players, until an answer differs. What is refused has the same status."""
    chance = random.Random(seed)
    one, other = Player(reference), Player(command)

    def both(*words: Any, **fields: Any) -> list[str] | None:
        answers: list[list[str] | str] = []
        for ask in (one, other):
            try:
                answer = ask(*words, **fields)
                if answer[:1] == ["run"]:
                    answer[2] = f"{float(answer[2]):.12g}"
                answers.append(answer)
            except Refused as refused:
                answers.append(str(refused))
        assert answers[0] == answers[1], f"seed {seed}: {words} {fields}: {answers[0]}, but {answers[1]}"
        return answers[0] if isinstance(answers[0], list) else None

    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/one", f"{folder}/other"]
        now = chance.randrange(10**9) * S
        options = {"hold": 1, "max_pending_refresh": 5, "max_pending_processing": 3, "seed": 7}

        def reopen() -> None:
            for ask, path in zip((one, other), paths, strict=True):
                ask("open", path=path, **options)
            both("handler", "h")

        both("clock", now)
        reopen()
        for _ in range(steps):
            now += chance.choice([0, 1000, MS, S, 60 * S])
            both("clock", now)
            task = chance.choice(["a", "b", "ü %=,", "x" * 255, "x" * 256]) + ("" if chance.randrange(4) else "2")
            choice = chance.randrange(16)
            if choice < 6:
                both("register", **random_task(chance, task))
            elif choice < 8:
                both("info", task)
            elif choice == 8:
                both(*chance.choice([("cancel", task), ("cancel_tag", "t"), ("cancel_all",), ("retry", task)]))
                both(*chance.choice([("pause", task), ("pause_tag", "t")]))
                both(*chance.choice([("resume", task), ("resume_tag", "t")]))
                both(*chance.choice([("pause_group", "g"), ("resume_group", "g"), ("resume_group", "g")]))
                both("limit_group", "g", limit=chance.randrange(3))
            elif choice == 9:
                both("conditions", chance.choice([255, 3, chance.randrange(256)]))
                both(chance.choice(["define", "meet", "meet", "lose", "undefine"]), chance.choice(["vpn", "ü %=,"]))
            elif choice == 10:
                both("wakeup")
                both("plan", budget=30 * S, **random_kinds(chance))
            elif choice == 11:
                both("close")
                reopen()
            elif both("begin", **random_window(chance)) is not None:
                now = random_cycle(chance, both, now)
            both("wakeup")  # a call: what time does by itself is told with the next one
            both("events")
        both("close")
    assert one.end() == 0
    assert other.end() == 0


def random_task(chance: random.Random, id: str) -> dict[str, Any]:
    """A task, some of which are refused."""
    schedule = 1 + chance.randrange(3)
    task: dict[str, Any] = {"id": id, "handler": "h", "schedule": schedule}
    if schedule == number("schedule", "periodic"):
        task["period"] = chance.choice([1000, S, 3600 * S])
        task["flex"] = chance.choice([0, 1000, S])
        task["recurrence"] = chance.randrange(2)
    more = {
        "kind": chance.randrange(1, 3),
        "priority": chance.randrange(1, 6),
        "expected_response": chance.choice([1000, S, 40 * S, 86400 * S, 86401 * S]),
        "existing": chance.randrange(1, 6),
        "tags": ["t", "é,"][: chance.randrange(3)],
        "max_attempts": chance.randrange(3),
        "constraints": chance.choice([0, 1, 2, 3, 1 << chance.randrange(8), chance.randrange(256)]),
        "conditions": ["vpn", "ü %=,"][: chance.randrange(3)],
        "initial_delay": chance.choice([0, S]),
        "response_window": chance.choice([0, 3, 30, 31]),
        "timeout": chance.choice([0, 2 * S]),
        "jitter": chance.choice([0, 1, 1000]),
        "group": "g",
        "latest_begin": chance.choice([2 * S, 600 * S]),
        "flags": chance.choice([0, 2, 4, 12]),
        "after": chance.sample(["a", "b", "c", "nobody"], chance.randrange(3)),
        "input_size": chance.choice([0, 10, 10_241]),
    }
    return task | {key: value for key, value in more.items() if chance.randrange(3) == 0 and value != []}


def random_kinds(chance: random.Random) -> dict[str, int]:
    """Which kinds a window names, if any."""
    bits = chance.randrange(4)
    return {"kinds": bits} if bits else {}


def random_window(chance: random.Random) -> dict[str, Any]:
    """A window, some of which are refused."""
    window: dict[str, Any] = {"budget": chance.choice([1000, S, 30 * S, 86401 * S]), **random_kinds(chance)}
    if chance.randrange(2):
        window["frozen"] = 1
    if chance.randrange(3) == 0:
        window["reserve"] = chance.choice([0, S, 31 * S])
    if chance.randrange(3) == 0:
        window["strict"] = 1
    return window


def random_cycle(chance: random.Random, both: Callable[..., list[str] | None], now: int) -> int:
    """Works through a cycle that was begun; what time it is then."""
    while True:
        answer = both("next")
        if answer is None or answer[0] != "run":
            break
        now += chance.choice([0, 1000, S])
        both("clock", now)
        both("stopping")
        if chance.randrange(4):
            both("complete", chance.randrange(4))
        else:
            both("fail", chance.choice(["why", "wü %", "x" * 2000]))
        if chance.randrange(8) == 0:
            both("complete", 0)
    both("end")
    return now


# ---- ranges ----

#: Numbers of a task and a window that every binding passes on as they are, with what they need besides.
RANGED: dict[str, dict[str, dict[str, int]]] = {
    "task": {
        "response_window": {},
        "expected_response": {},
        "initial_delay": {},
        "period": {"schedule": number("schedule", "periodic")},
        "flex": {"schedule": number("schedule", "periodic"), "period": 3600 * S},
        "backoff_delay": {},
        "timeout": {},
        "stall_limit": {},
        "jitter": {},
        "latest_begin": {"schedule": number("schedule", "once")},
    },
    "window": {"budget": {}, "reserve": {"budget": 30 * S}},
}


def tried(field: dict[str, Any], bounds: dict[str, int]) -> dict[int, bool]:
    """Values at and beyond the ends of a range, and whether each is allowed."""
    low, high = (bounds.get(str(end), end) for end in field["range"])
    step = MS if field["unit"] == "ns" else 1
    values = {step: True}
    if field["unit"] != "ns" or "none" in field or low == 0:
        values[0] = True
    if high is not None:
        values |= {int(high): True, int(high) + step: False}
    return values


def ranges(command: str) -> None:
    """Numbers at the ends of their ranges, as api.json has these, are accepted, and those beyond are refused."""
    bounds = {"period": 3600 * S, "budget": 30 * S, "initial_delay": 0}
    ask = Player(command)
    ask("clock", 0)
    ask("open", max_pending_refresh=0xFFFFFFFF, max_pending_processing=0xFFFFFFFF)
    for struct in json.loads((ROOT / "include/api.json").read_text())["structs"]:
        name_of = struct["name"].removeprefix("selene_")
        for field in struct["fields"]:
            if (more := RANGED.get(name_of, {}).get(field["name"])) is None:
                continue
            for value, is_allowed in tried(field, bounds).items():
                fields = more | {field["name"]: value}
                try:
                    if name_of == "task":
                        ask("register", id="a", handler="work", **fields)
                        ask("cancel_all")
                    else:
                        ask("plan", **fields)
                    accepted = True
                except Refused:
                    accepted = False
                assert accepted == is_allowed, f"{name_of}.{field['name']} = {value}: accepted is {accepted}"
    ask("close")
    assert ask.end() == 0


# ---- the end of the process ----


def leave(command: str) -> None:
    """A process that ends with a run in flight ends as it should, and the next one finds the task enqueued.

    It was interrupted, which is an attempt, or given back, which is none, where the binding closes what is open.
    """
    with tempfile.TemporaryDirectory() as folder:
        for life in range(2):
            ask = Player(command)
            ask("clock", 0)
            ask("open", path=f"{folder}/store")
            if life == 0:
                ask("handler", "a")
                ask("register", id="a", schedule=number("schedule", "once"))
                ask("begin", budget=30 * S)
                assert ask("next")[:2] == ["run", "a"]
                ask.write("exit")
                assert ask.end() == 0
            else:
                state, attempts, *_ = ask("info", "a")
                assert name("state", state) == "enqueued", state
                assert attempts in {"0", "1"}, attempts
                ask("close")
                assert ask.end() == 0


# ---- the ends of work ----

#: How long a player may take for an answer or its end before it is killed, s. It only ends what hangs.
ALARM = int(os.environ.get("SELENE_ALARM", "180"))
#: Ways to end work that runs: stop the driver, cancel what waits for it, close the scheduler.
WAYS = ("shutdown", "wait", "close")
#: What the handler does, the grace, the state of its task afterwards, its attempts, and how often it is tried at most:
#: a handler that completes when it is asked to, in the last tenth of the grace, may come too late on a busy machine.
ANSWERS = (
    ("obeys", 0, "enqueued", 0, 1),
    ("obeys", S, "enqueued", 0, 1),
    ("fails", 0, "enqueued", 0, 1),
    ("fails", S, "enqueued", 0, 1),
    ("deaf", 0, "enqueued", 0, 1),
    ("deaf", S, "enqueued", 0, 1),
    ("completes", 60 * S, "succeeded", 1, 1),
    ("finishes", 5 * S, "succeeded", 1, 3),
)
#: What runs when the program ends.
EXITS = ("idle", "obeys", "deaf")
#: Numbers that no enumeration has.
UNKNOWN_NUMBERS = (("kind", 99), ("schedule", 99), ("existing", 99), ("priority", 99), ("constraints", 1 << 30))
#: What a word may stand for.
UNKNOWN_WORDS = ("constraint", "kind", "field", "option")
#: How the names of ends begin that a player has not, by the last word of its command; README.md says why.
NO_GRACE = ("wait, grace 1 s", "wait, grace 5 s", "wait, grace 60 s")
ONLY_A_SECOND = ("wait, grace 0 s", "wait, grace 5 s", "wait, grace 60 s")
WITHOUT: dict[str, tuple[str, ...]] = {
    "player-c": ("wait", "unknown word"),
    "player.mjs": ("wait", "close, grace 1 s", "close, grace 5 s", "close, grace 60 s"),
    "rust-player": (*ONLY_A_SECOND, "unknown word"),
    "cpp-player": (*ONLY_A_SECOND, "unknown word"),
    "go-player": (*NO_GRACE, "unknown word"),
    "Player": (*NO_GRACE, "unknown word"),
    "player": (*NO_GRACE, "unknown word"),
    "Player.dll": ("unknown word",),
}


class Timed(Player):
    """A player that is killed if it takes for ever, and whose log of what handlers raise is shown only if it fails."""

    def __init__(self, command: str) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the player
        super().__init__(command, self.errors)
        self.alarm = threading.Timer(ALARM, self.process.kill)
        self.alarm.daemon = True
        self.alarm.start()

    def end(self) -> int:
        """Lets it come to the end of its commands; its exit code."""
        try:
            self.process.communicate(timeout=ALARM)
        finally:
            self.alarm.cancel()
            self.process.kill()
            self.errors.seek(0)
            log = self.errors.read().decode(errors="replace")
        if self.process.returncode:
            say(log)
        return self.process.returncode


def prepare(ask: Player, path: str, max_attempts: int) -> None:
    """A store with one task that is due, and that nothing runs."""
    ask("clock", time.time_ns() // 1000 * 1000)
    ask("open", path=path)
    ask("handler", "work")
    ask("register", id="upload", handler="work", schedule=number("schedule", "once"), max_attempts=max_attempts)
    ask("close")


def found_in(command: str, path: str) -> tuple[str, int]:
    """State and attempts of the task, as a process finds them that opens the store."""
    ask = Timed(command)
    ask("clock", time.time_ns() // 1000 * 1000)
    ask("open", path=path)
    state, attempts, *_ = ask("info", "upload")
    ask("close")
    assert ask.end() == 0
    return name("state", state), int(attempts)


def end_work(command: str, way: str, answer: str, grace: int, expected: tuple[str, int], tries: int) -> None:
    """Ends work in flight, and looks at what the store says of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/store"
        ask = Timed(command)
        prepare(ask, path, 1)
        try:
            ask("ends", way, answer=answer, grace=grace, path=path)
        finally:
            code = ask.end()
        assert code == 0, f"its process ended with {code}"
        found = found_in(command, path)
    if found != expected and tries > 1:
        end_work(command, way, answer, grace, expected, tries - 1)
    else:
        assert found == expected, f"expected {expected}, found {found}"


def end_process(command: str, answer: str) -> None:
    """The program ends with a driver that has nothing to do, or while a handler works."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/store"
        ask = Timed(command)
        if answer == "idle":
            ask("clock", time.time_ns() // 1000 * 1000)
            ask("open", path=path)
            ask("close")
        else:
            prepare(ask, path, 0)
        line = f"ends exit answer={answer} grace=0 path={word(path)}"
        ask.write(line)
        code = ask.end()
        assert code == 0, f"its process ended with {code}"
        if answer != "idle":
            # Interrupted, which is an attempt, or given back, which is none, where the binding closes what is open.
            state, attempts = found_in(command, path)
            assert state == "enqueued", state
            assert attempts in {0, 1}, attempts


def refuse(command: str, verb: str, *words: object, **fields: object) -> None:
    """A command with a word that is unknown is refused, and one that is right works afterwards."""
    ask, status = Timed(command), "OK"
    ask("clock", 0)
    ask("open")
    ask("handler", "work")
    try:
        ask(verb, *words, **fields)
    except Refused as refused:
        status = str(refused)
    assert status == "INVALID_ARGUMENT", f"it answers {status}"
    ask("register", id="a", handler="work", schedule=number("schedule", "once"))
    ask("info", "a")
    ask("close")
    assert ask.end() == 0


def ends(command: str) -> list[bool]:
    """All ends, some at a time, since most of them only wait."""
    tests: dict[str, Callable[[], object]] = {}
    for way in WAYS:
        for answer, grace, state, attempts, tries in ANSWERS:
            what = f"{way}, grace {grace // S} s, {answer}"
            tests[what] = partial(end_work, command, way, answer, grace, (state, attempts), tries)
    for answer in EXITS:
        tests[f"exit, {answer}"] = partial(end_process, command, answer)
    for key, value in UNKNOWN_NUMBERS:
        fields: dict[str, object] = {key: value}
        tests[f"unknown number, {key}"] = partial(refuse, command, "register", id="b", handler="work", **fields)
    for what in UNKNOWN_WORDS:
        tests[f"unknown word, {what}"] = partial(refuse, command, "unknown", what)
    without = WITHOUT.get(Path(shlex.split(command)[-1]).name, ())
    played = [what for what in tests if not what.startswith(without)]
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda what: attempt(f"ends: {what}: {short(command)}", tests[what]), played))


def short(command: str) -> str:
    """What a player is called."""
    return str(Path(shlex.split(command)[-1]).resolve().relative_to(ROOT))


def say(lines: str) -> None:
    """Prints lines at once: tests of ends run side by side."""
    print(f"{lines}\n", end="", flush=True)


def attempt(what: str, test: Callable[[], object]) -> bool:
    """Tries something, and says how it went."""
    try:
        test()
    except (AssertionError, Refused, OSError, subprocess.TimeoutExpired) as error:
        say(f"{type(error).__name__}: {error}\nFAILED {what}")
        return False
    say(f"ok {what}")
    return True


def main(arguments: list[str]) -> int:
    """What the arguments say."""
    match arguments:
        case ["play", *players] if players:
            done = [
                attempt(f"{what}: {short(player)}", partial(test, player))
                for player in players
                for what, test in (("all vectors", play), ("ranges", ranges))
            ]
        case ["lockstep", seed, steps, reference, player]:
            what = f"{steps} random steps as {short(reference)}, seed {seed}: {short(player)}"
            done = [attempt(what, lambda: lockstep(int(seed), int(steps), reference, player))]
        case ["exit", *players] if players:
            done = [
                attempt(f"exit with a run in flight: {short(player)}", partial(leave, player)) for player in players
            ]
        case ["ends", *players] if players:
            done = [each for player in players for each in ends(player)]
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
