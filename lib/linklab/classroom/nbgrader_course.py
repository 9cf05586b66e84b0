"""A course folder for nbgrader: ``linklab release --nbgrader DIR``.

One assignment for each lab, in ``source/NAME/``, made of the solution with its starters still in it, as comments; and
``nbgrader_config.py``, which has nbgrader put the starters in the solutions' place
(:mod:`linklab.classroom.nbgrader_step`), because a stub that raises would be a syntax error within a dictionary. A
lab's program (simpleperf.py of Lab 02, say) lies beside its notebook as students get it, and is handed in with it.

nbgrader gives all students the same, so this is the plain course network.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from linklab.classroom.contents import Contents, write_files
from linklab.errors import LinklabError
from linklab.files import draft_folder
from linklab.grade.notebook_cells import cells_of
from linklab.notebooks.build import sources
from linklab.notebooks.render import render
from linklab.notebooks.source import read_source
from linklab.settings import FILE as SETTINGS

CONFIG: Final = "nbgrader_config.py"
_CONFIG: Final = '''\
"""Written by linklab release --nbgrader."""

import os

from nbgrader.preprocessors import (
    CheckCellMetadata, ClearHiddenTests, ClearMarkScheme, ClearOutput, ComputeChecksums, IncludeHeaderFooter, LockCells,
    SaveCells,
)

from linklab.classroom.nbgrader_step import Starters

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "linklab"
# nbgrader's own order, with Starters where ClearSolutions stood
c.GenerateAssignment.preprocessors = [
    IncludeHeaderFooter, LockCells, Starters, ClearOutput, CheckCellMetadata, ComputeChecksums, SaveCells,
    ClearHiddenTests, ClearMarkScheme, ComputeChecksums, CheckCellMetadata,
]
# a cell of a lab may measure for minutes
c.Execute.timeout = 900
c.Autograde.exclude_overwriting = {exclude!r}
# grading is always on the plain course network
os.environ["LINKLAB_VARIANT"] = ""
'''


def write_course(target: Path, root: Path) -> tuple[str, ...]:
    """Write the course folder ``target``, which must be free, from the kit in ``root``; return the assignments' names.

    Raises LinklabError where something lies there already: grades may be in it.
    """
    target = target.absolute()
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise LinklabError(f"{target} is there already, and may hold grades: name a new folder")
    contents = Contents.of(root)
    programs: dict[str, list[str]] = {}
    with draft_folder(target) as draft:
        for source in sources(root):
            folder, book = draft / "source" / source.stem, f"{source.stem}.ipynb"
            judged = {cell.program for cell in cells_of(json.loads(contents.given[book])) if cell.program}
            programs[source.stem] = sorted(judged)
            settings = [SETTINGS] if SETTINGS in contents.given else []
            beside = (*programs[source.stem], *settings)
            write_files(folder, {name: contents.given[name] for name in beside})
            write_files(folder, {book: render(read_source(source), "source").encode()})
        exclude = {name: found for name, found in programs.items() if found}
        (draft / CONFIG).write_text(_CONFIG.replace("{exclude!r}", repr(exclude)), encoding="utf-8")
        draft.rename(target)
    return tuple(programs)
