"""Puts a report together: one page with its style, its script and its data inside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Final

from ..duration import DAY, SECOND, show
from . import charts, tables
from .axis import instant
from .fresh import Result
from .model import OUTCOMES, Fate, History

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""A browser that follows it loads nothing from anywhere."""

_MOON: Final = (
    '<svg class="moon" viewBox="0 0 32 32" aria-hidden="true">'
    '<path d="M20.5 3.2a13 13 0 1 0 8.3 18.6A11 11 0 0 1 20.5 3.2Z"/></svg>'
)


def render(history: History, results: Sequence[Result] = ()) -> str:
    """Makes the page of a report; of several rules, with what came of each."""
    return "".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(history.title)} – Selene</title><style>{_asset('report.css')}</style></head><body>",
            f"<header><div>{_MOON}<span>Selene</span></div><h1>{escape(history.title)}</h1>",
            f"<p>{escape(' · '.join((charts.span_text(history), *history.facts)))}</p></header><main>",
            _figures(history),
            *_rules(history, results),
            _days(history),
            *([] if not history.profile else [_governor(history)]),
            _section(
                "Every run",
                "A lane for each task. A mark is a run; a line below the marks is a time in which the task would"
                " have liked to run and did not.",
                charts.outcome_legend(history),
                charts.runs(history),
            ),
            _section(
                "Age",
                "The time since each task's last run. A lane is as high as its task's greatest age, which is"
                " marked; a dashed line is the task's period.",
                "",
                charts.ages(history),
            ),
            _section(
                "Use of the windows",
                "How much of each window's budget was spent. The dashed line is where the reserve begins.",
                charts.legend(
                    (
                        ("use used", "used"),
                        ("use short", "left over, too short for what waited"),
                        ("use idle", "left over, nothing waited"),
                    )
                ),
                charts.use(history),
            ),
            _section(
                "Hits and misses",
                "What became of the tasks in each window.",
                charts.fate_legend(history),
                charts.fates(history),
            ),
            f'<section class="card">{tables.waits(history)}</section>',
            *([] if not history.spent else [_spent(history)]),
            f'<section class="card">{tables.tasks(history)}</section>',
            *([] if not history.profile else [f'<section class="card">{tables.refusals(history)}</section>']),
            f'<section class="card">{tables.days(history)}</section>',
            '</main><div id="hint" role="status" hidden></div>',
            f'<script type="application/json" id="data">{_data(history, results)}</script>',
            f"<script>{_asset('report.js')}</script></body></html>\n",
        )
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _section(title: str, told: str, legend: str, chart: str) -> str:
    return (
        f'<section class="card"><div class="head"><div><h2>{escape(title)}</h2><p>{escape(told)}</p></div>'
        f"{legend}</div>{chart}</section>"
    )


def _rules(history: History, results: Sequence[Result]) -> list[str]:
    """The same under several rules, if there are several."""
    if not results:
        return []
    found = [f'<section class="card">{tables.rules(history, results)}</section>']
    if any(each.fresh.course for each in results):
        found.append(
            _section(
                "Outdated",
                "How much of the time what a task held was not what its source had, by its priority, under each rule.",
                charts.legend((f"rule {each.rule}", each.rule) for each in results),
                charts.course(history, results),
            )
        )
    return found


def _spent(history: History) -> str:
    return _section(
        "Where the time went",
        "What each task waited for, of the time from its registration to the end, and for how long.",
        charts.spent_legend(history),
        tables.spent(history),
    )


def _governor(history: History) -> str:
    return _section(
        "Why windows opened, and why not",
        f"What the profile {history.profile} granted each kind, and below it the times in which it refused, by reason."
        " Then the signals: a bar is yes, an area a share or a level.",
        charts.governor_legend(history),
        charts.governor(history),
    )


