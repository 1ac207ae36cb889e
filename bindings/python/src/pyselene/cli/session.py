"""The command ``run``: windows one after another, signals, and what is shown meanwhile."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING, Any

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
    Outcome,
    ReasonCode,
    Report,
    Scheduler,
    SeleneError,
)
from . import duration, show, wire
from .board import Board
from .child import adopt, reap_strays
from .live import LiveTable
from .problem import Exit, Problem
from .runner import Runner
from .workload import Workload

if TYPE_CHECKING:
    from rich.console import Console

_SETTLING = 0.05
"""Age counts from registration.  Too short to be noticed, and long against the time between two
registrations that priorities, not lines, decide the first window."""

_LONGEST_SLEEP = 60.0
"""How often conditions are looked at with ``--follow``, in seconds."""

_ASK_AGAIN = 10.0
"""With ``--follow`` a governor that refused is asked again after this many seconds at the latest."""

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


class Session:
    """One ``run``.  A thread drives the windows; the main thread waits for it and for signals."""

    def __init__(self, console: Console, scheduler: Scheduler, workload: Workload, runner: Runner, plan: Plan) -> None:
        self.console = console
        self.scheduler = scheduler
        self.workload = workload
        self.runner = runner
        self.plan = plan
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
        self.runner.on_lost = self._stop
        self.scheduler.observe(self._tell_trouble)
        driver.start()
        try:
            while not self._over.is_set():
                select.select([news], [], [])
                os.read(news, 4096)
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
            self.runner.kill()
            return
        self.signal = number
        told = "stopping what runs; once more kills it at once" if self.runner.busy else "stopping"
        sys.stderr.write(f"pyselene: {told}\n")
        self._stop()

    def _tell_trouble(self, event: Event) -> None:
        if event.type is EventType.TROUBLE:
            told = f"trouble is over: {event.detail}" if event.error is None else f"trouble: {event.error.detail}"
            self.console.print(Text(told, "yellow"))

    def _stop(self) -> None:
        if self._ended.is_set():
            return
        self._ended.set()
        # On a thread of its own: a signal may come while this thread holds whatever it holds.
        threading.Thread(target=self.scheduler.close, args=(self.runner.grace + 1,), daemon=True).start()

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
        if self._sleep(_SETTLING):
            return Exit.DONE
        if self.plan.now is not None:
            return self._run_now(self.plan.now)
        number = 0
        while self.plan.cycles is None or number < self.plan.cycles:
            number += 1
            if self.plan.follow and not self._sleep_until_wakeup():
                break
            of = f" of {self.plan.cycles}" if self.plan.cycles is not None else ""
            window = self._granted()
            if window is None:
                if self.plan.follow:
                    number -= 1  # it was no window
                    if self._sleep(self._until_asking_again()):
                        break
                elif number < (self.plan.cycles or 0) and self._sleep(self.plan.window.every / 1e9):
                    break
                continue
            report = self._window(f"window {number}{of}", window)
            if not self._anything_left():
                self.console.print("nothing is left to do")
                break
            if self.plan.follow or number == self.plan.cycles:
                continue
            spent = self.scheduler.now_ns - report.began_at_ns
            if self._sleep((self.plan.window.every - spent) / 1e9):
                break
        if self.plan.check and any(map(self._has_failed, self._ids())):
            return Exit.TASK_FAILED
        return Exit.DONE

    def _run_now(self, id: str) -> int:
        try:
            self._window("one task now", self.plan.window, id)
        except ImmediateRunIneligible:
            why = show.why_text(self.scheduler.explain(id), self.scheduler.now_ns)
            raise Problem(f"{id} cannot run now: {why}") from None
        return Exit.TASK_FAILED if self._has_failed(id) else Exit.DONE

    def _granted(self) -> wire.Window | None:
        """The window with the kinds that the governor grants and the time that it leaves them; None: it refuses all."""
        window = self.plan.window
        if self.plan.profile is None and not self.plan.why:
            return window
        self.decide()
        granted = [decision for decision in self._decisions if decision.granted]
        if not granted:
            return None
        longest = min((d.longest_window_ns for d in granted if d.longest_window_ns is not None), default=window.budget)
        budget = max(1, min(window.budget, longest))
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

    def _until_asking_again(self) -> float:
        """Seconds until another decision is likely; signals of the system may change at any time."""
        now = self.scheduler.now_ns
        known = [decision.ask_again_at_ns for decision in self._decisions if decision.ask_again_at_ns is not None]
        return min([_ASK_AGAIN, *((at - now) / 1e9 for at in known if at > now)])

    def _window(self, title: str, window: wire.Window, task: str | None = None) -> Report:
        board = self.runner.board
        board.clear()
        head = show.window_text(self.scheduler, window, title, task)
        view = LiveTable(head, window, board, lambda: self._waiting(board, task))
        live = (
            Live(view, console=self.console, refresh_per_second=8, transient=True) if self.plan.live else nullcontext()
        )
        if not self.plan.live:
            self.console.print(head)
        try:
            with live:
                report = self._cycle(window, task)
        except Closed:
            if self.signal:
                self.runner.leave()
                if self.plan.live:
                    self.console.print(head)
                show.show_stopped(self.console, board)
            raise
        if self.plan.live:
            self.console.print(head)
        ran = {run.id for run in report.runs}
        others = [] if task else [name for name in self._ids() if name not in ran]
        show.show_report(self.console, self.scheduler, report, board, others)
        return report

    def _cycle(self, window: wire.Window, task: str | None) -> Report:
        while True:
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
        return self.scheduler.ids()

    def _anything_left(self) -> bool:
        info = self.scheduler.info()
        return info.enqueued + info.held + info.blocked + info.running > 0

    def _has_failed(self, id: str) -> bool:
        return self.scheduler.get(id).last_outcome in _FAILURES

    def _sleep(self, seconds: float) -> bool:
        """Sleeps; true if a signal came."""
        return self._ended.wait(max(0.0, seconds))

    def _sleep_until_wakeup(self) -> bool:
        """Sleeps until the scheduler wants a window; false when it is time to end."""
        told = False
        conditions = self.scheduler.conditions().satisfied
        while True:
            delay = self.scheduler.next_wakeup_in()
            if delay is not None and delay <= 0:
                return not self.signal
            if not told:
                text = "until a condition changes" if delay is None else duration.show(round(delay * 1e9))
                self.console.print(Text(f"sleeping {text}\n", "dim"))
                told = True
            if self._sleep(min(delay if delay is not None else _LONGEST_SLEEP, _LONGEST_SLEEP)):
                return False
            found = self.scheduler.conditions().satisfied
            if found != conditions:
                conditions, told = found, False
