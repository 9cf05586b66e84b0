"""Makes the pages of a graded class: one for each student, and two for the instructor. Pure but for templates.

Like the portfolio (`linklab.report.page`), each needs no other file, no network, and (but for the table of questions)
no script. Jinja escapes whatever the templates put out, students' names first of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup as Safe

from linklab.grade import calibration
from linklab.grading import overview
from linklab.grading.grades import ClassGrade, StudentGrade
from linklab.grading.kit import KitLab
from linklab.grading.verdict import Verdict
from linklab.network.traces import Bound
from linklab.report.model import Facts, FreeText, Graded, Item, LabRecord
from linklab.report.page import SORTING, encodable, environment, script_of, style
from linklab.report.safe_html import question_of

_FOLDER: Final = Path(__file__).parent
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, and what turns the direction of text around: a page may be looked at in either."""


@dataclass(frozen=True)
class _Lab:
    name: str
    title: str
    max_points: float
    verdict: Verdict
    record: LabRecord | None


def feedback(grade: StudentGrade, grades: ClassGrade, records: Mapping[str, LabRecord]) -> str:
    """Return a student's page. ``records`` are the judged notebooks, by lab.

    The verdicts in ``grade`` count, not what the notebooks say. A lab without a record shows its verdict alone.
    """
    labs = []
    for name, lab in grades.labs.items():
        verdict, record = grade.labs[name], records.get(name)
        if verdict.cells:
            record = with_verdicts(record, verdict) if record else _of_verdict(lab.title, verdict)
        labs.append(_Lab(name, lab.title, lab.max_points, verdict, record))
    return _rendered(
        "feedback.jinja", grade=grade, labs=labs, max_points=grades.max_points, made_at=grades.made_at,
        linklab=grades.linklab, css=style(),
    )  # fmt: skip


def _of_verdict(title: str, verdict: Verdict) -> LabRecord:
    """Return the record of a notebook that cannot be shown: its verdict alone."""
    return LabRecord(f"{verdict.lab}.ipynb", title, Facts(), 0, 0, verdict.cells, None, ())


def load_templates(labs: Iterable[KitLab]) -> None:
    """Load all templates of a student's page, and read the labs' texts, so that processes that are forked have them."""
    for lab in labs:
        for part in lab.parts:
            if part.cell_type == "markdown":
                question_of(part.starter)
    feedback(StudentGrade("", "", "", {}), ClassGrade("", "", {}, ()), {})


def with_verdicts(record: LabRecord, verdict: Verdict) -> LabRecord:
    """Return a notebook's record with the judge's verdicts in place of whatever its outputs say."""
    cells = {cell.cell_id: cell for cell in verdict.cells}
    sections = tuple(
        replace(section, items=tuple(_with_verdict(item, cells) for item in section.items if _counts(item, cells)))
        for section in record.sections
    )
    return replace(record, graded=verdict.cells, sections=sections)


def _counts(item: Item, cells: Mapping[str, Graded]) -> bool:
    """Return False for a graded cell that is none of the lab's, which is not shown as one."""
    return not isinstance(item, Graded) or item.cell_id in cells


def _with_verdict(item: Item, cells: Mapping[str, Graded]) -> Item:
    if isinstance(item, Graded):
        return cells[item.cell_id]
    if isinstance(item, FreeText) and item.graded.cell_id in cells:
        return replace(item, graded=cells[item.graded.cell_id])
    return item


def class_page(grades: ClassGrade) -> str:
    """Return the instructor's page."""
    css = style() + Safe((_FOLDER / "class.css").read_text("utf-8"))
    return _rendered(
        "class.jinja",
        grades=grades,
        labs=overview.lab_counts(grades),
        bands=overview.BANDS,
        slowest=overview.slowest(grades),
        inconclusive=list(overview.inconclusive(grades)),
        ended=list(overview.ended_early(grades)),
        tried=list(overview.tried(grades)),
        notes=list(overview.notes(grades)),
        css=css,
    )


def questions_page(grades: ClassGrade, table: Sequence[Sequence[str]]) -> str:
    """Return the page of all checks and questions, which sorts and filters by a script of its own."""
    css = style() + Safe((_FOLDER / "class.css").read_text("utf-8"))
    script, script_hash = script_of(SORTING, _FOLDER / "questions.js")
    said = {
        lab.title.partition(":")[0]: [
            surprise for one in grades.students for cell in one.labs[name].cells for surprise in cell.surprises
        ]
        for name, lab in grades.labs.items()
    }
    return _rendered(
        "questions.jinja",
        grades=grades,
        headings=table[0],
        rows=table[1:],
        calibration=calibration.of_labs({name: rows for name, rows in said.items() if rows}),
        script=script,
        script_hash=script_hash,
        css=css,
    )


def leaderboard(rows: Sequence[object], traces: Sequence[tuple[str, Bound]], seconds: float, linklab: str) -> str:
    """Return a contest's page: its rows in order (`linklab.grading.contest`), and each trace with its bound."""
    css = style() + Safe((_FOLDER / "class.css").read_text("utf-8"))
    return _rendered("leaderboard.jinja", rows=rows, traces=traces, seconds=seconds, linklab=linklab, css=css)


def _rendered(template: str, **data: Any) -> str:
    text = encodable(environment(_FOLDER).get_template(template).render(**data))
    return _CONTROLS.sub("\ufffd", text)
