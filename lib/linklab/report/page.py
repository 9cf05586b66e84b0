"""A portfolio as one page of HTML that needs nothing else: no other file, no network, no script but a replay's.

Jinja escapes everything that the templates put out, but HTML that `linklab.report.safe_html` has cleaned. A content
security policy in the page forbids whatever might still want to run or load. Of replays it lets our own player run,
known by its hash, in a frame that reaches nothing of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup as Safe

from linklab.grade.check import Surprise
from linklab.grade.render import first_reason, surprises_figure
from linklab.report.model import Facts, Graded, LabRecord, Portfolio, Status
from linklab.show.player.page import script_hash

_FOLDER: Final = Path(__file__).parent
_SIGNS: Final[dict[Status, str]] = {
    "passed": "\u2713",
    "failed": "\u2717",
    "inconclusive": "?",
    "not run": "\u2013",
    "no result": "\u2013",
    "answered": "\u270e",
    "not answered": "\u2013",
}
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_SHORT_ALT: Final = 300


def page(portfolio: Portfolio) -> str:
    """Return the whole file as text."""
    text = environment().get_template("page.jinja").render(
        portfolio=portfolio,
        css=style(),
        conditions=_conditions(portfolio),
        unfinished=[(lab.title, found) for lab in portfolio.labs if (found := unfinished(lab))],
        surprising=[(lab.title, off) for lab in portfolio.labs if (off := [*filter(_is_off, lab.surprises)])],
    )  # fmt: skip
    return encodable(text)


def encodable(text: str) -> str:
    """Return text that can be written to a file. JSON can carry halves of characters, which no encoding can."""
    return _SURROGATES.sub("\ufffd", text)


def style() -> Safe:
    """Return the pages' style sheet."""
    return Safe((_FOLDER / "page.css").read_text("utf-8"))


def unfinished(lab: LabRecord) -> list[tuple[str, str]]:
    """Return what is inconclusive, was not run or not answered: what it is, and why."""
    if not lab.executed:
        return [("The notebook", "It was never executed.")]
    found = []
    for mark in lab.graded:
        if reasons := _inconclusive(mark):
            found.append((mark.title, f"Inconclusive: {reasons}"))
        elif mark.status == "not run":
            found.append((mark.title, "This check was not run."))
        elif mark.status == "no result":
            found.append((mark.title, "This cell was run and kept no result: run it again with the present Linklab."))
        elif mark.status == "not answered":
            found.append((f"Free text: {mark.title}", "Nothing was written."))
    if lab.executed < lab.cells:
        found.append(("Cells", f"{lab.cells - lab.executed} of {lab.cells} cells with code were not run."))
    return found


def _inconclusive(mark: Graded) -> str:
    return _each(check.reason for check in mark.checks if check.outcome == "inconclusive")


_CLOSE: Final = 0.05


def _is_off(surprise: Surprise) -> bool:
    """A prediction that was not near theory, or has a mistake behind it that is known."""
    return bool(surprise.slip) or abs(surprise.predicted - surprise.theory) > _CLOSE * abs(surprise.theory)


def summed_up(surprises: Sequence[Surprise]) -> str:
    """Return how predictions went, in a sentence."""
    off = [*filter(_is_off, surprises)]
    near = len(surprises) - len(off)
    text = f"{near} of {_counted(len(surprises), 'prediction')} came near theory, with no known mistake behind."
    slips = _each(it.slip for it in off if it.slip)
    return f"{text} Likely mistakes behind the others: {slips}." if slips else text


def _method(lab: LabRecord) -> str:
    """How a lab was measured, in sentences."""
    tools = ", ".join(f"{name} {words}" for name, words in lab.facts.tools)
    sentences = [f"Measured with Linklab {lab.facts.linklab or '(version not noted)'}, labs: {_kind(lab.facts)}."]
    sentences += [f"Tools: {tools}."] if tools else []
    sentences.append(f"Of {_counted(lab.cells, 'cell')} with code {lab.executed} ran.")
    return " ".join(sentences)


def _limits(lab: LabRecord) -> list[str]:
    """What a reader must know before trusting a lab's numbers."""
    found = list(lab.notes)
    found.append(
        "On virtual time programs compute in no time at all: what a real host's processor would add is not there."
    )
    found.append("Links are Linux's htb and netem: exact rates and delays, no bit errors, 1514 bytes for a full frame.")
    found += [f"{mark.title} is inconclusive: {why}." for mark in lab.graded if (why := _inconclusive(mark))]
    return found


def _conditions(portfolio: Portfolio) -> list[tuple[str, str]]:
    """What the labs were run with, all together: a name, and each different thing once."""
    ran = [lab.facts for lab in portfolio.labs if lab.executed]
    found = [("Labs", _each(_kind(facts) for facts in ran))]
    found.append(("Linklab", _each(facts.linklab for facts in ran if facts.linklab) or "not noted"))
    tools: dict[str, list[str]] = {}
    for facts in ran:
        for name, words in facts.tools:
            tools.setdefault(name, []).append(words)
    return found + [(name, _each(words)) for name, words in tools.items()]


def _kind(facts: Facts) -> str:
    """The kind and the kernel of a lab's labs, in words."""
    kernel = f"Linux {facts.kernel}" if facts.kernel else ""
    return ", ".join(filter(None, (facts.kind, kernel))) or "not noted"


def _each(words: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(words))


@cache
def environment(*folders: Path) -> Environment:
    """Return what renders templates: those of the portfolio, and others in ``folders`` that use their parts.

    It escapes everything but HTML that is safe.
    """
    environment = Environment(
        loader=FileSystemLoader([*folders, _FOLDER]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"points": "{:g}".format, "counted": _counted, "grouped": first_reason}
    environment.filters |= {"method": _method, "limits": _limits, "summed_up": summed_up, "drawn": _drawn}
    environment.tests |= {"troubled": _is_troubled}
    environment.globals |= {"signs": _SIGNS, "kind_of_item": lambda item: type(item).__name__}
    environment.globals |= {"short_alt": _SHORT_ALT, "script_hash": script_hash()}
    return environment


def _drawn(surprises: Sequence[Surprise]) -> Safe:
    return Safe(surprises_figure(surprises))


def _counted(number: float, word: str) -> str:
    return f"{number:g} {word}{'' if number == 1 else 's'}"


def _is_troubled(mark: Graded) -> bool:
    return bool(mark.trouble) or any(not check.passed for check in mark.checks)
