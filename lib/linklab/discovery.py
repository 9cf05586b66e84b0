"""Which labs there are, Linklab's own and those that an instructor adds, and which studies come along.

A lab is a folder ``labNN``: ``__all__`` of its ``rules.py`` says what its notebook may use, or an ``__init__.py`` of
its own. Linklab's own lie in ``linklab.labs``, and their notebooks' sources in the kit's ``solutions/``. An added lab
lies in a folder that the setting ``labs_path`` names, with its notebook's source ``NN-name.py`` in it; students get it
without that source. Wherever it lies it is imported as ``linklab.labs.labNN``.

A study is a folder of ``studies/`` in the kit, which a wheel carries with it. Wherever that lies, its modules are
imported as ``studies.NAME.study`` and ``studies.NAME.page``.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import itertools
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

import linklab
from linklab.errors import LinklabError
from linklab.settings import image, setting

VARIABLE: Final = "LINKLAB_LABS_PATH"
_NAME: Final = "lab[0-9][0-9]"
_SOURCE: Final = "[0-9]*-*.py"
_CARRIED: Final = Path(__file__).parent / "carried" / "studies"
STUDIES: Final = _CARRIED if _CARRIED.is_dir() else Path(__file__).parents[2] / "studies"
"""The folder of the studies that come along: a wheel's, or that of a clone."""


@dataclass(frozen=True)
class AddedLab:
    """A lab that an instructor has added. ``source`` is its notebook's; None in the copy that students have."""

    folder: Path
    source: Path | None

    @property
    def name(self) -> str:
        """Return the name by which it is imported: ``lab50``."""
        return self.folder.name

    @property
    def number(self) -> str:
        """Return its two digits: ``11``."""
        return self.name.removeprefix("lab")

    def files(self) -> dict[str, bytes]:
        """Return what its notebook imports, by the path beside the notebook: ``lab50/rules.py``.

        That is all of the folder but notebooks, hidden files, compiled ones, and what begins with the lab's number as
        the notebook's source does: it is the instructor's alone.
        """
        own = f"{self.number}-"
        found = {}
        for path in sorted(self.folder.rglob("*")):
            place = path.relative_to(self.folder.parent)
            hidden = any(part.startswith((".", "__pycache__")) for part in place.parts)
            if path.is_file() and not path.name.startswith(own) and path.suffix != ".ipynb" and not hidden:
                found[place.as_posix()] = path.read_bytes()
        return found


def search_path(look_in: Path | None = None) -> tuple[Path, ...]:
    """Return the folders in which added labs are looked for, as `setting` finds them from ``look_in``.

    The environment variable is written as PATH is; in the file it is a list of texts. Raises LinklabError for what is
    no list of folders.
    """
    told = setting("labs_path", look_in)
    if told is None:
        return ()
    named = [part for part in told.value.split(os.pathsep) if part] if isinstance(told.value, str) else told.value
    if not isinstance(named, list) or not all(isinstance(part, str) for part in named):
        raise LinklabError(f'{told.source} says labs_path = {named!r}: write a list of folders, as ["../my-labs"]')
    try:
        folders = tuple(dict.fromkeys((told.folder / Path(part).expanduser()).resolve() for part in named))
    except RuntimeError:  # there is no user of that name
        raise LinklabError(f"{told.source} says labs_path = {named!r}: one of them is in nobody's home") from None
    for folder in folders:
        if not folder.is_dir():
            raise LinklabError(f"{told.source} names {folder}, which is no folder: make it, or mend the name")
        if re.fullmatch(_NAME, folder.name) and _has_code(folder):
            raise LinklabError(f"{told.source} names the lab {folder} itself: name the folder that it lies in")
    return folders


def added_labs() -> tuple[AddedLab, ...]:
    """Return the labs that were added, in their numbers' order.

    A folder without ``rules.py``, ``__init__.py`` and a notebook's source is no lab. Raises LinklabError for a lab that
    has the source alone, a number that is taken, and a notebook's source that is not alone or has another number.
    """
    found: dict[str, AddedLab] = {}
    for folder in search_path():
        for lab in sorted(path for path in folder.glob("lab*") if _is_lab(path)):
            _refuse(lab, found)
            found[lab.name] = AddedLab(lab, _source(lab))
    return tuple(found[name] for name in sorted(found))


def _is_lab(path: Path) -> bool:
    meant = re.fullmatch(r"lab\d+", path.name) is not None and path.is_dir()
    return meant and (_has_code(path) or any(path.glob(_SOURCE)))


def _has_code(lab: Path) -> bool:
    return any((lab / name).is_file() for name in ("rules.py", "__init__.py"))


