"""The program `pyselene` that commands are added to, and what they have in common."""

from __future__ import annotations

import errno
import functools
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from typer.core import TyperGroup

import pyselene

from . import options as o
from .hearing import hearing
from .problem import Exit, Problem, printable
from .sheet import Trimming
from .toml_table import shown
from .workload import Workload


class _Program(TyperGroup):
    """Ends with the code of the system where a reader went away; else its libraries would choose one."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        with _reader_gone():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        with _reader_gone():
            return super().invoke(ctx)


@contextmanager
def _reader_gone() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise SystemExit(Exit.SYSTEM) from None
    except SystemExit as end:  # so rich tells it; commands end by typer.Exit
        raise SystemExit(Exit.SYSTEM if end.code == 1 else end.code) from None


app = typer.Typer(
    name="pyselene",
    cls=_Program,
    help="Runs background work in windows of limited time, highest score first, and says why the rest waits.",
    epilog=o.EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_F = TypeVar("_F", bound=Callable[..., None])


def command(name: str | None = None, of: typer.Typer = app) -> Callable[[_F], _F]:
    """Makes a command of a function; its docstring is the help, in which a line is as long as the terminal is wide.

    Each has `--verbose`, of which the function knows nothing.
    """

    def decorate(function: _F) -> _F:
        paragraphs = (inspect.getdoc(function) or "").split("\n\n")
        told = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)

        @functools.wraps(function)
        def heard(*, verbose: bool, **arguments: Any) -> None:
            with hearing(verbose):
                function(**arguments)

        signature = inspect.signature(function, eval_str=True)
        more = inspect.Parameter("verbose", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=o.Verbose)
        heard.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*signature.parameters.values(), more]
        )
        of.command(name, help=told, epilog=o.EXIT_CODES)(heard)
        return function

    return decorate


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


def new_console() -> Console:
    """A console as wide as the terminal."""
    console = Console(highlight=False, markup=False, emoji=False)
    if console.is_terminal:
        return console
    if "COLUMNS" not in os.environ:
        # A pipe has no width: tables are as wide as they need to be.
        console = Console(highlight=False, markup=False, emoji=False, width=200)
    console.push_render_hook(Trimming())
    return console


def print_json(value: Any) -> None:
    """Prints JSON for other programs."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_line(text: str) -> None:
    """Prints a line that somebody may wait for."""
    typer.echo(text)
    sys.stdout.flush()


def store_path(store: Path | None) -> str | None:
    """A store's path as the scheduler takes it."""
    return None if store is None else str(store)


def existing(store: Path | None) -> str | None:
    """The same of a store that is only looked at: it must be there, as opening it would make it."""
    if store is not None and not store.exists():
        raise Problem(f"{store}: {os.strerror(errno.ENOENT)}", Exit.REFUSED)
    return store_path(store)


def refuse_idle(work: Workload) -> None:
    """Refuses a task that has no command: there is nothing to run."""
    for spec in work.tasks:
        if spec.command is None:
            raise work.problem(f"found no command in the task {shown(spec.id)}; it is needed to run", "tasks", spec.id)


def refuse_unknown(work: Workload, id: str) -> None:
    """Refuses an id that the workload does not have."""
    if work.task(id) is None:
        there = printable(", ".join(task.id for task in work.tasks))
        raise Problem(f"no task {shown(id)} in {work.path}; there are {there}", Exit.USAGE)
