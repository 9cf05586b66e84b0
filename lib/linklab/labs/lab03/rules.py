"""What Lab 03, UDP bandwidth, asks, and how it is judged: predictions, runs of iperf3, the choice of a rate.

What belongs to networks that nobody knows is in `linklab.labs.lab03.unknown`. Rates are of UDP payload, in Mbit/s, for
datagrams of 1448 bytes. What is expected of a measurement comes from theory for the network as it was read back right
before it, and each interval says what it rests on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from linklab.analysis import Expectation, MeasuredPath, udp_ceiling_mbps, udp_loss_percent, udp_throughput
from linklab.grade.check import Check
from linklab.grade.path_questions import DATA_BYTES, FRAME_BYTES, WEAKEST, limited, path_between
from linklab.grade.questions import Judged, OneOf, Question, Slip, Value, among, asked, stated
from linklab.grade.result import Result, guarded
from linklab.grade.runs import STRAY_PERCENT, in_its_time, unfit, unless_busy
from linklab.measure import UdpResult, verdict_on
from linklab.network import COURSE, NetworkState, bottleneck, payload_rate_mbps
from linklab.units import BITS_PER_BYTE

PAIRS: Final[Mapping[str, tuple[str, str]]] = {"h1-h4": ("h1", "h4"), "h1-h9": ("h1", "h9"), "h7-h9": ("h7", "h9")}
"""The paths of this lab, and the hosts at their ends."""
LOSSES: Final[Mapping[str, tuple[str, float]]] = {
    "h1-h4 at 100 %": ("h1-h4", 100),
    "h1-h4 at 110 %": ("h1-h4", 110),
    "h1-h9 at 110 %": ("h1-h9", 110),
}
"""What `check_losses` asks for: the path, and the rate of payload in percent of its slowest link's rate."""
REPORT_M: Final = 1_048_576
"""What iperf 2 took M for: 2**20 (course report, section 4.3)."""
_REPORT_PAYLOAD_BYTES: Final = 1470
_HEADERS: Final = "of each frame of 1490 bytes Ethernet takes 14, IPv4 20 and UDP 8: 1448 are payload"
_ROUNDED: Final = 0.005
"""By how much a number that is rounded to three digits may be off."""
_EXAMPLE: Final = '{"h1-h4": 12.3, ...}, in Mbit/s'


def _path(name: str, state: NetworkState | None = None) -> MeasuredPath:
    return path_between(*PAIRS[name], state)


def _nominal_mbps(name: str) -> float:
    """The rate of the path's slowest link, headers included."""
    return bottleneck(_path(name).forward).rate_mbps or 0.0


# --- Predictions


@guarded
def check_bottlenecks(bottlenecks: object) -> Result:
    """Judge the name of the slowest link of each path in `PAIRS`: ``{"h1-h4": "L1", ...}``."""
    questions = [_bottleneck(name) for name in PAIRS]
    return asked("Lab 03, the bottlenecks", bottlenecks, questions, '{"h1-h4": "L1", ...}')


def _bottleneck(name: str) -> OneOf:
    path = _path(name)
    right = bottleneck(path.forward).label
    on_it = [link.label for link in limited(path)]
    faster = dict.fromkeys((label for label in on_it if label != right), "another link of this path is slower")
    hints = (WEAKEST, f"compare the rates of {', '.join(on_it)} in the figure: which one is the least?")
    return among(name, f"bottleneck of {name}", on_it, right, faster, hints)


@guarded
def check_ceilings(predicted_mbps: object) -> Result:
    """Judge the predicted highest rate of payload of each path in `PAIRS`, in Mbit/s."""
    return asked("Lab 03, predicted bandwidth", predicted_mbps, [_ceiling(name) for name in PAIRS], _EXAMPLE)


