"""A PgBouncer before a server of the tests' own, on a Unix socket in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from server import Server


class Bouncer:
    """It has few connections to the server, and hands them on."""

    def __init__(self, server: Server, mode: str = "transaction", size: int = 2) -> None:
        program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if program is None:
            raise SystemExit("PgBouncer is not installed (Debian and Ubuntu: pgbouncer)")
        self.folder = Path(tempfile.mkdtemp(prefix="bouncer."))
        user: dict[str, Any] = {}
        if os.geteuid() == 0:
            # It refuses to be root.
            other = pwd.getpwnam("postgres" if any(one.pw_name == "postgres" for one in pwd.getpwall()) else "nobody")
            os.chown(self.folder, other.pw_uid, other.pw_gid)
            user = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
        (self.folder / "users").write_text('"fleet" ""\n')
        (self.folder / "ini").write_text(
            f"[databases]\n* = host={server.folder}\n[pgbouncer]\npool_mode = {mode}\ndefault_pool_size = {size}\n"
            f"listen_addr =\nlisten_port = 5432\nunix_socket_dir = {self.folder}\nauth_type = trust\n"
            f"auth_file = {self.folder}/users\nlogfile = {self.folder}/log\npidfile = {self.folder}/pid\n"
            "max_client_conn = 2100\nmin_pool_size = 0\nserver_idle_timeout = 60\n"
        )
        self.process = subprocess.Popen([program, "-q", self.folder / "ini"], cwd=self.folder, **user)
        end = time.monotonic() + 60
        while not self.answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < end
            time.sleep(0.02)

    def answers(self) -> bool:
        """Whether it takes connections."""
        with socket.socket(socket.AF_UNIX) as one:
            return one.connect_ex(str(self.folder / ".s.PGSQL.5432")) == 0

    def dsn(self, database: str) -> str:
        """How to connect through it."""
        return f"host={self.folder} dbname={database} user=fleet"

    def __enter__(self) -> Bouncer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
