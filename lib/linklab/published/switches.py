"""The switches paper: round-trip time, throughput and fairness of a Cisco switch, Open vSwitch and LiSA.

F. Sans, E. Gamess: "Analytical Performance Evaluation of Different Switch Solutions", Journal of Computer Networks and
Communications 2013, article 953797, DOI 10.1155/2013/953797. All of it is hardware: a Cisco Catalyst 3750, and a PC
with Open vSwitch 1.10.0 (Debian 7, Linux 3.2) or LiSA 2.0.1 (CentOS 6.3).

Its results are drawn in figures 13 to 28 and not printed: the text has no round-trip time, no throughput and no share
as a number. What it has are the settings of every figure, here as data, and what its text says of each one; and its
findings, here as claims.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from linklab.errors import MeasurementError
from linklab.published.claims import Claim, Inconsistency

SwitchTestbed = Literal["l3-switch", "router-on-a-stick", "fairness"]
SwitchQuantity = Literal["rtt", "throughput", "shares"]
Communication = Literal["intra-vlan", "inter-vlan"]

BACKGROUND_PAYLOAD_BYTES: Final = 500
"""Sections 4.2.1 and 4.2.2."""


@dataclass(frozen=True)
class Load:
    """What is sent in a testbed besides the measured flow, and that flow; in Mbit/s of UDP payload, offered.

    Each background flow has ``background_mbps``.
    """

    testbed: SwitchTestbed
    rate_mbps: int
    background_mbps: float
    additional_mbps: float
    section: str


LOADS: Final = (
    Load("l3-switch", 10, 2.5, 3.0, "4.2.1"),
    Load("l3-switch", 100, 25.0, 30.0, "4.2.1"),
    Load("router-on-a-stick", 10, 2.0, 3.0, "4.2.2"),
    Load("router-on-a-stick", 100, 20.0, 30.0, "4.2.2"),
)
STICK_PAIRS: Final = (("PC1", "PC4"), ("PC2", "PC3"), ("PC3", "PC1"), ("PC4", "PC2"))
"""Section 4.2.2: who sends background traffic to whom; PC1 and PC2 are in VLAN 10, PC3 and PC4 in VLAN 20."""


@dataclass(frozen=True)
class Figure:
    """One of the figures with results, and what the text ``says`` of it, in our words.

    ``offered_mbps``: what each sender offers, an item for each experiment.
    """

    number: int
    testbed: SwitchTestbed
    quantity: SwitchQuantity
    communication: Communication
    rate_mbps: int
    section: str
    says: str
    offered_mbps: tuple[tuple[float, ...], ...] = ()

    @property
    def setting(self) -> str:
        """Return in words where it was measured: ``"layer-3 switch, between VLANs, 10 Mbit/s"``."""
        what = f"{len(self.offered_mbps[0])} senders" if self.offered_mbps else _IN_WORDS[self.communication]
        return f"{_IN_WORDS[self.testbed]}, {what}, {self.rate_mbps} Mbit/s"


_IN_WORDS: Final = {
    "l3-switch": "layer-3 switch",
    "router-on-a-stick": "router on a stick",
    "fairness": "fairness",
    "intra-vlan": "within a VLAN",
    "inter-vlan": "between VLANs",
}


_TWO: Final = ((7, 7), (4, 8), (3, 9), (7, 9), (5, 8))
_THREE: Final = ((4, 4, 4), (4, 4, 8), (8, 8, 8))


def _times_ten(settings: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(10 * rate for rate in setting) for setting in settings)


FIGURES: Final = (
    Figure(
        13, "l3-switch", "rtt", "intra-vlan", 10, "5.1.1",
        "The Cisco switch is fastest; both software switches are alike at nearly all payloads.",
    ),
    Figure(
        14, "l3-switch", "rtt", "intra-vlan", 100, "5.1.1",
        "The Cisco switch is fastest; both software switches do not change from 750 to 1440 bytes.",
    ),
    Figure(
        15, "l3-switch", "rtt", "inter-vlan", 10, "5.1.1",
        "The Cisco switch is fastest; both software switches are nearly the same everywhere.",
    ),
    Figure(
        16, "l3-switch", "rtt", "inter-vlan", 100, "5.1.1",
        "The Cisco switch is fastest; the software switches do not change in ranges such as 1000 to 1440 bytes.",
    ),
    Figure(
        17, "router-on-a-stick", "rtt", "inter-vlan", 10, "5.1.2",
        "The Cisco switch is fastest; all take longer than in figure 15.",
    ),
    Figure(
        18, "router-on-a-stick", "rtt", "inter-vlan", 100, "5.1.2",
        "The Cisco switch is fastest; all take longer than in figure 16; the same flat ranges.",
    ),
    Figure(
        19, "l3-switch", "throughput", "intra-vlan", 10, "5.2.1",
        "The Cisco switch carries more above 500 bytes; both software switches are alike.",
    ),
    Figure(
        20, "l3-switch", "throughput", "intra-vlan", 100, "5.2.1",
        "As at 10 Mbit/s; the three switches are almost the same.",
    ),
    Figure(
        21, "l3-switch", "throughput", "inter-vlan", 10, "5.2.1",
        "The Cisco switch carries more above 250 bytes; both software switches are alike.",
    ),
    Figure(
        22, "l3-switch", "throughput", "inter-vlan", 100, "5.2.1",
        "As at 10 Mbit/s, ten times as much; the Cisco switch carries more above 500 bytes.",
    ),
    Figure(
        23, "router-on-a-stick", "throughput", "inter-vlan", 10, "5.2.2",
        "The Cisco switch carries more above 250 bytes, and nearly 3 Mbit/s of large datagrams.",
    ),
    Figure(
        24, "router-on-a-stick", "throughput", "inter-vlan", 100, "5.2.2",
        "The Cisco switch carries more above 250 bytes, and nearly 30 Mbit/s of large datagrams.",
    ),
    Figure(
        25, "fairness", "shares", "inter-vlan", 10, "5.2.3",
        "All three use nearly all of the bottleneck, and share it in proportion.", _TWO,
    ),
    Figure(
        26, "fairness", "shares", "inter-vlan", 100, "5.2.3",
        "Less steady than at 10 Mbit/s; the Cisco switch is not in proportion at 30/90.", _times_ten(_TWO),
    ),
    Figure(
        27, "fairness", "shares", "inter-vlan", 10, "5.2.3",
        "The software switches share in proportion at 4/4/4 and 4/4/8; the Cisco switch is worst in all.", _THREE,
    ),
    Figure(
        28, "fairness", "shares", "inter-vlan", 100, "5.2.3",
        "The software switches share acceptably in proportion; the Cisco switch is the least steady.",
        _times_ten(_THREE),
    ),
)  # fmt: skip
"""Figures 13 to 28, in order."""

FLAT_RTT_PAYLOADS: Final = {14: (750, 1440), 16: (1000, 1440)}
"""By figure, between which UDP payloads (bytes) the PC-based switches' round-trip time does not change."""
CISCO_BETTER_ABOVE_BYTES: Final = {19: 500, 21: 250, 22: 500, 23: 250, 24: 250}
"""By figure, the UDP payload above which the Cisco switch has the best throughput."""