def _ceiling(name: str) -> Value:
    path = _path(name)
    rates, narrow = [link.rate_mbps or 0.0 for link in limited(path)], _nominal_mbps(name)
    payload = payload_rate_mbps(1.0)
    slips = [
        Slip(narrow, "that is the rate of the slowest link, headers included", _HEADERS),
        Slip(narrow / BITS_PER_BYTE, "that looks like MByte/s, headers included", f"a byte has 8 bits; {_HEADERS}"),
        Slip(narrow * DATA_BYTES / FRAME_BYTES, "that is the payload of TCP", "how large is UDP's header?"),
        Slip(narrow / payload, "that is more than the link carries", "headers take their part: payload is less"),
    ]
    for factor, less in ((1.0, ""), (payload, ", less headers")):
        slips += [
            Slip(factor * sum(rates), f"that is the sum of the links' rates{less}", WEAKEST),
            Slip(factor * sum(rates) / len(rates), f"that is the mean of the links' rates{less}", WEAKEST),
            *(Slip(factor * rate, f"that is for a link of {rate:g}{less}", WEAKEST) for rate in rates if rate > narrow),
        ]
    hints = (
        "a path carries what its slowest link carries, and headers take a part of each frame",
        _HEADERS,
        f"{narrow:g} * 1448 / 1490",
    )
    expected = stated(udp_ceiling_mbps(path), "Mbit/s", "what headers leave of the slowest link")
    return Value(name, f"bandwidth of {name}", expected, hints, slips)


@guarded
def check_losses(predicted_percent: object) -> Result:
    """Judge the predicted loss for each of `LOSSES`, in percent of what is sent."""
    questions = [_loss(key, *LOSSES[key]) for key in LOSSES]
    return asked("Lab 03, predicted loss", predicted_percent, questions, '{"h1-h4 at 100 %": 1.5, ...}, in percent')


def _loss(key: str, name: str, percent: float) -> Value:
    fits_mbps, nominal_mbps = udp_ceiling_mbps(_path(name)), _nominal_mbps(name)
    sent_mbps = percent / 100 * nominal_mbps
    right = 100 * (1 - fits_mbps / sent_mbps)
    of_sent = "loss is a share of what was sent"
    slips = (
        Slip(100 * (1 - nominal_mbps / sent_mbps), "that leaves out the headers", f"they must fit too: {_HEADERS}"),
        Slip(100 * (sent_mbps / fits_mbps - 1), "that is the share of what fits", of_sent),
        Slip(100 * (sent_mbps / nominal_mbps - 1), "that is the share of the link's rate", of_sent),
        Slip(sent_mbps - fits_mbps, "that is what is lost in Mbit/s", of_sent),
    )
    hints = (
        "what does not fit is lost, and what fits is the bandwidth that you predicted",
        f"{sent_mbps:g} Mbit/s of payload are sent: how many of them are too much, and which share of all is that?",
        "100 * (sent - bandwidth) / sent",
    )
    half = 100 * _ROUNDED * fits_mbps / sent_mbps
    expected = Expectation(
        right, right - half, right + half, "%", "what does not fit, of what is sent",
        allowance="what rounding the predicted bandwidth to three digits makes of it",
    )  # fmt: skip
    return Value(key, f"loss from {key}, {sent_mbps:g} Mbit/s", expected, hints, slips)


# --- Measurements


@guarded
def check_overload(results: object) -> Result:
    """Judge what iperf3 measured on each path at 110 % of its slowest link's rate.

    ``results`` are those of `linklab.measure.run`, by the names in `PAIRS`. The loss must be that of theory for the
    network as read back, less what its queue swallows. In real time, on a busy machine: inconclusive.
    """
    questions = [Judged(name, _overloaded) for name in PAIRS]
    return asked("Lab 03, sending too much", results, questions, "the results, one for each path: {...}")


def _overloaded(name: str, value: object) -> Check:
    what = f"{name} at 110 %"
    problem = _unfit(what, value, name)
    if problem is not None or not isinstance(value, UdpResult):
        return problem or Check.failing(what, "not measured yet", "measure it")
    sent_mbps = value.flow.rate_mbps
    if abs(sent_mbps / (1.1 * _nominal_mbps(name)) - 1) > 0.005:
        reason = f"it was sent at {sent_mbps:g} Mbit/s"
        return Check.failing(what, reason, "110 % of the slowest link's rate: which rate is that?", found=reason)
    path = _path(name, value.origin.network)
    expected = _as_sent(udp_loss_percent(path, sent_mbps, value.flow.duration_s), path, value)
    expected = in_its_time(expected, value.fidelity, path)
    found = f"{value.loss_percent:.2f} % lost"
    wanted = f"{expected.low:.3g} to {expected.high:.3g} % lost (theory: {expected.value:.3g} %)"
    if expected.holds(value.loss_percent):
        return Check.passing(what, wanted, found)
    side = "more" if value.loss_percent > expected.high else "less"
    hint = "is other traffic on the path, or was the network changed? Start it again and measure alone"
    failed = Check.failing(what, f"{found}, which is {side} than theory allows", hint, wanted, found)
    return unless_busy(failed, verdict_on(value).trouble)


