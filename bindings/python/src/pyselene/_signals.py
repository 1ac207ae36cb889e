"""The signals of a scheduler: what its host says, and what the system says."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from . import _raw
from ._library import layout, library
from ._signal import _LEVELS, Reading, Signal, Source
from ._time import Duration, duration_ns, never_is_none

if TYPE_CHECKING:
    from ._engine import Engine

_SIZE = ctypes.sizeof(_raw.selene_signal)


class Signals(Mapping[Signal | str, Reading]):
    """The signals of a scheduler, read as a decision would now.

    >>> import pyselene as selene
    >>> scheduler = selene.Scheduler()
    >>> scheduler.signals.set("battery_level", 150)  # per mille
    >>> print(scheduler.signals["battery_level"])
    battery_level: 15 % (host)
    >>> scheduler.signals.set("thermal", "serious", valid_for=60)
    >>> scheduler.signals["thermal"].value
    2
    >>> scheduler.signals.clear("thermal")
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def set(self, signal: Signal | str, value: int | str, valid_for: Duration | None = None) -> None:
        """Sets a signal, overriding the system's reading until it expires or is cleared.

        - `value`: per mille for shares, a bool for yes and no, a number or a name for levels ("serious", "foreground").
        - `valid_for`: after that it is unknown again; None: it stays.

        A veto that is raised by it stops runs where the profile says so; an open driver looks at once. The background
        switch and the host's presence are kept in the store. InvalidArgument: the value is outside its range.
        """
        found = Signal.of(signal, "signal")
        lasts = 0 if valid_for is None else duration_ns(valid_for, "valid_for")
        if valid_for is not None and lasts <= 0:
            raise ValueError(f"valid_for is {valid_for}; allowed: more than 0, or None")
        number: int
        if isinstance(value, str):
            if found not in _LEVELS:
                raise TypeError(f"the value of {found} must be an int, not str")
            number = _LEVELS[found].of(value, str(found))
        elif isinstance(value, int):
            number = int(value)
        else:
            raise TypeError(f"the value of {found} must be an int, not {type(value).__name__}")
        engine = self._engine
        if not -(1 << 63) <= number < 1 << 63:
            raise ValueError(f"the value of {found} is beyond what can be counted: {number}")
        engine.check(engine.calls.selene_signal_set(engine.handle, found, number, lasts))

    def clear(self, signal: Signal | str) -> None:
        """Takes back what the host said of a signal: what the system says counts again."""
        engine = self._engine
        engine.check(engine.calls.selene_signal_clear(engine.handle, Signal.of(signal, "signal")))

    def __getitem__(self, key: Signal | str) -> Reading:
        try:
            signal = Signal.of(key, "signal")
        except ValueError as error:
            raise KeyError(str(error)) from None
        raw = _raw.selene_signal(_SIZE)
        engine = self._engine
        engine.check(library.selene_signal_get(engine.handle, signal, ctypes.byref(raw)))
        _, _, value, source, _, set_at, since, until = layout(_raw.selene_signal).unpack_from(raw)
        at = never_is_none(set_at)
        age = None if at is None else max(0, engine.now_ns() - at)
        return Reading(signal, value, Source(source), at, never_is_none(since), never_is_none(until), age)

    def __iter__(self) -> Iterator[Signal]:
        return iter(Signal)

    def __len__(self) -> int:
        return len(Signal)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, Signal) or (isinstance(key, str) and key.upper() in Signal.__members__)

    def __repr__(self) -> str:
        return f"<Signals: {', '.join(str(reading) for reading in self.values() if reading.known) or 'none known'}>"
