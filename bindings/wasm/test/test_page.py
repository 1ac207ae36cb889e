"""The page in a browser without a network: what it draws is what the library for C decides for the same calls."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
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
    ("mail", 4, 2.0, 45, 1),
    ("news & <more>", 3, 5.0, 10, 1),
    ("photos", 2, 8.0, 180, 0),
    ("flags", 5, 1.5, 240, 0),
    ("index", 3, 3.0, 20, 0),
]
NAMES = [name for name, *_ in TASKS]
TAKES = {name: seconds for name, _, seconds, _, _ in TASKS}
CHANGES = {name: minutes * 60.0 for name, _, _, minutes, _ in TASKS}
TITLES = {"selene": "priority × age", "observed": "observed range", "freshness": "freshness"}
RULES: dict[str, dict[str, Any]] = {
    "selene": {},
    "observed": {"observed_range": True},
    "freshness": {"freshness": True},
}
ROWS = """[...document.querySelectorAll('#%s tbody tr')].map((row) =>
    [...row.cells].map((cell) => cell.innerText.trim() || cell.querySelector('input')?.value))"""
DRAWN = """[...document.querySelectorAll('#ages svg')]
    .map((one) => [one.getAttribute('aria-label'), [...one.children].map((line) => line.getAttribute('d'))])"""
SIDE = """[...document.querySelectorAll('#side > div')].map((one) => [one.querySelector('h3').textContent,
    [...one.querySelectorAll('.run')].map((run) => run.textContent), one.querySelector('p').textContent])"""
WAITING = "[...document.querySelectorAll('#waiting li')].map((line) => line.textContent)"
NAMELESS = """[...document.querySelectorAll('input, select, button')]
    .filter((one) => !(one.labels?.length || one.ariaLabel || one.textContent.trim())).length"""
TYPE = (
    "{ const input = document.querySelector('#tasks input[type=number]'); input.value = 7;"
    " input.dispatchEvent(new Event('input')) }"
)
LOG = "[...document.querySelectorAll('#log li')].map((line) => line.textContent)"


@pytest.fixture(scope="module")
def tab(browser: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """A browser for all tests of this file."""
    with chrome(browser, tmp_path_factory.mktemp("profile")) as tab:
        tab.call("Network.enable")
        tab.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
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


def library(rule: str, clock: VirtualClock) -> pyselene.Scheduler:
    """The same tasks in the library for C, on a clock that only the test moves."""
    scheduler = pyselene.Scheduler(clock=clock, **RULES[rule])
    scheduler.set_conditions(network=True)
    for name, priority, _, _, online in TASKS:
        scheduler.register_handler(name, None)
        scheduler.register(pyselene.Task(name, priority=priority, requires={"network"} if online else set()))
    return scheduler


def changed(name: str, since: float) -> float:
    """When a source first changes after an instant."""
    return (since // CHANGES[name] + 1) * CHANGES[name]


def window(scheduler: pyselene.Scheduler, clock: VirtualClock, fetched: dict[str, float]) -> pyselene.Report:
    """A window of 10 s as the page plays it, until its last run has come back or its time is up."""
    deadline = clock.now_ns + 10 * 10**9
    late: pyselene.Run | None = None
    with scheduler.begin(budget=10) as cycle:
        for run in cycle:
            if clock.now_ns + TAKES[run.id] * 1e9 > deadline:
                clock.advance_ns(deadline - clock.now_ns)
                late = run
                break
            clock.advance(TAKES[run.id])
            at = clock.now_ns / 1e9
            news = changed(run.id, fetched.get(run.id, 0.0)) <= at
            fetched[run.id] = at
            run.complete(pyselene.Outcome.NEW_DATA if news else pyselene.Outcome.NO_DATA)
    if late is not None:
        with pytest.raises(pyselene.StaleRun):
            late.complete()
    assert cycle.report is not None
    return cycle.report


def play(scheduler: pyselene.Scheduler, clock: VirtualClock, fetched: dict[str, float]) -> list[tuple[str, str]]:
    """A whole window; each run's id and time."""
    begun = clock.now_ns
    report = window(scheduler, clock, fetched)
    clock.advance_ns(begun + 10 * 10**9 - clock.now_ns)
    return [(run.id, f"{run.response_time_ns / 1e9:.1f} s") for run in report.runs]


