"""Checks for reading: as plain text, as an HTML table, and as the message of an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from textwrap import wrap
from typing import Any, Final

from linklab.grade.check import Check, Outcome
from linklab.grade.grouping import Group, each_reason, first_reason, merged, named
from linklab.show.chart import BLUE, BLUISH_GREEN, VERMILLION

# A word stands beside each sign, and the signs differ in shape: colour alone tells nobody anything.
_SIGNS: Final[dict[Outcome, str]] = {"passed": "\u2713", "failed": "\u2717", "inconclusive": "?"}
_COLOURS: Final[dict[Outcome, str]] = {"passed": BLUISH_GREEN, "failed": VERMILLION, "inconclusive": BLUE}
_ORDER: Final[tuple[Outcome, ...]] = ("failed", "inconclusive", "passed")
_SHOWN_AT_ONCE: Final = 8
# A notebook breaks longer lines of an error, and it does so inside words.
_COLUMNS: Final = 80
_HANGING: Final = " " * 4
_LINES_AT_MOST: Final = 25

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
    """What an error says: only the checks that did not pass, in few lines, which :func:`in_columns` may break.

    What several checks have in common is said once, the more so the more there are; if it is still too
    much, the last ones are only named.
    """
    counts = {outcome: sum(check.outcome == outcome for check in checks) for outcome in _ORDER}
    total = f"of {len(checks)} check{'s' if len(checks) > 1 else ''}"
    if counts["failed"]:
        head = f"{title}: {counts['failed']} {total} failed"
        head += f", {counts['inconclusive']} inconclusive" if counts["inconclusive"] else ""
    else:
        head = f"{title}: {counts['inconclusive']} {total} inconclusive, no points lost and none given yet"
    troubled = [check for check in checks if not check.passed]
    groups = each_reason(troubled)
    text = _message(head, groups, len(groups))
    if _is_short(text):
        return text
    groups = first_reason(troubled)
    texts = (_message(head, groups, shown) for shown in range(len(groups), 0, -1))
    return next((text for text in texts if _is_short(text)), _message(head, groups, 1))


def in_columns(text: str) -> str:
    """The text with no line longer than 80 columns, unless one word is; what continues a line is indented."""
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line))


def _is_short(text: str) -> bool:
    return in_columns(text).count("\n") < _LINES_AT_MOST


def _wrapped(line: str) -> list[str]:
    words = line.lstrip()
    indent = line[: len(line) - len(words)]
    return wrap(
        words,
        _COLUMNS,
        initial_indent=indent,
        subsequent_indent=f"{indent}{_HANGING}",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _message(head: str, groups: Sequence[Group], shown: int) -> str:
    lines = [head, *(line for group in groups[:shown] for line in _block(group))]
    left = [description for group in groups[shown:] for description in group.descriptions]
    if left:
        lines.append(f"  and {len(left)} more, to look at after these: {named(left)}")
    return "\n".join(lines)


def _block(group: Group) -> Iterable[str]:
    yield f"  {_SIGNS[group.outcome]} {group.outcome}: {group.title}"
    yield f"      the first of them: {group.reason}" if group.first_only else f"      {group.reason}"
    if group.hint:
        yield f"      Hint: {group.hint}"


def _lines(check: Check) -> Iterable[str]:
    line = f"  {_SIGNS[check.outcome]} {check.outcome}: {check.description}"
    if check.passed:
        yield f"{line} ({check.expected})" if check.expected else line
        return
    yield line
    yield f"      {check.reason}"
    if check.hint:
        yield f"      Hint: {merged([check.hint])}"


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
        cells.append(escape(merged([check.hint])))
    mark = f"border-left:4px solid {_COLOURS[check.outcome]}"
    styles = [f"{_CELL};{mark}", *[_CELL] * (len(cells) - 1)]
    joined = "".join(f'<td style="{style}">{cell}</td>' for style, cell in zip(styles, cells, strict=True))
    return f"<tr>{joined}</tr>"


def machine_readable(result: dict[str, Any]) -> dict[str, Any]:
    """A result's JSON form as a notebook keeps it: with the Linklab that made it, which is not part of the result."""
    from linklab import __version__

    return {"linklab": __version__} | result
