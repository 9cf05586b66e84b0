"""Let packets leave an interface at the instants of a trace.

All that leaves the interface is known when it comes to the queue: the trace, and how many bytes were let in before. So
a program of the kernel's (eBPF) computes for each packet when it will leave, and the kernel's ``fq`` lets it go then.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Sequence
from types import FrameType

from linklab.guest.programs.common import act, sleeper, start_at

OPPORTUNITY_BYTES = 1500
"""Bytes of IP packets that may leave at one instant of a trace."""
_NS_PER_MS = 1_000_000
_HTB, _CLASS = "5:", "5:2"
_CLASS_NUMBER = 0x50002
_ETHERNET_BYTES, _ARP = 14, 0x0608
_MAP_CREATE, _MAP_LOOKUP, _MAP_UPDATE, _PROGRAM_LOAD, _LINK_CREATE, _BPF_CALL = 0, 1, 2, 5, 28, 321  # linux/bpf.h
_ARRAY, _SCHED_CLS, _TCX_EGRESS = 2, 3, 47
_STATE = struct.Struct("=7Q")
"""What the kernel's program knows and counts, at the beginning of its memory: the first byte of the trace that is not
taken; the instant of the trace's start; the link's delay in ns; how many bytes may wait; and bytes and packets let in,
and packets dropped."""
_NEXT, _BEGIN, _DELAY, _LIMIT, _BYTES, _PACKETS, _DROPPED = range(0, _STATE.size, 8)


def vary(
    gate: str, later_ns: int, lasts_ns: int, end: tuple[int, str], delay_ns: int, queue_packets: int, trace: str
) -> None:
    """Have an interface follow a trace for `lasts_ns`. `end` is a process in the node's namespace, and the interface;
    `trace` a file with an instant in ms a line.
    """
    signal.signal(signal.SIGTERM, _stop)
    process, interface = end
    if ctypes.CDLL(None).setns(os.open(f"/proc/{process}/ns/net", os.O_RDONLY), 0):  # Python has it from 3.12 on
        raise SystemExit(f"the namespace of {interface} cannot be entered")
    with open(trace) as file:
        link = VaryingLink(interface, [int(line) for line in file], delay_ns, queue_packets)
    sleep_until = sleeper()
    began_ns = ended_ns = 0
    try:
        began_ns = start_at(gate, later_ns)
        sleep_until(began_ns)
        link.begin(began_ns)
        sleep_until(began_ns + lasts_ns)
    except KeyboardInterrupt:
        pass
    finally:
        ended_ns = time.monotonic_ns()
        link.detach()
        with contextlib.suppress(KeyboardInterrupt):
            sleep_until(ended_ns + delay_ns)  # what has left the queue arrives
        counts = link.end()
    told = {"began_at_s": began_ns / 1e9, "ended_at_s": ended_ns / 1e9, "interface": interface}
    print(json.dumps(told | counts))


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class VaryingLink:
    """An interface of this process's network namespace that follows a trace, from `begin` to `end`.

    The interface needs the token bucket of a Mininet link, HTB, as its root. Packets take a class of their own there
    meanwhile, and netem's delay, loss and queue do not see them: each packet leaves `delay_ns` after its instant, and
    one that finds `queue_packets` times 1500 bytes before it is dropped. ARP goes by as before.
    """

    def __init__(self, interface: str, opportunities_ms: Sequence[int], delay_ns: int, queue_packets: int) -> None:
        """Prepare; nothing changes yet. Raises SystemExit with what tc or the kernel says."""
        self._interface, self._delay_ns = interface, delay_ns
        self._queue_bytes = queue_packets * OPPORTUNITY_BYTES
        self._tables = _tables(opportunities_ms)
        self._map = _bpf(_MAP_CREATE, struct.pack("=IIII", _ARRAY, 4, len(self._tables), 1))
        self._program = self._link = -1
        self._program = _loaded(_code(self._map, opportunities_ms[-1], len(opportunities_ms)))
        _tc(f"class add dev {interface} parent {_HTB} classid {_CLASS} htb rate 32gbit burst 1gb")
        try:
            # one queue for all flows, which forgets no packet, however late it leaves, and leaves at no other instant
            _tc(
                f"qdisc add dev {interface} parent {_CLASS} fq limit 1000000 flow_limit 1000000 orphan_mask 0 "
                "nopacing timer_slack 0 horizon 4000s horizon_drop"
            )
        except SystemExit:
            self.end()
            raise

    def begin(self, at_ns: int) -> None:
        """Let packets leave by the trace, whose start is this instant of the monotonic clock."""
        _STATE.pack_into(self._tables, 0, 0, at_ns, self._delay_ns, self._queue_bytes, 0, 0, 0)
        self._exchange(_MAP_UPDATE)
        where = socket.if_nametoindex(self._interface)
        self._link = _bpf(_LINK_CREATE, struct.pack("=IIII16x", self._program, where, _TCX_EGRESS, 0))

    def detach(self) -> None:
        """Have packets take the link's own queue again from now on."""
        if self._link >= 0:
            os.close(self._link)
            self._link = -1

    def end(self) -> dict[str, int]:
        """Have the interface as it was before. What still waits is lost. Return what passed, and what was dropped."""
        self.detach()
        _tc(f"class delete dev {self._interface} classid {_CLASS}")
        self._exchange(_MAP_LOOKUP)
        *_, passed_bytes, passed_packets, dropped_packets = _STATE.unpack_from(self._tables)
        for place in (self._program, self._map):
            os.close(place)
        return {
            "passed_bytes": passed_bytes,
            "passed_packets": passed_packets,
            "dropped_packets": dropped_packets,
        }

    def _exchange(self, command: int) -> None:
        """Copy what the kernel's program knows, into the kernel or out of it."""
        key = ctypes.c_uint32(0)
        value = (ctypes.c_char * len(self._tables)).from_buffer(self._tables)
        _bpf(command, struct.pack("=IxxxxQQQ", self._map, ctypes.addressof(key), ctypes.addressof(value), 0))


