"""Tasks that are due by calendars, however they are run, whatever becomes of runs, processes and clocks (W7)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import pyselene as selene
from pyselene import Abandon, Run, Scheduler, Task, connect
from pyselene.testing import ToldClock, VirtualClock

NOON = datetime(2027, 3, 26, 12, tzinfo=UTC)
NIGHTLY: dict[str, Any] = {"cron": "30 2 * * *", "zone": "Europe/Berlin"}
#: Its instants over the change to summer time: 02:30, at the change as there is no 02:30, 02:30.
NIGHTS = [datetime(2027, 3, 27, 1, 30, tzinfo=UTC), datetime(2027, 3, 28, 1, tzinfo=UTC)]
NIGHTS += [datetime(2027, 3, day, 0, 30, tzinfo=UTC) for day in (29, 30, 31)]
DAY = timedelta(days=1)


def to(clock: VirtualClock, scheduler: Scheduler, at: datetime) -> None:
    clock.advance(at - scheduler.now)


def nightly(scheduler: Scheduler, ran: list[datetime], **fields: Any) -> None:
    @scheduler.task("nightly", **(NIGHTLY | fields))
    def work(run: Run) -> None:
        ran.append(run.started_at)


def pulled(scheduler: Scheduler, ran: list[datetime]) -> None:
    with scheduler.begin(budget=30) as cycle:
        for run in cycle:
            ran.append(run.started_at)
            run.complete()


@pytest.mark.parametrize("how", ["threads", "inline", "asyncio", "pulled"])
def test_w7_each_instant_runs_once(how: str) -> None:
    ran: list[datetime] = []
    now = NOON
    clock = VirtualClock(NOON)

    async def work(run: Run) -> None:
        ran.append(run.started_at)

    with Scheduler(clock=clock if how != "threads" else lambda: int(now.timestamp()) * 10**9) as scheduler:
        if how == "asyncio":
            scheduler.task("nightly", **NIGHTLY)(work)
        elif how == "pulled":
            scheduler.register_handler("nightly", None)
            scheduler.register(Task("nightly", **NIGHTLY))
        else:
            nightly(scheduler, ran)
        go: dict[str, Callable[[], object]] = {
            "threads": lambda: scheduler.run_cycle(lanes=2),
            "inline": lambda: scheduler.run_cycle(inline=True),
            "asyncio": lambda: asyncio.run(scheduler.run_cycle_async()),
            "pulled": lambda: pulled(scheduler, ran),
        }
        for at in NIGHTS:
            go[how]()
            assert scheduler.get("nightly").earliest_begin == at
            now = at
            to(clock, scheduler, at)
            go[how]()
            go[how]()
        assert ran == NIGHTS


def test_w7_with_at_and_on_it_is_the_same() -> None:
    ran: list[datetime] = []
    clock = VirtualClock(NOON)
    with Scheduler(clock=clock) as scheduler:
        nightly(scheduler, ran, cron=None, at="02:30 14:00", on="sat..mon")
        for _ in range(200):
            scheduler.run_cycle()
            clock.advance(timedelta(minutes=30))
    noon = [datetime(2027, 3, 27, 13, tzinfo=UTC), datetime(2027, 3, 28, 12, tzinfo=UTC)]
    assert ran == sorted([*NIGHTS[:3], *noon, datetime(2027, 3, 29, 12, tzinfo=UTC)])


def test_w7_what_was_missed_runs_once_at_the_start(tmp_path: Path) -> None:
    ran: list[datetime] = []
    clock = VirtualClock(NOON)
    with Scheduler(tmp_path / "store", clock=clock) as scheduler:
        nightly(scheduler, ran)
    clock.advance(timedelta(days=5))
    with Scheduler(tmp_path / "store", clock=clock) as scheduler:
        nightly(scheduler, ran)
        assert scheduler.get("nightly").earliest_begin == NIGHTS[0]
        for _ in range(3):
            scheduler.run_cycle()
        assert ran == [NOON + timedelta(days=5)]
        assert scheduler.get("nightly").earliest_begin == datetime(2027, 4, 1, 0, 30, tzinfo=UTC)
    # And while it was up, but had no window.
    with Scheduler(tmp_path / "store", clock=clock) as scheduler:
        nightly(scheduler, ran)
        clock.advance(timedelta(days=3))
        for _ in range(3):
            scheduler.run_cycle()
        assert ran == [NOON + timedelta(days=5), NOON + timedelta(days=8)]


def test_w7_a_new_task_does_not_run_before_its_instant(tmp_path: Path) -> None:
    ran: list[datetime] = []
    clock = VirtualClock(NOON)
    for _ in range(3):
        with Scheduler(tmp_path / "store", clock=clock) as scheduler:
            nightly(scheduler, ran)
            scheduler.run_cycle()
            assert scheduler.get("nightly").earliest_begin == NIGHTS[0]
            assert scheduler.get("nightly").by_calendar
        clock.advance(timedelta(hours=2))
    assert ran == []


def test_w7_the_code_wins_over_the_store(tmp_path: Path) -> None:
    ran: list[datetime] = []
    clock = VirtualClock(NOON)
    due: list[tuple[dict[str, Any], datetime]] = [
        ({"cron": "0 0 1 1 *", "zone": "UTC"}, datetime(2028, 1, 1, tzinfo=UTC)),
        ({"cron": "0 15 * * *", "zone": "UTC"}, datetime(2027, 3, 26, 15, tzinfo=UTC)),
        ({"cron": "0 15 * * *", "zone": "Asia/Kolkata"}, datetime(2027, 3, 27, 9, 30, tzinfo=UTC)),
        ({"cron": None, "zone": None, "every": 3600}, NOON),
        ({"at": "13:00", "cron": None, "zone": "UTC"}, NOON + timedelta(hours=1)),
    ]
    for fields, at in due:
        with Scheduler(tmp_path / "store", clock=clock) as scheduler:
            nightly(scheduler, ran, **fields)
            assert scheduler.get("nightly").earliest_begin == at, fields
    with Scheduler(tmp_path / "store", clock=clock) as scheduler:
        nightly(scheduler, ran, cron=None, at="13:00", zone="UTC")
        scheduler.run_cycle()
        assert ran == []
        assert scheduler.get("nightly").earliest_begin == NOON + timedelta(hours=1)
        # In the same process, too.
        scheduler.register(Task("nightly", **NIGHTLY))
        assert scheduler.get("nightly").earliest_begin == NIGHTS[0]
        scheduler.register(Task("nightly", every=60, existing="update"))
        assert scheduler.get("nightly").earliest_begin == NOON
        assert not scheduler.get("nightly").by_calendar


def test_w7_a_failed_run_is_tried_again_and_the_calendar_stays() -> None:
    ran: list[datetime] = []
    clock = VirtualClock(NOON)
    with Scheduler(clock=clock) as scheduler:

        @scheduler.task(**NIGHTLY, backoff=selene.Linear(600), max_attempts=3)
        def nightly(run: Run) -> None:
            ran.append(run.started_at)
            if run.started_at < NIGHTS[1]:
                raise RuntimeError("no")
            if run.started_at < NIGHTS[2]:
                raise Abandon("never")
            if run.started_at < NIGHTS[3]:
                raise selene.Retry(after=3 * DAY)

        while scheduler.now < NIGHTS[4]:
            scheduler.run_cycle()
            clock.advance(timedelta(minutes=10))
    again = [NIGHTS[0] + timedelta(minutes=minutes) for minutes in (0, 10, 30)]
    # Three attempts; abandoned; a retry that would be later than the next instant; success.
    assert ran == [*again, *NIGHTS[1:4]]


def test_w7_a_run_that_expires_or_is_stopped_leaves_the_calendar_as_it_is() -> None:
    clock = VirtualClock(NOON)
    with Scheduler(clock=clock) as scheduler:
        scheduler.register_handler("nightly", None)
        scheduler.register(Task("nightly", **NIGHTLY, max_attempts=1, requires="network"))
        scheduler.set_conditions(network=True)
        to(clock, scheduler, NIGHTS[0])
        cycle = scheduler.begin(budget=30)
        assert isinstance(cycle.next(), Run)
        clock.advance(60)
        cycle.end()
        assert scheduler.get("nightly").last_outcome is selene.Outcome.EXPIRED
        assert scheduler.get("nightly").earliest_begin == NIGHTS[1]
        to(clock, scheduler, NIGHTS[1])
        cycle = scheduler.begin(budget=30)
        assert isinstance(cycle.next(), Run)
        clock.advance(1)
        scheduler.set_conditions(network=False)
        cycle.end()
        # Nothing of this night is done.
        assert scheduler.get("nightly").last_outcome is selene.Outcome.STOPPED
        assert scheduler.get("nightly").earliest_begin == NIGHTS[1] + timedelta(seconds=1)


def test_w7_killed_in_a_run_it_is_tried_again_and_the_calendar_stays(tmp_path: Path) -> None:
    import os

    ran: list[datetime] = []
    child = os.fork()
    clock = VirtualClock(NOON)
    if child == 0:
        scheduler = Scheduler(tmp_path / "store", clock=clock)
        scheduler.task("nightly", **NIGHTLY)(lambda _run: os._exit(0))
        to(clock, scheduler, NIGHTS[0])
        scheduler.run_cycle(inline=True)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    clock.advance(NIGHTS[0] + timedelta(hours=1) - NOON)
    with Scheduler(tmp_path / "store", clock=clock) as scheduler:
        nightly(scheduler, ran)
        assert scheduler.get("nightly").earliest_begin == scheduler.now
        scheduler.run_cycle()
        assert ran == [NIGHTS[0] + timedelta(hours=1)]
        assert scheduler.get("nightly").earliest_begin == NIGHTS[1]


def test_w7_a_run_at_once_moves_no_instant() -> None:
    ran: list[datetime] = []
    clock = VirtualClock(NOON)
    with Scheduler(clock=clock) as scheduler:
        nightly(scheduler, ran)
        scheduler.run_cycle(task="nightly")
        assert ran == [NOON]
        assert scheduler.get("nightly").earliest_begin == NIGHTS[0]


def test_w7_a_handler_may_say_another_instant() -> None:
    clock = VirtualClock(NOON)
    with Scheduler(clock=clock) as scheduler:
        scheduler.task("nightly", **NIGHTLY)(lambda run: run.set_next(NOON + 4 * DAY))
        to(clock, scheduler, NIGHTS[0])
        scheduler.run_cycle()
        assert scheduler.get("nightly").earliest_begin == NOON + 4 * DAY


def test_w7_a_hosts_clock_that_jumps_repeats_no_instant(tmp_path: Path) -> None:
    ran: list[datetime] = []
    at = NOON
    scheduler = Scheduler(tmp_path / "store", clock=lambda: int(at.timestamp()) * 10**9)
    nightly(scheduler, ran)
    # An hour forward over the instant, an hour back again: scheduler time waits for it.
    hour, minute = timedelta(hours=1), timedelta(minutes=1)
    for jump in (NIGHTS[0] - minute, NIGHTS[0] + hour, NIGHTS[0], NIGHTS[0] + minute, NIGHTS[0] + 2 * hour):
        at = jump
        scheduler.run_cycle(inline=True)
    assert len(ran) == 1
    assert scheduler.get("nightly").earliest_begin == NIGHTS[1]
    scheduler.close()
    # The same while nothing runs.
    at = NIGHTS[0] - minute
    scheduler = Scheduler(tmp_path / "store", clock=lambda: int(at.timestamp()) * 10**9)
    nightly(scheduler, ran)
    for _ in range(3):
        at += minute
        scheduler.run_cycle(inline=True)
    assert len(ran) == 1
    assert scheduler.get("nightly").earliest_begin == NIGHTS[1]
    scheduler.close()


def test_w7_the_wall_counts_not_scheduler_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scheduler time goes on as the system's clock is set; a calendar goes by the clock on the wall."""
    real = time.time_ns
    apart = 0
    with Scheduler() as scheduler:
        monkeypatch.setattr("time.time_ns", lambda: real() + apart)
        soon = datetime.fromtimestamp(real() // 10**9, UTC).replace(second=0) + timedelta(hours=2)
        ran: list[datetime] = []
        nightly(scheduler, ran, cron=f"{soon.minute} {soon.hour} * * *", zone="UTC")
        close = timedelta(seconds=20)
        told = scheduler._engine.observers
        assert told.clock_was_set is not None

        def expect(at: datetime) -> None:
            assert abs(scheduler.get("nightly").earliest_begin - at) < close

        expect(soon)
        hour = 3600 * 10**9
        for ahead, at in (
            (hour, soon - timedelta(hours=1)),
            (0, soon),
            (-hour, soon + timedelta(hours=1)),
            (hour // 2, soon - timedelta(minutes=30)),
            # By so much that another of its instants comes first: the clock was wrong before.
            (-47 * hour, soon - timedelta(hours=1)),
            # What passed meanwhile is due now.
            (0, scheduler.now),
        ):
            apart = ahead
            told.clock_was_set()
            expect(at)
        # Over the instant: due at once, and once.
        scheduler.register(Task("nightly", cron=f"{soon.minute} {soon.hour} * * *", zone="UTC", existing="replace"))
        apart = 3 * hour
        told.clock_was_set()
        for _ in range(3):
            scheduler.run_cycle()
        assert len(ran) == 1
        expect(soon + DAY - timedelta(hours=3))
        # And back over it: it has run.
        apart = hour
        told.clock_was_set()
        scheduler.run_cycle()
        assert len(ran) == 1
        expect(soon + DAY - timedelta(hours=1))


@pytest.mark.parametrize("how", ["driver", "async driver", "run_forever", "run_forever_async"])
def test_w7_drivers_run_it_on_time(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the wall it is a second before the clocks are set forward."""
    real, soon = time.time_ns, int(NIGHTS[1].timestamp()) * 10**9
    ahead = soon - 10**9 - real()
    ran: list[tuple[str, float]] = []
    with Scheduler() as scheduler:
        monkeypatch.setattr("time.time_ns", lambda: real() + ahead)

        def done(run: Run) -> None:
            ran.append((run.id, (run.started_at_ns + ahead - soon) / 10**9))
            if len(ran) == 2:
                stop.set()

        @scheduler.task(**NIGHTLY)
        async def asynchronous(run: Run) -> None:
            done(run)

        scheduler.task("plain", **NIGHTLY)(done)
        scheduler.task("often", cron="* * * * *", zone="Europe/Berlin")(lambda _run: None)
        stop = threading.Event()

        async def drive() -> None:
            async with scheduler.driver():
                await asyncio.to_thread(stop.wait, 60)

        def end() -> None:
            stop.wait(60)
            scheduler.stop()

        waiter = threading.Thread(target=end)
        if how == "driver":
            with scheduler.driver():
                assert stop.wait(60)
        elif how == "async driver":
            asyncio.run(drive())
        else:
            waiter.start()
            if how == "run_forever":
                scheduler.run_forever(signals=False)
            else:
                asyncio.run(scheduler.run_forever_async(signals=False))
            waiter.join()
        assert sorted(name for name, _ in ran) == ["asynchronous", "plain"]
        # Not before, to the microsecond in which the clocks were compared.
        assert all(-0.01 < late < 50 for _, late in ran), ran
        again = scheduler.get("plain").earliest_begin_ns + ahead
        assert abs(again - int(NIGHTS[2].timestamp()) * 10**9) < 10**9


def test_w7_it_is_told(tmp_path: Path) -> None:
    clock = VirtualClock(NOON)
    with Scheduler(tmp_path / "store", clock=clock) as scheduler:
        nightly(scheduler, [])
        info = scheduler.get("nightly")
        assert str(info.calendar) == "30 2 * * *, Europe/Berlin"
        assert "periodic by 30 2 * * *, Europe/Berlin" in str(info)
        assert "not before Sat 2027-03-27 02:30 CET" in str(info)
        found = str(scheduler.explain("nightly"))
        assert "due by 30 2 * * *, Europe/Berlin; next Sat 2027-03-27 02:30 CET" in found
    with Scheduler(tmp_path / "store", clock=clock) as scheduler:
        assert "periodic by a calendar" in str(scheduler.get("nightly"))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"cron": "0 3 * *"}, "cron is '0 3 . .': it has 4 fields"),
        ({"cron": "0 25 * * *"}, "bad hour; allowed: 0 … 23"),
        ({"cron": "0 3 * * *", "zone": "Mars/Base"}, "zone is 'Mars/Base'; allowed"),
        ({"cron": "0 3 * * *", "every": 60}, "cron and every are both given"),
        ({"cron": "0 3 * * *", "delay": 60}, "cron and delay are both given"),
        ({"cron": "0 3 * * *", "jitter": 0.5}, "cron and jitter are both given"),
        ({"cron": "0 3 * * *", "at": "03:00"}, "cron and at are both given"),
        ({"at": "03:00", "schedule": "standing"}, "schedule is standing, but cron or at is given; allowed: periodic"),
        ({"at": "3"}, "at is '3'; allowed"),
        ({"on": "mon"}, "on is given, but neither cron nor at"),
        ({"zone": "UTC"}, "zone is given, but neither cron nor at"),
        ({"at": "03:00", "existing": "append"}, "append"),
    ],
)
def test_w7_what_makes_no_sense_is_refused_when_it_is_registered(fields: dict[str, Any], words: str) -> None:
    with Scheduler() as scheduler:
        with pytest.raises((ValueError, ImportError), match=words):
            scheduler.task("a", **fields)(lambda _run: None)
        assert scheduler.ids() == []
        assert scheduler.handlers == ()


def test_w7_what_never_comes_is_refused() -> None:
    with (
        Scheduler(clock=VirtualClock(NOON)) as scheduler,
        pytest.raises(ValueError, match="no instant within 10 years"),
    ):
        scheduler.register(Task("a", cron="0 0 * 2 mon#5", zone="UTC"))


def test_w7_many_are_registered_at_once() -> None:
    with Scheduler(clock=VirtualClock(NOON)) as scheduler:
        done = scheduler.register_all([Task("a", **NIGHTLY), Task("b", every=60), Task("c", at="13:00", zone="UTC")])
        assert done == [selene.Disposition.ADDED] * 3
        assert scheduler.get("a").earliest_begin == NIGHTS[0]
        assert scheduler.get("c").earliest_begin == NOON + timedelta(hours=1)


def test_w7_only_the_owner_has_calendars(tmp_path: Path) -> None:
    with (
        Scheduler(tmp_path / "store") as scheduler,
        scheduler.serve(),
        connect(tmp_path / "store") as queue,
        pytest.raises(selene.Unsupported, match="the owner of the store"),
    ):
        queue.register(Task("a", at="03:00"))


def test_a_nightly_job_by_a_clock_that_is_told() -> None:
    clock = ToldClock(datetime(2026, 1, 1, tzinfo=UTC))
    nights = []
    with selene.Scheduler(clock=clock) as scheduler:

        @scheduler.task(cron="0 3 * * *", zone="UTC")
        def backup(run: selene.Run) -> None:
            nights.append(clock.now)
            run.stopping.wait(4)

        with scheduler.driver():
            clock.advance(timedelta(days=7))
        assert clock.now == datetime(2026, 1, 8, tzinfo=UTC)
    assert nights == [datetime(2026, 1, day, 3, tzinfo=UTC) for day in range(1, 8)]
