"""Signals: what the governor looks at, each a value or unknown."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from . import _raw
from ._library import layout, library
from ._names import Named
from ._time import Duration, duration_ns, maybe_instant, never_is_none, seconds

if TYPE_CHECKING:
    from ._engine import Engine


class Signal(Named):
    """What the governor looks at; docs/governor.md says where the system's values come from.

    Shares are whole numbers per mille (500 is a half), as in C: no floating point decides anything.
    """

    BATTERY_LEVEL = _raw.SELENE_SIGNAL_BATTERY_LEVEL
    EXTERNAL_POWER = _raw.SELENE_SIGNAL_EXTERNAL_POWER
    LOW_POWER_MODE = _raw.SELENE_SIGNAL_LOW_POWER_MODE
    THERMAL = _raw.SELENE_SIGNAL_THERMAL
    USER_ACTIVE = _raw.SELENE_SIGNAL_USER_ACTIVE
    DISPLAY_ON = _raw.SELENE_SIGNAL_DISPLAY_ON
    UNLOCKED = _raw.SELENE_SIGNAL_UNLOCKED
    NETWORK = _raw.SELENE_SIGNAL_NETWORK
    METERED = _raw.SELENE_SIGNAL_METERED
    AIRPLANE = _raw.SELENE_SIGNAL_AIRPLANE
    BACKGROUND_SWITCH = _raw.SELENE_SIGNAL_BACKGROUND_SWITCH
    HOST_PRESENCE = _raw.SELENE_SIGNAL_HOST_PRESENCE
    CPU_BUSY = _raw.SELENE_SIGNAL_CPU_BUSY
    CPU_PRESSURE = _raw.SELENE_SIGNAL_CPU_PRESSURE
    MEMORY_PRESSURE = _raw.SELENE_SIGNAL_MEMORY_PRESSURE
    MEMORY_STALLED = _raw.SELENE_SIGNAL_MEMORY_STALLED
    IO_PRESSURE = _raw.SELENE_SIGNAL_IO_PRESSURE
    IO_STALLED = _raw.SELENE_SIGNAL_IO_STALLED
    STORAGE_FREE = _raw.SELENE_SIGNAL_STORAGE_FREE
    DISCHARGING = _raw.SELENE_SIGNAL_DISCHARGING
    UTC_OFFSET = _raw.SELENE_SIGNAL_UTC_OFFSET

    @property
    def unit(self) -> str:
        """What its numbers count: "‰", "s", "level", or "" for yes and no.

        >>> Signal.CPU_BUSY.unit, Signal.THERMAL.unit, Signal.NETWORK.unit
        ('‰', 'level', '')
        """
        if self in _SHARES:
            return "‰"
        if self in _LEVELS:
            return "level"
        return "s" if self is Signal.UTC_OFFSET else ""

    def text(self, value: int) -> str:
        """A value of it for reading.

        >>> Signal.BATTERY_LEVEL.text(845), Signal.THERMAL.text(2), Signal.UTC_OFFSET.text(-12600)
        ('84.5 %', 'serious', '-03:30')
        """
        if self in _SHARES:
            return f"{value / 10:g} %"
        if self in _LEVELS:
            return str(_LEVELS[self](value))
        if self is Signal.UTC_OFFSET:
            return f"{'-' if value < 0 else '+'}{abs(value) // 3600:02}:{abs(value) % 3600 // 60:02}"
        return "yes" if value else "no"


class Thermal(Named):
    """The levels of Signal.THERMAL."""

    NOMINAL = 0
    FAIR = 1
    SERIOUS = 2
    CRITICAL = 3


class Presence(Named):
    """The host as its user sees it, for Signal.HOST_PRESENCE."""

    BACKGROUND = _raw.SELENE_PRESENCE_BACKGROUND
    FOREGROUND = _raw.SELENE_PRESENCE_FOREGROUND
    QUIT = _raw.SELENE_PRESENCE_QUIT


class Source(Named):
    """Who said what a signal is; the later goes before the earlier. Books are the governor's own."""

    UNKNOWN = _raw.SELENE_SOURCE_UNKNOWN
    PROBE = _raw.SELENE_SOURCE_PROBE
    HOST = _raw.SELENE_SOURCE_HOST
    TRACE = _raw.SELENE_SOURCE_TRACE
    BOOKS = _raw.SELENE_SOURCE_BOOKS


_LEVELS: Final[dict[Signal, type[Named]]] = {Signal.THERMAL: Thermal, Signal.HOST_PRESENCE: Presence}
_SHARES: Final = frozenset({
    Signal.BATTERY_LEVEL, Signal.CPU_BUSY, Signal.CPU_PRESSURE, Signal.MEMORY_PRESSURE, Signal.MEMORY_STALLED,
    Signal.IO_PRESSURE, Signal.IO_STALLED, Signal.STORAGE_FREE,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of a signal; `value` is what its absence stands for while `source` is unknown."""

    signal: Signal
    value: int
    source: Source
    set_at_ns: int | None
    since_ns: int | None
    until_ns: int | None
    age_ns: int | None

    @property
    def known(self) -> bool:
        """Whether anybody said what it is."""
        return self.source is not Source.UNKNOWN

    @property
    def set_at(self) -> datetime | None:
        """When it was said last."""
        return maybe_instant(self.set_at_ns)

    @property
    def since(self) -> datetime | None:
        """Since when it has this value."""
        return maybe_instant(self.since_ns)

    @property
    def until(self) -> datetime | None:
        """From when on it is unknown unless it is said again; None: it stays."""
        return maybe_instant(self.until_ns)

    @property
    def age(self) -> float | None:
        """Seconds since it was said last."""
        return None if self.age_ns is None else seconds(self.age_ns)

    def __str__(self) -> str:
        said = f" ({self.source})" if self.known else " (unknown)"
        return f"{self.signal}: {self.signal.text(self.value)}{said}"


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
        """Says what a signal is; this goes before what the system says until it expires or is cleared.

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
        engine.poke()

    def clear(self, signal: Signal | str) -> None:
        """Takes back what the host said of a signal: what the system says counts again."""
        engine = self._engine
        engine.check(engine.calls.selene_signal_clear(engine.handle, Signal.of(signal, "signal")))
        engine.poke()

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
