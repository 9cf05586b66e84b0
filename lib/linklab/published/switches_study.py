"""The switches study: round-trip time, throughput and fairness of a Cisco switch, Open vSwitch and LiSA.

F. Sans, E. Gamess: "Analytical Performance Evaluation of Different Switch Solutions", Journal of Computer Networks and
Communications 2013, article 953797, DOI 10.1155/2013/953797. All of it is hardware: a Cisco Catalyst 3750, and a PC
with Open vSwitch 1.10.0 (Debian 7, Linux 3.2) or LiSA 2.0.1 (CentOS 6.3).

Its results are drawn in figures 13 to 28 and not printed: the text has no round-trip time, no throughput and no share
as a number. What it has are the settings of every figure, here as data, and what each one shows, here as claims.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from linklab.errors import MeasurementError
from linklab.published.switches_claims import CLAIMS as CLAIMS
from linklab.published.switches_claims import INCONSISTENCIES as INCONSISTENCIES

SwitchTestbed = Literal["l3-switch", "router-on-a-stick", "fairness"]
SwitchQuantity = Literal["rtt", "throughput", "shares"]
Communication = Literal["intra-vlan", "inter-vlan"]

SOLUTIONS: Final = ("Cisco Catalyst 3750", "Open vSwitch 1.10.0", "LiSA 2.0.1")
RATES_MBPS: Final = (10, 100)
PAYLOAD_BYTES: Final = (100, 1440)
"""Section 5.1.1: the UDP payload of the additional flow goes from one to the other; the steps are not printed."""
BACKGROUND_PAYLOAD_BYTES: Final = 500
"""Sections 4.2.1 and 4.2.2."""


@dataclass(frozen=True)
class Load:
    """What is sent in a testbed besides the measured flow, and that flow; in Mbit/s of UDP payload, offered.

    ``flows_per_pc`` background flows of ``background_mbps`` leave each of the four PCs.
    """

    testbed: SwitchTestbed
    rate_mbps: int
    background_mbps: float
    flows_per_pc: int
    additional_mbps: float
    section: str

    @property
    def background_on_link_mbps(self) -> float:
        """The background on a PC's link (on the trunk of the router on a stick), each way, as the study reckons it."""
        return self.background_mbps * (3 if self.testbed == "l3-switch" else 4)


LOADS: Final = (
    Load("l3-switch", 10, 2.5, 3, 3.0, "4.2.1"),
    Load("l3-switch", 100, 25.0, 3, 30.0, "4.2.1"),
    Load("router-on-a-stick", 10, 2.0, 1, 3.0, "4.2.2"),
    Load("router-on-a-stick", 100, 20.0, 1, 30.0, "4.2.2"),
)
STICK_PAIRS: Final = (("PC1", "PC4"), ("PC2", "PC3"), ("PC3", "PC1"), ("PC4", "PC2"))
"""Section 4.2.2: who sends background traffic to whom; PC1 and PC2 are in VLAN 10, PC3 and PC4 in VLAN 20."""


@dataclass(frozen=True)
class Figure:
    """One of the figures with results. ``offered_mbps``: what each sender offers, an item for each experiment."""

    number: int
    testbed: SwitchTestbed
    quantity: SwitchQuantity
    communication: Communication
    rate_mbps: int
    section: str
    offered_mbps: tuple[tuple[float, ...], ...] = ()

    @property
    def where(self) -> str:
        """For a source line: ``"switches study, figure 13 (section 5.1.1)"``."""
        return f"switches study, figure {self.number} (section {self.section})"

    @property
    def bars(self) -> int:
        """How many values the figure has, where it is one of bars: a sender, an experiment, a solution each."""
        return sum(map(len, self.offered_mbps)) * len(SOLUTIONS)


_TWO: Final = ((7, 7), (4, 8), (3, 9), (7, 9), (5, 8))
_THREE: Final = ((4, 4, 4), (4, 4, 8), (8, 8, 8))


def _times_ten(settings: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(10 * rate for rate in setting) for setting in settings)


FIGURES: Final = (
    Figure(13, "l3-switch", "rtt", "intra-vlan", 10, "5.1.1"),
    Figure(14, "l3-switch", "rtt", "intra-vlan", 100, "5.1.1"),
    Figure(15, "l3-switch", "rtt", "inter-vlan", 10, "5.1.1"),
    Figure(16, "l3-switch", "rtt", "inter-vlan", 100, "5.1.1"),
    Figure(17, "router-on-a-stick", "rtt", "inter-vlan", 10, "5.1.2"),
    Figure(18, "router-on-a-stick", "rtt", "inter-vlan", 100, "5.1.2"),
    Figure(19, "l3-switch", "throughput", "intra-vlan", 10, "5.2.1"),
    Figure(20, "l3-switch", "throughput", "intra-vlan", 100, "5.2.1"),
    Figure(21, "l3-switch", "throughput", "inter-vlan", 10, "5.2.1"),
    Figure(22, "l3-switch", "throughput", "inter-vlan", 100, "5.2.1"),
    Figure(23, "router-on-a-stick", "throughput", "inter-vlan", 10, "5.2.2"),
    Figure(24, "router-on-a-stick", "throughput", "inter-vlan", 100, "5.2.2"),
    Figure(25, "fairness", "shares", "inter-vlan", 10, "5.2.3", _TWO),
    Figure(26, "fairness", "shares", "inter-vlan", 100, "5.2.3", _times_ten(_TWO)),
    Figure(27, "fairness", "shares", "inter-vlan", 10, "5.2.3", _THREE),
    Figure(28, "fairness", "shares", "inter-vlan", 100, "5.2.3", _times_ten(_THREE)),
)
"""Figures 13 to 28, in order."""

FLAT_RTT_PAYLOADS: Final = {14: (750, 1440), 16: (1000, 1440)}
"""By figure, between which UDP payloads (bytes) the PC-based switches' round-trip time does not change."""
CISCO_BETTER_ABOVE_BYTES: Final = {19: 500, 21: 250, 22: 500, 23: 250, 24: 250}
"""By figure, the UDP payload above which the Cisco switch has the best throughput."""


def figure(number: int) -> Figure:
    """One of figures 13 to 28. Raises MeasurementError for another number."""
    for each in FIGURES:
        if each.number == number:
            return each
    raise MeasurementError(f"the switches study has no results in a figure {number}: choose 13 to 28")


def proportional_shares(offered_mbps: tuple[float, ...], rate_mbps: float) -> tuple[float, ...]:
    """What each sender gets of a bottleneck that serves all alike, in Mbit/s: its part of what is offered."""
    total = sum(offered_mbps)
    return tuple(min(1.0, rate_mbps / total) * rate for rate in offered_mbps)
