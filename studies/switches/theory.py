"""What theory says of round trips, throughput and shares in the switches paper's testbeds."""

from __future__ import annotations

from collections.abc import Sequence

from linklab.analysis.sharing import proportional
from linklab.labs.lab10.testbeds import fairness_network, senders
from linklab.network import path
from linklab.network.catalogue import dual_stack
from linklab.network.theory import cable_rtt_ms, serialisation_ms
from linklab.units import BITS_PER_BYTE
from studies.switches.study import additional, background, ends_of, ip_version, load_of, network_of


def rtt_theory_ms(
    testbed: str, communication: str, rate_mbps: float, payload_bytes: int, protocol: str = "ipv4"
) -> float:
    """Return the round trip of a UDP datagram on an idle network, in ms: serialisation (`cable_rtt_ms`).

    Raises MeasurementError for a testbed, communication or protocol that is none.
    """
    version = ip_version(protocol)
    network = dual_stack(network_of(testbed, rate_mbps))
    return cable_rtt_ms(network, *ends_of(communication), payload_bytes, version)


def loaded_rtt_theory_ms(testbed: str, communication: str, rate_mbps: float, payload_bytes: int) -> float:
    """Return the mean round trip beside the background if its packets came at random instants, in ms.

    That is serialisation and, at each output port, the mean wait of an M/G/1 queue (L. Kleinrock, "Queueing Systems",
    volume 1, 1975, section 5.7, Pollaczek-Khinchine): with n_i packets a second of flow i that take s_i each, ``sum of
    n_i s_i^2 / (2 (1 - sum of n_i s_i))``. Constant rates come more regularly than that, so the mean lies between the
    idle round trip and this, where the measured packets' own load, which is not in it, is small. Raises
    MeasurementError as `load_of`.
    """
    network, ends = network_of(testbed, rate_mbps), ends_of(communication)
    busy: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for flow in background(load_of(testbed, rate_mbps)):
        packets_per_s = flow.rate_mbps * 1e6 / (BITS_PER_BYTE * flow.payload_bytes)
        for hop in path(network, flow.source, flow.destination).hops:
            service_s = serialisation_ms(network, hop.link, flow.payload_bytes) / 1000
            busy.setdefault((hop.out.node, hop.out.interface), []).append((packets_per_s, service_s))
    waits_s = (
        _mean_wait_s(busy.get((hop.out.node, hop.out.interface), []))
        for direction in (ends, ends[::-1])
        for hop in path(network, *direction).hops
    )
    return cable_rtt_ms(network, *ends, payload_bytes) + 1000 * sum(waits_s)


def _mean_wait_s(flows: Sequence[tuple[float, float]]) -> float:
    load = sum(packets_per_s * service_s for packets_per_s, service_s in flows)
    return sum(packets_per_s * service_s**2 for packets_per_s, service_s in flows) / (2 * (1 - load))


def additional_theory_mbps(testbed: str, communication: str, rate_mbps: float, payload_bytes: int) -> float:
    """Return what theory leaves of the additional flow, in Mbit/s of payload: shares in proportion (`proportional`)."""
    load = load_of(testbed, rate_mbps)
    flows = (*background(load), additional(load, communication, payload_bytes))
    return proportional(network_of(testbed, rate_mbps), flows)[-1].throughput_mbps


def shares_theory_mbps(offered_percent: str, rate_mbps: float) -> list[float]:
    """Return what theory gives each sender of a fairness setting, in Mbit/s of payload: shares in proportion."""
    flows = senders(offered_percent, rate_mbps)
    return [it.throughput_mbps for it in proportional(fairness_network(offered_percent, rate_mbps), flows)]
