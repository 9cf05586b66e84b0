"""The page of the switches paper: theory, judges of its findings, and figures 13 to 28 next to what its text says.

The paper's software switches were both in the kernel, so what is said of software switches is judged by the kinds in
the kernel. Claims about hardware are judged by a researcher's own tables, in which the Cisco switch is called
``"cisco"`` and every other switch by a name of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from linklab.analysis.sharing import proportional
from linklab.errors import MeasurementError
from linklab.labs.lab10.testbeds import fairness_network, senders
from linklab.network import path
from linklab.network.theory import cable_rtt_ms, serialisation_ms
from linklab.published import publication
from linklab.show.chart import (
    BLACK,
    BLUE,
    BLUISH_GREEN,
    ORANGE,
    chart,
    label_axes,
    legend,
    level,
    panels,
    told_apart,
)
from linklab.study.claims import Judge, Numbers, Quantity, Tables, by_thresholds, compared
from linklab.study.declare import OPENFLOW
from linklab.study.page import Grid, Page, Picture, fixed, significant, spread
from linklab.study.table import StudyTable, Values
from linklab.units import BITS_PER_BYTE, IPV4_HEADER_BYTES, IPV6_HEADER_BYTES
from studies.switches.study import (
    FASTER,
    NONE,
    STUDIES,
    SWITCHES_COST,
    SWITCHES_FAIRNESS,
    SWITCHES_INTERRUPTS,
    SWITCHES_LOADED,
    SWITCHES_RTT,
    SWITCHES_STEP,
    SWITCHES_THROUGHPUT,
    USER,
    additional,
    background,
    ends_of,
    load_of,
    network_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PaperFigure:
    """One of the paper's figures with results, and what its text ``says`` of it, in our words.

    ``offered_percent``: what each sender offers, of the link's rate, a text for each experiment, as ``"70/70"``.
    """

    number: int
    testbed: str
    quantity: str
    communication: str
    rate_mbps: int
    section: str
    says: str
    offered_percent: Sequence[str]

    @property
    def senders(self) -> int:
        """How many senders a figure of shares has."""
        return self.offered_percent[0].count("/") + 1

    @property
    def setting(self) -> str:
        """Return in words where it was measured: ``"layer-3 switch, between VLANs, 10 Mbit/s"``."""
        what = f"{self.senders} senders" if self.offered_percent else _IN_WORDS[self.communication]
        return f"{_IN_WORDS[self.testbed]}, {what}, {self.rate_mbps} Mbit/s"

    def offered(self, percent: str) -> str:
        """Return in Mbit/s what the senders of an experiment offer: ``"7/7"``."""
        return "/".join(significant(float(it) * self.rate_mbps / 100) for it in percent.split("/"))


PUBLISHED: Final = publication("switches")
FIGURES: Final = tuple(PaperFigure(**row) for row in PUBLISHED["figures"])
_IN_WORDS: Final = {
    "l3-switch": "layer-3 switch",
    "router-on-a-stick": "router on a stick",
    "fairness": "fairness",
    "intra-vlan": "within a VLAN",
    "inter-vlan": "between VLANs",
}


def _figure(number: int) -> PaperFigure:
    return next(each for each in FIGURES if each.number == number)


def proportional_shares(offered_mbps: tuple[float, ...], rate_mbps: float) -> tuple[float, ...]:
    """Return what each sender gets of a bottleneck that serves all alike, in Mbit/s: its share of what is offered."""
    total = sum(offered_mbps)
    return tuple(min(1.0, rate_mbps / total) * rate for rate in offered_mbps)


# --- What theory says of round trips and throughput

_IP_HEADER_BYTES: Final = {"ipv4": IPV4_HEADER_BYTES, "ipv6": IPV6_HEADER_BYTES}


def rtt_theory_ms(
    testbed: str, communication: str, rate_mbps: float, payload_bytes: int, protocol: str = "ipv4"
) -> float:
    """Return the round trip of a UDP datagram on an idle network, in ms: serialisation (`cable_rtt_ms`).

    Raises MeasurementError for a testbed, communication or protocol that is none.
    """
    if protocol not in _IP_HEADER_BYTES:
        raise MeasurementError(f"protocol is {protocol!r}: choose one of {', '.join(_IP_HEADER_BYTES)}")
    larger_bytes = _IP_HEADER_BYTES[protocol] - IPV4_HEADER_BYTES
    return cable_rtt_ms(network_of(testbed, rate_mbps), *ends_of(communication), payload_bytes + larger_bytes)


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


# --- The claims

CISCO: Final = "cisco"
_LARGE_BYTES: Final = 1000

Key = tuple[Any, ...]
_PLACE: Final = ("switch", "testbed", "communication", "rate_mbps", "payload_bytes")
_RUN: Final = ("switch", "rate_mbps", "offered_percent", "sender_link_percent", "queue_packets", "pacing")


def _means(table: StudyTable, metric: str, *factors: str, **levels: Any) -> dict[Key, float]:
    return {key: values.mean for key, values in table.each(metric, *factors, **levels).items()}


def _software(found: Mapping[Key, float]) -> dict[Key, float]:
    """Return the values of software switches in a kernel; the switch is the first part of each key."""
    kept = {key: it for key, it in found.items() if key[0] not in (CISCO, USER) and not key[0].startswith(OPENFLOW)}
    if not kept:
        raise MeasurementError("the table has no software switch in a kernel: run the study without --only")
    return kept


def _cisco_and_others(found: Mapping[Key, float]) -> dict[Key, tuple[float, list[float]]]:
    """Return the Cisco switch's value and those of software switches, by the rest of the key."""
    software = _software(found)
    pairs = {
        key[1:]: (value, [it for other, it in software.items() if other[1:] == key[1:]])
        for key, value in found.items()
        if key[0] == CISCO
    }
    pairs = {key: (value, others) for key, (value, others) in pairs.items() if others}
    if not pairs:
        raise MeasurementError(f"the table has no setting with a switch {CISCO!r} and another one: give both")
    return pairs


