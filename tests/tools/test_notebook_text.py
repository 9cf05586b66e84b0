"""What `git diff` shows of a notebook: the cells with what they show, and no pictures."""

from __future__ import annotations

from tools.notebook_text import rows


def test_text_stands_as_it_is_and_a_picture_as_a_digest() -> None:
    html = '<img src="data:image/png;base64,AAAA">'
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["rate 12.5\n", "loss 0\n"]},
        {"output_type": "display_data", "data": {"text/html": html, "text/plain": "a figure"}},
    ]
    cells = [
        {"cell_type": "markdown", "id": "goal", "source": ["# A lab"]},
        {"cell_type": "code", "id": "try", "source": ["measure()"], "outputs": outputs},
    ]
    *head, digest, last, _ = rows({"cells": cells})
    assert head == ["# markdown goal", "# A lab", "", "# code try", "measure()", "> rate 12.5", "> loss 0"]
    assert digest.startswith("> text/html ")
    assert len(digest) < 40
    assert last == "> a figure"
