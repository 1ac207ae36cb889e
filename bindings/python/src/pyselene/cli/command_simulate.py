"""The command `simulate`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from . import duration, show, wire
from . import options as o
from .compare import comparison, fields, show_comparison
from .governed import Governance, GovernedSimulation, summary_of
from .problem import Exit, Problem
from .program import command, new_console, print_json
from .reader import load
from .report import History, render, result
from .simulate import Simulation, summary
from .usage import USAGES


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
            help="Seed of the made-up response times and outcomes. [dim](1)[/]",
            show_default=False,
        ),
    ] = None,
    rule: Annotated[
        str,
        typer.Option(
            parser=o.choice(wire.RULES),
            metavar="NAME",
            help="Which task goes first: the library's own rule (selene), observed range, or freshness.",
            rich_help_panel=o.RANKING,
        ),
    ] = wire.RULES[0],
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Play the same under each rule, side by side.", rich_help_panel=o.RANKING),
    ] = False,
    max_pending_refresh: o.MaxPendingRefresh = None,
    max_pending_processing: o.MaxPendingProcessing = None,
    expedited_quota: o.ExpeditedQuota = "10m",  # type: ignore[assignment]
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report: one self-contained page.", show_default=False),
    ] = None,
    as_json: o.Json = False,
) -> None:
    r"""Play a workload on a virtual clock: a week in a second.

    No command is run. Response times and outcomes are made up as the tables \[simulate] and \[tasks.ID.simulate] of
    the workload say; what is random comes from the seed, so the same call gives the same result.

    Where a task says how often its source changes, as in simulate = { changes = "2h" }, a run finds something new if
    the source has changed, and --compare tells under which rule news is least late.

    With --profile the windows are those that the driver opens: it asks the governor, which looks at battery, people,
    load and so on. How these change is made up, too: --usage person plays a person's days, --usage server the load of
    a server.
    """
    work = load(workload)
    window = o.window_of(work, budget, reserve, every, lanes, kinds, strict_fit, simulated=True)
    chosen = seed if seed is not None else work.seed if work.seed is not None else 1
    governance = None
    if profile is None:
        if usage is not None or processing_budget is not None or trace is not None:
            raise Problem("--usage, --processing-budget and --trace need --profile", Exit.USAGE)
    else:
        if every is not None or reserve is not None or strict_fit:
            raise Problem("--every, --reserve and --strict-fit are for windows without --profile", Exit.USAGE)
        if compare and trace is not None:
            raise Problem("--trace records one rule; allowed is --trace without --compare", Exit.USAGE)
        used = usage or ("server" if profile == "server" else "person")
        governance = Governance(profile, used, processing_budget, trace)

    def play(name: str) -> History:
        limits = wire.Limits(
            name == "observed",
            name == "freshness",
            max_pending_refresh,
            max_pending_processing,
            0,
            chosen,
            expedited_quota,
        )
        with wire.refusals():
            if governance is None:
                return Simulation(work, window, limits, days).run()
            return GovernedSimulation(work, window, limits, days, governance).run()

    begun = time.perf_counter()
    history = play(rule)
    took = time.perf_counter() - begun
    results = [result(history if name == rule else play(name)) for name in wire.RULES] if compare else []
    if html is not None:
        try:
            html.write_text(render(history, results), encoding="utf-8")
        except OSError as error:
            raise Problem(f"{html}: {error.strerror}", Exit.SYSTEM) from None
    if as_json and compare:
        print_json(comparison(history, results))
    elif as_json:
        governed = {} if profile is None else {"governor": summary_of(history)}
        print_json(summary(history) | fields(result(history)) | governed)
    elif compare:
        show_comparison(new_console(), history, results, html)
    else:
        show.show_history(new_console(), history, took, html)
