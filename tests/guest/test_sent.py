"""What of Linklab is sent into a lab."""

from __future__ import annotations

import ast
from pathlib import Path

import linklab
from linklab.guest import is_sent
from linklab.runtime.image.find import sent_files

LIBRARY = Path(linklab.__file__).parent


def _file(module: str) -> Path | None:
    path = LIBRARY.joinpath(*module.split("."))
    return next((it for it in (path.with_suffix(".py"), path / "__init__.py") if it.is_file()), None)


def _loaded(module: str, found: set[str]) -> set[str]:
    """The modules of Linklab that are loaded with one, by their names below ``linklab``; ``found`` are known."""
    file = _file(module)
    if file is None or module in found:
        return found
    found.add(module)
    for statement in ast.parse(file.read_text()).body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("linklab."):
            name = str(statement.module).removeprefix("linklab.")
            for each in (name, *(f"{name}.{alias.name}" for alias in statement.names)):
                _loaded(each, found)
    return found


def test_of_students_programs_the_engine_alone_is_sent() -> None:
    programs = [file for file, _, _ in sent_files() if file.startswith("programs/")]
    assert "programs/engine/scene.py" in programs
    assert [file for file in programs if not file.startswith("programs/engine/")] == ["programs/__init__.py"]


def test_what_labs_load_is_sent() -> None:
    loaded = _loaded("programs.engine.in_lab", _loaded("guest.agent", set()))
    assert {"runtime.bwrap", "guest.lab_api"} <= loaded
    assert [module for module in sorted(loaded) if not is_sent(module)] == []


def test_a_package_is_sent_where_a_module_of_it_is() -> None:
    assert all(map(is_sent, ("", "errors", "network", "network.model", "programs", "programs.engine.relay")))
    assert not any(map(is_sent, ("error", "networks", "programs.simpleperf", "measure")))
