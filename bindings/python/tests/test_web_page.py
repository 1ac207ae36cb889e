"""`pyselene serve --web`: a page of what runs and what waits, for readers and who has the token, and for no others."""

from __future__ import annotations

import http.client
import re
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

import pyselene as selene
from browser import colours, keep
from chrome import Tab, chrome
from forked import Command
from pages import (
    PATIENCE,
    READY,
    TOKEN,
    Site,
    answered,
    button,
    measured,
    refuses_foreign_requests,
    shown,
    try_from_another_page,
)
from pyselene import Scheduler, State, Task
from pyselene.cli.page.store import StoreBoard
from pyselene.cli.page.watcher import Watcher
from test_cli import SOURCES, environment, folder, here, wait_for

__all__ = ["folder"]

DAEMON = SOURCES.parents[2] / "build/selened"


def fail(run: selene.Run) -> None:
    raise selene.Abandon('no "paper" <b>left</b>')


@pytest.fixture
def scheduler(folder: Path) -> Iterator[Scheduler]:
    with Scheduler(folder / "tasks.db") as made:
        made.register_handler("mail", lambda run: None)
        made.register_handler("broken", fail)
        made.enqueue("later", handler="mail", delay=3600, input=b"a secret", tags={"daily"})
        yield made


@pytest.fixture
def site(scheduler: Scheduler) -> Iterator[Site]:
    with shown(StoreBoard(scheduler)) as made:
        yield made


