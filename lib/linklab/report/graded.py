"""The graded cells of a notebook: checks, with what they kept, and free texts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final, get_args

from linklab.grade.check import Check, Outcome, Surprise
from linklab.notebooks.render import TEXT_STUB
from linklab.record import RESULT_MIME
from linklab.report.model import Graded, Kind, Status

_LARGEST: Final = 1e12
_SURPRISES_AT_MOST: Final = 50
_CHARACTERS_AT_MOST: Final = 300
_OUTCOMES: Final = get_args(Outcome)


def kind_of(cell: Any) -> Kind | None:
    """What a graded cell is; None for all others."""
    told = nbgrader(cell)
    if not told.get("grade"):
        return None
    return "free text" if cell.cell_type == "markdown" and told.get("solution") else "check"


def nbgrader(cell: Any) -> dict[str, Any]:
    """What the cell says of its part in the grading; nothing where it has none."""
    told = cell.metadata.get("nbgrader")
    return told if isinstance(told, dict) else {}


def graded(cell: Any) -> Graded:
    """A graded cell as it is now."""
    worth = nbgrader(cell).get("points")
    max_points = float(worth) if isinstance(worth, int | float) and 0 <= worth <= _LARGEST else 0.0
    name = str(cell.get("id") or nbgrader(cell).get("grade_id") or "without name")
    if kind_of(cell) == "free text":
        title = name.removeprefix("reflect-").replace("-", " ")
        status: Status = "answered" if is_answered(cell) else "not answered"
        return Graded(name, "free text", title, status, 0.0, max_points)
    return _check(cell, name, max_points)


def is_answered(cell: Any) -> bool:
    """Whether something else than the students' stub stands in a free text."""
    text = cell.source.strip()
    return bool(text) and text != TEXT_STUB


def _check(cell: Any, name: str, max_points: float) -> Graded:
    outputs = cell.get("outputs", [])
    results = [it for it in (output.get("data", {}).get(RESULT_MIME) for output in outputs) if isinstance(it, dict)]
    checks = tuple(check for result in results for check in _checks(result))
    errors = [output for output in outputs if output.output_type == "error"]
    title = _text(results[0], "title") if results else ""
    trouble = ""
    for error in errors:
        if not checks or error.ename != "GradeError":
            trouble = f"{error.ename}: {error.evalue}"
    status = _status(checks, bool(errors), ran=bool(outputs) or cell.get("execution_count") is not None)
    if trouble and status != "not run":
        status = "failed"
    points = max_points if status == "passed" else 0.0
    title = title or name.removeprefix("check-").replace("-", " ")
    every = (surprise for result in results for surprise in _surprises(result))
    surprises = tuple(itertools.islice(every, _SURPRISES_AT_MOST))
    return Graded(name, "check", title, status, points, max_points, checks, trouble, surprises)


def _status(checks: tuple[Check, ...], stopped: bool, ran: bool) -> Status:
    outcomes = {check.outcome for check in checks}
    if "failed" in outcomes or (stopped and "inconclusive" not in outcomes):
        return "failed"
    if "inconclusive" in outcomes:
        return "inconclusive"
    if checks:
        return "passed"
    return "no result" if ran else "not run"


def _checks(result: dict[str, Any]) -> list[Check]:
    """The checks of a result's JSON form; what is not of that form is left out, for anybody may have written it."""
    found = []
    entries = result.get("checks")
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and entry.get("outcome") in _OUTCOMES:
            description, reason, hint, expected, seen = (
                _text(entry, name) for name in ("description", "reason", "hint", "expected", "found")
            )
            worth = entry.get("points")
            points = worth if isinstance(worth, int | float) else 0
            found.append(Check(description, entry["outcome"], reason, hint, points, expected, seen))
    return found


def _surprises(result: dict[str, Any]) -> Iterator[Surprise]:
    """The predictions of a result's JSON form; what is not of that form is left out."""
    entries = result.get("surprises")
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            continue
        numbers = [entry.get(name) for name in ("predicted", "sure_percent", "theory")]
        measured = entry.get("measured")
        if all(map(_is_finite, numbers)) and (measured is None or _is_finite(measured)):
            predicted, sure_percent, theory = map(float, numbers)  # type: ignore[arg-type]
            what, unit, said, slip = (_for_a_figure(_text(entry, name)) for name in ("what", "unit", "said", "slip"))
            seen = None if measured is None else float(measured)
            yield Surprise(what, unit, predicted, sure_percent, theory, seen, said, slip)


def _for_a_figure(text: str) -> str:
    """A text that matplotlib can draw: not too long, no halves of characters, and no mathematics."""
    return text[:_CHARACTERS_AT_MOST].encode("utf-8", "replace").decode().replace("$", "")


def _is_finite(number: object) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= _LARGEST


def _text(entry: dict[str, Any], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""
