"""The multimedia study: an RTP video stream over three topologies, a real network beside Mininet.

J. M. Jimenez, O. Romero, A. Rego, A. Dilendra, J. Lloret: "Study of Multimedia Delivery over Software Defined
Networks", Network Protocols and Algorithms 7 (4), 2015, DOI 10.5296/npa.v7i4.8794. Mininet 2.2.1 on Ubuntu 14.04; two
PCs, Cisco Catalyst 3560 switches and Cisco 2811 routers. The numbers stand in section 4's text, one paragraph for each
of figures 10 to 27; the figures are drawings.

Three readings that the study does not spell out follow from its numbers, and its tool (Wireshark) has columns that
fit: every least and largest bandwidth is a whole multiple of 10.848 kbit/s, one IP packet of 1356 bytes a second, so
bandwidth is what arrived within a second, by packets of 7 * 188 bytes of MPEG-TS with the headers of RTP, UDP and IPv4
(12 + 8 + 20). "Delay" is the time between one packet and the next: it averages 9.4 ms on links without delay. Jitter
with means far below the gaps' deviations is likely the smoothed one of RTP (RFC 3550, section 6.4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from linklab.errors import MeasurementError
from linklab.network.catalogue import VIDEO_RUNS_MBPS
from linklab.published.claims import Claim, Inconsistency, Platform

VideoQuantity = Literal["bandwidth_kbps", "delay_ms", "jitter_ms"]

VIDEO: Final = {"duration_s": 50, "width": 800, "height": 600, "bitrate_kbps": 1026, "frames_per_s": 60}
"""Section 3.3."""
PACKET_BYTES: Final = 1356
"""Ours, from the bandwidths: an IP packet with 1316 bytes of MPEG-TS."""
BANDWIDTH_STEP_KBPS: Final = PACKET_BYTES * 8 / 1000


@dataclass(frozen=True)
class Printed:
    """A number as printed; ``below``: the text only says that the value is less."""

    value: float
    below: bool = False

    def __str__(self) -> str:
        return f"{'<' if self.below else ''}{self.value:.10g}"


@dataclass(frozen=True)
class VideoRow:
    """One quantity of one run. Units: kbit/s or ms; ``variance`` in their square. None is normally distributed."""

    figure: int
    topology: int
    link_mbps: int
    quantity: VideoQuantity
    platform: Platform
    mean: Printed
    minimum: Printed
    maximum: Printed
    variance: Printed
    deviation: Printed
    normal: bool = False

    @property
    def unit(self) -> str:
        """``"kbit/s"`` or ``"ms"``."""
        return "kbit/s" if self.quantity == "bandwidth_kbps" else "ms"


_QUANTITIES: Final[tuple[VideoQuantity, ...]] = ("bandwidth_kbps", "delay_ms", "jitter_ms")
# by figure: real, then virtual; mean, least, largest, variance, standard deviation
_TEXT: Final = {
    10: ("1337.26 162.72 2592.67 247128.43 497.12", "1341.95 86.78 2592.67 244664.70 494.63"),
    11: ("1341.77 162.72 2592.67 248874.16 498.87", "1351.85 173.57 2592.67 248150.91 498.14"),
    12: ("1340.22 162.72 2592.67 249230.523 499.22", "1350.78 173.57 2592.67 248179.04 498.17"),
    13: ("1335.49 173.57 1963.49 218658.95 467.60", "1372.51 173.57 1996.03 225180.89 474.53"),
    14: ("1343.47 162.72 2505.89 245943.93 495.92", "1353.89 162.72 2505.89 244590.52 494.56"),
    15: ("1341.80 162.72 2592.67 248882.63 498.88", "1352.85 162.72 2592.67 247659.12 497.65"),
    16: ("9.34 0 94.97 75.36 8.68", "9.32 0.02 93.39 71.36 8.45"),
    17: ("9.51 1.11 94.99 74.315 8.62", "9.39 1.6 93.31 69.427 8.33"),
    18: ("9.49 0 95.04 75.24 8.67", "9.38 0.96 93.31 69.31 8.33"),
    19: ("9.56 5.41 85.15 63.20 7.95", "9.39 1.69 82.38 61.19 7.82"),
    20: ("9.45 2.57 95.09 73.45 8.57", "9.37 1.69 93.37 67.55 8.22"),
    21: ("9.45 1.20 95.06 75.56 8.63", "9.41 1.34 93.43 68.46 8.27"),
    22: ("0.044 0 3.26 <0.01 0.065", "<0.004 0 3.26 <0.01 0.056"),
    23: ("0.040 0 1.26 <0.01 0.041", "0.004 0 0.84 <0.01 0.034"),
    24: ("0.044 0 3.33 0.0004 0.07", "0.012 0 3.33 0.0176 0.13"),
    25: ("0.05 0 5.25 0.14 0.14", "0.03 0 5.32 0.13 0.12"),
    26: ("0.4 0 0.67 <0.01 0.5", "0.3 0 0.76 <0.01 0.6"),
    27: ("0.04 0 0.24 <0.01 0.04", "<0.01 0 0.13 <0.01 <0.01"),
}


def _rows() -> tuple[VideoRow, ...]:
    runs = [(topology, link_mbps) for topology, links in VIDEO_RUNS_MBPS.items() for link_mbps in links]
    found = []
    platforms: tuple[Platform, ...] = ("real", "virtual")
    for figure, texts in _TEXT.items():
        quantity = _QUANTITIES[(figure - 10) // len(runs)]
        topology, link_mbps = runs[(figure - 10) % len(runs)]
        for platform, text in zip(platforms, texts, strict=True):
            mean, least, largest, variance, deviation = map(_printed, text.split())
            numbers = (mean, least, largest, variance, deviation)
            found.append(VideoRow(figure, topology, link_mbps, quantity, platform, *numbers))
    return tuple(found)


def _printed(text: str) -> Printed:
    return Printed(float(text.removeprefix("<")), text.startswith("<"))


ROWS: Final = _rows()
"""Figures 10 to 27: six runs, three quantities, real and virtual; in the study's order."""


