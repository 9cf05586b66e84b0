"""``linklab export GRADED``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linklab.files import write_whole

if TYPE_CHECKING:
    from linklab.lms.gradebooks import Column, Gradebook
    from linklab.lms.marks import Marks

Said = tuple[Sequence[str], Sequence[str]]
"""What became of the grades, and what was left out, in lines."""

GRADEBOOKS: Final = ("moodle", "canvas", "blackboard")
OTHERS: Final = ("gradescope", "nbgrader")
_DESCRIPTION = """\
Writes grades as a learning platform takes them back. Moodle, Canvas and Blackboard: export the gradebook there, give it
with --into, and import what is written with --output; it is the same file, with the points of this class in it.
Students are found by login, e-mail, ID or full name, and never guessed; a grade that stands there stays.
Gradescope: a folder with an autograder for each lab, which gives each submission its results.json. nbgrader: a table as
nbgrader export writes it. Exit status: 0 if all went where it belongs, 1 if something was left out, which is named."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``export`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("export", help="grades for a learning platform", description=_DESCRIPTION)
    parser.add_argument(
        "graded", type=Path, metavar="GRADED", help="the folder that linklab grade wrote, or nbgrader's grades.csv"
    )
    parser.add_argument("--for", dest="platform", required=True, choices=(*GRADEBOOKS, *OTHERS))
    parser.add_argument("--into", type=Path, metavar="FILE", help="the gradebook as the platform exported it")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="what is written; Gradescope: a folder"
    )
    parser.add_argument(
        "--labs",
        nargs="+",
        default=[],
        metavar="LAB",
        help="numbers or names, each with its column where that is called otherwise: 03 '04=Fourth lab' (default: all "
        "labs that have a column)",
    )
    parser.add_argument("--by", default="", metavar="COLUMN", help="find students by this column alone")
    parser.add_argument("--scale", action="store_true", help="convert to the points that the column is worth")
    parser.add_argument("--replace", action="store_true", help="overwrite grades that are others")
    parser.add_argument("--provisional", action="store_true", help="write points while others of them are still open")


def run(arguments: argparse.Namespace) -> int:
    """Write the grades, say what became of them, return the exit status. What raises LinklabError writes nothing."""
    from linklab.errors import LinklabError
    from linklab.lms.marks import read_marks

    if arguments.platform in OTHERS:
        for option, given in (
            ("--into", arguments.into), ("--by", arguments.by), ("--scale", arguments.scale),
            ("--replace", arguments.replace),
        ):  # fmt: skip
            if given:
                raise LinklabError(f"{arguments.platform} takes no gradebook back: leave {option} away")
        if any("=" in word for word in arguments.labs):
            raise LinklabError(f"{arguments.platform} has no columns: name the labs alone")
    elif arguments.into is None:
        raise LinklabError(
            f"--for {arguments.platform} needs --into: the gradebook as {arguments.platform} exported it"
        )
    marks = read_marks(arguments.graded)
    _refuse_to_write_over(arguments.graded.resolve(), arguments.output.resolve())
    way = {"gradescope": _gradescope, "nbgrader": _nbgrader}.get(arguments.platform, _into_gradebook)
    said, troubles = way(arguments, marks)
    for line in troubles:
        print(line, file=sys.stderr)
    for line in (*said, *(f"not graded, {one}" for one in marks.unmatched)):
        print(line)
    return 1 if troubles else 0


def _refuse_to_write_over(graded: Path, output: Path) -> None:
    """Raise LinklabError where what was graded, or the marks given by hand, would be lost."""
    from linklab.errors import LinklabError
    from linklab.grading import by_hand
    from linklab.lms.marks import GRADES

    folder = graded if graded.is_dir() else graded.parent
    if output in (graded, *(folder / name for name in (GRADES, by_hand.FILE, "grades.csv", "index.html"))):
        raise LinklabError("--output would write over what was graded: name another file")


def _into_gradebook(arguments: argparse.Namespace, marks: Marks) -> Said:
    from linklab.errors import LinklabError
    from linklab.lms.fill import Wishes, fill
    from linklab.lms.gradebooks import read_gradebook

    into, output = arguments.into, arguments.output
    if not into.is_file():
        raise LinklabError(f"there is no {into}: export the gradebook and name that file")
    if output.exists() and output.samefile(into):
        raise LinklabError("--output is the gradebook itself: name another file, so that you can compare the two")
    book = read_gradebook(into.read_bytes(), into.name, arguments.platform, arguments.by)
    wishes = Wishes(arguments.replace, arguments.provisional, arguments.scale)
    columns = _columns(book, marks, arguments.labs)
    filled = fill(book, marks, columns, wishes)
    _keep(output, filled.data)
    left_out = [] if arguments.labs else _without_a_column(book, marks, columns)
    return (*filled.said, f"{output}: import it into {book.called}"), (*filled.troubles, *left_out)


