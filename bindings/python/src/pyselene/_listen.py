"""The events of a connection: a thread reads them, once somebody wants them, and hands them out."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable

from . import _raw
from ._callbacks import log
from ._event import Event
from ._library import error_of, library
from ._roles import Connected

#: How many wait in the owner for this process at most.
_CAPACITY = 10_000


class Listening:
    """Reads until the connection is closed or its owner goes away; whoever comes after that begins anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reads = False

    def begin(self, engine: Connected, subscription: object, observer: Callable[[Event], object]) -> None:
        """Hands events to an observer from now on; raises where the owner is away, or does not allow it."""
        with self._lock:
            if not self._reads:
                engine.check(library.selene_events_open(engine.handle, _CAPACITY, None))
                self._reads = True
                try:
                    engine.submit(lambda: self._read(engine), on_worker=True)
                except BaseException:
                    self._reads = False
                    library.selene_events_close(engine.handle)
                    raise
            engine.observers.functions[subscription] = observer

    def _read(self, engine: Connected) -> None:
        raw = _raw.selene_event()
        raw.struct_size = ctypes.sizeof(raw)
        found, lost = ctypes.c_int32(), ctypes.c_uint64()
        place = ctypes.addressof(raw)
        arguments = (engine.handle, _raw.SELENE_NEVER, ctypes.byref(raw), ctypes.byref(found), ctypes.byref(lost))
        while not (status := library.selene_events_next(*arguments)):
            if lost.value:
                for box in tuple(engine.mailboxes):
                    box.lose(lost.value)
            if found.value:
                engine.observers.event(place)
        error = error_of(status)
        with self._lock:
            self._reads = False
            if engine.closed:
                return
            library.selene_events_close(engine.handle)
            engine.observers.functions.clear()
            boxes = tuple(engine.mailboxes)
            engine.mailboxes.clear()
        log.warning("observers hear no more: %s", error)
        for box in boxes:
            box.fail(error)
