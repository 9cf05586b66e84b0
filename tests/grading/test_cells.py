"""Check cells as the judge reads them. Those of the kit's labs are read wherever a test reads the kit."""

from __future__ import annotations

import pytest

from linklab.errors import LinklabError
from linklab.grading.cells import Argument, calls_of


def test_values_that_stand_there_are_not_asked_for() -> None:
    (call,) = calls_of('simpleperf.check_step("simpleperf.py", "transfer").require()')
    assert call.positional == (
        Argument("", "simpleperf.py", is_value=True),
        Argument("", "transfer", is_value=True),
    )


def test_expressions_are_asked_for_as_they_are() -> None:
    (call,) = calls_of('lab09.check_runs({"one": runs["one"]}, video, names=("one",)).require()')
    assert call.positional == (Argument("{'one': runs['one']}"), Argument("video"))
    assert call.named == (("names", Argument("", ("one",), is_value=True)),)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "lab04.check_rtt(",
        "lab04.check_rtt(predicted_rtt_ms)",
        "lab04.check_rtt(predicted_rtt_ms).require(1)",
        "lab04.check_rtt(*values).require()",
        "lab04.check_rtt(**values).require()",
        "lab04.LINKS(x).require()",
        "os.check_system('true').require()",
        "x = lab04.check_rtt(predicted_rtt_ms).require()",
        "import os",
    ],
)
def test_a_cell_of_another_form_is_refused(source: str) -> None:
    with pytest.raises(LinklabError):
        calls_of(source)
