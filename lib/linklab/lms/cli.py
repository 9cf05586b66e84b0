"""``linklab export GRADED``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linklab.errors import LinklabError
from linklab.files import write_whole

if TYPE_CHECKING:
    from linklab.lms.gradebooks import Gradebook, PointsColumn
    from linklab.lms.marks import Marks

Said = tuple[Sequence[str], Sequence[str]]
"""What became of the grades, and what was left out, in lines."""

_GRADEBOOKS: Final = ("moodle", "canvas", "blackboard")
_DESCRIPTION = """\
Writes grades as a learning platform takes them back. Moodle, Canvas and Blackboard: export the gradebook there, give it
with --into, and import what is written with --output; it is the same table, with the points of this class in it.
Students are found by login, e-mail, ID or full name, and never guessed; a grade that stands there stays.
nbgrader: a table as nbgrader export writes it. Exit status: 0 if all went where it belongs, 1 if something was left
out, which is named."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``export`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("export", help="grades for a learning platform", description=_DESCRIPTION)
    parser.add_argument(
        "graded", type=Path, metavar="GRADED", help="the folder that linklab grade wrote, or nbgrader's grades.csv"
    )
    parser.add_argument("--for", dest="platform", required=True, choices=(*_GRADEBOOKS, "nbgrader"))
    parser.add_argument("--into", type=Path, metavar="FILE", help="the gradebook as the platform exported it")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="what is written")
    parser.add_argument(
        "--labs",
        nargs="+",
        default=[],
        metavar="LAB",
        help="numbers or names, each with its column where that is called otherwise: 03 '04=Fourth lab' (default: all "
        "labs that have a column)",
    )
    parser.add_argument(
        "--feedback",
        metavar="WHERE",
        help="what each check and each grader said goes back too. Moodle: a zip file to be written, of all students' "
        "pages, and comments in the worksheet; Canvas: the course's address (https://canvas.example/courses/42), to "
        "which comments are sent with the token in CANVAS_TOKEN; nbgrader: the course's folder feedback/",
    )
    parser.add_argument("--by", default="", metavar="COLUMN", help="find students by this column alone")
    parser.add_argument("--scale", action="store_true", help="convert to the points that the column is worth")
    parser.add_argument("--replace", action="store_true", help="overwrite grades that are others")
    parser.add_argument("--provisional", action="store_true", help="write points while others of them are still open")


def run(arguments: argparse.Namespace) -> int:
    """Write the grades, say what became of them, return the exit status. What raises LinklabError writes nothing."""
    from linklab.lms.marks import read_marks

    platform = arguments.platform
    if platform == "nbgrader":
        for option in ("into", "by", "scale", "replace"):
            if getattr(arguments, option):
                raise LinklabError(f"{platform} takes no gradebook back: leave --{option} away")
        if any("=" in word for word in arguments.labs):
            raise LinklabError(f"{platform} has no columns: name the labs alone")
    elif arguments.into is None:
        raise LinklabError(f"--for {platform} needs --into: the gradebook as {platform} exported it")
    marks = read_marks(arguments.graded)
    _refuse_to_write_over(arguments.graded.resolve(), arguments.output.resolve())
    said, troubles = (_nbgrader if platform == "nbgrader" else _into_gradebook)(arguments, marks)
    for line in troubles:
        print(line, file=sys.stderr)
    for line in (*said, *(f"not graded, {one}" for one in marks.unmatched)):
        print(line)
    return 1 if troubles else 0


def _refuse_to_write_over(graded: Path, output: Path) -> None:
    """Raise LinklabError where what was graded, or the marks given by hand, would be lost."""
    from linklab.grading import grades, manual_points

    folder = graded if graded.is_dir() else graded.parent
    written = (grades.FILE, manual_points.FILE, "grades.csv", "index.html", "questions.csv")
    if output in (graded, *(folder / name for name in written)):
        raise LinklabError("--output would write over what was graded: name another file")


