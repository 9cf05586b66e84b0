"""Fidelity as a study: is what a lab measures the network's own, whatever the machine does meanwhile?

Each point is a fresh lab of the course network with one seed, on an idle or a busy machine; in the first of each the
measurement is done again twice. What is measured again is compared with its like: it starts at another instant, and
where TCP loses packets that alone may change a third digit.
"""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from linklab import network
from linklab.lab import Lab
from linklab.measure import PingFlow, TcpFlow, UdpFlow, run
from linklab.network import (
    COURSE,
    bottleneck,
    goodput_ceiling_mbps,
    path,
    path_mtu_bytes,
    payload_rate_mbps,
    rtt_floor_ms,
)
from linklab.published import Claim
from linklab.study.claims import Claims, Finding, Tables, compared
from linklab.study.declare import Measured, Metric, Point, Study
from linklab.study.table import StudyTable
from linklab.units import IPV4_HEADER_BYTES, UDP_HEADER_BYTES
from studies.report.study import LINKS, PATHS, ends

LOOPS_PER_CORE: Final = 4
IDLE, BUSY = "idle", "busy"
UDP_SHARE: Final = 0.95
TCP_SHARE: Final = 0.98
RTT_TOLERANCE_MS: Final = 0.01
_AGAIN: Final = 2
"""How often the measurement is done again in the first lab of each condition."""
_SENT_SHARE: Final = 0.999
"""Share of the offered rate below which a sender did not send what was asked for."""
COMPARED: Final = {"rtt_mean_ms": "RTT (ms)", "tcp_mbps": "TCP (Mbit/s)", "udp_mbps": "UDP (Mbit/s)"}
_DIGITS: Final = 3
# It looks now and then whether its parent lives, so that it ends with a benchmark that was killed, even right away.
_LOOP: Final = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    for _ in range(1000000): pass"


@dataclass(frozen=True)
class Row:
    """A link or path of the course network: the address meant, and what theory says."""

    name: str
    source: str
    destination: str
    address: str
    path: network.Path

    @property
    def is_link(self) -> bool:
        """Return True for a link, and False for a path."""
        return self.name in LINKS

    @property
    def rtt_floor_ms(self) -> float:
        """Theory's shortest round trip."""
        return rtt_floor_ms(self.path)

    @property
    def tcp_ceiling_mbps(self) -> float:
        """The most data that TCP can carry."""
        return goodput_ceiling_mbps(self.path)

    @property
    def udp_payload_bytes(self) -> int:
        """UDP payload that fills the path's MTU."""
        return path_mtu_bytes(self.path) - IPV4_HEADER_BYTES - UDP_HEADER_BYTES

    @property
    def udp_offered_mbps(self) -> float:
        """The payload rate at which the frames fill `UDP_SHARE` of the bottleneck."""
        return payload_rate_mbps(UDP_SHARE * (bottleneck(self.path).rate_mbps or 0), self.udp_payload_bytes)


def _row(name: str) -> Row:
    source, destination, address = ends(COURSE, name)
    return Row(name, source, destination, address, path(COURSE, source, destination))


ROWS: Final = {name: _row(name) for name in (*LINKS, *PATHS)}


