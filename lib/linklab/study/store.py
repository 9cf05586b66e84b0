"""A study's folder: one file for each finished point, whole or not there at all, whatever ends the program."""

from __future__ import annotations

import ast
import contextlib
import fcntl
import functools
import hashlib
import inspect
import itertools
import json
import re
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import linklab
from linklab.errors import LabError, MeasurementError
from linklab.files import write_whole
from linklab.study.declare import Measured, Point, Study, is_own

VERSION: Final = 2
_LOCK: Final = ".linklab-study"
_PACKAGE: Final = Path(linklab.__file__).parent
_RUN_LABS: Final = ("guest", "measure", "network", "runtime")
"""The packages that run a lab and measure in it. Some of their modules are imported by none: a lab gets their files."""


@dataclass(frozen=True)
class Finished:
    """A point that was measured. ``about`` is the lab's kind, kernel and tools; ``network`` was read back.

    ``lab_s`` is the lab's own time at the end of the measurement, ``wall_s`` the wall's, which differs from run to run;
    neither is part of the table.
    """

    definition: dict[str, str]
    rows: tuple[Measured, ...]
    about: dict[str, str]
    network: dict[str, Any]
    lab_s: float
    wall_s: float


class Store:
    """The finished points of a folder."""

    def __init__(self, folder: Path) -> None:
        """Make the folder. Raises LabError, in one line, where it cannot be written to."""
        self.folder = folder
        self._points = folder / "points"
        try:
            self._points.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._points):
                pass
        except OSError as error:
            raise LabError(f"{folder} cannot be written to: {error.strerror}; say another folder (--output)") from None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Inside, no other run writes here. Raises LabError where one does."""
        with (self.folder / _LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise LabError(
                    f"another run writes to {self.folder}: wait for its end, or say another folder (--output)"
                ) from None
            self._sweep()
            yield

    def save(self, point: Point, finished: Finished) -> None:
        """Save a point: after a crash at any moment its file is there whole, or not at all."""
        body = {
            "linklab_study_point": VERSION,
            "study": point.study,
            "levels": dict(point.levels),
            "repeat": point.repeat,
            "definition": finished.definition,
            "about": finished.about,
            "network": finished.network,
            "lab_s": finished.lab_s,
            "wall_s": finished.wall_s,
            "rows": [asdict(row) for row in finished.rows],
        }
        write_whole(self._file(point), json.dumps({"digest": _digest_of(body), **body}) + "\n")

    def load(self, point: Point) -> Finished | None:
        """Return what was measured at a point; None where that is not there or its file is damaged."""
        try:
            data = json.loads(self._file(point).read_text("utf-8"))
            if data.pop("digest") != _digest_of(data) or data["linklab_study_point"] != VERSION:
                return None
            if (data["study"], data["levels"], data["repeat"]) != (point.study, dict(point.levels), point.repeat):
                return None
            rows = tuple(Measured(**row) for row in data["rows"])
            return Finished(data["definition"], rows, data["about"], data["network"], data["lab_s"], data["wall_s"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def damaged(self, point: Point) -> bool:
        """Return whether there is a file of the point that cannot be used."""
        return self._file(point).exists() and self.load(point) is None

    def refuse_change(self, study: str, definition: dict[str, str]) -> None:
        """Raise MeasurementError, naming what changed, where the folder was begun with another definition."""
        try:
            before = json.loads(self._definition_file(study).read_text("utf-8"))
        except (OSError, ValueError):
            return  # none, or damaged: every point says by itself what it was measured with
        if changed := changes(before, definition):
            raise MeasurementError(self._changed(study, changed))

    def keep_definition(self, study: str, definition: dict[str, str]) -> None:
        """Note what the study is from now on."""
        write_whole(self._definition_file(study), json.dumps(definition, indent=1) + "\n")

    def finished(self, points: dict[Point, dict[str, str]]) -> dict[Point, Finished]:
        """Return those of the points that were measured, by the definitions that are theirs now.

        Raises MeasurementError, naming what changed, where one was measured with another definition.
        """
        found = {}
        for point, definition in points.items():
            done = self.load(point)
            if done is None:
                continue
            if changed := changes(done.definition, definition):
                raise MeasurementError(self._changed(point.study, changed))
            found[point] = done
        return found

    def forget(self, points: dict[Point, dict[str, str]]) -> None:
        """Remove what was measured at the points."""
        for point in points:
            self._file(point).unlink(missing_ok=True)

    def _changed(self, study: str, changed: list[str]) -> str:
        return (
            f"the points of study {study} in {self.folder} are older than its {' and '.join(changed)}: measure all "
            "again (--again), or say another folder (--output)"
        )

    def _definition_file(self, study: str) -> Path:
        return self._points / f"{study}.definition.json"

    def _file(self, point: Point) -> Path:
        exact = digest(json.dumps([point.study, point.levels]))
        readable = re.sub(r"[^A-Za-z0-9.=]+", "-", point.combination)[:80].strip("-")
        return self._points / f"{readable}.{exact}.{point.repeat}.json"

    def _sweep(self) -> None:
        """Remove what a program that was killed while it wrote has left."""
        for folder in (self.folder, self._points):
            for left in folder.glob("*.unfinished"):
                left.unlink(missing_ok=True)


def _digest_of(body: dict[str, Any]) -> str:
    return digest(json.dumps(body, sort_keys=True))


def digest(content: str | bytes) -> str:
    """Return the first 16 digits of SHA-256: enough to tell two versions of one thing apart."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:16]


