"""The history needs nobody: beats make its partitions, drop them, and forget what is older than its retention (T9, N3, N30)."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest
from psycopg import errors

from conftest import SECOND, Fleet
from workers import wait

LEASE = 3 * SECOND
DAY = 86_400 * SECOND
#: 2024-10-04.
BEGIN = 20_000 * DAY


def beats(told: Fleet, worker: int, now: int, count: int = 5) -> int:
    """So many, a second apart; the first one after a gap, which it does not explain."""
    for number in range(count):
        told.at(now + number * SECOND)
        rows = told.rows("select what from beat(%s, %s)", worker, SECOND if number else None)
        assert (0,) in rows
    return now + (count - 1) * SECOND


def run(told: Fleet, worker: int, id: str, queue: str = "default") -> None:
    """A task from its registration to its end."""
    told.rows("select register(%s, queue => %s)", id, queue)
    assert set(told.complete(told.claim(worker)).values()) == {True}


def alarms(fleet: Fleet) -> list[str]:
    """What somebody should look at."""
    return [row[0] for row in fleet.rows("select item from status() where alarm")]


def test_a_fresh_fleet_has_partitions_and_no_alarm(fresh: Fleet) -> None:
    assert len(fresh.partitions()) == 3
    assert alarms(fresh) == []
    fresh.hello()
    assert alarms(fresh) == []
    # Installed again, nothing is made twice.
    before = fresh.partitions()
    fresh.server.install(fresh.name)
    assert fresh.partitions() == before


def test_n30_beats_alone_look_after_the_history_for_months(told: Fleet) -> None:
    told.without_partitions()
    told.at(BEGIN)
    told.rows("select set_queue('brief', retention => '1 hour'), set_queue('long', retention => '30 days')")
    worker = told.hello(lease=LEASE)
    assert told.partitions() == ["history_20241004", "history_20241005", "history_20241006"]
    for day in range(40):
        now = beats(told, worker, BEGIN + day * DAY)
        for queue in ("default", "brief", "long"):
            run(told, worker, f"{queue}{day}", queue)
        kept = {
            queue: [(now - ended) // DAY for ended in ends]
            for queue, ends in told.rows(
                "select q.name, array_agg(h.ended order by h.ended desc) from history h join class c on c.class = h.class"
                " join queue q on q.queue = c.queue group by 1"
            )
        }
        # What is younger than the retention of its queue, to the day for the longest of them.
        assert kept["brief"] == [0]
        assert kept["default"] == list(range(min(day, 1) + 1))
        assert kept["long"] in (list(range(min(day, 30) + 1)), list(range(min(day, 31) + 1)))
        assert told.one("select count(*) from history_rest") == 0
        assert len(told.partitions()) <= 34
        assert alarms(told) == []
    assert told.one("select state from get('long20')") == "succeeded"
    assert told.rows("select * from get('default20')") == []


def test_n30_whoever_may_only_work_looks_after_it_too(told: Fleet) -> None:
    told.rows("drop role if exists works")
    told.rows("create role works login")
    told.rows("grant selene_work to works")
    told.without_partitions()
    told.at(BEGIN)
    with told.another("works") as works:
        works.execute("set search_path = public")
        (worker,) = works.execute("select worker from selene.hello('w', %s)", (LEASE,)).fetchall()[0]
        assert len(told.partitions()) == 3
        for number in range(6):
            told.at(BEGIN + 9 * DAY + number * SECOND)
            works.execute("select * from selene.beat(%s, %s)", (worker, SECOND if number else None))
        with pytest.raises(errors.InsufficientPrivilege):
            works.execute("select * from selene.history")
        with pytest.raises((errors.InsufficientPrivilege, errors.UndefinedFunction)):
            works.execute("select selene.keep_history(0, 0, true)")
    assert told.partitions() == ["history_20241013", "history_20241014", "history_20241015"]
    owners = told.rows("select distinct relowner::regrole::text from pg_class where relname ~ '^history'")
    assert owners == [("fleet",)]


def test_n30_a_clock_that_was_set_far_ahead_costs_no_history_before_a_lease(told: Fleet) -> None:
    told.without_partitions()
    told.at(BEGIN)
    worker = told.hello(lease=LEASE)
    now = beats(told, worker, BEGIN)
    run(told, worker, "a")
    told.at(now + 365 * DAY)
    for _ in range(3):
        told.rows("select * from beat(%s, 0)", worker)
    assert told.one("select state from get('a')") == "succeeded"
    told.at(now + SECOND)
    told.rows("select * from beat(%s, %s)", worker, SECOND)
    assert told.one("select state from get('a')") == "succeeded"


def test_n30_a_beat_waits_for_nobody_who_reads_the_history(told: Fleet) -> None:
    told.without_partitions()
    told.at(BEGIN)
    worker = told.hello(lease=LEASE)
    run(told, worker, "a")
    beats(told, worker, BEGIN + DAY - 30 * SECOND)
    reader = told.another()
    with reader.transaction():
        reader.execute("select count(*) from history")
        beats(told, worker, BEGIN + DAY + 40 * SECOND)
        assert "lock timeout" in told.one("select value from status() where item = 'history'")
        assert "history_20241007" not in told.partitions()
        # Nobody has to look yet; an hour later somebody has to.
        assert alarms(told) == []
        beats(told, worker, BEGIN + DAY + 3700 * SECOND)
        assert alarms(told) == ["history"]
    # It tries again a minute later.
    beats(told, worker, BEGIN + DAY + 3800 * SECOND)
    assert "history_20241007" in told.partitions()
    assert "lock timeout" not in told.one("select value from status() where item = 'history'")
    assert alarms(told) == []


def test_n3_what_found_no_partition_goes_when_it_is_old_however_much_it_is(told: Fleet) -> None:
    told.without_partitions()
    told.at(BEGIN)
    run(told, worker := told.hello(lease=3600 * SECOND), "a")
    told.without_partitions()
    told.rows(
        "insert into history select %s + i, i, 'r' || i, 1, 4, 1, 3, 0, 1, 0, i, 0, 0, 0, 0 from generate_series(1, 2500) i",
        BEGIN,
    )
    told.rows("select bye(%s)", worker)
    worker = told.hello(lease=LEASE)
    # More than a piece stays where it is, and the day goes on there.
    assert told.partitions() == ["history_20241005", "history_20241006"]
    run(told, worker, "b")
    assert told.one("select count(*) from history_rest") == 2501
    # Each takes only so long for it.
    beats(told, worker, BEGIN + 2 * DAY, 20)
    assert told.one("select count(*) from history") == 0


def test_n30_a_backlog_of_what_is_old_goes_in_pieces(told: Fleet) -> None:
    told.at(BEGIN)
    told.rows("select set_queue('brief', retention => '1 hour')")
    worker = told.hello(lease=LEASE)
    for queue in ("brief", "default"):
        run(told, worker, f"of {queue}", queue)
    told.rows(
        "insert into history select %s + i / 7, i, 'r' || i, class, 4, 1, 3, 0, 1, 0, i, 0, 0, 0, 0"
        " from generate_series(1, 9000) i, class",
        BEGIN,
    )
    beats(told, worker, BEGIN + 7200 * SECOND, 40)
    left = told.rows(
        "select q.name, count(*) from history h join class using (class) join queue q using (queue) group by 1"
    )
    assert left == [("default", 9001)]
    # By hand it is a matter of the age that is asked for.
    assert told.one("select prune()") == 0
    assert told.one("select prune('1 hour', 700)") == 9001


def test_n30_many_who_begin_at_once_make_each_partition_once(told: Fleet) -> None:
    told.at(BEGIN)
    for round in range(5):
        told.without_partitions()
        ready = threading.Barrier(4)
        wrong: list[psycopg.Error] = []

        def begin(ready: threading.Barrier = ready, wrong: list[Any] = wrong) -> None:
            try:
                with told.another() as connection:
                    ready.wait()
                    connection.execute("select * from hello('one')")
                    connection.execute("select partitions()")
            except psycopg.Error as error:
                wrong.append(error)

        threads = [threading.Thread(target=begin) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(told.partitions()) == 3, round


def test_n33_a_fleet_of_before_is_brought_up_to_date_and_keeps_what_it_has(fresh: Fleet) -> None:
    worker = fresh.hello()
    fresh.rows("select register('a')")
    fresh.complete(fresh.claim(worker))
    # As it was before beats looked after the history.
    fresh.rows(
        "alter table fleet drop column kept, drop column kept_whole, drop column keeping_fault, drop column failed_over"
    )
    fresh.rows("alter table queue drop column pruned")
    fresh.rows("drop index history_ended")
    fresh.server.install(fresh.name)
    assert fresh.one("select state from get('a')") == "succeeded"
    assert (0,) in fresh.rows("select what from beat(%s, null)", worker)
    assert fresh.one("select prune('0')") == 1


def test_n30_classes_that_nothing_remembers_are_forgotten(told: Fleet) -> None:
    told.without_partitions()
    told.at(BEGIN)
    worker = told.hello(lease=LEASE)
    for number in range(700):
        run(told, worker, f"once{number}")
    told.rows(
        "select register('waits', delay => '3000 days'), register('a', handler => 'h', delay => '3000 days'),"
        " register('a', existing => 'append')"
    )
    told.rows("update class set samples = 10 where handler = 'once7'")
    assert told.one("select count(*) from class") == 703
    # Every look marks or forgets.
    for days, left in ((1, 703), (2, 703), (5, 4), (80, 4), (95, 3)):
        for minute in range(4):
            beats(told, worker, BEGIN + days * DAY + minute * 60 * SECOND)
        assert told.one("select count(*) from class") == left, days
        assert (
            told.one("select count(*) from history h where not exists (select from class c where c.class = h.class)")
            == 0
        )
    assert {row[0] for row in told.rows("select handler from class")} == {"waits", "h", "a"}
    assert told.one("select count(*) from class where idle_since is not null") == 0
    run(told, worker, "once7")
    assert told.one("select state from get('once7')") == "succeeded"


def test_n30_a_class_that_is_used_again_is_not_forgotten(told: Fleet) -> None:
    told.without_partitions()
    told.at(BEGIN)
    worker = told.hello(lease=LEASE)
    run(told, worker, "a")
    beats(told, worker, BEGIN + 2 * DAY)
    assert told.one("select count(*) from class where idle_since is not null") == 1
    told.rows("select register('a')")
    assert told.one("select count(*) from class where idle_since is not null") == 0
    told.rows("select cancel('a')")
    beats(told, worker, BEGIN + 4 * DAY)
    with told.another() as other:
        with other.transaction():
            # Whoever forgets it meanwhile finds it locked, and leaves it.
            other.execute("select register('b', handler => 'a', delay => '1 day')")
            assert told.one("select prune_classes(%s, 0)", BEGIN + 40 * DAY) == 0
        assert told.one("select prune_classes(%s, 0)", BEGIN + 40 * DAY) == 0
    assert told.one("select handler from get('b')") == "a"


def test_n30_a_registration_that_meets_the_end_of_its_class_makes_it_anew(fleet: Fleet) -> None:
    fleet.rows("select register('a')")
    fleet.rows("select cancel('a')")
    fleet.rows("delete from history")
    later = "now_ns() + 100 * 86400000000000::bigint"
    assert fleet.one(f"select prune_classes({later}, 0)") == 0
    registered: list[Any] = []
    with fleet.another() as other, fleet.another() as admin:
        with admin.transaction():
            assert admin.execute(f"select prune_classes({later} * 2, 0)").fetchall() == [(1,)]
            thread = threading.Thread(
                target=lambda: registered.extend(other.execute("select register('a')").fetchall())
            )
            thread.start()
            wait(
                lambda: (
                    fleet.one("select count(*) from pg_locks where not granted and pid = %s", other.info.backend_pid)
                    == 1
                )
            )
        thread.join(60)
    assert registered == [("added",)]
    assert fleet.one("select handler from get('a')") == "a"
