"""The node of Sources/SeleneNode on a real database: N8 to N15, N22, N25, N28 as they are when both meet."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import workers
from conftest import SECOND, Fleet
from cutter import HOW, Cutter
from node import Node, Returned, Run

wait = partial(workers.wait, seconds=60)


class Working:
    """A node in a thread, and what it said."""

    def __init__(self, dsn: str, handlers: dict[str, Callable[[Run], bytes | None]], **more: Any) -> None:
        self.said: list[tuple[object, ...]] = []
        self.node = Node(dsn, handlers, say=lambda *words: self.said.append(words), **more)
        self.thread = threading.Thread(target=self.node.work)

    def __enter__(self) -> Working:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.node.close()
        self.thread.join(60)
        assert not self.thread.is_alive()

    def words(self, word: str) -> list[tuple[object, ...]]:
        """What it said that begins with a word."""
        return [said for said in self.said if said[0] == word]


def test_a_node_runs_what_it_has_handlers_and_labels_for(fleet: Fleet) -> None:
    def send(run: Run) -> bytes:
        return b"sent " + run.input

    def fail(_: Run) -> None:
        raise ValueError("no")

    fleet.rows(
        "select register('a', handler => 'send', input => 'one', labels => '{eu}'),"
        " register('b', handler => 'fail', max_attempts => 1), register('c', handler => 'nobody'),"
        " register('d', handler => 'send', delay => '300 ms'), register('e', handler => 'send', labels => '{eu,gpu}')"
    )
    dsn = fleet.server.dsn(fleet.name)
    with Working(dsn, {"send": send, "fail": fail}, labels=("eu",)) as working:
        wait(lambda: fleet.one("select count(*) from history") == 3)
        wait(lambda: len(working.words("done")) == 3)
        assert fleet.nodes() == ["node"]
    assert fleet.rows("select id, state, failure, attempts from ended order by id") == [
        ("a", "succeeded", None, 1),
        ("b", "failed", "ValueError('no')", 1),
        ("d", "succeeded", None, 1),
    ]
    assert fleet.one("select result('a')") == b"sent one"
    assert fleet.rows("select id, attempts from live order by id") == [("c", 0), ("e", 0)]
    assert fleet.nodes() == []


def test_n23_a_node_tells_what_runs_of_a_class_take(fleet: Fleet) -> None:
    def handle(_: Run) -> None:
        time.sleep(0.02)

    fleet.rows("select register('a', handler => 'h'), register('b', handler => 'h')")
    with Working(fleet.server.dsn(fleet.name), {"h": handle}, lease=3 * SECOND):
        wait(lambda: fleet.one("select samples from class") == 2)
    assert 0.02 * SECOND <= fleet.one("select mean from class") < 5 * SECOND


def test_c8_what_a_node_gives_back_is_as_before_the_run(fleet: Fleet) -> None:
    begun: list[int] = []

    def handle(run: Run) -> None:
        begun.append(run.number)
        if len(begun) == 1:
            raise Returned

    fleet.rows("select register('a', handler => 'h')")
    with Working(fleet.server.dsn(fleet.name), {"h": handle}):
        wait(lambda: fleet.one("select count(*) from history") == 1)
    assert len(begun) == 2
    assert fleet.rows("select state, attempts from ended") == [("succeeded", 1)]


def test_n25_a_run_whose_task_is_cancelled_is_asked_to_stop(fleet: Fleet) -> None:
    begun = threading.Event()

    def handle(run: Run) -> None:
        if run.input:
            return
        begun.set()
        assert run.stop.wait(30)

    fleet.rows("select register('a', handler => 'h')")
    with Working(fleet.server.dsn(fleet.name), {"h": handle}, lease=6 * SECOND) as working:
        assert begun.wait(30)
        fleet.rows("select cancel('a'), register('a', handler => 'h', input => 'again')")
        # The new one begins when the old one has come back, which is told although it counts no longer.
        wait(lambda: fleet.one("select count(*) from history where state = 4") == 1)
    assert [said[3] for said in working.words("stopped")] == ["cancelled"]
    assert len(working.words("stale")) == 1


def test_n15_what_killed_its_worker_runs_alone(fleet: Fleet) -> None:
    at_work: list[str] = []
    beside: list[list[str]] = []

    def handle(run: Run) -> None:
        at_work.append(run.id)
        beside.append([run.id, *(one for one in at_work if one != run.id)])
        time.sleep(0.05)
        at_work.remove(run.id)

    fleet.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, 20) i")
    fleet.rows("update slot set line = line | 1, quarantined = seq = 15 where seq in (5, 10, 15)")
    with Working(fleet.server.dsn(fleet.name), {"h": handle}):
        wait(lambda: fleet.one("select count(*) from history") == 20)
    assert max(map(len, beside)) > 1
    # Beside one that was never to blame others run.
    for id in ("t5", "t10"):
        assert [one for one in beside if id in one] == [[id]]


@pytest.mark.parametrize("how", [pytest.param(how, marks=pytest.mark.long) if how == "within" else how for how in HOW])
def test_n14_a_connection_that_is_cut_at_any_statement_costs_no_attempt_and_no_run(fleet: Fleet, how: str) -> None:
    def handle(run: Run) -> bytes:
        time.sleep(0.01)
        return run.input

    cutter = Cutter(fleet.server)
    try:
        cut = 0
        while True:
            cut += 1
            fleet.rows("truncate history, task, slot, stray, worker")
            fleet.rows("select count(register('t' || i, handler => 'h')) from generate_series(1, 6) i")
            cutter.statements, cutter.cut_at, cutter.how = 0, cut, how
            # Calls are given up after a tenth of the lease.
            with Working(cutter.dsn(fleet.name), {"h": handle}, lanes=2, lease=6 * SECOND, horizon=0) as working:
                wait(lambda: fleet.one("select count(*) from history") == 6)
                wait(lambda: len(working.words("done")) == 6)
            assert fleet.rows("select distinct state, attempts from history") == [(4, 1)]
            assert working.words("stopped") + working.words("stale") == []
            assert fleet.one("select count(*) from slot where state = 4") == 0
            if cutter.statements < cut:
                break
        assert cut > 8
    finally:
        cutter.close()
