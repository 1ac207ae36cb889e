"""manage.py selene_worker: a process that runs the tasks of a backend."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

import pyselene as selene

from ..._backend import SeleneBackend
from ..._tasks import task_backends

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):  # type: ignore[misc]
    """Runs tasks until SIGTERM or SIGINT; what runs then has ten seconds."""

    help = "Runs the tasks that are enqueued with pyselene.django.SeleneBackend, until SIGTERM or SIGINT."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What it can be told."""
        parser.add_argument("--backend", default="default", help="which one of TASKS (default)")
        parser.add_argument("--queue", action="append", help="a queue whose tasks it runs (all); may be repeated")
        parser.add_argument("--lanes", type=int, default=4, help="how many at a time (4)")
        parser.add_argument(
            "--serve",
            action="store_true",
            help="also have the store, and serve it to the others; one process does that",
        )

    def handle(self, *_: Any, backend: str, queue: list[str] | None, lanes: int, serve: bool, **__: Any) -> None:
        """Runs them."""
        own = task_backends[backend]
        if not isinstance(own, SeleneBackend):
            raise CommandError(f'TASKS["{backend}"] is {type(own).__name__}, not pyselene.django.SeleneBackend')
        unknown = set(queue or ()) - own.queues
        if unknown:
            raise CommandError(f"no queue {', '.join(sorted(unknown))}; there are {', '.join(sorted(own.queues))}")
        try:
            with self._owned(own) if serve else contextlib.nullcontext(), self._member(own) as member:
                own.offer(member, queue or sorted(own.queues))
                self.stdout.write(f"running tasks of {own.store}")
                member.run_forever(lanes=lanes, grace=10)
        except selene.StoreLocked as error:
            raise CommandError(f"{error}; without --serve this one runs tasks beside it, if it serves") from error

    @contextlib.contextmanager
    def _owned(self, own: SeleneBackend) -> Any:
        """Has the store; it is a member of its own as any other process, so that handlers are shared."""
        with selene.Scheduler(own.store) as scheduler, scheduler.serve():
            yield

    def _member(self, own: SeleneBackend) -> selene.Scheduler:
        has_said = False
        while True:
            # A signal is heard once the call that waits for an owner returns, so that wait is short.
            try:
                return selene.connect(own.store, pool=own.pool, wait=1)
            except selene.OwnerAway:
                if not has_said:
                    self.stderr.write(f"no process serves {own.store}; waiting for one (selene_worker --serve is one)")
                has_said = True
