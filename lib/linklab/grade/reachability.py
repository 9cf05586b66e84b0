"""Do packets really come back? Pings inside the lab."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface
from itertools import combinations, combinations_with_replacement, product

from linklab.grade.check import Check, listed
from linklab.grade.live import LiveLab
from linklab.grade.routing import Routing
from linklab.network import Network, NetworkState

_COUNTS = re.compile(r"^(\d+) packets transmitted, (\d+) (?:packets )?received\b", re.MULTILINE)
# A ping each second until one is answered, for two seconds: enough for ARP on the way and a slow machine.
_PING = "ping -n -c 1 -w 2 {address}"


@dataclass(frozen=True)
class PingCounts:
    """How many echo requests were sent and answered, as ping itself counted."""

    sent: int
    answered: int


def ping_counts(output: str) -> PingCounts | None:
    """The counts of ping's summary line. None if there is not exactly one, as when ping did not start."""
    found = _COUNTS.findall(output)
    if len(found) != 1:
        return None
    sent, answered = found[0]
    return PingCounts(int(sent), int(answered))


def reachability_checks(network: Network, lab: LiveLab) -> Iterator[Check]:
    """One check for each two subnets with hosts: each host of one pings each host of the other.

    A ping needs the way there and the way back, so each pair is tried once, from one side. What the live
    routing tables and forwarding flags say explains a ping that fails.
    """
    state = lab.state()
    routing = Routing(network, state)
    groups = _groups(network)
    for one, other in combinations_with_replacement(groups, 2):
        pairs = list(combinations(groups[one], 2) if one == other else product(groups[one], groups[other]))
        if not pairs:
            continue
        where = f"within subnet {one}" if one == other else f"subnets {one} and {other}"
        description = f"{where}: {_names(groups[one], groups[other] if one != other else ())}"
        lost = [reason for pair in pairs if (reason := _lost(network, lab, state, routing, pair))]
        if lost:
            reasons = list(dict.fromkeys(reason for reason, _ in lost))
            hints = list(dict.fromkeys(hint for _, hint in lost))
            found = f"{len(pairs) - len(lost)} of {len(pairs)} pairs"
            yield Check.failing(description, listed(reasons), listed(hints), "all pings answered", found)
        else:
            yield Check.passing(description, "all pings answered", f"{len(pairs)} of {len(pairs)} pairs")


def _groups(network: Network) -> dict[str, list[str]]:
    names = {IPv4Interface(subnet.prefix).network: subnet.name for subnet in network.subnets}
    groups: dict[str, list[str]] = {}
    for host in network.hosts:
        for end in network.ends_of(host.name)[:1]:
            prefix = IPv4Interface(end.address or "").network
            groups.setdefault(names.get(prefix, str(prefix)), []).append(host.name)
    return groups


def _names(one: Sequence[str], other: Sequence[str]) -> str:
    return ", ".join(one) + (f" with {', '.join(other)}" if other else "")


def _lost(
    network: Network, lab: LiveLab, state: NetworkState, routing: Routing, pair: tuple[str, str]
) -> tuple[str, str] | None:
    """Reason and hint if the ping of a pair is not answered; None if it is."""
    source, destination = pair
    missing = [name for name in pair if state.node(name) is None]
    if missing:
        return f"{missing[0]} is not there", f"add {missing[0]} to the Topo first: see the check of nodes"
    address = routing.address_of(destination)
    output = ""
    if address is not None:
        output = lab[source].cmd(_PING.format(address=address))
        counts = ping_counts(output)
        if counts is not None and counts.answered > 0:
            return None
    return _explanation(network, state, routing, pair, output)


def _explanation(
    network: Network, state: NetworkState, routing: Routing, pair: tuple[str, str], output: str
) -> tuple[str, str]:
    source, destination = pair
    for start, end, what in ((source, destination, "request"), (destination, source, "answer")):
        loss = routing.loss(start, end)
        if loss is not None:
            _, reason, hint = loss
            return f"the {what} from {start} to {end} is lost: {reason}", hint
        for name in routing.trail(start, end)[1:-1]:
            node = state.node(name)
            if node is not None and not node.forwarding:
                return (
                    f"the {what} from {start} to {end} is lost: {name} is on the way and does not forward",
                    f"on {name}, sysctl -w net.ipv4.ip_forward=1",
                )
    if ping_counts(output) is None:
        said = " ".join(output.split()[:12]) or "nothing"
        return f"ping from {source} to {destination} did not run, it said: {said}", "try it with lab[...].cmd"
    return (
        f"{destination} did not answer {source}, although all routes and forwarding are right",
        "see the check of links: a link that is down or loses packets, or a queue that is too short",
    )
