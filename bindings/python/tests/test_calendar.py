"""Calendars: when they are due, against a plain walk over the minutes, where clocks are changed and where not (W7)."""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from pyselene._calendar import LOCAL, Calendar, Cron, Times, zone_of

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata")
#: From some days before a change of the clocks in each of the zones, both ways, and over a leap day.
SPANS = {
    "Europe/Berlin": ("2027-03-26", "2027-10-29"),
    "America/New_York": ("2027-03-12", "2027-11-05"),
    "Australia/Lord_Howe": ("2027-04-02", "2027-10-01"),
    "Asia/Kolkata": ("2027-03-26", "2027-10-29"),
}
EXPRESSIONS = (
    "30 2 * * *",
    "0 2 * * *",
    "15,45 1,2 * * *",
    "0 3 * * mon-fri",
    "59 1 * * *",
    "0 0 * * sun",
    "*/15 * * * *",
    "20 * * * *",
    "0 */2 * * *",
    "*/7 1-3 * * *",
    "5 2-3 * * *",
    "0 0 1 * *",
)


def ns(at: datetime) -> int:
    return int(at.timestamp()) * 10**9


class Expression:
    """A cron expression, read by somebody else."""

    def __init__(self, expression: str) -> None:
        fields = expression.split()
        ranges = ((0, 60), (0, 24), (1, 32), (1, 13), (0, 7))
        self.minutes, self.hours, self.days, self.months, self.weekdays = (
            {value for value in range(*values) if self.holds(field, value, values[0])}
            for field, values in zip(fields, ranges, strict=True)
        )
        self.is_fixed = not fields[0].startswith("*") and not fields[1].startswith("*")
        self.wants_both = fields[2].startswith("*") or fields[4].startswith("*")

    @staticmethod
    def holds(field: str, value: int, least: int) -> bool:
        names = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
        for part in field.split(","):
            body, _, step = part.partition("/")
            for place, name in enumerate(names):
                body = body.replace(name, str(place))
            if body == "*":
                low, high = least, 99
            else:
                first, _, last = body.partition("-")
                low, high = int(first), int(last or first)
            if low <= value <= high and (value - low) % int(step or 1) == 0:
                return True
        return False

    def matches(self, wall: datetime) -> bool:
        if wall.minute not in self.minutes or wall.hour not in self.hours or wall.month not in self.months:
            return False
        is_day, is_weekday = wall.day in self.days, wall.isoweekday() % 7 in self.weekdays
        return (is_day and is_weekday) if self.wants_both else (is_day or is_weekday)


MINUTE = timedelta(minutes=1)


