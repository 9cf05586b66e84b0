"""The course report that Linklab started from: what its author measured in the spring of 2023.

"Project report, Portfolio 1" (OsloMet, submitted 17.04.2023), chapter 4. It has five tables, one for each test case,
on the network that is `linklab.network.COURSE` here. Latency is the mean of 25 pings, throughput is simpleperf's over
25 s; test case 1 is iperf (version 2) with UDP. All ran in real time in a virtual machine. The report says that tests
had to be run several times, and prints one number of each.

``differs``, of test cases 2 and 3 alone, says why another measurement on the same network is not the same number, as
far as numbers show it. What asking for addresses, joined segments and starts by hand explain is measured
(`studies.report`); of Linklab's own measurements it says nothing. It rests on this:

* iperf 2 reads ``25M`` as 25 * 1048576 bit/s, and its rates are of the payload: 1470 bytes of a frame of 1512.
* ARP: the first ping over a link of delay d waits 2 d longer, for the neighbour's address; one slow ping of 25
  raises the mean by 2 d / 25. Linklab enters the addresses before.
* What is left of the excess grows with every crossing of a delayed link, and that of a path is about the sum of its
  links' (h1-h4: 9.6 ms, L1 and L2: 1.9 + 4.7). A kernel's delay ends with a timer, and in a virtual machine in real
  time timers fire late: on time in Linklab's virtual time.
* With segmentation left to the network card (the default), Linux hands netem several segments as one packet, so
  a queue of 100 packets holds more frames. Linklab makes every packet a frame.
* netem's limit counts the packets in flight, so a full queue of N frames takes N serialisations in all, the link's
  delay included: 100 frames at 30 Mbit/s are 40.4 ms, not 20 + 40.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from linklab.errors import MeasurementError
from linklab.published.claims import Claim, Inconsistency

PublishedQuantity = Literal["rtt_ms", "throughput_mbps"]


@dataclass(frozen=True)
class ReportRow:
    """One number of the report.

    ``case`` is the test case, 1 to 5; ``test`` the row's number within it (in test case 4 a test has several
    flows). ``name`` is the link or pair, as everywhere in Linklab: ``"L1"``, ``"h1-h4"``. ``connection`` is 1 or 2
    where the report gives two connections of one pair. ``value`` is in ms or Mbit/s, as the table has it.
    ``differs`` is one sentence, or nothing.
    """

    case: int
    test: int
    name: str
    source: str
    destination: str
    quantity: PublishedQuantity
    value: float
    differs: str = ""
    connection: int | None = None

    @property
    def unit(self) -> str:
        """``"ms"`` or ``"Mbit/s"``."""
        return "ms" if self.quantity == "rtt_ms" else "Mbit/s"


@dataclass(frozen=True)
class ReportedFairness:
    """Jain's index as the report prints it, for one test; ``recomputed`` is the index of the table's throughputs."""

    case: int
    test: int
    value: float
    recomputed: float
    remark: str


def _ends(name: str) -> tuple[str, str]:
    links = {"L1": ("r1", "r2"), "L2": ("r2", "r3"), "L3": ("r3", "r4")}
    source, _, destination = name.partition("-")
    return links.get(name, (source, destination))


def _rtt(case: int, test: int, name: str, value: float, differs: str = "") -> ReportRow:
    return ReportRow(case, test, name, *_ends(name), "rtt_ms", value, differs)


def _rate(case: int, test: int, name: str, value: float, differs: str = "", connection: int | None = None) -> ReportRow:
    return ReportRow(case, test, name, *_ends(name), "throughput_mbps", value, differs, connection)


_RTT_L1: Final = (
    "Theory says 20: of the 1.9 ms more, ARP before the first ping gives up to 0.8 (20 ms in 25 "
    "pings), and the rest is probably timers that fired late in a busy virtual machine."
)
_RTT_L2: Final = (
    "Theory says 40: of the 4.7 ms more, ARP before the first ping gives up to 1.6 (40 ms in 25 "
    "pings), and the rest is probably timers that fired late in a busy virtual machine."
)
_RTT_L3: Final = (
    "Theory says 20: of the 2.8 ms more, ARP before the first ping gives up to 0.8; that L1 with the "
    "same delay had 1 ms less shows how much the machine's load, probably, changed from test to test."
)
_RTT_H1_H4: Final = (
    "Theory says 60: the report's L1 and L2 alone were 1.9 and 4.7 ms too slow already, so of the 9.6 "
    "two thirds are, probably, the same late timers at every crossing, and ARP of both links gives up to 2.4."
)
_RTT_H7_H9: Final = (
    "Theory says 60: the report's L2 and L3 alone were 4.7 and 2.8 ms too slow, which is 7.5 of the "
    "9.4, probably by late timers and ARP; the rest is what hosts and routers add on a loaded machine."
)
_RTT_H1_H9: Final = (
    "Theory says 80: the excess of 12.3 is three quarters that of the report's three links (9.3), "
    "probably late timers at six crossings, and ARP for all links gives up to 3.2 of it."
)

_TCP_L1: Final = (
    "This is 0.6 % below the ceiling of 38.26 that headers leave: on one short link with a queue of a full "
    "bandwidth-delay product neither machine nor program matters."
)
_TCP_L2: Final = (
    "This is within 1 % of the ceiling of 28.69; how far below it a transfer of 25 s ends is decided by its start, and "
    "in a busy machine, probably, by timers that fire late."
)
_TCP_L3: Final = (
    "This is within half a percent of the ceiling of 19.13: the machine, loaded or not, is faster than 20 Mbit/s."
)
_TCP_H1_H4: Final = (
    "This is 4 % below the ceiling of 28.69: the report's round trip was 16 % longer than theory's, so TCP took longer "
    "to start, and probably its 25 s hold the wait for the last acknowledgement as well."
)
_TCP_H7_H9: Final = (
    "This is 6 % below the ceiling of 19.13: TCP's start overflows L3's queue of 33 packets, a third of the path's "
    "bandwidth-delay product, and needs seconds to recover."
)
_TCP_H1_H9: Final = (
    "L3's queue of 33 packets is far less than the path has under way, so what the start of a transfer loses there "
    "decides, and that hangs on how many segments travel as one packet, which the report does not say."
)


ROWS: Final = (
    _rate(1, 1, "h1-h4", 26.2),
    _rate(1, 2, "h1-h9", 16.8),
    _rate(1, 3, "h7-h9", 16.8),
    _rtt(2, 1, "L1", 21.855, _RTT_L1),
    _rate(2, 1, "L1", 38.02, _TCP_L1),
    _rtt(2, 2, "L2", 44.678, _RTT_L2),
    _rate(2, 2, "L2", 28.43, _TCP_L2),
    _rtt(2, 3, "L3", 22.815, _RTT_L3),
    _rate(2, 3, "L3", 19.05, _TCP_L3),
    _rtt(3, 1, "h1-h4", 69.606, _RTT_H1_H4),
    _rate(3, 1, "h1-h4", 27.57, _TCP_H1_H4),
    _rtt(3, 2, "h7-h9", 69.404, _RTT_H7_H9),
    _rate(3, 2, "h7-h9", 18.03, _TCP_H7_H9),
    _rtt(3, 3, "h1-h9", 92.323, _RTT_H1_H9),
    _rate(3, 3, "h1-h9", 17.29, _TCP_H1_H9),
    _rtt(4, 1, "h1-h4", 96.784),
    _rate(4, 1, "h1-h4", 13.73),
    _rtt(4, 1, "h2-h5", 97.071),
    _rate(4, 1, "h2-h5", 15.00),
    _rtt(4, 2, "h1-h4", 101.251),
    _rate(4, 2, "h1-h4", 10.23),
    _rtt(4, 2, "h2-h5", 102.070),
    _rate(4, 2, "h2-h5", 7.91),
    _rtt(4, 2, "h3-h6", 104.231),
    _rate(4, 2, "h3-h6", 11.65),
    _rtt(4, 3, "h1-h4", 98.571),
    _rate(4, 3, "h1-h4", 14.78),
    _rtt(4, 3, "h7-h9", 99.721),
    _rate(4, 3, "h7-h9", 13.90),
    _rtt(4, 4, "h1-h4", 85.571),
    _rate(4, 4, "h1-h4", 28.39),
    _rtt(4, 4, "h8-h9", 38.819),
    _rate(4, 4, "h8-h9", 19.09),
    _rate(5, 1, "h1-h4", 6.04, connection=1),
    _rate(5, 1, "h1-h4", 7.88, connection=2),
    _rate(5, 1, "h2-h5", 7.48),
    _rate(5, 1, "h3-h6", 7.82),
)
"""All numbers of the five tables, in the report's order."""