def figure(number: int) -> Figure:
    """Return one of figures 13 to 28. Raises MeasurementError for another number."""
    for each in FIGURES:
        if each.number == number:
            return each
    raise MeasurementError(f"the switches study has no results in a figure {number}: choose 13 to 28")


def proportional_shares(offered_mbps: tuple[float, ...], rate_mbps: float) -> tuple[float, ...]:
    """Return what each sender gets of a bottleneck that serves all alike, in Mbit/s: its share of what is offered."""
    total = sum(offered_mbps)
    return tuple(min(1.0, rate_mbps / total) * rate for rate in offered_mbps)


_NO_TIME: Final = "on virtual time a switch in the kernel hands a packet on at once"
_LINKS_ALONE: Final = "on virtual time nothing but the links has a rate"
_CISCO: Final = "the paper prints no number: needs those of a Cisco switch and of software switches on the same testbed"
_CARDS: Final = "the paper prints no number, and it depends on network cards and their drivers: needs PCs that switch"
CLAIMS: Final = (
    Claim(
        "switch-cisco-rtt",
        "The Cisco switch has the lowest round-trip time at every payload, rate and testbed.",
        "5.1.1, 5.1.2, 6; figures 13 to 18",
        "hardware",
        _CISCO,
    ),
    Claim(
        "switch-ethernet-near",
        "At 10 Mbit/s the software switches' round-trip times are not far from the Cisco switch's.",
        "6; figures 13, 15 and 17",
        "hardware",
        _CISCO,
    ),
    Claim(
        "switch-software-alike-rtt",
        "The software switches have nearly the same round-trip time at almost all payloads.",
        "5.1.1, 5.1.2; figures 13 to 18",
        "either",
        "round-trip times of the Linux bridge and of Open vSwitch in the kernel; LiSA has no kernel today",
        by_construction=_NO_TIME,
    ),
    Claim(
        "switch-flat-rtt-intra",
        "At 100 Mbit/s, within a VLAN, the software switches' round-trip time does not grow from 750 to 1440 bytes.",
        "5.1.1, figure 14; 6",
        "hardware",
        _CARDS,
    ),
    Claim(
        "switch-flat-rtt-inter",
        "At 100 Mbit/s, between VLANs, the software switches' round-trip time does not grow from 1000 to 1440 bytes.",
        "5.1.1, figure 16; 5.1.2, figure 18; 6",
        "hardware",
        _CARDS,
    ),
    Claim(
        "switch-l3-free",
        "Routing inside the switch adds next to nothing to the round-trip time.",
        "5.1.1, figures 13 to 16",
        "either",
        "round-trip times within a VLAN and between VLANs of the layer-3 switch, at equal payload",
        by_construction=_NO_TIME,
    ),
    Claim(
        "switch-stick-rtt",
        "A router on a stick makes the round-trip time between VLANs longer than routing inside the switch.",
        "5.1.2, figures 15 and 17, 16 and 18",
        "either",
        "round-trip times between VLANs in both testbeds, at every payload and rate",
        by_construction="links serialise, and every frame passes the trunk's two more times",
    ),
    Claim(
        "switch-cisco-throughput",
        "For larger payloads, above 250 or 500 bytes, the Cisco switch has the highest throughput.",
        "5.2.1, 5.2.2, 6; figures 19 and 21 to 24",
        "hardware",
        _CISCO,
    ),
    Claim(
        "switch-all-alike-fast",
        "At 100 Mbit/s, within a VLAN, all three switches have almost the same throughput.",
        "5.2.1, figure 20",
        "hardware",
        _CISCO,
    ),
    Claim(
        "switch-software-alike-throughput",
        "The software switches have nearly the same throughput at all payloads.",
        "5.2.1, 5.2.2, 6; figures 19 to 24",
        "either",
        "throughput of the additional flow on the Linux bridge and on Open vSwitch in the kernel",
        by_construction="the full queues are the links' own, the same for each kind of switch",
    ),
    Claim(
        "switch-ten-times",
        "Throughput at 100 Mbit/s is ten times that at 10, and depends on payload in the same way.",
        "5.2.1, figures 19 to 22",
        "either",
        "ratio of the additional flow's throughput at both rates for every payload",
        by_construction=f"{_LINKS_ALONE}, so ten times the load on ten times the rate is the same, ten times as fast",
    ),
    Claim(
        "switch-stick-full",
        "On the router on a stick the Cisco switch carries nearly all of the additional flow for large payloads.",
        "5.2.2, figures 23 and 24; 6",
        "hardware",
        "the paper prints no number: needs those of a Cisco switch",
    ),
    Claim(
        "switch-bottleneck-full",
        "At 10 Mbit/s with two senders nearly the whole bottleneck is used.",
        "5.2.3, figure 25",
        "either",
        "sum of the shares at T for every setting, as frames, compared with the link's rate",
        by_construction=f"{_LINKS_ALONE}, and senders that offer more than it never pause; with a queue of one packet "
        "(queue_packets=1) it comes out otherwise",
    ),
    Claim(
        "switch-two-proportional",
        "At 10 Mbit/s with two senders each gets a share in proportion to what it offers.",
        "5.2.3, figure 25",
        "hardware",
        "the paper prints no number, and it depends on how the senders' cards pace packets: needs PCs and a switch",
    ),
    Claim(
        "switch-two-fast-unstable",
        "At 100 Mbit/s with two senders shares are less steady than at 10.",
        "5.2.3, figure 26",
        "either",
        "deviation from proportional shares at both rates, over repeats",
        by_construction=f"{_LINKS_ALONE}, and senders are paced alike at both rates",
    ),
    Claim(
        "switch-three-proportional",
        "With three senders the software switches share in proportion; at 10 Mbit/s they differ for 8/8/8 only.",
        "5.2.3, figures 27 and 28",
        "hardware",
        "the paper prints no number, and it depends on how the senders' cards pace packets: needs PCs and a switch",
    ),
    Claim(
        "switch-cisco-unfair",
        "The Cisco switch shares least fairly, most of all at 100 Mbit/s.",
        "5.2.3, 6; figures 26 to 28",
        "hardware",
        _CISCO,
    ),
)
"""What the paper found, all of it on hardware; ``about`` is ``either`` where an emulation can show it as well."""

