"""FRR's routing daemons on a lab's routers: OSPF, BGP, BFD and static routes.

`configure` starts and changes them, `wait_for_routes` waits until all routers know all subnets, and `show` returns what
a daemon knows as data.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from linklab.errors import LabError, LabTimeout
from linklab.network import NodeState
from linklab.network.model import interface_of, prefix_of

if TYPE_CHECKING:
    from linklab.lab import Lab, Node

__all__ = ["configure", "show", "wait_for_routes"]

_DAEMONS: Final = {
    "mgmtd": r"",
    "zebra": r"",
    "staticd": r"\bip route\b",
    "ospfd": r"\bospf\b",
    "bgpd": r"\bbgp\b",
    "bfdd": r"\bbfd\b",
}
"""Each daemon, and the words in a configuration that call for it. The first two carry out what the others decide."""
_POLL_S: Final = 0.1
_PROGRESS: Final = re.compile(r"\[\d+\|\w+\] |Waiting for ")
_UNREADABLE: Final = re.compile(r"line (\d+): % ?([\w ]+)\[\d+\]: *(.*)")
_REFUSED: Final = re.compile(r"line (\d+): Failure to communicate\[\d+\] to \w+, line: *(.*)")
_INVALID: Final = "Error description: "


class Shell(Protocol):
    """A node on which commands run."""

    def cmd(self, command: str, /) -> str:
        """Return what the command printed."""
        ...


class Shells(Protocol):
    """A running lab, as far as `show` uses it."""

    def __getitem__(self, name: str, /) -> Shell:
        """Return the node called ``name``."""
        ...


def configure(lab: Lab, configurations: Mapping[str, str]) -> None:
    """Give routers lines of FRR's configuration, by node: ``{"r1": "router ospf ..."}``.

    The first configuration of a node starts FRR there, and removes the static routes that were built with the network.
    A later one adds to it; ``no`` before a line takes the line back. Daemons are started for the words that call for
    them.

    Raises `LabError` with the first line that FRR refuses. Where FRR cannot read a line, no router is configured; where
    a daemon refuses one that FRR can read, the other lines of that router hold.
    """
    for name, text in configurations.items():
        lab.write_file(_file(name), text)
        _vtysh(lab[name], f"--dryrun -f {_file(name)}")
    for name, text in configurations.items():
        _start(lab[name], [daemon for daemon, words in _DAEMONS.items() if re.search(words, text)])
        _vtysh(lab[name], f"-f {_file(name)}")


def show(lab: Shells, router: str, what: str) -> Any:
    """Return what FRR's ``show WHAT json`` has, as data: ``show(lab, "r1", "ip ospf neighbor")``.

    Raises `LabError` where FRR does not run on the router, or has nothing of that name to show.
    """
    said = lab[router].cmd(f"vtysh -N {router} -c {shlex.quote(f'show {what} json')}")
    try:
        return json.loads(said)
    except ValueError:
        raise LabError(
            f"FRR on {router} does not show {what!r}: it said {' '.join(said.split())[:200]!r}. Configure the router "
            "with frr.configure first, and leave out the words show and json"
        ) from None


def shown(lab: Shells, router: str, what: str) -> Mapping[str, Any]:
    """Return what `show` does; nothing where that fails, as FRR does not run there."""
    try:
        found: Mapping[str, Any] = show(lab, router, what)
    except LabError:
        return {}
    return found


def wait_for_routes(lab: Lab, timeout_s: float = 120.0) -> float:
    """Wait until each router has a route to each host; return how long it took, in seconds of the lab's time.

    In a network of routers alone, each needs a route to each subnet. Raises `LabTimeout` after `timeout_s`, naming a
    router and a subnet, and `LabError` where no node forwards.
    """
    begin_s = lab.now()
    while missing := next(_missing(lab), None):
        if lab.now() - begin_s > timeout_s:
            router, subnet = missing
            raise LabTimeout(
                f"{router} has no route to {subnet} after {timeout_s:g} s: look at its neighbours, which "
                f"vtysh -N {router} -c 'show ip ospf neighbor' lists, or 'show bgp summary'"
            )
        lab.sleep(_POLL_S)
    return lab.now() - begin_s


def _missing(lab: Lab) -> Iterator[tuple[str, str]]:
    """Yield each router and subnet without a route."""
    nodes = lab.state().nodes
    routers = [node for node in nodes if node.forwarding]
    if not routers:
        raise LabError("no node here passes packets on: sysctl -w net.ipv4.ip_forward=1, typed on each router")
    hosts = [node for node in nodes if node.kind == "host" and not node.forwarding]
    subnets = sorted({subnet for node in hosts or routers for subnet in _connected(node)})
    for router in routers:
        known = [*_connected(router), *(prefix_of(route.destination) for route in router.routes)]
        yield from (
            (router.name, str(it))
            for it in subnets
            if not any(it.version == one.version and it.subnet_of(one) for one in known)
        )


def _connected(node: NodeState) -> list[Any]:
    return [interface_of(address).network for face in node.interfaces if face.up for address in face.addresses]


def _file(name: str) -> str:
    return f"/etc/frr/{name}/frr.conf"


def _start(node: Node, daemons: list[str]) -> None:
    """Start those daemons that do not run yet."""
    running = f"/var/run/frr/{node.name}"
    node.cmd(f"[ -e {running} ] || {{ install -d -o frr -g frr {running}; ip route flush proto static; }}")
    for daemon in daemons:
        done = node.run(f"[ -e {running}/{daemon}.pid ] || /usr/lib/frr/{daemon} -d -N {node.name}")
        if done.returncode:
            raise LabError(f"FRR's {daemon} does not start on {node.name}: {' '.join(done.output.split())[:200]}")


def _vtysh(node: Node, arguments: str) -> None:
    """Let FRR's shell read a configuration. Raises LabError for what it refuses."""
    done = node.run(f"touch /etc/frr/{node.name}/vtysh.conf; vtysh -N {node.name} {arguments}")
    refusal = _refusal(done.output)
    if done.returncode and not refusal:
        refusal = f"the configuration: {' '.join(done.output.split())[-200:]}"
    if refusal:
        raise LabError(f"FRR on {node.name} refuses {refusal}")


def _refusal(said: str) -> str:
    """Return the first line that was refused, and why; nothing where all was taken."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not _PROGRESS.match(line)]
    for number, line in enumerate(lines):
        if found := _UNREADABLE.match(line):
            return (
                f"line {found[1]}, {found[3]!r}: {found[2].lower()}. Is a word wrong or missing, or does the line "
                "belong into another section?"
            )
        if found := _REFUSED.match(line):
            return f"line {found[1]}, {found[2]!r}: {' '.join(lines[:number]).lstrip('% ')}"
        if line.startswith(_INVALID):
            named = next((it[2:] for it in lines[number:] if it.startswith("- ")), "")
            return f"the line {named!r}: {line.removeprefix(_INVALID)}"
    return ""
