"""The MTU study: bandwidth and jitter for three frame sizes, a real network beside Mininet.

International Journal on Advances in Networks and Services 9 (3 and 4), 2016, by authors of the multimedia study, which
it cites as its forerunner. Mininet 2.2.1 on Ubuntu 14.04; the real network is two PCs across a Cisco Catalyst 3560. UDP
by a generator of the authors' (``gt``), captured with Wireshark. The numbers stand in section IV's text, one paragraph
for each of figures 5 to 22; the figures are drawings.

What the study calls MTU is the size of the whole frame, 14 bytes of header and 4 of checksum included. The generator
reaches a rate by the delay between frames (section III.B). How the bandwidth at a packet is averaged is not said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from linklab.errors import MeasurementError
from linklab.published.claims import Claim, Inconsistency, Platform

MtuQuantity = Literal["bandwidth_mbps", "jitter_ms"]

FRAME_BYTES: Final = {1518: "Ethernet with LLC and SNAP, PPPoE", 4370: "FDDI", 7999: "802.11, jumbo frames"}
"""Table I: the three sizes and the media that they stand for."""
GRE_OVERHEAD_BYTES: Final = 38
"""Figure 4: of 1500 bytes of data the tunnel takes 38, and 1462 remain."""
RATES_MBPS: Final = ((10, 10), (100, 10), (100, 100))
"""Link and traffic, in the order of section IV."""


@dataclass(frozen=True)
class MtuRow:
    """Mean, least and largest value of one quantity in one run: in Mbit/s or ms, with the digits printed."""

    figure: int
    frame_bytes: int
    link_mbps: int
    traffic_mbps: int
    quantity: MtuQuantity
    platform: Platform
    mean: float
    minimum: float
    maximum: float

    @property
    def unit(self) -> str:
        """``"Mbit/s"`` or ``"ms"``."""
        return "Mbit/s" if self.quantity == "bandwidth_mbps" else "ms"


_Three = tuple[float, float, float]
# figure: real mean, least, largest; virtual mean, least, largest
_BANDWIDTH: Final[dict[int, tuple[_Three, _Three]]] = {
    5: ((9.5, 6.7, 9.9), (10, 9.9, 20.8)),
    7: ((9.5, 4.2, 9.8), (10, 9.9, 31.5)),
    9: ((9.5, 3.9, 9.9), (10, 10, 23)),
    11: ((9.9, 9.9, 10.0), (10, 9.8, 10.3)),
    13: ((9.9, 9.8, 10), (10, 9.9, 10)),
    15: ((10, 9.9, 10), (10, 9.9, 10)),
    17: ((96, 94.3, 100), (100, 7.3, 101)),
    19: ((98.559, 95.474, 100), (100, 99.931, 120.344)),
    21: ((98.911, 67.687, 99.502), (100, 0.1, 113.581)),  # 100 kbit/s in the text: a misprint, see INCONSISTENCIES
}
_JITTER: Final[dict[int, tuple[_Three, _Three]]] = {
    6: ((0.690, 0, 3.169), (0.001, 0, 0.607)),
    8: ((0.228, 0, 9.189), (0.002, 0, 1.277)),
    10: ((0.345, 0.037, 25.091), (0.001, 0, 0.844)),
    12: ((0.015, 0, 1.26), (0.001, 0, 2.691)),
    14: ((0.019, 0, 3.433), (0.004, 0, 0.898)),
    16: ((0.021, 0, 1.177), (0.005, 0, 1.756)),
    18: ((0.011, 0, 0.25), (0.001, 0, 3.26)),
    20: ((0.017, 0, 0.908), (0, 0, 0.028)),
    22: ((0.016, 0, 0.749), (0, 0, 0.123)),
}


def _rows() -> tuple[MtuRow, ...]:
    found = []
    for figure in range(5, 23):
        run = (figure - 5) // 2
        frame_bytes, (link_mbps, traffic_mbps) = list(FRAME_BYTES)[run % 3], RATES_MBPS[run // 3]
        quantity: MtuQuantity = "bandwidth_mbps" if figure in _BANDWIDTH else "jitter_ms"
        real, virtual = (_BANDWIDTH | _JITTER)[figure]
        found += [
            MtuRow(figure, frame_bytes, link_mbps, traffic_mbps, quantity, "real", *real),
            MtuRow(figure, frame_bytes, link_mbps, traffic_mbps, quantity, "virtual", *virtual),
        ]
    return tuple(found)


ROWS: Final = _rows()
"""Figures 5 to 22: nine runs, two quantities, real and virtual; in the study's order."""


def find(frame_bytes: int, link_mbps: int, traffic_mbps: int, quantity: MtuQuantity, platform: Platform) -> MtuRow:
    """The row of one run. Raises MeasurementError for a run that the study has not."""
    for row in ROWS:
        run = (row.frame_bytes, row.link_mbps, row.traffic_mbps, row.quantity, row.platform)
        if run == (frame_bytes, link_mbps, traffic_mbps, quantity, platform):
            return row
    raise MeasurementError(
        f"the MTU study has no {platform} {quantity} of {frame_bytes} bytes at {link_mbps}/{traffic_mbps} Mbit/s: "
        f"it has {', '.join(map(str, FRAME_BYTES))} bytes at {', '.join(f'{a}/{b}' for a, b in RATES_MBPS)}"
    )


