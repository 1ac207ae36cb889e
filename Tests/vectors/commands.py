"""Plays commands.json with selene-run or pyselene: the same words, units, combinations and exit codes in both."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILE = json.loads(Path(__file__).with_suffix(".json").read_text())
ONE_TASK = [{"id": "a", "command": "true"}]


def selene(tasks):
    """The text of a workload of selene-run."""

    def word(value):
        if isinstance(value, bool):
            return str(value).lower()
        return ",".join(map(word, value)) if isinstance(value, list) else str(value)

    lines = []
    for task in tasks:
        keys = " ".join(f"{key}={word(value)}" for key, value in task.items() if key not in ("id", "command"))
        lines.append(f"{task['id']} {keys} -- {task['command']}\n")
    return "".join(lines)


def toml(tasks):
    """The text of a workload of pyselene."""
    tables = ("".join(f"{key} = {json.dumps(value)}\n" for key, value in task.items() if key != "id") for task in tasks)
    return "".join(f"[tasks.{task['id']}]\n{table}" for task, table in zip(tasks, tables))


def as_selene_run(arguments):
    """What are commands of pyselene are options of selene-run."""
    name, *rest = arguments
    if name == "run":
        return rest
    if name == "why":
        return arguments
    for by in ("tag", "group"):
        if name in ("pause", "resume") and f"--{by}" in rest:
            place = rest.index(f"--{by}")
            return [f"--{name}-{by}", *rest[place + 1 :], *rest[:place]]
    return ["--explain", *rest] if name == "explain" else [f"--{name}", *rest]


def written(text):
    """A text without frames around it, and however it is broken into lines."""
    return re.sub(r"[\s│]+", " ", text)


def play(example, folder, call, workload):
    """Plays one example in an empty folder; gives what was wrong.

    call: calls the program with arguments and perhaps a signal that it gets, and gives its exit code and what it said;
    workload: makes a text of tasks.
    """
    (folder / "workload").write_text(workload(example.get("tasks", ONE_TASK)))
    calls = [(arguments, "KILL") for arguments in example.get("killed", ())]
    calls += [(arguments, example.get("signal")) for arguments in [*example.get("before", ()), example["arguments"]]]
    for arguments, number in calls:
        words = ["workload" if argument == "WORKLOAD" else argument for argument in arguments]
        end, said = call(words, number)
    said = written(said)
    wrong = [f"ended with {end} instead of {example['exit']}"] * (end != example["exit"])
    wrong += [f"does not say: {part}" for part in example.get("says", ()) if part not in said]
    wrong += [f"says: {part}" for part in example.get("leaves_out", ()) if part in said]
    return "\n".join([*wrong, said]) if wrong else ""


def start(command, cwd, env):
    """Starts a program that prints into a pipe."""
    return subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def call(command, number, folder, environment, start=start):
    """Runs a command; with a signal that it gets once the task says that it was started."""
    # Some give commands to test programs with signals ignored, which they would inherit.
    before = {name: signal.signal(name, signal.SIG_DFL) for name in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)}
    try:
        process = start(command, folder, {**environment, "SELENE_WORK": str(folder / "work")})
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    end = time.monotonic() + 60
    while number and not (folder / "started").exists() and time.monotonic() < end and process.poll() is None:
        time.sleep(0.02)
    if number:
        process.send_signal(getattr(signal, f"SIG{number}"))
    said, _ = process.communicate(timeout=120)
    return process.returncode, said


def options_in(text):
    """The long options that a help tells."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def main(runner):
    """Plays all with selene-run, as the shell tests do."""
    passed = failed = 0
    for example in FILE["examples"]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)

            def run(words, number, folder=folder):
                return call([runner, *as_selene_run(words)], number, folder, os.environ)

            wrong = play(example, folder, run, selene)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print(f"FAILED {example['name']}\n    {wrong}" if wrong else f"ok {example['name']}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