@cache
def shown(zone: tzinfo, begin: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """Every minute, and what a clock on the wall shows then."""
    minutes = (begin + MINUTE * n for n in range((end - begin) // MINUTE))
    return [(at, at.astimezone(zone).replace(tzinfo=None)) for at in minutes]


def walked(expression: str, zone: tzinfo, begin: datetime, end: datetime) -> list[datetime]:
    """What Debian's cron does, minute by minute: fixed times by the wall, each once; stars by the time that passes."""
    read = Expression(expression)
    found: list[datetime] = []
    done: set[datetime] = set()
    was = (begin - MINUTE).astimezone(zone).replace(tzinfo=None)
    for at, wall in shown(zone, begin, end):
        if not read.is_fixed:
            due = read.matches(wall)
        else:
            # All that the wall went over in this minute, but for what it has shown before.
            gone = wall - was
            passed = [wall] if gone <= MINUTE else [was + MINUTE * n for n in range(1, gone // MINUTE + 1)]
            due = False
            for one in passed:
                if one not in done:
                    done.add(one)
                    due = due or read.matches(one)
        if due:
            found.append(at)
        was = wall
    return found


def listed(calendar: Calendar, begin: datetime, end: datetime) -> list[datetime]:
    found = []
    at = ns(begin) - 1
    while (at := calendar.after(at)) < ns(end):
        found.append(datetime.fromtimestamp(at // 10**9, UTC))
    return found


@pytest.mark.parametrize("name", ZONES)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_w7_cron_goes_as_a_walk_over_the_minutes(name: str, expression: str) -> None:
    zone = ZoneInfo(name)
    calendar = Cron(expression, zone)
    for day in (*SPANS[name], "2028-02-27"):
        begin = datetime.fromisoformat(day).replace(tzinfo=zone).astimezone(UTC)
        end = begin + timedelta(days=5)
        assert listed(calendar, begin, end) == walked(expression, zone, begin, end), day


@pytest.mark.parametrize("name", ZONES)
def test_w7_from_every_minute_of_a_change_the_next_instant_is_the_same(name: str) -> None:
    """So that a process which starts anywhere in it neither repeats nor leaves out one."""
    zone = ZoneInfo(name)
    for expression in ("30 2 * * *", "40 1 * * *", "0 */2 * * *", "*/30 * * * *", "10 * * * *"):
        calendar = Cron(expression, zone)
        for day in SPANS[name]:
            begin = datetime.fromisoformat(day).replace(tzinfo=zone).astimezone(UTC) + timedelta(hours=36)
            due = walked(expression, zone, begin, begin + timedelta(days=4))
            for minute in range(0, 36 * 60, 5):
                at = begin + timedelta(minutes=minute)
                assert calendar.after(ns(at)) == ns(next(one for one in due if one > at)), (expression, at)


@pytest.mark.parametrize("name", ZONES)
def test_w7_times_of_the_day_are_the_same_as_by_cron(name: str) -> None:
    zone = ZoneInfo(name)
    for day in SPANS[name]:
        begin = datetime.fromisoformat(day).replace(tzinfo=zone).astimezone(UTC)
        end = begin + timedelta(days=9)
        for at, on, expression in (
            ("02:30", None, "30 2 * * *"),
            ("01:45 02:15", "fri..mon", None),
            ("00:00", "mon..fri", "0 0 * * mon-fri"),
            ("03:00", "sun", "0 3 * * sun"),
        ):
            found = listed(Times(at, on, zone), begin, end)
            if expression is not None:
                assert found == walked(expression, zone, begin, end), (at, day)
            else:
                both = {one for e in ("45 1", "15 2") for one in walked(f"{e} * * fri,sat,sun,mon", zone, begin, end)}
                assert found == sorted(both), (at, day)


def test_w7_what_is_left_out_is_due_as_the_clocks_are_set_and_what_comes_twice_once() -> None:
    berlin = Cron("30 2 * * *", ZoneInfo("Europe/Berlin"))
    assert berlin.after(ns(datetime(2027, 3, 28, tzinfo=UTC))) == ns(datetime(2027, 3, 28, 1, tzinfo=UTC))
    first = ns(datetime(2027, 10, 31, 0, 30, tzinfo=UTC))
    assert berlin.after(first - 1) == first
    assert berlin.after(first) == first + 25 * 3600 * 10**9
    assert berlin.show(first) == "Sun 2027-10-31 02:30 CEST"


def test_w7_leap_days() -> None:
    leap = Cron("0 12 29 feb *", ZoneInfo("Asia/Kolkata"))
    at = ns(datetime(2026, 1, 1, tzinfo=UTC))
    found = [at := leap.after(at) for _ in range(3)]
    assert found == [ns(datetime(year, 2, 29, 6, 30, tzinfo=UTC)) for year in (2028, 2032, 2036)]
    assert Cron("@monthly", UTC).after(ns(datetime(2028, 2, 29, tzinfo=UTC))) == ns(datetime(2028, 3, 1, tzinfo=UTC))
    assert Cron("0 0 L * *", UTC).after(ns(datetime(2028, 2, 1, tzinfo=UTC))) == ns(datetime(2028, 2, 29, tzinfo=UTC))


@pytest.mark.parametrize("name", ZONES)
def test_w7_the_machines_zone_is_that_of_the_c_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    was = os.environ.get("TZ")
    try:
        monkeypatch.setenv("TZ", name)
        time.tzset()
        for expression in ("30 2 * * *", "40 1 * * *", "0 */2 * * *"):
            for day in SPANS[name]:
                begin = datetime.fromisoformat(day).replace(tzinfo=UTC)
                end = begin + timedelta(days=10)
                found = listed(Cron(expression, LOCAL), begin, end)
                assert found == listed(Cron(expression, zone_of(name)), begin, end)
    finally:
        monkeypatch.undo()
        assert os.environ.get("TZ") == was
        time.tzset()


def test_w7_instants_ascend_and_are_after_what_was_asked() -> None:
    for name in ZONES:
        calendar = Cron("17 */5 1-20 * *", ZoneInfo(name))
        found = listed(calendar, datetime(2026, 12, 31, 12, tzinfo=UTC), datetime(2027, 12, 31, tzinfo=UTC))
        assert all(one < other for one, other in pairwise(found))
        assert len(found) == 12 * 20 * 5


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("61 3 * * *", r"cron is '61 3 \* \* \*': bad minute; allowed: 0 … 59"),
        ("0 24 * * *", "bad hour; allowed: 0 … 23"),
        ("0 0 32 * *", "bad day-of-month; allowed: 1 … 31"),
        ("0 0 * 13 *", "bad month; allowed: 1 … 12, jan … dec"),
        ("0 0 * * 8", "bad day-of-week; allowed: 0 … 7, sun … sat"),
        ("0 0 30 2 *", "bad day-of-month"),
        ("* * * * * *", "it has 6 fields; allowed: five"),
        ("@reboot", "it has 1 fields; allowed: five .*@daily"),
        ("", "cron"),
    ],
)
def test_w7_a_bad_expression_says_what_is_wrong(expression: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Cron(expression, UTC)


def test_w7_bad_times_days_and_zones_say_what_is_allowed() -> None:
    for at in ("3:00", "24:00", "03:60", "", "03:00,04:00", "٠٣:٠٠"):
        with pytest.raises(ValueError, match="at"):
            Times(at, None, UTC)
    for on in ("mo", "mon-fri", "mon..", "..fri", "", "MON"):
        with pytest.raises(ValueError, match="on"):
            Times("03:00", on, UTC)
    with pytest.raises(TypeError, match="zone must be a name or a tzinfo"):
        zone_of(5)  # type: ignore[arg-type]
    for name in ("Europe/Nowhere", "", "/etc/passwd", "../../etc/passwd", "a\0b"):
        with pytest.raises(ValueError, match=r"zone is .*; allowed: a name of the time zone database"):
            zone_of(name)


def test_w7_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cronsim", None)
    with pytest.raises(ImportError, match=r"pip install 'pyselene\[cron\]'"):
        Cron("0 3 * * *", UTC)
    Times("03:00", "mon..fri", UTC)
