"""libselene-fleet: what it exports and needs, its calls, and its worker on a real server, killed, cut off and stopped."""

from __future__ import annotations

import os
import re
import signal
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from pyselene.fleet._script import script

from conftest import Fleet
from cutter import HOW, Cutter
from server import ROOT, Server
from workers import BUILD, FLAGS, HERE, PYTHON, Worker, compiled, rest, told, wait


def passed(output: str) -> int:
    """How many tests of a C program passed, and none failed."""
    assert "FAILED" not in output, output
    return output.count("ok ")


# ---- the library ----------------------------------------------------------------


def test_it_exports_what_its_header_declares_and_needs_libselene_libpq_and_libc() -> None:
    wanted = {tuple(line.split()) for line in told(ROOT / ".ci/nodes", "include/selene-fleet.h").splitlines()}
    lines = told("nm", "-D", "--defined-only", BUILD / "libselene-fleet.so").splitlines()
    found = {tuple(line.split()[2].split("@@")) for line in lines if line.split()[1] == "T"}
    assert found == wanted
    kept = told("nm", "-g", "--defined-only", BUILD / "libselene-fleet.a").splitlines()
    assert {line.split()[2] for line in kept if len(line.split()) == 3} == {name for name, _ in wanted}
    needed = re.findall(r"NEEDED.*\[(.*)\]", told("readelf", "-d", BUILD / "libselene-fleet.so"))
    # The dynamic linker is a part of the C library.
    assert {name for name in needed if not name.startswith("ld-linux")} == {"libselene.so.1", "libpq.so.5", "libc.so.6"}
    assert "libpq" not in told("readelf", "-d", BUILD / "libselene.so")


@pytest.mark.parametrize("char", ["signed", "unsigned"])
def test_its_sources_mean_the_same_whether_char_has_a_sign(char: str) -> None:
    # On arm64 it has none, and a comparison with 0 is then always the same, which the compiler says.
    here = f"-I{told('pg_config', '--includedir').strip()}"
    told("cc", *FLAGS, here, f"-f{char}-char", "-fsyntax-only", *sorted((ROOT / "Sources/CFleet").glob("*.c")))


@pytest.mark.parametrize("compiler", [["cc", "-std=c99", "-xc"], ["clang", "-std=c11", "-xc"], ["c++", "-xc++"]])
def test_its_header_stands_alone(compiler: list[str], tmp_path: Path) -> None:
    source = tmp_path / "host"
    source.write_text(
        "#include <selene-fleet.h>\nselene_fleet_options one = SELENE_INIT(selene_fleet_options);\n"
        "selene_fleet_place two = SELENE_INIT(selene_fleet_place);\nselene_worker_options three = SELENE_INIT(selene_worker_options);\n"
        "selene_worker_info four = SELENE_INIT(selene_worker_info);\n"
    )
    warnings = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-missing-field-initializers"]
    told(*compiler, *warnings, f"-I{ROOT / 'include'}", "-fsyntax-only", source)


def test_it_is_installed_and_found_by_pkg_config(tmp_path: Path) -> None:
    told("make", "--no-print-directory", "install-fleet", f"DESTDIR={tmp_path}", "PREFIX=/opt/selene", cwd=ROOT)
    place = tmp_path / "opt/selene/lib"
    names = ["selene-fleet.h", "libselene-fleet.a", "libselene-fleet.so", "libselene-fleet.so.1", "selene-fleet.pc"]
    found = {path.name for path in tmp_path.glob("opt/**/*") if not path.is_dir()}
    names += ["libselened-fleet.so.1"]
    real = {os.path.realpath(place / name).rsplit("/", 1)[1] for name in names if ".so" in name}
    assert found == {*names, *real}
    # The other library is another suite's: here it is that of the tree.
    (tmp_path / "selene.pc").write_text(
        f"Name: Selene\nDescription: in the tree\nVersion: 0.2.0\n"
        f"Cflags: -I{ROOT / 'include'}\nLibs: -L{BUILD} -Wl,-rpath,{BUILD} -lselene\n"
    )
    env = {**os.environ, "PKG_CONFIG_PATH": f"{place / 'pkgconfig'}:{tmp_path}", "LD_LIBRARY_PATH": f"{place}:{BUILD}"}
    flags = told("pkg-config", "--cflags", "--libs", "selene-fleet", env=env).split()
    source = tmp_path / "host.c"
    source.write_text("#include <selene-fleet.h>\nint main(void) { return selene_fleet_error()->status; }\n")
    told("cc", "-Wall", "-Werror", source, "-o", tmp_path / "host", *flags)
    told(tmp_path / "host", env=env)
    told("make", "--no-print-directory", "uninstall", f"DESTDIR={tmp_path}", "PREFIX=/opt/selene", cwd=ROOT)
    assert [path for path in tmp_path.glob("opt/**/*") if not path.is_dir()] == []


