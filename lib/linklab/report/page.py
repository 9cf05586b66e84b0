"""Render a portfolio as one page of HTML that needs no other file, no network and no script.

Jinja escapes everything that the templates put out, except HTML that `linklab.report.safe_html` has cleaned. The page's
content security policy forbids all scripts, and everything that would be loaded from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup as Safe

from linklab.grade import calibration
from linklab.grade.check import Surprise, counted
from linklab.grade.render import first_reason, surprises_figure
from linklab.report.model import Facts, Graded, LabRecord, Portfolio, Status

_FOLDER: Final = Path(__file__).parent
_TOKENS = _FOLDER.parent / "show" / "tokens.css"
_SIGNS: Final[dict[Status, str]] = {
    "passed": "\u2713",
    "failed": "\u2717",
    "inconclusive": "?",
    "not run": "\u2013",
    "no result": "\u2013",
    "answered": "\u270e",
    "not answered": "\u2013",
}
_NO_RESULT: Final = (
    "This cell was run, but the notebook holds no result. Run it again with the current version of Linklab."
)
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_SHORT_ALT_CHARACTERS: Final = 300
"""A longer description of a picture is also shown below it."""


def page(portfolio: Portfolio) -> str:
    """Return the whole file as text."""
    text = environment().get_template("page.jinja").render(
        portfolio=portfolio,
        css=style(),
        conditions=_conditions(portfolio),
        unfinished=[(lab.title, found) for lab in portfolio.labs if (found := unfinished(lab))],
        surprising=[(lab.title, off) for lab in portfolio.labs if (off := _off(lab.surprises))],
        calibration=calibration.of_labs(
            {lab.title.partition(":")[0]: lab.surprises for lab in portfolio.labs if lab.surprises}
        ),
    )  # fmt: skip
    return encodable(text)


def encodable(text: str) -> str:
    """Return text that can be written to a file. JSON can carry lone surrogates, which no encoding can."""
    return _SURROGATES.sub("\ufffd", text)


def style() -> Safe:
    """Return the pages' style sheet, with the colours and measures that Linklab's pages share."""
    return Safe(_TOKENS.read_text("utf-8") + (_FOLDER / "page.css").read_text("utf-8"))


def script_of(*files: Path) -> tuple[Safe, str]:
    """Return files' scripts as one, and what a content security policy calls it by."""
    script = "".join(file.read_text("utf-8") for file in files)
    return Safe(script), f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


SORTING: Final = _FOLDER / "sort.js"
"""Sorts a page's first table by the heading that is clicked; other scripts may call its ``sortRows``."""


def unfinished(lab: LabRecord) -> list[tuple[str, str]]:
    """Return (title, reason) for everything in a notebook that is not finished.

    A notebook that was never executed is one such thing. Else these are: checks that are inconclusive, were not run or
    kept no result, free texts without an answer, and the number of cells that were not run.
    """
    if not lab.executed:
        return [("The notebook", "It was never executed.")]
    found = []
    for cell in lab.graded:
        if reasons := _inconclusive(cell):
            found.append((cell.title, f"Inconclusive: {reasons}"))
        elif cell.status == "not run":
            found.append((cell.title, "This check was not run."))
        elif cell.status == "no result":
            found.append((cell.title, _NO_RESULT))
        elif cell.status == "not answered":
            found.append((f"Free text: {cell.title}", "Nothing was written."))
    if lab.executed < lab.cells:
        found.append(("Cells", f"{lab.cells - lab.executed} of {lab.cells} code cells were not run."))
    return found


def _inconclusive(cell: Graded) -> str:
    """Return the reasons of the cell's inconclusive checks, or an empty string if there is none."""
    return _join_distinct(check.reason for check in cell.checks if check.outcome == "inconclusive")


def _off(surprises: Iterable[Surprise]) -> list[Surprise]:
    """Return the predictions that are more than 5 % off theory, or show a known mistake."""
    return [surprise for surprise in surprises if not surprise.is_right]


def summed_up(surprises: Sequence[Surprise]) -> str:
    """Return how predictions went, in a sentence."""
    off = _off(surprises)
    near = len(surprises) - len(off)
    verb = "was" if len(surprises) == 1 else "were"
    text = f"{near} of {counted(len(surprises), 'prediction')} {verb} within 5 % of theory and showed no known mistake."
    slips = _join_distinct(it.slip for it in off if it.slip)
    return f"{text} Likely mistakes behind the others: {slips}." if slips else text


def _method(lab: LabRecord) -> str:
    """Return how the numbers of an exercise were measured, in sentences."""
    tools = ", ".join(f"{name} {words}" for name, words in lab.facts.tools)
    sentences = [
        f"Measured with Linklab {lab.facts.linklab or '(version not noted)'}, virtual lab: {_kind(lab.facts)}."
    ]
    sentences += [f"Tools: {tools}."] if tools else []
    sentences.append(f"{lab.executed} of {counted(lab.cells, 'code cell')} ran.")
    return " ".join(sentences)


def _limits(lab: LabRecord) -> list[str]:
    """Return what a reader must know before trusting the numbers of an exercise."""
    found = list(lab.notes)
    found.append(
        "In virtual time computing takes no time: the delay that a real host's processor would add is missing."
    )
    found.append("Links are Linux's htb and netem: exact rates and delays, no bit errors, 1514 bytes for a full frame.")
    found += [f"{cell.title} is inconclusive: {why}." for cell in lab.graded if (why := _inconclusive(cell))]
    return found


def _conditions(portfolio: Portfolio) -> list[tuple[str, str]]:
    """Return what all exercises were run with: pairs of a name, and its different values."""
    ran = [lab.facts for lab in portfolio.labs if lab.executed]
    found = [("Virtual labs", _join_distinct(_kind(facts) for facts in ran))]
    found.append(("Linklab", _join_distinct(facts.linklab for facts in ran if facts.linklab) or "not noted"))
    tools: dict[str, list[str]] = {}
    for facts in ran:
        for name, words in facts.tools:
            tools.setdefault(name, []).append(words)
    return found + [(name, _join_distinct(words)) for name, words in tools.items()]


def _kind(facts: Facts) -> str:
    """Return the kind and the kernel of the virtual labs that an exercise ran in, in words."""
    kernel = f"Linux {facts.kernel}" if facts.kernel else ""
    return ", ".join(filter(None, (facts.kind, kernel))) or "not noted"


def _join_distinct(words: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(words))


@cache
def environment(*folders: Path) -> Environment:
    """Return the Jinja environment for the portfolio's templates, and for others in ``folders`` that use their parts.

    It escapes everything except HTML that is marked as safe.
    """
    environment = Environment(
        loader=FileSystemLoader([*folders, _FOLDER]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"points": "{:g}".format, "counted": counted, "first_reason": first_reason}
    environment.filters |= {
        "method": _method,
        "limits": _limits,
        "summed_up": summed_up,
        "surprises_figure": _surprises_figure,
    }
    environment.tests |= {"troubled": _is_troubled}
    environment.globals |= {"signs": _SIGNS, "kind_of_item": lambda item: type(item).__name__}
    environment.globals["short_alt_characters"] = _SHORT_ALT_CHARACTERS
    return environment


def _surprises_figure(surprises: Sequence[Surprise]) -> Safe:
    return Safe(surprises_figure(surprises))


def _is_troubled(cell: Graded) -> bool:
    """Return whether a graded cell stopped with an error, or a check in it did not pass."""
    return bool(cell.trouble) or any(not check.passed for check in cell.checks)
