"""The package in a browser: its modules load there, and what it exports is there again in another visit."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ready import open_page

from chrome import Tab, chrome

PACKAGE = Path(os.environ["SELENE_PACKAGE"])
README = Path(__file__).resolve().parent.parent / "README.md"
PAGE = b"""<!doctype html><script type="importmap">{"imports":
{"selene-wasm": "./selene.mjs", "selene-wasm/store": "./store.mjs"}}</script><body data-ready="yes">"""


class Files(SimpleHTTPRequestHandler):
    """The package as a site has it, and a page that is empty."""

    def guess_type(self, path: str | os.PathLike[str]) -> str:
        """What a file is."""
        kinds = {".mjs": "text/javascript", ".wasm": "application/wasm"}
        return kinds.get(Path(path).suffix) or super().guess_type(path)

    def do_GET(self) -> None:
        """The page, or a file."""
        if self.path != "/":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *values: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the package."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(PACKAGE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def tab(browser: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """A browser for all tests of this file."""
    with chrome(browser, tmp_path_factory.mktemp("profile")) as tab:
        yield tab


def example(number: int) -> str:
    """A program of the README, as what a console takes."""
    code = re.findall(r"```js\n(.*?)```", README.read_text(), re.DOTALL)[number]
    return re.sub(r"^import (\{.*?\}) from (.*?);", r"const \1 = await import(\2);", code, flags=re.MULTILINE)


def test_a_window_runs_in_a_browser(tab: Tab, site: str) -> None:
    """The module is fetched, and handlers are functions of the page."""
    open_page(tab, site)
    ran = tab.run("""(async () => {
        const { load } = await import('selene-wasm');
        const scheduler = (await load()).open();
        scheduler.handler('mail', async () => { await new Promise((done) => setTimeout(done, 20)); return false; });
        scheduler.register({ id: 'mail' });
        return (await scheduler.run({ budget: 120_000 })).runs;
    })()""")
    assert [(run["id"], run["outcome"]) for run in ran] == [("mail", "no_data")]
    assert 15 < ran[0]["responseTime"] < 120_000


@pytest.mark.skipif(not (PACKAGE / "selene-store.wasm").exists(), reason="there is no selene-store.wasm")
def test_the_example_of_the_readme_finds_its_tasks_again(tab: Tab, site: str) -> None:
    """In another visit the task is there, not due, and is known by its run."""
    visit = f"(async () => {{ {example(1)}; return [scheduler.get('mail'), scheduler.counts.dispatched]; }})()"
    open_page(tab, site)
    first, dispatched = tab.run(visit)
    assert dispatched == 1
    assert len(first["responseTimes"]) == 1
    open_page(tab, site)
    second, dispatched = tab.run(visit)
    assert dispatched == 0
    assert second == first
