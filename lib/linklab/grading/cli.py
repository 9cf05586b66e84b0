"""``linklab grade SUBMISSIONS``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linklab import options
from linklab.signals import INTERRUPTED

if TYPE_CHECKING:
    from linklab.grading.grades import ClassGrade
    from linklab.grading.judges import Verdicts
    from linklab.grading.student_work import Order
    from linklab.grading.work import Work

_DESCRIPTION = """\
Grades a class: takes what a learning platform exported (folders or zip files), finds each student's notebooks by
their cells and programs by their names, runs the instructor's notebooks with the students' answers from scratch,
confined, on virtual time, several at once, and writes a page for each student and grades.csv, grades.json and
index.html for the class. Submissions are not touched. The same command once more goes on where it ended, judges
again only what has changed, and says who gained and who lost what. Exit status: 0 if everything was judged, 1 if a
judge failed, a page could not be written or a submission belongs to nobody on the list of students, 130 after
Ctrl-C."""
_LIMITS = """\
What one notebook may use; beyond, it is ended, and what it has done until then counts. The other notebooks go on."""
_LIMIT_OPTIONS: Final = (
    ("--notebook-limit-s", "wall_s", options.seconds, "S", "real time in all"),
    ("--cell-limit-s", "cell_s", options.seconds, "S", "real time for a cell"),
    ("--cpu-limit-s", "cpu_s", options.seconds, "S", "CPU time"),
    ("--memory-mb", "memory_mb", options.megabytes, "MB", "memory"),
    ("--processes", "processes", options.count, "N", "processes at once"),
    ("--disk-mb", "disk_mb", options.megabytes, "MB", "files that it writes"),
)
"""Each option for a field of `linklab.grading.verdict.Limits`."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``grade`` to the command line; `run` takes what it parsed."""
    from linklab.grading.verdict import Limits

    parser = subparsers.add_parser("grade", help="grade the submissions of a class", description=_DESCRIPTION)
    parser.add_argument(
        "submissions", type=Path, nargs="+", metavar="SUBMISSIONS", help="a folder or a zip file, one for each download"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="where everything is written")
    parser.add_argument("--labs", nargs="+", default=[], metavar="LAB", help="numbers or names, as 03 (default: all)")
    parser.add_argument("--root", type=Path, default=Path(), help="the folder of solutions/ (default: here)")
    parser.add_argument("--students", type=Path, metavar="FILE", help="one id a line: these are graded, and no others")
    parser.add_argument(
        "--pattern",
        default="",
        metavar="REGEX",
        help="regular expression of a download's paths, with a group named student",
    )
    parser.add_argument(
        "--secret", type=Path, metavar="FILE", help="the course secret: each has a network of their own"
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="STUDENT", help="judge these again, and leave all others as they are"
    )
    parser.add_argument("--jobs", type=options.count, metavar="N", help="notebooks at once (default: one a core)")
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="judge on the workers of this Dask scheduler: tcp://host:8786"
    )
    limits, least = parser.add_argument_group("limits", _LIMITS), Limits()
    for option, name, kind, metavar, what in _LIMIT_OPTIONS:
        default = getattr(least, name)
        limits.add_argument(
            option, dest=name, type=kind, default=default, metavar=metavar, help=f"{what}; default: %(default)s"
        )


def run(arguments: argparse.Namespace) -> int:
    """Grades and says where everything is; gives the exit status. Raises LinklabError before anything is judged."""
    from linklab.errors import LinklabError
    from linklab.grade.check import counted
    from linklab.grading.grade import grade
    from linklab.runtime.backends import choose, need_system

    need_system(linux=True)
    if arguments.dask is None:
        choose()  # raises with the fix where labs cannot run here
    if arguments.jobs is not None and arguments.dask is not None:
        raise LinklabError("--jobs is for this machine, and --dask judges on others: leave one of them away")
    if arguments.jobs is not None:
        options.refuse_jobs(arguments.jobs, "notebooks")
    order = _order(arguments)
    judge = _Judge(arguments.jobs, arguments.dask)
    began_s = time.monotonic()
    grades = grade(arguments.submissions, arguments.output, order, judge, lambda said: print(said, flush=True))
    _say(grades, arguments.output)
    wall_s = time.monotonic() - began_s
    print(f"{len(grades.students)} students, {counted(judge.judged, 'notebook')} judged now; {wall_s:.0f} s")
    if judge.interrupted:
        print("Interrupted: the same command goes on from here.", file=sys.stderr)
        return INTERRUPTED
    return 0 if grades.is_complete else 1


def _order(arguments: argparse.Namespace) -> Order:
    from linklab.classroom.roster import networks_of, read_students
    from linklab.errors import LinklabError
    from linklab.grading.kit import read_kit
    from linklab.grading.student_work import Order
    from linklab.grading.verdict import Limits

    if arguments.secret is not None and arguments.students is None:
        raise LinklabError("--secret needs --students: the networks are derived from the ids on that list")
    students = read_students(arguments.students) if arguments.students is not None else None
    networks = networks_of(arguments.students, arguments.secret) if arguments.secret is not None else None
    kit = read_kit(arguments.root)
    limits = Limits(**{name: getattr(arguments, name) for _, name, *_ in _LIMIT_OPTIONS})
    labs = kit.chosen(arguments.labs)
    return Order(kit, labs, students, networks, limits, arguments.only, arguments.pattern)


class _Judge:
    """Judges on this machine, or on a Dask scheduler's workers."""

    def __init__(self, jobs: int | None, dask: str | None) -> None:
        self._jobs, self._dask = jobs, dask
        self.interrupted, self.judged = False, 0

    def __call__(self, works: Sequence[Work]) -> Verdicts:
        from linklab.dask_run import Cluster
        from linklab.grading.judges import ClassProgress, Crew, DaskCrew
        from linklab.headless.runner import how_many

        if not works:
            return {}
        with (
            Cluster(self._dask) if self._dask is not None else nullcontext() as cluster,
            ClassProgress(len(works)) as watcher,
        ):
            crew: Crew | DaskCrew = (
                Crew(how_many(self._jobs, len(works)), watcher) if cluster is None else DaskCrew(cluster, watcher)
            )
            found = crew.run(works)
        self.interrupted = crew.interrupted
        self.judged = sum(verdict.state == "judged" for verdict in found.values())
        return found


def _say(grades: ClassGrade, output: Path) -> None:
    for line in grades.unmatched:
        print(f"not graded, {line}", file=sys.stderr)
    for student, lab, trouble in grades.failed:
        print(f"not judged, {student}, {lab}: {trouble}", file=sys.stderr)
    print(f"{output / 'index.html'}: the class; {output / 'grades.csv'}; {output / 'feedback'}: a page a student")
