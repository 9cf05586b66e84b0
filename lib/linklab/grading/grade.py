"""Grading a class, from what was handed in to the pages.

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
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from linklab import __version__, options
from linklab.course import FILE, file_differs_from
from linklab.digests import judging_digest, linklab_digest
from linklab.errors import LinklabError
from linklab.files import write_whole
from linklab.grade.check import counted
from linklab.grading import manual_points
from linklab.grading.assemble import Assembled, assemble
from linklab.grading.grades import FILE as GRADES
from linklab.grading.grades import ClassGrade, LabGrade, StudentGrade, as_data, spreadsheet, to_csv, to_json
from linklab.grading.guard import WorkBounds, WorkFailed, guarded
from linklab.grading.kit import SIMPLEPERF, Kit, KitLab
from linklab.grading.manual_points import Given, PointsFile
from linklab.grading.model import Judged, Limits
from linklab.grading.names import folder_of, listed
from linklab.grading.pages import class_page, feedback, load_templates, questions_page
from linklab.grading.questions import table
from linklab.grading.recognise import Recognised, recognise
from linklab.grading.run import Done
from linklab.grading.similarity import Alike, programs_alike, texts_alike
from linklab.grading.store import Work, prepare, unjudged
from linklab.grading.submissions import Collected, Submission, collect, opened
from linklab.headless.runner import read_book
from linklab.network import COURSE, Network
from linklab.record import TEXT_STUB
from linklab.report.notebook import lab_of

MARK: Final = "linklab-grades"
"""A file by which the folder of a graded class is known."""
_LARGEST_VARIANT_BYTES: Final = 100_000
_KITS_OWN: Final = "(the kit's own solution)"
_BOUNDS_OF_COMPARISON: Final = WorkBounds(cpu_s=7200, memory_mb=6000)

Judge = Callable[[Sequence[Work]], Mapping[tuple[str, str], Done]]
"""Judges notebooks; what came of each, by student and lab. What is missing was not begun."""


@dataclass(frozen=True)
class Order:
    """What is to be graded: which labs, on whose network, within which limits.

    ``students`` is the list of students; without one, everybody who handed something in is graded. ``networks`` are the
    students' own, by id. Of ``only``, if it names somebody, all is judged again, and all others keep the verdicts that
    they have.
    """

    kit: Kit
    labs: Sequence[str]
    students: Sequence[str] | None = None
    networks: Mapping[str, Network] | None = None
    limits: Limits = field(default_factory=Limits)
    only: Sequence[str] = ()

    def wants(self, student: str) -> bool:
        """Return whether to judge a student's notebooks now."""
        return not self.only or student in self.only


@dataclass
class _LabWork:
    """What a student handed in for a lab, and what came of judging it now."""

    work: Work
    assembled: Assembled
    notes: Sequence[str]
    done: Done | None = None

    @property
    def judged(self) -> Judged | None:
        """The verdict, of now or of an earlier run; None where there is none."""
        return self.done.judged if self.done is not None else self.work.judged


@dataclass
class _Student:
    """A student of the class, with what was handed in for each lab.

    ``said`` are notes; ``unread`` is why nothing of it could be read, if so.
    """

    student: str
    labs: dict[str, _LabWork] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    handed_in: bool = True
    said: tuple[str, ...] = ()
    known_as: tuple[tuple[str, str], ...] = ()
    unread: str = ""


