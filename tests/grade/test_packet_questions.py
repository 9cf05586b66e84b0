"""Questions about packets: the right number, and wrong ones that look right, each with its hint."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from linklab.grade.check import Check
from linklab.grade.packet_questions import (
    PacketNumber,
    PacketSlip,
    seen_packets,
    stayed_longest,
    tell_of_loss,
    tells_of_first_loss,
)
from linklab.grade.questions import checks_of
from linklab.grade.result import guarded
from linklab.grade.values import as_seen_by_checks
from linklab.measure import Seen, seen
from tests.measure.test_sightings import LOST, TALK, two_files, written
from tests.show.recorded import recorded

__all__ = ["two_files"]

TOLD, DATA_BEFORE, AGAIN = 12, 8, 13


@guarded("Lab 51, packets")
def check(packets: object, answers: object) -> Iterable[Check]:
    found = seen_packets(packets)
    again = PacketSlip(
        lambda it: [one for one in it.packets if one.tcp and one.tcp.repeats], "that is the repetition", "what made it?"
    )
    told = PacketNumber("told", "what tells of the loss", found, tells_of_first_loss, ("count", "three"), (again,))
    return checks_of("packets", answers, [told])


def reason(packets: object, answer: Any) -> str:
    (judged,) = check(packets, {"told": answer}).checks
    return "passed" if judged.passed else f"{judged.reason}; {judged.hint}"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (TOLD, "passed"),
        (float(TOLD), "passed"),
        (TOLD - 1, "number in h2.pcap; write the number that the player shows"),
        (TOLD - 2, "that is not it; count"),
        (DATA_BEFORE, "data of the other direction or another flow; .* goes from 10.0.0.2:80 to 10.0.1.1:4000"),
        (AGAIN, "that is the repetition; what made it"),
        (14, "the packet just after it; compare the times"),
        (99, "there is no packet 99: the player has 1 to 14; count"),
        (12.5, "there is no packet 12.5"),
        ("12", "is a text"),
        (None, "not filled in yet"),
        (0, "0 is not a number above 0"),
    ],
)
def test_each_wrong_number_has_its_hint(answer: Any, says: str, two_files: tuple[str, str]) -> None:
    import re

    assert re.search(says, reason(seen(*two_files), answer))


def test_the_packet_before_is_named_where_no_other_list_has_its_number(tmp_path: Path) -> None:
    found = seen(written(tmp_path / "h1.pcap", [*TALK]))
    assert "that is the packet just before it" in reason(found, TOLD - 1)


def test_what_is_no_list_of_packets_is_refused() -> None:
    assert "not measured yet; packets = measure.seen" in reason(None, 12)
    assert "this is an int" in reason(7, 12)


def test_a_recording_without_such_a_packet_is_to_be_recorded_again() -> None:
    assert "there is no such packet in what was recorded; run the cell that records once more" in reason(
        seen(recorded()), 12
    )


def test_the_packet_that_stayed_longest_may_be_any_of_equal_ones() -> None:
    found = seen(recorded())
    assert [it.number for it in stayed_longest("h1-eth0")(found)] == [1, 2, 3, 4, 5, 6, 7, 9, 10]
    late = seen(recorded(late_ms=2))
    (one,) = stayed_longest("h1-eth0")(late)
    assert one.number == 9
    question = PacketNumber("waited", "which waited longest", late, stayed_longest("h1-eth0"), "look")
    assert [it.passed for number in (9, 8, 1) for it in question.checks(number)] == [True, False, False]


def test_a_check_sees_what_the_notebook_had(two_files: tuple[str, str]) -> None:
    found = seen(*two_files)
    handed = as_seen_by_checks(found)
    assert handed == found
    assert isinstance(handed, Seen)
    assert handed.packets[LOST].at("h1") is not None
    assert [it.number for it in tell_of_loss(handed)] == [TOLD]
