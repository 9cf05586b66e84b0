"""Read an executed notebook as a part of the portfolio: facts, graded cells, and sections without instructions."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Any, Final

from markupsafe import Markup as Safe

from linklab import __version__, record
from linklab.grade.check import checks_in, surprises_in
from linklab.notebooks.regions import MARKERS
from linklab.report import outputs
from linklab.report.model import (
    Code,
    Facts,
    FreeText,
    Graded,
    Item,
    Kind,
    LabRecord,
    Section,
    ShownImage,
    Status,
)
from linklab.report.safe_html import from_markdown, headings, question_of


def lab_of(book: Any, file: str, saved_at: datetime.datetime) -> LabRecord:
    """Return what a notebook says. ``file`` is its name and ``saved_at`` its date."""
    code = [cell for cell in book.cells if cell.cell_type == "code" and cell.source.strip()]
    executed = sum(cell.get("execution_count") is not None or bool(cell.get("outputs")) for cell in code)
    facts = facts_of(book, saved_at)
    title, sections, marks = _contents(book, file)
    drawings = [it for section in sections for it in section.items if isinstance(it, ShownImage) and it.is_network]
    network = drawings[-1] if drawings else None
    left = len(code) - executed
    notes = [
        _out_of_order(book),
        _other_version(facts),
        f"{left} of {len(code)} cells {'was' if left == 1 else 'were'} not run." if left and executed else "",
        _stopped(code),
    ]
    return LabRecord(
        file=file,
        title=title,
        facts=facts,
        cells=len(code),
        executed=executed,
        graded=marks,
        network=network,
        sections=tuple(_each_image_once(sections, network)),
        notes=tuple(note for note in notes if note),
    )


# --- When, with which Linklab, in what kind of lab, and whether in order


_TOOLS: Final = ("python", "mininet", "iperf3", "ping", "iproute2")


def facts_of(book: Any, saved_at: datetime.datetime) -> Facts:
    """Return what `linklab run` notes in a notebook, else what labs and checks kept in their cells' outputs.

    ``saved_at`` is the file's date, the latest at which it can have been run.
    """
    noted = book.metadata.get("linklab")
    told: dict[str, Any] = {}
    for mime in (record.RESULT_MIME, record.LAB_MIME):
        for cell in book.cells:
            for data in _kept(cell, mime):
                told |= data
    if isinstance(noted, dict):
        told |= noted
    language = book.metadata.get("language_info")
    if isinstance(language, dict):
        told.setdefault("python", language.get("version"))
    words = {name: value[:200] for name, value in told.items() if isinstance(value, str)}
    when = words.get("run_at") or _executed_at(book)
    tools = tuple((name, words[name]) for name in _TOOLS if words.get(name))
    known = {name: words.get(name, "") for name in ("linklab", "kind", "kernel")}
    return Facts(run_at=_date(when) or f"until {_shown(saved_at)}", tools=tools, **known)


def _kept(cell: Any, mime: str) -> list[dict[str, Any]]:
    """Return all data of one type among a cell's outputs, in order."""
    found = [output.get("data", {}).get(mime) for output in cell.get("outputs", [])]
    return [data for data in found if isinstance(data, dict)]


def _executed_at(book: Any) -> str:
    """Return the latest time that Jupyter noted for a cell, which it does only where it is told to."""
    timings = [cell.metadata.get("execution") for cell in book.cells]
    times = [at for timing in timings if isinstance(timing, dict) for at in timing.values() if isinstance(at, str)]
    return max(times, default="")


def _date(words: str) -> str:
    try:
        return _shown(datetime.datetime.fromisoformat(words))
    except ValueError:
        return ""


def _shown(at: datetime.datetime) -> str:
    return at.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _out_of_order(book: Any) -> str:
    """Return a sentence if the cells were not run from top to bottom, each at most once; else nothing.

    The list of what is done is left out: its cell is run again to see what is written.
    """
    latest, before = 0, ""
    for cell in book.cells:
        count = cell.get("execution_count")
        is_list = any(record.PROGRESS_MIME in output.get("data", {}) for output in cell.get("outputs", []))
        if not isinstance(count, int) or is_list:
            continue
        name = cell.get("id", "without id")
        if count <= latest:
            return (
                f"Not run from top to bottom: cell {name} ran as number {count}, before {before} above it "
                f"(number {latest}). What it shows may rest on something else than what stands above it."
            )
        latest, before = count, name
    return ""


def _other_version(facts: Facts) -> str:
    if facts.linklab in ("", __version__):
        return ""
    return (
        f"Run with Linklab {facts.linklab}; this report is made by {__version__}. Checks may have changed in between."
    )


def _stopped(code: list[Any]) -> str:
    """Return a sentence on cells that raised an error; graded ones and those tagged raises-exception are left out."""
    names = [
        str(cell.get("id", "without id"))
        for cell in code
        if any(output.output_type == "error" for output in cell.outputs)
        and "raises-exception" not in cell.metadata.get("tags", [])
        and not nbgrader(cell).get("grade")
    ]
    return f"Stopped with an error: cell {', '.join(names)}." if names else ""