@contextlib.contextmanager
def busy(cores: int) -> Iterator[None]:
    """Keep each core busy with `LOOPS_PER_CORE` loops, which are ended afterwards."""
    loops: list[subprocess.Popen[bytes]] = []
    try:
        words = [sys.executable, "-S", "-c", _LOOP, str(os.getpid())]
        for _ in range(LOOPS_PER_CORE * cores):
            loops.append(subprocess.Popen(words, start_new_session=True))
        yield
    finally:
        for loop in loops:
            loop.kill()
        for loop in loops:
            loop.wait()


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Measure RTT, TCP and UDP of each row, one after the other; in the first lab again. `number` counts rounds."""
    cores = len(os.sched_getaffinity(0))
    rounds = 1 + (_AGAIN if point.repeat == 1 else 0)
    with busy(cores) if point["machine"] == BUSY else contextlib.nullcontext():
        return [it for number in range(rounds) for row in ROWS.values() for it in _measure_row(lab, row, point, number)]


def _measure_row(lab: Lab, row: Row, point: Point, number: int) -> list[Measured]:
    between, address = (row.source, row.destination), row.address
    tcp_s = point.whole("link_s" if row.is_link else "path_s")
    payload_bytes = row.udp_payload_bytes
    echo = run(lab, PingFlow(*between, count=point.whole("pings"), interval_s=0.2, address=address))
    stream = run(lab, TcpFlow(*between, duration_s=tcp_s, address=address))
    datagrams = run(
        lab,
        UdpFlow(*between, row.udp_offered_mbps, point.whole("udp_s"), payload_bytes=payload_bytes, address=address),
    )
    values = {
        "lost_pings": echo.lost_packets,
        "tcp_mbps": stream.throughput_mbps,
        "udp_sent_mbps": datagrams.sent_mbps,
        "udp_mbps": datagrams.throughput_mbps,
        "udp_sent_packets": datagrams.sent_packets,
        "udp_lost_packets": datagrams.lost_packets,
    }
    if echo.rtt_mean_ms is not None:
        values["rtt_mean_ms"] = echo.rtt_mean_ms
    return [Measured(metric, value, of=row.name, number=number) for metric, value in values.items()]


STUDY: Final = Study(
    name="fidelity",
    title="Fidelity: RTT, TCP and UDP of the course network's links and paths, on an idle and on a busy machine",
    testbed="course",
    factors={"machine": (IDLE, BUSY), "seed": (0,), "pings": (26,), "link_s": (10,), "path_s": (5,), "udp_s": (2,)},
    seed=lambda point: point.whole("seed"),  # repeats differ by nothing but the machine
    measurement=measure,
    metrics=(
        Metric("rtt_mean_ms", "ms", "mean round trip of the pings that were answered"),
        Metric("lost_pings", "1", "pings without an answer"),
        Metric("tcp_mbps", "Mbit/s", "payload of TCP at the receiver, over its own time"),
        Metric("udp_sent_mbps", "Mbit/s", "payload of UDP that was sent"),
        Metric("udp_mbps", "Mbit/s", "payload of UDP at the receiver, over its own time"),
        Metric("udp_sent_packets", "1", "datagrams that were sent"),
        Metric("udp_lost_packets", "1", "datagrams that did not arrive"),
    ),
    repeats=10,
    short={"pings": (10,), "path_s": (3,), "udp_s": (1,)},
    short_repeats=2,
    source="what README promises; in one lab for each repeat",
)
_CLAIMED: Final = (
    Claim(
        "fidelity-rtt",
        f"The mean RTT is within {RTT_TOLERANCE_MS} ms of theory on every link and path, no ping lost",
        "README",
        "either",
        "rtt_mean_ms and lost_pings",
    ),
    Claim(
        "fidelity-tcp",
        f"TCP on each link reaches {TCP_SHARE:.0%} of the goodput ceiling or more, slow start included",
        "README",
        "either",
        "tcp_mbps of L1, L2 and L3",
    ),
    Claim(
        "fidelity-udp",
        f"UDP at {UDP_SHARE:.0%} of the bottleneck loses nothing",
        "README",
        "either",
        "udp_lost_packets, where what was asked for was sent",
    ),
    Claim(
        "fidelity-same",
        "RTT, TCP and UDP have the same three digits in every fresh lab, idle and busy, and, measured again in a lab, "
        "the same idle and busy; a rounding edge (within a tenth of the third digit) counts as the same",
        "README",
        "Mininet",
        "all repeats rounded to three digits, those of a round together",
    ),
    Claim(
        "fidelity-earlier",
        "The same three digits also together with those of another run",
        "README",
        "hardware",
        "needs that run's table: --beside fidelity.csv",
    ),
)


def judge_rtt(tables: Tables) -> Finding:
    """Judge round trips by theory. A ping without any answer is off beyond all bounds."""
    found = _both_machines(tables["fidelity"])
    lost = values_of(found, "lost_pings")
    off_ms = max(
        (abs(it - row.rtt_floor_ms) for row in ROWS.values() for it in values_of(found, "rtt_mean_ms", row)),
        default=math.inf,
    )
    answered = len(values_of(found, "rtt_mean_ms")) == len(lost)
    return Finding(
        answered and not any(lost) and off_ms <= RTT_TOLERANCE_MS,
        f"largest difference {off_ms:.4f} ms, {sum(lost):.0f} pings lost in {len(lost) // len(ROWS)} rounds",
    )


def judge_tcp(tables: Tables) -> Finding:
    """Judge what TCP carries on each link by the goodput ceiling."""
    found = _both_machines(tables["fidelity"])
    shares = {name: min(values_of(found, "tcp_mbps", ROWS[name])) / ROWS[name].tcp_ceiling_mbps for name in LINKS}
    listed = ", ".join(f"{name} {share:.2%}" for name, share in shares.items())
    return Finding(min(shares.values()) >= TCP_SHARE, f"lowest of all repeats: {listed}")


def judge_udp(tables: Tables) -> Finding:
    """Judge UDP by what it loses."""
    found = _both_machines(tables["fidelity"])
    lost, sent = sum(values_of(found, "udp_lost_packets")), sum(values_of(found, "udp_sent_packets"))
    slow = sum(
        it < _SENT_SHARE * row.udp_offered_mbps
        for row in ROWS.values()
        for it in values_of(found, "udp_sent_mbps", row)
    )
    because = f"{lost:.0f} of {sent:.0f} packets lost" + (f"; {slow} times less sent than asked for" if slow else "")
    return Finding(not lost and not slow, because)


def judge_same(tables: Tables) -> Finding:
    """Judge whether all fresh labs gave the same three digits."""
    return _agreeing([_both_machines(tables["fidelity"])])


def judge_earlier(tables: Tables) -> Finding:
    """Judge whether another run's labs did as well."""
    return _agreeing([_both_machines(tables["fidelity"]), _both_machines(tables[compared("fidelity")])])


