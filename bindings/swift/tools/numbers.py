#!/usr/bin/env python3
"""Writes ../Sources/Selene/Numbers.swift from include/api.json; or --check

It has the families of numbers of the header as types of Swift, each with its words.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
API = json.loads((HERE.parents[2] / "include/api.json").read_text())
HEAD = "// The numbers of selene.h as types; written by tools/numbers.py from include/api.json: make interface."
#: Families of numbers of which a value is one: the type's name, and what it is.
FAMILIES = {
    "ERROR": ("Status", "Why a call was refused, or failed."),
    "KIND": ("Kind", "How long work takes."),
    "SCHEDULE": ("Schedule", "When a task is due."),
    "PRIORITY": ("Priority", "How important a task is."),
    "EXISTING": ("Existing", "What becomes of a live task when another is registered under its id."),
    "RECURRENCE": ("Recurrence", "From when a period counts."),
    "BACKOFF": ("Backoff", "How the delay grows from failure to failure."),
    "DISPOSITION": ("Disposition", "What a registration did."),
    "STATE": ("State", "What a task is at."),
    "OUTCOME": ("Outcome", "How a run ended."),
    "STOP": ("Stop", "Why a run is asked to stop."),
    "REASON": ("Reason", "Why a task does not run now."),
    "EVENT": ("EventType", "What an event tells."),
    "CONDITION": ("ConditionState", "What a condition of the host is."),
    "PROFILE": ("Profile", "What the governor asks for before it grants a window."),
    "SIGNAL": ("Signal", "What the governor looks at."),
    "FACTOR": ("Factor", "What a profile can ask for."),
}
#: Families of bits, of which a value has any number.
SETS = {
    "KIND": ("Kinds", "Any number of kinds."),
    "CONSTRAINT": ("Constraints", "Any number of conditions of the system that a task may ask for."),
}


def camel(name: str) -> str:
    """NEW_DATA as newData."""
    first, *others = name.lower().split("_")
    word = first + "".join(part.capitalize() for part in others)
    return f"`{word}`" if word in ("default", "internal") else word


def family(prefix: str) -> list[tuple[str, dict[str, Any]]]:
    """The constants that begin so, without it."""
    begin = f"SELENE_{prefix}_"
    every = [one for enum in API["enums"] for one in enum["constants"]]
    return [(one["name"].removeprefix(begin), one) for one in every if one["name"].startswith(begin)]


def members(prefix: str, name: str) -> Iterator[str]:
    """The constants."""
    for word, one in family(prefix):
        yield f"  /// {one.get('summary') or one['name'] + ' of the header.'}"
        yield f"  public static let {camel(word)} = {name}(rawValue: {one['value']})"


def numbers() -> Iterator[str]:
    """The lines of Numbers.swift."""
    yield HEAD + "\n"
    never = next(one["value"] for one in API["constants"] if one["name"] == "SELENE_NEVER")
    yield f"/// A macro that the compiler does not see.\nlet SELENE_NEVER: Int64 = {never}\n"
    for prefix, (name, what) in FAMILIES.items():
        yield f"/// {what} One that has no name here is of a newer library."
        yield f"public struct {name}: RawRepresentable, Hashable, Sendable, CustomStringConvertible {{"
        yield "  /// Its number in the header.\n  public let rawValue: Int32\n"
        yield "  /// The one with this number.\n  public init(rawValue: Int32) { self.rawValue = rawValue }\n"
        yield from members(prefix, name)
        yield "\n  /// Its name in the header, or its number."
        yield "  public var description: String {\n    switch rawValue {"
        for word, one in family(prefix):
            yield f'    case {one["value"]}: "{word if name == "Status" else word.lower()}"'
        yield '    default: "\\(rawValue)"\n    }\n  }\n}\n'
    for prefix, (name, what) in SETS.items():
        yield f"/// {what}\npublic struct {name}: OptionSet, Hashable, Sendable {{"
        yield "  /// Its bits in the header.\n  public let rawValue: UInt32\n"
        yield "  /// The set of these bits.\n  public init(rawValue: UInt32) { self.rawValue = rawValue }\n"
        yield from members(prefix, name)
        everything = ", ".join("." + camel(word) for word, _ in family(prefix))
        line = f"  public static let all: {name} = [{everything}]"
        yield "  /// All that this package knows."
        yield line if len(line) <= 120 else f"  public static let all: {name} = [\n    {everything},\n  ]"
        yield "}\n"


def main() -> int:
    """Writes the file, or says that it is stale."""
    path = HERE.parent / "Sources/Selene/Numbers.swift"
    made = "\n".join(numbers())[:-1] + "\n"
    made = made.rstrip("\n") + "\n"
    if "--check" in sys.argv[1:]:
        if not path.exists() or path.read_text() != made:
            print(f"{path} is stale: make interface")
            return 1
        return 0
    path.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
