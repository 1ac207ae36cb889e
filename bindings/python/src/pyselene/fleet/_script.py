"""The script that installs a fleet: the files of Sources/Fleet, in the order that install.sql says."""

from __future__ import annotations

import re
from pathlib import Path

_PACKED = Path(__file__).with_name("sql")
_SOURCES = (
    Path(__file__).resolve().parents[5] / "Sources/Fleet" if len(Path(__file__).resolve().parents) > 5 else _PACKED
)


def identifier(name: str) -> str:
    """A name as SQL has it.

    >>> identifier("a b")
    '"a b"'
    """
    return '"' + name.replace('"', '""') + '"'


def source(name: str) -> str:
    """One of the files."""
    folder = _PACKED if _PACKED.exists() else _SOURCES
    return (folder / name).read_text(encoding="utf-8")


def script(schema: str) -> str:
    """One text that any client of PostgreSQL can run; a transaction of its own."""
    text = source("install.sql")
    text = re.sub(r"^\\set .*\n", "", text, flags=re.MULTILINE)
    # A function, so that no backslash of a file is an escape.
    text = re.sub(r"^\\ir (\S+)$", lambda found: source(found[1]), text, flags=re.MULTILINE)
    literal = "'" + schema.replace("'", "''") + "'"
    return text.replace(':"schema"', identifier(schema)).replace(":'schema'", literal)
