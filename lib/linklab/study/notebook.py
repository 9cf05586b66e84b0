"""A study's page is a notebook: a Python file in cells, as `solutions/*.py`, which `run_page` makes a page of.

# %% [markdown]         prose, in comments
# %%                    code; the `PagePart` that its last line makes is shown

The first code cell opens the page, which gives it its tables: ``page = open_page("mtu", STUDIES, CLAIMS)``. Run cell by
cell in an editor or in Jupyter, that finds the tables of your own runs.

page["mtu"]                                              a table: `linklab.study.table.StudyTable`
say(f"It takes {page['mtu'].lookup('rtt_ms').mean:.2f} ms.")  prose with numbers
table(rows, columns), page.figure(name, caption, drawing)
page.claims(), page.how_judged(), page.verdict(claim), page.because(claim), page.provenance()
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.files import write_whole
from linklab.percent import cells, prose
from linklab.show.chart import forget_styles
from linklab.study.catalogue import refuse_clash, studies, with_command
from linklab.study.claims import Claims
from linklab.study.declare import Study, in_one_line
from linklab.study.overview import compared_parts
from linklab.study.page import Page, PagePart, say
from linklab.study.table import StudyTable, read_own, read_table

RESULTS: Final = Path("study-results")
"""Where runs put their tables, below the current folder."""
_PICTURE: Final = re.compile(r"!\[[^]]*\]\(([^()/\s]+\.svg)\)")


@dataclass(frozen=True)
class PageRequest:
    """What a page is made of: tables that lie in ``tables``, and a researcher's files ``beside`` them.

    With ``short`` they are tables of the studies' short forms.
    """

    tables: Path = RESULTS
    beside: Sequence[str] = ()
    short: bool = False


_given: Final = [PageRequest()]
_opened: Final[list[Page]] = []


def open_page(name: str, asked: Sequence[Study], argued: Claims | None = None) -> Page:
    """Return a page with the tables of its studies: those that `linklab study page` names, else of your own runs.

    Raises MeasurementError if one is missing or damaged.
    """
    given = _given[-1]
    forms = (study.short_form() if given.short else study for study in map(with_command, asked))
    ours = {study.name: read_table(form, given.tables) for study, form in zip(asked, forms, strict=True)}
    page = Page(name, ours, read_beside(asked, given.beside), argued, partial=given.short)
    _opened.append(page)
    return page


def read_beside(known: Sequence[Study], files: Sequence[str]) -> dict[str, StudyTable]:
    """Return a researcher's tables by the study's name. Raises MeasurementError for two files of one study."""
    found: dict[str, StudyTable] = {}
    for given in (read_own(known, each) for each in files):
        if (other := found.setdefault(given.study.name, given)) is not given:
            raise MeasurementError(
                f"{other.files[0]} and {given.files[0]} are both of study {given.study.name}: put their rows into one "
                "file"
            )
    return found


def run_page(source: Path, given: PageRequest) -> tuple[Page, dict[str, str]]:
    """Return the page that a notebook makes of what is given, and its files. The same tables give the same bytes.

    The notebook can import modules of its own folder and of the current one. Raises MeasurementError in one line if it
    is not there, if a cell fails, or if it opens no page.
    """
    try:
        text = source.read_text("utf-8")
    except OSError as error:
        raise MeasurementError(f"{source} cannot be read: {error.strerror}") from None
    refuse_clash(source)
    studies()  # from here on a page can import studies.NAME, wherever that folder lies
    names: dict[str, Any] = {"__name__": f"page_{source.stem}", "__file__": str(source)}
    parts = []
    forget_styles()
    with _giving(given, source.parent), in_one_line(f"{source.name} fails"):
        for line, kind, cell in cells(text):
            shown = say(prose(cell)) if "[markdown]" in kind else _run(cell, line, source, names)
            parts += [shown] if isinstance(shown, PagePart) else []
        if not _opened:
            raise MeasurementError(
                f"{source} is no page: none of its cells calls open_page; a study in it is {source}:STUDY"
            )
        page = _opened[-1]
        return page, page.files([*parts, *compared_parts(page)])


def _run(cell: str, line: int, source: Path, names: dict[str, Any]) -> object:
    """Run a code cell; return the value of its last expression, None if it ends otherwise."""
    tree = ast.increment_lineno(ast.parse(cell, str(source)), line)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, str(source), "exec", dont_inherit=True), names)
        return None
    tree.body.pop()
    exec(compile(tree, str(source), "exec", dont_inherit=True), names)
    return eval(compile(ast.Expression(last.value), str(source), "eval", dont_inherit=True), names)


@contextmanager
def _giving(given: PageRequest, folder: Path) -> Iterator[None]:
    """Inside the block `open_page` opens what is given, and modules of the folder can be imported."""
    beside = [str(folder.absolute()), str(Path.cwd())]
    sys.path[:0] = beside
    _given.append(given)
    _opened.clear()
    try:
        yield
    finally:
        _given.pop()
        for place in beside:
            sys.path.remove(place)


def write_page(name: str, files: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
    """Write a page's files, and return their paths. Pictures that only the page's old version had are removed.

    Raises MeasurementError for a folder that cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        page = folder / f"{name}.md"
        before = _PICTURE.findall(page.read_text("utf-8", errors="replace")) if page.exists() else []
        for file, text in files.items():
            write_whole(folder / file, text)
        for old in before:
            if old.startswith(f"{name}-") and old not in files:
                (folder / old).unlink(missing_ok=True)
    except OSError as error:
        raise MeasurementError(f"{folder} cannot be written to: {error.strerror}; choose another --output") from None
    return tuple(folder / file for file in files)
