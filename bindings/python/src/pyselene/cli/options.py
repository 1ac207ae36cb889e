"""The options that commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from .. import BuiltIn
from . import duration, wire
from .problem import Exit, Problem
from .workload import KINDS, WindowSpec, Workload

TIME: Final = "TIME"
NUMBER: Final = "N"
MANY: Final = 2**32 - 2

EXIT_CODES: Final = (
    "[bold]Exit codes[/]: 0 done, 1 a task of --now or --check failed, 2 a wrong option or id, 3 a wrong workload or"
    " trace, 4 refused by the scheduler or its store, 5 refused by the system, 6 the store is in use, 128 + N ended by"
    " signal N (SIGINT and SIGTERM end --follow with 0)."
)


def time(least: int, greatest: int) -> Callable[[str], int]:
    """A parser of durations, in ns."""

    def read(text: str) -> int:
        allowed = f"allowed is from {duration.write(least)} to {duration.write(greatest)}"
        negative = text.startswith("-")
        try:
            value = duration.read(text[1:] if negative else text)
        except ValueError:
            raise typer.BadParameter(f'found "{text}"; allowed is {duration.ALLOWED}') from None
        if negative:
            raise typer.BadParameter(f'found "{text}", which is negative; {allowed}')
        if not least <= value <= greatest:
            raise typer.BadParameter(f'found "{text}"; {allowed}')
        return value

    return read


def number(least: int, greatest: int) -> Callable[[str], int]:
    """A parser of whole numbers."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or not least <= int(text) <= greatest:
            raise typer.BadParameter(f'found "{text}"; allowed is a number from {least} to {greatest}')
        return int(text)

    return read


def store_file(text: str) -> Path:
    """A parser of the name of a store. SQLite's name for none would be a file."""
    if text in ("", ":memory:"):
        raise typer.BadParameter(f'found "{text}"; allowed is the name of a file')
    return Path(text)


def choice(names: Iterable[object]) -> Callable[[str], str]:
    """A parser of one of these names."""
    known = [str(name) for name in names]

    def read(text: str) -> str:
        if text not in known:
            raise typer.BadParameter(f'found "{text}"; allowed is {", ".join(known[:-1])} or {known[-1]}')
        return text

    return read


