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
from dataclasses import dataclass, replace
from html import escape
from numbers import Real
from typing import Final, TypeGuard

from linklab.errors import LinklabError
from linklab.grade.check import Check, Surprise, a_kind
from linklab.grade.questions import Value, as_number, is_missing, likeliest, not_a_number
from linklab.grade.result import Result, guarded
from linklab.record import somebody_watches

_SURE: Final = "a number of percent, from 0 (a guess) to 100 (certain), for example sure=70"
_CLOSE: Final = 0.02
"""A prediction this near to theory, relative to it, is called right, and this near to a slip's number that slip's."""
_POINTS_AT_LEAST: Final = 3


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

    def problem(self, given: object) -> str:
        """Return what is wrong with the points in a line, empty if they can be drawn."""
        given = _plain(given)
        form = f"write points as [(0, 5), (10, 20), (25, 20)]: {self.x}, then {self.y}"
        if is_missing(given):
            return f"not filled in yet: {form}"
        if not isinstance(given, Sequence) or isinstance(given, str) or not all(map(_is_pair, given)):
            return f"this is {a_kind(given)}, and no list of points: {form}"
        if any(is_missing(number) for point in given for number in point):
            return f"not filled in yet: {form}"
        points = [(as_number(x), as_number(y)) for x, y in given]
        if not all(math.isfinite(number) for point in points for number in point):
            return f"a point is no pair of numbers: {form}"
        if len(points) < _POINTS_AT_LEAST:
            return f"{len(points)} of {_POINTS_AT_LEAST} points or more: {form}"
        if any(later <= earlier for (earlier, _), (later, _) in itertools.pairwise(points)):
            return f"points go from left to right: {self.x} must grow"
        if min(y for _, y in points) < self.y_span[0]:
            return f"{self.y} is never below {self.y_span[0]:g}"
        return ""


def span(most: float) -> tuple[float, float]:
    """Return the ends of an axis for values up to about ``most``: from 0 to a round number that tells little of it."""
    size = 10.0 ** math.floor(math.log10(1.5 * most))
    return 0.0, next(step * size for step in (1, 2, 5, 10) if step * size >= 1.5 * most)


def _plain(given: object) -> object:
    """Return an array of numpy's as a list, and all else as it is."""
    return given.tolist() if hasattr(given, "tolist") else given


def _is_pair(point: object) -> bool:
    return isinstance(point, Sequence) and not isinstance(point, str) and len(point) == 2


Asked = Sequence[Value] | Sketch
"""What one prediction asks: numbers, or a curve."""


@dataclass(frozen=True)
class Prediction:
    """What a student has said of one thing. ``prediction["L1"]`` is the number under that key.

    ``numbers`` are the numbers by key, ``sketch`` the points of a curve. ``problems`` say what it lacks: of what, and
    what is wrong with it.
    """

    lab: str
    name: str
    numbers: tuple[tuple[str, float], ...] = ()
    sketch: tuple[tuple[float, float], ...] = ()
    sure_percent: float | None = None
    problems: tuple[tuple[str, str], ...] = ()

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
            return f"Not complete yet. {'; '.join(map(': '.join, self.problems))}."
        said = [f"{key}: {number:g}" for key, number in self.numbers]
        said += [f"{len(self.sketch)} points"] if self.sketch else []
        return f"You predict, {self.sure_percent:g} % sure: {', '.join(said)}."

    def _repr_html_(self) -> str:
        """What a notebook shows for it."""
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
        made = _sketched(asked, given) if isinstance(asked, Sketch) else _numbered(asked, given)
        problems = (*made.problems, *_unsure(sure))
        made = replace(made, lab=self._title, name=name, problems=problems)
        return made if problems else replace(made, sure_percent=as_number(sure))

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
        problems = prediction.problems or tuple(_problems(prediction, asked))
        if problems:
            hint = "any number will do: there is no wrong one"
            return Result(title, tuple(Check.failing(what, why, hint, "a prediction") for what, why in problems))
        return Result(title, tuple(_committed(prediction, asked)))

    def compared(self, result: Result, prediction: object, measured: Mapping[str, float | None]) -> Result:
        """Return the result of a measurement's check with what was predicted next to theory and measurement.

        ``prediction`` is the name of one that `check_predicted` has seen, or the prediction itself. Where the
        measurement has not passed, nothing is added: theory stays hidden until then. Who predicted nothing loses
        nothing.
        """
        if isinstance(prediction, str):
            prediction = _checked.get((self._title, prediction))
        if not (result.passed and self._is_own(prediction)):
            return result
        asked = self.asked(prediction.name)
        if isinstance(asked, Sketch) or [*_problems(prediction, asked)]:
            return result
        said = dict(prediction.numbers)
        rows = tuple(
            surprise(question, said[str(question.key)], prediction.sure_percent or 0.0, measured.get(str(question.key)))
            for question in asked
            if str(question.key) in said
        )
        _compared[self._title, prediction.name] = rows
        return replace(result, surprises=(*result.surprises, *rows))

    def _is_own(self, prediction: object) -> TypeGuard[Prediction]:
        return isinstance(prediction, Prediction) and prediction.lab == self._title and prediction.name in self._asked


