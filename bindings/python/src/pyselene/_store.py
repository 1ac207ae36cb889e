"""Stores: the files that schedulers keep their tasks in."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import TypeAlias

from . import _raw
from ._library import check, layout, library, read, text

#: A path as open() takes it.
Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What the store of a scheduler is; `path` is None in memory, `owner` the application whose store it is."""

    path: str | None
    sqlite_version: str
    relaxed: bool
    schema_version: int
    page_size: int
    pages: int
    wal_size: int
    commits: int
    owner: str | None


@dataclass(frozen=True, slots=True)
class StoreFindings:
    """What check_store() and salvage_store() found: tasks that can be read, and rows that cannot."""

    schema_version: int
    tasks: int
    damaged: int


def path_bytes(path: Path) -> bytes:
    """The bytes of a path."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"path must be a str, bytes or a Path, not {type(path).__name__}")
    return os.fsencode(path)


def store_info(address: int) -> StoreInfo:
    """Reads the library's facts."""
    # fmt: off
    _, _, data, length, version, version_length, relaxed, schema, page_size, pages, wal_size, commits, *owner = read(
        _raw.selene_store_info, address)
    # fmt: on
    path = os.fsdecode(ctypes.string_at(data, length)) if length else None
    sqlite = text(version, version_length)
    return StoreInfo(path, sqlite, bool(relaxed), schema, page_size, pages, wal_size, commits, text(*owner) or None)


def _findings() -> _raw.selene_store_findings:
    return _raw.selene_store_findings(ctypes.sizeof(_raw.selene_store_findings))


def _read(raw: _raw.selene_store_findings) -> StoreFindings:
    return StoreFindings(*layout(_raw.selene_store_findings).unpack_from(raw)[2:])


def check_store(path: Path) -> StoreFindings:
    """Examines a store that is not open anywhere, without changing it; raises a StoreError if it is not whole."""
    name = path_bytes(path)
    raw = _findings()
    check(library.selene_store_check(name, len(name), ctypes.byref(raw)))
    return _read(raw)


def salvage_store(damaged: Path, fresh: Path) -> StoreFindings:
    """Saves every task that can be read from a damaged store into a new file; the damaged one is left as it is."""
    source, target = path_bytes(damaged), path_bytes(fresh)
    raw = _findings()
    check(library.selene_store_salvage(source, len(source), target, len(target), ctypes.byref(raw)))
    return _read(raw)
