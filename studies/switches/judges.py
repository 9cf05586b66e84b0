"""Judges of the switches paper's findings.

The paper's software switches were both in the kernel, so what is said of software switches is judged by the kinds in
the kernel. Claims about hardware are judged by a researcher's own tables, in which the Cisco switch is called
``"cisco"`` and every other switch by a name of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.published import publication
from linklab.study.claims import Claims, Judge, Numbers, Quantity, Tables, by_thresholds
from linklab.study.declare import OPENFLOW
from linklab.study.page import significant
from linklab.study.table import StudyTable
from studies.switches.study import SWITCHES_FAIRNESS, SWITCHES_RTT, SWITCHES_THROUGHPUT, USER, load_of


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


def _at_both(found: Mapping[Key, float], factor: str, one: object, other: object) -> dict[Key, tuple[float, float]]:
    """Return the values at two levels of a factor by the rest of the key, for settings that have both."""
    at = _PLACE.index(factor)
    found_at = {level: {(*key[:at], *key[at + 1 :]): it for key, it in found.items() if key[at] == level}
                for level in (one, other)}  # fmt: skip
    return {key: (it, found_at[other][key]) for key, it in found_at[one].items() if key in found_at[other]}


def _growth(number: int, tables: Tables) -> Numbers:
    """Return by how many percent round trips grow where the paper's figure does not."""
    from_bytes, to_bytes = PUBLISHED["flat_rtt_payloads"][str(number)]
    published = _figure(number)
    found = _software(_rtts(tables, communication=published.communication, rate_mbps=published.rate_mbps))
    pairs = _at_both(found, "payload_bytes", to_bytes, from_bytes)
    grown = {key[:2]: _more_percent(*pair) for key, pair in pairs.items()}
    return _by_name(grown, f"both payloads of {from_bytes} and {to_bytes} bytes")


def _routing_adds(tables: Tables) -> Numbers:
    pairs = _at_both(_software(_rtts(tables, testbed="l3-switch")), "communication", "inter-vlan", "intra-vlan")
    return _by_name({(key[0], *key[2:]): _more_percent(*pair) for key, pair in pairs.items()}, "both communications")


def _stick_adds(tables: Tables) -> Numbers:
    pairs = _at_both(_software(_rtts(tables, communication="inter-vlan")), "testbed", "router-on-a-stick", "l3-switch")
    return _by_name({(key[0], *key[2:]): _more_percent(*pair) for key, pair in pairs.items()}, "both testbeds")


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
    pairs = _at_both(_software(_throughputs(tables, testbed="l3-switch")), "rate_mbps", 100, 10)
    off = {
        (key[0], *key[2:]): abs(_more_percent(fast, 10 * slow)) if slow else math.inf
        for key, (fast, slow) in pairs.items()
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


def deviations(table: StudyTable, count: int | None = None, **levels: Any) -> dict[Key, list[float]]:
    """Return how far the shares of each run are from being in proportion to what is offered, a number for each repeat.

    It is the largest relative deviation of a sender's share of the sum; `count`: of runs with so many senders alone.
    Raises MeasurementError where there are no such runs, or nothing arrived.
    """
    shares = table.wide(*_RUN, **levels)
    found: dict[Key, list[float]] = {}
    for key, run in shares[shares["of"] != ""].groupby(list(_RUN), sort=False):
        offered = _offered_percent(key)
        if count not in (None, len(offered)):
            continue
        got = run.pivot(index="repeat", columns="of", values="share_mbps")
        if len(got.columns) != len(offered):
            raise MeasurementError(f"a fairness run has not the shares of {len(offered)} senders ({_named(key)})")
        if got.isna().any(axis=None):
            raise MeasurementError(f"a fairness run: not every sender has all repeats ({_named(key)})")
        senders = [f"h{number}" for number in range(1, len(offered) + 1)]
        fair = proportional_shares(offered, 100)
        found[key] = [_deviation(tuple(it), fair, key) for it in got[senders].to_numpy()]
    if not found:
        raise MeasurementError(f"the table of study {table.study.name} has no run of {count} senders")
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
CLAIMS: Final = Claims(PUBLISHED.claims, JUDGES)
