"""Lab 12's measurements as its solution makes them, and some on unseen networks, kept: `lab12-runs.json.xz`.

``python -m tests.labs.lab12_runs`` makes the file anew.
"""

from __future__ import annotations

import functools
import json
import lzma
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from linklab.course import using
from linklab.measure import PageFlow, PingFlow, QueueFlow, Run, TcpFlow, run_together
from linklab.network import COURSE
from linklab.network.variants import variant
from tests.labs.stored_runs import dumped, load_run

_FILE = Path(__file__).with_name("lab12-runs.json.xz")
VARIANT = variant("ada", b"a course secret for trials")
"""A student's own course network."""
_RED = "red limit 60000 min 7500 max 22500 avpkt 1500 burst 9 probability 0.1 bandwidth 10mbit"
DISCIPLINES: Final = {
    "long": "",
    "pfifo": "pfifo limit 16",
    "too long": "pfifo limit 60",
    "red": _RED,
    "codel": "codel",
    "fq_codel": "fq_codel",
    "cake": "cake unlimited",
    "marks": "fq_codel",
}
UNSEEN: Final = {"slow": (2.5, 24), "middle": (8, 16), "fast": (40, 24)}
"""Rate in Mbit/s and round trip in ms: the slowest modem and the fastest, with the longest round trip."""
QUEUES: Final[Mapping[str, Callable[[float], str]]] = {
    "cake": lambda rate_mbps: f"cake bandwidth {0.95 * rate_mbps:g}mbit",
    "tbf": lambda rate_mbps: f"tbf rate {0.95 * rate_mbps:g}mbit burst 3000 limit {rate_mbps * 1000 * 20 / 8:.0f}",
    "fq_codel": lambda rate_mbps: "fq_codel",
    "pfifo 30 ms": lambda rate_mbps: f"pfifo limit {max(1, int(rate_mbps * 1000 * 30 / 12112))}",
    "cake 10": lambda rate_mbps: "cake bandwidth 10mbit",
    "cake 120 %": lambda rate_mbps: f"cake bandwidth {1.2 * rate_mbps:g}mbit",
    "cake 80 %": lambda rate_mbps: f"cake bandwidth {0.8 * rate_mbps:g}mbit",
}


@functools.cache
def kept() -> dict[str, Run]:
    """Return the runs on the plain network, by the name of their queue in `DISCIPLINES`."""
    return {name: load_run(run) for name, run in _told()["plain"].items()}


@functools.cache
def finale(queue: str) -> dict[str, Run]:
    """Return the runs with the first of `QUEUES` on each of `UNSEEN`, of which the slow one has another of them."""
    runs = _told()["unseen"]
    return {name: load_run(run) for name, run in {**runs["cake"], **runs[queue]}.items()}


@functools.cache
def uploads(student: str) -> dict[str, Run]:
    """Return the runs of four connections of h1 beside one of h2, on the plain network or a student's, by queue."""
    return {queue: load_run(run) for queue, run in _told()["uploads"][student].items()}


@functools.cache
def _told() -> dict[str, Any]:
    with lzma.open(_FILE, "rt", encoding="utf-8") as file:
        told: dict[str, Any] = json.load(file)
    return told


def _beside(seconds: int) -> list[Any]:
    return [
        TcpFlow("h1", "h3", seconds),
        PingFlow("h2", "h3", 5 * (seconds - 5), 0.2, start_s=5),
        QueueFlow("r1", "h3", seconds),
        PageFlow("h2", "h3", seconds - 20, start_s=5),
    ]


def _make() -> None:
    import linklab
    from linklab.labs.lab12 import rules as lab12
    from linklab.labs.lab12.rules import with_modem

    made: dict[str, Any] = {"plain": {}, "unseen": {queue: {} for queue in QUEUES}, "uploads": {}}
    replace = "tc qdisc replace dev r1-eth2 parent 5:1"
    with linklab.start(lab12.the_network()) as lab:
        for name, what in DISCIPLINES.items():
            if what:
                assert not lab["r1"].cmd(f"{replace} {what}")
            if name == "marks":
                lab["h1"].cmd("sysctl -w net.ipv4.tcp_ecn=1")
            made["plain"][name] = dumped(run_together(lab, _beside(40)))
    for name, (rate_mbps, rtt_ms) in UNSEEN.items():
        with linklab.start(with_modem(lab12.the_network(), rate_mbps, rtt_ms)) as lab:
            for queue, what_for in QUEUES.items():
                if queue == "cake" or name == "slow":
                    assert not lab["r1"].cmd(f"{replace} {what_for(rate_mbps)}")
                    made["unseen"][queue][name] = dumped(run_together(lab, _beside(30)[:3]))
    for student, course in {"plain": COURSE, "ada": VARIANT}.items():
        with using(course), linklab.start(lab12.the_network()) as lab:
            for queue in ("fq_codel", "cake unlimited"):
                assert not lab["r1"].cmd(f"{replace} {queue}")
                both = [TcpFlow("h1", "h3", 20, streams=4), TcpFlow("h2", "h3", 20), QueueFlow("r1", "h3", 20, 0.2)]
                made["uploads"].setdefault(student, {})[queue.split()[0]] = dumped(run_together(lab, both))
    with lzma.open(_FILE, "wt", encoding="utf-8") as file:
        json.dump(made, file)


if __name__ == "__main__":
    _make()