def _more_percent(value: float, than: float) -> float:
    """Return by how many percent a value is larger than another; infinite if the other is 0."""
    return 100 * (value / than - 1) if than else math.inf if value else 0.0


def _by_name(found: Mapping[Key, float], lacking: str) -> Numbers:
    """Return the numbers by their settings' names. Raises MeasurementError if there are none."""
    if not found:
        raise MeasurementError(f"the table has not {lacking}: run the study without --only")
    return {_named(key): number for key, number in found.items()}


def _between_kinds(found: Mapping[Key, float]) -> Numbers:
    """Return by how many percent kinds of switch, the first part of each key, differ at each setting."""
    groups: dict[Key, list[float]] = {}
    for key, value in found.items():
        groups.setdefault(key[1:], []).append(value)
    apart = {key: _more_percent(max(values), min(values)) for key, values in groups.items() if len(values) > 1}
    return _by_name(apart, "two kinds of switch")


def _cisco(number: Callable[[float, list[float]], float], found: Mapping[Key, float]) -> Numbers:
    """Return what ``number`` makes of the Cisco switch's value and the others' at each setting."""
    return {_named(key): number(mine, others) for key, (mine, others) in _cisco_and_others(found).items()}


def _named(key: Key) -> str:
    return ", ".join(map(str, key))


def _rtts(tables: Tables, **levels: Any) -> dict[Key, float]:
    return _means(tables[SWITCHES_RTT.name], "rtt_mean_ms", *_PLACE, protocol="ipv4", **levels)


def _growth(number: int, tables: Tables) -> Numbers:
    """Return by how many percent round trips grow where the paper's figure does not."""
    from_bytes, to_bytes = PUBLISHED["flat_rtt_payloads"][str(number)]
    published = _figure(number)
    found = _software(_rtts(tables, communication=published.communication, rate_mbps=published.rate_mbps))
    grown = {
        key[:2]: _more_percent(found[*key[:-1], to_bytes], start)
        for key, start in found.items()
        if key[-1] == from_bytes and (*key[:-1], to_bytes) in found
    }
    return _by_name(grown, f"both payloads of {from_bytes} and {to_bytes} bytes")


def _routing_adds(tables: Tables) -> Numbers:
    found = _software(_rtts(tables, testbed="l3-switch"))
    added = {
        (switch, rate, payload): _more_percent(rtt_ms, found[switch, testbed, "intra-vlan", rate, payload])
        for (switch, testbed, communication, rate, payload), rtt_ms in found.items()
        if communication == "inter-vlan" and (switch, testbed, "intra-vlan", rate, payload) in found
    }
    return _by_name(added, "both communications")


