"""The text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, Labels, float]


class Exposition:
    """What is told, family by family."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def tell(self, name: str, kind: str, about: str, samples: Iterable[Sample]) -> None:
        """A family with its samples: what their names have behind the family's, labels, value."""
        self._lines.append(f"# HELP {name} {about}")
        self._lines.append(f"# TYPE {name} {kind}")
        self._lines.extend(f"{name}{suffix}{_labels(labels)} {value:.17g}" for suffix, labels, value in samples)

    def tell_one(self, name: str, kind: str, about: str, value: float) -> None:
        """A family of one number."""
        self.tell(name, kind, about, [("", (), value)])

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    written = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{written}}}"


def _escaped(value: str) -> str:
    r"""A label's value as the format has it.

    >>> print(_escaped('a"b'))
    a\"b
    """
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
