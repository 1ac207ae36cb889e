"""Work that is important now, and the quota of its runs (W10)."""

from __future__ import annotations

from datetime import timedelta

import pytest

import pyselene as selene
from pyselene import Scheduler, Task
from pyselene.testing import VirtualClock


def test_it_goes_before_others_while_the_quota_lasts() -> None:
    clock = VirtualClock()
    with Scheduler(clock=clock, expedited_quota=5) as scheduler:
        scheduler.register_handler("work", None)
        scheduler.register(Task("best", "work", priority="very_high", schedule="standing"))
        scheduler.enqueue("now", handler="work", expedited=True, priority="very_low")
        clock.advance(1)
        assert [run.id for run in scheduler.plan(budget=30).runs] == ["now", "best"]
        why = scheduler.explain("now")
        assert (why.rank, why.expedited, why.reasons) == (1, True, ())
        assert "it is expedited, so it goes first" in str(why)
        assert scheduler.get("now").expedited
        with scheduler.begin(budget=600) as cycle:
            run = cycle.next()
            assert isinstance(run, selene.Run)
            assert run.id == "now"
            clock.advance(2)
            assert scheduler.info().expedited_left == 3
            clock.advance(4)
            run.complete("new_data")
        info = scheduler.info()
        assert (info.expedited_left, info.expedited_free_at) == (0, clock.now + timedelta(days=1))
        scheduler.enqueue("later", handler="work", expedited=True)
        why = scheduler.explain("later")
        assert not why.expedited
        assert [reason.code for reason in why.reasons] == [selene.ReasonCode.OUT_OF_QUOTA]
        # It is an ordinary task, which waits for a window alone.
        assert why.runnable
        assert why.reasons[0].may_change_at == clock.now + timedelta(days=1)
        assert "have used their quota" in str(why)
        with pytest.raises(selene.OutOfQuota) as refused:
            scheduler.enqueue("refused", handler="work", expedited=True, out_of_quota="refuse")
        assert (refused.value.field, refused.value.found, refused.value.limits) == ("expedited_quota", 6, (0, 5))
        clock.advance(86_400)
        scheduler.enqueue("refused", handler="work", expedited=True, out_of_quota="refuse")
        assert scheduler.get("refused").out_of_quota is selene.QuotaPolicy.REFUSE


def test_it_does_not_wait_for_the_minimum_interval() -> None:
    clock = VirtualClock()
    with Scheduler(clock=clock, minimum_interval_refresh=3600, expedited_quota=None) as scheduler:
        scheduler.register_handler("work", None)
        scheduler.run_cycle(budget=1, kinds="refresh")
        scheduler.enqueue("ordinary", handler="work")
        assert scheduler.next_wakeup() == clock.now + timedelta(hours=1)
        scheduler.enqueue("now", handler="work", expedited=True)
        assert scheduler.next_wakeup() == clock.now
        with scheduler.begin(budget=30, kinds="refresh") as cycle:
            run = cycle.next()
            assert isinstance(run, selene.Run)
            assert run.id == "now"
            run.complete("new_data")
            assert not isinstance(cycle.next(), selene.Run)
        with pytest.raises(selene.TooSoon):
            scheduler.begin(budget=30, kinds="refresh")
        assert scheduler.info().expedited_left is None


def test_only_once_tasks_are_expedited() -> None:
    with Scheduler(clock=VirtualClock()) as scheduler:
        for task in (Task("a", expedited=True, schedule="standing"), Task("a", every=60, expedited=True)):
            with pytest.raises(selene.InvalidArgument, match="EXPEDITED is for once tasks only"):
                scheduler.register(task)
        with pytest.raises(selene.InvalidArgument, match="REFUSE_OUT_OF_QUOTA"):
            scheduler.enqueue("a", out_of_quota="refuse")
        with pytest.raises(ValueError, match="out_of_quota"):
            scheduler.enqueue("a", expedited=True, out_of_quota="wait")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expedited_quota"):
        Scheduler(expedited_quota=-1)