def days(text: str) -> float:
    """A parser of days."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0.01 <= value <= 3650:
        raise typer.BadParameter(f'found "{text}"; allowed is a number from 0.01 to 3650')
    return value


def _kinds(text: str) -> str:
    kinds = text.split(",")
    if not kinds or not set(kinds) <= set(KINDS):
        raise typer.BadParameter(f'found "{text}"; allowed is refresh, processing or refresh,processing')
    return text


def _instant(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f'found "{text}"; allowed is a date and a time, such as 2030-01-31T18:00, in local time or with an offset'
        ) from None
    return at.astimezone()


_SIMULATED_EVERY: Final = 15 * duration.MINUTE
"""How often windows come in a simulation."""

WINDOWS: Final = "Windows"
CONDITIONS: Final = "Conditions; what is not set by hand is read from the system"
RANKING: Final = "Ranking and limits"
GOVERNOR: Final = "Governor"

WorkloadFile = Annotated[
    str, typer.Argument(metavar="WORKLOAD", help="A workload file in TOML, or - for the standard input.")
]
MaybeWorkloadFile = Annotated[
    str | None,
    typer.Argument(metavar="[WORKLOAD]", help="A workload file in TOML; or use --store.", show_default=False),
]
WorkloadFileUnlessNow = Annotated[
    str | None,
    typer.Argument(
        metavar="[WORKLOAD]",
        help="A workload file in TOML, or - for the standard input; none with --now ID and --store FILE.",
        show_default=False,
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(parser=store_file, metavar="FILE", help="The store in which tasks live.", show_default=False),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show the library's log of stores, troubles and drivers.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Budget = Annotated[
    int | None,
    typer.Option(
        parser=time(duration.MILLISECOND, duration.DAY),
        metavar=TIME,
        help="Length of a window. [dim](30s)[/]",
        rich_help_panel=WINDOWS,
        show_default=False,
    ),
]
Reserve = Annotated[
    int | None,
    typer.Option(
        parser=time(0, duration.DAY),
        metavar=TIME,
        help="Kept free at its end, for stopping what still runs. [dim](budget / 20)[/]",
        rich_help_panel=WINDOWS,
        show_default=False,
    ),
]
Every = Annotated[
    int | None,
    typer.Option(
        parser=time(0, 3650 * duration.DAY),
        metavar=TIME,
        help="From the begin of one window to the begin of the next. [dim](1m; with --follow 0)[/]",
        rich_help_panel=WINDOWS,
        show_default=False,
    ),
]
Lanes = Annotated[
    int | None,
    typer.Option(
        parser=number(1, 1024),
        metavar=NUMBER,
        help="Tasks at a time. [dim](1)[/]",
        rich_help_panel=WINDOWS,
        show_default=False,
    ),
]
Kinds = Annotated[
    str | None,
    typer.Option(
        parser=_kinds,
        metavar="LIST",
        help="Kinds that run: refresh, processing, or both with a comma. [dim](both)[/]",
        rich_help_panel=WINDOWS,
        show_default=False,
    ),
]
PausedKinds = Annotated[
    str | None,
    typer.Option(
        "--kind",
        parser=_kinds,
        metavar="LIST",
        help="Kinds as such: refresh, processing, or both with a comma.",
        show_default=False,
    ),
]
PausedPool = Annotated[
    str | None,
    typer.Option(
        "--pool",
        metavar="POOL",
        help="Only the tasks that processes of this pool run; without --kind of both kinds.",
        show_default=False,
    ),
]
Until = Annotated[
    datetime | None,
    typer.Option(
        parser=_instant,
        metavar="WHEN",
        help="When the kinds go on by themselves, such as 2030-01-31T18:00. [dim](when resumed)[/]",
        show_default=False,
    ),
]
StrictFit = Annotated[
    bool,
    typer.Option(
        "--strict-fit",
        help="Start nothing whose estimate does not fit, not even as the first.",
        rich_help_panel=WINDOWS,
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        parser=choice(BuiltIn),
        metavar="NAME",
        help="What the governor requires of a window: open, apple, server or strict.",
        rich_help_panel=GOVERNOR,
        show_default=False,
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Record signals, decisions and runs into a new file.",
        rich_help_panel=GOVERNOR,
        show_default=False,
    ),
]
Network = Annotated[
    bool | None,
    typer.Option(
        "--network/--no-network", help="Whether there is one.", rich_help_panel=CONDITIONS, show_default=False
    ),
]
Condition = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="The condition NAME, which tasks may require, is satisfied; may be repeated.",
        rich_help_panel=CONDITIONS,
        show_default=False,
    ),
]
Power = Annotated[
    bool | None,
    typer.Option(
        "--external-power/--on-battery",
        help="What the machine runs on.",
        rich_help_panel=CONDITIONS,
        show_default=False,
    ),
]
ObservedRange = Annotated[
    bool,
    typer.Option("--observed-range", help="Score within the range of what is observed.", rich_help_panel=RANKING),
]
Freshness = Annotated[
    bool,
    typer.Option(
        "--freshness", help="Rank by age times a pace learnt from cost, news and failures.", rich_help_panel=RANKING
    ),
]
MaxPendingRefresh = Annotated[
    int | None,
    typer.Option(
        parser=number(0, MANY),
        metavar=NUMBER,
        help="Once and periodic refresh tasks at a time; others are held. [dim](no limit)[/]",
        rich_help_panel=RANKING,
        show_default=False,
    ),
]
ExpeditedQuota = Annotated[
    int,
    typer.Option(
        parser=time(0, duration.DAY),
        metavar=TIME,
        help="How long expedited tasks may run in 24 h, all together.",
        rich_help_panel=RANKING,
    ),
]
MaxPendingProcessing = Annotated[
    int | None,
    typer.Option(
        parser=number(0, MANY),
        metavar=NUMBER,
        help="The same for processing. [dim](no limit)[/]",
        rich_help_panel=RANKING,
        show_default=False,
    ),
]


def window_of(
    workload: Workload | None,
    budget: int | None,
    reserve: int | None,
    every: int | None,
    lanes: int | None,
    kinds: str | None,
    strict_fit: bool,
    simulated: bool = False,
) -> wire.Window:
    """The window of a command: what the command line says, else the workload, else the default."""
    said = WindowSpec()
    if workload is not None:
        said = workload.simulated_window if simulated else workload.window
    default = wire.Window()

    def first(*values: int | None) -> int | None:
        return next((value for value in values if value is not None), None)

    result = wire.Window(
        budget=first(budget, said.budget, default.budget) or 0,
        limited=first(budget, said.budget) is not None,
        reserve=first(reserve, said.reserve if budget is None else None),
        every=first(every, said.every, _SIMULATED_EVERY if simulated else default.every) or 0,
        paced=first(every, said.every) is not None,
        lanes=first(lanes, said.lanes, default.lanes) or 1,
        kinds=tuple(kinds.split(",")) if kinds else said.kinds or default.kinds,
        strict_fit=strict_fit or bool(said.strict_fit),
    )
    if result.reserve is not None and result.reserve > result.budget:
        kept, whole = duration.write(result.reserve), duration.write(result.budget)
        named = f"--reserve {kept}" if reserve is not None else f"the reserve {kept}{_place(workload, 'reserve', said)}"
        if budget is not None:
            than = f"--budget {whole}"
        elif said.budget is not None:
            than = f"the budget {whole}{_place(workload, 'budget', said)}"
        else:
            than = f"the budget {whole}, which is the default"
        raise Problem(f"{named} is longer than {than}; allowed is at most the budget", Exit.USAGE)
    return result


def _place(workload: Workload | None, key: str, said: WindowSpec) -> str:
    """Where a file says something about windows."""
    if workload is None:
        return ""
    table = "[window]" if getattr(workload.window, key) == getattr(said, key) else "[simulate.window]"
    return f" of {table} in {workload.path}"