CLAIMS: Final = (
    Claim(
        "mtu-first-packets",
        "In Mininet the first packets usually get more bandwidth than the link has.",
        "IV.1.a to c, IV.3.b and c, V",
        "Mininet",
        "bandwidth_max_mbps more than 1 % above the link's rate, in most repeats of the runs that fill the link",
    ),
    Claim(
        "mtu-settles",
        "After some packets the bandwidth in Mininet is that of the link or of the traffic, whichever is less.",
        "IV.1.a to c, IV.3.b, V",
        "Mininet",
        "bandwidth_settled_mbps within 1 % of the traffic's rate in all runs of a repeat, in most repeats",
    ),
    Claim(
        "mtu-start-below",
        "While a sender in Mininet starts, the bandwidth can lie far below the link's.",
        "IV.3.c, figure 21; 7.3 Mbit/s in figure 17",
        "Mininet",
        "bandwidth_min_mbps below half of the traffic's rate in a run that fills the link, in most repeats",
    ),
    Claim(
        "mtu-bandwidth-size",
        "Packet size hardly matters for bandwidth.",
        "end of IV.1",
        "either",
        "spread of bandwidth_settled_mbps over the sizes at each pair of rates below 1 %, in most repeats",
    ),
    Claim(
        "mtu-jitter-size",
        "Packet size matters for jitter.",
        "end of IV.1",
        "either",
        "spread of the mean jitter_ms of the second half of the packets over the sizes at one pair of rates at least "
        "0.001 ms, the study's last digit, in most repeats; means over all packets depend on how many are sent, which "
        "it does not tell",
    ),
    Claim(
        "mtu-jitter-start",
        "The largest jitter of 7999 bytes at 100/10 comes at the very beginning of the traffic.",
        "IV.2.c, figure 16",
        "either",
        "jitter_max_ms is above 0.001 ms and among the first ten packets, in most repeats",
    ),
    Claim(
        "mtu-over-capacity",
        "Traffic in Mininet can take more bandwidth than a real network of the same rate has.",
        "end of IV.3",
        "Mininet",
        "bandwidth_settled_mbps at a full link above what preamble, checksum and gap leave of a real cable "
        "(IEEE 802.3), for every size",
        by_construction="a link of Mininet's counts a frame without checksum, preamble and gap; where it counts them "
        "(form=cable) or carries a tunnel (form=gre) it comes out otherwise",
    ),
    Claim(
        "mtu-light-load",
        "With less traffic than the link bears, real and virtual are nearer to each other.",
        "end of IV.2",
        "hardware",
        "the real network's bandwidth_mean_mbps is nearer to our bandwidth_settled_mbps in runs at light load than at "
        "full load, on average",
    ),
    Claim(
        "mtu-bandwidth-near",
        "The bandwidths of the real network and of Mininet differ very little.",
        "V",
        "hardware",
        "the real network's bandwidth_mean_mbps within 6 % of our bandwidth_settled_mbps in all runs (the study's own "
        "differ by up to 5 %)",
    ),
    Claim(
        "mtu-real-less",
        "The real network's mean bandwidth is below Mininet's.",
        "IV.1 to IV.3, all but 7999 bytes at 100/10",
        "hardware",
        "the real network's bandwidth_mean_mbps below our bandwidth_settled_mbps in every run that fills the link",
    ),
    Claim(
        "mtu-jitter-real",
        "The real network's mean jitter is above Mininet's, in all runs.",
        "IV.1 to IV.3, figures 6 to 22",
        "hardware",
        "the real network's jitter_mean_ms above ours in all runs, the mean of the second half of the packets",
    ),
)
"""What the study found, in sentences of ours. Measurement gives each a verdict (`studies.mtu.claims`)."""

INCONSISTENCIES: Final = (
    Inconsistency(
        "Table I and figure 4",
        "1518, 4370 and 7999 bytes are called MTUs and are sizes of frames, 18 bytes more: MTUs of 1500, 4352 and 7981",
    ),
    Inconsistency("Table I", "1518 stands for LLC with SNAP and for PPPoE, whose MTU is 1492 and not 1500"),
    Inconsistency("III.D and IV", "section III.D gives the link 10 Mbit/s, section IV uses 100 as well"),
    Inconsistency(
        "III.A, III.C and III.D",
        "one laptop emulates the network, yet two Mininet networks on different PCs are joined by a GRE tunnel, which "
        "III.C places in the real topology",
    ),
    Inconsistency(
        "IV.2.a, IV.2.c and IV.3.a",
        "jitter in the real network is said to be higher; the largest values are higher in Mininet in figures 12 "
        "(2.691 against 1.26 ms), 16 (1.756 against 1.177 ms) and 18 (3.26 against 0.25 ms)",
    ),
    Inconsistency(
        "IV.2.b and IV.2.c",
        "virtual bandwidth at 100/10 is at most 10 for 4370 and 7999 bytes, so the first packets are not too fast in "
        "every virtual run; 10.3 at 1518 bytes is above the traffic's rate and far below the link's",
    ),
    Inconsistency(
        "IV.3.a and IV.3.b",
        "real bandwidth of 100 Mbit/s is more than a 100 Mbit/s cable carries of frames: preamble and gap, 20 bytes, "
        "leave 98.70 for 1518 bytes and 99.54 for 4370",
    ),
    Inconsistency(
        "IV.3.a to IV.3.c",
        "at 100/100 the least virtual bandwidth is 7.3 and 0.1 Mbit/s for 1518 and 7999 bytes, with means of 100; the "
        "run with 4370 bytes has a least value of 99.931",
    ),
    Inconsistency(
        "IV.3.c, figures 21 and 22",
        "100 Kbps are probably a misprint of 100 Mbps: at 0.1 Mbit/s a packet of 7999 bytes comes 640 ms after the "
        "first one, and the largest jitter of that run is 0.123 ms",
    ),
)
"""Where the study contradicts itself or arithmetic."""