def test_the_archive_links(programs: dict[str, Path], tmp_path: Path) -> None:
    whole = [BUILD / "libselene-fleet.a", BUILD / "libselene.a", "-lsqlite3", "-lm"]
    compiled(HERE / "arguments.c", tmp_path / "arguments", *whole)
    assert passed(told(tmp_path / "arguments")) == passed(told(programs["arguments"])) > 0


def test_wrong_arguments(programs: dict[str, Path]) -> None:
    assert passed(told(programs["arguments"])) >= 5


def test_calls(programs: dict[str, Path], fleet: Fleet) -> None:
    env = {**os.environ, "FLEET_DSN": fleet.server.dsn(fleet.name)}
    assert passed(told(programs["calls"], env=env)) >= 10


def test_the_address_sanitizer_finds_nothing(fleet: Fleet, tmp_path: Path) -> None:
    lines = tmp_path / "lines.c"
    lines.write_text(
        told(
            "awk",
            "-v",
            "folder=Sources/Fleet",
            "-f",
            "Sources/CFleet/script.awk",
            "Sources/Fleet/install.sql",
            cwd=ROOT,
        )
    )
    own = [
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        *sorted((ROOT / "Sources/CFleet").glob("*.c")),
        lines,
    ]
    # That of clang, which holds the locks of its allocator while a process forks. GCC 12's does not: a child then waits for
    # ever in malloc for one that a thread of its parent had. Where that is the thread which makes a connection, the fleet says
    # after 11 s that there is none (3 of 45 runs of the test of forks).
    clang = {"compiler": "clang"}
    own += ["-fuse-ld=lld"]
    # What is allocated inside libselene is none of the sanitizer's business.
    env = {**os.environ, "FLEET_DSN": fleet.server.dsn(fleet.name), "SELENE_TEST_ALARM": "180"}
    for name in ("arguments", "calls"):
        assert passed(told(compiled(HERE / f"{name}.c", tmp_path / name, *own, **clang), env=env)) > 0
    compiled(HERE / "worker.c", tmp_path / "worker", *own, **clang)
    fleet.rows("select count(register('t' || i, handler => 'send')) from generate_series(1, 50) i")
    fleet.rows("select register('f', handler => 'fail', max_attempts => 1)")
    with Worker(tmp_path / "worker", fleet.server.dsn(fleet.name)):
        wait(lambda: fleet.one("select count(*) from history") == 51)


def test_the_program_of_the_manual(fleet: Fleet, tmp_path: Path) -> None:
    section = (ROOT / "docs/fleet.md").read_text().split("## In C\n")[1].split("\n## ")[0]
    (program,) = re.findall(r"```c\n(.*?)```", section, re.DOTALL)
    (output,) = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    source = ROOT / "bindings/c/examples/fleet/fleet.c"
    assert source.read_text() == program
    assert told(compiled(source, tmp_path / "fleet"), fleet.server.dsn(fleet.name)) == output


def test_the_demonstration_ends_and_leaves_nothing(tmp_path: Path) -> None:
    told("make", "--no-print-directory", "fleet-examples", cwd=ROOT)
    # The folder of its database; its name must not be too long for a socket.
    with tempfile.TemporaryDirectory(prefix="f.") as folder:
        Path(folder).chmod(0o755)
        said = told(
            ROOT / "bindings/c/examples/fleet/run.sh", ROOT / "build/fleet/node", env={**os.environ, "TMPDIR": folder}
        )
        assert list(Path(folder).iterdir()) == []
    assert "node B is killed" in said
    assert "its node ended while it ran" in said
    assert "all 24 tasks have ended" in said
    ends = Counter(
        line.split()[5].strip(",") for line in said.splitlines() if line.split()[2:3] == ["node"] and " ends " in line
    )
    assert len(ends) == 24
    # Two ran side by side when their node was killed, and neither was to blame.
    assert "attempt" not in re.sub(r"no attempt has failed", "", said)
    assert "the nodes have said good-bye" in said


