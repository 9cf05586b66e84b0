"""Checks for reading: as plain text, as an HTML table, and as the message of an error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any, Final

from linklab.analysis import Comparison
from linklab.grade.check import NAMED_AT_MOST, Check, Outcome, Surprise, counted
from linklab.show import Table, compared, table
from linklab.show.chart import BLUE, BLUISH_GREEN, VERMILLION

# --- Failures that say the same are said once


_NAMED_AT_MOST: Final = 4
_SAID_AT_MOST: Final = 3

_NO_BREAK: Final = "\u00a0"
_SHORT: Final = 20
_UNIT: Final = re.compile(r"(?<=\d) (?=(?:%|[mµ]?s|[kM]?bit/s|Mbps|[kKM]?B|bytes|packets)(?!\w))")
_PARTICULAR: Final = re.compile(r"\b[A-Z]\b|[\w./-]*\d[\w./-]*")
_SERIES: Final = re.compile(r"#(?:(?:, | and |, and )#)+")


@dataclass(frozen=True)
class Group:
    """Checks that came out alike. ``reason`` and ``hint`` hold for all, or for the first if ``first_only``.

    ``expected`` is empty where they expect different things. ``which_hint`` is that of the first.
    """

    outcome: Outcome
    descriptions: tuple[str, ...]
    reason: str
    hint: str
    first_only: bool = False
    expected: str = ""
    which_hint: str = ""
    is_open: bool = False

    @property
    def title(self) -> str:
        """The descriptions in one line, what they all begin with only once: ``"address of h1-eth0, h2-eth0"``."""
        words = [description.split(" ") for description in self.descriptions]
        shared = 0
        while all(len(it) > shared + 1 and it[: shared + 1] == words[0][: shared + 1] for it in words):
            shared += 1
        start = words[0][:shared] if len(words) > 1 else []
        return " ".join([*start, named([" ".join(it[len(start) :]) for it in words])])


def each_reason(checks: Iterable[Check]) -> tuple[Group, ...]:
    """Group checks with one hint and reasons that differ in names and numbers: all reasons, and the hint once."""
    return tuple(map(_group, _alike(checks, lambda check: (_pattern(_reasons(check)), _words(_hints(check))))))


def first_reason(checks: Iterable[Check]) -> tuple[Group, ...]:
    """Group checks whose reasons and hints differ in names and numbers at most: those of the first stand for all."""
    return tuple(
        _group(group, first_only=len({(_words(_reasons(check)), _words(_hints(check))) for check in group}) > 1)
        for group in _alike(checks, lambda check: (_pattern(_reasons(check)), _pattern(_hints(check))))
    )


def _alike(checks: Iterable[Check], key: Callable[[Check], object]) -> list[list[Check]]:
    groups: dict[object, list[Check]] = {}
    for check in checks:
        groups.setdefault((check.outcome, key(check)), []).append(check)
    return list(groups.values())


def _group(checks: Sequence[Check], *, first_only: bool = False) -> Group:
    first, expected = checks[0], {check.expected for check in checks}
    told = checks[:1] if first_only else checks
    return Group(
        first.outcome,
        tuple(check.description for check in checks),
        _merged(map(_reasons, told)),
        _merged(map(_hints, told)),
        first_only,
        expected=expected.pop() if len(expected) == 1 else "",
        which_hint=first.which_hint,
        is_open=first.is_open,
    )


Statements = Mapping[tuple[str, str], None]
"""What is said, and of which place or thing; in order. A sentence that names it itself has none."""


def _reasons(check: Check) -> Statements:
    return dict.fromkeys((it.place, it.found) for it in check.causes) or {("", check.reason): None}


def _hints(check: Check) -> Statements:
    return dict.fromkeys((it.what, it.step) for it in check.causes) or {("", check.hint): None}


def _merged(several: Iterable[Statements]) -> str:
    """Return what several checks say, each thing once: lost at h1, lost at h2 becomes ``"h1, h2: lost"``."""
    about: dict[str, dict[str, None]] = {}
    left: set[int] = set()
    for statements in several:
        for name, said in [*statements][:NAMED_AT_MOST]:
            about.setdefault(said, {})[name] = None
        left.add(max(0, len(statements) - NAMED_AT_MOST))
    parts = []
    for said, names in about.items():
        listed = named([name for name in names if name])
        parts.append(f"{listed}: {said}" if listed else said)
    if len(parts) > _SAID_AT_MOST:
        return "; ".join([*parts[:_SAID_AT_MOST], f"and {len(parts) - _SAID_AT_MOST} more"])
    left.discard(0)
    # No number of several checks would be true of all together.
    more = [f"and {left.pop()} more" if len(left) == 1 else "and more"] if left else []
    return "; ".join([*filter(None, parts), *more])


def named(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    separator = "; " if any(", " in name for name in names) else ", "
    if len(names) <= _NAMED_AT_MOST + 1:
        return separator.join(names)
    return separator.join([*names[:_NAMED_AT_MOST], f"... ({len(names) - _NAMED_AT_MOST} more)"])


def _words(statements: Statements) -> frozenset[str]:
    return frozenset(said for _, said in statements)


def _pattern(statements: Statements) -> str:
    """Return what is said, without names and numbers, however many are listed."""
    return _SERIES.sub("#", _PARTICULAR.sub("#", "; ".join(sorted(_words(statements)))))


# --- Text, table, message


# A word stands beside each sign, and the signs differ in shape: colour alone tells nobody anything.
SIGNS: Final[dict[Outcome, str]] = {"passed": "\u2713", "failed": "\u2717", "inconclusive": "?"}
_COLOURS: Final[dict[Outcome, str]] = {"passed": BLUISH_GREEN, "failed": VERMILLION, "inconclusive": BLUE}
_ORDER: Final[tuple[Outcome, ...]] = ("failed", "inconclusive", "passed")
_SHOWN_AT_ONCE: Final = 8
# A notebook breaks longer lines of an error, and it does so inside words.
_COLUMNS: Final = 80
_HANGING: Final = " " * 4
_LINES_AT_MOST: Final = 25

_PREDICTED: Final = "Your prediction and the measurement"
_CARD: Final = "border:1px solid #88888866;border-left:4px solid;padding:6px 12px;margin:2px 0"
_CELL: Final = "text-align:left;vertical-align:top;padding:3px 10px 3px 6px;white-space:normal"


def headline(title: str, checks: Sequence[Check]) -> str:
    """Return title and count in one line. A cell's points are for all of its checks, so it says so where some fail."""
    counts = Counter(check.outcome for check in checks)
    line = f"{title}: {counts['passed']} of {counted(len(checks), 'check')} passed"
    if counts["inconclusive"]:
        line += f", {counts['inconclusive']} not judged"
    if counts["passed"] < len(checks) > 1:
        line += " (its points are for all of them)"
    return line


