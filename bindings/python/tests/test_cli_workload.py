"""The workload file: what it may say, and where it is wrong."""

from __future__ import annotations

import io
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyselene.cli import duration
from pyselene.cli.duration import HOUR, MILLISECOND, MINUTE, SECOND
from pyselene.cli.locate import Place, find
from pyselene.cli.problem import Exit, Problem, WorkloadProblem
from pyselene.cli.reader import load, parse
from pyselene.cli.workload import Behaviour, Outage, TaskSpec, WindowSpec

ROOT = Path(__file__).resolve().parents[3]


def refused(text: str) -> WorkloadProblem:
    with pytest.raises(WorkloadProblem) as caught:
        parse(text, "w.toml")
    assert caught.value.code is Exit.WORKLOAD
    return caught.value


def at(text: str, problem: WorkloadProblem) -> str:
    """What stands at the place of a problem."""
    return text.split("\n")[problem.line - 1][problem.column - 1 :]


# ---- durations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("250ms", 250 * MILLISECOND),
        ("5s", 5 * SECOND),
        ("1h30m", 90 * MINUTE),
        ("1.5h", 90 * MINUTE),
        ("5", 5 * SECOND),
        ("2.5", 2500 * MILLISECOND),
        ("0s", 0),
        ("1us", 1000),
        ("2w1d", 15 * duration.DAY),
    ],
)
def test_a_duration_is_read_exactly(text: str, value: int) -> None:
    assert duration.read(text) == value


@pytest.mark.parametrize("text", ["", "s", "5 s", "-5s", "5s ", "5sec", "1.s", ".5s", "9999999999999999h"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="allowed is seconds, or a number with ns, us, ms, s, m, h, d or w"):
        duration.read(text)


@given(st.integers(0, 2**62))
def test_a_written_duration_is_read_as_it_was(value: int) -> None:
    assert duration.read(duration.write(value)) == value


def test_u1_lists_nested_too_deeply_are_refused_where_they_are_fault_15() -> None:
    problem = refused("[tasks.a]\ncommand = 'true'\ntags = " + "[" * 100_000 + "]" * 100_000)
    assert "nested too deeply" in problem.message
    assert problem.line == 3


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[task.a]\ncommand = 'true'", "tasks"),
        ("[tasks.a]\ncomand = 'true'", "command"),
        ("[tasks.a]\ncommand = 'true'\nperid = 5", "every"),
        ("[window]\nbugdet = 5\n[tasks.a]\ncommand = 'true'", "budget"),
    ],
)
def test_an_unknown_key_is_refused_with_the_one_that_was_meant(text: str, meant: str) -> None:
    assert refused(text).message.endswith(f'; did you mean "{meant}"?')


# ---- what a file may say -------------------------------------------------------------------------------------------


def test_a_task_has_the_defaults_of_the_library() -> None:
    assert parse('[tasks.a]\ncommand = "true"').tasks == (TaskSpec("a", "true"),)


def test_a_task_can_say_everything() -> None:
    text = """
        [tasks."a b"]
        command = "true"
        kind = "processing"
        every = "6h"
        flex = "1h"
        anchored = true
        priority = "very_high"
        expected = 2.5
        response_window = 7
        delay = 60
        backoff = "exponential"
        backoff_delay = "10s"
        max_attempts = 5
        requires = ["network", "power"]
        tags = ["x", "y", "x"]
        simulate = { response = "3s", jitter = 0.5, no_data = 0.1, failure = 0.2, abandon = 0.01, hang = 0.02 }
    """
    assert parse(text).tasks == (
        TaskSpec(
            id="a b",
            command="true",
            kind="processing",
            schedule="periodic",
            priority=5,
            expected=2_500 * MILLISECOND,
            response_window=7,
            delay=MINUTE,
            every=6 * HOUR,
            flex=HOUR,
            anchored=True,
            backoff="exponential",
            backoff_delay=10 * SECOND,
            max_attempts=5,
            requires=("network", "power"),
            tags=("x", "y"),
            behaviour=Behaviour(3 * SECOND, 0.5, 0.1, 0.2, 0.01, 0.02),
        ),
    )


