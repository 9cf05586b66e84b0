"""What a class handed in, as learning platforms export it, by student.

Understood are Moodle's folders and files (``Ada King_12345_assignsubmission_file_/...``), Canvas' flat files
(``kingada_67_89_03-udp-bandwidth.ipynb``), Blackboard's (``Lab 03_ada_attempt_2026-05-03-10-11-12_x.ipynb``),
Gradescope's numbered folders beside ``submission_metadata.yml``, a plain folder or archive for each student, one
archive that holds any of these, one folder around all of it, and several exports side by side. What students handed in
is read where it lies; archives are unpacked into the grader's own folder.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

import yaml

from linklab.errors import LinklabError
from linklab.grading.handed import NotebookError, read_handed
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

_RULES: Final = {
    "moodle": re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)"),
    "canvas": re.compile(
        r"(?P<name>[^_]+)(?:_LATE)?_(?P<number>\d+)_(?:\d+_(?!attempt_\d{4}-)(?P<rest>.+)|(?:text|link)\.html)"
    ),
    "blackboard": re.compile(r"(?P<name>.+?)(?P<number>)_attempt_\d{4}(?:-\d\d){5}(?:_(?P<rest>.+)|\.txt)"),
}
"""How platforms call what a student handed in. `number` is the platform's own for the student, `rest` what the student
chose. Canvas' number is the same in a whole course, Moodle's another one in each assignment. Blackboard's `name` is the
assignment's and the student's, joined.
"""
_COPY: Final = re.compile(r"(?P<stem>.+?)(?:-(?P<canvas>[1-9]\d?)| ?\((?P<browser>[1-9]\d?)\))(?P<suffix>\.[^.]+)")
_TAR_COPY: Final = re.compile(r"(?<=\.tar)(?:-\d+| ?\(\d+\))(?=\.[^.]+$)", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\s_,;()\[\]]+")
_OF_WORK: Final = frozenset({"lab", "labs", "simpleperf"})
"""Words beside somebody's name that say which work it is, as all words with digits do."""
_REMEDY: Final = "put it into a folder named like the student, or, where Blackboard named it, give a list of students"
_APART: Final = "grade them apart, or call folders of students like their ids on the list"
_NOTEBOOKS: Final = (".ipynb", ".ipynb.json", ".ipynb.txt")
_PROGRAMS: Final = (".py", ".py.txt")
"""How names of files end, browsers' additions among them."""
_OF_A_LAB: Final = re.compile(r"labs?[\s_-]*\d+.*|\d\d-[a-z].*", re.IGNORECASE)
"""A folder that is called like a lab, as no student is."""
_METADATA: Final = "submission_metadata.yml"
"""Gradescope's own file beside the submissions, which says whose they are."""
_LAYERS: Final = 4
"""So many folders and archives may stand around a class."""
_REMEDY_FOR_MANY: Final = "put it into a folder named like the one whose it is"
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


@dataclass(frozen=True)
class _Export:
    """What lies side by side: a platform's export, or what somebody laid together.

    ``name`` is where it was, if there are several; ``submitters`` are Gradescope's, by submission.
    """

    name: str
    members: list[Member]
    submitters: Mapping[str, list[tuple[str, ...]]] | None = None


@dataclass
class _Heap:
    """What was found under one name: a platform's number of one student, or a name that somebody chose by hand.

    ``export`` is what it came in, where there are several. ``ids`` are those that Gradescope knows of the student.
    """

    name: str
    platform: str
    number: str
    left: Bounds
    export: str = ""
    ids: tuple[str, ...] = ()
    came_as: list[str] = field(default_factory=list)
    files: list[Member] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def person(self) -> frozenset[str]:
        """The words of the name that are somebody's, not a work's."""
        return _person(self.name)

    @cached_property
    def labs(self) -> list[frozenset[str]]:
        """The names of the graded cells of each notebook: no two labs have half of them in common."""
        found = []
        for member in self.files:
            if not is_notebook(member.name):
                continue
            with contextlib.suppress(NotebookError):
                found.append(frozenset(cell.grade_id for cell in read_handed(member.path) if cell.grade_id))
        return [names for names in found if names]