INCONSISTENCIES: Final = (
    Inconsistency("4.2.1", "the gateways' addresses are printed with five parts: 10.0.0.0.254 and 20.0.0.0.254"),
    Inconsistency(
        "4.2.1",
        "7.5 Mbit/s of background in datagrams of 500 bytes are 8.49 on a cable (headers, checksum, preamble, gap: 66 "
        "bytes each), so 1.51 of 10 Mbit/s are left and not about 2.5; ten times that at 100 Mbit/s",
    ),
    Inconsistency(
        "4.2.2",
        "8 Mbit/s of background on the trunk are 9.12 on the cable, with the VLAN tag, so 0.88 are left: the "
        "additional flow comes near 3 Mbit/s (5.2.2) only at the cost of the background",
    ),
    Inconsistency(
        "4.2.2 and 4.2.3",
        "the PC that switches has two network cards of two ports; four PCs and a trunk need five",
    ),
    Inconsistency(
        "5.2.1",
        "which of 250 and 500 bytes the Cisco switch is better above differs between figures 21 and 22, though "
        "the behaviour is called the same",
    ),
    Inconsistency(
        "5.1.1 and 6",
        "a round-trip time that stays the same while payload grows is called unexpected and left without a cause",
    ),
)
"""Where the study contradicts itself or arithmetic."""
