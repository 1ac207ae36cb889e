"""pyselene.fleet and `pyselene fleet`, on a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta

import psycopg
import pyselene
import pytest
from pyselene.fleet import Fleet

from conftest import SECOND
from conftest import Fleet as Looked
from server import ROOT


@pytest.fixture
def own(fleet: Looked) -> Fleet:
    """The same fleet, as a program has it."""
    return Fleet(fleet.server.dsn(fleet.name), queue="mail")


def test_a_task_is_registered_looked_at_and_cancelled(own: Fleet, fleet: Looked) -> None:
    terms = {"handler": "send", "input": b"\0x", "tags": {"t"}, "labels": {"gpu"}}
    disposition = own.enqueue("a", expected=2.5, delay=timedelta(hours=1), max_attempts=3, **terms)  # type: ignore[arg-type]
    assert disposition is pyselene.Disposition.ADDED
    task = own.get("a")
    assert (task.queue, task.handler, task.tags, task.labels) == ("mail", "send", ["t"], ["gpu"])
    assert task.estimate == timedelta(seconds=2.5)
    assert task.state is pyselene.State.ENQUEUED
    assert own.enqueue("a") is pyselene.Disposition.KEPT
    assert fleet.one("select input from task") == b"\0x"
    assert [reason.reason for reason in own.explain("a")] == ["not_due", "no_node"]
    assert [task.id for task in own.list(tag="t")] == ["a"]
    assert own.cancel(tag="t") == 1
    assert own.get("a").state is pyselene.State.CANCELLED
    assert list(own.list()) == []


def test_a_task_stands_or_falls_with_the_transaction_of_the_application(own: Fleet, fleet: Looked) -> None:
    with fleet.another(row_factory=psycopg.rows.dict_row) as mine:
        with pytest.raises(ZeroDivisionError), mine.transaction():
            own.enqueue("a", connection=mine)
            raise ZeroDivisionError
        with mine.transaction():
            own.enqueue("b", connection=mine)
            with pytest.raises(pyselene.NotFound):
                own.get("b")
    assert [task.id for task in own.list()] == ["b"]


def test_what_is_refused_is_the_exception_of_its_status(own: Fleet) -> None:
    with pytest.raises(pyselene.InvalidArgument) as refused:
        own.enqueue("a", priority=9)
    assert refused.value.field == "priority"
    assert "9 is out of range" in refused.value.detail
    with pytest.raises(pyselene.TooLarge):
        own.enqueue("a", input=bytes(10_241))
    for call in (own.get, own.explain, own.cancel):
        with pytest.raises(pyselene.NotFound):
            call("none")


def test_a_connection_that_was_lost_is_made_again(own: Fleet, fleet: Looked) -> None:
    own.enqueue("a")
    fleet.rows(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and pid <> pg_backend_pid()",
        fleet.name,
    )
    with pytest.raises(psycopg.OperationalError):
        own.enqueue("b")
    assert own.enqueue("b") is pyselene.Disposition.ADDED
    assert own.get("a").id == "a"


def test_results_pauses_status_and_pruning(own: Fleet, fleet: Looked) -> None:
    own.enqueue("a")
    own.pause()
    worker = fleet.hello()
    assert fleet.claim(worker) == []
    own.resume()
    (run,) = fleet.claim(worker)
    assert own.get("a").node == "node"
    fleet.rows("select * from complete(%s, %s, '{0}', '{1}', results => %s)", [run["seq"]], [run["run"]], [b"done"])
    assert own.result("a") == b"done"
    assert any(item.item == "nodes" and item.value == "1 alive, 0 gone" for item in own.status())
    assert own.prune() == 0
    assert own.prune(0) == 1
    assert own.result("a") is None


def test_n1_it_installs_a_fleet_in_a_schema_of_any_name(fresh: Looked) -> None:
    with Fleet(fresh.server.dsn(fresh.name), schema='my "fleet"') as other:
        assert other.install() == ()
        assert other.install() == ()
        assert other.enqueue("a") is pyselene.Disposition.ADDED
        assert other.get("a").id == "a"
        assert '"my ""fleet"""' in other.script()
    assert fresh.rows("select * from live") == []


def command(fleet: Looked, *words: str, code: int = 0) -> str:
    """What `pyselene fleet` says."""
    told = subprocess.run(
        [sys.executable, "-m", "pyselene", "fleet", *words],
        env={
            **os.environ,
            "SELENE_FLEET": fleet.server.dsn(fleet.name),
            "PYTHONPATH": str(ROOT / "bindings/python/src"),
        },
        capture_output=True,
        text=True,
    )
    assert told.returncode == code, (told.stdout, told.stderr)
    return told.stdout + told.stderr


