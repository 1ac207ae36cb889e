"""Who is to blame when a node dies, and what goes on beside suspects (N58, V7, V8)."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import SECOND, Fleet

LEASE = 3 * SECOND
#: When a told clock begins.
BEGIN = 10**15


class Nodes:
    """Nodes that beat every second of a told time."""

    def __init__(self, told: Fleet, *names: str) -> None:
        self.told, self.now = told, BEGIN
        told.at(self.now)
        self.workers = {name: told.hello(name, LEASE) for name in names}

    def pass_(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now += SECOND
            self.told.at(self.now)
            for worker in self.workers.values():
                self.told.rows("select * from beat(%s, %s)", worker, SECOND)

    def claim(self, name: str, most: int, **more: Any) -> list[dict[str, Any]]:
        return self.told.claim(self.workers[name], most, **more)

    def die(self, name: str) -> None:
        """It beats no more, and after a lease and a beat others have noticed."""
        del self.workers[name]
        self.pass_(LEASE // SECOND + 1)


def register(told: Fleet, ids: list[str], **more: Any) -> None:
    names = "".join(f", {name} => %s" for name in more)
    for id in ids:
        told.rows(f"select register(%s, handler => 'h'{names})", id, *more.values())


def ids(runs: list[dict[str, Any]]) -> list[str]:
    return [run["id"] for run in runs]


def test_n58_of_64_claimed_tasks_of_a_killed_node_those_that_had_begun_are_suspects_and_the_others_as_before(
    told: Fleet,
) -> None:
    nodes = Nodes(told, "dead", "one", "two")
    nodes.pass_(4)
    register(told, [f"t{i}" for i in range(64)], max_attempts=1)
    runs = nodes.claim("dead", 64, lanes=4)
    assert len(runs) == 64
    nodes.die("dead")
    begun = set(ids(runs[:4]))
    assert set(ids(runs)) == {id for (id,) in told.rows("select id from live")}, "none has failed"
    for run in runs:
        slot = told.slot(run["id"])
        told_of = slot["state"], slot["attempts"], slot["line"] & 1, slot["stop"], slot["last_run"], slot["due"]
        is_suspect = run["id"] in begun
        assert told_of == (0, 0, int(is_suspect), 7 if is_suspect else 0, run["last_run"], run["last_run"])
    register(told, [f"u{i}" for i in range(64)])
    # Survivors go on at full rate; of the suspects each has one at a time.
    done: list[str] = []
    while True:
        parts = [nodes.claim(name, 16) for name in ("one", "two")]
        assert all(sum(id in begun for id in ids(part)) <= 1 for part in parts)
        if len(done) < 64:
            assert [len(part) for part in parts] == [16, 16]
        if not any(parts):
            break
        for part in parts:
            told.complete(part)
            done += ids(part)
    assert sorted(done) == sorted(id for i in range(64) for id in (f"t{i}", f"u{i}"))
    assert told.rows("select distinct state, attempts from ended") == [("succeeded", 1)]


def test_n58_what_has_begun_meanwhile_is_told_with_the_next_turn(told: Fleet) -> None:
    nodes = Nodes(told, "dead", "one")
    nodes.pass_(4)
    register(told, ["a", "b", "c"])
    a, b, _ = nodes.claim("dead", 3, lanes=1)
    assert told.rows("select id, begun is null from live order by id") == [("a", False), ("b", True), ("c", True)]
    told.rows(
        "select * from turn(%s, %s, %s, '{0}', '{1}', started => %s)",
        nodes.workers["dead"], [a["seq"]], [a["run"]], [b["run"], 99],
    )  # fmt: skip
    # Nobody speaks for another.
    told.rows("select * from turn(%s, '{}', '{}', '{}', '{}', started => %s)", nodes.workers["one"], [b["run"] + 1])
    assert told.rows("select id, begun is null from live order by id") == [("b", False), ("c", True)]
    nodes.die("dead")
    assert [told.slot(id)["attempts"] for id in "bc"] == [1, 0]
    assert [told.slot(id)["line"] & 1 for id in "bc"] == [1, 0]


def test_v7_what_alone_ran_is_to_blame_and_runs_alone_then(told: Fleet) -> None:
    nodes = Nodes(told, "dead", "one")
    nodes.pass_(4)
    register(told, ["bad"], max_attempts=3, backoff="none")
    for attempt, pause in ((1, 0), (2, 30), (3, None)):
        nodes.workers["dead"] = told.hello("dead", LEASE)
        (bad,) = nodes.claim("dead", 5)
        assert bad["attempts"] == attempt
        if attempt > 1:
            register(told, [f"beside {attempt}"])
            assert nodes.claim("dead", 5) == [], "nothing is given beside one that was to blame"
        nodes.die("dead")
        if pause is None:
            break
        slot = told.slot("bad")
        assert (slot["attempts"], slot["line"] & 1, slot["due"]) == (attempt, 1, nodes.now + pause * SECOND)
        told.rows("update worker set serves = '{1}'")
        assert told.rows("select detail from explain('bad') where reason = 'suspect'") == [
            ("its node ended while it ran; it runs alone",)
        ]
        nodes.pass_(pause)
        if attempt == 2:
            assert ids(nodes.claim("one", 5)) == ["beside 2"], "it waits longer than the other"
    assert told.rows("select state, attempts, failure from get('bad')") == [("failed", 3, "the process ended")]


def test_v7_what_ends_its_process_before_that_can_say_what_has_begun_uses_up_its_own_attempts(told: Fleet) -> None:
    nodes = Nodes(told, "one")
    nodes.pass_(4)
    register(told, ["bad", "good", "better"], max_attempts=2, backoff="none")
    found = []
    while told.slot("bad"):
        nodes.workers["dead"] = told.hello("dead", LEASE)
        # A driver has yet to open a window for them: none begins with the claim.
        assert ids(nodes.claim("dead", 3, lanes=0))[0] == "bad"
        nodes.die("dead")
        found += told.rows("select id, attempts from live where id <> 'bad' or attempts < 2 order by id")
        told.rows("select cancel('good'), cancel('better')")
        nodes.pass_(30)
    # The first time it was as before, but suspect; the others were never more than claimed.
    assert found == [("bad", 0), ("better", 0), ("good", 0), ("bad", 1)]
    assert told.rows("select state, attempts from get('bad')") == [("failed", 2)]


def test_v8_the_pause_doubles_and_a_queue_may_have_another(told: Fleet) -> None:
    told.rows("select set_queue('default', crash_pause => '2 s')")
    nodes = Nodes(told, "one")
    nodes.pass_(4)
    register(told, ["bad"], backoff="none")
    for pause in (0, 2, 4, 8):
        nodes.workers["dead"] = told.hello("dead", LEASE)
        assert ids(nodes.claim("dead", 5)) == ["bad"]
        nodes.die("dead")
        assert told.slot("bad")["due"] == nodes.now + pause * SECOND
        nodes.pass_(pause)
    # An outcome of whatever kind ends it.
    told.complete(nodes.claim("one", 1), outcome=2)
    assert [told.slot("bad")[key] for key in ("deaths", "quarantined")] == [0, False]
    nodes.workers["dead"] = told.hello("dead", LEASE)
    nodes.pass_(30)
    assert ids(nodes.claim("dead", 5)) == ["bad"]
    nodes.die("dead")
    assert told.slot("bad")["due"] == nodes.now


def test_v7_a_suspect_in_flight_is_to_blame_and_its_neighbours_are_not(told: Fleet) -> None:
    nodes = Nodes(told, "dead", "other")
    nodes.pass_(4)
    register(told, ["bad", "a", "b"], max_attempts=5)
    assert ids(nodes.claim("dead", 3)) == ["bad", "a", "b"]
    nodes.die("dead")
    assert [told.slot(id)["attempts"] for id in ("bad", "a", "b")] == [0, 0, 0]
    register(told, ["c", "d"])
    nodes.workers["dead"] = told.hello("dead", LEASE)
    first = nodes.claim("dead", 3)
    assert ids(first) == ["bad", "c", "d"], "one suspect, and plain work beside it"
    second = nodes.claim("other", 3)
    assert ids(second) == ["a"]
    assert told.rows("select detail from explain('b') where reason = 'suspect'") == [
        ("its node ended while it ran; a node runs one such task at a time",)
    ]
    # What is done ends its quarantine, whatever comes of it.
    told.complete(second, outcome=2)
    assert told.slot("a")["line"] & 1 == 0
    nodes.die("dead")
    assert [told.slot(id)["attempts"] for id in ("bad", "c", "d")] == [1, 0, 0]
    assert [told.slot(id)["quarantined"] for id in ("bad", "b", "c", "d")] == [False, True, True, True]


def test_v7_a_run_whose_record_is_gone_may_have_been_it(told: Fleet) -> None:
    nodes = Nodes(told, "dead", "other")
    nodes.pass_(4)
    register(told, ["a", "b"], max_attempts=1)
    nodes.claim("dead", 2)
    told.rows("select cancel('b')")
    nodes.die("dead")
    assert (told.slot("a")["attempts"], told.slot("a")["quarantined"]) == (0, True)


def test_v7_a_dead_node_is_judged_once_by_all_that_it_ran(told: Fleet) -> None:
    nodes = Nodes(told, "dead", "other")
    nodes.pass_(4)
    register(told, ["a", "b", "c"], max_attempts=1)
    nodes.claim("dead", 3)
    with told.another() as holds, holds.transaction():
        holds.execute("select from slot where seq = (select seq from task where id = 'c') for update")
        nodes.die("dead")
        assert told.one("select count(*) from slot where state = 4") == 1
    nodes.pass_(1)
    # It ran alone only because the others were taken back before.
    assert (told.slot("c")["attempts"], told.slot("c")["quarantined"]) == (0, True)


@pytest.mark.parametrize("lanes", [1, 4])
def test_v7_a_poisonous_task_among_20_uses_up_its_own_attempts_and_no_others(told: Fleet, lanes: int) -> None:
    names = ["one", "two", "three"]
    nodes = Nodes(told, *names)
    nodes.pass_(4)
    register(told, [f"t{i}" for i in range(10)], max_attempts=1)
    register(told, ["poison"], max_attempts=3)
    register(told, [f"t{i}" for i in range(10, 20)], max_attempts=1)
    deaths = 0
    for _ in range(400):
        nodes.pass_(1)
        for name in names:
            if name not in nodes.workers:
                nodes.workers[name] = told.hello(name, LEASE)
            runs = nodes.claim(name, 2 * lanes, lanes=lanes)
            begun = runs[:lanes]
            if "poison" in ids(begun):
                # The process ends, and its supervisor starts it again.
                del nodes.workers[name]
                deaths += 1
                continue
            told.complete(begun)
            for run in runs[lanes:]:
                told.rows("select release(array[%s::bigint], array[%s::bigint])", run["seq"], run["run"])
        if told.one("select count(*) from live") == 0:
            break
    assert told.rows("select state, attempts from ended where id <> 'poison' group by 1, 2") == [("succeeded", 1)]
    assert told.rows("select state, attempts from ended where id = 'poison'") == [("failed", 3)]
    assert told.one("select count(*) from ended") == 21
    assert deaths == (3 if lanes == 1 else 4)
