#!/usr/bin/env python3
"""Writes ../src/raw.rs and ../src/numbers.rs from include/api.json; or --check

raw.rs is the header for Rust: constants, structs, callbacks, functions, and the size and offset of each field, which a
test compares with what the compiler makes of it. numbers.rs has the families of numbers as enums, each with its words.
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
HEAD = "// Written by tools/rust.py from include/api.json.\n"
SCALARS = {
    "int32_t": "i32",
    "uint32_t": "u32",
    "int64_t": "i64",
    "uint64_t": "u64",
    "double": "f64",
    "char": "c_char",
    "void": "c_void",
}
CALLBACKS = {callback["name"] for callback in API["callbacks"]}
#: Families of numbers of which a value is one: the enum's name, and what it is.
FAMILIES = {
    "ERROR": ("Status", "Why a call was refused, or failed."),
    "KIND": ("Kind", "How long work takes."),
    "SCHEDULE": ("Schedule", "When a task is due."),
    "PRIORITY": ("Priority", "How important a task is."),
    "EXISTING": ("Existing", "What becomes of a task that is registered under the same id."),
    "RECURRENCE": ("Recurrence", "From when a period counts."),
    "BACKOFF": ("Backoff", "How the delay grows from failure to failure."),
    "DISPOSITION": ("Disposition", "What a registration did."),
    "STATE": ("State", "What a task is at."),
    "OUTCOME": ("Outcome", "How a run ended."),
    "STOP": ("Stop", "Why a run is asked to stop."),
    "REASON": ("Reason", "Why a task does not run now."),
    "EVENT": ("EventType", "What an event tells."),
    "PROFILE": ("Profile", "What the governor asks for before it grants a window."),
    "SIGNAL": ("Signal", "What the governor looks at."),
    "FACTOR": ("Factor", "What a profile can ask for."),
}
#: Families of bits, of which a value has any number.
SETS = {"KIND": ("Kinds", "Any number of kinds."), "CONSTRAINT": ("Constraints", "Conditions that a task may ask for.")}
#: Numbers of these families that stand for "none", which is an Option in Rust.
NONE = {"SELENE_OUTCOME_NONE", "SELENE_STOP_NONE"}


def spelt(written: str) -> str:
    """A type of C in Rust."""
    written = written.replace("struct ", "").strip()
    if array := re.fullmatch(r"(.+)\[(\d+)\]", written):
        return f"[{spelt(array[1])}; {array[2]}]"
    if written.endswith("*"):
        return pointer(written.removesuffix("*"))
    if written in CALLBACKS:
        return f"Option<{written}>"
    return SCALARS.get(written, written)


def pointer(target: str) -> str:
    """A pointer to a type of C; const where what it points to is."""
    target = target.strip()
    if target.endswith("*const"):
        return f"*const {pointer(target.removesuffix('*const'))}"
    if target.endswith("*"):
        return f"*mut {pointer(target.removesuffix('*'))}"
    if target.startswith("const "):
        return f"*const {spelt(target.removeprefix('const '))}"
    return f"*mut {spelt(target)}"


def words(item: dict[str, Any], indent: str = "") -> Iterator[str]:
    """The summary, or the name, as a comment for documentation; brackets would be links."""
    summary = item.get("summary") or f"{item['name']} of the header."
    yield f"{indent}/// {summary}".replace("[", "\\[").replace("]", "\\]")


def named(parameter: str) -> str:
    """A name that Rust allows."""
    return {"type": "type_", "fn": "fn_"}.get(parameter, parameter)


def raw() -> Iterator[str]:
    """The lines of raw.rs."""
    yield HEAD + "use core::ffi::c_void;\nuse std::os::raw::c_char;\n"
    for constant in API["constants"]:
        kind, value = constant["type"], constant["value"]
        if kind == "const char *":
            yield f"pub const {constant['name']}: &str = {json.dumps(value)};"
        else:
            yield f"pub const {constant['name']}: {SCALARS[kind]} = {literal(value)};"
    for enum in API["enums"]:
        for constant in enum["constants"]:
            yield f"pub const {constant['name']}: i32 = {constant['value']};"
    yield ""
    for alias in API["types"]:
        yield f"pub type {alias['name']} = {spelt(alias['type'])};"
    for callback in API["callbacks"]:
        result = "" if callback["returns"] == "void" else f" -> {spelt(callback['returns'])}"
        parameters = ", ".join(map(spelt, callback["parameters"]))
        yield f'pub type {callback["name"]} = unsafe extern "C" fn({parameters}){result};'
    for struct in API["structs"]:
        yield f"\n#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {struct['name']} {{"
        for field in struct["fields"]:
            yield f"    pub {named(field['name'])}: {spelt(field['type'])},"
        yield "}"
    yield '\nextern "C" {'
    for function in API["functions"]:
        parameters = ", ".join(f"{named(one['name'])}: {spelt(one['type'])}" for one in function["parameters"])
        result = "" if function["returns"] == "void" else f" -> {spelt(function['returns'])}"
        yield f"    pub fn {function['name']}({parameters}){result};"
    yield "}"
    yield from layout()


def layout() -> Iterator[str]:
    """A test that compares sizes and offsets."""
    yield "\n#[cfg(test)]\nmod layout {\n    use super::*;\n    use std::mem::{align_of, size_of, MaybeUninit};\n"
    yield "    macro_rules! offset {\n        ($type:ty, $field:ident) => {{"
    yield "            let one = MaybeUninit::<$type>::uninit();"
    yield "            let base = one.as_ptr();"
    yield "            // Only the address of the field is taken."
    yield "            unsafe { std::ptr::addr_of!((*base).$field) as usize - base as usize }"
    yield "        }};\n    }\n"
    yield "    #[test]\n    fn structs_are_laid_out_as_in_c() {"
    yield "        if size_of::<usize>() != 8 {\n            return; // api.json has the offsets of 64 bits\n        }"
    for struct in API["structs"]:
        name = struct["name"]
        yield f"        assert_eq!((size_of::<{name}>(), align_of::<{name}>()), ({struct['size']}, {struct['align']}));"
        for field in struct["fields"]:
            yield f"        assert_eq!(offset!({name}, {named(field['name'])}), {field['offset']});"
    yield "    }\n}"


def literal(value: int) -> str:
    """A number; the least of 64 bits has no literal."""
    return "i64::MIN" if value == -(1 << 63) else str(value)


def camel(name: str) -> str:
    """NEW_DATA as NewData."""
    return "".join(part.capitalize() for part in name.lower().split("_"))


def numbers() -> Iterator[str]:
    """The lines of numbers.rs."""
    yield HEAD + "use crate::raw;\nuse std::fmt;"
    constants = [one for enum in API["enums"] for one in enum["constants"]]
    for prefix, (name, what) in FAMILIES.items():
        begin = f"SELENE_{prefix}_"
        family = [one for one in constants if one["name"].startswith(begin) and one["name"] not in NONE]
        if name == "Status":
            family = [one for one in family if one["name"] != "SELENE_OK"]
        variants = [(camel(one["name"].removeprefix(begin)), one) for one in family]
        yield f"\n/// {what}\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\npub enum {name} {{"
        for variant, one in variants:
            yield from words(one, "    ")
            yield f"    {variant},"
        yield "    /// A number of a library that is newer than this crate.\n    Other(i32),\n}"
        yield f"\nimpl {name} {{\n    /// The number that the header has for it.\n    pub fn number(self) -> i32 {{"
        yield "        match self {"
        for variant, one in variants:
            yield f"            {name}::{variant} => raw::{one['name']},"
        yield f"            {name}::Other(number) => number,\n        }}\n    }}"
        yield "\n    /// What a number of the header stands for.\n    pub fn of(number: i32) -> Self {"
        yield "        match number {"
        for variant, one in variants:
            yield f"            raw::{one['name']} => {name}::{variant},"
        yield f"            other => {name}::Other(other),\n        }}\n    }}"
        yield '\n    /// Its name in the header, or "unknown".\n    pub fn name(self) -> &\'static str {'
        yield "        match self {"
        for variant, one in variants:
            word = one["name"].removeprefix(begin)
            yield f'            {name}::{variant} => "{word if name == "Status" else word.lower()}",'
        yield f'            {name}::Other(_) => "unknown",\n        }}\n    }}\n}}'
        yield f"\nimpl fmt::Display for {name} {{"
        yield "    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {"
        yield "        to.write_str(self.name())\n    }\n}"
    for prefix, (name, what) in SETS.items():
        begin = f"SELENE_{prefix}_"
        family = [one for one in constants if one["name"].startswith(begin)]
        yield f"\n/// {what}\n#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]"
        yield f"pub struct {name}(pub(crate) u32);"
        yield f"\nimpl {name} {{\n    /// None.\n    pub const NONE: {name} = {name}(0);"
        for one in family:
            yield from words(one, "    ")
            yield f"    pub const {one['name'].removeprefix(begin)}: {name} = {name}(raw::{one['name']} as u32);"
        everything = " | ".join(f"raw::{one['name']} as u32" for one in family)
        yield f"    /// All that this crate knows.\n    pub const ALL: {name} = {name}({everything});"
        yield "\n    /// Those of the header's bits.\n    pub fn of(bits: u32) -> Self {"
        yield f"        {name}(bits)\n    }}"
        yield "\n    /// The header's bits.\n    pub fn bits(self) -> u32 {\n        self.0\n    }"
        yield "\n    /// Whether all of these are among them.\n    pub fn contains(self, all: Self) -> bool {"
        yield "        self.0 & all.0 == all.0\n    }\n}"
        yield f"\nimpl std::ops::BitOr for {name} {{\n    type Output = Self;"
        yield "    fn bitor(self, other: Self) -> Self {"
        yield f"        {name}(self.0 | other.0)\n    }}\n}}"


def main() -> int:
    """Writes the files, or says which are stale."""
    stale = False
    for name, made in (("raw.rs", raw()), ("numbers.rs", numbers())):
        path, text = HERE.parent / "src" / name, "\n".join(made) + "\n"
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path.name} is stale: run make interface", file=sys.stderr)
            stale = True
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
