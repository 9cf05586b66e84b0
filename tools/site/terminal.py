"""``{terminal}``: commands that are run while the site is built, each followed by what it printed.

All commands of a page are run in one new folder that holds what the kit's has for an instructor (`labs`, `solutions`,
`docs`), in bash. A command ends with its line, or with the first line that does not end with a backslash.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

KIT: Final = Path(__file__).resolve().parents[2]
_LIMIT_S: Final = 300
_SHOWN_FOLDER: Final = "~/linklab"
"""In place of the folder's own name, which differs from run to run."""
_WIDTH: Final = "74"
"""Columns of the terminal that programs are told of."""


class Terminal(SphinxDirective):
    """Runs its lines and shows them with their output.

    ``:exit: 1`` is the status that the last command must have, 0 unless it is given. Each group of the regular
    expression ``:varies:`` is what differs from run to run (seconds of the computer's time), and is shown as "…".
    """

    has_content = True
    option_spec: ClassVar = {"exit": directives.nonnegative_int, "varies": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return what stands in the page. A command with another status than is wanted is an error of the page's."""
        folder = _folder_of(self.env.docname)
        written = list(_commands(self.content))
        shown: list[nodes.Node] = []
        silent: list[str] = []
        for command in written:
            wanted = self.options.get("exit", 0) if command is written[-1] else 0
            status, printed = _done(command, folder)
            if status != wanted:
                raise self.error(f"{command}: exit status {status}, and not {wanted}: {printed.strip()}")
            silent.append(command)
            if printed.strip():
                printed = re.sub(self.options["varies"], _hidden, printed) if "varies" in self.options else printed
                printed = printed.replace(str(folder), _SHOWN_FOLDER).rstrip()
                shown += [_block("cell_input", "\n".join(silent), "bash"), _block("cell_output", printed, "text")]
                silent.clear()
        if silent:
            shown.append(_block("cell_input", "\n".join(silent), "bash"))
        return [nodes.container("", *shown, classes=["cell"])]


def _commands(lines: Iterator[str] | list[str]) -> Iterator[str]:
    kept: list[str] = []
    for line in lines:
        kept.append(line)
        if not line.endswith("\\"):
            yield "\n".join(kept)
            kept = []


def _folder_of(page: str) -> Path:
    """Return the page's folder, made when its first command is run."""
    if page not in _folders:
        folder = Path(tempfile.mkdtemp(prefix="linklab-site-"))
        for name in ("docs", "solutions"):
            shutil.copytree(KIT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        # The labs are made anew: in a clone somebody may have worked on them.
        (folder / "labs").mkdir()
        shutil.copy(KIT / "labs/glossary.md", folder / "labs")
        subprocess.run(
            [sys.executable, "-m", "linklab", "notebooks", "build"], cwd=folder, stdout=subprocess.DEVNULL, check=True
        )
        _folders[page] = folder
    return _folders[page]


_folders: dict[str, Path] = {}


def _done(command: str, folder: Path) -> tuple[int, str]:
    environment = os.environ | {"COLUMNS": _WIDTH, "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    return done.returncode, done.stdout


def _hidden(found: re.Match[str]) -> str:
    text, start = found.group(), found.start()
    for number in range(found.re.groups, 0, -1):
        begin, end = found.span(number)
        text = f"{text[: begin - start]}…{text[end - start :]}" if begin >= 0 else text
    return text


def _block(kind: str, text: str, language: str) -> nodes.Node:
    return nodes.container("", nodes.literal_block(text, text, language=language), classes=[kind])


def _forget(_: Sphinx, __: Exception | None) -> None:
    while _folders:
        shutil.rmtree(_folders.popitem()[1], ignore_errors=True)


def setup(app: Sphinx) -> None:
    """Tell Sphinx."""
    app.add_directive("terminal", Terminal)
    app.connect("build-finished", _forget)
