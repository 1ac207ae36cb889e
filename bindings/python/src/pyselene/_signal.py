"""Signals: what the governor looks at, each a value or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from . import _raw
from ._names import Named
from ._time import maybe_instant, seconds


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
    ROAMING = _raw.SELENE_SIGNAL_ROAMING

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
    """Where a signal's value comes from; a later one overrides an earlier one. Books are the governor's own."""

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
