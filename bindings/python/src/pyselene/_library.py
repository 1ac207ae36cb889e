"""The loaded library: where it is found, its functions, statuses as exceptions, and structures read at once.

PYSELENE_LIBRARY names another library file than the one in the package, for those who develop Selene.
"""

from __future__ import annotations

import ctypes
import os
import struct
from functools import cache
from pathlib import Path
from typing import Any

from . import _raw
from ._errors import SeleneError, error_class
from ._fault import Fault, RawFault, told


def _find() -> Path:
    chosen = os.environ.get("PYSELENE_LIBRARY")
    return Path(chosen) if chosen else Path(__file__).with_name("libselene.so")


def _load() -> tuple[_raw.Functions, _raw.Functions, Any, Any]:
    path = _find()
    try:
        plain, holding = ctypes.CDLL(str(path)), ctypes.PyDLL(str(path))
        functions, fast_functions = _raw.Functions(plain), _raw.Functions(holding)
    except (OSError, AttributeError) as error:
        raise ImportError(f"pyselene cannot use its library {path}: {error}") from error
    number = functions.selene_version()
    if number // 1000 != _raw.SELENE_VERSION_NUMBER // 1000:
        raise ImportError(f"{path} has version {number}, pyselene needs {_raw.SELENE_VERSION_NUMBER}")
    return functions, fast_functions, _bare(plain), _bare(holding)


def _bare(source: ctypes.CDLL) -> Any:
    function = source["selene_lane_next"]
    function.restype = ctypes.c_int32
    return function


#: `library` gives the interpreter's lock up during a call; `fast` keeps it, for calls that neither wait nor write.
library, fast, _next_of_library, _next_of_fast = _load()

_major, _rest = divmod(fast.selene_version(), 1_000_000)
#: The version of the library that is loaded.
library_version: str = f"{_major}.{_rest // 1000}.{_rest % 1000}"


def bare_next(functions: _raw.Functions) -> Any:
    """selene_lane_next of `library` or `fast`, which converts nothing: what is passed must be of the right C type.

    Made once for many calls, that is what makes it fast. What never changes may also be what from_param() of its type
    gives.
    """
    return _next_of_fast if functions is fast else _next_of_library


def status_name(status: int) -> str:
    """What the header calls a status: NOT_FOUND."""
    return str(fast.selene_name(_raw.SELENE_NAMES_STATUS, status).decode())


def error_of(status: int, *, latest: bool = True) -> SeleneError:
    """The exception of a status, with this thread's detail text if it is the latest that failed here."""
    name = status_name(status)
    message = fast.selene_status_message(status).decode()
    detail, fault = _last_fault() if latest else ("", Fault())
    return error_class(status)(status, name, detail or message, fault)


def _last_fault() -> tuple[str, Fault]:
    """What was wrong in this thread's last failed call."""
    raw = fast.selene_error_last().contents
    detail, field, subject, found, allowed = (
        piece.data.decode(errors="replace") for piece in (raw.message, raw.field, raw.subject, raw.found, raw.allowed)
    )
    numbers = raw.value, raw.least, raw.greatest
    return told(RawFault(raw.status, raw.flags, raw.unit, field, subject, found, allowed, *numbers), detail)


def error_told(status: int, detail: str) -> SeleneError:
    """The exception of a status that the library told of, with its detail text."""
    return error_class(status)(status, status_name(status), detail)


def check(status: int) -> None:
    """Raises the exception of a status unless it is OK."""
    if status:
        raise error_of(status)


_CODES: dict[Any, str] = {
    ctypes.c_int32: "i",
    ctypes.c_uint32: "I",
    ctypes.c_int64: "q",
    ctypes.c_uint64: "Q",
    ctypes.c_double: "d",
    ctypes.c_char_p: "P",
    ctypes.c_void_p: "P",
}


def _code(kind: Any) -> str:
    if kind in _CODES:
        return _CODES[kind]
    if issubclass(kind, ctypes.Array):
        return _code(kind._type_) * int(kind._length_)
    if issubclass(kind, ctypes.Structure):
        return "".join(_code(field[1]) for field in kind._fields_)
    return "P"


@cache
def layout(structure: type[ctypes.Structure]) -> struct.Struct:
    """Reads all fields of a structure in one go; inner structures and arrays are laid out flat."""
    result = struct.Struct("@" + "".join(_code(field[1]) for field in structure._fields_))
    if result.size != ctypes.sizeof(structure):
        raise ImportError(f"the layout of {structure.__name__} is not understood")
    return result


def flattened(structure: type[ctypes.Structure], but: str) -> Any:
    """The structure with its texts as fields of their own: `id` gives the bytes at once, `id_length` their number.

    Of one that may have a NUL inside (`but`) the address is given.
    """
    fields: list[tuple[str, Any]] = []
    for name, kind, *_ in structure._fields_:
        if kind is _raw.selene_text:
            fields += [(name, ctypes.c_void_p if name == but else ctypes.c_char_p), (f"{name}_length", ctypes.c_int64)]
        else:
            fields.append((name, kind))
    return type(structure.__name__, (ctypes.Structure,), {"__slots__": (), "_fields_": fields})


def read(structure: type[ctypes.Structure], address: int) -> tuple[Any, ...]:
    """The fields of the structure at an address."""
    form = layout(structure)
    return form.unpack(ctypes.string_at(address, form.size))


def read_array(structure: type[ctypes.Structure], address: int | None, count: int) -> list[tuple[Any, ...]]:
    """The fields of each structure of an array."""
    if not address or not count:
        return []
    form = layout(structure)
    return list(form.iter_unpack(ctypes.string_at(address, form.size * count)))


def out_pointer(structure: type[ctypes.Structure]) -> tuple[ctypes.c_void_p, Any]:
    """A pointer for the library to fill, as an address and as its type."""
    address = ctypes.c_void_p()
    return address, ctypes.POINTER(structure).from_buffer(address)


def text(address: int | None, length: int) -> str:
    """The text that a pointer and a length mean."""
    # What is not input has no NUL inside and one behind, and this is three times as fast as string_at().
    return (ctypes.c_char_p(address).value or b"").decode() if length else ""


def encode(value: str, what: str) -> bytes:
    """The UTF-8 of a text parameter; the engine judges its length."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, not {type(value).__name__}")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} has {value[error.start]!a} at {error.start}; allowed: what UTF-8 can write") from None
