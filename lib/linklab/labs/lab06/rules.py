"""What Lab 06, Multiplexing, asks of flows that share links, and how it is judged.

Expectations of measurements come from `linklab.analysis` for the network as it was read back right before each run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import Final

from linklab.analysis import experiment
from linklab.course import course_network
from linklab.grade.check import Check, a_kind
from linklab.grade.choices import asked_by_letter, choice
from linklab.grade.measured import SHORTEST_S, refused, run_checks, throughput_of
from linklab.grade.questions import Judged, Slip, Value, asked, asked_one, is_missing
from linklab.grade.result import Result, guarded
from linklab.labs.lab06.functions import check_jain, check_packets_in_queue
from linklab.labs.lab06.predictions import COMBINATIONS, PREDICTIONS, SHARES
from linklab.labs.lab06.queues import check_half, check_look
from linklab.labs.multiplexing import rates_mbps
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.measure import Run

__all__ = [
    "COMBINATIONS", "PREDICTIONS", "check_by_hand", "check_half", "check_jain", "check_look", "check_packets_in_queue",
    "check_predicted", "check_runs", "check_seen", "check_small_queue", "own_simpleperf", "predict", "rates_mbps",
]  # fmt: skip

predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted

_BY_HAND: Final = COMBINATIONS["two"]
_TOTAL: Final = re.compile(
    r"0\.00-(\d{1,6}(?:\.\d{1,6})?)\s+sec\s+[\d.]+ [KMG]?Bytes\s+(\d{1,6}(?:\.\d{1,6})?) ([KMG]?)bits/sec\s+receiver"
)
_LONGEST_S: Final = 300
_OWN_INTERVALS: Final = 1.01
"""Each server has a mean over its own interval, with three digits: their sum may be so much more than L2 carries."""
_FREE_SHARES: Final = 4
"""Of flows that share a link, in all combinations: one of two, two of three, one of two; the last has what is left."""
_IN_MBPS: Final = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3}


# --- Two flows by hand


@guarded
def check_by_hand(printed: object) -> Result:
    """Judge what iperf3's clients printed of two flows that ran at one time, by pair."""
    title, example = "Lab 06, two flows by hand", '{"h1-h4": first.output, "h2-h5": second.output}'
    given = printed if isinstance(printed, Mapping) else {}
    found = {load.name: _client_said(load.name, given.get(load.name)) for load in _BY_HAND}
    checks = [check for check, _ in found.values()]
    if not all(check.passed for check in checks):
        if not is_missing(printed) and not isinstance(printed, Mapping):
            reason = f"this is {a_kind(printed)}, not a dictionary"
            checks = [Check.failing(title, reason, f"write it as {example}", "a dictionary")]
        return Result(title, tuple(checks))
    duration_s = min(total[0] for _, total in found.values())
    whole = experiment(course_network(), _BY_HAND, duration_s).sums["L2", "r2"]
    whole = replace(whole, high=_OWN_INTERVALS * whole.high)
    both = "start both clients with popen before you wait for the first one"
    hints = ("two flows that share a link cannot have more than it carries, and two long ones fill it", both)
    slips = (Slip(2 * whole.value, "that is twice what L2 carries: they ran one after the other", both),)
    question = Value("", "both together, through L2", whole, hints, slips, shown=True, by_tool=True)
    total_mbps = fsum(total[1] for _, total in found.values())
    return Result(title, (*checks, *question.checks(total_mbps)))


def _client_said(name: str, text: object) -> tuple[Check, tuple[float, float]]:
    """Return what is to be said of a client's output, and its seconds and Mbit/s."""
    what, expected = f"iperf3's client of {name}", f"a test of {SHORTEST_S} s or more"
    nothing = (0.0, 0.0)
    if is_missing(text):
        hint = "after client.wait(), client.output is the text that the client printed"
        return Check.failing(what, "not measured yet", hint, expected, "None"), nothing
    if not isinstance(text, str):
        return Check.failing(what, f"this is {a_kind(text)}, no text", "give client.output", expected), nothing
    total = _TOTAL.search(text)
    if total is None:
        said = text.strip().splitlines()[-1] if text.strip() else "nothing"
        hint = "does the server listen, and is it free? One server takes one test at a time"
        return Check.failing(what, f"it printed no result, but: {said}", hint, expected, said), nothing
    seconds, mbps = float(total[1]), float(total[2]) * _IN_MBPS[total[3]]
    found = f"{mbps:.4g} Mbit/s in {seconds:g} s"
    if not SHORTEST_S <= seconds <= _LONGEST_S:
        return Check.failing(what, f"it ran for {seconds:g} s", "give the client -t 25", expected, found), nothing
    return Check.passing(what, expected, found), (seconds, mbps)


# --- Four combinations


@guarded
def check_runs(runs: object, predicted: object = "shares") -> Result:
    """Judge the four runs, by the names in `COMBINATIONS`: what `linklab.measure.run_together` returned for each.

    Each must hold its flows with pings next to them, all at one time; the sums, shares and highest round trips must be
    what theory expects of the network as read back. ``predicted`` are the shares that the student predicted.
    """

    def judge(name: str, run: object) -> Iterable[Check]:
        loads = COMBINATIONS[name]
        problem = refused(name, run, loads, with_pings=True)
        if problem is not None or not isinstance(run, Run):
            return () if problem is None else (problem,)
        return run_checks(name, run, course_network(), loads, judged=_FREE_SHARES)

    questions = [Judged(name, judge) for name in COMBINATIONS]
    result = asked("Lab 06, the four runs", runs, questions, '{"two": measure.run_together(...), ...}')
    return PREDICTIONS.compared(result, predicted, dict(_measured_shares(runs)))


def _measured_shares(runs: object) -> Iterator[tuple[str, float | None]]:
    for key, (name, flow) in SHARES.items():
        run = runs.get(name) if isinstance(runs, Mapping) else None
        if isinstance(run, Run):
            yield key, throughput_of(run, flow)


# --- Questions with options


@guarded
def check_seen(answers: object) -> Result:
    """Judge what two of the figures show: which link decides, and what a third flow changes."""
    return asked_by_letter("Lab 06, what you saw", answers, Path(__file__).parent, "decides", "third_flow")


@guarded
def check_small_queue(answer: object) -> Result:
    """Judge what half of the queue costs."""
    return asked_one("Lab 06, the small queue", answer, choice(Path(__file__).parent, "small_queue"))
