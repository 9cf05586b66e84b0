"""Do the links carry what the plan says, in both directions?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from linklab.grade.check import Check
from linklab.network import (
    Difference,
    End,
    Expectation,
    ExpectedInterface,
    ExpectedNode,
    InterfaceState,
    Link,
    Network,
    NetworkState,
    Shape,
    differences,
)

_Ends = Sequence[tuple[str, InterfaceState]]
_SHAPE_FIELDS = ("rate", "delay", "loss", "queue")


def link_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """Rate, delay and queue of each shaped link; then for all links loss, MTU, up, and offloads.

    A link is found by the nodes that it joins, so one whose interfaces have other names is looked at too.
    """
    live = {link: _live_ends(link, state) for link in network.links}
    found = tuple(it for it in differences(_plan(live), state) if it.expected not in ("none", "present"))
    shaped = [link for link in network.links if link.shape != Shape()]
    plain = [link for link in network.links if link.shape == Shape()]
    for link in shaped:
        yield from _shaped_checks(link, live[link], found)
    if shaped:
        yield _joint_check("shaped links: no loss", shaped, "0 %", ("loss",), live, found)
    if plain:
        yield _joint_check("other links: not shaped", plain, "no limit, no delay", _SHAPE_FIELDS, live, found)
    mtu = " or ".join(sorted({f"{link.mtu_bytes} bytes" for link in network.links}))
    yield _joint_check("all links: MTU", network.links, mtu, ("mtu",), live, found)
    yield _joint_check("all links: up", network.links, "up at both ends", ("state",), live, found)
    yield _joint_check("all links: offloads", network.links, "all off", ("offloads",), live, found)


def _live_ends(link: Link, state: NetworkState) -> _Ends:
    """The interfaces at both ends of the live cable that stands for ``link``; empty if there is none."""
    pairs = [(mine.node, _live_end(mine, theirs, state)) for mine, theirs in (link.ends, link.ends[::-1])]
    ends = [(node, interface) for node, interface in pairs if interface is not None]
    return ends if len(ends) == 2 else ()


def _live_end(mine: End, theirs: End, state: NetworkState) -> InterfaceState | None:
    node = state.node(mine.node)
    interfaces = node.interfaces if node is not None else ()
    candidates = [it for it in interfaces if it.peer is not None and it.peer[0] == theirs.node]
    # Between the same two nodes there may be several cables: then the plan's names decide.
    candidates.sort(key=lambda it: it.name != mine.interface and it.peer != (theirs.node, theirs.interface))
    return next(iter(candidates), None)


def _plan(live: Mapping[Link, _Ends]) -> Expectation:
    interfaces: dict[str, list[ExpectedInterface]] = {}
    for link, ends in live.items():
        for node, it in ends:
            expected = ExpectedInterface(it.name, None, link.mtu_bytes, True, link.shape, (), it.peer)
            interfaces.setdefault(node, []).append(expected)
    return Expectation(tuple(ExpectedNode(node, None, tuple(them)) for node, them in interfaces.items()))


def _concerning(found: Sequence[Difference], ends: _Ends, fields: Sequence[str]) -> list[Difference]:
    places = {(node, interface.name) for node, interface in ends}
    return [it for it in found if (it.node, it.interface) in places and it.field in fields]


def _shaped_checks(link: Link, ends: _Ends, found: Sequence[Difference]) -> Iterator[Check]:
    rate = "not limited" if link.rate_mbps is None else f"{link.rate_mbps:g} Mbit/s"
    wanted = [
        ("rate", "rate in both directions", rate),
        ("delay", "delay in both directions", f"{link.delay_ms:g} ms each way"),
    ]
    if link.queue_packets is not None:
        wanted.append(("queue", "queue on both sides", f"{link.queue_packets} packets"))
    for field, what, expected in wanted:
        description = f"{link.label}: {what}"
        if ends:
            yield Check.of_differences(description, expected, _concerning(found, ends, (field,)))
        else:
            yield _no_cable(description, [link], expected)


def _joint_check(
    description: str,
    links: Sequence[Link],
    expected: str,
    fields: Sequence[str],
    live: Mapping[Link, _Ends],
    found: Sequence[Difference],
) -> Check:
    # A missing cable costs its own link's points. What is there is judged for itself.
    if not any(live[link] for link in links):
        return _no_cable(description, links, expected)
    wrong = [it for link in links for it in _concerning(found, live[link], fields)]
    return Check.of_differences(description, expected, wrong)


def _no_cable(description: str, links: Sequence[Link], expected: str) -> Check:
    names = " or ".join(f"{link.a.node} and {link.b.node}" for link in links[:3])
    return Check.failing(
        description,
        f"no cable joins {names}",
        "mend the cables first: see the check of nodes and cables",
        expected,
        "no cable",
    )
