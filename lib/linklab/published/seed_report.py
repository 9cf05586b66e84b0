"""The course report that Linklab started from: what its author measured, once, in the spring of 2023.

"Project report, Portfolio 1" (OsloMet, submitted 17.04.2023), chapter 4. It has five tables, one for each test case,
on the network that is `linklab.network.COURSE` here. Latency is the mean of 25 pings, throughput is simpleperf's over
25 s; test case 1 is iperf (version 2) with UDP. All ran in real time in a virtual machine on a laptop.

``differs`` says why a measurement of ours is not the same number. The author's machine is gone, so causes are argued
from the numbers and called probable; what follows from arithmetic alone is said without that word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from linklab.errors import MeasurementError
from linklab.published import seed_reasons as why

PublishedQuantity = Literal["rtt_ms", "throughput_mbps"]

SECTIONS: Final = {1: "4.3.1", 2: "4.4.1", 3: "4.5.1", 4: "4.6.1", 5: "4.7.1"}
"""The section with the table of each test case; the tables have no numbers."""


@dataclass(frozen=True)
class ReportRow:
    """One number of the report.

    ``case`` is the test case, 1 to 5; ``test`` the row's number within it (in test case 4 a test has several
    flows). ``name`` is the link or pair, as everywhere in Linklab: ``"L1"``, ``"h1-h4"``. ``connection`` is 1 or 2
    where the report gives two connections of one pair. ``value`` is in ms or Mbit/s, as the table has it, and
    ``value_in_text`` is what the discussion says where that is another number. ``differs`` is one sentence.
    """

    case: int
    test: int
    name: str
    source: str
    destination: str
    quantity: PublishedQuantity
    value: float
    differs: str
    connection: int | None = None
    value_in_text: float | None = None

    @property
    def unit(self) -> str:
        """``"ms"`` or ``"Mbit/s"``."""
        return "ms" if self.quantity == "rtt_ms" else "Mbit/s"

    @property
    def section(self) -> str:
        """Where the table is: ``"4.4.1"``."""
        return SECTIONS[self.case]

    @property
    def where(self) -> str:
        """For a table's or a figure's source line: ``"course report, section 4.4.1, test 1"``."""
        return f"course report, section {self.section}, test {self.test}"


@dataclass(frozen=True)
class ReportedFairness:
    """Jain's index as the report prints it, for one test; ``recomputed`` is the index of the table's throughputs."""

    case: int
    test: int
    value: float
    recomputed: float
    remark: str


@dataclass(frozen=True)
class Inconsistency:
    """Two places of the report that do not agree."""

    section: str
    what: str


def _ends(name: str) -> tuple[str, str]:
    links = {"L1": ("r1", "r2"), "L2": ("r2", "r3"), "L3": ("r3", "r4")}
    source, _, destination = name.partition("-")
    return links.get(name, (source, destination))


def _rtt(case: int, test: int, name: str, value: float, differs: str, text: float | None = None) -> ReportRow:
    return ReportRow(case, test, name, *_ends(name), "rtt_ms", value, differs, value_in_text=text)


def _rate(case: int, test: int, name: str, value: float, differs: str, connection: int | None = None) -> ReportRow:
    return ReportRow(case, test, name, *_ends(name), "throughput_mbps", value, differs, connection)


ROWS: Final = (
    _rate(1, 1, "h1-h4", 26.2, why.UDP_H1_H4),
    _rate(1, 2, "h1-h9", 16.8, why.UDP_H1_H9),
    _rate(1, 3, "h7-h9", 16.8, why.UDP_H7_H9),
    _rtt(2, 1, "L1", 21.855, why.RTT_L1, text=21.885),
    _rate(2, 1, "L1", 38.02, why.TCP_L1),
    _rtt(2, 2, "L2", 44.678, why.RTT_L2),
    _rate(2, 2, "L2", 28.43, why.TCP_L2),
    _rtt(2, 3, "L3", 22.815, why.RTT_L3),
    _rate(2, 3, "L3", 19.05, why.TCP_L3),
    _rtt(3, 1, "h1-h4", 69.606, why.RTT_H1_H4),
    _rate(3, 1, "h1-h4", 27.57, why.TCP_H1_H4),
    _rtt(3, 2, "h7-h9", 69.404, why.RTT_H7_H9),
    _rate(3, 2, "h7-h9", 18.03, why.TCP_H7_H9),
    _rtt(3, 3, "h1-h9", 92.323, why.RTT_H1_H9),
    _rate(3, 3, "h1-h9", 17.29, why.TCP_H1_H9),
    _rtt(4, 1, "h1-h4", 96.784, why.LOADED_TWO),
    _rate(4, 1, "h1-h4", 13.73, why.SHARED_TWO),
    _rtt(4, 1, "h2-h5", 97.071, why.LOADED_TWO),
    _rate(4, 1, "h2-h5", 15.00, why.SHARED_TWO),
    _rtt(4, 2, "h1-h4", 101.251, why.LOADED_THREE),
    _rate(4, 2, "h1-h4", 10.23, why.SHARED_THREE),
    _rtt(4, 2, "h2-h5", 102.070, why.LOADED_THREE),
    _rate(4, 2, "h2-h5", 7.91, why.SHARED_THREE),
    _rtt(4, 2, "h3-h6", 104.231, why.LOADED_THREE),
    _rate(4, 2, "h3-h6", 11.65, why.SHARED_THREE),
    _rtt(4, 3, "h1-h4", 98.571, why.LOADED_CROSSING),
    _rate(4, 3, "h1-h4", 14.78, why.SHARED_CROSSING),
    _rtt(4, 3, "h7-h9", 99.721, why.LOADED_CROSSING),
    _rate(4, 3, "h7-h9", 13.90, why.SHARED_CROSSING),
    _rtt(4, 4, "h1-h4", 85.571, why.LOADED_APART_L2),
    _rate(4, 4, "h1-h4", 28.39, why.APART_L2),
    _rtt(4, 4, "h8-h9", 38.819, why.LOADED_APART_L3),
    _rate(4, 4, "h8-h9", 19.09, why.APART_L3),
    _rate(5, 1, "h1-h4", 6.04, why.PARALLEL, connection=1),
    _rate(5, 1, "h1-h4", 7.88, why.PARALLEL, connection=2),
    _rate(5, 1, "h2-h5", 7.48, why.PARALLEL),
    _rate(5, 1, "h3-h6", 7.82, why.PARALLEL),
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
