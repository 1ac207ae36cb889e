"""C and Python, given the same workload on a virtual clock, make the same decisions to the last digit."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

import pyselene as selene
from pyselene._library import _find
from pyselene._time import SECOND, instant
from pyselene.testing import VirtualClock

HERE = Path(__file__).resolve().parent
BACKOFFS = (selene.NoBackoff, selene.Linear, selene.Exponential)


def workload(seed: int) -> list[list[str]]:
    """A random one."""
    chance = random.Random(seed)
    lines = []
    for _ in range(400):
        what = chance.random()
        if what < 0.3:
            schedule = chance.choice((3, 3, 1, 2))
            lines.append(
                f"register task{chance.randrange(40)} {chance.choice((1, 2))} {schedule} {chance.randint(1, 5)} "
                f"{chance.randrange(6 * SECOND)} {chance.choice((0, chance.randrange(90 * SECOND)))} "
                f"{chance.randrange(SECOND, 600 * SECOND) if schedule == 2 else 0} {chance.randrange(3)} "
                f"{chance.choice((0, 0, 1, 4))}"
            )
        elif what < 0.6:
            lines.append(f"advance {chance.randrange(120 * SECOND)}")
        else:
            budget = chance.randrange(SECOND, 40 * SECOND)
            lines.append(f"cycle {chance.randint(1, 3)} {budget} {chance.randrange(2)}")
    return [line.split() for line in lines]


class Nanoseconds:
    """Durations given as they are."""

    def __new__(cls, ns: str) -> float:  # type: ignore[misc]
        """Seconds from which the very same nanoseconds come again (below two months)."""
        return int(ns) / SECOND


def play(lines: list[list[str]]) -> list[str]:
    """Plays it through the public interface."""
    clock = VirtualClock(instant(1_700_000_000 * SECOND))
    out = []
    with selene.Scheduler(clock=clock, seed=7, backoff_jitter=300, max_pending_refresh=5, hold=True) as scheduler:
        for verb, *arguments in lines:
            if verb == "advance":
                clock.advance_ns(int(arguments[0]))
            elif verb == "register":
                name, kind, schedule, priority, expected, delay, period, backoff, attempts = arguments
                scheduler.register_handler(name, None)
                try:
                    disposition = scheduler.register(
                        selene.Task(
                            name,
                            kind=selene.Kind(int(kind)),
                            schedule=selene.Schedule(int(schedule)),
                            priority=int(priority),
                            expected=Nanoseconds(expected),
                            delay=Nanoseconds(delay),
                            every=Nanoseconds(period) if schedule == "2" else None,
                            backoff=BACKOFFS[int(backoff)](),
                            max_attempts=int(attempts) or None,
                        )
                    )
                    out.append(f"register OK {int(disposition)}")
                except selene.SeleneError as error:
                    out.append(f"register {error.name} -1")
            else:
                kinds, budget, strict = map(int, arguments)
                window = {kind for kind in selene.Kind if kind & kinds}
                report = cycle(scheduler, clock, budget / SECOND, window, bool(strict))
                out.append(f"cycle {int(report.result)} {report.eligible} {report.did_not_fit} {report.ended_at_ns}")
                out += [
                    f"{run.id} {int(run.outcome)} {run.attempt} {run.score:.17g} {run.estimate_ns} "
                    f"{run.started_at_ns} {run.response_time_ns}"
                    for run in report.runs
                ]
    return out


def cycle(
    scheduler: selene.Scheduler, clock: VirtualClock, budget: float, kinds: set[selene.Kind], strict: bool
) -> selene.Report:
    """A pulled one, whose runs take what their begin says."""
    late = None
    with scheduler.begin(budget, kinds=kinds, strict_fit=strict, frozen=True) as pulled:
        for run in pulled:
            takes = (run.started_at_ns // 1000 % 1000003 * 7919000 + run.priority * 104729 + run.attempt * 13) % (
                4 * SECOND
            )
            if takes > run.deadline_ns - clock.now_ns:
                clock.advance_ns(run.deadline_ns - clock.now_ns)
                late = run
                break
            clock.advance_ns(takes)
            run.complete(selene.Outcome(takes // 1000 % 4))
    if late is not None:
        with pytest.raises(selene.StaleRun):
            late.complete()
    return pulled.report


@pytest.mark.parametrize("seed", range(6))
def test_c_and_python_decide_the_same(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    program = tmp_path_factory.getbasetemp() / "decisions"
    if not program.exists():
        compiler = shutil.which("cc") or pytest.fail("no C compiler")
        library = _find().resolve()
        command = [compiler, "-std=c11", "-O1", "-Wall", "-Wextra", f"-I{HERE}/../../../include", f"{HERE}/decisions.c"]
        subprocess.run([*command, "-o", program, library, f"-Wl,-rpath,{library.parent}"], check=True)
    lines = workload(seed)
    text = "\n".join(" ".join(line) for line in lines)
    # By the path itself: the library's own name may not stand beside it.
    done = subprocess.run([program], input=text, capture_output=True, text=True, env={"LD_PRELOAD": str(_find())})
    assert done.returncode == 0, done.stderr
    found = play(lines)
    assert found == done.stdout.splitlines()
    assert sum(line.startswith("cycle") for line in found) > 100
