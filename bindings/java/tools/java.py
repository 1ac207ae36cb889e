#!/usr/bin/env python3
"""Writes what the package has of the header, from include/api.json; or --check

src/main/java/org/selene has Raw.java (a native method for each function), Layout.java (where fields lie, and numbers)
and an enum for each family of numbers that hosts see; native/calls.inc has the functions of the native methods.
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
JAVA = HERE.parent / "src/main/java/org/selene"
HEAD = "// Written by tools/java.py from include/api.json: make interface.\npackage org.selene;\n"
ALIASES = {alias["name"]: alias["type"] for alias in API["types"]}
CALLBACKS = {callback["name"] for callback in API["callbacks"]}
#: Functions whose status is an answer rather than an error.
ANSWERS = {"selene_scheduler_drain", "selene_run_stopping", "selene_run_sleep", "selene_run_remaining"}
#: Families of numbers of which a value is one: the enum's name, whether a newer library may answer one that is not
#: known here, and what it is.
FAMILIES = {
    "ERROR": ("Status", True, "Why a call was refused, or failed."),
    "KIND": ("Kind", False, "How long work takes."),
    "SCHEDULE": ("Schedule", False, "When a task is due."),
    "PRIORITY": ("Priority", False, "How important a task is."),
    "EXISTING": ("Existing", False, "What becomes of a live task when another is registered under its id."),
    "RECURRENCE": ("Recurrence", False, "From when a period counts."),
    "BACKOFF": ("Backoff", False, "How the delay grows from failure to failure."),
    "CONSTRAINT": ("Constraint", False, "What a task may ask of the system."),
    "DISPOSITION": ("Disposition", True, "What a registration did."),
    "STATE": ("State", True, "What a task is at."),
    "OUTCOME": ("Outcome", True, "How a run ended."),
    "STOP": ("Stop", True, "Why a run is asked to stop."),
    "REASON": ("Reason", True, "Why a task does not run now."),
    "EVENT": ("EventType", True, "What an event tells."),
    "CONDITION": ("ConditionState", True, "What a condition of the host is."),
    "PROFILE": ("Profile", False, "What the governor asks for before it grants a window."),
    "SIGNAL": ("Signal", False, "What the governor looks at."),
    "FACTOR": ("Factor", True, "What a profile can ask for."),
}
#: Families of bits: a value has any number of them.
SETS = {"KIND", "CONSTRAINT"}
UNKNOWN = -(2**31)


def kind(type_name: str) -> str:
    """What a type of C is for the Java VM: int or long."""
    return "int" if ALIASES.get(type_name, type_name) in ("int32_t", "uint32_t") else "long"


def escaped(words: str) -> str:
    """Words for documentation comments."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("*/", "*&#47;")


def constants() -> Iterator[dict[str, Any]]:
    """All constants, also those of enums."""
    for enum in API["enums"]:
        yield from enum["constants"]
    yield from API["constants"]


def family(prefix: str) -> list[tuple[str, dict[str, Any]]]:
    """The constants that begin so, without it."""
    begin = f"SELENE_{prefix}_"
    every = [one for enum in API["enums"] for one in enum["constants"]]
    return [(one["name"].removeprefix(begin), one) for one in every if one["name"].startswith(begin)]


def enum(prefix: str) -> Iterator[str]:
    """The lines of an enum."""
    name, is_open, what = FAMILIES[prefix]
    words = family(prefix)
    yield HEAD
    if prefix in SETS:
        yield "import java.util.EnumSet;\nimport java.util.Set;\n"
    yield f"/** {what} */\npublic enum {name} {{"
    for word, one in words:
        yield f"    /** {escaped(one.get('summary') or one['name'] + ' of the header.')} */"
        yield f"    {word}({one['value']}),"
    if is_open:
        yield f"    /** One that this package does not know: the library is newer. */\n    UNKNOWN({UNKNOWN}),"
    yield "    ;\n"
    yield f"    private final int number;\n\n    {name}(int number) {{\n        this.number = number;\n    }}\n"
    yield "    /** Its number in the header. */\n    public int number() {\n        return number;\n    }\n"
    if is_open:
        yield "    /** The one with this number; UNKNOWN: there is none. */"
    else:
        yield "    /** The one with this number; {@link Status#INVALID_ARGUMENT}: there is none. */"
    yield f"    public static {name} of(int number) {{\n        switch (number) {{"
    for word, one in words:
        yield f"            case {one['value']}:\n                return {word};"
    otherwise = "return UNKNOWN" if is_open else f'throw SeleneException.noSuch("{prefix.lower()}", number)'
    yield f"            default:\n                {otherwise};\n        }}\n    }}"
    if prefix in SETS:
        yield f"\n    static int bits(Iterable<{name}> of) {{\n        int bits = 0;\n        for ({name} one : of) {{"
        yield "            bits |= one.number;\n        }\n        return bits;\n    }\n"
        yield f"    static Set<{name}> set(int bits) {{\n        EnumSet<{name}> set = EnumSet.noneOf({name}.class);"
        yield f"        for ({name} one : values()) {{\n            if ((bits & one.number) != 0) {{"
        yield "                set.add(one);\n            }\n        }\n        return set;\n    }"
    yield "}\n"


