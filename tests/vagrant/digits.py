"""What executed notebooks say that they measured: for comparing two machines to the last digit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from linklab.record import RESULT_MIME

_CLIENT_PORT = re.compile(r"(\b\d+\.\d+\.\d+\.\d+):\d{5}\b")


def checks_in(notebook: Path) -> list[Any]:
    """The checks of an executed notebook, each with what it expected and found, in order."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    kept = [out.get("data", {}).get(RESULT_MIME) for cell in cells for out in cell.get("outputs", [])]
    return [check for result in kept if result for check in result["checks"]]


def difference(here: Path, there: Path) -> str:
    """The first check in which an executed notebook differs from the one of the same name; "" for none."""
    ours, theirs = checks_in(here), checks_in(there)
    if not ours or len(ours) != len(theirs):
        return f"{here.name}: {len(ours)} checks here and {len(theirs)} there"
    pairs = ((one, other) for one, other in zip(ours, theirs, strict=True) if _measured(one) != _measured(other))
    return next((f"{here.name}: {one} here and {other} there" for one, other in pairs), "")


def _measured(check: Any) -> str:
    """A check without the numbers of clients' ports, which the kernel draws (RFC 6056) and nobody measures."""
    return _CLIENT_PORT.sub(r"\1", json.dumps(check))
