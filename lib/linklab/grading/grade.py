"""Grades a class: reads what was handed in, has it judged, and writes tables and pages.

Everything is written below one folder: ``index.html``, ``grades.csv``, ``grades.json`` and ``by-hand.csv`` for the
instructor, ``feedback/`` with a page a student, and ``judged/`` with each notebook and the verdict on it, by which a
later run knows what is done.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from linklab import __version__, options, schema
from linklab.digests import judging_digest, linklab_digest
from linklab.errors import LinklabError
from linklab.files import need_room, write_whole
from linklab.grade.check import counted
from linklab.grading.bounded import WorkBounds, WorkFailed, run_bounded
from linklab.grading.grades import FILE as GRADES
from linklab.grading.grades import ClassGrade, GradedLab, StudentGrade, spreadsheet, to_csv, to_json
from linklab.grading.judges import Verdicts
from linklab.grading.manual_points import FILE as BY_HAND
from linklab.grading.manual_points import (
    Given,
    PointsFile,
    WrittenAnswer,
    failed_checks,
    rows_in,
    with_given,
    with_points,
)
from linklab.grading.names import folder_of, listed
from linklab.grading.overview import questions_table
from linklab.grading.pages import class_page, feedback, load_templates, questions_page
from linklab.grading.similarity import Alike, programs_alike, texts_alike
from linklab.grading.student_work import Order, StudentWork, read_student
from linklab.grading.submissions import Collected, Submission, collect, opened
from linklab.grading.verdict import Verdict
from linklab.grading.work import JUDGED, Work, unjudged
from linklab.headless.runner import read_book
from linklab.record import TEXT_STUB
from linklab.report.notebook import lab_of

MARK: Final = "linklab-grades"
"""A file by which the folder of a graded class is known."""
_KITS_OWN: Final = "(the kit's own solution)"
_BOUNDS_OF_COMPARISON: Final = WorkBounds(cpu_s=7200, memory_mb=6000)

Judge = Callable[[Sequence[Work]], Verdicts]
"""Judges notebooks."""


def grade(
    downloads: Sequence[Path], output: Path, order: Order, judge: Judge, tell: Callable[[str], None]
) -> ClassGrade:
    """Grade what is in ``downloads`` and write everything below ``output``; ``tell`` hears of each step.

    Each student's work is read, judged and shown in processes with bounds of their own (`linklab.grading.bounded`,
    `linklab.grading.judges`): what goes wrong there is said of that student, and the class's tables are written. Raises
    LinklabError where there is nothing to grade, or ``output`` holds something else, lies in a download, or is in use.
    """
    output = output.absolute()  # judges go to folders of their own
    for source in downloads:
        if output.resolve().is_relative_to(source.resolve()):
            raise LinklabError(f"{output} lies among the submissions: say a folder beside {source} with --output")
    with _held(output):
        rows_in(output)  # a mistake in by-hand.csv is said before hours of judging
        collected, students = _read(downloads, output, order)
        waiting = [
            work
            for one in students
            if order.wants(one.student)
            for work in one.works.values()
            if work.verdict.state != "judged"
        ]
        kept = sum(len(one.works) for one in students) - len(waiting)
        before = f", {kept} judged before" if kept else ""
        tell(f"{len(students)} students, {len(waiting)} notebooks to judge{before}")
        done = judge(waiting)
        by_name = {one.student: one for one in students}
        for work in waiting:
            if verdict := done.get((work.student, work.lab)):
                cells = verdict.cells or unjudged(order.kit.labs[work.lab], work.free_texts)
                by_name[work.student].works[work.lab] = replace(work, verdict=replace(verdict, cells=cells))
        for line in PointsFile(output / BY_HAND).differences():
            tell(line)
        answers = with_points(_answers(students, order), rows_in(output))  # with what was given meanwhile
        alike = run_bounded(lambda _: list(_alike(students, order)), [None], jobs=1, bounds=_BOUNDS_OF_COMPARISON)[0]
        if isinstance(alike, WorkFailed):
            tell(f"programs and answers were not compared: {alike.why}")
            alike = []
        grades = _grades(students, collected, order, answers, alike)
        load_templates(order.kit.labs[name] for name in order.labs)
        grades = _write(output, grades, students, tell)
        for line in _changes(waiting, done):
            tell(line)
        for page in _strangers(output, grades):
            tell(f"removed of an earlier run, as nobody in the class is called so: feedback/{page.name}")
            page.unlink()
        PointsFile(output / BY_HAND).take_in(answers)
        return grades


@contextlib.contextmanager
def _held(output: Path) -> Iterator[None]:
    """Lock the output folder for this run. Raises LinklabError where it holds something else, or another run has it."""
    mark = output / MARK
    if output.exists() and (not output.is_dir() or (any(output.iterdir()) and not mark.is_file())):
        raise LinklabError(f"{output} holds something else than a graded class: say another folder with --output")
    output.mkdir(parents=True, exist_ok=True, mode=0o700)  # grades are nobody else's business
    need_room(output)
    descriptor = os.open(mark, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LinklabError(f"another linklab grade writes into {output}: wait for it, or end it") from None
        yield
    finally:
        os.close(descriptor)


# --- What was handed in


def _read(downloads: Sequence[Path], output: Path, order: Order) -> tuple[Collected, list[StudentWork]]:
    """Read all of each submission that is needed later: what was unpacked is deleted then."""
    unpacked, begun_at = output / ".unpacked", _now().isoformat()
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir()

    def read(one: Submission) -> StudentWork:
        if not one.came_as:
            return StudentWork(one.student, handed_in=False, notes=one.notes)
        with tempfile.TemporaryDirectory(dir=unpacked) as place:
            return read_student(opened(one, Path(place)), order, output / JUDGED, begun_at)

    try:
        collected = collect(downloads, unpacked, order.students, order.pattern)
        everybody = list(_everybody(collected, order))
        if unknown := sorted(set(order.only) - {one.student for one in everybody}):
            raise LinklabError(f"nobody is called {listed(unknown)}: name with --only whom grades.csv names")
        for name in order.labs:
            judging_digest(f"lab{name[:2]}")  # reads all files once; the processes that are forked have it then
        found = run_bounded(read, everybody, jobs=options.cores())
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)
    pairs = zip(everybody, found, strict=True)
    return collected, [_unread(one, came.why) if isinstance(came, WorkFailed) else came for one, came in pairs]


def _everybody(collected: Collected, order: Order) -> Iterator[Submission]:
    """Yield the students on the list, in its order; without a list, those who handed something in."""
    if order.students is None:
        yield from collected.submissions.values()
        return
    for student in order.students:
        nothing = Submission(student, (), (), ("nothing was handed in",))
        yield collected.submissions.get(student, nothing)


def _unread(one: Submission, why: str) -> StudentWork:
    what = f"{one.student}'s files could not be read ({why}): look at them, and ask for them again, unpacked"
    return StudentWork(one.student, known_as=one.known_as, unread=what)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


# --- From verdicts to grades


def _grades(
    students: Sequence[StudentWork],
    collected: Collected,
    order: Order,
    answers: Sequence[WrittenAnswer],
    alike: Sequence[Alike],
) -> ClassGrade:
    given: dict[tuple[str, str], dict[str, Given]] = {}
    for answer in answers:
        given.setdefault((answer.student, answer.lab), {})[answer.cell] = answer.given

    def verdict_on(one: StudentWork, lab: str) -> Verdict:
        if one.unread:
            return Verdict(lab, "not read", ended=one.unread)
        if lab not in one.works:
            return Verdict(lab, "not handed in")
        return with_given(one.works[lab].verdict, given.get((one.student, lab), {}))

    found = tuple(
        StudentGrade(
            one.student, f"{folder_of(one.student)}.html", order.network_of(one.student).name,
            {name: verdict_on(one, name) for name in order.labs}, one.notes, one.handed_in, one.known_as,
            one.left_aside,
        )
        for one in students
    )  # fmt: skip
    labs = {
        name: GradedLab(name, lab.title, lab.max_points) for name, lab in order.kit.labs.items() if name in order.labs
    }
    made_at = _now().strftime("%Y-%m-%d %H:%M UTC")
    return ClassGrade(__version__, made_at, labs, found, collected.unmatched, tuple(alike))


def _changes(waiting: Sequence[Work], done: Verdicts) -> Iterator[str]:
    """Yield who gained and who lost points by being judged again: a line for each notebook, and their number."""
    lines, again = [], 0
    for work in waiting:
        verdict = done.get((work.student, work.lab))
        if verdict is None or work.earlier is None:
            continue
        again += 1
        if verdict.state != "judged":
            continue
        before = {cell.cell_id: cell.points for cell in work.earlier.cells}
        now = {cell.cell_id: cell.points for cell in verdict.cells}
        gained = [cell for cell, points in now.items() if points > before.get(cell, 0.0)]
        lost = [cell for cell, points in before.items() if points > now.get(cell, 0.0)]
        if gained or lost:
            words = [f"{verb} {listed(cells)}" for verb, cells in (("gained", gained), ("lost", lost)) if cells]
            points = f"{work.earlier.points:g} to {verdict.points:g} points"
            lines.append(f"judged again, {work.student}, {work.lab}: {points}: {'; '.join(words)}")
    yield from lines
    if again:
        yield f"{counted(again, 'notebook')} judged again: the points of {len(lines)} changed"


def _answers(students: Sequence[StudentWork], order: Order) -> Iterator[WrittenAnswer]:
    """Yield what people can give points for: each lab's free texts, then its checks that did not pass."""
    for name in order.labs:
        works = [one.works[name] for one in students if name in one.works]
        for part in order.kit.labs[name].parts:
            if part.role == "free text":
                for work in works:
                    text = work.free_texts.get(part.cell_id, "")
                    if text.strip() and text.strip() != TEXT_STUB:
                        yield WrittenAnswer(name, part.cell_id, work.student, text, part.points)
        for work in works:
            yield from failed_checks(work.student, work.verdict)


