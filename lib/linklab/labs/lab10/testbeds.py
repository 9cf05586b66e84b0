"""The testbed of Lab 10's shares, and the flows that fill it, as in the switches study.

These are its sections 4.2.1 to 4.2.3; PC1 to PC4 are h1 to h4, T is t1.
"""

from __future__ import annotations

from typing import Final

from linklab.errors import MeasurementError
from linklab.measure import ConstantRateFlow
from linklab.network import Network
from linklab.network.catalogue import SWITCH_QUEUE_PACKETS, fairness

__all__ = ["senders"]

ENDS: Final[dict[str, tuple[str, str]]] = {"intra-vlan": ("h1", "h2"), "inter-vlan": ("h1", "h3")}
"""Between whom round trips and the additional flow are measured: in VLAN 10, and from VLAN 10 to VLAN 20."""
_IPERF_PAYLOAD_BYTES: Final = 1470
"""What iperf sends unless it is told otherwise; the study does not print it for its fairness experiments."""


def senders(
    offered_percent: str,
    rate_mbps: float,
    *,
    duration_s: float = 10,
    window_s: tuple[float, float] | None = None,
    dither: bool = True,
) -> tuple[ConstantRateFlow, ...]:
    """Return the flows of a fairness setting such as ``"70/70"``, in percent of the rate, all to t1.

    Raises MeasurementError for a text that is no such setting, or more than a sender's own link carries.
    """
    try:
        parts = [float(part) for part in offered_percent.split("/")]
    except ValueError:
        parts = []
    if len(parts) < 2 or not all(0 < part <= 100 for part in parts):
        raise MeasurementError(
            f"offered_percent is {offered_percent!r}: write two or more percentages of the link's rate, as in 70/70"
        )
    return tuple(
        ConstantRateFlow(f"h{number}", "t1", part * rate_mbps / 100, duration_s, _IPERF_PAYLOAD_BYTES, dither, window_s)
        for number, part in enumerate(parts, 1)
    )


def fairness_network(offered_percent: str, rate_mbps: float, queue_packets: int = SWITCH_QUEUE_PACKETS) -> Network:
    """Return the testbed for a fairness setting.

    Raises MeasurementError or NetworkError as `senders` and `linklab.network.catalogue.fairness`.
    """
    return fairness(rate_mbps, len(senders(offered_percent, rate_mbps)), queue_packets)
