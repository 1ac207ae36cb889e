"""The command line and the governor: signals, forecast, traces, windows that it grants or refuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pyselene as selene
from forked import Command
from test_cli import call, environment, folder

__all__ = ["folder"]

WORK = """
[tasks.tell]
command = "echo told"
[tasks.build]
kind = "processing"
command = "echo built"
"""


@pytest.fixture
def work(folder: Path) -> Path:
    path = folder / "work.toml"
    path.write_text(WORK)
    return path


def test_signals_of_a_store_that_is_not_there_make_none(folder: Path) -> None:
    assert "tasks.db: No such file" in call("signals", "--store", "tasks.db", code=4).stderr
    assert not (folder / "tasks.db").exists()


def test_why_without_a_profile_tells_what_the_open_one_decides(work: Path) -> None:
    told = call("run", work.name, "--why", "--cycles", "0").stdout
    assert "refresh window granted" in told
    assert "window 1" not in told


def test_signals_are_shown_with_who_says_them() -> None:
    told = call("signals").stdout
    assert [line.split()[0] for line in told.splitlines()[2:]] == [str(member) for member in selene.Signal]
    # Most read it once; on a busy machine the readings are seconds apart.
    ago = r"(now|\d+ s ago)"
    assert re.search(rf"^network +(yes|no) +probe +{ago} +{ago}$", told, re.MULTILINE)
    assert re.search(r"^memory_pressure +(\d+(\.\d)? % +probe|– +nobody) ", told, re.MULTILINE)
    assert "‰" not in told
    for line in told.splitlines()[2:]:
        name, value, *_ = line.split()
        assert (value == "–") == ("unknown" in line), name


def test_signals_as_json_and_of_a_store(folder: Path) -> None:
    with selene.Scheduler("tasks.db") as scheduler:
        scheduler.signals.set("host_presence", "quit")
    found = {row["signal"]: row for row in json.loads(call("signals", "--store", "tasks.db", "--json").stdout)}
    assert found["host_presence"]["text"] == "quit"
    assert found["host_presence"]["source"] == "host"
    assert found["storage_free"]["source"] == "probe"
    assert 0 < found["storage_free"]["value"] <= 1000
    call("signals", "--json", "--watch", code=2)


def test_signals_can_be_watched_until_interrupted() -> None:
    with Command(["signals", "--watch", "--every", "100ms"], environment()) as process:
        assert process.stdout is not None
        for _ in range(2):  # again and again
            while "utc_offset" not in process.stdout.readline():
                assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130


def test_a_forecast_needs_a_store_and_tells_hours(folder: Path) -> None:
    with selene.Scheduler("tasks.db") as scheduler:
        scheduler.governor.used()
    told = call("forecast", "--store", "tasks.db", "--count", "2").stdout
    assert told.count("nothing is known yet of when this machine is used") == 2
    assert " %" not in told
    assert told.count("UTC") == 4
    assert "refresh windows  profile apple" in told
    assert "\n\nprocessing windows  profile apple\n" in told
    found = json.loads(call("forecast", "--store", "tasks.db", "--kinds", "refresh", "--json").stdout)
    assert list(found) == ["refresh"]
    assert len(found["refresh"]) == 8
    assert found["refresh"][0]["probability"] == 0.5
    call("forecast", "--store", "none.db", code=4)
    with selene.Scheduler("tasks.db") as scheduler:
        scheduler.signals.set("background_switch", False)
    assert "background_switch is no" in call("forecast", "--store", "tasks.db").stdout


def test_a_trace_is_recorded_replayed_and_compared(folder: Path) -> None:
    told = call("trace", "record", "day.trace", "--for", "500ms", "--every", "100ms", "--profile", "server").stdout
    assert "refresh granted" in told or "refresh refused" in told
    assert "byte for byte" in call("trace", "replay", "day.trace").stdout
    text = (folder / "day.trace").read_text()
    assert text.startswith("selene-trace 1 ")
    lines = text.splitlines()
    number = next(number for number, line in enumerate(lines) if line.startswith("D "))
    words = lines[number].split(" ")
    words[4] = str(1 - int(words[4]))
    lines[number] = " ".join(words)
    (folder / "day.trace").write_text("\n".join(lines) + "\n")
    told = call("trace", "replay", "day.trace", "--json", code=1).stdout
    assert json.loads(told)["first_difference"] == number + 1
    call("trace", "record", "day.trace", "--for", "0s", code=4)
    assert call("trace", "replay", "none", code=3).stderr == "none: No such file or directory\n"
    (folder / "other").write_text("another file\n")
    assert "not a trace" in call("trace", "replay", "other", code=3).stderr
    assert "No such file" in call("trace", "record", "none/day.trace", "--for", "0s", code=5).stderr


def test_a_run_asks_the_governor_and_says_why(work: Path) -> None:
    with selene.Scheduler("tasks.db") as scheduler:
        scheduler.signals.set("background_switch", False)
    done = call("run", "work.toml", "--store", "tasks.db", "--profile", "apple", "--budget", "2s", "--quiet")
    # The machine may have more to say: whoever types at a terminal meanwhile is an active user.
    told = [" ".join(line.split()) for line in re.split(r"\n(?=the )", done.stdout.strip())]
    for line, kind in zip(told, ("refresh", "processing"), strict=True):
        refused, reasons = line.split(": ", 1)
        assert refused == f"the governor refuses {kind} windows"
        assert reasons.split("; ")[-1] == "background_switch is no, yes is required"
    with selene.Scheduler("tasks.db") as scheduler:
        scheduler.signals.clear("background_switch")
    done = call("run", "work.toml", "--store", "tasks.db", "--profile", "apple", "--budget", "20s", "--why", "--quiet")
    assert "refresh window granted" in done.stdout
    assert re.search(r"^  background_switch +yes +≥ yes ", done.stdout, re.MULTILINE)
    assert re.search(r"tell +normal", done.stdout)


def test_a_run_can_be_recorded(work: Path, folder: Path) -> None:
    call("run", "work.toml", "--profile", "open", "--budget", "20s", "--quiet", "--trace", "run.trace")
    assert selene.replay_trace("run.trace").same
    assert "No such file" in call("run", "work.toml", "--trace", "none/run.trace", code=5).stderr
    assert re.search(r"^T \d+ 1 \d+ 0 0 tell$", (folder / "run.trace").read_text(), re.MULTILINE)


def test_follow_waits_for_the_governor_and_ends_on_a_signal(work: Path) -> None:
    with selene.Scheduler("tasks.db") as scheduler:
        scheduler.signals.set("background_switch", False)
    arguments = ("run", "work.toml", "--store", "tasks.db", "--profile", "apple", "--follow", "--no-live")
    with Command(arguments, environment()) as process:
        assert process.stdout is not None
        while "governor refuses processing" not in process.stdout.readline():
            assert process.poll() is None
        os.kill(process.pid, signal.SIGTERM)
        told = process.communicate(timeout=60)[0]
    assert process.returncode == 0
    assert "governor refuses" not in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--profile", "phone"), "open, apple, server or strict"),
        (("--usage", "person"), "need --profile"),
        (("--trace", "day.trace"), "need --profile"),
        (("--profile", "apple", "--every", "15m"), "without --profile"),
        (("--profile", "apple", "--usage", "cat"), "person or server"),
    ],
)
def test_options_that_do_not_go_together_are_refused(work: Path, arguments: tuple[str, ...], told: str) -> None:
    assert told in " ".join(call("simulate", "work.toml", *arguments, code=2).stderr.replace("│", " ").split())


def test_the_same_simulation_gives_the_same_bytes(work: Path, folder: Path) -> None:
    arguments = ("simulate", "work.toml", "--days", "2", "--profile", "apple", "--html")
    told = call(*arguments, "a.html").stdout
    call(*arguments, "b.html", PYTHONHASHSEED="7")
    assert (folder / "a.html").read_bytes() == (folder / "b.html").read_bytes()
    assert "profile apple, usage person" in told
    call(*arguments, "c.html", "--seed", "2")
    assert (folder / "a.html").read_bytes() != (folder / "c.html").read_bytes()
    found = json.loads(call("simulate", "work.toml", "--days", "2", "--profile", "server", "--json").stdout)
    assert found["governor"]["profile"] == "server"
    assert found["governor"]["granted"]["refresh"] > 0
    assert "cpu_busy" in found["governor"]["signals"]
    plain = json.loads(call("simulate", "work.toml", "--days", "1", "--json").stdout)
    assert "governor" not in plain


def test_a_simulated_day_is_replayed(work: Path, folder: Path) -> None:
    arguments = ("simulate", "work.toml", "--days", "1", "--profile", "apple", "--trace", "day.trace")
    decisions = json.loads(call(*arguments, "--json").stdout)["governor"]
    found = json.loads(call("trace", "replay", "day.trace", "--json").stdout)
    assert found["first_difference"] is None
    assert found["decisions"] >= sum(decisions["granted"].values()) > 0
    assert "exists" in " ".join(call(*arguments, code=4).stderr.split())


def test_it_works_without_the_extra_dbus(folder: Path) -> None:
    (folder / "dbus_fast.py").write_text("raise ModuleNotFoundError('no dbus_fast', name='dbus_fast')\n")
    paths = os.pathsep.join([str(folder), environment()["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, "-c", "import pyselene.cli.app"], env=environment(PYTHONPATH=paths), capture_output=True
    )
    assert done.returncode == 0
    done = subprocess.run(
        [sys.executable, "-c", "import pyselene.desktop"], env=environment(PYTHONPATH=paths), capture_output=True
    )
    assert done.returncode == 1
    assert b"pip install 'pyselene[dbus]' brings it" in done.stderr
