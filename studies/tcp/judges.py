"""What theory expects of TCP versions in the fairness testbed, and judges of our own claims about them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from statistics import fmean
from typing import Any, Final

from linklab.network import goodput_ceiling_mbps, path, rtt_floor_ms
from linklab.network.theory import packet_ms
from linklab.published import Claim, Threshold
from linklab.study.claims import (
    Claims,
    Finding,
    MeanDifference,
    Outcome,
    Quantity,
    Tables,
    by_repeat,
    by_thresholds,
    difference,
    every,
    numbered,
)
from linklab.study.declare import Point
from linklab.study.table import StudyTable, Values
from studies.tcp.study import KERNEL, KNOWN, LATER, MIXED, TCP, TOGETHER, VERSIONS, testbed

NAMES: Final = {"reno": "Reno", "cubic": "CUBIC", "bbr": "BBR", "vegas": "Vegas"}
QUEUES: Final = (100, 10)
LINKS: Final = {100: "links alike", 1000: "senders' links ten times as fast"}
_EVEN_PERCENT: Final = 10
"""What the switches study allows a share to be off (`studies/switches/published.toml`)."""
_MODEL_POINTS: Final = 10
"""How far a share may be from the model, which is one of long times and leaves out single losses."""
_H3_AND_SUM: Final = (("share_mbps", "h3"), ("sum_mbps", ""))


def _path(queue_packets: int, link_percent: int) -> Any:
    levels = (("switch", "bridge"), ("versions", MIXED), ("queue_packets", queue_packets))
    return path(testbed(Point(TCP.name, (*levels, ("sender_link_percent", link_percent)))).network, "h1", "t1")


CEILING_MBPS: Final = goodput_ceiling_mbps(_path(100, 100))


def of_four(table: StudyTable, metric: str, version: str, switch: str, start: str = TOGETHER, of: str = "") -> Values:
    """Return a metric of four senders of one version in all repeats."""
    return table.lookup(metric, of=of, versions="/".join([version] * 4), switch=switch, start=start)


def furthest_percent(table: StudyTable, version: str, switch: str, start: str = TOGETHER) -> Values:
    """Return by how many percent of a quarter the share that is furthest from it is off, in each repeat."""
    setting = ("share_mbps", version, switch, start)
    runs = by_repeat([of_four(table, *setting, of=f"h{number}") for number in (1, 2, 3, 4)])
    return Values(tuple(max(100 * abs(it / fmean(run) - 1) for it in run) for run in runs))


def cubic_percent(table: StudyTable, queue_packets: int, link_percent: int) -> Values:
    """Return CUBIC's share beside BBR of what both carry, in percent, in each repeat."""
    mine = table.select(versions=MIXED, queue_packets=queue_packets, sender_link_percent=link_percent)
    runs = by_repeat([mine.lookup("share_mbps", of=sender) for sender in ("h1", "h2")])
    return Values(tuple(100 * cubic / (bbr + cubic) for bbr, cubic in runs))


def idle_rtt_ms(link_percent: int) -> float:
    """Return the round trip of a full segment and its acknowledgement where no queue is."""
    there = _path(QUEUES[0], link_percent)
    return (rtt_floor_ms(there, 1500) + rtt_floor_ms(there, 52)) / 2


def model_percent(queue_packets: int, link_percent: int) -> float:
    """Return what a model leaves CUBIC beside one BBR connection, in percent of the link.

    R. Ware, M. Mukerjee, S. Seshan, J. Sherry, "Modeling BBR's Interactions with Loss-Based Congestion Control", IMC
    2019, equations 9 to 11. BBR keeps under way twice its rate times the round trip that it knows, which it measures
    every 10 s with four packets under way: what CUBIC has in the queue then counts as the path's own. Of a queue of q
    packets, X times what the path holds, CUBIC keeps ``p = 1/2 - 1/(2X) - 4/q``. While BBR measures, all is CUBIC's:
    until a full queue is empty, 200 ms, and a round trip.
    """
    round_trip_ms, each_ms = idle_rtt_ms(link_percent), packet_ms(_path(queue_packets, link_percent).hops[-1])
    kept = max(0.0, 0.5 - round_trip_ms / each_ms / (2 * queue_packets) - 4 / queue_packets)
    silent_ms = queue_packets * each_ms + 200 + round_trip_ms
    return 100 * (1 - (1 - kept) * (1 - silent_ms / 10_000))


def _even(version: str, tables: Tables) -> Any:
    return numbered({kind: furthest_percent(tables[TCP.name], version, kind) for kind in KERNEL})


def _later(tables: Tables) -> Any:
    h3, total = (of_four(tables[TCP.name], it, "vegas", "bridge", LATER, of) for it, of in _H3_AND_SUM)
    return [{"h3": 100 * (mine / (all_ / 4) - 1)} for mine, all_ in by_repeat([h3, total])]


