"""What a student's program imports: the modules of its folder that go with it, and whether it needs packages."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LARGEST_FILE_BYTES = 200_000
"""A larger file is no program of this course, and no module of one."""
_MOST_BYTES = 2_000_000
_MOST_FILES = 30
_DEEPEST = 8
_MOST_FOLDERS = 20
_FOLDER = re.compile(r"(?:\./)?\w[\w-]*(?:/\w[\w-]*){0,3}/?")
_IMPORT_CALLS = ("import_module", "__import__", "run_module")


def with_modules(program: Path, data: bytes) -> dict[str, bytes]:
    """Return a program, by its file's name, and the modules in its folder that it imports, by their paths there.

    What they import counts too, as far as it can be read off the source. Other files stay where they are, and so does
    what lies elsewhere and is only linked to.
    """
    return _reached(program.name, data, _reader(program.resolve().parent))[0]


_Read = Callable[[str], bytes | None]
"""Returns a file of the program's folder by its path there; None if there is none."""


def _reader(root: Path) -> _Read:
    """Return what reads small files in a folder, and follows no link on the way. ``root`` is resolved itself."""

    def read(name: str) -> bytes | None:
        path = root / name
        try:
            if path.resolve() == path and path.is_file() and path.stat().st_size <= LARGEST_FILE_BYTES:
                return path.read_bytes()
        except (OSError, ValueError, RuntimeError):
            pass  # a program that imports it fails in its own words
        return None

    return read


def _reached(name: str, data: bytes, read: _Read) -> tuple[dict[str, bytes], set[str]]:
    """Return the files that a program reaches by its imports, nearest first, and what it imports from elsewhere."""
    files, room = {name: data}, _MOST_BYTES - len(data)
    foreign: set[str] = set()
    folders, left = [""], [name]
    for one in left:  # which grows meanwhile
        imports = _imports(one, files[one])
        folders += [folder for folder in imports.folders if folder not in folders][: _MOST_FOLDERS - len(folders)]
        for parts in imports.modules:
            own = False
            for path, found in _module_files(parts, folders, read):
                own = True
                if path not in files and len(found) <= room and len(files) < _MOST_FILES:
                    files[path] = found
                    room -= len(found)
                    left.append(path)
            if not own and parts[0] not in sys.stdlib_module_names:
                foreign.add(parts[0])
    return files, foreign - {path.partition("/")[0] for path in files}


def _module_files(parts: Sequence[str], folders: Iterable[str], read: _Read) -> list[tuple[str, bytes]]:
    """Return the files of a module and of the packages that it lies in, from the first folder that has any."""
    for folder in folders:
        files = []
        for depth in range(1, min(len(parts), _DEEPEST) + 1):
            stem = folder + "/".join(parts[:depth])
            package = read(f"{stem}/__init__.py")
            if package is not None:
                files.append((f"{stem}/__init__.py", package))
            elif (module := read(f"{stem}.py")) is not None:
                files.append((f"{stem}.py", module))
                break
        if files:
            return files
    return []


@dataclass(frozen=True)
class _Imports:
    """What a file imports: modules by the parts of their names, and folders where it may look for more of them."""

    modules: list[tuple[str, ...]]
    folders: list[str]


def _imports(name: str, source: bytes) -> _Imports:
    """Return what a file of a program imports. What its own package has goes by its full name."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _Imports([], [])  # Python will say so itself
    modules = []
    for node in ast.walk(tree):
        # a text that is given to __import__ may be anything, a path to elsewhere too
        named = [tuple(full.split(".")) for full in _named(node, name)]
        modules += [parts for parts in named if all(part.isidentifier() for part in parts)]
    # a program that looks elsewhere says where, in whatever way it joins paths
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)] if b"sys.path" in source else []
    folders = [f"{text.strip('./')}/" for text in texts if isinstance(text, str) and _FOLDER.fullmatch(text)]
    return _Imports(list(dict.fromkeys(modules)), folders)


def _named(node: ast.AST, file: str) -> list[str]:
    """Return the modules that a piece of a file names, with dots, from the program's folder."""
    package = file.split("/")[:-1]

    def full(level: int, module: str) -> str:
        above = package[: len(package) - level + 1] if level else []
        return ".".join([*above, *filter(None, [module])])

    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            start = full(level, module or "")
            # whether a name is a module of a package or something in it, the files say
            return [f"{start}.{alias.name}".strip(".") if alias.name != "*" else start for alias in names]
        case ast.Call(func=ast.Name(id=call) | ast.Attribute(attr=call), args=[ast.Constant(value=str(module)), *_]):
            level = len(module) - len(module.lstrip("."))
            return [full(level, module[level:])] if call in _IMPORT_CALLS else []
        case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=items) | ast.Tuple(elts=items)):
            return [full(1, str(item.value)) for item in items if isinstance(item, ast.Constant)] if package else []
    return []


def imports_packages(files: Mapping[str, bytes]) -> bool:
    """Return whether a program imports installed packages: to look for them slows each start.

    ``files`` are those of `with_modules`, the program first.
    """
    name, data = next(iter(files.items()))
    _, foreign = _reached(name, data, files.get)
    return bool(foreign)
