"""Questions and their verdicts: a number against an interval, one of several, a measurement. Pure.

A lab's check says what is asked, as data, and `asked` judges what the student gave::

    def check_rtt(predicted_ms: object) -> Result:
        return asked("Lab 04, predicted round trips", predicted_ms, [rtt_question(name) for name in LINKS])

What the student gives is a dictionary by the questions' keys; what else is in it is not looked at. A number is right
within its question's interval, which its expectation derives or allows (`stated`). The likeliest slip behind a wrong
one is named: units, directions and factors are derived from the right number, real misconceptions
stand with the question.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from linklab.analysis import Expectation
from linklab.grade.check import Check, Hints, a_kind, collect_checks
from linklab.grade.result import Result
from linklab.grade.values import number_of

CLOSE: Final = 0.005
"""A number this near to a slip's, relative to it, is that slip's: as near as rounding to three digits leaves it."""


# --- Wrong numbers that have a cause


@dataclass(frozen=True)
class Slip:
    """A number that a mistake leads to, in the question's unit: ``reason`` says what it is, ``step`` what to do."""

    value: float
    reason: str
    step: str = ""


_BYTES: Final = "a byte has 8 bits"
_MEBI: Final = "a Mbit is 1,000,000 bits; 1,048,576 is what some tools mean by M"
_COUNTS: Final = (
    (8, "that is eight times too many", _BYTES),
    (1 / 8, "that is an eighth of it", _BYTES),
)
_UNITS: Final[Mapping[str, tuple[tuple[float, str, str], ...]]] = {
    "ms": (
        (1e-3, "that looks like seconds", "give it in ms"),
        (1e3, "that looks like microseconds", "give it in ms"),
        (1 / 8, "that is an eighth of it", _BYTES),
    ),
    "us": (
        (1e-3, "that looks like milliseconds", "give it in microseconds"),
        (1e-6, "that looks like seconds", "give it in microseconds"),
        (1 / 8, "that is an eighth of it", _BYTES),
    ),
    "Mbit/s": (
        (1 / 8, "that looks like MByte/s", f"give it in Mbit/s: {_BYTES}"),
        (8, "that is eight times too much", f"rates are in bits already: {_BYTES}"),
        (1e3, "that looks like kbit/s", "give it in Mbit/s"),
        (1e6, "that looks like bit/s", "give it in Mbit/s"),
        (1e-3, "that looks like Gbit/s", "give it in Mbit/s"),
        (1e6 / 8, "that looks like bytes in a second", f"give it in Mbit/s: {_BYTES}"),
        (1 / 1.048576, "that is 4.6 % too little, as if M meant 1,048,576", _MEBI),
        (1.048576, "that is 4.9 % too much, as if M meant 1,048,576", _MEBI),
        (1 / 8 / 1.048576, "that looks like MiByte/s", f"{_BYTES}; and {_MEBI}"),
    ),
    "kbit/s": (
        (1 / 8, "that looks like kByte/s", f"give it in kbit/s: {_BYTES}"),
        (8, "that is eight times too much", f"rates are in bits already: {_BYTES}"),
        (1e3, "that looks like bit/s", "give it in kbit/s"),
        (1e-3, "that looks like Mbit/s", "give it in kbit/s"),
    ),
    "%": ((1e-2, "that is a share of 1", "multiply by 100 for percent"),),
    "": ((100, "that looks like percent", "give it as a number, not in percent"),),
    **dict.fromkeys(("bytes", "packets", "frames", "packets/s"), _COUNTS),
}


def derived_slips(expected: Expectation, *, round_trip: bool = False) -> Iterator[Slip]:
    """Give the slips of a number by its unit; with ``round_trip`` also those of counting directions wrongly."""
    right = expected.value
    for factor, reason, step in _UNITS.get(expected.unit, ()):
        yield Slip(right * factor, reason, step)
    if expected.unit == "%":
        yield Slip(100 - right, "that is what is left to 100 %", "which of the two parts is asked for?")
    if expected.unit in ("", "%") and right:
        yield Slip((1e4 if expected.unit else 1) / right, "that is upside down", "divide the other way round")
    if round_trip:
        yield Slip(right / 2, "that is one direction", "a round trip has two")
        yield Slip(right * 2, "that is two round trips", "a delay counts once for each direction")
        yield Slip(right / 2000, "that is one direction, in seconds", "both directions, and in ms")


