"""What became of a program: the checks of each step, their points, and the causes of what failed; and how it is shown.

First the causes, each with what shows it, what to do and the checks that it explains; then what is open; then the
checks step by step, which refer to the causes by number: as lines for a terminal, and as HTML for a notebook or a page.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from linklab.grade.check import Check, Outcome
from linklab.grade.result import GradeError, Result
from linklab.programs.simpleperf.catalogue import ITEMS
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.show.chart import BLUE, BLUISH_GREEN, VERMILLION

REPORT_VERSION: Final = 2
"""Version of the JSON form, under the key ``linklab_simpleperf``, or whatever program it is about."""

BEFORE: Final = "before"
"""What a check needs that hangs on whatever failed before it: in its own step, or else in the first one."""

SEND: Final = "send the program and this report's JSON (linklab check FILE --json report.json) to who gave you Linklab"


@dataclass(frozen=True)
class ConformanceCheck(Check):
    """A check of a program. ``key`` is its stable name; ``mistake`` the probable mistake, by name.

    On a check that passed, ``mistake`` and ``hint`` are advice that costs no points. ``candidates`` are all mistakes
    that would explain a failed check, the likeliest first; a diagnosis takes its pick, and leaves none. ``quotes`` are
    lines of the program's own that show it. ``needs`` tells on what an inconclusive check hangs: the key of another
    one, a step, or `BEFORE`; empty if on nothing. ``cause`` is the number of the cause in the report that explains a
    failed check, or that an inconclusive one waits for; 0 if there is none.
    """

    key: str = ""
    mistake: str = ""
    candidates: tuple[Mistake, ...] = ()
    quotes: tuple[str, ...] = ()
    needs: str = ""
    cause: int = 0


@dataclass(frozen=True)
class Cause:
    """A mistake that explains failed checks: their keys, lines that the program printed, what was seen, and
    what was expected instead of the first of it.
    """

    mistake: Mistake
    explains: tuple[str, ...]
    quotes: tuple[str, ...]
    reasons: tuple[str, ...]
    expected: str = ""

    @property
    def title(self) -> str:
        """The mistake's name."""
        return self.mistake.title

    @property
    def hint(self) -> str:
        """What to do about it."""
        return self.mistake.hint

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "mistake": self.title,
            "hint": self.hint,
            "explains": list(self.explains),
            "quotes": list(self.quotes),
            "reasons": list(self.reasons),
            "expected": self.expected,
        }


@dataclass(frozen=True)
class Broken:
    """A step whose judge crashed, or "" if it was the search for causes: no fault of the program. ``error`` says in one
    line what happened and where.
    """

    step: str
    error: str
    traceback: str


