"""The traffic of the switches study: its background, the additional flow, the senders that fill a link; and theory.

Sections 4.2.1 to 4.2.3; PC1 to PC4 are h1 to h4, T is t1 (`linklab.network.switch_testbeds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from linklab.analysis.sharing import Offer, Served, proportional
from linklab.errors import MeasurementError
from linklab.measure.tools.constant_rate import CbrFlow
from linklab.network import Network, path
from linklab.network.switch_testbeds import QUEUE_PACKETS, fairness, l3_switch, router_on_a_stick
from linklab.network.theory import cable_rtt_ms, serialisation_ms
from linklab.published.switches import BACKGROUND_PAYLOAD_BYTES, LOADS, STICK_PAIRS, Communication, Load
from linklab.units import BITS_PER_BYTE, IPV4_HEADER_BYTES, IPV6_HEADER_BYTES

HOSTS: Final = ("h1", "h2", "h3", "h4")
ENDS: Final[dict[str, tuple[str, str]]] = {"intra-vlan": ("h1", "h2"), "inter-vlan": ("h1", "h3")}
"""Between whom round trips and the additional flow are measured: in VLAN 10, and from VLAN 10 to VLAN 20."""
IPERF_PAYLOAD_BYTES: Final = 1470
"""What iperf sends unless it is told otherwise; the study does not print it for its fairness experiments."""

_IP_HEADER_BYTES: Final = {"ipv4": IPV4_HEADER_BYTES, "ipv6": IPV6_HEADER_BYTES}


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


def background(load: Load) -> tuple[CbrFlow, ...]:
    """Every host to every other on the layer-3 switch; on the router on a stick the study's four pairs."""
    pairs = [(one, two) for one in HOSTS for two in HOSTS if one != two]
    if load.testbed == "router-on-a-stick":
        pairs = [(one.replace("PC", "h"), two.replace("PC", "h")) for one, two in STICK_PAIRS]
    return tuple(CbrFlow(*pair, load.background_mbps, BACKGROUND_PAYLOAD_BYTES) for pair in pairs)


def additional(load: Load, communication: Communication | str, payload_bytes: int) -> CbrFlow:
    """The flow that is measured. Raises MeasurementError for a communication that is none, or a payload that cannot
    be.
    """
    return CbrFlow(*_ends(communication), load.additional_mbps, payload_bytes)


def served(network: Network, flows: Sequence[CbrFlow]) -> tuple[Served, ...]:
    """What theory says arrives of each flow (`linklab.analysis.sharing`)."""
    return proportional(network, [Offer(it.source, it.destination, it.rate_mbps, it.payload_bytes) for it in flows])


def additional_theory_mbps(testbed: str, communication: str, rate_mbps: float, payload_bytes: int) -> float:
    """What theory leaves of the additional flow, in Mbit/s of payload."""
    load = load_of(testbed, rate_mbps)
    flows = (*background(load), additional(load, communication, payload_bytes))
    return served(network_of(testbed, rate_mbps), flows)[-1].throughput_mbps


def rtt_theory_ms(
    testbed: str, communication: str, rate_mbps: float, payload_bytes: int, protocol: str = "ipv4"
) -> float:
    """Return the round trip of a UDP datagram on an idle network, in ms: serialisation (`cable_rtt_ms`).

    Raises MeasurementError for a testbed, communication or protocol that is none.
    """
    if protocol not in _IP_HEADER_BYTES:
        raise MeasurementError(f"protocol is {protocol!r}: choose one of {', '.join(_IP_HEADER_BYTES)}")
    larger_bytes = _IP_HEADER_BYTES[protocol] - IPV4_HEADER_BYTES
    return cable_rtt_ms(network_of(testbed, rate_mbps), *_ends(communication), payload_bytes + larger_bytes)


def loaded_rtt_theory_ms(testbed: str, communication: str, rate_mbps: float, payload_bytes: int) -> float:
    """Return the mean round trip beside the background if its packets came at random instants, in ms.

    That is serialisation and, at each output port, the mean wait of an M/G/1 queue (L. Kleinrock, "Queueing Systems",
    volume 1, 1975, section 5.7, Pollaczek-Khinchine): with n_i packets a second of flow i that take s_i each, ``sum of
    n_i s_i^2 / (2 (1 - sum of n_i s_i))``. Constant rates come more regularly than that, so the mean lies between the
    idle round trip and this. Raises MeasurementError as `load_of`.
    """
    network, ends = network_of(testbed, rate_mbps), _ends(communication)
    flows = background(load_of(testbed, rate_mbps))
    busy: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for flow in flows:
        packets_per_s = flow.rate_mbps * 1e6 / (BITS_PER_BYTE * flow.payload_bytes)
        for hop in path(network, flow.source, flow.destination).hops:
            service_s = serialisation_ms(network, hop.link, flow.payload_bytes) / 1000
            busy.setdefault((hop.out.node, hop.out.interface), []).append((packets_per_s, service_s))
    waits_s = (
        _mean_wait_s(busy.get((hop.out.node, hop.out.interface), []))
        for there in (ends, ends[::-1])
        for hop in path(network, *there).hops
    )
    return cable_rtt_ms(network, *ends, payload_bytes) + 1000 * sum(waits_s)


def _mean_wait_s(flows: Sequence[tuple[float, float]]) -> float:
    load = sum(packets_per_s * service_s for packets_per_s, service_s in flows)
    return sum(packets_per_s * service_s**2 for packets_per_s, service_s in flows) / (2 * (1 - load))


def _ends(communication: str) -> tuple[str, str]:
    if communication not in ENDS:
        raise MeasurementError(f"communication is {communication!r}: choose one of {', '.join(ENDS)}")
    return ENDS[communication]


def senders(offered_percent: str, rate_mbps: float, *, dither: bool = True) -> tuple[CbrFlow, ...]:
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
        CbrFlow(f"h{number}", "t1", part * rate_mbps / 100, IPERF_PAYLOAD_BYTES, dither)
        for number, part in enumerate(parts, 1)
    )


def fairness_network(offered_percent: str, rate_mbps: float, queue_packets: int = QUEUE_PACKETS) -> Network:
    """Return the testbed for a fairness setting.

    Raises MeasurementError or NetworkError as `senders` and `linklab.network.switch_testbeds.fairness`.
    """
    return fairness(rate_mbps, len(senders(offered_percent, rate_mbps)), queue_packets)
