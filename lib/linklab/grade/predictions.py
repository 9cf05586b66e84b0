"""Students' predictions before they measure: numbers and curves. No check fails one for being wrong.

A lab has a table of what it asks, by name, and its notebook goes three steps with each::

    rtt_ms = lab04.predict("rtt", 20, sure=70)
    lab04.check_predicted(rtt_ms).require()     # the point is for committing
    lab04.check_pings(pings).require()          # shows it next to what was measured

A prediction is what its cell says. `check_predicted` remembers it for the check of the measurement, where `compared`
puts it next to theory and to what was measured, and names the likeliest slip behind a number that is off.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from numbers import Real
from typing import Final, TypeGuard

from linklab.errors import LinklabError
from linklab.grade.check import Check, Surprise, a_kind, as_tuple
from linklab.grade.questions import Value, as_number, is_missing, likeliest, not_a_number
from linklab.grade.result import Result, guarded
from linklab.record import somebody_watches

_SURE: Final = "a number of percent, from 0 (a guess) to 100 (certain), for example sure=70"
_AS_THEORY: Final = "as theory says"
_FAR: Final = 0.05
"""A measurement this far from theory, relative to it, is told beside a prediction that agrees with theory."""
_CLOSE: Final = 0.02
"""A prediction this near to theory, relative to it, is called right, and this near to a slip's number that slip's."""
_POINTS_AT_LEAST: Final = 3
_SIX_DIGITS: Final = 1e6
_NOT_FILLED_IN: Final = "not filled in yet"
_ANY_WILL_DO: Final = "any number will do: there is no wrong one"

Point = tuple[float, float]
Problem = tuple[str, str, str]
"""What is incomplete, what is wrong with it, and what to do."""


@dataclass(frozen=True)
class Sketch:
    """A curve that is asked for before it is measured: at least three points ``(x, y)``, from left to right.

    ``what`` names it, ``x`` and ``y`` are its axes with their units: ``"RTT of h1-h4"``, ``"seconds"``, ``"ms"``.
    ``x_span`` and ``y_span`` are the ends of the axes on which it is drawn; `span` makes one. No y is below its axis.
    """

    what: str
    x: str
    y: str
    x_span: tuple[float, float]
    y_span: tuple[float, float]

    def read(self, given: object) -> tuple[tuple[Point, ...], tuple[Problem, ...]]:
        """Return the points that a student gives, and what is wrong with them: then there are none."""
        given = given.tolist() if hasattr(given, "tolist") else given
        form = f"write points as [(0, 5), (10, 20), (25, 20)]: {self.x}, then {self.y}"
        if is_missing(given):
            return (), ((self.what, _NOT_FILLED_IN, form),)
        if not isinstance(given, Sequence) or isinstance(given, str) or not all(map(_is_pair, given)):
            return (), ((self.what, f"this is {a_kind(given)}, and no list of points", form),)
        if any(is_missing(number) for point in given for number in point):
            return (), ((self.what, _NOT_FILLED_IN, form),)
        points = tuple((as_number(x), as_number(y)) for x, y in given)
        reason = self._trouble(points)
        return ((), ((self.what, reason, form),)) if reason else (points, ())

    def _trouble(self, points: Sequence[Point]) -> str:
        """Return why points are no curve, empty if they can be drawn."""
        if not all(math.isfinite(number) for point in points for number in point):
            return "a point is no pair of numbers"
        if len(points) < _POINTS_AT_LEAST:
            return f"{len(points)} of {_POINTS_AT_LEAST} points or more"
        if any(later <= earlier for (earlier, _), (later, _) in itertools.pairwise(points)):
            return f"points go from left to right: {self.x} must grow"
        return f"{self.y} is never below {self.y_span[0]:g}" if min(y for _, y in points) < self.y_span[0] else ""


def span(most: float) -> tuple[float, float]:
    """Return the ends of an axis for values up to about ``most``: from 0 to a round number that tells little of it."""
    size = 10.0 ** math.floor(math.log10(1.5 * most))
    return 0.0, next(step * size for step in (1, 2, 5, 10) if step * size >= 1.5 * most)


def _is_pair(point: object) -> bool:
    return isinstance(point, Sequence) and not isinstance(point, str) and len(point) == 2


Asked = Sequence[Value] | Sketch
"""What one prediction asks: numbers, or a curve."""


@dataclass(frozen=True)
class Prediction:
    """What a student has said of one thing. ``prediction["L1"]`` is the number under that key.

    ``numbers`` are the numbers by key, ``sketch`` the points of a curve, and ``said`` is both in words. ``problems``
    are what it lacks.
    """

    lab: str
    name: str
    numbers: tuple[tuple[str, float], ...] = ()
    sketch: tuple[Point, ...] = ()
    sure_percent: float | None = None
    problems: tuple[Problem, ...] = ()
    said: tuple[str, ...] = field(default=(), repr=False)

    def __getitem__(self, key: object) -> float:
        """Return the number under a key. Raises LinklabError where there is none."""
        found = dict(self.numbers).get(str(key))
        if found is None:
            raise LinklabError(
                f"nothing is predicted for {key!r} in {self.name!r}: fill in the cell with predict() first"
            )
        return found

    def __str__(self) -> str:
        if self.problems:
            missing = [what for what, reason, _ in self.problems if reason == _NOT_FILLED_IN]
            said = [f"Still to fill in: {', '.join(missing)}."] if missing else []
            said += [_sentence(f"{what}: {why}") for what, why, _ in self.problems if why != _NOT_FILLED_IN]
            return " ".join([*said, *dict.fromkeys(_sentence(it[2]) for it in self.problems)])
        return f"You predict, {self.sure_percent:g} % sure: {'; '.join(self.said)}."

    def _repr_html_(self) -> str:
        """Return what a notebook shows for it."""
        return f"<p>{escape(str(self))}</p>"


_checked: dict[tuple[str, str], Prediction] = {}
"""The last prediction that `Predictions.check_predicted` has seen, by lab and name."""
_compared: dict[tuple[str, str], tuple[Surprise, ...]] = {}
"""What `Predictions.compared` has found last, by lab and name."""


def compared_here(lab: str) -> tuple[Surprise, ...]:
    """Return a lab's predictions that checks in this process have put next to what was measured, in order.

    ``lab`` is its title, as "Lab 04".
    """
    return tuple(surprise for (title, _), rows in _compared.items() if title == lab for surprise in rows)


class Predictions:
    """All predictions of one lab. ``title`` is the lab's, ``asked`` what each asks, by its name.

    What is asked is made when it is needed, since it depends on the student's network.
    """

    def __init__(self, title: str, asked: Mapping[str, Callable[[], Asked]]) -> None:
        self._title, self._asked = title, asked

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._asked)

    def asked(self, name: str) -> Asked:
        """Return what a prediction asks. Raises LinklabError for a name that the lab has not."""
        if name not in self._asked:
            raise LinklabError(f"{self._title} asks for no prediction {name!r}: it asks for {', '.join(self._asked)}")
        return self._asked[name]()

    def predict(self, name: str, given: object, sure: object = None) -> Prediction:
        """Return a prediction: ``given`` is a number, a dictionary of numbers, or the points of a curve, as asked.

        ``sure`` is how sure the student is, in percent. Any plausible number will do. The prediction's ``problems`` say
        what is not filled in yet, or is no number. In a page it shows a form too, whose values the cell's next run
        writes into the cell. Raises LinklabError for a name that the lab has not.
        """
        asked = self.asked(name)
        if somebody_watches():
            from linklab.grade.prediction_form import filled_in

            given, sure = filled_in(self._title, name, asked, given, sure)
        numbers, points, problems = _read(asked, given)
        problems = (*problems, *_unsure(sure))
        percent = None if problems else as_number(sure)
        said = tuple(f"{what}: {words}" for what, words in _in_words(asked, numbers, points))
        return Prediction(self._title, name, numbers, points, percent, problems, said)

    @property
    def check_predicted(self) -> Callable[[object], Result]:
        """Return the check that a prediction is complete: its points are for committing to it, whatever it says."""
        return guarded(self._committed_to)

    def _committed_to(self, prediction: object) -> Result:
        if not self._is_own(prediction):
            example = f"{self._title.lower().replace(' ', '')}.predict({self.names[0]!r}, ..., sure=70)"
            reason = f"this is {a_kind(prediction)}, and no prediction of this lab"
            check = Check.failing("prediction", reason, f"give what {example} returns")
            return Result(f"{self._title}, prediction", (check,))
        title = f"{self._title}, predicted: {prediction.name.replace('_', ' ')}"
        asked = self.asked(prediction.name)
        _checked[prediction.lab, prediction.name] = prediction
        problems = prediction.problems or _problems(prediction, asked)
        if problems:
            return Result(title, tuple(Check.failing(*problem, "a prediction") for problem in problems))
        own = "a curve" if isinstance(asked, Sketch) else "a number of your own"
        said = _in_words(asked, prediction.numbers, prediction.sketch)
        sure = f"{prediction.sure_percent:g} % sure"
        return Result(title, tuple(Check.passing(what, own, f"{words}, {sure}") for what, words in said))

    def compared(self, result: Result, name: str, measured: Mapping[str, float | None]) -> Result:
        """Return the result of a measurement's check with what was predicted next to theory and measurement.

        ``name`` is that of a prediction which `check_predicted` has seen. Where the measurement has not passed, nothing
        is added: theory stays hidden until then. A student who predicted nothing loses nothing.
        """
        prediction = _checked.get((self._title, name))
        if prediction is None or not result.passed:
            return result
        asked = self.asked(name)
        if isinstance(asked, Sketch) or _problems(prediction, asked):
            return result
        said = dict(prediction.numbers)
        rows = tuple(
            surprise(question, said[str(question.key)], prediction.sure_percent or 0.0, measured.get(str(question.key)))
            for question in asked
            if str(question.key) in said
        )
        _compared[self._title, name] = rows
        return replace(result, surprises=(*result.surprises, *rows))

    def _is_own(self, prediction: object) -> TypeGuard[Prediction]:
        return isinstance(prediction, Prediction) and prediction.lab == self._title and prediction.name in self._asked


def surprise(question: Value, predicted: float, sure_percent: float, measured: float | None) -> Surprise:
    """Return what is to be said of a predicted number, once it was measured."""
    expected = question.expected
    said, slip = remark(question, predicted)
    off = measured / expected.value - 1 if measured and expected.value else 0.0
    if said == _AS_THEORY and abs(off) > _FAR:
        said += f", and the run gave {abs(100 * off):.0f} % {'more' if off > 0 else 'less'}"
    return Surprise(question.what, expected.unit, predicted, sure_percent, expected.value, measured, said, slip)


def remark(question: Value, predicted: float) -> tuple[str, str]:
    """Return what to say of a predicted number, and the slip behind it: empty where it is right or none is known."""
    right = question.expected.value
    low, high = question.interval
    if low <= predicted <= high:
        return _AS_THEORY, ""
    slip = likeliest(predicted, question.all_slips, _CLOSE)
    off = abs(predicted / right - 1) if right else math.inf
    if slip is not None and (off > _CLOSE or abs(predicted - slip.value) < abs(predicted - right)):
        return f"you predicted {predicted:.4g}: {slip.reason}. {_sentence(slip.step)}".rstrip(), slip.reason
    if off <= _CLOSE:
        return "close to theory", ""
    if not right or not predicted:
        return f"theory says {right:.4g}", ""
    factor, concept = predicted / right, next(iter(as_tuple(question.hints)), "")
    if 0.5 < factor < 2:
        amount = f"{abs(100 * (factor - 1)):.0f} % {'more' if factor > 1 else 'less'} than theory"
    else:
        amount = f"{factor:.2g} times theory" if factor > 1 else f"theory is {1 / factor:.2g} times as much"
    return f"{amount}. {_sentence(concept)}".rstrip(), ""


# --- Reading what students give


def _read(asked: Asked, given: object) -> tuple[tuple[tuple[str, float], ...], tuple[Point, ...], tuple[Problem, ...]]:
    """Return the numbers, by key, and the points of what a student gives, and what is wrong with it."""
    if isinstance(asked, Sketch):
        return (), *asked.read(given)
    if not isinstance(given, Mapping) and len(asked) == 1:
        given = {asked[0].key: given}
    if not isinstance(given, Mapping):
        reason = _NOT_FILLED_IN if is_missing(given) else f"this is {a_kind(given)}, not a dictionary"
        return (), (), (("prediction", reason, f"give a dictionary, as {{{asked[0].key!r}: 12, ...}}"),)
    numbers, problems = [], []
    for question in asked:
        answer = given.get(question.key)
        problem = not_a_number(question.what, answer, question.expected.unit, may_be_zero=True)
        if problem is None:
            numbers.append((str(question.key), as_number(answer)))
        else:
            problems.append((question.what, problem.reason, _ANY_WILL_DO if is_missing(answer) else problem.hint))
    return tuple(numbers), (), tuple(problems)


def _in_words(asked: Asked, numbers: Sequence[tuple[str, float]], points: Sequence[Point]) -> Iterator[tuple[str, str]]:
    """Yield what is predicted, and what a student has said of it."""
    if isinstance(asked, Sketch):
        yield asked.what, f"{len(points)} points"
        return
    said = dict(numbers)
    for question in asked:
        if str(question.key) in said:
            number = said[str(question.key)]
            words = f"{number:g}" if abs(number) < _SIX_DIGITS else f"{number:.12g}"
            yield question.what, f"{words} {question.expected.unit}".rstrip()


def _unsure(sure: object) -> Iterator[Problem]:
    what, form = "how sure", f"write {_SURE}"
    if is_missing(sure):
        yield what, _NOT_FILLED_IN, form
    elif isinstance(sure, bool) or not isinstance(sure, Real) or not 0 <= as_number(sure) <= 100:
        yield what, f"{sure!r} is no percentage", form
    elif 0 < as_number(sure) < 1:
        percent = f"{100 * as_number(sure):g}"
        yield what, f"{sure} is less than 1 %", f"for {percent} %, write sure={percent}"


def _problems(prediction: Prediction, asked: Asked) -> tuple[Problem, ...]:
    """Return what is wrong with a prediction that `predict` may never have made: in class, the kernel sends it."""
    given: object = prediction.sketch
    if not isinstance(asked, Sketch):
        said = dict(prediction.numbers)
        given = {question.key: said.get(str(question.key)) for question in asked}
    return (*_read(asked, given)[2], *_unsure(prediction.sure_percent))


def _sentence(text: str) -> str:
    end = "" if text.endswith((".", "?", "!")) else "."
    return f"{text[:1].upper()}{text[1:]}{end}" if text else ""
