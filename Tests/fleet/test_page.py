"""`pyselene fleet serve`: a page of a fleet, for readers and who has the token, as far as the database's role may."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyselene
import pytest
from pyselene.cli.page.fleet import FleetBoard

from browser import colours, find_browser, keep
from chrome import Tab, chrome
from conftest import MS, SECOND, Fleet
from forked import Command
from pages import PATIENCE, READY, TOKEN, Site, button, measured, refuses_foreign_requests, shown, try_from_another_page
from server import Server


def until(check: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end
        time.sleep(0.05)


@contextmanager
def page_of(fleet: Fleet, user: str = "fleet", **more: str) -> Iterator[Site]:
    dsn = " ".join([fleet.server.dsn(fleet.name, user), *(f"{name}={value}" for name, value in more.items())])
    with shown(FleetBoard(dsn, "selene")) as site:
        yield site


@pytest.fixture
def site(fleet: Fleet) -> Iterator[Site]:
    fleet.rows("select partitions()")
    with page_of(fleet) as made:
        yield made


def some_of_everything(fleet: Fleet) -> int:
    """A fleet in which something is in each state; the number of its node."""
    fleet.rows("select partitions()")
    fleet.rows("select register('bad', handler => 'print', max_attempts => 1, tags => '{paper}')")
    node = fleet.hello("alpha:17")
    fleet.rows("select beat(%s, 0, serves => array(select class from class))", node)
    runs = fleet.claim(node)
    fleet.rows(
        "select complete(%s, %s, '{2}', '{5000000}', failures => %s)",
        [runs[0]["seq"]],
        [runs[0]["run"]],
        ['no "paper" <b>left</b>'],
    )
    fleet.rows("select register('good', handler => 'print')")
    fleet.complete(fleet.claim(node), 0, 12 * MS)
    fleet.rows("select register('long', handler => 'print', expected => '10 min')")
    assert len(fleet.claim(node)) == 1
    fleet.rows("select register('later', handler => 'print', delay => '1 h', input => 'a secret', tags => '{daily}')")
    fleet.rows("select register('train', handler => 'train', labels => '{gpu}', queue => 'night')")
    fleet.rows("select set_queue('small', limit_refresh => 1, holds => true)")
    fleet.rows(
        "select register('small-' || i, handler => 'print', queue => 'small', delay => '30 s') from generate_series(1, 3) i"
    )
    fleet.rows("select register('next', handler => 'print', priority => 5), register('next', existing => 'append')")
    fleet.rows("select pause('night', '1 h')")
    return node


def test_it_shows_what_runs_where_and_what_waits_and_why(fleet: Fleet) -> None:
    some_of_everything(fleet)
    with page_of(fleet) as site:
        state = site.state
        assert (state["fleet"], state["database"], state["role"]) == ("selene", fleet.name, "fleet")
        assert state["counts"]["claimed"] == "1"
        assert state["counts"]["failed"] == "1"
        long = site.shown("long")
        assert (long["state"], long["node"]) == ("running", "alpha:17")
        assert state["now"] - long["begun"] in range(60_000)
        assert site.shown("later")["reasons"][0]["reason"] == "not_due"
        train = [reason["reason"] for reason in site.shown("train")["reasons"]]
        assert train == ["queue_paused", "no_node"]
        assert site.shown("small-2")["state"] == "held"
        assert [item for item in state["items"] if item["alarm"]] == [
            {"item": "queue night, refresh", "value": "no node has handler 'train' with gpu", "alarm": True}
        ]
        (node,) = state["nodes"]
        assert (node["name"], node["alive"], node["runs"], node["lease"]) == ("alpha:17", True, 1, 30)
        assert node["draining"] is False
        assert [queue["queue"] for queue in state["queues"]] == ["default", "night", "small"]
        assert state["queues"][1]["paused_until"] > state["now"]
        assert [(task["id"], task["state"]) for task in state["ended"]] == [("good", "succeeded"), ("bad", "failed")]
        (failed,) = site.ask("/state.json?view=failed").json["tasks"]
        assert (failed["id"], failed["can_retry"]) == ("bad", True)
        (blocked,) = site.ask("/state.json?view=blocked").json["tasks"]
        assert blocked["id"] == "next"
        assert [task["id"] for task in site.ask("/state.json?find=small").json["tasks"]] == [
            "small-1",
            "small-2",
            "small-3",
        ]
        assert [task["id"] for task in site.ask("/state.json?find=good").json["tasks"]] == ["good"]
        assert [task["id"] for task in site.ask("/state.json?queue=night").json["tasks"]] == ["train"]
        detail = site.ask("/task.json?id=next").json
        assert detail["reasons"][0]["reason"] == "ready"
        assert "0 before it" in detail["reasons"][0]["detail"]
        assert detail["appended"] == 1
        assert site.ask("/task.json?id=bad").json["before"][0]["failure"] == 'no "paper" <b>left</b>'
        # What a task is handed may be a secret.
        for path in ("/state.json", "/state.json?view=live", "/task.json?id=later"):
            assert "secret" not in site.ask(path).body.decode()


def test_pages_go_on_where_the_last_one_ended(fleet: Fleet, site: Site) -> None:
    fleet.rows("select register('t' || i, delay => '1 h') from generate_series(1, 120) i")
    found: list[str] = []
    after = ""
    while True:
        state = site.ask(f"/state.json?view=waiting&after={after}").json
        found += [task["id"] for task in state["tasks"]]
        after = state["after"]
        if after is None:
            break
    assert found == [f"t{number}" for number in range(1, 121)]


def test_who_has_the_token_changes_tasks_and_queues(fleet: Fleet) -> None:
    some_of_everything(fleet)
    with page_of(fleet) as site:
        assert site.ask("/state.json").headers["X-Selene-May-Change"] == "no"
        assert site.ask("/state.json", X_Selene_Token=TOKEN).headers["X-Selene-May-Change"] == "yes"
        assert site.state["may"] == dict.fromkeys(("cancel", "retry", "run", "pause", "resume"), True)
        assert site.do("run", "later").json == {"done": "later is due now"}
        assert fleet.slot("later")["state"] == 0
        # What was made before is not shown any more.
        assert site.shown("later")["reasons"][0]["reason"] == "ready"
        assert "held" in site.do("run", "small-2").json["done"]
        assert site.do("cancel", "later").json == {"done": "cancelled 1 task"}
        assert fleet.one("select state from get('later')") == "cancelled"
        assert site.do("retry", "bad").json == {"done": "enqueued bad again"}
        assert site.do("retry", "bad").status == 400
        assert "is live" in site.do("retry", "bad").json["error"]
        assert site.do("run", "long").status == 400
        assert site.do("cancel", "nobody").status == 404
        assert site.do("pause", "default").json["done"] == "paused queue default; what runs goes on"
        assert site.state["queues"][0]["paused"]
        assert site.do("resume", "default").status == 200
        assert not site.state["queues"][0]["paused"]
        # A name that is misspelt makes no queue.
        assert site.do("pause", "defualt").status == 404
        assert fleet.one("select count(*) from queue where name = 'defualt'") == 0


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "\u00e9"])
def test_who_has_not_changes_nothing(fleet: Fleet, site: Site, token: str) -> None:
    fleet.rows("select register('a', delay => '1 h')")
    for verb in ("cancel", "run", "retry", "pause", "resume"):
        answer = site.do(verb, "default" if verb in ("pause", "resume") else "a", token.encode().decode("latin-1"))
        assert (answer.status, answer.json) == (401, {"error": "the token is needed for that"})
    assert fleet.slot("a")["state"] == 1
    assert fleet.one("select paused_until from queue") == 0


def test_foreign_requests_are_refused(fleet: Fleet, site: Site) -> None:
    fleet.rows("select register('a', delay => '1 h')")
    refuses_foreign_requests(site, "cancel", "a")
    assert fleet.slot("a")["state"] == 1
    assert site.do("cancel", "a", Origin=site.url[:-1], Sec_Fetch_Site="same-origin").status == 200


@pytest.mark.parametrize(
    ("path", "method", "body", "status"),
    [
        ("/cancel", "GET", None, 405),
        ("/", "POST", "{}", 405),
        ("/cancel_all", "POST", "{}", 404),
        ("/store.js", "GET", None, 404),
        ("/cancel", "POST", '{"id": 7}', 400),
        ("/cancel", "POST", '{"id": ""}', 400),
        ("/cancel", "POST", '{"id": "\\u0000"}', 400),
        ("/cancel", "POST", '{"id": "\\ud800"}', 400),
        ("/cancel", "POST", "x" * 5000, 413),
        ("/task.json", "GET", None, 400),
        ("/task.json?id=%00", "GET", None, 400),
        ("/state.json?view=x", "GET", None, 400),
        ("/state.json?ended=x", "GET", None, 400),
        ("/state.json?view=waiting&after=1.2.3", "GET", None, 400),
        ("/state.json?view=waiting&after=9999999999999999999", "GET", None, 400),
        ("/state.json?view=waiting&after=%C2%B2", "GET", None, 400),
        ("/state.json?view=ready&after=9001", "GET", None, 400),
        ("/state.json?find=%00", "GET", None, 400),
        ("/state.json?queue='%20or%201=1", "GET", None, 200),
    ],
)
def test_what_is_not_asked_rightly_is_refused(
    site: Site, path: str, method: str, body: str | None, status: int
) -> None:
    answer = site.ask(path, method, body, X_Selene_Token=TOKEN)
    assert answer.status == status, answer.body
    assert "Traceback" not in answer.body.decode()
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "no-store"


def role(fleet: Fleet, name: str, *granted: str) -> str:
    """A role that may log in, and what it may."""
    fleet.rows(f"drop role if exists {name}")
    fleet.rows(f"create role {name} login")
    for right in granted:
        fleet.rows(f"grant selene_{right} to {name}")
    return name


def test_n32_a_role_that_may_only_look_is_told_what_it_may_not(fleet: Fleet) -> None:
    fleet.rows("select partitions(), register('a', delay => '1 h')")
    with page_of(fleet, role(fleet, "reader", "look")) as site:
        assert site.state["may"] == dict.fromkeys(("cancel", "retry", "run", "pause", "resume"), False)
        assert site.shown("a")["state"] == "enqueued"
        for verb, function, right in (
            ("cancel", "cancel", "enqueue"),
            ("run", "run_now", "enqueue"),
            ("pause", "pause", "manage"),
        ):
            answer = site.do(verb, "default" if verb == "pause" else "a")
            assert answer.status == 403
            assert (
                answer.json["error"] == f'the role "reader" may not call {function}: grant "selene_{right}" to "reader"'
            )
        assert measured(site)("selene_up") == 1
    with page_of(fleet, role(fleet, "changer", "look", "enqueue")) as site:
        assert site.state["may"] == {"cancel": True, "retry": True, "run": True, "pause": False, "resume": False}
        assert site.do("cancel", "a").status == 200
    with page_of(fleet, role(fleet, "stranger_to_it")) as site:
        answer = site.ask("/state.json")
        assert answer.status == 403
        assert answer.json["error"].startswith(
            'the role "stranger_to_it" may do nothing in the schema "selene": grant it'
        )


def test_prometheus_reads_the_metrics(fleet: Fleet) -> None:
    some_of_everything(fleet)
    with page_of(fleet) as site:
        value = measured(site)
        assert value("selene_up") == 1
        assert value("selene_build_info", version=pyselene.__version__) == 1
        assert value("selene_tasks", state="running") == 1
        assert value("selene_tasks", state="held") == 2
        assert value("selene_nodes", state="alive") == 1
        assert value("selene_nodes", state="gone") == 0
        assert value("selene_tasks_registered_total") == 10
        assert value("selene_runs_started_total") == 3
        assert value("selene_tasks_ended_total", state="failed") == 0
        assert value("selene_queue_paused", queue="night") == 1
        assert value("selene_queue_limit", queue="small", kind="refresh") == 1
        assert value("selene_queue_pending", queue="small", kind="refresh") == 1
        assert value("selene_queue_ready", queue="default") == 1
        assert value("selene_alarms") == 1
        # Two of a queue and kind are two.
        fleet.rows("select register('proof', handler => 'proof', queue => 'night')")
        until(lambda: measured(site)("selene_alarms") == 2)
        items = [item["item"] for item in site.state["items"] if item["alarm"]]
        assert items == ["queue night, refresh"] * 2
        fleet.rows("select cancel('later')")
        until(lambda: measured(site)("selene_tasks_ended_total", state="cancelled") == 1)


# ---- the database is away --------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_the_page_says_that_the_database_is_away_and_goes_on_when_it_is_back(tmp_path: Path) -> None:
    server = Server()
    try:
        fleet = Fleet(server, fresh=True)
        fleet.rows("select partitions(), register('a', delay => '1 h')")
        with page_of(fleet) as site, chrome(find_browser(), tmp_path) as page:
            page.open(f"{site.url}#token={TOKEN}")
            page.until(f"{READY} && {button('Cancel a')}")
            server.stop("immediate")
            # The answer of a moment ago is given for a moment.
            until(lambda: site.ask("/state.json").status == 503)
            answer = site.ask("/state.json")
            assert (
                "no server of PostgreSQL answers" in answer.json["error"] or "cannot be reached" in answer.json["error"]
            )
            assert site.do("cancel", "a").status == 503
            until(lambda: measured(site)("selene_up") == 0)
            page.until("document.body.classList.contains('stale')")
            assert "PostgreSQL" in page.run("document.getElementById('told').innerText") or "database" in page.run(
                "document.getElementById('told').innerText"
            )
            # What was seen last is seen still.
            assert "it waits" in page.run("document.getElementById('tasks').innerText")
            server.start()
            until(lambda: site.ask("/state.json").status == 200)
            page.until("!document.body.classList.contains('stale')")
            assert page.run("document.getElementById('told').innerText") == ""
            until(lambda: measured(site)("selene_up") == 1)
            assert site.do("cancel", "a").json == {"done": "cancelled 1 task"}
        for connection in fleet.connections:
            connection.close()
    finally:
        server.remove()


def test_a_connection_that_was_ended_while_nobody_used_it_is_made_again(fleet: Fleet, site: Site) -> None:
    fleet.rows("select register('a', delay => '1 h')")
    assert site.state["counts"]["waiting"] == "1"
    fleet.rows("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pyselene fleet serve'")
    assert site.do("cancel", "a").json == {"done": "cancelled 1 task"}


def test_a_task_that_somebody_holds_is_not_waited_for_for_ever(fleet: Fleet, site: Site) -> None:
    fleet.rows("select register('a', delay => '1 h')")
    with fleet.another() as mine, mine.transaction():
        mine.execute("select 1 from slot for update")
        answer = site.do("cancel", "a")
        assert answer.status == 503
        assert "somebody else may hold a lock" in answer.json["error"]
    assert site.do("cancel", "a").status == 200


def test_a_database_that_says_nothing_at_all_is_given_up(fleet: Fleet) -> None:
    """What lies between takes everything and answers nothing, as a machine that is frozen."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with shown(
            FleetBoard(
                f"host=127.0.0.1 port={silent.getsockname()[1]} dbname={fleet.name} user=fleet connect_timeout=2",
                "selene",
            )
        ) as site:
            began = time.monotonic()
            answer = site.ask("/state.json")
            assert answer.status == 503
            assert "no server of PostgreSQL answers" in answer.json["error"]
            assert time.monotonic() - began < 60


