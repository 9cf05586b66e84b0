"""Sort what a class handed in by student, as learning platforms name it in their downloads.

A download is a folder or a zip file that the instructor names. `PATTERNS` says how each platform names files in it; of
no platform's, each folder or zip file is called like its student. A student is on the list by exactly that name, or by
the platform's number. What fits no pattern, nobody or two students is reported and never guessed. Submissions are only
read; zip files are unpacked into the grader's own folder.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from linklab.classroom.roster import TWO_OF_ONE_NAME
from linklab.errors import LinklabError
from linklab.grading.names import cleaned, listed
from linklab.grading.unpack import Bounds, Member, UnpackError, is_archive, is_system, is_zip, unpack, without_ending
from linklab.network.variants import normalised


@dataclass(frozen=True)
class Pattern:
    """How a platform names files: a regular expression for the whole path in its download, and an example for people.

    Its groups, as far as a path says so: ``student``, or ``joined``, a text that ends with ``_`` and the student's id;
    ``number``, the platform's own for the student; ``time``, as 2026-05-03-10-11-12; ``folder``, in which the student's
    file is put, and ``file``, the name that the student chose. With ``per_assignment``, each assignment has other
    numbers.
    """

    platform: str
    path: str
    example: str = ""
    per_assignment: bool = False


PATTERNS: Final = (
    Pattern(
        "moodle",
        r"(?P<student>[^/]+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?/?(?P<file>.*)",
        "Ada King_12345_assignsubmission_file_/",
        per_assignment=True,
    ),
    Pattern(
        "canvas",
        r"(?P<student>[^_/]+)(?:_LATE)?_(?P<number>\d+)_(?:\d+_(?!attempt_\d{4}-)(?P<file>.+)|(?:text|link)\.html)",
        "kingada_67_8910_x.ipynb",
    ),
    Pattern(
        "blackboard",
        r"(?P<folder>(?P<joined>[^/]+?)_attempt_(?P<time>\d{4}(?:-\d\d){5}))(?:_(?P<file>.+)|\.txt)",
        "Lab 03_ada_attempt_2026-05-03-10-11-12_x.ipynb",
    ),
)
_EXAMPLES: Final = "; ".join(f"{each.platform.capitalize()}: {each.example}" for each in PATTERNS)
_REMEDY: Final = "put it into a folder called like the student"
_OF_ALL: Final = Bounds(total_bytes=10**11, files=500_000)


@dataclass(frozen=True)
class Submission:
    """All that one student handed in, as it came: `opened` unpacks it.

    `came_as` are the names of folders and files that it was found under, `notes` lines on what could not be taken.
    `student` is the id of the list of students, where there is one. `known_as` are the numbers that platforms have for
    the student, each with the platform's name.
    """

    student: str
    came_as: tuple[str, ...]
    files: tuple[Member, ...]
    notes: tuple[str, ...] = ()
    known_as: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Collected:
    """The submissions, by student's id; ``unmatched`` has a line for each that nobody gets, with what to do."""

    submissions: dict[str, Submission]
    unmatched: tuple[str, ...]


@dataclass
class _Piece:
    """The files under one name and number in one download, whose name stands here where there are several.

    ``is_joined`` says that the name is an assignment's and a student's. In one ``place`` a student has one number.
    """

    name: str
    platform: str
    number: str
    download: str
    place: str = ""
    is_joined: bool = False
    came_as: list[str] = field(default_factory=list)
    files: list[Member] = field(default_factory=list)


def collect(
    downloads: Sequence[Path], work: Path, students: Mapping[str, Sequence[str]] | None = None, pattern: str = ""
) -> Collected:
    """Sort all in ``downloads``, folders or zip files, by student; ``work`` is a folder for what is unpacked.

    What a student packed stays packed. ``students`` are known by their ids, and by the other names of each; without
    such a list everybody counts who handed in something.
    ``pattern`` takes the place of `PATTERNS`. Raises LinklabError where nothing is there, no name fits a pattern, names
    need a list and there is none, nobody can tell a student's folder from one around all, or a download cannot be
    unpacked; OSError where ``work`` cannot be written.
    """
    return _Collection(work, students or {}, (_own(pattern),) if pattern else PATTERNS).collected(downloads)


