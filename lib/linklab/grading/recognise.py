"""Find in a student's files the notebook of each lab, the programs of labs, and the Python files beside these.

Cells say which lab a notebook is of, whatever the file is called; a program is known by its name. Other files
travel to the judge only if they are single Python files in the same folder, where an import finds them at home too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from linklab.grading.kit import SIMPLEPERF, Kit, KitLab
from linklab.grading.names import listed
from linklab.grading.submissions import Submission
from linklab.grading.submitted_notebook import NotebookError, SubmittedCell, is_named, named, read_submitted
from linklab.grading.unpack import Member
from linklab.record import TEXT_STUB

MOST_HELPERS: Final = 29
"""As many as the check of simpleperf copies at home, next to the program itself."""
_LARGEST_PROGRAM_BYTES: Final = 500_000
_LARGEST_HELPER_BYTES: Final = 200_000
_LONGEST_NAME_BYTES: Final = 200
_COPY: Final = re.compile(r"(?P<stem>.+?)(?:-(?P<canvas>[1-9]\d?)| ?\((?P<browser>[1-9]\d?)\))(?P<suffix>\.[^.]+)")


@dataclass(frozen=True)
class FoundNotebook:
    """A notebook of a lab: its file, its cells, and how many answers are not the starter's.

    ``helpers`` are the Python files beside the one that counts, by the names that an import looks for.
    """

    lab: KitLab
    member: Member
    cells: tuple[SubmittedCell, ...]
    answered: int
    helpers: Mapping[str, Member] = field(default_factory=dict)


@dataclass(frozen=True)
class Recognised:
    """What a student handed in for which lab. `notes` are for student and instructor alike, a line each.

    ``programs`` are those of labs, simpleperf among them, by the names that they must have, and the Python files beside
    them. ``left_aside`` are the notes on notebooks that cannot be graded.
    """

    notebooks: Mapping[str, FoundNotebook]
    programs: Mapping[str, Member]
    notes: tuple[str, ...]
    left_aside: tuple[str, ...] = ()


def recognise(submission: Submission, kit: Kit) -> Recognised:
    """Look through all files of a submission. Whatever is wrong with one of them is a note, and nothing else."""
    notes, left_aside = list(submission.notes), list[str]()
    scripts = [member for member in submission.files if _called(member).casefold().endswith(".py")]
    notebooks = {
        lab: replace(found, helpers=_beside(found.member, scripts, kit, notes))
        for lab, found in _notebooks(submission.files, kit, notes, left_aside).items()
    }
    programs: dict[str, Member] = {}
    for name, starter in kit.starters.items():
        best = newest_program(name, starter, scripts, notes)
        if best is not None:
            programs = _beside(best, scripts, kit, notes) | {name: best} | programs
    if not notebooks and not programs:
        left_aside.append("no notebook of a lab and no program of one was found")
    used = [*programs.values(), *(one for each in notebooks.values() for one in each.helpers.values())]
    others = [member for member in scripts if _called(member).casefold() not in kit.starters]
    if along := listed((it.name for it in others if it in used), MOST_HELPERS):
        notes.append(f"handed over, as they lie beside a notebook or a program that counts: {along}")
    if unused := listed(it.name for it in others if it not in used):
        missing = " or ".join(name for name in kit.starters if name not in programs)
        mend = f"; the program of a lab must be called {missing}" if SIMPLEPERF in missing else ""
        notes.append(f"other programs are not used: {unused}; they lie beside nothing that counts{mend}")
    return Recognised(notebooks, programs, tuple(dict.fromkeys((*left_aside, *notes))), tuple(left_aside))


def _called(member: Member) -> str:
    """Return a file's name without the number of a copy, and without an ending that a browser added (``x.py.txt``)."""
    name, _ = _original_name(member.parts[-1])
    inner, _ = _original_name(re.sub(r"\.(txt|json)\Z", "", name, flags=re.IGNORECASE))
    return inner if inner.casefold().endswith((".py", ".ipynb")) else name


def _original_name(name: str) -> tuple[str, int]:
    """Return a name without the number that a copy gets (Canvas' ``x-1.py``, browsers' ``x (1).py``), and that number.

    It is 0 where there is none.
    """
    number = 0
    while found := _COPY.fullmatch(name):
        name, number = found["stem"] + found["suffix"], number + int(found["canvas"] or found["browser"])
    return name, number


def _age(member: Member) -> tuple[float, int, str]:
    """Sort key: the later of two files, and of those of one time the copy."""
    return member.modified_s, _original_name(member.parts[-1])[1], member.name


