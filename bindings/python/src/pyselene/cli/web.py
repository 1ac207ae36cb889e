"""A page of this machine: where it is shown, who may change what it shows, and until when."""

from __future__ import annotations

import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from .problem import Exit, Problem
from .program import print_line

if TYPE_CHECKING:
    from .page.board import Board

ENDING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""The signals that end who serves."""

_PLACE: Final = "127.0.0.1, localhost or [::1], a colon and a port, 0 for any that is free"
_LEAST_TOKEN: Final = 16


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page is shown."""

    host: str
    port: int


def place(text: str) -> Place:
    """A parser of it; of this machine alone: whoever reaches a page may read it."""
    host, colon, port = text.rpartition(":")
    name = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "[::1]": "::1"}.get(host)
    if name is None or not colon or not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise typer.BadParameter(f'found "{text}"; allowed is {_PLACE}')
    return Place(name, int(port))


TokenFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The file with the token of the page: whoever has it may pause, cancel, retry and run."
        " [dim](a new one, which is printed)[/]",
        show_default=False,
    ),
]


def token(file: Path | None) -> str:
    """The token that a file has, or a new one."""
    if file is None:
        return secrets.token_urlsafe(24)
    found = file.read_text(encoding="utf-8").strip()
    if len(found) < _LEAST_TOKEN or not found.isascii() or not found.isprintable():
        raise Problem(f"{file}: found no token; allowed are at least {_LEAST_TOKEN} characters of ASCII", Exit.USAGE)
    return found


def needed() -> None:
    """Refuses where what shows a page is not installed: before anything is served."""
    try:
        from .page import serving  # noqa: F401
    except ImportError as error:
        raise Problem(f'--web needs what "pip install pyselene[web]" installs: {error}', Exit.SYSTEM) from None


@contextmanager
def blocked(signals: set[signal.Signals]) -> Iterator[None]:
    """Signals wait meanwhile: to be taken before the first thread, so that none of them takes what ends the program."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ending() -> set[signal.Signals]:
    """The signals that end this process, but for those that who started it let it ignore."""
    return {number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN}


@contextmanager
def shown(of: Callable[[], Board], where: Place, secret: str, is_new: bool) -> Iterator[None]:
    """Serves the page of what `of` makes meanwhile; a new token is printed, behind # in the address."""
    from .page.serving import Serving

    host, port = where.host, where.port
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise Problem(f"--web: {host}:{port}: {os.strerror(error.errno or 0)}", Exit.SYSTEM) from None
        listener.listen(128)
        port = listener.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        with Serving(of(), listener, secret, frozenset({f"{name}:{port}", f"localhost:{port}"})):
            print_line(f"page on http://{name}:{port}/{f'#token={secret}' if is_new else ''}")
            yield
