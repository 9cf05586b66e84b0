"""Lab 11's measurements as its solution makes them, kept: `lab11-runs.json.xz`.

``python -m tests.labs.lab11_runs`` makes the file anew.
"""

from __future__ import annotations

import functools
import json
import lzma
from pathlib import Path
from typing import Any

from linklab.course import using
from linklab.measure import QueueFlow, Run, SocketsFlow, TcpFlow, run_together
from linklab.network import COURSE
from linklab.network.variants import variant
from tests.labs.stored_runs import dumped, load_run

_FILE = Path(__file__).with_name("lab11-runs.json.xz")
VARIANT = variant("ada", b"a course secret for trials")
"""A student's own course network."""
_CHANGE = "tc qdisc change dev r1-eth2 parent 5:1 handle 10: netem limit"


@functools.cache
def kept() -> dict[str, Any]:
    """Return what is kept: `samples` of the solution's own sampler, and runs by the cell and the key."""
    with lzma.open(_FILE, "rt", encoding="utf-8") as file:
        told: dict[str, Any] = json.load(file)
    return told


@functools.cache
def controls() -> dict[str, Run]:
    """Return the runs of Reno, CUBIC and BBR."""
    return {name: load_run(run) for name, run in kept()["controls"].items()}


@functools.cache
def queues() -> dict[int, Run]:
    """Return the runs with each queue."""
    return {int(packets): load_run(run) for packets, run in kept()["queues"].items()}


@functools.cache
def together() -> dict[str, Run]:
    """Return the runs of several flows."""
    return {name: load_run(run) for name, run in kept()["together"].items()}


@functools.cache
def depths(student: str) -> dict[int, Run]:
    """Return the runs of all controls at once with each queue, on the plain network (``"plain"``) or a student's."""
    return {int(packets): load_run(run) for packets, run in kept()["depths"][student].items()}


@functools.cache
def lossy(student: str) -> dict[str, Run]:
    """Return the runs of each control alone while B loses 1 % of the packets, on the plain network or a student's."""
    return {name: load_run(run) for name, run in kept()["lossy"][student].items()}


def _looked(source: str, destination: str, seconds: float, control: str) -> list[Any]:
    return [
        TcpFlow(source, destination, seconds, congestion=control),
        SocketsFlow(source, destination, seconds, 0.2),
        QueueFlow("r1", destination, seconds, 0.2),
    ]


def _three() -> list[TcpFlow]:
    return [TcpFlow("h1", "h3", 60, congestion=name) for name in ("reno", "cubic", "bbr")]


def _make() -> None:
    import re

    import linklab
    from linklab.labs.lab11 import rules as lab11
    from linklab.labs.lab11.functions import read_ss_text

    made: dict[str, Any] = {"samples": [], "controls": {}, "queues": {}, "together": {}, "depths": {}, "lossy": {}}
    with linklab.start(lab11.the_network()) as lab:
        server = lab["h3"].popen("iperf3 -s -1")
        lab["h3"].wait_listening(5201)
        client = lab["h1"].popen(f"iperf3 -c {lab['h3'].address} -t 20 -C reno --cport 6000")
        start_s, second = lab.now(), 0.0
        while second < 19:
            lab.sleep(0.05)
            second = lab.now() - start_s
            said = lab["h1"].cmd("ss -tin sport = 6000")
            waiting = re.search(r"backlog \S+ (\d+)p", lab["r1"].cmd("tc -s qdisc show dev r1-eth2"))
            assert waiting is not None
            made["samples"].append([second, *read_ss_text(said), int(waiting[1])])
        client.wait()
        server.wait()
        for name in lab11.CONTROLS:
            made["controls"][name] = dumped(run_together(lab, _looked("h2", "h4", 40, name)))
        for packets in lab11.QUEUES:
            lab["r1"].cmd(f"{_CHANGE} {packets}")
            made["queues"][packets] = dumped(run_together(lab, _looked("h1", "h3", 30, "cubic")))
        lab["r1"].cmd(f"{_CHANGE} 100")
        for name in lab11.CONTROLS:
            both = [TcpFlow(*pair, 60, congestion=name) for pair in (("h1", "h3"), ("h2", "h4"))]
            made["together"][name] = dumped(run_together(lab, both))
        made["together"]["mixed"] = dumped(run_together(lab, _three()))
    for student, course in {"plain": COURSE, "ada": VARIANT}.items():
        with using(course), linklab.start(lab11.the_network()) as lab:
            runs = made["depths"].setdefault(student, {})
            for packets in sorted([*lab11.DEPTHS, lab11.PLANNED]):
                lab["r1"].cmd(f"{_CHANGE} {packets}")
                runs[packets] = dumped(run_together(lab, _three()))
            lab["r1"].cmd(f"{_CHANGE} 100 loss 1%")
            made["lossy"][student] = {
                name: dumped(run_together(lab, [TcpFlow("h1", "h3", 20, congestion=name)])) for name in lab11.CONTROLS
            }
    with lzma.open(_FILE, "wt", encoding="utf-8") as file:
        json.dump(made, file)


if __name__ == "__main__":
    _make()
