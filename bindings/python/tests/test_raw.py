"""The raw layer says what the header says, and the enumerations what the raw layer says."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

import pyselene as selene
from pyselene import _errors, _raw
from pyselene._lane import RunInfo
from pyselene._library import _find, fast, layout

HERE = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("tool", ["generate.py", "rules.py"])
def test_what_a_tool_writes_is_not_stale(tool: str) -> None:
    done = subprocess.run([sys.executable, HERE / "tools" / tool, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_export_of_the_library_is_declared_and_the_other_way_round() -> None:
    symbols = set((HERE / "../../Sources/SeleneABI/symbols.txt").read_text().split())
    assert set(_raw.SIGNATURES) == symbols
    library = ctypes.CDLL(str(_find()))
    for name in symbols:
        assert library[name]


def test_every_structure_is_laid_out_as_it_is_read() -> None:
    for name, value in vars(_raw).items():
        if name.startswith("selene_") and isinstance(value, type) and issubclass(value, ctypes.Structure):
            assert layout(value).size == ctypes.sizeof(value), name


@pytest.mark.parametrize(
    ("kind", "prefix", "names"),
    [
        (selene.Kind, "KIND", "KIND"),
        (selene.Schedule, "SCHEDULE", "SCHEDULE"),
        (selene.State, "STATE", "STATE"),
        (selene.Outcome, "OUTCOME", "OUTCOME"),
        (selene.StopReason, "STOP", "STOP"),
        (selene.Disposition, "DISPOSITION", "DISPOSITION"),
        (selene.ReasonCode, "REASON", "REASON"),
        (selene.EventType, "EVENT", "EVENT"),
        (selene.Priority, "PRIORITY", "PRIORITY"),
        (selene.Existing, "EXISTING", "EXISTING"),
        (selene.Constraint, "CONSTRAINT", "CONSTRAINT"),
        (selene.Signal, "SIGNAL", "SIGNAL"),
        (selene.Source, "SOURCE", "SOURCE"),
        (selene.Presence, "PRESENCE", None),
        (selene.Factor, "FACTOR", "FACTOR"),
        (selene.Verdict, "VERDICT", "VERDICT"),
        (selene.Measure, "MEASURE", "MEASURE"),
        (selene.BuiltIn, "PROFILE", "PROFILE"),
    ],
)
def test_an_enumeration_has_every_number_of_the_header(kind: type, prefix: str, names: str | None) -> None:
    wanted = {
        name.removeprefix(f"SELENE_{prefix}_"): value
        for name, value in vars(_raw).items()
        if name.startswith(f"SELENE_{prefix}_") and value >= 0 and not name.endswith("_DEFAULT")
    }
    members = {name: int(member) for name, member in kind.__members__.items()}  # type: ignore[attr-defined]
    assert members == wanted
    if names is not None:
        for name, number in members.items():
            assert fast.selene_name(getattr(_raw, f"SELENE_NAMES_{names}"), number).decode() == name.lower()


def test_each_status_has_a_class() -> None:
    errors = {n: v for n, v in vars(_raw).items() if n.startswith("SELENE_ERROR_")}
    assert set(errors.values()) == set(_errors._CLASSES)
    for name, status in errors.items():
        short = name.removeprefix("SELENE_ERROR_").replace("_", "")
        assert _errors.error_class(status).__name__.upper() == short


def test_the_versions_agree() -> None:
    assert selene.__version__ == _raw.SELENE_VERSION_STRING == selene.library_version
    assert f'version = "{selene.__version__}"' in (HERE / "pyproject.toml").read_text()


def test_a_missing_or_foreign_library_is_an_import_error(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.so", Path("libc.so.6")):
        done = subprocess.run(
            [sys.executable, "-c", "import pyselene"],
            env={"PYSELENE_LIBRARY": str(path), "PYTHONPATH": str(HERE / "src")},
            capture_output=True,
            text=True,
        )
        assert "ImportError: pyselene cannot use its library" in done.stderr


def test_the_lanes_own_layout_is_the_headers() -> None:
    for name in ("run", "cycle", "id", "handler"):
        assert getattr(RunInfo, name).offset == getattr(_raw.selene_run_info, name).offset
    assert ctypes.sizeof(RunInfo) == ctypes.sizeof(_raw.selene_run_info)
