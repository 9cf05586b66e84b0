"""Switches: the Linux bridge beside Open vSwitch's kernel and user-space datapaths, on virtual time."""

from __future__ import annotations

import time
from collections.abc import Sequence

from linklab.errors import LinklabError
from linklab.measure import PingFlow, TcpFlow, run
from linklab.network import COURSE
from tools.bench.course import ROWS
from tools.bench.crew import Crew
from tools.bench.findings import Claim, Findings, Keep, Record, Say, Table, having
from tools.bench.settings import Settings
from tools.bench.statistics import median, range_text, seconds_text

NAME, TITLE = "switches", "Switches: Linux bridge and Open vSwitch, on virtual time"
SWITCHES = ("bridge", "ovs", "ovs-user")
TCP_SHARES = {"ovs": 0.98, "ovs-user": 0.85}
"""Of the bridge's. The user-space datapath adds 0.07 ms to a round trip, by which TCP's start loses other packets, and
one recovery more or less is a tenth of a transfer of 10 s: 89 and 100 % were seen."""
_TCP_S = 10
_PATH = next(row for row in ROWS if row.name == "h1-h4")


def measure(settings: Settings, say: Say, keep: Keep) -> None:
    """A record for each start with each kind of switch; one that does not work has its reason in it."""
    repeats = min(settings.repeats, 1 if settings.quick else 3)
    with Crew(settings.folder) as crew:
        for repeat in range(1, repeats + 1):
            for switch in SWITCHES:
                say(f"{switch}, repeat {repeat} of {repeats}")
                labels = {"switch": switch, "repeat": repeat}
                try:
                    keep(labels | _one(crew, switch, settings))
                except LinklabError as error:
                    if not crew.ended:
                        keep(labels | {"failed": str(error)})


def _one(crew: Crew, switch: str, settings: Settings) -> Record:
    ends, there = (_PATH.source, _PATH.destination), _PATH.address
    began_s = time.perf_counter()
    lab = crew.start(COURSE, switch=switch)  # type: ignore[arg-type]
    start_s = time.perf_counter() - began_s
    try:
        echo = run(lab, PingFlow(*ends, settings.pings, address=there))
        cpu_s, wall_s, virtual_s = lab.process.cpu_s(), time.perf_counter(), lab.now()
        stream = run(lab, TcpFlow(*ends, _TCP_S, address=there))
        virtual_s = lab.now() - virtual_s
        wall_s = time.perf_counter() - wall_s
        cpu_s = lab.process.cpu_s() - cpu_s
    finally:
        crew.stop(lab)
    return {
        "start_s": start_s,
        "rtt_mean_ms": echo.rtt_mean_ms,
        "pings_lost": echo.lost_packets,
        "tcp_mbps": stream.throughput_mbps,
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "virtual_s": virtual_s,
    }


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """The kinds of switch side by side, and whether Open vSwitch forwards as the bridge does. Pure."""
    done = {switch: [r for r in having(records, switch=switch) if "failed" not in r] for switch in SWITCHES}
    failures = {record["switch"]: record["failed"] for record in records if "failed" in record}
    rows = []
    for switch, found in done.items():
        if not found:
            continue
        rows.append((
            switch, str(len(found)), seconds_text([r["start_s"] for r in found]), range_text(_means_ms(found), 3),
            range_text([r["tcp_mbps"] for r in found], 3),
            f"{median([r['cpu_s'] / r['virtual_s'] for r in found]):.3f}",
            f"{median([r['wall_s'] / r['virtual_s'] for r in found]):.3f}",
        ))  # fmt: skip
    table = Table(
        "h1-h4 of the course network, through s1 and s2",
        ("switch", "repeats", "start, s", "RTT mean, ms", "TCP, Mbit/s", "CPU s / virtual s", "wall s / virtual s"),
        tuple(rows),
        (f"Start: with the guest's boot. RTT in theory {_PATH.rtt_floor_ms:.3f} ms. CPU and wall: during TCP.",),
    )
    claims = [_forwards(switch, done, failures) for switch in SWITCHES if switch != "bridge"]
    return Findings((table,) if rows else (), tuple(claims))


def _forwards(switch: str, done: dict[str, list[Record]], failures: dict[str, str]) -> Claim:
    text = (
        f"Switch {switch} works on virtual time: no ping lost, TCP at {TCP_SHARES[switch]:.0%} or more of the bridge's"
    )
    if switch in failures:
        return Claim.judged(text, False, failures[switch])
    if not done[switch] or not done["bridge"]:
        return Claim.judged(text, None, "")
    lost = sum(record["pings_lost"] for record in done[switch])
    share = min(r["tcp_mbps"] for r in done[switch]) / median([r["tcp_mbps"] for r in done["bridge"]])
    numbers = f"{lost} pings lost, RTT {range_text(_means_ms(done[switch]), 3)} ms, TCP {share:.1%} of the bridge's"
    return Claim.judged(text, lost == 0 and share >= TCP_SHARES[switch], numbers)


def _means_ms(records: Sequence[Record]) -> list[float]:
    return [record["rtt_mean_ms"] for record in records if record["rtt_mean_ms"] is not None]
