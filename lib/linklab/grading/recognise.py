"""Find in a student's files the notebook of each lab, the programs of labs, and the modules that these import.

Cells say which lab a notebook is of, whatever the file is called; a program is known by its name. Of all other files
only modules travel to the judge that these import from the same submission: single, plain Python files, as many and as
large as the check at home takes.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import packages_distributions
from typing import Final

from linklab.grading.kit import SIMPLEPERF, Kit, KitLab
from linklab.grading.names import listed
from linklab.grading.submissions import Submission, is_notebook, is_program, original_name
from linklab.grading.submitted_notebook import NotebookError, SubmittedCell, named, read_submitted
from linklab.grading.unpack import Member
from linklab.notebooks.render import TEXT_STUB

LARGEST_PROGRAM_BYTES: Final = 500_000
LARGEST_HELPER_BYTES: Final = 200_000
MOST_HELPERS: Final = 29
"""As many as the check of simpleperf copies at home, next to the program itself."""
_MAGIC: Final = re.compile(r"(?P<indent>\s*)(?:%run\s+(?:-\w\s+)*(?P<module>\w+)(?:\.py)?\b|[%!?])")
"""A line of IPython's; with the module's name where it runs a file."""


@dataclass(frozen=True)
class FoundNotebook:
    """The notebook that counts for a lab: its file's name, its cells, and how many answers are not the starter's.

    ``helpers`` are the modules that its answers and added cells import, by the file's name that an import looks for.
    """

    file: str
    cells: tuple[SubmittedCell, ...]
    answered: int
    helpers: Mapping[str, Member] = field(default_factory=dict)


@dataclass(frozen=True)
class Recognised:
    """What a student handed in for which lab. `notes` are for student and instructor alike, a line each.

    ``programs`` are those of labs, simpleperf among them, by the names that they must have, with the modules that they
    import.
    """

    notebooks: Mapping[str, FoundNotebook]
    programs: Mapping[str, Member]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Candidate:
    lab: KitLab
    member: Member
    cells: tuple[SubmittedCell, ...]
    answered: int
    known: int

    @property
    def rank(self) -> tuple[int, float, int, int, str]:
        modified_s, copy, name = _age(self.member)
        return self.answered, modified_s, copy, self.known, name


def recognise(submission: Submission, kit: Kit) -> Recognised:
    """Looks through all files of a submission. Whatever is wrong with one of them is a note, and nothing else."""
    notes = list(submission.notes)
    candidates: dict[str, list[_Candidate]] = {}
    for member in submission.files:
        if not is_notebook(member.parts[-1]):
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
            written = _written(kit.labs[lab], best.cells)
            found = FoundNotebook(best.member.name, best.cells, best.answered)
            notebooks[lab] = replace(found, helpers=_helpers(best.member, written, submission.files, notes))
    programs = _programs_of_labs(submission.files, kit, notes)
    if not notebooks and not programs:
        notes.append("no notebook of a lab and no program of one was found")
    used = [*programs.values(), *(one for each in notebooks.values() for one in each.helpers.values())]
    unused = [
        member.name
        for member in _programs(submission.files)
        if member not in used and _called(member).casefold() not in kit.starters
    ]
    if unused:
        missing = " or ".join(name for name in kit.starters if name not in programs)
        mend = f"; the program of a lab must be called {missing}" if SIMPLEPERF in missing else ""
        notes.append(f"other programs are not used: {listed(unused)}; nothing that counts imports them{mend}")
    return Recognised(notebooks, programs, tuple(dict.fromkeys(notes)))


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


def _candidate(member: Member, kit: Kit) -> _Candidate:
    cells = read_submitted(member.path)
    if not cells:
        raise NotebookError("is a notebook without cells")
    lab = lab_of(cells, kit)
    if lab is None:
        raise NotebookError("is a notebook, but none of these labs: its cells have other names")
    cells = named(cells, {part.cell_id: part.starter for part in lab.parts})
    known = len({cell.key for cell in cells} & lab.all_ids)
    return _Candidate(lab, member, cells, answered(lab, cells), known)


def _fullest(candidates: list[_Candidate], notes: list[str]) -> _Candidate:
    best = max(candidates, key=lambda candidate: candidate.rank)
    if len(candidates) > 1:
        others = listed(each.member.name for each in candidates if each is not best)
        alike = sum(each.answered == best.answered for each in candidates) > 1
        why = "the newest of the fullest" if alike else "the fullest"
        notes.append(f"{best.lab.name} came more than once: {best.member.name} counts, {why}, and not {others}")
    return best


def _written(lab: KitLab, cells: Iterable[SubmittedCell]) -> list[str]:
    """The code that is the student's own: answers, and cells that were added."""
    given = {part.cell_id for part in lab.parts if part.role != "answer"}
    return [cell.source for cell in cells if cell.cell_type == "code" and cell.key not in given]


