"""What a network is: pure data, importable and testable anywhere, without root and without Mininet."""

from linklab.network.catalogue import CATALOGUE, COURSE, TWO_HOSTS, by_name
from linklab.network.model import End, Host, Link, Network, Node, Router, Shape, Subnet, Switch
from linklab.network.routes import DEFAULT_DESTINATION, Route, static_routes
from linklab.network.state import InterfaceState, NetworkState, NodeState
from linklab.network.validate import validate

__all__ = [
    "CATALOGUE",
    "COURSE",
    "DEFAULT_DESTINATION",
    "TWO_HOSTS",
    "End",
    "Host",
    "InterfaceState",
    "Link",
    "Network",
    "NetworkState",
    "Node",
    "NodeState",
    "Route",
    "Router",
    "Shape",
    "Subnet",
    "Switch",
    "by_name",
    "static_routes",
    "validate",
]
