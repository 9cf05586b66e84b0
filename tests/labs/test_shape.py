"""The labs' shape: length, blanks, points, and what every lab says at its beginning and its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest

from linklab.notebooks.build import sources
from linklab.notebooks.regions import lines, student_text
from linklab.notebooks.source import Cell, read_source
from tests.notebooks.run_notebook import ROOT

CELLS_AT_MOST: Final = 50
BLANKS_A_LAB: Final = 16
"""On average over all labs."""
OF_A_KIND_AT_MOST: Final = 4
"""Blanks in one cell."""
FREE_PERCENT_AT_MOST: Final = 20
COMMANDS: Final = ("ping", "iperf3", "ip", "tc", "ss", "tcpdump", "traceroute", "bridge", "sysctl", "ovs-ofctl")


@dataclass(frozen=True)
class Shape:
    """What one lab is made of."""

    name: str
    cells: tuple[Cell, ...]

    def of(self, kind: str) -> list[Cell]:
        """The cells of a kind."""
        return [cell for cell in self.cells if cell.kind == kind]

    @property
    def blanks(self) -> int:
        """How often a student finds None in the place of an answer."""
        return sum(blanks(cell) for cell in self.of("answer"))

    @property
    def points(self) -> int:
        """All points."""
        return sum(cell.points for cell in self.cells)

    @property
    def free_points(self) -> int:
        """The points of free explanations."""
        return sum(cell.points for cell in self.of("reflect"))

    @property
    def commands(self) -> set[str]:
        """Real commands that stand in the solutions of answers, so that students type them."""
        solved = "\n".join(
            line.text for cell in self.of("answer") for line in lines(cell.text) if line.part == "solution"
        )
        texts = re.findall(r"""(?:cmd|popen)\(\s*f?["']([^"']+)""", solved)
        return {command for text in texts for command in COMMANDS if re.search(rf"\b{command} ", text)}


def blanks(cell: Cell) -> int:
    """How often None stands in what students get of an answer."""
    return len(re.findall(r"\bNone\b", student_text(cell.text)))


def _labs() -> Iterator[Shape]:
    for source in sources(ROOT):
        yield Shape(source.stem, read_source(source))


LABS: Final = {lab.name: lab for lab in _labs()}
each = pytest.mark.parametrize("lab", LABS.values(), ids=list(LABS))


@each
def test_it_is_no_longer_than_a_student_can_bear(lab: Shape) -> None:
    assert len(lab.cells) <= CELLS_AT_MOST


def test_there_are_few_blanks_and_none_of_a_kind_again_and_again() -> None:
    assert sum(lab.blanks for lab in LABS.values()) <= BLANKS_A_LAB * len(LABS)
    many = {f"{lab.name} {cell.cell_id}": blanks(cell) for lab in LABS.values() for cell in lab.of("answer")}
    assert {name: count for name, count in many.items() if count > OF_A_KIND_AT_MOST} == {}


@each
def test_at_most_one_point_of_five_is_for_explanations(lab: Shape) -> None:
    assert lab.free_points <= FREE_PERCENT_AT_MOST / 100 * lab.points


@each
def test_every_free_answer_has_a_rubric_with_two_typical_wrong_ones(lab: Shape) -> None:
    for cell in lab.of("reflect"):
        assert "**Rubric.**" in cell.text, cell.cell_id
        assert "(1)" in cell.text, cell.cell_id
        assert "(2)" in cell.text, cell.cell_id


@each
def test_nothing_tells_what_to_notice_and_each_prediction_stands_before_its_measurement(lab: Shape) -> None:
    assert not any("What to notice" in cell.text for cell in lab.cells)
    texts = [cell.text for cell in lab.of("check")]
    for number, text in enumerate(texts):
        if "check_predicted" in text:
            assert any("check_predicted" not in later for later in texts[number:]), text


@each
def test_it_says_how_long_it_takes_and_what_it_needs_and_ends_with_a_review(lab: Shape) -> None:
    first = lab.cells[0].text
    assert "**Time:**" in first
    assert re.search(r"\*\*You\s+need", first)
    text = "\n".join(cell.text for cell in lab.cells[-5:])
    assert re.search("review", text, re.I)
    assert re.search("where to read on", text, re.I)
    assert "<details>" in text


@each
def test_linklab_is_imported_in_one_line(lab: Shape) -> None:
    code = "\n".join(cell.text for cell in lab.cells if cell.cell_type == "code")
    imports = re.findall(r"^(?:from linklab import|import linklab)\b.*$", code, re.M)
    assert len(imports) == 1
    assert "progress()" in code


@pytest.mark.parametrize("lab", [lab for lab in LABS.values() if lab.name >= "03"], ids=[n for n in LABS if n >= "03"])
def test_students_type_at_least_two_real_commands(lab: Shape) -> None:
    assert len(lab.commands) >= 2, lab.commands
