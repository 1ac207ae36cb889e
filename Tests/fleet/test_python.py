"""pyselene.fleet and `pyselene fleet`, on a real server."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pyselene
import pytest
from pyselene.fleet import Fleet, FleetDraft, FleetFields

from conftest import SECOND
from conftest import Fleet as Looked
from forked import Command
from server import ROOT, Server

#: Seconds, to end a hang.
PATIENCE = 60


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


def test_an_input_is_bytes_or_refused(own: Fleet, fleet: Looked) -> None:
    held: tuple[Any, ...] = (b"x", bytearray(b"x"), memoryview(b"x"))
    for input in held:
        own.enqueue("a", input=input, existing="replace")
        assert fleet.one("select input from task") == b"x"
    others: tuple[Any, ...] = (5, [1, 2], "str", None)
    for wrong in others:
        with pytest.raises(TypeError, match=f"^input must be bytes, not {type(wrong).__name__}$"):
            own.enqueue("b", input=wrong)
        with pytest.raises(TypeError, match=f"^input must be bytes, not {type(wrong).__name__}$"):
            own.enqueue_batch([FleetDraft("c", input=wrong)])
    assert fleet.rows("select id from task") == [("a",)]


def test_the_words_of_a_task_are_those_of_a_scheduler(own: Fleet, fleet: Looked) -> None:
    terms: FleetFields = {
        "priority": "high", "requires": {"power", pyselene.Constraint.IDLE}, "tags": "mail", "labels": "gpu",
        "backoff": pyselene.Linear(70), "schedule": pyselene.Schedule.STANDING, "kind": pyselene.Kind.PROCESSING,
        "existing": pyselene.Existing.UPDATE,
    }  # fmt: skip
    fields = "priority, requires, tags, labels, schedule, kind"
    declared: dict[str, Any] = {name: value for name, value in terms.items() if name != "labels"}
    with pyselene.Scheduler() as scheduler:
        scheduler.register(pyselene.Task("a", **declared))
        info = scheduler.get("a")
    for enqueue in (own.enqueue, lambda id, **more: own.enqueue_batch([FleetDraft(id, **more)])):
        enqueue("a", **terms)
        ((priority, requires, tags, labels, schedule, kind),) = fleet.rows(f"select {fields} from live")
        assert priority == info.priority == 4
        assert pyselene.Constraint.of(requires) == info.requires
        assert (tags, labels, schedule, kind) == (["mail"], ["gpu"], "standing", "processing")
        # The database numbers its policies from 0, as every release did; the library has its default there.
        assert fleet.rows("select backoff + 1, backoff_delay from task") == [
            (info.backoff.policy, info.backoff.delay_ns)
        ]
        own.cancel("a")
    kinds = (pyselene.NoBackoff, pyselene.Linear, pyselene.Exponential)
    names: tuple[Any, ...] = ("none", "linear", "exponential")
    for name, backoff in zip(names, kinds, strict=True):
        own.enqueue("word", backoff=name, backoff_delay=70, requires="external_power", priority=2)
        own.enqueue("object", backoff=backoff(70), requires=["power"], priority="low")
        (word, one) = fleet.rows("select class, backoff, backoff_delay, priority from task where id <> 'a' order by id")
        assert word[1:] == one[1:]
        assert fleet.rows("select distinct requires from live") == [(["external_power"],)]
        own.cancel_queue()
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"priority": "urgent"}, "priority is 'urgent'; allowed: very_low, low, normal, high, very_high"),
        ({"requires": "moon"}, "requires has 'moon'; allowed: network, power"),
        ({"backoff": pyselene.Exponential(5), "backoff_delay": 6}, "backoff_delay is given, but backoff has a delay"),
        ({"backoff": 5}, "backoff must be NoBackoff, Linear or Exponential, not 5"),
        ({"tags": [5]}, "tags must hold str, not int"),
    )
    for terms_, told in wrong:
        with pytest.raises((TypeError, ValueError), match=re.escape(told)):
            own.enqueue("b", **terms_)


CONFLICTS = """
create sequence tries minvalue -100 start 1;
create function conflicts() returns trigger language plpgsql as $$ begin
  if nextval('tries') < 4 then raise exception 'another' using errcode = '40P01'; end if;
  return new;
