"""The report: its sums, its page, and how the page looks in a browser."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import struct
import subprocess
import zlib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pyselene.cli.duration import DAY, HOUR, MINUTE, SECOND
from pyselene.cli.report import Away, Fate, History, Run, Task, Window, render
from pyselene.cli.report.axis import marks

BEGIN = 1_767_571_200 * SECOND
"""A Monday, 00:00 UTC."""


def made_history(task_count: int = 24, days: int = 7, seed: int = 1) -> History:
    """A history as a scheduler could have made it, without one."""
    draw = random.Random(seed)
    end = BEGIN + days * DAY
    tasks = [
        Task(
            id=f"{('feed', 'mail', 'photos', 'index', 'backup', 'maps')[n % 6]}.{n:02}",
            registered_at=BEGIN,
            kind="processing" if n % 7 == 6 else "refresh",
            schedule="once" if n % 11 == 5 else "periodic" if n % 3 == 0 else "standing",
            priority=1 + n % 5,
            every=(2 + n % 5) * HOUR if n % 3 == 0 else None,
            requires=("network",) if n % 4 == 1 else ("power",) if n % 8 == 6 else (),
        )
        for n in range(task_count)
    ]
    away = [
        part
        for day in range(days)
        for part in (
            Away("network", BEGIN + day * DAY + 1 * HOUR, BEGIN + day * DAY + 5 * HOUR),
            Away("power", BEGIN + day * DAY + 8 * HOUR, BEGIN + day * DAY + 19 * HOUR),
        )
    ]
    last = [BEGIN] * task_count
    due = [BEGIN] * task_count
    over = [False] * task_count
    runs: list[Run] = []
    windows: list[Window] = []
    for number in range(days * 96):
        at = begin = BEGIN + number * 15 * MINUTE
        budget = 30 * SECOND
        gone = {part.condition for part in away if part.begin <= begin < part.end}
        fates = [Fate.NOT_DUE] * task_count
        left_out = 0
        order = sorted(range(task_count), key=lambda n: -tasks[n].priority * (begin - last[n] + 1))
        eligible = 0
        for n in order:
            task = tasks[n]
            if over[n]:
                fates[n] = Fate.OVER
            elif due[n] > begin:
                fates[n] = Fate.BACKING_OFF if task.schedule == "once" else Fate.NOT_DUE
            elif gone & set(task.requires):
                fates[n] = Fate.CONDITIONS
            else:
                eligible += 1
                mean = (1 + n % 9) * SECOND
                took = round(mean * draw.lognormvariate(0, 0.4))
                if at + mean > begin + budget * 19 // 20:
                    fates[n] = Fate.DID_NOT_FIT
                    left_out += 1
                    continue
                fates[n] = Fate.RAN
                ran_over = at + took > begin + budget
                took = min(took, begin + budget - at)
                luck = draw.random()
                outcome = (
                    "expired"
                    if ran_over
                    else "failed"
                    if luck < 0.05
                    else "abandoned"
                    if luck < 0.055
                    else "no_data"
                    if luck < 0.4
                    else "stopped"
                    if luck > 0.995
                    else "new_data"
                )
                runs.append(Run(n, number, at, took, outcome, 1, draw.random(), mean))
                at += took
                last[n] = at
                due[n] = at + (task.every or 0) + (HOUR if outcome == "failed" else 0)
                over[n] = task.schedule == "once" and outcome in ("new_data", "no_data")
        windows.append(Window(begin, at, budget, budget // 20, eligible, left_out, "".join(fates)))
    return History("Made up", tasks, windows, runs, BEGIN, end, away, ("672 windows of 30 s", "seed 1"))
