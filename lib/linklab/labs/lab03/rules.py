"""The checks of Lab 03, UDP bandwidth: predictions, measurements with iperf3, the choice of a rate, questions.

What belongs to networks that nobody knows is in :mod:`linklab.labs.lab03.unknown`, and offered here as well.

Each function returns a :class:`~linklab.grade.result.Result`. Rates are of UDP payload, in Mbit/s, for datagrams of
1448 bytes. What is expected of a measurement comes from theory for the network as it was read back right before it
(`linklab.analysis.expectation`), and each interval says what it rests on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from linklab.analysis.expectation import udp_ceiling_mbps, udp_loss_percent, udp_throughput
from linklab.analysis.measured_paths import MeasuredPath, measured_path
from linklab.course import course_network
from linklab.grade.check import Check
from linklab.grade.measured import measured_check
from linklab.grade.numbers import Mistake, Quantity, prediction_check
from linklab.grade.real_time import in_its_time
from linklab.grade.result import Result, guarded
from linklab.labs.lab03.datagrams import as_sent, chosen_check, loss_check, problem_of
from linklab.measure import verdict_on
from linklab.network import COURSE, NetworkState, bottleneck, payload_rate_mbps

PAIRS: Final[Mapping[str, tuple[str, str]]] = {"h1-h4": ("h1", "h4"), "h1-h9": ("h1", "h9"), "h7-h9": ("h7", "h9")}
"""The paths of this lab, and the hosts at their ends."""
LOSSES: Final[Mapping[str, tuple[str, float]]] = {
    "h1-h4 at 100 %": ("h1-h4", 100),
    "h1-h4 at 110 %": ("h1-h4", 110),
    "h1-h9 at 110 %": ("h1-h9", 110),
}
"""What :func:`check_losses` asks for: the path, and the rate of payload in percent of its slowest link's rate."""
REPORT_M: Final = 1_048_576
"""What iperf 2 took M for: 2**20 (course report, section 4.3)."""
_REPORT_PAYLOAD_BYTES: Final = 1470
_PAYLOAD_BYTES: Final = 1448
_HEADERS: Final = "multiply by payload over frame: 1448 of the 1490 bytes of a frame are what iperf3 counts"
_WEAKEST: Final = "the slowest link of a path decides: look up its links in the figures"


@guarded
def check_bottlenecks(bottlenecks: object) -> Result:
    """The name of the slowest link of each path in :data:`PAIRS`: ``{"h1-h4": "L1", ...}``."""
    title = "Lab 03, the bottlenecks"
    return _each(title, bottlenecks, PAIRS, '{"h1-h4": "L1", ...}', _bottleneck_check)


def _bottleneck_check(name: str, value: object) -> Check:
    description = f"bottleneck of {name}"
    there = _way(name).forward
    right = bottleneck(there).label
    on_it = [link.label for link in there.links if link.rate_mbps is not None]
    if value == right:
        return Check.passing(description, "the slowest link", right)
    if value is None or value is ...:
        return Check.failing(description, "not filled in yet", 'write the name of a link, as in "L1"', "a link")
    if value not in on_it:
        reason = f"{value!r} is no limited link of this path"
        return Check.failing(description, reason, f"choose one of {', '.join(on_it)}, as a text", "a link", str(value))
    reason = f"{value} is on the path, and another link of it is slower"
    return Check.failing(description, reason, "a path carries what its slowest link carries", "the slowest", str(value))


@guarded
def check_ceilings(predicted_mbps: object) -> Result:
    """The predicted highest rate of payload of each path in :data:`PAIRS`, in Mbit/s, within 0.5 %."""
    title = "Lab 03, predicted bandwidth"
    return _each(title, predicted_mbps, PAIRS, '{"h1-h4": 12.3, ...}, in Mbit/s', _ceiling_check)


def _ceiling_check(name: str, value: object) -> Check:
    quantity = Quantity(f"bandwidth of {name}", udp_ceiling_mbps(_way(name)), "Mbit/s")
    return prediction_check(quantity, value, 0.005, _WEAKEST, _ceiling_mistakes(name))


