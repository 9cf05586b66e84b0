"""Answers that were judged once, right and wrong ones, with their verdicts: `recorded.jsonl.xz`.

They were recorded from the solutions as run on virtual time, and from tests of each lab's checks, before the question
engine was written anew: what a check was called with (`linklab.grade.values`), on which network, and what came of it.
"""

from __future__ import annotations

import functools
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from linklab.course import using
from linklab.grade import Check, Outcome, Result
from linklab.grade.predictions import Predictions, Sketch, remark
from linklab.grade.values import read
from linklab.labs import load
from tools.networks import network_of

_FILE = Path(__file__).with_name("recorded.jsonl.xz")
_NARROW = Path(__file__).with_name("narrow.jsonl.xz")


@dataclass(frozen=True)
class Recorded:
    """One call of a check, as text, and its verdict. ``number`` is its line in the file."""

    number: int
    lab: str
    check: str
    positional: str
    named: str
    network: str
    outcome: Outcome

    @property
    def is_prediction(self) -> bool:
        """Return True if what was judged once is a prediction now, of the same name."""
        lab = load(self.lab)
        return not hasattr(lab, self.check) and self._name in getattr(lab.rules, "PREDICTIONS", _NONE).names

    @property
    def _name(self) -> str:
        return self.check.removeprefix("check_").removeprefix("prediction_")

    def judged(self) -> Result:
        """Judge the same answers now; of a prediction, what would be said of it after the measurement."""
        lab = load(self.lab)
        if self.is_prediction:
            with using(network_of(self.network)):
                given: list[object] = read(self.positional)  # type: ignore[assignment]
                return _said_of(lab.rules.PREDICTIONS, self._name, given[0])
        function = getattr(lab, self.check)
        positional: list[object] = read(self.positional)  # type: ignore[assignment]
        named: dict[str, object] = read(self.named)  # type: ignore[assignment]
        with using(network_of(self.network)):
            found = function(*positional, **named)
        assert isinstance(found, Result)
        return found


def recorded(lab: str) -> Iterator[Recorded]:
    """Give all calls of a lab's checks."""
    return (each for each in _all(_FILE) if each.lab == lab)


def narrow() -> tuple[Recorded, ...]:
    """Return honest answers on a dozen students' networks that came nearest to an end of their interval.

    ``python -m tools.networks --keep tests/labs/narrow.jsonl.xz`` writes them anew.
    """
    return _all(_NARROW)


def _said_of(predictions: Predictions, name: str, given: object) -> Result:
    """A check for each number: passed where it is called right."""
    asked = predictions.asked(name)
    assert not isinstance(asked, Sketch)
    prediction = predictions.predict(name, given, 50)
    checks = [Check.failing(what, reason, "") for what, reason, _ in prediction.problems]
    for question in asked if not checks else ():
        said, _ = remark(question, prediction[question.key])
        right = said in ("as theory says", "close to theory")
        checks.append(Check.passing(question.what, "") if right else Check.failing(question.what, said, ""))
    return Result(name, tuple(checks), tuple(asked))


_NONE = Predictions("", {})


@functools.cache
def _all(path: Path) -> tuple[Recorded, ...]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return tuple(Recorded(number, *json.loads(line)) for number, line in enumerate(file, 1))