end $$;
create trigger conflicts before insert on task for each row execute function conflicts();
"""


def test_n29_what_the_database_ends_for_the_sake_of_another_is_made_again(fresh: Looked) -> None:
    own, fleet = Fleet(fresh.server.dsn(fresh.name)), fresh
    fleet.connection.execute(CONFLICTS)
    assert own.enqueue("a") is pyselene.Disposition.ADDED
    assert fleet.one("select last_value from tries") == 4
    fleet.rows("select setval('tries', 1)")
    assert asyncio.run(own.enqueue_async("b")) is pyselene.Disposition.ADDED
    fleet.rows("select setval('tries', -100)")
    with pytest.raises(psycopg.errors.DeadlockDetected):
        own.enqueue("c")
    assert fleet.one("select last_value from tries") == -90
    with pytest.raises(psycopg.errors.DeadlockDetected):
        asyncio.run(own.enqueue_async("c"))
    assert fleet.one("select last_value from tries") == -80
    # Of a transaction of the application's only the application knows what belongs to it.
    with fleet.another() as mine, pytest.raises(psycopg.errors.DeadlockDetected):
        own.enqueue("c", connection=mine)
    assert fleet.one("select last_value from tries") == -79


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


def test_many_tasks_are_registered_in_one_commit_each_judged_by_itself(own: Fleet, fleet: Looked) -> None:
    assert own.enqueue_batch([]) == ()
    tags = ["t", 'with "quotes", \\ and {}', "ü, '"]
    drafts = [
        FleetDraft(
            "a",
            handler="send",
            input=b'\0"\\x',
            kind="processing",
            priority=4,
            expected=2.5,
            delay=timedelta(hours=1, microseconds=1),
            max_attempts=3,
            tags=tags,
            labels={"gpu"},
            requires=["network", "idle"],
        ),
        FleetDraft("a"),
        FleetDraft("wrong", priority=9),
        FleetDraft(
            "often",
            handler="send",
            every=86400,
            flex=3600,
            anchored=True,
            backoff="linear",
            backoff_delay=60,
            response_window=7,
        ),
        FleetDraft("a", existing="append", kind="processing"),
        FleetDraft("large", input=bytes(10_241)),
        FleetDraft("last", handler="send", schedule="standing"),
    ]
    became = own.enqueue_batch(drafts)
    words = [one if isinstance(one, pyselene.Disposition) else type(one) for one in became]
    assert words == [
        pyselene.Disposition.ADDED,
        pyselene.Disposition.KEPT,
        pyselene.InvalidArgument,
        pyselene.Disposition.ADDED,
        pyselene.Disposition.APPENDED,
        pyselene.TooLarge,
        pyselene.Disposition.ADDED,
    ]
    refused = became[2]
    assert isinstance(refused, pyselene.InvalidArgument)
    assert (refused.field, refused.detail) == ("priority", "priority: 9 is out of range, allowed are 1 to 5")
    # Every field is what the same draft has by itself.
    fleet.rows("select cancel_all()")
    terms = "to_jsonb(t) - '{seq,id,class,registered,anchor,behind}'::text[]"
    for draft in (drafts[0], drafts[3], drafts[6]):
        (one,) = own.enqueue_batch([replace(draft, id="many")])
        fields = {name: getattr(draft, name) for name in FleetFields.__annotations__}
        assert own.enqueue("one", **fields) is one is pyselene.Disposition.ADDED
        (many, alone) = fleet.rows(f"select {terms}, class from task t order by id")
        assert many == alone
        assert own.get("many").tags == [*draft.tags]
        own.cancel_queue()
    # Thousands, in the order in which they are given.
    dispositions = own.enqueue_batch(FleetDraft(f"m{number}", input=b"x" * 100) for number in range(5000))
    assert dispositions == (pyselene.Disposition.ADDED,) * 5000
    assert fleet.one(
        "select bool_and(substr(id, 2)::int = place and registered - first < 60e9) from (select id, registered,"
        " row_number() over (order by seq) - 1 as place, min(registered) over () as first from task) t"
    )
    for wrong in ({"tags": 5}, {"delay": "x"}, {"priority": "urgent"}):
        with pytest.raises((TypeError, ValueError)):
            own.enqueue_batch([FleetDraft("new"), FleetDraft("other", **wrong)])
    with pytest.raises(pyselene.NotFound):
        own.get("new")


def test_n16_many_tasks_stand_or_fall_with_the_transaction_of_the_application(own: Fleet, fleet: Looked) -> None:
    own.set_queue(limit_refresh=3)
    with fleet.another(row_factory=psycopg.rows.dict_row) as mine:
        with pytest.raises(ZeroDivisionError), mine.transaction():
            own.enqueue_batch([FleetDraft("a"), FleetDraft("b")], connection=mine)
            raise ZeroDivisionError
        with mine.transaction():
            # What is refused does not fail it.
            became = own.enqueue_batch([FleetDraft(name) for name in "cdef"], connection=mine)
            assert isinstance(became[3], pyselene.TooManyPending)
            mine.execute("select 1")
            assert [*own.list()] == []
    assert [task.id for task in own.list()] == ["c", "d", "e"]


def test_a_queue_is_set_and_emptied(own: Fleet, fleet: Looked) -> None:
    own.set_queue()
    (queue,) = own.queues()
    assert (queue.queue, queue.pace, queue.retention) == ("mail", timedelta(minutes=15), timedelta(days=1))
    assert (queue.backoff_min, queue.backoff_max) == (timedelta(seconds=10), timedelta(hours=5))
    assert (queue.jitter, queue.max_input, queue.holds) == (0, 10_240, False)
    assert queue.crash_pause == timedelta(seconds=30)
    assert (queue.limit_refresh, queue.limit_processing) == (None, None)
    own.set_queue(
        pace=1.5, backoff_min=1, backoff_max=timedelta(minutes=1), jitter=250, retention=0, max_input=3,
        limit_refresh=1, limit_processing=9, holds=True, crash_pause=0.25,
    )  # fmt: skip
    own.set_queue(limit_processing=None)
    (queue,) = own.queues()
    assert (queue.pace, queue.retention) == (timedelta(seconds=1.5), timedelta(0))
    assert (queue.backoff_min, queue.backoff_max) == (timedelta(seconds=1), timedelta(minutes=1))
    assert (queue.jitter, queue.max_input, queue.holds) == (250, 3, True)
    assert queue.crash_pause == timedelta(seconds=0.25)
    assert (queue.limit_refresh, queue.limit_processing) == (1, None)
    with pytest.raises(pyselene.InvalidArgument) as refused:
        own.set_queue(jitter=2000, holds=False)
    assert refused.value.field == "jitter"
    with pytest.raises(pyselene.InvalidArgument, match="limit_refresh: -1 is below 0"):
        own.set_queue(limit_refresh=-1)
    (queue,) = own.queues()
    assert (queue.jitter, queue.holds) == (250, True)
    own.enqueue("a")
    own.enqueue("b")
    Fleet(fleet.server.dsn(fleet.name)).enqueue("other")
    assert own.cancel_queue() == 2
    assert [task.id for task in own.list(every_queue=True)] == ["other"]


def test_n37_nodes_are_asked_to_leave_by_name(own: Fleet, fleet: Looked) -> None:
    worker = fleet.hello("alpha:1")
    fleet.hello("beta:1")
    with pytest.raises(pyselene.NotFound, match="'gamma' is not there"):
        own.drain("gamma")
    assert own.drain("alpha:1") == 1
    assert [(node.name, node.draining) for node in own.nodes()] == [("alpha:1", True), ("beta:1", False)]
    assert [row[0] for row in fleet.rows("select what from beat(%s, 0)", worker)] == [0, 4]


def test_n1_it_installs_a_fleet_in_a_schema_of_any_name(fresh: Looked) -> None:
    with Fleet(fresh.server.dsn(fresh.name), schema='my "fleet"') as other:
        assert other.install() == ()
        assert other.install() == ()
        assert other.enqueue("a") is pyselene.Disposition.ADDED
        assert other.get("a").id == "a"
        assert '"my ""fleet"""' in other.script()
    assert fresh.rows("select * from live") == []