def test_the_command_line(fleet: Looked) -> None:
    assert "is installed" in command(fleet, "install")
    command(fleet, "status")
    fleet.rows("select register('a', tags => '{t}', delay => '1 h'), register('b')")
    assert "not_due" in command(fleet, "explain", "a")
    assert [task["id"] for task in json.loads(command(fleet, "list", "--json"))] == ["a", "b"]
    assert json.loads(command(fleet, "list", "--tag", "t", "--json"))[0]["state"] == "enqueued"
    assert "enqueued" in command(fleet, "list")
    assert "no node has handler 'b'" in command(fleet, "status", code=1)
    assert "1 cancelled" in command(fleet, "cancel", "--tag", "t")
    command(fleet, "pause", "--for", "1h")
    assert fleet.claim(fleet.hello()) == []
    command(fleet, "resume")
    (run,) = fleet.claim(fleet.hello(lease=60 * SECOND))
    fleet.rows("select * from complete(%s, %s, '{0}', '{1}', results => %s)", [run["seq"]], [run["run"]], [b"out"])
    assert command(fleet, "result", "b") == "out"
    command(fleet, "status")
    assert "2 forgotten" in command(fleet, "prune", "--age", "0s")
    assert "is not registered" in command(fleet, "explain", "a", code=4)
    assert "no result" in command(fleet, "result", "b", code=4)
    assert 'no schema "none"' in command(fleet, "status", "--schema", "none", code=4)
    assert "one of them" in command(fleet, "cancel", code=2)
    assert "/nowhere" in command(fleet, "status", "--dsn", "host=/nowhere", code=5)
    assert "create schema" in command(fleet, "install", "--print")


def test_the_command_line_has_queues_nodes_and_the_second_chance(fleet: Looked) -> None:
    fleet.rows(
        "select register('a', max_attempts => 1), register('b', delay => '1 h'), set_queue('default', limit_refresh => 5)"
    )
    worker = fleet.hello("alpha:1")
    runs = fleet.claim(worker)
    assert [node["runs"] for node in json.loads(command(fleet, "nodes", "--json"))] == [1]
    assert "alpha:1  alive" in command(fleet, "nodes")
    fleet.complete(runs, 2)
    assert "enqueued a again" in command(fleet, "retry", "a")
    assert "is live" in command(fleet, "retry", "a", code=4)
    assert "b is due now" in command(fleet, "run-now", "b")
    assert "has no live task" in command(fleet, "run-now", "c", code=4)
    (queue,) = json.loads(command(fleet, "queues", "--json"))
    assert (queue["queue"], queue["ready"], queue["pending_refresh"], queue["paused"]) == ("default", 2, 2, False)
    command(fleet, "pause")
    assert "paused" in command(fleet, "queues")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("status", "--dsn", "app"), 2, 'missing "=" after "app" in connection info string; allowed is such as "host=db'),
        (("status", "--dsn", "dbnam=app"), 2, 'invalid connection option "dbnam"; allowed is'),
        (("status", "--dsn", "dbname=app port=x"), 2, "allowed is such as"),
        (("status", "--dsn", "host=/nowhere"), 5, "no server of PostgreSQL answers: connection to server on socket"),
        (("status", "--dsn", "host=127.0.0.1 port=1"), 5, "is it running, and are host= and port= right?"),
        (("status", "--dsn", "{server} user=fleet dbname=apq"), 5, "say which with dbname=, or make it: createdb apq"),
        (("status", "--dsn", "{server} user=flet dbname={name}"), 5, "say which with user=, or make it: createuser flet"),
        (("status", "--schema", "none"), 4, "--schema says another, pyselene fleet install makes it"),
        (("queues", "--schema", "public"), 4, 'the schema "public" has no fleet: pyselene fleet install makes it'),
        (("list", "--state", "wating"), 2, "allowed is enqueued, held, blocked or running"),
        (("list", "--queue", "defualt"), 4, 'no queue "defualt"; there are default'),
        (("pause", "--queue", "defualt"), 4, 'no queue "defualt"; there are default'),
        (("resume", "--queue", "defualt"), 4, 'no queue "defualt"; there are default'),
        (("status", "--dsn", "{server} user=nobody_here dbname={name}"), 4, 'grant it one of "selene_look", "selene_enqueue"'),
        (("cancel", "a", "--dsn", "{server} user=only_looks dbname={name}"), 4, 'grant "selene_enqueue" to "only_looks"'),
        (("pause", "--dsn", "{server} user=only_looks dbname={name}"), 4, 'grant "selene_manage" to "only_looks"'),
        (("install", "--dsn", "{server} user=makes_schemas dbname={name}"), 4, "its owner, or a superuser, brings it to this"),
        (("install", "--schema", "x", "--dsn", "{server} user=only_looks dbname={name}"), 4, "grant create on database"),
    ],
)  # fmt: skip
def test_what_goes_wrong_says_what_to_do(fleet: Looked, words: tuple[str, ...], code: int, told: str) -> None:
    for name in ("nobody_here", "only_looks", "makes_schemas"):
        if not fleet.rows("select 1 from pg_roles where rolname = %s", name):
            fleet.rows(f"create role {name} login")
    fleet.rows("grant selene_look to only_looks")
    fleet.rows(f"grant create on database {fleet.name} to makes_schemas")
    fleet.rows("select register('a')")
    places = {"server": f"host={fleet.server.folder}", "name": fleet.name}
    said = command(fleet, *(word.format(**places) for word in words), code=code)
    assert told in " ".join(said.replace("│", " ").split())
    assert "Traceback" not in said


def test_a_fleet_of_an_earlier_release_is_told_from_none(fresh: Looked) -> None:
    fresh.rows("drop function retry(text), queues(text, text, int)")
    for words in (("queues",), ("retry", "a")):
        assert "is of an earlier release" in command(fresh, *words, code=4)
        assert "pyselene fleet install brings it to this one" in command(fresh, *words, code=4)
    command(fresh, "install")
    command(fresh, "queues")
    # A new one has nothing that somebody should look at.
    command(fresh, "status")
