"""The MTU study: bandwidth and jitter for three frame sizes, a real network beside Mininet.

International Journal on Advances in Networks and Services 9 (3 and 4), 2016, by authors of the multimedia study, which
it cites as its forerunner. Mininet 2.2.1 on Ubuntu 14.04; the real network is two PCs across a Cisco Catalyst 3560. UDP
by a generator of the authors' (``gt``), captured with Wireshark. The numbers stand in section IV's text, one paragraph
for each of figures 5 to 22; the figures are drawings.

What the study calls MTU is the size of the whole frame, 14 bytes of header and 4 of checksum included. How it averages
the bandwidth at a packet is not said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from linklab.errors import MeasurementError
from linklab.published.claims import Platform
from linklab.published.mtu_claims import CLAIMS as CLAIMS
from linklab.published.mtu_claims import INCONSISTENCIES as INCONSISTENCIES

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

    @property
    def section(self) -> str:
        """Where the numbers stand in the text: ``"IV.1.a"``."""
        place = RATES_MBPS.index((self.link_mbps, self.traffic_mbps)) + 1
        return f"IV.{place}.{'abc'[list(FRAME_BYTES).index(self.frame_bytes)]}"

    @property
    def where(self) -> str:
        """For a source line: ``"MTU study, figure 5 (section IV.1.a)"``."""
        return f"MTU study, figure {self.figure} (section {self.section})"


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
    21: ((98.911, 67.687, 99.502), (100, 0.1, 113.581)),  # 100 kbit/s in the text
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
