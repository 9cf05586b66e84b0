"""Bounds and cleans the outputs of a submission's cells, so that they can stand in a judged notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from nbformat import NotebookNode
from nbformat.v4 import new_output

from linklab.grade.render import machine_readable
from linklab.grade.result import GradeError, Result
from linklab.grade.values import clean
from linklab.record import FOR_THE_PAGE, RESULT_MIME
from linklab.report.outputs import plain

_TEXTS: Final = ("text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml")
_PICTURES: Final = ("image/png", "image/jpeg")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/=\s]*")
_MOST: Final = 200
"""The number of outputs that a cell keeps."""
_TRACEBACK_LINES: Final = 60
CUT: Final = "[More was printed, which is not kept here.]\n"
_DEPTH: Final = 20


class Outputs:
    """Takes in the outputs of one notebook's cells, cell by cell."""

    def __init__(self, limit_characters: int) -> None:
        self.left = limit_characters

    def kept(self, outputs: list[Any], *, cut: bool = False) -> list[NotebookNode]:
        """Return the outputs of a cell that may be kept. `cut` says that some are missing already."""
        found: list[NotebookNode] = []
        for output in outputs:
            made = _made(output) if isinstance(output, dict) else None
            if made is None:
                continue
            size = len(json.dumps(made))
            if size > self.left or len(found) >= _MOST:
                cut = True
                continue
            self.left -= size
            found.append(made)
        if cut:
            found.append(_new("stream", name="stderr", text=CUT))
        return found


def of_result(result: Result) -> list[NotebookNode]:
    """Return the outputs of a check cell that has passed, as a notebook has them."""
    data = {
        "text/plain": printable(str(result)),
        "text/html": printable(result._repr_html_()),
        RESULT_MIME: _cleaned(machine_readable(result.to_json()), 0),
    }
    return [_new("execute_result", data=data, metadata={}, execution_count=None)]


def of_failure(error: GradeError) -> list[NotebookNode]:
    """Return the outputs of a check cell that has not passed."""
    data = {RESULT_MIME: _cleaned(machine_readable(error.result.to_json()), 0)}
    lines = [printable(line) for line in error._render_traceback_()]
    return [
        _new("display_data", data=data, metadata={}),
        _new("error", ename="GradeError", evalue=printable(str(error)), traceback=lines),
    ]


def of_error(name: str, says: str) -> list[NotebookNode]:
    """Return the output of a cell that could not be run, or was ended."""
    line = printable(says)
    return [_new("error", ename=name, evalue=line, traceback=[f"{name}: {line}"])]


def printable(text: str) -> str:
    """Return text without a terminal's control sequences."""
    return plain(clean(text))


def _new(kind: str, **parts: Any) -> NotebookNode:
    return new_output(kind, **parts)  # type: ignore[no-untyped-call, no-any-return]


def _made(output: dict[str, Any]) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream":
        name, text = output.get("name"), output.get("text")
        if not isinstance(text, str):
            return None
        return _new("stream", name="stderr" if name == "stderr" else "stdout", text=printable(text))
    if kind == "error":
        lines = output.get("traceback")
        kept = [printable(line) for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
        name, says = (printable(str(output.get(part, ""))) for part in ("ename", "evalue"))
        return _new("error", ename=name, evalue=says, traceback=kept[-_TRACEBACK_LINES:])
    if kind not in ("display_data", "execute_result") or not isinstance(output.get("data"), dict):
        return None
    if not FOR_THE_PAGE.isdisjoint(output["data"]):
        return None
    data = dict(_data(output["data"]))
    if not data:
        return None
    metadata = dict(_sizes(output.get("metadata"), data))
    if kind == "display_data":
        return _new("display_data", data=data, metadata=metadata)
    return _new("execute_result", data=data, metadata=metadata, execution_count=None)


def _data(bundle: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the forms of an output that pages know, without those that only Linklab may write."""
    for mime in _TEXTS:
        if isinstance(bundle.get(mime), str):
            yield mime, printable(bundle[mime])
    for mime in _PICTURES:
        if isinstance(bundle.get(mime), str) and _BASE64.fullmatch(bundle[mime]):
            yield mime, bundle[mime]


def _sizes(metadata: object, data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the sizes of pictures."""
    for mime in data:
        told = metadata.get(mime) if isinstance(metadata, dict) else None
        if isinstance(told, dict):
            sizes = {name: told[name] for name in ("width", "height") if isinstance(told.get(name), int | float)}
            if sizes:
                yield mime, sizes


def _cleaned(value: Any, depth: int) -> Any:
    """Return JSON data with all texts printable."""
    if isinstance(value, str):
        return printable(value)
    if depth > _DEPTH:
        return None
    if isinstance(value, dict):
        return {printable(str(key)): _cleaned(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(each, depth + 1) for each in value]
    return value
