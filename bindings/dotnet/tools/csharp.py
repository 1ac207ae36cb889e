#!/usr/bin/env python3
"""Writes ../src/Raw.cs and ../src/Numbers.cs from include/api.json; or --check

Raw.cs has the functions, structs and constants of the header as the runtime calls and lays them out; Numbers.cs has the
families of numbers that hosts see, as enums.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
API = json.loads((HERE.parents[2] / "include/api.json").read_text())
HEAD = "// Written by tools/csharp.py from include/api.json: make interface."
ALIASES = {alias["name"]: alias["type"] for alias in API["types"]}
CALLBACKS = {callback["name"] for callback in API["callbacks"]}
STRUCTS = {struct["name"] for struct in API["structs"]}
NUMBERS = {
    "int32_t": "int",
    "uint32_t": "uint",
    "int64_t": "long",
    "uint64_t": "ulong",
    "double": "double",
    "void": "void",
    "char": "byte",
}
RESERVED = {"base", "event", "lock", "out", "params", "ref", "in", "is", "as", "object", "string"}
#: Families of numbers: the enum's name, and what it is. Those of bits are flags.
FAMILIES = {
    "ERROR": ("Status", "Why a call was refused, or failed."),
    "KIND": ("Kind", "How long work takes. A window takes any number of kinds."),
    "SCHEDULE": ("Schedule", "When a task is due."),
    "PRIORITY": ("Priority", "How important a task is."),
    "EXISTING": ("Existing", "What becomes of a live task when another is registered under its id."),
    "RECURRENCE": ("Recurrence", "From when a period counts."),
    "BACKOFF": ("Backoff", "How the delay grows from failure to failure."),
    "CONSTRAINT": ("Constraints", "What a task may ask of the system."),
    "DISPOSITION": ("Disposition", "What a registration did."),
    "STATE": ("State", "What a task is at."),
    "OUTCOME": ("Outcome", "How a run ended."),
    "STOP": ("StopReason", "Why a run is asked to stop."),
    "REASON": ("Reason", "Why a task does not run now."),
    "EVENT": ("EventType", "What an event tells."),
    "CONDITION": ("ConditionState", "What a condition of the host is."),
    "PROFILE": ("Profile", "What the governor asks for before it grants a window."),
    "SIGNAL": ("Signal", "What the governor looks at."),
    "FACTOR": ("Factor", "What a profile can ask for."),
}
SETS = {"KIND", "CONSTRAINT"}


def capital(name: str) -> str:
    """TASK_INFO, or task_info, as TaskInfo."""
    return "".join(part.capitalize() for part in name.split("_"))


def escaped(words: str) -> str:
    """Words for documentation comments."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def csharp(type_name: str) -> str:
    """A type of C as the runtime has it; a struct is that of Raw."""
    plain = type_name.replace("const", " ").replace(" ", "")
    name, stars = plain.rstrip("*"), len(plain) - len(plain.rstrip("*"))
    if name in CALLBACKS:
        return "IntPtr"
    name = ALIASES.get(name, name)
    made = capital(name.removeprefix("selene_")) if name in STRUCTS else NUMBERS[name]
    return made + "*" * stars


def named(name: str) -> str:
    """A name that is none of the language's words."""
    return "@" + name if name in RESERVED else name


def family(prefix: str) -> list[tuple[str, dict[str, Any]]]:
    """The constants that begin so, without it."""
    begin = f"SELENE_{prefix}_"
    every = [one for enum in API["enums"] for one in enum["constants"]]
    return [(one["name"].removeprefix(begin), one) for one in every if one["name"].startswith(begin)]


def numbers() -> Iterator[str]:
    """The lines of Numbers.cs."""
    yield HEAD
    yield "using System;\n\nnamespace Selene\n{"
    for index, (prefix, (name, what)) in enumerate(FAMILIES.items()):
        if index:
            yield ""
        yield f"    /// <summary>{what} A number that has no name here is of a newer library.</summary>"
        if prefix in SETS:
            yield "    [Flags]"
        yield f"    public enum {name}\n    {{"
        if prefix in SETS:
            yield "        /// <summary>None.</summary>\n        None = 0,"
        words = family(prefix)
        for word, one in words:
            yield f"        /// <summary>{escaped(one.get('summary') or one['name'] + ' of the header.')}</summary>"
            yield f"        {capital(word)} = {one['value']},"
        if prefix in SETS:
            everything = sum(one["value"] for _, one in words)
            yield f"        /// <summary>All that this package knows.</summary>\n        All = {everything},"
        yield "    }"
    yield "}\n"


def constants() -> Iterator[str]:
    """The header's other numbers."""
    enums = tuple(f"SELENE_{prefix}_" for prefix in FAMILIES)
    every = [one for enum in API["enums"] for one in enum["constants"]] + API["constants"]
    for one in every:
        if one["name"].startswith(enums) or not isinstance(one["value"], int):
            continue
        type_name = NUMBERS[one.get("type", "int32_t")]
        yield f"        internal const {type_name} {one['name'].removeprefix('SELENE_')} = {one['value']};"


def structs() -> Iterator[str]:
    """The header's structs. Of an array there is its first element."""
    for struct in API["structs"]:
        yield f"\n        [StructLayout(LayoutKind.Explicit, Size = {struct['size']})]"
        yield f"        internal struct {capital(struct['name'].removeprefix('selene_'))}\n        {{"
        for field in struct["fields"]:
            type_name = csharp(re.sub(r"\[\d+\]$", "", field["type"]))
            yield f"            [FieldOffset({field['offset']})] internal {type_name} {named(field['name'])};"
        yield "        }"


def functions() -> Iterator[str]:
    """The header's functions."""
    for function in API["functions"]:
        given = [f"{csharp(one['type'])} {named(one['name'])}" for one in function["parameters"]]
        line = f"        internal static extern {csharp(function['returns'])} {function['name']}("
        whole = f"{line}{', '.join(given)});"
        yield "\n        [DllImport(Library, ExactSpelling = true)]"
        yield whole if len(whole) <= 120 else f"{line}\n            {', '.join(given)});"


def raw() -> Iterator[str]:
    """The lines of Raw.cs."""
    yield HEAD
    # What is laid out is written by the library.
    yield "#pragma warning disable 169, 649\nusing System;\nusing System.Runtime.InteropServices;"
    yield "using System.Security;\n"
    yield "namespace Selene\n{\n    [SuppressUnmanagedCodeSecurity]\n    internal static unsafe class Raw\n    {"
    yield '        private const string Library = "libselene.so.1";\n'
    yield from constants()
    yield from structs()
    yield from functions()
    yield "    }\n}\n"


def main() -> int:
    """Writes the files, or says which are stale."""
    made = {
        HERE.parent / "src/Raw.cs": "\n".join(raw()),
        HERE.parent / "src/Numbers.cs": "\n".join(numbers()),
    }
    stale = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if "--check" in sys.argv[1:]:
            print(f"{path} is stale: make interface")
        else:
            path.write_text(made[path])
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
