"""Wanted flows against found ones: several of a pair, connections that add up, directions, and others beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linklab.grade.wanted import Others, Wanted, at_least, exactly, mismatch
from linklab.measure import PingFlow, SimpleperfFlow, ToolResult
from tests.grade.made_runs import pinged, transfer

PAIR = ("h1", "h4")
OTHERS: Others = {SimpleperfFlow: "leave it out"}


def by(program: str, pair: str = "h1-h4", **flow: Any) -> ToolResult:
    found = transfer(pair, 9.0)
    return replace(found, flow=replace(found.flow, program=program, **flow))


def of(*programs: str) -> list[Wanted[Any]]:
    return [Wanted(SimpleperfFlow, PAIR, (exactly("program", it), at_least("duration_s", 20))) for it in programs]


TWO = [Wanted(SimpleperfFlow, PAIR, (at_least("duration_s", 20),), connections=2)]
EITHER = [Wanted(SimpleperfFlow, ("h4", "h1"), either_way=True)]


@pytest.mark.parametrize(
    ("found", "wanted", "says"),
    [
        ([by("b"), by("a")], of("a", "b"), ("", "")),
        ([pinged("h1-h4", 60), by("a")], of("a"), ("", "")),
        ([by("b"), by("c")], of("a", "b"), ("SimpleperfFlow h1-h4 has program='b'", "write program='a'")),
        ([by("a", duration_s=5)], of("a"), ("SimpleperfFlow h1-h4 has duration_s=5", "write duration_s=20")),
        ([by("a"), by("a")], of("a"), ("SimpleperfFlow h1-h4 does not belong here", "leave it out")),
        ([by("a")], of("a", "a"), ("there is no SimpleperfFlow h1-h4", 'SimpleperfFlow("h1", "h4", ...)')),
        ([by("a", "h2-h5")], of("a"), ("no SimpleperfFlow h1-h4, but SimpleperfFlow h2-h5", "at the same time")),
        ([by("a", "h4-h1")], of("a"), ("SimpleperfFlow h4-h1 was measured in the opposite direction", "source first")),
        ([by("a")], EITHER, ("", "")),
        ([by("a"), by("b")], TWO, ("", "")),
        ([transfer("h1-h4", [9, 9])], TWO, ("", "")),
        ([by("a")], TWO, ("has 1 connection", "write streams=2")),
        ([by("a"), by("b", duration_s=5)], TWO, ("has duration_s=5", "write duration_s=20")),
    ],
)
def test_the_first_difference_is_named_with_what_to_write(
    found: list[ToolResult], wanted: list[Wanted[Any]], says: tuple[str, str]
) -> None:
    reason, step = mismatch(found, wanted, OTHERS) or ("", "")
    assert bool(reason) == bool(says[0]), reason
    assert says[0] in reason
    assert says[1] in step


def test_a_result_s_own_fields_count_and_a_sequence_is_counted() -> None:
    lossless = exactly("lost_packets", 0, "measure alone")
    answered = at_least("sent_packets", 30)
    assert mismatch([pinged("h1-h4", 60)], [Wanted(PingFlow, PAIR, (lossless,))]) is None
    few = mismatch([pinged("h1-h4", 60)], [Wanted(PingFlow, PAIR, (lossless, answered))])
    assert few == ("PingFlow h1-h4 has sent_packets=25", "write sent_packets=30")
