"""What a student's own Mininet `Topo` asks for, as far as it says."""

from __future__ import annotations

import re
from typing import Any

from mininet.topo import Topo

from linklab.errors import NetworkError
from linklab.network import Expectation, ExpectedInterface, ExpectedNode, Shape
from linklab.network.expect import CONGESTION_CONTROL

# tc's units of time; a bare number means microseconds to tc, and to Mininet, which hands it on
_TIME_MS = {
    "s": 1000.0,
    "sec": 1000.0,
    "secs": 1000.0,
    "ms": 1.0,
    "msec": 1.0,
    "msecs": 1.0,
    "us": 1e-3,
    "usec": 1e-3,
}
_TIME = re.compile(r"^\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*$")
_SHAPING = ("bw", "delay", "loss", "max_queue_size")


def delay_ms(text: str | float) -> float:
    """A delay as Mininet takes it (``"10ms"``), in milliseconds. Raises `NetworkError` where tc would refuse it."""
    match = _TIME.match(str(text).lower())
    if match is None or (match[2] and match[2] not in _TIME_MS):
        raise NetworkError(f"delay {text!r} is not a time: write it like '10ms' or '2.5ms'")
    return float(match[1]) * (_TIME_MS[match[2]] if match[2] else 1e-3)


def expectation_of(topo: Topo) -> Expectation:
    """What must be read back once this Topo runs: nodes, cables, the shape of each link, addresses where given.

    Whatever the Topo leaves open (routes, forwarding) is not compared. Raises `NetworkError` with one line for
    values that Mininet would log and ignore.
    """
    interfaces: dict[str, list[ExpectedInterface]] = {name: [] for name in topo.nodes()}
    for one, two, info in topo.links(withInfo=True):
        for number, (node, other) in enumerate(((one, two), (two, one)), 1):
            name = _interface_name(info, number, node)
            peer_name = _interface_name(info, 3 - number, other)
            wish = {**info, **(info.get(f"params{number}") or {})}
            _check_name(name, node)
            addresses = None if topo.isSwitch(node) or wish.get("ip") is None else (wish["ip"],)
            interfaces[node].append(
                ExpectedInterface(
                    name=name,
                    addresses=addresses,
                    shape=_shape(wish, name),
                    offloads_on=(),
                    peer=(other, peer_name),
                )
            )
    return Expectation(
        tuple(
            ExpectedNode(
                name=name,
                kind="switch" if topo.isSwitch(name) else "host",
                interfaces=tuple(interfaces[name]),
                congestion_control=None if topo.isSwitch(name) else CONGESTION_CONTROL,
            )
            for name in topo.nodes()
        )
    )


def _interface_name(info: dict[str, Any], number: int, node: str) -> str:
    """As Mininet names it: by wish, or by the port."""
    return str(info.get(f"intfName{number}") or f"{node}-eth{info[f'port{number}']}")


def _check_name(name: str, node: str) -> None:
    if len(name) > 15:
        raise NetworkError(
            f"interface name {name} of {node} has {len(name)} characters and Linux allows 15: shorten it"
        )


def _shape(wish: dict[str, Any], interface: str) -> Shape:
    rate = wish.get("bw")
    if rate is not None and not 0 < float(rate) <= 1000:
        raise NetworkError(f"{interface}: bw={rate} is outside Mininet's range, more than 0 and at most 1000 Mbit/s")
    loss = wish.get("loss") or 0
    if not 0 <= float(loss) <= 100:
        raise NetworkError(f"{interface}: loss={loss} is not a percentage from 0 to 100")
    queue = wish.get("max_queue_size")
    if queue is not None and (int(queue) != queue or queue < 1):
        raise NetworkError(f"{interface}: max_queue_size={queue} is not a number of packets, 1 or more")
    return Shape(
        rate_mbps=None if rate is None else float(rate),
        delay_ms=delay_ms(wish["delay"]) if wish.get("delay") else 0.0,
        loss_percent=float(loss),
        queue_packets=None if queue is None else int(queue),
    )