def test_a_keyword_that_is_none_is_refused_with_the_one_that_was_meant(own: Fleet) -> None:
    wrong: Any = own
    with pytest.raises(TypeError, match=r"enqueue\(\) got .* 'prioritty'; did you mean 'priority'\?"):
        wrong.enqueue("a", prioritty=1)
    with pytest.raises(TypeError, match="'period'; it is called 'every' here"):
        wrong.enqueue("a", period=1)


def environment(fleet: Looked) -> dict[str, str]:
    """What the command finds the fleet by."""
    return {
        **os.environ,
        "SELENE_FLEET": fleet.server.dsn(fleet.name),
        "PYTHONPATH": str(ROOT / "bindings/python/src"),
    }


def command(fleet: Looked, *words: str, code: int = 0) -> str:
    """What `pyselene fleet` says."""
    told = Command(["fleet", *words], {**environment(fleet), "COLUMNS": "200"})
    stdout, stderr = told.communicate(timeout=PATIENCE)
    assert told.returncode == code, (stdout, stderr)
    return stdout + stderr


def test_the_command_line(fleet: Looked) -> None:
    assert "is installed" in command(fleet, "install")
    command(fleet, "status")
    fleet.rows("select register('a', tags => '{t}', delay => '1 h'), register('b')")
    assert "not_due" in command(fleet, "explain", "a")
    assert [task["id"] for task in json.loads(command(fleet, "list", "--json"))] == ["a", "b"]
    assert json.loads(command(fleet, "list", "--tag", "t", "--json"))[0]["state"] == "enqueued"
    assert "enqueued" in command(fleet, "list")
    assert "no node has handler 'b'" in command(fleet, "status", code=1)
    # What others named is shown as it is.
    fleet.rows("select register('[red]c[/red]', handler => ':moon: [b]', queue => '[x]', delay => '1 h')")
    for words in (("list",), ("top", "--once")):
        said = command(fleet, *words)
        assert words[0] == "top" or ("[red]c[/red]" in said and ":moon: [b]" in said)
        assert "[x]" in said
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


