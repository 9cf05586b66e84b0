"""Lab 06, what the course report's numbers say: questions with answers that can be checked.

They are about the report's network, the plain course network, whatever the student's is.
"""

from __future__ import annotations

from typing import Final

from linklab.analysis import Expectation, measured_path
from linklab.grade.answers import Amount, Choice, Question, grade_answers
from linklab.grade.numbers import Mistake
from linklab.grade.result import Result, guarded
from linklab.network import COURSE, goodput_ceiling_mbps, path, queueing_delay_ms
from linklab.published import report

_L2: Final = COURSE.link("L2")
_RTT_MS: Final = report.find(4, "h1-h4", "rtt_ms", test=1).value
_FLOOR_MS: Final = measured_path(COURSE, "h1", "h4").rtt_floor_ms
_OTHERS_MS: Final = _FLOOR_MS - _L2.delay_ms
_FRAME_MS: Final = queueing_delay_ms(_L2, 1)
_FRAMES: Final = (_RTT_MS - _OTHERS_MS) / _FRAME_MS
_SUM: Final = sum(row.value for row in report.rows(4, 2) if row.quantity == "throughput_mbps")
_CEILING: Final = goodput_ceiling_mbps(path(COURSE, "h1", "h4"))
_BEYOND: Final = _SUM - _CEILING
_YOURS: Final = "reckon as your own function does, with the report's RTT and the delays and rate of its network"


def _near(value: float, slack: float, unit: str, why: str) -> Expectation:
    return Expectation(value, value - slack, value + slack, unit, why, allowance="rounding on the way")


_QUESTIONS: Final[tuple[Question, ...]] = (
    Amount(
        "report_frames",
        f"frames in L2's queue on average, if the report's {_RTT_MS:g} ms are all delay and queue",
        _near(_FRAMES, 0.015 * _FRAMES, "frames", "your own function, of the report's RTT"),
        (
            Mistake((_RTT_MS - _FLOOR_MS) / _FRAME_MS, "that leaves out those in flight on L2", _YOURS, 0.01),
            Mistake(_RTT_MS / _FRAME_MS, "that takes all of the round trip for the queue", _YOURS, 0.01),
            Mistake(_FRAMES * 8, "that is eight times too many", "a byte has 8 bits", 0.02),
            Mistake(_FRAMES / 8, "that is an eighth of it", "a byte has 8 bits", 0.02),
            Mistake(100, "that is the limit that L2 has", "what follows from the RTT is not the limit", 0.005),
        ),
        _YOURS,
    ),
    Amount(
        "report_beyond_mbps",
        "by how much the report's sum of three flows is more than L2 can carry of data",
        _near(_BEYOND, 0.03, "Mbit/s", "the sum less what headers leave of 30 Mbit/s"),
        (
            Mistake(_SUM, "that is the sum", "take away what L2 carries of data", 0.002),
            Mistake(30 - _SUM, "that compares with the rate, headers and all", "these flows are data only", 0.02),
            Mistake(_SUM / 3, "that is the mean of the three", "add them, then take away what L2 carries", 0.005),
            Mistake(_SUM / _CEILING, "that is a ratio", "take the difference, in Mbit/s", 0.003),
            Mistake(_BEYOND / 8, "that looks like MByte/s", "give it in Mbit/s", 0.03),
        ),
        "add the three throughputs, and take away what TCP can carry over 30 Mbit/s",
    ),
    Choice(
        "third_flow",
        "Why is the highest RTT with three flows what it is with two?",
        {
            "a": "L2's queue was full with two already, and a full queue grows no more",
            "b": "each flow waits in a queue of its own",
            "c": "three flows send less in all than two",
            "d": "pings overtake the packets of transfers",
        },
        "a",
        {
            "b": "all packets that leave r2 for r3 wait in one queue, pings too",
            "c": "compare the sums: they are what L2 carries, both times",
            "d": "then pings would take what they take on an idle path, whatever else is sent",
        },
    ),
    Choice(
        "small_queue",
        "With half of the queue the RTT hardly grows. What is the price?",
        {
            "a": "the idle RTT is longer",
            "b": "the link is idle at times: after a loss nothing waits that could be sent",
            "c": "L2's rate is lower",
            "d": "there is none",
        },
        "b",
        {
            "a": "without traffic no queue of any length adds to the RTT",
            "c": "the rate is set by HTB and has nothing to do with the queue",
            "d": "compare the sums of throughput in your table",
        },
    ),
)  # fmt: skip


@guarded
def check_questions(answers: object) -> Result:
    """Two numbers that follow from the course report's section 4.6.1, and two questions about queues."""
    return grade_answers("Lab 06, questions", _QUESTIONS, answers)
