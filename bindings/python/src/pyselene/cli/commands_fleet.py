"""The commands under `fleet`: a queue in PostgreSQL that many machines have."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.table import Table

from .._errors import SeleneError
from ..fleet import Fleet, FleetNode, FleetQueue, FleetTask
from ..fleet._connect import connect
from ..fleet._words import Cause, Told, told
from . import duration, web
from . import options as o
from .problem import Exit, Problem, printable
from .program import app, command, new_console, print_json, print_line

if TYPE_CHECKING:
    from .page.board import Board

fleet = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="A queue in PostgreSQL that many machines share.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(fleet, name="fleet")

Dsn = Annotated[
    str,
    typer.Option(
        envvar="SELENE_FLEET", metavar="TEXT", help='How to reach the database, such as "host=db dbname=app".'
    ),
]
Schema = Annotated[str, typer.Option(metavar="NAME", help="The schema of the fleet.")]
Queue = Annotated[str, typer.Option(metavar="NAME", help="The queue.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a task.")]
Span = Annotated[
    int | None,
    typer.Option(
        "--for", parser=o.time(0, 3650 * duration.DAY), metavar="DURATION", help="How long.", show_default=False
    ),
]


@contextmanager
def opened_fleet(dsn: str, schema: str, queue: str = "default", *, installs: bool = False) -> Iterator[Fleet]:
    """A fleet whose refusals end the command."""
    try:
        opened = Fleet(dsn, schema=schema, queue=queue)
    except ImportError as error:
        raise Problem(str(error), Exit.SYSTEM) from None
    import psycopg

    try:
        with opened:
            yield opened
    except SeleneError as error:
        raise Problem(error.detail, Exit.REFUSED) from None
    except psycopg.Error as error:
        found = told(error, dsn, schema, installs=installs)
        if found.cause is Cause.OLDER and not _has_fleet(dsn, schema):
            found = Told(f'the schema "{schema}" has no fleet: pyselene fleet install makes it', Cause.ABSENT)
        raise Problem(printable(found.words), _CODES.get(found.cause, Exit.SYSTEM)) from None


_LIVE: Final = ("enqueued", "held", "blocked", "running")
_CODES: Final = {
    Cause.ABSENT: Exit.REFUSED,
    Cause.OLDER: Exit.REFUSED,
    Cause.RIGHTS: Exit.REFUSED,
    Cause.WHERE: Exit.USAGE,
}


def _has_fleet(dsn: str, schema: str) -> bool:
    """Whether the schema has what every fleet has had."""
    import psycopg

    connection, _ = connect(psycopg, dsn)
    with connection:
        rows = connection.execute(
            "select 1 from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
            " where n.nspname = %s and p.proname = 'register'",
            (schema,),
        )
        return rows.fetchone() is not None


def _known(opened: Fleet, queue: str) -> None:
    """A queue comes with its first task: of one that nobody has named nothing can be told."""
    names = [one.queue for one in opened.queues()]
    if queue not in names and len(names) < 1000:
        there = (
            f"there are {', '.join(map(printable, names))}" if names else "there is none yet: the first task makes it"
        )
        raise Problem(f'no queue "{printable(queue)}"; {there}', Exit.REFUSED)


def _plain(value: Any) -> Any:
    """A value as JSON has it: instants in ISO 8601, lengths of time in seconds, states by name."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return str(value) if not isinstance(value, (str, int, list, type(None))) or hasattr(value, "name") else value


def as_json_of(record: Any) -> dict[str, Any]:
    """A record as JSON has it."""
    return {name: _plain(value) for name, value in asdict(record).items()}


@command(of=fleet)
def install(
    dsn: Dsn,
    schema: Schema = "selene",
    printed: Annotated[bool, typer.Option("--print", help="Print the script instead of running it.")] = False,
) -> None:
    """Make the schema of a fleet, or bring it to this release. What is there stays."""
    with opened_fleet(dsn, schema, installs=True) as opened:
        if printed:
            print_line(opened.script())
            return
        for note in opened.install():
            print_line(f"note: {printable(note)}")
        print_line(f"the fleet {printable(schema)} is installed")


@command(of=fleet)
def status(dsn: Dsn, schema: Schema = "selene", as_json: o.Json = False) -> None:
    """Show how the fleet is. Ends with 1 if somebody should look."""
    with opened_fleet(dsn, schema) as opened:
        items = opened.status()
    if as_json:
        print_json([as_json_of(item) | {"alarm": item.alarm} for item in items])
    else:
        for item in items:
            print_line(f"{'!' if item.alarm else ' '} {printable(item.item)}: {printable(item.value)}")
    if any(item.alarm for item in items):
        raise typer.Exit(Exit.TASK_FAILED)


def _live_state(text: str) -> str:
    if text not in _LIVE:
        raise typer.BadParameter(f'found "{text}"; allowed is {", ".join(_LIVE[:-1])} or {_LIVE[-1]}')
    return text