def test_n1_its_script_is_that_of_the_sources(tmp_path: Path) -> None:
    source = tmp_path / "script.c"
    source.write_text(
        "#include <selene-fleet.h>\n#include <stdio.h>\nint main(int argc, char **argv) {\n"
        "    selene_fleet_options options = SELENE_INIT(selene_fleet_options);\n    selene_fleet_bytes *script;\n"
        "    options.schema = (selene_text){argv[argc - 1], -1};\n"
        "    if (selene_fleet_install(&options, &script)) return 1;\n    fputs(script->bytes.data, stdout);\n"
        "    selene_free(script);\n    return 0;\n}\n"
    )
    compiled(source, tmp_path / "script")
    for schema in ("selene", 'my "fl\'eet"'):
        assert told(tmp_path / "script", schema) == script(schema)


# ---- workers ----------------------------------------------------------------


def test_n21_a_worker_runs_what_it_has_handlers_and_labels_for(fleet: Fleet, start: Callable[..., Worker]) -> None:
    fleet.rows(
        "select register('a', handler => 'send', input => 'one', labels => '{eu}'),"
        " register('b', handler => 'fail', max_attempts => 1), register('c', handler => 'nobody'),"
        " register('d', handler => 'send', delay => '300 ms'), register('e', handler => 'send', labels => '{eu,gpu}')"
    )
    with start("c") as worker:
        wait(lambda: fleet.one("select count(*) from history") == 3)
        assert fleet.nodes() == ["c"]
    assert worker.words("stopped") == [["stopped", "0"]]
    assert fleet.rows("select id, state, failure, attempts from ended order by id") == [
        ("a", "succeeded", None, 1),
        ("b", "failed", 'no "luck"', 1),
        ("d", "succeeded", None, 1),
    ]
    assert fleet.one("select result('a')") == b"sent one"
    # The number of the run is what its handler was told.
    assert [int(said[3]) for said in worker.words("begin", "a")] == fleet.one(
        "select array_agg(run) from ended where id = 'a'"
    )
    assert fleet.rows("select id, attempts from live order by id") == [("c", 0), ("e", 0)]
    assert fleet.nodes() == []


def test_n9_two_workers_run_each_task_once(fleet: Fleet, start: Callable[..., Worker]) -> None:
    fleet.rows("select count(register('t' || i, handler => 'send')) from generate_series(1, 500) i")
    with start("one", ms=2) as one, start("other", ms=2) as other:
        wait(lambda: fleet.one("select count(*) from history") == 500)
    began = Counter(said[1] for worker in (one, other) for said in worker.words("begin"))
    assert len(began) == 500
    assert max(began.values()) == 1
    assert fleet.rows("select distinct state, attempts from ended") == [("succeeded", 1)]


def test_n25_a_run_whose_task_is_cancelled_is_asked_to_stop(fleet: Fleet, start: Callable[..., Worker]) -> None:
    fleet.rows("select register('a', handler => 'last')")
    with start(lease=9000) as worker:
        wait(lambda: worker.words("begin", "a"))
        fleet.rows("select cancel('a')")
        wait(lambda: worker.words("stop", "a"))
    assert worker.words("stop", "a") == [["stop", "a", "cancelled"]]


@pytest.mark.parametrize("python", [False, True], ids=["c", "python"])
def test_n37_a_node_that_is_drained_takes_nothing_more_ends_what_runs_and_is_gone(
    fleet: Fleet, programs: dict[str, Path], python: bool
) -> None:
    program = PYTHON if python else programs["worker"]
    fleet.rows("select register('a', handler => 'send')")
    # What runs takes longer than the lease, which a machine that is held up for a second keeps.
    with Worker(program, fleet.server.dsn(fleet.name), "old", lease=5000, ms=6000, lanes=1) as old:
        wait(lambda: old.words("begin", "a"))
        assert fleet.one("select drain('old')") >= 1
        # With the next beat it has heard so.
        beaten = fleet.one("select max(beaten) from nodes where draining")
        wait(lambda: fleet.one("select max(beaten) > %s from nodes where draining", beaten))
        fleet.rows("select register('b', handler => 'send'), wake()")
        wait(lambda: not fleet.nodes())
        assert fleet.rows("select id, state, attempts from ended") == [("a", "succeeded", 1)]
        # The process goes on without its fleet; another takes over.
        with Worker(program, fleet.server.dsn(fleet.name), "new", lease=1000) as new:
            wait(lambda: fleet.one("select count(*) from ended") == 2)
        assert new.words("begin", "b")
        assert not old.words("stopped")
        assert not old.words("stop")
    assert not old.words("begin", "b")
    assert old.words("stopped") == [["stopped", "0"]]