def find(link_mbps: int, quantity: VideoQuantity, platform: Platform) -> VideoRow:
    """The row of one run; its link's rate tells the topology. Raises MeasurementError for a run it has not."""
    for row in ROWS:
        if (row.link_mbps, row.quantity, row.platform) == (link_mbps, quantity, platform):
            return row
    known = ", ".join(str(rate) for links in VIDEO_RUNS_MBPS.values() for rate in links)
    raise MeasurementError(
        f"the multimedia study has no {platform} {quantity} at {link_mbps} Mbit/s: its links have {known}"
    )


CLAIMS: Final = (
    Claim(
        "video-bandwidth-alike",
        "The stream takes nearly the same mean bandwidth in Mininet as in the real network.",
        "4.1.1 to 4.1.3",
        "hardware",
        "the real network's bandwidth_kbps_mean within 5 % of Mininet's in all runs, of one film",
    ),
    Claim(
        "video-wan-alike",
        "With routers and a WAN link of 2, 4 or 8 Mbit/s real and virtual bandwidth are the same.",
        "5, figures 13 to 15",
        "hardware",
        "the real network's mean, least and largest bandwidth_kbps at 2, 4 and 8 Mbit/s within 5 % of Mininet's, of "
        "one film",
    ),
    Claim(
        "video-devices-minimum",
        "In Mininet switches on the path change the least bandwidth of the stream.",
        "5, figures 10 to 12",
        "Mininet",
        "bandwidth_kbps_minimum in topology 1 and in topology 2 at both rates",
        by_construction="our film cannot test it: it has no second as still as the study's, so the least is that of a "
        "window that still fills behind 20 packets, with any devices on the path",
    ),
    Claim(
        "video-devices-real",
        "In the real network switches on the path do not change the least bandwidth of the stream.",
        "5, figures 10 to 12",
        "hardware",
        "the real network's bandwidth_kbps_minimum in topology 1 and in topology 2 at both rates",
    ),
    Claim(
        "video-10-or-100",
        "It makes no difference to bandwidth whether the link between the switches has 10 or 100 Mbit/s.",
        "5, figures 11 and 12",
        "either",
        "mean, least and largest bandwidth_kbps of topology 2 at 10 and 100 Mbit/s within 1 %",
        by_construction="a link that is faster than the film holds no packet back; a film of more than 10 Mbit/s "
        "(video=FILE) comes out otherwise",
    ),
    Claim(
        "video-wan-spacing",
        "Over the WAN link of 2 Mbit/s the lowest peaks of the time between packets appear in Mininet only.",
        "4.2.3, figure 19",
        "Mininet",
        "delay_ms_minimum at 2 Mbit/s below 85 % of the time that the link takes for an IP packet; the real network's "
        "own are 88 to 100 % of it at 2, 4 and 8 Mbit/s",
    ),
    Claim(
        "video-not-normal",
        "Neither bandwidth, nor time between packets, nor jitter is normally distributed.",
        "4.1 to 4.3, every figure",
        "either",
        "a normality test on each series rejects at 5 %",
        by_construction="times between packets have a floor, and a test of thousands of values finds the slightest "
        "difference from a normal distribution",
    ),
    Claim(
        "video-delay-range",
        "Time between packets has a lower least and a higher largest value in the real network than in Mininet.",
        "5, figures 16 to 21",
        "hardware",
        "the real network's delay_ms_minimum below and delay_ms_maximum above Mininet's in all runs",
    ),
    Claim(
        "video-jitter-real",
        "Where throughput is high, mean and largest jitter are higher in the real network than in Mininet.",
        "4.3.1 to 4.3.3, 5",
        "hardware",
        "the real network's jitter_ms_mean and jitter_ms_maximum above Mininet's from 8 Mbit/s on",
    ),
    Claim(
        "video-jitter-low",
        "Where throughput is low, the largest jitter is higher in Mininet than in the real network.",
        "5, figures 25 and 26",
        "hardware",
        "the real network's jitter_ms_maximum below Mininet's at 2 and 4 Mbit/s",
    ),
)
"""What the study found, in sentences of ours. Measurement gives each a verdict (`studies.video.claims`)."""