@command("list", of=fleet)
def list_(
    dsn: Dsn,
    schema: Schema = "selene",
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this queue.", show_default=False)] = None,
    state: Annotated[
        str | None,
        typer.Option(
            parser=_live_state,
            metavar="NAME",
            help="Only in this state: enqueued, held, blocked or running.",
            show_default=False,
        ),
    ] = None,
    tag: Annotated[str | None, typer.Option(metavar="NAME", help="Only with this tag.", show_default=False)] = None,
    as_json: o.Json = False,
) -> None:
    """List the live tasks of a fleet, by number."""
    with opened_fleet(dsn, schema, queue or "default") as opened:
        if queue is not None:
            _known(opened, queue)
        tasks = opened.list(state=state, tag=tag, every_queue=queue is None)
        if as_json:
            print_json([as_json_of(task) for task in tasks])
            return
        rows = table("id", "queue", "handler", "state", "priority", "attempts", "due", "node")
        for task in tasks:
            rows.add_row(*_cells(task))
    new_console().print(rows)


def table(*names: str) -> Table:
    """A table without lines."""
    made = Table(box=None, pad_edge=False)
    for name in names:
        made.add_column(name)
    return made


def _local(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"


def _cells(task: FleetTask) -> list[str]:
    return [
        printable(text)
        for text in (
            task.id,
            task.queue,
            task.handler,
            str(task.state),
            str(task.priority),
            str(task.attempts),
            _local(task.earliest_begin),
            task.node or "",
        )
    ]


@command(of=fleet)
def queues(dsn: Dsn, schema: Schema = "selene", as_json: o.Json = False) -> None:
    """List the queues of a fleet: what is ready, limits, pauses."""
    with opened_fleet(dsn, schema) as opened:
        found = opened.queues()
    if as_json:
        print_json([as_json_of(queue) for queue in found])
        return
    new_console().print(queues_table(found))


def queues_table(found: Iterable[FleetQueue]) -> Table:
    """Queues as a table."""
    rows = table("queue", "state", "ready", "oldest", "refresh", "processing")
    for queue in found:
        until = "" if queue.paused_until is None else f" until {_local(queue.paused_until)}"
        limits = (
            "" if limit is None else f"{pending} of {limit}"
            for limit, pending in (
                (queue.limit_refresh, queue.pending_refresh), (queue.limit_processing, queue.pending_processing),
            )
        )  # fmt: skip
        rows.add_row(
            printable(queue.queue), f"paused{until}" if queue.paused else "open",
            "10000+" if queue.ready >= 10_000 else str(queue.ready), _seconds(queue.oldest), *limits,
        )  # fmt: skip
    return rows


@command(of=fleet)
def nodes(dsn: Dsn, schema: Schema = "selene", as_json: o.Json = False) -> None:
    """List the workers of a fleet, those that are alive first."""
    with opened_fleet(dsn, schema) as opened:
        found = opened.nodes()
    if as_json:
        print_json([as_json_of(node) for node in found])
        return
    new_console().print(nodes_table(found))


def nodes_table(found: Iterable[FleetNode]) -> Table:
    """Nodes as a table."""
    rows = table("node", "state", "beat", "lease until", "claimed", "handlers")
    for node in found:
        rows.add_row(
            printable(node.name), _standing(node), _local(node.beaten), _local(node.expires), str(node.runs),
            printable(", ".join(node.handlers)),
        )  # fmt: skip
    return rows


def _standing(node: FleetNode) -> str:
    return "gone" if not node.alive else "draining" if node.draining else "alive"


@command(of=fleet)
def drain(
    node: Annotated[str, typer.Argument(metavar="NODE", help="The name of a worker, as `nodes` shows it.")],
    dsn: Dsn,
    schema: Schema = "selene",
) -> None:
    """Let a worker of a fleet take nothing more, end what it runs, and be gone. Its process goes on.

    It hears so with its next beat, within a third of its lease, and is in `nodes` until what it runs has ended.
    """
    with opened_fleet(dsn, schema) as opened:
        count = opened.drain(node)
        print_line(f"{printable(node)} takes nothing more{'' if count == 1 else f': {count} nodes of that name'}")


def _seconds(span: timedelta | None) -> str:
    return "" if span is None else duration.write(int(span.total_seconds()) * duration.SECOND)


@command(of=fleet)
def explain(id: Id, dsn: Dsn, schema: Schema = "selene", as_json: o.Json = False) -> None:
    """Say why a task of a fleet does not run now."""
    with opened_fleet(dsn, schema) as opened:
        reasons = opened.explain(id)
    if as_json:
        print_json([as_json_of(reason) for reason in reasons])
        return
    for reason in reasons:
        print_line(printable(str(reason)))


@command(of=fleet)
def cancel(
    dsn: Dsn,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The id of a task.", show_default=False)] = None,
    tag: Annotated[
        str | None, typer.Option(metavar="NAME", help="All tasks with this tag.", show_default=False)
    ] = None,
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="All of this queue.", show_default=False)] = None,
    schema: Schema = "selene",
) -> None:
    """Cancel a task of a fleet, or all with a tag, or all of a queue, and what waits behind."""
    if sum(one is not None for one in (id, tag, queue)) != 1:
        raise Problem("found several of an id, --tag and --queue, or none; allowed is one of them", Exit.USAGE)
    with opened_fleet(dsn, schema, queue or "default") as opened:
        if queue is not None:
            _known(opened, queue)
        count = opened.cancel(id, tag=tag) if queue is None else opened.cancel_queue()
        print_line(f"{count} cancelled")


