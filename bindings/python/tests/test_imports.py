"""The package's imports form no circle, also where they are for types only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pyselene

ROOT = Path(pyselene.__file__).parent
MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.rglob("*.py")}


def imported(name: str, source: str) -> Iterator[str]:
    """The modules of the package that the module of a name imports, at its top or anywhere inside."""
    package = name.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
        said = ".".join(part for part in base if part)
        for alias in node.names:
            below = f"{said}.{alias.name}" if said else alias.name
            found = [below, said, f"{said}.__init__"]
            yield next((module for module in found if module in MODULES), "")


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """The sets of modules that import one another, in however many steps."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        rest = [start]
        while rest:
            for module in graph[rest.pop()] - seen:
                seen.add(module)
                rest.append(module)
        return seen

    reach = {module: reached(module) for module in graph}
    return {
        frozenset(other for other in reach[module] if module in reach[other])
        for module in graph
        if module in reach[module]
    }


def test_this_test_sees_circles() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == set()
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}}) == {frozenset("bc"), frozenset("d")}
    lazy = "if TYPE_CHECKING:\n    from ._engine import Engine\ndef f():\n    from . import _run\n"
    assert set(imported("_lane", lazy)) == {"_engine", "_run"}
    assert set(imported("cli.show", "from .._report import Report\nfrom .duration import words")) >= {"_report"}


def test_imports_form_no_circle() -> None:
    graph = {name: set(imported(name, path.read_text())) - {""} for name, path in MODULES.items()}
    assert sum(map(len, graph.values())) > 100
    # The package's own module names what all others make.
    graph["__init__"] = set()
    assert {circle for circle in circles(graph) if len(circle) > 1} == set()