def _without_a_column(book: Gradebook, marks: Marks, columns: Mapping[str, Column]) -> list[str]:
    """A line for each lab that somebody handed in and no column takes the points of."""
    from linklab.network.variants import normalised

    lines = []
    for lab, title in marks.titles.items():
        if lab in columns or all(one.of(lab).state == "not handed in" for one in marks.students):
            continue
        called = {normalised(lab), normalised(title)}
        column = next((one for one in book.columns if one.names & called), None)
        if column is None:
            why = f"no column of {book.table.name} is called so; name one with --labs, or the labs that you want"
        else:
            why = f"column {column.header!r} {column.refused}"
        lines.append(f"not written, {lab}: {why}")
    return lines


def _columns(book: Gradebook, marks: Marks, words: Sequence[str]) -> Mapping[str, Column]:
    """Which lab goes into which column. Raises LinklabError where one has none, or two have the same."""
    from linklab.errors import LinklabError

    columns: dict[str, Column] = {}
    for word in words:
        name, mark, called = word.partition("=")
        if mark and not called.strip():
            raise LinklabError(f"{word!r} names no column behind the =")
        lab = marks.lab(name)
        if lab in columns:
            raise LinklabError(f"{lab} is named twice: it goes into one column")
        columns[lab] = book.column(called) if mark else _usual(book, marks, lab)
    if not words:
        alone = book.of_one and len(marks.max_points) == 1
        columns = {lab: _usual(book, marks, lab) for lab in marks.max_points if alone or _candidates(book, marks, lab)}
    some_lab = next(iter(marks.max_points), "03")
    if book.of_one and len(columns) != 1:
        raise LinklabError(f"{book.table.name} is of one assignment: say which lab that is, as --labs {some_lab}")
    if not columns:
        there = "; ".join(repr(one.header) for one in book.columns if not one.refused)
        raise LinklabError(
            f"no column of {book.table.name} is called like a lab: say which with --labs, as --labs "
            f"'{some_lab}=COLUMN'; there are {there or 'none for points'}"
        )
    for index in {one.index for one in columns.values()}:
        both = [lab for lab, one in columns.items() if one.index == index]
        if len(both) > 1:
            raise LinklabError(f"{' and '.join(both)} would go into the same column {columns[both[0]].header!r}")
    return columns


def _candidates(book: Gradebook, marks: Marks, lab: str) -> list[str]:
    """What a lab is called, as far as a column for points is called so."""
    from linklab.network.variants import normalised

    there = {name for one in book.columns if not one.refused for name in one.names}
    return [word for word in (lab, marks.titles[lab]) if normalised(word) in there]


def _usual(book: Gradebook, marks: Marks, lab: str) -> Column:
    """The column that is called like a lab; the only one, where the table is of one assignment."""
    if book.of_one:
        return book.column(book.columns[0].header)
    return book.column(next(iter(_candidates(book, marks, lab)), lab))


def _gradescope(arguments: argparse.Namespace, marks: Marks) -> Said:
    from linklab.errors import LinklabError
    from linklab.lms.results import autograder

    output = arguments.output
    if output.exists() and not output.is_dir():
        raise LinklabError(f"{output} is a file: name a folder, for an autograder of each lab")
    labs = [marks.lab(word) for word in arguments.labs] or list(marks.max_points)
    made = {lab: autograder(lab, marks, arguments.provisional) for lab in labs}
    output.mkdir(parents=True, exist_ok=True, mode=0o700)
    said: list[str] = []
    troubles: list[str] = []
    for lab, (data, trouble) in made.items():
        _keep(output / f"{lab}.zip", data)
        said.append(f"{output / lab}.zip: upload it as the autograder of {lab}")
        troubles += trouble
    return said, troubles


def _nbgrader(arguments: argparse.Namespace, marks: Marks) -> Said:
    from linklab.lms.results import nbgrader_table

    labs = [marks.lab(word) for word in arguments.labs] or list(marks.max_points)
    output = arguments.output
    _keep(output, nbgrader_table(labs, marks).encode())
    troubles = [
        f"written with {one.marks[lab].points:g} points, {one.student}, {lab}: it was not judged: run linklab grade "
        "again"
        for lab in labs
        for one in marks.students
        if one.of(lab).state == "not judged"
    ]
    return [f"{output}: {len(labs)} labs, {len(marks.students)} students"], troubles


def _keep(path: Path, data: bytes) -> None:
    """Write a file for its owner alone: grades are nobody else's business."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data, 0o600)
