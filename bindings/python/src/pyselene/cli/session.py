"""The command ``run``: windows one after another, signals, and what is shown meanwhile."""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from rich.live import Live
from rich.text import Text

from .. import (
    Busy,
    Closed,
    Decision,
    Event,
    EventType,
    Factor,
    ImmediateRunIneligible,
    Kind,
    NotFound,
    Outcome,
    ReasonCode,
    Report,
    Scheduler,
    SeleneError,
    StopReason,
    StoreError,
    _raw,
)
from .._forever import Forever, raw_forever
from .._raw import SELENE_MILLISECOND
from . import duration, show, wire
from .board import Board
from .child import adopt, reap_strays
from .edits import Edits
from .guard import PATIENCE, SUFFIX
from .keep import is_note, note_finished, refuse_taken
from .live import LiveTable
from .problem import Exit, Problem, printable
from .runner import Runner
from .workload import Workload

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_SETTLING = 0.05
"""Age counts from registration.  Too short to be noticed, and long against the time between two
registrations that priorities, not lines, decide the first window."""

_LOOK_AT_LOCK = 0.02
"""How often a lock that another process has is asked for."""

_LOOK_AT_WORKLOAD = 1.0
"""With ``--follow`` the workload's file is looked at each second."""

_R = TypeVar("_R", Report, Report | None)

_FAILURES = (Outcome.FAILED, Outcome.ABANDONED, Outcome.EXPIRED)


@dataclass(frozen=True, slots=True)
class Plan:
    """What ``run`` was asked to do."""

    window: wire.Window
    cycles: int | None
    follow: bool = False
    now: str | None = None
    check: bool = False
    live: bool = True
    profile: str | None = None
    why: bool = False
    drain: float = 0.0
    store: Path | None = None


