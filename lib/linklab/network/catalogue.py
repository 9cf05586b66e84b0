"""Networks with a name: two hosts to start with, the course network, and the studies' testbeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from linklab.errors import NetworkError
from linklab.network.model import End, Host, Link, Router, Subnet, Switch
from linklab.network.validation import Network

TWO_HOSTS: Final = Network(
    name="two-hosts",
    nodes=(Host("h1"), Host("h2")),
    links=(
        Link(
            End("h1", "h1-eth0", "10.0.0.1/24"),
            End("h2", "h2-eth0", "10.0.0.2/24"),
            rate_mbps=10,
            delay_ms=10,
            queue_packets=50,
        ),
    ),
    subnets=(Subnet("A", "10.0.0.0/24"),),
)
"""Two hosts and one link of 10 Mbit/s, 10 ms each way, a queue of 50 packets."""


def _to_switch(node: str, interface: str, address: str, switch: str, port: int) -> Link:
    return Link(End(node, interface, address), End(switch, f"{switch}-eth{port}"))


COURSE: Final = Network(
    name="course",
    nodes=(
        *(Host(f"h{number}") for number in range(1, 10)),
        Switch("s1"),
        Switch("s2"),
        *(Router(f"r{number}") for number in range(1, 5)),
    ),
    links=(
        _to_switch("h1", "h1-eth0", "10.0.0.2/24", "s1", 1),
        _to_switch("h2", "h2-eth0", "10.0.0.3/24", "s1", 2),
        _to_switch("h3", "h3-eth0", "10.0.0.4/24", "s1", 3),
        _to_switch("r1", "r1-eth0", "10.0.0.1/24", "s1", 4),
        Link(
            End("r1", "r1-eth1", "10.0.1.1/24"),
            End("r2", "r2-eth0", "10.0.1.2/24"),
            name="L1",
            rate_mbps=40,
            delay_ms=10,
            queue_packets=67,
        ),
        Link(End("r2", "r2-eth1", "10.0.2.1/24"), End("h7", "h7-eth0", "10.0.2.2/24")),
        Link(
            End("r2", "r2-eth2", "10.0.3.1/24"),
            End("r3", "r3-eth0", "10.0.3.2/24"),
            name="L2",
            rate_mbps=30,
            delay_ms=20,
            queue_packets=100,
        ),
        Link(End("r3", "r3-eth1", "10.0.4.1/24"), End("h8", "h8-eth0", "10.0.4.2/24")),
        _to_switch("h4", "h4-eth0", "10.0.5.2/24", "s2", 1),
        _to_switch("h5", "h5-eth0", "10.0.5.3/24", "s2", 2),
        _to_switch("h6", "h6-eth0", "10.0.5.4/24", "s2", 3),
        _to_switch("r3", "r3-eth2", "10.0.5.1/24", "s2", 4),
        Link(
            End("r3", "r3-eth3", "10.0.6.1/24"),
            End("r4", "r4-eth0", "10.0.6.2/24"),
            name="L3",
            rate_mbps=20,
            delay_ms=10,
            queue_packets=33,
        ),
        Link(End("r4", "r4-eth1", "10.0.7.1/24"), End("h9", "h9-eth0", "10.0.7.2/24")),
    ),
    subnets=(
        Subnet("A", "10.0.0.0/24"),
        Subnet("B", "10.0.1.0/24"),
        Subnet("C", "10.0.2.0/24"),
        Subnet("D", "10.0.3.0/24"),
        Subnet("F", "10.0.4.0/24"),
        Subnet("E", "10.0.5.0/24"),
        Subnet("G", "10.0.6.0/24"),
        Subnet("I", "10.0.7.0/24"),
    ),
)
"""The course network: nine hosts, two switches, and four routers in a row joined by L1, L2 and L3.

Only L1 to L3 are shaped; the links to hosts and switches are as fast as the machine. Addresses, rates,
delays and queues are those of the course report (chapter 3). Its eight subnets run from A to I: the report
leaves the one of h8 without a letter, here F, and has no H.
"""


class _Catalogue(Mapping[str, Network]):
    """Networks by their names. The studies' testbeds are loaded when one is first asked for: a guest needs none."""

    @cached_property
    def _networks(self) -> dict[str, Network]:
        from linklab.network.access import access
        from linklab.network.dumbbell import dumbbell
        from linklab.network.mtu_testbeds import mtu_direct, mtu_gre
        from linklab.network.relayed import relayed
        from linklab.network.switch_testbeds import SWITCH_TESTBEDS
        from linklab.network.video_testbeds import VIDEO_NETWORKS

        testbeds = mtu_direct(), mtu_gre(), *VIDEO_NETWORKS, *SWITCH_TESTBEDS
        networks = TWO_HOSTS, COURSE, *testbeds, dumbbell(COURSE), access(COURSE), relayed(COURSE)
        return {network.name: network for network in networks}

    def __getitem__(self, name: str) -> Network:
        return self._networks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._networks)

    def __len__(self) -> int:
        return len(self._networks)


CATALOGUE: Final[Mapping[str, Network]] = _Catalogue()
"""All networks with a name."""


def by_name(name: str) -> Network:
    """The network called ``name``. Raises NetworkError, listing the names, if there is none."""
    if name not in CATALOGUE:
        raise NetworkError(f"no network is called {name!r}: choose one of {', '.join(CATALOGUE)}")
    return CATALOGUE[name]