def surprise(question: Value, predicted: float, sure_percent: float, measured: float | None) -> Surprise:
    """Return what is to be said of a predicted number, once it was measured."""
    expected = question.expected
    said, slip = remark(question, predicted)
    return Surprise(question.what, expected.unit, predicted, sure_percent, expected.value, measured, said, slip)


def remark(question: Value, predicted: float) -> tuple[str, str]:
    """Return what to say of a predicted number, and the slip behind it: empty where it is right or none is known."""
    right = question.expected.value
    low, high = question.interval
    if low <= predicted <= high:
        return "as theory says", ""
    slip = likeliest(predicted, question.all_slips, _CLOSE)
    off = abs(predicted / right - 1) if right else math.inf
    if slip is not None and (off > _CLOSE or abs(predicted - slip.value) < abs(predicted - right)):
        return f"you predicted {predicted:.4g}: {slip.reason}. {_sentence(slip.step)}".rstrip(), slip.reason
    if off <= _CLOSE:
        return "close to theory", ""
    if not right or not predicted:
        return f"theory says {right:.4g}", ""
    factor = predicted / right
    if 0.5 < factor < 2:
        amount = f"{abs(100 * (factor - 1)):.0f} % {'more' if factor > 1 else 'less'} than theory"
    else:
        amount = f"{factor:.2g} times theory" if factor > 1 else f"theory is {1 / factor:.2g} times as much"
    return f"{amount}. {_sentence(_first(question.hints))}".rstrip(), ""


# --- Reading what students give


def _numbered(asked: Sequence[Value], given: object) -> Prediction:
    if not isinstance(given, Mapping) and len(asked) == 1:
        given = {asked[0].key: given}
    if not isinstance(given, Mapping):
        return Prediction("", "", problems=(("prediction", f"give a dictionary, as {{{asked[0].key!r}: 12, ...}}"),))
    problems, numbers = [], []
    for question in asked:
        answer = given.get(question.key)
        problem = not_a_number(question.what, answer, question.expected.unit, may_be_zero=True)
        if problem is not None:
            problems.append((str(question.key), problem.reason))
        else:
            numbers.append((str(question.key), as_number(answer)))
    return Prediction("", "", tuple(numbers), problems=tuple(problems))


def _sketched(asked: Sketch, given: object) -> Prediction:
    problem = asked.problem(given)
    if problem:
        return Prediction("", "", problems=((asked.what, problem),))
    given = _plain(given)
    assert isinstance(given, Sequence)
    return Prediction("", "", sketch=tuple((as_number(x), as_number(y)) for x, y in given))


def _unsure(sure: object) -> Iterator[tuple[str, str]]:
    if is_missing(sure):
        yield "how sure", f"not filled in yet, write {_SURE}"
    elif isinstance(sure, bool) or not isinstance(sure, Real) or not 0 <= as_number(sure) <= 100:
        yield "how sure", f"{sure!r} is no percentage, write {_SURE}"
    elif 0 < as_number(sure) < 1:
        percent = f"{100 * as_number(sure):g}"
        yield "how sure", f"{sure} is less than 1 %: for {percent} %, write sure={percent}"


def _problems(prediction: Prediction, asked: Asked) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a prediction that `predict` may never have made: in class, the kernel sends it."""
    said = dict(prediction.numbers)
    if isinstance(asked, Sketch):
        yield from _sketched(asked, prediction.sketch).problems
    else:
        yield from _numbered(asked, {question.key: said.get(str(question.key)) for question in asked}).problems
    yield from _unsure(prediction.sure_percent)


def _committed(prediction: Prediction, asked: Asked) -> Iterator[Check]:
    sure = f"{prediction.sure_percent:g} % sure"
    if isinstance(asked, Sketch):
        yield Check.passing(asked.what, "a curve", f"{len(prediction.sketch)} points, {sure}")
        return
    said = dict(prediction.numbers)
    for question in asked:
        found = f"{said[str(question.key)]:g} {question.expected.unit}".rstrip()
        yield Check.passing(question.what, "a number of your own", f"{found}, {sure}")


def _first(hints: str | tuple[str, ...]) -> str:
    return hints if isinstance(hints, str) else next(iter(hints), "")


def _sentence(text: str) -> str:
    end = "" if text.endswith((".", "?", "!")) else "."
    return f"{text[:1].upper()}{text[1:]}{end}" if text else ""
