"""A server of the benchmark's own, and what was found there (fleet.py). Where the programs of the tests are, too."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/fleet"))
import server as servers  # type: ignore[import-not-found]  # noqa: E402
import workers as programs  # type: ignore[import-not-found]  # noqa: E402

__all__ = ["RATE", "ROOT", "TIME", "Bench", "programs"]
RATE = "tasks a second"
#: Of these less is better.
TIME = "ms"


class Bench:
    """One server, and what was found: by question and contender, a value a round."""

    def __init__(self, tasks: int, seconds: int) -> None:
        servers.SETTINGS.update(shared_buffers="256MB", max_wal_size="4GB")
        del servers.SETTINGS["fsync"]
        self.tasks, self.seconds = tasks, seconds
        self.server = servers.Server()
        self.found: dict[tuple[str, str], dict[str, list[float]]] = {}

    def note(self, question: str, contender: str, value: float, unit: str = RATE) -> None:
        """One more round."""
        self.found.setdefault((question, unit), {}).setdefault(contender, []).append(value)

    def rate(self, question: str, contender: str, count: int, body: Callable[[], object]) -> None:
        """So many tasks by one call."""
        begin = time.perf_counter()
        body()
        self.note(question, contender, count / (time.perf_counter() - begin))

    def database(self) -> str:
        """A new one with a fleet in it."""
        return str(self.server.database())

    @contextmanager
    def without_disk(self) -> Iterator[None]:
        """No commit waits for the disk: what the server does is what is measured."""
        self.run("postgres", "alter system set fsync = off", "select pg_reload_conf()")
        yield
        self.run("postgres", "alter system reset fsync", "select pg_reload_conf()")

    def drop(self, database: str) -> None:
        """It is measured no more."""
        with self.server.connect("postgres") as admin:
            admin.execute(f"drop database {database} with (force)".encode())

    def run(self, database: str, *statements: str) -> list[tuple[Any, ...]]:
        """The rows of the last statement, each of which is a commit."""
        with self.server.connect(database) as connection:
            connection.execute("set search_path = public, selene")
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def pgbench(self, database: str, script: str, clients: int, seconds: int = 0, **variables: int | str) -> float:
        """Transactions of a script a second."""
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
            file.write(script)
            file.flush()
            command = [
                str(self.server.bin / "pgbench"), "-n", "-M", "extended", "-h", str(self.server.folder), "-U", "fleet",
                "-f", file.name, "-c", str(clients), "-j", "2", "-T", str(seconds or self.seconds),
                *[f"-D{name}={value}" for name, value in variables.items()], database,
            ]  # fmt: skip
            told = subprocess.run(command, capture_output=True, text=True)
        if told.returncode:
            raise RuntimeError(told.stderr)
        (line,) = [line for line in told.stdout.splitlines() if line.startswith("tps")]
        return float(line.split()[2])

    def tell(self) -> None:
        """The tables."""
        for (question, unit), contenders in self.found.items():
            print(f"\n{question}: {unit}")
            best = min if unit == TIME else max
            first, first_best = (of(next(iter(contenders.values()))) for of in (statistics.median, best))
            for contender, values in contenders.items():
                middle, least = statistics.median(values), best(values)
                print(
                    f"  {contender:<40} best {least:>11,.1f}   {least / first_best:>5.2f}"
                    f"   median {middle:>11,.1f}   {middle / first:>5.2f}"
                )
