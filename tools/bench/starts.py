"""Starts: how long a network takes to come up and to go, Linklab's way and plain Mininet's, in the same runtime.

Both run in the same kind of guest with the same kernel, one after the other in turn. Times are the machine's: a
guest on virtual time does not notice how long it computes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from linklab.errors import LabError, LinklabError
from linklab.network import COURSE, Router, Switch, static_routes
from tools.bench import plain
from tools.bench.crew import Crew
from tools.bench.findings import Keep, Record, Say
from tools.bench.settings import Settings
from tools.bench.shapes import topology

NAME, TITLE = "starts", "Start and stop: Linklab's way against plain Mininet, in the same runtime"
LINKLAB, PLAIN = "linklab", "plain Mininet"


@dataclass(frozen=True)
class _Network:
    shape: str
    nodes: int

    @property
    def wish(self) -> Any:
        """What `linklab.start` gets."""
        if self.shape == "course":
            return COURSE
        return topology(self.shape, self.nodes)

    @property
    def hosts(self) -> int:
        """How many of the nodes Mininet calls hosts, routers included."""
        wish = self.wish
        if self.shape == "course":
            return sum(not isinstance(node, Switch) for node in COURSE.nodes)
        return len(wish.hosts())


def measure(settings: Settings, say: Say, keep: Keep) -> None:
    """A record for each start: what did not come up has its reason in it, and the others go on."""
    course = _Network("course", len(COURSE.nodes))
    plan = [(course, settings.course_repeats)]
    plan += [
        (_Network(shape, nodes), settings.start_repeats(nodes))
        for nodes in settings.sizes
        for shape in ("chain", "tree")
    ]
    with Crew(settings.folder) as crew:
        for network, repeats in plan:
            for repeat in range(1, repeats + 1):
                # in turn, so that a machine that changes its pace changes it for both
                for way, timed in ((PLAIN, _plain), (LINKLAB, _linklab)):
                    say(f"{network.shape}, {network.nodes} nodes: {way}, repeat {repeat} of {repeats}")
                    labels = {"way": way, "shape": network.shape, "nodes": network.nodes, "repeat": repeat}
                    try:
                        keep(labels | timed(crew, network))
                    except LinklabError as error:
                        if not crew.ended:
                            keep(labels | {"failed": str(error)})


def _linklab(crew: Crew, network: _Network) -> Record:
    wish = network.wish
    began_s = time.perf_counter()
    lab = crew.start(wish)
    up_s = time.perf_counter()
    _all(lab.call(plain.answers), network)
    answered_s = time.perf_counter()
    _reached(lab.call(plain.reaches))
    end_s = time.perf_counter()
    crew.stop(lab)
    return {
        "start_s": up_s - began_s,
        "answer_s": answered_s - up_s,
        "stop_s": time.perf_counter() - end_s,
    }


def _plain(crew: Crew, network: _Network) -> Record:
    commands = _routing() if network.shape == "course" else []
    began_s = time.perf_counter()
    process = crew.boot()
    try:
        booted_s = time.perf_counter()
        process.call(plain.start, network.shape, network.nodes, commands)
        up_s = time.perf_counter()
        _all(process.call(plain.answer), network)
        answered_s = time.perf_counter()
        _reached(process.call(plain.reach))
        end_s = time.perf_counter()
        process.call(plain.stop)
        stopped_s = time.perf_counter()
    finally:
        crew.stop(process)
    return {
        "boot_s": booted_s - began_s,
        "start_s": up_s - began_s,
        "answer_s": answered_s - up_s,
        "network_stop_s": stopped_s - end_s,
        "stop_s": time.perf_counter() - end_s,
    }


def _all(answered: int, network: _Network) -> None:
    hosts = network.hosts
    if answered != hosts:
        raise LabError(f"{answered} of {hosts} hosts answered a command")


def _reached(reached: bool) -> None:
    if not reached:
        raise LabError("the first host does not reach the last")


def _routing() -> list[list[str]]:
    """What a student types after the start: forwarding on routers, and every route."""
    commands = [[node.name, "sysctl -w net.ipv4.ip_forward=1"] for node in COURSE.nodes if isinstance(node, Router)]
    for name, routes in static_routes(COURSE).items():
        for route in routes:
            via = f"via {route.via} " if route.via else ""
            commands.append([name, f"ip route add {route.destination} {via}dev {route.interface}"])
    return commands
