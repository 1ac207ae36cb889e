"""From a workload to a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Final

import typer

from .. import (
    Backoff,
    Constraint,
    Exponential,
    Kind,
    Linear,
    NoBackoff,
    Outcome,
    OwnerAway,
    QuotaPolicy,
    Run,
    Schedule,
    Scheduler,
    SeleneError,
    StoreCannotOpen,
    StoreError,
    StoreLocked,
    Task,
    Trace,
    connect,
)
from ..testing import VirtualClock
from .duration import MINUTE, SECOND
from .keep import handler_of, left_to_do, note_finished
from .problem import Exit, Problem, printable
from .workload import TaskSpec, Workload

MAX_COMMAND: Final = 1 << 20
"""Bytes of a command."""

_BACKOFFS: Final[dict[str, type[Backoff]]] = {kind.word: kind for kind in (NoBackoff, Linear, Exponential)}


@dataclass(frozen=True, slots=True)
class Window:
    """How the windows of a command line are; durations are in ns."""

    budget: int = 30 * SECOND
    #: Somebody has said the budget: it is a deadline for runs.
    limited: bool = False
    reserve: int | None = None
    every: int = 60 * SECOND
    #: Somebody has said it.
    paced: bool = False
    lanes: int = 1
    kinds: tuple[str, ...] = ("refresh", "processing")
    strict_fit: bool = False

    @property
    def wanted(self) -> frozenset[Kind]:
        """The kinds."""
        return kinds_named(self.kinds)

    @property
    def kept(self) -> int:
        """The reserve that counts."""
        return self.budget // 20 if self.reserve is None else self.reserve


RULES: Final = ("selene", "observed", "freshness")
"""Which task goes first: the library's own rule, observed range, or freshness."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How a scheduler of a command line is opened."""

    observed_range: bool = False
    freshness: bool = False
    max_pending_refresh: int | None = None
    max_pending_processing: int | None = None
    minimum_interval: int = 0
    seed: int = 0
    expedited_quota: int = 10 * MINUTE

    def __post_init__(self) -> None:
        if self.observed_range and self.freshness:
            raise Problem("--freshness and --observed-range exclude each other", Exit.USAGE)

    @property
    def rule(self) -> str:
        """Its name."""
        return RULES[2] if self.freshness else RULES[1] if self.observed_range else RULES[0]


def definition(spec: TaskSpec, handler: str, zone: tzinfo | None = None) -> Task:
    """The library's definition of a task; its input is its command, its calendar is in the zone or in local time."""
    backoff = None
    if spec.backoff is not None:
        backoff = _BACKOFFS[spec.backoff](spec.backoff_delay / SECOND)
    elif spec.schedule != "standing":
        backoff = Exponential(spec.backoff_delay / SECOND)
    return Task(
        spec.id,
        handler,
        kind=Kind.of(spec.kind, "kind"),
        schedule=Schedule.of(spec.schedule, "schedule"),
        priority=spec.priority,
        expected=None if spec.expected is None else spec.expected / SECOND,
        response_window=spec.response_window,
        tags=spec.tags,
        conditions=spec.conditions,
        group=spec.group,
        requires=Constraint.of(spec.requires),
        delay=spec.delay / SECOND,
        latest_begin=spec.latest_begin / SECOND if spec.latest_begin else None,
        every=None if spec.every is None else spec.every / SECOND,
        flex=spec.flex / SECOND,
        anchored=spec.anchored,
        at=" ".join(spec.at) or None,
        on=" ".join(spec.on) or None,
        zone=zone if spec.at or spec.cron else None,
        jitter=spec.jitter,
        backoff=backoff,
        max_attempts=spec.max_attempts or None,
        timeout=spec.timeout / SECOND if spec.timeout else None,
        stall_limit=spec.stall_limit / SECOND if spec.stall_limit else None,
        steady=spec.steady,
        after=spec.after,
        after_any_end=spec.after_any_end,
        cron=spec.cron,
        expedited=spec.expedited,
        out_of_quota=QuotaPolicy.of(spec.out_of_quota, "out_of_quota"),
        input=(spec.command or "").encode(),
    )


