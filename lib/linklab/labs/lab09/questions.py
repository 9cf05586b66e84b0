"""Lab 09, what the study's numbers say: questions with answers that can be checked."""

from __future__ import annotations

from typing import Final

from linklab.analysis import Expectation
from linklab.grade.answers import Amount, Choice, Question, grade_answers
from linklab.grade.numbers import Mistake
from linklab.grade.result import Result, guarded
from linklab.published.video import BANDWIDTH_STEP_KBPS, PACKET_BYTES, find

_LARGEST_KBPS: Final = find(2, "bandwidth_kbps", "real").maximum.value
_PACKETS: Final = _LARGEST_KBPS / BANDWIDTH_STEP_KBPS
_FRAME_BYTES: Final = PACKET_BYTES + 14
_MOST: Final = 2_000_000 / 8 / _FRAME_BYTES

_QUESTIONS: Final[tuple[Question, ...]] = (
    Amount(
        "study_packets",
        f"packets in a second, if the study's bandwidth is {_LARGEST_KBPS:g} kbit/s of IP packets",
        Expectation(
            _PACKETS, _PACKETS - 0.2, _PACKETS + 0.2, "packets", "by 1356 bytes of 8 bits", allowance="rounding"
        ),
        (
            Mistake(_LARGEST_KBPS * 1000 / 8 / _FRAME_BYTES, "that divides by a frame", "IP packets have 1356", 0.002),
            Mistake(_LARGEST_KBPS * 1000 / 8 / 1316, "that divides by what RTP carries", "IP packets have 1356", 0.002),
            Mistake(_LARGEST_KBPS * 1000 / PACKET_BYTES, "that takes bits for bytes", "a byte has 8 bits"),
            Mistake(_LARGEST_KBPS / PACKET_BYTES, "that takes kbit for bytes", "1000 bits, and 8 for a byte"),
            Mistake(_MOST, "that is what the link can carry", "what did the study measure?", 0.0005),
        ),
        "1963.49 kbit/s are how many bits, and how many packets of 1356 bytes?",
    ),
    Choice(
        "study_mean",
        "The study's video has 1026 kbit/s, and its mean bandwidth is about 1340. Why?",
        {
            "a": "headers alone take the difference",
            "b": "headers take some of it, and a mean over packets counts busy seconds more often than quiet ones",
            "c": "VLC sends lost packets again",
            "d": "Wireshark sees every packet twice",
        },
        "b",
        {
            "a": "compute it: your own prediction has all headers in it, and is well below 1340",
            "c": "RTP over UDP sends nothing again, and these links lose nothing",
            "d": "then it would see 2052 and more, and every sequence number twice",
        },
    ),
    Choice(
        "close_packets",
        "A frame takes 5.48 ms at 2 Mbit/s. How can two arrive 1.69 ms apart in the study's Mininet?",
        {
            "a": "its clock is not exact",
            "b": "the second one was smaller",
            "c": "the link's token bucket was full after a pause, and let both pass as they came",
            "d": "they took different ways",
        },
        "c",
        {
            "a": "your own lab's clock is exact, and it happens there too",
            "b": "all packets of this video have one size",
            "d": "there is one way only, look at the figure",
        },
    ),
    Choice(
        "whole_again",
        "A packet of the video is lost. When is the picture whole again?",
        {
            "a": "at the next picture",
            "b": "when the packet is sent again",
            "c": "never",
            "d": "at the next key picture",
        },
        "d",
        {
            "a": "look at the curve: how long does it stay down?",
            "b": "nobody asks for it: RTP over UDP sends nothing again",
            "c": "look at the curve: it comes back to 1",
        },
    ),
)


@guarded
def check_questions(answers: object) -> Result:
    """A number and three questions on the study, its token bucket, and pictures."""
    return grade_answers("Lab 09, questions", _QUESTIONS, answers)