@command(of=fleet)
def retry(id: Id, dsn: Dsn, schema: Schema = "selene") -> None:
    """Enqueue a task of a fleet that has failed again, at once and with all its attempts."""
    with opened_fleet(dsn, schema) as opened:
        disposition = opened.retry(id)
        print_line(f"enqueued {printable(id)} again{', held' if str(disposition) == 'held' else ''}")


@command("run-now", of=fleet)
def run_now(id: Id, dsn: Dsn, schema: Schema = "selene") -> None:
    """Let a task of a fleet be due now, whatever it waits for by time."""
    with opened_fleet(dsn, schema) as opened:
        waits = opened.run_now(id)
        opened.wake()
        print_line(f"{printable(id)} is due now{'' if waits == 'ready' else f', {waits}'}")


@command(of=fleet)
def pause(dsn: Dsn, queue: Queue = "default", span: Span = None, schema: Schema = "selene") -> None:
    """Give workers nothing of a queue, for a time or until it is resumed."""
    with opened_fleet(dsn, schema, queue) as opened:
        _known(opened, queue)
        opened.pause(None if span is None else timedelta(microseconds=span // 1000))
        print_line(f"queue {printable(queue)} is paused")


@command(of=fleet)
def resume(dsn: Dsn, queue: Queue = "default", schema: Schema = "selene") -> None:
    """Give workers tasks of a queue again."""
    with opened_fleet(dsn, schema, queue) as opened:
        _known(opened, queue)
        opened.resume()
        print_line(f"queue {printable(queue)} goes on")


@command(of=fleet)
def result(id: Id, dsn: Dsn, schema: Schema = "selene") -> None:
    """Write what the last success of a task left, byte for byte. Ends with 4 if there is nothing."""
    with opened_fleet(dsn, schema) as opened:
        found = opened.result(id)
    if found is None:
        raise Problem(f"no result of {printable(id)}", Exit.REFUSED)
    stream = typer.get_binary_stream("stdout")
    stream.write(found)
    stream.flush()


@command(of=fleet)
def prune(
    dsn: Dsn,
    age: Annotated[
        int | None,
        typer.Option(
            parser=o.time(0, 3650 * duration.DAY),
            metavar="DURATION",
            help="What ended longer ago than this; by default the retention of its queue.",
            show_default=False,
        ),
    ] = None,
    schema: Schema = "selene",
) -> None:
    """Forget what has ended, and look after the partitions of the history, as workers do by themselves."""
    with opened_fleet(dsn, schema) as opened:
        count = opened.prune(None if age is None else timedelta(microseconds=age // 1000))
        print_line(f"{count} forgotten")


@command(of=fleet)
def serve(
    dsn: Dsn,
    page: Annotated[
        web.Place,
        typer.Option(
            "--web",
            parser=web.place,
            metavar="HOST:PORT",
            help="Where the page is, and /metrics for Prometheus. HOST is of this machine: 127.0.0.1, localhost or"
            " [::1]; PORT 0 is any.",
        ),
    ],
    schema: Schema = "selene",
    token_file: web.TokenFile = None,
) -> None:
    """Show a fleet as a page: what runs on which node, what waits and why, queues, nodes, alarms, what has ended.

    It runs nothing. Who reaches the page may read it; who has its token may pause, cancel, retry and run, as far as the
    role that --dsn connects as may: to look it needs SCHEMA_look, to change tasks SCHEMA_enqueue, to pause queues
    SCHEMA_manage. The address that is printed has the token behind #, where no log sees it.

    SIGTERM and SIGINT end it, SIGHUP and SIGQUIT with 128 + N. A database that is away does not: the page says so, and
    goes on when it is back.
    """
    web.needed()
    secret = web.token(token_file)
    signals = web.ending()
    with web.blocked(signals):
        # What is wrong from the beginning is told here, and not on the page alone.
        with opened_fleet(dsn, schema) as opened:
            opened.status()
            opened.queues()
        with web.shown(lambda: _board(dsn, schema), page, secret, token_file is None):
            ended_by = signal.sigwait(signals)
    if ended_by not in (signal.SIGTERM, signal.SIGINT):
        raise typer.Exit(Exit.SIGNALLED + ended_by)


def _board(dsn: str, schema: str) -> Board:
    from .page.fleet import FleetBoard

    return FleetBoard(dsn, schema)
