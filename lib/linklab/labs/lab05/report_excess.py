"""What a student computes from the course report's numbers: how far they lie from theory, and what explains it.

The theory is that of the report's network, the plain course network.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from linklab.analysis.measured_paths import MeasuredPath, measured_path
from linklab.analysis.tcp_model import bottleneck_hop
from linklab.grade.asked import each
from linklab.grade.check import Check
from linklab.grade.idle_way import computed_check, exactly
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number
from linklab.grade.result import Result, guarded
from linklab.labs.lab05.paths import PATHS
from linklab.network import COURSE, goodput_ceiling_mbps
from linklab.published.report import find

_CROSSED: Final[Mapping[str, tuple[str, ...]]] = {
    "h1-h4": ("L1", "L2"),
    "h7-h9": ("L2", "L3"),
    "h1-h9": ("L1", "L2", "L3"),
}
_PINGS: Final = 25


@guarded
def check_report(answers: object) -> Result:
    """Of the course report's numbers, for each of :data:`PATHS`: ``excess_ms``, ``links_ms``, ``arp_ms``, ``percent``.

    How much its RTT is above theory; how much of that its links had already, one by one; how much ARP at every link
    adds to the mean of 25 pings; and its throughput in percent of the ceiling that headers leave. Each is a dictionary
    by path.
    """
    title = "Lab 05, the report's numbers"
    rules = {"excess_ms": _excess, "links_ms": _links, "arp_ms": _arp, "percent": _percent}

    def checks(key: object, given: object) -> Iterable[Check]:
        example = '{"h1-h4": 1.2, ...}, one number for each path'
        return each(
            str(key), given, PATHS, example, lambda name, value: computed_check(rules[str(key)](str(name)), value)
        ).checks

    return each(title, answers, rules, '{"excess_ms": {"h1-h4": 1.2, ...}, ...}', checks)


def _way(name: str) -> MeasuredPath:
    """The way in the report's network, which is the plain course network whatever the student's is."""
    return measured_path(COURSE, *PATHS[name])


def _excess(name: str) -> Number:
    reported, floor = find(3, name, "rtt_ms").value, _way(name).rtt_floor_ms
    right = reported - floor
    how = "the report's RTT of the path, less theory's"
    mistakes = [
        Mistake(reported - floor / 2, "that takes one way off", "theory's RTT is there and back", 0.005),
        Mistake(100 * right / floor, "that is in percent", "give it in ms"),
        Mistake(reported, "that is the report's RTT", "less theory's", 0.005),
    ]
    return Number(name, f"excess over theory of {name}", exactly(right, "ms", how), mistakes, how)


def _links(name: str) -> Number:
    excess = [_excess_of_link(link) for link in _CROSSED[name]]
    right = sum(excess)
    how = "for each link of the path, the report's RTT (Lab 04) less theory's; add them up"
    mistakes = [
        Mistake(right / len(excess), "that is the mean of the links", "a packet crosses all of them: add up", 0.01),
        Mistake(max(excess), "that is the worst link alone", "a packet crosses all of them: add up", 0.01),
        Mistake(min(excess), "that is the best link alone", "a packet crosses all of them: add up", 0.01),
        Mistake(sum(find(2, link, "rtt_ms").value for link in _CROSSED[name]), "that is the sum of their RTTs",
                "take theory's off", 0.005),
    ]  # fmt: skip
    return Number(name, f"excess of the links of {name}", exactly(right, "ms", how), mistakes, how)


def _excess_of_link(name: str) -> float:
    row = find(2, name, "rtt_ms")
    return row.value - measured_path(COURSE, row.source, row.destination).rtt_floor_ms


def _arp(name: str) -> Number:
    floor = _way(name).rtt_floor_ms
    how = "at each link ARP takes one round trip of that link, once, and 25 pings share it"
    mistakes = [
        Mistake(floor, "that is what the first ping takes longer", "divide by 25: it is one of 25 pings"),
        Mistake(2 * floor / _PINGS, "that has the ping's own time in it", "only what ARP adds, by 25", 0.01),
        Mistake(floor / 2 / _PINGS, "that is one way", "ARP's answer must come back", 0.01),
        Mistake(floor / (_PINGS - 1), "that divides by 24", "the first ping is one of the 25", 0.01),
    ]
    return Number(name, f"what ARP adds to {name}", exactly(floor / _PINGS, "ms", how), mistakes, how)


def _percent(name: str) -> Number:
    reported = find(3, name, "throughput_mbps").value
    nominal = bottleneck_hop(_way(name)).link.rate_mbps or 0.0
    ceiling = goodput_ceiling_mbps(nominal)
    how = "the report's throughput, divided by what headers leave of the bottleneck, times 100"
    mistakes = [
        Mistake(100 * reported / nominal, "that is of the bottleneck's rate", "headers leave 1448 of 1514", 0.004),
        Mistake(reported / ceiling, "that is a share of 1", "multiply by 100 for percent"),
        Mistake(100 - 100 * reported / ceiling, "that is what is missing", "give what is there", 0.02),
        Mistake(100 * ceiling / reported, "that is more than 100 %", "divide the other way round", 0.004),
    ]
    return Number(
        name, f"share of the ceiling, {name}", exactly(100 * reported / ceiling, "%", how), mistakes, how, 0.01
    )
