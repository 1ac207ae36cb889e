"""Writes src/pyselene/_raw.py from include/api.json, and _fields.py from fields.py: python tools/generate.py [--check].

api.json is what clang read in the header: bindings/tools/api.py, which `make interface` calls before this.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import fields

HERE = Path(__file__).resolve().parent.parent
INTERFACE = HERE / "../../include/api.json"
PACKAGE = HERE / "src/pyselene"

# Structures of which the typed layer reads every field at once, by name.
ROWS = ("selene_task_info",)
SCALARS = {
    "int32_t": "c_int32",
    "uint32_t": "c_uint32",
    "int64_t": "c_int64",
    "uint64_t": "c_uint64",
    "double": "c_double",
    "char *": "c_char_p",
    "void *": "c_void_p",
    "void": "None",
}


class Module:
    """The parts of the module, made from the description of the interface."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.aliases = {alias["name"]: alias["type"] for alias in interface["types"]}
        self.named = {item["name"] for section in ("structs", "callbacks") for item in interface[section]}
        self.interface = interface

    def type(self, spelt: str) -> str:
        """The ctypes expression of a type as C spells it."""
        spelt = spelt.replace("const ", "").replace("*const", "*").removeprefix("struct ")
        spelt = self.aliases.get(spelt, spelt)
        if spelt in SCALARS:
            return SCALARS[spelt]
        if spelt in self.named:
            return spelt
        if spelt.endswith("]"):
            element, _, count = spelt.removesuffix("]").partition("[")
            return f"{self.type(element)} * {count}"
        if spelt.endswith("*"):
            return f"POINTER({self.type(spelt.removesuffix('*').rstrip())})"
        raise ValueError(f"unknown type {spelt}")

    def constants(self) -> list[str]:
        """The macros, and behind them the numbers of the enums."""
        macros = [f"{one['name']} = {json.dumps(one['value'])}" for one in self.interface["constants"]]
        numbers = [f"{one['name']} = {one['value']}" for enum in self.interface["enums"] for one in enum["constants"]]
        return [*macros, "", *numbers]

    def types(self) -> list[str]:
        """Callbacks, then structures in the order of the header: each knows those before it."""
        callbacks = []
        for callback in self.interface["callbacks"]:
            # Pointers arrive as plain addresses: nothing is made for a call that does not look at them.
            plain = ["c_void_p" if "*" in spelt else self.type(spelt) for spelt in callback["parameters"]]
            callbacks.append(f"{callback['name']} = CFUNCTYPE({', '.join([self.type(callback['returns']), *plain])})")
        found = ["\n".join([*callbacks, ""])]
        for struct in self.interface["structs"]:
            found.append(self.structure(struct))
            if struct["name"] in ROWS:
                found.append(self.row(struct))
        return found

    def structure(self, struct: dict[str, Any]) -> str:
        """A struct's fields."""
        lines = [f"class {struct['name']}(Structure):", "    __slots__ = ()", "    _fields_ = ("]
        lines += [f'        ("{field["name"]}", {self.type(field["type"])}),' for field in struct["fields"]]
        return "\n".join([*lines, "    )", ""])

    def row(self, struct: dict[str, Any]) -> str:
        """A struct's fields as read() gives them, without arrays: of a text its address and its length."""
        lines = [f"class {struct['name']}_row(NamedTuple):"]
        for field in struct["fields"]:
            kind, name = self.type(field["type"]), field["name"]
            if kind == "selene_text":
                lines += [f"    {name}: int", f"    {name}_length: int"]
            elif not field["type"].endswith("]"):
                lines.append(f"    {name}: {'float' if kind == 'c_double' else 'int'}")
        return "\n".join([*lines, ""])

    def functions(self) -> list[tuple[str, str, list[str]]]:
        """Name, result and parameters of each function."""
        return [
            (one["name"], self.type(one["returns"]), [self.type(given["type"]) for given in one["parameters"]])
            for one in self.interface["functions"]
        ]


def generate() -> str:
    """The text of the module."""
    module = Module(json.loads(INTERFACE.read_text()))
    functions = module.functions()
    used = ["CDLL", "CFUNCTYPE", "POINTER", "Structure", "c_char_p", "c_double"]
    used += ["c_int32", "c_int64", "c_uint32", "c_uint64", "c_void_p"]
    lines = [
        '"""The C interface as it is, generated from selene.h by tools/generate.py; not for use by hosts."""',
        "",
        "# ruff: noqa: N801",
        "from __future__ import annotations",
        "",
        "from ctypes import (",
        *(f"    {name}," for name in used),
        ")",
        "from typing import Any, NamedTuple",
        "",
        *module.constants(),
        "",
        "",
        "\n\n".join(module.types()),
        "",
        "#: Result and parameters of every function.",
        "SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {",
    ]
    for name, result, parameters in functions:
        listed = "".join(f"{p}, " for p in parameters)
        listed = listed.rstrip() if len(parameters) == 1 else listed.removesuffix(", ")
        line = f'    "{name}": ({result}, ({listed})),'
        if len(line) > 120:
            line = f'    "{name}": (\n        {result},\n        (\n'
            line += "".join(f"            {p},\n" for p in parameters) + "        ),\n    ),"
        lines.append(line)
    lines += [
        "}",
        "",
        "",
        "class Functions:",
        '    """Every function of the library, with its types."""',
        "",
        "    __slots__ = (",
        *(f'        "{name}",' for name, _, _ in functions),
        "    )",
        "",
        *(f"    {name}: Any" for name, _, _ in functions),
        "",
        "    def __init__(self, library: CDLL) -> None:",
        "        for name, (result, parameters) in SIGNATURES.items():",
        "            function = library[name]",
        "            function.restype = result",
        "            function.argtypes = parameters",
        "            setattr(self, name, function)",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Writes the modules, or with --check says whether they are as they would be written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a module is stale")
    arguments = parser.parse_args()
    status = 0
    for name, text in (("_raw.py", generate()), ("_fields.py", fields.generate())):
        target = PACKAGE / name
        if not arguments.check:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            print(f"src/pyselene/{name} is stale: run tools/generate.py", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
