"""The testbeds of the multimedia study: two hosts; two switches between them; two switches and two routers.

The study (figures 2 to 4 and 8) names nodes, interfaces and rates. It names no address and no queue, and sets no
delay: addresses are ours.
"""

from __future__ import annotations

from typing import Final

from linklab.errors import NetworkError
from linklab.network.model import End, Host, Link, Router, Switch
from linklab.network.validation import Network

ACCESS_MBPS: Final = 100
"""What the PCs have in topologies 2 (figure 7) and 3 (section 3.4)."""
WAN: Final = "WAN"
"""The name of the link between the routers of topology 3."""
BETWEEN_SWITCHES: Final = "between"
"""The name of the link between the switches of topology 2."""
RUNS_MBPS: Final = {1: (1000,), 2: (10, 100), 3: (2, 4, 8)}
"""Section 3.4: the rate of each topology's link, in its six runs."""


def video_network(
    topology: int, link_mbps: float, *, queue_packets: int | None = None, loss_percent: float = 0.0
) -> Network:
    """One of the study's three topologies; its one link of interest has `link_mbps`.

    That link joins the two hosts (1), the two switches (2) or the two routers (3). `queue_packets` and
    `loss_percent`, which the study does not have, are that link's (see `linklab.network.Shape`).

    Raises NetworkError for a topology other than 1, 2 and 3, and for values that no link can have.
    """
    name = f"video-{topology}-{link_mbps:g}"
    if topology == 1:
        one, two = End("h1", "h1-eth0", "10.0.0.1/24"), End("h2", "h2-eth0", "10.0.0.2/24")
        link = Link(one, two, "", link_mbps, 0.0, loss_percent, queue_packets)
        return Network(name, (Host("h1"), Host("h2")), (link,))
    if topology == 2:
        nodes = (Host("h1"), Host("h2"), Switch("s1"), Switch("s2"))
        middle = End("s1", "s1-eth2"), End("s2", "s2-eth2")
        links = (
            Link(End("h1", "h1-eth0", "10.0.0.1/24"), End("s1", "s1-eth1"), rate_mbps=ACCESS_MBPS),
            Link(*middle, BETWEEN_SWITCHES, link_mbps, 0.0, loss_percent, queue_packets),
            Link(End("s2", "s2-eth1"), End("h2", "h2-eth0", "10.0.0.2/24"), rate_mbps=ACCESS_MBPS),
        )
        return Network(name, nodes, links)
    if topology == 3:
        routed = (Host("h1"), Host("h2"), Switch("s1"), Switch("s2"), Router("r1"), Router("r2"))
        wan = End("r1", "r1-eth1", "10.0.1.1/24"), End("r2", "r2-eth1", "10.0.1.2/24")
        routed_links = (
            Link(End("h1", "h1-eth0", "10.0.0.2/24"), End("s1", "s1-eth2"), rate_mbps=ACCESS_MBPS),
            Link(End("s1", "s1-eth1"), End("r1", "r1-eth2", "10.0.0.1/24"), rate_mbps=ACCESS_MBPS),
            Link(*wan, WAN, link_mbps, 0.0, loss_percent, queue_packets),
            Link(End("r2", "r2-eth2", "10.0.2.1/24"), End("s2", "s2-eth1"), rate_mbps=ACCESS_MBPS),
            Link(End("s2", "s2-eth2"), End("h2", "h2-eth0", "10.0.2.2/24"), rate_mbps=ACCESS_MBPS),
        )
        return Network(name, routed, routed_links)
    raise NetworkError(f"the multimedia study has no topology {topology!r}: choose 1, 2 or 3")


VIDEO_NETWORKS: Final = tuple(video_network(topology, rate) for topology, rates in RUNS_MBPS.items() for rate in rates)
"""The six networks of the study's six runs: ``video-1-1000``, ``video-2-10``, ..., ``video-3-8``."""
