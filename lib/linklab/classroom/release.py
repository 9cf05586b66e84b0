"""``linklab release DIR``: write what students get, all of it or nothing.

Without a list of students, DIR holds the labs. With one, it holds a folder for each student, named by the id, and in it
the labs and the student's own network (`linklab.course.FILE`). Beside them lies :data:`MANIFEST`, for instructors: what
was released, with its digests. By it a folder is known as a release, and whether somebody has worked in it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from linklab import __version__
from linklab.classroom.contents import Contents, refuse_leaks, write_files
from linklab.classroom.nbgrader_course import write_course
from linklab.classroom.roster import networks_of, read_secret
from linklab.course import write_variant
from linklab.errors import LinklabError
from linklab.files import draft_folder
from linklab.network import Network

MANIFEST: Final = "linklab-release.json"
_FORMAT: Final = 1
_DESCRIPTION = """\
Writes what students get: notebooks, starters and data, without solutions. With
--students and --secret, a folder for each student, with a network of the student's own in it. With --nbgrader, a course
folder for nbgrader instead. A folder that is not a release, or that somebody has worked in, is never overwritten."""


@dataclass(frozen=True)
class Released:
    """What was written where. ``students`` are folder names; empty where all get the same. ``files`` is per student."""

    folder: Path
    students: tuple[str, ...]
    files: tuple[str, ...]


def release(
    target: Path, root: Path, networks: Mapping[str, Network] | None = None, secret: bytes | None = None
) -> Released:
    """Write what students get of the kit in ``root`` into ``target``, which must not be there, or be a release.

    ``networks`` are the students' own, by id; ``secret`` is what they were derived from, to be sure that it is in no
    file. Everything is written beside ``target``, searched there as it lies on the disk, and renamed in the end: there
    is all of it or nothing, and what lay there before stays until then.

    Raises LinklabError for a folder that is not a release or that somebody has worked in, for a file that would
    give something away, and for sources that are not well formed; OSError where it cannot be written.
    """
    target = target.absolute()
    refuse_foreign(target)
    files = Contents.of(root).given
    with draft_folder(target) as draft:
        if networks is None:
            write_files(draft, files)
        else:
            for student, network in networks.items():
                write_files(draft / student, files)
                write_variant(network, draft / student)
        refuse_leaks(draft, secret)
        names = {student: network.name for student, network in (networks or {}).items()}
        (draft / MANIFEST).write_text(_manifest(draft, names), encoding="utf-8")
        _put_in_place(draft, target)
    return Released(target, tuple(names), tuple(sorted(files)))


def refuse_foreign(target: Path) -> None:
    """Raise LinklabError unless ``target`` is free: not there, empty, or a release that nobody has changed."""
    other = "choose another folder, or move it away"
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise LinklabError(f"{target} is not a folder: {other}")
    if not target.exists() or not any(target.iterdir()):
        return
    manifest = target / MANIFEST
    try:
        data: Any = json.loads(manifest.read_text(encoding="utf-8"))
        known = dict(data["files"]) if data["format"] == _FORMAT else None
    except (OSError, ValueError, LookupError, TypeError):
        known = None
    if known is None:
        raise LinklabError(f"{target} is not empty and was not written by linklab release: {other}")
    found = _digests(target)
    changed = sorted(name for name in {*known, *found} if known.get(name) != found.get(name))
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise LinklabError(f"{target} was worked in since its release ({changed[0]}{more}): {other}")


def _manifest(folder: Path, networks: Mapping[str, str]) -> str:
    data = {"format": _FORMAT, "linklab": __version__, "networks": dict(networks), "files": _digests(folder)}
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def _digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a folder but the manifest, by its place; for a link, of the target's name."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name == MANIFEST or (path.is_dir() and not path.is_symlink()):
            continue
        data = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        found[name] = hashlib.sha256(data).hexdigest()
    return found


def _put_in_place(draft: Path, target: Path) -> None:
    """Rename the draft to the target. An earlier release is moved aside first, and back if that fails."""
    if not target.exists():
        draft.rename(target)
        return
    old = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.old."))
    target.rename(old)  # onto an empty folder, which rename replaces
    try:
        draft.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``release`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("release", help="write what students get", description=_DESCRIPTION)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--root", type=Path, default=Path(), help="the folder of solutions/ (default: here)")
    parser.add_argument("--students", type=Path, metavar="FILE", help="one id a line: a folder and a network for each")
    parser.add_argument("--secret", type=Path, metavar="FILE", help="what the networks are derived from; keep it")
    parser.add_argument("--nbgrader", action="store_true", help="a course folder for nbgrader, one assignment a lab")


def run(arguments: argparse.Namespace) -> int:
    """Release, and say what was written. Raises LinklabError with the reason where nothing was."""
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
        print(f"{arguments.folder}: {len(done.files)} files; no mark of a solution is in them")
        return 0
    networks = networks_of(arguments.students, arguments.secret)
    done = release(arguments.folder, arguments.root, networks, read_secret(arguments.secret))
    each = f"{len(done.students)} students, {len(done.files)} files and a network for each"
    print(f"{arguments.folder}: {each}; no mark of a solution is in them, nor the secret")
    return 0