class Session:
    """One ``run``.  A thread drives the windows; the main thread waits for it and for signals."""

    def __init__(
        self,
        console: Console,
        scheduler: Scheduler,
        workload: Workload,
        runner: Runner,
        plan: Plan,
        edits: Edits | None = None,
    ) -> None:
        self.console = console
        self.scheduler = scheduler
        self.workload = workload
        self.runner = runner
        self.plan = plan
        self._edits = edits
        self.signal = 0
        self._decisions: list[Decision] = []
        self._told: dict[Kind, tuple[bool, tuple[Factor, ...]]] = {}
        self._ended = threading.Event()
        self._over = threading.Event()
        self._code: int = Exit.DONE
        self._error: BaseException | None = None

    def run(self) -> int:
        """Does it all, and gives the exit code."""
        adopt()
        news, bell = os.pipe()
        os.set_blocking(bell, False)
        driver = threading.Thread(target=self._drive, args=(bell,), name="pyselene run")
        # A signal that comes just before this thread begins to wait would be noticed at the end only; the bell rings
        # at once, and whatever thread the signal hit.
        ringing = signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
        before = self._catch_signals()
        self.runner.on_lost = lambda: self._stop(0)
        self.scheduler.observe(self._tell_trouble)
        driver.start()
        try:
            while not self._over.is_set():
                if select.select([news], [], [], _LOOK_AT_WORKLOAD if self._edits else None)[0]:
                    os.read(news, 4096)
                else:
                    self._look_at_workload()
            driver.join()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(ringing)
            os.close(news)
            os.close(bell)
        reap_strays()
        if error := self._error or self.runner.lost:
            raise error
        # A terminal that goes away is not a request to end what follows: a supervisor should start it again.
        asked = self.plan.follow and self.signal in (signal.SIGINT, signal.SIGTERM)
        if self.signal and self._code == Exit.DONE and not asked:
            return Exit.SIGNALLED + self.signal
        return self._code

    def _catch_signals(self) -> dict[signal.Signals, Any]:
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT]
        # nohup wants to outlive the terminal.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        return {number: signal.signal(number, self._interrupt) for number in numbers}

    def _interrupt(self, number: int, _frame: FrameType | None) -> None:
        if self.signal:
            self._stop(0, kills=True)
            return
        self.signal = number
        told = "stopping what runs; once more kills it at once" if self.runner.busy else "stopping"
        sys.stderr.write(f"pyselene: {told}\n")
        self._stop()

    def _tell_trouble(self, event: Event) -> None:
        if event.type is EventType.TROUBLE:
            told = f"trouble is over: {event.detail}" if event.error is None else f"trouble: {event.error.detail}"
            self.console.print(Text(printable(told), "yellow"))

    def _stop(self, drain: float | None = None, kills: bool = False) -> None:
        if self._ended.is_set() and not kills:
            return
        self._ended.set()

        def close() -> None:
            self.scheduler.close(self.plan.drain if drain is None else drain)
            if kills:  # only now, as a run that fails before has failed
                self.runner.kill()

        # On a thread of its own: a signal may come while this thread holds whatever it holds.
        threading.Thread(target=close, daemon=True).start()

    def _drive(self, bell: int) -> None:
        try:
            self._code = self._work()
        except Closed as error:
            self._error = None if self.signal or self.runner.lost else error
        except BaseException as error:  # raised again where `run` waits
            self._error = error
        finally:
            self.runner.leave()
            self._over.set()
            os.write(bell, b"\0")

    def _work(self) -> int:
        runs = self.plan.store is not None and self.plan.cycles != 0
        if (runs and not self._lock()) or self._sleep(_SETTLING):
            return Exit.DONE
        if runs:
            self._tell_interrupted()
        if self.plan.now is not None:
            return self._run_now(self.plan.now)
        if self.plan.follow:
            Following(self).run(signals=False)
        else:
            self._work_by_the_clock(self.plan.cycles or 0)
        if self.plan.check and not self.scheduler.closed and any(map(self._has_failed, self._ids())):
            return Exit.TASK_FAILED
        return Exit.DONE

    def _lock(self) -> bool:
        """Waits for commands of another run on this store, which was killed or did not wait for them.

        Returns:
            False if a signal came.
        """
        store = printable(str(self.plan.store))
        end = time.monotonic() + PATIENCE
        told = False
        while (problem := self.runner.lock()) == errno.EWOULDBLOCK and time.monotonic() < end:
            if not told:
                told = True
                sys.stderr.write(
                    f"pyselene: {store}: commands of the run before have not ended yet; waiting for them\n"
                )
            if self._sleep(_LOOK_AT_LOCK):
                return False
        if problem == errno.EWOULDBLOCK:
            sys.stderr.write(f"pyselene: {store}: they have not ended; going on beside them\n")
        elif problem:
            sys.stderr.write(
                f"pyselene: {store}{SUFFIX}: {os.strerror(problem)}; nothing on this store will wait for the commands"
                " of this run if it is killed\n"
            )
        return True

    def _tell_interrupted(self) -> None:
        """Tells which tasks were running when their process ended, and when they run again."""
        for spec in self.workload.tasks:
            try:
                info = self.scheduler.get(spec.id)
            except NotFound:
                # A once task that is finished, and forgotten.
                continue
            if info.stop_reason is not StopReason.INTERRUPTED:
                continue
            again = "now" if spec.id == self.plan.now else show.next_chance(self.scheduler, spec.id)
            attempt = f"attempt {0 if info.last_failure is None else info.last_failure.attempt}"
            if info.last_outcome is Outcome.STOPPED:  # beside others: then it may not have been its fault
                attempt = "which is no attempt"
            told = f"interrupted: {printable(spec.id)} was running when its process ended, {attempt}; again: "
            self.console.print(Text.assemble(session_time(self.plan), told, again))

    def _work_by_the_clock(self, cycles: int) -> None:
        for number in range(1, cycles + 1):
            window = self._granted()
            spent = 0
            if window is not None:
                report = self._window(f"window {number} of {cycles}", window, self._cycle)
                if not self.anything_left():
                    return
                spent = self.scheduler.now_ns - report.began_at_ns
            if number < cycles and self._sleep((self.plan.window.every - spent) / 1e9):
                return

    def _run_now(self, id: str) -> int:
        try:
            self._window("one task now", self.plan.window, self._cycle, id)
        except ImmediateRunIneligible:
            why = show.why_text(self.scheduler.explain(id), self.scheduler.now_ns)
            raise Problem(f"{id} cannot run now: {why}") from None
        return Exit.TASK_FAILED if self._has_failed(id) else Exit.DONE

    def _granted(self) -> wire.Window | None:
        """The window with the kinds that the governor grants and the time that it leaves them; None: it refuses all."""
        if self.plan.profile is None and not self.plan.why:
            return self.plan.window
        self.decide()
        return self._as_decided()

    def _as_decided(self) -> wire.Window | None:
        window = self.plan.window
        granted = [decision for decision in self._decisions if decision.granted]
        if not granted:
            return None
        longest = min((d.longest_window_ns for d in granted if d.longest_window_ns is not None), default=window.budget)
        budget = max(SELENE_MILLISECOND, min(window.budget, longest))
        reserve = window.reserve if window.reserve is None else min(window.reserve, budget)
        return replace(window, kinds=tuple(str(decision.kind) for decision in granted), budget=budget, reserve=reserve)

    def decide(self) -> None:
        """Asks the governor about each kind, and shows what it decides."""
        self._decisions = [self.scheduler.governor.decide(kind) for kind in self.plan.window.kinds]
        self._tell_decisions()

    def _tell_decisions(self) -> None:
        """Shows what was decided, once until it is decided otherwise."""
        for decision in self._decisions:
            found = (decision.granted, tuple(finding.factor for finding in decision.vetoes))
            if self._told.get(decision.kind) == found and not self.plan.why:
                continue
            self._told[decision.kind] = found
            if self.plan.why:
                self.console.print(Text(str(decision)))
            elif not decision.granted:
                self.console.print(Text(f"the governor refuses {decision.kind} windows: {decision.why}", "yellow"))

    def _window(
        self,
        title: str,
        window: wire.Window,
        work: Callable[[wire.Window, str | None], _R],
        task: str | None = None,
    ) -> _R:
        board = self.runner.board
        board.clear()
        head = show.window_text(self.scheduler, window, session_time(self.plan) + title, task)
        view = LiveTable(head, window, board, lambda: self._waiting(board, task))
        live = (
            Live(view, console=self.console, refresh_per_second=8, transient=True) if self.plan.live else nullcontext()
        )
        if not self.plan.live:
            self.console.print(head)
        try:
            with live:
                report = work(window, task)
            told = self._told_of(report, task)
        except Closed:
            if self.signal:
                self._show(head, self._told_stopped())
            raise
        self._show(head, told)
        return report

    def _told_of(self, report: Report | None, task: str | None) -> RenderableType | None:
        """What a window did. One that a signal ends is told in one way, whether the window or the close came first."""
        if self.signal:
            return self._told_stopped()
        if report is None:
            return None
        ran = {run.id for run in report.runs}
        others = [] if task else [name for name in self._ids() if name not in ran]
        return show.report_text(self.scheduler, report, self.runner.board, others)

    def _told_stopped(self) -> RenderableType:
        self.runner.leave()
        return show.stopped_text(self.runner.board)

    def _show(self, head: Text, told: RenderableType | None) -> None:
        if self.plan.live:
            self.console.print(head)
        if told is not None:
            self.console.print(told)

    def _cycle(self, window: wire.Window, task: str | None) -> Report:
        try:
            return self.scheduler.run_cycle(
                window.budget / 1e9,
                kinds=window.wanted,
                reserve=None if window.reserve is None else window.reserve / 1e9,
                lanes=window.lanes,
                strict_fit=window.strict_fit,
                task=task,
            )
        except Busy as error:
            raise Problem(f"the window was refused: {error}") from None

    # ---- --follow -----------------------------------------------------------------

    def follow_window(self, number: int, work: Callable[[], Report | None]) -> None:
        """Shows a window of the driver while it is worked on."""
        of = f" of {self.plan.cycles}" if self.plan.cycles is not None else ""
        self.look_at_decisions()
        window = self._as_decided() if self._decisions else self.plan.window
        self._window(f"window {number}{of}", window or self.plan.window, lambda _window, _task: work())

    def look_at_decisions(self) -> None:
        """Shows what the governor has decided for the driver, where it is asked."""
        if self.plan.profile is not None or self.plan.why:
            found = (self.scheduler.governor.last(kind) for kind in self.plan.window.kinds)
            self._decisions = [decision for decision in found if decision is not None]
            self._tell_decisions()

    def tell_sleep(self, wakes_at: datetime | None) -> None:
        """Shows what is waited for until an instant."""
        delay = None if wakes_at is None else (wakes_at - self.scheduler.now).total_seconds()
        text = "until a condition changes" if delay is None else duration.show(max(0, round(delay * 1e9)))
        self.console.print(Text(f"{session_time(self.plan)}sleeping {text}\n", "dim"))

    def _look_at_workload(self) -> None:
        """Takes over what was edited."""
        if self._edits is None or self.signal:
            return
        try:
            fresh = self._edits.look()
            if fresh is not None:
                self._take_over(fresh)
        except Closed:
            pass
        except (Problem, SeleneError) as problem:
            told = printable(str(problem), keep="\n")
            sys.stderr.write(f"pyselene: {told}\n")

    def _take_over(self, fresh: Workload) -> None:
        refuse_taken(self.scheduler, self.scheduler.path or "memory", fresh)
        self.scheduler.enable(Kind)  # whatever kinds run here, tasks of the others may stand in it
        try:
            wire.register(self.scheduler, fresh, self.runner)
        finally:
            wire.enable(self.scheduler, self.plan.window.kinds)
        for spec in self.workload.tasks:
            if fresh.task(spec.id) is None:
                with suppress(NotFound):
                    self.scheduler.cancel(spec.id)
        self.workload = fresh
        count = len(fresh.tasks)
        told = f"{printable(fresh.path)} was edited: it has {count} {'task' if count == 1 else 'tasks'} now"
        self.console.print(Text(session_time(self.plan) + told, "dim"))

    def _waiting(self, board: Board, task: str | None) -> Sequence[tuple[str, str]]:
        """The tasks that wait, each with its reason, for the live table."""
        if task or self.signal:
            return ()
        view = board.view()
        busy = {run.id for run in view.active} | {run.id for run in view.done}
        try:
            now = self.scheduler.now_ns
            next_ones: list[tuple[int, str]] = []
            others: list[tuple[str, str]] = []
            for name in self._ids():
                if name in busy:
                    continue
                why = self.scheduler.explain(name)
                if why.reasons:
                    # That it is not in this window goes without saying.
                    reasons = [reason for reason in why.reasons if reason.code is not ReasonCode.NEXT_CYCLE]
                    told = (show.reason_text(reason, why, now) for reason in reasons or why.reasons)
                    others.append((name, "; ".join(told)))
                else:
                    next_ones.append((why.rank, name))
            return [(name, f"its turn is yet to come, rank {rank}") for rank, name in sorted(next_ones)] + others
        except SeleneError:
            return ()

    def _ids(self) -> list[str]:
        return [one for one in self.scheduler.ids() if not is_note(one)]

    def anything_left(self) -> bool:
        """Whether any task may still run; if not, that is told."""
        note_finished(self.scheduler, self.workload, wire.kinds_named(self.plan.window.kinds))
        info = self.scheduler.info()
        notes = sum(is_note(one) and not self.scheduler.get(one).state.terminal for one in self.scheduler.ids())
        found = info.enqueued + info.held + info.blocked + info.running > notes
        if not found:
            self.console.print("nothing is left to do")
        return found

    def _has_failed(self, id: str) -> bool:
        return self.scheduler.get(id).last_outcome in _FAILURES

    def _sleep(self, seconds: float) -> bool:
        """Sleeps; true if a signal came."""
        return self._ended.wait(max(0.0, seconds))


