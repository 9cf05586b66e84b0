"""Starts: how long a network takes to come up and to go.

Times are the machine's: a lab does not notice how long it computes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mininet.topo import Topo

from linklab.errors import LabError, LinklabError
from linklab.network import COURSE, Switch
from tools.bench.part import (
    Claim,
    Crew,
    Findings,
    Keep,
    Record,
    Say,
    Settings,
    Table,
    growth_exponent,
    having,
    median,
    seconds_text,
)

NAME, TITLE = "starts", "Start and stop"
LINK = {"bw": 100, "delay": "1ms", "max_queue_size": 100}
"""Every link is shaped, so that queueing disciplines are a part of the work: HTB and netem at both ends."""
FANOUT = 3


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


SHAPES = {"chain": Chain, "tree": Tree}


def topology(shape: str, nodes: int) -> Any:
    """Return the topology called `shape` with this many hosts and switches. Raises KeyError for another shape."""
    return SHAPES[shape](nodes=nodes)


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
                say(f"{network.shape}, {network.nodes} nodes: repeat {repeat} of {repeats}")
                labels = {"shape": network.shape, "nodes": network.nodes, "repeat": repeat}
                try:
                    keep(labels | _timed(crew, network))
                except LinklabError as error:
                    if not crew.ended:
                        keep(labels | {"failed": str(error)})


def _timed(crew: Crew, network: _Network) -> Record:
    wish = network.wish
    began_s = time.perf_counter()
    lab = crew.start(wish)
    up_s = time.perf_counter()
    answered = lab.call(_answers)
    if answered != network.hosts:
        raise LabError(f"{answered} of {network.hosts} hosts answered a command")
    answered_s = time.perf_counter()
    if not lab.call(_reaches):
        raise LabError("the first host does not reach the last")
    end_s = time.perf_counter()
    crew.stop(lab)
    return {
        "start_s": up_s - began_s,
        "answer_s": answered_s - up_s,
        "stop_s": time.perf_counter() - end_s,
    }


def _answers(net: Any) -> int:
    """Return how many hosts of a Mininet answer a command in their shell."""
    return sum(host.cmd("echo linklab").strip() == "linklab" for host in net.hosts)


def _reaches(net: Any) -> bool:
    """Return whether the first host of a Mininet gets answers from the last."""
    return " 0% packet loss" in net.hosts[0].cmd(f"ping -n -c 3 -i 0.2 {net.hosts[-1].IP()}")


NEAR_LINEAR = 1.2
"""The largest exponent that is called near linear: 200 nodes take at most 5.3 times as long as 50."""
LARGEST = 200
_LARGE = 50
"""Growth is judged from this size on: below it, what does not grow at all hides it."""
_HEADINGS = ("network", "nodes", "repeats", "start", "ms a node", "first answers", "stop")


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """The table of starts and stops, their growth, and verdicts on it."""
    done = [record for record in records if "failed" not in record]
    tables = [table for table in (_table(records), _growth(done)) if table.rows]
    return Findings(tuple(tables), tuple(_near_linear(shape, done, settings) for shape in ("chain", "tree")))


def _near_linear(shape: str, records: Sequence[Record], settings: Settings) -> Claim:
    text = f"A {shape}'s start grows near linearly to {LARGEST} nodes (exponent at most {NEAR_LINEAR})"
    sizes, times_s = _medians(shape, records, _LARGE)
    if LARGEST not in sizes or len(sizes) < 2:
        why = f"--quick stops at {max(settings.sizes)} nodes" if settings.quick else ""
        return Claim.judged(text, None, why)
    exponent = growth_exponent(sizes, times_s)
    per_node = ", ".join(
        f"{1000 * time_s / size:.2f} ms at {size}" for size, time_s in zip(sizes, times_s, strict=True)
    )
    numbers = f"exponent {exponent:.2f} from {sizes[0]} nodes on; per node {per_node}"
    return Claim.judged(text, exponent <= NEAR_LINEAR, numbers)


def _medians(shape: str, records: Sequence[Record], least: int = 0) -> tuple[list[int], list[float]]:
    """The sizes that came up, and the median time of each."""
    sizes = sorted({record["nodes"] for record in having(records, shape=shape) if record["nodes"] >= least})
    return sizes, [median([it["start_s"] for it in having(records, shape=shape, nodes=size)]) for size in sizes]


def _table(records: Sequence[Record]) -> Table:
    rows = []
    for shape, nodes in dict.fromkeys((record["shape"], record["nodes"]) for record in records):
        tried = having(records, shape=shape, nodes=nodes)
        failures = [record["failed"] for record in tried if "failed" in record]
        found = [record for record in tried if "failed" not in record]
        if not found:
            rows.append((shape, str(nodes), "0", f"failed: {failures[0]}", *["-"] * 3))
            continue
        starts_s = [record["start_s"] for record in found]
        rows.append((
            shape, str(nodes), f"{len(found)}" + (f" ({len(failures)} failed)" if failures else ""),
            seconds_text(starts_s), f"{1000 * median(starts_s) / nodes:.2f}",
            seconds_text([r["start_s"] + r["answer_s"] for r in found]),
            seconds_text([r["stop_s"] for r in found]),
        ))  # fmt: skip
    return Table(
        "Start and stop, medians in seconds",
        _HEADINGS,
        tuple(rows),
        (
            "Start: with the guest's boot, the read-back and the comparison. First answers: until every host's shell "
            "has answered a command; a shell is opened when it is first needed. Stop: until nothing is left, the guest "
            "included. In every network the first host then reached the last.",
        ),
    )


def _growth(records: Sequence[Record]) -> Table:
    rows = []
    for shape in ("chain", "tree"):
        sizes, times_s = _medians(shape, records)
        large = _medians(shape, records, _LARGE)
        if len(sizes) >= 2:
            exponent = f"{growth_exponent(*large):.2f}" if len(large[0]) >= 2 else "-"
            rows.append((shape, ", ".join(map(str, sizes)), f"{growth_exponent(sizes, times_s):.2f}", exponent))
    return Table(
        "Growth of the start: the exponent b of time = a * nodes ^ b (1 is linear)",
        ("network", "nodes", "exponent, all sizes", f"exponent, {_LARGE} nodes and more"),
        tuple(rows),
    )
