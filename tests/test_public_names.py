"""What `import linklab` shows: to a reader, to Tab in a notebook, and to the type checker."""

from __future__ import annotations

import ast
import inspect
import rlcompleter
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("name", sorted(LATE))
def test_tab_completes_a_name_that_is_loaded_later(name: str) -> None:
    found = rlcompleter.Completer({"linklab": linklab}).complete(f"linklab.{name[:-1]}", 0)
    assert found is not None
    assert found.startswith(f"linklab.{name}")


@pytest.mark.parametrize("name", linklab.__all__)
def test_every_name_that_is_shown_can_be_had(name: str) -> None:
    assert getattr(linklab, name).__name__ == name


def test_the_type_checker_sees_the_names_that_are_loaded_later() -> None:
    tree = ast.parse(Path(linklab.__file__).read_text("utf-8"))
    blocks = [node.body for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    seen = {alias.name for body in blocks for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen >= LATE


def test_another_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="module 'linklab' has no attribute 'strat'"):
        getattr(linklab, "strat")  # noqa: B009 - the type checker refuses it too


@pytest.mark.parametrize("kind", ["LabTimeout", "LabEnded", "UnknownNode"])
def test_who_catches_a_lab_s_errors_catches_these_too(kind: str) -> None:
    error = getattr(linklab, kind)
    assert issubclass(error, linklab.LabError)
    assert getattr(errors, kind) is error


def test_every_public_error_may_cross_from_a_lab_by_its_name() -> None:
    assert set(errors.BY_NAME.values()) == _public_errors()
    assert all(kind.__name__ == name for name, kind in errors.BY_NAME.items())
    assert {kind.__name__ for kind in _public_errors()} <= set(linklab.__all__)