def span(seconds: float) -> str:
    """A duration as the page writes it."""
    if seconds < 100:
        return f"{Decimal(seconds).quantize(Decimal('0.1'), ROUND_HALF_UP)} s"
    minutes = int(Decimal(seconds / 60).quantize(Decimal(1), ROUND_HALF_UP))
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02} min"


def a_day(rule: str) -> tuple[dict[str, list[tuple[float, float, float]]], list[int]]:
    """A day of the library: for each task when, how old and how long out of date; runs, news, runs cut off."""
    clock, fetched = VirtualClock(pyselene._time.EPOCH), dict[str, float]()
    points: dict[str, list[tuple[float, float, float]]] = {name: [] for name in NAMES}
    counts = [0, 0, 0]

    def note() -> None:
        at = clock.now_ns / 1e9
        for name in NAMES:
            since = fetched.get(name, 0.0)
            points[name].append((at, at - since, max(0.0, at - changed(name, since))))

    with library(rule, clock) as scheduler:
        note()
        for begin in range(900, 86_400, 900):
            clock.advance_ns(begin * 10**9 - clock.now_ns)
            note()
            report = window(scheduler, clock, fetched)
            counts = [counts[0] + len(report.runs), counts[1] + report.new_data, counts[2] + report.expired]
            note()
        clock.advance_ns(86_400 * 10**9 - clock.now_ns)
        note()
    return points, counts


@pytest.mark.parametrize("rule", RULES)
def test_the_table_shows_what_the_library_decides(tab: Tab, page: str, rule: str) -> None:
    """Scores, ranks, averages, the runs of windows, and the order of the next."""
    open_page(tab, page + still(rule=rule, budget=10, at=600))
    clock, fetched = VirtualClock(pyselene._time.EPOCH), dict[str, float]()
    with library(rule, clock) as scheduler:
        clock.advance(600)
        for windows in range(5):
            picked = [run.id for run in scheduler.plan(budget=10).runs]
            rows = tab.run(ROWS % "tasks")
            assert [row[0] for row in rows] == NAMES
            for row in rows:
                found = scheduler.explain(row[0])
                assert row[5] == span(found.estimate_ns / 1e9)
                assert row[7] == f"{found.score:.3f}"
                assert row[8] == str(found.rank)
                place = re.match(r"runs (\d+)", row[9])
                assert (int(place[1]) if place else 0) == (picked.index(row[0]) + 1 if row[0] in picked else 0), row
                assert place or "does not fit" in row[9]
            assert len(tab.run(LOG)) == windows
            tab.run("document.getElementById('execute').click()")
            said = tab.run(LOG)[0]
            ran = play(scheduler, clock, fetched)
            wanted = [f"{name} ({time}" for name, time in ran]
            assert [part.strip() for part in re.findall(r"(?<=[:,] )[^,:;]+?\(\d+\.\d s", said)] == wanted
            blocks = tab.run("[...document.querySelectorAll('#window .run')].map((run) => run.textContent)")
            assert blocks == [line.rsplit(" (", 1)[0] for line in wanted]
            # Each that did not run says why, in the words for what the library answers.
            rest = [name for name in NAMES if name not in [each for each, _ in ran]]
            waiting = tab.run(WAITING)
            assert [line.split(" waits: ")[0] for line in waiting] == rest
            for name, line in zip(rest, waiting, strict=True):
                found = scheduler.explain(name)
                assert [each.code for each in found.reasons] == [pyselene.ReasonCode.DID_NOT_FIT]
                assert found.last_room_ns is not None
                took, left = span(found.estimate_ns / 1e9), span(found.last_room_ns / 1e9)
                assert line == f"{name} waits: it takes {took}, and {left} were left."


def test_each_rule_decides_beside_the_others(tab: Tab, page: str) -> None:
    """What each would run is what the library would, three times on the same clock, and the rest says why not."""
    open_page(tab, page + still(budget=10, at=600))
    worlds = []
    for rule in RULES:
        clock = VirtualClock(pyselene._time.EPOCH)
        scheduler = library(rule, clock)
        clock.advance(600)
        worlds.append((rule, scheduler, clock, dict[str, float]()))
    for _ in range(4):
        shown = tab.run(SIDE)
        for (rule, scheduler, clock, fetched), (title, runs, why) in zip(worlds, shown, strict=True):
            planned = [run.id for run in scheduler.plan(budget=10).runs]
            assert (title, runs) == (TITLES[rule], planned)
            rest = [name for name in NAMES if name not in planned]
            assert re.findall(r"(?:: |, )([^:,(]+) \(does not fit: takes", why) == rest
            play(scheduler, clock, fetched)
        tab.run("document.getElementById('execute').click()")
    for _, scheduler, _, _ in worlds:
        scheduler.close()


