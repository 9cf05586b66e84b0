"""Compute digests that tell one Linklab from another: what one measured or judged does not count for the other."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import linklab

_NAME: Final = "lab[0-9][0-9]"


def _own_files() -> Iterator[tuple[str, bytes]]:
    """Yield Linklab's own files, by their place in its package, in order."""
    root = Path(linklab.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root).as_posix(), path.read_bytes()


@cache
def linklab_digest() -> bytes:
    """Return a digest of Linklab's version and its files: it tells one Linklab from another."""
    found = hashlib.sha256(linklab.__version__.encode())
    for name, content in _own_files():
        found.update(f"{name}\0".encode() + content)
    return found.digest()


_JUDGE_NOTHING: Final = ("classroom", "hub", "lms", "study", "cli.py", "doctor.py", "jupyter.py", "jupyter_server.py")
"""Rooms and files of Linklab on which no verdict rests."""


@cache
def judging_digest(lab: str) -> bytes:
    """Return a digest of all on which a verdict on a lab (``lab50``) rests: Linklab's version and files, and the lab's.

    Other labs count where the lab names them. Comments in labs do not count: a corrected one judges nobody again.
    """
    found = hashlib.sha256(linklab.__version__.encode())
    of_labs: dict[str, bytes] = {}
    for name, content in _own_files():
        room, _, rest = name.partition("/")
        if room == "labs" and re.match(f"{_NAME}/", rest):
            of_labs[rest] = content
        elif room not in _JUDGE_NOTHING:
            found.update(f"{name}\0".encode() + content)
    counted, waiting = set(), {lab}
    while waiting:
        counted.add(one := waiting.pop())
        for name, content in sorted(of_labs.items()):
            if name.startswith(f"{one}/"):
                found.update(f"{name}\0".encode() + _without_comments(name, content))
                waiting |= set(re.findall(_NAME, content.decode(errors="replace"))) - counted
    return found.digest()


def _without_comments(name: str, content: bytes) -> bytes:
    if not name.endswith(".py"):
        return content
    try:
        return ast.dump(ast.parse(content)).encode(errors="replace")
    except (SyntaxError, ValueError):
        return content
