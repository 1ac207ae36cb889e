"""Tables of a TOML text while they are read: what is wrong, or not asked for, is refused with its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn, TypeVar, cast

from .._keywords import ELSEWHERE, nearest
from . import duration
from .locate import Path, find
from .problem import WorkloadProblem, printable

LONGEST: Final = 3650 * duration.DAY
_LONGEST: Final = 60
"""Characters of a text that a message shows."""

_T = TypeVar("_T")
_D = TypeVar("_D")


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text and what it is called in messages."""

    path: str
    text: str


class Table:
    """A table while it is read: knows where it is, and which keys were asked for."""

    def __init__(self, file: Text, path: Path, values: object) -> None:
        self.file, self.path = file, path
        self.asked: list[str] = []
        if not isinstance(values, Mapping):
            self.refuse(None, f"found {_named(values)}; allowed is a table")
        self.values: Mapping[str, object] = values

    def refuse(self, key: str | None, message: str, *index: int, value: bool = True) -> NoReturn:
        """Tells that something here, or the whole table, is wrong."""
        path = self.path if key is None else (*self.path, key, *index)
        place = find(self.file.text, path, value=value)
        raise WorkloadProblem(self.file.path, self.file.text, place.line, place.column, message)

    def refuse_value(self, key: str, allowed: str, *index: int) -> NoReturn:
        """Tells what a value is and what it may be."""
        found = self.values[key]
        for step in index:
            found = cast("list[object]", found)[step]
        self.refuse(key, f"found the {key} {shown(found)}; allowed is {allowed}", *index)

    def has(self, key: str) -> bool:
        """Whether a key is there; it is known from now on."""
        self.asked.append(key)
        return key in self.values

    def optional(self, key: str, read: Callable[[str], _T], default: _D) -> _T | _D:
        """What `read` makes of a value; the default if it is not there."""
        return read(key) if self.has(key) else default

    def end(self) -> None:
        """Refuses the keys that were not asked for."""
        for key in self.values:
            if key not in self.asked:
                elsewhere = ELSEWHERE.get(key)
                if elsewhere in self.asked:
                    allowed = f'"{elsewhere}", as it is called here'
                else:
                    allowed = ", ".join(self.asked) + self._meant(key)
                self.refuse(key, f"found the key {shown(key)}; allowed is {allowed}", value=False)

    def _meant(self, key: str) -> str:
        """The key that was probably meant."""
        near = nearest(key, self.asked)
        return f'; did you mean "{near}"?' if near else ""

    def text(self, key: str) -> str:
        """A text."""
        value = self.values[key]
        if not isinstance(value, str):
            self.refuse_value(key, "text")
        if "\0" in value:
            self.refuse(key, f"found a NUL in the {key} {shown(value)}; allowed is text without NUL")
        return value

    def truth(self, key: str) -> bool:
        """True or false."""
        value = self.values[key]
        if not isinstance(value, bool):
            self.refuse_value(key, "true or false")
        return value

    def choice(self, names: Collection[str]) -> Callable[[str], str]:
        """A reader of one of these names."""

        def read(key: str) -> str:
            value = self.values[key]
            if not isinstance(value, str) or value not in names:
                self.refuse_value(key, ", ".join(names))
            return value

        return read

    def choices(self, names: Mapping[str, str]) -> Callable[[str], tuple[str, ...]]:
        """A reader of one or several of these names; gives what they stand for."""

        def read(key: str) -> tuple[str, ...]:
            values = self.values[key]
            if isinstance(values, str) and values in names:
                return (names[values],)
            if not isinstance(values, list):
                self.refuse_value(key, "a list of " + ", ".join(names))
            for index, value in enumerate(values):
                if not isinstance(value, str) or value not in names:
                    self.refuse_value(key, ", ".join(names), index)
            return tuple(dict.fromkeys(names[value] for value in values))

        return read

    def number(self, least: int, greatest: int) -> Callable[[str], int]:
        """A reader of a whole number."""

        def read(key: str) -> int:
            value = self.values[key]
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= greatest:
                self.refuse_value(key, f"a number from {least} to {greatest}")
            return value

        return read

    def part(self, greatest: float) -> Callable[[str], float]:
        """A reader of a number from 0."""

        def read(key: str) -> float:
            value = self.values[key]
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= greatest:
                self.refuse_value(key, f"a number from 0 to {greatest:g}")
            return float(value)

        return read

    def duration(self, least: int = 0, greatest: int = LONGEST) -> Callable[[str], int]:
        """A reader of a length of time, in ns."""

        def read(key: str) -> int:
            value = self.values[key]
            result = None
            if isinstance(value, str):
                try:
                    result = duration.read(value)
                except ValueError:
                    pass
            elif isinstance(value, int) and not isinstance(value, bool):
                result = value * duration.SECOND
            elif isinstance(value, float) and 0 <= value < 1e10:
                result = round(value * duration.SECOND)
            if result is None:
                self.refuse_value(key, duration.ALLOWED)
            if not least <= result <= greatest:
                self.refuse_value(key, f"{duration.write(least)} to {duration.write(greatest)}")
            return result

        return read


def _named(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    return shown(value)


def wrong_name(what: str, name: object) -> str:
    """What is wrong with an id or a tag; nothing: ""."""
    allowed = "allowed are 1 to 255 bytes"
    if not isinstance(name, str):
        return f"found the {what} {shown(name)}; {allowed} of text"
    if "\0" in name:
        return f"found a NUL in the {what} {shown(name)}; {allowed} without NUL"
    length = len(name.encode())
    if length > 255:
        return f"found the {what} {shown(name)} of {length} bytes; {allowed}"
    return "" if name else f'found the {what} ""; {allowed}'


def shown(value: object) -> str:
    """A value as a message shows it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{printable(value if len(value) <= _LONGEST else value[: _LONGEST - 3] + "...")}"'
    if isinstance(value, Mapping):
        return "a table"
    return str(value)
