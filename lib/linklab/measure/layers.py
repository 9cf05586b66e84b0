"""What a captured frame is made of: each header and its bytes, from the outside in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scapy.packet import Packet

_NAMES: Final = {"Ether": "Ethernet", "IP": "IPv4", "GRE": "GRE", "UDP": "UDP", "ARP": "ARP", "ICMP": "ICMP"}
_DATA: Final = "data"


@dataclass(frozen=True)
class Layer:
    """One header, or the data behind the last one, and how many bytes it has."""

    name: str
    size_bytes: int


def layers(packet: Packet) -> tuple[Layer, ...]:
    """The headers of a frame that `linklab.measure.capture` caught whole, and what is left as data, in their order.

    A fragment that is not the first has IPv4 and data alone: what is in it cannot be told without the others.
    """
    found: list[Layer] = []
    left = packet
    while left.name != "NoPayload":
        inside = left.payload
        name = _NAMES.get(type(left).__name__)
        if name is None:
            found.append(Layer(_DATA, len(left)))
            break
        found.append(Layer(name, len(left) - len(inside)))
        left = inside
    return tuple(found)