def _into_gradebook(arguments: argparse.Namespace, marks: Marks) -> Said:
    from linklab.lms.gradebooks import Wishes, fill, numbers_of, read_gradebook

    into, output = arguments.into, arguments.output
    if not into.is_file():
        raise LinklabError(f"there is no {into}: export the gradebook and name that file")
    if output.exists() and output.samefile(into):
        raise LinklabError("--output is the gradebook itself: name another file, so that you can compare the two")
    book = read_gradebook(into.read_bytes(), into.name, arguments.platform, arguments.by)
    columns, left_out = _columns(book, marks, arguments.labs)
    wishes = Wishes(arguments.replace, arguments.provisional, arguments.scale, bool(arguments.feedback))
    send = _sender(arguments, book) if arguments.feedback else None
    data, said, troubles = fill(book, marks, columns, wishes)
    _keep(output, data)
    said = (*said, f"{output}: import it into {book.form.called}")
    if send is not None:
        said = (*said, *send(marks, numbers_of(book, marks), columns))
    return said, (*troubles, *left_out)


_Send = Callable[["Marks", Mapping[str, str], Mapping[str, "PointsColumn"]], Iterable[str]]


def _sender(arguments: argparse.Namespace, book: Gradebook) -> _Send:
    """Return what brings feedback back: of marks, students' numbers and columns it makes lines on what was done.

    Raises LinklabError where the platform, the table, or what was said with --feedback has no way for it.
    """
    from linklab.lms.feedback import CanvasCourse, zip_of_pages

    where = arguments.feedback
    if arguments.platform == "canvas":
        course = CanvasCourse.at(where, os.environ.get("CANVAS_TOKEN", ""))
        return lambda marks, numbers, columns: course.send(
            marks, numbers, {lab: column.heading for lab, column in columns.items()}, arguments.provisional
        )
    if arguments.platform != "moodle" or not book.form.of_one:
        raise LinklabError("--feedback needs a grading worksheet of Moodle, Canvas or nbgrader: leave it away")

    def write(marks: Marks, numbers: Mapping[str, str], columns: Mapping[str, PointsColumn]) -> Iterable[str]:
        data, pages = zip_of_pages(marks, numbers, tuple(columns), arguments.provisional)
        _keep(Path(where), data)
        yield f"{where}: {pages} pages; upload it as multiple feedback files in a zip"

    return write


def _columns(book: Gradebook, marks: Marks, words: Sequence[str]) -> tuple[dict[str, PointsColumn], list[str]]:
    """Which lab goes into which column, and a line for each lab that somebody handed in and that has no column.

    Raises LinklabError where a lab that was named has no column, two have the same, or no lab has one.
    """
    columns: dict[str, PointsColumn] = {}
    without: dict[str, str] = {}
    for word in words or marks.max_points:
        name, mark, heading = word.partition("=")
        if mark and not heading.strip():
            raise LinklabError(f"{word!r} names no column behind the =")
        lab = marks.lab(name)
        if lab in columns:
            raise LinklabError(f"{lab} is named twice: it goes into one column")
        usual = (book.columns[0].heading,) if book.form.of_one else (lab, marks.titles[lab])
        try:
            column = book.column(*((heading,) if mark else usual))
        except LinklabError as error:
            if words:
                raise
            without[lab] = f"{error}; name a column, --labs '{lab}=COLUMN', or the labs that you want"
            continue
        for other, one in columns.items():
            if book.form.of_one:
                raise LinklabError(f"{book.name} is of one assignment: say which lab that is, as --labs {other}")
            if one == column:
                raise LinklabError(f"{other} and {lab} would go into the same column {one.heading!r}")
        columns[lab] = column
    if not columns:
        raise LinklabError(next(iter(without.values()), "no lab was graded: there is nothing to export"))
    handed_in = {lab for one in marks.students for lab in without if one.of(lab).state != "not handed in"}
    return columns, [f"not written, {lab}: {why}" for lab, why in without.items() if lab in handed_in]


def _nbgrader(arguments: argparse.Namespace, marks: Marks) -> Said:
    from linklab.lms.marks import nbgrader_table, not_final

    labs = [marks.lab(word) for word in arguments.labs] or list(marks.max_points)
    _keep(arguments.output, nbgrader_table(labs, marks).encode())
    troubles = [
        f"written with {one.of(lab).points:g} points, {one.student}, {lab}: {why}"
        for lab in labs
        for one in marks.students
        if one.of(lab).state != "not handed in" and (why := not_final(one.of(lab), provisional=True))
    ]
    said = [f"{arguments.output}: {len(labs)} labs, {len(marks.students)} students"]
    if arguments.feedback:
        from linklab.lms.feedback import into_folders

        said.append(f"{arguments.feedback}: {into_folders(Path(arguments.feedback), marks, labs)} pages")
    return said, troubles


def _keep(path: Path, data: bytes) -> None:
    """Write a file for its owner alone: grades are nobody else's business."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data, 0o600)
