"""The command `simulate`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from . import duration, show, wire
from . import options as o
from .governed import Governance, GovernedSimulation, summary_of
from .problem import Exit, Problem
from .program import command, new_console, print_json
from .reader import load
from .report import render
from .simulate import Simulation, summary
from .usage import USAGES

_PROCESSING_BUDGET = 10 * duration.MINUTE


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
    profile: o.Profile = None,
    usage: Annotated[
        str | None,
        typer.Option(
            parser=o.choice(USAGES),
            metavar="NAME",
            help="How the machine is used: by a person, or as a server. [dim](as the profile suggests)[/]",
            rich_help_panel=o.GOVERNOR,
            show_default=False,
        ),
    ] = None,
    processing_budget: Annotated[
        int | None,
        typer.Option(
            parser=o.time(duration.MILLISECOND, duration.DAY),
            metavar=o.TIME,
            help="Length of a granted processing window; --budget is that of refresh. [dim](10m)[/]",
            rich_help_panel=o.GOVERNOR,
            show_default=False,
        ),
    ] = None,
    trace: o.Trace = None,
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
    freshness: o.Freshness = False,
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

    With --profile the windows are those that the driver opens: it asks the governor, which looks at battery, people,
    load and so on. How these change is made up, too: --usage person plays a person's days, --usage server the load of
    a server.
    """
    work = load(workload)
    window = o.window_of(work, budget, reserve, every, lanes, kinds, strict_fit, simulated=True)
    chosen = seed if seed is not None else work.seed if work.seed is not None else 1
    limits = wire.Limits(observed_range, freshness, max_pending_refresh, max_pending_processing, 0, chosen)
    begun = time.perf_counter()
    playing: Simulation
    if profile is None:
        if usage is not None or processing_budget is not None or trace is not None:
            raise Problem("--usage, --processing-budget and --trace need --profile", Exit.USAGE)
        playing = Simulation(work, window, limits, days)
    else:
        if every is not None or reserve is not None or strict_fit:
            raise Problem("--every, --reserve and --strict-fit are for windows without --profile", Exit.USAGE)
        played = usage or ("server" if profile == "server" else "person")
        governance = Governance(profile, played, processing_budget or _PROCESSING_BUDGET, trace)
        playing = GovernedSimulation(work, window, limits, days, governance)
    with wire.refusals():
        history = playing.run()
    took = time.perf_counter() - begun
    if html is not None:
        try:
            html.write_text(render(history), encoding="utf-8")
        except OSError as error:
            raise Problem(f"{html}: {error.strerror}", Exit.SYSTEM) from None
    if as_json:
        print_json(summary(history) | ({} if profile is None else {"governor": summary_of(history)}))
    else:
        show.show_history(new_console(), history, took, html)
