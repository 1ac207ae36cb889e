"""A PostgreSQL server of the tests' own: in a private folder, on a Unix socket in it, run by a user who is not root."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "listen_addresses": "''",
    "fsync": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "log_line_prefix": "'%m [%p] %d '",
    "deadlock_timeout": "200ms",
    "wal_level": "replica",
    "max_wal_senders": "4",
    "timezone": "UTC",
}


#: What initdb is told of the locale; in the order of C, unless FLEET_LOCALE says otherwise.
LOCALE = shlex.split(os.environ.get("FLEET_LOCALE", "--no-locale"))


def programs() -> Path:
    """Where PostgreSQL has its programs: in the folder FLEET_POSTGRES, or else the newest of this machine."""
    if told := os.environ.get("FLEET_POSTGRES"):
        return Path(told).resolve()
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if found:
        return found[-1].parent
    path = shutil.which("initdb")
    if path is None:
        raise SystemExit("PostgreSQL is not installed (Debian and Ubuntu: postgresql-15 or newer)")
    return Path(path).parent


def libraries() -> dict[str, str]:
    """What lets the programs in the folder FLEET_POSTGRES find the libraries beside them, before those of this machine."""
    return {"LD_LIBRARY_PATH": str(programs().parent / "lib")} if os.environ.get("FLEET_POSTGRES") else {}


#: Which of its processes write by themselves.
WRITERS = ["walwriter", "checkpointer", "background writer", "autovacuum launcher"]


class Server:
    """One server, with databases that each test makes for itself."""

    def __init__(
        self,
        clone_of: Server | None = None,
        inside: Sequence[str] = (),
        address: str = "",
        environment: dict[str, str] | None = None,
    ) -> None:
        """`inside` is what its programs are started by, as nsenter; `address` is one at which it listens, too."""
        self.bin, self.inside = programs(), inside
        self.settings = {**SETTINGS, "listen_addresses": f"'{address}'"}
        self.environment = {**libraries(), **(environment or {})}
        self.folder = Path(tempfile.mkdtemp(prefix="fleet."))
        self.user: dict[str, Any] = {}
        if os.geteuid() == 0:
            other = pwd.getpwnam("postgres" if any(one.pw_name == "postgres" for one in pwd.getpwall()) else "nobody")
            os.chown(self.folder, other.pw_uid, other.pw_gid)
            self.user = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
        self.data, self.log = self.folder / "data", self.folder / "log"
        self.held: list[int] = []
        self.databases = 0
        #: Databases that tests leave to the next one: whether the clock is told, and the name.
        self.kept: dict[bool, str] = {}
        if clone_of:
            self.run("pg_basebackup", "-h", clone_of.folder, "-U", "fleet", "-D", self.data, "-R", "-c", "fast")
        else:
            self.run("initdb", "-D", self.data, "-U", "fleet", "-A", "trust", "-E", "UTF8", "-N", *LOCALE)
            if address:
                with (self.data / "pg_hba.conf").open("a") as rules:
                    rules.write("host all all all trust\n")
        self.start()

    def run(self, program: str, *arguments: object) -> None:
        """Calls one of the server's programs."""
        told = subprocess.run(
            [self.bin / program, *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            env={**os.environ, **libraries(), "LC_ALL": "C"},
            **self.user,
        )
        if told.returncode:
            raise RuntimeError(f"{program}: {told.stdout}{told.stderr}")

    def start(self) -> None:
        """Starts it and waits until it answers."""
        options = " ".join(f"-c {key}={value}" for key, value in self.settings.items())
        options += f" -c unix_socket_directories='{self.folder}'"
        before, user = list(self.inside), self.user
        if before and user:
            # Whoever enters is root until he is in.
            before += ["setpriv", f"--reuid={user['user']}", f"--regid={user['group']}", "--clear-groups"]
            user = {}
        told = subprocess.run(
            [*before, self.bin / "pg_ctl", "-D", self.data, "-w", "-t", "60", "-l", self.log, "-o", options, "start"],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **self.environment},
            **user,
        )
        if told.returncode:
            raise RuntimeError("pg_ctl start: " + self.log.read_text())

    def stop(self, how: str = "fast") -> None:
        """Stops it: fast, or immediate, as a machine that loses power."""
        self.run("pg_ctl", "-D", self.data, "-m", how, "-w", "-t", "60", "stop")

    def hold(self) -> None:
        """From now on only commits that wait for the disk bring anything there."""
        with self.connect("postgres") as admin:
            found = admin.execute(
                "select pid from pg_stat_activity where backend_type = any(%s)", (WRITERS,)
            ).fetchall()
        self.held = [pid for (pid,) in found]
        for pid in self.held:
            os.kill(pid, signal.SIGSTOP)

    def crash(self) -> None:
        """It loses whatever is not on the disk since `hold`, and recovers by itself."""
        for pid in self.held:
            os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + 60
        while True:
            try:
                with self.connect("postgres") as admin:
                    since = admin.execute(
                        "select pid from pg_stat_activity where pid = any(%s)", (self.held,)
                    ).fetchall()
                    if not since:
                        return
            except psycopg.Error:
                assert time.monotonic() < end
            time.sleep(0.01)

    def promote(self) -> None:
        """A replica becomes the primary."""
        self.run("pg_ctl", "-D", self.data, "-w", "promote")

    def remove(self) -> None:
        """Stops it, whatever state it is in, and takes its folder away."""
        try:
            self.stop("immediate")
        except RuntimeError:
            pid = self.data / "postmaster.pid"
            if pid.exists():
                os.kill(int(pid.read_text().split()[0]), signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def dsn(self, database: str, user: str = "fleet") -> str:
        """How to connect."""
        return f"host={self.folder} dbname={database} user={user}"

    def connect(self, database: str, user: str = "fleet", **more: Any) -> psycopg.Connection[Any]:
        """A connection of its own; every statement is a commit."""
        return psycopg.connect(self.dsn(database, user), autocommit=True, **more)

    def database(self) -> str:
        """A new database in which a fleet is installed; all are copies of the first one."""
        self.databases += 1
        name = f"fleet{self.databases}"
        with self.connect("postgres") as admin:
            if self.databases == 1:
                admin.execute("create database installed")
                self.install("installed")
            admin.execute(f"create database {name} template installed")
        return name

    def install(
        self,
        database: str,
        schema: str = "selene",
        user: str = "fleet",
        script: Path = ROOT / "Sources/Fleet/install.sql",
    ) -> str:
        """What somebody does who has psql and the sources."""
        command = ["psql", "-X", "-q", "-h", str(self.folder), "-U", user, "-d", database, "-v", f"schema={schema}"]
        told = subprocess.run(
            [*command, "-f", str(script)],
            executable=self.bin / "psql",
            capture_output=True,
            text=True,
            env={**os.environ, **libraries()},
        )
        if told.returncode:
            raise RuntimeError(told.stderr)
        return str(told.stderr)