def test_without_a_network_tasks_wait_for_it_and_say_so(tab: Tab, page: str) -> None:
    """In the table, beside the window, and under each rule."""
    open_page(tab, page + still(budget=30, at=600, network=0))
    online = [name for name, *_, online in TASKS if online]
    words = {row[0]: row[9] for row in tab.run(ROWS % "tasks")}
    assert {name for name, said in words.items() if said == "needs the network"} == set(online)
    tab.run("document.getElementById('execute').click()")
    assert tab.run(WAITING) == [f"{name} waits: needs the network." for name in online]
    assert all(f"{name} (needs the network)" in why for _, _, why in tab.run(SIDE) for name in online)
    tab.run("document.getElementById('network').click()")
    assert not any("network" in row[9] for row in tab.run(ROWS % "tasks"))
    assert "network=1" in tab.run("location.hash")


@pytest.mark.parametrize("drawn", ["age", "outdated"])
def test_the_day_that_is_drawn_is_that_of_the_library(tab: Tab, page: str, drawn: str) -> None:
    """Every point of every line, the greatest that is told, and the table below."""
    open_page(tab, page + still(day=1, budget=10, every=15, drawn=drawn))
    days = {rule: a_day(rule) for rule in RULES}
    shown = tab.run(DRAWN)
    for name, (label, lines) in zip(NAMES, shown, strict=True):
        points = {rule: days[rule][0][name] for rule in RULES}
        told = [
            f"{TITLES[rule]} at most {span(max(age for _, age, _ in line))} old, "
            f"{span(max(late for _, _, late in line))} out of date"
            for rule, line in points.items()
        ]
        assert label == f"{name}: {'; '.join(told)}"
        which = 1 if drawn == "age" else 2
        greatest = max(60.0, *(point[which] for line in points.values() for point in line))
        # The chosen rule's line is the last, on top.
        for rule, line in zip(["observed", "freshness", "selene"], lines, strict=True):
            places = [tuple(map(float, place.split(" "))) for place in re.split("[ML]", line)[1:]]
            wanted = [(point[0] / 86.4, 41 - point[which] / greatest * 38) for point in points[rule]]
            assert len(places) == len(wanted)
            for found, expected in zip(places, wanted, strict=True):
                assert found == pytest.approx(expected, abs=0.06)
    for rule, row in zip(RULES, tab.run(ROWS % "summary"), strict=True):
        most = max(late for line in days[rule][0].values() for _, _, late in line)
        assert (row[0], row[3], [int(count) for count in row[4:]]) == (TITLES[rule], span(most), days[rule][1])


def test_a_day_follows_what_is_chosen(tab: Tab, page: str) -> None:
    """One that is shown is drawn anew when a task or a setting changes; it comes by itself to who looks for it."""
    tab.size(390, 600)
    open_page(tab, page + still())
    assert tab.run("document.querySelectorAll('#ages svg').length") == 0
    tab.run("document.getElementById('days').scrollIntoView()")
    tab.until("document.querySelectorAll('#ages svg').length == 5")
    before = tab.run(DRAWN)
    tab.run(TYPE)
    tab.until(f"JSON.stringify({DRAWN}) != {json.dumps(json.dumps(before, separators=(',', ':'), ensure_ascii=False))}")
    tab.run("document.querySelector('#tasks button').click()")
    tab.until("document.querySelectorAll('#ages svg').length == 4")


