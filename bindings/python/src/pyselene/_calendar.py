"""Calendars: the instants at which a task is due by the clock on the wall, of a cron expression or of times of the day.

Where the clocks of a zone are changed, it is as with Debian's cron. A fixed time that is left out (02:30 as 02:00
becomes 03:00) is due as the clocks are set, one that comes twice is due the first time. An expression whose minutes or
hours begin with a star goes by the time that really passes: each minute or hour that comes, and none that does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from . import _raw
from ._library import encode

if TYPE_CHECKING:
    from cronsim import CronSim

_EPOCH: Final = datetime(1970, 1, 1)
_SECOND: Final = _raw.SELENE_SECOND
#: That far the library takes an instant, and a day less.
_FARTHEST: Final = 3650 * _raw.SELENE_DAY
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAMES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_FIELDS: Final = {
    "minute": "0 … 59",
    "hour": "0 … 23",
    "day-of-month": "1 … 31, L",
    "month": "1 … 12, jan … dec",
    "day-of-week": "0 … 7, sun … sat, 5L, 1#2",
}


AT_ALLOWED: Final = "times of the day from 00:00 to 23:59, such as 03:00"
ON_ALLOWED: Final = "mon, tue, wed, thu, fri, sat, sun, or from one to another, such as mon..fri"


class _Local(tzinfo):
    """The zone of the machine, as the C library knows it (TZ, /etc/localtime)."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return None if dt is None else dt.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, dt: datetime | None) -> timedelta | None:
        return None if dt is None else timedelta(0)

    def tzname(self, dt: datetime | None) -> str | None:
        return None if dt is None else dt.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, dt: datetime) -> datetime:
        # With its fold, which tells the second of two.
        wall = datetime.fromtimestamp(int(dt.replace(microsecond=0, tzinfo=UTC).timestamp()))
        return wall.replace(microsecond=dt.microsecond, tzinfo=self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Local, ()

    def __str__(self) -> str:
        return "local time"


LOCAL: Final = _Local()


def zone_of(value: str | tzinfo | None) -> tzinfo:
    """The zone of a name, or of a tzinfo; None is the machine's.

    >>> zone_of("Europe/Berlinn")
    Traceback (most recent call last):
    ValueError: zone is 'Europe/Berlinn'; allowed: a name of the time zone database, such as Europe/Berlin, or a tzinfo
    """
    if value is None:
        return LOCAL
    if isinstance(value, tzinfo):
        return value
    if not isinstance(value, str):
        raise TypeError(f"zone must be a name or a tzinfo, not {type(value).__name__}")
    try:
        return ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    allowed = "a name of the time zone database, such as Europe/Berlin, or a tzinfo"
    try:
        ZoneInfo("Europe/Berlin")
    except ZoneInfoNotFoundError:
        allowed += "; this machine has no such database, pip install 'pyselene[cron]' brings it"
    raise ValueError(f"zone is {value!r}; allowed: {allowed}")


def check_zone(value: str | tzinfo | None) -> None:
    """Refuses what is no zone."""
    zone_of(value)


class Calendar:
    """Instants, endless, in a zone: what `Task(cron=…)` and `Task(at=…)` mean.

    `text` is what it was made of.
    """

    text: str
    zone: tzinfo
    #: Whether its times are fixed, and not each hour or minute that comes.
    fixed: bool

    def _from(self, wall: datetime) -> Iterator[datetime]:
        """The times on the wall after one, in order, as if no clock were ever changed."""
        raise NotImplementedError

    def after(self, ns: int) -> int:
        """The first instant after one, both in ns since the Unix epoch; 10 years later if that is farther."""
        last = ns + _FARTHEST
        found = self._fixed_after(ns) if self.fixed else self._real_after(ns, last)
        return last if found is None else min(found, last)

    def check(self, ns: int) -> Calendar:
        """Itself, or ValueError where there is no instant within 10 years."""
        if self.after(ns) == ns + _FARTHEST:
            raise ValueError(f"{self.text!r} has no instant within 10 years")
        return self

    def __str__(self) -> str:
        return f"{self.text}, {self.zone}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def show(self, ns: int) -> str:
        """An instant on the wall of the zone.

        >>> Times("03:00", "fri", ZoneInfo("Asia/Kolkata")).show(0)
        'Thu 1970-01-01 05:30 IST'
        """
        wall = datetime.fromtimestamp(ns // _SECOND, UTC).astimezone(self.zone)
        return f"{wall:%a %Y-%m-%d %H:%M}{f':{wall:%S}' if wall.second else ''} {wall.tzname()}"

    # ---- the wall and the time that passes ---------------------------------------

    def _offset(self, ns: int) -> int:
        """What the wall is ahead of UTC."""
        at = datetime.fromtimestamp(ns // _SECOND, UTC).astimezone(self.zone)
        return (at.utcoffset() or timedelta(0)) // timedelta(seconds=1) * _SECOND

    def _wall(self, ns: int) -> datetime:
        return _wall(ns + self._offset(ns))

    def _change(self, begin: int, end: int) -> int:
        """The instant after `begin`, at `end` at the latest, at which the offset is another one; a whole second."""
        was = self._offset(begin)
        low, high = begin // _SECOND, -(-end // _SECOND)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._offset(middle * _SECOND) == was else (low, middle)
        return high * _SECOND

    def _fixed_after(self, ns: int) -> int | None:
        for wall in self._from(self._wall(ns)):
            before = wall.replace(tzinfo=self.zone, fold=0).utcoffset() or timedelta(0)
            found = _ns(wall - before)
            if self._wall(found) != wall:
                # It is left out: with the offset before, it is later than the change, at most by what was left out.
                found = self._change(found - _raw.SELENE_DAY, found)
            if found > ns:
                return found
        return None

    def _real_after(self, ns: int, last: int) -> int | None:
        """By stretches in which the offset is the same one."""
        begin, wall = ns, self._wall(ns)
        while begin < last:
            offset = self._offset(begin)
            near = next(self._from(wall), None)
            found = last if near is None else min(_ns(near) - offset, last)
            change = self._next_change(begin, found, offset)
            if change is None:
                return None if near is None else found
            begin = change
            # What is due as the clocks are set is due, too.
            wall = self._wall(change) - timedelta(microseconds=1)
        return None

    def _next_change(self, begin: int, end: int, offset: int) -> int | None:
        step = _raw.SELENE_DAY
        while begin < end:
            then = min(begin + step, end)
            if self._offset(then) != offset:
                return self._change(begin, then)
            begin = then
        return None


class Cron(Calendar):
    """The instants of a cron expression of five fields, or of a name such as @daily.

    >>> Cron("61 3 * * *", LOCAL)
    Traceback (most recent call last):
    ValueError: cron is '61 3 * * *': bad minute; allowed: 0 … 59, *, and a-b, a,b, */n of these
    """

    def __init__(self, text: str, zone: tzinfo) -> None:
        encode(text, "cron")
        self.text, self.zone = text, zone
        self._expression = _NAMES.get(text.strip().lower(), text)
        self._walk: Callable[[str, datetime], CronSim]
        try:
            from cronsim import CronSim, CronSimError
        except ImportError as error:
            note = "cron= needs cronsim; pip install 'pyselene[cron]' brings it; at= and on= need nothing"
            raise ImportError(note, name="cronsim") from error
        fields = self._expression.split()
        if len(fields) != 5:
            allowed = f"five (minute, hour, day of the month, month, day of the week), or {', '.join(sorted(_NAMES))}"
            raise ValueError(f"cron is {text!r}: it has {len(fields)} fields; allowed: {allowed}")
        try:
            CronSim(self._expression, _EPOCH)
        except CronSimError as error:
            field = str(error).removeprefix("Bad ")
            allowed = f"; allowed: {_FIELDS[field]}, *, and a-b, a,b, */n of these" if field in _FIELDS else ""
            raise ValueError(f"cron is {text!r}: {str(error).lower()}{allowed}") from None
        self._walk = CronSim
        self.fixed = not fields[0].startswith("*") and not fields[1].startswith("*")

    def _from(self, wall: datetime) -> Iterator[datetime]:
        return self._walk(self._expression, wall)


class Times(Calendar):
    """The same times of each day, or of some days of the week: `at="03:00 15:30"`, `on="mon..fri"`.

    >>> Times("3:00", None, LOCAL)
    Traceback (most recent call last):
    ValueError: at is '3:00'; allowed: times of the day from 00:00 to 23:59, such as 03:00
    """

    fixed = True

    def __init__(self, at: str, on: str | None, zone: tzinfo) -> None:
        encode(at, "at")
        self.zone = zone
        self.times = sorted(check_at(at))
        self.days = frozenset(range(7)) if on is None else check_on(on)
        self.text = at if on is None else f"{at} {on}"

    def _from(self, wall: datetime) -> Iterator[datetime]:
        day = wall.date()
        while True:
            if day.weekday() in self.days:
                for at in self.times:
                    if (found := datetime.combine(day, at)) > wall:
                        yield found
            day += timedelta(days=1)


def check_at(at: str) -> set[time]:
    """The times of the day of a text."""
    parts = at.split()
    if not parts or not all(re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", part, re.ASCII) for part in parts):
        raise ValueError(f"at is {at!r}; allowed: {AT_ALLOWED}")
    return {time(int(part[:2]), int(part[3:])) for part in parts}


def check_on(on: str) -> frozenset[int]:
    """The days of the week of a text: mon..fri, or sat sun.

    >>> sorted(check_on("sat..mon thu"))
    [0, 3, 5, 6]
    """
    encode(on, "on")
    found: set[int] = set()
    for part in on.split():
        first, dots, last = part.partition("..")
        if first not in _DAYS or (last if dots else first) not in _DAYS:
            found.clear()
            break
        begin = _DAYS.index(first)
        count = (_DAYS.index(last) - begin) % 7 if dots else 0
        found.update((begin + day) % 7 for day in range(count + 1))
    if not found:
        raise ValueError(f"on is {on!r}; allowed: {ON_ALLOWED}")
    return frozenset(found)


def _wall(ns: int) -> datetime:
    """A time on the wall, of ns since that of the Unix epoch."""
    return _EPOCH + timedelta(microseconds=ns // 1_000)


def _ns(wall: datetime) -> int:
    return (wall - _EPOCH) // timedelta(microseconds=1) * 1_000


def calendar_of(task: Any) -> Calendar | None:
    """What a task's cron, at, on and zone say; None for one without."""
    if task.cron is None and task.at is None:
        for name in ("on", "zone"):
            if getattr(task, name) is not None:
                raise ValueError(f"{name} is given, but neither cron nor at")
        return None
    by = "cron" if task.cron is not None else "at"
    others = {"at": task.at, "on": task.on} if by == "cron" else {}
    others |= {"every": task.every, "delay": task.delay or None, "flex": task.flex or None}
    others |= {"anchored": task.anchored or None, "jitter": task.jitter or None}
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{by} and {name} are both given; {by} alone says when it is due")
    zone = zone_of(task.zone)
    return Cron(task.cron, zone) if by == "cron" else Times(task.at, task.on, zone)
