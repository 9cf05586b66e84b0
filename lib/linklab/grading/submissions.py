"""Sort what a class handed in by student, as learning platforms name it in their downloads.

A download is a folder or an archive that the instructor names. `PATTERNS` says how each platform names files in it; of
no platform's, each folder or archive is called like its student. A student is on the list by exactly that name, or by
the platform's number. What fits no pattern, nobody or two students is reported and never guessed. Submissions are only
read; archives are unpacked into the grader's own folder.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.grading.names import cleaned, listed
from linklab.grading.unpack import (
    Bounds,
    Member,
    UnpackError,
    is_archive,
    is_foreign_archive,
    is_system,
    unpack,
    without_suffix,
)  # fmt: skip
from linklab.network.variants import normalised


@dataclass(frozen=True)
class Pattern:
    """How a platform names files: a regular expression over the path in its download, and an example for people.

    Its groups, as far as the platform says so: ``student``; ``number``, the platform's own for the student; ``attempt``
    and ``time`` of one attempt; ``file``, the name that the student chose.
    """

    platform: str
    path: re.Pattern[str]
    example: str


PATTERNS: Final = (
    Pattern(
        "moodle",
        re.compile(r"(?P<student>[^/]+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?/?(?P<file>.*)"),
        "Ada King_12345_assignsubmission_file_/",
    ),
    Pattern(
        "canvas",
        re.compile(
            r"(?P<student>[^_/]+)(?:_LATE)?_(?P<number>\d+)_"
            r"(?:\d+_(?!attempt_\d{4}-)(?P<file>.+)|(?:text|link)\.html)"
        ),
        "kingada_67_8910_x.ipynb",
    ),
    Pattern(
        "blackboard",
        re.compile(
            r"(?P<attempt>(?P<student>[^/]+?)_attempt_(?P<time>\d{4}(?:-\d\d){5}))(?:_(?P<file>.+)|\.txt)"
        ),
        "Lab 03_ada_attempt_2026-05-03-10-11-12_x.ipynb",
    ),
)  # fmt: skip
"""Canvas' number of a student is the same in a whole course, Moodle's another one in each assignment. Blackboard joins
the assignment's name and the student's.
"""
_EXAMPLES: Final = "; ".join(f"{each.platform.capitalize()}: {each.example}" for each in PATTERNS)
_REMEDY: Final = "put it into a folder called like the student"
_LAYERS: Final = 4
"""So many folders may stand around a class."""
_DEPTH: Final = 2
"""A student's archive may hold another one: a zip file in the zip file of a platform's."""
_OF_ALL: Final = Bounds(total_bytes=10**11, files=500_000, ratio=100)


@dataclass(frozen=True)
class Submission:
    """All that one student handed in, as it came: `opened` unpacks it.

    `came_as` are the names of folders and files that it was found under.

    `notes` are lines on what could not be taken. `student` is the id of the list of students, where there is one.
    `known_as` are the numbers that platforms have for the student, each with the platform's name.
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
    """The files under one name and number in one download.

    ``ids`` are the names, any of which the list of students may have. ``download`` is the download's name, where there
    are several.
    """

    name: str
    platform: str
    number: str
    ids: tuple[str, ...]
    download: str
    came_as: list[str] = field(default_factory=list)
    files: list[Member] = field(default_factory=list)


def collect(downloads: Sequence[Path], work: Path, students: Sequence[str] | None = None) -> Collected:
    """Everything in ``downloads``, folders or archives, by student; ``work`` is a folder for what is unpacked.

    What a student packed stays packed. Without a list of ``students`` everybody counts who handed in something.
    Raises LinklabError where nothing is there, no name fits a pattern, Blackboard's names come without a list, nobody
    can tell a student's folder from one around all, or a download cannot be unpacked; OSError where ``work`` cannot be
    written.
    """
    return _Collection(downloads, work, students or ()).collected()


def opened(one: Submission, work: Path, bounds: Bounds | None = None) -> Submission:
    """Return a submission with what its archives hold in their places, unpacked into folders in ``work``.

    All archives of a student share ``bounds``: many small ones fill no more than one large one may. What cannot be
    unpacked becomes a note.
    """
    unpacker = _Unpacker(work, bounds or Bounds())
    files = [found for member in one.files for found in unpacker.opened(member)]
    return replace(one, files=tuple(files), notes=(*one.notes, *unpacker.notes))