def test_windows_and_the_world_of_a_simulation_are_read() -> None:
    workload = parse(
        """
        [window]
        budget = "30s"
        reserve = "2s"
        every = "15m"
        lanes = 2
        kinds = ["processing"]
        strict_fit = true
        [simulate.window]
        every = "1h"
        budget = "9s"
        [simulate]
        seed = 7
        start = 2026-03-01
        failure = 0.5
        [[simulate.outages]]
        condition = "network"
        begin = 22:00:00
        end = "06:30"
        [[simulate.outages]]
        condition = "power"
        begin = "08:00"
        end = "09:00"
        days = ["sat", "sun"]
        [tasks.a]
        expected = "9s"
        [tasks.b]
        simulate.failure = 0
        [tasks.c]
        simulate.changes = "2h"
        """
    )
    assert workload.window == WindowSpec(30 * SECOND, 2 * SECOND, 15 * MINUTE, 2, ("processing",), True)
    assert workload.simulated_window == WindowSpec(9 * SECOND, None, HOUR, 2, ("processing",), True)
    assert (workload.seed, workload.start) == (7, datetime(2026, 3, 1, tzinfo=UTC))
    assert workload.outages == (
        Outage("network", 22 * HOUR, 6 * HOUR + 30 * MINUTE),
        Outage("power", 8 * HOUR, 9 * HOUR, frozenset({5, 6})),
    )
    assert [task.behaviour for task in workload.tasks] == [
        Behaviour(9 * SECOND, failure=0.5),
        Behaviour(5 * SECOND, failure=0.0),
        Behaviour(5 * SECOND, failure=0.5, changes=2 * HOUR),
    ]


def test_a_workload_comes_from_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[tasks.a]\r\npriority = 1\r\n")))
    assert load("-").tasks[0].priority == 1


# ---- where a file is wrong -----------------------------------------------------------------------------------------

TASK = "[tasks.a]\n"


