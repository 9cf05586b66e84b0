"""Note the first bytes of each packet where an interface queues it, and where the other end receives it.

A program of the kernel's own (BPF, attached by tcx) runs for each packet that leaves or enters an interface. It writes
into a ring in memory: no packet is copied, no queue is made, no process wakes, and on virtual time no time passes, for
the kernel runs it where interrupts are held back. A capture by tcpdump would not do: it sees what is sent, so of what
a host's own queue drops there would be no header.

linux/bpf.h; the kernel's Documentation/bpf/standardization/instruction-set.rst, Documentation/bpf/ringbuf.rst.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from typing import Final

from linklab.errors import LabError
from linklab.guest.namespace import Namespace

NOTED_BYTES: Final = 96
"""Bytes kept of each packet: Ethernet, IPv4 and TCP headers with the options of an established connection fit."""
RECORD: Final = struct.Struct(f"=QQII{NOTED_BYTES}s")
"""The packet's address in the kernel's memory, the time in ns, its length, which tap, its first bytes."""
HEADER: Final = struct.Struct("=II")
"""What the kernel's ring has before each record: its length, and a number of no meaning here."""

_SYS_BPF: Final = 321  # x86-64, the only processor of a guest
_MAP_CREATE, _PROG_LOAD, _LINK_CREATE = 0, 5, 28
_RING, _SCHED_CLS = 27, 3
_TCX_INGRESS, _TCX_EGRESS = 46, 47
_PIECE_BYTES: Final = 1 << 20

_libc = ctypes.CDLL(None, use_errno=True)


class HeaderTap:
    """Taps at both sides of interfaces: number ``2 n`` notes what leaves the nth, ``2 n + 1`` what enters it."""

    def __init__(self, interfaces: Sequence[tuple[Namespace, str, bool]], ring_bytes: int) -> None:
        """Begin to note packets. The third part of each interface says whether what enters it is noted, too.

        `ring_bytes` is a power of 2. Raises LabError where the kernel does not know how, or has not so much memory.
        """
        self._open: list[int] = []
        self._ring_bytes = ring_bytes
        try:
            self._ring = self._kept(_bpf(_MAP_CREATE, struct.pack("=IIII", _RING, 0, 0, ring_bytes)))
            for number, (there, name, enters) in enumerate(interfaces):
                index = there.index(name)
                for side, kind in enumerate((_TCX_EGRESS, _TCX_INGRESS)[: 1 + enters]):
                    program = self._kept(_load(_program(self._ring, 2 * number + side)))
                    with there.entered():
                        self._kept(_bpf(_LINK_CREATE, struct.pack("=IIII16x", program, index, kind, 0)))
        except OSError as error:
            self.close()
            if error.errno == errno.ENOMEM:
                raise LabError(
                    "this lab has too little memory left to record: give labs more (LINKLAB_GUEST_MB)"
                ) from None
            raise LabError(
                f"this lab's kernel cannot note packets ({error.strerror}): it must be Linux 6.6 or later with "
                "CONFIG_BPF_SYSCALL, as the lab image's is"
            ) from None

    def _kept(self, descriptor: int) -> int:
        self._open.append(descriptor)
        return descriptor

    def noted(self) -> Iterator[bytes]:
        """Yield all records in pieces, each with the kernel's header of 8 bytes before it. Raises LabError where the
        ring was full.
        """
        page = mmap.PAGESIZE
        with mmap.mmap(self._ring, page + 2 * self._ring_bytes, offset=page, prot=mmap.PROT_READ) as ring:
            (end,) = struct.unpack_from("=Q", ring)
            if end + HEADER.size + RECORD.size >= self._ring_bytes:  # one byte always stays free
                raise LabError(
                    f"more packets passed than the recorder holds "
                    f"({self._ring_bytes // (HEADER.size + RECORD.size):,} notes): record fewer interfaces "
                    "(record=[...]) or a shorter run, or give labs more memory (LINKLAB_GUEST_MB)"
                )
            for at in range(0, end, _PIECE_BYTES):
                yield ring[page + at : page + min(at + _PIECE_BYTES, end)]

    def stop(self) -> None:
        """Take the taps away; the ring stays."""
        while len(self._open) > 1:
            os.close(self._open.pop())

    def close(self) -> None:
        """Give the ring back, too. Called twice it does no harm."""
        self.stop()
        while self._open:
            os.close(self._open.pop())


_CONTEXT, _LENGTH = 6, 7
_FRAME: Final = 10
_LOAD_BYTES, _NOW, _OUTPUT = 26, 5, 130
_NO_WAKEUP: Final = 1
_NEXT: Final = -1


def _program(ring: int, tap: int) -> bytes:
    """Return the program of a tap: address, time, length, tap and first bytes of the packet into the ring."""
    at = -RECORD.size  # the record lies on the stack

    def step(code: int, to: int = 0, of: int = 0, offset: int = 0, value: int = 0) -> bytes:
        return struct.pack("=BBhi", code, to | of << 4, offset, value)

    move, move_register, add, call, leave = 0xB7, 0xBF, 0x07, 0x85, 0x95
    store_64, store_32_register, store_64_register, load_32 = 0x7A, 0x63, 0x7B, 0x61
    zeros = [step(store_64, _FRAME, offset=offset) for offset in range(at + 24, 0, 8)]
    return b"".join([
        step(move_register, _CONTEXT, 1),
        step(load_32, _LENGTH, _CONTEXT),  # struct __sk_buff's first field
        *zeros,
        step(store_64_register, _FRAME, _CONTEXT, at),
        step(call, value=_NOW),
        step(store_64_register, _FRAME, 0, at + 8),
        step(store_32_register, _FRAME, _LENGTH, at + 16),
        step(move, 1, value=tap),
        step(store_32_register, _FRAME, 1, at + 20),
        # as many bytes as there are, NOTED_BYTES at most; a packet without any is not noted
        step(move_register, 4, _LENGTH),
        step(0xB5, 4, offset=1, value=NOTED_BYTES),  # if r4 <= value skip one
        step(move, 4, value=NOTED_BYTES),
        step(0x15, 4, offset=12, value=0),  # if r4 == 0 go to the end
        step(move_register, 1, _CONTEXT),
        step(move, 2),
        step(move_register, 3, _FRAME),
        step(add, 3, value=at + 24),
        step(call, value=_LOAD_BYTES),
        step(0x18, 1, 1, value=ring),  # r1 = the ring, in two instructions
        step(0),
        step(move_register, 2, _FRAME),
        step(add, 2, value=at),
        step(move, 3, value=RECORD.size),
        step(move, 4, value=_NO_WAKEUP),
        step(call, value=_OUTPUT),
        step(move, 0, value=_NEXT),
        step(leave),
    ])  # fmt: skip


def _load(program: bytes) -> int:
    text, licence = ctypes.create_string_buffer(program), ctypes.create_string_buffer(b"MIT")
    head = struct.pack("=IIQQ", _SCHED_CLS, len(program) // 8, ctypes.addressof(text), ctypes.addressof(licence))
    return _bpf(_PROG_LOAD, head + bytes(48))


def _bpf(command: int, attributes: bytes) -> int:
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    found = int(_libc.syscall(_SYS_BPF, command, buffer, len(attributes)))
    if found < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return found
