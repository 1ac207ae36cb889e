"""The commands that look at the governor: `signals`, `forecast`, `trace`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live
from rich.text import Text

from .. import (
    Decision,
    ForecastWindow,
    InvalidArgument,
    Kind,
    Reading,
    Scheduler,
    StoreCannotOpen,
    StoreIO,
    replay_trace,
)
from . import duration, wire
from . import options as o
from .duration import SECOND, show
from .problem import Exit, Problem
from .program import app, command, existing, new_console, print_json, store_path
from .report.axis import instant
from .sheet import Sheet
from .show import words

_NOTHING_KNOWN = 500
"""How likely an hour is while the habits are not known, per mille."""

_TWO_READINGS = 0.3
"""The share of busy CPU time needs two readings, this many seconds apart."""


@command()
def signals(
    store: Annotated[
        Path | None,
        typer.Option(
            parser=o.store_file,
            metavar="FILE",
            help="The store whose signals and free space to show.",
            show_default=False,
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show them until interrupted.")] = False,
    every: Annotated[
        int,
        typer.Option(parser=o.time(100 * duration.MILLISECOND, duration.DAY), metavar=o.TIME, help="With --watch."),
    ] = "1s",  # type: ignore[assignment]
    as_json: o.Json = False,
) -> None:
    """Show the signals that the governor looks at: value, who says so, and how old that is."""
    if watch and as_json:
        raise Problem("--watch and --json exclude each other", Exit.USAGE)
    with (
        wire.open_or_connect(existing(store), wire.Limits()) as scheduler,
        wire.refusals(store_path(store)),
    ):
        list(scheduler.signals.values())
        time.sleep(_TWO_READINGS)
        if as_json:
            print_json([_reading_json(reading) for reading in scheduler.signals.values()])
            return
        console = new_console()
        if not watch:
            console.print(_signals_table(scheduler))
            return
        if not console.is_terminal:
            while True:  # a pipe gets one table after another
                console.print(_signals_table(scheduler))
                sys.stdout.flush()
                time.sleep(every / SECOND)
        with Live(_signals_table(scheduler), console=console, auto_refresh=False, screen=True) as live:
            while True:
                time.sleep(every / SECOND)
                live.update(_signals_table(scheduler), refresh=True)


@command()
def forecast(
    store: Annotated[
        Path, typer.Option(parser=o.store_file, metavar="FILE", help="The store that has the usage history.")
    ],
    profile: o.Profile = None,
    kinds: o.Kinds = None,
    count: Annotated[
        int, typer.Option(parser=o.number(1, 64), metavar=o.NUMBER, help="How many windows of each.")
    ] = "8",  # type: ignore[assignment]
    as_json: o.Json = False,
) -> None:
    """Tell when the governor is likely to grant windows, if nothing but the time changes.

    Without --profile by the profile apple.
    """
    with _opened(store) as scheduler, wire.refusals(store_path(store)):
        scheduler.governor.profile = profile or "apple"
        wanted = [Kind.of(kind, "kinds") for kind in (kinds or "refresh,processing").split(",")]
        found = {kind: scheduler.governor.forecast(kind, count) for kind in wanted}
        if as_json:
            print_json({str(kind): [_forecast_json(window) for window in windows] for kind, windows in found.items()})
            return
        console, now = new_console(), scheduler.now_ns
        for number, (kind, windows) in enumerate(found.items()):
            if number:
                console.print()
            console.print(Text.assemble((f"{kind} windows", "bold"), (f"  profile {profile or 'apple'}", "dim")))
            if not windows:
                console.print(Text(f"  {scheduler.governor.decide(kind).why}", "yellow"))
                continue
            known = any(window.probability != _NOTHING_KNOWN for window in windows)
            if not known:
                console.print(
                    Text("  nothing is known yet of when this machine is used: that takes three days", "yellow")
                )
            rows = Sheet("from", "to", "in", "likely", "", numbers=("in", "likely"), spare=("",))
            for window in windows:
                rows.add_row(
                    instant(window.begins_at_ns, "%a %-d %b %H:%M"),
                    instant(window.ends_at_ns, "%H:%M UTC"),
                    show(max(0, window.begins_at_ns - now)),
                    f"{window.probability / 10:.0f} %" if known else "–",
                    Text("━" * round(window.probability / 50) if known else "", "cyan"),
                )
            console.print(rows)


_traces = typer.Typer(help="Record what the governor sees and decides, and replay it.", no_args_is_help=True)
app.add_typer(_traces, name="trace", epilog=o.EXIT_CODES)


@command(of=_traces)
def record(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that does not exist yet.")],
    profile: o.Profile = None,
    lasting: Annotated[
        int | None,
        typer.Option(
            "--for", parser=o.time(0, 3650 * duration.DAY), metavar=o.TIME,
            help="How long. [dim](until interrupted)[/]", show_default=False,
        ),
    ] = None,
    every: Annotated[
        int,
        typer.Option(parser=o.time(100 * duration.MILLISECOND, duration.DAY), metavar=o.TIME, help="How often to ask."),
    ] = "10s",  # type: ignore[assignment]
) -> None:  # fmt: skip
    """Record the signals of this machine, and what the governor would decide.

    No window is opened; `pyselene run --trace` records one that does. Without --profile by the profile apple.
    """
    console = new_console()
    told: dict[Kind, str] = {}
    with _opened(None) as scheduler, wire.refusals(str(file)):
        scheduler.governor.profile = profile or "apple"
        with wire.recorder(scheduler, file):
            end = None if lasting is None else scheduler.now_ns + lasting
            while True:
                list(scheduler.signals.values())
                for kind in Kind:
                    _tell(scheduler.governor.decide(kind), told, console.print)
                left = None if end is None else end - scheduler.now_ns
                if left is not None and left <= 0:
                    break
                try:
                    time.sleep(min(every, every if left is None else left) / SECOND)
                except KeyboardInterrupt:
                    break
    console.print(f"the trace is in {file}", highlight=False)


@command(of=_traces)
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The trace.")],
    as_json: o.Json = False,
) -> None:
    """Decide again what a trace decided, from what was known then; answers 1 if anything is decided otherwise."""
    try:
        found = replay_trace(file)
    except StoreCannotOpen as error:
        # As a workload that cannot be read is told, which begins with its name.
        _, _, reason = error.detail.rpartition('": ')
        raise Problem(f"{file}: {reason}", Exit.WORKLOAD) from None
    except (InvalidArgument, StoreIO) as error:
        raise Problem(error.detail, Exit.WORKLOAD) from None
    if as_json:
        print_json({"decisions": found.decisions, "first_difference": found.first_difference})
    else:
        decisions = f"{found.decisions} {'decision' if found.decisions == 1 else 'decisions'}"
        if found.first_difference is None:
            typer.echo(f"{decisions}, each as it was: the replay is the trace, byte for byte")
        else:
            typer.echo(f"{decisions}; line {found.first_difference} is decided otherwise now")
    if not found.same:
        raise typer.Exit(Exit.TASK_FAILED)


def _opened(store: Path | None) -> Scheduler:
    return wire.open_scheduler(existing(store), wire.Limits())


def _tell(decision: Decision, told: dict[Kind, str], say: object) -> None:
    """Shows a decision that is not what it was."""
    text = f"{decision.kind} {'granted' if decision.granted else 'refused'}"
    reason = ", ".join(words(finding.factor) for finding in decision.vetoes)
    if told.get(decision.kind) != text + reason:
        told[decision.kind] = text + reason
        assert callable(say)
        say(Text(f"{instant(decision.at_ns, '%H:%M:%S')} {text}: {decision.why}"))


def _signals_table(scheduler: Scheduler) -> Sheet:
    rows = Sheet("signal", "value", "said by", "read", "since", numbers=("value",), spare=("since", "read"))
    now = scheduler.now_ns
    for reading in scheduler.signals.values():
        style = "" if reading.known else "dim"
        rows.add_row(
            Text(str(reading.signal), style),
            Text(reading.signal.text(reading.value) if reading.known else "–", style),
            Text(str(reading.source) if reading.known else "unknown", style),
            _ago(reading.age_ns),
            _ago(None if reading.since_ns is None else now - reading.since_ns),
        )
    return rows


def _ago(length: int | None) -> str:
    if length is None:
        return "–"
    return "now" if length < SECOND else f"{show(length // SECOND * SECOND)} ago"


def _reading_json(reading: Reading) -> dict[str, object]:
    return {
        "signal": str(reading.signal),
        "value": reading.value,
        "unit": reading.signal.unit,
        "text": reading.signal.text(reading.value),
        "source": str(reading.source),
        "age": reading.age,
        "since": None if reading.since is None else reading.since.isoformat(),
    }


def _forecast_json(window: ForecastWindow) -> dict[str, object]:
    return {
        "begins_at": window.begins_at.isoformat(),
        "ends_at": window.ends_at.isoformat(),
        "probability": window.probability / 1000,
    }
