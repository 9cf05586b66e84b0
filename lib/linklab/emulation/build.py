"""Making a network real: Mininet builds it, then it is prepared for measuring, read back and compared."""

from __future__ import annotations

import logging
import resource
import time

from mininet.log import lg
from mininet.topo import Topo

from linklab.emulation import switches, vlans
from linklab.emulation.expectation import Asked, expectation_of
from linklab.emulation.interfaces import LabIntf
from linklab.emulation.namespace import first_namespace
from linklab.emulation.net import LabNetwork, is_ovs
from linklab.emulation.netlink import links
from linklab.emulation.prepare import prepare
from linklab.emulation.readback import read_state
from linklab.emulation.topo import NetworkTopo
from linklab.emulation.tunnels import dig, tunnels_of
from linklab.errors import LabError, LinklabError
from linklab.network import Network, NetworkState, differences
from linklab.runtime.agent import Context

_FILES_PER_NODE, _FILES_BESIDES = 6, 256
_SETTLE_S = 4.0


def build(
    context: Context, wish: Network | Topo, expected: NetworkState | None, switch: str, verify: bool
) -> list[str]:
    """Builds `wish` in this lab, once, and reads it back; lines on what of it is not checked, or not done.

    `expected` comes with a `Network`, with the routes to set; a Topo says itself what it asks for.
    Raises `LabError` naming the first difference between what was asked for and what the kernel has.
    """
    if "net" in context.state:
        raise LabError("this lab has its network already: stop it and start another")
    topo = NetworkTopo(wish) if isinstance(wish, Network) else wish
    asked = Asked(expected, (), {}) if expected else expectation_of(topo)
    said = _Said()
    lg.addHandler(said)
    # Mininet would raise the limit of open files to 16384 and then close that many for every node it starts
    LabNetwork.inited = True
    LabIntf.lab_seed = context.seed
    _raise_file_limit(len(topo.nodes()))
    try:
        kind = switches.prepare(context, switch)
        if any(is_ovs(topo.nodeInfo(name).get("cls")) for name in topo.switches()):
            switches.prepare(context, "ovs")
        net = LabNetwork(topo=topo, switch=kind, autoSetMacs=True, build=False)
        context.state["net"] = net
        net.build()
        if isinstance(wish, Network):
            dig(net, wish)
        net.start()
        if isinstance(wish, Network):
            vlans.configure(net, wish)
    except LinklabError:
        raise
    except BaseException as error:
        raise LabError(f"Mininet could not build this network: {said.first() or error}") from error
    finally:
        lg.removeHandler(said)
    prepare(net, expected)
    _settle(context, net)
    found = differences(asked.expectation, read_state(net)) if verify else ()
    left_out: dict[str, list[str]] = {}
    for difference in found:
        if not asked.left_out(difference):
            reason = f" (while building, Mininet said: {said.first()})" if said.first() else ""
            raise LabError(f"the network is not as asked: {difference}{reason}")
        left_out.setdefault(difference.node, []).append(difference.field)
    own_ways = (
        f"{node}: configured by its class {asked.own_ways[node]}: {', '.join(dict.fromkeys(fields))} not checked"
        for node, fields in left_out.items()
    )
    return [*asked.not_checked, *own_ways]


def _settle(context: Context, net: LabNetwork) -> None:
    """Waits until the switches' ports are in use, at most for a few seconds of the lab's time."""
    # a tunnel has no cable that the kernel could look at
    tunnels = {name for _, name in tunnels_of(net)}
    ports = {name for switch in net.switches for name in switch.nameToIntf if name != "lo"} - tunnels
    deadline = time.monotonic() + _SETTLE_S
    while ports and time.monotonic() < deadline:
        ports &= {device.name for device in links.devices(first_namespace().kernel) if device.settling}
        if ports:
            context.poll((), _SETTLE_S / 200)


def _raise_file_limit(nodes: int) -> None:
    """A namespace that is held open takes three descriptors, a shell two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wish = min(_FILES_PER_NODE * nodes + _FILES_BESIDES, hard)
    if wish > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wish, hard))


class _Said(logging.Handler):
    """What Mininet logs as an error and then ignores, for instance a qdisc that the kernel does not have."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += [line.strip() for line in record.getMessage().splitlines() if line.strip()]

    def first(self) -> str:
        return self.lines[0] if self.lines else ""
