"""JSON messages over a socket pair, each with its length before it, up to a bound."""

from __future__ import annotations

import contextlib
import json
import os
import select
import struct
import time
from typing import Any, Final

LARGEST_BYTES: Final = 64 * 1024 * 1024
_SIZE: Final = struct.Struct(">I")


class Talk:
    """One end. What the other one sends is bounded in size and must be a JSON object, or it counts as gone."""

    def __init__(self, number: int, largest_bytes: int = LARGEST_BYTES) -> None:
        self.number, self._largest_bytes = number, largest_bytes
        self._buffer = bytearray()
        os.set_blocking(number, False)

    def say(self, message: dict[str, Any], timeout_s: float | None = None) -> None:
        """Sends a message. Raises BrokenPipeError where nobody reads it within `timeout_s`."""
        data = json.dumps(message).encode()
        view = memoryview(_SIZE.pack(len(data)) + data)
        until = None if timeout_s is None else time.monotonic() + timeout_s
        while view:
            try:
                view = view[os.write(self.number, view) :]
            except BlockingIOError:
                if not select.select([], [self.number], [], _left(until))[1]:
                    raise BrokenPipeError from None

    def hear(self, timeout_s: float | None = None) -> dict[str, Any] | None:
        """The next message; None when the other end is gone, or sends what is no message.

        Raises TimeoutError after `timeout_s`; what has arrived of a message until then is kept for the next call.
        """
        until = None if timeout_s is None else time.monotonic() + timeout_s
        if not self._filled(_SIZE.size, until):
            return None
        size = _SIZE.unpack_from(self._buffer)[0]
        if size > self._largest_bytes or not self._filled(_SIZE.size + size, until):
            return None
        data = bytes(self._buffer[_SIZE.size : _SIZE.size + size])
        del self._buffer[: _SIZE.size + size]
        with contextlib.suppress(ValueError, RecursionError):
            message = json.loads(data)
            if isinstance(message, dict):
                return message
        return None

    def _filled(self, count: int, until: float | None) -> bool:
        """Waits until so many bytes are there; False at the end."""
        while len(self._buffer) < count:
            if not select.select([self.number], [], [], _left(until))[0]:
                raise TimeoutError
            try:
                data = os.read(self.number, 1 << 20)
            except BlockingIOError:
                continue
            except OSError:
                return False
            if not data:
                return False
            self._buffer += data
        return True


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.monotonic())
