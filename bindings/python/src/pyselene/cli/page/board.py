"""What a page shows and changes: of a store, or of a fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol


class Unanswered(Exception):
    """What was asked for is not to be had, with the status of HTTP that says so."""

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.status = status


class Board(Protocol):
    """Something that a page is of. Calls come from any thread, those that look one at a time."""

    @property
    def name(self) -> str:
        """That of its files: NAME.html, what is inside the page, and NAME.js, which fills it."""

    @property
    def changes(self) -> Mapping[str, Callable[[str], str]]:
        """What may be done, by verb: of an id, what was done in words."""

    def state(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """Everything of the page but one task's own part; `asked` is what the reader chose to see."""

    def detail(self, id: str) -> dict[str, Any]:
        """One task's part."""

    def metrics(self) -> str:
        """What Prometheus is told."""

    def close(self) -> None:
        """Lets go of what it shows."""
