"""Lab 07, questions with answers that can be checked."""

from __future__ import annotations

from typing import Final

from linklab.analysis import Expectation, jain_index
from linklab.grade.answers import Amount, Choice, Question, grade_answers
from linklab.grade.numbers import Mistake
from linklab.grade.result import Result, guarded

_EIGHT: Final = jain_index([8, 1, 1])

_QUESTIONS: Final[tuple[Question, ...]] = (
    Amount(
        "for_90_percent",
        "connections that h1 must open for 90 % of L2, beside one each of h2 and h3",
        Expectation(18, 17.999, 18.001, "connections", "P / (P + 2) = 0.9", allowance="rounding"),
        (
            Mistake(20, "that is all connections together", "how many of them are h1's?", 0.001),
            Mistake(9, "that is beside one other connection", "h2 and h3 have one each", 0.001),
            Mistake(27, "that counts three others", "h2 and h3 have one each", 0.001),
            Mistake(90, "that is the percentage itself", "solve P / (P + 2) = 0.9 for P", 0.001),
            Mistake(1.8, "that is a tenth of it", "solve P / (P + 2) = 0.9 for P", 0.001),
        ),
        "solve P / (P + 2) = 0.9 for P",
    ),
    Amount(
        "jain_per_host_8",
        "Jain's index per host in theory, if h1 opens 8 connections",
        Expectation(_EIGHT, _EIGHT - 0.003, _EIGHT + 0.003, "", "of 8, 1 and 1 shares", allowance="rounding"),
        (
            Mistake(1.0, "that is the index of the connections", "three hosts: what has each?", 0.001),
            Mistake(100 / 66, "the division by n is missing", "n * the sum of squares stands below", 0.003),
            Mistake(66 / 100, "that is upside down, and without n", "the sum, squared, stands above", 0.003),
            Mistake(100 / 660, "that divides by ten connections", "three hosts: n is 3", 0.003),
            Mistake(_EIGHT * 100, "that is in percent", "the index lies between 1/n and 1", 0.003),
        ),
        "put 8, 1 and 1 into the formula",
    ),
    Choice(
        "whose_fault",
        "Per connection the index is near 1, per host it is not. What is wrong?",
        {
            "a": "the measurement: both must be equal",
            "b": "TCP: it should divide by host",
            "c": "nothing: each answers another question, and who asks must say which",
            "d": "the queue of L2: it prefers h1's packets",
        },
        "c",
        {
            "a": "compute both from ideal shares: they differ as well",
            "b": "TCP at h1 sees one connection and knows nothing of the others, nor of who owns them",
            "d": "packets of all wait in one queue, first come, first served",
        },
    ),
)


@guarded
def check_questions(answers: object) -> Result:
    """Two numbers and a question on connections, hosts and fairness."""
    return grade_answers("Lab 07, questions", _QUESTIONS, answers)
