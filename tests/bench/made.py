"""Records as the benchmark's parts make them, right ones; tests spoil them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tools.bench.fidelity import FIDELITY, ROWS, Row
from tools.bench.part import Claim, Findings, Record, Settings, Verdict, having
from tools.bench.search import SEARCH, SEARCHES, TRAIN
from tools.bench.switches import SWITCH_KINDS

_ROOT = Path(__file__).parents[2]
CHECKOUT = os.environ | {"PYTHONPATH": os.pathsep.join([str(_ROOT / "lib"), str(_ROOT)])}
"""An environment in which another folder's Python finds this checkout."""
FEW = Settings(quick=False, repeats=2, folder=Path("unused"), cores=2)


def fidelity_records(study: str = FIDELITY.name) -> list[Record]:
    """Two fresh labs, idle and busy, and the first of each once more; every claim holds."""
    found: list[Record] = []
    for machine in ("idle", "busy"):
        for repeat, number in ((1, 0), (1, 1), (2, 0)):
            for row in ROWS.values():
                found += [_fidelity_record(study, machine, repeat, row.name, number, *it) for it in _right(row, repeat)]
    return found


def _right(row: Row, repeat: int) -> list[tuple[str, float]]:
    return [
        ("rtt_mean_ms", row.rtt_floor_ms + 0.001 * repeat),
        ("lost_pings", 0),
        ("tcp_mbps", 0.985 * row.tcp_ceiling_mbps),
        ("udp_sent_mbps", row.udp_offered_mbps * 0.9999),
        ("udp_mbps", 0.99 * row.udp_offered_mbps),
        ("udp_sent_packets", 9000),
        ("udp_lost_packets", 0),
    ]


def _fidelity_record(study: str, machine: str, repeat: int, of: str, number: int, metric: str, value: float) -> Record:
    levels = {factor: levels[0] for factor, levels in FIDELITY.factors.items()} | {"machine": machine}
    units = {it.name: it.unit for it in FIDELITY.metrics}
    row: Record = {"repeat": repeat, "of": of, "number": number, "metric": metric, "value": value}
    return {"study": study, **levels, **row, "unit": units[metric]}


def at(records: list[Record], metric: str, **where: Any) -> list[Record]:
    """The records of a metric at a place; without ``of`` of L1."""
    return having(records, metric=metric, **{"of": "L1", **where})


def start_records(exponent: float = 1.0) -> list[Record]:
    """One start of each size."""
    sizes = [("course", 15), *((shape, nodes) for shape in ("chain", "tree") for nodes in (10, 50, 100, 200))]
    return [
        {"shape": shape, "nodes": nodes, "repeat": 1}
        | {"start_s": 0.02 * nodes**exponent, "answer_s": 0.3, "stop_s": 0.1}
        for shape, nodes in sizes
    ]


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
    """Three repeats with each kind of switch."""
    levels = {factor: levels[0] for factor, levels in SWITCH_KINDS.factors.items()}
    return [
        {
            "study": SWITCH_KINDS.name, **levels, "switch": switch, "repeat": repeat, "of": "", "number": None,
            "metric": metric, "value": value, "unit": "",
        }
        for switch in SWITCH_KINDS.factors["switch"]
        for repeat in (1, 2, 3)
        for metric, value in (("rtt_mean_ms", 60.001), ("lost_pings", 0), ("tcp_mbps", 28.0))
    ]  # fmt: skip


def search_records(error_percent: float = 1.0, train_megabytes: float = 1.0) -> list[Record]:
    """What every search found on every network; a plain increase sent 100 MB."""
    values = {
        name: {"error_percent": -0.5, "sent_megabytes": 100.0, "probes": 50, "duration_s": 20.0} for name in SEARCHES
    }
    values[TRAIN] = {"error_percent": error_percent, "sent_megabytes": train_megabytes, "probes": 1, "duration_s": 2.0}
    return [
        {
            "study": SEARCH.name, "seed": seed, "repeat": 1, "of": name, "number": None, "metric": metric,
            "value": value, "unit": "",
        }
        for seed in SEARCH.factors["seed"]
        for name, each in values.items()
        for metric, value in each.items()
    ]  # fmt: skip


def verdicts(findings: Findings) -> list[Verdict]:
    """The verdicts, in order."""
    return [claim.verdict for claim in findings.claims]


def claim_on(findings: Findings, words: str) -> Claim:
    """The one claim whose text has these words."""
    (found,) = [claim for claim in findings.claims if words in claim.text]
    return found
