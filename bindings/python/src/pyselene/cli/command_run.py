"""The command `run`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from . import duration, wire
from . import options as o
from .edits import Edits
from .guard import Guard
from .keep import leave_to_others
from .problem import Exit, Problem, printable
from .program import command, existing, new_console, refuse_idle, refuse_unknown, store_path
from .reader import load
from .runner import Runner
from .session import Plan, Session, session_time
from .toml_table import shown, wrong_name
from .workload import Workload
from .workspace import Workspace


@command("run")
def run_command(
    workload: o.WorkloadFileUnlessNow = None,
    budget: o.Budget = None,
    reserve: o.Reserve = None,
    every: o.Every = None,
    cycles: Annotated[
        int | None,
        typer.Option(
            parser=o.number(0, o.MANY),
            metavar=o.NUMBER,
            help="How many windows; 0: only registers the tasks, for later if there is --store."
            " [dim](1; without end with --follow)[/]",
            rich_help_panel=o.WINDOWS,
            show_default=False,
        ),
    ] = None,
    lanes: o.Lanes = None,
    kinds: o.Kinds = None,
    strict_fit: o.StrictFit = False,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Stay; sleep until a task wants a window, at least --every.",
            rich_help_panel=o.WINDOWS,
        ),
    ] = False,
    now: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Run one task now, whatever its rank, and end; of a store that another process serves, there.",
            rich_help_panel=o.WINDOWS,
            show_default=False,
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Answer 1 if the last run of any task failed.")] = False,
    profile: o.Profile = None,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Each decision of the governor in full; with --cycles 0 only that.",
            rich_help_panel=o.GOVERNOR,
        ),
    ] = False,
    trace: o.Trace = None,
    condition: o.Condition = None,
    network: o.Network = None,
    power: o.Power = None,
    observed_range: o.ObservedRange = False,
    freshness: o.Freshness = False,
    max_pending_refresh: o.MaxPendingRefresh = None,
    max_pending_processing: o.MaxPendingProcessing = None,
    expedited_quota: o.ExpeditedQuota = "10m",  # type: ignore[assignment]
    store: Annotated[
        Path | None,
        typer.Option(
            parser=o.store_file,
            metavar="FILE",
            help="Keep tasks there, so that they go on after a restart.",
            show_default=False,
        ),
    ] = None,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Take over the tasks of other programs and workloads that FILE has.")
    ] = False,
    grace: Annotated[
        int,
        typer.Option(
            parser=o.time(0, duration.HOUR),
            metavar=o.TIME,
            help="From SIGTERM to SIGKILL, at most.",
            rich_help_panel="Commands",
        ),
    ] = "2s",  # type: ignore[assignment]
    drain: Annotated[
        int,
        typer.Option(
            parser=o.time(0, duration.HOUR),
            metavar=o.TIME,
            help="On SIGINT or SIGTERM: how long running commands may take to end.",
            rich_help_panel="Commands",
        ),
    ] = "2s",  # type: ignore[assignment]
    logs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where output is kept, a file for each task. [dim]($SELENE_WORK/log)[/]",
            rich_help_panel="Commands",
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Show no output of commands.", rich_help_panel="Commands")
    ] = False,
    live: Annotated[
        bool | None,
        typer.Option("--live/--no-live", help="The live table. [dim](on a terminal)[/]", show_default=False),
    ] = None,
) -> None:
    """Run the commands of a workload in windows of limited time.

    A command runs as /bin/sh -c COMMAND in a process group of its own; $0 is the id, $1 the number of the attempt. It
    may write to the folder $SELENE_WORK; if that is not set it is a temporary one, removed at the end. When it shall
    stop its group gets SIGTERM, then SIGKILL; what it leaves in the background ends with it.

    Its exit code says what came of it: 0 new data, 77 no data, 99 abandoned (never to be tried again); any other, or a
    signal: failed, to be tried again (75, EX_TEMPFAIL, is the usual one).

    With --profile each window is asked of the governor, which looks at battery, people, load and so on; kinds that it
    refuses do not run, and --follow waits until asking again is worth it.

    --follow takes over what is edited in WORKLOAD: tasks that are new or changed are registered, those that are gone
    are cancelled. If this program is killed, its commands end all the same; the next run on the same store waits for
    that.
    """
    _refuse_together(follow, now, cycles, lanes, profile, reserve, strict_fit)
    if workload is None:
        _run_there(now, store)
        return
    if adopt and store is None:
        raise Problem("--adopt takes over what a store has; allowed is --store FILE with it", Exit.USAGE)
    edits = Edits(str(workload)) if follow else None
    work = load(workload)
    refuse_idle(work)
    if now is not None:
        refuse_unknown(work, now)
        lanes = 1
    _refuse_conditions(work, condition or ())
    window = o.window_of(work, budget, reserve, every, lanes, kinds, strict_fit)
    console = new_console()
    is_live = console.is_terminal if live is None else live
    limits = wire.Limits(
        observed_range,
        freshness,
        max_pending_refresh,
        max_pending_processing,
        # Nobody has said a pace: a window opens whenever a task is due.
        window.every if follow and window.paced else 0,
        expedited_quota=expedited_quota,
    )
    cycles = cycles if cycles is not None else None if follow else 1
    plan = Plan(window, cycles, follow, now, check, is_live, profile, why, drain / 1e9, store)

    def show_output(id: str, lines: list[str]) -> None:
        stamp = session_time(plan)
        text = Text("\n").join(Text.assemble((f"{stamp}  {printable(id)} │ ", "dim"), line) for line in lines)
        console.print(text)

    with (
        Guard(grace / 1e9, store) as guard,
        Workspace(logs) as workspace,
        wire.open_scheduler(store_path(store), limits) as scheduler,
    ):
        runner = Runner(workspace, grace / 1e9, None if quiet else show_output, guard)
        scheduler.set_conditions(network=network, power=power)
        for name in condition or ():
            scheduler.define_condition(name, True)
        if store is not None:
            leave_to_others(scheduler, store, work, adopt)
        wire.register(scheduler, work, runner)
        # Only now: tasks of a kind that is off could not be registered.
        wire.enable(scheduler, window.kinds)
        if profile is not None:
            scheduler.governor.profile = profile
        with (
            wire.refusals(),
            wire.recording(scheduler, trace),
            scheduler.observe(runner.board.tell) if is_live and freshness else nullcontext(),
            wire.serving(scheduler, follow and store is not None),
        ):
            session = Session(console, scheduler, work, runner, plan, edits)
            if why and cycles == 0:
                session.decide()
            code = session.run()
    if code:
        raise typer.Exit(code)


def _run_there(now: str | None, store: Path | None) -> None:
    """Lets a task run that the process runs which serves its store, or one that is connected to that."""
    if now is None or store is None:
        raise Problem("found no workload; needed is one, or --now ID and --store FILE together", Exit.USAGE)
    path = existing(store)
    assert path is not None
    with wire.open_or_connect(path, wire.Limits()) as scheduler, wire.refusals(path):
        if not scheduler.connected:
            raise Problem(f"{path}: no process serves it, so none would run {shown(now)}; allowed is WORKLOAD with it")
        if now not in scheduler:
            raise Problem(f"no task {shown(now)} in the store", Exit.USAGE)
        try:
            begun = scheduler.run_now(now)
        except ValueError as error:
            raise Problem(str(error)) from error
    name = printable(now)
    typer.echo(f"began {name}" if begun else f"{name} is due now; if it does not run, explain says why")


def _refuse_conditions(work: Workload, names: Sequence[str]) -> None:
    """Refuses conditions that no task asks for: they are mistyped."""
    for name in names:
        if wrong := wrong_name("--condition", name):
            raise Problem(wrong, Exit.USAGE)
        if name not in work.conditions:
            known = ", ".join(map(printable, work.conditions))
            others = f"there are: {known}" if known else "there is none"
            raise Problem(f"--condition: no task of {work.path} asks for {shown(name)}; {others}", Exit.USAGE)


def _refuse_together(
    follow: bool,
    now: str | None,
    cycles: int | None,
    lanes: int | None,
    profile: str | None,
    reserve: int | None,
    strict_fit: bool,
) -> None:
    """Refuses options that exclude each other, whatever the workload says."""
    if now is not None and follow:
        raise Problem("--follow and --now exclude each other", Exit.USAGE)
    if now is not None and cycles is not None:
        raise Problem("--cycles and --now exclude each other", Exit.USAGE)
    if now is not None and lanes not in (None, 1):
        raise Problem("--now runs one task; allowed is --lanes 1", Exit.USAGE)
    if follow and profile is not None and (reserve is not None or strict_fit):
        raise Problem(
            "--reserve and --strict-fit are for windows that are opened by the clock; they cannot be used with --follow"
            " and --profile",
            Exit.USAGE,
        )
