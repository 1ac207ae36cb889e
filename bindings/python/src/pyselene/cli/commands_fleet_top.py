"""The command `fleet top`: queues, nodes and what runs, again and again."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import Annotated, Any, Final

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from ..fleet import Fleet, FleetItem, FleetNode, FleetQueue
from ..fleet._calls import Call
from ..fleet._words import told
from . import duration
from . import options as o
from .commands_fleet import Dsn, Schema, as_json_of, fleet, nodes_table, opened_fleet, queues_table, table
from .problem import printable
from .program import command, new_console, print_json, print_line

_RUNS: Final = 200
"""At most so many of what is claimed are shown."""
_COUNTS: Final = ("ready", "waiting", "held", "claimed", "suspects", "failed")


@dataclass(frozen=True, slots=True)
class Claimed:
    """A run that a worker has: of what it claims at once some wait there for a lane."""

    id: str
    queue: str
    handler: str
    node: str | None
    attempts: int
    begun: datetime | None
    estimate: timedelta

    def elapsed(self, now: datetime) -> timedelta | None:
        """For how long it is claimed."""
        return None if self.begun is None else max(now - self.begun, timedelta())


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen at once."""

    at: datetime
    items: tuple[FleetItem, ...]
    queues: tuple[FleetQueue, ...]
    nodes: tuple[FleetNode, ...]
    claimed: list[Claimed]


def look_at(opened: Fleet) -> Look:
    """Looks once."""
    columns = ", ".join(Claimed.__dataclass_fields__)
    schema = opened._calls.schema
    runs = Call(
        f"select {columns} from {schema}.board('running', most => %s)",
        (_RUNS,),
        lambda rows: [Claimed(*row) for row in rows if row[0] is not None],
    )
    now = Call(f"select to_timestamp({schema}.now_ns() / 1e9)", (), lambda rows: rows[0][0])
    return Look(opened._make(now), opened.status(), opened.queues(), opened.nodes(), opened._make(runs))


@command(of=fleet)
def top(
    dsn: Dsn,
    schema: Schema = "selene",
    every: Annotated[
        int,
        typer.Option(
            parser=o.time(100 * duration.MILLISECOND, duration.DAY),
            metavar="DURATION",
            help="How often it looks.",
        ),
    ] = "2s",  # type: ignore[assignment]
    once: Annotated[bool, typer.Option("--once", help="Look once.")] = False,
    as_json: o.Json = False,
) -> None:
    """Show queues, nodes, alarms and what nodes have claimed, until Ctrl-C. With --json a line each time.

    Into a pipe it writes one look below the other. A database that is away does not end it: it says so, and goes on.
    """
    with opened_fleet(dsn, schema) as opened:
        seen = look_at(opened)
        if once:
            print_json(_json(seen)) if as_json else new_console().print(_picture(schema, seen, ""))
            return
        with _until_interrupted():
            _follow(opened, dsn, seen, every / duration.SECOND, as_json)


def _follow(opened: Fleet, dsn: str, seen: Look, every: float, as_json: bool) -> None:
    import psycopg

    console = new_console()
    problem = ""

    def look() -> None:
        nonlocal seen, problem
        time.sleep(every)
        try:
            seen, problem = look_at(opened), ""
        except psycopg.Error as error:
            problem = printable(told(error, dsn, opened.schema).words)

    if not console.is_terminal or as_json:
        while True:
            if as_json:
                print_line(json.dumps({**_json(seen), "problem": problem or None}, ensure_ascii=False))
            else:
                console.print(_picture(opened.schema, seen, problem))
                console.print()
                sys.stdout.flush()
            look()
    with Live(_picture(opened.schema, seen, ""), console=console, auto_refresh=False, screen=True) as live:
        while True:
            look()
            live.update(_picture(opened.schema, seen, problem), refresh=True)


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """Ctrl-C and SIGTERM end what is inside, wherever it is, and the terminal is as before."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _json(seen: Look) -> dict[str, Any]:
    return {
        "at": seen.at.astimezone(UTC).isoformat(),
        "items": [as_json_of(one) | {"alarm": one.alarm} for one in seen.items],
        "queues": [as_json_of(one) for one in seen.queues],
        "nodes": [as_json_of(one) for one in seen.nodes],
        "claimed": [as_json_of(one) for one in seen.claimed],
    }


def _picture(schema: str, seen: Look, problem: str) -> RenderableType:
    values = {one.item: one.value for one in seen.items}
    alive = sum(node.alive for node in seen.nodes)
    head = Text.assemble(
        (f"fleet {printable(schema)}", "bold"),
        f"  {seen.at.astimezone():%Y-%m-%d %H:%M:%S}  {alive} of {len(seen.nodes)} nodes alive  ",
        ", ".join(f"{printable(values[name])} {name}" for name in _COUNTS if name in values),
    )
    parts: list[RenderableType] = [head]
    if problem:
        parts.append(Text(problem, "bold red"))
    parts += [Text(f"! {printable(one.item)}: {printable(one.value)}", "yellow") for one in seen.items if one.alarm]
    parts += [Text(), queues_table(seen.queues), Text(), nodes_table(seen.nodes), Text(), _runs_table(seen)]
    return Group(*parts)


def _runs_table(seen: Look) -> RenderableType:
    runs = table("claimed", "queue", "handler", "node", "attempt", "for", "estimate")
    for run in seen.claimed:
        elapsed = run.elapsed(seen.at)
        runs.add_row(
            printable(run.id), printable(run.queue), printable(run.handler), printable(run.node or ""),
            str(run.attempts), "" if elapsed is None else _span(elapsed), _span(run.estimate),
        )  # fmt: skip
    return runs


def _span(span: timedelta) -> str:
    return duration.show(round(span.total_seconds() * duration.SECOND))