def _figures(history: History) -> str:
    """The few numbers that a reader looks for first."""
    runs = len(history.runs)
    failed = sum(total.failures for total in history.task_sums)
    fates = [fate for found in history.fates for fate in found.elements() if fate.is_miss]
    oldest = max((wait for waits in history.waits for wait in waits), key=lambda wait: wait.length, default=None)
    windows = len(history.windows)
    used = 100 * history.used / max(history.budget, 1)
    found = [
        ("Runs", _count(runs), f"{runs / max(windows, 1):.1f} in a window"),
        ("Budget used", f"{used:.0f} %", f"{show(history.used)} of {show(history.budget)}"),
        ("Failed", f"{100 * failed / max(runs, 1):.1f} %", f"{_count(failed)} runs, with those that expired"),
        (
            "Did not fit",
            _count(fates.count(Fate.DID_NOT_FIT)),
            f"times, in {_count(sum(bool(window.did_not_fit) for window in history.windows))}"
            f" of {_count(windows)} windows",
        ),
        ("Conditions missing", _count(fates.count(Fate.CONDITIONS)), "times a task waited for one"),
        (
            "Greatest age",
            show(oldest.length) if oldest else "–",
            history.tasks[oldest.task].id if oldest else "nothing waited",
        ),
    ]
    if history.profile:
        granted = [f"{_count(sum(w.kind == kind for w in history.windows))} {kind}" for kind in history.kinds]
        preempted = sum(run.stop == "preempted" for run in history.runs)
        found[1:1] = [("Windows granted", _count(windows), ", ".join(granted) or "none")]
        found[4:6] = [("Preempted", _count(preempted), "runs that a new veto stopped")]
    tiles = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd><dd>{escape(told)}</dd></div>"
        for name, value, told in found
    )
    return f'<dl class="figures">{tiles}</dl>'


def _count(number: int) -> str:
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _days(history: History) -> str:
    """Buttons that show one day in all charts; the script brings them to life."""
    first, last = history.begin // DAY, (history.end - 1) // DAY
    if not 1 <= last - first <= 31:
        return '<nav id="days" hidden><button type="button" data-all>All</button><span></span></nav>'
    buttons = "".join(
        f'<button type="button" data-from="{max(0, day * DAY - history.begin) / SECOND:g}" '
        f'data-to="{(min((day + 1) * DAY, history.end) - history.begin) / SECOND:g}">'
        f"{escape(instant(day * DAY, '%a %-d'))}</button>"
        for day in range(first, last + 1)
    )
    return (
        '<nav id="days" aria-label="What the charts show" hidden>'
        f'<button type="button" data-all class="on">All</button>{buttons}'
        "<span>drag across a chart to look closer, double-click to go back</span></nav>"
    )


def _data(history: History, results: Sequence[Result]) -> str:
    """What the script needs to tell about the place under the pointer."""

    def seconds(duration: int) -> float:
        return round(duration / SECOND, 3)

    data: dict[str, object] = {
        "begin": history.begin // SECOND,
        "end": seconds(history.end - history.begin),
        "outcomes": [outcome.replace("_", " ") for outcome in OUTCOMES],
        "fates": {fate.value: [fate.key, fate.label] for fate in Fate},
        "away": [[a.condition, seconds(a.begin - history.begin), seconds(a.end - history.begin)] for a in history.away],
        "tasks": [task.id for task in history.tasks],
        "waits": [
            [[seconds(wait.begin - history.begin), seconds(wait.end - history.begin)] for wait in waits]
            for waits in history.waits
        ],
        "windows": [
            [
                seconds(window.began_at - history.begin),
                seconds(window.used),
                seconds(window.budget),
                window.eligible,
                window.did_not_fit,
                window.fates,
                window.kind,
            ]
            for window in history.windows
        ],
        "runs": [
            [
                run.task,
                seconds(run.started_at - history.begin),
                seconds(run.took),
                OUTCOMES.index(run.outcome),
                run.attempt,
                seconds(run.estimate),
                round(run.score, 3),
                run.window,
                run.stop if run.stop != "none" else "",
            ]
            for run in sorted(history.runs, key=lambda run: run.started_at)
        ],
    }
    if results:
        data["courses"] = [[each.rule, [round(share, 4) for share in each.fresh.course]] for each in results]
    if history.profile:
        data["kinds"] = history.kinds
        data["refusals"] = [
            [refusal.kind, seconds(refusal.begin - history.begin), seconds(refusal.end - history.begin),
             refusal.factor, charts.reason(refusal.factor), refusal.why]
            for refusal in history.refusals
        ]  # fmt: skip
        data["tracks"] = [
            [track.name.replace("_", " "), [[seconds(at - history.begin), text]
             for (at, _), text in zip(track.points, track.texts, strict=True)]]
            for track in history.tracks
        ]  # fmt: skip
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