FAIRNESS: Final = (
    ReportedFairness(4, 1, 1.0, 0.9980, "printed without decimals"),
    ReportedFairness(4, 2, 0.98, 0.9765, "agrees"),
    ReportedFairness(4, 3, 1.0, 0.9991, "printed without decimals"),
    ReportedFairness(
        4, 4, 0.99, 0.9631, "does not agree with the table; and the two flows share no link, so it says nothing"
    ),
    ReportedFairness(5, 1, 0.99, 0.9897, "of the four connections; of the three hosts it would be 0.9155"),
)
"""Jain's index as printed in sections 4.6.2 and 4.7.2, beside what the tables give."""

INCONSISTENCIES: Final = (
    Inconsistency("4.4.1 and 4.4.2", "the RTT of L1 is 21.855 ms in the table and 21.885 ms in the text"),
    Inconsistency(
        "4.3.1 and 4.3.2",
        "15 Mbit/s are said to be sent for h1-h9 and h7-h9, yet the table's 16.8 is what iperf prints for 16M "
        "(16 * 1.048576 = 16.78); 15M would give 15.7",
    ),
    Inconsistency(
        "4.3.2", "the bandwidth is said to grow by one over the rate asked for: it is iperf's M of 1048576, or 4.9 %"
    ),
    Inconsistency(
        "4.4.2", "throughput is said to fall short of the rate by 2 Mbit/s: it is 1.98, 1.57 and 0.95, always 5 %"
    ),
    Inconsistency("4.6.1 and 4.6.2", "Jain's index of test 4 is printed as 0.99; 28.39 and 19.09 give 0.96"),
    Inconsistency(
        "4.6.1",
        "the three flows of test 2 sum to 29.79 Mbit/s, more data than L2's 30 Mbit/s carry besides headers (28.69)",
    ),
    Inconsistency("4.7.1", "the four connections sum to 29.22 Mbit/s, more than the 28.69 that L2 carries"),
    Inconsistency("3", "eight subnets are said to run from A to I; there is no H, and the one of h8 has no letter"),
)
"""Where the report contradicts itself, in the order of its sections but for the last."""