def opened(one: Submission, work: Path, bounds: Bounds | None = None) -> Submission:
    """Return a submission with what its zip files hold in their places, unpacked into folders in ``work``.

    All of a student's share ``bounds``: many small ones fill no more than a large one may. What cannot be unpacked
    becomes a note.
    """
    files, notes, left = list[Member](), list(one.notes), bounds or Bounds()
    for number, member in enumerate(one.files):
        if not is_archive(member.name):
            files.append(member)
            continue
        if not is_zip(member.name):
            notes.append(f"{member.name} is an archive that cannot be unpacked here: hand in a zip file")
            continue
        try:
            inside, said = unpack(member.path, work / f"{number:06d}", left)
        except UnpackError as error:
            notes.append(f"{member.name} {error}")
            continue
        left = Bounds(left.total_bytes - sum(it.path.stat().st_size for it in inside), left.files - len(inside))
        notes += [f"{member.name}: {note}" for note in said or ([] if inside else ["it is empty"])]
        for each in inside:
            found = replace(each, parts=(*member.parts, *each.parts))
            if is_archive(each.name):
                notes.append(f"{found.name} is an archive in a zip file, and was not unpacked")
            else:
                files.append(found)
    return replace(one, files=tuple(files), notes=tuple(notes))


def _own(pattern: str) -> Pattern:
    """Return an instructor's pattern. Raises LinklabError for one that says no student."""
    try:
        groups = re.compile(pattern).groupindex
    except re.error as error:
        raise LinklabError(f"--pattern {pattern!r} is no regular expression: {error}") from None
    if not groups.keys() & {"student", "joined"}:
        raise LinklabError(f"--pattern {pattern!r} has no group (?P<student>...), which says whose a file is")
    return Pattern("pattern", pattern)


