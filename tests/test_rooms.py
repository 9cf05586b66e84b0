"""Imports point one way: a room of `lib/linklab` imports from rooms above it in CONTRIBUTING's table alone."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("rooms")  # each file is read once
ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "lib" / "linklab"
_ROWS = re.findall(
    r"^\| ((?:`[a-z_]+(?:/|\.py)`(?:, )?)+) \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
)
LEVELS = {room: level for level, row in enumerate(_ROWS) for room in re.findall(r"`([a-z_]+)", row)}
"""Each room's row: rooms that share one may import each other."""
_DOORS = ("__init__", "__main__")


def _room(path: Path) -> str:
    return path.relative_to(HOUSE).parts[0].removesuffix(".py")


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@functools.cache
def _nodes(path: Path) -> tuple[ast.Import | ast.ImportFrom | ast.Constant, ...]:
    """Return what a file has of those kinds that are asked for here."""
    return tuple(node for node in ast.walk(_tree(path)) if isinstance(node, ast.Import | ast.ImportFrom | ast.Constant))


def _imported(path: Path) -> Iterator[str]:
    """The rooms that a file imports from, wherever in the file it does."""
    for node in _nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module == "linklab":
            yield from (alias.name for alias in node.names if alias.name in LEVELS)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("linklab."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("linklab."))


FILES = [path for path in sorted(HOUSE.rglob("*.py")) if _room(path) not in _DOORS]


def test_every_room_is_in_the_table() -> None:
    assert {_room(path) for path in FILES} == set(LEVELS)


@pytest.mark.large
def test_imports_point_upwards() -> None:
    wrong = [
        f"{path.relative_to(HOUSE)} imports {room}"
        for path in FILES
        for room in _imported(path)
        if LEVELS[room] > LEVELS[_room(path)]
    ]
    assert wrong == []


def test_the_look_for_imports_finds_some() -> None:
    assert set(_imported(HOUSE / "lab.py")) >= {"errors", "network", "record", "runtime"}


def test_no_function_is_named_by_a_string() -> None:
    named = re.compile(r"linklab\.[a-z_.]+:[A-Za-z_]+")
    wrong = [
        f"{path.relative_to(HOUSE)}: {node.value}"
        for path in FILES
        for node in _nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and named.fullmatch(node.value)
    ]
    assert wrong == []


def test_modules_import_each_other_in_no_circle_not_even_within_functions() -> None:
    modules = {".".join(path.relative_to(HOUSE.parent).with_suffix("").parts): path for path in FILES}
    imported = {name: {each for each in _modules(path) if each in modules} - {name} for name, path in modules.items()}
    order = list(TopologicalSorter(imported).static_order())  # raises CycleError where there is a circle
    assert order.index("linklab.errors") < order.index("linklab.guest.lab_api") < order.index("linklab.lab")


def _modules(path: Path) -> Iterator[str]:
    """What a file imports, wherever in the file it does, but for what only the type checker reads."""
    unread = _read_by_the_type_checker(_tree(path))
    for node in _nodes(path):
        if node in unread:
            continue
        if isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _read_by_the_type_checker(tree: ast.Module) -> set[ast.AST]:
    """Return all that stands in `if TYPE_CHECKING`, which a module has at its top."""
    return {
        each
        for node in tree.body
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for each in ast.walk(node)
    }