def _stick_adds(tables: Tables) -> Numbers:
    found = _software(_rtts(tables, communication="inter-vlan"))
    longer = {
        (switch, rate, payload): _more_percent(rtt_ms, found[switch, "l3-switch", communication, rate, payload])
        for (switch, testbed, communication, rate, payload), rtt_ms in found.items()
        if testbed == "router-on-a-stick" and (switch, "l3-switch", communication, rate, payload) in found
    }
    return _by_name(longer, "both testbeds")


def _throughputs(tables: Tables, **levels: Any) -> dict[Key, float]:
    return _means(tables[SWITCHES_THROUGHPUT.name], "additional_mbps", *_PLACE, **levels)


def _cisco_more(tables: Tables) -> Numbers:
    """Return by how many percent the Cisco switch carries more than the others, where the paper's figures show it."""
    found: dict[Key, float] = {}
    for number, above_bytes in PUBLISHED["cisco_better_above_bytes"].items():
        it = _figure(int(number))
        place = {"testbed": it.testbed, "communication": it.communication, "rate_mbps": it.rate_mbps}
        pairs = _cisco_and_others(_throughputs(tables, **place))
        found |= {
            key: _more_percent(mine, max(others)) for key, (mine, others) in pairs.items() if key[-1] > above_bytes
        }
    return _by_name(found, "larger payloads")


def _all_alike_fast(tables: Tables) -> Numbers:
    found = _throughputs(tables, testbed="l3-switch", communication="intra-vlan", rate_mbps=100)
    _cisco_and_others(found)
    return _between_kinds({key: it for key, it in found.items() if key[0] != USER})


def _off_ten_times(tables: Tables) -> Numbers:
    found = _software(_throughputs(tables, testbed="l3-switch"))
    slow = {(key[0], key[2], key[4]): mbps for key, mbps in found.items() if key[3] == 10}
    fast = {(key[0], key[2], key[4]): mbps for key, mbps in found.items() if key[3] == 100}
    off = {
        key: abs(_more_percent(fast[key], 10 * mbps)) if mbps else math.inf for key, mbps in slow.items() if key in fast
    }
    return _by_name(off, "both rates")


def _stick_full(tables: Tables) -> Numbers:
    found = _throughputs(tables, switch=CISCO, testbed="router-on-a-stick")
    large = {
        key: 100 * mbps / load_of("router-on-a-stick", key[3])["additional_mbps"]
        for key, mbps in found.items()
        if key[-1] >= _LARGE_BYTES
    }
    return _by_name(large, f"a payload of {_LARGE_BYTES} bytes or more")


def _of_senders(table: StudyTable, count: int | None = None, **levels: Any) -> dict[Key, list[Values]]:
    """Return what the senders of each run got in Mbit/s, h1 first; `count`: of runs with so many senders alone."""
    runs: dict[Key, list[Values]] = {}
    senders = [
        f"h{number + 1}"
        for number in range(max(key[2].count("/") + 1 for key in table.each("share_mbps", *_RUN, of="h1", **levels)))
    ]
    for sender in senders:
        for key, values in table.each("share_mbps", *_RUN, of=sender, **levels).items():
            if count in (None, key[2].count("/") + 1):
                runs.setdefault(key, []).append(values)
    if not runs:
        raise MeasurementError(f"the table of study {table.study.name} has no run of {count} senders")
    return runs


def deviations(table: StudyTable, count: int | None = None, **levels: Any) -> dict[Key, list[float]]:
    """Return how far the shares of each run are from being in proportion to what is offered, a number for each repeat.

    It is the largest relative deviation of a sender's share of the sum. Raises MeasurementError where there are no
    such runs, or nothing arrived.
    """
    found = {}
    for key, shares in _of_senders(table, count, **levels).items():
        offered = _offered_percent(key)
        fair = proportional_shares(offered, 100)
        if len(shares) != len(offered):
            raise MeasurementError(f"a fairness run has not the shares of {len(offered)} senders ({_named(key)})")
        if len({it.count for it in shares}) > 1:
            raise MeasurementError(f"a fairness run: not every sender has all repeats ({_named(key)})")
        found[key] = [_deviation(got, fair, key) for got in zip(*(it.values for it in shares), strict=True)]
    return found


def _offered_percent(key: Key) -> tuple[float, ...]:
    try:
        offered = tuple(float(part) for part in key[2].split("/"))
    except ValueError:
        offered = ()
    if not offered or not all(0 < it < math.inf for it in offered):
        raise MeasurementError(f"offered_percent is {key[2]!r}: write numbers above 0, as in 70/70")
    return offered