class Following(Forever):
    """The driver of a session with --follow, which asks the governor only where that is wanted."""

    def __init__(self, session: Session) -> None:
        window = session.plan.window
        budget = window.budget / 1e9 if window.limited else None
        raw = raw_forever(budget, None, window.wanted, window.lanes, window.strict_fit, frozen=False)
        if window.reserve is not None:
            raw.reserve = window.reserve
        if session.plan.profile is not None or session.plan.why:
            raw.flags &= ~_raw.SELENE_DRIVER_UNGOVERNED
        super().__init__(session.scheduler._engine, raw, None)
        self._session = session
        self._windows = 0
        #: What was told that it sleeps for; () after a window.
        self._told: datetime | tuple[()] | None = ()

    def _work_on(self, token: int) -> None:
        session = self._session
        self._windows += 1
        session.follow_window(self._windows, lambda: self._report_of(token))
        self._told = ()
        if not session.anything_left() or self._windows == session.plan.cycles:
            self._stopping = True

    def _report_of(self, token: int) -> Report | None:
        # A store that refuses is told of as trouble; the driver opens the next window when it is over.
        with suppress(StoreError):
            return self._run(self._drive(token))
        return None

    def _rest(self, poll: select.poll) -> None:
        session = self._session
        session.look_at_decisions()
        wakes_at = session.scheduler.next_wakeup()
        # What is due already waits for the governor, and in trouble for its end; both are told for themselves.
        waits = wakes_at is None or wakes_at > session.scheduler.now
        if waits and wakes_at != self._told and not session.scheduler.info().troubles:
            self._told = wakes_at
            session.tell_sleep(wakes_at)
        super()._rest(poll)


def session_time(plan: Plan) -> str:
    """What a line begins with: the time of day where one stays."""
    return time.strftime("%Y-%m-%d %H:%M:%S  ") if plan.follow else ""
