"""What Lab 06, Multiplexing, asks of flows that share links, and how it is judged.

Expectations of measurements come from `linklab.analysis` for the network as it was read back right before each run,
those of predictions from the student's course network. What is asked of the course report's numbers is of its network,
the plain course network.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from linklab.analysis import Expectation, Load, Share, jain_index, measured_path
from linklab.course import course_network
from linklab.grade.check import Check
from linklab.grade.choices import choices
from linklab.grade.path_questions import (
    DATA_BYTES,
    FRAME_BYTES,
    fair_share,
    full_queue_rtt,
    limited,
    packet_ms,
    share_of,
)
from linklab.grade.questions import Judged, OneOf, Question, Slip, Value, among, asked, index_question, stated
from linklab.grade.result import Result, guarded
from linklab.grade.runs import name_of, pings, refused, run_checks, transfers
from linklab.measure import AtOnce
from linklab.network import COURSE, Link, goodput_ceiling_mbps
from linklab.published import report

COMBINATIONS: Final[Mapping[str, tuple[Load, ...]]] = {
    "two": (Load("h1", "h4"), Load("h2", "h5")),
    "three": (Load("h1", "h4"), Load("h2", "h5"), Load("h3", "h6")),
    "crossing": (Load("h1", "h4"), Load("h7", "h9")),
    "apart": (Load("h1", "h4"), Load("h8", "h9")),
}
"""The four combinations of the course report's test case 4, in its order."""
ASKED: Final[Mapping[str, tuple[str, str]]] = {
    "two": ("two", "h1-h4"),
    "three": ("three", "h1-h4"),
    "crossing h1-h4": ("crossing", "h1-h4"),
    "crossing h7-h9": ("crossing", "h7-h9"),
    "apart h1-h4": ("apart", "h1-h4"),
    "apart h8-h9": ("apart", "h8-h9"),
}
"""What predictions are asked for: the combination, and the flow. In the first two all flows are alike."""
_FULL: Final[Mapping[str, tuple[str, str]]] = {
    "h1-h4": ("two", "h1-h4"),
    "h7-h9": ("crossing", "h7-h9"),
    "h8-h9": ("apart", "h8-h9"),
}
_LABELS: Final = ("L1", "L2", "L3")


def _share(name: str, flow: str) -> Share:
    return share_of(COMBINATIONS[name], flow)


def _deciding(share: Share) -> Link:
    assert share.bottleneck is not None
    return share.bottleneck.link


# --- Predictions


@guarded
def check_bottlenecks(bottlenecks: object) -> Result:
    """Judge the link that decides the rate of each flow in `ASKED`: ``{"two": "L1", ...}``."""
    questions = [_bottleneck(key, *where) for key, where in ASKED.items()]
    return asked("Lab 06, the bottlenecks", bottlenecks, questions, '{"two": "L1", ...}')


def _bottleneck(key: str, name: str, flow: str) -> OneOf:
    share = _share(name, flow)
    right, on_it = _deciding(share), {link.label: link for link in limited(share.path)}
    remarks = {}
    for label in _LABELS:
        if label not in on_it:
            remarks[label] = f"the path of {flow} does not cross {label}: follow it in the figure"
        elif (on_it[label].rate_mbps or 0) > (right.rate_mbps or 0):
            remarks[label] = f"{label} is on the path, but another link of it has less to give to each flow"
        else:
            remarks[label] = f"{label} is the slowest when it is empty: what is left of the others when shared?"
    hints = ("what counts is what a link has for one flow", "for each link of the path: its rate over its flows")
    return among(key, f"bottleneck of {flow} ({name})", _LABELS, right.label, remarks, hints)


@guarded
def check_shares(predicted_mbps: object) -> Result:
    """Judge the predicted throughput of each flow in `ASKED`, in Mbit/s: its max-min fair share."""
    questions = [
        fair_share(key, f"throughput of {flow} ({name})", _share(name, flow)) for key, (name, flow) in ASKED.items()
    ]
    return asked("Lab 06, predicted throughput", predicted_mbps, questions, '{"two": 12.3, ...}, in Mbit/s')


@guarded
def check_full_rtt(predicted_ms: object) -> Result:
    """Judge the predicted RTT in ms next to transfers that have just filled the queue, of three flows.

    h1-h4 and h7-h9 next to each other, h8-h9 alone on L3.
    """
    shares = {key: _share(*where) for key, where in _FULL.items()}
    questions = [
        full_queue_rtt(key, f"RTT of {key} with a full queue", share.path, _deciding(share))
        for key, share in shares.items()
    ]
    return asked("Lab 06, predicted RTT", predicted_ms, questions, '{"h1-h4": 12.3, ...}, in ms')


# --- Measurements


@guarded
def check_runs(runs: object) -> Result:
    """Judge the four runs, by the names in `COMBINATIONS`: what `linklab.measure.at_once` returned for each.

    Each must hold its flows with pings next to them, all at one time; the sums, shares and highest round trips must be
    what theory expects of the network as read back.
    """

    def judge(name: str, run: object) -> Iterable[Check]:
        loads = COMBINATIONS[name]
        problem = refused(name, run, loads, with_pings=True)
        if problem is not None or not isinstance(run, AtOnce):
            return () if problem is None else (problem,)
        return run_checks(name, run, course_network(), loads)

    questions = [Judged(name, judge) for name in COMBINATIONS]
    return asked("Lab 06, the four runs", runs, questions, '{"two": measure.at_once(...), ...}')


@guarded
def check_fairness(index: object, runs: object) -> Result:
    """Judge Jain's index of the flows of each run, by the names in `COMBINATIONS`."""
    questions = [_index(name, _run_of(runs, name)) for name in COMBINATIONS]
    return asked("Lab 06, fairness", index, questions, '{"two": jain([...]), ...}')