def test_a_database_that_freezes_is_given_up(tmp_path: Path) -> None:
    server = Server()
    stopped: list[int] = []
    try:
        fleet = Fleet(server, fresh=True)
        fleet.rows("select partitions(), register('a', delay => '1 h')")
        with page_of(fleet) as site:
            assert site.state["counts"]["waiting"] == "1"
            ((pid,),) = fleet.rows("select pid from pg_stat_activity where application_name = 'pyselene fleet serve'")
            os.kill(pid, signal.SIGSTOP)
            stopped.append(pid)
            # The others of the server go on, so that a new connection answers.
            until(lambda: site.ask("/state.json").status == 200)
            os.kill(stopped.pop(), signal.SIGCONT)
        for connection in fleet.connections:
            connection.close()
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        server.remove()


# ---- the command -----------------------------------------------------------------------------------------------------


def serve(fleet: Fleet, *words: str, user: str = "fleet") -> Command:
    found = {"SELENE_FLEET": fleet.server.dsn(fleet.name, user), "COLUMNS": "300"}
    return Command(["fleet", "serve", *words], {**os.environ, **found})


def test_the_command_shows_it_until_a_signal(fleet: Fleet, tmp_path: Path) -> None:
    fleet.rows("select partitions(), register('a', delay => '1 h')")
    process = serve(fleet, "--web", "127.0.0.1:0")
    assert process.stdout is not None
    found = re.fullmatch(r"page on http://127\.0\.0\.1:(\d+)/#token=(\S{32})\n", process.stdout.readline())
    assert found is not None
    site = Site(int(found[1]))
    assert site.do("cancel", "a", found[2]).json == {"done": "cancelled 1 task"}
    assert "<title>Selene</title>" in site.ask("/").body.decode()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    process.communicate()
    (tmp_path / "token").write_text("0123456789abcdef\n")
    process = serve(fleet, "--web", "localhost:0", "--token-file", str(tmp_path / "token"))
    assert process.stdout is not None
    told = process.stdout.readline()
    assert "token" not in told
    assert Site(int(told.rpartition(":")[2].rstrip("/\n"))).do("pause", "default", "0123456789abcdef").status == 200
    process.send_signal(signal.SIGHUP)
    assert process.wait(PATIENCE) == 129
    process.communicate()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), 2, "--web"),
        (("--web", "0.0.0.0:80"), 2, "allowed is 127.0.0.1, localhost or [::1], a colon and a port"),
        (("--web", "127.0.0.1:0", "--schema", "none"), 4, 'no schema "none"'),
        (("--web", "127.0.0.1:0", "--dsn", "host=/nowhere"), 5, "no server of PostgreSQL answers"),
        (("--web", "127.0.0.1:0", "--dsn", "app"), 2, "is not understood"),
    ],
)
def test_what_the_command_cannot_show_it_says(fleet: Fleet, words: tuple[str, ...], code: int, told: str) -> None:
    process = serve(fleet, *words)
    said = "".join(process.communicate(timeout=PATIENCE))
    assert process.returncode == code, said
    assert told in re.sub(r"\s*│?\n│?\s*", " ", said)


