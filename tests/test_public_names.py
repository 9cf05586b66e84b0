"""What `import linklab` shows: to a reader, to Tab in a notebook, and to the type checker."""

from __future__ import annotations

import ast
import inspect
import rlcompleter
import subprocess
import sys
from pathlib import Path

import linklab
from linklab import errors

LATE = {"Lab", "Node", "Program", "course_network", "start"}
"""Names that are loaded when they are first asked for."""


def _public_errors() -> set[type]:
    return {kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, errors.LinklabError)}


def test_dir_shows_every_public_name_before_it_is_loaded() -> None:
    asked = "import linklab, sys; print(*dir(linklab)); assert 'linklab.lab' not in sys.modules"
    shown = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert set(linklab.__all__) <= set(shown)
    assert set(linklab.__all__) >= LATE


def test_tab_completes_a_name_that_is_loaded_later_and_it_can_be_had() -> None:
    for name in LATE:
        found = rlcompleter.Completer({"linklab": linklab}).complete(f"linklab.{name[:-1]}", 0)
        assert (found or "").startswith(f"linklab.{name}")
    assert all(getattr(linklab, name).__name__ == name for name in linklab.__all__)


def test_errors_can_be_had_as_a_module_which_is_loaded_when_it_is_first_asked_for() -> None:
    asked = "import linklab, sys; assert 'linklab.errors' not in sys.modules; print(linklab.errors.LabError.__name__)"
    shown = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert shown == "LabError\n"


def test_the_type_checker_sees_the_names_that_are_loaded_later() -> None:
    tree = ast.parse(Path(linklab.__file__).read_text("utf-8"))
    blocks = [node.body for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    seen = {alias.name for body in blocks for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen >= LATE


def test_every_public_error_may_cross_from_a_lab_by_its_name() -> None:
    assert set(errors.BY_NAME.values()) == _public_errors()
    assert all(kind.__name__ == name for name, kind in errors.BY_NAME.items())
    assert all(getattr(linklab, kind.__name__) is kind for kind in _public_errors())