def _deviation(got: tuple[float, ...], fair: tuple[float, ...], key: Key) -> float:
    if sum(got) <= 0:
        raise MeasurementError(f"nothing arrived in a fairness run ({_named(key)}): the testbed does not work")
    return max(abs(mine / sum(got) / (share / sum(fair)) - 1) for mine, share in zip(got, fair, strict=True))


def _bottleneck(tables: Tables) -> Numbers:
    found = tables[SWITCHES_FAIRNESS.name].each("bottleneck_mbps", *_RUN, rate_mbps=10)
    two = {key: 10 * values.low for key, values in found.items() if key[2].count("/") == 1}
    return _by_name(two, "a run of two senders")


def _off_proportion(tables: Tables, count: int, excepted: tuple[int, str] | None = None, **levels: Any) -> Numbers:
    """Return how far software switches are off proportion in percent, but for runs of one rate and offer."""
    found = deviations(tables[SWITCHES_FAIRNESS.name], count, **levels)
    software = _software({key: 100 * fmean(repeats) for key, repeats in found.items() if key[1:3] != excepted})
    return {_named(key): percent for key, percent in software.items()}


def _unsteady(number: Callable[[float, float], float], tables: Tables) -> Numbers:
    """Return what ``number`` makes of the mean deviation of two senders at 100 and at 10 Mbit/s."""
    fast, slow = (
        fmean(_off_proportion(tables, 2, rate_mbps=rate, sender_link_percent=100).values()) for rate in (100, 10)
    )
    return {f"{fast:.1f} % at 100 Mbit/s and {slow:.1f} % at 10": number(fast, slow)}


def _unfair(tables: Tables) -> dict[Key, tuple[float, list[float]]]:
    """Return the Cisco switch's mean deviation from proportion in percent and the others', by rate."""
    mean: dict[Key, float] = {}
    for rate in (10, 100):
        runs = deviations(tables[SWITCHES_FAIRNESS.name], rate_mbps=rate)
        for switch in dict.fromkeys(key[0] for key in runs):
            mean[switch, rate] = 100 * fmean(it for key, each in runs.items() if key[0] == switch for it in each)
    pairs = _cisco_and_others(mean)
    for rate in (10, 100):
        if (rate,) not in pairs:
            raise MeasurementError(f"the table has no setting with a switch {CISCO!r} at {rate} Mbit/s and another one")
    return pairs


_ASKED_OF: Final[Mapping[str, Quantity]] = {
    "Cisco's RTT more than the others' least (%)": lambda tables: _cisco(
        lambda mine, others: _more_percent(mine, min(others)), _rtts(tables)
    ),
    "others' RTT more than Cisco's at 10 Mbit/s (%)": lambda tables: _cisco(
        lambda mine, others: _more_percent(max(others), mine), _rtts(tables, rate_mbps=10)
    ),
    "RTT between software switches (%)": lambda tables: _between_kinds(_software(_rtts(tables))),
    "growth of the RTT, figure 14 (%)": partial(_growth, 14),
    "growth of the RTT, figure 16 (%)": partial(_growth, 16),
    "routing adds to the RTT (%)": _routing_adds,
    "a router on a stick adds to the RTT (%)": _stick_adds,
    "Cisco's throughput more than the others' most (%)": _cisco_more,
    "throughput between all at 100 Mbit/s (%)": _all_alike_fast,
    "throughput between software switches (%)": lambda tables: _between_kinds(_software(_throughputs(tables))),
    "throughput at 100 Mbit/s off ten times that at 10 (%)": _off_ten_times,
    "Cisco's throughput on a stick, of what is offered (%)": _stick_full,
    "bottleneck used (%)": _bottleneck,
    "two senders off proportion at 10 Mbit/s (%)": lambda tables: _off_proportion(tables, 2, rate_mbps=10),
    "three senders off proportion, but for 8/8/8 at 10 Mbit/s (%)": lambda tables: _off_proportion(
        tables, 3, (10, "80/80/80")
    ),
    "two senders off proportion at 100, times that at 10": partial(
        _unsteady, lambda fast, slow: fast / slow if slow else math.inf if fast else 1.0
    ),
    "two senders off proportion at 100 less that at 10 (points)": partial(_unsteady, lambda fast, slow: fast - slow),
    "Cisco off proportion less the others' most (points)": lambda tables: {
        f"{rate} Mbit/s": mine - max(others) for (rate,), (mine, others) in _unfair(tables).items()
    },
    "Cisco off proportion at 100 less that at 10 (points)": lambda tables: {
        "100 and 10 Mbit/s": (pairs := _unfair(tables))[100,][0] - pairs[10,][0]
    },
}
"""What thresholds are asked of: means of the repeats, by setting."""
JUDGES: Final[Mapping[str, Judge]] = {
    it.id: partial(by_thresholds, it.thresholds, _ASKED_OF) for it in PUBLISHED.claims
}
"""A judge of each claim, by its id."""

