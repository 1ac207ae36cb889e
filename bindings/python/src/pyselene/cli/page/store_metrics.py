"""What Prometheus is told of a store."""

from __future__ import annotations

from collections.abc import Iterable

from ... import OwnerAway, Scheduler, Trouble, __version__
from .prometheus import Exposition, Sample
from .store_state import clients_of, counts_of
from .watcher import BUCKETS, Watcher


def metrics(scheduler: Scheduler, watcher: Watcher) -> str:
    """All of it; while no process serves the store, only that."""
    told = Exposition()
    tell = told.tell
    try:
        info, clients = scheduler.info(), clients_of(scheduler)
    except OwnerAway:
        tell("selene_up", "gauge", "Whether a process serves the store.", [("", (), 0)])
        return str(told)
    tell("selene_up", "gauge", "Whether a process serves the store.", [("", (), 1)])
    tell("selene_build_info", "gauge", "The version that tells this.", [("", (("version", __version__),), 1)])
    tell(
        "selene_tasks", "gauge", "Tasks by their state.",
        [("", (("state", state),), count) for state, count in counts_of(info).items()],
    )  # fmt: skip
    tell(
        "selene_runs_started_total", "counter", "Runs that began since the store was opened.",
        [("", (), info.dispatched)],
    )  # fmt: skip
    totals = watcher.totals()
    tell(
        "selene_runs_ended_total", "counter", "Runs that ended since this page is served, by kind and outcome.",
        [
            ("", (("kind", kind), ("outcome", outcome)), count)
            for (kind, outcome), count in sorted(totals.ended.items())
        ],
    )  # fmt: skip
    tell(
        "selene_run_duration_seconds", "histogram", "How long those took that began since then, too, by kind.",
        [sample for kind, taken in sorted(totals.taken.items()) for sample in _histogram(kind, *taken)],
    )  # fmt: skip
    tell(
        "selene_windows_refused_total", "counter", "Windows that the governor refused, by kind and factor.",
        [
            ("", (("factor", factor), ("kind", kind)), count)
            for (kind, factor), count in sorted(totals.refused.items())
        ],
    )  # fmt: skip
    tell(
        "selene_windows_open", "gauge", "Windows that are open.",
        [("", (), sum(window.end_ns is None for window in watcher.windows()))],
    )  # fmt: skip
    tell("selene_clients", "gauge", "Processes that are connected.", [("", (), len(clients))])
    tell("selene_threads_left_behind", "gauge", "Handlers that overran.", [("", (), info.overrun_threads)])
    tell(
        "selene_trouble", "gauge", "What keeps the scheduler from working.",
        [("", (("trouble", str(trouble)),), trouble in info.troubles) for trouble in Trouble],
    )  # fmt: skip
    tell("selene_events_lost_total", "counter", "Events that came too fast to be counted.", [("", (), watcher.lost)])
    return str(told)


def _histogram(kind: str, counts: list[int], total: float) -> Iterable[Sample]:
    of_kind = ("kind", kind)
    below = 0
    for bound, count in zip(BUCKETS, counts, strict=False):
        below += count
        yield "_bucket", (of_kind, ("le", f"{bound:g}")), below
    yield "_bucket", (of_kind, ("le", "+Inf")), sum(counts)
    yield "_sum", (of_kind,), total
    yield "_count", (of_kind,), sum(counts)