def test_n37_the_command_line_lets_a_node_leave_and_empties_a_queue(fleet: Looked) -> None:
    fleet.hello("alpha:1")
    assert "alpha:1 takes nothing more" in command(fleet, "drain", "alpha:1")
    assert "alpha:1  draining" in command(fleet, "nodes")
    assert json.loads(command(fleet, "nodes", "--json"))[0]["draining"] is True
    assert "'beta' is not there" in command(fleet, "drain", "beta", code=4)
    fleet.rows("select register('a'), register('b', queue => 'mail')")
    assert "allowed is one of them" in command(fleet, "cancel", "a", "--queue", "mail", code=2)
    assert 'no queue "none"' in command(fleet, "cancel", "--queue", "none", code=4)
    assert "1 cancelled" in command(fleet, "cancel", "--queue", "mail")
    assert fleet.rows("select id from live") == [("a",)]


def test_the_command_line_shows_what_runs_where(fleet: Looked) -> None:
    fleet.rows(
        "select register('a', handler => 'send'), register('b', handler => 'send', delay => '1 h'),"
        " set_queue('default', limit_refresh => 5)"
    )
    worker = fleet.hello("alpha:1")
    assert len(fleet.claim(worker)) == 1
    fleet.rows("select register('c', handler => 'nobody')")
    seen = json.loads(command(fleet, "top", "--once", "--json"))
    assert set(seen) == {"at", "items", "queues", "nodes", "claimed"}
    (run,) = seen["claimed"]
    assert (run["id"], run["queue"], run["handler"], run["node"], run["attempts"]) == (
        "a",
        "default",
        "send",
        "alpha:1",
        1,
    )
    assert run["begun"] <= seen["at"]
    assert [one["queue"] for one in seen["queues"]] == ["default"]
    assert [(one["name"], one["runs"]) for one in seen["nodes"]] == [("alpha:1", 1)]
    assert {"item": "claimed", "value": "1", "alarm": False} in seen["items"]
    said = command(fleet, "top", "--once")
    assert "1 of 1 nodes alive" in said
    assert "1 claimed" in said
    assert "running" not in said
    assert "! queue default, refresh: no node has handler 'nobody'" in said
    for pattern in (r"^default +open +1 .* 3 of 5 *$", r"^alpha:1 +alive ", r"^a +default +send +alpha:1 +1 +\d"):
        assert re.search(pattern, said, re.MULTILINE), (pattern, said)
    assert "--every" in command(fleet, "top", "--every", "1ms", code=2)


