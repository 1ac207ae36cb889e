"""The Pythons of this machine that pyselene supports, the newest of each minor version; prints them as a program."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ASK = """
import sys
print(*sys.version_info[:3], getattr(sys, "_is_gil_enabled", lambda: True)(), sys.executable, sep="\\n")
"""


def _candidates() -> Iterator[Path]:
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv"))
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local/share/uv/python"))
    yield Path(sys.executable)
    for folder in (*os.environ.get("PATH", "").split(os.pathsep), "/usr/local/bin", "/usr/bin"):
        yield from sorted(Path(folder).glob("python3.[0-9][0-9]"))
        yield from sorted(Path(folder).glob("python3.[0-9][0-9]t"))
    yield from sorted(pyenv.glob("versions/3.*/bin/python"))
    yield from sorted(uv.glob("cpython-3.*/bin/python3"))
    yield from sorted(Path("/opt").glob("python*/bin/python3"))


@cache
def pythons() -> tuple[str, ...]:
    """Their paths, the oldest first; this one is the one of its version."""
    found: dict[tuple[int, int, bool], tuple[int, str]] = {}
    seen: set[Path] = set()
    for path in _candidates():
        if path in seen or not path.exists():
            continue
        seen.add(path)
        try:
            done = subprocess.run([path, "-I", "-c", _ASK], capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode:
            continue
        major, minor, micro, has_lock, name = done.stdout.splitlines()
        if (int(major), int(minor)) < (3, 11):
            continue
        key = (int(major), int(minor), has_lock == "True")
        # This interpreter, which comes first, stands for its version.
        if key not in found or (found[key][0] < int(micro) and found[key][1] != sys.executable):
            found[key] = (int(micro), name)
    return tuple(name for _, (_, name) in sorted(found.items()))


if __name__ == "__main__":
    print(*pythons(), sep="\n")
