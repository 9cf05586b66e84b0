"""Work on a node's network namespace from the lab's own process, without starting a program."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import functools
import os
import socket
import struct
import weakref
from collections.abc import Iterator
from pathlib import Path

from mininet.node import Node

from linklab.guest.netlink import links
from linklab.guest.netlink.socket import Netlink

_CLONE_NEWNET, _CLONE_NEWNS = 0x40000000, 0x00020000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_SIOCGIFADDR, _SIOCGIFNETMASK, _SIOCGIFHWADDR = 0x8915, 0x891B, 0x8927
_SIOCGIFINDEX, _SIOCETHTOOL = 0x8933, 0x8946
_SO_NETNS_COOKIE = 71
# ethtool's name of an offload: the ioctl commands that read and that set it (linux/ethtool.h)
_OFFLOADS = {
    "rx-checksumming": (0x14, 0x15),
    "tx-checksumming": (0x16, 0x17),
    "tcp-segmentation-offload": (0x1E, 0x1F),
    "generic-segmentation-offload": (0x23, 0x24),
    "generic-receive-offload": (0x2B, 0x2C),
}
_GET_FLAGS, _TX_VLAN = 0x25, 1 << 7
# Segmentation offloads would make one queued "packet" of up to 44 real ones. Checksums are left as the kernel
# has them: between virtual interfaces they cost time and change nothing that can be measured.
GRO = "generic-receive-offload"
SEGMENTATION_OFFLOADS = ("tcp-segmentation-offload", "generic-segmentation-offload", GRO)

LOOPBACK = 1
_NEIGHBOURS = 2**20

_libc = ctypes.CDLL(None, use_errno=True)


class Namespace:
    """A network namespace held open, with a netlink socket in it. `number` is its descriptor."""

    def __init__(self, number: int) -> None:
        """Take the descriptor over. The thread must be in that namespace now: its sockets are made here."""
        self.number = number
        self.kernel = Netlink()
        self._control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    @classmethod
    def new(cls) -> Namespace:
        """Make a namespace without IPv6, whose chatter (router solicitations, listener reports) would be traffic."""
        with _returning():
            _check(_libc.unshare(_CLONE_NEWNET), "unshare")
            made = cls(_here())
            made.kernel.ask(*links.change(LOOPBACK, up=True))
            quiet_ipv6()
            return made

    @classmethod
    def of_process(cls, pid: int | str) -> Namespace:
        """Return the namespace that a process lives in. Raises OSError."""
        number = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        with _returning():
            _enter(number, _CLONE_NEWNET)
            return cls(number)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Put this thread into the namespace for the block: for /proc/sys/net, and for programs that it starts."""
        with _returning():
            _enter(self.number, _CLONE_NEWNET)
            yield

    @contextlib.contextmanager
    def entered_with_own_mounts(self) -> Iterator[None]:
        """As `entered`, in a mount namespace of its own whose /sys shows this network: how a node's shell starts.

        What is mounted in that shell later (Mininet's private folders) is seen by the node alone.
        """
        home = os.open("/proc/thread-self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        folder = os.getcwd()
        with self.entered():
            try:
                _check(_libc.unshare(_CLONE_NEWNS), "unshare")
                _check(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "mount")
                _check(_libc.mount(b"sysfs", b"/sys", b"sysfs", 0, None), "mount")
                yield
            finally:
                _enter(home, _CLONE_NEWNS)
                os.close(home)
                os.chdir(folder)  # setns led to the root

    def index(self, interface: str) -> int:
        """Return the kernel's number of an interface. Raises OSError where there is none of that name."""
        request = struct.pack("16si20x", interface.encode(), 0)
        return int(struct.unpack_from("16si", fcntl.ioctl(self._control, _SIOCGIFINDEX, request))[1])

    @property
    def cookie(self) -> int:
        """The kernel's own number of this namespace, which no other ever has: what is traced names it so."""
        return int.from_bytes(self._control.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, 8), "little")

    def primary_address(self, interface: str) -> str | None:
        """Return the first IPv4 address of an interface, ``"10.0.0.2/24"``."""
        request = struct.pack("256s", interface.encode())
        try:
            address, mask = (
                fcntl.ioctl(self._control, number, request)[20:24] for number in (_SIOCGIFADDR, _SIOCGIFNETMASK)
            )
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            return None
        return f"{socket.inet_ntoa(address)}/{int.from_bytes(mask, 'big').bit_count()}"

    def mac(self, interface: str) -> str:
        """Return the Ethernet address of an interface."""
        answer = fcntl.ioctl(self._control, _SIOCGIFHWADDR, struct.pack("256s", interface.encode()))
        return answer[18:24].hex(":")

    def offloads_on(self, interface: str) -> tuple[str, ...]:
        """Return which segmentation offloads are on, by ethtool's names."""
        return tuple(name for name in SEGMENTATION_OFFLOADS if self._ethtool(interface, _OFFLOADS[name][0]))

    def set_offload(self, interface: str, name: str, on: bool) -> None:
        """Switch an offload, named as ethtool does. Raises OSError."""
        self._ethtool(interface, _OFFLOADS[name][1], int(on))

    def carries_tags(self, interface: str) -> bool:
        """Return whether an interface takes a VLAN tag beside a frame and not in it (ethtool: tx-vlan-offload)."""
        return bool(self._ethtool(interface, _GET_FLAGS) & _TX_VLAN)

    def _ethtool(self, interface: str, command: int, value: int = 0) -> int:
        data = ctypes.create_string_buffer(struct.pack("II", command, value))
        request = struct.pack("16sP16x", interface.encode(), ctypes.addressof(data))
        fcntl.ioctl(self._control, _SIOCETHTOOL, request)
        return int(struct.unpack("II", data.raw[:8])[1])

    def close(self) -> None:
        """Close the descriptor and the sockets. The namespace lives on as long as a process is in it."""
        self.kernel.close()
        self._control.close()
        os.close(self.number)


