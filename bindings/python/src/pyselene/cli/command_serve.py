"""The command `serve`: has a store open for other processes, and shows it as a page."""

from __future__ import annotations

import grp
import pwd
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from .. import Peer, Right, Scheduler
from . import duration, web, wire
from . import options as o
from .problem import Exit, Problem, printable
from .program import command, print_line

if TYPE_CHECKING:
    from .page.board import Board

_ALLOWED: Final = "uid=USER, gid=GROUP or any, a colon, and look, read, enqueue, work, manage or all with commas"


def _peer(text: str) -> Peer:
    who, colon, rights = text.partition(":")
    wrong = typer.BadParameter(f'found "{text}"; allowed is {_ALLOWED}')
    names = rights.split(",")
    if not colon or not set(names) <= {"all", *(right.name.lower() for right in Right if right.name)}:
        raise wrong
    bits = Right(0)
    for name in names:
        bits |= ~Right(0) if name == "all" else Right[name.upper()]
    kind, _, name = who.partition("=")
    if who == "any":
        return Peer(bits)
    if kind not in ("uid", "gid") or not name:
        raise wrong
    try:
        if name.isascii() and name.isdecimal():
            number = int(name)
        elif kind == "uid":
            number = pwd.getpwnam(name).pw_uid
        else:
            number = grp.getgrnam(name).gr_gid
    except KeyError:
        raise typer.BadParameter(f'there is no {"user" if kind == "uid" else "group"} "{name}"') from None
    if number >= 2**32 - 1:
        raise wrong
    return Peer(bits, uid=number) if kind == "uid" else Peer(bits, gid=number)


def _mode(text: str) -> int:
    if not text or set(text) - set("01234567") or not 0 < int(text, 8) <= 0o777:
        raise typer.BadParameter(f'found "{text}"; allowed is an octal number from 1 to 777')
    return int(text, 8)


@command()
def serve(
    store: Annotated[
        Path, typer.Option(parser=o.store_file, metavar="FILE", help="The store; created if it does not exist.")
    ],
    listen: Annotated[
        Path | None,
        typer.Option("--socket", metavar="PATH", help="The socket. [dim](FILE-sock)[/]", show_default=False),
    ] = None,
    allow: Annotated[
        list[Peer] | None,
        typer.Option(
            parser=_peer,
            metavar="WHO:RIGHTS",
            help="Who else may connect, besides this user and root: uid=USER, gid=GROUP or any; look, read, enqueue,"
            " work and manage with commas, or all; may be repeated.",
            show_default=False,
        ),
    ] = None,
    mode: Annotated[
        int | None,
        typer.Option(
            parser=_mode,
            metavar="OCTAL",
            help="The mode of the socket's file. [dim](600; 666 with --allow)[/]",
            show_default=False,
        ),
    ] = None,
    max_clients: Annotated[
        int, typer.Option(parser=o.number(1, 65536), metavar=o.NUMBER, help="Connections at a time.")
    ] = "1024",  # type: ignore[assignment]
    profile: o.Profile = None,
    drain: Annotated[
        int,
        typer.Option(
            parser=o.time(0, duration.HOUR),
            metavar=o.TIME,
            help="When it is asked to end: how long the runs of clients may take to end.",
        ),
    ] = "10s",  # type: ignore[assignment]
    adopt: Annotated[
        int,
        typer.Option(
            parser=o.time(0, 24 * duration.HOUR),
            metavar=o.TIME,
            help="If the previous owner ended without closing: how long processes with runs may take to reconnect.",
        ),
    ] = "10s",  # type: ignore[assignment]
    page: Annotated[
        web.Place | None,
        typer.Option(
            "--web",
            parser=web.place,
            metavar="HOST:PORT",
            help="Also show a page there: what runs, what waits and why; and /metrics for Prometheus. HOST is of this"
            " machine: 127.0.0.1, localhost or [::1]; PORT 0 is any.",
            show_default=False,
        ),
    ] = None,
    token_file: web.TokenFile = None,
) -> None:
    """Have a store open for the processes of this machine, which enqueue, run and look; with --web also as a page.

    It runs nothing itself. With --web it also shows a store that another process serves, without having it open. Who
    reaches the page may read it; who has its token may pause, cancel, retry and run tasks. The address that is printed
    has the token behind #, where no log sees it.

    SIGTERM and SIGINT end it when what clients run has ended, or after --drain; a second one at once. SIGHUP and
    SIGQUIT do the same, with 128 + N.
    """
    if token_file is not None and page is None:
        raise Problem("--token-file is for the page; allowed is --web HOST:PORT with it", Exit.USAGE)
    if page is not None:
        web.needed()
    token = "" if page is None else web.token(token_file)
    path = str(store)
    signals = web.ending()
    with web.blocked(signals), _opened(path, page is not None) as scheduler:
        if scheduler.connected and (listen or allow or mode is not None or profile):
            raise Problem(
                f"{printable(path)} is open in another process, which serves it; not allowed with it: --socket,"
                " --allow, --mode, --profile",
                Exit.USAGE,
            )
        with (
            wire.refusals(path),
            _served(scheduler, store, listen, allow or [], mode, max_clients, profile, adopt / 1e9),
        ):
            with nullcontext() if page is None else web.shown(_board(scheduler), page, token, token_file is None):
                ended_by = signal.sigwait(signals)
            # Who is asked twice ends at once; a store is safe from that.
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGINT})
            scheduler.close(0 if scheduler.connected else drain / 1e9)
    if ended_by not in (signal.SIGTERM, signal.SIGINT):
        raise typer.Exit(Exit.SIGNALLED + ended_by)


def _board(scheduler: Scheduler) -> Callable[[], Board]:
    def make() -> Board:
        from .page.store import StoreBoard

        return StoreBoard(scheduler)

    return make


def _opened(path: str, may_connect: bool) -> Scheduler:
    """The store, or a connection to the process that serves it, where a page is all that is asked for."""
    return wire.open_or_connect(path, wire.Limits()) if may_connect else wire.open_scheduler(path, wire.Limits())


@contextmanager
def _served(
    scheduler: Scheduler,
    store: Path,
    listen: Path | None,
    allow: list[Peer],
    mode: int | None,
    max_clients: int,
    profile: str | None,
    adopt: float,
) -> Iterator[None]:
    if scheduler.connected:
        print_line(f"connected to the process that serves {printable(str(store))}")
        yield
        return
    if profile is not None:
        scheduler.governor.profile = profile
    usual = 0o666 if allow else 0o600
    scheduler.serve(listen, allow=allow, mode=usual if mode is None else mode, max_clients=max_clients, adopt=adopt)
    place = listen if listen is not None else f"{scheduler.store().path}-sock"
    print_line(f"serving {printable(str(store))} on {printable(str(place))}")
    yield