def find(
    case: int,
    name: str,
    quantity: PublishedQuantity,
    *,
    test: int | None = None,
    connection: int | None = None,
) -> ReportRow:
    """The one number of a test case for a link or pair.

    In test case 4 a pair occurs in several tests: say which with ``test``. In test case 5 the two connections of
    h1-h4 are told apart by ``connection``. Raises MeasurementError if no row fits, or several.
    """
    fitting = [
        row
        for row in rows(case, test)
        if row.name == name and row.quantity == quantity and connection in (None, row.connection)
    ]
    if len(fitting) == 1:
        return fitting[0]
    asked = f"{quantity} of {name} in test case {case}"
    if not fitting:
        raise MeasurementError(f"the course report has no {asked}: it has {_listed(rows(case, test))}")
    raise MeasurementError(f"the course report has {len(fitting)} numbers for {asked}: give test= or connection=")


def rows(case: int, test: int | None = None) -> tuple[ReportRow, ...]:
    """All numbers of a test case, or of one test in it, in the report's order. Empty if there are none."""
    return tuple(row for row in ROWS if row.case == case and test in (None, row.test))


def _listed(some: Sequence[ReportRow]) -> str:
    return ", ".join(dict.fromkeys(f"{row.quantity} of {row.name}" for row in some)) or "no such test"