def original_name(name: str) -> tuple[str, int]:
    """A file's name without the number that a copy gets (Canvas' ``x-1.py``, browsers' ``x (1).py``), and that number.

    0 where it has none.
    """
    number = 0
    while found := _COPY.fullmatch(name):
        name, number = found["stem"] + found["suffix"], number + int(found["canvas"] or found["browser"])
    return name, number


def is_notebook(name: str) -> bool:
    """Whether a file is called like a notebook, as one, or as a copy."""
    return original_name(name)[0].casefold().endswith(_NOTEBOOKS)


def is_program(name: str) -> bool:
    """Whether a file is called like a program in Python, as one, or as a copy."""
    return original_name(name)[0].casefold().endswith(_PROGRAMS)


def _is_archive(name: str) -> bool:
    """Whether a file is an archive; Canvas calls a second ``work.tar.gz`` ``work.tar-1.gz``."""
    return is_archive(_TAR_COPY.sub("", name))


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
    exports = _exports("", members, roster, unpacker, loose)
    heaps: dict[tuple[str, ...], _Heap] = {}
    for export in exports:
        empty = _empty(source, members) if export.members is members and source.is_dir() else []
        for member in (*empty, *export.members):
            found = _heap_of(export, member, heaps, roster, bounds)
            if isinstance(found, str):
                loose.append(f"{_within(export.name, member.parts[0])}: {found}")
                continue
            heap, rest = found
            heap.files += unpacker.opened(replace(member, parts=rest), heap) if member.parts[-1] else []
    loose = list(dict.fromkeys(loose))
    if not heaps and not loose:
        raise LinklabError(f"{source} holds no submission: name the folder or archive that your platform exported")
    return _by_student(heaps.values(), roster, loose)


def _empty(source: Path, members: list[Member]) -> list[Member]:
    """A folder that is empty is somebody's too."""
    full = {member.parts[0] for member in members}
    names = {path: cleaned(path.name) or "\ufffd" for path in sorted(source.iterdir())}
    return [
        Member((name, ""), path, 0.0)
        for path, name in names.items()
        if path.is_dir() and not path.is_symlink() and name not in full and not is_system((name,))
    ]


