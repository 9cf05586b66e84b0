"""Send messages between two processes: notebook and lab, lab and visitor, judge and sandbox.

A message is JSON. It travels in pieces, between which Ctrl-C may come: as frames of a byte stream (`Channel`), or
through the memory of a machine in QEMU (`linklab.guest.qemu_box`).
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import struct
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

FRAME_BYTES = 64 * 1024
LARGEST_BYTES = 64 * 1024 * 1024
"""Upper limit of a received message. A longer one ends the connection, because anything can come out of a lab."""
LARGEST_SENT_BYTES = 60 * 1024 * 1024
"""Upper limit of a message; longer data is split or refused."""
_HEADER = struct.Struct(">BI")
_MORE, _LAST, _DROP = 1, 2, 3
_DROP_LIMIT_S = 15.0

Message = dict[str, Any]

_libc = ctypes.CDLL(None)


class _PollFd(ctypes.Structure):
    """poll(2)'s struct pollfd."""

    _fields_ = (("fd", ctypes.c_int), ("events", ctypes.c_short), ("revents", ctypes.c_short))


class ChannelClosed(Exception):
    """The other side is gone."""


class ChannelTimeout(Exception):
    """Nothing arrived within the time given."""


def cut(message: Message, size_bytes: int) -> list[bytes]:
    """Return a message in pieces of at most ``size_bytes`` bytes."""
    data = json.dumps(message, separators=(",", ":")).encode()
    return [data[start : start + size_bytes] for start in range(0, len(data), size_bytes)]


def joined(pieces: list[bytes]) -> Message:
    """Return the message of all its pieces. Raises `ChannelClosed` for what no program of ours sends."""
    try:
        message = json.loads(b"".join(pieces))
    except (ValueError, RecursionError) as wrong:
        raise ChannelClosed(f"the other side sent no message: {type(wrong).__name__}") from None
    if not isinstance(message, dict):
        raise ChannelClosed("the other side sent no message")
    return message


def send_pieces(
    pieces: list[bytes],
    put: Callable[[bytes, bool], None],
    drop: Callable[[], None],
    between: Callable[[], None] | None,
) -> None:
    """Call ``put`` with each piece, and whether it is the last. ``between`` is called before each; where it raises,
    ``drop`` makes the other side forget the pieces that it has.
    """
    for number, piece in enumerate(pieces, 1):
        try:
            if between is not None:
                between()
        except BaseException:
            if number > 1:
                drop()
            raise
        put(piece, number == len(pieces))


class ClientEnd(Protocol):
    """The notebook's end of the messages to a lab: a `Channel`, or QEMU's box."""

    def send(
        self, message: Message, timeout_s: float | None = None, *, between: Callable[[], None] | None = None
    ) -> None:
        """Send a message, as `Channel.send` does."""

    def receive(self, timeout_s: float | None = None) -> Message:
        """Return the next message. Raises `ChannelClosed`, and `ChannelTimeout` after `timeout_s`."""


class AgentEnd(Protocol):
    """The lab's end of the messages."""

    read_fd: int
    """Becomes readable when something has arrived; with O_ASYNC it sends SIGIO then."""

    def send(self, message: Message) -> None:
        """Send a message."""

    def receive(self) -> Message:
        """Return the next message."""

    def waiting_interrupt(self) -> Message | None:
        """Return the first interrupt that is already here, or None. Never waits."""