class _Collection:
    """Sorts downloads: finds the pieces in them, and whose they are."""

    def __init__(self, work: Path, students: Mapping[str, Sequence[str]], patterns: Sequence[Pattern]) -> None:
        self._work, self._patterns = work, patterns
        self._roster = {normalised(name): one for one, others in students.items() for name in (one, *others)}
        self._unmatched: list[str] = []
        self._strays: list[str] = []
        self._pieces: dict[tuple[str, ...], _Piece] = {}

    def collected(self, downloads: Sequence[Path]) -> Collected:
        """See `collect`."""
        names = [cleaned(download.resolve().name) for download in downloads]
        for number, (download, name) in enumerate(zip(downloads, names, strict=True), 1):
            name = name if names.count(name) == 1 else f"{name} ({number})"
            self._take("" if len(names) == 1 else name, self._unwrapped(download, self._files_of(download)))
        if not self._pieces and self._unmatched == self._strays:
            raise LinklabError(
                f"{' '.join(map(str, downloads))} holds no submission: no name is a platform's ({_EXAMPLES}), and no "
                "student has a folder or zip file: name the download as it is, or make a folder for each student"
            )
        owned = self._on_the_list() if self._roster else self._by_name()
        joined = {student: _submission(student, pieces) for student, pieces in owned.items()}
        in_order = dict(sorted(joined.items(), key=lambda item: item[0].casefold()))
        return Collected(in_order, tuple(dict.fromkeys(self._unmatched)))

    def _files_of(self, source: Path) -> list[Member]:
        if source.is_dir():
            return sorted(self._walked(source), key=lambda member: member.parts)
        if not source.is_file():
            raise LinklabError(f"there is no {source}: name the folder or zip file that your platform exported")
        if not is_zip(source.name):
            raise LinklabError(f"{source} is neither a folder nor a zip file")
        bounds = replace(_OF_ALL, total_bytes=min(_OF_ALL.total_bytes, shutil.disk_usage(self._work).free // 2))
        try:
            members, notes = unpack(source, self._work / f"download-{len(list(self._work.iterdir()))}", bounds)
        except UnpackError as error:
            raise LinklabError(f"{source} {error}") from None
        self._unmatched += [f"{cleaned(source.name)}: {note}" for note in notes]
        return members

    def _walked(self, folder: Path) -> Iterator[Member]:
        """Yield a folder's ordinary files. A link may lead anywhere, and reading a pipe may never end."""
        for place, folders, names in os.walk(folder, followlinks=False):
            links = [name for name in folders if Path(place, name).is_symlink()]
            for name in (*links, *names):
                path = Path(place, name)
                parts = tuple(cleaned(part) or "\ufffd" for part in path.relative_to(folder).parts)
                if is_system(parts):
                    continue
                if path.is_symlink() or not path.is_file():
                    self._unmatched.append(f"{'/'.join(parts)}: a link or no ordinary file, which is not read")
                    continue
                yield Member(parts, path, path.stat().st_mtime)

    def _unwrapped(self, source: Path, members: list[Member]) -> list[Member]:
        """Return a download's files without the folders around all of them.

        A folder is around all where a pattern fits what is in it, or a student on the list has a folder there. Raises
        LinklabError without a list where it holds folders alone: these may be students' or labs'.
        """
        inner = members
        while not self._fitting(inner) and not any(self._is_listed(member.parts[0]) for member in inner):
            tops = {member.parts[0] for member in inner}
            if len(tops) != 1 or any(len(member.parts) == 1 for member in inner):
                return members
            (around,) = tops
            inner = [replace(member, parts=member.parts[1:]) for member in inner]
            several = len({member.parts[0] for member in inner}) > 1
            if several and not self._roster and not self._fitting(inner) and all(map(_is_a_students, inner)):
                raise LinklabError(
                    f"{source} holds the folder {around} alone, which may be a student's or around all: "
                    f"name {around} itself, or give a list with --students"
                )
        return inner

    def _is_listed(self, top: str) -> bool:
        return normalised(without_ending(top)) in self._roster

    def _fitting(self, members: Iterable[Member]) -> dict[str, tuple[Pattern, Mapping[str, str | None]]]:
        """Return for each path what the pattern says of it that fits most of them; empty where none fits any.

        What a student chose stands at the end, and may look like another platform's: of two patterns the one that
        names students earlier counts.
        """
        paths = {member.name for member in members}
        best: tuple[int, int] = (0, 0)
        found: dict[str, tuple[Pattern, Mapping[str, str | None]]] = {}
        for pattern in self._patterns:
            matches = {path: match for path in paths if (match := re.fullmatch(pattern.path, path, re.DOTALL))}
            rank = (len(matches), -sum(match.end(_group(match)) for match in matches.values()))
            if matches and rank > best:
                best = rank
                found = {path: (pattern, match.groupdict()) for path, match in matches.items()}
        return found

    def _take(self, download: str, members: list[Member]) -> None:
        """Give each file of a download to its piece, or report it."""
        fitting = self._fitting(members)
        for member in members:
            top = f"{download}/{member.parts[0]}" if download else member.parts[0]
            if member.name in fitting:
                pattern, told = fitting[member.name]
                is_joined, name = "joined" in told, (told.get("student") or told.get("joined") or "").strip()
                place = download if pattern.per_assignment else ""
                piece = _Piece(name, pattern.platform, told.get("number") or "", download, place, is_joined)
                member = _as_called(member, told)
                if is_joined and not self._roster:
                    raise LinklabError(f"{top} joins the lab's name and the student's: give a list with --students")
            elif _is_a_students(member):
                name = without_ending(member.parts[0]) if len(member.parts) == 1 else member.parts[0]
                piece = _Piece(name, "", "", download)
                member = replace(member, parts=member.parts[1:] or member.parts)
            else:
                platforms = {pattern.platform.capitalize() for pattern, _ in fitting.values()}
                why = f"is not called as {listed(platforms)} calls the others" if fitting else "fits no pattern"
                self._strays.append(f"{top}: {why}; {_REMEDY}")
                self._unmatched.append(self._strays[-1])
                continue
            piece = self._pieces.setdefault((download, piece.platform, _folded(piece.name), piece.number), piece)
            piece.came_as += [top] if top not in piece.came_as else []
            piece.files.append(member)

    def _on_the_list(self) -> dict[str, list[_Piece]]:
        """Return the pieces of each student on the list, and report the others."""
        prefixes = self._prefixes()
        found: dict[str, list[_Piece]] = {}
        for piece in self._pieces.values():
            ids = self._ids_at_the_end(piece.name, prefixes) if piece.is_joined else (piece.name, piece.number)
            students = list(dict.fromkeys(self._roster[each] for each in map(_folded, ids) if each in self._roster))
            if len(students) == 1:
                found.setdefault(students[0], []).append(piece)
                continue
            called = " or ".join(filter(None, ids)) or piece.name
            why = f"nobody on the list of students is called {called}: correct the list, or {_REMEDY}"
            if students:
                why = f"may be {' or '.join(students)}'s: {_REMEDY}"
            self._unmatched += [f"{each}: {why}" for each in piece.came_as]
        return {student: sure for student, pieces in found.items() if (sure := self._sure(student, pieces))}

    def _sure(self, student: str, pieces: list[_Piece]) -> list[_Piece]:
        """Return the pieces that are certainly one person's, and report the others.

        Two numbers of one name are two people; then a folder of the student's own says what is meant.
        """
        sure = pieces if _is_one_person(pieces) else [piece for piece in pieces if not piece.platform]
        for piece in pieces:
            if piece not in sure:
                others = listed((each.came_as[0] for each in pieces if each is not piece), 3)
                mend = f"in the list of students {TWO_OF_ONE_NAME}"
                self._unmatched += [
                    f"{each}: may be {student}'s, and so may {others}; {mend}" for each in piece.came_as
                ]
        return sure

    def _by_name(self) -> dict[str, list[_Piece]]:
        """Return the pieces by name, where there is no list: a name is one student, or several by their numbers."""
        named: dict[str, list[_Piece]] = {}
        for piece in self._pieces.values():
            named.setdefault(_folded(piece.name), []).append(piece)
        found: dict[str, list[_Piece]] = {}
        for alike in named.values():
            is_one = _is_one_person(alike)
            for piece in alike:
                student = alike[0].name if is_one or not piece.number else f"{alike[0].name} ({piece.number})"
                found.setdefault(student, []).append(piece)
        return found

    def _prefixes(self) -> list[str]:
        """Return the names of assignments that are joined with ids: what stands before two ids or more.

        Without them nobody could tell whether ``Lab 03_van_ada`` is ada's or van_ada's.
        """
        names = {_folded(piece.name) for piece in self._pieces.values() if piece.is_joined}
        count = Counter(name[: -len(known)] for name in names for known in self._roster if name.endswith(f"_{known}"))
        return sorted((prefix for prefix, times in count.items() if times > 1), key=len)

    def _ids_at_the_end(self, name: str, prefixes: Sequence[str]) -> list[str]:
        name = _folded(name)
        for prefix in prefixes:
            if name.startswith(prefix):
                return [name.removeprefix(prefix)]
        return sorted((known for known in self._roster if name.endswith(f"_{known}")), key=len)[-1:]


def _group(match: re.Match[str]) -> str:
    return "student" if "student" in match.groupdict() else "joined"


def _folded(name: str) -> str:
    """Return a name as `normalised` folds ids; an empty one stays empty."""
    return normalised(name) if name.strip() else ""


def _is_one_person(pieces: Sequence[_Piece]) -> bool:
    """Return whether names and numbers may be one student's; Moodle has another number for each in each download."""
    numbered = [piece for piece in pieces if piece.number]
    numbers = {(piece.place, piece.number) for piece in numbered}
    return len({_folded(piece.name) for piece in numbered}) <= 1 and len({place for place, _ in numbers}) == len(
        numbers
    )


def _is_a_students(member: Member) -> bool:
    """Return whether a file lies in a folder or is an archive, which may be called like a student."""
    return len(member.parts) > 1 or is_archive(member.name)


def _as_called(member: Member, told: Mapping[str, str | None]) -> Member:
    """Return a file under the name that the student chose, as old as the platform says."""
    if file := told.get("file"):
        folder = told.get("folder")
        member = replace(member, parts=(*([folder] if folder else []), *file.split("/")))
    with contextlib.suppress(ValueError, OverflowError):  # no time that there is: the file's own counts
        time = datetime.datetime.strptime(told.get("time") or "", "%Y-%m-%d-%H-%M-%S")
        member = replace(member, modified_s=time.timestamp())
    return member


def _submission(student: str, pieces: Sequence[_Piece]) -> Submission:
    """Return all that a student handed in; what came in several downloads lies in a folder for each."""
    files = [
        replace(member, parts=(*filter(None, [piece.download]), *member.parts))
        for piece in pieces
        for member in piece.files
    ]
    came_as = dict.fromkeys(name for piece in pieces for name in piece.came_as)
    known_as = dict.fromkeys((piece.platform, piece.number) for piece in pieces if piece.number)
    return Submission(student, tuple(came_as), tuple(files), known_as=tuple(known_as))
