"""The process's signals SIGINT and SIGTERM, which end something that waits, without a moment in which one is lost."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ._callbacks import log

_STOPPING = (signal.SIGINT, signal.SIGTERM)
#: No signal has this number.
_END = 0


class Catcher:
    """Calls a function on a thread of its own when SIGINT or SIGTERM comes; a second one does what it did before.

    Python calls signal handlers between two instructions of the main thread, where a lock may be held, and not at all
    when the signal comes just before that thread begins to wait. So the byte that the process writes in the moment of
    the signal is what counts, and a thread reads it.
    """

    def __init__(self, caught: Callable[[], object]) -> None:
        self._caught = caught
        self._before: dict[int, Any] = {}
        self._reading, self._bell = os.pipe()
        os.set_blocking(self._bell, False)
        _catchers.append(self)
        for number in _STOPPING:
            self._before[number] = signal.signal(number, self._handle)
        # Of whoever listened in this way before: it still gets every byte.
        self._others = signal.set_wakeup_fd(self._bell, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._watch, name="pyselene signals", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Gives the signals back."""
        self._restore()
        self._ring(_END)
        self._thread.join()
        self._close_pipe()

    def forked(self) -> None:
        """Ends a child's copy: the pipe is the parent's, too, and a signal to the child must not stop the parent."""
        self._restore()
        self._close_pipe()

    def _restore(self) -> None:
        _catchers.remove(self)
        self._restore_handlers()
        found = signal.set_wakeup_fd(self._others)
        if found != self._bell:  # another listens since
            signal.set_wakeup_fd(found)

    def _restore_handlers(self) -> None:
        while self._before:
            number, handler = self._before.popitem()
            if signal.getsignal(number) == self._handle:
                signal.signal(number, handler)

    def _close_pipe(self) -> None:
        os.close(self._bell)
        os.close(self._reading)

    def _handle(self, number: int, _frame: object) -> None:
        self._restore_handlers()
        self._ring(number)

    def _ring(self, number: int) -> None:
        os.write(self._bell, bytes([number]))

    def _watch(self) -> None:
        while True:
            numbers = os.read(self._reading, 4096)
            if any(number in numbers for number in _STOPPING):
                try:
                    self._caught()
                except BaseException:
                    log.exception("a signal could not be obeyed")
            if self._others >= 0:
                with contextlib.suppress(OSError):
                    os.write(self._others, numbers.replace(bytes([_END]), b""))
            if _END in numbers:
                return


#: Those that catch now, the innermost last.
_catchers: list[Catcher] = []


#: The signals that the forking thread had blocked before.
_blocked = threading.local()


def _before_fork() -> None:
    # One to the child that comes before it has ended its copies would ring the parent's bell.
    if _catchers:
        _blocked.before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)


def _after_fork() -> None:
    before = _blocked.__dict__.pop("before", None)
    if before is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _after_fork_in_child() -> None:
    for catcher in reversed(tuple(_catchers)):
        catcher.forked()
    _after_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)


@contextlib.contextmanager
def stopping_signals(caught: Callable[[], object]) -> Iterator[None]:
    """Catches SIGINT and SIGTERM meanwhile; on another thread than the main one it leaves them alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    catcher = Catcher(caught)
    try:
        yield
    finally:
        if catcher in _catchers:  # else this is a child that was forked meanwhile
            catcher.close()