def _ceiling_mistakes(name: str) -> list[Mistake]:
    right = udp_ceiling_mbps(_way(name))
    rates = [link.rate_mbps for link in _way(name).forward.links if link.rate_mbps is not None]
    nominal = min(rates)
    whole = "that is the rate of the slowest link, headers included"
    several = "a packet crosses one link after the other"
    found = [
        Mistake(nominal, whole, _HEADERS, 0.003),
        Mistake(right / 8, "that looks like MByte/s", "a byte has 8 bits, and this is to be in Mbit/s", 0.005),
        Mistake(nominal / 8, "that looks like MByte/s, headers included", "multiply by 8, then take off the headers"),
        Mistake(right * 8, "eight times too much", "rates of links are in bits, not bytes"),
        Mistake(sum(rates), "that is the sum of the links' rates", f"{several}: {_WEAKEST}"),
        Mistake(payload_rate_mbps(sum(rates)), "that is the sum of the links' rates", f"{several}: {_WEAKEST}"),
        Mistake(sum(rates) / len(rates), "that is the mean of the links' rates", _WEAKEST),
        Mistake(nominal * 1448 / 1514, "that is the payload of TCP", "a header of UDP has 8 bytes, TCP's 32", 0.003),
        Mistake(nominal * 1490 / 1448, "more than the link carries", "headers take away: divide the other way", 0.003),
    ]
    others = (rate for rate in rates if rate != nominal)
    found += [Mistake(payload_rate_mbps(rate), f"that is for a link of {rate:g}", _WEAKEST, 0.005) for rate in others]
    return found


@guarded
def check_losses(predicted_percent: object) -> Result:
    """The predicted loss for each of :data:`LOSSES`, in percent of what is sent, within 2 % of theory."""
    title = "Lab 03, predicted loss"
    return _each(title, predicted_percent, LOSSES, '{"h1-h4 at 100 %": 1.5, ...}, in percent', _loss_prediction)


def _loss_prediction(key: str, value: object) -> Check:
    name, percent = LOSSES[key]
    right_mbps = udp_ceiling_mbps(_way(name))
    nominal = bottleneck(_way(name).forward).rate_mbps or 0
    sent_mbps = percent / 100 * nominal
    theory = 100 * (1 - right_mbps / sent_mbps)
    how = "what does not fit is lost: sent less bandwidth, divided by sent, times 100"
    whole = "that leaves out the headers"
    of_sent = "loss is a share of what was sent: divide by the rate sent"
    mistakes = [
        Mistake(100 * (1 - nominal / sent_mbps), whole, f"what fits is the bandwidth that you predicted: {_HEADERS}"),
        Mistake(100 * (sent_mbps / right_mbps - 1), "that is the share of what fits", of_sent, 0.005),
        Mistake(100 * (sent_mbps / nominal - 1), "that is the share of the link's rate", of_sent),
        Mistake(theory / 100, "that is a share of 1", "multiply by 100 for percent"),
        Mistake(sent_mbps - right_mbps, "that is what is lost in Mbit/s", "divide by the rate sent, times 100", 0.01),
        Mistake(100 - theory, "that is what arrives", "the loss is what is left to 100"),
    ]
    description = f"loss from {key}, {sent_mbps:g} Mbit/s"
    if value == 0 and not isinstance(value, bool):
        reason = "no loss would need a link that carries all of it, headers too"
        return Check.failing(f"predicted {description}", reason, f"{how}; {_HEADERS}", "a share above 0", "0 %")
    return prediction_check(Quantity(description, theory, "%"), value, 0.02, how, mistakes)


@guarded
def check_overload(results: object) -> Result:
    """What iperf3 measured on each path at 110 % of its slowest link's rate.

    ``results`` are those of `linklab.measure.run`, by the names in :data:`PAIRS`. The loss must be that of theory
    for the network as read back, less what its queue swallows. In real time, on a busy machine: inconclusive.
    """
    title = "Lab 03, sending too much"
    return _each(title, results, PAIRS, "the results, one for each path", _overload_check)


