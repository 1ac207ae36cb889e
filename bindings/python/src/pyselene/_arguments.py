"""Arguments of a handler (`args`, `kwargs`): JSON in a task's input, never pickled objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def packed(args: Iterable[Any], kwargs: Mapping[str, Any] | None) -> bytes:
    r"""The input of a task whose handler is to be called with these.

    >>> packed([7], {"to": "grün"})
    b'{"args": [7], "kwargs": {"to": "gr\xc3\xbcn"}}'

    Raises:
        TypeError, ValueError: they are not JSON.
    """
    if isinstance(args, str | bytes | Mapping) or not isinstance(args, Iterable):
        raise TypeError(f"args must be a list or a tuple, not {type(args).__name__}")
    if kwargs is not None and not (isinstance(kwargs, Mapping) and all(isinstance(key, str) for key in kwargs)):
        raise TypeError(f"kwargs must be a dict with str as keys, not {kwargs!r}")
    try:
        told = json.dumps({"args": list(args), "kwargs": dict(kwargs or {})}, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"args and kwargs are kept as JSON: {error}") from None
    return told.encode()


def unpacked(input: bytes) -> tuple[list[Any], dict[str, Any]] | None:
    """What was packed; None for other inputs, also for JSON of somebody else that has these two names.

    >>> unpacked(packed([7], None)), unpacked(b"7"), unpacked(b'{"args":[7],"kwargs":{}}')
    (([7], {}), None, None)
    """
    try:
        found = json.loads(input)
        if not isinstance(found, dict) or found.keys() != {"args", "kwargs"}:
            return None
        args, kwargs = found["args"], found["kwargs"]
        # The same bytes: no other writer of JSON sets names, spaces and letters as `packed` does.
        is_ours = isinstance(args, list) and isinstance(kwargs, dict) and packed(args, kwargs) == bytes(input)
    except ValueError:
        return None
    return (args, kwargs) if is_ours else None
