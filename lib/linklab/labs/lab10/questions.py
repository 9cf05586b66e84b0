"""Lab 10, questions with answers that can be checked: what a tag is for, what a round trip says, and what not."""

from __future__ import annotations

from typing import Final

from linklab.analysis import Expectation
from linklab.grade.answers import Amount, Choice, Question, grade_answers
from linklab.grade.numbers import Mistake
from linklab.grade.result import Result, guarded
from linklab.network.switch_testbeds import l3_switch
from linklab.network.theory import serialisation_ms

_FAST: Final = l3_switch(100)
_GROWTH_US: Final = 4000 * (
    serialisation_ms(_FAST, _FAST.links[0], 1440) - serialisation_ms(_FAST, _FAST.links[0], 750)
)

_QUESTIONS: Final[tuple[Question, ...]] = (
    Choice(
        "tag",
        "Why do frames on the trunk carry a tag, and frames to h1 none?",
        {
            "a": "the trunk carries two VLANs, and without a tag nobody could tell whose a frame is",
            "b": "the tag says which host is to have the frame",
            "c": "r1 is a router, and routers need tags to forward",
            "d": "frames to h1 are too short for a tag",
        },
        "a",
        {
            "b": "that is what the destination address is for: look at the tag's number in your table",
            "c": "r1 routes by IP addresses: on a cable of its own for each VLAN it would need no tag",
            "d": "a tag is 4 bytes in a frame of any length",
        },
    ),
    Amount(
        "growth_us",
        "by how many microseconds must a round trip between h1 and h2 grow from 750 to 1440 bytes, at 100 Mbit/s",
        Expectation(
            _GROWTH_US,
            0.98 * _GROWTH_US,
            1.02 * _GROWTH_US,
            "us",
            "690 bytes more on four links",
            allowance="2 % of rounding",
        ),
        (
            Mistake(_GROWTH_US / 4, "that is one link", "the frame crosses two links each way", 0.02),
            Mistake(_GROWTH_US / 2, "that is one way", "a round trip goes there and back", 0.02),
            Mistake(10 * _GROWTH_US, "that is at 10 Mbit/s", "the link is ten times as fast", 0.02),
            Mistake(_GROWTH_US / 1000, "that looks like milliseconds", "multiply by 1000", 0.02),
            Mistake(_GROWTH_US / 8, "that is an eighth of it", "a byte has 8 bits", 0.02),
        ),
        "only the 690 bytes more count: on every link, there and back",
    ),
    Choice(
        "flat",
        "The study saw no growth at all there. What can hide it?",
        {
            "a": "the switch begins to send a frame before it has all of it",
            "b": "network cards that tell of frames only at fixed instants: a round trip is a whole number of ticks",
            "c": "longer frames travel faster",
            "d": "the queue of the switch is full",
        },
        "b",
        {
            "a": "then each switch would save time, but the hosts' own links still take longer for longer frames",
            "c": "a link's rate is bits a second, whoever the bits belong to",
            "d": "nothing else was sent, and a full queue would make every round trip longer",
        },
    ),
    Choice(
        "kinds",
        "On virtual time the Linux bridge and Open vSwitch in the kernel have the same round trip. What follows?",
        {
            "a": "both need the same processor time for a packet",
            "b": "both pass on every frame whole and at once; how much work that is cannot be seen here",
            "c": "the measurement is wrong",
            "d": "virtual time slows Open vSwitch down until they are equal",
        },
        "b",
        {
            "a": "computing takes no time on this clock, so a round trip cannot show it",
            "c": "it is what serialisation says, to the microsecond",
            "d": "the clock waits for computing, whoever computes: it slows nobody down",
        },
    ),
    Choice(
        "step",
        "Two senders, 30/90, in exact step: h1 loses nothing, h2 a quarter. Who is unfair?",
        {
            "a": "the switch: it prefers port 1",
            "b": "h2: it sends too much, so it alone is punished",
            "c": "nobody: the queue takes who comes when a place is free, and in step it is always the same one",
            "d": "the VLANs: h1's has priority",
        },
        "c",
        {
            "a": "let both begin at random instants, and the preference is gone",
            "b": "a queue that drops its tail does not know who sends how much",
            "d": "both senders are in VLAN 10",
        },
    ),
)


@guarded
def check_questions(answers: object) -> Result:
    """Four questions by letter, and one number."""
    return grade_answers("Lab 10, questions", _QUESTIONS, answers)
