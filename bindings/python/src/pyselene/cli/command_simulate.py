"""The command `simulate`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from . import duration, show, wire
from . import options as o
from .problem import Exit, Problem
from .program import command, new_console, print_json
from .reader import load
from .report import render
from .simulate import Simulation, summary


@command()
def simulate(
    workload: o.WorkloadFile,
    days: Annotated[
        float,
        typer.Option(parser=o.days, metavar=o.NUMBER, help="How many days.", rich_help_panel=o.WINDOWS),
    ] = 7.0,
    budget: o.Budget = None,
    reserve: o.Reserve = None,
    every: Annotated[
        int | None,
        typer.Option(
            parser=o.time(duration.SECOND, 3650 * duration.DAY),
            metavar=o.TIME,
            help="From the begin of one window to the begin of the next. [dim](15m)[/]",
            rich_help_panel=o.WINDOWS,
            show_default=False,
        ),
    ] = None,
    lanes: o.Lanes = None,
    kinds: o.Kinds = None,
    strict_fit: o.StrictFit = False,
    seed: Annotated[
        int | None,
        typer.Option(
            parser=o.number(0, o.MANY),
            metavar=o.NUMBER,
            help="Of the made-up response times and outcomes. [dim](1)[/]",
            show_default=False,
        ),
    ] = None,
    observed_range: o.ObservedRange = False,
    max_pending_refresh: o.MaxPendingRefresh = None,
    max_pending_processing: o.MaxPendingProcessing = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report: one page that needs nothing else.", show_default=False),
    ] = None,
    as_json: o.Json = False,
) -> None:
    r"""Play a workload on a virtual clock: a week in a second.

    No command is run. Response times and outcomes are made up as the tables \[simulate] and \[tasks.ID.simulate] of
    the workload say; what is random comes from the seed, so the same call gives the same result.
    """
    work = load(workload)
    window = o.window_of(work, budget, reserve, every, lanes, kinds, strict_fit, simulated=True)
    chosen = seed if seed is not None else work.seed if work.seed is not None else 1
    limits = wire.Limits(observed_range, max_pending_refresh, max_pending_processing, 0, chosen)
    begun = time.perf_counter()
    with wire.refusals():
        history = Simulation(work, window, limits, days).run()
    took = time.perf_counter() - begun
    if html is not None:
        try:
            html.write_text(render(history), encoding="utf-8")
        except OSError as error:
            raise Problem(f"{html}: {error.strerror}", Exit.SYSTEM) from None
    if as_json:
        print_json(summary(history))
    else:
        show.show_history(new_console(), history, took, html)