def _tables(opportunities_ms: Sequence[int]) -> bytearray:
    """Return the memory of the kernel's program: its state, for each ms of a period how many instants came before, and
    all instants.
    """
    before, number = [], 0
    for at_ms in range(opportunities_ms[-1] + 1):
        while opportunities_ms[number] < at_ms:
            number += 1
        before.append(number)
    words = (*before, *opportunities_ms)
    return bytearray(_STATE.size) + struct.pack(f"={len(words)}I", *words)


def _code(memory: int, period_ms: int, opportunities: int) -> bytes:
    """Return the program that sets when a packet leaves; `memory` is the descriptor of its map.

    All bytes that the trace lets go are numbered from 0, 1500 for each instant. A packet takes the next ones that no
    packet has taken and whose instant has not passed, and leaves with the last of them.
    """
    packet, state, cycle, at, first = 6, 7, 9, 8, 3
    code = _Code()
    code.move(packet, 1)
    code.load(1, packet, 16, _WORD)  # its protocol
    code.jump_if(_EQUAL, 1, _ARP, "out")
    code.call(_NOW_NS)
    code.memory(state, memory, 0)
    code.load(1, state, _BEGIN)
    code.do(_SUB, 0, register=1)
    code.jump_if(_SIGNED_GREATER, 0, -1, "begun")
    code.set(0, 0)
    code.label("begun")
    code.do(_ADD, 0, _NS_PER_MS - 1)
    code.do(_DIV, 0, _NS_PER_MS)
    code.move(at, 0)  # the first ms that has not passed
    code.set(cycle, 0)
    code.jump_if(_EQUAL, at, 0, "first period")
    code.move(cycle, at)
    code.do(_SUB, cycle, 1)
    code.do(_DIV, cycle, period_ms)
    code.label("first period")
    code.move(2, cycle)
    code.do(_MUL, 2, period_ms)
    code.do(_SUB, at, register=2)
    code.jump_if(_GREATER, at, period_ms, "out")  # never: but the kernel wants to be sure
    code.do(_SHIFT, at, 2)
    code.memory(first, memory, _STATE.size)
    code.do(_ADD, first, register=at)
    code.load(first, first, 0, _WORD)
    code.do(_MUL, cycle, opportunities)
    code.do(_ADD, cycle, register=first)
    code.do(_MUL, cycle, OPPORTUNITY_BYTES)  # the first byte that may still leave
    code.load(4, state, _NEXT)
    code.jump_if(_NOT_LESS, 4, None, "waits", register=cycle)
    code.move(4, cycle)
    code.label("waits")
    code.move(5, 4)
    code.do(_SUB, 5, register=cycle)
    code.load(1, state, _LIMIT)
    code.jump_if(_NOT_LESS, 5, None, "drop", register=1)
    code.load(5, packet, 0, _WORD)  # its length
    code.do(_SUB, 5, _ETHERNET_BYTES)
    code.count(state, _BYTES, register=5)
    code.count(state, _PACKETS)
    code.do(_ADD, 4, register=5)
    code.store(state, _NEXT, 4)
    code.do(_SUB, 4, 1)
    code.do(_DIV, 4, OPPORTUNITY_BYTES)
    code.move(1, 4)
    code.do(_DIV, 1, opportunities)
    code.move(2, 1)
    code.do(_MUL, 2, opportunities)
    code.do(_SUB, 4, register=2)
    code.jump_if(_GREATER, 4, opportunities - 1, "out")  # never
    code.do(_SHIFT, 4, 2)
    code.memory(2, memory, _STATE.size + 4 * (period_ms + 1))
    code.do(_ADD, 2, register=4)
    code.load(4, 2, 0, _WORD)
    code.do(_MUL, 1, period_ms)
    code.do(_ADD, 4, register=1)
    code.do(_MUL, 4, _NS_PER_MS)
    for what in (_BEGIN, _DELAY):
        code.load(1, state, what)
        code.do(_ADD, 4, register=1)
    code.jump("set")
    code.label("drop")
    code.count(state, _DROPPED)
    code.set(4, 1)
    code.do(_SHIFT, 4, 62)  # so late that fq drops it, and counts it
    code.label("set")
    code.store(packet, 152, 4)  # when it leaves
    code.set(1, _CLASS_NUMBER)
    code.store(packet, 32, 1, _WORD)  # its priority, by which HTB chooses the class
    code.label("out")
    code.set(0, -1)  # go on
    return code.finished()


