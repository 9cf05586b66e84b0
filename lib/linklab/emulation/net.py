"""Mininet itself, with nodes and links that need no shell to be made."""

from __future__ import annotations

import os
from typing import Any

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import Host, Node
from mininet.nodelib import LinuxBridge
from mininet.util import numCores

from linklab.emulation.interfaces import LabLink
from linklab.emulation.nodes import LabHost
from linklab.emulation.switches import LabBridge, UserOVS

# A Topo may name Mininet's own classes; a class that a student has derived from them stays as it is.
_OURS: dict[type, type] = {Host: LabHost, Node: LabHost, TCLink: LabLink, LinuxBridge: LabBridge}


class LabNetwork(Mininet):
    """A running network, with everything that Mininet's has."""

    def __init__(self, **params: Any) -> None:
        self._macs = 0
        numCores.ncores = os.cpu_count()  # Mininet would ask grep
        super().__init__(**({"host": LabHost, "link": LabLink, "switch": LabBridge, "controller": None} | params))

    def addHost(self, name: str, cls: type | None = None, **params: Any) -> Node:
        """As Mininet's."""
        return super().addHost(name, _OURS.get(cls, cls) if cls else None, **params)

    def addSwitch(self, name: str, cls: type | None = None, **params: Any) -> Node:
        """As Mininet's."""
        return super().addSwitch(name, _OURS.get(cls, cls) if cls else None, **params)

    def addLink(
        self, node1: Any, node2: Any, port1: Any = None, port2: Any = None, cls: Any = None, **params: Any
    ) -> Any:
        """As Mininet's."""
        if self.switch is UserOVS:
            # It hands packets on as bytes: checksums that the kernel leaves for a network card would stay wrong.
            params = {"txo": False} | params
        return super().addLink(node1, node2, port1, port2, _OURS.get(cls, cls) if cls else None, **params)

    def randMac(self) -> str:
        """Counted, not random: every run of an experiment has the same network."""
        self._macs += 1
        return "02:00:" + self._macs.to_bytes(4, "big").hex(":")
