"""One server for all tests of a run, and a fleet in a database of its own for each that asks for one."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from server import ROOT, Server
from workers import HERE as PROGRAMS
from workers import PYTHON, Worker, compiled, rest

HERE = Path(__file__).resolve().parent
# A browser, and pages in it, are what the tests of the binding have.
sys.path.append(str(ROOT / "bindings/python/tests"))
from browser import choose  # noqa: E402

MS = 1_000_000
SECOND = 1_000_000_000
#: Whether this is the long form (`make torture`).
LONG = float(os.environ.get("FLEET_SECONDS", "8")) >= 60


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long is not of the short form, and browsers are not of every run."""
    choose(config, items)
    if not LONG:
        left = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_configure(config: pytest.Config) -> None:
    """Names the marker."""
    config.addinivalue_line("markers", "long: only in the long form")
    config.addinivalue_line("markers", "browser: needs a browser")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Nobody may have deadlocked in the end."""
    one = Server()
    try:
        yield one
        log = one.log.read_text()
        assert "deadlock detected" not in log, re.findall(r".*deadlock detected[\s\S]{0,2000}", log)[0]
        assert not re.search(r"(PANIC|terminated by signal)", log), log[-3000:]
    finally:
        one.remove()


#: Whom the test before left there, and what a process still asks that was killed: it would meet the reset.
OTHERS = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
"""
RESET = """
truncate fleet, queue, pending, class, worker, task, slot, stray, history restart identity;
alter sequence run_number restart;
alter table slot reset (autovacuum_enabled);
insert into fleet (protocol, installed) values (1, now_ns());
"""
NO_PARTITIONS = """
do $$
declare name text;
begin
  for name in select relname from pg_class where relname ~ '^history_[0-9]+$' loop execute 'drop table ' || name; end loop;
end $$;
"""


class Fleet:
    """A fleet, looked at by its owner.

    Unless it is to be fresh the database is one that others had before: making one takes longer than most tests.
    """

    def __init__(self, server: Server, told: bool = False, fresh: bool = False) -> None:
        self.server, self.fresh = server, fresh
        self.name = server.database() if fresh else server.kept.get(told) or server.database()
        self.connections: list[psycopg.Connection[Any]] = []
        self.connection = self.another()
        if told and (fresh or told not in server.kept):
            self.connection.execute((HERE / "set_time.sql").read_text())
        if not fresh:
            server.kept[told] = self.name
            if told:
                self.at(0)
            while self.connection.execute(OTHERS).fetchall():
                time.sleep(0.01)
            self.connection.execute(RESET)

    def close(self) -> None:
        """Leaves nothing for the next one to wait for."""
        for connection in self.connections:
            connection.close()
        if self.fresh:
            with self.server.connect("postgres") as admin:
                admin.execute(f"drop database if exists {self.name} with (force)")

    def another(self, user: str = "fleet", **more: Any) -> psycopg.Connection[Any]:
        """A connection more."""
        connection = self.server.connect(self.name, user, **more)
        connection.execute("set search_path = selene")
        self.connections.append(connection)
        return connection

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows."""
        cursor = self.connection.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []

    def one(self, statement: str, *values: Any) -> Any:
        """The only value of the only row."""
        ((value,),) = self.rows(statement, *values)
        return value

    def nodes(self) -> list[str]:
        """The names of nodes that went on after their hello: one whose answer came too late leaves a node that never did."""
        went_on = "beaten > started or cardinality(serves) > 0"
        return [name for (name,) in self.rows(f"select distinct name from nodes where {went_on} order by name")]

    def without_partitions(self) -> None:
        """The history is as if nobody had ever looked after it."""
        self.rows(NO_PARTITIONS)

    def partitions(self) -> list[str]:
        """Of which days there are any."""
        return [
            row[0] for row in self.rows("select relname from pg_class where relname ~ '^history_[0-9]+$' order by 1")
        ]

    def at(self, now: int) -> None:
        """The clock stands there."""
        self.rows("select set_time(%s)", now)

    def hello(self, name: str = "node", lease: int = 30 * SECOND) -> int:
        """A worker."""
        return int(self.one("select worker from hello(%s, %s)", name, lease))

    def classes(self) -> list[int]:
        """All of them."""
        return [row[0] for row in self.rows("select class from classes() order by class")]

    def claim(self, worker: int, most: int = 1, **more: Any) -> list[dict[str, Any]]:
        """What a claim gives, from the beginning of every line."""
        names = ", ".join(f"{name} => %s" for name in more)
        cursor = self.connection.execute(
            f"select * from claim(%s, %s, most => %s{', ' + names if names else ''})",
            (worker, self.classes(), most, *more.values()),
        )
        assert cursor.description
        return [dict(zip([column.name for column in cursor.description], row, strict=False)) for row in cursor]

    def complete(self, runs: list[dict[str, Any]], outcome: int = 0, response: int = 1000) -> dict[int, bool]:
        """Which runs counted."""
        return dict(
            self.connection.execute(
                "select run, counts from complete(%s, %s, %s, %s)",
                (
                    [one["seq"] for one in runs],
                    [one["run"] for one in runs],
                    [outcome] * len(runs),
                    [response] * len(runs),
                ),
            ).fetchall()
        )

    def slot(self, id: str) -> dict[str, Any]:
        """Where a live task stands."""
        cursor = self.connection.execute(
            "select s.* from slot s join task t on t.seq = s.seq where t.id = %s and t.behind is null", (id,)
        )
        assert cursor.description
        return dict(zip([column.name for column in cursor.description], cursor.fetchone() or [], strict=False))


@pytest.fixture
def fleet(server: Server) -> Iterator[Fleet]:
    """Its clock is the server's."""
    one = Fleet(server)
    yield one
    one.close()


@pytest.fixture
def fresh(server: Server) -> Iterator[Fleet]:
    """In a database that nobody had before."""
    one = Fleet(server, fresh=True)
    yield one
    one.close()


@pytest.fixture
def told(server: Server) -> Iterator[Fleet]:
    """Its clock is told."""
    one = Fleet(server, told=True)
    yield one
    one.close()


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The programs of the folder c."""
    folder = tmp_path_factory.mktemp("c")
    return {source.stem: compiled(source, folder / source.stem) for source in sorted(PROGRAMS.glob("*.c"))}


@pytest.fixture
def start(programs: dict[str, Path], fleet: Fleet) -> Iterator[Callable[..., Worker]]:
    """Makes workers, none of which outlives the test."""
    made: list[Worker] = []

    def begin(name: str = "c", dsn: str = "", python: bool = False, **more: Any) -> Worker:
        program = PYTHON if python else programs["worker"]
        made.append(Worker(program, dsn or fleet.server.dsn(fleet.name), name, **more))
        return made[-1]

    yield begin
    for one in made:
        if one.process.poll() is None:
            one.end(signal.SIGKILL)
    rest(fleet)
