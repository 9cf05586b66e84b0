"""Results: points, text, HTML, JSON, and the error of a cell that has not passed."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from linklab.errors import LinklabError
from linklab.grade import Check, GradeError, Result
from linklab.grade.check import Cause, checks_in, listed
from tests.notebooks.run_notebook import run

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


def test_of_a_long_list_the_first_three_are_named_and_the_others_counted() -> None:
    assert listed(["h1", "h2", "h3"]) == "h1; h2; h3"
    assert listed(["h1", "h2", "h3", "h4", "h5"], ", ") == "h1, h2, h3, and 2 more"


def test_require_gives_the_result_or_raises_an_error_that_is_linklab_s_and_an_assertion_s() -> None:
    passed = Result("Lab", (GOOD,))
    assert passed.require() is passed
    with pytest.raises(GradeError, match="1 of 3 checks failed, 1 inconclusive") as caught:
        MIXED.require()
    assert caught.value.result is MIXED
    assert isinstance(caught.value, LinklabError)
    assert isinstance(caught.value, AssertionError)


def failing(number: int) -> Check:
    hint = f"it is in subnet {chr(64 + number)}, 10.0.{number}.0/24: the router has .1"
    return Check.failing(f"h{number}-eth0", f"h{number}-eth0 is not filled in yet", hint)


def wrong(description: str, *causes: Cause) -> Check:
    return Check(description, "failed", causes[0].found, causes[0].step, causes=causes)


def message(*checks: Check) -> list[str]:
    return str(GradeError(Result("Lab", checks))).splitlines()


def test_a_notebook_s_lines_fit_and_break_between_words() -> None:
    reason = "r3 sends packets for 10.0.7.0/24 to 10.0.3.1 in a circle (r3 - r2 - r3), so h1-eth0 gets nothing"
    error = GradeError(Result("A title of many words " * 5, (Check.failing("routes " * 15, reason, "x" * 90),)))
    (shown,) = error._render_traceback_()
    lines = shown.splitlines()
    assert len(lines) > len(str(error).splitlines())
    assert [line for line in lines if len(line) > 80] == ["          " + "x" * 90]
    assert shown.split() == f"GradeError: {error}".split()
    at = next(number for number, line in enumerate(lines) if "r3 sends" in line)
    assert lines[at].startswith("      r3")
    assert lines[at + 1].startswith("          ")


def test_checks_that_fail_alike_share_a_hint_and_each_reason_is_told() -> None:
    checks = [wrong(f"address of h{it}", Cause(f"h{it}", "none", f"h{it}", "give it one")) for it in (1, 2)]
    other = Check.failing("the rate", "it is 5 Mbit/s", "give it one")
    assert message(*checks, other) == [
        "Lab: 3 of 3 checks failed",
        "  \u2717 failed: address of h1, h2",
        "      h1, h2: none",
        "      Hint: h1, h2: give it one",
        "  \u2717 failed: the rate",
        "      it is 5 Mbit/s",
        "      Hint: give it one",
    ]
    rates = [Check.failing(f"rate of L{it}", f"it is {it} Mbit/s", "set it") for it in (1, 2)]
    assert message(*rates)[1:] == [
        "  \u2717 failed: rate of L1, L2",
        "      it is 1 Mbit/s; it is 2 Mbit/s",
        "      Hint: set it",
    ]


def test_what_both_ends_of_a_link_lack_is_said_once() -> None:
    here = Cause("r1-eth1 on r1", "delay is 0 ms", "r1-eth1", "no netem; or TCLink")
    check = wrong("L1: delay", here, replace(here, place="r2-eth0 on r2", what="r2-eth0"))
    assert message(check)[2:] == [
        "      r1-eth1 on r1, r2-eth0 on r2: delay is 0 ms",
        "      Hint: r1-eth1, r2-eth0: no netem; or TCLink",
    ]
    assert "r1-eth1, r2-eth0: no netem; or TCLink" in words_of(Result("Lab", (check,))._repr_html_())
    assert "Hint: r1-eth1, r2-eth0: no netem; or TCLink" in str(Result("Lab", (check,)))
    (kept,) = checks_in(json.loads(json.dumps(Result("Lab", (check,)).to_json())))
    assert kept.causes == check.causes


def test_few_failures_keep_their_own_hints_and_many_show_the_first_one_s() -> None:
    few = message(*(failing(number) for number in (1, 2)))
    assert sum("Hint: " in line for line in few) == 2
    checks = [failing(number) for number in range(1, 20)]
    assert message(*checks) == [
        "Lab: 19 of 19 checks failed",
        "  \u2717 failed: h1-eth0, h2-eth0, h3-eth0, h4-eth0, ... (15 more)",
        "      the first of them: h1-eth0 is not filled in yet",
        "      Hint: it is in subnet A, 10.0.1.0/24: the router has .1",
    ]
    page = words_of(Result("Lab", tuple(checks))._repr_html_())
    assert all(check.reason in page and check.hint in page for check in checks)


def test_an_error_is_never_longer_than_25_lines_and_counts_what_it_leaves_out() -> None:
    checks = [Check.failing(f"thing {word}", f"{word} is bad", f"mend {word} " * 12) for word in "abcdefghijklmnop"]
    error = GradeError(Result("Lab", tuple(checks)))
    (shown,) = error._render_traceback_()
    assert len(shown.splitlines()) <= 25
    told = sum(line.startswith("  \u2717 failed: ") for line in shown.splitlines())
    assert told > 1
    assert f"\n  and {16 - told} more, to look at after these: thing " in shown


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


def test_a_notebook_keeps_the_result_beside_what_it_shows() -> None:
    from IPython.core.formatters import DisplayFormatter

    data, _ = DisplayFormatter().format(MIXED)  # type: ignore[no-untyped-call]
    assert (data["text/html"], data["text/plain"]) == (MIXED._repr_html_(), str(MIXED))
    kept = json.loads(json.dumps(data["application/vnd.linklab.result+json"]))
    assert kept == {"linklab": "0.1.0"} | json.loads(json.dumps(MIXED.to_json()))


def test_a_notebook_shows_a_failure_as_a_card_and_one_line(tmp_path: Path) -> None:
    import nbformat

    source = (
        "from linklab.grade import Check, Result\n"
        'Result("Lab", (Check.failing("the rate", "it is 5", "set it"),)).require()'
    )
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])  # type: ignore[no-untyped-call]
    run(book, tmp_path)
    kept, error = book.cells[0].outputs
    assert "it is 5" in words_of(kept.data["text/html"])
    assert "Hint: set it" in kept.data["text/plain"]
    assert kept.data["application/vnd.linklab.result+json"]["checks"][0]["hint"] == "set it"
    assert (error.output_type, error.ename, len(error.traceback)) == ("error", "GradeError", 1)
    assert "set it" not in error.traceback[0]
    assert "Hint: set it" in error.evalue
