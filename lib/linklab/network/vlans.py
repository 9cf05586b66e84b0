"""VLANs as data: which port of a switch carries which VLAN, and who has an address in it (IEEE 802.1Q). Values only.

A switch without a :class:`SwitchVlans` is one broadcast domain, as ever. What is wrong with a plan says
:mod:`linklab.network.vlan_problems`; what it means for packets, :mod:`linklab.network.unfold`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

VLAN_NUMBERS: Final = (1, 4094)
"""IEEE 802.1Q: twelve bits, of which 0 means "no VLAN" and 4095 is reserved."""
TAG_BYTES: Final = 4
"""What a tag adds to a frame."""


@dataclass(frozen=True)
class AccessPort:
    """A port in one VLAN: its frames have no tag, and belong to ``vlan`` inside the switch."""

    interface: str
    vlan: int


@dataclass(frozen=True)
class TrunkPort:
    """A port of several VLANs: each frame has the tag of its VLAN; others do not pass."""

    interface: str
    vlans: tuple[int, ...]


@dataclass(frozen=True)
class Gateway:
    """A switch's own address in a VLAN (a "switch virtual interface"): with two of them it routes between VLANs."""

    vlan: int
    address: str


@dataclass(frozen=True)
class SwitchVlans:
    """The VLANs of one switch. With ``gateways`` it is a layer-3 switch."""

    switch: str
    vlans: tuple[int, ...]
    access: tuple[AccessPort, ...] = ()
    trunks: tuple[TrunkPort, ...] = ()
    gateways: tuple[Gateway, ...] = ()

    def gateway_interface(self, gateway: Gateway) -> str:
        """The name of the gateway's interface: ``"s1.10"``."""
        return f"{self.switch}.{gateway.vlan}"

    def vlans_of(self, interface: str) -> tuple[int, ...]:
        """The VLANs that a port carries; none for a port that is in no VLAN."""
        for port in self.access:
            if port.interface == interface:
                return (port.vlan,)
        for trunk in self.trunks:
            if trunk.interface == interface:
                return trunk.vlans
        return ()


@dataclass(frozen=True)
class SubInterface:
    """A router's or host's interface for one VLAN of a trunk (``parent`` is its end of the link)."""

    parent: str
    vlan: int
    address: str

    @property
    def name(self) -> str:
        """As Linux calls it by custom: ``"r1-eth0.10"``."""
        return f"{self.parent}.{self.vlan}"


@dataclass(frozen=True)
class Vlans:
    """All VLANs of a network: those of its switches, and the sub-interfaces at the other ends of trunks."""

    switches: tuple[SwitchVlans, ...]
    subinterfaces: tuple[SubInterface, ...] = ()

    def of_switch(self, name: str) -> SwitchVlans | None:
        """The VLANs of a switch; None for one without."""
        return next((each for each in self.switches if each.switch == name), None)

    def subinterfaces_of(self, parent: str) -> tuple[SubInterface, ...]:
        """The sub-interfaces on an interface."""
        return tuple(each for each in self.subinterfaces if each.parent == parent)


@dataclass(frozen=True)
class Membership:
    """What an interface was read back to be: frames without a tag belong to VLAN ``untagged``, tags let pass are
    ``tagged``.

    A gateway or a sub-interface has its VLAN in ``untagged``: whoever uses it sees no tags.
    """

    untagged: int | None = None
    tagged: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.untagged is None and not self.tagged:
            return "no VLAN"
        parts = [] if self.untagged is None else [f"VLAN {self.untagged}"]
        if self.tagged:
            parts.append(f"trunk of VLANs {', '.join(map(str, self.tagged))}")
        return " and ".join(parts)
