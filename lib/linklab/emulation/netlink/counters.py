"""What queueing disciplines have counted since they were made (linux/gen_stats.h, linux/pkt_sched.h)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from linklab.emulation.netlink import codec
from linklab.emulation.netlink.channel import Netlink

_GETQDISC = 38
_TC = struct.Struct("=BxxxiIII")  # family, interface index, handle, parent, info
_TCA_KIND, _TCA_STATS2 = 1, 7
_BASIC, _QUEUE = 1, 3
_BASIC_STATS = struct.Struct("=QI")  # bytes, packets
_QUEUE_STATS = struct.Struct("=IIIII")  # packets in the queue, bytes in it, drops, requeues, overlimits
_ROOT = 0xFFFFFFFF
_SHAPING = ("htb", "netem", "tbf", "hfsc", "red")


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


def counted(kernel: Netlink) -> Iterator[Counted]:
    """The counters of each shaped interface of the namespace, by one dump. Raises OSError."""
    found: dict[int, list[tuple[bool, tuple[int, ...]]]] = {}
    for body in kernel.dump(_GETQDISC, _TC.pack(0, 0, 0, 0, 0)):
        attributes = codec.attributes(body, _TC.size)
        if codec.text_of(attributes[_TCA_KIND]) in _SHAPING:
            _, index, _, parent, _ = _TC.unpack_from(body)
            stats = codec.attributes(attributes[_TCA_STATS2])
            sent_bytes, sent_packets = _BASIC_STATS.unpack_from(stats[_BASIC])
            held, _, dropped, _, overlimits = _QUEUE_STATS.unpack_from(stats[_QUEUE])
            found.setdefault(index, []).append((parent == _ROOT, (sent_packets, sent_bytes, dropped, overlimits, held)))
    for index, qdiscs in found.items():
        below = [counts for is_root, counts in qdiscs if not is_root]
        (root,) = [counts for is_root, counts in qdiscs if is_root] or below[:1]
        # HTB counts again what the queue below it refuses, but not what that one loses on purpose
        dropped = sum(counts[2] for counts in below) if below else root[2]
        yield Counted(index, root[0], root[1], dropped, root[3], root[4])