def test_a_task_says_how_often_its_source_changes_or_how_often_it_finds_nothing() -> None:
    tasks = parse("simulate.changes = 60\n[tasks.a]\n[tasks.b]\nsimulate.no_data = 0.5\n").tasks
    assert [task.behaviour for task in tasks] == [Behaviour(changes=MINUTE), Behaviour(no_data=0.5)]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "", "found no task; allowed is at least one table [tasks.ID]"),
        ("tasks = 3", "3", "found 3; allowed is a table"),
        ("[tasks]\na = 'b'", "'b'", 'found "b"; allowed is a table'),
        ("[taks.a]", "taks", 'found the key "taks"; allowed is window, simulate, groups, tasks'),
        (TASK + 'priority = "urgent"', '"urgent"', 'found the priority "urgent"; allowed is very_low, low'),
        (TASK + "priority = 6", "6", "found the priority 6; allowed is"),
        (TASK + "priority = true", "true", "found the priority true; allowed is"),
        (TASK + 'kind = "long"', '"long"', 'found the kind "long"; allowed is refresh, processing'),
        (TASK + "expected = -1", "-1", "found the expected -1; allowed is 0s to 1d"),
        (TASK + 'expected = "soon"', '"soon"', "allowed is seconds, or a number with ns"),
        (TASK + 'every = "0s"', '"0s"', "allowed is 1ns to 3650d"),
        (TASK + 'expected_response = "1s"', "expected_response", 'allowed is "expected", as it is called here'),
        (TASK + "comand = 'x'", "comand", 'found the key "comand"; allowed is every, at, cron, after, schedule'),
        (TASK + "command = '  '", "'  '", "found an empty command; allowed is any shell command"),
        (TASK + "command = 3", "3", "found the command 3; allowed is text"),
        (TASK + "schedule = 'periodic'", "'periodic'", "found a periodic task without a period"),
        (TASK + "schedule = 'once'\nevery = 3", "3", "found every in a task that is once; it is for periodic"),
        (TASK + "flex = 3", "3", "found flex in a task that is standing"),
        (TASK + "every = 3\nflex = 4", "4", "longer than the period; allowed is at most every, 3s"),
        (TASK + "backoff_delay = 3", "3", "found a backoff_delay without backoff"),
        (TASK + 'requires = ["network", "wifi"]', '"wifi"', 'found the requires "wifi"; allowed is network, power'),
        (TASK + 'tags = ["a", ""]', '""', 'found the tag ""; allowed are 1 to 255 bytes'),
        (TASK + "tags = 'a'", "'a'", 'found the tags "a"; allowed is a list of texts'),
        (TASK + f"tags = {[str(n) for n in range(17)]}", "'16'", 'found a 17th tag, "16"; allowed are at most 16'),
        (TASK + "simulate = { failure = 2 }", "2", "found the failure 2; allowed is a number from 0 to 1"),
        (TASK + "simulate = { changes = '1ms' }", "'1ms'", 'found the changes "1ms"; allowed is 1s to 3650d'),
        (TASK + "simulate = { changes = 'daily' }", "'daily'", "allowed is seconds, or a number with ns"),
        (TASK + "simulate = { changes = 9, no_data = 0.1 }", "0.1", "found a no_data beside changes"),
        (TASK + "simulate = { change = 9 }", "change", 'did you mean "changes"?'),
        (TASK + "[tasks.a.simulate]\nfailure = 0.6\nhang = 0.6", "simulate", "found probabilities whose sum is 1.2"),
        ('[tasks.""]', '""', 'found the id ""; allowed are 1 to 255 bytes'),
        (r'[tasks."a\u0000b"]', '"a', r'found a NUL in the id "a\u0000b"; allowed are 1 to 255 bytes without NUL'),
        (f'[tasks."{300 * "x"}"]', '"x', f'found the id "{57 * "x"}..." of 300 bytes; allowed are 1 to 255 bytes'),
        (TASK + r'tags = ["\u0000"]', '"', r'found a NUL in the tag "\u0000"; allowed are 1 to 255 bytes without NUL'),
        (TASK + r'command = "a\u0000"', '"a', r'found a NUL in the command "a\u0000"; allowed is text without NUL'),
        (TASK + r'kind = "a\u001b[1m\n"', '"a', r'found the kind "a\u001b[1m\n"; allowed is refresh, processing'),
        (TASK + "[window]\nlanes = 1025", "1025", "found the lanes 1025; allowed is a number from 1 to 1024"),
        (TASK + "[window]\nbudget = 1\nreserve = 2", "2", "found the reserve 2; allowed is at most the budget"),
        (TASK + "[window]\nkinds = ['refresh', 'x']", "'x'", 'found the kinds "x"; allowed is refresh, processing'),
        (TASK + "[simulate]\nstart = 1900-01-01", "1900", "allowed is a date from 1970 to 2200"),
        (TASK + "[[simulate.outages]]\nbegin = 01:00:00", "outages", 'found an outage without "condition"'),
        (
            TASK + "conditions = ['vpn']\n[[simulate.outages]]\ncondition='vpm'\nbegin='01:00'\nend='02:00'\n",
            "'vpm'",
            'found the condition "vpm"; allowed is network, power, unmetered, battery_not_low, idle, storage_not_low,'
            " display_off, not_roaming, vpn",
        ),
        (
            TASK + "[[simulate.outages]]\ncondition='network'\nbegin='1'\nend='2'\n",
            "'1'",
            "allowed is a time of day, such as 22:30",
        ),
        (
            TASK + "group = 'uploads'\n[groups]\nuplaods = 1",
            "uplaods",
            'no task of this file is in the group "uplaods"; there are: uploads',
        ),
        (TASK + "[groups]\nuploads = 1", "uploads", 'is in the group "uploads"; there is none'),
        (TASK + "priority = 1\npriority = 2", "", "this is not TOML: "),
        (TASK + "priority = ", "", "this is not TOML: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_shown_where_it_is(text: str, place: str, message: str) -> None:
    problem = refused(text)
    assert message in problem.message
    assert at(text, problem).startswith(place)
    assert str(problem).startswith(f"w.toml:{problem.line}:{problem.column}: {problem.message}\n")


def test_a_message_has_the_line_and_a_caret_below_the_place() -> None:
    assert str(refused('[tasks.a]\n\tpriority = "ür" # so\n')).split("\n") == [
        'w.toml:2:13: found the priority "ür"; allowed is very_low, low, normal, high, very_high, or 1 to 5',
        '  \tpriority = "ür" # so',
        "  \t           ^",
    ]


def test_of_a_long_line_a_message_has_what_is_around_the_place() -> None:
    before = ", ".join(f'"{number}"' for number in range(100))
    told = str(refused(f'[tasks.a]\nrequires = ["network", "wifi", {before}]')).split("\n")
    assert told[1].endswith("…")
    assert told[1][told[2].index("^") :].startswith('"wifi"')
    told = str(refused(f"[tasks.a]\ntags = [{before.replace('99', '')}]")).split("\n")
    assert max(map(len, told)) < 140
    assert told[1].startswith("  …")
    assert told[1][told[2].index("^") :].startswith('"16"')


def test_bytes_that_are_no_text_are_shown_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_bytes(b"[tasks.a]\n# \xc3\xa4 \xff\n")
    with pytest.raises(WorkloadProblem, match="found the byte 0xff; allowed is text in UTF-8") as caught:
        load(path)
    assert (caught.value.line, caught.value.column) == (2, 5)


def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="No such file or directory") as caught:
        load(tmp_path / "none.toml")
    assert caught.value.code is Exit.WORKLOAD
    with pytest.raises(Problem, match="Is a directory"):
        load(tmp_path)