@dataclass(frozen=True)
class Report:
    """The checks of a program, step by step. ``where`` tells where it ran, ``dialect`` how it writes.

    ``program`` is what it is to be: ``"simpleperf"``, or ``"reliable"`` for reliable transport. ``causes`` explain what
    failed, the one on which most points hang first; the checks are numbered by them.
    """

    file: str
    where: str
    results: dict[str, Result]
    dialect: dict[str, Any]
    causes: tuple[Cause, ...] = ()
    broken: tuple[Broken, ...] = ()
    program: str = "simpleperf"

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of all steps."""
        return tuple(check for result in self.results.values() for check in result.checks)

    @property
    def whole(self) -> Result:
        """All checks as one result, each of which says by itself what is wrong."""
        return Result(self.file, self._by_themselves(self.checks), fault="; ".join(one.error for one in self.broken))

    def alone(self, step: str) -> Result:
        """One step as a result, whose checks say by themselves what is wrong."""
        result = self.results[step]
        return Result(result.title, self._by_themselves(result.checks), fault=result.fault)

    @property
    def outcome(self) -> Outcome:
        """Failed if one check failed, else inconclusive if one is, else passed."""
        return self.whole.outcome

    @property
    def status(self) -> Literal["passed", "failed", "broken", "inconclusive"]:
        """The outcome, and "broken" where nothing failed, and the check itself broke.

        A failed check is the program's own, whatever broke next to it; without one nothing can be said of the program.
        """
        if self.broken and self.outcome == "inconclusive":
            return "broken"
        return self.outcome

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return self.outcome == "passed"

    @property
    def points(self) -> float:
        """Points of the checks that passed."""
        return self.whole.points

    @property
    def max_points(self) -> float:
        """Points if all passed."""
        return self.whole.max_points

    @property
    def mistakes(self) -> list[str]:
        """The names of the causes, each once, in order."""
        return list(dict.fromkeys(cause.title for cause in self.causes))

    def require(self) -> Report:
        """This report, if all checks passed. Raises GradeError, with reasons and hints, otherwise."""
        if not self.passed:
            raise GradeError(self.whole)
        return self

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON values, versioned."""
        return {
            f"linklab_{self.program}": REPORT_VERSION,
            "file": self.file,
            "where": self.where,
            "outcome": self.outcome,
            "points": self.points,
            "max_points": self.max_points,
            "open_points": self.whole.open_points,
            "causes": [cause.to_json() for cause in self.causes],
            "mistakes": self.mistakes,
            "broken": [vars(one) for one in self.broken],
            "dialect": self.dialect,
            "steps": {name: result.to_json() for name, result in self.results.items()},
        }

    def __str__(self) -> str:
        return "\n".join(line.text for line in lines(self))

    def _repr_html_(self) -> str:
        """What a notebook shows for it."""
        return _html(self)

    def _by_themselves(self, checks: Iterable[Check]) -> tuple[Check, ...]:
        """Checks for where no list of causes stands above them: the first one of a cause has its name and its hint."""
        told: set[int] = set()
        found = []
        for check in checks:
            if isinstance(check, ConformanceCheck) and check.cause:
                cause = self.causes[check.cause - 1]
                said = check.cause in told
                told.add(check.cause)
                if check.outcome == "failed":
                    reason = (
                        f"{check.reason} (the same cause: {cause.title})" if said else f"{cause.title}: {check.reason}"
                    )
                else:
                    reason = check.reason if said else f"{check.reason}: {cause.reasons[0]}"
                check = replace(check, reason=reason, hint="" if said else cause.hint)
            found.append(check)
        return tuple(found)


# --- As lines


_COLUMNS: Final = 80
_SIGNS: Final[dict[Outcome, tuple[str, str, str]]] = {
    "passed": ("\u2713", "passed", "green"),
    "failed": ("\u2717", "failed", "red"),
    "inconclusive": ("?", "open", "blue"),
}
"""A sign, a word beside it, for colour alone tells nobody anything, and the colour at a terminal."""
_MARGIN: Final = 10
"""Columns of the sign and the word in front of each check."""


@dataclass(frozen=True)
class Line:
    """A line at a terminal. ``sign`` characters at its beginning have the colour; ``bold`` is all of it."""

    text: str = ""
    bold: bool = False
    sign: int = 0
    colour: str = ""


def headline(report: Report) -> str:
    """Return the points in one line, and where they were found."""
    line = f"{report.file}: {report.points:g} of {report.max_points:g} points"
    if report.whole.open_points:
        line += f", {report.whole.open_points:g} open"
    return f"{line}, checked {report.where}"


def lines(report: Report, columns: int = _COLUMNS) -> Iterator[Line]:
    """Yield the lines of a report, in so many columns."""
    yield from _wrapped(headline(report), columns, bold=True)
    for said in broken_words(report):
        yield Line()
        yield from _wrapped(said, columns, bold=True)
    if report.causes:
        yield Line()
        yield Line(_heading(report), bold=True)
        for number, cause in enumerate(report.causes, 1):
            yield Line()
            yield from _cause(number, cause, columns)
    left = list(open_words(report))
    if left:
        yield Line()
        yield Line("Still open", bold=True)
        for what in left:
            yield from _wrapped(what, columns, "  - ")
    for name, result in report.results.items():
        yield Line()
        yield from _wrapped(_step_heading(name, result), columns, bold=True)
        for check in () if _waits_for(result) else result.checks:
            yield from _check(check, columns)


def _heading(report: Report) -> str:
    return "Most likely cause" if len(report.causes) == 1 else "Most likely causes"


