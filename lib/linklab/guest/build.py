"""Build a network with Mininet, prepare it for measuring, read it back and compare it with what was asked for."""

from __future__ import annotations

import logging
import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from mininet.log import lg
from mininet.node import OVSSwitch
from mininet.topo import Topo

from linklab.errors import LabError, LinklabError
from linklab.guest import node_shell, switches
from linklab.guest.mininet_parts import LabIntf
from linklab.guest.namespace import first_namespace
from linklab.guest.net import LabNetwork, is_ovs
from linklab.guest.netlink import links
from linklab.guest.node_settings import configure_nodes
from linklab.guest.overlays import make_tunnels, make_vlans
from linklab.guest.readback import read_state
from linklab.guest.request_loop import RequestLoop
from linklab.guest.topo import NetworkTopo
from linklab.guest.topo_expectation import TopoExpectation, expectation_of, same_addresses
from linklab.network import Network, NetworkState, differences, values_of

_FILES_PER_NODE, _FILES_BESIDES = 6, 256
_PORTS_WITHIN_S = 4.0
_LISTENERS_REPORT_S = 4.0
"""For how long, at most, IPv6 tells which groups it listens to: twice, within a second each (RFC 3810, 9.11)."""


def build_network(
    loop: RequestLoop,
    topology: Network | Topo,
    expected: NetworkState | None,
    switch: str,
    controller: str | type | Callable[..., Any] | None,
) -> list[str]:
    """Build `topology` in this lab, once, and read it back; return lines on what of it is not checked, or not done.

    `expected` comes with a `Network`, with the routes to set; a Topo says itself what it asks for.
    `controller` is a command line, "remote" or a Controller class: switches of Open vSwitch leave to it what they do.
    Raises `LabError` naming the first difference between what was asked for and what the kernel has.
    """
    if "net" in loop.state:
        raise LabError("this lab has its network already: stop it and start another")
    topo = NetworkTopo(topology) if isinstance(topology, Network) else topology
    asked = TopoExpectation(expected, values_of(expected), (), {}) if expected else expectation_of(topo)
    said = _Said()
    lg.addHandler(said)
    # Mininet would raise the limit of open files to 16384 and then close that many for every node it starts
    LabNetwork.inited = True
    LabIntf.lab_seed = loop.seed
    raise_file_limit(len(topo.nodes()))
    try:
        kind = switches.start_switches(switch)
        if any(is_ovs(topo.nodeInfo(name).get("cls")) for name in topo.switches()):
            switches.start_switches("ovs")
        if controller == "remote":
            controller = switches.LaterController
        elif isinstance(controller, str):
            controller = partial(switches.CommandController, command_line=controller)
        net = LabNetwork(topo=topo, switch=kind, controller=controller, autoSetMacs=True, build=False)
        loop.state["net"] = net
        loop.idle_terminals = node_shell.idle_terminals
        # Its switches are secure from their first moment: where they learn by themselves until the controller has them,
        # one broadcast circles in a ring in no time, and no time passes any more.
        net.build()
        if controller is not None and not any(isinstance(it, OVSSwitch) for it in net.switches):
            raise LabError("no switch of this network asks a controller: say switch='ovs'")
        if isinstance(topology, Network):
            make_tunnels(net, topology)
        net.start()
        if isinstance(topology, Network):
            make_vlans(net, topology)
    except LinklabError:
        raise
    except (Exception, SystemExit) as error:  # Mininet exits where it misses a program
        part = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        raise LabError(f"Mininet could not build this network: {said.first() or error}{part}") from error
    finally:
        lg.removeHandler(said)
    # A controller is there to see what hosts ask for: with neighbours known from the start it would see no ARP.
    configure_nodes(net, expected, warm=controller is None)
    wait_for_ports(net, lambda seconds: loop.poll((), seconds))
    if isinstance(topology, Network) and topology.has_ipv6:
        loop.poll((), _LISTENERS_REPORT_S)
    if controller is not None:
        switches.await_connected(net, lambda seconds: loop.poll((), seconds))
    state = read_state(net)
    left_out: dict[str, list[str]] = {}
    for difference in differences(asked.expected, state):
        if not asked.left_out(difference):
            reason = f" (while building, Mininet said: {said.first()})" if said.first() else ""
            raise LabError(f"the network is not as asked: {difference}{reason}")
        left_out.setdefault(difference.node, []).append(difference.field)
    own_ways = (
        f"{node}: configured by its class {asked.own_ways[node]}: {', '.join(dict.fromkeys(fields))} not checked"
        for node, fields in left_out.items()
    )
    twice = () if isinstance(topology, Network) else _same_addresses(net, state)
    return [*asked.not_checked, *own_ways, *twice]


def _same_addresses(net: LabNetwork, state: NetworkState) -> Iterator[str]:
    interfaces = [(node, each) for node in state.nodes for each in node.interfaces if each.peer]
    apart = {host.name for host in net.hosts if host.inNamespace}
    return same_addresses(
        [((node.name, each.name), each.peer) for node, each in interfaces if each.peer],
        [
            ((node.name, each.name), address.partition("/")[0])
            for node, each in interfaces
            if node.name in apart
            for address in each.addresses
        ],
        net.joining(),
    )


def wait_for_ports(net: LabNetwork, pause: Callable[[float], object]) -> None:
    """Wait until the switches' ports are in use, at most for a few seconds of the lab's time, which `pause` passes."""
    ports = {name for switch in net.switches for name in switch.nameToIntf if name != "lo"}
    deadline = time.monotonic() + _PORTS_WITHIN_S
    while ports and time.monotonic() < deadline:
        devices = links.devices(first_namespace().kernel)
        # a tunnel has no cable that the kernel could look at
        ports &= {device.name for device in devices if device.settling and device.tunnel is None}
        if ports:
            pause(_PORTS_WITHIN_S / 200)


def raise_file_limit(nodes: int) -> None:
    """Raise the limit of open files for so many nodes: an open namespace takes three, a shell two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = min(_FILES_PER_NODE * nodes + _FILES_BESIDES, hard)
    if needed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


class _Said(logging.Handler):
    """Collects errors that Mininet logs and then ignores, for instance a qdisc that the kernel does not have."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += [line.strip() for line in record.getMessage().splitlines() if line.strip()]

    def first(self) -> str:
        return self.lines[0] if self.lines else ""
