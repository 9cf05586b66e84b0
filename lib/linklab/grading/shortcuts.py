"""What a student's own code uses that is no student's to use: what Linklab itself has for the asked-for work. Pure.

It is no proof, and no point is lost: the instructor sees a line. Code that hides better is not found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from linklab.grading.names import cleaned, listed

_ROOMS: Final = frozenset(
    ("analysis", "grade", "grading", "guest", "headless", "programs", "report", "runtime", "study", "carried")
)
"""Rooms of Linklab in which answers stand: theory, checks, and what labs are made of."""
_WAYS: Final = frozenset(
    ("__code__", "__globals__", "__closure__", "__wrapped__", "__subclasses__", "_getframe", "f_locals", "f_globals")
)
_CALLS: Final = frozenset(("exec", "eval", "compile", "__import__", "import_module", "run_path", "run_module"))
_ANY: Final = re.compile("|".join([r"linklab\.", "LINKLAB_SIMPLEPERF", "check_", *sorted(_WAYS | _CALLS)]))
"""Without one of these words in it a cell need not be read as Python, which takes long."""
_FILES: Final = ("LINKLAB_SIMPLEPERF", "linklab.__file__")


def shortcuts(cells: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each of the student's cells, given by name and source, that uses such things."""
    return [
        f"{cleaned(name)} uses {listed(dict.fromkeys(cleaned(it, 60) for it in found))}: look at it"
        for name, source in cells
        if (found := list(_found(source)))
    ]


def _found(source: str) -> Iterator[str]:
    if not _ANY.search(source):
        return
    lines = [line if not line.lstrip().startswith(("%", "!")) else "" for line in source.split("\n")]
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names if _is_closed(name.name))
            case ast.ImportFrom(module=str(module), names=names):
                yield from (path for name in names if _is_closed(path := f"{module}.{name.name}"))
            case ast.Attribute(attr=attr) if attr in _WAYS:
                yield attr
            case ast.Attribute(value=ast.Name(id=module), attr=attr) if _is_closed(f"{module}.{attr}"):
                yield f"{module}.{attr}"
            case ast.Constant(value=str(text)) if text in _WAYS or text.startswith("linklab.") or text in _FILES:
                yield text
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                if name in _CALLS or name.startswith("check_"):
                    yield f"{name}()"


def _is_closed(path: str) -> bool:
    """Return whether a dotted name lies in a room with answers, or in a lab's own modules."""
    parts = path.split(".")
    if parts[0] != "linklab" or len(parts) < 2:
        return path == "linklab.__file__"
    in_a_lab = parts[1] == "labs" and len(parts) > 3
    return parts[1] in _ROOMS or in_a_lab or parts[1:] == ["__file__"] or "program_file" in parts
