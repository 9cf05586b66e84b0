"""The first process in QEMU's guest: makes it a place where Mininet can work, waits for the first request, which is
where a snapshot is taken, and answers requests from there on.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import struct
from collections import deque
from pathlib import Path
from typing import Final

from linklab.guest import boot
from linklab.guest import qemu_box as box
from linklab.guest.agent import become_init
from linklab.guest.channel import Message, cut, joined
from linklab.guest.qemu_folder import Folders, no_files
from linklab.guest.request_loop import RequestLoop, serve, wait_until_mature

DEVICE: Final = "/dev/linklab"
_IOCTL_REST: Final = 0
_RNDADDENTROPY: Final = 0x4008_5203
_RB_AUTOBOOT: Final = 0x01234567
"""QEMU ends at a reboot (``-no-reboot``); microvm cannot be switched off."""
_LOADED: Final = (
    "base64", "json", "pickle", "mininet.net", "mininet.cli", "linklab.guest.lab_api", "linklab.guest.build",
    "linklab.guest.foreground", "linklab.guest.hang_report", "encodings.idna",
)  # fmt: skip
"""What would be loaded by the first requests of every lab otherwise."""


class GuestBox:
    """The guest's end of the box, with the methods of a `linklab.guest.channel.Channel` that an agent calls."""

    def __init__(self) -> None:
        self.read_fd = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
        self._inbox: deque[Message] = deque()
        self._parts: list[bytes] = []
        self._answer_waits = False
        self.after_request = no_files
        self.before_answer = no_files

    def send(self, message: Message) -> None:
        """Put a message into the box. The host takes an event at once, an answer when the guest waits for the next
        request."""
        if "event" not in message:
            self.before_answer(message)
        parts = cut(message, box.PART_BYTES)
        for part in parts[:-1]:
            self._put(box.PART, part)
            self._rest()
        self._answer_waits = "event" not in message
        self._put(box.LAST_ASK if self._answer_waits else box.LAST, parts[-1])
        if not self._answer_waits:
            self._rest()

    def receive(self) -> Message:
        """Return the next request. The machine rests until there is one."""
        while not self._inbox:
            if self._taken():
                continue
            if not self._answer_waits:
                os.pwrite(self.read_fd, box.WORD.pack(box.word(box.ASK)), box.FROM_GUEST_WORD)
            self._answer_waits = False
            self._rest()
        message = self._inbox.popleft()
        if "interrupt" not in message:
            self.after_request(message)
        return message

    def waiting_interrupt(self) -> Message | None:
        """Return the first interrupt that is already here, or None. Never waits."""
        self._taken()
        for number, message in enumerate(self._inbox):
            if "interrupt" in message:
                del self._inbox[number]
                return message
        return None

    def _taken(self) -> bool:
        """Take what the host has put into the box; return False if that is nothing."""
        if not self._word(box.TO_GUEST_WORD):
            return False
        kind, length = box.unword(
            self._word(box.TO_GUEST_WORD)
        )  # an interrupt may have come between two bytes of the first
        if kind == box.DROP:
            self._parts.clear()
        else:
            self._parts.append(os.pread(self.read_fd, length, box.TO_GUEST_AT))
        os.pwrite(self.read_fd, box.WORD.pack(0), box.TO_GUEST_WORD)
        if kind == box.LAST:
            self._inbox.append(joined(self._parts))
            self._parts.clear()
        return True

    def _put(self, kind: int, part: bytes) -> None:
        os.pwrite(self.read_fd, part, box.FROM_GUEST_AT)
        os.pwrite(self.read_fd, box.WORD.pack(box.word(kind, len(part))), box.FROM_GUEST_WORD)

    def _rest(self) -> None:
        """Stop the machine until the host has taken what lies there. An interrupt that comes at this very moment
        lets the machine go on before that.
        """
        while self._word(box.FROM_GUEST_WORD):
            fcntl.ioctl(self.read_fd, _IOCTL_REST)

    def _word(self, at: int) -> int:
        return int(box.WORD.unpack(os.pread(self.read_fd, box.WORD.size, at))[0])


def start() -> None:
    """Mount what every Linux has, and set what every lab has."""
    boot.mount_usual("")
    for where, options in (("/tmp", "size=40%,mode=1777"), ("/var/tmp", "size=10%,mode=1777")):
        boot.mount("tmpfs", where, "tmpfs", 2, options)
    have_entropy()
    boot.configure_kernel(None)


def have_entropy() -> None:
    """Tell the kernel that its random numbers are good; they come from the lab's seed anyway.

    It has no source of entropy, and the first program that asks for some would have it wait for 256 ticks of the clock
    in a busy loop.
    """
    with open("/dev/urandom", "wb") as device:
        fcntl.ioctl(device, _RNDADDENTROPY, struct.pack("ii32x", 256, 32))


def warm_up() -> None:
    """Load what is slow to load, so that a snapshot has it. No network is used: the kernel draws some random numbers
    once for all connections, at the first, and these are to come from the lab's seed.
    """
    for name in _LOADED:
        importlib.import_module(name)


def main() -> None:
    """``python -m linklab.guest.qemu_agent``, as process 1."""
    os.environ.pop("PYTHONPATH", None)  # for this process, not for what runs on the hosts
    start()
    become_init(_RB_AUTOBOOT)
    boot.exact_timers()
    boot.set_date()
    warm_up()
    wait_until_mature()
    channel = GuestBox()
    first = channel.receive()  # the snapshot is taken here
    files = Folders(Path(first["folder"]) if first["folder"] else None, map(Path, first["reads"]), "lab")
    files.take(first)
    channel.after_request, channel.before_answer = files.take, files.give_back
    os.chdir(first["folder"] or "/")
    serve(RequestLoop(channel, first["seed"]))


if __name__ == "__main__":
    main()
