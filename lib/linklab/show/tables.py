"""Tables for notebooks: HTML there, plain text elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from numbers import Real

from linklab.errors import LinklabError, quoted

_EMPTY = "-"
_SMALL = 0.1
# What sums and products of decimals like 0.1 leave behind.
_NO_FRACTION = 1e-9


@dataclass(frozen=True)
class Table:
    """Rows under headings. The headings carry the units: ``"measured (ms)"``.

    Numbers are shown with two decimals at most; None, for what is not there yet, as a dash.

    Raises LinklabError if a row has not one value for each heading.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    title: str = ""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.headings):
                raise LinklabError(
                    f"row {number} of the table has {len(row)} values for {len(self.headings)} headings: "
                    "give one value for each heading"
                )

    def __str__(self) -> str:
        lines = [self.headings, *([shown(value) for value in row] for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.headings))]
        right = self._right_aligned()
        texts = [
            "  ".join(
                cell.rjust(width) if at_right else cell.ljust(width)
                for cell, width, at_right in zip(line, widths, right, strict=True)
            ).rstrip()
            for line in lines
        ]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([*([self.title] if self.title else []), texts[0], rule, *texts[1:]])

    def _repr_html_(self) -> str:
        """Return what a notebook shows for it."""
        aligned = ["right" if at_right else "left" for at_right in self._right_aligned()]
        head = _cells("th", self.headings, aligned, ' scope="col"')
        body = "".join(f"<tr>{_cells('td', [shown(value) for value in row], aligned)}</tr>" for row in self.rows)
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _right_aligned(self) -> list[bool]:
        columns = [[row[column] for row in self.rows] for column in range(len(self.headings))]
        return [
            any(_is_number(value) for value in column) and all(_is_number(value) or value is None for value in column)
            for column in columns
        ]


def table(headings: Iterable[str], rows: Iterable[Sequence[object]], title: str = "") -> Table:
    """Return a table of ``rows`` under ``headings``, which carry the units.

    Raises LinklabError for what is no list of headings or of rows, and if a row has not one value for each heading.
    """
    _refuse_no_list("the headings of the table are", headings, "headings")
    _refuse_no_list("the rows of the table are", rows, "rows, and of each a list of values")
    rows = list(rows)
    for number, row in enumerate(rows, 1):
        _refuse_no_list(f"row {number} of the table is", row, "values, one for each heading")
    return Table(tuple(headings), tuple(tuple(row) for row in rows), title)


def _refuse_no_list(what: str, given: object, of: str) -> None:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise LinklabError(f"{what} {quoted(given)}: give a list of {of}")


def _cells(tag: str, texts: Iterable[str], aligned: Iterable[str], more: str = "") -> str:
    return "".join(
        f'<{tag}{more} style="text-align:{side}">{escape(text)}</{tag}>'
        for text, side in zip(texts, aligned, strict=True)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def shown(value: object) -> str:
    """Return a value as text for reading; None is a dash.

    A number with a longer fraction, as measurements have, is rounded to two decimals, or to two digits if it
    is small: 80.001 is shown as 80.00, and 20.0 as 20.
    """
    if value is None or value is ...:
        return _EMPTY
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        rounded = f"{number:.2f}"
        if math.isclose(float(rounded), number, rel_tol=0, abs_tol=_NO_FRACTION):
            return rounded.rstrip("0").rstrip(".")
        return rounded if abs(number) >= _SMALL else f"{number:.2g}"
    return str(value)
