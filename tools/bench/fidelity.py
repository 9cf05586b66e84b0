"""Fidelity: is what a lab measures the network's own, whatever the machine does meanwhile?"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from linklab.lab import Lab
from linklab.measure import PingFlow, TcpFlow, UdpFlow, run
from linklab.network import COURSE
from tools.bench.course import ROWS, Row
from tools.bench.crew import Crew
from tools.bench.findings import Keep, Record, Say
from tools.bench.load import busy
from tools.bench.settings import Settings

NAME, TITLE = "fidelity", "Fidelity: RTT, TCP and UDP of the links and paths, against theory, idle and busy"
SAME_LAB_REPEATS = 2
"""How often the measurement is done again in the first lab of each condition, without starting the lab anew."""


@dataclass(frozen=True)
class _Round:
    """The measurement of all rows, in a fresh lab; in the first one again, without a fresh start."""

    clock: str
    load: str
    number: int
    again: int


def measure(settings: Settings, say: Say, keep: Keep) -> None:
    """Fills in one record for each row of each round. Virtual time first, as many labs at once as there are cores."""
    for load in ("idle", "busy"):
        _condition("virtual", load, settings.repeats, settings.cores, settings, say, keep)
    for load in ("idle", "busy"):
        # real labs would disturb each other
        _condition("real", load, settings.real_repeats, 1, settings, say, keep)


def _condition(clock: str, load: str, repeats: int, workers: int, settings: Settings, say: Say, keep: Keep) -> None:
    again = min(SAME_LAB_REPEATS, repeats - 1) if clock == "virtual" else 0
    rounds = [_Round(clock, load, number, again if number == 1 else 0) for number in range(1, repeats + 1)]
    loops = busy(settings.cores) if load == "busy" else contextlib.nullcontext()
    with loops, Crew(settings.folder) as crew:

        def work(round: _Round) -> None:
            lab = crew.start(COURSE, round.clock)  # type: ignore[arg-type]
            try:
                for time in range(round.again + 1):
                    where = "fresh lab" if time == 0 else "same lab again"
                    say(f"{clock} time, {load}: {where}, repeat {round.number} of {repeats}")
                    labels: Record = {"clock": clock, "load": load, "repeat": round.number, "round": time}
                    for row in ROWS:
                        keep(labels | measure_row(lab, row, settings))
            finally:
                crew.stop(lab)

        crew.side_by_side(work, rounds, workers)


def measure_row(lab: Lab, row: Row, settings: Settings) -> Record:
    """RTT, TCP and UDP of one row, one after the other."""
    virtual = lab.clock == "virtual"
    tcp_s, udp_s = (settings.tcp_s(row.is_link), settings.udp_s) if virtual else (settings.real_s, settings.real_s)
    pings = settings.pings if virtual else settings.real_pings
    ends, there = (row.source, row.destination), row.address
    payload_bytes = row.udp_payload_bytes
    echo = run(lab, PingFlow(*ends, count=pings, interval_s=0.2, address=there))
    stream = run(lab, TcpFlow(*ends, duration_s=tcp_s, address=there))
    datagrams = run(lab, UdpFlow(*ends, row.udp_offered_mbps, udp_s, payload_bytes=payload_bytes, address=there))
    return {
        "row": row.name,
        "rtt_mean_ms": echo.rtt_mean_ms,
        "rtt_min_ms": echo.rtt_min_ms,
        "rtt_max_ms": echo.rtt_max_ms,
        "pings_sent": echo.sent_packets,
        "pings_lost": echo.lost_packets,
        "tcp_mbps": stream.throughput_mbps,
        "tcp_retransmitted_segments": stream.retransmitted_segments,
        "udp_offered_mbps": row.udp_offered_mbps,
        "udp_sent_mbps": datagrams.sent_mbps,
        "udp_mbps": datagrams.throughput_mbps,
        "udp_sent_packets": datagrams.sent_packets,
        "udp_lost_packets": datagrams.lost_packets,
        "udp_jitter_ms": datagrams.jitter_ms,
    }