class Begun:
    """A request of which only the begin comes."""

    def __init__(self, site: Site, begin: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", site.port), PATIENCE)
        self.socket.sendall(begin.format(port=site.port).encode())

    def ended(self) -> bytes:
        """What comes until the connection ends."""
        came = b""
        with self.socket, suppress(ConnectionError):
            while piece := self.socket.recv(4096):
                came += piece
        return came


HALF_A_HEAD = "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-A: "
HALF_A_BODY = "POST /cancel HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 100\r\n\r\n{{"


def is_answered(site: Site) -> bool:
    with suppress(OSError, http.client.HTTPException):
        return site.ask("/state.json").status == 200
    return False


def test_requests_that_never_end_keep_nobody_out(site: Site) -> None:
    begun = [Begun(site, HALF_A_HEAD if number % 2 else HALF_A_BODY) for number in range(250)]
    wait_for(lambda: is_answered(site))
    # The patience of this page is not over: they stay until others want their places.
    assert is_answered(site)
    for each in begun:
        each.socket.close()


def test_a_request_has_a_limit_of_time_and_its_answer_has_none(scheduler: Scheduler) -> None:
    asked, others_ended = threading.Event(), threading.Event()

    class Slow(StoreBoard):
        def metrics(self) -> str:
            asked.set()
            assert others_ended.wait(PATIENCE)
            return super().metrics()

    with shown(Slow(scheduler), patience=3) as site:
        answers: list[int] = []
        asking = threading.Thread(target=lambda: answers.append(site.ask("/metrics").status))
        asking.start()
        assert asked.wait(PATIENCE)
        # These come later, and their time is over before that one is answered.
        begun = [Begun(site, begin) for begin in (HALF_A_HEAD, HALF_A_BODY, "")]
        for each in begun:
            assert each.ended().startswith(b"HTTP/1.1 408 ")
        others_ended.set()
        asking.join(PATIENCE)
        assert answers == [200]


def test_what_waits_is_shown_with_why(scheduler: Scheduler, site: Site) -> None:
    scheduler.register(Task("feeds", "nobody", every=60, requires={"network"}))
    scheduler.set_conditions(network=False)
    state = site.state
    assert state["store"].endswith("/tasks.db")
    assert state["counts"] == {**dict.fromkeys(map(str, State), 0), "enqueued": 2}
    assert (state["more"], state["troubles"], state["clients"]) == (0, [], [])
    later = site.shown("later")
    assert later["why"] == ["its earliest begin has not come"]
    assert later["may_run_at"] - state["now"] == pytest.approx(3_600_000, abs=60_000)
    absent = "no handler has its name, here or in a process that is connected: nobody"
    assert site.shown("feeds")["why"] == ["missing: network", absent]
    # What a task is handed may be a secret.
    assert "secret" not in site.ask("/state.json").body.decode()
    detail = site.ask("/task.json?id=later").json
    assert detail["explanation"][0].startswith("later is enqueued")
    assert detail["parts"][0]["reason"] == "not_due"
    assert sum(part["seconds"] for part in detail["parts"]) == pytest.approx(detail["total"])
    assert site.ask("/task.json?id=nobody").status == 404
    assert "secret" not in site.ask("/task.json?id=later").body.decode()


def test_windows_and_runs_are_shown_as_they_go(scheduler: Scheduler, site: Site) -> None:
    going = threading.Event()

    def wait(run: selene.Run) -> None:
        run.progress(3, 10, "third of ten")
        assert going.wait(PATIENCE)

    scheduler.register_handler("wait", wait)
    scheduler.enqueue("long", handler="wait")
    scheduler.enqueue("bad", handler="broken", max_attempts=1)
    window = threading.Thread(target=lambda: scheduler.run_cycle(60, lanes=2))
    window.start()
    wait_for(lambda: site.state["counts"]["failed"] == 1 and site.state["counts"]["running"] == 1, PATIENCE)
    wait_for(lambda: site.shown("long")["progress"] is not None, PATIENCE)
    # What is told of runs as they go comes on a thread of its own.
    wait_for(lambda: site.shown("long")["begun"] is not None, PATIENCE)
    wait_for(lambda: [window["runs"] for window in site.state["windows"]] == [2], PATIENCE)
    long = site.shown("long")
    assert long["state"] == "running"
    assert long["begun"] <= site.state["now"]
    assert long["progress"] == {"done": 3, "total": 10, "text": "third of ten"}
    (seen,) = site.state["windows"]
    assert (seen["end"], seen["runs"]) == (None, 2)
    going.set()
    window.join()
    wait_for(lambda: len(site.state["runs"]) == 2 and site.state["windows"][0]["end"] is not None, PATIENCE)
    (seen,) = site.state["windows"]
    assert seen["outcomes"] == {"abandoned": 1, "new_data": 1}
    assert {run["id"]: run["outcome"] for run in site.state["runs"]} == {"bad": "abandoned", "long": "new_data"}
    assert 'no "paper" <b>left</b>' in site.shown("bad")["failure"]


def test_of_many_tasks_some_are_shown_and_all_are_counted(scheduler: Scheduler, site: Site) -> None:
    for number in range(300):
        scheduler.enqueue(f"mail-{number}", handler="nobody")
    state = site.state
    assert len(state["tasks"]) == 200
    assert state["more"] == 101
    assert state["counts"]["enqueued"] == 301


def test_who_has_the_token_changes_tasks(scheduler: Scheduler, site: Site) -> None:
    assert site.ask("/state.json").headers["X-Selene-May-Change"] == "no"
    assert site.ask("/state.json", X_Selene_Token=TOKEN).headers["X-Selene-May-Change"] == "yes"
    assert site.do("pause", "later").json == {"done": "paused later"}
    assert scheduler.get("later").paused
    # What was made before is not shown any more.
    assert site.shown("later")["paused"]
    assert site.do("resume", "later").status == 200
    assert site.do("run", "later").json == {"done": "later is due now"}
    assert scheduler.explain("later").runnable
    assert site.do("cancel", "later").json == {"done": "cancelled 1 task"}
    assert scheduler.get("later").state is State.CANCELLED
    scheduler.enqueue("bad", handler="broken", max_attempts=1)
    scheduler.run_cycle(5)
    assert site.do("retry", "bad").json == {"done": "enqueued bad again"}
    answer = site.do("retry", "bad")
    assert answer.status == 400
    assert "bad" in answer.json["error"]
    assert site.do("cancel", "nobody").status == 404


def test_kinds_are_paused_and_resumed(scheduler: Scheduler, site: Site) -> None:
    assert (site.state["kinds"], site.state["pauses"]) == (["refresh", "processing"], [])
    assert site.do("pause-kinds", "refresh").json == {"done": "paused refresh"}
    until = scheduler.now + timedelta(hours=1)
    scheduler.pause(pool="the workers", until=until)
    assert site.state["pauses"] == [
        {"kinds": ["refresh"], "pool": None, "until": None},
        {"kinds": ["refresh", "processing"], "pool": "the workers", "until": int(until.timestamp() * 1000)},
    ]
    assert "its kind is paused, everywhere or in its pool" in site.shown("later")["why"]
    assert site.do("resume-kinds", "refresh").json == {"done": "resumed refresh"}
    told = site.do("resume-kinds", "refresh,processing the workers").json
    assert told == {"done": "resumed refresh and processing of pool the workers"}
    assert scheduler.pauses() == []
    refused = site.do("pause-kinds", "short")
    assert (refused.status, "short" in refused.json["error"]) == (400, True)
    assert site.do("pause-kinds", "").status == 400
    assert site.do("pause-kinds", "refresh", "wrong").status == 401
    assert scheduler.pauses() == []


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "\u00e9"])
def test_who_has_not_changes_nothing(scheduler: Scheduler, site: Site, token: str) -> None:
    for verb in ("cancel", "pause", "run"):
        answer = site.do(verb, "later", token.encode().decode("latin-1"))
        assert (answer.status, answer.json) == (401, {"error": "the token is needed for that"})
    assert scheduler.get("later").state is State.ENQUEUED
    assert not scheduler.get("later").paused
    # Not in the address, nor in a form.
    assert site.ask(f"/cancel?token={TOKEN}", "POST", '{"id": "later"}').status == 401
    assert site.ask("/cancel", "POST", f"token={TOKEN}&id=later").status == 401


