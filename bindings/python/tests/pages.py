"""Pages that are served: asked by HTTP, opened in a browser, attacked by other pages."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from chrome import Tab
from pyselene.cli.page.board import Board
from pyselene.cli.page.serving import Serving

TOKEN = "the-token-of-this-test-alone"
PATIENCE = 120
READY = "document.body.dataset.ready"


class Answer:
    """What was answered."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self.body = answer.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def answered(connection: socket.socket, method: str) -> Answer:
    """What comes on a connection."""
    answer = http.client.HTTPResponse(connection, method=method)
    answer.begin()
    return Answer(answer)


class Site:
    """A page that is served."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/"

    def ask(self, path: str, method: str = "GET", body: str | bytes | None = None, **headers: str) -> Answer:
        """Head and body go as one: what cannot read a head (one without a host) closes, and would reset the rest."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body.encode() if isinstance(body, str) else body
        length = {} if data is None else {"Content-Length": str(len(data))}
        fields = {"Host": f"127.0.0.1:{self.port}", **given, **length}
        head = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items() if value), "", ""]
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            connection.sendall("\r\n".join(head).encode("latin-1") + (data or b""))
            return answered(connection, method)

    def do(self, verb: str, id: object, token: str = TOKEN, **headers: str) -> Answer:
        return self.ask(f"/{verb}", "POST", json.dumps({"id": id}), X_Selene_Token=token, **headers)

    @property
    def state(self) -> Any:
        return self.ask("/state.json").json

    def shown(self, id: str) -> Any:
        """A row of the tasks, once the answers of a moment ago are over."""
        (found,) = (task for task in self.state["tasks"] if task["id"] == id)
        return found


@contextmanager
def shown(board: Board, patience: float = 10) -> Iterator[Site]:
    """The page of a board meanwhile."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        with Serving(board, listener, TOKEN, hosts, patience):
            yield Site(port)


def button(label: str) -> str:
    """An expression for a button of a page."""
    return f"document.querySelector('button[aria-label=\"{label}\"]')"


def refuses_foreign_requests(site: Site, verb: str, id: str) -> None:
    """Neither other names of this server, nor pages of others, are answered."""
    for host in ("evil.example", f"evil.example:{site.port}", "127.0.0.1", f"127.0.0.1:{site.port + 1}", ""):
        assert site.ask("/", Host=host).status in (400, 421), host
        assert site.do(verb, id, Host=host).status in (400, 421), host
    assert site.ask("/", Host=f"LocalHost:{site.port}").status == 200
    port = site.port
    for origin in ("http://evil.example", f"https://127.0.0.1:{port}", "null", f"http://127.0.0.1:{port + 1}"):
        assert site.do(verb, id, Origin=origin).status == 403, origin
        assert site.ask("/state.json", Origin=origin).status == 403, origin
    for fetched in ("cross-site", "same-site", "other"):
        assert site.do(verb, id, Sec_Fetch_Site=fetched).status == 403, fetched


def measured(site: Site) -> Callable[..., float]:
    """The metrics as Prometheus reads them: the value of a name and its labels."""
    answer = site.ask("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    families = {family.name: family for family in text_string_to_metric_families(answer.body.decode())}
    for name, family in families.items():
        assert re.fullmatch(r"selene_[a-z_]+", name)
        assert family.documentation
        assert family.type in ("counter", "gauge", "histogram")
        # Counters end in _total, and only they; units are base units.
        if family.type == "counter":
            assert {sample.name for sample in family.samples} <= {f"{name}_total"}
        else:
            assert not name.endswith("_total")
        if family.type == "histogram":
            buckets = [sample.value for sample in family.samples if "le" in sample.labels]
            assert buckets == sorted(buckets)

    def value(name: str, **labels: str) -> float:
        (found,) = (
            sample.value
            for family in families.values()
            for sample in family.samples
            if sample.name == name and sample.labels == labels
        )
        return found

    return value


class Evil(BaseHTTPRequestHandler):
    """Another page, which knows where this one is."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>evil</title>")

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def try_from_another_page(page: Tab, site: Site, id: str) -> None:
    """Another page in the browser can neither read nor cancel; nor does a name of others that leads here."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Evil) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            page.open(f"http://127.0.0.1:{server.server_port}/")
            tried = """(async () => {
              const told = [];
              for (const [path, options] of [
                ["state.json", {}], ["state.json", {mode: "no-cors"}],
                ["cancel", {method: "POST", body: '{"id":"ID"}', headers: {"X-Selene-Token": "TOKEN"}}],
                ["cancel", {method: "POST", mode: "no-cors", body: '{"id":"ID"}'}],
              ]) {
                try { const a = await fetch("URL" + path, options); told.push(a.type + " " + (await a.text()).length); }
                catch (error) { told.push(error.name); }
              }
              const frame = document.createElement("iframe");
              frame.src = "URL";
              const loaded = new Promise((done) => { frame.onload = done; });
              document.body.append(frame);
              await loaded;
              let inside = "closed";
              try { inside = frame.contentWindow.document.title; } catch (error) { inside = error.name; }
              return [...told, inside];
            })()"""
            told = page.run(tried.replace("URL", site.url).replace("TOKEN", TOKEN).replace("ID", id))
            assert told[0] == "TypeError"
            assert told[1] in ("opaque 0", "TypeError")
            assert told[2] == "TypeError"
            assert told[3] in ("opaque 0", "TypeError")
            assert told[4] == "SecurityError"
        finally:
            server.shutdown()
            thread.join()
    page.open(f"http://evil.example:{site.port}/")
    assert "not a name of this server" in page.run("document.body.innerText")