SAMPLE = '''# x
[tasks."a b"]
command = """
priority = 3
[tasks.no]
"""
tags = ["one", "tw,o", # "two"
   'th]ree']
simulate = { failure = 2, jitter = 0.1 }

[tasks.x]
simulate.failure = 3
'simulate'.jitter = 4

[[simulate.outages]]
begin = "1"
[[simulate.outages]]
begin = "2"
'''


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("tasks", "a b", "command"), '"""'),
        (("tasks", "a b", "tags", 0), '"one"'),
        (("tasks", "a b", "tags", 1), '"tw,o"'),
        (("tasks", "a b", "tags", 2), "'th]ree'"),
        (("tasks", "a b", "simulate", "failure"), "2,"),
        (("tasks", "a b", "simulate", "jitter"), "0.1"),
        (("tasks", "x", "simulate", "failure"), "3"),
        (("tasks", "x", "simulate", "jitter"), "4"),
        (("simulate", "outages", 0, "begin"), '"1"'),
        (("simulate", "outages", 1, "begin"), '"2"'),
        (("tasks", "x", "priority"), "x]"),
        (("nothing", "here"), "# x"),
    ],
)
def test_any_value_of_a_file_is_found(path: tuple[str | int, ...], found: str) -> None:
    place = find(SAMPLE, path)
    assert SAMPLE.split("\n")[place.line - 1][place.column - 1 :].startswith(found)


def test_a_key_is_found_where_its_value_is_not_asked_for() -> None:
    assert find(SAMPLE, ("tasks", "a b", "simulate", "jitter"), value=False) == Place(9, 27)


def test_a_long_file_is_searched_in_no_time() -> None:
    text = "\n".join(f"[tasks.t{n}]\ncommand = '''\na\n'''" for n in range(400)) + "\npriority = 9\n"
    problem = refused(text)
    assert (problem.line, problem.column) == (1601, 12)


# ---- the example ---------------------------------------------------------------------------------------------------


def test_the_example_has_the_tasks_of_the_example_in_c() -> None:
    """The two files say the same: ids in the same order, keys with the same values, commands with the same lines."""
    example = load(ROOT / "bindings/python/examples/workload.toml")
    lines = (ROOT / "bindings/c/examples/workload.selene").read_text().split("\n")
    kept = [line for line in lines if line.strip() and not line.startswith("#")]
    tasks = re.split(r"\n(?=\S)", "\n".join(kept))
    assert len(tasks) == len(example.tasks)
    for text, task in zip(tasks, example.tasks, strict=True):
        head, _, command = text.partition(" --")
        name, *words = head.split()
        said = dict(word.split("=", 1) for word in words)
        assert task.id == name
        assert [line.strip() for line in (task.command or "").strip().split("\n")] == [
            line.strip() for line in command.strip().split("\n")
        ]
        found = {
            "kind": task.kind,
            "schedule": task.schedule,
            "priority": ["very_low", "low", "normal", "high", "very_high"][task.priority - 1],
            "expected": None if task.expected is None else duration.write(task.expected),
            "max_attempts": str(task.max_attempts),
            "backoff": task.backoff,
            "backoff_delay": duration.write(task.backoff_delay),
            "every": None if task.every is None else duration.write(task.every),
            "requires": ",".join(task.requires),
            "tags": ",".join(task.tags),
        }
        default = {
            "kind": "refresh", "schedule": "periodic" if "every" in said else "standing", "priority": "normal",
            "expected": None, "max_attempts": "0", "backoff": None, "backoff_delay": "30s", "every": None,
            "requires": "", "tags": "",
        }  # fmt: skip
        assert found == {**default, **said}
