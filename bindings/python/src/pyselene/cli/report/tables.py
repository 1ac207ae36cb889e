"""The tables of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from ..duration import show
from .axis import instant
from .charts import reason, spent_class
from .fresh import Result
from .model import OUTCOMES, Fate, History, Spent, Task

_PRIORITIES: Final = ("", "very low", "low", "normal", "high", "very high")
_WAITS: Final = 10


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: HTML, and by what a reader sorts it."""

    html: str
    sort: float | str | None = None
    kind: str = ""


def text(value: str, kind: str = "") -> Cell:
    """A cell of text."""
    return Cell(escape(value), value, kind)


def number(value: float, shown: str | None = None, kind: str = "") -> Cell:
    """A cell of a number; a 0 is written so that it does not catch the eye."""
    quiet = "" if value else " quiet"
    return Cell(
        escape(shown if shown is not None else f"{value:,}".replace(",", " ")), value, f"num{quiet} {kind}".strip()
    )


def duration(value: int | None) -> Cell:
    """A cell of a duration."""
    return Cell("–", -1, "num quiet") if value is None else number(value, show(value))


def table(name: str, caption: str, heads: Sequence[tuple[str, str]], rows: Iterable[Sequence[Cell]]) -> str:
    """A table whose columns a click on a head sorts."""
    head = "".join(
        f'<th scope="col" class="{kind}"><button type="button">{escape(title)}</button></th>' for title, kind in heads
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{cell.kind}"'
            + (f' data-sort="{escape(str(cell.sort))}"' if cell.sort is not None else "")
            + f">{cell.html}</td>"
            for cell in row
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide"><table id="{name}"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def bar(parts: Iterable[tuple[str, int, str]], total: int | None = None) -> str:
    """A small bar of parts, each with a class, a size and a text to hover over."""
    found = [part for part in parts if part[1]]
    whole = total or sum(size for _, size, _ in found)
    if not whole:
        return '<span class="bar"></span>'
    spans = "".join(
        f'<i class="{name}" style="width:{100 * size / whole:.2f}%" title="{escape(told)}"></i>'
        for name, size, told in found
    )
    return f'<span class="bar">{spans}</span>'


def rules(history: History, results: Sequence[Result]) -> str:
    """A row for each rule under which the same was played, with a bar for how late news was, else for the mean age."""
    heads = [
        ("Rule", ""),
        ("Mean age", "num"),
        ("Outdated", "num"),
        ("News late by", "num"),
        ("", "graph"),
        ("Oldest", "num"),
        ("Windows cut", "num"),
        ("Budget used", "num"),
        ("Runs", "num"),
    ]
    known = [each.fresh.lateness for each in results if each.fresh.lateness is not None]
    sizes = [round(size) for size in known or [each.fresh.age for each in results]]
    rows = []
    for each, size in zip(results, sizes, strict=True):
        fresh = each.fresh
        outdated, late = fresh.outdated, fresh.lateness
        name = f"<b>{escape(each.rule)}</b>" + ("<small>this report</small>" if each.rule == history.rule else "")
        rows.append(
            [
                Cell(name, each.rule),
                duration(round(fresh.age)),
                Cell("–", -1, "num quiet") if outdated is None else number(outdated, f"{100 * outdated:.1f} %"),
                duration(None if late is None else round(late)),
                Cell(bar([("use used", size, show(size))], max(sizes)), None, "graph"),
                duration(fresh.oldest),
                number(each.cut, f"{100 * each.cut:.1f} %"),
                number(each.part_used, f"{100 * each.part_used:.0f} %"),
                number(each.runs),
            ]
        )
    return table(
        "by-rule",
        "The same under each rule: news is late by the time since the first change that was not fetched",
        heads,
        rows,
    )


def outcome_bar(outcomes: Counter[str]) -> str:
    """A bar of outcomes."""
    return bar(
        (f"swatch {outcome}", outcomes[outcome], f"{outcomes[outcome]} {outcome.replace('_', ' ')}")
        for outcome in OUTCOMES
    )


def fate_bar(fates: Counter[Fate]) -> str:
    """A bar of what became of tasks in windows."""
    return bar((f"swatch {fate.key}", fates[fate], f"{fates[fate]} × {fate.label}") for fate in Fate)


def tasks(history: History) -> str:
    """A row for each task."""
    heads = [
        ("Task", ""),
        ("Priority", ""),
        ("Runs", "num"),
        ("Outcomes", "graph"),
        ("Failed", "num"),
        ("Mean time", "num"),
        ("Time in all", "num"),
        ("Ran every", "num"),
        ("Greatest age", "num"),
        ("Did not fit", "num"),
        ("Conditions", "num"),
        ("Windows", "graph"),
    ]
    learnt = any(task.pace is not None for task in history.tasks)
    if learnt:
        heads[3:3] = [("Pace", "num"), ("News", "num")]
    rows = []
    for task, total in zip(history.tasks, history.task_sums, strict=True):
        about = [task.schedule if task.every is None else f"every {show(task.every)}"]
        about += [task.kind] if task.kind != "refresh" else []
        about += [f"needs {' and '.join(task.requires)}"] if task.requires else []
        rows.append(
            [
                Cell(f"<b>{escape(task.id)}</b><small>{escape(', '.join(about))}</small>", task.id),
                Cell(f'<span class="priority p{task.priority}">{_PRIORITIES[task.priority]}</span>', task.priority),
                number(total.runs),
                *([] if not learnt else _learnt(task)),
                Cell(outcome_bar(total.outcomes), None, "graph"),
                number(total.failures, kind="bad" if total.failures * 10 >= total.runs > 0 else ""),
                duration(total.busy // total.runs if total.runs else None),
                duration(total.busy if total.runs else None),
                duration(total.interval),
                duration(total.oldest),
                number(total.fates[Fate.DID_NOT_FIT]),
                number(total.fates[Fate.CONDITIONS]),
                Cell(fate_bar(total.fates), None, "graph"),
            ]
        )
    return table("by-task", "Each task", heads, rows)


def spent(history: History) -> str:
    """A row for each task: a bar of its time, then what went to each reason, the greatest of all tasks first."""
    reasons = [(part.reason, part.about) for part in history.spent]
    heads = [("Task", ""), ("", "graph long"), *((part.label.capitalize(), "num") for part in history.spent)]
    rows = []
    for task in history.tasks:
        parts = {(part.reason, part.about): part for part in task.spent}
        whole = sum(part.duration for part in task.spent)
        found = [(part, f"{show(part.duration)} {part.label} ({_share(part.duration, whole)})")
                 for part in (parts.get(reason) for reason in reasons) if part is not None]  # fmt: skip
        graph = bar(((spent_class(part), part.duration, told) for part, told in found), whole)
        cells = [Cell("–", -1, "num quiet") if (part := parts.get(reason)) is None or not part.duration
                 else _spent_cell(part, whole) for reason in reasons]  # fmt: skip
        rows.append([Cell(f"<b>{escape(task.id)}</b>", task.id), Cell(graph, None, "graph long"), *cells])
    return table("spent", "Where the time of each task went", heads, rows)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"


def _spent_cell(part: Spent, whole: int) -> Cell:
    times = f", {part.times} times" if part.times > 1 else ""
    told = f"{escape(show(part.duration))}<small>{_share(part.duration, whole)}{times}</small>"
    return Cell(told, part.duration, "num")


def _learnt(task: Task) -> list[Cell]:
    """The pace of a task under the freshness rule, and the news that it follows from."""
    news, known = task.news
    return [
        number(task.pace or 0, "–" if task.pace is None else f"{task.pace / 1000:.2f}"),
        number(news / known if known else 0, f"{news} of {known}" if known else "–"),
    ]


def refusals(history: History) -> str:
    """A row for each kind and each reason for which it got no window."""
    heads = [
        ("Windows", ""),
        ("Refused by", ""),
        ("Times", "num"),
        ("In all", "num"),
        ("Longest", "num"),
        ("", "graph"),
    ]
    found: dict[tuple[str, str], list[int]] = {}
    for refusal in history.refusals:
        found.setdefault((refusal.kind, refusal.factor), []).append(refusal.end - refusal.begin)
    span = history.end - history.begin
    rows = [
        [
            text(kind),
            Cell(f"<b>{escape(reason(factor))}</b>", factor),
            number(len(times)),
            duration(sum(times)),
            duration(max(times)),
            Cell(
                bar([(f"no {factor}", sum(times), f"{100 * sum(times) / span:.0f} % of the time")], span), None, "graph"
            ),
        ]
        for (kind, factor), times in sorted(found.items(), key=lambda item: -sum(item[1]))
    ]
    return table("refusals", "Why no window was granted", heads, rows)


def days(history: History) -> str:
    """A row for each day."""
    heads = [
        ("Day", ""),
        ("Windows", "num"),
        ("Budget", "num"),
        ("Used", "num"),
        ("", "graph"),
        ("Runs", "num"),
        ("Outcomes", "graph"),
        ("Failed", "num"),
        ("Did not fit", "num"),
        ("Conditions", "num"),
    ]
    rows = []
    for day in history.day_sums():
        failed = day.outcomes["failed"] + day.outcomes["abandoned"] + day.outcomes["expired"]
        part = 100 * day.used / max(day.budget, 1)
        rows.append(
            [
                Cell(escape(instant(day.begin, "%a %-d %b")), day.begin),
                number(day.windows),
                duration(day.budget),
                number(part, f"{part:.0f} %"),
                Cell(bar([("use used", day.used, f"{show(day.used)} used")], day.budget), None, "graph"),
                number(day.outcomes.total()),
                Cell(outcome_bar(day.outcomes), None, "graph"),
                number(failed, kind="bad" if failed * 10 >= day.outcomes.total() > 0 else ""),
                number(day.fates[Fate.DID_NOT_FIT]),
                number(day.fates[Fate.CONDITIONS]),
            ]
        )
    return table("by-day", "Each day", heads, rows)


def waits(history: History) -> str:
    """The longest wait of each of the tasks that waited longest, and why."""
    heads = [("Task", ""), ("Waited", "num"), ("From", ""), ("To", ""), ("Why", "why"), ("", "graph")]
    longest = (max(waits, key=lambda wait: wait.length) for waits in history.waits if waits)
    found = sorted(longest, key=lambda wait: -wait.length)
    rows = []
    for wait in found[:_WAITS]:
        why = history.why(wait)
        del why[Fate.RAN]
        graph = fate_bar(why)
        told = ", ".join(f"{fate.label} {count}×" for fate, count in why.most_common(3))
        if history.profile:
            # Windows of the other kind do not tell why there was none of this.
            del why[Fate.OTHER_KIND]
            refused = history.refused(wait)
            parts = [f"{reason(factor)} {show(length)}" for factor, length in refused.most_common(3)]
            parts += [f"{fate.label} {count}×" for fate, count in why.most_common(2)]
            told = ", ".join(parts)
            graph = bar(
                (
                    (f"no {factor}", length, f"{reason(factor)} {show(length)}")
                    for factor, length in refused.most_common()
                ),
                wait.length,
            )
        rows.append(
            [
                Cell(f"<b>{escape(history.tasks[wait.task].id)}</b>", history.tasks[wait.task].id),
                duration(wait.length),
                Cell(escape(instant(wait.begin, "%a %-d %b %H:%M")), wait.begin, "when"),
                Cell("still waits" if wait.open else escape(instant(wait.end, "%a %-d %b %H:%M")), wait.end, "when"),
                text(told or "–"),
                Cell(graph, None, "graph"),
            ]
        )
    return table("waits", "The longest waits, one of each task", heads, rows)
