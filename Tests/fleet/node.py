"""A driver for the node of Sources/SeleneNode: it makes the node's calls on a connection of psycopg, and calls handlers.

The node is a process of its own (Tests/fleet/node); it knows the time from what it is told, so whoever stops this process
stops the node.
"""

from __future__ import annotations

import base64
import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from psycopg import sql

from server import ROOT

PROGRAM = ROOT / ".build/tests/debug/fleet-node"
SECOND = 1_000_000_000


def clock() -> int:
    """It counts what the machine sleeps."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Run:
    """A run of a task, as a handler gets it."""

    def __init__(self, number: int, task: int, id: str, handler: str, input: bytes) -> None:
        self.number, self.task, self.id, self.handler, self.input = number, task, id, handler, input
        #: Set when it is to stop; then why is in `reason`.
        self.stop = threading.Event()
        self.reason = ""


class Returned(Exception):
    """A handler gives its run back."""


class Link:
    """One connection, in a thread of its own, so that nobody waits for it longer than he wants."""

    def __init__(self, dsn: str, events: queue.Queue[dict[str, Any]]) -> None:
        self.dsn, self.events = dsn, events
        self.calls: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.busy = False
        threading.Thread(target=self.work, daemon=True).start()

    def work(self) -> None:
        """Makes one call after the other."""
        connection: psycopg.Connection[Any] | None = None
        while (call := self.calls.get()) is not None:
            number, sent, state = call["number"], False, None
            try:
                if connection is None:
                    connection = psycopg.connect(self.dsn, autocommit=True, prepare_threshold=None, connect_timeout=5)
                sent = True
                rows = self.rows(connection, call)
                self.busy = False
                self.events.put({"do": "rows", "number": number, "rows": rows})
                continue
            except psycopg.Error as error:
                state = error.sqlstate
            if connection is not None and (connection.closed or state is None):
                connection.close()
                connection = None
            self.busy = False
            self.events.put({"do": "failed", "number": number, "sent": sent, "state": state if sent else None})
        if connection is not None:
            connection.close()

    @staticmethod
    def rows(connection: psycopg.Connection[Any], call: dict[str, Any]) -> list[list[Any]]:
        """The cells of all rows."""
        values = [given(value) for value in call["values"]]
        with psycopg.RawCursor(connection) as cursor:
            cursor.execute(sql.SQL(call["sql"]), values)
            return [[cell(value) for value in row] for row in cursor.fetchall()]


def given(value: Any) -> Any:
    """A value of a statement as psycopg takes it."""
    if isinstance(value, dict):
        return base64.b64decode(value["b"])
    return [given(one) for one in value] if isinstance(value, list) else value


def cell(value: Any) -> Any:
    """A cell as the node is told it."""
    if isinstance(value, str):
        return {"t": value}
    if isinstance(value, bytes):
        return {"b": base64.b64encode(value).decode()}
    return [cell(one) for one in value] if isinstance(value, list) else value


class Node:
    """A node that works until it is closed."""

    def __init__(
        self,
        dsn: str,
        handlers: dict[str, Callable[[Run], bytes | None]],
        *,
        lanes: int = 4,
        name: str = "node",
        lease: int = 30 * SECOND,
        horizon: int = SECOND // 4,
        poll: int = SECOND // 20,
        labels: tuple[str, ...] = (),
        say: Callable[..., None] = lambda *_: None,
    ) -> None:
        self.dsn, self.handlers, self.say = dsn, handlers, say
        self.events: queue.Queue[dict[str, Any]] = queue.Queue()
        self.lanes = ThreadPoolExecutor(lanes)
        self.link = Link(dsn, self.events)
        self.runs: dict[int, Run] = {}
        self.reply: dict[str, Any] = {}
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.write({"schema": "selene", "name": name, "lease": lease, "horizon": horizon, "poll": poll})
        self.events.put({"do": "offer", "lanes": lanes, "handlers": list(handlers), "labels": labels})

    def write(self, line: dict[str, Any]) -> None:
        """Tells the node something."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def close(self, grace: float = 30) -> None:
        """It takes nothing more; `work` returns when it has told the database."""
        self.events.put({"do": "close", "grace": int(grace * SECOND)})

    def work(self) -> None:
        """Until it is closed."""
        assert self.process.stdout
        try:
            while not self.reply.get("closed"):
                try:
                    wait = (self.reply.get("wake", 0) - clock()) / SECOND
                    told = self.events.get(timeout=min(max(wait, 0.0001), 1))
                except queue.Empty:
                    told = {"do": "step"}
                self.write(told | {"now": clock()})
                self.reply = json.loads(self.process.stdout.readline())
                for word, *rest in self.reply["actions"]:
                    getattr(self, word)(*rest)
                if call := self.reply.get("request"):
                    self.call(call)
        finally:
            self.link.calls.put(None)
            self.lanes.shutdown(wait=False)
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe:
                    pipe.close()

    def call(self, call: dict[str, Any]) -> None:
        """Makes a call, on another connection if the one before has no answer yet."""
        if self.link.busy:
            self.link.calls.put(None)
            self.link = Link(self.dsn, self.events)
        self.link.busy = True
        self.link.calls.put(call)

    # What the node asks for.

    def begin(self, number: int, task: int, id: str, handler: str, input: str) -> None:
        """A handler in a lane."""
        run = self.runs[number] = Run(number, task, id, handler, base64.b64decode(input))
        self.say("start", task, number)
        self.lanes.submit(self.handle, run)

    def handle(self, run: Run) -> None:
        """How its run ended."""
        begin = time.monotonic_ns()
        told: dict[str, Any] = {"do": "ended", "run": run.number, "outcome": 0}
        try:
            result = self.handlers[run.handler](run)
            told |= {"result": base64.b64encode(result).decode() if result is not None else None}
        except Returned:
            told |= {"outcome": None}
        except Exception as error:
            told |= {"outcome": 2, "failure": repr(error)}
        self.events.put(told | {"response": time.monotonic_ns() - begin})

    def stop(self, number: int, reason: str) -> None:
        """A run is not this node's any more."""
        run = self.runs[number]
        run.reason = reason
        run.stop.set()
        self.say("stopped", run.task, number, reason)

    def decided(self, number: int, counts: bool) -> None:
        """What became of a decision."""
        self.say("done" if counts else "stale", self.runs[number].task, number)

    def took_back(self, count: int) -> None:
        """Runs of the dead."""
        self.say("reaped", count)

    def clocks_differ(self, _: int) -> None:
        """The database's clock was set, or something took its time."""
        self.say("clocks")

    def unreadable(self) -> None:
        """The rows were not those of the statement."""
        raise AssertionError("an answer could not be read")

    def refused(self) -> None:
        """The database refused a call."""
        self.say("refused")
