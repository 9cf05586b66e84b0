"""What is read of a submitted notebook's outputs: the wrong options of choices, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from linklab.grading.submitted_notebook import read_submitted
from linklab.record import RESULT_MIME


@pytest.mark.parametrize(
    ("outputs", "tried"),
    [
        ([{"outcome": "passed", "description": "where", "tried_wrong": ["b", "a", "a"]}], {"where": ("a", "b")}),
        ([{"description": "where", "tried_wrong": "ab"}], {}),
        ([{"description": 3, "tried_wrong": [4, None, {}]}], {}),
        ([[], "text", None], {}),
    ],
)
def test_tries_are_read_from_what_was_handed_in(tmp_path: Path, outputs: Any, tried: dict[str, Any]) -> None:
    assert _cell(tmp_path, [{"data": {RESULT_MIME: {"checks": outputs}}}]) == tried


@pytest.mark.parametrize("outputs", [None, 3, ["x"], [{"data": 1}], [{"data": {RESULT_MIME: []}}], [{}]])
def test_outputs_of_another_form_say_nothing(tmp_path: Path, outputs: Any) -> None:
    assert _cell(tmp_path, outputs) == {}


def _cell(folder: Path, outputs: Any) -> Any:
    """Return the tries of the only cell of a notebook with these outputs."""
    file = folder / "x.ipynb"
    file.write_text(json.dumps({"cells": [{"cell_type": "code", "id": "c", "source": "", "outputs": outputs}]}))
    (cell,) = read_submitted(file)
    return cell.tried_wrong