# --- Tables and figures

_NAMES: Final[Mapping[str, str]] = {
    "bridge": "Linux bridge",
    "ovs": "Open vSwitch, kernel",
    USER: "Open vSwitch, user space",
    OPENFLOW: "Open vSwitch, learning controller",
    NONE: "no switch, one cable",
}
_SHORT_NAMES: Final = {"bridge": "bridge", "ovs": "OVS", USER: "user"}
_SENDERS: Final = ((BLUE, ""), (ORANGE, "///"), (BLUISH_GREEN, "..."))
_THEORY: Final[dict[str, Any]] = {"color": BLACK, "linestyle": (0, (1, 2)), "linewidth": 1.2, "label": "theory"}
_FAR_MS: Final = 0.1
"""What no switch of ours adds to a round trip while it rests between packets."""
_BARS_INCHES: Final = 4.0

Curves = dict[str, dict[int, Values]]


def _name(switch: str) -> str:
    return _NAMES.get(switch, switch)


# --- Figures 13 to 24: round-trip times and throughput by payload


def _curves(tables: Tables, published: PaperFigure) -> Curves:
    """Return by kind of switch and payload what was measured for one figure, the hardware's numbers after ours."""
    rtt = published.quantity == "rtt"
    study, metric = (SWITCHES_RTT, "rtt_mean_ms") if rtt else (SWITCHES_THROUGHPUT, "additional_mbps")
    levels: dict[str, Any] = {
        "testbed": published.testbed,
        "communication": published.communication,
        "rate_mbps": published.rate_mbps,
    }
    if rtt:
        levels["protocol"] = "ipv4"
    curves: Curves = {}
    for name in (study.name, compared(study.name)):
        if name in tables and len(tables[name].select(**levels)):
            suffix = "" if name == study.name else " (hardware)"
            for (switch, payload), values in tables[name].each(metric, "switch", "payload_bytes", **levels).items():
                curves.setdefault(_name(switch) + suffix, {})[payload] = values
    return curves


def _theory(published: PaperFigure, payload_bytes: int) -> float:
    """Return a round trip in ms by serialisation, or the additional flow in Mbit/s by shares in proportion."""
    theory = rtt_theory_ms if published.quantity == "rtt" else additional_theory_mbps
    return theory(published.testbed, published.communication, published.rate_mbps, payload_bytes)


def _unit(published: PaperFigure) -> tuple[str, int]:
    return ("ms", 3) if published.quantity == "rtt" else ("Mbit/s", 2)


def _payloads(curves: Curves) -> list[int]:
    return sorted({payload for curve in curves.values() for payload in curve})


def _curves_picture(published: PaperFigure, tables: Tables) -> Picture:
    curves, (unit, digits) = _curves(tables, published), _unit(published)
    what = "round trip" if published.quantity == "rtt" else "additional flow"
    alt = f"{what.capitalize()} in {unit} by payload, {published.setting}: " + "; ".join(
        f"{name} {min(means):.{digits}f} to {max(means):.{digits}f}"
        for name, means in ((name, [it.mean for it in curve.values()]) for name, curve in curves.items())
    )

    def draw() -> Figure:
        figure, axes = chart(alt, x="UDP payload (bytes)", y=f"{what} ({unit})")
        for name, curve, style in told_apart(curves, markers=True):
            means = [it.mean for it in curve.values()]
            below = [it.mean - it.low for it in curve.values()]
            above = [it.high - it.mean for it in curve.values()]
            axes.errorbar(list(curve), means, (below, above), label=name, capsize=3, **style)
        payloads = _payloads(curves)
        axes.plot(payloads, [_theory(published, it) for it in payloads], **_THEORY)
        if published.quantity == "throughput":
            offered = load_of(published.testbed, published.rate_mbps)["additional_mbps"]
            level(axes, offered, f"offered: {offered:g}")
        axes.set_xticks(payloads)
        axes.set_ylim(bottom=0)
        legend(axes)
        return figure

    return Picture(f"figure-{published.number}", f"Our figure {published.number}: {published.setting}.", alt, draw)


