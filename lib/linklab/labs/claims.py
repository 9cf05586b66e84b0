"""Claims to test: a fluent paragraph with one wrong sentence, and the run that shows which one.

The paragraph is a Markdown cell, its sentences numbered. The table ``[claim]`` of the lab's ``NN-choices.toml`` has the
sentences' numbers as options without a text, the wrong sentence's as the right one. The remark on each other sentence
says by what it holds. The student stores a number and a run::

    check_claim = claim("Lab 04, a claim to test", _FOLDER, _shown)

``_shown`` gets the run. It refuses (`Refuse`) one that cannot show that the sentence is wrong: other flows, another
network, another setting. For one that can it returns what `contradicts` makes of its numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from linklab.grade.check import Check, Hints, Refuse
from linklab.grade.choices import choices
from linklab.grade.measured import transfers
from linklab.grade.questions import as_number, is_missing
from linklab.grade.result import Result, guarded
from linklab.measure import Run, ToolResult


def claim(title: str, folder: Path, shown: Callable[[object], Check]) -> Callable[[object, object], Result]:
    """Return the check of a sentence's number, and of the run that shows that this sentence is wrong.

    The run is not looked at until the number is right: what is said of it would give the sentence away. The
    explanation opens when both are right.
    """

    @guarded(title)
    def check(sentence: object, run: object) -> Iterator[Check]:
        (question,) = choices(folder, "claim")
        if is_missing(sentence):
            raise Refuse(question.what, "not answered yet", "store the number that stands before the sentence")
        number = as_number(sentence)
        (chosen,) = question.checks(sentence if number != number else f"{number:g}")
        yield replace(chosen, explanation="")
        if chosen.passed:
            evidence = shown(run)
            yield replace(evidence, explanation=question.explanation if evidence.passed else "")

    return check


def run_of_several(given: object, pair: str) -> tuple[object, int]:
    """Return what is given as a run, also where it is one transfer, and how many connections it opened for a pair."""
    run = Run((given,), 0.0) if isinstance(given, ToolResult) else given
    if not isinstance(run, Run):
        return run, 0
    return run, sum(it.flow.streams for it in transfers(run) if it.flow.name == pair)


def contradicts(sentence: str, found: str, *, is_wrong: bool, step: Hints) -> Check:
    """Return what a run shows of a sentence: the check passes where the run is a case in which it is wrong.

    ``sentence`` is short: "the ping takes 20 ms, as on the idle link". ``step`` is what to do where it holds.
    """
    what, expected = "what the run shows", f"a case in which it is wrong that {sentence}"
    if is_wrong:
        return Check.passing(what, expected, found)
    return Check.failing(what, f"{found}: so it is true here that {sentence}", step, expected, found)
