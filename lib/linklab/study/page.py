"""The page of a study, as data: published and measured side by side, with figures, and what differs and why.

`linklab.study.write_page` makes Markdown and pictures of it. Each study has a function in its own module that makes a
`Page` of its tables; `linklab.study.catalogue.PAGES` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linklab.errors import MeasurementError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Grid:
    """A table of texts; each row has one for each column. ``note`` stands below it.

    Raises MeasurementError for a row of another length.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise MeasurementError(
                    f"a row of this table has {len(row)} cells for {len(self.columns)} columns: {row}"
                )


@dataclass(frozen=True)
class Picture:
    """A figure. ``name`` is its file's, without ending; ``alt_text`` says in words what it shows."""

    name: str
    caption: str
    alt_text: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Chapter:
    """A heading and what stands below it, in order; a text is a paragraph of Markdown."""

    title: str
    parts: tuple[str | Grid | Picture, ...]


@dataclass(frozen=True)
class Page:
    """The page of one study. ``name`` is its file's, without ending; ``lead`` says in short what was found."""

    name: str
    title: str
    lead: str
    chapters: tuple[Chapter, ...]


PageOf = Callable[[Mapping[str, Sequence[Row]]], Page]
"""Makes a page of the tables of the studies that it needs, by study name. Pure, but for drawing."""