def _helpers(importer: Member, sources: Iterable[str], files: Iterable[Member], notes: list[str]) -> dict[str, Member]:
    """The modules of the submission that some code imports, and those that these import, by their files' names.

    The file next to the one that imports it counts, and otherwise the nearest; but in place of a module that Python
    finds anyway only one beside the importer, as at home.
    """
    found: dict[str, Member] = {}
    waiting = [(importer, module) for source in sources for module in imported(source)]
    programs = list(_programs(files))
    while waiting:
        at, module = waiting.pop(0)
        file, near = f"{module}.py", programs
        if module in sys.stdlib_module_names or module in _installed():
            beside = (importer.parts[:-1], (*importer.parts[:-1], module))
            near = [it for it in programs if it.parts[:-1] in beside]
        same = [it for it in near if _called(it) == file and it not in (at, importer)]
        if not same and any(it.parts[-2:] == (module, "__init__.py") for it in near):
            notes.append(f"{importer.name} imports {module}, a folder: only single files are handed over")
        if file in found or file == SIMPLEPERF or not same:
            continue
        member = max(same, key=lambda it: (_shared(it.parts[:-1], at.parts[:-1]), _age(it)))
        if len(found) == MOST_HELPERS or member.path.stat().st_size > LARGEST_HELPER_BYTES:
            bound = f"{MOST_HELPERS} modules of {LARGEST_HELPER_BYTES // 1000} kB each are the most"
            notes.append(f"{member.name} was not handed over with {importer.name}: {bound}")
            continue
        found[file] = member
        waiting += [(member, module) for module in imported(_source(member))]
    if found:
        names = listed((member.name for member in found.values()), MOST_HELPERS)
        notes.append(f"handed over with {importer.name}, which imports them: {names}")
    return found


@cache
def _installed() -> frozenset[str]:
    """The names that installed packages are imported by."""
    return frozenset(packages_distributions())


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[bool, int]:
    """How near two folders are: whether they are the same, and how many they have in common from the top."""
    common = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return one == other, len(list(common))


def imported(source: str) -> list[str]:
    """The modules and packages that a program or a notebook's cell imports or has IPython run.

    What is no Python imports nothing: it does not run either.
    """
    lines, run = [], []
    for line in source.split("\n"):
        magic = _MAGIC.match(line)
        if magic:
            run += [magic["module"]] if magic["module"] else []
            line = f"{magic['indent']}pass"
        lines.append(line)
    try:
        nodes = list(ast.walk(ast.parse("\n".join(lines))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    found += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    modules = dict.fromkeys(name.partition(".")[0] for name in (*found, *run))
    return [module for module in modules if module != "linklab"]


def _programs(files: Iterable[Member]) -> Iterator[Member]:
    return (member for member in files if is_program(member.parts[-1]))


def _called(program: Member) -> str:
    """What a program was called before it was saved as a text, or as a copy."""
    name, _ = original_name(program.parts[-1])
    return original_name(name.removesuffix(".txt"))[0]


def _age(member: Member) -> tuple[float, int, str]:
    """By which the later of two files is known: of those of one time, the copy."""
    return member.modified_s, original_name(member.parts[-1])[1], member.name


def _programs_of_labs(files: Iterable[Member], kit: Kit, notes: list[str]) -> dict[str, Member]:
    """The programs of labs, and the modules that they import; of two files of one name simpleperf's counts."""
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
            found = _helpers(best, [_source(best)], files, notes) | {name: best} | found
    return found


def _fits(member: Member, notes: list[str]) -> bool:
    size = member.path.stat().st_size
    if 0 < size <= LARGEST_PROGRAM_BYTES:
        return True
    notes.append(f"{member.name} {'is empty' if not size else f'has {size / 1e6:.1f} MB, too many to be graded'}")
    return False


def _source(member: Member) -> str:
    return member.path.read_bytes().decode(errors="replace")
