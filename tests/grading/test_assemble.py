"""What counts of a notebook: answers and added cells; everything else is the instructor's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest

from linklab.grading.assemble import MOST_ADDED, Assembled, assemble
from linklab.grading.kit import Kit
from linklab.grading.recognise import MOST_HELPERS, Recognised, recognise
from linklab.grading.submissions import Submission
from linklab.grading.unpack import Member
from tests.grading.made_class import (
    BY_NAME,
    CASES,
    LAB,
    PREDICTED,
    Case,
    Files,
    added,
    cell,
    data,
    program,
    put,
    solved,
    source,
    starter,
    without,
    write,
)  # fmt: skip
from tests.notebooks.run_notebook import ROOT

_nbformat: Any = nbformat


def _recognised(folder: Path, files: Files, kit: Kit) -> Recognised:
    write(folder, files)
    members = [Member(tuple(name.split("/")), folder / name, number) for number, name in enumerate(files)]
    return recognise(Submission("ada", ("ada",), tuple(members)), kit)


def _assembled(folder: Path, book: Any, kit: Kit) -> Assembled:
    found = _recognised(folder, {"x.ipynb": data(book)}, kit)
    return assemble(kit.labs[LAB], found.notebooks[LAB].cells)


def _book(assembled: Assembled) -> Any:
    book = _nbformat.reads(assembled.text, as_version=4)
    _nbformat.validate(book)
    return book


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_case_is_recognised_and_noted(tmp_path: Path, kit: Kit, case: Case) -> None:
    found = _recognised(tmp_path, case.files(), kit)
    assert list(found.notebooks) == ([LAB] if case.found else [])
    assert bool(found.left_aside) != case.found
    notes = list(found.notes)
    if case.found:
        assembled = assemble(kit.labs[LAB], found.notebooks[LAB].cells)
        notes += assembled.notes
        book = _book(assembled)
        named = [each for each in book.cells if each.id in kit.labs[LAB].all_ids]
        assert [each.id for each in named] == [part.cell_id for part in kit.labs[LAB].parts]
        for each, given in zip(named, starter()["cells"], strict=True):
            assert each.metadata == given["metadata"]
            assert not each.get("outputs")
            if not given["metadata"].get("nbgrader", {}).get("solution"):
                assert each.source == source(given), "given cells and checks are the instructor's"
        assert [each for each in book.cells if "nbgrader" in each.metadata] == [
            each for each in named if "nbgrader" in each.metadata
        ]
    for words in case.notes:
        assert any(words in note for note in notes), notes
    if not case.notes:
        assert notes == []
    assert all(note.isprintable() for note in notes)


def test_a_notebook_that_has_lost_its_names_counts_as_it_did(tmp_path: Path, kit: Kit) -> None:
    book = put(solved(), reflect_throughput=source(cell(starter(), "reflect-throughput")))
    bare = {"cells": [{key: each[key] for key in ("cell_type", "source")} for each in book["cells"]]}
    kept, found = _assembled(tmp_path / "kept", book, kit), _assembled(tmp_path / "bare", bare, kit)
    assert (found.text, found.free_texts, found.notes) == (kept.text, kept.free_texts, ())


def test_a_lab_under_another_lab_s_name_is_noted(tmp_path: Path, kit: Kit) -> None:
    found = _recognised(tmp_path, {f"{LAB}.ipynb": data(starter("06-multiplexing"))}, kit)
    assert list(found.notebooks) == ["06-multiplexing"]
    assert any(LAB in note and "06-multiplexing" in note for note in found.notes)


def test_every_lab_is_recognised_by_its_cells(tmp_path: Path, kit: Kit) -> None:
    files = {f"{number}.ipynb": data(starter(lab)) for number, lab in enumerate(kit.labs)}
    found = _recognised(tmp_path, files, kit)
    assert {lab: notebook.member.name for lab, notebook in found.notebooks.items()} == {
        lab: f"{number}.ipynb" for number, lab in enumerate(kit.labs)
    }
    assert len(found.notebooks) > 8
    assert found.notes == ()


@pytest.mark.parametrize("typed_anew", [True, False])
def test_no_starter_undoes_an_answer_that_was_typed_anew(tmp_path: Path, kit: Kit, typed_anew: bool) -> None:
    """Who deletes an answer and writes it into a cell of their own passes at home, where no starter runs."""
    book = solved()
    place, answer = next((i, it) for i, it in enumerate(book["cells"]) if it["id"] == "answer-prediction-rtt")
    own = {**answer, "id": "typed-anew", "metadata": {}}
    book["cells"][place : place + 1] = [own] if typed_anew else []
    assembled = _assembled(tmp_path, book, kit)
    sources = [each.source for each in _book(assembled).cells]
    found = {each.id: each.source for each in _book(assembled).cells}["answer-prediction-rtt"]
    starters = {part.cell_id: part.starter for part in kit.labs[LAB].parts}
    assert found == ("" if typed_anew else starters["answer-prediction-rtt"])
    assert (source(answer) in sources) == typed_anew
    assert any("answer-prediction-rtt is missing" in note for note in assembled.notes)


def test_added_cells_stand_where_they_stood_and_cannot_be_graded(tmp_path: Path, kit: Kit) -> None:
    mark = {"nbgrader": {"grade": True, "grade_id": "check-free", "points": 99, "solution": False}}
    book = added(added(solved(), "ping", "helper = 1", metadata=mark), "goal", "first = 1", id="check-free-points")
    own = {each.id: each for each in _book(_assembled(tmp_path, book, kit)).cells}
    ids = list(own)
    helper, first = (next(name for name in ids if own[name].source == text) for text in ("helper = 1", "first = 1"))
    assert ids.index(helper) == ids.index("ping") + 1
    assert ids.index(first) == ids.index("goal") + 1
    assert dict(own[helper].metadata) == dict(own[first].metadata) == {"linklab": {"added": True}}
    assert "check-free-points" not in ids


def test_a_second_cell_of_the_same_name_is_no_answer(tmp_path: Path, kit: Kit) -> None:
    book = added(solved(), "ping", "predicted_rtt_ms = 7", id="answer-prediction-rtt")
    assembled = _assembled(tmp_path, book, kit)
    assert PREDICTED in assembled.answers["answer-prediction-rtt"]
    assert "more than one cell is called answer-prediction-rtt: the first counts" in assembled.notes


def test_too_many_added_cells_are_left_out(tmp_path: Path, kit: Kit) -> None:
    book = solved()
    for number in range(MOST_ADDED + 5):
        book = added(book, "ping", f"x = {number}", id=f"x{number}")
    assembled = _assembled(tmp_path, book, kit)
    assert any(note.startswith("5 added cells left out") for note in assembled.notes)


def test_halves_of_characters_and_line_ends_do_no_harm(tmp_path: Path, kit: Kit) -> None:
    book = put(solved(), reflect_queue="half \ud800\r\nline")
    assert _assembled(tmp_path, book, kit).free_texts["reflect-queue"] == "half ?\nline"


@pytest.mark.parametrize("added", [False, True])
def test_an_answer_changed_after_its_explanation_comes_with_the_one_that_opened_it(
    tmp_path: Path, kit: Kit, added: bool
) -> None:
    book = put(solved(), reflect_queue="in the queue, as the explanation says")
    for name, opened in (("explain-throughput", {"reflect-queue": "idk"}), ("ping", {"reflect-queue": 3, "x": []})):
        shown = {"application/vnd.linklab.page+json": {"version": 1, "opened_by": opened}}
        cell(book, name)["outputs"] = [{"output_type": "display_data", "data": shown, "metadata": {}}]
    if added:
        own = cell(book, "explain-throughput")
        book["cells"].append({**own, "id": "mine", "metadata": {}})
        own["outputs"] = []
    assembled = _assembled(tmp_path, book, kit)
    first, _, later = assembled.free_texts["reflect-queue"].split("\n\n")
    assert (first, later) == ("idk", "in the queue, as the explanation says")
    assert any(note.startswith("reflect-queue was changed after") for note in assembled.notes)


def test_names_lost_in_saving_are_found_again(tmp_path: Path, kit: Kit) -> None:
    assembled = _assembled(tmp_path, json.loads(BY_NAME["right-other-ids"].files()[f"{LAB}.ipynb"]), kit)
    assert assembled == _assembled(tmp_path / "2", solved(), kit)


def test_of_equally_full_notebooks_the_later_one_counts(tmp_path: Path, kit: Kit) -> None:
    files = {"a.ipynb": data(solved()), "b.ipynb": data(without(solved(), "goal")), "0.ipynb": data(starter())}
    found = _recognised(tmp_path, files, kit)
    assert found.notebooks[LAB].member.name == "b.ipynb", "though a cell that was given is missing in it"
    assert f"{LAB} came more than once: b.ipynb counts, the newest of the fullest, and not a.ipynb, 0.ipynb" in (
        found.notes
    )


@pytest.mark.parametrize(
    "names", [("x.ipynb", "x-1.ipynb"), ("x (1).ipynb", "x (10).ipynb"), ("simpleperf.py", "simpleperf (1).py")]
)
def test_at_equal_times_a_copy_is_the_later_one(tmp_path: Path, kit: Kit, names: tuple[str, str]) -> None:
    write(tmp_path, {name: program() if name.endswith(".py") else data(solved()) for name in names})
    for order in (names, names[::-1]):
        members = tuple(Member((name,), tmp_path / name, 5) for name in order)
        found = recognise(Submission("ada", ("ada",), members), kit)
        counts = found.notebooks[LAB].member.name if found.notebooks else found.programs["simpleperf.py"].name
        assert counts == names[1]


def _names(helpers: Mapping[str, Member]) -> dict[str, str]:
    return {file: member.name for file, member in helpers.items()}


STARTER = (ROOT / "labs" / "reliable.py").read_bytes()
WRITTEN = b"import framing\n" + STARTER


@pytest.mark.parametrize(
    ("files", "programs", "said"),
    [
        (
            {"old/helper.py": b"x = 1", "Simpleperf (1).py": program()}, {"simpleperf.py": "Simpleperf (1).py"},
            "helper.py",
        ),
        ({"homework.py": program()}, {}, "must be called simpleperf.py"),
        ({"simpleperf.py": b""}, {}, "simpleperf.py"), ({"simpleperf.py": bytes(600_000)}, {}, "simpleperf.py"),
        (
            {"a/reliable.py": WRITTEN, "b/reliable.py": STARTER, "reliable_my.py": b"x"},
            {"reliable.py": "a/reliable.py"}, "reliable.py came more than once: a/reliable.py counts",
        ),
        *(
            ({name: WRITTEN, "framing-2.py": b"x = 1"}, {"reliable.py": name, "framing.py": "framing-2.py"},
             f"{name} was taken for reliable.py")
            for name in (
                "Reliable.py", "reliable (1).py", "reliable-1.py", "reliable(2)-1.py.txt", "reliable.py-1.txt",
            )
        ),
    ],
)  # fmt: skip
def test_a_program_is_known_by_its_name_or_a_copys_and_the_written_one_counts(
    tmp_path: Path, kit: Kit, files: Files, programs: dict[str, str], said: str
) -> None:
    found = _recognised(tmp_path, files, kit)
    assert _names(found.programs) == programs
    assert any(said in note for note in found.notes)


def test_what_lies_beside_a_program_or_a_notebook_comes_along_and_nothing_else(tmp_path: Path, kit: Kit) -> None:
    files = {
        "lab/simpleperf.py": program(), "lab/framing.py": b"x = 1", "lab/simpleperf_io.py": b"x = 1",
        "framing.py": b"", "lab/package/__init__.py": b"", "00/x.ipynb": data(solved()), "00/helpers.py": b"x = 1",
        "00/reliable.py": b"",
    }  # fmt: skip
    found = _recognised(tmp_path, files, kit)
    assert _names(found.programs) == {
        "simpleperf.py": "lab/simpleperf.py", "framing.py": "lab/framing.py", "simpleperf_io.py": "lab/simpleperf_io.py"
    }  # fmt: skip
    assert _names(found.notebooks[LAB].helpers) == {"helpers.py": "00/helpers.py"}
    notes = "\n".join(found.notes)
    assert "beside a notebook or a program that counts: lab/framing.py, lab/simpleperf_io.py, 00/helpers.py" in notes
    assert "other programs are not used: framing.py, lab/package/__init__.py; they lie beside nothing" in notes
    assert "more than once" not in notes


def test_files_that_come_along_are_bounded(tmp_path: Path, kit: Kit) -> None:
    files = {"simpleperf.py": program(), "large.py": b"#" * 200_001}
    files |= {f"m{number}.py": b"x = 1" for number in range(MOST_HELPERS + 1)}
    found = _recognised(tmp_path, files, kit)
    assert len(found.programs) == 1 + MOST_HELPERS
    assert sum("was not handed over" in note for note in found.notes) == 2
