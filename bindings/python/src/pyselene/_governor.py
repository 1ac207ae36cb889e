"""The governor: grants or refuses windows, and says why; its ledger, its habits."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from . import _raw
from ._decision import Decision, take_decision
from ._library import layout, library, out_pointer, read_array
from ._names import truth, whole
from ._profile import BuiltIn, Profile, raw_profile
from ._run import Kind
from ._time import Duration, duration_ns, instant, instant_ns, maybe_instant, never_is_none, seconds

if TYPE_CHECKING:
    from ._engine import Engine

#: The library gives no more.
_MOST_WINDOWS = 64


@dataclass(frozen=True, slots=True)
class Balance:
    """What the ledger says of a kind.

    `spent`: a quota is. `used`: of the fullest quota, per mille of its limit. `free`: window time that is left; None:
    no limit. `free_at`: when no quota is spent any more if nothing else is used. `last_begin`: when the kind's last
    booked window began.
    """

    spent: bool
    used: int
    free_ns: int | None
    free_at_ns: int | None
    last_begin_ns: int | None

    @property
    def free(self) -> float | None:
        """Seconds of window time that are left; None: no limit."""
        return None if self.free_ns is None else seconds(self.free_ns)

    @property
    def free_at(self) -> datetime | None:
        """When no quota is spent any more if nothing else is used."""
        return maybe_instant(self.free_at_ns)

    @property
    def last_begin(self) -> datetime | None:
        """When the kind's last booked window began."""
        return maybe_instant(self.last_begin_ns)


@dataclass(frozen=True, slots=True)
class ForecastWindow:
    """One of the likely next windows.

    `probability`, per mille: that it meets what its kind is for. The host is used in this hour (refresh), or is not
    (processing); 500 while nothing is known.
    """

    begins_at_ns: int
    ends_at_ns: int
    probability: int

    @property
    def begins_at(self) -> datetime:
        """When it begins."""
        return instant(self.begins_at_ns)

    @property
    def ends_at(self) -> datetime:
        """When it ends."""
        return instant(self.ends_at_ns)


class Governor:
    """The governor of a scheduler. Its decisions bind a driver and whoever asks, never run_cycle() or begin().

    >>> import pyselene as selene
    >>> scheduler = selene.Scheduler()
    >>> scheduler.governor.profile = "apple"
    >>> scheduler.signals.set("background_switch", False)
    >>> decision = scheduler.governor.decide("refresh")
    >>> decision.granted, decision.vetoes[0].factor
    (False, <Factor.BACKGROUND_SWITCH: 11>)
    >>> decision.why
    'background_switch is no, yes is required'
    >>> scheduler.governor.last("refresh") == decision
    True
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def profile(self) -> Profile:
        """What it demands; takes a Profile or the name of a built-in one. Opens as "open", which grants everything."""
        return self._engine.profile

    @profile.setter
    def profile(self, value: Profile | BuiltIn | str) -> None:
        profile = Profile.of(value)
        raw, _keep = raw_profile(profile)
        engine = self._engine
        engine.check(engine.calls.selene_governor_set_profile(engine.handle, ctypes.byref(raw)))
        engine.profile = profile

    def set_profile(self, profile: Profile | BuiltIn | str) -> None:
        """The same as a call. InvalidArgument names what is wrong in it; it is not kept in the store."""
        self.profile = profile

    def decide(self, kind: Kind | str, *, never_ran: bool = False) -> Decision:
        """Whether a kind deserves a window now, and why; reads the system's signals first, opens nothing.

        `never_ran`: for a task that never ran, which may use the reserve of the budgets.
        """
        flags = _raw.SELENE_ASK_NEVER_RAN if truth(never_ran, "never_ran") else 0
        address, target = out_pointer(_raw.selene_decision)
        engine = self._engine
        engine.check(library.selene_governor_ask(engine.handle, Kind.of(kind, "kind"), flags, ctypes.byref(target)))
        return take_decision(address.value or 0)

    def last(self, kind: Kind | str) -> Decision | None:
        """The last decision about a kind, of decide() or of the driver; None: there was none since the opening."""
        address, target = out_pointer(_raw.selene_decision)
        engine = self._engine
        status = engine.calls.selene_governor_last(engine.handle, Kind.of(kind, "kind"), ctypes.byref(target))
        if status == _raw.SELENE_ERROR_NOT_FOUND:
            return None
        engine.check(status)
        return take_decision(address.value or 0)

    def forecast(self, kind: Kind | str, n: int = 8) -> tuple[ForecastWindow, ...]:
        """The hours in which a window would be granted if nothing but the time changed; at most 64, of 14 days.

        Empty while a veto stands that only a signal can lift.
        """
        capacity = min(whole(n, "n"), _MOST_WINDOWS)
        found, count = (_raw.selene_forecast * max(capacity, 1))(), ctypes.c_uint64()
        engine = self._engine
        status = library.selene_governor_forecast(
            engine.handle, Kind.of(kind, "kind"), found, capacity, ctypes.byref(count)
        )
        engine.check(status)
        return tuple(
            ForecastWindow(*row) for row in read_array(_raw.selene_forecast, ctypes.addressof(found), count.value)
        )

    def balance(self, kind: Kind | str) -> Balance:
        """What a kind has used in the last 24 hours and may still use by the present profile."""
        raw = _raw.selene_balance(ctypes.sizeof(_raw.selene_balance))
        engine = self._engine
        engine.check(engine.calls.selene_ledger_get(engine.handle, Kind.of(kind, "kind"), ctypes.byref(raw)))
        _, _, spent, used, free, free_at, last_begin = layout(_raw.selene_balance).unpack_from(raw)
        return Balance(bool(spent), used, never_is_none(free), never_is_none(free_at), never_is_none(last_begin))

    def report(self, kind: Kind | str, cpu_time: Duration = 0, bytes: int = 0) -> None:
        """Says what a kind used besides time; it counts for the kind's last window. Also inside a handler."""
        engine = self._engine
        status = engine.calls.selene_ledger_report(
            engine.handle, Kind.of(kind, "kind"), duration_ns(cpu_time, "cpu_time"), whole(bytes, "bytes", 1 << 63)
        )
        engine.check(status)

    def used(self, began: datetime | None = None, ended: datetime | None = None) -> None:
        """Reports that the host was used, now or at another time; hours of use make the forecast."""
        engine = self._engine
        now = engine.now_ns()
        ended_at = now if ended is None else instant_ns(ended, "ended")
        began_at = ended_at if began is None else instant_ns(began, "began")
        engine.check(engine.calls.selene_use_report(engine.handle, began_at, ended_at))

    def __repr__(self) -> str:
        return f"<Governor: {self.profile.base}{', changed' if self.profile != Profile(self.profile.base) else ''}>"
