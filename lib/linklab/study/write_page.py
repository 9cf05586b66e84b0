"""A study's page as Markdown, with its pictures beside it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from linklab.errors import MeasurementError
from linklab.study.page import Chapter, Grid, Page, Picture
from linklab.study.store import write_whole

_SALT: Final = "linklab"


def write_page(page: Page, folder: Path) -> tuple[Path, ...]:
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


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _file(page: Page, picture: Picture) -> str:
    return f"{page.name}-{picture.name}.svg"


def _svg(picture: Picture) -> str:
    import matplotlib

    # names of parts come from the salt and not from chance, and there is no date in it
    with matplotlib.rc_context({"svg.hashsalt": _SALT}):
        stream = io.StringIO()
        picture.draw().savefig(
            stream, format="svg", bbox_inches="tight", metadata={"Date": None, "Title": picture.alt_text}
        )
    return stream.getvalue()
