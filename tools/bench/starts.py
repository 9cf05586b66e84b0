"""Starts as a study of this machine: how long a network takes to come up and to go.

Times are the machine's: a lab does not notice how long it computes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from statistics import linear_regression, median
from typing import Any, Final

from mininet.topo import Topo

from linklab.errors import LabError
from linklab.lab_group import Labs
from linklab.network import COURSE, Switch
from linklab.published import Claim
from linklab.study.claims import Claims, Finding, Judge, Tables
from linklab.study.declare import Measured, Metric, Point, Study

LINK: Final = {"bw": 100, "delay": "1ms", "max_queue_size": 100}
"""Every link is shaped, so that queueing disciplines are a part of the work: HTB and netem at both ends."""
FANOUT: Final = 3
CHAIN, TREE, THE_COURSE = "chain", "tree", "course"
NEAR_LINEAR: Final = 1.2
"""The largest exponent that is called near linear: 200 nodes take at most 5.3 times as long as 50."""
LARGE: Final = 50
"""Growth is judged from this number of nodes on: below it, what does not grow at all hides it."""


class Chain(Topo):  # type: ignore[misc]
    """Half of the `nodes` are switches in a row, the other half hosts, one at each switch."""

    def build(self, nodes: int) -> None:
        """Called by Mininet."""
        before = None
        for number in range(1, nodes // 2 + 1):
            switch = self.addSwitch(f"s{number}")
            self.addLink(self.addHost(f"h{number}"), switch, **LINK)
            if before is not None:
                self.addLink(before, switch, **LINK)
            before = switch


class Tree(Topo):  # type: ignore[misc]
    """A tree in which every switch has up to three nodes below it, filled row by row; the leaves are hosts."""

    def build(self, nodes: int) -> None:
        """Called by Mininet."""
        names = []
        for index in range(nodes):
            is_switch = FANOUT * index + 1 < nodes
            names.append(self.addSwitch(f"s{index + 1}") if is_switch else self.addHost(f"h{index + 1}"))
            if index:
                self.addLink(names[(index - 1) // FANOUT], names[index], **LINK)


NETWORKS: Final[dict[str, Callable[[int], Any]]] = {
    THE_COURSE: lambda nodes: COURSE,
    CHAIN: lambda nodes: Chain(nodes=nodes),
    TREE: lambda nodes: Tree(nodes=nodes),
}


def measure(labs: Labs, point: Point) -> list[Measured]:
    """Start a network, use each of its hosts, and stop it."""
    network = NETWORKS[point.text("network")](point.whole("nodes"))
    # Mininet calls routers hosts, too
    hosts = sum(not isinstance(it, Switch) for it in COURSE.nodes) if network is COURSE else len(network.hosts())
    began_s = time.perf_counter()
    lab = labs.start(network)
    up_s = time.perf_counter()
    answered = lab.call(_answers)
    if answered != hosts:
        raise LabError(f"{answered} of {hosts} hosts answered a command")
    answered_s = time.perf_counter()
    if not lab.call(_reaches):
        raise LabError("the first host does not reach the last")
    end_s = time.perf_counter()
    labs.stop(lab)
    return [
        Measured("start_s", up_s - began_s),
        Measured("answers_s", answered_s - began_s),
        Measured("stop_s", time.perf_counter() - end_s),
    ]


def _answers(net: Any) -> int:
    """Return how many hosts of a Mininet answer a command in their shell."""
    return sum(host.cmd("echo linklab").strip() == "linklab" for host in net.hosts)


def _reaches(net: Any) -> bool:
    """Return whether the first host of a Mininet gets answers from the last."""
    return " 0% packet loss" in net.hosts[0].cmd(f"ping -n -c 3 -i 0.2 {net.hosts[-1].IP()}")


def _belongs(point: Point) -> bool:
    nodes = point.whole("nodes")
    if (point["network"] == THE_COURSE) != (nodes == len(COURSE.nodes)):
        return False
    return point["network"] == THE_COURSE or point.repeat <= (1 if nodes > LARGE else 2 if nodes == LARGE else 3)


STUDY: Final = Study(
    name="starts",
    title="Starts: how long networks of 10 to 200 nodes take to come up and to go",
    testbed=None,
    factors={"network": tuple(NETWORKS), "nodes": (10, len(COURSE.nodes), 50, 100, 200)},
    measurement=measure,
    metrics=(
        Metric("start_s", "s", "real time of linklab.start: the guest's boot, the read-back and the comparison"),
        Metric("answers_s", "s", "the same, until every host's shell has answered a command"),
        Metric("stop_s", "s", "real time until nothing is left, the guest included"),
    ),
    repeats=5,
    belongs=_belongs,
    short={"nodes": (10, len(COURSE.nodes), 50)},
    short_repeats=2,
    source="what README promises",
)
_CLAIMED: Final = tuple(
    Claim(
        f"starts-{network}",
        f"A {network}'s start grows near linearly to 200 nodes (exponent at most {NEAR_LINEAR})",
        "README",
        "either",
        "start_s of 50, 100 and 200 nodes",
    )
    for network in (CHAIN, TREE)
)


def growth_exponent(times_s: dict[int, float]) -> float:
    """Return the exponent b of ``time = a * nodes ** b``, fitted by least squares to the logarithms: 1 is linear."""
    return float(linear_regression([*map(math.log, times_s)], [*map(math.log, times_s.values())]).slope)


def _judge(network: str) -> Judge:
    def judge(tables: Tables) -> Finding:
        nodes = [it for it in STUDY.factors["nodes"] if isinstance(it, int) and it >= LARGE]
        times_s = {it: median(tables["starts"].lookup("start_s", network=network, nodes=it).values) for it in nodes}
        exponent = growth_exponent(times_s)
        each = ", ".join(f"{1000 * time_s / it:.2f} ms at {it}" for it, time_s in times_s.items())
        return Finding(exponent <= NEAR_LINEAR, f"exponent {exponent:.2f} from {LARGE} nodes on; per node {each}")

    return judge


CLAIMS: Final = Claims(_CLAIMED, {f"starts-{network}": _judge(network) for network in (CHAIN, TREE)})
