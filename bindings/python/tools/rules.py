"""Draws docs/freshness.svg from the table of families in docs/freshness.md; --check says whether it is up to date.

With --play the worlds of Tests/SeleneEngineTests/World.swift are played first, and the table is rewritten.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/freshness.md"
PICTURE = ROOT / "docs/freshness.svg"
HEAD = "| family |"
ALL = "all of them"

ROW, TOP, WIDTH = 26, 92, 880
LATENESS, CUT = (300, 580), (640, 850)
"""From where to where the two scales go."""

STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: #17202e; }
.page { fill: #ffffff; } .soft { fill: #566376; font-size: 12px; } .head { font-weight: 600; }
.title { font-size: 16px; font-weight: 600; } .all { font-weight: 600; }
.grid { stroke: #e2e7ee; } .one { stroke: #8a95a6; stroke-width: 1.5; } .give { stroke: #2f62c9; stroke-width: 2; }
.gain { stroke: #93abd3; stroke-width: 3; } .mark { fill: #2f62c9; }
.before { fill: #ffffff; stroke: #8a95a6; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e7ebf3; } .page { fill: #141a24; } .soft { fill: #9ba7ba; }
  .grid { stroke: #28313f; } .one { stroke: #6d798d; } .give { stroke: #6ea4ff; } .gain { stroke: #4a628f; }
  .mark { fill: #6ea4ff; } .before { fill: #141a24; stroke: #9ba7ba; }
}
"""


@dataclass(frozen=True)
class Family:
    """A line of the table: freshness against Selene's own rule."""

    name: str
    lateness: float
    give: float
    """Two standard errors; of all families: 0."""
    cut: tuple[float, float]
    """Windows with a cut run, in per cent, before and after."""


def lines(page: str) -> list[str]:
    """The lines of the table, without its head."""
    found = page[page.index(HEAD) :].split("\n\n")[0].splitlines()[2:]
    return [line for line in found if line.startswith("| ")]


def family(line: str) -> Family:
    """A line of the table, read."""
    name, lateness, _, _, _, cut, *_ = (cell.strip() for cell in line.strip("| ").split(" | "))
    middle, _, give = lateness.partition(" ± ")
    before, after = cut.split(" → ")
    return Family(name, float(middle), float(give or 0), (float(before), float(after)))


def picture(families: list[Family]) -> str:
    """The picture of the table."""
    height = TOP + ROW * len(families) + 46
    foot = TOP + ROW * len(families) + 4

    def late(ratio: float) -> float:
        return round(LATENESS[0] + (ratio - 0.4) / 0.8 * (LATENESS[1] - LATENESS[0]), 1)

    def cut(percent: float) -> float:
        return round(CUT[0] + percent / 100 * (CUT[1] - CUT[0]), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<title>The freshness rule against Selene's own, by family of worlds</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}" rx="10"/>',
        '<text class="title" x="24" y="34">The freshness rule against Selene\'s own</text>',
        f'<text class="head" x="{LATENESS[0]}" y="62">how late news is</text>',
        f'<text class="soft" x="{LATENESS[0]}" y="79">against Selene\'s rule, which is 1</text>',
        f'<text class="head" x="{CUT[0]}" y="62">windows with a cut run</text>',
        f'<text class="soft" x="{CUT[0]}" y="79">hollow: Selene\'s rule, full: freshness</text>',
    ]
    for ratio in (0.4, 0.6, 0.8, 1.0, 1.2):
        style = "one" if ratio == 1 else "grid"
        parts.append(f'<path class="{style}" d="M{late(ratio)} {TOP}V{foot}"/>')
        parts.append(f'<text class="soft" x="{late(ratio)}" y="{foot + 20}" text-anchor="middle">{ratio:.1f}</text>')
    for percent in (0, 25, 50, 75, 100):
        parts.append(f'<path class="grid" d="M{cut(percent)} {TOP}V{foot}"/>')
        parts.append(f'<text class="soft" x="{cut(percent)}" y="{foot + 20}" text-anchor="middle">{percent} %</text>')
    for number, each in enumerate(families):
        y = TOP + ROW * number + ROW // 2
        style = ' class="all"' if each.name == ALL else ""
        parts.append(f'<text{style} x="280" y="{y + 4}" text-anchor="end">{escape(each.name)}</text>')
        if each.give:
            least, most = late(each.lateness - each.give), late(each.lateness + each.give)
            parts.append(f'<path class="give" d="M{least} {y}H{most}"/>')
        parts.append(f'<circle class="mark" cx="{late(each.lateness)}" cy="{y}" r="5"/>')
        before, after = (cut(percent) for percent in each.cut)
        parts.append(f'<path class="gain" d="M{before} {y}H{after}"/>')
        parts.append(f'<circle class="before" cx="{before}" cy="{y}" r="4"/>')
        parts.append(f'<circle class="mark" cx="{after}" cy="{y}" r="5"/>')
    return "\n".join([*parts, "</svg>", ""])


def play() -> list[str]:
    """The lines of the table, as the test of the worlds prints them when it has time."""
    command = ["swift", "test", "--filter", "WorldTests"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"SELENE_TEST_ROUNDS": "6"}, stdout=subprocess.PIPE, text=True
    )
    found = re.findall(r"^\| .* \|$", done.stdout, re.MULTILINE)
    if done.returncode or not found:
        sys.exit(f"{done.stdout}\n{' '.join(command)} failed")
    return found


def main() -> None:
    """The command."""
    page = PAGE.read_text(encoding="utf-8")
    if sys.argv[1:] == ["--play"]:
        page = page.replace("\n".join(lines(page)), "\n".join(play()))
        PAGE.write_text(page, encoding="utf-8")
    drawn = picture([family(line) for line in lines(page)])
    if sys.argv[1:] == ["--check"]:
        if drawn != PICTURE.read_text(encoding="utf-8"):
            sys.exit("docs/freshness.svg is not what docs/freshness.md says: bindings/python/tools/rules.py draws it")
    elif sys.argv[1:] in ([], ["--play"]):
        PICTURE.write_text(drawn, encoding="utf-8")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