def grade(
    downloads: Sequence[Path], output: Path, order: Order, judge: Judge, tell: Callable[[str], None]
) -> ClassGrade:
    """Grade what is in ``downloads`` and write everything below ``output``; ``tell`` hears of each step.

    Each student's work is read, judged and shown within bounds of its own (`linklab.grading.guard`): what goes wrong
    there is said of that student, and the class's tables are written. Raises LinklabError where there is nothing to
    grade, or ``output`` holds something else, lies in a download, or is in use.
    """
    output = output.absolute()  # judges go to folders of their own
    for source in downloads:
        if output.resolve().is_relative_to(source.resolve()):
            raise LinklabError(f"{output} lies among the submissions: say a folder beside {source} with --output")
    with _held(output):
        manual_points.rows_in(output)  # a mistake in it is said before hours of judging
        work = output / ".unpacked"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        try:
            collected = collect(downloads, work, order.students)
            everybody = list(_everybody(collected, order))
            if unknown := sorted(set(order.only) - {one.student for one in everybody}):
                raise LinklabError(f"nobody is called {listed(unknown)}: name with --only whom grades.csv names")
            students = _read(everybody, order, output, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        waiting = [
            lab.work
            for one in students
            if order.wants(one.student)
            for lab in one.labs.values()
            if lab.work.judged is None
        ]
        kept = sum(len(student.labs) for student in students) - len(waiting)
        tell(
            f"{len(students)} students, {len(waiting)} notebooks to judge" + (f", {kept} judged before" if kept else "")
        )
        done = judge(waiting)
        for one in students:
            for name, lab in one.labs.items():
                lab.done = done.get((one.student, name))
        given = manual_points.rows_in(output)  # with what was given meanwhile
        answers = manual_points.with_points(_answers(students, order), given)
        alike = guarded(lambda _: list(_alike(students, order)), [None], jobs=1, bounds=_BOUNDS_OF_COMPARISON)[0]
        if isinstance(alike, WorkFailed):
            tell(f"programs and answers were not compared: {alike.why}")
            alike = []
        grades = _graded(students, collected, order, answers, alike)
        grades = _write(output, grades, students, tell)
        asked = table(grades)
        write_whole(output / "questions.csv", spreadsheet(asked), 0o644)
        write_whole(output / "questions.html", questions_page(grades, asked), 0o644)
        for line in _changes(students):
            tell(line)
        for page in _strangers(output, grades):
            tell(f"removed of an earlier run, as nobody in the class is called so: feedback/{page.name}")
            page.unlink()
        PointsFile(output / manual_points.FILE).take_in(answers)
        return grades


def _everybody(collected: Collected, order: Order) -> Iterator[Submission]:
    """Yield the students on the list, in its order; without a list, those who handed something in."""
    if order.students is None:
        yield from collected.submissions.values()
        return
    for student in order.students:
        nothing = Submission(student, (), (), ("nothing was handed in",))
        yield collected.submissions.get(student, nothing)


def _read(everybody: list[Submission], order: Order, output: Path, work: Path) -> list[_Student]:
    """Read all of each submission that is needed later: what was unpacked is deleted then."""

    def read(one: Submission) -> _Student:
        if not one.came_as:
            return _Student(one.student, handed_in=False, said=one.notes)
        with tempfile.TemporaryDirectory(dir=work) as place:
            return _looked_through(opened(one, Path(place)), order, output)

    for name in order.labs:
        judging_digest(f"lab{name[:2]}")  # reads all files once; the processes that are forked have it then
    found = guarded(read, everybody, jobs=options.cores())
    return [
        _unread(one, came.why) if isinstance(came, WorkFailed) else came
        for one, came in zip(everybody, found, strict=True)
    ]


def _unread(one: Submission, why: str) -> _Student:
    what = f"{one.student}'s files could not be read ({why}): look at them, and ask for them again, unpacked"
    return _Student(one.student, known_as=one.known_as, unread=what)


def _looked_through(one: Submission, order: Order, output: Path) -> _Student:
    found = recognise(one, order.kit)
    student = _Student(one.student, said=found.notes, known_as=one.known_as)
    for name, member in found.programs.items():
        if name in order.kit.starters:
            student.programs[name] = member.path.read_bytes().decode(errors="replace")
    network = order.networks[one.student] if order.networks is not None else None
    student.said += tuple(_about_network(one, network or COURSE))
    for name in order.labs:
        lab, notes = order.kit.labs[name], list[str]()
        assembled = _assembled(lab, found, notes)
        if assembled is None:
            continue
        notebook = found.notebooks.get(name)
        helpers = notebook.helpers if notebook else {}
        two = [file for file, member in helpers.items() if found.programs.get(file, member) != member]
        if two:
            notes.append(f"{listed(two)}: another file of that name lies beside simpleperf, and was not handed over")
        files = {file: member.path.read_bytes() for file, member in {**found.programs, **helpers}.items()}
        folder = output / "judged" / folder_of(one.student) / name
        again = order.wants(one.student) if order.only else None
        work = prepare(one.student, lab, folder, assembled.text, files, network, order.limits, again)
        # of 1,000 students' notebooks the texts would not fit into memory
        assembled = replace(assembled, text="")
        student.labs[name] = _LabWork(work, assembled, notes)
    return student


def _assembled(lab: KitLab, found: Recognised, notes: list[str]) -> Assembled | None:
    notebook = found.notebooks.get(lab.name)
    if notebook is None:
        if not lab.is_of_a_program or SIMPLEPERF not in found.programs:
            return None
        notes.append(f"only {SIMPLEPERF} was handed in for this lab, and no notebook")
        return Assembled(assemble(lab, ()).text, {}, {}, ())
    if lab.is_of_a_program and SIMPLEPERF not in found.programs:
        notes.append(f"no {SIMPLEPERF} was handed in with this notebook")
    assembled = assemble(lab, notebook.cells)
    notes += assembled.notes
    return assembled


def _about_network(one: Submission, network: Network) -> Iterator[str]:
    """Yield a line where the work was made for another network than the student's."""
    files = [member for member in one.files if member.parts[-1] == FILE]
    for member in files[:1]:
        if member.path.stat().st_size > _LARGEST_VARIANT_BYTES:
            continue
        if trouble := file_differs_from(network, member.path):
            yield f"{trouble}: the labs were run on {network.name}"


def _graded(
    students: list[_Student],
    collected: Collected,
    order: Order,
    answers: Sequence[manual_points.WrittenAnswer],
    alike: Sequence[Alike],
) -> ClassGrade:
    labs = {name: order.kit.labs[name] for name in order.labs}
    given: dict[tuple[str, str], dict[str, Given]] = {}
    for answer in answers:
        given.setdefault((answer.student, answer.lab), {})[answer.cell] = answer.given
    found = []
    for student in students:
        own = {name: given.get((student.student, name), {}) for name in labs}
        each = {name: _lab_grade(student, lab, order, own[name]) for name, lab in labs.items()}
        network = order.networks[student.student].name if order.networks is not None else COURSE.name
        page = f"{folder_of(student.student)}.html"
        found.append(
            StudentGrade(student.student, page, network, each, student.said, student.handed_in, student.known_as)
        )
    made_at = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return ClassGrade(labs, tuple(found), made_at, __version__, collected.unmatched, tuple(alike))


def _lab_grade(student: _Student, kit_lab: KitLab, order: Order, given: Mapping[str, Given]) -> LabGrade:
    lab = student.labs.get(kit_lab.name)
    if student.unread:
        return LabGrade("not read", trouble=student.unread)
    if lab is None:
        return LabGrade("not handed in")
    notes, tried = tuple(lab.notes), lab.assembled.tried_wrong
    if lab.judged is not None:
        judged = manual_points.with_given(lab.judged, given)
        tries = {cell: 1 + max(map(len, it.values())) for cell, it in tried.items()}
        return LabGrade("judged", judged, notes, tries=tries)
    if lab.done is None:
        return LabGrade("not judged", None, notes)
    network = order.networks[student.student] if order.networks is not None else COURSE
    known = unjudged(kit_lab, network.name, lab.assembled.free_texts, lab.done.trouble)
    return LabGrade("judge failed", manual_points.with_given(known, given), notes, lab.done.trouble)


def _changes(students: list[_Student]) -> Iterator[str]:
    """Yield who gained and who lost points by being judged again: a line for each notebook, and their number."""
    lines, again = [], 0
    for student in students:
        for name, lab in student.labs.items():
            again += lab.done is not None and lab.work.earlier is not None
            if lab.done is None or lab.done.judged is None or lab.work.earlier is None:
                continue
            before = {cell.cell_id: cell.points for cell in lab.work.earlier.cells}
            now = {cell.cell_id: cell.points for cell in lab.done.judged.cells}
            gained = [cell for cell, points in now.items() if points > before.get(cell, 0.0)]
            lost = [cell for cell, points in before.items() if points > now.get(cell, 0.0)]
            if gained or lost:
                words = [f"{verb} {listed(cells)}" for verb, cells in (("gained", gained), ("lost", lost)) if cells]
                points = f"{sum(before.values()):g} to {sum(now.values()):g} points"
                lines.append(f"judged again, {student.student}, {name}: {points}: {'; '.join(words)}")
    yield from lines
    if again:
        yield f"{counted(again, 'notebook')} judged again: the points of {len(lines)} changed"


def _answers(students: list[_Student], order: Order) -> Iterator[manual_points.WrittenAnswer]:
    """Yield what people can give points for: each lab's free texts, then its checks that did not pass."""
    for name in order.labs:
        handed_in = [(student.student, student.labs[name]) for student in students if name in student.labs]
        for part in order.kit.labs[name].parts:
            if part.role == "free text":
                for student, lab in handed_in:
                    text = lab.assembled.free_texts.get(part.cell_id, "")
                    if text.strip() and text.strip() != TEXT_STUB:
                        yield manual_points.WrittenAnswer(name, part.cell_id, student, text, part.points)
        for student, lab in handed_in:
            if lab.judged is not None:
                yield from manual_points.failed_checks(student, lab.judged)


def _alike(students: list[_Student], order: Order) -> Iterator[Alike]:
    """Compare the class's work with each other's and with the kit's own programs; yield what is alike."""
    kit = order.kit
    for file, starter in kit.starters.items():
        written = {student.student: student.programs[file] for student in students if file in student.programs}
        own = {_KITS_OWN: kit.solutions[file]} if file in kit.solutions else {}
        yield from programs_alike(file, written | own, starter)
    for name in order.labs:
        handed_in = {student.student: student.labs[name].assembled for student in students if name in student.labs}
        for part in kit.labs[name].parts:
            what, cell = f"{name}, {part.cell_id}", part.cell_id
            if part.role == "answer":
                answers = {student: one.answers[cell] for student, one in handed_in.items() if cell in one.answers}
                yield from programs_alike(what, answers, part.starter)
            elif part.role == "free text":
                texts = {student: one.free_texts[cell] for student, one in handed_in.items() if cell in one.free_texts}
                yield from texts_alike(what, texts)


def _write(output: Path, grades: ClassGrade, students: list[_Student], tell: Callable[[str], None]) -> ClassGrade:
    """Write all pages and tables; return the grades, with a note on each student whose page lacks something."""
    (output / "feedback").mkdir(exist_ok=True)
    kit = linklab_digest()

    def write(of: tuple[_Student, StudentGrade], *, with_notebooks: bool = True) -> None:
        student, one = of
        page = output / "feedback" / one.page
        works = {name: lab.work for name, lab in student.labs.items()}
        rests_on = [json.dumps(as_data(one)), *(work.digest for work in works.values())]
        stamp = f"<!-- {hashlib.sha256(kit + repr(rests_on).encode()).hexdigest()} -->\n"
        if with_notebooks and page.is_file() and page.read_bytes().endswith(stamp.encode()):
            return
        records = {}
        for name, work in works.items() if with_notebooks else ():
            at = datetime.datetime.fromtimestamp(work.book.stat().st_mtime, datetime.UTC)
            records[name] = lab_of(read_book(work.book), f"{name}.ipynb", at)
        write_whole(page, feedback(one, grades, records) + (stamp if with_notebooks else ""), 0o644)

    def noted(one: StudentGrade, lacks: str, came: WorkFailed) -> StudentGrade:
        tell(f"{one.student}: {lacks} ({came.why}): look at the notebooks in judged/{folder_of(one.student)}")
        return replace(one, notes=(*one.notes, f"{lacks}: your instructor looks at the notebooks themselves"))

    load_templates(grades.labs.values())
    written = guarded(write, list(zip(students, grades.students, strict=True)), jobs=options.cores())
    shown = list(grades.students)
    again = {number: came for number, came in enumerate(written) if isinstance(came, WorkFailed)}
    for number, failed in again.items():
        shown[number] = noted(shown[number], "the page does not show the notebooks", failed)
    bare = guarded(partial(write, with_notebooks=False), [(students[it], shown[it]) for it in again], jobs=1)
    for number, came in zip(again, bare, strict=True):
        if isinstance(came, WorkFailed):
            (output / "feedback" / shown[number].page).unlink(missing_ok=True)
            shown[number] = noted(shown[number], "no page could be written", came)
    grades = replace(grades, students=tuple(shown))
    write_whole(output / "grades.csv", to_csv(grades), 0o644)
    write_whole(output / GRADES, to_json(grades), 0o644)
    write_whole(output / "index.html", class_page(grades), 0o644)
    return grades


def _strangers(output: Path, grades: ClassGrade) -> list[Path]:
    """Return the pages of an earlier run whose students are no longer in the class."""
    written = {one.page for one in grades.students}
    return sorted(page for page in (output / "feedback").glob("*.html") if page.name not in written)


@contextlib.contextmanager
def _held(output: Path) -> Iterator[None]:
    """Lock the output folder for this run. Raises LinklabError where it holds something else, or another run has it."""
    mark = output / MARK
    if output.exists() and (not output.is_dir() or (any(output.iterdir()) and not mark.is_file())):
        raise LinklabError(f"{output} holds something else than a graded class: say another folder with --output")
    output.mkdir(parents=True, exist_ok=True, mode=0o700)  # grades are nobody else's business
    descriptor = os.open(mark, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LinklabError(f"another linklab grade writes into {output}: wait for it, or end it") from None
        yield
    finally:
        os.close(descriptor)
