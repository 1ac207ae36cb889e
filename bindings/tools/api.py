#!/usr/bin/env python3
"""Writes include/api.json, the interface of include/selene.h for programs; --help lists what else it prints.

Bindings are generated from it: every constant, struct with its offsets, callback and function, with the words of its
comment. The header is read by clang, as its syntax tree with comments (CLANG, default clang), never by patterns. Types
are spelt as in C. Offsets are those of machines with 64-bit pointers; --proof prints a C file that compiles where they,
and all else that api.json says, are what the compiler finds in the header.

--release prints what a program that was compiled with this header relies on, for Tests/C/releases. The proof of such a
file compiles with the header of every later release: nothing is gone, no number, type or place is another, and structs
have only grown.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include/selene.h"
TARGET = ROOT / "include/api.json"

Node = dict[str, Any]

SIZES = {"int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8, "double": 8, "char": 1}
POINTER = 8
#: What a comment says behind its sentences, each at the end of the one before it.
LABELS = ("Ownership:", "Thread:", "Since:")
#: What the words of anything but a function are.
SAID = ("summary", "details", "since")
#: The facts of a number: what it counts, what is allowed, in which tasks, what 0 stands for, what SELENE_NONE does.
TAGS = ("unit", "range", "when", "zero", "none")
#: The structs that a host fills, each number of which says so.
FILLED = (
    "selene_options", "selene_task", "selene_window", "selene_driver", "selene_server_options", "selene_peer_rule",
    "selene_connect_options", "selene_profile", "selene_rule", "selene_quota", "selene_node_options",
)  # fmt: skip
#: Factors of the units in which numbers are written.
FACTORS = {
    "": 1, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "years": 3653 * 86400 * 10**8,
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}  # fmt: skip


def clang(*options: str, text: str) -> str:
    """What clang prints for a C file with this text."""
    commands = f"-fcomment-block-commands={','.join(TAGS)}"
    command = [os.environ.get("CLANG", "clang"), "-std=c11", f"-I{HEADER.parent}", commands, *options, "-xc", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def tree(text: str) -> list[Node]:
    """The declarations of a C file; those of the headers of the system have no comments and no names of ours."""
    inner: list[Node] = json.loads(clang("-fsyntax-only", "-Xclang", "-ast-dump=json", text=text))["inner"]
    return inner


def children(node: Node, *kinds: str) -> list[Node]:
    """The children of these kinds."""
    return [child for child in node.get("inner", ()) if child.get("kind") in kinds]


# ---- values ----


def value(node: Node) -> int | str:
    """What a constant expression is worth; ValueError if it is more than literals, +, - and parentheses."""
    match node["kind"]:
        case "StringLiteral":
            return str(json.loads(node["value"]))
        case "IntegerLiteral":
            return int(node["value"])
        case "ConstantExpr" if "value" in node:
            return int(node["value"])
        case "ParenExpr" | "ImplicitCastExpr":
            return value(node["inner"][0])
        case "UnaryOperator" if node["opcode"] == "-":
            return -number(node["inner"][0])
        case "BinaryOperator" if node["opcode"] in "+-":
            one, other = map(number, node["inner"])
            return one + other if node["opcode"] == "+" else one - other
    raise ValueError(f"not a plain constant: {node['kind']}")


def number(node: Node) -> int:
    """The same for an integer."""
    found = value(node)
    if not isinstance(found, int):
        raise ValueError(f"not a number: {found}")
    return found


# ---- comments ----


def words(node: Node) -> str:
    """The text of a comment or of a part of one, on one line."""
    if node["kind"] == "TextComment":
        return str(node["text"]).strip()
    return " ".join(filter(None, (words(child) for child in node.get("inner", ()))))


def comment(node: Node) -> Node | None:
    """The comment of a declaration."""
    return next(iter(children(node, "FullComment")), None)


def labelled(text: str) -> tuple[str, dict[str, str]]:
    """A paragraph without what stands behind labels, and that."""
    found: dict[str, str] = {}
    for label in reversed(LABELS):
        text, separator, rest = text.partition(label)
        if separator:
            found[label.removesuffix(":").lower()] = rest.strip().removesuffix(".")
    return text.strip(), found


def described(node: Node) -> Node:
    """The words of a declaration: summary, details, those of its labels, of its result and its parameters."""
    full = comment(node)
    if full is None:
        return {}
    plain: list[str] = []
    more: Node = {}
    for part in full["inner"]:
        if part["kind"] == "ParagraphComment":
            text, found = labelled(words(part))
            more |= found
            if text:
                plain.append(text)
        elif part["kind"] == "BlockCommandComment" and part["name"] == "return":
            more["result"] = words(part)
        elif part["kind"] == "ParamCommandComment":
            more.setdefault("given", {})[part["param"]] = words(part)
        elif part["kind"] == "BlockCommandComment" and part["name"] in TAGS:
            more[part["name"]] = words(part)
        elif part["kind"] != "VerbatimLineComment":
            raise ValueError(f"{node.get('name')}: unexpected {part['kind']} in its comment")
    if not plain:
        return more
    summary, details = sentence(plain[0])
    return {"summary": summary, "details": "\n\n".join(filter(None, [details, *plain[1:]]))} | more


def sentence(text: str) -> tuple[str, str]:
    """The first sentence, and the rest."""
    end = text.find(". ")
    return (text, "") if end < 0 else (text[: end + 1], text[end + 2 :])


# ---- facts ----


def worth(text: str, constants: dict[str, int]) -> int | str:
    """A value of a range: "24 h", "2^29", a constant of the header; or the name of the field that bounds it."""
    if (number_of := re.fullmatch(r"(-?\d+)\s*([A-Za-z]*)", text)) and number_of[2] in FACTORS:
        return int(number_of[1]) * FACTORS[number_of[2]]
    if power := re.fullmatch(r"2\^(\d+)", text):
        return 1 << int(power[1])
    return constants.get(text, text)


def facts(found: Node, struct: str, field: str, enums: dict[str, int]) -> Node:
    """What the tags of a field say: unit, range (its ends, null where the type ends), also, bits, when, zero, none."""
    if "unit" not in found:
        return {}
    made: Node = {"unit": found["unit"]}
    prefix, _, form = found["unit"].partition(" ")
    if prefix.startswith("SELENE_"):
        values = [value for name, value in enums.items() if name.startswith(prefix)]
        if not values:
            raise ValueError(f"{struct}.{field}: no constant begins with {prefix}")
        if form == "bits":
            made["bits"] = reduce(or_, values)
        else:
            made["range"] = [min(values), max(values)]
    elif "range" in found and found["range"] != "any":
        items = found["range"].split(", ")
        (whole,) = (item for item in items if "…" in item)
        also = [item for item in items if item is not whole]
        low, _, high = (part.strip() for part in whole.partition("…"))
        made["range"] = [worth(low, enums), worth(high, enums) if high else None]
        if also:
            made["also"] = [worth(one, enums) for one in also]
    elif "range" in found:
        made["range"] = [None, None]
    else:
        raise ValueError(f"{struct}.{field}: @range is missing")
    return made | {key: found[key] for key in ("when", "zero", "none") if key in found}


def put(into: Node, keys: tuple[str, ...], found: Node) -> Node:
    """The keys that have something to say."""
    return into | {key: found[key] for key in keys if found.get(key)}


# ---- the interface ----


class Interface:
    """The interface while the declarations are walked."""

    def __init__(self, constants: dict[str, int]) -> None:
        self.constants = constants
        self.aliases: dict[str, str] = {}
        self.types: list[Node] = []
        self.enums: list[Node] = []
        self.structs: dict[str, Node] = {}
        self.callbacks: dict[str, Node] = {}
        self.functions: list[Node] = []
        self.last_record: Node | None = None

    def layout(self, spelt: str) -> tuple[int, int]:
        """Size and alignment of a type."""
        spelt = spelt.removeprefix("const ").removeprefix("struct ")
        if spelt.endswith("]"):
            element, _, count = spelt.removesuffix("]").partition("[")
            size, align = self.layout(element)
            return size * int(count), align
        if spelt.endswith(("*", "*const")) or spelt in self.callbacks:
            return POINTER, POINTER
        if spelt in self.structs:
            return self.structs[spelt]["size"], self.structs[spelt]["align"]
        size = SIZES[self.aliases.get(spelt, spelt)]
        return size, size

    def add(self, node: Node) -> None:
        """Takes in one declaration of the header."""
        match node["kind"]:
            case "EnumDecl":
                self.add_enum(node)
            case "RecordDecl" if node.get("completeDefinition"):
                self.last_record = node
            case "TypedefDecl" if self.last_record is not None and node["name"] == self.last_record["name"]:
                self.add_struct(self.last_record)
                self.last_record = None
            case "TypedefDecl":
                self.add_type(node)
            case "FunctionDecl":
                self.add_function(node)

    def add_enum(self, node: Node) -> None:
        """The numbers of an enum."""
        following, constants, last = 0, [], None
        for item in children(node, "EnumConstantDecl"):
            for expression in children(item, "ConstantExpr"):
                following = number(expression)
            # clang gives the comment of a constant to those behind it, too.
            place = (comment(item) or {}).get("range", {}).get("begin")
            said = described(item) if place != last else {}
            last = place
            constants.append(put({"name": item["name"], "value": following}, SAID, said))
            following += 1
        self.enums.append(put({}, SAID, described(node)) | {"constants": constants})

    def add_struct(self, node: Node) -> None:
        """A struct with the offsets of its fields."""
        at, widest, fields = 0, 1, []
        for item in children(node, "FieldDecl"):
            spelt = item["type"]["qualType"]
            size, align = self.layout(spelt)
            at = (at + align - 1) // align * align
            field = {"name": item["name"], "type": spelt, "offset": at, "size": size}
            said = described(item)
            known = {one["name"]: one["value"] for enum in self.enums for one in enum["constants"]} | self.constants
            field = put(field, SAID, said) | facts(said, node["name"], item["name"], known)
            is_number = self.aliases.get(spelt, spelt) in SIZES and item["name"] not in ("struct_size", "reserved")
            for tag in ("unit", "zero"):
                if node["name"] in FILLED and is_number and tag not in field:
                    raise ValueError(f"{node['name']}.{item['name']}: @{tag} is missing")
            fields.append(field)
            at, widest = at + size, max(widest, align)
        name = node["name"]
        struct: Node = {"name": name, "size": (at + widest - 1) // widest * widest, "align": widest}
        struct["sized"] = [field["name"] for field in fields[:2]] == ["struct_size", "flags"]
        self.structs[name] = put(struct, SAID, described(node)) | {"fields": fields}

    def add_type(self, node: Node) -> None:
        """Another name of a number, or the type of a callback."""
        name, spelt = node["name"], node["type"]["qualType"]
        if "(*)" in spelt:
            prototype = node
            while prototype["kind"] != "FunctionProtoType":
                (prototype,) = children(prototype, "PointerType", "ParenType", "FunctionProtoType")
            result, *parameters = (part["type"]["qualType"] for part in prototype["inner"])
            callback = {"name": name, "returns": result, "parameters": parameters}
            self.callbacks[name] = put(callback, SAID, described(node))
        else:
            self.aliases[name] = spelt
            self.types.append(put({"name": name, "type": spelt}, SAID, described(node)))

    def add_function(self, node: Node) -> None:
        """A function with its parameters, its words and the statuses that they name."""
        found = described(node)
        given: dict[str, str] = {}
        for names, text in found.get("given", {}).items():
            given |= dict.fromkeys(names.replace(",", " ").split(), text)
        parameters = []
        for item in children(node, "ParmVarDecl"):
            parameter = {"name": item["name"], "type": item["type"]["qualType"]}
            if item["name"] in given:
                parameter["summary"] = given[item["name"]]
            parameters.append(parameter)
        function: Node = {"name": node["name"], "returns": node["type"]["qualType"].partition("(")[0].strip()}
        function["parameters"] = parameters
        keys = ("summary", "details", "result", "ownership", "thread", "since")
        self.functions.append(put(function, keys, found))

    def complete(self) -> None:
        """Which statuses each function answers."""
        statuses = self.enums[0]["constants"]
        for function in self.functions:
            said = "".join(c if c.isalnum() or c == "_" else " " for c in function.get("result", "")).split()
            named = [s["name"] for s in statuses if s["name"].removeprefix("SELENE_").removeprefix("ERROR_") in said]
            if named:
                function["statuses"] = named


def macros() -> list[Node]:
    """The header's constants that are macros; what is not a number or a text, such as an initialiser, is left out."""
    names = []
    for line in clang("-E", "-dD", text="#include <selene.h>\n").splitlines():
        parts = line.split(maxsplit=2)
        if len(parts) < 3 or parts[0] != "#define" or not parts[1].startswith("SELENE_"):
            continue
        if "(" not in parts[1] and not parts[2].startswith("{") and parts[1] != "SELENE_API":
            names.append(parts[1])
    probe = "".join(f"__auto_type value_{name} = {name};\n" for name in names)
    constants = []
    for node in tree(f"#include <selene.h>\n{probe}"):
        if node["kind"] == "VarDecl" and node["name"].startswith("value_"):
            name = node["name"].removeprefix("value_")
            found = value(node["inner"][0])
            spelt = node["type"]["qualType"]
            types = {"int": "int32_t", "unsigned int": "uint32_t", "long": "int64_t", "char *": "const char *"}
            constants.append({"name": name, "value": found, "type": types[spelt]})
    return constants


