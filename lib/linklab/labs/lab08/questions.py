"""Lab 08, what the study's numbers say: questions with answers that can be checked."""

from __future__ import annotations

from typing import Final

from linklab.analysis import Expectation
from linklab.analysis.packets import real_mbps
from linklab.grade.answers import Amount, Choice, Question, grade_answers
from linklab.grade.numbers import Mistake
from linklab.grade.result import Result, guarded
from linklab.units import GRE_OVERHEAD_BYTES

_REAL: Final = real_mbps(1518, 100, GRE_OVERHEAD_BYTES)
_LONGER: Final = "on a real cable a frame of 1518 bytes takes 20 more for preamble and gap, and 38 for the tunnel"

_QUESTIONS: Final[tuple[Question, ...]] = (
    Amount(
        "counted_mbps",
        "bandwidth at packet 2 of an ideal link of 10 Mbit/s, if the first packet's bits are counted too",
        Expectation(20, 19.9, 20.1, "Mbit/s", "two packets' bits over one gap", allowance="rounding"),
        (
            Mistake(10, "that is right only if the first packet's bits are left out", "count both packets", 0.01),
            Mistake(15, "that is packet 3", "at packet 2: two packets' bits, one gap", 0.01),
            Mistake(2.5, "that is in MByte/s", "give it in Mbit/s", 0.01),
        ),
        "how many packets' bits, over how many gaps?",
    ),
    Amount(
        "real_mbps",
        "frames of 1518 bytes that a real cable of 100 Mbit/s carries in a GRE tunnel",
        Expectation(_REAL, _REAL - 0.06, _REAL + 0.06, "Mbit/s", "100 * 1518 / (1518 + 20 + 38)", allowance="rounding"),
        (
            Mistake(real_mbps(1518, 100), "that is without the tunnel", _LONGER, 0.0006),
            Mistake(100 * 1518 / 1556, "that leaves out preamble and gap", _LONGER, 0.0006),
            Mistake(100 * 1518 / 1552, "that is a virtual cable's", _LONGER, 0.0006),
            Mistake(100 * 1472 / 1576, "that counts data only", "count whole frames, as the study does", 0.0006),
            Mistake(_REAL / 10, "that is on 10 Mbit/s", "the question is about 100", 0.0006),
        ),
        _LONGER,
    ),
    Choice(
        "light_load",
        "With 10 Mbit/s of traffic on a link of 100, Mininet's first packets were not too fast. Why?",
        {
            "a": "a faster link has a smaller bucket",
            "b": "the sender spaces the packets itself: each finds the bucket full, and none needs more than that",
            "c": "the first packets were lost",
            "d": "a link of 100 Mbit/s is not emulated by a bucket",
        },
        "b",
        {
            "a": "the bucket is 1600 bytes at both rates",
            "c": "then the bandwidth would be less, and packets would be missing",
            "d": "tc class show says that it is: try it on a network with link_mbps=100",
        },
    ),
    Choice(
        "no_room",
        "The tunnel's port has an MTU of 1462, the hosts have 1500. What happens to a packet of 1500 bytes?",
        {
            "a": "the switch cuts it in two",
            "b": "h1 is told and sends smaller ones",
            "c": "it is lost, and nobody is told",
            "d": "it passes: GRE makes room",
        },
        "c",
        {
            "a": "a switch knows nothing of IP: only a router, or the sender, makes fragments",
            "b": "who would tell it? A switch has no address to send an ICMP message from",
            "d": "GRE adds 38 bytes, it takes none away",
        },
    ),
)


@guarded
def check_questions(answers: object) -> Result:
    """Two numbers that explain the study's, and two questions."""
    return grade_answers("Lab 08, questions", _QUESTIONS, answers)


def question_text() -> str:
    """The questions with letters, for reading."""
    return "\n\n".join(str(question) for question in _QUESTIONS if isinstance(question, Choice))