def _alike(students: Sequence[StudentWork], order: Order) -> Iterator[Alike]:
    """Compare the class's work, programs and free texts with the kit's own too; yield what is alike."""
    kit = order.kit
    for file, starter in kit.starters.items():
        written = {one.student: one.programs[file] for one in students if file in one.programs}
        own = {_KITS_OWN: kit.solutions[file]} if file in kit.solutions else {}
        yield from programs_alike(file, written | own, starter)
    for name in order.labs:
        works = [one.works[name] for one in students if name in one.works]
        for part in kit.labs[name].parts:
            what, cell = f"{name}, {part.cell_id}", part.cell_id
            if part.role == "answer":
                answers = {work.student: work.answers[cell] for work in works if cell in work.answers}
                yield from programs_alike(what, answers, part.starter)
            elif part.role == "free text":
                texts = {work.student: work.free_texts[cell] for work in works if cell in work.free_texts}
                own = {f"(the kit's own {text})": it for text, it in kit.labs[name].own_texts(part).items()}
                found = texts_alike(what, texts | own)
                yield from (one for one in found if not own.keys() >= set(one.students))


# --- Pages and tables


def _write(
    output: Path, grades: ClassGrade, students: Sequence[StudentWork], tell: Callable[[str], None]
) -> ClassGrade:
    """Write all pages and tables; return the grades, with a note on each student whose page lacks something."""
    (output / "feedback").mkdir(exist_ok=True)
    write = partial(_write_page, output / "feedback", grades)

    def noted(one: StudentGrade, lacks: str, came: WorkFailed) -> StudentGrade:
        tell(f"{one.student}: {lacks} ({came.why}): look at the notebooks in judged/{folder_of(one.student)}")
        return replace(one, notes=(*one.notes, f"{lacks}: your instructor looks at the notebooks themselves"))

    shown = list(grades.students)
    works = [one.works for one in students]
    written = run_bounded(lambda it: write(*it), list(zip(shown, works, strict=True)), jobs=options.cores())
    again = {number: came for number, came in enumerate(written) if isinstance(came, WorkFailed)}
    for number, failed in again.items():
        shown[number] = noted(shown[number], "the page does not show the notebooks", failed)
    bare = run_bounded(lambda one: write(one, {}), [shown[number] for number in again], jobs=1)
    for number, came in zip(again, bare, strict=True):
        if isinstance(came, WorkFailed):
            (output / "feedback" / shown[number].page).unlink(missing_ok=True)
            shown[number] = replace(noted(shown[number], "no page could be written", came), page="")
    grades = replace(grades, students=tuple(shown))
    asked = questions_table(grades)
    write_whole(output / "grades.csv", to_csv(grades), 0o644)
    write_whole(output / GRADES, to_json(grades), 0o644)
    write_whole(output / "index.html", class_page(grades), 0o644)
    write_whole(output / "questions.csv", spreadsheet(asked), 0o644)
    write_whole(output / "questions.html", questions_page(grades, asked), 0o644)
    return grades


def _write_page(folder: Path, grades: ClassGrade, one: StudentGrade, works: Mapping[str, Work]) -> None:
    """Write a student's page, with the judged notebooks of ``works``, if something that it shows has changed."""
    page = folder / one.page
    stamp = hashlib.sha256(linklab_digest() + json.dumps(schema.dump(one)).encode()).hexdigest()
    mark = f"<!-- {stamp}, {len(works)} notebooks -->\n"
    if page.is_file() and page.read_bytes().endswith(mark.encode()):
        return
    records = {}
    for name, work in works.items():
        path = work.judged if work.judged.is_file() else work.assembled
        at = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC)
        records[name] = lab_of(read_book(path), f"{name}.ipynb", at)
    write_whole(page, feedback(one, grades, records) + mark, 0o644)


def _strangers(output: Path, grades: ClassGrade) -> list[Path]:
    """Return the pages of an earlier run whose students are no longer in the class."""
    written = {one.page for one in grades.students}
    return sorted(page for page in (output / "feedback").glob("*.html") if page.name not in written)
