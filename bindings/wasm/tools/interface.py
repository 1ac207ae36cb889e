#!/usr/bin/env python3
"""Writes ../interface.mjs and ../names.d.ts from include/api.json; or --check

They are the header's structs and numbers for JavaScript, and the names of its enums as types of TypeScript.
JavaScript places the fields itself, since pointers have four bytes in WebAssembly.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
API = json.loads((HERE.parents[2] / "include/api.json").read_text())
SCALARS = {"int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64", "double": "f64"}
ALIASES = {alias["name"]: alias["type"] for alias in API["types"]}
STRUCTS = {struct["name"] for struct in API["structs"]}


def written(name: str) -> str:
    """How a field's type is written there: a scalar, a struct, an array of them, or "ptr"."""
    if array := re.fullmatch(r"(\w+)(\[\d+\])", name):
        return written(array[1]) + array[2]
    name = ALIASES.get(name, name)
    return name.removeprefix("selene_") if name in STRUCTS else SCALARS.get(name, "ptr")


def text() -> str:
    """The whole module."""
    structs = {
        struct["name"].removeprefix("selene_"): {field["name"]: written(field["type"]) for field in struct["fields"]}
        for struct in API["structs"]
    }
    listed = [*API["constants"], *(constant for enum in API["enums"] for constant in enum["constants"])]
    constants = {
        constant["name"].removeprefix("SELENE_"): constant["value"]
        for constant in listed
        if isinstance(constant["value"], int) and abs(constant["value"]) < 2**53
    }
    return (
        "// The structs and the numbers of selene.h; written by tools/interface.py.\n"
        f"export const structs = {json.dumps(structs, indent=1)};\n"
        f"export const constants = {json.dumps(constants, indent=1)};\n"
    )


#: The types of TypeScript, by what the names of their constants begin with.
UNIONS = {
    "Status": "ERROR",
    "Kind": "KIND",
    "Schedule": "SCHEDULE",
    "PriorityName": "PRIORITY",
    "Existing": "EXISTING",
    "Recurrence": "RECURRENCE",
    "Backoff": "BACKOFF",
    "Disposition": "DISPOSITION",
    "State": "STATE",
    "Outcome": "OUTCOME",
    "StopReason": "STOP",
    "Reason": "REASON",
    "EventType": "EVENT",
    "Constraint": "CONSTRAINT",
    "Profile": "PROFILE",
    "Signal": "SIGNAL",
    "Factor": "FACTOR",
}


def types() -> str:
    """The declarations of TypeScript: statuses as the header writes them, other names in small letters."""
    lines = ["// The names of selene.h as types; written by tools/interface.py."]
    for union, prefix in UNIONS.items():
        start = f"SELENE_{prefix}_"
        names = [
            constant["name"].removeprefix(start)
            for enum in API["enums"]
            for constant in enum["constants"]
            if constant["name"].startswith(start) and constant["name"] != "SELENE_STOP_NONE"
        ]
        assert names, f"no constant begins with {start}"
        words = names if prefix == "ERROR" else [name.lower() for name in names]
        lines += [f"export type {union} =", *(f"  | '{word}'" for word in dict.fromkeys(words))]
        lines[-1] += ";"
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes the files, or says which are stale."""
    stale = 0
    for name, content in {"interface.mjs": text(), "names.d.ts": types()}.items():
        path = HERE.parent / name
        if "--check" not in sys.argv:
            path.write_text(content)
        elif not path.exists() or path.read_text() != content:
            print(f"{path.name} is stale: run make interface", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
