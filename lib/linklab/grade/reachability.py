"""Do packets really come back? Pings inside the lab."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface
from itertools import combinations, combinations_with_replacement, product
from typing import Protocol, runtime_checkable

from linklab.grade.check import Check, Refuse, a_kind, listed, listed_hints
from linklab.grade.routes import Routing, forwarding_hints
from linklab.lab import Lab
from linklab.network import Network, NetworkState

# --- What a check needs of a running lab


class LiveNode(Protocol):
    """A node of a running lab, on which commands run."""

    def cmd(self, command: str, /) -> str:
        """Run a command, and return what it printed."""
        ...


@runtime_checkable
class LiveLab(Protocol):
    """A running lab, as far as checks use it."""

    def state(self) -> NetworkState:
        """Return the network as it is now, read back from the kernel."""
        ...

    def __getitem__(self, name: str, /) -> LiveNode:
        """Return the node called ``name``."""
        ...


Checkable = LiveLab | NetworkState
"""What most checks take: a running lab, or a state that was read back from one."""


def state_of(lab: Checkable) -> NetworkState:
    """Return the network as it is now. Raises `Refuse` if ``lab`` is neither a lab nor a state."""
    if isinstance(lab, NetworkState):
        return lab
    if isinstance(lab, LiveLab):
        return lab.state()
    raise _no_lab("this check", lab)


def running(lab: Checkable) -> LiveLab:
    """Return the lab itself, for checks that run commands in it. Raises `Refuse` if it is only a state."""
    if isinstance(lab, NetworkState) or not isinstance(lab, LiveLab):
        raise _no_lab("this check sends packets and", lab)
    return lab


def of_topo(lab: Checkable, name: str) -> Checkable:
    """Return a lab that was started with a Topo; refuse one that got Linklab's own description of the network.

    ``name`` is that of the class that students write.
    """
    if isinstance(lab, Lab) and not lab.is_of_topo:
        reason = "linklab.start got Linklab's description of the network, and not your Topo"
        raise Refuse("a network of your own", reason, f"start your own class: lab = start({name}())")
    return lab


def _no_lab(what: str, value: object) -> Refuse:
    got, hint = a_kind(value), "give it the lab that linklab.start returned"
    return Refuse("the lab", f"{what} got {got}", hint, "a lab that runs", got)


# --- Pings


@dataclass(frozen=True)
class _Loss:
    """What is lost, as the first half of a sentence, why, and what to do."""

    what: str
    cause: str
    hints: tuple[str, ...]


_ANSWERED = re.compile(r"^\d+ packets transmitted, (\d+) (?:packets )?received\b", re.MULTILINE)
# A ping each second until one is answered or the time is over. Two seconds are enough for ARP on the way and
# a slow machine; where the routing tables say that it will be lost, one second confirms it.
_PING = "ping -n -c 1 -w {seconds} {address}"


def ping(lab: LiveLab, source: str, address: str | None) -> str:
    """Return what ping prints; of one without an answer what a second one prints.

    A ping ends at an error, too. The first one may get that of an ARP question which nobody answered before the network
    was mended: a lab's time passes only in its commands.
    """
    command = _PING.format(seconds=2, address=address)
    output = lab[source].cmd(command)
    return output if pings_answered(output) else lab[source].cmd(command)


def pings_answered(output: str) -> int | None:
    """Return how many echo requests were answered, by ping's summary line; None where there is not one."""
    found = _ANSWERED.findall(output)
    return int(found[0]) if len(found) == 1 else None


def reachability_checks(network: Network, lab: LiveLab) -> Iterator[Check]:
    """Yield a check for each two subnets with hosts: each host of one pings each host of the other.

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
        losses = [loss for pair in pairs if (loss := _loss(lab, state, routing, pair))]
        if losses:
            reasons = listed(_grouped(losses))
            hints = listed_hints(loss.hints for loss in losses)
            found = f"{len(pairs) - len(losses)} of {len(pairs)} pairs"
            yield Check.failing(description, reasons, hints, "all pings answered", found)
        else:
            yield Check.passing(description, "all pings answered", f"{len(pairs)} of {len(pairs)} pairs")


def _grouped(losses: Sequence[_Loss]) -> list[str]:
    counts = Counter(loss.cause for loss in losses)
    firsts = {loss.cause: loss.what for loss in reversed(losses)}
    return [
        f"{firsts[cause]}{f' (and {number - 1} more)' if number > 1 else ''}: {cause}"
        for cause, number in counts.items()
    ]


def _groups(network: Network) -> dict[str, list[str]]:
    names = {IPv4Interface(subnet.prefix).network: subnet.name for subnet in network.subnets}
    groups: dict[str, list[str]] = {}
    for host in network.hosts:
        for end in network.ends_of(host.name)[:1]:
            prefix = IPv4Interface(end.address or "").network
            groups.setdefault(names.get(prefix, str(prefix)), []).append(host.name)
    return dict(sorted(groups.items()))


def _names(one: Sequence[str], other: Sequence[str]) -> str:
    return ", ".join(one) + (f" with {', '.join(other)}" if other else "")


def _loss(lab: LiveLab, state: NetworkState, routing: Routing, pair: tuple[str, str]) -> _Loss | None:
    """Return why the ping of a pair is not answered; None if it is."""
    source, destination = pair
    what = f"{source} gets no answer from {destination}"
    missing = [name for name in pair if state.node(name) is None]
    if missing:
        hint = f"add {missing[0]} to the Topo first: see the check of nodes"
        return _Loss(what, f"{missing[0]} is not there", (hint,))
    foreseen = _foreseen(state, routing, pair)
    address = routing.address_of(destination)
    if address is None and foreseen is not None:
        return foreseen
    output = lab[source].cmd(_PING.format(seconds=1, address=address)) if foreseen else ping(lab, source, address)
    answered = pings_answered(output)
    if answered:
        return None
    if foreseen is not None:
        return foreseen
    if answered is None:
        said = " ".join(output.split()[:12]) or "nothing"
        return _Loss(what, f"ping did not run, it said: {said}", (f'try it: lab["{source}"].cmd("ping ...")',))
    return _Loss(
        what,
        "all routes and forwarding are right, but the packets are lost",
        ("see the check of links: a link that is down or loses packets, or a queue that is too short",),
    )


def _foreseen(state: NetworkState, routing: Routing, pair: tuple[str, str]) -> _Loss | None:
    """Return the loss that routing tables and forwarding flags predict, if any."""
    source, destination = pair
    for start, end, what in ((source, destination, "request"), (destination, source, "answer")):
        lost = f"the {what} from {start} to {end} is lost"
        loss = routing.loss(start, end)
        if loss is not None:
            _, reason, hints = loss
            return _Loss(lost, reason, hints)
        for name in routing.trail(start, end)[1:-1]:
            node = state.node(name)
            if node is not None and not node.forwarding:
                return _Loss(lost, f"{name} is on the path and does not forward", forwarding_hints(name))
    return None
