"""What `--verbose` shows: the lines of the library, as a terminal may get them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .problem import printable


class _Teller(logging.Handler):
    """Writes to what is the standard error just then: a live table stands in its place for a while."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            sys.stderr.write(f"pyselene: {record.levelname.lower()}: {printable(record.getMessage())}\n")
            sys.stderr.flush()


@contextmanager
def hearing(verbose: bool) -> Iterator[None]:
    """Tells what the library says meanwhile; the logger is left as it was."""
    if not verbose:
        yield
        return
    logger = logging.getLogger("pyselene.library")
    teller, level = _Teller(), logger.level
    logger.addHandler(teller)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(teller)
