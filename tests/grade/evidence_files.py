"""What passed when a program was tried once, kept in a file: the judges' evidence, for tests without a lab."""

from __future__ import annotations

import hashlib
import json
import lzma
from pathlib import Path
from typing import Any

from linklab.errors import LinklabError


def read(file: Path, program: str, anew: str) -> dict[str, Any]:
    """Return what was kept of the program with this text. Raise LinklabError with ``anew`` if it was another one."""
    kept: dict[str, Any] = json.loads(lzma.decompress(file.read_bytes()))
    if kept["program"] != _digest(program):
        raise LinklabError(f"it is another program now: {anew}")
    return kept


def write(file: Path, program: str, **kept: Any) -> None:
    """Keep what passed with the program of this text."""
    file.parent.mkdir(exist_ok=True)
    text = json.dumps({"program": _digest(program), **kept}, sort_keys=True)
    file.write_bytes(lzma.compress(text.encode()))


def key(plans: list[dict[str, Any]]) -> str:
    """Return what scenes are found by: a digest of what was asked to be played."""
    return _digest(json.dumps(plans, sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
