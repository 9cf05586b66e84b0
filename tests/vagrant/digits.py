"""What executed notebooks say that they measured: for comparing two machines to the last digit."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from linklab.record import RESULT_MIME

_CLIENT_PORT = re.compile(r"(\b\d+\.\d+\.\d+\.\d+):\d{5}\b")


def checks_in(notebook: Path) -> list[Any]:
    """The checks of an executed notebook, each with what it expected and found, in order."""
    kept = [out.get("data", {}).get(RESULT_MIME) for cell in _cells(notebook) for out in cell.get("outputs", [])]
    return [check for result in kept if result for check in result["checks"]]


def difference(here: Path, there: Path) -> str:
    """The first check in which an executed notebook differs from the one of the same name; "" for none."""
    ours, theirs = checks_in(here), checks_in(there)
    if not ours or len(ours) != len(theirs):
        return f"{here.name}: {len(ours)} checks here and {len(theirs)} there"
    pairs = ((one, other) for one, other in zip(ours, theirs, strict=True) if _measured(one) != _measured(other))
    return next((f"{here.name}: {one} here and {other} there" for one, other in pairs), "")


def in_real_time(virtual: Path, real: Path) -> tuple[str, Counter[str]]:
    """What is wrong in a notebook executed in real time ("" for nothing), and how many checks had which outcome.

    A machine may be too busy for a measurement, which then is inconclusive; but no check may fail that passes on
    virtual time, and nothing but an inconclusive check may stop a cell.
    """
    pairs = list(itertools.zip_longest(checks_in(virtual), checks_in(real)))
    counts = Counter(check["outcome"] for _, check in pairs if check)
    for one, other in pairs:
        if not one or not other:
            return f"{real.name}: a check is not there: {one or other}", counts
        if other["outcome"] not in (one["outcome"], "inconclusive"):
            return f"{real.name}: {other}", counts
    errors = [out for cell in _cells(real) for out in cell.get("outputs", []) if out["output_type"] == "error"]
    stopped = [out["evalue"] for out in errors if "inconclusive" not in out["evalue"]]
    return (f"{real.name}: {stopped[0]}" if stopped else ""), counts


def _cells(notebook: Path) -> list[Any]:
    return list(json.loads(notebook.read_text("utf-8"))["cells"])


def _measured(check: Any) -> str:
    """A check without the numbers of clients' ports, which the kernel draws (RFC 6056) and nobody measures."""
    return _CLIENT_PORT.sub(r"\1", json.dumps(check))