def _curves_grid(published: PaperFigure, tables: Tables) -> Grid:
    curves, (unit, digits) = _curves(tables, published), _unit(published)
    rows = tuple(
        (
            str(payload),
            fixed(_theory(published, payload), digits),
            *(_ranged(curve[payload], digits) if payload in curve else "" for curve in curves.values()),
        )
        for payload in _payloads(curves)
    )
    columns = ("payload (bytes)", f"theory ({unit})", *(f"{name} ({unit})" for name in curves))
    return Grid(columns, rows, _restless(published, curves) if published.quantity == "rtt" else _count(curves))


def _ranged(values: Values, digits: int) -> str:
    mean, low, high = (fixed(it, digits) for it in (values.mean, values.low, values.high))
    return mean if low == high else f"{mean} ({low} to {high})"


def _count(curves: Curves) -> str:
    counts = {values.count for curve in curves.values() for values in curve.values()}
    return f"Mean of {' or '.join(map(str, sorted(counts)))} seeds, with the least and the largest."


def _restless(published: PaperFigure, curves: Curves) -> str:
    """Return which round trips are made by the lab's clock: far more than serialisation, on an idle network."""
    curve = curves.get(_name(USER), {})
    far = [str(it) for it, values in curve.items() if values.mean - _theory(published, it) > _FAR_MS]
    if not far:
        return ""
    return (
        f"{_name(USER)} at {', '.join(far)} bytes: the switch's program never rested there, and while a program asks "
        "for the time without rest the lab's clock moves on with every question. **These are no times of a switch.**"
    )


def _ipv6_grid(tables: Tables) -> Grid:
    """Return round trips over IPv6 with theory, and how much longer than over IPv4 they are."""
    place = ("testbed", "communication", "rate_mbps", "payload_bytes")
    found = {
        protocol: tables[SWITCHES_RTT.name].each("rtt_mean_ms", "switch", *place, protocol=protocol)
        for protocol in ("ipv6", "ipv4")
    }
    kinds = [switch for switch in dict.fromkeys(key[0] for key in found["ipv6"]) if switch != OPENFLOW]
    rows = [
        (
            *map(str, key),
            fixed(rtt_theory_ms(key[0], key[1], key[2], key[3], "ipv6"), 3),
            *(
                fixed(found["ipv6"][switch, *key].mean, 3) if (switch, *key) in found["ipv6"] else ""
                for switch in kinds
            ),
            fixed(1000 * (found["ipv6"][kinds[0], *key].mean - found["ipv4"][kinds[0], *key].mean), 1),
        )
        for key in dict.fromkeys(key[1:] for key in found["ipv6"] if key[0] == kinds[0])
    ]
    columns = ("testbed", "communication", "rate (Mbit/s)", "payload (bytes)", "theory (ms)",
               *(f"{_name(switch)} (ms)" for switch in kinds), f"{_name(kinds[0])}: more than IPv4 (us)")  # fmt: skip
    return Grid(columns, tuple(rows))


def _loaded_grid(tables: Tables) -> Grid:
    """Return round trips beside the background, between the idle network's and those of random arrivals."""
    table = tables[SWITCHES_LOADED.name]
    factors = ("testbed", "communication", "rate_mbps", "payload_bytes")
    longest = table.each("rtt_max_ms", "switch", *factors)
    rows = tuple(
        (*map(str, (_name(switch), *key)), fixed(rtt_theory_ms(*key), 3), _ranged(values, 3),
         fixed(loaded_rtt_theory_ms(*key), 3), fixed(longest[switch, *key].high, 3))
        for (switch, *key), values in table.each("rtt_mean_ms", "switch", *factors).items()
    )  # fmt: skip
    columns = ("switch", "testbed", "communication", "rate (Mbit/s)", "payload (bytes)", "idle, theory (ms)",
               "loaded, mean (ms)", "random arrivals, theory (ms)", "loaded, longest (ms)")  # fmt: skip
    return Grid(columns, rows)


# --- Figures 25 to 28: shares