def likeliest(number: float, slips: Iterable[Slip], spread: float = 0.0) -> Slip | None:
    """Return the slip whose number is nearest, the first of two as near; None where none is near.

    ``spread`` is how far right answers lie apart themselves, relative to the right one: wrong ones do as well.
    """
    slips = tuple(slips)
    if not number:
        return next((slip for slip in slips if not slip.value), None)
    near = [(abs(number / slip.value - 1), slip) for slip in slips if slip.value and math.isfinite(slip.value)]
    apart, slip = min(near, key=lambda one: one[0], default=(math.inf, None))
    return slip if apart <= CLOSE + spread else None


# --- What is asked


class Question(Protocol):
    """One thing that is asked, under a key of the student's dictionary."""

    @property
    def key(self) -> object:
        """The key."""
        ...

    def checks(self, answer: object) -> Iterable[Check]:
        """Judge what stands there; None where nothing does."""
        ...


@dataclass(frozen=True)
class Value:
    """A number within an interval. ``what`` names it: ``"round-trip time of h1 to h4"``.

    ``hints`` are for numbers that no slip explains: where one is recognised, its own step is the hint. ``shown`` is
    whether the interval may be seen before the answer is right: of what tools measured, yes; of what is to be predicted
    or computed, no. ``by_tool`` is whether a tool gave the number in the question's unit, so that no unit can be wrong.
    ``explanation`` is what the right number opens, in Markdown. ``or_whole`` is whether the right number rounded to a
    whole one passes too, as of a mean count of packets.
    """

    key: object
    what: str
    expected: Expectation
    hints: Hints
    slips: Sequence[Slip] = ()
    round_trip: bool = False
    shown: bool = False
    by_tool: bool = False
    explanation: str = ""
    or_whole: bool = False

    @property
    def all_slips(self) -> tuple[Slip, ...]:
        """The question's own slips, then the derived ones; none of them has the right number.

        What rounding alone can make of the right number is no slip: what is nearer than a tenth of its tolerance.
        """
        right = self.expected.value
        nearest = 0.0 if self.shown else (self.expected.high - self.expected.low) / 20
        units = () if self.by_tool else derived_slips(self.expected, round_trip=self.round_trip)
        every = (*self.slips, *units)
        return tuple(slip for slip in every if abs(slip.value - right) > max(nearest, 1e-9 * abs(right), 1e-12))

    @property
    def interval(self) -> tuple[float, float]:
        """The interval that passes. It never has a slip's number where a number is predicted or computed.

        Then it ends halfway between the right number and the slip's: a tolerance must tell them apart.
        """
        low, high, right = self.expected.low, self.expected.high, self.expected.value
        if self.shown:
            return low, high
        for slip in self.all_slips:
            if low <= slip.value < right:
                low = (slip.value + right) / 2
            elif right < slip.value <= high:
                high = (slip.value + right) / 2
        return low, high

    def checks(self, answer: object) -> Iterable[Check]:
        """Judge a number."""
        unit = self.expected.unit
        may_be_zero = self.expected.low <= 0 or not all(slip.value for slip in self.slips)
        problem = not_a_number(self.what, answer, unit, may_be_zero=may_be_zero)
        if problem is not None:
            return (problem,)
        number, right = as_number(answer), self.expected.value
        low, high = self.interval
        found, asked_for = f"{number:.5g} {unit}".rstrip(), self._asked_for(low, high)
        if low <= number <= high or (self.or_whole and number == round(right)):
            return (Check.passing(self.what, asked_for, found, self.explanation),)
        spread = (high - low) / 2 / abs(self.expected.value) if self.shown and self.expected.value else 0.0
        slip = likeliest(number, self.all_slips, spread)
        if slip is None and not self.shown and number in (float(f"{right:.2g}"), round(right), math.floor(right + 0.5)):
            slip = Slip(number, "that is rounded too far", "give more digits")
        hints = _after(slip, self.hints)
        asked_for = asked_for if self.shown else _number_in(unit)
        reason = f"{found}: {slip.reason}" if slip else f"{found} is {self._side(is_high=number > high)}"
        return (Check.failing(self.what, reason, hints, asked_for, found, slip=slip.reason if slip else ""),)

    def _asked_for(self, low: float, high: float) -> str:
        """Return the interval in words; a count of connections is one whole number, whatever rounding is allowed."""
        right, unit = self.expected.value, self.expected.unit
        if unit == "connections" and right == round(right):
            return f"{right:g} {unit}"
        return _interval(low, high, unit)

    def _side(self, *, is_high: bool) -> str:
        if is_high:
            impossible = self.shown and self.expected.limit == "high"
            return "more than this network can give" if impossible else "too much"
        impossible = self.shown and self.expected.limit == "low"
        return "less than this network can give" if impossible else "too little"


