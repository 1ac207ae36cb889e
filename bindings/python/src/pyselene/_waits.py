"""Where the time of a task went."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from . import _raw
from ._conditions import Constraint
from ._explanation import SENTENCES, ReasonCode
from ._library import fast, read, read_array, text
from ._profile import Factor
from ._terms import State
from ._time import instant, seconds, show

About = Constraint | Factor | str | None
#: How wide a picture is.
_WIDTH = 40


def _about(code: ReasonCode, detail: int, name: str) -> About:
    """What a reason is about."""
    if name:
        return name
    if code is ReasonCode.CONSTRAINTS:
        return Constraint(detail)
    return Factor(detail) if code is ReasonCode.GOVERNOR and detail else None


def _words(code: ReasonCode, about: About) -> str:
    return SENTENCES[code] if about is None else f"{SENTENCES[code]}: {about}"


@dataclass(frozen=True, slots=True)
class WaitPart:
    """How much of a task's time went to one reason."""

    code: ReasonCode
    #: The constraint that was missing, or what the governor refused for; the name of the host's condition that was
    #: missing, of the group, or the id that it waits for; None where that says nothing, or is not known any more.
    about: About
    duration_ns: int
    #: How often it began; for the reasons of windows in how many of them.
    times: int

    @property
    def duration(self) -> float:
        """In seconds."""
        return seconds(self.duration_ns)

    def __str__(self) -> str:
        return _words(self.code, self.about)


@dataclass(frozen=True, slots=True)
class WaitChange:
    """From an instant on a task waited for a reason."""

    at_ns: int
    code: ReasonCode
    about: About

    @property
    def at(self) -> datetime:
        """When."""
        return instant(self.at_ns)

    def __str__(self) -> str:
        return f"{self.at.isoformat(sep=' ', timespec='milliseconds')}  {_words(self.code, self.about)}"


@dataclass(frozen=True, slots=True)
class Waits:
    """Where the time of a task went since it was last due, or registered; `print` it.

    The durations of `parts` add up to `until_ns - since_ns`.
    """

    id: str
    state: State
    since_ns: int
    until_ns: int
    parts: tuple[WaitPart, ...]
    #: The last 30 changes of reason, the oldest first.
    changes: tuple[WaitChange, ...]
    #: How many dispatches of others went before it in windows that it fitted.
    preferred: int
    #: The ids of the last of them, the latest first, at most 8.
    preferred_ids: tuple[str, ...]

    @property
    def since(self) -> datetime:
        """From when on."""
        return instant(self.since_ns)

    @property
    def until(self) -> datetime:
        """Until when: now, or the end of the task."""
        return instant(self.until_ns)

    @property
    def total_ns(self) -> int:
        """The time that is told."""
        return self.until_ns - self.since_ns

    def spent(self, code: ReasonCode, about: About = None) -> float:
        """How many seconds went to a reason; to one constraint, factor or name of it, if that is given."""
        found = (part for part in self.parts if part.code is code and about in (None, part.about))
        return seconds(sum(part.duration_ns for part in found))

    def __str__(self) -> str:
        since = self.since.isoformat(sep=" ", timespec="seconds")
        lines = [f"{self.id} is {self.state}; of the {show(self.total_ns)} since {since}"]
        longest = max((part.duration_ns for part in self.parts), default=0)
        for part in sorted(self.parts, key=lambda part: -part.duration_ns):
            times = f" ({part.times} times)" if part.times > 1 else ""
            share = 100 * part.duration_ns / max(1, self.total_ns)
            picture = bar(part.duration_ns, longest, _WIDTH)
            lines.append(f"  {show(part.duration_ns):>10} {share:5.1f} % {picture:<{_WIDTH}}  {part}{times}")
        if self.preferred:
            shown = ", ".join(self.preferred_ids)
            lines.append(f"  {self.preferred} runs went before it{f', the last of {shown}' if shown else ''}")
        return "\n".join(lines)


def bar(length: int, longest: int, width: int) -> str:
    """A bar of text; what is more than nothing is seen.

    >>> [bar(n, 100, 8) for n in (0, 1, 50, 100)]
    ['', '▏', '████', '████████']
    """
    if length <= 0 or longest <= 0:
        return ""
    whole, rest = divmod(max(1, length * width * 8 // longest), 8)
    return "█" * whole + " ▏▎▍▌▋▊▉"[rest].strip()


def take_waits(key: str, address: int) -> Waits:
    """Reads an answer of the library and ends it."""
    try:
        _, _, since, until, state, _, parts, at_parts, changes, at_changes, preferred, names, at_names = read(
            _raw.selene_waits, address
        )
        return Waits(
            key,
            State(state),
            since,
            until,
            tuple(
                WaitPart(ReasonCode(code), _about(ReasonCode(code), detail, text(*name)), duration, times)
                for *name, code, _, detail, duration, times in read_array(_raw.selene_wait, at_parts, parts)
            ),
            tuple(
                WaitChange(at, ReasonCode(code), _about(ReasonCode(code), detail, text(*name)))
                for *name, at, detail, code, _ in read_array(_raw.selene_wait_change, at_changes, changes)
            ),
            preferred,
            tuple(text(*item) for item in read_array(_raw.selene_text, at_names, names)),
        )
    finally:
        fast.selene_free(address)
