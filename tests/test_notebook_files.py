"""Linklab's processes import nbformat without the grammar that jsonschema compiles meanwhile (0.8 s)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

HOUSE = Path(__file__).parents[1] / "lib" / "linklab"
LOADED = """
import sys
import linklab.grading.driver, linklab.grading.judge, linklab.classroom.validate, linklab.doctor
from linklab.notebook_files import nbformat
nbformat.validate(nbformat.v4.new_notebook())
assert not [name for name in sys.modules if name.startswith("rfc3987_syntax")]
"""


def test_the_grammar_is_not_loaded() -> None:
    subprocess.run([sys.executable, "-c", LOADED], check=True)


def test_one_file_alone_imports_the_two() -> None:
    found = {
        str(path.relative_to(HOUSE))
        for path in HOUSE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        if name.split(".")[0] in ("nbformat", "nbclient", "jsonschema")
    }
    assert found == {"notebook_files.py"}