@functools.cache
def first_namespace() -> Namespace:
    """Return the lab's own namespace, where switches live. It stays open.

    In a guest it is the kernel's first one, too, of which all interfaces that are ever made take the default for how
    long they know a neighbour, and where the size of the table of neighbours is set that all hosts share.
    """
    quiet_ipv6()
    set_sysctl("ipv4.neigh.default.base_reachable_time_ms", str(links.REACHABLE_MS))
    for limit in ("gc_thresh1", "gc_thresh2", "gc_thresh3"):  # permanent entries are never evicted
        set_sysctl(f"ipv4.neigh.default.{limit}", str(_NEIGHBOURS))
    return Namespace.of_process("self")


_as_in_mininet = False


def as_in_mininet() -> None:
    """Give new namespaces IPv6 from now on, and the devices by which ``ip tunnel`` makes tunnels."""
    global _as_in_mininet
    _as_in_mininet = True
    with contextlib.suppress(OSError):
        Path("/proc/sys/net/core/fb_tunnels_only_for_init_net").write_text("0")


_of_other_nodes: weakref.WeakKeyDictionary[Node, Namespace] = weakref.WeakKeyDictionary()


def namespace_of(node: Node) -> Namespace:
    """Return the namespace of any node of Mininet's, held open as long as the node is there. Raises OSError."""
    own = node.__dict__.get("namespace")
    if own is not None:
        return own  # type: ignore[no-any-return]
    if node not in _of_other_nodes:
        _of_other_nodes[node] = Namespace.of_process(node.pid)
    return _of_other_nodes[node]


def forget(node: Node) -> None:
    """Close the namespace of a node that has ended."""
    if node in _of_other_nodes:
        _of_other_nodes.pop(node).close()


def quiet_ipv6() -> None:
    """Switch IPv6 off in the present namespace, where the kernel has it, unless `as_in_mininet` was said."""
    if _as_in_mininet:
        return
    with contextlib.suppress(FileNotFoundError):
        set_sysctl("ipv6.conf.all.disable_ipv6", "1")


def sysctl(name: str) -> str:
    """Return a setting below /proc/sys/net of the present namespace, as ``"ipv4.ip_forward"``. Raises OSError."""
    return read_text(_setting(name)).strip()


def read_text(path: Path) -> str:
    """Return a file's text, read in no time of the lab: Python's buffered files ask whether they are a terminal, which
    fails, and a call that fails takes time. Raises OSError.
    """
    with path.open("rb", buffering=0) as file:
        return file.readall().decode()


def set_sysctl(name: str, value: str) -> None:
    """Set what `sysctl` reads. Raises OSError."""
    _setting(name).write_text(value)


def _setting(name: str) -> Path:
    return Path("/proc/sys/net", *name.split("."))


@contextlib.contextmanager
def _returning() -> Iterator[None]:
    """Bring this thread back to its present network namespace at the end."""
    home = _here()
    try:
        yield
    finally:
        _enter(home, _CLONE_NEWNET)
        os.close(home)


def _here() -> int:
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _enter(number: int, kind: int) -> None:
    _check(_libc.setns(number, kind), "setns")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
