"""Which of a student's files is which lab, and which is simpleperf: by what they are, whatever they are called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from linklab.grading.handed import HandedCell, NotebookError, named, read_handed
from linklab.grading.kit import SIMPLEPERF, Kit, KitLab
from linklab.grading.names import listed
from linklab.grading.submissions import Submission
from linklab.grading.unpack import Member
from linklab.notebooks.render import TEXT_STUB

LARGEST_PROGRAM_BYTES: Final = 500_000
_NAMED: Final = re.compile(r"(.*[^a-z])?simple[-_ ]?perf([^a-z].*)?\.py", re.IGNORECASE)
_READERS: Final = ("argparse", "getopt", "optparse")


@dataclass(frozen=True)
class FoundNotebook:
    """The notebook that counts for a lab: its file's name, its cells, and how many answers are not the starter's."""

    file: str
    cells: tuple[HandedCell, ...]
    answered: int


@dataclass(frozen=True)
class Recognised:
    """What a student handed in for which lab. `notes` are for student and instructor alike, a line each."""

    notebooks: Mapping[str, FoundNotebook]
    simpleperf: Member | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Candidate:
    lab: KitLab
    member: Member
    cells: tuple[HandedCell, ...]
    answered: int
    known: int

    @property
    def rank(self) -> tuple[int, int, float, str]:
        return self.answered, self.known, self.member.modified_s, self.member.name


def recognise(submission: Submission, kit: Kit) -> Recognised:
    """Looks through all files of a submission. Whatever is wrong with one of them is a note, and nothing else."""
    notes = list(submission.notes)
    candidates: dict[str, list[_Candidate]] = {}
    for member in submission.files:
        if not member.parts[-1].casefold().endswith((".ipynb", ".ipynb.json", ".ipynb.txt")):
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
            notebooks[lab] = _fullest(candidates[lab], notes)
    simpleperf = _simpleperf(submission.files, kit, notes)
    if not notebooks and simpleperf is None:
        notes.append("no notebook of a lab and no simpleperf was found")
    return Recognised(notebooks, simpleperf, tuple(notes))


def lab_of(cells: Iterable[HandedCell], kit: Kit) -> KitLab | None:
    """The lab that a notebook's cells are of: several labs have a ``check-rtt``, but no two have the same cells."""
    keys = {key for cell in cells for key in (cell.key, cell.grade_id) if key}
    scores = sorted(
        ((len(keys & lab.marked), len(keys & lab.all_ids), name) for name, lab in kit.labs.items()), reverse=True
    )
    if not scores or scores[0][0] == 0 or (len(scores) > 1 and scores[0][:2] == scores[1][:2]):
        return None
    return kit.labs[scores[0][2]]


def answered(lab: KitLab, cells: Iterable[HandedCell]) -> int:
    """How many answers and free texts are no longer what students start with."""
    texts = {cell.key: cell.source.strip() for cell in reversed(list(cells))}
    return sum(
        part.cell_id in texts and texts[part.cell_id] not in ("", TEXT_STUB, part.starter.strip())
        for part in lab.parts
        if part.role in ("answer", "free text")
    )


def _candidate(member: Member, kit: Kit) -> _Candidate:
    cells = read_handed(member.path)
    if not cells:
        raise NotebookError("is a notebook without cells")
    lab = lab_of(cells, kit)
    if lab is None:
        raise NotebookError("is a notebook, but none of these labs: its cells have other names")
    cells = named(cells, {part.cell_id: part.starter for part in lab.parts})
    known = len({cell.key for cell in cells} & lab.all_ids)
    return _Candidate(lab, member, cells, answered(lab, cells), known)


def _fullest(candidates: list[_Candidate], notes: list[str]) -> FoundNotebook:
    best = max(candidates, key=lambda candidate: candidate.rank)
    if len(candidates) > 1:
        others = listed(each.member.name for each in candidates if each is not best)
        notes.append(f"{best.lab.name} came more than once: {best.member.name} counts, the fullest, and not {others}")
    return FoundNotebook(best.member.name, best.cells, best.answered)


def _simpleperf(files: Iterable[Member], kit: Kit, notes: list[str]) -> Member | None:
    programs = [member for member in files if member.parts[-1].casefold().endswith((".py", ".py.txt"))]
    called = [member for member in programs if _NAMED.fullmatch(member.parts[-1].removesuffix(".txt"))]
    fit = [member for member in called or programs if _fits(member, notes, is_named=bool(called))]
    if not fit:
        return None
    starter = kit.simpleperf_starter.split()
    best = max(fit, key=lambda member: (_source(member).split() != starter, member.modified_s, member.name))
    if len(fit) > 1:
        others = listed(member.name for member in fit if member is not best)
        notes.append(
            f"{SIMPLEPERF} came more than once: {best.name} counts, the newest that is written, and not {others}"
        )
    elif best.parts[-1] != SIMPLEPERF:
        notes.append(f"{best.name} was taken for {SIMPLEPERF}")
    unused = [member.name for member in programs if member not in fit]
    if unused:
        notes.append(f"other programs are not used: {listed(unused)}; {SIMPLEPERF} stands alone")
    return best


def _fits(member: Member, notes: list[str], *, is_named: bool) -> bool:
    size = member.path.stat().st_size
    if size == 0 or size > LARGEST_PROGRAM_BYTES:
        if is_named:
            notes.append(
                f"{member.name} {'is empty' if not size else f'has {size / 1e6:.1f} MB, too many to be graded'}"
            )
        return False
    return is_named or is_simpleperf(_source(member))


def is_simpleperf(source: str) -> bool:
    """Whether a program is one by its content: it reads arguments, -s and -c among them, and uses sockets."""
    try:
        tree = ast.parse(source)
        nodes = list(ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    modules: set[str] = set()
    texts: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 100:
            texts.add(node.value)
    short = "".join(text for text in texts if "getopt" in modules)
    flags = all(f"-{flag}" in texts or flag in short for flag in "sc")
    return flags and "socket" in modules and bool(modules & set(_READERS))


def _source(member: Member) -> str:
    return member.path.read_bytes().decode(errors="replace")
