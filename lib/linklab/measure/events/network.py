"""What became of the network: cables cut and healed, and neighbours that routers gave up.

The routers' own packets tell of neighbours: a Hello of OSPF lists the neighbours that its sender hears (RFC 2328,
section A.3.2), a packet of BFD has its sender's state (RFC 5880, section 4.1), and a NOTIFICATION ends a session of BGP
(RFC 4271, section 4.5).
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from linklab.measure.events.table import Event
from linklab.measure.events.traffic import RecordedTraffic
from linklab.measure.headers import ip_of

_AT_ONCE_NS: Final = 1_000_000
"""An instant, as routers see it."""


class CableOutage(NamedTuple):
    """A cable between two nodes, or all cables of one, cut and healed by a run's `Cut`."""

    nodes: tuple[str, ...]
    cut_ns: int
    healed_ns: int
    interfaces: tuple[str, ...]
    silent: bool


def network_events(traffic: RecordedTraffic, outages: Sequence[CableOutage]) -> Iterator[Event]:
    """Yield what became of the network."""
    for outage in outages:
        yield from _outage_events(traffic, outage)
    by_bfd = list(_bfd_events(traffic))
    yield from by_bfd
    yield from _ospf_events(traffic, outages, by_bfd)
    yield from _bgp_events(traffic)


def _outage_events(traffic: RecordedTraffic, outage: CableOutage) -> Iterator[Event]:
    where = "-".join(outage.nodes)
    cables, is_cut, is_whole = (
        (f"The cable between {' and '.join(outage.nodes)}", "is cut", "is whole again")
        if len(outage.nodes) == 2
        else (f"All cables of {where}", "are cut", "are whole again")
    )
    why = (
        "No interface notices: frames are lost on the way." if outage.silent else "The interfaces at both ends notice."
    )
    yield traffic.event(outage.cut_ns, "cut", where, f"{cables} {is_cut}.", why)
    yield traffic.event(outage.healed_ns, "healed", where, f"{cables} {is_whole}.")


class _Hello(NamedTuple):
    """A Hello of OSPF as its sender queued it."""

    sent_ns: int
    arrived_ns: int | None
    router: bytes
    dead_s: int
    heard: frozenset[bytes]


_OSPF, _HELLO = 89, 1
_NEIGHBOURS_AT: Final = 44
_DEAD: Final = struct.Struct(">I")


def _ospf_events(traffic: RecordedTraffic, outages: Sequence[CableOutage], by_bfd: Sequence[Event]) -> Iterator[Event]:
    hellos: defaultdict[str, list[_Hello]] = defaultdict(list)
    name_of: dict[bytes, str] = {}
    for flow in traffic.flows.values():
        for hop, _, _ in flow.packets if _is_ospf(flow.packets[0].hop.head) else ():
            ip = ip_of(hop.head)
            text = hop.head[ip.data :] if ip else b""
            if len(text) >= _NEIGHBOURS_AT and text[1] == _HELLO:
                heard = frozenset(text[at : at + 4] for at in range(_NEIGHBOURS_AT, len(text) - 3, 4))
                (dead_s,) = _DEAD.unpack_from(text, 32)
                arrived_ns = traffic.arrival_ns(hop.packet)
                hellos[hop.interface].append(_Hello(hop.queued_ns, arrived_ns, text[4:8], dead_s, heard))
                name_of[text[4:8]] = traffic.node_of[hop.interface]
    peers = {port.interface: port.peer for port in traffic.recording.ports}
    for interface, sent in hellos.items():
        got = [it for it in hellos.get(peers[interface] or "", ()) if it.arrived_ns is not None]
        yield from _Adjacency(traffic, outages, interface, got, name_of, by_bfd).events(sent)


def _is_ospf(head: bytes) -> bool:
    ip = ip_of(head)
    return ip is not None and ip.protocol == _OSPF


