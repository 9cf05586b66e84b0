"""Speed: virtual seconds for each second on the wall, for single loads and for the five test cases."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from queue import Empty, SimpleQueue

from linklab.lab import Lab
from linklab.measure import Flow, PingFlow, TcpFlow, UdpFlow, at_once
from linklab.network import COURSE
from tools.bench.cases import Step, steps
from tools.bench.course import ROWS
from tools.bench.crew import Crew
from tools.bench.findings import Keep, Record, Say
from tools.bench.settings import Settings

NAME, TITLE = "speed", "Speed: virtual seconds for each second on the wall"
CASES = "the five test cases"
_PATH = next(row for row in ROWS if row.name == "h1-h4")
_PINGS_EACH_S = 5


def loads(duration_s: int) -> dict[str, tuple[Flow, ...]]:
    """The single loads by name, each of about `duration_s` virtual seconds; pings of ten times as many."""
    ends, there = (_PATH.source, _PATH.destination), _PATH.address
    four = (("h1", "h4"), ("h2", "h5"), ("h3", "h6"), ("h7", "h9"))
    return {
        "ping": (PingFlow(*ends, 10 * _PINGS_EACH_S * duration_s, 1 / _PINGS_EACH_S, address=there),),
        "UDP": (
            UdpFlow(*ends, _PATH.udp_offered_mbps, duration_s, payload_bytes=_PATH.udp_payload_bytes, address=there),
        ),
        "one TCP flow": (TcpFlow(*ends, duration_s, address=there),),
        "four TCP flows": tuple(TcpFlow(*pair, duration_s, address=COURSE.address_of(pair[1])) for pair in four),
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
    at_once(lab, flows)
    return max(map(traffic_s, flows))


def traffic_s(flow: Flow) -> float:
    """How long a flow sends. Connecting and waiting before and after it do not count as time gained."""
    return (flow.count - 1) * flow.interval_s if isinstance(flow, PingFlow) else flow.lasts_s
