"""A class around a pretended judge: what is judged, kept, judged again, and what a failing judge costs."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.classroom.roster import networks_of
from linklab.course import FILE, variant_text
from linklab.errors import LinklabError
from linklab.grading.grade import grade
from linklab.grading.judges import Verdicts
from linklab.grading.kit import Kit
from linklab.grading.manual_points import FILE as FREE_TEXTS
from linklab.grading.student_work import Order
from linklab.grading.verdict import Limits
from linklab.grading.work import Work
from linklab.network.variants import variant
from linklab.record import RESULT_MIME
from tests.grading.conftest import PretendedClass
from tests.grading.made_class import (
    CASES,
    LAB,
    added,
    cell,
    make_class,
    program,
    put,
    solved,
    starter,
    write,
)  # fmt: skip

HEAD = "key,lab,question,student,of,points,comment,grader,answer\n"
SECRET = b"a course secret of some length"


@pytest.mark.large
@pytest.mark.slow
def test_a_class_of_every_case_is_graded(group: PretendedClass) -> None:
    cases = [case for case in CASES if case.name != "huge"]
    made = make_class(group.source, cases)
    before = {path: path.read_bytes() for path in group.source.rglob("*") if path.is_file()}
    grades = group.grade()
    assert {path: path.read_bytes() for path in group.source.rglob("*") if path.is_file()} == before
    assert [one.student for one in grades.students] == list(made)
    assert group.judged == sum(case.found for case in cases)
    for one in grades.students:
        case = made[one.student]
        assert one.labs[LAB].state == ("judged" if case.found else "not handed in")
        said = (*one.notes, *one.labs[LAB].notes)
        assert all(any(words in note for note in said) for words in case.notes), said
        assert (group.output / "feedback" / one.page).is_file()
    assert grades.failed == []
    assert {path.name for path in group.output.iterdir()} == {
        "index.html", "grades.csv", "grades.json", "by-hand.csv", "questions.csv",
        "questions.html", "feedback", "judged", "linklab-grades", ".by-hand.lock",
    }  # fmt: skip
    rows = list(csv.DictReader((group.output / "grades.csv").open(newline="")))
    assert [row["student"] for row in rows] == list(made)
    told = json.loads((group.output / "grades.json").read_text())
    points = [sum(cell["points"] for cell in one["labs"][LAB]["cells"]) for one in told["students"]]
    assert points == [float(row["points"]) for row in rows]


def test_points_are_those_of_the_judge_and_texts_are_open(group: PretendedClass) -> None:
    group.hand_in("ada", solved())
    group.hand_in("bob", starter())
    ada, bob = group.grade().students
    assert group.watcher.began_at == ["ada", "bob"]
    assert sorted(group.watcher.ended_at) == ["ada", "bob"]
    assert sorted(group.watcher.cells) == [("ada", 1, 5), ("ada", 2, 5), ("bob", 1, 5), ("bob", 2, 5)]
    assert (ada.points, ada.open_points) == (9, 2)
    assert (bob.points, bob.open_points) == (0, 0)


def test_the_folder_may_be_named_from_here(group: PretendedClass, monkeypatch: pytest.MonkeyPatch) -> None:
    group.hand_in("ada", solved())
    monkeypatch.chdir(group.source.parent)
    group.source, group.output = Path("in"), Path("out")
    assert group.grade().students[0].points == 9


@pytest.mark.large
def test_what_is_judged_counts_until_something_changes(group: PretendedClass) -> None:
    group.hand_in("ada", solved())
    group.hand_in("bob", starter())
    first = group.grade()
    assert group.judged == 2
    assert replace(group.grade(), made_at=first.made_at) == first
    assert group.judged == 0
    group.hand_in("bob", put(starter(), answer_prediction_rtt="predicted_rtt_ms = 20"))
    assert group.grade().students[1].points == 1
    assert group.judged == 1
    write(group.source / "ada", {"simpleperf.py": program()})
    group.grade()
    assert group.judged == 1, "another program beside the notebook is another submission"


@pytest.mark.large
def test_a_damaged_store_is_judged_again(group: PretendedClass) -> None:
    group.hand_in("ada", solved())
    first = group.grade()
    (result,) = group.output.rglob("verdict.json")
    text = result.read_text()
    for damaged in ("", "{}", "[]", text[:-30], text.replace('"max_points": 2.0', '"max_points": 90.0')):
        result.write_text(damaged)
        assert group.grade().students[0].points == first.students[0].points == 9
        assert group.judged == 1


@pytest.mark.large
def test_a_notebook_that_ended_early_gets_another_try_under_other_limits(group: PretendedClass) -> None:
    group.hand_in("ada", put(solved(), answer_prediction_rtt="predicted_rtt_ms = 20\n# judge: early"))
    group.hand_in("bob", solved())
    group.grade()
    group.order = replace(group.order, limits=Limits(wall_s=1300))
    group.grade()
    assert group.judged == 1
    group.grade()
    assert group.judged == 0


def test_students_are_graded_on_their_own_networks(group: PretendedClass, tmp_path: Path) -> None:
    (tmp_path / "students").write_text("ada\nbob\ncyd\n")
    (tmp_path / "secret").write_bytes(SECRET)
    networks = networks_of(tmp_path / "students", tmp_path / "secret")
    group.order = replace(group.order, students=dict.fromkeys(networks, ()), networks=networks)
    group.hand_in("ada", solved(), **{FILE: variant_text(variant("ada", SECRET)).encode()})
    group.hand_in("bob", solved(), **{FILE: variant_text(variant("ada", SECRET)).encode()})
    group.hand_in("eve", solved())
    grades = group.grade()
    ada, bob, cyd = grades.students
    assert (ada.notes, ada.network) == ((), variant("ada", SECRET).name)
    assert ada.labs[LAB].network == ada.network
    assert "is that of network" in bob.notes[0]
    assert bob.network == variant("bob", SECRET).name
    assert (cyd.handed_in, cyd.notes, cyd.points) == (False, ("nothing was handed in",), 0)
    assert grades.unmatched[0].startswith("eve: nobody")
    assert not any(SECRET in path.read_bytes() for path in group.output.rglob("*") if path.is_file())


def test_simpleperf_alone_is_enough_for_its_lab(group: PretendedClass, kit: Kit) -> None:
    of_a_program = [name for name, lab in kit.labs.items() if lab.is_of_a_program]
    assert of_a_program == ["02-simpleperf"]
    group.order = Order(kit, (LAB, "02-simpleperf"))
    write(group.source / "ada", {"simpleperf.py": program()})
    (ada,) = group.grade().students
    assert ada.labs["02-simpleperf"].state == "judged"
    assert ada.labs[LAB].state == "not handed in"
    (file,) = group.output.rglob("files/simpleperf.py")
    assert file.read_bytes() == program()


@pytest.mark.large
def test_points_given_by_hand_are_taken_in_and_never_lost(group: PretendedClass, kit: Kit) -> None:
    group.hand_in("ada", solved())
    group.hand_in("bob", put(solved(), reflect_queue="=1+1\nMine."))
    group.grade()
    path = group.output / FREE_TEXTS
    rows = list(csv.DictReader(path.open(newline="")))
    assert [(row["student"], row["question"], row["points"]) for row in rows] == [
        ("ada", "reflect-throughput", ""), ("bob", "reflect-throughput", ""),
        ("bob", "reflect-queue", ""), ("ada", "reflect-queue", ""),
    ]  # fmt: skip
    assert rows[2]["answer"] == "'=1+1\nMine.", "a spreadsheet must not run it"
    for row, points in zip(rows, ("1", "", "0,5", "0"), strict=True):
        row["points"] = points
    with path.open("w", newline="", encoding="cp1252") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    ada, bob = group.grade().students
    assert group.judged == 0
    assert [(one.points, one.open_points) for one in (ada, bob)] == [(10, 0), (9.5, 1)]
    assert "0.5 of 1" in (group.output / "feedback" / "bob.html").read_text("utf-8")
    kept = [row for row in csv.DictReader(path.open(newline="")) if row["points"]]
    assert len(kept) == 3
    group.order = Order(kit, ("02-simpleperf",))
    group.grade()
    assert list(csv.DictReader(path.open(newline=""))) == kept, "another lab's points stay"
    group.order = Order(kit, (LAB,))
    group.hand_in("bob", put(solved(), reflect_queue="Another answer."))
    ada, bob = group.grade().students
    assert (ada.points, bob.open_points) == (10, 2), "an answer that has changed waits again"


def test_wrong_options_that_were_tried_cost_no_points_and_are_counted(group: PretendedClass) -> None:
    book = solved()
    group.hand_in("ada", book)
    (before,) = group.grade().students
    passed = next(each for each in before.labs[LAB].cells if each.checks)
    check = {"description": passed.checks[0].description, "outcome": "passed", "tried_wrong": ["a"]}
    tried = {"checks": [check]}
    cell(book, passed.cell_id)["outputs"] = [
        {"output_type": "display_data", "metadata": {}, "data": {RESULT_MIME: tried}}
    ]
    group.hand_in("ada", book)
    (after,) = group.grade().students
    assert (after.points, after.labs[LAB].tries) == (before.points, {passed.cell_id: 2})


def test_points_that_are_given_while_others_are_judged_are_taken_in(group: PretendedClass) -> None:
    group.hand_in("ada", solved())
    group.grade()
    path = group.output / FREE_TEXTS

    def judge(_: Sequence[Work]) -> Verdicts:
        rows = list(csv.DictReader(path.open(newline="")))
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "points": "1"} for row in rows)
        return {}

    group.hand_in("bob", solved())
    ada, bob = grade([group.source], group.output, group.order, judge, lambda _: None).students
    assert (ada.open_points, bob.labs[LAB].state) == (0, "not judged")
    assert [row["points"] for row in csv.DictReader(path.open(newline="")) if row["student"] == "ada"] == ["1", "1"]


def test_a_page_of_nobody_in_the_class_goes(group: PretendedClass) -> None:
    """It could be sent as it is, with the work of another under the name."""
    for student in ("ada", "bob"):
        group.hand_in(student, solved())
    group.grade()
    shutil.rmtree(group.source / "bob")
    said: list[str] = []
    grade([group.source], group.output, group.order, lambda _: {}, said.append)
    assert [path.name for path in (group.output / "feedback").iterdir()] == ["ada.html"]
    assert said[-1] == "removed of an earlier run, as nobody in the class is called so: feedback/bob.html"


@pytest.mark.parametrize("inside", ["graded", "a/b", "."])
def test_an_output_among_the_submissions_is_refused(group: PretendedClass, inside: str) -> None:
    group.hand_in("ada", solved())
    group.output = group.source / inside
    with pytest.raises(LinklabError, match="lies among the submissions"):
        group.grade()
    assert [path.name for path in group.source.iterdir()] == ["ada"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not begin with the columns"),
        (HEAD + "k1,l,q,s,1,2,,,a\n", "row 2: 2 points, and 0 to 1 can be given"),
        (HEAD + "k1,l,q,s,1,nan,,,a\n", "row 2: nan points"),
        (HEAD + "k1,l,q,s,1,good,,,a\n", "'good' of '1' are no points"), (HEAD + "k1,l\n", "2 columns instead of 9"),
    ],
)  # fmt: skip
def test_a_mistake_in_points_is_named_before_anything_is_judged(group: PretendedClass, text: str, said: str) -> None:
    group.hand_in("ada", solved())
    write(group.output, {"linklab-grades": b"", FREE_TEXTS: text.encode()})
    with pytest.raises(LinklabError, match=said):
        group.grade()
    assert (group.output / FREE_TEXTS).read_text() == text
    assert group.judged == 0


def test_a_folder_of_something_else_is_never_written_into(group: PretendedClass) -> None:
    group.hand_in("ada", solved())
    write(group.output, {"thesis.txt": b"mine"})
    with pytest.raises(LinklabError, match="holds something else"):
        group.grade()
    assert [path.name for path in group.output.iterdir()] == ["thesis.txt"]


def test_copies_are_named(group: PretendedClass) -> None:
    for number, name in enumerate(("ada", "bob")):
        source = program().decode().replace("seconds", f"secs{number}").replace("# ", f"# {number} ")
        write(group.source / name, {"simpleperf.py": source.encode()})
        group.hand_in(name, solved())
    group.hand_in("cyd", added(put(solved(), reflect_queue="An answer of my own."), "ping", "x = 1"))
    grades = group.grade()
    kit = "(the kit's own answer and rubric)"
    assert {one.what: one.students for one in grades.alike} == {
        "simpleperf.py": ("ada", "bob", "(the kit's own solution)"),
        f"{LAB}, reflect-throughput": ("ada", "bob", "cyd", kit),
        f"{LAB}, reflect-queue": ("ada", "bob", kit),
    }


@pytest.mark.parametrize("text", ["answer", "rubric", "explanation"])
def test_a_text_of_the_kit_s_own_that_was_handed_in_is_named(group: PretendedClass, kit: Kit, text: str) -> None:
    asked = next(part for part in kit.labs[LAB].parts if part.cell_id == "reflect-queue")
    pasted = f"I think so: {kit.labs[LAB].own_texts(asked)[text]}"
    group.hand_in("ada", put(starter(), reflect_queue=pasted, reflect_throughput="My own words. " * 12))
    (found,) = group.grade().alike
    assert (found.what, found.students) == (f"{LAB}, reflect-queue", ("ada", f"(the kit's own {text})"))


def test_python_files_lie_beside_the_notebook_that_is_judged_as_at_home(group: PretendedClass) -> None:
    group.hand_in("ada", solved(), **{"helpers.py": b"def rtt_ms(): return 20"})
    (ada,) = group.grade().students
    folder = group.output / "judged" / "ada" / LAB
    work = Work.of(folder)
    assert {name: path.read_bytes() for name, path in work.files.items()} == {"helpers.py": b"def rtt_ms(): return 20"}
    assert any("handed over" in note and "helpers.py" in note for note in ada.notes)
    before = work.own_digest()
    group.hand_in("ada", solved(), **{"helpers.py": b"def rtt_ms(): return 2 * 10"})
    group.grade()
    assert group.judged == 1, "another helper is another submission"
    assert Work.of(folder).own_digest() != before
