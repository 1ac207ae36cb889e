"""Runs all benchmarks in one go, each in a process of its own, and shows what they found: tables, JSON, a picture.

    make bench               # the short form: some minutes
    make bench FORM=long     # all sizes that fit into memory: half an hour

Writes build/bench/results.json, decision.svg and decision.png. Ends with 1 if a program failed, or if one that answers
the same question as Selene picked other tasks.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import aims
import picture
from machine import free_memory, machine
from results import Results
from tables import grouped, tables

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build/bench"
PYTHON = Path(__file__).parent
LIBRARY = ROOT / "build/libselene.so"
K, M = 1_000, 1_000_000
SIZES = (K, 10 * K, 100 * K, M, 10 * M)


@dataclass(frozen=True)
class Program:
    """One of the benchmarks, and up to how many tasks each form measures it."""

    name: str
    command: tuple[str, ...]
    short: int = 0
    """0: it has no number of tasks."""
    long: int = 0
    bytes_a_task: int = 0
    """What it needs of memory at most."""
    last: bool = False
    """Its larger sizes come after those of the others: what the time of the short form may not reach."""

    def sizes(self, form: str) -> tuple[int, ...]:
        """For one process each."""
        most = {"check": min(self.short, K), "short": self.short, "long": self.long}[form]
        return tuple(size for size in SIZES if size <= most) if self.short else (0,)


def c(name: str, *arguments: str) -> tuple[str, ...]:
    """A program in C."""
    return (str(PROGRAMS / name), "--json", *arguments)


def python(name: str, *arguments: str) -> tuple[str, ...]:
    """One in Python."""
    return (sys.executable, "-B", str(PYTHON / name), "--json", *arguments)


def programs(form: str, folder: Path = PROGRAMS) -> list[Program]:
    """In the order in which they run at each size; stores are made in the folder."""
    rounds = {"check": "2", "short": "11", "long": "21"}[form]
    return [
        Program("load", c("load", str(LIBRARY.resolve()))),
        Program("store", c("store", str(folder))),
        Program("scale", c("scale"), 10 * M, 10 * M, 400),
        Program("heaps", c("heaps"), 10 * M, 10 * M, 100),
        Program("sort and scan", c("sort_and_scan"), M, 10 * M, 200),
        Program("libuv", c("libuv"), 10 * M, 10 * M, 200),
        Program("sqlite", c("sqlite"), M, 10 * M, 300),
        Program("pyselene's plan", python("decide.py", "--only", "pyselene"), 100 * K, M, 3000, last=True),
        Program("APScheduler", python("decide.py", "--only", "apscheduler"), 100 * K, M, 2000, last=True),
        Program("dispatch", c("dispatch"), M, 10 * M, 900),
        Program("dispatch in Python", python("dispatch.py", "--rounds", rounds), 10 * K, 100 * K, 10000, last=True),
        Program("open", c("open", str(folder)), 100 * K, 10 * M, 500, last=True),
    ]


def missing(program: Program) -> str | None:
    """What is not there for it."""
    if program.name == "APScheduler" and importlib.util.find_spec("apscheduler") is None:
        return "the package apscheduler is not installed"
    if program.name == "libuv" and not Path(program.command[0]).exists():
        return "uv.h was not found (Debian and Ubuntu: libuv1-dev)"
    return None


def run(program: Program, tasks: int, results: Results, limit: float) -> bool:
    """False if it failed."""
    command = [*program.command, *([str(tasks)] if tasks else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        results.left_out.append(f"{label(program, tasks)}: not ready after {limit:.0f} s")
        return True
    if done.returncode != 0:
        print(f"\n{label(program, tasks)} failed ({done.returncode}): {done.stderr.strip()}", file=sys.stderr)
        return False
    results.read(done.stdout)
    return True


def label(program: Program, tasks: int) -> str:
    """For people."""
    return f"{program.name}, {grouped(tasks)} tasks" if tasks else program.name


def rounds_of(form: str, folder: Path) -> Iterator[tuple[int, list[Program]]]:
    """Size by size, so that what is compared is measured at one time; larger sizes of those that wait come last."""
    asked = programs(form, folder)
    for tasks in (0, *SIZES):
        yield tasks, [one for one in asked if tasks in one.sizes(form) and (tasks <= K or not one.last)]
    for tasks in SIZES:
        yield tasks, [one for one in asked if tasks in one.sizes(form) and tasks > K and one.last]


def run_all(form: str, folder: Path, results: Results, seconds: float) -> bool:
    """False if one failed."""
    begin, whole = time.monotonic(), True
    for tasks, asked in rounds_of(form, folder):
        if not asked:
            continue
        print(f"{f'{grouped(tasks)} tasks' if tasks else 'the library':>16}:", end="", flush=True)
        for program in asked:
            spent = time.monotonic() - begin
            if missing(program):
                continue
            if reason := too_much(program, tasks, spent, seconds):
                results.left_out.append(f"{label(program, tasks)}: {reason}")
            else:
                print(f" {program.name},", end="", flush=True)
                whole &= run(program, tasks, results, max(60.0, seconds - spent + 60))
        print(f" {time.monotonic() - begin:.0f} s")
    return whole


def run_hosts(form: str, results: Results) -> bool:
    """How soon work begins, and what a neighbour takes from a task; after all else. False if a program failed."""
    tasks, seconds = {"check": ("40", "2"), "short": ("2000", "60"), "long": ("2000", "60")}[form]
    results.machine["hosts"] = f"load {os.getloadavg()[0]:.1f} before enqueue to begin, {seconds} s beside neighbours"
    print(f"{'hosts':>16}: enqueue to begin,", end="", flush=True)
    begin = time.monotonic()
    whole = run(Program("latency", c("latency", tasks)), 0, results, 300)
    whole &= run(Program("latency in Python", python("latency.py", tasks)), 0, results, 300)
    print(" neighbours,", end="", flush=True)
    programs = [Program("neighbour", c("neighbour", seconds))]
    programs += [Program("neighbour in Python", python("neighbour.py", seconds))]
    with ThreadPoolExecutor() as pool:
        whole &= all([*pool.map(lambda program: run(program, 0, results, 300), programs)])
    print(f" {time.monotonic() - begin:.0f} s")
    return whole


def too_much(program: Program, tasks: int, spent: float, seconds: float) -> str | None:
    """Why there is no room for it."""
    needed, free = tasks * program.bytes_a_task, free_memory()
    if needed > free * 0.8:
        return f"it may need {needed / 2**30:.1f} GiB of memory, {free / 2**30:.1f} are free"
    return f"the {seconds:.0f} s of this form were over" if spent > seconds else None


def leave_out(form: str, results: Results) -> None:
    """Says what is missing, and which sizes this form does not have."""
    rest: dict[int, list[str]] = {}
    for program in programs(form):
        if reason := missing(program):
            results.left_out.append(f"{program.name}: {reason}")
        elif program.short:
            for size in SIZES:
                if size not in program.sizes(form):
                    rest.setdefault(size, []).append(program.name)
    if importlib.util.find_spec("huey") is None:
        results.left_out.append("huey: the package huey is not installed")
    for size, names in sorted(rest.items()):
        results.left_out.append(f"{grouped(size)} tasks, which would take long: {', '.join(names)}")


def show(results: Results, folder: Path) -> None:
    """The tables, the picture, and what was left out."""
    print(*tables(results), sep="\n")
    print(*picture.in_letters(results), sep="\n")
    print(*aims.lines(results), sep="\n")
    results.write(folder / "results.json")
    made = [folder / "results.json"]
    try:
        made += picture.draw(results, folder)
    except ImportError:
        results.left_out.append("decision.svg, decision.png: the package matplotlib is not installed")
    print("\nleft out", *(f"  {text}" for text in results.left_out), sep="\n")
    if results.form == "short":
        print("  make bench FORM=long measures all sizes that fit into memory, in about half an hour")
    print("\nwritten", *(f"  {path}" for path in made), sep="\n")


def main() -> int:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("form", nargs="?", choices=("short", "long", "check"), default="short")
    parser.add_argument(
        "--folder", type=Path, default=PROGRAMS, help="where stores are made and results go; build/bench"
    )
    asked = parser.parse_args()
    results = Results(asked.form, machine(LIBRARY.resolve()))
    whole = run_all(asked.form, asked.folder, results, {"short": 210, "long": 7200, "check": 1500}[asked.form])
    whole &= run_hosts(asked.form, results)
    leave_out(asked.form, results)
    show(results, asked.folder)
    for text in results.disagreements():
        print(text, file=sys.stderr)
        whole = False
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