INCONSISTENCIES: Final = (
    Inconsistency("3.2 and 3.5", "VLC in Mininet is version 2.16 in one place and 2.1.6 in the other"),
    Inconsistency("3.5, figure 8", "two routers and two switches are called topology 2; it is topology 3 (figure 4)"),
    Inconsistency(
        "3.3 and 4.1",
        "the video has 1026 kbit/s, its mean bandwidth is given as 1335 to 1373; the mean time between packets, 9.3 to "
        "9.6 ms, gives 1135 to 1164: a mean over packets counts busy seconds more often than quiet ones",
    ),
    Inconsistency(
        "4.2.3 and 5",
        "the real network is said to have the lower least time between packets in all cases: at 2 and 4 Mbit/s it has "
        "5.41 and 2.57 ms against Mininet's 1.69",
    ),
    Inconsistency(
        "4.1.3 and 5",
        "bandwidth over the WAN is said to be the same in both: at 2 Mbit/s the largest is 1963.49 and 1996.03, the "
        "mean 1335.49 and 1372.51",
    ),
    Inconsistency(
        "4.1.3 and 5",
        "the real network's least bandwidth is said not to depend on devices: at 2 Mbit/s it is 173.57, else 162.72",
    ),
    Inconsistency(
        "4.3 and 5",
        "the largest jitter is said to be higher in the real network where throughput is high: figures 22 and 24 give "
        "both the same",
    ),
    Inconsistency(
        "4.2.3, figure 21", "a variance of 75.56 has a standard deviation of 8.69; 8.63 is printed for the real network"
    ),
    Inconsistency(
        "4.3.2, figure 24",
        "a standard deviation of 0.07 has a variance of 0.0049; 0.0004 is printed for the real network",
    ),
    Inconsistency(
        "4.3.3, figure 25",
        "variances of 0.14 and 0.13 have standard deviations of 0.37 and 0.36; 0.14 and 0.12 are printed",
    ),
    Inconsistency(
        "4.3.3, figure 26",
        "standard deviations of 0.5 and 0.6 cannot go with variances below 0.01; with means of 0.4 and 0.3 and largest "
        "values of 0.67 and 0.76 all four are probably ten times too large",
    ),
    Inconsistency("4.1.3", "the section on bandwidth opens by saying that delay is studied"),
)
"""Where the study contradicts itself or arithmetic."""