CLAIMS: Final = (
    Claim(
        "report-udp-lossless",
        "From h1 to h4 20, 25 and even 27 Mbit/s asked of iperf lose no packet.",
        "4.3.2, test 1",
        "Mininet",
        "lost_packets of study report-udp at 20M, 25M and 27M from h1 to h4",
    ),
    Claim(
        "report-udp-full-rate",
        "To ask for the bottleneck's own rate loses 7 % of the packets from h1 to h4, and 7.6 % from h1 to h9.",
        "4.3.2, tests 1 and 2",
        "Mininet",
        "loss_percent at 30M from h1 to h4 and at 20M from h1 to h9, within one per cent of all packets",
    ),
    Claim(
        "report-udp-one-more",
        "iperf reports about 1 Mbit/s more than was asked for.",
        "4.3.2, test 1",
        "either",
        "sent_mbps at 25M less 25",
        by_construction="iperf 2 reads M as 1024 * 1024, whatever the network",
    ),
    Claim(
        "report-link-rtt",
        "The round trip over a link is twice its delay, or slightly more.",
        "4.4.2",
        "Mininet",
        "rtt_mean_ms of L1, L2 and L3 from twice the delay to 15 % more, which the report's own reach (L3: 14 %)",
        by_construction="on virtual time an idle link's round trip is twice its delay; with another delay than planned "
        "it comes out otherwise",
    ),
    Claim(
        "report-link-throughput",
        "TCP carries slightly less than the link's rate.",
        "4.4.2",
        "Mininet",
        "throughput_mbps of L1, L2 and L3 below the rate, and 90 % of it at least; the report has 95 % on each",
    ),
    Claim(
        "report-path-rtt",
        "A path's round trip is the sum of its links'.",
        "4.5.2",
        "Mininet",
        "rtt_mean_ms of the three paths within 5 % of the sum of the links' as measured, as in the report",
        by_construction="on virtual time an idle path's round trip is twice its delays; with a delay on a host's own "
        "link it comes out otherwise",
    ),
    Claim(
        "report-path-processing",
        "Processing in routers and virtualisation add some 10 ms to a path's round trip.",
        "4.5.2, and 5",
        "Mininet",
        "rtt_mean_ms of the three paths less twice the delays",
        by_construction="on virtual time neither routers nor the machine below them take time to compute",
    ),
    Claim(
        "report-path-throughput",
        "A path carries slightly less than its slowest link.",
        "4.5.2",
        "Mininet",
        "throughput_mbps of the three paths below the bottleneck's rate, and 86 % of it at least, the report's lowest",
    ),
    Claim(
        "report-shared-rtt",
        "Where several pairs transfer data at one time, round trips are longer than on idle paths.",
        "4.6.2, tests 1 to 4",
        "Mininet",
        "rtt_mean_ms of each pair 5 ms at least above that of the idle path, as measured where it was, else twice the "
        "delays; the report has 16 ms and more",
    ),
    Claim(
        "report-shared-fair",
        "Pairs that share L2 share it fairly.",
        "4.6.2, tests 1 to 3",
        "Mininet",
        "jain_index of each of tests 1 to 3 0.95 at least, in most repeats: two flows as 61 to 39",
    ),
    Claim(
        "report-three-rtt",
        "Three pairs have longer round trips than two.",
        "4.6.2, test 2",
        "Mininet",
        "mean of the pairs' rtt_mean_ms of test 2 above test 1's (95 % interval of the difference over repeats, Welch)",
    ),
    Claim(
        "report-three-throughput",
        "Three pairs get less each than two.",
        "4.6.2, test 2",
        "Mininet",
        "mean of the pairs' throughput_mbps of test 2 below test 1's (95 % interval of the difference, Welch)",
    ),
    Claim(
        "report-apart-throughput",
        "Pairs on different links (h1-h4 and h8-h9) both come close to what each link gives.",
        "4.6.2, test 4",
        "Mininet",
        "throughput_mbps of both pairs in test 4, 90 % at least of the link's rate (the report has 95 %) and 98 % of "
        "what each pair gets alone",
    ),
    Claim(
        "report-apart-router",
        "The round trips of h1-h4 and h8-h9 grow since router r3 has to handle both pairs.",
        "4.6.2, test 4",
        "Mininet",
        "half or more of the growth of rtt_mean_ms is missing where each pair pings and sends alone",
        by_construction="on virtual time a router takes no time for a packet, and the pairs share no link",
    ),
    Claim(
        "report-parallel-fair",
        "Four connections, two of them from one host, share L2 evenly.",
        "4.7.2",
        "Mininet",
        "jain_index of the four connections of test case 5 0.95 at least, in most repeats",
    ),
    Claim(
        "report-parallel-less",
        "A second connection between h1 and h4 leaves the other hosts less.",
        "4.7.2",
        "Mininet",
        "mean throughput_mbps of h2-h5 and h3-h6 in test case 5 below test case 4's test 2 (95 % interval of the "
        "difference, Welch)",
    ),
)
"""What the report concludes of its measurements, in the order of its sections. Its network is Mininet's throughout."""
