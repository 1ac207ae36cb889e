"""Many tasks in one call meet what is there as they do one by one: the answers and all records are the same."""

from __future__ import annotations

import random
from typing import Any

import pytest

from conftest import LONG, MS, SECOND, Fleet

DAY = 86_400_000_000
#: What `register_batch` takes, in its order: the type of a column, and what one has in a call of `try_register`.
COLUMNS = {
    "id": ("text", "text"),
    "handler": ("text", "text"),
    "kind": ("text", "text"),
    "schedule": ("text", "text"),
    "priority": ("int", "int"),
    "expected": ("bigint", "span"),
    "delay": ("bigint", "span"),
    "every": ("bigint", "span"),
    "flex": ("bigint", "span"),
    "anchored": ("boolean", "boolean"),
    "backoff": ("text", "text"),
    "backoff_delay": ("bigint", "span"),
    "max_attempts": ("int", "int"),
    "response_window": ("int", "int"),
    "tags": ("text", "text[]"),
    "labels": ("text", "text[]"),
    "requires": ("text", "text[]"),
    "existing": ("text", "text"),
    "input": ("bytea", "bytea"),
}
ONE = "select * from try_register(queue => %(queue)s::text, {})".format(
    ", ".join(
        f"{name} => " + (f"%({name})s::bigint * interval '1 microsecond'" if sent == "span" else f"%({name})s::{sent}")
        for name, (_, sent) in COLUMNS.items()
    )
)
MANY = "select * from register_batch(%(queue)s::text, {})".format(
    ", ".join(f"%({name})s::{column}[]" for name, (column, _) in COLUMNS.items())
)
#: What of each field is right, and what is refused, at least of some tasks.
RIGHT: dict[str, list[Any]] = {
    "handler": ["send", "fetch", None, "h" * 255],
    "kind": ["refresh", "refresh", "processing"],
    "schedule": [None, None, None, "once", "periodic", "standing"],
    "priority": [1, 2, 3, 4, 5],
    "expected": [None, None, 0, 5_000_000, DAY],
    "delay": [0, 0, 7_000_000, 3650 * DAY],
    "every": [None, None, 1, 60_000_000, 3650 * DAY],
    "flex": [0, 0, 1, 30_000_000, 60_000_000],
    "anchored": [False, True, None],
    "backoff": [None, None, "none", "linear", "exponential"],
    "backoff_delay": [30_000_000, 0, 1, 10**13],
    "max_attempts": [0, 3, 2**31 - 1],
    "response_window": [3, 0, 30],
    "tags": ["{}", None, "{b,a}", "{a,a,c}", "{ }"],
    "labels": ["{}", "{}", None, "{b,a}", "{a,b,a}"],
    "requires": ["{}", "{}", "{network}", "{idle,network}", None],
    "existing": [None, None, "keep", "replace", "update", "append", "append_or_replace"],
    "input": [b"", b"x" * 20],
}
NAMES = ["{" + "x" * 256 + "}", '{""}', "{NULL}", "{" + ",".join("abcdefghijklmnopq") + "}"]
WRONG: dict[str, list[Any]] = {
    "handler": ["", "h" * 256],
    "kind": ["other", None],
    "schedule": ["never"],
    "priority": [0, 6, None],
    "expected": [DAY + 1, -1, 2**62],
    "delay": [-1, None, 3650 * DAY + 1, 2**62, -(2**62)],
    "every": [0, -1, 3650 * DAY + 1, 2**62],
    "flex": [-1, None, 3650 * DAY + 1, 2**62],
    "anchored": [None],
    "backoff": ["slow"],
    "backoff_delay": [-1, None, 9 * 10**15, 2**62],
    "max_attempts": [-1, None],
    "response_window": [31, -1, None],
    "tags": NAMES,
    "labels": NAMES,
    "requires": ["{moon}", "{NULL}"],
    "existing": ["merge"],
    "input": [b"x" * 21, None],
}
#: Every record but its numbers: those of tasks are their ranks, and those of classes are what a class is.
RECORDS = (
    """
    with kind as (select c.class, q.name, c.kind, c.constraints, c.labels, c.handler from class c join queue q using (queue)),
    ranked as (
      select seq, rank() over (order by seq) from (select seq from task union select seq from history) both_of)
    select r.rank, b.rank, to_jsonb(k) - 'class', to_jsonb(t) - 'seq' - 'class' - 'behind',
      to_jsonb(s) - 'seq' - 'line', s.line & 255
    from task t join ranked r using (seq) join kind k using (class) left join slot s using (seq)
    left join ranked b on b.seq = t.behind order by 1
    """,
    """
    with kind as (select c.class, q.name, c.kind, c.constraints, c.labels, c.handler from class c join queue q using (queue))
    select to_jsonb(k) - 'class', to_jsonb(h) - 'seq' - 'class' - 'terms' from history h join kind k using (class)
    order by h.id, h.ended, h.seq
    """,
    "select to_jsonb(s) from stray s order by run",
    "select q.name, p.kind, p.pending from pending p join queue q using (queue) order by 1, 2",
    "select q.name, c.kind, c.constraints, c.labels, c.handler, c.idle_since, c.mean from class c join queue q using (queue) order by 1, 2, 3, 4, 5",
)


