"""Writes src/pyselene/_raw.py from include/selene.h, and _fields.py from fields.py: python tools/generate.py [--check].

The header is parsed by pycparser after the C compiler's own preprocessor, never by patterns. Needs a C compiler
(CC, default cc) and pycparser.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import fields
from pycparser import c_ast, c_parser

HERE = Path(__file__).resolve().parent.parent
HEADER = HERE / "../../include/selene.h"
PACKAGE = HERE / "src/pyselene"
PREFIX = "SELENE_"

# What the header takes from the C library, without the rest that its real headers bring along.
STANDARD = {
    "stdint.h": """
        typedef signed int int32_t; typedef unsigned int uint32_t;
        typedef signed long int64_t; typedef unsigned long uint64_t;
        #define INT64_C(value) value##L
        #define INT64_MAX 9223372036854775807L
        #define INT64_MIN (-9223372036854775807L - 1L)
        #define UINT32_MAX 4294967295U
    """,
    "stddef.h": "#define NULL ((void *)0)",
}
# Structures of which the typed layer reads every field at once, by name.
ROWS = ("selene_task_info",)
SCALARS = {
    "int32_t": "c_int32",
    "uint32_t": "c_uint32",
    "int64_t": "c_int64",
    "uint64_t": "c_uint64",
    "double": "c_double",
}
BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "|": lambda a, b: a | b,
    "<<": lambda a, b: a << b,
}


def preprocess(text: str, *options: str) -> str:
    """The text after the C preprocessor, with the standard headers above."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in STANDARD.items():
            Path(folder, name).write_text("\n".join(line.strip() for line in content.splitlines()) + "\n")
        command = [os.environ.get("CC", "cc"), "-E", "-P", "-nostdinc", f"-I{folder}", f"-I{HEADER.parent}"]
        command += ["-D__attribute__(arguments)=", *options, "-xc", "-"]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def macro_names() -> list[str]:
    """The header's own object-like macros, in its order."""
    found = []
    for line in preprocess("#include <selene.h>\n", "-dD").splitlines():
        words = line.split()
        if len(words) > 2 and words[0] == "#define" and words[1].startswith(PREFIX) and "(" not in words[1]:
            found.append(words[1])
    return found


class Value:
    """Constant expressions, with the enumerators seen so far."""

    def __init__(self) -> None:
        self.known: dict[str, int | str] = {}

    def of(self, node: c_ast.Node) -> int | str:
        """What the expression is worth; ValueError if it is not constant."""
        match node:
            case c_ast.Constant(type="string"):
                return str(node.value[1:-1])
            case c_ast.Constant():
                return int(node.value.rstrip("uUlL"), 0)
            case c_ast.UnaryOp(op="-"):
                return -self.number(node.expr)
            case c_ast.BinaryOp() if node.op in BINARY:
                return int(BINARY[node.op](self.number(node.left), self.number(node.right)))
            case c_ast.ID() if node.name in self.known:
                return self.known[node.name]
        raise ValueError(f"not a constant: {node}")

    def number(self, node: c_ast.Node) -> int:
        """The same for an integer."""
        value = self.of(node)
        if not isinstance(value, int):
            raise ValueError(f"not a number: {value}")
        return value