def _full(tables: Tables) -> Any:
    settings = [(version, kind) for version in VERSIONS for kind in KERNEL]
    each = {f"{NAMES[it[0]]}, {it[1]}": of_four(tables[TCP.name], "sum_mbps", *it) for it in settings}
    return numbered(each, lambda _, mbps: 100 * mbps / CEILING_MBPS)


def _off_model(link_percent: int, tables: Tables) -> Any:
    found = {f"{queue} packets": cubic_percent(tables[TCP.name], queue, link_percent) for queue in QUEUES}
    model = {f"{queue} packets": model_percent(queue, link_percent) for queue in QUEUES}
    return numbered(found, lambda name, percent: abs(percent - model[name]))


def _kinds_alike(tables: Tables) -> Finding:
    """Judge whether the means of the furthest shares on the kernel's two kinds lie near each other, by version."""
    both = {it: [furthest_percent(tables[TCP.name], it, kind) for kind in KERNEL] for it in VERSIONS}
    apart = {version: difference(*values) for version, values in both.items()}
    told = ", ".join(f"{NAMES[version]} {it}" for version, it in apart.items())
    return Finding(every(map(_near, apart.values())), f"furthest share, bridge less ovs, in points: {told}")


def _near(apart: MeanDifference) -> Outcome:
    """Return whether an interval lies within what a share may be off; None if only a part of it does."""
    if apart.low > _EVEN_PERCENT or apart.high < -_EVEN_PERCENT:
        return False
    return True if apart.low >= -_EVEN_PERCENT and apart.high <= _EVEN_PERCENT else None


_OFF: Final = "; the furthest {mean:.0f} % off ({low:.0f} to {high:.0f})"
_ASKED_OF: Final[Mapping[str, Quantity]] = {
    **{f"{NAMES[it]}, share furthest from a quarter (%)": partial(_even, it) for it in VERSIONS},
    "Vegas, share furthest from a quarter where flows are known (%)": lambda tables: numbered(
        {KNOWN: furthest_percent(tables[TCP.name], "vegas", "ovs", KNOWN)}
    ),
    "Vegas, share of h3 above a quarter (%)": _later,
    "data of what the link can carry (%)": _full,
    **{f"CUBIC's share off the model, {name} (points)": partial(_off_model, it) for it, name in LINKS.items()},
}


def _claim(name: str, says: str, test: str, by: Threshold) -> Claim:
    return Claim(f"tcp-{name}", says, "ours", "either", test, thresholds=(by,))


_FOUR: Final = "shares of four, the last 16 of 24 s"
_CLAIMS: Final = (
    *(
        _claim(
            f"even-{it}", f"Four {NAMES[it]} senders share evenly on both switches.", _FOUR,
            Threshold(f"{NAMES[it]}, share furthest from a quarter (%)", "<=", _EVEN_PERCENT, _OFF, "apart"),
        )
        for it in VERSIONS
    ),
    _claim(
        "known", "Four Vegas senders share evenly on Open vSwitch that knows their flows.", _FOUR,
        Threshold("Vegas, share furthest from a quarter where flows are known (%)", "<=", _EVEN_PERCENT, _OFF, "apart"),
    ),
    _claim(
        "later", "With Vegas on the bridge, a sender that starts 50 ms later gets half as much again or more.", _FOUR,
        Threshold("Vegas, share of h3 above a quarter (%)", ">=", 50, "{:.0f} % more at least ({})"),
    ),
    _claim(
        "full", "Whichever version four senders have, they fill 98 % of the link.", "sum of four, the last 16 of 24 s",
        Threshold("data of what the link can carry (%)", ">=", 98, "{:.1f} % or more ({})"),
    ),
    *(
        _claim(
            f"model-{it}", f"Beside BBR, CUBIC is within {_MODEL_POINTS} points of the model; {name}.",
            "the last 30 of 45 s",
            Threshold(
                f"CUBIC's share off the model, {name} (points)", "<=", _MODEL_POINTS,
                "; {mean:.0f} off ({low:.0f} to {high:.0f})", "apart",
            ),
        )
        for it, name in LINKS.items()
    ),
)  # fmt: skip
_KINDS: Final = Claim(
    "tcp-kinds", f"The kind of switch moves no version's furthest share by more than {_EVEN_PERCENT} points.", "ours",
    "either", f"difference of means within {_EVEN_PERCENT} points, for each version",
)  # fmt: skip
CLAIMS: Final = Claims(
    (*_CLAIMS, _KINDS),
    {**{it.id: partial(by_thresholds, it.thresholds, _ASKED_OF) for it in _CLAIMS}, _KINDS.id: _kinds_alike},
)