def _shares(tables: Tables, study: str, published: PaperFigure) -> dict[str, dict[str, list[Values]]]:
    """Return by kind of switch and setting what each sender gets in Mbit/s."""
    table = tables[study].select(rate_mbps=published.rate_mbps, sender_link_percent=100)
    found: dict[str, dict[str, list[Values]]] = {}
    for sender in range(1, published.senders + 1):
        by_run = table.each("share_mbps", "switch", "offered_percent", of=f"h{sender}")
        for (switch, setting), values in by_run.items():
            if setting in published.offered_percent:
                found.setdefault(switch, {}).setdefault(setting, []).append(values)
    return found


def _shares_picture(published: PaperFigure, tables: Tables) -> Picture:
    """Bars of senders out of step with their range, diamonds of the same ones in step, lines in proportion."""
    alt = f"Shares in Mbit/s, {published.setting}; the numbers stand in the table below it"
    loose, stepped = (_shares(tables, it.name, published) for it in (SWITCHES_FAIRNESS, SWITCHES_STEP))
    settings = [it for it in published.offered_percent if all(it in kind for kind in loose.values())]
    count = published.senders
    wide = 0.86 / (len(loose) * (count + 0.6))

    def draw() -> Figure:
        figure, axes = chart(alt, x="", y="share at t1 (Mbit/s)", height_inches=_BARS_INCHES)
        ticks = {}
        for kind, switch in enumerate(loose):
            starts = [number - 0.43 + kind * (count + 0.6) * wide for number in range(len(settings))]
            for start in starts:
                ticks[start + count * wide / 2] = _SHORT_NAMES.get(switch, switch)
            for sender, (colour, hatch) in enumerate(_SENDERS[:count]):
                at = [start + (sender + 0.5) * wide for start in starts]
                got = [loose[switch][setting][sender] for setting in settings]
                fair = [shares_theory_mbps(setting, published.rate_mbps)[sender] for setting in settings]
                errors = ([it.mean - it.low for it in got], [it.high - it.mean for it in got])
                axes.bar(at, [it.mean for it in got], 0.92 * wide, yerr=errors, color=colour, hatch=hatch, capsize=2,
                         edgecolor="white", label="" if kind else f"h{sender + 1}")  # fmt: skip
                axes.hlines(fair, [it - wide / 2 for it in at], [it + wide / 2 for it in at], color=BLACK,
                            linewidth=1.6, label="" if kind or sender else "in proportion")  # fmt: skip
                if all(setting in stepped.get(switch, {}) for setting in settings):
                    axes.plot(at, [stepped[switch][setting][sender].mean for setting in settings], marker="D",
                              markersize=5, color="white", markeredgecolor=BLACK, linestyle="",
                              label="" if kind or sender else "in exact step")  # fmt: skip
        axes.set_xticks(list(ticks), list(ticks.values()), fontsize=7)
        axes.set_xticks(range(len(settings)), [f"\n{published.offered(it)}" for it in settings], minor=True)
        axes.tick_params(axis="x", which="minor", length=0)
        legend(axes, columns=count + 2)
        return figure

    return Picture(f"figure-{published.number}", f"Our figure {published.number}: {published.setting}.", alt, draw)


def _shares_grid(published: PaperFigure, tables: Tables) -> Grid:
    loose, stepped = (_shares(tables, it.name, published) for it in (SWITCHES_FAIRNESS, SWITCHES_STEP))
    rows = []
    for percent in published.offered_percent:
        cells = [
            published.offered(percent),
            " / ".join(map(significant, shares_theory_mbps(percent, published.rate_mbps))),
        ]
        for switch in loose:
            cells += [
                " / ".join(spread(it, 3) for it in found.get(switch, {}).get(percent, ())) for found in (loose, stepped)
            ]
        rows.append(tuple(cells))
    names = [text for switch in loose for text in (_name(switch), f"{_name(switch)}, in step")]
    counts = {it.count for kind in loose.values() for shares in kind.values() for it in shares}
    note = f"Payload that arrives: mean of {max(counts)} seeds, with the least and the largest; in step, one run."
    return Grid(("offered (Mbit/s)", "in proportion", *names), tuple(rows), note)


def _faster_grid(tables: Tables) -> Grid:
    """Return shares of senders whose own links are as fast as the bottleneck, and of senders with faster links."""
    table = tables[SWITCHES_FAIRNESS.name]
    rows = []
    for setting, rate in table.each(
        "bottleneck_mbps", "offered_percent", "rate_mbps", switch="bridge", sender_link_percent=FASTER
    ):
        run = {"offered_percent": setting, "rate_mbps": rate, "switch": "bridge"}
        got = [
            " / ".join(
                spread(table.lookup("share_mbps", of=f"h{sender}", sender_link_percent=percent, **run), 3)
                for sender in range(1, setting.count("/") + 2)
            )
            for percent in (100, FASTER)
        ]
        rows.append((setting, " / ".join(map(significant, shares_theory_mbps(setting, rate))), *got))
    columns = ("offered (% of the rate)", "in proportion (Mbit/s)", "links of that rate (Mbit/s)",
               "links ten times as fast (Mbit/s)")  # fmt: skip
    return Grid(columns, tuple(rows))