def _of_all(work: Path) -> Bounds:
    return replace(_OF_ALL, total_bytes=min(_OF_ALL.total_bytes, shutil.disk_usage(work).free // 2))


def _all_files(source: Path, work: Path, left_out: list[str]) -> list[Member]:
    if source.is_file():
        if not _is_archive(source.name):
            raise LinklabError(f"{source} is neither a folder nor an archive (zip, tar, tar.gz, tar.xz)")
        try:
            return unpack(source, _TAR_COPY.sub("", source.name), work / "all", _of_all(work))[0]
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


def _within(export: str, name: str) -> str:
    return f"{export}/{name}" if export else name


def _exports(
    name: str,
    members: list[Member],
    roster: dict[str, str],
    unpacker: _Unpacker,
    loose: list[str],
    layers: int = _LAYERS,
) -> list[_Export]:
    """What platforms exported, each by name with its files: one for each assignment, where several lie side by side.

    What is called like a student on the list is the student's, whatever is in it. Beside other folders, which may be
    students', what looks like an export is named in ``loose``: nobody may hand in under another's name.
    """
    members = _without_wrapper(members, roster, unpacker)
    tops: dict[str, list[Member]] = {}
    for member in members:
        tops.setdefault(member.parts[0], []).append(member)
    if _is_gradescopes(tops):
        inside = [member for member in members if member.parts != (_METADATA,)]
        return [_Export(name, inside, _submitters(tops[_METADATA][0]))]
    own = [
        top
        for top in tops
        if layers and not _by_platform(top) and not _ids_in(normalised(_by_hand(top, False)), roster)
    ]
    people = {top: found for top in own if (found := _people(_packed(top, tops[top])))}
    others = [top for top in own if top not in people and (len(tops[top][0].parts) > 1 or _is_archive(top))]
    if not any(len(found) > 1 for found in people.values()):
        return [_Export(name, members)]  # a student each, in folders that somebody named
    exports = []
    for top in people:
        if others:
            loose.append(f"{_within(name, top)}: looks like an export, and {listed(others, 1)} does not: {_APART}")
        inside = [] if others else _inside(tops[top], unpacker)
        if inside:
            exports += _exports(_within(name, top), inside, roster, unpacker, loose, layers - 1)
        if inside or others:
            members = [member for member in members if member.parts[0] != top]
    return [_Export(name, members), *exports]


def _is_gradescopes(tops: Iterable[str]) -> bool:
    return _METADATA in tops and any(top.startswith("submission_") for top in tops if top != _METADATA)


def _submitters(metadata: Member) -> dict[str, list[tuple[str, ...]]]:
    """Of each of Gradescope's submissions all who handed it in: e-mail address, student id and name, empty if unknown.

    What cannot be read says nobody's.
    """
    try:
        # texts alone: no number loses its zeros, and Ruby's own kinds of values do no harm
        data = yaml.load(metadata.path.read_bytes(), Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return {}
    found = {}
    for submission, told in data.items() if isinstance(data, dict) else ():
        people = told.get(":submitters") if isinstance(told, dict) else None
        people = [one for one in people if isinstance(one, dict)] if isinstance(people, list) else []
        ids = [[one.get(key) for key in (":email", ":sid", ":name")] for one in people]
        found[submission] = [tuple(each.strip() if isinstance(each, str) else "" for each in one) for one in ids]
    return found


def _packed(top: str, members: list[Member]) -> list[tuple[str, ...]]:
    """The names of what is in a folder or a zip file, which is not unpacked for that; platforms export no others."""
    if len(members) > 1 or len(members[0].parts) > 1:
        inside = [replace(member, parts=member.parts[1:]) for member in members]
        is_packed = len(inside) == 1 and len(inside[0].parts) == 1
        return (is_packed and _packed(inside[0].name, inside)) or [member.parts for member in inside]
    if not top.casefold().endswith(".zip"):
        return []
    try:
        with zipfile.ZipFile(members[0].path) as book:
            names = (PurePosixPath(info.filename.replace("\\", "/")) for info in book.infolist() if not info.is_dir())
            parts = (tuple(map(cleaned, name.parts[: _LAYERS + 1])) for name in names)
            return [each for each in parts if each and not is_system(each)]
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return []


def _people(names: list[tuple[str, ...]]) -> set[str]:
    """The names and numbers of those whose submissions a platform exported here, below folders around them all."""
    for layer in range(_LAYERS):
        tops = {parts[layer] for parts in names if len(parts) > layer}
        if _is_gradescopes(tops):
            return tops
        matches = [found[1] for top in tops if (found := _by_platform(top))]
        if matches or len(tops) != 1:
            return {f"{match['name']} {match['number']}" for match in matches}
    return set()


def _inside(members: list[Member], unpacker: _Unpacker) -> list[Member]:
    """What is in one folder or archive; nothing where it is no such thing, or cannot be unpacked."""
    if len(members) == 1 and len(members[0].parts) == 1:
        return unpacker.unpack_export(members[0])[0] if _is_archive(members[0].name) else []
    return [replace(member, parts=member.parts[1:]) for member in members]


def _without_wrapper(
    members: list[Member], roster: dict[str, str], unpacker: _Unpacker, layers: int = _LAYERS
) -> list[Member]:
    """Takes away what stands around the students: one folder, or one archive, that holds them all.

    Around one student alone stands nothing: then it is the student's own.
    """
    tops = {member.parts[0] for member in members}
    if len(tops) != 1 or not layers:
        return members
    top = next(iter(tops))
    if _by_platform(top) or _ids_in(normalised(_by_hand(top, False)), roster):
        return members
    inside = _inside(members, unpacker)
    if not inside:
        return members
    if _holds_students(inside, roster):
        return _without_wrapper(inside, roster, unpacker, layers - 1)
    deeper = _without_wrapper(inside, roster, unpacker, layers - 1)
    is_packed = len(inside) == 1 and len(inside[0].parts) == 1
    return deeper if deeper is not inside and (is_packed or _is_export(deeper, roster)) else members


def _is_export(members: list[Member], roster: dict[str, str]) -> bool:
    """Whether names say so: a platform's, or those of students on the list."""
    tops = {member.parts[0] for member in members}
    return _is_gradescopes(tops) or any(
        _by_platform(top) or _ids_in(normalised(_by_hand(top, False)), roster) for top in tops
    )


def _holds_students(members: list[Member], roster: dict[str, str]) -> bool:
    """Whether folders and archives here are a student's each, and not one student's own.

    A notebook or program beside them is one student's, and so are folders for each lab.
    """
    if _is_export(members, roster):
        return True
    tops = {member.parts[0]: len(member.parts) > 1 for member in members}
    holding = [top for top, is_folder in tops.items() if is_folder or _is_archive(top) or is_foreign_archive(top)]
    is_ones_own = any(is_notebook(top) or is_program(top) for top in tops if top not in holding)
    return len(holding) > 1 and not is_ones_own and not all(_OF_A_LAB.fullmatch(top) for top in holding)


def _by_platform(entry: str) -> tuple[str, re.Match[str]] | None:
    """The platform by whose rule a folder or file is called, and how; None where none fits.

    What the student chose, at the end, may look like another platform's: the rule that fits earliest counts.
    """
    found = [(platform, match) for platform, rule in _RULES.items() if (match := rule.fullmatch(entry))]
    return min(found, key=lambda one: len(one[1]["name"]), default=None)


def _by_hand(entry: str, is_file: bool) -> str:
    """What a folder or file is called that somebody named by hand, without the ending that says what it is."""
    if _is_archive(entry):
        return without_suffix(_TAR_COPY.sub("", entry)) or entry
    return (entry.rpartition(".")[0] if is_file else entry) or entry


def _heap_of(
    export: _Export, member: Member, heaps: dict[tuple[str, ...], _Heap], roster: dict[str, str], bounds: Bounds
) -> tuple[_Heap, tuple[str, ...]] | str:
    """Where a file belongs, and its name there; why nobody knows, where nothing says so."""
    top, is_file = member.parts[0], len(member.parts) == 1
    parts = member.parts if is_file else member.parts[1:]
    found = _by_platform(top)
    if export.submitters is not None and (top in export.submitters or top.startswith("submission_")):
        people = export.submitters.get(top, [])
        ids = tuple(filter(None, people[0][:2])) if people else ()
        if len(people) > 1:
            return f"handed in by {listed(next(filter(None, one), '?') for one in people)} together; {_REMEDY_FOR_MANY}"
        if not ids:
            return f"{_METADATA} does not say whose it is; put it into a folder named like the student"
        heap = _Heap(ids[0], "gradescope", "", bounds, export.name, ids)
    elif found is None:
        heap = _Heap(_by_hand(top, is_file), "", "", bounds, export.name)
    else:
        platform, match = found
        heap = _Heap(match["name"].strip(), platform, match["number"], bounds, export.name)
        if is_file and match["rest"]:
            # what comes with one attempt stays together
            before = () if heap.number else (top.removesuffix(f"_{match['rest']}"),)
            parts = (*before, match["rest"])
    is_plain = found is None and (not is_file or _is_archive(top) or is_foreign_archive(top))
    if not (is_plain or heap.number or heap.ids) and len(_whose(heap, roster)[0]) != 1:
        return f"its name says nobody's; {_REMEDY}"
    heap = heaps.setdefault((export.name, heap.platform, normalised(heap.name), heap.number), heap)
    if _within(export.name, top) not in heap.came_as:
        heap.came_as.append(_within(export.name, top))
    return heap, parts


def _whose(heap: _Heap, roster: dict[str, str], assignments: Sequence[str] = ()) -> tuple[list[str], bool]:
    """Those on the list who may have handed this in, and whether that is sure: no more than a word may be another's.

    ``assignments`` are what Blackboard's names begin with (`_assignments`).
    """
    name = normalised(heap.name)
    if heap.platform == "gradescope":
        return list(dict.fromkeys(roster[each] for each in map(normalised, heap.ids) if each in roster)), True
    if heap.platform == "blackboard":
        rests = [name.removeprefix(each) for each in assignments if name.startswith(each)]
        if rests:
            return [roster[rest] for rest in rests if rest in roster][:1], True
        return [roster[known] for known in sorted(_ends(name, roster), key=len)[-1:]], True
    exact = [roster[known] for known in dict.fromkeys((name, heap.number)) if known in roster]
    if exact:
        return exact, True
    found = [known for known in _ids_in(name, roster) if " " not in known or _person(known) == heap.person]
    if heap.platform == "moodle":
        # king is a word of Ada King's name, and may be a part of her id as well
        found = [other for other in roster if any(known in other for known in found)]
    return [roster[known] for known in found], False


def _ends(name: str, roster: dict[str, str]) -> list[str]:
    return [known for known in roster if name == known or name.endswith(f"_{known}")]


def _assignments(heaps: Iterable[_Heap], roster: dict[str, str]) -> list[str]:
    """What stands before the ids of two or more on the list, the shortest first: names that Blackboard joins with ids.

    Of ``Lab 03_van_ada`` nobody else could tell whether it is ada's or van_ada's.
    """
    names = {normalised(heap.name) for heap in heaps if heap.platform == "blackboard"}
    count = Counter(name[: -len(known)] for name in names for known in _ends(name, roster))
    return sorted((each for each, times in count.items() if each and times > 1), key=len)


def _ids_in(name: str, roster: dict[str, str]) -> list[str]:
    """The ids that are a word of a name, or several; of one within another the longer."""
    words = [found.span() for found in _WORD.finditer(name)]
    spans = [(start, end) for at, (start, _) in enumerate(words) for _, end in words[at:] if name[start:end] in roster]
    widest = [one for one in spans if not any(it != one and it[0] <= one[0] and one[1] <= it[1] for it in spans)]
    return list(dict.fromkeys(name[start:end] for start, end in widest))


def _person(name: str) -> frozenset[str]:
    words = _WORD.findall(normalised(name))
    return frozenset(word for word in words if word not in _OF_WORK and not any(map(str.isdigit, word)))


def _by_student(heaps: Iterable[_Heap], roster: dict[str, str], loose: list[str]) -> Collected:
    owned: dict[str, list[_Heap]] = {}
    unmatched = list(loose)
    if not roster:
        owned = _by_name(heaps)
    for student, found in _on_the_list(heaps, roster, unmatched).items() if roster else ():
        owned[student] = _sure(student, found)
        rest = [heap for heap, _ in found if heap not in owned[student]]
        unmatched += [_not_sure(student, heap, [other for other, _ in found if other is not heap]) for heap in rest]
    joined = {student: _joined(student, parts) for student, parts in owned.items() if parts}
    return Collected(dict(sorted(joined.items(), key=lambda item: item[0].casefold())), tuple(unmatched))


def _by_name(heaps: Iterable[_Heap]) -> dict[str, list[_Heap]]:
    """Without a list of students a name is a student, or several where their numbers say so."""
    named: dict[str, list[_Heap]] = {}
    for heap in heaps:
        named.setdefault(normalised(heap.name), []).append(heap)
    found: dict[str, list[_Heap]] = {}
    for alike in named.values():
        is_one = len({bool(heap.number) for heap in alike}) == 1 and _one_number(alike)
        for heap in alike:
            student = alike[0].name if is_one or not heap.number else f"{alike[0].name} ({heap.number})"
            found.setdefault(student, []).append(heap)
    return found


def _on_the_list(
    heaps: Iterable[_Heap], roster: dict[str, str], unmatched: list[str]
) -> dict[str, list[tuple[_Heap, bool]]]:
    """All that may be a student's, and whether that is sure."""
    heaps = list(heaps)
    assignments = _assignments(heaps, roster)
    found: dict[str, list[tuple[_Heap, bool]]] = {}
    for heap in heaps:
        students, is_sure = _whose(heap, roster, assignments)
        if len(students) == 1:
            found.setdefault(students[0], []).append((heap, is_sure))
        else:
            said = "nobody on the list of students is called so, or several are"
            unmatched += [f"{name}: {said}" for name in heap.came_as]
    return found


def _sure(student: str, found: Sequence[tuple[_Heap, bool]]) -> list[_Heap]:
    """What is this student's for sure: all of it comes from one person.

    What is called like the id is the student's; what has the id as a word, only where nobody else's may be meant.
    Beside a folder of the student's own nothing counts that came in an export, which somebody else may have packed.
    """
    if any(not heap.export and not heap.platform and normalised(heap.name) == normalised(student) for heap, _ in found):
        found = [(heap, is_sure) for heap, is_sure in found if not heap.export]
    exact = [heap for heap, is_sure in found if is_sure]
    by_word = [heap for heap, is_sure in found if not is_sure]
    people = {heap.person for heap in exact if heap.number} if exact else {heap.person for heap in by_word}
    if exact:
        by_word = [heap for heap in by_word if heap.person in people | {_person(student)}]
    numbered = [heap for heap in (*exact, *by_word) if heap.number]
    if len(people) > 1 or not _one_number(numbered):
        return [heap for heap in exact if not heap.number]
    return [*exact, *by_word]


def _one_number(heaps: Sequence[_Heap]) -> bool:
    """Whether all numbers may be one student's.

    Moodle has another number for a student in each assignment: of one name, and with different labs, they are one's.
    """
    return all(
        one.number == other.number
        or (
            one.platform == other.platform == "moodle" and (one.export != other.export or _differ(one.labs, other.labs))
        )
        for one, other in itertools.combinations(heaps, 2)
    )


def _differ(labs: list[frozenset[str]], others: list[frozenset[str]]) -> bool:
    """Whether the notebooks of two are of different labs; where one has none, nobody knows."""
    alike = (2 * len(one & other) >= min(len(one), len(other)) for one in labs for other in others)
    return bool(labs and others) and not any(alike)


def _not_sure(student: str, heap: _Heap, others: Sequence[_Heap]) -> str:
    too = listed((other.came_as[0] for other in others), 3)
    said = f"{heap.came_as[0]}: may be {student}'s, and so may {too}, which is not all of one person"
    return f"{said}; put what is {student}'s into a folder called {student}"


def _joined(student: str, heaps: Sequence[_Heap]) -> Submission:
    """All of a student's; what came in several exports, or under several numbers, lies in a folder for each."""
    numbers = {(heap.export, heap.number) for heap in heaps if heap.number}
    files: list[Member] = []
    for heap in heaps:
        place = (heap.export,) if heap.export else ()
        if heap.number and sum(export == heap.export for export, _ in numbers) > 1:
            place = (*place, f"{heap.name} ({heap.number})")
        files += [replace(member, parts=(*place, *member.parts)) for member in heap.files]
    came_as = dict.fromkeys(name for heap in heaps for name in heap.came_as)
    notes = [note for heap in heaps for note in heap.notes]
    known_as = dict.fromkeys((heap.platform, heap.number) for heap in heaps if heap.number)
    return Submission(student, tuple(came_as), tuple(files), tuple(notes), tuple(known_as))


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
        if not _is_archive(member.name):
            return [member]
        if depth == 0:
            heap.notes.append(f"{member.name} is an archive in an archive in an archive, and was not unpacked")
            return []
        try:
            inside, said = unpack(member.path, _TAR_COPY.sub("", member.name), self._next(), heap.left)
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
            return unpack(member.path, _TAR_COPY.sub("", member.name), self._next(), _of_all(self._work))
        except UnpackError:
            return [], []

    def _next(self) -> Path:
        self._number += 1
        return self._work / f"{self._number:06d}"
