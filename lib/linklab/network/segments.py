"""Broadcast domains: which interfaces hear each other without a router between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linklab.network.parts import End, Link, Node, Switch


@dataclass(frozen=True)
class Segment:
    """One broadcast domain: links joined by switches, or a single link without any.

    ``stations`` are the ends on hosts and routers; ``switches`` are the names of the switches.
    """

    links: tuple[Link, ...]
    stations: tuple[End, ...]
    switches: tuple[str, ...]

    @property
    def has_loop(self) -> bool:
        """True if frames could circle: a tree over n vertices has n - 1 links, more close a ring."""
        return len(self.links) > len(self.stations) + len(self.switches) - 1

    def way(self, source: End, target: End) -> tuple[tuple[Link, End, End], ...]:
        """The links a frame crosses from one station to another, each with its near and its far end.

        Both ends must be stations of this segment, and the segment must be free of loops.
        """
        switches = set(self.switches)
        trail: dict[End, tuple[tuple[Link, End, End], ...]] = {}
        waiting: list[tuple[End, tuple[tuple[Link, End, End], ...]]] = [(source, ())]
        while waiting:
            near, so_far = waiting.pop(0)
            link = next(link for link in self.links if near in link.ends)
            far = link.b if near == link.a else link.a
            trail[far] = (*so_far, (link, near, far))
            if far.node in switches:
                waiting.extend(
                    (end, trail[far])
                    for other in self.links
                    for end in other.ends
                    if end.node == far.node and end != far
                )
        return trail[target]


def segments(nodes: Sequence[Node], links: Sequence[Link]) -> tuple[Segment, ...]:
    """All broadcast domains, in the order of their first links."""
    switches = {node.name for node in nodes if isinstance(node, Switch)}
    groups: list[list[int]] = []
    for position, link in enumerate(links):
        joints = {end.node for end in link.ends} & switches
        touching = [
            group for group in groups if any(end.node in joints for member in group for end in links[member].ends)
        ]
        groups = [group for group in groups if group not in touching]
        groups.append(sorted([*(member for group in touching for member in group), position]))
    return tuple(_segment([links[member] for member in group], switches) for group in sorted(groups))


def _segment(links: Sequence[Link], switches: set[str]) -> Segment:
    ends = [end for link in links for end in link.ends]
    return Segment(
        links=tuple(links),
        stations=tuple(end for end in ends if end.node not in switches),
        switches=tuple(dict.fromkeys(end.node for end in ends if end.node in switches)),
    )