class _Collection:
    """Sorts downloads: finds the pieces in them, and whose they are."""

    def __init__(self, downloads: Sequence[Path], work: Path, students: Sequence[str]) -> None:
        self._downloads, self._work = downloads, work
        self._roster = {normalised(student): student for student in students}
        self._unmatched: list[str] = []
        self._strays: list[str] = []
        self._pieces: dict[tuple[str, ...], _Piece] = {}

    def collected(self) -> Collected:
        """See `collect`."""
        names = [cleaned(download.resolve().name) for download in self._downloads]
        for number, (download, name) in enumerate(zip(self._downloads, names, strict=True), 1):
            name = name if names.count(name) == 1 else f"{name} ({number})"
            self._take("" if len(names) == 1 else name, self._unwrapped(download, self._files_of(download)))
        source = " ".join(map(str, self._downloads))
        if not self._pieces and not self._unmatched:
            raise LinklabError(f"{source} holds no submission: name the folder or archive that your platform exported")
        if not self._pieces and self._unmatched == self._strays:
            raise LinklabError(
                f"{source}: no name is a platform's ({_EXAMPLES}), and no student has a folder or archive: "
                f"take the download as it is, or make a folder for each student"
            )
        owned = self._on_the_list() if self._roster else self._by_name()
        joined = {student: _joined(student, pieces) for student, pieces in owned.items()}
        in_order = dict(sorted(joined.items(), key=lambda item: item[0].casefold()))
        return Collected(in_order, tuple(dict.fromkeys(self._unmatched)))

    def _files_of(self, source: Path) -> list[Member]:
        if source.is_file():
            if not is_archive(source.name):
                raise LinklabError(f"{source} is neither a folder nor an archive (zip, tar, tar.gz, tar.xz)")
            bounds = replace(_OF_ALL, total_bytes=min(_OF_ALL.total_bytes, shutil.disk_usage(self._work).free // 2))
            into = self._work / f"download-{len(list(self._work.iterdir()))}"
            try:
                members, notes = unpack(source, source.name, into, bounds)
            except UnpackError as error:
                raise LinklabError(f"{source} {error}") from None
            self._unmatched += [f"{cleaned(source.name)}: {note}" for note in notes]
            return members
        if not source.is_dir():
            raise LinklabError(f"there is no {source}: name the folder or archive that your platform exported")
        return sorted(self._walked(source), key=lambda member: member.parts)

    def _walked(self, folder: Path) -> Iterable[Member]:
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

        A folder is around all where a platform's pattern fits what is in it, or a student on the list has a folder
        there. Raises LinklabError without a list where it holds folders alone: these may be students' or labs'.
        """
        inner = members
        for _ in range(_LAYERS):
            tops = {member.parts[0] for member in inner}
            if _platform(member.name for member in inner)[1] or any(map(self._is_listed, tops)):
                return inner
            if len(tops) != 1 or any(len(member.parts) == 1 for member in inner):
                break
            (around,) = tops
            inner = [replace(member, parts=member.parts[1:]) for member in inner]
            several = len({member.parts[0] for member in inner}) > 1
            if several and not self._roster and all(map(_is_in_folder_or_archive, inner)):
                raise LinklabError(
                    f"{source} holds the folder {around} alone, which may be a student's or around all: "
                    f"name {around} itself, or give a list with --students"
                )
        return members

    def _is_listed(self, top: str) -> bool:
        return normalised(_by_hand(top)) in self._roster

    def _take(self, download: str, members: list[Member]) -> None:
        """Give each file of a download to its piece, or report it."""
        pattern, fitting = _platform(member.name for member in members)
        for member in members:
            match = fitting.get(member.name)
            top = f"{download}/{member.parts[0]}" if download else member.parts[0]
            if pattern is not None and match is not None:
                name, number = match["student"].strip(), match.groupdict().get("number") or ""
                piece = _Piece(name, pattern.platform, number, (name, number), download)
                trouble = self._trouble(piece)
                member = _as_called(member, match)
            elif _is_in_folder_or_archive(member):
                name = _by_hand(member.parts[0])
                piece, trouble = _Piece(name, "", "", (name,), download), ""
                member = replace(member, parts=member.parts[1:] or member.parts)
            else:
                why = (
                    f"is not called as {pattern.platform.capitalize()} calls the others"
                    if pattern
                    else "fits no pattern"
                )
                self._strays.append(f"{top}: {why}; {_REMEDY}")
                self._unmatched.append(self._strays[-1])
                continue
            if trouble:
                self._unmatched.append(f"{top}: {trouble}")
                continue
            piece = self._pieces.setdefault((download, piece.platform, normalised(piece.name), piece.number), piece)
            piece.came_as += [top] if top not in piece.came_as else []
            piece.files.append(member)

    def _trouble(self, piece: _Piece) -> str:
        """Give a piece its ids by its platform's rules; return why nobody can tell whose it is, or nothing."""
        if piece.platform == "blackboard" and not self._roster:
            raise LinklabError("Blackboard's names join the lab's and the student's: give a list with --students")
        return ""

    def _on_the_list(self) -> dict[str, list[_Piece]]:
        """Return the pieces of each student on the list, and report the others."""
        prefixes = self._blackboards_prefixes()
        found: dict[str, list[_Piece]] = {}
        for piece in self._pieces.values():
            ids = self._blackboards_ids(piece, prefixes) if piece.platform == "blackboard" else piece.ids
            students = list(dict.fromkeys(self._roster[each] for each in map(_folded, ids) if each in self._roster))
            if len(students) == 1:
                found.setdefault(students[0], []).append(piece)
                continue
            called = " or ".join(filter(None, piece.ids))
            why = (
                f"may be {' or '.join(students)}'s:"
                if students
                else f"nobody on the list of students is called {called}:"
            )
            mend = _REMEDY if students else f"correct the list, or {_REMEDY}"
            self._unmatched += [f"{each}: {why} {mend}" for each in piece.came_as]
        return {student: sure for student, pieces in found.items() if (sure := self._sure(student, pieces))}

    def _sure(self, student: str, pieces: list[_Piece]) -> list[_Piece]:
        """Return the pieces that are certainly one person's, and report the others.

        Two numbers of one name are two people, but Moodle's in two downloads: then a folder of the student's own says
        what is meant.
        """
        own = [piece for piece in pieces if not piece.platform]
        sure = pieces if _one_number(pieces) else own
        for piece in pieces:
            if piece not in sure:
                others = listed((each.came_as[0] for each in pieces if each is not piece), 3)
                said = (
                    f"may be {student}'s, and so may {others}; put what is {student}'s into a folder called {student}"
                )
                self._unmatched += [f"{each}: {said}" for each in piece.came_as]
        return sure

    def _by_name(self) -> dict[str, list[_Piece]]:
        """Return the pieces by name, where there is no list: a name is one student, or several by their numbers."""
        named: dict[str, list[_Piece]] = {}
        for piece in self._pieces.values():
            named.setdefault(_folded(piece.name), []).append(piece)
        found: dict[str, list[_Piece]] = {}
        for alike in named.values():
            is_one = _one_number(alike)
            for piece in alike:
                student = alike[0].name if is_one or not piece.number else f"{alike[0].name} ({piece.number})"
                found.setdefault(student, []).append(piece)
        return found

    def _blackboards_prefixes(self) -> list[str]:
        """Return the names of assignments, which Blackboard puts before ids: what stands before two ids or more.

        Without them nobody could tell whether ``Lab 03_van_ada`` is ada's or van_ada's.
        """
        names = {_folded(piece.name) for piece in self._pieces.values() if piece.platform == "blackboard"}
        count = Counter(name[: -len(known)] for name in names for known in self._roster if name.endswith(f"_{known}"))
        return sorted((prefix for prefix, times in count.items() if times > 1), key=len)

    def _blackboards_ids(self, piece: _Piece, prefixes: list[str]) -> list[str]:
        name = _folded(piece.name)
        for prefix in prefixes:
            if name.startswith(prefix):
                return [name.removeprefix(prefix)]
        return sorted((known for known in self._roster if name.endswith(f"_{known}")), key=len)[-1:]


def _folded(name: str) -> str:
    """A name as `normalised` folds ids; an empty one stays empty."""
    return normalised(name) if name.strip() else ""


def _one_number(pieces: Sequence[_Piece]) -> bool:
    """Return whether names and numbers may be one student's; Moodle has another number for each in each download."""
    numbered = [piece for piece in pieces if piece.number]
    numbers = {(piece.download if piece.platform == "moodle" else "", piece.number) for piece in numbered}
    places = {place for place, _ in numbers}
    return len({_folded(piece.name) for piece in numbered}) <= 1 and len(places) == len(numbers)


def _as_called(member: Member, match: re.Match[str]) -> Member:
    """Return a file under the name that the student chose, in a folder for each attempt, as old as the attempt."""
    found = match.groupdict()
    if found["file"]:
        attempt = (found["attempt"],) if "attempt" in found else ()
        member = replace(member, parts=(*attempt, *found["file"].split("/")))
    if "time" in found:
        with contextlib.suppress(ValueError, OverflowError):  # no time that there is: the file's own counts
            told = datetime.datetime.strptime(found["time"], "%Y-%m-%d-%H-%M-%S")
            member = replace(member, modified_s=told.timestamp())
    return member


def _joined(student: str, pieces: Sequence[_Piece]) -> Submission:
    """Return all that a student handed in; what came in several downloads lies in a folder for each."""
    files = []
    for piece in pieces:
        around = (piece.download,) if piece.download else ()
        files += [replace(member, parts=(*around, *member.parts)) for member in piece.files]
    came_as = dict.fromkeys(name for piece in pieces for name in piece.came_as)
    known_as = dict.fromkeys((piece.platform, piece.number) for piece in pieces if piece.number)
    return Submission(student, tuple(came_as), tuple(files), known_as=tuple(known_as))


def _platform(paths: Iterable[str]) -> tuple[Pattern | None, dict[str, re.Match[str]]]:
    """Return the pattern that fits most paths of a download, and its match for each; None where none fits.

    What a student chose stands at the end, and may look like another platform's: the pattern that fits earlier counts.
    """
    paths = set(paths)
    best: tuple[tuple[int, int], Pattern | None, dict[str, re.Match[str]]] = ((0, 0), None, {})
    for pattern in PATTERNS:
        fitting = {path: match for path in paths if (match := pattern.path.fullmatch(path))}
        rank = (len(fitting), -sum(match.end("student") for match in fitting.values()))
        if fitting and rank > best[0]:
            best = (rank, pattern, fitting)
    return best[1], best[2]


def _is_in_folder_or_archive(member: Member) -> bool:
    return len(member.parts) > 1 or is_archive(member.name) or is_foreign_archive(member.name)


def _by_hand(top: str) -> str:
    """What a folder or archive is called, without the ending that says that it is one."""
    return top.rpartition(".")[0] if is_foreign_archive(top) else without_suffix(top)


class _Unpacker:
    """Unpacks a student's archives into folders of their own."""

    def __init__(self, work: Path, bounds: Bounds) -> None:
        self._work, self._left, self._number = work, bounds, 0
        self.notes: list[str] = []

    def opened(self, member: Member, depth: int = _DEPTH) -> list[Member]:
        """Return the file itself, or what an archive holds."""
        if is_foreign_archive(member.name):
            self.notes.append(f"{member.name} is an archive that cannot be unpacked here: hand in a zip file")
            return []
        if not is_archive(member.name):
            return [member]
        if depth == 0:
            self.notes.append(f"{member.name} is an archive in an archive in an archive, and was not unpacked")
            return []
        self._number += 1
        try:
            place = self._work / f"{self._number:06d}"
            inside, said = unpack(member.path, member.name, place, self._left)
        except UnpackError as error:
            self.notes.append(f"{member.name} {error}")
            return []
        size, left = sum(each.path.stat().st_size for each in inside), self._left
        self._left = replace(
            left, total_bytes=left.total_bytes - size, free_bytes=left.free_bytes - size, files=left.files - len(inside)
        )
        self.notes += [f"{member.name}: {note}" for note in said]
        if not inside and not said:
            self.notes.append(f"{member.name} is empty")
        inner = [
            replace(member, parts=(*member.parts, *each.parts), path=each.path, modified_s=each.modified_s)
            for each in inside
        ]
        return [found for each in inner for found in self.opened(each, depth - 1)]
