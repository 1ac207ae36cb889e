"""What a run leaves: bytes that its task keeps (Run.set_output, what a handler returns, Scheduler.output)."""

from __future__ import annotations

import json
from typing import Any


class Output(bytes):
    """What the last success of a task left; empty if that was nothing.

    >>> left = Output(b'{"rows": 3}')
    >>> left.json()["rows"], left.text, len(left)
    (3, '{"rows": 3}', 11)
    """

    __slots__ = ()

    @property
    def text(self) -> str:
        """The bytes as UTF-8."""
        return self.decode()

    def json(self) -> Any:
        """The value that was left as JSON; None if nothing was left."""
        return json.loads(self) if self else None


def output_of(value: object) -> bytes:
    r"""The bytes of what a run leaves: bytes as they are, a str as UTF-8, any other value as JSON, None nothing.

    >>> [output_of(value) for value in (None, b"\0", "grün", {"rows": 3}, [1, None], 0)]
    [b'', b'\x00', b'gr\xc3\xbcn', b'{"rows": 3}', b'[1, null]', b'0']

    Raises:
        TypeError, ValueError: it is not JSON.
    """
    if value is None:
        return b""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)).encode()