def text(title: str, checks: Sequence[Check], surprises: Sequence[Surprise] = ()) -> str:
    """Return a line for each check, with reason and hint under those that did not pass; then predictions, if any."""
    if any(check.is_open for check in checks):
        return f"{title}: {checks[0].reason}"
    lines = [headline(title, checks), *(line for check in checks for line in _lines(check))]
    return "\n".join([*lines, *([str(surprises_table(surprises))] if surprises else [])])


def failures(title: str, checks: Sequence[Check]) -> str:
    """Return what an error says: the checks that did not pass, in few lines, which :func:`in_columns` may break.

    What several checks have in common is said once, the more so the more there are; if it is still too
    much, the last ones are only named.
    """
    if any(check.is_open for check in checks):
        return checks[0].reason
    counts = Counter(check.outcome for check in checks)
    total = f"of {counted(len(checks), 'check')}"
    if counts["failed"]:
        head = f"{title}: {counts['failed']} {total} failed"
        head += f", {counts['inconclusive']} inconclusive" if counts["inconclusive"] else ""
        if counts["passed"] > 0:
            head += " (its points are for all of them)"
    else:
        head = f"{title}: {counts['inconclusive']} {total} inconclusive, no points lost and none given yet"
    troubled = [check for check in checks if not check.passed]
    groups = _in_short(head, troubled)
    texts = (_message(head, groups, shown) for shown in range(len(groups), 0, -1))
    return next((text for text in texts if _is_short(text)), _message(head, groups, 1))


def _in_short(head: str, troubled: Sequence[Check]) -> tuple[Group, ...]:
    """Group checks: with all reasons, or where that is too long with the first of those that are alike."""
    groups = each_reason(troubled)
    return groups if _is_short(_message(head, groups, len(groups))) else first_reason(troubled)


def in_columns(text: str) -> str:
    """Break a text into lines of 80 columns at most, unless one word is longer; what continues a line is indented."""
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
    yield f"  {SIGNS[group.outcome]} {group.outcome}: {group.title}"
    yield f"      the first of them: {group.reason}" if group.first_only else f"      {group.reason}"
    if group.hint:
        yield f"      {_hint_named(group.which_hint)}: {group.hint}"


def _lines(check: Check) -> Iterable[str]:
    line = f"  {SIGNS[check.outcome]} {check.outcome}: {check.description}"
    if check.passed:
        yield f"{line} ({check.expected})" if check.expected else line
        yield from (f"      {row}" for row in check.explanation.splitlines() if row)
        return
    yield line
    yield f"      {check.reason}"
    if check.hint:
        yield f"      {_hint_named(check.which_hint)}: {_merged([_hints(check)])}"


def _hint_named(which: str) -> str:
    return f"Hint {which}" if which else "Hint"


