"""Find in a student's files the notebook of each lab, the programs of labs, and the Python files beside these.

Cells say which lab a notebook is of, whatever the file is called; a program is known by its name. Of all other files
only single Python files travel to the judge that lie in the same folder, where an import finds them at home too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from linklab.grading.kit import SIMPLEPERF, Kit, KitLab
from linklab.grading.names import listed
from linklab.grading.submissions import Submission
from linklab.grading.submitted_notebook import NotebookError, SubmittedCell, named, read_submitted
from linklab.grading.unpack import Member
from linklab.record import TEXT_STUB

LARGEST_PROGRAM_BYTES: Final = 500_000
LARGEST_HELPER_BYTES: Final = 200_000
MOST_HELPERS: Final = 29
"""As many as the check of simpleperf copies at home, next to the program itself."""

_LONGEST_NAME_BYTES: Final = 200
_COPY: Final = re.compile(r"(?P<stem>.+?)(?:-(?P<canvas>[1-9]\d?)| ?\((?P<browser>[1-9]\d?)\))(?P<suffix>\.[^.]+)")


@dataclass(frozen=True)
class FoundNotebook:
    """A notebook of a lab: its file, its cells, how many answers are not the starter's, how many names are the lab's.

    ``helpers`` are the Python files beside the one that counts, by the names that an import looks for.
    """

    lab: KitLab
    member: Member
    cells: tuple[SubmittedCell, ...]
    answered: int
    known: int
    helpers: Mapping[str, Member] = field(default_factory=dict)

    @property
    def rank(self) -> tuple[int, float, int, int, str]:
        """By which the one that counts is known: the fullest, and of equally full ones the newest."""
        modified_s, copy, name = _age(self.member)
        return self.answered, modified_s, copy, self.known, name


@dataclass(frozen=True)
class Recognised:
    """What a student handed in for which lab. `notes` are for student and instructor alike, a line each.

    ``programs`` are those of labs, simpleperf among them, by the names that they must have, and the Python files beside
    them.
    """

    notebooks: Mapping[str, FoundNotebook]
    programs: Mapping[str, Member]
    notes: tuple[str, ...]


def recognise(submission: Submission, kit: Kit) -> Recognised:
    """Looks through all files of a submission. Whatever is wrong with one of them is a note, and nothing else."""
    notes = list(submission.notes)
    candidates: dict[str, list[FoundNotebook]] = {}
    for member in submission.files:
        if not _is_notebook(member.parts[-1]):
            continue
        try:
            candidate = _candidate(member, kit)
        except NotebookError as error:
            notes.append(f"{member.name} {error}")
            continue
        candidates.setdefault(candidate.lab.name, []).append(candidate)
    notebooks = {}
    for lab in kit.labs:
        if lab in candidates:
            best = _fullest(candidates[lab], notes)
            notebooks[lab] = replace(best, helpers=_beside(best.member, submission.files, kit, notes))
    programs = _programs_of_labs(submission.files, kit, notes)
    if not notebooks and not programs:
        notes.append("no notebook of a lab and no program of one was found")
    used = [*programs.values(), *(one for each in notebooks.values() for one in each.helpers.values())]
    others = [it for it in _programs(submission.files) if _called(it).casefold() not in kit.starters]
    if along := listed((it.name for it in others if it in used), MOST_HELPERS):
        notes.append(f"handed over, as they lie beside a notebook or a program that counts: {along}")
    if unused := listed(it.name for it in others if it not in used):
        missing = " or ".join(name for name in kit.starters if name not in programs)
        mend = f"; the program of a lab must be called {missing}" if SIMPLEPERF in missing else ""
        notes.append(f"other programs are not used: {unused}; they lie beside nothing that counts{mend}")
    return Recognised(notebooks, programs, tuple(dict.fromkeys(notes)))


def _original_name(name: str) -> tuple[str, int]:
    """A file's name without the number that a copy gets (Canvas' ``x-1.py``, browsers' ``x (1).py``), and that number.

    0 where it has none.
    """
    number = 0
    while found := _COPY.fullmatch(name):
        name, number = found["stem"] + found["suffix"], number + int(found["canvas"] or found["browser"])
    return name, number


def _is_notebook(name: str) -> bool:
    """Whether a file is called like a notebook, as one, as a copy, or with an ending that a browser added."""
    return _original_name(name)[0].casefold().endswith((".ipynb", ".ipynb.json", ".ipynb.txt"))


def _is_program(name: str) -> bool:
    """Whether a file is called like a program in Python, as one, as a copy, or with an ending that a browser added."""
    return _original_name(name)[0].casefold().endswith((".py", ".py.txt"))


def lab_of(cells: Iterable[SubmittedCell], kit: Kit) -> KitLab | None:
    """The lab that a notebook's cells are of: several labs have a ``check-rtt``, but no two have the same cells."""
    keys = {key for cell in cells for key in (cell.key, cell.grade_id) if key}
    scores = sorted(
        ((len(keys & lab.marked), len(keys & lab.all_ids), name) for name, lab in kit.labs.items()), reverse=True
    )
    if not scores or scores[0][0] == 0 or (len(scores) > 1 and scores[0][:2] == scores[1][:2]):
        return None
    return kit.labs[scores[0][2]]


