"""The charts of a report, as SVG whose x is seconds since the begin and whose y is pixels.

A chart is as wide as the page allows: it is stretched, its strokes are not.  So zooming is nothing but another
viewBox, and a run is drawn twice: as a mark of fixed width, and as long as it took, which shows from near.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from ..duration import MINUTE, SECOND, show
from ..workload import CONSTRAINTS
from .axis import instant, marks
from .fresh import Result
from .model import OUTCOMES, Fate, History, Spent, Track, Window

_KINDS: Final = ("refresh", "processing")
_GRANTED_SLOT: Final = 15 * MINUTE
"""The least time between two windows that the driver opens for standing tasks."""

_MARK: Final = 11
"""Height of a run's mark."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The time that a chart shows."""

    begin: int
    end: int

    def x(self, at: int) -> str:
        """An instant in units of the chart."""
        return f"{(min(max(at, self.begin), self.end) - self.begin) / SECOND:.3f}".rstrip("0").rstrip(".")

    @property
    def width(self) -> str:
        """All of it in units of the chart."""
        return self.x(self.end)


def lane_height(count: int) -> int:
    """How high a lane of one task is by the number of tasks."""
    return 24 if count <= 30 else 18


def axis(history: History) -> str:
    """The marks above a chart."""
    span = history.end - history.begin
    texts = (
        f'<span class="{"day" if mark.is_day else "hour"}" '
        f'style="left:{100 * (mark.at - history.begin) / span:.3f}%">{escape(mark.text)}</span>'
        for mark in marks(history.begin, history.end)
    )
    return f'<div class="axis" aria-hidden="true">{"".join(texts)}</div>'


def runs(history: History) -> str:
    """The timeline: a lane for each condition that was missing, then a lane for each task."""
    frame = Frame(history.begin, history.end)
    lane = lane_height(len(history.tasks))
    conditions = _conditions(history)
    top = lane * len(conditions)
    height = top + lane * len(history.tasks)
    parts = [_backdrop(history, frame, height), _lanes(frame, lane, height)]
    for index, condition in enumerate(conditions):
        y = lane * index + lane / 2
        spans = "".join(
            f"M{frame.x(away.begin)} {y:g}H{frame.x(away.end)}" for away in history.away if away.condition == condition
        )
        parts.append(_stroke(f"gone {_known(condition)}", spans, 7))
    parts.extend(_misses(history, frame, top, lane))
    middle = (lane - 4) / 2
    for outcome in OUTCOMES:
        found = [run for run in history.runs if run.outcome == outcome]
        if not found:
            continue
        ticks, lengths = [], []
        for run in found:
            y = top + lane * run.task + middle
            x = frame.x(run.started_at)
            ticks.append(f"M{x} {y - _MARK / 2:g}v{_MARK}")
            lengths.append(f"M{x} {y:g}H{frame.x(run.ended_at)}")
        parts.append(_stroke(f"mark {outcome}", "".join(ticks), 2))
        parts.append(_stroke(f"mark {outcome}", "".join(lengths), _MARK))
    labels = [(f"no {name}", "condition") for name in conditions] + [(task.id, "") for task in history.tasks]
    sums = history.task_sums
    values = [_gone(history, condition) for condition in conditions] + [str(total.runs) for total in sums]
    told = f"{len(history.runs)} runs of {len(history.tasks)} tasks"
    return _chart("runs", history, frame, height, lane, parts, labels, values, told, "runs")


def governor(history: History) -> str:
    """When windows of each kind were granted, when refused and why; and the signals that this followed."""
    frame = Frame(history.begin, history.end)
    kinds = history.kinds
    lane = 30
    top = lane * len(kinds)
    height = top + lane * len(history.tracks)
    parts = [_backdrop(history, frame, height, bands=False), _lanes(frame, lane, height)]
    for index, kind in enumerate(kinds):
        middle = lane * index + lane / 2
        refused: dict[str, list[str]] = {}
        for refusal in history.refusals:
            if refusal.kind == kind:
                stretch = f"M{frame.x(refusal.begin)} {middle + 5:g}H{frame.x(refusal.end)}"
                refused.setdefault(refusal.factor, []).append(stretch)
        parts += [_stroke(f"no {factor}", "".join(found), 10) for factor, found in sorted(refused.items())]
        ticks, lengths = [], []
        for window in history.windows:
            if window.kind == kind:
                begin = frame.x(window.began_at)
                ticks.append(f"M{begin} {lane * index + 3}v{lane - 13}")
                lengths.append(f"M{begin} {middle - 6:g}H{frame.x(window.ended_at)}")
        parts += [_stroke("granted", "".join(ticks), 2), _stroke("granted", "".join(lengths), lane - 16)]
    for index, track in enumerate(history.tracks):
        parts += _track(frame, track, top + lane * index, lane)
    labels = [(f"{kind} windows", "") for kind in kinds]
    labels += [(track.name.replace("_", " "), "condition") for track in history.tracks]
    values = [str(sum(window.kind == kind for window in history.windows)) for kind in kinds]
    values += [track.summary(history.end) for track in history.tracks]
    told = "When windows were granted and refused, and the signals"
    return _chart("governor", history, frame, height, lane, parts, labels, values, told, "in all")


