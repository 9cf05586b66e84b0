"""Records as the benchmark's parts make them, right ones; tests spoil them."""

from __future__ import annotations

import os
from pathlib import Path

from tools.bench.course import ROWS
from tools.bench.findings import Claim, Findings, Record, Verdict
from tools.bench.settings import Settings

_ROOT = Path(__file__).parents[2]
CHECKOUT = os.environ | {"PYTHONPATH": os.pathsep.join([str(_ROOT / "lib"), str(_ROOT)])}
"""An environment in which another folder's Python finds this checkout."""
FEW = Settings(quick=False, repeats=2, folder=Path("unused"), cores=2)


def fidelity_records(clock: str = "virtual") -> list[Record]:
    """Two fresh labs, idle and busy, and the first of each once more; every claim holds."""
    return [
        {
            "clock": clock,
            "load": load,
            "repeat": repeat,
            "round": round,
            "row": row.name,
            "rtt_mean_ms": row.rtt_floor_ms + 0.001 * repeat,
            "rtt_min_ms": row.rtt_floor_ms,
            "rtt_max_ms": row.rtt_floor_ms + 0.002,
            "pings_sent": 26,
            "pings_lost": 0,
            "tcp_mbps": 0.985 * row.tcp_ceiling_mbps,
            "tcp_retransmitted_segments": 0,
            "udp_offered_mbps": row.udp_offered_mbps,
            "udp_sent_mbps": row.udp_offered_mbps * 0.9999,
            "udp_mbps": 0.99 * row.udp_offered_mbps,
            "udp_sent_packets": 9000,
            "udp_lost_packets": 0,
            "udp_jitter_ms": 0.01,
        }
        for load in ("idle", "busy")
        for repeat, round in ((1, 0), (1, 1), (2, 0))
        for row in ROWS
    ]


def start_records(exponent: float = 1.0, share: float = 0.1) -> list[Record]:
    """One start of each size each way, the guest's boot 0.5 s; Linklab's take `share` of plain Mininet's."""
    found: list[Record] = []
    sizes = [("course", 15), *((shape, nodes) for shape in ("chain", "tree") for nodes in (10, 50, 100, 200))]
    for shape, nodes in sizes:
        plain_s = 0.2 * nodes**exponent
        where: Record = {"shape": shape, "nodes": nodes, "repeat": 1}
        plain: Record = {"boot_s": 0.5, "start_s": 0.5 + plain_s, "answer_s": 0.1, "network_stop_s": 1, "stop_s": 1.1}
        ours: Record = {"start_s": 0.5 + share * plain_s, "answer_s": 0.3, "stop_s": 0.1}
        found += [where | {"way": "plain Mininet"} | plain, where | {"way": "linklab"} | ours]
    return found


def speed_records(virtual_per_wall: float = 12.0) -> list[Record]:
    """Every load with one lab and with two."""
    step: Record = {"virtual_s": 25.0, "wall_s": 25.0 / virtual_per_wall}
    steps = [step | {"case": case, "step": f"step {case}"} for case in (1, 2, 2, 5)]
    return [
        {"load": load, "labs": labs, "virtual_s": 100.0 * labs, "wall_s": 200.0 / virtual_per_wall}
        | ({"steps": steps} if load == "the five test cases" else {})
        for labs in (1, 2)
        for load in ("ping", "UDP", "one TCP flow", "four TCP flows", "the five test cases")
    ]


def switch_records() -> list[Record]:
    """One start of each kind of switch."""
    return [
        {
            "switch": switch,
            "repeat": 1,
            "start_s": 1.5,
            "rtt_mean_ms": 60.001,
            "pings_lost": 0,
            "tcp_mbps": 28.0,
            "cpu_s": 5.0,
            "wall_s": 4.0,
            "virtual_s": 10.0,
        }
        for switch in ("bridge", "ovs", "ovs-user")
    ]


def verdicts(findings: Findings) -> list[Verdict]:
    """The verdicts, in order."""
    return [claim.verdict for claim in findings.claims]


def claim_on(findings: Findings, words: str) -> Claim:
    """The one claim whose text has these words."""
    (found,) = [claim for claim in findings.claims if words in claim.text]
    return found