def _step_heading(name: str, result: Result) -> str:
    title = result.title if result.title.endswith(f", {name}") else f"{name}: {result.title}"
    heading = f"{title}, {result.points:g} of {result.max_points:g} points"
    waits = _waits_for(result)
    return f"{heading}, all to be tried when cause {waits} is mended" if waits else heading


def _waits_for(result: Result) -> int:
    """Return the number of the cause for which all checks of a step wait; 0 if there is none."""
    causes = {check.cause if isinstance(check, ConformanceCheck) else 0 for check in result.checks}
    alike = len(causes) == 1 and all(check.outcome == "inconclusive" for check in result.checks)
    return causes.pop() if alike else 0


def broken_words(report: Report) -> Iterator[str]:
    """Yield what to say of each step whose judge crashed, and of a search for causes that did."""
    for one in report.broken:
        where = f"in the step {one.step}" if one.step else "when it looked for causes"
        left = "those points stay open" if one.step else "what is said of each check below is not touched by it"
        yield (
            f"The check itself broke {where}. That is our fault, not your program's, and {left}. "
            f"What happened: {one.error}. What to do: {SEND}; the traceback is in it."
        )


def open_words(report: Report) -> Iterator[str]:
    """Yield why checks are inconclusive: each reason once, with the checks, or with a step of which all are."""
    groups: dict[str, dict[str, list[str]]] = {}
    for step, result in report.results.items():
        for check in result.checks:
            if check.outcome == "inconclusive" and isinstance(check, ConformanceCheck):
                hint = f" ({check.hint})" if check.hint else ""
                why = f"to be tried when cause {check.cause} is mended" if check.cause else f"{check.reason}{hint}"
                groups.setdefault(why, {}).setdefault(step, []).append(check.key)
    for why, steps in groups.items():
        which = [
            f"all of {step}" if len(keys) == len(report.results[step].checks) else ", ".join(keys)
            for step, keys in steps.items()
        ]
        yield f"{', '.join(which)}: {why}"


def _cause(number: int, cause: Cause, columns: int) -> Iterator[Line]:
    yield from _wrapped(cause.title, columns, f"{number:2}. ", bold=True)
    yield from _wrapped(cause.reasons[0], columns, "    Seen:   ")
    for quote in cause.quotes:
        yield from _wrapped(quote, columns, "            | ", again="            | ")
    if cause.expected:
        yield from _wrapped(cause.expected, columns, "    Wanted: ")
    yield from _wrapped(cause.hint, columns, "    To do:  ")
    yield from _wrapped(explained_words(cause), columns, "    Checks: ")


def explained_words(cause: Cause) -> str:
    """Return the checks that a cause explains; a single one in words."""
    if len(cause.explains) == 1:
        (key,) = cause.explains
        return f"{key} ({ITEMS[key].description})"
    return ", ".join(cause.explains)


def seen(check: Check) -> str:
    """Return what was seen of a check that did not pass: the reason, and the numbers that were found, if it has none of
    them.
    """
    numbers = check.found if any(letter.isdigit() for letter in check.found) else ""
    return f"{check.reason} ({numbers})" if numbers and numbers not in check.reason else check.reason


def in_table(check: Check) -> Check:
    """Return a check as it stands below the causes: named by its key, and without what is said above."""
    if not isinstance(check, ConformanceCheck):
        return check
    check = replace(check, description=f"{check.key}: {check.description}")
    if check.outcome == "failed" and check.cause:
        return replace(check, hint=f"see cause {check.cause}")
    return replace(check, reason=f"waits for cause {check.cause}") if check.cause else check


def _check(check: Check, columns: int) -> Iterator[Line]:
    check = in_table(check)
    sign, name, colour = _SIGNS[check.outcome]
    word = f"{sign} {name}"
    waits = isinstance(check, ConformanceCheck) and check.cause and check.outcome == "inconclusive"
    said = f"{check.description} ({check.reason})" if waits else check.description
    first, *more = _wrapped(said, columns, f"{word:{_MARGIN}}")
    yield replace(first, sign=len(word), colour=colour)
    yield from more
    notes = []
    if check.passed:
        notes = [f"hint: {check.hint}" if check.hint else ""]
    elif not waits:
        see = f" ({check.hint})" if check.hint else ""
        notes = [f"{seen(check)}{see}", f"expected: {check.expected}" if check.expected else ""]
    for note in filter(None, notes):
        yield from _wrapped(note, columns, " " * (_MARGIN + 2))


