"""Record what happens to packets at interfaces: the kernel notes it, and the recorder reads it afterwards.

What the kernel traces says when a packet reached an interface's queue, left it, or was dropped and why, and what TCP
knew at each segment; `header_tap` has the headers. Both go into rings in the kernel's memory. Nothing of it takes time
on virtual time, and no program wakes: so what is measured meanwhile gives the same digits. What does not fit into the
rings is told, and never left out.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import errno
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from mininet.net import Mininet
from mininet.node import Node

from linklab.errors import LabError
from linklab.guest.header_tap import HeaderTap
from linklab.guest.namespace import namespace_of
from linklab.guest.netlink import qdisc

_MOUNTED: Final = Path("/run/linklab-tracing")
_SHARE: Final = 3
"""A third of the lab's free memory, at most, holds headers, and three quarters of that events: what is packed needs the
rest. These are 128 and 96 MB of a lab's 512."""
EVENTS: Final = ("net/net_dev_queue", "net/net_dev_xmit", "skb/kfree_skb", "tcp/tcp_probe", "tcp/tcp_cong_state_set")
OPTIONAL_EVENTS: Final = ("qdisc/qdisc_drop",)
"""Newer kernels say why a queue dropped a packet."""
PAGE_BYTES: Final = 4096
_libc = ctypes.CDLL(None, use_errno=True)


class Recorder:
    """One recording, from its beginning to `data`; `close` takes away what it has put into the kernel."""

    def __init__(self, net: Mininet, wanted: Sequence[str]) -> None:
        """Begin to record. `wanted` are names of interfaces, none for all; a cable is recorded at both its ends.

        Raises LabError.
        """
        there = [(node, name) for node in (*net.hosts, *net.switches) for name in node.nameToIntf if name != "lo"]
        unknown = set(wanted) - {name for _, name in there}
        if unknown:
            raise LabError(f"there is no interface {', '.join(sorted(unknown))} here: choose of {_listed(there)}")
        both = {name for one in wanted for name in (one, *_peers(net, one))}
        self._chosen = [(node, name) for node, name in there if not wanted or name in both]
        self._folder = _instance()
        self._tap: HeaderTap | None = None
        try:
            self._write("trace_clock", "mono")
            self._write("options/overwrite", "0")
            ring_bytes = _ring_bytes()
            self._write("buffer_size_kb", str(ring_bytes * 3 // 4 // 1024))
            queueing = _with_queues(self._chosen)
            # a queue may mark a packet or send it twice; without one what enters is what has left
            behind = {other for name in queueing for other in _peers(net, name)}
            self._tap = HeaderTap(
                [(namespace_of(node), name, name in behind) for node, name in self._chosen], ring_bytes
            )
            self._queueing = queueing
            for event in self._events():
                self._write(f"events/{event}/enable", "1")
            self._write("tracing_on", "1")
        except OSError as error:
            self.close()
            raise LabError(f"this lab cannot record: {error.strerror} ({error.filename})") from None
        except BaseException:
            self.close()
            raise

    def _events(self) -> list[str]:
        return [*EVENTS, *(event for event in OPTIONAL_EVENTS if (self._folder / "events" / event).is_dir())]

    def stop(self) -> None:
        """Stop recording. Calling it twice does no harm."""
        self._write("tracing_on", "0")
        if self._tap is not None:
            self._tap.stop()

    def data(self) -> dict[str, Any]:
        """Return all that was noted, as JSON. Raises LabError where a ring was too small.

        ``trace`` are the kernel's pages of events, whose form ``formats`` say, ``headers`` the tap's records, both
        packed by zlib and in base64; ``interfaces`` their names, nodes, the numbers that events know them by, and
        whether they had a queue when it began.
        """
        assert self._tap is not None
        self.stop()
        stats = dict(line.split(": ") for line in self._read("per_cpu/cpu0/stats").splitlines())
        lost = int(stats["dropped events"]) + int(stats["overrun"])
        if lost:
            raise LabError(
                f"more happened than the recorder holds ({lost} of {int(stats['entries']) + lost:,} events were lost): "
                "record a shorter run, or give labs more memory (LINKLAB_GUEST_MB)"
            )
        headers = _packed(self._tap.noted())
        self._tap.close()  # its memory is needed for the rest
        return {
            "interfaces": [
                {
                    "node": node.name,
                    "interface": name,
                    "namespace": namespace_of(node).cookie,
                    "queues": name in self._queueing,
                }
                for node, name in self._chosen
            ],
            "formats": [self._read(f"events/{event}/format") for event in self._events()],
            "trace": _packed(self._pages()),
            "headers": headers,
        }

    def _pages(self) -> Iterator[bytes]:
        descriptor = os.open(self._folder / "per_cpu/cpu0/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
        try:
            with contextlib.suppress(BlockingIOError):
                while page := os.read(descriptor, PAGE_BYTES):
                    yield page
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Free the kernel's memory. Calling it twice does no harm."""
        if self._tap is not None:
            self._tap.close()
        with contextlib.suppress(FileNotFoundError):
            self._folder.rmdir()

    def _write(self, name: str, value: str) -> None:
        descriptor = os.open(self._folder / name, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(descriptor, value.encode())
        finally:
            os.close(descriptor)

    def _read(self, name: str) -> str:
        return (self._folder / name).read_text("utf-8")


def _instance() -> Path:
    """Return a ring of events of our own: a student who traces has another."""
    folder = _MOUNTED / "instances" / "linklab"
    if not folder.parent.is_dir():
        _MOUNTED.mkdir(exist_ok=True)
        if _libc.mount(b"tracefs", str(_MOUNTED).encode(), b"tracefs", 0, None):
            number = ctypes.get_errno()
            raise LabError(
                f"this lab's kernel keeps no trace ({os.strerror(number)}): it needs CONFIG_FTRACE and "
                "CONFIG_ENABLE_DEFAULT_TRACERS, as the lab image's has"
            )
    try:
        folder.mkdir()
    except OSError as error:
        if error.errno == errno.EEXIST:
            raise LabError("this lab records already: end that first") from None
        raise LabError(f"this lab cannot record: {error.strerror}") from None
    return folder


def _packed(pieces: Iterable[bytes]) -> str:
    packer = zlib.compressobj(1)
    return base64.b64encode(b"".join([*(packer.compress(piece) for piece in pieces), packer.flush()])).decode()


def _ring_bytes() -> int:
    """Return how many bytes headers may take: a power of 2."""
    lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    free_kib = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return 1 << (free_kib * 1024 // _SHARE).bit_length() - 1


def _with_queues(interfaces: Sequence[tuple[Node, str]]) -> set[str]:
    """Return those of these interfaces that have a queue, by one dump of each node's."""
    queueing = {node: qdisc.queueing(namespace_of(node).kernel) for node, _ in interfaces}
    return {name for node, name in interfaces if namespace_of(node).index(name) in queueing[node]}


def _peers(net: Mininet, interface: str) -> list[str]:
    """Return the interfaces at the other ends of its cables."""
    ends = [(link.intf1.name, link.intf2.name) for link in net.links]
    return [other for pair in ends for one, other in (pair, pair[::-1]) if one == interface]


def _listed(there: Sequence[tuple[Any, str]]) -> str:
    return ", ".join(name for _, name in there)