@dataclass(frozen=True)
class OneOf:
    """One of some names, or of some texts by letter. Case and blanks around an answer do not count.

    ``remarks`` are for wrong options, where there is something to say of one. ``explanation`` is what the right one
    opens, in Markdown. Names have no text: see `among`.
    """

    key: object
    what: str
    options: Mapping[str, str]
    right: str
    remarks: Mapping[str, str]
    hints: Hints = ""
    explanation: str = ""

    def checks(self, answer: object) -> Iterable[Check]:
        """Judge a choice."""
        names = ", ".join(self.options)
        expected = f"one of {names}"
        example = f'write it as a text: "{next(iter(self.options))}"'
        if is_missing(answer):
            return (Check.failing(self.what, "not answered yet", example, expected, "None"),)
        option = normalised(answer, self.options)
        if option is None:
            return (Check.failing(self.what, f"{answer!r} is none of {names}", example, expected, repr(answer)),)
        text = self.options[option]
        chosen = f"{option}: {text}" if text else option
        if option == self.right:
            passed = Check.passing(self.what, expected, chosen, self.explanation)
            return (replace(passed, chosen=option),)
        remark = self.remarks.get(option)
        reason = f"{option} is not right{f'; {remark}' if remark else ''}"
        return (replace(Check.failing(self.what, reason, self.hints, expected, chosen), chosen=option),)


def among(
    key: object, what: str, options: Iterable[str], right: str, remarks: Mapping[str, str], hints: Hints = ""
) -> OneOf:
    """Ask for one of some names, where the right one follows from the network."""
    return OneOf(key, what, dict.fromkeys(options, ""), right, remarks, hints)


@dataclass(frozen=True)
class JudgedBy:
    """What a function judges: a measurement, say, that must be the right one before its numbers count."""

    key: object
    judge: Callable[[Any, object], Check | Iterable[Check]]

    def checks(self, answer: object) -> Iterable[Check]:
        """Judge with the function, which gets the key and the answer, and may refuse it (`Refuse`)."""
        return collect_checks(lambda: self.judge(self.key, answer))


def asked(title: str, given: object, questions: Iterable[Question], example: str = "") -> Result:
    """Judge a student's dictionary: the checks of each question, in order.

    ``example`` shows how to write the dictionary. Names in it that nobody asks for are named where a question is not
    answered, since one of them is mostly the misspelt one, and else change nothing.
    """
    every = tuple(questions)
    return Result(title, _checks(title, given, every, example), every)


def asked_each(
    title: str,
    given: object,
    keys: Iterable[Any],
    judge: Callable[[Any, object], Check | Iterable[Check]],
    example: str,
) -> Result:
    """Judge a student's dictionary that has something under each key, such as a measurement: see `JudgedBy`."""
    return asked(title, given, [JudgedBy(key, judge) for key in keys], example)


