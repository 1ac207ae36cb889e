"""A fleet by its rules alone, small and slow: everything is in lists, and what comes next is found by sorting all of it.

It knows nothing of lines, slots or indexes. Numbers of records and runs are those that the database gave.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

NEVER = 2**63 - 1
SECOND = 1_000_000_000
DAY = 86_400 * SECOND
STANDING, ONCE, PERIODIC = range(3)
KEEP, REPLACE, UPDATE, APPEND, APPEND_OR_REPLACE = range(5)
SUCCEEDED, FAILED, CANCELLED = 4, 5, 6
NEW_DATA, NO_DATA, FAILURE, ABANDONED, EXPIRED, INTERRUPTED = range(6)
#: Why a run was stopped, as the header numbers it.
STOPS = {EXPIRED: 1, INTERRUPTED: 7}
PREEMPTED, REPLACED, BY_CANCEL = 2, 4, 5
WORDS = {EXPIRED: "the window ended", INTERRUPTED: "the process ended"}


class Refused(Exception):
    """With the number of the status."""


def splitmix64(seed: int) -> int:
    """The first number of the generator."""
    mask = 2**64 - 1
    z = (seed + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


@dataclass
class Queue:
    """What is set for all of its tasks."""

    name: str
    pace: int = 900 * SECOND
    backoff_min: int = 10 * SECOND
    backoff_max: int = 18_000 * SECOND
    jitter: int = 0
    retention: int = DAY
    limits: dict[int, int] = field(default_factory=dict)
    holds: bool = False
    paused_until: int = 0


@dataclass
class Worker:
    """An incarnation."""

    number: int
    ttl: int
    beaten: int
    steady: int
    jumps: int = 0

    @property
    def expires(self) -> int:
        return self.beaten + self.ttl


@dataclass(frozen=True)
class Class:
    """Tasks that the same nodes can run."""

    queue: str
    kind: int
    handler: str
    labels: tuple[str, ...] = ()


@dataclass
class Task:
    """A live record."""

    id: str
    of: Class
    schedule: int
    priority: int
    expected: int | None
    delay: int
    period: int
    flex: int
    anchored: bool
    backoff: int
    backoff_delay: int
    max_attempts: int
    window: int
    tags: tuple[str, ...]
    existing: int
    seq: int = 0
    #: What it is expected to take while it has no response times.
    expects: int = 0
    generation: int = 0
    registered: int = 0
    anchor: int = 0
    period_base: int | None = None
    #: enqueued, held, blocked, running, or taken: its id is another run's.
    state: str = "enqueued"
    run: int = 0
    decided: int = 0
    worker: int = 0
    last_run: int = 0
    due: int = 0
    attempts: int = 0
    stop: int = 0
    failed_at: int | None = None
    failure: str | None = None
    response: tuple[int, ...] = ()
    is_suspect: bool = False
    #: It was to blame, and runs alone.
    is_alone: bool = False
    #: How often its process has ended in a run of it since one was decided.
    deaths: int = 0
    estimate: int = 0

    @property
    def has_place(self) -> bool:
        return self.schedule != STANDING and self.state not in ("held", "blocked")

    def first_begin(self, n: int) -> int:
        return n + self.delay + (self.period - self.flex if 0 < self.flex < self.period else 0)

    def next_period(self, n: int) -> int:
        if not self.anchored:
            return n + self.period
        return self.anchor if n < self.anchor else self.anchor + ((n - self.anchor) // self.period + 1) * self.period

    def mean(self) -> int:
        last = self.response[-self.window :] if self.window else ()
        return sum(last) // len(last) if last else self.expects


@dataclass
class Ended:
    """A record of the history."""

    task: Task
    state: int
    at: int
    stop: int
    result: bytes | None = None


@dataclass
class Stray:
    """A run whose record is gone."""

    run: int
    worker: int
    id: str
    stop: int
    until: int


class Model:
    """All of it. `now` is set before each call; `number` is what the database numbers the next record by."""

    def __init__(self) -> None:
        self.now = 0
        self.queues: dict[str, Queue] = {}
        self.live: list[Task] = []
        self.blocked: list[Task] = []
        self.history: list[Ended] = []
        self.strays: list[Stray] = []
        self.workers: dict[int, Worker] = {}
        self.means: dict[Class, tuple[int, int]] = {}

    # ---- what is there --------------------------------------------------------

    def queue(self, name: str) -> Queue:
        return self.queues.setdefault(name, Queue(name))

    def head(self, id: str) -> Task | None:
        return next((one for one in self.live if one.id == id), None)

    def behind(self, id: str) -> list[Task]:
        return sorted((one for one in self.blocked if one.id == id), key=lambda one: one.seq)

    def last(self, id: str) -> Ended | None:
        of_id = [one for one in self.history if one.task.id == id]
        return max(of_id, key=lambda one: (one.at, one.task.seq)) if of_id else None

    def running(self) -> list[Task]:
        return [one for one in self.live if one.state == "running"]

    def mean_of(self, of: Class) -> int:
        return self.means.setdefault(of, (5 * SECOND, 0))[0]

    def expects(self, task: Task) -> int:
        return self.mean_of(task.of) if task.expected is None else task.expected

    def is_taken(self, id: str) -> bool:
        return any(one.id == id and one.until > self.now for one in self.strays)

    # ---- places (T6) ----------------------------------------------------------

    def pending(self, queue: str, kind: int) -> int:
        return sum(one.has_place and (one.of.queue, one.of.kind) == (queue, kind) for one in self.live)

    def fill(self, of: Class) -> None:
        """Free places go to those that are held."""
        most = self.queue(of.queue).limits.get(of.kind, NEVER)
        held = [one for one in self.live if one.state == "held" and (one.of.queue, one.of.kind) == (of.queue, of.kind)]
        for one in sorted(held, key=lambda one: (-one.priority, one.seq)):
            if self.pending(of.queue, of.kind) < most:
                one.state = "taken" if self.is_taken(one.id) else "enqueued"

    def take_place(self, task: Task) -> bool:
        """Whether there is one; refused where nothing is held."""
        queue = self.queue(task.of.queue)
        if task.schedule == STANDING:
            return True
        if self.pending(task.of.queue, task.of.kind) < queue.limits.get(task.of.kind, NEVER):
            return True
        if not queue.holds:
            raise Refused(2)
        return False

    # ---- the end of a record --------------------------------------------------

    def remember(self, task: Task, state: int, stop: int, result: bytes | None = None) -> None:
        if self.queue(task.of.queue).retention > 0:
            self.history.append(Ended(replace(task), state, self.now, stop, result))

    def finish(self, task: Task, state: int, stop: int, result: bytes | None = None, fills: bool = True) -> None:
        self.live.remove(task)
        self.remember(task, state, stop, result)
        if task.state == "running" and state == CANCELLED:
            self.strays.append(Stray(task.run, task.worker, task.id, stop, self.now + 600 * SECOND))
        for one in self.behind(task.id):
            self.blocked.remove(one)
            one.registered, one.anchor = self.now, self.now + one.delay
            if state != SUCCEEDED and one.existing == APPEND:
                one.last_run, one.due, one.estimate = self.now, one.anchor, one.expects
                self.remember(one, FAILED, 0)
                state = FAILED
                continue
            one.state, one.expects = "enqueued", self.expects(one)
            one.last_run, one.due, one.estimate = self.now, one.anchor, one.expects
            self.live.append(one)
            break
        if fills:
            self.fill(task.of)

    def cancel_from(self, id: str, seq: int) -> int:
        """What waits, from a number on."""
        gone = [one for one in self.behind(id) if one.seq >= seq]
        for one in gone:
            self.blocked.remove(one)
            one.last_run, one.due, one.estimate = one.registered, one.anchor, one.expects
            self.remember(one, CANCELLED, BY_CANCEL)
        return len(gone)

    # ---- registering (T4, T5) -------------------------------------------------

    def register(self, task: Task, number: int) -> str:
        queue = self.queue(task.of.queue)
        task.backoff_delay = min(max(task.backoff_delay, queue.backoff_min), queue.backoff_max)
        task.expects = self.expects(task)
        old = self.head(task.id)
        if old is None:
            last = self.last(task.id)
            if task.existing == APPEND and last and last.state != SUCCEEDED:
                task.seq, task.registered = number, self.now
                task.anchor = task.due = task.first_begin(self.now)
                task.last_run, task.estimate = self.now, task.expects
                self.remember(task, last.state, 0)
                return "added"
            return self.add(task, number)
        if task.existing == KEEP:
            return "kept"
        is_same = (old.of.queue, old.of.kind) == (task.of.queue, task.of.kind)
        if task.existing == REPLACE:
            keeps = old.has_place and task.schedule != STANDING and is_same
            self.cancel_from(task.id, 0)
            self.finish(old, CANCELLED, REPLACED, fills=not keeps)
            self.add(task, number, has_place=keeps)
            return "replaced"
        if task.existing == UPDATE:
            if not is_same or old.schedule != task.schedule:
                raise Refused(16)
            self.revise(task, old)
            return "updated"
        if old.schedule != ONCE or not is_same:
            raise Refused(16)
        task.seq, task.registered, task.anchor, task.state = number, self.now, self.now + task.delay, "blocked"
        self.blocked.append(task)
        return "appended"

    def add(self, task: Task, number: int, has_place: bool = False) -> str:
        is_held = not has_place and not self.take_place(task)
        task.seq, task.registered, task.last_run = number, self.now, self.now
        task.anchor = task.due = task.first_begin(self.now)
        task.estimate = task.expects
        task.state = "held" if is_held else "taken" if self.is_taken(task.id) else "enqueued"
        self.live.append(task)
        return "held" if is_held else "added"

    def revise(self, task: Task, old: Task) -> None:
        """The definition is the new one's, what happened the old one's."""
        old.generation += 1
        for name in [
            "of",
            "priority",
            "backoff",
            "anchored",
            "window",
            "existing",
            "max_attempts",
            "expected",
            "expects",
            "delay",
            "period",
            "flex",
            "backoff_delay",
            "tags",
        ]:
            setattr(old, name, getattr(task, name))
        if old.attempts == 0 and not (old.schedule == STANDING and old.decided):
            if old.period_base is not None:
                old.due = old.next_period(old.period_base)
            else:
                old.anchor = old.due = old.first_begin(old.registered)
        old.response = old.response[-old.window :] if old.window else ()
        old.estimate = old.mean()

    def update_task(self, id: str, **changes: Any) -> None:
        old = self.head(id)
        if old is None:
            raise Refused(21)
        queue = self.queue(old.of.queue)
        handler = changes.pop("handler", None)
        new = replace(old, **changes)
        if handler:
            new.of = replace(old.of, handler=handler)
            self.mean_of(new.of)
        if "expected" in changes:
            new.expects = changes["expected"]
        new.backoff_delay = min(max(new.backoff_delay, queue.backoff_min), queue.backoff_max)
        self.revise(new, old)

    # ---- cancelling (T8), again (R7) ------------------------------------------

    def cancel(self, id: str) -> int:
        task = self.head(id)
        if task is None:
            if self.last(id) is None:
                raise Refused(21)
            return 0
        return self.cancel_record(task)

    def cancel_record(self, task: Task) -> int:
        count = 1 + self.cancel_from(task.id, 0)
        self.finish(task, CANCELLED, BY_CANCEL)
        return count

    def cancel_tag(self, tag: str) -> int:
        count = 0
        for task in sorted(self.live, key=lambda one: one.seq):
            if tag in task.tags:
                count += self.cancel_record(task)
            elif first := [one for one in self.behind(task.id) if tag in one.tags]:
                count += self.cancel_from(task.id, first[0].seq)
        return count

    def cancel_all(self, queue: str | None) -> int:
        mine = [one for one in self.live if queue is None or one.of.queue == queue]
        return sum(self.cancel_record(one) for one in sorted(mine, key=lambda one: one.seq))

    def retry(self, id: str, number: int) -> str:
        last = self.last(id)
        if self.head(id):
            raise Refused(16)
        if last is None:
            raise Refused(21)
        if last.state != FAILED:
            raise Refused(16)
        old = last.task
        task = replace(old, seq=number, run=0, decided=0, worker=0, stop=0, attempts=0, is_suspect=False)
        task.is_alone, task.deaths = False, 0
        task.period_base, task.failed_at = None, last.at
        task.expects = self.expects(task) if task.expected is None else task.expects
        is_held = not self.take_place(task)
        task.registered = task.anchor = task.last_run = task.due = self.now
        task.estimate = task.mean()
        task.state = "held" if is_held else "taken" if self.is_taken(id) else "enqueued"
        self.live.append(task)
        return "held" if is_held else "added"

    def run_now(self, id: str) -> str:
        task = self.head(id)
        if task is None:
            raise Refused(21)
        if task.state == "running":
            raise Refused(16)
        task.due = min(task.due, self.now)
        return {"held": "held", "taken": "still_running"}.get(task.state, "ready")

    # ---- claiming (N4, N5, N15, N18, C3) --------------------------------------

    def ranked(self, classes: set[Class]) -> list[Task]:
        """What is due, the best first."""
        ready = [
            one
            for one in self.live
            if one.state == "enqueued"
            and one.due <= self.now
            and one.of in classes
            and self.queue(one.of.queue).paused_until <= self.now
        ]
        return sorted(ready, key=lambda one: (-one.priority * (self.now - one.last_run), -one.priority, one.seq))

    def claim(
        self, worker: int, classes: set[Class], most: int, room: int = NEVER, total: int = NEVER, first: bool = False
    ) -> list[Task]:
        """What it takes, in order; the numbers of runs come from the database."""
        if worker not in self.workers:
            raise Refused(17)
        mine = [one for one in self.running() if one.worker == worker]
        if any(one.is_alone for one in mine):
            return []
        fits = [one for one in self.ranked(classes) if first or one.estimate <= room]
        suspects = [
            one
            for one in fits
            if one.is_suspect
            and (not mine or not one.is_alone or self.now - max(one.due, one.last_run) > 30 * SECOND)
            and not any(each.is_suspect for each in mine)
        ][:1]
        if suspects and suspects[0].is_alone and any(not one.is_suspect for one in fits[: fits.index(suspects[0])]):
            suspects = []
        if suspects and suspects[0].is_alone:
            if mine:
                return []
            fits = suspects
        fits = [one for one in fits if not one.is_suspect or one in suspects]
        taken: list[Task] = []
        for one in fits[: 1 if first else most]:
            if taken and sum(each.estimate for each in [*taken, one]) > total:
                break
            taken.append(one)
        for one in taken:
            one.state, one.worker = "running", worker
            one.attempts += 1
        return taken

    # ---- decisions (C9, C10, N17, N20) ----------------------------------------

    def delay(self, policy: int, base: int, attempt: int, most: int, jitter: int, run: int) -> int:
        delay = (0, min(base * attempt, most), min(base * 2 ** (max(attempt, 1) - 1), most))[policy]
        return delay - delay * jitter * ((splitmix64(run) * 1001) >> 64) // 1_000_000

    def complete(self, given: list[tuple[Any, ...]]) -> dict[int, bool]:
        """Task, run, outcome, response time, delay, failure, result of each."""
        counts = {}
        for seq, run, *said in sorted(given, key=lambda one: one[0]):
            task = next((one for one in self.running() if (one.seq, one.run) == (seq, run)), None)
            counts[run] = task is not None
            if task:
                self.decide(task, *said)
        if not all(counts.values()):
            self.come_back({run for _, run, *_ in given})
        return counts

    def decide(
        self, task: Task, outcome: int, response: int, delay: int | None, failure: str | None, result: bytes | None
    ) -> None:
        queue = self.queue(task.of.queue)
        is_good = outcome in (NEW_DATA, NO_DATA)
        is_last = outcome != ABANDONED and not is_good and 0 < task.max_attempts <= task.attempts
        is_over = task.schedule != STANDING and (is_good or outcome == ABANDONED or is_last)
        wait = 0
        if not is_good and outcome != ABANDONED:
            wait = self.delay(
                task.backoff, task.backoff_delay, task.attempts, queue.backoff_max, queue.jitter, task.run
            )
            wait = wait if delay is None else delay
            if outcome == INTERRUPTED:
                most = max(queue.backoff_max, 30 * SECOND)
                wait = max(wait, self.delay(2, 30 * SECOND, task.attempts, most, 0, 0))
        if outcome != INTERRUPTED and task.window:
            task.response = (*task.response, response)[-task.window :]
        task.estimate, task.last_run, task.decided, task.is_suspect = task.mean(), self.now, task.run, False
        task.is_alone, task.deaths = False, 0
        self.end_run(task, is_over, is_good or outcome == ABANDONED, wait, outcome)
        task.failed_at = None if is_good else self.now
        task.failure = None if is_good else WORDS.get(outcome) if failure is None else failure
        if is_over and task.schedule == ONCE:
            self.finish(task, SUCCEEDED if is_good else FAILED, task.stop, result)
            return
        task.state, task.run, task.worker = "enqueued", 0, 0

    def end_run(self, task: Task, is_over: bool, is_whole: bool, wait: int, outcome: int) -> None:
        """When it is due again, and what its attempts are."""
        task.stop = STOPS.get(outcome, 0)
        if is_over and task.schedule == ONCE:
            return
        if is_over:
            task.due, task.period_base = task.next_period(self.now), self.now
        else:
            task.due = self.now + max(wait, self.queue(task.of.queue).pace if task.schedule == STANDING else 0)
        if is_over or (task.schedule == STANDING and is_whole):
            task.attempts = 0

    def come_back(self, runs: set[int]) -> None:
        ids = {one.id for one in self.strays if one.run in runs}
        self.strays = [one for one in self.strays if one.run not in runs]
        for one in self.live:
            if one.id in ids and one.state == "taken" and not any(each.id == one.id for each in self.strays):
                one.state = "enqueued"

    def release(self, given: list[tuple[int, int]]) -> int:
        mine = [one for one in self.running() if (one.seq, one.run) in given]
        for one in mine:
            one.state, one.run, one.worker, one.stop = "enqueued", 0, 0, PREEMPTED
            one.attempts -= 1
        if len(mine) < len(given):
            self.come_back({run for _, run in given})
        return len(mine)

    def fate(self, seq: int, run: int) -> int:
        """Open, decided, or lost. What is told of a record that has ended is its last run."""
        if any((one.seq, one.run) == (seq, run) for one in self.running()):
            return 0
        decided = any(one.seq == seq and one.decided == run for one in self.live) or any(
            one.task.seq == seq and one.task.decided == run == (one.task.run or run) and one.state != CANCELLED
            for one in self.history
        )
        return 1 if decided else 2

    # ---- workers (N10 to N15) -------------------------------------------------

    def hello(self, number: int, lease: int) -> None:
        self.workers[number] = Worker(number, lease, self.now, self.now)

    def lost(self, worker: int, held: list[int]) -> set[tuple[int, int]]:
        mine = {one.run for one in self.running() if one.worker == worker}
        stops = {one.run: one.stop for one in self.strays}
        return {(run, stops.get(run, 7)) for run in held if run not in mine}

    def beat(
        self, number: int, elapsed: int | None, held: list[int], times: dict[Class, tuple[int, int]]
    ) -> set[tuple[int, int | None, int | None]]:
        worker = self.workers.get(number)
        if worker is None:
            return set()
        gap, rows = self.now - worker.beaten, set[tuple[int, int | None, int | None]]()
        if elapsed is not None and abs(gap - elapsed) > worker.ttl // 10:
            worker.steady, worker.jumps = self.now, worker.jumps + 1
            rows.add((2, gap - elapsed, None))
        elif elapsed is None or gap > worker.ttl // 2:
            worker.steady = self.now
        worker.beaten = self.now
        rows.add((0, worker.expires, worker.ttl))
        rows |= {(1, run, stop) for run, stop in self.lost(number, held)}
        for of, (count, sum_) in times.items():
            mean, samples = self.means.get(of, (5 * SECOND, 0))
            weight = min(samples, 1000)
            self.means[of] = ((mean * weight + sum_) // (weight + count), weight + count)
        if worker.steady <= self.now - worker.ttl and (taken := self.reap()):
            rows.add((3, taken, None))
        for queue in self.queues.values():
            for kind in queue.limits:
                self.fill(Class(queue.name, kind, ""))
        self.come_back({one.run for one in self.strays if one.until <= self.now})
        return rows

    def is_dead(self, number: int) -> bool:
        return number not in self.workers or self.workers[number].expires < self.now

    def reap(self) -> int:
        lost = sorted(
            (one for one in self.running() if self.is_dead(one.worker)), key=lambda one: (one.worker, one.seq)
        )
        blamed = {number: self.blame(number) for number in {one.worker for one in lost}}
        for task in lost:
            if task.seq != blamed[task.worker]:
                task.attempts -= 1
                self.suspect(task)
                continue
            queue = self.queue(task.of.queue)
            is_over = task.schedule != STANDING and 0 < task.max_attempts <= task.attempts
            policy = self.delay(
                task.backoff, task.backoff_delay, task.attempts, queue.backoff_max, queue.jitter, task.run
            )
            least = self.delay(2, 30 * SECOND, task.deaths, max(queue.backoff_max, 30 * SECOND), 0, 0)
            self.end_run(task, is_over, False, max(policy, least) if task.deaths else 0, INTERRUPTED)
            task.last_run, task.failed_at, task.failure = self.now, self.now, WORDS[INTERRUPTED]
            if is_over and task.schedule == ONCE:
                self.finish(task, FAILED, task.stop)
                continue
            task.is_alone = True
            self.suspect(task)
        self.come_back({one.run for one in self.strays if self.is_dead(one.worker)})
        self.workers = {number: one for number, one in self.workers.items() if not self.is_dead(number)}
        return len(lost)

    def blame(self, number: int) -> int:
        """The record that is to blame for the death of a worker; 0: none (V7)."""
        mine = [one for one in self.running() if one.worker == number]
        if suspects := [one.seq for one in mine if one.is_suspect]:
            return suspects[0]
        beside = [one for one in self.strays if one.worker == number]
        return mine[0].seq if len(mine) == 1 and not beside else 0

    def suspect(self, task: Task) -> None:
        """Its process ended while it ran."""
        task.state, task.run, task.worker, task.is_suspect = "enqueued", 0, 0, True
        task.deaths += 1
        task.stop, task.failed_at, task.failure = STOPS[INTERRUPTED], self.now, WORDS[INTERRUPTED]

    def bye(self, number: int) -> int:
        mine = [(one.seq, one.run) for one in self.running() if one.worker == number]
        self.release(mine)
        self.come_back({one.run for one in self.strays if one.worker == number})
        self.workers.pop(number, None)
        return len(mine)

    # ---- queues, history ------------------------------------------------------

    def set_queue(self, name: str, **changes: Any) -> None:
        queue = self.queue(name)
        for key, value in changes.items():
            if key in ("limit_refresh", "limit_processing"):
                kind = 1 if key == "limit_refresh" else 2
                queue.limits.pop(kind, None)
                if value >= 0:
                    queue.limits[kind] = value
            else:
                setattr(queue, key, value)
        for kind in (1, 2):
            self.fill(Class(name, kind, ""))

    def prune(self, age: int) -> int:
        kept = [one for one in self.history if one.at > self.now - age]
        gone = len(self.history) - len(kept)
        self.history = kept
        return gone
