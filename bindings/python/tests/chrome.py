"""A browser without a window, driven by its own protocol over two pipes: opens pages, clicks, looks."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

PATIENCE = 120


class Tab:
    """One page of a browser."""

    def __init__(self, out: int, back: BinaryIO) -> None:
        self._out = out
        self._back = back
        self._numbers = itertools.count(1)
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Says something and gives what is answered."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = json.loads(self._read())
            if answer.get("id") == number:
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found

    def _read(self) -> bytes:
        read = bytearray()
        while (byte := self._back.read(1)) not in (b"\0", b""):
            read += byte
        assert byte, "the browser has ended"
        return bytes(read)

    def run(self, expression: str) -> Any:
        """What an expression is in the page; a promise is awaited."""
        told = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def open(self, url: str) -> None:
        """Goes to a page, anew if it is there, and waits until its scripts have run."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.until("document.readyState == 'complete' && location.href != 'about:blank'")

    def until(self, expression: str) -> None:
        """Waits until it is true in the page."""
        end = time.monotonic() + PATIENCE
        while not self.run(f"Boolean({expression})"):
            assert time.monotonic() < end, (expression, self.run("document.body.innerText"))
            time.sleep(0.05)

    def size(self, width: int, height: int, scheme: str = "light") -> None:
        """How large the page is, and which scheme its reader likes."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def look(self, path: Path) -> None:
        """Keeps what is seen."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def chrome(browser: str, folder: Path, *options: str) -> Iterator[Tab]:
    """A browser meanwhile."""
    (in_read, in_write), (out_read, out_write) = os.pipe(), os.pipe()
    words = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        "--remote-debugging-pipe", f"--user-data-dir={folder / 'chrome'}", *options,
    ]  # fmt: skip
    # It reads from 3 and writes to 4.
    # Its socket's name has no room for the folder of a test.
    short = tempfile.mkdtemp(prefix="c", dir="/tmp")
    process = subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{in_read} 4>&{out_write}', "bash", *words],
        pass_fds=(in_read, out_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": short},
    )
    os.close(in_read)
    os.close(out_write)
    try:
        with os.fdopen(out_read, "rb") as back:
            yield Tab(in_write, back)
    finally:
        os.close(in_write)
        process.terminate()
        process.wait(timeout=PATIENCE)
        shutil.rmtree(short, ignore_errors=True)
