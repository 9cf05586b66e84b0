"""The reference simpleperf beside iperf3: how much each puts through one unshaped link, in real time."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from linklab.errors import LabError
from linklab.lab import Lab
from linklab.measure import SimpleperfFlow, run
from linklab.network import COURSE, End, Host, Link, Network
from tools.bench.part import Claim, Crew, Findings, Keep, Record, Say, Settings, Table, having, median, range_text

NAME, TITLE = "simpleperf", "simpleperf: the reference beside iperf3, on one unshaped link, in real time"
CONNECTIONS = (1, 5)
SIMPLEPERF = "simpleperf"
IPERF3 = {"iperf3 -l 1000": "-l 1000", "iperf3": ""}
LEAST = {"iperf3 -l 1000": 1.0, "iperf3": 0.5}
"""What is asked of the reference, as a share of each: its chunks are of 1000 bytes, too."""
REFERENCE = Path(__file__).parents[2] / "solutions" / "simpleperf.py"
CHUNKS = (128, 1)
"""How many chunks of 1000 bytes a call hands over: the reference's, and what the course report's program does."""
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
        lab = crew.start(UNSHAPED)
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
    for chunks in CHUNKS:
        say(f"{chunks} chunks a call, on virtual time")
        keep({"chunks": chunks} | _by_chunks(settings, chunks))


def _by_chunks(settings: Settings, chunks: int) -> Record:
    """Transfer from h1 to h4 of the course network with so many chunks of 1000 bytes in each call."""
    folder = settings.folder / f"chunks-{chunks}"
    folder.mkdir()
    program = folder / "simpleperf.py"
    text = REFERENCE.read_text("utf-8")
    changed = text.replace(f"CHUNKS_PER_CALL: Final = {CHUNKS[0]}\n", f"CHUNKS_PER_CALL: Final = {chunks}\n")
    if changed == text and chunks != CHUNKS[0]:
        raise LabError(f"the reference does not hand over {CHUNKS[0]} chunks a call any more: change CHUNKS")
    program.write_text(changed, "utf-8")
    with Crew(settings.folder) as crew:
        lab = crew.start(COURSE)
        before_s = lab.process.cpu_s()
        result = run(lab, SimpleperfFlow("h1", "h4", settings.case_s, interval_s=None, program=program))
        return {"throughput_mbps": result.throughput_mbps, "cpu_s": lab.process.cpu_s() - before_s}


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
    tables = [it for it in (table, _chunks_table(records)) if it.rows]
    return Findings(tuple(tables), tuple(claims))


def _chunks_table(records: Sequence[Record]) -> Table:
    rows = [
        (str(it["chunks"]), f"{it['throughput_mbps']:.2f}", f"{it['cpu_s']:.1f}") for it in records if "chunks" in it
    ]
    note = "From h1 to h4 of the course network, on virtual time. CPU: of the whole lab, both sides and the network."
    return Table("Chunks of 1000 bytes a call", ("chunks", "throughput, Mbit/s", "CPU, s"), tuple(rows), (note,))