def _overload_check(name: str, value: object) -> Check:
    description = f"{name} at 110 %"
    wanted_mbps = 1.1 * (bottleneck(_way(name).forward).rate_mbps or 0)
    problem, result = problem_of(description, value, PAIRS[name])
    if problem is not None or result is None:
        return problem or Check.failing(description, "not measured yet", "measure it")
    sent = result.flow.rate_mbps
    if abs(sent / wanted_mbps - 1) > 0.005:
        reason = f"it was sent at {sent:g} Mbit/s"
        return Check.failing(description, reason, "multiply the rate of the slowest link by 1.1", found=f"{sent:g}")
    now = _way(name, result.origin.network)
    expected = as_sent(udp_loss_percent(now, sent, result.flow.duration_s), now, result)
    return loss_check(description, result, in_its_time(expected, result.fidelity, now))


@guarded
def check_bandwidth(bandwidth_mbps: object, results: object) -> Result:
    """The bandwidth of each path in :data:`PAIRS` as the student reads it from ``results``, in Mbit/s.

    ``results`` are those of :func:`check_overload`. The number must be what theory expects to arrive.
    """
    title = "Lab 03, measured bandwidth"
    measured = results if isinstance(results, Mapping) else {}

    def check(name: str, value: object) -> Check:
        return _bandwidth_check(name, value, measured.get(name))

    return _each(title, bandwidth_mbps, PAIRS, '{"h1-h4": 12.3, ...}, in Mbit/s', check)


def _bandwidth_check(name: str, value: object, measured: object) -> Check:
    problem, result = problem_of(f"measured bandwidth of {name}", measured, PAIRS[name])
    if problem is not None or result is None:
        return problem or Check.failing(name, "not measured yet", "measure it")
    sent_mbps = result.flow.rate_mbps
    now = _way(name, result.origin.network)
    expected = udp_throughput(now, sent_mbps, result.flow.duration_s)
    rates = [link.rate_mbps for link in now.forward.links if link.rate_mbps is not None]
    arrived = "what was measured is what arrived: throughput_mbps of the result"
    high = max(expected.value * 1.003, min(expected.high, (expected.value + sent_mbps) / 2))
    expected = in_its_time(replace(expected, high=high), result.fidelity, now)
    mistakes = [
        Mistake(sent_mbps, "that is the rate that you sent at, and a part of it was lost", arrived, 0.01),
        Mistake(result.sent_mbps, "that is what was sent, and a part of it was lost", arrived, 0.01),
        Mistake(sum(rates), "that is the sum of the links' rates", arrived),
        Mistake(expected.value / 8, "that looks like MByte/s", "multiply by 8", 0.04),
        Mistake(expected.value * 1e6, "that is in bit/s", "divide by 1,000,000", 0.04),
        Mistake(sent_mbps - result.throughput_mbps, "that is what was lost", arrived, 0.01),
    ]
    if isinstance(value, int | float) and math.isclose(value, result.throughput_mbps, rel_tol=0.01):
        mistakes = []  # it is what arrived: on a busy machine that may be half, and so what was lost as well
    trouble = verdict_on(result).trouble
    return measured_check(f"bandwidth of {name}", value, expected, inconclusive=trouble, mistakes=mistakes, how=arrived)


@guarded
def check_chosen(results: object) -> Result:
    """The rates that the student chose: nothing lost, and at least 97 % of what each path carries.

    ``results`` are those of `linklab.measure.run` at these rates, by the names in :data:`PAIRS`.
    """
    return _each("Lab 03, the rates you chose", results, PAIRS, "the results, one for each path", _chosen_check)


def _chosen_check(name: str, value: object) -> Check:
    description = f"rate chosen for {name}"
    problem, result = problem_of(description, value, PAIRS[name])
    if problem is not None or result is None:
        return problem or Check.failing(description, "not measured yet", "measure it")
    return chosen_check(description, result, udp_ceiling_mbps(_way(name, result.origin.network)))