# ---- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture
def browser() -> str:
    return find_browser()


@pytest.fixture
def page(browser: str, tmp_path: Path) -> Iterator[Tab]:
    with chrome(browser, tmp_path, "--host-resolver-rules=MAP evil.example 127.0.0.1") as found:
        yield found


def test_a_browser_shows_it_and_changes_tasks_with_the_token(fleet: Fleet, site: Site, page: Tab) -> None:
    evil = "<img src=x onerror=document.title='owned'>"
    fleet.rows("select register('later', delay => '1 h'), register(%s, delay => '2 h')", evil)
    page.open(site.url)
    page.until(READY)
    assert page.run("document.querySelectorAll('.acts button').length") == 0
    assert not page.run("document.getElementById('key').hidden")
    assert "it waits until" in page.run("document.getElementById('tasks').innerText")
    # What others wrote is text.
    assert evil in page.run("document.getElementById('tasks').innerText")
    assert page.run("document.querySelectorAll('main img').length") == 0
    assert page.run("document.title") == "fleet selene – Selene"
    page.open(f"{site.url}?view=waiting#token={TOKEN}")
    page.until(f"{READY} && {button('Run now later')}")
    assert page.run("location.hash + location.search") == "?view=waiting"
    page.run(f"{button('Run now later')}.click()")
    page.until(f"!{button('Run now later')}")
    assert page.run("document.getElementById('told').innerText") == "later is due now"
    page.run("document.querySelector('[data-key=\"views ready\"]').click()")
    page.until(button("Cancel later"))
    assert page.run("location.search") == "?view=ready"
    # Cancelling asks once more.
    page.run(f"{button('Cancel later')}.click()")
    page.until(f"{button('Cancel later')}.innerText == 'Really cancel'")
    assert fleet.slot("later")["state"] == 0
    page.run(f"{button('Cancel later')}.click()")
    page.until(f"!{button('Cancel later')}")
    assert fleet.one("select state from get('later')") == "cancelled"
    page.run(f"{button('Pause queue default')}.click()")
    page.until(button("Resume queue default"))
    assert fleet.one("select paused_until from queue") > 0


