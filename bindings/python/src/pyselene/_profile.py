"""Profiles: what a governor demands before it grants a window."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass, field

from . import _raw
from ._names import Named, said, truth
from ._signal import Signal
from ._terms import Kinds, kind_bits
from ._time import Duration, duration_ns, show


class Factor(Named):
    """What a profile can ask for; 1 to 19 look at the signal of the same number."""

    BATTERY = _raw.SELENE_FACTOR_BATTERY
    EXTERNAL_POWER = _raw.SELENE_FACTOR_EXTERNAL_POWER
    LOW_POWER_MODE = _raw.SELENE_FACTOR_LOW_POWER_MODE
    THERMAL = _raw.SELENE_FACTOR_THERMAL
    USER_ACTIVE = _raw.SELENE_FACTOR_USER_ACTIVE
    DISPLAY_ON = _raw.SELENE_FACTOR_DISPLAY_ON
    UNLOCKED = _raw.SELENE_FACTOR_UNLOCKED
    NETWORK = _raw.SELENE_FACTOR_NETWORK
    METERED = _raw.SELENE_FACTOR_METERED
    AIRPLANE = _raw.SELENE_FACTOR_AIRPLANE
    BACKGROUND_SWITCH = _raw.SELENE_FACTOR_BACKGROUND_SWITCH
    HOST_PRESENCE = _raw.SELENE_FACTOR_HOST_PRESENCE
    CPU_BUSY = _raw.SELENE_FACTOR_CPU_BUSY
    CPU_PRESSURE = _raw.SELENE_FACTOR_CPU_PRESSURE
    MEMORY_PRESSURE = _raw.SELENE_FACTOR_MEMORY_PRESSURE
    MEMORY_STALLED = _raw.SELENE_FACTOR_MEMORY_STALLED
    IO_PRESSURE = _raw.SELENE_FACTOR_IO_PRESSURE
    IO_STALLED = _raw.SELENE_FACTOR_IO_STALLED
    STORAGE_FREE = _raw.SELENE_FACTOR_STORAGE_FREE
    BUDGET = _raw.SELENE_FACTOR_BUDGET
    RATE = _raw.SELENE_FACTOR_RATE
    USE_PREDICTION = _raw.SELENE_FACTOR_USE_PREDICTION
    RECENT_USE = _raw.SELENE_FACTOR_RECENT_USE

    @property
    def signal(self) -> Signal | None:
        """The signal that it looks at; None for the governor's own books."""
        return Signal(self) if self <= Factor.STORAGE_FREE else None

    @property
    def is_time(self) -> bool:
        """Whether it counts in time: requirements are durations, findings have nanoseconds."""
        return self in (Factor.RATE, Factor.RECENT_USE)

    @property
    def at_least(self) -> bool:
        """Whether more is better; else less is."""
        return self in _AT_LEAST

    def text(self, value: int) -> str:
        """A value of it for reading.

        >>> Factor.RATE.text(90 * 10**9), Factor.BATTERY.text(200), Factor.USE_PREDICTION.text(617)
        ('1 min 30 s', '20 %', '61.7 %')
        """
        if self.is_time:
            return "never" if value == _raw.SELENE_NEVER else show(value)
        return Signal.CPU_BUSY.text(value) if self.signal is None else self.signal.text(value)


_AT_LEAST = frozenset({
    Factor.BATTERY, Factor.EXTERNAL_POWER, Factor.UNLOCKED, Factor.NETWORK, Factor.BACKGROUND_SWITCH,
    Factor.STORAGE_FREE, Factor.RATE, Factor.USE_PREDICTION,
})  # fmt: skip


class BuiltIn(Named):
    """The profiles that come with the library; docs/governor.md has their tables."""

    OPEN = _raw.SELENE_PROFILE_OPEN
    APPLE = _raw.SELENE_PROFILE_APPLE
    SERVER = _raw.SELENE_PROFILE_SERVER
    STRICT = _raw.SELENE_PROFILE_STRICT


class Mode(Named):
    """What a rule does with a factor."""

    IGNORE = _raw.SELENE_RULE_IGNORE
    VETO = _raw.SELENE_RULE_VETO
    WEIGHT = _raw.SELENE_RULE_WEIGHT