@guarded
def check_questions(answers: object) -> Result:
    """The three numbers about the course report's table 4.3.1 and about the queue of L2."""
    questions = _questions(bottleneck(_way("h1-h4").forward).rate_mbps or 0)

    def check(name: str, value: object) -> Check:
        quantity, tolerance, how, mistakes = questions[name]
        return replace(prediction_check(quantity, value, tolerance, how, mistakes), description=quantity.name)

    return _each("Lab 03, questions", answers, questions, '{"iperf2_m": 123, ...}', check)


_REPORT_L2_MBPS: Final = COURSE.link("L2").rate_mbps or 0.0
"""The report's network is the plain course network, whatever the student's is."""
_CEILING_2: Final = _REPORT_L2_MBPS * _REPORT_PAYLOAD_BYTES / (_REPORT_PAYLOAD_BYTES + 42)
_SENT_2: Final = 30 * REPORT_M / 1e6


_Question = tuple[Quantity, float, str, list[Mistake]]


def _questions(l2_mbps: float) -> dict[str, _Question]:
    """What is asked: two numbers about the report's network, and one about a network whose L2 has this rate."""
    left = payload_rate_mbps(l2_mbps)
    sent, extra = l2_mbps * 1e6 / 8 / _PAYLOAD_BYTES, (l2_mbps - left) * 1e6 / 8 / _PAYLOAD_BYTES
    rest = f"{l2_mbps:g} less {left:.2f} is {l2_mbps - left:.2f} Mbit/s"
    return {
        "iperf2_m": (
            Quantity("iperf 2's M", REPORT_M, "bit/s"), 0.001,
            "divide what was reported by what was asked for: 26.2 by 25",
            [
                Mistake(1e6, "then 25M would have given 25", "which power of 2 is near a million?", 0.001),
                Mistake(1024, "that is a K", "M is a K of K"),
                Mistake(1024000, "then 25M would have given 25.6", "both steps of a thousand are 1024", 0.001),
                Mistake(1.048576, "that is the ratio to a million", "give the number of bits that M stands for", 0.001),
            ],
        ),
        "report_loss": (
            Quantity("loss in percent, sent at 30M", 100 * (1 - _CEILING_2 / _SENT_2), "%"), 0.01,
            "30 times iperf 2's M was sent, and of 30 Mbit/s 1470 of 1512 bytes are payload",
            [
                Mistake(100 * (1 - _REPORT_L2_MBPS / _SENT_2), "that leaves out the headers",
                        "a frame has 1470 + 42 bytes", 0.01),
                Mistake(100 * (1 - _CEILING_2 / _REPORT_L2_MBPS), "that takes M for a million",
                        "30M sent more than 30 Mbit/s", 0.01),
                Mistake(100 * (_SENT_2 / _CEILING_2 - 1), "a share of what fits",
                        "loss is a share of what was sent", 0.01),
                Mistake(1 - _CEILING_2 / _SENT_2, "that is a share of 1", "multiply by 100 for percent", 0.01),
            ],
        ),
        "extra_packets": (
            Quantity("packets beyond what L2 carries, in 1 s", extra, "packets"), 0.03,
            f"take what L2 carries of payload from {l2_mbps:g} Mbit/s, and divide by the bits of a packet's payload",
            [
                Mistake(extra * 8, "eight times too much", "a packet has 1448 * 8 bits of payload"),
                Mistake(sent / 1000, "that is far too few", rest),
                Mistake(sent, "that is all that was sent", "take off what L2 carries"),
                Mistake(l2_mbps * 1e6 / 8 / (_PAYLOAD_BYTES + 42), "that is what L2 carries",
                        "take it from what was sent"),
            ],
        ),
    }  # fmt: skip


def _way(name: str, state: NetworkState | None = None) -> MeasuredPath:
    return measured_path(course_network(), *PAIRS[name], state)


def _each(
    title: str, given: object, names: Mapping[str, object], example: str, check: Callable[[str, object], Check]
) -> Result:
    """One check for each name, of what is given for it."""
    if not isinstance(given, Mapping):
        reason, hint = f"this is a {type(given).__name__}", f"write it as {example}"
        return Result(title, (Check.failing(title, reason, hint, "a dictionary"),))
    return Result(title, tuple(check(name, given.get(name)) for name in names))