def _unfit(what: str, value: object, name: str) -> Check | None:
    how = "fill in this path, run the cells that measure again, and give the result that sent_at returned"
    return unfit(what, value, UdpResult, how, PAIRS[name])


def _as_sent(expected: Expectation, path: MeasuredPath, result: UdpResult) -> Expectation:
    """In real time a sender may wake too late to send all that it was asked for, and then less of it is too much."""
    came_mbps = result.sent_mbps
    if result.origin.clock == "virtual" or not 0 < came_mbps < result.flow.rate_mbps:
        return expected
    low = min(expected.low, udp_loss_percent(path, came_mbps, result.duration_s).low)
    why = f"{expected.why}; in real time {came_mbps:.4g} of {result.flow.rate_mbps:g} Mbit/s were sent"
    return replace(expected, low=low, why=why)


@guarded
def check_bandwidth(bandwidth_mbps: object, results: object) -> Result:
    """Judge the bandwidth of each path in `PAIRS` as the student reads it from ``results``, in Mbit/s.

    ``results`` are those of `check_overload`. The number must be what theory expects to arrive.
    """
    given = results if isinstance(results, Mapping) else {}
    questions = [_arrived(name, given.get(name)) for name in PAIRS]
    return asked("Lab 03, measured bandwidth", bandwidth_mbps, questions, _EXAMPLE)


def _arrived(name: str, result: object) -> Question:
    problem = _unfit(f"measured bandwidth of {name}", result, name)
    if problem is not None or not isinstance(result, UdpResult):
        missing = problem or Check.failing(name, "not measured yet", "measure it")
        return Judged(name, lambda _, __: missing)
    sent_mbps, path = result.flow.rate_mbps, _path(name, result.origin.network)
    theory = udp_throughput(path, sent_mbps, result.flow.duration_s)
    # what was sent is no right answer, however wide the interval
    high = max(theory.value * 1.003, min(theory.high, (theory.value + sent_mbps) / 2))
    expected = in_its_time(replace(theory, high=high), result.fidelity, path)
    arrived = "what was measured is what arrived: which of the result's numbers is that?"
    slips = (
        Slip(sent_mbps, "that is the rate that you sent at, and a part of it was lost", arrived),
        Slip(result.sent_mbps, "that is what was sent, and a part of it was lost", arrived),
        Slip(sum(link.rate_mbps or 0.0 for link in limited(path)), "that is the sum of the links' rates", arrived),
        Slip(sent_mbps - result.throughput_mbps, "that is what was lost", arrived),
    )
    # on a busy machine half may arrive, and so half be lost: what arrived is no slip
    others = [slip for slip in slips if not math.isclose(slip.value, result.throughput_mbps, rel_tol=0.1)]
    hints = (
        "send more than fits, and what comes out at the end is what the path carries",
        arrived,
        f'overload["{name}"].throughput_mbps',
    )
    trouble = verdict_on(result).trouble
    return Value(name, f"bandwidth of {name}", expected, hints, others, trouble=trouble, shown=True)


_ENOUGH: Final = 0.97


@guarded
def check_chosen(results: object) -> Result:
    """Judge the rates that the student chose: nothing lost, and at least 97 % of what each path carries.

    ``results`` are those of `linklab.measure.run` at these rates, by the names in `PAIRS`. In real time a loss of less
    than `STRAY_PERCENT` is none: a rate below the path's fills no queue, a late timer may.
    """
    questions = [Judged(name, _chosen) for name in PAIRS]
    return asked("Lab 03, the rates you chose", results, questions, "the results, one for each path: {...}")


