"""What Lab 04, link latency and throughput, asks of single links, and how it is judged.

What is expected of a measurement comes from theory for the network as it was read back right before it; what students
compute is held against their own measurement; what they predict is put next to both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from linklab.analysis import Expectation
from linklab.course import course_network
from linklab.grade.check import Check, Refuse
from linklab.grade.choices import choices
from linklab.grade.measured import loaded_checks, queue_questions
from linklab.grade.path_questions import ceiling, path_between, rtt
from linklab.grade.predictions import Predictions, Sketch, span
from linklab.grade.questions import Slip, Value, asked
from linklab.grade.result import Result, guarded
from linklab.labs.lab04.functions import check_parsed, check_summary
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.labs.paths import beside_report, pings_judged, queue_over_time, transfers_judged
from linklab.labs.printed import NETEM, require_match
from linklab.network import Link, queueing_delay_ms

__all__ = [
    "LINKS", "PREDICTIONS", "beside_report", "check_counters", "check_parsed", "check_pings", "check_predicted",
    "check_queue_seen", "check_summary", "check_together", "check_transfers", "own_simpleperf", "predict",
    "queue_over_time",
]  # fmt: skip

_FOLDER: Final = Path(__file__).parent
LINKS: Final[Mapping[str, tuple[str, str]]] = {"L1": ("r1", "r2"), "L2": ("r2", "r3"), "L3": ("r3", "r4")}
"""The links of this lab, and the routers at their ends."""
_SHOW: Final = "tc -s qdisc show dev r1-eth1"


def _swing() -> Sketch:
    link, path = _link("L1"), path_between(*LINKS["L1"])
    highest_ms = path.rtt_floor_ms + queueing_delay_ms(link)
    return Sketch("RTT of L1 next to a transfer", "seconds", "ms", (0, 25), span(highest_ms))


PREDICTIONS: Final = Predictions(
    "Lab 04",
    {
        "rtt": lambda: [rtt("L1", path_between(*LINKS["L1"]))],
        "throughput": lambda: [ceiling("L1", path_between(*LINKS["L1"]))],
        "swing": _swing,
    },
)
predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted


def _link(name: str) -> Link:
    return course_network().link(name)


# --- Measurements


@guarded
def check_pings(pings: object) -> Result:
    """Judge 25 pings on each of `LINKS`, idle: results of `linklab.measure.run` by name."""
    return pings_judged("Lab 04", pings, LINKS, PREDICTIONS, "rtt")


@guarded
def check_transfers(transfers: object) -> Result:
    """Judge a transfer of 25 s over each of `LINKS`: results of `linklab.measure.run` by name."""
    return transfers_judged("Lab 04", transfers, LINKS, PREDICTIONS, "throughput")


@guarded("Lab 04, ping and transfer at once")
def check_together(run: object) -> Iterable[Check]:
    """Judge what `linklab.measure.run_together` gave for 25 pings, one a second, next to a transfer of 25 s over L1."""
    return loaded_checks("L1", run, LINKS["L1"])


# --- What a measurement says

_COUNTERS: Final = "Lab 04, the counters of L1's queue"


@guarded(_COUNTERS)
def check_counters(printed: object, answers: object) -> Result:
    """Judge what a student reads of ``tc -s qdisc`` on r1-eth1: ``dropped``, and the choice ``limit``.

    ``printed`` is what tc printed, after the transfers over L1.
    """
    what, command = "what tc printed", f"run {_SHOW} on r1, after the transfers"
    no_queue = "this is no output of tc -s qdisc with a line of netem"
    limit, _, frames, dropped, _ = map(int, require_match(what, printed, NETEM, no_queue, command).groups())
    if limit != _link("L1").queue_packets:
        reason = f"this is another interface: its limit is {limit} packets, and L1 has {_link('L1').queue_packets}"
        raise Refuse(Check.failing(what, reason, command))
    if not dropped:
        reason = f"the queue has not dropped any of its {frames} frames yet"
        raise Refuse(Check.failing(what, reason, f"measure the transfers first; then {command}"))
    return asked(_COUNTERS, answers, (_dropped(limit, frames, dropped), *choices(_FOLDER)))


def _dropped(limit: int, frames: int, dropped: int) -> Value:
    exact = Expectation(dropped, dropped, dropped, "", "read off tc's output")
    hints = (
        "a full queue drops each frame that arrives, and counts it",
        "netem holds the queue: look for the word dropped below its line",
        "read the number after dropped, in the last line but one",
    )
    slips = (
        Slip(limit, "that is the queue's limit", "how many frames met a full queue?"),
        Slip(frames, "that is how many frames the link sent", "how many frames did the queue drop?"),
    )
    told = (
        f"**{dropped} of {frames:,} frames.** This lab uses CUBIC, Linux's default, without ECN. CUBIC is "
        "*loss-based*: it sends faster until a frame is lost. So a few losses are no sign of a bad link. TCP needs "
        "them to find the rate of the link."
    )
    return Value("dropped", "frames that L1's queue dropped", exact, hints, slips, explanation=told)


@guarded
def check_queue_seen(answers: object, run: object) -> Result:
    """Judge ``mean_added_ms`` and ``mean_packets``, of the pings in ``run``: what L1's queue added, on average."""
    questions = queue_questions(run, LINKS["L1"], path_between(*LINKS["L1"]).rtt_floor_ms, _link("L1"))
    return asked("Lab 04, what the queue added", answers, questions, '{"mean_added_ms": 1.2, ...}')
