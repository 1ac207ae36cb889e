"""What the enumerations have in common: a parameter takes a member, its name, or its number."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, Self

from . import _raw
from ._errors import InvalidArgument
from ._fault import Fault


class Named(IntEnum):
    """Numbers of the library with the library's names."""

    @classmethod
    def of(cls, value: object, what: str) -> Self:
        """The member that a parameter means."""
        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            member = cls.__members__.get(value.upper().replace("-", "_").replace(" ", "_"))
            if member is not None:
                return member
        elif isinstance(value, int) and not isinstance(value, (bool, IntEnum)):
            try:
                return cls(value)
            except ValueError:
                pass
        else:
            raise TypeError(f"{what} must be a {cls.__name__} or its name, not {type(value).__name__}")
        raise ValueError(f"{what} is {value!r}; allowed: {', '.join(str(member) for member in cls)}")

    def __str__(self) -> str:
        return self.name.lower()

    # A type checker says that a text is no member, and goes by the usual comparison elsewhere.
    if not TYPE_CHECKING:

        def __eq__(self, other):
            """Also the name that str() gives, as every parameter takes it."""
            return str(self) == other if isinstance(other, str) else int.__eq__(self, other)

        def __ne__(self, other):
            """The opposite, also for texts."""
            return not self == other

        __hash__ = int.__hash__


def truth(value: bool, what: str) -> bool:
    """The value of a parameter that is True or False, and not something that only counts as it."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be a bool, not {type(value).__name__}")
    return value


def said(number: int) -> int:
    """A number for a field of the library whose 0 is a default that is not 0."""
    return number or _raw.SELENE_NONE


def above_zero(number: int, what: str, allowed: str) -> int:
    """A number for a field of the library whose 0 is its default, but that may not be 0."""
    if number:
        return number
    text = f"{what}: 0 is out of range, allowed are {allowed}"
    raise InvalidArgument(_raw.SELENE_ERROR_INVALID_ARGUMENT, "INVALID_ARGUMENT", text, Fault(what, 0, allowed))


def whole(value: int, what: str, limit: int = 1 << 64) -> int:
    """A whole number from 0 to below a limit."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {type(value).__name__}")
    if not 0 <= value < limit:
        raise ValueError(f"{what} is {value}; allowed: 0 … {limit - 1}")
    return value


def texts(value: str | Iterable[str], what: str) -> tuple[str, ...]:
    """The texts of a parameter that takes several; a single str is one of them, not its letters."""
    if not isinstance(value, Iterable):
        raise TypeError(f"{what} must be a str or several, not {type(value).__name__}")
    found = (value,) if isinstance(value, str) else tuple(value)
    for item in found:
        if not isinstance(item, str):
            raise TypeError(f"{what} must hold str, not {type(item).__name__}")
    return found
