"""Finds where in a TOML text a value was written, which ``tomllib`` does not tell.

Nothing here reads TOML itself: the text is cut at its line ends, and ``tomllib`` says after which line a key is
there for the first time.  So quoted keys, dotted keys, inline tables and arrays of tables are all found.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""Keys of tables and indices of arrays, from the root."""


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column, counted in characters from 1."""

    line: int
    column: int


def error_place(error: tomllib.TOMLDecodeError, text: str) -> tuple[Place, str]:
    """Takes a parse error of ``tomllib`` apart into place and message."""
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", str(error))
    message = str(error)[: found.start()] if found else str(error)
    if found and found[1]:
        return Place(int(found[1]), int(found[2])), message
    lines = text.rstrip("\n").split("\n")
    return Place(len(lines), len(lines[-1]) + 1), message


def deepest_place(text: str) -> Place:
    """Where most brackets are open, texts and comments counted, too: near enough for what ``tomllib`` cannot read."""
    depth = deepest = at = 0
    for found in re.finditer(r"[\[{\]}]", text):
        depth += 1 if found[0] in "[{" else -1
        if depth > deepest:
            deepest, at = depth, found.start()
    return Place(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def find(text: str, path: Path, *, value: bool = True) -> Place:
    """Finds where a key or its value stands in a text that ``tomllib`` accepts.

    Args:
        text: the whole text.
        path: where the value is in what ``tomllib`` made of it; what is missing there is found at its table.
        value: the place of the value, else that of the key.
    """
    lines = text.split("\n")
    while path and not _has(tomllib.loads(text), path):
        path, value = path[:-1], False
    if not path:
        return Place(1, 1)
    last = _first_line_with(lines, path)
    first = last
    while first > 0 and not _parses(lines[:first]):
        first -= 1
    statement = "\n".join(lines[first : last + 1])
    return _within(statement, path, first + 1, value)


def _has(table: object, path: Path) -> bool:
    for key in path:
        if isinstance(table, dict) and key in table:
            table = table[key]
            continue
        if not isinstance(table, list) or not isinstance(key, int) or key >= len(table):
            return False
        table = table[key]
    return True


def _parses(lines: list[str]) -> bool:
    try:
        tomllib.loads("\n".join(lines) + "\n")
    except tomllib.TOMLDecodeError:
        return False
    return True


def _complete_end(lines: list[str], line: int) -> int:
    """The first line from here on after which the text is complete TOML."""
    while not _parses(lines[: line + 1]):
        line += 1
    return line


def _first_line_with(lines: list[str], path: Path) -> int:
    """Bisects: once a key is there, no further line takes it away."""
    low, high = 0, len(lines) - 1
    while low < high:
        middle = (low + high) // 2
        end = _complete_end(lines, middle)
        if _has(tomllib.loads("\n".join(lines[: end + 1]) + "\n"), path):
            high = middle
        else:
            low = middle + 1
    return _complete_end(lines, low)


def _within(statement: str, path: Path, line: int, value: bool) -> Place:
    """Walks along the path through the words of one statement."""
    at = start = len(statement) - len(statement.lstrip())
    in_value = statement.startswith("[", start)
    for step in path:
        if isinstance(step, int):
            start = at = _element(statement, at, step)
            continue
        word = "|".join(re.escape(w) for w in (step, json.dumps(step, ensure_ascii=False), f"'{step}'"))
        pattern = re.compile(rf"(?<![\w\-\"'])({word})\s*([=.\]])\s*")
        # What stands in the head of the table is skipped: a statement begins with the first key of its own.
        found = pattern.search(statement, at) if in_value else pattern.match(statement, at)
        if found is None:
            continue
        start = found.start(1)
        at = start if found[2] == "]" else found.end()
        in_value = in_value or found[2] == "="
    return _place(statement, at if value else start, line)


def _place(statement: str, at: int, line: int) -> Place:
    return Place(line + statement.count("\n", 0, at), at - statement.rfind("\n", 0, at))


def _element(statement: str, at: int, index: int) -> int:
    """Where an element of the array that begins here stands; here, if none begins here."""
    if not statement.startswith("[", at) or statement.startswith("[[", at):
        return at
    depth, position = 0, at
    token = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|#[^\n]*|[\[{]|[\]}]|,|\s+|[^\s,\[\]{}#"\']+')
    while position < len(statement):
        found = token.match(statement, position)
        if found is None:
            return at
        text = found[0]
        if depth == 1 and index == 0 and not text[0].isspace() and text[0] not in "#,":
            return position
        if text in "[{":
            depth += 1
        elif text in "]}":
            depth -= 1
        elif text == "," and depth == 1:
            index -= 1
        position = found.end()
    return at
