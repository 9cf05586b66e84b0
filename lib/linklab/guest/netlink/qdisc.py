"""Queueing disciplines: HTB and netem as Mininet's TCLink sets them; any of Mininet's, and its counters, read back.

Numbers are those of linux/pkt_sched.h and linux/gen_stats.h. The kernel counts time in ticks of 64 ns here; rates are
bytes per second.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from linklab.guest.netlink import socket as netlink
from linklab.guest.netlink.links import Request
from linklab.guest.netlink.socket import CREATE, EXCLUSIVE, Netlink
from linklab.network import Shape

_NEWQDISC, _DELQDISC, _GETQDISC, _NEWTCLASS, _GETTCLASS = 36, 37, 38, 40, 42
_TC = struct.Struct("=BxxxiIII")  # family, interface index, handle, parent, info
_TCA_KIND, _TCA_OPTIONS, _TCA_STATS2 = 1, 2, 7
_ROOT = 0xFFFFFFFF
_TICK_NS = 64

_HTB_PARAMETERS, _HTB_GLOBAL, _HTB_RATE64 = 1, 2, 6
_HTB_INIT = struct.Struct("=IIIII")  # version, rate to quantum, default class, debug, direct packets
_RATE = struct.Struct("=BBHhHI")  # cell log, link layer, overhead, cell align, minimum, bytes per second
_HTB_CLASS = struct.Struct("=12s12sIIIII")  # rate, ceiling, burst, burst at the ceiling, quantum, level, priority
_ETHERNET = 1
_BURST_BYTES = 15 * 1024  # Mininet's "burst 15k"
_TC_MTU_BYTES = 1600  # what tc takes for one packet when it computes the burst at the ceiling

_NETEM = struct.Struct("=IIIIII")  # delay, limit, loss, gap, duplicate, jitter
_NETEM_RATE, _NETEM_RATE64, _NETEM_DELAY_NS, _NETEM_JITTER_NS, _NETEM_SEED = 6, 8, 10, 11, 14
_NETEM_CABLE = struct.Struct("=IiIi")  # bytes per second, bytes added to each packet, cell size, bytes for each cell
_NETEM_DEFAULT_LIMIT = 1000
_ALL = 0xFFFFFFFF

_FIFO = struct.Struct("=I")  # limit: packets of a pfifo
_TBF_PARAMETERS, _TBF_RATE64, _HFSC_UPPER = 1, 4, 3

_BASIC, _QUEUE = 1, 3
_BASIC_STATS = struct.Struct("=QI")  # bytes, packets
_QUEUE_STATS = struct.Struct("=IIIII")  # packets in the queue, bytes in it, drops, requeues, overlimits
_SHAPING = ("htb", "netem", "tbf", "hfsc", "red")

HTB_HANDLE, HTB_CLASS, NETEM_HANDLE = 0x50000, 0x50001, 0x100000
_NO_QUEUE = "noqueue"


@dataclass(frozen=True)
class Counted:
    """One interface's counters. `index` is the interface's. Frames, since the qdisc was made; `backlog_packets` now.

    `dropped_packets` are those of the queue that holds the packets: netem's under an HTB, both those that found it
    full and those that it loses by a random loss. `overlimits` counts how often the shaper held a packet back.
    """

    index: int
    sent_packets: int
    sent_bytes: int
    dropped_packets: int
    overlimits: int
    backlog_packets: int


def clear(index: int) -> Request:
    """Remove an interface's queueing disciplines, which leaves its own queue. The kernel answers ENOENT if there are
    none."""
    return _DELQDISC, _TC.pack(0, index, 0, _ROOT, 0), 0


def htb(index: int, rate_mbps: float) -> list[Request]:
    """Make a token bucket at the root, and the one class that all packets take."""
    start = _HTB_INIT.pack(3, 10, 1, 0, 0)
    qdisc = _TC.pack(0, index, HTB_HANDLE, _ROOT, 0) + netlink.text(_TCA_KIND, "htb")
    qdisc += netlink.nested(_TCA_OPTIONS, netlink.attribute(_HTB_GLOBAL, start))
    rate = int(rate_mbps * 1e6 / 8)
    spec = _RATE.pack(0, _ETHERNET, 0, 0, 0, rate)
    # as tc does: at the ceiling a burst of what one timer tick brings, and a packet
    ceiling_burst = rate // _timer_hz() + _TC_MTU_BYTES
    bursts = (_ticks(_BURST_BYTES, rate), _ticks(ceiling_burst, rate))
    options = netlink.attribute(_HTB_PARAMETERS, _HTB_CLASS.pack(spec, spec, *bursts, 0, 0, 0))
    tc_class = _TC.pack(0, index, HTB_CLASS, HTB_HANDLE, 0) + netlink.text(_TCA_KIND, "htb")
    tc_class += netlink.nested(_TCA_OPTIONS, options)
    return [(_NEWQDISC, qdisc, CREATE | EXCLUSIVE), (_NEWTCLASS, tc_class, CREATE | EXCLUSIVE)]


def netem(index: int, shape: Shape, seed: int, *, under_htb: bool) -> Request:
    """Make netem, at the root or under the class that `htb` makes, which then limits the rate; by itself netem is a
    cable of the shape's rate. Without a limit for its queue it holds 1000 packets. `seed` is that of its random losses.
    """
    delay_ns, jitter_ns = round(shape.delay_ms * 1e6), round(shape.jitter_ms * 1e6)
    limit = shape.queue_packets if shape.queue_packets is not None else _NETEM_DEFAULT_LIMIT
    loss = round(shape.loss_percent / 100 * _ALL)
    ticks = (min(delay_ns // _TICK_NS, _ALL), min(jitter_ns // _TICK_NS, _ALL))
    body = _TC.pack(0, index, NETEM_HANDLE, HTB_CLASS if under_htb else _ROOT, 0) + netlink.text(_TCA_KIND, "netem")
    options = _NETEM.pack(ticks[0], limit, loss, 0, 0, ticks[1])
    for kind, value in ((_NETEM_DELAY_NS, delay_ns), (_NETEM_JITTER_NS, jitter_ns), (_NETEM_SEED, seed)):
        options += netlink.attribute(kind, struct.pack("=Q", value)) if value else b""
    if shape.rate_mbps is not None:
        cable = _NETEM_CABLE.pack(int(shape.rate_mbps * 1e6 / 8), shape.overhead_bytes or 0, 0, 0)
        options += netlink.attribute(_NETEM_RATE, cable)
    return _NEWQDISC, body + netlink.attribute(_TCA_OPTIONS, options), CREATE | EXCLUSIVE


def _ticks(size_bytes: int, rate: int) -> int:
    """Return how long `size_bytes` take at a rate, in the kernel's ticks, cut to whole microseconds as tc does."""
    return min(int(size_bytes * 1e6 / rate) * 1000 // _TICK_NS, _ALL)


def _timer_hz() -> int:
    """Return how often a second the kernel's timer can act, which tc reads from the same place."""
    clock = [int(word, 16) for word in Path("/proc/net/psched").read_text().split()]
    return 1_000_000_000 if clock[2] == 1_000_000 and clock[3] == 1_000_000_000 else clock[3]


def shapes(kernel: Netlink) -> dict[int, Shape]:
    """Return what each shaped interface does to the packets that leave it, by interface index.

    The rate is an HTB class's, an HFSC class's upper limit or a token bucket's; delay and loss are netem's. The queue's
    limit is netem's, or that of the one pfifo in its place; other queues count bytes, or drop before they are full.
    """
    found: dict[int, Shape] = {}
    with_classes, early = [], []
    fifos: defaultdict[int, list[int]] = defaultdict(list)
    for index, kind, options in _dump(kernel, _GETQDISC, 0):
        if kind == "netem":
            found[index] = _with_netem(found.get(index, Shape()), options)
        elif kind == "pfifo":
            fifos[index].append(_FIFO.unpack_from(options)[0])
        elif kind == "tbf":
            found[index] = replace(found.get(index, Shape()), rate_mbps=_tbf_mbps(options))
        elif kind == "red":
            early.append(index)
        elif kind in ("htb", "hfsc"):
            with_classes.append(index)
    for index in with_classes:
        for _, kind, options in _dump(kernel, _GETTCLASS, index):
            rate_mbps = _htb_mbps(options) if kind == "htb" else _hfsc_mbps(options)
            if rate_mbps is not None:
                found[index] = replace(found.get(index, Shape()), rate_mbps=rate_mbps)
    for index, limits in fifos.items():
        shape = found.get(index, Shape())
        if shape.queue_packets is None and len(limits) == 1:
            found[index] = replace(shape, queue_packets=limits[0])
    for index in early:  # Mininet puts netem below RED, which drops packets before netem's queue is full
        found[index] = replace(found.get(index, Shape()), queue_packets=None)
    return found


def _dump(kernel: Netlink, what: int, index: int) -> Iterator[tuple[int, str, bytes]]:
    for body in kernel.dump(what, _TC.pack(0, index, 0, 0, 0)):
        found = netlink.attributes(body, _TC.size)
        yield _TC.unpack_from(body)[1], netlink.text_of(found[_TCA_KIND]), found.get(_TCA_OPTIONS, b"")


def _with_netem(shape: Shape, options: bytes) -> Shape:
    ticks, limit, loss, _, _, jitter_ticks = _NETEM.unpack_from(options)
    more = netlink.attributes(options, _NETEM.size)
    delay_ns, jitter_ns = (
        struct.unpack("=q", more[kind])[0] if kind in more else in_ticks * _TICK_NS
        for kind, in_ticks in ((_NETEM_DELAY_NS, ticks), (_NETEM_JITTER_NS, jitter_ticks))
    )
    rate, overhead, *_ = _NETEM_CABLE.unpack(more[_NETEM_RATE]) if _NETEM_RATE in more else (0, 0)
    if _NETEM_RATE64 in more:
        rate = struct.unpack("=Q", more[_NETEM_RATE64])[0]
    if rate:
        shape = replace(shape, rate_mbps=rate * 8 / 1e6, overhead_bytes=overhead)
    return replace(
        shape,
        delay_ms=round(delay_ns / 1e6, 9),
        jitter_ms=round(jitter_ns / 1e6, 9),
        loss_percent=round(loss / _ALL * 100, 7),
        queue_packets=limit,
    )


def _htb_mbps(options: bytes) -> float | None:
    found = netlink.attributes(options)
    if _HTB_PARAMETERS not in found:
        return None
    return _mbps(found.get(_HTB_RATE64), found[_HTB_PARAMETERS])


def _tbf_mbps(options: bytes) -> float:
    found = netlink.attributes(options)
    return _mbps(found.get(_TBF_RATE64), found[_TBF_PARAMETERS])


def _mbps(large: bytes | None, parameters: bytes) -> float:
    """Return a rate in Mbit/s; one that does not fit into 32 bits has an attribute of its own."""
    rate = struct.unpack("=Q", large)[0] if large else _RATE.unpack_from(parameters)[5]
    return float(rate) * 8 / 1e6


def _hfsc_mbps(options: bytes) -> float | None:
    found = netlink.attributes(options)
    return float(struct.unpack("=III", found[_HFSC_UPPER])[2]) * 8 / 1e6 if _HFSC_UPPER in found else None


def queueing(kernel: Netlink) -> set[int]:
    """Return the indexes of all interfaces that have a queue of any kind, where packets may wait. Raises OSError."""
    return {index for index, kind, _ in _dump(kernel, _GETQDISC, 0) if kind != _NO_QUEUE}


def counted(kernel: Netlink) -> Iterator[Counted]:
    """Yield the counters of each shaped interface of the namespace, by one dump. Raises OSError."""
    found: dict[int, list[tuple[bool, tuple[int, ...]]]] = {}
    for body in kernel.dump(_GETQDISC, _TC.pack(0, 0, 0, 0, 0)):
        about = netlink.attributes(body, _TC.size)
        if netlink.text_of(about[_TCA_KIND]) in _SHAPING:
            _, index, _, parent, _ = _TC.unpack_from(body)
            stats = netlink.attributes(about[_TCA_STATS2])
            sent_bytes, sent_packets = _BASIC_STATS.unpack_from(stats[_BASIC])
            held, _, dropped, _, overlimits = _QUEUE_STATS.unpack_from(stats[_QUEUE])
            found.setdefault(index, []).append((parent == _ROOT, (sent_packets, sent_bytes, dropped, overlimits, held)))
    for index, qdiscs in found.items():
        below = [counts for is_root, counts in qdiscs if not is_root]
        (root,) = [counts for is_root, counts in qdiscs if is_root] or below[:1]
        # HTB counts again what the queue below it refuses, but not what that one loses on purpose
        dropped = sum(counts[2] for counts in below) if below else root[2]
        yield Counted(index, root[0], root[1], dropped, root[3], root[4])