def generate() -> str:
    """The text of api.json."""
    constants = macros()
    numbers = {one["name"]: one["value"] for one in constants if isinstance(one["value"], int)}
    interface = Interface(numbers)
    for node in tree("#include <selene.h>\n"):
        inside = node.get("name", "").startswith("selene_") or (
            node["kind"] == "EnumDecl" and children(node, "EnumConstantDecl")[0]["name"].startswith("SELENE_")
        )
        if inside:
            interface.add(node)
    interface.complete()
    known = {constant["name"]: constant["value"] for constant in constants}
    everything = {
        "version": known["SELENE_VERSION_STRING"],
        "constants": constants,
        "enums": interface.enums,
        "types": interface.types,
        "callbacks": list(interface.callbacks.values()),
        "structs": list(interface.structs.values()),
        "functions": interface.functions,
    }
    return "".join(lines(everything)) + "\n"


def lines(everything: Node) -> Iterator[str]:
    """JSON with one declaration, constant or field a line, so that a change of the header is a change of few lines."""
    yield "{"
    for index, (key, section) in enumerate(everything.items()):
        yield f'{"," if index else ""}\n"{key}": '
        if not isinstance(section, list):
            yield json.dumps(section)
            continue
        yield "["
        for place, item in enumerate(section):
            yield f"{',' if place else ''}\n "
            inner = next((name for name in ("fields", "constants", "parameters") if item.get(name)), None)
            if inner is None or not isinstance(item[inner][0], dict):
                yield json.dumps(item, ensure_ascii=False)
                continue
            head = json.dumps({name: value for name, value in item.items() if name != inner}, ensure_ascii=False)
            yield head[:-1] + (", " if len(head) > 2 else "") + f'"{inner}": ['
            yield ",".join(f"\n  {json.dumps(part, ensure_ascii=False)}" for part in item[inner])
            yield "]}"
        yield "]"
    yield "\n}"


