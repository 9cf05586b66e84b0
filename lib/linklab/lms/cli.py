"""``linklab export GRADED``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linklab.errors import LinklabError
from linklab.files import write_whole

if TYPE_CHECKING:
    from linklab.grading.grades import ClassGrade
    from linklab.lms.export import Filled
    from linklab.lms.feedback import FeedbackFile

_DESCRIPTION: Final = """\
Writes points into the table that a learning platform exported: give it with --into, and import what is written with
--output. All other cells are as they were. The columns of Moodle, Canvas and Blackboard are known; of any other table
name them with --id and --points. Students are never guessed, and other points that stand there stay. With --feedback
students' pages go back too. Exit status: 0 if all went where it belongs, 1 if something was left out, which is
named."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``export`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("export", help="grades for a learning platform", description=_DESCRIPTION)
    option = parser.add_argument
    option("graded", type=Path, metavar="GRADED", help="the folder that linklab grade wrote")
    option("--into", type=Path, metavar="FILE", help="the gradebook as the platform exported it")
    option("--output", type=Path, metavar="FILE", help="the gradebook with points, to be written")
    option("--labs", nargs="+", default=[], metavar="LAB", help="numbers or names (default: all that have a column)")
    several = "the column that has students' ids; several are joined by a blank: 'First name' 'Last name'"
    option("--id", nargs="+", default=[], metavar="COLUMN", help=several)
    option("--points", default="", metavar="COLUMN", help="the column for the points of one lab")
    where = "write students' pages: Moodle's feedback files into a name that ends with .zip, else a folder a student"
    option("--feedback", type=Path, metavar="WHERE", help=where)
    option("--replace", action="store_true", help="overwrite points that are others")
    option("--provisional", action="store_true", help="write points while others of them are still open")


def run(arguments: argparse.Namespace) -> int:
    """Write points and pages, say what became of them, return the exit status. What raises LinklabError writes none."""
    from linklab import schema
    from linklab.grading.grades import FILE, ClassGrade
    from linklab.grading.names import cleaned
    from linklab.lms.export import ExportOptions, fill
    from linklab.options import chosen

    graded, into, output, where = arguments.graded, arguments.into, arguments.output, arguments.feedback
    if (into is None) != (output is None) or (into is None and where is None):
        raise LinklabError("give the gradebook with --into and a file to be written with --output, or --feedback")
    for path in (graded / FILE, into):
        if path is not None and not path.is_file():
            raise LinklabError(f"there is no {path}: name the folder that linklab grade wrote, and the gradebook")
    for path in filter(None, (output, where)):
        if graded.resolve() in (path.resolve(), path.resolve().parent):
            raise LinklabError(f"{path} lies among what was graded: name a place elsewhere")
        if into is not None and path.resolve() == into.resolve():
            raise LinklabError(f"{path} is the gradebook itself: name another file, so that you can compare the two")
    grades = schema.parse(ClassGrade, (graded / FILE).read_text("utf-8", errors="replace"), str(graded / FILE))
    labs = chosen(arguments.labs, list(grades.labs)) if arguments.labs else ()
    filled = None
    if into is not None:
        options = ExportOptions(arguments.id, arguments.points, arguments.replace, arguments.provisional)
        filled = fill(into.read_bytes(), into.name, grades, labs, options)
    troubles = [f"not graded, {line}" for line in grades.unmatched]
    troubles += [f"not graded, {cleaned(one.student)}: {line}" for one in grades.students for line in one.left_aside]
    if where is not None:
        pages, left_out = _pages(graded, grades, labs or tuple(grades.labs), arguments.provisional)
        _write_pages(where, pages, filled)
        troubles += left_out if filled is None else []
    if filled is not None:
        _keep(output, filled.table.encoded())
        print(*filled.said, f"{output}: import it into the platform", sep="\n")
        troubles += filled.troubles
    for line in troubles:
        print(line, file=sys.stderr)
    return 1 if troubles else 0


def _pages(
    graded: Path, grades: ClassGrade, labs: Sequence[str], provisional: bool
) -> tuple[list[FeedbackFile], list[str]]:
    """Return students' pages, for each lab whose points are final, and a line for each whose are not."""
    from linklab.grading.names import cleaned
    from linklab.lms.export import not_final, was_handed_in
    from linklab.lms.feedback import FeedbackFile

    pages, left_out = [], []
    for lab in labs:
        for one in grades.students:
            mark = one.labs.get(lab)
            if mark is None or not was_handed_in(mark):
                continue
            if why := not_final(mark, provisional):
                left_out.append(f"no page, {cleaned(one.student)}, {lab}: {why}")
                continue
            page = graded / "feedback" / Path(one.page).name
            if not page.is_file():
                raise LinklabError(f"{cleaned(one.student)} has no page in {page.parent}: run linklab grade again")
            pages.append(FeedbackFile(one.student, lab, page.read_bytes()))
    return pages, left_out


def _write_pages(where: Path, pages: Sequence[FeedbackFile], filled: Filled | None) -> None:
    from linklab.lms.feedback import moodle_zip, write_folders

    if where.suffix.casefold() != ".zip":
        write_folders(where, pages)
        print(f"{where}: {len(pages)} pages")
        return
    numbers = filled.numbers if filled is not None and filled.preset.platform == "moodle" else {}
    numbered = [(numbers[page.student], page) for page in pages if numbers.get(page.student)]
    if not numbered:
        raise LinklabError(f"{where} needs, with --into, Moodle's grading worksheet, which has students' numbers")
    _keep(where, moodle_zip(numbered))
    print(f"{where}: {len(numbered)} pages; upload it as multiple feedback files in a zip")


def _keep(path: Path, data: bytes) -> None:
    """Write a file for its owner alone: grades are nobody else's business."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data, 0o600)