def test_foreign_requests_are_refused(scheduler: Scheduler, site: Site) -> None:
    refuses_foreign_requests(site, "cancel", "later")
    assert scheduler.get("later").state is State.ENQUEUED
    assert site.do("cancel", "later", Origin=site.url[:-1], Sec_Fetch_Site="same-origin").status == 200


@pytest.mark.parametrize(
    ("path", "host", "length", "status"),
    [("/cancel", "", 14, 401), ("/cancel", "evil.example", 14, 421), ("/", "", 14, 405), ("/cancel", "", 5000, 413)],
)
def test_a_refusal_is_read_by_who_sends_the_body_later(
    site: Site, path: str, host: str, length: int, status: int
) -> None:
    """As urllib does it: a server that closes with the body unread resets the connection, and its answer is lost."""
    with socket.create_connection(("127.0.0.1", site.port), PATIENCE) as connection:
        host = host or f"127.0.0.1:{site.port}"
        head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        assert not select.select([connection], [], [], 0.3)[0]
        connection.sendall(b"x" * length)
        assert answered(connection, "POST").status == status


def test_who_leaves_within_a_request_is_no_fault(capfd: pytest.CaptureFixture[str], site: Site) -> None:
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", site.port), PATIENCE) as connection:
            head = f"POST /cancel HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nX-Selene-Token: {TOKEN}\r\n"
            connection.sendall(f"{head}Content-Length: 100\r\n\r\nhalf".encode())
    assert site.do("cancel", "later").status == 200
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("path", "method", "body", "status"),
    [
        ("/cancel", "GET", None, 405),
        ("/", "POST", "{}", 405),
        ("/state.json", "PUT", "{}", 405),
        ("/cancel_all", "POST", "{}", 404),
        ("/../pyproject.toml", "GET", None, 404),
        ("/page.py", "GET", None, 404),
        ("/cancel", "POST", "", 400),
        ("/cancel", "POST", "[]", 400),
        ("/cancel", "POST", '{"id": 7}', 400),
        ("/cancel", "POST", '{"id": ""}', 400),
        ("/cancel", "POST", '{"id": "\\u0000"}', 400),
        ("/cancel", "POST", "[" * 4000, 400),
        ("/cancel", "POST", b"\xff\xfe", 400),
        ("/cancel", "POST", "x" * 5000, 413),
        ("/task.json", "GET", None, 400),
        ("/task.json?id=%00", "GET", None, 400),
    ],
)
def test_what_is_not_asked_rightly_is_refused(
    site: Site, path: str, method: str, body: str | bytes | None, status: int
) -> None:
    answer = site.ask(path, method, body, X_Selene_Token=TOKEN)
    assert answer.status == status
    assert "Traceback" not in answer.body.decode()
    # The rules for browsers come with every answer, refusals as well.
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_prometheus_reads_the_metrics(scheduler: Scheduler, site: Site) -> None:
    scheduler.enqueue("bad", handler="broken", max_attempts=1)
    scheduler.enqueue("good", handler="mail")
    scheduler.run_cycle(60)
    wait_for(lambda: len(site.state["runs"]) == 2, PATIENCE)
    value = measured(site)
    assert value("selene_up") == 1
    assert value("selene_build_info", version=selene.__version__) == 1
    assert value("selene_tasks", state="enqueued") == 1
    assert value("selene_tasks", state="failed") == 1
    assert value("selene_runs_started_total") == 2
    assert value("selene_runs_ended_total", kind="refresh", outcome="abandoned") == 1
    assert value("selene_runs_ended_total", kind="refresh", outcome="new_data") == 1
    assert value("selene_run_duration_seconds_count", kind="refresh") == 2
    assert value("selene_run_duration_seconds_bucket", kind="refresh", le="+Inf") == 2
    assert value("selene_run_duration_seconds_sum", kind="refresh") < 60
    assert value("selene_trouble", trouble="store") == 0
    assert value("selene_clients") == 0


