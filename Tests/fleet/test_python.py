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
    assert "in the schema none" in command(fleet, "status", "--schema", "none", code=4)
    assert "one of them" in command(fleet, "cancel", code=2)
    assert "/nowhere" in command(fleet, "status", "--dsn", "host=/nowhere", code=5)
    assert "create schema" in command(fleet, "install", "--print")
