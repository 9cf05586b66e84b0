"""The traffic of the switches study: its background, the additional flow, and the senders that fill a link.

Sections 4.2.1 to 4.2.3; PC1 to PC4 are h1 to h4, T is t1 (`linklab.network.catalogue`).
"""

from __future__ import annotations

from typing import Final

from linklab.errors import MeasurementError
from linklab.measure import ConstantRateFlow
from linklab.network import Network
from linklab.network.catalogue import SWITCH_QUEUE_PACKETS, fairness, l3_switch, router_on_a_stick
from linklab.published.switches import BACKGROUND_PAYLOAD_BYTES, LOADS, STICK_PAIRS, Communication, Load

HOSTS: Final = ("h1", "h2", "h3", "h4")
ENDS: Final[dict[str, tuple[str, str]]] = {"intra-vlan": ("h1", "h2"), "inter-vlan": ("h1", "h3")}
"""Between whom round trips and the additional flow are measured: in VLAN 10, and from VLAN 10 to VLAN 20."""
IPERF_PAYLOAD_BYTES: Final = 1470
"""What iperf sends unless it is told otherwise; the study does not print it for its fairness experiments."""


def load_of(testbed: str, rate_mbps: float) -> Load:
    """The study's load of a testbed at a rate. Raises MeasurementError for one that it has not."""
    for load in LOADS:
        if (load.testbed, load.rate_mbps) == (testbed, rate_mbps):
            return load
    known = ", ".join(f"{load.testbed} at {load.rate_mbps}" for load in LOADS)
    raise MeasurementError(f"the study has no load for {testbed} at {rate_mbps:g} Mbit/s: choose one of {known}")


def network_of(testbed: str, rate_mbps: float) -> Network:
    """The testbed with four hosts. Raises MeasurementError for a name that is none."""
    makers = {"l3-switch": l3_switch, "router-on-a-stick": router_on_a_stick}
    if testbed not in makers:
        raise MeasurementError(f"testbed is {testbed!r}: choose one of {', '.join(makers)}")
    return makers[testbed](rate_mbps)


def background(
    load: Load, duration_s: float = 10, window_s: tuple[float, float] | None = None
) -> tuple[ConstantRateFlow, ...]:
    """Every host to every other on the layer-3 switch; on the router on a stick the study's four pairs."""
    pairs = [(one, two) for one in HOSTS for two in HOSTS if one != two]
    if load.testbed == "router-on-a-stick":
        pairs = [(one.replace("PC", "h"), two.replace("PC", "h")) for one, two in STICK_PAIRS]
    return tuple(
        ConstantRateFlow(*pair, load.background_mbps, duration_s, BACKGROUND_PAYLOAD_BYTES, window_s=window_s)
        for pair in pairs
    )


def additional(
    load: Load,
    communication: Communication | str,
    payload_bytes: int,
    duration_s: float = 10,
    window_s: tuple[float, float] | None = None,
) -> ConstantRateFlow:
    """The flow that is measured. Raises MeasurementError for a communication that is none, or a payload that cannot
    be.
    """
    if communication not in ENDS:
        raise MeasurementError(f"communication is {communication!r}: choose one of {', '.join(ENDS)}")
    return ConstantRateFlow(*ENDS[communication], load.additional_mbps, duration_s, payload_bytes, window_s=window_s)


def senders(
    offered_percent: str,
    rate_mbps: float,
    *,
    duration_s: float = 10,
    window_s: tuple[float, float] | None = None,
    dither: bool = True,
) -> tuple[ConstantRateFlow, ...]:
    """The flows of a fairness setting such as ``"70/70"``, in percent of the rate, all to t1.

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
        ConstantRateFlow(f"h{number}", "t1", part * rate_mbps / 100, duration_s, IPERF_PAYLOAD_BYTES, dither, window_s)
        for number, part in enumerate(parts, 1)
    )


def fairness_network(offered_percent: str, rate_mbps: float, queue_packets: int = SWITCH_QUEUE_PACKETS) -> Network:
    """Return the testbed for a fairness setting.

    Raises MeasurementError or NetworkError as `senders` and `linklab.network.catalogue.fairness`.
    """
    return fairness(rate_mbps, len(senders(offered_percent, rate_mbps)), queue_packets)