_ADD, _SUB, _MUL, _DIV, _SHIFT, _MOVE = 0x00, 0x10, 0x20, 0x30, 0x60, 0xB0
_EQUAL, _GREATER, _NOT_LESS, _SIGNED_GREATER = 0x10, 0x20, 0x30, 0x60
_WORD, _DOUBLE = 0x00, 0x18
_NOW_NS = 5


class _Code:
    """Instructions of a program of the kernel's, as linux/bpf.h has them, with labels that come later."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, int, int, int]] = []
        self._labels: dict[str, int] = {}
        self._jumps: dict[int, str] = {}

    def do(self, operation: int, to: int, number: int = 0, *, register: int | None = None) -> None:
        """Compute with a register of 64 bits, and a number or another register."""
        source = 0 if register is None else 0x08
        self._add(0x07 | operation | source, to, register or 0, number=number)

    def move(self, to: int, register: int) -> None:
        """Copy a register."""
        self.do(_MOVE, to, register=register)

    def set(self, to: int, number: int) -> None:
        """Set a register to a number."""
        self.do(_MOVE, to, number)

    def load(self, to: int, place: int, offset: int, size: int = _DOUBLE) -> None:
        """Load from the memory that a register points to."""
        self._add(0x61 | size, to, place, offset)

    def store(self, place: int, offset: int, register: int, size: int = _DOUBLE) -> None:
        """Store to it."""
        self._add(0x63 | size, place, register, offset)

    def count(self, place: int, offset: int, *, register: int | None = None) -> None:
        """Add a register, or 1, to a number in memory. Register 1 is used."""
        self.load(1, place, offset)
        self.do(_ADD, 1, 0 if register else 1, register=register)
        self.store(place, offset, 1)

    def memory(self, to: int, descriptor: int, offset: int) -> None:
        """Have a register point into a map's only value."""
        self._add(0x18, to, 2, number=descriptor)
        self._add(0, 0, 0, number=offset)

    def call(self, helper: int) -> None:
        """Call a function of the kernel's; its answer is in register 0."""
        self._add(0x85, 0, 0, number=helper)

    def jump_if(self, what: int, one: int, number: int | None, label: str, *, register: int = 0) -> None:
        """Go to a label if a register compares so with a number, or another register."""
        self._jumps[len(self._parts)] = label
        self._add(0x05 | what | (0x08 if number is None else 0), one, register, number=number or 0)

    def jump(self, label: str) -> None:
        """Go to a label."""
        self.jump_if(0, 0, 0, label)

    def label(self, name: str) -> None:
        """Name this place."""
        self._labels[name] = len(self._parts)

    def finished(self) -> bytes:
        """End the program, and return it."""
        self._add(0x95, 0, 0)
        for place, name in self._jumps.items():
            code, registers, _, number = self._parts[place]
            self._parts[place] = code, registers, self._labels[name] - place - 1, number
        return b"".join(struct.pack("=BBhi", *part) for part in self._parts)

    def _add(self, code: int, to: int, source: int, offset: int = 0, number: int = 0) -> None:
        self._parts.append((code, to | source << 4, offset, number))


def _loaded(code: bytes) -> int:
    held, licence = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(b"MIT")
    head = struct.pack("=IIQQ", _SCHED_CLS, len(code) // 8, ctypes.addressof(held), ctypes.addressof(licence))
    return _bpf(_PROGRAM_LOAD, head + bytes(48))


def _bpf(command: int, attributes: bytes) -> int:
    call: Callable[..., int] = ctypes.CDLL(None, use_errno=True).syscall
    found = call(_BPF_CALL, command, ctypes.create_string_buffer(attributes, len(attributes)), len(attributes))
    if found < 0:
        raise SystemExit(f"this lab's kernel cannot vary a link: {os.strerror(ctypes.get_errno())}")
    return found


def _tc(words: str) -> None:
    done = subprocess.run(["tc", *words.split()], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"tc {words} failed: {' '.join((done.stderr or done.stdout).split())}")


if __name__ == "__main__":
    act(vary)
