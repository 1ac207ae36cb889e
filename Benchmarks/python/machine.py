"""What was measured on and with what."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path


def machine(library: Path) -> dict[str, str]:
    """Names and values for people to read."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "processor": f"{processor()}, {os.cpu_count()} cores, {memory / 2**30:.0f} GiB, load {os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}, {libc()}",
        "compilers": f"{first_line('cc', '--version')}; {swift()}",
        "library": f"{library.name}, {library.stat().st_size / 1000:.1f} kB",
        "python": platform.python_version(),
    }


def processor() -> str:
    """As the system names it."""
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return " ".join(found[1].split()) if found else platform.machine()


def libc() -> str:
    """Such as glibc 2.36."""
    return " ".join(platform.libc_ver()) or "unknown libc"


def swift() -> str:
    """Its version."""
    found = re.search(r"Swift version \S+", first_line("swift", "--version"))
    return found[0] if found else "Swift of unknown version"


def first_line(*command: str) -> str:
    """Of what a command prints; empty if it cannot be run."""
    try:
        printed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout
    except OSError:
        return ""
    return printed.partition("\n")[0]


def free_memory() -> int:
    """Bytes that can be had without swapping."""
    found = re.search(r"^MemAvailable:\s*(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
