"""Events: numbered, in order, to any number of observers."""

from __future__ import annotations

import gc
import logging
import pickle
import resource
import threading
from pathlib import Path

import pytest

import pyselene as selene


def test_c18_observers_see_every_change_in_order(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[selene.Event] = []

    def broken(event: selene.Event) -> None:
        raise KeyError(event.number)

    with selene.Scheduler() as scheduler:
        with scheduler.observe(broken), scheduler.observe(seen.append), caplog.at_level(logging.ERROR):

            @scheduler.task(schedule="standing")
            def work(run: selene.Run) -> None:
                raise selene.Retry(60)

            scheduler.run_cycle(20)
        scheduler.cancel_all()
    kinds = [str(event.type) for event in seen]
    assert kinds == ["registered", "cycle_begun", "started", "completed", "retry", "cycle_ended"]
    assert [event.number for event in seen] == list(range(1, 7))
    assert seen[3].detail is selene.Outcome.FAILED
    assert seen[1].time_at is not None
    assert seen[5].state is None
    assert "an observer raised" in caplog.text
    assert "#3 started work" in str(seen[2])
    assert pickle.loads(pickle.dumps(seen)) == seen


def test_a_stream_blocks_until_it_is_closed() -> None:
    with selene.Scheduler() as scheduler:
        stream = scheduler.events(size=2)
        for name in "abc":
            scheduler.register(selene.Task(name, schedule="standing"))
        assert stream.dropped == 1
        found: list[str] = []
        reader = threading.Thread(target=lambda: found.extend(event.id for event in stream))
        reader.start()
        scheduler.register(selene.Task("d", schedule="standing"))
        while len(found) < 3:
            pass
        stream.close()
        reader.join()
        assert found == ["b", "c", "d"]
        assert stream.read() == []
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(stream)


def test_a_dropped_stream_ends_and_closing_the_scheduler_ends_the_others() -> None:
    scheduler = selene.Scheduler()
    stream = scheduler.events()
    other = scheduler.events()
    assert len(scheduler._engine.observers.functions) == 2
    del other
    gc.collect()
    assert len(scheduler._engine.observers.functions) == 1
    scheduler.register(selene.Task("a", schedule="standing"))
    scheduler.close()
    assert [str(event.type) for event in stream] == ["registered"]


def test_the_same_function_may_observe_twice() -> None:
    seen: list[selene.Event] = []
    with selene.Scheduler() as scheduler:
        first, second = scheduler.observe(seen.append), scheduler.observe(seen.append)
        scheduler.register(selene.Task("a", schedule="standing"))
        first.close()
        first.close()
        scheduler.register(selene.Task("b", schedule="standing"))
        second.close()
        scheduler.register(selene.Task("c", schedule="standing"))
    assert [event.id for event in seen] == ["a", "a", "b"]


def test_c19_a_store_that_refuses_is_told_once_and_when_it_does_not_any_more(tmp_path: Path) -> None:
    with selene.Scheduler(tmp_path / "store") as scheduler, scheduler.events() as stream:
        scheduler.register_handler("sync", lambda run: None)
        scheduler.register(selene.Task("sync", schedule="once"))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # as a full disk
        try:
            for _ in range(2):
                with pytest.raises(selene.StoreError) as refused:
                    scheduler.cancel("sync")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert scheduler.info().troubles == {selene.Trouble.STORE}
        reasons = scheduler.explain("sync").reasons
        assert [reason.code for reason in reasons] == [selene.ReasonCode.STORE_REFUSES]
        assert "the store refused the last commit" in str(reasons[0])
        scheduler.cancel("sync")
        assert not scheduler.info().troubles
        begins, ends = (event for event in stream.read() if event.type is selene.EventType.TROUBLE)
        assert begins.detail is ends.detail is selene.Trouble.STORE
        assert type(begins.error) is type(refused.value)
        assert str(begins.error) == str(refused.value)
        assert ends.error is None
        assert str(ends).endswith("trouble (store) is over")
        assert str(begins).endswith(f"trouble (store) {refused.value}")
