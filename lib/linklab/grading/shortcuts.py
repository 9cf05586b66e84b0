"""What a student's own code uses that is no student's to use: what Linklab itself has for the asked-for work. Pure.

It is no proof, and no point is lost: the instructor sees a line. Code that hides better is not found.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from IPython.core.inputtransformer2 import TransformerManager

import linklab.labs
from linklab.grading.names import cleaned, listed

_ROOMS: Final = frozenset(
    ("analysis", "grade", "grading", "guest", "headless", "programs", "report", "runtime", "study", "carried")
)
"""Rooms of Linklab in which answers stand: theory, checks, and what labs are made of."""
_WAYS: Final = frozenset(
    ("__code__", "__globals__", "__closure__", "__wrapped__", "__subclasses__", "_getframe", "f_locals", "f_globals")
)
_CALLS: Final = frozenset(
    ("exec", "eval", "compile", "__import__", "import_module", "run_path", "run_module", "FunctionType", "CodeType")
)
_LOADS: Final = frozenset(("pickle.loads", "cloudpickle.loads", "marshal.loads"))
"""What makes code of bytes that nobody can read."""
_ASKED_FOR: Final = frozenset(("static_routes", "bdp_packets"))
"""What `linklab.network` computes and a lab asks for."""
_NO_CHECKS: Final = frozenset(("check_output", "check_call"))
"""Python's own, of ``subprocess``."""
_LOOKS: Final = frozenset(("help", "dir", "print"))
_LAB: Final = re.compile(r"lab\d\d")
_OF_A_LAB: Final = frozenset(path.stem for path in Path(linklab.labs.__path__[0]).glob("lab*/*.py")) - {"figures"}
"""The modules of labs in which answers stand."""
_TIMED: Final = re.compile(r"^([ \t]*)%%?(?:time|timeit|prun)\b[ \t]*", re.MULTILINE)
_WORDS: Final = (
    r"linklab\.", "LINKLAB_SIMPLEPERF", "check_", r"\(\s*lab\d\d\b", rf"lab\d\d\.(?:{'|'.join(sorted(_OF_A_LAB))})\b",
)  # fmt: skip
_ANY: Final = re.compile("|".join([*_WORDS, *sorted(_WAYS | _CALLS | _LOADS | _ASKED_FOR)]))
"""Without one of these words in it a cell need not be read as Python, which takes long."""
_FILES: Final = ("LINKLAB_SIMPLEPERF", "linklab.__file__")


def shortcuts(cells: Iterable[tuple[str, str]], given: Iterable[str] = ()) -> list[str]:
    """Return a line for each of the student's cells, given by name and source, that uses such things.

    A statement that stands like this in ``given``, the lab's own cells, is no shortcut: students run checks again.
    """
    suspect = [(name, source) for name, source in cells if _ANY.search(source)]
    known = {_dump(it) for source in given for it in _statements(source)} - {None} if suspect else set()
    return [
        f"{cleaned(name)} uses {listed(dict.fromkeys(cleaned(it, 60) for it in found))}: look at it"
        for name, source in suspect
        if (found := [used for it in _statements(source) if _dump(it) not in known for used in _used(it)])
    ]


def _dump(statement: ast.stmt) -> str | None:
    """Return what two statements have in common that say the same; None where they are nested too deeply."""
    with contextlib.suppress(RecursionError):
        return ast.dump(statement)
    return None


def _used(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names if _is_closed(name.name))
            case ast.ImportFrom(module=str(module), names=names):
                yield from (path for name in names if _is_closed(path := f"{module}.{name.name}"))
            case ast.Attribute(attr=attr) if attr in _WAYS or attr in _ASKED_FOR:
                yield attr
            case ast.Attribute(attr=attr) if _is_check(attr):
                yield f"{attr}()"
            case ast.Attribute(value=ast.Name(id=module), attr=attr) if _is_closed(f"{module}.{attr}"):
                yield f"{module}.{attr}"
            case ast.Constant(value=str(text)) if text in _WAYS or _is_check(text):
                yield text
            case ast.Constant(value=str(text)) if text.startswith("linklab.") or text in _FILES:
                yield text
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args):
                if name in _CALLS or _is_check(name):
                    yield f"{name}()"
                if name not in _LOOKS:
                    labs = (it.id for it in args if isinstance(it, ast.Name) and _LAB.fullmatch(it.id))
                    yield from (f"{name}({lab})" for lab in labs)


def _statements(source: str) -> Iterator[ast.stmt]:
    """Yield a cell's statements, each imported name as one of its own, without IPython's commands; nothing where it
    is no Python.
    """
    lines = [line if not line.lstrip().startswith(("%", "!")) else "" for line in _TIMED.sub(r"\1", source).split("\n")]
    plain = "\n".join(lines)
    for change in (str, _without_ipython):
        try:
            body = ast.parse(change(plain)).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for it in body:
            if isinstance(it, ast.Import | ast.ImportFrom):
                yield from (type(it)(**{**vars(it), "names": [name]}) for name in it.names)
            else:
                yield it
        return


def _without_ipython(source: str) -> str:
    """Return plain Python for a cell that has ``lab?`` or ``files = !ls`` in it."""
    return str(TransformerManager().transform_cell(source))  # type: ignore[no-untyped-call]


def _is_check(name: str) -> bool:
    return name.startswith("check_") and name.isidentifier() and name not in _NO_CHECKS


def _is_closed(path: str) -> bool:
    """Return whether a dotted name lies in a room with answers, or in a lab's own modules."""
    parts = path.split(".")
    if len(parts) < 2:
        return False
    if _LAB.fullmatch(parts[0]):
        return parts[1] in _OF_A_LAB
    if parts[0] != "linklab":
        return path in _LOADS
    in_a_lab = parts[1] == "labs" and len(parts) > 3
    asked_for = parts[1] == "network" and parts[-1] in _ASKED_FOR
    return parts[1] in _ROOMS or in_a_lab or asked_for or parts[1:] == ["__file__"] or "program_file" in parts
