"""Cut cables at a planned instant, and heal them at another one."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from types import FrameType

from linklab.guest.programs.common import act, sleeper, start_at

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_REQUEST = struct.Struct("@16sH14x")  # struct ifreq of linux/if.h: an interface's name and its flags
_TYPED = ("static", "boot")
"""Whose routes come back: Linklab's own, and those that somebody typed. A daemon makes its own anew."""
_BPF_CALL, _PROGRAM_LOAD, _LINK_CREATE = 321, 5, 28  # linux/bpf.h; the number of the call is x86-64's
_SCHED_CLS, _TCX_INGRESS = 3, 46
_DROP_ALL = struct.pack("=BBhiBBhi", 0xB7, 0, 0, 2, 0x95, 0, 0, 0)
"""Two instructions: return 2, which is TCX_DROP."""


def cut(gate: str, later_ns: int, lasts_ns: int, silent: bool, ends: list[tuple[int, str]]) -> None:
    """Cut cables for `lasts_ns`. `ends` are all their ends: a process in the node's namespace, and the interface.

    A `silent` cut loses each frame where it would arrive, and no interface notices. Any other cut sets interfaces down.
    """
    signal.signal(signal.SIGTERM, _stop)
    places = [_End(process, interface) for process, interface in ends]
    sleep_until = sleeper()
    begin_ns = start_at(gate, later_ns)
    with contextlib.suppress(KeyboardInterrupt):
        sleep_until(begin_ns)
        cut_ns = time.monotonic_ns()
        for place in places:
            place.lose_frames() if silent else place.set_up(up=False)
        sleep_until(begin_ns + lasts_ns)
    healed_ns = time.monotonic_ns()
    for place in places:
        place.stop_losing() if silent else place.set_up(up=True)
    if not silent:
        for place in places:
            place.restore_routes()
    names = [interface for _, interface in ends]
    print(json.dumps({"cut_at_s": cut_ns / 1e9, "healed_at_s": healed_ns / 1e9, "interfaces": names}))


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class _End:
    """One end of a cable, with what is needed to cut and heal it."""

    def __init__(self, process: int, interface: str) -> None:
        self._namespace, self._name = os.open(f"/proc/{process}/ns/net", os.O_RDONLY), interface
        self._losing: list[int] = []
        self._enter()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._routes = [os.memfd_create(by) for by in _TYPED]
        for by, file in zip(_TYPED, self._routes, strict=True):
            subprocess.run(["ip", "-4", "route", "save", "proto", by], stdout=file, check=True)

    def _enter(self) -> None:
        if ctypes.CDLL(None).setns(self._namespace, 0):  # Python has it from 3.12 on
            raise SystemExit(f"the namespace of {self._name} cannot be entered")

    def set_up(self, *, up: bool) -> None:
        """Set the interface up or down. The other end's interface loses its carrier with it."""
        _, flags = _REQUEST.unpack(fcntl.ioctl(self._socket, _GET_FLAGS, _REQUEST.pack(self._name.encode(), 0)))
        flags = flags | _UP if up else flags & ~_UP
        fcntl.ioctl(self._socket, _SET_FLAGS, _REQUEST.pack(self._name.encode(), flags))

    def restore_routes(self) -> None:
        """Set the routes anew that the kernel removed with the interface."""
        self._enter()
        for file in self._routes:
            os.lseek(file, 0, os.SEEK_SET)
            # it says which routes are there already, and fails for none of them
            subprocess.run(["ip", "route", "restore"], stdin=file, capture_output=True, check=False)

    def lose_frames(self) -> None:
        """Drop each frame that arrives, by a program of the kernel's that ends with this process at the latest."""
        self._enter()
        code, licence = ctypes.create_string_buffer(_DROP_ALL), ctypes.create_string_buffer(b"MIT")
        head = struct.pack("=IIQQ", _SCHED_CLS, 2, ctypes.addressof(code), ctypes.addressof(licence))
        program = _bpf(_PROGRAM_LOAD, head + bytes(48))
        link = struct.pack("=IIII16x", program, socket.if_nametoindex(self._name), _TCX_INGRESS, 0)
        self._losing += [_bpf(_LINK_CREATE, link), program]

    def stop_losing(self) -> None:
        """Let frames arrive again."""
        while self._losing:
            os.close(self._losing.pop(0))


def _bpf(command: int, attributes: bytes) -> int:
    call: Callable[..., int] = ctypes.CDLL(None, use_errno=True).syscall
    found = call(_BPF_CALL, command, ctypes.create_string_buffer(attributes, len(attributes)), len(attributes))
    if found < 0:
        raise SystemExit(f"this lab's kernel cannot lose frames: {os.strerror(ctypes.get_errno())}")
    return found


if __name__ == "__main__":
    act(cut)