@contextmanager
def shown(fleet: Looked, *words: str) -> Iterator[Command]:
    """`pyselene fleet top` in a process, which is over afterwards."""
    own = Command(["fleet", "top", "--every", "100ms", *words], environment(fleet))
    try:
        yield own
    finally:
        own.kill()
        own.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_shown_follows_until_it_is_interrupted(fleet: Looked, number: int) -> None:
    with shown(fleet, "--json") as own:
        assert own.stdout is not None
        assert json.loads(own.stdout.readline())["nodes"] == []
        fleet.hello("alpha:1")
        while not (seen := json.loads(own.stdout.readline()))["nodes"]:
            assert seen["problem"] is None
        own.send_signal(number)
        _, errors = own.communicate(timeout=60)
        assert (own.returncode, errors) == (0, "")


def test_a_reader_that_goes_away_ends_what_is_shown(fleet: Looked) -> None:
    for words in ((), ("--json",)):
        with shown(fleet, *words) as own:
            assert own.stdout is not None
            assert own.stdout.readline()
            own.stdout.close()
            assert own.wait(timeout=60) == 5
            assert own.stderr is not None
            assert own.stderr.read() == ""


def test_a_database_that_goes_away_and_comes_back_is_shown() -> None:
    server = Server()
    try:
        fleet = Looked(server)
        with shown(fleet, "--json") as own:
            assert own.stdout is not None
            assert json.loads(own.stdout.readline())["problem"] is None
            server.stop("immediate")
            while not (problem := json.loads(own.stdout.readline())["problem"]):
                pass
            assert "server" in problem
            server.start()
            while json.loads(own.stdout.readline())["problem"]:
                pass
        fleet.close()
    finally:
        server.remove()


def test_on_a_terminal_it_is_one_picture_and_leaves_none_behind(fleet: Looked) -> None:
    fleet.hello("alpha:1")
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    own = subprocess.Popen(
        [sys.executable, "-m", "pyselene", "fleet", "top", "--every", "100ms"],
        env={**environment(fleet), "TERM": "xterm"},
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
    )
    os.close(side)
    said = b""
    try:
        while said.count(b"alpha:1") < 3:
            said += os.read(main, 65536)
        own.send_signal(signal.SIGINT)
        with suppress(OSError):  # its end was closed
            while more := os.read(main, 65536):
                said += more
        assert own.wait(timeout=60) == 0
    finally:
        own.kill()
        own.wait()
        os.close(main)
    # Another screen, and back.
    assert said.count(b"\x1b[?1049h") == said.count(b"\x1b[?1049l") == 1
    assert said.rindex(b"alpha:1") < said.index(b"\x1b[?1049l")
    assert b"Traceback" not in said


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


def test_who_may_make_no_roles_gets_one_note(fresh: Looked) -> None:
    fresh.rows("drop role if exists makes_no_roles")
    fresh.rows("create role makes_no_roles login")
    fresh.rows(f"grant create on database {fresh.name} to makes_no_roles")
    dsn = f"host={fresh.server.folder} user=makes_no_roles dbname={fresh.name}"
    note, end = command(fresh, "install", "--schema", "own", "--dsn", dsn).splitlines()
    assert note.startswith(
        "note: only makes_no_roles and superusers can use the fleet own; nothing needs to be done, unless"
    )
    assert end == "the fleet own is installed"


def test_a_fleet_of_an_earlier_release_is_told_from_none(fresh: Looked) -> None:
    fresh.rows("drop function retry(text), queues(text, text, int)")
    for words in (("queues",), ("retry", "a")):
        assert "is of an earlier release" in command(fresh, *words, code=4)
        assert "pyselene fleet install brings it to this one" in command(fresh, *words, code=4)
    command(fresh, "install")
    command(fresh, "queues")
    # A new one has nothing that somebody should look at.
    command(fresh, "status")