def release() -> str:
    """The interface without its words."""

    def bare(part: Any) -> Any:
        if isinstance(part, list):
            # What was reserved may be used later.
            return [bare(one) for one in part if not (isinstance(one, dict) and one.get("name") == "reserved")]
        if not isinstance(part, dict):
            return part
        keys = ("name", "value", "type", "size", "align", "offset", "returns", "parameters", "fields", "constants")
        return {key: bare(part[key]) for key in keys if key in part}

    everything = json.loads(generate())
    constants = everything["constants"]
    everything["constants"] = [one for one in constants if not one["name"].startswith("SELENE_VERSION")]
    return "".join(lines({key: part if key == "version" else bare(part) for key, part in everything.items()})) + "\n"


def proof(path: Path) -> str:
    """A C file in which the compiler compares the header with what a file says of it: api.json, or a release's."""
    interface = json.loads(path.read_text())
    grows = "==" if path == TARGET else ">="
    found = [
        "#include <selene.h>",
        "#include <string.h>",
        "#ifndef __cplusplus",
        "#define static_assert _Static_assert",
        "#endif",
        "#define NUMBER(name, number, type) \\",
        "    static_assert((name) == (number), #name); static_assert(sizeof(name) == sizeof(type), #name)",
        "#define FIELD(struct_, field, type, offset, size) \\",
        "    static_assert(offsetof(struct_, field) == (offset), #field); \\",
        "    static_assert(sizeof(((struct_ *)0)->field) == (size), #field); \\",
        "    extern type *struct_##_##field; extern __typeof__(((struct_ *)0)->field) *struct_##_##field",
        "#define STRUCT(name, size, align) \\",
        f"    static_assert(sizeof(name) {grows} (size) && __alignof__(name) == (align), #name)",
    ]
    for constant in interface["constants"]:
        if constant["type"] == "const char *":
            continue
        least = constant["value"] == -(1 << 63)
        number = "INT64_MIN" if least else f"{constant['value']}{'U' if constant['type'] == 'uint32_t' else ''}"
        found.append(f"NUMBER({constant['name']}, {number}, {constant['type']});")
    for enum in interface["enums"]:
        found += [f"NUMBER({one['name']}, {one['value']}, int32_t);" for one in enum["constants"]]
    for alias in interface["types"]:
        found.append(f"extern {alias['type']} of_{alias['name']}; extern {alias['name']} of_{alias['name']};")
    for struct in interface["structs"]:
        name = struct["name"]
        found.append(f"STRUCT({name}, {struct['size']}, {struct['align']});")
        for field in struct["fields"]:
            element, bracket, count = field["type"].partition("[")
            kind = f"field_{name}_{field['name']}"
            found.append(f"typedef {element} {kind}{bracket}{count};")
            found.append(f"FIELD({name}, {field['name']}, {kind}, {field['offset']}, {field['size']});")
    for callback in interface["callbacks"]:
        name = callback["name"]
        found.append(f"extern {callback['returns']} (*of_{name})({', '.join(callback['parameters'])});")
        found.append(f"extern {name} of_{name};")
    found.append('#ifdef __cplusplus\nextern "C" {\n#endif')
    for function in interface["functions"]:
        parameters = ", ".join(one["type"] for one in function["parameters"]) or "void"
        # There is one, and another declaration of the same function has the same type, or it does not compile.
        found.append(f"extern __typeof__({function['name']}) {function['name']};")
        found.append(f"{function['returns']} {function['name']}({parameters});")
    found.append("#ifdef __cplusplus\n}\n#endif")
    return "\n".join(found) + "\n"