def test_keys_alone_choose_open_and_act_and_the_focus_stays(fleet: Fleet, site: Site, page: Tab) -> None:
    fleet.rows("select register('a', delay => '1 h'), register('b', delay => '2 h')")
    page.open(f"{site.url}#token={TOKEN}")
    page.until(f"{READY} && {button('Cancel a')}")

    def press(key: str, code: int, **more: Any) -> None:
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def focus() -> str:
        return str(page.run("document.activeElement.dataset.key || document.activeElement.tagName"))

    page.run("document.body.focus()")
    reached = []
    for _ in range(60):
        press("Tab", 9)
        reached.append(focus())
        if reached[-1] == "open a":
            break
    assert "views waiting" in reached
    assert reached[-1] == "open a"
    press("Enter", 13, text="\r")
    page.until("document.querySelector('tr.more pre')")
    assert "not_due" in page.run("document.querySelector('tr.more pre').innerText")
    assert focus() == "open a"
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    # Every button and field has a name, every table too; what happened is told to who does not see it.
    unnamed = page.run(
        "[...document.querySelectorAll('button, input, select, table')].filter((each) =>"
        " !(each.getAttribute('aria-label') || each.getAttribute('aria-labelledby') || each.innerText || each.closest('label')))"
        ".map((each) => each.outerHTML)"
    )
    assert unnamed == []
    assert page.run("document.getElementById('told').getAttribute('role')") == "status"
    assert page.run(
        "[...document.querySelectorAll('[aria-labelledby]')].every((each) => document.getElementById(each.getAttribute('aria-labelledby')))"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 820, 390])
