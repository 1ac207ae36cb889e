"""Decisions of the governor: granted or refused, and for each factor why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from . import _raw
from ._library import fast, read, read_array
from ._names import Named
from ._profile import Factor
from ._report import table
from ._run import Kind
from ._signal import Source
from ._time import instant, maybe_instant, never_is_none, seconds, show


class Verdict(Named):
    """What became of a factor: a veto that is not raised, one that refuses, a weight."""

    PASSED = _raw.SELENE_VERDICT_PASSED
    VETOED = _raw.SELENE_VERDICT_VETOED
    WEIGHED = _raw.SELENE_VERDICT_WEIGHED


@dataclass(frozen=True, slots=True)
class Finding:
    """One factor of a decision.

    `observed` and `required` are in the factor's unit: per mille, 0 or 1, a level; ns for rate and recent_use. `score`
    (0 … 1000) and `weight` are for weights. `clears_at` is the earliest instant at which it can be better; None: when a
    signal changes.
    """

    factor: Factor
    verdict: Verdict
    source: Source
    preempts: bool
    observed: int
    required: int
    score: int
    weight: int
    clears_at_ns: int | None

    @property
    def clears_at(self) -> datetime | None:
        """When it can be better by time alone."""
        return maybe_instant(self.clears_at_ns)

    def __str__(self) -> str:
        factor = self.factor
        needed = f"{'at least' if factor.at_least else 'at most'} {factor.text(self.required)}"
        if factor is Factor.BUDGET:
            needed = "less than all"
        elif factor.signal is not None and not factor.signal.unit:
            needed = factor.text(self.required)
        return f"{factor} is {factor.text(self.observed)}, {needed} is {'wanted' if self.weight else 'required'}"


@dataclass(frozen=True, slots=True)
class Decision:
    """A grant or a refusal of a window, with its reasons; true if granted, and `print` shows a table."""

    kind: Kind
    granted: bool
    at_ns: int
    score: int
    threshold: int
    longest_window_ns: int | None
    ask_again_at_ns: int | None
    findings: tuple[Finding, ...]

    @property
    def at(self) -> datetime:
        """When it was made."""
        return instant(self.at_ns)

    @property
    def longest_window(self) -> float | None:
        """Seconds of the longest window that the budgets leave room for; None: any."""
        return None if self.longest_window_ns is None else seconds(self.longest_window_ns)

    @property
    def ask_again_at(self) -> datetime | None:
        """When asking again is worth it, unless a signal changes before; None: only a signal can change it."""
        return maybe_instant(self.ask_again_at_ns)

    @property
    def vetoes(self) -> tuple[Finding, ...]:
        """The findings that refuse."""
        return tuple(finding for finding in self.findings if finding.verdict is Verdict.VETOED)

    @property
    def why(self) -> str:
        """The reason in a few words."""
        if self.granted:
            return "nothing stands against it"
        if self.vetoes:
            return "; ".join(str(finding) for finding in self.vetoes)
        return f"the score is {self.score}, {self.threshold} is required"

    def __bool__(self) -> bool:
        return self.granted

    def __str__(self) -> str:
        lines = [f"{self.kind} window {'granted' if self.granted else 'refused'}: {self.why}"]
        rows = []
        for finding in self.findings:
            clears = ""
            if finding.verdict is Verdict.VETOED:
                clears = "when a signal changes"
                if finding.clears_at_ns is not None:
                    clears = f"in {show(max(0, finding.clears_at_ns - self.at_ns))}"
            # Nothing is in the books yet: a number would look like an observation.
            blank = finding.source is Source.UNKNOWN and finding.factor.signal is None
            rows.append((
                str(finding.factor),
                "–" if blank else finding.factor.text(finding.observed),
                ("≥ " if finding.factor.at_least else "≤ ") + finding.factor.text(finding.required),
                str(finding.source),
                str(finding.verdict),
                f"{finding.score} × {finding.weight}" if finding.weight else "",
                clears,
            ))  # fmt: skip
        head = ("factor", "observed", "required", "said by", "verdict", "score", "can clear")
        lines += table(head, rows)
        if any(finding.weight for finding in self.findings):
            lines.append(f"  score {self.score} of 1000, {self.threshold} is enough")
        if not self.granted and self.ask_again_at_ns is not None:
            lines.append(f"  asking again is worth it in {show(max(0, self.ask_again_at_ns - self.at_ns))}")
        if self.granted and self.longest_window_ns is not None:
            lines.append(f"  the budgets leave room for {show(self.longest_window_ns)}")
        return "\n".join(lines)


def take_decision(address: int) -> Decision:
    """Reads a decision of the library and ends it."""
    try:
        # fmt: off
        _, _, kind, granted, at, score, threshold, longest, ask_again_at, count, findings = read(
            _raw.selene_decision, address)
        # fmt: on
        return Decision(
            Kind(kind),
            bool(granted),
            at,
            score,
            threshold,
            never_is_none(longest),
            never_is_none(ask_again_at),
            tuple(
                Finding(
                    Factor(factor),
                    Verdict(verdict),
                    Source(source),
                    bool(flags & _raw.SELENE_RULE_PREEMPTS),
                    observed,
                    required,
                    score,
                    weight,
                    never_is_none(clears_at),
                )
                for factor, verdict, source, flags, observed, required, score, weight, clears_at in read_array(
                    _raw.selene_finding, findings, count
                )
            ),
        )
    finally:
        fast.selene_free(address)
