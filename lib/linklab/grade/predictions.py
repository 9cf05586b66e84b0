"""What students say before they measure: numbers and curves that no check fails, and what came of them.

A lab has a table of what it asks, by name, and its notebook goes three steps with each::

    rtt_ms = lab04.predict("rtt", 20, sure=70)  # locked, with the time
    lab04.check_predicted(rtt_ms).require()     # the point is for committing
    lab04.check_pings(pings).require()          # shows it next to what was measured

In a student's page the first complete answer is locked: what is written there later does not replace it. (A judge runs
the notebook anew, where what stands in the cell last counts.) After the measurement `compared` puts it next to theory
and to what was measured, and names the likeliest slip behind a number that is off.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from numbers import Real
from pathlib import Path
from typing import Any, Final, TypeGuard

from linklab.errors import LinklabError
from linklab.grade.check import Check, Surprise, a_kind
from linklab.grade.questions import Value, as_number, is_missing, likeliest, not_a_number
from linklab.grade.result import Result, guarded
from linklab.record import in_a_kernel

_SURE: Final = "sure=70, say: from 0 (a guess) to 100 (certain)"
_CLOSE: Final = 0.02
"""A prediction this near to theory, relative to it, is called right, and this near to a slip's number that slip's."""
_POINTS_AT_LEAST: Final = 3


@dataclass(frozen=True)
class Sketch:
    """A curve that is asked for before it is measured: at least three points ``(x, y)``, from left to right.

    ``what`` names it, ``x`` and ``y`` are its axes with their units: ``"RTT of h1-h4"``, ``"seconds"``, ``"ms"``.
    """

    what: str
    x: str
    y: str
    least: float = 0.0
    """The least that y can be."""

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
        if min(y for _, y in points) < self.least:
            return f"{self.y} is never below {self.least:g}"
        return ""


def _plain(given: object) -> object:
    """A list of numpy's as one of Python's; all else as it is."""
    return given.tolist() if hasattr(given, "tolist") else given


def _is_pair(point: object) -> bool:
    return isinstance(point, Sequence) and not isinstance(point, str) and len(point) == 2


Asked = Sequence[Value] | Sketch
"""What one prediction asks: numbers, or a curve."""


@dataclass(frozen=True)
class Prediction:
    """What a student has said of one thing, and when. ``prediction["L1"]`` is the number under that key.

    ``numbers`` are the numbers by key, ``sketch`` the points of a curve. ``problems`` are what keeps it from being
    locked: what, and what is wrong with it. ``locked_at`` is empty until there is none.
    """

    lab: str
    name: str
    numbers: tuple[tuple[str, float], ...] = ()
    sketch: tuple[tuple[float, float], ...] = ()
    sure_percent: float | None = None
    locked_at: str = ""
    problems: tuple[tuple[str, str], ...] = ()
    note: str = ""

    def __getitem__(self, key: object) -> float:
        """Return the number under a key. Raises LinklabError where there is none."""
        found = dict(self.numbers).get(str(key))
        if found is None:
            raise LinklabError(
                f"nothing is predicted for {key!r} in {self.name!r}: fill in the cell with predict() first"
            )
        return found

    @property
    def is_locked(self) -> bool:
        """Return True once it is complete."""
        return bool(self.locked_at)

    def __str__(self) -> str:
        if not self.is_locked:
            return f"Not locked yet. {'; '.join(map(': '.join, self.problems))}."
        said = [f"{key}: {number:g}" for key, number in self.numbers]
        said += [f"{len(self.sketch)} points"] if self.sketch else []
        return f"Locked on {self.locked_at}, {self.sure_percent:g} % sure. {', '.join(said)}. {self.note}".rstrip()

    def _repr_html_(self) -> str:
        """What a notebook shows for it."""
        return f"<p>{escape(str(self))}</p>"


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
        """Lock a prediction: the number or the dictionary of numbers that is asked for, or the points of a curve.

        ``sure`` is how sure the student is, in percent. Any plausible number will do. What is not filled in yet, or is
        no number, is said, and nothing is locked. Raises LinklabError for a name that the lab has not.
        """
        asked = self.asked(name)
        made = _sketched(asked, given) if isinstance(asked, Sketch) else _numbered(asked, given)
        problems = (*made.problems, *_unsure(sure))
        made = replace(made, lab=self._title, name=name, problems=problems)
        return made if problems else _locked(replace(made, sure_percent=as_number(sure)))

    @guarded
    def check_predicted(self, prediction: object) -> Result:
        """Judge whether a prediction is complete: all its points are for committing to it, whatever it says."""
        if not self._is_own(prediction):
            example = f"{self._title.lower().replace(' ', '')}.predict({self.names[0]!r}, ..., sure=70)"
            reason = f"this is {a_kind(prediction)}, and no prediction of this lab"
            check = Check.failing("prediction", reason, f"give what {example} returns")
            return Result(f"{self._title}, prediction", (check,))
        title = f"{self._title}, predicted: {prediction.name.replace('_', ' ')}"
        asked = self.asked(prediction.name)
        problems = prediction.problems or tuple(_problems(prediction, asked))
        if problems:
            hint = "any number will do: there is no wrong one"
            return Result(title, tuple(Check.failing(what, why, hint, "a prediction") for what, why in problems))
        if not in_a_kernel():  # the judge's process, which has not seen the student's predict
            _known[prediction.lab, prediction.name] = prediction
        return Result(title, tuple(_committed(prediction, asked)))

    def compared(self, result: Result, prediction: object, measured: Mapping[str, float | None]) -> Result:
        """Return the result of a measurement's check with what was predicted next to theory and measurement.

        ``prediction`` is its name, or itself. Only where the measurement passed, and a prediction was locked: theory
        stays hidden until then, and who predicted nothing loses nothing.
        """
        if isinstance(prediction, str):
            prediction = _remembered((self._title, prediction))
        if not (result.passed and self._is_own(prediction)):
            return result
        asked = self.asked(prediction.name)
        if isinstance(asked, Sketch) or not prediction.is_locked or [*_problems(prediction, asked)]:
            return result
        said = dict(prediction.numbers)
        rows = [
            surprise(question, said[str(question.key)], prediction.sure_percent or 0.0, measured.get(str(question.key)))
            for question in asked
            if str(question.key) in said
        ]
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


def _problems(prediction: Prediction, asked: Asked) -> Iterator[tuple[str, str]]:
    """What a prediction lacks that came from elsewhere: a kernel may hand over what `predict` never made."""
    said = dict(prediction.numbers)
    if isinstance(asked, Sketch):
        yield from _sketched(asked, prediction.sketch).problems
    else:
        yield from _numbered(asked, {question.key: said.get(str(question.key)) for question in asked}).problems
    yield from _unsure(prediction.sure_percent)
    if not prediction.is_locked:
        yield "prediction", "not locked yet: run the cell with predict() again"


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


# --- The lock


_known: dict[tuple[str, str], Prediction] = {}
"""What is locked in this process, by lab and name."""


def forget_locks() -> None:
    """Forget what is locked in this process. Files are left as they are."""
    _known.clear()


def _locked(prediction: Prediction) -> Prediction:
    """The prediction that counts: the one that was locked first, or this one, which is locked now."""
    key = (prediction.lab, prediction.name)
    first = _remembered(key) if in_a_kernel() else None
    if first is None or not first.is_locked or _shape(first) != _shape(prediction):  # another network asks otherwise
        first = replace(prediction, locked_at=_now())
        _keep(first)
    _known[key] = first
    same = (first.numbers, first.sketch) == (prediction.numbers, prediction.sketch)
    return first if same else replace(first, note="What stands in the cell now came later, and does not replace it.")


def _remembered(key: tuple[str, str]) -> Prediction | None:
    return _known.get(key) or (_kept(key) if in_a_kernel() else None)


def _shape(prediction: Prediction) -> tuple[tuple[str, ...], bool]:
    return tuple(key for key, _ in prediction.numbers), bool(prediction.sketch)


def _now() -> str:
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%d at %H:%M")


def _file() -> Path | None:
    """Where the locks of the notebook that is open in a page are kept; None for a run without a page."""
    name = Path(os.environ.get("JPY_SESSION_NAME", ""))
    return Path(".predictions", f"{name.stem}.json") if name.suffix == ".ipynb" else None


def _kept(key: tuple[str, str]) -> Prediction | None:
    file = _file()
    try:
        told = json.loads(file.read_text("utf-8"))[" ".join(key)] if file is not None else None
        return None if told is None else _read(told)
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _read(told: Mapping[str, Any]) -> Prediction:
    numbers = tuple((str(key), float(value)) for key, value in told["numbers"])
    sketch = tuple((float(x), float(y)) for x, y in told["sketch"])
    name, locked_at = str(told["name"]), str(told["locked_at"])
    return Prediction(str(told["lab"]), name, numbers, sketch, float(told["sure_percent"]), locked_at)


def _keep(prediction: Prediction) -> None:
    """Write it next to the notebook, so that it outlives the kernel. A folder that cannot be written keeps nothing."""
    file = _file()
    if file is None:
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        try:
            every = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            every = {}
        every = every if isinstance(every, dict) else {}
        every[f"{prediction.lab} {prediction.name}"] = asdict(prediction)
        draft = file.with_suffix(".new")
        draft.write_text(json.dumps(every, indent=1) + "\n", "utf-8")
        draft.replace(file)
