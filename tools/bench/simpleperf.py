"""The reference simpleperf beside iperf3: how much each puts through one unshaped link, in real time."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from linklab.errors import LabError
from linklab.lab import Lab
from linklab.network import End, Host, Link, Network
from tools.bench.crew import Crew
from tools.bench.findings import Claim, Findings, Keep, Record, Say, Table, having
from tools.bench.settings import Settings
from tools.bench.statistics import median, range_text

NAME, TITLE = "simpleperf", "simpleperf: the reference beside iperf3, on one unshaped link, in real time"
CONNECTIONS = (1, 5)
SIMPLEPERF = "simpleperf"
IPERF3 = {"iperf3 -l 1000": "-l 1000", "iperf3": ""}
LEAST = {"iperf3 -l 1000": 1.0, "iperf3": 0.5}
"""What is asked of the reference, as a share of each: its chunks are of 1000 bytes, too."""
REFERENCE = Path(__file__).parents[2] / "solutions" / "simpleperf.py"
_ADDRESS, _SIMPLEPERF_PORT, _IPERF3_PORT = "10.0.0.2", 8088, 5201
_MBPS = re.compile(r"([\d.]+) Mbps")
UNSHAPED = Network(
    "unshaped",
    (Host("h1"), Host("h2")),
    (Link(End("h1", "h1-eth0", "10.0.0.1/24"), End("h2", "h2-eth0", f"{_ADDRESS}/24")),),
)


def measure(settings: Settings, say: Say, keep: Keep) -> None:
    """A record for each round and number of connections: one after the other, all tools on the same link.

    The first round meets cold caches and is not kept. Raises `LabError` where the reference or a tool is missing.
    """
    if not REFERENCE.is_file():
        raise LabError(f"the reference is not at {REFERENCE}: run the benchmark from a checkout of Linklab")
    rounds = 2 if settings.quick else 6
    (settings.folder / "simpleperf.py").write_text(REFERENCE.read_text("utf-8"), "utf-8")
    with Crew(settings.folder) as crew:
        lab = crew.start(UNSHAPED, "real")
        program = f"python3 {settings.folder.resolve()}/simpleperf.py"
        lab["h2"].popen(f"{program} -s -b {_ADDRESS}")
        lab["h2"].wait_listening(_SIMPLEPERF_PORT)
        lab["h2"].popen("iperf3 -s")
        lab["h2"].wait_listening(_IPERF3_PORT)
        for number in range(rounds):
            for connections in CONNECTIONS:
                say(f"round {number + 1} of {rounds}, {connections} connections")
                words = f"-t {settings.real_s} -P {connections}"
                found = {SIMPLEPERF: _simpleperf_mbps(lab, f"{program} -c -I {_ADDRESS} {words}")}
                for name, option in IPERF3.items():
                    found[name] = _iperf3_mbps(lab, f"iperf3 -c {_ADDRESS} --json {words} {option}")
                if number:
                    keep({"round": number, "connections": connections, "mbps": found})


def _simpleperf_mbps(lab: Lab, command: str) -> float:
    said = lab["h1"].cmd(command)
    rates = [float(rate) for rate in _MBPS.findall(said)]
    if not rates:
        raise LabError(f"simpleperf gave no throughput: {said.strip()[-200:] or 'it printed nothing'}")
    return sum(rates)


def _iperf3_mbps(lab: Lab, command: str) -> float:
    said = lab["h1"].cmd(command)
    try:
        return float(json.loads(said)["end"]["sum_received"]["bits_per_second"]) / 1e6
    except (ValueError, KeyError):
        raise LabError(f"iperf3 gave no throughput: {said.strip()[-200:] or 'it printed nothing'}") from None


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """Throughput side by side, and the reference's share of each of the others. Pure."""
    rows, claims = [], []
    for connections in CONNECTIONS:
        found = [record["mbps"] for record in having(records, connections=connections)]
        ratios = {name: [mbps[SIMPLEPERF] / mbps[name] for mbps in found] for name in IPERF3}
        if found:
            rows.append((
                str(connections), str(len(found)),
                *(range_text([mbps[name] for mbps in found], 0) for name in (SIMPLEPERF, *IPERF3)),
                *(f"{median(ratios[name]):.2f}" for name in IPERF3),
            ))  # fmt: skip
        few = "one connection" if connections == 1 else f"{connections} connections"
        for name, least in LEAST.items():
            ratio = median(ratios[name]) if found else None
            text = f"The reference, {few}: at least {least:g} times what `{name}` moves"
            claims.append(Claim.judged(text, None if ratio is None else ratio >= least, f"{ratio or 0:.2f} times"))
    table = Table(
        "Throughput, Mbit/s",
        ("connections", "rounds", SIMPLEPERF, *IPERF3, *(f"simpleperf / {name}" for name in IPERF3)),
        tuple(rows),
        (
            "In real time and without a limit on the link, so these are numbers of this machine; "
            "the ratios are medians of rounds in which all three ran one after the other.",
        ),
    )
    return Findings((table,) if rows else (), tuple(claims))
