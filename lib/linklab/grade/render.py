"""Checks for reading: as plain text, as an HTML table, and as the message of an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from linklab.grade.check import Check, Outcome
from linklab.show.colours import BLUE, BLUISH_GREEN, VERMILLION

# A word stands beside each sign, and the signs differ in shape: colour alone tells nobody anything.
_SIGNS: Final[dict[Outcome, str]] = {"passed": "\u2713", "failed": "\u2717", "inconclusive": "?"}
_COLOURS: Final[dict[Outcome, str]] = {"passed": BLUISH_GREEN, "failed": VERMILLION, "inconclusive": BLUE}
_ORDER: Final[tuple[Outcome, ...]] = ("failed", "inconclusive", "passed")
_SHOWN_AT_ONCE: Final = 8

_CELL: Final = "text-align:left;vertical-align:top;padding:3px 10px 3px 6px;white-space:normal"


def headline(title: str, checks: Sequence[Check]) -> str:
    """Title and points in one line."""
    given = sum(check.points for check in checks if check.passed)
    open_points = sum(check.points for check in checks if check.outcome == "inconclusive")
    line = f"{title}: {given:g} of {sum(check.points for check in checks):g} points"
    if open_points:
        line += f", {open_points:g} open until measured again"
    return line


def text(title: str, checks: Sequence[Check]) -> str:
    """One line for each check, with reason and hint under those that did not pass."""
    return "\n".join([headline(title, checks), *(line for check in checks for line in _lines(check))])


def failures(title: str, checks: Sequence[Check]) -> str:
    """What an error says: only the checks that did not pass."""
    counts = {outcome: sum(check.outcome == outcome for check in checks) for outcome in _ORDER}
    total = f"of {len(checks)} check{'s' if len(checks) > 1 else ''}"
    if counts["failed"]:
        head = f"{title}: {counts['failed']} {total} failed"
        head += f", {counts['inconclusive']} inconclusive" if counts["inconclusive"] else ""
    else:
        head = f"{title}: {counts['inconclusive']} {total} inconclusive, no points lost and none given yet"
    lines = (line for check in checks if not check.passed for line in _lines(check))
    return "\n".join([head, *lines])


def _lines(check: Check) -> Iterable[str]:
    line = f"  {_SIGNS[check.outcome]} {check.outcome}: {check.description}"
    if check.passed:
        yield f"{line} ({check.expected})" if check.expected else line
        return
    yield line
    yield f"      {check.reason}"
    if check.hint:
        yield f"      Hint: {check.hint}"


def html(title: str, checks: Sequence[Check]) -> str:
    """A table, with the checks that did not pass on top; a long list of passed ones is folded."""
    troubled = [check for outcome in _ORDER[:2] for check in checks if check.outcome == outcome]
    passed = [check for check in checks if check.passed]
    parts = [f'<div class="linklab-result"><strong>{escape(headline(title, checks))}</strong>']
    if len(troubled) + len(passed) <= _SHOWN_AT_ONCE:
        parts.append(_table(title, [*troubled, *passed]))
    else:
        if troubled:
            parts.append(_table(title, troubled))
        summary = f"{_SIGNS['passed']} {len(passed)} checks passed"
        parts.append(f"<details><summary>{escape(summary)}</summary>{_table(title, passed)}</details>")
    return "".join([*parts, "</div>"])


def _table(title: str, checks: Sequence[Check]) -> str:
    headings = ["Outcome", "What was checked", "Expected", "Found"]
    with_hints = any(check.hint for check in checks)
    if with_hints:
        headings.append("What to do")
    head = "".join(f'<th scope="col" style="{_CELL}">{escape(heading)}</th>' for heading in headings)
    rows = "".join(_row(check, with_hints) for check in checks)
    return (
        f'<table aria-label="{escape(title)}" style="border-collapse:collapse">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(check: Check, with_hints: bool) -> str:
    # The reader's theme may be dark or light, so text keeps the theme's colour and only signs are coloured.
    sign = f'<span style="color:{_COLOURS[check.outcome]};font-weight:bold">{_SIGNS[check.outcome]}</span>'
    found = check.reason or check.found
    cells = [f"{sign}&nbsp;{escape(check.outcome)}"]
    cells += [escape(words) for words in (check.description, check.expected, found)]
    if with_hints:
        cells.append(escape(check.hint))
    mark = f"border-left:4px solid {_COLOURS[check.outcome]}"
    styles = [f"{_CELL};{mark}", *[_CELL] * (len(cells) - 1)]
    joined = "".join(f'<td style="{style}">{cell}</td>' for style, cell in zip(styles, cells, strict=True))
    return f"<tr>{joined}</tr>"
