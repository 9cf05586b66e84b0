"""What Lab 01 configures itself: the hosts, r1 and r4. r4 has a mistake, which students find and repair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from linklab.course import course_network
from linklab.lab import Lab
from linklab.network import Route

__all__ = ["configure_the_rest"]

_HOMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("h1", "h2", "h3"), "A"), "h7": "C", **dict.fromkeys(("h4", "h5", "h6"), "E"), "h8": "F", "h9": "I",
}  # fmt: skip
"""Each host's subnet, whose router has .1."""


def configure_the_rest(lab: Lab) -> None:
    """Give all hosts their default routes, and r1 and r4 forwarding and routes. One route of r4 is wrong.

    A command that fails says why in the notebook: most probably an address or a cable is missing.
    """
    for host, home in _HOMES.items():
        _run(lab, host, f"ip route replace default via {_address(home, 1)}")
    for name in "CDEFGI":
        _run(lab, "r1", f"ip route replace {_address(name, 0)}/24 via {_address('B', 2)}")
    _run(lab, "r4", f"ip route replace default via {_address('G', 1)}")
    wrong = wrong_route()
    _run(lab, "r4", f"ip route replace {wrong.destination} via {wrong.via}")
    for router in ("r1", "r4"):
        _run(lab, router, "sysctl -q -w net.ipv4.ip_forward=1")


def wrong_route() -> Route:
    """Return r4's wrong route: to half of subnet A, so longer than all that is right; nobody has its next hop."""
    return Route(f"{_address('A', 0)}/25", _address("I", 9), "r4-eth1")


def _address(subnet: str, last: int) -> str:
    prefix = next(it.prefix for it in course_network().subnets if it.name == subnet)
    return prefix.replace(".0/24", f".{last}")


def _run(lab: Lab, node: str, command: str) -> None:
    error = lab[node].cmd(command).strip() if node in lab else "it is not there"
    if error:
        print(f"{node}, {command}: {error}")
