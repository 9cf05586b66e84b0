"""Making a network real: Mininet builds it, then it is prepared for measuring, read back and compared."""

from __future__ import annotations

import logging
from typing import Any

from mininet.link import TCLink
from mininet.log import lg
from mininet.net import Mininet
from mininet.topo import Topo

from linklab.emulation import switches
from linklab.emulation.expectation import expectation_of
from linklab.emulation.prepare import prepare
from linklab.emulation.readback import read_state
from linklab.emulation.topo import NetworkTopo
from linklab.errors import LabError, LinklabError
from linklab.network import Network, NetworkState, first_difference
from linklab.runtime.agent import Context


def build(
    context: Context, wish: Network | Topo, expected: NetworkState | None, switch: str, verify: bool
) -> dict[str, Any]:
    """Builds `wish` in this lab, once; returns the state read back, as JSON.

    `expected` comes with a `Network`, with the routes to set; a Topo says itself what it asks for.
    Raises `LabError` naming the first difference between what was asked for and what the kernel has.
    """
    if "net" in context.state:
        raise LabError("this lab has its network already: stop it and start another")
    topo = NetworkTopo(wish) if isinstance(wish, Network) else wish
    asked = expected or expectation_of(topo)
    said = _Said()
    lg.addHandler(said)
    lg.setLevel(logging.ERROR)
    # Mininet would raise the limit of open files to 16384 and then close that many for every node it starts
    Mininet.inited = True
    try:
        net = Mininet(
            topo=topo,
            link=TCLink,
            switch=switches.prepare(context, switch),
            controller=None,
            autoSetMacs=True,
            build=False,
        )
        context.state["net"] = net
        net.build()
        net.start()
    except LinklabError:
        raise
    except BaseException as error:
        raise LabError(f"Mininet could not build this network: {said.first() or error}") from error
    finally:
        lg.removeHandler(said)
    prepare(net, expected)
    state = read_state(net)
    difference = first_difference(asked, state) if verify else None
    if difference is not None:
        reason = f" (while building, Mininet said: {said.first()})" if said.first() else ""
        raise LabError(f"the network is not as asked: {difference}{reason}")
    return state.to_json()


class _Said(logging.Handler):
    """What Mininet logs as an error and then ignores, for instance a qdisc that the kernel does not have."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += [line.strip() for line in record.getMessage().splitlines() if line.strip()]

    def first(self) -> str:
        return self.lines[0] if self.lines else ""
