"""Answers that were judged before the question engine was written anew get the verdicts that they got then."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.labs.recorded import Recorded, recorded

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
       for check in ("arp", "headers", "queue", "queue_seen", "rtt", "serialisation", "throughput")},
    ("lab04", "check_serialisation", '["L1",0.3],["L2",0.4]'): "G9: 0.3 ms is a frame without Ethernet's header",
    # lab 05
    **{("lab05", f"check_{check}", '["h2-h5",1]'): _NOT_ASKED
       for check in ("after_loss", "bdp", "bottlenecks", "queue_seen", "room", "rtt", "throughput")},
    ("lab05", "check_bottlenecks", '["h1-h4","l2"]'): "G6: case does not count",
    ("lab05", "check_bdp", '["h1-h4",150]'): "G9: that is with frames of 1500 bytes, without Ethernet's header",
    ("lab05", "check_after_loss", '["h1-h4",93.3]'): "G9: that follows from a wrong BDP",
    # lab 06
    ("lab06", "check_shares", '["tow",3]'): _NOT_ASKED,
    ("lab06", "check_bottlenecks", '["two","l2"]'): "G6: case does not count",
    ("lab06", "check_new_rtt", "[50,60],[200,121]"): "G9: 60 ms is the idle path's, as if the queue added nothing",
}  # fmt: skip
"""Verdicts that were wrong, by lab, check and what is in the answers: why they are others now."""


def _reason(one: Recorded) -> str:
    for (lab, check, part), why in CHANGED.items():
        if (one.lab, one.check) == (lab, check) and part in one.positional:
            return why
    return ""


@pytest.mark.parametrize("lab", LABS)
def test_the_same_verdicts(lab: str) -> None:
    others = {}
    for one in recorded(lab):
        found = one.judged()
        if found.outcome != one.outcome and not _reason(one):
            said = next((f"{check.description}: {check.reason}" for check in found.checks if not check.passed), "")
            others[f"line {one.number}, {one.check}: {one.outcome} then, {found.outcome} now"] = said
    assert others == {}


@pytest.mark.parametrize("lab", LABS)
def test_right_and_wrong_answers_are_recorded(lab: str) -> None:
    assert {one.outcome for one in recorded(lab)} >= {"passed", "failed"}