@pytest.mark.parametrize("python", [False, True])
@pytest.mark.parametrize(
    "how", ["cancel('a')", "cancel_tag('t')", "register('a', handler => 'send', existing => 'replace')"]
)
def test_n28_a_worker_hears_at_once_that_what_it_runs_was_cancelled(
    fleet: Fleet, start: Callable[..., Worker], how: str, python: bool
) -> None:
    fleet.rows("select register('a', handler => 'last', tags => '{t}')")
    # No lane is free, and the next beat is 20 s away.
    with start(python=python, lease=60_000, lanes=1) as worker:
        wait(lambda: worker.words("begin", "a"))
        wait(lambda: worker.words("listens"))
        begun = time.monotonic()
        fleet.rows(f"select {how}")
        wait(lambda: worker.words("stop", "a"))
        assert time.monotonic() - begun < 15
    assert worker.words("stop", "a") == [["stop", "a", "replaced" if "replace" in how else "cancelled"]]


@pytest.mark.parametrize("python", [False, True])
def test_n12_a_clock_that_was_set_is_a_trouble_until_the_next_beat(
    fresh: Fleet, start: Callable[..., Worker], python: bool
) -> None:
    with start(dsn=fresh.server.dsn(fresh.name), python=python, lease=12_000) as worker:
        wait(lambda: fresh.rows("select 1 from worker where beaten > started"))
        fresh.rows(
            "create or replace function now_ns() returns bigint language sql volatile as"
            " $$ select (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000 + 3600000000000 $$"
        )
        wait(lambda: worker.words("clock", "begins"))
        told = " ".join(worker.words("clock", "begins")[0])
        assert re.search(r"differs from this machine's by 3(599|600)\d* ?\w+ since the last beat", told), told
        wait(lambda: worker.words("clock", "ends"))
        assert len(worker.words("clock")) == 2


def test_n14_who_is_stopped_waits_for_its_runs_without_working(fleet: Fleet, start: Callable[..., Worker]) -> None:
    fleet.rows("select register('a', handler => 'send')")
    with start(ms=3000) as worker:
        wait(lambda: worker.words("begin", "a"))
        tasks = Path(f"/proc/{worker.process.pid}/task").iterdir()

        def name(task: Path) -> str:
            """Of a thread; none if it has ended."""
            try:
                return (task / "comm").read_text()
            except OSError:
                return ""

        # One that it starts has its name at first.
        named = [task for task in tasks if name(task) == "selene/fleet\n"]
        thread = min(named, key=lambda task: int(task.name))

        def busy() -> float:
            """How long it has run, or waited for a processor."""
            return sum(int(field) for field in (thread / "schedstat").read_text().split()[:2]) / 1e9

        before = after = busy()
        assert worker.process.stdin
        worker.process.stdin.close()
        while not worker.words("end", "a"):
            # Its end may be here before its word.
            with suppress(OSError):
                after = busy()
            time.sleep(0.05)
        assert after - before < 1, "it has waited busily"
        wait(lambda: worker.words("stopped"))
    assert fleet.rows("select id, state from ended") == [("a", "succeeded")]


def test_n29_of_several_hosts_one_that_is_silent_is_passed_over(
    fleet: Fleet, start: Callable[..., Worker], tmp_path: Path
) -> None:
    fleet.rows("select register('a', handler => 'send')")
    with tempfile.TemporaryDirectory(prefix="silent.") as folder, socket.socket(socket.AF_UNIX) as silent:
        silent.bind(f"{folder}/.s.PGSQL.5432")
        silent.listen()
        dsn = f"host={folder},{fleet.server.folder} dbname={fleet.name} user=fleet"
        with start(dsn=dsn, timeout=2000):
            wait(lambda: fleet.one("select count(*) from history") == 1)


def test_n34_a_server_that_may_only_be_read_is_left(fleet: Fleet, start: Callable[..., Worker]) -> None:
    fleet.rows("select register('a', handler => 'send')")
    fleet.rows(f"alter database {fleet.name} set default_transaction_read_only = on")
    try:
        with start(lease=1000) as worker:
            wait(lambda: worker.words("trouble", "begins"))
            fleet.rows(f"alter database {fleet.name} reset default_transaction_read_only")
            wait(lambda: fleet.one("select count(*) from history") == 1)
    finally:
        fleet.rows(f"alter database {fleet.name} reset default_transaction_read_only")