@pytest.mark.parametrize("size", [(360, 740), (768, 1024), (1280, 900)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_at_every_size_light_and_dark(
    tab: Tab, page: str, size: tuple[int, int], scheme: str, tmp_path: Path
) -> None:
    """Ground and button have the colours of the scheme, and nothing is wider than the screen."""
    width, height = size
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
    tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    open_page(tab, page + "#speed=0&at=600&windows=1&day=1")
    tab.run("document.activeElement.blur()")
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
    assert [row[0] for row in tab.run(ROWS % "tasks")] == [*NAMES, "task 6"]
    tab.run("document.querySelector('[value=freshness]').click()")
    tab.run(TYPE)
    address = tab.run("location.href")
    open_page(tab, address)
    assert [row[0] for row in tab.run(ROWS % "tasks")] == [*NAMES, "task 6"]
    assert tab.run("document.body.dataset.rule") == "freshness"
    assert tab.run("document.querySelector('#tasks input[type=number]').value") == "7"
    assert tab.run("document.getElementById('link').href") == address


def test_a_task_is_renamed_removed_and_comes_again(tab: Tab, page: str) -> None:
    """A name that is taken or empty is refused; one that was removed may come again."""
    open_page(tab, page + still(at=60))
    rename = """(name) => { const input = document.querySelector('#tasks input[type=text]');
        input.value = name; input.dispatchEvent(new Event('change')) }"""
    for name, found in (("post", "post"), ("photos", "post"), ("  ", "post"), ("mail", "mail")):
        tab.run(f"({rename})({json.dumps(name)})")
        assert [row[0] for row in tab.run(ROWS % "tasks")] == [found, *NAMES[1:]]
    tab.run("document.getElementById('execute').click()")
    tab.run("document.querySelector('#tasks button').click()")
    tab.run("document.getElementById('add').click()")
    assert [row[0] for row in tab.run(ROWS % "tasks")] == [*NAMES[1:], "task 5"]
    tab.run("[...document.querySelectorAll('#tasks button')].at(-1).click()")
    tab.run("document.getElementById('add').click()")
    assert tab.run(ROWS % "tasks")[-1][0] == "task 5"
    tab.run("document.getElementById('again').click()")
    assert tab.run(LOG) == []
    assert [row[6] for row in tab.run(ROWS % "tasks")] == ["60.0 s"] * 5


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


def test_a_screen_reader_is_told_everything(tab: Tab, page: str) -> None:
    """What it reads: headings, the tables' heads, each thing that can be used with its name, and drawings in words."""
    tab.size(1280, 900)
    open_page(tab, page + still(at=600, windows=1, day=1))
    nodes = [node for node in tab.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    by_role: dict[str, list[str]] = {}
    for node in nodes:
        by_role.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    assert set(by_role["heading"]) == {
        "Which background work deserves the next few seconds?",
        "The window",
        "The same moment under each rule",
        *TITLES.values(),
        "A day in a minute",
    }
    for role in ("button", "textbox", "spinbutton", "checkbox", "radio", "combobox", "link", "image", "img"):
        assert all(by_role.get(role, ["named"])), role
    assert f"remove {NAMES[0]}" in by_role["button"]
    assert f"{NAMES[0]} needs the network" in by_role["checkbox"]
    assert {"Score", "Rank", "In the next window", "Out of date, mean"} <= set(by_role["columnheader"])
    drawings = by_role.get("image", by_role.get("img", []))
    assert len(drawings) == 1 + 3 + len(TASKS)
    assert any(drawing.startswith("priority × age: ") for drawing in drawings)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(tab: Tab, page: str, scheme: str) -> None:
    """By 4.5 to 1 at least, as readers of weak sight need it."""
    tab.size(1280, 900, scheme)
    open_page(tab, page + still(at=600, windows=1, day=1))
    faint = tab.run("""(() => {
      const light = (colour) => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((part) => part / 255)
          .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const ground = (one) => {
        for (; one; one = one.parentElement) {
          const found = getComputedStyle(one).backgroundColor;
          if (!/, 0\\)$/.test(found)) return found;
        }
      };
      return [...document.querySelectorAll('body *')]
        .filter((one) => one.offsetParent)
        .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
        .map((one) => [one, light(getComputedStyle(one).color), light(ground(one))])
        .filter(([, ink, paper]) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05) < 4.5)
        .map(([one]) => one.outerHTML.slice(0, 200));
    })()""")
    assert faint == []


def test_it_asks_for_nothing_from_elsewhere(tab: Tab, page: str) -> None:
    """Neither an address of another site nor a file beside it: its policy would not let it."""
    text = PAGE.read_text()
    assert not re.findall(r"(?:src|href)=[\"'](?!data:)", text)
    assert "default-src 'none'" in text
    open_page(tab, page + still(at=600, windows=1, day=1))
    asked = tab.run("performance.getEntriesByType('resource').map((one) => one.name)")
    assert [name for name in asked if not name.startswith(("blob:", "data:"))] == []
