"""The host's end of the box in a guest's memory (`linklab.guest.qemu_box`), read and written by GDB's protocol."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from linklab.guest import qemu_box as box
from linklab.guest.channel import LARGEST_BYTES, ChannelClosed, ChannelTimeout, Message, cut, joined, send_pieces
from linklab.guest.qemu_folder import LARGEST_CHANGE_BYTES, no_files
from linklab.runtime.qemu.gdb import RESTING, Gdb

_MOST_BYTES: Final = LARGEST_BYTES + 2 * LARGEST_CHANGE_BYTES
"""More than a message and the files that come with it, in base64: who sends that may have made it up."""


class HostBox:
    """The host's end, with the methods of a `linklab.guest.channel.Channel` that a client calls."""

    def __init__(self, gdb: Gdb) -> None:
        """Take a machine that runs, or that rests for its first request: `await_request` is to be called next."""
        self._gdb = gdb
        self._address = 0
        self._resting = self._rests_early = False
        self._parts: list[bytes] = []
        self.before_request: Callable[[Message], None] = no_files
        self.after_message: Callable[[Message], None] = no_files

    def await_request(self, timeout_s: float) -> None:
        """Return when the guest wants a request. Raises `ChannelTimeout` where it does not within `timeout_s`."""
        self._gdb.await_stop(timeout_s)
        self.find()

    def find(self) -> None:
        """Find the box of a machine that rests for a request."""
        self._gdb.use_physical_addresses()
        self._address = self._gdb.first_argument()
        if self._word(box.FROM_GUEST_WORD) != box.word(box.ASK):
            raise ChannelClosed("the machine stopped without asking for a request")
        self._resting = True

    def send(
        self, message: Message, timeout_s: float | None = None, *, between: Callable[[], None] | None = None
    ) -> None:
        """Give the guest a message and let it go on; one that runs is stopped for it, as an interrupt needs.

        `between` is called before each part. Where it raises, the guest forgets the parts it has.
        Raises `ChannelClosed`, and `ChannelTimeout` if a part is not read within `timeout_s`.
        """
        if not self._resting:  # only an interrupt comes then
            self._send_running(cut(message, box.PART_BYTES)[0])
            return
        message = dict(message)
        self.before_request(message)

        def put(part: bytes, last: bool) -> None:
            self._put(box.LAST if last else box.PART, part)
            if not last:
                self._await_asking(timeout_s)

        def drop() -> None:
            self._put(box.DROP, b"")
            self._await_asking(timeout_s)

        send_pieces(cut(message, box.PART_BYTES), put, drop, between)

    def receive(self, timeout_s: float | None = None) -> Message:
        """Return the guest's next message. Raises `ChannelTimeout` after `timeout_s` without one."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left_s = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._rests_early and self._gdb.await_stop(left_s) != RESTING:
                raise ChannelClosed("the machine was stopped by somebody else")
            self._rests_early = False
            message = self._taken()
            if message is not None:
                self.after_message(message)
                return message
            if deadline is not None and time.monotonic() > deadline:  # it may never end a message
                raise ChannelTimeout

    def _taken(self) -> Message | None:
        """Take what the guest has put down, and let it go on unless it waits for a request."""
        kind, length = box.unword(self._word(box.FROM_GUEST_WORD))
        if kind not in (box.PART, box.LAST, box.ASK, box.LAST_ASK) or length > box.PART_BYTES:
            raise ChannelClosed("the lab sent no message")
        if sum(map(len, self._parts)) + length > _MOST_BYTES:
            raise ChannelClosed("the lab sends more than may be held")
        if kind in (box.PART, box.LAST, box.LAST_ASK):
            self._parts.append(self._gdb.read(self._address + box.FROM_GUEST_AT, length))
        if kind in (box.ASK, box.LAST_ASK):
            self._resting = True
        else:
            self._go_on()
        if kind in (box.PART, box.ASK):
            return None
        message = joined(self._parts)
        self._parts.clear()
        return message

    def _put(self, kind: int, part: bytes) -> None:
        self._gdb.write(self._address + box.TO_GUEST_AT, part)
        self._set(box.TO_GUEST_WORD, box.word(kind, len(part)))
        self._resting = False
        self._go_on()

    def _go_on(self) -> None:
        """Let a machine that rests go on, and say that what it had put down was taken."""
        self._set(box.FROM_GUEST_WORD, 0)
        self._gdb.go_on()

    def _await_asking(self, timeout_s: float | None) -> None:
        self._gdb.await_stop(timeout_s)
        if self._taken() is not None or not self._resting:
            raise ChannelClosed("the lab answers before it was asked")

    def _send_running(self, part: bytes) -> None:
        """Stop the machine, put an interrupt down, and ring. Where the guest rested meanwhile `receive` sees it.

        QEMU may say that it was asked to stop though the guest rests by now: the guest then rests once more.
        """
        self._gdb.stop()
        if self._gdb.await_stop(None) == RESTING:
            self._rests_early = True
            return
        if self._word(box.TO_GUEST_WORD) == 0:
            self._gdb.write(self._address + box.TO_GUEST_AT, part)
            self._set(box.TO_GUEST_WORD, box.word(box.LAST, len(part)))
            self._gdb.monitor("nmi")
        self._gdb.go_on()

    def _word(self, at: int) -> int:
        return int(box.WORD.unpack(self._gdb.read(self._address + at, box.WORD.size))[0])

    def _set(self, at: int, value: int) -> None:
        self._gdb.write(self._address + at, box.WORD.pack(value))
