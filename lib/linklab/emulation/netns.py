"""Working inside a node's network namespace from the lab's own process, without starting a program."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

_CLONE_NEWNET = 0x40000000
_SIOCETHTOOL = 0x8946
# ethtool's name of an offload: the ioctl commands that read and that set it (linux/ethtool.h)
_OFFLOADS = {
    "rx-checksumming": (0x14, 0x15),
    "tx-checksumming": (0x16, 0x17),
    "tcp-segmentation-offload": (0x1E, 0x1F),
    "generic-segmentation-offload": (0x23, 0x24),
    "generic-receive-offload": (0x2B, 0x2C),
}
# Segmentation offloads would make one queued "packet" of up to 44 real ones. Checksums are left as the kernel
# has them: between virtual interfaces they cost time and change nothing that can be measured.
SWITCHED_OFF = ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload")

_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def inside(pid: int) -> Iterator[None]:
    """This thread is in the network namespace of process `pid` meanwhile. Raises OSError."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        there = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        _enter(there)
        os.close(there)
        yield
    finally:
        _enter(home)
        os.close(home)


def _enter(namespace: int) -> None:
    if _libc.setns(namespace, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")


def offloads_on(interface: str) -> tuple[str, ...]:
    """Which segmentation offloads are on, by ethtool's names, of an interface in the present namespace."""
    return tuple(name for name in SWITCHED_OFF if _ethtool(interface, _OFFLOADS[name][0]))


def switch_offloads_off(interface: str) -> None:
    """Switches segmentation offloads off, so that a queue of 67 packets is 67 packets. Raises OSError."""
    for name in SWITCHED_OFF:
        _ethtool(interface, _OFFLOADS[name][1], 0)


def _ethtool(interface: str, command: int, value: int = 0) -> int:
    data = ctypes.create_string_buffer(struct.pack("II", command, value))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCETHTOOL, struct.pack("16sP", interface.encode(), ctypes.addressof(data)))
    return int(struct.unpack("II", data.raw[:8])[1])


def sysctl(name: str) -> str:
    """A setting below /proc/sys/net of the present namespace, as ``"ipv4.ip_forward"``. Raises OSError."""
    return _setting(name).read_text().strip()


def set_sysctl(name: str, value: str) -> None:
    """Sets what `sysctl` reads. Raises OSError."""
    _setting(name).write_text(value)


def _setting(name: str) -> Path:
    return Path("/proc/sys/net", *name.split("."))