def _track(frame: Frame, track: Track, top: int, lane: int) -> list[str]:
    """One signal: a share as an area, a level as steps, yes as a bar."""
    ends = [at for at, _ in track.points[1:]] + [frame.end]
    if not track.unit:
        y = top + lane / 2
        times = [(at, end) for (at, value), end in zip(track.points, ends, strict=True) if value]
        spans = (f"M{frame.x(at)} {y:g}H{frame.x(end)}" for at, end in times)
        return [_stroke(f"yes {track.name}", "".join(spans), 9)]
    floor = top + lane - 3
    most = 1000 if track.unit == "‰" else max(1, *(value for _, value in track.points))
    room = lane - 7
    steps = [f"M{frame.x(track.points[0][0])} {floor}"]
    for (at, value), end in zip(track.points, ends, strict=True):
        steps.append(f"L{frame.x(at)} {floor - room * value / most:.4g}H{frame.x(end)}")
    return [f'<path class="track {track.name}" d="{"".join(steps)}V{floor}Z"/>']


def governor_legend(history: History) -> str:
    """The legend of `governor`: the reasons that came."""
    seen = sorted({refusal.factor for refusal in history.refusals})
    entries = [("granted", "granted")] + [
        (f"no {factor}", f"refused by the factor {reason(factor)}") for factor in seen
    ]
    return legend(entries)


def reason(factor: str) -> str:
    """The factor that a window was refused by, in words."""
    return factor.replace("_", " ")


def ages(history: History) -> str:
    """How long each task had been waiting at any time; each lane is as high as its greatest age."""
    frame = Frame(history.begin, history.end)
    lane = 34 if len(history.tasks) <= 30 else 26
    height = lane * len(history.tasks)
    room = lane - 7
    areas, periods, peaks = [], [], []
    for index, total in enumerate(history.task_sums):
        floor = lane * (index + 1) - 2
        scale = room / max(total.oldest, 1)
        peaked = False
        for wait in history.waits[index]:
            high = floor - wait.length * scale
            begin, end = frame.x(wait.begin), frame.x(wait.end)
            areas.append(f"M{begin} {floor}L{end} {high:.2f}V{floor}Z")
            if wait.length == total.oldest and not peaked:
                peaks.append(f"M{end} {floor}V{high:.2f}")
                peaked = True
        every = history.tasks[index].every
        if every and every <= total.oldest:
            periods.append(f"M0 {floor - every * scale:.2f}H{frame.width}")
    parts = [
        _backdrop(history, frame, height),
        _lanes(frame, lane, height),
        f'<path class="age" d="{"".join(areas)}"/>',
        _stroke("period", "".join(periods), 1),
        _stroke("peak", "".join(peaks), 2),
    ]
    labels = [(task.id, "") for task in history.tasks]
    values = [show(total.oldest) for total in history.task_sums]
    told = "The age of each task over time"
    return _chart("ages", history, frame, height, lane, parts, labels, values, told, "greatest")


