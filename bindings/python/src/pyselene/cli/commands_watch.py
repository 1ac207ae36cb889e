"""The command `watch`: what happens in the store of another process, as it happens."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from .. import Event, EventType
from . import options as o
from . import to_json, wire
from .problem import printable
from .program import command, existing, print_line


@command()
def watch(
    store: Annotated[
        Path, typer.Option(parser=o.store_file, metavar="FILE", help="The store that another process has open.")
    ],
    as_json: o.Json = False,
) -> None:
    """Show what happens in a store that another process has open and serves, as it happens, until that ends."""
    path = existing(store)
    assert path is not None
    with wire.refusals(path), wire.connect_to(path) as scheduler, scheduler.events() as events:
        told = 0
        if not as_json:
            print_line(f"watching {printable(path)}")
        for event in events:
            lost, told = events.dropped - told, events.dropped
            if as_json:
                print_line(json.dumps({**to_json.event_json(event), "lost": lost}, ensure_ascii=False))
                continue
            if lost:
                print_line(f"{lost} events were lost")
            print_line(line(event))


def line(event: Event) -> str:
    """An event in a line: when, what, of which task or kinds, and more where there is more to say."""
    at = datetime.fromtimestamp(event.time_ns // 1_000_000_000, UTC).astimezone()
    kinds = ", ".join(str(kind) for kind in sorted(event.kinds))
    words = [f"{at:%Y-%m-%d %H:%M:%S}", f"{event.type!s:<11}", printable(event.id) or kinds]
    more = "" if event.detail is None else str(event.detail)
    message = event.message if event.error is None else str(event.error)
    if message:
        more = f"{more}: {printable(message)}" if more else printable(message)
    elif event.type is EventType.TROUBLE:
        more += " is over"
    return "  ".join(word for word in [*words, more] if word)
