"""What the command line shows of a scheduler: for readers, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .. import (
    Client,
    Constraint,
    Explanation,
    LastFailure,
    Outcome,
    Plan,
    Reason,
    ReasonCode,
    Report,
    Scheduler,
    SeleneError,
    State,
    TaskInfo,
    Unsupported,
)
from .._terms import why_failed
from .._time import instant
from .board import Board
from .duration import show
from .keep import is_command
from .problem import printable
from .report import model
from .sheet import Sheet
from .wire import Window

if TYPE_CHECKING:
    from rich.console import Console

OUTCOME_STYLES: Final = {
    "new_data": "green",
    "no_data": "dim",
    "failed": "red",
    "abandoned": "bold red",
    "expired": "yellow",
    "stopped": "magenta",
}

_STATE_STYLES: Final = {
    State.ENQUEUED: "",
    State.HELD: "yellow",
    State.BLOCKED: "yellow",
    State.RUNNING: "cyan",
    State.SUCCEEDED: "green",
    State.FAILED: "red",
    State.CANCELLED: "dim",
}

_REASONS: Final = {
    ReasonCode.NOT_DUE: "not due yet",
    ReasonCode.NO_HANDLER: "no handler",
    ReasonCode.HELD: "is held until a place is free",
    ReasonCode.BLOCKED: "waits for the task before it",
    ReasonCode.RUNNING: "is running",
    ReasonCode.KIND_OFF: "its kind is switched off",
    ReasonCode.STILL_RUNNING: "its last run has not come back",
    ReasonCode.NOT_PERMITTED: "its id is not permitted",
    ReasonCode.HAD_ITS_RUN: "had its run in this window",
    ReasonCode.TOO_SOON: "too soon after the last window of its kind",
    ReasonCode.NEXT_CYCLE: "waits for the next window",
    ReasonCode.INTERRUPTED: "its process ended during its last run",
    ReasonCode.GOVERNOR: "the governor refused its kind",
    ReasonCode.STORE_REFUSES: "the store refused the last commit",
    ReasonCode.NO_THREAD: "no thread can be had for a window",
    ReasonCode.HANDLER_STUCK: "its handler has left too many threads behind",
    ReasonCode.DRAINED: "the scheduler is drained",
    ReasonCode.CLOCK: "the clock has jumped",
    ReasonCode.GROUP_PAUSED: "its group is paused",
    ReasonCode.GROUP_FULL: "as many runs of its group as may are under way",
    ReasonCode.OUT_OF_QUOTA: "expedited tasks have used their quota",
    ReasonCode.CONDITIONS: "needs conditions",
    ReasonCode.KIND_PAUSED: "its kind is paused",
    ReasonCode.QUARANTINED: "it, or a task that it waits for, may have ended a process",
    ReasonCode.FLEET_AWAY: "the database of its fleet does not answer",
}


def words(name: object) -> str:
    """A name of the library as words."""
    return str(name).replace("_", " ")


def constraints(bits: Constraint) -> str:
    """Conditions as they are called here.

    >>> constraints(Constraint.NETWORK | Constraint.EXTERNAL_POWER)
    'network, power'
    """
    return ", ".join(
        {"EXTERNAL_POWER": "power"}.get(str(member.name), str(member.name).lower())
        for member in Constraint
        if member in bits
    )


def from_now(at: int | None, now: int) -> str:
    """An instant as seen from another."""
    if at is None:
        return "never"
    return f"in {show(at - now)}" if at > now else "now"


def due_text(info: TaskInfo, now: int) -> str:
    """When a task is due: as seen from now, or by a calendar in local time."""
    if not info.by_calendar or info.earliest_begin_ns <= now:
        return from_now(info.earliest_begin_ns, now)
    then, today = (instant(at).astimezone() for at in (info.earliest_begin_ns, now))
    return f"at {then:%H:%M}" if then.date() == today.date() else f"at {then:%Y-%m-%d %H:%M}"


def schedule_text(info: TaskInfo) -> str:
    """How often a task runs."""
    if info.by_calendar:
        return "by a calendar" if info.calendar is None else str(info.calendar)
    return words(info.schedule) if info.every_ns is None else f"every {show(info.every_ns)}"


def reason_text(reason: Reason, why: Explanation, now: int) -> str:
    """One reason as a part of a sentence."""
    if reason.code is ReasonCode.TERMINAL:
        return f"is over: {why.state}"
    if reason.code is ReasonCode.DID_NOT_FIT:
        return f"did not fit: takes {show(why.estimate_ns)}, left were {show(why.last_room_ns or 0)}"
    if reason.code is ReasonCode.CONSTRAINTS:
        text = f"needs {constraints(reason.constraints)}"
    else:
        text = _REASONS.get(reason.code, words(reason.code))
    if reason.conditions:
        text += f": {', '.join(map(printable, reason.conditions))}"
    if reason.handler is not None:
        text += f' "{printable(reason.handler)}"'
    if reason.group is not None:
        text += f": {printable(reason.group)}"
    if reason.may_change_at_ns is None:
        return text
    return f"{text}; may change {from_now(reason.may_change_at_ns, now)}"


def why_text(why: Explanation, now: int, budget: int | None = None) -> str:
    """Everything that keeps a task from running, in one line for each reason."""
    if why.reasons:
        return "\n".join(reason_text(reason, why, now) for reason in why.reasons)
    if budget is not None and why.estimate_ns > budget:
        return f"takes {show(why.estimate_ns)}, more than a whole window; it runs when it ranks first"
    return (
        f"nothing is missing but the next window; rank {why.rank} of {why.eligible}, score {why.score:.3f},"
        f" takes {show(why.estimate_ns)}"
    )


def window_text(scheduler: Scheduler, window: Window, title: str, task: str | None = None) -> Text:
    """The head of a window."""
    parts = [
        f"{show(window.budget)}, reserve {show(window.kept)}",
        f"{window.lanes} {'lane' if window.lanes == 1 else 'lanes'}",
        *(["strict fit"] if window.strict_fit else []),
        f"only {printable(task)}" if task else ", ".join(window.kinds),
        *condition_texts(scheduler),
    ]
    return Text.assemble((title, "bold"), "  ", (" · ".join(parts), "dim"))


def condition_texts(scheduler: Scheduler) -> list[str]:
    """The constraints that can be set by hand, one by one."""
    found = scheduler.conditions()
    return [
        f"{'' if member in found.satisfied else 'no '}{constraints(member)}"
        + (" (set by hand)" if member in found.host else "")
        for member in (Constraint.NETWORK, Constraint.EXTERNAL_POWER)
    ]


def report_text(scheduler: Scheduler, report: Report, board: Board, waits: Iterable[str]) -> Group:
    """What a window did, and what it did not do and why."""
    runs: RenderableType
    if report.runs:
        paced = ("pace", "news") if any(run.pace for run in report.runs) else ()
        rows = Sheet(
            "#", "task", "priority", "score", *paced, "estimate", "start", "took", "outcome", "command", "again",
            numbers=("#", "score", *paced, "estimate", "start", "took"),
            spare=("score", "priority", "estimate", "start", *paced, "#", "task", "command", "took"),
        )  # fmt: skip
        for number, run in enumerate(report.runs, 1):
            outcome = words(run.outcome) + (f", {words(run.stop_reason)}" if run.stop_reason else "")
            rows.add_row(
                str(number),
                run.id,
                words(run.priority),
                f"{run.score:.3f}",
                *(run.pace.words if run.pace else ()),
                show(run.estimate_ns),
                show(run.started_at_ns - report.began_at_ns),
                show(run.response_time_ns),
                Text(outcome, OUTCOME_STYLES[str(run.outcome)]),
                board.end_of(run.run),
                next_chance(scheduler, run.id),
            )
        runs = Padding(rows, (1, 0, 0, 2), expand=False)
    else:
        runs = Text("\n  nothing ran")
    used = report.ended_at_ns - report.began_at_ns
    counts = [
        f"{count} {words(name)}"
        for name, count in (
            ("new_data", report.new_data),
            ("no_data", report.no_data),
            ("failed", report.failed),
            ("abandoned", report.abandoned),
            ("expired", report.expired),
            ("stopped", report.stopped),
        )
        if count
    ]
    told = f" ({', '.join(counts)})" if counts else ""
    total = Text.from_markup(
        f"\n  [{OUTCOME_STYLES[str(report.result)]}]{words(report.result)}[/]: {len(report.runs)}{told} of"
        f" {report.eligible} eligible ran, {report.did_not_fit} did not fit;"
        f" used {show(used)} of {show(report.budget_ns)} ({100 * used / report.budget_ns:.0f} %)\n"
    )
    return Group(runs, waits_text(scheduler, waits, "did not run"), total)


def stopped_text(board: Board) -> Group:
    """What a window did until it was stopped; the scheduler is closed, so this is what is known of its commands."""
    done = board.view().done
    rows = Sheet("task", "took", "outcome", "command", numbers=("took",))
    for run in done:
        outcome = run.stopped or run.outcome
        rows.add_row(
            Text(run.id),
            show(round(run.took * 1e9)),
            Text(words(outcome), OUTCOME_STYLES["stopped" if run.stopped else outcome]),
            run.end,
        )
    ended = [run for run in done if not run.stopped]
    return Group(
        Padding(rows, (1, 0, 0, 2), expand=False) if done else "",
        f"\n  stopped: {len(ended)} ran, {len(done) - len(ended)} were stopped and will run again\n",
    )


def waits_text(scheduler: Scheduler, ids: Iterable[str], title: str, budget: int | None = None) -> Group:
    """Why some tasks do not run."""
    rows = Sheet("task", title, prose=(title,))
    now = scheduler.now_ns
    for name in ids:
        rows.add_row(Text(name), Text(why_text(scheduler.explain(name), now, budget), "dim"))
    return Group(*[Padding(rows, (1, 0, 0, 2), expand=False)] if rows.row_count else ())


def next_chance(scheduler: Scheduler, id: str) -> Text:
    """When a task may run again."""
    info = scheduler.get(id)
    if info.state is not State.ENQUEUED:
        return Text(words(info.state), _STATE_STYLES[info.state])
    if info.earliest_begin_ns <= scheduler.now_ns:
        return Text("next window")
    return Text(due_text(info, scheduler.now_ns))


def show_plan(console: Console, scheduler: Scheduler, window: Window, plan: Plan, others: Iterable[str]) -> None:
    """What a window would do, and what it would not do and why."""
    console.print(window_text(scheduler, window, "plan of a window"))
    console.print()
    if plan.runs:
        rows = Sheet(
            "#", "task", "score", "estimate", "start", numbers=("#", "score", "estimate", "start"), spare=("score", "#")
        )
        first = plan.runs[0].starts_at_ns
        for number, run in enumerate(plan.runs, 1):
            rows.add_row(
                str(number),
                Text(run.id),
                f"{run.score:.3f}",
                show(run.estimate_ns),
                show(run.starts_at_ns - first),
            )
        console.print(Padding(rows, (0, 0, 0, 2), expand=False))
    else:
        console.print("  nothing would run")
    console.print(waits_text(scheduler, others, "would not run", window.budget))
    console.print(f"\n  {len(plan.runs)} of {plan.eligible} eligible would run\n", highlight=False)


def _state(info: TaskInfo) -> str:
    return words(info.state) + (", paused" if info.paused else "")


def show_list(console: Console, scheduler: Scheduler, infos: Sequence[TaskInfo]) -> None:
    """The tasks, one a line."""
    fails = any(info.last_failure is not None for info in infos)
    rows = Sheet(
        "task", "state", "kind", "schedule", "priority", "needs", "estimate", "due", "attempts", "last run", "tags",
        *(["failed"] if fails else []),
        numbers=("estimate", "attempts"),
        spare=(*(["failed"] if fails else []), "attempts", "estimate", "priority", "kind", "tags", "needs", "schedule"),
        prose=("failed",) if fails else (),
    )  # fmt: skip
    now = scheduler.now_ns
    for info in infos:
        schedule = schedule_text(info)
        last = "–"
        if info.last_outcome is not None:
            last = _last_run(info, now)
        rows.add_row(
            Text(info.id),
            Text(_state(info), _STATE_STYLES[info.state]),
            words(info.kind),
            schedule,
            words(info.priority),
            constraints(info.requires) or "–",
            show(info.estimate_ns),
            "–" if info.state.terminal else due_text(info, now),
            str(info.attempts),
            Text(last, OUTCOME_STYLES[str(info.last_outcome)] if info.last_outcome is not None else "dim"),
            Text(", ".join(sorted(info.tags))),
            *([Text(why_failed(info))] if fails else []),
        )
    console.print(rows if infos else "no tasks")
    # An owner of an earlier version cannot be asked.
    with suppress(Unsupported):
        for pause in scheduler.pauses():
            console.print(Text(printable(str(pause)), "yellow"))


def show_failed(console: Console, scheduler: Scheduler, infos: Sequence[TaskInfo]) -> None:
    """The tasks that failed, and why."""
    rows = Sheet("task", "failed", "attempt", "why", numbers=("attempt",), spare=("attempt", "failed"), prose=("why",))
    now = scheduler.now_ns
    for info in infos:
        last = info.last_failure
        ago = "–" if last is None else f"{show(max(0, now - last.at_ns))} ago"
        rows.add_row(Text(info.id), ago, "0" if last is None else str(last.attempt), Text(why_failed(info)))
    console.print(rows if infos else "no task has failed")


def show_clients(console: Console, clients: Sequence[Client]) -> None:
    """The processes that are connected."""
    rows = Sheet(
        "process", "user", "pool", "handlers", "runs", "command",
        numbers=("process", "user", "handlers", "runs"), spare=("user", "handlers"), prose=("command",),
    )  # fmt: skip
    for each in clients:
        rows.add_row(
            str(each.process), str(each.user), Text(each.pool or "–"), str(each.handlers), str(each.runs),
            Text(each.command),
        )  # fmt: skip
    console.print(rows if clients else "no other process is connected")


def _last_run(info: TaskInfo, now: int) -> str:
    """How the last run ended, and when; one that was stopped leaves the instant of the one before it."""
    assert info.last_outcome is not None
    end = words(info.last_outcome)
    return end if info.last_outcome is Outcome.STOPPED else f"{end}, {show(max(0, now - info.last_run_ns))} ago"


def _failure_text(info: TaskInfo, last: LastFailure, now: int) -> str:
    why = why_failed(info)
    told = f": {why}" if why else ""
    attempt = f" in attempt {last.attempt}" if last.attempt else ""
    return f"{show(max(0, now - last.at_ns))} ago{attempt}{told}"


_OUTPUT_SHOWN: Final = 60
"""Bytes of what a task left."""


def _output_text(scheduler: Scheduler, id: str) -> str:
    left = scheduler.output(id)
    if not left:
        return ""
    shown = printable(left[:_OUTPUT_SHOWN].decode(errors="backslashreplace"))
    return f"{len(left)} bytes: {shown}{' …' if len(left) > _OUTPUT_SHOWN else ''}"


def show_explanation(
    console: Console, scheduler: Scheduler, info: TaskInfo, why: Explanation, budget: int | None
) -> None:
    """Everything about one task."""
    now = scheduler.now_ns
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", justify="right", no_wrap=True)
    facts.add_column()

    def fact(name: str, value: str, style: str = "") -> None:
        if value:
            facts.add_row(name, Text(printable(value, keep="\n"), style))

    schedule = schedule_text(info)
    attempts = f"at most {info.max_attempts} attempts" if info.max_attempts else ""
    timeout = f"timeout {show(info.timeout_ns)}" if info.timeout_ns else ""
    stalls = f"stall limit {show(info.stall_limit_ns)}" if info.stall_limit_ns else ""
    priority = f"priority {words(info.priority)}"
    latest = f"too late after {show(info.latest_begin_ns)}" if info.latest_begin_ns else ""
    jitter = f"jitter {info.jitter:.1%}" if info.jitter else ""
    steady = "steady" if info.steady else ""
    expedited = "expedited" if info.expedited else ""
    parts = (str(info.kind), schedule, priority, attempts, timeout, stalls, latest, jitter, steady, expedited)
    fact("is", ", ".join(filter(None, parts)))
    fact("needs", constraints(info.requires))
    fact("tags", ", ".join(map(printable, sorted(info.tags))))
    fact("group", printable(info.group or ""))
    fact("conditions", ", ".join(map(printable, info.conditions)))
    fact("command" if is_command(info.handler) else "input", info.input.decode(errors="replace").strip())
    fact("state", _state(info), _STATE_STYLES[info.state])
    if info.progress is not None:
        fact("progress", str(info.progress))
    if not info.state.terminal:
        fact("due", due_text(info, now))
    fact("attempts", str(info.attempts) if info.attempts else "")
    fact("estimate", show(info.estimate_ns))
    if info.last_outcome is not None:
        fact("last run", _last_run(info, now), OUTCOME_STYLES[str(info.last_outcome)])
    if info.last_failure is not None:
        fact("failed", _failure_text(info, info.last_failure, now), OUTCOME_STYLES["failed"])
    fact("took", ", ".join(show(time) for time in info.response_times_ns))
    after = (f"{printable(one)} (waits)" if one in info.waits_for else printable(one) for one in info.after)
    fact("after", ", ".join(after))
    if info.output_lost:
        fact("left", f"{info.output_lost} bytes, which are too many and were not kept")
    if info.output_length:
        with suppress(SeleneError):
            fact("left", _output_text(scheduler, info.id))
    if why.rank:
        fact("rank", f"{why.rank} of {why.eligible}, score {why.score:.3f}")
    if why.latest_begin_ns is not None:
        first = ", so it goes first" if why.urgent else ""
        fact("too late", f"in {show(max(0, why.latest_begin_ns - now))}{first}")
    if why.expedited:
        fact("expedited", "so it goes first")
    if why.unknown:
        fact("not known", f"so taken as satisfied: {constraints(why.unknown)}")
    if why.pace is not None:
        fact("pace", why.turn(now))
    fact("why", why_text(why, now, budget), "bold")
    console.print(Text(printable(info.id), "bold"))
    console.print(facts)


def _news(task: model.Task) -> str:
    """In how many of its last runs a task found something new."""
    found, known = task.news
    return f"{found} of {known}" if known else "–"


def show_history(console: Console, history: model.History, took: float, page: Path | None) -> None:
    """The sums of a simulation."""
    learnt = any(task.pace is not None for task in history.tasks)
    numbers = (
        "runs", "new data", "no data", "failed", "did not fit", "conditions", "mean", "every", "greatest age",
        *(("news", "pace") if learnt else ()),
    )  # fmt: skip
    rows = Sheet(
        "task",
        *numbers,
        numbers=numbers,
        spare=("every", "mean", "no data", "conditions"),
    )
    for task, total in zip(history.tasks, history.task_sums, strict=True):
        rows.add_row(
            Text(task.id),
            str(total.runs),
            str(total.outcomes["new_data"]),
            str(total.outcomes["no_data"]),
            Text(str(total.failures), "red" if total.failures else "dim"),
            str(total.fates[model.Fate.DID_NOT_FIT]),
            str(total.fates[model.Fate.CONDITIONS]),
            show(total.busy // total.runs) if total.runs else "–",
            "–" if total.interval is None else show(total.interval),
            show(total.oldest),
            *([] if not learnt else [_news(task), "–" if task.pace is None else f"{task.pace / 1000:.2f}"]),
        )
    console.print(Text(history.title, "bold"))
    console.print(Text(", ".join(history.facts), "dim"))
    console.print()
    console.print(Padding(rows, (0, 0, 0, 2), expand=False))
    used = 100 * history.used / max(history.budget, 1)
    console.print(
        f"\n  {len(history.runs)} runs in {len(history.windows)} windows, {show(history.end - history.begin)} played in"
        f" {took:.2f} s; used {show(history.used)} of {show(history.budget)} ({used:.0f} %)"
    )
    if page is not None:
        console.print(Text(f"  the report is in {page}"))
