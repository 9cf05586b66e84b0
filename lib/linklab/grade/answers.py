"""Questions with answers that can be checked: one of several, a number with a unit, a set of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from linklab.analysis import Expectation
from linklab.errors import LinklabError
from linklab.grade.check import Check
from linklab.grade.measured import measured_check
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import FreeText, grade_predictions
from linklab.grade.result import Result


@dataclass(frozen=True)
class Choice:
    """One of several. ``options`` are texts by letter; ``hints`` has one for each wrong letter.

    Raises LinklabError, for who writes a lab, if ``right`` is no option or a wrong one has no hint.
    """

    key: str
    question: str
    options: Mapping[str, str]
    right: str
    hints: Mapping[str, str]
    points: float = 1.0

    def __post_init__(self) -> None:
        wrong = set(self.options) - {self.right}
        if self.right not in self.options or wrong != set(self.hints):
            raise LinklabError(
                f"question {self.key}: give a hint for each wrong option ({', '.join(sorted(wrong))}) and for no other"
            )

    def __str__(self) -> str:
        return "\n".join([self.question, *(f"  {letter}: {text}" for letter, text in self.options.items())])


@dataclass(frozen=True)
class Amount:
    """A number in a unit, right within an interval."""

    key: str
    question: str
    expected: Expectation
    mistakes: Sequence[Mistake] = ()
    how: str = ""
    points: float = 1.0


@dataclass(frozen=True)
class Names:
    """A set of names, in any order. ``hints`` are for names that do not belong, ``missing`` for those left out."""

    key: str
    question: str
    right: frozenset[str]
    hints: Mapping[str, str] = field(default_factory=dict)
    missing: str = "there are more"
    points: float = 1.0


Question = Choice | Amount | Names | FreeText


def grade_answers(title: str, questions: Sequence[Question], answers: object) -> Result:
    """The checks of answers, a plain dictionary by key, in the questions' order."""
    if not isinstance(answers, Mapping):
        hint = 'write them as {"' + (questions[0].key if questions else "question") + '": ...}'
        kind = type(answers).__name__
        reason = f"these are a {kind}, not a dictionary"
        return Result(title, (Check.failing("the answers", reason, hint, "a dictionary"),))
    return Result(title, tuple(_check(question, answers.get(question.key)) for question in questions))


def _check(question: Question, answer: object) -> Check:
    if isinstance(question, FreeText):
        (check,) = grade_predictions("", [question], {question.key: answer}).checks
        return check
    if isinstance(question, Choice):
        check = _choice_check(question, answer)
    elif isinstance(question, Names):
        check = _names_check(question, answer)
    else:
        check = measured_check("", answer, question.expected, mistakes=question.mistakes, how=question.how)
        check = replace(check, description=question.question)
    return replace(check, points=question.points)


def _choice_check(question: Choice, answer: object) -> Check:
    letters = ", ".join(question.options)
    expected, asked = f"one of {letters}", f'answer with one letter in quotes: "{question.key}": "{letters[0]}"'
    if answer is None or answer is ... or answer == "":
        return Check.failing(question.question, "not answered yet", asked, expected, "None")
    given = answer.strip().lower() if isinstance(answer, str) else None
    letter = next((it for it in question.options if it.lower() == given), None)
    if letter is None:
        return Check.failing(question.question, f"{answer!r} is none of {letters}", asked, expected, repr(answer))
    chosen = f"{letter}: {question.options[letter]}"
    if letter == question.right:
        return Check.passing(question.question, expected, chosen)
    return Check.failing(question.question, f"{chosen}: that is not it", question.hints[letter], expected, chosen)


def _names_check(question: Names, answer: object) -> Check:
    expected = "a list of names"
    example = f'write "{question.key}": ["...", "..."]'
    if answer is None or answer is ... or (isinstance(answer, str | Iterable) and not answer):
        return Check.failing(question.question, "not answered yet", example, expected, "None")
    if isinstance(answer, str):
        answer = answer.replace(",", " ").split()
    listed = list(answer) if isinstance(answer, Iterable) else [answer]
    names = [name for name in listed if isinstance(name, str)]
    if len(names) < len(listed):
        return Check.failing(question.question, f"{answer!r} is no list of names", example, expected, repr(answer))
    right = {name.lower(): name for name in question.right}
    given = {name.strip().lower(): name.strip() for name in names}
    found = ", ".join(sorted(given.values()))
    strange = [given[name] for name in sorted(given) if name not in right]
    if strange:
        hints = {name.lower(): hint for name, hint in question.hints.items()}
        hint = next((hints[name.lower()] for name in strange if name.lower() in hints), "look at the drawing again")
        reason = f"{', '.join(strange)} {'does' if len(strange) == 1 else 'do'} not belong here"
        return Check.failing(question.question, reason, hint, expected, found)
    left_out = len(right) - len(given)
    if left_out:
        some = f"{len(given)} of {len(right)} are there, and no wrong one"
        return Check.failing(question.question, some, question.missing, expected, found)
    return Check.passing(question.question, expected, found)