@dataclass(frozen=True)
class Agreement:
    """How far values agree in three significant digits; the page says what ``sameness`` means. ``spread`` is the
    largest less the smallest, in units of the last digit.
    """

    sameness: Literal["same", "edge", "different"]
    rounded: tuple[float, ...]
    spread: float


def agreement(values: Sequence[float]) -> Agreement:
    """Compare values rounded to three digits."""
    rounded = tuple(sorted({float(f"{value:.{_DIGITS - 1}e}") for value in values}))
    largest = max(map(abs, values))
    unit = 10.0 ** (math.floor(math.log10(largest)) - _DIGITS + 1) if largest else 1.0
    spread = (max(values) - min(values)) / unit
    return Agreement("same" if len(rounded) == 1 else "edge" if spread <= 0.1 else "different", rounded, spread)


def _agreeing(tables: Sequence[StudyTable]) -> Finding:
    agreements = {
        f"{row.name} {heading.partition(' ')[0]}{'' if number == 0 else f' again ({number})'}": agreement(values)
        for row in ROWS.values()
        for metric, heading in COMPARED.items()
        for number in rounds_of(tables)
        if (values := [it for table in tables for it in values_of(table, metric, row, number)])
    }
    edge, different = (
        [name for name, found in agreements.items() if found.sameness == sameness] for sameness in ("edge", "different")
    )
    because = f"{len(agreements) - len(edge) - len(different)} of {len(agreements)} the same"
    for what, named in (("on a rounding edge", edge), ("different", different)):
        if named:
            because += f", {len(named)} {what} ({', '.join(named)})"
    return Finding(not different, because)


def _both_machines(table: StudyTable) -> StudyTable:
    """Return the table. Raises MeasurementError where an idle or a busy machine, or a repeat, is missing in it."""
    table.runs("machine")
    return table


def values_of(table: StudyTable, metric: str, row: Row | None = None, number: int | None = None) -> list[float]:
    """Return the values of a metric, or those of a row and of a round of it."""
    frame = table.frame[table.frame["metric"] == metric]
    if row is not None:
        frame = frame[frame["of"] == row.name]
    if number is not None:
        frame = frame[frame["number"] == number]
    return [float(it) for it in frame["value"]]


def rounds_of(tables: Sequence[StudyTable]) -> list[int]:
    """Return the rounds there are: 0 is the first measurement of a fresh lab, 1 the second in the same lab."""
    return sorted({int(it) for table in tables for it in table.frame["number"].dropna()})


CLAIMS: Final = Claims(
    _CLAIMED,
    {
        "fidelity-rtt": judge_rtt,
        "fidelity-tcp": judge_tcp,
        "fidelity-udp": judge_udp,
        "fidelity-same": judge_same,
        "fidelity-earlier": judge_earlier,
    },
)