def layout() -> Iterator[str]:
    """The lines of Layout.java."""
    yield HEAD
    yield "/** Where the fields of the header's structs lie, and its numbers. */"
    yield "final class Layout {\n    private Layout() {}\n"
    enums = tuple(f"SELENE_{prefix}_" for prefix in FAMILIES)
    for one in constants():
        if one["name"].startswith(enums) or not isinstance(one["value"], int):
            continue
        is_int = -(2**31) <= one["value"] < 2**32 and one.get("type") != "int64_t"
        value = f"{one['value']}" if one["value"] < 2**31 else f"0x{one['value']:x}"
        name, type_name = one["name"].removeprefix("SELENE_"), "int" if is_int else "long"
        yield f"    static final {type_name} {name} = {value}{'' if is_int else 'L'};"
    for struct in API["structs"]:
        name = "".join(part.capitalize() for part in struct["name"].split("_")[1:])
        yield f"\n    static final class {name} {{\n        private {name}() {{}}\n"
        yield f"        static final int SIZE = {struct['size']};"
        for field in struct["fields"]:
            yield f"        static final int {field['name'].upper()} = {field['offset']};"
        yield "    }"
    yield "}\n"


def result(function: dict[str, Any]) -> str:
    """What a native method returns: nothing where a status becomes an exception."""
    returns = function["returns"]
    if returns == "void" or (returns == "selene_status" and function["name"] not in ANSWERS):
        return "void"
    return kind(returns)


def raw() -> Iterator[str]:
    """The lines of Raw.java."""
    yield HEAD
    yield "/**"
    yield " * The functions of selene.h, with addresses as numbers. What is refused is a"
    yield " * {@link SeleneException}, but where a status is the answer. What they do not have is in {@link Native}."
    yield " */\nfinal class Raw {"
    yield "    private Raw() {}\n\n"
    for function in API["functions"]:
        given = [f"{kind(one['type'])} {camel(one['name'])}" for one in function["parameters"]]
        yield f"\n    /** {escaped(function.get('summary', ''))} */"
        line = f"    static native {result(function)} {function['name']}("
        whole = f"{line}{', '.join(given)});"
        yield whole if len(whole) <= 120 else f"{line}\n            {', '.join(given)});"
    yield "}\n"


def camel(name: str) -> str:
    """out_count as outCount."""
    return re.sub("_([a-z])", lambda found: found.group(1).upper(), name)


def argument(parameter: dict[str, Any]) -> str:
    """How a parameter of C is made of one of the Java VM."""
    name, type_name = parameter["name"], parameter["type"]
    if type_name in CALLBACKS:
        return f"({type_name})(intptr_t){name}"
    if type_name.endswith("*"):
        return f"(void *)(intptr_t){name}"
    return f"({type_name}){name}"


def calls() -> Iterator[str]:
    """The lines of calls.inc."""
    yield "// The functions of selene.h for the Java VM; written by tools/java.py."
    letters = {"int": "I", "long": "J", "void": "V"}
    table = []
    for function in API["functions"]:
        name, returns = function["name"], result(function)
        given = "".join(f", j{kind(one['type'])} {one['name']}" for one in function["parameters"])
        call = f"{name}({', '.join(map(argument, function['parameters']))})"
        if returns == "void":
            call = f"check(vm, {call})" if function["returns"] == "selene_status" else call
        elif returns == "int":
            call = f"return (jint){call}"
        else:
            call = f"return (jlong)(intptr_t){call}"
        type_name = "void" if returns == "void" else f"j{returns}"
        yield f"static {type_name} JNICALL java_{name}(JNIEnv *vm, jclass self{given}) {{"
        yield f"    (void)vm, (void)self;\n    {call};\n}}"
        signature = "".join(letters[kind(one["type"])] for one in function["parameters"])
        address = f"(void *)(intptr_t)java_{name}"
        table.append(f'    {{(char *)"{name}", (char *)"({signature}){letters[returns]}", {address}}},')
    yield "static const JNINativeMethod calls[] = {"
    yield from table
    yield "};\n"


def main() -> int:
    """Writes the files, or says which are stale."""
    made = {
        HERE.parent / "native/calls.inc": "\n".join(calls()),
        JAVA / "Raw.java": "\n".join(raw()),
        JAVA / "Layout.java": "\n".join(layout()),
    }
    made |= {JAVA / f"{name}.java": "\n".join(enum(prefix)) for prefix, (name, _, _) in FAMILIES.items()}
    stale = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if "--check" in sys.argv[1:]:
            print(f"{path} is stale: make interface")
        else:
            path.write_text(made[path])
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