class Module:
    """The parts of the module while the declarations are walked."""

    def __init__(self) -> None:
        self.value = Value()
        self.constants: list[str] = []
        self.types: list[str] = []
        self.functions: list[tuple[str, str, list[str]]] = []
        self.aliases: dict[str, str] = {}
        self.structures: set[str] = set()
        self.callbacks: set[str] = set()

    def type(self, node: c_ast.Node) -> str:
        """The ctypes expression of a type."""
        match node:
            case c_ast.TypeDecl():
                return self.type(node.type)
            case c_ast.IdentifierType():
                name = " ".join(node.names)
                if name in SCALARS:
                    return SCALARS[name]
                if name in self.aliases:
                    return self.aliases[name]
                if name in self.structures or name in self.callbacks:
                    return name
                raise ValueError(f"unknown type {name}")
            case c_ast.Struct():
                return str(node.name)
            case c_ast.ArrayDecl():
                return f"{self.type(node.type)} * {self.value.number(node.dim)}"
            case c_ast.PtrDecl():
                inner = node.type
                if isinstance(inner, c_ast.TypeDecl) and isinstance(inner.type, c_ast.IdentifierType):
                    if inner.type.names == ["void"]:
                        return "c_void_p"
                    if inner.type.names == ["char"]:
                        return "c_char_p"
                return f"POINTER({self.type(inner)})"
        raise ValueError(f"unknown type {node}")

    def signature(self, node: c_ast.FuncDecl) -> tuple[str, list[str]]:
        """Result and parameters of a function type."""
        parameters = [self.type(p.type) for p in node.args.params if not self.is_void(p.type)] if node.args else []
        return ("None" if self.is_void(node.type) else self.type(node.type)), parameters

    @staticmethod
    def is_void(node: c_ast.Node) -> bool:
        """Whether a result or a parameter is none."""
        return (
            isinstance(node, c_ast.TypeDecl)
            and isinstance(node.type, c_ast.IdentifierType)
            and node.type.names == ["void"]
        )

    def add(self, node: c_ast.Node) -> None:
        """Takes in one declaration of the header."""
        match node:
            case c_ast.Decl(type=c_ast.Enum()):
                self.add_enumerators(node.type)
            case c_ast.Typedef(type=c_ast.TypeDecl(type=c_ast.Struct(decls=list()))):
                self.add_structure(node.name, node.type.type.decls)
            case c_ast.Typedef(type=c_ast.PtrDecl(type=c_ast.FuncDecl())):
                result, parameters = self.signature(node.type.type)
                # Pointers arrive as plain addresses: nothing is made for a call that does not look at them.
                plain = ["c_void_p" if p.startswith("POINTER") else self.aliases.get(p, p) for p in parameters]
                self.types.append(f"{node.name} = CFUNCTYPE({', '.join([result, *plain])})\n")
                self.callbacks.add(node.name)
            case c_ast.Typedef():
                self.aliases[node.name] = self.type(node.type)
            case c_ast.Decl(type=c_ast.FuncDecl()):
                result, parameters = self.signature(node.type)
                self.functions.append((node.name, result, parameters))
            case c_ast.Decl(type=c_ast.Struct()):
                pass
            case _:
                raise ValueError(f"unexpected {node}")

    def add_enumerators(self, node: c_ast.Enum) -> None:
        """An enum's numbers."""
        following = 0
        for item in node.values.enumerators:
            number = following if item.value is None else self.value.number(item.value)
            self.value.known[item.name] = number
            self.constants.append(f"{item.name} = {number}")
            following = number + 1

    def add_structure(self, name: str, fields: list[c_ast.Decl]) -> None:
        """A struct's fields."""
        lines = [f"class {name}(Structure):", "    __slots__ = ()", "    _fields_ = ("]
        lines += [f'        ("{field.name}", {self.type(field.type)}),' for field in fields]
        self.types.append("\n".join([*lines, "    )", ""]))
        self.structures.add(name)
        if name in ROWS:
            self.types.append(self.row(name, fields))

    def row(self, name: str, fields: list[c_ast.Decl]) -> str:
        """A struct's fields as read() gives them, without arrays: of a text its address and its length."""
        lines = [f"class {name}_row(NamedTuple):"]
        for field in fields:
            if isinstance(field.type, c_ast.ArrayDecl):
                continue
            kind = self.type(field.type)
            if kind == "selene_text":
                lines += [f"    {field.name}: int", f"    {field.name}_length: int"]
            else:
                lines.append(f"    {field.name}: {'float' if kind == 'c_double' else 'int'}")
        return "\n".join([*lines, ""])


def generate() -> str:
    """The text of the module."""
    names = macro_names()
    probe = "".join(f"__selene_macro macro_{name} = ({name});\n" for name in names)
    text = preprocess(f"#include <selene.h>\ntypedef long __selene_macro;\n{probe}")
    declarations, _, macros = text.partition("typedef long __selene_macro;")
    module = Module()
    for node in c_parser.CParser().parse(declarations).ext:
        if isinstance(node, c_ast.Typedef) and node.name in SCALARS:
            continue
        module.add(node)
    constants = []
    for statement in filter(str.strip, macros.split(";\n")):
        try:
            (node,) = c_parser.CParser().parse(f"typedef long __selene_macro;{statement};").ext[1:]
            value = module.value.of(node.init)
        except (c_parser.ParseError, ValueError):
            continue  # initialisers and what only a C compiler understands
        text_value = f'"{value}"' if isinstance(value, str) else str(value)
        constants.append(f"{node.name.removeprefix('macro_')} = {text_value}")
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
        *constants,
        "",
        *module.constants,
        "",
        "",
        "\n\n".join(module.types),
        "",
        "#: Result and parameters of every function.",
        "SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {",
    ]
    for name, result, parameters in module.functions:
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
        *(f'        "{name}",' for name, _, _ in module.functions),
        "    )",
        "",
        *(f"    {name}: Any" for name, _, _ in module.functions),
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
