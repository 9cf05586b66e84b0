"""A notebook as text, which ``git diff`` compares: ``python tools/notebook_text.py NOTEBOOK``.

It prints each cell's name, source, and what the cell shows as text; of all else that it shows, a digest.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def rows(book: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a notebook (its JSON)."""
    for cell in book["cells"]:
        yield f"# {cell['cell_type']} {cell.get('id', '')}"
        yield "".join(cell["source"])
        for output in cell.get("outputs", ()):
            for kind, shown in output.get("data", {"text/plain": output.get("text", output.get("evalue"))}).items():
                if kind == "text/plain":
                    yield from (f"> {row}" for row in "".join(shown).splitlines())
                else:
                    yield f"> {kind} {hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:12]}"
        yield ""


if __name__ == "__main__":
    print("\n".join(rows(json.loads(Path(sys.argv[1]).read_text("utf-8")))))
