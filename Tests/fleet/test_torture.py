"""Workers in C and in Python are killed, stopped and cut off; then everything is counted. FLEET_KILLS says how many are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from itertools import count
from pathlib import Path

from conftest import Fleet
from workers import PYTHON, rest, wait

KILLS = int(os.environ.get("FLEET_KILLS", "20"))
WORKERS = 4 if KILLS < 1000 else 6
#: A kill every so many seconds, on the average.
PAUSE = 0.25
#: So many tasks are there at least while workers are killed.
LIVE = 400
#: One in so many fails whenever it runs.
FAILS = 20
TASKS = f"""
select count(register('t' || i, handler => case when i %% {FAILS} = 0 then 'fail' else 'send' end, priority => 1 + i %% 5,
  backoff_delay => '100 ms', max_attempts => case when i %% {FAILS} = 0 then 2 else 0 end))
from generate_series(%s::int, %s::int) i
"""
CUT = """
select pg_terminate_backend(pid) from pg_stat_activity
where application_name = 'selene' and datname = current_database() and pid <> pg_backend_pid() order by random() limit 1
"""


class Ledger:
    """What all workers said, the dead ones, too."""

    def __init__(self) -> None:
        self.begun: Counter[tuple[str, int]] = Counter()
        self.completed: set[str] = set()
        self.said: Counter[str] = Counter()

    def read(self, path: Path) -> bool:
        """The lines of one that is over, but for one that was cut off; whether it ran anything."""
        lines = path.read_text().split("\n")[:-1]
        for line in lines:
            word, *rest = line.split()
            self.said[word] += 1
            if word == "begin":
                self.begun[(rest[0], int(rest[2]))] += 1
            elif word == "end":
                self.completed.add(rest[0])
        path.unlink()
        return any(line.startswith("begin ") for line in lines)


class Victim:
    """A worker, whose lines go to a file."""

    def __init__(self, program: tuple[str, ...], dsn: str, path: Path) -> None:
        self.path, self.stopped_until = path, 0.0
        options = ("lease=2000", "ms=2", "lanes=4", "horizon=100", "grace=60000")
        with path.open("w") as file:
            self.process = subprocess.Popen(
                [*program, dsn, path.name, *options], stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE
            )

    @property
    def works(self) -> bool:
        """Whether it has begun a task, and is not stopped."""
        return not self.stopped_until and b"begin " in self.path.read_bytes()[:4096]

    def stop(self, until: float) -> None:
        """As if its machine slept."""
        self.process.send_signal(signal.SIGSTOP)
        self.stopped_until = until

    def go_on(self) -> None:
        """It wakes up."""
        self.process.send_signal(signal.SIGCONT)
        self.stopped_until = 0

    def kill(self) -> None:
        """At any moment."""
        self.process.kill()
        self.process.communicate()

    def end(self) -> None:
        """Its input ends; it gives back what it has."""
        _, errors = self.process.communicate(timeout=90)
        assert self.process.returncode == 0, errors


def hurry(fleet: Fleet) -> int:
    """Nobody waits for the 30 s of what was interrupted here."""
    return len(fleet.rows("update slot set due = 0 where state = 1 and due > 0 and stop = 7 returning 1"))


def is_empty(fleet: Fleet) -> bool:
    """Whether everything has ended."""
    hurry(fleet)
    return bool(fleet.one("select count(*) from slot") == 0)


def test_n9_to_n15_hold_while_workers_are_killed_stopped_and_cut_off(
    fleet: Fleet, programs: dict[str, Path], tmp_path: Path
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    fleet.rows("select set_queue('default', backoff_min => '0')")
    ledger, numbers = Ledger(), count()
    languages = {"C": (str(programs["worker"]),), "Python": PYTHON}
    dsn = fleet.server.dsn(fleet.name)

    def spawn(language: str) -> Victim:
        return Victim(languages[language], dsn, tmp_path / f"w{next(numbers)}")

    victims = [(language, spawn(language)) for language in list(languages) * (WORKERS // 2)]
    killed: Counter[str] = Counter()
    done: Counter[str] = Counter()
    tasks = 0
    at = {"kill": 0.0, "stop": 0.0, "cut": 0.0, "look": 0.0}

    def is_time(what: str, span: float) -> bool:
        now = time.monotonic()
        if now < at[what]:
            return False
        at[what] = now + chance.uniform(0, 2 * span)
        return True

    try:
        while killed.total() < KILLS:
            time.sleep(0.01)
            if is_time("look", 0.2):
                done["interrupted"] += hurry(fleet)
                if fleet.one("select count(*) from slot") < LIVE:
                    fleet.rows(TASKS, tasks + 1, tasks + LIVE)
                    tasks += LIVE
            for _, victim in victims:
                if victim.stopped_until and time.monotonic() > victim.stopped_until:
                    victim.go_on()
            place = chance.randrange(WORKERS)
            language, victim = victims[place]
            # Those in C are sooner at work; they are not to be all.
            is_ahead = 2 * killed[language] - killed.total() > KILLS // 2
            if victim.works and not is_ahead and is_time("kill", PAUSE):
                victim.kill()
                assert ledger.read(victim.path)
                killed[language] += 1
                victims[place] = language, spawn(language)
                if killed.total() % 500 == 0:
                    print(f"{dict(killed)} {tasks} {dict(done)}", flush=True)
            language, victim = victims[chance.randrange(WORKERS)]
            if victim.works and is_time("stop", 1):
                victim.stop(time.monotonic() + chance.uniform(0.1, 5))
                done["stopped"] += 1
            if is_time("cut", 0.5):
                done["cut"] += len(fleet.rows(CUT))
            dead = [victim for _, victim in victims if victim.process.poll() is not None]
            assert not dead, dead[0].process.communicate()[1]
        for _, victim in victims:
            victim.go_on()
        wait(lambda: is_empty(fleet))
    finally:
        for _, victim in victims:
            victim.go_on()
        for _, victim in victims:
            victim.end()
            ledger.read(victim.path)
        rest(fleet)

    print(f"killed {dict(killed)}; {dict(done)}; {tasks} tasks; {dict(ledger.said)}")
    ended = fleet.rows("select seq, id, run, state, attempts from history")
    assert fleet.rows("select * from slot") == []
    assert fleet.rows("select * from task") == []
    # Everything has ended once, and as it had to.
    assert sorted(seq for seq, *_ in ended) == list(range(1, tasks + 1))
    assert {id: state for _, id, _, state, _ in ended} == {
        f"t{i}": 5 if i % FAILS == 0 else 4 for i in range(1, tasks + 1)
    }
    assert max(ledger.begun.values()) == 1, "one run number is one run"
    last: dict[str, int] = {}
    for id, run in ledger.begun:
        last[id] = max(run, last.get(id, 0))
    for _, id, run, state, attempts in ended:
        # What ended it is a run that a worker began and brought to its end, and the last one that began.
        if state == 4:
            assert ledger.begun[(id, run)] == 1
            assert id in ledger.completed
            assert run == last[id], "a run began after the end"
        else:
            assert attempts == 2
    assert min(killed["C"], killed["Python"], done["stopped"], done["cut"]) > 0
