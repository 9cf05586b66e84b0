"""Answers that were judged before the question engine was written anew get the verdicts that they got then.

What is a prediction now fails nobody; the answers that were right then are called right after the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.labs.recorded import Recorded, narrow, recorded

LABS = ("lab00", "lab01", "lab03", "lab04", "lab05", "lab06", "lab07", "lab08", "lab09", "lab10")

_NOT_ASKED = "G4: a key that nobody asks for fails no cell"
_G9 = "2 % let answers pass that leave out what the question is about: three digits count (0.5 %), and no slip passes"

CHANGED: Mapping[tuple[str, str, str], str] = {
    # labs 00 and 01
    ("lab00", "check_prediction_rtt", "[19.7]"): _G9,
    ("lab00", "check_prediction_throughput", "[9.5]"): _G9,
    ("lab00", "check_prediction_throughput", "[9.64332892998679]"): f"without TCP's timestamps: {_G9}",
    ("lab00", "check_prediction_throughput", "[9.414824447334201]"): f"with a real cable's preamble: {_G9}",
    # lab 04
    **{("lab04", f"check_{check}", '["L4",1]'): _NOT_ASKED
       for check in ("queue_seen",)},
    # lab 05
    **{("lab05", f"check_{check}", '["h2-h5",1]'): _NOT_ASKED
       for check in ("after_loss", "bdp")},
    ("lab05", "check_bdp", '["h1-h4",150]'): "G9: that is with frames of 1500 bytes, without Ethernet's header",
    ("lab05", "check_after_loss", '["h1-h4",93.3]'): "G9: that follows from a wrong BDP",
    # lab 06
    ("lab06", "check_shares", '["tow",3]'): _NOT_ASKED,
    ("lab06", "check_bottlenecks", '["two","l2"]'): "G6: case does not count",
    ("lab06", "check_new_rtt", "[50,60],[200,121]"): "G9: 60 ms is the idle path's, as if the queue added nothing",
}  # fmt: skip
"""Verdicts that were wrong, by lab, check and what is in the answers: why they are others now."""


GONE: Mapping[str, frozenset[str]] = {
    "lab09": frozenset({"check_least", "check_loss", "check_questions", "check_spacing"}),
    "lab03": frozenset({"check_bandwidth", "check_bottlenecks", "check_losses", "check_questions"}),
    "lab06": frozenset(
        {
            "check_bottlenecks",
            "check_fairness",
            "check_full_rtt",
            "check_new_networks",
            "check_new_runs",
            "check_questions",
            "check_queueing",
        }
    ),
    "lab07": frozenset({"check_fairness", "check_predicted_fairness", "check_questions"}),
    "lab08": frozenset({"check_data", "check_questions", "check_through"}),
    "lab10": frozenset({"check_questions"}),
    "lab04": frozenset({"check_arp", "check_headers", "check_queue", "check_serialisation"}),
    "lab05": frozenset({"check_bottlenecks", "check_queue_seen", "check_report", "check_room", "check_tools"}),
}
"""Checks of which nothing is asked any more, by lab: their recorded calls have no verdict."""


def _reason(one: Recorded) -> str:
    for (lab, check, part), why in CHANGED.items():
        if (one.lab, one.check) == (lab, check) and part in one.positional:
            return why
    return ""


@pytest.mark.slow  # TCP's model computes
@pytest.mark.parametrize("lab", LABS)
def test_the_same_verdicts(lab: str) -> None:
    others = {}
    for one in recorded(lab):
        if one.is_gone and one.check in GONE.get(lab, ()):
            continue
        if one.is_prediction and one.outcome != "passed":
            continue  # not all that was asked then is asked now, and nothing fails it
        found = one.judged()
        if found.outcome != one.outcome and not _reason(one):
            said = next((f"{check.description}: {check.reason}" for check in found.checks if not check.passed), "")
            others[f"line {one.number}, {one.check}: {one.outcome} then, {found.outcome} now"] = said
    assert others == {}


@pytest.mark.parametrize("lab", LABS)
def test_right_and_wrong_answers_are_recorded(lab: str) -> None:
    assert {one.outcome for one in recorded(lab)} >= {"passed", "failed"}


@pytest.mark.slow  # TCP's model computes
@pytest.mark.parametrize("one", narrow(), ids=lambda one: f"{one.lab}-{one.check}-{one.number}")
def test_honest_work_passes_on_the_networks_on_which_it_came_nearest_to_failing(one: Recorded) -> None:
    result = one.judged()
    assert result.passed, str(result)
