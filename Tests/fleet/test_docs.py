"""What docs/fleet.md shows is run as it stands there."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pyselene
import pytest

from conftest import Fleet
from server import ROOT, Server
from steps import play, steps

TEXT = (ROOT / "docs/fleet.md").read_text()


def blocks(language: str) -> list[str]:
    """All of a language."""
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def block(language: str) -> str:
    """The only one of a language."""
    (found,) = blocks(language)
    return found


def test_the_statements_of_the_manual(fleet: Fleet) -> None:
    fleet.connection.execute(block("sql"))
    assert fleet.rows("select id, state from live order by seq") == [
        ("invoice-7", "enqueued"),
        ("report", "enqueued"),
        ("train-3", "enqueued"),
    ]
    assert fleet.one("select state from get('order-9')") == "cancelled"


def test_the_program_of_the_manual(fleet: Fleet) -> None:
    dsn = fleet.server.dsn(fleet.name)
    program = (
        blocks("py")[0]
        .replace('"dbname=app"', repr(dsn))
        .replace("update invoice set sent = true where id = 9", "select 1")
    )
    exec(program, {"psycopg": psycopg})
    assert fleet.rows("select id, queue from live order by seq") == [
        ("invoice-8", "mail"), ("invoice-9", "mail"), ("invoice-10", "mail"), ("invoice-11", "mail"),
    ]  # fmt: skip


def test_the_programs_of_the_readme_of_pyselene(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    section = (ROOT / "bindings/python/README.md").read_text().split("## Several machines\n")[1].split("\n## ")[0]
    many, loop = re.findall(r"```py\n(.*?)```", section, re.DOTALL)
    dsn = repr(fleet.server.dsn(fleet.name))
    exec(many.replace('"dbname=app"', dsn), {})
    assert fleet.one("select count(*) from live where queue = 'mail' and tags = '{mail}'") == 2000
    assert fleet.one("select limit_refresh from queues()") == 10_000
    assert "no_node: no node has handler 'send'" in capsys.readouterr().out
    fleet.rows("select cancel_all()")
    exec(loop.replace('"dbname=app"', dsn), {})
    said = capsys.readouterr().out.splitlines()
    assert said == ["mail-a enqueued", "mail-b enqueued", "mail-c enqueued", "enqueued None"]


def test_the_first_steps_with_three_nodes_go_as_printed(server: Server, tmp_path: Path) -> None:
    said = play(
        steps("Three nodes on PostgreSQL, in ten minutes"),
        tmp_path,
        # Its reader opens the page meanwhile. What was killed is in the status for a while, or an alarm of it.
        {
            'pyselene fleet status --dsn "dbname=app"': 'pyselene fleet status --dsn "dbname=app" || true',
            ":8080": ":0",
            "kill %2": "until grep -q 'page on' said; do sleep 0.1; done; kill %2",
        },
        PGHOST=str(server.folder),
        PGUSER="fleet",
    )
    try:
        everything = "".join(said.values())

        def of(begin: str) -> str:
            (text,) = (text for line, text in said.items() if line.startswith(begin))
            return text

        assert "the fleet selene is installed" in of("pyselene fleet install")
        assert re.search(r"^ *900$", of("psql"), re.MULTILINE)
        # What nodes say stands between.
        assert re.search(r"3 of 3 nodes alive|[12] of [12] nodes alive", of("pyselene fleet top"))
        assert "takes nothing more" in of("pyselene fleet drain")
        assert re.search(r"  (draining|alive) ", of("pyselene fleet nodes"))
        assert of("pyselene fleet explain").strip()
        assert "nodes: " in of("pyselene fleet status")
        assert "page on http://127.0.0.1:" in everything
        assert re.search(r"^mail-\d+: to you \(attempt 1, fence \d+\)$", everything, re.MULTILINE)
        with server.connect("app") as connection:
            # One was killed, and is gone once it is taken for dead; the others have left.
            assert connection.execute("select count(*) from selene.nodes").fetchone() in ((0,), (1,))
    finally:
        with server.connect("postgres") as admin:
            admin.execute("drop database app with (force)")


def test_the_scheduler_of_the_manual(fleet: Fleet) -> None:
    sent: list[tuple[bytes, int]] = []

    def work(scheduler: pyselene.Scheduler) -> None:
        thread = threading.Thread(target=scheduler.run_forever, kwargs={"lanes": 8})
        thread.start()
        end = time.monotonic() + 60
        while fleet.one("select count(*) from history") < 2 and time.monotonic() < end:
            time.sleep(0.02)
        scheduler.close(10)
        thread.join(60)

    program = blocks("py")[1]
    for old, new in (
        ('"dbname=app"', repr(fleet.server.dsn(fleet.name))),
        ("update account set …", "select 1"),
        ("scheduler.run_forever(lanes=8)", "work(scheduler)"),
    ):
        assert old in program
        program = program.replace(old, new)
    fleet.rows("select register('a', handler => 'send', input => 'one'), register('b', handler => 'book')")

    def deliver(what: bytes, idempotency_key: int) -> None:
        sent.append((what, idempotency_key))

    exec(program, {"psycopg": psycopg, "work": work, "deliver": deliver})
    assert [what for what, _ in sent] == [b"one"]
    assert fleet.rows("select id, state from ended order by id") == [("a", "succeeded"), ("b", "succeeded")]
    assert fleet.one("select result('a')") == b"sent"


def test_the_worker_of_the_manual(fleet: Fleet) -> None:
    names: dict[str, Any] = {}
    exec(block("python"), names)
    seen: list[bytes] = []

    def send(input: bytes) -> bytes:
        seen.append(input)
        return b"sent"

    def fail(_: bytes) -> None:
        raise ValueError("no")

    fleet.rows(
        "select register('a', handler => 'send', input => 'one'), register('b', handler => 'fail', max_attempts => 1)"
    )
    # It beats meanwhile, after a third of its lease.
    fleet.rows("select register('c', handler => 'nobody'), register('d', handler => 'send', delay => '4 s')")
    done = threading.Thread(
        target=names["work"],
        args=(fleet.server.dsn(fleet.name), {"send": send, "fail": fail}),
        kwargs={"idle": 0.05, "lease": 9_000_000_000, "until": lambda: len(seen) == 2},
    )
    done.start()
    done.join(30)
    assert not done.is_alive()
    assert seen == [b"one", b""]
    assert fleet.rows("select id, state, failure from ended order by id") == [
        ("a", "succeeded", None),
        ("b", "failed", "ValueError('no')"),
        ("d", "succeeded", None),
    ]
    assert fleet.one("select result('d')") == b"sent"
    assert fleet.one("select state from get('c')") == "enqueued"
    assert fleet.nodes() == []


def test_the_manual_names_every_function_that_is_granted(fleet: Fleet) -> None:
    granted = fleet.rows(
        "select distinct proname from pg_proc where pronamespace = 'selene'::regnamespace and provolatile <> 'i'"
        " and has_function_privilege('selene_manage', oid, 'execute')"
    )
    assert [name for (name,) in granted if not re.search(rf"\b{name}\b", TEXT)] == []
