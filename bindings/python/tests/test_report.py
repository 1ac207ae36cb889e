"""The report: its sums, its page, and how the page looks in a browser."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from browser import browse, colours, keep
from pyselene.cli.duration import DAY, HOUR, MINUTE, SECOND
from pyselene.cli.report import Away, Fate, Fresh, History, Refusal, Result, Run, Spent, Task, Track, Window, render
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


@pytest.fixture(scope="module")
def history() -> History:
    return made_history()


@pytest.fixture(scope="module")
def page(history: History) -> str:
    return render(history)


# ---- the sums ------------------------------------------------------------------------------------------------------


def test_the_runs_of_all_tasks_are_the_runs(history: History) -> None:
    assert sum(total.runs for total in history.task_sums) == len(history.runs)
    assert sum(day.outcomes.total() for day in history.day_sums()) == len(history.runs)
    assert sum((total.outcomes for total in history.task_sums), Counter[str]()) == history.outcomes


def test_every_task_has_one_fate_in_every_window(history: History) -> None:
    for found in history.fates:
        assert found.total() == len(history.tasks)
    assert sum(total.fates[Fate.RAN] for total in history.task_sums) == len(history.runs)


def test_the_days_hold_all_windows_and_their_budget(history: History) -> None:
    days = history.day_sums()
    assert [day.windows for day in days] == [96] * 7
    assert sum(day.budget for day in days) == history.budget == 672 * 30 * SECOND
    assert sum(day.used for day in days) == history.used


def small(*runs: tuple[int, str], task: Task | None = None, fates: str = "rrrr") -> History:
    """One task, windows each hour, and runs of 10 s that begin at these hours."""
    windows = [
        Window(BEGIN + hour * HOUR, BEGIN + hour * HOUR + 10 * SECOND, 30 * SECOND, SECOND, 1, 0, letter)
        for hour, letter in enumerate(fates)
    ]
    found = [Run(0, hour, BEGIN + hour * HOUR, 10 * SECOND, outcome) for hour, outcome in runs]
    return History("small", [task or Task("one", BEGIN)], windows, found, BEGIN, BEGIN + 4 * HOUR)


def test_age_counts_from_the_end_of_the_last_run() -> None:
    waits = small((0, "new_data"), (2, "failed")).waits[0]
    assert [(wait.begin - BEGIN, wait.end - BEGIN, wait.open) for wait in waits] == [
        (0, 10 * SECOND, False),
        (10 * SECOND, 2 * HOUR + 10 * SECOND, False),
        (2 * HOUR + 10 * SECOND, 4 * HOUR, True),
    ]


def test_a_stopped_run_leaves_the_age_as_it_was() -> None:
    assert [wait.length for wait in small((1, "stopped")).waits[0]] == [4 * HOUR]


def test_a_task_that_is_over_ages_no_more() -> None:
    history = small((0, "new_data"), fates="rooo")
    assert [wait.length for wait in history.waits[0]] == [10 * SECOND]
    assert history.task_sums[0].oldest == 10 * SECOND


def test_the_reasons_of_a_wait_are_those_of_its_windows() -> None:
    history = small((0, "new_data"), (3, "new_data"), fates="rfcr")
    why = history.why(history.waits[0][1])
    assert why == {Fate.DID_NOT_FIT: 1, Fate.CONDITIONS: 1, Fate.RAN: 1}


def test_an_overrun_uses_no_more_than_the_budget() -> None:
    assert Window(0, 40 * SECOND, 30 * SECOND, 0, 1, 0, "r").used == 30 * SECOND


def test_the_axis_has_round_times_and_not_too_many() -> None:
    week = marks(BEGIN, BEGIN + 7 * DAY)
    assert [mark.text for mark in week] == [
        "Mon 5 Jan", "Tue 6 Jan", "Wed 7 Jan", "Thu 8 Jan", "Fri 9 Jan", "Sat 10 Jan", "Sun 11 Jan",
    ]  # fmt: skip
    assert [mark.text for mark in marks(BEGIN + HOUR, BEGIN + HOUR + 40 * SECOND)] == [
        f"01:00:{second:02}" for second in range(0, 40, 5)
    ]
    for span in (SECOND, MINUTE, HOUR, DAY, 30 * DAY, 3000 * DAY):
        assert len(marks(BEGIN + 7, BEGIN + 7 + span)) <= 10 + span // (3640 * DAY)


def governed() -> History:
    """Four hours with a governor: a refresh window each hour but one, a processing window refused throughout."""
    windows = [
        Window(BEGIN + hour * HOUR, BEGIN + hour * HOUR + 10 * SECOND, 30 * SECOND, SECOND, 1, 0, "r", "refresh")
        for hour in (0, 1, 3)
    ]
    runs = [Run(0, place, window.began_at, 10 * SECOND, "new_data") for place, window in enumerate(windows)]
    runs.append(Run(0, 2, windows[2].began_at + 15 * SECOND, SECOND, "stopped", stop="preempted"))
    return History(
        "governed",
        [Task("one", BEGIN)],
        windows,
        runs,
        BEGIN,
        BEGIN + 4 * HOUR,
        tracks=[
            Track("user_active", "", [(BEGIN, 0), (BEGIN + HOUR, 1), (BEGIN + 3 * HOUR, 0)], ["no", "yes", "no"]),
            Track("battery_level", "‰", [(BEGIN, 1000), (BEGIN + 2 * HOUR, 500)], ["100 %", "50 %"]),
            Track("thermal", "level", [(BEGIN, 0), (BEGIN + HOUR, 2)], ["nominal", "serious"]),
        ],
        refusals=[
            Refusal("refresh", BEGIN + 2 * HOUR, BEGIN + 3 * HOUR, "low_power_mode", "low_power_mode is yes"),
            Refusal("processing", BEGIN, BEGIN + 4 * HOUR, "user_active", "<somebody> is there"),
        ],
        profile="apple",
    )


def test_signals_are_summed_up_and_kinds_known() -> None:
    history = governed()
    assert history.kinds == ["refresh", "processing"]
    assert [track.summary(history.end) for track in history.tracks] == ["50 %", "75 %", "serious"]
    longest = max(history.waits[0], key=lambda wait: wait.length)
    assert longest.length == 2 * HOUR
    assert history.refused(longest) == {"low_power_mode": HOUR}


# ---- the page ------------------------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Checks that every element is closed, and collects what an element of a page may load."""

    void = frozenset({"meta", "link", "img", "br", "hr", "input", "path", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.loads: list[str] = []
        self.ids: Counter[str] = Counter()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.ids.update(value or "" for name, value in attrs if name == "id")
        self.loads += [f"{tag} {name}={value}" for name, value in attrs if name in ("src", "href", "srcset", "action")]
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_the_page_is_whole_and_loads_nothing(page: str) -> None:
    reader = read(page)
    assert reader.loads == []
    assert reader.tags["svg"] == 5  # the moon and four charts
    assert reader.tags["table"] == 3
    assert set(reader.ids.values()) == {1}
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|@import|url\(|@font-face", page)


def test_with_a_governor_the_page_has_its_lanes_and_its_refusals() -> None:
    page = render(governed())
    reader = read(page)
    assert reader.tags["svg"] == 6
    assert reader.tags["table"] == 4
    assert {"apple", "Why no window was granted", "refresh windows", "thermal"} <= {
        word for text in reader.text for word in (text, *text.split())
    }
    assert "3 refresh, 0 processing" in reader.text
    assert "<somebody>" not in page
    legends = "".join(re.findall(r'<ul class="legend">.*?</ul>', page))
    assert "refused by the factor low power mode" in legends
    assert "refused: rate" not in legends
    assert 'data-chart="governor"' not in render(small((0, "new_data")))
    read(render(History("empty", [], [], [], BEGIN, BEGIN + DAY, profile="open")))


def test_a_page_of_several_rules_sets_them_side_by_side() -> None:
    fresh = [Fresh(HOUR, 3 * HOUR, 0.25, 9 * MINUTE), Fresh(HOUR / 2, 2 * HOUR, 0.125, 3 * MINUTE)]
    results = [
        Result(rule, each, 7, 100, 12, 30 * SECOND, 60 * SECOND)
        for rule, each in zip(("selene", "freshness"), fresh, strict=True)
    ]
    page = render(small((0, "new_data")), results)
    table = page[page.index('<table id="by-rule">') :].split("</table>")[0]
    text = " ".join(read(table + "</table>").text)
    for told in ("selene this report", "25.0 %", "12.5 %", "9 min", "3 min", "3 h", "12.0 %", "50 %"):
        assert told in text
    assert re.findall(r'class="use used" style="width:([0-9.]+)%', table) == ["100.00", "33.33"]
    # Without changes there is no course to draw, and a course of no rule.
    assert 'data-chart="course"' not in page
    nothing = [Result("selene", Fresh(0, 0, None, None), 0, 0, 0, 0, 0)]
    assert read(render(small((0, "new_data")), nothing)).tags["table"] == 4
    assert "by-rule" not in render(small((0, "new_data")))


def test_under_the_freshness_rule_a_page_tells_pace_and_news() -> None:
    tasks = [Task("a", BEGIN, pace=1250, news=(3, 16)), Task("b", BEGIN)]
    page = render(History("", tasks, [], [], BEGIN, BEGIN + DAY))
    table = page[page.index('<table id="by-task">') :].split("</table>")[0]
    assert re.findall(r">(Pace|News|1\.25|3 of 16)<", table) == ["Pace", "News", "1.25", "3 of 16"]
    assert "Pace" not in render(small((0, "new_data")))


def test_the_page_is_the_same_each_time() -> None:
    assert render(made_history(5, 1)) == render(made_history(5, 1))


def test_names_cannot_break_out_of_the_page() -> None:
    evil = "</script><b onclick='x'>&\""
    history = History(
        evil,
        [Task(evil, BEGIN)],
        small((0, "new_data")).windows,
        small((0, "new_data")).runs,
        BEGIN,
        BEGIN + 4 * HOUR,
        (),
        (evil,),
    )
    page = render(history)
    reader = read(page)
    assert evil not in page
    assert "onclick" not in {name for tag in re.findall(r"<b [^>]*>", page) for name in tag.split()}
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert data["tasks"] == [evil]
    assert evil in "".join(reader.text)


def spent_history() -> History:
    """Two tasks of which it is known where their time went."""
    tasks = [
        Task("a", BEGIN, spent=(Spent("no_window", "", 3 * HOUR, 4), Spent("running", "", HOUR, 1))),
        Task("b<i>", BEGIN, spent=(Spent("constraints", "external_power", 4 * HOUR, 1), Spent("running", "", 7, 1))),
    ]
    return History("spent", tasks, [], [], BEGIN, BEGIN + 4 * HOUR)


def test_w8_a_page_tells_where_the_time_of_each_task_went() -> None:
    page = render(spent_history())
    reader = read(page)
    table = page[page.index('<table id="spent">') :].split("</table>")[0]
    text = " ".join(read(table + "</table>").text)
    # What took most of all tasks' time comes first, and each cell has its share.
    heads = re.findall(r'<button type="button">([^<]*)</button>', table)
    assert heads == ["Task", "", "Constraints: external power", "No window", "Running"]
    assert "3 h 75.0 %, 4 times" in text
    assert "1 h 25.0 %" in text
    assert "4 h 100.0 %" in text
    assert re.findall(r'class="spent ([a-z_ ]+)" style="width:([0-9.]+)%', table) == [
        ("no_window", "75.00"), ("running", "25.00"), ("constraints external_power", "100.00"), ("running", "0.00"),
    ]  # fmt: skip
    legends = "".join(re.findall(r'<ul class="legend">.*?</ul>', page))
    assert "constraints: external power" in legends
    assert "Where the time went" in reader.text
    # A history that knows nothing of it has no such table.
    assert "Where the time went" not in render(small((0, "new_data")))


@pytest.mark.parametrize("runs", [(), ((0, "new_data"),)])
def test_a_report_of_next_to_nothing_is_a_page(runs: tuple[tuple[int, str], ...]) -> None:
    read(render(small(*runs)))
    read(render(History("empty", [], [], [], BEGIN, BEGIN + DAY)))


def test_the_legend_has_what_is_there_and_nothing_else() -> None:
    page = render(small((0, "new_data"), (1, "failed")))
    legends = "".join(re.findall(r'<ul class="legend">.*?</ul>', page))
    assert "failed" in legends
    assert "abandoned" not in legends


# ---- in a browser --------------------------------------------------------------------------------------------------

SCHEMES = {
    "light": {"page": "f4f6f9", "card": "ffffff", "ink": "17202e", "new_data": "2f62c9", "failed": "d64527"},
    "dark": {"page": "0c1017", "card": "141a24", "ink": "e7ebf3", "new_data": "5c97ff", "failed": "ff7350"},
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_the_report_in_both_schemes(scheme: str, page: str, browser: str, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_text(page, encoding="utf-8")
    picture = tmp_path / f"{scheme}.png"
    browse(
        browser,
        report,
        f"--screenshot={picture}",
        "--window-size=1000,1000",
        f"--blink-settings=preferredColorScheme={int(scheme == 'light')}",
    )
    keep(picture)
    found = colours(picture)
    total = found.total()
    wanted = SCHEMES[scheme]
    # Cards and the ground between them fill the page; the marks of runs are there in their colours.
    assert {colour for colour, _ in found.most_common(2)} == {wanted["page"], wanted["card"]}
    assert found[wanted["new_data"]] > total // 200
    assert found[wanted["failed"]] > 200
    assert found[wanted["ink"]] > 200
    assert not set(SCHEMES["dark" if scheme == "light" else "light"].values()) & {
        colour for colour, count in found.items() if count > total // 500
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_w8_bars_of_where_the_time_went_have_their_colours(scheme: str, browser: str, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_text(render(spent_history()), encoding="utf-8")
    picture = tmp_path / f"spent-{scheme}.png"
    browse(
        browser,
        report,
        f"--screenshot={picture}",
        "--window-size=390,2600",
        f"--blink-settings=preferredColorScheme={int(scheme == 'light')}",
    )
    keep(picture)
    found = colours(picture)
    # No window, running, and power, on a phone.
    for colour in {"light": ("6d86b8", "2f62c9", "a2771a"), "dark": ("7f9ad0", "6ea4ff", "d3a544")}[scheme]:
        assert found[colour] > 150, colour


def test_w8_the_table_of_where_the_time_went_is_no_wider_than_a_phone_s_page(browser: str, tmp_path: Path) -> None:
    told = probe(
        browser,
        render(spent_history()),
        tmp_path,
        "runs",
        """
        document.documentElement.style.width = "360px";
        const area2 = document.getElementById("spent").closest(".wide").getBoundingClientRect();
        told.push(String(area2.right <= 360), String(document.querySelectorAll("#spent .bar i[title]").length));
        """,
    )
    assert told == ["true", "4"]


PROBE = """
<script>
const told = [];
const field = document.querySelector("[data-chart=%s] .field"), area = field.getBoundingClientRect();
field.setPointerCapture = () => {};
const point = (type, x, y) => field.dispatchEvent(
  new PointerEvent(type, { clientX: area.left + x * area.width, clientY: area.top + y, bubbles: true, pointerId: 1 }));
const tell = () => told.push(document.getElementById("hint").innerText);
const box = () => told.push(document.querySelector("svg.plot:not(.moon)").getAttribute("viewBox"));
const sorted = () => told.push(document.querySelector("#by-task tbody td b").innerText);
%s
document.body.textContent = JSON.stringify(told);
</script>
"""


def probe(browser: str, page: str, folder: Path, chart: str, script: str) -> list[str]:
    """Runs a script in the page; gives what it told."""
    report = folder / "probe.html"
    watch = "<script>addEventListener('error', (e) => document.documentElement.dataset.error = e.message)</script>"
    text = page.replace("<style>", f"{watch}<style>", 1).replace("</body>", PROBE % (chart, script) + "</body>")
    report.write_text(text, encoding="utf-8")
    document = browse(browser, report, "--dump-dom", "--window-size=1200,900")
    assert "data-error" not in document, re.findall(r'data-error="([^"]*)"', document)
    found: list[str] = json.loads(read_body(document))
    return found


def read_body(document: str) -> str:
    reader = Reader()
    reader.feed(document.partition("<body>")[2].partition("</body>")[0])
    return "".join(reader.text)


def test_the_pointer_tells_what_is_under_it(browser: str, tmp_path: Path) -> None:
    page = render(small((0, "new_data"), (2, "failed"), fates="rfrc"))
    lane = 12
    told = probe(
        browser,
        page,
        tmp_path,
        "runs",
        f"for (const x of [0.0005, 0.3, 0.5005, 0.9]) {{ point('pointermove', x, {lane}); tell(); }}",
    )
    assert told[0].startswith("one\nnew data after 10 s")
    assert told[1].startswith("one\ndid not fit\nwindow 2")
    assert told[2].startswith("one\nfailed after 10 s")
    assert told[3].startswith("one\nconditions missing\nwindow 4")


@pytest.mark.parametrize(
    ("chart", "wanted"),
    [
        ("course", "outdated\nselene 50 %\nfreshness 25 %"),
        ("ages", "one\n1 h 59 min old"),
        ("use", "window 3\n10 s of 30 s used (33 %)"),
        ("fates", "window 3\n1 ran"),
    ],
)
def test_every_chart_has_a_hint(chart: str, wanted: str, browser: str, tmp_path: Path) -> None:
    courses = (("selene", (0.0, 0.0, 0.5, 0.5)), ("freshness", (0.75, 0.0, 0.25, 0.5)))
    results = [Result(rule, Fresh(1, 1, 0.25, 1, course), 1, 1, 0, 1, 1) for rule, course in courses]
    page = render(small((0, "new_data"), (2, "failed")), results)
    told = probe(browser, page, tmp_path, chart, "point('pointermove', 0.5001, 12); tell();")
    assert told[0].startswith(wanted)


def test_the_governor_s_lanes_tell_what_is_under_the_pointer(browser: str, tmp_path: Path) -> None:
    told = probe(
        browser,
        render(governed()),
        tmp_path,
        "governor",
        """
        for (const [x, y] of [[0.2501, 15], [0.6, 15], [0.4, 15], [0.6, 45], [0.3, 75], [0.9, 105], [0.5, 135]]) {
          point('pointermove', x, y); tell();
        }
        """,
    )
    assert told[0].startswith("refresh window 2\ngranted, at most 30 s\n1 run in 10 s")
    assert told[1].startswith("refused by the factor low power mode\nlow_power_mode is yes\nfor 1 h")
    assert told[2].startswith("refresh windows\nnothing asked for one")
    assert told[3].startswith("refused by the factor user active\n<somebody> is there")
    assert told[4].startswith("user active\nyes\nfor 2 h")
    assert told[5].startswith("battery level\n50 %")
    assert told[6].startswith("thermal\nserious")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_the_governor_s_lanes_in_both_schemes(scheme: str, browser: str, tmp_path: Path) -> None:
    report = tmp_path / "governor.html"
    report.write_text(render(governed()), encoding="utf-8")
    picture = tmp_path / f"governor-{scheme}.png"
    browse(
        browser,
        report,
        f"--screenshot={picture}",
        "--window-size=1200,640",
        f"--blink-settings=preferredColorScheme={int(scheme == 'light')}",
    )
    keep(picture)
    found = colours(picture)
    wanted = {"light": ("7c5ec9", "e0b13a", "2f62c9"), "dark": ("a78ff2", "f0cd66", "6ea4ff")}[scheme]
    # Ten pixels high: all of the four hours, and one of them.
    assert found[wanted[0]] > 8 * 700
    assert found[wanted[1]] > 8 * 175
    assert found[wanted[2]] > 40


def test_days_and_dragging_zoom_and_a_head_sorts(page: str, browser: str, tmp_path: Path) -> None:
    told = probe(
        browser,
        page,
        tmp_path,
        "runs",
        """
        box(); document.querySelectorAll("#days button")[2].click(); box();
        point("pointerdown", 0.25, 50); point("pointermove", 0.5, 50); point("pointerup", 0.5, 50); box();
        told.push(document.querySelector(".corner").innerText, String(document.getElementById("hint").hidden));
        field.dispatchEvent(new MouseEvent("dblclick", { bubbles: true })); box();
        told.push(document.querySelector(".corner").innerText);
        const heads = document.querySelectorAll("#by-task th");
        sorted(); heads[0].click(); heads[0].click(); sorted(); heads[2].click(); sorted();
        """,
    )
    # Within a day it says which, and what was under the pointer before is forgotten.
    assert told[3:5] == ["Tue 6 Jan", "true"]
    assert told[6] == ""
    boxes = [[float(part) for part in box.split()] for box in (*told[:3], told[5])]
    assert boxes[0][:3] == boxes[3][:3] == [0, 0, 604800]
    assert boxes[1][0] == 86400
    assert boxes[1][2] == 86400
    assert boxes[2][0] == pytest.approx(86400 * 1.25, abs=200)
    assert boxes[2][2] == pytest.approx(86400 / 4, abs=200)
    history = made_history()
    most = max(zip(history.task_sums, history.tasks, strict=True), key=lambda pair: pair[0].runs)[1].id
    assert told[7:] == [history.tasks[0].id, max(task.id for task in history.tasks), most]