def definition(study: Study) -> dict[str, str]:
    """Return digests of all that is one for the whole study. Levels and repeats are not: a study may grow.

    Raises MeasurementError where the measurement's source cannot be read.
    """
    metrics = [[metric.name, metric.unit] for metric in study.metrics]
    return {
        "measurement": digest(_meaning_of(study.measurement)),
        "metrics": digest(json.dumps(metrics)),
        "factors": digest(json.dumps(list(study.factors))),
        "seed": "the repeat" if study.seed is None else "of the point",
        "code": _code_digest(study),
    }


def definition_of(study: Study, point: Point, shared: dict[str, str]) -> dict[str, str]:
    """Return `shared`, the study's `definition`, and a digest of the point's network, switches and controller.

    That digest counts the files in the current folder that its levels and the controller's command name.

    Raises MeasurementError where there can be no such testbed.
    """
    testbed = study.place(point)
    words = shlex.split(testbed.controller or "")
    files = [str(point[factor]) for factor in study.files if Path(str(point[factor])).is_file()]
    programs = [digest(Path(word).read_bytes()) for word in (*files, *words) if Path(word).is_file()]
    return {**shared, "testbed": digest(" ".join([repr(testbed), *programs]))}


def changes(before: Any, now: dict[str, str]) -> list[str]:
    """Return which of the parts of a definition differ, by name."""
    was = before if isinstance(before, dict) else {}
    return [part for part, value in now.items() if was.get(part) != value]


def _code_digest(study: Study) -> str:
    """Return a digest of the code besides the measurement that makes a point: what its module and that of the testbed
    import of Linklab and of their own folders, and the packages that run labs. Files are known by their contents alone.
    """
    modules = (study.measurement.__module__, getattr(study.testbed, "__module__", "__main__"))
    files = ((name, getattr(sys.modules.get(name), "__file__", None)) for name in modules if name != "__main__")
    roots = {Path(file): Path(file).parents[name.count(".")] for name, file in files if file}
    own = list(roots)
    places = [_PACKAGE.parent, *roots.values()]
    todo = [*own, *(path for package in _RUN_LABS for path in (_PACKAGE / package).rglob("*.py"))]
    found: dict[Path, str] = {}
    names = {__package__}  # its __init__ imports all studies
    while todo:
        path = todo.pop()
        if path in found or not path.is_file():
            continue
        found[path], imported = _read_code(path, path.stat().st_mtime_ns)
        for place, name in itertools.product(places, imported - names):
            module = place.joinpath(*name.split("."))
            todo += [module.with_suffix(".py"), module / "__init__.py"]
        names |= imported
    return digest("".join(sorted(meaning for path, meaning in found.items() if path not in own[:1])))


def own_modules(study: Study) -> list[ModuleType]:
    """Return the modules of a study's own, as in a file of its author's and beside it: no other machine has them."""
    files = {
        module: Path(file)
        for module in list(sys.modules.values())
        if (file := getattr(module, "__file__", None)) and is_own(Path(file))
    }
    names = (study.measurement.__module__, getattr(study.testbed, "__module__", "__main__"))
    folders = {file.parent for module, file in files.items() if module.__name__ in names}
    return [module for module, file in files.items() if any(map(file.is_relative_to, folders))]


@functools.lru_cache(maxsize=1024)
def _read_code(path: Path, changed_ns: int) -> tuple[str, frozenset[str]]:
    """Return a digest of a module, comments and docstrings left out, and the modules that it may import."""
    tree = ast.parse(path.read_bytes())
    imported = set()
    for node in _executed(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return digest(_without_docstrings(tree)), frozenset(imported)


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those that are there for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            yield node
            yield from _executed(node)


def _meaning_of(function: Callable[..., Any]) -> str:
    """Return the module of a function (of a notebook, the function alone) as a syntax tree: comments do not count."""
    module = sys.modules.get(function.__module__)
    what: Any = function if module is None or function.__module__ == "__main__" else module
    try:
        return _without_docstrings(ast.parse(textwrap.dedent(inspect.getsource(what))))
    except (OSError, TypeError, SyntaxError):
        raise MeasurementError(
            f"the source of {function.__name__} cannot be read, so a change of it would go unnoticed: "
            "define it in a file or in a notebook"
        ) from None


def _without_docstrings(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