# --- Graded cells


_LARGEST: Final = 1e12
_SURPRISES_AT_MOST: Final = 50


def kind_of(cell: Any) -> Kind | None:
    """Return what a graded cell is; None for all others."""
    told = nbgrader(cell)
    if not told.get("grade"):
        return None
    return "free text" if cell.cell_type == "markdown" and told.get("solution") else "check"


def nbgrader(cell: Any) -> dict[str, Any]:
    """Return what the cell says of its part in the grading; nothing where it has none."""
    told = cell.metadata.get("nbgrader")
    return told if isinstance(told, dict) else {}


def graded(cell: Any) -> Graded:
    """Return a graded cell as it is now."""
    worth = nbgrader(cell).get("points")
    max_points = float(worth) if isinstance(worth, int | float) and 0 <= worth <= _LARGEST else 0.0
    name = str(cell.get("id") or nbgrader(cell).get("grade_id") or "without name")
    if kind_of(cell) == "free text":
        title = name.removeprefix("reflect-").replace("-", " ")
        return Graded(name, "free text", title, "answered" if is_answered(cell) else "not answered", 0.0, max_points)
    return _check(cell, name, max_points)


def is_answered(cell: Any) -> bool:
    """Return True if something else than the students' stub stands in a free text."""
    text = cell.source.strip()
    return bool(text) and text != record.TEXT_STUB


def _check(cell: Any, name: str, max_points: float) -> Graded:
    results = _kept(cell, record.RESULT_MIME)
    checks = tuple(check for result in results for check in checks_in(result))
    errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
    other = [error for error in errors if not checks or error.ename != "GradeError"]
    trouble = f"{other[-1].ename}: {other[-1].evalue}" if other else ""
    outcomes = {check.outcome for check in checks}
    status: Status
    if trouble or "failed" in outcomes or (errors and "inconclusive" not in outcomes):
        status = "failed"
    elif "inconclusive" in outcomes:
        status = "inconclusive"
    elif checks:
        status = "passed"
    else:
        status = "no result" if cell.get("outputs") or cell.get("execution_count") is not None else "not run"
    title = (record.text(results[0], "title") if results else "") or name.removeprefix("check-").replace("-", " ")
    points = max_points if status == "passed" else 0.0
    surprises = [surprise for result in results for surprise in surprises_in(result)]
    return Graded(
        name, "check", title, status, points, max_points, checks, trouble, tuple(surprises[:_SURPRISES_AT_MOST])
    )


# --- Sections


_ADDED: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}|[a-z]+-[a-z]+-[a-z]+-[0-9]")
"""Cells of a lab have names; these are the ids that Jupyter gives to those which are added."""


def _contents(book: Any, fallback_title: str) -> tuple[str, list[Section], tuple[Graded, ...]]:
    """Return a notebook's title (its first heading), its sections, and all graded cells."""
    title, question = "", ""
    marks: list[Graded] = []
    sections: list[tuple[str, list[Item]]] = [("", [])]
    for cell in book.cells:
        if cell.cell_type == "markdown" and kind_of(cell) is None:
            for level, words in headings(cell.source):
                if level == 1 and not title:
                    title = words
                elif level <= 2:
                    sections.append((words, []))
            question = question_of(cell.source)
            if _ADDED.fullmatch(cell.get("id", "")) and cell.source.strip():
                own = Safe('<div class="own"><p class="label">Note</p>{}</div>').format(_written(cell))
                sections[-1][1].append(own)
        elif cell.cell_type in ("code", "markdown"):
            where = f"in {sections[-1][0] or title or fallback_title!r}"
            mark = graded(cell) if kind_of(cell) else None
            sections[-1][1].extend(_items(cell, mark, question, where))
            marks += [mark] if mark else []
            question = "" if cell.cell_type == "markdown" else question
    return title or fallback_title, [Section(words, tuple(items)) for words, items in sections], tuple(marks)


def _items(cell: Any, mark: Graded | None, question: str, where: str) -> Iterator[Item]:
    if cell.cell_type == "markdown":
        if mark:
            yield FreeText(mark, from_markdown(question), _written(cell) if is_answered(cell) else None)
        return
    if mark is not None:
        yield mark
    elif nbgrader(cell).get("solution"):
        # an instructor's notebook as a student would have written it
        rows = [row for row in cell.source.split("\n") if row.strip() not in MARKERS]
        yield Code(str(cell.get("id", "answer")), "\n".join(rows))
    yield from outputs.items(cell.get("outputs", []), where, graded=mark is not None)


def _written(cell: Any) -> Safe:
    return from_markdown(cell.source, outputs.attached(cell.get("attachments")))


def _each_image_once(sections: list[Section], network: ShownImage | None) -> Iterator[Section]:
    """Yield sections that show something; the same image once, the network's last drawing nowhere."""
    seen = {network.address} if network else set()
    for section in sections:
        items: list[Item] = []
        for item in section.items:
            if isinstance(item, ShownImage) and item.address in seen:
                continue
            if isinstance(item, ShownImage):
                seen.add(item.address)
            items.append(item)
        if items:
            yield Section(section.title, tuple(items))
