"""What the kernel and Mininet's TCLink can be asked for: rates, delays, losses, queues, MTUs, names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from linklab.network.parts import Link

RATE_MBPS: Final = (0.001, 1000.0)
"""TCLink ignores more than 1000 Mbit/s; below 1 kbit/s HTB's whole bytes per second are too coarse."""
DELAY_MS: Final = (0.0, 60_000.0)
"""A minute is more than any network has; tc's older clock overflows at 274 s."""
LOSS_PERCENT: Final = (0.0, 100.0)
QUEUE_PACKETS: Final = (1, 1_000_000)
"""netem with a limit of 0 drops everything; a million full frames is 1.5 GB of kernel memory."""
MTU_BYTES: Final = (68, 65_535)
"""68 bytes is what every IPv4 link must carry (RFC 791); 65535 is the largest IPv4 packet."""
OVERHEAD_BYTES: Final = (0, 1000)
"""More than any framing adds."""
INTERFACE_NAME_LENGTH: Final = 15
"""IFNAMSIZ in Linux is 16 bytes with the closing zero."""

_RESERVED_INTERFACES: Final = frozenset({"lo", "all", "default"})
_NODE_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_INTERFACE_CHARACTER: Final = re.compile(r"[A-Za-z0-9_.-]")


def link_problems(link: Link) -> Iterator[str]:
    """One line for each property of the link that is out of its range."""
    what = f"link {link.label}"
    if link.rate_mbps is not None:
        yield from _number(what, "rate_mbps", link.rate_mbps, RATE_MBPS, "Mbit/s", "None means not limited")
    yield from _number(what, "delay_ms", link.delay_ms, DELAY_MS, "ms", "0 means none")
    yield from _number(what, "loss_percent", link.loss_percent, LOSS_PERCENT, "%", "0 means none")
    if link.queue_packets is not None:
        yield from _whole(what, "queue_packets", link.queue_packets, QUEUE_PACKETS, "packets")
    yield from _whole(what, "mtu_bytes", link.mtu_bytes, MTU_BYTES, "bytes")
    if link.overhead_bytes is not None:
        yield from _whole(what, "overhead_bytes", link.overhead_bytes, OVERHEAD_BYTES, "bytes")
        if link.rate_mbps is None:
            yield f"{what}: overhead_bytes is given without a rate: set rate_mbps"


def _number(what: str, field: str, value: float, bounds: tuple[float, float], unit: str, hint: str) -> Iterator[str]:
    low, high = bounds
    # Python's bool is an int, and a notebook's author may well write "40": both would reach tc.
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{what}: {field} is {value!r}, which is not a number: write a number of {unit}"
    # NaN fails every comparison, so it ends up here as well.
    elif not low <= value <= high:
        yield f"{what}: {field} is {value:g}: choose {low:g} to {high:g} {unit} ({hint})"


def _whole(what: str, field: str, value: int, bounds: tuple[int, int], unit: str) -> Iterator[str]:
    low, high = bounds
    if isinstance(value, bool) or not isinstance(value, int):
        yield f"{what}: {field} is {value!r}, which is not a whole number: write a whole number of {unit}"
    elif not low <= value <= high:
        yield f"{what}: {field} is {value}: choose {low} to {high} {unit}"


def node_name_problems(name: str, is_switch: bool) -> Iterator[str]:
    """One line for each reason why Mininet could not work with a node of this name."""
    if not _NODE_NAME.fullmatch(name):
        yield (
            f"node name {name!r} cannot be used by Mininet: "
            "begin with a letter and go on with letters, digits, '-' or '_'"
        )
    elif is_switch:
        if not re.search(r"\d", name):
            yield f"switch {name}: Mininet takes a switch's number from its name: call it s1, s2, ..."
        # A bridge is a network device itself, called like the switch.
        yield from interface_name_problems(f"switch {name}", name)


def interface_name_problems(what: str, name: str) -> Iterator[str]:
    """One line for each reason why Linux, or the shell that Mininet uses, refuses this interface name."""
    bad = next((character for character in name if not _INTERFACE_CHARACTER.fullmatch(character)), None)
    if not name:
        yield f"{what}: the interface name is empty: call it NODE-eth0, NODE-eth1, ..."
    elif bad is not None:
        yield (f"{what}: interface name {name!r} contains {bad!r}: use only letters, digits, '-', '_' and '.'")
    elif len(name) > INTERFACE_NAME_LENGTH:
        yield (
            f"{what}: interface name {name!r} has {len(name)} characters and Linux takes at most "
            f"{INTERFACE_NAME_LENGTH}: shorten it"
        )
    elif name in _RESERVED_INTERFACES or name[0] in ".-":
        yield f"{what}: interface name {name!r} has a meaning of its own in Linux: call it NODE-eth0, ..."
