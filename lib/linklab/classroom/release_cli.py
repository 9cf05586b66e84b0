"""``linklab release DIR``."""

from __future__ import annotations

import argparse
from pathlib import Path

_DESCRIPTION = """\
Writes what students get: notebooks, starters and data, without solutions and hidden tests, which a scan proves. With
--students and --secret, a folder for each student, with a network of the student's own in it. With --nbgrader, a course
folder for nbgrader instead. A folder that is not a release, or that somebody has worked in, is never overwritten."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``release`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("release", help="write what students get", description=_DESCRIPTION)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--root", type=Path, default=Path(), help="the folder of solutions/ (default: here)")
    parser.add_argument("--students", type=Path, metavar="FILE", help="one id a line: a folder and a network for each")
    parser.add_argument("--secret", type=Path, metavar="FILE", help="what the networks are derived from; keep it")
    parser.add_argument("--nbgrader", action="store_true", help="a course folder for nbgrader, one assignment a lab")


def run(arguments: argparse.Namespace) -> int:
    """Releases and says what was written. Raises LinklabError with the reason where nothing was."""
    from linklab.classroom.nbgrader_course import write_course
    from linklab.classroom.release import release
    from linklab.classroom.roster import networks_of, read_secret
    from linklab.errors import LinklabError

    if (arguments.students is None) != (arguments.secret is None):
        raise LinklabError("--students and --secret go together: give both, or none")
    if arguments.nbgrader:
        if arguments.students is not None:
            raise LinklabError("nbgrader gives all students the same: leave --students away, or --nbgrader")
        names = write_course(arguments.folder, arguments.root)
        print(f"{arguments.folder}: a course of {len(names)} assignments ({', '.join(names)})")
        print("Go on in that folder: nbgrader generate_assignment NAME, as docs/instructors.md says.")
        return 0
    if arguments.students is None:
        done = release(arguments.folder, arguments.root)
        print(f"{arguments.folder}: {len(done.files)} files, scanned: nothing of a solution is in them")
        return 0
    networks = networks_of(arguments.students, arguments.secret)
    done = release(arguments.folder, arguments.root, networks, read_secret(arguments.secret))
    each = f"{len(done.students)} students, {len(done.files)} files and a network for each"
    print(f"{arguments.folder}: {each}, scanned: nothing of a solution is in them, nor the secret")
    return 0
