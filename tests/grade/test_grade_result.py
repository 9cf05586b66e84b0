"""Results: points, text, HTML, JSON, and the error of a cell that has not passed."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from html.parser import HTMLParser

import pytest

from linklab.errors import LinklabError
from linklab.grade import Check, GradeError, Result, lab00
from linklab.network import TWO_HOSTS, Shape, expected_state

GOOD = Check.passing("the rate", "10 Mbit/s")
BAD = Check.failing("the <delay>", "it is 0 & not 10 ms", 'write "10ms"', "10 ms", "0 ms")
OPEN = Check("the queue", "inconclusive", "the machine was busy", "again", points=2)
MIXED = Result("Lab <0>", (GOOD, BAD, OPEN))


class _Text(HTMLParser):
    """The words of a page, and that its tags are balanced."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def words_of(page: str) -> str:
    reader = _Text()
    reader.feed(page)
    assert reader.open == []
    return "|".join(reader.words)


def test_points_and_outcomes() -> None:
    assert (MIXED.points, MIXED.open_points, MIXED.max_points) == (1, 2, 4)
    assert MIXED.outcome == "failed"
    assert Result("", (GOOD, OPEN)).outcome == "inconclusive"
    assert Result("", (GOOD,)).outcome == "passed"
    assert [GOOD.passed, BAD.passed, OPEN.passed] == [True, False, False]


def test_checks_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        BAD.outcome = "passed"  # type: ignore[misc]


def test_require_gives_the_result_or_raises() -> None:
    passed = Result("Lab", (GOOD,))
    assert passed.require() is passed
    with pytest.raises(GradeError) as caught:
        MIXED.require()
    assert str(caught.value).splitlines() == [
        "Lab <0>: 1 of 3 checks failed, 1 inconclusive",
        "  \u2717 failed: the <delay>",
        "      it is 0 & not 10 ms",
        '      Hint: write "10ms"',
        "  ? inconclusive: the queue",
        "      the machine was busy",
        "      Hint: again",
    ]
    assert caught.value.result is MIXED


def test_the_error_is_linklab_s_and_an_assertion_s() -> None:
    error = GradeError(MIXED)
    assert isinstance(error, LinklabError)
    assert isinstance(error, AssertionError)
    (shown,) = error._render_traceback_()
    assert shown == f"GradeError: {error}"


def test_text_has_each_check() -> None:
    text = str(MIXED)
    assert text.startswith("Lab <0>: 1 of 4 points, 2 open until measured again\n")
    assert "\u2713 passed: the rate (10 Mbit/s)" in text
    assert 'Hint: write "10ms"' in text


def test_html_is_escaped_and_says_in_words_what_its_colours_say() -> None:
    page = MIXED._repr_html_()
    assert "<delay>" not in page
    assert "<0>" not in page
    words = words_of(page)
    for expected in ("the <delay>", "10 ms", "it is 0 & not 10 ms", 'write "10ms"', "failed", "inconclusive"):
        assert expected in words
    assert words.index("the <delay>") < words.index("the queue") < words.index("the rate")


def test_many_passed_checks_are_folded_and_failed_ones_are_not() -> None:
    page = Result("Lab", (*[GOOD] * 20, BAD))._repr_html_()
    words_of(page)
    assert page.index("it is 0") < page.index("<details>")
    assert "20 checks passed" in page
    assert "<details>" not in MIXED._repr_html_()


def test_json_is_plain_and_versioned() -> None:
    data = json.loads(json.dumps(MIXED.to_json()))
    assert data["linklab_result"] == 1
    assert (data["points"], data["max_points"], data["outcome"]) == (1, 4, "failed")
    assert data["checks"][1]["hint"] == 'write "10ms"'


def test_lab_00_s_network() -> None:
    right = expected_state(TWO_HOSTS)
    assert lab00.check_network(right).require().points == 12
    wrong = expected_state(TWO_HOSTS)
    bare = wrong.nodes[0].interfaces[0].__class__("h1-eth0", (), 1500, True, Shape(10), (), ("h2", "h2-eth0"))
    node = wrong.nodes[0].__class__("h1", "host", (bare,), (), False, "cubic")
    result = lab00.check_network(wrong.__class__((node, wrong.nodes[1])))
    assert [check.description for check in result.checks if not check.passed] == [
        "address of h1-eth0",
        "h1-h2: delay in both directions",
        "h1-h2: queue on both sides",
    ]
