"""Reads what one student handed in, without trust, and lays the work for each lab where a judge finds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from linklab.course import FILE, file_differs_from, variant_text
from linklab.grading.assemble import Assembled, assemble
from linklab.grading.kit import SIMPLEPERF, Kit, KitLab
from linklab.grading.names import folder_of, listed
from linklab.grading.recognise import Recognised, recognise
from linklab.grading.submissions import Submission
from linklab.grading.verdict import Limits, Verdict
from linklab.grading.work import Rejudge, Work, prepare
from linklab.network import COURSE, Network

_LARGEST_VARIANT_BYTES: Final = 100_000


@dataclass(frozen=True)
class Order:
    """What to grade: which labs, on whose network, within which limits.

    ``students`` is the list of students, with the other names of each; without one, everybody who handed something in
    is graded. ``networks`` are the students' own, by id. If ``only`` names students, all of their work is judged again,
    and the others keep their verdicts. ``pattern`` says whose a path in a download is, where no platform's pattern does
    (`collect`).
    """

    kit: Kit
    labs: Sequence[str]
    students: Mapping[str, Sequence[str]] | None = None
    networks: Mapping[str, Network] | None = None
    limits: Limits = field(default_factory=Limits)
    only: Sequence[str] = ()
    pattern: str = ""

    def wants(self, student: str) -> bool:
        """Return whether to judge a student's notebooks now."""
        return not self.only or student in self.only

    def rejudge(self, student: str) -> Rejudge:
        """Return which of a student's notebooks to judge that have a verdict already."""
        if not self.only:
            return "changed"
        return "always" if student in self.only else "never"

    def network_of(self, student: str) -> Network:
        """Return the network that a student's labs run on."""
        return COURSE if self.networks is None else self.networks[student]


@dataclass
class StudentWork:
    """A student of the class, with the work for each lab.

    ``programs`` are those that the kit has starters for. ``notes`` are for the student too. ``unread`` is the reason if
    nothing could be read. ``known_as`` are the student's numbers on learning platforms. ``left_aside`` are
    the notes on what cannot be graded.
    """

    student: str
    works: dict[str, Work] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    handed_in: bool = True
    notes: tuple[str, ...] = ()
    known_as: tuple[tuple[str, str], ...] = ()
    left_aside: tuple[str, ...] = ()
    unread: str = ""


def read_student(one: Submission, order: Order, judged: Path, begun_at: str) -> StudentWork:
    """Lay a student's work for each lab below the folder ``judged``, and return it, with verdicts that still count.

    Call it in a process of its own (`linklab.grading.bounded`): the files may be anything. Raises OSError.
    """
    found = recognise(one, order.kit)
    network = order.network_of(one.student)
    notes = (*found.notes, *_about_network(one, network))
    programs = {
        name: member.path.read_bytes().decode(errors="replace")
        for name, member in found.programs.items()
        if name in order.kit.starters
    }
    student = StudentWork(
        one.student, programs=programs, notes=notes, known_as=one.known_as, left_aside=found.left_aside
    )
    variant = "" if order.networks is None else variant_text(network)
    for name in order.labs:
        lab = order.kit.labs[name]
        assembled = _assembled(lab, found)
        if assembled is None:
            continue
        files, about_files = _files_beside(lab, found)
        tries = {cell: 1 + max(map(len, wrong.values())) for cell, wrong in assembled.tried_wrong.items()}
        draft = Verdict(
            name, network=network.name, notes=(*assembled.notes, *about_files), tries=tries, begun_at=begun_at,
            limits=order.limits,
        )  # fmt: skip
        folder = judged / folder_of(one.student) / name
        answers, texts = assembled.answers, assembled.free_texts
        work = Work(one.student, lab.worth, draft, variant, folder, answers=answers, free_texts=texts)
        student.works[name] = prepare(work, assembled.text, files, order.rejudge(one.student))
    return student


def _assembled(lab: KitLab, found: Recognised) -> Assembled | None:
    """Return the instructor's notebook with the student's answers; None where nothing was handed in for the lab."""
    notebook = found.notebooks.get(lab.name)
    if notebook is not None:
        return assemble(lab, notebook.cells)
    if lab.is_of_a_program and SIMPLEPERF in found.programs:
        return Assembled(assemble(lab, ()).text, {}, {}, ())
    return None


def _files_beside(lab: KitLab, found: Recognised) -> tuple[dict[str, bytes], list[str]]:
    """Return what lies beside the notebook when it is judged, by name, and notes on it."""
    notebook, notes = found.notebooks.get(lab.name), []
    if lab.is_of_a_program and notebook is None:
        notes.append(f"only {SIMPLEPERF} was handed in for this lab, and no notebook")
    elif lab.is_of_a_program and SIMPLEPERF not in found.programs:
        notes.append(f"no {SIMPLEPERF} was handed in with this notebook")
    helpers = notebook.helpers if notebook else {}
    if two := [file for file, member in helpers.items() if found.programs.get(file, member) != member]:
        notes.append(f"{listed(two)}: another file of that name lies beside simpleperf, and was not handed over")
    return {file: member.path.read_bytes() for file, member in {**found.programs, **helpers}.items()}, notes


def _about_network(one: Submission, network: Network) -> Iterator[str]:
    """Yield a line if the work was made for another network than the student's."""
    files = [member for member in one.files if member.parts[-1] == FILE]
    for member in files[:1]:
        if member.path.stat().st_size > _LARGEST_VARIANT_BYTES:
            continue
        if trouble := file_differs_from(network, member.path):
            yield f"{trouble}: the labs were run on {network.name}"
