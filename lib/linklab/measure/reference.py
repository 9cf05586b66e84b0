"""Linklab's own simpleperf, with which labs measure where a student has none that works: the solution of Lab 02."""

from __future__ import annotations

import ast
import base64
import os
import zlib
from pathlib import Path

_CARRIED = Path(__file__).parents[1] / "carried" / "simpleperf.py"
_IN_CLONE = Path(__file__).parents[3] / "solutions" / "simpleperf.py"
REFERENCE = Path(os.environ.get("LINKLAB_SIMPLEPERF") or (_CARRIED if _CARRIED.is_file() else _IN_CLONE))
"""Its file: the one that LINKLAB_SIMPLEPERF names, as where work is graded; a wheel's, sealed; or a clone's."""


def sealed(program: Path) -> str:
    """Return a program as one that runs and does not show its text.

    It is packed source, as the lab's Python may be another one; who unpacks it finds neither comments nor docstrings.
    """
    tree = ast.parse(program.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    packed = base64.b64encode(zlib.compress(ast.unparse(tree).encode())).decode()
    return f"import base64, zlib\nexec(zlib.decompress(base64.b64decode({packed!r})))\n"