class _Adjacency:
    """Which neighbours a router hears at one of its interfaces."""

    def __init__(
        self,
        traffic: RecordedTraffic,
        outages: Sequence[CableOutage],
        interface: str,
        got: Sequence[_Hello],
        name_of: dict[bytes, str],
        by_bfd: Sequence[Event],
    ) -> None:
        self._traffic, self._interface, self._got, self._name_of = traffic, interface, got, name_of
        self._node = traffic.node_of[interface]
        self._down_ns = [it.cut_ns for it in outages if interface in it.interfaces and not it.silent]
        self._by_bfd = [it for it in by_bfd if it.where == interface]

    def events(self, sent: Sequence[_Hello]) -> Iterator[Event]:
        """Yield when it gave a neighbour up, and when it found one."""
        before = sent[0]
        for hello in sent[1:]:
            for router in before.heard - hello.heard:
                yield self._gives_up(router, before, hello.sent_ns)
            for router in hello.heard - before.heard:
                who = self._name_of.get(router, "another router")
                what, why = f"{self._node} has {who} as its neighbour (OSPF).", f"A Hello of {who} arrived."
                yield self._traffic.event(hello.sent_ns, "neighbour", self._interface, what, why)
            before = hello
        end_ns = next((it for it in self._down_ns if it >= before.sent_ns), None)
        if end_ns is not None:  # it sends no more of them
            for router in before.heard:
                yield self._gives_up(router, before, end_ns)

    def _gives_up(self, router: bytes, before: _Hello, until_ns: int) -> Event:
        """Return the event that a neighbour was given up, between a Hello that had it and an instant."""
        who = self._name_of.get(router, "another router")
        at_ns, why = until_ns, ""
        place = bisect_right(self._got, until_ns, key=lambda it: it.arrived_ns or 0)
        down_ns = next((it for it in self._down_ns if before.sent_ns <= it <= until_ns), None)
        told = next((it for it in self._by_bfd if self._in(before.sent_ns, it.at_s, until_ns)), None)
        if down_ns is not None:
            at_ns, why = down_ns, f"{self._interface} went down."
        elif told is not None:
            at_ns, why = round(told.at_s * 1e9) + self._traffic.begin_ns, f"BFD told it. {told.why}"
        elif place:
            last = self._got[place - 1]
            due_ns = (last.arrived_ns or 0) + last.dead_s * 10**9
            if before.sent_ns <= due_ns <= until_ns + _AT_ONCE_NS:
                at_ns, why = due_ns, f"No Hello of {who} came for {last.dead_s} s, the dead interval."
        what = f"{self._node} gives up {who} as its neighbour (OSPF)."
        return self._traffic.event(at_ns, "neighbour", self._interface, what, why)

    def _in(self, begin_ns: int, at_s: float, end_ns: int) -> bool:
        return begin_ns <= round(at_s * 1e9) + self._traffic.begin_ns <= end_ns


_BFD_PORT: Final = ":3784"
_DOWN, _UP = 1, 3
_EXPIRED, _OTHER_SAID = 1, 3
"""Diagnostics (RFC 5880, section 4.1): its own time ran out; the other end said that it is down."""


def _bfd_events(traffic: RecordedTraffic) -> Iterator[Event]:
    state_of: dict[str, int] = {}
    multiplier_of: dict[str, int] = {}
    peers = {port.interface: port.peer for port in traffic.recording.ports}
    packets = [
        it.hop
        for flow in traffic.flows.values()
        if flow.ends.protocol == "UDP" and flow.ends.destination.endswith(_BFD_PORT)
        for it in flow.packets
    ]
    for hop in sorted(packets, key=lambda it: it.queued_ns):
        ip = ip_of(hop.head)
        text = hop.head[ip.data + 8 :] if ip else b""
        if len(text) < 3:
            continue
        state, before = text[1] >> 6, state_of.get(hop.interface)
        state_of[hop.interface], multiplier_of[hop.interface] = state, text[2]
        if state == before or before is None or _UP not in (state, before):
            continue
        node, other = traffic.node_of[hop.interface], traffic.node_of.get(peers[hop.interface] or "", "the other end")
        if state == _UP:
            what, why = f"{node} has {other} as its neighbour (BFD).", f"Packets of {other} arrive."
        else:
            what = f"{node} gives up {other} as its neighbour (BFD)."
            missed = multiplier_of.get(peers[hop.interface] or "", "too many")  # who hears goes by the other's
            why = {
                _EXPIRED: f"{missed} packets of {other} in a row did not come.",
                _OTHER_SAID: f"{other} said that it had given up.",
            }.get(text[0] & 31, "")
        yield traffic.event(hop.queued_ns, "neighbour", hop.interface, what, why)


_BGP_PORT: Final = ":179"
_MARKER: Final = b"\xff" * 16
_NOTIFICATION: Final = 3
_BGP_CODES: Final = {
    1: "A message had a wrong header.",
    2: "It refuses the other's OPEN.",
    3: "An UPDATE was wrong.",
    4: "No message came for the hold time.",
}
_CEASE, _COLLISION = 6, 7
_CEASES: Final = {
    1: "The other announced more prefixes than it takes.",
    2: "Somebody shut it down.",
    3: "Somebody took the other out of its configuration.",
    4: "Somebody reset it.",
    6: "Somebody changed its configuration.",
    10: "BFD told it.",
}
"""RFC 4486, section 4, and RFC 9384. Where both ends open a connection at once one of the two is closed (7)."""


def _bgp_events(traffic: RecordedTraffic) -> Iterator[Event]:
    for flow in traffic.flows.values():
        if flow.ends.protocol != "TCP" or _BGP_PORT not in (flow.ends.source[-4:], flow.ends.destination[-4:]):
            continue
        told: set[bool] = set()
        for hop, there, segment in flow.packets:
            if segment is None or not segment.data_bytes or there in told:
                continue
            ip = ip_of(hop.head)
            text = hop.head[ip.data + 4 * (hop.head[ip.data + 12] >> 4) :] if ip else b""
            if text[:16] == _MARKER and text[18:19] == bytes([_NOTIFICATION]):
                code, reason = (text[19], text[20]) if len(text) > 20 else (0, 0)
                if (code, reason) == (_CEASE, _COLLISION):
                    continue
                told.add(there)
                node, other = traffic.ends_in_words(hop.head)
                what = f"{node} gives up {other} as its neighbour (BGP)."
                why = _CEASES.get(reason, "") if code == _CEASE else _BGP_CODES.get(code, "")
                yield traffic.event(hop.queued_ns, "neighbour", node, what, why, packet=hop.packet, flow=flow.name)
