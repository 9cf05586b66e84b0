"""Describe networks as pure data, compute what theory says of them, and compare a live network with its plan.

Nothing here needs root or Mininet.
"""

from linklab.network.catalogue import CATALOGUE, COURSE, TWO_HOSTS, by_name, dual_stack
from linklab.network.compare import Difference, differences
from linklab.network.model import (
    End,
    Host,
    Link,
    PlannedNode,
    Router,
    Shape,
    Subnet,
    Switch,
    Topology,
)
from linklab.network.routing import DEFAULT_DESTINATION, Path, Route, path, static_routes
from linklab.network.state import (
    InterfaceState,
    NetworkState,
    NodeKind,
    NodeState,
    NodeTables,
    TunnelState,
    Values,
    expected_state,
    values_of,
)
from linklab.network.theory import (
    bdp_packets,
    bottleneck,
    goodput_ceiling_mbps,
    path_mtu_bytes,
    payload_rate_mbps,
    queueing_delay_ms,
    rtt_floor_ms,
)
from linklab.network.topology import Hop
from linklab.network.validation import Network

__all__ = [
    "CATALOGUE",
    "COURSE",
    "DEFAULT_DESTINATION",
    "TWO_HOSTS",
    "Difference",
    "End",
    "Hop",
    "Host",
    "InterfaceState",
    "Link",
    "Network",
    "NetworkState",
    "NodeKind",
    "NodeState",
    "NodeTables",
    "Path",
    "PlannedNode",
    "Route",
    "Router",
    "Shape",
    "Subnet",
    "Switch",
    "Topology",
    "TunnelState",
    "Values",
    "bdp_packets",
    "bottleneck",
    "by_name",
    "differences",
    "dual_stack",
    "expected_state",
    "goodput_ceiling_mbps",
    "path",
    "path_mtu_bytes",
    "payload_rate_mbps",
    "queueing_delay_ms",
    "rtt_floor_ms",
    "static_routes",
    "values_of",
]