def open_scheduler(path: str | None, limits: Limits, clock: VirtualClock | None = None) -> Scheduler:
    """Opens a scheduler; whoever writes a workload decides how fast it retries."""
    with refusals(path):
        return Scheduler(
            path,
            hold=True,
            observed_range=limits.observed_range,
            freshness=limits.freshness,
            max_pending_refresh=limits.max_pending_refresh,
            max_pending_processing=limits.max_pending_processing,
            minimum_interval_refresh=limits.minimum_interval / SECOND,
            minimum_interval_processing=limits.minimum_interval / SECOND,
            seed=limits.seed,
            expedited_quota=limits.expedited_quota / SECOND,
            max_input_size=MAX_COMMAND,
            clock=clock,
        )


def connect_to(path: str) -> Scheduler:
    """A connection to whoever serves the store that a command names.

    The user whom the store or the socket belongs to is believed, as when it is opened.
    """
    try:
        user = Path(path).stat().st_uid
    except OSError:
        user = None
    return connect(path, server_user=user)


def open_or_connect(path: str | None, limits: Limits, clock: VirtualClock | None = None) -> Scheduler:
    """The same to look at it, also while another process has it open and serves it; the path may be its socket."""
    if path is not None and Path(path).is_socket():
        with refusals(path):
            return connect_to(path)
    try:
        return open_scheduler(path, limits, clock)
    except Problem as problem:
        # Another process has it; or this user may not open it, but ask who may.
        if path is None or not isinstance(problem.__cause__, StoreLocked | StoreCannotOpen):
            raise
        with refusals(path):
            try:
                return connect_to(path)
            except OwnerAway as error:
                if error.timeout is not None:
                    # It serves it, and stands still.
                    raise Problem(f"{error}; {problem}", problem.code) from None
                raise problem from None


@contextmanager
def serving(scheduler: Scheduler, wanted: bool) -> Iterator[None]:
    """Serves it meanwhile, if that is wanted; where that cannot be, others just do not see it."""
    server = None
    if wanted:
        try:
            server = scheduler.serve()
        except SeleneError as error:
            typer.echo(f"pyselene: other processes cannot connect: {printable(str(error))}", err=True)
    try:
        yield
    finally:
        if server is not None:
            server.close()


def register(
    scheduler: Scheduler,
    workload: Workload,
    handler: Callable[[Run], Outcome] | None,
    zone: tzinfo | None = None,
) -> None:
    """Registers a workload's tasks and what runs them; calendars are in the zone or in local time."""
    name = handler_of(workload)
    scheduler.register_handler(name, handler)
    for group, limit in workload.groups.items():
        scheduler.group(group, limit=limit or None)
    note_finished(scheduler, workload)
    specs = left_to_do(scheduler, workload)
    tasks = [scheduler.winning(definition(spec, name, zone)) for spec in specs]
    for spec, found in zip(specs, scheduler.register_all(tasks), strict=True):
        if isinstance(found, SeleneError):
            raise workload.problem(f"the scheduler refused the task: {found}", "tasks", spec.id)


def stand_in(scheduler: Scheduler) -> None:
    """Gives every stored task a handler that is never called, so that plans and reasons are as in its host."""
    for name in {task.handler for task in scheduler.tasks()} - set(scheduler.handlers):
        scheduler.register_handler(name, None)


def enable(scheduler: Scheduler, kinds: Iterable[str]) -> None:
    """Switches on these kinds and no others."""
    scheduler.enable(kinds_named(kinds))


def kinds_named(names: Iterable[str]) -> frozenset[Kind]:
    """The kinds of some names."""
    return frozenset(Kind.of(name, "kinds") for name in names)


@contextmanager
def recording(scheduler: Scheduler, path: Path | None) -> Iterator[None]:
    """Records a trace meanwhile, if it is wanted."""
    if path is None:
        yield
        return
    with recorder(scheduler, path):
        yield


def recorder(scheduler: Scheduler, path: Path) -> Trace:
    """Begins a recording; a file that cannot be written is not a refusal of the scheduler."""
    try:
        return scheduler.record_trace(path)
    except StoreError as error:
        raise Problem(str(error), Exit.SYSTEM) from error


@contextmanager
def refusals(path: str | None = None) -> Iterator[None]:
    """Makes a message of what the library refuses."""
    try:
        yield
    except StoreError as error:
        # Most of them name the file themselves, some with the folders that it is in.
        named = path is None or (isinstance(error.found, str) and Path(error.found).name == Path(path).name)
        code = Exit.LOCKED if isinstance(error, StoreLocked) else Exit.REFUSED
        raise Problem(str(error) if named else f"{path}: {error}", code) from error
    except SeleneError as error:
        raise Problem(str(error), Exit.REFUSED) from error