def answered(lab: KitLab, cells: Iterable[SubmittedCell]) -> int:
    """How many answers and free texts are no longer what students start with."""
    texts = {cell.key: cell.source.strip() for cell in reversed(list(cells))}
    return sum(
        part.cell_id in texts and texts[part.cell_id] not in ("", TEXT_STUB, part.starter.strip())
        for part in lab.parts
        if part.role in ("answer", "free text")
    )


def _candidate(member: Member, kit: Kit) -> FoundNotebook:
    cells = read_submitted(member.path)
    if not cells:
        raise NotebookError("is a notebook without cells")
    lab = lab_of(cells, kit)
    if lab is None:
        raise NotebookError("is a notebook, but none of these labs: its cells have other names")
    cells = named(cells, {part.cell_id: part.starter for part in lab.parts})
    known = len({cell.key for cell in cells} & lab.all_ids)
    return FoundNotebook(lab, member, cells, answered(lab, cells), known)


def _fullest(candidates: list[FoundNotebook], notes: list[str]) -> FoundNotebook:
    best = max(candidates, key=lambda candidate: candidate.rank)
    if len(candidates) > 1:
        others = listed(each.member.name for each in candidates if each is not best)
        alike = sum(each.answered == best.answered for each in candidates) > 1
        why = "the newest of the fullest" if alike else "the fullest"
        notes.append(f"{best.lab.name} came more than once: {best.member.name} counts, {why}, and not {others}")
    return best


def _beside(main: Member, files: Iterable[Member], kit: Kit, notes: list[str]) -> dict[str, Member]:
    """The Python files in the folder of a notebook or program, by the names that an import looks for, without labs'."""
    folder = [it for it in _programs(files) if it.parts[:-1] == main.parts[:-1]]
    newest = {_called(it): it for it in sorted(folder, key=_age)}
    found: dict[str, Member] = {}
    for name, member in sorted(newest.items()):
        if name.casefold() in kit.starters:
            continue
        long = len(name.encode(errors="replace")) > _LONGEST_NAME_BYTES
        if long or len(found) == MOST_HELPERS or member.path.stat().st_size > LARGEST_HELPER_BYTES:
            bound = f"{MOST_HELPERS} files of {LARGEST_HELPER_BYTES // 1000} kB each are the most"
            bound = "its name is longer than that of a file may be" if long else bound
            notes.append(f"{member.name} was not handed over: {bound}")
        else:
            found[name] = member
    return found


def _programs(files: Iterable[Member]) -> Iterator[Member]:
    return (member for member in files if _is_program(member.parts[-1]))


def _called(program: Member) -> str:
    """What a program was called before it was saved as a text, or as a copy."""
    name, _ = _original_name(program.parts[-1])
    return _original_name(name.removesuffix(".txt"))[0]


def _age(member: Member) -> tuple[float, int, str]:
    """By which the later of two files is known: of those of one time, the copy."""
    return member.modified_s, _original_name(member.parts[-1])[1], member.name


def _programs_of_labs(files: Iterable[Member], kit: Kit, notes: list[str]) -> dict[str, Member]:
    """The programs of labs, and the Python files beside them; of two files of one name simpleperf's counts."""
    files = list(files)
    found: dict[str, Member] = {}
    for name, starter in kit.starters.items():
        called = [it for it in _programs(files) if _called(it).casefold() == name.casefold() and _fits(it, notes)]
        if called:
            best = max(called, key=lambda it: (_source(it).split() != starter.split(), _age(it)))
            others = listed(it.name for it in called if it is not best)
            if others:
                notes.append(
                    f"{name} came more than once: {best.name} counts, the newest that is written, and not {others}"
                )
            elif best.parts[-1] != name:
                notes.append(f"{best.name} was taken for {name}")
            found = _beside(best, files, kit, notes) | {name: best} | found
    return found


def _fits(member: Member, notes: list[str]) -> bool:
    size = member.path.stat().st_size
    if 0 < size <= LARGEST_PROGRAM_BYTES:
        return True
    notes.append(f"{member.name} {'is empty' if not size else f'has {size / 1e6:.1f} MB, too many to be graded'}")
    return False


def _source(member: Member) -> str:
    return member.path.read_bytes().decode(errors="replace")
