"""The commands of ``pyselene``."""

from __future__ import annotations

import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.text import Text

import pyselene

from .. import NotFound, Scheduler
from ..testing import VirtualClock
from . import duration, show, wire
from . import options as o
from .problem import Exit, Problem
from .report import render
from .runner import Runner
from .session import Plan, Session
from .simulate import Simulation, summary
from .workload import Workload, load
from .workspace import Workspace

app = typer.Typer(
    name="pyselene",
    help="Runs background work in windows of limited time, the worthiest first, and says why the rest waits.",
    epilog=o.EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_F = TypeVar("_F", bound=Callable[..., None])


def _command(name: str | None = None) -> Callable[[_F], _F]:
    """Makes a command of a function; its docstring is the help, in which a line is as long as the terminal is wide."""

    def decorate(function: _F) -> _F:
        paragraphs = (inspect.getdoc(function) or "").split("\n\n")
        told = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        return app.command(name, help=told, epilog=o.EXIT_CODES)(function)

    return decorate


def run() -> int:
    """Runs the command line and gives the exit code."""
    code = _run()
    try:
        sys.stdout.flush()
    except OSError:
        # A reader that went away, as of `| head`; what is left must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or Exit.SYSTEM
    return code


def _run() -> int:
    try:
        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Problem as problem:
        sys.stderr.write(f"pyselene: {problem}\n" if not _has_place(problem) else f"{problem}\n")
        return problem.code
    except KeyboardInterrupt:
        return Exit.SIGNALLED + 2
    except OSError as error:
        sys.stderr.write(f"pyselene: {error}\n")
        return Exit.SYSTEM
    return Exit.DONE


def _has_place(problem: Problem) -> bool:
    """Messages that begin with a file need no name of a program."""
    return problem.code is Exit.WORKLOAD


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"pyselene {pyselene.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """The options of the program itself."""


@_command("run")
def run_command(
    workload: o.WorkloadFile,
    budget: o.Budget = None,
    reserve: o.Reserve = None,
    every: o.Every = None,
    cycles: Annotated[
        int | None,
        typer.Option(
            parser=o.number(0, o.MANY),
            metavar=o.NUMBER,
            help="How many windows. [dim](1; without end with --follow)[/]",
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
            help="Run one task now, whatever its rank, and end.",
            rich_help_panel=o.WINDOWS,
            show_default=False,
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Answer 1 if the last run of any task failed.")] = False,
    network: o.Network = None,
    power: o.Power = None,
    observed_range: o.ObservedRange = False,
    max_pending_refresh: o.MaxPendingRefresh = None,
    max_pending_processing: o.MaxPendingProcessing = None,
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep tasks there, so that they go on after a restart.", show_default=False),
    ] = None,
    grace: Annotated[
        int,
        typer.Option(
            parser=o.time(0, duration.HOUR),
            metavar=o.TIME,
            help="From SIGTERM to SIGKILL, at most.",
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
    """
    work = load(workload)
    for spec in work.tasks:
        if spec.command is None:
            raise work.problem(f'found no command in the task "{spec.id}"; it is needed to run', "tasks", spec.id)
    if now is not None:
        _known(work, now)
        if follow:
            raise Problem("--follow and --now exclude each other", Exit.USAGE)
        if lanes is not None and lanes != 1:
            raise Problem("--now runs one task; allowed is --lanes 1", Exit.USAGE)
        lanes = 1
    window = o.window_of(work, budget, reserve, every, lanes, kinds, strict_fit)
    console = _console()
    is_live = console.is_terminal if live is None else live
    limits = wire.Limits(observed_range, max_pending_refresh, max_pending_processing, window.every if follow else 0)
    plan = Plan(window, cycles if cycles is not None else None if follow else 1, follow, now, check, is_live)

    def show_output(id: str, lines: list[str]) -> None:
        text = Text("\n").join(Text.assemble(("  " + id, "dim"), (" │ ", "dim"), line) for line in lines)
        console.print(text)

    with Workspace(logs) as workspace, wire.open_scheduler(_path(store), limits) as scheduler:
        runner = Runner(workspace, grace / 1e9, None if quiet else show_output)
        scheduler.set_conditions(network=network, power=power)
        wire.register(scheduler, work, runner)
        # Only now: tasks of a kind that is off could not be registered.
        wire.enable(scheduler, window.kinds)
        _tell_others(scheduler, work)
        with wire.refusals():
            code = Session(console, scheduler, work, runner, plan).run()
    if code:
        raise typer.Exit(code)


@_command()
def plan(
    workload: o.MaybeWorkloadFile = None,
    store: o.Store = None,
    budget: o.Budget = None,
    reserve: o.Reserve = None,
    lanes: o.Lanes = None,
    kinds: o.Kinds = None,
    strict_fit: o.StrictFit = False,
    network: o.Network = None,
    power: o.Power = None,
    observed_range: o.ObservedRange = False,
    as_json: o.Json = False,
) -> None:
    """Tell what a window would run now, what it would not run, and why."""
    work = _one_of(workload, store)
    window = o.window_of(work, budget, reserve, None, lanes, kinds, strict_fit)
    with _looking(work, store, observed_range) as scheduler:
        scheduler.set_conditions(network=network, power=power)
        found = scheduler.plan(
            window.budget / 1e9,
            kinds=window.kinds,
            reserve=None if window.reserve is None else window.reserve / 1e9,
            lanes=window.lanes,
            strict_fit=window.strict_fit,
        )
        wire.enable(scheduler, window.kinds)
        planned = {entry.id for entry in found.runs}
        others = [info.id for info in scheduler.tasks() if info.id not in planned and not info.state.terminal]
        if as_json:
            _print_json(show.plan_json(scheduler, window, found, others))
        else:
            show.show_plan(_console(), scheduler, window, found, others)


@_command()
def explain(
    id: Annotated[str, typer.Argument(metavar="ID", help="The task.")],
    workload: o.MaybeWorkloadFile = None,
    store: o.Store = None,
    budget: o.Budget = None,
    network: o.Network = None,
    power: o.Power = None,
    observed_range: o.ObservedRange = False,
    as_json: o.Json = False,
) -> None:
    """Tell everything about one task, and why it does not run now."""
    work = _one_of(workload, store)
    if work is not None:
        _known(work, id)
    window = o.window_of(work, budget, None, None, None, None, False)
    with _looking(work, store, observed_range) as scheduler:
        scheduler.set_conditions(network=network, power=power)
        info, why = _get(scheduler, id), scheduler.explain(id)
        if as_json:
            _print_json({"task": show.info_json(info), "explanation": show.explanation_json(why)})
        else:
            show.show_explanation(_console(), scheduler, info, why, window.budget)


@_command("list")
def list_command(
    workload: o.MaybeWorkloadFile = None,
    store: o.Store = None,
    tag: Annotated[
        str | None, typer.Option(metavar="TAG", help="Only tasks that carry it.", show_default=False)
    ] = None,
    as_json: o.Json = False,
) -> None:
    """List the tasks of a workload or of a store."""
    work = _one_of(workload, store)
    with _looking(work, store) as scheduler:
        infos = scheduler.tasks(tag)
        if as_json:
            _print_json([show.info_json(info) for info in infos])
        else:
            show.show_list(_console(), scheduler, infos)


@_command()
def cancel(
    store: Annotated[Path, typer.Option(metavar="FILE", help="The store in which the tasks live.")],
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="The tasks.", show_default=False)] = None,
    tag: Annotated[
        str | None, typer.Option(metavar="TAG", help="Every task that carries it.", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every task.")] = False,
) -> None:
    """Cancel tasks of a store; what waits behind them is cancelled, too."""
    if bool(ids) + (tag is not None) + everything != 1:
        raise Problem("cancel needs ids, or --tag, or --all", Exit.USAGE)
    with _looking(None, store) as scheduler:
        for name in ids or ():
            _get(scheduler, name)
        if everything:
            count = scheduler.cancel_all()
        elif tag is not None:
            count = scheduler.cancel_tag(tag)
        else:
            count = sum(scheduler.cancel(name) for name in ids or ())
    typer.echo(f"cancelled {count} {'task' if count == 1 else 'tasks'}")


@_command()
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

    No command is run. Response times and outcomes are made up as the tables \[simulate] and \\[tasks.ID.simulate] of
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
        _print_json(summary(history))
    else:
        show.show_history(_console(), history, took, html)


def _console() -> Console:
    console = Console(highlight=False)
    # A pipe has no width: tables are as wide as they need to be.
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(highlight=False, width=200)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _path(store: Path | None) -> str | None:
    return None if store is None else str(store)


def _one_of(workload: str | None, store: Path | None) -> Workload | None:
    """The workload; None where a store is asked for."""
    if (workload is None) == (store is None):
        raise Problem("found neither a workload nor --store, or both; allowed is one of them", Exit.USAGE)
    if store is not None and not store.exists():
        raise Problem(f"{store}: no such file", Exit.REFUSED)
    return None if workload is None else load(workload)


@contextmanager
def _looking(work: Workload | None, store: Path | None, observed_range: bool = False) -> Iterator[Scheduler]:
    """A scheduler to look at: of a store, or of a workload whose tasks were registered a moment ago."""
    if store is not None and not store.exists():
        raise Problem(f"{store}: no such file", Exit.REFUSED)
    clock = VirtualClock(datetime.now(UTC)) if work is not None else None
    with wire.open_scheduler(_path(store), wire.Limits(observed_range=observed_range), clock) as scheduler:
        if work is not None and clock is not None:
            wire.register(scheduler, work, None)
            clock.advance(1)
        else:
            wire.stand_in(scheduler)
        with wire.refusals(_path(store)):
            yield scheduler


def _known(work: Workload, id: str) -> None:
    if work.task(id) is None:
        there = ", ".join(task.id for task in work.tasks)
        raise Problem(f'no task "{id}" in {work.path}; there are {there}', Exit.USAGE)


def _get(scheduler: Scheduler, id: str) -> pyselene.TaskInfo:
    try:
        return scheduler.get(id)
    except NotFound:
        raise Problem(f'no task "{id}" in the store', Exit.USAGE) from None


def _tell_others(scheduler: Scheduler, work: Workload) -> None:
    """Tasks that the store has from another time run, too; who removed them from the file should know."""
    others = [info.id for info in scheduler.tasks() if work.task(info.id) is None and not info.state.terminal]
    if others:
        sys.stderr.write(
            f"pyselene: the store has tasks that are not in {work.path}, which go on: {', '.join(others)}\n"
        )
