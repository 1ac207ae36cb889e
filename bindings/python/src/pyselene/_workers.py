"""Threads that Python owns and that live from job to job."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from ._callbacks import log

Job = Callable[[], None]


class Workers:
    """As many threads as jobs at a time; idle ones wait for the next. Daemons, so that none keeps a process alive."""

    def __init__(self) -> None:
        self._idle: list[SimpleQueue[Job | None]] = []
        self._closed = False
        self._threads: set[threading.Thread] = set()
        self._numbers = itertools.count(1)

    def submit(self, job: Job) -> None:
        """Runs a job on a thread of its own, now."""
        try:
            self._idle.pop().put(job)
        except IndexError:
            name = f"pyselene-{next(self._numbers)}"
            threading.Thread(target=self._main, args=(job,), name=name, daemon=True).start()

    def close(self) -> None:
        """Ends the idle threads; the others end after their jobs."""
        self._closed = True
        while self._idle:
            try:
                self._idle.pop().put(None)
            except IndexError:
                return

    def join(self, until: int) -> None:
        """Waits for threads that were told to end, until an instant of the monotonic clock in ns."""
        for thread in tuple(self._threads):
            thread.join(max(0, until - time.monotonic_ns()) / 1e9)

    def _main(self, job: Job | None) -> None:
        thread = threading.current_thread()
        self._threads.add(thread)
        try:
            self._work(job)
        finally:
            self._threads.discard(thread)

    def _work(self, job: Job | None) -> None:
        inbox: SimpleQueue[Job | None] = SimpleQueue()
        while job is not None:
            try:
                job()
            except BaseException:
                log.exception("a worker's job failed")
            job = None  # what it holds on to is not needed while waiting
            if self._closed:
                return
            self._idle.append(inbox)
            if self._closed:
                self.close()
            job = inbox.get()