def test_a_run_that_began_before_the_page_was_served_has_no_duration(folder: Path) -> None:
    begun, may_end = threading.Event(), threading.Event()
    with Scheduler(folder / "s.db") as scheduler:

        @scheduler.handler("long")
        def long(run: selene.Run) -> None:
            begun.set()
            may_end.wait()

        scheduler.enqueue("early", handler="long")
        with scheduler.driver():
            begun.wait()
            watcher = Watcher(scheduler)
            may_end.set()
            wait_for(watcher.runs)
            (run,) = watcher.runs()
            assert (run.id, run.begin_ns, run.outcome) == ("early", None, "new_data")
            totals = watcher.totals()
            assert (totals.ended, totals.taken) == ({("refresh", "new_data"): 1}, {})
            watcher.close()


def test_a_page_of_a_store_that_another_process_serves(folder: Path) -> None:
    arguments = [str(DAEMON), "--store", "tasks.db"]

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("serving")
        return process

    first = start()
    try:
        with (
            selene.connect("tasks.db") as queue,
            shown(StoreBoard(queue)) as site,
            selene.connect("tasks.db", pool="p") as member,
        ):
            member.register_handler("mail", lambda run: None)
            member.enqueue("a", handler="mail")
            assert {client["pool"] for client in site.state["clients"]} >= {"p"}
            assert site.do("pause", "a").status == 200
            first.kill()
            first.communicate()
            wait_for(lambda: site.ask("/state.json").status == 503, PATIENCE)
            assert "no process serves it" in site.ask("/state.json").json["error"]
            wait_for(lambda: site.ask("/metrics").body.decode().endswith("selene_up 0\n"), PATIENCE)
            first = start()
            wait_for(lambda: site.ask("/state.json").status == 200, PATIENCE)
            assert site.do("resume", "a").status == 200

            def is_seen() -> bool:
                # Events are told anew once the next owner is there.
                member.enqueue("a", handler="mail")
                member.run_cycle(1)
                return bool(site.state["runs"])

            wait_for(is_seen, PATIENCE)
    finally:
        first.kill()
        first.communicate()