# --- The flat round trip, and the cost of a packet


def _interrupts(tables: Tables) -> dict[int, dict[str, dict[int, float]]]:
    found: dict[int, dict[str, dict[int, float]]] = {}
    measured = tables[SWITCHES_INTERRUPTS.name].each("rtt_mean_ms", "rate_mbps", "cards", "payload_bytes")
    for (rate, cards, payload), values in measured.items():
        found.setdefault(rate, {}).setdefault(cards, {})[payload] = values.mean
    return found


def _interrupts_picture(tables: Tables) -> Picture:
    found = _interrupts(tables)
    rates = " and ".join(map(str, found))
    alt = f"Round trip by payload with {', '.join(next(iter(found.values())))} network cards, at {rates} Mbit/s"

    def draw() -> Figure:
        figure, all_axes = panels(alt, 1, len(found))
        for axes, (rate, curves) in zip(all_axes, found.items(), strict=True):
            for cards, curve, style in told_apart(curves, markers=True):
                axes.plot(list(curve), list(curve.values()), label=cards, **style)
            axes.set_ylim(bottom=0)
            label_axes(axes, f"UDP payload (bytes), {rate} Mbit/s", "round trip (ms)")
            legend(axes)
        return figure

    return Picture("interrupts", "A PC as a switch, with its cards' interrupts held back.", alt, draw)


def _interrupts_grid(tables: Tables) -> Grid:
    found = _interrupts(tables)
    kinds = tuple(next(iter(found.values())))
    rows = tuple(
        (str(rate), str(payload), *(fixed(curves[cards][payload], 3) for cards in kinds))
        for rate, curves in found.items()
        for payload in curves[kinds[0]]
    )
    return Grid(("rate (Mbit/s)", "payload (bytes)", *(f"{cards} (ms)" for cards in kinds)), rows)


def _cost_grid(tables: Tables) -> Grid:
    found = tables[SWITCHES_COST.name].each("cpu_us_per_packet", "switch", "communication", "payload_bytes")
    bare = {payload: values for (switch, _, payload), values in found.items() if switch == NONE}
    rows = tuple(
        (_name(switch), communication, str(payload), fixed(values.mean, 0),
         "" if switch == NONE else fixed(values.mean - bare[payload].mean, 0))
        for (switch, communication, payload), values in found.items()
    )  # fmt: skip
    apart = max(values.high - values.low for values in bare.values())
    note = f"Mean of the repeats. Without a switch they lie up to {apart:.0f} us apart: less is no difference."
    columns = ("switch", "communication", "payload (bytes)", "CPU per datagram (us)", "more than without (us)")
    return Grid(columns, rows, note)


def _measured_points(tables: Tables) -> str:
    """Return how many of each study's points the tables have."""
    done = (
        f"{name} {table.about['points_done']} of {table.about['points']}"
        for name, table in tables.items()
        if "points_done" in table.about
    )
    return ", ".join(done) or "unknown"


def _of_figures(of_curves: Callable, of_shares: Callable) -> dict[str, Callable]:  # type: ignore[type-arg]
    return {f"figure-{it.number}": partial(of_shares if it.quantity == "shares" else of_curves, it) for it in FIGURES}


PAGE: Final = Page(
    name="switches",
    title="Switches: kinds of switch, VLANs and shares",
    studies=STUDIES,
    template=Path(__file__).with_name("page.md"),
    claims=PUBLISHED.claims,
    judges=JUDGES,
    grids={
        **_of_figures(_curves_grid, _shares_grid),
        "ipv6": _ipv6_grid,
        "loaded": _loaded_grid,
        "faster": _faster_grid,
        "interrupts": _interrupts_grid,
        "cost": _cost_grid,
    },
    figures={**_of_figures(_curves_picture, _shares_picture), "interrupts": _interrupts_picture},
    values={"measured_points": _measured_points},
    published={"figures": FIGURES, "inconsistencies": PUBLISHED.inconsistencies},
)