class Channel:
    """A two-way message channel over a pair of file descriptors.

    With ``spin=True`` waiting is done by asking again and again instead of blocking. On virtual time that
    is the difference between time standing still (computing takes no time) and time racing to the next timer.
    What is asked is poll(2) with no timeout, by libc and not by Python's `select`: Python would read the clock, and
    a read that finds nothing fails, and both cost a guest virtual time, by which user-mode Linux keeps programs
    that poll from hanging. So waiting costs none however long the other side takes, and the same requests find the
    same time on every machine.

    One thread may send while another one receives, and either direction may be missing (-1).
    """

    def __init__(
        self,
        read_fd: int,
        write_fd: int,
        *,
        spin: bool = False,
        largest_bytes: int = LARGEST_BYTES,
        write_limit_s: float | None = None,
    ) -> None:
        """`largest_bytes` bounds a message that is received. `write_limit_s`: how long the other side may take to read
        what is written, or else it is taken for gone; None waits for ever."""
        self.read_fd, self.write_fd, self.spin = read_fd, write_fd, spin
        self._largest_bytes, self._write_limit_s = largest_bytes, write_limit_s
        self._held_bytes = 0  # of messages that were not taken yet, and of the parts of the next one
        self._buffer = bytearray()
        self._parts: list[bytes] = []
        self._parts_bytes = 0
        self._inbox: deque[tuple[int, Message]] = deque()
        self._asked = ctypes.byref(_PollFd(read_fd, select.POLLIN, 0))
        for fd in {read_fd, write_fd} - {-1}:
            os.set_blocking(fd, False)

    def send(
        self, message: Message, timeout_s: float | None = None, *, between: Callable[[], None] | None = None
    ) -> None:
        """Send a message and return when its last frame is on its way.

        `between` is called before each frame. Where it raises, the other side drops the frames that it has: the stream
        stays whole. Raises `ChannelClosed`, and `ChannelTimeout` if a frame finds no room for `timeout_s`.
        """
        send_pieces(
            cut(message, FRAME_BYTES),
            lambda piece, last: self._send_frame(_LAST if last else _MORE, piece, timeout_s),
            lambda: self._send_frame(_DROP, b"", _DROP_LIMIT_S),
            between,
        )

    def _send_frame(self, kind: int, piece: bytes, timeout_s: float | None) -> None:
        self._write(_HEADER.pack(kind, len(piece)) + piece, timeout_s)

    def receive(self, timeout_s: float | None = None) -> Message:
        """Return the next message. Raises `ChannelTimeout` after `timeout_s` of silence, `ChannelClosed` at the end."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._inbox:
            self._fill(None if deadline is None else max(0.0, deadline - time.monotonic()))
            if deadline is not None and not self._inbox and time.monotonic() > deadline:  # it may never end a message
                raise ChannelTimeout
        return self._take(0)

    def waiting_interrupt(self) -> Message | None:
        """Return the first interrupt that is already here, or None; never waits. Other messages stay for `receive`."""
        interrupt = self._from_inbox()
        if interrupt is None and not (self.spin and self._nothing_waits()):
            self._fill_once()
            interrupt = self._from_inbox()
        return interrupt

    def _from_inbox(self) -> Message | None:
        for number, (_, message) in enumerate(self._inbox):
            if "interrupt" in message:
                return self._take(number)
        return None

    def _take(self, number: int) -> Message:
        size, message = self._inbox[number]
        del self._inbox[number]
        self._held_bytes -= size
        return message

    def _fill(self, timeout_s: float | None) -> None:
        """Wait until at least some bytes arrived."""
        if self.spin:
            while self._nothing_waits():
                pass
            self._fill_once()
            return
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._fill_once():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise ChannelTimeout
            _wait(self.read_fd, select.POLLIN, left)

    def _nothing_waits(self) -> bool:
        return bool(_libc.poll(self._asked, 1, 0) == 0)

    def _fill_once(self) -> bool:
        try:
            data = os.read(self.read_fd, 64 * 1024)
        except BlockingIOError:
            return False
        except OSError as error:
            raise ChannelClosed(str(error)) from None
        if not data:
            raise ChannelClosed("end of stream")
        self._buffer += data
        self._take_frames()
        return True

    def _take_frames(self) -> None:
        while len(self._buffer) >= _HEADER.size:
            kind, size = _HEADER.unpack_from(self._buffer)
            if kind not in (_MORE, _LAST, _DROP):
                raise ChannelClosed("the other side sent no message")
            if self._held_bytes + _HEADER.size + size > self._largest_bytes:
                raise ChannelClosed("the other side sends more than may be held")
            if len(self._buffer) < _HEADER.size + size:
                return
            piece = bytes(self._buffer[_HEADER.size : _HEADER.size + size])
            del self._buffer[: _HEADER.size + size]
            if kind == _DROP:
                self._held_bytes -= self._parts_bytes
                self._parts.clear()
                self._parts_bytes = 0
                continue
            self._parts.append(piece)
            self._parts_bytes += _HEADER.size + size
            self._held_bytes += _HEADER.size + size
            if kind == _LAST:
                self._inbox.append((self._parts_bytes, joined(self._parts)))
                self._parts.clear()
                self._parts_bytes = 0

    def _write(self, data: bytes, timeout_s: float | None) -> None:
        view = memoryview(data)
        start_s: float | None = None  # of waiting: on virtual time a look at the clock moves it on
        while view:
            try:
                view = view[os.write(self.write_fd, view) :]
            except BlockingIOError:
                start_s = time.monotonic() if start_s is None else start_s
                _wait(self.write_fd, select.POLLOUT, 1.0 if timeout_s is None else min(1.0, timeout_s))
                waited_s = time.monotonic() - start_s
                if self._write_limit_s is not None and waited_s > self._write_limit_s:
                    raise ChannelClosed("the other side does not read") from None
                if timeout_s is not None and waited_s > timeout_s:
                    raise ChannelTimeout from None
            except OSError as error:
                raise ChannelClosed(str(error)) from None


def _wait(fd: int, event: int, timeout_s: float | None) -> None:
    """Wait until `fd` can be read or written. select(2) would not do: it takes no number above 1023."""
    poller = select.poll()
    poller.register(fd, event)
    poller.poll(None if timeout_s is None else timeout_s * 1000)
