#!/usr/bin/env python3
"""Writes ../calls.inc from include/api.json: a function of JavaScript for each function of the header; or --check

Handles and 64-bit numbers are BigInt, pointers numbers, as for WebAssembly.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
API = json.loads((HERE.parents[2] / "include/api.json").read_text())
KINDS = {"int32_t": "I32", "uint32_t": "U32", "int64_t": "I64", "uint64_t": "U64"}
ALIASES = {alias["name"]: alias["type"] for alias in API["types"]}
CALLBACKS = {callback["name"] for callback in API["callbacks"]}
#: Written by hand in addon.c, since the addon remembers which schedulers are open.
OWN = {"selene_scheduler_open", "selene_scheduler_close"}


def argument(type_name: str, index: int) -> str:
    """How an argument is taken from JavaScript."""
    if type_name in CALLBACKS:
        return f"({type_name})ADDRESS({index})"
    kind = KINDS.get(ALIASES.get(type_name, type_name))
    return f"{kind}({index})" if kind else f"POINTER({index})"


def call(function: dict[str, Any]) -> str:
    """One line."""
    result = function["returns"]
    kind = KINDS.get(ALIASES.get(result, result), "VOID" if result == "void" else "POINTER")
    given = [argument(parameter["type"], index) for index, parameter in enumerate(function["parameters"])]
    return f"CALL({function['name']}, {len(given)}, GIVE_{kind}, ({', '.join(given)}))"


def text() -> str:
    """The whole file."""
    called = [call(function) for function in API["functions"] if function["name"] not in OWN]
    return "\n".join(["// The functions of selene.h for JavaScript; written by tools/calls.py.", *called, ""])


def main() -> int:
    """Writes the file, or says whether it is stale."""
    path = HERE.parent / "calls.inc"
    if "--check" not in sys.argv:
        path.write_text(text())
    elif not path.exists() or path.read_text() != text():
        print(f"{path.name} is stale: run make interface", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
