"""What a class handed in, as learning platforms export it, by student.

Understood are Moodle's folders and files (``Ada King_12345_assignsubmission_file_/...``), Canvas' flat files
(``kingada_67_89_03-udp-bandwidth.ipynb``), a plain folder or archive for each student, one archive that holds any of
these, and one folder around all of it. What students handed in is read where it lies; archives are unpacked into the
grader's own folder.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.grading.names import cleaned
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

_RULES: Final = {
    "moodle": re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)"),
    "canvas": re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<number>\d+)_\d+_(?P<rest>.+)"),
}
"""How platforms call what a student handed in. `number` is the platform's own for the student."""
_COPY: Final = re.compile(r"(?P<stem>.+?)(?:-(?P<canvas>[1-9]\d?)| ?\((?P<browser>[1-9]\d?)\))(?P<suffix>\.[^.]+)")
_WORDS: Final = re.compile(r"[\s_,;()\[\]]+")
_DEPTH: Final = 2
"""A student's archive may hold another one: a zip file in the zip file of a platform's."""
_OF_ALL: Final = Bounds(total_bytes=10**11, files=500_000, ratio=100)


@dataclass(frozen=True)
class Submission:
    """All that one student handed in. `came_as` are the names of folders and files that it was found under.

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
    """The submissions, by student's id; ``unmatched`` is what belongs to nobody, and why."""

    submissions: dict[str, Submission]
    unmatched: tuple[str, ...]


@dataclass
class _Heap:
    """What was found under one name."""

    name: str
    number: str
    words: set[str]
    came_as: list[str]
    left: Bounds
    files: list[Member] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    known_as: list[tuple[str, str]] = field(default_factory=list)


def original_name(name: str) -> tuple[str, int]:
    """A file's name without the number that a copy gets (Canvas' ``x-1.py``, browsers' ``x (1).py``), and that number.

    0 where it has none.
    """
    number = 0
    while found := _COPY.fullmatch(name):
        name, number = found["stem"] + found["suffix"], number + int(found["canvas"] or found["browser"])
    return name, number


def collect(source: Path, work: Path, students: Sequence[str] | None = None, bounds: Bounds | None = None) -> Collected:
    """Everything in ``source``, a folder or an archive, by student; ``work`` is a folder for what is unpacked.

    ``bounds`` are for one student's archives. With a list of ``students``, each submission is given to the one whose id
    is in its name; one that is nobody's, or could be several's, is named in ``unmatched``. Raises LinklabError where
    nothing is there, or the export itself cannot be unpacked; OSError where ``work`` cannot be written.
    """
    unpacker, bounds = _Unpacker(work), bounds or Bounds()
    loose: list[str] = []
    members = _all_files(source, work, loose)
    roster = {normalised(student): student for student in students or ()}
    all_of_them = members
    members = _without_wrapper(members, roster, unpacker)
    heaps: dict[tuple[str, str], _Heap] = {}
    if members is all_of_them and source.is_dir():
        _add_empty(source, members, heaps, roster, bounds)
    for member in members:
        found = _heap_of(member, heaps, roster, bounds)
        if found is None:
            loose.append(f"{member.name}: its name says nobody's; put it into a folder named like the student")
            continue
        heap, rest = found
        heap.files += unpacker.opened(replace(member, parts=rest), heap)
    if not heaps and not loose:
        raise LinklabError(f"{source} holds no submission: name the folder or archive that your platform exported")
    return _by_student(heaps.values(), roster, loose)


def _add_empty(
    source: Path,
    members: list[Member],
    heaps: dict[tuple[str, str], _Heap],
    roster: dict[str, str],
    bounds: Bounds,
) -> None:
    """A folder that is empty is somebody's too."""
    full = {member.parts[0] for member in members}
    for path in sorted(source.iterdir()):
        name = cleaned(path.name) or "\ufffd"
        if path.is_dir() and not path.is_symlink() and name not in full and not is_system((name,)):
            _heap_of(Member((name, ""), path, 0.0), heaps, roster, bounds)


