"""Messages in the guest's memory: a box of 4 MB that the host reads and writes while the machine is stopped.

The guest stops its machine by itself (`rest.patch`): at an event, which the host takes before it lets the machine go
on, and when it wants the next request. So no message arrives while the guest runs, and the moment of none can show in
a measurement's digits. Only an interrupt stops a machine that runs.

At the box's start are two words, for each direction one: what lies there and how long it is, 0 for nothing. Whoever
reads a message sets its word to 0, and the guest stops its machine again and again until the host has read.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Final

from linklab.runtime.channel import LARGEST_BYTES, ChannelClosed, Message
from linklab.runtime.qemu.folder import LARGEST_CHANGE_BYTES, no_files
from linklab.runtime.qemu.gdb import RESTING, Gdb

TO_GUEST_WORD: Final = 0
FROM_GUEST_WORD: Final = 4
TO_GUEST_AT: Final = 0x1000
FROM_GUEST_AT: Final = 0x20_0000
PART_BYTES: Final = FROM_GUEST_AT - TO_GUEST_AT
"""A longer message comes in parts."""
WORD: Final = struct.Struct("<I")
_LENGTH: Final = 0xFFF_FFFF
_MOST_BYTES: Final = LARGEST_BYTES + 2 * LARGEST_CHANGE_BYTES
"""More than a message and the files that come with it, in base64: who sends that may have made it up."""
PART, LAST, DROP, ASK, LAST_ASK = range(1, 6)
"""A part of a message; its last one; forget the parts that came; nothing but a wish for the next request; both."""


def word(kind: int, length: int = 0) -> int:
    """Return what is written where a message lies."""
    return kind << 28 | length


def unword(value: int) -> tuple[int, int]:
    """Return the kind of a message, and its length."""
    return value >> 28, value & _LENGTH


def encoded(message: Message) -> list[bytes]:
    """Return a message in parts that fit."""
    data = json.dumps(message, separators=(",", ":")).encode()
    return [data[start : start + PART_BYTES] for start in range(0, len(data), PART_BYTES)]


def decoded(parts: list[bytes]) -> Message:
    """Return the message of all its parts. Raises `ChannelClosed` for what is none: no guest of ours sends that."""
    try:
        message = json.loads(b"".join(parts))
    except (ValueError, RecursionError) as wrong:
        raise ChannelClosed(f"the lab sent no message: {type(wrong).__name__}") from None
    if not isinstance(message, dict):
        raise ChannelClosed("the lab sent no message")
    return message


class HostBox:
    """The host's end, with the methods of a `linklab.runtime.channel.Channel` that a client calls."""

    def __init__(self, gdb: Gdb) -> None:
        """Takes a machine that runs, or that rests for its first request: `await_request` is to be called next."""
        self._gdb = gdb
        self._address = 0
        self._resting = self._rests_early = False
        self._parts: list[bytes] = []
        self.before_request: Callable[[Message], None] = no_files
        self.after_message: Callable[[Message], None] = no_files

    def await_request(self, timeout_s: float) -> None:
        """Returns when the guest wants a request. Raises `ChannelTimeout` where it does not within `timeout_s`."""
        self._gdb.await_stop(timeout_s)
        self.find()

    def find(self) -> None:
        """Finds the box of a machine that rests for a request."""
        self._gdb.use_physical_addresses()
        self._address = self._gdb.first_argument()
        if self._word(FROM_GUEST_WORD) != word(ASK):
            raise ChannelClosed("the machine stopped without asking for a request")
        self._resting = True

    def send(
        self, message: Message, timeout_s: float | None = None, *, between: Callable[[], None] | None = None
    ) -> None:
        """Gives the guest a message and lets it go on; one that runs is stopped for it, as an interrupt needs.

        `between` is called before each part. Where it raises, the guest forgets the parts it has.
        Raises `ChannelClosed`, and `ChannelTimeout` if a part is not read within `timeout_s`.
        """
        if not self._resting:  # only an interrupt comes then
            self._send_running(encoded(message)[0])
            return
        message = dict(message)
        self.before_request(message)
        parts = encoded(message)
        for number, part in enumerate(parts):
            try:
                if between is not None:
                    between()
            except BaseException:
                if number:
                    self._put(DROP, b"")
                    self._await_asking(timeout_s)
                raise
            if part is parts[-1]:
                self._put(LAST, part)
                return
            self._put(PART, part)
            self._await_asking(timeout_s)

    def receive(self, timeout_s: float | None = None) -> Message:
        """Returns the guest's next message. Raises `ChannelTimeout` after `timeout_s` without one."""
        while True:
            if not self._rests_early and self._gdb.await_stop(timeout_s) != RESTING:
                raise ChannelClosed("the machine was stopped by somebody else")
            self._rests_early = False
            message = self._taken()
            if message is not None:
                self.after_message(message)
                return message

    def _taken(self) -> Message | None:
        """Takes what the guest has put down, and lets it go on unless it waits for a request."""
        kind, length = unword(self._word(FROM_GUEST_WORD))
        if kind not in (PART, LAST, ASK, LAST_ASK) or length > PART_BYTES:
            raise ChannelClosed("the lab sent no message")
        if sum(map(len, self._parts)) + length > _MOST_BYTES:
            raise ChannelClosed("the lab sends more than may be held")
        if kind in (PART, LAST, LAST_ASK):
            self._parts.append(self._gdb.read(self._address + FROM_GUEST_AT, length))
        if kind in (ASK, LAST_ASK):
            self._resting = True
        else:
            self._go_on()
        if kind in (PART, ASK):
            return None
        message = decoded(self._parts)
        self._parts.clear()
        return message

    def _put(self, kind: int, part: bytes) -> None:
        self._gdb.write(self._address + TO_GUEST_AT, part)
        self._set(TO_GUEST_WORD, word(kind, len(part)))
        self._resting = False
        self._go_on()

    def _go_on(self) -> None:
        """Lets a machine that rests go on, and says that what it had put down was taken."""
        self._set(FROM_GUEST_WORD, 0)
        self._gdb.go_on()

    def _await_asking(self, timeout_s: float | None) -> None:
        self._gdb.await_stop(timeout_s)
        if self._taken() is not None or not self._resting:
            raise ChannelClosed("the lab answers before it was asked")

    def _send_running(self, part: bytes) -> None:
        """Stops the machine, puts an interrupt down, and rings. Where the guest rested meanwhile `receive` sees it.

        QEMU may say that it was asked to stop though the guest rests by now: the guest then rests once more.
        """
        self._gdb.stop()
        if self._gdb.await_stop(None) == RESTING:
            self._rests_early = True
            return
        if self._word(TO_GUEST_WORD) == 0:
            self._gdb.write(self._address + TO_GUEST_AT, part)
            self._set(TO_GUEST_WORD, word(LAST, len(part)))
            self._gdb.monitor("nmi")
        self._gdb.go_on()

    def _word(self, at: int) -> int:
        return int(WORD.unpack(self._gdb.read(self._address + at, WORD.size))[0])

    def _set(self, at: int, value: int) -> None:
        self._gdb.write(self._address + at, WORD.pack(value))