def test_the_command_serves_until_a_signal(folder: Path) -> None:
    def start(*more: str) -> tuple[Command, list[str]]:
        process = Command(["serve", "--store", "tasks.db", *more], environment())
        assert process.stdout is not None
        return process, [process.stdout.readline() for _ in range(1 + ("--web" in more))]

    own, told = start("--allow", "any:look")
    assert told == [f"serving tasks.db on {folder}/tasks.db-sock\n"]
    assert (folder / "tasks.db-sock").stat().st_mode & 0o777 == 0o666
    try:
        with selene.connect("tasks.db") as queue:
            queue.enqueue("a")
        # A second one shows what the first serves.
        page, told = start("--web", "127.0.0.1:0")
        assert told[0] == "connected to the process that serves tasks.db\n"
        found = re.fullmatch(r"page on http://127\.0\.0\.1:(\d+)/#token=(\S{32})\n", told[1])
        assert found is not None
        site = Site(int(found[1]))
        assert site.do("cancel", "a", found[2]).json == {"done": "cancelled 1 task"}
        page.send_signal(signal.SIGTERM)
        assert page.wait(PATIENCE) == 0
        page.communicate()
        (folder / "token").write_text("0123456789abcdef\n")
        page, told = start("--web", "localhost:0", "--token-file", "token")
        assert "token" not in told[1]
        site = Site(int(told[1].rpartition(":")[2].rstrip("/\n")))
        assert site.do("cancel", "a", "0123456789abcdef").status == 200
        page.send_signal(signal.SIGHUP)
        assert page.wait(PATIENCE) == 129
        page.communicate()
        assert (
            "not allowed with it: --socket"
            in here("serve", "--store", "tasks.db", "--web", "127.0.0.1:0", "--mode", "600", code=2).stderr
        )
        assert "STORE_LOCKED" in here("serve", "--store", "tasks.db", code=6).stderr
    finally:
        own.send_signal(signal.SIGTERM)
        assert own.wait(PATIENCE) == 0
        own.communicate()
    assert not (folder / "tasks.db-sock").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--web", "0.0.0.0:80"), "allowed is 127.0.0.1, localhost or [::1], a colon and a port"),
        (("--web", "127.0.0.1"), "allowed is 127.0.0.1"),
        (("--web", "127.0.0.1:65536"), "allowed is 127.0.0.1"),
        (("--web", "127.0.0.1:x"), "allowed is 127.0.0.1"),
        (("--token-file", "t"), "--token-file is for the page"),
        (("--allow", "any:lok"), "allowed is uid=USER, gid=GROUP or any"),
        (("--allow", "uid=no such:look"), 'there is no user "no such"'),
        (("--mode", "9"), "allowed is an octal number from 1 to 777"),
        (("--mode", "0"), "allowed is an octal number from 1 to 777"),
        (("--max-clients", "0"), "allowed is a number from 1 to 65536"),
        (("--drain", "2h"), "allowed is from 0s to 1h"),
        (("--adopt", "25h"), "allowed is from 0s to 1d"),
        (("--store", ":memory:"), "allowed is the name of a file"),
    ],
)
def test_a_wrong_option_is_refused(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    found = here("serve", *(() if "--store" in arguments else ("--store", "t")), *arguments, code=2)
    assert told in re.sub(r"\s*│?\n│?\s*", " ", found.stderr)
    assert not (folder / "t").exists()


def test_a_short_token_and_a_port_that_is_taken_are_refused(folder: Path) -> None:
    (folder / "token").write_text("short")
    assert (
        "at least 16 characters"
        in here("serve", "--store", "t", "--web", "127.0.0.1:0", "--token-file", "token", code=2).stderr
    )
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "Address already in use" in here("serve", "--store", "t", "--web", f"127.0.0.1:{port}", code=5).stderr


# ---- in a browser --------------------------------------------------------------------------------------------------


@pytest.fixture
def page(browser: str, tmp_path: Path) -> Iterator[Tab]:
    with chrome(browser, tmp_path, "--host-resolver-rules=MAP evil.example 127.0.0.1") as found:
        yield found


def test_a_browser_shows_it_and_changes_tasks_with_the_token(scheduler: Scheduler, site: Site, page: Tab) -> None:
    evil = "<img src=x onerror=document.title='owned'>"
    scheduler.enqueue(evil, handler="mail", delay=3600)
    page.open(site.url)
    page.until(READY)
    assert page.run("document.querySelectorAll('#tasks .acts button').length") == 0
    assert "its earliest begin has not come" in page.run("document.getElementById('tasks').innerText")
    # What others wrote is text.
    assert evil in page.run("document.getElementById('tasks').innerText")
    assert page.run("document.querySelectorAll('main img').length") == 0
    assert page.run("document.title") == "tasks.db – Selene"
    # The token leaves the address; another load has it still.
    page.open(f"{site.url}?#token={TOKEN}".replace(" ", "%20"))
    page.until(f"{READY} && {button('Pause later')}")
    assert page.run("location.hash") == ""
    page.run(f"{button('Pause later')}.click()")
    page.until(button("Resume later"))
    assert scheduler.get("later").paused
    page.until("document.getElementById('told').innerText === 'paused later'")
    # So are kinds, by whoever has the token.
    page.run(f"{button('Pause refresh tasks')}.click()")
    page.until(button("Resume refresh"))
    assert [str(pause) for pause in scheduler.pauses()] == ["refresh: paused until resumed"]
    assert "refresh: paused" in page.run("document.getElementById('pauses').innerText")
    page.run(f"{button('Resume refresh')}.click()")
    page.until(button("Pause refresh tasks"))
    assert scheduler.pauses() == []
    # Cancelling asks once more.
    page.run(f"{button('Cancel later')}.click()")
    page.until(f"{button('Cancel later')}.innerText == 'Really cancel'")
    assert scheduler.get("later").state is State.ENQUEUED
    page.run(f"{button('Cancel later')}.click()")
    page.until(f"!{button('Cancel later')}")
    assert scheduler.get("later").state is State.CANCELLED
    # A row that is opened tells where the time went, and keeps the focus while it is made anew.
    page.run(
        "(() => { const open = document.querySelector('[data-key=\"open later\"]'); open.focus(); open.click(); })()"
    )
    page.until("document.querySelector('tr.more .spent-row')")
    assert page.run("document.activeElement.dataset.key") == "open later"
    assert "later is cancelled" in page.run("document.querySelector('tr.more pre').innerText")


CUT_BUTTONS = """
[...document.querySelectorAll('button')].filter((button) => {
  const box = button.getBoundingClientRect();
  for (let around = button.parentElement; box.width && around; around = around.parentElement)
    if (getComputedStyle(around).overflowX !== 'visible' && box.right > around.getBoundingClientRect().right)
      return true;
  return false;
}).map((button) => button.innerText)
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 901, 820, 390])
def test_it_has_the_colours_of_the_house_and_fits_a_phone(
    scheduler: Scheduler, site: Site, page: Tab, tmp_path: Path, scheme: str, width: int
) -> None:
    scheduler.enqueue("bad", handler="broken", max_attempts=1)
    scheduler.enqueue("a-task-whose-id-is-rather-long-for-the-screen-of-a-phone-" + "x" * 120, handler="mail", delay=60)
    scheduler.run_cycle(5)
    page.size(width, 900, scheme)
    page.open(f"{site.url}#token={TOKEN}".replace(" ", "%20"))
    page.until(f"{READY} && {button('Retry bad')}")
    picture = tmp_path / f"page-{scheme}-{width}.png"
    page.look(picture)
    keep(picture)
    found = colours(picture)
    wanted = {"light": ("f4f6f9", "ffffff", "d64527"), "dark": ("0c1017", "141a24", "ff7350")}[scheme]
    assert {colour for colour, _ in found.most_common(2)} == set(wanted[:2])
    assert found[wanted[2]] > 10
    # Nothing is wider than the screen.
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("document.querySelector('#tasks').getBoundingClientRect().right") <= width
    # No button is cut by what holds it.
    assert page.run(CUT_BUTTONS) == []


def test_another_page_in_the_browser_can_do_nothing(scheduler: Scheduler, site: Site, page: Tab) -> None:
    try_from_another_page(page, site, "later")
    assert scheduler.get("later").state is State.ENQUEUED
