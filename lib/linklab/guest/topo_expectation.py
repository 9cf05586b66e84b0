"""Derive what must be read back from what a student's own Mininet `Topo` asks for."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from mininet.link import Intf, Link, OVSLink, TCIntf, TCLink, TCULink
from mininet.node import CPULimitedHost, Host, Node, UserSwitch
from mininet.topo import Topo

from linklab.errors import NetworkError
from linklab.guest.mininet_parts import LabHost, LabIntf, LabLink, delay_ms, gro_asked
from linklab.guest.namespace import GRO
from linklab.guest.net import is_ovs, unbound
from linklab.network import Difference, InterfaceState, NetworkState, NodeState, Shape, Values, values_of
from linklab.network.state import CONGESTION_CONTROL, shape_values
from linklab.units import ETHERNET_MTU_BYTES

_SHAPED_LINKS, _PLAIN_LINKS, _SHAPED_ENDS = (LabLink, TCLink, TCULink), (Link, OVSLink), (LabIntf, TCIntf)
_OUR_HOSTS = (None, Host, Node, CPULimitedHost, LabHost)
_SHAPING = ("bw", "delay", "jitter", "loss", "max_queue_size")
_MOST_MBPS = TCIntf.bwParamMax


_TAKEN = {
    *("node1", "node2", "port1", "port2", "key"),  # Topo.addLink
    *("intfName1", "intfName2", "addr1", "addr2", "cls", "cls1", "cls2", "params1", "params2", "fast"),  # Link
    *("name", "node", "port", "link", "intf", "mac", "ip", "ifconfig", "up", "moveIntfFn"),  # Intf
    *_SHAPING,
    *("disable_gro", "speedup", "use_hfsc", "use_tbf", "latency_ms", "enable_ecn", "enable_red"),  # TCIntf
    *("gro", "rxo", "txo"),  # TCIntf and LabIntf
    "overhead_bytes",  # LabIntf
    "use_htb",  # Mininet's own examples say it: once there was a choice
}
"""What links of Mininet's and ours take."""
_LINKS_SHOWN = 3

_LEFT_TO_ITS_CLASS = frozenset({"addresses", "state", "mtu", "peer", "congestion control"})
"""What a host of a student's own class may set otherwise than Mininet's does."""
_NOT_ASKED = frozenset({"mtu", "tunnel", "VLAN", "routes", "forwarding"})
"""What a Topo cannot say, and what it leaves to the student."""
_SHAPE_FIELDS = frozenset(shape_values(Shape()))
T = TypeVar("T", bound=Hashable)
End: TypeAlias = tuple[str, str]
"""An end of a cable: its node and its interface."""


@dataclass(frozen=True)
class TopoExpectation:
    """What a Topo asks for: `state` is its network as far as it says, `expected` are the values that must be read back.

    `not_checked`: lines for the user on what cannot be read back, or is not done. `own_ways` are the hosts that
    configure themselves, with the names of their classes.
    """

    state: NetworkState
    expected: Values
    not_checked: tuple[str, ...]
    own_ways: dict[str, str]

    def left_out(self, difference: Difference) -> bool:
        """Return whether the difference is for the class of its node to decide."""
        extra = difference.field == "interface" and difference.found == "present"
        return difference.node in self.own_ways and (extra or difference.field in _LEFT_TO_ITS_CLASS)