def course(history: History, results: Sequence[Result]) -> str:
    """How much of what is held was outdated, over time, under each rule."""
    frame = Frame(history.begin, history.end)
    height = 120
    top = math.ceil(10 * max((max(each.fresh.course, default=0) for each in results), default=0)) / 10 or 1
    parts = [_backdrop(history, frame, height, bands=False)]
    for each in results:
        count = max(len(each.fresh.course), 1)
        edges = [history.begin + (history.end - history.begin) * step // count for step in range(count + 1)]
        points = zip(edges, edges[1:], each.fresh.course, strict=False)
        steps = [f"{frame.x((left + right) // 2)} {height * (1 - share / top):.4g}" for left, right, share in points]
        parts.append(_stroke(f"rule {each.rule}", f"M{'L'.join(steps)}" if steps else "", 2))
    scale = [(f"{100 * top:.0f} %", 0), (f"{50 * top:.0f} %", height // 2), ("0", height)]
    return _plot("course", history, frame, height, parts, scale, "How much was outdated under each rule, over time")


def use(history: History) -> str:
    """How much of each window's budget was used."""
    frame = Frame(history.begin, history.end)
    height = 120
    shapes: dict[str, list[str]] = {"used": [], "short": [], "idle": []}
    for window, (left, right) in zip(history.windows, _slots(history, history.windows), strict=True):
        used = window.used / window.budget
        y = height * (1 - used)
        rest = "short" if window.did_not_fit else "idle"
        shapes["used"].append(_box(frame, left, right, y, height))
        shapes[rest].append(_box(frame, left, right, 0, y))
    parts = [f'<path class="use {name}" d="{"".join(boxes)}"/>' for name, boxes in shapes.items()]
    if history.windows:
        first = history.windows[0]
        y = height * first.reserve / first.budget
        parts.append(_stroke("reserve", f"M0 {y:g}H{frame.width}", 1))
    parts.append(_backdrop(history, frame, height, bands=False))
    used = 100 * history.used / max(history.budget, 1)
    scale = [("budget", 0), ("half", height // 2), ("nothing", height)]
    told = f"{used:.0f} % of the windows' budget was used"
    return _plot("use", history, frame, height, parts, scale, told)


def fates(history: History) -> str:
    """What became of all tasks in each window."""
    frame = Frame(history.begin, history.end)
    height = 150
    count = max(len(history.tasks), 1)
    shapes: dict[Fate, list[str]] = {fate: [] for fate in Fate}
    for found, (left, right) in zip(history.fates, _slots(history, history.windows), strict=True):
        below = 0
        for fate in Fate:
            if found[fate]:
                above = below + found[fate]
                low, high = height * (1 - below / count), height * (1 - above / count)
                shapes[fate].append(_box(frame, left, right, high, low))
                below = above
    parts = [f'<path class="fate {fate.key}" d="{"".join(boxes)}"/>' for fate, boxes in shapes.items() if boxes]
    parts.append(_backdrop(history, frame, height, bands=False))
    scale = [(f"{count} tasks", 0), (f"{count / 2:g}", height // 2), ("0", height)]
    return _plot("fates", history, frame, height, parts, scale, "What became of the tasks in each window")


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """A legend of classes and texts."""
    items = "".join(f'<li><i class="{escape(name)}"></i>{escape(text)}</li>' for name, text in entries)
    return f'<ul class="legend">{items}</ul>'


def outcome_legend(history: History) -> str:
    """The legend of the timeline: what is in it, nothing else."""
    entries = [(f"swatch {outcome}", outcome.replace("_", " ")) for outcome in OUTCOMES if history.outcomes[outcome]]
    seen = {fate for found in history.fates for fate in found}
    entries += [(f"under {fate.key}", fate.label) for fate in Fate if fate.is_miss and fate in seen]
    return legend(entries)


def fate_legend(history: History) -> str:
    """The legend of `fates`."""
    seen = {fate for found in history.fates for fate in found}
    return legend((f"swatch {fate.key}", fate.label) for fate in Fate if fate in seen)


def spent_class(part: Spent) -> str:
    """The class of a reason; what the governor refused for and constraints have colours of their own elsewhere, too."""
    is_ours = part.reason in ("constraints", "governor")
    return f"spent {part.reason} {part.about}".strip() if is_ours else f"spent {part.reason}"


def spent_legend(history: History) -> str:
    """The legend of where the time went: the reasons that came."""
    return legend((spent_class(part), part.label) for part in history.spent)


def _known(condition: str) -> str:
    """The class of a condition; those of the host have none of their own."""
    return condition if condition in CONSTRAINTS else "named"


def _conditions(history: History) -> list[str]:
    return sorted({away.condition for away in history.away})


def _gone(history: History, condition: str) -> str:
    """For how long a condition was missing."""
    return show(sum(away.end - away.begin for away in history.away if away.condition == condition))


def _slots(history: History, windows: Sequence[Window]) -> list[tuple[int, int]]:
    """What part of the time axis stands for each window: from its begin to the next.

    Where a governor grants them a long time may lie between two: it stands for none.
    """
    begins = [window.began_at for window in windows]
    if not begins:
        return []
    last = begins[-1] + (begins[-1] - begins[-2] if len(begins) > 1 else windows[-1].budget)
    ends = [*begins[1:], min(last, history.end)]
    if history.profile:
        ends = [
            min(end, window.began_at + max(window.budget, _GRANTED_SLOT))
            for window, end in zip(windows, ends, strict=True)
        ]
    return list(zip(begins, ends, strict=True))


def _box(frame: Frame, left: int, right: int, top: float, bottom: float) -> str:
    if bottom - top < 0.005:
        return ""
    return f"M{frame.x(left)} {bottom:g}V{top:.4g}H{frame.x(right)}V{bottom:g}Z"


def _misses(history: History, frame: Frame, top: int, lane: int) -> list[str]:
    """Thin lines below the marks: where a task would have liked to run, and why it did not."""
    lines: dict[Fate, list[str]] = {fate: [] for fate in Fate if fate.is_miss}
    # A task looks at the windows of its kind alone, where they are of one.
    of_kind = {kind: [window for window in history.windows if window.kind in ("", kind)] for kind in _KINDS}
    slots = {kind: _slots(history, windows) for kind, windows in of_kind.items()}
    for task, about in enumerate(history.tasks):
        y = top + lane * (task + 1) - 3
        for fate, left, right in _stretches(of_kind[about.kind], slots[about.kind], task):
            if fate.is_miss:
                lines[fate].append(f"M{frame.x(left)} {y}H{frame.x(right)}")
    width = 3 if lane >= 24 else 2
    return [_stroke(f"miss {fate.key}", "".join(found), width) for fate, found in lines.items() if found]


def _stretches(
    windows: Sequence[Window], slots: Sequence[tuple[int, int]], task: int
) -> Iterable[tuple[Fate, int, int]]:
    """Neighbouring windows in which the same became of a task, as one."""
    begin = 0
    for index in range(1, len(windows) + 1):
        letter = windows[begin].fates[task : task + 1]
        if index < len(windows) and windows[index].fates[task : task + 1] == letter:
            continue
        if letter:
            yield Fate(letter), slots[begin][0], slots[index - 1][1]
        begin = index


def _stroke(name: str, path: str, width: float) -> str:
    return f'<path class="{name}" style="stroke-width:{width:g}px" d="{path}"/>' if path else ""


def _backdrop(history: History, frame: Frame, height: int, bands: bool = True) -> str:
    away = "".join(
        f'<rect class="band {_known(away.condition)}" x="{frame.x(away.begin)}" y="0" '
        f'width="{(away.end - away.begin) / SECOND:g}" height="{height}"/>'
        for away in history.away
        if bands
    )
    lines = "".join(f"M{frame.x(mark.at)} 0V{height}" for mark in marks(history.begin, history.end))
    return f'{away}<path class="grid" data-height="{height}" d="{lines}"/>'


def _lanes(frame: Frame, lane: int, height: int) -> str:
    lines = "".join(f"M0 {y - 0.5}H{frame.width}" for y in range(lane, height + 1, lane))
    return f'<path class="lanes" d="{lines}"/>'


def _svg(frame: Frame, height: int, parts: Iterable[str], told: str) -> str:
    return (
        f'<svg class="plot" role="img" aria-label="{escape(told)}" viewBox="0 0 {frame.width} {height}" '
        f'preserveAspectRatio="none" style="height:{height}px">{"".join(parts)}</svg>'
    )


def _chart(
    name: str,
    history: History,
    frame: Frame,
    height: int,
    lane: int,
    parts: Iterable[str],
    labels: Iterable[tuple[str, str]],
    values: Iterable[str],
    told: str,
    heading: str,
) -> str:
    """A chart of lanes, with a name before and a value behind each."""
    left = "".join(
        f'<div class="{kind}" style="height:{lane}px" title="{escape(text)}"><span>{escape(text)}</span></div>'
        for text, kind in labels
    )
    right = "".join(f'<div style="height:{lane}px">{escape(value)}</div>' for value in values)
    return (
        f'<div class="chart" data-chart="{name}" data-lane="{lane}">'
        f'<div class="corner"></div>{axis(history)}<div class="corner end">{escape(heading)}</div>'
        f'<div class="names">{left}</div><div class="field">{_svg(frame, height, parts, told)}</div>'
        f'<div class="values">{right}</div></div>'
    )


def _plot(
    name: str,
    history: History,
    frame: Frame,
    height: int,
    parts: Iterable[str],
    scale: Iterable[tuple[str, int]],
    told: str,
) -> str:
    """A chart with one scale."""
    left = "".join(f'<span style="top:{y}px">{escape(text)}</span>' for text, y in scale)
    return (
        f'<div class="chart" data-chart="{name}">'
        f'<div class="corner"></div>{axis(history)}<div class="corner"></div>'
        f'<div class="scale">{left}</div><div class="field">{_svg(frame, height, parts, told)}</div>'
        f"<div></div></div>"
    )


def span_text(history: History) -> str:
    """From when to when, for the head of the page."""
    return f"{instant(history.begin, '%a %-d %b %Y %H:%M')} to {instant(history.end, '%a %-d %b %Y %H:%M')} UTC"
