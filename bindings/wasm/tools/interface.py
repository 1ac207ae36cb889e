#!/usr/bin/env python3
"""Writes ../interface.mjs from include/api.json: the header's structs and numbers for JavaScript; or --check

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


def main() -> int:
    """Writes the file, or says whether it is stale."""
    path = HERE.parent / "interface.mjs"
    if "--check" not in sys.argv:
        path.write_text(text())
    elif not path.exists() or path.read_text() != text():
        print(f"{path.name} is stale: run make interface", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
