"""Mininet's own tests and examples in labs: what docs/mininet.md says passes, passes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from linklab.runtime.backends import Kind
from tools import mininet_material

pytestmark = pytest.mark.lab

DOCUMENT = Path(__file__).parents[2] / "docs" / "mininet.md"
TABLE = mininet_material.rows(DOCUMENT.read_text("utf-8"))
PASSING = [name for name, (passes, _) in TABLE.items() if passes]
QUICK = "examples/test/test_multilink.py"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("apt-get") is None:
        pytest.skip("needs apt-get")
    try:
        return mininet_material.fetch(tmp_path_factory.mktemp("mininet"))
    except RuntimeError as error:
        pytest.skip(f"needs the source package of Mininet: {error}")


def test_the_document_has_a_row_for_each_piece(source: Path) -> None:
    assert list(TABLE) == mininet_material.pieces(source)
    assert {name: remark for name, (passes, remark) in TABLE.items() if not passes} == mininet_material.CANNOT
    assert QUICK in PASSING


def test_what_the_document_says_passes_passes(virtual: Kind, source: Path) -> None:
    """One of them; python -m tools.mininet_material runs all."""
    outcome = mininet_material.run(source, QUICK)
    assert outcome.status == 0, outcome.said
    assert TABLE[QUICK][1].startswith(outcome.summary)