def test_n28_a_worker_that_listens_need_not_look(fleet: Fleet, start: Callable[..., Worker]) -> None:
    with start(poll=3_600_000) as worker:
        wait(lambda: worker.words("listens"))
        for number in range(3):
            fleet.rows("select register(%s, handler => 'send')", f"t{number}")
            fleet.rows("select wake()")
            wait(lambda: fleet.one("select count(*) from history") == number + 1)  # noqa: B023
        # Listening goes on when the connection was lost.
        fleet.rows("select pg_terminate_backend(pid) from pg_stat_activity where query like '%%.listen()'")
        fleet.rows("select register('late', handler => 'send')")
        wait(lambda: fleet.one("select count(*) from history") == 4)


def test_n28_a_worker_that_does_not_listen_looks(fleet: Fleet, start: Callable[..., Worker]) -> None:
    with start(polls=1) as worker:
        wait(lambda: fleet.rows("select 1 from nodes"))
        assert (
            fleet.one(
                "select count(*) from pg_stat_activity where query like '%%.listen()' and datname = current_database()"
            )
            == 0
        )
        fleet.rows("select register('a', handler => 'send')")
        wait(lambda: fleet.one("select count(*) from history") == 1)
    assert not worker.words("listens")


def test_v7_what_a_killed_worker_ran_runs_elsewhere_and_no_attempt_counts(
    fleet: Fleet, start: Callable[..., Worker]
) -> None:
    fleet.rows("select count(register('t' || i, handler => 'last', max_attempts => 1)) from generate_series(1, 3) i")
    # So long that neither takes itself for late on a busy machine; that of the dead one is ended by hand.
    dead = start("dead", lease=600_000, lanes=3)
    wait(lambda: len(dead.words("begin")) == 3)
    fleet.rows(
        "select count(register('u' || i, handler => 'send', queue => 'other', max_attempts => 1)) from generate_series(1, 20) i"
    )
    # The queue is paused, so that the records can be checked before they run again.
    fleet.rows("select pause('default')")
    fleet.rows("update class set handler = 'send'")
    with start("judge", lease=9000) as judge:
        dead.end(signal.SIGKILL)
        wait(lambda: fleet.rows("select 1 from worker where name = 'judge'"))

        def is_judged() -> bool:
            # Said again: on a busy machine a beat of the judge may be late, and then it is not steady.
            fleet.rows("update worker set steady = 0, expires = case name when 'dead' then 0 else expires end")
            return bool(fleet.one("select count(*) from slot where stop = 7") == 3)

        wait(is_judged)
        assert fleet.rows("select distinct attempts, line & 1, quarantined from slot where stop = 7") == [(0, 1, True)]
        # Nothing else waits for them.
        wait(lambda: fleet.one("select count(*) from history") == 20)
        fleet.rows("select resume('default')")
        wait(lambda: fleet.one("select count(*) from history") == 23)
    assert fleet.rows("select distinct state, attempts from ended") == [("succeeded", 1)]
    assert len(judge.words("begin")) == 23


def test_c8_a_worker_that_is_stopped_waits_for_its_runs_as_long_as_its_grace(
    fleet: Fleet, start: Callable[..., Worker]
) -> None:
    fleet.rows("select register('a', handler => 'send')")
    with start(ms=700) as worker:
        wait(lambda: worker.words("begin", "a"))
        worker.end()
    assert fleet.rows("select state from ended") == [("succeeded",)]
    fleet.rows("select register('b', handler => 'hang')")
    begun = time.monotonic()
    with start(grace=300, hangs=1) as worker:
        wait(lambda: worker.words("begin", "b"))
        begun = time.monotonic()
        worker.end()
    assert 0.3 <= time.monotonic() - begun < 60
    assert worker.words("stopped") == [["stopped", "0"]]
    # It was asked to stop and has not come back: it went back as it was, for others to take it.
    assert worker.words("stop") == [["stop", "hang", "shutdown"]]
    assert fleet.rows("select state, attempts from live") == [("enqueued", 0)]


@pytest.mark.parametrize("python", [False, True])
def test_v4_a_worker_that_is_stopped_fails_nothing(fleet: Fleet, start: Callable[..., Worker], python: bool) -> None:
    fleet.rows("select register('a', handler => 'quit', max_attempts => 1)")
    # The database may take its time.
    with start(python=python, grace=0, lease=600_000) as worker:
        wait(lambda: worker.words("begin", "a"))
        worker.end()
    assert fleet.rows("select state, attempts, failure from live") == [("enqueued", 0, None)]