def expectation_of(topo: Topo) -> TopoExpectation:
    """Return what must be read back once this Topo runs: nodes, cables, the shape of each link, addresses where given.

    Whatever the Topo leaves open (routes, forwarding) is not compared, nor what only the class of a node or link knows.
    Raises `NetworkError` with one line for values that Mininet and tc refuse.
    """
    classes = {name: _with_bound(topo.nodeInfo(name)) for name in topo.nodes()}
    own_ways = {
        name: getattr(cls, "__name__", str(cls))
        for name, (cls, _) in classes.items()
        if not topo.isSwitch(name) and cls not in _OUR_HOSTS
    }
    unused: dict[str, list[str]] = {}
    notes = [line for name, (cls, options) in classes.items() for line in _of_node(name, cls, options)]
    interfaces: dict[str, list[InterfaceState]] = {name: [] for name in topo.nodes()}
    own_shapes: set[tuple[str, str | None]] = set()
    for one, two, info in topo.links(withInfo=True):
        if unbound(info.get("cls"))[0] is OVSLink and all(
            is_ovs(topo.nodeInfo(node).get("cls")) for node in (one, two)
        ):
            notes.append(f"{one}-{two}: joined inside Open vSwitch, without interfaces: not checked")
            continue
        for number, (node, other) in enumerate(((one, two), (two, one)), 1):
            name = _interface_name(info, number, node)
            _check_name(name, node)
            shape, options = shape_of_end(info, number, node, name, notes)
            if shape is None:
                own_shapes.add((node, name))
            else:
                for word in options.keys() - _TAKEN:
                    unused.setdefault(f"{word}={options[word]!r}", []).append(f"{one}-{two}")
            interfaces[node].append(
                InterfaceState(
                    name=name,
                    addresses=() if topo.isSwitch(node) or options.get("ip") is None else (options["ip"],),
                    mtu_bytes=ETHERNET_MTU_BYTES,
                    up=True,
                    shape=shape or Shape(),
                    offloads_on=(GRO,) if gro_asked(options) else (),
                    peer=(other, _interface_name(info, 3 - number, other)),
                )
            )
    notes += map(_unused, sorted(unused), (unused[word] for word in sorted(unused)))
    treeless = {name for name, (_, options) in classes.items() if topo.isSwitch(name) and not options.get("stp")}
    notes += rings(topo.links(), treeless)
    state = NetworkState(
        tuple(
            NodeState(
                name=name,
                kind="switch" if topo.isSwitch(name) else "host",
                interfaces=tuple(interfaces[name]),
                routes=(),
                forwarding=False,
                congestion_control=None if topo.isSwitch(name) else CONGESTION_CONTROL,
            )
            for name in topo.nodes()
        )
    )
    expected = {
        (node, interface, field): (value[0], None) if field == "peer" and value[0] in own_ways else value
        for (node, interface, field), value in values_of(state).items()
        if field not in (_SHAPE_FIELDS | _NOT_ASKED if (node, interface) in own_shapes else _NOT_ASKED)
        and (value or field != "addresses")
    }
    return TopoExpectation(state, expected, tuple(dict.fromkeys(notes)), own_ways)


def _with_bound(info: dict[str, Any], which: str = "cls") -> tuple[Any, dict[str, Any]]:
    """Return the class that is asked for, and the options: those bound to it (functools.partial) if none is given."""
    cls, bound = unbound(info.get(which))
    return cls, {**bound, **info}


def _of_node(name: str, cls: Any, options: dict[str, Any]) -> Iterator[str]:
    limits = [word for word in ("cpu", "cores") if options.get(word) is not None]
    if limits:
        yield f"{name}: {' and '.join(limits)} not applied, a lab does not limit processors"
    if cls is UserSwitch:
        yield f"{name}: in place of Mininet's UserSwitch Open vSwitch in user space"


def _unused(word: str, links: list[str]) -> str:
    names = list(dict.fromkeys(links))
    more = f" and {len(names) - _LINKS_SHOWN} more" if len(names) > _LINKS_SHOWN else ""
    return (
        f"{', '.join(names[:_LINKS_SHOWN])}{more}: {word} not applied, Mininet's links take no {word.partition('=')[0]}"
    )


def same_addresses(
    cables: Iterable[tuple[End, End]], addresses: Iterable[tuple[End, str]], joining: Container[str]
) -> Iterator[str]:
    """Yield a line for each IPv4 address that several hosts have on cables which switches (`joining`) join.

    Elsewhere equal addresses may be meant: homes behind NAT, customers with a routing table each.
    """
    segments = _Joined[str | End]()
    for ends in cables:
        segments.join(*(end[0] if end[0] in joining else end for end in ends))
    owners: dict[tuple[str | End, str], dict[str, None]] = {}
    for end, address in addresses:
        if ":" not in address:
            owners.setdefault((segments.find(end), address), {})[end[0]] = None
    for (_, address), names in owners.items():
        if len(names) > 1:
            yield f"{', '.join(names)}: all have the address {address}, give each one of its own"


def rings(cables: Iterable[tuple[str, str]], treeless: Container[str]) -> Iterator[str]:
    """Yield a line if switches without a spanning tree (`treeless`) form a ring."""
    joined = _Joined[str]()
    for one, two in cables:
        if one in treeless and two in treeless and not joined.join(one, two):
            yield f"{one}-{two}: closes a ring of switches without stp=True, in which a broadcast circles for ever"
            return


class _Joined(Generic[T]):
    """Which things belong together, as pairs of them are joined."""

    def __init__(self) -> None:
        self._leader: dict[T, T] = {}

    def find(self, one: T) -> T:
        """Return the one that stands for all that belong together with this one."""
        while (above := self._leader.setdefault(one, one)) != one:
            one = above
        return one

    def join(self, one: T, two: T) -> bool:
        """Join two; return False where they belonged together before."""
        one, two = self.find(one), self.find(two)
        self._leader[two] = one
        return one != two


