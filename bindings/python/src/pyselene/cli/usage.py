"""How a machine is used while a workload is simulated under a governor: a person's days, or a server's load.

All is drawn from the seed before the simulation begins, so that nothing which happens in it changes the use.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from .. import Signal
from .duration import DAY, HOUR, MINUTE

PAST: Final = 14
"""Days before the begin whose use is known, so that there are habits."""

_STEP: Final = 10 * MINUTE

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Usage:
    """What happens to the signals, and when the host was used; instants are ns since the Unix epoch."""

    begin: int
    tracks: dict[Signal, list[tuple[int, int]]]
    """The values of a signal from an instant on; the first is that of the begin."""
    uses: list[Span]
    """In order, from a number of days before the begin."""

    def force(self, signal: Signal, spans: Iterable[Span], value: int, rest: int) -> None:
        """Lets a signal have a value at these times, whatever it would be; rest: what it is where nothing is known."""
        for begin, end in spans:
            points = self.tracks.setdefault(signal, [(self.begin, rest)])
            before = [old for at, old in points if at <= end]
            kept = [(at, old) for at, old in points if not begin <= at <= end]
            self.tracks[signal] = _thinned([*kept, (begin, value), (end, before[-1] if before else rest)])


@dataclass
class _Days:
    """The days that are played, in local time, and what was drawn so far."""

    begin: int
    end: int
    offset: int
    draw: random.Random
    changes: dict[Signal, list[tuple[int, int]]] = field(default_factory=dict)
    uses: list[Span] = field(default_factory=list)

    def midnights(self) -> Iterable[tuple[int, int]]:
        """The local midnights, each with its weekday (Monday is 0)."""
        first = (self.begin + self.offset) // DAY - PAST
        for day in range(first, (self.end + self.offset) // DAY + 1):
            # The epoch began on a Thursday.
            yield day * DAY - self.offset, (day + 3) % 7

    def about(self, hour: float, minutes: float) -> int:
        """A time of day, give or take."""
        return round(hour * HOUR + self.draw.gauss(0, minutes / 2) * MINUTE)

    def minutes(self, least: float, most: float) -> int:
        """A length of time."""
        return round(self.draw.uniform(least, most) * MINUTE)

    def span(self, signal: Signal, begin: int, end: int, value: int = 1, rest: int = 0) -> None:
        """A signal has a value for a time."""
        self.changes.setdefault(signal, [(0, rest)]).extend([(begin, value), (end, rest)])

    def usage(self) -> Usage:
        """What comes out, cut to the time that is played."""
        tracks = {}
        for signal, changes in self.changes.items():
            points = _thinned(changes)
            at_begin = [value for at, value in points if at <= self.begin][-1]
            after = [point for point in points if self.begin < point[0] < self.end]
            tracks[signal] = _thinned([(self.begin, at_begin), *after])
        return Usage(self.begin, dict(sorted(tracks.items())), sorted(use for use in self.uses if use[1] < self.end))


def person(begin: int, end: int, offset: int, seed: int) -> Usage:
    """A person's days: work and evenings, a battery, a train with a phone's network, one restart in the night."""
    days = _Days(begin, end, offset, random.Random(f"{seed}/person"))
    active: list[Span] = []
    plugged: list[Span] = []
    for midnight, weekday in days.midnights():
        _day(days, midnight, weekday, active, plugged)
    active = _merged(active)
    plugged = _merged(plugged)
    for first, last in active:
        days.span(Signal.USER_ACTIVE, first, last)
    for first, last in _merged((first, last + 10 * MINUTE) for first, last in active):
        days.span(Signal.DISPLAY_ON, first, last)
    _power(days, active, plugged)
    _restart(days, active)
    days.changes[Signal.UTC_OFFSET] = [(begin, offset // 10**9)]
    return days.usage()


def _day(days: _Days, midnight: int, weekday: int, active: list[Span], plugged: list[Span]) -> None:
    """One day of a person."""
    draw, about = days.draw, days.about
    sessions: list[Span] = []
    if weekday < 5:
        sessions.append((midnight + about(7.1, 30), midnight + about(7.8, 16)))
        train = (midnight + about(8.2, 14), midnight + about(8.7, 10))
        sessions.append(train)
        days.span(Signal.METERED, *train)
        for _ in range(draw.randrange(3)):
            lost = train[0] + round(draw.random() * (train[1] - train[0]))
            days.span(Signal.NETWORK, lost, lost + days.minutes(2, 6), 0, 1)
        desk = (midnight + about(9.1, 20), midnight + about(17.6, 50))
        lunch = (midnight + about(12.3, 24), midnight + about(13.1, 20))
        sessions += [(desk[0], lunch[0]), (lunch[1], desk[1])]
        parts = [desk]
        if draw.random() < 0.6:  # a meeting, away from the desk
            meeting = midnight + about(draw.choice((10.5, 14.5, 15.5)), 30)
            parts = [(desk[0], meeting), (meeting + days.minutes(45, 100), desk[1])]
        plugged += parts
        if draw.random() < 0.3:
            hot = midnight + about(15, 90)
            days.span(Signal.THERMAL, hot, hot + days.minutes(15, 40), 1 if draw.random() < 0.7 else 2)
        if draw.random() < 0.85:
            sessions.append((midnight + about(20.0, 50), midnight + about(22.6, 50)))
    else:
        sessions.append((midnight + about(9.8, 70), midnight + about(11.6, 50)))
        if draw.random() < 0.45:  # a café, with its own network
            sessions.append((midnight + about(14.3, 60), midnight + about(16.2, 60)))
        sessions.append((midnight + about(20.2, 60), midnight + about(23.2, 50)))
    plugged.append((midnight + about(22.4, 80), midnight + DAY + about(7.6 if weekday not in (4, 5) else 10, 30)))
    for first, last in sessions:
        at = first
        while at < last:
            until = min(at + days.minutes(8, 42), last)
            if until - at > MINUTE:
                active.append((at, until))
                if draw.random() < 0.45:
                    use = (at, min(until, at + days.minutes(4, 15)))
                    days.uses.append(use)
                    days.span(Signal.HOST_PRESENCE, *use)
            at = until + days.minutes(3, 16)


def _power(days: _Days, active: Sequence[Span], plugged: Sequence[Span]) -> None:
    """The battery: emptied by use, filled at the plug; power is saved when it gets low."""
    level, saving = 1000.0, False
    begin = days.begin - 2 * DAY
    is_active, is_plugged = _within(active), _within(plugged)
    for at in range(begin, days.end, 5 * MINUTE):
        charging = is_plugged(at)
        level += 33 if charging else -27.0 if is_active(at) else -4.0
        level = min(1000.0, max(30.0, level))
        if saving != (level <= 200 and not charging) and not (saving and level < 300):
            saving = not saving
            days.changes.setdefault(Signal.LOW_POWER_MODE, [(0, 0)]).append((at, int(saving)))
        days.changes.setdefault(Signal.BATTERY_LEVEL, []).append((at, round(level / 20) * 20))
    for first, last in plugged:
        days.span(Signal.EXTERNAL_POWER, first, last)
        days.span(Signal.DISCHARGING, first, last, 0, 1)


def _restart(days: _Days, active: Sequence[Span]) -> None:
    """An update restarts the machine in a night in the middle of the week; it stays locked until the morning."""
    for midnight, weekday in days.midnights():
        if weekday == 2 and midnight >= days.begin:
            at = midnight + days.about(3.4, 40)
            until = next((first for first, _ in active if first > at), at + 6 * HOUR)
            days.span(Signal.UNLOCKED, at, until, 0, 1)


def server(begin: int, end: int, offset: int, seed: int) -> Usage:
    """A server's days: load that follows the clock, bursts, a backup in the night, a disk that fills up."""
    days = _Days(begin, end, offset, random.Random(f"{seed}/server"))
    draw = days.draw
    bursts: list[tuple[int, int, int]] = []
    for midnight, weekday in days.midnights():
        for _ in range(draw.choice((1, 2, 2, 3))):
            at = midnight + round(draw.uniform(6, 23) * HOUR)
            bursts.append((at, at + days.minutes(15, 50), draw.randrange(200, 420)))
        if weekday < 5:
            opened = midnight + days.about(8, 40)
            days.uses += [(at, at + 20 * MINUTE) for at in range(opened, midnight + days.about(19.5, 60), 40 * MINUTE)]
    drift = leak = 0.0
    free = 330.0
    for at in range(days.begin - _STEP, days.end, _STEP):
        local = at + offset
        hour, weekday = (local % DAY) / HOUR, (local // DAY + 3) % 7
        day = (0.5 - 0.5 * math.cos(2 * math.pi * (hour - 4) / 24)) * (1 if weekday < 5 else 0.55)
        drift = 0.8 * drift + draw.gauss(0, 40)
        busy = 70 + 430 * day + drift + sum(more for first, last, more in bursts if first <= at < last)
        leak = leak + draw.uniform(0, 3) if draw.random() > 0.01 else 0.0
        backup = 2 <= hour < 3.4
        tight = leak > 160
        free = 610.0 if weekday == 5 and 10 <= hour < 10.2 else max(15.0, free - 50 / 144 - day * 0.2)
        busy += 90 if backup else 0
        for signal, value in (
            (Signal.CPU_BUSY, busy),
            (Signal.CPU_PRESSURE, (busy - 480) * 0.9 + draw.uniform(0, 20)),
            (Signal.MEMORY_PRESSURE, leak * 0.45 + draw.uniform(0, 20)),
            (Signal.MEMORY_STALLED, (leak - 160) * 0.8 if tight else 0),
            (Signal.IO_PRESSURE, draw.uniform(520, 760) if backup else 40 * day + draw.uniform(0, 25)),
            (Signal.IO_STALLED, draw.uniform(180, 380) if backup else draw.uniform(0, 12)),
            (Signal.STORAGE_FREE, free),
        ):
            days.changes.setdefault(signal, []).append((at, min(1000, max(0, round(value / 10) * 10))))
    days.changes[Signal.UTC_OFFSET] = [(begin, offset // 10**9)]
    return days.usage()


USAGES: Final[dict[str, Callable[[int, int, int, int], Usage]]] = {"person": person, "server": server}
"""What can be played, by name."""


def _thinned(points: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """In order of time, the last of those at one instant, and only changes.

    >>> _thinned([(3, 0), (1, 1), (2, 1), (3, 1), (4, 0)])
    [(1, 1), (4, 0)]
    """
    result: list[tuple[int, int]] = []
    for at, value in sorted(points, key=lambda point: point[0]):
        if result and result[-1][0] == at:
            result.pop()
        if not result or result[-1][1] != value:
            result.append((at, value))
    return result


def _merged(spans: Iterable[Span]) -> list[Span]:
    """In order, what overlaps is one.

    >>> _merged([(5, 6), (1, 3), (2, 4)])
    [(1, 4), (5, 6)]
    """
    result: list[Span] = []
    for begin, end in sorted(span for span in spans if span[0] < span[1]):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((begin, end))
    return result


def _within(spans: Sequence[Span]) -> Callable[[int], bool]:
    """Whether an instant is in one of the spans; asked in order of time."""
    place = 0

    def ask(at: int) -> bool:
        nonlocal place
        while place < len(spans) and spans[place][1] <= at:
            place += 1
        return place < len(spans) and spans[place][0] <= at

    return ask