def _all_files(source: Path, work: Path, left_out: list[str]) -> list[Member]:
    if source.is_file():
        if not is_archive(source.name):
            raise LinklabError(f"{source} is neither a folder nor an archive (zip, tar, tar.gz, tar.xz)")
        bounds = replace(_OF_ALL, total_bytes=min(_OF_ALL.total_bytes, shutil.disk_usage(work).free // 2))
        try:
            return unpack(source, source.name, work / "all", bounds)[0]
        except UnpackError as error:
            raise LinklabError(f"{source} {error}") from None
    if not source.is_dir():
        raise LinklabError(f"there is no {source}: name the folder or archive that your platform exported")
    return sorted(_walked(source, left_out), key=lambda member: member.parts)


def _walked(folder: Path, left_out: list[str]) -> Iterable[Member]:
    """Ordinary files alone. A link may lead anywhere, and reading a pipe may never end."""
    for place, folders, names in os.walk(folder, followlinks=False):
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in (*links, *names):
            path = Path(place, name)
            parts = tuple(cleaned(part) or "\ufffd" for part in path.relative_to(folder).parts)
            if is_system(parts):
                continue
            if path.is_symlink() or not path.is_file():
                left_out.append(f"{'/'.join(parts)}: a link or no ordinary file, which is not read")
                continue
            yield Member(parts, path, path.stat().st_mtime)


def _without_wrapper(members: list[Member], roster: dict[str, str], unpacker: _Unpacker) -> list[Member]:
    """Takes away what stands around the students: one folder, or one archive, that holds them all.

    Around one student alone stands nothing: then it is the student's own.
    """
    tops = {member.parts[0] for member in members}
    if len(tops) != 1:
        return members
    top = next(iter(tops))
    if _key(top)[1] or _whose(_names(without_suffix(top)), roster):
        return members
    if len(members) == 1 and len(members[0].parts) == 1 and is_archive(top):
        inside, _ = unpacker.unpack_export(members[0])
        return _without_wrapper(inside, roster, unpacker) if _holds_students(inside) else members
    inside = [replace(member, parts=member.parts[1:]) for member in members if len(member.parts) > 1]
    if len(inside) < len(members):
        return members
    if len(inside) == 1 and len(inside[0].parts) == 1:
        deeper = _without_wrapper(inside, roster, unpacker)
        return members if deeper is inside else deeper
    return inside if _holds_students(inside) else members


def _holds_students(members: list[Member]) -> bool:
    tops = {member.parts[0]: len(member.parts) > 1 for member in members}
    fitting = [top for top, is_folder in tops.items() if is_folder or is_archive(top) or _key(top)[1]]
    return len(fitting) == len(tops) and (len(tops) > 1 or any(_key(top)[1] for top in tops))


def _key(name: str) -> tuple[str, str, str]:
    """Whose a folder or file is by a platform's own rule: name, number, and what is left; no number where none fits."""
    for rule in _RULES.values():
        found = rule.fullmatch(name)
        if found:
            return found["name"].strip(), found["number"], found["rest"]
    return name, "", ""


def _heap_of(
    member: Member, heaps: dict[tuple[str, str], _Heap], roster: dict[str, str], bounds: Bounds
) -> tuple[_Heap, tuple[str, ...]] | None:
    """Where a file belongs, and its name there; None where nothing says so."""
    top, is_file = member.parts[0], len(member.parts) == 1
    name, number, rest = _key(top)
    if is_file and not number:
        if is_archive(top) or is_foreign_archive(top):
            name = without_suffix(top) if is_archive(top) else top.rpartition(".")[0]
        elif _whose(_names(top), roster) is None:
            return None
    heap = heaps.setdefault((name.casefold(), number), _Heap(name, number, _names(name) | {number}, [], bounds))
    heap.words |= _names(top if is_file else name)
    if top not in heap.came_as:
        heap.came_as.append(top)
    platform = next((platform for platform, rule in _RULES.items() if rule.fullmatch(top)), None)
    if platform is not None and (platform, number) not in heap.known_as:
        heap.known_as.append((platform, number))
    return heap, ((rest or top,) if is_file else member.parts[1:])


def _names(text: str) -> set[str]:
    """What may be an id in a name: all of it, and each of its words."""
    stem = without_suffix(text)
    words = {text, stem, stem.rpartition(".")[0], *_WORDS.split(stem), *_WORDS.split(stem.rpartition(".")[0])}
    return {normalised(word) for word in words if word.strip()}


def _whose(names: set[str], roster: dict[str, str]) -> str | None:
    """The one student whose id is among these names; None where there is none, or several."""
    found = [student for known, student in roster.items() if known in names]
    return found[0] if len(found) == 1 else None


def _by_student(heaps: Iterable[_Heap], roster: dict[str, str], loose: list[str]) -> Collected:
    heaps = list(heaps)
    submissions: dict[str, Submission] = {}
    unmatched = list(loose)
    for heap in heaps:
        alike = sum(other.name.casefold() == heap.name.casefold() for other in heaps) > 1
        student = f"{heap.name} ({heap.number})" if alike and heap.number else heap.name
        if roster:
            # the platform's number and the whole name count before words: one may be called as a part of another is
            match = roster.get(heap.number) or roster.get(normalised(heap.name)) or _whose(heap.words, roster)
            if match is None:
                unmatched.append(f"{heap.came_as[0]}: nobody on the list of students is called so, or several are")
                continue
            student = match
        one = Submission(student, tuple(heap.came_as), tuple(heap.files), tuple(heap.notes), tuple(heap.known_as))
        earlier = submissions.get(student)
        if earlier is not None:
            one = Submission(
                student, earlier.came_as + one.came_as, earlier.files + one.files, earlier.notes + one.notes,
                tuple(dict.fromkeys(earlier.known_as + one.known_as)),
            )  # fmt: skip
        submissions[student] = one
    return Collected(dict(sorted(submissions.items(), key=lambda item: item[0].casefold())), tuple(unmatched))


class _Unpacker:
    """Unpacks archives into folders of their own."""

    def __init__(self, work: Path) -> None:
        self._work, self._number = work, 0

    def opened(self, member: Member, heap: _Heap, depth: int = _DEPTH) -> list[Member]:
        """The file itself, or what is in it. What cannot be unpacked becomes a note.

        All archives of a student share one allowance: many small ones fill no more than one large one may.
        """
        if is_foreign_archive(member.name):
            heap.notes.append(f"{member.name} is an archive that cannot be unpacked here: hand in a zip file")
            return []
        if not is_archive(member.name):
            return [member]
        if depth == 0:
            heap.notes.append(f"{member.name} is an archive in an archive in an archive, and was not unpacked")
            return []
        try:
            inside, said = unpack(member.path, member.name, self._next(), heap.left)
        except UnpackError as error:
            heap.notes.append(f"{member.name} {error}")
            return []
        size = sum(each.path.stat().st_size for each in inside)
        left = heap.left
        heap.left = replace(
            left, total_bytes=left.total_bytes - size, free_bytes=left.free_bytes - size, files=left.files - len(inside)
        )
        heap.notes += [f"{member.name}: {note}" for note in said]
        if not inside and not said:
            heap.notes.append(f"{member.name} is empty")
        inner = [replace(each, parts=(*member.parts, *each.parts)) for each in inside]
        return [found for each in inner for found in self.opened(each, heap, depth - 1)]

    def unpack_export(self, member: Member) -> tuple[list[Member], list[str]]:
        """One archive that may hold a whole class; nothing where it cannot be unpacked, which is told later."""
        try:
            return unpack(member.path, member.name, self._next(), _OF_ALL)
        except UnpackError:
            return [], []

    def _next(self) -> Path:
        self._number += 1
        return self._work / f"{self._number:06d}"