def draft(chance: random.Random, ids: int, odd: float) -> dict[str, Any]:
    """One task, of which each field is wrong with a chance."""
    wrong = chance.random() < odd / 2
    one = {"id": chance.choice(["", None, "x" * 256]) if wrong else f"t{chance.randrange(ids)}"} | {
        name: chance.choice((WRONG if chance.random() < odd else RIGHT)[name]) for name in RIGHT
    }
    # Most go together.
    if chance.random() > odd:
        one["every"] = one["every"] if one["schedule"] != "periodic" else one["every"] or 60_000_000
        one["flex"] = 0 if one["every"] == 1 else one["flex"]
        if one["schedule"] == "standing" or one["every"]:
            one["existing"] = chance.choice([None, "keep", "replace", "update"])
    return one


def records(fleet: Fleet) -> list[list[tuple[Any, ...]]]:
    """All that is kept."""
    return [fleet.rows(statement) for statement in RECORDS]


def world(fleet: Fleet, chance: random.Random, ids: int) -> str:
    """Tasks that are there in all states; the queue that a batch is for."""
    fleet.rows("select set_queue('mail', max_input => 20, retention => '1 day')")
    for number in range(ids):
        fate = chance.choice(["none", "live", "standing", "failed", "succeeded", "running", "gone"])
        if fate == "none":
            continue
        schedule = {"standing": "standing"}.get(fate, "once")
        fleet.rows(
            "select register(%s, handler => 'send', queue => 'mail', schedule => %s, max_attempts => 1)",
            f"t{number}",
            schedule,
        )
        if fate in ("failed", "succeeded", "running", "gone"):
            worker = fleet.hello(f"n{number}")
            (run,) = fleet.rows("select run, seq from claim(%s, array(select class from class), most => 1)", worker)[
                :1
            ] or [(None, None)]
            if run[0] is not None and fate in ("failed", "succeeded"):
                fleet.rows("select complete(%s, %s, %s, '{1}')", [run[1]], [run[0]], [2 if fate == "failed" else 0])
            if run[0] is not None and fate == "gone":
                fleet.rows("select cancel(t.id) from task t where t.seq = %s", run[1])
    if chance.random() < 0.3:
        fleet.rows(
            "select set_queue('mail', limit_refresh => %s, limit_processing => %s, holds => %s)",
            chance.choice([0, 3, ids]),
            chance.choice([-1, 2]),
            chance.random() < 0.5,
        )
    if chance.random() < 0.3:
        fleet.rows("update class set idle_since = 1")
    return chance.choice(["mail"] * 8 + ["fresh", "", "q" * 256])


@pytest.mark.parametrize("seed", range(400 if LONG else 40))
def test_t5_a_batch_is_what_its_tasks_are_one_by_one(told: Fleet, seed: int) -> None:
    chance = random.Random(seed)
    told.at(1000 * SECOND)
    ids = chance.choice([4, 30])
    queue = world(told, chance, ids)
    told.at(1000 * SECOND + chance.choice([0, 5]) * MS)
    odd = chance.choice([0, 0, 0.01, 0.1])
    drafts = [draft(chance, ids * chance.choice([1, 10]), odd) for _ in range(chance.choice([1, 5, 40]))]
    columns = {name: [one[name] for one in drafts] for name in COLUMNS}
    told.rows("begin")
    singly = [told.connection.execute(ONE, {**one, "queue": queue}).fetchall()[0] for one in drafts]
    # As the commit does it.
    told.rows("set constraints all immediate")
    wanted = records(told)
    told.rows("rollback")
    together = told.connection.execute(MANY, {**columns, "queue": queue}).fetchall()
    assert together == singly
    for found, expected in zip(records(told), wanted, strict=True):
        assert found == expected


def test_t5_no_task_is_a_batch(told: Fleet) -> None:
    assert told.connection.execute(MANY, {**{name: [] for name in COLUMNS}, "queue": "mail"}).fetchall() == []