def test_n29_a_wrong_dsn_is_a_trouble_that_says_what_is_wrong(start: Callable[..., Worker]) -> None:
    with start(dsn="host=/nowhere dbname=app") as worker:
        wait(lambda: worker.words("trouble", "begins"))
        assert "/nowhere" in " ".join(worker.words("trouble", "begins")[0])


def test_n29_a_name_that_takes_long_to_be_resolved_holds_up_nothing(start: Callable[..., Worker]) -> None:
    # Whether it is refused at once or looked for: the worker ends when it is asked to.
    with start(dsn="host=nobody.invalid,none.invalid dbname=app", timeout=60_000) as worker:
        time.sleep(0.2)
        begun = time.monotonic()
        worker.end()
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(("protocols", "side"), [((2, 3), "newer"), ((0, 0), "older")])
@pytest.mark.parametrize("python", [False, True])
def test_n33_a_fleet_that_speaks_another_protocol_gives_a_node_nothing(
    fleet: Fleet, start: Callable[..., Worker], python: bool, protocols: tuple[int, int], side: str
) -> None:
    fleet.rows("update fleet set oldest = %s, protocol = %s", *protocols)
    fleet.rows("select register('a', handler => 'send')")
    # A refusal that takes longer than a tenth of the lease is no answer, and that is what is told first.
    with start(python=python, lease=3_000) as worker:
        wait(lambda: any("SE019" in " ".join(words) for words in worker.words("trouble", "begins")))
        assert f"the node 1: the fleet is {side}" in " ".join(worker.words("trouble", "begins")[-1])
        time.sleep(0.5)
        assert fleet.one("select count(*) from worker") == 0
        assert fleet.slot("a")["state"] == 0
        # One of the next release, whose functions speak the former protocol, too.
        fleet.rows("update fleet set oldest = 1, protocol = 2")
        wait(lambda: worker.words("trouble", "ends"))
        wait(lambda: fleet.one("select count(*) from history") == 1)


def test_n11_a_database_that_is_restarted_loses_nothing(programs: dict[str, Path]) -> None:
    server = Server()
    try:
        fleet = Fleet(server)
        fleet.rows("select count(register('t' || i, handler => 'send')) from generate_series(1, 60) i")
        with Worker(programs["worker"], server.dsn(fleet.name), lease=30_000, ms=40, lanes=2) as worker:
            wait(lambda: len(worker.words("end")) > 10)
            server.stop("immediate")
            wait(lambda: worker.words("trouble", "begins"))
            server.start()
            wait(lambda: worker.words("trouble", "ends"))
            fleet.connection = fleet.another()
            wait(lambda: fleet.one("select count(*) from history") == 60)
        assert fleet.rows("select distinct state, attempts from ended") == [("succeeded", 1)]
        assert fleet.one("select count(*) from slot") == 0
        assert fleet.nodes() == []
        fleet.close()
    finally:
        server.remove()


@pytest.mark.parametrize("python", [False, pytest.param(True, marks=pytest.mark.long)], ids=["c", "python"])
@pytest.mark.parametrize("how", HOW)
def test_n14_a_connection_that_is_cut_at_any_statement_costs_no_attempt_and_no_run(
    fleet: Fleet, programs: dict[str, Path], how: str, python: bool
) -> None:
    program = PYTHON if python else programs["worker"]
    cutter = Cutter(fleet.server)
    try:
        cut = 0
        while True:
            cut += 1
            rest(fleet)
            fleet.rows("truncate history, task, slot, stray, worker")
            fleet.rows("select count(register('t' || i, handler => 'send')) from generate_series(1, 6) i")
            cutter.statements, cutter.cut_at, cutter.how = 0, cut, how
            # Calls are given up after a tenth of the lease.
            with Worker(program, cutter.dsn(fleet.name), lanes=2, lease=6000, horizon=0, ms=10, polls=1) as worker:
                wait(lambda: fleet.one("select count(*) from history") == 6)
            assert fleet.rows("select distinct state, attempts from history") == [(4, 1)]
            assert len(worker.words("begin")) == len(worker.words("end")) == 6
            assert fleet.one("select count(*) from slot where state = 4") == 0
            if cutter.statements < cut:
                break
        assert cut > 8
    finally:
        cutter.close()
        rest(fleet)
