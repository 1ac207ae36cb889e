#!/usr/bin/env python3
"""Writes a page of one file: page.py PACKAGE OUT, with the engine and the modules of the package inside, packed.

With --check PACKAGE OUT only says whether the page is what these make of it.
"""

from __future__ import annotations

import base64
import gzip
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "page"
MODULES = PAGE.parent
ORDER = ("interface.mjs", "structs.mjs", "memory.mjs", "scheduler.mjs", "selene.mjs")
PARTS = re.compile(r"const (ENGINE|SCRIPT) = '([^']*)'")


def packed(data: bytes) -> str:
    """Bytes as they stand in the page."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def script() -> str:
    """All modules as one: what they import from each other is simply there."""
    sources = [MODULES / name for name in ORDER] + [PAGE / "play.mjs"]
    text = "\n".join(source.read_text() for source in sources)
    text = re.sub(r"^(?:import|export) \{[^}]*\} from '[^']*';\n", "", text, flags=re.MULTILINE)
    # What a page opens is one module, of which it calls start().
    text = re.sub(r"^export (?!async function start)", "", text, flags=re.MULTILINE)
    return text.replace("import.meta.url", "location.href")


def frame() -> str:
    """The page but for what is packed, in as few lines as it needs."""
    style = " ".join((PAGE / "play.css").read_text().split())
    return " ".join((PAGE / "play.html").read_text().replace("/*@@STYLE@@*/", style).split())


def engine(package: Path) -> bytes:
    """The module that the page runs."""
    return (package / "selene.wasm").read_bytes()


def unpacked(text: str) -> bytes:
    """What was packed."""
    return gzip.decompress(base64.b64decode(text)) if text else b""


def main(arguments: list[str]) -> int:
    """Writes the page, or compares it."""
    package, out = map(Path, arguments[-2:])
    if arguments[0] == "--check":
        found = out.read_text()
        inside = {name: unpacked(text) for name, text in PARTS.findall(found)}
        wanted = {"ENGINE": engine(package), "SCRIPT": script().encode()}
        if inside == wanted and PARTS.sub(r"const \1 = ''", found).strip() == frame():
            return 0
        print(f"{out} is stale: run make page", file=sys.stderr)
        return 1
    parts = {"ENGINE": packed(engine(package)), "SCRIPT": packed(script().encode())}
    out.write_text(PARTS.sub(lambda part: f"const {part[1]} = '{parts[part[1]]}'", frame()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