class Measure(Named):
    """What a quota counts; CPU time and bytes are those that were reported."""

    WINDOW_TIME = _raw.SELENE_MEASURE_WINDOW_TIME
    CPU_TIME = _raw.SELENE_MEASURE_CPU_TIME
    WINDOWS = _raw.SELENE_MEASURE_WINDOWS
    BYTES = _raw.SELENE_MEASURE_BYTES


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of a profile's table.

    - `mode`: a veto refuses what does not meet the requirement; a weight (1 … 1000) lets the observation's score count.
    - `required`: the last value that still passes, in the factor's unit: per mille, 0 or 1, a level; seconds or a
      timedelta for rate and recent_use. None: what the built-in profiles require.
    - `preempts`: a new veto stops runs in flight; only for vetoes of signals.

    >>> Rule("cpu_busy", mode="veto", required=700, preempts=True).factor
    <Factor.CPU_BUSY: 13>
    """

    factor: Factor | str
    kinds: Kinds = ("refresh", "processing")
    mode: Mode | str = field(default=Mode.VETO, kw_only=True)
    required: Duration | None = field(default=None, kw_only=True)
    weight: int = field(default=100, kw_only=True)
    preempts: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Judges the types; ranges are judged by the engine."""
        put = object.__setattr__
        put(self, "factor", Factor.of(self.factor, "factor"))
        put(self, "mode", Mode.of(self.mode, "mode"))
        kind_bits(self.kinds)
        truth(self.preempts, "preempts")
        _number(self.weight, "weight")
        self._required()

    def _required(self) -> int:
        if self.required is None:
            return _raw.SELENE_REQUIRED_USUAL
        if Factor.of(self.factor, "factor").is_time:
            return duration_ns(self.required, "required")
        return _number(self.required, "required")


@dataclass(frozen=True, slots=True)
class Quota:
    """How much a kind may use in any period of a length: seconds of window or CPU time, windows, or bytes.

    >>> Quota("refresh", "window_time", limit=600, period=7200).measure
    <Measure.WINDOW_TIME: 1>
    """

    kinds: Kinds
    measure: Measure | str
    limit: Duration
    period: Duration

    def __post_init__(self) -> None:
        """Judges the types and the limit; other ranges are judged by the engine."""
        object.__setattr__(self, "measure", Measure.of(self.measure, "measure"))
        kind_bits(self.kinds)
        duration_ns(self.period, "period")
        self._limit()

    def _limit(self) -> int:
        # The engine's text would have a time in nanoseconds, and could not be told from a number of windows.
        timed = self.measure in (Measure.WINDOW_TIME, Measure.CPU_TIME)
        limit = duration_ns(self.limit, "limit") if timed else _number(self.limit, "limit")
        if limit <= 0:
            raise ValueError(f"limit is {self.limit}; allowed: more than 0")
        return limit


@dataclass(frozen=True, slots=True)
class Profile:
    """A built-in profile and what differs from it.

    - `threshold`: the least weighted score that grants, per mille; None: the base's.
    - `rules`: rows that replace the base's; the last for a factor and a kind wins.
    - `quotas`: if any, in place of all of the base's; at most 4 for each kind.

    >>> Profile("apple", rules=[Rule("external_power", "processing")]).base
    <BuiltIn.APPLE: 1>
    """

    base: BuiltIn | str = BuiltIn.OPEN
    threshold: int | None = None
    rules: Iterable[Rule] = field(default=(), kw_only=True)
    quotas: Iterable[Quota] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Judges the types; ranges are judged by the engine."""
        put = object.__setattr__
        put(self, "base", BuiltIn.of(self.base, "base"))
        put(self, "rules", tuple(self.rules))
        put(self, "quotas", tuple(self.quotas))
        for what, items, kind in (("rules", self.rules, Rule), ("quotas", self.quotas, Quota)):
            for item in items:
                if not isinstance(item, kind):
                    raise TypeError(f"{what} must hold {kind.__name__}, not {type(item).__name__}")
        if self.threshold is not None:
            _number(self.threshold, "threshold")
            if self.threshold < 0:
                raise ValueError(f"threshold is {self.threshold}; allowed: 0 … 1000, or None")

    @classmethod
    def of(cls, value: Profile | BuiltIn | str) -> Profile:
        """The profile that a parameter means."""
        return value if isinstance(value, cls) else cls(BuiltIn.of(value, "profile"))


def raw_profile(profile: Profile) -> tuple[_raw.selene_profile, object]:
    """The structure of a profile, and what must live as long as it."""
    raw = _raw.selene_profile()
    raw.struct_size = ctypes.sizeof(raw)
    raw.base = profile.base
    if profile.threshold is not None:
        raw.threshold = said(_fits(profile.threshold, "threshold", 32))
    found = [
        _raw.selene_rule(
            int(Factor.of(rule.factor, "factor")),
            kind_bits(rule.kinds),
            int(Mode.of(rule.mode, "mode")),
            _raw.SELENE_RULE_PREEMPTS if rule.preempts else 0,
            rule.weight if rule.mode is Mode.WEIGHT else 0,
            rule._required(),
        )
        for rule in profile.rules
    ]
    quotas = [
        _raw.selene_quota(
            kind_bits(quota.kinds), int(Measure.of(quota.measure, "measure")), quota._limit(),
            duration_ns(quota.period, "period"),
        )
        for quota in profile.quotas
    ]  # fmt: skip
    rows, limits = (_raw.selene_rule * len(found))(*found), (_raw.selene_quota * len(quotas))(*quotas)
    if found:
        raw.rules, raw.rule_count = rows, len(found)
    if quotas:
        raw.quotas, raw.quota_count = limits, len(quotas)
    return raw, (rows, limits)


def _number(value: object, what: str) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {type(value).__name__}")
    return _fits(int(value), what, 64)


def _fits(value: int, what: str, bits: int) -> int:
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise ValueError(f"{what} is beyond what can be counted: {value}")
    return value
