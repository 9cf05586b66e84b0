"""Speed: virtual seconds for each second on the wall, for single loads and for the five test cases."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from linklab.lab import Lab
from linklab.measure import Flow, PingFlow, TcpFlow, UdpFlow, run_together
from linklab.network import COURSE
from studies.report.study import (
    IPERF3,
    LINKS,
    PARALLEL,
    PATHS,
    SHARED,
    ping_flow,
    shared_flows,
    transfer_flow,
)
from tools.bench.fidelity import ROWS
from tools.bench.part import Claim, Crew, Findings, Keep, Record, Say, Settings, Table, having


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


NAME, TITLE = "speed", "Speed: virtual seconds for each second on the wall"
CASES = "the five test cases"
_PINGS_EACH_S = 5


def loads(duration_s: int) -> dict[str, tuple[Flow, ...]]:
    """The single loads by name, each of about `duration_s` virtual seconds; pings of ten times as many."""
    four = (("h1", "h4"), ("h2", "h5"), ("h3", "h6"), ("h7", "h9"))
    return {
        "ping": (PingFlow("h1", "h4", 10 * _PINGS_EACH_S * duration_s, 1 / _PINGS_EACH_S),),
        "UDP": (_udp("h1-h4", duration_s),),
        "one TCP flow": (TcpFlow("h1", "h4", duration_s),),
        "four TCP flows": tuple(TcpFlow(*pair, duration_s) for pair in four),
    }


def measure(settings: Settings, say: Say, keep: Keep) -> None:
    """A record for each load and number of labs at once: 1, then one for each core."""
    for labs in sorted({1, settings.cores}):
        with Crew(settings.folder) as crew:
            say(f"starting {_labs(labs)}")
            running = crew.side_by_side(crew.start, [COURSE] * labs, labs)
            for name, flows in loads(settings.speed_s).items():
                say(f"{name} in {_labs(labs)} at once")
                keep({"load": name, "labs": labs} | _same_in_all(crew, running, flows))
            _cases(crew, running, steps(settings.case_s), say, keep)


def _labs(labs: int) -> str:
    return "one lab" if labs == 1 else f"{labs} labs"


def _same_in_all(crew: Crew, labs: Sequence[Lab], flows: tuple[Flow, ...]) -> Record:
    """The same flows in every lab at one time."""
    began_s = time.perf_counter()
    virtual_s = crew.side_by_side(lambda lab: run(lab, flows), labs, len(labs))
    return {"virtual_s": sum(virtual_s), "wall_s": time.perf_counter() - began_s}


def _cases(crew: Crew, labs: Sequence[Lab], todo: Sequence[Step], say: Say, keep: Keep) -> None:
    """All steps, spread over the labs: each takes the next as soon as it is done with one.

    What was done until a failure is kept under a name of its own, and no verdict is built on it.
    """
    waiting: SimpleQueue[Step] = SimpleQueue()
    # the longest to the front, so that no lab is left alone with it at the end
    for step in sorted(todo, key=lambda step: -len(step.flows)):
        waiting.put(step)
    done: list[Record] = []
    lock = threading.Lock()

    def work(lab: Lab) -> None:
        while True:
            try:
                step = waiting.get_nowait()
            except Empty:
                return
            began_s = time.perf_counter()
            virtual_s = run(lab, step.flows)
            record = {"case": step.case, "step": step.name, "virtual_s": virtual_s}
            with lock:
                done.append(record | {"wall_s": time.perf_counter() - began_s})
                say(f"{CASES} in {_labs(len(labs))}: {len(done)} of {len(todo)} steps")

    def record(load: str) -> Record:
        wall_s = time.perf_counter() - began_s
        virtual_s = sum(step["virtual_s"] for step in done)
        return {"load": load, "labs": len(labs), "virtual_s": virtual_s, "wall_s": wall_s, "steps": done}

    began_s = time.perf_counter()
    try:
        crew.side_by_side(work, labs, len(labs))
    except BaseException:
        keep(record(f"{CASES}, the first {len(done)} of {len(todo)} steps"))
        raise
    keep(record(CASES))


def run(lab: Lab, flows: Sequence[Flow]) -> float:
    """Carries out flows at once; how many virtual seconds of traffic that was."""
    run_together(lab, flows)
    return max(map(traffic_s, flows))


def traffic_s(flow: Flow) -> float:
    """How long a flow sends. Connecting and waiting before and after it do not count as time gained."""
    return (flow.count - 1) * flow.interval_s if isinstance(flow, PingFlow) else flow.lasts_s


AT_LEAST = 10.0


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """The rates of every load, and the verdict on the five test cases."""
    tables = [table for table in (_rates(records), _steps(records)) if table.rows]
    return Findings(tuple(tables), (_judge_cases(records, settings),))


def _judge_cases(records: Sequence[Record], settings: Settings) -> Claim:
    text = (
        f"At least {AT_LEAST:g} virtual seconds for each second on the wall, over the five test cases of the course "
        f"report, on all cores (here {settings.cores})"
    )
    rates = {record["labs"]: record["virtual_s"] / record["wall_s"] for record in having(records, load=CASES)}
    numbers = ", ".join(f"{rate:.1f} with {_at_once(labs)}" for labs, rate in rates.items())
    if settings.quick and numbers:
        numbers += f" (--quick: {settings.case_s} s a flow in place of 25, so that starting the tools weighs more)"
    met = rates[settings.cores] >= AT_LEAST if settings.cores in rates else None
    return Claim.judged(text, met, numbers)


def _at_once(labs: int) -> str:
    return "one lab" if labs == 1 else f"{labs} labs at once"


def _rates(records: Sequence[Record]) -> Table:
    rows = [
        (
            record["load"],
            str(record["labs"]),
            f"{record['virtual_s']:.1f}",
            f"{record['wall_s']:.2f}",
            f"{record['virtual_s'] / record['wall_s']:.2f}",
            f"{record['virtual_s'] / record['wall_s'] / record['labs']:.2f}",
        )
        for record in records
    ]
    return Table(
        "Virtual seconds for each second on the wall",
        ("load", "labs at once", "virtual s, all labs", "wall s", "virtual / wall", "virtual / wall, each core"),
        tuple(rows),
        (
            "h1-h4; four flows: h1-h4, h2-h5, h3-h6, h7-h9. Each lab is pinned to a core of its own. Virtual "
            "seconds are those in which flows send; the wall's also start the tools and wait for the last packets, but "
            "do not start the lab. The test cases are spread "
            "over the labs, the other loads run in each of them.",
        ),
    )


def _steps(records: Sequence[Record]) -> Table:
    found = having(records, load=CASES, labs=1)
    rows = []
    for case in sorted({step["case"] for record in found for step in record["steps"]}):
        mine = having([step for record in found for step in record["steps"]], case=case)
        virtual_s, wall_s = (sum(step[key] for step in mine) for key in ("virtual_s", "wall_s"))
        rows.append((
            str(case), ", ".join(step["step"] for step in mine), f"{virtual_s:.1f}", f"{wall_s:.2f}",
            f"{virtual_s / wall_s:.2f}",
        ))  # fmt: skip
    return Table(
        "The five test cases on one core",
        ("case", "what ran", "virtual s", "wall s", "virtual / wall"),
        tuple(rows),
    )
