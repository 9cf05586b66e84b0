"""Switches: the Linux bridge beside Open vSwitch's kernel and user-space datapaths, on virtual time."""

from __future__ import annotations

import time
from collections.abc import Sequence

from linklab.bench.course import ROWS
from linklab.bench.crew import Crew
from linklab.bench.findings import Claim, Findings, Keep, Record, Say, Table, having
from linklab.bench.settings import Settings
from linklab.bench.statistics import median, range_text, seconds_text
from linklab.bench.usage import lab_cpu_s
from linklab.errors import LinklabError
from linklab.measure import PingFlow, TcpFlow, ping, tcp
from linklab.network import COURSE

NAME, TITLE = "switches", "Switches: Linux bridge and Open vSwitch, on virtual time"
SWITCHES = ("bridge", "ovs", "ovs-user")
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
        echo = ping(lab, PingFlow(*ends, settings.pings, address=there))
        cpu_s, wall_s, virtual_s = lab_cpu_s(lab.process.keeper_pid), time.perf_counter(), lab.now()
        stream = tcp(lab, TcpFlow(*ends, settings.speed_s, address=there))
        virtual_s = lab.now() - virtual_s
        wall_s = time.perf_counter() - wall_s
        cpu_s = lab_cpu_s(lab.process.keeper_pid) - cpu_s
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
    """The kinds of switch side by side, and whether each of them forwards. Pure."""
    rows, claims = [], []
    for switch in SWITCHES:
        found = [record for record in having(records, switch=switch) if "failed" not in record]
        failures = [record["failed"] for record in having(records, switch=switch) if "failed" in record]
        claims.append(_forwards(switch, found, failures))
        if not found:
            continue
        answered = [record["rtt_mean_ms"] for record in found if record["rtt_mean_ms"] is not None]
        rows.append((
            switch, str(len(found)), seconds_text([r["start_s"] for r in found]), range_text(answered, 3),
            range_text([r["tcp_mbps"] for r in found], 3),
            f"{median([r['cpu_s'] / r['virtual_s'] for r in found]):.3f}",
            f"{median([r['wall_s'] / r['virtual_s'] for r in found]):.3f}",
        ))  # fmt: skip
    table = Table(
        "h1-h4 of the course network, through s1 and s2",
        ("switch", "repeats", "start, s", "RTT mean, ms", "TCP, Mbit/s", "CPU s / virtual s", "wall s / virtual s"),
        tuple(rows),
    )
    return Findings((table,) if rows else (), tuple(claims))


def _forwards(switch: str, found: Sequence[Record], failures: Sequence[str]) -> Claim:
    text = f"Switch {switch} forwards on virtual time: no ping lost, RTT within 0.01 ms of theory"
    if failures:
        return Claim.judged(text, False, failures[0])
    if not found:
        return Claim.judged(text, None, "")
    lost = sum(record["pings_lost"] for record in found)
    means_ms = [record["rtt_mean_ms"] for record in found if record["rtt_mean_ms"] is not None]
    off_ms = max((abs(mean - _PATH.rtt_floor_ms) for mean in means_ms), default=0.0)
    tcp = range_text([record["tcp_mbps"] for record in found], 2)
    met = lost == 0 and len(means_ms) == len(found) and off_ms <= 0.01
    return Claim.judged(text, met, f"{lost} pings lost, RTT off by {off_ms:.4f} ms at most, TCP {tcp} Mbit/s")
