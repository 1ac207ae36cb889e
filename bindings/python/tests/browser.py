"""Pages as a browser shows them, and the colours of its pictures."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import zlib
from collections import Counter
from itertools import accumulate
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell")


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the tests that need a browser (SELENE_TEST_BROWSER unset), the others ("only"), or none ("all")."""
    chosen = os.environ.get("SELENE_TEST_BROWSER", "all" if os.environ.get("SELENE_TEST_ALL") else "none")

    def needs(item: pytest.Item) -> bool:
        return "browser" in getattr(item, "fixturenames", ()) or item.get_closest_marker("browser") is not None

    left = [item for item in items if chosen != "all" and needs(item) != (chosen == "only")]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


def find_browser() -> str:
    """The program; without one the test is skipped, or fails where every program must be there."""
    found = os.environ.get("BROWSER_FOR_TESTS") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        if os.environ.get("SELENE_TEST_ALL"):
            pytest.fail("there is no browser; install the package chromium")
        pytest.skip(f"there is no browser: none of {', '.join(BROWSERS)}; install the package chromium")
    return found


def browse(browser: str, page: Path, *options: str) -> str:
    """Opens a page without a window; gives the standard output."""
    done = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--virtual-time-budget=3000",
            f"--user-data-dir={page.parent / 'profile'}",
            *options,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def pixels(path: Path) -> tuple[int, int, list[bytes]]:
    """Reads a PNG of 8 bits: width, bytes of a pixel, rows."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, width, size = 8, b"", 0, 3
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack_from(">IIBB", chunk)
            assert depth == 8
            size = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            packed += chunk
        at += 12 + length
    raw, stride = zlib.decompress(packed), width * size
    rows: list[bytes] = []
    before = bytes(stride)
    for begin in range(0, len(raw), stride + 1):
        row = bytearray(raw[begin + 1 : begin + 1 + stride])
        kind_of_row = raw[begin]
        if kind_of_row == 1:
            for channel in range(size):
                row[channel::size] = bytes(value & 255 for value in accumulate(row[channel::size]))
        elif kind_of_row == 2:
            row[:] = bytes((value + above) & 255 for value, above in zip(row, before, strict=True))
        elif kind_of_row:
            for i, above in enumerate(before):
                left, corner = (row[i - size], before[i - size]) if i >= size else (0, 0)
                if kind_of_row == 3:
                    guess = (left + above) // 2
                else:
                    by_left, by_above, by_corner = (
                        abs(above - corner),
                        abs(left - corner),
                        abs(left + above - 2 * corner),
                    )
                    guess = above if by_above <= by_corner else corner
                    guess = left if by_left <= min(by_above, by_corner) else guess
                row[i] = (row[i] + guess) & 255
        before = bytes(row)
        rows.append(before)
    return width, size, rows


def colours(path: Path) -> Counter[str]:
    """How often each colour stands in a picture."""
    _, size, rows = pixels(path)
    found: Counter[tuple[bytes]] = Counter()
    for row in rows:
        found.update(struct.iter_unpack(f"3s{size - 3}x", row))
    return Counter({colour.hex(): count for (colour,), count in found.items()})


def keep(picture: Path) -> None:
    """Copies a picture for those who want to look at it."""
    folder = os.environ.get("KEEP_PICTURES_IN")
    if folder:
        shutil.copy(picture, folder)