def _chosen(name: str, result: object) -> Check:
    what = f"rate chosen for {name}"
    problem = _unfit(what, result, name)
    if problem is not None or not isinstance(result, UdpResult):
        return problem or Check.failing(what, "not measured yet", "measure it")
    rate_mbps, ceiling_mbps = result.flow.rate_mbps, udp_ceiling_mbps(_path(name, result.origin.network))
    wanted = f"nothing lost, and at least {100 * _ENOUGH:g} % of the bandwidth"
    found = f"{rate_mbps:g} Mbit/s, {result.lost_packets} of {result.sent_packets} packets lost"
    if rate_mbps > ceiling_mbps:
        reason = f"{rate_mbps:g} Mbit/s is more than the path carries"
        hint = "a short test hides it in the queue: choose a rate below the bandwidth that you predicted"
        return Check.failing(what, reason, hint, wanted, found)
    if result.loss_percent > (0.0 if result.origin.clock == "virtual" else STRAY_PERCENT):
        failed = Check.failing(what, found, "choose a lower rate", wanted, found)
        return unless_busy(failed, verdict_on(result).trouble)
    if rate_mbps < _ENOUGH * ceiling_mbps:
        reason = f"{rate_mbps:g} Mbit/s uses {100 * rate_mbps / ceiling_mbps:.0f} % of what the path carries"
        return Check.failing(what, reason, "go higher, as long as nothing is lost", wanted, found)
    return Check.passing(what, wanted, found)


# --- The report's numbers


@guarded
def check_questions(answers: object) -> Result:
    """Judge three numbers: two about the course report's table 4.3.1, one about the queue of L2."""
    questions = (_iperf2_m(), _report_loss(), _extra_packets())
    return asked("Lab 03, questions", answers, questions, '{"iperf2_m": 123, ...}')


def _iperf2_m() -> Value:
    slips = (
        Slip(1e6, "then 25M would have given 25", "which power of 2 is near a million?"),
        Slip(1024, "that is a K", "M is a K of K"),
        Slip(1_024_000, "then 25M would have given 25.6", "are both steps of a thousand 1024?"),
        Slip(REPORT_M / 1e6, "that is the ratio to a million", "give the number of bits that M stands for"),
    )
    hints = (
        "a tool may mean a power of 2 where others mean a power of 10",
        "how many bit/s arrived for each M that was asked for?",
        "26.2 / 25 * 1,000,000 is near 2**20",
    )
    return Value("iperf2_m", "iperf 2's M", stated(REPORT_M, "bit/s", "2**20", digits=4), hints, slips)


def _report_loss() -> Value:
    # the report's network is the plain course network, whatever the student's is
    rate_mbps = COURSE.link("L2").rate_mbps or 0.0
    fits_mbps, sent_mbps = payload_rate_mbps(rate_mbps, _REPORT_PAYLOAD_BYTES), 30 * REPORT_M / 1e6
    of_sent = "loss is a share of what was sent"
    slips = (
        Slip(100 * (1 - rate_mbps / sent_mbps), "that leaves out the headers", "what part of a frame is payload?"),
        Slip(100 * (1 - fits_mbps / rate_mbps), "that takes M for a million", "30M sent more than 30 Mbit/s"),
        Slip(100 * (sent_mbps / fits_mbps - 1), "that is a share of what fits", of_sent),
    )
    hints = (
        "what was sent and does not fit is lost",
        "30 times iperf 2's M was sent, and of 30 Mbit/s 1470 of 1512 bytes are payload",
        "100 * (1 - 30 * 1470 / 1512 / (30 * 1.048576))",
    )
    expected = stated(100 * (1 - fits_mbps / sent_mbps), "%", "what does not fit, of what was sent")
    return Value("report_loss", "loss in percent, sent at 30M", expected, hints, slips)


def _extra_packets() -> Value:
    rate_mbps = _nominal_mbps("h1-h4")
    fits_mbps = payload_rate_mbps(rate_mbps)

    def packets(mbps: float, size_bytes: int = DATA_BYTES) -> float:
        return mbps * 1e6 / BITS_PER_BYTE / size_bytes

    right, sent, half = packets(rate_mbps - fits_mbps), packets(rate_mbps), packets(_ROUNDED * fits_mbps)
    slips = (
        Slip(sent / 1000, "that is far too few", "how many bits are a Mbit, and a packet?"),
        Slip(sent, "that is all that was sent", "some of them fit"),
        Slip(sent - right, "that is what L2 carries", "how many more were sent?"),
    )
    hints = (
        "what is sent beyond what a link carries waits in its queue, or is lost",
        f"what does L2 carry of payload, of {rate_mbps:g} Mbit/s? What is too much comes in packets of 1448 bytes",
        "(rate - bandwidth) * 1,000,000 / (1448 * 8)",
    )
    expected = Expectation(
        right, right - half, right + half, "packets", "what does not fit, in packets",
        allowance="what rounding the predicted bandwidth to three digits makes of it",
    )  # fmt: skip
    return Value("extra_packets", "packets beyond what L2 carries, in 1 s", expected, hints, slips)
