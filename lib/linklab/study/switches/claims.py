"""The switches study's findings, judged by tables of our studies of it. Pure.

Hardware is not in them: what is about the Cisco switch stays "not testable here", with what we have beside it. The
study's software switches were both in the kernel, so verdicts rest on the Linux bridge and on Open vSwitch's kernel
datapath; what is said of them is said of Open vSwitch in user space besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.published.claims import Claim, Judged, Verdict
from linklab.published.switches_study import CLAIMS
from linklab.study.switches.fairness import DITHERED, EXACT
from linklab.study.switches.rtt import IDLE
from linklab.study.switches.values import (
    FAIRNESS,
    INTERRUPTS,
    RTT,
    THROUGHPUT,
    USER,
    Row,
    Tables,
    deviations,
    in_kernel,
    named,
    spreads,
    values,
)

_ALIKE: Final = 0.10
"""What curves in a figure of that size show as nearly the same."""
_ALMOST_ALL: Final = 0.9
_FLAT: Final = 0.02
_FULL: Final = 0.98
_STEADIER: Final = 1.2
_UNSTEADY: Final = 0.01


def judge_switches(tables: Tables) -> tuple[Judged, ...]:
    """Each of the study's claims with a verdict and the numbers behind it, in the study's order.

    `tables` are those of studies `switches-rtt`, `switches-interrupts`, `switches-throughput` and
    `switches-fairness`, by name. Raises MeasurementError where they lack what a claim is about.
    """
    return tuple(_judge(claim, tables) for claim in CLAIMS)


def _judge(claim: Claim, tables: Tables) -> Judged:
    if not claim.testable:
        beside = _BESIDE.get(claim.id)
        return claim.judged("not testable here", f"{claim.test}; {beside(tables)}" if beside else claim.test)
    verdict, because = _JUDGES[claim.id](tables)
    return claim.judged(verdict, because)


def _alike(found: Mapping[tuple[Any, ...], float], what: str) -> tuple[Verdict, str]:
    kernel, besides = spreads(in_kernel(found)), spreads(found)
    apart = max(besides, key=lambda key: besides[key])
    near = sum(spread <= _ALIKE for spread in kernel.values())
    worst = max(kernel, key=lambda key: kernel[key])
    return (
        _verdict(near >= _ALMOST_ALL * len(kernel)),
        f"within {100 * _ALIKE:.0f} % of each other at {near} of {len(kernel)} {what}; at most "
        f"{100 * kernel[worst]:.1f} % apart ({named(worst)}); with Open vSwitch in user space, whose polling "
        f"moves the lab's clock, up to {100 * besides[apart]:.0f} % ({named(apart)})",
    )


_RTT_KEY: Final = ("switch", "testbed", "communication", "rate_mbps", "payload_bytes")


def _rtts(tables: Tables, **levels: Any) -> dict[tuple[Any, ...], float]:
    return values(tables[RTT], "rtt_mean_ms", _RTT_KEY, background=IDLE, **levels)


def _software_alike_rtt(tables: Tables) -> tuple[Verdict, str]:
    return _alike(_rtts(tables), "settings on an idle network")


def _flat(tables: Tables, from_bytes: int, **levels: Any) -> tuple[Verdict, str]:
    found = in_kernel(_rtts(tables, rate_mbps=100, **levels))
    growths = {}
    for (switch, testbed, communication, rate, payload), rtt_ms in found.items():
        if payload == 1440:
            start = found.get((switch, testbed, communication, rate, from_bytes))
            if start is None:
                raise MeasurementError(f"the table has no payload of {from_bytes} bytes: run {RTT} without --only")
            growths[switch, testbed] = (start, rtt_ms)
    least = min(growths, key=lambda key: growths[key][1] / growths[key][0])
    start, end = growths[least]
    return (
        _verdict(all(end / start - 1 <= _FLAT for start, end in growths.values())),
        f"from {from_bytes} to 1440 bytes it grows by {100 * (end / start - 1):.0f} % or more: {start:.3f} to "
        f"{end:.3f} ms ({named(least)})",
    )


def _flat_intra(tables: Tables) -> tuple[Verdict, str]:
    verdict, because = _flat(tables, 750, communication="intra-vlan")
    cards = values(tables[INTERRUPTS], "rtt_mean_ms", ("cards", "payload_bytes"), rate_mbps=100)
    held = "; ".join(
        f"cards that are {how}: {cards[how, 750]:.3f} to {cards[how, 1440]:.3f} ms"
        for how in ("throttled", "ticking")
        if (how, 750) in cards and (how, 1440) in cards
    )
    return verdict, f"{because}; with interrupts held back for 250 us, {held}" if held else because


def _flat_inter(tables: Tables) -> tuple[Verdict, str]:
    return _flat(tables, 1000, communication="inter-vlan")


def _l3_free(tables: Tables) -> tuple[Verdict, str]:
    found = _rtts(tables, testbed="l3-switch")
    added = {}
    for (switch, testbed, communication, rate, payload), rtt_ms in found.items():
        inside = found.get((switch, testbed, "intra-vlan", rate, payload))
        if communication == "inter-vlan" and inside is not None:
            added[switch, rate, payload] = (rtt_ms - inside, rtt_ms / inside - 1)
    kernel = {key: each for key, each in added.items() if key[0] != USER}
    near = sum(share <= _ALIKE for _, share in kernel.values())
    worst = max(kernel, key=lambda key: kernel[key][0])
    user = [more_ms for (switch, *_), (more_ms, _) in added.items() if switch == USER]
    besides = f"; with Open vSwitch in user space, up to {1000 * max(user):.0f} us" if user else ""
    return (
        _verdict(near >= _ALMOST_ALL * len(kernel)),
        f"it adds {100 * _ALIKE:.0f} % or less at {near} of {len(kernel)} settings; at most "
        f"{1000 * kernel[worst][0]:.1f} us ({named(worst)}){besides}",
    )


def _stick(tables: Tables) -> tuple[Verdict, str]:
    found = in_kernel(_rtts(tables, communication="inter-vlan"))
    ratios = {}
    for (switch, testbed, communication, rate, payload), rtt_ms in found.items():
        inside = found.get((switch, "l3-switch", communication, rate, payload))
        if testbed == "router-on-a-stick" and inside is not None:
            ratios[switch, rate, payload] = rtt_ms / inside
    return (
        _verdict(min(ratios.values()) > 1 + _FLAT),
        f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f} times as long, in all {len(ratios)} settings",
    )


def _throughputs(tables: Tables, **levels: Any) -> dict[tuple[Any, ...], float]:
    return values(tables[THROUGHPUT], "additional_mbps", _RTT_KEY, **levels)


def _software_alike_throughput(tables: Tables) -> tuple[Verdict, str]:
    return _alike(_throughputs(tables), "settings")


def _ten_times(tables: Tables) -> tuple[Verdict, str]:
    found = _throughputs(tables, testbed="l3-switch")
    ratios = {
        (switch, communication, payload): mbps / found[switch, testbed, communication, 10, payload]
        for (switch, testbed, communication, rate, payload), mbps in found.items()
        if rate == 100 and (switch, testbed, communication, 10, payload) in found
    }
    if not ratios:
        raise MeasurementError(f"the table has one rate only: run {THROUGHPUT} without --only")
    kernel, user = in_kernel(ratios), [ratio for key, ratio in ratios.items() if key[0] == USER]
    near = sum(abs(ratio / 10 - 1) <= _ALIKE for ratio in kernel.values())
    besides = f"; Open vSwitch in user space {min(user):.2f} to {max(user):.2f} times" if user else ""
    return (
        _verdict(near >= _ALMOST_ALL * len(kernel)),
        f"{min(kernel.values()):.2f} to {max(kernel.values()):.2f} times, within {100 * _ALIKE:.0f} % of ten at "
        f"{near} of {len(kernel)} settings{besides}",
    )


def _two(tables: Tables) -> list[Row]:
    return [row for row in tables[FAIRNESS] if row["offered_percent"].count("/") == 1]


def _bottleneck_full(tables: Tables) -> tuple[Verdict, str]:
    found = values(_two(tables), "bottleneck_mbps", ("switch", "offered_percent", "pacing"), rate_mbps=10)
    least = min(found, key=lambda key: found[key])
    return _verdict(found[least] >= _FULL * 10), f"{found[least]:.3f} of 10 Mbit/s or more ({named(least)})"


def _proportional(rows: Sequence[Row], **levels: Any) -> tuple[Verdict, str]:
    everything = deviations(rows, pacing=DITHERED, **levels)
    found, user = in_kernel(everything), [each for key, each in everything.items() if key[0] == USER]
    exact = in_kernel(deviations(rows, pacing=EXACT, **levels))
    besides = f"; Open vSwitch in user space, out of step, up to {100 * max(user):.0f} % off" if user else ""
    near = sum(deviation <= _ALIKE for deviation in found.values())
    worst, stepped = (max(each, key=lambda key: each[key]) for each in (found, exact))
    return (
        _verdict(near >= _ALMOST_ALL * len(found)),
        f"senders that keep no step are within {100 * _ALIKE:.0f} % of it in {near} of {len(found)} runs, at most "
        f"{100 * found[worst]:.0f} % off ({worst[2]} on {worst[0]}); in exact step, up to "
        f"{100 * exact[stepped]:.0f} % off ({stepped[2]} on {stepped[0]}){besides}",
    )


def _two_proportional(tables: Tables) -> tuple[Verdict, str]:
    return _proportional(_two(tables), rate_mbps=10)


def _two_unstable(tables: Tables) -> tuple[Verdict, str]:
    mean = {}
    for rate in (10, 100):
        found = in_kernel(deviations(_two(tables), pacing=DITHERED, rate_mbps=rate))
        mean[rate] = sum(found.values()) / len(found)
    kernel = [row for row in _two(tables) if row["switch"] != USER]
    step = values(kernel, "share_mbps", ("of",), pacing=EXACT, rate_mbps=100, offered_percent="30/90")
    return (
        _verdict(mean[100] > _STEADIER * mean[10] and mean[100] - mean[10] > _UNSTEADY),
        f"mean deviation is {100 * mean[100]:.1f} % at 100 Mbit/s and {100 * mean[10]:.1f} % at 10; 30/90 in exact "
        f"step gives {step[('h1',)]:.1f} and {step[('h2',)]:.1f} Mbit/s",
    )


def _three_proportional(tables: Tables) -> tuple[Verdict, str]:
    return _proportional([row for row in tables[FAIRNESS] if row["offered_percent"].count("/") == 2])


def _stick_full_beside(tables: Tables) -> str:
    found = _throughputs(tables, testbed="router-on-a-stick", rate_mbps=10, payload_bytes=1440)
    return f"of 3 Mbit/s arrive {min(found.values()):.2f} to {max(found.values()):.2f} with 1440 bytes"


def _unfair_beside(tables: Tables) -> str:
    exact = in_kernel(deviations(tables[FAIRNESS], pacing=EXACT))
    worst = max(exact, key=lambda key: exact[key])
    return (
        "senders in exact step before a queue that drops its tail get unfair shares of any switch, up to "
        f"{100 * exact[worst]:.0f} % off ({worst[2]} at {worst[1]} Mbit/s on {worst[0]})"
    )


_BESIDE: Final[dict[str, Callable[[Tables], str]]] = {
    "switch-stick-full": _stick_full_beside,
    "switch-cisco-unfair": _unfair_beside,
}
_JUDGES: Final[dict[str, Callable[[Tables], tuple[Verdict, str]]]] = {
    "switch-software-alike-rtt": _software_alike_rtt,
    "switch-flat-rtt-intra": _flat_intra,
    "switch-flat-rtt-inter": _flat_inter,
    "switch-l3-free": _l3_free,
    "switch-stick-rtt": _stick,
    "switch-software-alike-throughput": _software_alike_throughput,
    "switch-ten-times": _ten_times,
    "switch-bottleneck-full": _bottleneck_full,
    "switch-two-proportional": _two_proportional,
    "switch-two-fast-unstable": _two_unstable,
    "switch-three-proportional": _three_proportional,
}


def _verdict(holds: bool) -> Verdict:
    return "confirmed" if holds else "refuted"
