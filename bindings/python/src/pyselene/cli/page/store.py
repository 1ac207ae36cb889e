"""The page of a store: of a scheduler that has it open, or is connected to who has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ... import Kind, Scheduler
from ..._pause import kinds_words
from .store_metrics import metrics
from .store_state import detail_json, state_json
from .watcher import Watcher


class StoreBoard:
    """What a scheduler has and does; listens to it until it is closed, before the scheduler is."""

    name: Final = "store"

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._watcher = Watcher(scheduler)
        self.changes: Mapping[str, Callable[[str], str]] = {
            "cancel": self._cancel,
            "pause": self._pause,
            "pause-kinds": self._pause_kinds,
            "resume": self._resume,
            "resume-kinds": self._resume_kinds,
            "retry": self._retry,
            "run": self._run,
        }

    def state(self, _: Mapping[str, str]) -> dict[str, Any]:
        """Everything; a reader has nothing to choose."""
        return state_json(self._scheduler, self._watcher)

    def detail(self, id: str) -> dict[str, Any]:
        """One task's part: why it does not run, in full, and where its time went."""
        return detail_json(self._scheduler, self._watcher, id)

    def metrics(self) -> str:
        """What Prometheus is told."""
        return metrics(self._scheduler, self._watcher)

    def close(self) -> None:
        """Listens no more."""
        self._watcher.close()

    def _cancel(self, id: str) -> str:
        count = self._scheduler.cancel(id)
        return f"cancelled {count} {'task' if count == 1 else 'tasks'}"

    def _pause(self, id: str) -> str:
        self._scheduler.pause(id)
        return f"paused {id}"

    def _pause_kinds(self, id: str) -> str:
        kinds, pool = _kinds_and_pool(id)
        self._scheduler.pause(kinds=kinds, pool=pool)
        return f"paused {kinds_words(kinds, pool)}"

    def _resume_kinds(self, id: str) -> str:
        kinds, pool = _kinds_and_pool(id)
        self._scheduler.resume(kinds=kinds, pool=pool)
        return f"resumed {kinds_words(kinds, pool)}"

    def _resume(self, id: str) -> str:
        self._scheduler.resume(id)
        return f"resumed {id}"

    def _retry(self, id: str) -> str:
        self._scheduler.retry(id)
        return f"enqueued {id} again"

    def _run(self, id: str) -> str:
        return f"began {id}" if self._scheduler.run_now(id) else f"{id} is due now"


def _kinds_and_pool(id: str) -> tuple[list[Kind], str | None]:
    """What `refresh,processing` names, or `refresh POOL`."""
    kinds, _, pool = id.partition(" ")
    return [Kind.of(kind, "kinds") for kind in kinds.split(",")], pool or None
