"""Conditions of the system that tasks may ask for."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any, Literal, TypeAlias

from . import _raw
from ._library import fast, out_pointer, read, read_array, text

_ALLOWED = "network, power, unmetered, battery_not_low, idle, storage_not_low, display_off, not_roaming"


class Constraint(IntFlag):
    """Conditions as bits; `requires=` also takes their names.

    They look at the signals of the governor: what the host sets with `signals.set`, else what the system says. Each is
    satisfied while nothing is known of it, as on a machine without a battery or a display (`Explanation.unknown`).

    >>> Constraint.of({"network", "power"})
    <Constraint.NETWORK|EXTERNAL_POWER: 3>
    >>> str(Constraint.of("network"))
    'network'
    >>> Constraint.of(["unmetered", "battery not low"])
    <Constraint.UNMETERED|BATTERY_NOT_LOW: 12>
    """

    NETWORK = _raw.SELENE_CONSTRAINT_NETWORK
    EXTERNAL_POWER = _raw.SELENE_CONSTRAINT_EXTERNAL_POWER
    #: A network that does not cost by volume; only the host knows (`Signal.METERED`).
    UNMETERED = _raw.SELENE_CONSTRAINT_UNMETERED
    #: No battery is being emptied, or 20 % of it are left.
    BATTERY_NOT_LOW = _raw.SELENE_CONSTRAINT_BATTERY_NOT_LOW
    #: Nobody works at the machine.
    IDLE = _raw.SELENE_CONSTRAINT_IDLE
    #: 5 % of the store's file system are free.
    STORAGE_NOT_LOW = _raw.SELENE_CONSTRAINT_STORAGE_NOT_LOW
    DISPLAY_OFF = _raw.SELENE_CONSTRAINT_DISPLAY_OFF
    #: A network that is not another operator's; only the host knows (`Signal.ROAMING`).
    NOT_ROAMING = _raw.SELENE_CONSTRAINT_NOT_ROAMING

    @classmethod
    def of(cls, value: Constraint | str | Iterable[Constraint | str], what: str = "requires") -> Constraint:
        """The bits that a parameter means: members, names ("power" is external power), or several of them."""
        if isinstance(value, Constraint):
            return value
        items: Iterable[object] = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else value
        result = Constraint(0)
        for item in items:
            if isinstance(item, Constraint):
                result |= item
            elif isinstance(item, str):
                name = {"power": "EXTERNAL_POWER"}.get(item.lower(), item.upper().replace("-", "_").replace(" ", "_"))
                if name not in cls.__members__:
                    raise ValueError(f"{what} has {item!r}; allowed: {_ALLOWED}")
                result |= cls[name]
            else:
                raise TypeError(f"{what} must hold Constraint or names, not {type(item).__name__}")
        return result

    def __str__(self) -> str:
        return ", ".join((member.name or "").lower() for member in Constraint if member in self) or "none"


ConstraintName: TypeAlias = Literal[
    "network", "power", "external_power", "unmetered", "battery_not_low", "idle", "storage_not_low", "display_off",
    "not_roaming",
]  # fmt: skip
#: What `requires=` takes.
Requires: TypeAlias = Constraint | ConstraintName | Iterable[Constraint | ConstraintName]


@dataclass(frozen=True, slots=True)
class Conditions:
    """Which constraints are satisfied now, and for which of them the host has set the signal.

    `named` has the conditions that the host defined, or that tasks ask for: None where one is not defined.
    """

    satisfied: Constraint
    host: Constraint
    named: Mapping[str, bool | None] = field(default_factory=dict)


def names_of(engine: Any, function: Any, *arguments: Any) -> list[str]:
    """The names that a function of the library lists."""
    address, target = out_pointer(_raw.selene_task_ids)
    engine.check(function(engine.handle, *arguments, ctypes.byref(target)))
    try:
        _, _, count, names = read(_raw.selene_task_ids, address.value or 0)
        return [text(*item) for item in read_array(_raw.selene_text, names, count)]
    finally:
        fast.selene_free(target)