def unsaid(path: Path) -> list[str]:
    """What the functions of a header leave out: on which thread they are called, whose what they give is, since when.

    Something is given by a pointer, a handle, or a struct with one of them inside.
    """
    interface = json.loads(path.read_text())
    handles = {alias["name"] for alias in interface["types"] if alias["type"] == "uint64_t"}
    structs = {struct["name"]: struct["fields"] for struct in interface["structs"]}

    def lends(spelt: str) -> bool:
        spelt = spelt.removeprefix("const ").partition("[")[0].strip()
        return spelt.endswith("*") or any(lends(field["type"]) for field in structs.get(spelt, ()))

    def gives(parameter: Node) -> bool:
        if not parameter["name"].startswith("out_") or not parameter["type"].endswith("*"):
            return False
        spelt = parameter["type"].removesuffix("*").strip()
        return spelt in handles or lends(spelt)

    found = []
    for function in interface["functions"]:
        needed = ["thread", "since"]
        if function["returns"].endswith("*") or any(map(gives, function["parameters"])):
            needed.append("ownership")
        found += [f"{function['name']}: {key.capitalize()}" for key in needed if key not in function]
    return found


def main() -> int:
    """Writes the file, or with --check says whether it is as it would be written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if include/api.json is stale")
    parser.add_argument(
        "--proof",
        type=Path,
        nargs="?",
        const=TARGET,
        metavar="FILE",
        help="print a C file that proves include/api.json",
    )
    parser.add_argument("--words", action="store_true", help="print what comments leave out; 1 if they do")
    parser.add_argument("--release", action="store_true", help="print what programs rely on from this release on")
    arguments = parser.parse_args()
    if arguments.proof:
        print(proof(arguments.proof), end="")
        return 0
    if arguments.words:
        found = unsaid(TARGET)
        print("\n".join(found), end="\n" if found else "")
        return 1 if found else 0
    if arguments.release:
        print(release(), end="")
        return 0
    text = generate()
    if not arguments.check:
        TARGET.write_text(text)
    elif not TARGET.exists() or TARGET.read_text() != text:
        print("include/api.json is stale: make interface rewrites it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