def _notebooks(files: Iterable[Member], kit: Kit, notes: list[str], left_aside: list[str]) -> dict[str, FoundNotebook]:
    """Return the notebook that counts for each lab: the one with most answers, of equally full ones the newest."""
    candidates: dict[str, list[FoundNotebook]] = {}
    for member in files:
        if _called(member).casefold().endswith(".ipynb"):
            try:
                found = _notebook(member, kit, notes)
            except NotebookError as error:
                left_aside.append(f"{member.name} {error}")
            else:
                candidates.setdefault(found.lab.name, []).append(found)
    counting = {}
    for lab in (name for name in kit.labs if name in candidates):
        best = max(candidates[lab], key=lambda it: (it.answered, _age(it.member)))
        counting[lab] = best
        if len(candidates[lab]) > 1:
            others = listed(each.member.name for each in candidates[lab] if each is not best)
            alike = sum(each.answered == best.answered for each in candidates[lab]) > 1
            why = "the newest of the fullest" if alike else "the fullest"
            notes.append(f"{lab} came more than once: {best.member.name} counts, {why}, and not {others}")
    return counting


def _notebook(member: Member, kit: Kit, notes: list[str]) -> FoundNotebook:
    """Return a notebook of a lab. Raises NotebookError for any other file."""
    cells = read_submitted(member.path)
    if not cells:
        raise NotebookError("is a notebook without cells")
    lab = _lab_of(cells, kit)
    if lab is None:
        raise NotebookError("is a notebook, but none of these labs: its cells have other names and texts")
    if not is_named(cells, lab.all_ids):
        notes.append(f"{member.name}: its cells have lost their names, and were known by their texts and places")
    called = _called(member).casefold().removesuffix(".ipynb")
    if called != lab.name and called in kit.labs:
        notes.append(f"{member.name} is called {called}, and holds {lab.name}")
    cells = named(cells, lab.parts)
    texts = {cell.key: cell.source.strip() for cell in reversed(cells)}
    answered = sum(
        part.role in ("answer", "free text")
        and part.cell_id in texts
        and texts[part.cell_id] not in ("", TEXT_STUB, part.starter.strip())
        for part in lab.parts
    )
    return FoundNotebook(lab, member, cells, answered)


def _lab_of(cells: Sequence[SubmittedCell], kit: Kit) -> KitLab | None:
    """Return the lab that cells are of: several labs have a ``check-rtt``, but no two have the same cells.

    Cells without any lab's names are of the lab whose own cells most of them read like, word for word.
    """
    keys = {key for cell in cells for key in (cell.key, cell.grade_id) if key}
    scores = sorted(
        ((len(keys & lab.marked), len(keys & lab.all_ids), name) for name, lab in kit.labs.items()), reverse=True
    )
    if not scores or scores[0][0] == 0:
        return _lab_by_text(cells, kit)
    if len(scores) > 1 and scores[0][:2] == scores[1][:2]:
        return None
    return kit.labs[scores[0][2]]


def _lab_by_text(cells: Iterable[SubmittedCell], kit: Kit) -> KitLab | None:
    """Return the lab of whose own cells, which no student writes, more than half are among these cells."""
    texts = {cell.source.strip() for cell in cells}
    for lab in kit.labs.values():
        own = [part.starter.strip() for part in lab.parts if part.role in ("given", "check")]
        if 2 * sum(text in texts for text in own) > len(own):
            return lab
    return None


def newest_program(name: str, starter: str, files: Iterable[Member], notes: list[str]) -> Member | None:
    """Return the program of a lab: the newest of the files that is called so and is not the starter."""
    called = []
    for member in (it for it in files if _called(it).casefold() == name.casefold()):
        size = member.path.stat().st_size
        if 0 < size <= _LARGEST_PROGRAM_BYTES:
            called.append(member)
        else:
            notes.append(f"{member.name} {f'has {size / 1e6:.1f} MB, too many to be graded' if size else 'is empty'}")
    if not called:
        return None

    def is_written(member: Member) -> bool:
        return member.path.read_bytes().decode(errors="replace").split() != starter.split()

    best = max(called, key=lambda it: (is_written(it), _age(it)))
    if others := listed(it.name for it in called if it is not best):
        notes.append(f"{name} came more than once: {best.name} counts, the newest that is written, and not {others}")
    elif best.parts[-1] != name:
        notes.append(f"{best.name} was taken for {name}")
    return best


def _beside(main: Member, scripts: Sequence[Member], kit: Kit, notes: list[str]) -> dict[str, Member]:
    """Return the Python files in the folder of a notebook or program, by the names that an import looks for.

    Programs of labs are not among them.
    """
    newest = {_called(it): it for it in sorted(scripts, key=_age) if it.parts[:-1] == main.parts[:-1]}
    found: dict[str, Member] = {}
    for name, member in sorted(newest.items()):
        if name.casefold() in kit.starters:
            continue
        if len(name.encode(errors="replace")) > _LONGEST_NAME_BYTES:
            notes.append(f"{member.name} was not handed over: its name is longer than that of a file may be")
        elif len(found) == MOST_HELPERS or member.path.stat().st_size > _LARGEST_HELPER_BYTES:
            bound = f"{MOST_HELPERS} files of {_LARGEST_HELPER_BYTES // 1000} kB each are the most"
            notes.append(f"{member.name} was not handed over: {bound}")
        else:
            found[name] = member
    return found
