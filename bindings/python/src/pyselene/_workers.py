"""Threads that Python owns and that live from job to job."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Final

from ._callbacks import log

Job = Callable[[], None]

#: The call by which a thread of Linux chooses its class of the disk, which the C library has no function for.
_IOPRIO_SET: Final = {"x86_64": 251, "aarch64": 30, "riscv64": 30}


def give_way() -> None:
    """Lets this thread be SCHED_BATCH and of the idle class of the disk, as the library's are (Linux)."""
    if sys.platform != "linux":
        return
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    number = _IOPRIO_SET.get(os.uname().machine)
    if number is not None and sys.maxsize > 1 << 32:
        ctypes.CDLL(None).syscall(number, 1, 0, 3 << 13)


class Workers:
    """As many threads as jobs at a time; idle ones wait for the next. Daemons, so that none keeps a process alive.

    `begin` is called on each of them first.
    """

    def __init__(self, begin: Job | None = None) -> None:
        self.begin = begin
        self._idle: list[SimpleQueue[Job | None]] = []
        self._closed = False
        self._numbers = itertools.count(1)

    def submit(self, job: Job) -> None:
        """Runs a job on a thread of its own, now."""
        try:
            self._idle.pop().put(job)
        except IndexError:
            _Worker(self, job, f"pyselene-{next(self._numbers)}").start()

    def close(self) -> None:
        """Ends the idle threads; the others end after their jobs."""
        self._closed = True
        while self._idle:
            try:
                self._idle.pop().put(None)
            except IndexError:
                return

    def join(self, until: int, but: set[int]) -> None:
        """After close: waits for all threads but some, by their numbers, or until an instant of the monotonic clock."""
        while (rest := until - time.monotonic_ns()) > 0:
            workers = [
                thread for thread in threading.enumerate() if isinstance(thread, _Worker) and thread.pool is self
            ]
            thread = next((thread for thread in workers if thread.ident not in but), None)
            if thread is None:
                return
            try:
                thread.join(rest / 1e9)
            except RuntimeError:  # it is being started
                time.sleep(0.001)

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


class _Worker(threading.Thread):
    def __init__(self, pool: Workers, job: Job, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.pool = pool
        self._first: Job | None = job

    def run(self) -> None:
        if self.pool.begin is not None:
            self.pool.begin()
        self.pool._work(self._take())

    def _take(self) -> Job | None:
        """Not kept for the life of the thread, as what it refers to would be."""
        job, self._first = self._first, None
        return job
