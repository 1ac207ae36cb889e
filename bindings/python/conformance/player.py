"""Plays commands of Tests/conformance through pyselene: python player.py; see the README there."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import quote, unquote

import pyselene as selene

BACKOFFS = {0: selene.NoBackoff, 1: selene.Linear, 2: selene.Exponential}
#: What is otherwise in the library where nothing is said: pyselene has defaults of its own.
AS_IN_C: dict[str, Any] = {"max_pending_refresh": 1, "max_pending_processing": 10, "minimum_backoff": 10}
FIELDS = {"expected_response": "expected", "initial_delay": "delay"}


def span(ns: str) -> timedelta:
    """A length of time."""
    return timedelta(microseconds=int(ns) // 1000)


class Work:
    """The handler of a case of ends, and the scheduler that runs it."""

    def __init__(self, answer: str, path: str) -> None:
        self.answer = answer
        self.scheduler = selene.Scheduler(path=path)
        self.began, self.released = threading.Event(), threading.Event()

    def __call__(self, run: selene.Run) -> None:
        self.began.set()
        if self.answer in ("deaf", "completes"):
            self.released.wait()
        else:
            run.stopping.wait()
            self.reply()

    async def on_loop(self, _run: selene.Run) -> None:
        """The same as a coroutine, which is asked to stop by a cancellation."""
        self.began.set()
        while not self.released.is_set():
            try:
                await asyncio.to_thread(self.released.wait)
            except asyncio.CancelledError:
                if self.answer not in ("deaf", "completes"):
                    self.released.set()
                    self.reply()

    def reply(self) -> None:
        """What it answers when it is asked to stop."""
        if self.answer == "obeys":
            raise selene.Stopped
        if self.answer == "fails":
            raise RuntimeError("it was asked to stop")

    def end(self, end: Callable[[], object]) -> None:
        """Ends it while the handler works; one that completes does so while the end waits."""
        self.began.wait()
        if self.answer == "completes":
            threading.Timer(0, self.released.set).start()
        end()


class Player:
    """One scheduler, one cycle, one run."""

    def __init__(self) -> None:
        self.now = 0
        self.scheduler: selene.Scheduler | None = None
        self.heard: list[str] = []

    def clock(self, ns: str) -> None:
        self.now = int(ns)
        if self.scheduler:
            self.scheduler.now_ns  # noqa: B018 - what is due by then is done

    def open(self, **given: str) -> None:
        self.close()
        options: dict[str, Any] = dict(AS_IN_C)
        for key, value in given.items():
            if key == "permitted":
                options[key] = [unquote(one) for one in value.split(",")]
            elif key == "path":
                options[key] = unquote(value)
            elif key.startswith("minimum_interval") or key == "expedited_quota":
                options[key] = span(value)
            elif key == "seed":
                options[key] = int(value)
            elif key.startswith("max_pending"):
                options[key] = None if int(value) == 0xFFFFFFFF else int(value)
            else:
                options[key] = bool(int(value))
        self.scheduler = selene.Scheduler(clock=lambda: self.now, **options)
        self.conditions_of(self.scheduler, 255)
        self.heard = []
        self.scheduler.observe(lambda event: self.heard.append(f"{int(event.type)}:{event.id}"))

    def close(self) -> None:
        if self.scheduler:
            self.scheduler.close()
        self.scheduler = None

    def handler(self, name: str) -> None:
        self.it.register_handler(unquote(name), None)

    def conditions(self, bits: str) -> None:
        self.conditions_of(self.it, int(bits))

    @staticmethod
    def conditions_of(scheduler: selene.Scheduler, bits: int) -> None:
        names = {selene.Constraint.EXTERNAL_POWER: "power"}
        scheduler.set_conditions(**{names.get(one, str(one)): bool(bits & one) for one in selene.Constraint})

    def enable(self, bits: str) -> None:
        self.it.enable({kind for kind in selene.Kind if int(bits) & kind})

    def register(self, **given: str) -> object:
        fields: dict[str, Any] = {}
        for key, value in given.items():
            if key in ("id", "handler", "group"):
                fields[key] = unquote(value)
            elif key == "conditions":
                fields[key] = [unquote(name) for name in value.split(",")]
            elif key in ("tags", "after"):
                fields[key] = [unquote(tag) for tag in value.split(",")]
            elif key == "input_size":
                fields["input"] = bytes(int(value))
            elif key == "period":
                fields["every"] = span(value)
            elif key == "recurrence":
                fields["anchored"] = int(value) == 1
            elif key in ("expected_response", "initial_delay", "latest_begin", "flex", "timeout", "stall_limit"):
                fields[FIELDS.get(key, key)] = span(value)
            elif key == "flags":
                fields["after_any_end"], fields["expedited"] = int(value) & 2 > 0, int(value) & 4 > 0
                fields["out_of_quota"] = int(value) & 8
            elif key == "jitter":
                fields[key] = int(value) / 1000
            elif key == "max_attempts":
                fields[key] = int(value) or None
            elif key == "constraints":
                fields["requires"] = [selene.Constraint(1 << bit) for bit in range(32) if int(value) >> bit & 1]
            elif key not in ("backoff", "backoff_delay"):
                fields[FIELDS.get(key, key)] = int(value)
        if "backoff" in given or "backoff_delay" in given:
            standing = int(given.get("schedule", selene.Schedule.STANDING)) == selene.Schedule.STANDING
            usual = 1 if standing else 3
            delay = span(given.get("backoff_delay", "30000000000"))
            fields["backoff"] = BACKOFFS[int(given.get("backoff", usual)) - 1](delay)
        for name, kind in (("schedule", selene.Schedule), ("kind", selene.Kind), ("existing", selene.Existing)):
            if name in fields:
                fields[name] = kind(fields[name])
        return int(self.it.register(selene.Task(**fields)))

    def cancel(self, id: str) -> object:
        return self.it.cancel(unquote(id))

    def cancel_tag(self, tag: str) -> object:
        return self.it.cancel_tag(unquote(tag))

    def cancel_all(self) -> object:
        return self.it.cancel_all()

    def pause(self, id: str) -> object:
        return self.it.pause(unquote(id))

    def define(self, name: str = "") -> None:
        self.it.define_condition(unquote(name))

    def undefine(self, name: str = "") -> None:
        self.it.undefine_condition(unquote(name))

    def meet(self, name: str = "") -> None:
        self.it.set_condition(unquote(name), True)

    def lose(self, name: str = "") -> None:
        self.it.set_condition(unquote(name), False)

    def pause_group(self, name: str = "") -> None:
        self.it.pause(group=unquote(name))

    def resume_group(self, name: str = "") -> None:
        self.it.resume(group=unquote(name))

    def limit_group(self, name: str, limit: str) -> None:
        self.it.group(unquote(name), limit=int(limit) or None)

    def pause_tag(self, tag: str) -> object:
        return self.it.pause(tag=unquote(tag))

    def resume(self, id: str) -> object:
        return self.it.resume(unquote(id))

    def resume_tag(self, tag: str) -> object:
        return self.it.resume(tag=unquote(tag))

    def retry(self, id: str) -> None:
        self.it.retry(unquote(id))

    def info(self, id: str) -> object:
        info = self.it.get(unquote(id))
        failure = info.last_failure.message if info.last_failure else ""
        numbers = [int(info.state), info.attempts, info.earliest_begin_ns, info.last_run_ns, info.estimate_ns]
        return [*numbers, info.generation, info.appended, len(info.response_times_ns), failure or "-"]

    def waits(self, id: str) -> object:
        waits = self.it.waits(unquote(id))
        parts = [
            word
            for part in waits.parts
            for word in (str(part.code), int(getattr(part.about, "value", 0)), part.duration_ns, part.times)
        ]
        return [*parts, "preferred", *map(quote, waits.preferred_ids)]

    def left(self, id: str) -> object:
        info = self.it.get(unquote(id))
        return [int(info.stop_reason), "=" + self.it.output(unquote(id)).text]

    def set_next(self, id: str, at: str) -> None:
        self.it.set_next(unquote(id), selene._time.instant(int(at)))

    def output(self, text: str) -> None:
        self.run.set_output(unquote(text))

    def progress(self, done: str, total: str) -> None:
        self.run.progress(int(done), int(total))

    def wakeup(self) -> object:
        at = self.it.next_wakeup()
        return "never" if at is None else selene._time.instant_ns(at, "at")

    def window(
        self, budget: str, reserve: str = "", kinds: str = "0", strict: str = "", frozen: str = ""
    ) -> dict[str, Any]:
        window: dict[str, Any] = {"budget": span(budget), "strict_fit": bool(strict), "frozen": bool(frozen)}
        window["kinds"] = {kind for kind in selene.Kind if int(kinds) & kind} or None
        return window | ({"reserve": span(reserve)} if reserve else {})

    def plan(self, **given: str) -> object:
        window = self.window(**given)
        del window["frozen"]  # a plan has no time in which more becomes due
        return [run.id for run in self.it.plan(**window).runs]

    def begin(self, **given: str) -> None:
        self.cycle = self.it.begin(**self.window(**given))

    def next(self) -> object:
        found = self.cycle.next()
        if not isinstance(found, selene.Run):
            return "done" if found is None else "wait"
        self.run = found
        return ["run", found.id, repr(found.score), found.estimate_ns, found.attempt]

    def complete(self, outcome: str) -> None:
        self.run.complete(selene.Outcome(int(outcome)))

    def fail(self, message: str) -> None:
        self.run.retry(why=unquote(message))

    def stopping(self) -> object:
        return int(self.run.stopping.reason)

    def end(self) -> object:
        report = self.cycle.end()
        return [int(report.result), report.ended_at_ns, report.eligible, *(int(run.outcome) for run in report.runs)]

    def events(self) -> object:
        heard, self.heard = self.heard, []
        return heard

    def exit(self) -> None:
        sys.exit(0)

    def ends(self, way: str, answer: str, grace: str, path: str) -> None:
        work, seconds = Work(answer, unquote(path)), int(grace) / 1e9
        if way == "wait":
            work.scheduler.register_handler("work", work.on_loop)
            asyncio.run(self.cancelled(work, seconds))
        elif way == "shutdown":
            work.scheduler.register_handler("work", work)
            ending = threading.Thread(target=work.end, args=(work.scheduler.stop,))
            ending.start()
            work.scheduler.run_forever(grace=seconds, signals=False)
            ending.join()
            work.released.set()
        else:
            work.scheduler.register_handler("work", work)
            driver = work.scheduler.driver()
            driver.__enter__()
            if way == "exit":
                if answer != "idle":
                    work.began.wait()
                sys.exit(0)
            work.end(lambda: work.scheduler.close(grace=seconds))
            work.released.set()
            driver.close()
        work.scheduler.close(grace=0)

    @staticmethod
    async def cancelled(work: Work, seconds: float) -> None:
        """A run_forever_async() that is cancelled."""
        running = asyncio.create_task(work.scheduler.run_forever_async(grace=seconds, signals=False))
        await asyncio.to_thread(work.began.wait)
        work.end(running.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await running
        work.released.set()

    def unknown(self, what: str) -> None:
        if what == "constraint":
            self.it.register(selene.Task("b", handler="work", requires=["netwrk"]))  # type: ignore[list-item]
        elif what == "kind":
            self.it.register(selene.Task("b", handler="work", kind="refreshing"))  # type: ignore[arg-type]
        elif what == "field":
            selene.Task("b", handler="work", prioriti=3)  # type: ignore[call-arg]
        else:
            selene.Scheduler(max_pendin=3)  # type: ignore[call-arg]

    @property
    def it(self) -> selene.Scheduler:
        assert self.scheduler
        return self.scheduler

    def play(self, line: str) -> str:
        """The answer to a command."""
        verb, *words = line.split()
        fields = dict(word.split("=", 1) for word in words if "=" in word)
        try:
            answer = getattr(self, verb)(*(word for word in words if "=" not in word), **fields)
        except selene.SeleneError as error:
            return f"error {error.name} {error.detail}"
        except (TypeError, ValueError) as error:
            return f"error INVALID_ARGUMENT {error}"
        listed = [] if answer is None else answer if isinstance(answer, list) else [answer]
        return " ".join(["ok", *(quote(str(one), safe="") for one in listed)])


if __name__ == "__main__":
    player = Player()
    for command in sys.stdin:
        print(player.play(command), flush=True)
