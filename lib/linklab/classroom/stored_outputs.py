"""What the cells of a notebook show, held against what the notebook stores, as nbval compares the two."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from linklab.headless.runner import label

_IGNORED: Final = "nbval-ignore-output"
"""nbval's tag of a cell whose output is not compared."""
_MEND: Final = "mend the cell, or store what it shows by the same command with --update"
_SHOWN: Final = 60
"""Characters of an excerpt; a third of them stand before the first difference."""
_PICTURES: Final = ("image/png", "image/jpeg")
"""nbval does not compare them, and a figure is in its output's HTML as well."""
_DATA: Final = re.compile(r"data:image/[\w+]+;base64,[A-Za-z0-9+/=]+")


def differences(stored: Any, executed: Any) -> Iterator[str]:
    """Yield a line for each cell of an executed notebook that shows something else than the stored notebook has.

    A cell that raised is passed over: it has failed already.
    """
    for index, (wanted, got) in enumerate(zip(stored.cells, executed.cells, strict=True)):
        if wanted.cell_type != "code" or any(output.output_type == "error" for output in got.outputs):
            continue
        if wanted.execution_count is None:
            yield f"{label(stored, index)}: its outputs are not stored yet: the same command with --update stores them"
        elif not _is_ignored(wanted) and (differs := difference(wanted.outputs, got.outputs)):
            yield f"{label(stored, index)}: {differs}; {_MEND}"


def difference(wanted: Sequence[Mapping[str, Any]], got: Sequence[Mapping[str, Any]]) -> str:
    """Return in one line where the outputs of a cell differ first, text before HTML; empty if nowhere."""
    ours, theirs = _texts(wanted), _texts(got)
    for kind in sorted({*ours, *theirs}, key=lambda kind: (kind not in ("stdout", "stderr", "text/plain"), kind)):
        lines = zip_longest(ours.get(kind, "").split("\n"), theirs.get(kind, "").split("\n"))
        for number, (old, new) in enumerate(lines, 1):
            if old != new:
                return f"{kind}, line {number}: wanted {_excerpt(old, new)}, got {_excerpt(new, old)}"
    return ""


def store(executed: Any, book: Any) -> None:
    """Put what each cell showed into a notebook, and nothing for a cell whose output is not compared."""
    shown = {cell.id: cell.outputs for cell in executed.cells if cell.cell_type == "code"}
    for number, cell in enumerate((cell for cell in book.cells if cell.cell_type == "code"), 1):
        cell.execution_count, cell.outputs = number, [] if _is_ignored(cell) else shown[cell.id]
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):  # which has the pictures as well
                output.data = {kind: it for kind, it in output.data.items() if kind not in _PICTURES}
            if output.output_type == "execute_result":
                output.execution_count = number


def _is_ignored(cell: Any) -> bool:
    return _IGNORED in cell.metadata.get("tags", ())


def _texts(outputs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return all that the outputs say, by the kind of text. A picture is a digest."""
    texts: dict[str, str] = {}
    for output in outputs:
        shown = {output["name"]: output["text"]} if output["output_type"] == "stream" else output.get("data", {})
        for kind, it in shown.items():
            if kind not in _PICTURES:
                text = it if isinstance(it, str) else json.dumps(it, sort_keys=True)
                line_end = "" if output["output_type"] == "stream" else "\n"
                texts[kind] = texts.get(kind, "") + _DATA.sub(_digest, text) + line_end
    return texts


def _digest(picture: re.Match[str]) -> str:
    return f"picture {hashlib.sha256(picture[0].encode()).hexdigest()[:8]}"


def _excerpt(line: str | None, other: str | None) -> str:
    """Return what stands around the first character that differs from another line; "nothing" for no line."""
    if line is None:
        return "nothing"
    pairs = enumerate(zip_longest(line, other or ""))
    begin = max(0, next((at for at, (mine, its) in pairs if mine != its), 0) - _SHOWN // 3)
    end = begin + _SHOWN
    return f"{'...' if begin else ''}{line[begin:end]}{'...' if end < len(line) else ''}"
