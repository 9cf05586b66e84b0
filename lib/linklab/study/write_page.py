"""Pages made of chapters, until each is a template: see `linklab.study.page`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab.errors import MeasurementError
from linklab.study.page import Grid, Picture, _cell, _line, _svg
from linklab.study.store import write_whole

Row = Mapping[str, Any]


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


def write_chapters(page: Page, folder: Path) -> tuple[Path, ...]:
    """Writes NAME.md and a picture NAME-PICTURE.svg for each; which files there are now. The same page gives the same
    files, byte for byte. Pictures that the page had before and has no more are removed.

    Raises MeasurementError for two pictures of one name, or a folder that cannot be written to.
    """
    pictures = [part for chapter in page.chapters for part in chapter.parts if isinstance(part, Picture)]
    names = [_file(page, picture) for picture in pictures]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise MeasurementError(f"two pictures of page {page.name} are called {twice}: give each a name of its own")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in zip(names, pictures, strict=True):
            write_whole(folder / name, _svg(picture))
        for old in folder.glob(f"{page.name}-*.svg"):
            if old.name not in names:
                old.unlink()
        write_whole(folder / f"{page.name}.md", as_markdown(page))
    except OSError as error:
        raise MeasurementError(f"{folder} cannot be written to: {error.strerror}; choose another --output") from None
    return (folder / f"{page.name}.md", *(folder / name for name in names))


def as_markdown(page: Page) -> str:
    """The page's text; pictures lie beside it. Pure."""
    return "\n\n".join([f"# {page.title}", page.lead, *(_chapter(page, chapter) for chapter in page.chapters)]) + "\n"


def _chapter(page: Page, chapter: Chapter) -> str:
    return "\n\n".join([f"## {chapter.title}", *(_part(page, part) for part in chapter.parts)])


def _part(page: Page, part: str | Grid | Picture) -> str:
    if isinstance(part, Picture):
        return f"![{_cell(part.alt_text)}]({_file(page, part)})\n\n*{part.caption}*"
    if isinstance(part, Grid):
        lines = [_line(part.columns), _line(["---"] * len(part.columns)), *map(_line, part.rows)]
        return "\n".join(lines) + (f"\n\n{part.note}" if part.note else "")
    return part


def _file(page: Page, picture: Picture) -> str:
    return f"{page.name}-{picture.name}.svg"
