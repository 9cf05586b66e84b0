"""Whatever a student hands in costs that student's page or cell, and never the run."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from linklab.grade import Check, result
from linklab.grading.bounded import WorkBounds, WorkFailed, run_bounded
from linklab.grading.kit import Kit
from tests.grading.conftest import PretendedClass
from tests.grading.made_class import LAB, added, as_zip, cell, data, put, solved, write
from tests.support import fuzzer

SEEDS = range(1, 201)


def _deep(_: object) -> object:
    return _deep(_)


def _late(_: object) -> None:
    while True:
        pass


@pytest.mark.parametrize(
    ("work", "why"),
    [
        (lambda _: 1 / 0, "ZeroDivisionError: division by zero"),
        (_deep, "RecursionError"),
        (lambda _: os.kill(os.getpid(), signal.SIGTERM), "SIGTERM"),
        (_late, "more than 1 s of CPU time|not done after 10 s"),  # a busy machine gives it less than a tenth of a core
        (lambda _: list(range(60_000_000)), "more than 100 MB of memory"),
        (lambda _: bytes(30_000_000), "more than 10 MB came of it"),
        (lambda _: os._exit(0), "came of it"),
    ],
)
def test_what_goes_wrong_is_said_of_one_alone(work: Callable[[object], object], why: str) -> None:
    bounds = WorkBounds(cpu_s=1, memory_mb=100, answer_mb=10)
    first, second = run_bounded(lambda number: work(0) if number == 1 else "done", [1, 2], jobs=1, bounds=bounds)
    assert isinstance(first, WorkFailed)
    assert re.search(why, first.why)
    assert second == "done"


def test_answers_come_in_order() -> None:
    assert run_bounded(lambda number: 2 * number, range(20), jobs=4) == list(range(0, 40, 2))


@result.guarded
def _hungry(number: int) -> result.Result:
    return result.Result("a title", (Check.passing(f"{len(list(range(number)))} numbers", ""),))


def test_a_check_that_a_small_value_makes_take_all_memory_has_failed() -> None:
    (found,) = run_bounded(_hungry, [60_000_000], jobs=1, bounds=WorkBounds(memory_mb=100))
    assert isinstance(found, result.Result)
    assert (found.outcome, found.open_points) == ("failed", 0)
    assert "smaller value" in str(found)


DEEP_HTML = "<div>" * 400_000
_HOSTILE: Mapping[str, Callable[[], dict[str, bytes]]] = {
    "a variant's file without end": lambda: {"linklab-variant.json": b"[" * 99_000},
    "half a character in an attachment": lambda: {
        f"{LAB}.ipynb": data(_attached(solved(), {"a.png": {"image/png": "\ud800"}}))
    },
    "a module whose name no file can have": lambda: {"work.zip": as_zip({"漢" * 100 + ".py": b"1"})},
    "a zip member without a name": lambda: {"work.zip": as_zip({"x": b"", "y.py": b"1"}).replace(b"x", b"\0")},
    "an archive of nothing": lambda: {"work.zip": b"PK\5\6" + bytes(18)},
    "HTML that nests": lambda: {f"{LAB}.ipynb": data(put(solved(), reflect_queue=DEEP_HTML[:190_000]))},
    "markdown that never closes": lambda: {f"{LAB}.ipynb": data(put(solved(), reflect_queue="[" * 190_000))},
    "a widget's view": lambda: {
        f"{LAB}.ipynb": data(added(solved(), "ping", "x", outputs=[{"output_type": "display_data", "data": 5}]))
    },
}


def _attached(book: object, attachments: object) -> object:
    cell(book, "reflect-queue")["attachments"] = attachments
    return book


@pytest.mark.large
def test_no_students_files_stop_the_class(group: PretendedClass) -> None:
    for student in ("ada", *_HOSTILE):
        group.hand_in(student, solved())
        write(group.source / student, _HOSTILE.get(student, dict)())
    students = group.grade().students
    assert {one.student for one in students} == {"ada", *_HOSTILE}
    assert {one.student: (one.labs[LAB].state, one.points) for one in students if one.points != 9} == {}
    assert [one.page for one in students if not (group.output / "feedback" / one.page).is_file()] == []


def test_a_submission_that_cannot_be_read_is_named_and_the_tables_are_written(
    group: PretendedClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recognise(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("linklab.grading.student_work.recognise", recognise)
    group.hand_in("ada", solved())
    (ada,) = group.grade().students
    assert ada.labs[LAB].state == "not read"
    assert "SIGTERM" in ada.labs[LAB].ended
    assert "ask for them again" in ada.labs[LAB].ended
    assert (group.output / "grades.csv").read_text().splitlines()[1].startswith("ada,course,,,")
    assert "SIGTERM" in (group.output / "index.html").read_text()


def test_a_notebook_that_no_page_can_show_costs_its_own_page(group: PretendedClass) -> None:
    for student in ("ada", "bob"):
        group.hand_in(student, solved())
    group.grade()
    (group.output / "judged" / "ada" / LAB / f"{LAB}.ipynb").write_bytes(b"[" * 99_000)
    (group.output / "feedback" / "ada.html").unlink()
    ada, bob = group.grade().students
    assert "does not show the notebooks" in ada.notes[-1]
    assert bob.notes == ()
    assert "check-queue" in (group.output / "feedback" / "ada.html").read_text("utf-8")


def test_a_page_is_written_again_only_where_something_changed(group: PretendedClass) -> None:
    group.hand_in("ada", solved())
    group.grade()
    page = group.output / "feedback" / "ada.html"
    before = page.stat().st_mtime_ns
    group.grade()
    assert page.stat().st_mtime_ns == before
    group.hand_in("ada", put(solved(), reflect_queue="Another answer."))
    group.grade()
    assert page.stat().st_mtime_ns > before
    assert "Another answer." in page.read_text("utf-8")


@pytest.mark.large
@pytest.mark.slow
def test_damaged_submissions_end_no_run(kit: Kit, tmp_path: Path) -> None:
    """A hundred thousand: ``python -m tests.support.fuzzer 100000``."""
    counts = fuzzer.graded(kit, SEEDS, tmp_path)
    assert sum(counts.values()) == len(SEEDS)
    assert counts["judged"] > len(SEEDS) / 3
