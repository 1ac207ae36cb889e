"""A browser without a window that a test drives: by its own protocol, through two pipes."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Tab:
    """One page."""

    def __init__(self, to: int, answers: Iterator[dict[str, Any]]) -> None:
        self._to, self._answers, self._number = to, answers, 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of the protocol; AssertionError where it fails."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        for answer in self._answers:
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
        raise AssertionError(f"the browser ended during {method}")

    def run(self, expression: str) -> Any:
        """What an expression of JavaScript is worth, as JSON; promises are awaited."""
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def open(self, address: str) -> None:
        """Opens a page and waits until it says that it is ready, or that it is not."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        ready = self.run(
            "new Promise((done) => { const look = () => document.body?.dataset.ready"
            " ? done(document.body.dataset.ready) : setTimeout(look, 20); look(); })"
        )
        assert ready == "yes", self.run("document.getElementById('foot').textContent")

    def look(self, picture: Path) -> None:
        """Takes a picture of what is seen."""
        picture.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def chrome(program: str, profile: Path) -> Iterator[Tab]:
    """Starts a browser; a tab in it."""
    read_here, write_there = os.pipe()
    read_there, write_here = os.pipe()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
    # It reads from its descriptor 3 and answers on 4.
    shell = 'exec "$@" 3<&"$READ" 4>&"$WRITE"'
    process = subprocess.Popen(
        ["bash", "-c", shell, "bash", program, *options, f"--user-data-dir={profile}", "--remote-debugging-pipe"],
        env={**os.environ, "READ": str(read_there), "WRITE": str(write_there)},
        pass_fds=(read_there, write_there),
        stderr=subprocess.DEVNULL,
    )
    os.close(read_there)
    os.close(write_there)
    try:
        yield Tab(write_here, _answers(read_here))
    finally:
        process.kill()
        process.wait()
        os.close(write_here)
        os.close(read_here)


def _answers(descriptor: int) -> Iterator[dict[str, Any]]:
    """Its messages, each ended by a NUL."""
    rest = b""
    while piece := os.read(descriptor, 1 << 16):
        *whole, rest = (rest + piece).split(b"\0")
        yield from map(json.loads, whole)
