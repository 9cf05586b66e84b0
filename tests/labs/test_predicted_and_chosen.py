"""What each lab asks before anything is measured, on the course network and another; and each lab's options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from linklab.course import using
from linklab.discovery import lab_names, load
from linklab.grade import Result
from linklab.grade.choices import SEALED, choices
from linklab.grade.predictions import Predictions, Sketch, remark
from linklab.grade.questions import Value
from linklab.labs.lab09 import rules as lab09
from linklab.labs.lab11 import rules as lab11
from linklab.labs.lab12 import rules as lab12
from linklab.labs.lab13 import rules as lab13
from linklab.network import COURSE
from linklab.network.variants import variant

LABS = sorted(lab_names())
NETWORKS = {"course": COURSE, "variant": variant("ada", b"a course secret for trials")}


def _asked(lab: str) -> Iterator[Value]:
    predictions: Predictions | None = getattr(load(lab), "PREDICTIONS", None)
    if predictions is None:
        return
    for name in predictions.names:
        questions = predictions.asked(name)
        if not isinstance(questions, Sketch):
            yield from questions


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("lab", LABS)
def test_what_theory_says_is_called_right_and_each_slip_by_its_name(lab: str, network: str) -> None:
    with using(NETWORKS[network]):
        for question in _asked(lab):
            right = question.expected.value
            assert remark(question, right) == ("as theory says", ""), question.key
            assert remark(question, float(f"{right:.3g}"))[1] == "", question.key
            for slip in question.slips:
                if abs(slip.value / right - 1) > 0.01:
                    assert remark(question, slip.value)[1], (question.key, slip.reason)


@pytest.mark.parametrize("lab", LABS)
def test_one_letter_is_right_and_each_other_has_a_remark(lab: str) -> None:
    folder = Path(load(lab).__path__[0])
    if not (folder / SEALED).exists():
        return
    for question in choices(folder):
        found = {letter: next(iter(question.checks(f" {letter.upper()} "))) for letter in question.options}
        assert [check.passed for check in found.values()].count(True) == 1, question.key
        assert all(check.hint for check in found.values() if not check.passed), question.key
        (other,) = question.checks("z")
        assert "none of" in other.reason


@pytest.mark.parametrize(
    ("check", "right"),
    [
        (lab09.check_close, "c"),
        (lab11.check_seen, {"tracks": "b", "overshoot": "d"}),
        (lab11.check_shapes, {"hystart": "c", "gaps": "a", "rests": "b"}),
        (lab11.check_shares, {"long": "c", "depth": "a"}),
        (lab12.check_drops, {"early": "c", "sojourn": "b"}),
        (lab12.check_turns, {"turns": "a", "mark": "d"}),
        (lab13.check_bits, "c"),
        (lab13.check_karn, "b"),
    ],
)
def test_a_check_asks_its_own_questions(check: Callable[[object], Result], right: object) -> None:
    assert check(right).passed
    assert not check(None).passed


@pytest.mark.parametrize("lab", LABS)
def test_a_check_by_letter_finds_its_questions_in_the_lab_s_folder(lab: str) -> None:
    for name, check in vars(load(lab)).items():
        if name.startswith("check_") and check.__wrapped__.__name__ == "<lambda>":
            assert not check(None).passed, name