def _refuse(lab: Path, others: Mapping[str, AddedLab]) -> None:
    if not re.fullmatch(_NAME, lab.name):
        raise LinklabError(f"{lab} is not called as a lab is: give it a number of two digits, as lab50")
    if lab.name in _own():
        raise LinklabError(f"{lab} has the number of a lab of Linklab's own: choose one above {_own()[-1]}")
    if lab.name in others:
        raise LinklabError(f"{lab} and {others[lab.name].folder} have one number: give one of them another")
    if not _has_code(lab):
        raise LinklabError(f"{lab} has no rules.py: write one, whose __all__ says what the notebook may use")


def _source(lab: Path) -> Path | None:
    sources = sorted(lab.glob(_SOURCE))
    if len(sources) > 1:
        raise LinklabError(f"{lab} holds the sources of {len(sources)} notebooks: make a lab of each")
    if sources and sources[0].name.partition("-")[0] != lab.name.removeprefix("lab"):
        raise LinklabError(f"{sources[0]} has another number than its folder: give both the same")
    return sources[0] if sources else None


@cache
def _own() -> tuple[str, ...]:
    return tuple(sorted(path.name for path in (Path(__file__).parent / "labs").glob(_NAME)))


def lab_names() -> frozenset[str]:
    """Return the names of all labs: ``lab00``, ... Raises LinklabError as `added_labs`."""
    return frozenset((*_own(), *(lab.name for lab in added_labs())))


def _own_files() -> Iterator[tuple[str, bytes]]:
    """Yield Linklab's own files, by their place in its package, in order."""
    root = Path(linklab.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root).as_posix(), path.read_bytes()


@cache
def linklab_digest() -> bytes:
    """Return a digest of Linklab's version, its files and the added labs: it tells one Linklab from another."""
    found = hashlib.sha256(linklab.__version__.encode())
    added = (file for lab in added_labs() for file in lab.files().items())
    for name, content in itertools.chain(_own_files(), added):
        found.update(f"{name}\0".encode() + content)
    return found.digest()


_JUDGE_NOTHING: Final = ("classroom", "hub", "lms", "study", "cli.py", "doctor.py", "jupyter.py", "jupyter_server.py")
"""Rooms and files of Linklab on which no verdict rests."""


@cache
def judging_digest(lab: str) -> bytes:
    """Return a digest of all on which a verdict on a lab (``lab50``) rests: Linklab's version and files, and the lab's.

    Of other labs those count that the lab names. Comments in labs do not count: a corrected one judges nobody again.
    """
    found = hashlib.sha256(linklab.__version__.encode())
    of_labs = {name: content for each in added_labs() for name, content in each.files().items()}
    for name, content in _own_files():
        room, _, rest = name.partition("/")
        if room == "labs" and re.match(f"{_NAME}/", rest):
            of_labs[rest] = content
        elif room not in _JUDGE_NOTHING:
            found.update(f"{name}\0".encode() + content)
    counted, waiting = set(), {lab}
    while waiting:
        counted.add(one := waiting.pop())
        for name, content in sorted(of_labs.items()):
            if name.startswith(f"{one}/"):
                found.update(f"{name}\0".encode() + _without_comments(name, content))
                waiting |= set(re.findall(_NAME, content.decode(errors="replace"))) - counted
    return found.digest()


def _without_comments(name: str, content: bytes) -> bytes:
    if not name.endswith(".py"):
        return content
    try:
        return ast.dump(ast.parse(content)).encode(errors="replace")
    except (SyntaxError, ValueError):
        return content


def load(name: str) -> ModuleType:
    """Return the package of a lab. Raises LinklabError, with the reason, where it cannot be imported."""
    try:
        return importlib.import_module(f"linklab.labs.{name}")
    except Exception as error:
        line = (str(error).splitlines() or [""])[0]
        raise LinklabError(f"{name} cannot be imported ({type(error).__name__}: {line}): mend its files") from error


def study_names() -> tuple[str, ...]:
    """Return the names of the studies that come along, in order: those of their folders."""
    return tuple(sorted(path.parent.name for path in STUDIES.glob("*/study.py")))


def study_module(name: str, part: str) -> ModuleType:
    """Return the module ``studies.NAME.PART`` of a study that comes along."""
    if "studies" not in sys.modules:
        spec = importlib.util.spec_from_file_location("studies", STUDIES / "__init__.py")
        assert spec is not None
        sys.modules["studies"] = importlib.util.module_from_spec(spec)  # a package that holds no code
    return importlib.import_module(f"studies.{name}.{part}")


def hand_on(root: Path | None = None) -> None:
    """Name the folders and the lab image in this process's environment, so that it and what it starts find the same
    labs and the same image in any folder.

    With a kit's ``root`` they are that kit's, whatever lies in the present folder. Raises LinklabError as `added_labs`
    and `image`.
    """
    folders = os.pathsep.join(map(str, search_path(root)))
    for variable, found in ((VARIABLE, folders), ("LINKLAB_IMAGE", image(root))):
        if found or root is not None or variable in os.environ:
            os.environ[variable] = found
    added_labs()
