"""Speed as a study of this machine: virtual seconds for each second on the wall, for single loads and for the five test
cases of the course report.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final

from linklab.lab import Lab
from linklab.lab_group import Labs
from linklab.measure import Flow, PingFlow, TcpFlow, UdpFlow, run_together
from linklab.network import COURSE
from linklab.options import cores
from linklab.published import Claim
from linklab.study.claims import Claims, Finding, Tables
from linklab.study.declare import Measured, Metric, Point, Study
from studies.report.study import IPERF3, LINKS, PARALLEL, PATHS, SHARED, ping_flow, shared_flows, transfer_flow
from tools.bench.fidelity import ROWS

CASES: Final = "the five test cases"
ONE, ALL = "one", "a lab a core"
AT_LEAST: Final = 10.0
_PINGS_EACH_S: Final = 5


@dataclass(frozen=True)
class Step:
    """Flows that run at once, as a part of a test case."""

    case: int
    name: str
    flows: tuple[Flow, ...]


def steps(flow_s: int) -> tuple[Step, ...]:
    """Return all of the course report's five test cases, in order, with iperf3 in place of simpleperf.

    `flow_s` 25 is the report's; less shortens everything alike.
    """
    found = [Step(1, name, (_udp(name, max(1, round(10 * flow_s / 25))),)) for name in PATHS]
    for case, names in ((2, LINKS), (3, PATHS)):
        for name in names:
            found.append(Step(case, f"ping {name}", (ping_flow(COURSE, name, flow_s),)))
            found.append(Step(case, f"TCP {name}", (transfer_flow(COURSE, name, IPERF3, flow_s),)))
    found += [Step(4, pairs, tuple(shared_flows(COURSE, pairs, IPERF3, flow_s, flow_s))) for pairs in SHARED]
    parallel = shared_flows(COURSE, PARALLEL, IPERF3, flow_s, flow_s)
    return (*found, Step(5, PARALLEL, tuple(flow for flow in parallel if not isinstance(flow, PingFlow))))


def loads(duration_s: int) -> dict[str, tuple[Flow, ...]]:
    """Return the single loads by name, each of about `duration_s` virtual seconds; pings of ten times as many."""
    four = (("h1", "h4"), ("h2", "h5"), ("h3", "h6"), ("h7", "h9"))
    return {
        "ping": (PingFlow("h1", "h4", 10 * _PINGS_EACH_S * duration_s, 1 / _PINGS_EACH_S),),
        "UDP": (_udp("h1-h4", duration_s),),
        "one TCP flow": (TcpFlow("h1", "h4", duration_s),),
        "four TCP flows": tuple(TcpFlow(*pair, duration_s) for pair in four),
    }


def _udp(name: str, duration_s: int) -> UdpFlow:
    row = ROWS[name]
    return UdpFlow(
        row.source,
        row.destination,
        row.udp_offered_mbps,
        duration_s,
        payload_bytes=row.udp_payload_bytes,
        address=row.address,
    )


def measure(labs: Labs, point: Point) -> list[Measured]:
    """Start the labs, and carry out the load in each, or spread the test cases over them."""
    count = 1 if point["labs"] == ONE else cores()
    todo: SimpleQueue[Step] = SimpleQueue()
    if point["load"] == CASES:
        # the longest to the front, so that no lab is left alone with it at the end
        for step in sorted(steps(point.whole("case_s")), key=lambda step: -len(step.flows)):
            todo.put(step)
    else:
        for number in range(count):
            todo.put(Step(number, "", loads(point.whole("load_s"))[point.text("load")]))
    with ExitStack() as started, ThreadPoolExecutor(count) as pool:
        running = [started.enter_context(labs.lab(COURSE)) for _ in range(count)]
        began_s = time.perf_counter()
        done = [it for each in pool.map(lambda lab: _work(lab, todo), running) for it in each]
        wall_s = time.perf_counter() - began_s
    rows = [
        Measured("labs", count),
        Measured("virtual_s", sum(virtual_s for _, virtual_s, _ in done)),
        Measured("wall_s", wall_s),
    ]
    for case in sorted({step.case for step, *_ in done}) if point["load"] == CASES else ():
        mine = [(virtual_s, took_s) for step, virtual_s, took_s in done if step.case == case]
        for metric, times_s in zip(("virtual_s", "wall_s"), zip(*mine, strict=True), strict=True):
            rows.append(Measured(metric, sum(times_s), of=f"case {case}"))
    return rows


def _work(lab: Lab, todo: SimpleQueue[Step]) -> list[tuple[Step, float, float]]:
    """Take one step after the other; return each with its virtual and its real seconds."""
    done: list[tuple[Step, float, float]] = []
    while True:
        try:
            step = todo.get_nowait()
        except Empty:
            return done
        began_s = time.perf_counter()
        run_together(lab, step.flows)
        done.append((step, max(map(traffic_s, step.flows)), time.perf_counter() - began_s))


def traffic_s(flow: Flow) -> float:
    """Return how long a flow sends. Connecting and waiting before and after it do not count as time gained."""
    return (flow.count - 1) * flow.interval_s if isinstance(flow, PingFlow) else flow.lasts_s


STUDY: Final = Study(
    name="speed",
    title="Speed: virtual seconds for each second on the wall",
    testbed=None,
    factors={"load": (*loads(10), CASES), "labs": (ONE, ALL), "load_s": (10,), "case_s": (25,)},
    measurement=measure,
    metrics=(
        Metric("labs", "1", "labs at once"),
        Metric("virtual_s", "s", "virtual time in which flows send, of all labs"),
        Metric("wall_s", "s", "real time, the starts of tools and the last packets included, that of the lab not"),
    ),
    short={"load_s": (3,), "case_s": (3,)},
    source="what README promises",
)
_CLAIMED: Final = (
    Claim(
        "speed-cases",
        f"At least {AT_LEAST:g} virtual seconds for each second on the wall, over the five test cases of the course "
        "report, on all cores",
        "README",
        "either",
        "virtual_s and wall_s of the test cases",
    ),
)


def judge_cases(tables: Tables) -> Finding:
    """Judge the five test cases, spread over as many labs as there are cores."""
    (one, _), (each, labs) = (rate_of(tables, CASES, at_once) for at_once in (ONE, ALL))
    return Finding(each >= AT_LEAST, f"{one:.1f} with one lab, {each:.1f} with {labs:.0f} at once")


def rate_of(tables: Tables, load: str, labs: str) -> tuple[float, float]:
    """Return virtual seconds for each on the wall, and the number of labs."""
    found = (tables["speed"].lookup(it, load=load, labs=labs).mean for it in ("virtual_s", "wall_s", "labs"))
    virtual_s, wall_s, count = found
    return virtual_s / wall_s, count


CLAIMS: Final = Claims(_CLAIMED, {"speed-cases": judge_cases})
