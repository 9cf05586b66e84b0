"""A pytest plugin beside nbval: it writes down how each cell of a notebook went, a line of JSON a cell, and has kernels
speak through files.

`linklab.classroom.validate` reads the lines: ``cell`` (its id), ``failure`` (one line, empty for none) and ``outputs``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, Final

import pytest

FILE: Final = "cells.jsonl"
"""The report's name; it lies beside the notebook."""
_MEND: Final = "mend the cell, or store what it shows: linklab validate --update"
_SHOWN: Final = 60
"""Characters of an excerpt; a third of them stand before the first difference."""
_PICTURES: Final = ("image/png", "image/jpeg")
"""nbval does not compare them, and a figure is in its output's HTML as well."""
_DATA: Final = re.compile(r"data:image/[\w+]+;base64,[A-Za-z0-9+/=]+")


def pytest_configure(config: pytest.Config) -> None:
    """Have nbval's kernel listen on files beside the notebook's folder: a free TCP port that it chooses may be another
    kernel's by the time that it listens.
    """
    import nbval.kernel  # only nbval's own process needs it
    from jupyter_client.manager import KernelManager

    # from the notebook's folder, where both processes are: the name of a socket has room for 100 characters
    nbval.kernel.KernelManager = partial(KernelManager, transport="ipc", ip=f"../{config.rootpath.name}-kernel")


def pytest_runtest_makereport(item: Any, call: pytest.CallInfo[None]) -> None:
    """Write down how a cell went, or why it could not begin."""
    if call.when != "call" and call.excinfo is None:
        return
    line = {
        "cell": item.cell.id,
        "failure": _failure(item, call.excinfo.value if call.excinfo else None),
        "outputs": [_kept(output) for output in item.test_outputs or ()],
    }
    with item.path.with_name(FILE).open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(line)}\n")


def _failure(item: Any, error: BaseException | None) -> str:
    if error is None:
        unknown = item.options["check"] and item.cell.execution_count is None
        return "its outputs are not stored yet: linklab validate --update" if unknown else ""
    outputs = item.test_outputs or []
    if str(error) == "Cell outputs differ":
        return f"{difference(item.cell.outputs, outputs)}; {_MEND}"
    raised = [output for output in outputs if output.output_type == "error"]
    if raised:
        return f"{raised[-1].ename}: {raised[-1].evalue}".splitlines()[0]
    return (str(error).splitlines() or [type(error).__name__])[0]


def _kept(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output as a notebook stores it, without pictures that stand in the output's HTML as well."""
    kept = {name: value for name, value in output.items() if name != "data"}
    if "data" in output:
        data = output["data"]
        kept["data"] = {kind: it for kind, it in data.items() if kind not in _PICTURES or "text/html" not in data}
    return kept


def difference(wanted: Sequence[Mapping[str, Any]], got: Sequence[Mapping[str, Any]]) -> str:
    """Return in one line where the outputs of a cell differ first, text before HTML; empty if nowhere."""
    ours, theirs = _texts(wanted), _texts(got)
    for kind in sorted({*ours, *theirs}, key=lambda kind: (kind not in ("stdout", "stderr", "text/plain"), kind)):
        lines = zip_longest(ours.get(kind, "").split("\n"), theirs.get(kind, "").split("\n"))
        for number, (old, new) in enumerate(lines, 1):
            if old != new:
                return f"{kind}, line {number}: wanted {_excerpt(old, new)}, got {_excerpt(new, old)}"
    return ""


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
