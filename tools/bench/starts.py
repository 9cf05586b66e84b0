"""Starts: how long a network takes to come up and to go, Linklab's way and plain Mininet's, in the same runtime.

Both run in the same kind of guest with the same kernel, one after the other in turn. Times are the machine's: a
guest on virtual time does not notice how long it computes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linklab.errors import LabError, LinklabError
from linklab.network import COURSE, Router, Switch, static_routes
from tools.bench import plain
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
from tools.bench.plain import topology

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


SHARE = 1 / 5
NEAR_LINEAR = 1.2
"""The largest exponent that is called near linear: 200 nodes take at most 5.3 times as long as 50."""
LARGEST = 200
_LARGE = 50
"""Growth is judged from this size on: below it, what does not grow at all hides it."""
_HEADINGS = (
    "network", "nodes", "way", "repeats", "up", "of plain", "ms a node", "with boot", "first answers", "stop",
)  # fmt: skip


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """The table of starts and stops, the growth of both ways, and verdicts on the course network and the growth."""
    done = [record for record in records if "failed" not in record]
    tables = [table for table in (_table(records), _growth(done)) if table.rows]
    claims = [_course(done), *(_near_linear(shape, done, settings) for shape in ("chain", "tree"))]
    return Findings(tuple(tables), tuple(claims))


def boot_s(records: Sequence[Record]) -> float:
    """What booting the guest took, the median of all plain starts; 0 if there was none."""
    boots = [record["boot_s"] for record in records if "boot_s" in record]
    return median(boots) if boots else 0.0


def up_s(records: Sequence[Record], way: str, shape: str, nodes: int) -> list[float]:
    """From the booted guest to the network that is up, for every start.

    Plain Mininet's was timed so. Linklab's start is one call: the median boot is taken off it.
    """
    found = having(records, way=way, shape=shape, nodes=nodes)
    if way == PLAIN:
        return [record["start_s"] - record["boot_s"] for record in found]
    return [max(record["start_s"] - boot_s(records), 0.001) for record in found]


def _course(records: Sequence[Record]) -> Claim:
    text = "The course network is up, read back and ready in at most a fifth of plain Mininet's time, same runtime"
    found = {way: having(records, way=way, shape="course") for way in (LINKLAB, PLAIN)}
    if not all(found.values()):
        return Claim.judged(text, None, "")
    nodes = found[PLAIN][0]["nodes"]
    ours_s, plain_s = (median(up_s(records, way, "course", nodes)) for way in (LINKLAB, PLAIN))
    whole = [median([record["start_s"] for record in found[way]]) for way in (LINKLAB, PLAIN)]
    answered = [median([record["start_s"] + record["answer_s"] for record in found[way]]) for way in (LINKLAB, PLAIN)]
    numbers = (
        f"{ours_s:#.3g} s against {plain_s:#.3g} s: {ours_s / plain_s:.1%}; with the guest's boot {whole[0]:#.3g} and "
        f"{whole[1]:#.3g} s: {whole[0] / whole[1]:.1%}; and with the first answer of every host's shell "
        f"{answered[0]:#.3g} and {answered[1]:#.3g} s: {answered[0] / answered[1]:.1%}"
    )
    return Claim.judged(text, ours_s <= SHARE * plain_s, numbers)


def _near_linear(shape: str, records: Sequence[Record], settings: Settings) -> Claim:
    text = f"A {shape}'s start grows near linearly to {LARGEST} nodes (exponent at most {NEAR_LINEAR})"
    sizes, times_s = _medians(shape, LINKLAB, records, _LARGE)
    if LARGEST not in sizes or len(sizes) < 2:
        why = f"--quick stops at {max(settings.sizes)} nodes" if settings.quick else ""
        return Claim.judged(text, None, why)
    exponent = growth_exponent(sizes, times_s)
    per_node = ", ".join(
        f"{1000 * time_s / size:.2f} ms at {size}" for size, time_s in zip(sizes, times_s, strict=True)
    )
    numbers = f"exponent {exponent:.2f} from {sizes[0]} nodes on; per node {per_node}"
    return Claim.judged(text, exponent <= NEAR_LINEAR, numbers)


def _medians(shape: str, way: str, records: Sequence[Record], least: int = 0) -> tuple[list[int], list[float]]:
    """The sizes that came up, and the median time of each."""
    sizes = sorted({record["nodes"] for record in having(records, shape=shape, way=way) if record["nodes"] >= least})
    return sizes, [median(up_s(records, way, shape, size)) for size in sizes]


def _table(records: Sequence[Record]) -> Table:
    done = [record for record in records if "failed" not in record]
    kinds = list(dict.fromkeys((record["shape"], record["nodes"]) for record in records))
    rows = []
    for shape, nodes in kinds:
        times_s = {way: up_s(done, way, shape, nodes) for way in (LINKLAB, PLAIN)}
        for way in (LINKLAB, PLAIN):
            found = having(done, way=way, shape=shape, nodes=nodes)
            failures = [r["failed"] for r in having(records, way=way, shape=shape, nodes=nodes) if "failed" in r]
            if not found:
                if failures:
                    rows.append((shape, str(nodes), way, "0", f"failed: {failures[0]}", *["-"] * 5))
                continue
            both = all(times_s.values()) and way == LINKLAB
            ratio = f"{median(times_s[LINKLAB]) / median(times_s[PLAIN]):.1%}" if both else ""
            rows.append((
                shape, str(nodes), way, f"{len(found)}" + (f" ({len(failures)} failed)" if failures else ""),
                seconds_text(times_s[way]), ratio, f"{1000 * median(times_s[way]) / nodes:.2f}",
                seconds_text([r["start_s"] for r in found]),
                seconds_text([r["start_s"] + r["answer_s"] for r in found]),
                seconds_text([r["stop_s"] for r in found]),
            ))  # fmt: skip
    return Table(
        "Start and stop, medians in seconds",
        _HEADINGS,
        tuple(rows),
        (
            "Up: from the booted guest on. Linklab's includes the read-back and the comparison; it is one call, less "
            f"the median boot ({boot_s(done):.2f} s). First answers: with boot, until every host's shell has answered "
            "a command; Linklab opens a shell when it is first needed, so this column compares like with like.",
            "Stop: until nothing is left, the guest included. Plain Mininet gets forwarding and routes by commands; "
            "it reads nothing back. In every network the first host then reached the last.",
        ),
    )


def _growth(records: Sequence[Record]) -> Table:
    rows = []
    for shape in ("chain", "tree"):
        for way in (LINKLAB, PLAIN):
            sizes, times_s = _medians(shape, way, records)
            large = _medians(shape, way, records, _LARGE)
            if len(sizes) >= 2:
                exponent = f"{growth_exponent(*large):.2f}" if len(large[0]) >= 2 else "-"
                spoken = ", ".join(map(str, sizes))
                rows.append((shape, way, spoken, f"{growth_exponent(sizes, times_s):.2f}", exponent))
    return Table(
        "Growth of the start: the exponent b of time = a * nodes ^ b (1 is linear)",
        ("network", "way", "nodes", "exponent, all sizes", f"exponent, {_LARGE} nodes and more"),
        tuple(rows),
    )
