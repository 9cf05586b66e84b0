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

from linklab.measure import PageFlow, PingFlow, QueueFlow, Run, TcpFlow, run_together
from tests.labs.stored_runs import dumped, load_run

_FILE = Path(__file__).with_name("lab12-runs.json.xz")
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
"""Rate in Mbit/s and round trip in ms: the slowest uplink and the fastest, with the longest round trip."""
QUEUES: Final[Mapping[str, Callable[[float], str]]] = {
    "fq_codel": lambda rate_mbps: "fq_codel",
    "cake": lambda rate_mbps: "cake unlimited",
    "codel": lambda rate_mbps: "codel",
    "pfifo 16": lambda rate_mbps: "pfifo limit 16",
    "pfifo 30 ms": lambda rate_mbps: f"pfifo limit {max(1, int(rate_mbps * 1000 * 30 / 12112))}",
    "pfifo 10 ms": lambda rate_mbps: f"pfifo limit {max(1, int(rate_mbps * 1000 * 10 / 12112))}",
    "red": lambda rate_mbps: _RED,
}


@functools.cache
def kept() -> dict[str, Run]:
    """Return the runs on the plain network, by the name of their queue in `DISCIPLINES`."""
    return {name: load_run(run) for name, run in _told()["plain"].items()}


@functools.cache
def finale(queue: str) -> dict[str, Run]:
    """Return the runs with one of `QUEUES` on each of `UNSEEN`."""
    return {name: load_run(run) for name, run in _told()["unseen"][queue].items()}


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
    from linklab.labs.lab12.rules import with_uplink

    made: dict[str, Any] = {"plain": {}, "unseen": {queue: {} for queue in QUEUES}}
    replace = "tc qdisc replace dev r1-eth2 parent 5:1"
    with linklab.start(lab12.the_network()) as lab:
        for name, what in DISCIPLINES.items():
            if what:
                assert not lab["r1"].cmd(f"{replace} {what}")
            if name == "marks":
                lab["h1"].cmd("sysctl -w net.ipv4.tcp_ecn=1")
            made["plain"][name] = dumped(run_together(lab, _beside(40)))
    for name, (rate_mbps, rtt_ms) in UNSEEN.items():
        with linklab.start(with_uplink(lab12.the_network(), rate_mbps, rtt_ms)) as lab:
            for queue, what_for in QUEUES.items():
                assert not lab["r1"].cmd(f"{replace} {what_for(rate_mbps)}")
                made["unseen"][queue][name] = dumped(run_together(lab, _beside(30)[:3]))
    with lzma.open(_FILE, "wt", encoding="utf-8") as file:
        json.dump(made, file)


if __name__ == "__main__":
    _make()
