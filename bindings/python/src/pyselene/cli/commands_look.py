"""The commands that look into a workload or a store, and those that change tasks there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from .. import Kind, NotFound, Scheduler, State, TaskInfo
from .._pause import kinds_words
from ..testing import VirtualClock
from . import duration, show, to_json, wire
from . import options as o
from .keep import forget_end, without_notes
from .problem import Exit, Problem, printable
from .program import command, existing, new_console, print_json, refuse_idle, refuse_unknown, store_path
from .reader import load
from .toml_table import shown
from .waits import show_waits, waits_json
from .workload import Workload


@command()
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
    freshness: o.Freshness = False,
    as_json: o.Json = False,
) -> None:
    """Tell what a window would run now, what it would not run, and why."""
    work = _one_of(workload, store)
    if work is not None:
        refuse_idle(work)
    window = o.window_of(work, budget, reserve, None, lanes, kinds, strict_fit)
    with _looking(work, store, observed_range, freshness) as scheduler:
        _pretend(scheduler, store, network, power)
        found = scheduler.plan(
            window.budget / 1e9,
            kinds=window.wanted,
            reserve=None if window.reserve is None else window.reserve / 1e9,
            lanes=window.lanes,
            strict_fit=window.strict_fit,
        )
        if not scheduler.connected:
            wire.enable(scheduler, window.kinds)
        planned = {entry.id for entry in found.runs}
        others = [info.id for info in scheduler.tasks() if info.id not in planned and not info.state.terminal]
        if as_json:
            print_json(to_json.plan_json(scheduler, window, found, others))
        else:
            show.show_plan(new_console(), scheduler, window, found, others)


@command()
def explain(
    id: Annotated[str, typer.Argument(metavar="ID", help="The task.")],
    workload: o.MaybeWorkloadFile = None,
    store: o.Store = None,
    budget: o.Budget = None,
    network: o.Network = None,
    power: o.Power = None,
    observed_range: o.ObservedRange = False,
    freshness: o.Freshness = False,
    as_json: o.Json = False,
) -> None:
    """Tell everything about one task, and why it does not run now."""
    work = _one_of(workload, store)
    if work is not None:
        refuse_unknown(work, id)
    window = o.window_of(work, budget, None, None, None, None, False)
    with _looking(work, store, observed_range, freshness) as scheduler:
        _pretend(scheduler, store, network, power)
        info, why = _get(scheduler, id), scheduler.explain(id)
        if as_json:
            print_json({"task": to_json.info_json(info), "explanation": to_json.explanation_json(why)})
        else:
            show.show_explanation(new_console(), scheduler, info, why, window.budget)


@command()
def why(
    id: Annotated[str, typer.Argument(metavar="ID", help="The task.")],
    workload: o.MaybeWorkloadFile = None,
    store: o.Store = None,
    as_json: o.Json = False,
) -> None:
    """Tell where the time of one task went since it was last due: what it waited for, and for how long."""
    work = _one_of(workload, store)
    if work is not None:
        refuse_unknown(work, id)
    with _looking(work, store) as scheduler:
        _get(scheduler, id)
        waits = scheduler.waits(id)
        if as_json:
            print_json(waits_json(waits))
        else:
            show_waits(new_console(), waits)


@command("list")
def list_command(
    workload: o.MaybeWorkloadFile = None,
    store: o.Store = None,
    tag: Annotated[
        str | None, typer.Option(metavar="TAG", help="Only tasks with this tag.", show_default=False)
    ] = None,
    as_json: o.Json = False,
) -> None:
    """List the tasks of a workload or of a store."""
    work = _one_of(workload, store)
    with _looking(work, store) as scheduler:
        infos = without_notes(scheduler.tasks(tag))
        if as_json:
            print_json([to_json.info_json(info) for info in infos])
        else:
            show.show_list(new_console(), scheduler, infos)


@command()
def failed(workload: o.MaybeWorkloadFile = None, store: o.Store = None, as_json: o.Json = False) -> None:
    """List the tasks that failed, and why."""
    work = _one_of(workload, store)
    with _looking(work, store) as scheduler:
        infos = scheduler.tasks(state=State.FAILED)
        if as_json:
            print_json([to_json.info_json(info) for info in infos])
        else:
            show.show_failed(new_console(), scheduler, infos)


@command()
def clients(store: o.Store = None, as_json: o.Json = False) -> None:
    """List the processes that are connected to the one that serves a store."""
    if store is None:
        raise Problem(
            "clients shows who is connected to the process that serves a store; allowed is --store FILE with it",
            Exit.USAGE,
        )
    with _looking(None, store) as scheduler:
        others = [client for client in scheduler.clients() if client.process != os.getpid()]
        if as_json:
            print_json([to_json.client_json(client) for client in others])
        else:
            show.show_clients(new_console(), others)


@command()
def retry(
    id: Annotated[str, typer.Argument(metavar="ID", help="The task.")],
    store: o.Store = None,
) -> None:
    """Enqueue a failed task of a store again, with all its attempts."""
    if store is None:
        raise Problem("retry enqueues a task of a store; allowed is --store FILE with it", Exit.USAGE)
    existing(store)
    with _looking(None, store) as scheduler:
        _get(scheduler, id)
        scheduler.retry(id)
        forget_end(scheduler, id)
    typer.echo(f"enqueued {printable(id)} again")


@command()
def cancel(
    store: Annotated[
        Path, typer.Option(parser=o.store_file, metavar="FILE", help="The store in which the tasks live.")
    ],
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="The tasks.", show_default=False)] = None,
    tag: Annotated[
        str | None, typer.Option(metavar="TAG", help="Every task with this tag.", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every task.")] = False,
) -> None:
    """Cancel tasks of a store; what waits behind them is cancelled, too.

    A task that still stands in a workload comes back with the next run of that workload on the store.
    """
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


@command()
def enqueue(
    id: Annotated[str, typer.Argument(metavar="ID", help="The task.")],
    store: Annotated[
        Path, typer.Option(parser=o.store_file, metavar="FILE", help="The store in which the tasks live.")
    ],
    handler: Annotated[
        str | None, typer.Option(metavar="NAME", help="The handler that runs it. [dim](the id)[/]", show_default=False)
    ] = None,
    input: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The input for its handler.", show_default=False)
    ] = None,
    delay: Annotated[
        int,
        typer.Option(parser=o.time(0, 3650 * duration.DAY), metavar=o.TIME, help="Not before this has passed."),
    ] = "0s",  # type: ignore[assignment]
) -> None:
    """Enqueue a task that runs once, for a program that runs its handler; one that waits already stays as it is."""
    with _looking(None, store) as scheduler:
        done = scheduler.enqueue(id, handler=handler, input=(input or "").encode(), delay=delay / 1e9)
    typer.echo(f"{done} {printable(id)}")


@command()
def pause(
    store: Annotated[
        Path, typer.Option(parser=o.store_file, metavar="FILE", help="The store in which the tasks live.")
    ],
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="The tasks.", show_default=False)] = None,
    tag: Annotated[
        str | None, typer.Option(metavar="TAG", help="Every task with this tag now.", show_default=False)
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="GROUP", help="The group, including tasks that join it later.", show_default=False),
    ] = None,
    kinds: o.PausedKinds = None,
    pool: o.PausedPool = None,
    until: o.Until = None,
) -> None:
    """Pause tasks of a store: they stay as they are, and none begins until they are resumed, or a time has come."""
    if until is not None and kinds is None and pool is None:
        raise Problem("--until is for --kind and --pool", Exit.USAGE)
    _pause("pause", store, ids, tag, group, kinds, pool, until)


@command()
def resume(
    store: Annotated[
        Path, typer.Option(parser=o.store_file, metavar="FILE", help="The store in which the tasks live.")
    ],
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="The tasks.", show_default=False)] = None,
    tag: Annotated[
        str | None, typer.Option(metavar="TAG", help="Every task with this tag.", show_default=False)
    ] = None,
    group: Annotated[str | None, typer.Option(metavar="GROUP", help="The group.", show_default=False)] = None,
    kinds: o.PausedKinds = None,
    pool: o.PausedPool = None,
) -> None:
    """Let tasks of a store go on that were paused."""
    _pause("resume", store, ids, tag, group, kinds, pool)


@command()
def meet(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The condition.")],
    store: Annotated[Path, typer.Option(parser=o.store_file, metavar="FILE", help="The store that is served.")],
) -> None:
    """Let a condition of the host hold from now on, in the process that serves a store."""
    _change_condition("meet", name, store)


@command()
def lose(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The condition.")],
    store: Annotated[Path, typer.Option(parser=o.store_file, metavar="FILE", help="The store that is served.")],
) -> None:
    """Let a condition of the host hold no longer, in the process that serves a store; runs that need it are stopped."""
    _change_condition("lose", name, store)


def _change_condition(verb: str, name: str, store: Path) -> None:
    with _looking(None, store) as scheduler:
        if not scheduler.connected:
            raise Problem(
                f"{store_path(store)}: no process serves it, and a store keeps no conditions; allowed is"
                f" --condition {shown(name)} with WORKLOAD"
            )
        known = scheduler.conditions().named
        if name not in known:
            others = "is none" if not known else f"are: {' '.join(map(printable, known))}"
            raise Problem(f"{verb}: no task asks for the condition {shown(name)}; there {others}", Exit.USAGE)
        # Tasks may ask for one that nobody has defined.
        scheduler.define_condition(name, verb == "meet")
    typer.echo(f"{'met' if verb == 'meet' else 'lost'} condition {printable(name)}")


def _pause(
    verb: str,
    store: Path,
    ids: list[str] | None,
    tag: str | None,
    group: str | None,
    kinds: str | None,
    pool: str | None,
    until: datetime | None = None,
) -> None:
    is_of_kinds = kinds is not None or pool is not None
    if bool(ids) + (tag is not None) + (group is not None) + is_of_kinds != 1:
        raise Problem(f"{verb} needs ids, or --tag, or --group, or --kind and --pool", Exit.USAGE)
    with _looking(None, store) as scheduler:
        if is_of_kinds:
            _pause_kinds(verb, scheduler, kinds, pool, until)
            return
        if group is not None:
            count = (scheduler.pause if verb == "pause" else scheduler.resume)(group=group)
            typer.echo(f"{verb}d group {printable(group)}: {count} of its tasks wait{'s' if count == 1 else ''}")
            return
        change = scheduler.pause if verb == "pause" else scheduler.resume
        for name in ids or ():
            _get(scheduler, name)
        count = change(tag=tag) if tag is not None else sum(change(name) for name in ids or ())
    typer.echo(f"{verb}d {count} {'task' if count == 1 else 'tasks'}")


def _pause_kinds(verb: str, scheduler: Scheduler, kinds: str | None, pool: str | None, until: datetime | None) -> None:
    named = None if kinds is None else [Kind.of(kind, "kinds") for kind in kinds.split(",")]
    try:
        if verb == "pause":
            scheduler.pause(kinds=named, pool=pool, until=until)
        else:
            scheduler.resume(kinds=named, pool=pool)
    except ValueError as error:
        raise Problem(f"{verb}: {error}", Exit.USAGE) from None
    end = "" if until is None else f" until {until.isoformat(sep=' ', timespec='seconds')}"
    typer.echo(f"{verb}d {printable(kinds_words(named or Kind, pool))}{end}")


def _one_of(workload: str | None, store: Path | None) -> Workload | None:
    """The workload; None where a store is asked for."""
    if workload is None and store is None:
        raise Problem("found neither a workload nor --store; needed is one of them", Exit.USAGE)
    if workload is not None and store is not None:
        raise Problem("found both a workload and --store; allowed is one of them", Exit.USAGE)
    existing(store)
    return None if workload is None else load(workload)


@contextmanager
def _looking(
    work: Workload | None, store: Path | None, observed_range: bool = False, freshness: bool = False
) -> Iterator[Scheduler]:
    """A scheduler to look at: of a store, or of a workload whose tasks were registered a moment ago."""
    path = existing(store)
    clock = VirtualClock(datetime.now(UTC)) if work is not None else None
    limits = wire.Limits(observed_range=observed_range, freshness=freshness)
    with wire.open_or_connect(path, limits, clock) as scheduler:
        if scheduler.connected and (observed_range or freshness):
            raise _owners(path, "--observed-range and --freshness")
        if work is not None and clock is not None:
            wire.register(scheduler, work, None)
            clock.advance(1)
        elif not scheduler.connected:
            wire.stand_in(scheduler)
        with wire.refusals(path):
            yield scheduler


def _pretend(scheduler: Scheduler, store: Path | None, network: bool | None, power: bool | None) -> None:
    """Sets conditions, where nobody else decides by them."""
    if not scheduler.connected:
        scheduler.set_conditions(network=network, power=power)
    elif network is not None or power is not None:
        raise _owners(store_path(store), "--network and --external-power")


def _owners(path: str | None, options: str) -> Problem:
    return Problem(f"{path} is open in another process, which decides; not allowed with it: {options}", Exit.USAGE)


def _get(scheduler: Scheduler, id: str) -> TaskInfo:
    try:
        return scheduler.get(id)
    except NotFound:
        raise Problem(_nowhere(scheduler, id), Exit.USAGE) from None


def _nowhere(scheduler: Scheduler, id: str) -> str:
    """A task of a fleet may be elsewhere, or its database away: its owner's words say so."""
    if scheduler.connected:
        try:
            scheduler.explain(id)
        except NotFound as error:
            return printable(error.detail)
    return f"no task {shown(id)} in the store"
