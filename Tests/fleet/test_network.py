"""Workers whose wire to the database loses what goes one way, is dead without a word, or takes seconds (N9 to N14).

Two workers, in C and in Python, are on another machine; a third one beside the database judges them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import LONG, Fleet
from server import Server
from wire import DATABASE, Refused, Wire
from workers import PYTHON, Worker, wait

#: One that a machine which is held up for a second keeps.
LEASE = 6000


class Far:
    """A database and its fleet, two workers far from it, and one beside it."""

    def __init__(self, wire: Wire, server: Server, program: Path) -> None:
        self.wire, self.server, self.fleet = wire, server, Fleet(server)
        self.dsn = f"host={DATABASE} dbname={self.fleet.name} user=fleet"
        self.program = program
        self.workers: list[Worker] = []

    def far(self, **more: int) -> list[Worker]:
        """In Python and in C, each with one lane."""
        for program, name in ((PYTHON, "python"), (self.program, "c")):
            options: dict[str, Any] = {"lanes": 1, "lease": LEASE, "horizon": 0, "polls": 1, "timeout": 3000, **more}
            self.workers.append(
                Worker(
                    program,
                    f"{self.dsn} connect_timeout={options['timeout'] // 1000}",
                    name,
                    inside=self.wire.on(0),
                    **options,
                )
            )
            wait(lambda: self.fleet.rows("select 1 from nodes where name = %s", name))  # noqa: B023
        return self.workers[-2:]

    def near(self) -> Worker:
        """The judge."""
        dsn = self.server.dsn(self.fleet.name)
        self.workers.append(Worker(self.program, dsn, "near", lease=LEASE, horizon=0, polls=1))
        return self.workers[-1]

    def check(self) -> None:
        """Each number was begun once, and a task ended under one of its own numbers, at most once."""
        began: Counter[tuple[str, str]] = Counter()
        for worker in self.workers:
            began.update((said[1], said[3]) for said in worker.words("begin"))
        assert not began or max(began.values()) == 1
        ended = self.fleet.rows("select id, run from ended where state = 'succeeded'")
        assert len({id for id, _ in ended}) == len(ended)
        for id, run in ended:
            assert (id, str(run)) in began


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    """Between two machines."""
    try:
        one = Wire()
    except Refused as error:
        pytest.skip(str(error))
    yield one
    one.close()


@pytest.fixture(scope="module")
def there(wire: Wire) -> Iterator[Server]:
    """A server on one of them."""
    one = Server(inside=wire.on(1), address=DATABASE)
    yield one
    one.remove()


@pytest.fixture
def far(wire: Wire, there: Server, programs: dict[str, Path]) -> Iterator[Far]:
    """None of the workers outlives the test."""
    one = Far(wire, there, programs["worker"])
    yield one
    wire.heal()
    print(one.fleet.rows("select * from nodes"), one.fleet.rows("select * from live"))
    for worker in one.workers:
        print(*zip(worker.times, worker.said, strict=False), worker.errors, sep="\n")
        if worker.process.poll() is None:
            worker.process.kill()
            worker.process.wait()
    one.fleet.close()


def lose_answers(wire: Wire, _: Server) -> None:
    """What the database says arrives nowhere: calls are made, and nobody knows."""
    wire.loses_to_worker = True


def lose_calls(wire: Wire, _: Server) -> None:
    """What workers ask arrives nowhere."""
    wire.loses_to_database = True


def cut(wire: Wire, _: Server) -> None:
    """Both ends have a connection, and nothing goes over it."""
    wire.cut()


def delay(wire: Wire, _: Server) -> None:
    """A call is made long after nobody waits for it any more."""
    wire.delay = 5.0


def cut_and_restart(wire: Wire, server: Server) -> None:
    """One end has a connection that the other one knows nothing of."""
    wire.cut()
    server.stop("immediate")
    server.start()


FAULTS: list[Callable[[Wire, Server], None]] = [lose_answers, cut]
if LONG:
    FAULTS += [lose_calls, delay, cut_and_restart]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_n13_whoever_is_cut_off_stops_before_others_take_its_runs_and_recovers_by_itself(
    far: Far, fault: Callable[[Wire, Server], None]
) -> None:
    fleet = far.fleet
    workers = far.far()
    near = far.near()
    fleet.rows("select register('c', handler => 'c'), register('python', handler => 'python')")
    wait(lambda: fleet.one("select count(distinct name) from nodes where alive") == 3)
    wait(lambda: all(worker.words("begin") for worker in workers))
    # The judge has to be steady.
    time.sleep(LEASE / 1000)
    fault(far.wire, far.server)
    if fault is cut_and_restart:
        fleet.connection = fleet.another()
    # Both are told that the fleet is in trouble, and to stop what they run, for its lease.
    for worker in workers:
        wait(lambda: worker.words("trouble", "begins"))  # noqa: B023
        wait(lambda: [said for said in worker.words("stop") if said[2] == "lease_lost"])  # noqa: B023
    wait(lambda: fleet.one("select count(*) from slot where stop = 7 and state = 0") == 2)
    taken = time.monotonic()
    assert all(worker.at("stop") < taken for worker in workers)
    far.wire.heal()
    for worker in workers:
        wait(lambda: worker.words("trouble", "ends"))  # noqa: B023
    # What they still had to say of their runs counts for nothing.
    wait(lambda: fleet.one("select count(distinct name) from nodes where alive") == 3)
    assert fleet.rows("select * from history") == []
    # Each begins its own anew, under a greater number; after the first time there is no pause (V8).
    wait(lambda: all(len(worker.words("begin")) == 2 for worker in workers))
    for worker in workers:
        first, second = worker.words("begin")
        assert int(second[2]) == 2
        assert int(second[3]) > int(first[3])
    assert fleet.rows("select * from history") == []
    fleet.rows("select cancel_all()")
    for worker in workers:
        wait(lambda: len(worker.words("stop")) == 2)  # noqa: B023
    for worker in (*workers, near):
        worker.end()
    far.check()
    assert fleet.rows("select count(*) from slot where state = 4") == [(0,)]
    assert fleet.nodes() == []


@pytest.mark.long
def test_n13_a_wire_of_five_seconds_only_takes_its_time_where_the_lease_is_long(far: Far) -> None:
    fleet = far.fleet
    far.wire.delay = 2.5
    fleet.rows("select count(register('t' || i, handler => 'send')) from generate_series(1, 20) i")
    workers = far.far(lease=300_000, timeout=60_000, horizon=1000)
    wait(lambda: fleet.one("select count(*) from history") == 20, 600)
    assert fleet.rows("select distinct state, attempts from ended") == [("succeeded", 1)]
    for worker in workers:
        assert not worker.words("stop")
    far.check()


@pytest.mark.long
def test_n14_a_wire_that_loses_a_fifth_of_all_packets_costs_no_task(far: Far) -> None:
    fleet = far.fleet
    fleet.rows(
        "select count(register('t' || i, handler => 'send', backoff_delay => '1 s')) from generate_series(1, 400) i"
    )
    far.wire.loss = 20
    far.far(lanes=4)
    far.near()
    end = time.monotonic() + 300
    while fleet.one("select count(*) from history") < 400:
        assert time.monotonic() < end
        time.sleep(0.2)
        fleet.rows("update slot set due = 0 where state = 1 and due > 0 and stop = 7")
    far.wire.heal()
    for worker in far.workers:
        worker.end()
    assert fleet.rows("select distinct state from ended") == [("succeeded",)]
    far.check()
