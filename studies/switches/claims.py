"""The switches paper's findings, judged by measured tables. Pure.

The paper's software switches were both in the kernel, so what is said of software switches is judged by the kinds in
the kernel. Claims about hardware are judged by a researcher's own tables, in which the Cisco switch is called
``"cisco"`` and every other switch by a name of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.published.switches import CISCO_BETTER_ABOVE_BYTES, FLAT_RTT_PAYLOADS, figure, proportional_shares
from linklab.published.switches_loads import load_of
from linklab.study.claims import Finding, Judge, Tables
from linklab.study.declare import OPENFLOW
from linklab.study.table import Table, Values
from studies.switches.study import SWITCHES_FAIRNESS, SWITCHES_RTT, SWITCHES_THROUGHPUT, USER

CISCO: Final = "cisco"
_ALIKE: Final = 0.10
"""What curves in a figure of that size show as nearly the same: an allowance."""
_NEAR: Final = 0.25
"""What a reader calls "not far": an allowance."""
_MOST: Final = 0.9
"""What "almost all" settings are: an allowance."""
_FLAT: Final = 0.02
"""What a figure shows as a line that does not grow: an allowance."""
_FULL: Final = 0.98
_STEADIER: Final = 1.2
_UNSTEADY: Final = 0.01
_LARGE_BYTES: Final = 1000

Key = tuple[Any, ...]
_PLACE: Final = ("switch", "testbed", "communication", "rate_mbps", "payload_bytes")
_RUN: Final = ("switch", "rate_mbps", "offered_percent", "sender_link_percent", "queue_packets", "pacing")


def _means(table: Table, metric: str, *factors: str, **levels: Any) -> dict[Key, float]:
    return {key: values.mean for key, values in table.each(metric, *factors, **levels).items()}


def _software(found: Mapping[Key, float]) -> dict[Key, float]:
    """Return those of software switches in a kernel; the switch is the first part of each key."""
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


def _alike(found: Mapping[Key, float], what: str) -> Finding:
    """Return whether kinds of switch, the first part of each key, are nearly the same in almost all settings."""
    groups: dict[Key, list[float]] = {}
    for key, value in found.items():
        groups.setdefault(key[1:], []).append(value)
    apart = {key: _ratio(max(values), min(values)) - 1 for key, values in groups.items() if len(values) > 1}
    if not apart:
        raise MeasurementError("the table has one kind of switch only: run the study without --only")
    return _mostly(apart, f"within {100 * _ALIKE:.0f} % of each other", what, " apart")


def _mostly(differences: Mapping[Key, float], alike: str, what: str, unit: str = "") -> Finding:
    """Return whether most differences, as shares, are no larger than what is called alike; and the worst of them."""
    near = sum(it <= _ALIKE for it in differences.values())
    worst = max(differences, key=lambda key: differences[key])
    return Finding(
        near >= _MOST * len(differences),
        f"{alike} at {near} of {len(differences)} {what}, at most {100 * differences[worst]:.1f} %{unit} "
        f"({_named(worst)})",
    )


def _ratio(value: float, to: float) -> float:
    """Return how many times as large a value is; of nothing infinitely many."""
    return value / to if to else math.inf if value else 1.0


def _named(key: Key) -> str:
    return ", ".join(map(str, key))


# --- Round-trip times


def _rtts(tables: Tables, **levels: Any) -> dict[Key, float]:
    return _means(tables[SWITCHES_RTT.name], "rtt_mean_ms", *_PLACE, protocol="ipv4", **levels)


def _cisco_rtt(tables: Tables) -> Finding:
    pairs = _cisco_and_others(_rtts(tables))
    lowest = sum(mine <= min(others) for mine, others in pairs.values())
    return Finding(lowest == len(pairs), f"lowest in {lowest} of {len(pairs)} settings")


def _ethernet_near(tables: Tables) -> Finding:
    pairs = _cisco_and_others(_rtts(tables, rate_mbps=10))
    longer = {key: _ratio(max(others), mine) - 1 for key, (mine, others) in pairs.items()}
    worst = max(longer, key=lambda key: longer[key])
    return Finding(longer[worst] <= _NEAR, f"at most {100 * longer[worst]:.0f} % longer ({_named(worst)})")


def _software_alike_rtt(tables: Tables) -> Finding:
    return _alike(_software(_rtts(tables)), "settings on an idle network")


def _flat(number: int) -> Judge:
    from_bytes, to_bytes = FLAT_RTT_PAYLOADS[number]

    def judge(tables: Tables) -> Finding:
        found = _software(_rtts(tables, communication=figure(number).communication, rate_mbps=figure(number).rate_mbps))
        growths = {
            key[:2]: (start, found[*key[:-1], to_bytes])
            for key, start in found.items()
            if key[-1] == from_bytes and (*key[:-1], to_bytes) in found
        }
        if not growths:
            raise MeasurementError(f"the table has not both payloads of {from_bytes} and {to_bytes} bytes")
        grown = {key: _ratio(end, start) - 1 for key, (start, end) in growths.items()}
        worst = max(grown, key=lambda key: grown[key])
        start, end = growths[worst]
        return Finding(
            grown[worst] <= _FLAT,
            f"from {from_bytes} to {to_bytes} bytes it grows by up to {100 * grown[worst]:.0f} %: {start:.3f} to "
            f"{end:.3f} ms ({_named(worst)})",
        )

    return judge


def _l3_free(tables: Tables) -> Finding:
    found = _software(_rtts(tables, testbed="l3-switch"))
    added = {
        (switch, rate, payload): _ratio(rtt_ms, found[switch, testbed, "intra-vlan", rate, payload]) - 1
        for (switch, testbed, communication, rate, payload), rtt_ms in found.items()
        if communication == "inter-vlan" and (switch, testbed, "intra-vlan", rate, payload) in found
    }
    if not added:
        raise MeasurementError("the table has not both communications: run the study without --only")
    return _mostly(added, f"it adds {100 * _ALIKE:.0f} % or less", "settings")


def _stick(tables: Tables) -> Finding:
    found = _software(_rtts(tables, communication="inter-vlan"))
    ratios = {
        (switch, rate, payload): _ratio(rtt_ms, found[switch, "l3-switch", communication, rate, payload])
        for (switch, testbed, communication, rate, payload), rtt_ms in found.items()
        if testbed == "router-on-a-stick" and (switch, "l3-switch", communication, rate, payload) in found
    }
    if not ratios:
        raise MeasurementError("the table has not both testbeds: run the study without --only")
    least, most = min(ratios.values()), max(ratios.values())
    longer = sum(ratio > 1 + _FLAT for ratio in ratios.values())
    return Finding(
        longer == len(ratios),
        f"longer in {longer} of {len(ratios)} settings: {least:.2f} to {most:.2f} times as long",
    )


# --- Throughput


def _throughputs(tables: Tables, **levels: Any) -> dict[Key, float]:
    return _means(tables[SWITCHES_THROUGHPUT.name], "additional_mbps", *_PLACE, **levels)


def _cisco_throughput(tables: Tables) -> Finding:
    best = settings = 0
    for number, above_bytes in CISCO_BETTER_ABOVE_BYTES.items():
        published = figure(number)
        pairs = _cisco_and_others(
            _throughputs(tables, testbed=published.testbed, communication=published.communication,
                         rate_mbps=published.rate_mbps)
        )  # fmt: skip
        large = [pair for key, pair in pairs.items() if key[-1] > above_bytes]
        settings += len(large)
        best += sum(mine > max(others) for mine, others in large)
    return Finding(0 < settings == best, f"highest in {best} of {settings} settings of larger payloads")


def _all_alike_fast(tables: Tables) -> Finding:
    found = _throughputs(tables, testbed="l3-switch", communication="intra-vlan", rate_mbps=100)
    _cisco_and_others(found)
    return _alike({key: it for key, it in found.items() if key[0] != USER}, "payloads")


def _software_alike_throughput(tables: Tables) -> Finding:
    return _alike(_software(_throughputs(tables)), "settings, means of the repeats")


def _ten_times(tables: Tables) -> Finding:
    found = _software(_throughputs(tables, testbed="l3-switch"))
    ratios = {
        (switch, communication, payload): _ratio(mbps, found[switch, testbed, communication, 10, payload])
        for (switch, testbed, communication, rate, payload), mbps in found.items()
        if rate == 100 and (switch, testbed, communication, 10, payload) in found
    }
    if not ratios:
        raise MeasurementError("the table has not both rates: run the study without --only")
    near = sum(abs(ratio / 10 - 1) <= _ALIKE for ratio in ratios.values())
    return Finding(
        near >= _MOST * len(ratios),
        f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f} times, within {100 * _ALIKE:.0f} % of ten at "
        f"{near} of {len(ratios)} settings",
    )


def _stick_full(tables: Tables) -> Finding:
    found = _throughputs(tables, switch=CISCO, testbed="router-on-a-stick")
    shares = {
        key: mbps / load_of("router-on-a-stick", key[3]).additional_mbps
        for key, mbps in found.items()
        if key[-1] >= _LARGE_BYTES
    }
    if not shares:
        raise MeasurementError(f"the table has no payload of {_LARGE_BYTES} bytes or more")
    worst = min(shares, key=lambda key: shares[key])
    return Finding(shares[worst] >= 1 - _ALIKE, f"{100 * shares[worst]:.0f} % of it or more ({_named(worst)})")


# --- Shares


def _of_senders(table: Table, count: int | None = None, **levels: Any) -> dict[Key, list[Values]]:
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


def deviations(table: Table, count: int | None = None, **levels: Any) -> dict[Key, list[float]]:
    """Return how far the shares of each run are from being in proportion to what is offered, a number for each repeat.

    It is the largest relative deviation of a sender's share of the sum. Raises MeasurementError where there are no
    such runs, or nothing arrived.
    """
    found = {}
    for key, senders in _of_senders(table, count, **levels).items():
        offered = _offered_percent(key)
        fair = proportional_shares(offered, 100)
        if len(senders) != len(offered):
            raise MeasurementError(f"a fairness run has not the shares of {len(offered)} senders ({_named(key)})")
        if len({it.count for it in senders}) > 1:
            raise MeasurementError(f"a fairness run: not every sender has all repeats ({_named(key)})")
        found[key] = [_deviation(got, fair, key) for got in zip(*(it.values for it in senders), strict=True)]
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


def _bottleneck_full(tables: Tables) -> Finding:
    found = tables[SWITCHES_FAIRNESS.name].each("bottleneck_mbps", *_RUN, rate_mbps=10)
    two = {key: values.low for key, values in found.items() if key[2].count("/") == 1}
    if not two:
        raise MeasurementError("the table has no run of two senders: run the study without --only")
    least = min(two, key=lambda key: two[key])
    return Finding(two[least] >= _FULL * 10, f"{two[least]:.3f} of 10 Mbit/s or more ({_named(least)})")


def _proportional(count: int, excepted: tuple[int, str] | None = None, **levels: Any) -> Judge:
    """Return a judge of runs of so many senders but for one of a rate and an offer."""

    def judge(tables: Tables) -> Finding:
        found = deviations(tables[SWITCHES_FAIRNESS.name], count, **levels)
        runs = {key: repeats for key, repeats in found.items() if key[1:3] != excepted}
        means = _software({key: fmean(repeats) for key, repeats in runs.items()})
        near = sum(deviation <= _ALIKE for deviation in means.values())
        worst = max(means, key=lambda key: means[key])
        return Finding(
            near >= _MOST * len(means),
            f"within {100 * _ALIKE:.0f} % of it in {near} of {len(means)} settings, at most {100 * means[worst]:.0f} % "
            f"off ({_named(worst[:3])})",
        )

    return judge


def _two_unstable(tables: Tables) -> Finding:
    mean = {}
    for rate in (10, 100):
        runs = deviations(tables[SWITCHES_FAIRNESS.name], 2, rate_mbps=rate, sender_link_percent=100)
        mean[rate] = fmean(_software({key: fmean(repeats) for key, repeats in runs.items()}).values())
    return Finding(
        mean[100] > _STEADIER * mean[10] and mean[100] - mean[10] > _UNSTEADY,
        f"mean deviation from proportion is {100 * mean[100]:.1f} % at 100 Mbit/s and {100 * mean[10]:.1f} % at 10",
    )


def _cisco_unfair(tables: Tables) -> Finding:
    mean: dict[Key, float] = {}
    for rate in (10, 100):
        runs = deviations(tables[SWITCHES_FAIRNESS.name], rate_mbps=rate)
        for switch in dict.fromkeys(key[0] for key in runs):
            mean[switch, rate] = fmean(it for key, repeats in runs.items() if key[0] == switch for it in repeats)
    pairs = _cisco_and_others(mean)
    for rate in (10, 100):
        if (rate,) not in pairs:
            raise MeasurementError(f"the table has no setting with a switch {CISCO!r} at {rate} Mbit/s and another one")
    worst = all(mine > max(others) for mine, others in pairs.values())
    return Finding(
        worst and pairs[100,][0] > pairs[10,][0],
        "mean deviation from proportion: "
        + "; ".join(
            f"{100 * mine:.0f} % at {rate} Mbit/s, others at most {100 * max(others):.0f} %"
            for (rate,), (mine, others) in pairs.items()
        ),
    )


JUDGES: Final[Mapping[str, Callable[[Tables], Finding]]] = {
    "switch-cisco-rtt": _cisco_rtt,
    "switch-ethernet-near": _ethernet_near,
    "switch-software-alike-rtt": _software_alike_rtt,
    "switch-flat-rtt-intra": _flat(14),
    "switch-flat-rtt-inter": _flat(16),
    "switch-l3-free": _l3_free,
    "switch-stick-rtt": _stick,
    "switch-cisco-throughput": _cisco_throughput,
    "switch-all-alike-fast": _all_alike_fast,
    "switch-software-alike-throughput": _software_alike_throughput,
    "switch-ten-times": _ten_times,
    "switch-stick-full": _stick_full,
    "switch-bottleneck-full": _bottleneck_full,
    "switch-two-proportional": _proportional(2, rate_mbps=10),
    "switch-two-fast-unstable": _two_unstable,
    "switch-three-proportional": _proportional(3, excepted=(10, "80/80/80")),
    "switch-cisco-unfair": _cisco_unfair,
}