def _index(name: str, run: AtOnce | None) -> Question:
    if run is None:
        return _unmeasured(name)
    takers = {"round trips": [result.rtt_mean_ms or 0.0 for result in pings(run).values()]}
    takers |= {f"intervals of {name_of(it)}": [one.throughput_mbps for one in it.samples] for it in transfers(run)}
    slips = [
        Slip(jain_index(values), f"that is the index of the {what}", "say first who counts as one: each flow is one x")
        for what, values in takers.items()
        if len(values) > 1 and _can_be_shared(values)
    ]
    rates = [result.throughput_mbps for result in transfers(run)]
    hints = ("an index compares what is divided: what does each flow get?", "one number for each flow of this run")
    return index_question(name, f"Jain's index ({name})", rates, hints, slips)


@guarded
def check_queueing(queueing_ms: object, runs: object) -> Result:
    """Judge the mean queueing delay that h1-h4 met in each run, in ms: its mean RTT less that of the idle path."""
    questions = [_queueing(name, _run_of(runs, name)) for name in COMBINATIONS]
    return asked("Lab 06, queueing delay", queueing_ms, questions, '{"two": 1.2, ...}, in ms')


def _queueing(name: str, run: AtOnce | None) -> Question:
    ping = None if run is None else pings(run).get("h1-h4")
    if ping is None or ping.rtt_mean_ms is None or ping.rtt_max_ms is None:
        return _unmeasured(name)
    mean, highest, floor = ping.rtt_mean_ms, ping.rtt_max_ms, _share(name, "h1-h4").path.rtt_floor_ms
    less = f"take off the {floor:g} ms that the idle path takes"
    slips = (
        Slip(mean, "that is the whole round trip", less),
        Slip(highest, "that is the highest round trip", f"take the mean, and {less}"),
        Slip(highest - floor, "that is the highest, not the mean", "take the mean of the run"),
        Slip((mean - floor) / 2, "that is half of it", "only one direction is full: all of it is met there"),
        Slip(mean - floor / 2, "that takes off one direction only", less),
    )
    hints = (
        "the round trip has the delays of the links in it, which nobody can avoid",
        less,
        f"mean_rtt_ms(run)['h1-h4'] - {floor:g}",
    )
    expected = stated(mean - floor, "ms", "mean RTT less the idle path's")
    return Value(name, f"queueing delay of h1-h4 ({name})", expected, hints, slips)


def _run_of(runs: object, name: str) -> AtOnce | None:
    run = runs.get(name) if isinstance(runs, Mapping) else None
    measured = isinstance(run, AtOnce) and _can_be_shared([it.throughput_mbps for it in transfers(run)])
    return run if measured else None


def _can_be_shared(values: Sequence[float]) -> bool:
    return any(values) and all(math.isfinite(value) and value >= 0 for value in values)


def _unmeasured(name: str) -> Judged:
    reason, hint = "its run is missing", "measure first: run the cell that makes runs"
    return Judged(name, lambda key, _: Check.failing(str(key), reason, hint))


# --- What the course report's numbers say


@guarded
def check_questions(answers: object) -> Result:
    """Judge two numbers that follow from the course report's section 4.6.1, and two questions about queues."""
    every: tuple[Question, ...] = (*_of_the_report(), *choices(Path(__file__).parent))
    return asked("Lab 06, questions", answers, every)


def _of_the_report() -> Iterator[Value]:
    link, rtt_ms = COURSE.link("L2"), report.find(4, "h1-h4", "rtt_ms", test=1).value
    floor, one = measured_path(COURSE, "h1", "h4").rtt_floor_ms, packet_ms(link)
    others, limit, rate = floor - link.delay_ms, link.queue_packets or 0, link.rate_mbps or 0.0
    counted = "those in flight on L2 are in its queue too, as netem counts"
    yield Value(
        "report_frames",
        f"frames in L2's queue on average, if the report's {rtt_ms:g} ms are all delay and queue",
        stated((rtt_ms - others) / one, "frames", "your own function, of the report's RTT"),
        (
            "your own function says how many packets a round trip tells of",
            "put in the report's RTT, with the delays and the rate of the report's network",
            f"({rtt_ms:g} - {others:g}) / (1514 * 8 / {1000 * rate:g})",
        ),
        (
            Slip((rtt_ms - floor) / one, "that leaves out those in flight on L2", counted),
            Slip(rtt_ms / one, "that takes all of the round trip for the queue", "the links have their delays"),
            Slip(limit, "that is the limit that L2 has", "what follows from the RTT is not the limit"),
        ),
    )
    total = sum(row.value for row in report.rows(4, 2) if row.quantity == "throughput_mbps")
    ceiling = goodput_ceiling_mbps(rate)
    beyond = total - ceiling
    allowed = "each of the two numbers may be rounded to two decimals"
    yield Value(
        "report_beyond_mbps",
        "by how much the report's sum of three flows is more than L2 can carry of data",
        Expectation(beyond, beyond - 0.03, beyond + 0.03, "Mbit/s", "the sum less the ceiling", allowance=allowed),
        (
            "these flows are data only, and L2 carries headers as well",
            f"add the three, and compare with what headers leave of {rate:g} Mbit/s",
            f"{total:g} - {rate:g} * {DATA_BYTES} / {FRAME_BYTES}",
        ),
        (
            Slip(total, "that is the sum", "take off what L2 carries of data"),
            Slip(rate - total, "that compares with the rate, headers and all", "these flows are data only"),
            Slip(total / 3, "that is the mean of the three", "add them, then take off what L2 carries"),
            Slip(total / ceiling, "that is a ratio", "take the difference, in Mbit/s"),
        ),
    )