def _wrapped(words: str, columns: int, first: str = "", again: str | None = None, bold: bool = False) -> Iterator[Line]:
    """Yield words in lines; those after the first begin with spaces, or with ``again``."""
    broken = textwrap.wrap(
        words,
        columns,
        initial_indent=first,
        subsequent_indent=" " * len(first) if again is None else again,
        break_on_hyphens=False,
    )
    for line in broken or [first]:
        yield Line(line.rstrip(), bold)


# --- A notebook, a page


_COLOURS: Final[dict[Outcome, str]] = {"passed": BLUISH_GREEN, "failed": VERMILLION, "inconclusive": BLUE}
_CELL: Final = "text-align:left;vertical-align:top;padding:3px 10px 3px 6px;white-space:normal"
_QUOTE: Final = f"margin:4px 0;padding:2px 8px;border-left:4px solid {VERMILLION};white-space:pre-wrap"


def _html(report: Report) -> str:
    """Return the report as HTML. Text keeps the colours of the reader's theme, which may be dark or light."""
    parts = ['<div class="linklab-report">', f"<p><strong>{html.escape(headline(report))}</strong></p>"]
    parts += [f"<p><strong>{html.escape(said)}</strong></p>" for said in broken_words(report)]
    if report.causes:
        parts.append(f"<p><strong>{_heading(report)}</strong></p><ol>")
        parts += map(_cause_item, report.causes)
        parts.append("</ol>")
    left = [f"<li>{html.escape(what)}</li>" for what in open_words(report)]
    if left:
        parts.append(f"<p><strong>Still open</strong></p><ul>{''.join(left)}</ul>")
    parts += [_step_part(name, result) for name, result in report.results.items()]
    return "".join([*parts, "</div>"])


def _step_part(name: str, result: Result) -> str:
    """A step's table, folded where there is nothing to do."""
    heading = html.escape(_step_heading(name, result))
    if _waits_for(result):
        return f"<p>{_sign('inconclusive')} {heading}</p>"
    head = "".join(
        f'<th scope="col" style="{_CELL}">{title}</th>' for title in ("Outcome", "Check", "Seen", "Expected")
    )
    rows = "".join(map(_row, result.checks))
    table = (
        f'<table aria-label="{heading}" style="border-collapse:collapse"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )
    if result.passed and not any(check.hint for check in result.checks):
        return f"<details><summary>{_sign('passed')} {heading}</summary>{table}</details>"
    return f"<p><strong>{heading}</strong></p>{table}"


def _sign(outcome: Outcome) -> str:
    sign, word, _ = _SIGNS[outcome]
    return f'<span style="color:{_COLOURS[outcome]};font-weight:bold">{sign}</span>&nbsp;{word}'


def _row(check: Check) -> str:
    check = in_table(check)
    found = check.found if check.passed else seen(check)
    if check.hint:
        found += f" ({check.hint})"
    cells = [_sign(check.outcome), *map(html.escape, (check.description, found, check.expected))]
    styles = [f"{_CELL};border-left:4px solid {_COLOURS[check.outcome]}", *[_CELL] * 3]
    return "".join(
        ["<tr>", *(f'<td style="{style}">{cell}</td>' for style, cell in zip(styles, cells, strict=True)), "</tr>"]
    )


def _cause_item(cause: Cause) -> str:
    quotes = html.escape("\n".join(cause.quotes))
    return (
        f'<li style="margin-bottom:8px"><strong>{html.escape(cause.title)}</strong>'
        f"<div>Seen: {html.escape(cause.reasons[0])}</div>"
        + (f'<pre style="{_QUOTE}">{quotes}</pre>' if quotes else "")
        + (f"<div>Wanted: {html.escape(cause.expected)}</div>" if cause.expected else "")
        + f"<div>To do: {html.escape(cause.hint)}</div><div>Checks: {html.escape(explained_words(cause))}</div></li>"
    )