def test_it_has_the_colours_of_the_house_and_fits_a_phone(
    fleet: Fleet, page: Tab, tmp_path: Path, scheme: str, width: int
) -> None:
    some_of_everything(fleet)
    fleet.rows(
        "select register(%s, delay => '1 min')", "a-task-whose-id-is-rather-long-for-the-screen-of-a-phone-" + "x" * 120
    )
    fleet.hello("gone-" + "y" * 80 + ":1", lease=SECOND)
    with page_of(fleet) as site:
        page.size(width, 900, scheme)
        page.open(f"{site.url}#token={TOKEN}")
        page.until(f"{READY} && {button('Retry bad')}")
        whole = page.run("document.documentElement.scrollHeight")
        page.size(width, whole, scheme)
        picture = tmp_path / f"fleet-{scheme}-{width}.png"
        page.look(picture)
        keep(picture)
        found = colours(picture)
        wanted = {"light": ("f4f6f9", "ffffff", "d64527"), "dark": ("0c1017", "141a24", "ff7350")}[scheme]
        assert {colour for colour, _ in found.most_common(2)} == set(wanted[:2])
        assert found[wanted[2]] > 10
        # Nothing is wider than the screen.
        assert page.run("document.documentElement.scrollWidth") <= width
        wider = "[...document.querySelectorAll('.wide')].filter((each) => each.scrollWidth > each.clientWidth)"
        assert page.run(f"{wider}.map((each) => each.firstChild.id)") == []


def test_n37_a_node_that_is_drained_is_shown_so(fleet: Fleet, site: Site, page: Tab) -> None:
    fleet.hello("alpha:17")
    page.open(f"{site.url}#token={TOKEN}")
    page.until(f"{READY} && document.querySelector('.state.alive')")
    fleet.rows("select drain('alpha:17')")
    page.until("document.querySelector('.state.draining')?.textContent == 'draining'")
    assert page.run("document.querySelector('.state.alive')") is None


def test_another_page_in_the_browser_can_do_nothing(fleet: Fleet, site: Site, page: Tab) -> None:
    fleet.rows("select register('a', delay => '1 h')")
    try_from_another_page(page, site, "a")
    assert fleet.slot("a")["state"] == 1


def test_many_readers_at_once_are_answered(fleet: Fleet, site: Site) -> None:
    fleet.rows("select register('t' || i) from generate_series(1, 200) i")
    wrong: list[Any] = []

    def read(number: int) -> None:
        for view in ("now", "ready", "live", "waiting"):
            answer = site.ask(f"/state.json?view={view}&queue={'default' if number % 2 else ''}")
            if answer.status != 200 or not json.loads(answer.body)["queues"]:
                wrong.append(answer.body)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert wrong == []
