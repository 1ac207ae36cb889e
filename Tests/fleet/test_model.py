"""Random calls on a fleet whose clock is told, and on a model made of the rules alone: after each both are in the same state.

FLEET_SECONDS makes it longer (`make torture`); FLEET_SEED plays one scenario again.
"""

from __future__ import annotations

import copy
import os
import random
import time
from collections.abc import Callable
from typing import Any

import psycopg

from conftest import LONG, SECOND, Fleet
from model import (
    DAY,
    ONCE,
    PERIODIC,
    Class,
    Ended,
    Model,
    Refused,
    Task,
)
from server import Server

STEPS = 300
#: How long new scenarios are begun.
SECONDS = 600 if LONG else 12
BEGIN = 1_700_000_000 * SECOND
LEASE = 30 * SECOND
IDS = [f"t{number}" for number in range(9)]
TAGS = ["red", "green"]
QUEUES = ["a", "b", "forgets"]
POLICIES = ["keep", "replace", "update", "append", "append_or_replace"]
SCHEDULES = ["standing", "once", "periodic"]
BACKOFFS = ["none", "linear", "exponential"]
STATES = ["enqueued", "enqueued", "held", None, "running", "taken"]

LIVE = """
select t.seq, t.id, q.name, c.kind, c.handler, c.labels, t.schedule, t.priority, t.expected, t.delay, t.period, t.flex,
  t.recurrence, t.backoff, t.backoff_delay, t.max_attempts, t.response_window, t.tags, t.existing, t.generation, t.registered,
  t.anchor, t.period_base, t.behind is null, s.state, s.run, s.decided, s.worker, s.last_run, s.due, s.attempts, s.stop,
  s.failed_at, s.failure, s.response, s.line, s.est, s.has_next
from task t join class c on c.class = t.class join queue q on q.queue = c.queue left join slot s on s.seq = t.seq
order by t.seq
"""
HISTORY = """
select h.seq, h.ended, h.id, q.name, c.kind, c.handler, h.state, h.schedule, h.priority, h.stop, h.attempts, h.generation, h.run,
  h.registered, h.last_run, h.due, h.est, h.tags, h.response, h.failure, h.result
from history h join class c on c.class = h.class join queue q on q.queue = c.queue order by h.seq
"""


def span(ns: int) -> str:
    """As an interval."""
    assert ns % 1000 == 0
    return f"{ns // 1000} us"


def micros(rnd: random.Random, most: int) -> int:
    """A span of whole microseconds, of any magnitude."""
    return int(rnd.choice([0, 1, rnd.random(), rnd.random() ** 4]) * most) // 1000 * 1000