def _checks(title: str, given: object, every: Sequence[Question], example: str) -> tuple[Check, ...]:
    keys = [question.key for question in every]
    shown = example or "{" + f"{keys[0]!r}: ..." + "}"
    if not isinstance(given, Mapping):
        reason = "not filled in yet" if is_missing(given) else f"this is {a_kind(given)}, not a dictionary"
        return (Check.failing(title, reason, f"write it as {shown}", "a dictionary"),)
    strange = [key for key in given if key not in keys]
    checks: list[Check] = []
    for question in every:
        found = list(question.checks(given.get(question.key)))
        if question.key not in given and strange:
            other = _nearest(question.key, strange)
            note = f"the dictionary has {other!r}, which nobody asks for, and no {question.key!r}"
            found = [it if it.passed else replace(it, reason=f"{it.reason}: {note}") for it in found]
        checks += found
    return tuple(checks)


def asked_one(title: str, given: object, question: Question) -> Result:
    """Judge an answer that is no dictionary: that of one question."""
    return Result(title, tuple(question.checks(given)), (question,))


# --- Numbers, names, hints


def stated(value: float, unit: str, why: str, digits: int = 3) -> Expectation:
    """Expect one number that is rounded to ``digits`` digits: half a unit of the last digit to each side.

    Half a unit of the third digit is up to 0.5 % of a number, of the fourth 0.05 %.
    """
    half = 0.5 * 10.0 ** (1 - digits) * abs(value)
    return Expectation(value, value - half, value + half, unit, why, allowance=f"rounding to {digits} digits")


def as_number(value: object) -> float:
    """Return a number of any kind as a float: Python's, a fraction, a decimal, numpy's. NaN for all else."""
    number = number_of(value)
    return math.nan if number is None or isinstance(number, bool) else float(number)


def not_a_number(what: str, value: object, unit: str, *, may_be_zero: bool = False) -> Check | None:
    """Return a failed check if ``value`` is no number above 0, or None."""
    example, expected = f"give it in {unit}, as a plain number" if unit else "give a plain number", _number_in(unit)
    if is_missing(value):
        return Check.failing(what, "not filled in yet", example, expected, "None")
    if isinstance(value, str):
        return Check.failing(what, f"{value!r} is a text", f"{example} without quotes", expected, repr(value))
    number = as_number(value)
    if math.isnan(number) and not isinstance(value, float):
        kind = type(value).__name__
        return Check.failing(what, f"this is {a_kind(value)}, not a number", example, expected, kind)
    if not math.isfinite(number) or number < 0 or (number == 0 and not may_be_zero):
        bad = "below 0" if may_be_zero and number < 0 else "not a number above 0"
        return Check.failing(what, f"{number:g} is {bad}", example, expected, f"{number:g} {unit}")
    return None


def is_missing(value: object) -> bool:
    """Return whether an answer is what starters have in its place, or an empty text."""
    return value is None or value is ... or (isinstance(value, str) and not value.strip())


def normalised(answer: object, options: Iterable[str]) -> str | None:
    """Return the option that an answer means, whatever its case and the blanks around it. None where it is none."""
    if not isinstance(answer, str):
        return None
    given = answer.strip().casefold()
    return next((option for option in options if option.casefold() == given), None)


def _after(slip: Slip | None, hints: Hints) -> Hints:
    """Return what a recognised slip needs, and nothing of other causes; the question's hints where none is known."""
    return slip.step if slip is not None and slip.step else hints


def _interval(low: float, high: float, unit: str) -> str:
    first, last = four_digits(low), four_digits(high)
    return f"{first} {unit}".rstrip() if first == last else f"{first} to {last} {unit}".rstrip()


_FIVE_DIGITS: Final = 9999.5
_TWELVE_DIGITS: Final = 1e12
"""From the first on a number is shown whole; from the second on nobody counts its digits."""


def four_digits(number: float) -> str:
    """Return a number with four digits, or with all that stand before the point."""
    return f"{number:.0f}" if _FIVE_DIGITS <= abs(number) < _TWELVE_DIGITS else f"{number:.4g}"


def _number_in(unit: str) -> str:
    return f"a number in {unit}" if unit else "a number"


def _nearest(key: object, strange: Sequence[object]) -> object:
    near = difflib.get_close_matches(str(key), [str(each) for each in strange], n=1, cutoff=0.0)
    return next(each for each in strange if str(each) == near[0])
