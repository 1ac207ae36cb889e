"""The page in a browser: what it draws is what the library for C decides for the same calls."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from ready import open_page

import pyselene
from browser import colours, keep
from chrome import Tab, chrome
from pyselene.testing import VirtualClock

PAGE = Path(os.environ["SELENE_PAGE"])
TASKS = [
    ("mail", 4, 2.0, 45),
    ("news & <more>", 3, 5.0, 10),
    ("photos", 2, 8.0, 180),
    ("flags", 5, 1.5, 240),
    ("index", 3, 3.0, 20),
]
NAMES = [name for name, *_ in TASKS]
RULES: dict[str, dict[str, Any]] = {
    "selene": {},
    "observed": {"observed_range": True},
    "freshness": {"freshness": True},
}
ROWS = (
    "[...document.querySelectorAll('#%s tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"
)
DRAWN = """[...document.querySelectorAll('#ages svg')]
    .map((one) => [one.getAttribute('aria-label'), one.children.length])"""
NAMELESS = """[...document.querySelectorAll('input, select, button')]
    .filter((one) => !(one.labels?.length || one.ariaLabel || one.textContent.trim())).length"""
TYPE = (
    "{ const input = document.querySelector('#tasks input'); input.value = 7; input.dispatchEvent(new Event('input')) }"
)
LOG = "[...document.querySelectorAll('#log li')].map((line) => line.textContent)"


@pytest.fixture(scope="module")
def tab(browser: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """A browser for all tests of this file."""
    with chrome(browser, tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture
def page(tmp_path: Path) -> str:
    """The page alone in a folder, as somebody has it to whom it was sent."""
    copy = tmp_path / "play.html"
    shutil.copy(PAGE, copy)
    return copy.as_uri()


def still(**address: object) -> str:
    """An address of the tasks above, whose clock stands."""
    tasks = [("task", "~".join(map(str, task))) for task in TASKS]
    return "#" + urlencode([("speed", "0"), *address.items(), *tasks])


def play(scheduler: pyselene.Scheduler, clock: VirtualClock, fetched: dict[str, float]) -> list[tuple[str, str]]:
    """A window of 10 s as the page plays it; each run's id and time."""
    takes = {name: seconds for name, _, seconds, _ in TASKS}
    changes = {name: minutes * 60.0 for name, _, _, minutes in TASKS}
    deadline = clock.now_ns + 10 * 10**9
    late: pyselene.Run | None = None
    with scheduler.begin(budget=10) as cycle:
        for run in cycle:
            if clock.now_ns + takes[run.id] * 1e9 > deadline:
                clock.advance_ns(deadline - clock.now_ns)
                late = run
                break
            clock.advance(takes[run.id])
            at = clock.now_ns / 1e9
            news = (fetched.get(run.id, 0.0) // changes[run.id] + 1) * changes[run.id] <= at
            fetched[run.id] = at
            run.complete(pyselene.Outcome.NEW_DATA if news else pyselene.Outcome.NO_DATA)
    if late is not None:
        with pytest.raises(pyselene.StaleRun):
            late.complete()
    assert cycle.report is not None
    clock.advance_ns(deadline - clock.now_ns)
    return [(run.id, f"{run.response_time_ns / 1e9:.1f} s") for run in cycle.report.runs]


@pytest.mark.parametrize("rule", RULES)
def test_the_table_shows_what_the_library_decides(tab: Tab, page: str, rule: str) -> None:
    """Scores, ranks, averages, the runs of windows, and the order of the next."""
    open_page(tab, page + still(rule=rule, budget=10, at=600))
    clock, fetched = VirtualClock(pyselene._time.EPOCH), dict[str, float]()
    with pyselene.Scheduler(clock=clock, **RULES[rule]) as scheduler:
        for name, priority, _, _ in TASKS:
            scheduler.register_handler(name, None)
            scheduler.register(pyselene.Task(name, priority=priority))
        clock.advance(600)
        for windows in range(5):
            picked = [run.id for run in scheduler.plan(budget=10).runs]
            rows = tab.run(ROWS % "tasks")
            assert [row[0] for row in rows] == NAMES
            for row in rows:
                found = scheduler.explain(row[0])
                assert row[4] == f"{found.estimate_ns / 1e9:.1f} s"
                assert row[6] == f"{found.score:.3f}"
                assert row[7] == str(found.rank)
                place = re.match(r"runs (\d+)", row[8])
                assert (int(place[1]) if place else 0) == (picked.index(row[0]) + 1 if row[0] in picked else 0), row
                assert place or "does not fit" in row[8]
            assert len(tab.run(LOG)) == windows
            tab.run("document.getElementById('execute').click()")
            said = tab.run(LOG)[0]
            wanted = [f"{name} ({time}" for name, time in play(scheduler, clock, fetched)]
            assert [part.strip() for part in re.findall(r"(?<=[:,] )[^,:;]+?\(\d+\.\d s", said)] == wanted
            blocks = tab.run("[...document.querySelectorAll('#window .run')].map((run) => run.textContent)")
            assert blocks == [line.rsplit(" (", 1)[0] for line in wanted]


def test_a_day_is_told_for_every_rule_and_drawn_for_every_task(tab: Tab, page: str) -> None:
    """Three lines for each task, and a row for each rule."""
    open_page(tab, page + still(day=1, budget=10, every=15))
    rows = tab.run(ROWS % "summary")
    assert [row[0] for row in rows] == ["priority × age", "observed range", "freshness"]
    assert all(int(row[3]) >= int(row[4]) > 0 for row in rows)
    drawn = tab.run(DRAWN)
    assert [label.split(":")[0] for label, _ in drawn] == NAMES
    assert {lines for _, lines in drawn} == {3}


@pytest.mark.parametrize("size", [(360, 740), (820, 1180), (1280, 900)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_at_every_size_light_and_dark(
    tab: Tab, page: str, size: tuple[int, int], scheme: str, tmp_path: Path
) -> None:
    """Ground and button have the colours of the scheme, and nothing is wider than the screen."""
    width, height = size
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
    tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    open_page(tab, page + "#speed=0&at=600&windows=1&day=1")
    assert tab.run("document.documentElement.scrollWidth") <= width
    picture = tmp_path / f"play-{width}-{scheme}.png"
    tab.look(picture)
    keep(picture)
    found = colours(picture)
    paper, button = {"light": ("ffffff", "2f63d6"), "dark": ("10151d", "7ea6ff")}[scheme]
    assert found.most_common(1)[0][0] == paper
    assert found[button] > 200


def test_what_was_chosen_is_in_the_address(tab: Tab, page: str) -> None:
    """A task that is added and a rule that is chosen are there again when the address is opened."""
    open_page(tab, page + still())
    tab.run("document.getElementById('add').click()")
    tab.run("document.querySelector('[value=freshness]').click()")
    tab.run(TYPE)
    address = tab.run("location.href")
    open_page(tab, address)
    assert [row[0] for row in tab.run(ROWS % "tasks")] == [*NAMES, "task 6"]
    assert tab.run("document.body.dataset.rule") == "freshness"
    assert tab.run("document.querySelector('#tasks input').value") == "7"


def test_everything_can_be_reached_with_the_keyboard(tab: Tab, page: str) -> None:
    """Return in a field of the form presses Execute, and everything that can be used has a name."""
    open_page(tab, page + still(at=60))
    tab.run("document.getElementById('budget').focus()")
    for kind in ("keyDown", "keyUp"):
        tab.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    assert len(tab.run(LOG)) == 1
    assert tab.run(NAMELESS) == 0


def test_what_an_address_says_wrongly_is_as_usual(tab: Tab, page: str) -> None:
    """It is left out, not shown."""
    open_page(
        tab,
        page
        + "#speed=0&budget=-3&lanes=x&rule=__proto__&task="
        + "<img src=x>~3~0~1&task=a~9~1~1&task=%3Cimg%20src=x%3E~3~1~1",
    )
    assert tab.run("document.querySelectorAll('img').length") == 0
    assert [row[0] for row in tab.run(ROWS % "tasks")] == ["<img src=x>"]
    assert tab.run("document.getElementById('budget').value") == "10"


def test_it_asks_for_nothing_from_elsewhere() -> None:
    """Neither an address of another site nor a file beside it."""
    text = PAGE.read_text()
    assert not re.findall(r"(?:src|href)=[\"'](?!data:)", text)
    assert "default-src 'none'" in text