class Scenario:
    """One fleet, one model."""

    def __init__(self, server: Server, seed: int) -> None:
        self.fleet, self.model, self.rnd = Fleet(server, told=True), Model(), random.Random(seed)
        self.now = BEGIN
        self.told: list[str] = []
        self.given: list[tuple[int, int]] = []
        self.last_run = 0
        self.goes_on(0)
        for queue in QUEUES:
            self.set_queue(queue, retention=0 if queue == "forgets" else 3650 * DAY)
            if self.rnd.random() < 0.5:
                self.set_queue(queue, limit_refresh=self.rnd.randint(1, 3), holds=True)
        self.steps: list[tuple[Callable[[], None], float]] = [
            (self.register, 30),
            (self.claim, 30),
            (self.complete, 25),
            (self.beat, 5),
            (self.judge, 2),
            (self.release, 3),
            (self.cancel, 4),
            (self.cancel_many, 1),
            (self.update, 5),
            (self.retry, 5),
            (self.run_now, 10),
            (self.pause, 2),
            (self.settings, 4),
            (self.hello, 3),
            (self.bye, 1),
            (self.look, 4),
            (self.prune, 0.3),
        ]
        #: Some calls are more frequent than in other scenarios.
        self.weights = [weight * self.rnd.choice([0.5, 1, 1, 2]) for _, weight in self.steps]

    def play(self) -> None:
        """All steps; AssertionError where the two differ."""
        self.hello()
        self.hello()
        for _ in range(STEPS):
            self.goes_on(self.rnd.choice([0, micros(self.rnd, SECOND), micros(self.rnd, 60 * SECOND)]))
            if self.rnd.random() < 0.03:
                self.goes_on(micros(self.rnd, 3600 * SECOND))
            (step,) = self.rnd.choices([step for step, _ in self.steps], self.weights)
            step()
            self.compare()

    def goes_on(self, ns: int) -> None:
        """Time passes."""
        self.now += ns
        self.model.now = self.now
        self.fleet.at(self.now)

    def both(self, statement: str, values: list[Any], of_model: Callable[[], Any]) -> Any:
        """What both answer to a call, or refuse it with."""
        self.told.append(f"{(self.now - BEGIN) / SECOND:.6f} {statement} {values}")
        before = self.model
        try:
            found: Any = self.fleet.rows(statement, *values)
        except psycopg.Error as error:
            if not (error.sqlstate or "").startswith("SE"):
                raise
            found = int((error.sqlstate or "")[2:])
            # What is refused changes nothing.
            self.model = copy.deepcopy(before)
        self.told[-1] += f" = {found}"
        try:
            expected = of_model()
        except Refused as refused:
            expected = refused.args[0]
        self.model = before
        return found, expected

    def check(self, statement: str, values: list[Any], of_model: Callable[[], Any]) -> None:
        """A call that answers one value."""
        found, expected = self.both(statement, values, of_model)
        assert found == expected if isinstance(found, int) else found == [(expected,)], expected

    def call(self, name: str, of_model: Callable[[], Any], /, **values: Any) -> None:
        """The same with named parameters."""
        self.check(f"select {name}({', '.join(f'{key} => %s' for key in values)})", list(values.values()), of_model)

    def number(self) -> int:
        """Of the last record."""
        return int(self.fleet.one("select last_value from task_seq_seq"))

    # ---- calls ----------------------------------------------------------------

    def definition(self, schedule: int) -> dict[str, Any]:
        """Some fields, each absent in some."""
        rnd = self.rnd
        period = micros(rnd, 600 * SECOND) + 1_000_000
        fields: dict[str, Any] = {
            "priority": rnd.randint(1, 5),
            "expected": span(micros(rnd, 700 * SECOND)),
            "delay": span(micros(rnd, 90 * SECOND)),
            "backoff": rnd.choice(BACKOFFS),
            "backoff_delay": span(micros(rnd, 100 * SECOND)),
            "max_attempts": rnd.choice([0, 1, 2, 3]),
            "response_window": rnd.choice([0, 1, 2, 3, 5]),
            "tags": rnd.sample(TAGS, rnd.randint(0, 2)),
            "anchored": rnd.random() < 0.5,
        }
        fields = {key: value for key, value in fields.items() if rnd.random() < 0.6}
        if schedule == PERIODIC:
            fields["every"] = span(period)
            if rnd.random() < 0.5:
                fields["flex"] = span(rnd.choice([0, period // 2_000 * 1_000, period]))
        return fields

    def task(self, id: str, of: Class, schedule: int, existing: int, fields: dict[str, Any]) -> Task:
        """The record that these fields define."""

        def ns(name: str, default: int) -> int:
            return int(fields[name].split()[0]) * 1000 if name in fields else default

        return Task(
            id=id,
            of=of,
            schedule=schedule,
            priority=fields.get("priority", 3),
            expected=ns("expected", 0) if "expected" in fields else None,
            delay=ns("delay", 0),
            period=ns("every", 0),
            flex=ns("flex", 0),
            anchored=fields.get("anchored", False),
            backoff=BACKOFFS.index(fields["backoff"]) if "backoff" in fields else 0 if schedule == 0 else 2,
            backoff_delay=ns("backoff_delay", 30 * SECOND),
            max_attempts=fields.get("max_attempts", 0),
            window=fields.get("response_window", 3),
            tags=tuple(sorted(fields.get("tags", ()))),
            existing=existing,
        )

    def register(self) -> None:
        rnd = self.rnd
        id, schedule = rnd.choice(IDS), rnd.choices(range(3), [1, 4, 2])[0]
        existing = rnd.randrange(5 if schedule == ONCE else 3)
        # Most of them where their id was, so that updates and successors are not all refused.
        queue = QUEUES[IDS.index(id) % 3] if rnd.random() < 0.9 else rnd.choice(QUEUES)
        kind = 1 + (IDS.index(id) == 8) if rnd.random() < 0.9 else 2
        labels = ("gpu",) if rnd.random() < 0.2 else ()
        of = Class(queue, kind, rnd.choice(["h", "k"]), labels)
        fields = self.definition(schedule)
        self.call(
            "register",
            lambda: self.model.register(self.task(id, of, schedule, existing, fields), self.number()),
            id=id,
            handler=of.handler,
            queue=queue,
            kind=["refresh", "processing"][kind - 1],
            labels=list(labels),
            schedule=SCHEDULES[schedule],
            existing=POLICIES[existing],
            **fields,
        )

    def update(self) -> None:
        id = self.rnd.choice(IDS)
        fields = self.definition(ONCE)
        for name in ("anchored", "response_window"):
            fields.pop(name, None)
        task = self.task(id, Class("", 1, ""), ONCE, 0, fields)
        names = {"max_attempts": "max_attempts", "priority": "priority", "tags": "tags", "backoff": "backoff"}
        names |= {"expected": "expected", "delay": "delay", "backoff_delay": "backoff_delay"}
        changes = {name: getattr(task, names[name]) for name in fields}
        if self.rnd.random() < 0.3:
            fields["handler"] = changes["handler"] = self.rnd.choice(["h", "k"])

        def update() -> str:
            self.model.update_task(id, **changes)
            return ""

        self.call("update_task", update, id=id, **fields)

    def cancel(self) -> None:
        id = self.rnd.choice(IDS)
        self.check("select cancel(%s)", [id], lambda: self.model.cancel(id))

    def cancel_many(self) -> None:
        if self.rnd.random() < 0.8:
            tag = self.rnd.choice(TAGS)
            self.check("select cancel_tag(%s)", [tag], lambda: self.model.cancel_tag(tag))
        else:
            queue = self.rnd.choice([*QUEUES, None])
            self.check("select cancel_all(%s)", [queue], lambda: self.model.cancel_all(queue))

    def retry(self) -> None:
        failed = [one.task.id for one in self.model.history if one.state == 5 and not self.model.head(one.task.id)]
        id = self.rnd.choice(failed or IDS)
        self.call("retry", lambda: self.model.retry(id, self.number()), id=id)

    def run_now(self) -> None:
        id = self.rnd.choice(IDS)
        self.call("run_now", lambda: self.model.run_now(id), id=id)

    def pause(self) -> None:
        queue = self.rnd.choice(QUEUES)
        if self.rnd.random() < 0.5:
            ns = micros(self.rnd, 120 * SECOND)
            self.fleet.rows("select pause(%s, %s)", queue, span(ns))
            self.model.queue(queue).paused_until = self.now + ns
        else:
            self.fleet.rows("select resume(%s)", queue)
            self.model.queue(queue).paused_until = 0
        self.told.append(f"{(self.now - BEGIN) / SECOND:.6f} pause or resume {queue}")

    def set_queue(self, name: str, **changes: int) -> None:
        values = {key: value if key in KINDS_OF_NUMBER else span(value) for key, value in changes.items()}

        def change() -> str:
            self.model.set_queue(name, **changes)
            return ""

        self.call("set_queue", change, name=name, **values)

    def settings(self) -> None:
        rnd = self.rnd
        change: dict[str, Any] = rnd.choice(
            [
                {"limit_refresh": rnd.choice([-1, -1, 0, 1, 3])},
                {"limit_processing": rnd.choice([-1, 1, 2])},
                {"holds": rnd.random() < 0.7},
                {"jitter": rnd.choice([0, 1, 500, 1000])},
                {"backoff_min": micros(rnd, 10 * SECOND), "backoff_max": 20 * SECOND + micros(rnd, 500 * SECOND)},
                {"pace": micros(rnd, 900 * SECOND)},
            ]
        )
        self.set_queue(rnd.choice(QUEUES), **change)

    def hello(self) -> None:
        number = self.fleet.hello(lease=LEASE)
        self.model.hello(number, LEASE)
        self.told.append(f"{(self.now - BEGIN) / SECOND:.6f} hello = {number}")

    def worker(self) -> int:
        """One that is there, seldom one that is not."""
        return self.rnd.choice([*self.model.workers] * 8 + [99_999])

    def bye(self) -> None:
        number = self.worker()
        self.check("select bye(%s)", [number], lambda: self.model.bye(number))

    def judge(self) -> None:
        """One beats for a whole lease, and more; others do not."""
        number = self.worker()
        for _ in range(5):
            self.goes_on(LEASE // 3)
            self.beat(number)

    def beat(self, judge: int | None = None) -> None:
        number = judge or self.worker()
        worker = self.model.workers.get(number)
        elapsed: int | None = self.now - worker.beaten if worker else 0
        if judge is None:
            elapsed = self.rnd.choice([elapsed] * 8 + [None, self.now - BEGIN])
        held = [run for _, run in self.given if self.rnd.random() < 0.3]
        classes = self.classes()
        times = {
            of: (self.rnd.randint(1, 9), self.rnd.randint(0, 20 * SECOND)) for of in classes if self.rnd.random() < 0.2
        }
        numbers = [classes[of] for of in times]
        found, expected = self.both(
            "select what, number, value from beat(%s, %s, %s, null, %s, %s, %s)",
            [number, elapsed, held, numbers, *([one[at] for one in times.values()] for at in (0, 1))],
            lambda: self.model.beat(number, elapsed, held, times),
        )
        assert set(found) == expected, expected

    def classes(self) -> dict[Class, int]:
        """All that there are."""
        return {
            Class(queue, kind, handler, tuple(labels)): number
            for number, queue, kind, handler, labels in self.fleet.rows(
                "select class, queue, kind, handler, labels from classes()"
            )
        }

    def claim(self) -> None:
        rnd = self.rnd
        worker = self.worker()
        serves = {of: number for of, number in self.classes().items() if rnd.random() < 0.8}
        most = rnd.choice([1, 1, 2, 3, 20])
        more: dict[str, Any] = {}
        if rnd.random() < 0.3:
            more["room"] = micros(rnd, 60 * SECOND)
        if rnd.random() < 0.3:
            more["total"] = micros(rnd, 60 * SECOND)
        if rnd.random() < 0.1:
            more["first"] = True
        names = "".join(f", {key} => %s" for key in more)
        found, expected = self.both(
            f"select seq, run, id, est, attempts, generation from claim(%s, %s, most => %s{names})",
            [worker, list(serves.values()), most, *more.values()],
            lambda: self.model.claim(
                worker,
                set(serves),
                most,
                more.get("room", DAY),
                *([more.get("total", 2**63), more.get("first", False)]),
            ),
        )
        if isinstance(found, int):
            assert found == expected
            return
        assert [(*row[:1], *row[2:]) for row in found] == [
            (one.seq, one.id, one.estimate, one.attempts, one.generation) for one in expected
        ]
        for (_, run, *_), task in zip(found, expected, strict=True):
            task.run = run
            self.given.append((task.seq, run))
        runs = [row[1] for row in found]
        assert len(set(runs)) == len(runs)
        assert all(run > self.last_run for run in runs), "a number of a run was used again"
        self.last_run = max([self.last_run, *runs])

    def some(self) -> list[tuple[int, int]]:
        """Runs, most of which are open."""
        running = [(one.seq, one.run) for one in self.model.running()]
        chosen = [one for one in running if self.rnd.random() < 0.6]
        chosen += [one for one in self.given[-12:] if self.rnd.random() < 0.1 and one not in chosen]
        self.rnd.shuffle(chosen)
        return chosen

    def complete(self) -> None:
        rnd = self.rnd
        said = []
        for seq, run in self.some():
            outcome = rnd.choices(range(6), [4, 2, 5, 1, 1, 1])[0]
            delay = micros(rnd, 300 * SECOND) if outcome == 2 and rnd.random() < 0.2 else None
            failure = "it broke" if outcome in (2, 3) and rnd.random() < 0.5 else None
            result = b"left" if outcome == 0 and rnd.random() < 0.3 else None
            said.append((seq, run, outcome, rnd.randrange(30 * SECOND), delay, failure, result))
        columns = [list(column) for column in zip(*said, strict=True)] or [[]] * 7
        found, expected = self.both(
            "select run, counts from complete(%s, %s, %s, %s, %s, %s, %s::bytea[])",
            columns,
            lambda: self.model.complete(said),
        )
        assert dict(found) == expected, expected

    def release(self) -> None:
        some = self.some()
        columns = [list(column) for column in zip(*some, strict=True)] or [[], []]
        self.check("select release(%s, %s)", columns, lambda: self.model.release(some))

    def prune(self) -> None:
        age = micros(self.rnd, 3600 * SECOND)
        self.check("select prune(%s)", [span(age)], lambda: self.model.prune(age))

    def look(self) -> None:
        """Questions, which change nothing."""
        some = [one for one in self.given if self.rnd.random() < 0.3]
        ids = {one.seq: one.id for one in [*self.model.live, *(ended.task for ended in self.model.history)]}
        columns = [[seq for seq, _ in some], [run for _, run in some], [ids.get(seq, "t0") for seq, _ in some]]
        assert dict(self.fleet.rows("select run, fate from fate(%s, %s, %s)", *columns)) == {
            run: self.model.fate(seq, run) for seq, run in some
        }
        for id in IDS:
            last = self.model.last(id)
            assert self.fleet.one("select result(%s)", id) == (last.result if last else None)
        self.look_at_lists()
        self.fleet.rows("select promote()")
        ready = self.fleet.rows("select seq from board('ready', most => 1000)")
        everything = {one.of for one in self.model.live}
        for queue in self.model.queues.values():
            queue.paused_until, queue.waits = 0, queue.paused_until  # type: ignore[attr-defined]
        ranked = self.model.ranked(everything)
        for queue in self.model.queues.values():
            queue.paused_until = queue.waits  # type: ignore[attr-defined]
        assert [seq for (seq,) in ready] == [one.seq for one in ranked]

    def look_at_lists(self) -> None:
        """Pages of some of the live records."""
        rnd, records = self.rnd, sorted([*self.model.live, *self.model.blocked], key=lambda one: one.seq)
        for state in (None, "enqueued", "held", "running", "blocked"):
            queue, tag = rnd.choice([None, *QUEUES]), rnd.choice([None, None, *TAGS])
            after, most = rnd.choice([0, records[len(records) // 2].seq if records else 0]), rnd.choice([1, 3, 100])
            want = [
                one.seq
                for one in records
                if one.seq > after
                and queue in (None, one.of.queue)
                and (tag is None or tag in one.tags)
                and state in (None, "enqueued" if one.state == "taken" else one.state)
            ]
            given = [queue, state, tag, after, most]
            assert [row[0] for row in self.fleet.rows("select seq from list(%s, %s, %s, %s, %s)", *given)] == want[
                :most
            ], given

    # ---- the state of both ----------------------------------------------------

    def compare(self) -> None:
        """Everything, record by record."""
        found = {row[0]: row[1:] for row in self.fleet.rows(LIVE)}
        records = [*self.model.live, *self.model.blocked]
        assert found.keys() == {one.seq for one in records}
        for task in records:
            self.compare_live(task, found[task.seq])
        kept = self.fleet.rows(HISTORY)
        assert [row[0] for row in kept] == sorted(one.task.seq for one in self.model.history)
        for ended in self.model.history:
            self.compare_ended(ended, next(row for row in kept if row[0] == ended.task.seq))
        assert self.fleet.rows("select run, worker, id, stop, until from stray order by run") == sorted(
            (one.run, one.worker, one.id, one.stop, one.until) for one in self.model.strays
        )
        assert self.fleet.rows("select worker, ttl, beaten, expires, steady, jumps from worker order by worker") == [
            (one.number, one.ttl, one.beaten, one.expires, one.steady, one.jumps)
            for _, one in sorted(self.model.workers.items())
        ]
        places = {
            (queue.name, kind): self.model.pending(queue.name, kind)
            for queue in self.model.queues.values()
            for kind in queue.limits
        }
        rows = self.fleet.rows("select q.name, p.kind, p.pending from pending p join queue q on q.queue = p.queue")
        assert {row[:2]: row[2] for row in rows} == places

    def compare_live(self, task: Task, row: tuple[Any, ...]) -> None:
        kind = [
            task.id,
            task.of.queue,
            task.of.kind,
            task.of.handler,
            list(task.of.labels),
            task.schedule,
            task.priority,
        ]
        terms = [task.expects, task.delay, task.period, task.flex, task.anchored, task.backoff, task.backoff_delay]
        rest = [task.max_attempts, task.window, list(task.tags) or None, task.existing, task.generation]
        times = [task.registered, task.anchor, task.period_base, task.state != "blocked"]
        defined = (*kind, *terms, *rest, *times)
        assert row[: len(defined)] == defined
        if task.state == "blocked":
            assert row[len(defined)] is None
            return
        state, *stands, response, line, estimate, has_next = row[len(defined) :]
        assert STATES[state] == task.state, task
        ran = [task.run, task.decided, task.worker, task.last_run, task.due, task.attempts, task.stop]
        assert stands == [*ran, task.failed_at, task.failure], task
        assert (tuple(response or ()), estimate, has_next) == (
            task.response,
            task.estimate,
            bool(self.model.behind(task.id)),
        ), task
        ends = (10**7, 10**8, 10**9, 10**10, 6 * 10**10, 6 * 10**11, 36 * 10**11)
        cost = sum(task.estimate > end for end in ends)
        assert line & 255 == task.priority << 4 | cost << 1 | task.is_suspect, task
        # Only what is due is in a line (N18).
        assert state != 0 or task.due <= self.now, task

    def compare_ended(self, ended: Ended, row: tuple[Any, ...]) -> None:
        task = ended.task
        kind = [task.seq, ended.at, task.id, task.of.queue, task.of.kind, task.of.handler, ended.state, task.schedule]
        ran = [task.priority, ended.stop, task.attempts, task.generation, task.run or task.decided, task.registered]
        told = [task.last_run, task.due, task.estimate, list(task.tags) or None, list(task.response) or None]
        assert row == (*kind, *ran, *told, task.failure, ended.result), ended


#: Settings that are no spans.
KINDS_OF_NUMBER = ("limit_refresh", "limit_processing", "holds", "jitter")


def test_n3_to_n27_random_calls_leave_a_fleet_and_its_rules_in_the_same_state(server: Server) -> None:
    told = os.environ.get("FLEET_SEED")
    first = int(told) if told else random.randrange(2**32)
    end = time.monotonic() + SECONDS
    seed, ended = first, 0
    while seed == first or (not told and time.monotonic() < end):
        scenario = Scenario(server, seed)
        try:
            scenario.play()
        except BaseException:
            print(*scenario.told, sep="\n")
            print(f"FLEET_SEED={seed}")
            raise
        finally:
            scenario.fleet.close()
        ended += len(scenario.model.history)
        seed += 1
    print(f"{seed - first} scenarios from seed {first}, {ended} records ended")
    assert ended