def _interface_name(info: dict[str, Any], number: int, node: str) -> str:
    """Return the name that Mininet gives the interface: the one asked for, or one of the port's number."""
    return str(info.get(f"intfName{number}") or f"{node}-eth{info[f'port{number}']}")


def _check_name(name: str, node: str) -> None:
    if len(name) > 15:
        raise NetworkError(
            f"interface name {name} of {node} has {len(name)} characters and Linux allows 15: shorten it"
        )


def shape_of_end(
    info: dict[str, Any], number: int, node: str, name: str, notes: list[str]
) -> tuple[Shape | None, dict[str, Any]]:
    """Return what shapes an end of a link, None where only its class knows; and the options of that end.

    As in Mininet, what the link says counts more than `params1` and `params2`, and its class more than its ends'.
    """
    link, options = _with_bound(info)
    end, options = _with_bound(options, f"cls{number}")
    if end is None and link in _PLAIN_LINKS:
        end, options = _with_bound(options, "intf")
        end = end or Intf
    options = {**(options.get(f"params{number}") or {}), **options}
    cls = end or link or LabLink
    if cls is Intf:
        ignored = [word for word in _SHAPING if options.get(word) is not None]
        if ignored:
            notes.append(f"{name}: {', '.join(ignored)} not applied, Mininet's {(link or end).__name__} has none")
        return Shape(), options
    if cls not in (*_SHAPED_LINKS, *_SHAPED_ENDS):
        known_as = getattr(cls, "__name__", str(cls))
        notes.append(f"{name}: of class {known_as}: rate, delay, loss and queue not checked")
        return None, options
    return _shape(options, node, name, notes), options


def _shape(options: dict[str, Any], node: str, interface: str, notes: list[str]) -> Shape:
    rate = _rate_mbps(options, node, interface, notes)
    loss = options.get("loss") or 0
    if not 0 <= _number(loss, "loss", interface) <= 100:
        raise NetworkError(f"{interface}: loss={loss} is not a percentage from 0 to 100")
    queue = options.get("max_queue_size")
    try:
        queue_packets = None if queue is None else int(queue)
        fits = queue is None or float(queue) >= 1
    except (OverflowError, ValueError):
        fits = False
    if not fits:
        raise NetworkError(f"{interface}: max_queue_size={queue} is not a number of packets, 1 or more")
    if queue is not None and queue_packets != float(queue):
        notes.append(f"{interface}: max_queue_size={queue} is rounded down to {queue_packets} packets")
    # Mininet takes jitter only along with something else
    shaped = options.get("bw") is not None or options.get("delay") or loss or queue is not None
    for word in ("delay", "jitter"):
        value = str(options.get(word) or "").strip()
        if shaped and value[-1:].isdigit() and delay_ms(value):
            notes.append(f"{interface}: {word}={value} has no unit: {value} us, as tc takes it, and not {value}ms")
    return Shape(
        rate_mbps=rate,
        delay_ms=delay_ms(options["delay"]) if options.get("delay") else 0.0,
        loss_percent=float(loss),
        queue_packets=None if rate is not None and _is_red(options) else queue_packets,
        overhead_bytes=options.get("overhead_bytes"),
        jitter_ms=delay_ms(options["jitter"]) if shaped and options.get("jitter") else 0.0,
    )


def _rate_mbps(options: dict[str, Any], node: str, interface: str, notes: list[str]) -> float | None:
    """Return what Mininet makes of bw, and of its options for the rate."""
    rate = options.get("bw")
    if rate is None:
        return None
    mbps = _number(rate, "bw", interface)
    if isinstance(rate, str):
        raise NetworkError(f"{interface}: bw={rate!r} is a text, which Mininet does not take: write bw={rate.strip()}")
    if not mbps:
        raise NetworkError(f"{interface}: bw=0 lets nothing pass: say more than 0 and at most {_MOST_MBPS} Mbit/s")
    if not 0 < mbps <= _MOST_MBPS:
        notes.append(f"{interface}: bw={rate} not applied, Mininet takes more than 0 and at most {_MOST_MBPS} Mbit/s")
        return None
    if options.get("use_tbf") and not options.get("use_hfsc"):
        notes.append(f"{interface}: its rate is a token bucket's, by Mininet: bucket and latency not checked")
    if _is_red(options):
        notes.append(f"{interface}: its queue is RED, by Mininet: thresholds not checked")
    speedup = options.get("speedup") or 0
    return float(speedup if speedup > 0 and node.startswith("s") else mbps)


def _is_red(options: dict[str, Any]) -> bool:
    return bool(options.get("enable_ecn") or options.get("enable_red"))


def _number(value: Any, word: str, interface: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise NetworkError(f"{interface}: {word}={value!r} is no number: write one, as in {word}=10") from None
