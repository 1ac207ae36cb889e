"""The lines of the library: what it says to people about stores, troubles, threads and drivers goes to a logger.

The logger is "pyselene.library". It is silent until a program sets logging up, as a library's should be, and has no
level of its own: what the program lets through is its affair.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import threading
from typing import Final

from . import _raw
from ._callbacks import caught
from ._library import check, library

logger: Final = logging.getLogger("pyselene.library")
logger.addHandler(logging.NullHandler())

_LEVELS: Final = {
    _raw.SELENE_LOG_ERROR: logging.ERROR,
    _raw.SELENE_LOG_WARNING: logging.WARNING,
    _raw.SELENE_LOG_INFO: logging.INFO,
}
#: Seconds that the interpreter waits at its end for a handler of the program's that is in a line.
_EXIT_GRACE: Final = 1.0

_has_ended = threading.Event()


def _take(level: int, text: int | None, _context: int | None) -> None:
    try:
        line = ctypes.c_char_p(text).value or b""
        logger.log(_LEVELS.get(level, logging.INFO), "%s", line.decode(errors="replace"))
    except BaseException as error:
        caught(error, "a line of the library could not be logged")


def _end(_context: int | None) -> None:
    _has_ended.set()


_function: Final = _raw.selene_log_fn(_take)
_destroy: Final = _raw.selene_destroy_fn(_end)


def listen() -> None:
    """Hears the library until the interpreter ends."""
    check(library.selene_log_set(_function, None, _destroy))
    atexit.register(_stop)


def _stop() -> None:
    """Behind the interpreter's end no thread may call what is Python's."""
    library.selene_log_set(_raw.selene_log_fn(), None, _raw.selene_destroy_fn())
    _has_ended.wait(_EXIT_GRACE)