def html(
    title: str, checks: Sequence[Check], surprises: Sequence[Surprise] = (), cell_points: float | None = None
) -> str:
    """Return a card: what did not pass, with what was expected, found and can be done; then a table of what passed.

    A long table is folded. Below it stands what right answers open, and what was predicted: a figure and a table.
    """
    troubled = [check for check in checks if not check.passed]
    passed = [check for check in checks if check.passed]
    head = title if any(check.is_open for check in checks) else headline(title, checks)
    parts = [f"<strong>{escape(head)}</strong>"]
    if cell_points is not None:
        worth = counted(cell_points, "point")
        parts.append(f' <span style="white-space:nowrap">({f"worth {worth}" if troubled else worth})</span>')
    groups = _in_short(head, troubled)
    parts += [_failed_card(group) for group in groups[:_SAID_AT_MOST]]
    if rest := groups[_SAID_AT_MOST:]:
        parts.append(_folded(f"{len(rest)} more, to look at after these", "".join(map(_failed_card, rest))))
    if any(group.first_only for group in groups):
        parts.append(_folded(f"all {len(troubled)} one by one", _table(title, troubled)))
    if passed:
        table = _table(title, passed)
        is_long = len(checks) > _SHOWN_AT_ONCE
        parts.append(_folded(f"{SIGNS['passed']} {len(passed)} checks passed", table) if is_long else table)
    parts += [_explained(check.explanation) for check in checks if check.explanation]
    if surprises:
        parts += [surprises_figure(surprises), surprises_table(surprises)._repr_html_()]
    colour = _colour(next((it for it in _ORDER if any(check.outcome == it for check in checks)), "passed"), troubled)
    return f'<div class="linklab-result" style="{_CARD};border-left-color:{colour}">{"".join(parts)}</div>'


def _explained(markdown: str) -> str:
    """Return an explanation, which is written in markdown, as HTML."""
    from markdown_it import MarkdownIt

    return str(MarkdownIt("commonmark", {"html": False}).render(markdown))


def _failed_card(group: Group) -> str:
    """Return what did not pass: what was checked, expected and found, and the hint, a line each."""
    if group.is_open:
        return f'<p style="margin:4px 0">{escape(group.reason[:1].upper() + group.reason[1:])}</p>'
    found = f"the first of them: {group.reason}" if group.first_only else group.reason
    lines = (("Expected", group.expected), ("Found", found), (_hint_named(group.which_hint), group.hint))
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL};white-space:nowrap;font-weight:normal;opacity:0.75">{name}</th>'
        f'<td style="{_CELL}">{_unbroken(text)}</td></tr>'
        for name, text in lines
        if text
    )
    sign = _sign(group.outcome)
    return (
        f'<div style="margin-top:6px">{sign} {escape(group.title)}</div>'
        f'<table aria-label="{escape(group.title)}" style="border-collapse:collapse">{rows}</table>'
    )


def _folded(summary: str, inside: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>"


def _colour(outcome: Outcome, troubled: Sequence[Check]) -> str:
    return BLUE if any(check.is_open for check in troubled) else _COLOURS[outcome]


def _sign(outcome: Outcome) -> str:
    # The reader's theme may be dark or light, so text keeps the theme's colour and only signs are coloured.
    sign = f'<span style="color:{_COLOURS[outcome]};font-weight:bold">{SIGNS[outcome]}</span>'
    return f"{sign}&nbsp;{escape(outcome)}"


def surprises_table(rows: Iterable[Surprise]) -> Table:
    """Return a table of predictions next to theory and measurement, with what is to be said."""
    return table(
        ["what", "unit", "predicted", "sure (%)", "theory", "measured", "your prediction"],
        [
            [row.what, row.unit, row.predicted, row.sure_percent, row.theory, row.measured, row.said]
            for row in rows
        ],
        _PREDICTED,
    )  # fmt: skip


def surprises_figure(rows: Sequence[Surprise]) -> str:
    """Draw the same as an image of HTML: each number in percent of theory. Empty where theory has none but zeros."""
    drawn = [
        Comparison(row.what, row.unit, row.predicted, row.theory, None, row.measured) for row in rows if row.theory
    ]
    return compared(drawn, _PREDICTED)._repr_mimebundle_()["text/html"] if drawn else ""


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


def _unbroken(words: str) -> str:
    """Return the text as HTML in which no line ends in a short text, or between a number and its unit."""
    if len(words) <= _SHORT:
        return f'<span style="white-space:nowrap">{escape(words)}</span>'
    return escape(_UNIT.sub(_NO_BREAK, words))


def _row(check: Check, with_hints: bool) -> str:
    found = check.reason or check.found
    cells = [_sign(check.outcome)]
    cells += [escape(check.description), _unbroken(check.expected), _unbroken(found)]
    if with_hints:
        cells.append(escape(_merged([_hints(check)])))
    joined = "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells)
    return f"<tr>{joined}</tr>"


def machine_readable(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result's JSON form as a notebook keeps it: with the version of the Linklab that made it."""
    from linklab import __version__

    return {"linklab": __version__} | result
