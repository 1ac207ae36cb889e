"""Workers are killed, stopped and cut off; then everything is counted. FLEET_SECONDS makes it longer (`make torture`)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from conftest import Fleet

SECONDS = float(os.environ.get("FLEET_SECONDS", "8"))
TASKS = int(200 * SECONDS)
WORKERS = 4 if SECONDS < 60 else 8


def test_n9_to_n14_hold_while_workers_are_killed_stopped_and_cut_off(fleet: Fleet, tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rnd = random.Random(seed)
    fleet.rows("select set_queue('default', backoff_min => '0')")
    fleet.rows(
        "select count(register('t' || i, handler => 'h', priority => 1 + i % 5, backoff_delay => '100 ms'))"
        f" from generate_series(1, {TASKS}) i"
    )
    dsn = fleet.server.dsn(fleet.name) + " application_name=tortured"
    workers: dict[int, subprocess.Popen[bytes]] = {}

    def spawn(number: int) -> None:
        script = Path(__file__).with_name("tortured.py")
        workers[number] = subprocess.Popen([sys.executable, str(script), dsn, f"w{number}", str(tmp_path)])

    for number in range(WORKERS):
        spawn(number)
    done: Counter[str] = Counter()
    stopped: dict[int, float] = {}
    at = {"kill": 0.0, "stop": 0.0, "cut": 0.0}
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(0.02)
        now = time.monotonic()
        number = rnd.randrange(WORKERS)
        if now > at["kill"] and number not in stopped:
            at["kill"] = now + rnd.random() * 2
            workers[number].kill()
            workers[number].wait()
            done["killed"] += 1
            spawn(number)
        number = rnd.randrange(WORKERS)
        if now > at["stop"] and number not in stopped:
            at["stop"] = now + rnd.random() * 1.5
            workers[number].send_signal(signal.SIGSTOP)
            stopped[number] = now + rnd.uniform(0.1, 5)
            done["stopped"] += 1
        for number, until in list(stopped.items()):
            if now > until:
                workers[number].send_signal(signal.SIGCONT)
                del stopped[number]
        if now > at["cut"]:
            at["cut"] = now + rnd.random()
            done["cut"] += len(
                fleet.rows(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where application_name = 'tortured' order by random() limit 1"
                )
            )
    for number in stopped:
        workers[number].send_signal(signal.SIGCONT)
    # Nobody waits for the 30 s of what was interrupted here.
    left = time.monotonic() + 60
    while fleet.one("select count(*) from slot") and time.monotonic() < left:
        time.sleep(0.2)
        done["interrupted"] += len(
            fleet.rows("update slot set due = 0 where state = 1 and due > 0 and stop = 7 returning 1")
        )
    (tmp_path / "stop").touch()
    for process in workers.values():
        assert process.wait(60) == 0

    said: Counter[str] = Counter()
    accepted: Counter[tuple[str, str]] = Counter()
    started: Counter[tuple[str, str]] = Counter()
    for path in tmp_path.glob("w*"):
        for line in path.read_text().splitlines():
            word, *rest = line.split()
            said[word] += 1
            if word == "done":
                accepted[(rest[0], rest[1])] += 1
            if word == "start":
                started[(rest[0], rest[1])] += 1
    print(f"{TASKS} tasks, {WORKERS} workers: {dict(done)}; {dict(said)}")
    ended = fleet.rows("select seq, run, state from history")
    assert fleet.rows("select * from slot") == []
    assert fleet.rows("select * from task") == []
    # Everything has ended once, and nothing that was said to have ended is missing.
    assert sorted(seq for seq, _, _ in ended) == list(range(1, TASKS + 1))
    assert {state for _, _, state in ended} == {4}
    assert max(accepted.values()) == 1
    assert max(started.values()) == 1, "one run number is one run"
    runs = Counter(seq for seq, _ in accepted)
    last = {seq: run for seq, run, _ in ended}
    for seq, run in accepted:
        assert int(run) <= last[int(seq)], "a decision counted after the end"
    assert set(map(int, runs)) <= set(last)
    assert "deadlock" not in said
    assert min(done["killed"], done["stopped"], done["cut"]) > 0
